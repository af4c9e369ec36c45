/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what comes out of a setting, as the page wants it. */
#include <string.h>

#include "answer/seeds.h"
#include "cli/explore/explored.h"
#include "cli/report/report.h"
#include "cli/run/run.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

/* Limits of a setting, checked before it runs, so that nobody waits long for a knob. */
enum { MAX_TASKS = 200000, MAX_LINKS = 400000, MAX_SPANS = 3000 };

static gboolean
check_size (const FabSimulation *simulation, GError **error)
{
  guint n_tasks = fab_simulation_dag (simulation)->n_tasks;
  guint n_links = fab_graph_n_links (fab_simulation_cluster (simulation)->graph);

  if (n_tasks <= MAX_TASKS && n_links <= MAX_LINKS)
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "a step of %u tasks on %u links takes longer than a knob should; `fabricast run` plays it", n_tasks,
      n_links);
}

static gboolean
play (const FabScenario *scenario, FabStore *store, FabRunResult *result, GError **error)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new (scenario, &fab_models, NULL, error);

  return simulation != NULL && check_size (simulation, error)
      && fab_run_play_built (scenario, &fab_models, g_steal_pointer (&simulation), store, result, error);
}

/* Adds the collectives of the step: buckets, start-ups and strategies change them. */
static void
add_collectives (FabJson *json, const FabRunResult *result)
{
  const GArray *records = fab_simulation_probe (result->simulation)->collectives;
  double bytes = 0;

  for (guint i = 0; i < records->len; i++)
    bytes += (double) g_array_index (records, FabCollectiveRecord, i).bytes;
  fab_json_add_whole (json, "collectives", records->len);
  fab_json_add_real (json, "collective_bytes", bytes);
  fab_json_add_real (json, "startup_fraction", result->pace.startup_fraction);
}

static void
add_memory (FabJson *json, const FabRunResult *result)
{
  fab_json_add_real (json, "memory_bytes", (double) result->reasons.fullest_bytes);
  fab_json_add_real (json, "memory_max_bytes",
                     (double) fab_simulation_cluster (result->simulation)->device.memory_bytes);
}

static void
add_figures (FabJson *json, const FabRunResult *result)
{
  const FabStepRecord *step = fab_run_last_step (result);
  const FabCluster *cluster = fab_simulation_cluster (result->simulation);
  g_autofree char *link = fab_run_link_name (result, result->pace.binding_link);

  fab_json_begin_object (json, "figures");
  fab_json_add_whole (json, "gpus", fab_cluster_n_ranks (cluster));
  fab_json_add_whole (json, "nodes", cluster->n_nodes);
  fab_json_add_real (json, "step_s", fab_ps_to_seconds (step->times.duration_ps));
  fab_json_add_real (json, "compute_s", fab_ps_to_seconds (step->times.compute_ps));
  fab_json_add_real (json, "comm_s", fab_ps_to_seconds (step->times.comm_ps));
  fab_json_add_real (json, "exposed_s", fab_ps_to_seconds (step->times.exposed_ps));
  fab_json_add_real (json, "mfu_fraction", step->mfu_fraction);
  fab_json_add_real (json, "tokens_per_s", step->tokens_per_s);
  add_memory (json, result);
  fab_verdict_add_json (result->verdict, json, "verdict");
  add_collectives (json, result);
  fab_json_add_text (json, "binding_link", link);
  fab_json_add_text (json, "binding_link_spec",
                     link ? fab_graph_link_class (cluster->graph, result->pace.binding_link)->name : NULL);
  fab_json_end (json);
}

static gboolean
add_report (FabAnswer *answer, FabStore *store, const FabRunResult *result, const FabScenario *scenario)
{
  FabReportRequest request = { .store = store,
                               .runs = &result->run_id,
                               .n_runs = 1,
                               .catalog = fab_scenario_catalog (scenario),
                               .max_spans = MAX_SPANS };

  answer->report = fab_report_data (&request, &answer->problem);
  return answer->report != NULL;
}

/* Where the knobs of the scenario stand, which is not everywhere where somebody turned them to. */
static void
add_in_effect (FabJson *json, const FabExplored *self, FabScenario *scenario)
{
  FabKnobSetting standing;

  if (fab_knob_board_in_effect (self->board, scenario, &standing))
    fab_knob_setting_add_json (json, "in_effect", self->board, &standing);
}

static void
add_result (FabJson *json, const FabExplored *self, const FabKnobSetting *setting, gboolean has_report,
            FabAnswer *answer)
{
  g_autoptr (FabScenario) scenario = fab_explored_scenario (self, setting, &answer->problem);
  g_autoptr (FabStore) store = scenario != NULL && has_report ? fab_store_new (&answer->problem) : NULL;
  FabRunResult result = { 0 };

  if (scenario != NULL)
    add_in_effect (json, self, scenario);
  if (scenario != NULL && answer->problem == NULL && play (scenario, store, &result, &answer->problem)
      && (!has_report || add_report (answer, store, &result, scenario)))
    add_figures (json, &result);
  fab_run_result_clear (&result);
}

FabAnswer
fab_explored_answer (const FabExplored *self, const FabKnobSetting *setting, gboolean has_report)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autofree char *yaml = fab_explored_yaml (self, setting);
  g_autofree char *command = fab_explored_command (self, setting);
  FabAnswer answer = { 0 };

  fab_json_begin_object (json, NULL);
  fab_knob_setting_add_json (json, "knobs", self->board, setting);
  fab_json_add_text (json, "command", command);
  fab_json_add_text (json, "scenario", yaml);
  add_result (json, self, setting, has_report, &answer);
  fab_json_add_text (json, "problem", answer.problem ? answer.problem->message : NULL);
  fab_json_end (json);
  answer.setting = fab_json_finish (json);
  return answer;
}

/* --- how sure it is --- */

/* Seconds that a play may take for its outlook, which plays it again several times, and for all of the seeds. */
#define MOST_PLAY_S 0.5
#define MOST_SEEDS_S 4.0

static void
add_bounds (FabJson *json, const FabRunResult *result, const char *figure, guint at)
{
  g_autofree char *reason = fab_band_most (result->band, at);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "figure", figure);
  fab_json_add_real (json, "low_s", result->band->low[at]);
  fab_json_add_real (json, "high_s", result->band->high[at]);
  fab_json_add_real (json, "coverage_fraction", result->band->coverage_fraction);
  fab_json_add_text (json, "reason", reason);
  fab_json_end (json);
}

static void
add_band (FabJson *json, const FabRunResult *result)
{
  guint n = result->steps->len;

  fab_json_begin_array (json, "band");
  if (result->band != NULL) {
    add_bounds (json, result, "step", n - 1);
    add_bounds (json, result, "exposed", 2 * n - 1);
  }
  fab_json_end (json);
}

static void
add_levers (FabJson *json, const FabRunResult *result)
{
  fab_json_begin_array (json, "levers");
  for (guint i = 0; i < result->bottleneck->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (result->bottleneck, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_lever_names[lever->kind]);
    fab_json_add_text (json, "name", lever->name);
    fab_json_add_text (json, "change", lever->change);
    fab_json_add_flag (json, "limits", (gint) i == result->bottleneck->first);
    fab_json_add_real (json, "step_s", lever->step_s);
    fab_json_add_real (json, "exposed_s", lever->exposed_s);
    fab_json_add_real (json, "saved_fraction", fab_lever_saved (lever));
    fab_json_add_whole (json, "n_seeds", result->bottleneck->n_draws);
    fab_json_add_text (json, "fidelity", result->bottleneck->fidelity);
    fab_json_add_real (json, "base_step_s", result->bottleneck->base.step_s);
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Adds what the steps of several seeds are, where that was asked for and does not take long. */
static gboolean
add_seeds (FabJson *json, const FabExplored *self, const FabScenario *scenario, double play_s, GError **error)
{
  static const struct {
    const char *key;
    guint time;
  } figures[] = { { "step", FAB_SEED_STEP }, { "exposed", FAB_SEED_EXPOSED } };
  FabSeedsRequest request = {
    scenario, self->n_seeds, 1, { .registry = &fab_models, .has_no_verdict = TRUE }
  };

  if (self->n_seeds < 2 || play_s * (double) self->n_seeds > MOST_SEEDS_S)
    return TRUE;
  g_autoptr (FabSeeds) seeds = fab_seeds_play (&request, error);
  if (seeds == NULL)
    return FALSE;
  fab_json_begin_object (json, "seeds");
  fab_json_add_whole (json, "n", seeds->n_seeds);
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    fab_json_begin_object (json, figures[i].key);
    for (guint k = 0; k < FAB_N_PERCENTILES; k++)
      fab_json_add_real (json, fab_percentile_names[k],
                         fab_ps_to_seconds (seeds->times[figures[i].time].percentiles_ps[k]));
    fab_json_end (json);
  }
  fab_json_end (json);
  return TRUE;
}

static gboolean
add_outlook (FabJson *json, const FabExplored *self, const FabScenario *scenario, FabRunResult *result,
             GError **error)
{
  const FabRunRequest request = { .registry = &fab_models, .n_threads = 1, .has_no_verdict = TRUE };
  gint64 start_us = g_get_monotonic_time ();

  if (!play (scenario, NULL, result, error))
    return FALSE;
  double play_s = (double) (g_get_monotonic_time () - start_us) / G_USEC_PER_SEC;
  if (play_s > MOST_PLAY_S)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "This step takes too long to be played again for a band; the command below finds it.");
  if (!fab_run_find_band (scenario, &request, result, error)
      || !fab_run_find_bottleneck (scenario, &request, result, error))
    return FALSE;
  add_band (json, result);
  add_levers (json, result);
  fab_verdict_add_json (result->bottleneck->waits, json, "waits");
  return add_seeds (json, self, scenario, play_s, error);
}

char *
fab_explored_outlook (const FabExplored *self, const FabKnobSetting *setting)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) scenario = fab_explored_scenario (self, setting, &problem);
  FabRunResult result = { 0 };

  fab_json_begin_object (json, NULL);
  if (scenario != NULL)
    add_outlook (json, self, scenario, &result, &problem);
  fab_json_add_text (json, "problem", problem ? problem->message : NULL);
  fab_json_end (json);
  fab_run_result_clear (&result);
  return fab_json_finish (json);
}

void
fab_answer_clear (FabAnswer *self)
{
  g_clear_pointer (&self->setting, g_free);
  g_clear_pointer (&self->report, g_free);
  g_clear_error (&self->problem);
}

char *
fab_answer_json (const FabAnswer *self, gboolean has_report)
{
  if (!has_report || self->report == NULL)
    return g_strdup (self->setting);
  return g_strconcat ("{\n\"report\": ", self->report, ",\n", strchr (self->setting, '{') + 1, NULL);
}
