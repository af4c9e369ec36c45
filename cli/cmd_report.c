/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `fabricast report`: runs and sweeps of a results file as one page. */
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/report.h"
#include "sim/base/error.h"

enum { MAX_RUNS = 24, MAX_SWEEPS = 8 };

typedef struct {
  char *db, *out;
  char **runs, **sweeps;
} ReportOptions;

static const FabUsage usage = {
  .arguments = "",
  .summary =
      "Writes runs of a results file as one HTML page that needs neither a network nor a server: the answer in\n"
      "words, a timeline to zoom into, exposed communication, how busy the links are, tables, sources.\n"
      "Several runs are compared: strategies, or one strategy on more and more GPUs.",
  .examples = "  fabricast report\n"
              "  fabricast report --db fabricast.db --run 1 --run 2 -o compared.html\n",
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
write_page (FabStore *store, const GArray *runs, const char *out, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabReportRequest request = { .store = store,
                               .runs = (const gint64 *) (gpointer) runs->data,
                               .n_runs = runs->len,
                               .catalog = catalog,
                               .has_tables = TRUE };
  g_autofree char *data = catalog != NULL ? fab_report_data (&request, error) : NULL;
  g_autofree char *page = data != NULL ? fab_report_page (&(FabReportPage){ .data = data }, error) : NULL;

  if (page == NULL)
    return FALSE;
  if (strcmp (out, "-") == 0)
    return g_print ("%s", page), TRUE;
  if (!fab_cli_write_file (out, page, error))
    return FALSE;
  g_print ("%s: %u run%s, %.1f MB; open it in a browser\n", out, runs->len, runs->len > 1 ? "s" : "",
           (double) strlen (page) / 1e6);
  return TRUE;
}

static gboolean
report (const ReportOptions *o, GError **error)
{
  g_autoptr (GArray) runs = ids_of (o->runs, "--run", MAX_RUNS, error);
  g_autoptr (FabStore) store = runs != NULL ? fab_store_open (o->db != NULL ? o->db : "fabricast.db",
                                                              FAB_STORE_READ, error)
                                            : NULL;
  gint64 last;

  if (store == NULL)
    return FALSE;
  if (runs->len == 0) {
    if (!fab_store_find_run (store, 0, &last, error))
      return FALSE;
    g_array_append_val (runs, last);
  }
  return write_page (store, runs, o->out != NULL ? o->out : "report.html", error);
}

static FabExit
run (int argc, char **argv)
{
  ReportOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "db", 0, 0, G_OPTION_ARG_STRING, &o.db, "Results file (default fabricast.db)", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.runs, "Run id (default: the last); repeatable", "ID" },
    { "out", 'o', 0, G_OPTION_ARG_STRING, &o.out, "Where it goes (default report.html); - is standard output",
      "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error) && report (&o, &error);

  g_free (o.db);
  g_free (o.out);
  g_strfreev (o.runs);
  g_strfreev (o.sweeps);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("report", error);
}

const FabCommand fab_command_report = {
  .name = "report",
  .summary = "Make a page of runs: timeline, exposed communication, busy links, sources",
  .run = run,
};
