/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/target.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/study/axis.h"

/* A bound of `days` without a unit is in days: days<=30. */
static gboolean
parse_bound (const FabFigure *figure, const char *name, const char *text, double *bound, GError **error)
{
  const char *unit;

  if (strcmp (name, "days") == 0 && fab_axis_split_number (text, bound, &unit) && *unit == '\0') {
    *bound *= 86400;
    return TRUE;
  }
  return fab_figure_parse (figure->kind, text, bound, error);
}

gboolean
fab_target_parse (const char *text, FabTarget *target, GError **error)
{
  const char *sign = strpbrk (text, "<>");
  g_autoptr (GError) cause = NULL;

  if (sign == NULL || sign[1] != '=')
    return fab_throw (error, FAB_ERROR_INPUT,
                      "'%s' is not a target; write for example exposed<=5%%, mfu>=40%%, step<=1.2s or "
                      "train<=30d",
                      text);
  g_autofree char *name = g_strstrip (g_strndup (text, (gsize) (sign - text)));
  g_autofree char *bound = g_strstrip (g_strdup (sign + 2));
  *target = (FabTarget){ .figure = fab_figure_find (name), .is_most = *sign == '<' };
  if (target->figure == NULL) {
    g_autofree char *names = fab_figure_names ();
    g_autofree char *note = fab_nearest_note (name, names);

    return fab_throw (error, FAB_ERROR_INPUT, "'%s': there is no figure '%s'%s; these are: %s", text, name,
                      note, names);
  }
  if (!parse_bound (target->figure, name, bound, &target->bound, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': %s", text, cause->message);
  return TRUE;
}

static gboolean
is_known (const FabFigure *figure, const FabPoint *point)
{
  return figure->is_known == NULL || figure->is_known (point);
}

/* Of all seeds, the value that is furthest on the wrong side. */
double
fab_target_worst (const FabTarget *target, const FabPoint *point)
{
  FabSpread spread = fab_spread_of (target->figure, point);

  return target->is_most ? spread.high : spread.low;
}

static gboolean
meets (const FabTarget *target, double value)
{
  return target->is_most ? value <= target->bound : value >= target->bound;
}

/* Returns the distance of a value from the bound, as a fraction of the bound. */
static double
gap_of (const FabTarget *target, const FabPoint *point, double value)
{
  double over = target->is_most ? value - target->bound : target->bound - value;

  if (!is_known (target->figure, point))
    return G_MAXDOUBLE;
  return target->bound > 0 ? over / target->bound : over;
}

gboolean
fab_target_is_met (const FabTarget *target, const FabPoint *point)
{
  return is_known (target->figure, point) && meets (target, fab_target_worst (target, point));
}

double
fab_target_gap (const FabTarget *target, const FabPoint *point)
{
  return gap_of (target, point, fab_target_worst (target, point));
}

char *
fab_target_write (const FabTarget *target)
{
  g_autofree char *bound = fab_figure_write (target->figure, target->bound);

  return g_strdup_printf ("%s %s %s", target->figure->name, target->is_most ? "<=" : ">=", bound);
}

gboolean
fab_targets_are_met (const FabTarget *targets, guint n, const FabPoint *point)
{
  for (guint i = 0; i < n; i++)
    if (!fab_target_is_met (&targets[i], point))
      return FALSE;
  return TRUE;
}

gboolean
fab_targets_are_met_by_some (const FabTarget *targets, guint n, const FabPoint *point)
{
  for (guint i = 0; i < n; i++) {
    FabSpread spread = fab_spread_of (targets[i].figure, point);

    if (!is_known (targets[i].figure, point)
        || !meets (&targets[i], targets[i].is_most ? spread.low : spread.high))
      return FALSE;
  }
  return TRUE;
}

double
fab_targets_middle_gap (const FabTarget *targets, guint n, const FabPoint *point)
{
  double gap = -G_MAXDOUBLE;

  for (guint i = 0; i < n; i++)
    gap = MAX (gap, gap_of (&targets[i], point, fab_spread_of (targets[i].figure, point).median));
  return gap;
}

double
fab_targets_gap (const FabTarget *targets, guint n, const FabPoint *point)
{
  double gap = -G_MAXDOUBLE;

  for (guint i = 0; i < n; i++)
    gap = MAX (gap, fab_target_gap (&targets[i], point));
  return gap;
}

char *
fab_targets_write (const FabTarget *targets, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_autofree char *one = fab_target_write (&targets[i]);

    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", one);
  }
  return g_string_free (text, FALSE);
}
