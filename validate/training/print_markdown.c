/* SPDX-License-Identifier: Apache-2.0 */
/* print_markdown.c - the report as docs/reference/validation-training.md. */
#include <math.h>

#include "validate/training/print.h"

static const char page_head[] =
    "# How far predicted training steps are from measured ones\n"
    "\n"
    "`fabricast validate training --format markdown` writes this page, and a test keeps it up to date.\n"
    "The measurements and the scenarios are in `validate/measured/training`, each with its source and\n"
    "with what is inferred.\n"
    "\n"
    "error = predicted step time / measured step time - 1. Two predictions are judged:\n"
    "\n"
    "- **Anchored** is the situation of a reader who has measured one small run. Rows of the same GPU,\n"
    "  model and micro-batch get one compute efficiency: the one at which the simulated step of the\n"
    "  anchor row takes the measured time. The anchor is a row on one GPU or one node where the source\n"
    "  has one. The efficiency is a factor on all rates of kernels where operators are priced one by one,\n"
    "  else an MFU. Rows that divide the model in another way than the anchor (tensor, pipeline, context,\n"
    "  expert) have an anchor of their own where there are two or more; its distance from the prediction\n"
    "  of the group's anchor counts as an error across layouts. All other rows are predicted, and nothing\n"
    "  is fitted again. Networks come from the catalogue, or from the collective bandwidths that the\n"
    "  source itself publishes. Rows on several nodes that are not anchors are judged.\n"
    "- **Blind** is the situation of a planner before any measurement: every row is predicted with the\n"
    "  kernels of its software and one factor ([auto](../models/auto.md)). A rule on names, fixed before any\n"
    "  prediction, decides which rows calibrate this factor and which are judged (`role` in\n"
    "  INDEX.yaml): groups of one model and GPU, in alphabetical order, calibrate and are judged in turn,\n"
    "  and the first calibrates. Of some sources all groups are judged. \"In band\" is the share of rows\n"
    "  within the 90 % band of their software ([uncertainty](../explanation/uncertainty.md)).\n"
    "\n"
    "\"Accepted\" is the limit on the median in `validate/accept-training.yaml`, above which the tests\n"
    "fail. A direction is right when a change of one thing (GPUs, NICs, strategy) makes a sample cheaper\n"
    "or dearer in GPU-seconds, as it did in the measurement. Measured changes under 2 % are not counted.\n"
    "Neither are rows in which more GPUs alone made a sample cheaper: the reason is noise, or memory that\n"
    "was short. Rows that cannot be simulated are skipped and counted. Of a source with more than 40\n"
    "rows, an even sample of the groups is simulated; `--all` simulates all of them.\n"
    "\n";

static void
append_errors (GString *out, const FabErrors *errors)
{
  if (errors->n == 0)
    g_string_append (out, " 0 | | | |");
  else
    g_string_append_printf (out, " %u | %.1f %% | %+.1f %% | %.1f %% |", errors->n,
                            errors->median_fraction * 100, errors->bias_fraction * 100,
                            errors->max_fraction * 100);
}

static void
append_blind (GString *out, const FabBlindErrors *blind)
{
  if (blind->errors.n == 0)
    g_string_append (out, " 0 | | | |");
  else
    g_string_append_printf (out, " %u | %.1f %% | %+.1f %% | %.0f %% |", blind->errors.n,
                            blind->errors.median_fraction * 100, blind->errors.bias_fraction * 100,
                            100.0 * blind->n_inside / blind->errors.n);
}

static void
append_summary (GString *out, const FabTrainingView *view)
{
  const FabTrainingReport *report = view->report;

  g_string_append (out, "## Anchored\n\n"
                        "| source | rows | median | bias | largest | accepted | directions | skipped |\n"
                        "|---|---:|---:|---:|---:|---:|---|---:|\n");
  for (guint i = 0; i < report->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (report->results, i);
    g_autofree char *limit = fab_limits_show (view->limits, result->source->spec->name, 0, " ", "");

    g_string_append_printf (out, "| %s |", result->source->spec->name);
    append_errors (out, &result->errors);
    g_string_append_printf (out, "%s | %u right, %u wrong | %u |\n", limit, result->directions.n_right,
                            result->directions.n_wrong, result->n_skipped);
  }
  g_string_append (out, "| all |");
  append_errors (out, &report->errors);
  g_string_append_printf (out, " | %u right, %u wrong | %u |\n| all, over 256 GPUs |",
                          report->directions.n_right, report->directions.n_wrong, report->n_skipped);
  append_errors (out, &report->large_errors);
  g_string_append (out, " | | |\n| all, across layouts |");
  append_errors (out, &report->across_errors);
  g_string_append (out, " | | |\n");
}

static void
append_accounts (GString *out, const char *title, const GArray *accounts)
{
  g_string_append_printf (out,
                          "\n### %s\n\n| | rows | median | bias | largest |\n|---|---:|---:|---:|---:|\n",
                          title);
  for (guint i = 0; i < accounts->len; i++) {
    const FabTrainingAccount *account = &g_array_index (accounts, FabTrainingAccount, i);

    g_string_append_printf (out, "| %s |", account->name);
    append_errors (out, &account->errors);
    g_string_append_c (out, '\n');
  }
}

static void
append_blind_row (GString *out, const char *name, const FabBlindErrors *judged,
                  const FabBlindErrors *calibration)
{
  if (judged->errors.n + calibration->errors.n == 0)
    return;
  g_string_append_printf (out, "| %s |", name);
  append_blind (out, judged);
  append_blind (out, calibration);
  g_string_append_c (out, '\n');
}

static void
append_blind_accounts (GString *out, const GArray *accounts, const char *prefix)
{
  for (guint i = 0; i < accounts->len; i++) {
    const FabTrainingAccount *account = &g_array_index (accounts, FabTrainingAccount, i);
    g_autofree char *name = g_strconcat (prefix, account->name, NULL);

    append_blind_row (out, name, &account->blind_judged, &account->blind_calibration);
  }
}

static void
append_blind_summary (GString *out, const FabTrainingReport *report)
{
  g_string_append (out, "\n## Blind\n\n"
                        "| | judged | median | bias | in band | calibrating | median | bias | in band |\n"
                        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  append_blind_row (out, "**all**", &report->blind_judged, &report->blind_calibration);
  append_blind_accounts (out, report->generations, "generation ");
  append_blind_accounts (out, report->divisions, "divided by ");
  append_blind_accounts (out, report->cases, "");
  for (guint i = 0; i < report->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (report->results, i);

    append_blind_row (out, result->source->spec->name, &result->blind_judged, &result->blind_calibration);
  }
}

static void
append_wrong (GString *out, const FabTrainingReport *report)
{
  if (report->wrong->len == 0)
    return;
  g_string_append (out, "\n## Wrong directions\n\n| source | factor | rows | measured | predicted |\n"
                        "|---|---|---|---:|---:|\n");
  for (guint i = 0; i < report->wrong->len; i++) {
    const FabWrongDirection *wrong = &g_array_index (report->wrong, FabWrongDirection, i);

    g_string_append_printf (out, "| %s | %s | %s, %s | %+.1f %% | %+.1f %% |\n", wrong->source, wrong->factor,
                            wrong->from, wrong->to, wrong->measured_fraction * 100,
                            wrong->predicted_fraction * 100);
  }
}

static void
append_line (GString *out, const FabTrainingResult *result, const char *key)
{
  const char *value = g_hash_table_lookup (result->source->table->header, key);

  if (value && *value != '\0')
    g_string_append_printf (out, "- %s: %s\n", key, value);
}

/* --- rows --- */

enum { MOST_ROWS = 24, WORST_ROWS = 10 };

static void
append_row (GString *out, const FabTrainingResult *result, const FabTrainingComparison *row)
{
  g_autofree char *what = fab_training_describe_row (result, row);
  g_autofree char *blind = row->blind.is_predicted
                             ? g_strdup_printf ("%+.1f %%", row->blind.error_fraction * 100)
                             : g_strdup ("");

  if (row->efficiency <= 0) {
    g_string_append_printf (out, "| %s | %u | %s | %.4g | | | | | %s | %s |\n", row->measured->id,
                            row->measured->gpus, what, row->measured->step_s, blind,
                            fab_run_role_names[row->role]);
    return;
  }
  g_string_append_printf (out, "| %s | %u | %s | %.4g | %.4g | %+.1f %% | %.0f %% | %.1f %% | %s | %s |\n",
                          row->measured->id, row->measured->gpus, what, row->measured->step_s,
                          row->predicted.step_s, row->error_fraction * 100,
                          row->predicted.exposed_s / row->predicted.step_s * 100, row->efficiency * 100,
                          blind, row->role == FAB_RUN_JUDGED ? "" : fab_run_role_names[row->role]);
}

static gint
compare_worst (gconstpointer a, gconstpointer b)
{
  double first = fabs ((*(const FabTrainingComparison *const *) a)->error_fraction),
         second = fabs ((*(const FabTrainingComparison *const *) b)->error_fraction);

  return first > second ? -1 : first < second;
}

/* All rows of a small source; of a large one the judged rows that are furthest off. */
static void
append_rows (GString *out, const FabTrainingResult *result)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  gboolean is_large = result->rows->len > MOST_ROWS;

  for (guint i = 0; i < result->rows->len; i++) {
    FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);

    if (!is_large || row->role == FAB_RUN_JUDGED)
      g_ptr_array_add (rows, row);
  }
  if (is_large) {
    g_ptr_array_sort (rows, compare_worst);
    g_ptr_array_set_size (rows, (gint) MIN (rows->len, WORST_ROWS));
    g_string_append_printf (
        out, "\nThe judged rows that are furthest off, of %u rows (`--all --format csv` has all):\n",
        result->rows->len);
  }
  if (rows->len == 0)
    return;
  g_string_append (
      out, "\n| row | GPUs | what | measured s | predicted s | error | exposed | efficiency | blind | |\n"
           "|---|---:|---|---:|---:|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < rows->len; i++)
    append_row (out, result, g_ptr_array_index (rows, i));
}

/* A line per reason would fill the page: the first few. */
static void
append_told (GString *out, const FabTrainingResult *result)
{
  const guint most = 3;

  for (guint i = 0; i < MIN (result->remarks->len, most); i++)
    g_string_append_printf (out, "%s- left out: %s\n", i == 0 ? "\n" : "",
                            (const char *) g_ptr_array_index (result->remarks, i));
  if (result->remarks->len > most)
    g_string_append_printf (out, "- and %u more\n", result->remarks->len - most);
}

static void
append_result (GString *out, const FabTrainingView *view, const FabTrainingResult *result)
{
  const FabTrainingSourceSpec *spec = result->source->spec;

  g_string_append_printf (out, "\n### %s\n\n%s.\n\n- network: %s\n", spec->name, spec->title, spec->network);
  append_line (out, result, "source");
  append_line (out, result, "step_s");
  append_line (out, result, "inferred");
  if (spec->note)
    g_string_append_printf (out, "- note: %s\n", spec->note);
  g_string_append_printf (out, "- scenario: `validate/measured/training/%s`\n", spec->scenario);
  if (view->is_summary)
    return;
  if (result->n_played < result->rows->len)
    g_string_append_printf (out, "- played: %u of %u rows, an even sample of the groups\n", result->n_played,
                            result->rows->len);
  append_rows (out, result);
  append_told (out, result);
}

char *
fab_training_to_markdown (const FabTrainingView *view)
{
  GString *out = g_string_new (page_head);

  append_summary (out, view);
  append_accounts (out, "Strategies, as sources call them", view->report->strategies);
  append_accounts (out, "How the model is divided", view->report->divisions);
  append_accounts (out, "What is hard to predict", view->report->cases);
  append_accounts (out, "Generations", view->report->generations);
  append_blind_summary (out, view->report);
  append_wrong (out, view->report);
  g_string_append (out, "\n## Sources\n");
  for (guint i = 0; i < view->report->results->len; i++)
    append_result (out, view, g_ptr_array_index (view->report->results, i));
  return g_string_free (out, FALSE);
}
