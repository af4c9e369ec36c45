/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h - times by size as regimes, some sizes held out to judge them.
 *
 * Held out is every third size from the third on (hold_out 1/3; the ends never): the choice depends on the order of
 * the sizes only. All numbers come from the rest; what the curve says of held-out sizes is its error where it did
 * not look.
 */
#pragma once

#include "sim/base/units.h"
#include "validate/fit/refine.h"

typedef enum {
  FAB_FIT_FITTED,   /* the numbers come from these sizes */
  FAB_FIT_HELD_OUT, /* and not from these */
  FAB_FIT_OUTSIDE,  /* below or above every size that was measured: an extrapolation */
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

/* |error| of some rows. */
typedef struct {
  guint n;
  double median_fraction, max_fraction; /* 0 when n is 0 */
  FabBytes max_size_bytes;
} FabFitErrors;

typedef struct {
  GArray *rows; /* FabFitRow, sizes ascending */
  guint n_regimes;
  FabFitRegime regimes[FAB_FIT_MAX_REGIMES];
  FabBytes up_to_bytes[FAB_FIT_MAX_REGIMES]; /* of the last: the largest size that was fitted */
  double scatter_fraction;                   /* deviation of a single size from its line */
  FabFitErrors errors[FAB_N_FIT_PARTS];      /* nothing is outside */
} FabFitCurve;

/* Whether a message of that size can take that time at all; *error says what is wrong. */
gboolean fab_fit_check_point (const FabFitPoint *point, GError **error);

/* `hold_out` 0: none; below 1/2. Refused: fewer than FAB_FIT_MIN_SIZES sizes left to fit; a fifth of the sizes or
 * more twice as fast as a tenth of them. Points of one size are taken together as their median. */
enum { FAB_FIT_MIN_SIZES = 4 };

/* Sorted by size, one point a size: the median of those that share it. GArray of FabFitPoint. (transfer full) */
GArray *fab_fit_merge_sizes (const FabFitPoint *points, guint n);

FabFitCurve *fab_fit_curve_new (const FabFitPoint *points, guint n, double hold_out, GError **error);
void fab_fit_curve_free (FabFitCurve *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFitCurve, fab_fit_curve_free)

guint fab_fit_curve_regime (const FabFitCurve *self, double size_bytes);
double fab_fit_curve_time_ps (const FabFitCurve *self, double size_bytes);

/* Bytes per second of a regime, and half of its 95 % interval. */
double fab_fit_regime_rate (const FabFitRegime *regime);
double fab_fit_regime_rate_half (const FabFitRegime *regime);
/* Whether the points of the regime tell its rate at all: it is within a factor of two. */
gboolean fab_fit_regime_has_rate (const FabFitRegime *regime);

/* Of the rows of a part. */
FabFitErrors fab_fit_errors (const GArray *rows, FabFitPart part);
