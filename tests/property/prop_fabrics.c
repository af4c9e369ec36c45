/* SPDX-License-Identifier: Apache-2.0 */
/* prop_fabrics.c - graphs of routers of random sizes against their definitions, pair by pair.
 *
 *   torus      routers whose coordinates differ by one along one axis, or are its ends; an axis of two has one link
 *   hyperx     routers that differ along exactly one axis
 *   dragonfly  all of a group; every pair of groups by the same number of links, which routers carry in turn
 *   fat tree   no switch has more ports than its radix, leaves have the uplinks that were asked for, and no spine or
 *              core could be left out
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

enum { MOST_ROUTERS = 160, AXES = 3 };

static FabCatalog *catalog;

static FabPlant *
plant_of (guint nodes, const char *fabric)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, gpus_per_node: 1, nics_per_node: 1, nodes: %u, fabric: {%s}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      nodes, fabric);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabPlant *plant = scenario != NULL ? fab_plant_new (scenario, NULL, &error) : NULL;

  if (plant == NULL)
    fail_msg ("%s: %s", fabric, error->message);
  return plant;
}

static gboolean
is_switch (const FabGraph *graph, FabVertexId vertex)
{
  const FabVertex *v = fab_graph_vertex (graph, vertex);

  return v->kind == FAB_VERTEX_SWITCH && v->node == FAB_NO_NODE;
}

/* Links between routers by their numbers. */
typedef struct {
  guint n;
  guint links[MOST_ROUTERS][MOST_ROUTERS];
} Wiring;

static Wiring *
wiring_of (const FabGraph *graph)
{
  Wiring *self = g_new0 (Wiring, 1);

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    self->n += is_switch (graph, v);
  assert_true (self->n <= MOST_ROUTERS);
  for (FabLinkId l = 0; l < fab_graph_n_links (graph); l++) {
    const FabLink *link = fab_graph_link (graph, l);

    if (is_switch (graph, link->src) && is_switch (graph, link->dst))
      self->links[fab_graph_vertex (graph, link->src)->member][fab_graph_vertex (graph, link->dst)->member] +=
          link->count;
  }
  return self;
}

/* The router of a node's adapter. */
static guint
router_of (const FabPlant *plant, guint node)
{
  FabLinkId first;
  guint n = fab_graph_out_links (plant->graph, plant->cluster.nics[node], &first), found = G_MAXUINT;

  for (FabLinkId l = first; l < first + n; l++)
    if (is_switch (plant->graph, fab_graph_link (plant->graph, l)->dst))
      found = fab_graph_vertex (plant->graph, fab_graph_link (plant->graph, l)->dst)->member;
  return found;
}

static void
coordinates (guint router, const guint sizes[AXES], guint at[AXES])
{
  for (guint a = 0; a < AXES; a++) {
    at[a] = router % sizes[a];
    router /= sizes[a];
  }
}

static guint
torus_links (guint from, guint to, const guint sizes[AXES])
{
  guint a[AXES], b[AXES], n_other = 0, n_links = 0;

  coordinates (from, sizes, a);
  coordinates (to, sizes, b);
  for (guint axis = 0; axis < AXES; axis++) {
    guint apart = a[axis] > b[axis] ? a[axis] - b[axis] : b[axis] - a[axis];

    n_other += apart > 0;
    if (apart == 1 || (apart > 1 && apart == sizes[axis] - 1))
      n_links++;
  }
  return n_other == 1 ? n_links : 0;
}

static void
check_torus (Random *random)
{
  guint sizes[AXES] = { random_between (random, 1, 5), random_between (random, 1, 5),
                        random_between (random, 1, 5) };
  guint n = sizes[0] * sizes[1] * sizes[2];
  g_autofree char *fabric = g_strdup_printf ("kind: torus, x: %u, y: %u, z: %u", sizes[0], sizes[1],
                                             sizes[2]);
  g_autoptr (FabPlant) plant = plant_of (n, fabric);
  g_autofree Wiring *wiring = wiring_of (plant->graph);

  assert_int_equal (wiring->n, n);
  for (guint from = 0; from < n; from++) {
    assert_int_equal (router_of (plant, from), from);
    for (guint to = 0; to < n; to++)
      if (wiring->links[from][to] != torus_links (from, to, sizes))
        fail_msg ("%s: %u links from %u to %u", fabric, wiring->links[from][to], from, to);
  }
}

static void
routers_of_a_torus_are_joined_to_the_next_along_each_axis (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_torus);
}

static void
check_hyperx (Random *random)
{
  guint sizes[AXES], counts[AXES], n = 1, ports = random_between (random, 1, 3);
  g_autoptr (GString) fabric = g_string_new (NULL);

  g_string_append_printf (fabric, "kind: hyperx, nics_per_router: %u, links: 2, axes: [", ports);
  for (guint a = 0; a < AXES; a++) {
    sizes[a] = random_between (random, 1, 5);
    counts[a] = random_below (random, 4);
    n *= sizes[a];
    g_string_append_printf (fabric, "%s{width: %u, links: %u}", a > 0 ? ", " : "", sizes[a], counts[a]);
  }
  g_string_append (fabric, "]");
  guint nodes = n * ports - random_below (random, ports);
  g_autoptr (FabPlant) plant = plant_of (nodes, fabric->str);
  g_autofree Wiring *wiring = wiring_of (plant->graph);

  assert_int_equal (wiring->n, n);
  for (guint node = 0; node < nodes; node++)
    assert_int_equal (router_of (plant, node), node / ports);
  for (guint from = 0; from < n; from++)
    for (guint to = 0; to < n; to++) {
      guint a[AXES], b[AXES], n_other = 0, expected = 0;

      coordinates (from, sizes, a);
      coordinates (to, sizes, b);
      for (guint axis = 0; axis < AXES; axis++)
        if (a[axis] != b[axis]) {
          n_other++;
          expected = counts[axis] > 0 ? counts[axis] : 2;
        }
      assert_int_equal (wiring->links[from][to], n_other == 1 ? expected : 0);
    }
}

static void
routers_of_a_hyperx_are_joined_along_one_axis (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_hyperx);
}

static void
check_dragonfly (Random *random)
{
  guint size = random_between (random, 1, 6), groups = random_between (random, 2, 7),
        ports = random_between (random, 1, 4), global = random_between (random, groups, 9),
        local = random_between (random, 1, 3);
  /* 0: as many for each pair as the ports allow. */
  guint asked = random_chance (random, 50) ? 1 : 0,
        per_pair = asked > 0 ? asked : size * global / (groups - 1);
  guint nodes = size * groups * ports - random_below (random, size * ports);
  g_autofree char *fabric = g_strdup_printf (
      "kind: dragonfly, groups: %u, routers_per_group: %u, nics_per_router: %u, global_ports: %u, global_links: %u, "
      "local_links: %u",
      groups, size, ports, global, asked, local);
  g_autoptr (FabPlant) plant = plant_of (nodes, fabric);
  g_autofree Wiring *wiring = wiring_of (plant->graph);
  guint pairs[8][8] = { 0 };

  assert_int_equal (wiring->n, size * groups);
  for (guint node = 0; node < nodes; node++)
    assert_int_equal (router_of (plant, node), node / ports);
  for (guint from = 0; from < wiring->n; from++) {
    guint n_global = 0;

    for (guint to = 0; to < wiring->n; to++) {
      if (from / size == to / size)
        assert_int_equal (wiring->links[from][to], from == to ? 0 : local);
      else
        n_global += wiring->links[from][to];
      pairs[from / size][to / size] += wiring->links[from][to];
    }
    /* The links of a group are divided evenly among its routers. */
    assert_in_range (n_global, per_pair * (groups - 1) / size, (per_pair * (groups - 1) + size - 1) / size);
    assert_true (n_global <= global);
  }
  for (guint a = 0; a < groups; a++)
    for (guint b = 0; b < groups; b++)
      if (a != b)
        assert_int_equal (pairs[a][b], per_pair);
}

static void
groups_of_a_dragonfly_are_joined_evenly (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_dragonfly);
}

/* --- fat trees --- */

typedef struct {
  guint n[3];                          /* leaves, spines, cores */
  guint most_ports, least_up, most_up; /* of a switch; of leaves */
} Tiers;

static guint
tier_of (const FabGraph *graph, FabVertexId v)
{
  g_autofree char *name = fab_graph_vertex_name (graph, v);

  return g_str_has_prefix (name, "leaf") ? 0 : g_str_has_prefix (name, "spine") ? 1 : 2;
}

static Tiers
tiers_of (const FabGraph *graph)
{
  Tiers self = { .least_up = G_MAXUINT };

  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++) {
    FabLinkId first;
    guint n = fab_graph_out_links (graph, v, &first), ports = 0, up = 0;

    if (!is_switch (graph, v))
      continue;
    for (FabLinkId l = first; l < first + n; l++) {
      const FabLink *link = fab_graph_link (graph, l);

      ports += link->count;
      up += is_switch (graph, link->dst) && tier_of (graph, link->dst) > tier_of (graph, v) ? link->count : 0;
    }
    self.n[tier_of (graph, v)]++;
    self.most_ports = MAX (self.most_ports, ports);
    if (tier_of (graph, v) == 0) {
      self.least_up = MIN (self.least_up, up);
      self.most_up = MAX (self.most_up, up);
    }
  }
  return self;
}

static guint
up_of (guint n, guint by)
{
  return (n + by - 1) / by;
}

static void
check_two_tiers (Random *random)
{
  guint radix = 2 * random_between (random, 2, 12), over = random_between (random, 1, 3);
  /* As many down as leave ports for the uplinks. */
  guint down = radix * over / (over + 1), up = up_of (down, over);
  guint nodes = random_between (random, 1, MIN (down * radix / 2, 120));
  g_autofree char *fabric = g_strdup_printf ("kind: fat_tree, tiers: 2, radix: %u, oversubscription: %u",
                                             radix, over);
  guint n_leaves = up_of (nodes, down), n_spines = 1;

  if (n_leaves == 1)
    up = n_spines = 0; /* nothing is above a lone leaf */

  while (n_leaves > 1 && n_leaves * up_of (up, n_spines) > radix)
    n_spines++;
  if (n_spines > up)
    return; /* it has too few ports */
  g_autoptr (FabPlant) plant = plant_of (nodes, fabric);
  Tiers tiers = tiers_of (plant->graph);
  assert_true (tiers.most_ports <= radix);
  assert_int_equal (tiers.n[0], n_leaves);
  assert_int_equal (tiers.n[1], n_spines);
  assert_int_equal (tiers.n[2], 0);
  assert_int_equal (tiers.least_up, up);
  assert_int_equal (tiers.most_up, up);
  for (guint node = 0; node < nodes; node++)
    assert_int_equal (router_of (plant, node), node / down);
}

static void
two_tiers_have_no_more_switches_than_they_need (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_two_tiers);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (routers_of_a_torus_are_joined_to_the_next_along_each_axis),
    seeds_test (routers_of_a_hyperx_are_joined_along_one_axis),
    seeds_test (groups_of_a_dragonfly_are_joined_evenly),
    seeds_test (two_tiers_have_no_more_switches_than_they_need),
  };

  return play_run_tests ("fabrics", tests, &catalog);
}
