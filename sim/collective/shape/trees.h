/* SPDX-License-Identifier: Apache-2.0 */
/* trees.h - a tree of network switches that reduce on the way up and copy on the way down (InfiniBand SHARP).
 *
 * The tree joins the NICs of one rail: NIC number `nic` of every node. Its leaves are the switches into which these
 * NICs are plugged. Its root is the switch whose distance to the farthest leaf is smallest. A switch adds the streams
 * that arrive from below and sends one stream up; it sends a copy of what comes down to each switch or NIC below it.
 */
#pragma once

#include <glib.h>

#include "sim/collective/shape/send_graph.h"

typedef struct {
  guint nic; /* of the rail: the number of the NIC in each node */
  guint n_nodes;
  FabVertexId *leaves; /* [n_nodes] the switch into which each node's NIC is plugged */
  guint n_switches;
  FabVertexId *switches; /* [n_switches] the root first, each switch after its parent */
  guint *parents;        /* [n_switches] index of the parent in `switches`; G_MAXUINT: it is the root */
  guint *n_below;        /* [n_switches] nodes below the switch */
} FabSwitchTree;

/* Whether every NIC of the rail is plugged into a switch that can reduce. */
gboolean fab_switch_tree_is_possible (const FabGroup *group, guint nic);

/* NULL and *error when that is not so, or when no switch reaches all of these switches. */
FabSwitchTree *fab_switch_tree_new (const FabGroup *group, guint nic, GError **error);
void fab_switch_tree_free (FabSwitchTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSwitchTree, fab_switch_tree_free)

/* What goes up the tree and down again. */
typedef struct {
  double up, down; /* bytes per byte of size that one NIC sends, that one NIC receives */
  /* A switch sends one stream up for all nodes below it; else one stream for each node. */
  gboolean is_summed_up;
  /* A switch receives one stream from above for all nodes below; else one for each node. */
  gboolean is_copied_down;
} FabSwitchPass;

/* Adds the sends from GPU `local` of every node over its NIC up to the root, and down to the GPUs again. List i of
 * `lists` says for which sends node i waits before it sends; on return it holds the send that brings node i the
 * result. FALSE and *error when there is no path. */
gboolean fab_switch_tree_pass (const FabSwitchTree *self, FabSendGraph *sends, const FabGroup *group,
                               guint local, const FabSwitchPass *pass, const GPtrArray *lists,
                               GError **error);

/* Two binary trees over the same n nodes, arranged so that every node has the same work.
 *
 * Each tree carries half of the bytes. In one tree alone the leaves would only receive (or only send). In the first
 * tree a node's level is the number of times that 2 divides its number: odd nodes are leaves, node 0 is the root and
 * has one child. In the second tree the nodes change places, so that leaves of the first are inner nodes of the
 * second. Then every node receives and sends as many bytes as any other (Sanders, Speck, Traeff: Two-tree algorithms
 * for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009). The depth is ceil (log2 (n)).
 */
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
