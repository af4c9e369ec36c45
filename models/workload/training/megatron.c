/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c - data-parallel training as Megatron-LM schedules it (megatron/core/distributed; names are its options).
 *
 * Gradients are in one buffer, in the reverse of the order in which tensors are registered. The buffer is divided
 * into buckets of max (40e6, 1e6 x data-parallel ranks) parameters. Without overlap_grad_reduce, and on all pipeline
 * stages but the first, each part of the model has one bucket (distributed_data_parallel.py). In the last micro-batch a
 * full bucket is all-reduced. With the distributed optimizer it is reduce-scattered instead, and each rank updates its
 * part of each bucket; then the parameters are gathered again: after the optimizer, or with overlap_param_gather bucket
 * by bucket, while the forward pass of the next step waits only for the buckets that it needs.
 */
#include "models/models.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/train.h"

typedef struct {
  TrainParams train;
  gint gradient; /* index of gradient_types */
  gint64 bucket; /* in parameters; 0: Megatron-LM's own rule, as above */
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
    .help = "Number type in which gradients are kept and reduced (--accumulate-allreduce-grads-in-fp32)." },
  { .key = "bucket",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MegatronParams, bucket),
    .fallback = "0",
    .max = 1e15,
    .help = "Parameters per bucket (--ddp-bucket-size); 0: max (40e6, 1e6 x data-parallel ranks)." },
  FLAG ("distributed_optimizer", is_distributed, "Shard optimizer states (--use-distributed-optimizer)."),
  FLAG ("overlap_grad_reduce", overlaps_reduce, "Reduce buckets while the backward pass runs."),
  FLAG ("overlap_param_gather", overlaps_gather,
        "Gather updated parameters while the next forward pass runs."),
  { .key = NULL },
};

/* Layers whose parameters are gathered together, in forward order. */
typedef struct {
  guint first_layer;
  ParameterCount count;
  GArray *gathers; /* FabTaskId: gathers on their way; NULL: not issued yet */
  gboolean is_there;
} Part;

typedef struct {
  Buckets *buckets;
  GArray *parts; /* Part; used with overlap_param_gather */
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

  if (!p->overlaps_reduce || MIN (stage->index, stage_twin (stage)) > 0)
    return 0;
  return p->bucket > 0 ? (guint64) p->bucket
                       : MAX (40000000, 1000000ull * stage->train->layout.size[AXIS_DATA]);
}

static void
part_clear (gpointer data)
{
  g_clear_pointer (&((Part *) data)->gathers, g_array_unref);
}

/* Adds the tensors of a layer to a part, the last registered first, and closes parts that have as many parameters as a
 * bucket. */
static void
add_layer_parts (Stage *stage, guint layer, guint64 most, Part *part, GArray *parts)
{
  const FabLayer *of = fab_layer_stack_layer (stage->train->stack, layer);

  for (guint t = of->tensors->len; t-- > 0;) {
    const FabTensor *tensor = fab_layer_tensor (of, t);
    gboolean is_expert = tensor->kind == FAB_TENSOR_EXPERT
                      && layout_has_expert_groups (&stage->train->layout);
    guint64 parameters = train_tensor_parameters (stage->train, tensor);

    if (tensor->is_frozen)
      continue;
    *(is_expert ? &part->count.experts : &part->count.dense) += parameters;
    part->first_layer = layer;
    if (part->count.dense + part->count.experts < most)
      continue;
    g_array_append_val (parts, *part);
    *part = (Part){ 0 };
  }
}

/* Divides the layers of a stage into parts, which are the buckets of their gradients, and puts them in forward order.
 */
static void
add_parts (Stage *stage, GArray *parts)
{
  guint64 most = bucket_parameters (stage) > 0 ? bucket_parameters (stage) : G_MAXUINT64;
  Part part = { 0 };

  for (guint l = stage->train->stack->layers->len; l-- > 0;)
    if (stage_has_layer (stage, l))
      add_layer_parts (stage, l, most, &part, parts);
  if (part.count.dense + part.count.experts > 0)
    g_array_append_val (parts, part);
  for (guint i = 0; i < parts->len / 2; i++) {
    Part other = g_array_index (parts, Part, i);

    g_array_index (parts, Part, i) = g_array_index (parts, Part, parts->len - 1 - i);
    g_array_index (parts, Part, parts->len - 1 - i) = other;
  }
}

static void
gather_part (Stage *stage, GArray *parts, guint index)
{
  Part *part = index < parts->len ? &g_array_index (parts, Part, index) : NULL;

  if (part == NULL || part->gathers != NULL)
    return;
  part->gathers = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  stage_gather (stage, &part->count, index, part->gathers);
}

static void
begin (Stage *stage)
{
  const MegatronParams *p = params_of (stage);
  FabBytes bytes = bucket_parameters (stage) * gradient_bytes[p->gradient];
  Megatron *self = g_new0 (Megatron, 1);

  stage->state = self;
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (self->parts, part_clear);
  self->buckets = buckets_new (stage, &(BucketsParams){ .op = p->is_distributed ? FAB_OP_REDUCE_SCATTER
                                                                                : FAB_OP_ALL_REDUCE,
                                                        .first_bytes = bytes,
                                                        .bytes = bytes,
                                                        .bytes_per_parameter = gradient_bytes[p->gradient],
                                                        .overlaps = p->overlaps_reduce });
  if (!p->is_distributed || !p->overlaps_gather)
    return;
  stage_compute (stage, 0, g_strdup ("begin"));
  add_parts (stage, self->parts);
  gather_part (stage, self->parts, 0);
}

static void
free_state (gpointer data)
{
  Megatron *self = data;

  buckets_free (self->buckets);
  g_array_unref (self->parts);
  g_free (self);
}

/* A layer waits for the gather of its part; then the gather of the next part is issued (finish_param_sync,
 * param_and_grad_buffer.py). */
static void
before_forward (Stage *stage, const PassAt *at)
{
  Megatron *self = stage->state;

  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = &g_array_index (self->parts, Part, i);

    if (part->is_there || part->first_layer > at->layer)
      continue;
    gather_part (stage, self->parts, i);
    stage_wait_all (stage, part->gathers);
    part->is_there = TRUE;
    gather_part (stage, self->parts, i + 1);
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
  if (at->is_last && stage_ends_chunk (stage, at))
    buckets_close (((Megatron *) stage->state)->buckets);
}

static void
before_optimizer (Stage *stage)
{
  buckets_flush (((Megatron *) stage->state)->buckets);
  buckets_wait (((Megatron *) stage->state)->buckets);
}

static double
optimizer_parameters (const Stage *stage)
{
  return params_of (stage)->is_distributed ? stage_shard_parameters (stage) : (double) stage->parameters;
}

static void
after_optimizer (Stage *stage)
{
  const MegatronParams *p = params_of (stage);
  g_autoptr (GArray) tasks = g_array_new (FALSE, FALSE, sizeof (FabTaskId));

  if (!p->is_distributed || p->overlaps_gather)
    return;
  stage_gather (stage, &stage->count, 0, tasks);
  if (tasks->len == 0)
    return;
  stage_wait_all (stage, tasks);
  stage_compute (stage, 0, g_strdup ("updated"));
}

static gboolean
is_sharded (const Stage *stage)
{
  return params_of (stage)->is_distributed;
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const MegatronParams *p = params_of (stage);
  double share = optimizer_parameters (stage) / MAX ((double) stage->parameters, 1);

  memory_add_state (stage, totals,
                    &(MemoryShares){ .parameters = 1,
                                     .gradient_bytes = (double) gradient_bytes[p->gradient],
                                     .gradients = 1,
                                     .optimizer = share,
                                     .has_dummies = train_kernels (stage->train) == FAB_KERNELS_FUSED });
}

static const Strategy megatron_strategy = {
  .stack = "megatron",
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
  .is_sharded = is_sharded,
};

static gboolean
megatron_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
                GError **error)
{
  const MegatronParams *p = params;

  if (!train_build (env, &p->train, &megatron_strategy, p, builder, totals, error))
    return FALSE;
  totals->gradient_bytes = totals->trained_parameters * gradient_bytes[p->gradient];
  return TRUE;
}

static void
megatron_check (gconstpointer params, FabCheck *check)
{
  const MegatronParams *p = params;

  train_check (&p->train, check);
  if (p->overlaps_gather && !(p->is_distributed && p->overlaps_reduce))
    fab_check_fail (check, &p->overlaps_gather,
                    "overlap_param_gather needs distributed_optimizer: true and overlap_grad_reduce: true");
}

const FabWorkloadOps fab_workload_megatron = {
  .info = { .name = "megatron",
            .summary = "Data-parallel training, scheduled as Megatron-LM and its distributed optimizer do "
                       "it.",
            .doc = "docs/models/megatron.md",
            .params = megatron_params,
            .params_size = sizeof (MegatronParams),
            .check = megatron_check },
  .build = megatron_build,
};
