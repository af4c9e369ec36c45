/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - bytes that another GPU of the node passes to a NIC: NCCL's PXN (src/graph/paths.cc), over links whose
 * technology relays. */
#pragma once

#include "sim/work/cluster.h"

/* Whether bytes may go from one GPU to the other this way: cluster.pxn is on, and links that relay connect them within
 * p2p. */
gboolean fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay);

/* Returns the GPU that passes bytes to this NIC for `from` when the path of `from` to the NIC crosses a host bridge:
 * the GPU nearest to the NIC. It returns `from` when its own path is as good, or when there is no such GPU. Receivers
 * have no relay: NCCL relays on the sending side. */
FabVertexId fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic);
