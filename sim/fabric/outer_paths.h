/* SPDX-License-Identifier: Apache-2.0 */
/* outer_paths.h - remembers paths over the fabric, one for all NICs that are connected to the same two switches.
 *
 * It applies to NICs with one port each in symmetric nodes (inner_paths.h). The first and the last link are the NICs'
 * own. What lies between depends only on the switches and on which NICs of a node the two are. Other paths are
 * searched each time. It owns its table; one thread at a time may use it.
 */
#pragma once

#include "sim/fabric/inner_paths.h"

typedef struct _FabOuterPaths FabOuterPaths;

/* `inner` must outlive the result. When it is NULL, the result is NULL. */
FabOuterPaths *fab_outer_paths_new (const FabGraph *graph, FabInnerPaths *inner);
void fab_outer_paths_free (FabOuterPaths *self); /* accepts NULL */

/* Appends the path between two such NICs of different nodes when it is known. FALSE: it is unknown or does not fit.
 * `self` may be NULL. */
gboolean fab_outer_paths_append (FabOuterPaths *self, FabVertexId src, FabVertexId dst, FabPath *path);

/* Offers a path that a search found between any two vertices; it is kept when it can be reused. `self` may be NULL. */
void fab_outer_paths_keep (FabOuterPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path);
