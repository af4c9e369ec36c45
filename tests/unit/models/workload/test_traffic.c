/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic.c - who sends to whom, and when the last flow ends.
 *
 * DGX H100 with one GPU and one NDR port each on a single switch: a message of S bytes alone takes S / r and some
 * microseconds, r being what the port gives RDMA writes. Sizes are such that the microseconds do not count.
 */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "models/workload/traffic/arrivals.h"
#include "models/workload/traffic/sizes.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static char *
scenario (guint nodes, const char *job)
{
  return g_strdup_printf ("name: t\niterations: 2\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: 1,\n"
                          "  nics_per_node: 1, fabric: switch}\njob: {kind: traffic, %s%s}\n",
                          nodes, strstr (job, "sizes") != NULL ? "" : "size: 100MB, ", job);
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
  assert_near ((double) last_ps (4, "pattern: incast"), 3 * one_ps, 0.001);
  assert_near ((double) last_ps (4, "pattern: shift, count: 3"), 3 * one_ps, 1e-9);
  assert_near ((double) last_ps (4, "pattern: shift, connections: 5"), 5 * one_ps, 0.001);
  assert_near ((double) last_ps (4, "pattern: all_pairs"), 3 * one_ps, 0.001);
}

/* Half of all flows have 1 to 3 kB, the others 3 to 7 kB. */
static void
sizes_lie_on_straight_lines (G_GNUC_UNUSED void **state)
{
  const FlowSizePoint points[] = { { 1000, 0 }, { 3000, 0.5 }, { 7000, 1 } };
  const FlowSizes sizes = { "t", points, 3 };

  assert_near (flow_sizes_mean (&sizes), 0.5 * 2000 + 0.5 * 5000, 1e-9);
  assert_int_equal (flow_sizes_quantile (&sizes, 0), 1000);
  assert_int_equal (flow_sizes_quantile (&sizes, 0.25), 2000);
  assert_int_equal (flow_sizes_quantile (&sizes, 0.5), 3000);
  assert_int_equal (flow_sizes_quantile (&sizes, 0.75), 5000);
  assert_int_equal (flow_sizes_quantile (&sizes, 1), 7000);
  assert_null (flow_sizes_published ("uniform"));
}

/* Means of the published points, computed apart from the program. */
static void
published_sizes_are_distributions (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double mean_bytes;
  } known[] = { { "websearch", 1.7114e6 }, { "hadoop", 120.42e3 }, { "storage", 40.87e3 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    const FlowSizes *sizes = flow_sizes_published (known[i].name);

    assert_near (flow_sizes_mean (sizes), known[i].mean_bytes, 0.001);
    for (guint k = 1; k < sizes->n; k++)
      assert_true (sizes->points[k].bytes > sizes->points[k - 1].bytes
                   && sizes->points[k].below_fraction > sizes->points[k - 1].below_fraction);
    assert_true (sizes->points[0].below_fraction <= 0 && sizes->points[sizes->n - 1].below_fraction >= 1);
  }
}

/* Both kinds have the same mean. Exponential gaps have a deviation of one mean, log-normal ones of sigma 1 one of
 * sqrt (e - 1). */
static void
gaps_have_their_mean_and_deviation (G_GNUC_UNUSED void **state)
{
  static const struct {
    Arrivals arrivals;
    double deviation;
  } cases[] = { { { ARRIVALS_POISSON, 1e6, 0, 7 }, 1 }, { { ARRIVALS_LOGNORMAL, 1e6, 1, 7 }, 1.3108 } };
  enum { N = 100000 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double sum = 0, squares = 0;

    for (guint64 k = 0; k < N; k++) {
      double gap = (double) arrivals_gap_ps (&cases[i].arrivals, k) / 1e6;

      sum += gap;
      squares += gap * gap;
    }
    assert_near (sum / N, 1, 0.02);
    assert_near (sqrt (squares / N - sum / N * sum / N), cases[i].deviation, 0.05);
  }
}

/* Sum of all flows' bytes, and the number of flows that begin together with another one. */
static double
sum_bytes (guint nodes, const char *job, guint *n_flows)
{
  g_autofree char *yaml = scenario (nodes, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double sum = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    sum += (double) dag->collectives[c].plan.bytes;
  *n_flows = dag->n_collectives;
  return sum;
}

/* The load that the totals say, and what the flows bring in that time, r bytes per second and port. */
static void
assert_offered (const char *job, double r, double low, double high)
{
  g_autofree char *yaml = scenario (16, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabJobTotals *totals = fab_simulation_totals (play->simulation);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double sum = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    sum += (double) dag->collectives[c].plan.bytes;
  assert_int_equal (totals->flows, dag->n_collectives);
  assert_near (totals->offered_fraction, sum / (16 * r * fab_ps_to_seconds (totals->offered_ps)), 0.001);
  assert_true (totals->offered_fraction >= low && totals->offered_fraction <= high);
}

static void
the_load_that_was_drawn_is_said (G_GNUC_UNUSED void **state)
{
  double r = 100e6 / ((double) last_ps (16, "pattern: shift") * 1e-12);
  g_autofree char *yaml = scenario (16, "pattern: shift");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_offered ("pattern: random, sizes: hadoop, arrivals: poisson, load: 0.5, duration: 5ms", r, 0.45,
                  0.55);
  assert_offered ("pattern: random, sizes: hadoop, arrivals: poisson, load: 0.25, duration: 5ms", r, 0.22,
                  0.28);
  assert_offered ("pattern: random, sizes: hadoop, arrivals: poisson, load: 0.5, flows: 3000", r, 0.4, 0.6);
  /* Of bursts this far apart a short time has few, or one more than its share. */
  assert_offered (
      "pattern: random, sizes: websearch, arrivals: lognormal, burstiness: 3, load: 0.5, duration: 1ms", r, 0,
      0.4);
  assert_int_equal (fab_simulation_totals (play->simulation)->flows, 16);
  assert_int_equal (fab_simulation_totals (play->simulation)->offered_ps, 0);
}

/* 16 ports give RDMA writes r bytes per second each, as long as a shift takes for 100 MB: in 5 ms half of them are
 * 16 x 2.5 ms x r. With 100 MB each, an incast of 15 senders brings 15 flows at a time. */
static void
flows_arrive_at_their_load (G_GNUC_UNUSED void **state)
{
  double r = 100e6 / ((double) last_ps (16, "pattern: shift") * 1e-12);
  guint n_flows;

  assert_near (sum_bytes (16, "pattern: random, sizes: hadoop, arrivals: poisson, load: 0.5, duration: 5ms",
                          &n_flows),
               16 * 0.0025 * r, 0.1);
  assert_near (sum_bytes (16,
                          "pattern: random, sizes: storage, arrivals: lognormal, burstiness: 1, load: 0.5, "
                          "duration: 5ms",
                          &n_flows),
               16 * 0.0025 * r, 0.1);
  sum_bytes (16, "pattern: permutation, arrivals: poisson, load: 0.5, flows: 321", &n_flows);
  assert_int_equal (n_flows, 321);
  sum_bytes (16, "pattern: incast, arrivals: poisson, load: 0.5, flows: 30", &n_flows);
  assert_int_equal (n_flows, 30);
}

/* The second flow begins 10 ms after the first one, which ended before: the step is as much longer. What is listed out
 * of order begins in order all the same. */
static void
a_flow_begins_at_its_time (G_GNUC_UNUSED void **state)
{
  FabTimePs one_ps = last_ps (2, "pattern: pairs, pairs: [{from: 0, to: 1}]");

  assert_true (one_ps < FAB_PS_PER_S / 100);
  assert_int_equal (last_ps (2, "pattern: pairs, pairs: [{from: 0, to: 1, at: 10ms}, {from: 0, to: 1}]"),
                    FAB_PS_PER_S / 100 + one_ps);
  assert_flows (
      3, "pattern: pairs, pairs: [{from: 0, to: 1, at: 10ms}, {from: 1, to: 2, at: 5ms}, {from: 2, to: 0}]",
      "2->0 1->2 0->1");
}

static void
assert_refused (const char *job, const char *message)
{
  g_autofree char *yaml = scenario (4, job);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                     &error);

  assert_null (read);
  assert_non_null (strstr (error->message, message));
}

static void
workloads_that_contradict_themselves_are_refused (G_GNUC_UNUSED void **state)
{
  assert_refused ("pattern: random, sizes: websearch, size: 1MB",
                  "sizes: websearch draws the size of each flow");
  assert_refused ("pattern: random, sizes: listed", "listed is empty");
  assert_refused ("pattern: random, sizes: listed, listed: [{size: 2kB, below: 0.5}, {size: 1kB, below: 1}]",
                  "must ascend");
  assert_refused ("pattern: random, sizes: listed, listed: [{size: 2kB, below: 0.5}]", "no flow is longer");
  assert_refused ("pattern: random, sizes: fixed, load: 0.5", "need flows over time: arrivals: poisson");
  assert_refused ("pattern: random, arrivals: poisson, duration: 1ms", "needs a load");
  assert_refused ("pattern: random, arrivals: poisson, load: 0.5", "give one of duration");
  assert_refused ("pattern: random, arrivals: poisson, load: 0.5, duration: 1ms, flows: 5",
                  "give one of duration");
  assert_refused (
      "pattern: pairs, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, at: 1ms}]",
      "leave out at and size");
  assert_refused ("pattern: shift, sizes: fixed", "missing key 'size'");
  assert_refused ("pattern: random, arrivals: poisson, load: 150%, duration: 1ms", "is more than 1");
}

/* Of a list of flows each may have a size of its own; one that has none takes that of the job. */
static void
flows_of_a_list_may_have_sizes_of_their_own (G_GNUC_UNUSED void **state)
{
  static const char job[] = "name: t\ncluster: {node: dgx-h100, nodes: 3, gpus_per_node: 1, fabric: switch}\n"
                            "job: {kind: traffic, pattern: pairs, pairs: [{from: 0, to: 1, size: 3kB}%s]}\n";
  g_autofree char *all = g_strdup_printf (job, ", {from: 1, to: 2, size: 5kB}"),
                  *some = g_strdup_printf (job, ", {from: 1, to: 2}");
  g_autoptr (Play) play = play_new (catalog, all, NULL);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  g_autoptr (GError) error = NULL;

  assert_int_equal (dag->n_collectives, 2);
  assert_int_equal (dag->collectives[0].plan.bytes, 3000);
  assert_int_equal (dag->collectives[1].plan.bytes, 5000);
  assert_null (fab_scenario_parse ("t", some, strlen (some), NULL, &fab_models, catalog, &error));
  assert_non_null (strstr (error->message, "missing key 'size'"));
  g_autofree char *usual = scenario (3,
                                     "pattern: pairs, pairs: [{from: 0, to: 1, size: 1B}, {from: 1, to: 2}]");
  g_autoptr (Play) mixed = play_new (catalog, usual, NULL);
  assert_int_equal (fab_simulation_dag (mixed->simulation)->collectives[0].plan.bytes, 1);
  assert_int_equal (fab_simulation_dag (mixed->simulation)->collectives[1].plan.bytes, 100000000);
}

/* Half of all flows have up to 1 kB, a quarter exactly 4 kB, as two rows of one size would say it, and a quarter up to
 * 8 kB: 500, 4000 and 6000 bytes in the mean. With arrivals the time until the last flow is the bytes over the rate. */
static void
listed_sizes_are_drawn_as_listed (G_GNUC_UNUSED void **state)
{
  enum { N = 4000 };
  static const char listed[] =
      "pattern: random, flows: 4000, sizes: listed, "
      "listed: [{size: 1kB, below: 0.5}, {size: 3999B, below: 0.5}, {size: 4kB, below: 0.75}, {size: 8kB, below: 1}]%s";
  g_autofree char *at_once = g_strdup_printf (listed, ""),
                  *over_time = g_strdup_printf (listed, ", arrivals: poisson, load: 0.5"),
                  *yaml = scenario (16, at_once);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n_small = 0, n_middle = 0, n_large = 0;
  double sum = 0;

  assert_int_equal (dag->n_collectives, N);
  for (guint c = 0; c < N; c++) {
    FabBytes bytes = dag->collectives[c].plan.bytes;

    assert_true (bytes >= 1 && bytes <= 8000 && (bytes <= 1000 || bytes >= 3999));
    n_small += bytes <= 1000;
    n_middle += bytes == 3999 || bytes == 4000;
    n_large += bytes > 4000;
    sum += (double) bytes;
  }
  assert_near (n_small, N / 2.0, 0.05);
  assert_near (n_middle, N / 4.0, 0.07);
  assert_near (n_large, N / 4.0, 0.07);
  assert_near (sum / N, 0.5 * 500 + 0.25 * 4000 + 0.25 * 6000, 0.03);
  double r = 100e6 / ((double) last_ps (16, "pattern: shift") * 1e-12);
  assert_offered (over_time, r, 0.47, 0.53);
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
    cmocka_unit_test (sizes_lie_on_straight_lines),
    cmocka_unit_test (published_sizes_are_distributions),
    cmocka_unit_test (gaps_have_their_mean_and_deviation),
    cmocka_unit_test (flows_arrive_at_their_load),
    cmocka_unit_test (the_load_that_was_drawn_is_said),
    cmocka_unit_test (a_flow_begins_at_its_time),
    cmocka_unit_test (workloads_that_contradict_themselves_are_refused),
    cmocka_unit_test (flows_of_a_list_may_have_sizes_of_their_own),
    cmocka_unit_test (listed_sizes_are_drawn_as_listed),
    cmocka_unit_test (a_rank_that_is_not_there_is_named),
  };

  catalog = play_catalog ();
  int n_failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
