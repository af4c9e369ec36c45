/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `fabricast run SCENARIO`: one page of answer, and the results database. */
#include "cli/cli.h"
#include "cli/run.h"

#define DEFAULT_DB "fabricast.db"

typedef struct {
  char *format_name, *db, *fidelity;
  char **sets;
  gint64 iterations, seed;
  gboolean has_no_db;
  FabFormat format;
} RunOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Plays a scenario and prints the step time, what of the communication is exposed, which link binds and\n"
      "what a faster one would change. Records every iteration in an SQLite file (see `fabricast query`).",
  .examples = "  fabricast run scenarios/hello.yaml\n"
              "  fabricast run scenarios/ddp-2b-4nodes-200g.yaml --set job.bucket=100MiB --no-db\n"
              "  fabricast run scenarios/ddp-2b-4nodes-200g.yaml --set cluster.nodes=8 --format json\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
parse (RunOptions *o, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &o->format_name, "text (default), json or csv", "FORMAT" },
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o->db,
      "Results file; created when missing, runs are added (default " DEFAULT_DB ")", "FILE" },
    { "no-db", 0, 0, G_OPTION_ARG_NONE, &o->has_no_db, "Write no results file", NULL },
    { "iterations", 0, 0, G_OPTION_ARG_INT64, &o->iterations, "Short for --set iterations=N", "N" },
    { "fidelity", 0, 0, G_OPTION_ARG_STRING, &o->fidelity, "Short for --set fidelity=NAME: analytic, fluid",
      "NAME" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &o->seed, "Short for --set seed=N", "N" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    G_OPTION_ENTRY_NULL
  };

  o->iterations = o->seed = G_MININT64;
  return fab_cli_parse (&usage, entries, argc, argv, error)
      && fab_cli_format (o->format_name, &o->format, error);
}

/* The short options become assignments, so that they are checked like any other. */
static char **
all_sets (const RunOptions *o)
{
  GPtrArray *sets = g_ptr_array_new ();

  for (guint i = 0; o->sets && o->sets[i]; i++)
    g_ptr_array_add (sets, g_strdup (o->sets[i]));
  if (o->iterations != G_MININT64)
    g_ptr_array_add (sets, g_strdup_printf ("iterations=%" G_GINT64_FORMAT, o->iterations));
  if (o->seed != G_MININT64)
    g_ptr_array_add (sets, g_strdup_printf ("seed=%" G_GINT64_FORMAT, o->seed));
  if (o->fidelity)
    g_ptr_array_add (sets, g_strdup_printf ("fidelity=%s", o->fidelity));
  g_ptr_array_add (sets, NULL);
  return (char **) g_ptr_array_free (sets, FALSE);
}

static gboolean
print_page (const FabScenario *scenario, const FabRunResult *result, const char *db, GError **error)
{
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;
  FabRunResult faster = { 0 };
  gboolean has_binding = result->binding_link != FAB_NO_LINK;

  if (has_binding) {
    FabWhatIf what_if = { fab_graph_link_class (graph, result->binding_link)->name, FAB_RUN_FASTER };

    if (!fab_run_play (scenario, &what_if, NULL, &faster, error)) {
      fab_run_result_clear (&faster);
      return FALSE;
    }
  }
  g_autofree char *page = fab_run_page (scenario, result, has_binding ? &faster : NULL, db);
  g_print ("%s", page);
  fab_run_result_clear (&faster);
  return TRUE;
}

static gboolean
print_result (const FabScenario *scenario, const FabRunResult *result, FabFormat format, const char *db,
              GError **error)
{
  g_autofree char *text = NULL;

  if (format == FAB_FORMAT_TEXT)
    return print_page (scenario, result, db, error);
  text = format == FAB_FORMAT_JSON ? fab_run_json (scenario, result) : fab_run_csv (result);
  g_print ("%s", text);
  return TRUE;
}

static gboolean
run_scenario (const RunOptions *o, const char *path, GError **error)
{
  g_auto (GStrv) sets = all_sets (o);
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, sets, catalog, error) : NULL;
  const char *db = o->has_no_db ? NULL : o->db ? o->db : DEFAULT_DB;
  FabRunResult result = { 0 };

  if (scenario == NULL)
    return FALSE;
  gboolean is_done = fab_run_play (scenario, NULL, db, &result, error)
                  && print_result (scenario, &result, o->format, db, error);
  fab_run_result_clear (&result);
  return is_done;
}

static FabExit
run (int argc, char **argv)
{
  RunOptions o = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean is_done = parse (&o, &argc, &argv, &error) && run_scenario (&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.db);
  g_free (o.fidelity);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("run", error);
}

const FabCommand fab_command_run = {
  .name = "run",
  .summary = "Play a scenario: step time, exposed communication, binding link",
  .run = run,
};
