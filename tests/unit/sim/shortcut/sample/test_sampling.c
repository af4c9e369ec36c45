/* SPDX-License-Identifier: Apache-2.0 */
/* test_sampling.c - collectives that are timed alone at packet: whole, in parts, or not at all. */
#include "sim/shortcut/sample/sampling.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

/* Collectives that follow one another, so that each is alone. */
#define JOB(nodes, algorithm, operations)                                   \
  "collectives: {kind: nccl" algorithm "}\n"                                \
  "cluster: {node: dgx-h100, nodes: " nodes                                 \
  ", fabric: {kind: leaf_spine, oversubscription: 4, nodes_per_leaf: 2}}\n" \
  "job: {kind: collective, operations: [" operations "]}\n"
#define RING "{op: all_gather, size: 64MiB}"
#define TREE "{op: all_reduce, size: 16MiB}"

typedef struct {
  FabTimePs step_ps;
  FabSamplingCount count;
} Played;

static Played
played (const char *fidelity, const char *job, guint n_threads)
{
  g_autofree char *yaml = g_strdup_printf ("name: sampling\niterations: 1\nfidelity: %s\n%s", fidelity, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  fab_simulation_set_threads (play->simulation, n_threads);
  assert_true (fab_simulation_step (play->simulation));
  return (Played){ fab_simulation_probe (play->simulation)->step.times.duration_ps,
                   fab_simulation_sampled (play->simulation) };
}

static double
ratio (Played a, Played b)
{
  return (double) a.step_ps / (double) b.step_ps;
}

/* A kind that is simulated whole takes what it takes at packet, and flows alone take less. */
static void
alone_it_takes_what_packets_take (G_GNUC_UNUSED void **state)
{
  const char *job = JOB ("4", "", RING ", " TREE);
  Played packet = played ("packet", job, 1), sampled = played ("sampled", job, 1),
         fluid = played ("fluid", job, 1);

  assert_int_equal (sampled.count.n_whole, 2);
  assert_int_equal (sampled.count.n_parts + sampled.count.n_skipped, 0);
  assert_near (ratio (sampled, packet), 1, 1e-6);
  assert_true (ABS (ratio (fluid, packet) - 1) > 1e-4);
  assert_true (sampled.count.least_factor <= sampled.count.most_factor && sampled.count.least_factor > 0.5);
  assert_int_equal (fluid.count.n_whole, 0);
}

/* Collectives that are alike are one kind. */
static void
a_kind_is_simulated_once (G_GNUC_UNUSED void **state)
{
  Played one = played ("sampled", JOB ("4", "", RING), 1),
         ten = played ("sampled", JOB ("4", "", "{op: all_gather, size: 64MiB, count: 10}"), 1);

  assert_int_equal (ten.count.n_whole, 1);
  assert_int_equal (ten.count.n_events, one.count.n_events);
  assert_near (ratio (ten, one), 10, 1e-6);
}

/* Of what takes too many events parts are simulated: the line through them is near the whole. */
static void
parts_say_what_the_whole_takes (G_GNUC_UNUSED void **state)
{
  const char *job = JOB ("4", "", "{op: all_gather, size: 128MiB}");
  Played packet = played ("packet", job, 1), whole = played ("sampled", job, 1);
  g_autofree char *third = g_strdup_printf ("{kind: sampled, effort: %" G_GUINT64_FORMAT "}",
                                            MAX (whole.count.n_events / 3, 10000));
  Played parts = played (third, job, 1);

  assert_int_equal (parts.count.n_parts, 1);
  assert_true (parts.count.n_events < whole.count.n_events);
  assert_near (ratio (parts, packet), 1, 0.02);
}

/* Where no part ends within the events, the collective takes what a stream takes. */
static void
what_is_too_large_stays_a_flow (G_GNUC_UNUSED void **state)
{
  const char *job = JOB ("16", ", algorithm: Tree", TREE);
  Played sampled = played ("{kind: sampled, effort: 10000}", job, 1), fluid = played ("fluid", job, 1);

  assert_int_equal (sampled.count.n_skipped, 1);
  assert_int_equal (sampled.count.n_whole + sampled.count.n_parts, 0);
  assert_int_equal (sampled.step_ps, fluid.step_ps);
}

static void
threads_change_nothing (G_GNUC_UNUSED void **state)
{
  const char *job = JOB ("4", "",
                         RING ", " TREE
                              ", {op: all_to_all, size: 64MiB}, {op: reduce_scatter, size: 512MiB}");
  Played one = played ("{kind: sampled, effort: 100000}", job, 1),
         many = played ("{kind: sampled, effort: 100000}", job, 4);

  assert_int_equal (one.step_ps, many.step_ps);
  assert_int_equal (one.count.n_events, many.count.n_events);
}

/* Before the samples are taken nothing is known of the least time: packets may take less than the plans say. */
static void
the_least_time_waits_for_the_samples (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf ("name: sampling\niterations: 2\nfidelity: sampled\n%s",
                                           JOB ("4", "", RING));
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_int_equal (fab_simulation_least_ps (play->simulation), 0);
  assert_true (fab_simulation_step (play->simulation));
  assert_true (fab_simulation_least_ps (play->simulation) > 0);
}

/* Jobs of other tenants are sampled as well. */
static void
neighbours_are_sampled (G_GNUC_UNUSED void **state)
{
  Played played_both = played ("sampled",
                               "cluster: {node: dgx-h100, nodes: 4}\n"
                               "job: {kind: collective, operations: [" RING "]}\n"
                               "neighbours: [{name: other, nodes: 2, first: 2,"
                               " job: {kind: collective, operations: [" TREE "]}}]\n",
                               1);

  assert_int_equal (played_both.count.n_whole, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (alone_it_takes_what_packets_take),
    cmocka_unit_test (a_kind_is_simulated_once),
    cmocka_unit_test (parts_say_what_the_whole_takes),
    cmocka_unit_test (what_is_too_large_stays_a_flow),
    cmocka_unit_test (threads_change_nothing),
    cmocka_unit_test (neighbours_are_sampled),
    cmocka_unit_test (the_least_time_waits_for_the_samples),
  };

  return play_run_tests ("sampling", tests, &catalog);
}
