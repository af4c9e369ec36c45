/* SPDX-License-Identifier: Apache-2.0 */
/* efficiency.h - the efficiency of a generation, precision and software stack, from the catalogue's entries. */
#pragma once

#include "sim/scenario/catalog.h"

/* Returns the cell of the key, or the product of the effects that fit (sim/base/efficiency.h). Without any entry the
 * scale is 1 and the band is from 1 to 1. */
FabEfficiencyFound fab_efficiency_find (const FabCatalog *catalog, const FabEfficiencyKey *key);
