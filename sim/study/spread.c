/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/spread.h"

#include "sim/base/order.h"
#include "sim/base/stats.h"

static guint
n_draws (const FabPoint *point)
{
  return point->draws != NULL ? point->draws->len : 1;
}

/* With seed number `index`; a point that was simulated once is the same with all. */
static const FabPoint *
draw_at (const FabPoint *point, guint index)
{
  return point->draws != NULL ? g_ptr_array_index (point->draws, MIN (index, point->draws->len - 1)) : point;
}

/* Sorts the values. */
static FabSpread
summarise (GArray *values)
{
  g_array_sort (values, fab_order_doubles);
  return (FabSpread){ values->len, g_array_index (values, double, 0),
                      g_array_index (values, double, fab_nearest_rank (values->len, 0.5)),
                      g_array_index (values, double, values->len - 1) };
}

FabSpread
fab_spread_of (const FabFigure *figure, const FabPoint *point)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < n_draws (point); i++) {
    double value = figure->value (draw_at (point, i));

    g_array_append_val (values, value);
  }
  return summarise (values);
}

/* The figure with every seed. */
static double *
values_of (const FabFigure *figure, const FabPoint *point)
{
  double *values = g_new (double, n_draws (point));

  for (guint i = 0; i < n_draws (point); i++)
    values[i] = figure->value (draw_at (point, i));
  return values;
}

static FabDifference
difference (const FabFigure *figure, const FabPoint *base, const FabPoint *other, gboolean is_relative)
{
  g_autofree double *before = values_of (figure, base), *after = values_of (figure, other);

  return fab_difference_of (before, n_draws (base), after, n_draws (other), is_relative);
}

FabDifference
fab_spread_difference (const FabFigure *figure, const FabPoint *base, const FabPoint *other)
{
  return difference (figure, base, other, FALSE);
}

FabDifference
fab_spread_change (const FabFigure *figure, const FabPoint *base, const FabPoint *other)
{
  return difference (figure, base, other, TRUE);
}

guint
fab_spread_median (const GPtrArray *draws)
{
  g_autofree double *steps_s = g_new (double, draws->len);

  for (guint i = 0; i < draws->len; i++)
    steps_s[i] = ((const FabPoint *) g_ptr_array_index (draws, i))->step_s;
  return fab_draw_median (steps_s, draws->len);
}

/* The verdict on one seed says that there are others; the one on all says how far they spread. */
static void
say_spread (FabPoint *self)
{
  const FabFinding *single = fab_verdict_find (self->verdict, FAB_FINDING_SPREAD);
  FabSpread step = fab_spread_of (fab_figure_find ("step"), self);

  if (single == NULL)
    return;
  g_array_remove_index (self->verdict->findings,
                        (guint) (single - (const FabFinding *) (gpointer) self->verdict->findings->data));
  if (step.low >= step.high)
    return;
  g_autofree char *low = fab_figure_show (FAB_FIGURE_TIME, step.low),
                  *high = fab_figure_show (FAB_FIGURE_TIME, step.high);
  fab_verdict_add (
      self->verdict, FAB_FINDING_SPREAD,
      g_strdup_printf ("With %u seeds the step is %s to %s; the figures are those of the seed with the "
                       "median step.",
                       step.n, low, high),
      NULL);
}

FabPoint *
fab_spread_join (GPtrArray *draws)
{
  FabPoint *median = g_ptr_array_index (draws, fab_spread_median (draws));

  if (draws->len == 1) {
    g_ptr_array_set_free_func (draws, NULL);
    g_ptr_array_unref (draws);
    return median;
  }
  median = fab_point_copy (median);
  median->draws = draws;
  say_spread (median);
  return median;
}
