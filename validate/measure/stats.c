/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/stats.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/order.h"
#include "sim/base/stats.h"

#define TAIL_FRACTION 0.025
#define SCALED_MAD \
  1.4826 /* scales the median absolute deviation of a normal distribution to its standard deviation */
#define OUTLIER_DEVIATIONS 3

guint
fab_stats_median_rank (guint n)
{
  double below = 0;

  for (guint r = 0;; r++) { /* half of all are at most n / 2 */
    below += exp (lgamma (n + 1.0) - lgamma (r + 1.0) - lgamma (n - r + 1.0) - n * M_LN2);
    if (below > TAIL_FRACTION)
      /* P (B <= r - 1) is small enough, and P (B <= r) is not */
      return r;
  }
}

static FabTimePs *
sorted_copy (const FabTimePs *times_ps, guint n)
{
  FabTimePs *copy = g_memdup2 (times_ps, n * sizeof *times_ps);

  qsort (copy, n, sizeof *copy, fab_order_int64s);
  return copy;
}

guint
fab_stats_outliers (const FabTimePs *sorted_ps, guint n)
{
  FabTimePs median_ps = fab_median_time (sorted_ps, n);
  g_autofree FabTimePs *distances_ps = g_new (FabTimePs, n);
  guint n_outliers = 0;

  for (guint i = 0; i < n; i++)
    distances_ps[i] = ABS (sorted_ps[i] - median_ps);
  qsort (distances_ps, n, sizeof *distances_ps, fab_order_int64s);
  double limit_ps = OUTLIER_DEVIATIONS * SCALED_MAD * (double) fab_median_time (distances_ps, n);
  for (guint i = 0; i < n; i++)
    n_outliers += (double) distances_ps[i] > limit_ps;
  return n_outliers;
}

void
fab_stats_point (const FabTimePs *samples_ps, guint n, FabMeasuredPoint *point)
{
  g_autofree FabTimePs *sorted_ps = sorted_copy (samples_ps, n);
  guint rank = fab_stats_median_rank (n);

  point->time_ps = fab_median_time (sorted_ps, n);
  point->low_ps = rank > 0 ? sorted_ps[rank - 1] : 0;
  point->high_ps = rank > 0 ? sorted_ps[n - rank] : 0;
  point->min_ps = sorted_ps[0];
  point->p05_ps = sorted_ps[fab_nearest_rank (n, 0.05)];
  point->p95_ps = sorted_ps[fab_nearest_rank (n, 0.95)];
  point->max_ps = sorted_ps[n - 1];
  point->n_samples = n;
  point->n_outliers = fab_stats_outliers (sorted_ps, n);
}

double
fab_stats_half_width (const FabMeasuredPoint *point)
{
  if (point->high_ps <= 0 || point->time_ps <= 0)
    return 1;
  return (double) (point->high_ps - point->low_ps) / 2 / (double) point->time_ps;
}
