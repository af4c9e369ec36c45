/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/zero3.h"

static const ZeroParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

TraceItem *
zero3_item (const Zero3 *self, guint index)
{
  return &g_array_index (self->items, TraceItem, index);
}

guint
zero3_first_item (const Zero3 *self, guint layer)
{
  return g_array_index (self->layer_items, guint, layer);
}

void
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

      item.is_persistent = item.elements < (guint64) params_of (self->stage)->persistence_threshold;
      g_array_append_val (self->items, item);
    }
  }
  g_array_append_val (self->layer_items, self->items->len);
}

/* The item that use number `index` of a micro-batch is of: all uses of the forward pass, then all of the backward
 * pass. */
static TraceItem *
use_at (const Zero3 *self, gint64 index, gboolean *is_backward)
{
  guint n = self->items->len;

  *is_backward = index >= n;
  return zero3_item (self, (guint) (*is_backward ? 2 * (gint64) n - 1 - index : index));
}

guint64
zero3_reuse_distance (const Zero3 *self, guint layer)
{
  guint64 elements = 0;
  guint n_uses = self->stage->train->params->recompute == RECOMPUTE_FULL ? 3 : 2;

  for (guint i = zero3_first_item (self, layer + 1); i < self->items->len; i++)
    elements += n_uses * zero3_item (self, i)->elements;
  return elements;
}

/* Gathers tensors; shards that are not on the accelerator are copied there first. */
static gboolean
gather_from (Zero3 *self, const Comm *comm, FabTaskId *task)
{
  const FabTaskId *after = self->stage->has_compute ? &self->stage->last_compute : NULL;
  guint n = comm->family != NULL ? fab_family_n_ranks (comm->family) : 1;
  Copy copy = { (OffloadTo) params_of (self->stage)->offload.parameters, TRUE, comm->bytes / n };
  gboolean has_copy = offload_copy (self->stage, &copy, g_strdup_printf ("shard%u", self->n_gathers), after,
                                    task);
  FabTaskId shard = *task;
  gboolean has_comm = stage_comm_after (self->stage, comm,
                                        g_strdup_printf ("parameters%u", self->n_gathers++),
                                        has_copy ? &shard : after, task);

  return has_comm || has_copy;
}

void
zero3_gather (Zero3 *self, TraceRange range, gboolean is_backward, gint64 *end)
{
  const ZeroParams *p = params_of (self->stage);
  guint64 elements = 0;
  gint64 use = range.from;
  FabTaskId task = 0;
  gboolean is_back;

  for (; use < range.to && elements < range.most; use++) {
    const TraceItem *item = use_at (self, use, &is_back);

    elements += item->is_whole || item->is_coming || item->is_persistent ? 0 : item->elements;
  }
  *end = use;
  if (elements == 0)
    return;
  FabFamily *family = is_backward || self->micro > 0 ? self->backward : self->forward;
  FabBytes bytes = elements * (p->has_quantized_weights ? 1 : stage_weight_bytes (self->stage));
  Comm comm = { p->shard > 0 ? LANE_DATA : LANE_GATHER, FAB_DIMENSION_DATA, family, FAB_OP_ALL_GATHER,
                bytes };
  gboolean has_task = gather_from (self, &comm, &task);

  for (use = range.from; use < *end; use++) {
    TraceItem *item = use_at (self, use, &is_back);

    if (item->is_whole || item->is_coming || item->is_persistent)
      continue;
    item->is_whole = !has_task;
    item->is_coming = has_task;
    item->gather = task;
    self->live += item->elements;
  }
}

TraceRange
zero3_uses (const Zero3 *self, guint layer, gboolean is_backward)
{
  gint64 first = zero3_first_item (self, layer), end = zero3_first_item (self, layer + 1),
         n = self->items->len;

  return is_backward ? (TraceRange){ 2 * n - end, 2 * n - first, G_MAXUINT64 }
                     : (TraceRange){ first, end, G_MAXUINT64 };
}

void
zero3_prefetch (Zero3 *self, guint layer)
{
  const ZeroParams *p = params_of (self->stage);
  gint64 n_uses = 2 * (gint64) self->items->len;

  for (guint i = zero3_first_item (self, layer); i < zero3_first_item (self, layer + 1); i++) {
    gboolean is_back;

    if (zero3_item (self, i)->is_persistent || self->cursor >= n_uses || self->live >= (guint64) p->max_live)
      continue;
    guint64 most = MIN ((guint64) p->prefetch_bucket, (guint64) p->max_live - self->live);
    use_at (self, self->cursor, &is_back);
    TraceRange range = { self->cursor, is_back ? n_uses : n_uses / 2, most };
    zero3_gather (self, range, is_back, &self->cursor);
  }
}
