/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the table of commands. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const FabCommand *const commands[] = {
  &fab_command_run,       &fab_command_size,     &fab_command_sweep,    &fab_command_plan,
  &fab_command_tune,      &fab_command_explain,  &fab_command_cost,     &fab_command_check,
  &fab_command_compare,   &fab_command_whatif,   &fab_command_scale,    &fab_command_collective,
  &fab_command_p2p,       &fab_command_topo,     &fab_command_import,   &fab_command_measure,
  &fab_command_calibrate, &fab_command_query,    &fab_command_trace,    &fab_command_report,
  &fab_command_explore,   &fab_command_describe, &fab_command_validate,
};

static void
print_usage (void)
{
  g_print ("Fabricast forecasts what a GPU training fabric does to a training job.\n\n"
           "Usage:\n  fabricast COMMAND [OPTION...]\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-11s %s\n", commands[i]->name, commands[i]->summary);
  g_print (
      "\n`fabricast COMMAND --help` explains a command, with examples. `fabricast --version` prints the version.\n"
      "Exit codes: 0 done; 1 a target or gate was not met; 2 bad input; 3 not possible on this machine.\n");
}

static FabExit
unknown_command (const char *name)
{
  const char *names[G_N_ELEMENTS (commands) + 1] = { NULL };
  const char *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i]->name;
  nearest = fab_nearest (name, names);
  g_printerr ("fabricast: unknown command '%s'%s%s; `fabricast --help` lists them\n", name,
              nearest ? "; nearest is " : "", nearest ? nearest : "");
  return FAB_EXIT_INPUT;
}

static FabExit
run_command (int argc, char **argv)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i]->name, argv[0]) == 0)
      return commands[i]->run (argc, argv);
  return unknown_command (argv[0]);
}

/* Fails when stdout cannot be written completely, for example because the disk is full. */
static void
close_output (void)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return;
  g_printerr ("fabricast: cannot write the answer to standard output; is the disk full?\n");
  _exit (FAB_EXIT_INPUT);
}

int
main (int argc, char **argv)
{
  static const char *const help_words[] = { "--help", "-h", "help", NULL };
  static const char *const version_words[] = { "--version", "version", NULL };

  setlocale (LC_CTYPE, "");
  if (strcmp (nl_langinfo (CODESET), "UTF-8") != 0)
    /* scenarios are UTF-8, and so are options, whatever the locale */
    setlocale (LC_CTYPE, "C.UTF-8");
  atexit (close_output);
  if (argc < 2) {
    print_usage ();
    return FAB_EXIT_INPUT;
  }
  if (g_strv_contains (version_words, argv[1])) {
    g_print ("fabricast %s\n", FAB_VERSION);
    return FAB_EXIT_DONE;
  }
  if (g_strv_contains (help_words, argv[1])) {
    char *help[] = { argc > 2 ? argv[2] : NULL, (char *) "--help", NULL };

    if (argc > 2)
      return run_command (2, help);
    print_usage ();
    return FAB_EXIT_DONE;
  }
  return run_command (argc - 1, argv + 1);
}
