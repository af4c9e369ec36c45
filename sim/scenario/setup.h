/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h - the entry of the catalogue's `setups` for a job. */
#pragma once

#include "sim/scenario/catalog.h"

/* Returns the entry of the stack, or the one that names none. Without any entry the factor is 1 and the band is from 1
 * to 1. */
FabSetup fab_setup_find (const FabCatalog *catalog, const FabSetupKey *key);
