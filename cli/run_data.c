/* SPDX-License-Identifier: Apache-2.0 */
/* run_data.c - `fabricast run` for programs: JSON and CSV. Keys are stable; more may come. */
#include <json-glib/json-glib.h>
#include <sys/resource.h>

#include "cli/run.h"

static double
seconds (FabTimePs time_ps)
{
  return fab_ps_to_seconds (time_ps);
}

static void
add_double (JsonBuilder *json, const char *key, double value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_double_value (json, value);
}

static void
add_text (JsonBuilder *json, const char *key, const char *value)
{
  json_builder_set_member_name (json, key);
  if (value)
    json_builder_add_string_value (json, value);
  else
    json_builder_add_null_value (json);
}

static void
add_whole (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

static void
add_step (JsonBuilder *json, const FabStepRecord *step)
{
  json_builder_begin_object (json);
  add_double (json, "duration_s", seconds (step->times.duration_ps));
  add_double (json, "compute_s", seconds (step->times.compute_ps));
  add_double (json, "comm_s", seconds (step->times.comm_ps));
  add_double (json, "overlapped_s", seconds (step->times.overlapped_ps));
  add_double (json, "exposed_s", seconds (step->times.exposed_ps));
  add_double (json, "idle_s", seconds (step->times.idle_ps));
  add_double (json, "mfu_fraction", step->mfu_fraction);
  add_double (json, "hfu_fraction", step->hfu_fraction);
  add_double (json, "tokens_per_s", step->tokens_per_s);
  json_builder_end_object (json);
}

/* Of this process so far. */
static gint64
peak_rss_bytes (void)
{
  struct rusage usage;

  return getrusage (RUSAGE_SELF, &usage) == 0 ? (gint64) usage.ru_maxrss * 1024 : 0;
}

static void
add_binding (JsonBuilder *json, const FabRunResult *result)
{
  g_autofree char *name = fab_run_link_name (result, result->binding_link);
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;

  add_text (json, "binding_link", name);
  add_text (json, "binding_link_spec",
            name ? fab_graph_link_class (graph, result->binding_link)->name : NULL);
}

char *
fab_run_json (const FabScenario *scenario, const FabRunResult *result)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_object (json);
  add_text (json, "name", fab_scenario_spec (scenario)->name);
  add_text (json, "version", FAB_VERSION);
  add_text (json, "fidelity", fab_scenario_spec (scenario)->fidelity.info->name);
  add_whole (json, "ranks", fab_cluster_n_ranks (fab_simulation_cluster (result->simulation)));
  json_builder_set_member_name (json, "iterations");
  json_builder_begin_array (json);
  for (guint i = 0; i < result->steps->len; i++)
    add_step (json, &g_array_index (result->steps, FabStepRecord, i));
  json_builder_end_array (json);
  add_binding (json, result);
  add_whole (json, "events", (gint64) fab_simulation_events (result->simulation));
  add_double (json, "wall_s", result->wall_s);
  add_whole (json, "peak_rss_bytes", peak_rss_bytes ());
  if (result->run_id > 0)
    add_whole (json, "run_id", result->run_id);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  g_autofree char *text = json_to_string (root, TRUE);
  return g_strconcat (text, "\n", NULL);
}

char *
fab_run_csv (const FabRunResult *result)
{
  GString *csv = g_string_new (
      "iteration,duration_s,compute_s,comm_s,overlapped_s,exposed_s,idle_s,mfu_fraction,"
      "hfu_fraction,tokens_per_s\n");

  for (guint i = 0; i < result->steps->len; i++) {
    const FabStepRecord *step = &g_array_index (result->steps, FabStepRecord, i);
    const FabIterationRecord *times = &step->times;

    g_string_append_printf (csv, "%u,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.9g,%.9g,%.9g\n", times->iteration,
                            seconds (times->duration_ps), seconds (times->compute_ps),
                            seconds (times->comm_ps), seconds (times->overlapped_ps),
                            seconds (times->exposed_ps), seconds (times->idle_ps), step->mfu_fraction,
                            step->hfu_fraction, step->tokens_per_s);
  }
  return g_string_free (csv, FALSE);
}
