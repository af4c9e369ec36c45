/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - fills a table of functions from a library that is found at run time. */
#pragma once

#include <gmodule.h>

typedef struct {
  const char *symbol;
  gsize offset; /* of the pointer to the function, in the table */
  gboolean is_optional;
} FabSymbol;

/* Returns the library that the environment variable `variable` names, or `usual`. */
const char *fab_symbols_library (const char *variable, const char *usual);

/* Opens a library; NULL: it is missing, or not made for this machine. */
GModule *fab_symbols_open (const char *path);

/* Looks up all symbols. Returns the first missing one that is not optional; NULL: all are there. Missing optional
 * ones become NULL. */
const char *fab_symbols_fill (GModule *module, gpointer table, const FabSymbol *symbols, gsize n_symbols);
