/* SPDX-License-Identifier: Apache-2.0 */
/* prop_ways.c - paths that a hash picks with the help of classes of switches, and what spreads over all paths, are
 * those that a search of its own finds for each pair: on random fabrics of tiers, in which many switches are joined
 * alike and some are not. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/fabric/multipath.h"
#include "sim/fabric/next_links.h"
#include "tests/support/seeds.h"

enum { MOST_SWITCHES = 40, MOST_NICS = 24, N_KEYS = 4 };

/* What a graph is built of, so that it can be built twice. */
typedef struct {
  FabVertexId a, b;
  guint rate, count;
} Join;

typedef struct {
  guint n_switches, n_nodes, nics_per_node;
  gboolean has_back_door; /* a switch inside a node is joined to the fabric */
  GArray *joins;          /* Join; switches have the first numbers, each node has a switch and its NICs */
} Plan;

static FabVertexId
vertex_of (const Plan *plan, guint node, guint part)
{
  return plan->n_switches + node * (plan->nics_per_node + 1) + part;
}

static void
join (Plan *plan, Random *random, FabVertexId a, FabVertexId b)
{
  Join one = { a, b, random_between (random, 1, 3), random_chance (random, 20) ? 2 : 1 };

  g_array_append_val (plan->joins, one);
}

/* Every group of three to a tier is joined to every group of the next one or not at all, apart from a few links. */
static void
plan_tiers (Plan *plan, Random *random)
{
  guint group = random_between (random, 1, 5), percent = random_between (random, 20, 90);
  guint percent_odd = random_below (random, 6);

  for (FabVertexId a = 0; a < plan->n_switches; a += group)
    for (FabVertexId b = a + group; b < plan->n_switches; b += group) {
      gboolean is_joined = random_chance (random, percent);

      for (FabVertexId x = a; x < MIN (a + group, plan->n_switches); x++)
        for (FabVertexId y = b; y < MIN (b + group, plan->n_switches); y++)
          if (is_joined != random_chance (random, percent_odd))
            join (plan, random, x, y);
    }
}

static Plan
draw_plan (Random *random)
{
  Plan plan = { random_between (random, 1, MOST_SWITCHES), random_between (random, 2, 8),
                random_between (random, 1, 3), random_chance (random, 10),
                g_array_new (FALSE, FALSE, sizeof (Join)) };

  plan_tiers (&plan, random);
  for (guint node = 0; node < plan.n_nodes; node++)
    for (guint nic = 1; nic <= plan.nics_per_node; nic++) {
      join (&plan, random, vertex_of (&plan, node, 0), vertex_of (&plan, node, nic));
      for (guint ports = random_chance (random, 15) ? 2 : 1; ports > 0; ports--)
        join (&plan, random, vertex_of (&plan, node, nic), random_below (random, plan.n_switches));
    }
  if (plan.has_back_door)
    join (&plan, random, vertex_of (&plan, 0, 0), 0);
  return plan;
}

static FabGraph *
build (const Plan *plan)
{
  static const FabLinkClass link_class = { .name = "wire", .cost = { 1, 1, 1 } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE);
  guint class_index = fab_graph_builder_class (builder, &link_class);

  for (guint i = 0; i < plan->n_switches; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (guint node = 0; node < plan->n_nodes; node++)
    for (guint i = 0; i <= plan->nics_per_node; i++)
      fab_graph_builder_vertex (builder, i == 0 ? FAB_VERTEX_SWITCH : FAB_VERTEX_NIC, node, part, i);
  for (guint i = 0; i < plan->joins->len; i++) {
    const Join *one = &g_array_index (plan->joins, Join, i);

    fab_graph_builder_join (builder, one->a, one->b, &(FabLinkForm){ one->rate, 1, class_index, one->count });
  }
  return fab_graph_builder_freeze (builder);
}

static void
assert_same_picks (FabMultipath *fast, FabMultipath *slow, FabVertexId src, FabVertexId dst)
{
  static gboolean (*const picks[]) (FabMultipath *, FabVertexId, FabVertexId, guint64, FabPath *) = {
    fab_multipath_pick,
    fab_multipath_pick_number,
  };

  for (guint64 i = 0; i < N_KEYS * G_N_ELEMENTS (picks); i++) {
    FabPath a = { .n = 1 }, b = { .n = 1 };
    gboolean is_found = picks[i / N_KEYS](fast, src, dst, i % N_KEYS, &a);

    assert_true (is_found == picks[i / N_KEYS](slow, src, dst, i % N_KEYS, &b));
    assert_int_equal (a.n, b.n);
    if (a.n > 1)
      assert_memory_equal (a.links + 1, b.links + 1, (a.n - 1) * sizeof (FabLinkId));
  }
}

static void
assert_same_shares (FabMultipath *fast, FabMultipath *slow, FabVertexId src, FabVertexId dst)
{
  for (FabSplit split = FAB_SPLIT_LINKS; split <= FAB_SPLIT_RATES; split++) {
    g_autoptr (GArray) a = g_array_new (FALSE, FALSE, sizeof (FabShare)),
                       b = g_array_new (FALSE, FALSE, sizeof (FabShare));
    gboolean is_found = fab_multipath_spread (fast, src, dst, FAB_NO_VERTEX, split, 1, a);

    assert_true (is_found == fab_multipath_spread (slow, src, dst, FAB_NO_VERTEX, split, 1, b));
    assert_int_equal (a->len, b->len);
    for (guint i = 0; i < a->len; i++) {
      const FabShare *x = &g_array_index (a, FabShare, i), *y = &g_array_index (b, FabShare, i);

      assert_int_equal (x->link, y->link);
      assert_true (fabs (x->fraction - y->fraction) <= 1e-12);
    }
  }
}

static void
check_picks (Random *random)
{
  Plan plan = draw_plan (random);
  g_autoptr (FabGraph) graph = build (&plan), unfolded = build (&plan);
  guint n = fab_graph_n_vertices (graph);

  fab_graph_unfold (unfolded);
  g_autoptr (FabMultipath) fast = fab_multipath_new (graph), slow = fab_multipath_new (unfolded);
  g_autoptr (FabWays) ways = fab_ways_new (graph), none = fab_ways_new (unfolded);
  for (FabVertexId src = plan.n_switches; src < n; src++)
    for (FabVertexId dst = plan.n_switches; dst < n; dst++)
      if (ways != NULL && fab_graph_vertex (graph, src)->node != fab_graph_vertex (graph, dst)->node) {
        assert_same_picks (fast, slow, src, dst);
        assert_same_shares (fast, slow, src, dst);
      }
  assert_null (none);
  assert_true ((ways == NULL) == plan.has_back_door);
  assert_true (ways == NULL || fab_ways_n_classes (ways) <= plan.n_switches);
  g_array_unref (plan.joins);
}

static void
classes_pick_what_searches_pick (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_picks);
}

/* A fat tree of `pods` pods of n leaves and n spines, and of n x n cores. */
static FabGraph *
fat_tree (guint n, guint pods)
{
  Plan plan = { 2 * n * pods + n * n, n * pods, 1, FALSE, g_array_new (FALSE, FALSE, sizeof (Join)) };

  for (guint pod = 0; pod < pods; pod++)
    for (guint spine = 0; spine < n; spine++) {
      FabVertexId at = n * pods + pod * n + spine;

      for (guint i = 0; i < n; i++) {
        Join down = { pod * n + i, at, 1, 1 }, up = { at, 2 * n * pods + spine * n + i, 1, 1 };

        g_array_append_val (plan.joins, down);
        g_array_append_val (plan.joins, up);
      }
    }
  for (guint node = 0; node < plan.n_nodes; node++) {
    Join inside = { vertex_of (&plan, node, 0), vertex_of (&plan, node, 1), 1, 1 },
         port = { vertex_of (&plan, node, 1), node, 1, 1 };

    g_array_append_val (plan.joins, inside);
    g_array_append_val (plan.joins, port);
  }
  FabGraph *graph = build (&plan);
  g_array_unref (plan.joins);
  return graph;
}

/* How many entries are looked at for one path from each leaf to one of the next pod. */
static double
visits_per_path (guint n, guint pods)
{
  g_autoptr (FabGraph) graph = fat_tree (n, pods);
  g_autoptr (FabWays) ways = fab_ways_new (graph);
  guint n_nodes = n * pods, n_switches = 2 * n * pods + n * n;

  assert_int_equal (fab_ways_n_classes (ways), pods + n * pods + n);
  for (guint node = 0; node < n_nodes; node++) {
    FabVertexId src = n_switches + 2 * node + 1, dst = n_switches + 2 * ((node + n) % n_nodes) + 1, at = src;

    for (guint left = fab_ways_begin (ways, src, dst); left > 0; left--)
      at = fab_ways_on (ways, at, left).links[0].next;
    assert_int_equal (at, dst);
  }
  return (double) fab_ways_n_visits (ways) / n_nodes;
}

/* n links at the leaf, 2n at either spine and one per pod at the core, and not the n x n cores. The rows of distances,
 * one per pod, are shared by its n leaves. */
static void
a_path_costs_what_its_switches_have (G_GNUC_UNUSED void **state)
{
  for (guint n = 4; n <= 32; n *= 2)
    assert_true (visits_per_path (n, 4) <= 5.0 * n + 4 + 4 * (4.0 * n * 4 + 4) / n);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (classes_pick_what_searches_pick),
    cmocka_unit_test (a_path_costs_what_its_switches_have),
  };

  return cmocka_run_group_tests_name ("ways", tests, NULL, NULL);
}
