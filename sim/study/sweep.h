/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - simulates every point of a grid and stores it, so that no result is lost or computed twice.
 *
 * Points are simulated on all processors, and by other ranks when there are any. One thread of one process
 * distributes them and writes the results to the file, at most 0.2 s after they are finished. A point that is already
 * in the file is not simulated again, whichever process stored it. So a sweep that was killed continues where it
 * stopped, and independent processes can work on one sweep in one file: the result of a point does not depend on the
 * process.
 */
#pragma once

#include "sim/result/store.h"
#include "sim/study/axis.h"
#include "sim/study/study.h"
#include "sim/study/sweep_ranks.h"

typedef struct {
  char *name, *summary; /* of the scenario; summary may be NULL */
  char
      /* The resolved scenario without the keys that vary; or with those of its first point when it is incomplete
       * without them. */
      *scenario_yaml;
  char *fingerprint;
} FabSweepPlan;

/* Returns NULL and *error when the scenario cannot be read, with or without the keys that vary. (transfer full) */
FabSweepPlan *fab_sweep_plan_new (const FabStudy *study, const FabGrid *grid, const char *version,
                                  GError **error);
void fab_sweep_plan_free (FabSweepPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPlan, fab_sweep_plan_free)

/* Whether the scenario's files are unchanged. */
gboolean fab_sweep_plan_holds (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid);

typedef struct {
  gint64 n_points, n_there; /* n_there: points in the file at the start */
  gint64 n_done;            /* points in the file now, or about to be written */
  gint64 elapsed_us;
} FabSweepProgress;

typedef struct {
  const FabStudy *study;
  const FabGrid *grid;
  const FabSweepPlan *plan;
  const char *version; /* version of the program */
  guint n_threads;     /* threads of this process that simulate */
  FabRanks *ranks;     /* NULL: there are no other ranks */

  /* Reports to the user; each may be NULL. */
  gpointer data;
  void (*progress) (gpointer data, const FabSweepProgress *progress); /* called many times per second */
  void (*note) (gpointer data, const char *sentence);
  gboolean (*is_cancelled) (gpointer data);
} FabSweepSpec;

typedef struct {
  gint64 sweep_id, n_points;
  gint64 n_there;   /* points in the file at the start */
  gint64 n_played;  /* points simulated by this process and its ranks */
  gint64 n_foreign; /* points that other processes stored in the meantime */
  gboolean is_cancelled;
} FabSweepOutcome;

/* FALSE and *error: the file cannot be written, the scenario's files changed during the sweep, or a point broke an
 * invariant (FAB_ERROR_BROKEN). Results that were committed stay. No thread is left running. */
gboolean fab_sweep_run (const FabSweepSpec *spec, FabStore *store, FabSweepOutcome *outcome, GError **error);

/* --- ranks --- */

/* The part of a rank other than 0: simulates what rank 0 assigns until rank 0 ends the sweep, and leaves the ranks.
 * `problem`: why this rank cannot take part, which rank 0 reports; NULL: it can. FALSE: rank 0 is gone, this rank was
 * cancelled, or, with *error, a point broke an invariant. No thread is left running. */
gboolean fab_sweep_help (const FabSweepSpec *spec, const char *problem, GError **error);

/* For rank 0 when something fails before the sweep begins: tells the other ranks that there is nothing to do, and
 * leaves the ranks. */
void fab_sweep_dismiss (FabRanks *ranks);
