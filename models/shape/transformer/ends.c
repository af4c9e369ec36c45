/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - the layers before and after the blocks.
 *
 * Embedding: V h parameters, positions P h, token types h each (BERT), and a norm where the model has one there. It is
 * looked up, so it takes no FLOPs. Head: the last norm, BERT's transform (h x h and a norm), output V h unless tied,
 * and a pooler h x h with a classifier for the first token of a sequence. Kept for the backward pass (arXiv
 * 2205.05198, section 4.3): inputs of norm and output, logits in fp32, a dropout mask.
 */
#include "models/shape/transformer/parts.h"

void
fab_transformer_add_embedding (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup ("embedding"), 2 * (double) p->hidden);
  segment = fab_layer_stack_add_segment (stack, "embedding");
  segment->is_split = TRUE;
  fab_transformer_add_memory ("lookup", 2.0 * (double) p->hidden, FALSE, stack);
  fab_transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->positions > 0)
    fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->positions * p->hidden);
  if (p->ends.token_types > 0)
    fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->ends.token_types * p->hidden);
  if (p->ends.has_embedding_norm)
    fab_transformer_add_norm (p, p->hidden, segment, stack);
  if (p->has_dropout)
    segment->saved_whole_bytes += (double) p->hidden;
}

/* The head of a masked language model: a matrix, an activation and a norm. */
static void
add_transform (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  FabMatrix transform = { .name = "transform",
                          .n = p->hidden,
                          .k = p->hidden,
                          .split = FAB_MATRIX_WHOLE,
                          .has_biases = p->has_biases };

  fab_transformer_add_matrix (&transform, segment, stack);
  fab_transformer_add_memory ("activation", 2.0 * (double) p->hidden, FALSE, stack);
  segment->saved_whole_bytes += 2.0 * (double) p->hidden;
  fab_transformer_add_norm (p, p->hidden, segment, stack);
}

static void
add_output (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  double h = (double) p->hidden, v = (double) p->vocabulary;
  FabOperator output = { .name = "output",
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * v * h,
                         .bytes = 2.0 * (h + v),
                         .n = p->vocabulary,
                         .k = p->hidden,
                         .n_matrices = 1,
                         .is_split = TRUE };

  fab_layer_stack_add_operator (stack, &output);
  segment->saved_whole_bytes += 2.0 * h;
  segment->saved_split_bytes += 4.0 * v;
  if (!p->is_tied)
    fab_transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->ends.has_output_biases)
    fab_transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary);
}

/* One token of each `sequence` passes through it. */
static void
add_pooler (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  gint64 h = p->hidden, classes = p->ends.classes;
  FabOperator pooler = { .name = "pooler",
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * (double) (h + classes) * (double) h / sequence,
                         .bytes = 4.0 * (double) h / sequence,
                         .n = h,
                         .k = h,
                         .n_matrices = 1 };

  fab_layer_stack_add_operator (stack, &pooler);
  fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h * h);
  fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h);
  if (classes == 0)
    return;
  fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes * h);
  fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes);
}

void
fab_transformer_add_head (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup ("head"), 2 * (double) p->hidden);
  segment = fab_layer_stack_add_segment (stack, "head");
  if (p->ends.has_final_norm)
    fab_transformer_add_norm (p, p->hidden, segment, stack);
  if (p->ends.has_pooler)
    add_pooler (p, sequence, stack);
  if (p->ends.has_head_transform)
    add_transform (p, segment, stack);
  add_output (p, segment, stack);
}
