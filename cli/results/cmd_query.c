/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_query.c - `fabricast query [QUESTION]`: named questions, or any SELECT, to a results file. */
#include <string.h>

#include "cli/cli.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/result/store.h"

#define NO_ID G_MININT64
#define MAX_TIME_S 31536000

typedef struct {
  char *format_name, *db, *sql;
  gint64 run_id, sweep_id, max_rows, max_s;
  gboolean has_run, has_sweep;
  FabFormat format;
} QueryOptions;

static const FabUsage usage = {
  .arguments = "[QUESTION]",
  .summary = "Answers a question from a results file that `fabricast run` or `fabricast sweep` has "
             "written. Without a\n"
             "QUESTION, it lists the questions.",
  .examples = "  fabricast query\n"
              "  fabricast query iterations\n"
              "  fabricast query links --db fabricast.db --run 1 --format csv\n"
              "  fabricast query --sql \"SELECT name, sum (exposed_ps) / 1e12 AS exposed_s FROM collective "
              "GROUP BY name\"\n",
  .max_rest = 1,
};

static void
list_questions (void)
{
  for (const FabQuery *query = fab_queries; query->name; query++)
    g_print ("%-18s %s\n", query->name, query->summary);
}

static char *
find_sql (const char *question, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *nearest;

  for (const FabQuery *query = fab_queries; query->name; query++) {
    if (strcmp (query->name, question) == 0)
      return fab_query_sql (query);
    g_ptr_array_add (names, (gpointer) query->name);
  }
  g_ptr_array_add (names, NULL);
  nearest = fab_nearest (question, (const char *const *) names->pdata);
  fab_throw (error, FAB_ERROR_INPUT, "unknown question '%s'%s%s; `fabricast query` lists the questions",
             question, nearest ? "; nearest is " : "", nearest ? nearest : "");
  return NULL;
}

static gboolean
answer (const QueryOptions *o, const char *question, GError **error)
{
  g_autofree char *sql = o->sql ? g_strdup (o->sql) : find_sql (question, error);
  g_autoptr (FabStore) store = sql ? fab_store_open (o->db ? o->db : "fabricast.db", FAB_STORE_READ, error)
                                   : NULL;
  if (store != NULL) {
    fab_store_choose_sweep (store, o->sweep_id);
    fab_store_limit_queries (store, (guint64) o->max_rows, (guint) o->max_s);
  }
  g_autoptr (FabTable) table = store ? fab_store_query (store, sql, o->run_id, error) : NULL;

  if (table != NULL)
    fab_cli_print_table (o->format, table);
  return table != NULL;
}

static gboolean
query (QueryOptions *o, int argc, char **argv, GError **error)
{
  if (!fab_cli_format (o->format_name, &o->format, error))
    return FALSE;
  if (o->has_run && o->run_id < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--run counts from 1; leave it out for the last run");
  if (o->has_sweep && o->sweep_id < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--sweep counts from 1; leave it out for the last sweep");
  if (o->max_rows < 0 || o->max_s < 0 || o->max_s > MAX_TIME_S)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: write a whole number of at least 1, or 0 for no limit",
                      o->max_rows < 0 ? "--max-rows" : "--time-limit");
  if (o->sql && argc > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "give either a QUESTION or --sql, not both");
  if (o->sql == NULL && argc == 1) {
    list_questions ();
    return TRUE;
  }
  return answer (o, argv[1], error);
}

static FabExit
run (int argc, char **argv)
{
  QueryOptions o = { .run_id = NO_ID, .sweep_id = NO_ID, .max_rows = 1000000, .max_s = 60 };
  const GOptionEntry entries[] = {
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db, "Results file (default fabricast.db)", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_INT64, &o.run_id, "Run id (default: the last)", "N" },
    { "sweep", 0, 0, G_OPTION_ARG_INT64, &o.sweep_id, "Sweep id (default: the last)", "N" },
    FAB_FORMAT_ENTRY (&o.format_name),
    { "sql", 0, 0, G_OPTION_ARG_STRING, &o.sql,
      "One SELECT of your own; :run is the run, :sweep the sweep (docs/reference/results-schema.md)", "SQL" },
    { "max-rows", 0, 0, G_OPTION_ARG_INT64, &o.max_rows,
      "Largest number of rows of an answer (1000000; 0: no limit)", "N" },
    { "time-limit", 0, 0, G_OPTION_ARG_INT64, &o.max_s,
      "Longest time of a query in seconds (60; 0: no limit)", "N" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error);

  o.has_run = o.run_id != NO_ID;
  o.run_id = o.has_run ? o.run_id : 0;
  o.has_sweep = o.sweep_id != NO_ID;
  o.sweep_id = o.has_sweep ? o.sweep_id : 0;
  is_done = is_done && query (&o, argc, argv, &error);

  g_free (o.format_name);
  g_free (o.db);
  g_free (o.sql);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("query", error);
}

const FabCommand fab_command_query = {
  .name = "query",
  .summary = "Ask questions of a results file, or run SQL on it",
  .run = run,
};
