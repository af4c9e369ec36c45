/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - what was joined is what is frozen: rows, reverses, names, bundles. */
#include "tests/support/test.h"

#include "sim/fabric/graph.h"

static const FabLinkClass plain_class = { .name = "wire", .cost = { 1.5, 1.25, 1 } };

/* node0/gpu0 - sw - node0/gpu1, and a second bundle of two from gpu1 to sw. */
static FabGraph *
small_graph (void)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint gpu = fab_graph_builder_part (builder, "gpu", TRUE),
        sw = fab_graph_builder_part (builder, "sw", FALSE);
  FabVertexId a = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, gpu, 0);
  FabVertexId b = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, gpu, 1);
  FabVertexId c = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, sw, 0);
  FabLinkForm form = { 100, 7, fab_graph_builder_class (builder, &plain_class), 1 };

  fab_graph_builder_join (builder, b, c, &form);
  fab_graph_builder_join (builder, a, c, &form);
  form.count = 2;
  fab_graph_builder_join (builder, b, c, &form);
  return fab_graph_builder_freeze (builder);
}

/* Three joins are six links; 0 leaves gpu0, 1 and 2 leave gpu1, 3 to 5 leave sw, in order of joining. */
static void
links_are_numbered_by_source (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = small_graph ();
  const FabVertexId sources[] = { 0, 1, 1, 2, 2, 2 }, targets[] = { 2, 2, 2, 1, 0, 1 };
  FabLinkId first;

  assert_int_equal (fab_graph_n_vertices (graph), 3);
  assert_int_equal (fab_graph_n_links (graph), 6);
  for (FabLinkId i = 0; i < 6; i++) {
    assert_int_equal (fab_graph_link (graph, i)->src, sources[i]);
    assert_int_equal (fab_graph_link (graph, i)->dst, targets[i]);
  }
  assert_int_equal (fab_graph_out_links (graph, 1, &first), 2);
  assert_int_equal (first, 1);
  fab_graph_check (graph);
}

/* Parallel joins of the same two vertices keep their own reverses: 1-3, 0-4, 2-5. */
static void
every_link_has_the_reverse_it_was_joined_with (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = small_graph ();
  const FabLinkId reverses[] = { 4, 3, 5, 1, 0, 2 };

  for (FabLinkId i = 0; i < 6; i++)
    assert_int_equal (fab_graph_link (graph, i)->reverse, reverses[i]);
}

/* Two links of 100 bytes/s are a bundle of 200 whose latency is that of one. */
static void
a_bundle_adds_rates_and_not_latencies (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = small_graph ();
  const FabLink *bundle = fab_graph_link (graph, 2);

  assert_int_equal (bundle->rate_bytes_per_s, 200);
  assert_int_equal (bundle->latency_ps, 7);
  assert_int_equal (bundle->count, 2);
  assert_near (fab_graph_link_class (graph, 2)->cost[FAB_DRIVE_KERNEL], 1.25, 0);
}

static void
names_say_node_part_and_number (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = small_graph ();
  g_autofree char *gpu = fab_graph_vertex_name (graph, 1), *centre = fab_graph_vertex_name (graph, 2);

  assert_string_equal (gpu, "node0/gpu1");
  assert_string_equal (centre, "sw");
}

static void
parts_and_classes_are_kept_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();

  assert_int_equal (fab_graph_builder_part (builder, "gpu", TRUE), 0);
  assert_int_equal (fab_graph_builder_part (builder, "nic", TRUE), 1);
  assert_int_equal (fab_graph_builder_part (builder, "gpu", TRUE), 0);
  assert_int_equal (fab_graph_builder_class (builder, &plain_class), 0);
  assert_int_equal (fab_graph_builder_class (builder, &plain_class), 0);
}

static void
a_builder_is_empty_after_freezing (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "gpu", TRUE);

  fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, part, 0);
  g_autoptr (FabGraph) one = fab_graph_builder_freeze (builder);
  g_autoptr (FabGraph) none = fab_graph_builder_freeze (builder);
  assert_int_equal (fab_graph_n_vertices (one), 1);
  assert_int_equal (fab_graph_n_vertices (none), 0);
  fab_graph_check (one);
  fab_graph_check (none);
}

/* The second way from gpu1 to sw goes, the first keeps half and 3 ps more: 0, 1 and, from sw, 2 (to gpu1) and 3. */
static void
links_go_and_the_others_keep_their_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = small_graph ();
  const FabLinkChange gone = { 0, 0 }, slow = { 0.5, 3 }, kept = { 1, 0 };
  const FabLinkChange changes[] = { kept, slow, gone, kept, kept, gone };
  const FabVertexId targets[] = { 2, 2, 1, 0 };
  FabLinkId first;

  fab_graph_change (graph, changes);
  assert_int_equal (fab_graph_n_links (graph), 4);
  for (FabLinkId i = 0; i < 4; i++)
    assert_int_equal (fab_graph_link (graph, i)->dst, targets[i]);
  assert_int_equal (fab_graph_out_links (graph, 1, &first), 1);
  assert_int_equal (fab_graph_out_links (graph, 2, &first), 2);
  assert_int_equal (first, 2);
  assert_int_equal (fab_graph_link (graph, 1)->rate_bytes_per_s, 50);
  assert_int_equal (fab_graph_link (graph, 1)->latency_ps, 10);
  assert_int_equal (fab_graph_link (graph, 2)->rate_bytes_per_s, 100);
  fab_graph_check (graph);
}

/* 12.5 GB/s are 100 Gb/s, 15 MB/s 120 Mb/s. */
static void
links_are_called_after_a_rate_of_their_own (G_GNUC_UNUSED void **state)
{
  const FabLinkClass set = { .name = "wire", .set_bytes_per_s = 12500000000 },
                     slow = { .name = "wire", .set_bytes_per_s = 15000000 };
  g_autofree char *plain_label = fab_link_class_label (&plain_class),
                  *set_label = fab_link_class_label (&set), *slow_label = fab_link_class_label (&slow);

  assert_string_equal (plain_label, "wire");
  assert_string_equal (set_label, "wire at 100 Gb/s");
  assert_string_equal (slow_label, "wire at 120 Mb/s");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (links_are_numbered_by_source),
    cmocka_unit_test (every_link_has_the_reverse_it_was_joined_with),
    cmocka_unit_test (a_bundle_adds_rates_and_not_latencies),
    cmocka_unit_test (names_say_node_part_and_number),
    cmocka_unit_test (parts_and_classes_are_kept_once),
    cmocka_unit_test (a_builder_is_empty_after_freezing),
    cmocka_unit_test (links_go_and_the_others_keep_their_order),
    cmocka_unit_test (links_are_called_after_a_rate_of_their_own),
  };

  return cmocka_run_group_tests_name ("graph", tests, NULL, NULL);
}
