/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - multi-NIC paths: which NICs each GPU of a node uses, and the hops that use all of them at once.
 *
 * Each NIC that collectives use (rails.h) belongs to the GPU nearest to it, so that a GPU may have several. A GPU that
 * gets no NIC of its own shares the nearest one.
 */
#pragma once

#include "sim/work/hop.h"

typedef struct {
  const FabGroup *group;
  guint n_nics;   /* NICs of a node that collectives use; 0 for a group in one node */
  GArray **lists; /* [gpus_per_node] of guint: the NICs of each local rank; empty: it has no path to any */
} FabWays;

FabWays *fab_ways_new (const FabGroup *group);
void fab_ways_free (FabWays *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWays, fab_ways_free)

static inline const GArray *
fab_ways_nics (const FabWays *self, guint local)
{
  return self->lists[local];
}

/* Appends to `hops` (FabHop) the hops that carry what one rank sends to another, each an equal share: one hop inside
 * a node; between nodes one hop for each NIC of the two GPUs, with PXN as in fab_hop_ranks (). FALSE and *error when
 * there is no path; then nothing is appended. */
gboolean fab_ways_between (const FabWays *self, guint from, guint to, GArray *hops, GError **error);

/* An empty list for hops, which clears them when it is freed. (transfer full) */
GArray *fab_ways_hops (void);
