/* SPDX-License-Identifier: Apache-2.0 */
/* huggingface.c - config.json of Hugging Face transformers as a transformer shape.
 *
 * `model_type` names the family; each knows which keys its configuration class has (transformers
 * src/transformers/models/<type>/configuration_<type>.py), which may be absent with what
 * default, and what the architecture fixes: norms, biases, gates. What does not change parameters or FLOPs (rope, the
 * activation, token ids, quantisation) is not read.
 */
#include <string.h>

#include "formats/format.h"
#include "formats/import.h"
#include "formats/model/huggingface.h"
#include "sim/scenario/model_file.h"

typedef struct {
  const FabYamlNode *config;
  FabModelFile *out;
  const char *type; /* model_type, for messages */
} Config;

typedef struct {
  const char *type;
  void (*read) (const Config *config);
} Family;

static const Family experts[];
static const Family llamas[];
static const Family others[];

#define MAX_WHOLE 100000000

static const Family *const families[] = { llamas, experts, others };

/* Returns the value of a key; NULL when it is absent or null. */
static const FabYamlNode *
config_get (const Config *self, const char *key)
{
  const FabYamlNode *node = fab_yaml_get (self->config, key);

  return node == NULL || (node->kind == FAB_YAML_SCALAR && node->text == NULL) ? NULL : node;
}

/* Returns a whole number from 0 to 1e8; `fallback` when it is absent. Any other value is a diagnostic, and returns
 * `fallback`. */
static gint64
config_whole (const Config *self, const char *key, gint64 fallback)
{
  const FabYamlNode *node = config_get (self, key);
  guint64 value;

  if (node == NULL)
    return fallback;
  if (node->kind == FAB_YAML_SCALAR && !node->is_quoted
      && g_ascii_string_to_unsigned (node->text, 10, 0, MAX_WHOLE, &value, NULL))
    return (gint64) value;
  fab_model_file_fail (self->out, node, "'%s' must be a whole number from 0 to %d", key, MAX_WHOLE);
  return fallback;
}

static gboolean
config_flag (const Config *self, const char *key, gboolean fallback)
{
  const FabYamlNode *node = config_get (self, key);

  if (node == NULL)
    return fallback;
  if (node->kind == FAB_YAML_SCALAR && g_str_equal (node->text, "true"))
    return TRUE;
  if (node->kind != FAB_YAML_SCALAR || !g_str_equal (node->text, "false"))
    fab_model_file_fail (self->out, node, "'%s' must be true or false", key);
  return FALSE;
}

/* Returns NULL when the key is absent or not a text. */
static const char *
config_text (const Config *self, const char *key)
{
  const FabYamlNode *node = config_get (self, key);

  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

static gboolean
config_pass (const Config *self, const char *key, const char *to)
{
  const FabYamlNode *node = config_get (self, key);

  if (node != NULL)
    fab_model_file_set_count (self->out, to, config_whole (self, key, 0), node);
  return node != NULL;
}

/* Copy a number to the key `to` of the shape. config_require reports an absent key; config_pass returns FALSE
 * for it. */
static void
config_require (const Config *self, const char *key, const char *to)
{
  if (!config_pass (self, key, to))
    fab_model_file_fail (self->out, self->config, "'%s' is missing; the config.json of a '%s' has it", key,
                         self->type);
}

/* Set a key of the shape to a value that the family fixes. */
static void
config_set (const Config *self, const char *to, const char *text)
{
  fab_model_file_set (self->out, to, text, self->config);
}

static void
config_set_flag (const Config *self, const char *to, gboolean value)
{
  config_set (self, to, value ? "true" : "false");
}

/* Reads tie_word_embeddings. */
static void
config_tie (const Config *self, gboolean fallback)
{
  config_set_flag (self, "tied", config_flag (self, "tie_word_embeddings", fallback));
}

/* Reads windows of attention. `layer_types` or a pattern says which blocks see all tokens: every n-th; else the family
 * does, or none. */
static void
read_windows (const Config *self)
{
  const FabYamlNode *types = config_get (self, "layer_types"), *window = config_get (self, "sliding_window");
  gboolean is_alternate = g_str_equal (self->type, "gemma2") || g_str_equal (self->type, "gpt_oss");
  gint64 every = config_whole (self, "sliding_window_pattern",
                               is_alternate                              ? 2
                               : g_str_has_prefix (self->type, "gemma3") ? 6
                                                                         : 0);

  if (!config_flag (self, "use_sliding_window", TRUE)
      || !config_pass (self, "sliding_window", "window.width"))
    return;
  for (guint i = 0; types != NULL && types->kind == FAB_YAML_SEQUENCE && i < types->n; i++)
    if (types->values[i]->kind == FAB_YAML_SCALAR
        && g_strcmp0 (types->values[i]->text, "full_attention") == 0) {
      every = i + 1;
      break;
    }
  if (every > 0)
    fab_model_file_set_count (self->out, "window.full_every", every, window);
}

/* Notes properties that change cost or size and are left out. */
static void
note_rest (const Config *self)
{
  if (config_whole (self, "num_nextn_predict_layers", 0) > 0)
    fab_model_file_note (self->out, "The layers for multi-token prediction are left out; mtp: 1 adds one.");
}

static void
read_dropout (const Config *self)
{
  static const char *const keys[] = { "resid_pdrop", "hidden_dropout_prob", "hidden_dropout", "dropout" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const char *text = config_text (self, keys[i]);

    if (text != NULL && g_ascii_strtod (text, NULL) > 0)
      fab_model_file_set (self->out, "dropout", "true", config_get (self, keys[i]));
  }
}

static const Family *
find_family (const char *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const Family *family = families[i]; family->type != NULL; family++)
      if (g_str_equal (family->type, type))
        return family;
  return NULL;
}

static void
fail_unknown (const Config *self, const FabYamlNode *at)
{
  g_autoptr (GPtrArray) types = g_ptr_array_new ();
  g_autofree char *all = NULL;
  const char *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const Family *family = families[i]; family->type != NULL; family++)
      g_ptr_array_add (types, (gpointer) family->type);
  g_ptr_array_add (types, NULL);
  all = g_strjoinv (", ", (char **) types->pdata);
  nearest = fab_model_file_nearest (self->out, self->type, (const char *const *) types->pdata);
  fab_model_file_fail (self->out, at, "unknown model_type '%s'%s%s; the known ones are %s", self->type,
                       nearest != NULL ? "; nearest is " : "", nearest != NULL ? nearest : "", all);
}

static void
huggingface_read (const FabYamlNode *root, FabModelFile *file)
{
  Config config = { .config = root, .out = file };
  const Family *family;

  config.type = config_text (&config, "model_type");
  if (config.type == NULL) {
    fab_model_file_fail (file, root,
                         "'model_type' is missing; this is not a config.json of Hugging Face "
                         "transformers");
    return;
  }
  family = find_family (config.type);
  if (family == NULL) {
    fail_unknown (&config, config_get (&config, "model_type"));
    return;
  }
  config_set (&config, "kind", "transformer");
  family->read (&config);
  read_dropout (&config);
  read_windows (&config);
  note_rest (&config);
}

const FabModelFileFormat fab_format_huggingface = {
  .key = "model_type",
  .name = "config.json of Hugging Face transformers",
  .read = huggingface_read,
};

/* Dense decoders with the structure of Llama: RMSNorm, a gated MLP, rotary positions, few biases or none.
 *
 * mistral equals llama. qwen2 has biases of queries, keys and values; qwen3 has norms of queries and keys. gemma has
 * tied embeddings and heads of 256, gemma2 four norms per block, gemma3 both. internlm has biases in the attention.
 * phi3 has fused matrices of the same size.
 */

/* Reads the keys of Llama: widths, heads, vocabulary; RMSNorm, a gated MLP, no biases. */
static void
config_read_llama (const Config *self)
{
  config_require (self, "num_hidden_layers", "layers");
  config_require (self, "hidden_size", "hidden");
  config_require (self, "num_attention_heads", "heads");
  config_pass (self, "num_key_value_heads", "kv_heads");
  config_pass (self, "head_dim", "head_dim");
  config_require (self, "intermediate_size", "feed_forward");
  config_require (self, "vocab_size", "vocabulary");
  config_set (self, "gated", "true");
  config_set (self, "biases", "false");
  config_set (self, "norm", "rms");
  config_tie (self, FALSE);
}

static void
set_attention_biases (const Config *self, gboolean fallback, const char *key)
{
  const char *choice = config_flag (self, key, fallback) ? "yes" : "no";

  config_set (self, "qkv_biases", choice);
  config_set (self, "projection_biases", choice);
}

static void
read_llama (const Config *self)
{
  config_read_llama (self);
  set_attention_biases (self, FALSE, "attention_bias");
  if (config_flag (self, "mlp_bias", FALSE))
    config_set (self, "biases", "true");
}

static void
read_internlm (const Config *self)
{
  config_read_llama (self);
  set_attention_biases (self, g_str_equal (self->type, "internlm"), "bias");
}

static void
read_qwen2 (const Config *self)
{
  config_read_llama (self);
  config_set (self, "qkv_biases", "yes");
}

static void
read_qwen3 (const Config *self)
{
  read_llama (self);
  if (config_get (self, "head_dim") == NULL)
    config_set (self, "head_dim", "128");
  config_set (self, "qk_norm", "true");
}

static void
read_gemma (const Config *self)
{
  read_llama (self);
  config_tie (self, TRUE);
  if (config_get (self, "head_dim") == NULL)
    config_set (self, "head_dim", "256");
}

static void
read_gemma2 (const Config *self)
{
  read_gemma (self);
  config_set (self, "norms", "4");
}

static void
read_gemma3 (const Config *self)
{
  read_gemma2 (self);
  config_set (self, "qk_norm", "true");
}

static const Family llamas[] = {
  { "llama", read_llama },
  { "mistral", read_llama },
  { "qwen2", read_qwen2 },
  { "qwen3", read_qwen3 },
  { "gemma", read_gemma },
  { "gemma2", read_gemma2 },
  { "gemma3_text", read_gemma3 },
  { "internlm", read_internlm },
  { "internlm2", read_internlm },
  { "phi3", read_llama },
  { NULL, NULL },
};

/* Decoders with experts: Mixtral, and Qwen's and DeepSeek's, the last with latent attention.
 *
 * The shared expert of qwen2_moe has a width of its own, a multiple of the other experts' width; it is written as
 * that many shared experts with a gate. The router of deepseek_v3 has a bias for each expert (topk_method noaux_tc).
 */

static void
read_mixtral (const Config *self)
{
  config_read_llama (self);
  config_require (self, "num_local_experts", "experts.count");
  config_require (self, "num_experts_per_tok", "experts.per_token");
}

static void
read_qwen_experts (const Config *self)
{
  const FabYamlNode *dense = config_get (self, "mlp_only_layers");

  config_read_llama (self);
  config_require (self, "num_experts", "experts.count");
  config_require (self, "num_experts_per_tok", "experts.per_token");
  config_require (self, "moe_intermediate_size", "experts.width");
  config_pass (self, "decoder_sparse_step", "experts.every");
  if (dense != NULL && dense->n > 0)
    fab_model_file_fail (self->out, dense,
                         "'mlp_only_layers' names single layers, which a transformer shape cannot express");
}

static void
read_qwen2_moe (const Config *self)
{
  const FabYamlNode *node = config_get (self, "shared_expert_intermediate_size");
  gint64 shared = config_whole (self, "shared_expert_intermediate_size", 0);
  gint64 width = config_whole (self, "moe_intermediate_size", 0);

  read_qwen_experts (self);
  config_set (self, "qkv_biases", "yes");
  if (shared == 0 || width == 0)
    return;
  if (shared % width != 0) {
    fab_model_file_fail (self->out, node, "the shared expert must be a multiple of moe_intermediate_size");
    return;
  }
  fab_model_file_set_count (self->out, "experts.shared", shared / width, node);
  config_set (self, "experts.shared_gate", "true");
}

static void
read_qwen3_moe (const Config *self)
{
  const char *biases = config_flag (self, "attention_bias", FALSE) ? "yes" : "no";

  read_qwen_experts (self);
  config_set (self, "qkv_biases", biases);
  config_set (self, "projection_biases", biases);
  config_set (self, "qk_norm", "true");
}

static void
read_deepseek_experts (const Config *self)
{
  config_pass (self, "n_routed_experts", "experts.count");
  config_require (self, "num_experts_per_tok", "experts.per_token");
  config_require (self, "moe_intermediate_size", "experts.width");
  config_pass (self, "n_shared_experts", "experts.shared");
  config_pass (self, "first_k_dense_replace", "experts.dense_layers");
  if (config_whole (self, "moe_layer_freq", 1) != 1)
    fab_model_file_fail (self->out, config_get (self, "moe_layer_freq"),
                         "'moe_layer_freq' other than 1 is not supported; no released model uses it");
}

static void
read_deepseek (const Config *self)
{
  config_read_llama (self);
  config_pass (self, "q_lora_rank", "latent.q_lora_rank");
  config_require (self, "kv_lora_rank", "latent.kv_lora_rank");
  config_require (self, "qk_nope_head_dim", "latent.qk_nope_head_dim");
  config_require (self, "qk_rope_head_dim", "latent.qk_rope_head_dim");
  config_require (self, "v_head_dim", "latent.v_head_dim");
  if (config_get (self, "n_routed_experts") != NULL)
    read_deepseek_experts (self);
}

static void
read_deepseek_v3 (const Config *self)
{
  read_deepseek (self);
  if (config_get (self, "n_routed_experts") != NULL)
    config_set (self, "experts.router_biases", "true");
}

/* Biases everywhere, sinks, and windows in every other block, of which the first has one. */
static void
read_gpt_oss (const Config *self)
{
  config_read_llama (self);
  config_set (self, "biases", "true");
  config_set (self, "sinks", "true");
  config_require (self, "num_local_experts", "experts.count");
  config_require (self,
                  config_get (self, "experts_per_token") != NULL ? "experts_per_token"
                                                                 : "num_experts_per_tok",
                  "experts.per_token");
  config_set (self, "experts.router_biases", "true");
}

/* Mamba-2, attention, MLP and experts, a block each, by the letters of `hybrid_override_pattern`; no MLP has a gate. */
static void
read_nemotron_h (const Config *self)
{
  const FabYamlNode *pattern = config_get (self, "hybrid_override_pattern");
  const FabYamlNode *node = config_get (self, "moe_shared_expert_intermediate_size");
  gint64 shared = config_whole (self, "moe_shared_expert_intermediate_size", 0);
  gint64 width = config_whole (self, "moe_intermediate_size", 0);

  config_read_llama (self);
  config_set (self, "gated", "false");
  if (pattern == NULL || pattern->kind != FAB_YAML_SCALAR) {
    fab_model_file_fail (self->out, self->config,
                         "'hybrid_override_pattern' is missing; it gives the kind of each block");
    return;
  }
  fab_model_file_set (self->out, "pattern", pattern->text, pattern);
  config_require (self, "mamba_num_heads", "mamba.heads");
  config_require (self, "mamba_head_dim", "mamba.head_dim");
  config_pass (self, "n_groups", "mamba.groups");
  config_require (self, "ssm_state_size", "mamba.state");
  config_pass (self, "conv_kernel", "mamba.convolution");
  config_pass (self, "chunk_size", "mamba.chunk");
  if (strchr (pattern->text, 'E') == NULL)
    return;
  config_require (self, "n_routed_experts", "experts.count");
  config_require (self, "num_experts_per_tok", "experts.per_token");
  config_require (self, "moe_intermediate_size", "experts.width");
  config_pass (self, "moe_latent_size", "experts.latent");
  config_set (self, "experts.router_biases", "true");
  if (shared > 0 && width > 0 && shared % width != 0)
    fab_model_file_fail (self->out, node, "the shared expert must be a multiple of moe_intermediate_size");
  else if (shared > 0 && width > 0)
    fab_model_file_set_count (self->out, "experts.shared", shared / width, node);
}

static const Family experts[] = {
  { "gpt_oss", read_gpt_oss },         { "nemotron_h", read_nemotron_h }, { "mixtral", read_mixtral },
  { "qwen2_moe", read_qwen2_moe },     { "qwen3_moe", read_qwen3_moe },   { "deepseek_v2", read_deepseek },
  { "deepseek_v3", read_deepseek_v3 }, { "kimi_k2", read_deepseek_v3 },   { NULL, NULL },
};

/* GPT and similar models, with LayerNorm and mostly with biases, and BERT.
 *
 * Falcon: a block has one norm when attention and MLP run in parallel and share it (7B), otherwise two; matrices have
 * no biases, norms do. MPT: learned positions unless it uses ALiBi or rotary positions. OPT: two more positions than
 * the file says. Phi: one norm for attention and MLP, biases of the output. BERT: its architecture name says which
 * heads it has.
 */

static void
read_gpt2 (const Config *self)
{
  config_require (self, "n_layer", "layers");
  config_require (self, "n_embd", "hidden");
  config_require (self, "n_head", "heads");
  config_pass (self, "n_inner", "feed_forward");
  config_require (self, "vocab_size", "vocabulary");
  config_require (self, "n_positions", "positions");
  config_tie (self, TRUE);
}

static void
read_plain (const Config *self)
{
  config_require (self, "num_hidden_layers", "layers");
  config_require (self, "hidden_size", "hidden");
  config_require (self, "num_attention_heads", "heads");
  config_require (self, "vocab_size", "vocabulary");
}

static void
read_gpt_neox (const Config *self)
{
  read_plain (self);
  config_require (self, "intermediate_size", "feed_forward");
  if (!config_flag (self, "attention_bias", TRUE)) {
    config_set (self, "qkv_biases", "no");
    config_set (self, "projection_biases", "no");
  }
  config_tie (self, FALSE);
}

static void
read_phi (const Config *self)
{
  read_plain (self);
  config_pass (self, "num_key_value_heads", "kv_heads");
  config_require (self, "intermediate_size", "feed_forward");
  config_set (self, "norms", "1");
  config_set (self, "ends.output_biases", "true");
  config_tie (self, FALSE);
}

static void
read_opt (const Config *self)
{
  const FabYamlNode *projected = config_get (self, "word_embed_proj_dim");
  const FabYamlNode *positions = config_get (self, "max_position_embeddings");

  read_plain (self);
  config_require (self, "ffn_dim", "feed_forward");
  config_require (self, "max_position_embeddings", "positions");
  if (positions != NULL)
    fab_model_file_set_count (self->out, "positions", config_whole (self, "max_position_embeddings", 0) + 2,
                              positions);
  if (projected != NULL
      && config_whole (self, "word_embed_proj_dim", 0) != config_whole (self, "hidden_size", 0))
    fab_model_file_fail (self->out, projected,
                         "embeddings narrower than the model are not supported by a transformer shape");
  config_set_flag (self, "biases", config_flag (self, "enable_bias", TRUE));
  config_set (self, "norm", "layer");
  config_tie (self, TRUE);
}

static void
read_bloom (const Config *self)
{
  config_require (self, "n_layer", "layers");
  config_require (self, config_get (self, "n_embed") != NULL ? "n_embed" : "hidden_size", "hidden");
  config_require (self, config_get (self, "num_attention_heads") != NULL ? "num_attention_heads" : "n_head",
                  "heads");
  config_require (self, "vocab_size", "vocabulary");
  config_set (self, "ends.embedding_norm", "true");
  config_tie (self, TRUE);
}

static void
read_mpt (const Config *self)
{
  Config attention = { config_get (self, "attn_config"), self->out, self->type };
  gboolean has_positions = config_flag (self, "learned_pos_emb", TRUE);
  gint64 ratio = config_whole (self, "expansion_ratio", 4), width = config_whole (self, "d_model", 0);

  config_require (self, "n_layers", "layers");
  config_require (self, "d_model", "hidden");
  config_require (self, "n_heads", "heads");
  config_require (self, "vocab_size", "vocabulary");
  config_set_flag (self, "biases", !config_flag (self, "no_bias", FALSE));
  if (ratio > 0 && width > 0)
    fab_model_file_set_count (self->out, "feed_forward", ratio * width, config_get (self, "d_model"));
  config_pass (&attention, "kv_n_heads", "kv_heads");
  if (has_positions && !config_flag (&attention, "alibi", FALSE) && !config_flag (&attention, "rope", FALSE))
    config_require (self, "max_seq_len", "positions");
  config_tie (self, TRUE);
}

static void
read_falcon (const Config *self)
{
  gboolean is_new = config_flag (self, "new_decoder_architecture", FALSE);
  gboolean is_parallel = config_flag (self, "parallel_attn", TRUE);
  gint64 shared = config_whole (self, "num_ln_in_parallel_attn", is_new ? 2 : 1);

  read_plain (self);
  if (is_new)
    config_pass (self, "num_kv_heads", "kv_heads");
  else if (config_flag (self, "multi_query", TRUE))
    config_set (self, "kv_heads", "1");
  config_pass (self, "ffn_hidden_size", "feed_forward");
  config_set_flag (self, "biases", config_flag (self, "bias", FALSE));
  config_set (self, "norm", "layer");
  config_set (self, "norms", is_parallel && shared == 1 ? "1" : "2");
  config_tie (self, TRUE);
}

static gboolean
has_architecture (const Config *self, const char *name)
{
  const FabYamlNode *list = config_get (self, "architectures");

  for (guint i = 0; list != NULL && list->kind == FAB_YAML_SEQUENCE && i < list->n; i++)
    if (list->values[i]->kind == FAB_YAML_SCALAR && g_strcmp0 (list->values[i]->text, name) == 0)
      return TRUE;
  return FALSE;
}

static void
read_bert (const Config *self)
{
  gboolean is_whole = has_architecture (self, "BertForPreTraining"),
           is_masked = has_architecture (self, "BertForMaskedLM");

  read_plain (self);
  config_require (self, "intermediate_size", "feed_forward");
  config_require (self, "max_position_embeddings", "positions");
  if (!config_pass (self, "type_vocab_size", "ends.token_types"))
    config_set (self, "ends.token_types", "2");
  config_set (self, "ends.embedding_norm", "true");
  config_set (self, "ends.final_norm", "false");
  config_set_flag (self, "ends.pooler", !is_masked);
  config_set (self, "ends.classes", is_whole ? "2" : "0");
  config_set_flag (self, "ends.head_transform", is_whole || is_masked);
  config_set_flag (self, "ends.output_biases", is_whole || is_masked);
  config_tie (self, TRUE);
  if (!is_whole && !is_masked)
    fab_model_file_note (self->out, "The model has no language-model head; the FLOPs of one are counted "
                                    "nevertheless.");
}

static const Family others[] = {
  { "gpt2", read_gpt2 },   { "gpt_neox", read_gpt_neox }, { "opt", read_opt },
  { "bloom", read_bloom }, { "mpt", read_mpt },           { "falcon", read_falcon },
  { "phi", read_phi },     { "bert", read_bert },         { NULL, NULL },
};

/* --- as a file that `import` reads --- */

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_first (text) == '{'
      && (fab_file_text_has (text, "\"model_type\"") || fab_file_text_has (text, "\"architectures\""));
}

static char *
fragment (const FabImportRequest *request, GError **error)
{
  return fab_model_file_fragment (request->file.name, request->name, request->file.text, request->file.size,
                                  request->registry, error);
}

const FabFileFormat fab_file_huggingface = {
  .name = "huggingface",
  .tool = "config.json of a model",
  .help = "config.json of a model; becomes an entry of `models`, for `include` of a scenario",
  .kind = FAB_FILE_MODEL,
  .recognises = recognises,
  .read.model = fragment,
};
