/* SPDX-License-Identifier: Apache-2.0 */
/* test_relays.c - which GPU of its node a sender passes bytes to, so that they leave by the NIC of the receiver's
 * rail, or by a NIC that is far from the sender.
 *
 * A DGX A100 has two GPUs and two NICs on each PCIe switch: GPUs 4 and 5 are as near to NIC 5. All GPUs are joined by
 * links that relay. */
#include "tests/support/test.h"

#include "sim/machine/hop.h"
#include "sim/machine/rails.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

enum { NONE = G_MAXUINT };

/* The number of a GPU or NIC in its node. */
static guint
member_of (const FabCluster *cluster, FabVertexId vertex)
{
  return fab_graph_vertex (cluster->graph, vertex)->member;
}

/* Groups of ranks of two nodes. Where the sender's node has none of the receiver's number, the nearest rank of the group
 * to the receiver's NIC stands for it, if it is as near as the receiver. */
static void
ranks_of_uneven_groups_relay (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    guint ranks[4], n, from, to;
    guint relay; /* NONE: the sender and its own NIC */
  } rows[] = {
    { "node: dgx-a100, nodes: 2", { 0, 4, 8, 13 }, 4, 0, 3, 4 },
    { "node: dgx-a100, nodes: 2", { 0, 5, 8, 12 }, 4, 0, 3, 5 },
    { "node: dgx-a100, nodes: 2", { 0, 2, 8, 13 }, 4, 0, 3, NONE },
    { "node: dgx-a100, nodes: 2", { 0, 4, 8, 13 }, 4, 1, 3, NONE }, /* it is the sender itself */
    { "node: dgx-a100, nodes: 2, pxn: false", { 2, 4, 8, 13 }, 4, 0, 3, NONE },
    /* as many ranks at the same places: that of the same number */
    { "node: dgx-a100, nodes: 2", { 1, 4, 9, 12 }, 4, 0, 3, 4 },
    { "node: dgx-a100, nodes: 2, pxn: false", { 1, 4, 9, 12 }, 4, 0, 3, NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_cluster (catalog, rows[i].cluster, "");
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    guint from_local, out_nic = NONE;
    FabCluster view;

    fab_cluster_view_ranks (&view, cluster, rows[i].ranks, rows[i].n);
    FabGroup group = { &view, view.n_nodes, view.gpus_per_node };
    guint from_node = fab_group_node_of (&group, rows[i].from, &from_local);
    guint in_nic = rows[i].ranks[rows[i].to] % 8;
    FabVertexId relay = fab_relay_towards (&group, rows[i].from, rows[i].to, in_nic, &out_nic),
                src = fab_group_gpu (&group, from_node, from_local);
    assert_int_equal (relay == src ? NONE : member_of (cluster, relay), rows[i].relay);
    assert_int_equal (out_nic, rows[i].relay == NONE ? NONE : in_nic);
    fab_cluster_clear (&view);
  }
}

/* With NIC 0 alone, GPUs 0 and 1 are beside it, and all others pass their bytes to the first of them. */
static void
the_first_of_the_nearest_gpus_passes_to_a_far_nic (G_GNUC_UNUSED void **state)
{
  static const char *const clusters[] = { "node: dgx-a100, nodes: 2, nics_per_node: 1",
                                          "node: dgx-a100, nodes: 2, nics_per_node: 1, pxn: false",
                                          "node: dgx-a100, nodes: 2, nics_per_node: 1, gdr: none" };

  for (guint i = 0; i < G_N_ELEMENTS (clusters); i++) {
    g_autoptr (Play) play = play_cluster (catalog, clusters[i], "");
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);

    for (guint rank = 0; rank < 16; rank++) {
      FabVertexId gpu = cluster->gpus[rank], nic = cluster->nics[rank / 8];
      guint passes = i == 0 && rank % 8 > 1 ? rank / 8 * 8 : rank;

      assert_int_equal (fab_relay_to_nic (cluster, gpu, nic), cluster->gpus[passes]);
      assert_int_equal (fab_relay_to_nic (cluster, nic, gpu), nic);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ranks_of_uneven_groups_relay),
    cmocka_unit_test (the_first_of_the_nearest_gpus_passes_to_a_far_nic),
  };

  return play_run_tests ("relays", tests, &catalog);
}
