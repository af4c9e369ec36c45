/* SPDX-License-Identifier: Apache-2.0 */
/* transformer.c - a transformer from its dimensions.
 *
 * Parameters per block, with h hidden, f feed-forward width, and q = k = v heads unless kv_heads is smaller:
 *
 *   attention     h x (h + 2 h kv/heads) + h x h
 *   MLP           2 h f, or 3 h f when gated
 *   two norms     2 h each with biases (LayerNorm), h without (RMSNorm)
 *
 * Outside the blocks: token embedding V h, positions P h, final norm, output V h unless tied. The
 * sections below describe the rest: latent attention, experts, BERT's ends.
 *
 * Forward FLOPs per token: 2 per parameter of every matrix, 4 s h per block for attention scores and values (full,
 * not halved for the causal mask: Narayanan et al. 2021, arXiv 2104.04473, appendix), 2 V h for the output. Other
 * conventions: 6 N per token, forward and backward, leaves out the scores and counts the embedding (Kaplan et al. 2020,
 * arXiv 2001.08361, section 2.1); causal kernels compute half of the scores, 2 s h.
 *
 * Kept for the backward pass: Korthikanti et al. 2022, arXiv 2205.05198, operator by operator. Tensors are in the
 * order in which PyTorch modules register them: embeddings, blocks, final norm, output.
 */
#include "models/shape/transformer/transformer.h"

#include <string.h>

#define ROW(struct_, type_, name_, field_, fallback_, help_)                            \
  .key = name_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_
#define COUNT(struct_, name_, field_, fallback_, min_, help_)                      \
  {                                                                                \
    ROW (struct_, COUNT, name_, field_, fallback_, help_), .min = min_, .max = 1e8 \
  }
#define FLAG(struct_, name_, field_, fallback_, help_)   \
  {                                                      \
    ROW (struct_, BOOL, name_, field_, fallback_, help_) \
  }

static const char *const bias_choices[] = { "auto", "yes", "no", NULL };
static const char *const norm_choices[] = { "auto", "layer", "rms", "none", NULL };
static const char *const attention_choices[] = { "flash", "full", NULL };

static const FabParam latent_params[] = {
  COUNT (FabLatentParams, "q_lora_rank", q_lora_rank, "0", 0,
         "Width of the compressed queries; 0: queries come straight from the model width."),
  COUNT (FabLatentParams, "kv_lora_rank", kv_lora_rank, "0", 0,
         "Width of the compressed keys and values; 0: no latent attention."),
  COUNT (FabLatentParams, "qk_nope_head_dim", qk_nope_head_dim, "0", 0,
         "Width of a query or key head without position."),
  COUNT (FabLatentParams, "qk_rope_head_dim", qk_rope_head_dim, "0", 0,
         "Width of a query or key head that carries the rotary position; all heads share one key."),
  COUNT (FabLatentParams, "v_head_dim", v_head_dim, "0", 0, "Width of a value head."),
  { .key = NULL },
};

static const FabParam experts_params[] = {
  COUNT (FabExpertsParams, "count", count, "0", 0,
         "Experts that the router chooses from; 0: every block has a plain MLP."),
  COUNT (FabExpertsParams, "per_token", per_token, "1", 1, "Experts that each token goes to."),
  COUNT (FabExpertsParams, "width", width, "0", 0,
         "Feed-forward width of one expert; 0: the same as "
         "feed_forward."),
  COUNT (
      FabExpertsParams, "latent", latent, "0", 0,
      "Width of tokens on their way to experts and back, with a matrix before and after (LatentMoE); 0: the "
      "model width."),
  COUNT (FabExpertsParams, "shared", shared, "0", 0,
         "Experts that every token goes to, each of the width of "
         "one expert."),
  COUNT (FabExpertsParams, "dense_layers", dense_layers, "0", 0,
         "Number of first blocks that have a plain "
         "MLP instead of experts."),
  COUNT (FabExpertsParams, "every", every, "1", 1,
         "Every n-th block has experts, from block n-1 on; the others have a plain MLP."),
  FLAG (FabExpertsParams, "shared_gate", has_shared_gate, "false",
        "A gate of h parameters weights the shared experts."),
  FLAG (FabExpertsParams, "router_biases", has_router_biases, "false",
        "The router has a bias for each expert."),
  { .key = NULL },
};

static const FabParam window_params[] = {
  COUNT (FabWindowParams, "width", width, "0", 0,
         "Tokens that a token attends to at most, itself included; 0: all before it."),
  COUNT (FabWindowParams, "full_every", full_every, "0", 0,
         "Every n-th block attends to all tokens, from block n-1 on (Gemma 3: 6, GPT-OSS: 2); 0: none does."),
  { .key = NULL },
};

static const FabParam mamba_params[] = {
  COUNT (FabMambaParams, "heads", heads, "0", 0, "Heads of a Mamba-2 block."),
  COUNT (FabMambaParams, "head_dim", head_dim, "64", 1, "Width of a head."),
  COUNT (FabMambaParams, "groups", groups, "8", 1,
         "Groups of heads that share input and output matrices of the state."),
  COUNT (FabMambaParams, "state", state, "128", 1, "State size per number of a head."),
  COUNT (FabMambaParams, "convolution", convolution, "4", 1,
         "Tokens that the convolution before the scan covers."),
  COUNT (FabMambaParams, "chunk", chunk, "128", 1,
         "Tokens per chunk. A chunk is computed as one matrix product and hands its state to the next."),
  { .key = NULL },
};

static const FabParam ends_params[] = {
  COUNT (FabEndsParams, "token_types", token_types, "0", 0, "Token type embeddings (BERT: 2)."),
  FLAG (FabEndsParams, "embedding_norm", has_embedding_norm, "false",
        "A norm after the embeddings (BERT, BLOOM)."),
  FLAG (FabEndsParams, "final_norm", has_final_norm, "true", "A norm after the last block."),
  FLAG (FabEndsParams, "pooler", has_pooler, "false", "h x h on the first token of a sequence (BERT)."),
  COUNT (FabEndsParams, "classes", classes, "0", 0,
         "Classes that the classifier sorts the pooler's output into; 0: no classifier."),
  FLAG (FabEndsParams, "head_transform", has_head_transform, "false",
        "h x h, activation and norm before the output (BERT)."),
  FLAG (FabEndsParams, "output_biases", has_output_biases, "false", "The output has a bias for each token."),
  { .key = NULL },
};

static const FabParam fab_transformer_params[] = {
  { ROW (FabTransformerParams, COUNT, "layers", layers, NULL, "Transformer blocks."), .min = 1, .max = 1e5 },
  COUNT (FabTransformerParams, "hidden", hidden, NULL, 1, "Model width h."),
  COUNT (FabTransformerParams, "heads", heads, NULL, 1, "Attention heads."),
  COUNT (FabTransformerParams, "kv_heads", kv_heads, "0", 0,
         "Key and value heads (grouped-query attention); 0: as many as heads."),
  COUNT (FabTransformerParams, "head_dim", head_dim, "0", 0,
         "Width of a head; 0: the model width over "
         "heads."),
  COUNT (FabTransformerParams, "feed_forward", feed_forward, "0", 0,
         "Width of the MLP; 0: four times the "
         "model width."),
  FLAG (FabTransformerParams, "gated", is_gated, "false", "The MLP has a gate (SwiGLU): three matrices."),
  COUNT (FabTransformerParams, "vocabulary", vocabulary, NULL, 1, "Tokens in the vocabulary."),
  COUNT (FabTransformerParams, "positions", positions, "0", 0, "Learned position embeddings; 0: none."),
  FLAG (FabTransformerParams, "tied", is_tied, "true", "The output layer shares the token embedding."),
  FLAG (FabTransformerParams, "biases", has_biases, "true", "Linear layers and norms have biases."),
  { ROW (FabTransformerParams, CHOICE, "qkv_biases", qkv_biases, "auto",
         "Queries, keys and values have biases; auto: the same as `biases`."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "projection_biases", projection_biases, "auto",
         "The attention output has a bias; auto: the same as `biases`."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "norm", norm, "auto",
         "Parameters of a norm. layer: weight and bias; rms: weight only; none: no parameters. auto: layer "
         "when there are biases, else rms."),
    .choices = norm_choices },
  { ROW (FabTransformerParams, COUNT, "norms", norms, "2",
         "Norms per block: 2; 1 where attention and MLP share it (Falcon 7B); 4 where attention and MLP each "
         "end with one (Gemma 2)."),
    .min = 1, .max = 4 },
  FLAG (FabTransformerParams, "qk_norm", has_qk_norm, "false",
        "Queries and keys are normalised head by head (Qwen3)."),
  FLAG (FabTransformerParams, "sinks", has_sinks, "false",
        "Each head has one learned number in its softmax (attention sink, GPT-OSS)."),
  { ROW (FabTransformerParams, CHOICE, "attention", attention, "flash",
         "flash: attention scores are never kept. full: they are kept, and selective recomputation saves "
         "their memory."),
    .choices = attention_choices },
  FLAG (FabTransformerParams, "dropout", has_dropout, "false",
        "The model has dropout, whose masks are kept "
        "for backward."),
  { ROW (FabTransformerParams, TABLE, "window", window, NULL, "Sliding windows of attention."),
    .table = window_params, .table_size = sizeof (FabWindowParams) },
  { ROW (FabTransformerParams, TEXT, "pattern", pattern, "",
         "Kind of each block, one letter each: M Mamba-2, * attention, - MLP, E experts (Nemotron-H: "
         "M-M-M-M*-). Default: every block has attention and an MLP, or experts.") },
  { ROW (FabTransformerParams, TABLE, "mamba", mamba, NULL, "Mamba-2 blocks of the pattern."),
    .table = mamba_params, .table_size = sizeof (FabMambaParams) },
  { ROW (FabTransformerParams, COUNT, "mtp", predictions, "0",
         "Extra tokens to predict. Each needs a projection, one more block and the head again (DeepSeek-V3: "
         "1)."),
    .max = 64 },
  { ROW (FabTransformerParams, TABLE, "latent", latent, NULL, "Multi-head latent attention (DeepSeek)."),
    .table = latent_params, .table_size = sizeof (FabLatentParams) },
  { ROW (FabTransformerParams, TABLE, "experts", experts, NULL, "Mixture of experts."),
    .table = experts_params, .table_size = sizeof (FabExpertsParams) },
  { ROW (FabTransformerParams, TABLE, "ends", ends, NULL, "Layers before and after the blocks."),
    .table = ends_params, .table_size = sizeof (FabEndsParams) },
  { .key = NULL },
};

#define MAX_PARAMETERS 1e15

static void
add_block (const FabTransformerParams *p, gint64 block, guint sequence, FabLayerStack *stack)
{
  switch (p->pattern != NULL ? p->pattern[block] : 0) {
  case 'M': transformer_add_mamba (p, stack); return;
  case '*': transformer_add_attention (p, block, sequence, stack); return;
  case '-': transformer_add_mlp (p, stack); return;
  case 'E': transformer_add_experts (p, stack); return;
  default: break;
  }
  transformer_add_attention (p, block, sequence, stack);
  if (transformer_has_experts (p, block))
    transformer_add_experts (p, stack);
  else
    transformer_add_mlp (p, stack);
}

static void
transformer_expand (gconstpointer params, guint sequence, FabLayerStack *stack)
{
  const FabTransformerParams *p = params;

  transformer_add_embedding (p, stack);
  for (gint64 i = 0; i < p->layers; i++) {
    char *name = g_strdup_printf ("block%" G_GINT64_FORMAT, i);

    fab_layer_stack_add_layer (stack, name, 2 * (double) p->hidden)->is_block = TRUE;
    add_block (p, i, sequence, stack);
  }
  transformer_add_head (p, sequence, stack);
  for (gint64 i = 0; i < p->predictions; i++)
    transformer_add_prediction (p, i, sequence, stack);
}

/* Returns an upper bound of the parameters as a double, so that too large a model is refused before anything
 * overflows. */
static double
most_parameters (const FabTransformerParams *p)
{
  double h = (double) p->hidden, f = (double) transformer_feed_forward_width (p);
  double q = (double) transformer_query_width (p), k = (double) transformer_key_width (p);
  double v = (double) transformer_value_width (p), out = (double) transformer_attended_width (p);
  double ranks = (double) (p->latent.q_lora_rank + p->latent.kv_lora_rank + p->latent.qk_rope_head_dim);
  double experts = (double) (p->experts.count + p->experts.shared);
  double attention = (h + ranks) * (q + k + v + ranks) + h * out;
  double experts_parameters = experts * (h + 3 * (h + 1) * (double) transformer_expert_width (p));
  double mamba = (double) p->mamba.heads * (double) (p->mamba.head_dim + 1)
                   * (3 * h + (double) p->mamba.convolution + 4)
               + 2.0 * (double) (p->mamba.groups * p->mamba.state) * (h + (double) p->mamba.convolution + 1);
  double ends = (double) (2 * p->vocabulary + p->positions + p->ends.token_types + p->ends.classes);

  return (double) (p->layers + p->predictions)
           * (attention + 3 * h * f + experts_parameters + mamba + 2 * h * ((double) p->experts.latent + h))
       + (h + 1) * ends + 2 * h * h;
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
check_pattern (const FabTransformerParams *p, FabCheck *check)
{
  gsize n = p->pattern != NULL ? strlen (p->pattern) : 0;

  if (p->pattern == NULL)
    return;
  if (strspn (p->pattern, "M*-E") != n)
    fab_check_fail (check, &p->pattern,
                    "'%c' in the pattern is not a kind of block; use M (Mamba-2), * (attention), - (MLP) or "
                    "E (experts)",
                    p->pattern[strspn (p->pattern, "M*-E")]);
  else if ((gint64) n != p->layers)
    fab_check_fail (check, &p->pattern,
                    "the pattern has %" G_GSIZE_FORMAT " letters for layers: %" G_GINT64_FORMAT, n,
                    p->layers);
  if (strchr (p->pattern, 'M') != NULL && p->mamba.heads == 0)
    fab_check_fail (check, &p->pattern, "M in the pattern needs mamba.heads");
  if (strchr (p->pattern, 'E') != NULL && p->experts.count == 0)
    fab_check_fail (check, &p->pattern, "E in the pattern needs experts.count");
}

static void
transformer_check (gconstpointer params, FabCheck *check)
{
  const FabTransformerParams *p = params;
  double most = most_parameters (p);

  if (most > MAX_PARAMETERS)
    fab_check_fail (check, &p->hidden, "that makes %.2g parameters; the limit is %.0e", most, MAX_PARAMETERS);
  check_heads (p, check);
  check_latent (p, check);
  check_pattern (p, check);
  if (p->norms == 3)
    fab_check_fail (check, &p->norms, "a block has 1, 2 or 4 norms, not 3");
  if (p->experts.count > 0 && p->experts.per_token > p->experts.count)
    fab_check_fail (check, &p->experts.per_token,
                    "a token cannot go to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " experts",
                    p->experts.per_token, p->experts.count);
  if (p->experts.count == 0 && p->experts.shared > 0)
    fab_check_fail (check, &p->experts.shared, "shared experts need experts; give experts.count");
}

const FabShapeOps fab_shape_transformer = {
  .info = { .name = "transformer",
            .summary = "A transformer given by its dimensions, dense or with experts.",
            .doc = "docs/models/transformer.md",
            .params = fab_transformer_params,
            .params_size = sizeof (FabTransformerParams),
            .check = transformer_check },
  .expand = transformer_expand,
};
