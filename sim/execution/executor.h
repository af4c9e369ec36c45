/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h - runs a job's DAG on the engine and the network, iteration after iteration.
 *
 * An iteration ends when all of its tasks are done; the next may already have begun (a data loader that prefetches).
 * At most two iterations are active at a time. Per rank class and iteration it records compute, comm, overlapped,
 * exposed and idle time on merged intervals. A collective's waiting for its last rank is recorded separately from its
 * transfer, so that a straggler is not blamed on the network. Compute is slower while collectives move bytes
 * (kernels.h) and on slow ranks (`slowness`).
 *
 * The executor checks itself: a collective that ends before its physical bound, a link that carried more than its
 * rate, an iteration whose tasks wait for each other, and an account that does not add up fail the engine with the ids.
 * It owns its state, borrows everything in its environment, and runs on the engine's thread.
 */
#pragma once

#include "sim/base/pulse.h"
#include "sim/execution/executor_env.h"
#include "sim/result/probe.h"

typedef struct _FabExecutor FabExecutor;

FabExecutor *fab_executor_new (const FabExecutorEnv *env);
void fab_executor_free (FabExecutor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExecutor, fab_executor_free)

/* The job as the watch of the environment knows it. */
FabWatchedJob *fab_executor_job (const FabExecutor *self);

/* Returns the collectives of an iteration that move bytes, FabJobCollective. (transfer full) */
GArray *fab_executor_list_collectives (const FabExecutor *self);

/* Launches the next iteration, for a caller that runs the engine itself. */
void fab_executor_begin_iteration (FabExecutor *self);

/* Runs to the end of the next iteration. FALSE when all have run, when the iteration hangs, and when the engine
 * failed or was cancelled. */
gboolean fab_executor_run_iteration (FabExecutor *self);

/* A collective that waits for a link that is dead for good, while everything else waits for the collective. */
typedef struct {
  FabCollectiveRecord collective; /* has no end */
  FabDeadLink link;
} FabHang;

/* Whether nothing of the job can continue, and what it waits for. For callers whose own events never end: when
 * this is TRUE and no link will recover, stop the engine. O(collectives). */
gboolean fab_executor_find_hang (const FabExecutor *self, FabHang *hang);

/* Returns the link for which packets wait while the engine has no events, because buffers wait for each other; or
 * FAB_NO_LINK. */
FabLinkId fab_executor_find_jam (const FabExecutor *self);

/* Returns the records of the last iteration. */
/* What the iteration that is played next takes at least: a lower bound (least_time.h) of what is left of it now, when
 * the one before it has ended. It must not have ended itself. */
FabTimePs fab_executor_least_ps (const FabExecutor *self);

/* Before the first iteration: the caller reads the last iteration alone, and of that neither spans nor loads of links
 * nor samples. The others have an empty probe. */
void fab_executor_set_brief (FabExecutor *self);
/* Says how many tasks of the iteration are done; NULL: nobody looks. It must outlive the executor or be taken away. */
void fab_executor_set_pulse (FabExecutor *self, FabPulse *pulse);

const FabProbe *fab_executor_probe (const FabExecutor *self);
