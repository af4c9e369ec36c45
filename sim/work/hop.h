/* SPDX-License-Identifier: Apache-2.0 */
/* hop.h - how bytes get from one rank to another: directly, through host memory, or over NICs.
 *
 * A hop is what one connection of a collective uses: links with the share of the bytes that crosses each. Where
 * GPUs cannot read each other (cluster.p2p), bytes go into host memory and out of it; where a NIC cannot
 * read a GPU (cluster.gdr), likewise at that end: a second time over every PCIe link that both legs share.
 */
#pragma once

#include "sim/net/net.h"
#include "sim/work/cluster.h"

typedef enum {
  FAB_HOP_DIRECT,     /* one GPU writes into the other's memory */
  FAB_HOP_STAGED,     /* through host memory */
  FAB_HOP_NET,        /* NIC to NIC, both read and write GPU memory */
  FAB_HOP_NET_HOST,   /* likewise, but a socket or its bridge stands between a GPU and its NIC */
  FAB_HOP_NET_STAGED, /* NIC to NIC, through host memory at one end or both */
} FabHopKind;

static inline gboolean
fab_hop_kind_is_net (FabHopKind kind)
{
  return kind >= FAB_HOP_NET;
}

/* To the GPU of another rail, into host memory and out of it, NIC to NIC, and once more through memory. */
#define FAB_HOP_MAX_LEGS 6

typedef struct {
  FabHopKind kind;
  FabDrive drive;
  GArray *shares;          /* FabShare; a link that bytes cross twice stands twice */
  FabTimePs latency_ps;    /* of the wires in sequence */
  FabTimePs endpoint_ps;   /* of the adapters, once; 0 inside a node */
  double rate_bytes_per_s; /* payload, alone */
  double stretch;      /* >= 1: line time per byte beyond the links' costs: a collective library's loss on its
                              NICs (0: not known), what staging and split packets cost inside a node */
  double read_stretch; /* >= 1: a NIC reads a GPU through a host bridge, or what waits in host memory */
  double
      duplex_stretch; /* >= 1: likewise, on links whose other direction hops of other senders use as well */
  const char *technology;      /* of its slowest link */
  const FabMessages *messages; /* between nodes: of the sender's port; else NULL */
  FabLinkId out_port, in_port; /* out of the sender's NIC, into the receiver's; FAB_NO_LINK inside a node */
  guint n_legs;
  FabLeg legs[FAB_HOP_MAX_LEGS]; /* its way in order, of which `shares` are the links */
} FabHop;

void fab_hop_clear (FabHop *hop);

/* Between two vertices along the router's path, whatever they are. FALSE: no path. */
gboolean fab_hop_wire (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabDrive drive,
                       FabHop *hop, GError **error);

/* Between two GPUs of one node: directly where the path's reach is within `p2p`, else through host memory. */
gboolean fab_hop_local (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabReach p2p,
                        FabDrive drive, FabHop *hop, GError **error);

/* The same by GPU kernels, as cluster.p2p allows: what a collective does. */
gboolean fab_hop_inside (const FabCluster *cluster, FabVertexId from, FabVertexId to, FabHop *hop,
                         GError **error);

/* Between GPUs of two nodes through these NICs, as cluster.gdr allows; `flow` tells flows apart for the router. */
gboolean fab_hop_over (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic, FabVertexId in_nic,
                       FabVertexId to, guint64 flow, FabHop *hop, GError **error);

/* Between two ranks, whichever of the above fits; NICs are those nearest to each GPU. Where these are of different
 * rails and cluster.pxn is on, bytes first go by NVLink to the GPU beside the sender's NIC of the receiver's rail, so
 * that they stay on one rail (NCCL's PXN, src/graph/paths.cc). */
gboolean fab_hop_ranks (const FabGroup *group, guint from, guint to, FabHop *hop, GError **error);

/* From a drive into a GPU of its node: directly where cluster.gds is on, else through host memory. */
gboolean fab_hop_storage (const FabCluster *cluster, FabVertexId drive, FabVertexId gpu, FabHop *hop,
                          GError **error);

/* The NIC nearest to GPU `local` of any node: fewest links; of several equals, GPUs that share them take turns.
 * G_MAXUINT: the node has none. */
guint fab_cluster_nic_of (const FabCluster *cluster, guint local);

/* `out_nic` where a path leads from it to `in_nic`; else the next NIC of its node from which one does: rails and
 * planes that are joined nowhere are changed before a node is left. `out_nic` where there is none. */
FabVertexId fab_cluster_way_out (const FabCluster *cluster, FabVertexId out_nic, FabVertexId in_nic);

/* Line time per byte over that of the links' own costs. `net_stretch` is for NICs whose loss is not known; 0: NICs
 * lose nothing, even where it is known. */
double fab_hop_stretch (const FabHop *hop, double net_stretch);

/* Payload per second of the hop alone, likewise. */
double fab_hop_rate (const FabHop *hop, double net_stretch);

/* `weight` payload bytes per byte of the collective over the hop. `net_stretch` is for NICs whose loss is not known.
 * */
void fab_hop_use (const FabHop *hop, double weight, double net_stretch, FabFootprintBuilder *builder);
