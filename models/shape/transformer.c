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
add_matrix (const TransformerParams *p, gint64 rows, gint64 columns, FabLayerStack *stack)
{
  fab_layer_stack_add_tensor (stack, (guint64) rows * (guint64) columns);
  if (p->has_biases)
    fab_layer_stack_add_tensor (stack, (guint64) rows);
}

static void
add_norm (const TransformerParams *p, FabLayerStack *stack)
{
  fab_layer_stack_add_tensor (stack, (guint64) p->hidden);
  if (p->has_biases)
    fab_layer_stack_add_tensor (stack, (guint64) p->hidden);
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
  double h = (double) p->hidden, f = (double) feed_forward_width (p), kv = (double) kv_width (p);
  double matrices = h * (h + 2 * kv) + h * h + (p->is_gated ? 3 : 2) * h * f;

  fab_layer_stack_add_layer (stack, g_strdup_printf ("block%" G_GINT64_FORMAT, index),
                             2 * matrices + 4.0 * sequence * h);
  add_norm (p, stack);
  add_matrix (p, p->hidden + 2 * kv_width (p), p->hidden, stack);
  add_matrix (p, p->hidden, p->hidden, stack);
  add_norm (p, stack);
  for (guint i = 0; i < (p->is_gated ? 2u : 1u); i++)
    add_matrix (p, feed_forward_width (p), p->hidden, stack);
  add_matrix (p, p->hidden, feed_forward_width (p), stack);
}

static void
transformer_expand (gconstpointer params, guint sequence, FabLayerStack *stack)
{
  const TransformerParams *p = params;
  guint64 embedding = (guint64) p->vocabulary * (guint64) p->hidden;

  fab_layer_stack_add_layer (stack, g_strdup ("embedding"), 0);
  fab_layer_stack_add_tensor (stack, embedding);
  if (p->positions > 0)
    fab_layer_stack_add_tensor (stack, (guint64) p->positions * (guint64) p->hidden);
  for (gint64 i = 0; i < p->layers; i++)
    add_block (p, sequence, i, stack);
  fab_layer_stack_add_layer (stack, g_strdup ("head"), 2.0 * (double) embedding);
  add_norm (p, stack);
  if (!p->is_tied)
    fab_layer_stack_add_tensor (stack, embedding);
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
