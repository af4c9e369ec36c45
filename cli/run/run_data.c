/* SPDX-License-Identifier: Apache-2.0 */
/* run_data.c - `fabricast run` for programs: JSON and CSV. Keys are stable; more may come. */
#include <sys/resource.h>

#include "cli/run/run.h"
#include "sim/base/json.h"
#include "sim/base/version.h"
#include "sim/result/record_data.h"

static void
add_step (FabJson *json, const FabRunResult *result, guint i)
{
  const FabStepRecord *step = &g_array_index (result->steps, FabStepRecord, i);

  fab_json_begin_object (json, NULL);
  fab_record_add_json (json, FAB_TABLE_STEP, step);
  if (result->band != NULL) {
    g_autofree char *most = fab_band_most (result->band, i);

    fab_json_add_real (json, "step_low_s", result->band->low[i]);
    fab_json_add_real (json, "step_high_s", result->band->high[i]);
    fab_json_add_real (json, "exposed_low_s", result->band->low[result->steps->len + i]);
    fab_json_add_real (json, "exposed_high_s", result->band->high[result->steps->len + i]);
    fab_json_add_text (json, "band_most", most);
  }
  fab_json_end (json);
}

/* Returns the peak memory of this process so far. */
static gint64
peak_rss_bytes (void)
{
  struct rusage usage;

  return getrusage (RUSAGE_SELF, &usage) == 0 ? (gint64) usage.ru_maxrss * 1024 : 0;
}

/* What differs from one run of the same scenario to the next, and nothing else does. */
static void
add_measured (FabJson *json, const FabRunResult *result)
{
  fab_json_begin_object (json, "measured");
  fab_json_add_real (json, "wall_s", result->wall_s);
  fab_json_add_whole (json, "peak_rss_bytes", peak_rss_bytes ());
  fab_json_end (json);
}

static void
add_binding (FabJson *json, const FabRunResult *result)
{
  const FabPaceRecord *pace = &result->pace;
  g_autofree char *name = fab_run_link_name (result, pace->binding_link);

  fab_json_add_text (json, "binding_link", name);
  fab_json_add_text (json, "binding_link_spec",
                     name ? fab_run_link_entry (result, pace->binding_link) : NULL);
  if (name)
    fab_record_add_json (json, FAB_TABLE_PACE, pace);
}

static void
add_counts (FabJson *json, const FabLinkQueueRecord *counts)
{
  fab_json_add_whole (json, "stalls", (gint64) counts->n_stalls);
  fab_json_add_whole (json, "marks", (gint64) counts->n_marks);
  fab_json_add_whole (json, "pauses", (gint64) counts->n_pauses);
  fab_json_add_whole (json, "drops", (gint64) counts->n_drops);
}

static void
add_queue (FabJson *json, const FabRunResult *result, const FabLinkQueueRecord *queue)
{
  g_autofree char *name = fab_run_link_name (result, queue->link);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "link", name);
  fab_json_add_text (json, "link_spec", fab_run_link_entry (result, queue->link));
  fab_record_add_json (json, FAB_TABLE_LINK_QUEUE, queue);
  fab_json_end (json);
}

static void
add_queues (FabJson *json, const FabRunResult *result)
{
  const GArray *queues = result->reasons.queues;

  if (queues->len == 0)
    return;
  fab_json_begin_object (json, "queues");
  fab_json_add_whole (json, "links", queues->len);
  add_counts (json, &result->reasons.all_queues);
  fab_json_begin_array (json, "longest");
  for (guint i = 0; i < MIN (queues->len, FAB_RUN_MOST_QUEUES); i++)
    add_queue (json, result, &g_array_index (queues, FabLinkQueueRecord, i));
  fab_json_end (json);
  fab_json_end (json);
}

static void
add_jobs (FabJson *json, const GArray *jobs)
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
      fab_json_add_real (json, "slow_down", fab_run_slow_down (job));
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Of a network that remembers what happened before. */
static void
add_episodes (FabJson *json, const FabSimulation *simulation)
{
  FabMemoRecord count = fab_simulation_memo_record (simulation);

  if (count.n_collectives == 0)
    return;
  fab_json_begin_object (json, "memo");
  fab_record_add_json (json, FAB_TABLE_MEMO, &count);
  fab_json_end (json);
}

/* Of flows that ranks send by themselves. */
static void
add_traffic (FabJson *json, const FabJobTotals *totals)
{
  if (totals->flows == 0)
    return;
  fab_json_begin_object (json, "traffic");
  fab_json_add_whole (json, "flows", (gint64) totals->flows);
  if (totals->offered_ps > 0) {
    fab_json_add_real (json, "offered_s", fab_ps_to_seconds (totals->offered_ps));
    fab_json_add_real (json, "offered_fraction", totals->offered_fraction);
  }
  fab_json_end (json);
}

/* Of a fidelity that times collectives alone on a finer network. */
static void
add_sampled (FabJson *json, FabSamplingCount count)
{
  if (count.n_whole + count.n_parts + count.n_skipped == 0)
    return;
  fab_json_begin_object (json, "sampled");
  fab_json_add_whole (json, "whole", count.n_whole);
  fab_json_add_whole (json, "parts", count.n_parts);
  fab_json_add_whole (json, "too_large", count.n_skipped);
  fab_json_add_real (json, "least_factor", count.least_factor);
  fab_json_add_real (json, "most_factor", count.most_factor);
  fab_json_add_whole (json, "events", (gint64) count.n_events);
  fab_json_end (json);
}

static void
add_goodput (FabJson *json, const FabScenario *scenario, const FabRunResult *result)
{
  if (!result->goodput.is_known)
    return;
  fab_json_begin_object (json, "goodput");
  fab_goodput_add_members (json, &result->goodput, fab_scenario_spec (scenario)->reliability.failures,
                           fab_run_goodput_band (result));
  fab_json_end (json);
}

static void
add_power_cap (FabJson *json, const FabRunResult *result)
{
  const FabDevice *device = &fab_simulation_cluster (result->simulation)->device;

  if (device->cap_fraction >= 1)
    return;
  fab_json_begin_object (json, "power_cap");
  fab_json_add_real (json, "cap_fraction", device->cap_fraction);
  fab_json_add_real (json, "clock_fraction", device->capped.fraction);
  fab_json_add_real (json, "full_clock_fraction", device->capped.full_fraction);
  fab_json_add_real (json, "matrix_slowdown", device->capped.slowdown);
  fab_json_end (json);
}

char *
fab_run_json (const FabScenario *scenario, const FabRunResult *result)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  FabRunSizes sizes = result->reasons.sizes;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", fab_scenario_spec (scenario)->name);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "fidelity", fab_scenario_spec (scenario)->fidelity.info->name);
  fab_json_add_whole (json, "ranks", fab_cluster_n_ranks (fab_simulation_cluster (result->simulation)));
  fab_json_begin_array (json, "iterations");
  for (guint i = 0; i < result->steps->len; i++)
    add_step (json, result, i);
  fab_json_end (json);
  if (result->band != NULL)
    fab_band_add_json (result->band, json);
  add_power_cap (json, result);
  add_goodput (json, scenario, result);
  fab_verdict_add_json (result->verdict, json, "verdict");
  fab_run_add_reasons (json, result);
  add_binding (json, result);
  if (result->bottleneck != NULL)
    fab_bottleneck_add_json (result->bottleneck, json);
  add_queues (json, result);
  if (sizes.n > 0) {
    fab_json_add_whole (json, "message_sizes", sizes.n);
    fab_json_add_whole (json, "message_sizes_outside", sizes.n_outside);
  }
  add_jobs (json, result->jobs);
  add_episodes (json, result->simulation);
  add_traffic (json, fab_simulation_totals (result->simulation));
  add_sampled (json, fab_simulation_sampled (result->simulation));
  fab_json_add_whole (json, "events", (gint64) fab_simulation_events (result->simulation));
  if (result->run_id > 0)
    fab_json_add_whole (json, "run_id", result->run_id);
  add_measured (json, result);
  fab_json_end (json);
  return fab_json_finish (json);
}

/* It is known of the last iteration only. */
static const FabPaceRecord *
pace_in_row (const FabRunResult *result, guint i)
{
  return i + 1 == result->steps->len && result->pace.binding_link != FAB_NO_LINK ? &result->pace : NULL;
}

char *
fab_run_csv (const FabRunResult *result)
{
  GString *csv = g_string_new ("iteration");
  FabRunSizes sizes = result->reasons.sizes;
  g_autofree char *codes = fab_verdict_codes (result->verdict);

  fab_record_append_keys (csv, FAB_TABLE_STEP);
  g_string_append (
      csv, result->band != NULL
               ? ",step_low_s,step_high_s,exposed_low_s,exposed_high_s,band_coverage_fraction,band_most"
               : "");
  g_string_append (csv, sizes.n > 0 ? ",message_sizes,message_sizes_outside" : "");
  fab_record_append_keys (csv, FAB_TABLE_PACE);
  g_string_append (csv, ",verdict\n");

  for (guint i = 0; i < result->steps->len; i++) {
    const FabStepRecord *step = &g_array_index (result->steps, FabStepRecord, i);

    g_string_append_printf (csv, "%u", step->times.iteration);
    fab_record_append_values (csv, FAB_TABLE_STEP, step);
    if (result->band != NULL) {
      g_autofree char *most = fab_band_most (result->band, i);

      g_string_append_printf (csv, ",%.12g,%.12g,%.12g,%.12g,%.2g,%s", result->band->low[i],
                              result->band->high[i], result->band->low[result->steps->len + i],
                              result->band->high[result->steps->len + i], result->band->coverage_fraction,
                              most);
    }
    if (sizes.n > 0)
      g_string_append_printf (csv, ",%u,%u", sizes.n, sizes.n_outside);
    fab_record_append_values (csv, FAB_TABLE_PACE, pace_in_row (result, i));
    g_string_append_printf (csv, ",%s\n", codes);
  }
  return g_string_free (csv, FALSE);
}
