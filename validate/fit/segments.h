/* SPDX-License-Identifier: Apache-2.0 */
/* segments.h - decides how many regimes a curve has and where each ends.
 *
 * Dynamic programming finds, of all ways to cut the points (sorted by size) into k runs of at least FAB_FIT_MIN_POINTS,
 * the one of least cost. The Bayesian information criterion chooses k. Each regime has three parameters (overhead,
 * rate, end); the end counts twice because it is the best of many:
 *
 *   n ln (cost / n + floor^2) + (4 k - 1) ln n
 *
 * `floor` is half a percent: real curves are not straighter than that, so no regime is added to come closer.
 */
#pragma once

#include "validate/fit/line.h"

enum { FAB_FIT_MIN_POINTS = 3, FAB_FIT_MAX_REGIMES = 6 };

typedef struct {
  guint n_regimes;
  guint ends[FAB_FIT_MAX_REGIMES]; /* index after the last point of each regime */
  double cost;                     /* sum of fab_fit_point_cost over the lines of all regimes */
} FabFitCuts;

/* Estimates the standard deviation of the relative error of single points: the median deviation of each point from the
 * straight line between its neighbours, so that outliers and the ends of regimes do not count. Returns at least half a
 * percent. */
double fab_fit_scale (const FabFitPoint *points, guint n);

/* Returns the cost of a run fitted as one regime. */
double fab_fit_run_cost (const FabFitPoint *points, guint n, const FabFitLimits *limits);

/* Cuts the points, at least FAB_FIT_MIN_POINTS, into the number of regimes that the criterion chooses. */
FabFitCuts fab_fit_segments (const FabFitPoint *points, guint n, const FabFitLimits *limits);
