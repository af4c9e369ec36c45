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
};

/* Dots of a character or, in ASCII, one place for each. */
typedef struct {
  guint across, down; /* in dots */
  gboolean *is_set;
} Canvas;

static gboolean *
dot_of (const Canvas *self, guint x, guint y)
{
  return &self->is_set[y * self->across + x];
}

/* Draws the lines between the values; every column of dots has at least one. */
static void
draw (const Canvas *self, const FabCurve *curve, double least, double most)
{
  double span = most > least ? most - least : 1;
  guint before = 0;

  for (guint x = 0; x < self->across; x++) {
    double at = (double) x * (curve->n - 1) / (self->across - 1);
    guint left = MIN ((guint) at, curve->n - 2);
    double value = curve->values[left] + (at - left) * (curve->values[left + 1] - curve->values[left]);
    guint y = (guint) lround ((most - value) / span * (self->down - 1));
    guint from = x == 0 ? y : MIN (y, before + (y > before)),
          to = x == 0 ? y : MAX (y, before - (y < before));

    for (guint k = from; k <= to; k++)
      *dot_of (self, x, k) = TRUE;
    before = y;
  }
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
      g_string_append_c (out, *dot_of (self, x, row) ? '*' : ' ');
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

static void
find_range (const FabCurve *curve, double *least, double *most)
{
  *least = *most = curve->values[0];
  for (guint i = 1; i < curve->n; i++) {
    *least = MIN (*least, curve->values[i]);
    *most = MAX (*most, curve->values[i]);
  }
  if (*least > 0 && *least < *most / 2)
    *least = 0; /* so that half as high is half as much */
}

static gboolean
is_drawable (const FabCurve *curve)
{
  gboolean is_good = curve->n >= 3;

  for (guint i = 0; i < curve->n && is_good; i++)
    is_good = isfinite (curve->values[i]);
  return is_good;
}

void
fab_curve_append (GString *out, const FabCurve *curve, guint columns, gboolean has_braille)
{
  guint taken = (guint) strlen (curve->prefix) + LABEL + 2;
  guint cells = columns > taken ? MIN (columns - taken, MOST_COLUMNS) : 0;
  double least, most;

  if (!is_drawable (curve) || cells < LEAST_COLUMNS)
    return;
  find_range (curve, &least, &most);
  Canvas canvas = { cells * (has_braille ? DOTS_ACROSS : 1), ROWS * (has_braille ? DOTS_DOWN : 1), NULL };
  g_autofree gboolean *is_set = canvas.is_set = g_new0 (gboolean, canvas.across * canvas.down);
  draw (&canvas, curve, least, most);
  for (guint row = 0; row < ROWS; row++) {
    g_autofree char *label = row == 0        ? curve->show (most)
                           : row == ROWS - 1 ? curve->show (least)
                                             : g_strdup ("");

    g_string_append_printf (out, "%s%*s |", curve->prefix, LABEL, label);
    append_cells (out, &canvas, row, has_braille);
    g_string_append_c (out, '\n');
  }
  g_string_append_printf (out, "%s%*s  %s%*s\n", curve->prefix, LABEL, curve->title, curve->first,
                          (int) MAX ((glong) cells - (glong) strlen (curve->first), 1), curve->last);
}

char *
fab_curve_for_screen (const FabCurve *curve)
{
  guint columns = fab_terminal_columns (STDOUT_FILENO);
  GString *out = columns > 0 ? g_string_new (NULL) : NULL;

  if (out == NULL)
    return NULL;
  fab_curve_append (out, curve, columns, fab_terminal_has_unicode ());
  return g_string_free (out, FALSE);
}
