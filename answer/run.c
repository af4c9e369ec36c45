/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/run.h"

#include <math.h>

#include "sim/decision/bottleneck_find.h"
#include "sim/run/effort.h"
#include "sim/run/run.h"
#include "sim/run/simulation.h"
#include "sim/scenario/neighbour_params.h"

/* --- playing --- */

typedef struct {
  const FabRunRequest *request;
  const FabScenario *scenario;
  FabRunResult *result;
  gint64 start_us, n_iterations;
  gboolean counts_failures;
} Watch;

static double
seconds_since (gint64 start_us)
{
  return (double) (g_get_monotonic_time () - start_us) / G_USEC_PER_SEC;
}

static gboolean
tell (gpointer owner, G_GNUC_UNUSED const FabSimulation *simulation, guint n_done)
{
  const Watch *self = owner;

  return self->request->progress == NULL
      || self->request->progress (self->request->owner, n_done, self->n_iterations,
                                  seconds_since (self->start_us));
}

/* What failures leave of the training, where the scenario says how often parts fail. */
static gboolean
count_failures (const Watch *self, const FabSimulation *simulation, FabStore *store, GError **error)
{
  FabRunResult *result = self->result;
  FabGoodputRecord row;

  if (!self->counts_failures)
    return TRUE;
  if (!fab_goodput_case_of (self->scenario, simulation, self->request->registry, &result->failures, error))
    return FALSE;
  if (result->failures == NULL)
    return TRUE;
  result->goodput = fab_goodput_of_case (result->failures);
  row = fab_goodput_record (&result->goodput, fab_scenario_spec (self->scenario)->reliability.failures);
  return store == NULL || fab_store_add_goodput (store, &row, error);
}

/* --- what sets the pace --- */

static double
busy_fraction (const FabProbe *probe, FabLinkId link)
{
  for (guint i = 0; i < probe->link_loads->len; i++)
    if (g_array_index (probe->link_loads, FabLinkLoadRecord, i).link == link)
      return g_array_index (probe->link_loads, FabLinkLoadRecord, i).busy_fraction;
  return 0;
}

static double
startup_fraction (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  double startup_ps = 0, all_ps = 0;

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);

    startup_ps += (double) dag->collectives[record->index].plan.startup_ps;
    all_ps += (double) (record->end_ps - record->start_ps);
  }
  return all_ps > 0 ? startup_ps / all_ps : 0;
}

static FabPaceRecord
pace_of (const FabSimulation *simulation)
{
  const FabProbe *probe = fab_simulation_probe (simulation);
  FabBinding binding = fab_binding_find (probe, fab_simulation_cluster (simulation)->graph);

  return (FabPaceRecord){ .binding_link = binding.link,
                          .binding_fraction = binding.fraction,
                          .binding_busy_fraction = busy_fraction (probe, binding.link),
                          .startup_fraction = startup_fraction (simulation),
                          .ends_fraction = binding.ends_fraction };
}

static gboolean
store_pace (const FabSimulation *simulation, FabStore *store, GError **error)
{
  FabPaceRecord row = pace_of (simulation);

  return row.binding_link == FAB_NO_LINK || fab_store_add_pace (store, &row, error);
}

static gboolean
judge (gpointer owner, const FabSimulation *simulation, FabStore *store, GError **error)
{
  const Watch *self = owner;

  self->result->verdict = fab_verdict_of (self->scenario, simulation, self->request->registry, error);
  if (self->result->verdict != NULL && self->request->advises)
    self->result->advice = fab_advise_memory (self->scenario, simulation,
                                              &(FabMemoryTrying){ self->request->registry,
                                                                  MAX (self->request->n_threads, 1),
                                                                  self->request->cancel },
                                              self->result->verdict);
  return self->result->verdict != NULL
      && (store == NULL
          || (fab_verdict_store (self->result->verdict, store, error)
              && store_pace (simulation, store, error)))
      && count_failures (self, simulation, store, error);
}

/* Nobody is told where a fast network cannot play the scenario: the guess is for a person who waits. */
void
fab_run_guess_step (const FabScenario *scenario, const FabRegistry *registry, const gint *cancel,
                    FabPulse *pulse)
{
  const gint64 ps_per_us = 1000000;
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  const FabRunOptions options = { .steps = steps, .cancel = cancel };
  g_autoptr (FabScenario) copy = fab_draw_fast (scenario, registry);

  if (copy == NULL || !fab_scenario_set (copy, "iterations", fab_value_count (1), NULL)
      || !fab_scenario_check (copy, NULL))
    return;
  g_autoptr (FabSimulation) played = fab_scenario_run (copy, registry, NULL, &options, NULL);
  if (played != NULL && steps->len == 1)
    fab_pulse_guess (pulse, g_array_index (steps, FabStepRecord, 0).times.duration_ps / ps_per_us);
}

FabEffort
fab_run_effort (const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabNetOps *ops = (const FabNetOps *) spec->fidelity.info;
  gconstpointer params = spec->fidelity.params;
  /* What meets the traffic of others meets it in another way each time. */
  gboolean is_alone = spec->neighbours.n == 0 && spec->background.n == 0;
  gboolean remembers = is_alone && ops->remembers != NULL && ops->remembers (params);
  const FabNeighbours *neighbours = fab_simulation_neighbours (simulation);
  FabEffort effort = fab_effort (fab_simulation_dag (simulation), ops, params);

  for (guint i = 0; i < spec->neighbours.n; i++)
    effort.all_s += fab_effort (fab_neighbours_job (neighbours, i)->dag, ops, params).all_s;
  effort.all_s *= (double) spec->iterations;
  if (!remembers)
    effort.alike_s = effort.all_s;
  return effort;
}

/* Tells the pulse what may be known before a run begins. A guess is worth a play where somebody looks on from the
 * beginning, and where the run may take long. */
static void
foretell (const FabScenario *scenario, const FabRunRequest *request, const FabSimulation *simulation)
{
  FabEffort effort = fab_run_effort (scenario, simulation);

  fab_pulse_warn_of (request->pulse, effort.alike_s, effort.all_s);
  if (request->pulse->wants_guess || effort.all_s >= FAB_RUN_LONG_S)
    fab_run_guess_step (scenario, request->registry, request->cancel, request->pulse);
}

/* Plays what was built; `store` may be NULL. */
static gboolean
play (const FabScenario *scenario, const FabRunRequest *request, gboolean counts_failures, FabStore *store,
      FabRunResult *result, GError **error)
{
  Watch watch = {
    request,        scenario, result, g_get_monotonic_time (), fab_scenario_spec (scenario)->iterations,
    counts_failures
  };
  FabRunOptions options = { .store = store,
                            .run_id = &result->run_id,
                            .steps = result->steps,
                            .cancel = request->cancel,
                            .progress = tell,
                            .ended = request->has_no_verdict ? NULL : judge,
                            .owner = &watch,
                            .n_threads = request->n_threads,
                            .pulse = request->pulse };

  fab_pulse_expect (request->pulse, (guint) watch.n_iterations);
  if (!fab_simulation_run (result->simulation, &options, error))
    return FALSE;
  fab_run_finish (result);
  return TRUE;
}

gboolean
fab_run_play_built (const FabScenario *scenario, const FabRegistry *registry, FabSimulation *simulation,
                    FabStore *store, FabRunResult *result, GError **error)
{
  const FabRunRequest quiet = { .registry = registry, .advises = store != NULL };
  gint64 start_us = g_get_monotonic_time ();
  gboolean is_played;

  *result = (FabRunResult){ .simulation = simulation,
                            .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  is_played = play (scenario, &quiet, TRUE, store, result, error);
  result->wall_s = seconds_since (start_us);
  return is_played;
}

/* The file is opened when there is something to write, so that a scenario that cannot be built leaves none. */
gboolean
fab_run_play (const FabScenario *scenario, const FabWhatIf *what_if, const FabRunRequest *request,
              FabRunResult *result, GError **error)
{
  gint64 start_us = g_get_monotonic_time ();
  g_autoptr (FabStore) store = NULL;

  *result = (FabRunResult){ .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  result->simulation = fab_simulation_build_beside (request->beside, scenario, request->registry, what_if,
                                                    request->cancel, error);
  if (result->simulation == NULL)
    return FALSE;
  if (request->db != NULL && (store = fab_store_open (request->db, FAB_STORE_WRITE, error)) == NULL)
    return FALSE;
  if (what_if == NULL && request->pulse != NULL)
    foretell (scenario, request, result->simulation);
  if (!play (scenario, request, what_if == NULL, store, result, error)
      || (store && !fab_store_close (&store, error)))
    return FALSE;
  result->wall_s = seconds_since (start_us);
  return TRUE;
}

void
fab_run_result_clear (FabRunResult *result)
{
  fab_run_reasons_clear (&result->reasons);
  g_clear_pointer (&result->verdict, fab_verdict_free);
  g_clear_pointer (&result->advice, fab_memory_advice_free);
  g_clear_pointer (&result->simulation, fab_simulation_free);
  g_clear_pointer (&result->steps, g_array_unref);
  g_clear_pointer (&result->jobs, g_array_unref);
  g_clear_pointer (&result->band, fab_band_free);
  g_clear_pointer (&result->bottleneck, fab_bottleneck_free);
  g_clear_pointer (&result->failures, fab_goodput_case_free);
}

/* --- figures --- */

void
fab_run_finish (FabRunResult *result)
{
  result->pace = pace_of (result->simulation);
  fab_run_reasons_find (&result->reasons, result->simulation, result->steps);
}

const FabStepRecord *
fab_run_last_step (const FabRunResult *result)
{
  return &g_array_index (result->steps, FabStepRecord, result->steps->len - 1);
}

char *
fab_run_link_name (const FabRunResult *result, FabLinkId link)
{
  FabLinkRecord record;
  char *name;

  if (link == FAB_NO_LINK)
    return NULL;
  record = fab_simulation_link_record (result->simulation, link);
  name = g_strdup_printf ("%s -> %s", record.from, record.to);
  g_free ((char *) record.from);
  g_free ((char *) record.to);
  return name;
}

const char *
fab_run_link_entry (const FabRunResult *result, FabLinkId link)
{
  return fab_graph_link_class (fab_simulation_cluster (result->simulation)->graph, link)->name;
}

/* --- the bottleneck --- */

gboolean
fab_run_find_bottleneck (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                         GError **error)
{
  enum { MOST_PLANTS = 16 };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (MOST_PLANTS);
  const FabDecisionEnv env = { request->registry, plants, request->cancel, request->pulse,
                               request->n_threads };

  const FabPlayedOnce once = { .n_events = fab_simulation_events (result->simulation) };
  result->bottleneck = fab_bottleneck_find (&env, scenario, once, error);
  if (result->bottleneck != NULL && result->verdict != NULL)
    fab_bottleneck_judge (result->bottleneck, result->verdict);
  return result->bottleneck != NULL;
}

/* --- several jobs --- */

/* Mean of FabStepRecord, rounded down; 0 of none. */
static FabTimePs
mean_ps (const GArray *steps)
{
  FabTimePs sum_ps = 0;

  for (guint i = 0; i < steps->len; i++)
    sum_ps = fab_ps_add (sum_ps, g_array_index (steps, FabStepRecord, i).times.duration_ps);
  return steps->len > 0 ? sum_ps / steps->len : 0;
}

static gboolean
play_alone (const FabScenario *scenario, const FabRunRequest *request, guint which, FabRunJob *job,
            GError **error)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new_alone (scenario, request->registry, which, error);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  FabRunOptions options = { .steps = steps, .cancel = request->cancel };

  if (simulation == NULL || !fab_simulation_run (simulation, &options, error))
    return FALSE;
  job->n_nodes = fab_simulation_cluster (simulation)->n_nodes;
  job->alone_ps = mean_ps (steps);
  return TRUE;
}

gboolean
fab_run_find_jobs (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                   GError **error)
{
  const FabParamList *neighbours = &fab_scenario_spec (scenario)->neighbours;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FabRunJob));

  for (guint i = 0; neighbours->n > 0 && i <= neighbours->n; i++) {
    guint which = i == 0 ? FAB_FIRST_JOB : i - 1;
    const GArray *steps = i == 0
                            ? result->steps
                            : fab_neighbours_steps (fab_simulation_neighbours (result->simulation), which);
    FabRunJob job = { .name = i == 0 ? fab_scenario_spec (scenario)->name
                                     : ((const FabNeighbourSpec *) neighbours->data + which)->name,
                      .n_steps = steps->len,
                      .together_ps = mean_ps (steps) };

    if (!play_alone (scenario, request, which, &job, error))
      return FALSE;
    g_array_append_val (all, job);
  }
  result->jobs = g_steal_pointer (&all);
  return TRUE;
}

double
fab_run_slow_down (const FabRunJob *job)
{
  return job->alone_ps > 0 ? (double) job->together_ps / (double) job->alone_ps : 1;
}

/* --- the band --- */

/* A network that plays messages needs long for the ends of everything that is uncertain. A fast network plays them
 * where it is near, and says by how much the figures change: in proportion to what communication takes on both. */
typedef struct {
  const FabScenario *scenario; /* that is played */
  FabRunRequest request;
  guint n;         /* steps */
  double *seconds; /* [2 n] of each step, then of what each exposes; as the network of the scenario has it */
  double *fast_seconds; /* [2 n] as the fast network has it; NULL: it does not play */
  double *comm_ratios;  /* [n] seconds of communication over those of the fast network */
  FabRunResult fast;    /* of it */
} Bander;

static void
copy_times (const FabRunResult *result, double *seconds)
{
  for (guint i = 0; i < result->steps->len; i++) {
    const FabIterationRecord *times = &g_array_index (result->steps, FabStepRecord, i).times;

    seconds[i] = fab_ps_to_seconds (times->duration_ps);
    seconds[result->steps->len + i] = fab_ps_to_seconds (times->exposed_ps);
  }
}

/* From seconds of the fast network to those of the scenario's. */
static void
move_times (const Bander *self, const FabWhatIf *what_if, double *seconds)
{
  for (guint i = 0; self->fast_seconds != NULL && i < 2 * self->n; i++) {
    double ratio = what_if->compute != NULL ? 1 : self->comm_ratios[i % self->n];

    seconds[i] = MAX (self->seconds[i] + ratio * (seconds[i] - self->fast_seconds[i]), 0);
  }
}

static gboolean
play_changed (gpointer owner, const FabWhatIf *what_if, double *seconds, GError **error)
{
  const Bander *self = owner;
  FabRunResult changed = { 0 };
  gboolean is_played = fab_run_play (self->scenario, what_if, &self->request, &changed, error);

  if (is_played) {
    copy_times (&changed, seconds);
    move_times (self, what_if, seconds);
  } else {
    g_prefix_error (
        error, "band, with %s changed: ",
        what_if->link_class != NULL
            ? what_if->link_class
            : fab_unsure_names[what_if->compute != NULL ? FAB_UNSURE_COMPUTE : FAB_UNSURE_COLLECTIVES]);
  }
  fab_run_result_clear (&changed);
  return is_played;
}

/* In 24 shipped scenarios communication differed by less than this at the two levels. There the ends of 22 were within
 * 0.7 % of the step of those that packets gave, and two within 3.3 %. Where it differed by more, ends were up to 81 %
 * of the step apart. */
static const double most_apart_fraction = 0.02;

static double
comm_seconds (const FabRunResult *result, guint i)
{
  return fab_ps_to_seconds (g_array_index (result->steps, FabStepRecord, i).times.comm_ps);
}

/* Whether no link marked, paused or lost packets. */
static gboolean
is_calm (const FabRunResult *result)
{
  g_autoptr (GArray) queues = fab_simulation_link_queues (result->simulation);

  for (guint i = 0; i < queues->len; i++) {
    const FabLinkQueueRecord *queue = &g_array_index (queues, FabLinkQueueRecord, i);

    if (queue->n_marks + queue->n_pauses + queue->n_drops != 0)
      return FALSE;
  }
  return TRUE;
}

/* Whether queues and losses change next to nothing, so that the fast network's ends are those of the scenario's own. A
 * neighbour or background traffic leaves more of a link to slower collectives in a network of packets than in one of
 * flows. */
static gboolean
is_near_fast (const Bander *self, const FabRunResult *result)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);

  if (((const FabNetOps *) spec->fidelity.info)->link_queue == NULL)
    return TRUE;
  for (guint i = 0; i < self->n; i++)
    if (fabs (self->comm_ratios[i] - 1) > most_apart_fraction)
      return FALSE;
  return spec->neighbours.n == 0 && spec->background.n == 0 && is_calm (result);
}

/* Plays the scenario on the fast network, which then plays for the band. Without one, and where it is not near, the
 * scenario's own does. */
static void
play_fast (Bander *self, const FabScenario *fast, const FabRunResult *result)
{
  FabRunRequest alone = self->request;
  FabRunResult *played = &self->fast;

  alone.beside = NULL;
  if (fast == NULL || !fab_run_play (fast, NULL, &alone, played, NULL) || played->steps->len != self->n)
    return;
  self->comm_ratios = g_new (double, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    self->comm_ratios[i] = comm_seconds (played, i) > 0 ? comm_seconds (result, i) / comm_seconds (played, i)
                                                        : 1;
  if (!is_near_fast (self, result))
    return;
  self->scenario = fast;
  self->request.beside = played->simulation;
  self->fast_seconds = g_new (double, 2 * self->n + 1);
  copy_times (played, self->fast_seconds);
}

gboolean
fab_run_find_band (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                   GError **error)
{
  g_autofree double *seconds = g_new (double, 2 * result->steps->len + 1);
  g_autoptr (FabScenario) fast = fab_draw_fast (scenario, request->registry);
  Bander bander = { .scenario = scenario, .request = *request, .n = result->steps->len, .seconds = seconds };

  bander.request.db = NULL;
  bander.request.beside = result->simulation;
  bander.request.has_no_verdict = TRUE;
  copy_times (result, seconds);
  play_fast (&bander, fast, result);
  gboolean is_found = fab_band_find (scenario, fab_simulation_cluster (result->simulation)->graph, seconds,
                                     2 * bander.n, play_changed, &bander, &result->band, error);
  if (result->band != NULL && bander.fast_seconds != NULL)
    result->band->fidelity = fab_scenario_spec (fast)->fidelity.info->name;
  g_free (bander.fast_seconds);
  g_free (bander.comm_ratios);
  fab_run_result_clear (&bander.fast);
  return is_found;
}

/* --- into the results file --- */

/* Bounds of what each iteration takes, then of what it exposes. Reasons are owned by `reasons`. */
static FabBandRecord *
band_records (const FabRunResult *result, GPtrArray *reasons)
{
  guint n_steps = result->steps->len;
  FabBandRecord *rows = g_new (FabBandRecord, 2 * n_steps + 1);

  for (guint i = 0; i < 2 * n_steps; i++) {
    g_ptr_array_add (reasons, fab_band_most (result->band, i));
    rows[i] = (FabBandRecord){ .iteration = i % n_steps,
                               .figure = i < n_steps ? "step" : "exposed",
                               .low_s = result->band->low[i],
                               .high_s = result->band->high[i],
                               .coverage_fraction = result->band->coverage_fraction,
                               .reason = g_ptr_array_index (reasons, i) };
  }
  return rows;
}

static FabLeverRecord *
lever_records (const FabBottleneck *bottleneck)
{
  FabLeverRecord *rows = g_new (FabLeverRecord, bottleneck->levers->len + 1);

  for (guint i = 0; i < bottleneck->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (bottleneck, i);

    rows[i] = (FabLeverRecord){ .place = i,
                                .kind = fab_lever_names[lever->kind],
                                .name = lever->name,
                                .change = lever->change,
                                .limits = (gint) i == bottleneck->first,
                                .step_s = lever->step_s,
                                .exposed_s = lever->exposed_s,
                                .saved_fraction = fab_lever_saved (lever),
                                .n_seeds = bottleneck->n_draws,
                                .fidelity = bottleneck->fidelity,
                                .base_step_s = bottleneck->base.step_s };
  }
  return rows;
}

gboolean
fab_run_store_outlook (const char *db, const FabRunResult *result, GError **error)
{
  g_autoptr (GPtrArray) reasons = g_ptr_array_new_with_free_func (g_free);
  const FabBottleneck *bottleneck = result->bottleneck;

  if (db == NULL || result->run_id == 0 || (result->band == NULL && bottleneck == NULL))
    return TRUE;
  g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_WRITE, error);
  if (store == NULL)
    return FALSE;
  g_autofree FabBandRecord *bands = result->band != NULL ? band_records (result, reasons) : NULL;
  g_autofree FabLeverRecord *levers = bottleneck != NULL ? lever_records (bottleneck) : NULL;
  g_autofree FabFindingRecord *findings = result->verdict != NULL ? fab_verdict_records (result->verdict)
                                                                  : NULL;
  return fab_store_add_outlook (store, result->run_id,
                                &(FabOutlookRecords){ bands, levers, findings,
                                                      bands != NULL ? 2 * result->steps->len : 0,
                                                      levers != NULL ? bottleneck->levers->len : 0,
                                                      fab_verdict_n (result->verdict) },
                                error)
      && fab_store_close (&store, error);
}
