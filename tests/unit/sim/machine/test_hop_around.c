/* SPDX-License-Identifier: Apache-2.0 */
/* test_hop_around.c - GPUs of one node whose bytes go out by a NIC and come back by another, where a socket between
 * them is slower; NICs between which there is no way. */
#include "tests/support/test.h"

#include "sim/machine/hop.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabHopKind
kind_of_neighbours (const FabCluster *cluster, guint from, guint to)
{
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  FabHop hop;

  assert_true (fab_hop_inside_or_over (&group, 1, from, to, &hop, NULL));
  for (guint i = 0; i < hop.n_legs; i++)
    assert_int_equal (hop.legs[i].flow_hash, 0); /* neighbours have no number among the flows */
  assert_int_equal (hop.legs[0].src, cluster->gpus[cluster->gpus_per_node + from]);
  assert_int_equal (hop.legs[hop.n_legs - 1].dst, cluster->gpus[cluster->gpus_per_node + to]);
  FabHopKind kind = hop.kind;
  fab_hop_clear (&hop);
  return kind;
}

/* Two GPUs and two ports of 400 Gb/s are behind each switch. Between two switches of a socket 64-byte packets carry 40
 * GB/s, between sockets 26; NICs carry 48. Ports of 100 Gb/s are slower than either. */
static void
a_socket_between_gpus_is_gone_round_by_faster_nics (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) fast = play_cluster (catalog, "node: rtx-pro-6000-cx8, nodes: 2, p2p: sys", "");
  g_autoptr (Play) slow = play_cluster (catalog, "node: rtx-pro-6000-cx8, nodes: 2, p2p: sys, nic: roce-100",
                                        "");

  assert_int_equal (kind_of_neighbours (fab_simulation_cluster (fast->simulation), 0, 1), FAB_HOP_DIRECT);
  assert_int_equal (kind_of_neighbours (fab_simulation_cluster (fast->simulation), 3, 4), FAB_HOP_NET);
  assert_int_equal (kind_of_neighbours (fab_simulation_cluster (slow->simulation), 3, 4), FAB_HOP_DIRECT);
}

/* Two sockets with a switch each, on which are two GPUs and two NICs, all at 10 GB/s; between
 * the sockets are 2 GB/s. `wires`: those of NICs, and more. */
static Play *
play_sockets (const char *cluster, const char *port, const char *wires)
{
  g_autofree char *own = g_strdup_printf (
      "technologies: [{name: Between, joins: sockets, flow_control: credit}]\n"
      "links:\n"
      "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
      "  - {name: between, technology: Between, lanes: 1, signalling: 16Gb/s, latency: 1us}\n"
      "  - {name: port, technology: Ethernet, lanes: 1, signalling: %s, latency: 1us}\n"
      "nodes:\n"
      "  - name: box\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    nic: port\n"
      "    p2p: sys\n"
      "    gdr: sys\n"
      "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: plx, kind: switch, count: 2},"
      " {name: nic, kind: nic, count: 4}, {name: cpu, kind: host, count: 2}]\n"
      "    wires: [{from: gpu, to: plx, link: wire}, {from: plx, to: cpu, link: wire},"
      " {from: cpu, to: cpu, link: between, map: all}, %s]\n",
      port, wires);

  return play_cluster (catalog, cluster, own);
}

/* Only where each GPU has a NIC on its own switch, another one than the other GPU, and only where these two are joined
 * and faster. GPUs that have links to some others stay inside. */
static void
a_way_round_needs_near_nics_that_are_joined (G_GNUC_UNUSED void **state)
{
  static const char
      *const near = "{from: nic, to: plx, link: wire}",
             *const by_socket = "{from: nic, to: cpu, link: wire}",
             *const pair = "{from: nic, to: plx, link: wire}, {from: gpu0, to: gpu1, link: nvlink3}",
             *const both = "{from: nic0, to: plx0, link: wire}, {from: nic0, to: plx1, link: wire}, "
                           "{from: nic1, to: plx0, link: wire}, {from: nic2, to: plx1, link: wire}, "
                           "{from: nic3, to: plx1, link: wire}";
  static const struct {
    const char *cluster, *port, *wires;
    FabHopKind kind;
  } rows[] = {
    { "node: box, nodes: 2", "40Gb/s", near, FAB_HOP_NET },
    { "node: box, nodes: 2", "8Gb/s", near, FAB_HOP_DIRECT },
    { "node: box, nodes: 2", "16Gb/s", near, FAB_HOP_DIRECT }, /* no faster than the sockets */
    { "node: box, nodes: 2", "40Gb/s", by_socket, FAB_HOP_DIRECT },
    { "node: box, nodes: 2", "40Gb/s", pair, FAB_HOP_DIRECT },
    { "node: box, nodes: 2, fabric: {kind: rail, planes: 4}", "40Gb/s", near, FAB_HOP_DIRECT },
    { "node: box, nodes: 2, nics_per_node: 1", "40Gb/s", both, FAB_HOP_DIRECT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_sockets (rows[i].cluster, rows[i].port, rows[i].wires);

    if (kind_of_neighbours (fab_simulation_cluster (play->simulation), 0, 3) != rows[i].kind)
      fail_msg ("row %u", i);
  }
}

/* Two switches below one bridge, and no host in which the NICs, that reach no GPU, could stage: the way inside stays,
 * and where GPUs do not reach each other either, there is none. */
static void
a_way_round_that_cannot_be_made_is_left (G_GNUC_UNUSED void **state)
{
  static const char own[] =
      "nodes:\n"
      "  - name: bridged\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    nic: ib-hdr\n"
      "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch, count: 2},"
      " {name: nic, kind: nic, count: 2}, {name: bridge, kind: bridge}]\n"
      "    wires: [{from: gpu, to: plx, link: pcie4-x16}, {from: nic, to: plx, link: pcie4-x16},"
      " {from: plx, to: bridge, link: pcie3-x16}]\n";
  g_autoptr (Play) play = play_cluster (catalog, "node: bridged, nodes: 2, p2p: sys, gdr: sys", own);
  FabCluster cluster = *fab_simulation_cluster (play->simulation);
  FabGroup group = { &cluster, 2, 2 };
  g_autoptr (GError) error = NULL;
  FabHop hop;

  assert_int_equal (kind_of_neighbours (&cluster, 0, 1), FAB_HOP_NET);
  cluster.gdr = FAB_REACH_NONE;
  assert_int_equal (kind_of_neighbours (&cluster, 0, 1), FAB_HOP_DIRECT);
  cluster.p2p = cluster.pair_p2p = FAB_REACH_NONE;
  assert_false (fab_hop_inside_or_over (&group, 1, 0, 1, &hop, &error));
  assert_non_null (strstr (error->message, "the node has no host to go through"));
}

/* NICs that no switch joins: of a node's other NICs none leads there either, and the ends are named. A switch that has
 * summed has no other NIC. */
static void
nics_that_nothing_joins_are_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_cluster (
      catalog, "node: dgx-h100, nodes: 2, fabric: {kind: rail, nodes_per_leaf: 2, planes: 8}", "");
  FabCluster cluster = *fab_simulation_cluster (play->simulation);
  FabVertexId nics[] = { cluster.nics[0], cluster.nics[8 + 1] };
  guint hops[8];
  FabHop hop;

  for (guint local = 0; local < 8; local++)
    hops[local] = 4;
  cluster.nics = nics;
  cluster.nics_per_node = 1;
  cluster.nic_hops = hops;
  for (guint i = 0; i < 3; i++) {
    FabLinkId first;
    g_autoptr (GError) error = NULL;
    guint n = fab_graph_out_links (cluster.graph, nics[0], &first);
    FabVertexId leaf = fab_graph_link (cluster.graph, first + n - 1)->dst;
    gboolean is_found = i == 0 ? fab_hop_ranks (&(FabGroup){ &cluster, 2, 8 }, 0, 9, &hop, &error)
                               : fab_hop_over (&cluster, cluster.gpus[0], i == 1 ? nics[0] : leaf, nics[1],
                                               cluster.gpus[9], 0, &hop, &error);

    assert_false (is_found);
    assert_null (hop.shares);
    if (strstr (error->message, i < 2 ? "no path from node0/nic0 to node1/nic1 has at most 64 links"
                                      : "no path from leaf0 to node1/nic1 has at most 64 links")
        == NULL)
      fail_msg ("%s", error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_socket_between_gpus_is_gone_round_by_faster_nics),
    cmocka_unit_test (a_way_round_needs_near_nics_that_are_joined),
    cmocka_unit_test (a_way_round_that_cannot_be_made_is_left),
    cmocka_unit_test (nics_that_nothing_joins_are_named),
  };

  return play_run_tests ("hop_around", tests, &catalog);
}
