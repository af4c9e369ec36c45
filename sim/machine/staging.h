/* SPDX-License-Identifier: Apache-2.0 */
/* staging.h - where bytes wait in a node that cannot pass them on directly. */
#pragma once

#include "sim/fabric/graph.h"

/* Finds the host memory nearest to a vertex of a node: that of its own socket. When the node's entry has no memory,
 * the nearest socket stands for it. FALSE: the node has neither. */
gboolean fab_staging_near (const FabGraph *graph, FabVertexId vertex, FabVertexId *staging);
