/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a training job while its tasks are being made: the job, its stages, and the hooks of its strategy.
 *
 * These are types only. streams.h has what makes tasks of them.
 */
#pragma once

#include "models/workload/training/keys.h"
#include "models/workload/training/layout.h"
#include "models/workload/training/slow.h"
#include "sim/execution/workload.h"

typedef struct Stage Stage;
typedef struct _Train Train;
typedef struct _Experts Experts; /* what a job keeps for its exchanges of tokens, experts.c */

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
  STREAM_SEND_FORWARD_UP, /* the same of micro-batches that go up the stages, where others go down */
  STREAM_RECEIVE_FORWARD_UP,
  STREAM_SEND_BACKWARD_UP,
  STREAM_RECEIVE_BACKWARD_UP,
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

/* Activations of blocks on their way to and from host memory or drives (away.h). */
typedef struct {
  GHashTable *out;     /* from micro-batch and layer to Departure; NULL: nothing has left yet */
  guint n_out;         /* copies that have left */
  FabTaskId before[2]; /* the last two of them */
  gboolean has_back;   /* `back` brings what the next backward pass of a block needs */
  FabTaskId back;
} Away;

/* Numbers of parameters of one rank. `experts` are those that not all data-parallel ranks have. */
typedef struct {
  guint64 dense, experts;
} ParameterCount;

/* Consecutive layers of the model: one part of the model that a stage has. */
typedef struct {
  guint first_layer, n_layers;
  guint part;                /* number of the part in model order */
  guint n_micro, last_micro; /* micro-batches that go through it in a step, and the last one to go back */
} Chunk;

/* Rounds in which keys and values go around a ring while a segment computes attention (rounds.h). */
typedef struct {
  guint n;    /* 0: nothing goes around */
  guint next; /* the one that has not begun yet */
  gboolean is_backward;
  const FabLayer *layer;
  const FabSegment *segment;
  double at_s;             /* what has been computed of the segment */
  double start_s, round_s; /* when the first round begins, and what each one computes */
  gboolean has_exchange, has_before;
  FabTaskId exchange; /* the last one */
  FabTaskId before;   /* the last task before the round that has begun last */
} Rounds;

/* One rank class: a pipeline stage, or those of its ranks that are in one bin. Where ranks are not folded into
 * classes, it is the first rank of what would be one, and the other ranks do what the first does. */
struct Stage {
  Train *train;
  guint index, bin, rank_class;   /* number of the pipeline stage; of the bin (slow.h) */
  gint64 streams[N_STREAM_KINDS]; /* -1: not made yet */
  double share;                   /* of a micro-batch that is under way: 1, or 0.5 with two halves in turn */
  guint n_lanes; /* 2: two halves of a micro-batch, or a forward and a backward pass, take turns */
  struct {
    GArray *waits; /* FabTaskId: tasks for which the next compute task of this lane waits */
    FabTaskId last_compute;
  } lanes[2];
  Rounds rounds;
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
  guint last_chunk;          /* the one whose backward pass is the last of the step */
  GArray *actions;           /* Action: passes in order */
  GArray *received;          /* inputs that are being received */
  gpointer state;            /* owned by the strategy */
  guint n_shared;            /* number of collectives with other bins of the stage that it has joined */
  struct Stage *first; /* the first rank of its class, whose collectives it joins; NULL: it makes its own */
  GArray *made;        /* guint: its collectives, in the order in which they were joined */
  GArray *seconds;     /* double: of compute tasks, while somebody lists them; else NULL */
  guint n_followed;    /* number of collectives of `first` that it has joined */
  CopyPath ways[2][2]; /* [0 host memory, 1 drives][0 from the GPU, 1 to the GPU] */
  Away away;
  ParameterCount count; /* trained parameters of all layers of the stage */
  guint64 parameters;   /* both sorts together */
  guint64 frozen;       /* parameters that are not trained */
};

/* The layer and micro-batch of a pass. */
typedef struct {
  guint layer, micro;
  gboolean is_last; /* it is the last micro-batch of the step that goes through this part of the stage */
} PassAt;

/* Hooks of a strategy, which are called while the tasks of a stage are being made. NULL: nothing to do. */
typedef struct {
  /* Weights reach products in 16 bits, whatever the type is in which ranks keep them. */
  gboolean hands_over_weights;
  /* Its software wraps blocks by PyTorch's checkpoints that are not re-entrant (recompute.h). */
  gboolean has_plain_checkpoints;
  /* A micro-batch after which no gradients are reduced leaves nothing behind that makes the next one another. */
  gboolean is_alike;
  const char *stack; /* usual software of such jobs, where the job does not say another one */
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
  const struct _PipelineSchedule *schedule;
  guint round;   /* micro-batches that go through one part of a stage before its next part */
  GArray *parts; /* Chunk: the parts of the model in model order (parts.h) */
  Stage *stages; /* [n_bins * n_stages] rank classes, bin by bin */
  /* [n_alone] all ranks but the first of every class, where ranks are not folded into classes. */
  Stage *alone;
  guint n_alone;
  /* [n_stages] guint: collectives that all bins of a stage join, and of a stage that has the same parts, in the order
   * in which they were made. */
  GArray **shared;
  Slow *slow;
  double tokens;  /* of one rank in one micro-batch */
  FabSetup setup; /* what such runs take beyond the priced time */
  gboolean has_setup;
  FabSoftware software;
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
