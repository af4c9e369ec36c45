/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/model.h"

#include <string.h>

static double
kept_bytes (const FabLayer *layer)
{
  double bytes = 0;

  for (guint i = 0; i < layer->segments->len; i++) {
    const FabSegment *segment = fab_layer_segment (layer, i);
    bytes += segment->saved_whole_bytes + segment->saved_split_bytes + segment->saved_score_bytes;
  }
  return bytes;
}

guint64
fab_model_segment_parameters (const FabLayer *layer, guint segment)
{
  guint64 n = 0;

  for (guint i = 0; i < layer->tensors->len; i++)
    if (fab_layer_tensor (layer, i)->segment == segment)
      n += fab_layer_tensor (layer, i)->parameters;
  return n;
}

static gsize
stem_length (const char *name)
{
  gsize length = strlen (name);

  while (length > 0 && g_ascii_isdigit (name[length - 1]))
    length--;
  return length;
}

static gboolean
is_equal (const FabLayer *a, const FabLayer *b)
{
  gsize length = stem_length (a->name);

  return length == stem_length (b->name) && strncmp (a->name, b->name, length) == 0
      && a->parameters == b->parameters && a->segments->len == b->segments->len
      && a->forward_flops_per_token == b->forward_flops_per_token && kept_bytes (a) == kept_bytes (b);
}

static void
add_layers (FabModelAnswer *self)
{
  FabModelLayers group = { 0, 0 };

  for (; group.first < self->stack->layers->len; group.first += group.n) {
    const FabLayer *layer = fab_layer_stack_layer (self->stack, group.first);

    group.n = 1;
    while (group.first + group.n < self->stack->layers->len
           && is_equal (layer, fab_layer_stack_layer (self->stack, group.first + group.n)))
      group.n++;
    g_array_append_val (self->layers, group);
  }
}

FabModelAnswer *
fab_model_answer (const FabModelSpec *model, guint sequence)
{
  FabModelAnswer *self = g_new0 (FabModelAnswer, 1);
  FabLayerStack *stack = self->stack = fab_layer_stack_new ();

  ((const FabShapeOps *) model->shape.info)->expand (model->shape.params, sequence, stack);
  self->layers = g_array_new (FALSE, FALSE, sizeof (FabModelLayers));
  add_layers (self);
  double scores = fab_layer_stack_score_flops (stack);
  self->both_flops = 3 * stack->forward_flops_per_token;
  self->causal_flops = scores > 0 ? 3 * (stack->forward_flops_per_token - scores / 2) : 0;
  self->six_n_flops = 6 * (double) stack->active_parameters;
  self->state_bytes = FAB_MODEL_STATE_BYTES * (double) stack->parameters;
  for (guint i = 0; i < stack->layers->len; i++) {
    self->kept_bytes += kept_bytes (fab_layer_stack_layer (stack, i));
    self->boundary_bytes += fab_layer_stack_layer (stack, i)->hidden_bytes;
  }
  return self;
}

void
fab_model_answer_free (FabModelAnswer *self)
{
  if (self == NULL)
    return;
  fab_layer_stack_free (self->stack);
  g_array_unref (self->layers);
  g_free (self);
}
