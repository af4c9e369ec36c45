/* SPDX-License-Identifier: Apache-2.0 */
/* refine.c - fits the line of each regime, then its covariance. O(n) per regime and round. */
#include "validate/fit/refine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/order.h"

enum { ENOUGH_DEGREES = 4 };

double
fab_fit_student_95 (guint degrees)
{
  static const double first[] = { INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706 };
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, d = degrees;

  if (degrees < G_N_ELEMENTS (first))
    return first[degrees];
  return z + (z3 + z) / (4 * d) + (5 * z5 + 16 * z3 + 3 * z) / (96 * d * d)
       + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * d * d * d);
}

/* Returns the standard deviation of the residuals of some regimes by Huber's estimator: the bounded residuals' squares
 * over the share of points inside the bound. */
static double
scatter (const FabFitPoint *points, const FabFitRegime *regimes, guint n_regimes, double bend, guint *degrees)
{
  double squares = 0;
  guint n = 0, n_inside = 0, n_unknowns = 0;

  for (guint k = 0; k < n_regimes; k++) {
    n_unknowns += !regimes[k].is_without_overhead + !regimes[k].is_without_rate;
    for (guint i = regimes[k].first; i < regimes[k].end; i++, n++) {
      double residual = fabs (fab_fit_line_residual (&regimes[k].line, &points[i]));

      squares += MIN (residual, bend) * MIN (residual, bend);
      n_inside += residual <= bend;
    }
  }
  *degrees = n > n_unknowns ? n - n_unknowns : 1;
  return sqrt (squares / *degrees) * n / MAX (n_inside, 1);
}

/* Sets the intervals from the inverse of the normal matrix; a parameter held at its bound has none. */
static void
widen (FabFitRegime *regime, const FabFitPoint *points, double reach)
{
  double xx = 0, xy = 0, yy = 0;

  for (guint i = regime->first; i < regime->end; i++) {
    double x = 1 / points[i].time_ps, y = points[i].size_bytes / points[i].time_ps;

    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (regime->is_without_overhead || regime->is_without_rate)
    xy = 0;
  double left = MAX (1 - xy * xy / (xx * yy), 1e-12);
  regime->overhead_half_ps = reach / sqrt (xx * left);
  regime->ps_per_byte_half = reach / sqrt (yy * left);
}

static void
find_lines (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
            FabFitRegime *regimes)
{
  for (guint k = 0; k < cuts->n_regimes; k++) {
    guint first = k > 0 ? cuts->ends[k - 1] : 0;

    regimes[k] = (FabFitRegime){ .first = first, .end = cuts->ends[k] };
    regimes[k].line = fab_fit_line (points + first, cuts->ends[k] - first, limits, FAB_FIT_LINE_ROUNDS);
    regimes[k].is_without_overhead = regimes[k].line.overhead_ps <= 0;
    regimes[k].is_without_rate = regimes[k].line.ps_per_byte <= limits->min_ps_per_byte;
  }
}

/* Returns the scale of the residuals where it is larger than the one estimated from neighbouring points: the curve may
 * bend more than neighbours show. */
static double
widen_scale (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitRegime *regimes,
             double scale_fraction)
{
  static const double normal = 1.4826;
  guint n = cuts->ends[cuts->n_regimes - 1];
  g_autofree double *residuals = g_new (double, n);

  for (guint k = 0; k < cuts->n_regimes; k++)
    for (guint i = regimes[k].first; i < regimes[k].end; i++)
      residuals[i] = fabs (fab_fit_line_residual (&regimes[k].line, &points[i]));
  qsort (residuals, n, sizeof *residuals, fab_order_doubles);
  return MAX (scale_fraction, normal * residuals[n / 2]);
}

/* Returns half of the 95 % interval of a point. It comes from the regime's own points where they are enough, because
 * large messages scatter less than small ones, else from all points. */
static double
reach_of (const FabFitPoint *points, const FabFitRegime *regime, double bend, double all)
{
  guint degrees;
  double own = scatter (points, regime, 1, bend, &degrees);

  return degrees >= ENOUGH_DEGREES ? own * fab_fit_student_95 (degrees) : all;
}

double
fab_fit_refine (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
                FabFitRegime *regimes)
{
  FabFitLimits wider = *limits;
  guint degrees;
  double deviation, bend, all;

  find_lines (points, cuts, limits, regimes);
  wider.scale_fraction = widen_scale (points, cuts, regimes, limits->scale_fraction);
  find_lines (points, cuts, &wider, regimes);
  bend = fab_fit_huber * wider.scale_fraction;
  deviation = scatter (points, regimes, cuts->n_regimes, bend, &degrees);
  all = deviation * fab_fit_student_95 (degrees);
  for (guint k = 0; k < cuts->n_regimes; k++)
    widen (&regimes[k], points, reach_of (points, &regimes[k], bend, all));
  return deviation;
}
