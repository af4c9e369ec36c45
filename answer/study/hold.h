/* SPDX-License-Identifier: Apache-2.0 */
/* hold.h - which batch the variants of a study hold, where nobody or somebody says which. */
#pragma once

#include "sim/study/study.h"

/* Has the study hold the global batch where one of the figures that it is about is of the whole training, else what the
 * job writes down. */
void fab_hold_decide (FabStudy *study, const FabFigure *const *figures, guint n);
/* Has it hold what a person asked for. FALSE and *error when the job has no batch to hold. */
gboolean fab_hold_ask (FabStudy *study, FabHold hold, GError **error);

/* "batch" or "micro_batch"; NULL: the job has no batches. */
const char *fab_hold_of (const FabStudy *study);
