/* SPDX-License-Identifier: Apache-2.0 */
/* critical.h - the critical path of an iteration: each task on it started when the one before it ended.
 *
 * A task begins when the last task for which it waits ends, and a collective begins when its last rank arrives. So the
 * search goes back from the task that ends last to the task that released it (for a collective: that released its last
 * rank), and so on. The spans follow one another without a gap and add up to the duration of the iteration. When
 * several tasks end at the same time, the one whose end the clock handled last counts as the releasing one.
 *
 * A task may have begun in the iteration before (a prefetched load): the path contains the part that lies in this
 * iteration.
 */
#pragma once

#include "sim/work/dag.h"

/* What the executor recorded of an iteration. */
typedef struct {
  const FabDag *dag;
  guint iteration;
  const FabTimePs *begin_ps;          /* per task: when it began, or arrived at its collective */
  const FabTaskId *released_by;       /* per task: releasing task of the same iteration, or FAB_NO_TASK */
  const FabTaskId *arrived;           /* per collective: the task of its last rank */
  const FabCollectiveRecord *records; /* per collective */
} FabTrail;

#define FAB_NO_TASK G_MAXUINT32

/* Appends the path to `path` (FabPathRecord) in the order of time. `last` is the task that ends the iteration at
 * `end_ps`. Returns FALSE when the path has a hole before its first span: then the records cannot be trusted. */
gboolean fab_critical_path (const FabTrail *trail, FabTaskId last, FabTimePs start_ps, FabTimePs end_ps,
                            GArray *path);
