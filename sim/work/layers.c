/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/layers.h"

static void
layer_clear (gpointer data)
{
  FabLayer *layer = data;

  g_free (layer->name);
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

void
fab_layer_stack_add_layer (FabLayerStack *self, char *name, double forward_flops_per_token)
{
  FabLayer layer = { .name = name, .forward_flops_per_token = forward_flops_per_token };

  layer.tensors = g_array_new (FALSE, FALSE, sizeof (FabTensor));
  self->forward_flops_per_token += forward_flops_per_token;
  g_array_append_val (self->layers, layer);
}

void
fab_layer_stack_add_tensor (FabLayerStack *self, guint64 parameters)
{
  FabTensor tensor = { parameters };

  g_assert (self->layers->len > 0);
  FabLayer *layer = &g_array_index (self->layers, FabLayer, self->layers->len - 1);
  g_array_append_val (layer->tensors, tensor);
  layer->parameters += parameters;
  self->parameters += parameters;
}
