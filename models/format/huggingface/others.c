/* SPDX-License-Identifier: Apache-2.0 */
/* others.c - GPT and similar models, with LayerNorm and mostly with biases, and BERT.
 *
 * Falcon: a block has one norm when attention and MLP run in parallel and share it (7B), otherwise two; matrices have
 * no biases, norms do. MPT: learned positions unless it uses ALiBi or rotary positions. OPT: two more positions than
 * the file says. Phi: one norm for attention and MLP, biases of the output. BERT: its architecture name says which
 * heads it has.
 */
#include "models/format/huggingface/parts.h"

static void
read_gpt2 (const FabConfig *self)
{
  fab_config_require (self, "n_layer", "layers");
  fab_config_require (self, "n_embd", "hidden");
  fab_config_require (self, "n_head", "heads");
  fab_config_pass (self, "n_inner", "feed_forward");
  fab_config_require (self, "vocab_size", "vocabulary");
  fab_config_require (self, "n_positions", "positions");
  fab_config_tie (self, TRUE);
}

static void
read_plain (const FabConfig *self)
{
  fab_config_require (self, "num_hidden_layers", "layers");
  fab_config_require (self, "hidden_size", "hidden");
  fab_config_require (self, "num_attention_heads", "heads");
  fab_config_require (self, "vocab_size", "vocabulary");
}

static void
read_gpt_neox (const FabConfig *self)
{
  read_plain (self);
  fab_config_require (self, "intermediate_size", "feed_forward");
  if (!fab_config_flag (self, "attention_bias", TRUE)) {
    fab_config_set (self, "qkv_biases", "no");
    fab_config_set (self, "projection_biases", "no");
  }
  fab_config_tie (self, FALSE);
}

static void
read_phi (const FabConfig *self)
{
  read_plain (self);
  fab_config_pass (self, "num_key_value_heads", "kv_heads");
  fab_config_require (self, "intermediate_size", "feed_forward");
  fab_config_set (self, "norms", "1");
  fab_config_set (self, "ends.output_biases", "true");
  fab_config_tie (self, FALSE);
}

static void
read_opt (const FabConfig *self)
{
  const FabYamlNode *projected = fab_config_get (self, "word_embed_proj_dim");
  const FabYamlNode *positions = fab_config_get (self, "max_position_embeddings");

  read_plain (self);
  fab_config_require (self, "ffn_dim", "feed_forward");
  fab_config_require (self, "max_position_embeddings", "positions");
  if (positions != NULL)
    fab_model_file_set_count (self->out, "positions",
                              fab_config_whole (self, "max_position_embeddings", 0) + 2, positions);
  if (projected != NULL
      && fab_config_whole (self, "word_embed_proj_dim", 0) != fab_config_whole (self, "hidden_size", 0))
    fab_model_file_fail (self->out, projected,
                         "embeddings narrower than the model are not known to a transformer shape");
  fab_config_set_flag (self, "biases", fab_config_flag (self, "enable_bias", TRUE));
  fab_config_set (self, "norm", "layer");
  fab_config_tie (self, TRUE);
}

static void
read_bloom (const FabConfig *self)
{
  fab_config_require (self, "n_layer", "layers");
  fab_config_require (self, fab_config_get (self, "n_embed") != NULL ? "n_embed" : "hidden_size", "hidden");
  fab_config_require (self,
                      fab_config_get (self, "num_attention_heads") != NULL ? "num_attention_heads" : "n_head",
                      "heads");
  fab_config_require (self, "vocab_size", "vocabulary");
  fab_config_set (self, "ends.embedding_norm", "true");
  fab_config_tie (self, TRUE);
}

static void
read_mpt (const FabConfig *self)
{
  FabConfig attention = { fab_config_get (self, "attn_config"), self->out, self->type };
  gboolean has_positions = fab_config_flag (self, "learned_pos_emb", TRUE);
  gint64 ratio = fab_config_whole (self, "expansion_ratio", 4), width = fab_config_whole (self, "d_model", 0);

  fab_config_require (self, "n_layers", "layers");
  fab_config_require (self, "d_model", "hidden");
  fab_config_require (self, "n_heads", "heads");
  fab_config_require (self, "vocab_size", "vocabulary");
  fab_config_set_flag (self, "biases", !fab_config_flag (self, "no_bias", FALSE));
  if (ratio > 0 && width > 0)
    fab_model_file_set_count (self->out, "feed_forward", ratio * width, fab_config_get (self, "d_model"));
  fab_config_pass (&attention, "kv_n_heads", "kv_heads");
  if (has_positions && !fab_config_flag (&attention, "alibi", FALSE)
      && !fab_config_flag (&attention, "rope", FALSE))
    fab_config_require (self, "max_seq_len", "positions");
  fab_config_tie (self, TRUE);
}

static void
read_falcon (const FabConfig *self)
{
  gboolean is_new = fab_config_flag (self, "new_decoder_architecture", FALSE);
  gboolean is_parallel = fab_config_flag (self, "parallel_attn", TRUE);
  gint64 shared = fab_config_whole (self, "num_ln_in_parallel_attn", is_new ? 2 : 1);

  read_plain (self);
  if (is_new)
    fab_config_pass (self, "num_kv_heads", "kv_heads");
  else if (fab_config_flag (self, "multi_query", TRUE))
    fab_config_set (self, "kv_heads", "1");
  fab_config_pass (self, "ffn_hidden_size", "feed_forward");
  fab_config_set_flag (self, "biases", fab_config_flag (self, "bias", FALSE));
  fab_config_set (self, "norm", "layer");
  fab_config_set (self, "norms", is_parallel && shared == 1 ? "1" : "2");
  fab_config_tie (self, TRUE);
}

static gboolean
has_architecture (const FabConfig *self, const char *name)
{
  const FabYamlNode *list = fab_config_get (self, "architectures");

  for (guint i = 0; list != NULL && list->kind == FAB_YAML_SEQUENCE && i < list->n; i++)
    if (list->values[i]->kind == FAB_YAML_SCALAR && g_strcmp0 (list->values[i]->text, name) == 0)
      return TRUE;
  return FALSE;
}

static void
read_bert (const FabConfig *self)
{
  gboolean is_whole = has_architecture (self, "BertForPreTraining"),
           is_masked = has_architecture (self, "BertForMaskedLM");

  read_plain (self);
  fab_config_require (self, "intermediate_size", "feed_forward");
  fab_config_require (self, "max_position_embeddings", "positions");
  if (!fab_config_pass (self, "type_vocab_size", "ends.token_types"))
    fab_config_set (self, "ends.token_types", "2");
  fab_config_set (self, "ends.embedding_norm", "true");
  fab_config_set (self, "ends.final_norm", "false");
  fab_config_set_flag (self, "ends.pooler", !is_masked);
  fab_config_set (self, "ends.classes", is_whole ? "2" : "0");
  fab_config_set_flag (self, "ends.head_transform", is_whole || is_masked);
  fab_config_set_flag (self, "ends.output_biases", is_whole || is_masked);
  fab_config_tie (self, TRUE);
  if (!is_whole && !is_masked)
    fab_model_file_note (self->out, "It has no head that says words; FLOPs of one are counted all the same.");
}

const FabFamily fab_huggingface_others[] = {
  { "gpt2", read_gpt2 },   { "gpt_neox", read_gpt_neox }, { "opt", read_opt },
  { "bloom", read_bloom }, { "mpt", read_mpt },           { "falcon", read_falcon },
  { "phi", read_phi },     { "bert", read_bert },         { NULL, NULL },
};
