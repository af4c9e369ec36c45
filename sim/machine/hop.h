/* SPDX-License-Identifier: Apache-2.0 */
/* hop.h - one hop of a collective: how bytes get from one rank to another, and what that costs.
 *
 * A hop is the list of links that one connection uses, with the share of the connection's bytes that crosses each.
 * Bytes go directly from GPU to GPU where the GPUs can read each other's memory (cluster.p2p). Otherwise they go into
 * host memory and out of it. Between nodes they go from NIC to NIC. Where a NIC cannot read a GPU's memory
 * (cluster.gdr), they stop in host memory at that end too, and cross every link twice that both parts of the way use.
 *
 * A stretch is a factor on the time that a byte takes on a link's line, in addition to what the link itself loses by
 * packet headers.
 */
#pragma once

#include "sim/machine/cluster.h"
#include "sim/net/net.h"

typedef enum {
  FAB_HOP_DIRECT, /* inside a node: one GPU writes into the other's memory */
  FAB_HOP_STAGED, /* inside a node: through host memory */
  FAB_HOP_NET,    /* between nodes: both NICs read and write GPU memory */
  FAB_HOP_NET_HOST, /* between nodes: the same, but a CPU socket or its host bridge is between a GPU and its NIC */
  FAB_HOP_NET_STAGED, /* between nodes: through host memory at one end or at both */
} FabHopKind;

static inline gboolean
fab_hop_kind_is_net (FabHopKind kind)
{
  return kind >= FAB_HOP_NET;
}

/* The longest way: to a GPU of another rail, into host memory and out of it, from NIC to NIC, and through host memory
 * at the other end. */
#define FAB_HOP_MAX_LEGS 6

typedef struct {
  FabHopKind kind;
  FabDrive drive;          /* what moves the bytes, which decides the size of packets */
  GArray *shares;          /* FabShare: the links; a link that the bytes cross twice is there twice */
  FabTimePs latency_ps;    /* of all wires in sequence */
  FabTimePs endpoint_ps;   /* of the network adapters, once for the whole hop; 0 inside a node */
  double rate_bytes_per_s; /* payload bytes per second when nothing else uses the links */
  /* Stretch (>= 1) on all links: inside a node what host memory and split packets cost, between nodes what the
   * collective library loses on its NICs (0: not known). */
  double stretch;
  /* Stretch (>= 1) where a NIC could send more than it reads from a GPU through a host bridge, or reads host memory. */
  double read_stretch;
  /* Stretch (>= 1) on the links of the two GPUs alone, whose kernels store into host memory and load from it. */
  double device_stretch;
  double duplex_stretch; /* stretch (>= 1) on links that hops of other senders use in the other direction */
  const FabTechnology *technology; /* of the slowest link */
  const FabMessages *messages;     /* measured times of messages, of the sender's port; NULL inside a node */
  FabLinkId out_port;              /* the link out of the sender's NIC; FAB_NO_LINK inside a node */
  FabLinkId in_port;               /* the link into the receiver's NIC; FAB_NO_LINK inside a node */
  guint n_legs;
  FabLeg legs[FAB_HOP_MAX_LEGS]; /* the way in order; `shares` are its links */
} FabHop;

void fab_hop_clear (FabHop *hop);

/* All functions that make a hop return FALSE and set *error when there is no path. The caller clears the hop. */

/* Between two vertices of any kind, along the router's path. */
gboolean fab_hop_wire (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabDrive drive,
                       FabHop *hop, GError **error);

/* Between two GPUs of one node: directly where what stands between them is at most `p2p`, else through host
 * memory. */
gboolean fab_hop_local (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabReach p2p,
                        FabDrive drive, FabHop *hop, GError **error);

/* The same for a collective: GPU kernels move the bytes, and cluster.p2p says how far GPUs reach. */
gboolean fab_hop_inside (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabHop *hop,
                         GError **error);

/* Between GPUs of two nodes through these two NICs; cluster.gdr says whether the NICs reach GPU memory. A router that
 * spreads flows over several paths takes `flow` as the flow's hash. */
gboolean fab_hop_over (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic, FabVertexId in_nic,
                       FabVertexId to, guint64 flow, FabHop *hop, GError **error);

/* Between two GPUs of one node of a group over several nodes: over the network where a socket is between them, each
 * has a NIC behind its own PCIe switch, and these are faster than the way through the socket; else inside the node
 * (NCCL v2.30.7, ncclTopoCheckNet in src/graph/paths.cc). GPUs with links to some others stay inside, for which no
 * table is known. */
gboolean fab_hop_inside_or_over (const FabGroup *group, guint node, guint from, guint to, FabHop *hop,
                                 GError **error);

/* Between two ranks, in the way of the above that fits. The NICs are those nearest to each GPU. Where the two NICs
 * are of different rails and cluster.pxn is on, the bytes first go over links of GPUs to the GPU whose NIC is of the
 * receiver's rail, so that they stay on one rail between the nodes (NCCL's PXN, src/graph/paths.cc). */
gboolean fab_hop_ranks (const FabGroup *group, guint from, guint to, FabHop *hop, GError **error);

/* From a storage drive into a GPU of its node: directly where cluster.gds is on, else through host memory. */
gboolean fab_hop_storage (const FabCluster *cluster, FabVertexId drive, FabVertexId gpu, FabHop *hop,
                          GError **error);

/* The NIC of a node to which GPU `local` has the fewest links. Where several GPUs have several nearest NICs in
 * common, they take one each in turn. G_MAXUINT: the node has no NIC. */
guint fab_cluster_nic_of (const FabCluster *cluster, guint local);

/* All stretches of the hop together. `net_stretch` stands for the loss of NICs whose own loss is not known; 0: NICs
 * lose nothing, even where the loss is known. */
double fab_hop_stretch (const FabHop *hop, double net_stretch);

/* Payload bytes per second of the hop when nothing else uses its links; `net_stretch` as above. */
double fab_hop_rate (const FabHop *hop, double net_stretch);

/* Adds the hop's links to a footprint: the hop carries `weight` payload bytes per byte of the collective's size.
 * `net_stretch` as above. */
void fab_hop_use (const FabHop *hop, double weight, double net_stretch, FabFootprintBuilder *builder);
