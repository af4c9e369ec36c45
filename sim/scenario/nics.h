/* SPDX-License-Identifier: Apache-2.0 */
/* nics.h - which NICs are left to use where some are dead or cut off.
 *
 * A network is a set of NICs that the fabric joins: one, or one for each rail or plane that is joined nowhere. A NIC is
 * good when its network reaches as many nodes as the widest does. All nodes use the same number of NICs, that of the
 * node with the fewest good ones: so does NCCL, which takes the least number of channels that any rank found
 * (src/init.cc, initTransportsRank: nChannels = min over ranks). They are those that are good in most nodes, so that
 * rails stay rails; where one of them is not good, that node takes the nearest of its other good ones.
 */
#pragma once

#include "sim/work/cluster.h"

/* How many nodes the widest network reaches. */
guint fab_nics_reach (const FabCluster *cluster);

/* Changes nics, nic_hops and nics_per_node, which are of the machine before its graph was changed. `reach_before` is
 * fab_nics_reach () of then; FALSE and *error when nodes cannot talk any more, or one of their GPUs is lost. */
gboolean fab_nics_choose (FabCluster *cluster, guint reach_before, GError **error);
