/* SPDX-License-Identifier: Apache-2.0 */
/* test_search.c - what one search says of other pairs, counted by searches (`stamp`), and how far a search looks. That
 * paths are the best ones: test_path.c, prop_path.c. */
#include "tests/support/test.h"

#include "sim/fabric/search.h"
#include "tests/support/graphs.h"

/* The vertices on the way, "0 3 1", after `n_before` links that were there before; NULL: there is none that fits. */
static char *
way_after (FabSizeSearch *search, FabVertexId src, FabVertexId dst, guint n_before)
{
  g_autoptr (GString) text = g_string_new (NULL);
  FabPath path = { .n = n_before };

  if (!fab_search_best (search, src, dst, &path)) {
    assert_int_equal (path.n, n_before);
    return NULL;
  }
  g_string_append_printf (text, "%u", src);
  for (guint i = n_before; i < path.n; i++)
    g_string_append_printf (text, " %u", fab_graph_link (search->graph, path.links[i])->dst);
  return g_strdup (text->str);
}

static void
assert_way (FabSizeSearch *search, FabVertexId src, FabVertexId dst, const char *expected)
{
  g_autofree char *text = way_after (search, src, dst, 0);

  assert_string_equal (text, expected);
}

/* --- inside nodes --- */

/* Nodes of two accelerators and a NIC on a switch, which is vertex 2 of each; vertex 12 joins the NICs. */
static const char *const three_nodes = "0aasn1aasn2aasn-s";
static const GraphJoin three_nodes_joins[] = {
  { 0, 2, 9, 1 }, { 1, 2, 9, 1 },  { 2, 3, 9, 1 },  { 3, 12, 9, 1 }, { 4, 6, 9, 1 },   { 5, 6, 9, 1 },
  { 6, 7, 9, 1 }, { 7, 12, 9, 1 }, { 8, 10, 9, 1 }, { 9, 10, 9, 1 }, { 10, 11, 9, 1 }, { 11, 12, 9, 1 },
  { 0 }
};

/* Twelve pairs of four vertices: the paths of the first node are those of the others. */
static void
one_search_serves_all_symmetric_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (three_nodes, three_nodes_joins);
  FabSizeSearch search;

  fab_search_init (&search, graph);
  for (guint node = 3; node-- > 0;) {
    for (FabVertexId src = 4 * node; src < 4 * node + 4; src++)
      for (FabVertexId dst = 4 * node; dst < 4 * node + 4; dst++) {
        FabVertexId hub = 4 * node + 2;
        g_autofree char *expected = src == dst               ? g_strdup_printf ("%u", src)
                                  : src == hub || dst == hub ? g_strdup_printf ("%u %u", src, dst)
                                                             : g_strdup_printf ("%u %u %u", src, hub, dst);

        assert_way (&search, src, dst, expected);
      }
    assert_int_equal (search.stamp, 12);
  }
  fab_search_clear (&search);
}

/* Without symmetry each pair is searched, and only the same one again is not. */
static void
a_graph_that_is_unfolded_is_searched_for_each_pair (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (three_nodes, three_nodes_joins);
  FabSizeSearch search;

  fab_graph_unfold (graph);
  fab_search_init (&search, graph);
  for (guint node = 0; node < 3; node++)
    for (guint i = 0; i < 2; i++) {
      assert_way (&search, 4 * node, 4 * node + 2, node == 0 ? "0 2" : node == 1 ? "4 6" : "8 10");
      assert_int_equal (search.stamp, node + 1);
    }
  assert_null (search.inner);
  assert_null (search.outer);
  fab_search_clear (&search);
}

/* A path has 64 links at most: one of two links fits behind 62, whether it is known or not, and not behind 63. */
static void
a_known_path_has_to_fit (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (three_nodes, three_nodes_joins);
  FabSizeSearch search;

  fab_search_init (&search, graph);
  assert_null (way_after (&search, 4, 5, 63));
  for (guint i = 0; i < 2; i++) {
    g_autofree char *text = way_after (&search, 4, 5, 62);

    assert_string_equal (text, "4 6 5");
  }
  guint32 n_searches = search.stamp;
  assert_way (&search, 8, 9, "8 10 9");
  assert_int_equal (search.stamp, n_searches);
  assert_null (way_after (&search, 8, 9, 63));
  fab_search_clear (&search);
}

/* Node 1 has the two switches of node 0 with their rates exchanged, so that its path takes the other one. */
static void
nodes_with_other_links_have_paths_of_their_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0aass1aass2aass-", (GraphJoin[]){ { 0, 2, 9, 1 },
                                                                            { 2, 1, 9, 1 },
                                                                            { 0, 3, 5, 1 },
                                                                            { 3, 1, 5, 1 },
                                                                            { 4, 6, 5, 1 },
                                                                            { 6, 5, 5, 1 },
                                                                            { 4, 7, 9, 1 },
                                                                            { 7, 5, 9, 1 },
                                                                            { 8, 10, 9, 1 },
                                                                            { 10, 9, 9, 1 },
                                                                            { 8, 11, 5, 1 },
                                                                            { 11, 9, 5, 1 },
                                                                            { 0 } });
  FabSizeSearch search;

  fab_search_init (&search, graph);
  for (guint i = 0; i < 2; i++) {
    assert_way (&search, 0, 1, "0 2 1");
    assert_way (&search, 4, 5, "4 7 5");
    assert_way (&search, 8, 9, "8 10 9");
  }
  assert_int_equal (search.stamp, 2);
  fab_search_clear (&search);
}

/* A switch that several nodes share stands between the vertices of node 0, of which the first is not joined to it. Each
 * pair still has the path between its own ends. */
static void
a_node_with_a_shared_switch_among_its_vertices_has_its_own_paths (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0m-s0aaaah1maaaah", (GraphJoin[]){ { 0, 6, 9, 1 },
                                                                             { 2, 6, 9, 1 },
                                                                             { 3, 6, 9, 1 },
                                                                             { 4, 6, 9, 1 },
                                                                             { 5, 6, 9, 1 },
                                                                             { 2, 1, 5, 1 },
                                                                             { 5, 1, 5, 1 },
                                                                             { 7, 12, 9, 1 },
                                                                             { 8, 12, 9, 1 },
                                                                             { 9, 12, 9, 1 },
                                                                             { 10, 12, 9, 1 },
                                                                             { 11, 12, 9, 1 },
                                                                             { 8, 1, 5, 1 },
                                                                             { 11, 1, 5, 1 },
                                                                             { 0 } });
  FabSizeSearch search;

  fab_search_init (&search, graph);
  assert_way (&search, 2, 5, "2 6 5");
  assert_way (&search, 3, 4, "3 6 4");
  assert_way (&search, 8, 11, "8 12 11");
  assert_way (&search, 9, 10, "9 12 10");
  assert_way (&search, 0, 3, "0 6 3");
  fab_search_clear (&search);
}

/* The parts of each node are joined outside only: a search inside and another one find that, for each node anew. */
static void
a_path_out_of_the_node_is_not_that_of_others (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0anan1anan-ss", (GraphJoin[]){ { 0, 1, 9, 1 },
                                                                         { 2, 3, 9, 1 },
                                                                         { 4, 5, 9, 1 },
                                                                         { 6, 7, 9, 1 },
                                                                         { 1, 8, 9, 1 },
                                                                         { 3, 8, 9, 1 },
                                                                         { 5, 9, 9, 1 },
                                                                         { 7, 9, 9, 1 },
                                                                         { 0 } });
  FabSizeSearch search;

  fab_search_init (&search, graph);
  for (guint i = 0; i < 2; i++) {
    assert_way (&search, 0, 2, "0 1 8 3 2");
    assert_way (&search, 4, 6, "4 5 9 7 6");
  }
  fab_search_clear (&search);
}

/* Two NICs on one switch of their node and on one of the fabric. In node 0 the way inside is the wider one, in node 1
 * that outside. */
static void
two_nics_may_meet_outside (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0snn1snn-s", (GraphJoin[]){ { 0, 1, 5, 1 },
                                                                      { 0, 2, 5, 1 },
                                                                      { 3, 4, 5, 1 },
                                                                      { 3, 5, 5, 1 },
                                                                      { 1, 6, 3, 1 },
                                                                      { 2, 6, 3, 1 },
                                                                      { 4, 6, 9, 1 },
                                                                      { 5, 6, 9, 1 },
                                                                      { 0 } });
  FabSizeSearch search;

  fab_search_init (&search, graph);
  assert_way (&search, 1, 2, "1 0 2");
  assert_way (&search, 4, 5, "4 6 5");
  fab_search_clear (&search);
}

/* Two nodes of `n` vertices each, all on the first of them; how many searches find the same path in both. */
static guint32
searches_of_stars (guint n)
{
  g_autoptr (GString) vertices = g_string_new (NULL);
  g_autofree GraphJoin *joins = g_new0 (GraphJoin, 2 * n);
  FabSizeSearch search;
  guint n_joins = 0;

  for (guint node = 0; node < 2; node++) {
    g_string_append_printf (vertices, "%u", node);
    for (guint i = 0; i < n; i++)
      g_string_append_c (vertices, 's');
    for (guint i = 1; i < n; i++)
      joins[n_joins++] = (GraphJoin){ node * n, node * n + i, 1, 1 };
  }
  g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
  fab_search_init (&search, graph);
  for (guint node = 0; node < 2; node++) {
    g_autofree char *expected = g_strdup_printf ("%u %u %u", node * n + n - 2, node * n, node * n + n - 1);

    assert_way (&search, node * n + n - 2, node * n + n - 1, expected);
  }
  guint32 n_searches = search.stamp;
  fab_search_clear (&search);
  return n_searches;
}

/* The table of all pairs would be too large beyond 1024 vertices. */
static void
nodes_up_to_a_size_are_remembered (G_GNUC_UNUSED void **state)
{
  assert_int_equal (searches_of_stars (3), 1);
  assert_int_equal (searches_of_stars (1024), 1);
  assert_int_equal (searches_of_stars (1025), 2);
}

/* --- between nodes --- */

/* Four nodes of a switch and two NICs, three vertices each. Leaf 12 has nodes 0 to 2, leaf 13 has node 3. Spine 14
 * joins the leaves at 5, spine 15 at 9. The first port of node 1 is slower than the others. */
static FabGraph *
leaves_and_spines (void)
{
  static const GraphJoin joins[] = { { 0, 1, 9, 1 },   { 0, 2, 9, 1 },   { 3, 4, 9, 1 },
                                     { 3, 5, 9, 1 },   { 6, 7, 9, 1 },   { 6, 8, 9, 1 },
                                     { 9, 10, 9, 1 },  { 9, 11, 9, 1 },  { 1, 12, 9, 1 },
                                     { 2, 12, 9, 1 },  { 4, 12, 5, 1 },  { 5, 12, 9, 1 },
                                     { 7, 12, 9, 1 },  { 8, 12, 9, 1 },  { 10, 13, 9, 1 },
                                     { 11, 13, 9, 1 }, { 12, 14, 5, 1 }, { 14, 13, 5, 1 },
                                     { 12, 15, 9, 1 }, { 15, 13, 9, 1 }, { 0 } };

  return graph_of ("0snn1snn2snn3snn-ssss", joins);
}

/* Ports of equal rates on the same two switches have one path between them, for NICs of the same number. */
static void
one_search_serves_all_nics_of_two_switches (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexId src, dst;
    const char *way;
    guint32 n_searches;
  } rows[] = {
    { 1, 10, "1 12 15 13 10", 1 }, { 7, 10, "7 12 15 13 10", 1 }, { 4, 10, "4 12 15 13 10", 2 },
    { 1, 11, "1 12 15 13 11", 3 }, { 7, 11, "7 12 15 13 11", 3 }, { 2, 11, "2 12 15 13 11", 4 },
    { 5, 11, "5 12 15 13 11", 4 }, { 8, 11, "8 12 15 13 11", 4 }, { 10, 4, "10 13 15 12 4", 5 },
    { 10, 1, "10 13 15 12 1", 6 }, { 10, 7, "10 13 15 12 7", 6 }, { 1, 7, "1 12 7", 7 },
    { 7, 1, "7 12 1", 7 },         { 1, 4, "1 12 4", 8 },         { 4, 10, "4 12 15 13 10", 8 },
  };
  g_autoptr (FabGraph) graph = leaves_and_spines ();
  FabSizeSearch search;

  fab_search_init (&search, graph);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_way (&search, rows[i].src, rows[i].dst, rows[i].way);
    assert_int_equal (search.stamp, rows[i].n_searches);
  }
  fab_search_clear (&search);
}

/* Four links fit behind 60 and not behind 61. */
static void
a_known_path_between_nodes_has_to_fit (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = leaves_and_spines ();
  FabSizeSearch search;

  fab_search_init (&search, graph);
  assert_null (way_after (&search, 1, 10, 61));
  for (guint i = 0; i < 2; i++) {
    g_autofree char *text = way_after (&search, 1, 10, 60);

    assert_string_equal (text, "1 12 15 13 10");
  }
  assert_way (&search, 2, 11, "2 12 15 13 11");
  guint32 n_searches = search.stamp;
  g_autofree char *known = way_after (&search, 7, 10, 60);
  assert_string_equal (known, "7 12 15 13 10");
  assert_int_equal (search.stamp, n_searches);
  assert_null (way_after (&search, 7, 10, 61));
  fab_search_clear (&search);
}

/* NIC 1 has a second port, NICs 3 and 5 are joined directly: their paths are searched for each pair, and found. */
static void
nics_with_other_links_have_paths_of_their_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexId src, dst;
    const char *way;
  } rows[] = { { 1, 7, "1 9 7" }, { 7, 1, "7 9 1" }, { 3, 7, "3 8 7" },
               { 3, 5, "3 5" },   { 5, 3, "5 3" },   { 1, 5, "1 8 5" } };
  g_autoptr (FabGraph) graph = graph_of ("0sn1sn2sn3sn-ss", (GraphJoin[]){ { 0, 1, 9, 1 },
                                                                           { 2, 3, 9, 1 },
                                                                           { 4, 5, 9, 1 },
                                                                           { 6, 7, 9, 1 },
                                                                           { 1, 8, 1, 1 },
                                                                           { 1, 9, 9, 1 },
                                                                           { 3, 5, 9, 1 },
                                                                           { 3, 8, 9, 1 },
                                                                           { 5, 8, 9, 1 },
                                                                           { 7, 8, 9, 1 },
                                                                           { 7, 9, 9, 1 },
                                                                           { 0 } });
  FabSizeSearch search;

  fab_search_init (&search, graph);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    const guint row = i % G_N_ELEMENTS (rows);

    assert_way (&search, rows[row].src, rows[row].dst, rows[row].way);
    assert_int_equal (search.stamp, i + 1);
  }
  fab_search_clear (&search);
}

/* NICs of one number are joined by a switch, and nothing joins the two switches. One search finds that for all. */
static void
what_is_not_joined_is_searched_once (G_GNUC_UNUSED void **state)
{
  enum { N_NODES = 8 };
  g_autoptr (GString) vertices = g_string_new ("-ss");
  GraphJoin joins[4 * N_NODES + 1] = { 0 };
  FabSizeSearch search;
  FabPath path = { 0 };

  for (guint node = 0; node < N_NODES; node++) {
    g_string_append_printf (vertices, "%usnn", node);
    for (guint rail = 0; rail < 2; rail++) {
      joins[4 * node + 2 * rail] = (GraphJoin){ 2 + 3 * node, 3 + 3 * node + rail, 1, 1 };
      joins[4 * node + 2 * rail + 1] = (GraphJoin){ 3 + 3 * node + rail, rail, 1, 1 };
    }
  }
  g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
  fab_search_init (&search, graph);
  for (guint from = 0; from < N_NODES; from++)
    for (guint to = 0; to < N_NODES; to++)
      if (from != to)
        assert_false (fab_search_best (&search, 3 + 3 * from, 4 + 3 * to, &path));
  assert_int_equal (search.stamp, 1);
  assert_true (fab_search_best (&search, 3, 6, &path));
  assert_int_equal (path.n, 2);
  assert_int_equal (search.stamp, 2);
  fab_search_clear (&search);
}

/* --- how far it looks --- */

/* A hub with many neighbours is one link from the source, and three from the destination: the side that has fewer links
 * before it goes on, so that nobody looks beyond the hub. Both ways round. */
static void
the_side_with_fewer_links_goes_on (G_GNUC_UNUSED void **state)
{
  enum { N = 50, HUB = 1, END = 4, N_JOINS = N + 4 };
  g_autoptr (GString) vertices = g_string_new ("sssss");
  GraphJoin joins[N_JOINS + 1] = { 0 };

  for (guint i = 0; i < 4; i++)
    joins[i] = (GraphJoin){ i, i + 1, 1, 1 };
  for (guint i = 0; i < N; i++) {
    g_string_append_c (vertices, 's');
    joins[4 + i] = (GraphJoin){ HUB, END + 1 + i, 1, 1 };
  }
  g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
  for (guint is_back = 0; is_back < 2; is_back++) {
    FabSizeSearch search;
    FabPath path = { 0 };

    fab_search_init (&search, graph);
    assert_true (fab_search_run (&search, is_back ? END : 0, is_back ? 0 : END));
    assert_int_equal (search.sides[is_back].level, 1);
    assert_int_equal (search.sides[!is_back].level, 3);
    for (guint side = 0; side < 2; side++)
      for (guint i = 0; i < N; i++)
        assert_int_equal (search.sides[side].marks[END + 1 + i].stamp, 0);
    assert_true (fab_search_emit (&search, &path));
    assert_int_equal (path.n, 4);
    fab_search_clear (&search);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_search_serves_all_symmetric_nodes),
    cmocka_unit_test (a_graph_that_is_unfolded_is_searched_for_each_pair),
    cmocka_unit_test (a_known_path_has_to_fit),
    cmocka_unit_test (nodes_with_other_links_have_paths_of_their_own),
    cmocka_unit_test (a_node_with_a_shared_switch_among_its_vertices_has_its_own_paths),
    cmocka_unit_test (a_path_out_of_the_node_is_not_that_of_others),
    cmocka_unit_test (two_nics_may_meet_outside),
    cmocka_unit_test (nodes_up_to_a_size_are_remembered),
    cmocka_unit_test (one_search_serves_all_nics_of_two_switches),
    cmocka_unit_test (a_known_path_between_nodes_has_to_fit),
    cmocka_unit_test (nics_with_other_links_have_paths_of_their_own),
    cmocka_unit_test (what_is_not_joined_is_searched_once),
    cmocka_unit_test (the_side_with_fewer_links_goes_on),
  };

  return cmocka_run_group_tests_name ("search", tests, NULL, NULL);
}
