/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.c - a transformer from its dimensions.
 *
 * Parameters per block, with h hidden, f feed-forward width, and q = k = v heads unless kv_heads is smaller:
 *
 *   attention     h x (h + 2 h kv/heads) + h x h
 *   MLP           2 h f, or 3 h f when gated
 *   two norms     2 h each with biases (LayerNorm), h without (RMSNorm)
 *
 * Outside the blocks: token embedding V h, positions P h, final norm, output V h unless tied. attention.c,
 * feed_forward.c and ends.c describe the rest: latent attention, experts, BERT's ends.
 *
 * Forward FLOPs per token: 2 per parameter of every matrix, 4 s h per block for attention scores and values (full, not
 * halved for the causal mask: Narayanan et al. 2021, arXiv 2104.04473, appendix), 2 V h for the output. Other
 * conventions: 6 N per token, forward and backward, leaves out the scores and counts the embedding (Kaplan et al.
 * 2020, arXiv 2001.08361, section 2.1); causal kernels compute half of the scores, 2 s h.
 *
 * Kept for the backward pass: Korthikanti et al. 2022, arXiv 2205.05198, operator by operator. Tensors are in the
 * order in which PyTorch modules register them: embeddings, blocks, final norm, output.
 */
#include "models/models.h"
#include "models/shape/transformer/parts.h"

#define MAX_PARAMETERS 1e15

void
fab_transformer_add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters)
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
  fab_transformer_add_tensor (stack, kind, matrix->n * matrix->k);
  if (matrix->has_biases) /* the biases of a matrix divided by rows are added once, after the sum */
    fab_transformer_add_tensor (stack,
                                matrix->split == FAB_MATRIX_COLUMN ? FAB_TENSOR_SPLIT : FAB_TENSOR_WHOLE,
                                matrix->n);
}

void
fab_transformer_add_matrix (const FabMatrix *matrix, FabSegment *segment, FabLayerStack *stack)
{
  double n = (double) matrix->n, k = (double) matrix->k;
  double used = matrix->experts > 0 ? (double) matrix->per_token : 1;
  FabOperator op = { .name = matrix->name,
                     .kind = FAB_OPERATOR_MATMUL,
                     .flops = 2.0 * used * n * k,
                     .bytes = 2.0 * used * (n + k),
                     .n = matrix->n,
                     .k = matrix->k,
                     .n_matrices = MAX (1, matrix->experts),
                     .is_split = matrix->split != FAB_MATRIX_WHOLE };

  fab_layer_stack_add_operator (stack, &op);
  add_matrix_tensors (matrix, stack);
  if (matrix->has_shared_input)
    return;
  if (matrix->split == FAB_MATRIX_ROW)
    segment->saved_split_bytes += 2.0 * used * k;
  else
    segment->saved_whole_bytes += 2.0 * used * k;
}

void
fab_transformer_add_memory (const char *name, double numbers, gboolean is_split, FabLayerStack *stack)
{
  FabOperator op = {
    .name = name, .kind = FAB_OPERATOR_MEMORY, .bytes = 2.0 * numbers, .is_split = is_split
  };

  fab_layer_stack_add_operator (stack, &op);
}

void
fab_transformer_add_norm (const FabTransformerParams *p, gint64 width, FabSegment *segment,
                          FabLayerStack *stack)
{
  gboolean is_layer = p->norm == FAB_NORM_LAYER || (p->norm == FAB_NORM_AUTO && p->has_biases);

  fab_transformer_add_memory ("norm", 2.0 * (double) width, FALSE, stack);
  segment->saved_whole_bytes += 2.0 * (double) width;
  if (p->norm == FAB_NORM_NONE)
    return;
  fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
  if (is_layer)
    fab_transformer_add_tensor (stack, FAB_TENSOR_WHOLE, width);
}

void
fab_transformer_add_residual (const FabTransformerParams *p, FabSegment *segment, FabLayerStack *stack)
{
  fab_transformer_add_memory ("residual", (p->has_dropout ? 3.5 : 3.0) * (double) p->hidden, FALSE, stack);
  if (p->has_dropout)
    segment->saved_whole_bytes += (double) p->hidden; /* the mask takes one byte per number */
}

static void
transformer_expand (gconstpointer params, guint sequence, FabLayerStack *stack)
{
  const FabTransformerParams *p = params;

  fab_transformer_add_embedding (p, stack);
  for (gint64 i = 0; i < p->layers; i++) {
    char *name = g_strdup_printf ("block%" G_GINT64_FORMAT, i);

    fab_layer_stack_add_layer (stack, name, 2 * (double) p->hidden)->is_block = TRUE;
    fab_transformer_add_attention (p, sequence, stack);
    if (fab_transformer_has_experts (p, i))
      fab_transformer_add_experts (p, stack);
    else
      fab_transformer_add_mlp (p, stack);
  }
  fab_transformer_add_head (p, sequence, stack);
}

/* Returns an upper bound of the parameters as a double, so that too large a model is refused before anything
 * overflows. */
static double
most_parameters (const FabTransformerParams *p)
{
  double h = (double) p->hidden, f = (double) fab_transformer_feed_forward_width (p);
  double q = (double) fab_transformer_query_width (p), k = (double) fab_transformer_key_width (p);
  double v = (double) fab_transformer_value_width (p), out = (double) fab_transformer_attended_width (p);
  double ranks = (double) (p->latent.q_lora_rank + p->latent.kv_lora_rank + p->latent.qk_rope_head_dim);
  double experts = (double) (p->experts.count + p->experts.shared);
  double attention = (h + ranks) * (q + k + v + ranks) + h * out;
  double experts_parameters = experts * (h + 3 * (h + 1) * (double) fab_transformer_expert_width (p));
  double ends = (double) (2 * p->vocabulary + p->positions + p->ends.token_types + p->ends.classes);

  return (double) p->layers * (attention + 3 * h * f + experts_parameters) + (h + 1) * ends + 2 * h * h;
}

static void
check_latent (const FabTransformerParams *p, FabCheck *check)
{
  if (p->latent.kv_lora_rank == 0)
    return;
  if (p->latent.qk_nope_head_dim + p->latent.qk_rope_head_dim == 0)
    fab_check_fail (check, &p->latent.qk_nope_head_dim,
                    "latent attention needs qk_nope_head_dim or qk_rope_head_dim");
  if (p->latent.v_head_dim == 0)
    fab_check_fail (check, &p->latent.v_head_dim, "latent attention needs v_head_dim");
}

static void
check_heads (const FabTransformerParams *p, FabCheck *check)
{
  gboolean is_derived = p->head_dim == 0 && p->latent.kv_lora_rank == 0;

  if (is_derived && p->hidden % p->heads != 0)
    fab_check_fail (check, &p->hidden,
                    "hidden %" G_GINT64_FORMAT " is not a multiple of heads %" G_GINT64_FORMAT, p->hidden,
                    p->heads);
  if (p->kv_heads > 0 && p->heads % p->kv_heads != 0)
    fab_check_fail (check, &p->kv_heads,
                    "heads %" G_GINT64_FORMAT " is not a multiple of kv_heads %" G_GINT64_FORMAT, p->heads,
                    p->kv_heads);
}

static void
transformer_check (gconstpointer params, FabCheck *check)
{
  const FabTransformerParams *p = params;
  double most = most_parameters (p);

  if (most > MAX_PARAMETERS)
    fab_check_fail (check, &p->hidden, "that makes %.2g parameters; %.0e are possible", most, MAX_PARAMETERS);
  check_heads (p, check);
  check_latent (p, check);
  if (p->norms == 3)
    fab_check_fail (check, &p->norms, "a block has 1, 2 or 4 norms, not 3");
  if (p->experts.count > 0 && p->experts.per_token > p->experts.count)
    fab_check_fail (check, &p->experts.per_token,
                    "a token cannot go to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " experts",
                    p->experts.per_token, p->experts.count);
  if (p->experts.count == 0 && p->experts.shared > 0)
    fab_check_fail (check, &p->experts.shared, "shared experts without experts: give experts.count");
}

const FabShapeOps fab_shape_transformer = {
  .info = { .name = "transformer",
            .summary = "A transformer from its dimensions: dense or with experts.",
            .doc = "docs/models/transformer.md",
            .params = fab_transformer_params,
            .params_size = sizeof (FabTransformerParams),
            .check = transformer_check },
  .expand = transformer_expand,
};
