/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h - a curve in the text of a terminal: dots of Braille characters, eight to a character, or ASCII. It is for
 * people who look, and not for files: a table beside it has the figures.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *title;        /* of what is up: "busbw" */
  const char *first, *last; /* labels of the first and the last value */
  const char *prefix;       /* of every line: "  " */
  const double
      *values; /* one for each place from left to right, which are equally far apart; NAN: not known, and
                             * the line goes on to the next that is */
  guint n;
  char *(*show) (double value, gconstpointer of); /* a label of the axis; (transfer full) */
  gconstpointer of;                               /* for `show` */
  const double *level;                            /* of a dotted line across, as of a bound; NULL: none */
  const char *mark;                               /* stands below the place `marked`; NULL: none does */
  guint marked;
} FabCurve;

/* Appends the curve in lines of at most `columns`. It appends nothing where fewer than three values are known, or one
 * is infinite. */
void fab_curve_append (GString *out, const FabCurve *curve, guint columns, gboolean has_braille);

/* Returns the curve for stdout: NULL where that is no terminal. (transfer full) */
char *fab_curve_for_screen (const FabCurve *curve);

/* Returns a horizontal bar of so many columns. Where stdout is a screen that shows block characters, it ends at an
 * eighth of a column. (transfer full) */
char *fab_bar_for_screen (double columns);
