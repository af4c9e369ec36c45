/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - the ways to a larger machine as a table (sim/study/growth.h plays them). */
#pragma once

#include "sim/result/table.h"
#include "sim/study/growth.h"

/* A row for each path (FabGrowthPath) of a study that holds `hold`. (transfer full) */
FabTable *fab_growth_table (const GPtrArray *paths, FabHold hold);
