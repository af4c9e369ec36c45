/* SPDX-License-Identifier: Apache-2.0 */
/* placement.h - assigns a place of the fabric to each node of the job. Places are numbered so that neighbours are
 * near. */
#pragma once

#include <glib.h>

typedef enum {
  FAB_PLACEMENT_USUAL,   /* as the node's entry says; no scenario that was checked has it */
  FAB_PLACEMENT_PACKED,  /* consecutive places: the fewest leaves, then the fewest pods */
  FAB_PLACEMENT_STRIDED, /* every stride-th place; when these are taken, the places one further */
  FAB_PLACEMENT_SPREAD,  /* evenly over all places: as many leaves and pods as possible */
  FAB_PLACEMENT_RANDOM,  /* random places, drawn from the scenario's seed */
} FabPlacement;

extern const char *const fab_placement_names[]; /* NULL-ended */

/* Returns the place of every node: [n_nodes], all different, less than n_places >= n_nodes. (transfer full) */
guint *fab_placement_map (FabPlacement placement, guint n_nodes, guint n_places, guint stride, guint64 seed);
