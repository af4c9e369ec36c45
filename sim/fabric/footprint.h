/* SPDX-License-Identifier: Apache-2.0 */
/* footprint.h - the links that one coupled stream uses, and how much of each.
 *
 * On link l a stream of B bytes carries weight[l] x B payload bytes, which cost
 * line_weight[l] x B bytes of the line (packet headers and measured loss included). All links
 * of a stream advance together. The footprint alone on an idle graph runs at
 *
 *   rate = min over l of  line_rate[l] / line_weight[l]      bytes of the stream per second
 *
 * `line_bound` is the same without the costs: no run is faster than physics.
 * Immutable once built; a job builds one per communicator and algorithm and reuses it.
 */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  guint n;
  FabLinkId *links; /* ascending */
  double *weights;
  double *line_weights;
  double rate_bytes_per_s;       /* alone, costs included */
  double line_bound_bytes_per_s; /* alone, payload at line rate */
  FabLinkId binding_link;        /* that sets the rate; the lowest id of equals */
  double binding_weight;         /* payload weight on it */
} FabFootprint;

void fab_footprint_free (FabFootprint *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFootprint, fab_footprint_free)

/* The same links with 2^exponent times as much on each, to the last bit what adding that much would give. (transfer
 * full) */
FabFootprint *fab_footprint_doubled (const FabFootprint *self, int exponent);

/* Index of a link that is in it. O(log n). */
guint fab_footprint_find (const FabFootprint *self, FabLinkId link);

typedef struct _FabShapeBuilder FabFootprintBuilder;

FabFootprintBuilder *fab_footprint_builder_new (const FabGraph *graph);
void fab_footprint_builder_free (FabFootprintBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFootprintBuilder, fab_footprint_builder_free)

/* How a path is used: payload bytes per stream byte, moved by what, at what loss beyond the link's own. */
typedef struct {
  double weight;
  FabDrive drive;
  double stretch;        /* >= 1: line time per byte, as a multiple of what the link's own costs say */
  double duplex_stretch; /* likewise, on links whose other direction others use in the same way; 0: 1 */
} FabUse;

/* The way of one sender; `shares` (FabShare) multiply the weight, and a link may stand there more than once. */
void fab_footprint_builder_add_shares (FabFootprintBuilder *self, const GArray *shares, FabUse use);

void fab_footprint_builder_add (FabFootprintBuilder *self, const FabPath *path, FabUse use);

/* All of another one, as it is: what its links cost with both directions in use is in it already. */
void fab_footprint_builder_add_footprint (FabFootprintBuilder *self, const FabFootprint *footprint);

/* Of one inside a node: the same in its twin `shift` vertices on (twins.h). */
void fab_footprint_builder_add_twin (FabFootprintBuilder *self, const FabFootprint *footprint,
                                     FabVertexId shift);

/* The footprint of what was added; the builder is empty afterwards. Asserts that it is not empty. */
FabFootprint *fab_footprint_builder_finish (FabFootprintBuilder *self);

/* For footprints that are made apart and run together: what has been added says from now on which directions of links
 * are used, for duplex_stretch. The builder is empty afterwards. */
void fab_footprint_builder_keep_duplex (FabFootprintBuilder *self);
