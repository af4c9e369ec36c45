/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/axis.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/units.h"

enum { FAB_AXIS_MOST_VALUES = 100000 };
#define FAB_GRID_MOST_POINTS G_GINT64_CONSTANT (1000000)

void
fab_axis_free (FabAxis *self)
{
  if (self == NULL)
    return;
  g_free (self->key);
  g_ptr_array_unref (self->values);
  g_free (self);
}

/* --- numbers --- */

gboolean
fab_axis_split_number (const char *text, double *number, const char **unit)
{
  char *end;

  if (!g_ascii_isdigit (text[0]) && text[0] != '.' && text[0] != '-')
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  *unit = end;
  return end != text && isfinite (*number);
}

/* Beyond it a double is not every whole number. */
#define MOST_WHOLE 0x1p53

/* 12 digits, so that steps of 0.1 do not show the rounding of doubles; all of a longer whole number. */
static char *
write_number (double number, const char *unit)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (digits, sizeof digits, "%.12g", number);
  if (number == trunc (number) && fabs (number) <= MOST_WHOLE && g_ascii_strtod (digits, NULL) != number)
    g_ascii_formatd (digits, sizeof digits, "%.0f", number);
  return g_strconcat (digits, unit, NULL);
}

/* Returns the nearest value that exists where the unit is one of whole bytes, of whole bytes per second or of whole
 * picoseconds: 1/3 GB/s is 333333333 B/s. A number without a unit may be anything, and stays. (transfer full) */
static char *
write_existing (double number, const char *unit)
{
  static const FabUnit units[] = { FAB_UNIT_RATE, FAB_UNIT_BYTES, FAB_UNIT_TIME, FAB_UNIT_LENGTH };
  g_autofree char *text = write_number (number, unit), *one = write_number (1, unit);
  gint64 per, whole;

  for (guint i = 0; *unit != '\0' && i < G_N_ELEMENTS (units); i++) {
    if (!fab_units_parse_whole (units[i], one, &per, NULL)
        || fab_units_parse_whole (units[i], text, &whole, NULL))
      continue;
    double nearest = round (number * (double) per);
    if (fabs (nearest) >= MOST_WHOLE)
      continue;
    g_autofree char *rounded = write_number (nearest / (double) per, unit);
    if (fab_units_parse_whole (units[i], rounded, &whole, NULL) && whole == (gint64) nearest)
      return g_steal_pointer (&rounded);
    return fab_units_write_whole (units[i], (gint64) nearest);
  }
  return g_steal_pointer (&text);
}

/* Values that are rounded to the same one stand once. */
static void
add_number (FabAxis *self, double number, const char *unit)
{
  g_autofree char *text = write_existing (number, unit);
  const char *last = self->values->len > 0 ? g_ptr_array_index (self->values, self->values->len - 1) : "";

  if (strcmp (text, last) != 0)
    g_ptr_array_add (self->values, g_steal_pointer (&text));
}

/* --- lists --- */

static const char *
end_of_value (const char *text)
{
  guint depth = 0;
  char quote = 0;

  for (; *text != '\0'; text++) {
    if (quote != 0)
      quote = *text == quote ? 0 : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '[' || *text == '{')
      depth++;
    else if ((*text == ']' || *text == '}') && depth > 0)
      depth--;
    else if (*text == ',' && depth == 0)
      break;
  }
  return text;
}

static gboolean
parse_list (FabAxis *self, const char *text, GError **error)
{
  for (const char *at = text;;) {
    const char *end = end_of_value (at);
    char *value = g_strstrip (g_strndup (at, (gsize) (end - at)));

    g_ptr_array_add (self->values, value);
    if (*value == '\0')
      return fab_throw (error, FAB_ERROR_INPUT, "%s=%s: a value between commas is empty", self->key, text);
    if (*end == '\0')
      return TRUE;
    at = end + 1;
  }
}

/* --- ranges --- */

typedef enum { STEP_ADD, STEP_TIMES, STEP_PARTS } StepKind;

typedef struct {
  double from, to, step;
  const char *unit;
  StepKind kind;
} Range;

static gboolean
range_error (const FabAxis *self, const char *text, const char *what, GError **error)
{
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s=%s: %s; a range is FROM..TO, FROM..TO:STEP, FROM..TO:xFACTOR or FROM..TO:/COUNT",
                    self->key, text, what);
}

static gboolean
read_step (const FabAxis *self, const char *text, const char *step, Range *range, GError **error)
{
  const char *unit;

  range->kind = *step == 'x' ? STEP_TIMES : *step == '/' ? STEP_PARTS : STEP_ADD;
  if (range->kind != STEP_ADD)
    step++;
  if (!fab_axis_split_number (step, &range->step, &unit))
    return range_error (self, text, "the step is not a number", error);
  if (*unit != '\0' && (range->kind != STEP_ADD || strcmp (unit, range->unit) != 0))
    return range_error (self, text, "the step has another unit", error);
  return TRUE;
}

static gboolean
check_range (const FabAxis *self, const char *text, const Range *range, double n, GError **error)
{
  if (range->to < range->from)
    return range_error (self, text, "the range ends before it begins", error);
  if (range->kind == STEP_ADD && range->step <= 0)
    return range_error (self, text, "the step must be above 0", error);
  if (range->kind == STEP_TIMES && (range->step <= 1 || range->from <= 0))
    return range_error (self, text, "a range with a factor needs a factor above 1 and a start above 0",
                        error);
  if (range->kind == STEP_PARTS && (range->step < 2 || range->step != floor (range->step)))
    return range_error (self, text, "the number of values must be a whole number, at least 2", error);
  if (n > FAB_AXIS_MOST_VALUES)
    return range_error (self, text, "the range has more than 100000 values", error);
  if (range->kind != STEP_TIMES && *range->unit == '\0' && range->to > MOST_WHOLE)
    return range_error (self, text, "beyond 9007199254740992 a range leaves numbers out; write a list",
                        error);
  return TRUE;
}

/* Counts the values, and includes the last one when only rounding excludes it. */
static double
count_values (const Range *range)
{
  const double rounding = 1e-9;

  if (range->kind == STEP_PARTS)
    return range->step;
  if (range->kind == STEP_TIMES)
    return floor (log (range->to / range->from) / log (range->step) + rounding) + 1;
  return floor ((range->to - range->from) / range->step + rounding) + 1;
}

static double
value_of (const Range *range, guint i)
{
  if (range->kind == STEP_TIMES)
    return range->from * pow (range->step, i);
  if (range->kind == STEP_PARTS)
    return range->from + (range->to - range->from) * i / (range->step - 1);
  return range->from + range->step * i;
}

static gboolean
parse_range (FabAxis *self, const char *text, GError **error)
{
  g_auto (GStrv) ends = g_strsplit (text, "..", 2);
  char *step = strchr (ends[1], ':');
  Range range = { .step = 1 };
  const char *from_unit;
  double n;

  if (step != NULL)
    *step++ = '\0';
  if (!fab_axis_split_number (ends[0], &range.from, &from_unit)
      || !fab_axis_split_number (ends[1], &range.to, &range.unit))
    return range_error (self, text, "both ends must be numbers", error);
  if (*from_unit != '\0' && strcmp (from_unit, range.unit) != 0)
    return range_error (self, text, "the ends have different units", error);
  if (step != NULL && !read_step (self, text, step, &range, error))
    return FALSE;
  n = range.to < range.from || range.step <= 0 ? 0 : count_values (&range);
  if (!check_range (self, text, &range, n, error))
    return FALSE;
  for (guint i = 0; i < (guint) n; i++)
    add_number (self, value_of (&range, i), range.unit);
  return TRUE;
}

FabAxis *
fab_axis_parse (const char *text, GError **error)
{
  g_autoptr (FabAxis) self = g_new0 (FabAxis, 1);
  const char *equals = strchr (text, '=');

  self->values = g_ptr_array_new_with_free_func (g_free);
  if (equals == NULL || equals == text || equals[1] == '\0') {
    fab_throw (error, FAB_ERROR_INPUT,
               "'%s' is not of the form KEY=VALUES; write for example "
               "cluster.nodes=1,2,4 or cluster.nodes=1..64:x2",
               text);
    return NULL;
  }
  self->key = g_strndup (text, (gsize) (equals - text));
  gboolean is_range = (g_ascii_isdigit (equals[1]) || equals[1] == '-') && strstr (equals, "..") != NULL
                   && strchr (equals, ',') == NULL;
  if (!(is_range ? parse_range (self, equals + 1, error) : parse_list (self, equals + 1, error)))
    return NULL;
  return g_steal_pointer (&self);
}

FabAxis *
fab_axis_decades (const char *key, double from, double to, guint per_decade, const char *unit)
{
  FabAxis *self = g_new0 (FabAxis, 1);
  guint n = (guint) floor (log10 (to / from) * per_decade + 1e-9) + 1;

  self->key = g_strdup (key);
  self->values = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++) {
    double value = from * pow (10, (double) i / per_decade);
    double digit = pow (10, floor (log10 (value)) - 2);

    add_number (self, round (value / digit) * digit, unit);
  }
  return self;
}

static const FabGridAxis *
axis_of (const FabGrid *self, guint axis)
{
  return g_ptr_array_index (self->axes, axis);
}

static const FabAxis *
key_of (const FabGridAxis *self, guint key)
{
  return g_ptr_array_index (self->keys, key);
}

static void
grid_axis_free (gpointer data)
{
  FabGridAxis *self = data;

  g_ptr_array_unref (self->keys);
  g_free (self);
}

void
fab_grid_free (FabGrid *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->axes);
  g_free (self);
}

/* --- reading --- */

static void
free_axis (gpointer axis)
{
  fab_axis_free (axis);
}

static gboolean
has_key (const FabGrid *self, const char *key)
{
  for (guint a = 0; a < self->axes->len; a++)
    for (guint k = 0; k < axis_of (self, a)->keys->len; k++)
      if (strcmp (key_of (axis_of (self, a), k)->key, key) == 0)
        return TRUE;
  return FALSE;
}

static FabGridAxis *
add_axis (FabGrid *self)
{
  FabGridAxis *axis = g_new0 (FabGridAxis, 1);

  axis->keys = g_ptr_array_new_with_free_func (free_axis);
  g_ptr_array_add (self->axes, axis);
  return axis;
}

static gboolean
add_key (FabGrid *self, FabGridAxis *axis, const char *text, GError **error)
{
  g_autoptr (FabAxis) key = fab_axis_parse (text, error);

  if (key == NULL)
    return FALSE;
  if (has_key (self, key->key))
    return fab_throw (error, FAB_ERROR_INPUT, "%s is given twice; give one list of values", key->key);
  if (axis->keys->len > 0 && key->values->len != axis->n_items)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s has %u values and %s has %u; keys that move together need the same number of "
                      "values",
                      key_of (axis, 0)->key, axis->n_items, key->key, key->values->len);
  axis->n_items = key->values->len;
  g_ptr_array_add (axis->keys, g_steal_pointer (&key));
  return TRUE;
}

/* Returns the end of the first "KEY=VALUES": a blank outside brackets and quotes that does not follow a comma. */
static const char *
end_of_key (const char *text)
{
  guint depth = 0;
  char quote = 0, before = 0;

  for (; *text != '\0'; text++) {
    if (quote != 0)
      quote = *text == quote ? 0 : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '[' || *text == '{')
      depth++;
    else if ((*text == ']' || *text == '}') && depth > 0)
      depth--;
    else if (*text == ' ' && depth == 0 && before != ',')
      break;
    before = *text == ' ' ? before : *text;
  }
  return text;
}

static gboolean
add_zip (FabGrid *self, const char *text, GError **error)
{
  FabGridAxis *axis = add_axis (self);
  const char *at = text + strspn (text, " ");

  while (*at != '\0') {
    const char *end = end_of_key (at);
    g_autofree char *key = g_strndup (at, (gsize) (end - at));

    if (!add_key (self, axis, key, error))
      return FALSE;
    at = end + strspn (end, " ");
  }
  return axis->keys->len >= 2
      || fab_throw (error, FAB_ERROR_INPUT,
                    "'%s' is not of the form \"KEY=VALUES KEY2=VALUES2\" with two or more keys that move "
                    "together",
                    text);
}

static gboolean
count_points (FabGrid *self, GError **error)
{
  self->n_points = 1;
  for (guint a = 0; a < self->axes->len; a++) {
    self->n_points *= axis_of (self, a)->n_items;
    if (self->n_points > FAB_GRID_MOST_POINTS)
      return fab_throw (error, FAB_ERROR_INPUT, "the grid has more than %" G_GINT64_FORMAT " points",
                        FAB_GRID_MOST_POINTS);
  }
  return TRUE;
}

FabGrid *
fab_grid_new (const char *const *vary, const char *const *zip, GError **error)
{
  g_autoptr (FabGrid) self = g_new0 (FabGrid, 1);

  self->axes = g_ptr_array_new_with_free_func (grid_axis_free);
  for (guint i = 0; vary != NULL && vary[i] != NULL; i++)
    if (!add_key (self, add_axis (self), vary[i], error))
      return NULL;
  for (guint i = 0; zip != NULL && zip[i] != NULL; i++)
    if (!add_zip (self, zip[i], error))
      return NULL;
  if (self->axes->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               "--vary is missing; give a key and its values, for example cluster.nodes=1,2,4");
    return NULL;
  }
  return count_points (self, error) ? g_steal_pointer (&self) : NULL;
}

/* --- points --- */

guint
fab_grid_item (const FabGrid *self, gint64 point, guint axis)
{
  for (guint a = self->axes->len - 1; a > axis; a--)
    point /= axis_of (self, a)->n_items;
  return (guint) (point % axis_of (self, axis)->n_items);
}

static const char *
grid_value_of (const FabGridAxis *axis, guint key, guint item)
{
  return g_ptr_array_index (key_of (axis, key)->values, item);
}

FabEdits *
fab_grid_edits (const FabGrid *self, gint64 point)
{
  FabEdits *edits = fab_edits_new ();

  for (guint a = 0; a < self->axes->len; a++) {
    const FabGridAxis *axis = axis_of (self, a);

    for (guint k = 0; k < axis->keys->len; k++)
      fab_edits_vary (edits, key_of (axis, k)->key, grid_value_of (axis, k, fab_grid_item (self, point, a)));
  }
  return edits;
}

char *
fab_grid_axis_key (const FabGrid *self, guint axis)
{
  const FabGridAxis *one = axis_of (self, axis);
  GString *text = g_string_new (key_of (one, 0)->key);

  for (guint k = 1; k < one->keys->len; k++)
    g_string_append_printf (text, " & %s", key_of (one, k)->key);
  return g_string_free (text, FALSE);
}

char *
fab_grid_axis_value (const FabGrid *self, guint axis, guint item)
{
  const FabGridAxis *one = axis_of (self, axis);
  GString *text = g_string_new (grid_value_of (one, 0, item));

  for (guint k = 1; k < one->keys->len; k++)
    g_string_append_printf (text, " & %s", grid_value_of (one, k, item));
  return g_string_free (text, FALSE);
}
