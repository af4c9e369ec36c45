/* SPDX-License-Identifier: Apache-2.0 */
/* test_tiers.c - switches, cables and transceivers by tier, counted by hand on small graphs. */
#include "tests/support/test.h"

#include "sim/cost/tiers.h"

typedef struct {
  FabGraphBuilder *builder;
  guint link_class;
} Drawing;

static const FabLinkClass wire = { .name = "wire", .cost = { 1, 1, 1 } };

static Drawing
drawing_new (void)
{
  FabGraphBuilder *builder = fab_graph_builder_new ();

  return (Drawing){ builder, fab_graph_builder_class (builder, &wire) };
}

static FabVertexId
draw (const Drawing *self, FabVertexKind kind, guint32 node, guint index)
{
  static const char *const names[] = { [FAB_VERTEX_SWITCH] = "sw", [FAB_VERTEX_NIC] = "nic" };

  return fab_graph_builder_vertex (self->builder, kind, node,
                                   fab_graph_builder_part (self->builder, names[kind], TRUE), index);
}

static void
join (const Drawing *self, FabVertexId a, FabVertexId b, guint count)
{
  fab_graph_builder_join (self->builder, a, b, &(FabLinkForm){ 100, 0, self->link_class, count });
}

static FabTiers
tiers_of (Drawing *self, guint links_per_optic, guint links_per_node_optic)
{
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (self->builder);
  FabTiers tiers = fab_tiers_of (graph, links_per_optic, links_per_node_optic);

  fab_graph_builder_free (self->builder);
  return tiers;
}

/* Joins NICs of nodes of two to a leaf; the first belongs to `node`. */
static void
join_nodes (const Drawing *self, FabVertexId leaf, guint node, guint n)
{
  for (guint i = 0; i < n; i++) {
    join (self, draw (self, FAB_VERTEX_NIC, node + i, 0), leaf, 1);
    join (self, draw (self, FAB_VERTEX_NIC, node + i, 1), leaf, 1);
  }
}

/* Two leaves with two nodes of two NICs each, three cables from each leaf to one spine, five from it to one core. */
static FabTiers
three_tiers (guint links_per_optic, guint links_per_node_optic)
{
  Drawing self = drawing_new ();
  FabVertexId leaf0 = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 0);
  FabVertexId leaf1 = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 1);
  FabVertexId spine = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 2);
  FabVertexId core = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 3);

  join_nodes (&self, leaf0, 0, 2);
  join_nodes (&self, leaf1, 2, 2);
  join (&self, leaf0, spine, 3);
  join (&self, leaf1, spine, 3);
  join (&self, spine, core, 5);
  return tiers_of (&self, links_per_optic, links_per_node_optic);
}

/* 8 cables down, 2 x 3 in the middle, 5 up: ports 7, 7, 11 and 5, and one transceiver in each. */
static void
each_cable_is_in_its_tier (G_GNUC_UNUSED void **state)
{
  static const guint64 switches[FAB_N_TIERS] = { 2, 1, 1 }, cables[FAB_N_TIERS] = { 8, 6, 5 };
  FabTiers tiers = three_tiers (1, 1);

  assert_memory_equal (tiers.n_switches, switches, sizeof switches);
  assert_memory_equal (tiers.n_cables, cables, sizeof cables);
  assert_int_equal (tiers.n_switch_optics, 7 + 7 + 11 + 5);
  assert_int_equal (tiers.n_node_optics, 8);
}

/* Twin ports are shared inside one switch or node and not across: 4 + 4 + 6 + 3, and one in each of four nodes. */
static void
transceivers_are_shared_inside_a_switch (G_GNUC_UNUSED void **state)
{
  FabTiers tiers = three_tiers (2, 2);

  assert_int_equal (tiers.n_switch_optics, 4 + 4 + 6 + 3);
  assert_int_equal (tiers.n_node_optics, 4);
}

/* Routers of a ring have NICs, so all are leaves, and the cables between them are no cables of nodes. */
static void
routers_with_nics_are_leaves (G_GNUC_UNUSED void **state)
{
  Drawing self = drawing_new ();
  FabVertexId routers[3];

  for (guint i = 0; i < 3; i++) {
    routers[i] = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, i);
    join_nodes (&self, routers[i], i, 1);
  }
  for (guint i = 0; i < 3; i++)
    join (&self, routers[i], routers[(i + 1) % 3], 2);
  FabTiers tiers = tiers_of (&self, 1, 1);
  assert_int_equal (tiers.n_switches[0], 3);
  assert_int_equal (tiers.n_switches[1] + tiers.n_switches[2], 0);
  assert_int_equal (tiers.n_cables[0], 6);
  assert_int_equal (tiers.n_cables[1], 6);
}

/* A switch inside a node, and one that has such a switch beside it, are parts of machines. */
static void
switches_of_machines_are_not_counted (G_GNUC_UNUSED void **state)
{
  Drawing self = drawing_new ();
  FabVertexId inside = draw (&self, FAB_VERTEX_SWITCH, 0, 0);
  FabVertexId beside = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 1);
  FabVertexId leaf = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, 2);

  join (&self, inside, beside, 1);
  join_nodes (&self, leaf, 0, 1);
  FabTiers tiers = tiers_of (&self, 1, 1);
  assert_int_equal (tiers.n_switches[0], 1);
  assert_int_equal (tiers.n_switches[1] + tiers.n_switches[2], 0);
  assert_int_equal (tiers.n_cables[0], 2);
}

/* Cables between switches of the last tier are in the last tier too. */
static void
cables_between_cores_are_in_the_last_tier (G_GNUC_UNUSED void **state)
{
  Drawing self = drawing_new ();
  FabVertexId chain[5];

  for (guint i = 0; i < G_N_ELEMENTS (chain); i++)
    chain[i] = draw (&self, FAB_VERTEX_SWITCH, FAB_NO_NODE, i);
  join_nodes (&self, chain[0], 0, 1);
  for (guint i = 1; i < G_N_ELEMENTS (chain); i++)
    join (&self, chain[i - 1], chain[i], i);
  FabTiers tiers = tiers_of (&self, 1, 1);
  assert_int_equal (tiers.n_switches[0], 1);
  assert_int_equal (tiers.n_switches[1], 1);
  assert_int_equal (tiers.n_switches[2], 3);
  assert_int_equal (tiers.n_cables[0], 2);
  assert_int_equal (tiers.n_cables[1], 1);
  assert_int_equal (tiers.n_cables[2], 2 + 3 + 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_cable_is_in_its_tier),
    cmocka_unit_test (transceivers_are_shared_inside_a_switch),
    cmocka_unit_test (routers_with_nics_are_leaves),
    cmocka_unit_test (switches_of_machines_are_not_counted),
    cmocka_unit_test (cables_between_cores_are_in_the_last_tier),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
