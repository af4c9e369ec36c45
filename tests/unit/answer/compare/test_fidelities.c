/* SPDX-License-Identifier: Apache-2.0 */
/* test_fidelities.c - one scenario at several fidelities: which ones, in which order, and which cannot play it. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/compare/fidelities.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabScenario *
scenario_of (const char *file, const char *fidelity)
{
  g_autofree char *path = g_strconcat (FAB_SOURCE_DIR "/scenarios/", file, NULL);
  FabScenario *scenario = fab_scenario_load (path, NULL, &fab_models, catalog, NULL);

  assert_non_null (scenario);
  assert_true (fab_scenario_set (scenario, "fidelity", fab_value_text (fidelity), NULL));
  assert_true (fab_scenario_check (scenario, NULL));
  return scenario;
}

static char *
names_of (const FabContrast *contrast)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < contrast->variants->len; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? " " : "", fab_contrast_variant (contrast, i)->name);
  return g_string_free (names, FALSE);
}

/* Where nobody names them: what costs no more than two runs (analytic), the scenario's own, and the one that the others
 * are held against, each once. A scenario that is analytic itself is held against fluid. */
static void
test_usual_ones (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *own, *against, *names;
    guint base;
  } cases[] = {
    { "fluid", NULL, "analytic fluid", 0 },       { "fluid", "fluid", "analytic fluid", 1 },
    { "fluid", "analytic", "analytic fluid", 0 }, { "fluid", "step", "analytic fluid step", 2 },
    { "step", NULL, "analytic step", 0 },         { "analytic", NULL, "analytic fluid", 0 },
    { "analytic", "step", "analytic step", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabScenario) scenario = scenario_of ("hello.yaml", cases[i].own);
    g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (
        scenario,
        &(FabFidelitiesRequest){ .registry = &fab_models, .against = cases[i].against, .n_threads = 1 },
        NULL);

    assert_non_null (answer);
    g_autofree char *names = names_of (answer->contrast);
    assert_string_equal (names, cases[i].names);
    assert_int_equal (answer->contrast->base, cases[i].base);
    assert_null (answer->left_out[0]);
  }
}

/* Those that are named are played as they are named, the scenario's own once like any other. */
static void
test_named_ones (G_GNUC_UNUSED void **state)
{
  static const char *const named[] = { "step", "fluid", NULL };
  g_autoptr (FabScenario) scenario = scenario_of ("hello.yaml", "fluid");
  g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (
      scenario, &(FabFidelitiesRequest){ .registry = &fab_models, .names = named, .n_threads = 2 }, NULL);
  g_autofree char *names = names_of (answer->contrast);

  assert_string_equal (names, "step fluid");
  assert_int_equal (answer->contrast->base, 0);
}

/* A fault that begins while the job runs has no time at analytic: it is left out with its reason, unless it was named
 * or is the scenario's own. */
static void
test_one_that_cannot_play (G_GNUC_UNUSED void **state)
{
  static const char *const named[] = { "fluid", "analytic", NULL };
  g_autoptr (FabScenario) scenario = fab_scenario_load (FAB_SOURCE_DIR "/scenarios/fault-leaf-outage.yaml",
                                                        NULL, &fab_models, catalog, NULL);
  FabFidelitiesRequest request = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (scenario, &request, NULL);
  g_autoptr (GError) error = NULL;

  assert_non_null (answer);
  assert_int_equal (answer->contrast->variants->len, 1);
  assert_string_equal (fab_contrast_variant (answer->contrast, 0)->name, "fluid");
  assert_true (g_str_has_prefix (answer->left_out[0], "analytic cannot simulate it: "));
  assert_null (answer->left_out[1]);
  assert_null (strchr (answer->left_out[0], '\n'));
  request.names = named;
  assert_null (fab_fidelities_answer (scenario, &request, &error));
  assert_non_null (strstr (error->message, "fault-leaf-outage.yaml:32:49: fidelity 'analytic' has no time"));
}

/* A megabyte from one node to another: 80 us over 100 Gb/s. */
#define SENDS                                                                                            \
  "name: sends\niterations: 1\n"                                                                         \
  "links: [{name: wire, technology: InfiniBand, lanes: 1, signalling: 100Gb/s, latency: 1us}]\n"         \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: wire, fabric: switch}\n" \
  "collectives: plain\njob: {kind: collective, operations: [{op: send_recv, size: 1MB}]}\n"

static FabScenario *
parsed (const char *yaml, const FabRegistry *registry)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, registry, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

/* What a scenario says of its own fidelity holds where that is one of several: a completion takes 1 ms. */
static void
test_keys_of_the_own_fidelity (G_GNUC_UNUSED void **state)
{
  static const char *const named[] = { "fluid", "packet", NULL };
  g_autoptr (FabScenario) scenario = parsed (SENDS "fidelity: {kind: packet, completion: 1ms}\n",
                                             &fab_models);
  FabPulse pulse = { 0 };
  g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (
      scenario,
      &(FabFidelitiesRequest){ .registry = &fab_models, .names = named, .n_threads = 1, .pulse = &pulse },
      NULL);

  assert_true (fab_variant_time_s (fab_contrast_variant (answer->contrast, 0), FAB_FACT_STEP) < 2e-4);
  assert_true (fab_variant_time_s (fab_contrast_variant (answer->contrast, 1), FAB_FACT_STEP) > 1e-3);
  assert_int_equal (pulse.n_known, 2);
  assert_int_equal (pulse.n_done, 2);
}

/* A simulation that breaks is no fidelity that could be left out, though nobody named it. */
static void
test_one_that_breaks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = parsed (SENDS "fidelity: packet\n", failing_models ());
  const FabFidelitiesRequest request = { .registry = failing_models (), .against = "fluid", .n_threads = 1 };
  g_autoptr (GError) error = NULL;

  failing_at (0, FAB_ERROR_BROKEN);
  g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (scenario, &request, &error);
  g_autofree char *names = names_of (answer->contrast);
  assert_string_equal (names, "packet fluid");
  assert_int_equal (answer->contrast->base, 1);
  failing_at (1, FAB_ERROR_BROKEN);
  assert_null (fab_fidelities_answer (scenario, &request, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN));
  assert_true (g_str_has_prefix (error->message, "at fidelity fluid: "));
  failing_at (0, FAB_ERROR_BROKEN);
}

/* The one that the others are held against says what would make the job fit. */
static void
test_a_job_that_does_not_fit (G_GNUC_UNUSED void **state)
{
  static const char *const models[] = { "gpt2", "llama2-7b" };

  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\njob: {kind: ddp, model: %s, "
        "micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%%}}\n",
        models[i]);
    g_autoptr (FabScenario) scenario = parsed (yaml, &fab_models);
    g_autoptr (FabFidelitiesAnswer) answer = fab_fidelities_answer (
        scenario, &(FabFidelitiesRequest){ .registry = &fab_models, .against = "fluid", .n_threads = 1 },
        NULL);

    for (guint k = 0; k < 2; k++) {
      const FabFinding *finding = fab_verdict_find (fab_contrast_variant (answer->contrast, k)->verdict,
                                                    FAB_FINDING_DOES_NOT_FIT);

      assert_int_equal (finding != NULL, i == 1);
      if (finding != NULL)
        assert_int_equal (g_str_has_prefix (finding->advice != NULL ? finding->advice : "", "It fits with "),
                          k == answer->contrast->base);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_keys_of_the_own_fidelity),
    cmocka_unit_test (test_one_that_breaks),
    cmocka_unit_test (test_a_job_that_does_not_fit),
    cmocka_unit_test (test_usual_ones),
    cmocka_unit_test (test_named_ones),
    cmocka_unit_test (test_one_that_cannot_play),
  };

  return play_run_tests ("fidelities", tests, &catalog);
}
