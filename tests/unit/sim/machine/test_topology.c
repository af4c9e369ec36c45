/* SPDX-License-Identifier: Apache-2.0 */
/* test_topology.c - nodes as trees, and the labels that nvidia-smi shows. */
#include "tests/support/test.h"

#include "sim/machine/topology.h"
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

static Play *
play_node (const FabCatalog *catalog, const char *node, const char *own)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n%s",
      node, own);

  return play_new (catalog, yaml, NULL);
}

/* Two hosts with two bridges each; a GPU and a NIC of its own below every bridge; GPU 0 and 1 with two NVLinks twice,
 * so four. */
static const char *const bridged =
    "nodes:\n"
    "  - name: bridged\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    nic: ib-hdr\n"
    "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: nic, kind: nic, count: 4},"
    " {name: cpu, kind: host, count: 2}, {name: root, kind: bridge, count: 4}]\n"
    "    wires: [{from: gpu, to: root, link: pcie4-x16}, {from: nic, to: root, link: pcie4-x16},"
    " {from: root, to: cpu, link: pcie4-x16}, {from: cpu, to: cpu, link: xgmi-socket-rome, map: all},"
    " {from: gpu0, to: gpu1, link: nvlink3, count: 2}, {from: gpu0, to: gpu1, link: nvlink3, count: 2}]\n";

static void
assert_label (const FabTopology *topology, FabVertexId a, FabVertexId b, const char *label)
{
  g_autofree char *there = fab_topology_label (topology, a, b);
  g_autofree char *back = fab_topology_label (topology, b, a);

  assert_string_equal (there, label);
  assert_string_equal (back, label);
}

static void
labels_are_those_of_nvidia (void **state)
{
  g_autoptr (Play) play = play_node (*state, "bridged", bridged);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autoptr (FabTopology) topology = fab_topology_new (cluster);
  const FabVertexId *gpus = cluster->gpus, *nics = cluster->nics;

  assert_label (topology, gpus[0], gpus[0], "X");
  assert_label (topology, gpus[0], gpus[1], "NV4");
  assert_label (topology, gpus[2], gpus[3], "NODE");
  assert_label (topology, gpus[0], gpus[2], "SYS");
  assert_label (topology, gpus[0], nics[0], "PHB");
  assert_label (topology, gpus[0], nics[1], "NODE");
  assert_label (topology, nics[0], nics[1], "NODE");
  assert_label (topology, nics[0], nics[3], "SYS");
  assert_int_equal (fab_topology_socket_of (topology, gpus[1]), 0);
  assert_int_equal (fab_topology_socket_of (topology, gpus[2]), 1);
}

/* NVIDIA DGX A100: 12 NVLinks to a switch; NIC 0 beside GPU 0, NIC 4 below the other socket. */
static void
dgx_a100_looks_like_itself (void **state)
{
  g_autoptr (Play) play = play_node (*state, "dgx-a100", "");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autoptr (FabTopology) topology = fab_topology_new (cluster);

  for (guint i = 1; i < 8; i++)
    assert_label (topology, cluster->gpus[0], cluster->gpus[i], "NV12");
  assert_label (topology, cluster->gpus[0], cluster->nics[0], "PIX");
  assert_label (topology, cluster->gpus[0], cluster->nics[4], "SYS");
  assert_label (topology, cluster->nics[0], cluster->nics[4], "SYS");
}

/* Every vertex once, below its parent; tree and rest together are all links. */
static void
a_tree_and_the_rest_are_all_links (void **state)
{
  g_autoptr (Play) play = play_node (*state, "dgx-a100", "");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autoptr (FabTopology) topology = fab_topology_new (cluster);
  guint n_links = topology->across->len, n_inside = 0;

  for (guint i = 0; i < topology->places->len; i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);

    n_links += place->up != FAB_NO_LINK;
    assert_true ((place->depth == 0) == (place->up == FAB_NO_LINK));
    if (place->up != FAB_NO_LINK)
      assert_int_equal (fab_graph_link (cluster->graph, place->up)->src, place->vertex);
  }
  for (FabLinkId id = 0; id < fab_graph_n_links (cluster->graph); id++) {
    const FabLink *link = fab_graph_link (cluster->graph, id);

    n_inside += fab_graph_vertex (cluster->graph, link->src)->node == 0
             && fab_graph_vertex (cluster->graph, link->dst)->node == 0;
  }
  assert_int_equal (2 * n_links, n_inside);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (labels_are_those_of_nvidia),
    cmocka_unit_test (dgx_a100_looks_like_itself),
    cmocka_unit_test (a_tree_and_the_rest_are_all_links),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
