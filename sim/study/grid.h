/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h - the points of a sweep: every combination of the values of its axes. Keys that share an axis change
 * together. A point is a number, the mixed-radix index of the axes' items; the last axis changes fastest. */
#pragma once

#include "sim/scenario/edits.h"
#include "sim/study/axis.h"

#define FAB_GRID_MOST_POINTS G_GINT64_CONSTANT (1000000)

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
