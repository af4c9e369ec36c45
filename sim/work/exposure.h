/* SPDX-License-Identifier: Apache-2.0 */
/* exposure.h - divides the exposed time of a rank class among the communication for which it waits.
 *
 * At an instant without compute, the dimensions of parallelism that communicate share the time equally, and so do the
 * operations within a dimension. So the parts add up to the exposed time of the class exactly: rounding uses running
 * sums, and a part is off by less than 1 ps.
 */
#pragma once

#include "sim/work/dag.h"
#include "sim/work/overlap.h"

/* The time during which one collective moves bytes. */
typedef struct {
  FabTimePs start_ps, end_ps; /* half open */
  FabDimension dimension;
  FabOp op;
} FabTalk;

typedef struct {
  FabTimePs comm_ps;    /* total time in which at least one of them was active */
  FabTimePs exposed_ps; /* their part of the exposed time */
} FabTalkTimes;

/* `talks` (FabTalk) are those of one rank class, in any order; `compute` is when the class computed. O(n log n). */
void fab_exposure_split (const GArray *talks, const FabIntervalSet *compute,
                         FabTalkTimes times[FAB_N_DIMENSIONS][FAB_N_OPS]);
