/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - a choice of the rows of a page, by their names.
 *
 * The name of a row is its first cell: "step", "limited by", "token_cost per million tokens". A choice may give its
 * first words only, and '-' for a blank. What stands further to the right below a row belongs to it. The head of a
 * table, whose first cell is empty, comes with the first of its rows.
 */
#pragma once

#include <glib.h>

/* A part of a page that has a name and no rows. */
typedef struct {
  const char *name, *text;
} FabRowsPart;

/* Returns the chosen rows in the order of the page, then the chosen parts. `chosen` is "step,exposed,timeline". NULL
 * and *error, which lists the names: the page has no such row or part. (transfer full) */
char *fab_rows_choose (const char *page, const FabRowsPart *parts, guint n_parts, const char *chosen,
                       GError **error);

/* The option of the commands that have such pages. `example` names rows of the page. */
#define FAB_ROWS_ENTRY(text_, example_)                                                               \
  {                                                                                                   \
    "rows", 0, 0, G_OPTION_ARG_STRING, text_, "Print these rows of the page alone: " example_, "ROWS" \
  }
