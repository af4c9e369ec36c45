/* SPDX-License-Identifier: Apache-2.0 */
/* report_tables.c - the named questions of a results file as tables of the page: CSV, so that what a reader
 * downloads is what `fabricast query --format csv` prints. Of a long table the page holds the first rows.
 */
#include <string.h>

#include "cli/report_parts.h"
#include "sim/base/error.h"

enum { MAX_ROWS = 1000, MIN_ROWS = 50 };

gboolean
fab_report_is_table (const FabQuery *query, gboolean of_sweep)
{
  if (strcmp (query->name, "scenario") == 0) /* it is shown as text */
    return FALSE;
  return (strstr (query->sql, ":sweep") != NULL) == of_sweep && strcmp (query->name, "sweeps") != 0;
}

static gboolean
take_count (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(gint64 *) data = fields[0].integer;
  return TRUE;
}

/* `table` has one row more than may be shown when there are more. */
static gboolean
write_table (FabStore *store, gint64 run_id, const FabQuery *query, FabTable *table, guint max_rows,
             FabJson *json, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM (%s)", query->sql);
  guint n_rows = table->n_rows;
  gint64 n = n_rows;

  if (n_rows > max_rows && !fab_store_each (store, sql, run_id, take_count, &n, error))
    return FALSE;
  table->n_rows = MIN (n_rows, max_rows);
  g_autofree char *csv = fab_table_to_csv (table);
  table->n_rows = n_rows;
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", query->name);
  fab_json_add_text (json, "summary", query->summary);
  fab_json_add_whole (json, "rows", n);
  fab_json_add_text (json, "csv", csv);
  fab_json_end (json);
  return TRUE;
}

gboolean
fab_report_add_tables (const FabReportRequest *request, gboolean of_sweep, gint64 run_id, FabJson *json,
                       GError **error)
{
  guint n = MAX (request->n_runs + request->n_sweeps, 1);
  guint max_rows = request->max_rows ? request->max_rows : MAX (MAX_ROWS / n, MIN_ROWS);

  fab_json_begin_array (json, "tables");
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autofree char *sql = NULL;
    g_autoptr (FabTable) table = NULL;
    g_autoptr (GError) cause = NULL;

    if (!fab_report_is_table (query, of_sweep))
      continue;
    /* Only "sweep-best" says itself how many it wants. */
    sql = strstr (query->sql, " LIMIT ") ? g_strdup (query->sql)
                                         : g_strdup_printf ("%s LIMIT %u", query->sql, max_rows + 1);
    table = fab_store_query (request->store, sql, run_id, &cause);
    if (table == NULL && cause->code == FAB_ERROR_INPUT) /* an older file does not know what it asks for */
      continue;
    if (table == NULL) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    if (!write_table (request->store, run_id, query, table, max_rows, json, error))
      return FALSE;
  }
  fab_json_end (json);
  return TRUE;
}
