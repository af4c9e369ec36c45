/* SPDX-License-Identifier: Apache-2.0 */
/* test_memo.c - scenarios that are shipped, played with and without the memory of what happened before: the same to the
 * last digit. These are those that end in a moment; prop_episodes has random jobs. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/probe_text.h"

static FabCatalog *catalog; /* shared by all scenarios */

static const struct {
  const char *scenario, *fidelity;
} shipped[] = {
  { "hello", "step" },
  { "own-node", "step" },
  { "mpi-rig-100m", "step" },
  { "mpi-rig-100m", "packet" },
  { "neighbour-oversubscribed", "step" },
  { "background-uplinks", "step" },
  { "balance-slow-spine", "step" },
  { "fabric-hyperx", "step" },
  { "fabric-dragonfly-plus", "step" },
  { "fabric-rail-only", "step" },
  { "ddp-gpt2-xl-dgx-a100", "step" },
  { "ddp-2b-1node", "step" },
  { "ddp-2b-4nodes-200g", "step" },
  { "fault-nic-half-rate", "step" },
};

/* Of two iterations. */
static char *
text_of (const char *name, const char *fidelity, gboolean remembers)
{
  g_autofree char *path = g_strdup_printf ("%s/scenarios/%s.yaml", FAB_SOURCE_DIR, name);
  g_autofree char *level = g_strdup_printf ("fidelity={kind: %s, memo: %s}", fidelity,
                                            remembers ? "true" : "false");
  const char *const sets[] = { level, "iterations=2", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_load (path, sets, &fab_models, catalog, &error);

  g_assert_no_error (error);
  g_autoptr (FabSimulation) simulation = fab_simulation_new (scenario, &fab_models, NULL, &error);
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  while (fab_simulation_step (simulation))
    probe_text (fab_simulation_probe (simulation), text);
  assert_true (text->len > 0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
memory_changes_no_digit (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++) {
    g_autofree char *with = text_of (shipped[i].scenario, shipped[i].fidelity, TRUE);
    g_autofree char *without = text_of (shipped[i].scenario, shipped[i].fidelity, FALSE);

    if (strcmp (with, without) != 0)
      fail_msg ("%s at %s is played in another way without memory", shipped[i].scenario, shipped[i].fidelity);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (memory_changes_no_digit) };

  return play_run_tests ("memo", tests, &catalog);
}
