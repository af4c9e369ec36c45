/* SPDX-License-Identifier: Apache-2.0 */
/* port_router.h - chooses the ports of NICs that have several, and leaves the way between the switches to another
 * router.
 *
 *   merged   the k-th port of the sender and the k-th of the receiver carry 1 / n of the bytes each, for the n ports of
 *            the sender from which a path leads to the receiver
 *   bond     a hash of sender, receiver and flow picks one of the ports from which the way is shortest. A router that
 *            hashes flows itself (ecmp) does so at the NIC too, for each of its queue pairs
 *
 * Ports are numbered in the order of their links, those that are dead left out. A port without a path is not used: its
 * share goes to the others, as if all senders knew. Transfers inside a node, and those of NICs with one port, are the
 * other router's.
 */
#pragma once

#include "sim/fabric/port_mode.h"
#include "sim/fabric/router.h"

/* Takes `inner`. `mode` is merged or bond. (transfer full) */
FabRouter *fab_port_router_new (FabRouter *inner, const FabGraph *graph, FabPortMode mode, guint64 seed);

/* Returns the number of links that lead from a NIC into the fabric, and the first of them. */
guint fab_nic_ports (const FabGraph *graph, FabVertexId nic, FabLinkId *first);
