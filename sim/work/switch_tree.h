/* SPDX-License-Identifier: Apache-2.0 */
/* switch_tree.h - a tree of the network's switches over one rail, in which they reduce what comes up and multiply
 * what goes down (InfiniBand SHARP).
 *
 * Its leaves are the switches that the rail's NICs are plugged into; its root is the switch from which the
 * farthest leaf is nearest. Above a leaf one stream goes up for all NICs below it, and one comes down.
 */
#pragma once

#include "sim/work/stages.h"

typedef struct {
  guint nic;
  guint n_nodes;
  FabVertexId *leaves; /* [n_nodes] the switch of each node's NIC */
  guint n_switches;
  FabVertexId *switches; /* every one after its parent; the root first */
  guint *parents;        /* [n_switches] indices; G_MAXUINT: the root */
  guint *n_below;        /* [n_switches] nodes below it */
} FabSwitchTree;

/* Whether every NIC of the rail is plugged into a switch that reduces. */
gboolean fab_switch_tree_is_possible (const FabGroup *group, guint nic);

/* NULL and *error: it is not possible, or no switch reaches all of these. */
FabSwitchTree *fab_switch_tree_new (const FabGroup *group, guint nic, GError **error);
void fab_switch_tree_free (FabSwitchTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSwitchTree, fab_switch_tree_free)

/* How much of the size one NIC sends and receives, and what becomes of it on the way. */
typedef struct {
  double up, down;
  gboolean is_summed_up;   /* one stream for all nodes below; else one for each */
  gboolean is_copied_down; /* likewise */
} FabSwitchPass;

/* From GPU `local` of every node over its NIC to the root and back: node i's list in `lists` says what it waits
 * for, and afterwards what brings it the result. */
gboolean fab_switch_tree_pass (const FabSwitchTree *self, FabStages *stages, const FabGroup *group,
                               guint local, const FabSwitchPass *pass, const GPtrArray *lists,
                               GError **error);
