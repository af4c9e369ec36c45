/* SPDX-License-Identifier: Apache-2.0 */
/* print_data.c - prints calibrations as CSV (a row per size) and as JSON (everything). */
#include <math.h>

#include "validate/fit/print.h"

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

void
fab_fit_add_rows (FabJson *json, const GArray *rows)
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

void
fab_fit_add_errors (FabJson *json, const FabErrors *errors)
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
    fab_fit_add_errors (json, kind->curve->errors);
    fab_fit_add_rows (json, kind->curve->rows);
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
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_begin_array (json, "links");
  for (guint i = 0; i < fragments->len; i++)
    add_link (json, g_ptr_array_index (fragments, i));
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
