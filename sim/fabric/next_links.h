/* SPDX-License-Identifier: Apache-2.0 */
/* next_links.h - which links lead on from NIC to NIC over all shortest paths, without a search for each pair.
 *
 * Switches of the fabric that are joined to the same switches are as far from every other one, so they are one class:
 * the leaves of a pod, or the cores above the spines of one number. Distances are found once per class of destination,
 * by a breadth-first search over classes. Afterwards a path of h links costs h times the links of a switch. A search
 * from both ends (search.h) visits every core of a fat tree instead.
 *
 * It finds what the rules of path_finder.h say, for NICs of different nodes. It owns its tables; one thread at a time
 * may use it.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct _FabWays FabWays;

/* Returns NULL where these classes say nothing: nodes are joined by more than NICs and switches, or the graph forbids
 * the use of symmetry. O(links log (links of a switch)). (transfer full) */
FabWays *fab_ways_new (const FabGraph *graph);
void fab_ways_free (FabWays *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWays, fab_ways_free)

/* Whether these are NICs of two nodes. */
gboolean fab_ways_have (const FabWays *self, FabVertexId src, FabVertexId dst);

/* Returns the fewest links from one such NIC to the other; G_MAXUINT: there is no path. The next calls are about this
 * pair. */
guint fab_ways_begin (FabWays *self, FabVertexId src, FabVertexId dst);

typedef struct {
  FabLinkId link;
  guint count; /* number of parallel links */
  FabVertexId next;
} FabWayOn;

/* In ascending order, valid until the next call. */
typedef struct {
  const FabWayOn *links;
  guint n;
  guint64 n_parallel; /* sum of their counts */
} FabWaysOn;

/* Returns the links that lead from `vertex`, which is `n_left` links from the destination on a shortest path, to a
 * vertex one link nearer. Those of a switch are found once per class of destination. */
FabWaysOn fab_ways_on (FabWays *self, FabVertexId vertex, guint n_left);

/* Sets how many of the links that lead on are kept, and how many bytes of distances; what is forgotten is found anew.
 * At first it is as much as a large machine needs. */
void fab_ways_keep_at_most (FabWays *self, guint n_links, guint64 n_row_bytes);

/* The number of classes, and of entries of adjacency that searches have looked at so far. */
guint fab_ways_n_classes (const FabWays *self);
guint64 fab_ways_n_visits (const FabWays *self);
