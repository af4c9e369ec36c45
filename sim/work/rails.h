/* SPDX-License-Identifier: Apache-2.0 */
/* rails.h - the NICs that a collective between nodes uses, and the GPU next to each. */
#pragma once

#include "sim/work/cluster.h"

/* Returns the local rank with the fewest hops to the NIC, other than `taken` (G_MAXUINT: none). Of k equals it is the
 * (nic mod k)-th, so that NICs with the same neighbours share them evenly. */
guint fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops);

/* Returns the NICs nearest to some GPU of the group, i.e. the NICs of participating GPUs. (transfer full) */
guint *fab_rails_list (const FabGroup *group, guint *n_rails);
