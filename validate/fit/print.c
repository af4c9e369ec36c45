/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - prints a calibration as text. */
#include "validate/fit/print.h"
#include "sim/base/version.h"

#include <math.h>
#include <string.h>

static const double good_fraction = 0.02, fair_fraction = 0.05;

static char *
show_size (FabBytes bytes)
{
  return fab_units_show (FAB_UNIT_BYTES, (double) bytes);
}

static void
append_regime (GString *out, const FabFitCurve *curve, guint k)
{
  const FabFitRegime *regime = &curve->regimes[k];
  g_autofree char *size = show_size (curve->up_to_bytes[k]);
  g_autofree char *to = g_strconcat (k + 1 == curve->n_regimes ? "above" : "to ",
                                     k + 1 == curve->n_regimes ? "" : size, NULL);
  g_autofree char *overhead = regime->is_without_overhead
                                ? g_strdup ("none")
                                : g_strdup_printf ("%.4g +- %.2g us", regime->line.overhead_ps / 1e6,
                                                   regime->overhead_half_ps / 1e6);
  g_autofree char *rate = fab_fit_regime_has_rate (regime)
                            ? g_strdup_printf ("%.4g +- %.2g GB/s", fab_fit_regime_rate (regime) / 1e9,
                                               fab_fit_regime_rate_half (regime) / 1e9)
                            : g_strdup ("not told by so short messages");

  g_string_append_printf (out, "  %-12s overhead %-22s rate %s\n",
                          k == 0 && curve->n_regimes == 1 ? "all sizes" : to, overhead, rate);
}

static void
append_errors (GString *out, const char *what, const FabErrors *errors)
{
  g_autofree char *size = show_size (errors->max_size_bytes);

  if (errors->n > 0)
    g_string_append_printf (out, "  %-9s %2u sizes: median |error| %5.2f %%, largest %5.2f %% at %s\n", what,
                            errors->n, errors->median_fraction * 100, errors->max_fraction * 100, size);
}

static void
append_rows (GString *out, const FabFitCurve *curve)
{
  g_string_append_printf (out, "  %10s  %13s %13s  %8s\n", "size", "measured us", "fitted us", "error");
  for (guint i = 0; i < curve->rows->len; i++) {
    const FabFitRow *row = &g_array_index (curve->rows, FabFitRow, i);
    g_autofree char *size = show_size (row->size_bytes);

    g_string_append_printf (out, "  %10s  %13.3f %13.3f  %+7.2f%%%s\n", size, row->measured_ps / 1e6,
                            row->predicted_ps / 1e6, row->error_fraction * 100,
                            row->part == FAB_FIT_HELD_OUT ? "  held out" : "");
  }
}

/* Returns " +- 0.1"; empty when it is not known. (transfer full) */
static char *
show_half (double half, const char *unit)
{
  return half > 0 ? g_strdup_printf (" +- %.2g %s", half, unit) : g_strdup_printf (" %s", unit);
}

static void
append_few (GString *out, const FabFitKind *kind)
{
  const FabFitPoint *smallest = &g_array_index (kind->points, FabFitPoint, 0);
  g_autofree char *size = show_size (kind->rate > 0 ? kind->to_bytes : kind->from_bytes);

  g_autofree char *half = show_half (kind->rate_half / 1e9, "GB/s");

  if (kind->rate > 0)
    g_string_append_printf (out, "  at %s: %.4g%s\n\n", size, kind->rate / 1e9, half);
  else
    g_string_append_printf (out, "  at %s: %.4g us\n\n", size, smallest->time_ps / 1e6);
}

static void
append_kind (GString *out, const FabFitKind *kind)
{
  g_autofree char *title = fab_series_title (kind->series);

  g_string_append_printf (out, "%s%s (%u series", title, kind->n_series > 1 ? " and others" : "",
                          kind->n_series);
  if (kind->n_samples > 0)
    g_string_append_printf (out, ", %" G_GUINT64_FORMAT " samples", kind->n_samples);
  g_string_append (out, ")\n");
  if (kind->curve == NULL) {
    append_few (out, kind);
    return;
  }
  for (guint k = 0; k < kind->curve->n_regimes; k++)
    append_regime (out, kind->curve, k);
  append_rows (out, kind->curve);
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
    append_errors (out, fab_fit_part_names[part], &kind->curve->errors[part]);
  g_string_append_c (out, '\n');
}

static void
append_drive (GString *out, const FabFragment *self, FabDrive drive)
{
  const FabFitKind *kind = fab_link_fit_one_way (self->fit, drive);
  gboolean is_kernel = drive == FAB_DRIVE_KERNEL;

  if (kind == NULL)
    return;
  g_autofree char *half = show_half (kind->rate_half / self->count / 1e9, "GB/s");

  g_string_append_printf (out, "  %-20s %.4g%s, achievable %.4g", is_kernel ? "kernel" : "copy",
                          kind->rate / self->count / 1e9, half,
                          is_kernel ? self->spec.kernel.achievable_fraction
                                    : self->spec.copy.achievable_fraction);
  if (self->base)
    g_string_append_printf (out, " (%s: %.4g)", self->base->name,
                            is_kernel ? self->base->kernel.achievable_fraction
                                      : self->base->copy.achievable_fraction);
  g_string_append_c (out, '\n');
}

/* Prints the time from one small message to the next with many in flight; an entry does not hold it. */
static void
append_gap (GString *out, const FabLinkFit *fit)
{
  const FabFitCurve *curve = fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH].curve;

  if (curve && !curve->regimes[0].is_without_overhead)
    g_string_append_printf (out, "  %-20s %.4g +- %.2g us between small messages (not in the entry)\n", "gap",
                            curve->regimes[0].line.overhead_ps / 1e6,
                            curve->regimes[0].overhead_half_ps / 1e6);
}

static void
append_entry (GString *out, const FabFragment *self)
{
  const FabLinkSpec *spec = &self->spec, *base = self->base;
  const FabLinkFit *fit = self->fit;
  g_autofree char *endpoint_half = show_half (
      (double) spec->endpoint_ps / 1e6 * spec->uncertainty.endpoint_fraction, "us");

  g_string_append_printf (out, "link '%s'%s%s%s\n", spec->name, base ? " on top of '" : ", without a base",
                          base ? base->name : "", base ? "'" : "");
  append_drive (out, self, FAB_DRIVE_COPY);
  append_drive (out, self, FAB_DRIVE_KERNEL);
  if (spec->endpoint_ps > 0 && !fit->is_device)
    g_string_append_printf (out, "  %-20s %.4g%s%s\n", "endpoint", (double) spec->endpoint_ps / 1e6,
                            endpoint_half, self->is_endpoint_measured ? "" : " (of the base)");
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    if (fab_link_fit_duplex (fit, drive, NULL) > 0)
      g_string_append_printf (out, "  %-20s %.4g of the rate with one (%s)\n", "both directions",
                              fab_link_fit_duplex (fit, drive, NULL),
                              drive == FAB_DRIVE_KERNEL ? "kernel" : "copy");
  if (spec->collective_fraction > 0 && !fit->is_device)
    g_string_append_printf (out, "  %-20s %.4g%s\n", "collective_fraction", spec->collective_fraction,
                            self->is_collective_measured ? "" : " (of the base)");
  append_gap (out, fit);
  if (spec->messages.n > 0)
    g_string_append_printf (out, "  %-20s %u rows, +- %.2g %%\n", "messages", spec->messages.n,
                            spec->uncertainty.messages_fraction * 100);
}

/* Returns the errors at the fitted sizes, over all kinds. */
static FabErrors
fitted_errors (const FabLinkFit *fit)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));

  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      const FabFitCurve *curve = fit->kinds[drive][which].curve;

      if (curve)
        g_array_append_vals (rows, curve->rows->data, curve->rows->len);
    }
  return fab_fit_errors (rows, FAB_FIT_FITTED);
}

/* Says in words how good the fit is. Errors at fitted sizes can show that it is poor, not that it is good. */
static void
append_quality (GString *out, const FabFragment *fragment)
{
  const FabLinkMeasured *measured = &fragment->spec.measured;
  FabErrors fitted = fitted_errors (fragment->fit);
  gboolean is_seen = measured->n_held_out == 0;
  double error = is_seen ? fitted.median_fraction : measured->held_out_error_fraction;
  g_autofree char *from = show_size (measured->from_bytes), *to = show_size (measured->to_bytes);

  if (is_seen && fitted.n == 0)
    g_string_append (out, "Quality: not known, as too few sizes were measured to judge a fit.");
  else
    g_string_append_printf (out, "Quality: %s. %s %.2g %% off%s.",
                            error > fair_fraction   ? "poor"
                            : is_seen               ? "not known"
                            : error > good_fraction ? "fair"
                                                    : "good",
                            is_seen ? "No size was held out; those that were fitted are"
                                    : "Sizes that the fit did not see are",
                            error * 100,
                            error > fair_fraction ? ": the times are not those of an overhead and a rate; "
                                                    "measure longer, more sizes or on a quiet machine"
                                                  : "");
  if (measured->from_bytes < measured->to_bytes)
    g_string_append_printf (out, " Measured from %s to %s; predictions of other sizes are marked.\n", from,
                            to);
  else
    g_string_append_printf (out, " Measured at %s only; predictions of other sizes are marked.\n", to);
}

static void
append_fit (GString *out, const FabFragment *self)
{
  const FabLinkFit *fit = self->fit;

  g_string_append_printf (
      out, "machine: %s\n+- is half of the 95 %% interval; numbers come from the sizes not held out\n\n",
      fit->system ? fit->system : "not known");
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
      if (fit->kinds[drive][which].series)
        append_kind (out, &fit->kinds[drive][which]);
  append_entry (out, self);
  g_string_append_c (out, '\n');
  append_quality (out, self);
  for (guint i = 0; i < fit->notes->len; i++)
    g_string_append_printf (out, "Note: %s.\n", (const char *) g_ptr_array_index (fit->notes, i));
  for (guint i = 0; i < self->notes->len; i++)
    g_string_append_printf (out, "Note: %s.\n", (const char *) g_ptr_array_index (self->notes, i));
}

char *
fab_fits_to_text (const GPtrArray *fragments)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < fragments->len; i++) {
    g_string_append (out, i > 0 ? "\n" : "");
    append_fit (out, g_ptr_array_index (fragments, i));
  }
  return g_string_free (out, FALSE);
}

/* Prints calibrations as CSV (a row per size) and as JSON (everything). */

static const char *
drive_name (FabDrive drive)
{
  return drive == FAB_DRIVE_KERNEL ? "kernel" : "copy";
}

static void
append_csv_rows (GString *out, const FabFragment *self, FabDrive drive, FabMeasureKind which)
{
  const FabFitCurve *curve = self->fit->kinds[drive][which].curve;

  for (guint i = 0; curve && i < curve->rows->len; i++) {
    const FabFitRow *row = &g_array_index (curve->rows, FabFitRow, i);

    g_string_append_printf (out, "%s,%s,%s,%" G_GUINT64_FORMAT ",%.6g,%.6g,%.6f,%d\n", self->spec.name,
                            fab_measure_kind_names[which], drive_name (drive), row->size_bytes,
                            row->measured_ps / 1e6, row->predicted_ps / 1e6, row->error_fraction,
                            row->part == FAB_FIT_HELD_OUT);
  }
}

char *
fab_fits_to_csv (const GPtrArray *fragments)
{
  GString *out = g_string_new ("link,kind,drive,size_bytes,measured_us,fitted_us,error_fraction,held_out\n");

  for (guint i = 0; i < fragments->len; i++)
    for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
      for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
        append_csv_rows (out, g_ptr_array_index (fragments, i), drive, which);
  return g_string_free (out, FALSE);
}

/* Add the members "rows" and "errors" to the open JSON object. */
static void
fit_add_rows (FabJson *json, const GArray *rows)
{
  fab_json_begin_array (json, "rows");
  for (guint i = 0; i < rows->len; i++) {
    const FabFitRow *row = &g_array_index (rows, FabFitRow, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "size_bytes", (gint64) row->size_bytes);
    fab_json_add_real (json, "measured_us", row->measured_ps / 1e6);
    fab_json_add_real (json, "predicted_us", row->predicted_ps / 1e6);
    fab_json_add_real (json, "error_fraction", row->error_fraction);
    if (row->band_fraction > 0)
      fab_json_add_real (json, "band_fraction", row->band_fraction);
    fab_json_add_text (json, "part", fab_fit_part_names[row->part]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
fit_add_errors (FabJson *json, const FabErrors *errors)
{
  fab_json_begin_object (json, "errors");
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++) {
    if (errors[part].n == 0)
      continue;
    fab_json_begin_object (json, fab_fit_part_names[part]);
    fab_errors_add_json (json, "sizes", &errors[part], FAB_ERRORS_SIZE);
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Leaves out a rate that the points do not determine. */
static void
add_regimes (FabJson *json, const FabFitCurve *curve)
{
  fab_json_begin_array (json, "regimes");
  for (guint k = 0; k < curve->n_regimes; k++) {
    const FabFitRegime *regime = &curve->regimes[k];

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "up_to_bytes", (gint64) curve->up_to_bytes[k]);
    fab_json_add_real (json, "overhead_us", regime->line.overhead_ps / 1e6);
    fab_json_add_real (json, "overhead_half_us", regime->overhead_half_ps / 1e6);
    if (fab_fit_regime_has_rate (regime)) {
      fab_json_add_real (json, "rate_GBps", fab_fit_regime_rate (regime) / 1e9);
      fab_json_add_real (json, "rate_half_GBps", fab_fit_regime_rate_half (regime) / 1e9);
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_kind (FabJson *json, const FabFitKind *kind, FabDrive drive, FabMeasureKind which)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kind", fab_measure_kind_names[which]);
  fab_json_add_text (json, "drive", drive_name (drive));
  fab_json_add_text (json, "method", kind->series->method);
  fab_json_add_whole (json, "series", kind->n_series);
  fab_json_add_whole (json, "samples", (gint64) kind->n_samples);
  if (kind->rate > 0)
    fab_json_add_real (json, "rate_GBps", kind->rate / 1e9);
  if (kind->rate_half > 0 && isfinite (kind->rate_half))
    fab_json_add_real (json, "rate_half_GBps", kind->rate_half / 1e9);
  if (kind->curve) {
    add_regimes (json, kind->curve);
    fit_add_errors (json, kind->curve->errors);
    fit_add_rows (json, kind->curve->rows);
  }
  fab_json_end (json);
}

static double
rate_GBps (const FabLinkSpec *spec, FabDrive drive)
{
  return (double) fab_link_spec_line_rate (spec) / fab_link_spec_cost (spec, drive) / 1e9;
}

static void
add_entry (FabJson *json, const FabLinkSpec *spec)
{
  fab_json_add_real (json, "copy_GBps", rate_GBps (spec, FAB_DRIVE_COPY));
  fab_json_add_real (json, "kernel_GBps", rate_GBps (spec, FAB_DRIVE_KERNEL));
  fab_json_add_real (json, "endpoint_us", (double) spec->endpoint_ps / 1e6);
  fab_json_add_real (json, "collective_fraction", spec->collective_fraction);
  fab_json_add_whole (json, "from_bytes", (gint64) spec->measured.from_bytes);
  fab_json_add_whole (json, "to_bytes", (gint64) spec->measured.to_bytes);
  fab_json_add_whole (json, "held_out", spec->measured.n_held_out);
  fab_json_add_real (json, "held_out_error_fraction", spec->measured.held_out_error_fraction);
  fab_json_begin_object (json, "uncertainty");
  fab_json_add_real (json, "rate_fraction", spec->uncertainty.rate_fraction);
  fab_json_add_real (json, "endpoint_fraction", spec->uncertainty.endpoint_fraction);
  fab_json_add_real (json, "messages_fraction", spec->uncertainty.messages_fraction);
  fab_json_end (json);
}

static void
add_notes (FabJson *json, const FabFragment *self)
{
  const GPtrArray *lists[] = { self->fit->notes, self->notes };

  fab_json_begin_array (json, "notes");
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint k = 0; k < lists[i]->len; k++)
      fab_json_add_text (json, NULL, g_ptr_array_index (lists[i], k));
  fab_json_end (json);
}

static void
add_link (FabJson *json, const FabFragment *self)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "link", self->spec.name);
  fab_json_add_text (json, "base", self->base ? self->base->name : NULL);
  fab_json_add_text (json, "system", self->fit->system);
  add_entry (json, &self->spec);
  fab_json_begin_array (json, "measured");
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
      if (self->fit->kinds[drive][which].series)
        add_kind (json, &self->fit->kinds[drive][which], drive, which);
  fab_json_end (json);
  add_notes (json, self);
  fab_json_end (json);
}

char *
fab_fits_to_json (const GPtrArray *fragments)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_begin_array (json, "links");
  for (guint i = 0; i < fragments->len; i++)
    add_link (json, g_ptr_array_index (fragments, i));
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}

/* Prints what a link entry predicts beside what was measured. */

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
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "link", check->link);
  fab_json_begin_array (json, "measured");
  for (guint i = 0; i < check->kinds->len; i++) {
    const FabLinkCheckKind *kind = kind_at (check, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_measure_kind_names[kind->which]);
    fab_json_add_text (json, "method", kind->measured->series->method);
    fab_json_add_whole (json, "left_out", kind->n_left_out);
    fab_json_add_whole (json, "in_band", kind->n_in_band);
    fit_add_errors (json, kind->errors);
    if (!is_summary)
      fit_add_rows (json, kind->rows);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
