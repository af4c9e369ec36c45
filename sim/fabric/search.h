/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - a breadth-first search from both ends at once, by the rules of path_finder.h. path_finder.c and
 * multipath.c share it.
 *
 * It ends as soon as the two sides meet. Both sides then know the neighbourhood of their end level by level, and
 * every vertex of a shortest path lies on one side or on the meeting line between them. A search owns its memory; one
 * thread at a time may use it.
 */
#pragma once

#include "sim/fabric/path.h"

typedef struct _FabInnerPaths FabInnerPaths;

/* Remembers paths over the fabric, or that there is none: one answer for all NICs that are connected to the same two
 * switches.
 *
 * It applies to NICs with one port each in symmetric nodes. The first and the last link are the NICs'
 * own. What lies between depends only on the switches and on which NICs of a node the two are. Other paths are
 * searched each time. It owns its table; one thread at a time may use it.
 */
typedef struct _FabOuterPaths FabOuterPaths;

/* What one side knows about a vertex, valid in this search only when `stamp` says so. */
typedef struct {
  guint32 stamp;
  guint32 level;
  FabBytesPerS width; /* highest bottleneck rate over the shortest paths to here */
  FabLinkId link;     /* the link towards the root of this side */
} FabSearchMark;

typedef struct {
  FabSearchMark *marks;
  GArray *frontier; /* of FabVertexId */
  GArray *next;
  guint64 n_links; /* links that leave the frontier: the work of expanding it */
  guint32 level;
  gboolean is_forward;
} FabSearchSide;

typedef struct {
  const FabGraph *graph;
  FabInnerPaths *inner;
  FabOuterPaths *outer;
  FabSearchSide sides[2]; /* from the source and from the destination */
  guint32 stamp;
  FabVertexId src, dst;  /* the ends of this search */
  gboolean stays_inside; /* both ends are in one node, so the path must not pass its NICs */
  gboolean is_found;
  guint last; /* the side that was expanded last; its frontier holds the meeting line */
  /* Where the widest shortest path crosses the meeting line; of equal ones, the lowest id. */
  FabVertexId meeting;
} FabSizeSearch;

void fab_search_init (FabSizeSearch *self, const FabGraph *graph);
void fab_search_clear (FabSizeSearch *self);

/* Returns FALSE when there is no path. src and dst must differ. A repeated call for the same ends does nothing, so
 * several questions about one pair cost one search. */
gboolean fab_search_run (FabSizeSearch *self, FabVertexId src, FabVertexId dst);

/* Appends the best path of a successful search. FALSE: it does not fit, and nothing is appended. */
gboolean fab_search_emit (const FabSizeSearch *self, FabPath *path);

/* Appends the best path; FALSE: none fits. Of symmetric nodes only the first is searched, except between its NICs, and
 * of NICs of two such nodes one pair for all that are connected to the same switches. */
gboolean fab_search_best (FabSizeSearch *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Whether a path of this search may continue through the vertex. */
gboolean fab_search_is_passable (const FabSizeSearch *self, FabVertexId vertex);

/* Whether a vertex of the last frontier lies on a shortest path. */
gboolean fab_search_is_meeting (const FabSizeSearch *self, FabVertexId vertex);
