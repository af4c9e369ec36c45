/* SPDX-License-Identifier: Apache-2.0 */
/* test_assemble.c - parts and wires of a node entry become the graph that was meant, or one clear message. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/collective/collective.h"
#include "tests/support/play.h"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

static const char *const job = "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n";

/* A scenario around one node entry called `mine`. */
static char *
around (const char *cluster, const char *node)
{
  return g_strdup_printf ("name: t\ncluster: {node: mine%s}\ncollectives: plain\n%snodes:\n"
                          "  - name: mine\n    accelerator: a100-sxm4-80gb\n%s",
                          cluster, job, node);
}

static guint
count_links (const FabCatalog *catalog, const char *node)
{
  g_autofree char *yaml = around ("", node);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_graph_n_links (fab_simulation_cluster (play->simulation)->graph);
}

static char *
message_of (const FabCatalog *catalog, const char *cluster, const char *node)
{
  g_autofree char *yaml = around (cluster, node);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabSimulation *simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, &error) : NULL;

  assert_null (simulation);
  return g_strdup (error->message);
}

/* A wire is two links. Round gpu0 - gpu1 - gpu2 - gpu3, ends in either order, as block or as all: 4 wires. */
static void
single_members_are_joined (void **state)
{
  assert_int_equal (
      count_links (
          *state,
          "    parts: [{name: gpu, kind: accelerator, count: 4}]\n"
          "    wires: [{from: gpu0, to: gpu1, link: nvlink3},"
          " {from: gpu2, to: gpu1, link: nvlink3},"
          " {from: gpu3, to: gpu2, link: nvlink3, map: all}, {from: gpu0, to: gpu3, link: nvlink3}]\n"),
      8);
}

/* Every pair of 4 once: 6 wires. */
static void
all_joins_every_pair_once (void **state)
{
  assert_int_equal (count_links (*state, "    parts: [{name: gpu, kind: accelerator, count: 4}]\n"
                                         "    wires: [{from: gpu, to: gpu, link: nvlink3, map: all}]\n"),
                    12);
}

/* A tree has one wire per GPU, whichever side is named first: 4 under 2 switches, and 1 between these. */
static void
a_block_is_a_tree_from_either_side (void **state)
{
  const char *const ways[] = { "{from: gpu, to: sw, link: nvlink3}", "{from: sw, to: gpu, link: nvlink3}" };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_autofree char *node = g_strdup_printf (
        "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: sw, kind: switch, count: 2}]\n"
        "    wires: [%s, {from: sw0, to: sw1, link: nvlink3}]\n",
        ways[i]);
    assert_int_equal (count_links (*state, node), 10);
  }
}

/* Two levels of switches that two nodes share: each domain has the wire between them once, as many domains as there
 * are. */
static void
shared_switches_are_joined_once_in_each_domain (void **state)
{
  static const char node[] =
      "    nic: ib-hdr\n"
      "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: inner, kind: switch, shared: 2},"
      " {name: outer, kind: switch, shared: 2}, {name: nic, kind: nic}]\n"
      "    wires: [{from: gpu, to: inner, link: nvlink3}, {from: inner, to: outer, link: nvlink3},"
      " {from: gpu, to: nic, link: pcie4-x16}]\n";

  for (guint n_nodes = 2; n_nodes <= 8; n_nodes += 2) {
    g_autofree char *nodes = g_strdup_printf (", nodes: %u", n_nodes), *yaml = around (nodes, node);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);
    const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
    guint n_wires = 0;

    for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++) {
      g_autofree char *src = fab_graph_vertex_name (graph, fab_graph_link (graph, link)->src),
                      *dst = fab_graph_vertex_name (graph, fab_graph_link (graph, link)->dst);

      n_wires += strstr (src, "inner") != NULL && strstr (dst, "outer") != NULL;
    }
    assert_int_equal (n_wires, n_nodes / 2);
  }
}

static void
what_cannot_be_built_is_said (void **state)
{
  g_autofree char *parts = message_of (*state, "",
                                       "    parts: [{name: gpu, kind: accelerator, count: 3}]\n"
                                       "    wires: [{from: gpu0, to: gpu1, link: nvlink3}]\n");
  g_autofree char *itself = message_of (*state, "",
                                        "    parts: [{name: gpu, kind: accelerator, count: 2}]\n"
                                        "    wires: [{from: gpu, to: gpu, link: nvlink3}]\n");
  g_autofree char *silent = message_of (
      *state, ", nodes: 2",
      "    parts: [{name: gpu, kind: accelerator}, {name: nic, kind: nic}]\n"
      "    wires: [{from: gpu, to: nic, link: pcie4-x16}]\n");

  assert_string_equal (parts, "the machine is in parts: no wires lead from node0/gpu0 to node0/gpu2");
  assert_non_null (strstr (itself, "'gpu' to itself joins nothing; write map: all"));
  assert_non_null (strstr (silent, "does not say which link its NICs have"));
}

/* Two DGX H100: a GPU more is a NIC more, so the textbook's busbw does not fall, odd counts included. */
static void
more_gpus_never_slow_a_ring_of_h100 (void **state)
{
  FabTimePs before_ps = FAB_TIME_MAX;

  for (guint gpus = 1; gpus <= 8; gpus++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 2, gpus_per_node: %u}\n"
        "collectives: plain\niterations: 1\n%s",
        gpus, job);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);

    assert_true (fab_simulation_step (play->simulation));
    double factor = fab_op_bus_factor (FAB_OP_ALL_REDUCE, 2 * gpus);
    FabTimePs per_factor_ps =
        (FabTimePs) ((double) fab_simulation_probe (play->simulation)->step.times.duration_ps / factor);
    assert_true (per_factor_ps <= before_ps);
    before_ps = per_factor_ps;
  }
}

/* 2 ranks over a NIC link of 1 ms: 2 steps over 2 such links, 4 ms, whatever NCCL's table says. */
static void
a_library_is_no_faster_than_the_wires (void **state)
{
  static const char *const yaml =
      "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nic: far}\niterations: 1\n"
      "links: [{name: far, signalling: 200Gb/s, latency: 1ms}]\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 8B}]}\n";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  assert_true (fab_simulation_probe (play->simulation)->step.times.duration_ps
               >= G_GINT64_CONSTANT (4000000000));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (single_members_are_joined),
    cmocka_unit_test (all_joins_every_pair_once),
    cmocka_unit_test (a_block_is_a_tree_from_either_side),
    cmocka_unit_test (shared_switches_are_joined_once_in_each_domain),
    cmocka_unit_test (what_cannot_be_built_is_said),
    cmocka_unit_test (more_gpus_never_slow_a_ring_of_h100),
    cmocka_unit_test (a_library_is_no_faster_than_the_wires),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
