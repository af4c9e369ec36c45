/* SPDX-License-Identifier: Apache-2.0 */
/* twins.h - nodes that are alike link by link: what holds inside one holds inside the other. */
#pragma once

#include "sim/fabric/graph.h"

/* Whether the n vertices from `other` on are a node like the n from `model` on: the same kinds, the same links inside,
 * in the same order, and only NICs joined to anything else. Each is all of its node. O(links). */
gboolean fab_twins (const FabGraph *graph, FabVertexId model, FabVertexId other, guint n);

/* The vertices of the node that a vertex is in follow one another: the first of them, and how many. */
FabVertexId fab_twins_range (const FabGraph *graph, FabVertexId vertex, guint *n);

/* A link inside the model, in its twin `shift` vertices on. */
FabLinkId fab_twins_link (const FabGraph *graph, FabLinkId link, FabVertexId shift);
