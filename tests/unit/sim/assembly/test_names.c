/* SPDX-License-Identifier: Apache-2.0 */
/* test_names.c - parts of a machine by their names: those that there are, of the kind that is meant, and links that
 * fit a pattern. */
#include "tests/support/test.h"

#include "sim/assembly/names.h"
#include "tests/support/graphs.h"

enum { SWITCHES = 1U << FAB_VERTEX_SWITCH, NICS = 1U << FAB_VERTEX_NIC };

/* Two nodes of an accelerator and a NIC each, and a switch outside: node0/v0, node0/v1, node1/v2, node1/v3, v4. */
static FabGraph *
two_nodes (void)
{
  return graph_of ("0an1an-s",
                   (GraphJoin[]){ { 0, 1, 1, 1 }, { 1, 4, 1, 1 }, { 2, 3, 1, 1 }, { 3, 4, 1, 1 }, { 0 } });
}

static void
parts_are_found_by_name_and_kind (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint kinds;
    FabVertexId vertex;  /* FAB_NO_VERTEX: there is none */
    const char *message; /* NULL: nothing is said */
  } rows[] = {
    { "node0/v0", FAB_NAMES_ALL_KINDS, 0, NULL },
    { "node1/v3", FAB_NAMES_ALL_KINDS, 3, NULL },
    { "node1/v3", NICS, 3, NULL },
    { "v4", SWITCHES, 4, NULL },
    { "v4", NICS | SWITCHES, 4, NULL },
    { "v4", NICS, FAB_NO_VERTEX, "this machine has no part 'v4'; `fabricast topo` shows what it has" },
    { "node0/v0", NICS, FAB_NO_VERTEX, "this machine has no part 'node0/v0'; nearest is 'node0/v1'" },
    { "node1/v33", NICS | SWITCHES, FAB_NO_VERTEX,
      "this machine has no part 'node1/v33'; nearest is 'node1/v3'" },
    { "something else", FAB_NAMES_ALL_KINDS, FAB_NO_VERTEX,
      "this machine has no part 'something else'; `fabricast topo` shows what it has" },
  };
  g_autoptr (FabGraph) graph = two_nodes ();
  g_autoptr (FabNames) names = fab_names_new (graph);
  const FabMark mark = { .file = "t", .line = 1, .column = 1, .length = 1 };

  assert_string_equal (fab_names_of (names, 0), "node0/v0");
  assert_string_equal (fab_names_of (names, 4), "v4");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (GError) error = NULL;

    assert_int_equal (fab_names_find (names, rows[i].name, rows[i].kinds, "part", &mark, diagnostics),
                      rows[i].vertex);
    assert_int_equal (fab_diagnostics_check (diagnostics, &error), rows[i].message == NULL);
    if (rows[i].message != NULL && strstr (error->message, rows[i].message) == NULL)
      fail_msg ("%s", error->message);
  }
}

/* A pattern is that of a link with both ends, or of one end. */
static void
links_fit_by_their_name_or_an_end (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *pattern;
    FabVertexId src, dst;
    gboolean fits;
  } rows[] = {
    { "node0/v1 -> v4", 1, 4, TRUE },
    { "node0/v1 -> v4", 4, 1, FALSE },
    { "node0/v1", 1, 4, TRUE },
    { "node0/v1", 4, 1, TRUE },
    { "node0/v1", 3, 4, FALSE },
    { "v4", 3, 4, TRUE },
    { "v4", 2, 3, FALSE },
    { "node?/v? -> v4", 3, 4, TRUE },
    { "* -> node1/v3", 2, 3, TRUE },
    { "* -> node1/v3", 3, 2, FALSE },
    { "*", 0, 1, TRUE },
  };
  g_autoptr (FabGraph) graph = two_nodes ();
  g_autoptr (FabNames) names = fab_names_new (graph);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
      const FabLink *link = fab_graph_link (graph, id);

      if (link->src == rows[i].src && link->dst == rows[i].dst)
        assert_int_equal (fab_names_link_fits (names, id, rows[i].pattern), rows[i].fits);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parts_are_found_by_name_and_kind),
    cmocka_unit_test (links_fit_by_their_name_or_an_end),
  };

  return cmocka_run_group_tests_name ("names", tests, NULL, NULL);
}
