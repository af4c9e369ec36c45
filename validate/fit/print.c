/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - prints a calibration as text. */
#include "validate/fit/print.h"

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
