/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_pool.h - the threads of a process that play points, and the thread that feeds them and takes what they have.
 *
 * One thread calls these functions; it sleeps in fab_sweep_pool_take until there is something to do. */
#pragma once

#include "sim/study/sweep_record.h"

typedef struct _FabSweepPool FabSweepPool;

/* `study` and `grid` must outlive it. */
FabSweepPool *fab_sweep_pool_new (const FabStudy *study, const FabGrid *grid, guint n_threads);

/* Waits for points that are being played. */
void fab_sweep_pool_free (FabSweepPool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPool, fab_sweep_pool_free)

void fab_sweep_pool_give (FabSweepPool *self, const gint64 *points, guint n);

/* How many more would keep it busy for a while; 0: it has enough. */
guint fab_sweep_pool_wants (FabSweepPool *self);

/* Moves what was played to `played` (FabSweepPointRecord, transfer full), after waiting up to `wait_us` for there to be
 * something, or for points to run short. */
void fab_sweep_pool_take (FabSweepPool *self, gint64 wait_us, GPtrArray *played);

/* Drops the points that nobody has begun. */
void fab_sweep_pool_stop (FabSweepPool *self);

/* Nothing is being played, nor waits for it. */
gboolean fab_sweep_pool_is_idle (FabSweepPool *self);
