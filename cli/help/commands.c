/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/commands.h"

#include <string.h>

#include "cli/help/help.h"

const FabCommandGroup fab_command_groups[] = {
  { "Play",
    { &fab_command_run, &fab_command_check, &fab_command_collective, &fab_command_p2p,
      &fab_command_explore } },
  { "Compare", { &fab_command_compare, &fab_command_whatif, &fab_command_sweep, &fab_command_scale } },
  { "Decide",
    { &fab_command_size, &fab_command_plan, &fab_command_tune, &fab_command_upgrade, &fab_command_cost,
      &fab_command_goodput, &fab_command_mix } },
  { "Hardware",
    { &fab_command_topo, &fab_command_import, &fab_command_measure, &fab_command_calibrate,
      &fab_command_validate } },
  { "Results",
    { &fab_command_query, &fab_command_report, &fab_command_trace, &fab_command_export,
      &fab_command_bundle } },
  { "Learn", { &fab_command_explain, &fab_command_describe, &fab_command_help } },
  { NULL },
};

const FabCommand *
fab_command_find (const char *name)
{
  for (const FabCommandGroup *group = fab_command_groups; group->title != NULL; group++)
    for (const FabCommand *const *command = group->commands; *command != NULL; command++)
      if (strcmp ((*command)->name, name) == 0)
        return *command;
  return NULL;
}

GPtrArray *
fab_command_names (void)
{
  GPtrArray *names = g_ptr_array_new ();

  for (const FabCommandGroup *group = fab_command_groups; group->title != NULL; group++)
    for (const FabCommand *const *command = group->commands; *command != NULL; command++)
      g_ptr_array_add (names, (gpointer) (*command)->name);
  g_ptr_array_add (names, NULL);
  return names;
}

void
fab_command_print_all (void)
{
  fab_help_print (
      "Fabricast predicts how long a training step takes on a GPU cluster, and which part of the network slows "
      "it down.\n\n");
  g_print ("Usage:\n  fabricast COMMAND [OPTION...]\n\n"
           "Start here:\n"
           "  fabricast run hello   simulates training on one machine with 8 GPUs\n"
           "  fabricast explore     opens a page in the browser with knobs to turn\n"
           "  fabricast help start  shows the first steps for people who know PyTorch\n");
  for (const FabCommandGroup *group = fab_command_groups; group->title != NULL; group++) {
    g_print ("\n%s:\n", group->title);
    for (const FabCommand *const *command = group->commands; *command != NULL; command++)
      g_print ("  %-11s %s\n", (*command)->name, (*command)->summary);
  }
  g_print (
      "\n"
      "`fabricast COMMAND --help` explains a command, with examples. `fabricast help` lists topics such as\n"
      "scenario, fabrics and glossary. `fabricast --version` prints the version.\n\n"
      "Every command has `--color=auto|always|never`, and `--allow-large` for a scenario that is estimated\n"
      "to take more memory than is free. `fabricast help completion` makes <Tab> complete commands, options\n"
      "and names.\n\n"
      "Exit codes: 0 done; 1 a target or gate was not met; 2 bad input; 3 not possible on this machine.\n");
}
