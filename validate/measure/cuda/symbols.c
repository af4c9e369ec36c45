/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/cuda/symbols.h"

#include <dlfcn.h>

const char *
fab_symbols_library (const char *variable, const char *usual)
{
  const char *path = g_getenv (variable);

  return path && *path ? path : usual;
}

/* g_module_open () first looks for NAME.la in the current directory and loads what that names. dlopen () looks for a
 * name without a slash only where the system keeps libraries. */
gpointer
fab_symbols_open (const char *path)
{
  return dlopen (path, RTLD_LAZY | RTLD_LOCAL);
}

void
fab_symbols_close (gpointer library)
{
  if (library != NULL)
    dlclose (library);
}

const char *
fab_symbols_fill (gpointer library, gpointer table, const FabSymbol *symbols, gsize n_symbols)
{
  for (gsize i = 0; i < n_symbols; i++) {
    gpointer *slot = &G_STRUCT_MEMBER (gpointer, table, symbols[i].offset);

    *slot = dlsym (library, symbols[i].symbol);
    if (*slot == NULL && !symbols[i].is_optional)
      return symbols[i].symbol;
  }
  return NULL;
}
