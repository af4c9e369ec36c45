/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c - `fabricast check SCENARIO`: every mistake at once, or the resolved scenario. */
#include "cli/cli.h"
#include "models/models.h"
#include "sim/scenario/simulation.h"

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Checks a scenario without running it: keys, units, ranges, names, and that its machine can be built.\n"
      "Prints it resolved, with every default and unit written out; exits with 2 and all mistakes otherwise.",
  .examples = "  fabricast check scenarios/hello.yaml\n"
              "  fabricast check scenarios/ddp-2b-4nodes-200g.yaml --set cluster.nodes=8\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
check_scenario (const char *path, char **sets, gboolean is_quiet, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, sets, catalog, error) : NULL;
  g_autoptr (FabSimulation) simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, error)
                                                  : NULL;

  if (simulation == NULL)
    return FALSE;
  if (!is_quiet) {
    g_autofree char *resolved = fab_scenario_resolved (scenario);
    g_print ("%s", resolved);
  }
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  char **sets = NULL;
  gboolean is_quiet = FALSE;
  const GOptionEntry entries[] = { { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sets,
                                     "Override any key of the scenario; repeatable", "KEY=VALUE" },
                                   { "quiet", 'q', 0, G_OPTION_ARG_NONE, &is_quiet,
                                     "Do not print the resolved scenario", NULL },
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  gboolean is_good = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && check_scenario (argv[1], sets, is_quiet, &error);

  g_strfreev (sets);
  return is_good ? FAB_EXIT_DONE : fab_cli_fail ("check", error);
}

const FabCommand fab_command_check = {
  .name = "check",
  .summary = "Check a scenario and print it with every default filled in",
  .run = run,
};
