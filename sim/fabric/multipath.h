/* SPDX-License-Identifier: Apache-2.0 */
/* multipath.h - all shortest paths between two vertices at once.
 *
 * Only the fabric offers a choice. Inside a node, and to the NICs through which a transfer leaves and enters nodes,
 * bytes take the best path (path.h). Between those NICs, every path with the fewest links counts, whatever its rate.
 * The transfer is followed hop by hop along all these paths; what reaches a vertex is divided among the links that
 * lead on. A bundle counts as its number of parallel links. A FabMultipath owns its memory; one thread at a time may
 * use it.
 */
#pragma once

#include "sim/fabric/path_finder.h"

/* The share of a transfer's bytes that crosses one link. */
typedef struct {
  FabLinkId link;
  double fraction; /* 0 < fraction <= 1 */
} FabShare;

typedef enum {
  FAB_SPLIT_LINKS, /* the same amount on every link that leads on */
  FAB_SPLIT_RATES, /* in proportion to the line rates */
} FabSplit;

typedef struct _FabMultipath FabMultipath;

FabMultipath *fab_multipath_new (const FabGraph *graph);
void fab_multipath_free (FabMultipath *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMultipath, fab_multipath_free)

/* Whether some vertex of the fabric, or some NIC, has several links into the fabric: then there may be several shortest
 * paths. FALSE: there is one path between any two NICs. O(links). */
gboolean fab_multipath_has_choice (const FabMultipath *self);

/* Appends the best path only, as fab_path_finder_append does. */
gboolean fab_multipath_best (FabMultipath *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Appends one of the shortest paths. At every vertex a hash of `key` and the vertex chooses among the links that lead
 * on. FALSE: no path fits, and nothing is appended. */
gboolean fab_multipath_pick (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 key,
                             FabPath *path);

/* The same, where `number` chooses: of n links that lead on number mod n, and number / n at the next vertex. In the
 * second half of the way a bundle is crossed by the cable of the hop that mirrors it. */
gboolean fab_multipath_pick_number (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 number,
                                    FabPath *path);

/* As fab_multipath_pick for packets of one flow that an entropy tells apart. src = dst appends nothing. */
gboolean fab_multipath_pick_entropy (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 key,
                                     guint64 entropy, FabPath *path);

/* Appends what all shortest paths carry (FabShare) when `fraction` of a transfer takes them. With a `via` (a
 * vertex of the fabric; FAB_NO_VERTEX: none) these are the shortest paths to it and from it. A transfer that stays
 * inside a node ignores `via`. A link may appear several times. FALSE: there is no path, and nothing is appended. */
gboolean fab_multipath_spread (FabMultipath *self, FabVertexId src, FabVertexId dst, FabVertexId via,
                               FabSplit split, double fraction, GArray *shares);

/* Returns the vertices of the fabric that have NICs. (transfer full) */
GArray *fab_multipath_vias (const FabGraph *graph);

/* As fab_multipath_spread, evenly by way of `n_vias` of `vias`, which the seed and the pair choose so that all are used
 * over all pairs. The share of one that cannot be reached (in another plane) takes the shortest paths. */
gboolean fab_multipath_spread_vias (FabMultipath *self, FabVertexId src, FabVertexId dst, const GArray *vias,
                                    guint64 n_vias, guint64 seed, FabSplit split, double fraction,
                                    GArray *shares);

/* Sorts the shares from index `first` on by link, and merges those of the same link. */
void fab_shares_merge (GArray *shares, guint first);
