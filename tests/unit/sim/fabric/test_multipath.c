/* SPDX-License-Identifier: Apache-2.0 */
/* test_multipath.c - which of the shortest paths is picked by a number or a hash, and what goes by way of other
 * switches. That all shortest paths are found: prop_path.c, prop_ways.c. */
#include "tests/support/test.h"

#include "sim/base/mix.h"
#include "sim/fabric/multipath.h"
#include "tests/support/graphs.h"

/* The links of a path by their ends and by their number among those of the same two vertices: "0>2.0 2>4.1". */
static char *
links_of (const FabGraph *graph, const FabPath *path, guint n_before)
{
  GString *text = g_string_new (NULL);

  for (guint i = n_before; i < path->n; i++) {
    const FabLink *link = fab_graph_link (graph, path->links[i]);
    guint number = 0;

    for (FabLinkId id = path->links[i]; id-- > 0 && fab_graph_link (graph, id)->src == link->src;)
      number += fab_graph_link (graph, id)->dst == link->dst;
    g_string_append_printf (text, "%s%u>%u.%u", i > n_before ? " " : "", link->src, link->dst, number);
  }
  return g_string_free (text, FALSE);
}

/* NIC 0 of node 0 is on leaf 2, NIC 1 of node 1 on leaf 3. A cable of two wires and a cable of one wire, between which
 * is the only cable to spine 5, lead from leaf 2 to spine 4; the same lead from leaf 3 to spine 4. */
static FabGraph *
leaves_of_cables (void)
{
  return graph_of ("0n1n-ssss", (GraphJoin[]){ { 0, 2, 1, 1 },
                                               { 2, 4, 1, 2 },
                                               { 2, 5, 1, 1 },
                                               { 2, 4, 1, 1 },
                                               { 4, 3, 1, 2 },
                                               { 5, 3, 1, 1 },
                                               { 4, 3, 1, 1 },
                                               { 3, 1, 1, 1 },
                                               { 0 } });
}

/* Of the four wires of the leaf a number takes number mod 4. It comes down by the cable by which it went up: the third
 * wire to spine 4, which is number 3 of all, by the second cable. Also without classes of switches. */
static void
a_number_comes_down_as_it_went_up (G_GNUC_UNUSED void **state)
{
  static const char *const ways[] = { "0>2.0 2>4.0 4>3.0 3>1.0", "0>2.0 2>4.0 4>3.0 3>1.0",
                                      "0>2.0 2>5.0 5>3.0 3>1.0", "0>2.0 2>4.1 4>3.1 3>1.0" };

  for (guint is_unfolded = 0; is_unfolded < 2; is_unfolded++) {
    g_autoptr (FabGraph) graph = leaves_of_cables ();

    if (is_unfolded)
      fab_graph_unfold (graph);
    g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
    for (guint64 number = 0; number < 12; number++) {
      FabPath path = { .n = 3 };

      assert_true (fab_multipath_pick_number (paths, 0, 1, number, &path));
      g_autofree char *links = links_of (graph, &path, 3);
      assert_string_equal (links, ways[number % 4]);
    }
  }
}

/* Three hops over two cables each, between the NICs' own: the first takes number mod 2, the one in the middle the next
 * quotient mod 2, and the last what the first took. */
static void
the_hop_in_the_middle_takes_the_next_quotient (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0n1n-ssss", (GraphJoin[]){ { 0, 2, 1, 1 },
                                                                     { 2, 3, 1, 1 },
                                                                     { 2, 3, 1, 1 },
                                                                     { 3, 4, 1, 1 },
                                                                     { 3, 4, 1, 1 },
                                                                     { 4, 5, 1, 1 },
                                                                     { 4, 5, 1, 1 },
                                                                     { 5, 1, 1, 1 },
                                                                     { 0 } });
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (guint number = 0; number < 8; number++) {
    g_autofree char *expected = g_strdup_printf ("0>2.0 2>3.%u 3>4.%u 4>5.%u 5>1.0", number % 2,
                                                 number / 2 % 2, number % 2);
    FabPath path = { 0 };

    assert_true (fab_multipath_pick_number (paths, 0, 1, number, &path));
    g_autofree char *links = links_of (graph, &path, 0);
    assert_string_equal (links, expected);
  }
}

/* Beyond the middle two links to two switches are no bundle: after two cables, of which number mod 2 is taken, the next
 * quotient mod 2 takes the switch. */
static void
two_switches_are_no_bundle (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0n1n-ssssss", (GraphJoin[]){ { 0, 2, 1, 1 },
                                                                       { 2, 3, 1, 1 },
                                                                       { 3, 4, 1, 1 },
                                                                       { 3, 4, 1, 1 },
                                                                       { 4, 5, 1, 1 },
                                                                       { 4, 6, 1, 1 },
                                                                       { 5, 7, 1, 1 },
                                                                       { 6, 7, 1, 1 },
                                                                       { 7, 1, 1, 1 },
                                                                       { 0 } });
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (guint number = 0; number < 8; number++) {
    guint next = 5 + number / 2 % 2;
    g_autofree char *expected = g_strdup_printf ("0>2.0 2>3.0 3>4.%u 4>%u.0 %u>7.0 7>1.0", number % 2, next,
                                                 next);
    FabPath path = { 0 };

    assert_true (fab_multipath_pick_number (paths, 0, 1, number, &path));
    g_autofree char *links = links_of (graph, &path, 0);
    assert_string_equal (links, expected);
  }
}

/* Where the hop up had one cable there is none to come down by: the number chooses. */
static void
a_single_cable_up_chooses_nothing_down (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "0n1n-sss",
      (GraphJoin[]){ { 0, 2, 1, 1 }, { 2, 4, 1, 1 }, { 4, 3, 1, 1 }, { 4, 3, 1, 1 }, { 3, 1, 1, 1 }, { 0 } });
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (guint number = 0; number < 4; number++) {
    g_autofree char *expected = g_strdup_printf ("0>2.0 2>4.0 4>3.%u 3>1.0", number % 2);
    FabPath path = { 0 };

    assert_true (fab_multipath_pick_number (paths, 0, 1, number, &path));
    g_autofree char *links = links_of (graph, &path, 0);
    assert_string_equal (links, expected);
  }
}

/* Inside of nodes there is no choice: of two switches between NIC and accelerator the first one is taken by all, at
 * either end, whatever the key; between the NICs two switches share. */
static void
nodes_are_passed_by_their_best_path (G_GNUC_UNUSED void **state)
{
  static const GraphJoin joins[] = { { 0, 1, 1, 1 }, { 1, 6, 1, 1 }, { 1, 7, 1, 1 }, { 2, 6, 1, 1 },
                                     { 2, 7, 1, 1 }, { 2, 3, 1, 1 }, { 2, 4, 1, 1 }, { 3, 5, 1, 1 },
                                     { 4, 5, 1, 1 }, { 0 } };
  static const FabVertexId ends[][2] = { { 0, 5 }, { 5, 0 } };
  g_autoptr (FabGraph) graph = graph_of ("0an1nssa-ss", joins);
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (guint i = 0; i < 2; i++) {
    FabVertexId src = ends[i][0], dst = ends[i][1];
    g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
    guint n_by_first = 0;

    assert_true (fab_multipath_spread (paths, src, dst, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1, shares));
    assert_int_equal (shares->len, 3 + 4);
    for (guint k = 0; k < shares->len; k++) {
      const FabShare *share = &g_array_index (shares, FabShare, k);
      const FabLink *link = fab_graph_link (graph, share->link);
      gboolean is_outside = link->src >= 6 || link->dst >= 6;

      assert_true (link->src != 4 && link->dst != 4);
      assert_near (share->fraction, is_outside ? 0.5 : 1, 0);
    }
    for (guint64 key = 0; key < 32; key++) {
      FabPath path = { 0 };

      assert_true (fab_multipath_pick (paths, src, dst, key, &path));
      assert_int_equal (path.n, 5);
      for (guint k = 0; k < path.n; k++) {
        assert_true (fab_graph_link (graph, path.links[k])->dst != 4);
        n_by_first += fab_graph_link (graph, path.links[k])->dst == 6;
      }
    }
    assert_in_range (n_by_first, 4, 28);
  }
}

/* At each switch: what comes up to spine 5 has one cable down, and what comes up to spine 4 two. */
static void
a_hash_takes_each_wire_alike (G_GNUC_UNUSED void **state)
{
  enum { N = 4000 };
  g_autoptr (FabGraph) graph = leaves_of_cables ();
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
  guint n_up[3] = { 0 }, n_down[3] = { 0 };
  FabLinkId first_up, first_down;

  fab_graph_out_links (graph, 2, &first_up);
  fab_graph_out_links (graph, 3, &first_down);
  for (guint64 key = 0; key < N; key++) {
    FabPath path = { 0 }, again = { 0 };

    assert_true (fab_multipath_pick (paths, 0, 1, key, &path));
    assert_true (fab_multipath_pick (paths, 0, 1, key, &again));
    assert_memory_equal (&path, &again, sizeof path);
    n_up[path.links[1] - first_up - 1]++; /* the first link of a leaf is that to its NIC */
    n_down[fab_graph_link (graph, path.links[2])->reverse - first_down]++;
  }
  /* Of four wires the first cable has two: 2000 of 4000, with a deviation of 32; the others 1000, with one of 27. */
  assert_in_range (n_up[0], 1870, 2130);
  assert_in_range (n_up[1], 890, 1110);
  assert_in_range (n_up[2], 890, 1110);
  assert_in_range (n_down[0], 1880, 2120); /* two wires of three, of 3000 */
  assert_int_equal (n_down[1], n_up[1]);
  assert_int_equal (n_down[0] + n_down[2], n_up[0] + n_up[2]);
}

/* Four links fit behind 60, and not behind 61; nothing is appended then. */
static void
a_picked_path_has_to_fit (G_GNUC_UNUSED void **state)
{
  for (guint is_unfolded = 0; is_unfolded < 2; is_unfolded++) {
    g_autoptr (FabGraph) graph = leaves_of_cables ();

    if (is_unfolded)
      fab_graph_unfold (graph);
    g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
    for (guint n_before = 60; n_before < 62; n_before++) {
      FabPath path = { .n = n_before }, other = { .n = n_before };

      assert_int_equal (fab_multipath_pick (paths, 0, 1, 7, &path), n_before == 60);
      assert_int_equal (fab_multipath_pick_number (paths, 0, 1, 7, &other), n_before == 60);
      assert_int_equal (path.n, n_before == 60 ? 64 : 61);
      assert_int_equal (other.n, n_before == 60 ? 64 : 61);
    }
  }
}

/* Entropies pick paths of their own, for each pair of ends and each key; from a vertex to itself nothing goes. */
static void
entropies_pick_paths (G_GNUC_UNUSED void **state)
{
  enum { N = 64 };
  g_autoptr (FabGraph) graph = leaves_of_cables ();
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
  guint n_other_key = 0, n_by_first = 0;
  FabPath none = { .n = 2 };

  for (guint64 entropy = 0; entropy < N; entropy++) {
    FabPath path = { 0 }, picked = { 0 }, other = { 0 };

    assert_true (fab_multipath_pick_entropy (paths, 0, 1, 5, entropy, &path));
    assert_true (fab_multipath_pick_entropy (paths, 0, 1, 6, entropy, &other));
    assert_true (fab_multipath_pick (paths, 0, 1, fab_mix (fab_mix (fab_mix (5, 0), 1), entropy), &picked));
    assert_memory_equal (&path, &picked, sizeof path);
    n_other_key += path.links[1] != other.links[1];
    n_by_first += fab_graph_link (graph, path.links[1])->dst == 4;
  }
  assert_in_range (n_other_key, N / 4, N - 1);
  assert_in_range (n_by_first, N / 2, N - 1); /* three wires of four lead to spine 4 */
  assert_true (fab_multipath_pick_entropy (paths, 3, 3, 5, 1, &none));
  assert_int_equal (none.n, 2);
}

static void
a_choice_is_where_two_links_lead_on (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphJoin joins[6];
    gboolean has_choice;
  } rows[] = {
    { "0n1n-s", { { 0, 2, 1, 1 }, { 1, 2, 1, 1 } }, FALSE },
    { "0n1n-ss", { { 0, 2, 1, 1 }, { 2, 3, 1, 1 }, { 3, 1, 1, 1 } }, FALSE },
    { "0snn1n-ss",
      { { 0, 1, 1, 1 }, { 0, 2, 1, 1 }, { 1, 4, 1, 1 }, { 2, 4, 1, 1 }, { 3, 4, 1, 1 } },
      FALSE },
    { "0n1n-ss", { { 0, 2, 1, 1 }, { 0, 3, 1, 1 }, { 3, 1, 1, 1 } }, TRUE },
    { "0n1n-sss", { { 0, 2, 1, 1 }, { 2, 3, 1, 1 }, { 2, 4, 1, 1 }, { 3, 1, 1, 1 } }, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);
    g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

    assert_int_equal (fab_multipath_has_choice (paths), rows[i].has_choice);
  }
}

/* --- by way of other switches --- */

/* Five routers, 0 to 4, that are all joined to each other; routers 5 and 6, which nothing joins to them. On each of
 * them is the NIC of a node of its own, 7 to 13, and on NIC 7 and NIC 8 an accelerator, 14 and 15. */
static FabGraph *
routers (void)
{
  GraphJoin joins[20] = { 0 };
  guint n = 0;

  for (guint a = 0; a < 5; a++)
    for (guint b = a + 1; b < 5; b++)
      joins[n++] = (GraphJoin){ a, b, 1, 1 };
  for (guint i = 0; i < 7; i++)
    joins[n++] = (GraphJoin){ i, 7 + i, 1, 1 };
  joins[n++] = (GraphJoin){ 7, 14, 1, 1 };
  joins[n++] = (GraphJoin){ 8, 15, 1, 1 };
  return graph_of ("-sssssss0n1n2n3n4n5n6n0a1a", joins);
}

/* What of a transfer crosses the link from a to b. */
static double
fraction_on (const FabGraph *graph, const GArray *shares, FabVertexId a, FabVertexId b)
{
  double sum = 0;

  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);
    const FabLink *link = fab_graph_link (graph, share->link);

    sum += link->src == a && link->dst == b ? share->fraction : 0;
  }
  return sum;
}

static void
switches_with_nics_may_be_on_the_way (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) all = routers (), tree = leaves_of_cables ();
  g_autoptr (GArray) of_all = fab_multipath_vias (all), of_tree = fab_multipath_vias (tree);

  assert_int_equal (of_all->len, 7);
  for (guint i = 0; i < 7; i++)
    assert_int_equal (g_array_index (of_all, FabVertexId, i), i);
  assert_int_equal (of_tree->len, 2);
  assert_int_equal (g_array_index (of_tree, FabVertexId, 0), 2);
  assert_int_equal (g_array_index (of_tree, FabVertexId, 1), 3);
}

/* A quarter of a transfer from accelerator 14 by way of one router: all of that on every link. By way of an end of the
 * way between the NICs it is the direct way; so it is where the transfer begins at the router itself. */
static void
a_way_leads_over_one_switch (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexId src, dst, via;
    guint n_links;
    double direct, there, back;
  } rows[] = {
    { 14, 15, 2, 6, 0, 0.25, 0.25 }, { 14, 15, FAB_NO_VERTEX, 5, 0.25, 0, 0 },
    { 14, 15, 0, 5, 0.25, 0, 0 },    { 14, 15, 1, 5, 0.25, 0, 0 },
    { 7, 8, 2, 4, 0, 0.25, 0.25 },   { 0, 1, 2, 2, 0, 0.25, 0.25 },
    { 0, 1, 0, 1, 0.25, 0, 0 },      { 0, 1, 1, 1, 0.25, 0, 0 },
    { 14, 7, 2, 1, 0, 0, 0 }, /* inside a node */
  };
  g_autoptr (FabGraph) graph = routers ();
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));

    assert_true (
        fab_multipath_spread (paths, rows[i].src, rows[i].dst, rows[i].via, FAB_SPLIT_LINKS, 0.25, shares));
    assert_int_equal (shares->len, rows[i].n_links);
    for (guint k = 0; k < shares->len; k++)
      assert_near (g_array_index (shares, FabShare, k).fraction, 0.25, 0);
    assert_near (fraction_on (graph, shares, 0, 1), rows[i].direct, 0);
    assert_near (fraction_on (graph, shares, 0, 2), rows[i].there, 0);
    assert_near (fraction_on (graph, shares, 2, 1), rows[i].back, 0);
  }
}

/* There is no way to another plane, neither as the end nor on the way; what was there before stays. */
static void
without_a_way_nothing_is_added (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = routers ();
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare)),
                     vias = fab_multipath_vias (graph);
  FabShare before = { 3, 0.5 };

  g_array_append_val (shares, before);
  assert_false (fab_multipath_spread (paths, 7, 12, FAB_NO_VERTEX, FAB_SPLIT_LINKS, 1, shares));
  assert_false (fab_multipath_spread (paths, 14, 15, 5, FAB_SPLIT_LINKS, 1, shares));
  assert_false (fab_multipath_spread (paths, 14, 12, 2, FAB_SPLIT_LINKS, 1, shares));
  assert_false (fab_multipath_spread_vias (paths, 7, 12, vias, 2, 1, FAB_SPLIT_LINKS, 1, shares));
  assert_int_equal (shares->len, 1);
  assert_int_equal (g_array_index (shares, FabShare, 0).link, 3);
}

/* k of n switches, from number mix (src + (seed - 1) 2^32, dst) on and every n / k: each has a part of the share. That
 * of router 5 or 6, in another plane, goes the direct way, as does that of routers 0 and 1 themselves. */
static void
some_switches_have_a_part_each (G_GNUC_UNUSED void **state)
{
  enum { N = 7 };
  g_autoptr (FabGraph) graph = routers ();
  g_autoptr (FabMultipath) paths = fab_multipath_new (graph);
  g_autoptr (GArray) vias = fab_multipath_vias (graph);

  for (guint64 seed = 1; seed < 8; seed++)
    for (guint64 k = 1; k <= N + 1; k++) {
      g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
      guint64 start = fab_mix (7 + ((seed - 1) << 32), 8), n_used = MIN (k, N);
      double expected[N] = { 0 }, direct = 0;

      for (guint64 i = 0; i < n_used; i++)
        expected[(start + i * N / n_used) % N] += 0.5 / (double) n_used;
      for (guint via = 0; via < N; via++)
        direct += via >= 2 && via < 5 ? 0 : expected[via];
      assert_true (fab_multipath_spread_vias (paths, 7, 8, vias, k, seed, FAB_SPLIT_LINKS, 0.5, shares));
      for (guint via = 2; via < 5; via++) {
        assert_near (fraction_on (graph, shares, 0, via), expected[via], 1e-12);
        assert_near (fraction_on (graph, shares, via, 1), expected[via], 1e-12);
      }
      assert_near (fraction_on (graph, shares, 0, 1), direct, 1e-12);
      assert_near (fraction_on (graph, shares, 7, 0), 0.5, 1e-12);
    }
}

/* From the second share on: sorted by link, and those of one link made one. */
static void
shares_of_one_link_are_merged (G_GNUC_UNUSED void **state)
{
  static const FabShare before[] = { { 9, 1 },     { 5, 0.25 },   { 2, 0.5 },
                                     { 5, 0.125 }, { 9, 0.0625 }, { 5, 0.5 } },
                        after[] = { { 9, 1 }, { 2, 0.5 }, { 5, 0.875 }, { 9, 0.0625 } };
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));

  fab_shares_merge (shares, 0);
  assert_int_equal (shares->len, 0);
  g_array_append_vals (shares, before, G_N_ELEMENTS (before));
  fab_shares_merge (shares, G_N_ELEMENTS (before));
  assert_int_equal (shares->len, G_N_ELEMENTS (before));
  fab_shares_merge (shares, 1);
  assert_int_equal (shares->len, G_N_ELEMENTS (after));
  for (guint i = 0; i < shares->len; i++) {
    assert_int_equal (g_array_index (shares, FabShare, i).link, after[i].link);
    assert_near (g_array_index (shares, FabShare, i).fraction, after[i].fraction, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_number_comes_down_as_it_went_up),
    cmocka_unit_test (the_hop_in_the_middle_takes_the_next_quotient),
    cmocka_unit_test (two_switches_are_no_bundle),
    cmocka_unit_test (a_single_cable_up_chooses_nothing_down),
    cmocka_unit_test (nodes_are_passed_by_their_best_path),
    cmocka_unit_test (a_hash_takes_each_wire_alike),
    cmocka_unit_test (a_picked_path_has_to_fit),
    cmocka_unit_test (entropies_pick_paths),
    cmocka_unit_test (a_choice_is_where_two_links_lead_on),
    cmocka_unit_test (switches_with_nics_may_be_on_the_way),
    cmocka_unit_test (a_way_leads_over_one_switch),
    cmocka_unit_test (without_a_way_nothing_is_added),
    cmocka_unit_test (some_switches_have_a_part_each),
    cmocka_unit_test (shares_of_one_link_are_merged),
  };

  return cmocka_run_group_tests_name ("multipath", tests, NULL, NULL);
}
