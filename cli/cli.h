/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the commands share: options, formats of answers, and where data files are. */
#pragma once

#include "cli/command.h"
#include "sim/result/table.h"
#include "sim/study/study.h"

typedef enum { FAB_FORMAT_TEXT, FAB_FORMAT_JSON, FAB_FORMAT_CSV, FAB_FORMAT_MARKDOWN } FabFormat;

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

#define FAB_BRIEF_ENTRY(flag_, text_)                    \
  {                                                      \
    "brief", 0, 0, G_OPTION_ARG_NONE, flag_, text_, NULL \
  }

/* Parses options into `entries` and leaves the other arguments in argv[1..*argc - 1]. Returns FALSE with *error for a
 * wrong option (naming the nearest), a wrong number of arguments, or a 0 for a number that is 0 where it is not given;
 * FALSE without *error when it printed --help. */
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
/* Checks that an answer in this format has rows to choose from, where `rows` (--rows, terminal/rows.h) is not NULL. */
gboolean fab_cli_check_rows (FabFormat format, const char *rows, GError **error);
/* Prints the rows that a person chose of a page; all of them with `rows` NULL. FALSE and *error: there is no such
 * row. */
gboolean fab_cli_print_rows (FabFormat format, const char *text, const char *rows, GError **error);
void fab_cli_print_table (FabFormat format, const FabTable *table);

/* Loads the shipped catalogue: $FABRICAST_CATALOG, else the one beside the installed program, else the source tree's.
 * (transfer full) */
FabCatalog *fab_cli_catalog (GError **error);

/* Returns how many threads run independent scenarios: FABRICAST_THREADS of the environment; 0, where it is not set,
 * means as many as there are processors. Once a scenario or a study was read, it is at most as many as there is memory
 * for (cli/memory.h). */
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
/* Checks the memory of a variant as fab_cli_study does that of the scenario, and lowers the threads of the study where
 * the variant leaves fewer of them. One that cannot be simulated for another reason passes: its own message comes
 * later. No edits are no variant. */
gboolean fab_cli_check_variant (FabStudy *study, const FabEdits *edits, GError **error);
/* The same of the value of this axis that needs the most. */
gboolean fab_cli_check_axis (FabStudy *study, const FabAxis *axis, GError **error);
/* "name: summary" of a scenario, or its name, for a terminal. (transfer full) */
char *fab_cli_title (const FabScenario *scenario);
/* The same of the scenario of a study. NULL and *error on failure. (transfer full) */
char *fab_cli_study_title (const FabStudy *study, GError **error);

/* Makes a scenario's text safe for a terminal: control characters and line ends become \\x1b and the like. (transfer
 * full) */
char *fab_cli_printable (const char *text);

/* Prints the error to stderr and returns the exit code of its kind; FAB_EXIT_DONE for NULL, which means --help. A
 * broken invariant (FAB_ERROR_BROKEN) is a bug of the program, and aborts. */
FabExit fab_cli_fail (const char *command, const GError *error);
