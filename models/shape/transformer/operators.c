/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - matrices, norms and memory traffic of a transformer, with their tensors and what they keep; widths. */
#include "models/shape/transformer/transformer.h"

static gint64
head_dim (const FabTransformerParams *p)
{
  return p->head_dim > 0 ? p->head_dim : p->hidden / p->heads;
}

/* Widths that follow from the parameters, summed over all heads. */
gint64
transformer_query_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return p->heads * (p->latent.qk_nope_head_dim + p->latent.qk_rope_head_dim);
  return p->heads * head_dim (p);
}

gint64
transformer_key_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return transformer_query_width (p);
  return (p->kv_heads > 0 ? p->kv_heads : p->heads) * head_dim (p);
}

gint64
transformer_value_width (const FabTransformerParams *p)
{
  return p->latent.kv_lora_rank > 0 ? p->heads * p->latent.v_head_dim : transformer_key_width (p);
}

/* width of the output of attention */
gint64
transformer_attended_width (const FabTransformerParams *p)
{
  return p->heads * (p->latent.kv_lora_rank > 0 ? p->latent.v_head_dim : head_dim (p));
}

gint64
transformer_feed_forward_width (const FabTransformerParams *p)
{
  return p->feed_forward > 0 ? p->feed_forward : 4 * p->hidden;
}

gint64
transformer_expert_width (const FabTransformerParams *p)
{
  return p->experts.width > 0 ? p->experts.width : transformer_feed_forward_width (p);
}

gboolean
transformer_has_experts (const FabTransformerParams *p, gint64 layer)
{
  if (p->pattern != NULL && layer < p->layers)
    return p->pattern[layer] == 'E';
  return p->experts.count > 0 && layer >= p->experts.dense_layers && (layer + 1) % p->experts.every == 0;
}

void
transformer_add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters)
{
  fab_layer_stack_add_tensor (stack, kind, (guint64) parameters, (guint64) parameters);
}

static void
add_matrix_tensors (const FabMatrix *matrix, FabLayerStack *stack)
{
  guint64 weights = (guint64) matrix->n * (guint64) matrix->k, n = (guint64) matrix->n;
  guint64 experts = (guint64) matrix->experts, used = (guint64) matrix->per_token;
  FabTensorKind kind = matrix->split == FAB_MATRIX_WHOLE ? FAB_TENSOR_WHOLE : FAB_TENSOR_SPLIT;

  if (experts > 0) {
    fab_layer_stack_add_tensor (stack, FAB_TENSOR_EXPERT, experts * weights, used * weights);
    if (matrix->has_biases)
      fab_layer_stack_add_tensor (stack, FAB_TENSOR_EXPERT, experts * n, used * n);
    return;
  }
  transformer_add_tensor (stack, kind, matrix->n * matrix->k);
  if (matrix->has_biases) /* the biases of a matrix divided by rows are added once, after the sum */
    transformer_add_tensor (stack, matrix->split == FAB_MATRIX_COLUMN ? FAB_TENSOR_SPLIT : FAB_TENSOR_WHOLE,
                            matrix->n);
}

static double
count_used (const FabMatrix *matrix)
{
  return matrix->experts > 0 ? (double) matrix->per_token : 1;
}

/* torch.compile computes norms and activations again, and keeps what attention or another matrix made. */
static void
keep_input (const FabMatrix *matrix, FabLayerStack *stack)
{
  gboolean is_cheap = matrix->input == FAB_SAVED_NORM || matrix->input == FAB_SAVED_ACTIVATED;

  if (matrix->has_shared_input)
    return;
  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = matrix->name,
                                                 .kind = matrix->input,
                                                 .bytes = 2.0 * count_used (matrix) * (double) matrix->k,
                                                 .kernels = FAB_KEPT_ALWAYS
                                                          & (is_cheap ? ~(guint) FAB_KEPT_COMPILED : ~0U),
                                                 .is_split = matrix->split == FAB_MATRIX_ROW,
                                                 .is_input = TRUE,
                                                 .n_readers = matrix->n_readers });
}

/* Of the first `n` columns, or of a matrix of so many. */
static void
keep_output (const FabMatrix *matrix, gint64 n, FabLayerStack *stack)
{
  double used = count_used (matrix);

  fab_layer_stack_add_saved (stack,
                             &(FabSaved){ .name = matrix->name,
                                          .kind = FAB_SAVED_MATRIX,
                                          .bytes = 2.0 * used * (double) n,
                                          .kernels = matrix->keeps_output ? FAB_KEPT_ALWAYS : FAB_KEPT_NEVER,
                                          .is_split = matrix->split == FAB_MATRIX_COLUMN,
                                          .n = n,
                                          .k = matrix->k,
                                          .n_matrices = MAX (1, matrix->experts),
                                          .flops = 2.0 * used * (double) n * (double) matrix->k });
}

void
transformer_add_matrix (const FabMatrix *matrix, FabLayerStack *stack)
{
  double n = (double) matrix->n, k = (double) matrix->k;
  double used = count_used (matrix);
  FabOperator op = { .name = matrix->name,
                     .kind = FAB_OPERATOR_MATMUL,
                     .flops = 2.0 * used * n * k,
                     .bytes = 2.0 * used * (n + k),
                     .n = matrix->n,
                     .k = matrix->k,
                     .n_matrices = MAX (1, matrix->experts),
                     .is_split = matrix->split != FAB_MATRIX_WHOLE };

  keep_input (matrix, stack);
  fab_layer_stack_add_operator (stack, &op);
  add_matrix_tensors (matrix, stack);
  if (matrix->parts[0] == 0)
    keep_output (matrix, matrix->n, stack);
  for (guint i = 0; i < G_N_ELEMENTS (matrix->parts) && matrix->parts[i] > 0; i++)
    keep_output (matrix, matrix->parts[i], stack);
}

void
transformer_keep (FabLayerStack *stack, guint kernels, const char *name, FabSavedKind kind, double bytes,
                  gboolean is_split)
{
  fab_layer_stack_add_saved (stack, &(FabSaved){ .name = name,
                                                 .kind = kind,
                                                 .bytes = bytes,
                                                 .kernels = kernels,
                                                 .is_split = is_split,
                                                 .is_exact = kind == FAB_SAVED_STATISTIC });
}

/* Adds an operator that is bound by memory and moves this many numbers of 2 bytes per token. */
void
transformer_add_memory (const char *name, double numbers, gboolean is_split, FabLayerStack *stack)
{
  FabOperator op = {
    .name = name, .kind = FAB_OPERATOR_MEMORY, .bytes = 2.0 * numbers, .is_split = is_split
  };

  fab_layer_stack_add_operator (stack, &op);
}

/* `width` is the width of the normalised vector; with `is_split` FALSE every rank normalises all of it. */
void
transformer_add_norm (const FabTransformerParams *p, gint64 width, FabLayerStack *stack)
{
  gboolean is_layer = p->norm == FAB_NORM_LAYER || (p->norm == FAB_NORM_AUTO && p->has_biases);

  transformer_add_memory (is_layer ? "norm" : "rms_norm", 2.0 * (double) width, FALSE, stack);
  transformer_keep (stack, FAB_KEPT_ALWAYS, "norm input", FAB_SAVED_STREAM, 2.0 * (double) width, FALSE);
  transformer_keep (stack, FAB_KEPT_EAGER | FAB_KEPT_COMPILED, "norm statistics", FAB_SAVED_STATISTIC,
                    is_layer ? 8 : 4, FALSE);
  if (p->norm == FAB_NORM_NONE)
    return;
  transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
  if (is_layer)
    transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
}

/* Adds the input of the block to the output of a segment, after dropout. */
void
transformer_add_residual (const FabTransformerParams *p, FabLayerStack *stack)
{
  transformer_add_memory (p->has_dropout ? "dropout_residual" : "residual",
                          (p->has_dropout ? 3.5 : 3.0) * (double) p->hidden, FALSE, stack);
  if (p->has_dropout)
    transformer_keep (stack, FAB_KEPT_ALWAYS, "dropout mask", FAB_SAVED_STATISTIC, (double) p->hidden, FALSE);
}
