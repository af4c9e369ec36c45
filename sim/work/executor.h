/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h - plays a job's DAG on the engine and the network, iteration after iteration.
 *
 * An iteration ends when all of its tasks are done; the next may already have begun (a data
 * loader that prefetches). Two iterations are alive at a time. Per rank class and iteration:
 * compute, comm, overlapped, exposed and idle on merged intervals; a collective's waiting for
 * its last rank is apart from its moving of bytes, so that a straggler is not blamed on the network.
 * Compute is slower while collectives move bytes (kernels.h) and on slow ranks (`slowness`).
 *
 * Checks itself: a collective that ends before its physical bound, or a link that carried more
 * than its rate, aborts with the ids.
 */
#pragma once

#include "sim/result/probe.h"
#include "sim/work/workload.h"

typedef struct _FabExecutor FabExecutor;

typedef struct {
  FabEngine *engine;
  FabNet *net;
  const FabDag *dag;
  FabJobTotals totals;     /* its arrays stay the caller's */
  double peak_flops_per_s; /* of one accelerator */
  guint n_iterations;
  guint n_sms; /* of one accelerator, which collectives take from kernels; 0: they take none */
  /* How long compute of a rank class takes in an iteration, as a multiple of what the DAG says, > 0; NULL: 1. Asked
   * when a task begins. */
  double (*slowness) (gpointer owner, guint rank_class, guint iteration);
  gpointer slowness_owner;
  FabDone
      ended; /* at the end of each iteration; fn NULL: the engine is stopped. An executor with it shares engine and
                  * network with another one, to which the meter of the network belongs */
} FabExecutorEnv;

FabExecutor *fab_executor_new (const FabExecutorEnv *env);
void fab_executor_free (FabExecutor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExecutor, fab_executor_free)

/* Launches the next iteration, for who runs the engine himself. */
void fab_executor_begin_iteration (FabExecutor *self);

/* Runs to the end of the next iteration; FALSE when all have run, or when the iteration hangs. */
gboolean fab_executor_run_iteration (FabExecutor *self);

/* A collective that waits for a link that is dead for good, in an iteration where all else waits for it. */
typedef struct {
  FabCollectiveRecord collective; /* without an end */
  FabDeadLink link;
} FabHang;

/* Whether nothing that the job does can go on, and what it waits for. For who has events of his own in the engine, for
 * ever: where it is TRUE and no link will come back, the engine is to be stopped. O(collectives). */
gboolean fab_executor_find_hang (const FabExecutor *self, FabHang *hang);

/* The link for which packets wait while the engine has nothing to do, or FAB_NO_LINK: buffers wait for each other. */
FabLinkId fab_executor_find_jam (const FabExecutor *self);

/* Of the iteration that ended last. */
const FabProbe *fab_executor_probe (const FabExecutor *self);
