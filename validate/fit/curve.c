/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/fit/curve.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/order.h"

/* The times that a message can take at all: 1 ns to 1000 s. */
static const double max_bytes_per_s = 1e14, min_ps = 1e3, max_ps = 1e15;
static const double may_fall_to = 0.5, refused_fraction = 0.2;

const char *const fab_fit_part_names[FAB_N_FIT_PARTS] = { "fitted", "held-out", "outside" };

static int
compare_points (const void *a, const void *b)
{
  const FabFitPoint *x = a, *y = b;

  return x->size_bytes != y->size_bytes ? (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes)
                                        : (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

GArray *
fab_fit_merge_sizes (const FabFitPoint *points, guint n)
{
  g_autofree FabFitPoint *sorted = g_new (FabFitPoint, n + 1);
  GArray *merged = g_array_new (FALSE, FALSE, sizeof (FabFitPoint));

  for (guint i = 0; i < n; i++)
    sorted[i] = points[i];
  qsort (sorted, n, sizeof *sorted, compare_points);
  for (guint first = 0, end; first < n; first = end) {
    for (end = first; end < n && sorted[end].size_bytes == sorted[first].size_bytes;)
      end++;
    FabFitPoint middle = sorted[(first + end) / 2];

    if ((end - first) % 2 == 0)
      middle.time_ps = (middle.time_ps + sorted[(first + end) / 2 - 1].time_ps) / 2;
    g_array_append_val (merged, middle);
  }
  return merged;
}

gboolean
fab_fit_check_point (const FabFitPoint *point, GError **error)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, point->size_bytes);

  if (!(point->size_bytes >= 1 && point->time_ps >= min_ps && point->time_ps <= max_ps))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s in %.6g us: no message takes less than 1 ns or more than 1000 s; is the unit right?", size,
        point->time_ps / 1e6);
  if (point->size_bytes / point->time_ps * 1e12 > max_bytes_per_s)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s in %.6g us are %.0f TB/s: no link is as fast; is the unit right?", size,
                      point->time_ps / 1e6, point->size_bytes / point->time_ps);
  return TRUE;
}

static double
median_time (const FabFitPoint *points, guint n)
{
  g_autofree double *times = g_new (double, n);

  for (guint i = 0; i < n; i++)
    times[i] = points[i].time_ps;
  qsort (times, n, sizeof *times, fab_order_doubles);
  return times[n / 2];
}

/* Fails when many sizes are faster than messages of a tenth of their size: such times are not those of messages. A few
 * sizes may be disturbed. */
static gboolean
check_growth (const FabFitPoint *points, guint n, GError **error)
{
  guint n_falling = 0, from = 0, last = 0;

  for (guint i = 0; i < n; i++) {
    while (points[from].size_bytes * 10 <= points[i].size_bytes)
      from++;
    if (from > 0 && points[i].time_ps < may_fall_to * median_time (points, from)) {
      n_falling++;
      last = i;
    }
  }
  if (n_falling < refused_fraction * n || n_falling == 0)
    return TRUE;
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, points[last].size_bytes);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "times that fall with size are no link's: at %u of %u sizes (%s: %.4g us) a message takes less than "
      "half the time of messages ten times smaller; measure again, or choose sizes with --min-size and "
      "--max-size",
      n_falling, n, size, points[last].time_ps / 1e6);
}

static gboolean
is_held_out (guint i, guint n, double hold_out)
{
  const double whole = 1e-9; /* rounding: 3 x 1/3 must give 1 */

  return i > 0 && i + 1 < n && floor ((i + 1) * hold_out + whole) > floor (i * hold_out + whole);
}

/* A regime ends where its line crosses the next one, if that is between the two points, else at its last point. */
static FabBytes
end_of (const FabFitRegime *lower, const FabFitRegime *upper, const FabFitPoint *points)
{
  double from = points[lower->end - 1].size_bytes, to = points[upper->first].size_bytes;
  double slope = lower->line.ps_per_byte - upper->line.ps_per_byte;
  double cross = slope != 0 ? (upper->line.overhead_ps - lower->line.overhead_ps) / slope : -1;

  return (FabBytes) (cross > from && cross < to ? cross : from);
}

static void
fill_rows (FabFitCurve *self, const GArray *points, double hold_out)
{
  for (guint i = 0; i < points->len; i++) {
    const FabFitPoint *point = &g_array_index (points, FabFitPoint, i);
    FabFitRow row = { .size_bytes = (FabBytes) point->size_bytes,
                      .measured_ps = point->time_ps,
                      .predicted_ps = fab_fit_curve_time_ps (self, point->size_bytes),
                      .part = is_held_out (i, points->len, hold_out) ? FAB_FIT_HELD_OUT : FAB_FIT_FITTED };

    row.error_fraction = row.predicted_ps / row.measured_ps - 1;
    g_array_append_val (self->rows, row);
  }
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
    self->errors[part] = fab_fit_errors (self->rows, part);
}

/* Bounds the time per byte: a rate above a hundred times the best one seen is not determined by the points. */
static FabFitLimits
limits_of (const FabFitPoint *points, guint n)
{
  FabFitLimits limits = { fab_fit_scale (points, n), INFINITY };

  for (guint i = 0; i < n; i++)
    limits.min_ps_per_byte = MIN (limits.min_ps_per_byte, points[i].time_ps / points[i].size_bytes / 100);
  return limits;
}

static void
fit (FabFitCurve *self, const FabFitPoint *points, guint n)
{
  FabFitLimits limits = limits_of (points, n);
  FabFitCuts cuts = fab_fit_segments (points, n, &limits);

  self->n_regimes = cuts.n_regimes;
  self->scatter_fraction = fab_fit_refine (points, &cuts, &limits, self->regimes);
  for (guint k = 0; k + 1 < cuts.n_regimes; k++)
    self->up_to_bytes[k] = end_of (&self->regimes[k], &self->regimes[k + 1], points);
  self->up_to_bytes[cuts.n_regimes - 1] = (FabBytes) points[n - 1].size_bytes;
}

FabFitCurve *
fab_fit_curve_new (const FabFitPoint *points, guint n, double hold_out, GError **error)
{
  g_autoptr (GArray) merged = NULL, chosen = g_array_new (FALSE, FALSE, sizeof (FabFitPoint));
  FabFitCurve *self;

  g_assert (hold_out >= 0 && hold_out < 0.5);
  merged = fab_fit_merge_sizes (points, n);
  for (guint i = 0; i < merged->len; i++)
    if (!is_held_out (i, merged->len, hold_out))
      g_array_append_val (chosen, g_array_index (merged, FabFitPoint, i));
  if (chosen->len < FAB_FIT_MIN_SIZES) {
    fab_throw (error, FAB_ERROR_INPUT,
               "%u sizes, %u of them held out: %d are needed to fit overhead and rate", merged->len,
               merged->len - chosen->len, FAB_FIT_MIN_SIZES);
    return NULL;
  }
  if (!check_growth ((const FabFitPoint *) (gpointer) merged->data, merged->len, error))
    return NULL;
  self = g_new0 (FabFitCurve, 1);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
  fit (self, (const FabFitPoint *) (gpointer) chosen->data, chosen->len);
  fill_rows (self, merged, hold_out);
  return self;
}

void
fab_fit_curve_free (FabFitCurve *self)
{
  if (self != NULL)
    g_array_unref (self->rows);
  g_free (self);
}

guint
fab_fit_curve_regime (const FabFitCurve *self, double size_bytes)
{
  guint k = 0;

  while (k + 1 < self->n_regimes && size_bytes > (double) self->up_to_bytes[k])
    k++;
  return k;
}

double
fab_fit_curve_time_ps (const FabFitCurve *self, double size_bytes)
{
  return fab_fit_line_time_ps (&self->regimes[fab_fit_curve_regime (self, size_bytes)].line, size_bytes);
}

double
fab_fit_regime_rate (const FabFitRegime *regime)
{
  return (double) FAB_PS_PER_S / regime->line.ps_per_byte;
}

double
fab_fit_regime_rate_half (const FabFitRegime *regime)
{
  return fab_fit_regime_rate (regime) * regime->ps_per_byte_half / regime->line.ps_per_byte;
}

gboolean
fab_fit_regime_has_rate (const FabFitRegime *regime)
{
  return !regime->is_without_rate && regime->ps_per_byte_half < regime->line.ps_per_byte / 2;
}

FabErrors
fab_fit_errors (const GArray *rows, FabFitPart part)
{
  g_autofree double *errors = g_new (double, rows->len + 1);
  g_autofree FabBytes *sizes = g_new (FabBytes, rows->len + 1);
  guint n = 0;

  for (guint i = 0; i < rows->len; i++) {
    const FabFitRow *row = &g_array_index (rows, FabFitRow, i);

    if (row->part != part)
      continue;
    errors[n] = row->error_fraction;
    sizes[n++] = row->size_bytes;
  }
  return fab_errors_of (errors, sizes, n);
}
