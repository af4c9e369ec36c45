/* SPDX-License-Identifier: Apache-2.0 */
/* critical.h - the critical path of an iteration: what it waited for, from its end back to its start.
 *
 * A task begins the moment the last one that it waits for ends, and a collective the moment its last rank arrives. So
 * from the task that ends last, one goes back to the one that released it (for a collective: that released its last
 * rank), and so on: the spans follow one another without a hole and add up to the iteration's duration. Of several that
 * end at the same time, the one whose end the clock handled last released the task.
 *
 * A task may have begun in the iteration before (a load that is prefetched): the path has the part of it in this one.
 */
#pragma once

#include "sim/work/dag.h"

/* What the executor knows of an iteration. */
typedef struct {
  const FabDag *dag;
  guint iteration;
  const FabTimePs *begin_ps;          /* per task: began, or arrived at its collective */
  const FabTaskId *released_by;       /* per task: of the same iteration, FAB_NO_TASK: none */
  const FabTaskId *arrived;           /* per collective: its last rank's task */
  const FabCollectiveRecord *records; /* per collective */
} FabTrail;

#define FAB_NO_TASK G_MAXUINT32

/* Appends to `path` (FabPathRecord), in order of time. `last` ends the iteration at `end_ps`. */
void fab_critical_path (const FabTrail *trail, FabTaskId last, FabTimePs start_ps, FabTimePs end_ps,
                        GArray *path);
