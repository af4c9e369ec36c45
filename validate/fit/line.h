/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - one regime: T(m) = overhead + m x ps_per_byte, nearest to its points in relative error.
 *
 *   r_i = T(m_i) / t_i - 1      what is made small; overhead >= 0, ps_per_byte >= min_ps_per_byte
 *
 * Robust after Huber: a point farther than 1.345 scales counts by its distance, not by the square of it. Linear in
 * the parameters, so a few weighted least squares in closed form do it.
 */
#pragma once

#include <glib.h>

typedef struct {
  double size_bytes, time_ps; /* both > 0 */
} FabFitPoint;

typedef struct {
  double overhead_ps, ps_per_byte;
} FabFitLine;

typedef struct {
  double scale_fraction;  /* of the residuals: their standard deviation without outlying points; > 0 */
  double min_ps_per_byte; /* no link is faster than this; > 0 */
} FabFitLimits;

extern const double fab_fit_huber; /* in scales */

/* Rounds of least squares at most: while it is searched where regimes end, and for the line of a regime that was found.
 * Each round weights the points anew; where many lie near 1.345 scales it takes hundreds until nothing moves. */
enum { FAB_FIT_SEARCH_ROUNDS = 30, FAB_FIT_LINE_ROUNDS = 1000 };

/* At least 2 points of different sizes for both parameters to be determined; one is enough for some answer. */
FabFitLine fab_fit_line (const FabFitPoint *points, guint n, const FabFitLimits *limits, guint max_rounds);

double fab_fit_line_time_ps (const FabFitLine *line, double size_bytes);
double fab_fit_line_residual (const FabFitLine *line, const FabFitPoint *point);

/* What a point adds to the cost of a regime: its squared residual, at most that of 4 scales, so that no regime is
 * made to please an outlying point. */
double fab_fit_point_cost (const FabFitLine *line, const FabFitPoint *point, double scale_fraction);
