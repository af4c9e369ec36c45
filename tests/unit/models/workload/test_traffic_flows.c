/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic_flows.c - flows of nodes with several GPUs, what is drawn, and when flows begin
 * (models/workload/traffic/traffic.c).
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"
#include "tests/support/rig.h"

static FabCatalog *catalog;

/* DGX H100 with so many of its GPUs and NICs on a single switch. */
typedef struct {
  guint nodes, gpus, nics;
} Size;

static Play *
play_of (Size size, const char *job)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: %u, "
      "nics_per_node: %u, fabric: switch}\n"
      "job: {kind: traffic, %s}\n",
      size.nodes, size.gpus, size.nics, job);

  return play_new (catalog, yaml, NULL);
}

static FabTimePs
step_ps (Size size, const char *job)
{
  g_autoptr (Play) play = play_of (size, job);

  assert_true (fab_simulation_step (play->simulation));
  return fab_simulation_probe (play->simulation)->step.times.duration_ps;
}

/* Ranks of a flow, "flow3.0 2->1". */
static void
ends_of (const FabDagCollective *flow, guint *from, guint *to)
{
  char *end;

  *from = (guint) g_ascii_strtoull (strchr (flow->name, ' ') + 1, &end, 10);
  assert_true (g_str_has_prefix (end, "->"));
  *to = (guint) g_ascii_strtoull (end + 2, NULL, 10);
}

static void
assert_flows (Size size, const char *job, const char *expected)
{
  g_autoptr (Play) play = play_of (size, job);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  g_autoptr (GString) flows = g_string_new (NULL);

  for (guint c = 0; c < dag->n_collectives; c++)
    g_string_append_printf (flows, "%s%s", c > 0 ? " " : "", strchr (dag->collectives[c].name, ' ') + 1);
  assert_string_equal (flows->str, expected);
  assert_int_equal (fab_simulation_totals (play->simulation)->flows, dag->n_collectives);
}

/* An incast takes the first rank of each other node, counted from the target, then the second, and those of the
 * target's own node last. A shift is by the ranks of a node, or by one where there is a single node. */
static void
patterns_go_by_nodes (G_GNUC_UNUSED void **state)
{
  static const Size six = { 3, 2, 2 }, four = { 1, 4, 1 };

  assert_flows (six, "size: 1MB, pattern: incast, target: 2", "4->2 0->2 5->2 1->2 3->2");
  assert_flows (six, "size: 1MB, pattern: incast, target: 3", "5->3 1->3 4->3 0->3 2->3");
  assert_flows (six, "size: 1MB, pattern: incast, target: 5", "1->5 3->5 0->5 2->5 4->5");
  assert_flows (six, "size: 1MB, pattern: incast, target: 5, senders: 1", "1->5");
  assert_flows (six, "size: 1MB, pattern: incast, target: 5, senders: 3", "1->5 3->5 0->5");
  assert_flows (six, "size: 1MB, pattern: incast, target: 5, senders: 4", "1->5 3->5 0->5 2->5");
  assert_flows (four, "size: 1MB, pattern: incast, target: 1, senders: 2", "2->1 3->1");
  assert_flows (six, "size: 1MB, pattern: shift", "0->2 1->3 2->4 3->5 4->0 5->1");
  assert_flows (six, "size: 1MB, pattern: shift, distance: 1", "0->1 1->2 2->3 3->4 4->5 5->0");
  assert_flows (four, "size: 1MB, pattern: shift", "0->1 1->2 2->3 3->0");
  assert_flows (four, "size: 1MB, pattern: shift, distance: 3", "0->3 1->0 2->1 3->2");
}

/* How often each pair was drawn. */
static void
count_pairs (const char *job, guint counts[4][4])
{
  g_autoptr (Play) play = play_of ((Size){ 4, 1, 1 }, job);
  const FabDag *dag = fab_simulation_dag (play->simulation);

  memset (counts, 0, 16 * sizeof counts[0][0]);
  for (guint c = 0; c < dag->n_collectives; c++) {
    guint from, to;

    ends_of (&dag->collectives[c], &from, &to);
    assert_true (from < 4 && to < 4);
    counts[from][to]++;
  }
}

/* Of four ranks there are 12 pairs, and each is drawn about as often; of a pattern over time, each of its own. */
static void
every_pair_is_drawn_as_often (G_GNUC_UNUSED void **state)
{
  guint counts[4][4];

  for (guint over_time = 0; over_time < 2; over_time++) {
    count_pairs (over_time ? "pattern: random, flows: 12000, size: 1B, arrivals: poisson, load: 0.5"
                           : "pattern: random, flows: 12000, size: 1B",
                 counts);
    for (guint from = 0; from < 4; from++)
      for (guint to = 0; to < 4; to++)
        if (from == to)
          assert_int_equal (counts[from][to], 0);
        else
          assert_in_range (counts[from][to], 870, 1130); /* four deviations of 30 */
  }
  count_pairs ("pattern: shift, flows: 4000, size: 1B, arrivals: poisson, load: 0.5", counts);
  for (guint from = 0; from < 4; from++)
    for (guint to = 0; to < 4; to++)
      if (to == (from + 1) % 4)
        assert_in_range (counts[from][to], 880, 1120);
      else
        assert_int_equal (counts[from][to], 0);
}

/* Over all permutations of four ranks without a fixed one that are one cycle, there are six of them, seeds take all. */
static void
permutations_are_cycles_of_all (G_GNUC_UNUSED void **state)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint seed = 1; seed <= 60; seed++) {
    g_autofree char *job = g_strdup_printf ("pattern: permutation, size: 1B}\nseed: %u #", seed);
    guint counts[4][4], at = 0, length = 0;
    GString *text = g_string_new (NULL);

    count_pairs (job, counts);
    do {
      guint next = 0;

      while (next < 4 && counts[at][next] == 0)
        next++;
      assert_true (next < 4);
      g_string_append_printf (text, "%u", next);
      at = next;
      length++;
    } while (at != 0 && length <= 4);
    assert_int_equal (length, 4);
    g_hash_table_add (seen, g_string_free (text, FALSE));
  }
  assert_int_equal (g_hash_table_size (seen), 6);
}

/* --- loads --- */

/* Bytes per second of a message between these ranks. */
static double
rate_of (Size size, guint from, guint to)
{
  g_autofree char *job = g_strdup_printf ("pattern: pairs, pairs: [{from: %u, to: %u}], size: 100GB", from,
                                          to);

  return 100e9 / fab_ps_to_seconds (step_ps (size, job));
}

/* A load is one of the NICs, of which ranks may share one; a rank has no more than one, as a message has. In a single
 * node it is one of the links between GPUs. The time over which flows arrive follows from it: 3000 flows of 1 MB. */
static void
a_load_is_one_of_a_ranks_share_of_nics (G_GNUC_UNUSED void **state)
{
  static const struct {
    Size size;
    guint to;
    double share;
  } rows[] = { { { 4, 1, 1 }, 1, 1 },   { { 4, 2, 2 }, 2, 1 },      { { 4, 4, 1 }, 4, 0.25 },
               { { 2, 8, 4 }, 8, 0.5 }, { { 4, 1, 2 }, 1, 1 },      { { 1, 2, 1 }, 1, 1 },
               { { 1, 8, 8 }, 1, 1 },   { { 3, 3, 2 }, 3, 2 / 3.0 } };
  static const struct {
    const char *keys;
    guint at_once, times; /* flows of an arrival; messages of a flow in all connections */
  } jobs[] = { { "pattern: random", 1, 1 },
               { "pattern: permutation, connections: 2", 1, 2 },
               { "pattern: shift, count: 3", 1, 3 },
               { "pattern: all_pairs, connections: 2, count: 2", 1, 4 },
               { "pattern: incast", 0, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double rate = rate_of (rows[i].size, 0, rows[i].to) * rows[i].share;
    guint n_ranks = rows[i].size.nodes * rows[i].size.gpus;

    for (guint k = 0; k < G_N_ELEMENTS (jobs); k++) {
      g_autofree char *job = g_strdup_printf ("%s, size: 1MB, arrivals: poisson, load: 0.5, flows: 600",
                                              jobs[k].keys);
      g_autoptr (Play) play = play_of (rows[i].size, job);
      const FabJobTotals *totals = fab_simulation_totals (play->simulation);
      guint at_once = jobs[k].at_once > 0 ? jobs[k].at_once : n_ranks - 1;
      guint n = (600 + at_once - 1) / at_once * at_once;
      double bytes = 1e6 * n * jobs[k].times, whole = n_ranks * rate;

      assert_near (totals->offered_fraction, bytes / (whole * fab_ps_to_seconds (totals->offered_ps)), 1e-3);
      assert_near (totals->offered_fraction, 0.5, at_once > 1 ? 0.4 : 0.12);
      assert_int_equal (totals->flows, n * (guint) (jobs[k].times == 2 || jobs[k].times == 4 ? 2 : 1));
    }
  }
}

/* --- times --- */

/* Tasks of times between flows: their number, and the sum of their times. */
static guint
arrivals_of (const FabDag *dag, FabTimePs *sum_ps)
{
  guint n = 0;

  *sum_ps = 0;
  for (guint t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].kind == FAB_SPAN_ARRIVAL) {
      assert_true (dag->tasks[t].duration_ps > 0);
      *sum_ps += fab_task_ps (&dag->tasks[t]);
      n++;
    }
  return n;
}

/* Flows that begin together wait for one time, and the times lie one behind the other. */
static void
flows_of_one_time_begin_together (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *pairs;
    guint n;
    FabTimePs sum_ps;
  } rows[] = {
    { "{from: 0, to: 1}, {from: 1, to: 2}", 0, 0 },
    { "{from: 0, to: 1, at: 1ps}", 1, 1 },
    { "{from: 0, to: 1, at: 7us}, {from: 1, to: 2, at: 7us}, {from: 2, to: 3}", 1, 7000000 },
    { "{from: 0, to: 1, at: 9us}, {from: 1, to: 2, at: 2us}, {from: 2, to: 3, at: 5us}, {from: 3, to: 0, at: 2us}",
      3, 9000000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *job = g_strdup_printf ("size: 1B, pattern: pairs, pairs: [%s]", rows[i].pairs);
    g_autoptr (Play) play = play_of ((Size){ 4, 1, 1 }, job);
    FabTimePs sum_ps;

    assert_int_equal (arrivals_of (fab_simulation_dag (play->simulation), &sum_ps), rows[i].n);
    assert_int_equal (sum_ps, rows[i].sum_ps);
  }
}

/* Senders of an incast begin together. With a number of flows the last of them ends the time of the load; a duration is
 * that time, and no flow begins after it. */
static void
arrivals_end_with_their_number_or_duration (G_GNUC_UNUSED void **state)
{
  static const char *const rows[] = { "pattern: incast, flows: 29", "pattern: incast, flows: 30",
                                      "pattern: incast, flows: 31", "pattern: incast, flows: 1",
                                      "pattern: incast, senders: 4, flows: 9" };
  static const guint n_flows[] = { 30, 30, 45, 15, 12 }, n_times[] = { 2, 2, 3, 1, 3 };
  FabTimePs sum_ps;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *job = g_strdup_printf ("%s, size: 1MB, arrivals: poisson, load: 0.5", rows[i]);
    g_autoptr (Play) play = play_of ((Size){ 16, 1, 1 }, job);
    const FabDag *dag = fab_simulation_dag (play->simulation);

    assert_int_equal (dag->n_collectives, n_flows[i]);
    assert_int_equal (arrivals_of (dag, &sum_ps), n_times[i]);
    assert_int_equal (fab_simulation_totals (play->simulation)->offered_ps, sum_ps);
  }
  g_autoptr (Play) play = play_of (
      (Size){ 16, 1, 1 }, "pattern: shift, size: 100kB, arrivals: poisson, load: 0.5, duration: 1ms");
  guint n = arrivals_of (fab_simulation_dag (play->simulation), &sum_ps);
  assert_int_equal (fab_simulation_totals (play->simulation)->offered_ps, 1000000000);
  assert_true (n > 1000);
  assert_true (sum_ps <= 1000000000 && sum_ps > 990000000);
}

/* --- what is said of a job --- */

static void
only_what_is_drawn_uses_the_seed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *job;
    gboolean uses_seed;
  } rows[] = {
    { "pattern: shift, size: 1B", FALSE },
    { "pattern: incast, size: 1B", FALSE },
    { "pattern: all_pairs, size: 1B", FALSE },
    { "pattern: pairs, pairs: [{from: 0, to: 1}], size: 1B", FALSE },
    { "pattern: random, size: 1B", TRUE },
    { "pattern: permutation, size: 1B", TRUE },
    { "pattern: shift, sizes: hadoop", TRUE },
    { "pattern: shift, sizes: listed, listed: [{size: 1kB, below: 1}]", TRUE },
    { "pattern: shift, size: 1B, arrivals: poisson, load: 0.5, flows: 3", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of ((Size){ 4, 1, 1 }, rows[i].job);

    if (fab_simulation_totals (play->simulation)->uses_seed != rows[i].uses_seed)
      fail_msg ("%s: seed %d", rows[i].job, !rows[i].uses_seed);
  }
}

/* What makes a job impossible is named when it is built. (transfer full) */
static char *
problem_of (const char *cluster, const char *job)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, %s}\njob: {kind: traffic, %s}\n", cluster, job);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  assert_null (error);
  FabSimulation *simulation = fab_simulation_new (scenario, &fab_models, NULL, &error);
  assert_true ((simulation == NULL) == (error != NULL));
  fab_simulation_free (simulation);
  return error != NULL ? g_strdup (error->message) : g_strdup ("");
}

static void
jobs_that_cannot_be_built_say_why (G_GNUC_UNUSED void **state)
{
  static const char four[] = "nodes: 4, gpus_per_node: 1, fabric: switch";
  static const struct {
    const char *cluster, *job, *message;
  } rows[] = {
    { "nodes: 1, gpus_per_node: 1, fabric: switch", "pattern: shift, size: 1B",
      "job: traffic needs two ranks, and there is one" },
    { "nodes: 2, gpus_per_node: 1, fabric: switch", "pattern: shift, size: 1B", "" },
    { four, "pattern: pairs, pairs: [{from: 0, to: 3}, {from: 3, to: 0}], size: 1B", "" },
    { four, "pattern: pairs, pairs: [{from: 4, to: 0}, {from: 1, to: 2}], size: 1B",
      "job: rank 4 does not exist; there are 4, from 0" },
    { four, "pattern: pairs, pairs: [{from: 1, to: 2}, {from: 0, to: 7}], size: 1B",
      "job: rank 7 does not exist; there are 4, from 0" },
    { four, "pattern: incast, target: 3, size: 1B", "" },
    { four, "pattern: incast, target: 4, size: 1B", "job: rank 4 does not exist; there are 4, from 0" },
    { four, "pattern: incast, senders: 3, size: 1B", "" },
    { four, "pattern: incast, senders: 4, size: 1B", "job: rank 4 does not exist; there are 4, from 0" },
    { four, "pattern: shift, distance: 3, size: 1B", "" },
    { four, "pattern: shift, distance: 4, size: 1B", "job: rank 4 does not exist; there are 4, from 0" },
    { four, "pattern: pairs, pairs: [{from: 0, to: 1}, {from: 1, to: 2}], count: 500001, size: 1B",
      "job: these are 2 flows of 500001 messages; the limit is 1000000 messages" },
    { four, "pattern: random, flows: 1000000, connections: 2, size: 1B",
      "job: these are 2000000 flows of 1 messages; the limit is 1000000 messages" },
    /* 50 GB/s bring more than a million flows of a byte in a millisecond, and drawing ends with the first too many. */
    { four, "pattern: random, arrivals: poisson, load: 1, duration: 1ms, size: 1B",
      "job: these are 1000001 flows of 1 messages; the limit is 1000000 messages" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *problem = problem_of (rows[i].cluster, rows[i].job);

    if (strcmp (problem, rows[i].message) != 0)
      fail_msg ("%s: %s", rows[i].job, problem);
  }
}

/* Ranks of nodes without NICs: the flow that has no way is named, or the first one for which a load needs one. */
static void
flows_without_a_way_are_refused (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    "{pattern: pairs, pairs: [{from: 0, to: 1}, {from: 1, to: 2}], size: 1B}",
    "{pattern: shift, size: 1B, arrivals: poisson, load: 0.5, flows: 3}"
  };
  static const char *const messages[] = { "job: rank 1 has no NIC through which to reach rank 2",
                                          "job: rank 0 has no NIC through which to reach rank 2" };
  const RigSpec spec = { .n_nodes = 2, .gpus_per_node = 2, .gpu_bytes_per_s = 1000000000 };
  g_autoptr (Rig) rig = rig_new (&spec);
  const FabWorkloadEnv env = { .cluster = &rig->cluster, .seed = 1 };

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    Params *params = params_new (&fab_workload_traffic.info, jobs[i]);
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    g_autoptr (GError) error = NULL;
    FabJobTotals totals = { 0 };

    assert_false (fab_workload_traffic.build (&env, params->params, builder, &totals, &error));
    assert_non_null (error);
    assert_string_equal (error->message, messages[i]);
    params_free (params);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (patterns_go_by_nodes),
    cmocka_unit_test (every_pair_is_drawn_as_often),
    cmocka_unit_test (permutations_are_cycles_of_all),
    cmocka_unit_test (a_load_is_one_of_a_ranks_share_of_nics),
    cmocka_unit_test (flows_of_one_time_begin_together),
    cmocka_unit_test (arrivals_end_with_their_number_or_duration),
    cmocka_unit_test (only_what_is_drawn_uses_the_seed),
    cmocka_unit_test (jobs_that_cannot_be_built_say_why),
    cmocka_unit_test (flows_without_a_way_are_refused),
  };

  return play_run_tests ("traffic_flows", tests, &catalog);
}
