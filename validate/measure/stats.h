/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - what samples come to: order statistics, no distribution assumed.
 *
 * The 95 % confidence interval of the median is between two samples: of n sorted ones the r-th and the (n-r+1)-th,
 * r the largest with P (Binomial (n, 1/2) < r) <= 2.5 %. Fewer than 6 samples have none.
 */
#pragma once

#include "validate/measure/series.h"

/* r above, from 1; 0: n is too small. O(n). */
guint fab_stats_median_rank (guint n);

/* Of sorted samples, n > 0. The median of an even number is the mean of the middle two, rounded down. */
FabTimePs fab_stats_median (const FabTimePs *sorted_ps, guint n);
/* The smallest sample that `percent` of all do not exceed (nearest rank); percent 1 to 100. */
FabTimePs fab_stats_percentile (const FabTimePs *sorted_ps, guint n, guint percent);

/* How many are farther than 3 x 1.4826 median absolute deviations from the median. */
guint fab_stats_outliers (const FabTimePs *sorted_ps, guint n);

/* Everything of a point that samples tell, which need not be sorted; is_complete is left alone. n > 0. */
void fab_stats_point (const FabTimePs *samples_ps, guint n, FabMeasuredPoint *point);

/* Half the confidence interval's width over the median; 1 when there is no interval. */
double fab_stats_half_width (const FabMeasuredPoint *point);
