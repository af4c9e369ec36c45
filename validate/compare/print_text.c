/* SPDX-License-Identifier: Apache-2.0 */
/* print_text.c - the report for a terminal and for docs/reference/validation.md. */
#include <string.h>

#include "validate/compare/print.h"

static const char *const class_ranges[FAB_N_SIZE_CLASSES] = {
  [FAB_SIZE_SMALL] = "< 256 KiB", [FAB_SIZE_MIDDLE] = "< 64 MiB", [FAB_SIZE_LARGE] = ">= 64 MiB"
};

static const char *const role_meanings[FAB_N_ROLES] = {
  [FAB_ROLE_CALIBRATION] = "may have set numbers of the models",
  [FAB_ROLE_JUDGED] = "nothing was fitted to them"
};

const FabErrors *
fab_report_view_left_out (const FabReportView *view, const FabComparison *comparison, FabSizeClass size_class)
{
  for (guint i = 0; view->left_out != NULL && i < view->left_out->comparisons->len; i++) {
    const FabComparison *other = g_ptr_array_index (view->left_out->comparisons, i);

    if (other->table == comparison->table && other->errors[size_class].n > 0)
      return &other->errors[size_class];
  }
  return NULL;
}

static char *
show_size (FabBytes bytes)
{
  return fab_units_show (FAB_UNIT_BYTES, (double) bytes);
}

static char *
describe_table (const FabComparison *comparison)
{
  const FabMeasuredSpec *spec = comparison->table->spec;

  return g_strdup_printf ("%s over %u GPUs, %" G_GINT64_FORMAT " x %s", fab_op_names[spec->op],
                          fab_measured_spec_n_ranks (spec), spec->nodes, spec->node);
}

static void
append_text_errors (GString *out, const char *name, const FabErrors *errors, const char *limit)
{
  g_autofree char *size = show_size (errors->max_size_bytes);

  if (errors->n == 0)
    return;
  g_string_append_printf (out, "  %-7s %3u sizes  ", name, errors->n);
  fab_errors_append_text (out, errors, limit);
  g_string_append_printf (out, " at %s\n", size);
}

static void
append_text_rows (GString *out, const FabComparison *comparison)
{
  g_string_append_printf (out, "  %10s\v  %12s\v %12s\v  %8s\v  %9s\v %9s\v  %-8s\v %-8s\v %s\n", "size",
                          "measured us", "predicted us", "error", "measured", "predicted", "algor.",
                          "protocol", "bound by");
  for (guint i = 0; i < comparison->rows->len; i++) {
    const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, i);
    g_autofree char *size = show_size (row->measured->size_bytes);

    g_string_append_printf (out,
                            "  %10s\v  %12.2f\v %12.2f\v  %+7.1f%%\v  %9.2f\v %9.2f\v  %-8s\v %-8s\v %s\n",
                            size, row->measured->time_us, row->predicted->time_us, row->error_fraction * 100,
                            row->measured->busbw_GBps, row->predicted->busbw_GBps, row->predicted->algorithm,
                            row->predicted->protocol, fab_bound_names[row->predicted->bound]);
  }
}

/* To the line that was just ended. */
static void
append_text_left_out (GString *out, const FabReportView *view, const FabComparison *comparison,
                      FabSizeClass size_class)
{
  const FabErrors *left_out = fab_report_view_left_out (view, comparison, size_class);

  if (left_out == NULL)
    return;
  g_string_truncate (out, out->len - 1);
  g_string_append_printf (out, "; family left out %.1f %%\n", left_out->median_fraction * 100);
}

static void
append_text_table (GString *out, const FabReportView *view, const FabComparison *comparison)
{
  g_autofree char *what = describe_table (comparison);
  const char *source = g_hash_table_lookup (comparison->table->csv->header, "source");

  g_string_append_printf (out, "%s (%s%s): %s\n", comparison->table->name,
                          fab_measured_role_names[comparison->table->spec->role],
                          comparison->table->spec->is_doubtful ? ", doubtful" : "", what);
  if (!view->is_summary) {
    if (source)
      g_string_append_printf (out, "  source: %s\n", source);
    if (comparison->table->spec->sets)
      g_string_append_printf (out, "  predicted with: %s\n", comparison->table->spec->sets);
    append_text_rows (out, comparison);
    if (comparison->n_left_out > 0)
      g_string_append_printf (out, "  left out: %u sizes printed with too few digits\n",
                              comparison->n_left_out);
  }
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    g_autofree char *limit = fab_limits_show (view->limits, comparison->table->name, (FabSizeClass) c,
                                              " (accepted ", ")");

    append_text_errors (out, fab_size_class_names[c], &comparison->errors[c], limit);
    append_text_left_out (out, view, comparison, (FabSizeClass) c);
  }
  g_string_append_c (out, '\n');
}

/* "small   511 sizes  median |error| ... at 4 KiB; by table 20.4 % (50), by family 22.1 % (16)" */
static void
append_text_tally (GString *out, const char *name, const FabTally *tally)
{
  if (tally->sizes.n == 0)
    return;
  append_text_errors (out, name, &tally->sizes, "");
  g_string_truncate (out, out->len - 1);
  g_string_append_printf (out, "; by table %.1f %% (%u)", tally->tables_fraction * 100, tally->n_tables);
  if (tally->n_families > 1)
    g_string_append_printf (out, ", by family %.1f %% (%u)", tally->families_fraction * 100,
                            tally->n_families);
  g_string_append_c (out, '\n');
}

/* `role` FAB_N_ROLES: of all roles, each family left out. */
static void
append_text_account (GString *out, const FabAccount *account, FabMeasuredRole role)
{
  guint counted = role == FAB_N_ROLES ? FAB_ROLE_JUDGED : role;

  if (role == FAB_N_ROLES)
    g_string_append (out, "all tables, each as if its family had not been measured\n");
  else if (account->kind == FAB_ACCOUNT_ALL)
    g_string_append_printf (out, "all %s tables (%s)\n", fab_measured_role_names[role], role_meanings[role]);
  else
    g_string_append_printf (out, "%s (%s)\n", account->name, fab_measured_role_names[role]);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    append_text_tally (out, fab_size_class_names[c], &account->tallies[counted][c]);
}

/* The sums over all tables come last, where a reader looks first. */
static void
append_text_accounts (GString *out, const FabReport *report)
{
  if (report->comparisons->len > 1)
    g_string_append (
        out,
        "Each size counts once; by table: the median of tables' own medians; by family: the median over\n"
        "interconnects of the median over the tables of each; in brackets how many.\n\n");
  for (guint i = 1; i <= report->accounts->len; i++)
    for (guint role = 0; role < FAB_N_ROLES; role++) {
      const FabAccount *account = &g_array_index (report->accounts, FabAccount, i % report->accounts->len);

      if (report->comparisons->len == 1 && account->kind != FAB_ACCOUNT_ALL) /* they say the same */
        continue;
      if (fab_account_has_role (account, (FabMeasuredRole) role))
        append_text_account (out, account, (FabMeasuredRole) role);
    }
}

char *
fab_report_to_text (const FabReportView *view)
{
  const FabReport *report = view->report;
  GString *out = g_string_new ("error = predicted time / measured time - 1; busbw in GB/s\n"
                               "small: below 256 KiB; middle: below 64 MiB; large: from 64 MiB\n\n");

  for (guint i = 0; i < report->comparisons->len; i++)
    append_text_table (out, view, g_ptr_array_index (report->comparisons, i));
  append_text_accounts (out, report);
  if (view->left_out != NULL && view->left_out->comparisons->len > 1)
    append_text_account (out, &g_array_index (view->left_out->accounts, FabAccount, 0), FAB_N_ROLES);
  return g_string_free (out, FALSE);
}

/* Markdown */

static void
append_errors_cell (GString *out, const FabErrors *errors, const char *limit)
{
  if (errors->n == 0)
    g_string_append (out, " |");
  else
    g_string_append_printf (out, " %.1f %% (max %.1f %%, n %u)%s |", errors->median_fraction * 100,
                            errors->max_fraction * 100, errors->n, limit);
}

static void
append_errors_head (GString *out, const char *what)
{
  g_string_append_printf (out, "| %s |", what);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    g_string_append_printf (out, " %s %s |", fab_size_class_names[c], class_ranges[c]);
  g_string_append (out, "\n|---|---|---|---|\n");
}

static void
append_tally_cell (GString *out, const FabTally *tally)
{
  if (tally->sizes.n == 0)
    g_string_append (out, " |");
  else
    g_string_append_printf (out, " %.1f %% (%u), %.1f %% (%u), %.1f %% (%u), max %.1f %% |",
                            tally->tables_fraction * 100, tally->n_tables, tally->families_fraction * 100,
                            tally->n_families, tally->sizes.median_fraction * 100, tally->sizes.n,
                            tally->sizes.max_fraction * 100);
}

static void
append_account (GString *out, const FabAccount *account, FabMeasuredRole role)
{
  if (!fab_account_has_role (account, role))
    return;
  if (account->kind == FAB_ACCOUNT_ALL)
    g_string_append_printf (out, "| all %s (%s) |", fab_measured_role_names[role], role_meanings[role]);
  else
    g_string_append_printf (out, "| %s, %s |", account->name, fab_measured_role_names[role]);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    append_tally_cell (out, &account->tallies[role][c]);
  g_string_append_c (out, '\n');
}

/* The same tables of all roles, each family left out. */
static void
append_left_out_account (GString *out, const FabReportView *view, const FabAccount *account)
{
  for (guint i = 0; view->left_out != NULL && i < view->left_out->accounts->len; i++) {
    const FabAccount *other = &g_array_index (view->left_out->accounts, FabAccount, i);

    if (other->kind != account->kind || strcmp (other->name, account->name) != 0
        || !fab_account_has_role (other, FAB_ROLE_JUDGED))
      continue;
    g_string_append_printf (out, "| %s, family left out |", account->name);
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      append_tally_cell (out, &other->tallies[FAB_ROLE_JUDGED][c]);
    g_string_append_c (out, '\n');
  }
}

/* Those of the kinds from `first` to `last`. */
static void
append_accounts (GString *out, const FabReportView *view, FabAccountKind first, FabAccountKind last)
{
  const FabReport *report = view->report;

  append_errors_head (out, first == FAB_ACCOUNT_INTERCONNECT ? "interconnect" : "tables");
  for (guint i = 0; i < report->accounts->len; i++) {
    const FabAccount *account = &g_array_index (report->accounts, FabAccount, i);

    for (guint role = 0; role < FAB_N_ROLES && account->kind >= first && account->kind <= last; role++)
      append_account (out, account, (FabMeasuredRole) role);
    if (account->kind >= first && account->kind <= last)
      append_left_out_account (out, view, account);
  }
}

static gboolean
has_role (const FabReport *report, FabMeasuredRole role)
{
  for (guint i = 0; i < report->comparisons->len; i++)
    if (((const FabComparison *) g_ptr_array_index (report->comparisons, i))->table->spec->role == (int) role)
      return TRUE;
  return FALSE;
}

static void
append_table_errors (GString *out, const FabReportView *view, guint role)
{
  for (guint i = 0; i < view->report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (view->report->comparisons, i);
    g_autofree char *what = describe_table (comparison);

    if ((guint) comparison->table->spec->role != role)
      continue;
    g_string_append_printf (out, "| %s%s: %s |", comparison->table->name,
                            comparison->table->spec->is_doubtful ? " (doubtful)" : "", what);
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      g_autofree char *limit = fab_limits_show (view->limits, comparison->table->name, (FabSizeClass) c,
                                                ", accepted ", "");
      const FabErrors *left_out = fab_report_view_left_out (view, comparison, (FabSizeClass) c);
      g_autofree char *more = left_out ? g_strdup_printf ("%s, left out %.1f %%", limit,
                                                          left_out->median_fraction * 100)
                                       : g_strdup (limit);

      append_errors_cell (out, &comparison->errors[c], more);
    }
    g_string_append_c (out, '\n');
  }
}

static void
append_header_line (GString *out, const FabComparison *comparison, const char *key)
{
  const char *value = g_hash_table_lookup (comparison->table->csv->header, key);

  if (value && *value != '\0')
    g_string_append_printf (out, "- %s: %s\n", key, value);
}

static void
append_sizes (GString *out, const FabComparison *comparison)
{
  static const char *const keys[] = { "system", "software", "options", "source" };

  g_string_append_printf (out, "\n### %s (%s)\n\n", comparison->table->name,
                          fab_measured_role_names[comparison->table->spec->role]);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    append_header_line (out, comparison, keys[i]);
  if (comparison->table->spec->sets)
    g_string_append_printf (out, "- predicted with: `%s`\n", comparison->table->spec->sets);
  if (comparison->table->spec->note)
    g_string_append_printf (out, "- note: %s\n", comparison->table->spec->note);
  if (comparison->n_left_out > 0)
    g_string_append_printf (out, "- left out: %u sizes printed with too few digits\n",
                            comparison->n_left_out);
  g_string_append (
      out, "\n| size | measured us | predicted us | error | measured busbw | predicted busbw | runs as |\n"
           "|---:|---:|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < comparison->rows->len; i++) {
    const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, i);
    g_autofree char *size = show_size (row->measured->size_bytes);

    g_string_append_printf (out, "| %s | %.1f | %.1f | %+.1f %% | %.2f | %.2f | %s %s, %u channels |\n", size,
                            row->measured->time_us, row->predicted->time_us, row->error_fraction * 100,
                            row->measured->busbw_GBps, row->predicted->busbw_GBps, row->predicted->algorithm,
                            row->predicted->protocol, row->predicted->n_channels);
  }
}

/* What to know of each table: where it is from, what was set for it, what its index says. */
static void
append_notes (GString *out, const FabReport *report)
{
  g_string_append (out, "\n## What is known of each table\n\n");
  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabMeasuredTable *table = ((const FabComparison *) g_ptr_array_index (report->comparisons, i))
                                        ->table;
    const char *source = g_hash_table_lookup (table->csv->header, "source");

    g_string_append_printf (out, "- `%s`:", table->name);
    if (table->spec->note)
      g_string_append_printf (out, " %s;", table->spec->note);
    if (table->spec->sets)
      g_string_append_printf (out, " predicted with `%s`;", table->spec->sets);
    g_string_append_printf (out, " source: %s\n", source ? source : "not told");
  }
}

static const char page_head[] =
    "# How far predictions are from measurements\n"
    "\n"
    "`fabricast validate --format markdown` writes this page; docs/reference/validation.md is the one\n"
    "with `--summary`, and a test keeps it up to date. The measurements are in `validate/measured`, each\n"
    "with its source. The models have their defaults, except for settings of a table's software that its\n"
    "source tells (\"predicted with\"). The most important of them is the number of GPUs that one process\n"
    "drives: eight GPUs in one process are slower at small sizes, and with a process per GPU their\n"
    "predictions would be about 40 % too fast.\n"
    "\n"
    "error = predicted time / measured time - 1. A cell of a table has the median of |error|, then the\n"
    "largest one, then the number of sizes. \"Accepted\" is the limit on the median in\n"
    "`validate/accept.yaml`, above which the tests fail. Where a cell covers\n"
    "several tables, it has three medians and then the largest error. The first is taken over the tables,\n"
    "of which each counts with its own median, however many sizes it has. The second is taken over the\n"
    "interconnects, and the third over all sizes. The number in brackets says over how many. A rack is\n"
    "several nodes that share the switches of their GPUs; several nodes communicate over NICs. \"Left out\"\n"
    "is the error as if no table of that interconnect had been measured: every constant that rests on one\n"
    "gets the value of another generation, or the default of the library (`validate/left-out.yaml`). A\n"
    "doubtful table is one whose source doubts that the machine was healthy. Such tables have a line of\n"
    "their own and count in no other. Calibration tables may have set numbers of the models, so they show\n"
    "how well the models can fit. Judged tables have set none, so they show how well the models predict.\n"
    "\n";

char *
fab_report_to_markdown (const FabReportView *view)
{
  const FabReport *report = view->report;
  GString *out = g_string_new (page_head);

  append_accounts (out, view, FAB_ACCOUNT_ALL, FAB_ACCOUNT_DOUBTFUL);
  g_string_append (out, "\n## Interconnects\n\n");
  append_accounts (out, view, FAB_ACCOUNT_INTERCONNECT, FAB_ACCOUNT_INTERCONNECT);
  for (guint role = 0; role < FAB_N_ROLES; role++) {
    if (!has_role (report, (FabMeasuredRole) role))
      continue;
    g_string_append_printf (out, "\n## Tables: %s\n\n", fab_measured_role_names[role]);
    append_errors_head (out, "table");
    append_table_errors (out, view, role);
  }
  if (view->is_summary)
    append_notes (out, report);
  else {
    g_string_append (out, "\n## Size by size\n\n"
                          "Times are microseconds, busbw GB/s (1e9), sizes as nccl-tests counts them.\n");
    for (guint i = 0; i < report->comparisons->len; i++)
      append_sizes (out, g_ptr_array_index (report->comparisons, i));
  }
  return g_string_free (out, FALSE);
}
