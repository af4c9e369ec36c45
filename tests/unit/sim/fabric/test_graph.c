/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - what was joined is what is frozen: rows, reverses, names, bundles. */
#include "tests/support/test.h"

#include "sim/fabric/graph.h"
#include "tests/support/graphs.h"

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
  assert_int_equal (fab_graph_builder_part (builder, "gpu", FALSE), 2);
  assert_int_equal (fab_graph_builder_part (builder, "nic", TRUE), 1);
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
  fab_graph_builder_free (NULL);
  fab_graph_free (NULL);
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
                     slow = { .name = "wire", .set_bytes_per_s = 15000000 },
                     giga = { .name = "wire", .set_bytes_per_s = 125000000 };
  g_autofree char *plain_label = fab_link_class_label (&plain_class),
                  *set_label = fab_link_class_label (&set), *slow_label = fab_link_class_label (&slow),
                  *giga_label = fab_link_class_label (&giga);

  assert_string_equal (plain_label, "wire");
  assert_string_equal (set_label, "wire at 100 Gb/s");
  assert_string_equal (slow_label, "wire at 120 Mb/s");
  assert_string_equal (giga_label, "wire at 1 Gb/s");
}

/* Links that differ in one thing alone stay apart, however many others are joined between them: 100 x 2 and 200 x 1
 * have one rate in sum. */
static void
links_that_are_nearly_alike_stay_apart (G_GNUC_UNUSED void **state)
{
  static const FabLinkClass classes[] = { { .name = "one", .cost = { 1, 1, 1 } },
                                          { .name = "other", .cost = { 1, 1, 1 } } };
  enum { N = 80 };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE);
  FabLinkForm forms[N];

  for (guint i = 0; i < 4; i++)
    assert_int_equal (fab_graph_builder_class (builder, &classes[i % 2]), i % 2);
  for (guint i = 0; i <= N; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (guint i = 0; i < N; i++) {
    guint count = 1 + i % 2;

    forms[i] = (FabLinkForm){ (200 + i / 16 * 2) / count, 5 + i / 2 % 2, i / 4 % 2, count };
    if (i / 8 % 2)
      fab_graph_builder_join_groups (builder, i, i + 1, &forms[i]);
    else
      fab_graph_builder_join (builder, i, i + 1, &forms[i]);
  }
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  for (FabLinkId id = 0; id < 2 * N; id++) {
    const FabLink *link = fab_graph_link (graph, id);
    guint i = MIN (link->src, link->dst);

    assert_int_equal (link->rate_bytes_per_s, forms[i].rate_bytes_per_s * forms[i].count);
    assert_int_equal (link->latency_ps, forms[i].latency_ps);
    assert_int_equal (link->count, forms[i].count);
    assert_int_equal (link->class_index, forms[i].class_index);
    assert_int_equal (link->joins_groups, i / 8 % 2);
  }
}

/* The first of the vertices that cannot be reached from vertex 0 is lost. */
static void
parts_of_a_graph_are_found (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphJoin joins[4];
    FabVertexId lost; /* FAB_NO_VERTEX: none is */
  } rows[] = {
    { "", { { 0 } }, FAB_NO_VERTEX },
    { "s", { { 0 } }, FAB_NO_VERTEX },
    { "ss", { { 0 } }, 1 },
    { "sss", { { 0, 2, 1, 1 } }, 1 },
    { "sss", { { 0, 2, 1, 1 }, { 2, 1, 1, 1 } }, FAB_NO_VERTEX },
    { "ssss", { { 1, 0, 1, 1 }, { 2, 3, 1, 1 } }, 2 },
    { "sss", { { 1, 0, 1, 1 }, { 1, 2, 1, 1 }, { 0, 2, 1, 1 } }, FAB_NO_VERTEX },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);
    FabVertexId lost = FAB_NO_VERTEX;

    assert_int_equal (fab_graph_is_connected (graph, &lost), rows[i].lost == FAB_NO_VERTEX);
    if (rows[i].lost != FAB_NO_VERTEX)
      assert_int_equal (lost, rows[i].lost);
  }
}

static void
switches_with_nics_are_known (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("-sss0nna", (GraphJoin[]){ { 0, 1, 1, 1 },
                                                                    { 0, 3, 1, 1 },
                                                                    { 1, 5, 1, 1 },
                                                                    { 2, 1, 1, 1 },
                                                                    { 2, 5, 1, 1 },
                                                                    { 4, 2, 1, 1 },
                                                                    { 0 } });
  static const gboolean have[] = { TRUE, FALSE, TRUE, FALSE, FALSE, FALSE };

  for (FabVertexId vertex = 0; vertex < G_N_ELEMENTS (have); vertex++)
    assert_int_equal (fab_graph_has_nic (graph, vertex), have[vertex]);
  assert_string_equal (fab_graph_vertex_part (graph, 3), "v");
  assert_string_equal (fab_graph_link_class (graph, 0)->technology->name, fab_technology_unnamed.name);
}

static void
a_lattice_is_what_the_fabric_says (G_GNUC_UNUSED void **state)
{
  const FabLattice lattice = { .first = 7, .sizes = { 2, 3, 4 }, .is_open = { FALSE, TRUE, FALSE } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();

  g_autoptr (FabGraph) before = fab_graph_builder_freeze (builder);
  fab_graph_builder_lattice (builder, &lattice);
  g_autoptr (FabGraph) with = fab_graph_builder_freeze (builder), after = fab_graph_builder_freeze (builder);
  assert_null (fab_graph_lattice (before));
  assert_memory_equal (fab_graph_lattice (with), &lattice, sizeof lattice);
  assert_null (fab_graph_lattice (after));
}

/* A rate is rounded to the next byte, and none is left without a byte. */
static void
rates_that_change_are_rounded (G_GNUC_UNUSED void **state)
{
  static const struct {
    double fraction;
    FabBytesPerS rate;
  } rows[] = { { 0.004, 1 }, { 0.0001, 1 }, { 0.254, 25 }, { 0.255, 26 }, { 0.016, 2 }, { 1, 100 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of ("ss", (GraphJoin[]){ { 0, 1, 100, 1 }, { 0 } });
    const FabLinkChange changes[] = { { rows[i].fraction, 0 }, { 1, 9 } };

    fab_graph_change (graph, changes);
    assert_int_equal (fab_graph_link (graph, 0)->rate_bytes_per_s, rows[i].rate);
    assert_int_equal (fab_graph_link (graph, 1)->rate_bytes_per_s, 100);
    assert_int_equal (fab_graph_link (graph, 1)->latency_ps, 19);
  }
}

/* Vertices that lose all of their links: the first, one in the middle and the last. */
static void
vertices_may_lose_all_links (G_GNUC_UNUSED void **state)
{
  enum { N = 4 };

  for (FabVertexId lost = 0; lost < N; lost++) {
    g_autoptr (FabGraph) graph = graph_of ("ssss", (GraphJoin[]){ { 0, 1, 1, 1 },
                                                                  { 0, 2, 1, 1 },
                                                                  { 0, 3, 1, 1 },
                                                                  { 1, 2, 1, 1 },
                                                                  { 1, 3, 1, 1 },
                                                                  { 2, 3, 1, 1 },
                                                                  { 0 } });
    FabLinkChange changes[N * (N - 1)];

    for (FabLinkId id = 0; id < N * (N - 1); id++)
      changes[id] = (FabLinkChange){
        fab_graph_link (graph, id)->src != lost && fab_graph_link (graph, id)->dst != lost, 0
      };
    fab_graph_change (graph, changes);
    assert_int_equal (fab_graph_n_links (graph), (N - 1) * (N - 2));
    for (FabVertexId vertex = 0; vertex < N; vertex++) {
      FabLinkId first;

      assert_int_equal (fab_graph_out_links (graph, vertex, &first), vertex == lost ? 0 : N - 2);
      for (FabLinkId id = first; vertex != lost && id < first + N - 2; id++) {
        const FabLink *link = fab_graph_link (graph, id);

        assert_int_equal (link->src, vertex);
        assert_true (link->dst != lost);
        assert_int_equal (fab_graph_link (graph, link->reverse)->dst, vertex);
        assert_int_equal (fab_graph_link (graph, link->reverse)->reverse, id);
      }
    }
  }
}

/* One way: 10 ps and 1 byte per ps up to 100 bytes, then 40 ps and 2 bytes per ps; both ways 30 ps and half a byte per
 * ps up to 50 bytes, and beyond. A size that no row has takes the last one. */
static void
messages_take_what_their_regime_says (G_GNUC_UNUSED void **state)
{
  static const FabBytesPerS s = FAB_PS_PER_S;
  static const FabMessageRegime regimes[] = { { FAB_WAY_ONE, 100, 10, s },
                                              { FAB_WAY_BOTH, 50, 30, s / 2 },
                                              { FAB_WAY_ONE, 0, 40, 2 * s } };
  static const struct {
    FabMessageWay way;
    double bytes, port_bytes, factor, rate_change;
    FabTimePs ps;
  } rows[] = {
    { FAB_WAY_ONE, 100, 100, 1, 0, 110 },
    { FAB_WAY_ONE, 100.5, 100.5, 1, 0, 91 },
    { FAB_WAY_ONE, 102, 102, 1, 0, 91 },
    { FAB_WAY_BOTH, 50, 50, 1, 0, 130 },
    { FAB_WAY_BOTH, 60, 60, 1, 0, 150 },
    { FAB_WAY_ONE, 100, 250, 1, 0, 260 },
    { FAB_WAY_ONE, 100, 100, 1.5, 0, 165 },
    { FAB_WAY_ONE, 100, 100, 1, 1, 60 },
    { FAB_WAY_ONE, 100, 100, 1, -0.5, 210 },
    { FAB_WAY_ONE, 0, 0, 1, 0, 10 },
    { FAB_WAY_ONE, 1e30, 1e30, 1, 0, FAB_TIME_MAX },
    { FAB_WAY_ONE, 0x1p64, 0x1p64, 1, 0, FAB_TIME_MAX }, /* 2^63 ps */
  };
  static const FabMessageRegime one_way[] = { { FAB_WAY_ONE, 100, 10, s } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabMessages messages = {
      regimes, G_N_ELEMENTS (regimes), rows[i].factor, rows[i].rate_change, 0, 0
    };

    assert_int_equal (fab_message_among_ps (&messages, rows[i].way, rows[i].bytes, rows[i].port_bytes),
                      rows[i].ps);
    if (rows[i].bytes == rows[i].port_bytes)
      assert_int_equal (fab_message_ps (&messages, rows[i].way, rows[i].bytes), rows[i].ps);
  }
  assert_int_equal (fab_message_ps (&(FabMessages){ one_way, 1, 1, 0, 0, 0 }, FAB_WAY_BOTH, 20), 30);
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
    cmocka_unit_test (links_that_are_nearly_alike_stay_apart),
    cmocka_unit_test (parts_of_a_graph_are_found),
    cmocka_unit_test (switches_with_nics_are_known),
    cmocka_unit_test (a_lattice_is_what_the_fabric_says),
    cmocka_unit_test (rates_that_change_are_rounded),
    cmocka_unit_test (vertices_may_lose_all_links),
    cmocka_unit_test (messages_take_what_their_regime_says),
  };

  return cmocka_run_group_tests_name ("graph", tests, NULL, NULL);
}
