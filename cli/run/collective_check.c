/* SPDX-License-Identifier: Apache-2.0 */
/* collective_check.c - a measured nccl-tests output beside the prediction: is this machine slow?
 *
 * ratio = measured busbw / predicted busbw, from the times where the file has them, as small rates are printed
 * with few digits. Sizes from --check-from on are judged: below them the host's calls count more than the links.
 */
#include <math.h>

#include "cli/run/collective.h"
#include "cli/terminal/terminal.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

typedef struct {
  const CollectiveView *view;
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
check_factor (const CollectiveView *view, guint n_ranks, GError **error)
{
  double expected = fab_op_bus_factor (view->asked->op, n_ranks);

  for (guint i = 0; i < view->asked->measured->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (view->asked->measured->rows, FabNcclTestsRow, i);
    double factor = row->busbw_GBps / row->algbw_GBps;

    if (row->algbw_GBps >= 2 && fabs (factor / expected - 1) > 0.02)
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "--check %s: its busbw is %.3f x algbw, but %s over %u ranks has %.3f; give --op, --nodes and "
          "--gpus-per-node as they were measured",
          view->options->check_path, factor, fab_op_names[view->asked->op], n_ranks, expected);
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
append_check_row (GString *page, Check *self, const FabNcclTestsRow *measured, const FabPrediction *row)
{
  g_autofree char *time = collective_fit (measured->time_us, 9), *own_time = collective_fit (row->time_us, 9);
  g_autofree char *busbw = collective_fit (measured->busbw_GBps, 8),
                  *own = collective_fit (row->busbw_GBps, 8);
  double ratio = ratio_of (measured, row);
  const char *verdict = judge (self, measured, row);

  g_string_append_printf (page,
                          "%14" G_GUINT64_FORMAT
                          "\v  %9s\v %9s\v  %8s\v %8s\v  %6.2f\v  %-10s\v  %-14s\v %-6s\v  %s\n",
                          row->size_bytes, time, own_time, busbw, own, ratio, verdict, row->algorithm,
                          row->protocol, collective_binding (row));
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
             self->view->asked->node);
  if (self->at == NULL) {
    g_print ("# no size is %" G_GUINT64_FORMAT " bytes or more, so none is judged; see --check-from\n",
             self->from_bytes);
    return;
  }
  g_print (
      "# %s: %u of %u compared %s more than %.0f%% below the prediction; worst %.2f at %" G_GUINT64_FORMAT
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
append_check_head (GString *page, const Check *self, guint n_ranks)
{
  const CollectiveView *view = self->view;

  g_string_append_printf (page,
                          "# %s: %s, %u ranks, beside the prediction for %" G_GINT64_FORMAT
                          " x %s; form: %s\n",
                          view->options->check_path, fab_nccl_program (view->asked->op), n_ranks,
                          view->run->nodes, view->asked->node, fab_form_names[view->asked->form]);
  if (view->asked->measured->n_tables > 1)
    g_string_append_printf (page, "# the file has %u tables; this is the first\n",
                            view->asked->measured->n_tables);
  g_string_append_printf (page,
                          "#%13s\v  %9s\v %9s\v  %8s\v %8s\v  %6s\v  %-10s\v  %-14s\v %-6s\v  %s\n"
                          "#%13s\v  %9s\v %9s\v  %8s\v %8s\n"
                          "#%13s\v  %9s\v %9s\v  %8s\v %8s\n",
                          "size", "time", "time", "busbw", "busbw", "ratio", "verdict", "algorithm", "proto",
                          "binding", "", "measured", "predicted", "measured", "predict", "(B)", "(us)",
                          "(us)", "(GB/s)", "(GB/s)");
}

gboolean
collective_check (const CollectiveView *view, const GArray *rows, GError **error)
{
  Check self = { .view = view,
                 .tolerance = view->options->tolerance_fraction,
                 .from_bytes = view->options->judged_bytes };
  guint n_ranks = g_array_index (rows, FabPrediction, 0).n_ranks;
  g_autoptr (GString) page = g_string_new (NULL);

  if (!check_factor (view, n_ranks, error))
    return FALSE;
  append_check_head (page, &self, n_ranks);
  for (guint i = 0; i < rows->len; i++)
    append_check_row (page, &self, &g_array_index (view->asked->measured->rows, FabNcclTestsRow, i),
                      &g_array_index (rows, FabPrediction, i));
  fab_terminal_print_page (page->str);
  print_verdict (&self);
  return self.n_slow == 0 && self.n_wrong == 0;
}
