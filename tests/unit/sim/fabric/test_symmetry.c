/* SPDX-License-Identifier: Apache-2.0 */
/* test_symmetry.c - which nodes are symmetric: all that is inside is the same, link by link, and only NICs are joined
 * to the rest. */
#include "tests/support/test.h"

#include "sim/fabric/symmetry.h"
#include "tests/support/graphs.h"

/* Two nodes of an accelerator, a switch and a NIC each, from 0 and from 3, and switches from 6 on. */
static const struct {
  const char *what, *vertices;
  GraphJoin joins[10];
  gboolean is_symmetric;
} rows[] = {
  { "the same",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 2, 6, 9, 1 }, { 5, 6, 9, 1 } },
    TRUE },
  { "other rates outside, and two ports of one NIC",
    "0asn1asn-ss",
    { { 0, 1, 9, 1 },
      { 1, 2, 9, 1 },
      { 3, 4, 9, 1 },
      { 4, 5, 9, 1 },
      { 2, 6, 9, 1 },
      { 5, 6, 3, 1 },
      { 5, 7, 3, 1 } },
    TRUE },
  { "no port of one NIC",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 2, 6, 9, 1 } },
    TRUE },
  { "another rate inside",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 8, 1 }, { 4, 5, 9, 1 } },
    FALSE },
  { "another kind",
    "0asn1mshn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 } },
    FALSE },
  { "a link less inside", "0asn1asn-s", { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 } }, FALSE },
  { "a link more inside",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 3, 5, 9, 1 } },
    FALSE },
  { "the links in another order",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 4, 5, 9, 1 }, { 3, 4, 9, 1 } },
    FALSE },
  { "the port of a NIC before its link inside",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 2, 6, 9, 1 }, { 3, 4, 9, 1 }, { 5, 6, 9, 1 }, { 4, 5, 9, 1 } },
    FALSE },
  { "a switch that is joined to the fabric",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 4, 6, 9, 1 } },
    FALSE },
  { "a switch of the model that is joined to the fabric",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 1, 6, 9, 1 } },
    FALSE },
  { "switches that are joined to the fabric in both",
    "0asn1asn-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 1, 6, 9, 1 }, { 4, 6, 9, 1 } },
    FALSE },
  { "a vertex less",
    "0asn1as-ns",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 2, 6, 9, 1 } },
    FALSE },
  { "a vertex more",
    "0asn1asnm-s",
    { { 0, 1, 9, 1 }, { 1, 2, 9, 1 }, { 3, 4, 9, 1 }, { 4, 5, 9, 1 }, { 2, 7, 9, 1 } },
    FALSE },
  { "a model that is not whole", "0as-n1asn-s", { { 0, 1, 9, 1 }, { 3, 4, 9, 1 } }, FALSE },
};

static void
symmetric_nodes_are_the_same_inside (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);

    if (fab_symmetry (graph, 0, 3, 3) != rows[i].is_symmetric)
      fail_msg ("%s", rows[i].what);
  }
}

/* The one link of the second node has another rate, latency or kind than that of the first, or all that is the same. */
static void
links_have_one_rate_latency_and_kind (G_GNUC_UNUSED void **state)
{
  static const FabLinkClass classes[] = { { .name = "one", .cost = { 1, 1, 1 } },
                                          { .name = "other", .cost = { 1, 1, 1 } } };

  for (guint differs = 0; differs < 8; differs++) {
    g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
    guint part = fab_graph_builder_part (builder, "v", TRUE);
    FabLinkForm form = { 9, 10, 0, 1 };

    for (guint i = 0; i < 2; i++)
      fab_graph_builder_class (builder, &classes[i]);
    for (guint i = 0; i < 4; i++)
      fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, i / 2, part, i % 2);
    fab_graph_builder_join (builder, 0, 1, &form);
    form.rate_bytes_per_s += differs & 1;
    form.latency_ps += differs >> 1 & 1;
    form.class_index += differs >> 2;
    fab_graph_builder_join (builder, 2, 3, &form);
    g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
    assert_int_equal (fab_symmetry (graph, 0, 2, 2), differs == 0);
    assert_int_equal (fab_symmetry (graph, 2, 0, 2), differs == 0);
  }
}

/* The last vertices of a graph may be a node, and a node that would go beyond them is none. */
static void
a_node_ends_with_the_graph (G_GNUC_UNUSED void **state)
{
  const GraphJoin joins[] = { { 0, 1, 9, 1 }, { 2, 3, 9, 1 }, { 0 } };
  g_autoptr (FabGraph) two = graph_of ("0as1as", joins), more = graph_of ("0asn1as", joins);

  assert_true (fab_symmetry (two, 0, 2, 2));
  assert_true (fab_symmetry (two, 0, 0, 2));
  assert_false (fab_symmetry (more, 0, 3, 3));
}

static void
a_range_is_all_of_a_node (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexId vertex, first;
    guint n;
  } ranges[] = { { 0, 0, 3 }, { 1, 0, 3 }, { 2, 0, 3 }, { 3, 3, 1 }, { 4, 4, 2 }, { 5, 4, 2 } };
  g_autoptr (FabGraph) graph = graph_of ("0asn-s1as", (GraphJoin[]){ { 0, 1, 9, 1 }, { 0 } });

  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++) {
    guint n;

    assert_int_equal (fab_symmetry_range (graph, ranges[i].vertex, &n), ranges[i].first);
    assert_int_equal (n, ranges[i].n);
  }
}

/* Links inside, link by link, both ways, whatever the number of ports of the NICs. */
static void
links_correspond (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (rows[1].vertices, rows[1].joins);

  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (link->src >= 3 || link->dst >= 3)
      continue;
    FabLinkId other = fab_symmetry_link (graph, id, 3);
    assert_int_equal (fab_graph_link (graph, other)->src, link->src + 3);
    assert_int_equal (fab_graph_link (graph, other)->dst, link->dst + 3);
    assert_int_equal (fab_symmetry_link (graph, other, -3), id);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (symmetric_nodes_are_the_same_inside),
    cmocka_unit_test (links_have_one_rate_latency_and_kind),
    cmocka_unit_test (a_node_ends_with_the_graph),
    cmocka_unit_test (a_range_is_all_of_a_node),
    cmocka_unit_test (links_correspond),
  };

  return cmocka_run_group_tests_name ("symmetry", tests, NULL, NULL);
}
