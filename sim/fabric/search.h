/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - breadth-first from both ends at once, by the rules of path.h: what path.c and multipath.c have in
 * common.
 *
 * It ends as soon as the two sides meet: both know the neighbourhood of their end, level by level, and every vertex
 * of a shortest path lies on one side or on the meeting line between them.
 */
#pragma once

#include "sim/fabric/outer_paths.h"

/* What one side knows of a vertex; of this search only when `stamp` says so. */
typedef struct {
  guint32 stamp;
  guint32 level;
  FabBytesPerS width; /* widest bottleneck over the shortest paths to here */
  FabLinkId link;     /* towards the side's root */
} FabSearchMark;

typedef struct {
  FabSearchMark *marks;
  GArray *frontier; /* FabVertexId */
  GArray *next;
  guint64 n_links; /* that leave the frontier: the work of expanding it */
  guint32 level;
  gboolean is_forward;
} FabSearchSide;

typedef struct {
  const FabGraph *graph;
  FabInnerPaths *inner;
  FabOuterPaths *outer;
  FabSearchSide sides[2]; /* from the source, from the destination */
  guint32 stamp;
  FabVertexId src, dst;  /* of this search */
  gboolean stays_inside; /* both ends are in one node: no detour through its NICs */
  gboolean is_found;
  guint last;          /* the side that was expanded last: its frontier holds the meeting line */
  FabVertexId meeting; /* where the widest of the shortest paths crosses it, the lowest of equals */
} FabSearch;

void fab_search_init (FabSearch *self, const FabGraph *graph);
void fab_search_clear (FabSearch *self);

/* FALSE: there is no path. src and dst differ. Asked again for the same ends it does nothing: what one hop wants to
 * know of a pair costs one search. */
gboolean fab_search_run (FabSearch *self, FabVertexId src, FabVertexId dst);

/* Appends the best path of a search that found one; FALSE (nothing appended): it does not fit. */
gboolean fab_search_emit (const FabSearch *self, FabPath *path);

/* Appends the best path; FALSE: none that fits. Inside nodes that are alike only the first one's are searched for, and
 * between NICs of such nodes those of one pair for all that hang on the same switches. */
gboolean fab_search_best (FabSearch *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Whether a path of this search may go on through the vertex. */
gboolean fab_search_is_passable (const FabSearch *self, FabVertexId vertex);

/* Whether a vertex of the last frontier lies on a shortest path. */
gboolean fab_search_is_meeting (const FabSearch *self, FabVertexId vertex);
