/* SPDX-License-Identifier: Apache-2.0 */
/* test_next_links.c - for which graphs and pairs classes of switches say anything, and how much is looked at and kept.
 * That the links are the right ones: prop_ways.c. */
#include "tests/support/test.h"

#include "sim/fabric/next_links.h"
#include "tests/support/graphs.h"

/* Ways are found where nodes are joined by NICs and switches of the fabric alone. What ends all ways may be joined to
 * anything. Two nodes from 0 and from 3, and what is between them from 6 on. */
static void
nodes_are_joined_by_nics_and_switches (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *what, *vertices;
    GraphJoin joins[4];
    gboolean has_ways;
  } rows[] = {
    { "NICs", "0asn1asn-s", { { 2, 6, 1, 1 }, { 5, 6, 1, 1 } }, TRUE },
    { "links inside", "0asn1asn-s", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 6, 1, 1 } }, TRUE },
    { "links between switches", "0asn1asn-ss", { { 2, 6, 1, 1 }, { 6, 7, 1, 1 }, { 7, 5, 1, 1 } }, TRUE },
    { "a switch of accelerators", "0asn1asn-s", { { 0, 6, 1, 1 }, { 3, 6, 1, 1 } }, TRUE },
    { "accelerators", "0asn1asn-s", { { 0, 3, 1, 1 } }, TRUE },
    { "memory and a NIC", "0msn1msn-s", { { 0, 5, 1, 1 } }, TRUE },
    { "a drive and a switch", "0dsn1dsn-s", { { 0, 4, 1, 1 } }, TRUE },
    { "two NICs", "0asn1asn-s", { { 2, 5, 1, 1 } }, FALSE },
    { "a NIC and a switch of another node", "0asn1asn-s", { { 2, 4, 1, 1 } }, FALSE },
    { "two switches of nodes", "0asn1asn-s", { { 1, 4, 1, 1 } }, FALSE },
    { "a switch and the fabric", "0asn1asn-s", { { 1, 6, 1, 1 } }, FALSE },
    { "the fabric and a host", "0ahn1ahn-s", { { 6, 4, 1, 1 } }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);
    g_autoptr (FabWays) ways = fab_ways_new (graph);

    if ((ways != NULL) != rows[i].has_ways)
      fail_msg ("%s", rows[i].what);
    fab_graph_unfold (graph);
    assert_null (fab_ways_new (graph));
  }
}

/* NICs of two nodes, and no others. */
static void
ways_are_between_nics_of_two_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0ann1ann-sn",
                                         (GraphJoin[]){ { 1, 6, 1, 1 }, { 4, 6, 1, 1 }, { 0 } });
  g_autoptr (FabWays) ways = fab_ways_new (graph);
  const guint is_nic_of_node[] = { 0, 1, 1, 0, 2, 2, 0, 0 };

  for (FabVertexId src = 0; src < 8; src++)
    for (FabVertexId dst = 0; dst < 8; dst++)
      assert_int_equal (fab_ways_have (ways, src, dst), is_nic_of_node[src] > 0 && is_nic_of_node[dst] > 0
                                                            && is_nic_of_node[src] != is_nic_of_node[dst]);
}

/* A row of switches with a NIC at the first and one at the last. */
static guint
links_of_row (guint n_switches)
{
  g_autoptr (GString) vertices = g_string_new ("0n1n-");
  g_autofree GraphJoin *joins = g_new0 (GraphJoin, n_switches + 2);

  for (guint i = 0; i < n_switches; i++) {
    g_string_append_c (vertices, 's');
    joins[i] = (GraphJoin){ i + 1, i + 2, 1, 1 };
  }
  joins[0].a = 0;
  joins[n_switches] = (GraphJoin){ n_switches + 1, 1, 1, 1 };
  g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
  g_autoptr (FabWays) ways = fab_ways_new (graph);
  return fab_ways_begin (ways, 0, 1);
}

/* Two links to the NICs and those between the switches, of which 254 at most are counted: a path has fewer. */
static void
long_ways_are_none (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 6; n++)
    assert_int_equal (links_of_row (n), n + 1);
  assert_int_equal (links_of_row (255), 256);
  assert_int_equal (links_of_row (256), G_MAXUINT);
}

/* --- what is kept --- */

enum { N_ROUTERS = 40, N_PAIRS = N_ROUTERS * (N_ROUTERS - 1) };

/* Routers that are all joined to each other, the second ones of every pair of them by two links, with a NIC each. */
static FabGraph *
all_to_all (void)
{
  g_autoptr (GString) vertices = g_string_new ("-");
  g_autofree GraphJoin *joins = g_new0 (GraphJoin, N_PAIRS + N_ROUTERS + 1);
  guint n = 0;

  for (guint i = 0; i < N_ROUTERS; i++)
    g_string_append_c (vertices, 's');
  for (guint i = 0; i < N_ROUTERS; i++) {
    g_string_append_printf (vertices, "%cn", '0' + i % 10);
    joins[n++] = (GraphJoin){ i, N_ROUTERS + i, 1, 1 };
    for (guint k = 0; k < i; k++)
      joins[n++] = (GraphJoin){ k, i, 1, 1 + (i + k) % 2 };
  }
  return graph_of (vertices->str, joins);
}

/* Follows the first links that lead on from every NIC to every one of another node. Returns the number of pairs. */
static guint
follow_all (FabWays *ways, const FabGraph *graph)
{
  guint n_pairs = 0;

  for (FabVertexId src = N_ROUTERS; src < 2 * N_ROUTERS; src++)
    for (FabVertexId dst = N_ROUTERS; dst < 2 * N_ROUTERS; dst++) {
      FabVertexId at = src, a = src - N_ROUTERS, b = dst - N_ROUTERS;

      if (!fab_ways_have (ways, src, dst))
        continue;
      n_pairs++;
      assert_int_equal (fab_ways_begin (ways, src, dst), 3);
      for (guint left = 3; left > 0; left--) {
        FabWaysOn on = fab_ways_on (ways, at, left);

        assert_int_equal (on.n, 1);
        assert_int_equal (on.n_parallel, left == 2 ? 1 + (a + b) % 2 : 1);
        assert_int_equal (fab_graph_link (graph, on.links[0].link)->src, at);
        at = on.links[0].next;
        assert_int_equal (at, left == 3 ? a : left == 2 ? b : dst);
      }
    }
  return n_pairs;
}

/* Each router is a class of its own, joined to 39 others. For each of 40 destinations the links of 40 classes are
 * looked at once, and for each of the pairs of routers, of which there are more than the table has room for at first,
 * those of the first one. The second time nothing is looked at. */
static void
what_leads_on_is_found_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = all_to_all ();
  g_autoptr (FabWays) ways = fab_ways_new (graph);
  guint n_pairs = follow_all (ways, graph);

  assert_int_equal (n_pairs, N_ROUTERS * (N_ROUTERS - 4));
  assert_int_equal (fab_ways_n_classes (ways), N_ROUTERS);
  assert_int_equal (fab_ways_n_visits (ways), (N_ROUTERS * N_ROUTERS + n_pairs) * (N_ROUTERS - 1));
  for (guint i = 0; i < 2; i++)
    follow_all (ways, graph);
  assert_int_equal (fab_ways_n_visits (ways), (N_ROUTERS * N_ROUTERS + n_pairs) * (N_ROUTERS - 1));
}

/* The second time what was forgotten is found anew, and is the same. Links are forgotten where one more than there is
 * room for was kept before another one; distances where those of one more destination would be too many. */
static void
what_is_forgotten_is_found_anew (G_GNUC_UNUSED void **state)
{
  enum { N_FOUND = N_ROUTERS * (N_ROUTERS - 4), N_ROW_BYTES = N_ROUTERS * (N_ROUTERS + 1) };
  static const struct {
    guint n_links;
    guint64 n_row_bytes;
    gboolean finds_rows_anew, finds_links_anew;
  } rows[] = {
    { G_MAXUINT, N_ROW_BYTES, FALSE, FALSE },
    { G_MAXUINT, N_ROW_BYTES - 1, TRUE, FALSE },
    { N_FOUND - 1, G_MAXUINT64, FALSE, FALSE },
    { N_FOUND - 2, G_MAXUINT64, FALSE, TRUE },
    { 0, G_MAXUINT64, FALSE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = all_to_all ();
    g_autoptr (FabWays) ways = fab_ways_new (graph);

    fab_ways_keep_at_most (ways, rows[i].n_links, rows[i].n_row_bytes);
    guint n_pairs = follow_all (ways, graph);
    guint64 first = fab_ways_n_visits (ways), links = (guint64) n_pairs * (N_ROUTERS - 1);
    follow_all (ways, graph);
    guint64 second = fab_ways_n_visits (ways) - first;
    assert_true (rows[i].finds_rows_anew ? second > 0 && second % ((guint64) N_ROUTERS * (N_ROUTERS - 1)) == 0
                                         : second == (rows[i].finds_links_anew ? links : 0));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nodes_are_joined_by_nics_and_switches),
    cmocka_unit_test (ways_are_between_nics_of_two_nodes),
    cmocka_unit_test (long_ways_are_none),
    cmocka_unit_test (what_leads_on_is_found_once),
    cmocka_unit_test (what_is_forgotten_is_found_anew),
  };

  return cmocka_run_group_tests_name ("next_links", tests, NULL, NULL);
}
