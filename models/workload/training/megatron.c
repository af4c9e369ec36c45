/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c - data parallel training as Megatron-LM schedules it (megatron/core/distributed, its names of options).
 *
 * Gradients live in one buffer, last registered first, in buckets of max (40e6, 1e6 x ranks) parameters; without
 * overlap_grad_reduce there is one bucket (distributed_data_parallel.py). In the last micro-batch a bucket that is full
 * is all-reduced, or, with the distributed optimizer, reduce-scattered: every rank updates its part of each bucket
 * and the parameters are gathered again, after the optimizer, or with overlap_param_gather bucket by bucket while the
 * next step's forward pass waits only for what it needs.
 */
#include "models/models.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"

typedef struct {
  TrainParams train;
  gint gradient; /* index of gradient_types */
  gint64 bucket; /* parameters; 0: Megatron's rule */
  gboolean is_distributed, overlaps_reduce, overlaps_gather;
} MegatronParams;

#define FLAG(name_, field_, help_)                                                            \
  {                                                                                           \
    .key = name_, .type = FAB_PARAM_BOOL, .offset = G_STRUCT_OFFSET (MegatronParams, field_), \
    .fallback = "false", .help = help_                                                        \
  }

static const FabParam megatron_params[] = {
  TRAIN_PARAMS (MegatronParams, train),
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MegatronParams, gradient),
    .fallback = "fp32",
    .choices = gradient_types,
    .help = "Type in which gradients are kept and reduced (--accumulate-allreduce-grads-in-fp32)." },
  { .key = "bucket",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MegatronParams, bucket),
    .fallback = "0",
    .max = 1e15,
    .help = "Parameters of a bucket (--ddp-bucket-size); 0: max (40e6, 1e6 x data-parallel ranks)." },
  FLAG ("distributed_optimizer", is_distributed, "Shard optimizer states (--use-distributed-optimizer)."),
  FLAG ("overlap_grad_reduce", overlaps_reduce, "Reduce buckets while backward goes on."),
  FLAG ("overlap_param_gather", overlaps_gather,
        "Gather updated parameters while the next forward pass goes on."),
  { .key = NULL },
};

/* Layers whose parameters are gathered together, in forward order. */
typedef struct {
  guint first_layer, end_layer;
  FabTaskId gather;
  gboolean is_coming;
} Part;

typedef struct {
  Buckets *buckets;
  GArray *parts; /* Part; with overlap_param_gather */
} Megatron;

static const MegatronParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

static guint64
bucket_parameters (const Stage *stage)
{
  const MegatronParams *p = params_of (stage);

  if (!p->overlaps_reduce)
    return 0;
  return p->bucket > 0 ? (guint64) p->bucket : MAX (40000000, 1000000ull * stage_n_replicas (stage));
}

static gboolean
gather (Stage *stage, guint64 parameters, guint index, FabTaskId *task)
{
  FabFamily *family = stage_data_family (stage, DATA_ALL, 0);
  Comm comm = { LANE_DATA, FAB_DIMENSION_DATA, family, FAB_OP_ALL_GATHER,
                parameters * stage_weight_bytes (stage) };

  return stage_comm (stage, &comm, g_strdup_printf ("parameters%u", index), task);
}

/* Parts of as many parameters as a bucket, each gathered before the forward pass needs it. */
static void
gather_parts (Stage *stage, GArray *parts)
{
  const Train *train = stage->train;
  guint64 most = bucket_parameters (stage) > 0 ? bucket_parameters (stage) : G_MAXUINT64, filled = 0;
  Part part = { 0 };

  for (guint l = 0; l < train->stack->layers->len; l++) {
    filled += stage_has_layer (stage, l) ? train_layer_parameters (train, l) : 0;
    if (filled < most && l + 1 < train->stack->layers->len)
      continue;
    part.end_layer = l + 1;
    part.is_coming = gather (stage, filled, parts->len, &part.gather);
    g_array_append_val (parts, part);
    part = (Part){ .first_layer = l + 1 };
    filled = 0;
  }
}

static void
begin (Stage *stage)
{
  const MegatronParams *p = params_of (stage);
  FabBytes bytes = bucket_parameters (stage) * gradient_bytes[p->gradient];
  Megatron *self = g_new0 (Megatron, 1);

  stage->state = self;
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  self->buckets = buckets_new (stage, &(BucketsParams){ .op = p->is_distributed ? FAB_OP_REDUCE_SCATTER
                                                                                : FAB_OP_ALL_REDUCE,
                                                        .first_bytes = bytes,
                                                        .bytes = bytes,
                                                        .bytes_per_parameter = gradient_bytes[p->gradient],
                                                        .overlaps = p->overlaps_reduce });
  if (!p->is_distributed || !p->overlaps_gather)
    return;
  stage_compute (stage, 0, g_strdup ("begin"));
  gather_parts (stage, self->parts);
}

static void
free_state (gpointer data)
{
  Megatron *self = data;

  buckets_free (self->buckets);
  g_array_unref (self->parts);
  g_free (self);
}

static void
before_forward (Stage *stage, const PassAt *at)
{
  Megatron *self = stage->state;

  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = &g_array_index (self->parts, Part, i);

    if (part->is_coming && part->first_layer <= at->layer)
      stage_wait (stage, part->gather);
    part->is_coming &= part->first_layer > at->layer;
  }
}

static gboolean
reduces (G_GNUC_UNUSED const Stage *stage, const PassAt *at)
{
  return at->is_last;
}

static void
gradient (Stage *stage, const PassAt *at, guint tensor)
{
  buckets_add (((Megatron *) stage->state)->buckets, at->layer, tensor);
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  if (at->is_last && stage_ends_backward (stage, at))
    buckets_flush (((Megatron *) stage->state)->buckets);
}

static void
before_optimizer (Stage *stage)
{
  buckets_wait (((Megatron *) stage->state)->buckets);
}

static double
optimizer_parameters (const Stage *stage)
{
  return (double) stage->parameters / (params_of (stage)->is_distributed ? stage_n_replicas (stage) : 1);
}

static void
after_optimizer (Stage *stage)
{
  const MegatronParams *p = params_of (stage);
  FabTaskId task;

  if (!p->is_distributed || p->overlaps_gather || !gather (stage, stage->parameters, 0, &task))
    return;
  stage_wait (stage, task);
  stage_compute (stage, 0, g_strdup ("updated"));
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const MegatronParams *p = params_of (stage);
  double share = p->is_distributed ? 1.0 / stage_n_replicas (stage) : 1;

  memory_add_state (stage, totals, &(MemoryShares){ 1, (double) gradient_bytes[p->gradient], 1, share });
}

static const Strategy megatron_strategy = {
  .begin = begin,
  .before_forward = before_forward,
  .gradient = gradient,
  .splits_backward = reduces,
  .after_backward = after_backward,
  .before_optimizer = before_optimizer,
  .optimizer_parameters = optimizer_parameters,
  .after_optimizer = after_optimizer,
  .memory = memory,
  .free_state = free_state,
};

static gboolean
megatron_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
                GError **error)
{
  const MegatronParams *p = params;

  if (!train_build (env, &p->train, &megatron_strategy, p, builder, totals, error))
    return FALSE;
  totals->gradient_bytes = totals->parameters * gradient_bytes[p->gradient];
  return TRUE;
}

static void
megatron_check (gconstpointer params, FabCheck *check)
{
  const MegatronParams *p = params;

  train_check (&p->train, check);
  if (p->overlaps_gather && !p->is_distributed)
    fab_check_fail (check, &p->overlaps_gather, "overlap_param_gather needs distributed_optimizer: true");
}

const FabWorkloadOps fab_workload_megatron = {
  .info = { .name = "megatron",
            .summary = "Data parallel training as Megatron-LM schedules it, with its distributed optimizer.",
            .doc = "docs/models/megatron.md",
            .params = megatron_params,
            .params_size = sizeof (MegatronParams),
            .check = megatron_check },
  .build = megatron_build,
};
