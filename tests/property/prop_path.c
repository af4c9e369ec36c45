/* SPDX-License-Identifier: Apache-2.0 */
/* prop_path.c - on small random graphs, against every path that there is: fewest links, and the widest of these; and
 * what all of those with the fewest links carry together. */
#include "tests/support/test.h"

#include "sim/fabric/multipath.h"
#include "sim/fabric/path_finder.h"
#include "tests/support/seeds.h"

enum { MOST = 9 };

/* Best of all paths found so far; `n` G_MAXUINT: none. */
typedef struct {
  const FabGraph *graph;
  FabVertexId src, dst;
  gboolean stays_inside; /* NICs are ends only */
  guint n;
  FabBytesPerS width;
} Best;

/* Whether a path may go on there: through switches and sockets, and through a NIC out of the node of an end that is
 * not a NIC itself, or into it. */
static gboolean
is_passable (const Best *best, FabVertexId at)
{
  const FabVertex *vertex = fab_graph_vertex (best->graph, at),
                  *src = fab_graph_vertex (best->graph, best->src),
                  *dst = fab_graph_vertex (best->graph, best->dst);

  if (vertex->kind == FAB_VERTEX_NIC)
    return !best->stays_inside
        && ((src->kind != FAB_VERTEX_NIC && src->node == vertex->node)
            || (dst->kind != FAB_VERTEX_NIC && dst->node == vertex->node));
  return vertex->kind == FAB_VERTEX_SWITCH || vertex->kind == FAB_VERTEX_HOST;
}

/* Walks every path without repetition. */
static void
walk (Best *best, FabVertexId at, guint32 visited, guint n, FabBytesPerS width)
{
  FabLinkId first;
  guint n_out = fab_graph_out_links (best->graph, at, &first);

  if (at == best->dst) {
    if (n < best->n || (n == best->n && width > best->width)) {
      best->n = n;
      best->width = width;
    }
    return;
  }
  if (n > 0 && !is_passable (best, at))
    return;
  for (FabLinkId link = first; link < first + n_out; link++) {
    FabVertexId next = fab_graph_link (best->graph, link)->dst;

    if (!(visited & 1u << next))
      walk (best, next, visited | 1u << next, n + 1,
            MIN (width, fab_graph_link (best->graph, link)->rate_bytes_per_s));
  }
}

/* Inside a node where there is a path; else by its NICs. */
static Best
best_of (const FabGraph *graph, FabVertexId src, FabVertexId dst)
{
  guint32 node = fab_graph_vertex (graph, src)->node;
  Best best = { graph,     src, dst, node != FAB_NO_NODE && node == fab_graph_vertex (graph, dst)->node,
                G_MAXUINT, 0 };

  walk (&best, src, 1u << src, 0, G_MAXUINT64);
  if (best.n == G_MAXUINT && best.stays_inside) {
    best.stays_inside = FALSE;
    walk (&best, src, 1u << src, 0, G_MAXUINT64);
  }
  return best;
}

static FabGraph *
random_graph (Random *random, guint32 node)
{
  static const FabLinkClass link_class = { .name = "wire", .cost = { 1, 1, 1 } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint n = random_between (random, 2, MOST), part = fab_graph_builder_part (builder, "v", TRUE);
  guint class_index = fab_graph_builder_class (builder, &link_class),
        percent = random_between (random, 10, 60);
  guint percent_accelerators = random_below (random, 60);

  for (guint i = 0; i < n; i++)
    fab_graph_builder_vertex (builder,
                              random_chance (random, percent_accelerators) ? FAB_VERTEX_ACCELERATOR
                                                                           : FAB_VERTEX_SWITCH,
                              node, part, i);
  /* Now and then two joins of the same pair. */
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      if (a != b && random_chance (random, percent / 2))
        fab_graph_builder_join (builder, a, b,
                                &(FabLinkForm){ random_between (random, 1, 4), 1, class_index,
                                                random_between (random, 1, 2) });
  return fab_graph_builder_freeze (builder);
}

static void
assert_way (const Best *best, const FabPath *path)
{
  FabVertexId at = best->src;

  assert_int_equal (path->n, best->n);
  for (guint i = 0; i < path->n; i++) {
    assert_int_equal (fab_graph_link (best->graph, path->links[i])->src, at);
    assert_true (i == 0 || is_passable (best, at));
    at = fab_graph_link (best->graph, path->links[i])->dst;
  }
  assert_int_equal (at, best->dst);
}

static void
check_pair (FabPathFinder *finder, const FabGraph *graph, FabVertexId src, FabVertexId dst)
{
  Best best = best_of (graph, src, dst);
  FabPath path = { 0 }, again = { 0 };
  FabBytesPerS width = G_MAXUINT64;

  assert_int_equal (fab_path_finder_append (finder, src, dst, &path), best.n != G_MAXUINT);
  if (best.n == G_MAXUINT) {
    assert_int_equal (path.n, 0);
    return;
  }
  assert_way (&best, &path);
  for (guint i = 0; i < path.n; i++)
    width = MIN (width, fab_graph_link (graph, path.links[i])->rate_bytes_per_s);
  assert_int_equal (width, best.width);
  fab_path_finder_append (finder, src, dst, &again);
  assert_memory_equal (&path, &again, sizeof path);
}

static void
check_pairs (const FabGraph *graph)
{
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);

  for (FabVertexId src = 0; src < fab_graph_n_vertices (graph); src++)
    for (FabVertexId dst = 0; dst < fab_graph_n_vertices (graph); dst++)
      check_pair (finder, graph, src, dst);
}

static void
check (Random *random)
{
  g_autoptr (FabGraph) graph = random_graph (random, 0);

  check_pairs (graph);
}

static void
the_path_is_the_best_of_all (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check);
}

/* --- machines --- */

enum { MOST_PARTS = 5, MOST_JOINS = 7 };

typedef struct {
  guint a, b;
  FabBytesPerS rate;
} Join;

/* Nodes of the same parts, joined alike but for an odd link, whose NICs are on switches of a fabric. Now and then one
 * part that is no NIC is joined to the fabric too. */
static FabGraph *
random_machine (Random *random)
{
  static const FabVertexKind kinds[] = { FAB_VERTEX_SWITCH, FAB_VERTEX_NIC,  FAB_VERTEX_ACCELERATOR,
                                         FAB_VERTEX_NIC,    FAB_VERTEX_HOST, FAB_VERTEX_MEMORY };
  static const FabLinkClass link_class = { .name = "wire", .cost = { 1, 1, 1 } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint n_nodes = random_between (random, 1, 4), n_parts = random_between (random, 2, MOST_PARTS),
        n_switches = random_between (random, 1, 4),
        n_joins = random_between (random, n_parts - 1, MOST_JOINS),
        part = fab_graph_builder_part (builder, "v", TRUE), percent = random_between (random, 20, 80);
  FabLinkForm form = { 1, 1, fab_graph_builder_class (builder, &link_class), 1 };
  FabVertexKind node_kinds[MOST_PARTS];
  Join joins[MOST_JOINS];

  for (guint i = 0; i < n_parts; i++)
    node_kinds[i] = i < 2 ? kinds[i] : kinds[random_below (random, G_N_ELEMENTS (kinds))];
  for (guint i = 0; i < n_joins; i++) {
    joins[i] = (Join){ random_below (random, n_parts), 0, random_between (random, 1, 3) };
    joins[i].b = (joins[i].a + random_between (random, 1, n_parts - 1)) % n_parts;
  }
  for (guint i = 0; i < n_switches; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (guint i = 0; i < n_nodes * n_parts; i++)
    fab_graph_builder_vertex (builder, node_kinds[i % n_parts], i / n_parts, part, i % n_parts);
  for (guint node = 0; node < n_nodes; node++)
    for (guint i = 0; i < n_joins; i++) {
      guint first = n_switches + node * n_parts;

      form.rate_bytes_per_s = random_chance (random, 5) ? 4 : joins[i].rate;
      fab_graph_builder_join (builder, first + joins[i].a, first + joins[i].b, &form);
    }
  for (guint i = 0; i < n_nodes * n_parts; i++)
    for (guint ports = random_chance (random, 10) ? 2 : 1; ports > 0; ports--)
      if (node_kinds[i % n_parts] == FAB_VERTEX_NIC || random_chance (random, 2)) {
        form.rate_bytes_per_s = random_between (random, 1, 3);
        fab_graph_builder_join (builder, n_switches + i, random_below (random, n_switches), &form);
      }
  for (guint a = 0; a < n_switches; a++)
    for (guint b = 0; b < a; b++)
      if (random_chance (random, percent)) {
        form.rate_bytes_per_s = random_between (random, 1, 3);
        fab_graph_builder_join (builder, a, b, &form);
      }
  return fab_graph_builder_freeze (builder);
}

static void
check_machine (Random *random)
{
  g_autoptr (FabGraph) graph = random_machine (random);

  check_pairs (graph);
}

static void
the_path_between_parts_of_machines_is_the_best_of_all (G_GNUC_UNUSED void **state)
{
  seeds_run (300, check_machine);
}

/* --- all the shortest paths --- */

/* Whether a path over this link has exactly `left` links to dst. */
static gboolean
leads_on (const FabGraph *graph, FabLinkId link, FabVertexId dst, guint32 visited, guint left)
{
  FabVertexId next = fab_graph_link (graph, link)->dst;
  FabLinkId first;
  guint n_out = fab_graph_out_links (graph, next, &first);

  if (next == dst)
    return left == 1;
  if (left == 1 || visited & 1u << next || fab_graph_vertex (graph, next)->kind == FAB_VERTEX_ACCELERATOR)
    return FALSE;
  for (FabLinkId out = first; out < first + n_out; out++)
    if (leads_on (graph, out, dst, visited | 1u << next, left - 1))
      return TRUE;
  return FALSE;
}

static double
weight_of (const FabGraph *graph, FabLinkId link, FabSplit split)
{
  const FabLink *it = fab_graph_link (graph, link);

  return split == FAB_SPLIT_RATES ? (double) it->rate_bytes_per_s : it->count;
}

/* Follows `amount` on from a vertex that is `left` links from dst, path by path. */
static void
follow (const FabGraph *graph, FabVertexId at, FabVertexId dst, guint left, double amount, FabSplit split,
        double *carried)
{
  FabLinkId first;
  guint n_out = fab_graph_out_links (graph, at, &first);
  double sum = 0;

  for (FabLinkId link = first; left > 0 && link < first + n_out; link++)
    if (leads_on (graph, link, dst, 1u << at, left))
      sum += weight_of (graph, link, split);
  for (FabLinkId link = first; left > 0 && link < first + n_out; link++)
    if (leads_on (graph, link, dst, 1u << at, left)) {
      double part = amount * weight_of (graph, link, split) / sum;

      carried[link] += part;
      follow (graph, fab_graph_link (graph, link)->dst, dst, left - 1, part, split, carried);
    }
}

static void
check_spread (FabMultipath *paths, const FabGraph *graph, FabVertexId src, FabVertexId dst, FabSplit split)
{
  Best best = best_of (graph, src, dst);
  g_autofree double *carried = g_new0 (double, fab_graph_n_links (graph) + 1);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  FabPath path = { 0 };

  gboolean has_path = best.n != G_MAXUINT;
  assert_int_equal (fab_multipath_spread (paths, src, dst, FAB_NO_VERTEX, split, 1, shares), has_path);
  assert_int_equal (fab_multipath_pick (paths, src, dst, 42, &path), has_path);
  if (!has_path)
    return;
  follow (graph, src, dst, best.n, 1, split, carried);
  assert_way (&best, &path);
  for (guint i = 0; i < shares->len; i++)
    carried[g_array_index (shares, FabShare, i).link] -= g_array_index (shares, FabShare, i).fraction;
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    assert_true (fabs (carried[link]) < 1e-9);
}

static void
check_spreads (Random *random)
{
  g_autoptr (FabGraph) graph = random_graph (random, FAB_NO_NODE);
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (FabVertexId src = 0; src < fab_graph_n_vertices (graph); src++)
    for (FabVertexId dst = 0; dst < fab_graph_n_vertices (graph); dst++)
      if (src != dst)
        check_spread (paths, graph, src, dst, random_chance (random, 50) ? FAB_SPLIT_LINKS : FAB_SPLIT_RATES);
}

static void
bytes_go_over_all_the_shortest_paths (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_spreads);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_path_is_the_best_of_all),
                                      seeds_test (the_path_between_parts_of_machines_is_the_best_of_all),
                                      seeds_test (bytes_go_over_all_the_shortest_paths) };

  return cmocka_run_group_tests_name ("path", tests, NULL, NULL);
}
