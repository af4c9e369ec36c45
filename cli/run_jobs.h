/* SPDX-License-Identifier: Apache-2.0 */
/* run_jobs.h - compares jobs that share a machine: the time of each one's steps alone and together. */
#pragma once

#include "sim/base/json.h"

#include "cli/run.h"

typedef struct {
  const char *name;                /* of its scenario */
  guint n_nodes, n_steps;          /* n_steps: iterations that ended while they ran together */
  FabTimePs alone_ps, together_ps; /* mean step; together 0: none ended */
} FabRunJob;

/* Lists the first job and then its neighbours (FabRunJob); runs each again alone. FALSE and *error when one cannot
 * run. `jobs` is empty without neighbours, and (transfer full). */
gboolean fab_run_jobs (const FabScenario *scenario, const FabRunResult *result, GArray **jobs,
                       GError **error);

/* Formats the jobs; empty without neighbours. (transfer full) */
char *fab_run_jobs_text (const GArray *jobs);
void fab_run_jobs_json (const GArray *jobs, FabJson *json);
