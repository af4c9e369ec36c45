/* SPDX-License-Identifier: Apache-2.0 */
/* rails.h - which NICs a collective between nodes uses, and which GPU of a node stands beside each. */
#pragma once

#include "sim/work/cluster.h"

/* The local rank with fewest hops to the NIC, other than `taken` (G_MAXUINT: none is); of k equals the (nic mod k)-th,
 * so that NICs which share their neighbours share them evenly. */
guint fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops);

/* The NICs that are as near to a GPU of the group as any is: those of GPUs that take part. (transfer full) */
guint *fab_rails_list (const FabGroup *group, guint *n_rails);
