/* SPDX-License-Identifier: Apache-2.0 */
/* segments.h - how many regimes a curve has and where each ends.
 *
 * Of all ways to cut the points, sorted by size, into k runs of at least FAB_FIT_MIN_POINTS, the one of the least
 * cost is found by dynamic programming; k is that of the least Bayesian information criterion, with three numbers a
 * regime (overhead, rate, end) of which the end counts twice, as the best of many was chosen:
 *
 *   n ln (cost / n + floor^2) + (4 k - 1) ln n
 *
 * `floor` is half a percent: no regime is made to be nearer than that, as no curve is that straight.
 */
#pragma once

#include "validate/fit/line.h"

enum { FAB_FIT_MIN_POINTS = 3, FAB_FIT_MAX_REGIMES = 6 };

typedef struct {
  guint n_regimes;
  guint ends[FAB_FIT_MAX_REGIMES]; /* of each: the index after its last point */
  double cost;                     /* sum of fab_fit_point_cost over its regimes' lines */
} FabFitCuts;

/* Standard deviation of the relative error of single points, from each point against the straight line between its
 * neighbours; the median, so that outlying points and the ends of regimes do not count. Never below half a percent.
 * */
double fab_fit_scale (const FabFitPoint *points, guint n);

/* The cost of one run as one regime. */
double fab_fit_run_cost (const FabFitPoint *points, guint n, const FabFitLimits *limits);

/* The number chosen by the criterion. At least FAB_FIT_MIN_POINTS points. */
FabFitCuts fab_fit_segments (const FabFitPoint *points, guint n, const FabFitLimits *limits);
