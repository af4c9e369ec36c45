/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - a scenario with one collective per size, played once.
 *
 * Time is that of the executor's record, from the last rank's arrival to the last byte; algorithm, protocol
 * and startup are those of the plan in the task DAG. O(links of the plant) once and one event per size; for a band of
 * links, that twice per uncertain number.
 */
#include "answer/predict.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/run/band.h"
#include "sim/run/run.h"

const char *const fab_bound_names[] = {
  [FAB_BOUND_STARTUP] = "startup",
  [FAB_BOUND_PROTOCOL] = "protocol",
  [FAB_BOUND_MESSAGES] = "messages",
  [FAB_BOUND_LINK] = "link",
  NULL,
};

const char *const fab_form_names[] = {
  [FAB_FORM_STREAM] = "stream",
  [FAB_FORM_CLOSED] = "closed",
  [FAB_FORM_STEP] = "step",
  NULL,
};

gboolean
fab_form_find (const char *name, FabForm *form)
{
  for (guint i = 0; fab_form_names[i] != NULL; i++)
    if (strcmp (fab_form_names[i], name) == 0) {
      *form = (FabForm) i;
      return TRUE;
    }
  return FALSE;
}

/* One operation for each size. */
static FabValue *
job_of (const FabPredictionRequest *request)
{
  FabValue *job = fab_value_mapping (), *operations = fab_value_list ();

  for (guint i = 0; i < request->n_sizes; i++) {
    FabValue *operation = fab_value_mapping ();

    fab_value_put (operation, "op", fab_value_text (fab_op_names[request->op]));
    fab_value_put (operation, "size", fab_value_whole (FAB_UNIT_BYTES, (gint64) request->sizes_bytes[i]));
    fab_value_append (operations, operation);
  }
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  return job;
}

static FabScenario *
scenario_of (const FabPredictionRequest *request, const FabCatalog *catalog, const FabRegistry *registry,
             GError **error)
{
  g_autoptr (FabScenario) scenario = request->base != NULL ? fab_scenario_copy (request->base)
                                                           : fab_scenario_new ("request", registry, catalog);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  if (request->base == NULL) {
    fab_edits_set (edits, "name", fab_value_text ("collective"));
    if (request->node != NULL)
      fab_edits_set (edits, "cluster.node", fab_value_text (request->node));
    fab_edits_set (edits, "cluster.nodes", fab_value_count (request->nodes));
    fab_edits_set (edits, "cluster.gpus_per_node", fab_value_count (request->gpus_per_node));
  }
  fab_edits_set (edits, "iterations",
                 fab_value_count (1)); /* more would go on beside what is played after the first */
  fab_edits_set (edits, "job", job_of (request));
  fab_edits_append (edits, request->edits);
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

/* An assignment may change how the collectives run, not which ones. */
static gboolean
is_job_kept (const FabSimulation *simulation, const FabPredictionRequest *request)
{
  const FabDag *dag = fab_simulation_dag (simulation);

  if (dag->n_collectives != request->n_sizes)
    return FALSE;
  for (guint i = 0; i < request->n_sizes; i++)
    if (dag->collectives[i].plan.op != request->op
        || dag->collectives[i].plan.bytes != request->sizes_bytes[i])
      return FALSE;
  return TRUE;
}

/* Whether messages that follow one another limit it more than the busiest link. */
static gboolean
follows_messages (const FabCollectivePlan *plan)
{
  return plan->messages != NULL && plan->most_bytes_per_s > 0
      && plan->most_bytes_per_s < plan->footprint->rate_bytes_per_s / plan->wire_factor;
}

static FabBound
find_bound (const FabCollectivePlan *plan, FabTimePs time_ps, FabForm form)
{
  if (plan->startup_ps > time_ps / 2)
    return FAB_BOUND_STARTUP;
  if (form == FAB_FORM_STEP)
    return FAB_BOUND_LINK;
  return follows_messages (plan)                   ? FAB_BOUND_MESSAGES
       : fab_collective_plan_waits_for_ends (plan) ? FAB_BOUND_PROTOCOL
                                                   : FAB_BOUND_LINK;
}

static char *
write_binding (const FabSimulation *simulation, FabLinkId link)
{
  FabLinkRecord record = fab_simulation_link_record (simulation, link);
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  g_autofree char *from = (char *) record.from, *to = (char *) record.to,
                  *label = fab_link_class_label (fab_graph_link_class (graph, link));

  return g_strdup_printf ("%s %s -> %s", label, from, to);
}

static FabTimePs
time_steps (FabSimulation *simulation, guint index)
{
  const FabCollectivePlan *plan = &fab_simulation_dag (simulation)->collectives[index].plan;
  const FabBytes chunk_bytes = 1 << 20, max_chunks = 64;
  FabTimePs wires_ps = fab_simulation_time_steps (simulation, index,
                                                  (guint) CLAMP (plan->bytes / chunk_bytes, 1, max_chunks));

  return fab_ps_add (wires_ps, plan->startup_ps - plan->latency_ps);
}

static FabTimePs
time_of (FabSimulation *simulation, guint index, FabForm form)
{
  const FabCollectiveRecord *record = &g_array_index (fab_simulation_probe (simulation)->collectives,
                                                      FabCollectiveRecord, index);

  switch (form) {
  case FAB_FORM_CLOSED:
    return fab_collective_plan_idle_ps (&fab_simulation_dag (simulation)->collectives[index].plan);
  case FAB_FORM_STEP: return time_steps (simulation, index);
  case FAB_FORM_STREAM:
  default: return record->end_ps - record->start_ps;
  }
}

static void
count_sizes (const FabCollectivePlan *plan, FabPrediction *row)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabMessageSize));

  if (plan->messages != NULL)
    fab_schedule_add_sizes (plan->messages, plan->bytes, sizes);
  row->n_sizes = sizes->len;
  for (guint i = 0; i < sizes->len; i++)
    row->n_outside += g_array_index (sizes, FabMessageSize, i).is_outside ? 1 : 0;
}

static FabPrediction
read_row (const FabScenario *scenario, FabSimulation *simulation, guint index, FabForm form)
{
  const FabCollectivePlan *plan = &fab_simulation_dag (simulation)->collectives[index].plan;
  FabPrediction row = { .size_bytes = plan->bytes,
                        .algorithm = plan->algorithm,
                        .protocol = plan->protocol,
                        .n_ranks = plan->n_ranks,
                        .flags_factor = plan->wire_factor,
                        .bound = FAB_BOUND_STARTUP };

  if (plan->footprint == NULL)
    return row;
  FabTimePs time_ps = time_of (simulation, index, form);
  count_sizes (plan, &row);
  row.kind = fab_plan_kind (scenario, fab_simulation_cluster (simulation), plan);
  row.n_channels = plan->n_channels;
  row.best = plan->best;
  row.time_us = fab_ps_to_seconds (time_ps) * 1e6;
  row.startup_us = fab_ps_to_seconds (plan->startup_ps) * 1e6;
  row.algbw_GBps = (double) plan->bytes / row.time_us / 1e3;
  row.busbw_GBps = row.algbw_GBps * fab_op_bus_factor (plan->op, plan->n_ranks);
  row.wire_GBps = row.algbw_GBps * fab_collective_plan_wire_per_byte (plan);
  row.bound = find_bound (plan, time_ps, form);
  row.binding = write_binding (simulation, plan->footprint->binding_link);
  return row;
}

/* --- band --- */

static void
clear_row (gpointer data)
{
  g_free (((FabPrediction *) data)->binding);
  g_free (((FabPrediction *) data)->most);
}

typedef struct {
  const FabPredictionRequest *request;
  const FabScenario *scenario;
  const FabRegistry *registry;
} Asked;

/* Its one iteration has been played; NULL and *error when it cannot be. */
static FabSimulation *
play (const Asked *self, const FabWhatIf *what_if, GError **error)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new (self->scenario, self->registry, what_if, error);

  if (simulation == NULL)
    return NULL;
  if (!is_job_kept (simulation, self->request)) {
    fab_throw (error, FAB_ERROR_INPUT, "--set: the job is the collective itself and stays as it is");
    return NULL;
  }
  return fab_simulation_run (simulation, &(FabRunOptions){ .n_iterations = 1 }, error)
           ? g_steal_pointer (&simulation)
           : NULL;
}

static gboolean
play_times (gpointer owner, const FabWhatIf *what_if, double *times_us, GError **error)
{
  const Asked *self = owner;
  g_autoptr (FabSimulation) simulation = play (self, what_if, error);

  for (guint i = 0; simulation != NULL && i < self->request->n_sizes; i++)
    times_us[i] = fab_ps_to_seconds (time_of (simulation, i, self->request->form)) * 1e6;
  return simulation != NULL;
}

/* Rows over links that say how sure their numbers are. */
static gboolean
add_band_of_links (Asked *self, const FabSimulation *simulation, GArray *rows, GError **error)
{
  g_autofree double *times_us = g_new (double, rows->len);
  g_autoptr (FabBand) band = NULL;

  for (guint i = 0; i < rows->len; i++)
    times_us[i] = g_array_index (rows, FabPrediction, i).time_us;
  if (!fab_band_of_links (self->scenario, fab_simulation_cluster (simulation)->graph, times_us, rows->len,
                          play_times, self, &band, error))
    return FALSE;
  for (guint i = 0; band != NULL && i < rows->len; i++) {
    FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    if (!row->kind.is_calibrated)
      continue;
    row->low_us = band->low[i];
    row->high_us = band->high[i];
    row->coverage_fraction = band->coverage_fraction;
    row->most = fab_band_most (band, i);
  }
  return TRUE;
}

/* A row of whose kind collectives were measured. Nothing is played again: it is the only one on an idle machine. */
static void
add_band_of_kind (const FabScenario *scenario, const FabCollectivePlan *plan, FabPrediction *row)
{
  FabPlanBand band = fab_plan_band (scenario, plan, &row->kind);

  if (band.coverage_fraction <= 0)
    return;
  row->low_us = row->time_us * band.low_factor;
  row->high_us = row->time_us * band.high_factor;
  row->coverage_fraction = band.coverage_fraction;
  row->n_tables = band.n_tables;
  row->n_families = band.n_families;
  row->untuned = band.untuned;
  row->most = fab_plan_band_basis (&band);
}

static gboolean
add_band (Asked *self, const FabSimulation *simulation, GArray *rows, GError **error)
{
  gboolean is_calibrated = FALSE;

  for (guint i = 0; i < rows->len; i++) {
    const FabCollectivePlan *plan = &fab_simulation_dag (simulation)->collectives[i].plan;
    FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    is_calibrated = is_calibrated || row->kind.is_calibrated;
    if (plan->footprint != NULL && !row->kind.is_calibrated)
      add_band_of_kind (self->scenario, plan, row);
  }
  return !is_calibrated || add_band_of_links (self, simulation, rows, error);
}

char *
fab_predictions_basis (const GArray *rows)
{
  g_autoptr (GPtrArray) bases = g_ptr_array_new ();

  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    if (row->n_tables > 0 && !g_ptr_array_find_with_equal_func (bases, row->most, g_str_equal, NULL))
      g_ptr_array_add (bases, row->most);
  }
  g_ptr_array_add (bases, NULL);
  return g_strjoinv (", ", (char **) bases->pdata);
}

static void
add_rates (FabPrediction *row)
{
  if (row->low_us <= 0)
    return;
  row->busbw_low_GBps = row->busbw_GBps * row->time_us / row->high_us;
  row->busbw_high_GBps = row->busbw_GBps * row->time_us / row->low_us;
}

GArray *
fab_predict_collective (const FabPredictionRequest *request, const FabCatalog *catalog,
                        const FabRegistry *registry, GError **error)
{
  g_autoptr (FabScenario) scenario = scenario_of (request, catalog, registry, error);
  Asked asked = { request, scenario, registry };
  g_autoptr (FabSimulation) simulation = scenario != NULL ? play (&asked, NULL, error) : NULL;

  if (simulation == NULL)
    return NULL;
  g_autoptr (GArray) rows = g_array_sized_new (FALSE, FALSE, sizeof (FabPrediction), request->n_sizes);
  g_array_set_clear_func (rows, clear_row);
  for (guint i = 0; i < request->n_sizes; i++) {
    FabPrediction row = read_row (scenario, simulation, i, request->form);

    g_array_append_val (rows, row);
  }
  if (request->has_band && !add_band (&asked, simulation, rows, error))
    return NULL;
  for (guint i = 0; i < rows->len; i++)
    add_rates (&g_array_index (rows, FabPrediction, i));
  return g_steal_pointer (&rows);
}
