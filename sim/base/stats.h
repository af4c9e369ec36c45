/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - quantiles and medians, each definition once. They are numbered as by Hyndman and Fan, "Sample quantiles in
 * statistical packages" (1996), which R's quantile (type = ...) follows. x[1] <= ... <= x[n] are the sorted values.
 *
 *   type 1   x[ceil (f n)]: a value that occurred, the least that at least the fraction f of all do not exceed.
 *            fab_nearest_rank: percentiles of steps, seeds, waits, lives under failures, measured samples; the seed
 *            that is shown. fab_weighted_nearest_rank: ends of bands, where values have weights
 *   type 2   the mean of the two in the middle, f = 1/2. fab_median: errors, differences between seeds, times of
 *            traces; fab_median_time: samples of a measurement, in whole picoseconds
 *   type 5   x[i] stands in the middle of its weight, and a straight line joins it to the next. fab_weighted_quantile:
 *            factors of published runs, half-widths of pairs
 *   upper    x[n / 2 + 1]: of an even number the upper of the two in the middle. fab_upper_median: scales of
 *            residuals, clocks of traced ranks
 */
#pragma once

#include "sim/base/units.h"

/* Returns the place, from 0, of the quantile `fraction` (0 to 1) among n sorted values; 0 where n is 0. */
guint fab_nearest_rank (guint n, double fraction);

/* Return the median of n > 0 sorted values. The second one rounds down. */
double fab_median (const double *sorted, guint n);
FabTimePs fab_median_time (const FabTimePs *sorted_ps, guint n);

/* Returns the place, from 0, of the upper median among n > 0 sorted values. */
guint fab_upper_median (guint n);

typedef struct {
  double value, weight; /* weight >= 0 */
} FabWeighted;

/* Compares by value, for an ascending order. */
int fab_order_weighted (const void *a, const void *b);

/* Returns the least of n sorted values at which the weights, which sum up to 1, come to `fraction` or to less than 1e-9
 * below it, as sums of weights are rounded; 0 where n is 0. O(n). */
double fab_weighted_nearest_rank (const FabWeighted *sorted, guint n, double fraction);

/* Returns the quantile `fraction` of n values, which need not be sorted; 0 where n or the sum of the weights is 0.
 * weights NULL: all weigh the same. O(n log n). */
double fab_weighted_quantile (const double *values, const double *weights, guint n, double fraction);
