/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/stats.h"

#include <math.h>
#include <stdlib.h>

guint
fab_nearest_rank (guint n, double fraction)
{
  guint rank = (guint) ceil (fraction * n);

  return CLAMP (rank, 1, n) - 1;
}

double
fab_median (const double *sorted, guint n)
{
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

FabTimePs
fab_median_time (const FabTimePs *sorted_ps, guint n)
{
  FabTimePs low_ps = sorted_ps[(n - 1) / 2], high_ps = sorted_ps[n / 2];

  return low_ps + (high_ps - low_ps) / 2;
}

guint
fab_upper_median (guint n)
{
  return n / 2;
}

int
fab_order_weighted (const void *a, const void *b)
{
  double x = ((const FabWeighted *) a)->value, y = ((const FabWeighted *) b)->value;

  return (x > y) - (x < y);
}

double
fab_weighted_nearest_rank (const FabWeighted *sorted, guint n, double fraction)
{
  const double rounding = 1e-9;
  double sum = 0;

  for (guint i = 0; i < n; i++) {
    sum += sorted[i].weight;
    if (sum >= fraction - rounding)
      return sorted[i].value;
  }
  return n > 0 ? sorted[n - 1].value : 0;
}

double
fab_weighted_quantile (const double *values, const double *weights, guint n, double fraction)
{
  g_autofree FabWeighted *sorted = g_new (FabWeighted, n + 1);
  double sum = 0, before = 0;
  double last = 0;

  for (guint i = 0; i < n; i++) {
    sorted[i] = (FabWeighted){ values[i], weights != NULL ? weights[i] : 1 };
    sum += sorted[i].weight;
  }
  if (n == 0 || sum <= 0)
    return 0;
  qsort (sorted, n, sizeof *sorted, fab_order_weighted);
  for (guint i = 0; i < n; i++) {
    double middle = (before + sorted[i].weight / 2) / sum;

    if (middle >= fraction && i == 0)
      return sorted[0].value;
    if (middle >= fraction) {
      double at = sorted[i - 1].value;

      return at + (sorted[i].value - at) * (fraction - last) / (middle - last);
    }
    before += sorted[i].weight;
    last = middle;
  }
  return sorted[n - 1].value;
}
