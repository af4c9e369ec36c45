/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/pair.h"

const char *const fab_pair_relation_names[FAB_N_PAIR_RELATIONS + 1] = {
  [FAB_PAIR_SAME] = "same",
  [FAB_PAIR_ALIKE] = "alike",
  [FAB_PAIR_OTHER] = "other",
  [FAB_PAIR_UNMEASURED] = "unmeasured"
};

/* The first cell that holds for the place and the size. NULL: there is none. */
static const FabPairCellSpec *
find_cell (const FabPairSpec *spec, int place, FabBytes bytes)
{
  const FabPairCellSpec *cells = spec->cells.data;

  for (guint i = 0; i < spec->cells.n; i++)
    if ((cells[i].place == place || cells[i].place == FAB_N_PLAN_PLACES)
        && (cells[i].up_to_bytes == 0 || bytes < cells[i].up_to_bytes))
      return &cells[i];
  return NULL;
}

static FabPairEnds
find_ends (const FabCatalog *catalog, const char *kind, FabPairRelation relation, int place, FabBytes bytes)
{
  g_autofree char *name = g_strconcat (kind, "-", fab_pair_relation_names[relation], NULL);
  const FabPairSpec *spec = fab_catalog_entry (catalog, FAB_SECTION_PAIRS, name);
  const FabPairCellSpec *cell = spec != NULL ? find_cell (spec, place, bytes) : NULL;

  if (relation == FAB_PAIR_SAME)
    return (FabPairEnds){ .low_factor = 1, .high_factor = 1, .coverage_fraction = 1 };
  if (cell == NULL)
    return (FabPairEnds){ .low_factor = 1, .high_factor = 1 };
  return (FabPairEnds){ .low_factor = cell->low_factor,
                        .high_factor = cell->high_factor,
                        .coverage_fraction = spec->coverage_fraction,
                        .n_pairs = (guint) cell->n_pairs,
                        .n_tables = (guint) cell->n_tables,
                        .n_families = (guint) cell->n_families,
                        .entry = spec->name };
}

FabPairEnds
fab_pair_of_collectives (const FabCatalog *catalog, FabPlanPlace place, FabBytes bytes,
                         FabPairRelation relation)
{
  return find_ends (catalog, "collectives", relation, (int) place, bytes);
}

FabPairEnds
fab_pair_of_compute (const FabCatalog *catalog, FabPairRelation relation)
{
  return find_ends (catalog, "compute", MIN (relation, FAB_PAIR_OTHER), FAB_N_PLAN_PLACES, 0);
}
