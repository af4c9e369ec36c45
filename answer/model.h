/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what a neural network takes at a sequence length: parameters, FLOPs of a token, memory, by layer.
 *
 *   state  FAB_MODEL_STATE_BYTES for each parameter: mixed precision with Adam (Rajbhandari et al. 2020, arXiv
 *          1910.02054, section 3.1: 2 weight, 2 gradient, 4 + 4 + 4 master weight and moments)
 *   6 N    Kaplan et al. 2020, arXiv 2001.08361
 */
#pragma once

#include "sim/execution/layers.h"
#include "sim/scenario/entries.h"

#define FAB_MODEL_STATE_BYTES 16.0

/* Layers that follow one another, are called the same but for a number at the end, and are made the same. */
typedef struct {
  guint first, n;
} FabModelLayers;

typedef struct {
  FabLayerStack *stack;
  GArray *layers; /* FabModelLayers, of all of the stack */
  /* FLOPs of a token in the forward pass and the backward pass together. */
  double both_flops, causal_flops,
      six_n_flops;    /* causal: half of the scores are not done; 0: it has no scores */
  double state_bytes; /* of all parameters */
  /* Of a token's 16-bit activations for the backward pass: all, and the inputs of layers alone, where every layer is
   * recomputed. */
  double kept_bytes, boundary_bytes;
} FabModelAnswer;

/* `sequence` tokens. (transfer full) */
FabModelAnswer *fab_model_answer (const FabModelSpec *model, guint sequence);
void fab_model_answer_free (FabModelAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabModelAnswer, fab_model_answer_free)

/* The parameters of a segment of the layer. */
guint64 fab_model_segment_parameters (const FabLayer *layer, guint segment);
