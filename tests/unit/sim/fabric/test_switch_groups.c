/* SPDX-License-Identifier: Apache-2.0 */
/* test_switch_groups.c - how many groups of switches NICs need, how many links join two of them, which switches these
 * are on, and what has no room. */
#include "tests/support/test.h"

#include "sim/fabric/switch_groups.h"

static void
groups_and_links_are_as_many_as_needed (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_places, nics_per_node;
    FabGroupsSpec spec;
    guint n_groups, n_links;
    const char *message; /* NULL: it has room */
  } rows[] = {
    { 4, 2, { "ring", 0, 0, 4, 10, 1, 3 }, 2, 10, NULL },
    { 9, 1, { "ring", 0, 0, 4, 10, 1, 3 }, 3, 5, NULL },
    { 4, 1, { "ring", 0, 0, 4, 10, 1, 3 }, 1, 10, NULL },
    { 9, 1, { "ring", 5, 0, 4, 10, 1, 3 }, 5, 2, NULL },
    { 9, 1, { "ring", 3, 4, 4, 10, 1, 3 }, 3, 4, NULL },
    { 9, 1, { "ring", 3, 5, 4, 10, 1, 3 }, 3, 5, NULL },
    { 44, 1, { "ring", 0, 0, 4, 10, 1, 3 }, 11, 1, NULL },
    { 4, 1, { "ring", 0, 0, 4, 0, 1, 3 }, 1, 1, NULL },
    { 3, 3, { "ring", 2, 0, 4, 10, 1, 3 }, 0, 0, "a ring of 2 groups has ports for 8 NICs, not 9" },
    { 9,
      1,
      { "ring", 3, 6, 4, 10, 1, 3 },
      0,
      0,
      "a group of this ring has 10 ports to other groups, but 6 links to each of 2 are needed" },
    { 48,
      1,
      { "ring", 0, 0, 4, 10, 1, 3 },
      0,
      0,
      "a group of this ring has 10 ports to other groups, but 1 links to each of 11 are needed" },
    /* at most four million links: inside of the groups, and ten or three between two of them */
    { 4, 1, { "ring", 0, 0, 4, 10, 4000000, 3 }, 1, 10, NULL },
    { 4,
      1,
      { "ring", 0, 0, 4, 10, 4000001, 3 },
      0,
      0,
      "a ring of 1 groups with 3 routers has 4000001 links; at most 4000000" },
    { 8, 1, { "ring", 0, 0, 4, 10, 1999995, 3 }, 2, 10, NULL },
    { 8,
      1,
      { "ring", 0, 0, 4, 10, 1999996, 3 },
      0,
      0,
      "a ring of 2 groups with 3 routers has 4000002 links; at most 4000000" },
    { 16, 1, { "ring", 0, 0, 4, 10, 1000000, 3 }, 0, 0, "has 4000018 links" },
    { 4, 1, { "ring", 2, 4000000, 4, 4000000, 0, 3 }, 2, 4000000, NULL },
    { 4, 1, { "ring", 2, 4000001, 4, 4000001, 0, 3 }, 0, 0, "has 4000001 links" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabFabricEnv env = { .n_places = rows[i].n_places, .nics_per_node = rows[i].nics_per_node };
    g_autoptr (GError) error = NULL;
    guint n_groups, n_links;

    assert_int_equal (fab_groups_plan (&env, &rows[i].spec, &n_groups, &n_links, &error),
                      rows[i].message == NULL);
    if (rows[i].message != NULL) {
      if (strstr (error->message, rows[i].message) == NULL)
        fail_msg ("%s", error->message);
      continue;
    }
    assert_int_equal (n_groups, rows[i].n_groups);
    assert_int_equal (n_links, rows[i].n_links);
  }
}

/* Three groups of two switches, three links between each pair: the ends of each group's six links are on its switches
 * in turn. Groups 0 and 1 come first, then 0 and 2, then 1 and 2. */
static void
links_are_on_switches_in_turn (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 0, 2 }, { 1, 3 }, { 0, 2 }, { 1, 4 }, { 0, 5 },
                                   { 1, 4 }, { 3, 5 }, { 2, 4 }, { 3, 5 } };
  enum { N_LINKS = G_N_ELEMENTS (ends) };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  const FabLinkClass link_class = { .name = "wire", .cost = { 1, 1, 1 } };
  const FabFabricEnv env = { .builder = builder };
  FabVertexId switches[6];
  guint part = fab_graph_builder_part (builder, "router", TRUE), n_found[N_LINKS] = { 0 };
  FabLinkForm form = { 7, 5, fab_graph_builder_class (builder, &link_class), 1 };

  for (guint i = 0; i < 6; i++)
    switches[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  fab_groups_join (&env, switches, 3, 2, 3, &form);
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  assert_int_equal (fab_graph_n_links (graph), 2 * N_LINKS);
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    assert_true (link->joins_groups);
    assert_int_equal (link->rate_bytes_per_s, 7);
    for (guint i = 0; i < N_LINKS; i++)
      n_found[i] += link->src == ends[i][0] && link->dst == ends[i][1];
  }
  for (guint i = 0; i < N_LINKS; i++) {
    guint n = 0;

    for (guint k = 0; k < N_LINKS; k++)
      n += ends[k][0] == ends[i][0] && ends[k][1] == ends[i][1];
    assert_int_equal (n_found[i], n);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (groups_and_links_are_as_many_as_needed),
    cmocka_unit_test (links_are_on_switches_in_turn),
  };

  return cmocka_run_group_tests_name ("switch_groups", tests, NULL, NULL);
}
