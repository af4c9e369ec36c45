/* SPDX-License-Identifier: Apache-2.0 */
/* zero.c - data-parallel training as DeepSpeed's ZeRO schedules it (deepspeed/runtime/zero; names are its options).
 *
 *   stage 1  Optimizer states are sharded. Gradients are summed in buckets of reduce_bucket elements after the last
 *            micro-batch, each rank updates its part, and parameters are gathered, allgather_bucket elements at a time.
 *   stages 2, 3  Gradients are sharded too, and summed in every micro-batch; in stage 3 parameters are as well.
 *
 * In stages 1 and 2 an all-reduce sums a bucket, and each rank keeps its part of the result, because a bucket has
 * parts of several ranks (use_multi_rank_bucket_allreduce, DeepSpeed's default). Without that option it is a
 * reduce-scatter, with the number of bytes that the ZeRO paper counts (Rajbhandari et al. 2020, arXiv 1910.02054,
 * section 7). Without overlap_comm the sum is on the compute stream, and the backward pass waits for it.
 */
#include "models/models.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/train.h"
#include "models/workload/training/zero_keys.h"

/* One tensor of the stage. */
typedef struct {
  guint layer;
  guint64 elements; /* of one rank when the tensor is whole */
  gboolean is_persistent, is_whole;
  gboolean is_coming, is_new; /* the task `gather`, which makes it whole, is on its way; is being made */
  FabTaskId gather;
} TraceItem;

typedef struct {
  Stage *stage;
  Buckets *buckets;
  GArray *items;       /* TraceItem, in forward order */
  GArray *layer_items; /* guint: first item of each layer of the model, and the end of the last */
  FabConcurrentGroups *forward, *backward, *replicas;
  guint64 live;
  guint n_gathers,
      micro;        /* current micro-batch; the forward pass of the first one fills the second copy (hpZ) */
  gboolean is_last; /* it is the last micro-batch of the step */
  GArray *uses;     /* TraceUse: the trace of one micro-batch */
  guint n_forward;  /* of them in the forward pass */
  guint next,
      cursor; /* the next use of the trace that comes; the next that prefetching has not considered yet */
} Zero3;

/* One use of a tensor in the trace of a micro-batch. */
typedef struct {
  guint item;
  gboolean is_backward; /* in the backward pass or its recomputation */
} TraceUse;

/* The uses of the trace from `from` up to `to`, but at most `most` elements. */
typedef struct {
  guint from, to;
  guint64 most;
} TraceRange;

static const Strategy zero3_strategy;

enum { MAX_GATHERS = 100000 };

/* --- stages 1 and 2 --- */

static const ZeroParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

static gboolean
zero_overlaps (const ZeroParams *self)
{
  return self->overlap == ZERO_OVERLAP_AUTO ? self->stage == 3 : self->overlap == ZERO_OVERLAP_YES;
}

/* Each rank keeps its part of what was reduced, with 16 bits for each gradient. */
static gboolean
zero_offload_gradients (Stage *stage, FabBytes bytes, FabTaskId *task)
{
  const ZeroParams *p = params_of (stage);
  guint shards = p->shard > 0 ? (guint) p->shard : stage_n_replicas (stage);
  Copy copy = { (OffloadTo) p->offload.optimizer, FALSE, bytes / shards };
  FabTaskId sum = *task;

  return offload_copy (stage, &copy, g_strdup ("gradients"), &sum, task);
}

static gboolean
zero_optimizes (Stage *stage)
{
  const ZeroParams *p = params_of (stage);

  if (p->offload.optimizer == OFFLOAD_NONE)
    return FALSE;
  offload_optimize (stage, (OffloadTo) p->offload.optimizer,
                    stage->train->strategy->optimizer_parameters (stage),
                    p->offload.parameters == OFFLOAD_NONE);
  return TRUE;
}

static void
begin (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  FabBytes bytes = (FabBytes) p->reduce_bucket * gradient_bytes[p->gradient];

  stage->state = buckets_new (stage, &(BucketsParams){ .op = p->is_multi_rank ? FAB_OP_ALL_REDUCE
                                                                              : FAB_OP_REDUCE_SCATTER,
                                                       .first_bytes = bytes,
                                                       .bytes = bytes,
                                                       .bytes_per_parameter = gradient_bytes[p->gradient],
                                                       .overlaps = TRUE,
                                                       .is_closed_before = TRUE,
                                                       .sent = zero_offload_gradients });
}

static gboolean
reduces (const Stage *stage, const PassAt *at)
{
  return params_of (stage)->stage == 2 || at->is_last;
}

static void
gradient (Stage *stage, const PassAt *at, guint tensor)
{
  buckets_add (stage->state, at->layer, tensor);
  if (!zero_overlaps (params_of (stage)))
    buckets_wait (stage->state); /* it is reduced on the stream of the computation */
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  if (!reduces (stage, at) || !stage_ends_backward (stage, at))
    return;
  buckets_end_pass (stage->state, at->is_last);
}

static void
before_optimizer (Stage *stage)
{
  buckets_wait (stage->state);
}

static double
optimizer_parameters (const Stage *stage)
{
  return stage_shard_parameters (stage);
}

/* Gathers the parameters that the ranks have updated. The next step waits for it. */
static void
after_optimizer (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  ParameterCount left = stage->count;
  guint64 most = p->allgather_bucket > 0 ? (guint64) p->allgather_bucket : G_MAXUINT64;
  g_autoptr (GArray) tasks = g_array_new (FALSE, FALSE, sizeof (FabTaskId));

  if (stage->parameters / most > MAX_GATHERS) {
    train_fail (stage->train,
                "allgather_bucket %" G_GINT64_FORMAT " would need more than %d gathers per step",
                p->allgather_bucket, MAX_GATHERS);
    return;
  }
  for (guint i = 0; left.dense + left.experts > 0; i++) {
    ParameterCount part = { MIN (left.dense, most), MIN (left.experts, most) };

    stage_gather (stage, &part, i, tasks);
    left = (ParameterCount){ left.dense - part.dense, left.experts - part.experts };
  }
  if (tasks->len == 0)
    return;
  stage_wait_all (stage, tasks);
  stage_compute (stage, 0, g_strdup ("updated"));
}

static gboolean
zero_is_sharded (G_GNUC_UNUSED const Stage *stage)
{
  return TRUE;
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const ZeroParams *p = params_of (stage);
  double parameters = (double) stage->parameters;
  double share = stage_shard_parameters (stage) / MAX (parameters, 1);
  double bucket = MIN ((double) p->reduce_bucket, parameters);

  memory_add_state (stage, totals,
                    &(MemoryShares){ .parameters = 1,
                                     .gradient_bytes = (double) gradient_bytes[p->gradient],
                                     .gradients = p->stage == 2 ? share : 1,
                                     .optimizer = p->offload.optimizer == OFFLOAD_NONE ? share : 0,
                                     .always = bucket * (double) gradient_bytes[p->gradient]
                                             * (zero_overlaps (p) ? 2 : 1) });
}

static const Strategy zero12_strategy = {
  .stack = "deepspeed",
  .hands_over_weights = TRUE,
  .begin = begin,
  .gradient = gradient,
  .splits_backward = reduces,
  .after_backward = after_backward,
  .before_optimizer = before_optimizer,
  .optimizer_parameters = optimizer_parameters,
  .optimizes = zero_optimizes,
  .after_optimizer = after_optimizer,
  .memory = memory,
  .free_state = buckets_free,
  .is_sharded = zero_is_sharded,
};

/* --- all stages --- */

static gboolean
zero_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
            GError **error)
{
  const ZeroParams *p = params;

  if (!train_build (env, &p->train, p->stage == 3 ? &zero3_strategy : &zero12_strategy, p, builder, totals,
                    error))
    return FALSE;
  totals->gradient_bytes = totals->trained_parameters * gradient_bytes[p->gradient];
  return TRUE;
}

const FabWorkloadOps fab_workload_zero = {
  .info = { .name = "zero",
            .summary =
                "Data-parallel training with sharded states, scheduled as DeepSpeed ZeRO 1, 2 and 3 do it.",
            .doc = "docs/models/zero.md",
            .params = zero_params,
            .params_size = sizeof (ZeroParams),
            .check = zero_check },
  .build = zero_build,
};

static TraceItem *
zero3_item (const Zero3 *self, guint index)
{
  return &g_array_index (self->items, TraceItem, index);
}

static guint
zero3_first_item (const Zero3 *self, guint layer)
{
  return g_array_index (self->layer_items, guint, layer);
}

static void
zero3_add_items (Zero3 *self)
{
  const Train *train = self->stage->train;

  for (guint l = 0; l < train->stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (train->stack, l);
    guint first = self->items->len;

    g_array_append_val (self->layer_items, first);
    for (guint t = 0; t < layer->tensors->len; t++) {
      TraceItem item = { .layer = l,
                         .elements = train_tensor_parameters (train, fab_layer_tensor (layer, t)) };

      item.is_persistent = item.elements <= (guint64) params_of (self->stage)->persistence_threshold;
      g_array_append_val (self->items, item);
    }
  }
  g_array_append_val (self->layer_items, self->items->len);
}

static void
zero3_add_uses (Zero3 *self, guint layer, gboolean is_backward, gboolean is_reverse)
{
  guint first = zero3_first_item (self, layer), end = zero3_first_item (self, layer + 1);

  for (guint i = first; i < end; i++) {
    TraceUse use = { is_reverse ? end - 1 - (i - first) : i, is_backward };

    if (!zero3_item (self, use.item)->is_persistent)
      g_array_append_val (self->uses, use);
  }
}

/* The trace: the forward pass, then for each layer from the last the recomputation and the backward pass. */
static void
zero3_add_trace (Zero3 *self)
{
  const Train *train = self->stage->train;

  for (guint l = 0; l < train->stack->layers->len; l++)
    zero3_add_uses (self, l, FALSE, FALSE);
  self->n_forward = self->uses->len;
  for (guint l = train->stack->layers->len; l-- > 0;) {
    if (recompute_is_whole (train, l))
      zero3_add_uses (self, l, TRUE, FALSE);
    zero3_add_uses (self, l, TRUE, TRUE);
  }
}

static const TraceUse *
use_at (const Zero3 *self, guint index)
{
  return &g_array_index (self->uses, TraceUse, index);
}

static TraceItem *
used_at (const Zero3 *self, guint index)
{
  return zero3_item (self, use_at (self, index)->item);
}

/* Gathers tensors; shards that are not on the accelerator are copied there first. */
static gboolean
gather_from (Zero3 *self, const Comm *comm, FabTaskId *task)
{
  const FabTaskId *after = self->stage->has_compute ? &self->stage->last_compute : NULL;
  guint n = comm->concurrent_groups != NULL ? fab_concurrent_groups_n_ranks (comm->concurrent_groups) : 1;
  Copy copy = { (OffloadTo) params_of (self->stage)->offload.parameters, TRUE, comm->bytes / n };
  gboolean has_copy = offload_copy (self->stage, &copy, g_strdup_printf ("shard%u", self->n_gathers), after,
                                    task);
  FabTaskId shard = *task;
  gboolean has_comm = stage_comm_after (self->stage, comm,
                                        g_strdup_printf ("parameters%u", self->n_gathers++),
                                        has_copy ? &shard : after, task);

  return has_comm || has_copy;
}

static gboolean
is_missing (const TraceItem *item)
{
  return !item->is_whole && !item->is_coming;
}

/* Gathers in one collective those tensors of the range that are not there yet. Returns the use at which it stopped. */
static guint
zero3_gather (Zero3 *self, TraceRange range, gboolean is_backward)
{
  const ZeroParams *p = params_of (self->stage);
  guint64 elements = 0;
  FabTaskId task = 0;
  guint end = range.from;

  for (; end < range.to && elements < range.most; end++) {
    TraceItem *item = used_at (self, end);

    if (!is_missing (item))
      continue;
    elements += item->elements;
    item->is_coming = item->is_new = TRUE;
  }
  if (elements == 0)
    return end;
  FabConcurrentGroups *concurrent_groups = is_backward || self->micro > 0 ? self->backward : self->forward;
  FabBytes bytes = elements * (p->has_quantized_weights ? 1 : stage_weight_bytes (self->stage));
  Comm comm = { p->shard > 0 ? STREAM_DATA : STREAM_GATHER, FAB_DIMENSION_DATA, concurrent_groups,
                FAB_OP_ALL_GATHER, bytes };
  gboolean has_task = gather_from (self, &comm, &task);

  for (guint use = range.from; use < end; use++) {
    TraceItem *item = used_at (self, use);

    if (!item->is_new)
      continue;
    item->is_new = FALSE;
    item->is_whole = !has_task;
    item->is_coming = has_task;
    item->gather = task;
  }
  self->live += elements;
  return end;
}

/* Gathers tensors of later uses, prefetch_bucket elements and the tensor that exceeds them. */
static void
zero3_prefetch (Zero3 *self)
{
  const ZeroParams *p = params_of (self->stage);

  if (!p->prefetch_overlaps || self->cursor >= self->uses->len || self->live >= (guint64) p->max_live)
    return;
  guint64 most = MIN ((guint64) p->prefetch_bucket, (guint64) p->max_live - self->live);
  gboolean is_backward = use_at (self, self->cursor)->is_backward;
  TraceRange range = { self->cursor, is_backward ? self->uses->len : self->n_forward, most };

  self->cursor = zero3_gather (self, range, is_backward);
}

/* Sharded parameters as DeepSpeed's coordinator gathers and releases them
 * (partitioned_param_coordinator.py).
 *
 * The order in which one micro-batch uses the tensors, forward, in recomputation and backward, is called the trace. A
 * tensor above the persistence threshold stands for the module that has it. Before the module computes
 *   - its tensor is gathered if it is not whole, and the compute stream waits for it;
 *   - then the next tensors of the trace that are not whole are gathered ahead in one collective, prefetch_bucket
 *     elements and the tensor that exceeds them, as long as fewer than max_live elements are whole (prefetch_overlap).
 *     On a GPU that gather is a copy of the shards into one buffer and the collective, two kernels with the priority of
 *     those that compute. A module is one large matrix product: the copy gets multiprocessors when that product has
 *     handed out its last thread blocks, the collective after the next one. So by default nothing moves ahead, as
 *     measured (docs/models/zero.md).
 * After each use a tensor is released, unless it is used again within max_reuse_distance elements of the trace, or
 * prefetching has already passed its next use. So a block that is longer than half of that distance and recomputed is
 * gathered again in part between its recomputation and its backward pass. Tensors below the persistence threshold are
 * always whole, and are gathered once after the optimizer. Gradients are collected in
 * buckets; every micro-batch reduce-scatters them on a communicator of its own: gathers use the world group
 * (partition_parameters.py), reductions the engine's data-parallel group.
 *
 * ZeRO++ (Wang et al. 2023, arXiv 2306.10209): hpZ gathers from a second copy inside each node, once the first
 * forward pass of the step has filled it. qwZ sends 8 bits for each parameter, also from that copy. qgZ sends 4 bits
 * for each zero3_gradient, in two all-to-alls. The kernels that quantise, and the scales of the numbers, are not
 * counted.
 *
 * MiCS (Zhang et al. 2022, arXiv 2205.00119): shards are within groups of ranks, and gradients are summed over the
 * groups in the last micro-batch.
 */

/* --- gradients --- */

/* Sends a bucket with 4 bits for each zero3_gradient: first to the ranks of the node, which add, then to the other
 * nodes. */
static gboolean
send_quantized (Stage *stage, FabBytes bytes, char *name, FabTaskId *task)
{
  const ZeroParams *p = params_of (stage);
  guint n_local = stage_data_per_node (stage);
  double quarter = (double) bytes / (double) gradient_bytes[p->gradient] / 2;
  Comm near = { STREAM_DATA, FAB_DIMENSION_DATA, stage_data_concurrent_groups (stage, DATA_RUNS, n_local),
                FAB_OP_ALL_TO_ALL, (FabBytes) (quarter + 0.5) };
  Comm far = { STREAM_DATA, FAB_DIMENSION_DATA, stage_data_concurrent_groups (stage, DATA_EVERY, n_local),
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
  Comm comm = { STREAM_REPLICA, FAB_DIMENSION_DATA, self->replicas, FAB_OP_ALL_REDUCE,
                self->replicas != NULL ? bytes / (FabBytes) params_of (stage)->shard : 0 };
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
zero3_begin (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  Zero3 *self = g_new0 (Zero3, 1);

  stage->state = self;
  self->stage = stage;
  self->items = g_array_new (FALSE, FALSE, sizeof (TraceItem));
  self->layer_items = g_array_new (FALSE, FALSE, sizeof (guint));
  self->uses = g_array_new (FALSE, FALSE, sizeof (TraceUse));
  zero3_add_items (self);
  zero3_add_trace (self);
  self->buckets = new_buckets (stage);
  self->forward = p->shard > 0 ? stage_data_concurrent_groups (stage, DATA_RUNS, (guint) p->shard)
                               : stage_data_concurrent_groups (stage, DATA_ALL, 0);
  self->backward = p->secondary > 1 ? stage_data_concurrent_groups (stage, DATA_RUNS, (guint) p->secondary)
                                    : self->forward;
  if (p->shard > 0)
    self->replicas = stage_data_concurrent_groups (stage, DATA_EVERY, (guint) p->shard);
}

static void
free_state (gpointer data)
{
  Zero3 *self = data;

  buckets_free (self->buckets);
  g_array_unref (self->items);
  g_array_unref (self->layer_items);
  g_array_unref (self->uses);
  g_free (self);
}

static void
before_forward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  self->micro = at->micro;
  self->is_last = at->is_last;
  if (at->layer == 0)
    self->next = self->cursor = 0;
}

/* The schedule gpipe has the backward passes of several micro-batches one after another. */
static void
before_backward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  if (at->layer + 1 == stage->train->stack->layers->len)
    self->next = self->cursor = self->n_forward;
}

static gboolean
uses_alone (const Stage *stage, const PassAt *at, guint tensor)
{
  const Zero3 *self = stage->state;

  return !zero3_item (self, zero3_first_item (self, at->layer) + tensor)->is_persistent;
}

/* Sets `next` to the first use of the item from `from` on. FALSE: there is none. */
static gboolean
find_use (Zero3 *self, const TraceItem *item, guint from)
{
  for (guint use = from; use < self->uses->len; use++)
    if (used_at (self, use) == item) {
      self->next = use;
      return TRUE;
    }
  return FALSE;
}

static void
before_use (Stage *stage, const PassAt *at, guint tensor)
{
  Zero3 *self = stage->state;
  TraceItem *item = zero3_item (self, zero3_first_item (self, at->layer) + tensor);

  if (!find_use (self, item, self->next))
    find_use (self, item,
              self->n_forward); /* zero_bubble computes gradients of weights after all other passes */
  zero3_gather (self, (TraceRange){ self->next, self->next + 1, G_MAXUINT64 },
                use_at (self, self->next)->is_backward);
  if (item->is_coming)
    stage_wait (stage, item->gather);
  item->is_whole = TRUE;
  item->is_coming = FALSE;
  self->next++;
  self->cursor = MAX (self->cursor, self->next);
  zero3_prefetch (self);
}

/* Whether the tensor is used again soon, or prefetching has passed its next use, for which it would be missing. */
static gboolean
is_kept (const Zero3 *self, const TraceItem *item)
{
  guint64 most = (guint64) params_of (self->stage)->max_reuse_distance, passed = 0;

  for (guint use = self->next; use < self->uses->len && (passed < most || use < self->cursor); use++) {
    if (used_at (self, use) == item)
      return TRUE;
    passed += used_at (self, use)->elements;
  }
  return FALSE;
}

static void
after_use (Stage *stage, const PassAt *at, guint tensor)
{
  Zero3 *self = stage->state;
  TraceItem *item = zero3_item (self, zero3_first_item (self, at->layer) + tensor);

  if (is_kept (self, item))
    return;
  item->is_whole = FALSE;
  self->live -= item->elements;
}

static gboolean
splits_backward (G_GNUC_UNUSED const Stage *stage, G_GNUC_UNUSED const PassAt *at)
{
  return TRUE;
}

/* Makes computation and gathers wait for all reductions so far: without overlap they are on one stream
 * (parameter_offload.py), and behind a micro-batch the host waits (stage3.py). */
static void
zero3_await (Zero3 *self)
{
  if (!buckets_are_under_way (self->buckets))
    return;
  buckets_wait (self->buckets);
  stage_compute (self->stage, 0, g_strdup ("reduced"));
}

static void
zero3_gradient (Stage *stage, const PassAt *at, guint tensor)
{
  Zero3 *self = stage->state;

  buckets_add (self->buckets, at->layer, tensor);
  if (!zero_overlaps (params_of (stage)))
    zero3_await (self);
}

static void
zero3_after_backward (Stage *stage, const PassAt *at)
{
  Zero3 *self = stage->state;

  if (!stage_ends_backward (stage, at))
    return;
  buckets_flush (self->buckets);
  if (!at->is_last || !zero_overlaps (params_of (stage)))
    zero3_await (self);
}

/* --- the step --- */

static guint
count_shards (const Stage *stage)
{
  const ZeroParams *p = params_of (stage);

  return p->shard > 0 ? (guint) p->shard : stage_n_replicas (stage);
}

static void
zero3_before_optimizer (Stage *stage)
{
  buckets_wait (((Zero3 *) stage->state)->buckets);
}

static double
zero3_optimizer_parameters (const Stage *stage)
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
zero3_after_optimizer (Stage *stage)
{
  Zero3 *self = stage->state;
  Comm comm = { STREAM_DATA, FAB_DIMENSION_DATA, self->forward, FAB_OP_ALL_GATHER,
                count_persistent (self) * stage_weight_bytes (stage) };
  FabTaskId task;

  if (!stage_comm (stage, &comm, g_strdup ("persistent"), &task))
    return;
  stage_wait (stage, task);
  stage_compute (stage, 0, g_strdup ("updated"));
}

static void
zero3_memory (const Stage *stage, FabJobTotals *totals)
{
  const ZeroParams *p = params_of (stage);
  double share = 1.0 / count_shards (stage), parameters = (double) stage->parameters;
  double live = MIN ((double) p->max_live, parameters);

  memory_add_state (stage, totals,
                    &(MemoryShares){ .parameters = p->offload.parameters == OFFLOAD_NONE ? share : 0,
                                     .gradient_bytes = (double) gradient_bytes[p->gradient],
                                     .gradients = p->offload.optimizer == OFFLOAD_NONE ? share : 0,
                                     .optimizer = p->offload.optimizer == OFFLOAD_NONE ? share : 0,
                                     .is_sharded = TRUE,
                                     .gathered = live * (double) stage_weight_bytes (stage),
                                     .always = MIN ((double) p->reduce_bucket, parameters)
                                             * (double) gradient_bytes[p->gradient]
                                             * (zero_overlaps (p) ? 2 : 1) });
  if (p->secondary > 1)
    memory_add (stage, totals, "secondary",
                parameters * (double) stage_weight_bytes (stage) / (double) p->secondary);
}

static const Strategy zero3_strategy = {
  .stack = "deepspeed",
  .hands_over_weights = TRUE,
  .begin = zero3_begin,
  .before_forward = before_forward,
  .before_backward = before_backward,
  .uses_alone = uses_alone,
  .before_use = before_use,
  .after_use = after_use,
  .gradient = zero3_gradient,
  .splits_backward = splits_backward,
  .after_backward = zero3_after_backward,
  .before_optimizer = zero3_before_optimizer,
  .optimizer_parameters = zero3_optimizer_parameters,
  .optimizes = zero_optimizes,
  .after_optimizer = zero3_after_optimizer,
  .memory = zero3_memory,
  .free_state = free_state,
  .is_sharded = zero_is_sharded,
};
