/* SPDX-License-Identifier: Apache-2.0 */
/* test_shape.c - weights add up over paths, and the slowest link sets the rate. */
#include "tests/support/test.h"

#include "tests/support/rig.h"

/* Three GPUs at 100 bytes/s, cost 1.25, on one switch. */
static Rig *
star (void)
{
  return rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 3, .gpu_bytes_per_s = 100, .gpu_cost = 1.25 });
}

static void
add_hop (FabFootprintBuilder *builder, const Rig *rig, guint from, guint to, double weight, double stretch)
{
  FabPath path = { 0 };

  assert_true (fab_router_append (rig->router, rig_gpu (rig, from), rig_gpu (rig, to), 0, &path));
  fab_footprint_builder_add (builder, &path, (FabUse){ weight, FAB_DRIVE_KERNEL, stretch, 1, 1 });
}

/* 0 -> 1 with weight 1 and 0 -> 2 with 3: up link of 0 carries 4 per byte and 4 x 1.25 = 5 of its line,
 * so 100 / 5 = 20 bytes/s; physics alone would allow 100 / 4 = 25. */
static void
weights_of_a_shared_link_add_up (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star ();
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);

  add_hop (builder, rig, 0, 1, 1, 1);
  add_hop (builder, rig, 0, 2, 3, 1);
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  assert_int_equal (footprint->n, 3);
  assert_int_equal (fab_graph_link (rig->graph, footprint->binding_link)->src, rig_gpu (rig, 0));
  assert_near (footprint->binding_weight, 4, 1e-15);
  assert_near (footprint->rate_bytes_per_s, 20, 1e-15);
  assert_near (footprint->line_bound_bytes_per_s, 25, 1e-15);
}

/* A loss of 2 beyond the link's own cost: 100 / (1 x 2 x 1.25) = 40; the physical bound stays 100. */
static void
stretch_costs_line_time_and_no_bytes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star ();
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);

  add_hop (builder, rig, 0, 1, 1, 2);
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  assert_near (footprint->weights[0], 1, 0);
  assert_near (footprint->rate_bytes_per_s, 40, 1e-15);
  assert_near (footprint->line_bound_bytes_per_s, 100, 1e-15);
}

/* All links equally slow up to rounding of the sums: the lowest id is named, not the luckiest sum. */
static void
of_equal_links_the_lowest_binds (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star ();
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);

  for (guint i = 0; i < 10; i++)
    add_hop (builder, rig, 0, 1, 0.1, 1);
  add_hop (builder, rig, 1, 2, 1, 1);
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  assert_int_equal (footprint->binding_link, footprint->links[0]);
  for (guint i = 1; i < footprint->n; i++)
    assert_true (footprint->links[i - 1] < footprint->links[i]);
}

static void
the_builder_is_empty_afterwards (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star ();
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);

  add_hop (builder, rig, 0, 1, 5, 1);
  fab_footprint_free (fab_footprint_builder_finish (builder));
  add_hop (builder, rig, 0, 2, 1, 1);
  g_autoptr (FabFootprint) second = fab_footprint_builder_finish (builder);
  assert_int_equal (second->n, 2);
  assert_near (second->weights[0], 1, 0);
  assert_near (second->weights[1], 1, 0);
  assert_near (second->line_weights[0], 1.25, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (weights_of_a_shared_link_add_up),
    cmocka_unit_test (stretch_costs_line_time_and_no_bytes),
    cmocka_unit_test (of_equal_links_the_lowest_binds),
    cmocka_unit_test (the_builder_is_empty_afterwards),
  };

  return cmocka_run_group_tests_name ("footprint", tests, NULL, NULL);
}
