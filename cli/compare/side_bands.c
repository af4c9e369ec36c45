/* SPDX-License-Identifier: Apache-2.0 */
/* side_bands.c - how far steps that are held against each other may be off, as `compare` and `whatif` print it. */
#include <math.h>

#include "answer/study/cost.h"
#include "cli/compare/cmd_compare.h"
#include "sim/base/units.h"

static char *
show_time (double seconds)
{
  return fab_units_show (FAB_UNIT_TIME, round (seconds * (double) FAB_PS_PER_S));
}

static gboolean
has_bands (const GPtrArray *sides)
{
  for (guint i = 0; i < sides->len; i++)
    if (fab_sides_at (sides, i)->band != NULL)
      return TRUE;
  return FALSE;
}

/* "; change -31.5 to -2.3 %, most by collectives that differ". */
static void
append_change (GString *out, const FabSide *side)
{
  const FabPairedBand *band = &side->change;

  if (!fab_side_has_change (side))
    return;
  g_string_append_printf (out, "; change %+.1f to %+.1f %%, most by %s%s", fab_percent (band->low_fraction),
                          fab_percent (band->high_fraction), fab_paired_most (band),
                          fab_paired_may_be_none (band) ? ", possibly none" : "");
}

static void
append_amount (GString *out, const char *what, const FabMoney *range)
{
  g_autofree char *usd = fab_figure_show (FAB_FIGURE_MONEY, range->usd),
                  *low = fab_figure_show (FAB_FIGURE_MONEY, range->low_usd),
                  *high = fab_figure_show (FAB_FIGURE_MONEY, range->high_usd);

  if (range->usd > 0)
    g_string_append_printf (out, "%s %s (%s to %s)", what, usd, low, high);
}

static void
append_money (GString *out, const GPtrArray *sides)
{
  guint n = 0;

  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);
    const FabSpending *spending = side->point != NULL ? &side->point->spending : NULL;
    g_autofree char *name = fab_cli_printable (side->name);

    if (spending == NULL || spending->usd_per_hour <= 0)
      continue;
    FabMoney hour = { spending->usd_per_hour, spending->low_usd_per_hour, spending->high_usd_per_hour },
             tokens = fab_cost_range (side->point, side->band, spending->usd_per_million_tokens),
             train = fab_cost_range (side->point, side->band, spending->train_usd);
    if (n++ == 0)
      g_string_append (out, "\n  US dollars: prices and `cost` from low to high, times within their bands\n");
    g_string_append_printf (out, "    %s: ", name);
    append_amount (out, "an hour", &hour);
    append_amount (out, ", a million tokens", &tokens);
    append_amount (out, ", the training", &train);
    g_string_append_c (out, '\n');
  }
}

void
fab_compare_append_bands (GString *out, const GPtrArray *sides, guint base)
{
  if (!has_bands (sides))
    return;
  g_string_append (out, "\n  bands of the step\n");
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);
    g_autofree char *name = fab_cli_printable (side->name);

    if (side->band == NULL)
      continue;
    g_autofree char *low = show_time (side->band->low[0]), *high = show_time (side->band->high[0]);
    g_autofree char *about = fab_band_about (side->band, 0);
    g_string_append_printf (out, "    %s: %s to %s, %s", name, low, high, about);
    if (i != base)
      append_change (out, side);
    g_string_append_c (out, '\n');
  }
  append_money (out, sides);
}

void
fab_compare_add_bands (FabJson *json, const GPtrArray *sides, guint base)
{
  if (!has_bands (sides))
    return;
  fab_json_begin_array (json, "bands");
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->band == NULL)
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side->name);
    fab_json_add_real (json, "step_low_s", side->band->low[0]);
    fab_json_add_real (json, "step_high_s", side->band->high[0]);
    fab_json_add_real (json, "exposed_low_s", side->band->low[1]);
    fab_json_add_real (json, "exposed_high_s", side->band->high[1]);
    fab_band_add_json (side->band, json);
    if (i != base && fab_side_has_change (side)) {
      fab_json_add_real (json, "step_change_low_fraction", side->change.low_fraction);
      fab_json_add_real (json, "step_change_high_fraction", side->change.high_fraction);
      fab_json_add_text (json, "step_change_most", fab_paired_most (&side->change));
      fab_json_add_flag (json, "is_within_band", fab_paired_may_be_none (&side->change));
    }
    if (side->point->spending.usd_per_hour > 0) {
      FabMoney tokens = fab_cost_range (side->point, side->band,
                                        side->point->spending.usd_per_million_tokens);

      fab_json_add_real (json, "usd_per_hour_low", side->point->spending.low_usd_per_hour);
      fab_json_add_real (json, "usd_per_hour_high", side->point->spending.high_usd_per_hour);
      fab_json_add_real (json, "usd_per_million_tokens_low", tokens.low_usd);
      fab_json_add_real (json, "usd_per_million_tokens_high", tokens.high_usd);
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

gboolean
fab_compare_take_hold (const FabCompareOptions *o, FabStudy *study, GError **error)
{
  const FabFigure *figure = o->equal != NULL ? fab_figure_find (o->equal) : NULL;

  return fab_hold_take (study, o->hold, &figure, figure != NULL, error);
}

void
fab_compare_append_hold (GString *out, const FabStudy *study, const GPtrArray *sides)
{
  FabHoldRange range = { 0 };

  for (guint i = 0; i < sides->len; i++)
    fab_hold_range_add (&range, fab_sides_at (sides, i)->point);
  fab_hold_append (out, study, &range);
}
