/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.c - sends and receives: all_to_all, send_recv, gather and scatter as NCCL plans and plays them.
 *
 * The plan is NCCL's (p2p.h). What it costs:
 *
 *   in one domain   LL      startup x (1 + 0.1 log2 sends); a channel moves its part at the rate of LL
 *                   Simple  startup and a time for each channel in use. The first chunk is sent, then copied out of
 *                           the buffer, and from the second chunk on both happen at once: a channel has one rate
 *                           alone, and another one for both; many channels share the links (soft_least)
 *   between domains startup = the kernel's start + one network step, and then the longer of two waits: the proxy thread
 *                             handles a message of each further remote peer, and a channel takes its batches of
 *                             peers one after another, each of which is a network step (net_startup_us)
 *                   rate    = remote peers x the rate of their connections, at most what the channels in use can copy
 *
 * The rates are those of the generation (FabGeneration.sends). A generation without them has no limit but its links,
 * and the tuner's constants as startup: RCCL divides sends in other ways.
 */
#include "models/library/nccl/p2p.h"

#include <math.h>
#include <string.h>

#include "models/library/nccl/parts.h"

/* Sends and receives that a channel works on at once (NCCL_MAX_DEV_WORK_P2P_PER_BATCH, src/include/device.h). */
enum { BATCH = 8 };

/* Warps of a channel: 640 threads (NCCL_MAX_NTHREADS). */
enum { WARPS = 20 };

enum { KIB = 1024, LL_THRESHOLD = 16 * KIB }; /* NCCL_P2P_LL_THRESHOLD */

/* --- the plan --- */

static guint
power_of_two_from (guint n)
{
  guint power = 1;

  while (power < n)
    power *= 2;
  return power;
}

static gboolean
is_over_net (const NcclP2pComm *comm)
{
  return comm->n_ranks > comm->n_locals;
}

/* Channels to one peer over the network. From 2.29 on each carries 14 GB/s (NCCL_P2P_PER_CHANNEL_NET_BW), and there are
 * fewer where batches of 8 peers would need more channels than there are. Before, there are two, or one where 2 x ranks
 * is more than four times the channels (from 2.20 on). */
static guint
net_channels (const NcclP2pComm *comm, guint n_channels)
{
  const double channel_GBps = 14;
  guint n = 2, n_batches = (comm->n_ranks + BATCH - 1) / BATCH;

  if (comm->net_channels > 0)
    return power_of_two_from (comm->net_channels);
  if (comm->version >= 22900) {
    n = power_of_two_from (MAX (comm->n_nics, (guint) ceil (floor (comm->nics_GBps) / channel_GBps)));
    while (n > 1 && n * n_batches > n_channels)
      n /= 2;
    return n;
  }
  while (comm->version >= 22000 && n > 1 && n * comm->n_ranks > 4 * comm->n_channels)
    n /= 2;
  return power_of_two_from (MAX (n, comm->n_nics));
}

static guint
channels_to_peer (const NcclP2pComm *comm, guint n_channels)
{
  guint n = power_of_two_from (2 * MAX (comm->n_links, 1)); /* a PCIe bus is like one link */

  if (is_over_net (comm))
    n = comm->n_locals > 1 ? MIN (n, net_channels (comm, n_channels)) : net_channels (comm, n_channels);
  return MIN (n, n_channels);
}

static guint
greatest_common_divisor (guint a, guint b)
{
  return b == 0 ? a : greatest_common_divisor (b, a % b);
}

static FabBytes
chunk_bytes (const NcclP2pComm *comm)
{
  if (is_over_net (comm) && comm->net_chunk_bytes > 0)
    return comm->net_chunk_bytes;
  if (is_over_net (comm))
    return (comm->has_small_hosts && comm->version >= 22900 ? 256 : 128) * KIB;
  return (comm->n_links > 0 ? 512 : 128) * KIB;
}

NcclP2pChannels
nccl_p2p_channels (const NcclP2pComm *comm)
{
  NcclP2pChannels self = { .n_channels = power_of_two_from (comm->n_channels),
                           .n_sharing = 1,
                           .chunk_bytes = chunk_bytes (comm) };

  self.most = self.least = channels_to_peer (comm, self.n_channels);
  while (self.least > 1 && (guint64) self.least * comm->n_ranks > self.n_channels)
    self.least /= 2;
  if (is_over_net (comm)) {
    self.n_sharing = greatest_common_divisor (BATCH, comm->n_locals);
    self.least_part = self.chunk_bytes / 2;
    self.most_part = self.chunk_bytes;
  } else {
    self.least_part = self.chunk_bytes / 8;
    self.most_part = self.chunk_bytes * 32;
  }
  return self;
}

guint
nccl_p2p_count (const NcclP2pChannels *self, FabBytes bytes)
{
  guint n = (guint) CLAMP ((bytes + self->least_part - 1) / self->least_part, 1, self->least);

  while ((bytes + n - 1) / n > self->most_part && n <= self->most / 2)
    n *= 2;
  return n;
}

gboolean
nccl_p2p_is_ll (const NcclP2pChannels *self, FabBytes bytes)
{
  return bytes <= (FabBytes) nccl_p2p_count (self, bytes) * LL_THRESHOLD;
}

FabBytes
nccl_p2p_net_chunk (const NcclP2pChannels *self, FabBytes bytes)
{
  if (bytes < self->chunk_bytes)
    return self->chunk_bytes / 4;
  return bytes < 8 * self->chunk_bytes ? self->chunk_bytes / 2 : self->chunk_bytes;
}

/* In one domain the sends of a batch begin at channels that are evenly apart (ncclP2pChannelBaseForRound). Between
 * domains `n_sharing` of them begin at the same channel. */
double
nccl_p2p_at_once (const NcclP2pChannels *self, guint n_sends, guint n)
{
  guint n_batch = MIN (n_sends, BATCH);

  return CLAMP ((double) n_batch * n / self->n_channels, MIN (self->n_sharing, n_batch), n_batch);
}

/* src/device/sendrecv.h */
guint
nccl_p2p_send_warps (double n_at_once)
{
  guint warps = (guint) (WARPS / MAX (n_at_once, 1));

  return warps <= 4 ? warps / 2 : (warps - 1) / 2 + 1;
}

/* --- what a candidate sends --- */

typedef struct {
  NcclP2pChannels channels;
  guint n_sends;            /* of the busiest rank, to itself included */
  guint n_locals, n_remote; /* peers to which they go: in its domain, itself left out, and in others */
  FabBytes bytes;           /* of one send */
  guint n;                  /* channels of one send */
  gboolean has_small_hosts;
} Sends;

/* NVLink of one generation in GB/s, as NCCL counts it (src/graph/topo.h). */
static double
nvlink_GBps (const NcclArchitecture *architecture)
{
  switch (architecture->generation) {
  case 6: return 18;
  case 7:
  case 8: return 20;
  case 9: return 20.6;
  default: return 40.1;
  }
}

static guint
count_links (const NcclCandidate *self)
{
  const FabCollectiveForm *form = self->form;

  if (form->intra_kind != FAB_HOP_DIRECT || nccl_is_over_bus (form))
    return 0;
  return MAX ((guint) (self->wires->pair_bytes_per_s / 1e9 / nvlink_GBps (self->architecture)), 1);
}

/* The first link of the way; FAB_NO_LINK: there is no way. */
static FabLinkId
first_link (const NcclCandidate *self, FabVertexId from, FabVertexId to)
{
  const FabCluster *cluster = self->group->cluster;
  FabPath path = { 0 };

  return fab_router_append (cluster->router, from, to, 0, &path) && path.n > 0 ? path.links[0] : FAB_NO_LINK;
}

/* How many NICs of its node are nearest to the first GPU, and the last of them. */
static guint
nearest_nics (const NcclCandidate *self, guint *nearest)
{
  FabGroup shape = fab_group_of_shape (self->group, fab_group_shape (self->group, 0));
  guint least = G_MAXUINT, n = 0;

  for (guint nic = 0; nic < shape.cluster->nics_per_node; nic++) {
    guint hops = fab_cluster_nic_hops (shape.cluster, 0, nic);

    if (hops > least)
      continue;
    n = hops < least ? 1 : n + 1;
    least = hops;
    *nearest = nic;
  }
  return n;
}

/* The link from the first GPU's nearest NIC to the network, which is like all of them; FAB_NO_LINK: there is none. */
static FabLinkId
port_of (const NcclCandidate *self)
{
  guint nic;

  return self->group->n_nodes > 1 && nearest_nics (self, &nic) > 0
           ? first_link (self, fab_group_nic (self->group, 0, nic), fab_group_nic (self->group, 1, nic))
           : FAB_NO_LINK;
}

/* NICs that one GPU uses: the nearest ones, as many as its bus can fill (ncclTopoGetLocalNetCountByBw in
 * src/graph/topo.cc). NCCL counts 24 GB/s for a bus of 31.5. */
static guint
count_nics (const NcclCandidate *self)
{
  const double counted = 24 / 31.5;
  const FabGraph *graph = self->group->cluster->graph;
  FabLinkId port = port_of (self), bus = FAB_NO_LINK;
  guint nic, n = port != FAB_NO_LINK ? nearest_nics (self, &nic) : 0;

  if (n > 0)
    bus = first_link (self, fab_group_gpu (self->group, 0, 0), fab_group_nic (self->group, 0, nic));
  if (bus == FAB_NO_LINK)
    return 1;
  double most = counted * (double) fab_graph_link (graph, bus)->rate_bytes_per_s
              / (double) fab_graph_link (graph, port)->rate_bytes_per_s;
  return (guint) CLAMP (ceil (most), 1, n);
}

static NcclP2pComm
comm_of (const NcclCandidate *self)
{
  const FabCluster *cluster = self->group->cluster;
  guint n_nics = count_nics (self);
  gboolean is_one_domain = self->form->n_inter_steps == 0;

  return (NcclP2pComm){
    .version = self->version,
    .n_ranks = self->n_ranks,
    .n_locals = is_one_domain ? self->n_ranks : self->group->gpus_per_node,
    .n_channels = self->most_channels,
    .n_links = count_links (self),
    .n_nics = n_nics,
    .nics_GBps = n_nics * self->busbw_GBps / self->n_rails,
    .net_chunk_bytes = self->params->p2p_chunk_bytes,
    .net_channels = (guint) self->params->net_peer_channels,
    .has_small_hosts = self->architecture->generation >= 10 && strcmp (cluster->processor->name, "arm") == 0,
  };
}

/* The busiest rank of a gather or a scatter is the root, which has as many sends or receives as in an all_to_all. In a
 * send_recv between domains some ranks send to their own domain and some to another one. */
static Sends
sends_of (const NcclCandidate *self)
{
  NcclP2pComm comm = comm_of (self);
  Sends sends = { .channels = nccl_p2p_channels (&comm),
                  .n_sends = self->n_ranks,
                  .n_locals = comm.n_locals - 1 };

  sends.n_remote = comm.n_ranks - comm.n_locals;
  sends.has_small_hosts = comm.has_small_hosts;
  sends.bytes = (self->bytes + self->n_ranks - 1) / self->n_ranks;
  if (self->op == FAB_OP_SEND_RECV) {
    sends.n_sends = 1;
    sends.n_locals = MIN (sends.n_locals, 1);
    sends.n_remote = MIN (sends.n_remote, 1);
    sends.bytes = self->bytes;
  }
  sends.n = nccl_p2p_count (&sends.channels, sends.bytes);
  return sends;
}

guint
nccl_p2p_count_channels (const NcclCandidate *self)
{
  return sends_of (self).n;
}

NcclProtocol
nccl_p2p_protocol (const NcclCandidate *self)
{
  Sends sends = sends_of (self);

  return sends.n_remote == 0 && nccl_p2p_is_ll (&sends.channels, sends.bytes) ? NCCL_LL : NCCL_SIMPLE;
}

/* --- what it costs --- */

static const FabSends *
costs_of (const NcclCandidate *self)
{
  return &self->group->cluster->generation->sends;
}

static double
us_of (FabTimePs ps)
{
  return (double) ps / 1e6;
}

static double
GBps_of (FabBytesPerS bytes_per_s)
{
  return (double) bytes_per_s / 1e9;
}

/* Time of a chunk between the copy into a buffer and the next one, and the time by which each channel of a connection
 * delays the others', because one thread posts them all: 15.23 GB/s with one channel (h100_10nodes_sendrecv_80), 24.88
 * with two (h100_10nodes_1gpu_sendrecv_10), 40.3 and 43.8 with four (h100_cnode3_pair_4gpu_sendrecv_8 and
 * h100_cnode3_pair_1gpu_sendrecv_2). */
static const double NET_FLAG_US = 1.0, NET_POST_US = 1.22;

/* What the thread hands to the adapter for a message (src/transport/net_ib): a send, a receive, and the word that the
 * receive is ready. GPUs up to Ampere, and those of AMD, also need a read that flushes what has arrived
 * (ncclTopoNeedFlush in src/graph/paths.cc since 2.19.1; before, all GPUs). */
enum { POSTS = 3, POSTS_WITH_FLUSH = 4, NO_FLUSH_FROM_VERSION = 21901 };

/* Time by which each further send that shares a channel delays a chunk to another domain whose hosts have four GPUs.
 * NCCL names these few GPUs, which share a connection by way of one adapter, as a loss (computeBuffSizes in
 * src/init.cc); how large it is, oci_gb300_alltoall_128 says: 64 sends of two parts over 16 channels carry 23.8 GB/s,
 * which are 704 us for a chunk of 128 KiB. One table, and the reason is inferred. */
static const double SMALL_HOST_US = 94;

/* Of a channel's rate, one warp that sends can reach this share: 8 sends at once of oci_gb300_alltoall_8, with a warp
 * each, 7 of them to others, reach 32 channels x 21.4 GB/s. One table. */
static const double WARP_SHARE = 1.0 / 7;

static const double STARTUP_PER_DOUBLING =
    0.1; /* 2 and 8 ranks of aic_a100_sxm_alltoall, aic_b200_sxm_alltoall */

/* The least of two rates, one of which waits for the other where they are near each other. */
static double
soft_least (double a, double b, double sharpness)
{
  double least = MIN (a, b), most = MAX (a, b);

  return least * pow (1 + pow (least / most, sharpness), -1 / sharpness);
}

/* How the channels of a rank share the sends of one domain. */
typedef struct {
  guint n_rounds;     /* that a channel makes, one batch of sends after another */
  double n_at_once;   /* sends of a round that share one channel, without that to the rank itself */
  double warps_share; /* of the channel's rate, that the warps of one send allow */
  double n_busy;      /* parts of sends to others that are on their way at a time */
} Sharing;

static Sharing
sharing_of (const Sends *sends)
{
  double at_once = nccl_p2p_at_once (&sends->channels, sends->n_sends, sends->n);
  guint n_rounds = (guint) ceil ((double) sends->n_sends * sends->n / (sends->channels.n_channels * at_once));
  gboolean has_self = sends->n_sends > 1 && at_once >= MIN (sends->n_sends, BATCH);

  return (Sharing){ .n_rounds = n_rounds,
                    .n_at_once = MAX (has_self ? at_once - 1 : at_once, 1),
                    .warps_share = nccl_p2p_send_warps (at_once) * WARP_SHARE,
                    .n_busy = (double) sends->n_locals * sends->n / n_rounds };
}

/* Rate of a part of a send in GB/s, where a channel moves `channel_GBps` and the links of the GPU `links_GBps`. What
 * many channels do to each other on a PCIe bus was not measured. */
static double
part_GBps (const NcclCandidate *self, const Sharing *sharing, double channel_GBps, double links_GBps)
{
  double own = channel_GBps * MIN (1 / sharing->n_at_once, sharing->warps_share);

  double all = own * sharing->n_busy;

  if (count_links (self) == 0)
    return MIN (all, links_GBps) / sharing->n_busy;
  return soft_least (all, links_GBps, costs_of (self)->sharpness) / sharing->n_busy;
}

/* Times in us of the sends of one domain: until all channels work at the steady rate, and from then on. */
typedef struct {
  double startup_us, stream_us;
} Times;

static Times
domain_times (const NcclCandidate *self, const Sends *sends)
{
  const FabSends *rates = costs_of (self);
  double part_bytes = (double) sends->bytes / sends->n;
  double growth = 1 + STARTUP_PER_DOUBLING * log2 (MAX (sends->n_sends, 2));
  double links_GBps = self->form->footprint->rate_bytes_per_s * sends->n_locals / sends->n_sends / 1e9;
  Sharing sharing = sharing_of (sends);

  if (self->protocol == NCCL_LL)
    return (Times){ us_of (rates->ll_ps) * growth, part_bytes / GBps_of (rates->ll_bytes_per_s) / 1e3 };
  double first_bytes = MIN (part_bytes, (double) sends->channels.chunk_bytes);
  double steady_GBps = part_GBps (self, &sharing, GBps_of (rates->both_bytes_per_s), links_GBps);
  double sent_us = first_bytes
                 / (part_GBps (self, &sharing, GBps_of (rates->alone_bytes_per_s), links_GBps) * 1e3);
  double copied_us = first_bytes * sharing.n_at_once / (GBps_of (rates->alone_bytes_per_s) * 1e3);
  double first_us = first_bytes / (steady_GBps * 1e3);

  return (Times){ us_of (rates->simple_ps) + us_of (rates->channel_ps) * sharing.n_busy
                      + sharing.n_rounds * MAX (sent_us + copied_us - first_us, 0),
                  sharing.n_rounds * part_bytes / (steady_GBps * 1e3) };
}

/* Rate in GB/s at which all channels of a rank that remote peers use can copy: groups of peers share a base channel. */
static double
channels_GBps (const NcclCandidate *self, const Sends *sends)
{
  const NcclP2pChannels *channels = &sends->channels;
  guint n_groups = (sends->n_remote + channels->n_sharing - 1) / channels->n_sharing;
  double n_busy = MIN (n_groups * sends->n, channels->n_channels);
  guint n_at_once = MIN (channels->n_sharing, sends->n_remote);
  double warps = n_at_once * nccl_p2p_send_warps (n_at_once) * WARP_SHARE;

  return n_busy * GBps_of (costs_of (self)->both_bytes_per_s) * MIN (warps, 1);
}

/* Time in us of the proxy thread for a message. NCCL counts more of it with processors of AMD (FabProcessor.proxy_ps),
 * and NET_POST_US was measured without flushes. */
static double
post_us (const NcclCandidate *self)
{
  gboolean has_flush = self->architecture->is_rccl || self->architecture->generation < 9
                    || self->version < NO_FLUSH_FROM_VERSION;
  double n_posts = has_flush && self->params->has_flush ? POSTS_WITH_FLUSH : POSTS;

  return NET_POST_US * us_of (self->group->cluster->processor->proxy_ps) * n_posts / POSTS;
}

/* Rate in GB/s of one connection to another domain, on channels that each serve `n_at_once` of them. */
static double
connection_GBps (const NcclCandidate *self, const Sends *sends, guint n_at_once)
{
  double chunk_KB = (double) nccl_p2p_net_chunk (&sends->channels, sends->bytes) / 1e3;
  double warps = MIN (nccl_p2p_send_warps (n_at_once) * WARP_SHARE, 1);
  double chunk_us = chunk_KB / GBps_of (costs_of (self)->both_bytes_per_s) / warps + NET_FLAG_US
                  + post_us (self) * sends->n;

  if (sends->has_small_hosts)
    chunk_us += SMALL_HOST_US * (n_at_once - 1);
  return sends->n * chunk_KB / chunk_us;
}

/* Rate in GB/s of all connections to other domains that channels serve at a time. */
static double
remote_GBps (const NcclCandidate *self, const Sends *sends)
{
  guint n_at_once = MIN (sends->channels.n_sharing, sends->n_remote);
  guint n_active = MIN (sends->n_remote, n_at_once * MAX (sends->channels.n_channels / sends->n, 1));

  return MIN (n_active * connection_GBps (self, sends, n_at_once), channels_GBps (self, sends));
}

/* Rate in GB/s at which the proxy thread of a GPU hands on chunks of all connections. */
static double
thread_GBps (const NcclCandidate *self, const Sends *sends)
{
  return (double) nccl_p2p_net_chunk (&sends->channels, sends->bytes) / 1e3 / post_us (self);
}

/* Rate in GB/s at which the links of a rank carry what it sends to other domains. */
static double
links_GBps (const NcclCandidate *self, const Sends *sends)
{
  double share = (double) sends->bytes * sends->n_remote / (double) MAX (self->bytes, 1);

  return share * self->form->footprint->rate_bytes_per_s / 1e9;
}

/* Time in us in which the ranks send their bytes to other domains. Those to their own take no longer: there are fewer
 * of them, on channels that are as fast. Thread and adapter wait for each other where they are nearly equal. That they
 * do so as much as thread blocks and links do is assumed. */
static double
net_us (const NcclCandidate *self, const Sends *sends)
{
  double handed_GBps = soft_least (thread_GBps (self, sends), links_GBps (self, sends),
                                   costs_of (self)->sharpness);

  return (double) sends->bytes / 1e3 * sends->n_remote / MIN (handed_GBps, remote_GBps (self, sends));
}

static gboolean
has_rates (const NcclCandidate *self)
{
  return costs_of (self)->both_bytes_per_s > 0;
}

/* Time in us that a remote peer's message costs beside the thread's own time (post_us). Short messages may have to be
 * copied out of the GPU first (FabInlined), and a processor may have to match them (nccl_match_us). */
static double
port_us (const NcclCandidate *self, const Sends *sends)
{
  const FabLinkId port = self->form->inter_kind != FAB_HOP_NET_STAGED ? port_of (self) : FAB_NO_LINK;

  if (port == FAB_NO_LINK)
    return 0;
  const FabLinkClass *class = fab_graph_link_class (self->group->cluster->graph, port);
  return nccl_match_us (self, class)
       + (sends->bytes <= class->inlined.most_bytes ? us_of (class->inlined.copy_ps) : 0);
}

/* Batches that a channel takes one after another. RCCL had one peer in each before 2.27.7. */
static guint
count_batches (const NcclCandidate *self, const Sends *sends)
{
  enum { RCCL_BATCHES_FROM_VERSION = 22707 };
  gboolean is_single = self->architecture->is_rccl && self->version < RCCL_BATCHES_FROM_VERSION;
  double at_once = is_single ? 1 : nccl_p2p_at_once (&sends->channels, sends->n_sends, sends->n);

  return (guint) ceil ((double) sends->n_sends * sends->n / (sends->channels.n_channels * at_once));
}

/* Time in us until the kernel works: short sends to the own domain use LL. */
static double
kernel_us (const NcclCandidate *self, const Sends *sends)
{
  const FabSends *rates = costs_of (self);
  double growth = 1 + STARTUP_PER_DOUBLING * log2 (sends->n_locals + 1);
  double us = sends->n_locals > 0 ? us_of (rates->ll_ps) * growth : us_of (rates->simple_ps);

  return MAX (us, self->tuning->base_us[self->protocol]);
}

/* All channels work at once, and so does the network: only the proxy thread of a GPU handles one message after another
 * (progressOps in src/proxy.cc), of all channels, and a channel takes the next batch of up to 8 peers when the last
 * one is done (nextPeer in the same file, src/device/common.h). The thread's first round over all connections fills
 * the pipeline; of it, the first message is a part of the network step. */
static double
net_startup_us (const NcclCandidate *self, const Sends *sends)
{
  double step_us = self->tuning->net_us[self->protocol] + nccl_adapters_us (self);
  double round_us = (double) (sends->n_remote * sends->n - 1) * post_us (self);
  double batches_us = (count_batches (self, sends) - 1) * step_us;

  return kernel_us (self, sends) + step_us + MAX (round_us, batches_us)
       + sends->n_remote * port_us (self, sends);
}

double
nccl_p2p_base_us (const NcclCandidate *self, double steps_us)
{
  double base_us = self->tuning->base_us[self->protocol];
  Sends sends = sends_of (self);

  if (sends.n_remote > 0)
    return MAX (net_startup_us (self, &sends) - steps_us, 0);
  return has_rates (self) ? MAX (domain_times (self, &sends).startup_us - steps_us, 0) : base_us;
}

double
nccl_p2p_bytes_per_s (const NcclCandidate *self)
{
  Sends sends = sends_of (self);

  if (!has_rates (self))
    return 0;
  return (double) self->bytes * 1e6
       / (sends.n_remote > 0 ? net_us (self, &sends) : domain_times (self, &sends).stream_us);
}
