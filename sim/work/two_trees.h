/* SPDX-License-Identifier: Apache-2.0 */
/* two_trees.h - two binary trees over the same nodes, in which no node forwards twice.
 *
 * Half of the bytes goes over each tree. The first is the binary tree in which the level of a node is how often 2
 * divides its number: odd nodes are leaves, node 0 is on top with one child. In the second the nodes
 * change places so that leaves become inner nodes: every node then receives and sends as much as any other (Sanders,
 * Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel
 * Computing 35(12), 2009). Depth: ceil (log2 (n)).
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_TREE_ROOTS_APART, /* the second mirrored (even n) or shifted by one (odd n), as NCCL does: its own root */
  FAB_TREE_ROOTS_AT_0, /* node 0 is the root of both, the other nodes change places */
} FabTreeRoots;

typedef struct {
  guint n;
  guint *parents; /* [n]; G_MAXUINT: the root */
  guint *order;   /* [n] nodes, every one after its parent */
  guint *n_children;
} FabTree;

FabTree *fab_tree_new (guint n, guint which, FabTreeRoots roots);
void fab_tree_free (FabTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTree, fab_tree_free)
