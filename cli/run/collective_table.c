/* SPDX-License-Identifier: Apache-2.0 */
/* collective_table.c - the predicted table: as nccl-tests looks, with Fabricast's columns after it; CSV; JSON. */
#include <math.h>
#include <string.h>

#include "cli/run/collective.h"
#include "cli/terminal/terminal.h"
#include "models/models.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

char *
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

const char *
collective_binding (const FabPrediction *row)
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
append_row_band (GString *page, const FabPrediction *row)
{
  g_autofree char *low = collective_fit (row->low_us, 7), *high = collective_fit (row->high_us, 7);

  g_string_append_printf (page, "\v  %7s\v  %7s", low, high);
}

static void
print_band_note (const GArray *rows)
{
  const FabPrediction *last = &g_array_index (rows, FabPrediction, rows->len - 1);
  g_autofree char *bases = fab_predictions_basis (rows);
  g_autofree char *untuned = fab_untuned_words (&last->untuned);

  if (last->n_tables > 0)
    g_print (
        "# low, high: %.0f %% of such collectives lie between, by %s (docs/explanation/uncertainty.md)\n",
        100 * last->coverage_fraction, bases);
  if (untuned != NULL)
    g_print ("# beyond them: %s; check yours with --check FILE\n", untuned);
  if (last->n_tables == 0 && has_band (rows))
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
append_head (GString *page, const CollectiveView *view, const GArray *rows)
{
  const CollectiveOptions *o = view->options;
  const FabPrediction *first = &g_array_index (rows, FabPrediction, 0);
  const char *ends = has_band (rows) ? "\v      low\v     high" : "",
             *unit = *ends ? "\v     (us)\v     (us)" : "";
  guint64 step = view->asked->range.step_bytes ? view->asked->range.step_bytes
                                               : (guint64) view->asked->range.factor;

  g_string_append_printf (page, "# predicted %s, %u %s: %" G_GINT64_FORMAT " x %s; form: %s\n",
                          fab_nccl_program (view->asked->op), first->n_ranks,
                          fab_plural (first->n_ranks, "rank", "ranks"), view->run->nodes, view->asked->node,
                          fab_form_names[view->asked->form]);
  if (view->asked->form == FAB_FORM_STEP)
    g_string_append_printf (
        page, "# the time of the wires, message by message, plus the startup beyond their latency once. It "
              "excludes the\n"
              "# software in each step and the rate limit of the protocol.\n");
  g_string_append_printf (page,
                          "# nThread %" G_GINT64_FORMAT " nGpus %" G_GINT64_FORMAT
                          " minBytes %" G_GUINT64_FORMAT " maxBytes %" G_GUINT64_FORMAT
                          " step: %" G_GUINT64_FORMAT "(%s) warmup iters: %" G_GINT64_FORMAT
                          " iters: %" G_GINT64_FORMAT " agg iters: 1 validation: %" G_GINT64_FORMAT
                          " graph: 0\n",
                          MAX (view->asked->threads, 1), view->run->gpus_per_process, view->run->first_bytes,
                          view->run->last_bytes, step, view->asked->range.step_bytes ? "bytes" : "factor",
                          o->warmup, o->iterations, o->check);
  if (view->asked->nic != NULL)
    g_string_append_printf (page,
                            "# link of NIC ports, and of switch ports where the fabric names no link: %s\n",
                            view->asked->nic);
  for (guint i = 0; o->environment && o->environment[i]; i++)
    g_string_append_printf (page, *o->environment_notes[i] ? "# -x %s: no effect, since %s\n" : "# -x %s\n",
                            o->environment[i], o->environment_notes[i]);
  g_string_append_printf (
      page,
      "# in-place is the same; wire: what crosses the binding link, one direction, protocol flags included\n#\n"
      "# %10s\v  %12s\v  %8s\v  %6s\v  %6s\v  %7s\v  %6s\v  %6s\v  %6s\v  %-14s\v  %-6s\v  %8s\v  %7s%s\v  %s\n"
      "# %10s\v  %12s\v  %8s\v  %6s\v  %6s\v  %7s\v  %6s\v  %6s\v  %6s\v  %-14s\v  %-6s\v  %8s\v  %7s%s\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "algorithm", "proto",
      "channels", "wire", ends, "binding", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "",
      "", "", "", "(GB/s)", unit);
}

static void
append_row (GString *page, const CollectiveView *view, const FabPrediction *row, guint64 count)
{
  g_autofree char *time = collective_fit (row->time_us, 7), *algbw = collective_fit (row->algbw_GBps, 6);
  g_autofree char *busbw = collective_fit (row->busbw_GBps, 6), *wire = collective_fit (row->wire_GBps, 7);

  g_string_append_printf (page,
                          "%12" G_GUINT64_FORMAT "\v  %12" G_GUINT64_FORMAT
                          "\v  %8s\v  %6s\v  %6d\v  %7s\v  %6s\v  %6s\v  %6s"
                          "\v  %-14s\v  %-6s\v  %8u\v  %7s",
                          row->size_bytes, count, view->asked->type->name, fab_nccl_redop (view->asked->op),
                          fab_nccl_root (view->asked->op), time, algbw, busbw, "N/A", row->algorithm,
                          row->protocol, row->n_channels, wire);
  if (row->most != NULL)
    append_row_band (page, row);
  g_string_append_printf (page, "\v  %s%s\n", collective_binding (row), row->n_outside > 0 ? "  *" : "");
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
print_note (const CollectiveView *view, const FabPrediction *row, GHashTable *said)
{
  double per_byte = row->wire_GBps / row->algbw_GBps / row->flags_factor;
  double counted = fab_op_bus_factor (view->asked->op, row->n_ranks);

  if (row->flags_factor > 1.001)
    say_once (said, g_strdup_printf ("%s: 1 byte of data takes %.3g, the rest are flags", row->protocol,
                                     row->flags_factor));
  if (fabs (per_byte / counted - 1) > 0.01)
    say_once (said, g_strdup_printf ("%s: the link carries %.4g x size where busbw counts %.4g: %s",
                                     row->algorithm, per_byte, counted, reason (row, per_byte, counted)));
}

static void
print_notes (const CollectiveView *view, const GArray *rows)
{
  g_autoptr (GHashTable) said = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FabPrediction, i).algbw_GBps > 0)
      print_note (view, &g_array_index (rows, FabPrediction, i), said);
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
print_text (const CollectiveView *view, const GArray *rows)
{
  g_autoptr (GString) page = g_string_new (NULL);

  append_head (page, view, rows);
  for (guint i = 0; i < rows->len; i++)
    append_row (page, view, &g_array_index (rows, FabPrediction, i),
                g_array_index (view->run->counts, guint64, i));
  fab_terminal_print_page (page->str);
  g_print ("# %-20s : %g \n#\n", "Avg bus bandwidth", average_busbw (rows));
  print_notes (view, rows);
  print_choices (rows);
  print_band_notes (rows);
  if (view->run->n_too_small)
    g_print ("# left out: %u %s with less than one element for each rank, which nccl-tests runs empty\n",
             view->run->n_too_small, fab_plural (view->run->n_too_small, "size", "sizes"));
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
print_json (const CollectiveView *view, const GArray *rows)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "node", view->asked->node);
  fab_json_add_text (json, "op", fab_op_names[view->asked->op]);
  fab_json_add_text (json, "type", view->asked->type->name);
  fab_json_add_text (json, "form", fab_form_names[view->asked->form]);
  fab_json_add_whole (json, "ranks", g_array_index (rows, FabPrediction, 0).n_ranks);
  fab_json_begin_array (json, "results");
  for (guint i = 0; i < rows->len; i++)
    add_row (json, &g_array_index (rows, FabPrediction, i));
  fab_json_end (json);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

void
collective_print (const CollectiveView *view, const GArray *rows)
{
  if (view->options->format == FAB_FORMAT_TEXT)
    print_text (view, rows);
  else if (view->options->format == FAB_FORMAT_CSV)
    print_csv (rows);
  else
    print_json (view, rows);
}
