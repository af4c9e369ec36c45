/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/hold_text.h"

gboolean
fab_hold_take (FabStudy *study, const char *text, const FabFigure *const *figures, guint n, GError **error)
{
  FabHold hold;

  if (text == NULL) {
    fab_hold_decide (study, figures, n);
    return TRUE;
  }
  if (!fab_hold_parse (text, &hold, error)) {
    g_prefix_error (error, "--hold: ");
    return FALSE;
  }
  if (fab_hold_ask (study, hold, error))
    return TRUE;
  g_prefix_error (error, "--hold batch: ");
  return FALSE;
}

/* Why the global batch is held; "" where a person asked for it. (transfer full) */
static char *
why_held (const FabStudy *study)
{
  if (study->held_for != NULL)
    return g_strdup_printf (", because %s is of the whole training", study->held_for->name);
  return g_strdup (study->hold == FAB_HOLD_WRITTEN ? ", because the job writes it down" : "");
}

void
fab_hold_append_as (GString *text, const char *hold, const char *why, const FabHoldRange *range)
{
  gboolean is_one = range->least_sequences == range->most_sequences;

  if (range->least_ranks == range->most_ranks || range->most_sequences == 0)
    return;
  if (g_strcmp0 (hold, "batch") == 0 && is_one)
    g_string_append_printf (
        text,
        "  The global batch is held at %" G_GUINT64_FORMAT
        " sequences (strong scaling)%s; --hold micro_batch lets it grow with the ranks.\n",
        range->most_sequences, why);
  else if (g_strcmp0 (hold, "micro_batch") == 0 && !is_one)
    g_string_append_printf (text,
                            "  The global batch grows with the ranks, from %" G_GUINT64_FORMAT
                            " to %" G_GUINT64_FORMAT " sequences (weak scaling); --hold batch holds it.\n",
                            range->least_sequences, range->most_sequences);
  else if (is_one)
    g_string_append_printf (text, "  The global batch is %" G_GUINT64_FORMAT " sequences everywhere.\n",
                            range->most_sequences);
  else
    g_string_append_printf (text,
                            "  The global batch is from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                            " sequences: each alternative has its own.\n",
                            range->least_sequences, range->most_sequences);
}

void
fab_hold_append (GString *text, const FabStudy *study, const FabHoldRange *range)
{
  g_autofree char *why = study != NULL ? why_held (study) : g_strdup ("");
  FabHoldRange seen = *range;

  /* Held by itself, a batch that cannot be divided leaves variants out, which must be said too. */
  if (study != NULL && study->held_for != NULL && range->n_missing > 0)
    seen.least_ranks = 0;
  fab_hold_append_as (text, study != NULL ? fab_hold_of (study) : NULL, why, &seen);
}

void
fab_hold_append_points (GString *text, const FabStudy *study, const FabPoints *points)
{
  FabHoldRange range = { 0 };

  for (guint i = 0; i < points->rows->len; i++)
    fab_hold_range_add (&range, fab_points_row (points, i)->point);
  fab_hold_append (text, study, &range);
}
