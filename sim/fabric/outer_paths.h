/* SPDX-License-Identifier: Apache-2.0 */
/* outer_paths.h - paths over the fabric, found once for all NICs that hang on the same two switches.
 *
 * Holds between NICs of nodes that are alike (inner_paths.h) with one port each: the first and the last link are the
 * NICs' own, and what lies between depends on where these lead and on which NICs of a node they are. Others are left to
 * the search.
 */
#pragma once

#include "sim/fabric/inner_paths.h"

typedef struct _FabOuterPaths FabOuterPaths;

/* `inner` may be NULL, and so is then the result; it outlives it. */
FabOuterPaths *fab_outer_paths_new (const FabGraph *graph, FabInnerPaths *inner);
void fab_outer_paths_free (FabOuterPaths *self); /* accepts NULL */

/* Appends the path between two such NICs of different nodes, if it is known; FALSE: it is not, or does not fit. `self`
 * may be NULL. */
gboolean fab_outer_paths_append (FabOuterPaths *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* What a search has found between any two vertices; kept where it is of use. `self` may be NULL. */
void fab_outer_paths_keep (FabOuterPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path);
