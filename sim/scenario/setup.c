/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c - entries of the catalogue's `setups`. A look-up is linear in them. */
#include "sim/scenario/setup.h"

FabSetup
fab_setup_find (const FabCatalog *catalog, const FabSetupKey *key)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_SETUPS);
  const char *stack = key->is_anchored ? FAB_SETUP_ANCHORED : key->stack;
  const FabSetup *found = NULL;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabSetup *entry = fab_catalog_setup (catalog, names[i]);

    if (g_strcmp0 (entry->stack, stack) == 0)
      return *entry;
    if (entry->stack == NULL)
      found = entry;
  }
  return found != NULL && !key->is_anchored
           ? *found
           : (FabSetup){ .time_factor = 1, .low_factor = 1, .high_factor = 1, .evidence = FAB_SETUP_ASSUMED };
}
