/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - one scenario with several seeds: the figure in the middle, those at the ends, and which differences count.
 *
 *   point shown   the play with the median step: of n steps in ascending order number ceil (n / 2), so that it was
 *                 simulated and its figures belong together
 *   difference    of two points, seed by seed (sim/decision/difference.h)
 *
 * A point whose figures do not depend on the seed was simulated once and is the same with every seed.
 */
#pragma once

#include "sim/decision/difference.h"
#include "sim/decision/draw.h"
#include "sim/study/point.h"

enum {
  FAB_SPREAD_AUTO = 0, /* seeds of a study: FAB_DRAWS where the figures depend on the seed, else one */
  FAB_SPREAD_MOST = 10000,
};

typedef struct {
  guint n; /* seeds; 1: the other three are the same */
  double low, median, high;
} FabSpread;

/* The figure over all seeds of a point. */
FabSpread fab_spread_of (const FabFigure *figure, const FabPoint *point);

/* `other` less `base`, in the figure's unit. */
FabDifference fab_spread_difference (const FabFigure *figure, const FabPoint *base, const FabPoint *other);
/* As a fraction of the base; where the base is 0 the difference is 0 and does not count. */
FabDifference fab_spread_change (const FabFigure *figure, const FabPoint *base, const FabPoint *other);

/* Returns which of the plays of several seeds has the median step. */
guint fab_spread_median (const GPtrArray *draws);

/* Joins the plays of several seeds, in the order of seeds (transfer full): a copy of the one with the median step,
 * which holds them. One play stays itself. (transfer full) */
FabPoint *fab_spread_join (GPtrArray *draws);
