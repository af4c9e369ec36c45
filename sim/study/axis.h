/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h - one thing that a study varies: a key of the scenario and its values, as text.
 *
 *   KEY=A,B,C          a list; commas inside brackets and quotes do not separate values
 *   KEY=A..B           steps of 1
 *   KEY=A..B:STEP      steps of this size; B is included when a step reaches it
 *   KEY=A..B:xFACTOR   each value is the factor times the one before: 1..64:x2
 *   KEY=A..B:/N        N values at equal distances
 *
 * A and B are numbers of one unit; a unit at B alone applies to both: 100..800Gb/s:100.
 */
#pragma once

#include <glib.h>

enum { FAB_AXIS_MOST_VALUES = 100000 };

typedef struct {
  char *key;
  GPtrArray *values; /* char *, at least one */
} FabAxis;

/* Returns NULL and *error, which says what would be right. (transfer full) */
FabAxis *fab_axis_parse (const char *text, GError **error);
/* Returns values from `from` to `to`, both above 0: `per_decade` of them per decade, with three digits, each once.
 * (transfer full) */
FabAxis *fab_axis_decades (const char *key, double from, double to, guint per_decade, const char *unit);
void fab_axis_free (FabAxis *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabAxis, fab_axis_free)

/* Splits a number from what follows it: "400Gb/s" is 400 and "Gb/s". FALSE: the text does not begin with a number. */
gboolean fab_axis_split_number (const char *text, double *number, const char **unit);
