/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - fat trees without oversubscription in which a path is plain arithmetic, so that a peer takes the same one.
 *
 * Host h is on leaf h / n_per_leaf. A pod has as many middle switches as a leaf has hosts, each joined to all its
 * leaves; with several pods middle switch a of each is joined to cores a * n_leaves ... (a + 1) * n_leaves - 1. What
 * goes to host h takes middle switch h mod n_per_leaf and of its cores number (h / n_per_leaf) mod n_leaves: D-mod-k.
 */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  guint n_pods;     /* 1: leaves and spines, no cores */
  guint n_leaves;   /* of a pod */
  guint n_per_leaf; /* hosts, and middle switches of a pod */
  FabBytesPerS rate_bytes_per_s;
  FabTimePs latency_ps; /* of every link */
  double cost;          /* line bytes per byte; 0: 1 */
} TreeSpec;

typedef struct {
  TreeSpec spec;
  guint n_hosts; /* vertices 0 to n_hosts - 1 */
  FabGraph *graph;
  FabRouter *router;
} Tree;

Tree *tree_new (const TreeSpec *spec);
void tree_free (Tree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tree, tree_free)

guint tree_hops (const Tree *self, guint src, guint dst); /* links on the way */
