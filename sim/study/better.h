/* SPDX-License-Identifier: Apache-2.0 */
/* better.h - which of two points is to be preferred, by a figure. */
#pragma once

#include "sim/study/point.h"

/* The point has the figure: it was played, and its job has such a thing. */
gboolean fab_figure_is_known (const FabFigure *figure, const FabPoint *point);

/* Below 0: `a` is to be preferred to `b`, which may be NULL or without the figure; 0: neither is. */
int fab_figure_compare (const FabFigure *figure, const FabPoint *a, const FabPoint *b);
