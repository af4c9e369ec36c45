/* SPDX-License-Identifier: Apache-2.0 */
/* accelerator.c - shares of an accelerator's peak and memory rate that measured kernels reach. O(kernels x shares). */
#include "validate/fit/accelerator.h"

#include <math.h>
#include <string.h>

#include "models/compute/roofline/tiles.h"
#include "sim/assembly/assemble.h"
#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"

/* What `roofline` takes where nothing was measured: its defaults. */
static const double default_memory_fraction = 0.85;
static const double default_launch_s = 1e-6;

/* Smaller amounts may stay in a cache: the largest L2 is that of a B200, 126 MB. */
static const FabBytes beyond_caches_bytes = (FabBytes) 128 << 20;
/* A measured rate may be this much above a peak: the clock may be above that of the peak, digits are rounded. */
static const double too_fast = 1.05;
static const double lowest_candidate = 0.02;
enum { N_CANDIDATES = 980 };

static gboolean
find_precision (const char *name, FabPrecision *precision)
{
  for (guint i = 0; name && fab_precision_names[i]; i++)
    if (strcmp (name, fab_precision_names[i]) == 0) {
      *precision = (FabPrecision) i;
      return TRUE;
    }
  return FALSE;
}

static gboolean
is_sustained (const FabSeries *series)
{
  return series->method && g_str_has_suffix (series->method, "-sustained");
}

/* --- rows --- */

static double
product_flops (const FabSeries *series)
{
  double sides[3];

  return fab_series_read_shape (series->shape, 3, sides) ? 2 * sides[0] * sides[1] * sides[2] : 0;
}

/* Causal attention: half of the scores; backward has five products for two. */
static double
attention_flops (const FabSeries *series)
{
  double sides[5], forward;

  if (!fab_series_read_shape (series->shape, 5, sides))
    return 0;
  forward = 2 * sides[0] * sides[1] * sides[3] * sides[3] * sides[4];
  return g_strcmp0 (series->op, "backward") == 0 ? 2.5 * forward : forward;
}

static void
add_row (FabAcceleratorFit *self, const FabMeasuredSeries *measured, const FabMeasuredPoint *point)
{
  const FabSeries *series = &measured->series;
  double flops = series->kind == FAB_MEASURE_PRODUCT   ? product_flops (series)
               : series->kind == FAB_MEASURE_ATTENTION ? attention_flops (series)
                                                       : (double) point->size_bytes;
  FabKernelRow row = { .series = series,
                       .size_bytes = point->size_bytes,
                       .measured_s = fab_ps_to_seconds (point->time_ps) };

  if (point->time_ps <= 0 || flops <= 0)
    return;
  row.rate = series->kind == FAB_MEASURE_LAUNCH ? 0 : flops / row.measured_s;
  g_array_append_val (self->rows, row);
}

static void
add_rows (FabAcceleratorFit *self, const GPtrArray *all, FabMeasureKind kind)
{
  for (guint i = 0; i < all->len; i++) {
    const FabMeasuredSeries *measured = g_ptr_array_index (all, i);

    for (guint k = 0; measured->series.kind == kind && k < measured->points->len; k++)
      add_row (self, measured, &g_array_index (measured->points, FabMeasuredPoint, k));
  }
}

static FabKernelRow *
row_at (const FabAcceleratorFit *self, guint i)
{
  return &g_array_index (self->rows, FabKernelRow, i);
}

/* --- errors --- */

static double
median_of (GArray *values)
{
  g_array_sort (values, fab_order_doubles);
  return values->len > 0 ? fab_median ((const double *) (gpointer) values->data, values->len) : 0;
}

/* Median errors of the rows in `members` (indices). */
static void
set_errors (const FabAcceleratorFit *self, const GArray *members, FabFractionFit *fit)
{
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) fitted = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) held_out = g_array_new (FALSE, FALSE, sizeof (double));

  fit->n_fitted = fit->n_held_out = 0;
  for (guint i = 0; i < members->len; i++) {
    const FabKernelRow *row = row_at (self, g_array_index (members, guint, i));
    double error = fabs (row->predicted_s / row->measured_s - 1),
           earlier = fabs (row->before_s / row->measured_s - 1);

    fit->n_fitted += !row->is_held_out;
    fit->n_held_out += row->is_held_out;
    g_array_append_val (row->is_held_out ? held_out : fitted, error);
    if (row->is_held_out) {
      g_array_append_val (before, earlier);
      fit->largest = fmax (fit->largest, error);
    }
  }
  fit->before = median_of (before);
  fit->fitted = median_of (fitted);
  fit->error = median_of (held_out);
}

/* Holds every second one out. */
static void
hold_out (const FabAcceleratorFit *self, const GArray *members)
{
  for (guint i = 0; i < members->len; i++)
    row_at (self, g_array_index (members, guint, i))->is_held_out = i % 2 != 0;
}

/* --- memory --- */

static void
fit_memory (FabAcceleratorFit *self)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) fractions = g_array_new (FALSE, FALSE, sizeof (double));
  double rate = (double) self->base->memory_bytes_per_s;

  for (guint i = 0; i < self->rows->len; i++)
    if (row_at (self, i)->series->kind == FAB_MEASURE_MEMORY_BOUND
        && row_at (self, i)->size_bytes >= beyond_caches_bytes)
      g_array_append_val (members, i);
  hold_out (self, members);
  for (guint i = 0; i < members->len; i++) {
    const FabKernelRow *row = row_at (self, g_array_index (members, guint, i));
    double fraction = row->rate / rate;

    if (!row->is_held_out)
      g_array_append_val (fractions, fraction);
  }
  if (members->len == 0)
    return;
  self->memory.fraction = fmin (median_of (fractions), 1);
  for (guint i = 0; i < members->len; i++) {
    FabKernelRow *row = row_at (self, g_array_index (members, guint, i));

    row->before_s = (double) row->size_bytes / (rate * default_memory_fraction) + default_launch_s;
    row->predicted_s = (double) row->size_bytes / (rate * self->memory.fraction);
  }
  set_errors (self, members, &self->memory);
}

/* --- launches --- */

static void
read_launches (FabAcceleratorFit *self)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);
    FabTimePs time_ps = (FabTimePs) llround (row->measured_s * (double) FAB_PS_PER_S);

    if (row->series->kind == FAB_MEASURE_LAUNCH)
      *(g_strcmp0 (row->series->method, "held") == 0 ? &self->launch_ps : &self->issue_ps) = time_ps;
  }
}

/* --- products --- */

static double
product_seconds (const FabDevice *device, FabPrecision precision, const FabSeries *series, double achievable,
                 double memory_fraction, double launch_s)
{
  FabReachedRates rates = { fab_device_peak (device, precision) * achievable,
                            (double) device->memory_bytes_per_s * memory_fraction };
  double sides[3];

  fab_series_read_shape (series->shape, 3, sides); /* every row of a product has one */
  FabMatmul matmul = { sides[0], sides[1], sides[2], 1 };
  return fab_tiles_seconds (device, &rates, &matmul, fab_precision_operand_bytes (precision),
                            fmax (2, (double) fab_precision_bytes (precision)))
       + launch_s;
}

/* Median of |log (predicted / measured)| over the fitted rows. */
static double
distance (const FabAcceleratorFit *self, const FabDevice *device, FabPrecision precision,
          const GArray *members, double achievable, double memory_fraction, double launch_s)
{
  g_autoptr (GArray) distances = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < members->len; i++) {
    const FabKernelRow *row = row_at (self, g_array_index (members, guint, i));
    double predicted_s = product_seconds (device, precision, row->series, achievable, memory_fraction,
                                          launch_s);
    double one = fabs (log (predicted_s / row->measured_s));

    if (!row->is_held_out)
      g_array_append_val (distances, one);
  }
  return median_of (distances);
}

/* The share with which the fitted rows are nearest. */
static double
find_achievable (const FabAcceleratorFit *self, const FabDevice *device, FabPrecision precision,
                 const GArray *members, double memory_fraction, double launch_s)
{
  double best = 1, least = G_MAXDOUBLE;

  for (guint i = 0; i <= N_CANDIDATES; i++) {
    double candidate = lowest_candidate + (1 - lowest_candidate) * i / N_CANDIDATES;
    double one = distance (self, device, precision, members, candidate, memory_fraction, launch_s);

    if (one < least)
      least = one, best = candidate;
  }
  return best;
}

static void
fit_precision (FabAcceleratorFit *self, const FabDevice *device, FabPrecision precision)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint));
  FabFractionFit *fit = &self->achievable[precision];
  double memory_fraction = self->memory.fraction > 0 ? self->memory.fraction : default_memory_fraction;
  double launch_s = self->launch_ps > 0 ? fab_ps_to_seconds (self->launch_ps) : default_launch_s;
  double before = fab_tiles_share (device, precision);

  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);
    FabPrecision its;

    if (row->series->kind != FAB_MEASURE_PRODUCT || !find_precision (row->series->precision, &its)
        || its != precision || is_sustained (row->series))
      continue;
    g_array_append_val (members, i);
    if (row->rate > self->best_flops_per_s[precision]) {
      self->best_flops_per_s[precision] = row->rate;
      self->best_shape[precision] = row->series->shape;
    }
  }
  if (members->len == 0)
    return;
  hold_out (self, members);
  fit->fraction = find_achievable (self, device, precision, members, memory_fraction, launch_s);
  for (guint i = 0; i < members->len; i++) {
    FabKernelRow *row = row_at (self, g_array_index (members, guint, i));

    row->before_s = product_seconds (device, precision, row->series, before, default_memory_fraction,
                                     default_launch_s);
    row->predicted_s = product_seconds (device, precision, row->series, fit->fraction, memory_fraction,
                                        launch_s);
  }
  set_errors (self, members, fit);
}

static void
fit_sustained (FabAcceleratorFit *self)
{
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < self->rows->len; i++)
    for (guint k = 0; k < self->rows->len; k++) {
      const FabKernelRow *slow = row_at (self, i), *warm = row_at (self, k);
      double ratio = warm->measured_s / slow->measured_s;

      if (slow->series->kind == FAB_MEASURE_PRODUCT && is_sustained (slow->series)
          && warm->series->kind == FAB_MEASURE_PRODUCT && !is_sustained (warm->series)
          && g_strcmp0 (slow->series->shape, warm->series->shape) == 0
          && g_strcmp0 (slow->series->precision, warm->series->precision) == 0)
        g_array_append_val (ratios, ratio);
    }
  self->sustained_fraction = median_of (ratios);
}

/* --- the entry --- */

static const char *
keep (FabAcceleratorFit *self, char *text)
{
  g_ptr_array_add (self->texts, text);
  return text;
}

static void
set_spec (FabAcceleratorFit *self, const FabAcceleratorRequest *request)
{
  FabPrecision best = self->best_flops_per_s[FAB_PRECISION_BF16] >= self->best_flops_per_s[FAB_PRECISION_FP16]
                        ? FAB_PRECISION_BF16
                        : FAB_PRECISION_FP16;
  GString *source = g_string_new ("measured");

  self->spec = *self->base;
  self->spec.name = request->name ? request->name : self->base->name;
  self->spec.summary = keep (self, g_strconcat (self->base->summary, ", measured", NULL));
  if (self->best_flops_per_s[best] > 0) {
    self->spec.matmul_fraction = fmin (self->best_flops_per_s[best] / self->base->peak_fp16_flops_per_s, 1);
    g_string_append_printf (source, ": best matmul %.1f TFLOP/s in %s at %s",
                            self->best_flops_per_s[best] / 1e12, fab_precision_names[best],
                            self->best_shape[best]);
  }
  g_string_append_printf (source, "; peaks and memory as %s", self->base->name);
  self->spec.source = keep (self, g_string_free (source, FALSE));
  self->spec.date = request->date;
}

/* A kernel that is faster than the entry's peak belongs to another accelerator, or is in other units. */
static gboolean
check_rates (const FabAcceleratorFit *self, const FabDevice *device, GError **error)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = row_at (self, i);
    FabPrecision precision;

    if (row->series->kind == FAB_MEASURE_MEMORY_BOUND && row->size_bytes >= beyond_caches_bytes
        && row->rate > (double) device->memory_bytes_per_s * too_fast)
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "%s of %.4g GB moved %.4g GB/s, and the memory of %s carries %.4g GB/s: name another --base",
          row->series->op ? row->series->op : "a kernel", (double) row->size_bytes / 1e9, row->rate / 1e9,
          self->base->name, (double) device->memory_bytes_per_s / 1e9);
    if (row->series->kind == FAB_MEASURE_PRODUCT && find_precision (row->series->precision, &precision)
        && row->rate > fab_device_peak (device, precision) * too_fast)
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "the product %s in %s reached %.4g TFLOP/s, and the peak of %s is %.4g TFLOP/s: name another --base",
          row->series->shape, row->series->precision, row->rate / 1e12, self->base->name,
          fab_device_peak (device, precision) / 1e12);
  }
  return TRUE;
}

static void note (FabAcceleratorFit *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (FabAcceleratorFit *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
say_what_is_missing (FabAcceleratorFit *self)
{
  guint n_unknown = 0, n_products = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabSeries *series = row_at (self, i)->series;
    FabPrecision precision;

    n_products += series->kind == FAB_MEASURE_PRODUCT;
    n_unknown += series->kind == FAB_MEASURE_PRODUCT && !find_precision (series->precision, &precision);
  }
  if (n_unknown > 0)
    note (self, "%u products are left out, because their precision is not known", n_unknown);
  if (n_products == 0)
    note (self, "no product was measured, so `matmul` is that of %s", self->base->name);
  if (self->memory.fraction <= 0)
    note (
        self,
        "no kernel that moves 128 MiB or more was measured, so the share of the memory rate is the default, 85%%");
  if (self->launch_ps == 0)
    note (self, "the gap between two kernels on the GPU was not measured; it is taken as the default, 1 us");
}

gboolean
fab_accelerator_has_kernels (const GPtrArray *series)
{
  for (guint i = 0; i < series->len; i++)
    if (fab_measure_kind_is_kernel (((const FabMeasuredSeries *) g_ptr_array_index (series, i))->series.kind))
      return TRUE;
  return FALSE;
}

FabAcceleratorFit *
fab_accelerator_fit_new (const GPtrArray *series, const FabAcceleratorRequest *request, GError **error)
{
  static const FabMeasureKind kinds[] = { FAB_MEASURE_PRODUCT, FAB_MEASURE_MEMORY_BOUND,
                                          FAB_MEASURE_ATTENTION, FAB_MEASURE_LAUNCH };
  g_autoptr (FabAcceleratorFit) self = g_new0 (FabAcceleratorFit, 1);
  FabDevice device = fab_accelerator_device (request->base);
  gboolean has_fit;

  self->base = request->base;
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabKernelRow));
  self->notes = g_ptr_array_new_with_free_func (g_free);
  self->texts = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    add_rows (self, series, kinds[i]);
  if (!check_rates (self, &device, error))
    return NULL;
  fit_memory (self);
  read_launches (self);
  has_fit = self->memory.fraction > 0;
  for (guint k = 0; k < FAB_N_PRECISIONS; k++) {
    fit_precision (self, &device, (FabPrecision) k);
    has_fit = has_fit || self->achievable[k].fraction > 0;
  }
  if (!has_fit) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "there is neither a product nor a kernel that moves 128 MiB or more, so nothing of an accelerator can be "
        "fitted; `fabricast measure compute` measures them");
    return NULL;
  }
  fit_sustained (self);
  set_spec (self, request);
  say_what_is_missing (self);
  return g_steal_pointer (&self);
}

void
fab_accelerator_fit_free (FabAcceleratorFit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_ptr_array_unref (self->notes);
  g_ptr_array_unref (self->texts);
  g_free (self);
}
