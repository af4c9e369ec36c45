/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - the report in each format. */
#include "validate/memory/report.h"

static const double gib = 1024.0 * 1024.0 * 1024.0;

static const FabMemoryResult *
result_at (const FabMemoryReport *self, guint index)
{
  return &g_array_index (self->results, FabMemoryResult, index);
}

static const char *
kind_of (const FabMemoryComparison *row)
{
  return row->measured->is_reserved ? "reserved" : "allocated";
}

/* --- text --- */

static void
append_errors (GString *out, const char *name, const FabErrors *errors, const char *limit)
{
  if (errors->n == 0)
    return;
  g_string_append_printf (out, "  %-24s %3u rows  ", name, errors->n);
  fab_errors_append_text (out, errors, limit);
  g_string_append_c (out, '\n');
}

static void
append_row (GString *out, const FabMemoryComparison *row)
{
  if (row->problem != NULL) {
    g_string_append_printf (out, "  %-44s skipped: %s\n", row->measured->id, row->problem);
    return;
  }
  g_string_append_printf (out, "  %-44s %8.2f GiB %-9s %8.2f predicted  %+6.1f %%%s%s\n", row->measured->id,
                          row->measured->peak_bytes / gib, kind_of (row), row->predicted_bytes / gib,
                          100 * row->error_fraction, row->is_refused ? "  refused" : "",
                          row->measured->doubtful != NULL ? "  doubtful" : "");
}

static void
append_result (GString *out, const FabMemoryView *view, const FabMemoryResult *result)
{
  const FabMemorySourceSpec *spec = result->source->spec;
  g_autofree char *limit = fab_limits_show (view->limits, spec->name, 0, " (limit ", ")");

  g_string_append_printf (out, "%s: %s (%s)\n", spec->name, spec->title, fab_memory_role_names[spec->role]);
  for (guint i = 0; !view->is_summary && i < result->source->rows->len; i++)
    append_row (out, &result->rows[i]);
  append_errors (out, "errors", &result->errors, limit);
  g_string_append_printf (out, "  a band of the other sources holds %.0f %%; refused %u; skipped %u\n\n",
                          100 * result->held_fraction, result->n_refused, result->n_problems);
}

char *
fab_memory_to_text (const FabMemoryView *view)
{
  const FabMemoryReport *report = view->report;
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < report->results->len; i++)
    append_result (out, view, result_at (report, i));
  g_string_append (out, "all sources\n");
  append_errors (out, "looked at", &report->looked_at, "");
  append_errors (out, "held out", &report->held_out, "");
  append_errors (out, "all", &report->all, "");
  g_string_append_printf (
      out,
      "  band: measured memory is %.3f to %.3f of what is predicted; it holds %.0f %% of sources "
      "that it was made without\n",
      report->low_factor, report->high_factor, 100 * report->held_fraction);
  return g_string_free (out, FALSE);
}

/* --- CSV --- */

char *
fab_memory_to_csv (const FabMemoryView *view)
{
  GString *out = g_string_new (
      "source,role,id,kind,measured_bytes,predicted_bytes,error_fraction,is_refused,problem\n");

  for (guint s = 0; s < view->report->results->len; s++) {
    const FabMemoryResult *result = result_at (view->report, s);

    for (guint i = 0; i < result->source->rows->len; i++) {
      const FabMemoryComparison *row = &result->rows[i];

      g_string_append_printf (out, "%s,%s,%s,%s,%.0f,%.0f,%.6f,%d,%s\n", result->source->spec->name,
                              fab_memory_role_names[result->source->spec->role], row->measured->id,
                              kind_of (row), row->measured->peak_bytes, row->predicted_bytes,
                              row->error_fraction, row->is_refused, row->problem != NULL ? "skipped" : "");
    }
  }
  return g_string_free (out, FALSE);
}

/* --- JSON --- */

static void
add_errors (FabJson *json, const char *key, const FabErrors *errors)
{
  fab_json_begin_object (json, key);
  fab_errors_add_json (json, "rows", errors, FAB_ERRORS_BIAS);
  fab_json_end (json);
}

static void
add_result (FabJson *json, const FabMemoryResult *result, gboolean is_summary)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", result->source->spec->name);
  fab_json_add_text (json, "role", fab_memory_role_names[result->source->spec->role]);
  add_errors (json, "errors", &result->errors);
  fab_json_add_real (json, "held_fraction", result->held_fraction);
  fab_json_add_whole (json, "refused", result->n_refused);
  fab_json_add_whole (json, "skipped", result->n_problems);
  fab_json_begin_array (json, "rows");
  for (guint i = 0; !is_summary && i < result->source->rows->len; i++) {
    const FabMemoryComparison *row = &result->rows[i];

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "id", row->measured->id);
    fab_json_add_text (json, "kind", kind_of (row));
    fab_json_add_real (json, "measured_bytes", row->measured->peak_bytes);
    fab_json_add_real (json, "predicted_bytes", row->predicted_bytes);
    fab_json_add_real (json, "error_fraction", row->error_fraction);
    fab_json_add_flag (json, "is_refused", row->is_refused);
    fab_json_add_text (json, "problem", row->problem);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
}

char *
fab_memory_to_json (const FabMemoryView *view)
{
  const FabMemoryReport *report = view->report;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_begin_array (json, "sources");
  for (guint i = 0; i < report->results->len; i++)
    add_result (json, result_at (report, i), view->is_summary);
  fab_json_end (json);
  add_errors (json, "looked_at", &report->looked_at);
  add_errors (json, "held_out", &report->held_out);
  add_errors (json, "all", &report->all);
  fab_json_begin_object (json, "band");
  fab_json_add_real (json, "low_factor", report->low_factor);
  fab_json_add_real (json, "high_factor", report->high_factor);
  fab_json_add_real (json, "held_fraction", report->held_fraction);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}

/* --- Markdown --- */

static const char page_head[] =
    "# How far predicted memory is from measured peaks\n\n"
    "Written by `fabricast validate memory --format markdown`; a test keeps it in date.\n"
    "[Memory](../models/memory.md) says what is counted. The tables are in `validate/measured/memory/`.\n\n"
    "`allocated` is the largest memory in use (`torch.cuda.max_memory_allocated`), which is what is predicted.\n"
    "`reserved` is what the allocator had taken of the device, with what lay unused between blocks.\n\n";

static const guint most_rows = 40;

static void
append_line (GString *out, const FabMemoryResult *result, const char *key)
{
  const char *value = g_hash_table_lookup (result->source->header, key);

  if (value != NULL)
    g_string_append_printf (out, "- %s: %s\n", key, value);
}

static void
append_summary_row (GString *out, const char *name, const char *role, const FabErrors *errors)
{
  g_string_append_printf (out, "| %s | %s | %u | %.1f %% | %+.1f %% | %.1f %% |", name, role, errors->n,
                          100 * errors->median_fraction, 100 * errors->bias_fraction,
                          100 * errors->max_fraction);
}

static void
append_outside_band (GString *out, const FabMemoryReport *report)
{
  for (guint i = 0; i < report->results->len; i++) {
    const FabMemorySourceSpec *spec = result_at (report, i)->source->spec;

    if (!spec->in_band)
      g_string_append_printf (out, "%s is no part of the band; its note says why.\n", spec->name);
  }
}

static void
append_summary (GString *out, const FabMemoryReport *report)
{
  g_string_append (
      out,
      "| source | role | rows | median error | bias | largest | held by a band of the others | refused |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|\n");
  for (guint i = 0; i < report->results->len; i++) {
    const FabMemoryResult *result = result_at (report, i);

    append_summary_row (out, result->source->spec->name, fab_memory_role_names[result->source->spec->role],
                        &result->errors);
    g_string_append_printf (out, " %.0f %% | %u |\n", 100 * result->held_fraction, result->n_refused);
  }
  append_summary_row (out, "all", "looked at", &report->looked_at);
  g_string_append (out, " | |\n");
  append_summary_row (out, "all", "held out", &report->held_out);
  g_string_append (out, " | |\n");
  g_string_append_printf (
      out,
      "\nMeasured memory is %.3f to %.3f of what is predicted in 90 %% of a mixture in which every\n"
      "source weighs the same. Such a band holds %.0f %% of the rows of sources that it was made\n"
      "without. A job is refused where even the low end does not fit.\n",
      report->low_factor, report->high_factor, 100 * report->held_fraction);
  append_outside_band (out, report);
}

static void
append_page_row (GString *out, const FabMemoryComparison *row)
{
  if (row->problem == NULL)
    g_string_append_printf (out, "| %s | %s | %.2f | %.2f | %+.1f %% |\n", row->measured->id, kind_of (row),
                            row->measured->peak_bytes / gib, row->predicted_bytes / gib,
                            100 * row->error_fraction);
}

/* All rows, or an even choice of many. */
static void
append_source (GString *out, const FabMemoryResult *result)
{
  const FabMemorySourceSpec *spec = result->source->spec;
  guint n = result->source->rows->len, step = (n + most_rows - 1) / most_rows;

  g_string_append_printf (out, "\n## %s\n\n%s.\n\n", spec->name, spec->title);
  append_line (out, result, "source");
  append_line (out, result, "date");
  append_line (out, result, "inferred");
  append_line (out, result, "left_out");
  if (spec->note != NULL)
    g_string_append_printf (out, "- note: %s\n", spec->note);
  if (step > 1)
    g_string_append_printf (out, "\nEvery row number %u of %u (`--format csv` has all):\n", step, n);
  g_string_append (out,
                   "\n| row | kind | measured GiB | predicted GiB | error |\n|---|---|---:|---:|---:|\n");
  for (guint i = 0; i < n; i += step)
    append_page_row (out, &result->rows[i]);
}

char *
fab_memory_to_markdown (const FabMemoryView *view)
{
  GString *out = g_string_new (page_head);

  append_summary (out, view->report);
  for (guint i = 0; !view->is_summary && i < view->report->results->len; i++)
    append_source (out, result_at (view->report, i));
  return g_string_free (out, FALSE);
}
