/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - what a decision plays: a scenario with one of its seeds, as it is or with a what-if.
 *
 * A side of a decision is a scenario. Draw 0 has the scenario's own seed, draw i the seed + i, and all sides of one
 * decision have the same draws, so that they can be compared draw by draw. A scenario of which nothing is drawn is the
 * same with every seed, and has one draw.
 *
 * Threads: any number may draw and play at once.
 */
#pragma once

#include "sim/run/simulation.h"

enum {
  FAB_DRAWS = 8, /* of a side of which something is drawn */
  /* A side that needs more events for one play (packet by packet, about 10 s) has one draw, and says that there are
   * others. */
  FAB_DRAW_EVENTS = 20000000,
};

/* What all plays of a decision share. */
typedef struct {
  const FabRegistry *registry;
  FabPlantCache *plants; /* of their machines; NULL: every play builds its own */
  const gint *cancel;    /* plays end soon once it is not 0 (sim/run/run.h); NULL: nobody cancels */
  FabPulse *pulse;       /* counts the plays; NULL: nobody looks */
  guint n_threads;       /* that play at once; 0: one per processor */
} FabDecisionEnv;

/* Of the last iteration, as means over ranks. */
typedef struct {
  double step_s, exposed_s;
  double work_s; /* sum of the lengths of all kernels of the job's rank classes, before anything slows them */
} FabDrawTimes;

/* Returns draw `index` of the scenario, checked. NULL and *error: there is no such seed. (transfer full) */
FabScenario *fab_draw_of (const FabScenario *scenario, guint index, GError **error);

/* Returns how many draws a scenario has of which `uses_seed` (fab_simulation_uses_seed ()) and `n_events` are known. */
guint fab_draw_count (gboolean uses_seed, guint64 n_events);

/* Returns the number of the play whose step is the median: of n steps in ascending order number ceil (n / 2). */
guint fab_draw_median (const double *steps_s, guint n);

/* Returns a copy of the scenario that is played on the first network of the registry that shares links and sends no
 * messages: it plays anything in no time. NULL: the scenario's own network is one, or there is none. (transfer full) */
FabScenario *fab_draw_fast (const FabScenario *scenario, const FabRegistry *registry);

/* Plays a scenario; `what_if` may be NULL. FALSE and *error when it cannot be built, or does not end. */
gboolean fab_draw_play (const FabDecisionEnv *env, const FabScenario *scenario, const FabWhatIf *what_if,
                        FabDrawTimes *times, GError **error);
