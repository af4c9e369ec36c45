/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h - fits times by message size with regimes, and judges them by sizes that are held out.
 *
 * With hold_out 1/3 every third size from the third on is held out, never the smallest or the largest: the choice
 * depends only on the order of the sizes. All parameters come from the other sizes, so the error at held-out sizes is
 * that of a prediction.
 */
#pragma once

#include <glib.h>

#include "validate/check/errors.h"

typedef struct {
  double size_bytes, time_ps; /* both > 0 */
} FabFitPoint;

typedef struct {
  double overhead_ps, ps_per_byte;
} FabFitLine;

double fab_fit_line_time_ps (const FabFitLine *line, double size_bytes);

/* Decides how many regimes a curve has and where each ends.
 *
 * Dynamic programming finds, of all ways to cut the points (sorted by size) into k runs of at least
 * FAB_FIT_MIN_POINTS, the one of least cost. The Bayesian information criterion chooses k. Each regime has three
 * parameters (overhead, rate, end); the end counts twice because it is the best of many:
 *
 *   n ln (cost / n + floor^2) + (4 k - 1) ln n
 *
 * `floor` is half a percent: real curves are not straighter than that, so no regime is added to come closer.
 */
enum { FAB_FIT_MIN_POINTS = 3, FAB_FIT_MAX_REGIMES = 6 };

/* Fits the final line of each regime, and its uncertainty.
 *
 * Intervals are 95 % of Student's t. The degrees of freedom are the points of the regime (of all regimes where it has
 * few) less the number of parameters: the error is the deviation of sizes from the line, not the spread of the
 * thousands of samples of one size. A line that does not follow the link's curve therefore has wide intervals.
 */
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

typedef enum {
  FAB_FIT_FITTED,   /* the size was used to fit the parameters */
  FAB_FIT_HELD_OUT, /* the size was measured, and not used */
  FAB_FIT_OUTSIDE,  /* the size is below or above every measured one: an extrapolation */
  FAB_N_FIT_PARTS,
} FabFitPart;

extern const char *const fab_fit_part_names[FAB_N_FIT_PARTS]; /* "fitted", "held-out", "outside" */

typedef struct {
  FabBytes size_bytes;
  double measured_ps, predicted_ps;
  double error_fraction; /* predicted / measured - 1 */
  double band_fraction;  /* half of the prediction's 95 % interval; 0: not known */
  FabFitPart part;
} FabFitRow;

typedef struct {
  GArray *rows; /* FabFitRow, sizes ascending */
  guint n_regimes;
  FabFitRegime regimes[FAB_FIT_MAX_REGIMES];
  /* where each regime ends; for the last one the largest size that was fitted */
  FabBytes up_to_bytes[FAB_FIT_MAX_REGIMES];
  double scatter_fraction;           /* standard deviation of the relative error of a single size */
  FabErrors errors[FAB_N_FIT_PARTS]; /* no row of a curve is outside */
} FabFitCurve;

/* Says whether a message of that size can take that time; if not, *error says why. */
gboolean fab_fit_check_point (const FabFitPoint *point, GError **error);

/* The fewest sizes that a curve can be fitted to. */
enum { FAB_FIT_MIN_SIZES = 4 };

/* Sorts by size and replaces the points of one size by their median. Returns a GArray of FabFitPoint. (transfer
 * full) */
GArray *fab_fit_merge_sizes (const FabFitPoint *points, guint n);

/* Fits the points. `hold_out` is the fraction to hold out, below 1/2; 0: none. Points of one size count as their
 * median. Fails when fewer than FAB_FIT_MIN_SIZES sizes are left to fit, and when at least a fifth of the sizes take
 * less than half the time of messages a tenth as long, which no link does. (transfer full) */
FabFitCurve *fab_fit_curve_new (const FabFitPoint *points, guint n, double hold_out, GError **error);
void fab_fit_curve_free (FabFitCurve *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFitCurve, fab_fit_curve_free)
double fab_fit_curve_time_ps (const FabFitCurve *self, double size_bytes);

/* Returns bytes per second of a regime, and half of the 95 % interval of that rate. */
double fab_fit_regime_rate (const FabFitRegime *regime);
double fab_fit_regime_rate_half (const FabFitRegime *regime);

/* Says whether the points of the regime determine its rate to within a factor of two. */
gboolean fab_fit_regime_has_rate (const FabFitRegime *regime);

/* Summarises the rows of one part. */
FabErrors fab_fit_errors (const GArray *rows, FabFitPart part);
