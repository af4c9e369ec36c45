/* SPDX-License-Identifier: Apache-2.0 */
/* test_nic_paths.c - which NICs each GPU of a group has, and the hops over all of them. */
#include "tests/support/test.h"

#include "sim/machine/nic_paths.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* GPU 0 with NICs 0 and 1 on a switch, GPU 1 with NICs 2 to 4 on another one, all at 10 GB/s; the GPUs are joined by a
 * link that relays. Two nodes, whose ports one switch joins. */
static Play *
play_boxes (const char *cluster, const char *nvlink_rate)
{
  g_autofree char *own = g_strdup_printf (
      "links:\n"
      "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
      "  - {name: pair, technology: NVLink, lanes: 1, signalling: %s, latency: 3us}\n"
      "  - {name: port, technology: InfiniBand, lanes: 1, signalling: 160Gb/s, latency: 5us}\n"
      "nodes:\n"
      "  - name: box\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    nic: port\n"
      "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch, count: 2},"
      " {name: nic, kind: nic, count: 5}, {name: cpu, kind: host}]\n"
      "    wires: [{from: gpu, to: plx, link: wire}, {from: plx, to: cpu, link: wire},"
      " {from: gpu0, to: gpu1, link: pair}, {from: nic0, to: plx0, link: wire}, {from: nic1, to: plx0, link: wire},"
      " {from: nic2, to: plx1, link: wire}, {from: nic3, to: plx1, link: wire}, {from: nic4, to: plx1, link: wire}]\n",
      nvlink_rate);
  g_autofree char *keys = g_strconcat ("node: box, nodes: 2, fabric: switch", cluster, NULL);

  return play_cluster (catalog, keys, own);
}

static FabGroup
group_of (const FabCluster *cluster)
{
  return (FabGroup){ cluster, cluster->n_nodes, cluster->gpus_per_node };
}

static void
assert_nics (const FabNicPaths *paths, guint local, const guint *nics, guint n)
{
  for (guint node = 0; node < paths->group->n_nodes; node++) {
    const GArray *list = fab_nic_paths_nics (paths, node, local);

    assert_int_equal (list->len, n);
    for (guint i = 0; i < n; i++)
      assert_int_equal (g_array_index (list, guint, i), nics[i]);
  }
}

/* Each NIC is that of the nearest GPU; a GPU without one of its own has the nearest one too; in one node there are
 * none. */
static void
nics_are_dealt_to_their_gpus (G_GNUC_UNUSED void **state)
{
  static const guint nics[] = { 0, 1, 2, 3, 4 };
  g_autoptr (Play) boxes = play_boxes ("", "400Gb/s"),
                   few = play_cluster (catalog, "node: dgx-h100, nodes: 2, nics_per_node: 1", "");
  const FabCluster *cluster = fab_simulation_cluster (boxes->simulation);
  FabGroup all = group_of (cluster), one = all, of_few = group_of (fab_simulation_cluster (few->simulation));

  one.n_nodes = 1;
  g_autoptr (FabNicPaths) of_all = fab_nic_paths_new (&all), inside = fab_nic_paths_new (&one),
                          shared = fab_nic_paths_new (&of_few);
  assert_int_equal (of_all->n_nics, 5);
  assert_nics (of_all, 0, nics, 2);
  assert_nics (of_all, 1, nics + 2, 3);
  assert_int_equal (inside->n_nics, 0);
  assert_nics (inside, 0, nics, 0);
  assert_nics (inside, 1, nics, 0);
  assert_int_equal (shared->n_nics, 1);
  for (guint local = 0; local < 8; local++)
    assert_nics (shared, local, nics, 1);
}

/* The NIC or GPU at the end of the way, as its number in its node. */
static guint
member_of (const FabCluster *cluster, FabVertexId vertex)
{
  return fab_graph_vertex (cluster->graph, vertex)->member;
}

/* The whole way is one, of known length and no faster than its slowest link. */
static void
assert_way (const FabCluster *cluster, const FabHop *hop, FabVertexId src, FabVertexId dst, guint n_links,
            FabTimePs latency_ps, double rate)
{
  FabVertexId at = src;

  assert_int_equal (hop->shares->len, n_links);
  for (guint i = 0; i < n_links; i++) {
    const FabLink *link = fab_graph_link (cluster->graph, g_array_index (hop->shares, FabShare, i).link);

    assert_int_equal (link->src, at);
    at = link->dst;
  }
  assert_int_equal (at, dst);
  assert_int_equal (hop->latency_ps, latency_ps);
  assert_near (hop->rate_bytes_per_s, rate, 1e-9);
}

/* From GPU 0, which has two NICs, to GPU 1 of the other node, which has three: six hops, so that each NIC has an equal
 * share. Without relays they leave by the NICs of GPU 0, over 2 wires, 2 ports and 2 wires: 4 x 1 + 2 x 5 us. With
 * relays they go to the GPU beside the NIC of the receiver's rail first, 3 us more, and by that NIC; no faster than
 * that link. */
static void
every_nic_of_either_end_has_a_share (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *nvlink_rate;
    gboolean relays;
    double rate;
    const char *slowest;
  } rows[] = { { ", pxn: false", "400Gb/s", FALSE, 10e9, "PCIe" },
               { "", "400Gb/s", TRUE, 10e9, "PCIe" },
               { "", "80Gb/s", TRUE, 10e9, "PCIe" }, /* as slow as the ports' bus */
               { "", "40Gb/s", TRUE, 5e9, "NVLink" } };
  const FabTimePs us = FAB_PS_PER_S / 1000000;

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (Play) play = play_boxes (rows[r].cluster, rows[r].nvlink_rate);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    FabGroup group = group_of (cluster);
    g_autoptr (FabNicPaths) paths = fab_nic_paths_new (&group);
    g_autoptr (GArray) hops = fab_nic_paths_hops ();

    assert_true (fab_nic_paths_between (paths, 0, 3, hops, NULL));
    assert_int_equal (hops->len, 6);
    for (guint i = 0; i < hops->len; i++) {
      const FabHop *hop = &g_array_index (hops, FabHop, i);

      assert_way (cluster, hop, cluster->gpus[0], cluster->gpus[3], rows[r].relays ? 7 : 6,
                  (14 + (rows[r].relays ? 3 : 0)) * us, rows[r].rate);
      assert_int_equal (member_of (cluster, fab_graph_link (cluster->graph, hop->in_port)->dst), 2 + i % 3);
      assert_int_equal (member_of (cluster, fab_graph_link (cluster->graph, hop->out_port)->src),
                        rows[r].relays ? 2 + i % 3 : i % 2);
      assert_string_equal (hop->technology->name, rows[r].slowest);
    }
  }
}

/* Between GPUs of one number each NIC sends to its own rail; inside a node there is one hop. */
static void
rails_are_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_boxes ("", "400Gb/s");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = group_of (cluster);
  g_autoptr (FabNicPaths) paths = fab_nic_paths_new (&group);
  g_autoptr (GArray) between = fab_nic_paths_hops (), inside = fab_nic_paths_hops ();

  assert_true (fab_nic_paths_between (paths, 1, 3, between, NULL));
  assert_int_equal (between->len, 3);
  for (guint i = 0; i < 3; i++) {
    const FabHop *hop = &g_array_index (between, FabHop, i);

    assert_int_equal (member_of (cluster, fab_graph_link (cluster->graph, hop->out_port)->src), 2 + i);
    assert_int_equal (member_of (cluster, fab_graph_link (cluster->graph, hop->in_port)->dst), 2 + i);
  }
  assert_true (fab_nic_paths_between (paths, 2, 3, inside, NULL));
  assert_int_equal (inside->len, 1);
  assert_int_equal (g_array_index (inside, FabHop, 0).kind, FAB_HOP_DIRECT);
}

/* Nodes of other ranks have other NICs: node 0 has both GPUs, node 1 the second one alone, or the other way round. */
static void
nodes_of_an_uneven_group_have_their_own_nics (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint ranks[3], n_locals[2], n_nics;
    guint first_nics[2][2], n_first[2][2]; /* by node and local rank */
  } rows[] = {
    { { 0, 1, 3 }, { 2, 1 }, 5, { { 0, 2 }, { 2 } }, { { 2, 3 }, { 3 } } },
    { { 1, 2, 3 }, { 1, 2 }, 3, { { 2 }, { 0, 2 } }, { { 3 }, { 2, 3 } } },
    { { 0, 2, 3 }, { 1, 2 }, 2, { { 0 }, { 0, 2 } }, { { 2 }, { 2, 3 } } },
  };
  g_autoptr (Play) play = play_boxes ("", "400Gb/s");

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FabCluster view;

    fab_cluster_view_ranks (&view, fab_simulation_cluster (play->simulation), rows[r].ranks, 3);
    FabGroup group = { &view, 2, view.gpus_per_node };
    g_autoptr (FabNicPaths) paths = fab_nic_paths_new (&group);
    assert_int_equal (paths->n_nics, rows[r].n_nics);
    for (guint node = 0; node < 2; node++)
      for (guint local = 0; local < rows[r].n_locals[node]; local++) {
        const GArray *list = fab_nic_paths_nics (paths, node, local);

        assert_int_equal (list->len, rows[r].n_first[node][local]);
        for (guint i = 0; i < list->len; i++)
          assert_int_equal (g_array_index (list, guint, i), rows[r].first_nics[node][local] + i);
      }
    fab_nic_paths_free (g_steal_pointer (&paths));
    fab_cluster_clear (&view);
  }
}

/* A GPU without a NIC of its own has the nearest one, also where it is the first of its node. Where the other end has
 * two NICs there are two ways. */
static void
a_first_gpu_without_a_nic_has_the_nearest_one (G_GNUC_UNUSED void **state)
{
  static const guint nics[] = { 0, 1 };
  g_autoptr (Play) play = play_cluster (
      catalog, "node: box, nodes: 2, fabric: switch",
      "nodes:\n"
      "  - name: box\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    nic: ib-hdr\n"
      "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch, count: 2},"
      " {name: nic, kind: nic, count: 2}, {name: cpu, kind: host}]\n"
      "    wires: [{from: gpu, to: plx, link: pcie4-x16}, {from: plx, to: cpu, link: pcie4-x16},"
      " {from: nic0, to: plx1, link: pcie4-x16}, {from: nic1, to: plx1, link: pcie4-x16}]\n");
  FabGroup group = group_of (fab_simulation_cluster (play->simulation));
  g_autoptr (FabNicPaths) paths = fab_nic_paths_new (&group);

  assert_int_equal (paths->n_nics, 2);
  assert_nics (paths, 0, nics, 1); /* the first of two that are as near */
  assert_nics (paths, 1, nics, 2);
  for (guint from = 0; from < 2; from++)
    for (guint to = 2; to < 4; to++) {
      g_autoptr (GArray) hops = fab_nic_paths_hops ();

      assert_true (fab_nic_paths_between (paths, from, to, hops, NULL));
      assert_int_equal (hops->len, from == 0 && to == 2 ? 1 : 2);
    }
}

/* Where NICs reach no GPU's memory and nothing is there to stage in, no hop is made and the error says why; inside a
 * node it is the same of GPUs. A group of one node has its hops inside. */
static void
ranks_without_a_way_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_cluster (
      catalog, "node: box, nodes: 2, fabric: switch",
      "nodes:\n"
      "  - name: box\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    nic: ib-hdr\n"
      "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch},"
      " {name: nic, kind: nic, count: 4}]\n"
      "    wires: [{from: gpu, to: plx, link: pcie4-x16}, {from: nic, to: plx, link: pcie4-x16}]\n");
  FabCluster cluster = *fab_simulation_cluster (play->simulation);
  FabGroup group = group_of (&cluster), one = { &cluster, 1, 2 };
  g_autoptr (FabNicPaths) paths = fab_nic_paths_new (&group), inside = fab_nic_paths_new (&one);
  g_autoptr (GArray) hops = fab_nic_paths_hops ();

  assert_true (fab_nic_paths_between (inside, 0, 1, hops, NULL));
  assert_int_equal (hops->len, 1);
  assert_true (fab_nic_paths_between (paths, 0, 2, hops, NULL));
  assert_int_equal (hops->len, 3);
  g_array_set_size (hops, 0);
  cluster.gdr = cluster.p2p = cluster.pair_p2p = FAB_REACH_NONE;
  for (guint to = 1; to < 4; to++) {
    g_autoptr (GError) error = NULL;

    assert_false (fab_nic_paths_between (paths, 0, to, hops, &error));
    assert_non_null (strstr (error->message, "the node has no host to go through"));
    assert_int_equal (hops->len, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nics_are_dealt_to_their_gpus),
    cmocka_unit_test (every_nic_of_either_end_has_a_share),
    cmocka_unit_test (rails_are_kept),
    cmocka_unit_test (nodes_of_an_uneven_group_have_their_own_nics),
    cmocka_unit_test (a_first_gpu_without_a_nic_has_the_nearest_one),
    cmocka_unit_test (ranks_without_a_way_are_refused),
  };

  return play_run_tests ("nic_paths", tests, &catalog);
}
