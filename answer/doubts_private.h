/* SPDX-License-Identifier: Apache-2.0 */
/* doubts_private.h - what the finders of doubts share. */
#pragma once

#include "answer/doubts.h"

/* Something that is surely under way at once with the others. */
typedef struct {
  const FabFootprint *footprint;
  const char *name;
  guint job;               /* 0: the first */
  guint n_connections;     /* with which it counts on its links */
  double wire_bytes_per_s; /* alone, protocol flags included */
} Flow;

typedef struct {
  const FabGraph *graph;
  const FabDag *dag; /* of the first job */
  GArray *flows;     /* Flow */
  GPtrArray *owned;  /* footprints of transfers */
  double *loads;     /* per link: of all flows */
  guint *counts;     /* per link: flows on it */
  gboolean has_others, is_hashed;
} Doubting;

/* Of a flow alone on link `place` of its footprint. */
double doubting_load (const Doubting *self, const Flow *flow, guint place);
char *doubting_link_name (const Doubting *self, FabLinkId link); /* (transfer full) */

/* The worst case as a sentence; NULL: there is none. (transfer full) */
char *doubting_find_collision (Doubting *self);
char *doubting_find_incast (Doubting *self);
char *doubting_find_spreading (Doubting *self);
char *doubting_find_channels (Doubting *self);
