/* SPDX-License-Identifier: Apache-2.0 */
/* test_reach.c - distances inside a node, in the words of nvidia-smi. */
#include "tests/support/test.h"

#include "sim/fabric/path_finder.h"
#include "sim/fabric/reach.h"
#include "tests/support/technologies.h"

typedef struct {
  FabVertexKind kind;              /* of the vertex that this link leads to */
  const FabTechnology *technology; /* of the link */
} Stop;

/* A chain of vertices from an accelerator on. */
static FabReach
reach_of (const Stop *stops, guint n)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE);
  FabVertexId here = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, part, 0), first = here;
  FabPath path = { 0 };

  for (guint i = 0; i < n; i++) {
    FabLinkClass link_class = { .name = stops[i].technology->name,
                                .technology = stops[i].technology,
                                .cost = { 1, 1, 1 } };
    FabLinkForm form = { 1, 0, fab_graph_builder_class (builder, &link_class), 1 };
    FabVertexId next = fab_graph_builder_vertex (builder, stops[i].kind, 0, part, i + 1);

    fab_graph_builder_join (builder, here, next, &form);
    here = next;
  }
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  FabPathFinder *finder = fab_path_finder_new (graph);
  assert_true (fab_path_finder_append (finder, first, here, &path));
  fab_path_finder_free (finder);
  return fab_reach_of_path (graph, &path);
}

#define REACH(...) \
  reach_of ((const Stop[]){ __VA_ARGS__ }, sizeof ((const Stop[]){ __VA_ARGS__ }) / sizeof (Stop))

static const Stop plx = { FAB_VERTEX_SWITCH, &test_pcie }, bridge = { FAB_VERTEX_BRIDGE, &test_pcie },
                  socket = { FAB_VERTEX_HOST, &test_pcie }, inner = { FAB_VERTEX_HOST, &test_memory },
                  other_socket = { FAB_VERTEX_HOST, &test_upi }, gpu = { FAB_VERTEX_ACCELERATOR, &test_pcie },
                  nic = { FAB_VERTEX_NIC, &test_pcie }, peer = { FAB_VERTEX_ACCELERATOR, &test_nvlink },
                  nvswitch = { FAB_VERTEX_SWITCH, &test_nvlink },
                  xgmi = { FAB_VERTEX_ACCELERATOR, &test_xgmi }, grace = { FAB_VERTEX_HOST, &test_c2c },
                  inner_bridge = { FAB_VERTEX_BRIDGE, &test_memory };

static void
accelerator_links_are_nearest (G_GNUC_UNUSED void **state)
{
  assert_int_equal (REACH (peer), FAB_REACH_NVL);
  assert_int_equal (REACH (nvswitch, peer), FAB_REACH_NVL);
  assert_int_equal (REACH (xgmi), FAB_REACH_NVL);
}

static void
switches_and_bridges_are_counted (G_GNUC_UNUSED void **state)
{
  assert_int_equal (REACH (gpu), FAB_REACH_PIX);
  assert_int_equal (REACH (plx, nic), FAB_REACH_PIX);
  assert_int_equal (REACH (plx, plx, nic), FAB_REACH_PXB);
  assert_int_equal (REACH (plx, socket, plx, nic), FAB_REACH_PHB);
  assert_int_equal (REACH (plx, bridge, plx, gpu), FAB_REACH_PHB);
  assert_int_equal (REACH (bridge, inner, nic), FAB_REACH_PHB);
  assert_int_equal (REACH (plx, socket, nic), FAB_REACH_PHB);
  assert_int_equal (REACH (bridge, inner, inner_bridge, gpu), FAB_REACH_NODE);
  assert_int_equal (REACH (socket, other_socket, gpu), FAB_REACH_SYS);
}

/* The socket at the end of a coherent link is the GPU's own, not a bridge on the way; the next one is. */
static void
a_coherent_link_makes_its_socket_near (G_GNUC_UNUSED void **state)
{
  assert_int_equal (REACH (grace, nic), FAB_REACH_PXB);
  assert_int_equal (REACH (grace, bridge, plx, nic), FAB_REACH_PXB);
  assert_int_equal (REACH (grace, other_socket, nic), FAB_REACH_SYS);
}

/* Accelerator 0 on host 1, accelerator 3 on host 2, and a link that splits packets between the hosts: bytes that pass a
 * host lose by it, those that end there do not. It lets no devices reach each other's memory. */
static void
what_passes_a_socket_loses_by_its_links (G_GNUC_UNUSED void **state)
{
  static const FabTechnology split = { .name = "Split", .host_stretch = 1.25 };
  static const FabTechnology *const technologies[] = { &test_pcie, &split, &test_pcie };
  static const FabVertexKind kinds[] = { FAB_VERTEX_ACCELERATOR, FAB_VERTEX_HOST, FAB_VERTEX_HOST,
                                         FAB_VERTEX_ACCELERATOR };
  static const double stretches[4][4] = {
    { 1, 1, 1.25, 1.25 }, { 1, 1, 1, 1.25 }, { 1.25, 1, 1, 1 }, { 1.25, 1.25, 1, 1 }
  };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE);

  for (guint i = 0; i < 4; i++)
    fab_graph_builder_vertex (builder, kinds[i], 0, part, i);
  for (guint i = 0; i < 3; i++) {
    FabLinkClass link_class = { .name = technologies[i]->name,
                                .technology = technologies[i],
                                .cost = { 1, 1, 1 } };

    fab_graph_builder_join (builder, i, i + 1,
                            &(FabLinkForm){ 1, 0, fab_graph_builder_class (builder, &link_class), 1 });
  }
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);
  for (FabVertexId src = 0; src < 4; src++)
    for (FabVertexId dst = 0; dst < 4; dst++) {
      FabPath path = { 0 };

      assert_true (fab_path_finder_append (finder, src, dst, &path));
      assert_near (fab_path_host_stretch (graph, &path), stretches[src][dst], 0);
      assert_int_equal (fab_reach_of_path (graph, &path) == FAB_REACH_NONE, src == dst);
      assert_int_equal (fab_path_has_p2p (graph, &path), MIN (src, dst) >= 2 || MAX (src, dst) < 2);
    }
}

static void
names_parse_back (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < FAB_N_REACHES; i++) {
    FabReach reach;

    assert_true (fab_reach_parse (fab_reach_names[i], &reach));
    assert_int_equal (reach, i);
    assert_false (fab_reach_parse ("nvb", &reach));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (accelerator_links_are_nearest),
    cmocka_unit_test (switches_and_bridges_are_counted),
    cmocka_unit_test (a_coherent_link_makes_its_socket_near),
    cmocka_unit_test (what_passes_a_socket_loses_by_its_links),
    cmocka_unit_test (names_parse_back),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
