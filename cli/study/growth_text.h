/* SPDX-License-Identifier: Apache-2.0 */
/* growth_text.h - the answer of `fabricast upgrade --grow`. */
#pragma once

#include "cli/cli.h"
#include "sim/study/growth.h"

/* Formats the paths of a scenario of this title, which hold the global batch or that of each GPU. (transfer full) */
char *fab_growth_show (const char *title, const GPtrArray *paths, FabHold hold, FabFormat format);
