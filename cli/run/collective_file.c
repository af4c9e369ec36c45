/* SPDX-License-Identifier: Apache-2.0 */
/* collective_file.c - the prediction as the file that nccl-tests -J writes (src/util.cu, "version" 2).
 *
 * Booleans are words there, and the root is a word of six columns; so they are here. It has no times of the day, no
 * environment and no NCCL version: results hold no clock, and nothing ran. "predicted_by" is ours.
 */
#include <string.h>

#include "cli/files.h"
#include "cli/run/collective.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/version.h"

static void
add_devices (FabJson *json, const CollectiveView *view)
{
  guint ranks_per_process = (guint) (view->run->gpus_per_process * MAX (view->asked->threads, 1));

  fab_json_begin_array (json, "devices");
  for (guint rank = 0; rank < view->run->n_ranks; rank += MAX (ranks_per_process, 1)) {
    g_autofree char *host = g_strdup_printf ("node%" G_GINT64_FORMAT, rank / view->run->gpus_per_node);

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "rank", rank);
    fab_json_add_whole (json, "group", 0);
    fab_json_add_whole (json, "pid", 0);
    fab_json_add_text (json, "hostname", host);
    fab_json_add_whole (json, "device", rank % view->run->gpus_per_node);
    fab_json_add_text (json, "device_hex", "");
    fab_json_add_text (json, "device_info", view->asked->node);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_config (FabJson *json, const CollectiveView *view)
{
  const CollectiveOptions *o = view->options;

  fab_json_begin_object (json, "config");
  fab_json_add_whole (json, "nthreads", MAX (view->asked->threads, 1));
  fab_json_add_whole (json, "ngpus", view->run->gpus_per_process);
  fab_json_add_whole (json, "minimum_bytes", (gint64) view->run->first_bytes);
  fab_json_add_whole (json, "maximum_bytes", (gint64) view->run->last_bytes);
  if (view->asked->range.step_bytes)
    fab_json_add_whole (json, "step_bytes", (gint64) view->asked->range.step_bytes);
  else
    fab_json_add_real (json, "step_factor", view->asked->range.factor);
  fab_json_add_whole (json, "warmup_iters", o->warmup);
  fab_json_add_whole (json, "iterations", o->iterations);
  fab_json_add_whole (json, "aggregated_iterations", 1);
  fab_json_add_whole (json, "validation", o->check);
  fab_json_add_whole (json, "graph", 0);
  fab_json_add_text (json, "blocking_collectives", "false");
  fab_json_add_text (json, "parallel_init", "false");
  add_devices (json, view);
  fab_json_end (json);
}

static void
add_block (FabJson *json, const char *name, const FabPrediction *row)
{
  fab_json_begin_object (json, name);
  fab_json_add_real (json, "time", row->time_us);
  fab_json_add_real (json, "alg_bw", row->algbw_GBps);
  fab_json_add_real (json, "bus_bw", row->busbw_GBps);
  fab_json_add_text (json, "nwrong", NULL);
  fab_json_end (json);
}

static void
add_result (FabJson *json, const CollectiveView *view, const FabPrediction *row, guint64 count)
{
  g_autofree char *root = g_strdup_printf ("%6d", fab_nccl_root (view->asked->op));

  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "size", (gint64) row->size_bytes);
  fab_json_add_whole (json, "count", (gint64) count);
  fab_json_add_text (json, "type", view->asked->type->name);
  fab_json_add_text (json, "redop", fab_nccl_redop (view->asked->op));
  fab_json_add_text (json, "root", root);
  add_block (json, "out_of_place", row);
  add_block (json, "in_place", row);
  fab_json_end (json);
}

static void
add_results (FabJson *json, const CollectiveView *view, const GArray *rows)
{
  double sum = 0;

  fab_json_begin_array (json, "results");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    add_result (json, view, row, g_array_index (view->run->counts, guint64, i));
    sum += row->busbw_GBps;
  }
  fab_json_end (json);
  fab_json_begin_object (json, "average_bus_bandwidth");
  fab_json_add_real (json, "bandwidth", sum / rows->len);
  fab_json_add_text (json, "okay", "unchecked");
  fab_json_end (json);
}

gboolean
collective_check_json (const char *path, GError **error)
{
  if (strcmp (path, "-") != 0 && g_file_test (path, G_FILE_TEST_EXISTS))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-J %s: this file exists, and it may be a measurement; "
                      "choose another name",
                      path);
  return fab_cli_check_out ("-J", path, NULL, error);
}

gboolean
collective_write_json (const CollectiveView *view, const GArray *rows, GError **error)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autofree char *program = g_strconcat ("fabricast ", fab_version (), NULL);
  const char *path = view->options->json_path;

  fab_cli_keep_stdout (path);
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "version", 2);
  fab_json_add_text (json, "predicted_by", program);
  fab_json_begin_array (json, "args");
  fab_json_add_text (json, NULL, fab_nccl_program (view->asked->op));
  fab_json_end (json);
  add_config (json, view);
  add_results (json, view, rows);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  return fab_cli_write_file (path, text, error);
}
