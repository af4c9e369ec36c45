/* SPDX-License-Identifier: Apache-2.0 */
/* symmetry.h - symmetric nodes: their links are the same one by one, so what holds inside one holds inside the
 * other. */
#pragma once

#include "sim/fabric/graph.h"

/* Whether the n vertices from `other` on form a node symmetric to the n vertices from `model` on: the same kinds, the
 * same links inside in the same order, and only NICs connected to the rest. Each range must be a whole node.
 * O(links). */
gboolean fab_symmetry (const FabGraph *graph, FabVertexId model, FabVertexId other, guint n);

/* Returns the first vertex of the node that contains `vertex`, and the number of its vertices, which are
 * consecutive. */
FabVertexId fab_symmetry_range (const FabGraph *graph, FabVertexId vertex, guint *n);

/* Returns the link that corresponds to `link` in the symmetric node `shift` vertices further on. */
FabLinkId fab_symmetry_link (const FabGraph *graph, FabLinkId link, FabVertexId shift);
