/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic.c - who sends to whom, and when the last flow ends.
 *
 * DGX H100 with one GPU and one NDR port each on a single switch: a message of S bytes alone takes S / r and some
 * microseconds, r being what the port gives RDMA writes. Sizes are such that the microseconds do not count.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static char *
scenario (guint nodes, const char *job)
{
  return g_strdup_printf ("name: t\niterations: 2\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: 1,\n"
                          "  nics_per_node: 1, fabric: switch}\njob: {kind: traffic, size: 100MB, %s}\n",
                          nodes, job);
}

static FabTimePs
last_ps (guint nodes, const char *job)
{
  g_autofree char *yaml = scenario (nodes, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabTimePs ps = 0;

  while (fab_simulation_step (play->simulation))
    ps = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  return ps;
}

/* "0>1 1>2": of all flows in their order. (transfer full) */
static char *
flows_of (guint nodes, const char *job)
{
  g_autofree char *yaml = scenario (nodes, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  GString *out = g_string_new (NULL);

  for (guint c = 0; c < dag->n_collectives; c++) {
    g_auto (GStrv) words = g_strsplit (dag->collectives[c].name, " ", 2);

    g_string_append_printf (out, "%s%s", c > 0 ? " " : "", words[1]);
  }
  return g_string_free (out, FALSE);
}

static void
assert_flows (guint nodes, const char *job, const char *expected)
{
  g_autofree char *flows = flows_of (nodes, job);

  assert_string_equal (flows, expected);
}

static void
patterns_name_their_pairs (G_GNUC_UNUSED void **state)
{
  assert_flows (4, "pattern: shift", "0->1 1->2 2->3 3->0");
  assert_flows (4, "pattern: shift, distance: 3", "0->3 1->0 2->1 3->2");
  assert_flows (4, "pattern: incast, target: 2", "3->2 0->2 1->2");
  assert_flows (4, "pattern: incast, target: 2, senders: 1", "3->2");
  assert_flows (3, "pattern: all_pairs", "0->1 0->2 1->2 1->0 2->0 2->1");
  assert_flows (3, "pattern: pairs, connections: 2, pairs: [{from: 2, to: 0}]", "2->0 2->0");
  assert_flows (2, "pattern: shift, count: 2", "0->1 0->1 1->0 1->0");
}

/* Everybody sends once and receives once, nobody to itself; another seed draws another one. */
static void
a_permutation_is_one (G_GNUC_UNUSED void **state)
{
  g_autofree char *flows = flows_of (16, "pattern: permutation"),
                  *same = flows_of (16, "pattern: permutation"),
                  *other = flows_of (16, "pattern: permutation}\nseed: 2 #");
  g_auto (GStrv) words = g_strsplit (flows, " ", -1);
  guint n_received[16] = { 0 };

  assert_int_equal (g_strv_length (words), 16);
  for (guint i = 0; i < 16; i++) {
    g_auto (GStrv) ends = g_strsplit (words[i], "->", 2);
    guint to = (guint) g_ascii_strtoull (ends[1], NULL, 10);

    assert_int_equal (g_ascii_strtoull (ends[0], NULL, 10), i);
    assert_int_not_equal (to, i);
    n_received[to]++;
  }
  for (guint i = 0; i < 16; i++)
    assert_int_equal (n_received[i], 1);
  assert_string_equal (flows, same);
  assert_string_not_equal (flows, other);
}

/* Nobody sends to itself, and so many are drawn. */
static void
random_pairs_are_as_many_as_asked_for (G_GNUC_UNUSED void **state)
{
  g_autofree char *flows = flows_of (4, "pattern: random, flows: 50");
  g_auto (GStrv) words = g_strsplit (flows, " ", -1);

  assert_int_equal (g_strv_length (words), 50);
  for (guint i = 0; i < 50; i++)
    assert_true (words[i][0] != words[i][3]);
}

/* Ports are full duplex: a shift takes as long as one flow, k senders to one port k times as long, and so do k
 * messages one after another and k connections of a pair. The second iteration is as long as the first. */
static void
flows_share_ports (G_GNUC_UNUSED void **state)
{
  double one_ps = (double) last_ps (4, "pattern: pairs, pairs: [{from: 0, to: 1}]");

  assert_near ((double) last_ps (4, "pattern: shift"), one_ps, 1e-6);
  assert_near ((double) last_ps (4, "pattern: incast"), 3 * one_ps, 0.01);
  assert_near ((double) last_ps (4, "pattern: shift, count: 3"), 3 * one_ps, 0.01);
  assert_near ((double) last_ps (4, "pattern: shift, connections: 5"), 5 * one_ps, 0.01);
  assert_near ((double) last_ps (4, "pattern: all_pairs"), 3 * one_ps, 0.01);
}

static void
a_rank_that_is_not_there_is_named (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = scenario (4, "pattern: pairs, pairs: [{from: 0, to: 4}]");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                     &error);

  assert_null (error);
  g_autoptr (FabSimulation) simulation = fab_simulation_new (read, &fab_models, NULL, &error);
  assert_null (simulation);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message, "job: rank 4 does not exist; there are 4, from 0");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (patterns_name_their_pairs),
    cmocka_unit_test (a_permutation_is_one),
    cmocka_unit_test (random_pairs_are_as_many_as_asked_for),
    cmocka_unit_test (flows_share_ports),
    cmocka_unit_test (a_rank_that_is_not_there_is_named),
  };

  catalog = play_catalog ();
  int n_failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
