/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - fits one regime, T(m) = overhead + m x ps_per_byte, with the least relative error.
 *
 *   r_i = T(m_i) / t_i - 1      is minimised; overhead >= 0, ps_per_byte >= min_ps_per_byte
 *
 * Huber's loss keeps single outliers from bending the line: a point farther than 1.345 scales counts by its distance,
 * not by its square. T is linear in both parameters, so a few weighted least squares in closed form find them.
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
  double scale_fraction;  /* standard deviation of the residuals without outliers; > 0 */
  double min_ps_per_byte; /* the time per byte of the fastest link there can be; > 0 */
} FabFitLimits;

extern const double fab_fit_huber; /* 1.345, in scales */

/* The most rounds of least squares: while the ends of regimes are searched, and for the line of a regime that was
 * found. Each round weights the points anew; where many points lie near 1.345 scales it can take hundreds of rounds
 * until the line no longer moves. */
enum { FAB_FIT_SEARCH_ROUNDS = 30, FAB_FIT_LINE_ROUNDS = 1000 };

/* Fits a line. Two points of different sizes determine both parameters; with one point the line passes through it. */
FabFitLine fab_fit_line (const FabFitPoint *points, guint n, const FabFitLimits *limits, guint max_rounds);

double fab_fit_line_time_ps (const FabFitLine *line, double size_bytes);
double fab_fit_line_residual (const FabFitLine *line, const FabFitPoint *point);

/* Returns what a point adds to the cost of a regime: its squared residual, but at most that of 4 scales, so that no
 * regime is chosen for the sake of one outlier. */
double fab_fit_point_cost (const FabFitLine *line, const FabFitPoint *point, double scale_fraction);
