/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - a table of functions filled from a library that is found at run time. */
#pragma once

#include <gmodule.h>

typedef struct {
  const char *symbol;
  gsize offset; /* of the pointer to the function, in the table */
  gboolean is_optional;
} FabSymbol;

/* The library that `variable` of the environment names, or `usual`. */
const char *fab_symbols_library (const char *variable, const char *usual);

/* NULL: `path` is not there, or is no library for this machine. */
GModule *fab_symbols_open (const char *path);

/* The first symbol that is missing and not optional; NULL: none. Optional ones that are missing are NULL. */
const char *fab_symbols_fill (GModule *module, gpointer table, const FabSymbol *symbols, gsize n_symbols);
