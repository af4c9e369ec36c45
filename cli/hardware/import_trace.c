/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/import_trace.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/terminal/terminal.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"
#include "sim/base/units.h"
#include "sim/result/store.h"
#include "validate/traces/predict.h"

static double
ms (FabTimePs time_ps)
{
  return (double) time_ps / 1e9;
}

static void
print_account (const FabTrace *trace, const FabTraceAccount *account)
{
  g_autoptr (GString) page = g_string_new (NULL);

  g_string_append_printf (
      page,
      "step\v   rank\v   step ms\v  compute ms\v  comm ms\v  overlapped ms\v  exposed ms\v  idle ms\v  waiting ms\v"
      "  copies ms\n");
  for (guint i = 0; i < account->times->len; i++) {
    const FabTraceTimes *row = &g_array_index (account->times, FabTraceTimes, i);
    const FabIterationRecord *t = &row->times;
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, t->rank_class);

    g_string_append_printf (page,
                            "%4u\v %6" G_GINT64_FORMAT
                            "\v %9.3f\v %11.3f\v %8.3f\v %14.3f\v %11.3f\v %8.3f\v %11.3f\v %10.3f\n",
                            t->iteration, rank->rank, ms (t->duration_ps), ms (t->compute_ps),
                            ms (t->comm_ps), ms (t->overlapped_ps), ms (t->exposed_ps), ms (t->idle_ps),
                            ms (t->waiting_ps), ms (row->copy_ps));
  }
  g_string_append_printf (
      page, "Collectives: %u. Waiting for the last rank is part of idle time, and so are copies of memory.\n",
      account->collectives->len);
  if (account->n_inseparable > 0)
    g_string_append_printf (page,
                            "Not all ranks of %u %s are here, so waiting in them counts as communication.\n",
                            account->n_inseparable,
                            fab_plural (account->n_inseparable, "collective", "collectives"));
  if (account->n_without_size > 0)
    g_string_append_printf (page, "The trace does not give the size of %u %s.\n", account->n_without_size,
                            fab_plural (account->n_without_size, "collective", "collectives"));
  if (account->n_left_out > 0)
    g_string_append_printf (page, "Left out: %u %s that no step launched.\n", account->n_left_out,
                            fab_plural (account->n_left_out, "operation", "operations"));
  fab_terminal_print_page (page->str);
}

/* A graph has no times: how much work it holds. */
static void
print_graph (const FabTracedRank *rank)
{
  FabTimePs compute_ps = 0;
  guint n_comm = 0;
  double n_bytes = 0;
  g_autofree char *source = fab_printable (rank->source);

  for (guint i = 0; i < rank->nodes->len; i++) {
    const FabTraceNode *node = &g_array_index (rank->nodes, FabTraceNode, i);

    if (node->comm < 0)
      compute_ps += node->duration_ps;
    else
      n_bytes += (double) g_array_index (rank->comms, FabTraceComm, node->comm).bytes;
    n_comm += node->comm >= 0;
  }
  g_print ("rank %" G_GINT64_FORMAT
           ": %u nodes, %u of them communicate (%.3f MB), %u dependencies, compute %.3f ms  (%s)\n",
           rank->rank, rank->nodes->len, n_comm, n_bytes / 1e6, rank->deps->len, ms (compute_ps), source);
}

static gboolean
is_timed (const FabTrace *trace)
{
  for (guint i = 0; i < trace->ranks->len; i++)
    if (((const FabTracedRank *) g_ptr_array_index (trace->ranks, i))->ops->len > 0)
      return TRUE;
  return FALSE;
}

/* --- predictions --- */

static const struct {
  double bytes;
  const char *name;
} size_classes[] = {
  { 65536, "up to 64 KiB" }, { 1048576, "up to 1 MiB" }, { 16777216, "up to 16 MiB" }, { G_MAXDOUBLE, "more" }
};

static void
print_classes (const GArray *rows, gboolean is_whole)
{
  double above = 0;

  for (guint c = 0; c < G_N_ELEMENTS (size_classes); above = size_classes[c++].bytes) {
    g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
    guint n_inside = 0;

    for (guint i = 0; i < rows->len; i++) {
      const FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);
      double measured_us = fab_trace_prediction_measured_us (row, is_whole);
      double ratio = row->predicted_us / measured_us;

      if ((double) row->bytes <= above || (double) row->bytes > size_classes[c].bytes || !(measured_us > 0))
        continue;
      n_inside += row->low_us <= measured_us && measured_us <= row->high_us;
      g_array_append_val (ratios, ratio);
    }
    if (ratios->len == 0)
      continue;
    g_array_sort (ratios, fab_order_doubles);
    g_print ("%-12s %3u %s, median of predicted / measured %.2f, %u in the band\n", size_classes[c].name,
             ratios->len, fab_plural (ratios->len, "size", "sizes"),
             fab_median ((const double *) (gpointer) ratios->data, ratios->len), n_inside);
  }
}

static void
print_prediction_rows (const GArray *rows, gboolean is_whole, gboolean is_csv)
{
  g_autoptr (GString) page = g_string_new (NULL);

  g_string_append_printf (
      page,
      is_csv
          ? "op,ranks,place,bytes,times,shortest_us,median_us,predicted_us,low_us,high_us\n"
          : "op            \v  ranks\v  place \v         bytes\v  times\v  shortest us\v  median us\v  predicted us\v"
            "   ratio\v  band us\n");
  for (guint i = 0; i < rows->len; i++) {
    const FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);
    double measured_us = fab_trace_prediction_measured_us (row, is_whole);
    /* what took less than the clock tells has no ratio */
    g_autofree char *ratio = measured_us > 0 ? g_strdup_printf ("%.2f", row->predicted_us / measured_us)
                                             : g_strdup ("-");

    if (is_csv)
      g_string_append_printf (page, "%s,%u,%s,%" G_GUINT64_FORMAT ",%u,%.3f,%.3f,%.3f,%.3f,%.3f\n",
                              fab_op_names[row->op], row->n_ranks, fab_trace_place_names[row->place],
                              (guint64) row->bytes, row->n_times, row->shortest_us, row->median_us,
                              row->predicted_us, row->low_us, row->high_us);
    else
      g_string_append_printf (page,
                              "%-14s\v %6u\v  %-6s\v %12" G_GUINT64_FORMAT
                              "\v %6u\v %12.1f\v %10.1f\v %13.1f\v %7s\v  %.1f to %.1f\n",
                              fab_op_names[row->op], row->n_ranks, fab_trace_place_names[row->place],
                              (guint64) row->bytes, row->n_times, row->shortest_us, row->median_us,
                              row->predicted_us, ratio, row->low_us, row->high_us);
  }
  fab_terminal_print_page (page->str);
}

static gboolean
print_predictions (const ImportTraceOptions *o, const FabTrace *trace, const FabTraceAccount *account,
                   GError **error)
{
  gboolean is_whole = account->n_inseparable == 0;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) machine = catalog ? fab_cli_scenario (o->on, NULL, catalog, error) : NULL;
  g_autoptr (GArray) rows = NULL;
  FabFormat format;
  guint n_left_out = 0;

  if (machine == NULL || !fab_cli_format (o->format, &format, error))
    return FALSE;
  if (format == FAB_FORMAT_JSON)
    return fab_throw (error, FAB_ERROR_INPUT, "--format json: predictions of a trace are text or csv");
  rows = fab_trace_predict (account, machine, catalog, &fab_models, &n_left_out, error);
  if (rows == NULL)
    return FALSE;
  print_prediction_rows (rows, is_whole, format == FAB_FORMAT_CSV);
  if (format == FAB_FORMAT_CSV)
    return TRUE;
  print_classes (rows, is_whole);
  g_print (
      is_whole
          ? "The ratio is that of predicted to median time.\n"
          : "The ratio is that of predicted to shortest time, because ranks without a trace may have come "
            "late.\n");
  if (n_left_out > 0)
    g_print ("Left out: %u %s without a size, or of groups that do not fit into the machine.\n", n_left_out,
             fab_plural (n_left_out, "collective", "collectives"));
  if (account->n_without_group > 0)
    g_print ("The trace does not give the group of %u %s: all %u ranks count as their group.\n",
             account->n_without_group, fab_plural (account->n_without_group, "collective", "collectives"),
             fab_trace_n_world (trace));
  return TRUE;
}

/* Of a trace that has lengths of collectives and no times of steps. */
static void
print_lengths (const FabTraceAccount *account)
{
  g_autoptr (GString) page = g_string_new (NULL);
  guint n_left_out = 0;
  g_autoptr (GArray) rows = fab_trace_list (account, &n_left_out);

  g_string_append_printf (
      page, "op            \v  ranks\v        bytes\v  times\v  shortest us\v  median us\v  busbw GB/s\n");
  for (guint i = 0; i < rows->len; i++) {
    const FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);

    g_string_append_printf (page, "%-14s\v %6u\v %12" G_GUINT64_FORMAT "\v %6u\v %12.1f\v %10.1f\v %11.2f\n",
                            fab_op_names[row->op], row->n_ranks, (guint64) row->bytes, row->n_times,
                            row->shortest_us, row->median_us,
                            row->median_us > 0 ? (double) row->bytes / row->median_us / 1e3
                                                     * fab_op_bus_factor (row->op, MAX (row->n_ranks, 2))
                                               : 0);
  }
  if (n_left_out > 0)
    g_string_append_printf (page, "Left out: %u %s without a size.\n", n_left_out,
                            fab_plural (n_left_out, "collective", "collectives"));
  g_string_append_printf (
      page,
      "The files have the lengths of collectives, not the times at which they ran, so there are no steps.\n");
  if (account->n_inseparable > 0)
    g_string_append_printf (page,
                            "Not all ranks of %u %s are here: times may include waiting for the others.\n",
                            account->n_inseparable,
                            fab_plural (account->n_inseparable, "collective", "collectives"));
  fab_terminal_print_page (page->str);
}

/* What NCCL chose, and with --on what it is expected to choose on the machine of the scenario. */
static gboolean
print_choices (const ImportTraceOptions *o, const FabTrace *trace, GError **error)
{
  g_autoptr (FabCatalog) catalog = o->on != NULL ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabScenario) machine = catalog ? fab_cli_scenario (o->on, NULL, catalog, error) : NULL;
  g_autoptr (GString) page = g_string_new (NULL);
  guint n_known = 0, n_same = 0;
  FabFormat format;

  if (o->on != NULL && (machine == NULL || !fab_cli_format (o->format, &format, error)))
    return FALSE;
  if (o->on != NULL && format != FAB_FORMAT_TEXT)
    return fab_throw (error, FAB_ERROR_INPUT, "--format: choices of NCCL are printed as text only");
  g_string_append_printf (page, "op            \v        bytes\v  times\v  NCCL chose%s\n",
                          machine ? "          \v  expected here" : "");
  for (guint i = 0; i < trace->choices->len; i++) {
    const FabTraceChoice *choice = &g_array_index (trace->choices, FabTraceChoice, i);
    g_autofree char *chose = g_strdup_printf ("%s %s", choice->algorithm, choice->protocol), *here = NULL;
    FabPrediction expected = { 0 };
    GError *problem = NULL;

    if (machine != NULL && fab_trace_choose (choice, machine, catalog, &fab_models, &expected, &problem)) {
      here = g_strdup_printf ("%s %s", expected.algorithm, expected.protocol);
      n_known++;
      n_same += strcmp (chose, here) == 0;
    }
    if (problem != NULL) {
      g_propagate_error (error, problem);
      return FALSE;
    }
    g_string_append_printf (page, "%-14s\v %12" G_GUINT64_FORMAT "\v %6u\v  %-20s\v  %s\n",
                            choice->op[0] != '\0' ? choice->op : "?", (guint64) choice->bytes,
                            choice->n_times, chose, here ? here : "");
  }
  fab_terminal_print_page (page->str);
  if (n_known > 0)
    g_print ("%u of %u choices are the expected ones.\n", n_same, n_known);
  return TRUE;
}

static gboolean
store_account (const ImportTraceOptions *o, const FabTrace *trace, const FabTraceAccount *account,
               const char *path, GError **error)
{
  g_autoptr (FabStore) store = fab_store_open (o->db, FAB_STORE_WRITE, error);
  g_autofree char *base = g_path_get_basename (path), *name = fab_printable (o->name ? o->name : base);
  gint64 run_id = 0;

  if (store == NULL || !fab_trace_store (trace, account, name, store, &run_id, error)
      || !fab_store_close (&store, error))
    return FALSE;
  g_print ("Run %" G_GINT64_FORMAT " of %s: %s\n", run_id, o->db, name);
  return TRUE;
}

gboolean
import_trace (const ImportTraceOptions *o, char *const *paths, GError **error)
{
  g_autoptr (FabTrace) trace = fab_trace_read (paths, NULL, NULL, error);
  g_autoptr (FabTraceAccount) account = NULL;

  if (trace == NULL)
    return FALSE;
  for (guint i = 0; i < trace->notes->len; i++)
    g_print ("%s.\n", fab_file_note (trace->notes, i)->text);
  if (o->calibrates)
    return import_trace_calibrate (o, trace, paths, error);
  if (!is_timed (trace)) {
    const FabTracedRank *first = g_ptr_array_index (trace->ranks, 0);

    for (guint i = 0; i < trace->ranks->len; i++)
      print_graph (g_ptr_array_index (trace->ranks, i));
    if (o->on != NULL && trace->choices->len == 0)
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "%s: has neither times of collectives nor choices of NCCL, so --on has nothing to compare",
          first->source);
    if (trace->choices->len > 0 && !print_choices (o, trace, error))
      return FALSE;
    return o->db == NULL
        || fab_throw (error, FAB_ERROR_INPUT,
                      "%s: is a graph without times of kernels, so --db has nothing to store", first->source);
  }
  account = fab_trace_account_new (trace, o->with_waiting, error);
  if (account == NULL)
    return FALSE;
  if (o->on != NULL && !print_predictions (o, trace, account, error))
    return FALSE;
  if (o->on == NULL && !trace->has_only_lengths)
    print_account (trace, account);
  if (o->on == NULL && trace->has_only_lengths)
    print_lengths (account);
  if (o->db != NULL && trace->has_only_lengths)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: has lengths of collectives without their times, so --db has nothing to store",
                      paths[0]);
  return o->db == NULL || store_account (o, trace, account, paths[0], error);
}
