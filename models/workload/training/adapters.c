/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/adapters.h"

#include <string.h>

typedef struct {
  gint64 rank;
  AdapterTargets targets;
} Adapters;

static gboolean
has_adapter (const Adapters *self, const FabLayer *layer, const FabSegment *segment, const FabOperator *op)
{
  if (self->targets == ADAPTERS_ATTENTION && strcmp (segment->name, "attention") != 0)
    return FALSE;
  return layer->is_block && op->kind == FAB_OPERATOR_MATMUL && op->n > 0 && op->k > 0
      && strcmp (segment->name, "router") != 0;
}

static void
freeze_last_tensor (FabLayerStack *stack)
{
  FabLayer *layer = &g_array_index (stack->layers, FabLayer, stack->layers->len - 1);

  g_array_index (layer->tensors, FabTensor, layer->tensors->len - 1).is_frozen = TRUE;
}

/* Of a matrix that tensor parallelism divides by columns the way up is divided, of one by rows the way down: here
 * always the way up. What both compute is small, and counted whole. */
static void
add_adapter (FabLayerStack *stack, const FabOperator *op, gint64 rank)
{
  double used = op->flops / (2.0 * (double) op->n * (double) op->k); /* matrices that a token meets */
  FabTensorKind split = op->is_split ? FAB_TENSOR_SPLIT : FAB_TENSOR_WHOLE;
  const gint64 sizes[2][2] = { { rank, op->k }, { op->n, rank } };
  FabOperator sum = { .name = "adapter_sum",
                      .kind = FAB_OPERATOR_MEMORY,
                      .bytes = 6.0 * used * (double) op->n,
                      .is_split = op->is_split };

  for (guint i = 0; i < 2; i++) {
    FabOperator adapter = *op;
    double numbers = (double) sizes[i][0] * (double) sizes[i][1];

    adapter.name = i == 0 ? "adapter_down" : "adapter_up";
    adapter.is_split = FALSE;
    adapter.n = sizes[i][0];
    adapter.k = sizes[i][1];
    adapter.flops = 2.0 * used * numbers;
    adapter.bytes = 2.0 * used * (double) (adapter.n + adapter.k);
    fab_layer_stack_add_operator (stack, &adapter);
    fab_layer_stack_add_tensor (stack,
                                op->n_matrices > 1 ? FAB_TENSOR_EXPERT
                                : i == 0           ? FAB_TENSOR_WHOLE
                                                   : split,
                                (guint64) (numbers * (double) op->n_matrices), (guint64) (numbers * used));
  }
  fab_layer_stack_add_operator (stack, &sum);
}

static void
add_segment (FabLayerStack *stack, const FabLayer *layer, guint index, const Adapters *self)
{
  const FabSegment *old = fab_layer_segment (layer, index);
  FabSegment *segment = fab_layer_stack_add_segment (stack, old->name);

  for (guint i = 0; i < old->saved->len; i++)
    fab_layer_stack_add_saved (stack, fab_segment_saved (old, i));
  segment->is_split = old->is_split;
  segment->context_bytes = old->context_bytes;
  segment->cache_bytes = old->cache_bytes;
  segment->cache_heads = old->cache_heads;
  segment->cache_pieces = old->cache_pieces;
  segment->expert_bytes = old->expert_bytes;
  segment->expert_copies = old->expert_copies;
  for (guint t = 0; t < layer->tensors->len; t++) {
    const FabTensor *tensor = fab_layer_tensor (layer, t);

    if (tensor->segment != index)
      continue;
    fab_layer_stack_add_tensor (stack, tensor->kind, tensor->parameters, 0);
    freeze_last_tensor (stack);
  }
  for (guint i = 0; i < old->operators->len; i++) {
    FabOperator op = g_array_index (old->operators, FabOperator, i);

    op.is_frozen = TRUE;
    fab_layer_stack_add_operator (stack, &op);
    if (has_adapter (self, layer, old, &op))
      add_adapter (stack, &g_array_index (old->operators, FabOperator, i), self->rank);
  }
}

FabLayerStack *
adapters_add (const FabLayerStack *stack, gint64 rank, AdapterTargets targets)
{
  const Adapters self = { rank, targets };
  FabLayerStack *adapted = fab_layer_stack_new ();

  for (guint l = 0; l < stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, l);

    fab_layer_stack_add_layer (adapted, g_strdup (layer->name), layer->hidden_bytes)
        ->is_block = layer->is_block;
    for (guint s = 0; s < layer->segments->len; s++)
      add_segment (adapted, layer, s, &self);
  }
  adapted->active_parameters += stack->active_parameters;
  return adapted;
}
