/* SPDX-License-Identifier: Apache-2.0 */
/* test_huggingface.c - config.json of public models gives the parameters that were published for them, in a scenario
 * and as a fragment, and what is wrong in one is said at its place.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/scenario.h"

#define FIXTURES FAB_SOURCE_DIR "/tests/fixtures/huggingface/"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  return catalog != NULL ? 0 : -1;
}

static int
free_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (catalog);
  return 0;
}

static FabScenario *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("test", text, strlen (text), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static guint64
parameters_of (const FabScenario *scenario, const char *name)
{
  const FabModelSpec *model = fab_catalog_model (fab_scenario_catalog (scenario), name);
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  assert_non_null (model);
  ((const FabShapeOps *) model->shape.info)->expand (model->shape.params, 128, stack);
  return stack->parameters;
}

/* What sum (p.numel () for p in model.parameters ()) gives: from the model cards; each is also what the dimensions
 * make by hand. */
static const struct {
  const char *name;
  guint64 parameters;
} published[] = {
  { "gpt2", 124439808 },
  { "llama-2-7b", 6738415616 },
  { "llama-3.1-70b", 70553706496 },
  { "llama-3.2-1b", 1235814400 },
  { "mistral-7b-v0.1", 7241732096 },
  { "mixtral-8x7b-v0.1", 46702792704 },
  { "qwen2.5-7b", 7615616512 },
  { "qwen3-8b", 8190735360 },
  { "qwen3-30b-a3b", 30532122624 },
  { "qwen1.5-moe-a2.7b", 14315784192 },
  { "gpt-neox-20b", 20554567680 },
  { "mpt-7b", 6649286656 },
  { "bert-base-uncased", 109514298 },
  { "falcon-7b", 6921720704 },
  { "falcon-40b", 41303293952 },
  { "gemma-7b", 8537680896 },
  { "gemma-2-9b", 9241705984 },
  { "deepseek-v2-lite", 15706484224 },
  { "deepseek-v3", 671026419200 },
  { "phi-3-mini-4k", 3821079552 },
  { "phi-2", 2779683840 },
  { "opt-125m", 125239296 },
  { "internlm2-7b", 7737708544 },
  { "bloom-560m", 559214592 },
  { "gpt-oss-20b", 20914757184 },
  { "nemotron-3-nano-30b-a3b", 31577940288 },
};

static void
configs_have_the_published_parameters (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (published); i++) {
    g_autofree char *text = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100}\njob: {kind: ddp, model: %s%s.json}\n", FIXTURES,
        published[i].name);
    g_autoptr (FabScenario) scenario = parse (text);
    guint64 parameters = parameters_of (scenario, published[i].name);

    if (parameters != published[i].parameters)
      fail_msg ("%s has %" G_GUINT64_FORMAT " parameters, not %" G_GUINT64_FORMAT, published[i].name,
                parameters, published[i].parameters);
  }
}

/* It holds the entry, so that it no longer needs the file. */
static void
the_resolved_scenario_stands_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = parse (
      "name: t\ncluster: {node: dgx-h100}\njob: {kind: ddp, model: " FIXTURES "gpt2.json}\n"
      "models: [{name: gpt2, shape: {kind: layers, layers: [{tensors: [{parameters: 5}]}]}}]\n");
  g_autofree char *resolved = fab_scenario_resolved (scenario);
  g_autoptr (FabScenario) again = parse (resolved);
  g_autofree char *twice = fab_scenario_resolved (again);

  assert_string_equal (resolved, twice);
  assert_non_null (strstr (resolved, "model: gpt2-2"));
  assert_int_equal (parameters_of (again, "gpt2-2"), 124439808);
  assert_int_equal (parameters_of (again, "gpt2"), 5);
}

static char *
fragment (const char *json, GError **error)
{
  return fab_model_file_fragment ("config.json", NULL, json, strlen (json), &fab_models, error);
}

static void
a_fragment_is_a_section_of_models (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *made = fragment (
      "{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_embd\":8,\"n_head\":2,\"n_inner\":null,"
      "\"vocab_size\":10,\"n_positions\":4,\"resid_pdrop\":0.1}",
      &error);
  g_autofree char *text = g_strconcat (
      "name: t\ncluster: {node: dgx-h100}\njob: {kind: ddp, model: imported}\n", made, NULL);
  g_autoptr (FabScenario) scenario = NULL;

  assert_non_null (made);
  scenario = parse (text);
  assert_int_equal (parameters_of (scenario, "imported"), 2 * (12 * 64 + 13 * 8) + 14 * 8 + 16);
}

static void
assert_refused (const char *json, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *made = fragment (json, &error);

  assert_null (made);
  if (strstr (error->message, expected) == NULL)
    fail_msg ("'%s' is not in '%s'", expected, error->message);
}

static void
mistakes_are_shown_at_their_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("[]", "config.json:1:1: this is not a config.json of Hugging Face transformers");
  assert_refused ("{\"a\": 1}", "config.json:1:1: 'model_type' is missing");
  assert_refused ("{\n \"model_type\": \"lama\"}",
                  "config.json:2:16: unknown model_type 'lama'; nearest is llama; the known ones are");
  assert_refused ("{\"model_type\": \"llama\"}",
                  "'hidden_size' is missing; the config.json of a 'llama' has it");
  assert_refused ("{\"model_type\": \"llama\"}", "'vocab_size' is missing");
  assert_refused ("{\"model_type\": \"gpt2\",\n\"n_layer\": \"two\"}",
                  "config.json:2:12: 'n_layer' must be a whole number");
  assert_refused (
      "{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_embd\":8,\"n_head\":3,\"vocab_size\":10,\"n_positions\":4}",
      "hidden 8 is not a multiple of heads 3");
}

/* The keys of the shape of a fragment, "layers: 2, hidden: 8", those of its parts in braces. (transfer full) */
static char *
shape_told (const char *made)
{
  const char *start = strstr (made, "    shape:\n") + strlen ("    shape:\n"),
             *end = strstr (start, "    source:");
  g_autofree char *text = g_strndup (start, (gsize) (end - start));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *out = g_string_new (NULL);
  gboolean is_inside = FALSE;

  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++) {
    const char *line = lines[i] + strspn (lines[i], " ");
    gboolean is_part = line - lines[i] > 6, is_head = g_str_has_suffix (line, ":");

    if (is_inside && !is_part)
      g_string_append (out, "}");
    g_string_append_printf (out, "%s%s%s", out->len > 0 && out->str[out->len - 1] != '{' ? ", " : "", line,
                            is_head ? " {" : "");
    is_inside = is_head || (is_inside && is_part);
  }
  g_string_append (out, is_inside ? "}" : "");
  return g_string_free (out, FALSE);
}

#define WIDTHS "\"num_hidden_layers\": 2, \"hidden_size\": 8, \"num_attention_heads\": 2, \"vocab_size\": 10"
#define LLAMA WIDTHS ", \"intermediate_size\": 16"
#define HEADS "kind: transformer, layers: 2, hidden: 8, heads: 2"
#define DENSE HEADS ", feed_forward: 16, vocabulary: 10, gated: true, biases: false, norm: rms"
#define PLAIN "kind: transformer, layers: 2, hidden: 8, heads: 2, vocabulary: 10"
#define EXPERTS ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 4"
#define LATENT ", \"kv_lora_rank\": 3, \"qk_nope_head_dim\": 4, \"qk_rope_head_dim\": 5, \"v_head_dim\": 6"
#define ROUTED ", \"n_routed_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 4"
#define NEMOTRON ", \"mamba_num_heads\": 2, \"mamba_head_dim\": 4, \"ssm_state_size\": 16"

/* Defaults are those of transformers' configuration_<type>.py; norms, biases and gates those of modeling_<type>.py.
 * */
static const struct {
  const char *type, *keys, *shape;
} known_families[] = {
  { "llama", LLAMA, DENSE ", tied: false, qkv_biases: no, projection_biases: no" },
  { "llama",
    LLAMA ", \"num_key_value_heads\": 1, \"head_dim\": 6, \"tie_word_embeddings\": true, \"attention_bias\": "
          "true, \"mlp_bias\": true",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, kv_heads: 1, head_dim: 6, feed_forward: 16, "
    "vocabulary: 10, gated: true, biases: true, "
    "norm: rms, tied: true, qkv_biases: yes, projection_biases: yes" },
  { "mistral", LLAMA ", \"sliding_window\": 5",
    DENSE ", tied: false, qkv_biases: no, projection_biases: no, window: {width: 5}" },
  { "phi3", LLAMA ", \"resid_pdrop\": 0.1",
    DENSE ", tied: false, qkv_biases: no, projection_biases: no, dropout: true" },
  { "qwen2", LLAMA ", \"use_sliding_window\": false, \"sliding_window\": 5",
    DENSE ", tied: false, qkv_biases: yes" },
  { "qwen3", LLAMA,
    DENSE ", tied: false, qkv_biases: no, projection_biases: no, head_dim: 128, qk_norm: true" },
  { "gemma", LLAMA, DENSE ", tied: true, qkv_biases: no, projection_biases: no, head_dim: 256" },
  { "gemma2", LLAMA ", \"sliding_window\": 5, \"head_dim\": 4",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, head_dim: 4, feed_forward: 16, vocabulary: 10, "
    "gated: true, biases: false, norm: rms, "
    "tied: true, qkv_biases: no, projection_biases: no, norms: 4, window: {width: 5, full_every: 2}" },
  { "gemma3_text", LLAMA ", \"sliding_window\": 5",
    DENSE
    ", tied: true, qkv_biases: no, projection_biases: no, head_dim: 256, norms: 4, qk_norm: true, window: "
    "{width: 5, full_every: 6}" },
  { "gemma3_text",
    LLAMA ", \"sliding_window\": 5, \"sliding_window_pattern\": 3, \"tie_word_embeddings\": false",
    DENSE
    ", tied: false, qkv_biases: no, projection_biases: no, head_dim: 256, norms: 4, qk_norm: true, window: "
    "{width: 5, full_every: 3}" },
  { "internlm", LLAMA, DENSE ", tied: false, qkv_biases: yes, projection_biases: yes" },
  { "internlm", LLAMA ", \"bias\": false", DENSE ", tied: false, qkv_biases: no, projection_biases: no" },
  { "internlm2", LLAMA, DENSE ", tied: false, qkv_biases: no, projection_biases: no" },
  { "mixtral", LLAMA ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2",
    DENSE ", tied: false, experts: {count: 4, per_token: 2}" },
  { "qwen2_moe", LLAMA EXPERTS ", \"decoder_sparse_step\": 2, \"mlp_only_layers\": []",
    DENSE ", tied: false, experts: {count: 4, per_token: 2, width: 4, every: 2}, qkv_biases: yes" },
  { "qwen2_moe", LLAMA EXPERTS ", \"shared_expert_intermediate_size\": 4",
    DENSE
    ", tied: false, experts: {count: 4, per_token: 2, width: 4, shared: 1, shared_gate: true}, qkv_biases: yes" },
  { "qwen2_moe", LLAMA EXPERTS ", \"shared_expert_intermediate_size\": 0",
    DENSE ", tied: false, experts: {count: 4, per_token: 2, width: 4}, qkv_biases: yes" },
  { "qwen3_moe", LLAMA EXPERTS ", \"attention_bias\": true",
    DENSE
    ", tied: false, experts: {count: 4, per_token: 2, width: 4}, qkv_biases: yes, projection_biases: yes, "
    "qk_norm: true" },
  { "qwen3_moe", LLAMA EXPERTS,
    DENSE
    ", tied: false, experts: {count: 4, per_token: 2, width: 4}, qkv_biases: no, projection_biases: no, "
    "qk_norm: true" },
  { "deepseek_v2", LLAMA LATENT,
    DENSE
    ", tied: false, latent: {kv_lora_rank: 3, qk_nope_head_dim: 4, qk_rope_head_dim: 5, v_head_dim: 6}" },
  { "deepseek_v3",
    LLAMA LATENT ROUTED
    ", \"q_lora_rank\": 7, \"n_shared_experts\": 1, \"first_k_dense_replace\": 1, \"moe_layer_freq\": 1",
    DENSE
    ", tied: false, latent: {q_lora_rank: 7, kv_lora_rank: 3, qk_nope_head_dim: 4, qk_rope_head_dim: 5, "
    "v_head_dim: 6}, "
    "experts: {count: 4, per_token: 2, width: 4, shared: 1, dense_layers: 1, router_biases: true}" },
  { "kimi_k2", LLAMA LATENT,
    DENSE
    ", tied: false, latent: {kv_lora_rank: 3, qk_nope_head_dim: 4, qk_rope_head_dim: 5, v_head_dim: 6}" },
  { "gpt_oss",
    LLAMA ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2, \"sliding_window\": 5, \"layer_types\": "
          "[\"sliding_attention\", "
          "\"x\", \"full_attention\", \"full_attention\"]",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, feed_forward: 16, vocabulary: 10, gated: true, "
    "biases: true, norm: rms, tied: false, "
    "sinks: true, experts: {count: 4, per_token: 2, router_biases: true}, window: {width: 5, full_every: 3}" },
  { "gpt_oss",
    LLAMA
    ", \"num_local_experts\": 4, \"experts_per_token\": 2, \"num_experts_per_tok\": 3, \"sliding_window\": 5",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, feed_forward: 16, vocabulary: 10, gated: true, "
    "biases: true, norm: rms, tied: false, "
    "sinks: true, experts: {count: 4, per_token: 2, router_biases: true}, window: {width: 5, full_every: 2}" },
  { "nemotron_h",
    LLAMA NEMOTRON
    ", \"hybrid_override_pattern\": \"M-\", \"n_groups\": 2, \"conv_kernel\": 4, \"chunk_size\": 128",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, feed_forward: 16, vocabulary: 10, gated: false, "
    "biases: false, norm: rms, tied: false, "
    "pattern: M-, mamba: {heads: 2, head_dim: 4, groups: 2, state: 16, convolution: 4, chunk: 128}" },
  { "nemotron_h",
    LLAMA NEMOTRON ROUTED
    ", \"hybrid_override_pattern\": \"ME\", \"moe_shared_expert_intermediate_size\": 8, \"moe_latent_size\": 3",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, feed_forward: 16, vocabulary: 10, gated: false, "
    "biases: false, norm: rms, tied: false, "
    "pattern: ME, mamba: {heads: 2, head_dim: 4, state: 16}, experts: {count: 4, per_token: 2, width: 4, "
    "latent: 3, router_biases: true, shared: 2}" },
  { "gpt2",
    "\"n_layer\": 2, \"n_embd\": 8, \"n_head\": 2, \"vocab_size\": 10, \"n_positions\": 4, \"n_inner\": 5, "
    "\"dropout\": 0",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, feed_forward: 5, vocabulary: 10, positions: 4, "
    "tied: true" },
  { "gpt_neox", LLAMA, PLAIN ", feed_forward: 16, tied: false" },
  { "gpt_neox", LLAMA ", \"attention_bias\": false, \"hidden_dropout\": 0.5",
    PLAIN ", feed_forward: 16, qkv_biases: no, projection_biases: no, tied: false, dropout: true" },
  { "phi", LLAMA ", \"num_key_value_heads\": 1",
    PLAIN ", kv_heads: 1, feed_forward: 16, norms: 1, ends: {output_biases: true}, tied: false" },
  { "opt",
    WIDTHS ", \"ffn_dim\": 16, \"max_position_embeddings\": 20, \"word_embed_proj_dim\": 8, \"dropout\": 0.1",
    PLAIN ", feed_forward: 16, positions: 22, biases: true, norm: layer, tied: true, dropout: true" },
  { "opt", WIDTHS ", \"ffn_dim\": 16, \"max_position_embeddings\": 20, \"enable_bias\": false",
    PLAIN ", feed_forward: 16, positions: 22, biases: false, norm: layer, tied: true" },
  { "bloom",
    "\"n_layer\": 2, \"n_embed\": 8, \"hidden_size\": 9, \"num_attention_heads\": 2, \"n_head\": 3, "
    "\"vocab_size\": 10",
    "kind: transformer, layers: 2, hidden: 8, heads: 2, vocabulary: 10, ends: {embedding_norm: true}, tied: true" },
  { "bloom",
    "\"n_layer\": 2, \"hidden_size\": 9, \"n_head\": 3, \"vocab_size\": 10, \"hidden_dropout_prob\": 0.1",
    "kind: transformer, layers: 2, hidden: 9, heads: 3, vocabulary: 10, ends: {embedding_norm: true}, tied: "
    "true, dropout: true" },
  { "mpt",
    "\"n_layers\": 2, \"d_model\": 8, \"n_heads\": 2, \"vocab_size\": 10, \"max_seq_len\": 20, "
    "\"attn_config\": {\"kv_n_heads\": 1}",
    PLAIN ", biases: true, feed_forward: 32, kv_heads: 1, positions: 20, tied: true" },
  { "mpt",
    "\"n_layers\": 2, \"d_model\": 8, \"n_heads\": 2, \"vocab_size\": 10, \"no_bias\": true, "
    "\"expansion_ratio\": 3, \"attn_config\": {\"alibi\": true}",
    PLAIN ", biases: false, feed_forward: 24, tied: true" },
  { "mpt",
    "\"n_layers\": 2, \"d_model\": 8, \"n_heads\": 2, \"vocab_size\": 10, \"attn_config\": {\"rope\": true}",
    PLAIN ", biases: true, feed_forward: 32, tied: true" },
  { "mpt",
    "\"n_layers\": 2, \"d_model\": 8, \"n_heads\": 2, \"vocab_size\": 10, \"learned_pos_emb\": false, "
    "\"attn_config\": {}",
    PLAIN ", biases: true, feed_forward: 32, tied: true" },
  { "falcon", WIDTHS, PLAIN ", kv_heads: 1, biases: false, norm: layer, norms: 1, tied: true" },
  { "falcon",
    WIDTHS ", \"multi_query\": false, \"parallel_attn\": false, \"bias\": true, \"ffn_hidden_size\": 16",
    PLAIN ", feed_forward: 16, biases: true, norm: layer, norms: 2, tied: true" },
  { "falcon", WIDTHS ", \"new_decoder_architecture\": true, \"num_kv_heads\": 2",
    PLAIN ", kv_heads: 2, biases: false, norm: layer, norms: 2, tied: true" },
  { "falcon", WIDTHS ", \"new_decoder_architecture\": true, \"num_ln_in_parallel_attn\": 1",
    PLAIN ", biases: false, norm: layer, norms: 1, tied: true" },
  { "bert", LLAMA ", \"max_position_embeddings\": 20",
    PLAIN
    ", feed_forward: 16, positions: 20, ends: {token_types: 2, embedding_norm: true, final_norm: false, "
    "pooler: true, classes: 0, head_transform: "
    "false, output_biases: false}, tied: true" },
  { "bert",
    LLAMA
    ", \"max_position_embeddings\": 20, \"type_vocab_size\": 3, \"architectures\": [\"X\", \"BertForPreTraining\"]",
    PLAIN
    ", feed_forward: 16, positions: 20, ends: {token_types: 3, embedding_norm: true, final_norm: false, "
    "pooler: true, classes: 2, head_transform: "
    "true, output_biases: true}, tied: true" },
  { "bert", LLAMA ", \"max_position_embeddings\": 20, \"architectures\": [\"BertForMaskedLM\"]",
    PLAIN
    ", feed_forward: 16, positions: 20, ends: {token_types: 2, embedding_norm: true, final_norm: false, "
    "pooler: false, classes: 0, head_transform: "
    "true, output_biases: true}, tied: true" },
};

static void
families_fix_what_a_config_leaves_out (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (known_families); i++) {
    g_autofree char *json = g_strdup_printf ("{\"model_type\": \"%s\", %s}", known_families[i].type,
                                             known_families[i].keys);
    g_autoptr (GError) error = NULL;
    g_autofree char *made = fragment (json, &error), *told = NULL;

    if (made == NULL)
      fail_msg ("%s: %s", known_families[i].type, error->message);
    told = shape_told (made);
    if (strcmp (told, known_families[i].shape) != 0)
      fail_msg ("%u %s:\n%s\n%s", i, known_families[i].type, told, known_families[i].shape);
  }
}

static void
values_that_a_shape_cannot_have_are_refused (G_GNUC_UNUSED void **state)
{
  assert_refused ("{\"model_type\": \"llama\", \"num_hidden_layers\": 100000001}",
                  "'num_hidden_layers' must be a whole number from 0 to 100000000");
  assert_refused ("{\"model_type\": \"llama\", \"num_hidden_layers\": -1}",
                  "'num_hidden_layers' must be a whole number from 0 to 100000000");
  assert_refused ("{\"model_type\": \"llama\", \"num_hidden_layers\": \"2\"}",
                  "'num_hidden_layers' must be a whole number from 0 to 100000000");
  assert_refused ("{\"model_type\": \"llama\", " LLAMA ", \"tie_word_embeddings\": 1}",
                  "'tie_word_embeddings' must be true or false");
  assert_refused ("{\"model_type\": \"llama\", " LLAMA ", \"tie_word_embeddings\": []}",
                  "'tie_word_embeddings' must be true or false");
  assert_refused ("{\"model_type\": \"qwen2_moe\", " LLAMA EXPERTS ", \"mlp_only_layers\": [1]}",
                  "'mlp_only_layers' names single layers");
  assert_refused ("{\"model_type\": \"qwen2_moe\", " LLAMA EXPERTS
                  ", \"shared_expert_intermediate_size\": 6}",
                  "the shared expert must be a multiple of moe_intermediate_size");
  assert_refused ("{\"model_type\": \"deepseek_v2\", " LLAMA LATENT ROUTED ", \"moe_layer_freq\": 2}",
                  "'moe_layer_freq' other than 1 is not supported");
  assert_refused ("{\"model_type\": \"nemotron_h\", " LLAMA NEMOTRON "}",
                  "'hybrid_override_pattern' is missing; it gives the kind of each block");
  assert_refused ("{\"model_type\": \"nemotron_h\", " LLAMA NEMOTRON ROUTED
                  ", \"hybrid_override_pattern\": \"ME\", \"moe_shared_expert_intermediate_size\": 6}",
                  "the shared expert must be a multiple of moe_intermediate_size");
  assert_refused ("{\"model_type\": \"opt\", " WIDTHS
                  ", \"ffn_dim\": 16, \"max_position_embeddings\": 20, \"word_embed_proj_dim\": 4}",
                  "embeddings narrower than the model are not supported by a transformer shape");
}

/* What is left out is said once, and only where it is so. */
static void
notes_say_what_is_left_out (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *json, *note;
    gboolean is_there;
  } rows[] = {
    { "{\"model_type\": \"llama\", " LLAMA ", \"num_nextn_predict_layers\": 1}",
      "multi-token prediction are left out", TRUE },
    { "{\"model_type\": \"llama\", " LLAMA ", \"num_nextn_predict_layers\": 0}",
      "multi-token prediction are left out", FALSE },
    { "{\"model_type\": \"bert\", " LLAMA ", \"max_position_embeddings\": 20}", "no language-model head",
      TRUE },
    { "{\"model_type\": \"bert\", " LLAMA
      ", \"max_position_embeddings\": 20, \"architectures\": [\"BertForMaskedLM\"]}",
      "no language-model head", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *made = fragment (rows[i].json, NULL), *line = g_strdelimit (g_strdup (made), "\n#", ' ');
    g_auto (GStrv) words = g_strsplit_set (line, " ", -1);
    g_autoptr (GString) plain = g_string_new (NULL);

    for (guint k = 0; words[k] != NULL; k++)
      if (words[k][0] != '\0')
        g_string_append_printf (plain, "%s ", words[k]);
    if ((strstr (plain->str, rows[i].note) != NULL) != rows[i].is_there)
      fail_msg ("%s", made);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (configs_have_the_published_parameters),
    cmocka_unit_test (the_resolved_scenario_stands_alone),
    cmocka_unit_test (a_fragment_is_a_section_of_models),
    cmocka_unit_test (mistakes_are_shown_at_their_place),
    cmocka_unit_test (families_fix_what_a_config_leaves_out),
    cmocka_unit_test (values_that_a_shape_cannot_have_are_refused),
    cmocka_unit_test (notes_say_what_is_left_out),
  };

  return cmocka_run_group_tests_name ("huggingface", tests, load_catalog, free_catalog);
}
