/* SPDX-License-Identifier: Apache-2.0 */
/* print_accelerator.c - prints an accelerator's fit as an entry of the catalogue, as text, CSV and JSON. */
#include <string.h>

#include "sim/assembly/assemble.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/config/schema.h"
#include "sim/scenario/catalog_params.h"
#include "validate/fit/accelerator.h"

static const FabKernelRow *
row_at (const FabAcceleratorFit *self, guint i)
{
  return &g_array_index (self->rows, FabKernelRow, i);
}

/* --- YAML --- */

/* The keys of `roofline` that say what was measured: compute: {kind: roofline, achievable: 71.2%, ...} */
static char *
compute_keys (const FabAcceleratorFit *self)
{
  const FabFractionFit *wide = &self->achievable[FAB_PRECISION_BF16];
  GString *out = g_string_new ("compute: {kind: roofline");

  if (wide->fraction <= 0)
    wide = &self->achievable[FAB_PRECISION_FP16];
  if (wide->fraction > 0)
    g_string_append_printf (out, ", achievable: %.1f%%", wide->fraction * 100);
  if (self->memory.fraction > 0)
    g_string_append_printf (out, ", memory: %.1f%%", self->memory.fraction * 100);
  if (self->launch_ps > 0)
    g_string_append_printf (out, ", launch: %.0fns", (double) self->launch_ps / 1e3);
  if (self->issue_ps > 0)
    g_string_append_printf (out, ", issue: %.0fns", (double) self->issue_ps / 1e3);
  g_string_append_c (out, '}');
  return g_string_free (out, FALSE);
}

char *
fab_accelerator_fit_yaml (const FabAcceleratorFit *self, const FabAcceleratorRequest *request)
{
  FabAcceleratorSpec spec = self->spec;
  FabCatalogSections sections = { .accelerators = { &spec, 1 } };
  g_autofree char *yaml = fab_schema_write (fab_catalog_params, &sections);
  g_autofree char *keys = compute_keys (self);
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "# Written by fabricast calibrate %s on %s from:\n", request->version,
                          request->date);
  for (guint i = 0; request->files[i]; i++) {
    g_autofree char *name = g_path_get_basename (request->files[i]);
    g_autofree char *printable = fab_printable (name);

    g_string_append_printf (out, "#   %s\n", printable);
  }
  g_string_append_printf (
      out,
      "# A scenario takes it with `include:`. Under the name of an entry of the catalogue it "
      "takes its place in every node;\n# under another one a node has to name it. What kernels "
      "reach of it belongs into the job:\n#   %s\n\n%s",
      keys, yaml);
  return g_string_free (out, FALSE);
}

/* --- text --- */

static void
append_fit (GString *out, const char *name, const FabFractionFit *fit, const char *of)
{
  if (fit->fraction <= 0)
    return;
  g_string_append_printf (
      out,
      "%-10s %5.1f %% of %s, fitted to %u (median error %.1f %%); %u held out: error of fit %.1f %%, "
      "largest %.1f %%; with the entry as it was %.1f %%\n",
      name, fit->fraction * 100, of, fit->n_fitted, fit->fitted * 100, fit->n_held_out, fit->error * 100,
      fit->largest * 100, fit->before * 100);
}

static void
append_rows (GString *out, const FabAcceleratorFit *self)
{
  g_string_append_printf (out, "\n%-12s %-10s %-5s %-24s %13s %12s %12s %8s\n", "kind", "op", "type",
                          "shape or bytes", "measured us", "fit us", "rate", "error");
  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);
    const FabSeries *series = row->series;
    gboolean has_flops = series->kind == FAB_MEASURE_PRODUCT || series->kind == FAB_MEASURE_ATTENTION;
    g_autofree char *size = series->shape ? g_strdup (series->shape)
                                          : g_strdup_printf ("%" G_GUINT64_FORMAT, (guint64) row->size_bytes);
    g_autofree char *op = fab_printable (series->op ? series->op : ""), *shape = fab_printable (size);
    g_autofree char *type = fab_printable (series->precision ? series->precision : "");

    g_string_append_printf (out, "%-12s %-10s %-5s %-24s %13.2f ", fab_measure_kind_names[series->kind], op,
                            type, shape, row->measured_s * 1e6);
    if (row->predicted_s > 0)
      g_string_append_printf (out, "%12.2f ", row->predicted_s * 1e6);
    else
      g_string_append_printf (out, "%12s ", "");
    if (row->rate > 0)
      g_string_append_printf (out, "%7.1f %s", row->rate / (has_flops ? 1e12 : 1e9),
                              has_flops ? "TF/s" : "GB/s");
    if (row->predicted_s > 0)
      g_string_append_printf (out, " %+7.1f %%%s", (row->predicted_s / row->measured_s - 1) * 100,
                              row->is_held_out ? " held out" : "");
    g_string_append_c (out, '\n');
  }
}

char *
fab_accelerator_fit_to_text (const FabAcceleratorFit *self)
{
  GString *out = g_string_new (NULL);
  FabDevice device = fab_accelerator_device (self->base);
  g_autofree char *keys = compute_keys (self);

  g_string_append_printf (out, "accelerator '%s': error = predicted time / measured time - 1\n",
                          self->spec.name);
  for (guint k = 0; k < FAB_N_PRECISIONS; k++) {
    g_autofree char *of = g_strdup_printf ("%.4g TFLOP/s",
                                           fab_device_peak (&device, (FabPrecision) k) / 1e12);

    append_fit (out, fab_precision_names[k], &self->achievable[k], of);
    if (self->best_flops_per_s[k] > 0)
      g_string_append_printf (out, "           best %.1f TFLOP/s at %s\n", self->best_flops_per_s[k] / 1e12,
                              self->best_shape[k]);
  }
  g_autofree char *memory = g_strdup_printf ("%.4g GB/s", (double) self->base->memory_bytes_per_s / 1e9);
  append_fit (out, "memory", &self->memory, memory);
  if (self->sustained_fraction > 0)
    g_string_append_printf (out,
                            "sustained  %5.1f %% of the rate of short runs: what the power limit leaves\n",
                            self->sustained_fraction * 100);
  if (self->launch_ps > 0)
    g_string_append_printf (out, "launch     %.2f us from kernel to kernel on the GPU\n",
                            (double) self->launch_ps / 1e6);
  if (self->issue_ps > 0)
    g_string_append_printf (out, "issue      %.2f us of the host for a kernel\n",
                            (double) self->issue_ps / 1e6);
  for (guint i = 0; i < self->notes->len; i++)
    g_string_append_printf (out, "note: %s\n", (const char *) g_ptr_array_index (self->notes, i));
  g_string_append_printf (out, "the job's keys: %s\n", keys);
  append_rows (out, self);
  return g_string_free (out, FALSE);
}

/* --- CSV and JSON --- */

static void
append_field (GString *out, const char *text)
{
  g_autofree char *printable = fab_printable (text ? text : "");
  g_auto (GStrv) parts = g_strsplit (printable, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);

  if (strpbrk (printable, ",\""))
    g_string_append_printf (out, "\"%s\",", doubled);
  else
    g_string_append_printf (out, "%s,", printable);
}

char *
fab_accelerator_fit_to_csv (const FabAcceleratorFit *self)
{
  GString *out = g_string_new (
      "accelerator,kind,op,precision,shape,size_bytes,measured_s,before_s,predicted_s,held_out\n");

  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);

    append_field (out, self->spec.name);
    append_field (out, fab_measure_kind_names[row->series->kind]);
    append_field (out, row->series->op);
    append_field (out, row->series->precision);
    append_field (out, row->series->shape);
    g_string_append_printf (out, "%" G_GUINT64_FORMAT ",%.6g,%.6g,%.6g,%d\n", (guint64) row->size_bytes,
                            row->measured_s, row->before_s, row->predicted_s, row->is_held_out);
  }
  return g_string_free (out, FALSE);
}

static void
add_fit (FabJson *json, const char *name, const FabFractionFit *fit)
{
  if (fit->fraction <= 0)
    return;
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "of", name);
  fab_json_add_real (json, "fraction", fit->fraction);
  fab_json_add_whole (json, "n_fitted", fit->n_fitted);
  fab_json_add_whole (json, "n_held_out", fit->n_held_out);
  fab_json_add_real (json, "fitted_error", fit->fitted);
  fab_json_add_real (json, "error_of_fit", fit->error);
  fab_json_add_real (json, "largest_error", fit->largest);
  fab_json_add_real (json, "error_before", fit->before);
  fab_json_end (json);
}

char *
fab_accelerator_fit_to_json (const FabAcceleratorFit *self)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "accelerator", self->spec.name);
  fab_json_add_text (json, "base", self->base->name);
  fab_json_add_real (json, "matmul", self->spec.matmul_fraction);
  fab_json_add_real (json, "sustained_fraction", self->sustained_fraction);
  fab_json_add_real (json, "launch_s", fab_ps_to_seconds (self->launch_ps));
  fab_json_add_real (json, "issue_s", fab_ps_to_seconds (self->issue_ps));
  fab_json_begin_array (json, "fits");
  for (guint k = 0; k < FAB_N_PRECISIONS; k++)
    add_fit (json, fab_precision_names[k], &self->achievable[k]);
  add_fit (json, "memory", &self->memory);
  fab_json_end (json);
  fab_json_begin_array (json, "notes");
  for (guint i = 0; i < self->notes->len; i++)
    fab_json_add_text (json, NULL, g_ptr_array_index (self->notes, i));
  fab_json_end (json);
  fab_json_begin_array (json, "kernels");
  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_measure_kind_names[row->series->kind]);
    fab_json_add_text (json, "op", row->series->op);
    fab_json_add_text (json, "precision", row->series->precision);
    fab_json_add_text (json, "shape", row->series->shape);
    fab_json_add_whole (json, "size_bytes", (gint64) row->size_bytes);
    fab_json_add_real (json, "measured_s", row->measured_s);
    fab_json_add_real (json, "before_s", row->before_s);
    fab_json_add_real (json, "predicted_s", row->predicted_s);
    fab_json_add_flag (json, "held_out", row->is_held_out);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
