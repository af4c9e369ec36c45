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
append_blind (GString *out, const char *name, const FabBlindErrors *blind)
{
  if (blind->errors.n == 0)
    return;
  g_string_append_printf (out, "  %-24s %3u rows  ", name, blind->errors.n);
  fab_errors_append_text (out, &blind->errors, "");
  g_string_append_printf (out, ", %.0f %% in the band\n", 100.0 * blind->n_inside / blind->errors.n);
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

  g_string_append_printf (out, "  %-8s\v %6u\v  %12.4f\v %12.4f\v  %+7.1f%%\v  %7.1f%%\v  %5.1f%%",
                          row->measured->id, row->measured->gpus, row->measured->step_s,
                          row->predicted.step_s, row->error_fraction * 100,
                          row->predicted.exposed_s / MAX (row->predicted.step_s, 1e-12) * 100,
                          row->efficiency * 100);
  if (row->blind.is_predicted)
    g_string_append_printf (out, "\v  %+7.1f%%", row->blind.error_fraction * 100);
  else
    g_string_append_printf (out, "\v  %8s", "");
  g_string_append_printf (out, "\v  %-13s\v %s\n", fab_run_role_names[row->role], what);
}

/* The first few of the rows that are left out, and how many more there are. */
static void
append_told (GString *out, const FabTrainingResult *result)
{
  const guint most = 5;

  if (result->remarks->len > 0)
    g_string_append_printf (out, "  %-24s %3u rows\n", "skipped or no anchor", result->remarks->len);
  for (guint i = 0; i < MIN (result->remarks->len, most); i++)
    g_string_append_printf (out, "    %s\n", (const char *) g_ptr_array_index (result->remarks, i));
  if (result->remarks->len > most)
    g_string_append_printf (out, "    and %u more\n", result->remarks->len - most);
}

static void
append_result (GString *out, const FabTrainingView *view, const FabTrainingResult *result)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_autofree char *limit = fab_limits_show (view->limits, spec->name, 0, " (accepted ", ")");

  g_string_append_printf (out, "%s: %s\n", spec->name, spec->title);
  if (!view->is_summary) {
    g_string_append_printf (out, "  network: %s\n", spec->network);
    g_string_append_printf (out, "  %-8s\v %6s\v  %12s\v %12s\v  %8s\v  %8s\v  %6s\v  %8s\v  %-13s\v %s\n",
                            "row", "GPUs", "measured s", "predicted s", "error", "exposed", "effic.", "blind",
                            "role", "what");
    for (guint i = 0; i < result->rows->len; i++)
      if (g_array_index (result->rows, FabTrainingComparison, i).role != FAB_RUN_NOT_PLAYED)
        append_row (out, result, &g_array_index (result->rows, FabTrainingComparison, i));
  }
  if (result->n_played < result->rows->len)
    g_string_append_printf (out, "  %-24s %3u of %u rows (--all plays all of them)\n", "sample",
                            result->n_played, result->rows->len);
  append_errors (out, "judged", &result->errors, limit);
  append_errors (out, "one node", &result->one_node_errors, "");
  append_errors (out, "across layouts", &result->across_errors, "");
  append_blind (out, "blind, calibrating", &result->blind_calibration);
  append_blind (out, "blind, judged", &result->blind_judged);
  append_directions (out, &result->directions);
  append_told (out, result);
  g_string_append_c (out, '\n');
}

/* Errors of strategies, of divisions, or blind ones of both and of generations. */
static void
append_accounts (GString *out, const char *title, const GArray *accounts)
{
  g_string_append_printf (out, "%s\n", title);
  for (guint i = 0; i < accounts->len; i++) {
    const FabTrainingAccount *account = &g_array_index (accounts, FabTrainingAccount, i);
    g_autofree char *calibrating = g_strdup_printf ("%s, blind, calibr.", account->name),
                    *judged = g_strdup_printf ("%s, blind, judged", account->name);

    append_errors (out, account->name, &account->errors, "");
    append_blind (out, calibrating, &account->blind_calibration);
    append_blind (out, judged, &account->blind_judged);
  }
}

char *
fab_training_to_text (const FabTrainingView *view)
{
  const FabTrainingReport *report = view->report;
  GString *out = g_string_new (
      "error = predicted step / measured step - 1; efficiencies are fixed by the anchor rows, "
      "blind: by the catalogue\n\n");

  for (guint i = 0; i < report->results->len; i++)
    append_result (out, view, g_ptr_array_index (report->results, i));
  append_accounts (out, "strategies as sources call them (judged rows)", report->strategies);
  append_accounts (out, "how the model is divided", report->divisions);
  append_accounts (out, "what is hard to predict", report->cases);
  append_accounts (out, "generations", report->generations);
  g_string_append (out, "all sources\n");
  append_errors (out, "judged", &report->errors, "");
  append_errors (out, "over 256 GPUs", &report->large_errors, "");
  append_errors (out, "across layouts", &report->across_errors, "");
  append_blind (out, "blind, calibrating", &report->blind_calibration);
  append_blind (out, "blind, judged", &report->blind_judged);
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
