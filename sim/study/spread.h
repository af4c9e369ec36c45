/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - one scenario with several seeds: the figure in the middle, those at the ends, and which differences count.
 *
 *   point shown   the play with the median step: of n steps in ascending order number ceil (n / 2), so that it was
 *                 simulated and its figures belong together
 *   difference    of two points, seed by seed: the other's figure with a seed less the base's with the same seed. It
 *                 counts when it has the same sign with every seed; otherwise it lies within the spread.
 *
 * Where two points are in truth alike, n independent differences have one sign with probability 2^(1 - n): 0.8 % for
 * the eight seeds that studies play by themselves (the sign test). A point whose figures do not depend on the seed was
 * simulated once and counts as equal with every seed.
 */
#pragma once

#include "sim/study/point.h"

enum {
  FAB_SPREAD_SEEDS = 8, /* that studies play by themselves where the figures depend on the seed */
  FAB_SPREAD_AUTO = 0,  /* as many, and one where they do not depend on it */
  /* Where a play needs more events (packet by packet, about 10 s), studies play one seed by themselves; its verdict
   * says that there are others. */
  FAB_SPREAD_EVENTS = 20000000,
  FAB_SPREAD_MOST = 10000,
};

typedef struct {
  guint n; /* seeds; 1: the other three are the same */
  double low, median, high;
} FabSpread;

/* The figure over all seeds of a point. */
FabSpread fab_spread_of (const FabFigure *figure, const FabPoint *point);

typedef struct {
  guint n; /* seeds */
  double low, median, high;
  gboolean is_real; /* it counts; FALSE: it lies within the spread, or there is none */
} FabDifference;

/* `other` less `base`, in the figure's unit. */
FabDifference fab_spread_difference (const FabFigure *figure, const FabPoint *base, const FabPoint *other);
/* As a fraction of the base; where the base is 0 the difference is 0 and does not count. */
FabDifference fab_spread_change (const FabFigure *figure, const FabPoint *base, const FabPoint *other);

/* Returns which of the plays of several seeds has the median step. */
guint fab_spread_median (const GPtrArray *draws);

/* Joins the plays of several seeds, in the order of seeds (transfer full): a copy of the one with the median step,
 * which holds them. One play stays itself. (transfer full) */
FabPoint *fab_spread_join (GPtrArray *draws);
