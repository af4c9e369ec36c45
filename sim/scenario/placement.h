/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - which place of the fabric each node of the job takes. Places are numbered so that neighbours are
 * near. */
#pragma once

#include <glib.h>

typedef enum {
  FAB_PLACEMENT_PACKED,  /* one beside the other: the fewest leaves, then the fewest pods */
  FAB_PLACEMENT_STRIDED, /* every stride-th place, and when these are taken, those one further */
  FAB_PLACEMENT_SPREAD,  /* evenly over all places: as many leaves and pods as can be */
  FAB_PLACEMENT_RANDOM,  /* any places in any order, drawn by the scenario's seed */
} FabPlacement;

extern const char *const fab_placement_names[]; /* NULL-ended */

/* The place of every node: [n_nodes], all different, below n_places >= n_nodes. (transfer full) */
guint *fab_placement_map (FabPlacement placement, guint n_nodes, guint n_places, guint stride, guint64 seed);
