/* SPDX-License-Identifier: Apache-2.0 */
/* efficiency.c - cells and effects of the catalogue's `efficiencies`. A look-up is linear in the entries. */
#include "sim/scenario/efficiency.h"

static gboolean
is_same (const char *a, const char *b)
{
  return g_strcmp0 (a, b) == 0;
}

static gboolean
is_cell (const FabEfficiency *entry)
{
  return entry->generation != NULL && entry->precision != NULL && entry->stack != NULL;
}

/* Whether an effect is for the key: what it names is the key's. */
static gboolean
fits (const FabEfficiency *entry, const FabEfficiencyKey *key)
{
  return (entry->generation == NULL || is_same (entry->generation, key->generation))
      && (entry->precision == NULL || is_same (entry->precision, key->precision))
      && (entry->stack == NULL || is_same (entry->stack, key->stack));
}

/* The band of a product is that of the widest effect: the one that names nothing is of all cells that were left out of
 * a fit and predicted from the others. */
static void
multiply (FabEfficiency *product, const FabEfficiency *effect)
{
  product->scale_factor *= effect->scale_factor;
  product->low_factor = MIN (product->low_factor, effect->low_factor);
  product->high_factor = MAX (product->high_factor, effect->high_factor);
  if (effect->issue_ps > 0)
    product->issue_ps = effect->issue_ps;
}

FabEfficiencyFound
fab_efficiency_find (const FabCatalog *catalog, const FabEfficiencyKey *key)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_EFFICIENCIES);
  FabEfficiencyFound found = { .values = { .generation = key->generation,
                                           .precision = key->precision,
                                           .stack = key->stack,
                                           .scale_factor = 1,
                                           .low_factor = 1,
                                           .high_factor = 1,
                                           .evidence = FAB_EFFICIENCY_ASSUMED } };
  const FabEfficiency *cell = key->is_anchored ? fab_catalog_efficiency (catalog, FAB_EFFICIENCY_ANCHORED)
                                               : NULL;

  for (guint i = 0; names[i] != NULL && !key->is_anchored; i++) {
    const FabEfficiency *entry = fab_catalog_efficiency (catalog, names[i]);

    found.knows_generation |= entry->generation != NULL && is_same (entry->generation, key->generation);
    found.knows_precision |= entry->precision != NULL && is_same (entry->precision, key->precision);
    found.knows_stack |= entry->stack != NULL && is_same (entry->stack, key->stack);
    if (!fits (entry, key))
      continue;
    if (is_cell (entry))
      cell = cell == NULL ? entry : cell;
    else
      multiply (&found.values, entry);
  }
  if (cell != NULL) {
    FabTimePs issue_ps = cell->issue_ps > 0 ? cell->issue_ps : found.values.issue_ps;

    found.is_cell = TRUE;
    found.values = *cell;
    found.values.issue_ps = issue_ps;
  }
  return found;
}
