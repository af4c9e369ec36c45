/* SPDX-License-Identifier: Apache-2.0 */
/* two_trees.h - two binary trees over the same n nodes, arranged so that every node has the same work.
 *
 * Each tree carries half of the bytes. In one tree alone the leaves would only receive (or only send). In the first
 * tree a node's level is the number of times that 2 divides its number: odd nodes are leaves, node 0 is the root and
 * has one child. In the second tree the nodes change places, so that leaves of the first are inner nodes of the
 * second. Then every node receives and sends as many bytes as any other (Sanders, Speck, Traeff: Two-tree algorithms
 * for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009). The depth is ceil (log2 (n)).
 */
#pragma once

#include <glib.h>

typedef enum {
  /* The second tree is the first one mirrored (n even) or shifted by one node (n odd), as NCCL has it. Its root is
   * another node. */
  FAB_TREE_ROOTS_APART,
  /* Node 0 is the root of both trees, and the other nodes change places. */
  FAB_TREE_ROOTS_AT_0,
} FabTreeRoots;

typedef struct {
  guint n;
  guint *parents;    /* [n] parent of each node; G_MAXUINT: it is the root */
  guint *order;      /* [n] all nodes, each after its parent */
  guint *n_children; /* [n] */
} FabTree;

/* Makes tree number `which`, 0 or 1, over `n` nodes. */
FabTree *fab_tree_new (guint n, guint which, FabTreeRoots roots);
void fab_tree_free (FabTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTree, fab_tree_free)
