/* SPDX-License-Identifier: Apache-2.0 */
/* rings.h - which rings a group has: one node's, or one and more per NIC over all nodes.
 *
 * A ring has every rank once: stop k is followed by stop k + 1, the last by the first. Stops are node by node.
 */
#pragma once

#include "sim/work/hop.h"

typedef struct {
  guint in_nic, out_nic; /* on even nodes; the other way round on odd ones */
  guint *orders[2];      /* [gpus_per_node] local ranks: on even nodes, on odd ones */
} FabRing;

typedef struct {
  const FabGroup *group;
  GArray *rings;    /* FabRing; each has an equal share of the bytes */
  guint n_channels; /* that do not share a link inside one node, a NIC between nodes */
} FabRings;

gboolean fab_rings_find (const FabGroup *group, FabRings *rings, GError **error);
void fab_rings_clear (FabRings *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabRings, fab_rings_clear)

/* The stop of rank 0. */
guint fab_rings_root (const FabRings *self, guint ring);

/* From a stop to the next; any number, counted round the ring. */
gboolean fab_rings_hop (const FabRings *self, guint ring, guint stop, FabHop *hop, GError **error);
