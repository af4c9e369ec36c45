/* SPDX-License-Identifier: Apache-2.0 */
/* random_job.h - a random task DAG of several rank classes, and what was asked of it, kept apart from the DAG.
 *
 * Every class has the same number of streams. Work lasts up to 39 ps, collectives have up to 50 bytes over GPUs of
 * 1 byte per ps. Nothing waits for itself, through collectives neither.
 */
#pragma once

#include "tests/support/random.h"
#include "tests/support/rig.h"

enum { MOST_CLASSES = 3, MOST_STREAMS = 9, MOST_TASKS = 60 };

/* `task` waits for `before`. */
typedef struct {
  FabTaskId task, before;
} Edge;

typedef struct {
  Random *random;
  Rig *rig;
  FabDagBuilder *builder;
  FabDag *dag;
  guint n_classes, n_streams, n_tasks;
  gint64 lasts[MOST_STREAMS]; /* last task of a stream, -1: none */
  gint64 firsts[MOST_STREAMS];
  gint64 collectives[MOST_TASKS]; /* -1: work */
  GArray *edges, *carried; /* Edge: of the same iteration, to the one before; order of streams included */
} RandomJob;

/* With a barrier nothing runs over the end of an iteration: its last task waits for all, and all of the next for
 * it. */
RandomJob *random_job_new (Random *random, gboolean has_barrier);
void random_job_free (RandomJob *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RandomJob, random_job_free)
