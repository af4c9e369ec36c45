/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - the keys that all training jobs share: their rows in a parameter table, and their values. */
#pragma once

#include "models/workload/training/memory_keys.h"
#include "models/workload/training/outer.h"
#include "models/workload/training/parallel.h"
#include "models/workload/training/slow.h"
#include "models/workload/training/software.h"
#include "models/workload/training/storage.h"
#include "sim/execution/workload.h"

typedef struct {
  const char *model;
  gint64 micro_batch, sequence, accumulation, global_batch;
  gint precision; /* FabPrecision */
  gint recompute; /* Recompute */
  gint64 recompute_layers, recompute_every;
  gint recompute_method;         /* RecomputeMethod */
  const char *recompute_modules; /* NULL: none */
  MemoryParams memory;
  FabModelChoice compute;
  SoftwareParams software;
  FabBytes optimizer_bytes_per_parameter;
  FabBytes state_bytes_per_parameter;
  gboolean clips;
  FabLoaderParams data_loader;
  FabCheckpointParams checkpoint;
  JitterParams jitter;
  OuterParams outer;
  FabParamList stragglers; /* StragglerParams */
  gint trains;             /* Trains */
  gint64 adapter_rank;
  gint adapter_targets; /* AdapterTargets, adapters.h */
  double train_tokens;
  ParallelParams parallel;
} TrainParams;

typedef enum { TRAINS_ALL, TRAINS_LORA } Trains;
/* The first three are those that studies try. */
typedef enum {
  RECOMPUTE_NONE,
  RECOMPUTE_SELECTIVE,
  RECOMPUTE_FULL,
  RECOMPUTE_OPERATORS,
  RECOMPUTE_MODULES,
} Recompute;
enum { N_TRIED_RECOMPUTES = RECOMPUTE_FULL + 1 };
typedef enum { RECOMPUTE_UNIFORM, RECOMPUTE_BLOCK } RecomputeMethod;

extern const char *const recompute_kinds[];
extern const char *const recompute_methods[];
extern const char *const trained_kinds[];   /* "all", "lora"; NULL-ended */
extern const char *const adapter_targets[]; /* "all", "attention"; NULL-ended */
extern const char *const gradient_types[];  /* "fp32", "bf16", "fp16"; NULL-ended */
extern const FabBytes gradient_bytes[];     /* of one number of each of these types */

/* Rows of a parameter table, for the member `field_` (TrainParams) of the struct `type_`. */
#define TRAIN_ROW(type_, field_, member_) G_STRUCT_OFFSET (type_, field_.member_)
#define TRAIN_PARAMS(type_, field_)                                                                          \
  { .key = "model",                                                                                          \
    .type = FAB_PARAM_TEXT,                                                                                  \
    .offset = TRAIN_ROW (type_, field_, model),                                                              \
    .refers = FAB_REFERS_MODEL,                                                                              \
    .is_in_title = TRUE,                                                                                     \
    .help = "Model entry, of the catalogue or of this file's `models`." },                                   \
      { .key = "micro_batch",                                                                                \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, micro_batch),                                                    \
        .fallback = "1",                                                                                     \
        .min = 1,                                                                                            \
        .max = 1e6,                                                                                          \
        .help = "Sequences per data-parallel rank and micro-batch." },                                       \
      { .key = "sequence",                                                                                   \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, sequence),                                                       \
        .fallback = "2048",                                                                                  \
        .min = 1,                                                                                            \
        .max = 1e7,                                                                                          \
        .help = "Tokens per sequence." },                                                                    \
      { .key = "accumulation",                                                                               \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, accumulation),                                                   \
        .fallback = "1",                                                                                     \
        .min = 1,                                                                                            \
        .max = 1e5,                                                                                          \
        .help = "Micro-batches per step, for gradient accumulation and for the pipeline." },                 \
      { .key = "global_batch",                                                                               \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, global_batch),                                                   \
        .fallback = "0",                                                                                     \
        .max = 1e9,                                                                                          \
        .help = "Sequences per step of the whole job, in place of accumulation; 0: use accumulation." },     \
      { .key = "precision",                                                                                  \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, precision),                                                      \
        .fallback = "bf16",                                                                                  \
        .choices = fab_precision_names,                                                                      \
        .help = "Number type of matrix multiplications." },                                                  \
      { .key = "recompute",                                                                                  \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, recompute),                                                      \
        .fallback = "none",                                                                                  \
        .choices = recompute_kinds,                                                                          \
        .help = "What backward computes again: attention scores (selective), every block (full), all but "   \
                "products and attention (operators: torchtitan), or recompute_modules (modules)." },         \
      { .key = "recompute_layers",                                                                           \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, recompute_layers),                                               \
        .fallback = "0",                                                                                     \
        .max = 1e5,                                                                                          \
        .help = "With recompute: full, the n of recompute_method; 0: every block by itself." },              \
      { .key = "recompute_method",                                                                           \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, recompute_method),                                               \
        .fallback = "uniform",                                                                               \
        .choices = recompute_methods,                                                                        \
        .help = "With recompute_layers n. uniform: every n blocks keep one input. block: only the first n "  \
                "blocks of each part of the model are recomputed (Megatron-LM)." },                          \
      { .key = "recompute_modules",                                                                          \
        .type = FAB_PARAM_TEXT,                                                                              \
        .offset = TRAIN_ROW (type_, field_, recompute_modules),                                              \
        .fallback = "",                                                                                      \
        .help = "With recompute: modules, names of Megatron-LM's --recompute-modules, divided by commas: "   \
                "core_attn, layernorm, mlp, moe_act, mla_up_proj, moe, shared_experts." },                   \
      { .key = "recompute_every",                                                                            \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, recompute_every),                                                \
        .fallback = "2",                                                                                     \
        .min = 1,                                                                                            \
        .max = 1000,                                                                                         \
        .help =                                                                                              \
            "With recompute: operators, every n-th matrix product of a block is kept (torchtitan: 2)." },    \
      { .key = "memory",                                                                                     \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, memory),                                                         \
        .table = memory_params,                                                                              \
        .table_size = sizeof (MemoryParams),                                                                 \
        .help = "What the job's software keeps in memory." },                                                \
      { .key = "compute",                                                                                    \
        .type = FAB_PARAM_MODEL,                                                                             \
        .offset = TRAIN_ROW (type_, field_, compute),                                                        \
        .fallback = "auto",                                                                                  \
        .models = FAB_MODEL_COMPUTE,                                                                         \
        .help = "Model that turns FLOPs into time." },                                                       \
      { .key = "software",                                                                                   \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, software),                                                       \
        .table = software_params,                                                                            \
        .table_size = sizeof (SoftwareParams),                                                               \
        .help = "Releases of the software that the job runs, and kernels that it chose." },                  \
      { .key = "trains",                                                                                     \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, trains),                                                         \
        .fallback = "all",                                                                                   \
        .choices = trained_kinds,                                                                            \
        .is_in_title = TRUE,                                                                                 \
        .help = "What is trained: all weights, or low-rank adapters beside frozen matrices (lora)." },       \
      { .key = "lora_rank",                                                                                  \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, adapter_rank),                                                   \
        .fallback = "16",                                                                                    \
        .min = 1,                                                                                            \
        .max = 1e5,                                                                                          \
        .help = "Rank of the adapters, with trains: lora." },                                                \
      { .key = "lora_targets",                                                                               \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, adapter_targets),                                                \
        .fallback = "all",                                                                                   \
        .choices = adapter_targets,                                                                          \
        .help = "Which matrices of a block have adapters, with trains: lora: all, or those of attention." }, \
      { .key = "optimizer_traffic",                                                                          \
        .type = FAB_PARAM_BYTES,                                                                             \
        .offset = TRAIN_ROW (type_, field_, optimizer_bytes_per_parameter),                                  \
        .fallback = "0B",                                                                                    \
        .max = 1e4,                                                                                          \
        .help =                                                                                              \
            "Memory traffic of the optimizer per parameter; its time is this over the memory rate. 0B: 30B " \
            "with compute auto, else free. Adam in mixed precision reads gradient, two moments and master "  \
            "weight and writes the last three and a half precision weight: 30B." },                          \
      { .key = "optimizer_state",                                                                            \
        .type = FAB_PARAM_BYTES,                                                                             \
        .offset = TRAIN_ROW (type_, field_, state_bytes_per_parameter),                                      \
        .fallback = "12B",                                                                                   \
        .max = 1e4,                                                                                          \
        .help = "Memory of the optimizer per parameter: Adam in mixed precision keeps two moments and a "    \
                "master weight in FP32, 12B." },                                                             \
      { .key = "clip_gradients",                                                                             \
        .type = FAB_PARAM_BOOL,                                                                              \
        .offset = TRAIN_ROW (type_, field_, clips),                                                          \
        .fallback = "true",                                                                                  \
        .help = "Clip by the norm of all gradients: ranks that hold parts of them agree on it before the "   \
                "optimizer." },                                                                              \
      { .key = "data_loader",                                                                                \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, data_loader),                                                    \
        .table = fab_loader_params,                                                                          \
        .table_size = sizeof (FabLoaderParams),                                                              \
        .help = "Where batches come from." },                                                                \
      { .key = "checkpoint",                                                                                 \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, checkpoint),                                                     \
        .table = fab_checkpoint_params,                                                                      \
        .table_size = sizeof (FabCheckpointParams),                                                          \
        .help = "Where checkpoints go, and how often." },                                                    \
      { .key = "jitter",                                                                                     \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, jitter),                                                         \
        .table = jitter_params,                                                                              \
        .table_size = sizeof (JitterParams),                                                                 \
        .help = "Kernels of a rank take longer in one step than in another." },                              \
      { .key = "outer",                                                                                      \
        .type = FAB_PARAM_TABLE,                                                                             \
        .offset = TRAIN_ROW (type_, field_, outer),                                                          \
        .table = outer_params,                                                                               \
        .table_size = sizeof (OuterParams),                                                                  \
        .help = "Sites that sum their parameters every so many steps (DiLoCo)." },                           \
      { .key = "stragglers",                                                                                 \
        .type = FAB_PARAM_LIST,                                                                              \
        .offset = TRAIN_ROW (type_, field_, stragglers),                                                     \
        .table = straggler_params,                                                                           \
        .table_size = sizeof (StragglerParams),                                                              \
        .help = "Ranks that are always slow." },                                                             \
      { .key = "train_tokens",                                                                               \
        .type = FAB_PARAM_FACTOR,                                                                            \
        .offset = TRAIN_ROW (type_, field_, train_tokens),                                                   \
        .fallback = "0",                                                                                     \
        .max = 1e18,                                                                                         \
        .help = "Tokens of the whole training, from which its days follow; 0: unknown." },                   \
  {                                                                                                          \
    .key = "parallel", .type = FAB_PARAM_TABLE, .offset = TRAIN_ROW (type_, field_, parallel),               \
    .table = parallel_params, .table_size = sizeof (ParallelParams),                                         \
    .help = "How the model is divided over ranks."                                                           \
  }

void train_check (const TrainParams *params, FabCheck *check);
