/* SPDX-License-Identifier: Apache-2.0 */
/* print_markdown.c - the report as docs/validation-training.md. */
#include "validate/training/print.h"

static const char page_head[] =
    "# How far predicted training steps are from measured ones\n\n"
    "Written by `fabricast validate training --format markdown`; a test keeps it so. The measurements and the\n"
    "scenarios are in `validate/measured/training`, each with its source and with what is inferred.\n\n"
    "Protocol, the same for every source: rows of the same GPU, model and micro-batch have one compute efficiency:\n"
    "the one at which the anchor row, on one GPU or one node where the source has one, takes the measured time\n"
    "in the simulator. All other rows are predicted with it; nothing is fitted again. Networks come from the\n"
    "catalogue, or from the collective bandwidths that the source itself publishes.\n\n"
    "error = predicted step time / measured step time - 1. Only rows on several nodes that are no anchors are judged.\n"
    "\"Accepted\" is the limit on the median in `validate/accept-training.yaml`, above which the tests fail.\n"
    "A direction is right when a change of one thing (GPUs, NICs, strategy) makes a sample cheaper or dearer in\n"
    "GPU-seconds as it did when measured; measured changes under 2 % are not counted, nor are rows where\n"
    "more GPUs alone were measured to make a sample cheaper: noise, or memory that was short.\n\n";

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
append_summary (GString *out, const FabTrainingView *view)
{
  const FabTrainingReport *report = view->report;

  g_string_append (out, "| source | rows | median | bias | largest | accepted | directions |\n"
                        "|---|---:|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < report->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (report->results, i);
    g_autofree char *limit = fab_limits_show (view->limits, result->source->spec->name, 0, " ", "");

    g_string_append_printf (out, "| %s |", result->source->spec->name);
    append_errors (out, &result->errors);
    g_string_append_printf (out, "%s | %u right, %u wrong |\n", limit, result->directions.n_right,
                            result->directions.n_wrong);
  }
  g_string_append (out, "| all |");
  append_errors (out, &report->errors);
  g_string_append_printf (out, " | %u right, %u wrong |\n\n## Strategies\n\n", report->directions.n_right,
                          report->directions.n_wrong);
  g_string_append (out, "| strategy | rows | median | bias | largest |\n|---|---:|---:|---:|---:|\n");
  for (guint i = 0; i < report->strategies->len; i++) {
    const FabStrategyErrors *strategy = &g_array_index (report->strategies, FabStrategyErrors, i);

    g_string_append_printf (out, "| %s |", strategy->strategy);
    append_errors (out, &strategy->errors);
    g_string_append_c (out, '\n');
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
  g_string_append (out, "\n| row | GPUs | what | measured s | predicted s | error | exposed | mfu | |\n"
                        "|---|---:|---|---:|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);
    g_autofree char *what = fab_training_describe_row (result, row);

    g_string_append_printf (out, "| %s | %u | %s | %.4g | %.4g | %+.1f %% | %.0f %% | %.1f %% | %s |\n",
                            row->measured->id, row->measured->gpus, what, row->measured->step_s,
                            row->predicted.step_s, row->error_fraction * 100,
                            row->predicted.exposed_s / row->predicted.step_s * 100, row->mfu_fraction * 100,
                            row->role == FAB_RUN_JUDGED ? "" : fab_run_role_names[row->role]);
  }
}

char *
fab_training_to_markdown (const FabTrainingView *view)
{
  GString *out = g_string_new (page_head);

  append_summary (out, view);
  append_wrong (out, view->report);
  g_string_append (out, "\n## Sources\n");
  for (guint i = 0; i < view->report->results->len; i++)
    append_result (out, view, g_ptr_array_index (view->report->results, i));
  return g_string_free (out, FALSE);
}
