/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - bytes that another GPU of the node hands to a NIC: NCCL's PXN (src/graph/paths.cc), for NVLink only. */
#pragma once

#include "sim/work/cluster.h"

/* Whether bytes may go from the one GPU to the other so: cluster.pxn is on, and NVLink leads there, within p2p. */
gboolean fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay);

/* The GPU that hands bytes to this NIC for `from`, whose own way there crosses a host bridge: the nearest to the NIC.
 * `from` itself where its way is as good, or there is no such GPU. Receivers have none: NCCL relays what is sent. */
FabVertexId fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic);
