/* SPDX-License-Identifier: Apache-2.0 */
/* schema_scalar.c - one text, or one typed value, to one field: numbers with units, words, choices.
 *
 * The same function reads what a person wrote and the fallbacks of the tables, so a default
 * obeys the rules that it documents. A field is written only when the text is good. Owns
 * nothing; texts go into the reader's arena.
 */
#include "sim/scenario/schema_reader.h"

#include <math.h>

#include "sim/base/error.h"

typedef struct {
  double least, most;
  gboolean has_most, is_open; /* open: the least itself is not allowed */
} Range;

static Range
range_of (const FabParam *row)
{
  gboolean is_rate = row->type == FAB_PARAM_RATE || row->type == FAB_PARAM_FLOPS_RATE;
  gboolean is_default = row->min == 0.0 && row->max == 0.0;
  Range range = { .least = row->min, .most = row->max };

  range.is_open = is_default && is_rate;
  range.has_most = !is_default && !(row->max == 0.0 && row->min > 0.0);
  if (is_default && row->type == FAB_PARAM_TIME) { /* an hour, so that sums of many fit the clock */
    range.most = 3600.0 * (double) FAB_PS_PER_S;
    range.has_most = TRUE;
  }
  return range;
}

/* A limit as a person would write it; tables hold them as doubles. */
static char *
limit_text (const FabParam *row, double limit)
{
  FabUnit unit = fab_param_unit (row->type);

  return fab_param_is_whole (row->type) ? fab_units_write_whole (unit, (gint64) CLAMP (limit, -9e18, 9e18))
                                        : fab_units_write_real (unit, limit);
}

static char *
check_range (const FabParam *row, const char *text, double value)
{
  Range range = range_of (row);
  g_autofree char *limit = NULL;

  if (range.is_open && value <= 0.0)
    return g_strdup_printf ("'%s' is %s: must be more than 0", row->key, text);
  if (value < range.least) {
    limit = limit_text (row, range.least);
    return g_strdup_printf ("'%s' is %s: the least is %s", row->key, text, limit);
  }
  if (range.has_most && value > range.most) {
    limit = limit_text (row, range.most);
    return g_strdup_printf ("'%s' is %s: the most is %s", row->key, text, limit);
  }
  return NULL;
}

static char *
parse_number (const FabParam *row, const char *text, gpointer field)
{
  FabUnit unit = fab_param_unit (row->type);
  g_autoptr (GError) error = NULL;
  gint64 whole = 0;
  double real = 0.0;
  char *problem;

  if (fab_param_is_whole (row->type) ? !fab_units_parse_whole (unit, text, &whole, &error)
                                     : !fab_units_parse_real (unit, text, &real, &error))
    return g_strdup_printf ("'%s': %s", row->key, error->message);
  problem = check_range (row, text, fab_param_is_whole (row->type) ? (double) whole : real);
  if (problem == NULL && fab_param_is_whole (row->type))
    *(gint64 *) field = whole;
  else if (problem == NULL)
    *(double *) field = real;
  return problem;
}

static char *
parse_bool (const FabParam *row, const char *text, gpointer field)
{
  static const char *const no[] = { "false", "no", "off", NULL };
  static const char *const yes[] = { "true", "yes", "on", NULL };

  if (!g_strv_contains (no, text) && !g_strv_contains (yes, text))
    return g_strdup_printf ("'%s' is '%s'; write true or false", row->key, text);
  *(gboolean *) field = g_strv_contains (yes, text);
  return NULL;
}

static char *
parse_choice (const FabParam *row, const char *text, gpointer field)
{
  const char *nearest;
  g_autofree char *known = NULL;

  for (int i = 0; row->choices[i] != NULL; i++) {
    if (g_ascii_strcasecmp (row->choices[i], text) == 0) {
      *(int *) field = i;
      return NULL;
    }
  }
  nearest = fab_nearest (text, row->choices);
  if (nearest != NULL)
    return g_strdup_printf ("'%s' cannot be '%s'; nearest is '%s'", row->key, text, nearest);
  known = g_strjoinv (", ", (char **) row->choices);
  return g_strdup_printf ("'%s' cannot be '%s'; choose one of %s", row->key, text, known);
}

static char *
parse_text (FabSchemaReader *self, const FabParam *row, const char *text, gpointer field)
{
  if (text[0] == '\0' && row->fallback == NULL)
    return g_strdup_printf ("'%s' is empty", row->key);
  *(const char **) field = text[0] == '\0' ? NULL : fab_schema_reader_text (self, text);
  return NULL;
}

gboolean
fab_schema_parse_scalar (FabSchemaReader *self, const FabParam *row, const char *text, gpointer field,
                         char **message)
{
  if (fab_param_is_number (row->type))
    *message = parse_number (row, text, field);
  else if (row->type == FAB_PARAM_BOOL)
    *message = parse_bool (row, text, field);
  else if (row->type == FAB_PARAM_CHOICE)
    *message = parse_choice (row, text, field);
  else
    *message = parse_text (self, row, text, field);
  return *message == NULL;
}

/* --- typed values --- */

static char *
wrong_type (const FabParam *row, const FabValue *value)
{
  return g_strdup_printf ("'%s' must be a %s, not a %s", row->key, fab_param_type_name (row->type),
                          fab_value_noun (value));
}

/* A whole number where any number may stand. */
static gboolean
real_of (const FabParam *row, const FabValue *value, double *real)
{
  FabUnit unit = fab_param_unit (row->type);

  *real = value->kind == FAB_VALUE_WHOLE ? (double) value->whole : value->real;
  return value->unit == unit
      || (value->unit == FAB_UNIT_COUNT && (unit == FAB_UNIT_FACTOR || unit == FAB_UNIT_FRACTION));
}

static char *
take_number (const FabParam *row, const FabValue *value, gpointer field)
{
  g_autofree char *text = NULL;
  gboolean is_whole = fab_param_is_whole (row->type);
  double real;
  char *problem;

  if ((value->kind != FAB_VALUE_WHOLE && value->kind != FAB_VALUE_REAL) || !real_of (row, value, &real)
      || (is_whole && value->kind != FAB_VALUE_WHOLE))
    return wrong_type (row, value);
  if (!isfinite (real))
    return g_strdup_printf ("'%s' is no number", row->key);
  text = fab_value_write (value);
  if (row->type == FAB_PARAM_FRACTION && real > 1)
    return g_strdup_printf ("'%s' is %s: the most is 100%%", row->key, text);
  problem = check_range (row, text, real);
  if (problem == NULL && is_whole)
    *(gint64 *) field = value->whole;
  else if (problem == NULL)
    *(double *) field = real;
  return problem;
}

gboolean
fab_schema_take_value (FabSchemaReader *self, const FabParam *row, const FabValue *value, gpointer field,
                       char **message)
{
  FabValueKind wanted = row->type == FAB_PARAM_BOOL ? FAB_VALUE_FLAG : FAB_VALUE_TEXT;

  if (fab_param_is_number (row->type))
    *message = take_number (row, value, field);
  else if (value->kind != wanted)
    *message = wrong_type (row, value);
  else if (row->type == FAB_PARAM_BOOL)
    *(gboolean *) field = value->flag;
  else if (row->type == FAB_PARAM_CHOICE)
    *message = parse_choice (row, value->text, field);
  else
    *message = parse_text (self, row, value->text, field);
  return *message == NULL;
}
