/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what a command is: its name, its function, the text of its help, and the codes with which it ends.
 *
 * Only cli/ prints to a person or exits the program. Each command has a file and a row in help/commands.c. Answers
 * go to stdout, everything else to stderr. Commands run on the main thread.
 */
#pragma once

#include <glib.h>

/* Exit codes; the man page promises them. */
typedef enum {
  FAB_EXIT_DONE = 0,
  FAB_EXIT_UNMET = 1,       /* a target or gate was not met, or the job hangs */
  FAB_EXIT_INPUT = 2,       /* bad input, or a file that cannot be read or written */
  FAB_EXIT_UNSUPPORTED = 3, /* not possible on this machine */
} FabExit;

typedef struct {
  const char *name;
  const char *summary;                    /* one line for `fabricast --help` */
  FabExit (*run) (int argc, char **argv); /* argv[0] is the command's name */
  gboolean prints_data;                   /* on stdout, for other programs: never folded or coloured */
} FabCommand;

extern const FabCommand fab_command_calibrate;
extern const FabCommand fab_command_check;
extern const FabCommand fab_command_collective;
extern const FabCommand fab_command_compare;
extern const FabCommand fab_command_cost;
extern const FabCommand fab_command_describe;
extern const FabCommand fab_command_explore;
extern const FabCommand fab_command_export;
extern const FabCommand fab_command_explain;
extern const FabCommand fab_command_goodput;
extern const FabCommand fab_command_mix;
extern const FabCommand fab_command_help;
extern const FabCommand fab_command_p2p;
extern const FabCommand fab_command_import;
extern const FabCommand fab_command_measure;
extern const FabCommand fab_command_plan;
extern const FabCommand fab_command_query;
extern const FabCommand fab_command_bundle;
extern const FabCommand fab_command_report;
extern const FabCommand fab_command_run;
extern const FabCommand fab_command_scale;
extern const FabCommand fab_command_size;
extern const FabCommand fab_command_sweep;
extern const FabCommand fab_command_topo;
extern const FabCommand fab_command_trace;
extern const FabCommand fab_command_tune;
extern const FabCommand fab_command_upgrade;
extern const FabCommand fab_command_validate;
extern const FabCommand fab_command_whatif;

/* The text of a command's --help around its options. */
typedef struct {
  const char *arguments;    /* after the options: "[SCENARIO]" */
  const char *summary;      /* what the command does, a short paragraph */
  const char *examples;     /* indented lines; each is a command that works */
  guint min_rest, max_rest; /* the number of arguments that are not options */
} FabUsage;
