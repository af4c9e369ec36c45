/* SPDX-License-Identifier: Apache-2.0 */
/* test_bills.c - published counts beside those of graphs: what is compared, and what pages say of it. */
#include "validate/bills/bills.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

/* --- what is compared --- */

/* Every number that a table of the catalogue says is compared, once, with its own count; 0 is not said, but a table
 * that counts spines and no cores says that there are none. A design is built of so many GPUs as its nodes have. */
static void
every_number_is_compared (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_DESIGNS);
  guint n_rows = 0;

  for (guint d = 0; names[d] != NULL; d++) {
    const FabDesignSpec *design = fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, names[d]);
    const FabDesignCounts *rows = design->counts.data;
    g_autoptr (GPtrArray) designs = g_ptr_array_new ();
    g_autoptr (GError) error = NULL;
    guint at = 0;

    g_ptr_array_add (designs, (gpointer) design);
    g_autoptr (GArray) cells = fab_bills_compare (designs, catalog, &fab_models, &error);
    if (cells == NULL)
      fail_msg ("%s", error->message);
    g_auto (GStrv) exceeded = fab_bills_exceeded (cells);
    assert_int_equal (g_strv_length (exceeded), 0);
    for (guint r = 0; r < design->counts.n; r++, n_rows++) {
      const FabDesignCounts *row = &rows[r];
      const struct {
        const char *what;
        gint64 published;
        gboolean is_said;
      } said[] = {
        { "gpus", row->accelerators, row->accelerators > 0 },
        { "leaves", row->leaves, row->leaves > 0 },
        { "spines", row->spines, row->spines > 0 },
        { "cores", row->cores, row->spines > 0 },
        { "switches", row->switches, row->switches > 0 },
        { "node_cables", row->node_cables, row->node_cables > 0 },
        { "leaf_cables", row->leaf_cables, row->leaf_cables > 0 },
        { "spine_cables", row->spine_cables, row->spine_cables > 0 },
        { "switch_optics", row->switch_optics, row->switch_optics > 0 },
        { "node_optics", row->node_optics, row->node_optics > 0 },
      };

      for (guint k = 0; k < G_N_ELEMENTS (said); k++) {
        const FabBillCell *cell = &g_array_index (cells, FabBillCell, at);

        if (!said[k].is_said)
          continue;
        assert_true (at++ < cells->len);
        assert_ptr_equal (cell->design, design);
        assert_ptr_equal (cell->row, row);
        assert_string_equal (cell->what, said[k].what);
        assert_int_equal (cell->published, said[k].published);
        if (!row->is_unchecked)
          assert_int_equal (cell->ours, said[k].published);
      }
    }
    assert_int_equal (at, cells->len);
  }
  assert_true (n_rows > 10);
}

/* A single leaf, cable or part is said as well as many; what a table does not say has no cell. */
static void
numbers_of_one_are_compared (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "gpus",          "leaves",      "spines",      "cores",
                                       "switches",      "node_cables", "leaf_cables", "spine_cables",
                                       "switch_optics", "node_optics" };
  g_autofree const char **all = fab_catalog_names (catalog, FAB_SECTION_DESIGNS);
  const FabDesignSpec *known = fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, all[0]);
  const FabDesignCounts *row = known->counts.data;

  for (gint number = 0; number < 2; number++) {
    FabDesignCounts counts = { .units = row->units,
                               .nodes = row->nodes,
                               .table = "table 1",
                               .accelerators = number,
                               .leaves = number,
                               .spines = number,
                               .cores = number,
                               .switches = number,
                               .node_cables = number,
                               .leaf_cables = number,
                               .spine_cables = number,
                               .switch_optics = number,
                               .node_optics = number };
    FabDesignSpec design = *known;
    g_autoptr (GPtrArray) designs = g_ptr_array_new ();
    g_autoptr (GError) error = NULL;

    design.counts = (FabParamList){ &counts, 1 };
    g_ptr_array_add (designs, &design);
    g_autoptr (GArray) cells = fab_bills_compare (designs, catalog, &fab_models, &error);
    if (cells == NULL)
      fail_msg ("%s", error->message);
    assert_int_equal (cells->len, number * G_N_ELEMENTS (names));
    for (guint i = 0; i < cells->len; i++) {
      assert_string_equal (g_array_index (cells, FabBillCell, i).what, names[i]);
      assert_int_equal (g_array_index (cells, FabBillCell, i).published, 1);
    }
  }
}

/* --- pages --- */

static const FabDesignSpec
    pod = { .name = "pod", .summary = "A pod", .unit_nodes = 20, .source = "s1", .date = "d1" },
    hall = { .name = "hall", .summary = "A hall", .unit_nodes = 3, .source = "s2", .date = "d2" };
static const FabDesignCounts one = { .units = 1, .table = "table 1" },
                             two = { .units = 2, .nodes = 37, .table = "table 2", .is_unchecked = TRUE },
                             three = { .units = 4, .nodes = 1, .table = "table 3" };

/* As many, two more, three fewer; two of a row that nobody could check; and one that is off. */
static const FabBillCell some[] = { { &pod, &one, "gpus", 160, 160 },      { &pod, &one, "leaves", 8, 8 },
                                    { &pod, &one, "node_optics", 5, 5 },   { &pod, &two, "spines", 4, 6 },
                                    { &pod, &two, "switch_optics", 9, 6 }, { &hall, &three, "cores", 0, 1 },
                                    { &hall, &three, "leaf_cables", 7, 6 } };

static GArray *
some_cells (guint n)
{
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (FabBillCell));

  g_array_append_vals (cells, some, n);
  return cells;
}

/* What is unchecked is no mistake. */
static void
numbers_that_differ (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) cells = some_cells (G_N_ELEMENTS (some));
  g_auto (GStrv) lines = fab_bills_exceeded (cells);

  assert_int_equal (g_strv_length (lines), 2);
  assert_string_equal (lines[0], "hall, 4 units, table 3: cores is 1, and the document says 0");
  assert_string_equal (lines[1], "hall, 4 units, table 3: leaf_cables is 6, and the document says 7");
}

/* The text without the spaces that set its columns. (transfer full) */
static char *
squeezed (const char *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \v", -1);
  GString *out = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      g_string_append_printf (out, "%s ", words[i]);
  return g_string_free (out, FALSE);
}

/* A row has a cell of each count that its table says, with how many more the graph has; and as many nodes as the table
 * says, or as its units have. */
static void
pages_have_every_row (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) cells = some_cells (G_N_ELEMENTS (some));
  g_autofree char *text = fab_bills_to_text (cells), *squeezed_text = squeezed (text),
                  *markdown = fab_bills_to_markdown (cells), *csv = fab_bills_to_csv (cells),
                  *json = fab_bills_to_json (cells);
  static const char sum[] =
      "3 of 5 published numbers are equal to ours. 2 more could not be checked, and are not among "
      "them.\n";

  assert_string_equal (
      squeezed_text,
      "pod: published (difference)\n units nodes GPUs leaves spines cores switches node-leaf leaf-spine spine-core "
      "optics in switches in nodes table\n "
      "1 20 160 (0) 8 (0) - - - - - - - 5 (0) table 1\n "
      "2 37 - - 4 (+2) - - - - - 9 (-3) - table 2, not checked\n\n"
      "hall: published (difference)\n units nodes GPUs leaves spines cores switches node-leaf leaf-spine spine-core "
      "optics in switches in nodes table\n "
      "4 1 - - - 0 (+1) - - 7 (-1) - - - table 3\n\n"
      "3 of 5 published numbers are equal to ours. 2 more could not be checked, and are not among them.\n ");
  assert_has (markdown, "\n\n3 of 5 published numbers ");
  assert_has (markdown, sum);
  assert_has (
      markdown,
      "\n## pod\n\nA pod. Source: s1 (read on d1).\n\n"
      "| units | nodes | GPUs | leaves | spines | cores | switches | node-leaf | leaf-spine | spine-core | optics in "
      "switches | in nodes | table |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
      "| 1 | 20 | 160 (0) | 8 (0) | - | - | - | - | - | - | - | 5 (0) | table 1 |\n"
      "| 2 | 37 | - | - | 4 (+2) | - | - | - | - | - | 9 (-3) | - | table 2, not checked |\n"
      "\n## hall\n\nA hall. Source: s2 (read on d2).\n\n");
  assert_true (g_str_has_suffix (
      markdown, "\n| 4 | 1 | - | - | - | 0 (+1) | - | - | 7 (-1) | - | - | - | table 3 |\n"));
  assert_string_equal (csv,
                       "design,units,nodes,count,published,ours,difference,is_checked,table,source,date\n"
                       "pod,1,20,gpus,160,160,0,yes,table 1,s1,d1\n"
                       "pod,1,20,leaves,8,8,0,yes,table 1,s1,d1\n"
                       "pod,1,20,node_optics,5,5,0,yes,table 1,s1,d1\n"
                       "pod,2,37,spines,4,6,2,no,table 2,s1,d1\n"
                       "pod,2,37,switch_optics,9,6,-3,no,table 2,s1,d1\n"
                       "hall,4,1,cores,0,1,1,yes,table 3,s2,d2\n"
                       "hall,4,1,leaf_cables,7,6,-1,yes,table 3,s2,d2\n");
  assert_has (json, "\"node_optics\"");
}

/* Where all is checked, the page says nothing of what is not. */
static void
all_is_checked (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) cells = some_cells (3);
  g_autofree char *text = fab_bills_to_text (cells), *markdown = fab_bills_to_markdown (cells);

  assert_true (g_str_has_suffix (text, "\n3 of 3 published numbers are equal to ours.\n"));
  assert_has (markdown, "\n3 of 3 published numbers are equal to ours.\n\n## pod\n");
  g_autoptr (GArray) more = some_cells (4); /* one that is not */
  g_autofree char *of_more = fab_bills_to_text (more);
  assert_true (
      g_str_has_suffix (of_more, " equal to ours. 1 more could not be checked, and are not among them.\n"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_number_is_compared), cmocka_unit_test (numbers_of_one_are_compared),
    cmocka_unit_test (numbers_that_differ),      cmocka_unit_test (pages_have_every_row),
    cmocka_unit_test (all_is_checked),
  };

  return play_run_tests ("bills", tests, &catalog);
}
