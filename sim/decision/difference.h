/* SPDX-License-Identifier: Apache-2.0 */
/* difference.h - by how much one side of a decision differs from another, draw by draw.
 *
 *   change    of a draw: the other's figure over the base's with the same seed, less 1
 *   equal     a change of at most FAB_DIFFERENCE_LEAST, which is none
 *   median    the one in the middle of the changes of all draws; of an even number the mean of the middle two
 *   counts    the median is a change, and no draw changes the other way
 *
 * Where two sides are in truth alike, eight draws that all differ have one sign with probability 0.8 % (the sign test).
 * A side with one draw is the same with every seed.
 */
#pragma once

#include <glib.h>

#define FAB_DIFFERENCE_LEAST 5e-4 /* of the base; less is no difference */

typedef struct {
  guint n;                       /* draws */
  guint n_less, n_equal, n_more; /* of them, in which the other side has less, as much and more; n in sum */
  double low, median, high;      /* of the changes */
  gboolean counts;
} FabDifference;

/* Of the figures of two sides, in the order of draws. A base of 0 has no change. `is_relative` FALSE: the changes are
 * differences in the figure's unit. One of the numbers may be 1, and both are at least 1. */
FabDifference fab_difference_of (const double *base, guint n_base, const double *other, guint n_other,
                                 gboolean is_relative);

/* Says how many draws agree: "less with 6 of 8 seeds, as much with 2". `less`, `more`: "faster", "slower". (transfer
 * full) */
char *fab_difference_counts (const FabDifference *self, const char *less, const char *more);
