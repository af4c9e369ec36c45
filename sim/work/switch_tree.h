/* SPDX-License-Identifier: Apache-2.0 */
/* switch_tree.h - a tree of network switches that reduce on the way up and copy on the way down (InfiniBand SHARP).
 *
 * The tree joins the NICs of one rail: NIC number `nic` of every node. Its leaves are the switches into which these
 * NICs are plugged. Its root is the switch whose distance to the farthest leaf is smallest. A switch adds the streams
 * that arrive from below and sends one stream up; it sends a copy of what comes down to each switch or NIC below it.
 */
#pragma once

#include "sim/work/stages.h"

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

/* Adds the stages from GPU `local` of every node over its NIC up to the root, and down to the GPUs again. List i of
 * `lists` says for which stages node i waits before it sends; on return it holds the stage that brings node i the
 * result. FALSE and *error when there is no path. */
gboolean fab_switch_tree_pass (const FabSwitchTree *self, FabStages *stages, const FabGroup *group,
                               guint local, const FabSwitchPass *pass, const GPtrArray *lists,
                               GError **error);
