/* SPDX-License-Identifier: Apache-2.0 */
/* print_data.c - the report for programs. */

#include <string.h>

#include "sim/base/json.h"
#include "sim/base/version.h"
#include "validate/compare/print.h"

static void
append_csv_sizes (GString *out, const FabReport *report)
{
  g_string_append (
      out, "table,role,op,ranks,size_bytes,measured_us,predicted_us,error_fraction,measured_busbw_GBps,"
           "predicted_busbw_GBps,algorithm,protocol,channels,bound\n");
  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (report->comparisons, i);
    const FabMeasuredSpec *spec = comparison->table->spec;

    for (guint k = 0; k < comparison->rows->len; k++) {
      const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, k);

      g_string_append_printf (out, "%s,%s,%s,%u,%" G_GUINT64_FORMAT ",%.6g,%.3f,%.6f,%.6g,%.4f,%s,%s,%u,%s\n",
                              comparison->table->name, fab_measured_role_names[spec->role],
                              fab_op_names[spec->op], fab_measured_spec_n_ranks (spec),
                              row->measured->size_bytes, row->measured->time_us, row->predicted->time_us,
                              row->error_fraction, row->measured->busbw_GBps, row->predicted->busbw_GBps,
                              row->predicted->algorithm, row->predicted->protocol, row->predicted->n_channels,
                              fab_bound_names[row->predicted->bound]);
    }
  }
}

static void
append_csv_errors (GString *out, const char *scope, const char *role, FabSizeClass size_class,
                   const FabErrors *errors)
{
  g_autofree char *name = strchr (scope, ',') ? g_strdup_printf ("\"%s\"", scope) : g_strdup (scope);

  if (errors->n > 0)
    g_string_append_printf (out, "%s,%s,%s,%u,%.6f,%.6f,%.6f,%" G_GUINT64_FORMAT ",", name, role,
                            fab_size_class_names[size_class], errors->n, errors->median_fraction,
                            errors->bias_fraction, errors->max_fraction, errors->max_size_bytes);
}

/* The account of all has no name, and no account has a limit. */
static void
append_csv_account (GString *out, const FabAccount *account)
{
  for (guint role = 0; role < FAB_N_ROLES; role++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      const FabTally *tally = &account->tallies[role][c];

      append_csv_errors (out, account->kind == FAB_ACCOUNT_ALL ? "" : account->name,
                         fab_measured_role_names[role], (FabSizeClass) c, &tally->sizes);
      if (tally->sizes.n > 0)
        g_string_append_printf (out, ",%s,%u,%.6f,%u,%.6f,\n", fab_account_kind_names[account->kind],
                                tally->n_tables, tally->tables_fraction, tally->n_families,
                                tally->families_fraction);
    }
}

/* Ends the row of a table; `left_out` may be NULL. */
static void
append_csv_left_out (GString *out, const FabErrors *left_out)
{
  g_string_append (out, ",table,,,,,");
  if (left_out != NULL)
    g_string_append_printf (out, "%.6f", left_out->median_fraction);
  g_string_append_c (out, '\n');
}

static void
append_csv_summary (GString *out, const FabReportView *view)
{
  const FabReport *report = view->report;

  g_string_append (
      out, "table,role,class,sizes,median_fraction,bias_fraction,max_fraction,max_size_bytes,"
           "accepted_fraction,account,tables,tables_median_fraction,families,families_median_fraction,"
           "left_out_median_fraction\n");
  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (report->comparisons, i);

    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      double limit;

      append_csv_errors (out, comparison->table->name, fab_measured_role_names[comparison->table->spec->role],
                         (FabSizeClass) c, &comparison->errors[c]);
      if (comparison->errors[c].n > 0
          && fab_limits_median (view->limits, comparison->table->name, (FabSizeClass) c, &limit))
        g_string_append_printf (out, "%.6g", limit);
      if (comparison->errors[c].n > 0)
        append_csv_left_out (out, fab_report_view_left_out (view, comparison, (FabSizeClass) c));
    }
  }
  for (guint i = 0; i < report->accounts->len; i++)
    append_csv_account (out, &g_array_index (report->accounts, FabAccount, i));
}

char *
fab_report_to_csv (const FabReportView *view)
{
  GString *out = g_string_new (NULL);

  if (view->is_summary)
    append_csv_summary (out, view);
  else
    append_csv_sizes (out, view->report);
  return g_string_free (out, FALSE);
}

/* {"small": {...}, ...} without the classes that have no sizes. */
static void
add_errors (FabJson *json, const FabReportView *view, const FabComparison *comparison)
{
  const FabErrors *errors = comparison->errors;

  fab_json_begin_object (json, "errors");
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    double limit;

    if (errors[c].n == 0)
      continue;
    fab_json_begin_object (json, fab_size_class_names[c]);
    fab_errors_add_json (json, "sizes", &errors[c], FAB_ERRORS_BIAS | FAB_ERRORS_SIZE);
    if (fab_limits_median (view->limits, comparison->table->name, (FabSizeClass) c, &limit))
      fab_json_add_real (json, "accepted_fraction", limit);
    const FabErrors *left_out = fab_report_view_left_out (view, comparison, (FabSizeClass) c);
    if (left_out != NULL)
      fab_json_add_real (json, "left_out_median_fraction", left_out->median_fraction);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_row (FabJson *json, const FabComparisonRow *row)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "size_bytes", (gint64) row->measured->size_bytes);
  fab_json_add_real (json, "measured_us", row->measured->time_us);
  fab_json_add_real (json, "predicted_us", row->predicted->time_us);
  fab_json_add_real (json, "error_fraction", row->error_fraction);
  fab_json_add_real (json, "measured_busbw_GBps", row->measured->busbw_GBps);
  fab_json_add_real (json, "predicted_busbw_GBps", row->predicted->busbw_GBps);
  fab_json_add_text (json, "algorithm", row->predicted->algorithm);
  fab_json_add_text (json, "protocol", row->predicted->protocol);
  fab_json_add_whole (json, "channels", row->predicted->n_channels);
  fab_json_add_text (json, "bound", fab_bound_names[row->predicted->bound]);
  fab_json_end (json);
}

static void
add_table (FabJson *json, const FabReportView *view, const FabComparison *comparison)
{
  const FabMeasuredSpec *spec = comparison->table->spec;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "table", comparison->table->name);
  fab_json_add_text (json, "role", fab_measured_role_names[spec->role]);
  fab_json_add_text (json, "interconnect", spec->interconnect);
  fab_json_add_flag (json, "doubtful", spec->is_doubtful);
  fab_json_add_text (json, "node", spec->node);
  fab_json_add_whole (json, "nodes", spec->nodes);
  fab_json_add_whole (json, "ranks", fab_measured_spec_n_ranks (spec));
  fab_json_add_text (json, "op", fab_op_names[spec->op]);
  fab_json_add_whole (json, "left_out", comparison->n_left_out);
  add_errors (json, view, comparison);
  if (!view->is_summary) {
    fab_json_begin_array (json, "rows");
    for (guint i = 0; i < comparison->rows->len; i++)
      add_row (json, &g_array_index (comparison->rows, FabComparisonRow, i));
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_tallies (FabJson *json, const char *key, const FabTally *tallies)
{
  fab_json_begin_object (json, key);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    const FabTally *tally = &tallies[c];

    if (tally->sizes.n == 0)
      continue;
    fab_json_begin_object (json, fab_size_class_names[c]);
    fab_errors_add_json (json, "sizes", &tally->sizes, FAB_ERRORS_BIAS | FAB_ERRORS_SIZE);
    fab_json_add_whole (json, "tables", tally->n_tables);
    fab_json_add_real (json, "tables_median_fraction", tally->tables_fraction);
    fab_json_add_whole (json, "families", tally->n_families);
    fab_json_add_real (json, "families_median_fraction", tally->families_fraction);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_roles (FabJson *json, const FabAccount *account)
{
  for (guint role = 0; role < FAB_N_ROLES; role++)
    add_tallies (json, fab_measured_role_names[role], account->tallies[role]);
}

/* Interconnects, or all others but the first. */
static void
add_accounts (FabJson *json, const FabReport *report, const char *key, const char *name,
              gboolean is_of_interconnects)
{
  fab_json_begin_array (json, key);
  for (guint i = 1; i < report->accounts->len; i++) {
    const FabAccount *account = &g_array_index (report->accounts, FabAccount, i);

    if ((account->kind == FAB_ACCOUNT_INTERCONNECT) != is_of_interconnects)
      continue;
    fab_json_begin_object (json, NULL);
    if (!is_of_interconnects)
      fab_json_add_text (json, "by", fab_account_kind_names[account->kind]);
    fab_json_add_text (json, name, account->name);
    add_roles (json, account);
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Accounts of all tables, each as if its family had not been measured. */
static void
add_left_out (FabJson *json, const FabReportView *view)
{
  if (view->left_out == NULL)
    return;
  fab_json_begin_array (json, "left_out");
  for (guint i = 0; i < view->left_out->accounts->len; i++) {
    const FabAccount *account = &g_array_index (view->left_out->accounts, FabAccount, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "by", fab_account_kind_names[account->kind]);
    fab_json_add_text (json, "name", account->name);
    add_tallies (json, "errors", account->tallies[FAB_ROLE_JUDGED]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_exceeded (FabJson *json, const FabReportView *view)
{
  g_auto (GStrv) lines = view->limits ? fab_report_exceeded (view->report, view->limits) : NULL;

  fab_json_begin_array (json, "exceeded");
  for (guint i = 0; lines && lines[i]; i++)
    fab_json_add_text (json, NULL, lines[i]);
  fab_json_end (json);
}

char *
fab_report_to_json (const FabReportView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_begin_array (json, "tables");
  for (guint i = 0; i < view->report->comparisons->len; i++)
    add_table (json, view, g_ptr_array_index (view->report->comparisons, i));
  fab_json_end (json);
  fab_json_begin_object (json, "roles");
  add_roles (json, &g_array_index (view->report->accounts, FabAccount, 0));
  fab_json_end (json);
  add_accounts (json, view->report, "accounts", "name", FALSE);
  add_accounts (json, view->report, "interconnects", "interconnect", TRUE);
  add_left_out (json, view);
  add_exceeded (json, view);
  fab_json_end (json);
  return fab_json_finish (json);
}
