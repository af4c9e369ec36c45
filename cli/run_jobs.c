/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_jobs.h"

#include "cli/cli.h"
#include "models/models.h"
#include "sim/base/json.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/run.h"

/* Returns the mean of FabStepRecord, rounded down; 0 when there are none. */
static FabTimePs
mean_ps (const GArray *steps)
{
  FabTimePs sum_ps = 0;

  for (guint i = 0; i < steps->len; i++)
    sum_ps = fab_ps_add (sum_ps, g_array_index (steps, FabStepRecord, i).times.duration_ps);
  return steps->len > 0 ? sum_ps / steps->len : 0;
}

static gboolean
play_alone (const FabScenario *scenario, guint which, FabRunJob *job, GError **error)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new_alone (scenario, &fab_models, which, error);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));

  if (simulation == NULL)
    return FALSE;
  if (!fab_simulation_run (simulation, &(FabRunOptions){ .steps = steps }, error))
    return FALSE;
  job->n_nodes = fab_simulation_cluster (simulation)->n_nodes;
  job->alone_ps = mean_ps (steps);
  return TRUE;
}

gboolean
fab_run_jobs (const FabScenario *scenario, const FabRunResult *result, GArray **jobs, GError **error)
{
  const FabParamList *neighbours = &fab_scenario_spec (scenario)->neighbours;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FabRunJob));

  for (guint i = 0; neighbours->n > 0 && i <= neighbours->n; i++) {
    guint which = i == 0 ? FAB_FIRST_JOB : i - 1;
    const GArray *steps = i == 0 ? result->steps : fab_simulation_neighbour_steps (result->simulation, which);
    FabRunJob job = { .name = i == 0 ? fab_scenario_spec (scenario)->name
                                     : ((const FabNeighbourSpec *) neighbours->data + which)->name,
                      .n_steps = steps->len,
                      .together_ps = mean_ps (steps) };

    if (!play_alone (scenario, which, &job, error))
      return FALSE;
    g_array_append_val (all, job);
  }
  *jobs = g_steal_pointer (&all);
  return TRUE;
}

static double
slow_down (const FabRunJob *job)
{
  return job->alone_ps > 0 ? (double) job->together_ps / (double) job->alone_ps : 1;
}

char *
fab_run_jobs_text (const GArray *jobs)
{
  GString *text = g_string_new (NULL);

  if (jobs->len > 0)
    g_string_append_printf (text, "\n  %-24s%8s%12s%12s%12s%12s\n", "jobs, mean step", "nodes", "alone",
                            "together", "slow-down", "iterations");
  for (guint i = 0; i < jobs->len; i++) {
    const FabRunJob *job = &g_array_index (jobs, FabRunJob, i);
    g_autofree char *name = fab_cli_printable (job->name);
    g_autofree char *alone = fab_units_show (FAB_UNIT_TIME, (double) job->alone_ps);
    g_autofree char *together = fab_units_show (FAB_UNIT_TIME, (double) job->together_ps);

    g_string_append_printf (text, "  %-24s%8u%12s", name, job->n_nodes, alone);
    if (job->n_steps > 0)
      g_string_append_printf (text, "%12s%12.3f%12u\n", together, slow_down (job), job->n_steps);
    else
      g_string_append_printf (text, "%12s%12s%12d\n", "-", "-", 0);
  }
  return g_string_free (text, FALSE);
}

void
fab_run_jobs_json (const GArray *jobs, FabJson *json)
{
  if (jobs->len == 0)
    return;
  fab_json_begin_array (json, "jobs");
  for (guint i = 0; i < jobs->len; i++) {
    const FabRunJob *job = &g_array_index (jobs, FabRunJob, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", job->name);
    fab_json_add_whole (json, "nodes", job->n_nodes);
    fab_json_add_real (json, "alone_s", fab_ps_to_seconds (job->alone_ps));
    fab_json_add_whole (json, "iterations", job->n_steps);
    if (job->n_steps > 0) {
      fab_json_add_real (json, "together_s", fab_ps_to_seconds (job->together_ps));
      fab_json_add_real (json, "slow_down", slow_down (job));
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}
