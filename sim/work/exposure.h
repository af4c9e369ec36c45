/* SPDX-License-Identifier: Apache-2.0 */
/* exposure.h - which communication a rank class waits for: its exposed time, shared out.
 *
 * At an instant at which no compute runs, the dimensions of parallelism that communicate share the time equally, and so
 * do the operations within one dimension. So the parts add up to the exposed time of the class, to the ps: rounding
 * goes by running sums, and a part is off by less than 1 ps.
 */
#pragma once

#include "sim/work/dag.h"
#include "sim/work/overlap.h"

/* Bytes of one collective under way. */
typedef struct {
  FabTimePs start_ps, end_ps; /* half open */
  FabDimension dimension;
  FabOp op;
} FabTalk;

typedef struct {
  FabTimePs comm_ps;    /* some of them were under way */
  FabTimePs exposed_ps; /* their part of the exposed time */
} FabTalkTimes;

/* `talks` (FabTalk) of one rank class, in any order; `compute` is when it computed. O(n log n). */
void fab_exposure_split (const GArray *talks, const FabIntervalSet *compute,
                         FabTalkTimes times[FAB_N_DIMENSIONS][FAB_N_OPS]);
