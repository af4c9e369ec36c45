/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/hop.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/machine/rails.h"
#include "sim/machine/staging.h"

/* Links of a hop between nodes with a GPU, a switch and a NIC at each end and a leaf between. */
static const guint usual_shares = 8;

void
fab_hop_clear (FabHop *hop)
{
  g_clear_pointer (&hop->shares, g_array_unref);
}

static gboolean
no_path (const FabCluster *cluster, FabVertexId from, FabVertexId to, GError **error)
{
  g_autofree char *a = fab_graph_vertex_name (cluster->graph, from);
  g_autofree char *b = fab_graph_vertex_name (cluster->graph, to);

  return fab_throw (error, FAB_ERROR_INPUT, "no path from %s to %s has at most %d links", a, b,
                    FAB_PATH_MAX_LINKS);
}

static void
hop_start (FabHop *hop, FabHopKind kind, FabDrive drive)
{
  *hop = (FabHop){ .kind = kind,
                   .drive = drive,
                   .stretch = 1,
                   .read_stretch = 1,
                   .device_stretch = 1,
                   .duplex_stretch = 1,
                   .rate_bytes_per_s = G_MAXDOUBLE,
                   .out_port = FAB_NO_LINK,
                   .in_port = FAB_NO_LINK };
  hop->shares = g_array_sized_new (FALSE, FALSE, sizeof (FabShare), usual_shares);
}

static gboolean
hop_end (FabHop *hop, gboolean is_whole)
{
  if (!is_whole)
    fab_hop_clear (hop);
  else if (hop->stretch > 1)
    hop->rate_bytes_per_s /= hop->stretch;
  return is_whole;
}

/* Counts in what the shares from `first` on add. */
static void
hop_count (const FabCluster *cluster, FabHop *hop, guint first)
{
  for (guint i = first; i < hop->shares->len; i++) {
    const FabShare *share = &g_array_index (hop->shares, FabShare, i);
    const FabLinkClass *link_class = fab_graph_link_class (cluster->graph, share->link);
    double rate = (double) fab_graph_link (cluster->graph, share->link)->rate_bytes_per_s
                / link_class->cost[hop->drive] / share->fraction;

    if (rate < hop->rate_bytes_per_s) {
      hop->rate_bytes_per_s = rate;
      hop->technology = link_class->technology;
    }
  }
}

/* Appends the way from one vertex to another, of which the router has given the path. */
static gboolean
hop_follow (const FabCluster *cluster, FabVertexId from, FabVertexId to, guint64 flow, const FabPath *path,
            FabHop *hop, GError **error)
{
  guint first = hop->shares->len;

  if (!fab_router_spread_path (cluster->router, from, to, flow, path, hop->shares))
    return no_path (cluster, from, to, error);
  g_assert (hop->n_legs < FAB_HOP_MAX_LEGS);
  hop->legs[hop->n_legs++] = (FabLeg){ from, to, flow };
  hop->latency_ps = fab_ps_add (hop->latency_ps, fab_path_latency_ps (cluster->graph, path));
  hop_count (cluster, hop, first);
  return TRUE;
}

/* Appends the way from one vertex to another. */
static gboolean
hop_go (const FabCluster *cluster, FabVertexId from, FabVertexId to, guint64 flow, FabHop *hop,
        GError **error)
{
  FabPath path;

  path.n = 0;
  return fab_router_append (cluster->router, from, to, flow, &path)
           ? hop_follow (cluster, from, to, flow, &path, hop, error)
           : no_path (cluster, from, to, error);
}

/* Appends the way through the host memory of the `near` end's socket. */
static gboolean
hop_go_staged (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabVertexId near, FabHop *hop,
               GError **error)
{
  FabVertexId staging;

  if (!fab_staging_near (cluster->graph, near, &staging)) {
    g_autofree char *a = fab_graph_vertex_name (cluster->graph, from);
    g_autofree char *b = fab_graph_vertex_name (cluster->graph, to);

    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s may not reach %s directly (p2p, gdr), and the node has no host to go through", a,
                      b);
  }
  return hop_go (cluster, from, staging, 0, hop, error) && hop_go (cluster, staging, to, 0, hop, error);
}

gboolean
fab_hop_wire (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabDrive drive, FabHop *hop,
              GError **error)
{
  hop_start (hop, FAB_HOP_DIRECT, drive);
  return hop_end (hop, hop_go (cluster, from, to, 0, hop, error));
}

static gboolean
passes_sockets (const FabGraph *graph, const FabHop *hop)
{
  for (guint i = 0; i < hop->shares->len; i++) {
    const FabLink *link = fab_graph_link (graph, g_array_index (hop->shares, FabShare, i).link);

    if (fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_HOST
        && fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_HOST)
      return TRUE;
  }
  return FALSE;
}

/* What kernels do at both ends of a way through host memory. The limit was measured while bytes went both ways, so that
 * one way alone may have as much more as both ways cost. */
static void
hop_limit_kernels (const FabCluster *cluster, FabHop *hop)
{
  const FabProcessor *processor = cluster->processor;
  gboolean is_far = passes_sockets (cluster->graph, hop);
  double most = (double) (is_far ? processor->staged_kernel_far_bytes_per_s
                                 : processor->staged_kernel_most_bytes_per_s);
  const FabShare *first = &g_array_index (hop->shares, FabShare, 0);
  double rate = (double) fab_graph_link (cluster->graph, first->link)->rate_bytes_per_s
              / fab_graph_link_class (cluster->graph, first->link)->cost[FAB_DRIVE_KERNEL] / hop->stretch;

  if (most <= 0)
    return;
  hop->device_stretch = MAX (rate / (most * hop->duplex_stretch), 1);
  hop->rate_bytes_per_s = MIN (hop->rate_bytes_per_s, most * hop->duplex_stretch * hop->stretch);
}

gboolean
fab_hop_local (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabReach p2p, FabDrive drive,
               FabHop *hop, GError **error)
{
  const FabProcessor *processor = cluster->processor;
  FabPath path;

  if (fab_cluster_reach (cluster, from, to, &path) > p2p) {
    hop_start (hop, FAB_HOP_STAGED, drive);
    hop->duplex_stretch = fab_slowdown_stretch (&processor->staged_both_ways);
    if (!hop_go_staged (cluster, from, to, from, hop, error))
      return hop_end (hop, FALSE);
    hop->stretch = fab_slowdown_stretch (drive == FAB_DRIVE_COPY ? &processor->staged_copy
                                                                 : &processor->staged_kernel);
    if (drive == FAB_DRIVE_COPY && processor->staged_most_bytes_per_s > 0)
      hop->stretch = MAX (hop->stretch, hop->rate_bytes_per_s / (double) processor->staged_most_bytes_per_s);
    if (drive == FAB_DRIVE_KERNEL)
      hop_limit_kernels (cluster, hop);
    return hop_end (hop, TRUE);
  }
  hop_start (hop, FAB_HOP_DIRECT, drive);
  if (drive == FAB_DRIVE_KERNEL)
    hop->stretch = fab_path_host_stretch (cluster->graph, &path);
  return hop_end (hop, hop_follow (cluster, from, to, 0, &path, hop, error));
}

gboolean
fab_hop_inside (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabHop *hop, GError **error)
{
  FabReach p2p = cluster->gpus_per_node <= 2 ? MAX (cluster->p2p, cluster->pair_p2p) : cluster->p2p;

  return fab_hop_local (cluster, from, to, p2p, FAB_DRIVE_KERNEL, hop, error);
}

static gboolean
passes_host (const FabGraph *graph, const FabPath *path)
{
  for (guint i = 0; i + 1 < path->n; i++)
    if (fab_graph_vertex (graph, fab_graph_link (graph, path->links[i])->dst)->kind == FAB_VERTEX_HOST)
      return TRUE;
  return FALSE;
}

/* What a NIC reads at most from a GPU behind a host bridge: a part of what the slowest bus on the way gives copies. */
static double
limit_of_read (const FabCluster *cluster, const FabPath *path)
{
  const FabGraph *graph = cluster->graph;
  double least = G_MAXDOUBLE;

  for (guint i = 0; i < path->n; i++) {
    const FabLinkClass *link_class = fab_graph_link_class (graph, path->links[i]);

    if (link_class->technology->joins == FAB_JOINS_DEVICES)
      least = MIN (least, (double) fab_graph_link (graph, path->links[i])->rate_bytes_per_s
                              / link_class->cost[FAB_DRIVE_COPY]);
  }
  return least < G_MAXDOUBLE ? least / fab_slowdown_stretch (&cluster->processor->bridge_read) : least;
}

/* Between a GPU and a NIC of its node, whichever way; the buffers are those of the GPU's socket. `most` becomes what
 * the NIC reads at most, where that is less. */
static gboolean
hop_go_gdr (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabVertexId gpu, FabHop *hop,
            double *most, GError **error)
{
  FabPath path;

  FabReach reach = fab_cluster_reach (cluster, from, to, &path);
  gboolean is_read = from == gpu;

  if (reach <= cluster->gdr) {
    if (is_read && reach >= FAB_REACH_PHB)
      *most = MIN (*most, limit_of_read (cluster, &path));
    if (hop->kind == FAB_HOP_NET && (reach >= FAB_REACH_PHB || passes_host (cluster->graph, &path)))
      hop->kind = FAB_HOP_NET_HOST;
    return hop_follow (cluster, from, to, 0, &path, hop, error);
  }
  hop->kind = FAB_HOP_NET_STAGED;
  hop->read_stretch = fab_slowdown_stretch (&cluster->processor->staged_copy);
  hop->duplex_stretch = fab_slowdown_stretch (&cluster->processor->staged_both_ways);
  return hop_go_staged (cluster, from, to, gpu, hop, error);
}

/* The ports by which it leaves a NIC that uses several together; `first`: where the shares between the NICs begin. */
static guint
n_ports_used (const FabCluster *cluster, const FabHop *hop, guint first, FabLinkId port)
{
  FabVertexId nic = fab_graph_link (cluster->graph, port)->src;
  guint n = 0;

  for (guint i = first; cluster->nic_ports > 1 && i < hop->shares->len; i++)
    n += fab_graph_link (cluster->graph, g_array_index (hop->shares, FabShare, i).link)->src == nic;
  return MAX (n, 1);
}

/* Appends the way between two nodes; `wire`: the router's path between the NICs. */
static gboolean
hop_go_over (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic, FabVertexId in_nic,
             FabVertexId to, guint64 flow, const FabPath *wire, FabHop *hop, GError **error)
{
  FabVertexId leaves = fab_relay_to_nic (cluster, from, out_nic);
  const FabLinkClass *port;
  double most = G_MAXDOUBLE;
  guint before;

  if ((leaves != from && !hop_go (cluster, from, leaves, 0, hop, error))
      || !hop_go_gdr (cluster, leaves, out_nic, leaves, hop, &most, error))
    return FALSE;
  before = hop->shares->len;
  if (!hop_follow (cluster, out_nic, in_nic, flow, wire, hop, error))
    return FALSE;
  port = fab_graph_link_class (cluster->graph, g_array_index (hop->shares, FabShare, before).link);
  hop->endpoint_ps = port->endpoint_ps;
  hop->stretch = port->collective_stretch;
  hop->messages = &port->messages;
  hop->out_port = wire->links[0];
  hop->in_port = wire->links[wire->n - 1];
  if (!hop_go_gdr (cluster, in_nic, to, to, hop, &most, error))
    return FALSE;
  double rate = (double) fab_graph_link (cluster->graph, wire->links[0])->rate_bytes_per_s
              * n_ports_used (cluster, hop, before, wire->links[0]) / port->cost[FAB_DRIVE_COPY]
              / MAX (port->collective_stretch, 1);
  /* The stretch is on all links of the hop: a port that is faster than the bus is not what the ceiling lowers. */
  hop->read_stretch = MAX (hop->read_stretch, MIN (rate, hop->rate_bytes_per_s) / most);
  return TRUE;
}

/* Replaces `out_nic`, where no path leads from it, by the next NIC of the same node from which a path leads, because
 * rails that no switch joins have to be changed inside the node; appends that path. FALSE: there is none. */
static gboolean
find_way_out (const FabCluster *cluster, FabVertexId *out_nic, FabVertexId in_nic, guint64 flow,
              FabPath *path)
{
  guint k = cluster->nics_per_node, at;
  const FabVertexId *nics;

  path->n = 0;
  if (fab_router_append (cluster->router, *out_nic, in_nic, flow, path))
    return TRUE;
  if (fab_graph_vertex (cluster->graph, *out_nic)->kind != FAB_VERTEX_NIC)
    return FALSE; /* a switch that has summed */
  at = fab_cluster_find_nic (cluster, *out_nic);
  nics = cluster->nics + at / k * k;
  for (guint i = 1; i < k; i++)
    if (fab_router_append (cluster->router, nics[(at + i) % k], in_nic, flow, path)) {
      *out_nic = nics[(at + i) % k];
      return TRUE;
    }
  return FALSE;
}

gboolean
fab_hop_over (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic, FabVertexId in_nic,
              FabVertexId to, guint64 flow, FabHop *hop, GError **error)
{
  FabPath wire;

  hop_start (hop, FAB_HOP_NET, FAB_DRIVE_COPY);
  return hop_end (hop, find_way_out (cluster, &out_nic, in_nic, flow, &wire)
                           ? hop_go_over (cluster, from, out_nic, in_nic, to, flow, &wire, hop, error)
                           : no_path (cluster, out_nic, in_nic, error));
}

guint
fab_cluster_nic_of (const FabCluster *cluster, guint local)
{
  guint best = G_MAXUINT, fewest = G_MAXUINT, n_equal = 0;
  g_autofree guint *equals = g_new (guint, cluster->nics_per_node + 1);

  for (guint nic = 0; nic < cluster->nics_per_node; nic++) {
    guint distance = fab_cluster_nic_hops (cluster, local, nic);

    if (distance == G_MAXUINT || distance > fewest)
      continue;
    if (distance < fewest)
      n_equal = 0;
    fewest = distance;
    equals[n_equal++] = nic;
  }
  if (n_equal > 0)
    best = equals[local % n_equal];
  return best;
}

static gboolean
hop_between_nodes (const FabGroup *group, guint from, guint to, FabHop *hop, GError **error)
{
  const FabCluster *cluster = group->cluster;
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local),
        to_node = fab_group_node_of (group, to, &to_local);
  FabGroup senders = fab_group_of_shape (group, fab_group_shape (group, from_node)),
           receivers = fab_group_of_shape (group, fab_group_shape (group, to_node));
  guint out_nic = fab_cluster_nic_of (senders.cluster, from_local),
        in_nic = fab_cluster_nic_of (receivers.cluster, to_local);
  FabVertexId src = fab_group_gpu (group, from_node, from_local),
              dst = fab_group_gpu (group, to_node, to_local), relay, leaves = src, nic, far_nic;
  FabPath wire;

  if (out_nic == G_MAXUINT || in_nic == G_MAXUINT)
    return no_path (cluster, src, dst, error);
  relay = fab_rails_are_same (cluster, out_nic, in_nic)
            ? src
            : fab_relay_towards (group, from, to, in_nic, &out_nic);
  if (relay != src) {
    if (!hop_go (cluster, src, relay, 0, hop, error))
      return FALSE;
    leaves = relay;
  }
  nic = fab_group_nic (group, from_node, out_nic);
  far_nic = fab_group_nic (group, to_node, in_nic);
  return find_way_out (cluster, &nic, far_nic, from, &wire)
           ? hop_go_over (cluster, leaves, nic, far_nic, dst, from, &wire, hop, error)
           : no_path (cluster, nic, far_nic, error);
}

/* The NIC next to a GPU behind its own switch. FALSE: a socket is between them, or there is none. */
static gboolean
find_near_nic (const FabGroup *group, guint node, guint local, FabVertexId *nic)
{
  FabGroup shape = fab_group_of_shape (group, fab_group_shape (group, node));
  guint nearest = fab_cluster_nic_of (shape.cluster, local);
  FabPath path;

  if (nearest == G_MAXUINT)
    return FALSE;
  *nic = fab_group_nic (group, node, nearest);
  return fab_cluster_reach (group->cluster, fab_group_gpu (group, node, local), *nic, &path) < FAB_REACH_PHB;
}

static gboolean
is_joined_to_accelerators (const FabGraph *graph, FabVertexId gpu)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, gpu, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link_class (graph, link)->technology->joins == FAB_JOINS_ACCELERATORS)
      return TRUE;
  return FALSE;
}

gboolean
fab_hop_inside_or_over (const FabGroup *group, guint node, guint from, guint to, FabHop *hop, GError **error)
{
  const FabCluster *cluster = group->cluster;
  FabVertexId src = fab_group_gpu (group, node, from), dst = fab_group_gpu (group, node, to), out_nic, in_nic;
  FabHop over;
  FabPath path;

  if (!fab_hop_inside (cluster, src, dst, hop, error))
    return FALSE;
  if (is_joined_to_accelerators (cluster->graph, src)
      || fab_cluster_reach (cluster, src, dst, &path) < FAB_REACH_PHB
      || !find_near_nic (group, node, from, &out_nic) || !find_near_nic (group, node, to, &in_nic)
      || out_nic == in_nic)
    return TRUE;
  if (!fab_hop_over (cluster, src, out_nic, in_nic, dst, 0, &over, NULL))
    return TRUE;
  if (fab_graph_link (cluster->graph, over.out_port)->src != out_nic
      || over.rate_bytes_per_s <= hop->rate_bytes_per_s) {
    fab_hop_clear (&over);
    return TRUE;
  }
  fab_hop_clear (hop);
  *hop = over;
  return TRUE;
}

gboolean
fab_hop_ranks (const FabGroup *group, guint from, guint to, FabHop *hop, GError **error)
{
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local);

  if (from_node == fab_group_node_of (group, to, &to_local))
    return fab_hop_inside (group->cluster, fab_group_gpu (group, from_node, from_local),
                           fab_group_gpu (group, from_node, to_local), hop, error);
  hop_start (hop, FAB_HOP_NET, FAB_DRIVE_COPY);
  return hop_end (hop, hop_between_nodes (group, from, to, hop, error));
}

gboolean
fab_hop_storage (const FabCluster *cluster, FabVertexId drive, FabVertexId gpu, FabHop *hop, GError **error)
{
  if (cluster->has_gds)
    return fab_hop_wire (cluster, drive, gpu, FAB_DRIVE_COPY, hop, error);
  hop_start (hop, FAB_HOP_STAGED, FAB_DRIVE_COPY);
  return hop_end (hop, hop_go_staged (cluster, drive, gpu, gpu, hop, error));
}

double
fab_hop_stretch (const FabHop *hop, double net_stretch)
{
  double stretch = hop->stretch > 0 ? hop->stretch : net_stretch;

  if (net_stretch <= 0 && fab_hop_kind_is_net (hop->kind))
    stretch = 1;
  return stretch * hop->read_stretch;
}

double
fab_hop_rate (const FabHop *hop, double net_stretch)
{
  return hop->rate_bytes_per_s * MAX (hop->stretch, 1) / fab_hop_stretch (hop, net_stretch);
}

void
fab_hop_use (const FabHop *hop, double weight, double net_stretch, FabFootprintBuilder *builder)
{
  double stretch = fab_hop_stretch (hop, net_stretch);

  fab_footprint_builder_add_shares (builder, hop->shares,
                                    (FabUse){ .weight = weight,
                                              .drive = hop->drive,
                                              .stretch = stretch,
                                              .duplex_stretch = hop->duplex_stretch,
                                              .device_stretch = hop->device_stretch });
}
