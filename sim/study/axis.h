/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h - one thing that a study varies: a key of the scenario and its values, as text.
 *
 *   KEY=A,B,C          a list; commas inside brackets and quotes do not separate values
 *   KEY=A..B           steps of 1
 *   KEY=A..B:STEP      steps of this size; B is included when a step reaches it
 *   KEY=A..B:xFACTOR   each value is the factor times the one before: 1..64:x2
 *   KEY=A..B:/N        N values at equal distances
 *
 * A and B are numbers of one unit; a unit at B alone applies to both: 100..800Gb/s:100. Values of a range are rounded
 * to whole bytes, whole bytes per second and whole picoseconds; those that are the same then stand once.
 */
#pragma once

#include <glib.h>

#include "sim/scenario/edits.h"

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

/* The points of a sweep: every combination of the values of its axes. Keys that share an axis change
 * together. A point is a number, the mixed-radix index of the axes' items; the last axis changes fastest. */

typedef struct {
  GPtrArray *keys; /* FabAxis, all with the same number of values */
  guint n_items;
} FabGridAxis;

typedef struct {
  GPtrArray *axes; /* FabGridAxis, at least one */
  gint64 n_points;
} FabGrid;

/* Reads `vary`, each "KEY=VALUES" for one axis, and then `zip`, each "KEY=VALUES KEY2=VALUES2" for one axis. Both are
 * NULL-ended, or NULL. Returns NULL and *error, which says what would be right. (transfer full) */
FabGrid *fab_grid_new (const char *const *vary, const char *const *zip, GError **error);
void fab_grid_free (FabGrid *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGrid, fab_grid_free)

guint fab_grid_item (const FabGrid *self, gint64 point, guint axis);

/* Returns an assignment "KEY=VALUE" for every key. (transfer full) */
FabEdits *fab_grid_edits (const FabGrid *self, gint64 point);

/* Return "KEY", or "KEY & KEY2"; and "VALUE", or "VALUE & VALUE2". (transfer full) */
char *fab_grid_axis_key (const FabGrid *self, guint axis);
char *fab_grid_axis_value (const FabGrid *self, guint axis, guint item);
