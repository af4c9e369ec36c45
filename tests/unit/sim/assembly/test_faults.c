/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults.c - what is broken in a scenario, and what others do beside it, changes the run as theory says.
 *
 * Rings of the plain library over DGX A100 with 4 HDR NICs: NVLink has ten times their rate, so NICs bind, each ring
 * has one, and all rings carry equal parts. An all-reduce takes L + S / rate.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/load.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define MACHINE \
  "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 4, fabric: {kind: rail, nodes_per_leaf: 4}}\n"

static char *
scenario (const char *machine, const char *more)
{
  return g_strdup_printf ("name: t\niterations: 2\ncollectives: {kind: plain, algorithm: ring}\n%s"
                          "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n%s",
                          machine, more);
}

static Play *
play_of (const char *machine, const char *more)
{
  g_autofree char *yaml = scenario (machine, more);

  return play_new (catalog, yaml, NULL);
}

/* Duration of one iteration, in ps. */
static FabTimePs
step_ps (Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return fab_simulation_probe (play->simulation)->step.times.duration_ps;
}

static FabTimePs
first_step_ps (const char *machine, const char *more)
{
  g_autoptr (Play) play = play_of (machine, more);

  return step_ps (play);
}

static FabTimePs
startup_ps (void)
{
  g_autoptr (Play) play = play_of (MACHINE, "");

  return fab_simulation_dag (play->simulation)->collectives[0].plan.startup_ps;
}

/* --- from the start --- */

/* The ring through the slow NIC has a fourth of the bytes at half the rate, and the others wait for it. */
static void
a_slow_nic_sets_the_pace_of_all (G_GNUC_UNUSED void **state)
{
  double usual_ps = (double) (first_step_ps (MACHINE, "") - startup_ps ());
  FabTimePs slow_ps = first_step_ps (MACHINE, "faults: [{what: nic, name: node2/nic1, rate: 50%}]\n");

  assert_near ((double) (slow_ps - startup_ps ()), 2 * usual_ps, 1e-9);
}

/* Two faults of one NIC leave half of a half. */
static void
faults_of_one_link_add_up (G_GNUC_UNUSED void **state)
{
  double usual_ps = (double) (first_step_ps (MACHINE, "") - startup_ps ());
  FabTimePs slow_ps = first_step_ps (MACHINE, "faults: [{what: nic, name: node2/nic1, rate: 50%},\n"
                                              "  {what: link, from: leaf1, to: node2/nic1, rate: 50%}]\n");

  assert_near ((double) (slow_ps - startup_ps ()), 4 * usual_ps, 1e-9);
}

/* Three rings have a third of the bytes each, not a fourth. */
static void
all_nodes_use_as_many_nics_as_the_poorest_has (G_GNUC_UNUSED void **state)
{
  double usual_ps = (double) (first_step_ps (MACHINE, "") - startup_ps ());
  g_autoptr (Play) play = play_of (MACHINE, "faults: [{what: nic, name: node2/nic1, dead: true}]\n");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);

  assert_int_equal (cluster->nics_per_node, 3);
  for (guint node = 0; node < 4; node++) {
    g_autofree char *first = fab_graph_vertex_name (cluster->graph, cluster->nics[node * 3]),
                    *second = fab_graph_vertex_name (cluster->graph, cluster->nics[node * 3 + 1]);

    assert_true (g_str_has_suffix (first, "/nic0") && g_str_has_suffix (second, "/nic2"));
  }
  assert_near ((double) (step_ps (play) - startup_ps ()), usual_ps * 4 / 3, 1e-9);
}

/* NIC 1 is dead in one node and NIC 3 in another: three NICs each, 0, 1 and 2 as far as they live, and node 2 has its
 * NIC 3 left for the missing one. */
static void
a_spare_nic_stands_in (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (
      MACHINE,
      "faults: [{what: nic, name: node2/nic1, dead: true}, {what: nic, name: node3/nic3, dead: true}]\n");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autofree char *spare = fab_graph_vertex_name (cluster->graph, cluster->nics[2 * 3 + 1]);

  assert_int_equal (cluster->nics_per_node, 3);
  assert_string_equal (spare, "node2/nic3");
  for (guint i = 0; i < 12; i++)
    assert_int_equal (fab_cluster_find_nic (cluster, cluster->nics[i]), i);
  assert_true (step_ps (play) > first_step_ps (MACHINE, ""));
}

static void
a_dead_leaf_is_a_dead_rail (G_GNUC_UNUSED void **state)
{
  assert_int_equal (first_step_ps (MACHINE, "faults: [{what: switch, name: leaf1, dead: true}]\n"),
                    first_step_ps (MACHINE, "faults: [{what: rail, rail: 1, dead: true}]\n"));
}

/* 2(nodes - 1) = 6 of the steps go from node to node, each as long as the longest of these hops. */
static void
latency_is_added_to_every_step_between_nodes (G_GNUC_UNUSED void **state)
{
  FabTimePs usual_ps = first_step_ps (MACHINE, "");
  FabTimePs far_ps = first_step_ps (MACHINE,
                                    "faults: [{what: link, from: leaf1, to: node0/nic1, latency: 2us}]\n");

  assert_int_equal (far_ps - usual_ps, 6 * 2000000);
}

static void
constant_load_leaves_the_rest (G_GNUC_UNUSED void **state)
{
  double usual_ps = (double) (first_step_ps (MACHINE, "") - startup_ps ());
  const char *const fidelities[] = { "fidelity: fluid\n", "fidelity: analytic\n" };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    g_autofree char *more = g_strconcat (fidelities[i], "background: [{load: 30%, links: all}]\n", NULL);
    FabTimePs loaded_ps = first_step_ps (MACHINE, more);

    assert_near ((double) (loaded_ps - startup_ps ()), usual_ps / 0.7, 1e-9);
  }
}

/* --- while the job runs --- */

/* 1 ms in which nothing moves on one rail: all rings move together. */
static void
an_outage_lasts_as_long_as_it_lasts (G_GNUC_UNUSED void **state)
{
  FabTimePs usual_ps = first_step_ps (MACHINE, ""), hit_ps;

  hit_ps = first_step_ps (
      MACHINE, "faults: [{what: link, from: node0/nic0, to: leaf0, dead: true, at: 3ms, until: 4ms}]\n");
  assert_in_range (hit_ps - usual_ps, 1000000000, 1000000002);
}

/* From t on at half the rate: what was left takes twice as long. */
static void
a_loss_of_rate_stretches_what_is_left (G_GNUC_UNUSED void **state)
{
  FabTimePs usual_ps = first_step_ps (MACHINE, ""), at_ps = 5000000000;
  FabTimePs hit_ps = first_step_ps (MACHINE, "faults: [{what: rail, rail: 3, rate: 50%, at: 5ms}]\n");

  assert_in_range (hit_ps - at_ps, 2 * (usual_ps - at_ps) - 1, 2 * (usual_ps - at_ps) + 2);
}

static void
a_dead_link_hangs_the_run_and_is_named (G_GNUC_UNUSED void **state)
{
  static const char *const besides[] = {
    "", "background: [{kind: bursts, load: 10%, links: leaf2}]\n",
    "background: [{kind: transfer, from: node1, to: node3, rate: 1Gb/s}]\n"
  };

  for (guint i = 0; i < G_N_ELEMENTS (besides); i++) {
    g_autofree char *more = g_strconcat (
        "faults: [{what: link, from: node0/nic0, to: leaf0, dead: true, at: 5ms}]\n", besides[i], NULL);
    g_autoptr (Play) play = play_of (MACHINE, more);
    g_autoptr (GError) error = NULL;

    assert_false (fab_simulation_step (play->simulation));
    assert_false (fab_simulation_check (play->simulation, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_HUNG));
    assert_string_equal (error->message,
                         "iteration 0 never ends: all_reduce operation0.0, begun at 0 s, hangs on link "
                         "node0/nic0 -> leaf0, dead since 5 ms");
  }
}

static void
a_run_without_faults_does_not_hang (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (MACHINE, "");

  assert_true (fab_simulation_check (play->simulation, NULL));
  step_ps (play);
  assert_true (fab_simulation_check (play->simulation, NULL));
}

/* One stream at R beside bursts of 0.9 R for a third of the time: in the mean 0.7 R are left. Some 4700 bursts; means
 * of that many exponential times are within 3 %. */
static void
bursts_have_the_mean_load (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (2);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
  g_autoptr (FabDisturbancesPlan) plan = fab_disturbances_plan_new ();
  LoadItem item = { 0 };
  FabPath path = { 0 };

  fab_router_append (rig->router, rig_gpu (rig, 0), rig_gpu (rig, 1), 0, &path);
  fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  FabBursts bursts = { path.links[0], 0.3, 0.9, 1000000, 7 };
  g_array_append_val (plan->bursts, bursts);
  item.stream = (FabStream){
    .footprint = footprint, .bytes = G_GUINT64_CONSTANT (10000000000), .wire_factor = 1, .share = 1
  };
  load_play_beside (rig, &fab_net_fluid, plan, &item, 1, NULL);
  assert_near ((double) item.end_ps, 1e10 / 0.7, 0.03);
}

/* HDR is 25 GB/s of line rate, of which the flow wants a tenth; its headers cost it another 0.6 % of that. */
static void
a_side_flow_takes_its_rate (G_GNUC_UNUSED void **state)
{
  double usual_ps = (double) (first_step_ps (MACHINE, "") - startup_ps ());
  FabTimePs beside_ps = first_step_ps (
      MACHINE,
      "background: [{kind: transfer, from: node0/nic0, to: node1/nic0, rate: 20Gb/s, every: 1ms}]\n");

  assert_near ((double) (beside_ps - startup_ps ()), usual_ps / 0.9, 0.003);
}

/* --- what is wrong with it --- */

static char *
message_of (const char *machine, const char *more)
{
  g_autofree char *yaml = scenario (machine, more);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                     &error);
  FabSimulation *simulation = read ? fab_simulation_new (read, &fab_models, NULL, &error) : NULL;

  assert_null (simulation);
  return g_strdup (error->message);
}

static void
assert_message (const char *machine, const char *more, const char *part)
{
  g_autofree char *message = message_of (machine, more);

  if (strstr (message, part) == NULL)
    fail_msg ("'%s' is not in: %s", part, message);
}

static void
names_are_checked_where_they_stand (G_GNUC_UNUSED void **state)
{
  assert_message (MACHINE, "faults:\n  - {what: nic, name: node9/nic1, dead: true}\n",
                  "t:7:23: this machine has no NIC 'node9/nic1'; nearest is 'node0/nic1'");
  assert_message (MACHINE, "faults:\n  - {what: switch, name: node0/nic1, dead: true}\n",
                  "t:7:26: this machine has no switch 'node0/nic1'");
  assert_message (MACHINE, "faults:\n  - {what: link, from: leaf0, to: leaf1, dead: true}\n",
                  "no link joins leaf0 and leaf1; from leaf0 links lead to node0/nic0, node1/nic0");
  assert_message (MACHINE, "faults: [{what: rail, rail: 4, dead: true}]\n",
                  "rail does not exist: nodes have 4 NICs, so rails are 0 to 3");
  assert_message (MACHINE, "background: [{load: 1%, links: laef*}]\n",
                  "no link of this machine is one of 'laef*'");
  assert_message (MACHINE, "background: [{kind: transfer, from: node0, to: node7, rate: 1Gb/s}]\n",
                  "no node, NIC or GPU 'node7'");
  assert_message (MACHINE, "background: [{kind: transfer, from: node0, to: node4, rate: 1Gb/s}]\n",
                  "no node, NIC or GPU 'node4'");
  assert_message (MACHINE, "background: [{kind: transfer, from: node0, to: node1x, rate: 1Gb/s}]\n",
                  "no node, NIC or GPU 'node1x'");
  assert_message (MACHINE, "background: [{kind: transfer, from: leaf0, to: node1, rate: 1Gb/s}]\n",
                  "no node, NIC or GPU 'leaf0'");
  assert_message (
      "cluster: {node: pair}\nnodes: [{name: pair, accelerator: a100-sxm4-80gb, parts: [{name: gpu, kind: "
      "accelerator, count: 2}], wires: [{from: gpu0, to: gpu1, link: nvlink3}]}]\n",
      "background: [{kind: transfer, from: node0, to: node0/gpu1, rate: 1Gb/s}]\n",
      "no node, NIC or GPU 'node0'");
}

/* A part without a link to another one lists the ends of those that it has, and of more than eight the first eight. */
static void
the_first_eight_ends_of_links_are_listed (G_GNUC_UNUSED void **state)
{
  for (guint n = 7; n <= 9; n++) {
    g_autofree char *machine = g_strdup_printf (
        "cluster: {node: dgx-a100, nodes: %u, fabric: {kind: rail_only, nodes_per_leaf: %u}}\n", n, n);
    g_autofree char *message = message_of (machine,
                                           "faults: [{what: link, from: leaf0, to: leaf1, dead: true}]\n");
    g_autoptr (GString) part = g_string_new ("no link joins leaf0 and leaf1; from leaf0 links lead to ");

    for (guint node = 0; node < MIN (n, 8); node++)
      g_string_append_printf (part, "%snode%u/nic0", node > 0 ? ", " : "", node);
    g_string_append (part, n > 8 ? ", ...\n" : "\n");
    assert_non_null (strstr (message, part->str));
  }
}

static void
keys_that_do_not_fit_are_refused (G_GNUC_UNUSED void **state)
{
  assert_message (MACHINE, "faults: [{what: link, dead: true}]\n", "a link needs `from` and `to`");
  assert_message (MACHINE, "faults: [{what: nic, dead: true}]\n", "a nic needs a `name`");
  assert_message ("cluster: {node: gb200-nvl72, nodes: 2}\n", "faults: [{what: rail, rail: 4, dead: true}]\n",
                  "rail does not exist: boards of the nodes have 4 NICs, so rails are 0 to 3");
  assert_message (MACHINE, "faults: [{what: rail, dead: true}]\n", "a rail needs its number");
  assert_message (MACHINE, "faults: [{what: rail, rail: 0}]\n", "give rate, dead or latency");
  assert_message (MACHINE, "faults: [{what: rail, rail: 0, rate: 50%, dead: true}]\n",
                  "neither a rate nor a latency");
  assert_message (MACHINE, "faults: [{what: rail, rail: 0, dead: true, at: 2ms, until: 1ms}]\n",
                  "`until` must be later than `at`");
  assert_message (MACHINE, "faults: [{what: rail, rail: 0, latency: 1us, at: 2ms}]\n",
                  "latencies cannot change");
  assert_message (MACHINE, "fidelity: analytic\nfaults: [{what: rail, rail: 0, dead: true, at: 2ms}]\n",
                  "has no time");
  assert_message (MACHINE, "background: [{kind: bursts, load: 90%, peak: 50%}]\n", "below their peak");
  assert_message (MACHINE, "background: [{kind: transfer, from: node0, to: node1}]\n",
                  "needs `bytes` or `rate`");
  assert_message (MACHINE, "background: [{kind: transfer, from: node0, to: node0, bytes: 1B}]\n",
                  "from and to are the same place");
}

enum { NODES = 4, NICS = 8 };

/* The slots that are used in all nodes of a joined network: as many as the poorest node has, those that live in most
 * nodes first. */
static guint
expect_slots (gboolean is_dead[NODES][NICS], guint *slots)
{
  guint n = NICS, n_chosen = 0;
  gboolean is_chosen[NICS] = { FALSE };

  for (guint node = 0; node < NODES; node++) {
    guint n_alive = 0;

    for (guint slot = 0; slot < NICS; slot++)
      n_alive += !is_dead[node][slot];
    n = MIN (n, n_alive);
  }
  for (guint lost = 0; lost <= NODES; lost++)
    for (guint slot = 0; slot < NICS; slot++) {
      guint n_dead = 0;

      for (guint node = 0; node < NODES; node++)
        n_dead += is_dead[node][slot];
      if (n_dead == lost && n_chosen < n) {
        is_chosen[slot] = TRUE;
        n_chosen++;
      }
    }
  n_chosen = 0;
  for (guint slot = 0; slot < NICS; slot++)
    if (is_chosen[slot])
      slots[n_chosen++] = slot;
  return n_chosen;
}

/* For a slot whose NIC is dead in this node, the nearest other one that lives and is not in use, the lower of two. */
static guint
expect_nic (const gboolean *is_dead, const guint *slots, guint n, guint which, gboolean *is_taken)
{
  if (!is_dead[slots[which]])
    return slots[which];
  for (guint far = 1; far < NICS; far++)
    for (gint sign = -1; sign <= 1; sign += 2) {
      gint slot = (gint) slots[which] + sign * (gint) far;
      gboolean is_free = slot >= 0 && slot < NICS && !is_dead[slot] && !is_taken[slot];

      for (guint i = 0; i < n; i++)
        is_free = is_free && slot != (gint) slots[i];
      if (is_free) {
        is_taken[slot] = TRUE;
        return (guint) slot;
      }
    }
  g_assert_not_reached ();
}

/* Any NICs may be dead, on a network that joins all of them. What a GPU passes on its way to a slot is that of the
 * whole machine. */
static void
any_dead_nics_are_stood_in_for (G_GNUC_UNUSED void **state)
{
  static const char machine[] = "cluster: {node: dgx-a100, nodes: 4, fabric: switch}\n";
  g_autoptr (Play) whole = play_of (machine, "");
  const FabCluster *before = fab_simulation_cluster (whole->simulation);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint n_spares = 0;

  for (guint round = 0; round < 60; round++) {
    g_autoptr (GString) faults = g_string_new ("faults: [{what: nic, name: node0/nic0, rate: 50%}");
    gboolean is_dead[NODES][NICS] = { { FALSE } };
    guint slots[NICS];

    for (guint node = 0; node < NODES; node++)
      for (guint slot = 0, n_dead = 0; slot < NICS && n_dead < NICS - 1; slot++)
        if (g_rand_int_range (random, 0, 8) < (gint) (round % 5)) {
          is_dead[node][slot] = TRUE;
          n_dead++;
          g_string_append_printf (faults, ", {what: nic, name: node%u/nic%u, dead: true}", node, slot);
        }
    g_string_append (faults, "]\n");
    g_autoptr (Play) play = play_of (machine, faults->str);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    guint n = expect_slots (is_dead, slots);

    assert_int_equal (cluster->nics_per_node, n);
    for (guint node = 0; node < NODES; node++) {
      gboolean is_taken[NICS] = { FALSE };

      for (guint i = 0; i < n; i++) {
        guint nic = expect_nic (is_dead[node], slots, n, i, is_taken);
        g_autofree char *expected = g_strdup_printf ("node%u/nic%u", node, nic),
                        *found = fab_graph_vertex_name (cluster->graph, cluster->nics[node * n + i]);

        assert_string_equal (found, expected);
        n_spares += nic != slots[i];
      }
    }
    for (guint local = 0; local < cluster->gpus_per_node; local++)
      for (guint i = 0; i < n; i++)
        assert_int_equal (fab_cluster_nic_hops (cluster, local, i),
                          fab_cluster_nic_hops (before, local, slots[i]));
  }
  assert_true (n_spares > 100);
}

/* Networks that nothing joins: a rail that has lost a NIC reaches fewer nodes, and is left out. Without a whole one the
 * machine is refused. */
static void
a_rail_that_reaches_fewer_nodes_is_left_out (G_GNUC_UNUSED void **state)
{
  static const char machine[] =
      "cluster: {node: dgx-a100, nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 4}}\n";

  for (guint n_dead = 0; n_dead <= NICS; n_dead++) {
    g_autoptr (GString) faults = g_string_new ("faults: [{what: nic, name: node0/nic0, rate: 50%}");

    for (guint i = 0; i < n_dead; i++) /* of rails 0, 3, 6, 1, 4, 7, 2, 5 */
      g_string_append_printf (faults, ", {what: nic, name: node%u/nic%u, dead: true}", i % NODES,
                              3 * i % NICS);
    g_string_append (faults, "]\n");
    if (n_dead == NICS) {
      assert_message (machine, faults->str,
                      "with these faults the machine is cut: no network joins all of its nodes");
      continue;
    }
    g_autoptr (Play) play = play_of (machine, faults->str);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    guint at = 0;

    for (guint slot = 0; slot < NICS; slot++) {
      gboolean is_whole = TRUE;

      for (guint i = 0; i < n_dead; i++)
        is_whole &= 3 * i % NICS != slot;
      for (guint node = 0; is_whole && node < NODES; node++) {
        g_autofree char *expected = g_strdup_printf ("node%u/nic%u", node, slot),
                        *found = fab_graph_vertex_name (cluster->graph,
                                                        cluster->nics[node * cluster->nics_per_node + at]);
        assert_string_equal (found, expected);
      }
      at += is_whole;
    }
    assert_int_equal (cluster->nics_per_node, at);
  }
}

/* What is left of the NICs of one node joins nothing, and need not. */
static void
one_node_may_lose_its_nics (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) faults = g_string_new ("faults: [");

  for (guint n_dead = 1; n_dead <= NICS; n_dead++) {
    g_string_append_printf (faults, "%s{what: nic, name: node0/nic%u, dead: true}", n_dead > 1 ? ", " : "",
                            n_dead - 1);
    g_autofree char *all = g_strconcat (faults->str, "]\n", NULL);
    g_autoptr (Play) play = play_of ("cluster: {node: dgx-a100}\n", all);

    assert_int_equal (fab_simulation_cluster (play->simulation)->nics_per_node, NICS - n_dead);
  }
}

#define LEAVES "cluster: {node: dgx-a100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 2}}\n"

static void
a_machine_that_is_cut_is_refused (G_GNUC_UNUSED void **state)
{
  assert_message (LEAVES, "faults: [{what: switch, name: leaf1, dead: true}]\n",
                  "cut in two: no network leads from the NICs of node0/gpu0 to those of node2/gpu0");
  assert_message ("cluster: {node: dgx-a100, nodes: 2, nics_per_node: 1}\n",
                  "faults: [{what: nic, name: node1/nic0, dead: true}]\n",
                  "cut in two: no network leads from the NICs of node0/gpu0 to those of node1/gpu0");
  assert_message ("cluster: {node: dgx-a100, nodes: 2, nics_per_node: 1}\n",
                  "faults: [{what: nic, name: node0/nic0, dead: true}]\n",
                  "cut in two: no network leads from the NICs of node1/gpu0 to those of node0/gpu0");
}

static void
what_is_read_is_written (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (MACHINE, "faults: [{what: nic, name: node2/nic1, rate: 25%}]\n"
                                            "background: [{load: 30%, links: uplinks}]\n");
  g_autofree char *text = fab_scenario_resolved (play->scenario);
  g_autoptr (Play) again = play_new (catalog, text, NULL);

  assert_non_null (strstr (
      text, "faults:\n  - what: nic\n    name: node2/nic1\n    rail: 0\n    port: 0\n    rate: 0.25\n"));
  assert_int_equal (step_ps (again), step_ps (play));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_nic_sets_the_pace_of_all),
    cmocka_unit_test (faults_of_one_link_add_up),
    cmocka_unit_test (all_nodes_use_as_many_nics_as_the_poorest_has),
    cmocka_unit_test (a_spare_nic_stands_in),
    cmocka_unit_test (any_dead_nics_are_stood_in_for),
    cmocka_unit_test (a_rail_that_reaches_fewer_nodes_is_left_out),
    cmocka_unit_test (a_dead_leaf_is_a_dead_rail),
    cmocka_unit_test (latency_is_added_to_every_step_between_nodes),
    cmocka_unit_test (constant_load_leaves_the_rest),
    cmocka_unit_test (an_outage_lasts_as_long_as_it_lasts),
    cmocka_unit_test (a_loss_of_rate_stretches_what_is_left),
    cmocka_unit_test (a_dead_link_hangs_the_run_and_is_named),
    cmocka_unit_test (a_run_without_faults_does_not_hang),
    cmocka_unit_test (bursts_have_the_mean_load),
    cmocka_unit_test (a_side_flow_takes_its_rate),
    cmocka_unit_test (names_are_checked_where_they_stand),
    cmocka_unit_test (the_first_eight_ends_of_links_are_listed),
    cmocka_unit_test (keys_that_do_not_fit_are_refused),
    cmocka_unit_test (one_node_may_lose_its_nics),
    cmocka_unit_test (a_machine_that_is_cut_is_refused),
    cmocka_unit_test (what_is_read_is_written),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("faults", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
