/* SPDX-License-Identifier: Apache-2.0 */
/* test_clos_sizes.c - how many switches and cables trees of switches have, by the formulas of their papers and by
 * hand.
 *
 * Nodes have one NIC, unless a row says otherwise. A tree of three tiers of switches with k ports holds k^3 / 4 nodes
 * with k^2 / 2 leaves, as many spines and k^2 / 4 cores, and has k^3 / 4 cables in each tier (M. Al-Fares et al., "A
 * Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008, section 2.2).
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"

typedef struct {
  guint leaves, spines, cores;
  guint below, middle, above; /* cables: NIC to leaf, leaf to spine, spine to core */
} Sizes;

static FabCatalog *catalog;

static FabPlant *
plant_of (const char *nics, guint nodes, const char *fabric)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, %s, nodes: %u, fabric: {%s}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      nics, nodes, fabric);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabPlant *plant = scenario ? fab_plant_new (scenario, NULL, &error) : NULL;

  if (plant == NULL)
    fail_msg ("%u nodes, %s: %s", nodes, fabric, error->message);
  return plant;
}

/* 0: a NIC, 1: a leaf, 2: a spine, 3: a core; -1: something inside a node. */
static int
tier_of (const FabGraph *graph, FabVertexId id)
{
  g_autofree char *name = fab_graph_vertex_name (graph, id);

  if (fab_graph_vertex (graph, id)->kind == FAB_VERTEX_NIC)
    return 0;
  if (fab_graph_vertex (graph, id)->node != FAB_NO_NODE)
    return -1;
  return strstr (name, "core") != NULL ? 3 : strstr (name, "spine") != NULL ? 2 : 1;
}

static Sizes
sizes_of (const char *nics, guint nodes, const char *fabric)
{
  g_autoptr (FabPlant) plant = plant_of (nics, nodes, fabric);
  guint n_switches[4] = { 0 }, n_cables[4] = { 0 };

  for (FabVertexId id = 0; id < fab_graph_n_vertices (plant->graph); id++) {
    int tier = tier_of (plant->graph, id);

    if (tier > 0)
      n_switches[tier]++;
  }
  for (FabLinkId id = 0; id < fab_graph_n_links (plant->graph); id++) {
    const FabLink *link = fab_graph_link (plant->graph, id);
    int from = tier_of (plant->graph, link->src), to = tier_of (plant->graph, link->dst);

    if (from >= 0 && to == from + 1)
      n_cables[to] += link->count;
  }
  return (Sizes){ n_switches[1], n_switches[2], n_switches[3], n_cables[1], n_cables[2], n_cables[3] };
}

static void
assert_sizes (const char *nics, guint nodes, const char *fabric, Sizes expected)
{
  Sizes found = sizes_of (nics, nodes, fabric);

  if (memcmp (&found, &expected, sizeof found) != 0)
    fail_msg ("%u nodes, %s: %u leaves, %u spines, %u cores; cables %u, %u, %u", nodes, fabric, found.leaves,
              found.spines, found.cores, found.below, found.middle, found.above);
}

static const char *const one_nic = "gpus_per_node: 1, nics_per_node: 1";

static void
whole_trees_have_the_sizes_of_the_paper (G_GNUC_UNUSED void **state)
{
  for (guint k = 4; k <= 8; k += 2) {
    g_autofree char *fabric = g_strdup_printf ("kind: fat_tree, radix: %u", k);
    guint nodes = k * k * k / 4;

    assert_sizes (one_nic, nodes, fabric, (Sizes){ k * k / 2, k * k / 2, k * k / 4, nodes, nodes, nodes });
  }
}

/* Switches of four ports: a leaf has two nodes and two uplinks. The fewest switches above that have the ports:
 *
 *   2 nodes   a leaf, which needs nothing above it
 *   4         2 leaves with 4 cables to one spine
 *   8         4 leaves with 8 cables to two spines: the most that two tiers hold
 *   9         5 leaves in 3 pods of two, of which each has 2 spines; cores have three pods, so that the spines
 *             of one number need two of them
 *   8, three  2 pods: one core has 4 ports, two for the spine of each pod
 */
static void
trees_have_the_fewest_switches (G_GNUC_UNUSED void **state)
{
  assert_sizes (one_nic, 2, "kind: fat_tree, radix: 4", (Sizes){ 1, 0, 0, 2, 0, 0 });
  assert_sizes (one_nic, 4, "kind: fat_tree, radix: 4", (Sizes){ 2, 1, 0, 4, 4, 0 });
  assert_sizes (one_nic, 8, "kind: fat_tree, radix: 4", (Sizes){ 4, 2, 0, 8, 8, 0 });
  assert_sizes (one_nic, 9, "kind: fat_tree, radix: 4", (Sizes){ 5, 6, 4, 9, 10, 12 });
  assert_sizes (one_nic, 8, "kind: fat_tree, radix: 4, tiers: 3", (Sizes){ 4, 4, 2, 8, 8, 8 });
}

/* Three ports down for one up, of four; then two leaves of a pod have two cables, for which a spine has one up. */
static void
oversubscription_takes_uplinks_away (G_GNUC_UNUSED void **state)
{
  assert_sizes (one_nic, 12, "kind: fat_tree, radix: 4, oversubscription: 3", (Sizes){ 4, 1, 0, 12, 4, 0 });
  assert_sizes (
      one_nic, 8,
      "kind: fat_tree, radix: 8, tiers: 3, nodes_per_leaf: 2, leaves_per_pod: 2, pod_oversubscription: 2, "
      "spines_per_pod: 2",
      (Sizes){ 4, 4, 2, 8, 8, 4 });
  assert_sizes (
      one_nic, 8,
      "kind: fat_tree, radix: 8, tiers: 3, nodes_per_leaf: 2, leaves_per_pod: 2, spines_per_pod: 1, "
      "cores_per_spine: 2",
      (Sizes){ 4, 2, 2, 8, 8, 8 });
}

/* Eight NICs in two planes are two trees; each holds four NICs of each of two nodes on one leaf of eight. */
static void
planes_are_trees_of_their_own (G_GNUC_UNUSED void **state)
{
  assert_sizes ("nics_per_node: 8", 4, "kind: fat_tree, radix: 16, planes: 2", (Sizes){ 4, 2, 0, 32, 32, 0 });
  assert_sizes ("nics_per_node: 8", 4, "kind: fat_tree, radix: 16", (Sizes){ 4, 2, 0, 32, 32, 0 });
  assert_sizes ("nics_per_node: 8", 4, "kind: fat_tree, radix: 16, planes: 8", (Sizes){ 8, 0, 0, 32, 0, 0 });
}

/* Leaves and spines: nodes x NICs / ports, and one spine for each uplink of a leaf. A rail is a tree for one NIC of
 * each node; where a leaf holds all nodes there is no spine. */
static void
two_tiers_have_a_spine_for_each_uplink (G_GNUC_UNUSED void **state)
{
  assert_sizes (one_nic, 12, "kind: leaf_spine, nodes_per_leaf: 4", (Sizes){ 3, 4, 0, 12, 12, 0 });
  assert_sizes (one_nic, 13, "kind: leaf_spine, nodes_per_leaf: 4, oversubscription: 2",
                (Sizes){ 4, 2, 0, 13, 8, 0 });
  assert_sizes (one_nic, 12, "kind: leaf_spine, nodes_per_leaf: 4, spines: 2", (Sizes){ 3, 2, 0, 12, 12, 0 });
  assert_sizes ("nics_per_node: 8", 12, "kind: rail, nodes_per_leaf: 4", (Sizes){ 24, 1, 0, 96, 96, 0 });
  assert_sizes ("nics_per_node: 8", 12, "kind: rail, nodes_per_leaf: 4, spines: 4",
                (Sizes){ 24, 4, 0, 96, 96, 0 });
  assert_sizes ("nics_per_node: 8", 13, "kind: rail, nodes_per_leaf: 4, oversubscription: 2, spines: 2",
                (Sizes){ 32, 2, 0, 104, 64, 0 });
  assert_sizes ("nics_per_node: 8", 16,
                "kind: rail, nodes_per_leaf: 4, spines: 4, units_per_pod: 2, cores: 8",
                (Sizes){ 32, 8, 8, 128, 128, 128 });
  assert_sizes ("nics_per_node: 8", 16,
                "kind: rail, nodes_per_leaf: 4, spines: 1, units_per_pod: 2, cores: 1",
                (Sizes){ 32, 2, 1, 128, 128, 128 });
}

/* Spines that are given, of two tiers: a leaf of four nodes has four uplinks, and more spines than these have no cable.
 * Two leaves with four cables each leave two of them to each of four spines. */
static void
spines_may_be_given (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 6; n++) {
    g_autofree char *fabric = g_strdup_printf (
        "kind: fat_tree, radix: 8, tiers: 2, nodes_per_leaf: 4, spines_per_pod: %u", n);

    assert_sizes (one_nic, 8, fabric, (Sizes){ 2, MIN (n, 4), 0, 8, 8, 0 });
    g_autofree char *rail = g_strdup_printf ("kind: rail, nodes_per_leaf: 4, spines: %u", n);
    assert_sizes (one_nic, 8, rail, (Sizes){ 2, MIN (n, 4), 0, 8, 8, 0 });
  }
  /* Two pods of three leaves with two uplinks each. A single spine has six ports down and two up, where two have three
   * down and one up. */
  for (guint n = 1; n <= 2; n++) {
    g_autofree char *fabric = g_strdup_printf (
        "kind: fat_tree, radix: 8, tiers: 3, nodes_per_leaf: 2, leaves_per_pod: 3, pod_oversubscription: 3, "
        "spines_per_pod: %u",
        n);

    assert_sizes (one_nic, 12, fabric, (Sizes){ 6, 2 * n, n, 12, 12, 4 });
  }
}

/* Six leaves and so many spines: all pairs, or each of the larger set with one of the smaller, in blocks. A set that is
 * joined to itself has each pair once. */
static void
custom_switches_are_joined_as_written (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_spines;
    const char *map;
    guint n_cables;
  } rows[] = { { 1, "all", 6 },   { 2, "all", 12 },  { 6, "all", 36 }, { 1, "block", 6 },
               { 2, "block", 6 }, { 3, "block", 6 }, { 6, "block", 6 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint way = 0; way < 2; way++)
      for (guint count = 1; count <= 2; count++) {
        const char *ends[] = { "from: leaf, to: spine", "from: spine, to: leaf" };
        g_autofree char *fabric = g_strdup_printf (
            "kind: custom, switches: [{name: leaf, count: 6}, {name: spine, count: %u}, {name: core}], "
            "links: [{%s, map: %s, count: %u}, {from: spine, to: core}], attach: [{to: leaf}]",
            rows[i].n_spines, ends[way], rows[i].map, count);

        assert_sizes (one_nic, 6, fabric,
                      (Sizes){ 6, rows[i].n_spines, 1, 6, rows[i].n_cables * count, rows[i].n_spines });
      }
}

/* A switch that is one of the others it is joined to has no cable to itself. In blocks it is the only one of its side,
 * and the other five have it. */
static void
a_switch_is_not_joined_to_itself (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *ends;
    guint n_cables;
  } rows[] = { { "from: leaf, to: leaf", 15 },
               { "from: leaf2, to: leaf", 5 },
               { "from: leaf, to: leaf2", 5 },
               { "from: leaf2, to: leaf, map: block", 5 },
               { "from: leaf1, to: leaf2", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *fabric = g_strdup_printf (
        "kind: custom, switches: [{name: leaf, count: 6}, {name: spine}], "
        "links: [{%s}, {from: leaf, to: spine}], attach: [{to: leaf}]",
        rows[i].ends);
    g_autoptr (FabPlant) plant = plant_of (one_nic, 6, fabric);
    guint n_within = 0;

    for (FabLinkId id = 0; id < fab_graph_n_links (plant->graph); id++) {
      const FabLink *link = fab_graph_link (plant->graph, id);

      assert_int_not_equal (link->src, link->dst);
      if (tier_of (plant->graph, link->src) == 1 && tier_of (plant->graph, link->dst) == 1)
        n_within += link->count;
    }
    assert_int_equal (n_within, 2 * rows[i].n_cables);
  }
}

/* How many switches of its tier come before this one. */
static guint
number_of (const FabGraph *graph, FabVertexId id)
{
  guint n = 0;

  for (FabVertexId before = 0; before < id; before++)
    n += tier_of (graph, before) == tier_of (graph, id);
  return n;
}

/* Leaf i of six joins spine floor (i x m / 6) of m, from whichever side the link is written. */
static void
blocks_are_in_order (G_GNUC_UNUSED void **state)
{
  static const char *const ends[] = { "from: leaf, to: spine", "from: spine, to: leaf" };

  for (guint m = 1; m <= 6; m++)
    for (guint way = 0; way < G_N_ELEMENTS (ends); way++) {
      g_autofree char *fabric = g_strdup_printf (
          "kind: custom, switches: [{name: leaf, count: 6}, {name: spine, count: %u}, {name: core}], "
          "links: [{%s, map: block}, {from: spine, to: core}], attach: [{to: leaf}]",
          m, ends[way]);
      g_autoptr (FabPlant) plant = plant_of (one_nic, 6, fabric);
      guint n = 0;

      for (FabLinkId id = 0; id < fab_graph_n_links (plant->graph); id++) {
        const FabLink *link = fab_graph_link (plant->graph, id);

        if (tier_of (plant->graph, link->src) != 1 || tier_of (plant->graph, link->dst) != 2)
          continue;
        guint i = number_of (plant->graph, link->src), j = number_of (plant->graph, link->dst);

        assert_int_equal (j, i * m / 6);
        n++;
      }
      assert_int_equal (n, 6);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (whole_trees_have_the_sizes_of_the_paper),
    cmocka_unit_test (trees_have_the_fewest_switches),
    cmocka_unit_test (oversubscription_takes_uplinks_away),
    cmocka_unit_test (planes_are_trees_of_their_own),
    cmocka_unit_test (two_tiers_have_a_spine_for_each_uplink),
    cmocka_unit_test (spines_may_be_given),
    cmocka_unit_test (custom_switches_are_joined_as_written),
    cmocka_unit_test (a_switch_is_not_joined_to_itself),
    cmocka_unit_test (blocks_are_in_order),
  };

  return play_run_tests ("clos_sizes", tests, &catalog);
}
