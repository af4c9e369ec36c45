/* SPDX-License-Identifier: Apache-2.0 */
/* print_text.c - the report for a terminal. */
#include "validate/training/print.h"

static void
append_cells (GString *out, const FabTrainingResult *result, const FabTrainingComparison *row,
              const char *columns)
{
  g_auto (GStrv) words = g_strsplit (columns ? columns : "", " ", -1);

  for (guint i = 0; words[i]; i++) {
    gint column = *words[i] != '\0' ? fab_training_table_column (result->source->table, words[i]) : -1;

    if (column >= 0)
      g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", row->measured->cells[column]);
  }
}

char *
fab_training_describe_row (const FabTrainingResult *result, const FabTrainingComparison *row)
{
  GString *out = g_string_new (NULL);

  append_cells (out, result, row, result->source->spec->same);
  append_cells (out, result, row, result->source->spec->factors);
  return g_string_free (out, FALSE);
}

static void
append_errors (GString *out, const char *name, const FabErrors *errors, const char *limit)
{
  if (errors->n == 0)
    return;
  g_string_append_printf (out, "  %-24s %3u rows  ", name, errors->n);
  fab_errors_append_text (out, errors, limit);
  g_string_append_printf (out, " at %" G_GUINT64_FORMAT " GPUs\n", errors->max_size_bytes);
}

static void
append_directions (GString *out, const FabDirections *directions)
{
  if (directions->n_right + directions->n_wrong + directions->n_odd > 0)
    g_string_append_printf (out, "  %-24s %3u right, %u wrong, %u under 2 %%, %u cheaper with more GPUs\n",
                            "directions", directions->n_right, directions->n_wrong, directions->n_small,
                            directions->n_odd);
}

static void
append_row (GString *out, const FabTrainingResult *result, const FabTrainingComparison *row)
{
  g_autofree char *what = fab_training_describe_row (result, row);

  g_string_append_printf (out, "  %-8s %6u  %12.4f %12.4f  %+7.1f%%  %7.1f%%  %5.1f%%  %-9s %s\n",
                          row->measured->id, row->measured->gpus, row->measured->step_s,
                          row->predicted.step_s, row->error_fraction * 100,
                          row->predicted.exposed_s / row->predicted.step_s * 100, row->mfu_fraction * 100,
                          fab_run_role_names[row->role], what);
}

static void
append_result (GString *out, const FabTrainingView *view, const FabTrainingResult *result)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_autofree char *limit = fab_limits_show (view->limits, spec->name, 0, " (accepted ", ")");

  g_string_append_printf (out, "%s: %s\n", spec->name, spec->title);
  if (!view->is_summary) {
    g_string_append_printf (out, "  network: %s\n", spec->network);
    g_string_append_printf (out, "  %-8s %6s  %12s %12s  %8s  %8s  %6s  %-9s %s\n", "row", "GPUs",
                            "measured s", "predicted s", "error", "exposed", "mfu", "role", "what");
    for (guint i = 0; i < result->rows->len; i++)
      append_row (out, result, &g_array_index (result->rows, FabTrainingComparison, i));
  }
  append_errors (out, "judged", &result->errors, limit);
  append_errors (out, "one node", &result->one_node_errors, "");
  append_directions (out, &result->directions);
  g_string_append_c (out, '\n');
}

char *
fab_training_to_text (const FabTrainingView *view)
{
  const FabTrainingReport *report = view->report;
  GString *out = g_string_new (
      "error = predicted step / measured step - 1; mfu is fixed by the anchor rows\n\n");

  for (guint i = 0; i < report->results->len; i++)
    append_result (out, view, g_ptr_array_index (report->results, i));
  g_string_append (out, "strategies (judged rows)\n");
  for (guint i = 0; i < report->strategies->len; i++) {
    const FabStrategyErrors *strategy = &g_array_index (report->strategies, FabStrategyErrors, i);

    append_errors (out, strategy->strategy, &strategy->errors, "");
  }
  g_string_append (out, "all sources\n");
  append_errors (out, "judged", &report->errors, "");
  append_directions (out, &report->directions);
  for (guint i = 0; i < report->wrong->len; i++) {
    const FabWrongDirection *wrong = &g_array_index (report->wrong, FabWrongDirection, i);

    g_string_append_printf (
        out, "  wrong direction: %s, %s, rows %s and %s: measured %+.1f %%, predicted %+.1f %%\n",
        wrong->source, wrong->factor, wrong->from, wrong->to, wrong->measured_fraction * 100,
        wrong->predicted_fraction * 100);
  }
  return g_string_free (out, FALSE);
}
