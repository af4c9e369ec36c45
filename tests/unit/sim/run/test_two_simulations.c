/* SPDX-License-Identifier: Apache-2.0 */
/* test_two_simulations.c - simulations in one process know nothing of each other: step by step in turn, or each on
 * a thread of its own, they say what they say alone. */
#include "tests/support/test.h"

#include "tests/support/play.h"
#include "tests/support/probe_text.h"

enum { N_THREADS = 4 };

static const char *const scenarios[] = {
  "name: small\niterations: 5\ncluster: {node: dgx-a100, nodes: 2, nics_per_node: 2}\n"
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 128, data_loader: {time: 1ms}}\n",
  "name: large\niterations: 3\ncluster: {node: dgx-h100, nodes: 4, fabric: {kind: rail, nodes_per_leaf: 2}}\n"
  "collectives: plain\njob: {kind: ddp, model: gpt2-xl, micro_batch: 2, sequence: 512, recompute: full}\n",
};

typedef struct {
  const FabCatalog *catalog;
  const char *yaml;
  char *text;
} Run;

static void
step_in_turn (const FabCatalog *catalog, GString **texts)
{
  g_autoptr (Play) first = play_new (catalog, scenarios[0], NULL);
  g_autoptr (Play) second = play_new (catalog, scenarios[1], NULL);
  FabSimulation *simulations[] = { first->simulation, second->simulation };
  gboolean is_running[] = { TRUE, TRUE };

  while (is_running[0] || is_running[1])
    for (guint i = 0; i < 2; i++) {
      is_running[i] = is_running[i] && fab_simulation_step (simulations[i]);
      if (is_running[i])
        probe_text (fab_simulation_probe (simulations[i]), texts[i]);
    }
}

static void
in_turn_they_are_as_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GString) first = g_string_new (NULL);
  g_autoptr (GString) second = g_string_new (NULL);
  g_autofree char *first_alone = play_text (catalog, scenarios[0]),
                  *second_alone = play_text (catalog, scenarios[1]);

  step_in_turn (catalog, (GString *[]){ first, second });
  assert_string_equal (first->str, first_alone);
  assert_string_equal (second->str, second_alone);
}

static gpointer
run (gpointer data)
{
  Run *self = data;

  self->text = play_text (self->catalog, self->yaml);
  return NULL;
}

/* They share the catalogue, which is read-only; everything else is their own, loading included. */
static void
on_threads_they_are_as_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autofree char *first_alone = play_text (catalog, scenarios[0]);
  g_autofree char *second_alone = play_text (catalog, scenarios[1]);
  Run runs[N_THREADS];
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++) {
    runs[i] = (Run){ catalog, scenarios[i % 2], NULL };
    threads[i] = g_thread_new ("simulation", run, &runs[i]);
  }
  for (guint i = 0; i < N_THREADS; i++) {
    g_thread_join (threads[i]);
    assert_string_equal (runs[i].text, i % 2 == 0 ? first_alone : second_alone);
    g_free (runs[i].text);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (in_turn_they_are_as_alone),
    cmocka_unit_test (on_threads_they_are_as_alone),
  };

  return cmocka_run_group_tests_name ("two_simulations", tests, NULL, NULL);
}
