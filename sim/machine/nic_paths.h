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
 * there is no path; then nothing is appended. */
gboolean fab_nic_paths_between (const FabNicPaths *self, guint from, guint to, GArray *hops, GError **error);

/* An empty list for hops, which clears them when it is freed. (transfer full) */
GArray *fab_nic_paths_hops (void);

/* The NICs that a collective between nodes uses, and the GPU next to each. */

/* Returns the local rank with the fewest hops to the NIC, other than `taken` (G_MAXUINT: none). Of k equals it is the
 * (nic mod k)-th, so that NICs with the same neighbours share them evenly. */
guint fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops);

/* Returns the NICs nearest to some GPU of the group, i.e. the NICs of participating GPUs. (transfer full) */
guint *fab_rails_list (const FabGroup *group, guint *n_rails);

/* Bytes that another GPU of the node passes to a NIC: NCCL's PXN (src/graph/paths.cc), over links whose
 * technology relays. */

/* Whether bytes may go from one GPU to the other this way: cluster.pxn is on, and links that relay connect them
 * within p2p. */
gboolean fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay);

/* Returns the GPU of the sender's node that stands where the receiver does, next to the NIC `in_nic` of the receiver's
 * rail, and to which the sender passes bytes on their way to another rank of the group; the sender when there is none,
 * or it cannot. Only ranks of the group pass bytes on. */
FabVertexId fab_relay_towards (const FabGroup *group, guint from, guint to, guint in_nic);

/* Returns the GPU that passes bytes to this NIC for `from` when the path of `from` to the NIC crosses a host bridge:
 * the GPU nearest to the NIC. It returns `from` when its own path is as good, or when there is no such GPU. Receivers
 * have no relay: NCCL relays on the sending side. */
FabVertexId fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic);

/* Where bytes wait in a node that cannot pass them on directly. */

/* Finds the host memory nearest to a vertex of a node: that of its own socket. When the node's entry has no memory,
 * the nearest socket stands for it. FALSE: the node has neither. */
gboolean fab_staging_near (const FabGraph *graph, FabVertexId vertex, FabVertexId *staging);
