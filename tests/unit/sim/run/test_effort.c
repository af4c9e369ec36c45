/* SPDX-License-Identifier: Apache-2.0 */
/* test_effort.c - how long a network will take, said before it plays: from bytes and links, what is alike once. */
#include "sim/run/effort.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static FabEffort
effort (const char *fidelity, const char *operations)
{
  g_autofree char *yaml = g_strdup_printf ("name: effort\niterations: 1\n"
                                           "fidelity: %s\n"
                                           "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1}\n"
                                           "job: {kind: collective, operations: [%s]}\n",
                                           fidelity, operations);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabModelChoice *choice = &fab_scenario_spec (play->scenario)->fidelity;

  return fab_effort (fab_simulation_dag (play->simulation), (const FabNetOps *) choice->info, choice->params);
}

static void
what_is_alike_counts_once (G_GNUC_UNUSED void **state)
{
  const char *one = "{op: all_reduce, size: 64MiB}", *three = "{op: all_reduce, size: 64MiB, count: 3}",
             *two = "{op: all_reduce, size: 64MiB}, {op: all_reduce, size: 128MiB}";
  double s = effort ("packet", one).all_s;

  assert_true (s > 0);
  assert_near (effort ("packet", one).alike_s, s, 1e-12);
  assert_near (effort ("packet", three).alike_s, s, 1e-12);
  assert_near (effort ("packet", three).all_s, 3 * s, 1e-12);
  assert_near (effort ("packet", two).alike_s, 3 * s, 1e-12);
  assert_near (effort ("packet", two).all_s, 3 * s, 1e-12);
}

/* Four ranks send 2 x 3/4 of 64 MiB each to the next one: over the NIC's two links alone that is 4 x 2 x 96 MiB. */
static void
packets_cross_links (G_GNUC_UNUSED void **state)
{
  const double hop_s = 1e-7, least_hops = 4 * 2 * 96.0 * 1024 * 1024 / 4096;
  double s = effort ("packet", "{op: all_reduce, size: 64MiB}").all_s;

  assert_true (s >= least_hops * hop_s && s < 6 * least_hops * hop_s);
  assert_near (effort ("{kind: packet, mtu: 1KiB}", "{op: all_reduce, size: 64MiB}").all_s, 4 * s, 1e-12);
  assert_near (effort ("fluid", "{op: all_reduce, size: 64MiB}").all_s, 0, 1e-12);
}

static void
assert_shown (double alike_s, double all_s, const char *expected)
{
  g_autofree char *text = fab_effort_show (&(FabEffort){ alike_s, all_s });

  assert_string_equal (text, expected);
}

/* Seconds below two minutes, minutes below two hours; one end where both read the same. */
static void
both_ends_are_shown (G_GNUC_UNUSED void **state)
{
  assert_shown (93, 93, "at most about 93 s");
  assert_shown (119, 120, "at most about 2 min, or 119 s if collectives that are alike are simulated once");
  assert_shown (721, 18000, "at most about 5 h, or 12 min if collectives that are alike are simulated once");
  assert_shown (7199, 7200, "at most about 2 h, or 120 min if collectives that are alike are simulated once");
  assert_shown (720, 725, "at most about 12 min");
}

static void
what_takes_long_is_said (G_GNUC_UNUSED void **state)
{
  FabDoubt doubt = { .better = "packet", .effort = { 60, 6000 } };
  g_autofree char *quick = fab_doubt_warning (&doubt);

  assert_null (quick);
  doubt.effort = (FabEffort){ 61, 18000 };
  g_autofree char *hours = fab_doubt_warning (&doubt);
  assert_string_equal (
      hours, "an iteration at that fidelity takes at most about 5 h, or 61 s if collectives that are alike "
             "are simulated once");
  doubt.better = NULL;
  assert_null (fab_doubt_warning (&doubt));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_alike_counts_once),
    cmocka_unit_test (packets_cross_links),
    cmocka_unit_test (both_ends_are_shown),
    cmocka_unit_test (what_takes_long_is_said),
  };

  return play_run_tests ("effort", tests, &catalog);
}
