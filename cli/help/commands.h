/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands, in the groups in which help lists them. */
#pragma once

#include "cli/command.h"

enum { FAB_MOST_OF_GROUP = 8 }; /* commands, with the NULL behind them */

typedef struct {
  const char *title;
  const FabCommand *commands[FAB_MOST_OF_GROUP]; /* NULL-ended */
} FabCommandGroup;

extern const FabCommandGroup fab_command_groups[]; /* ends with a title that is NULL */

/* Returns the command of this name, or NULL. */
const FabCommand *fab_command_find (const char *name);
/* Lists the names of all commands, NULL-ended, in the order of help. (transfer container) (element-type utf8) */
GPtrArray *fab_command_names (void);

/* Prints what `fabricast --help` shows: what the program is for, where to start, and its commands. */
void fab_command_print_all (void);
