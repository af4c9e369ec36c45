/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/relay.h"

gboolean
fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay)
{
  FabPath path;

  if (!cluster->has_relays
      || fab_cluster_reach (cluster, from, relay, &path) > MIN (cluster->p2p, FAB_REACH_NVL))
    return FALSE;
  for (guint i = 0; i < path.n; i++)
    if (!fab_graph_link_class (cluster->graph, path.links[i])->technology->can_relay)
      return FALSE;
  return TRUE;
}

static FabVertexId
nearest_gpu (const FabCluster *cluster, FabVertexId nic)
{
  guint at = fab_cluster_find_nic (cluster, nic), n = cluster->gpus_per_node, nearest = 0;

  for (guint local = 1; local < n; local++)
    if (fab_cluster_nic_hops (cluster, local, at % cluster->nics_per_node)
        < fab_cluster_nic_hops (cluster, nearest, at % cluster->nics_per_node))
      nearest = local;
  return cluster->gpus[at / cluster->nics_per_node * n + nearest];
}

FabVertexId
fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic)
{
  FabPath path;

  if (!cluster->has_relays || fab_graph_vertex (cluster->graph, from)->kind != FAB_VERTEX_ACCELERATOR
      || fab_graph_vertex (cluster->graph, out_nic)->kind != FAB_VERTEX_NIC
      || fab_cluster_reach (cluster, from, out_nic, &path) <= FAB_REACH_PXB)
    return from;
  FabVertexId relay = nearest_gpu (cluster, out_nic);
  gboolean is_better = relay != from
                    && fab_cluster_reach (cluster, relay, out_nic, &path) <= MIN (cluster->gdr, FAB_REACH_PXB)
                    && fab_relay_can (cluster, from, relay);
  return is_better ? relay : from;
}
