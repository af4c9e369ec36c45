/* SPDX-License-Identifier: Apache-2.0 */
/* multipath.h - all the shortest paths between two places at once.
 *
 * Only the fabric has a choice: inside a node, and to the NICs by which it is left and entered, bytes take the best
 * path (path.h). Between those NICs every path with the fewest links counts, whatever its width. A transfer is
 * followed hop by hop along all of them; what comes to a vertex is divided among the links that lead on. A bundle
 * counts as the parallel links that are in it.
 */
#pragma once

#include "sim/fabric/path.h"

/* A part of what one transfer puts on the fabric: this share of its bytes crosses this link. */
typedef struct {
  FabLinkId link;
  double fraction; /* 0 < fraction <= 1 */
} FabShare;

typedef enum {
  FAB_SPLIT_LINKS, /* the same on every link that leads on */
  FAB_SPLIT_RATES, /* in proportion to their line rates */
} FabSplit;

typedef struct _FabMultipath FabMultipath;

FabMultipath *fab_multipath_new (const FabGraph *graph);
void fab_multipath_free (FabMultipath *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMultipath, fab_multipath_free)

/* Appends the best path alone; as fab_path_finder_append. */
gboolean fab_multipath_best (FabMultipath *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Appends one of the shortest paths: at every vertex a hash of `key` and the vertex chooses among the links that
 * lead on. FALSE: no path that fits, nothing appended. */
gboolean fab_multipath_pick (FabMultipath *self, FabVertexId src, FabVertexId dst, guint64 key,
                             FabPath *path);

/* Appends what all the shortest paths carry (FabShare) of a transfer of which this fraction goes here. With a `via`
 * (a vertex of the fabric; FAB_NO_VERTEX: none) these are the shortest paths to it and then from it; where the
 * transfer stays inside a node `via` is ignored. A link may come up several times. FALSE: no path, nothing appended.
 * */
gboolean fab_multipath_spread (FabMultipath *self, FabVertexId src, FabVertexId dst, FabVertexId via,
                               FabSplit split, double fraction, GArray *shares);

/* Makes one share of those of the same link, from index `first` on, in the order of links. */
void fab_shares_merge (GArray *shares, guint first);
