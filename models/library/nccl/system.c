/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - a group of GPUs as NCCL's search sees it (search.h): NVLinks and network devices of a node.
 *
 * The search is followed where the GPUs of a node are on NVLink switches, and where up to four of them are joined in
 * pairs by as many links each: four GPUs have rings along every pair in both directions, so that a ring may use all
 * links. Other machines (the cube meshes of Pascal and Volta, PCIe, AMD's) have the rings that their links allow.
 */
#include <math.h>

#include "models/library/nccl/parts.h"

/* What joins GPU 0 of the group with the others, in NVLinks: by switches, or with `n_peers` of them directly. */
typedef struct {
  double switch_links, peer_links, least_peer_links;
  guint n_peers;
} Joined;

static gboolean
is_in_group (const FabGroup *group, FabVertexId vertex)
{
  for (guint i = 0; i < fab_group_n_locals (group, 0); i++)
    if (fab_group_gpu (group, 0, i) == vertex)
      return TRUE;
  return FALSE;
}

/* NCCL counts links, whatever their rate. One link of a graph may stand for a bundle that nobody has counted. */
static double
count_links (const FabLink *link, guint generation)
{
  return link->count > 1 ? link->count
                         : (double) link->rate_bytes_per_s / (1e9 * nccl_link_rate_GBps (generation));
}

static Joined
look_at_gpu (const FabGroup *group, guint generation)
{
  const FabGraph *graph = group->cluster->graph;
  Joined joined = { .least_peer_links = G_MAXDOUBLE };
  FabLinkId first;
  guint n = fab_graph_out_links (graph, fab_group_gpu (group, 0, 0), &first);

  for (FabLinkId i = first; i < first + n; i++) {
    const FabLink *link = fab_graph_link (graph, i);
    double n_links = count_links (link, generation);

    if (fab_graph_link_class (graph, i)->technology->joins != FAB_JOINS_ACCELERATORS)
      continue;
    if (fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_SWITCH) {
      joined.switch_links += n_links;
    } else if (is_in_group (group, link->dst)) {
      joined.peer_links += n_links;
      joined.least_peer_links = MIN (joined.least_peer_links, n_links);
      joined.n_peers++;
    }
  }
  return joined;
}

/* The NVLinks of GPU 0 to the others; 0: the search is not followed. */
static double
count_nvlinks (const FabGroup *group, guint generation)
{
  enum { MOST_IN_PAIRS = 4 };
  Joined joined = look_at_gpu (group, generation);
  guint n = fab_group_n_locals (group, 0);

  if (joined.switch_links > 0)
    return joined.switch_links;
  return joined.n_peers == n - 1 && n <= MOST_IN_PAIRS
              && joined.least_peer_links * joined.n_peers >= joined.peer_links
           ? joined.peer_links
           : 0;
}

/* The speed in GB/s that the NIC reports, and at most 24/31.5 of its bus: NCCL counts 24 GB/s for PCIe 4 x16. */
static double
nic_GBps (const FabCluster *cluster, FabVertexId nic)
{
  const double bus_share = 24 / 31.5;
  double bus = G_MAXDOUBLE, port = 0;
  FabLinkId first;
  guint n = fab_graph_out_links (cluster->graph, nic, &first);

  for (FabLinkId i = first; i < first + n; i++) {
    const FabLink *link = fab_graph_link (cluster->graph, i);
    const FabLinkClass *link_class = fab_graph_link_class (cluster->graph, i);
    double rate = (double) link->rate_bytes_per_s / 1e9;

    if (fab_graph_vertex (cluster->graph, link->dst)->node == FAB_NO_NODE)
      port += link->count
            * nccl_reported_GBps (rate / link->count, fabs (link_class->messages.rate_change) <= 0);
    else if (link_class->technology->joins == FAB_JOINS_DEVICES)
      bus = MIN (bus, rate * bus_share);
  }
  return MIN (port, bus);
}

/* The network devices of a node. Several NICs of one GPU are one device: aws-ofi-nccl and, from 2.24 on, NCCL itself
 * (NCCL_NET_MERGE_LEVEL) make one of them. */
static void
look_at_nics (const FabGroup *group, guint n_rails, NcclSystem *system)
{
  const FabCluster *cluster = group->cluster;

  if (group->n_nodes == 1 || cluster->nics_per_node == 0)
    return;
  system->n_nics = MIN (n_rails, system->n_gpus);
  system->nic_GBps = nic_GBps (cluster, cluster->nics[0]) * (n_rails / system->n_nics);
}

/* Rings as their links allow: all channels together have that bandwidth. */
static void
follow_links (const NcclCandidate *common, guint n_rails, NcclSearch *search)
{
  const NcclArchitecture *architecture = common->architecture;
  guint n = 2 * (guint) (common->busbw_GBps / 20 + 0.5);

  if (common->group->n_nodes > 1) {
    n = 2 * n_rails;
    if (architecture->generation >= 9 && n < 16)
      n *= 2;
    n = MIN (n, 32);
    if (rccl_net_channels (common, n_rails) > 0)
      n = rccl_net_channels (common, n_rails);
  } else {
    n = CLAMP (n, 2, architecture->most_channels);
  }
  search->n_channels = n;
  search->follows_rates = TRUE;
  search->ring = search->tree = (NcclGraph){ n, common->busbw_GBps / n, common->busbw_GBps / n };
  search->nvls = (NcclGraph){ 0 };
}

void
nccl_search_group (const NcclCandidate *common, const FabCollectiveForm *ring, NcclSearch *search)
{
  const FabGroup *group = common->group;
  guint generation = common->architecture->generation;
  double link_GBps = nccl_link_GBps (generation, common->version);
  NcclSystem system = { .generation = generation, .n_gpus = group->gpus_per_node, .n_nodes = group->n_nodes };
  gboolean is_alone = group->gpus_per_node == 1;

  if (link_GBps > 0 && !common->architecture->is_rccl && group->cluster->p2p >= FAB_REACH_NVL)
    system.link_GBps = count_nvlinks (group, generation) * link_GBps;
  if (system.link_GBps <= 0 && is_alone)
    system.link_GBps = common->busbw_GBps; /* its bus */
  look_at_nics (group, ring->n_channels, &system);
  if (system.link_GBps > 0 && (group->n_nodes == 1 || system.nic_GBps > 0))
    nccl_search (&system, common->version, search);
  else
    *search = (NcclSearch){ 0 };
  if (search->ring.n == 0)
    follow_links (common, ring->n_channels, search);
}
