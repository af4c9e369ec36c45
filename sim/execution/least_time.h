/* SPDX-License-Identifier: Apache-2.0 */
/* least_time.h - the time that what is left of an iteration takes at least: the longest chain of tasks that wait for
 * each other, when each has the machine to itself.
 *
 * What has begun may end at once. A lower bound of any play: kernels and collectives only get slower beside others, and
 * the executor fails when a collective ends before its bound. O(tasks + waits).
 */
#pragma once

#include "sim/execution/dag.h"

typedef struct {
  const FabDag *dag;
  const guint *n_waiting; /* per task: tasks that are not done, for which it waits */
  const guint8 *is_done;  /* per task; NULL: none is */
  /* Return what a task of work, and a collective, takes at least. */
  FabTimePs (*work_ps) (gpointer owner, FabTaskId task);
  FabTimePs (*collective_ps) (gpointer owner, guint collective);
  gpointer owner;
} FabLeft;

FabTimePs fab_least_time_ps (const FabLeft *left);
