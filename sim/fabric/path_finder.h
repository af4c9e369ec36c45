/* SPDX-License-Identifier: Apache-2.0 */
/* path_finder.h - finds the best path between two vertices.
 *
 * The best path has the fewest links, then the highest rate at its slowest link, then the lowest vertex id in the
 * middle. A collective library prefers NVLink to a PCIe switch with as many hops in the same order.
 *
 * Accelerators, host memory and drives are ends of paths, never in the middle. A path uses a NIC only to leave the
 * node of one end and to enter the node of the other: it relays through no third node, and it leaves and re-enters a
 * node only when the node's parts are connected outside only.
 *
 * The search is breadth-first from both ends at once. It visits the neighbourhoods of both ends and not the whole
 * fabric, which keeps routing for 16 384 ranks cheap. A finder owns its memory; one thread at a time may use it.
 */
#pragma once

#include "sim/fabric/path.h"

typedef struct _FabPathFinder FabPathFinder;

FabPathFinder *fab_path_finder_new (const FabGraph *graph);
void fab_path_finder_free (FabPathFinder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPathFinder, fab_path_finder_free)

/* Appends the best path to `path`. Returns FALSE and appends nothing when there is none of a length that fits. src =
 * dst appends nothing and returns TRUE. */
gboolean fab_path_finder_append (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path);
