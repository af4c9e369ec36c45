/* SPDX-License-Identifier: Apache-2.0 */
/* refine.h - fits the final line of each regime, and its uncertainty.
 *
 * Intervals are 95 % of Student's t. The degrees of freedom are the points of the regime (of all regimes where it has
 * few) less the number of parameters: the error is the deviation of sizes from the line, not the spread of the
 * thousands of samples of one size. A line that does not follow the link's curve therefore has wide intervals.
 */
#pragma once

#include "validate/fit/segments.h"

typedef struct {
  FabFitLine line;
  guint first, end;             /* indices of its points; `end` is not included */
  double overhead_half_ps;      /* half of the 95 % interval */
  double ps_per_byte_half;      /* the same of ps_per_byte */
  gboolean is_without_overhead; /* the fit ended at the bound overhead = 0 */
  gboolean is_without_rate;     /* it ended at min_ps_per_byte: the points do not determine the rate */
} FabFitRegime;

/* Returns the two-sided 95 % quantile of Student's t. */
double fab_fit_student_95 (guint degrees);

/* Writes cuts->n_regimes regimes. Returns the standard deviation of the relative error of a point. */
double fab_fit_refine (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
                       FabFitRegime *regimes);
