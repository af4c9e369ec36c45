/* SPDX-License-Identifier: Apache-2.0 */
/* rails.h - the NICs that a collective between nodes uses, the GPU next to each, and GPUs that pass bytes to them. */
#pragma once

#include "sim/machine/cluster.h"

/* Returns the local rank with the fewest hops to the NIC, other than `taken` (G_MAXUINT: none). Of k equals it is the
 * (nic mod k)-th, so that NICs with the same neighbours share them evenly. */
guint fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops);

/* Returns the NICs nearest to some GPU of the group, i.e. the NICs of participating GPUs. (transfer full) */
guint *fab_rails_list (const FabGroup *group, guint *n_rails);

/* Bytes that another GPU of the node passes to a NIC: NCCL's PXN (src/graph/paths.cc), over links whose
 * technology relays. */

/* Whether bytes may go from one GPU to the other this way: cluster.pxn is on, and links that relay connect them
 * within p2p. */
gboolean fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay);

/* Whether two NICs of a node, or of two nodes, are on one rail. */
gboolean fab_rails_are_same (const FabCluster *cluster, guint out_nic, guint in_nic);

/* Returns the GPU of the sender's node that stands where the receiver does, next to the NIC `in_nic` of the receiver's
 * rail, and to which the sender passes bytes on their way to another rank of the group; *out_nic becomes the NIC of
 * that rail by which they leave. Returns the sender, and leaves *out_nic, when there is none, or it cannot. Only ranks
 * of the group pass bytes on. In a node of several boards it is a GPU of the sender's own board: NCCL looks for the
 * receiver's device number on the sender's host alone (ncclTopoDevToRank, src/graph/topo.h). */
FabVertexId fab_relay_towards (const FabGroup *group, guint from, guint to, guint in_nic, guint *out_nic);

/* Returns the GPU that passes bytes to this NIC for `from` when the path of `from` to the NIC crosses a host bridge:
 * the GPU nearest to the NIC. It returns `from` when its own path is as good, or when there is no such GPU. Receivers
 * have no relay: NCCL relays on the sending side. */
FabVertexId fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic);
