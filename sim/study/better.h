/* SPDX-License-Identifier: Apache-2.0 */
/* better.h - compares two points by a figure. */
#pragma once

#include "sim/study/point.h"

/* Whether the point has the figure: it was simulated, and the figure applies to its job. */
gboolean fab_figure_is_known (const FabFigure *figure, const FabPoint *point);

/* Returns a value below 0 when `a` is better than `b`, 0 when neither is better. `b` may be NULL or without the
 * figure. */
int fab_figure_compare (const FabFigure *figure, const FabPoint *a, const FabPoint *b);

/* The same, where values that differ by a millionth or less are equal: ends of steps are rounded to picoseconds, so
 * that a setting without effect may seem to have one. It is no order to sort by. */
int fab_figure_compare_rounded (const FabFigure *figure, const FabPoint *a, const FabPoint *b);
