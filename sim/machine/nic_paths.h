/* SPDX-License-Identifier: Apache-2.0 */
/* nic_paths.h - multi-NIC paths: which NICs each GPU of a node uses, and the hops that use all of them at once.
 *
 * Each NIC that collectives use belongs to the GPU nearest to it, so that a GPU may have several. A GPU
 * that gets no NIC of its own shares the nearest one.
 */
#pragma once

#include "sim/machine/cluster.h"
#include "sim/machine/hop.h"

typedef struct {
  const FabGroup *group;
  guint n_nics;  /* NICs of a node (of the first shape) that collectives use; 0 for a group in one node */
  guint *firsts; /* [shapes + 1] where the lists of the ranks of a shape begin */
  /* [firsts[shapes]] of guint: the NICs of each local rank of each shape; empty: it has no path to any, or the group is
   * in one node */
  GArray **lists;
} FabNicPaths;

FabNicPaths *fab_nic_paths_new (const FabGroup *group);
void fab_nic_paths_free (FabNicPaths *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNicPaths, fab_nic_paths_free)

/* The NICs of a local rank in a node of the group. */
static inline const GArray *
fab_nic_paths_nics (const FabNicPaths *self, guint node, guint local)
{
  return self->lists[self->firsts[fab_group_shape (self->group, node)] + local];
}

/* Appends to `hops` (FabHop) the hops that carry what one rank sends to another, each an equal share: one hop inside
 * a node; between nodes one hop for each NIC of the two GPUs, with PXN as in fab_hop_ranks (). FALSE and *error when
 * there is no path; then some of the hops may be missing. */
gboolean fab_nic_paths_between (const FabNicPaths *self, guint from, guint to, GArray *hops, GError **error);

/* An empty list for hops, which clears them when it is freed. (transfer full) */
GArray *fab_nic_paths_hops (void);
