/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/target.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/study/axis.h"

/* Days and hours are how trainings are counted; the units of scenarios end at seconds. */
static gboolean
parse_time (const char *text, double *seconds, GError **error)
{
  static const struct {
    const char *unit;
    double seconds;
  } longer[] = { { "min", 60 }, { "h", 3600 }, { "d", 86400 }, { "days", 86400 } };
  const char *unit;
  gint64 ps;
  double number;

  for (guint i = 0; fab_axis_split_number (text, &number, &unit) && i < G_N_ELEMENTS (longer); i++)
    if (strcmp (unit, longer[i].unit) == 0) {
      *seconds = number * longer[i].seconds;
      return TRUE;
    }
  if (!fab_units_parse_whole (FAB_UNIT_TIME, text, &ps, error))
    return FALSE;
  *seconds = fab_ps_to_seconds (ps);
  return TRUE;
}

static gboolean
parse_bound (const FabFigure *figure, const char *text, double *bound, GError **error)
{
  gint64 whole;

  switch (figure->kind) {
  case FAB_FIGURE_TIME: return parse_time (text, bound, error);
  case FAB_FIGURE_FRACTION: return fab_units_parse_real (FAB_UNIT_FRACTION, text, bound, error);
  case FAB_FIGURE_BYTES:
    if (!fab_units_parse_whole (FAB_UNIT_BYTES, text, &whole, error))
      return FALSE;
    *bound = (double) whole;
    return TRUE;
  case FAB_FIGURE_RATE:
  default: return fab_units_parse_real (FAB_UNIT_FACTOR, text, bound, error);
  }
}

gboolean
fab_target_parse (const char *text, FabTarget *target, GError **error)
{
  const char *sign = strpbrk (text, "<>");
  g_autoptr (GError) cause = NULL;

  if (sign == NULL || sign[1] != '=')
    return fab_throw (error, FAB_ERROR_INPUT,
                      "'%s' is no target: exposed<=5%%, mfu>=40%%, step<=1.2s, train<=30d", text);
  g_autofree char *name = g_strstrip (g_strndup (text, (gsize) (sign - text)));
  g_autofree char *bound = g_strstrip (g_strdup (sign + 2));
  *target = (FabTarget){ .figure = fab_figure_find (name), .is_most = *sign == '<' };
  if (target->figure == NULL) {
    g_autofree char *names = fab_figure_names ();

    return fab_throw (error, FAB_ERROR_INPUT, "'%s': there is no figure '%s'; these are: %s", text, name,
                      names);
  }
  if (!parse_bound (target->figure, bound, &target->bound, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': %s", text, cause->message);
  return TRUE;
}

gboolean
fab_target_is_met (const FabTarget *target, const FabPoint *point)
{
  double value = target->figure->value (point);

  if (target->figure->is_known != NULL && !target->figure->is_known (point))
    return FALSE;
  return target->is_most ? value <= target->bound : value >= target->bound;
}

double
fab_target_gap (const FabTarget *target, const FabPoint *point)
{
  double value = target->figure->value (point), bound = target->bound;
  double over = target->is_most ? value - bound : bound - value;

  return bound > 0 ? over / bound : over;
}

/* As trainings are counted: days from two of them on, hours likewise. */
static char *
write_time (double seconds)
{
  if (seconds >= 2 * 86400)
    return g_strdup_printf ("%.4g days", seconds / 86400);
  if (seconds >= 2 * 3600)
    return g_strdup_printf ("%.4g hours", seconds / 3600);
  return fab_units_show (FAB_UNIT_TIME, seconds * FAB_PS_PER_S);
}

char *
fab_target_write (const FabTarget *target)
{
  static const FabUnit units[] = { [FAB_FIGURE_TIME] = FAB_UNIT_TIME,
                                   [FAB_FIGURE_FRACTION] = FAB_UNIT_FRACTION,
                                   [FAB_FIGURE_RATE] = FAB_UNIT_FACTOR,
                                   [FAB_FIGURE_BYTES] = FAB_UNIT_BYTES };
  gboolean is_time = target->figure->kind == FAB_FIGURE_TIME;
  g_autofree char *bound = is_time ? write_time (target->bound)
                                   : fab_units_show (units[target->figure->kind], target->bound);

  return g_strdup_printf ("%s %s %s", target->figure->name, target->is_most ? "<=" : ">=", bound);
}
