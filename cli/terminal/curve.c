/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/curve.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/terminal.h"

enum {
  ROWS = 6,          /* of characters */
  MOST_COLUMNS = 72, /* of the curve; a wider one says no more */
  LEAST_COLUMNS = 12,
  LABEL = 10,
  DOTS_ACROSS = 2, /* of a Braille character */
  DOTS_DOWN = 4,
  BRAILLE = 0x2800,
  FULL_BLOCK = 0x2588,
};

enum { EMPTY, OF_CURVE, OF_LEVEL };

/* Dots of a character or, in ASCII, one place for each. */
typedef struct {
  guint across, down; /* in dots */
  guint8 *dots;
} Canvas;

static guint8 *
dot_of (const Canvas *self, guint x, guint y)
{
  return &self->dots[y * self->across + x];
}

typedef struct {
  double least, most;
} Range;

static guint
row_of (const Range *range, double value, guint n_rows)
{
  double span = range->most > range->least ? range->most - range->least : 1;

  return (guint) lround ((range->most - value) / span * (n_rows - 1));
}

/* The value at a place between two that are known. FALSE: it is before the first or behind the last of them. */
static gboolean
value_at (const FabCurve *curve, double at, double *value)
{
  guint left = MIN ((guint) at, curve->n - 1), right = at > left ? left + 1 : left;

  while (left > 0 && isnan (curve->values[left]))
    left--;
  while (right < curve->n - 1 && isnan (curve->values[right]))
    right++;
  if (isnan (curve->values[left]) || isnan (curve->values[right]))
    return FALSE;
  *value = curve->values[left];
  if (right > left)
    *value += (at - left) / (right - left) * (curve->values[right] - curve->values[left]);
  return TRUE;
}

/* Draws the lines between the values; no column of dots between the first and the last known value is without one. */
static void
draw (const Canvas *self, const FabCurve *curve, const Range *range)
{
  gboolean has_before = FALSE;
  guint before = 0;

  for (guint x = 0; x < self->across; x++) {
    double value;

    if (!value_at (curve, (double) x * (curve->n - 1) / (self->across - 1), &value))
      continue;
    guint y = row_of (range, value, self->down);
    guint from = has_before ? MIN (y, before + (y > before)) : y,
          to = has_before ? MAX (y, before - (y < before)) : y;

    for (guint k = from; k <= to; k++)
      *dot_of (self, x, k) = OF_CURVE;
    has_before = TRUE;
    before = y;
  }
}

static void
draw_level (const Canvas *self, double level, const Range *range)
{
  guint y = row_of (range, level, self->down);

  for (guint x = 0; x < self->across; x += 2)
    *dot_of (self, x, y) = OF_LEVEL;
}

/* The bit of a dot in a Braille character: the left column is 1, 2, 4, 64 from above, the right one 8, 16, 32, 128. */
static gunichar
bit_of (guint x, guint y)
{
  static const guint8 bits[DOTS_DOWN][DOTS_ACROSS] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };

  return bits[y][x];
}

static void
append_cells (GString *out, const Canvas *self, guint row, gboolean has_braille)
{
  gsize start = out->len;

  for (guint x = 0; x < self->across; x += has_braille ? DOTS_ACROSS : 1) {
    gunichar bits = 0;

    if (!has_braille) {
      g_string_append_c (out, " *-"[*dot_of (self, x, row)]);
      continue;
    }
    for (guint dx = 0; dx < DOTS_ACROSS; dx++)
      for (guint dy = 0; dy < DOTS_DOWN; dy++)
        bits |= *dot_of (self, x + dx, row * DOTS_DOWN + dy) ? bit_of (dx, dy) : 0;
    if (bits == 0)
      g_string_append_c (out, ' ');
    else
      g_string_append_unichar (out, BRAILLE + bits);
  }
  while (out->len > start && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
}

static Range
find_range (const FabCurve *curve)
{
  Range range = { INFINITY, -INFINITY };

  for (guint i = 0; i < curve->n; i++)
    if (!isnan (curve->values[i])) {
      range.least = MIN (range.least, curve->values[i]);
      range.most = MAX (range.most, curve->values[i]);
    }
  if (curve->level != NULL) {
    range.least = MIN (range.least, *curve->level);
    range.most = MAX (range.most, *curve->level);
  }
  if (range.least > 0 && range.least < range.most / 2)
    range.least = 0; /* so that half as high is half as much */
  return range;
}

static gboolean
is_drawable (const FabCurve *curve)
{
  guint n_known = 0;

  for (guint i = 0; i < curve->n; i++) {
    if (isinf (curve->values[i]))
      return FALSE;
    n_known += !isnan (curve->values[i]);
  }
  return n_known >= 3;
}

/* The mark below its place; its words stand where they have room. */
static void
append_mark (GString *out, const FabCurve *curve, guint cells)
{
  guint place = (guint) lround ((double) curve->marked * (cells - 1) / (curve->n - 1));
  guint length = (guint) strlen (curve->mark) + 1;

  g_string_append_printf (out, "%s%*s  ", curve->prefix, LABEL, "");
  if (place + 1 + length <= cells)
    g_string_append_printf (out, "%*s^ %s\n", (int) place, "", curve->mark);
  else
    g_string_append_printf (out, "%*s%s ^\n", (int) (place >= length ? place - length : 0), "", curve->mark);
}

static char *
label_of (const FabCurve *curve, const Range *range, guint row)
{
  if (curve->level != NULL && row == row_of (range, *curve->level, ROWS))
    return curve->show (*curve->level, curve->of);
  return row == 0        ? curve->show (range->most, curve->of)
       : row == ROWS - 1 ? curve->show (range->least, curve->of)
                         : g_strdup ("");
}

void
fab_curve_append (GString *out, const FabCurve *curve, guint columns, gboolean has_braille)
{
  guint taken = (guint) strlen (curve->prefix) + LABEL + 2;
  guint cells = columns > taken ? MIN (columns - taken, MOST_COLUMNS) : 0;

  if (!is_drawable (curve) || cells < LEAST_COLUMNS)
    return;
  Range range = find_range (curve);
  Canvas canvas = { cells * (has_braille ? DOTS_ACROSS : 1), ROWS * (has_braille ? DOTS_DOWN : 1), NULL };
  G_GNUC_UNUSED g_autofree guint8 *dots = canvas.dots = g_new0 (guint8, canvas.across * canvas.down);
  if (curve->level != NULL)
    draw_level (&canvas, *curve->level, &range);
  draw (&canvas, curve, &range);
  for (guint row = 0; row < ROWS; row++) {
    g_autofree char *label = label_of (curve, &range, row);

    g_string_append_printf (out, "%s%*s |", curve->prefix, LABEL, label);
    append_cells (out, &canvas, row, has_braille);
    g_string_append_c (out, '\n');
  }
  guint between = (guint) (strlen (curve->first) + strlen (curve->last));
  g_string_append_printf (out, "%s%*s  %s%*s%s\n", curve->prefix, LABEL, curve->title, curve->first,
                          cells > between ? (int) (cells - between) : 1, "", curve->last);
  if (curve->mark != NULL)
    append_mark (out, curve, cells);
}

char *
fab_curve_for_screen (const FabCurve *curve)
{
  GString *out = fab_terminal_is_there (STDOUT_FILENO) ? g_string_new (NULL) : NULL;

  if (out == NULL)
    return NULL;
  fab_curve_append (out, curve, fab_terminal_columns (STDOUT_FILENO), fab_terminal_has_unicode ());
  return g_string_free (out, FALSE);
}

char *
fab_bar_for_screen (double columns)
{
  gboolean has_blocks = fab_terminal_is_there (STDOUT_FILENO) && fab_terminal_has_unicode ();
  guint eighths = (guint) lround (columns * 8);

  if (!has_blocks)
    return g_strnfill ((gsize) lround (columns), '#');
  GString *out = g_string_new (NULL);
  for (guint k = 0; k < eighths / 8; k++)
    g_string_append_unichar (out, FULL_BLOCK);
  if (eighths % 8 > 0)
    g_string_append_unichar (out, FULL_BLOCK + 8 - eighths % 8); /* 0x2588 is full, 0x258f an eighth */
  return g_string_free (out, FALSE);
}
