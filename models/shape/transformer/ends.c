/* SPDX-License-Identifier: Apache-2.0 */
/* The layers before and after the blocks.
 *
 * Embedding: V h parameters, positions P h, token types h each (BERT), and a norm where the model has one there.
 * It is looked up, so it takes no FLOPs. Head: the last norm, BERT's transform (h x h and a norm), output V h unless
 * tied, and a pooler h x h with a classifier for the first token of a sequence. Kept for the backward pass (arXiv
 * 2205.05198, section 4.3): inputs of norm and output, logits in fp32, a dropout mask.
 *
 * The loss goes over the logits: it reads them twice (maximum, sum of exponentials; 4 V bytes) and writes them in fp32
 * (4 V bytes); backward reads those, writes their gradients in fp32, and casts these to 16 bits (14 V bytes, counted
 * as 16). A library that does it in separate kernels moves about twice as much: 18 to 46 V forward (log_softmax of
 * PyTorch; megatron/core/tensor_parallel/cross_entropy.py), and one that fuses loss and output moves less.
 */

#include "models/shape/transformer/transformer.h"

void
transformer_add_embedding (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup ("embedding"), 2 * (double) p->hidden);
  segment = fab_layer_stack_add_segment (stack, "embedding");
  segment->is_split = TRUE;
  transformer_add_memory ("lookup", 2.0 * (double) p->hidden, FALSE, stack);
  transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->positions > 0)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->positions * p->hidden);
  if (p->ends.token_types > 0)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, p->ends.token_types * p->hidden);
  if (p->ends.has_embedding_norm)
    transformer_add_norm (p, p->hidden, stack);
  if (p->has_dropout)
    transformer_keep (stack, FAB_KEPT_ALWAYS, "dropout mask", FAB_SAVED_STATISTIC, (double) p->hidden, FALSE);
}

/* The head of a masked language model: a matrix, an activation and a norm. */
static void
add_transform (const FabTransformerParams *p, FabLayerStack *stack)
{
  FabMatrix transform = { .name = "transform",
                          .n = p->hidden,
                          .k = p->hidden,
                          .split = FAB_MATRIX_WHOLE,
                          .has_biases = p->has_biases,
                          .input = FAB_SAVED_NORM,
                          .keeps_output = TRUE };

  transformer_add_matrix (&transform, stack);
  transformer_add_memory ("activation", 2.0 * (double) p->hidden, FALSE, stack);
  transformer_add_norm (p, p->hidden, stack);
}

/* With `is_shared` the matrix is that of the head. */
static void
add_output (const FabTransformerParams *p, gboolean is_shared, FabLayerStack *stack)
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

  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = "output",
                                                 .kind = FAB_SAVED_NORM,
                                                 .bytes = 2.0 * h,
                                                 .kernels = FAB_KEPT_ALWAYS,
                                                 .is_input = TRUE });
  fab_layer_stack_add_operator (stack, &output);
  transformer_add_memory ("loss", 4.0 * v, TRUE, stack);
  transformer_keep (stack, FAB_KEPT_ALWAYS, "logits", FAB_SAVED_LOGITS, 4.0 * v, TRUE);
  if (!p->is_tied && !is_shared)
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary * p->hidden);
  if (p->ends.has_output_biases)
    transformer_add_tensor (stack, FAB_TENSOR_SPLIT, p->vocabulary);
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
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h * h);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, h);
  if (classes == 0)
    return;
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes * h);
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, classes);
}

void
transformer_add_head (const FabTransformerParams *p, guint sequence, FabLayerStack *stack)
{
  fab_layer_stack_add_layer (stack, g_strdup ("head"), 2 * (double) p->hidden);
  fab_layer_stack_add_segment (stack, "head")->is_split = TRUE;
  if (p->ends.has_final_norm)
    transformer_add_norm (p, p->hidden, stack);
  if (p->ends.has_pooler)
    add_pooler (p, sequence, stack);
  if (p->ends.has_head_transform)
    add_transform (p, stack);
  add_output (p, FALSE, stack);
}

/* Multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2): the hidden state and the embedding of the token
 * ahead, each after a norm, go through a matrix of 2 h x h, one more block and a norm, and then through the embedding's
 * and the head's matrices, which it shares with the model. */
void
transformer_add_prediction (const FabTransformerParams *p, gint64 index, guint sequence, FabLayerStack *stack)
{
  FabMatrix projection = {
    .name = "projection",
    .n = p->hidden,
    .k = 2 * p->hidden,
    .split = FAB_MATRIX_COLUMN,
    .input = FAB_SAVED_NORM,
  };
  FabSegment *segment;

  fab_layer_stack_add_layer (stack, g_strdup_printf ("mtp%" G_GINT64_FORMAT, index), 2 * (double) p->hidden)
      ->is_block = TRUE;
  segment = fab_layer_stack_add_segment (stack, "projection");
  segment->is_split = TRUE;
  transformer_add_memory ("lookup", 2.0 * (double) p->hidden, FALSE, stack);
  transformer_add_norm (p, p->hidden, stack);
  transformer_add_norm (p, p->hidden, stack);
  transformer_add_matrix (&projection, stack);
  transformer_add_attention (p, p->layers + index, sequence, stack);
  if (p->experts.count > 0)
    transformer_add_experts (p, stack);
  else
    transformer_add_mlp (p, stack);
  fab_layer_stack_add_layer (stack, g_strdup_printf ("head.mtp%" G_GINT64_FORMAT, index),
                             2 * (double) p->hidden);
  fab_layer_stack_add_segment (stack, "head")->is_split = TRUE;
  transformer_add_norm (p, p->hidden, stack);
  add_output (p, TRUE, stack);
}
