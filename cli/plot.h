/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - a curve of a study on the terminal: what a figure is over the values that were tried. */
#pragma once

#include "sim/study/target.h"

typedef struct {
  double at;    /* from 0 to 1, along the values */
  double value; /* of the figure */
  gboolean is_marked;
} FabPlotPoint;

/* Of two points or more; `from` and `to` are what stands below its ends. */
void fab_plot_append (GString *text, const FabTarget *target, const FabPlotPoint *points, guint n,
                      const char *from, const char *to);
