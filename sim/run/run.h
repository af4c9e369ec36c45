/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - plays a prepared scenario to its end: the one place that steps, notices that a step did not end, and
 * stores.
 *
 * A run ends well when all iterations have ended. Otherwise *error says why: FAB_ERROR_HUNG, FAB_ERROR_CANCELLED,
 * FAB_ERROR_BROKEN (sim/scenario/simulation.h), or FAB_ERROR_IO from the store.
 *
 * Threads: a run is played on the thread that asks for it; any number of runs at once, each with a store of its own.
 */
#pragma once

#include "sim/result/store.h"
#include "sim/run/simulation.h"

/* All zero: plays every iteration and keeps nothing but the probe of the last one. */
typedef struct {
  guint n_iterations; /* at most so many; 0: all of the scenario's */
  /* The run's rows go there, as one transaction. What ended before a hang is kept; of a run that was cancelled, that
   * broke an invariant or that could not be written there is nothing. NULL: nothing is stored. */
  FabStore *store;
  gint64 *run_id; /* number of the run in the store; NULL: not asked for */
  GArray *steps;  /* a FabStepRecord per iteration is appended; NULL: not asked for */
  /* Building and running end soon once it is not 0, which any thread may set. It must outlive the simulation. NULL:
   * nobody cancels. */
  const gint *cancel;
  /* Called after each iteration, on the thread of the run, while the probe holds that iteration. FALSE cancels. NULL:
   * not called. */
  gboolean (*progress) (gpointer owner, const FabSimulation *simulation, guint n_done);
  /* Called once when all iterations have ended, before the store's transaction does. `store` may be NULL. FALSE with
   * *error: the run did not end well. NULL: not called. */
  gboolean (*ended) (gpointer owner, const FabSimulation *simulation, FabStore *store, GError **error);
  gpointer owner;
  guint n_threads; /* to play collectives that differ, with the same figures; 0: one */
  FabPulse *pulse; /* says how far the run is; NULL: nobody looks */
  /* The caller reads figures of the last iteration alone (fab_simulation_set_brief ()), and keeps no store. */
  gboolean is_brief;
  /* Another simulation of the scenario, for fab_simulation_build_beside (); NULL: there is none. */
  const FabSimulation *beside;
} FabRunOptions;

/* Plays what was built. `options` may be NULL. FALSE and *error when it did not end well. */
gboolean fab_simulation_run (FabSimulation *simulation, const FabRunOptions *options, GError **error);

/* Builds and plays. `what_if` and `options` may be NULL. NULL and *error when it cannot be built, or did not end
 * well.
 * (transfer full) */
FabSimulation *fab_scenario_run (const FabScenario *scenario, const FabRegistry *registry,
                                 const FabWhatIf *what_if, const FabRunOptions *options, GError **error);
