/* SPDX-License-Identifier: Apache-2.0 */
/* report_tables.c - the named questions of a results file as tables of the page: CSV, so that what a reader
 * downloads is what `fabricast query --format csv` prints. Of a long table the page holds the first rows.
 */
#include <string.h>

#include "cli/report_parts.h"

/* The scenario is shown as text. */
static gboolean
is_table (const FabQuery *query)
{
  return strcmp (query->name, "scenario") != 0;
}

static gboolean
take_count (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(gint64 *) data = fields[0].integer;
  return TRUE;
}

/* `table` has one row more than may be shown when there are more. */
static gboolean
write_table (const FabReportRun *run, const FabQuery *query, FabTable *table, guint max_rows, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM (%s)", query->sql);
  guint n_rows = table->n_rows;
  gint64 n = n_rows;

  if (n_rows > max_rows && !fab_store_each (run->request->store, sql, run->id, take_count, &n, error))
    return FALSE;
  table->n_rows = MIN (n_rows, max_rows);
  g_autofree char *csv = fab_table_to_csv (table);
  table->n_rows = n_rows;
  fab_report_open (run->json, NULL, '{');
  fab_report_text (run->json, "name", query->name);
  fab_report_text (run->json, "summary", query->summary);
  fab_report_whole (run->json, "rows", n);
  fab_report_text (run->json, "csv", csv);
  fab_report_close (run->json, '}');
  return TRUE;
}

gboolean
fab_report_add_tables (const FabReportRun *run, guint max_rows, GError **error)
{
  fab_report_open (run->json, "tables", '[');
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autofree char *sql = g_strdup_printf ("%s LIMIT %u", query->sql, max_rows + 1);
    g_autoptr (FabTable) table = is_table (query) ? fab_store_query (run->request->store, sql, run->id, error)
                                                  : NULL;

    if (!is_table (query))
      continue;
    if (table == NULL || !write_table (run, query, table, max_rows, error))
      return FALSE;
  }
  fab_report_close (run->json, ']');
  return TRUE;
}
