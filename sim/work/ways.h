/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the NICs of each GPU, where it has several, and the hops that use all of them.
 *
 * Of the NICs that collectives use (rails.h) each belongs to the GPU that stands beside it. A GPU that gets none
 * shares the one nearest to it.
 */
#pragma once

#include "sim/work/hop.h"

typedef struct {
  const FabGroup *group;
  guint n_nics;   /* that collectives use; 0 in one node */
  GArray **lists; /* [gpus_per_node] of guint: NICs of each local rank; empty: no path to one */
} FabWays;

FabWays *fab_ways_new (const FabGroup *group);
void fab_ways_free (FabWays *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWays, fab_ways_free)

static inline const GArray *
fab_ways_nics (const FabWays *self, guint local)
{
  return self->lists[local];
}

/* Appends to `hops` (FabHop) those that share what one rank sends to another equally: one inside a node; between nodes
 * one over each NIC of the two GPUs, with PXN as fab_hop_ranks () has it. FALSE: no path, and nothing is appended. */
gboolean fab_ways_between (const FabWays *self, guint from, guint to, GArray *hops, GError **error);

/* An empty list for them. */
GArray *fab_ways_hops (void);
