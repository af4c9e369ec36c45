/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - how far apart several publications are that measured the same kind of machine.
 *
 * A publication's residual of a machine is the median of its tables' medians. The spread of a machine is the largest
 * less the smallest of them, as logarithms: what the health of real systems changes and no model can know. */
#pragma once

#include "validate/bands/residuals.h"

typedef struct {
  guint n_machines; /* kinds of machines (node entries) that several publications measured */
  double log_ratio; /* the largest spread of any; 0 where there is none */
} FabMachinesSpread;

/* Of residuals (const FabResiduals), which are of one cell. */
FabMachinesSpread fab_machines_spread (const GPtrArray *residuals);
