/* SPDX-License-Identifier: Apache-2.0 */
/* report_csv.c - tables of runs and sweeps as CSV: whole, and as `fabricast query --format csv` prints them. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cli/files.h"
#include "cli/report_out.h"
#include "cli/report_parts.h"
#include "sim/base/error.h"

static const FabQuery *
find_table (const char *name)
{
  const FabQuery *query = fab_query_find (name);

  return query != NULL && (fab_report_is_table (query, FALSE) || fab_report_is_table (query, TRUE)) ? query
                                                                                                    : NULL;
}

/* Tables that there are, and folders that are there or look like one. */
static gboolean
is_folder (const char *what)
{
  return strchr (what, '/') != NULL || *what == '.' || g_file_test (what, G_FILE_TEST_IS_DIR);
}

static gboolean
fail_unknown (const char *what, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const FabQuery *query = fab_queries; query->name != NULL; query++)
    if (find_table (query->name) != NULL)
      g_ptr_array_add (names, (gpointer) query->name);
  g_ptr_array_add (names, NULL);
  const char *nearest = fab_nearest (what, (const char *const *) names->pdata);
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  g_autofree char *hint = nearest ? g_strdup_printf (" (nearest is %s)", nearest) : g_strdup ("");
  return fab_throw (error, FAB_ERROR_INPUT,
                    "--csv %s: no table%s, and no folder, which would be ./%s; tables are %s", what, hint,
                    what, all);
}

/* (transfer full) */
static char *
csv_of (const FabReportRequest *request, const FabQuery *query, gint64 run_id, GError **error)
{
  g_autoptr (FabTable) table = fab_store_query (request->store, query->sql, run_id, error);

  return table != NULL ? fab_table_to_csv (table) : NULL;
}

static gboolean
write_all (const FabReportRequest *request, gboolean of_sweep, gint64 id, const char *folder, guint *n,
           GError **error)
{
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    if (!fab_report_is_table (query, of_sweep))
      continue;
    g_autofree char *csv = csv_of (request, query, of_sweep ? 0 : id, error);
    g_autofree char *name = g_strdup_printf ("%s-%" G_GINT64_FORMAT "-%s.csv", of_sweep ? "sweep" : "run", id,
                                             query->name);
    g_autofree char *path = g_build_filename (folder, name, NULL);

    if (csv == NULL || !fab_cli_write_file (path, csv, error))
      return FALSE;
    ++*n;
  }
  return TRUE;
}

static gboolean
write_folder (const FabReportRequest *request, const char *folder, GError **error)
{
  guint n = 0;

  if (g_mkdir_with_parents (folder, 0777) != 0)
    return fab_throw (error, FAB_ERROR_IO, "%s: %s", folder, g_strerror (errno));
  for (guint i = 0; i < request->n_runs; i++)
    if (!write_all (request, FALSE, request->runs[i], folder, &n, error))
      return FALSE;
  for (guint i = 0; i < request->n_sweeps; i++) {
    fab_store_choose_sweep (request->store, request->sweeps[i]);
    if (!write_all (request, TRUE, request->sweeps[i], folder, &n, error))
      return FALSE;
  }
  g_print ("%s: %u tables\n", folder, n);
  return TRUE;
}

gboolean
fab_report_write_csv (const FabReportRequest *request, const char *what, const char *out, GError **error)
{
  const FabQuery *query = find_table (what);

  if (query == NULL)
    return is_folder (what) ? write_folder (request, what, error) : fail_unknown (what, error);
  if (fab_report_is_table (query, TRUE) ? request->n_sweeps > 1 : request->n_runs > 1)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--csv %s: of one run or sweep; a folder holds the tables of all", what);
  if (fab_report_is_table (query, TRUE) && request->n_sweeps == 1)
    fab_store_choose_sweep (request->store, request->sweeps[0]);
  g_autofree char *csv = csv_of (request, query, request->n_runs > 0 ? request->runs[0] : 0, error);
  if (csv == NULL)
    return FALSE;
  if (out != NULL && strcmp (out, "-") != 0)
    return fab_cli_write_file (out, csv, error);
  g_print ("%s", csv);
  return TRUE;
}
