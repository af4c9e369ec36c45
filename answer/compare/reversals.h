/* SPDX-License-Identifier: Apache-2.0 */
/* reversals.h - larger purchases that save less than smaller ones of their kind, and why.
 *
 * A larger purchase is more of a smaller one: 4 NICs per node in place of 2, ports of the generation after the next
 * one, more nodes. Both are single changes of one kind.
 */
#pragma once

#include "sim/study/upgrade.h"

typedef struct {
  const FabUpgrade *larger, *smaller; /* of `all` */
  char *why; /* sentences: how much both save, and what takes longer with the larger one */
} FabReversal;

/* Each larger purchase that saves less is held against the smaller one that saves most. The two of a pair are played
 * again where the sentences need more than a point of each. (transfer full): of FabReversal, in the order of the
 * changes. */
GPtrArray *fab_reversals_find (const FabUpgrades *all);
