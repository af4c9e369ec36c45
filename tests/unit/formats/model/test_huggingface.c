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

/* What sum (p.numel () for p in model.parameters ()) gives: from the model cards; each is also what the
 * dimensions make by hand. */
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (configs_have_the_published_parameters),
    cmocka_unit_test (the_resolved_scenario_stands_alone),
    cmocka_unit_test (a_fragment_is_a_section_of_models),
    cmocka_unit_test (mistakes_are_shown_at_their_place),
  };

  return cmocka_run_group_tests_name ("huggingface", tests, load_catalog, free_catalog);
}
