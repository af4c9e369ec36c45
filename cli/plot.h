/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - draws a figure over the tried values of a study on the terminal. */
#pragma once

#include "sim/study/target.h"

typedef struct {
  double at;    /* from 0 to 1, along the values */
  double value; /* of the figure */
  gboolean is_marked;
} FabPlotPoint;

/* Appends the curve through at least two points; `from` and `to` label its ends. */
void fab_plot_append (GString *text, const FabTarget *target, const FabPlotPoint *points, guint n,
                      const char *from, const char *to);
