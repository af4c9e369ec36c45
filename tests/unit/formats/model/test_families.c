/* SPDX-License-Identifier: Apache-2.0 */
/* test_families.c - what a config.json of each family of Hugging Face transformers becomes, key by key: what it says,
 * what its configuration class has where it says nothing, and what is missing or wrong. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/model_file.h"

/* --- a config.json, and the shape that is made of it --- */

#define LLAMA                                                                                             \
  "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"num_attention_heads\": 2, \"intermediate_size\": 16, " \
  "\"vocab_size\": 10"
#define LLAMA_SHAPE "layers=2 hidden=8 heads=2 feed_forward=16 vocabulary=10 gated=true norm=rms "
#define EXPERTS "\"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8"
#define EXPERTS_SHAPE "experts.count=4 experts.per_token=2 experts.width=8 "
#define LATENT "\"kv_lora_rank\": 4, \"qk_nope_head_dim\": 4, \"qk_rope_head_dim\": 2, \"v_head_dim\": 4"
#define LATENT_SHAPE \
  "latent.kv_lora_rank=4 latent.qk_nope_head_dim=4 latent.qk_rope_head_dim=2 latent.v_head_dim=4 "
#define ROUTED "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8"
#define PLAIN "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"num_attention_heads\": 2, \"vocab_size\": 10"
#define PLAIN_SHAPE "layers=2 hidden=8 heads=2 vocabulary=10 "
#define GPT2 "\"n_layer\": 2, \"n_embd\": 8, \"n_head\": 2, \"vocab_size\": 10, \"n_positions\": 6"
#define GPT2_SHAPE "layers=2 hidden=8 heads=2 vocabulary=10 positions=6 tied=true "
#define BLOOM "\"n_layer\": 2, \"hidden_size\": 8, \"n_head\": 2, \"vocab_size\": 10"
#define MPT "\"n_layers\": 2, \"d_model\": 8, \"n_heads\": 2, \"vocab_size\": 10, \"max_seq_len\": 6"
#define HYBRID \
  LLAMA        \
  ", \"hybrid_override_pattern\": \"M*\", \"mamba_num_heads\": 2, \"mamba_head_dim\": 4, \"ssm_state_size\": 3"
#define WITH_EXPERTS \
  LLAMA              \
  ", \"hybrid_override_pattern\": \"ME\", \"mamba_num_heads\": 2, \"mamba_head_dim\": 4, \"ssm_state_size\": 3, "
#define HYBRID_SHAPE                                                                                             \
  "layers=2 hidden=8 heads=2 feed_forward=16 vocabulary=10 gated=false norm=rms mamba.heads=2 mamba.head_dim=4 " \
  "mamba.state=3 "
#define BERT PLAIN ", \"intermediate_size\": 16, \"max_position_embeddings\": 6"
#define BERT_SHAPE \
  PLAIN_SHAPE "feed_forward=16 positions=6 ends.embedding_norm=true ends.final_norm=false tied=true "
#define NO_BIASES "biases=false tied=false "
#define OPEN "qkv_biases=no projection_biases=no "
#define BOTH "qkv_biases=yes projection_biases=yes "

typedef struct {
  const char *type, *keys; /* of the configuration */
  const char *shape;       /* of the model, in any order */
} Case;

/* The first of each type has no more keys than it needs. */
static const Case cases[] = {
  { "llama", LLAMA, LLAMA_SHAPE NO_BIASES OPEN },
  { "llama", LLAMA ", \"num_key_value_heads\": 1, \"head_dim\": 16",
    LLAMA_SHAPE NO_BIASES OPEN "kv_heads=1 head_dim=16 " },
  { "llama", LLAMA ", \"num_key_value_heads\": null", LLAMA_SHAPE NO_BIASES OPEN },
  { "llama", LLAMA ", \"attention_bias\": true", LLAMA_SHAPE NO_BIASES BOTH },
  { "llama", LLAMA ", \"mlp_bias\": true", LLAMA_SHAPE "biases=true tied=false " OPEN },
  { "llama", LLAMA ", \"mlp_bias\": false, \"tie_word_embeddings\": true",
    LLAMA_SHAPE "biases=false tied=true " OPEN },
  { "llama", LLAMA ", \"sliding_window\": 5", LLAMA_SHAPE NO_BIASES OPEN "window.width=5 " },
  { "llama", LLAMA ", \"sliding_window\": null", LLAMA_SHAPE NO_BIASES OPEN },
  { "llama", LLAMA ", \"sliding_window\": 5, \"use_sliding_window\": false", LLAMA_SHAPE NO_BIASES OPEN },
  { "llama", LLAMA ", \"sliding_window\": 5, \"sliding_window_pattern\": 4",
    LLAMA_SHAPE NO_BIASES OPEN "window.width=5 window.full_every=4 " },
  { "llama",
    LLAMA ", \"sliding_window\": 5, \"layer_types\": [\"sliding_attention\", \"sliding_attention\", "
          "\"full_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"]",
    LLAMA_SHAPE NO_BIASES OPEN "window.width=5 window.full_every=3 " },
  { "llama", LLAMA ", \"sliding_window\": 5, \"layer_types\": [\"sliding_attention\"]",
    LLAMA_SHAPE NO_BIASES OPEN "window.width=5 " },
  { "llama", LLAMA ", \"resid_pdrop\": 0.1", LLAMA_SHAPE NO_BIASES OPEN "dropout=true " },
  { "llama", LLAMA ", \"hidden_dropout_prob\": 0.1", LLAMA_SHAPE NO_BIASES OPEN "dropout=true " },
  { "llama", LLAMA ", \"hidden_dropout\": 0.1", LLAMA_SHAPE NO_BIASES OPEN "dropout=true " },
  { "llama", LLAMA ", \"dropout\": 0.1, \"resid_pdrop\": 0.0", LLAMA_SHAPE NO_BIASES OPEN "dropout=true " },
  { "llama", LLAMA ", \"dropout\": 0.0, \"attention_dropout\": 0.1", LLAMA_SHAPE NO_BIASES OPEN },
  { "mistral", LLAMA, LLAMA_SHAPE NO_BIASES OPEN },
  { "phi3", LLAMA, LLAMA_SHAPE NO_BIASES OPEN },
  { "qwen2", LLAMA, LLAMA_SHAPE NO_BIASES "qkv_biases=yes " },
  { "qwen3", LLAMA, LLAMA_SHAPE NO_BIASES OPEN "head_dim=128 qk_norm=true " },
  { "qwen3", LLAMA ", \"head_dim\": 4, \"attention_bias\": true",
    LLAMA_SHAPE NO_BIASES BOTH "head_dim=4 qk_norm=true " },
  { "gemma", LLAMA, LLAMA_SHAPE "biases=false tied=true head_dim=256 " OPEN },
  { "gemma", LLAMA ", \"head_dim\": 4, \"tie_word_embeddings\": false",
    LLAMA_SHAPE NO_BIASES "head_dim=4 " OPEN },
  { "gemma2", LLAMA, LLAMA_SHAPE "biases=false tied=true head_dim=256 norms=4 " OPEN },
  { "gemma2", LLAMA ", \"sliding_window\": 5",
    LLAMA_SHAPE "biases=false tied=true head_dim=256 norms=4 window.width=5 window.full_every=2 " OPEN },
  { "gemma3_text", LLAMA, LLAMA_SHAPE "biases=false tied=true head_dim=256 norms=4 qk_norm=true " OPEN },
  { "gemma3_text", LLAMA ", \"sliding_window\": 5",
    LLAMA_SHAPE
    "biases=false tied=true head_dim=256 norms=4 qk_norm=true window.width=5 window.full_every=6 " OPEN },
  { "internlm", LLAMA, LLAMA_SHAPE NO_BIASES BOTH },
  { "internlm", LLAMA ", \"bias\": false", LLAMA_SHAPE NO_BIASES OPEN },
  { "internlm2", LLAMA, LLAMA_SHAPE NO_BIASES OPEN },
  { "internlm2", LLAMA ", \"bias\": true", LLAMA_SHAPE NO_BIASES BOTH },
  { "mixtral", LLAMA ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2",
    LLAMA_SHAPE NO_BIASES "experts.count=4 experts.per_token=2 " },
  { "qwen2_moe", LLAMA ", " EXPERTS, LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE "qkv_biases=yes " },
  { "qwen2_moe", LLAMA ", " EXPERTS ", \"shared_expert_intermediate_size\": 24",
    LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE "qkv_biases=yes experts.shared=3 experts.shared_gate=true " },
  { "qwen2_moe", LLAMA ", " EXPERTS ", \"shared_expert_intermediate_size\": 0",
    LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE "qkv_biases=yes " },
  { "qwen2_moe",
    LLAMA ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 1, "
          "\"shared_expert_intermediate_size\": 1",
    LLAMA_SHAPE NO_BIASES
    "experts.count=4 experts.per_token=2 experts.width=1 qkv_biases=yes experts.shared=1 "
    "experts.shared_gate=true " },
  { "qwen2_moe", LLAMA ", " EXPERTS ", \"decoder_sparse_step\": 2, \"mlp_only_layers\": []",
    LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE "qkv_biases=yes experts.every=2 " },
  { "qwen3_moe", LLAMA ", " EXPERTS, LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE OPEN "qk_norm=true " },
  { "qwen3_moe", LLAMA ", " EXPERTS ", \"attention_bias\": true",
    LLAMA_SHAPE NO_BIASES EXPERTS_SHAPE BOTH "qk_norm=true " },
  { "deepseek_v2", LLAMA ", " LATENT, LLAMA_SHAPE NO_BIASES LATENT_SHAPE },
  { "deepseek_v2", LLAMA ", " LATENT ", \"q_lora_rank\": 5, " ROUTED,
    LLAMA_SHAPE NO_BIASES LATENT_SHAPE EXPERTS_SHAPE "latent.q_lora_rank=5 " },
  { "deepseek_v2",
    LLAMA ", " LATENT ", " ROUTED ", \"n_shared_experts\": 3, \"first_k_dense_replace\": 1, "
          "\"moe_layer_freq\": 1",
    LLAMA_SHAPE NO_BIASES LATENT_SHAPE EXPERTS_SHAPE "experts.shared=3 experts.dense_layers=1 " },
  { "deepseek_v3", LLAMA ", " LATENT, LLAMA_SHAPE NO_BIASES LATENT_SHAPE },
  { "deepseek_v3", LLAMA ", " LATENT ", " ROUTED,
    LLAMA_SHAPE NO_BIASES LATENT_SHAPE EXPERTS_SHAPE "experts.router_biases=true " },
  { "kimi_k2", LLAMA ", " LATENT, LLAMA_SHAPE NO_BIASES LATENT_SHAPE },
  { "gpt_oss", LLAMA ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2",
    LLAMA_SHAPE
    "biases=true tied=false sinks=true experts.count=4 experts.per_token=2 experts.router_biases=true " },
  { "gpt_oss", LLAMA ", \"num_local_experts\": 4, \"experts_per_token\": 3, \"sliding_window\": 5",
    LLAMA_SHAPE
    "biases=true tied=false sinks=true experts.count=4 experts.per_token=3 experts.router_biases=true "
    "window.width=5 window.full_every=2 " },
  { "nemotron_h", HYBRID, HYBRID_SHAPE NO_BIASES "pattern=M* " },
  { "nemotron_h", HYBRID ", \"n_groups\": 1, \"conv_kernel\": 4, \"chunk_size\": 16",
    HYBRID_SHAPE NO_BIASES "pattern=M* mamba.groups=1 mamba.convolution=4 mamba.chunk=16 " },
  { "nemotron_h", WITH_EXPERTS ROUTED,
    HYBRID_SHAPE NO_BIASES EXPERTS_SHAPE "pattern=ME experts.router_biases=true " },
  { "nemotron_h", WITH_EXPERTS ROUTED ", \"moe_shared_expert_intermediate_size\": 16, \"moe_latent_size\": 4",
    HYBRID_SHAPE NO_BIASES EXPERTS_SHAPE
    "pattern=ME experts.router_biases=true experts.shared=2 experts.latent=4 " },
  { "nemotron_h", WITH_EXPERTS ROUTED ", \"moe_shared_expert_intermediate_size\": 0",
    HYBRID_SHAPE NO_BIASES EXPERTS_SHAPE "pattern=ME experts.router_biases=true " },
  { "gpt2", GPT2, GPT2_SHAPE },
  { "gpt2", GPT2 ", \"n_inner\": 16", GPT2_SHAPE "feed_forward=16 " },
  { "gpt_neox", PLAIN ", \"intermediate_size\": 16", PLAIN_SHAPE "feed_forward=16 tied=false " },
  { "gpt_neox", PLAIN ", \"intermediate_size\": 16, \"attention_bias\": false",
    PLAIN_SHAPE "feed_forward=16 tied=false " OPEN },
  { "phi", PLAIN ", \"intermediate_size\": 16",
    PLAIN_SHAPE "feed_forward=16 norms=1 ends.output_biases=true tied=false " },
  { "phi", PLAIN ", \"intermediate_size\": 16, \"num_key_value_heads\": 1",
    PLAIN_SHAPE "feed_forward=16 norms=1 ends.output_biases=true tied=false kv_heads=1 " },
  { "opt", PLAIN ", \"ffn_dim\": 16, \"max_position_embeddings\": 6",
    PLAIN_SHAPE "feed_forward=16 positions=8 biases=true norm=layer tied=true " },
  { "opt",
    PLAIN
    ", \"ffn_dim\": 16, \"max_position_embeddings\": 6, \"enable_bias\": false, \"word_embed_proj_dim\": 8",
    PLAIN_SHAPE "feed_forward=16 positions=8 biases=false norm=layer tied=true " },
  { "bloom", BLOOM, PLAIN_SHAPE "ends.embedding_norm=true tied=true " },
  { "bloom", "\"n_layer\": 2, \"n_embed\": 8, \"num_attention_heads\": 2, \"vocab_size\": 10",
    PLAIN_SHAPE "ends.embedding_norm=true tied=true " },
  { "mpt", MPT, PLAIN_SHAPE "biases=true feed_forward=32 positions=6 tied=true " },
  { "mpt", MPT ", \"no_bias\": true, \"expansion_ratio\": 2, \"attn_config\": {\"kv_n_heads\": 1}",
    PLAIN_SHAPE "biases=false feed_forward=16 positions=6 tied=true kv_heads=1 " },
  { "mpt", MPT ", \"learned_pos_emb\": false", PLAIN_SHAPE "biases=true feed_forward=32 tied=true " },
  { "mpt", MPT ", \"attn_config\": {\"alibi\": true}", PLAIN_SHAPE "biases=true feed_forward=32 tied=true " },
  { "mpt", MPT ", \"attn_config\": {\"rope\": true}", PLAIN_SHAPE "biases=true feed_forward=32 tied=true " },
  { "mpt", MPT ", \"attn_config\": {\"alibi\": false, \"rope\": false}",
    PLAIN_SHAPE "biases=true feed_forward=32 positions=6 tied=true " },
  { "falcon", PLAIN, PLAIN_SHAPE "kv_heads=1 biases=false norm=layer norms=1 tied=true " },
  { "falcon",
    PLAIN ", \"multi_query\": false, \"parallel_attn\": false, \"bias\": true, \"ffn_hidden_size\": 16",
    PLAIN_SHAPE "biases=true norm=layer norms=2 tied=true feed_forward=16 " },
  { "falcon", PLAIN ", \"new_decoder_architecture\": true, \"num_kv_heads\": 2",
    PLAIN_SHAPE "kv_heads=2 biases=false norm=layer norms=2 tied=true " },
  { "falcon",
    PLAIN ", \"new_decoder_architecture\": true, \"num_kv_heads\": 2, \"num_ln_in_parallel_attn\": 1",
    PLAIN_SHAPE "kv_heads=2 biases=false norm=layer norms=1 tied=true " },
  { "bert", BERT,
    BERT_SHAPE "ends.token_types=2 ends.pooler=true ends.classes=0 ends.head_transform=false "
               "ends.output_biases=false " },
  { "bert", BERT ", \"type_vocab_size\": 3, \"architectures\": [\"BertForMaskedLM\"]",
    BERT_SHAPE
    "ends.token_types=3 ends.pooler=false ends.classes=0 ends.head_transform=true ends.output_biases=true " },
  { "bert", BERT ", \"architectures\": [\"BertModel\", \"BertForPreTraining\"]",
    BERT_SHAPE
    "ends.token_types=2 ends.pooler=true ends.classes=2 ends.head_transform=true ends.output_biases=true " },
};

static char *
config_text (const char *type, const char *keys)
{
  return g_strdup_printf ("{\n\"model_type\": \"%s\",\n%s\n}\n", type, keys);
}

static char *
fragment_of (const char *config, GError **error)
{
  return fab_model_file_fragment ("config.json", NULL, config, strlen (config), &fab_models, error);
}

static gint
compare_words (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* "layers=2 experts.count=4 ..." of the lines of the shape, which are indented by six blanks and more, sorted. */
static char *
flat_shape (const char *fragment)
{
  g_auto (GStrv) lines = g_strsplit (fragment, "\n", -1);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  const char *section = "";

  for (guint i = 0; lines[i] != NULL; i++) {
    gsize blanks = strspn (lines[i], " ");
    char *colon = strstr (lines[i] + blanks, ":");

    if (blanks < 6 || colon == NULL)
      continue;
    *colon = '\0';
    if (colon[1] == '\0')
      section = lines[i] + blanks;
    else if (strcmp (lines[i] + blanks, "kind") != 0)
      g_ptr_array_add (found, blanks > 6 ? g_strdup_printf ("%s.%s=%s", section, lines[i] + blanks, colon + 2)
                                         : g_strdup_printf ("%s=%s", lines[i] + blanks, colon + 2));
  }
  g_ptr_array_sort (found, compare_words);
  g_ptr_array_add (found, NULL);
  return g_strjoinv (" ", (char **) found->pdata);
}

static char *
sorted (const char *words)
{
  g_auto (GStrv) all = g_strsplit (words, " ", -1);
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  for (guint i = 0; all[i] != NULL; i++)
    if (all[i][0] != '\0')
      g_ptr_array_add (found, all[i]);
  g_ptr_array_sort (found, compare_words);
  g_ptr_array_add (found, NULL);
  return g_strjoinv (" ", (char **) found->pdata);
}

static void
each_family_has_its_shape (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *config = config_text (cases[i].type, cases[i].keys),
                    *made = fragment_of (config, &error);

    if (made == NULL)
      fail_msg ("%s: %s", config, error->message);
    g_autofree char *found = flat_shape (made), *wanted = sorted (cases[i].shape);
    if (strcmp (found, wanted) != 0)
      fail_msg ("%s:\n%s\nand not\n%s", config, found, wanted);
  }
}

/* --- what is missing or wrong --- */

static void
assert_refused (const char *type, const char *keys, const char *said)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *config = config_text (type, keys), *made = fragment_of (config, &error);

  if (made != NULL || strstr (error->message, said) == NULL)
    fail_msg ("'%s' is not said of %s: %s", said, config, made == NULL ? error->message : "nothing");
}

/* Each key of the first case of a type: without it, with a text, and with a number above the limit. */
static void
a_family_needs_its_keys (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (GStrv) keys = g_strsplit (cases[i].keys, ", ", -1);

    if (i > 0 && strcmp (cases[i].type, cases[i - 1].type) == 0)
      continue;
    for (guint k = 0; keys[k] != NULL; k++) {
      g_autofree char *kept = g_steal_pointer (&keys[k]);
      g_autofree char *name = g_strndup (kept + 1, strcspn (kept + 1, "\""));
      g_autofree char *missing =
          strcmp (name, "hybrid_override_pattern") == 0
              ? g_strdup ("'hybrid_override_pattern' is missing; it gives the kind of each block")
              : g_strdup_printf ("'%s' is missing; the config.json of a '%s' has it", name, cases[i].type);
      g_autofree char *number = g_strdup_printf (
          "config.json:3:%u: '%s' must be a whole number from 0 to 100000000", (guint) strlen (name) + 5,
          name);

      keys[k] = g_strdup_printf ("\"unknown%u\": 0", k);
      g_autofree char *without = g_strjoinv (", ", keys);
      assert_refused (cases[i].type, without, missing);
      for (guint wrong = 0; wrong < 3 && strcmp (name, "hybrid_override_pattern") != 0; wrong++) {
        g_free (keys[k]);
        keys[k] = g_strdup ("\"unknown\": 0");
        g_autofree char *rest = g_strjoinv (", ", keys);
        g_autofree char *text = g_strdup_printf ("\"%s\": %s,\n%s", name,
                                                 wrong == 0   ? "\"2\""
                                                 : wrong == 1 ? "100000001"
                                                              : "[2]",
                                                 rest);
        assert_refused (cases[i].type, text, number);
      }
      g_free (keys[k]);
      keys[k] = g_steal_pointer (&kept);
    }
  }
}

static void
what_no_shape_can_say_is_refused (G_GNUC_UNUSED void **state)
{
  static const Case wrong[] = {
    { "llama", LLAMA ",\n\"attention_bias\": 1", "config.json:4:19: 'attention_bias' must be true or false" },
    { "llama", LLAMA ",\n\"mlp_bias\": \"yes\"", "config.json:4:13: 'mlp_bias' must be true or false" },
    { "llama", LLAMA ",\n\"tie_word_embeddings\": []",
      "config.json:4:24: 'tie_word_embeddings' must be true or false" },
    { "llama", LLAMA ",\n\"sliding_window_pattern\": -1",
      "config.json:4:27: 'sliding_window_pattern' must be a whole number from 0 to 100000000" },
    { "qwen2_moe", LLAMA ", " EXPERTS ",\n\"shared_expert_intermediate_size\": 12",
      "config.json:4:36: the shared expert must be a multiple of moe_intermediate_size" },
    { "qwen2_moe", LLAMA ", " EXPERTS ",\n\"mlp_only_layers\": [0]",
      "config.json:4:20: 'mlp_only_layers' names single layers, which a transformer shape cannot express" },
    { "deepseek_v3", LLAMA ", " LATENT ", " ROUTED ",\n\"moe_layer_freq\": 2",
      "config.json:4:19: 'moe_layer_freq' other than 1 is not supported; no released model uses it" },
    { "deepseek_v3", LLAMA ", " LATENT ", \"n_routed_experts\": 4, \"moe_intermediate_size\": 8",
      "'num_experts_per_tok' is missing; the config.json of a 'deepseek_v3' has it" },
    { "deepseek_v3", LLAMA ", " LATENT ", \"n_routed_experts\": 4, \"num_experts_per_tok\": 2",
      "'moe_intermediate_size' is missing; the config.json of a 'deepseek_v3' has it" },
    { "nemotron_h", WITH_EXPERTS ROUTED ",\n\"moe_shared_expert_intermediate_size\": 12",
      "config.json:4:40: the shared expert must be a multiple of moe_intermediate_size" },
    { "nemotron_h", WITH_EXPERTS "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8",
      "'n_routed_experts' is missing; the config.json of a 'nemotron_h' has it" },
    { "nemotron_h", WITH_EXPERTS "\"n_routed_experts\": 4, \"moe_intermediate_size\": 8",
      "'num_experts_per_tok' is missing; the config.json of a 'nemotron_h' has it" },
    { "nemotron_h", WITH_EXPERTS "\"n_routed_experts\": 4, \"num_experts_per_tok\": 2",
      "'moe_intermediate_size' is missing; the config.json of a 'nemotron_h' has it" },
    { "opt", PLAIN ", \"ffn_dim\": 16, \"max_position_embeddings\": 6,\n\"word_embed_proj_dim\": 4",
      "config.json:4:24: embeddings narrower than the model are not supported by a transformer shape" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    assert_refused (wrong[i].type, wrong[i].keys, wrong[i].shape);
}

/* What changes cost or size and is left out is said above the model. */
static void
what_is_left_out_is_noted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *type, *keys, *note;
    gboolean is_noted;
  } notes[] = {
    { "deepseek_v3", LLAMA ", " LATENT ", \"num_nextn_predict_layers\": 1",
      "multi-token prediction are left out", TRUE },
    { "deepseek_v3", LLAMA ", " LATENT ", \"num_nextn_predict_layers\": 0", "multi-token prediction", FALSE },
    { "deepseek_v3", LLAMA ", " LATENT, "multi-token prediction", FALSE },
    { "bert", BERT, "The model has no language-model head", TRUE },
    { "bert", BERT ", \"architectures\": [\"BertForMaskedLM\"]", "language-model head", FALSE },
    { "bert", BERT ", \"architectures\": [\"BertForPreTraining\"]", "language-model head", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (notes); i++) {
    g_autofree char *config = config_text (notes[i].type, notes[i].keys), *made = fragment_of (config, NULL);

    assert_non_null (made);
    assert_true ((strstr (made, notes[i].note) != NULL) == notes[i].is_noted);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_family_has_its_shape),
    cmocka_unit_test (a_family_needs_its_keys),
    cmocka_unit_test (what_no_shape_can_say_is_refused),
    cmocka_unit_test (what_is_left_out_is_noted),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
