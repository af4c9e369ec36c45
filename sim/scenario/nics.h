/* SPDX-License-Identifier: Apache-2.0 */
/* nics.h - chooses the NICs to use when some are dead or cut off.
 *
 * A network is a set of NICs that the fabric connects: one for a connected fabric, or one for each rail or plane. A
 * NIC is good when its network reaches as many nodes as the widest network does. All nodes use the same number of
 * NICs, that of the node with the fewest good ones. NCCL does so too: it takes the least number of channels that any
 * rank found (src/init.cc, initTransportsRank: nChannels = min over ranks). The chosen NIC numbers are those that are
 * good in most nodes, which keeps rails intact; a node in which one of them is not good uses the nearest of its other
 * good NICs.
 */
#pragma once

#include "sim/work/cluster.h"

/* Returns how many nodes the widest network reaches. */
guint fab_nics_reach (const FabCluster *cluster);

/* Changes nics, nic_hops and nics_per_node, which describe the machine before its graph was changed. `reach_before` is
 * the fab_nics_reach () of that time. FALSE and *error when nodes can no longer communicate, or a node has lost a
 * GPU. */
gboolean fab_nics_choose (FabCluster *cluster, guint reach_before, GError **error);
