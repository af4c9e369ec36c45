/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the commands share: the table of commands, options, exit codes, and where data files are.
 *
 * Only cli/ prints to a person or exits the program. Each command has a file and a row in help/commands.c. Answers
 * go to stdout, everything else to stderr. Commands run on the main thread.
 */
#pragma once

#include <glib.h>

#include "sim/result/table.h"
#include "sim/study/study.h"

/* Exit codes; the man page promises them. */
typedef enum {
  FAB_EXIT_DONE = 0,
  FAB_EXIT_UNMET = 1,       /* a target or gate was not met, or the job hangs */
  FAB_EXIT_INPUT = 2,       /* bad input, or a file that cannot be read or written */
  FAB_EXIT_UNSUPPORTED = 3, /* not possible on this machine */
} FabExit;

typedef enum { FAB_FORMAT_TEXT, FAB_FORMAT_JSON, FAB_FORMAT_CSV, FAB_FORMAT_MARKDOWN } FabFormat;

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

/* Options that many commands have. */
#define FAB_SET_ENTRY(texts_)                                                                       \
  {                                                                                                 \
    "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, texts_, "Override any key of the scenario; repeatable", \
        "KEY=VALUE"                                                                                 \
  }
#define FAB_FORMAT_ENTRY(text_)                                                         \
  {                                                                                     \
    "format", 0, 0, G_OPTION_ARG_STRING, text_, "text (default), json or csv", "FORMAT" \
  }

/* Parses options into `entries` and leaves the other arguments in argv[1..*argc - 1]. Returns FALSE with *error for a
 * wrong option (naming the nearest) or a wrong number of arguments; FALSE without *error when it printed --help. */
gboolean fab_cli_parse (const FabUsage *usage, const GOptionEntry *entries, int *argc, char ***argv,
                        GError **error);

/* Parses "text", "json" or "csv"; NULL is text. */
gboolean fab_cli_format (const char *name, FabFormat *format, GError **error);
/* Parses these and "markdown", for commands whose answers become pages of docs. */
gboolean fab_cli_page_format (const char *name, FabFormat *format, GError **error);

/* Parses the size of an option: 32K, 8M and 16G are binary, as nccl-tests has them; 32KiB and 1GB are what they say. */
gboolean fab_cli_size (const char *option, const char *text, FabBytes *bytes, GError **error);

/* Prints an answer in this format. Text is a page, whose tables fit the terminal (terminal/page.h). */
void fab_cli_print (FabFormat format, const char *text);
void fab_cli_print_table (FabFormat format, const FabTable *table);

/* Loads the shipped catalogue: $FABRICAST_CATALOG, else the one beside the installed program, else the source tree's.
 * (transfer full) */
FabCatalog *fab_cli_catalog (GError **error);

/* Returns how many threads run independent scenarios: FABRICAST_THREADS of the environment. 0, where it is not set,
 * means as many as there are processors. */
guint fab_cli_threads (void);

/* Lists the directories where a module may be, NULL-ended, the first to try first. `built` is its directory in the
 * build. (transfer full) */
GPtrArray *fab_cli_module_directories (const char *built);

/* Loads a scenario, by its path or by the name of a shipped one, with its --set assignments (NULL-ended, or NULL).
 * (transfer full) */
FabScenario *fab_cli_scenario (const char *name, char **sets, const FabCatalog *catalog, GError **error);

/* Makes a study of the scenario with fab_cli_threads threads. Returns NULL when there is no catalogue; the error was
 * then printed. (transfer full) */
FabStudy *fab_cli_study (const char *name, char **sets, const FabCatalog *catalog, GError **error);
/* "name: summary" of a scenario, or its name, for a terminal. (transfer full) */
char *fab_cli_title (const FabScenario *scenario);

/* Makes a scenario's text safe for a terminal: control characters and line ends become \\x1b and the like. (transfer
 * full) */
char *fab_cli_printable (const char *text);

/* Prints the error to stderr and returns the exit code of its kind; FAB_EXIT_DONE for NULL, which means --help. A
 * broken invariant (FAB_ERROR_BROKEN) is a bug of the program, and aborts. */
FabExit fab_cli_fail (const char *command, const GError *error);
