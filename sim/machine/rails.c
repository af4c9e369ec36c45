/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/rails.h"

guint
fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops)
{
  guint n = group->gpus_per_node, n_equal = 0;
  g_autofree guint *equals = g_new (guint, n);

  *hops = G_MAXUINT;
  for (guint local = 0; local < n; local++) {
    guint distance = fab_cluster_nic_hops (group->cluster, local, nic);

    if (local == taken || distance > *hops)
      continue;
    if (distance < *hops)
      n_equal = 0;
    *hops = distance;
    equals[n_equal++] = local;
  }
  return equals[nic % n_equal];
}

guint *
fab_rails_list (const FabGroup *group, guint *n_rails)
{
  guint n_nics = group->cluster->nics_per_node, least = G_MAXUINT;
  guint *rails = g_new (guint, n_nics + 1);

  *n_rails = 0;
  for (guint nic = 0; nic < n_nics; nic++) {
    guint hops;

    fab_rails_gpu (group, nic, G_MAXUINT, &hops);
    if (hops < least)
      *n_rails = 0;
    least = MIN (least, hops);
    if (hops == least)
      rails[(*n_rails)++] = nic;
  }
  return rails;
}

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
  FabGroup all = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  guint at = fab_cluster_find_nic (cluster, nic), node = at / cluster->nics_per_node, nearest = 0;
  FabGroup shape = fab_group_of_shape (&all, fab_group_shape (&all, node));

  at %= cluster->nics_per_node;
  for (guint local = 1; local < shape.gpus_per_node; local++)
    if (fab_cluster_nic_hops (shape.cluster, local, at) < fab_cluster_nic_hops (shape.cluster, nearest, at))
      nearest = local;
  return fab_group_gpu (&all, node, nearest);
}

/* The local rank of the sender's node where the receiver is; G_MAXUINT: no rank of the group is there. */
static guint
counterpart (const FabGroup *group, guint from_node, guint to_node, guint to_local, guint in_nic)
{
  FabGroup senders = fab_group_of_shape (group, fab_group_shape (group, from_node)),
           receivers = fab_group_of_shape (group, fab_group_shape (group, to_node));
  guint hops, local;

  if (fab_group_shape (group, from_node) == fab_group_shape (group, to_node))
    return to_local;
  local = fab_rails_gpu (&senders, in_nic, G_MAXUINT, &hops);
  return hops <= fab_cluster_nic_hops (receivers.cluster, to_local, in_nic) ? local : G_MAXUINT;
}

FabVertexId
fab_relay_towards (const FabGroup *group, guint from, guint to, guint in_nic)
{
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local),
        to_node = fab_group_node_of (group, to, &to_local);
  guint local = counterpart (group, from_node, to_node, to_local, in_nic);

  if (local == G_MAXUINT || local == from_local)
    return fab_group_gpu (group, from_node, from_local);
  FabVertexId src = fab_group_gpu (group, from_node, from_local),
              relay = fab_group_gpu (group, from_node, local);
  return fab_relay_can (group->cluster, src, relay) ? relay : src;
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
