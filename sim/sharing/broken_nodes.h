/* SPDX-License-Identifier: Apache-2.0 */
/* broken_nodes.h - nodes that are away for repair, and the spares that stand in for them. */
#pragma once

#include <glib.h>

typedef struct _FabBrokenNodes FabBrokenNodes;

/* (transfer full) */
FabBrokenNodes *fab_broken_nodes_new (guint n_spares);
void fab_broken_nodes_free (FabBrokenNodes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBrokenNodes, fab_broken_nodes_free)

/* A node of the group breaks and is whole again at `back_s`. Whether a spare takes its place; if not, the group has one
 * node less. */
gboolean fab_broken_nodes_add (FabBrokenNodes *self, guint group, double back_s);

/* When the next node is whole again; infinite: none is away. */
double fab_broken_nodes_next (const FabBrokenNodes *self);

/* That node is whole again. Returns the group that gets a node by it: its own, or the one that waits longest for a
 * spare; G_MAXUINT: it is a spare again. */
guint fab_broken_nodes_return (FabBrokenNodes *self);

/* Nodes that are missing, for lack of a spare. */
guint fab_broken_nodes_missing (const FabBrokenNodes *self);
