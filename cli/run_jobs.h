/* SPDX-License-Identifier: Apache-2.0 */
/* run_jobs.h - several jobs on one machine: how long the steps of each are alone and together. */
#pragma once

#include "sim/base/json.h"

#include "cli/run.h"

typedef struct {
  const char *name;                /* the scenario's */
  guint n_nodes, n_steps;          /* iterations together that ended */
  FabTimePs alone_ps, together_ps; /* mean step; together 0: none has ended */
} FabRunJob;

/* Of the first job and then its neighbours (FabRunJob), each played again alone. FALSE and *error when one cannot be;
 * an empty list without neighbours. `jobs` is (transfer full). */
gboolean fab_run_jobs (const FabScenario *scenario, const FabRunResult *result, GArray **jobs,
                       GError **error);

/* (transfer full); empty without neighbours. */
char *fab_run_jobs_text (const GArray *jobs);
void fab_run_jobs_json (const GArray *jobs, FabJson *json);
