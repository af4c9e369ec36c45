/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - `fabricast collective`: the nccl-tests table, predicted, or held against a measured one. */
#include "cli/run/collective.h"

#include <math.h>
#include <string.h>

#include "cli/files.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

/* The predicted table: as nccl-tests looks, with Fabricast's columns after it; CSV; JSON. */

/* Formats a number in `width` columns, with as many decimals as fit but at most two. (transfer full) */
static char *
collective_fit (double value, guint width)
{
  for (int decimals = 2; decimals >= 0; decimals--) {
    char *text = g_strdup_printf ("%.*f", decimals, value);

    if (strlen (text) <= width || decimals == 0)
      return text;
    g_free (text);
  }
  g_assert_not_reached ();
}

static const char *
binding_text (const FabPrediction *row)
{
  return row->bound == FAB_BOUND_LINK && row->binding ? row->binding : fab_bound_names[row->bound];
}

/* --- what is uncertain --- */

static gboolean
has_band (const GArray *rows)
{
  return g_array_index (rows, FabPrediction, 0).most != NULL;
}

/* Sizes of messages are known, and which were measured. */
static gboolean
has_sizes (const GArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FabPrediction, i).n_sizes > 0)
      return TRUE;
  return FALSE;
}

static void
print_row_band (const FabPrediction *row)
{
  g_autofree char *low = collective_fit (row->low_us, 7), *high = collective_fit (row->high_us, 7);

  g_print ("  %7s  %7s", low, high);
}

static void
print_band_note (const GArray *rows)
{
  const FabPrediction *last = &g_array_index (rows, FabPrediction, rows->len - 1);
  g_autofree char *bases = fab_predictions_basis (rows);

  if (last->n_tables > 0)
    g_print (
        "# low, high: %.0f %% of such collectives lie between, by %s (docs/explanation/uncertainty.md)\n",
        100 * last->coverage_fraction, bases);
  else if (has_band (rows))
    g_print (
        "# low, high: %.0f %% band of the time from the uncertainty of the links; in the last row mostly from %s\n",
        100 * last->coverage_fraction, last->most);
}

static void
print_band_notes (const GArray *rows)
{
  guint n_outside = 0;

  for (guint i = 0; i < rows->len; i++)
    n_outside += g_array_index (rows, FabPrediction, i).n_outside > 0 ? 1 : 0;
  print_band_note (rows);
  if (n_outside > 0)
    g_print ("# *: the row has messages of sizes that were not measured; %u of %u rows\n", n_outside,
             rows->len);
}

static void
print_head (const CollectiveRequest *request, const GArray *rows)
{
  const CollectiveOptions *o = request->options;
  const FabPrediction *first = &g_array_index (rows, FabPrediction, 0);
  const char *ends = has_band (rows) ? "      low     high" : "", *unit = *ends ? "     (us)     (us)" : "";
  guint64 step = request->step_bytes ? request->step_bytes : (guint64) collective_factor (o);

  g_print ("# predicted %s, %u ranks: %" G_GINT64_FORMAT " x %s; form: %s\n", fab_nccl_program (request->op),
           first->n_ranks, request->nodes, o->node, fab_form_names[request->form]);
  if (request->form == FAB_FORM_STEP)
    g_print ("# the time of the wires, message by message, plus the startup beyond their latency once. It "
             "excludes the\n"
             "# software in each step and the rate limit of the protocol.\n");
  g_print ("# nThread %" G_GINT64_FORMAT " nGpus %" G_GINT64_FORMAT " minBytes %" G_GUINT64_FORMAT
           " maxBytes %" G_GUINT64_FORMAT " step: %" G_GUINT64_FORMAT "(%s) warmup iters: %" G_GINT64_FORMAT
           " iters: %" G_GINT64_FORMAT " agg iters: 1 validation: %" G_GINT64_FORMAT " graph: 0\n",
           MAX (o->threads, 1), request->gpus_per_process, request->first_bytes, request->last_bytes, step,
           request->step_bytes ? "bytes" : "factor", o->warmup, o->iterations, o->check);
  if (o->nic != NULL)
    g_print ("# link of NIC ports, and of switch ports where the fabric names no link: %s\n", o->nic);
  for (guint i = 0; o->environment && o->environment[i]; i++)
    g_print ("# -x %s\n", o->environment[i]);
  g_print (
      "# in-place is the same; wire: what crosses the binding link, one direction, protocol flags included\n#\n"
      "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %-14s  %-6s  %8s  %7s%s  %s\n"
      "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %-14s  %-6s  %8s  %7s%s\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "algorithm", "proto",
      "channels", "wire", ends, "binding", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "",
      "", "", "", "(GB/s)", unit);
}

static void
print_row (const CollectiveRequest *request, const FabPrediction *row, guint64 count)
{
  g_autofree char *time = collective_fit (row->time_us, 7), *algbw = collective_fit (row->algbw_GBps, 6);
  g_autofree char *busbw = collective_fit (row->busbw_GBps, 6), *wire = collective_fit (row->wire_GBps, 7);

  g_print ("%12" G_GUINT64_FORMAT "  %12" G_GUINT64_FORMAT "  %8s  %6s  %6d  %7s  %6s  %6s  %6s"
           "  %-14s  %-6s  %8u  %7s",
           row->size_bytes, count, request->type->name, fab_nccl_redop (request->op),
           fab_nccl_root (request->op), time, algbw, busbw, "N/A", row->algorithm, row->protocol,
           row->n_channels, wire);
  if (row->most != NULL)
    print_row_band (row);
  g_print ("  %s%s\n", binding_text (row), row->n_outside > 0 ? "  *" : "");
}

/* Why an algorithm's busiest link does not carry what busbw counts. */
static const char *
reason (const FabPrediction *row, double per_byte, double counted)
{
  const FabAlgorithmOps *algorithm = (const FabAlgorithmOps *) fab_registry_find (&fab_models,
                                                                                  FAB_MODEL_ALGORITHM,
                                                                                  row->algorithm);

  if (algorithm != NULL && algorithm->wire_reason != NULL
      && (per_byte > counted || !algorithm->explains_more_only))
    return algorithm->wire_reason;
  return per_byte < counted ? "the bytes are spread over several such links"
                            : "bytes cross it more than once, as on a path through host memory";
}

/* Prints what has not been said yet. Takes the text. */
static void
say_once (GHashTable *said, char *text)
{
  if (g_hash_table_add (said, text))
    g_print ("# wire, %s\n", text);
}

/* The ways in which wire is not busbw. */
static void
print_note (const CollectiveRequest *request, const FabPrediction *row, GHashTable *said)
{
  double per_byte = row->wire_GBps / row->algbw_GBps / row->flags_factor;
  double counted = fab_op_bus_factor (request->op, row->n_ranks);

  if (row->flags_factor > 1.001)
    say_once (said, g_strdup_printf ("%s: 1 byte of data takes %.3g, the rest are flags", row->protocol,
                                     row->flags_factor));
  if (fabs (per_byte / counted - 1) > 0.01)
    say_once (said, g_strdup_printf ("%s: the link carries %.4g x size where busbw counts %.4g: %s",
                                     row->algorithm, per_byte, counted, reason (row, per_byte, counted)));
}

static void
print_notes (const CollectiveRequest *request, const GArray *rows)
{
  g_autoptr (GHashTable) said = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FabPrediction, i).algbw_GBps > 0)
      print_note (request, &g_array_index (rows, FabPrediction, i), said);
}

/* How many times the time of the fastest way the library's own choice takes; 1: it is the fastest. */
static double
times_the_best (const FabPrediction *row)
{
  return row->best.algorithm != NULL ? row->time_us / (fab_ps_to_seconds (row->best.idle_ps) * 1e6) : 1;
}

/* The row whose choice costs most, of those with the same choice and the same fastest way as row `first`. */
static const FabPrediction *
worst_like (const GArray *rows, guint first)
{
  const FabPrediction *worst = &g_array_index (rows, FabPrediction, first);

  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);
    gboolean is_like = row->best.algorithm != NULL && strcmp (row->algorithm, worst->algorithm) == 0
                    && strcmp (row->protocol, worst->protocol) == 0
                    && strcmp (row->best.algorithm, worst->best.algorithm) == 0
                    && strcmp (row->best.protocol, worst->best.protocol) == 0;

    if (is_like && times_the_best (row) > times_the_best (worst))
      worst = row;
  }
  return worst;
}

/* Where the library, by its own estimate, takes a way that is slower than another one it could be told to take. */
static void
print_choices (const GArray *rows)
{
  const double least = 1.1;
  g_autoptr (GHashTable) said = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    if (times_the_best (row) < least)
      continue;
    row = worst_like (rows, i);
    if (!g_hash_table_add (said, (gpointer) row))
      continue;
    g_print ("# choice, %" G_GUINT64_FORMAT
             " B: the library's estimate takes %s with %s on %u %s; %s with %s on "
             "%u would take %.4g us. The choice takes %.2g times as long\n",
             row->size_bytes, row->algorithm, row->protocol, row->n_channels,
             fab_plural (row->n_channels, "channel", "channels"), row->best.algorithm, row->best.protocol,
             row->best.n_channels, fab_ps_to_seconds (row->best.idle_ps) * 1e6, times_the_best (row));
  }
}

static double
average_busbw (const GArray *rows)
{
  double sum = 0;

  for (guint i = 0; i < rows->len; i++)
    sum += g_array_index (rows, FabPrediction, i).busbw_GBps;
  return sum / rows->len;
}

static void
print_text (const CollectiveRequest *request, const GArray *rows)
{
  print_head (request, rows);
  for (guint i = 0; i < rows->len; i++)
    print_row (request, &g_array_index (rows, FabPrediction, i), g_array_index (request->counts, guint64, i));
  g_print ("# %-20s : %g \n#\n", "Avg bus bandwidth", average_busbw (rows));
  print_notes (request, rows);
  print_choices (rows);
  print_band_notes (rows);
  if (request->n_too_small)
    g_print ("# left out: %u %s with less than one element for each rank, which nccl-tests runs empty\n",
             request->n_too_small, fab_plural (request->n_too_small, "size", "sizes"));
  collective_print_curve (rows);
}

static void
print_csv (const GArray *rows)
{
  g_print (
      "size_bytes,time_us,algbw_GBps,busbw_GBps,wire_GBps,algorithm,protocol,channels,bound,binding%s%s\n",
      has_band (rows)
          ? ",time_low_us,time_high_us,busbw_low_GBps,busbw_high_GBps,band_coverage_fraction,band_tables,"
            "band_most"
          : "",
      has_sizes (rows) ? ",message_sizes,message_sizes_outside" : "");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    g_print ("%" G_GUINT64_FORMAT ",%.6f,%.6f,%.6f,%.6f,%s,%s,%u,%s,%s", row->size_bytes, row->time_us,
             row->algbw_GBps, row->busbw_GBps, row->wire_GBps, row->algorithm, row->protocol, row->n_channels,
             fab_bound_names[row->bound], row->binding ? row->binding : "");
    if (has_band (rows))
      g_print (",%.6f,%.6f,%.6f,%.6f,%.2g,%u,%s", row->low_us, row->high_us, row->busbw_low_GBps,
               row->busbw_high_GBps, row->coverage_fraction, row->n_tables, row->most ? row->most : "");
    if (has_sizes (rows))
      g_print (",%u,%u", row->n_sizes, row->n_outside);
    g_print ("\n");
  }
}

static void
add_row (FabJson *json, const FabPrediction *row)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "size_bytes", (gint64) row->size_bytes);
  fab_json_add_real (json, "time_us", row->time_us);
  fab_json_add_real (json, "algbw_GBps", row->algbw_GBps);
  fab_json_add_real (json, "busbw_GBps", row->busbw_GBps);
  fab_json_add_real (json, "wire_GBps", row->wire_GBps);
  fab_json_add_text (json, "algorithm", row->algorithm);
  fab_json_add_text (json, "protocol", row->protocol);
  fab_json_add_whole (json, "channels", row->n_channels);
  fab_json_add_text (json, "bound", fab_bound_names[row->bound]);
  fab_json_add_text (json, "binding", row->binding);
  if (row->best.algorithm != NULL) {
    fab_json_begin_object (json, "fastest");
    fab_json_add_text (json, "algorithm", row->best.algorithm);
    fab_json_add_text (json, "protocol", row->best.protocol);
    fab_json_add_whole (json, "channels", row->best.n_channels);
    fab_json_add_real (json, "time_us", fab_ps_to_seconds (row->best.idle_ps) * 1e6);
    fab_json_end (json);
  }
  if (row->most != NULL) {
    fab_json_add_real (json, "time_low_us", row->low_us);
    fab_json_add_real (json, "time_high_us", row->high_us);
    fab_json_add_real (json, "busbw_low_GBps", row->busbw_low_GBps);
    fab_json_add_real (json, "busbw_high_GBps", row->busbw_high_GBps);
    fab_json_add_real (json, "band_coverage_fraction", row->coverage_fraction);
    if (row->n_tables > 0) {
      fab_json_add_whole (json, "band_tables", row->n_tables);
      fab_json_add_whole (json, "band_families", row->n_families);
    }
    fab_json_add_text (json, "band_most", row->most);
  }
  if (row->n_sizes > 0) {
    fab_json_add_whole (json, "message_sizes", row->n_sizes);
    fab_json_add_whole (json, "message_sizes_outside", row->n_outside);
  }
  fab_json_end (json);
}

static void
print_json (const CollectiveRequest *request, const GArray *rows)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "node", request->options->node);
  fab_json_add_text (json, "op", fab_op_names[request->op]);
  fab_json_add_text (json, "type", request->type->name);
  fab_json_add_text (json, "form", fab_form_names[request->form]);
  fab_json_add_whole (json, "ranks", g_array_index (rows, FabPrediction, 0).n_ranks);
  fab_json_begin_array (json, "results");
  for (guint i = 0; i < rows->len; i++)
    add_row (json, &g_array_index (rows, FabPrediction, i));
  fab_json_end (json);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

static void
collective_print (const CollectiveRequest *request, const GArray *rows)
{
  if (request->format == FAB_FORMAT_TEXT)
    print_text (request, rows);
  else if (request->format == FAB_FORMAT_CSV)
    print_csv (rows);
  else
    print_json (request, rows);
}

/* The prediction as the file that nccl-tests -J writes (src/util.cu, "version" 2).
 *
 * Booleans are words there, and the root is a word of six columns; so they are here. It has no times of the day, no
 * environment and no NCCL version: results hold no clock, and nothing ran. "predicted_by" is ours.
 */

static void
add_devices (FabJson *json, const CollectiveRequest *request)
{
  guint ranks_per_process = (guint) (request->gpus_per_process * MAX (request->options->threads, 1));

  fab_json_begin_array (json, "devices");
  for (guint rank = 0; rank < request->n_ranks; rank += MAX (ranks_per_process, 1)) {
    g_autofree char *host = g_strdup_printf ("node%" G_GINT64_FORMAT, rank / request->gpus_per_node);

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "rank", rank);
    fab_json_add_whole (json, "group", 0);
    fab_json_add_whole (json, "pid", 0);
    fab_json_add_text (json, "hostname", host);
    fab_json_add_whole (json, "device", rank % request->gpus_per_node);
    fab_json_add_text (json, "device_hex", "");
    fab_json_add_text (json, "device_info", request->options->node);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_config (FabJson *json, const CollectiveRequest *request)
{
  const CollectiveOptions *o = request->options;

  fab_json_begin_object (json, "config");
  fab_json_add_whole (json, "nthreads", MAX (o->threads, 1));
  fab_json_add_whole (json, "ngpus", request->gpus_per_process);
  fab_json_add_whole (json, "minimum_bytes", (gint64) request->first_bytes);
  fab_json_add_whole (json, "maximum_bytes", (gint64) request->last_bytes);
  if (request->step_bytes)
    fab_json_add_whole (json, "step_bytes", (gint64) request->step_bytes);
  else
    fab_json_add_real (json, "step_factor", collective_factor (o));
  fab_json_add_whole (json, "warmup_iters", o->warmup);
  fab_json_add_whole (json, "iterations", o->iterations);
  fab_json_add_whole (json, "aggregated_iterations", 1);
  fab_json_add_whole (json, "validation", o->check);
  fab_json_add_whole (json, "graph", 0);
  fab_json_add_text (json, "blocking_collectives", "false");
  fab_json_add_text (json, "parallel_init", "false");
  add_devices (json, request);
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
add_result (FabJson *json, const CollectiveRequest *request, const FabPrediction *row, guint64 count)
{
  g_autofree char *root = g_strdup_printf ("%6d", fab_nccl_root (request->op));

  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "size", (gint64) row->size_bytes);
  fab_json_add_whole (json, "count", (gint64) count);
  fab_json_add_text (json, "type", request->type->name);
  fab_json_add_text (json, "redop", fab_nccl_redop (request->op));
  fab_json_add_text (json, "root", root);
  add_block (json, "out_of_place", row);
  add_block (json, "in_place", row);
  fab_json_end (json);
}

static void
add_results (FabJson *json, const CollectiveRequest *request, const GArray *rows)
{
  double sum = 0;

  fab_json_begin_array (json, "results");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    add_result (json, request, row, g_array_index (request->counts, guint64, i));
    sum += row->busbw_GBps;
  }
  fab_json_end (json);
  fab_json_begin_object (json, "average_bus_bandwidth");
  fab_json_add_real (json, "bandwidth", sum / rows->len);
  fab_json_add_text (json, "okay", "unchecked");
  fab_json_end (json);
}

/* Writes what nccl-tests writes for -J. Refuses to replace a file, as nccl-tests does. */
static gboolean
collective_write_json (const CollectiveRequest *request, const GArray *rows, GError **error)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autofree char *program = g_strconcat ("fabricast ", fab_version (), NULL);
  const char *path = request->options->json_path;

  fab_cli_keep_stdout (path);
  if (strcmp (path, "-") != 0 && g_file_test (path, G_FILE_TEST_EXISTS))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-J %s: this file exists, and it may be a measurement; "
                      "choose another name",
                      path);
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "version", 2);
  fab_json_add_text (json, "predicted_by", program);
  fab_json_begin_array (json, "args");
  fab_json_add_text (json, NULL, fab_nccl_program (request->op));
  fab_json_end (json);
  add_config (json, request);
  add_results (json, request, rows);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  return fab_cli_write_file (path, text, error);
}

/* A measured nccl-tests output beside the prediction: is this machine slow?
 *
 * ratio = measured busbw / predicted busbw, from the times where the file has them, as small rates are printed
 * with few digits. Sizes from --check-from on are judged: below them the host's calls count more than the links.
 */

typedef struct {
  const CollectiveRequest *request;
  double tolerance;
  FabBytes from_bytes;
  guint n_judged, n_slow, n_fast, n_wrong;
  double worst;            /* ratio, of those judged */
  const FabPrediction *at; /* the row that has it */
} Check;

static double
ratio_of (const FabNcclTestsRow *measured, const FabPrediction *row)
{
  if (measured->time_us > 0)
    return row->time_us / measured->time_us;
  return row->busbw_GBps > 0 ? measured->busbw_GBps / row->busbw_GBps : 0;
}

/* Does busbw / algbw belong to this operation over so many ranks? Only large rates have the digits to tell. */
static gboolean
check_factor (const CollectiveRequest *request, guint n_ranks, GError **error)
{
  double expected = fab_op_bus_factor (request->op, n_ranks);

  for (guint i = 0; i < request->file->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (request->file->rows, FabNcclTestsRow, i);
    double factor = row->busbw_GBps / row->algbw_GBps;

    if (row->algbw_GBps >= 2 && fabs (factor / expected - 1) > 0.02)
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "--check %s: its busbw is %.3f x algbw, but %s over %u ranks has %.3f; give --op, --nodes and "
          "--gpus-per-node as they were measured",
          request->options->check_path, factor, fab_op_names[request->op], n_ranks, expected);
  }
  return TRUE;
}

static const char *
judge (Check *self, const FabNcclTestsRow *measured, const FabPrediction *row)
{
  double ratio = ratio_of (measured, row);

  self->n_wrong += measured->n_wrong > 0;
  if (row->size_bytes < self->from_bytes)
    return measured->n_wrong > 0 ? "WRONG DATA" : "-";
  self->n_judged++;
  if (self->at == NULL || ratio < self->worst) {
    self->worst = ratio;
    self->at = row;
  }
  self->n_slow += ratio < 1 - self->tolerance;
  self->n_fast += ratio > 1 + self->tolerance;
  if (measured->n_wrong > 0)
    return "WRONG DATA";
  if (ratio < 1 - self->tolerance)
    return "SLOW";
  return ratio > 1 + self->tolerance ? "fast" : "ok";
}

static void
print_check_row (Check *self, const FabNcclTestsRow *measured, const FabPrediction *row)
{
  g_autofree char *time = collective_fit (measured->time_us, 9), *own_time = collective_fit (row->time_us, 9);
  g_autofree char *busbw = collective_fit (measured->busbw_GBps, 8),
                  *own = collective_fit (row->busbw_GBps, 8);
  double ratio = ratio_of (measured, row);
  const char *verdict = judge (self, measured, row);

  g_print ("%14" G_GUINT64_FORMAT "  %9s %9s  %8s %8s  %6.2f  %-10s  %-14s %-6s  %s\n", row->size_bytes, time,
           own_time, busbw, own, ratio, verdict, row->algorithm, row->protocol,
           row->bound == FAB_BOUND_LINK && row->binding ? row->binding : fab_bound_names[row->bound]);
}

static void
print_verdict (const Check *self)
{
  if (self->n_wrong)
    g_print ("# WRONG DATA: %u %s wrong elements; a link, a GPU or its memory corrupts data\n", self->n_wrong,
             fab_plural (self->n_wrong, "size has", "sizes have"));
  if (self->n_fast)
    g_print ("# fast: %u %s more than %.0f%% above the prediction; check that --node %s and --nic "
             "are those of the machine\n",
             self->n_fast, fab_plural (self->n_fast, "size is", "sizes are"), self->tolerance * 100,
             self->request->options->node);
  if (self->at == NULL) {
    g_print ("# no size is %" G_GUINT64_FORMAT " bytes or more, so none is judged; see --check-from\n",
             self->from_bytes);
    return;
  }
  g_print ("# %s: %u of %u judged %s more than %.0f%% below the prediction; worst %.2f at %" G_GUINT64_FORMAT
           " bytes\n",
           self->n_slow ? "SLOW" : "bandwidth ok", self->n_slow, self->n_judged,
           fab_plural (self->n_slow, "sizes is", "sizes are"), self->tolerance * 100, self->worst,
           self->at->size_bytes);
  g_print ("# at this size a healthy machine has busbw %.2f GB/s; it is limited by %s\n",
           self->at->busbw_GBps,
           self->at->bound == FAB_BOUND_LINK && self->at->binding ? self->at->binding
                                                                  : fab_bound_names[self->at->bound]);
}

static void
print_check_head (const Check *self, guint n_ranks)
{
  const CollectiveRequest *request = self->request;

  g_print ("# %s: %s, %u ranks, beside the prediction for %" G_GINT64_FORMAT " x %s; form: %s\n",
           request->options->check_path, fab_nccl_program (request->op), n_ranks, request->nodes,
           request->options->node, fab_form_names[request->form]);
  if (request->file->n_tables > 1)
    g_print ("# the file has %u tables; this is the first\n", request->file->n_tables);
  g_print ("#%13s  %9s %9s  %8s %8s  %6s  %-10s  %-14s %-6s  %s\n"
           "#%13s  %9s %9s  %8s %8s\n"
           "#%13s  %9s %9s  %8s %8s\n",
           "size", "time", "time", "busbw", "busbw", "ratio", "verdict", "algorithm", "proto", "binding", "",
           "measured", "predicted", "measured", "predict", "(B)", "(us)", "(us)", "(GB/s)", "(GB/s)");
}

/* Prints measured beside predicted values. FALSE without *error: a size is below the tolerance. */
static gboolean
collective_check (const CollectiveRequest *request, const GArray *rows, GError **error)
{
  Check self = { .request = request, .from_bytes = 64 << 20 };
  const char *from = request->options->check_from;
  guint n_ranks = g_array_index (rows, FabPrediction, 0).n_ranks;

  if (!collective_read_tolerance (request->options->tolerance, &self.tolerance, error)
      || (from && !collective_parse_size ("--check-from", from, &self.from_bytes, error))
      || !check_factor (request, n_ranks, error))
    return FALSE;
  print_check_head (&self, n_ranks);
  for (guint i = 0; i < rows->len; i++)
    print_check_row (&self, &g_array_index (request->file->rows, FabNcclTestsRow, i),
                     &g_array_index (rows, FabPrediction, i));
  print_verdict (&self);
  return self.n_slow == 0 && self.n_wrong == 0;
}

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .summary =
      "Predicts the output of nccl-tests on a machine of the catalogue, or on that of a scenario: time, algbw,\n"
      "busbw, and the rate on the binding link, with the algorithm and protocol that run. Options and sizes mean\n"
      "the same as in nccl-tests.\n\n"
      "A prediction is one operation on an idle machine in its steady state, so -n, -w and -c are printed and\n"
      "have no effect. On one node, a single thread drives all GPUs (nccl-tests -g N). Over several nodes, and\n"
      "in a rack of trays, each GPU has its own process; -t, or -g with --gpus-per-node, changes that.\n\n"
      "--check compares a measured output (all_reduce_perf ... | tee FILE, or its -J FILE) with the\n"
      "prediction, and exits with 1 when the machine is slower.\n\n"
      "Times have a band of 90 %, from the errors of predictions of measured collectives of the same kind. The\n"
      "band is one of 95 % where a link states the error of its numbers (`uncertainty`).",
  .examples =
      "  fabricast collective --node dgx-a100 --op all_reduce -b 32K -e 16G -f 2\n"
      "  fabricast collective --node dgx-a100 --nodes 4 -b 1M -e 4G --format csv\n"
      "  fabricast collective --node dgx-h100 --nodes 2 --nic ib-hdr --protocol simple\n"
      "  fabricast collective --node dgx-a100 -b 8 -e 1G -f 4 -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple -J ring.json\n"
      "  fabricast collective --node dgx-a100 --check ring.json\n"
      "  fabricast collective --node host --nodes 4 --library mpi -b 64K -e 4M -f 4\n"
      "  fabricast collective scenarios/own-node.yaml -b 1M -e 1G -f 32\n",
  .max_rest = 1,
};

/* The machine of a scenario, in place of --node. */
static FabScenario *
take_scenario (CollectiveOptions *o, const char *path, const FabCatalog *catalog, GError **error)
{
  FabScenario *scenario;

  if (o->node != NULL) {
    if (g_strv_contains (fab_op_names, path))
      fab_throw (error, FAB_ERROR_INPUT, "%s is an operation: give it as --op %s", path, path);
    else
      fab_throw (error, FAB_ERROR_INPUT, "give either --node NAME or a SCENARIO, not both");
    return NULL;
  }
  scenario = fab_cli_scenario (path, NULL, catalog, error);
  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  o->node = g_strdup (cluster->node);
  o->nodes = o->nodes != 0 ? o->nodes : cluster->nodes;
  if (o->gpus_per_node == 0 && o->gpus_per_thread == 0)
    o->gpus_per_node = cluster->gpus_per_node;
  return scenario;
}

static gboolean
collective (CollectiveOptions *o, const char *path, gboolean *is_met, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog && path ? take_scenario (o, path, catalog, error) : NULL;
  g_autoptr (CollectiveRequest) request = NULL;
  g_autoptr (GArray) rows = NULL;
  g_autoptr (GError) cause = NULL;

  if (catalog == NULL || (path != NULL && scenario == NULL))
    return FALSE;
  o->base = scenario;
  request = collective_request_new (o, scenario ? fab_scenario_catalog (scenario) : catalog, error);
  if (request == NULL)
    return FALSE;
  FabPredictionRequest asked = { .base = scenario,
                                 .node = o->node,
                                 .nodes = request->nodes,
                                 .gpus_per_node = request->gpus_per_node,
                                 .nic = o->nic,
                                 .fabric = o->fabric,
                                 .op = request->op,
                                 .sizes_bytes = (const FabBytes *) (gpointer) request->sizes->data,
                                 .n_sizes = request->sizes->len,
                                 .edits = request->edits,
                                 .form = request->form,
                                 .has_band = !o->has_no_band && request->file == NULL };
  rows = fab_predict_collective (&asked, catalog, &fab_models, error);
  if (rows == NULL || (o->json_path && !collective_write_json (request, rows, error)))
    return FALSE;
  if (request->file == NULL) {
    collective_print (request, rows);
    return TRUE;
  }
  *is_met = collective_check (request, rows, &cause);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

#define TEXT(name, letter, member, help, value)                  \
  {                                                              \
    name, letter, 0, G_OPTION_ARG_STRING, &o.member, help, value \
  }
#define COUNT(name, letter, member, help)                     \
  {                                                           \
    name, letter, 0, G_OPTION_ARG_INT64, &o.member, help, "N" \
  }

static FabExit
run (int argc, char **argv)
{
  CollectiveOptions o = { .factor = COLLECTIVE_NO_FACTOR, .iterations = 20, .warmup = 1, .check = 1 };
  const GOptionEntry entries[] = {
    TEXT ("node", 0, node, "Node entry of the catalogue", "NAME"),
    COUNT ("nodes", 0, nodes, "Number of nodes (default 1)"),
    COUNT ("gpus-per-node", 0, gpus_per_node, "GPUs used in each node (default: all)"),
    COUNT ("ngpus", 'g', gpus_per_thread, "GPUs of one thread; without --gpus-per-node, GPUs of the node"),
    COUNT ("nthreads", 't', threads, "Threads in each node that share its GPUs (default 1)"),
    TEXT ("nic", 0, nic, "Link entry of NIC and switch ports (default: the node's own)", "LINK"),
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.with,
      "Use the entries of this file too, as `fabricast calibrate` writes them; repeatable", "FILE" },
    TEXT ("fabric", 0, fabric, "Fabric between the NICs (default: the node's own)", "NAME"),
    TEXT (
        "op", 'o', op_name,
        "all_reduce (default), all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather, scatter",
        "OP"),
    TEXT ("datatype", 'd', type_name,
          "float (default), half, bfloat16, double, int8, ...; sizes are whole elements", "TYPE"),
    TEXT ("minbytes", 'b', min_size, "Smallest size (default 32M)", "SIZE"),
    TEXT ("maxbytes", 'e', max_size, "Largest size (default: the smallest)", "SIZE"),
    { "stepfactor", 'f', 0, G_OPTION_ARG_DOUBLE, &o.factor, "Factor between sizes (default 2)", "FACTOR" },
    TEXT ("stepbytes", 'i', step_size, "Step between sizes, instead of a factor", "SIZE"),
    COUNT ("iters", 'n', iterations, "Shown only: a prediction has no noise to average"),
    COUNT ("warmup_iters", 'w', warmup, "Shown only: a prediction is warm"),
    COUNT ("check-data", 'c', check, "Shown only: nothing is sent that could be wrong"),
    TEXT ("library", 0, library, "Library that runs the collective: nccl (default), mpi, plain", "NAME"),
    TEXT ("algorithm", 0, algorithm, "Use only this algorithm (default: the tuner's choice)", "NAME"),
    TEXT ("protocol", 0, protocol, "Use only this protocol: ll, ll128, simple", "NAME"),
    { "env", 'x', 0, G_OPTION_ARG_STRING_ARRAY, &o.environment,
      "Environment variable, as with mpirun -x: NCCL_ALGO=Ring; repeatable", "NCCL_NAME=VALUE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario behind it; repeatable",
      "KEY=VALUE" },
    TEXT ("form", 0, form_name,
          "stream (default): simulated on the network; closed: formula for an idle network; step: message "
          "by message",
          "FORM"),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band, "Print no bands of the times", NULL },
    TEXT ("check", 0, check_path,
          "Compare with an output of nccl-tests, or its -J file; - reads standard input", "FILE"),
    TEXT ("tolerance", 0, tolerance,
          "Largest shortfall from the prediction of a healthy machine (default "
          "20%)",
          "PERCENT"),
    TEXT ("check-from", 0, check_from, "Print sizes below this without judging them (default 64M)", "SIZE"),
    TEXT ("json", 'J', json_path, "Also write a file as nccl-tests -J does", "FILE"),
    TEXT ("format", 0, format_name, "text (default), json or csv", "FORMAT"),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_met = TRUE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && collective (&o, argc > 1 ? argv[1] : NULL, &is_met, &error);

  collective_options_clear (&o);
  if (!is_done)
    return fab_cli_fail ("collective", error);
  return is_met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_collective = {
  .name = "collective",
  .summary = "Predict the nccl-tests table of a machine",
  .run = run,
};
