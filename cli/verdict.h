/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - how the commands show a verdict: what stops a figure first, the rest near the end, and the exit code. */
#pragma once

#include "cli/cli.h"
#include "sim/verdict/verdict.h"

/* Appends the findings that stop, each wrapped and followed by its advice, and a blank line; nothing where there are
 * none. */
void fab_cli_append_stops (GString *page, const FabVerdict *verdict);
/* Appends all others below a blank line, or below a line that ends with a colon. */
void fab_cli_append_findings (GString *page, const FabVerdict *verdict);

/* Appends "    NAME: waits_for_compute; extrapolated", for pages of many runs. */
void fab_cli_append_codes (GString *page, const char *name, const FabVerdict *verdict);

/* Prints what stops to stderr, for formats that programs read: "fabricast run: ...". */
void fab_cli_print_stops (const char *command, const FabVerdict *verdict);

/* FAB_EXIT_UNMET when the verdict stops and `is_allowed` does not overrule it. */
FabExit fab_cli_verdict_exit (const FabVerdict *verdict, gboolean is_allowed);

/* The option of every command that plays jobs. */
#define FAB_ALLOW_OVERSIZED_ENTRY(flag_)                              \
  {                                                                   \
    "allow-oversized", 0, 0, G_OPTION_ARG_NONE, flag_,                \
        "Take a job that does not fit into memory as if it did", NULL \
  }
