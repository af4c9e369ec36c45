/* SPDX-License-Identifier: Apache-2.0 */
/* refine.h - each regime's line and how sure it is.
 *
 * Intervals are 95 %, of Student's t with the points of the regime (of all where it has few) less the parameters as
 * degrees of freedom: what varies from size to size is the error, not what varies between samples of one size, of
 * which there are thousands. A model that does not bend as the link does has wide intervals, as it should.
 */
#pragma once

#include "validate/fit/segments.h"

typedef struct {
  FabFitLine line;
  guint first, end;             /* of its points */
  double overhead_half_ps;      /* half of the 95 % interval */
  double ps_per_byte_half;      /* likewise */
  gboolean is_without_overhead; /* at the bound: overhead 0 */
  gboolean is_without_rate;     /* at the bound: the points do not tell the rate */
} FabFitRegime;

/* Two-sided 95 % quantile of Student's t. */
double fab_fit_student_95 (guint degrees);

/* Fills cuts->n_regimes regimes; returns the standard deviation of a point's relative error. */
double fab_fit_refine (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
                       FabFitRegime *regimes);
