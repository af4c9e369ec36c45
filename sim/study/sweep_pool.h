/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_pool.h - the threads of a process that simulate points, and the thread that feeds them and collects their
 * results.
 *
 * One thread calls these functions; it sleeps in fab_sweep_pool_take until there is something to do. The pool owns its
 * threads. */
#pragma once

#include "sim/study/sweep_record.h"

typedef struct _FabSweepPool FabSweepPool;

/* `study` and `grid` must outlive it. (transfer full) */
FabSweepPool *fab_sweep_pool_new (const FabStudy *study, const FabGrid *grid, guint n_threads);

/* Cancels the points that are running, and waits for their threads. */
void fab_sweep_pool_free (FabSweepPool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPool, fab_sweep_pool_free)

void fab_sweep_pool_give (FabSweepPool *self, const gint64 *points, guint n);

/* Returns how many more points would keep the pool busy for a while; 0: it has enough. */
guint fab_sweep_pool_wants (FabSweepPool *self);

/* Moves finished results to `played` (FabSweepPointRecord, transfer full). It waits up to `wait_us` for results, or
 * until points run short. */
void fab_sweep_pool_take (FabSweepPool *self, gint64 wait_us, GPtrArray *played);

/* FALSE and *error: a point broke an invariant of the simulation, so that it is neither played nor impossible. */
gboolean fab_sweep_pool_check (FabSweepPool *self, GError **error);

/* Drops the points that no thread has begun. */
void fab_sweep_pool_stop (FabSweepPool *self);

/* Whether no point is running or waiting. */
gboolean fab_sweep_pool_is_idle (FabSweepPool *self);
