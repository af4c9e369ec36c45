/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - statistics of samples by order, without assuming a distribution.
 *
 * The 95 % confidence interval of the median lies between two samples: of n sorted ones the r-th and the (n-r+1)-th,
 * where r is the largest number with P (Binomial (n, 1/2) < r) <= 2.5 %. Fewer than 6 samples give no interval.
 */
#pragma once

#include "formats/measurement/series.h"

/* Returns r as above, counted from 1; 0: n is too small. O(n). */
guint fab_stats_median_rank (guint n);

/* Counts the samples farther than 3 x 1.4826 median absolute deviations from the median. */
guint fab_stats_outliers (const FabTimePs *sorted_ps, guint n);

/* Sets every member that samples determine, all but is_complete. The samples need not be sorted; n > 0. */
void fab_stats_point (const FabTimePs *samples_ps, guint n, FabMeasuredPoint *point);

/* Returns half the confidence interval's width over the median; 1 when there is no interval. */
double fab_stats_half_width (const FabMeasuredPoint *point);
