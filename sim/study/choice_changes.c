/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/choice_changes.h"

#include <string.h>

static const double least_share = 0.05; /* of the time of all collectives */
static const double least_slowdown = 0.01;

static double
total_seconds (const GArray *choices)
{
  double sum = 0;

  for (guint i = 0; i < choices->len; i++)
    sum += g_array_index (choices, FabChoice, i).seconds;
  return sum;
}

/* The choice that took longest for this work; NULL: there is no such work. */
static const FabChoice *
find_work (const GArray *choices, const FabChoice *work)
{
  for (guint i = 0; i < choices->len; i++)
    if (fab_choice_is_same_work (&g_array_index (choices, FabChoice, i), work))
      return &g_array_index (choices, FabChoice, i);
  return NULL;
}

GArray *
fab_choice_changes (const FabPoint *before, const FabPoint *after)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (FabChoiceChange));

  if (before->choices == NULL || after->choices == NULL)
    return changes;
  double least_before_s = least_share * total_seconds (before->choices),
         least_after_s = least_share * total_seconds (after->choices);
  for (guint i = 0; i < after->choices->len; i++) {
    const FabChoice *now = &g_array_index (after->choices, FabChoice, i);
    const FabChoice *then = find_work (before->choices, now);

    if (then == NULL || find_work (after->choices, now) != now || fab_choice_is_same (then, now)
        || (then->seconds < least_before_s && now->seconds < least_after_s))
      continue;
    g_array_append_val (changes, ((FabChoiceChange){ then, now }));
  }
  return changes;
}

double
fab_choice_slowdown (const FabPoint *before, const FabPoint *after)
{
  double longer = before->step_s > 0 ? after->step_s / before->step_s - 1 : 0;

  return longer > least_slowdown ? longer : 0;
}

char *
fab_choice_reason (const FabPoint *before, const FabPoint *after, const FabChoiceChange *change)
{
  double compute_s = after->compute_s - before->compute_s, exposed_s = after->exposed_s - before->exposed_s;
  gboolean is_compute = compute_s > exposed_s;
  g_autofree char *time = fab_figure_show (FAB_FIGURE_TIME, MAX (compute_s, exposed_s));

  if (is_compute && change->after->n_channels > change->before->n_channels)
    return g_strdup_printf ("%u channels occupy multiprocessors in place of %u, and compute takes %s longer",
                            change->after->n_channels, change->before->n_channels, time);
  if (is_compute)
    return g_strdup_printf ("compute takes %s longer beside these collectives", time);
  return g_strdup_printf ("%s more of the communication is exposed", time);
}

char *
fab_choice_words (const FabChoiceChange *change)
{
  const FabChoice *now = change->after, *then = change->before;
  g_autofree char *size = fab_figure_show (FAB_FIGURE_BYTES, (double) now->bytes);
  gboolean has_protocols = strcmp (now->protocol, then->protocol) != 0;

  return g_strdup_printf ("%s of %s by %s%s%s with %u %s in place of %s%s%s with %u", now->op, size,
                          now->algorithm, has_protocols ? " " : "", has_protocols ? now->protocol : "",
                          now->n_channels, now->n_channels == 1 ? "channel" : "channels", then->algorithm,
                          has_protocols ? " " : "", has_protocols ? then->protocol : "", then->n_channels);
}
