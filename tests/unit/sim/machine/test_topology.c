/* SPDX-License-Identifier: Apache-2.0 */
/* test_topology.c - nodes as trees, and the labels that nvidia-smi shows. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/machine/topology.h"
#include "tests/support/graphs.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/technologies.h"

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

/* --- small nodes --- */

/* Machines 0 and 1 are a node: a socket with two accelerators each, which one switch (7) outside of them joins, and a
 * NIC (3) below accelerator 1. Machine 2 is another node, with a switch (10) of its own outside. Switch 11 is the
 * network. */
static FabGraph *
two_trays (void)
{
  static const GraphWire wires[] = {
    { 1, 0, &test_pcie, 1 },        { 2, 0, &test_pcie, 1 },         { 3, 1, &test_pcie, 1 },
    { 5, 4, &test_pcie, 1 },        { 6, 4, &test_pcie, 1 },         { 1, 7, &test_nvlink, 2 },
    { 2, 7, &test_nvlink, 1 },      { 5, 7, &test_nvlink, 3 },       { 6, 7, &test_nvlink, 3 },
    { 9, 8, &test_pcie, 1 },        { 12, 8, &test_pcie, 1 },        { 9, 10, &test_nvlink, 1 },
    { 3, 11, &test_infiniband, 1 }, { 12, 11, &test_infiniband, 1 }, { 0, 0, NULL, 0 },
  };

  return graph_of_wires ("0haan1haa-s2ha-ss2n", wires);
}

static void
a_node_of_two_machines_has_the_switch_between_them (G_GNUC_UNUSED void **state)
{
  static const guint places[][3] = { /* vertex, depth, socket */
                                     { 0, 0, 0 }, { 1, 1, 0 }, { 3, 2, 0 }, { 2, 1, 0 },
                                     { 4, 0, 1 }, { 5, 1, 1 }, { 6, 1, 1 }, { 7, 0, G_MAXUINT }
  };
  static const FabVertexId on_switch[] = { 1, 2, 5, 6 };
  g_autoptr (FabGraph) graph = two_trays ();
  FabVertexId gpus[] = { 1, 2, 5, 6, 9 };
  FabCluster cluster = { .graph = graph, .n_nodes = 1, .gpus_per_node = 4, .gpus = gpus };
  g_autoptr (FabTopology) topology = fab_topology_new (&cluster);
  g_autofree char *gpu = fab_topology_name (topology, 5), *shared = fab_topology_name (topology, 7);

  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++)
    assert_int_equal (fab_topology_is_shared (graph, id), id == 7 || id == 10);
  assert_int_equal (topology->n_machines, 2);
  assert_int_equal (topology->places->len, G_N_ELEMENTS (places));
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);

    assert_int_equal (place->vertex, places[i][0]);
    assert_int_equal (place->depth, places[i][1]);
    assert_int_equal (fab_topology_socket_of (topology, place->vertex), places[i][2]);
  }
  assert_int_equal (fab_topology_socket_of (topology, 9), G_MAXUINT);
  assert_int_equal (topology->across->len, G_N_ELEMENTS (on_switch));
  for (guint i = 0; i < G_N_ELEMENTS (on_switch); i++) {
    const FabLink *link = fab_graph_link (graph, g_array_index (topology->across, FabLinkId, i));

    assert_int_equal (link->src, on_switch[i]);
    assert_int_equal (link->dst, 7);
  }
  assert_string_equal (gpu, "node1/v5");
  assert_string_equal (shared, "v7");
}

/* A switch between two machines that is the first vertex of all. */
static void
a_switch_of_two_machines_may_come_first (G_GNUC_UNUSED void **state)
{
  static const GraphWire wires[] = {
    { 1, 2, &test_pcie, 1 },   { 3, 4, &test_pcie, 1 }, { 2, 0, &test_nvlink, 1 },
    { 4, 0, &test_nvlink, 1 }, { 0, 0, NULL, 0 },
  };
  static const FabVertexId expected[] = { 1, 2, 3, 4, 0 };
  g_autoptr (FabGraph) graph = graph_of_wires ("-s0ha1ha", wires);
  FabVertexId gpus[] = { 2, 4 };
  FabCluster cluster = { .graph = graph, .n_nodes = 1, .gpus_per_node = 2, .gpus = gpus };
  g_autoptr (FabTopology) topology = fab_topology_new (&cluster);

  assert_int_equal (topology->places->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    assert_int_equal (g_array_index (topology->places, FabPlace, i).vertex, expected[i]);
  assert_int_equal (topology->across->len, 2);
}

/* One machine of the same: names are those of its parts. */
static void
parts_of_one_machine_are_named_without_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = two_trays ();
  FabVertexId gpus[] = { 1, 2 };
  FabCluster cluster = { .graph = graph, .n_nodes = 1, .gpus_per_node = 2, .gpus = gpus };
  g_autoptr (FabTopology) topology = fab_topology_new (&cluster);
  g_autofree char *gpu = fab_topology_name (topology, 2), *shared = fab_topology_name (topology, 7);

  assert_int_equal (topology->n_machines, 1);
  assert_int_equal (topology->places->len, 5);
  assert_int_equal (topology->across->len, 2);
  assert_string_equal (gpu, "v2");
  assert_string_equal (shared, "v7");
}

/* Only NICs hang below accelerators, nothing below NICs, memory and drives, and sockets nowhere. What hangs nowhere is
 * listed after the sockets. */
static void
parts_hang_below_sockets_bridges_and_switches (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphWire wires[6];
    guint n;
    guint places[5][2]; /* vertex, depth */
  } rows[] = {
    { "0asbh",
      { { 0, 1, &test_pcie, 1 }, { 1, 2, &test_pcie, 1 }, { 2, 3, &test_pcie, 1 } },
      4,
      { { 3, 0 }, { 2, 1 }, { 1, 2 }, { 0, 3 } } },
    /* a NIC and a drive without a socket, and a NIC below the accelerator */
    { "0andn",
      { { 0, 1, &test_pcie, 1 }, { 1, 2, &test_pcie, 1 }, { 2, 3, &test_pcie, 1 } },
      4,
      { { 0, 0 }, { 1, 1 }, { 2, 0 }, { 3, 0 } } },
    /* a switch behind the accelerator, and an accelerator behind memory */
    { "0hasma",
      { { 0, 1, &test_pcie, 1 },
        { 1, 2, &test_pcie, 1 },
        { 0, 3, &test_memory, 1 },
        { 3, 4, &test_memory, 1 } },
      5,
      { { 0, 0 }, { 1, 1 }, { 3, 1 }, { 2, 0 }, { 4, 0 } } },
    /* two sockets on one switch: it hangs below the first one */
    { "0ahsh",
      { { 0, 2, &test_pcie, 1 }, { 1, 2, &test_pcie, 1 }, { 2, 3, &test_pcie, 1 } },
      4,
      { { 1, 0 }, { 2, 1 }, { 0, 2 }, { 3, 0 } } },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (FabGraph) graph = graph_of_wires (rows[r].vertices, rows[r].wires);
    FabVertexId gpu = rows[r].vertices[1] == 'a' ? 0 : 1;
    FabCluster cluster = { .graph = graph, .n_nodes = 1, .gpus_per_node = 1, .gpus = &gpu };
    g_autoptr (FabTopology) topology = fab_topology_new (&cluster);

    assert_int_equal (topology->places->len, rows[r].n);
    for (guint i = 0; i < rows[r].n; i++) {
      const FabPlace *place = &g_array_index (topology->places, FabPlace, i);

      assert_int_equal (place->vertex, rows[r].places[i][0]);
      assert_int_equal (place->depth, rows[r].places[i][1]);
      assert_int_equal (place->up == FAB_NO_LINK, place->depth == 0);
    }
  }
}

typedef struct {
  const char *vertices;
  GraphWire wires[10];
  FabVertexId a, b;
  const char *label;
} LabelRow;

/* Accelerators 1 and 2, NIC 3, and what is between them. Links are those of the end that has fewer, directly or else
 * to the switch; links of other technologies do not count. */
static const LabelRow label_rows[] = {
  { "0haan-s",
    { { 0, 1, &test_pcie, 1 },
      { 0, 2, &test_pcie, 1 },
      { 1, 4, &test_nvlink, 2 },
      { 2, 4, &test_nvlink, 5 },
      { 1, 0, &test_nvlink, 7 } },
    1,
    2,
    "NV2" },
  { "0haan-s",
    { { 0, 1, &test_pcie, 1 },
      { 0, 2, &test_pcie, 1 },
      { 1, 4, &test_nvlink, 2 },
      { 2, 4, &test_nvlink, 5 },
      { 1, 2, &test_nvlink, 3 },
      { 1, 2, &test_nvlink, 1 } },
    1,
    2,
    "NV4" },
  { "0haan-s",
    { { 0, 1, &test_pcie, 1 },
      { 0, 2, &test_pcie, 1 },
      { 1, 4, &test_pcie, 1 },
      { 1, 4, &test_nvlink, 2 },
      { 1, 4, &test_nvlink, 1 },
      { 2, 4, &test_nvlink, 9 } },
    1,
    2,
    "NV3" },
  { "0haan", { { 0, 1, &test_pcie, 1 }, { 0, 2, &test_pcie, 1 }, { 1, 2, &test_xgmi, 4 } }, 1, 2, "XGMI" },
  /* a PCIe switch, below a socket */
  { "0haans",
    { { 0, 4, &test_pcie, 1 }, { 1, 4, &test_pcie, 1 }, { 2, 4, &test_pcie, 1 }, { 3, 4, &test_pcie, 1 } },
    1,
    2,
    "PIX" },
  { "0haans",
    { { 0, 4, &test_pcie, 1 }, { 1, 4, &test_pcie, 1 }, { 2, 4, &test_pcie, 1 }, { 3, 0, &test_pcie, 1 } },
    1,
    3,
    "PHB" },
  /* a NIC of the accelerator itself, by whatever link, and seen from the other accelerator */
  { "0haan", { { 0, 1, &test_pcie, 1 }, { 0, 2, &test_pcie, 1 }, { 1, 3, &test_xgmi, 1 } }, 1, 3, "PIX" },
  { "0haan", { { 0, 1, &test_pcie, 1 }, { 0, 2, &test_pcie, 1 }, { 1, 3, &test_xgmi, 1 } }, 2, 3, "PHB" },
  /* coherent links: all beyond them is far; without one on the way the socket is a host bridge */
  { "0haan", { { 0, 1, &test_c2c, 1 }, { 0, 2, &test_c2c, 1 }, { 0, 3, &test_pcie, 1 } }, 1, 2, "SYS" },
  { "0haan", { { 0, 1, &test_c2c, 1 }, { 0, 2, &test_pcie, 1 }, { 0, 3, &test_pcie, 1 } }, 1, 3, "SYS" },
  { "0haan", { { 0, 1, &test_c2c, 1 }, { 0, 2, &test_pcie, 1 }, { 0, 3, &test_pcie, 1 } }, 2, 3, "PHB" },
  /* below two sockets, and in no tree */
  { "0haanh",
    { { 0, 1, &test_pcie, 1 }, { 0, 2, &test_pcie, 1 }, { 3, 4, &test_pcie, 1 }, { 0, 4, &test_upi, 1 } },
    1,
    3,
    "SYS" },
  { "0haan", { { 0, 1, &test_pcie, 1 }, { 0, 2, &test_pcie, 1 } }, 1, 3, "SYS" },
};

static void
labels_say_what_is_between (G_GNUC_UNUSED void **state)
{
  g_autoptr (Params) params = params_new (&fab_route_shortest.info, "");

  for (guint r = 0; r < G_N_ELEMENTS (label_rows); r++) {
    const LabelRow *row = &label_rows[r];
    g_autoptr (FabGraph) graph = graph_of_wires (row->vertices, row->wires);
    FabVertexId gpus[] = { 1, 2 };
    FabCluster cluster = { .graph = graph,
                           .router = fab_route_shortest.create (graph, params->params, 1),
                           .n_nodes = 1,
                           .gpus_per_node = 2,
                           .gpus = gpus };
    g_autoptr (FabTopology) topology = fab_topology_new (&cluster);

    assert_label (topology, row->a, row->b, row->label);
    fab_router_destroy (cluster.router);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (labels_are_those_of_nvidia),
    cmocka_unit_test (dgx_a100_looks_like_itself),
    cmocka_unit_test (a_tree_and_the_rest_are_all_links),
    cmocka_unit_test (a_node_of_two_machines_has_the_switch_between_them),
    cmocka_unit_test (a_switch_of_two_machines_may_come_first),
    cmocka_unit_test (parts_of_one_machine_are_named_without_it),
    cmocka_unit_test (parts_hang_below_sockets_bridges_and_switches),
    cmocka_unit_test (labels_say_what_is_between),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
