/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/layers.h"

static void
segment_clear (gpointer data)
{
  FabSegment *segment = data;

  g_array_unref (segment->operators);
  g_array_unref (segment->saved);
}

static void
layer_clear (gpointer data)
{
  FabLayer *layer = data;

  g_free (layer->name);
  g_array_unref (layer->segments);
  g_array_unref (layer->tensors);
}

FabLayerStack *
fab_layer_stack_new (void)
{
  FabLayerStack *self = g_new0 (FabLayerStack, 1);

  self->layers = g_array_new (FALSE, FALSE, sizeof (FabLayer));
  g_array_set_clear_func (self->layers, layer_clear);
  return self;
}

void
fab_layer_stack_free (FabLayerStack *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->layers);
  g_free (self);
}

static FabLayer *
last_layer (FabLayerStack *self)
{
  g_assert (self->layers->len > 0);
  return &g_array_index (self->layers, FabLayer, self->layers->len - 1);
}

static FabSegment *
last_segment (FabLayerStack *self)
{
  const FabLayer *layer = last_layer (self);

  g_assert (layer->segments->len > 0);
  return &g_array_index (layer->segments, FabSegment, layer->segments->len - 1);
}

FabLayer *
fab_layer_stack_add_layer (FabLayerStack *self, char *name, double hidden_bytes)
{
  FabLayer layer = { .name = name, .hidden_bytes = hidden_bytes };

  layer.segments = g_array_new (FALSE, FALSE, sizeof (FabSegment));
  g_array_set_clear_func (layer.segments, segment_clear);
  layer.tensors = g_array_new (FALSE, FALSE, sizeof (FabTensor));
  g_array_append_val (self->layers, layer);
  return last_layer (self);
}

FabSegment *
fab_layer_stack_add_segment (FabLayerStack *self, const char *name)
{
  FabSegment segment = { .name = name,
                         .operators = g_array_new (FALSE, FALSE, sizeof (FabOperator)),
                         .saved = g_array_new (FALSE, FALSE, sizeof (FabSaved)) };

  g_array_append_val (last_layer (self)->segments, segment);
  return last_segment (self);
}

void
fab_layer_stack_add_operator (FabLayerStack *self, const FabOperator *op)
{
  FabSegment *segment = last_segment (self);

  g_array_append_val (segment->operators, *op);
  segment->forward_flops += op->flops;
  last_layer (self)->forward_flops_per_token += op->flops;
  self->forward_flops_per_token += op->flops;
}

void
fab_layer_stack_add_saved (FabLayerStack *self, const FabSaved *saved)
{
  FabSegment *segment = last_segment (self);

  if (saved->bytes <= 0)
    return;
  g_array_append_val (segment->saved, *saved);
  if ((saved->kernels & FAB_KEPT_FUSED) == 0)
    return;
  if (saved->kind == FAB_SAVED_SCORES)
    segment->saved_score_bytes += saved->bytes;
  else if (saved->is_split)
    segment->saved_split_bytes += saved->bytes;
  else
    segment->saved_whole_bytes += saved->bytes;
}

void
fab_layer_stack_add_tensor (FabLayerStack *self, FabTensorKind kind, guint64 parameters,
                            guint64 active_parameters)
{
  FabLayer *layer = last_layer (self);
  FabTensor tensor = { .parameters = parameters, .kind = kind, .segment = layer->segments->len - 1 };

  g_assert (layer->segments->len > 0);
  g_array_append_val (layer->tensors, tensor);
  layer->parameters += parameters;
  self->parameters += parameters;
  self->active_parameters += active_parameters;
}

double
fab_pass_tokens (const FabPass *self, const FabOperator *op)
{
  return op->is_split || self->shared_tokens <= 0 ? self->tokens : self->shared_tokens;
}

gboolean
fab_pass_has_input_product (const FabPass *self)
{
  return self->gradients != FAB_GRADIENTS_WEIGHTS;
}

gboolean
fab_pass_has_weight_product (const FabPass *self, const FabOperator *op)
{
  return self->gradients != FAB_GRADIENTS_INPUTS && !op->is_frozen;
}

/* What an operator executes in the pass, in units of its forward pass. */
static double
times_forward (const FabPass *self, const FabOperator *op)
{
  if (!self->is_backward)
    return 1;
  if (op->kind != FAB_OPERATOR_MATMUL)
    return fab_pass_has_input_product (self) ? 2 : 0;
  return (fab_pass_has_input_product (self) ? 1 : 0) + (fab_pass_has_weight_product (self, op) ? 1 : 0);
}

double
fab_pass_flops (const FabPass *self)
{
  double flops = 0;

  for (guint i = 0; i < self->segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (self->segment->operators, FabOperator, i);

    flops += op->flops * fab_pass_tokens (self, op) / (op->is_split ? self->n_split : 1)
           * times_forward (self, op);
  }
  return flops;
}

double
fab_compute_parts_sum (const FabComputeParts *self)
{
  return self->products_s + self->attention_s + self->memory_bound_s + self->copies_s + self->launches_s
       + self->readback_s + self->host_s;
}

gboolean
fab_compute_check_layers (const FabModelChoice *compute, const FabLayerStack *stack, GError **error)
{
  const FabComputeOps *ops = (const FabComputeOps *) compute->info;

  return ops->check_layers == NULL || ops->check_layers (compute->params, stack, error);
}

double
fab_layer_stack_score_flops (const FabLayerStack *self)
{
  double flops = 0;

  for (guint l = 0; l < self->layers->len; l++)
    for (guint s = 0; s < fab_layer_stack_layer (self, l)->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (fab_layer_stack_layer (self, l), s);

      for (guint i = 0; i < segment->operators->len; i++)
        if (g_array_index (segment->operators, FabOperator, i).kind == FAB_OPERATOR_ATTENTION)
          flops += g_array_index (segment->operators, FabOperator, i).flops;
    }
  return flops;
}
