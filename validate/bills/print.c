/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - counts of designs as text, CSV, JSON and as docs/reference/validation-bills.md. */
#include "sim/result/table.h"
#include "validate/bills/bills.h"

static const char page_head[] =
    "# Do bills match the published ones\n"
    "\n"
    "`fabricast validate bills --format markdown` writes this page, and a test keeps it up to date. It fails when a\n"
    "number differs from that of the document.\n"
    "\n"
    "Each row is a row of a published table. A cell is `published (difference)`: what the document says, and how many\n"
    "more the graph has that Fabricast builds of the design and simulates on. `-`: the table does not say it.\n"
    "Transceivers share links as the design says: two links in one twin-port module.\n"
    "\n"
    "Cables to fabric managers are counted where the table does so. Racks and the networks for storage and management\n"
    "are not built as graphs; [a bill](../how-to/designs.md) lists them as published.\n";

static const char *const keys[] = { "gpus",          "leaves",      "spines",      "cores",
                                    "switches",      "node_cables", "leaf_cables", "spine_cables",
                                    "switch_optics", "node_optics" };

static const char *const heads[] = { "GPUs",       "leaves",     "spines",
                                     "cores",      "switches",   "node-leaf",
                                     "leaf-spine", "spine-core", "optics in switches",
                                     "in nodes" };

static const char *const columns[] = { "design",     "units",      "nodes", "count",  "published", "ours",
                                       "difference", "is_checked", "table", "source", "date",      NULL };

static gint64
nodes_of (const FabBillCell *cell)
{
  return cell->row->nodes > 0 ? cell->row->nodes : cell->row->units * cell->design->unit_nodes;
}

static FabTable *
table_of (const GArray *cells)
{
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < cells->len; i++) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    fab_table_add_text (table, cell->design->name);
    fab_table_add_integer (table, cell->row->units);
    fab_table_add_integer (table, nodes_of (cell));
    fab_table_add_text (table, cell->what);
    fab_table_add_integer (table, cell->published);
    fab_table_add_integer (table, cell->ours);
    fab_table_add_integer (table, cell->ours - cell->published);
    fab_table_add_text (table, cell->row->is_unchecked ? "no" : "yes");
    fab_table_add_text (table, cell->row->table);
    fab_table_add_text (table, cell->design->source);
    fab_table_add_text (table, cell->design->date);
  }
  return table;
}

char *
fab_bills_to_csv (const GArray *cells)
{
  g_autoptr (FabTable) table = table_of (cells);

  return fab_table_to_csv (table);
}

char *
fab_bills_to_json (const GArray *cells)
{
  g_autoptr (FabTable) table = table_of (cells);

  return fab_table_to_json (table);
}

/* --- rows of tables --- */

/* One past the last cell of the row that begins at `from`. */
static guint
end_of_row (const GArray *cells, guint from)
{
  guint end = from;

  while (end < cells->len
         && g_array_index (cells, FabBillCell, end).row == g_array_index (cells, FabBillCell, from).row)
    end++;
  return end;
}

/* "1024 (0)", "-". (transfer full) */
static char *
shown (const GArray *cells, guint from, guint end, const char *key)
{
  for (guint i = from; i < end; i++) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    if (g_strcmp0 (cell->what, key) == 0)
      return g_strdup_printf ("%" G_GINT64_FORMAT " (%s%" G_GINT64_FORMAT ")", cell->published,
                              cell->ours > cell->published ? "+" : "", cell->ours - cell->published);
  }
  return g_strdup ("-");
}

/* Adds the cells of a row behind its units and nodes. `is_page`: as Markdown. */
static void
append_cells (GString *text, const GArray *cells, guint from, guint end, gboolean is_page)
{
  const FabBillCell *first = &g_array_index (cells, FabBillCell, from);

  for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
    g_autofree char *cell = shown (cells, from, end, keys[k]);

    g_string_append_printf (text, is_page ? " %s |" : "\v %11s", cell);
  }
  g_string_append_printf (text, is_page ? " %s%s |" : "\v  %s%s", first->row->table,
                          first->row->is_unchecked ? ", not checked" : "");
}

static void
count_all (const GArray *cells, guint *n_checked, guint *n_equal, guint *n_unchecked)
{
  *n_checked = *n_equal = *n_unchecked = 0;
  for (guint i = 0; i < cells->len; i++) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    *n_unchecked += cell->row->is_unchecked != FALSE;
    *n_checked += !cell->row->is_unchecked;
    *n_equal += !cell->row->is_unchecked && cell->ours == cell->published;
  }
}

static void
append_sum (GString *text, const GArray *cells)
{
  guint n_checked, n_equal, n_unchecked;

  count_all (cells, &n_checked, &n_equal, &n_unchecked);
  g_string_append_printf (text, "%u of %u published numbers are equal to ours.", n_equal, n_checked);
  if (n_unchecked > 0)
    g_string_append_printf (text, " %u more could not be checked, and are not among them.", n_unchecked);
  g_string_append_c (text, '\n');
}

char *
fab_bills_to_text (const GArray *cells)
{
  GString *text = g_string_new (NULL);
  const FabDesignSpec *design = NULL;

  for (guint i = 0, end; i < cells->len; i = end) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    end = end_of_row (cells, i);
    if (cell->design != design) {
      g_string_append_printf (text, "%s%s: published (difference)\n  %6s\v %6s", design != NULL ? "\n" : "",
                              cell->design->name, "units", "nodes");
      for (guint k = 0; k < G_N_ELEMENTS (heads); k++)
        g_string_append_printf (text, "\v %11s", heads[k]);
      g_string_append (text, "\v  table\n");
    }
    design = cell->design;
    g_string_append_printf (text, "  %6" G_GINT64_FORMAT "\v %6" G_GINT64_FORMAT, cell->row->units,
                            nodes_of (cell));
    append_cells (text, cells, i, end, FALSE);
    g_string_append_c (text, '\n');
  }
  g_string_append_c (text, '\n');
  append_sum (text, cells);
  return g_string_free (text, FALSE);
}

static void
append_design (GString *text, const FabDesignSpec *design)
{
  g_string_append_printf (text, "\n## %s\n\n%s. Source: %s (read on %s).\n\n| units | nodes |", design->name,
                          design->summary, design->source, design->date);
  for (guint k = 0; k < G_N_ELEMENTS (heads); k++)
    g_string_append_printf (text, " %s |", heads[k]);
  g_string_append (text, " table |\n|---|---|");
  for (guint k = 0; k < G_N_ELEMENTS (heads); k++)
    g_string_append (text, "---|");
  g_string_append (text, "---|\n");
}

char *
fab_bills_to_markdown (const GArray *cells)
{
  GString *text = g_string_new (page_head);
  const FabDesignSpec *design = NULL;

  g_string_append_c (text, '\n');
  append_sum (text, cells);
  for (guint i = 0, end; i < cells->len; i = end) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    end = end_of_row (cells, i);
    if (cell->design != design)
      append_design (text, cell->design);
    design = cell->design;
    g_string_append_printf (text, "| %" G_GINT64_FORMAT " | %" G_GINT64_FORMAT " |", cell->row->units,
                            nodes_of (cell));
    append_cells (text, cells, i, end, TRUE);
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}
