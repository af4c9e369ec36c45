/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - a scenario with one collective per size, played once.
 *
 * Time is that of the executor's record, from the last rank's arrival to the last byte; algorithm, protocol
 * and startup are those of the plan in the task DAG. O(links of the plant) once and one event per size; for a band,
 * that twice per uncertain number.
 */
#include "answer/predict.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/scenario/band.h"
#include "sim/scenario/run.h"

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

static void
write_text (FabYamlWriter *writer, const char *key, const char *text)
{
  if (text == NULL)
    return;
  fab_yaml_writer_key (writer, key);
  fab_yaml_writer_text (writer, text);
}

static void
write_whole (FabYamlWriter *writer, const char *key, FabUnit unit, gint64 value)
{
  g_autofree char *text = fab_units_write_whole (unit, value);

  fab_yaml_writer_key (writer, key);
  fab_yaml_writer_scalar (writer, text);
}

static void
write_cluster (FabYamlWriter *writer, const FabPredictionRequest *request)
{
  fab_yaml_writer_key (writer, "cluster");
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  write_text (writer, "node", request->node);
  write_whole (writer, "nodes", FAB_UNIT_COUNT, request->nodes);
  write_whole (writer, "gpus_per_node", FAB_UNIT_COUNT, request->gpus_per_node);
  write_text (writer, "nic", request->nic);
  write_text (writer, "fabric", request->fabric);
  fab_yaml_writer_end (writer);
}

static void
write_job (FabYamlWriter *writer, const FabPredictionRequest *request)
{
  fab_yaml_writer_key (writer, "job");
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  write_text (writer, "kind", "collective");
  fab_yaml_writer_key (writer, "operations");
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  for (guint i = 0; i < request->n_sizes; i++) {
    fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
    write_text (writer, "op", fab_op_names[request->op]);
    write_whole (writer, "size", FAB_UNIT_BYTES, (gint64) request->sizes_bytes[i]);
    fab_yaml_writer_end (writer);
  }
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
}

/* A resolved scenario has its sections at the left margin, and `job` is one of them. */
static char *
replace_job (const FabPredictionRequest *request)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (request->base, "\n", -1);
  FabYamlWriter *writer = fab_yaml_writer_new ();
  gboolean is_job = FALSE;

  for (guint i = 0; lines[i]; i++) {
    if (*lines[i] != ' ' && *lines[i] != '\0')
      is_job = g_str_has_prefix (lines[i], "job:");
    if (!is_job && *lines[i] != '\0')
      g_string_append_printf (text, "%s\n", lines[i]);
  }
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  write_job (writer, request);
  fab_yaml_writer_end (writer);
  g_autofree char *job = fab_yaml_writer_finish (writer);
  g_string_append (text, job);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
write_scenario (const FabPredictionRequest *request)
{
  if (request->base != NULL)
    return replace_job (request);
  FabYamlWriter *writer = fab_yaml_writer_new ();

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  write_text (writer, "name", "collective");
  write_whole (writer, "iterations", FAB_UNIT_COUNT, 1);
  write_cluster (writer, request);
  write_job (writer, request);
  fab_yaml_writer_end (writer);
  return fab_yaml_writer_finish (writer);
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

static FabBound
find_bound (const FabCollectivePlan *plan, FabTimePs time_ps, FabForm form)
{
  double limit = form == FAB_FORM_STEP ? 0 : plan->limit_bytes_per_s;

  if (plan->startup_ps > time_ps / 2)
    return FAB_BOUND_STARTUP;
  if (limit > 0 && limit < plan->footprint->rate_bytes_per_s / plan->wire_factor)
    return plan->messages != NULL ? FAB_BOUND_MESSAGES : FAB_BOUND_PROTOCOL;
  return FAB_BOUND_LINK;
}

static char *
write_binding (const FabSimulation *simulation, FabLinkId link)
{
  FabLinkRecord record = fab_simulation_link_record (simulation, link);
  g_autofree char *from = (char *) record.from, *to = (char *) record.to;

  return g_strdup_printf ("%s %s -> %s", record.spec, from, to);
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
  case FAB_FORM_CLOSED: return fab_plan_idle_ps (&fab_simulation_dag (simulation)->collectives[index].plan);
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
read_row (FabSimulation *simulation, guint index, FabForm form)
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
  row.n_channels = plan->n_channels;
  row.time_us = fab_ps_to_seconds (time_ps) * 1e6;
  row.startup_us = fab_ps_to_seconds (plan->startup_ps) * 1e6;
  row.algbw_GBps = (double) plan->bytes / row.time_us / 1e3;
  row.busbw_GBps = row.algbw_GBps * fab_op_bus_factor (plan->op, plan->n_ranks);
  row.wire_GBps = row.algbw_GBps * fab_plan_wire_per_byte (plan);
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

static gboolean
add_band (Asked *self, const FabSimulation *simulation, GArray *rows, GError **error)
{
  g_autofree double *times_us = g_new (double, rows->len);
  g_autoptr (FabBand) band = NULL;

  for (guint i = 0; i < rows->len; i++)
    times_us[i] = g_array_index (rows, FabPrediction, i).time_us;
  if (!fab_band_find (self->scenario, fab_simulation_cluster (simulation)->graph, times_us, rows->len,
                      play_times, self, &band, error))
    return FALSE;
  for (guint i = 0; band != NULL && i < rows->len; i++) {
    FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    row->low_us = band->low[i];
    row->high_us = band->high[i];
    row->most = fab_band_most (band, i);
  }
  return TRUE;
}

GArray *
fab_predict_collective (const FabPredictionRequest *request, const FabCatalog *catalog,
                        const FabRegistry *registry, GError **error)
{
  g_autofree char *yaml = write_scenario (request);
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("request", yaml, strlen (yaml), request->sets,
                                                         registry, catalog, error);
  Asked asked = { request, scenario, registry };
  g_autoptr (FabSimulation) simulation = scenario != NULL ? play (&asked, NULL, error) : NULL;

  if (simulation == NULL)
    return NULL;
  g_autoptr (GArray) rows = g_array_sized_new (FALSE, FALSE, sizeof (FabPrediction), request->n_sizes);
  g_array_set_clear_func (rows, clear_row);
  for (guint i = 0; i < request->n_sizes; i++) {
    FabPrediction row = read_row (simulation, i, request->form);

    g_array_append_val (rows, row);
  }
  if (request->has_band && !add_band (&asked, simulation, rows, error))
    return NULL;
  return g_steal_pointer (&rows);
}
