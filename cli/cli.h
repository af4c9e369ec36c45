/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the commands share: the table of commands, options, exit codes, where data files are.
 *
 * cli/ is the only room that prints to a person or leaves the program. A command is a file and a row
 * in main.c. Answers go to stdout, everything else to stderr.
 */
#pragma once

#include <glib.h>

#include "sim/study/study.h"

/* Exit codes, promised in the man page. */
typedef enum {
  FAB_EXIT_DONE = 0,
  FAB_EXIT_UNMET = 1,       /* a target or gate was not met; the job hangs */
  FAB_EXIT_INPUT = 2,       /* bad input, or a file that cannot be read or written */
  FAB_EXIT_UNSUPPORTED = 3, /* not possible on this machine */
} FabExit;

typedef enum { FAB_FORMAT_TEXT, FAB_FORMAT_JSON, FAB_FORMAT_CSV, FAB_FORMAT_MARKDOWN } FabFormat;

typedef struct {
  const char *name;
  const char *summary;                    /* one line for `fabricast --help` */
  FabExit (*run) (int argc, char **argv); /* argv[0] is the command's name */
} FabCommand;

extern const FabCommand fab_command_calibrate;
extern const FabCommand fab_command_check;
extern const FabCommand fab_command_collective;
extern const FabCommand fab_command_compare;
extern const FabCommand fab_command_cost;
extern const FabCommand fab_command_describe;
extern const FabCommand fab_command_explore;
extern const FabCommand fab_command_explain;
extern const FabCommand fab_command_p2p;
extern const FabCommand fab_command_import;
extern const FabCommand fab_command_measure;
extern const FabCommand fab_command_plan;
extern const FabCommand fab_command_query;
extern const FabCommand fab_command_report;
extern const FabCommand fab_command_run;
extern const FabCommand fab_command_scale;
extern const FabCommand fab_command_size;
extern const FabCommand fab_command_sweep;
extern const FabCommand fab_command_topo;
extern const FabCommand fab_command_trace;
extern const FabCommand fab_command_tune;
extern const FabCommand fab_command_validate;
extern const FabCommand fab_command_whatif;

/* What a command's --help says around its options. */
typedef struct {
  const char *arguments;    /* after the options: "[SCENARIO]" */
  const char *summary;      /* what it does, a short paragraph */
  const char *examples;     /* indented lines, each a command that works */
  guint min_rest, max_rest; /* arguments that are no options */
} FabUsage;

/* Parses options into `entries`; what is left is argv[1..*argc - 1]. FALSE and *error for a wrong option (with the
 * nearest) or a wrong number of arguments; FALSE alone when --help was asked for and printed. */
gboolean fab_cli_parse (const FabUsage *usage, const GOptionEntry *entries, int *argc, char ***argv,
                        GError **error);

/* "text", "json" or "csv". NULL is text. */
gboolean fab_cli_format (const char *name, FabFormat *format, GError **error);
/* The same, and "markdown": of commands whose answers are pages of docs. */
gboolean fab_cli_page_format (const char *name, FabFormat *format, GError **error);

/* The shipped catalogue: $FABRICAST_CATALOG, else beside the installed program, else of the source tree. */
FabCatalog *fab_cli_catalog (GError **error);
/* A shipped data file or directory by its path below share/fabricast ("measured", "scenarios"), the same way.
 * (transfer full) */
char *fab_cli_data_path (const char *name, GError **error);

/* How many threads play what is independent: FABRICAST_THREADS in the environment; 0, as many as there are processors,
 * where it is not set. */
guint fab_cli_threads (void);

/* Where a module may be, the likeliest first, NULL-ended; `built`: its folder in the build. (transfer full) */
GPtrArray *fab_cli_module_directories (const char *built);

/* The scenario with its --set assignments (NULL-ended, or NULL). */
FabScenario *fab_cli_scenario (const char *path, char **sets, const FabCatalog *catalog, GError **error);

/* A study of it, with as many threads as fab_cli_threads says; NULL without a catalogue, whose error was told.
 * (transfer full) */
FabStudy *fab_cli_study (const char *path, char **sets, const FabCatalog *catalog, GError **error);
/* "name: summary" of a scenario, or its name, for a terminal. (transfer full) */
char *fab_cli_title (const FabScenario *scenario);

/* Text of a scenario for a terminal: control characters as \\x1b, line ends too. (transfer full) */
char *fab_cli_printable (const char *text);

/* Prints the error to stderr and returns the exit code that its kind has; FAB_EXIT_DONE for NULL, which is --help. A
 * broken invariant (FAB_ERROR_BROKEN) is a mistake of the program and aborts. */
FabExit fab_cli_fail (const char *command, const GError *error);
