/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a scenario played to its end, with what can be asked of it: figures, the binding link, the reasons, how
 * sure the step is, and what jobs beside each other cost one another. Everything is computed once; printers only read
 * it.
 *
 * Owns: a FabRunResult owns its simulation and its tables; the scenario must outlive it.
 * Threads: any number of runs at once, each on one thread.
 */
#pragma once

#include "answer/memory_advice.h"
#include "answer/reasons.h"
#include "sim/decision/bottleneck.h"
#include "sim/result/store.h"
#include "sim/run/band.h"
#include "sim/run/effort.h"
#include "sim/run/simulation.h"
#include "sim/study/goodput.h"
#include "sim/verdict/verdict.h"

/* How a scenario is played. All but `registry` may be zero. */
typedef struct {
  const FabRegistry *registry;
  const char *db;     /* the results file that takes the run; NULL: none */
  const gint *cancel; /* the run ends soon once it is not 0 (sim/run/run.h); NULL: nobody cancels */
  /* Called after each iteration, `wall_s` seconds after the run began, on the thread of the run. FALSE cancels. NULL:
   * not called. */
  gboolean (*progress) (gpointer owner, guint n_done, gint64 n_all, double wall_s);
  FabPulse *pulse; /* says how far the run is; NULL: nobody looks */
  gpointer owner;
  /* Another simulation of the scenario, for fab_simulation_build_beside (); NULL: there is none. */
  const FabSimulation *beside;
  guint n_threads;         /* as in FabRunOptions */
  gboolean has_no_verdict; /* the result's verdict stays NULL */
  gboolean advises;        /* where the job does not fit into memory, it is tried what would make it fit */
} FabRunRequest;

/* One of several jobs on a machine: how long its steps are alone and together. */
typedef struct {
  const char *name;                /* the scenario's */
  guint n_nodes, n_steps;          /* n_steps: iterations together that ended */
  FabTimePs alone_ps, together_ps; /* mean step; together 0: none has ended */
} FabRunJob;

typedef struct {
  FabSimulation *simulation; /* its probe holds the last iteration */
  GArray *steps;             /* FabStepRecord, one per iteration */
  FabPaceRecord pace;        /* of the last iteration */
  FabRunReasons reasons;
  FabVerdict *verdict;     /* NULL: nobody asked */
  FabMemoryAdvice *advice; /* NULL: the job fits, or nobody asked */
  GArray *jobs;            /* FabRunJob, empty without neighbours; NULL until fab_run_find_jobs () */
  /* of the seconds of each step, then of what each exposes; NULL: not asked for, or nothing is uncertain */
  FabBand *band;
  FabBottleneck *bottleneck; /* NULL: nobody asked */
  FabGoodputCase *failures;  /* NULL: the scenario has no rates of failures, or nobody asked */
  FabGoodput goodput;        /* of it */
  gint64 run_id;             /* in the results file; 0: none was written */
  double wall_s;
} FabRunResult;

/* Plays every iteration; `what_if` may be NULL. FALSE and *error when building, running or writing failed: see
 * sim/run/run.h. */
gboolean fab_run_play (const FabScenario *scenario, const FabWhatIf *what_if, const FabRunRequest *request,
                       FabRunResult *result, GError **error);
/* The same of what was built of the scenario, into a store that is open (NULL: none, and no advice). Takes the
 * simulation. */
gboolean fab_run_play_built (const FabScenario *scenario, const FabRegistry *registry,
                             FabSimulation *simulation, FabStore *store, FabRunResult *result,
                             GError **error);
/* Computes everything but verdict, jobs and band, from a simulation that was played and its steps. The two above
 * call it. */
void fab_run_finish (FabRunResult *result);
/* Returns about how long the network takes to play all iterations of the run and of its neighbours, what-ifs not
 * counted: where nothing is remembered, what is alike counts each time at both ends. */
FabEffort fab_run_effort (const FabScenario *scenario, const FabSimulation *simulation);
enum { FAB_RUN_LONG_S = 10 }; /* a run that may take longer is worth a word */

/* Tells the pulse about how long an iteration of a slow network is, from one of a fast one; nothing where the
 * scenario's own network is fast. */
void fab_run_guess_step (const FabScenario *scenario, const FabRegistry *registry, const gint *cancel,
                         FabPulse *pulse);

void fab_run_result_clear (FabRunResult *result);

/* Plays each job of the scenario again without the others, and fills in result->jobs: the first job and then its
 * neighbours. FALSE and *error when one cannot be played. */
gboolean fab_run_find_jobs (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                            GError **error);

/* Plays everything again with what is uncertain at either end; result->band is that of every iteration's seconds, and
 * of those that it exposes. NULL there: nothing is uncertain. FALSE and *error when such a run fails. A network that
 * plays messages, of which none queues, leaves the ends to a fast one (docs/explanation/uncertainty.md). */
gboolean fab_run_find_band (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                            GError **error);

/* Plays everything again with every lever, and on all draws of the scenario; result->bottleneck says what limits
 * the step, and the verdict, where there is one, too. FALSE and *error: it was cancelled. */
gboolean fab_run_find_bottleneck (const FabScenario *scenario, const FabRunRequest *request,
                                  FabRunResult *result, GError **error);

/* Adds the band, the bottleneck and the verdict that follows from them to the run in the results file `db`. Does
 * nothing when no run was written. */
gboolean fab_run_store_outlook (const char *db, const FabRunResult *result, GError **error);

/* Returns the last iteration, which stands for the steady state. */
const FabStepRecord *fab_run_last_step (const FabRunResult *result);

/* Together over alone; 1 where nothing takes time. */
double fab_run_slow_down (const FabRunJob *job);

/* "node0/nic0 -> switch"; NULL for FAB_NO_LINK. (transfer full) */
char *fab_run_link_name (const FabRunResult *result, FabLinkId link);
/* The catalogue entry of a link: "ib-ndr". */
const char *fab_run_link_entry (const FabRunResult *result, FabLinkId link);
