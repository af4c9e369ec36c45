/* SPDX-License-Identifier: Apache-2.0 */
/* test_footprint.c - weights add up over paths, and the slowest link sets the rate. */
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

/* All bytes of a stream cross each link of its path, some of them twice; with half of the bytes on each of two ways the
 * sum is that of a path, but no link has all of them. */
static void
a_path_has_whole_weights (G_GNUC_UNUSED void **state)
{
  static const struct {
    double weights[3];
    guint n, n_links;
    gboolean is_path;
  } rows[] = {
    { { 1, 1 }, 2, 2, TRUE },         { { 1, 1 }, 2, 3, FALSE },        { { 1, 1 }, 2, 1, FALSE },
    { { 1, 2 }, 2, 3, TRUE },         { { 0.5, 1.5 }, 2, 2, FALSE },    { { 0.5, 0.5, 1 }, 3, 2, FALSE },
    { { 1, 1.5, 0.5 }, 3, 3, FALSE }, { { 1 + 1e-12, 1 }, 2, 2, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabFootprint) footprint = fab_footprint_new (rows[i].n);

    footprint->n = rows[i].n;
    for (guint k = 0; k < rows[i].n; k++)
      footprint->weights[k] = rows[i].weights[k];
    assert_int_equal (fab_footprint_is_path (footprint, rows[i].n_links), rows[i].is_path);
  }
}

/* Two nodes of two GPUs on a switch, what lies in the first node is added in the second one,
 * too. */
static void
a_footprint_lies_in_symmetric_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){
      .n_nodes = 2, .gpus_per_node = 2, .nics_per_node = 1, .gpu_bytes_per_s = 100, .nic_bytes_per_s = 10 });
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
  FabVertexId shift = rig_gpu (rig, 2) - rig_gpu (rig, 0);

  add_hop (builder, rig, 0, 1, 3, 2);
  g_autoptr (FabFootprint) inside = fab_footprint_builder_finish (builder);
  fab_footprint_builder_add_footprint (builder, inside);
  fab_footprint_builder_add_symmetric (builder, inside, shift);
  g_autoptr (FabFootprint) both = fab_footprint_builder_finish (builder);
  assert_int_equal (inside->n, 2);
  assert_int_equal (both->n, 4);
  for (guint i = 0; i < 4; i++) {
    const FabLink *link = fab_graph_link (rig->graph, both->links[i]),
                  *model = fab_graph_link (rig->graph, inside->links[i % 2]);

    assert_int_equal (link->src, model->src + (i < 2 ? 0 : shift));
    assert_int_equal (link->dst, model->dst + (i < 2 ? 0 : shift));
    assert_near (both->weights[i], 3, 0);
    assert_near (both->line_weights[i], 6, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (weights_of_a_shared_link_add_up),
    cmocka_unit_test (stretch_costs_line_time_and_no_bytes),
    cmocka_unit_test (of_equal_links_the_lowest_binds),
    cmocka_unit_test (the_builder_is_empty_afterwards),
    cmocka_unit_test (a_path_has_whole_weights),
    cmocka_unit_test (a_footprint_lies_in_symmetric_nodes),
  };

  return cmocka_run_group_tests_name ("footprint", tests, NULL, NULL);
}
