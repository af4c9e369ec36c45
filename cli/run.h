/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a scenario played to its end, with what the page, the JSON and the CSV of `fabricast run` print. */
#pragma once

#include "sim/result/store.h"
#include "sim/scenario/band.h"
#include "sim/scenario/simulation.h"

typedef struct {
  FabSimulation *simulation; /* its probe holds the last iteration */
  GArray *steps;             /* FabStepRecord, one per iteration */
  FabLinkId
      binding_link; /* held back most of the last iteration's exposed communication; FAB_NO_LINK: none */
  double binding_fraction; /* of that iteration's exposed (or else of all) collective time */
  GArray *jobs;            /* FabRunJob (cli/run_jobs.h), empty without neighbours; NULL until asked for */
  FabBand *band;           /* of the seconds of each step; NULL: not asked for, or nothing is uncertain */
  gint64 run_id;           /* in the results file; 0: none was written */
  double wall_s;
} FabRunResult;

/* Plays every iteration; writes to `db` unless it is NULL. FALSE and *error when building or writing failed:
 * then the file holds nothing of this run. */
gboolean fab_run_play (const FabScenario *scenario, const FabWhatIf *what_if, const char *db,
                       FabRunResult *result, GError **error);
/* The same of what was built of the scenario, into a store that is open. Takes the simulation. */
gboolean fab_run_play_built (const FabScenario *scenario, FabSimulation *simulation, FabStore *store,
                             FabRunResult *result, GError **error);
void fab_run_result_clear (FabRunResult *result);

/* The last iteration, which stands for the steady state. */
const FabStepRecord *fab_run_last_step (const FabRunResult *result);

/* "node0/nic0 -> switch"; NULL when no link binds. (transfer full) */
char *fab_run_link_name (const FabRunResult *result, FabLinkId link);

/* Share of the last iteration's communication that is latency before bytes flow. */
double fab_run_startup_fraction (const FabRunResult *result);

/* Share of the last iteration in which the link was busy. */
double fab_run_busy_fraction (const FabRunResult *result, FabLinkId link);

/* What `fabricast run` prints; `faster` is the same with the binding links faster, zeroed when no link binds.
 * (transfer full) */
char *fab_run_page (const FabScenario *scenario, const FabRunResult *result, const FabRunResult *faster,
                    const char *db);
char *fab_run_json (const FabScenario *scenario, const FabRunResult *result, const FabRunResult *faster);
char *fab_run_csv (const FabRunResult *result);

/* The rate of the links of the binding class, times this, is what the page's "what if" shows. */
#define FAB_RUN_FASTER 2.0
