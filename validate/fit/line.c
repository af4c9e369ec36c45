/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - solves weighted least squares in two bounded unknowns; weights after Huber. O(n) per round. */
#include "validate/fit/line.h"

#include <math.h>

const double fab_fit_huber = 1.345;
static const double cap_scales = 4, settled_fraction = 1e-9;

/* Weighted sums over x = 1 / t (of the overhead) and y = m / t (of ps_per_byte); the fit wants a x + s y = 1. */
typedef struct {
  double xx, xy, yy, x, y, n;
} Sums;

double
fab_fit_line_time_ps (const FabFitLine *line, double size_bytes)
{
  return line->overhead_ps + size_bytes * line->ps_per_byte;
}

double
fab_fit_line_residual (const FabFitLine *line, const FabFitPoint *point)
{
  return fab_fit_line_time_ps (line, point->size_bytes) / point->time_ps - 1;
}

double
fab_fit_point_cost (const FabFitLine *line, const FabFitPoint *point, double scale_fraction)
{
  double residual = fabs (fab_fit_line_residual (line, point)), cap = cap_scales * scale_fraction;

  return MIN (residual, cap) * MIN (residual, cap);
}

static void
add (Sums *sums, const FabFitPoint *point, double weight)
{
  double x = 1 / point->time_ps, y = point->size_bytes / point->time_ps;

  sums->xx += weight * x * x;
  sums->xy += weight * x * y;
  sums->yy += weight * y * y;
  sums->x += weight * x;
  sums->y += weight * y;
  sums->n += weight;
}

/* Returns the weighted sum of squares of a x + s y - 1. */
static double
squares (const Sums *sums, const FabFitLine *line)
{
  double a = line->overhead_ps, s = line->ps_per_byte;

  return a * a * sums->xx + 2 * a * s * sums->xy + s * s * sums->yy - 2 * (a * sums->x + s * sums->y)
       + sums->n;
}

/* Returns the minimum of the parabola within the bounds: the free one, else the better of the two edges. */
static FabFitLine
solve (const Sums *sums, double min_ps_per_byte)
{
  double determinant = sums->xx * sums->yy - sums->xy * sums->xy;
  FabFitLine no_overhead = { 0, MAX (sums->y / sums->yy, min_ps_per_byte) };
  FabFitLine fastest = { MAX ((sums->x - min_ps_per_byte * sums->xy) / sums->xx, 0), min_ps_per_byte };

  if (determinant > 1e-12 * sums->xx * sums->yy) {
    FabFitLine free = { (sums->x * sums->yy - sums->y * sums->xy) / determinant,
                        (sums->y * sums->xx - sums->x * sums->xy) / determinant };

    if (free.overhead_ps >= 0 && free.ps_per_byte >= min_ps_per_byte)
      return free;
  }
  return squares (sums, &fastest) < squares (sums, &no_overhead) ? fastest : no_overhead;
}

static gboolean
is_settled (const FabFitLine *a, const FabFitLine *b)
{
  return fabs (a->overhead_ps - b->overhead_ps) <= settled_fraction * a->overhead_ps
      && fabs (a->ps_per_byte - b->ps_per_byte) <= settled_fraction * a->ps_per_byte;
}

FabFitLine
fab_fit_line (const FabFitPoint *points, guint n, const FabFitLimits *limits, guint max_rounds)
{
  double bend = fab_fit_huber * limits->scale_fraction;
  FabFitLine line = { 0 };

  for (guint round = 0; round < max_rounds; round++) {
    FabFitLine before = line;
    Sums sums = { 0 };

    for (guint i = 0; i < n; i++) {
      double residual = round == 0 ? 0 : fabs (fab_fit_line_residual (&line, &points[i]));

      add (&sums, &points[i], residual > bend ? bend / residual : 1);
    }
    line = solve (&sums, limits->min_ps_per_byte);
    if (round > 0 && is_settled (&line, &before))
      break;
  }
  return line;
}
