/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c - entries of the catalogue's `setups`. A look-up is linear in them. */
#include "sim/scenario/setup.h"

static const FabSetup *
find_stack (const FabCatalog *catalog, const char *stack)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_SETUPS);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabSetup *entry = fab_catalog_setup (catalog, names[i]);

    if (g_strcmp0 (entry->stack, stack) == 0)
      return entry;
  }
  return NULL;
}

FabSetup
fab_setup_find (const FabCatalog *catalog, const FabSetupKey *key)
{
  const FabSetup *found = key->is_anchored ? find_stack (catalog, FAB_SETUP_ANCHORED)
                        : key->has_experts ? find_stack (catalog, FAB_SETUP_EXPERTS)
                                           : NULL;

  if (found == NULL && !key->is_anchored)
    found = find_stack (catalog, key->stack);
  if (found == NULL && !key->is_anchored)
    found = find_stack (catalog, NULL);
  return found != NULL
           ? *found
           : (FabSetup){ .time_factor = 1, .low_factor = 1, .high_factor = 1, .evidence = FAB_SETUP_ASSUMED };
}
