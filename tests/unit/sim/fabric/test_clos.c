/* SPDX-License-Identifier: Apache-2.0 */
/* test_clos.c - leaves, spines and cores, link by link. Sizes of whole fabrics: tests/unit/models/fabric. */
#include "tests/support/test.h"

#include "sim/fabric/clos.h"

static void
uplinks_are_rounded_up (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint down;
    double oversubscription, rate_ratio;
    guint up;
  } rows[] = {
    { 4, 1, 1, 4 },   { 4, 2, 1, 2 },   { 3, 2, 1, 2 },    { 1, 8, 1, 1 },
    { 4, 1, 0.5, 2 }, { 4, 1, 2, 8 },   { 7, 0.7, 1, 10 }, /* 10.000000000000002 in doubles */
    { 0, 1, 1, 1 },   { 8, 1.5, 1, 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_clos_ports_up (rows[i].down, rows[i].oversubscription, rows[i].rate_ratio),
                      rows[i].up);
}

static void
the_fullest_plane_says_how_many_leaves (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_places, nics_per_node, n_planes, leaf_down, per_plane, n_leaves;
  } rows[] = {
    { 5, 8, 1, 4, 8, 10 }, { 5, 8, 3, 4, 3, 4 }, { 4, 9, 3, 4, 3, 3 },
    { 7, 1, 2, 4, 1, 2 },  { 8, 1, 1, 4, 1, 2 }, { 9, 1, 1, 4, 1, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabFabricEnv env = { .n_places = rows[i].n_places, .nics_per_node = rows[i].nics_per_node };

    assert_int_equal (fab_clos_nics_per_plane (rows[i].nics_per_node, rows[i].n_planes), rows[i].per_plane);
    assert_int_equal (fab_clos_n_leaves (&env, rows[i].n_planes, rows[i].leaf_down), rows[i].n_leaves);
  }
}

enum { MOST_NICS = 16 };

/* Links by their ends, each pair once, in the order of the links; a place without a node has no NICs. */
static char *
links_of (const FabClos *clos, guint n_places, guint nics_per_node, guint empty_place)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  const FabLinkClass link_class = { .name = "wire", .cost = { 1, 1, 1 } };
  guint part = fab_graph_builder_part (builder, "n", TRUE);
  const FabLinkForm form = { 1, 1, fab_graph_builder_class (builder, &link_class), 1 };
  /* Of a rail of its own every second NIC. */
  const FabNicSeat seats[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
  FabVertexId nics[MOST_NICS];
  FabClos own = *clos;
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n_places * nics_per_node; i++)
    nics[i] = i / nics_per_node == empty_place
                ? FAB_NO_VERTEX
                : fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, i / nics_per_node, part,
                                            i % nics_per_node);
  own.port = own.leaf_link = own.spine_link = form;
  fab_clos_build (&(FabFabricEnv){ .builder = builder,
                                   .n_places = n_places,
                                   .nics_per_node = nics_per_node,
                                   .n_rails = 2,
                                   .n_boards = 2,
                                   .seats = seats,
                                   .nics = nics,
                                   .port = form },
                  &own);
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);
    g_autofree char *src = fab_graph_vertex_name (graph, link->src),
                    *dst = fab_graph_vertex_name (graph, link->dst);

    if (link->src < link->dst)
      g_string_append_printf (text, "%s%s-%s", text->len > 0 ? " " : "",
                              g_str_has_prefix (src, "node") ? src + 4 : src, dst);
  }
  return g_string_free (text, FALSE);
}

static const struct {
  FabClos clos;
  guint n_places, nics_per_node, empty_place;
  const char *links;
} shapes[] = {
  /* one leaf has no uplinks */
  { { .n_planes = 1, .n_tors = 1, .leaf_down = 4, .leaf_up = 2, .leaves_per_pod = G_MAXUINT, .n_spines = 2 },
    4,
    1,
    G_MAXUINT,
    "0/n0-leaf0 1/n0-leaf0 2/n0-leaf0 3/n0-leaf0" },
  { { .n_planes = 1, .n_tors = 1, .leaf_down = 2, .leaf_up = 3, .leaves_per_pod = G_MAXUINT, .n_spines = 2 },
    3,
    1,
    G_MAXUINT,
    "0/n0-leaf0 1/n0-leaf0 2/n0-leaf1 leaf0-spine0 leaf0-spine1 leaf0-spine0 leaf1-spine0 leaf1-spine1 "
    "leaf1-spine0" },
  /* an empty place takes its ports all the same */
  { { .n_planes = 1, .n_tors = 1, .leaf_down = 2, .leaf_up = 1, .leaves_per_pod = G_MAXUINT, .n_spines = 1 },
    3,
    1,
    1,
    "0/n0-leaf0 2/n0-leaf1 leaf0-spine0 leaf1-spine0" },
  /* two planes, in which NICs are in turn; no more of them than NICs */
  { { .n_planes = 2, .n_tors = 1, .leaf_down = 1, .leaf_up = 1, .leaves_per_pod = G_MAXUINT, .n_spines = 1 },
    2,
    2,
    G_MAXUINT,
    "0/n0-leaf0 0/n1-leaf2 1/n0-leaf1 1/n1-leaf3 leaf0-spine0 leaf1-spine0 leaf2-spine1 leaf3-spine1" },
  { { .n_planes = 3, .n_tors = 1, .leaf_down = 2, .leaf_up = 1, .leaves_per_pod = G_MAXUINT, .n_spines = 1 },
    2,
    2,
    G_MAXUINT,
    "0/n0-leaf0 0/n1-leaf1 1/n0-leaf0 1/n1-leaf1" },
  /* planes that are rails, each of the NICs of two boards */
  { { .n_planes = 2, .by_rail = TRUE, .n_tors = 1, .leaf_down = 4, .leaves_per_pod = G_MAXUINT },
    2,
    4,
    G_MAXUINT,
    "0/n0-leaf0 0/n1-leaf0 0/n2-leaf1 0/n3-leaf1 1/n0-leaf0 1/n1-leaf0 1/n2-leaf1 1/n3-leaf1" },
  /* two leaves side by side */
  { { .n_planes = 1, .n_tors = 2, .leaf_down = 2, .leaf_up = 1, .leaves_per_pod = G_MAXUINT, .n_spines = 1 },
    3,
    2,
    G_MAXUINT,
    "0/n0-leaf0 0/n1-leaf1 1/n0-leaf0 1/n1-leaf1 2/n0-leaf2 2/n1-leaf3 leaf0-spine0 leaf1-spine0 "
    "leaf2-spine0 leaf3-spine0" },
  /* pods of two leaves and two spines, whose cores are two each, of three leaves the last one alone */
  { { .n_planes = 1,
      .n_tors = 1,
      .leaf_down = 1,
      .leaf_up = 2,
      .leaves_per_pod = 2,
      .n_spines = 2,
      .spine_up = 2,
      .cores_per_spine = 2 },
    3,
    1,
    G_MAXUINT,
    "0/n0-leaf0 1/n0-leaf1 2/n0-leaf2 leaf0-spine0 leaf0-spine1 leaf1-spine0 leaf1-spine1 leaf2-spine2 "
    "leaf2-spine3 spine0-core0 spine0-core1 spine1-core2 spine1-core3 spine2-core0 spine2-core1 "
    "spine3-core2 spine3-core3" },
  /* one core for each spine, with two links; of one pod there is no core */
  { { .n_planes = 2,
      .n_tors = 1,
      .leaf_down = 1,
      .leaf_up = 1,
      .leaves_per_pod = 1,
      .n_spines = 1,
      .spine_up = 2,
      .cores_per_spine = 1 },
    2,
    2,
    G_MAXUINT,
    "0/n0-leaf0 0/n1-leaf2 1/n0-leaf1 1/n1-leaf3 leaf0-spine0 leaf1-spine1 spine0-core0 spine0-core0 "
    "spine1-core0 spine1-core0 leaf2-spine2 leaf3-spine3 spine2-core1 spine2-core1 spine3-core1 spine3-core1" },
  { { .n_planes = 1,
      .n_tors = 1,
      .leaf_down = 1,
      .leaf_up = 1,
      .leaves_per_pod = 2,
      .n_spines = 1,
      .spine_up = 2,
      .cores_per_spine = 1 },
    2,
    1,
    G_MAXUINT,
    "0/n0-leaf0 1/n0-leaf1 leaf0-spine0 leaf1-spine0" },
};

static void
switches_are_joined_tier_by_tier (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree char *text = links_of (&shapes[i].clos, shapes[i].n_places, shapes[i].nics_per_node,
                                      shapes[i].empty_place);

    assert_string_equal (text, shapes[i].links);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (uplinks_are_rounded_up),
    cmocka_unit_test (the_fullest_plane_says_how_many_leaves),
    cmocka_unit_test (switches_are_joined_tier_by_tier),
  };

  return cmocka_run_group_tests_name ("clos", tests, NULL, NULL);
}
