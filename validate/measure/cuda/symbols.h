/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - fills a table of functions from a library that is found at run time. */
#pragma once

#include <glib.h>

typedef struct {
  const char *symbol;
  gsize offset; /* of the pointer to the function, in the table */
  gboolean is_optional;
} FabSymbol;

/* Returns the library that the environment variable `variable` names, or `usual`. */
const char *fab_symbols_library (const char *variable, const char *usual);

/* Opens a library by its path, or by its bare name where the system keeps libraries; never in the current directory.
 * NULL: it is missing, or not made for this machine. */
gpointer fab_symbols_open (const char *path);
void fab_symbols_close (gpointer library); /* accepts NULL */

/* Looks up all symbols. Returns the first missing one that is not optional; NULL: all are there. Missing optional
 * ones become NULL. */
const char *fab_symbols_fill (gpointer library, gpointer table, const FabSymbol *symbols, gsize n_symbols);
