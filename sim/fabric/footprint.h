/* SPDX-License-Identifier: Apache-2.0 */
/* footprint.h - the links that one coupled stream uses, and how much it puts on each.
 *
 * On link l a stream of B bytes carries weight[l] x B payload bytes, which cost line_weight[l] x B bytes of the line
 * (packet headers and measured loss included). All links of a stream advance together. Alone on an idle graph, the
 * stream runs at
 *
 *   rate = min over l of  line_rate[l] / line_weight[l]      bytes of the stream per second
 *
 * `line_bound` is the same without headers and losses: no run is faster than physics. A footprint is immutable once
 * built, so any thread may read it. A job builds one per communicator and algorithm and reuses it.
 */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  guint n;
  /* Footprints that say the same of their links share these arrays (g_atomic_rc_box). */
  FabLinkId *links; /* in ascending order */
  double *weights;
  double *line_weights;
  double rate_bytes_per_s;       /* rate of the stream alone, headers and losses included */
  double line_bound_bytes_per_s; /* rate of the stream alone with its payload at line rate */
  FabLinkId binding_link;        /* the link that sets the rate; of equal links, the lowest id */
  double binding_weight;         /* payload weight on the binding link */
} FabFootprint;

/* Returns one without links yet (n is 0), with room for `n` > 0, all on them 0. (transfer full) */
FabFootprint *fab_footprint_new (guint n);
void fab_footprint_free (FabFootprint *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFootprint, fab_footprint_free)

/* Returns the same links with 2^exponent times as much on each, exact to the last bit. (transfer full) */
FabFootprint *fab_footprint_doubled (const FabFootprint *self, int exponent);

/* Returns the same loads on a graph with the same links, which may have other rates. (transfer full) */
FabFootprint *fab_footprint_on (const FabFootprint *self, const FabGraph *graph);

/* Whether the footprint contains `link`, and at which index. O(log n). */
gboolean fab_footprint_has (const FabFootprint *self, FabLinkId link, guint *index);

/* Whether it is that of one path with `n_links` links: every byte crosses each of them. */
gboolean fab_footprint_is_path (const FabFootprint *self, guint n_links);

/* Returns the index of `link`, which the footprint must contain. O(log n). */
guint fab_footprint_find (const FabFootprint *self, FabLinkId link);

typedef struct _FabShapeBuilder FabFootprintBuilder;

FabFootprintBuilder *fab_footprint_builder_new (const FabGraph *graph);
void fab_footprint_builder_free (FabFootprintBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFootprintBuilder, fab_footprint_builder_free)

/* How a stream uses a path: payload bytes per stream byte, what moves them, and losses beyond the link's own. */
typedef struct {
  double weight;
  FabDrive drive;
  double stretch; /* >= 1: line time per byte as a multiple of what the link's own costs give */
  /* As `stretch`, for links whose other direction is used in the same way by other senders; 0 means 1. */
  double duplex_stretch;
  double device_stretch; /* >= 1: on top of `stretch` on links of accelerators; 0 means 1 */
} FabUse;

/* Adds the route of one sender. `shares` (FabShare) multiply the weight; a link may appear more than once. */
void fab_footprint_builder_add_shares (FabFootprintBuilder *self, const GArray *shares, FabUse use);

void fab_footprint_builder_add (FabFootprintBuilder *self, const FabPath *path, FabUse use);

/* Adds another footprint unchanged: it already includes what its links cost with both directions in use. */
void fab_footprint_builder_add_footprint (FabFootprintBuilder *self, const FabFootprint *footprint);

/* Adds a footprint inside one node as if it lay in the symmetric node `shift` vertices further on (symmetry.h). */
void fab_footprint_builder_add_symmetric (FabFootprintBuilder *self, const FabFootprint *footprint,
                                          FabVertexId shift);

/* Returns the footprint of everything that was added, and empties the builder. Asserts that something was added.
 * (transfer full) */
FabFootprint *fab_footprint_builder_finish (FabFootprintBuilder *self);

/* For footprints that are built separately and run at the same time. It remembers which link directions the added
 * paths use, so that duplex_stretch applies to later footprints too. It empties the builder. */
void fab_footprint_builder_keep_duplex (FabFootprintBuilder *self);
