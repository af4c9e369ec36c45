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

/* Whether two vertices are on one board, which has `per_board` and `other_per_board` of their kinds. */
static gboolean
is_on_board (const FabGraph *graph, FabVertexId id, guint per_board, FabVertexId other, guint other_per_board)
{
  const FabVertex *a = fab_graph_vertex (graph, id), *b = fab_graph_vertex (graph, other);

  return a->node == b->node && a->member / per_board == b->member / other_per_board;
}

/* The member of a list of `n` vertices that stands on the board of `src` where `dst` stands on its own; G_MAXUINT:
 * there is none. */
static guint
find_on_board (const FabCluster *cluster, const FabVertexId *all, guint n, guint per_board, FabVertexId src,
               FabVertexId dst)
{
  guint place = fab_graph_vertex (cluster->graph, dst)->member % per_board;

  for (guint i = 0; i < n; i++)
    if (fab_graph_vertex (cluster->graph, all[i])->member % per_board == place
        && is_on_board (cluster->graph, all[i], per_board, src, cluster->gpus_per_board))
      return i;
  return G_MAXUINT;
}

static gboolean
has_boards (const FabCluster *cluster)
{
  return cluster->gpus_per_board > 0 && cluster->nics_per_board > 0;
}

gboolean
fab_rails_are_same (const FabCluster *cluster, guint out_nic, guint in_nic)
{
  return has_boards (cluster) ? out_nic % cluster->nics_per_board == in_nic % cluster->nics_per_board
                              : out_nic == in_nic;
}

/* The GPU of the sender's board that stands where the receiver does on its own. */
static guint
counterpart_on_board (const FabGroup *group, guint from_node, FabVertexId src, FabVertexId dst)
{
  FabGroup senders = fab_group_of_shape (group, fab_group_shape (group, from_node));
  guint n = fab_group_n_locals (group, from_node);
  g_autofree FabVertexId *gpus = g_new (FabVertexId, n + 1);

  for (guint local = 0; local < n; local++)
    gpus[local] = fab_group_gpu (group, from_node, local);
  return find_on_board (senders.cluster, gpus, n, group->cluster->gpus_per_board, src, dst);
}

FabVertexId
fab_relay_towards (const FabGroup *group, guint from, guint to, guint in_nic, guint *out_nic)
{
  const FabCluster *cluster = group->cluster;
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local),
        to_node = fab_group_node_of (group, to, &to_local), nic = in_nic;
  FabVertexId src = fab_group_gpu (group, from_node, from_local),
              dst = fab_group_gpu (group, to_node, to_local);
  guint local = has_boards (cluster) ? counterpart_on_board (group, from_node, src, dst)
                                     : counterpart (group, from_node, to_node, to_local, in_nic);

  if (local != G_MAXUINT && has_boards (cluster))
    nic = find_on_board (cluster, &cluster->nics[from_node * cluster->nics_per_node], cluster->nics_per_node,
                         cluster->nics_per_board, src, fab_group_nic (group, to_node, in_nic));
  if (local == G_MAXUINT || nic == G_MAXUINT || local == from_local)
    return src;
  FabVertexId relay = fab_group_gpu (group, from_node, local);
  if (!fab_relay_can (cluster, src, relay))
    return src;
  *out_nic = nic;
  return relay;
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
