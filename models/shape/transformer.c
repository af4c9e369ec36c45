/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.c - a transformer from its dimensions.
 *
 * Per block, h hidden, f feed-forward width, q = k = v heads unless kv_heads is smaller:
 *   attention     h x (h + 2 h kv/heads) + h x h,       MLP  2 h f, or 3 h f when gated
 *   two norms     2 h each with biases (LayerNorm), h without (RMSNorm)
 * and outside: token embedding V h, positions P h, final norm, output V h unless tied.
 * Forward FLOPs per token: 2 per parameter of every matrix, 4 s h per block for attention scores and
 * values (full, not halved for the causal mask: Narayanan et al. 2021, arXiv 2104.04473, appendix), 2 V h for
 * the output.
 * Tensors come in the order in which PyTorch modules register them: embeddings, blocks, final norm, output.
 */
#include "models/models.h"
#include "sim/work/layers.h"

#define MAX_PARAMETERS 1e15

typedef struct {
  gint64 layers, hidden, heads, kv_heads, feed_forward, vocabulary, positions;
  gboolean is_gated, is_tied, has_biases;
} TransformerParams;

#define COUNT(name_, field_, fallback_, min_, help_)                                              \
  {                                                                                               \
    .key = name_, .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (TransformerParams, field_), \
    .fallback = fallback_, .min = min_, .max = 1e8, .help = help_                                 \
  }
#define FLAG(name_, field_, fallback_, help_)                                                    \
  {                                                                                              \
    .key = name_, .type = FAB_PARAM_BOOL, .offset = G_STRUCT_OFFSET (TransformerParams, field_), \
    .fallback = fallback_, .help = help_                                                         \
  }

static const FabParam transformer_params[] = {
  { .key = "layers",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TransformerParams, layers),
    .min = 1,
    .max = 1e5,
    .help = "Transformer blocks." },
  COUNT ("hidden", hidden, NULL, 1, "Model width h."),
  COUNT ("heads", heads, NULL, 1, "Attention heads."),
  COUNT ("kv_heads", kv_heads, "0", 0, "Key and value heads (grouped-query attention); 0: as many as heads."),
  COUNT ("feed_forward", feed_forward, "0", 0, "Width of the MLP; 0: 4 h."),
  FLAG ("gated", is_gated, "false", "The MLP has a gate (SwiGLU): three matrices."),
  COUNT ("vocabulary", vocabulary, NULL, 1, "Tokens in the vocabulary."),
  COUNT ("positions", positions, "0", 0, "Learned position embeddings; 0: none."),
  FLAG ("tied", is_tied, "true", "The output shares the token embedding."),
  FLAG ("biases", has_biases, "true", "Linear layers and norms have biases."),
  { .key = NULL },
};

#undef COUNT
#undef FLAG

static void
add_tensor (FabLayerStack *stack, FabTensorKind kind, gint64 parameters)
{
  fab_layer_stack_add_tensor (stack, kind, (guint64) parameters, (guint64) parameters);
}

static void
add_matrix (const TransformerParams *p, const char *name, gint64 rows, gint64 columns, FabLayerStack *stack)
{
  FabOperator matmul = { .name = name,
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * (double) rows * (double) columns,
                         .bytes = 2.0 * (double) (rows + columns),
                         .n = rows,
                         .k = columns,
                         .n_matrices = 1,
                         .is_split = TRUE };

  fab_layer_stack_add_operator (stack, &matmul);
  add_tensor (stack, FAB_TENSOR_SPLIT, rows * columns);
  if (p->has_biases)
    add_tensor (stack, FAB_TENSOR_SPLIT, rows);
}

static void
add_norm (const TransformerParams *p, FabLayerStack *stack)
{
  FabOperator norm = { .name = "norm", .kind = FAB_OPERATOR_MEMORY, .bytes = 4.0 * (double) p->hidden };

  fab_layer_stack_add_operator (stack, &norm);
  add_tensor (stack, FAB_TENSOR_WHOLE, p->hidden);
  if (p->has_biases)
    add_tensor (stack, FAB_TENSOR_WHOLE, p->hidden);
}

static gint64
feed_forward_width (const TransformerParams *p)
{
  return p->feed_forward > 0 ? p->feed_forward : 4 * p->hidden;
}

static gint64
kv_width (const TransformerParams *p)
{
  return p->kv_heads > 0 ? p->hidden / p->heads * p->kv_heads : p->hidden;
}

static void
add_block (const TransformerParams *p, guint sequence, gint64 index, FabLayerStack *stack)
{
  double h = (double) p->hidden;
  FabOperator scores = { .name = "scores",
                         .kind = FAB_OPERATOR_ATTENTION,
                         .flops = 4.0 * sequence * h,
                         .bytes = 4.0 * (h + (double) kv_width (p)),
                         .is_split = TRUE };

  fab_layer_stack_add_layer (stack, g_strdup_printf ("block%" G_GINT64_FORMAT, index), 2 * h)
      ->is_block = TRUE;
  fab_layer_stack_add_segment (stack, "attention")->is_split = TRUE;
  add_norm (p, stack);
  add_matrix (p, "qkv", p->hidden + 2 * kv_width (p), p->hidden, stack);
  fab_layer_stack_add_operator (stack, &scores);
  add_matrix (p, "projection", p->hidden, p->hidden, stack);
  fab_layer_stack_add_segment (stack, "mlp")->is_split = TRUE;
  add_norm (p, stack);
  for (guint i = 0; i < (p->is_gated ? 2u : 1u); i++)
    add_matrix (p, "up", feed_forward_width (p), p->hidden, stack);
  add_matrix (p, "down", p->hidden, feed_forward_width (p), stack);
}

static void
transformer_expand (gconstpointer params, guint sequence, FabLayerStack *stack)
{
  const TransformerParams *p = params;
  gint64 embedding = p->vocabulary * p->hidden;
  FabOperator lookup = { .name = "lookup", .kind = FAB_OPERATOR_MEMORY, .bytes = 4.0 * (double) p->hidden };
  FabOperator output = { .name = "output",
                         .kind = FAB_OPERATOR_MATMUL,
                         .flops = 2.0 * (double) embedding,
                         .bytes = 2.0 * (double) (p->hidden + p->vocabulary),
                         .n = p->vocabulary,
                         .k = p->hidden,
                         .n_matrices = 1,
                         .is_split = TRUE };

  fab_layer_stack_add_layer (stack, g_strdup ("embedding"), 2 * (double) p->hidden);
  fab_layer_stack_add_segment (stack, "embedding")->is_split = TRUE;
  fab_layer_stack_add_operator (stack, &lookup);
  add_tensor (stack, FAB_TENSOR_SPLIT, embedding);
  if (p->positions > 0)
    add_tensor (stack, FAB_TENSOR_WHOLE, p->positions * p->hidden);
  for (gint64 i = 0; i < p->layers; i++)
    add_block (p, sequence, i, stack);
  fab_layer_stack_add_layer (stack, g_strdup ("head"), 2 * (double) p->hidden);
  fab_layer_stack_add_segment (stack, "head");
  add_norm (p, stack);
  fab_layer_stack_add_operator (stack, &output);
  if (!p->is_tied)
    add_tensor (stack, FAB_TENSOR_SPLIT, embedding);
}

static void
transformer_check (gconstpointer params, FabCheck *check)
{
  const TransformerParams *p = params;

  double h = (double) p->hidden, f = (double) feed_forward_width (p);
  double most = (double) p->layers * (4 * h * h + 3 * h * f)
              + 3 * h * (double) (p->vocabulary + p->positions);

  if (most > MAX_PARAMETERS)
    fab_check_fail (check, &p->hidden, "that makes %.2g parameters; %.0e are possible", most, MAX_PARAMETERS);
  if (p->hidden % p->heads != 0)
    fab_check_fail (check, &p->hidden,
                    "hidden %" G_GINT64_FORMAT " is not a multiple of heads %" G_GINT64_FORMAT, p->hidden,
                    p->heads);
  if (p->kv_heads > 0 && p->heads % p->kv_heads != 0)
    fab_check_fail (check, &p->kv_heads,
                    "heads %" G_GINT64_FORMAT " is not a multiple of kv_heads %" G_GINT64_FORMAT, p->heads,
                    p->kv_heads);
}

const FabShapeOps fab_shape_transformer = {
  .info = { .name = "transformer",
            .summary = "A dense transformer from its dimensions.",
            .doc = "docs/models/transformer.md",
            .params = transformer_params,
            .params_size = sizeof (TransformerParams),
            .check = transformer_check },
  .expand = transformer_expand,
};
