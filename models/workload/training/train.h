/* SPDX-License-Identifier: Apache-2.0 */
/* train.h - one iteration of a training job: what all strategies share.
 *
 * A rank class is a pipeline stage (and a bin, where some ranks are slower than others: slow.h). train_build () makes
 * the forward and backward passes of each stage as tasks on its compute stream, in the order of the pipeline
 * schedule. Model-parallel communication is part of the passes (passes.h). A strategy says how parameters, gradients
 * and optimizer states are spread over the data-parallel ranks; it adds its communication in hooks, on streams of its
 * own. The simulation finds out which communication overlaps with compute: tasks of different streams run at the same
 * time.
 */
#pragma once

#include "models/workload/training/experts.h"
#include "models/workload/training/outer.h"
#include "models/workload/training/slow.h"
#include "models/workload/training/storage.h"
#include "sim/execution/workload.h"

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
  OuterParams outer;
  FabParamList stragglers; /* StragglerParams */
  gint trains;             /* Trains */
  gint64 adapter_rank;
  gint adapter_targets; /* AdapterTargets, adapters.h */
  double train_tokens;
  ParallelParams parallel;
} TrainParams;

typedef enum { TRAINS_ALL, TRAINS_LORA } Trains;
typedef enum { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL } Recompute;

extern const char *const recompute_kinds[];
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
        .help =                                                                                              \
            "Activation recomputation: of attention scores only (selective) or of every block (full)." },    \
      { .key = "compute",                                                                                    \
        .type = FAB_PARAM_MODEL,                                                                             \
        .offset = TRAIN_ROW (type_, field_, compute),                                                        \
        .fallback = "auto",                                                                                  \
        .models = FAB_MODEL_COMPUTE,                                                                         \
        .help = "Model that turns FLOPs into time." },                                                       \
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

/* Streams of a stage, in the order in which they are made. Tasks of one stream run one after another. */
typedef enum {
  STREAM_LOADER,
  STREAM_COMPUTE,
  STREAM_DATA,    /* collectives of the shard group, or of all data-parallel ranks */
  STREAM_GATHER,  /* gathers, where they have a stream of their own beside the reductions */
  STREAM_REPLICA, /* collectives among the replicas of a shard */
  STREAM_EXPERT_DATA,
  STREAM_TENSOR,
  STREAM_CONTEXT,
  STREAM_EXPERT,
  STREAM_SEND_FORWARD,
  STREAM_RECEIVE_FORWARD,
  STREAM_SEND_BACKWARD,
  STREAM_RECEIVE_BACKWARD,
  STREAM_NORM,
  STREAM_OUTER,    /* between sites, every so many steps */
  STREAM_FROM_GPU, /* copies to host memory or drives */
  STREAM_TO_GPU,
  STREAM_CPU,
  STREAM_CHECKPOINT,
  N_STREAM_KINDS,
} StreamKind;

/* The path from the accelerators to host memory or drives, or back. */
typedef struct {
  const FabFootprint *footprint; /* NULL: not found yet */
  FabTimePs latency_ps;
} CopyPath;

/* Numbers of parameters of one rank. `experts` are those that not all data-parallel ranks have. */
typedef struct {
  guint64 dense, experts;
} ParameterCount;

/* One rank class: a pipeline stage, or those of its ranks that are in one bin. Where ranks are not folded into
 * classes, it is the first rank of what would be one, and the other ranks do what the first does. */
struct Stage {
  Train *train;
  guint index, bin, rank_class;   /* number of the pipeline stage; of the bin (slow.h) */
  gint64 streams[N_STREAM_KINDS]; /* -1: not made yet */
  double share;                   /* of a micro-batch that is under way: 1, or 0.5 with two halves in turn */
  struct {
    GArray *waits; /* FabTaskId: tasks for which the next compute task of this half waits */
    FabTaskId last_compute;
  } halves[2];
  gboolean has_held; /* `held` is an exchange of tokens beside which the shared experts compute */
  FabTaskId held;
  GArray *waits; /* FabTaskId: tasks for which the next compute task waits */
  FabTaskId last_compute;
  gboolean has_compute, has_load, has_outer;
  FabTaskId load;                                 /* the task that loads the batch */
  FabTaskId outer, outer_end;                     /* the first and the last task between sites (outer.h) */
  double compute_s;                               /* sum of all compute tasks in seconds */
  FabConcurrentGroups *tensor, *context, *expert; /* model-parallel groups; NULL: groups of one rank */
  FabConcurrentGroups
      *expert_tensor;        /* ranks that share one expert, where experts have a grid of their own */
  FabConcurrentGroups *next; /* pairs of a rank of this stage and one of the next stage */
  GArray *chunks;            /* Chunk: parts of the model */
  GArray *actions;           /* Action: passes in order */
  GArray *received;          /* inputs that are being received */
  gpointer state;            /* owned by the strategy */
  guint n_shared;            /* number of collectives with other bins of the stage that it has joined */
  struct Stage *first;  /* the first rank of its class, whose collectives it joins; NULL: it makes its own */
  GArray *made;         /* guint: its collectives, in the order in which they were joined */
  guint n_followed;     /* number of collectives of `first` that it has joined */
  CopyPath ways[2][2];  /* [0 host memory, 1 drives][0 from the GPU, 1 to the GPU] */
  ParameterCount count; /* trained parameters of all layers of the stage */
  guint64 parameters;   /* both sorts together */
  guint64 frozen;       /* parameters that are not trained */
};

/* Consecutive layers of the model: one part of the model that a stage has. */
typedef struct {
  guint first_layer, n_layers;
} Chunk;

/* The layer and micro-batch of a pass. */
typedef struct {
  guint layer, micro;
  gboolean is_last; /* it is the last micro-batch of the step */
} PassAt;

/* Hooks of a strategy, which are called while the tasks of a stage are being made. NULL: nothing to do. */
typedef struct {
  const char *stack; /* software whose efficiency kernels have, where the job does not say another one */
  void (*begin) (Stage *stage);
  void (*before_forward) (Stage *stage, const PassAt *at);
  void (*after_forward) (Stage *stage, const PassAt *at);
  void (*before_backward) (Stage *stage, const PassAt *at);
  /* Called after the compute task that yields the gradient of one tensor of the layer, in those micro-batches for
 * which `splits_backward` returns TRUE. */
  void (*gradient) (Stage *stage, const PassAt *at, guint tensor);
  /* Called before and after each tensor of the layer is used, in the order in which passes use them: forward,
 * recomputation and backward. Every tensor for which `uses_alone` returns TRUE then begins a compute task. NULL: passes
 * are tasks of whole pieces. */
  gboolean (*uses_alone) (const Stage *stage, const PassAt *at, guint tensor);
  void (*before_use) (Stage *stage, const PassAt *at, guint tensor);
  void (*after_use) (Stage *stage, const PassAt *at, guint tensor);
  gboolean (*splits_backward) (const Stage *stage, const PassAt *at);
  void (*after_backward) (Stage *stage, const PassAt *at);
  void (*before_optimizer) (Stage *stage);
  void (*after_optimizer) (Stage *stage);
  /* Number of parameters that the optimizer of one rank updates. */
  double (*optimizer_parameters) (const Stage *stage);
  void (*memory) (const Stage *stage, FabJobTotals *totals);
  void (*free_state) (gpointer state);
  /* Whether the strategy has added the optimizer step itself, on the CPUs. */
  gboolean (*optimizes) (Stage *stage);
  /* Whether each rank has a part of the gradients only, so that the norm of all gradients needs an all-reduce. NULL:
   * each rank has all gradients of its stage. */
  gboolean (*is_sharded) (const Stage *stage);
} Strategy;

typedef struct {
  Selection selection;
  FabConcurrentGroups *concurrent_groups;
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
  guint round;   /* micro-batches that go through one part of a stage before its next part */
  GArray *parts; /* Chunk: the parts of the model in model order (parts.h) */
  Stage *stages; /* [n_bins * n_stages] rank classes, bin by bin */
  /* [n_alone] all ranks but the first of every class, where ranks are not folded into classes. */
  Stage *alone;
  guint n_alone;
  /* [n_stages] guint: collectives that all bins of a stage join, in the order in which they were made. */
  GArray **shared;
  Slow *slow;
  double tokens;                 /* of one rank in one micro-batch */
  FabEfficiencyFound efficiency; /* of the software stack; zeroes: the compute model needs none */
  gboolean has_efficiency;
  double checkpoint_s; /* what checkpoints add to a step, of the stage that pays most */
  double waiting;      /* factor on the time of every kernel: slow_waiting () */
  gint64 *transfers;   /* [n_transfers] collective of each transfer between stages; -1: not made yet */
  guint n_transfers;
  Experts *experts;
  gint64 norm; /* all-reduce of the norm of the gradients, before the optimizer; -1: not made yet */
  GArray *concurrent_groups; /* KnownFamily */
  GHashTable *prices;        /* from segments of the stack to what passes take (prices.c) */
  GError *error;             /* the first error; nothing is planned after it */
};

gboolean train_build (const FabWorkloadEnv *env, const TrainParams *params, const Strategy *strategy,
                      gconstpointer strategy_params, FabDagBuilder *builder, FabJobTotals *totals,
                      GError **error);

/* --- for strategies --- */

guint stage_stream (Stage *stage, StreamKind stream);

/* Adds a compute task, which waits for all tasks of stage_wait (). Takes `name`. */
FabTaskId stage_compute (Stage *stage, double seconds, char *name);
void stage_wait (Stage *stage, FabTaskId task);

/* Concurrent groups (sim/collective/plan/concurrent_groups.h), which live as long as the job. NULL: train->error is
 * set. */
FabConcurrentGroups *train_concurrent_groups (Train *train, const Selection *selection);
FabConcurrentGroups *stage_pairs (Stage *stage,
                                  guint to); /* pairs of a rank of this stage and one of stage `to` */

/* Groups of data-parallel ranks of a stage, inside a site where the job has several (outer.h). Context-parallel ranks
 * have the same parameters and are in the group too. */
FabConcurrentGroups *stage_data_concurrent_groups (Stage *stage, DataPart part, guint block);

/* The same over all sites, without the context-parallel ranks. */
FabConcurrentGroups *stage_site_concurrent_groups (Stage *stage, DataPart part, guint block);

/* Number of ranks along the data axis that sum their gradients in every step: those of a site. */
guint train_site_data (const Train *train);

/* Groups of ranks that hold the same experts. */
FabConcurrentGroups *stage_expert_data_concurrent_groups (Stage *stage);

typedef struct {
  StreamKind stream;
  FabDimension dimension;
  FabConcurrentGroups *concurrent_groups; /* the groups; NULL: nothing is sent */
  FabOp op;
  FabBytes bytes;
} Comm;

/* Adds a collective after the last compute task of the stage. FALSE: no task was made, because groups have one rank,
 * there are no bytes, or an error has come before. Takes `name`. */
gboolean stage_comm (Stage *stage, const Comm *comm, char *name, FabTaskId *task);

/* The same, planned by another library than the job's. */
gboolean stage_comm_by (Stage *stage, const Comm *comm, FabLibrary *library, char *name, FabTaskId *task);

/* The same after another task; NULL: it may start at once. */
gboolean stage_comm_after (Stage *stage, const Comm *comm, char *name, const FabTaskId *after,
                           FabTaskId *task);

/* Finds the collective that the first rank of the class has joined at this place. FALSE: the stage has to make it,
 * and then calls stage_note () for the other ranks. */
gboolean stage_follow (Stage *stage, guint *collective);
void stage_note (Stage *stage, guint collective);

/* Adds all-gathers of so many parameters among the ranks that have the same, after the last compute task. Appends the
 * tasks to `tasks`. */
void stage_gather (Stage *stage, const ParameterCount *count, guint index, GArray *tasks);

/* Makes the next compute task wait for all `tasks`, and empties the array. */
void stage_wait_all (Stage *stage, GArray *tasks);

/* Sets train->error, unless it is set already: the job cannot be built. */
void train_fail (Train *train, const char *format, ...) G_GNUC_PRINTF (2, 3);

gboolean stage_has_layer (const Stage *stage, guint layer);

guint stage_n_ranks (const Stage *stage);          /* ranks of the class */
guint *stage_ranks (const Stage *stage, guint *n); /* (transfer full) */
guint stage_n_replicas (
    const Stage *stage); /* ranks that have the same parameters where nothing is sharded */
guint stage_data_per_node (const Stage *stage); /* ranks along the data axis that are in one node */
FabBytes stage_weight_bytes (
    const Stage *stage); /* bytes of one parameter in the precision of matrix products */

/* Whether the backward pass of a micro-batch ends, in this stage, with this layer. */
gboolean stage_ends_backward (const Stage *stage, const PassAt *at);

/* Whether it ends, in one of the parts of the model that the stage has, with this layer. */
gboolean stage_ends_chunk (const Stage *stage, const PassAt *at);

/* The parameters of a tensor that one rank has, where tensor and expert parallelism divide it. */
guint64 train_tensor_parameters (const Train *train, const FabTensor *tensor);
ParameterCount train_layer_count (const Train *train, guint layer);  /* trained parameters */
ParameterCount train_layer_frozen (const Train *train, guint layer); /* all others */

/* The parameters of one rank of the stage, if they are divided among all ranks that have the same. */
double stage_shard_parameters (const Stage *stage);
