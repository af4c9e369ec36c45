/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/better.h"

gboolean
fab_figure_is_known (const FabFigure *figure, const FabPoint *point)
{
  return point != NULL && point->step_s > 0 && (figure->is_known == NULL || figure->is_known (point));
}

int
fab_figure_compare (const FabFigure *figure, const FabPoint *a, const FabPoint *b)
{
  gboolean has_a = fab_figure_is_known (figure, a), has_b = fab_figure_is_known (figure, b);

  if (!has_a || !has_b)
    return (int) has_b - (int) has_a;
  double x = figure->value (a), y = figure->value (b);
  int less = (x > y) - (x < y);
  return figure->is_gain ? -less : less;
}
