/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/cuda/symbols.h"

const char *
fab_symbols_library (const char *variable, const char *usual)
{
  const char *path = g_getenv (variable);

  return path && *path ? path : usual;
}

GModule *
fab_symbols_open (const char *path)
{
  return g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
}

const char *
fab_symbols_fill (GModule *module, gpointer table, const FabSymbol *symbols, gsize n_symbols)
{
  for (gsize i = 0; i < n_symbols; i++) {
    gpointer *slot = &G_STRUCT_MEMBER (gpointer, table, symbols[i].offset);

    if (g_module_symbol (module, symbols[i].symbol, slot))
      continue;
    if (!symbols[i].is_optional)
      return symbols[i].symbol;
    *slot = NULL;
  }
  return NULL;
}
