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
  const double *values;     /* one for each place from left to right, which are equally far apart */
  guint n;
  char *(*show) (double value); /* a label of the axis; (transfer full) */
} FabCurve;

/* Appends the curve in lines of at most `columns`. It appends nothing where there are fewer than three values, or one
 * is not finite. */
void fab_curve_append (GString *out, const FabCurve *curve, guint columns, gboolean has_braille);

/* Returns the curve for stdout: NULL where that is no terminal. (transfer full) */
char *fab_curve_for_screen (const FabCurve *curve);
