/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - the first node of a cluster as a person draws it: a tree below each socket, and links across.
 *
 * Machines that share switches for their accelerators (a rack with NVLink) are one node of the cluster: all are drawn.
 */
#pragma once

#include "sim/work/cluster.h"

typedef struct {
  FabVertexId vertex;
  FabLinkId up; /* to what it hangs below; FAB_NO_LINK: nothing, it is a socket or hangs nowhere */
  guint depth;
} FabPlace;

typedef struct {
  const FabCluster *cluster;
  GArray *places; /* FabPlace: a vertex, then what is below it */
  GArray *across; /* FabLinkId: of every other pair of vertices, the direction away from the lower id */
  guint n_machines;
} FabTopology;

/* Whether a vertex outside every machine joins accelerators, and so is no part of the fabric. */
gboolean fab_topology_is_shared (const FabGraph *graph, FabVertexId vertex);

FabTopology *fab_topology_new (const FabCluster *cluster);
void fab_topology_free (FabTopology *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopology, fab_topology_free)

/* "gpu3", of several machines "node2/gpu3". (transfer full) */
char *fab_topology_name (const FabTopology *self, FabVertexId vertex);

/* What `nvidia-smi topo -m` shows for two GPUs or NICs of the node: "X", "NV12", "PIX" ... "SYS"; links of others by
 * their technology: "XGMI". NVIDIA's tool does not know of a coherent link to the socket and calls what lies beyond
 * SYS (GB200 in sgl-project/sglang issue 11208), so this does too. (transfer full) */
char *fab_topology_label (const FabTopology *self, FabVertexId a, FabVertexId b);

/* The number of the socket that it hangs below; G_MAXUINT: none. */
guint fab_topology_socket_of (const FabTopology *self, FabVertexId vertex);
