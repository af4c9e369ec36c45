/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plot.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 66, ROWS = 9, LABEL = 12 };

typedef struct {
  double least, most;
  char cells[ROWS][COLUMNS + 1];
} Plot;

static guint
row_of (const Plot *self, double value)
{
  double part = self->most > self->least ? (value - self->least) / (self->most - self->least) : 0.5;

  return (guint) lround ((1 - part) * (ROWS - 1));
}

static void
plot_init (Plot *self, double bound, const FabPlotPoint *points, guint n)
{
  self->least = self->most = bound;
  for (guint i = 0; i < n; i++) {
    self->least = MIN (self->least, points[i].value);
    self->most = MAX (self->most, points[i].value);
  }
  memset (self->cells, ' ', sizeof self->cells);
  for (guint row = 0; row < ROWS; row++)
    self->cells[row][COLUMNS] = '\0';
  memset (self->cells[row_of (self, bound)], '-', COLUMNS);
  for (guint i = 0; i < n; i++) {
    guint column = (guint) lround (points[i].at * (COLUMNS - 1));
    char *cell = &self->cells[row_of (self, points[i].value)][column];

    *cell = points[i].is_marked ? '@' : *cell == '@' ? '@' : 'o';
  }
}

static void
append_row (GString *text, const char *label, const char *cells)
{
  g_autofree char *line = g_strdup_printf ("  %*s |%s", LABEL, label, cells);

  g_string_append_printf (text, "%s\n", g_strchomp (line));
}

void
fab_plot_append (GString *text, const FabTarget *target, const FabPlotPoint *points, guint n,
                 const char *from, const char *to)
{
  FabFigureKind kind = target->figure->kind;
  Plot plot;

  if (n < 2)
    return;
  plot_init (&plot, target->bound, points, n);
  for (guint row = 0; row < ROWS; row++) {
    gboolean is_bound = row == row_of (&plot, target->bound);
    g_autofree char *label = is_bound        ? fab_figure_show (kind, target->bound)
                           : row == 0        ? fab_figure_show (kind, plot.most)
                           : row == ROWS - 1 ? fab_figure_show (kind, plot.least)
                                             : g_strdup ("");

    append_row (text, label, plot.cells[row]);
  }
  g_string_append_printf (text, "  %*s  %s%*s\n", LABEL, target->figure->name, from,
                          (int) MAX (COLUMNS - (glong) strlen (from), 1), to);
}
