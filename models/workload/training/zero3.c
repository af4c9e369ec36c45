/* SPDX-License-Identifier: Apache-2.0 */
/* zero3.c - sharded parameters as DeepSpeed's coordinator gathers and releases them
 * (partitioned_param_coordinator.py).
 *
 * The order in which one micro-batch uses the tensors, forward and backward, is called the trace. Before a layer
 * computes
 *   - the tensors that it needs and that are not whole are gathered, and the compute stream waits for them;
 *   - for every module of the layer the next tensors of the trace that are not whole are gathered ahead,
 *     prefetch_bucket elements at a time, as long as at most max_live elements are whole.
 * After its use a tensor is released, unless it is used again within max_reuse_distance elements. Tensors below the
 * persistence threshold are always whole, and are gathered once after the optimizer. Gradients are collected in
 * buckets; every micro-batch reduce-scatters them on a communicator of its own: gathers use the world group
 * (partition_parameters.py), reductions the engine's data-parallel group.
 *
 * ZeRO++ (Wang et al. 2023, arXiv 2306.10209): hpZ gathers from a second copy inside each node, once the first
 * forward pass of the step has filled it. qwZ sends 8 bits for each parameter, also from that copy. qgZ sends 4 bits
 * for each gradient, in two all-to-alls. The kernels that quantise, and the scales of the numbers, are not counted.
 *
 * MiCS (Zhang et al. 2022, arXiv 2205.00119): shards are within groups of ranks, and gradients are summed over the
 * groups in the last micro-batch.
 */
#include "models/workload/training/zero3.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"

static const ZeroParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

/* --- gradients --- */

/* Sends a bucket with 4 bits for each gradient: first to the ranks of the node, which add, then to the other nodes. */
static gboolean
send_quantized (Stage *stage, FabBytes bytes, char *name, FabTaskId *task)
{
  const ZeroParams *p = params_of (stage);
  guint n_local = stage_data_per_node (stage);
  double quarter = (double) bytes / (double) gradient_bytes[p->gradient] / 2;
  Comm near = { LANE_DATA, FAB_DIMENSION_DATA, stage_data_family (stage, DATA_RUNS, n_local),
                FAB_OP_ALL_TO_ALL, (FabBytes) (quarter + 0.5) };
  Comm far = { LANE_DATA, FAB_DIMENSION_DATA, stage_data_family (stage, DATA_EVERY, n_local),
               FAB_OP_ALL_TO_ALL, (FabBytes) (quarter / n_local + 0.5) };
  gboolean is_sent = stage_comm (stage, &near, g_strdup_printf ("%s.near", name), task);

  is_sent |= stage_comm (stage, &far, g_strdup_printf ("%s.far", name), task);
  g_free (name);
  return is_sent;
}

/* MiCS sums the shards of each bucket over the groups, in the last micro-batch (mics.py). */
static gboolean
sent (Stage *stage, FabBytes bytes, FabTaskId *task)
{
  const Zero3 *self = stage->state;
  FabTaskId sum = *task;
  Comm comm = { LANE_REPLICA, FAB_DIMENSION_DATA, self->replicas, FAB_OP_ALL_REDUCE,
                self->replicas != NULL ? bytes / fab_family_n_ranks (self->forward) : 0 };
  gboolean is_summed = self->is_last && stage_comm_after (stage, &comm, g_strdup ("replicas"), &sum, task);

  return zero_offload_gradients (stage, bytes, task) || is_summed;
}

static Buckets *
new_buckets (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  FabBytes bytes = (FabBytes) p->reduce_bucket * gradient_bytes[p->gradient];

  return buckets_new (stage, &(BucketsParams){ .op = FAB_OP_REDUCE_SCATTER,
                                               .first_bytes = bytes,
                                               .bytes = bytes,
                                               .bytes_per_parameter = gradient_bytes[p->gradient],
                                               .overlaps = TRUE,
                                               .is_closed_before = TRUE,
                                               .part = p->shard > 0 ? DATA_RUNS : DATA_ONE,
                                               .block = (guint) p->shard,
                                               .send = p->has_quantized_gradients ? send_quantized : NULL,
                                               .sent = sent });
}

static void
begin (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  Zero3 *self = g_new0 (Zero3, 1);

  stage->state = self;
  self->stage = stage;
  self->items = g_array_new (FALSE, FALSE, sizeof (TraceItem));
  self->layer_items = g_array_new (FALSE, FALSE, sizeof (guint));
  zero3_add_items (self);
  self->buckets = new_buckets (stage);
  self->forward = p->shard > 0 ? stage_data_family (stage, DATA_RUNS, (guint) p->shard)
                               : stage_data_family (stage, DATA_ALL, 0);
  self->backward = p->secondary > 1 ? stage_data_family (stage, DATA_RUNS, (guint) p->secondary)
                                    : self->forward;
  if (p->shard > 0)
    self->replicas = stage_data_family (stage, DATA_EVERY, (guint) p->shard);
}

static void
free_state (gpointer data)
{
  Zero3 *self = data;

  buckets_free (self->buckets);
  g_array_unref (self->items);
  g_array_unref (self->layer_items);
  g_free (self);
}

static void
before (Stage *stage, const PassAt *at, gboolean is_backward)
{
  Zero3 *self = stage->state;
  self->micro = at->micro;
  self->is_last = at->is_last;
  TraceRange uses = zero3_uses (self, at->layer, is_backward);
  gint64 end;

  zero3_gather (self, uses, is_backward, &end);
  self->cursor = MAX (self->cursor, uses.to);
  for (guint i = zero3_first_item (self, at->layer); i < zero3_first_item (self, at->layer + 1); i++) {
    TraceItem *item = zero3_item (self, i);

    if (item->is_coming)
      stage_wait (stage, item->gather);
    item->is_whole |= item->is_coming;
    item->is_coming = FALSE;
  }
  zero3_prefetch (self, at->layer);
}

static void
release (Zero3 *self, guint layer)
{
  for (guint i = zero3_first_item (self, layer); i < zero3_first_item (self, layer + 1); i++) {
    TraceItem *item = zero3_item (self, i);

    if (item->is_whole)
      self->live -= item->elements;
    item->is_whole = FALSE;
  }
}

static void
before_forward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  if (at->layer == 0)
    self->cursor = 0;
  before (stage, at, FALSE);
}

static void
after_forward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  if (zero3_reuse_distance (self, at->layer) >= (guint64) params_of (stage)->max_reuse_distance)
    release (self, at->layer);
}

static void
before_backward (Stage *stage, const PassAt *at)
{
  before (stage, at, TRUE);
}

static gboolean
splits_backward (G_GNUC_UNUSED const Stage *stage, G_GNUC_UNUSED const PassAt *at)
{
  return TRUE;
}

static void
gradient (Stage *stage, const PassAt *at, guint tensor)
{
  Zero3 *self = stage->state;

  buckets_add (self->buckets, at->layer, tensor);
  if (!zero_overlaps (params_of (stage)))
    buckets_wait (self->buckets);
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  release (self, at->layer);
  if (stage_ends_backward (stage, at))
    buckets_flush (self->buckets);
}

/* --- the step --- */

static guint
count_shards (const Stage *stage)
{
  const ZeroParams *p = params_of (stage);

  return p->shard > 0 ? (guint) p->shard : stage_n_replicas (stage);
}

static void
before_optimizer (Stage *stage)
{
  buckets_wait (((Zero3 *) stage->state)->buckets);
}

static double
optimizer_parameters (const Stage *stage)
{
  return (double) stage->parameters / count_shards (stage);
}

static guint64
count_persistent (const Zero3 *self)
{
  guint64 elements = 0;

  for (guint i = 0; i < self->items->len; i++)
    elements += zero3_item (self, i)->is_persistent ? zero3_item (self, i)->elements : 0;
  return elements;
}

static void
after_optimizer (Stage *stage)
{
  Zero3 *self = stage->state;
  Comm comm = { LANE_DATA, FAB_DIMENSION_DATA, self->forward, FAB_OP_ALL_GATHER,
                count_persistent (self) * stage_weight_bytes (stage) };
  FabTaskId task;

  if (!stage_comm (stage, &comm, g_strdup ("persistent"), &task))
    return;
  stage_wait (stage, task);
  stage_compute (stage, 0, g_strdup ("updated"));
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const ZeroParams *p = params_of (stage);
  double share = 1.0 / count_shards (stage), parameters = (double) stage->parameters;
  double live = MIN ((double) p->max_live, parameters);

  memory_add_state (stage, totals,
                    &(MemoryShares){ p->offload.parameters == OFFLOAD_NONE ? share : 0,
                                     (double) gradient_bytes[p->gradient],
                                     p->offload.optimizer == OFFLOAD_NONE ? share : 0,
                                     p->offload.optimizer == OFFLOAD_NONE ? share : 0 });
  memory_add (stage, totals, "gathered", live * (double) stage_weight_bytes (stage));
  if (p->secondary > 1)
    memory_add (stage, totals, "secondary",
                parameters * (double) stage_weight_bytes (stage) / (double) p->secondary);
  memory_add (stage, totals, "buckets",
              MIN ((double) p->reduce_bucket, parameters) * (double) gradient_bytes[p->gradient]
                  * (zero_overlaps (p) ? 2 : 1));
}

const Strategy zero3_strategy = {
  .begin = begin,
  .before_forward = before_forward,
  .after_forward = after_forward,
  .before_backward = before_backward,
  .gradient = gradient,
  .splits_backward = splits_backward,
  .after_backward = after_backward,
  .before_optimizer = before_optimizer,
  .optimizer_parameters = optimizer_parameters,
  .optimizes = zero_optimizes,
  .after_optimizer = after_optimizer,
  .memory = memory,
  .free_state = free_state,
  .is_sharded = zero_is_sharded,
};
