/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - `fabricast export`: a job as files that other simulators play. */
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "formats/export/graphs.h"
#include "models/models.h"
#include "sim/base/error.h"

/* Files beyond this are larger than other simulators read. */
#define MOST_NODES 50000000
#define MOST_RANKS 65536

typedef struct {
  char *format_name, *output;
  char **sets;
  gboolean has_messages;
} ExportOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Writes one iteration of a job as files that other simulators play: Chakra for ASTRA-sim, with a file\n"
      "for each rank, or GOAL for LogGOPSim. Work has the lengths that Fabricast forecasts. Chakra has each\n"
      "collective as a node, or as messages with --messages; GOAL always has messages.\n"
      "See docs/how-to/export.md.",
  .examples = "  fabricast export scenarios/hello.yaml --format goal -o hello.goal\n"
              "  fabricast export scenarios/hello.yaml --format chakra -o hello\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
parse (ExportOptions *o, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &o->format_name, "chakra or goal", "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output,
      "goal: the file, - for standard output; chakra: what the files' names begin with", "PATH" },
    { "messages", 0, 0, G_OPTION_ARG_NONE, &o->has_messages,
      "chakra: collectives as sends and receives of the algorithm that the library chooses", NULL },
    FAB_SET_ENTRY (&o->sets),
    G_OPTION_ENTRY_NULL
  };

  return fab_cli_parse (&usage, entries, argc, argv, error);
}

static gboolean
check (const ExportOptions *o, gboolean *is_goal, GError **error)
{
  *is_goal = g_strcmp0 (o->format_name, "goal") == 0;
  if (!*is_goal && g_strcmp0 (o->format_name, "chakra") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s%s%s; possible are chakra and goal",
                      o->format_name ? "unknown format '" : "--format is missing",
                      o->format_name ? o->format_name : "", o->format_name ? "'" : "");
  if (o->output == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "-o is missing: %s",
                      *is_goal ? "-o FILE, or -o - for standard output"
                               : "-o NAME makes the files NAME.0.et, NAME.1.et and so on");
  if (!*is_goal && strcmp (o->output, "-") == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-o -: --format chakra writes a file for each rank, which is not standard output");
  if (*is_goal && o->has_messages)
    return fab_throw (error, FAB_ERROR_INPUT, "--messages is for --format chakra; GOAL always has messages");
  return TRUE;
}

/* Every rank is a class of its own, because each gets a graph of its own. */
static FabScenario *
load (const char *path, char **sets, const FabCatalog *catalog, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (; sets != NULL && *sets != NULL; sets++)
    g_ptr_array_add (all, *sets);
  g_ptr_array_add (all, (gpointer) "fold=false");
  g_ptr_array_add (all, NULL);
  return fab_cli_scenario (path, (char **) all->pdata, catalog, error);
}

/* The files of a scenario are not written over. Of those of the ranks, the first stands for all, as it does in the keys
 * of a scenario. */
static gboolean
check_output (const FabScenario *scenario, gboolean is_goal, const char *output, GError **error)
{
  g_autofree char *first = g_strconcat (output, is_goal ? "" : ".0.et", NULL);

  return fab_cli_check_scenario_out ("--output", first, scenario, NULL, error);
}

static gboolean
check_size (const FabScenario *scenario, FabJobGraph *graph, GError **error)
{
  guint64 n = fab_job_graph_n_nodes (graph);
  g_autofree char *title = fab_cli_title (scenario);

  if (n > MOST_NODES)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: the graphs have %" G_GUINT64_FORMAT
                      " nodes, more than the %d that are written; export fewer nodes or layers, or Chakra "
                      "without --messages",
                      title, n, MOST_NODES);
  return TRUE;
}

static gboolean export(const ExportOptions *o, const char *path, GError **error)
{
  gboolean is_goal;
  g_autoptr (FabCatalog) catalog = check (o, &is_goal, error) ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabScenario) scenario = catalog != NULL ? load (path, o->sets, catalog, error) : NULL;

  if (scenario == NULL || !check_output (scenario, is_goal, o->output, error))
    return FALSE;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  if (cluster->nodes > MOST_RANKS)
    return fab_throw (error, FAB_ERROR_INPUT, "cluster.nodes: at most %d ranks are exported", MOST_RANKS);
  g_autoptr (FabSimulation) simulation = fab_simulation_new (scenario, &fab_models, NULL, error);
  g_autoptr (FabJobGraph) graph = simulation != NULL
                                    ? fab_job_graph_new (simulation, is_goal || o->has_messages, error)
                                    : NULL;
  if (graph == NULL || !check_size (scenario, graph, error))
    return FALSE;
  return is_goal ? fab_export_goal (graph, o->output, error) : fab_export_chakra (graph, o->output, error);
}

static FabExit
run (int argc, char **argv)
{
  ExportOptions o = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean is_done = parse (&o, &argc, &argv, &error) && export(&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.output);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("export", error);
}

const FabCommand fab_command_export = {
  .name = "export",
  .summary = "Write a job as Chakra or GOAL, for ASTRA-sim and LogGOPSim",
  .run = run,
  .prints_data = TRUE,
};
