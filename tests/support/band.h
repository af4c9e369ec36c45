/* SPDX-License-Identifier: Apache-2.0 */
/* band.h - the band of a scenario's time, for tests. */
#pragma once

#include "sim/run/band.h"

typedef struct {
  double value_us; /* of all iterations in sum */
  FabBand *band;   /* of it; NULL: nothing is uncertain */
} PlayedBand;

PlayedBand played_band (const FabCatalog *catalog, const char *yaml);
