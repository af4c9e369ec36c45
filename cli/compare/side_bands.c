/* SPDX-License-Identifier: Apache-2.0 */
/* side_bands.c - how far steps that are held against each other may be off, as `compare` and `whatif` print it. */
#include <math.h>

#include "cli/compare/cmd_compare.h"

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

static void
append_change (GString *out, const FabSide *base, const FabSide *side)
{
  FabBandChange change;

  if (side == base || !fab_side_change (base, side, &change))
    return;
  g_string_append_printf (out, "; change %+.1f to %+.1f %%%s", 100 * change.low_fraction,
                          100 * change.high_fraction,
                          fab_band_change_may_be_none (&change) ? ": within the band, there may be none"
                          : change.is_together                  ? ""
                                                                : ", each with errors of its own");
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
    append_change (out, fab_sides_at (sides, base), side);
    g_string_append_c (out, '\n');
  }
}

void
fab_compare_add_bands (FabJson *json, const GPtrArray *sides, guint base)
{
  if (!has_bands (sides))
    return;
  fab_json_begin_array (json, "bands");
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);
    FabBandChange change;

    if (side->band == NULL)
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side->name);
    fab_json_add_real (json, "step_low_s", side->band->low[0]);
    fab_json_add_real (json, "step_high_s", side->band->high[0]);
    fab_json_add_real (json, "exposed_low_s", side->band->low[1]);
    fab_json_add_real (json, "exposed_high_s", side->band->high[1]);
    fab_band_add_json (side->band, json);
    if (i != base && fab_side_change (fab_sides_at (sides, base), side, &change)) {
      fab_json_add_real (json, "step_change_low_fraction", change.low_fraction);
      fab_json_add_real (json, "step_change_high_fraction", change.high_fraction);
      fab_json_add_flag (json, "is_within_band", fab_band_change_may_be_none (&change));
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}
