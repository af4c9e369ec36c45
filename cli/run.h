/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - runs a scenario to its end, and prints the page, the JSON and the CSV of `fabricast run`. */
#pragma once

#include "sim/result/store.h"
#include "sim/scenario/band.h"
#include "sim/scenario/simulation.h"

typedef struct {
  FabSimulation *simulation; /* owned; its probe holds the last iteration */
  GArray *steps;             /* FabStepRecord, one per iteration */
  /* the link that held back most of the last iteration's exposed communication; FAB_NO_LINK: none */
  FabLinkId binding_link;
  /* its fraction of that iteration's exposed (or, if none is exposed, of all) collective time */
  double binding_fraction;
  GArray *jobs;  /* FabRunJob (cli/run_jobs.h), empty without neighbours; NULL until computed */
  FabBand *band; /* of the seconds of each step; NULL: not requested, or nothing is uncertain */
  gint64 run_id; /* in the results file; 0: not written */
  double wall_s;
} FabRunResult;

/* Runs every iteration; writes to `db` unless it is NULL. Returns FALSE and *error when building or writing failed;
 * the file then holds nothing of this run. */
gboolean fab_run_play (const FabScenario *scenario, const FabWhatIf *what_if, const char *db,
                       FabRunResult *result, GError **error);
/* Runs a simulation already built from the scenario, and writes to an open store. Takes ownership of the simulation. */
gboolean fab_run_play_built (const FabScenario *scenario, FabSimulation *simulation, FabStore *store,
                             FabRunResult *result, GError **error);
void fab_run_result_clear (FabRunResult *result);

/* Returns the last iteration, which stands for the steady state. */
const FabStepRecord *fab_run_last_step (const FabRunResult *result);

/* Returns "node0/nic0 -> switch"; NULL when no link binds. (transfer full) */
char *fab_run_link_name (const FabRunResult *result, FabLinkId link);

/* Returns the fraction of the last iteration's communication that passes before bytes flow. */
double fab_run_startup_fraction (const FabRunResult *result);

/* Returns the fraction of the last iteration in which the link was busy. */
double fab_run_busy_fraction (const FabRunResult *result, FabLinkId link);

/* Format what `fabricast run` prints. `faster` is the result with faster binding links, zeroed when no link binds.
 * (transfer full) */
char *fab_run_page (const FabScenario *scenario, const FabRunResult *result, const FabRunResult *faster,
                    const char *db);
char *fab_run_json (const FabScenario *scenario, const FabRunResult *result, const FabRunResult *faster);
char *fab_run_csv (const FabRunResult *result);

/* The page's "what if" multiplies the rate of the binding class of links by this. */
#define FAB_RUN_FASTER 2.0
