/* SPDX-License-Identifier: Apache-2.0 */
/* test_route.c - what routes make of two flows over two spines, in shares and in time. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/net/net.h"
#include "sim/scenario/placement.h"
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

/* Leaves of `per_leaf` nodes with one NDR port each, as many spines as ports up. */
static FabPlant *
plant_of (const FabCatalog *catalog, guint n_nodes, guint per_leaf, const char *route)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, nodes: %u, nics_per_node: 1, route: %s,"
      " fabric: {kind: leaf_spine, nodes_per_leaf: %u}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      n_nodes, route, per_leaf);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  /* The catalogue owns the names that the graph points at; the scenario has none of its own. */
  return fab_plant_new (play->scenario, NULL, NULL);
}

/* Shares of the transfer on links into spines: how many, and the largest. */
static guint
count_spines (const FabPlant *plant, guint from, guint to, double *largest)
{
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  guint n = 0;

  *largest = 0;
  assert_true (
      fab_router_spread (plant->router, plant->cluster.nics[from], plant->cluster.nics[to], 0, shares));
  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);
    g_autofree char *name = fab_graph_vertex_name (plant->graph,
                                                   fab_graph_link (plant->graph, share->link)->dst);

    if (!g_str_has_prefix (name, "spine"))
      continue;
    *largest = MAX (*largest, share->fraction);
    n++;
  }
  return n;
}

static void
a_spray_uses_all_spines_alike (void **state)
{
  static const char *const routes[] = { "spray", "adaptive" };

  for (guint i = 0; i < G_N_ELEMENTS (routes); i++) {
    g_autoptr (FabPlant) plant = plant_of (*state, 16, 8, routes[i]);
    double largest;

    assert_int_equal (count_spines (plant, 0, 8, &largest), 8);
    assert_near (largest, 1 / 8.0, 1e-12);
  }
}

/* 16 x 16 flows over 16 spines, 16 expected on each: chi-square with 15 degrees of freedom is below 37.7 with
 * probability 0.999; the seed is fixed, so this never flickers. */
static void
a_hash_spreads_flows_over_all_spines (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (*state, 32, 16, "ecmp");
  g_autofree guint *counts = g_new0 (guint, fab_graph_n_vertices (plant->graph));
  double chi_square = 0;

  for (guint a = 0; a < 16; a++)
    for (guint b = 16; b < 32; b++) {
      FabPath path = { 0 };

      assert_true (
          fab_router_append (plant->router, plant->cluster.nics[a], plant->cluster.nics[b], 0, &path));
      assert_int_equal (path.n, 4);
      counts[fab_graph_link (plant->graph, path.links[1])->dst]++;
    }
  for (FabVertexId v = 0; v < fab_graph_n_vertices (plant->graph); v++) {
    g_autofree char *name = fab_graph_vertex_name (plant->graph, v);

    if (!g_str_has_prefix (name, "spine"))
      continue;
    assert_true (counts[v] > 0);
    chi_square += (counts[v] - 16.0) * (counts[v] - 16.0) / 16;
  }
  assert_true (chi_square < 37.7);
}

/* 16 queue pairs over 16 spines: each has a 16th, and they meet on 16 (1 - (15 / 16)^16) = 10.3 spines on average. The
 * first of them goes where the whole connection went. */
static void
queue_pairs_are_hashed_one_by_one (void **state)
{
  g_autoptr (FabPlant) one = plant_of (*state, 32, 16, "ecmp"),
                       many = plant_of (*state, 32, 16, "{kind: ecmp, queue_pairs: 16}");
  guint n_used = 0;

  for (guint to = 16; to < 32; to++) {
    g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
    FabPath whole = { 0 }, first = { 0 };
    double up = 0, largest;

    assert_true (fab_router_append (one->router, one->cluster.nics[0], one->cluster.nics[to], 0, &whole));
    assert_true (fab_router_append (many->router, many->cluster.nics[0], many->cluster.nics[to], 0, &first));
    assert_memory_equal (whole.links, first.links, whole.n * sizeof whole.links[0]);
    assert_true (fab_router_spread (many->router, many->cluster.nics[0], many->cluster.nics[to], 0, shares));
    for (guint i = 0; i < shares->len; i++) {
      const FabShare *share = &g_array_index (shares, FabShare, i);

      assert_near (share->fraction * 16, round (share->fraction * 16), 1e-12);
      up += fab_graph_link (many->graph, share->link)->src == many->cluster.nics[0] ? share->fraction : 0;
    }
    assert_near (up, 1, 1e-12);
    n_used += count_spines (many, 0, to, &largest);
    assert_true (largest < 0.5);
  }
  assert_in_range (n_used, 16 * 9, 16 * 12);
}

/* The spine of the path from one NIC to another, by its number. */
static guint
spine_of (const FabPlant *plant, guint from, guint to)
{
  FabPath path = { 0 };

  assert_true (
      fab_router_append (plant->router, plant->cluster.nics[from], plant->cluster.nics[to], 0, &path));
  assert_int_equal (path.n, 4);
  g_autofree char *name = fab_graph_vertex_name (plant->graph,
                                                 fab_graph_link (plant->graph, path.links[1])->dst);
  assert_true (g_str_has_prefix (name, "spine"));
  return (guint) g_ascii_strtoull (name + strlen ("spine"), NULL, 10);
}

/* Destination d is by way of spine d mod 16, whoever sends; so the NICs of a leaf have an uplink each. */
static void
the_destination_picks_the_path (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (*state, 32, 16, "static");

  assert_false (fab_router_uses_seed (plant->router));
  for (guint to = 16; to < 32; to++)
    for (guint from = 0; from < 16; from += 5) {
      assert_int_equal (spine_of (plant, from, to), to % 16);
      assert_int_equal (spine_of (plant, to, from), from % 16);
    }
}

/* Two tiers above the leaves: pods of 4 leaves with 4 nodes, 4 uplinks of a leaf and of a spine. A leaf divides a
 * destination's number by 4, and its spine takes the rest: 16 destinations of another pod use 16 links to cores. */
static void
the_next_switch_takes_the_rest (void **state)
{
  static const char yaml[] = "name: t\ncluster: {node: dgx-h100, nodes: 32, nics_per_node: 1, route: static,"
                             " fabric: {kind: fat_tree, tiers: 3, radix: 8, nodes_per_leaf: 4}}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);
  g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, NULL, NULL);
  g_autoptr (GHashTable) up = g_hash_table_new (NULL, NULL);

  for (guint to = 16; to < 32; to++) {
    FabPath path = { 0 };

    assert_true (
        fab_router_append (plant->router, plant->cluster.nics[0], plant->cluster.nics[to], 0, &path));
    assert_int_equal (path.n, 6);
    g_hash_table_add (up, GUINT_TO_POINTER (path.links[2]));
  }
  assert_int_equal (g_hash_table_size (up), 16);
}

/* Each destination of a leaf comes down by a cable of its own, also where several cables join the same two switches:
 * one spine with 4 to each leaf, 2 spines with 2, and 4 leaves per pod whose spines have several to each core. */
static void
each_destination_has_its_cable_down (void **state)
{
  static const struct {
    guint n_nodes, n_tiers, n_to;
  } trees[] = { { 8, 2, 4 }, { 16, 2, 4 }, { 32, 3, 16 } };

  for (guint t = 0; t < G_N_ELEMENTS (trees); t++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: %u, nics_per_node: 1, route: static,"
        " fabric: {kind: fat_tree, tiers: %u, radix: 8, nodes_per_leaf: 4}}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
        trees[t].n_nodes, trees[t].n_tiers);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);
    g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, NULL, NULL);
    g_autoptr (GHashTable) used = g_hash_table_new (NULL, NULL);
    guint first = trees[t].n_nodes - trees[t].n_to, n_links = 2 * trees[t].n_tiers;

    for (guint to = first; to < trees[t].n_nodes; to++) {
      FabPath path = { 0 };

      assert_true (
          fab_router_append (plant->router, plant->cluster.nics[0], plant->cluster.nics[to], 0, &path));
      assert_int_equal (path.n, n_links);
      for (guint i = path.n / 2; i + 1 < path.n; i++)
        g_hash_table_add (used, GUINT_TO_POINTER (path.links[i]));
    }
    assert_int_equal (g_hash_table_size (used), (trees[t].n_tiers - 1) * trees[t].n_to);
  }
}

static const char *
route_of (FabCatalog *catalog, const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_scenario_spec (play->scenario)->cluster.route.info->name;
}

/* What the ports' technology does, where the fabric leaves a choice, unless the scenario says otherwise. */
static void
default_is_that_of_the_ports (void **state)
{
  assert_string_equal (route_of (*state, "node: dgx-h100, nodes: 8, fabric: leaf_spine"), "static");
  assert_string_equal (route_of (*state, "node: dgx-h100, nodes: 8, fabric: rail"), "shortest");
  assert_string_equal (route_of (*state, "node: dgx-h100, nodes: 8, fabric: {kind: rail, spines: 32}"),
                       "static");
  assert_string_equal (route_of (*state, "node: dgx-h100, nodes: 8, nic: roce-400, fabric: leaf_spine"),
                       "ecmp");
  assert_string_equal (route_of (*state, "node: p5, nodes: 8, fabric: leaf_spine"), "spray");
  assert_string_equal (route_of (*state, "node: gh200-x4, nodes: 8, fabric: leaf_spine"), "adaptive");
  assert_string_equal (route_of (*state, "node: dgx-h100, nodes: 8, fabric: leaf_spine, route: spray"),
                       "spray");
}

/* Nodes of a cloud that scatters them stand at random among more places; a placement that is given counts. */
static void
a_cloud_scatters_its_nodes (void **state)
{
  static const char *const clusters[] = { "node: ndv5, nodes: 4", "node: ndv5, nodes: 4, placement: packed",
                                          "node: ndv5, nodes: 4, places: 6", "node: dgx-h100, nodes: 4",
                                          "node: ndv5, nodes: 1" };
  static const struct {
    int placement;
    gint64 places;
  } expected[] = { { FAB_PLACEMENT_RANDOM, 32 },
                   { FAB_PLACEMENT_PACKED, 0 },
                   { FAB_PLACEMENT_RANDOM, 6 },
                   { FAB_PLACEMENT_PACKED, 0 },
                   { FAB_PLACEMENT_PACKED, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (clusters); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
        clusters[i]);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);
    const FabClusterSpec *cluster = &fab_scenario_spec (play->scenario)->cluster;

    assert_int_equal (cluster->placement, expected[i].placement);
    assert_int_equal (cluster->places, expected[i].places);
  }
}

/* Rails with spines have every uplink by itself: 4 of each leaf, to 4 spines. */
static void
rails_may_have_spines (void **state)
{
  static const char yaml[] =
      "name: t\ncluster: {node: dgx-h100, nodes: 8, nics_per_node: 2, fabric: {kind: rail, nodes_per_leaf: 4,"
      " spines: 4}}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);
  g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, NULL, NULL);
  guint n_spines = 0, n_up = 0;

  for (FabLinkId link = 0; link < fab_graph_n_links (plant->graph); link++) {
    g_autofree char *to = fab_graph_vertex_name (plant->graph, fab_graph_link (plant->graph, link)->dst);

    n_up += g_str_has_prefix (to, "spine");
  }
  for (FabVertexId v = 0; v < fab_graph_n_vertices (plant->graph); v++) {
    g_autofree char *name = fab_graph_vertex_name (plant->graph, v);

    n_spines += g_str_has_prefix (name, "spine");
  }
  assert_int_equal (n_spines, 4);
  assert_int_equal (n_up, 2 * 2 * 4);
}

static void
another_seed_is_another_choice (void **state)
{
  g_autoptr (FabPlant) one = plant_of (*state, 16, 8, "ecmp"),
                       other = plant_of (*state, 16, 8, "{kind: ecmp, seed: 2}");
  guint n_different = 0;

  for (guint to = 8; to < 16; to++) {
    FabPath a = { 0 }, b = { 0 };

    fab_router_append (one->router, one->cluster.nics[0], one->cluster.nics[to], 0, &a);
    fab_router_append (other->router, other->cluster.nics[0], other->cluster.nics[to], 0, &b);
    n_different += a.links[1] != b.links[1];
  }
  assert_true (n_different > 0);
}

/* Half of the bytes by way of the two leaves, which are both ends: these go the shortest way. On a ring of 5 routers
 * the other way round has 4 links instead of 1: routers 0 to 1 by way of 3 use it. */
static void
a_share_goes_the_long_way (void **state)
{
  static const char *const yaml =
      "name: t\ncluster: {node: dgx-h100, nodes: 5, nics_per_node: 1, fabric: {kind: torus, dimensions: 2, x: 5, y: 1},"
      " route: {kind: adaptive, nonminimal: 50%, vias: 5}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);
  g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, NULL, NULL);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  double direct = 0, arrived = 0;

  assert_true (fab_router_spread (plant->router, plant->cluster.nics[0], plant->cluster.nics[1], 0, shares));
  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);
    const FabLink *link = fab_graph_link (plant->graph, share->link);
    g_autofree char *src = fab_graph_vertex_name (plant->graph, link->src);
    g_autofree char *dst = fab_graph_vertex_name (plant->graph, link->dst);

    if (g_str_equal (src, "router0") && g_str_equal (dst, "router1"))
      direct = share->fraction;
    if (link->dst == plant->cluster.nics[1])
      arrived += share->fraction;
  }
  /* By way of 0, 1: direct. 2: 0 1 2 1. 4: 0 4 0 1, 3: 0 4 3 2 1. So 4 of 5 tenths and the minimal half. */
  assert_near (direct, 0.9, 1e-12);
  assert_near (arrived, 1, 1e-12);
}

typedef struct {
  FabEngine *engine;
  FabTimePs last_ps;
} Clock;

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Clock *clock = owner;

  clock->last_ps = fab_engine_now (clock->engine);
}

/* When 10 GB from each node of the first leaf to its counterpart have arrived, without latency: 1 ps in 0.2 s. */
static double
seconds_of_messages (const FabPlant *plant, const FabNetOps *ops, guint n)
{
  g_autoptr (FabEngine) engine = fab_engine_new ();
  FabNetEnv env = { engine, plant->graph, plant->router, 1 };
  FabNet *net = ops->create (&env, NULL);
  Clock clock = { engine, 0 };

  for (guint i = 0; i < n; i++)
    fab_net_send (net, &(FabTransfer){ .src = plant->cluster.nics[i],
                                       .dst = plant->cluster.nics[n + i],
                                       .bytes = 10000000000,
                                       .done = { note_end, &clock, 0 } });
  fab_engine_run (engine);
  fab_net_destroy (net);
  return fab_ps_to_seconds (clock.last_ps);
}

/* On an empty fabric a message runs at its port's rate; two over one spine at half of it, sprayed over two at all.
 * */
static void
spread_messages_share_the_spines (void **state)
{
  g_autoptr (FabPlant) one = plant_of (*state, 4, 2, "shortest"), all = plant_of (*state, 4, 2, "spray");
  double alone_s = seconds_of_messages (all, &fab_net_analytic, 2);

  assert_near (seconds_of_messages (one, &fab_net_analytic, 2), alone_s, 1e-6);
  assert_near (seconds_of_messages (all, &fab_net_fluid, 2), alone_s, 1e-9);
  assert_near (seconds_of_messages (one, &fab_net_fluid, 2), 2 * alone_s, 1e-5);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_spray_uses_all_spines_alike),
    cmocka_unit_test (a_hash_spreads_flows_over_all_spines),
    cmocka_unit_test (queue_pairs_are_hashed_one_by_one),
    cmocka_unit_test (the_destination_picks_the_path),
    cmocka_unit_test (the_next_switch_takes_the_rest),
    cmocka_unit_test (each_destination_has_its_cable_down),
    cmocka_unit_test (default_is_that_of_the_ports),
    cmocka_unit_test (a_cloud_scatters_its_nodes),
    cmocka_unit_test (rails_may_have_spines),
    cmocka_unit_test (another_seed_is_another_choice),
    cmocka_unit_test (a_share_goes_the_long_way),
    cmocka_unit_test (spread_messages_share_the_spines),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
