/* SPDX-License-Identifier: Apache-2.0 */
/* test_path.c - fewest links, then the widest, never through an accelerator. Random: prop_path.c. */
#include "tests/support/test.h"

#include "sim/fabric/path_finder.h"
#include "tests/support/graphs.h"

/* The vertices on the way from src to dst, "0 3 1"; NULL when there is no path. */
static char *
way (const FabGraph *graph, FabVertexId src, FabVertexId dst)
{
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);
  g_autoptr (GString) text = g_string_new (NULL);
  FabPath path = { 0 };

  if (!fab_path_finder_append (finder, src, dst, &path))
    return NULL;
  g_string_append_printf (text, "%u", src);
  for (guint i = 0; i < path.n; i++)
    g_string_append_printf (text, " %u", fab_graph_link (graph, path.links[i])->dst);
  return g_strdup (text->str);
}

/* 0 - 2 - 1 at 1 byte/s, 0 - 3 - 4 - 1 at 100: two links win over three, however slow. */
static void
fewest_links_win (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "aasss",
      (GraphJoin[]){
          { 0, 2, 1, 1 }, { 2, 1, 1, 1 }, { 0, 3, 100, 1 }, { 3, 4, 100, 1 }, { 4, 1, 100, 1 }, { 0 } });
  g_autofree char *found = way (graph, 0, 1);

  assert_string_equal (found, "0 2 1");
}

/* Bottlenecks: through 2 min (50, 3) = 3, through 3 min (9, 8) = 8, through 4 min (2, 50) = 2. */
static void
of_equal_length_the_widest_bottleneck_wins (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("aasss", (GraphJoin[]){ { 0, 2, 50, 1 },
                                                                 { 2, 1, 3, 1 },
                                                                 { 0, 3, 9, 1 },
                                                                 { 3, 1, 8, 1 },
                                                                 { 0, 4, 2, 1 },
                                                                 { 4, 1, 50, 1 },
                                                                 { 0 } });
  g_autofree char *there = way (graph, 0, 1), *back = way (graph, 1, 0);

  assert_string_equal (there, "0 3 1");
  assert_string_equal (back, "1 3 0");
}

static void
of_equal_width_the_lowest_middle_wins (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "aass", (GraphJoin[]){ { 0, 3, 5, 1 }, { 3, 1, 5, 1 }, { 0, 2, 5, 1 }, { 2, 1, 5, 1 }, { 0 } });
  g_autofree char *found = way (graph, 0, 1);

  assert_string_equal (found, "0 2 1");
}

/* 0 - 2 - 1 would be shortest, but 2 is an accelerator and forwards nothing. */
static void
accelerators_are_ends_only (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) around = graph_of (
      "aaass",
      (GraphJoin[]){ { 0, 2, 9, 1 }, { 2, 1, 9, 1 }, { 0, 3, 1, 1 }, { 3, 4, 1, 1 }, { 4, 1, 1, 1 }, { 0 } });
  g_autoptr (FabGraph) no_way = graph_of ("aaa", (GraphJoin[]){ { 0, 2, 9, 1 }, { 2, 1, 9, 1 }, { 0 } });
  g_autofree char *found = way (around, 0, 1), *to_accelerator = way (around, 0, 2);

  assert_string_equal (found, "0 3 4 1");
  assert_string_equal (to_accelerator, "0 2");
  assert_null (way (no_way, 0, 1));
}

static void
nothing_leads_from_a_vertex_to_itself (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("aa", (GraphJoin[]){ { 0, 1, 1, 1 }, { 0 } });
  g_autofree char *found = way (graph, 1, 1);

  assert_string_equal (found, "1");
}

/* A chain of 65 links does not fit the 64 of a path, one of 64 does; nothing is appended otherwise. */
static void
a_path_that_does_not_fit_is_none (G_GNUC_UNUSED void **state)
{
  GraphJoin joins[66] = { 0 };
  FabPath path = { 0 };
  char kinds[67] = { 0 };

  for (guint i = 0; i < 65; i++)
    joins[i] = (GraphJoin){ i, i + 1, 1, 1 };
  memset (kinds, 's', 66);
  g_autoptr (FabGraph) graph = graph_of (kinds, joins);
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);
  assert_false (fab_path_finder_append (finder, 0, 65, &path));
  assert_int_equal (path.n, 0);
  assert_true (fab_path_finder_append (finder, 0, 64, &path));
  assert_int_equal (path.n, 64);
  assert_false (fab_path_finder_append (finder, 64, 65, &path));
  assert_int_equal (path.n, 64);
}

/* Two links of 10 ps each; min (9, 8) over the cost 1.25 of copies, or 1 of kernels. */
static void
latency_adds_and_the_slowest_link_is_the_rate (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("aas", (GraphJoin[]){ { 0, 2, 9, 1 }, { 2, 1, 8, 1 }, { 0 } });
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (graph);
  FabPath path = { 0 };

  assert_true (fab_path_finder_append (finder, 0, 1, &path));
  assert_int_equal (fab_path_latency_ps (graph, &path), 20);
  assert_near (fab_path_rate_bytes_per_s (graph, &path, FAB_DRIVE_COPY), 6.4, 1e-15);
  assert_near (fab_path_rate_bytes_per_s (graph, &path, FAB_DRIVE_KERNEL), 8, 1e-15);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (fewest_links_win),
    cmocka_unit_test (of_equal_length_the_widest_bottleneck_wins),
    cmocka_unit_test (of_equal_width_the_lowest_middle_wins),
    cmocka_unit_test (accelerators_are_ends_only),
    cmocka_unit_test (nothing_leads_from_a_vertex_to_itself),
    cmocka_unit_test (a_path_that_does_not_fit_is_none),
    cmocka_unit_test (latency_adds_and_the_slowest_link_is_the_rate),
  };

  return cmocka_run_group_tests_name ("path", tests, NULL, NULL);
}
