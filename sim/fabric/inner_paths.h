/* SPDX-License-Identifier: Apache-2.0 */
/* inner_paths.h - paths inside nodes, found once: a job of thousands of nodes asks for the same ones in each.
 *
 * Holds for nodes that are alike link by link and that only their NICs join to anything else, so that the best path
 * between two of their vertices has the same links in all of them. Others are left to the search.
 */
#pragma once

#include "sim/fabric/path.h"

typedef struct _FabInnerPaths FabInnerPaths;

/* NULL where there are no such nodes, or they are not to be taken for each other. */
FabInnerPaths *fab_inner_paths_new (const FabGraph *graph);
void fab_inner_paths_free (FabInnerPaths *self); /* accepts NULL */

/* Two vertices of such a node: the same two in the node that stands for all; else FALSE. `self` may be NULL. */
gboolean fab_inner_paths_model (FabInnerPaths *self, FabVertexId *src, FabVertexId *dst);

/* Appends the path between two vertices of such a node, if it is known; FALSE: it is not, or does not fit. */
gboolean fab_inner_paths_append (const FabInnerPaths *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* What a search has found between vertices of the node that stands for all. A path that leaves it is not kept. */
void fab_inner_paths_keep (FabInnerPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path);
