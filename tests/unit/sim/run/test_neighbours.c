/* SPDX-License-Identifier: Apache-2.0 */
/* test_neighbours.c - jobs on nodes of one machine: each sees its own nodes, and they meet on links only.
 *
 * DGX A100 with one HDR port, two to a leaf, one uplink for two ports down. A ring over two nodes puts the same bytes
 * on every port and, where the nodes are under two leaves, on the uplink each way.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/scenario/neighbour_params.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static char *
scenario (const char *neighbours)
{
  return g_strdup_printf (
      "name: t\niterations: 3\ncollectives: {kind: plain, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 1,\n"
      "  fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\nneighbours: %s\n",
      neighbours);
}

static Play *
play_of (const char *neighbours)
{
  g_autofree char *yaml = scenario (neighbours);

  return play_new (catalog, yaml, NULL);
}

static FabTimePs
last_ps (Play *play)
{
  FabTimePs ps = 0;

  while (fab_simulation_step (play->simulation))
    ps = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  return ps;
}

static FabTimePs
alone_ps (Play *play, guint which)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new_alone (play->scenario, &fab_models, which, NULL);

  assert_true (fab_simulation_step (simulation));
  return fab_simulation_probe (simulation)->step.times.duration_ps;
}

#define SAME "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}"
#define ACROSS "[{name: n, nodes: 2, first: 1, stride: 2, " SAME "}]"
#define APART "[{name: n, nodes: 2, first: 2, " SAME "}]"

static void
a_job_sees_the_nodes_that_are_left (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (ACROSS);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autofree char *gpu = fab_graph_vertex_name (cluster->graph, cluster->gpus[8]),
                  *nic = fab_graph_vertex_name (cluster->graph, cluster->nics[1]);

  assert_int_equal (cluster->n_nodes, 2);
  assert_string_equal (gpu, "node2/gpu0");
  assert_string_equal (nic, "node2/nic0");
}

/* Wires alone take 0.01 ms of 8 ms, during which the other one has the whole uplink. */
static void
two_that_share_an_uplink_have_half_of_it_each (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (ACROSS);
  FabTimePs own_ps = alone_ps (play, FAB_FIRST_JOB);

  assert_int_equal (own_ps, alone_ps (play, 0));
  assert_near ((double) last_ps (play), 2.0 * (double) own_ps, 0.005);
}

/* A neighbour that begins when the first job's iteration ends does not slow it. Half of an iteration later, the two
 * overlap for half of each: half of the first alone, then the remaining half at half the rate. The neighbour's own
 * iterations count from where it begins. */
static void
a_neighbour_begins_when_it_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) across = play_of (ACROSS);
  FabTimePs own_ps = alone_ps (across, FAB_FIRST_JOB);
  const struct {
    gint64 halves;
    double times; /* of the first job's iteration alone */
  } cases[] = { { 0, 2 }, { 1, 1.5 }, { 2, 1 }, { 18, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabTimePs start_ps = cases[i].halves * own_ps / 2;
    g_autofree char *text = g_strdup_printf (
        "[{name: n, nodes: 2, first: 1, stride: 2, start: %" G_GINT64_FORMAT "ps, " SAME "}]", start_ps);
    g_autoptr (Play) play = play_of (text);

    assert_true (fab_simulation_step (play->simulation));
    assert_near ((double) fab_simulation_probe (play->simulation)->step.times.duration_ps,
                 cases[i].times * (double) own_ps, 0.005);
    last_ps (play);
    const GArray *steps = fab_neighbours_steps (fab_simulation_neighbours (play->simulation), 0);
    assert_int_equal (steps->len > 0, cases[i].halves < 6);
    if (steps->len > 0)
      assert_int_equal (g_array_index (steps, FabStepRecord, 0).times.start_ps, start_ps);
  }
}

static void
two_under_leaves_of_their_own_do_not_meet (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (APART);
  FabTimePs own_ps = alone_ps (play, FAB_FIRST_JOB);
  const GArray *steps;

  assert_int_equal (last_ps (play), own_ps);
  steps = fab_neighbours_steps (fab_simulation_neighbours (play->simulation), 0);
  assert_in_range (steps->len, 2, 3);
  assert_int_equal (g_array_index (steps, FabStepRecord, 0).times.duration_ps, own_ps);
}

/* The first job's link loads are of the links: both jobs'. Its own two ports and theirs carry 2 x 15/16 of the
 * size. */
static void
links_carry_what_both_send (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (APART);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  guint n_ports = 0;

  assert_true (fab_simulation_step (play->simulation));
  assert_true (fab_simulation_step (play->simulation));
  const GArray *loads = fab_simulation_probe (play->simulation)->link_loads;
  for (guint i = 0; i < loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, i);
    const FabLink *link = fab_graph_link (cluster->graph, load->link);

    if (fab_graph_vertex (cluster->graph, link->dst)->node != FAB_NO_NODE
        || fab_graph_vertex (cluster->graph, link->src)->node == FAB_NO_NODE)
      continue;
    n_ports++;
    assert_int_equal (load->bytes, 187500000);
  }
  assert_int_equal (n_ports, 4);
}

/* The neighbour could go on for ever. */
static void
a_job_that_hangs_is_not_outlived (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strconcat (
      "faults: [{what: link, from: node0/nic0, to: leaf0, dead: true, at: 1ms}]\n", NULL);
  g_autofree char *base = scenario (APART), *whole = g_strconcat (base, yaml, NULL);
  g_autoptr (Play) play = play_new (catalog, whole, NULL);

  assert_false (fab_simulation_step (play->simulation));
  assert_false (fab_simulation_check (play->simulation, NULL));
}

/* Under leaves of its own a neighbour takes as long as it takes alone, with its own slow ranks and the kernels that its
 * collectives slow, and has the same figures; more than one of them, too. */
static void
neighbours_apart_are_as_alone (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    "kind: ddp, model: gpt2-xl, sequence: 128",
    "kind: ddp, model: gpt2-xl, sequence: 128, stragglers: [{rank: 1, slowness: 2}]"
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 2\ncontention: %s\ncollectives: {kind: plain, algorithm: ring}\n"
        "cluster: {node: dgx-a100, nodes: 6, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 2}}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 40GB}]}\n"
        "neighbours: [{name: n, nodes: 2, first: 2, job: {%s}}, {name: m, nodes: 2, first: 4, job: {kind: collective, "
        "operations: [{op: all_reduce, size: 100MB}]}}]\n",
        i % 2 == 0 ? "yes" : "no", jobs[i / 2]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabNeighbours *neighbours = fab_simulation_neighbours (play->simulation);

    assert_int_equal (fab_neighbours_n (neighbours), 2);
    last_ps (play);
    for (guint which = 0; which < 2; which++) {
      g_autoptr (FabSimulation) alone = fab_simulation_new_alone (play->scenario, &fab_models, which, NULL);
      const GArray *steps = fab_neighbours_steps (neighbours, which);

      assert_true (steps->len > 1);
      assert_true (fab_simulation_step (alone));
      const FabStepRecord *expected = &fab_simulation_probe (alone)->step,
                          *found = &g_array_index (steps, FabStepRecord, 0);
      assert_int_equal (found->times.duration_ps, expected->times.duration_ps);
      assert_int_equal (found->times.compute_ps, expected->times.compute_ps);
      assert_int_equal (found->times.exposed_ps, expected->times.exposed_ps);
      assert_near (found->mfu_fraction, expected->mfu_fraction, 1e-12);
      assert_near (found->tokens_per_s, expected->tokens_per_s, 1e-12);
      assert_int_equal (found->mfu_fraction > 0, which == 0);
    }
  }
}

/* A neighbour whose job cannot be built is told as a job of one's own is. */
static void
a_neighbour_must_be_possible (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = scenario (
      "[{name: n, nodes: 2, first: 2, job: {kind: ddp, model: gpt2-xl, micro_batch: 4, global_batch: 100}}]");
  g_autofree char *problem = play_problem (catalog, yaml);

  assert_true (problem != NULL && strstr (problem, "global_batch 100 is not a multiple") != NULL);
}

static void
assert_message (const char *neighbours, const char *part)
{
  g_autofree char *yaml = scenario (neighbours);
  g_autoptr (GError) error = NULL;
  FabScenario *read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog, &error);

  assert_null (read);
  if (strstr (error->message, part) == NULL)
    fail_msg ("'%s' is not in: %s", part, error->message);
}

static void
nodes_are_there_and_nobody_elses (G_GNUC_UNUSED void **state)
{
  assert_message ("[{name: n, nodes: 3, first: 2, " SAME "}]",
                  "its last node would be 4, and the machine has 0 to 3");
  assert_message ("[{name: n, nodes: 4, first: 0, " SAME "}]", "no node is left for the job itself");
  assert_message ("[{name: n, nodes: 2, first: 0, " SAME "}, {name: m, nodes: 1, first: 1, " SAME "}]",
                  "node 1 already belongs to 'n'");
}

static FabEpisodesCount
episodes_with (guint n_nodes, const char *neighbours)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 2\nfidelity: {kind: packet, mtu: 16KiB, skip: false}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 4, "
      "hidden: 768, heads: 4, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 4, nics_per_node: 2, fabric: switch}\n"
      "job: {kind: fsdp, model: m, in_flight: 3, micro_batch: 1, sequence: 64}\n%s",
      n_nodes, neighbours);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  fab_simulation_set_threads (play->simulation, 2);
  while (fab_simulation_step (play->simulation))
    ;
  return fab_simulation_episodes (play->simulation);
}

/* What collectives do to each other is played before the clock starts where all of them are known: those of neighbours
 * come at times that a job does not tell. */
static void
only_a_job_alone_is_rehearsed (G_GNUC_UNUSED void **state)
{
  FabEpisodesCount alone = episodes_with (2, ""), beside = episodes_with (4, "neighbours: " APART "\n");

  assert_true (alone.n_rehearsals > 0);
  assert_true (alone.n_warm_ups > 0);
  assert_int_equal (beside.n_rehearsals, 0);
  assert_true (beside.n_warm_ups > 0);
}

/* Another seed draws other pairs of a permutation, and nothing of a collective. */
static void
a_neighbour_that_draws_uses_the_seed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *neighbours;
    gboolean uses_seed;
  } rows[] = {
    { APART, FALSE },
    { "[{name: n, nodes: 2, first: 2, job: {kind: traffic, pattern: permutation, size: 1MB}}]", TRUE },
    { "[{name: n, nodes: 1, first: 2, " SAME "}, {name: m, nodes: 1, first: 3,\n"
      "  job: {kind: traffic, pattern: permutation, size: 1MB}}]",
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].neighbours);

    assert_int_equal (fab_neighbours_use_seed (fab_simulation_neighbours (play->simulation)),
                      rows[i].uses_seed);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_job_sees_the_nodes_that_are_left),
    cmocka_unit_test (two_that_share_an_uplink_have_half_of_it_each),
    cmocka_unit_test (a_neighbour_begins_when_it_is_told),
    cmocka_unit_test (two_under_leaves_of_their_own_do_not_meet),
    cmocka_unit_test (links_carry_what_both_send),
    cmocka_unit_test (a_job_that_hangs_is_not_outlived),
    cmocka_unit_test (neighbours_apart_are_as_alone),
    cmocka_unit_test (a_neighbour_must_be_possible),
    cmocka_unit_test (nodes_are_there_and_nobody_elses),
    cmocka_unit_test (only_a_job_alone_is_rehearsed),
    cmocka_unit_test (a_neighbour_that_draws_uses_the_seed),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("neighbours", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
