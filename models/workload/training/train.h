/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - one iteration of a training job: what every strategy has in common.
 *
 * A rank class is a pipeline stage. train_build () plays each stage's passes on its compute stream in the order of the
 * schedule; model-parallel communication is part of the passes (passes.h), and a strategy, which says how parameters,
 * gradients and optimizer states are spread over data-parallel ranks, hangs its communication on hooks. What overlaps
 * is what the streams leave.
 */
#pragma once

#include "models/workload/training/slow.h"
#include "models/workload/training/storage.h"
#include "sim/work/workload.h"

/* The keys that all training jobs share. */
typedef struct {
  const char *model;
  gint64 micro_batch, sequence, accumulation, global_batch;
  gint precision; /* FabPrecision */
  gint recompute; /* Recompute */
  FabModelChoice compute;
  FabBytes optimizer_bytes_per_parameter;
  FabBytes state_bytes_per_parameter;
  gboolean clips;
  FabLoaderParams data_loader;
  FabCheckpointParams checkpoint;
  JitterParams jitter;
  FabParamList stragglers; /* StragglerParams */
  double train_tokens;
  ParallelParams parallel;
} TrainParams;

typedef enum { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL } Recompute;

extern const char *const recompute_kinds[];
extern const char *const gradient_types[]; /* "fp32", "bf16", "fp16"; NULL-ended */
extern const FabBytes gradient_bytes[];    /* of one number */

/* Rows of a strategy's table for the TrainParams at `field_` of its struct. */
#define TRAIN_ROW(type_, field_, member_) G_STRUCT_OFFSET (type_, field_.member_)
#define TRAIN_PARAMS(type_, field_)                                                                          \
  { .key = "model",                                                                                          \
    .type = FAB_PARAM_TEXT,                                                                                  \
    .offset = TRAIN_ROW (type_, field_, model),                                                              \
    .refers = FAB_REFERS_MODEL,                                                                              \
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
        .help = "Micro-batches per step: gradient accumulation, and what goes through a pipeline." },        \
      { .key = "global_batch",                                                                               \
        .type = FAB_PARAM_COUNT,                                                                             \
        .offset = TRAIN_ROW (type_, field_, global_batch),                                                   \
        .fallback = "0",                                                                                     \
        .max = 1e9,                                                                                          \
        .help = "Sequences per step of the whole job, in place of accumulation; 0: as accumulation says." }, \
      { .key = "precision",                                                                                  \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, precision),                                                      \
        .fallback = "bf16",                                                                                  \
        .choices = fab_precision_names,                                                                      \
        .help = "Type in which matrices are multiplied." },                                                  \
      { .key = "recompute",                                                                                  \
        .type = FAB_PARAM_CHOICE,                                                                            \
        .offset = TRAIN_ROW (type_, field_, recompute),                                                      \
        .fallback = "none",                                                                                  \
        .choices = recompute_kinds,                                                                          \
        .help =                                                                                              \
            "Activation recomputation: of attention scores only (selective) or of every block (full)." },    \
      { .key = "compute",                                                                                    \
        .type = FAB_PARAM_MODEL,                                                                             \
        .offset = TRAIN_ROW (type_, field_, compute),                                                        \
        .fallback = "mfu",                                                                                   \
        .models = FAB_MODEL_COMPUTE,                                                                         \
        .help = "How FLOPs become time." },                                                                  \
      { .key = "optimizer_traffic",                                                                          \
        .type = FAB_PARAM_BYTES,                                                                             \
        .offset = TRAIN_ROW (type_, field_, optimizer_bytes_per_parameter),                                  \
        .fallback = "0B",                                                                                    \
        .max = 1e4,                                                                                          \
        .help =                                                                                              \
            "Memory traffic of the optimizer per parameter; its time is this over the memory rate. 0: "      \
            "free. Adam in mixed precision reads gradient, two moments and master weight and writes the "    \
            "last three and a half precision weight: 30B." },                                                \
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
        .help = "Tokens of the whole training, for the days that it takes; 0: not said." },                  \
  {                                                                                                          \
    .key = "parallel", .type = FAB_PARAM_TABLE, .offset = TRAIN_ROW (type_, field_, parallel),               \
    .table = parallel_params, .table_size = sizeof (ParallelParams),                                         \
    .help = "How the model itself is divided."                                                               \
  }

void train_check (const TrainParams *params, FabCheck *check);

typedef struct _Train Train;

/* Streams of a stage, in the order in which they are made. */
typedef enum {
  LANE_LOADER,
  LANE_COMPUTE,
  LANE_DATA,    /* communicator of the shard group, or of all data-parallel ranks */
  LANE_GATHER,  /* of gathers, where they do not use that of the reductions */
  LANE_REPLICA, /* of the replicas of shard groups */
  LANE_EXPERT_DATA,
  LANE_TENSOR,
  LANE_CONTEXT,
  LANE_EXPERT,
  LANE_SEND_FORWARD,
  LANE_RECEIVE_FORWARD,
  LANE_SEND_BACKWARD,
  LANE_RECEIVE_BACKWARD,
  LANE_NORM,
  LANE_FROM_GPU, /* copies to host memory or drives */
  LANE_TO_GPU,
  LANE_CPU,
  LANE_CHECKPOINT,
  N_LANES,
} Lane;

/* From the accelerators to host memory or drives, or back. */
typedef struct {
  const FabFootprint *footprint; /* NULL: not looked for yet */
  FabTimePs latency_ps;
} Way;

/* Of one rank. Experts: those that other data-parallel ranks do not have. */
typedef struct {
  guint64 dense, experts;
} ParameterCount;

/* One rank class. Where the job is not folded, the first rank of what would be one; the others follow it. */
typedef struct Stage {
  Train *train;
  guint index, bin, rank_class; /* of the pipeline stage; of Slow */
  gint64 streams[N_LANES];      /* -1: not made yet */
  GArray *waits;                /* FabTaskId: what the next compute task waits for */
  FabTaskId last_compute;
  gboolean has_compute, has_load;
  FabTaskId load;                       /* of the batch */
  double compute_s;                     /* of all compute tasks */
  FabFamily *tensor, *context, *expert; /* NULL: of one rank */
  FabFamily *next;                      /* pairs of this stage's ranks and the next one's */
  GArray *chunks;                       /* Chunk */
  GArray *actions;                      /* Action */
  GArray *received;                     /* inputs that are on their way */
  gpointer state;                       /* the strategy's */
  guint n_shared;                       /* collectives with other bins of the stage that it has joined */
  struct Stage *first;                  /* whose collectives it joins; NULL: it makes its own */
  GArray *made;                         /* guint: collectives, in the order in which they were joined */
  guint n_followed;                     /* of those of `first` */
  Way ways[2][2];                       /* [to drives][to the GPU] */
  ParameterCount count;                 /* of all layers of the stage */
  guint64 parameters;                   /* both */
} Stage;

/* Consecutive layers of the model. */
typedef struct {
  guint first_layer, n_layers;
} Chunk;

/* Where a pass is. */
typedef struct {
  guint layer, micro;
  gboolean is_last; /* micro-batch of the step */
} PassAt;

/* Hooks, called while a stage's tasks are being made; NULL: nothing to do. */
typedef struct {
  void (*begin) (Stage *stage);
  void (*before_forward) (Stage *stage, const PassAt *at);
  void (*after_forward) (Stage *stage, const PassAt *at);
  void (*before_backward) (Stage *stage, const PassAt *at);
  /* After the compute task that yields the gradient of one tensor of the layer; only in micro-batches of which
   * `splits_backward` says so. */
  void (*gradient) (Stage *stage, const PassAt *at, guint tensor);
  gboolean (*splits_backward) (const Stage *stage, const PassAt *at);
  void (*after_backward) (Stage *stage, const PassAt *at);
  void (*before_optimizer) (Stage *stage);
  void (*after_optimizer) (Stage *stage);
  /* Parameters that the optimizer of one rank updates. */
  double (*optimizer_parameters) (const Stage *stage);
  void (*memory) (const Stage *stage, FabJobTotals *totals);
  void (*free_state) (gpointer state);
  /* Whether it has done the optimizer's step itself, elsewhere than on the accelerator. */
  gboolean (*optimizes) (Stage *stage);
  gboolean (*is_sharded) (
      const Stage *stage); /* no rank can tell the norm of all gradients; NULL: each can */
} Strategy;

typedef struct {
  Selection selection;
  FabFamily *family;
} KnownFamily;

struct _Train {
  const FabWorkloadEnv *env;
  const TrainParams *params;
  const Strategy *strategy;
  gconstpointer strategy_params;
  FabDagBuilder *builder;
  FabLayerStack *stack;
  Layout layout;
  guint n_stages, n_bins, n_micro;
  Stage *stages; /* [n_bins * n_stages]: rank classes, bin by bin */
  Stage *alone;  /* [n_alone] the ranks beyond the first of every class, where the job is not folded */
  guint n_alone;
  GArray **shared; /* [n_stages] guint: collectives that all bins of a stage join, in order */
  Slow *slow;
  double tokens;     /* of one rank and micro-batch */
  gint64 *transfers; /* [n_transfers] between stages: collective; -1: not made yet */
  guint n_transfers;
  gint64 norm;      /* collective of all ranks before the optimizer; -1: not made yet */
  GArray *families; /* KnownFamily */
  GError *error;    /* the first; nothing is planned after it */
};

gboolean train_build (const FabWorkloadEnv *env, const TrainParams *params, const Strategy *strategy,
                      gconstpointer strategy_params, FabDagBuilder *builder, FabJobTotals *totals,
                      GError **error);

/* --- for strategies --- */

guint stage_stream (Stage *stage, Lane lane);
/* A compute task; it waits for all that stage_wait () was told. Takes `name`. */
FabTaskId stage_compute (Stage *stage, double seconds, char *name);
void stage_wait (Stage *stage, FabTaskId task);

/* Families that live as long as the job; NULL: the error is set. */
FabFamily *train_family (Train *train, const Selection *selection);
FabFamily *stage_pairs (Stage *stage, guint to); /* of this stage's ranks and those of another one */
/* Groups of data-parallel ranks of a stage (context-parallel ranks hold the same parameters: they belong to it). */
FabFamily *stage_data_family (Stage *stage, DataPart part, guint block);
/* Of ranks that hold the same experts. */
FabFamily *stage_expert_data_family (Stage *stage);

typedef struct {
  Lane lane;
  FabDimension dimension;
  FabFamily *family; /* NULL: nothing is sent */
  FabOp op;
  FabBytes bytes;
} Comm;

/* A collective of one stage, after its last compute task. FALSE: of one rank or of no bytes, no task was made.
 * Takes `name`. */
gboolean stage_comm (Stage *stage, const Comm *comm, char *name, FabTaskId *task);
/* The same after another task than the last compute task; NULL: at once. */
gboolean stage_comm_after (Stage *stage, const Comm *comm, char *name, const FabTaskId *after,
                           FabTaskId *task);

/* The collective that the first rank of the class has joined at this place; FALSE: the stage is to make it, and then to
 * note it for the others. */
gboolean stage_follow (Stage *stage, guint *collective);
void stage_note (Stage *stage, guint collective);

/* Gathers so many parameters over the ranks that have the same, after the last compute task; appends the tasks. */
void stage_gather (Stage *stage, const ParameterCount *count, guint index, GArray *tasks);
/* The next compute task waits for them; empties the array. */
void stage_wait_all (Stage *stage, GArray *tasks);

/* The job cannot be built. */
void train_fail (Train *train, const char *format, ...) G_GNUC_PRINTF (2, 3);

gboolean stage_has_layer (const Stage *stage, guint layer);

guint stage_n_ranks (const Stage *stage);          /* of the class */
guint *stage_ranks (const Stage *stage, guint *n); /* (transfer full) */
guint stage_n_replicas (const Stage *stage);      /* ranks with the same parameters when nothing is sharded */
guint stage_data_per_node (const Stage *stage);   /* of the data axis, neighbours in one node */
FabBytes stage_weight_bytes (const Stage *stage); /* of one parameter as it is multiplied with */

/* Whether the pass of this layer is the last of the stage's part of a backward pass. */
gboolean stage_ends_backward (const Stage *stage, const PassAt *at);
/* The same of its part of the model, of which there are several with virtual stages. */
gboolean stage_ends_chunk (const Stage *stage, const PassAt *at);

/* Of one rank: what tensor and expert parallelism leave of a tensor. */
guint64 train_tensor_parameters (const Train *train, const FabTensor *tensor);
ParameterCount train_layer_count (const Train *train, guint layer);
/* Of the stage, when they are divided among all ranks that have the same. */
double stage_shard_parameters (const Stage *stage);
