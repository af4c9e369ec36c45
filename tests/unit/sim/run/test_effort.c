/* SPDX-License-Identifier: Apache-2.0 */
/* test_effort.c - how long a network will take, said before it plays: from bytes and links, what is alike once. */
#include "sim/run/effort.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static double
effort_s (const char *fidelity, const char *operations, gboolean remembers)
{
  g_autofree char *yaml = g_strdup_printf ("name: effort\niterations: 1\n"
                                           "fidelity: %s\n"
                                           "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1}\n"
                                           "job: {kind: collective, operations: [%s]}\n",
                                           fidelity, operations);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabModelChoice *choice = &fab_scenario_spec (play->scenario)->fidelity;

  return fab_effort_s (fab_simulation_dag (play->simulation), (const FabNetOps *) choice->info,
                       choice->params, remembers);
}

static void
what_is_alike_counts_once (G_GNUC_UNUSED void **state)
{
  const char *one = "{op: all_reduce, size: 64MiB}", *three = "{op: all_reduce, size: 64MiB, count: 3}",
             *two = "{op: all_reduce, size: 64MiB}, {op: all_reduce, size: 128MiB}";
  double s = effort_s ("packet", one, TRUE);

  assert_true (s > 0);
  assert_near (effort_s ("packet", three, TRUE), s, 1e-12);
  assert_near (effort_s ("packet", three, FALSE), 3 * s, 1e-12);
  assert_near (effort_s ("packet", two, TRUE), 3 * s, 1e-12);
}

/* Four ranks send 2 x 3/4 of 64 MiB each to the next one: over the NIC's two links alone that is 4 x 2 x 96 MiB. */
static void
packets_cross_links (G_GNUC_UNUSED void **state)
{
  const double hop_s = 1e-7, least_hops = 4 * 2 * 96.0 * 1024 * 1024 / 4096;
  double s = effort_s ("packet", "{op: all_reduce, size: 64MiB}", TRUE);

  assert_true (s >= least_hops * hop_s && s < 6 * least_hops * hop_s);
  assert_near (effort_s ("{kind: packet, mtu: 1KiB}", "{op: all_reduce, size: 64MiB}", TRUE), 4 * s, 1e-12);
  assert_near (effort_s ("fluid", "{op: all_reduce, size: 64MiB}", TRUE), 0, 1e-12);
}

static void
what_takes_long_is_said (G_GNUC_UNUSED void **state)
{
  FabDoubt doubt = { .better = "packet", .cost_s = 59 };
  g_autofree char *quick = fab_doubt_warning (&doubt);

  assert_null (quick);
  doubt.cost_s = 720;
  g_autofree char *minutes = fab_doubt_warning (&doubt);
  assert_string_equal (minutes, "an iteration takes at most about 12 min at that fidelity");
  doubt.cost_s = 36000;
  g_autofree char *hours = fab_doubt_warning (&doubt);
  assert_string_equal (hours, "an iteration takes at most about 10 h at that fidelity");
  doubt.better = NULL;
  assert_null (fab_doubt_warning (&doubt));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_alike_counts_once),
    cmocka_unit_test (packets_cross_links),
    cmocka_unit_test (what_takes_long_is_said),
  };

  return play_run_tests ("effort", tests, &catalog);
}
