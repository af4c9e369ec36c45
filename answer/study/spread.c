/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/spread.h"
#include "sim/base/units.h"

guint
fab_spread_n_seeds (const FabPoint *point)
{
  return point != NULL && point->draws != NULL ? point->draws->len : 1;
}

FabDifference
fab_spread_step_change (const FabPoint *base, const FabPoint *point)
{
  return fab_spread_change (fab_figure_find ("step"), base, point);
}

char *
fab_spread_show_change (const FabPoint *base, const FabPoint *point)
{
  FabDifference change = fab_spread_step_change (base, point);

  return g_strdup_printf ("%+.1f to %+.1f %%", fab_percent (change.low), fab_percent (change.high));
}

gboolean
fab_spread_is_within (const FabFigure *figure, const FabPoint *base, const FabPoint *point)
{
  return MAX (fab_spread_n_seeds (base), fab_spread_n_seeds (point)) > 1
      && !fab_spread_difference (figure, base, point).counts;
}

char *
fab_spread_words (const char *why, const char *base_name, const FabPoint *base, const char *name,
                  const FabPoint *point)
{
  guint n = MAX (fab_spread_n_seeds (base), fab_spread_n_seeds (point));
  FabDifference change = fab_spread_step_change (base, point);

  if (n == 1)
    return g_strdup (why);
  g_autofree char *range = fab_spread_show_change (base, point),
                  *counts = fab_difference_counts (&change, "faster", "slower");
  if (change.n_equal == n)
    return g_strdup_printf ("%s and %s have the same step with each of %u seeds.", name, base_name, n);
  if (!change.counts)
    return g_strdup_printf (
        "The seeds do not decide between %s and %s: %s is %s. The step changes by %s, %+.1f %% in the "
        "median.",
        name, base_name, name, counts, range, 100 * change.median);
  return g_strdup_printf ("%s It is %s: the step changes by %s.", why, counts, range);
}
