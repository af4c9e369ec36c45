/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/kept.h"

#include "models/workload/training/prices.h"

/* What all layers of a job share. */
typedef struct {
  const Train *train;
  FabKernelStyle kernels;
  double number; /* bytes of a number, over the 2 that layers are counted in */
  gboolean is_autocast, is_fp8;
  guint n_tensor;
} Kept;

gboolean
kept_is_autocast (const Train *train, gboolean casts_weights)
{
  return casts_weights && fab_precision_bytes ((FabPrecision) train->params->precision) <= 2;
}

static Kept
kept_of (const Train *train, gboolean casts_weights)
{
  FabBytes bytes = fab_precision_bytes ((FabPrecision) train->params->precision);
  FabKernelStyle kernels = train_kernels (train);

  return (Kept){ .train = train,
                 .kernels = kernels,
                 .number = (double) MAX (bytes, 2) / 2,
                 .is_autocast = kept_is_autocast (train, casts_weights) && kernels != FAB_KERNELS_FUSED,
                 .is_fp8 = bytes < 2 && kernels == FAB_KERNELS_FUSED,
                 .n_tensor = train->layout.size[AXIS_TENSOR] };
}

/* Of one rank, per token of the micro-batch. */
static double
divided (const Kept *self, gboolean is_split, double bytes)
{
  return is_split || self->train->params->parallel.is_sequence ? bytes / self->n_tensor : bytes;
}

/* What plain code has gathered for a matrix stays whole. */
static double
rank_bytes (const Kept *self, const FabSaved *saved)
{
  if (saved->kind == FAB_SAVED_NORM && saved->is_input && self->kernels != FAB_KERNELS_FUSED)
    return saved->bytes;
  return divided (self, saved->is_split, saved->bytes);
}

static double
saved_bytes (const Kept *self, const FabSaved *saved)
{
  double bytes = rank_bytes (self, saved) * (saved->is_exact ? 1 : self->number);

  if (self->is_autocast && saved->kind == FAB_SAVED_STREAM)
    return 2 * bytes;
  if (self->is_autocast && saved->kind == FAB_SAVED_NORM && saved->is_input
      && self->kernels == FAB_KERNELS_EAGER)
    return bytes * (double) MAX (saved->n_readers, 1);
  return self->is_fp8 && saved->is_input ? bytes / 2 : bytes;
}

/* --- the loss --- */

typedef struct {
  double kept, most; /* bytes of a number of the logits */
} LossBytes;

/* Plain PyTorch computes the loss on logits as they are; trainers with FSDP and DeepSpeed cast them (torchtitan's and
 * transformers' losses call float ()). */
static gboolean
is_plain_eager (const Train *train)
{
  return train->params->memory.states == STATES_PURE
      || (g_str_equal (train->software.stack, "eager") && !train->strategy->hands_over_weights);
}

Loss
kept_loss (const Train *train, gboolean is_autocast)
{
  Loss loss = (Loss) train->params->memory.loss;
  FabKernelStyle kernels = train_kernels (train);

  if (loss != LOSS_AUTO)
    return loss;
  if (kernels == FAB_KERNELS_COMPILED)
    return LOSS_FUSED;
  if (kernels == FAB_KERNELS_FUSED)
    return LOSS_FP32;
  if (is_autocast)
    return LOSS_AUTOCAST;
  return is_plain_eager (train) ? LOSS_PLAIN : LOSS_FP32;
}

/* PyTorch's log-softmax keeps its output. Its backward pass reads that and the gradient of it, and writes the gradient
 * of the logits: three tensors. Megatron-LM casts the logits to FP32, works on the cast in place and keeps it, while
 * its caller still has the logits (megatron/core/tensor_parallel/cross_entropy.py). */
static LossBytes
loss_bytes (const Kept *self)
{
  double b = 2 * self->number;

  switch (kept_loss (self->train, self->is_autocast)) {
  case LOSS_PLAIN: return (LossBytes){ b, 3 * b };
  case LOSS_AUTOCAST: return (LossBytes){ 4, 8 + b };
  case LOSS_FP32: return self->kernels == FAB_KERNELS_FUSED ? (LossBytes){ 4, 4 + b } : (LossBytes){ 4, 12 };
  case LOSS_FUSED: return (LossBytes){ b, 2 * b };
  case LOSS_IN_PLACE: return (LossBytes){ b, b };
  case LOSS_AUTO: break;
  }
  g_assert_not_reached ();
}

/* `bytes` are those of logits in FP32. Chunks give their gradients at once, so that none of them waits. */
static void
add_logits (const Kept *self, const FabSaved *saved, KeptLayer *layer)
{
  LossBytes loss = loss_bytes (self);
  double numbers = saved->bytes / 4 / self->n_tensor;
  double n_chunks = (double) self->train->params->memory.loss_chunks;

  layer->logits_kept += n_chunks > 1 ? 0 : numbers * loss.kept;
  layer->logit_numbers += numbers / n_chunks;
  layer->logits_most += numbers * loss.most / n_chunks;
}

/* --- a layer --- */

/* Gradients of what a segment makes on its widest place: outputs of its matrices, or what attention reads. */
static double
widest (const Kept *self, const FabSegment *segment)
{
  double matrices = 0, rotated = 0;

  for (guint i = 0; i < segment->saved->len; i++) {
    const FabSaved *saved = fab_segment_saved (segment, i);

    if (saved->kind == FAB_SAVED_MATRIX && (saved->kernels & (1U << self->kernels)) != 0)
      matrices += saved_bytes (self, saved);
    if (saved->kind == FAB_SAVED_ROTATED)
      rotated += saved_bytes (self, saved);
  }
  return MAX (matrices, rotated);
}

static double
stream_bytes (const Kept *self, const FabLayer *layer)
{
  return divided (self, FALSE, layer->hidden_bytes) * self->number * (self->is_autocast ? 2 : 1);
}

static void
add_saved (const Kept *self, const FabLayer *at, guint segment, guint *n_products, KeptLayer *layer)
{
  const FabSegment *of = fab_layer_segment (at, segment);

  for (guint i = 0; i < of->saved->len; i++) {
    const FabSaved *saved = fab_segment_saved (of, i);
    double bytes = saved->kind == FAB_SAVED_LOGITS ? 0 : saved_bytes (self, saved);

    if (saved->kind == FAB_SAVED_LOGITS) {
      add_logits (self, saved, layer);
      continue;
    }
    if (saved->kernels & (1U << self->kernels))
      layer->whole += bytes;
    if (saved->is_input || saved->kind == FAB_SAVED_MATRIX)
      layer->inputs += bytes;
    if (recompute_keeps (self->train, at, of, saved, n_products))
      layer->kept += bytes;
  }
}

/* A cast of every matrix that the rank multiplies with. */
static double
cast_bytes (const Kept *self, guint index)
{
  const FabLayer *layer = fab_layer_stack_layer (self->train->stack, index);
  double numbers = 0;

  for (guint s = 0; s < layer->segments->len; s++)
    for (guint i = 0; i < fab_layer_segment (layer, s)->operators->len; i++) {
      const FabOperator *op = &g_array_index (fab_layer_segment (layer, s)->operators, FabOperator, i);

      if (op->kind == FAB_OPERATOR_MATMUL)
        numbers += (double) op->n * (double) op->k * (double) op->n_matrices
                 / (op->is_split ? self->n_tensor : 1)
                 / (op->n_matrices > 1 ? self->train->layout.n_expert : 1);
    }
  return 2 * numbers;
}

static void
scale (KeptLayer *layer, double tokens)
{
  layer->kept *= tokens;
  layer->whole *= tokens;
  layer->temporary *= tokens;
  layer->inputs *= tokens;
  layer->logits_kept *= tokens;
  layer->logits_most *= tokens;
  layer->logit_numbers *= tokens;
}

KeptLayer
kept_layer (const Train *train, guint index, gboolean casts_weights)
{
  const FabLayer *at = fab_layer_stack_layer (train->stack, index);
  Kept self = kept_of (train, casts_weights);
  KeptLayer layer = { 0 };
  guint n_products = 0;

  for (guint s = 0; s < at->segments->len; s++) {
    add_saved (&self, at, s, &n_products, &layer);
    layer.temporary = MAX (layer.temporary, widest (&self, fab_layer_segment (at, s)));
  }
  layer.temporary += stream_bytes (&self, at);
  if (recompute_is_whole (train, index))
    layer.kept = recompute_keeps_input (train, index) ? stream_bytes (&self, at) : 0;
  layer.whole = MAX (layer.whole, layer.kept);
  scale (&layer, train->tokens);
  if (kept_is_autocast (train, casts_weights))
    layer.casts = cast_bytes (&self, index);
  return layer;
}
