/* SPDX-License-Identifier: Apache-2.0 */
/* played_job.h - a random job, and what happened when it was played: when every task arrived, started and ended. */
#pragma once

#include "sim/execution/executor.h"
#include "tests/support/random_job.h"

enum { PLAYED_ITERATIONS = 4 };

typedef struct {
  FabTimePs arrive_ps, start_ps, end_ps; /* arrive: at its collective; of work: the start */
  guint n_seen;
} PlayedTask;

typedef struct {
  RandomJob *made;
  PlayedTask runs[PLAYED_ITERATIONS][MOST_TASKS];
  FabIterationRecord times[PLAYED_ITERATIONS][MOST_CLASSES];
} PlayedJob;

/* As in FabExecutorEnv. `look`, when it is set, sees every iteration's probe. */
typedef struct {
  const FabNetOps *ops;
  guint n_sms;
  double (*slowness) (gpointer owner, guint rank_class, guint iteration);
  void (*look) (gpointer owner, const FabProbe *probe);
  gpointer owner;
} PlayedHow;

PlayedJob *played_job_new (Random *random, gboolean has_barrier);
void played_job_free (PlayedJob *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlayedJob, played_job_free)

/* Returns the end of the run. */
FabTimePs played_job_play (PlayedJob *self, const PlayedHow *how);

/* One byte per ps of the run, 1 where a task of the kind ran on a rank class; WAIT: where one waited for the last rank
 * of its collective. end_ps + 1 bytes; (transfer full) */
guint8 *played_job_paint (const PlayedJob *self, guint rank_class, FabSpanKind kind, FabTimePs end_ps);
