/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - where ranks and NICs are: the assembled graph as a job sees it.
 *
 * Rank r is accelerator r % gpus_per_node of node r / gpus_per_node.
 */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  const FabGraph *graph;
  FabRouter *router;
  guint n_nodes, gpus_per_node, nics_per_node;
  FabVertexId *gpus;               /* [n_nodes * gpus_per_node] */
  FabVertexId *nics;               /* [n_nodes * nics_per_node] */
  const char *architecture;        /* of the accelerators: key of library constants */
  double peak_flops_per_s;         /* of one accelerator, dense half precision */
  FabBytesPerS memory_bytes_per_s; /* of one accelerator */

} FabCluster;

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
