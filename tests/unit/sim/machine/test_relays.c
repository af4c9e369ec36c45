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

/* Groups of ranks of two nodes. Where the sender's node has none of the receiver's number, that rank of the group which
 * is nearest to the receiver's NIC stands for it, if it is as near as the receiver. */
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

/* With all NICs: those of the own switch are near, and to others the first GPU of their switch passes bytes on. */
static void
gpus_beside_a_nic_pass_to_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_cluster (catalog, "node: dgx-a100, nodes: 2", "");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);

  for (guint node = 0; node < 2; node++)
    for (guint gpu = 0; gpu < 8; gpu++)
      for (guint nic = 0; nic < 8; nic++) {
        guint passes = gpu / 2 == nic / 2 ? gpu : nic / 2 * 2;

        assert_int_equal (fab_relay_to_nic (cluster, cluster->gpus[8 * node + gpu],
                                            cluster->nics[8 * node + nic]),
                          cluster->gpus[8 * node + passes]);
      }
}

/* Two racks of 18 trays of four GPUs and four NICs: bytes for a GPU of another place leave by the GPU and the NIC of
 * that place on the sender's own tray. */
static void
trays_relay_inside_themselves (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_cluster (catalog, "node: gb200-tray, nodes: 36", "");
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, 2, cluster->gpus_per_node };
  const guint n = cluster->gpus_per_node;

  assert_int_equal (n, 72);
  for (guint from = 0; from < 12; from++)
    for (guint to = 0; to < n; to += 5)
      for (guint is_back = 0; is_back < 2; is_back++) {
        guint src = from + (is_back ? n : 0), dst = to + (is_back ? 0 : n), out_nic = NONE,
              place = from / 4 * 4 + to % 4;
        FabVertexId relay = fab_relay_towards (&group, src, dst, to, &out_nic);

        assert_int_equal (relay, cluster->gpus[src - from + place]);
        assert_int_equal (out_nic, from % 4 == to % 4 ? NONE : place);
        assert_int_equal (fab_rails_are_same (cluster, from, to), from % 4 == to % 4);
      }
}

/* Of the sender's tray, GPUs 0 and 1 are in the group, and none stands where GPU 2 of another tray does. */
static void
a_tray_without_the_receivers_place_relays_nothing (G_GNUC_UNUSED void **state)
{
  static const guint ranks[] = { 0, 1, 73, 74 };
  g_autoptr (Play) play = play_cluster (catalog, "node: gb200-tray, nodes: 36", "");
  guint out_nic = NONE;
  FabCluster view;

  fab_cluster_view_ranks (&view, fab_simulation_cluster (play->simulation), ranks, 4);
  FabGroup group = { &view, 2, view.gpus_per_node };
  for (guint from = 0; from < 2; from++)
    assert_int_equal (fab_relay_towards (&group, from, 3, 2, &out_nic), fab_group_gpu (&group, 0, from));
  assert_int_equal (fab_relay_towards (&group, 0, 2, 1, &out_nic), fab_group_gpu (&group, 0, 1));
  assert_int_equal (out_nic, 1);
  fab_cluster_clear (&view);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ranks_of_uneven_groups_relay),
    cmocka_unit_test (the_first_of_the_nearest_gpus_passes_to_a_far_nic),
    cmocka_unit_test (gpus_beside_a_nic_pass_to_it),
    cmocka_unit_test (trays_relay_inside_themselves),
    cmocka_unit_test (a_tray_without_the_receivers_place_relays_nothing),
  };

  return play_run_tests ("relays", tests, &catalog);
}
