/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_orders.c - in which order rings pass the GPUs of a node. */
#include "tests/support/test.h"

#include "sim/collective/shape/rings.h"
#include "tests/support/closed_router.h"
#include "tests/support/mesh.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* The local ranks of a ring in one node, as text. (transfer full) */
static char *
order_text (const FabRings *rings, guint ring, gboolean is_odd)
{
  const guint *order = g_array_index (rings->shapes[0], FabRing, ring).orders[is_odd];
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < rings->group->gpus_per_node; i++)
    g_string_append_printf (text, i > 0 ? " %u" : "%u", order[i]);
  return g_string_free (text, FALSE);
}

static void
assert_order (const FabRings *rings, guint ring, gboolean is_odd, const char *expected)
{
  g_autofree char *text = order_text (rings, ring, is_odd);

  assert_string_equal (text, expected);
}

/* A DGX H100 twice, and its rings. */
typedef struct {
  Play *play;
  FabGroup group;
  FabRings rings;
} Pair;

static void
pair_init (Pair *self, const char *keys, guint n_rings)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 2%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      keys);

  self->play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (self->play->simulation);
  self->group = (FabGroup){ cluster, cluster->n_nodes, cluster->gpus_per_node };
  assert_true (fab_rings_find (&self->group, &self->rings, NULL));
  assert_int_equal (self->rings.n_rings, n_rings);
}

static void
pair_clear (Pair *self)
{
  fab_rings_clear (&self->rings);
  play_free (self->play);
}

/* Each channel begins one GPU later and goes round the node, as NCCL's log of 2 x 8 H100 says:
 *   Channel 00/16 :  0  7  6  5  4  3  2  1  8 ...
 *   Channel 01/16 :  0  7  6  5  4  3  2  9  8 15 14 13 12 11 10  1
 *   Channel 02/16 :  0  7  6  5  4  3 10  9  8 15 14 13 12 11  2  1
 * so that channels of a node are turned against each other, and none is another order of the same GPUs. */
static void
rings_go_round_a_node_behind_switches (G_GNUC_UNUSED void **state)
{
  Pair pair = { 0 };

  pair_init (&pair, "", 8);
  assert_order (&pair.rings, 0, FALSE, "0 7 6 5 4 3 2 1");
  assert_order (&pair.rings, 1, FALSE, "1 0 7 6 5 4 3 2");
  assert_order (&pair.rings, 2, FALSE, "2 1 0 7 6 5 4 3");
  assert_order (&pair.rings, 7, FALSE, "7 6 5 4 3 2 1 0");
  assert_order (&pair.rings, 0, TRUE, "1 2 3 4 5 6 7 0");
  for (guint ring = 0; ring < 8; ring++) { /* back by the same way */
    const guint *const *orders = (const guint *const *) g_array_index (pair.rings.shapes[0], FabRing, ring)
                                     .orders;

    for (guint i = 0; i < 8; i++)
      assert_int_equal (orders[1][i], orders[0][7 - i]);
  }
  pair_clear (&pair);
}

/* A way round the node from 1 to 5 would cross between sockets at 3-4, 7-0 and 0-5. */
static void
between_ends_that_are_no_neighbours_ranks_ascend (G_GNUC_UNUSED void **state)
{
  Pair pair = { 0 };

  pair_init (&pair, ", nics_per_node: 2", 2);
  assert_order (&pair.rings, 0, FALSE, "0 1 2 3 5 6 7 4");
  assert_order (&pair.rings, 1, FALSE, "4 1 2 3 5 6 7 0");
  pair_clear (&pair);
}

/* --- any machine --- */

static const char *const machines[] = {
  "node: dgx-h100, nodes: 1",
  "node: dgx-h100, nodes: 3",
  "node: dgx-h100, nodes: 2, gpus_per_node: 1",
  "node: dgx-h100, nodes: 4, gpus_per_node: 3, nics_per_node: 2",
  "node: dgx-a100, nodes: 2, nics_per_node: 3",
  "node: dgx-a100, nodes: 2, gpus_per_node: 2",
  "node: dgx1-v100, nodes: 1",
  "node: dgx1-v100, nodes: 3",
  "node: dgx1-v100, nodes: 2, nics_per_node: 1",
  "node: mi300x, nodes: 1",
  "node: mi300x, nodes: 2",
  "node: polaris, nodes: 4",
  "node: p5, nodes: 2",
};

static Play *
play_machine (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);

  return play_new (catalog, yaml, NULL);
}

static guint
nic_hops (const FabGroup *group, guint node, guint local, guint nic)
{
  FabGroup shape = fab_group_of_shape (group, fab_group_shape (group, node));

  return fab_cluster_nic_hops (shape.cluster, local, nic);
}

/* Fewest hops from a NIC to any rank of the node but one. */
static guint
least_hops (const FabGroup *group, guint node, guint nic, guint but)
{
  guint least = G_MAXUINT;

  for (guint local = 0; local < fab_group_n_locals (group, node); local++)
    if (local != but)
      least = MIN (least, nic_hops (group, node, local, nic));
  return least;
}

/* In one node a ring is any order. Over nodes it begins as near to one of its NICs as a rank can be, and ends as near
 * to the other as another rank can be; on nodes of odd numbers the NICs change roles. */
static void
assert_orders (const FabRings *rings, guint ring)
{
  const FabGroup *group = rings->group;

  for (guint node = 0; node < group->n_nodes; node++) {
    const FabRing *one = &g_array_index (rings->shapes[fab_group_shape (group, node)], FabRing, ring);
    const guint *order = one->orders[node % 2];
    guint n = fab_group_n_locals (group, node), first = order[0], last = order[n - 1];
    guint nics[] = { one->in_nic, one->out_nic };
    guint64 seen = 0;

    for (guint i = 0; i < n; i++)
      seen |= G_GUINT64_CONSTANT (1) << order[i];
    assert_true (seen == (G_GUINT64_CONSTANT (1) << n) - 1);
    if (group->n_nodes == 1 || n == 1)
      continue;
    guint begin = nic_hops (group, node, first, nics[node % 2]),
          end = nic_hops (group, node, last, nics[1 - node % 2]);
    gboolean is_forth = begin == least_hops (group, node, nics[node % 2], G_MAXUINT)
                     && end == least_hops (group, node, nics[1 - node % 2], first),
             is_back = end == least_hops (group, node, nics[1 - node % 2], G_MAXUINT)
                    && begin == least_hops (group, node, nics[node % 2], last);

    assert_true (is_forth || (node % 2 == 1 && is_back));
  }
}

/* Stop by stop, from rank to rank; between nodes by the NICs of the ring. */
static void
assert_hops (const FabRings *rings, guint ring)
{
  const FabGroup *group = rings->group;
  const FabCluster *cluster = group->cluster;
  guint n = fab_group_n_ranks (group), index;
  g_autoptr (GHashTable) senders = g_hash_table_new (NULL, NULL);
  FabVertexId at = G_MAXUINT, root = G_MAXUINT;

  for (guint stop = 0; stop <= n; stop++) {
    guint node = fab_group_node_of (group, stop % n, &index),
          next = fab_group_node_of (group, (stop + 1) % n, &index);
    FabHop hop;

    assert_true (fab_rings_hop (rings, ring, stop, &hop, NULL));
    if (stop > 0)
      assert_int_equal (hop.legs[0].src, at);
    if (stop == fab_rings_root (rings, ring))
      root = hop.legs[0].src;
    at = hop.legs[hop.n_legs - 1].dst;
    g_hash_table_add (senders, GUINT_TO_POINTER (hop.legs[0].src));
    if (node != next) {
      const FabRing *here = &g_array_index (rings->shapes[fab_group_shape (group, node)], FabRing, ring),
                    *there = &g_array_index (rings->shapes[fab_group_shape (group, next)], FabRing, ring);

      assert_int_equal (fab_graph_link (cluster->graph, hop.in_port)->dst,
                        fab_group_nic (group, next, next % 2 ? there->out_nic : there->in_nic));
      if (!cluster->has_relays)
        assert_int_equal (fab_graph_link (cluster->graph, hop.out_port)->src,
                          fab_group_nic (group, node, node % 2 ? here->in_nic : here->out_nic));
    }
    fab_hop_clear (&hop);
  }
  assert_int_equal (g_hash_table_size (senders), n);
  assert_int_equal (root, fab_group_gpu (group, 0, 0));
}

/* The rings of a node by the NIC at which they enter, counted round. */
static void
assert_found_by_nic (const FabRings *rings)
{
  for (guint shape = 0; shape < rings->n_shapes; shape++)
    for (guint nic = 0; nic <= rings->group->cluster->nics_per_node; nic++) {
      const guint *orders[64];
      guint n = 0;

      for (guint i = 0; i < rings->shapes[shape]->len; i++) {
        const FabRing *ring = &g_array_index (rings->shapes[shape], FabRing, i);

        if (ring->in_nic == nic)
          orders[n++] = ring->orders[0];
      }
      for (guint nth = 0; nth < 2 * n + 1; nth++)
        assert_ptr_equal (fab_rings_order_from (rings, shape, nic, nth), n > 0 ? orders[nth % n] : NULL);
    }
}

static void
check_group (const FabGroup *group)
{
  g_auto (FabRings) rings = { 0 };
  g_autoptr (GHashTable) rails = g_hash_table_new (NULL, NULL);
  guint n_rings = G_MAXUINT;

  assert_true (fab_rings_find (group, &rings, NULL));
  assert_int_equal (rings.n_shapes, fab_group_n_shapes (group));
  for (guint shape = 0; shape < rings.n_shapes; shape++)
    n_rings = MIN (n_rings, rings.shapes[shape]->len);
  assert_int_equal (rings.n_rings, n_rings);
  for (guint ring = 0; ring < rings.n_rings; ring++) {
    assert_orders (&rings, ring);
    assert_hops (&rings, ring);
    g_hash_table_add (rails, GUINT_TO_POINTER (g_array_index (rings.shapes[0], FabRing, ring).in_nic));
  }
  assert_found_by_nic (&rings);
  if (group->n_nodes > 1 && rings.n_shapes == 1)
    assert_int_equal (rings.n_channels, g_hash_table_size (rails));
}

static void
rings_lead_from_nic_to_nic_by_all_ranks (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autoptr (Play) play = play_machine (machines[i]);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);

    check_group (&(FabGroup){ cluster, cluster->n_nodes, cluster->gpus_per_node });
  }
}

/* Of a DGX-1 each ring has a NIC of its own. As many rings as make most together are kept: n rings go as fast as the
 * slowest of their NICs, so that three at full rate are more than four at 70 % and less than four at 80 %. */
static void
a_ring_that_holds_up_the_others_is_left_out (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint percent[4]; /* of the rate of each NIC of node 1 */
    guint n, nics[4];
  } rows[] = {
    { { 100, 100, 100, 100 }, 4, { 0, 1, 2, 3 } }, { { 100, 100, 80, 100 }, 4, { 0, 1, 2, 3 } },
    { { 100, 100, 70, 100 }, 3, { 0, 1, 3 } },     { { 100, 100, 75, 100 }, 4, { 0, 1, 2, 3 } },
    { { 70, 100, 100, 100 }, 3, { 1, 2, 3 } },     { { 100, 70, 100, 100 }, 3, { 0, 2, 3 } },
    { { 100, 100, 100, 70 }, 3, { 0, 1, 2 } },     { { 50, 100, 100, 30 }, 2, { 1, 2 } },
    { { 30, 100, 50, 100 }, 2, { 1, 3 } },         { { 75, 100, 60, 100 }, 4, { 0, 1, 2, 3 } },
    { { 90, 100, 100, 50 }, 3, { 0, 1, 2 } },      { { 20, 30, 100, 30 }, 1, { 2 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GString) yaml = g_string_new (
        "name: t\niterations: 1\ncluster: {node: dgx1-v100, nodes: 3}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\nfaults:\n");
    g_auto (FabRings) rings = { 0 };

    for (guint nic = 0; nic < 4; nic++)
      if (rows[i].percent[nic] < 100)
        g_string_append_printf (yaml, "- {what: nic, name: node1/nic%u, rate: %u%%}\n", nic,
                                rows[i].percent[nic]);
    g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
    assert_true (fab_rings_find (&group, &rings, NULL));
    assert_int_equal (rings.n_rings, rows[i].n);
    assert_int_equal (rings.n_channels, rows[i].n);
    for (guint ring = 0; ring < rows[i].n; ring++)
      assert_int_equal (g_array_index (rings.shapes[0], FabRing, ring).in_nic, rows[i].nics[ring]);
  }
}

/* Behind switches all rings have the same ways, and are kept even where one of their NICs is slow. */
static void
rings_with_the_same_ways_are_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog,
                                    "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 3}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
                                    "faults: [{what: nic, name: node1/nic2, rate: 20%}]\n",
                                    NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  g_auto (FabRings) rings = { 0 };

  assert_true (fab_rings_find (&group, &rings, NULL));
  assert_int_equal (rings.n_rings, 8);
  assert_int_equal (rings.n_channels, 8);
}

/* Rings of nodes of these parts and wires. */
static void
with_nodes (guint n_nodes, const char *parts, const char *wires, void (*look) (const FabRings *rings))
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: box, nodes: %u, pxn: false, gdr: sys}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
      "links:\n"
      "  - {name: wire, technology: PCIe, lanes: 16, signalling: 32Gb/s, latency: 1us}\n"
      "  - {name: slow, technology: PCIe, lanes: 1, signalling: 8Gb/s, latency: 1us}\n"
      "nodes:\n  - name: box\n    accelerator: a100-sxm4-80gb\n    nic: roce-100\n    parts: [%s]\n    wires: [%s]\n",
      n_nodes, parts, wires);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  g_auto (FabRings) rings = { 0 };

  assert_true (fab_rings_find (&group, &rings, NULL));
  look (&rings);
}

static void
look_at_wired_ends (const FabRings *rings)
{
  assert_true (rings->n_rings > 0);
  for (guint ring = 0; ring < rings->n_rings; ring++)
    assert_order (rings, ring, FALSE, "0 3 1 2");
}

/* GPUs 0, 2, 1 and 3 are wired in this circle, and all as near to the only NIC. A ring begins at GPU 0, and by direct
 * wires alone it ends at one that has a wire to it. */
static void
a_ring_ends_at_a_wire_to_its_begin (G_GNUC_UNUSED void **state)
{
  with_nodes (2,
              "{name: gpu, kind: accelerator, count: 4}, {name: plx, kind: switch}, {name: nic, kind: nic}",
              "{from: gpu, to: plx, link: wire}, {from: nic, to: plx, link: wire},"
              " {from: gpu0, to: gpu2, link: nvlink3},"
              " {from: gpu2, to: gpu1, link: nvlink3}, {from: gpu1, to: gpu3, link: nvlink3},"
              " {from: gpu3, to: gpu0, link: nvlink3}",
              look_at_wired_ends);
}

static void
look_at_pairs (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 1);
  assert_order (rings, 0, FALSE, "0 2 1 3");
}

/* Pairs of GPUs have wires, of which no ring can be made: the only one passes as many of them as there can be. */
static void
a_ring_keeps_pairs_together (G_GNUC_UNUSED void **state)
{
  with_nodes (1,
              "{name: gpu, kind: accelerator, count: 4}, {name: plx, kind: switch}, {name: nic, kind: nic}",
              "{from: gpu, to: plx, link: wire}, {from: nic, to: plx, link: wire},"
              " {from: gpu0, to: gpu2, link: nvlink3}, {from: gpu1, to: gpu3, link: nvlink3}",
              look_at_pairs);
}

static void
assert_all_rings (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 3);
}

static void
assert_without_first (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 2);
  assert_int_equal (g_array_index (rings->shapes[0], FabRing, 0).in_nic, 1);
  assert_int_equal (g_array_index (rings->shapes[0], FabRing, 1).in_nic, 2);
}

/* Behind switches: GPU 0 stands beside NICs 0 and 1, and GPU 1 beside NIC 2, so that one of three rings comes in by NIC
 * 0 and goes out by NIC 1, from GPU 1 by way of the processor. Where that is slow, the ring is left out. */
static void
a_ring_with_a_slow_way_out_is_left_out (G_GNUC_UNUSED void **state)
{
  static const char parts[] =
      "{name: gpu, kind: accelerator, count: 2}, {name: nvswitch, kind: switch},"
      " {name: left, kind: switch}, {name: right, kind: switch}, {name: cpu, kind: host},"
      " {name: nic, kind: nic, count: 3}";
  static const char *const links[] = { "wire", "slow" };

  for (guint i = 0; i < 2; i++) {
    g_autofree char *wires = g_strdup_printf (
        "{from: gpu, to: nvswitch, link: nvlink3}, {from: gpu0, to: left, link: wire},"
        " {from: nic0, to: left, link: wire}, {from: nic1, to: left, link: wire}, {from: gpu1, to: right, link: wire},"
        " {from: nic2, to: right, link: wire},"
        " {from: left, to: cpu, link: %s}, {from: right, to: cpu, link: wire}",
        links[i]);

    with_nodes (2, parts, wires, i == 0 ? assert_all_rings : assert_without_first);
  }
}

static void
look_at_the_only_path (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 1);
  assert_order (rings, 0, FALSE, "0 3 2 4 1");
  assert_order (rings, 0, TRUE, "0 3 2 4 1");
}

/* By direct wires all GPUs can be passed from GPU 0 to GPU 1 in one order alone; the way that goes to the GPU of the
 * lowest number first ends at GPU 3, which has no wire to another one that is left. */
static void
the_only_path_over_wires_is_found (G_GNUC_UNUSED void **state)
{
  with_nodes (2,
              "{name: gpu, kind: accelerator, count: 5}, {name: plx, kind: switch}, {name: nic, kind: nic}",
              "{from: gpu, to: plx, link: wire}, {from: nic, to: plx, link: wire},"
              " {from: gpu0, to: gpu1, link: nvlink3}, {from: gpu0, to: gpu2, link: nvlink3},"
              " {from: gpu0, to: gpu3, link: nvlink3}, {from: gpu2, to: gpu3, link: nvlink3},"
              " {from: gpu2, to: gpu4, link: nvlink3}, {from: gpu4, to: gpu1, link: nvlink3}",
              look_at_the_only_path);
}

static void
assert_both_rings (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 2);
  assert_int_equal (rings->n_channels, 2);
}

static void
assert_first_ring (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 1);
  assert_int_equal (rings->n_channels, 1);
  assert_int_equal (g_array_index (rings->shapes[0], FabRing, 0).in_nic, 0);
}

static void
assert_second_ring (const FabRings *rings)
{
  assert_int_equal (rings->n_rings, 1);
  assert_int_equal (rings->n_channels, 1);
  assert_int_equal (g_array_index (rings->shapes[0], FabRing, 0).in_nic, 1);
}

/* Two rings, of which one goes over a NIC that is wired at a tenth of its rate. */
static void
one_of_two_rings_is_left_out (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *links[2]; /* of the NICs */
    void (*look) (const FabRings *rings);
  } rows[] = {
    { { "wire", "wire" }, assert_both_rings },
    { { "wire", "slow" }, assert_first_ring },
    { { "slow", "wire" }, assert_second_ring },
    { { "slow", "slow" }, assert_both_rings },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *wires = g_strdup_printf (
        "{from: gpu, to: plx, link: wire}, {from: nic0, to: plx, link: %s}, {from: nic1, to: plx, link: %s},"
        " {from: gpu0, to: gpu2, link: nvlink3}, {from: gpu1, to: gpu3, link: nvlink3}",
        rows[i].links[0], rows[i].links[1]);

    with_nodes (
        2,
        "{name: gpu, kind: accelerator, count: 4}, {name: plx, kind: switch}, {name: nic, kind: nic, count: 2}",
        wires, rows[i].look);
  }
}

/* GPUs 0 to 2 and NIC 0 are on one side of a slow link to the processor. The ring of NIC 0 passes 0-5 2-3 4 1, where a
 * line is a direct wire, and comes back over that link twice, from 5 to 2 and from 4 to 1. That of NIC 1 passes 3-2 0-5
 * 1 4, and comes back once. Both together take three halves as long for a byte as the second alone, and the first alone
 * takes twice as long. */
static void
the_ring_that_is_heavier_on_the_slow_link_is_left_out (G_GNUC_UNUSED void **state)
{
  with_nodes (
      2,
      "{name: gpu, kind: accelerator, count: 6}, {name: left, kind: switch}, {name: right, kind: switch},"
      " {name: cpu, kind: host}, {name: nic, kind: nic, count: 2}",
      "{from: gpu0, to: left, link: wire}, {from: gpu1, to: left, link: wire},"
      " {from: gpu2, to: left, link: wire}, {from: gpu3, to: right, link: wire},"
      " {from: gpu4, to: right, link: wire}, {from: gpu5, to: right, link: wire},"
      " {from: nic0, to: left, link: wire}, {from: nic1, to: right, link: wire},"
      " {from: left, to: cpu, link: slow}, {from: right, to: cpu, link: wire},"
      " {from: gpu0, to: gpu5, link: nvlink3}, {from: gpu2, to: gpu3, link: nvlink3}",
      assert_second_ring);
}

/* Eight GPUs as corners of a cube, wired along its edges, with a NIC beside each. A way over all of it ends on the
 * colour on which it did not begin, so that rings that go out one, two or three GPUs later than they come in cannot
 * all follow wires; four later is the other end of an edge. Each of the 8 rings follows 7 of the 24 wires. */
static void
the_shift_with_the_best_ways_is_found (G_GNUC_UNUSED void **state)
{
  enum { N = 8 };
  Wiring cube = wiring_of_rows (N, "01101000 10010100 10010010 01100001 10000110 01001001 00101001 00010110");
  g_autoptr (Rig) rig = mesh_new (&cube, 2, TRUE);
  FabGroup group = rig_group (rig);
  g_auto (FabRings) rings = { 0 };

  assert_true (fab_rings_find (&group, &rings, NULL));
  assert_int_equal (rings.n_rings, N);
  for (guint i = 0; i < rings.n_rings; i++) {
    const FabRing *ring = &g_array_index (rings.shapes[0], FabRing, i);

    assert_int_equal (ring->in_nic, i);
    assert_int_equal (ring->out_nic, (i + 4) % N);
    for (guint is_odd = 0; is_odd < 2; is_odd++) {
      const guint *order = ring->orders[is_odd];

      assert_int_equal (order[0], is_odd ? ring->out_nic : ring->in_nic);
      assert_int_equal (order[N - 1], is_odd ? ring->in_nic : ring->out_nic);
      for (guint k = 1; k < N; k++)
        assert_true (cube.counts[order[k - 1] * N + order[k]] > 0);
    }
  }
}

/* Wires that the GPUs may not use make no rings: the only one goes by number. */
static void
wires_that_may_not_be_used_do_not_count (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_machine ("node: dgx1-v100, nodes: 1, p2p: none");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  g_auto (FabRings) rings = { 0 };

  assert_true (fab_rings_find (&group, &rings, NULL));
  assert_int_equal (rings.n_rings, 1);
  assert_int_equal (rings.n_channels, 1);
  assert_order (&rings, 0, FALSE, "0 1 2 3 4 5 6 7");
}

/* Over nodes they go by number as they do behind switches. */
static void
rings_over_nodes_without_wires_go_by_number (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_machine ("node: dgx1-v100, nodes: 2, p2p: none");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  FabRings rings = { 0 };

  assert_true (fab_rings_find (&group, &rings, NULL));
  assert_order (&rings, 0, FALSE, "0 7 6 5 4 3 2 1");
  fab_rings_clear (&rings);
  fab_rings_clear (&rings); /* it may be empty */
}

static void
nodes_without_nics_have_no_rings (G_GNUC_UNUSED void **state)
{
  Wiring full = wiring_full (4, 1);

  for (guint has_nics = 0; has_nics < 2; has_nics++) {
    g_autoptr (Rig) rig = mesh_new (&full, 2, has_nics > 0);
    FabGroup group = rig_group (rig);
    g_auto (FabRings) rings = { 0 };
    g_autoptr (GError) error = NULL;

    assert_int_equal (fab_rings_find (&group, &rings, &error), has_nics);
    if (has_nics)
      assert_null (error);
    else
      assert_string_equal (error->message, "2 nodes cannot reach each other, because the node has no NIC");
  }
}

/* The last path that is looked for is that of a ring whose load is compared with others. */
static void
a_path_that_is_missing_is_told (G_GNUC_UNUSED void **state)
{
  Wiring full = wiring_full (4, 1);
  g_autoptr (Rig) rig = mesh_new (&full, 2, TRUE);
  FabGroup group = rig_group (rig);
  FabRouter *open = rig->cluster.router;
  guint n_asked = 0;

  for (guint is_missing = 0; is_missing < 2; is_missing++) {
    ClosedRouter router = closed_router (open, is_missing ? n_asked - 1 : G_MAXUINT);
    g_auto (FabRings) rings = { 0 };
    g_autoptr (GError) error = NULL;

    rig->cluster.router = &router.base;
    assert_int_equal (fab_rings_find (&group, &rings, &error), !is_missing);
    assert_int_equal (error != NULL, is_missing);
    n_asked = router.n_asked;
  }
  rig->cluster.router = open;
}

static void
wires_join_gpus_of_a_node (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    gboolean is_wired;
  } rows[] = {
    { "node: dgx1-v100, nodes: 2", TRUE },
    { "node: dgx1-v100, nodes: 2, gpus_per_node: 2", TRUE },
    { "node: dgx1-v100, nodes: 2, gpus_per_node: 1", FALSE },
    { "node: dgx-h100, nodes: 2", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_machine (rows[i].cluster);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };

    assert_int_equal (fab_rings_are_wired (&group), rows[i].is_wired);
  }
}

/* Parts of a machine: different ranks in each node, and a node without any. */
static void
rings_of_uneven_groups_do_so_too (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    guint n, ranks[8];
  } cases[] = {
    { "node: dgx-h100, nodes: 3", 5, { 0, 1, 9, 10, 17 } },
    { "node: dgx-h100, nodes: 3", 7, { 2, 3, 4, 8, 15, 16, 17 } },
    { "node: dgx1-v100, nodes: 3", 6, { 0, 1, 2, 3, 9, 10 } },
    { "node: dgx1-v100, nodes: 4", 8, { 0, 5, 8, 9, 10, 24, 25, 31 } },
    { "node: mi300x, nodes: 2", 3, { 7, 8, 9 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Play) play = play_machine (cases[i].cluster);
    FabCluster view;

    fab_cluster_view_ranks (&view, fab_simulation_cluster (play->simulation), cases[i].ranks, cases[i].n);
    assert_non_null (view.uneven);
    check_group (&(FabGroup){ &view, view.n_nodes, view.gpus_per_node });
    fab_cluster_clear (&view);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rings_go_round_a_node_behind_switches),
    cmocka_unit_test (between_ends_that_are_no_neighbours_ranks_ascend),
    cmocka_unit_test (rings_lead_from_nic_to_nic_by_all_ranks),
    cmocka_unit_test (a_ring_that_holds_up_the_others_is_left_out),
    cmocka_unit_test (rings_with_the_same_ways_are_kept),
    cmocka_unit_test (a_ring_ends_at_a_wire_to_its_begin),
    cmocka_unit_test (a_ring_keeps_pairs_together),
    cmocka_unit_test (a_ring_with_a_slow_way_out_is_left_out),
    cmocka_unit_test (the_only_path_over_wires_is_found),
    cmocka_unit_test (one_of_two_rings_is_left_out),
    cmocka_unit_test (the_ring_that_is_heavier_on_the_slow_link_is_left_out),
    cmocka_unit_test (the_shift_with_the_best_ways_is_found),
    cmocka_unit_test (wires_that_may_not_be_used_do_not_count),
    cmocka_unit_test (rings_over_nodes_without_wires_go_by_number),
    cmocka_unit_test (nodes_without_nics_have_no_rings),
    cmocka_unit_test (a_path_that_is_missing_is_told),
    cmocka_unit_test (wires_join_gpus_of_a_node),
    cmocka_unit_test (rings_of_uneven_groups_do_so_too),
  };

  return play_run_tests ("ring orders", tests, &catalog);
}
