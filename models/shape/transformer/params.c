/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - the keys of the transformer, and the widths that follow from them. */
#include "models/shape/transformer/parts.h"

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
         "Width that queries go through; 0: none, straight from h."),
  COUNT (FabLatentParams, "kv_lora_rank", kv_lora_rank, "0", 0,
         "Width that keys and values go through; 0: no latent attention."),
  COUNT (FabLatentParams, "qk_nope_head_dim", qk_nope_head_dim, "0", 0,
         "Of a query and key head, without position."),
  COUNT (FabLatentParams, "qk_rope_head_dim", qk_rope_head_dim, "0", 0,
         "Of a query and key head, rotated by position; keys share one."),
  COUNT (FabLatentParams, "v_head_dim", v_head_dim, "0", 0, "Of a value head."),
  { .key = NULL },
};

static const FabParam experts_params[] = {
  COUNT (FabExpertsParams, "count", count, "0", 0,
         "Experts that the router chooses from; 0: an MLP in every block."),
  COUNT (FabExpertsParams, "per_token", per_token, "1", 1, "Experts that a token goes to."),
  COUNT (FabExpertsParams, "width", width, "0", 0, "Feed-forward width of one expert; 0: feed_forward."),
  COUNT (FabExpertsParams, "shared", shared, "0", 0, "Experts that every token goes to, each of that width."),
  COUNT (FabExpertsParams, "dense_layers", dense_layers, "0", 0, "The first so many blocks have an MLP."),
  COUNT (FabExpertsParams, "every", every, "1", 1,
         "Every n-th block has experts, block n-1 first; the others have an MLP."),
  FLAG (FabExpertsParams, "shared_gate", has_shared_gate, "false",
        "The shared experts are weighted by a gate, h parameters."),
  FLAG (FabExpertsParams, "router_biases", has_router_biases, "false",
        "The router has a bias for each expert."),
  { .key = NULL },
};

static const FabParam ends_params[] = {
  COUNT (FabEndsParams, "token_types", token_types, "0", 0, "Token type embeddings (BERT: 2)."),
  FLAG (FabEndsParams, "embedding_norm", has_embedding_norm, "false",
        "A norm after the embeddings (BERT, BLOOM)."),
  FLAG (FabEndsParams, "final_norm", has_final_norm, "true", "A norm after the last block."),
  FLAG (FabEndsParams, "pooler", has_pooler, "false", "h x h on the first token of a sequence (BERT)."),
  COUNT (FabEndsParams, "classes", classes, "0", 0,
         "Classes that the pooler's output is sorted into; 0: no classifier."),
  FLAG (FabEndsParams, "head_transform", has_head_transform, "false",
        "h x h, activation and norm before the output (BERT)."),
  FLAG (FabEndsParams, "output_biases", has_output_biases, "false", "The output has a bias for each token."),
  { .key = NULL },
};

const FabParam fab_transformer_params[] = {
  { ROW (FabTransformerParams, COUNT, "layers", layers, NULL, "Transformer blocks."), .min = 1, .max = 1e5 },
  COUNT (FabTransformerParams, "hidden", hidden, NULL, 1, "Model width h."),
  COUNT (FabTransformerParams, "heads", heads, NULL, 1, "Attention heads."),
  COUNT (FabTransformerParams, "kv_heads", kv_heads, "0", 0,
         "Key and value heads (grouped-query attention); 0: as many as heads."),
  COUNT (FabTransformerParams, "head_dim", head_dim, "0", 0, "Width of a head; 0: h / heads."),
  COUNT (FabTransformerParams, "feed_forward", feed_forward, "0", 0, "Width of the MLP; 0: 4 h."),
  FLAG (FabTransformerParams, "gated", is_gated, "false", "The MLP has a gate (SwiGLU): three matrices."),
  COUNT (FabTransformerParams, "vocabulary", vocabulary, NULL, 1, "Tokens in the vocabulary."),
  COUNT (FabTransformerParams, "positions", positions, "0", 0, "Learned position embeddings; 0: none."),
  FLAG (FabTransformerParams, "tied", is_tied, "true", "The output shares the token embedding."),
  FLAG (FabTransformerParams, "biases", has_biases, "true", "Linear layers and norms have biases."),
  { ROW (FabTransformerParams, CHOICE, "qkv_biases", qkv_biases, "auto",
         "Of queries, keys and values; auto: as biases."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "projection_biases", projection_biases, "auto",
         "Of the attention's output; auto: as biases."),
    .choices = bias_choices },
  { ROW (FabTransformerParams, CHOICE, "norm", norm, "auto",
         "layer: weight and bias; rms: weight alone; none: neither; auto: layer with biases, else rms."),
    .choices = norm_choices },
  { ROW (
        FabTransformerParams, COUNT, "norms", norms, "2",
        "Norms of a block: 2; 1 where attention and MLP share it (Falcon 7B); 4 where each ends with one (Gemma 2)."),
    .min = 1, .max = 4 },
  FLAG (FabTransformerParams, "qk_norm", has_qk_norm, "false",
        "Queries and keys are normalised head by head (Qwen3)."),
  { ROW (FabTransformerParams, CHOICE, "attention", attention, "flash",
         "flash: the scores are never kept; full: they are, and selective recomputation saves them."),
    .choices = attention_choices },
  FLAG (FabTransformerParams, "dropout", has_dropout, "false", "Dropout, whose masks are kept for backward."),
  { ROW (FabTransformerParams, TABLE, "latent", latent, NULL, "Multi-head latent attention (DeepSeek)."),
    .table = latent_params, .table_size = sizeof (FabLatentParams) },
  { ROW (FabTransformerParams, TABLE, "experts", experts, NULL, "Mixture of experts."),
    .table = experts_params, .table_size = sizeof (FabExpertsParams) },
  { ROW (FabTransformerParams, TABLE, "ends", ends, NULL, "What stands before and after the blocks."),
    .table = ends_params, .table_size = sizeof (FabEndsParams) },
  { .key = NULL },
};

static gint64
head_dim (const FabTransformerParams *p)
{
  return p->head_dim > 0 ? p->head_dim : p->hidden / p->heads;
}

gint64
fab_transformer_query_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return p->heads * (p->latent.qk_nope_head_dim + p->latent.qk_rope_head_dim);
  return p->heads * head_dim (p);
}

gint64
fab_transformer_key_width (const FabTransformerParams *p)
{
  if (p->latent.kv_lora_rank > 0)
    return fab_transformer_query_width (p);
  return (p->kv_heads > 0 ? p->kv_heads : p->heads) * head_dim (p);
}

gint64
fab_transformer_value_width (const FabTransformerParams *p)
{
  return p->latent.kv_lora_rank > 0 ? p->heads * p->latent.v_head_dim : fab_transformer_key_width (p);
}

gint64
fab_transformer_attended_width (const FabTransformerParams *p)
{
  return p->heads * (p->latent.kv_lora_rank > 0 ? p->latent.v_head_dim : head_dim (p));
}

gint64
fab_transformer_feed_forward_width (const FabTransformerParams *p)
{
  return p->feed_forward > 0 ? p->feed_forward : 4 * p->hidden;
}

gint64
fab_transformer_expert_width (const FabTransformerParams *p)
{
  return p->experts.width > 0 ? p->experts.width : fab_transformer_feed_forward_width (p);
}

gboolean
fab_transformer_has_experts (const FabTransformerParams *p, gint64 layer)
{
  return p->experts.count > 0 && layer >= p->experts.dense_layers && (layer + 1) % p->experts.every == 0;
}
