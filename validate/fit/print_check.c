/* SPDX-License-Identifier: Apache-2.0 */
/* print_check.c - prints what a link entry predicts beside what was measured. */
#include "validate/fit/print.h"

static const FabLinkCheckKind *
kind_at (const FabLinkCheck *check, guint i)
{
  return g_ptr_array_index (check->kinds, i);
}

static const FabFitRow *
row_at (const FabLinkCheckKind *kind, guint i)
{
  return &g_array_index (kind->rows, FabFitRow, i);
}

static void
append_text_errors (GString *out, FabFitPart part, const FabErrors *errors)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) errors->max_size_bytes);

  if (errors->n > 0)
    g_string_append_printf (out, "  %-10s %3u sizes  median |error| %6.2f %%  largest %6.2f %% at %s\n",
                            fab_fit_part_names[part], errors->n, errors->median_fraction * 100,
                            errors->max_fraction * 100, size);
}

static const char *
mark_of (const FabFitRow *row)
{
  return row->part == FAB_FIT_FITTED ? "" : fab_fit_part_names[row->part];
}

static void
append_text_row (GString *out, const FabFitRow *row)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) row->size_bytes);
  g_autofree char *band = row->band_fraction > 0 ? g_strdup_printf ("+-%6.2f%%", row->band_fraction * 100)
                                                 : g_strdup ("");

  g_string_append_printf (out, "  %10s  %13.3f %13.3f  %+8.2f%%  %9s", size, row->measured_ps / 1e6,
                          row->predicted_ps / 1e6, row->error_fraction * 100, band);
  if (row->part != FAB_FIT_FITTED)
    g_string_append_printf (out, "  %s", mark_of (row));
  while (g_str_has_suffix (out->str, " "))
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

static void
append_text_kind (GString *out, const FabLinkCheckKind *kind, gboolean is_summary)
{
  g_autofree char *title = fab_series_title (kind->measured->series);
  gboolean has_band = fab_link_check_has_band (kind);

  g_string_append_printf (out, "%s%s\n", title, kind->measured->n_series > 1 ? " and others" : "");
  if (!is_summary && kind->rows->len > 0)
    g_string_append_printf (out, "  %10s  %13s %13s  %9s%s\n", "size", "measured us", "predicted us", "error",
                            has_band ? "       band" : "");
  for (guint i = 0; !is_summary && i < kind->rows->len; i++)
    append_text_row (out, row_at (kind, i));
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
    append_text_errors (out, part, &kind->errors[part]);
  if (has_band)
    g_string_append_printf (out, "  in their band: %u of %u sizes\n", kind->n_in_band, kind->rows->len);
  if (kind->n_left_out > 0)
    g_string_append_printf (out, "  left out: %u sizes that a link entry says nothing of\n",
                            kind->n_left_out);
  g_string_append_c (out, '\n');
}

char *
fab_link_check_to_text (const FabLinkCheck *check, gboolean is_summary)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "link '%s': error = predicted time / measured time - 1\n", check->link);
  for (guint i = 0; i < check->kinds->len; i++)
    append_text_kind (out, kind_at (check, i), is_summary);
  g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}

static void
append_markdown_errors (GString *out, const FabLinkCheckKind *kind, FabFitPart part)
{
  const FabErrors *errors = &kind->errors[part];
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) errors->max_size_bytes);

  if (errors->n > 0)
    g_string_append_printf (out, "| %s | %s | %u | %.2f %% | %.2f %% at %s |\n",
                            fab_measure_kind_names[kind->which], fab_fit_part_names[part], errors->n,
                            errors->median_fraction * 100, errors->max_fraction * 100, size);
}

static void
append_markdown_rows (GString *out, const FabLinkCheckKind *kind)
{
  g_autofree char *title = fab_series_title (kind->measured->series);

  g_string_append_printf (
      out, "\n%s:\n\n| size | measured us | predicted us | error | band | |\n|---|---|---|---|---|---|\n",
      title);
  for (guint i = 0; i < kind->rows->len; i++) {
    const FabFitRow *row = row_at (kind, i);
    g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) row->size_bytes);
    g_autofree char *band = row->band_fraction > 0 ? g_strdup_printf ("%.2f %%", row->band_fraction * 100)
                                                   : g_strdup ("not known");

    g_string_append_printf (out, "| %s | %.3f | %.3f | %+.2f %% | %s | %s |\n", size, row->measured_ps / 1e6,
                            row->predicted_ps / 1e6, row->error_fraction * 100, band, mark_of (row));
  }
}

char *
fab_link_check_to_markdown (const FabLinkCheck *check, gboolean is_summary)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "Link `%s`, error = predicted time / measured time - 1:\n\n", check->link);
  g_string_append (out, "| measured | sizes | number | median error | largest |\n|---|---|---|---|---|\n");
  for (guint i = 0; i < check->kinds->len; i++)
    for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
      append_markdown_errors (out, kind_at (check, i), part);
  for (guint i = 0; !is_summary && i < check->kinds->len; i++)
    append_markdown_rows (out, kind_at (check, i));
  return g_string_free (out, FALSE);
}

static const char *
method_of (const FabLinkCheckKind *kind)
{
  return kind->measured->series->method ? kind->measured->series->method : "";
}

static void
append_csv_errors (GString *out, const FabLinkCheckKind *kind, FabFitPart part)
{
  const FabErrors *errors = &kind->errors[part];

  if (errors->n > 0)
    g_string_append_printf (out, "%s,%s,%s,%u,%.6f,%.6f,%" G_GUINT64_FORMAT "\n",
                            fab_measure_kind_names[kind->which], method_of (kind), fab_fit_part_names[part],
                            errors->n, errors->median_fraction, errors->max_fraction, errors->max_size_bytes);
}

static void
append_csv_row (GString *out, const FabLinkCheckKind *kind, const FabFitRow *row)
{
  g_string_append_printf (out, "%s,%s,%" G_GUINT64_FORMAT ",%.6g,%.6g,%.6f,",
                          fab_measure_kind_names[kind->which], method_of (kind), row->size_bytes,
                          row->measured_ps / 1e6, row->predicted_ps / 1e6, row->error_fraction);
  if (row->band_fraction > 0)
    g_string_append_printf (out, "%.6f", row->band_fraction);
  g_string_append_printf (out, ",%s\n", fab_fit_part_names[row->part]);
}

char *
fab_link_check_to_csv (const FabLinkCheck *check, gboolean is_summary)
{
  GString *out = g_string_new (
      is_summary ? "kind,method,part,sizes,median_fraction,max_fraction,max_size_bytes\n"
                 : "kind,method,size_bytes,measured_us,predicted_us,error_fraction,band_fraction,part\n");

  for (guint i = 0; i < check->kinds->len; i++) {
    const FabLinkCheckKind *kind = kind_at (check, i);

    for (guint k = 0; !is_summary && k < kind->rows->len; k++)
      append_csv_row (out, kind, row_at (kind, k));
    for (FabFitPart part = 0; is_summary && part < FAB_N_FIT_PARTS; part++)
      append_csv_errors (out, kind, part);
  }
  return g_string_free (out, FALSE);
}

char *
fab_link_check_to_json (const FabLinkCheck *check, gboolean is_summary)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_text (json, "link", check->link);
  fab_json_begin_array (json, "measured");
  for (guint i = 0; i < check->kinds->len; i++) {
    const FabLinkCheckKind *kind = kind_at (check, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_measure_kind_names[kind->which]);
    fab_json_add_text (json, "method", kind->measured->series->method);
    fab_json_add_whole (json, "left_out", kind->n_left_out);
    fab_json_add_whole (json, "in_band", kind->n_in_band);
    fab_fit_add_errors (json, kind->errors);
    if (!is_summary)
      fab_fit_add_rows (json, kind->rows);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
