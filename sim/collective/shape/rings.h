/* SPDX-License-Identifier: Apache-2.0 */
/* rings.h - finds the rings of a group, over which an algorithm sends from each rank to the next.
 *
 * A group in one node has the rings that its links allow; a group over several nodes has at least one ring for
 * each NIC of a node. A ring visits every rank once, node by node. The places in this order are called stops: stop k
 * sends to stop k + 1, and the last stop sends to stop 0.
 */
#pragma once

#include "sim/machine/hop.h"

/* One ring in nodes of one shape. It enters each node at one NIC and leaves it at another; on every second node the two
 * change roles, because both ends of a wire between two nodes have the same number. */
typedef struct {
  guint in_nic, out_nic; /* on nodes 0, 2, 4, ...; exchanged on nodes 1, 3, 5, ... */
  guint *orders[2]; /* [gpus_per_node] local ranks in the order of the ring: on even nodes, on odd nodes */
} FabRing;

/* An uneven group has as many rings as the shape that has the fewest: NCCL searches the channels of every node by
 * itself, takes the fewest of any rank, and joins channel c of one node to channel c of the next (src/init.cc,
 * initTransportsRank; src/graph/connect.cc, connectRings). Such a hop may change rails. */
typedef struct {
  const FabGroup *group;
  GArray **
      shapes; /* [shapes of the group] of FabRing, as many in each; each carries an equal share of the bytes */
  guint n_shapes;
  guint n_rings;
  guint n_channels; /* how many of them share no link inside one node, or no NIC between nodes */
} FabRings;

/* FALSE and *error when the ranks cannot be joined to a ring. */
gboolean fab_rings_find (const FabGroup *group, FabRings *rings, GError **error);
void fab_rings_clear (FabRings *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabRings, fab_rings_clear)

/* Whether GPUs of the first node are wired to each other, so that ways through them load different links. */
gboolean fab_rings_are_wired (const FabGroup *group);

/* The order in which a ring that enters nodes of a shape at a NIC visits their GPUs, on even nodes; NULL: no ring
 * enters there. Of several such rings it is the one with number `nth`, counted round. */
const guint *fab_rings_order_from (const FabRings *self, guint shape, guint nic, guint nth);

/* The stop at which a ring visits rank 0. */
guint fab_rings_root (const FabRings *self, guint ring);

/* Finds the hop from a stop to the next one. Any number is a stop: counting goes on round the ring. FALSE and *error
 * when there is no path. */
gboolean fab_rings_hop (const FabRings *self, guint ring, guint stop, FabHop *hop, GError **error);
