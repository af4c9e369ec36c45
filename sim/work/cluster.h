/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - where ranks and NICs are: the assembled graph as a job sees it.
 *
 * Rank r is accelerator r % gpus_per_node of node r / gpus_per_node.
 */
#pragma once

#include "sim/fabric/reach.h"
#include "sim/fabric/router.h"
#include "sim/work/device.h"

/* Whose processors the sockets are: host software is slower on some. */
typedef enum { FAB_CPU_INTEL, FAB_CPU_AMD, FAB_CPU_ARM, FAB_CPU_POWER } FabCpu;

typedef struct {
  const FabGraph *graph;
  FabRouter *router;
  guint n_nodes, gpus_per_node, nics_per_node, drives_per_node;
  FabVertexId *gpus;   /* [n_nodes * gpus_per_node] */
  FabVertexId *nics;   /* [n_nodes * nics_per_node] */
  FabVertexId *drives; /* [n_nodes * drives_per_node] */
  guint *nic_hops; /* [gpus_per_node * nics_per_node] links from GPU to NIC in any node; G_MAXUINT: no path */
  const char *architecture; /* of the accelerators: key of library constants */
  FabDevice device;         /* one accelerator */
  FabCpu cpu;
  FabReach p2p, gdr; /* the farthest pair of GPUs, of GPU and NIC, that needs no host memory between */
  gboolean has_pxn;  /* bytes go by NVLink to the GPU beside the right NIC: sim/work/relay.h */
  gboolean has_gds;  /* drives write into GPU memory */
} FabCluster;

/* What follows from where ranks and NICs are: to be called once all of the above is there but `nic_hops`. Nodes are
 * alike, so the first one is looked at. As many links as the router's paths have. */
void fab_cluster_measure (FabCluster *self);

/* The cluster as if it had these nodes alone, in this order (ascending); measured already. To be cleared. */
void fab_cluster_view (FabCluster *view, const FabCluster *cluster, const guint *nodes, guint n_nodes);

/* Its index in `nics`, of all nodes; G_MAXUINT: it is none of them. */
guint fab_cluster_find_nic (const FabCluster *self, FabVertexId vertex);

/* How far apart two vertices are by the router's path, and that path; FAB_N_REACHES, farther than any, where there is
 * none. */
FabReach fab_cluster_reach (const FabCluster *self, FabVertexId from, FabVertexId to, FabPath *path);

/* Frees what the arrays above hold; graph and router are others'. */
void fab_cluster_clear (FabCluster *self);

static inline guint
fab_cluster_nic_hops (const FabCluster *self, guint local, guint nic)
{
  return self->nic_hops[(gsize) local * self->nics_per_node + nic];
}

static inline guint
fab_cluster_n_ranks (const FabCluster *self)
{
  return self->n_nodes * self->gpus_per_node;
}

/* Ranks that take part in a collective: whole or partial nodes, all with the same local ranks. */
typedef struct {
  const FabCluster *cluster;
  guint n_nodes;       /* the first n_nodes of the cluster */
  guint gpus_per_node; /* the first gpus_per_node of each */
} FabGroup;

static inline guint
fab_group_n_ranks (const FabGroup *self)
{
  return self->n_nodes * self->gpus_per_node;
}

static inline FabVertexId
fab_group_gpu (const FabGroup *self, guint node, guint local)
{
  return self->cluster->gpus[node * self->cluster->gpus_per_node + local];
}

static inline FabVertexId
fab_group_nic (const FabGroup *self, guint node, guint nic)
{
  return self->cluster->nics[node * self->cluster->nics_per_node + nic];
}
