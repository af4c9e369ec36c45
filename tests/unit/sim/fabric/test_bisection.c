/* SPDX-License-Identifier: Apache-2.0 */
/* test_bisection.c - what crosses the middle of small networks: half of the nodes send to the other half, split in two
 * blocks or in alternating ones. Of real fabrics: tests/unit/models/fabric. */
#include "tests/support/test.h"

#include "sim/fabric/bisection.h"
#include "tests/support/graphs.h"

/* The bisection of a graph whose first vertices are the NICs of nodes, `per_node` each. */
static FabBisection
bisection_of (const FabGraph *graph, guint n_nodes, guint per_node)
{
  FabVertexId nics[16];

  for (guint i = 0; i < n_nodes * per_node; i++)
    nics[i] = i;
  return fab_bisection_of (graph, nics, n_nodes, per_node);
}

/* Ports of 4 B/s each, and 3 B/s between two switches. Where each switch has one half of the nodes, 3 B/s cross; where
 * it has as many of either half, these send to each other on it. */
static void
the_narrowest_split_counts (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes, per_node;
    const char *switches; /* of each NIC */
    double injection, first_half, bisection;
    guint worst_block;
  } rows[] = {
    { 2, 1, "01", 4, 3, 3, 1 },
    { 2, 1, "00", 4, 4, 4, 1 },
    { 4, 1, "0011", 8, 3, 3, 2 },
    { 4, 1, "0101", 8, 8, 3, 1 },
    { 4, 1, "0000", 8, 8, 8, 2 },
    { 8, 1, "00110011", 16, 16, 3, 2 },
    { 8, 1, "01010101", 16, 16, 3, 1 },
    { 8, 1, "00001111", 16, 3, 3, 4 },
    { 4, 2, "00001111", 16, 3, 3, 2 },
    { 4, 2, "00110011", 16, 16, 3, 1 },
    /* of three nodes the smaller half is the last one, and there is one way to split */
    { 3, 1, "001", 4, 3, 3, 2 },
    { 3, 1, "010", 4, 4, 4, 2 },
    { 5, 1, "00011", 8, 3, 3, 3 },
    /* three quarters on one switch: 4 + 3 cross */
    { 4, 1, "0001", 8, 7, 7, 2 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    guint n = rows[r].n_nodes * rows[r].per_node;
    g_autoptr (GString) vertices = g_string_new (NULL);
    GraphJoin joins[20] = { 0 };

    for (guint i = 0; i < n; i++) {
      g_string_append_printf (vertices, "%un", i / rows[r].per_node);
      joins[i] = (GraphJoin){ i, n + (guint) (rows[r].switches[i] - '0'), 4, 1 };
    }
    g_string_append (vertices, "-ss");
    joins[n] = (GraphJoin){ n, n + 1, 3, 1 };
    g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
    FabBisection found = bisection_of (graph, rows[r].n_nodes, rows[r].per_node);

    assert_near (found.injection_bytes_per_s, rows[r].injection, 1e-12);
    assert_near (found.first_half_bytes_per_s, rows[r].first_half, 1e-12);
    assert_near (found.bisection_bytes_per_s, rows[r].bisection, 1e-12);
    assert_int_equal (found.worst_block, rows[r].worst_block);
    assert_near (found.oversubscription, rows[r].injection / rows[r].bisection, 1e-12);
  }
}

/* Links inside of nodes are no ports, NICs may be joined to each other, bundles count as many times, and what nothing
 * joins has nothing to send by. */
static void
ports_are_links_out_of_nodes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphJoin joins[6];
    double injection, bisection;
  } rows[] = {
    { "0n1n0s1s-s", { { 0, 2, 9, 1 }, { 1, 3, 9, 1 }, { 0, 4, 4, 1 }, { 1, 4, 4, 1 } }, 4, 4 },
    { "0n1n", { { 0, 1, 7, 1 } }, 7, 7 },
    { "0n1n-s", { { 0, 1, 7, 1 }, { 0, 2, 2, 1 }, { 1, 2, 5, 1 } }, 12, 9 },
    { "0n1n-s", { { 0, 2, 2, 3 }, { 1, 2, 5, 2 } }, 10, 6 },
    { "0n1n-ss", { { 0, 2, 2, 1 }, { 1, 3, 5, 1 } }, 5, 0 },
    /* two ways between the switches of the ends, and a third switch that widens nothing */
    { "0n1n-ssss",
      { { 0, 2, 9, 1 }, { 1, 3, 9, 1 }, { 2, 4, 3, 1 }, { 4, 3, 5, 1 }, { 2, 5, 2, 1 }, { 5, 3, 1, 1 } },
      9,
      4 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    GraphJoin joins[7] = { 0 };

    memcpy (joins, rows[r].joins, sizeof rows[r].joins);
    g_autoptr (FabGraph) graph = graph_of (rows[r].vertices, joins);
    FabBisection found = bisection_of (graph, 2, 1);

    assert_near (found.injection_bytes_per_s, rows[r].injection, 1e-12);
    assert_near (found.bisection_bytes_per_s, rows[r].bisection, 1e-12);
    if (rows[r].bisection > 0)
      assert_near (found.oversubscription, rows[r].injection / rows[r].bisection, 1e-12);
    else
      assert_true (isinf (found.oversubscription));
  }
}

static void
one_node_has_no_middle (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("0n1n-s", (GraphJoin[]){ { 0, 2, 4, 1 }, { 1, 2, 4, 1 }, { 0 } });

  for (guint i = 0; i < 3; i++) {
    FabBisection found = bisection_of (graph, i, i == 2 ? 0 : 1);

    assert_near (found.oversubscription, 1, 0);
    assert_near (found.injection_bytes_per_s, 0, 0);
    assert_near (found.bisection_bytes_per_s, 0, 0);
    assert_near (found.first_half_bytes_per_s, 0, 0);
    assert_int_equal (found.worst_block, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_narrowest_split_counts),
    cmocka_unit_test (ports_are_links_out_of_nodes),
    cmocka_unit_test (one_node_has_no_middle),
  };

  return cmocka_run_group_tests_name ("bisection", tests, NULL, NULL);
}
