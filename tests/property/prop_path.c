/* SPDX-License-Identifier: Apache-2.0 */
/* prop_path.c - on small random graphs, against every path that there is: fewest links, and the widest of these. */
#include "tests/support/test.h"

#include "sim/fabric/path.h"
#include "tests/support/seeds.h"

enum { MOST = 9 };

/* Best of all paths found so far; `n` G_MAXUINT: none. */
typedef struct {
  const FabGraph *graph;
  FabVertexId dst;
  guint n;
  FabBytesPerS width;
} Best;

/* Walks every path without repetition; only ends may be accelerators. */
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
  if (n > 0 && fab_graph_vertex (best->graph, at)->kind == FAB_VERTEX_ACCELERATOR)
    return;
  for (FabLinkId link = first; link < first + n_out; link++) {
    FabVertexId next = fab_graph_link (best->graph, link)->dst;

    if (!(visited & 1u << next))
      walk (best, next, visited | 1u << next, n + 1,
            MIN (width, fab_graph_link (best->graph, link)->rate_bytes_per_s));
  }
}

static FabGraph *
random_graph (Random *random)
{
  static const FabLinkClass link_class = { "wire", "NVLink", { 1, 1 } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint n = random_between (random, 2, MOST), part = fab_graph_builder_part (builder, "v", TRUE);
  guint class_index = fab_graph_builder_class (builder, &link_class),
        percent = random_between (random, 10, 60);
  guint percent_accelerators = random_below (random, 60);

  for (guint i = 0; i < n; i++)
    fab_graph_builder_vertex (builder,
                              random_chance (random, percent_accelerators) ? FAB_VERTEX_ACCELERATOR
                                                                           : FAB_VERTEX_SWITCH,
                              0, part, i);
  /* Now and then two joins of the same pair. */
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      if (a != b && random_chance (random, percent / 2))
        fab_graph_builder_join (builder, a, b,
                                &(FabLinkForm){ random_between (random, 1, 4), 1, class_index, 1 });
  return fab_graph_builder_freeze (builder);
}

static void
assert_way (const FabGraph *graph, const FabPath *path, FabVertexId src, FabVertexId dst)
{
  FabVertexId at = src;

  for (guint i = 0; i < path->n; i++) {
    assert_int_equal (fab_graph_link (graph, path->links[i])->src, at);
    assert_true (i == 0 || fab_graph_vertex (graph, at)->kind != FAB_VERTEX_ACCELERATOR);
    at = fab_graph_link (graph, path->links[i])->dst;
  }
  assert_int_equal (at, dst);
}

static void
check_pair (FabPathFinder *finder, const FabGraph *graph, FabVertexId src, FabVertexId dst)
{
  Best best = { graph, dst, G_MAXUINT, 0 };
  FabPath path = { 0 }, again = { 0 };
  FabBytesPerS width = G_MAXUINT64;

  walk (&best, src, 1u << src, 0, G_MAXUINT64);
  assert_int_equal (fab_path_finder_append (finder, src, dst, &path), best.n != G_MAXUINT);
  if (best.n == G_MAXUINT) {
    assert_int_equal (path.n, 0);
    return;
  }
  assert_way (graph, &path, src, dst);
  for (guint i = 0; i < path.n; i++)
    width = MIN (width, fab_graph_link (graph, path.links[i])->rate_bytes_per_s);
  assert_int_equal (path.n, best.n);
  assert_int_equal (width, best.width);
  fab_path_finder_append (finder, src, dst, &again);
  assert_memory_equal (&path, &again, sizeof path);
}

static void
check (Random *random)
{
  g_autoptr (FabGraph) graph = random_graph (random);
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);

  for (FabVertexId src = 0; src < fab_graph_n_vertices (graph); src++)
    for (FabVertexId dst = 0; dst < fab_graph_n_vertices (graph); dst++)
      check_pair (finder, graph, src, dst);
}

static void
the_path_is_the_best_of_all (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_path_is_the_best_of_all) };

  return cmocka_run_group_tests_name ("path", tests, NULL, NULL);
}
