/* SPDX-License-Identifier: Apache-2.0 */
/* inner_paths.h - remembers paths inside nodes, because a job of thousands of nodes asks for the same path in each
 * node.
 *
 * It applies to symmetric nodes: nodes whose links are the same one by one, and which are connected to the rest by
 * their NICs only. The best path between two vertices then uses the same links in all of them. Other nodes are
 * searched each time. It owns its table and may be used by one thread at a time.
 */
#pragma once

#include "sim/fabric/path.h"

typedef struct _FabInnerPaths FabInnerPaths;

/* Returns NULL when no nodes are symmetric, or when the graph forbids the use of symmetry. */
FabInnerPaths *fab_inner_paths_new (const FabGraph *graph);
void fab_inner_paths_free (FabInnerPaths *self); /* accepts NULL */

/* Replaces two vertices of a symmetric node by the same vertices of the representative node; FALSE: they are not in
 * such a node. `self` may be NULL. */
gboolean fab_inner_paths_model (FabInnerPaths *self, FabVertexId *src, FabVertexId *dst);

/* Appends the path between two vertices of such a node when it is known. FALSE: it is unknown or does not fit. */
gboolean fab_inner_paths_append (const FabInnerPaths *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Remembers a path found between vertices of the representative node, unless the path leaves the node. */
void fab_inner_paths_keep (FabInnerPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path);
