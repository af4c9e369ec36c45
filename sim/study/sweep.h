/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - every point of a grid played and kept, so that nothing finished is lost and nothing is played twice.
 *
 * Points are played on all processors, and by other ranks where there are any; one thread of one process gives them
 * out, and writes what was played into the file, at most 0.2 s after it was finished. A point that is in the file is
 * not played again, whoever put it there. So a sweep that was killed goes on where it was, and processes that know
 * nothing of each other can play one sweep into one file: points are the same whoever plays them.
 */
#pragma once

#include "sim/result/store.h"
#include "sim/study/ranks.h"
#include "sim/study/sweep_plan.h"

typedef struct {
  gint64 n_points, n_there; /* in the file when it began */
  gint64 n_done;            /* in the file now, or about to be */
  gint64 elapsed_us;
} FabSweepProgress;

typedef struct {
  const FabStudy *study;
  const FabGrid *grid;
  const FabSweepPlan *plan;
  const char *version; /* of the program */
  guint n_threads;     /* that play, in this process */
  FabRanks *ranks;     /* NULL: there are no others */

  /* Of the person; every one may be NULL. */
  gpointer data;
  void (*progress) (gpointer data, const FabSweepProgress *progress); /* many times a second */
  void (*note) (gpointer data, const char *sentence);
  gboolean (*is_cancelled) (gpointer data);
} FabSweepSpec;

typedef struct {
  gint64 sweep_id, n_points;
  gint64 n_there;   /* in the file when it began */
  gint64 n_played;  /* by this process and its ranks */
  gint64 n_foreign; /* by others meanwhile */
  gboolean is_cancelled;
  gboolean
      has_threads; /* cancelled while long points were played: threads are still at them, and use all that the spec
                           names. Leave the program. */
} FabSweepOutcome;

/* FALSE and *error: the file cannot be written, or the scenario's files changed meanwhile; what was committed stays. */
gboolean fab_sweep_run (const FabSweepSpec *spec, FabStore *store, FabSweepOutcome *outcome, GError **error);

/* --- parts of it --- */

/* Of a rank that is not 0: plays what rank 0 gives it until that says that it is enough. `problem`: why this rank
 * cannot, for the person at rank 0; NULL: it can. Leaves the ranks. FALSE: rank 0 is gone, or this one was cancelled;
 * threads may still play: leave the program. */
gboolean fab_sweep_help (const FabSweepSpec *spec, const char *problem);

/* Rank 0 has nothing for the others to do, for something went wrong before it began. Leaves the ranks. */
void fab_sweep_dismiss (FabRanks *ranks);
