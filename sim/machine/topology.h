/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - the parts of a node arranged for a picture: a tree below each CPU socket, and the links across trees.
 *
 * The node is the first of the cluster. Machines whose accelerators share switches (a rack with NVLink) are one
 * node of the cluster; all of them are in the picture.
 */
#pragma once

#include "sim/machine/cluster.h"

typedef struct {
  FabVertexId vertex;
  FabLinkId up; /* the link to the vertex above it in the tree; FAB_NO_LINK: it is a socket, or in no tree */
  guint depth;  /* links between it and the top of its tree */
} FabPlace;

typedef struct {
  const FabCluster *cluster;
  GArray *places; /* FabPlace: each vertex, followed by all that are below it */
  /* FabLinkId: links that are in no tree, one for each pair of vertices, in the direction away from the lower id */
  GArray *across;
  guint n_machines;
} FabTopology;

/* Whether a vertex outside all machines is a switch between accelerators, and not a part of the network fabric. */
gboolean fab_topology_is_shared (const FabGraph *graph, FabVertexId vertex);

FabTopology *fab_topology_new (const FabCluster *cluster);
void fab_topology_free (FabTopology *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopology, fab_topology_free)

/* The name of a vertex: "gpu3", or "node2/gpu3" where the node has several machines. (transfer full) */
char *fab_topology_name (const FabTopology *self, FabVertexId vertex);

/* What `nvidia-smi topo -m` shows for two GPUs or NICs of the node: "X", "NV12", "PIX" ... "SYS". Links of other
 * vendors are shown by their technology: "XGMI". NVIDIA's tool does not know coherent links to the socket and calls
 * all that is beyond them SYS (GB200 in sgl-project/sglang issue 11208); so does this function. (transfer full) */
char *fab_topology_label (const FabTopology *self, FabVertexId a, FabVertexId b);

/* The number of the CPU socket whose tree the vertex is in; G_MAXUINT: none. */
guint fab_topology_socket_of (const FabTopology *self, FabVertexId vertex);
