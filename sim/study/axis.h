/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h - one thing that a study varies: a key of the scenario and the values that it takes, as text.
 *
 *   KEY=A,B,C          a list; commas inside brackets and quotes do not divide
 *   KEY=A..B           steps of 1
 *   KEY=A..B:STEP      steps of so much, the end too where it is hit
 *   KEY=A..B:xFACTOR   times so much: 1..64:x2
 *   KEY=A..B:/N        N values, evenly
 *
 * A and B are numbers of one unit; a unit at B alone is for both: 100..800Gb/s:100.
 */
#pragma once

#include <glib.h>

enum { FAB_AXIS_MOST_VALUES = 100000 };

typedef struct {
  char *key;
  GPtrArray *values; /* char *, at least one */
} FabAxis;

/* NULL and *error, which says what would be right. */
FabAxis *fab_axis_parse (const char *text, GError **error);
/* So many values a decade from `from` to `to`, both above 0, in three digits, each once. */
FabAxis *fab_axis_decades (const char *key, double from, double to, guint per_decade, const char *unit);
void fab_axis_free (FabAxis *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabAxis, fab_axis_free)

/* A number with what stands behind it: "400Gb/s" is 400 and "Gb/s". FALSE: it is none. */
gboolean fab_axis_split_number (const char *text, double *number, const char **unit);
