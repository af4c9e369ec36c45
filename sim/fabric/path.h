/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - a sequence of links, and the search for the best one.
 *
 * Best means fewest links, then the widest bottleneck, then the lowest vertex id in the
 * middle: the order in which a collective library prefers NVLink to a PCIe switch of as
 * many hops.
 *
 * Accelerators, host memory and drives are ends, never on the way. A NIC is on the way only out of the node of one
 * end and into that of the other: no path relays through a third node, and none leaves a node to come back to it,
 * unless the node's parts meet outside only.
 *
 * The search is breadth-first from both ends at once: it sees the neighbourhoods of both
 * ends and not the fabric, which is what keeps routing 16 384 ranks cheap.
 */
#pragma once

#include "sim/fabric/graph.h"

enum { FAB_PATH_MAX_LINKS = 64 };

typedef struct {
  guint n;
  FabLinkId links[FAB_PATH_MAX_LINKS];
} FabPath;

typedef struct _FabPathFinder FabPathFinder;

FabPathFinder *fab_path_finder_new (const FabGraph *graph);
void fab_path_finder_free (FabPathFinder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPathFinder, fab_path_finder_free)

/* Appends the best path to `path`; FALSE (nothing appended) when there is none of a length that fits.
 * src = dst appends nothing and is TRUE. */
gboolean fab_path_finder_append (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path);

FabTimePs fab_path_latency_ps (const FabGraph *graph, const FabPath *path);

/* Payload rate of the slowest link, when nothing else moves. */
double fab_path_rate_bytes_per_s (const FabGraph *graph, const FabPath *path, FabDrive drive);
