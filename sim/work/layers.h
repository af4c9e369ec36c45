/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - a neural network as training traffic sees it: layers of parameter tensors.
 *
 * Layers are in forward order, tensors in registration order. Parameter counts are exact;
 * FLOPs are of one forward pass for one token (a multiply-add is two).
 */
#pragma once

#include "sim/base/param.h"

typedef struct {
  guint64 parameters;
} FabTensor;

typedef struct {
  char *name;
  GArray *tensors; /* FabTensor */
  guint64 parameters;
  double forward_flops_per_token;
} FabLayer;

typedef struct {
  GArray *layers; /* FabLayer */
  guint64 parameters;
  double forward_flops_per_token;
} FabLayerStack;

FabLayerStack *fab_layer_stack_new (void);
void fab_layer_stack_free (FabLayerStack *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLayerStack, fab_layer_stack_free)

/* Takes `name`. The layer is found again as the last one. */
void fab_layer_stack_add_layer (FabLayerStack *self, char *name, double forward_flops_per_token);
/* To the last layer. */
void fab_layer_stack_add_tensor (FabLayerStack *self, guint64 parameters);

typedef struct {
  FabModelInfo info;
  /* Appends the layers for sequences of `sequence` tokens. */
  void (*expand) (gconstpointer params, guint sequence, FabLayerStack *stack);
} FabShapeOps;

typedef struct {
  FabModelInfo info;
  /* Seconds for so many FLOPs on an accelerator of this peak. */
  double (*seconds) (gconstpointer params, double flops, double peak_flops_per_s);
} FabComputeOps;
