/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.h - how NCCL divides a send (ncclSend, ncclRecv) among channels.
 *
 * All rules are NCCL's (v2.30.7): src/graph/paths.cc (ncclTopoGetNchannels, ncclTopoComputeP2pChannels), src/init.cc
 * (computeBuffSizes, ncclP2pSchedule) and src/enqueue.cc (addP2pToPlan, scheduleP2pTasksToPlan). A domain is what
 * NCCL calls a node: the GPUs that NVLink or a PCIe bus joins, which are those of several hosts in a rack of GB200.
 */
#pragma once

#include "sim/base/units.h"

/* What the rules ask of a communicator. */
typedef struct {
  guint version;            /* of NCCL: 22902 is 2.29.2 */
  guint n_ranks, n_locals;  /* in all; in one domain */
  guint n_channels;         /* that NCCL sets up for collectives */
  guint n_links;            /* of NVLink between two GPUs of a domain, the least of any pair; 0: a PCIe bus */
  guint n_nics;             /* that a GPU uses */
  double nics_GBps;         /* what these NICs carry together */
  FabBytes net_chunk_bytes; /* that somebody chose; 0: NCCL's own */
  guint net_channels;       /* of a send over the network that somebody chose; 0: NCCL's own */
  gboolean has_small_hosts; /* Blackwell GPUs on hosts with ARM processors, four on each */
} NcclP2pComm;

typedef struct {
  guint n_channels;               /* of all sends, a power of two */
  guint least, most;              /* of one send: before and after its parts are halved */
  guint n_sharing;                /* peers in a row that begin at the same channel; 1 in one domain */
  FabBytes chunk_bytes;           /* that a channel hands on at once */
  FabBytes least_part, most_part; /* bytes of a send on one channel, where the number of channels allows it */
} NcclP2pChannels;

NcclP2pChannels nccl_p2p_channels (const NcclP2pComm *comm);

/* Channels of one send of that many bytes. */
guint nccl_p2p_count (const NcclP2pChannels *self, FabBytes bytes);

/* Whether such a send inside a domain uses the protocol LL. Between domains no send does: channels of sends have no
 * buffers for it there (NCCL_ALLOC_P2P_NET_LL_BUFFERS is 0). */
gboolean nccl_p2p_is_ll (const NcclP2pChannels *self, FabBytes bytes);

/* Bytes of a message that such a send posts to a NIC. */
FabBytes nccl_p2p_net_chunk (const NcclP2pChannels *self, FabBytes bytes);

/* Sends that one channel works on at a time, where a rank has `n_sends` of `n` channels each. */
double nccl_p2p_at_once (const NcclP2pChannels *self, guint n_sends, guint n);

/* Warps of a channel that send for one of so many sends; others receive. */
guint nccl_p2p_send_warps (double n_at_once);
