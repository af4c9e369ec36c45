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

char *
fab_spread_show (const FabFigure *figure, const FabPoint *point)
{
  if (fab_spread_n_seeds (point) == 1 || !fab_figure_is_known (figure, point))
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
  if (fab_spread_n_seeds (point) == 1)
    return;
  fab_json_begin_object (json, "spread");
  fab_json_add_whole (json, "seeds", fab_spread_n_seeds (point));
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
  FabDifference change = fab_spread_step_change (base, point);

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
