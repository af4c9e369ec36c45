/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/config/schema_scalar.h"

#include <string.h>

#include "sim/base/nearest.h"

static const gint64 most_watts = 1000000;

char *
fab_schema_parse_power (const char *key, const char *text, FabPower *field)
{
  g_autofree char *number = g_strchomp (g_strdup (text));
  gboolean is_watts = g_str_has_suffix (number, "W");

  *field = (FabPower){ 0 };
  if (is_watts)
    number[strlen (number) - 1] = '\0';
  if (is_watts
          ? fab_units_parse_whole (FAB_UNIT_COUNT, g_strchomp (number), &field->watts, NULL)
                && field->watts >= 1 && field->watts <= most_watts
          : fab_units_parse_real (FAB_UNIT_FRACTION, number, &field->fraction, NULL) && field->fraction > 0)
    return NULL;
  return g_strdup_printf ("'%s' is '%s'; write whole watts such as 500W, or a share such as 70%%", key, text);
}

char *
fab_schema_take_power (const char *key, const FabValue *value, FabPower *field)
{
  g_autofree char *text = fab_value_write (value);

  return fab_schema_parse_power (key, value->kind == FAB_VALUE_TEXT ? value->text : text, field);
}

static const char *const no[] = { "false", "no", "off", NULL };
static const char *const yes[] = { "true", "yes", "on", NULL };

char *
fab_schema_parse_bool (const FabParam *row, const char *text, gboolean *field)
{
  if (!g_strv_contains (no, text) && !g_strv_contains (yes, text))
    return g_strdup_printf ("'%s' is '%s'; write true or false", row->key, text);
  *field = g_strv_contains (yes, text);
  return NULL;
}

gboolean
fab_schema_takes_bool (const FabParam *row)
{
  return row->choices != NULL && g_strv_contains (row->choices, "yes")
      && g_strv_contains (row->choices, "no");
}

char *
fab_schema_parse_choice (const FabParam *row, const char *text, int *field)
{
  const char *nearest;
  g_autofree char *known = NULL;

  if (fab_schema_takes_bool (row) && (g_strv_contains (no, text) || g_strv_contains (yes, text)))
    text = g_strv_contains (yes, text) ? "yes" : "no";
  for (int i = 0; row->choices[i] != NULL; i++) {
    if (g_ascii_strcasecmp (row->choices[i], text) == 0) {
      *field = i;
      return NULL;
    }
  }
  nearest = fab_nearest (text, row->choices);
  if (nearest != NULL)
    return g_strdup_printf ("'%s' cannot be '%s'; nearest is '%s'", row->key, text, nearest);
  known = g_strjoinv (", ", (char **) row->choices);
  return g_strdup_printf ("'%s' cannot be '%s'; choose one of %s", row->key, text, known);
}
