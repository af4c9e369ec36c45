/* SPDX-License-Identifier: Apache-2.0 */
/* print_data.c - the report for programs. */
#include "sim/base/json.h"
#include "validate/training/print.h"

char *
fab_training_to_csv (const FabTrainingView *view)
{
  GString *out = g_string_new ("source,row,role,strategy,gpus,nodes,measured_s,predicted_s,error_fraction,"
                               "exposed_s,comm_s,compute,efficiency,calibration,blind_s,blind_error_fraction,"
                               "blind_residual,generation,precision,stack,tensor,context,expert,pipeline\n");

  for (guint i = 0; i < view->report->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (view->report->results, i);

    for (guint k = 0; k < result->rows->len; k++) {
      const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, k);

      const FabTrainingTraits *traits = &row->traits;

      if (row->role == FAB_RUN_NOT_PLAYED)
        continue;

      g_string_append_printf (out, "%s,%s,%s,%s,%u,%u,%.6g,%.6g,%.6f,%.6g,%.6g,%s,%.6f,",
                              result->source->spec->name, row->measured->id, fab_run_role_names[row->role],
                              row->measured->strategy, row->measured->gpus, row->measured->nodes,
                              row->measured->step_s, row->predicted.step_s, row->error_fraction,
                              row->predicted.exposed_s, row->predicted.comm_s,
                              fab_training_knob_names[traits->knob], row->efficiency);
      g_string_append_printf (out, "%s,%.6g,%.6f,%.6f,%s,%s,%s,%u,%u,%u,%u\n",
                              row->is_calibration ? "yes" : "no", row->blind.step.step_s,
                              row->blind.error_fraction, row->blind.residual,
                              traits->generation ? traits->generation : "",
                              row->blind.step.cell.precision ? row->blind.step.cell.precision : "",
                              row->blind.step.cell.stack ? row->blind.step.cell.stack : "", traits->tensor,
                              traits->context, traits->expert, traits->pipeline);
    }
  }
  return g_string_free (out, FALSE);
}

static void
add_errors (FabJson *json, const char *key, const FabErrors *errors)
{
  fab_json_begin_object (json, key);
  fab_errors_add_json (json, "rows", errors, FAB_ERRORS_BIAS);
  fab_json_end (json);
}

static void
add_blind (FabJson *json, const char *key, const FabBlindErrors *blind)
{
  fab_json_begin_object (json, key);
  fab_errors_add_json (json, "rows", &blind->errors, FAB_ERRORS_BIAS);
  fab_json_add_whole (json, "inside", blind->n_inside);
  fab_json_end (json);
}

static void
add_directions (FabJson *json, const FabDirections *directions)
{
  fab_json_begin_object (json, "directions");
  fab_json_add_whole (json, "right", directions->n_right);
  fab_json_add_whole (json, "wrong", directions->n_wrong);
  fab_json_add_whole (json, "small", directions->n_small);
  fab_json_add_whole (json, "odd", directions->n_odd);
  fab_json_end (json);
}

static void
add_row (FabJson *json, const FabTrainingComparison *row)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "row", row->measured->id);
  fab_json_add_text (json, "role", fab_run_role_names[row->role]);
  fab_json_add_text (json, "strategy", row->measured->strategy);
  fab_json_add_whole (json, "gpus", row->measured->gpus);
  fab_json_add_whole (json, "nodes", row->measured->nodes);
  fab_json_add_real (json, "measured_s", row->measured->step_s);
  fab_json_add_real (json, "predicted_s", row->predicted.step_s);
  fab_json_add_real (json, "error_fraction", row->error_fraction);
  fab_json_add_real (json, "exposed_s", row->predicted.exposed_s);
  fab_json_add_text (json, "compute", fab_training_knob_names[row->traits.knob]);
  fab_json_add_real (json, "efficiency", row->efficiency);
  fab_json_add_flag (json, "calibration", row->is_calibration);
  if (row->blind.is_predicted) {
    fab_json_add_real (json, "blind_s", row->blind.step.step_s);
    fab_json_add_real (json, "blind_error_fraction", row->blind.error_fraction);
    fab_json_add_flag (json, "inside", row->blind.is_inside);
  }
  if (row->problem != NULL)
    fab_json_add_text (json, "problem", row->problem);
  fab_json_end (json);
}

static void
add_result (FabJson *json, const FabTrainingView *view, const FabTrainingResult *result)
{
  double limit_fraction;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "source", result->source->spec->name);
  add_errors (json, "judged", &result->errors);
  add_errors (json, "one_node", &result->one_node_errors);
  add_errors (json, "across_layouts", &result->across_errors);
  add_blind (json, "blind_calibration", &result->blind_calibration);
  add_blind (json, "blind_judged", &result->blind_judged);
  fab_json_add_whole (json, "skipped", result->n_skipped);
  add_directions (json, &result->directions);
  if (fab_limits_median (view->limits, result->source->spec->name, 0, &limit_fraction))
    fab_json_add_real (json, "accepted_fraction", limit_fraction);
  if (!view->is_summary) {
    fab_json_begin_array (json, "rows");
    for (guint i = 0; i < result->rows->len; i++)
      if (g_array_index (result->rows, FabTrainingComparison, i).role != FAB_RUN_NOT_PLAYED)
        add_row (json, &g_array_index (result->rows, FabTrainingComparison, i));
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_accounts (FabJson *json, const char *key, const GArray *accounts)
{
  fab_json_begin_object (json, key);
  for (guint i = 0; i < accounts->len; i++) {
    const FabTrainingAccount *account = &g_array_index (accounts, FabTrainingAccount, i);

    fab_json_begin_object (json, account->name);
    fab_errors_add_json (json, "rows", &account->errors, FAB_ERRORS_BIAS);
    add_blind (json, "blind_calibration", &account->blind_calibration);
    add_blind (json, "blind_judged", &account->blind_judged);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_wrong (FabJson *json, const FabTrainingReport *report)
{
  fab_json_begin_array (json, "wrong_directions");
  for (guint i = 0; i < report->wrong->len; i++) {
    const FabWrongDirection *wrong = &g_array_index (report->wrong, FabWrongDirection, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "source", wrong->source);
    fab_json_add_text (json, "factor", wrong->factor);
    fab_json_add_text (json, "from", wrong->from);
    fab_json_add_text (json, "to", wrong->to);
    fab_json_add_real (json, "measured_fraction", wrong->measured_fraction);
    fab_json_add_real (json, "predicted_fraction", wrong->predicted_fraction);
    fab_json_end (json);
  }
  fab_json_end (json);
}

char *
fab_training_to_json (const FabTrainingView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_begin_array (json, "sources");
  for (guint i = 0; i < view->report->results->len; i++)
    add_result (json, view, g_ptr_array_index (view->report->results, i));
  fab_json_end (json);
  add_accounts (json, "strategies", view->report->strategies);
  add_accounts (json, "divisions", view->report->divisions);
  add_accounts (json, "cases", view->report->cases);
  add_accounts (json, "generations", view->report->generations);
  add_errors (json, "all", &view->report->errors);
  add_errors (json, "over_256_gpus", &view->report->large_errors);
  add_errors (json, "across_layouts", &view->report->across_errors);
  add_blind (json, "blind_calibration", &view->report->blind_calibration);
  add_blind (json, "blind_judged", &view->report->blind_judged);
  fab_json_add_whole (json, "skipped", view->report->n_skipped);
  fab_json_add_whole (json, "unanchored", view->report->n_unanchored);
  add_directions (json, &view->report->directions);
  add_wrong (json, view->report);
  fab_json_end (json);
  return fab_json_finish (json);
}
