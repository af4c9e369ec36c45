/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/spread_text.h"

#include "sim/base/error.h"
#include "sim/study/better.h"

gboolean
fab_spread_parse (const char *text, guint usual, guint *n_seeds, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gint64 n = usual;

  if (text != NULL && !fab_units_parse_whole (FAB_UNIT_COUNT, text, &n, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: %s", text, cause->message);
  if (text != NULL && (n < 1 || n > FAB_SPREAD_MOST))
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: give a number from 1 to %d", text,
                      FAB_SPREAD_MOST);
  *n_seeds = (guint) n;
  return TRUE;
}

static guint
n_seeds (const FabPoint *point)
{
  return point != NULL && point->draws != NULL ? point->draws->len : 1;
}

guint
fab_spread_most (const FabPoint *const *points, guint n)
{
  guint most = 1;

  for (guint i = 0; i < n; i++)
    most = MAX (most, n_seeds (points[i]));
  return most;
}

char *
fab_spread_show (const FabFigure *figure, const FabPoint *point)
{
  if (n_seeds (point) == 1 || !fab_figure_is_known (figure, point))
    return g_strdup ("-");
  FabSpread spread = fab_spread_of (figure, point);
  if (spread.low >= spread.high)
    return g_strdup ("the same");
  if (figure->kind == FAB_FIGURE_FRACTION)
    return g_strdup_printf ("%.1f to %.1f %%", 100 * spread.low, 100 * spread.high);
  g_autofree char *low = fab_figure_show (figure->kind, spread.low),
                  *high = fab_figure_show (figure->kind, spread.high);
  return g_strconcat (low, " to ", high, NULL);
}

static FabDifference
step_change (const FabPoint *base, const FabPoint *point)
{
  return fab_spread_change (fab_figure_find ("step"), base, point);
}

double
fab_spread_step_change (const FabPoint *base, const FabPoint *point)
{
  return step_change (base, point).median;
}

char *
fab_spread_show_change (const FabPoint *base, const FabPoint *point)
{
  FabDifference change = step_change (base, point);

  return g_strdup_printf ("%+.1f to %+.1f %%", 100 * change.low, 100 * change.high);
}

gboolean
fab_spread_is_within (const FabFigure *figure, const FabPoint *base, const FabPoint *point)
{
  return MAX (n_seeds (base), n_seeds (point)) > 1 && !fab_spread_difference (figure, base, point).counts;
}

char *
fab_spread_words (const char *why, const char *base_name, const FabPoint *base, const char *name,
                  const FabPoint *point)
{
  guint n = MAX (n_seeds (base), n_seeds (point));
  FabDifference change = step_change (base, point);

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

void
fab_spread_append_note (GString *text, guint n)
{
  if (n > 1)
    g_string_append_printf (
        text, "\n  medians and ranges of %u seeds; changes are those of the same seed, and their median\n",
        n);
}

static void
add_spread (FabJson *json, const char *key, const FabSpread *spread)
{
  fab_json_begin_object (json, key);
  fab_json_add_real (json, "low", spread->low);
  fab_json_add_real (json, "median", spread->median);
  fab_json_add_real (json, "high", spread->high);
  fab_json_end (json);
}

/* Whether a sweep keeps the figure of every seed. */
static gboolean
is_time (const FabFigure *figure)
{
  static const char *const names[] = { "step", "exposed", "exposed_time", NULL };

  return g_strv_contains (names, figure->name);
}

void
fab_spread_add (FabJson *json, const FabPoint *point)
{
  if (n_seeds (point) == 1)
    return;
  fab_json_begin_object (json, "spread");
  fab_json_add_whole (json, "seeds", n_seeds (point));
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    FabSpread spread = fab_spread_of (figure, point);

    if (fab_figure_is_known (figure, point) && (!point->has_only_times || is_time (figure)))
      add_spread (json, figure->column, &spread);
  }
  fab_json_end (json);
}

void
fab_spread_add_change (FabJson *json, const FabPoint *base, const FabPoint *point)
{
  FabDifference change = step_change (base, point);

  if (change.n == 1)
    return;
  fab_json_begin_object (json, "difference");
  fab_json_add_whole (json, "seeds", change.n);
  fab_json_add_real (json, "low_fraction", change.low);
  fab_json_add_real (json, "median_fraction", change.median);
  fab_json_add_real (json, "high_fraction", change.high);
  fab_json_add_whole (json, "faster", change.n_less);
  fab_json_add_whole (json, "equal", change.n_equal);
  fab_json_add_whole (json, "slower", change.n_more);
  fab_json_add_flag (json, "counts", change.counts);
  fab_json_end (json);
}
