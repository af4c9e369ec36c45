/* SPDX-License-Identifier: Apache-2.0 */
/* test_all_pairs.c - which machines are counted by nodes that are alike, and that this is what the messages say one by
 * one. prop_all_pairs.c compares many more machines; this file says of each of its own whether it is counted so. */
#include "tests/support/same_forms.h"
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/collective/shape/all_pairs.h"
#include "tests/support/closed_router.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static const FabAlgorithmEnv env = { .net_stretch = 1.04 };

static Play *
machine (const char *cluster, const char *lines, gboolean is_flat)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nseed: 7\n%s%scluster: {%s}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 1MiB}]}\n",
      is_flat ? "fold: false\n" : "", lines != NULL ? lines : "", cluster);

  return play_new (catalog, yaml, NULL);
}

static FabGroup
group_of (const Play *play)
{
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);

  return (FabGroup){ cluster, cluster->n_nodes, cluster->gpus_per_node };
}

#define CLOS "fabric: {kind: fat_tree, tiers: 3, radix: 128, nodes_per_leaf: 1, leaves_per_pod: 2}"
#define RAILS "fabric: {kind: rail, nodes_per_leaf: 2}"
#define SPINES "fabric: {kind: leaf_spine, nodes_per_leaf: 3, spines: 2}"

static const struct {
  const char *cluster, *lines;
  gboolean is_counted;
} machines[] = {
  { "node: dgx-h100, nodes: 1", NULL, FALSE },
  { "node: dgx-h100, nodes: 2", NULL, TRUE },
  { "node: dgx-h100, nodes: 4, " RAILS, NULL, TRUE },
  { "node: dgx-h100, nodes: 3, gpus_per_node: 1, " RAILS, NULL, TRUE },
  { "node: dgx-h100, nodes: 5, gpus_per_node: 2, " CLOS ", route: ecmp", NULL, TRUE },
  { "node: dgx-h100, nodes: 4, gpus_per_node: 2, " CLOS ", route: {kind: ecmp, queue_pairs: 3}", NULL, TRUE },
  { "node: dgx-h100, nodes: 4, gpus_per_node: 2, " CLOS ", route: spray", NULL, TRUE },
  { "node: dgx-a100, nodes: 4, gpus_per_node: 3, nics_per_node: 2, " CLOS ", route: ecmp", NULL, TRUE },
  { "node: dgx-a100, nodes: 4, gpus_per_node: 3, nics_per_node: 2, pxn: false, " CLOS ", route: ecmp", NULL,
    TRUE },
  { "node: polaris, nodes: 4, gpus_per_node: 3, nics_per_node: 2, " CLOS ", route: ecmp", NULL, TRUE },
  { "node: dgx-h100, nodes: 3, gpus_per_node: 3, nics_per_node: 2, " SPINES ", route: spray", NULL, FALSE },
  { "node: dgx-h100, nodes: 3, " SPINES ", route: ecmp, pxn: false", NULL, TRUE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: rail_only}", NULL, TRUE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: rail_only}, pxn: false", NULL, FALSE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: leaf_spine, planes: 8, nodes_per_leaf: 3, spines: 2}", NULL,
    TRUE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: rail, planes: 2, nodes_per_leaf: 2}, nic_ports: 2, port_use: separate",
    NULL, TRUE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: leaf_spine, planes: 2, nodes_per_leaf: 3}, nic_ports: 2", NULL,
    FALSE },
  { "node: dgx-h100, nodes: 3, fabric: {kind: leaf_spine, tors: 2, nodes_per_leaf: 2}, nic_ports: 2, port_use: bond",
    NULL, FALSE },
  { "node: dgx-a100, nodes: 3, " RAILS, NULL, TRUE },
  { "node: dgx-a100, nodes: 3, gdr: pix, " RAILS, NULL, TRUE },
  { "node: dgx-a100, nodes: 3, p2p: none, " RAILS, NULL, FALSE },
  { "node: dgx1-v100, nodes: 3", NULL, FALSE },
  { "node: dgx1-v100, nodes: 3, p2p: none", NULL, FALSE },
  { "node: dgx1-v100, nodes: 4, route: ecmp, " CLOS, NULL, FALSE },
  { "node: polaris, nodes: 3", NULL, TRUE },
  { "node: mi300x, nodes: 3, " RAILS, NULL, TRUE },
  { "node: p5, nodes: 2", NULL, TRUE },
  { "node: l40s-pcie-amd, nodes: 2", NULL, FALSE },
  { "node: l40s-pcie-amd, nodes: 2, gpus_per_node: 2", NULL, FALSE },
  { "node: gh200-x4, nodes: 3", NULL, TRUE },
  { "node: hgx-b200, nodes: 2", NULL, TRUE },
  { "node: dgx-h100, nodes: 4, " RAILS, "faults: [{what: nic, name: node0/nic0, rate: 50%}]\n", FALSE },
  { "node: dgx-h100, nodes: 4, " RAILS, "faults: [{what: nic, name: node3/nic7, rate: 50%}]\n", FALSE },
  { "node: dgx-h100, nodes: 4, " RAILS, "faults: [{what: nic, name: node1/nic1, latency: 3us}]\n", FALSE },
  { "node: dgx-h100, nodes: 4, " RAILS, "background: [{load: 30%, links: 'node1/nic0 -> leaf*'}]\n", FALSE },
  { "node: dgx-h100, nodes: 4, " RAILS, "background: [{load: 30%, links: 'leaf* -> node1/nic0'}]\n", FALSE },
  { "node: dgx-h100, nodes: 4, " RAILS, "background: [{load: 30%, links: 'leaf* -> spine*'}]\n", TRUE },
};

static void
machines_of_like_nodes_are_counted_together (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autoptr (Play) play = machine (machines[i].cluster, machines[i].lines, FALSE),
                     flat = machine (machines[i].cluster, machines[i].lines, TRUE);
    FabGroup group = group_of (play), flat_group = group_of (flat);
    double weight = 1.0 / fab_group_n_ranks (&group);
    FabCollectiveForm form = { .n_channels = 99 }, expected = { 0 };
    gboolean is_counted = fab_all_pairs_form (&group, weight, &env, &form);

    assert_false (fab_all_pairs_form (&flat_group, weight, &env, &expected)); /* each message for itself */
    if (is_counted != machines[i].is_counted)
      fail_msg ("%s: %s", machines[i].cluster, is_counted ? "is counted" : "is not counted");
    if (!is_counted) {
      assert_int_equal (form.n_channels, 99); /* is not touched */
      continue;
    }
    assert_true (fab_algorithm_direct.form (&flat_group, FAB_OP_ALL_TO_ALL, &env, &expected, NULL));
    assert_same_forms (&form, &expected);
    fab_footprint_free (form.footprint);
    fab_footprint_free (expected.footprint);
  }
}

/* Between nodes there is nothing to count in one node, whatever other nodes the machine has. */
static void
one_of_several_nodes_is_not_counted (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = machine ("node: dgx-h100, nodes: 2", NULL, FALSE);
  FabGroup group = group_of (play);
  FabCollectiveForm form = { .n_channels = 99 };

  group.n_nodes = 1;
  assert_false (fab_all_pairs_form (&group, 1.0 / group.gpus_per_node, &env, &form));
  assert_int_equal (form.n_channels, 99);
}

/* Where no path is found any more, the messages have to be looked at one by one, which says so. */
static void
nodes_without_paths_are_not_counted (G_GNUC_UNUSED void **state)
{
  static const char *const routes[] = { "shortest", "ecmp" };

  for (guint i = 0; i < G_N_ELEMENTS (routes); i++) {
    g_autofree char *text = g_strdup_printf ("node: dgx-h100, nodes: 3, gpus_per_node: 2, " CLOS
                                             ", route: %s",
                                             routes[i]);
    g_autoptr (Play) play = machine (text, NULL, FALSE);
    FabCluster cluster = *fab_simulation_cluster (play->simulation);
    FabGroup group = { &cluster, cluster.n_nodes, cluster.gpus_per_node };
    ClosedRouter all = closed_router (cluster.router, G_MAXUINT);
    FabCollectiveForm form = { 0 };

    cluster.router = &all.base;
    assert_true (fab_all_pairs_form (&group, 1.0 / 6, &env, &form));
    fab_footprint_free (form.footprint);
    for (guint n_found = 0; n_found < all.n_asked; n_found++) {
      ClosedRouter some = closed_router (all.open, n_found);

      cluster.router = &some.base;
      if (fab_all_pairs_form (&group, 1.0 / 6, &env, &form))
        fail_msg ("%s: counted with %u of %u paths", routes[i], n_found, all.n_asked);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (machines_of_like_nodes_are_counted_together),
    cmocka_unit_test (nodes_without_paths_are_not_counted),
    cmocka_unit_test (one_of_several_nodes_is_not_counted),
  };

  return play_run_tests ("all pairs", tests, &catalog);
}
