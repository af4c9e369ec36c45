/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `fabricast report`: runs and sweeps of a results file as one page. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/report/planning.h"
#include "cli/report/report.h"
#include "cli/report/report_svg.h"
#include "cli/report/study/study.h"
#include "cli/terminal/progress.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/units.h"

/* Tables of runs and sweeps as CSV: whole, and as `fabricast query --format csv` prints them. */

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
  g_autofree char *sql = fab_query_sql (query);
  g_autoptr (FabTable) table = fab_store_query (request->store, sql, run_id, error);

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
  g_print ("%s: %u %s\n", folder, n, fab_plural (n, "table", "tables"));
  return TRUE;
}

/* Writes the table named `what` to `out` (NULL: standard output). Without a name writes a file per table of every run
 * and sweep to the folder `out`, which is made when missing. */
static gboolean
report_write_csv (const FabReportRequest *request, const char *what, const char *out, GError **error)
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
  return fab_cli_write_file (out != NULL ? out : "-", csv, error);
}

enum { MAX_RUNS = 24, MAX_SWEEPS = 8 };

typedef struct {
  char *db, *out, *csv, *svg, *audience;
  char **runs, **sweeps;
} ReportOptions;

static const FabUsage usage = {
  .arguments = "[STUDY]",
  .summary =
      "Writes runs and sweeps of a results file as one HTML page that needs neither a network nor a server: the\n"
      "answer in words, a timeline to zoom into, exposed communication, how busy the links are, curves of a\n"
      "sweep, tables, sources. Several runs are compared: strategies, or one strategy on more and more GPUs.\n"
      "\n"
      "STUDY is a file that `size`, `compare`, `upgrade` or `cost` wrote with --format json (- is standard\n"
      "input). Its page has the decision, a plot with bands and a table, and prints on one sheet.",
  .examples =
      "  fabricast report\n"
      "  fabricast report --db fabricast.db --run 1 --run 2 -o compared.html\n"
      "  fabricast report --for planning -o decision.html\n"
      "  fabricast size four-nodes --vary cluster.nic_rate --target 'exposed<=25%' --format json | fabricast "
      "report - -o decision.html\n"
      "  fabricast report --csv links > links.csv\n"
      "  fabricast report --csv tables/\n"
      "  fabricast report --svg timeline > timeline.svg\n",
  .max_rest = 1,
};

/* "7" of --run and --sweep. */
static GArray *
ids_of (char **texts, const char *option, guint most, GError **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
    gint64 id;

    if (!g_ascii_string_to_signed (texts[i], 10, 1, G_MAXINT64, &id, NULL)) {
      fab_throw (error, FAB_ERROR_INPUT, "%s %s: not a whole number from 1 on", option, texts[i]);
      return NULL;
    }
    g_array_append_val (ids, id);
  }
  if (ids->len <= most)
    return g_steal_pointer (&ids);
  fab_throw (error, FAB_ERROR_INPUT, "%s: %u are asked for, and a page holds %u", option, ids->len, most);
  return NULL;
}

static gboolean
take_id (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  if (fields[0].kind == FAB_CELL_INTEGER)
    g_array_append_val ((GArray *) data, fields[0].integer);
  return TRUE;
}

/* Without --run and --sweep: the last of each that there is. */
static gboolean
choose_last (FabStore *store, GArray *runs, GArray *sweeps, GError **error)
{
  gboolean has_sweeps;

  if (!fab_store_each (store, "SELECT max (run_id) FROM run", 0, take_id, runs, error)
      || !fab_store_has (store, "sweep", NULL, &has_sweeps, error))
    return FALSE;
  return !has_sweeps || fab_store_each (store, "SELECT max (sweep_id) FROM sweep", 0, take_id, sweeps, error);
}

/* What opens a page for planners; NULL and *error. (transfer full) */
static char *
opening_of (const FabReportRequest *request, GError **error)
{
  g_autoptr (FabProgress) progress = fab_progress_start ("points");

  return fab_planning_html (request->store, request->runs, request->n_runs, request->catalog,
                            fab_progress_pulse (progress), error);
}

static gboolean
write_page (const FabReportRequest *request, gboolean is_plan, const char *out, GError **error)
{
  g_autofree char *opening = is_plan ? opening_of (request, error) : NULL;
  g_autofree char *data = !is_plan || opening != NULL ? fab_report_data (request, error) : NULL;
  const FabReportPage parts = { .data = data,
                                .title = is_plan ? "Fabricast: a decision" : NULL,
                                .controls = opening,
                                .compares = request->n_runs > 1 || request->n_sweeps > 0,
                                .style = is_plan ? fab_planning_style : NULL };
  g_autofree char *page = data != NULL ? fab_report_page (&parts, error) : NULL;

  if (page == NULL)
    return FALSE;
  if (!fab_cli_write_file (out, page, error))
    return FALSE;
  if (strcmp (out, "-") == 0)
    return TRUE;
  g_print ("%s: %u %s, %u %s; open it in a browser\n", out, request->n_runs,
           fab_plural (request->n_runs, "run", "runs"), request->n_sweeps,
           fab_plural (request->n_sweeps, "sweep", "sweeps"));
  return TRUE;
}

static gboolean
write_svg (const FabReportRequest *request, const char *figure, const char *out, GError **error)
{
  g_autofree char *data = fab_report_data (request, error);
  g_autofree char *svg = data != NULL ? fab_report_svg (data, figure, error) : NULL;

  if (svg == NULL)
    return FALSE;
  return fab_cli_write_file (out != NULL ? out : "-", svg, error);
}

static gboolean
report (const ReportOptions *o, GError **error)
{
  g_autoptr (GArray) runs = ids_of (o->runs, "--run", MAX_RUNS, error);
  g_autoptr (GArray) sweeps = runs ? ids_of (o->sweeps, "--sweep", MAX_SWEEPS, error) : NULL;
  g_autoptr (FabStore) store = sweeps ? fab_store_open (o->db ? o->db : "fabricast.db", FAB_STORE_READ, error)
                                      : NULL;

  if (store == NULL || (runs->len + sweeps->len == 0 && !choose_last (store, runs, sweeps, error)))
    return FALSE;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabReportRequest request = { .store = store,
                               .runs = (const gint64 *) (gpointer) runs->data,
                               .n_runs = runs->len,
                               .sweeps = (const gint64 *) (gpointer) sweeps->data,
                               .n_sweeps = sweeps->len,
                               .catalog = catalog,
                               .has_tables = o->svg == NULL };
  if (catalog == NULL)
    return FALSE;
  if (o->audience != NULL && strcmp (o->audience, "planning") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--for %s: a page can be for `planning`", o->audience);
  if (o->audience != NULL && (o->csv != NULL || o->svg != NULL))
    return fab_throw (error, FAB_ERROR_INPUT, "--for planning makes a page; leave out --csv and --svg");
  if (o->csv != NULL && o->svg != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "either --csv or --svg");
  if (o->svg != NULL)
    return write_svg (&request, o->svg, o->out, error);
  return o->csv != NULL
           ? report_write_csv (&request, o->csv, o->out, error)
           : write_page (&request, o->audience != NULL, o->out != NULL ? o->out : "report.html", error);
}

/* A page of a study, which has no database. */
static gboolean
report_study (const char *path, const ReportOptions *o, GError **error)
{
  g_autofree char *text = NULL, *page = NULL;
  gsize size;
  const char *out = o->out != NULL ? o->out : "report.html",
             *name = strcmp (path, "-") == 0 ? "standard input" : path;

  if (o->db != NULL || o->runs != NULL || o->sweeps != NULL || o->audience != NULL || o->csv != NULL
      || o->svg != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the page of a study takes --out alone; the other options are of results files");
  if (!fab_cli_check_out ("--out", out, (char *[]){ (char *) path, NULL }, error)
      || !fab_cli_read_file (path, FAB_STUDY_MOST_BYTES, &text, &size, error)
      || (page = fab_study_report (text, name, error)) == NULL || !fab_cli_write_file (out, page, error))
    return FALSE;
  if (strcmp (out, "-") != 0)
    g_print ("%s: the study of %s; open it in a browser\n", out, name);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  ReportOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db, "Results file (default fabricast.db)", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.runs, "Run id (default: the last); repeatable", "ID" },
    { "sweep", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sweeps, "Sweep id (default: the last); repeatable", "ID" },
    { "for", 0, 0, G_OPTION_ARG_STRING, &o.audience,
      "planning: open with the decision, alternatives with bands and money, what would change it", "READER" },
    { "csv", 0, 0, G_OPTION_ARG_FILENAME, &o.csv, "A table as CSV instead, or all of them into a folder",
      "TABLE|DIR" },
    { "svg", 0, 0, G_OPTION_ARG_STRING, &o.svg, "One figure instead: timeline, exposed, sweep or wait",
      "FIGURE" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Where it goes (default report.html); - is standard output", "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && (argc > 1 ? report_study (argv[1], &o, &error) : report (&o, &error));

  g_free (o.db);
  g_free (o.out);
  g_free (o.csv);
  g_free (o.svg);
  g_free (o.audience);
  g_strfreev (o.runs);
  g_strfreev (o.sweeps);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("report", error);
}

const FabCommand fab_command_report = {
  .name = "report",
  .summary = "Make an HTML page of runs, sweeps or a study",
  .run = run,
  .prints_data = TRUE,
};
