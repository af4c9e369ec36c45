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

int
fab_figure_compare_rounded (const FabFigure *figure, const FabPoint *a, const FabPoint *b)
{
  if (fab_figure_is_known (figure, a) && fab_figure_is_known (figure, b)) {
    double x = figure->value (a), y = figure->value (b);

    if (ABS (x - y) <= 1e-6 * MAX (ABS (x), ABS (y)))
      return 0;
  }
  return fab_figure_compare (figure, a, b);
}
