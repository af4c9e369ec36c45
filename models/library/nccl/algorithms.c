/* SPDX-License-Identifier: Apache-2.0 */
/* algorithms.c - the algorithms of NCCL, one row each; adding one to NCCL is adding a row here.
 *
 * Constants and formulas of the tuner are those of NCCL v2.30.7 and of RCCL 2.21, both src/graph/tuning.cc. The order
 * of the rows means nothing but the order in which messages name them.
 */
#include "models/library/nccl/parts.h"

#include <math.h>
#include <string.h>

#define OP(op_) (1u << FAB_OP_##op_)
#define PROTOCOL(protocol_) (1u << NCCL_##protocol_)

/* What the tuner takes of a graph that the search has found: up to two nodes the speed inside them. */
static double
graph_GBps (const NcclCandidate *self, const NcclGraph *graph)
{
  return graph->n * (self->group->n_nodes <= 2 ? graph->intra_GBps : graph->inter_GBps);
}

/* --- ring --- */

/* Share of the bus bandwidth that LL has. Before 2.21 a quarter; a third for operations of one node that do not reduce,
 * and for reduce_scatter. */
static double
ring_ll_share (const NcclCandidate *self)
{
  gboolean is_slow = self->group->n_nodes > 1 || self->op == FAB_OP_ALL_REDUCE || self->op == FAB_OP_REDUCE;

  return self->version >= 22105 || self->architecture->is_rccl ? 0.5 : is_slow ? 1 / 4.0 : 1 / 3.0;
}

static double
ring_GBps (const NcclCandidate *self)
{
  const NcclGraph *graph = &self->search->ring;
  double per_step = 1 / fab_op_bus_factor (self->op, self->n_ranks), bus = graph_GBps (self, graph);
  double ll128_share = self->version < 22300 && self->group->gpus_per_node == 1 ? 0.7 : 0.92;

  if (self->protocol == NCCL_LL)
    bus = MIN (nccl_ll_GBps (self), ring_ll_share (self) * bus);
  else if (self->protocol == NCCL_LL128)
    bus = MIN (ll128_share * bus, graph->n * self->caps->ring_ll128_GBps[nccl_column (self->group)]);
  return bus * per_step;
}

/* The tuner's cap on the bus bandwidth of LL limits the real time too. */
static double
ring_limit_bytes_per_s (const NcclCandidate *self)
{
  double factor = fab_op_bus_factor (self->op, self->n_ranks);

  return self->protocol == NCCL_LL ? nccl_ll_GBps (self) * 1e9 / factor : 0;
}

/* --- tree --- */

/* LL and LL128 start from what Simple has. One GPU of a node has no second one to share a tree's ends with, which costs
 * 15 %. */
static double
tree_GBps (const NcclCandidate *self)
{
  const NcclGraph *graph = &self->search->tree;
  guint column = nccl_column (self->group);
  double bus = MIN (0.92 * graph_GBps (self, graph), graph->n * self->caps->tree_simple_GBps[column]);

  if (self->protocol == NCCL_LL)
    bus = MIN (bus / 3.8, nccl_ll_GBps (self));
  else if (self->protocol == NCCL_LL128)
    bus = MIN (bus * (column == 0 ? 7.0 / 9 : 120.0 / 128), graph->n * self->caps->tree_ll128_GBps[column]);
  if (self->group->gpus_per_node == 1 && self->version >= 21800)
    bus *= 0.85;
  return bus * 0.5;
}

/* floor (log2 (n)), as NCCL counts the levels of a tree. */
static guint
n_levels (guint n)
{
  return g_bit_storage (n) - 1;
}

static double
tree_latency_us (const NcclCandidate *self, double intra_us, double net_us)
{
  guint n_nodes = self->group->n_nodes;

  return self->estimate->base_us[self->protocol]
       + 2 * ((self->n_ranks / n_nodes - 1) * intra_us + n_levels (n_nodes) * net_us);
}

/* Share of the bandwidth that is left at a size of 64 B x 2^i, up to i < n (tuning.cc, treeCorrectionFactor). */
static double
share_at_size (const NcclCandidate *self, guint n)
{
  static const double
      corrections[NCCL_N_PROTOCOLS][24] = {
        { 1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
          .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0 },
        { 1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
          .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0 },
        { .9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9 },
      };
  guint i = 0;

  for (FabBytes size = self->bytes >> 6; size > 1; size >>= 1)
    i++;
  return i < n && self->op == FAB_OP_ALL_REDUCE ? corrections[self->protocol][i] : 1;
}

static double
tree_correction (const NcclCandidate *self)
{
  return share_at_size (self, 23);
}

/* Accelerators other than NVIDIA's have trees between nodes where RCCL's tuner for them is known. */
static gboolean
tree_is_considered (G_GNUC_UNUSED const NcclParams *params, const NcclCandidate *candidate)
{
  return candidate->architecture->generation > 0 || candidate->group->n_nodes == 1
      || rccl_has_tuner (candidate);
}

/* Each channel has one chunk on its way. A chunk of Simple is one step of the channel's buffer; one of LL or LL128 is
 * what remains after NCCL has halved chunks until all levels of the tree have one (src/enqueue.cc,
 * calcCollChunking). */
static FabBytes
tree_fill_bytes (const NcclCandidate *self)
{
  static const guint chunk_bytes[NCCL_N_PROTOCOLS] = { 16 * 1024, 0, 512 * 1024 };

  if (rccl_has_tuner (self))
    return rccl_tree_fill_bytes (self);
  if (self->protocol == NCCL_LL128)
    return self->n_channels * nccl_tree_ll128_chunk_bytes (self);
  return (FabBytes) self->n_channels * chunk_bytes[self->protocol];
}

/* What the tuner estimates that channels can carry, without its correction for sizes that do not fill them. */
static double
limit_of_tuner_bytes_per_s (const NcclCandidate *self)
{
  return self->algorithm->bandwidth_GBps (self) * 1e9;
}

/* A thread block of a tree with LL128 reduces up and broadcasts down at once, each with a part of its warps: between
 * nodes it moves a fifth of what the tuner believes of a channel inside a node. 7.3 of 36.7 GB/s: what each doubling
 * from 1 to 8 MiB adds in p5_h100x16_efa_allreduce_16_nccl2203 (one table). RCCL has no caps of channels, and nothing
 * was measured of its thread blocks between nodes: links limit them. */
static double
tree_limit_bytes_per_s (const NcclCandidate *self)
{
  const double fraction = 0.2;
  double limit = limit_of_tuner_bytes_per_s (self);

  if (rccl_has_tuner (self))
    return 0;
  if (self->group->gpus_per_node == 1 && self->protocol == NCCL_SIMPLE && self->group->n_nodes > 1)
    return 0.5 * self->search->tree.n * self->caps->tree_simple_GBps[nccl_column (self->group)] * 1e9;
  if (self->protocol != NCCL_LL128 || self->group->n_nodes == 1)
    return limit;
  return MIN (limit, fraction * self->n_channels * self->architecture->caps.tree_ll128_GBps[0] * 1e9);
}

/* --- NVLS: switches of the node reduce --- */

/* Bandwidth of one head from 2.28 on, with the efficiency that NCCL assumes. All-reduce reads and writes at once. */
static double
head_GBps (const NcclCandidate *self, const NcclGraph *graph)
{
  double g = self->group->gpus_per_node, n = graph->n;
  double intra = graph->intra_GBps * (self->architecture->generation >= 10 ? 0.74 : 0.85) * (n - 1) / n;

  return self->op == FAB_OP_ALL_REDUCE ? 2 * intra : intra * (g - 1) / g;
}

/* Before 2.28. All-gather and reduce-scatter came with 2.19, and lost the 5/6 in 2.23. */
static double
old_nvls_GBps (const NcclCandidate *self, const NcclGraph *graph)
{
  double g = self->group->gpus_per_node, bus = graph->n * MIN (graph->intra_GBps, graph->inter_GBps);

  if (self->op == FAB_OP_ALL_REDUCE || self->version < 22300)
    return bus * 5 / 6;
  return self->version < 22703 ? bus
                               : graph->n * MIN (graph->intra_GBps * (g - 1) / g, 0.9 * graph->inter_GBps);
}

static double
nvls_GBps (const NcclCandidate *self)
{
  const NcclGraph *graph = &self->search->nvls;

  if (graph->n < 2)
    return self->form->footprint->rate_bytes_per_s / 1e9; /* somebody asks for it where NCCL finds none */
  if (self->version < 22803)
    return old_nvls_GBps (self, graph);
  return graph->n * MIN (head_GBps (self, graph), graph->inter_GBps)
       / (self->op == FAB_OP_ALL_REDUCE ? fab_op_bus_factor (self->op, self->n_ranks) : 1);
}

static double
old_nvls_tree_GBps (const NcclCandidate *self, const NcclGraph *graph)
{
  double n_nodes = self->group->n_nodes, inter = graph->inter_GBps;

  if (self->version < 21900)
    return graph_GBps (self, graph) * 0.7 * n_nodes / (2 * (n_nodes - 1));
  return graph->n * MIN (graph->intra_GBps, n_nodes <= 2 ? inter : inter / 2) * 5 / 6;
}

static double
nvls_tree_GBps (const NcclCandidate *self)
{
  const NcclGraph *graph = &self->search->nvls;
  guint column = nccl_column (self->group);
  double cap = self->caps->nvls_tree_GBps[column];

  if (graph->n < 2)
    return 0.5 * self->busbw_GBps; /* as nvls_GBps () */
  if (self->version < 22803)
    return old_nvls_tree_GBps (self, graph);
  double GBps = MIN (head_GBps (self, graph), graph->inter_GBps * (column == 1 ? 2 : 1));
  return graph->n * (cap > 0 ? MIN (GBps, cap) : GBps) / fab_op_bus_factor (self->op, self->n_ranks);
}

static double
nvls_latency_us (G_GNUC_UNUSED const NcclCandidate *self, double intra_us, G_GNUC_UNUSED double net_us)
{
  return intra_us;
}

/* From 2.29.2 on the tuner corrects trees of switches too where the GPUs are Blackwell and the processors x86. */
static double
nvls_tree_correction (const NcclCandidate *self)
{
  const char *cpu = self->group->cluster->processor->name;
  gboolean is_x86 = strcmp (cpu, "amd") == 0 || strcmp (cpu, "intel") == 0;

  return self->architecture->generation >= 10 && is_x86 && self->version >= 22902 ? share_at_size (self, 24)
                                                                                  : 1;
}

static double
nvls_tree_latency_us (const NcclCandidate *self, double intra_us, double net_us)
{
  guint n_nodes = self->group->n_nodes;

  return intra_us + 2 * (self->version < 21900 ? n_nodes - 1 : n_levels (n_nodes)) * net_us;
}

static double
nvls_tree_least_us (const NcclCandidate *self)
{
  const NcclTuning *estimate = self->estimate;
  double intra_us = MIN (estimate->nvlink_us[NCCL_SIMPLE], estimate->pci_us[NCCL_SIMPLE]);

  return nvls_tree_latency_us (self, intra_us, estimate->net_us[NCCL_SIMPLE])
       + (double) self->bytes / (nvls_tree_GBps (self) * 1e3);
}

/* All GPUs of a node do their steps at once, so that they cost one step. */
static double
nvls_steps_us (const NcclCandidate *self, G_GNUC_UNUSED double intra_us, double inter_us)
{
  return self->form->n_inter_steps * inter_us + self->tuning->nvlink_us[self->protocol];
}

/* One round: each channel has 128 KiB for every GPU (src/transport/nvls.cc, src/enqueue.cc). */
static FabBytes
nvls_fill_bytes (const NcclCandidate *self)
{
  enum { CHANNELS = 16, CHUNK_BYTES = 128 * 1024 };

  return (FabBytes) CHANNELS * CHUNK_BYTES * nccl_nvls_heads (self);
}

static double
nvls_limit_bytes_per_s (const NcclCandidate *self)
{
  double share = nccl_many_share (self);

  return share < 1 ? share * self->wires->every_bytes_per_s : 0;
}

/* GB/s of network for each GPU of a node. */
static double
net_GBps (const NcclCandidate *self)
{
  return self->busbw_GBps / self->group->gpus_per_node;
}

/* The largest chunk of a tree over switches. One step of Simple's buffer, 512 KiB, up to 2.22; then
 * NCCL_NVLS_CHUNKSIZE, 128 KiB; since 2.30 Blackwell's depends on its network (src/transport/nvls.cc:164-200). From
 * 4 nodes on at most 64 KiB, unless Blackwell's is larger (NCCL_NVLSTREE_MAX_CHUNKSIZE, src/enqueue.cc:2276). */
static FabBytes
nvls_tree_most_chunk_bytes (const NcclCandidate *self)
{
  enum { KIB = 1024, MANY_NODES = 4, SMALL_NODE = 8 };
  gboolean is_many = self->group->n_nodes >= MANY_NODES;
  guint gpus = self->group->gpus_per_node;

  if (self->plugin->nvls_chunk_bytes > 0)
    return self->plugin->nvls_chunk_bytes;
  if (self->version < 22300)
    return (is_many ? 64 : 512) * KIB;
  if (self->architecture->generation >= 10 && self->version >= 23003) {
    if (self->group->n_nodes == 2)
      return (gpus <= 4 ? 256 : gpus >= 16 ? 64 : 128) * KIB;
    return (net_GBps (self) >= 96 && gpus <= SMALL_NODE ? 256 : 64) * KIB;
  }
  return (is_many ? 64 : 128) * KIB;
}

/* A round: one chunk of each channel for every GPU. Chunks get smaller where there are few rounds (v2.30.7,
 * src/enqueue.cc:2276-2285). A round passes the switch of its node, climbs and descends the tree, and passes the
 * switch again; the time of these hops fills the pipeline. */
static FabBytes
nvls_tree_fill_bytes (const NcclCandidate *self)
{
  static const struct {
    guint rounds;
    FabBytes chunk_bytes;
  } most[] = { { 32, 256 * 1024 }, { 16, 128 * 1024 }, { 4, 64 * 1024 }, { 1, 32 * 1024 } };
  FabBytes chunk_bytes = nvls_tree_most_chunk_bytes (self);
  FabBytes heads = (FabBytes) nccl_nvls_channels (self) * nccl_nvls_heads (self);

  for (guint i = 0; i < G_N_ELEMENTS (most); i++)
    if (self->bytes < most[i].rounds * heads * chunk_bytes)
      chunk_bytes = MIN (chunk_bytes, most[i].chunk_bytes);
  return 2 * heads * chunk_bytes;
}

/* What the tree takes of the links between GPUs and their switch, beside a reduction inside one node: 478, 494 and 502
 * GB/s of busbw were expected and 467, 480 and 487 measured at 4, 8 and 16 GiB
 * (p5_h100x16_efa_allreduce_16_nccl2203, one table). With more nodes adapters carry twice as much and limit it. */
static double
nvls_tree_limit_bytes_per_s (const NcclCandidate *self)
{
  const double fraction = 0.97;
  double share = nccl_many_share (self);

  if (share < 1)
    return share * self->wires->every_bytes_per_s;
  return self->group->n_nodes == 2 ? fraction * self->wires->every_bytes_per_s : 0;
}

/* All-gather and reduce-scatter need a head for every GPU (v2.29.2, src/enqueue.cc:1909). */
static gboolean
nvls_is_considered (const NcclParams *params, const NcclCandidate *candidate)
{
  enum { MOST_HEADS = 32 };
  gboolean reduces = candidate->op == FAB_OP_ALL_REDUCE;

  return params->has_nvls && candidate->group->cluster->p2p >= FAB_REACH_NVL && candidate->search->nvls.n >= 2
      && (reduces || (candidate->version >= 21900 && candidate->group->gpus_per_node <= MOST_HEADS));
}

/* --- CollNet: switches of the network reduce --- */

static double
collnet_chain_GBps (const NcclCandidate *self)
{
  return self->busbw_GBps * 0.5;
}

/* f GPUs share a NIC. The formula is the tuner's. */
static double
collnet_direct_GBps (const NcclCandidate *self)
{
  double f = MAX ((double) self->group->gpus_per_node / self->form->n_channels, 1);
  double bus = self->busbw_GBps / (f - (f - 1) / 2);

  return (self->architecture->generation >= 9 ? 0.85 * bus : bus) * 0.5;
}

static gboolean
collnet_is_considered (const NcclParams *params, G_GNUC_UNUSED const NcclCandidate *candidate)
{
  return params->has_collnet;
}

/* --- PAT: parallel aggregated trees. 3.5 and 2.8 us for each rank are the tuner's --- */

/* The tuner takes the bus bandwidth for that of the size: it converts all_gather and reduce_scatter of rings alone. */
static double
pat_GBps (const NcclCandidate *self)
{
  return (self->version < 22400 ? 0.85 : 0.75) * graph_GBps (self, &self->search->ring);
}

static gboolean
pat_is_considered (G_GNUC_UNUSED const NcclParams *params, const NcclCandidate *candidate)
{
  return candidate->version >= 22300 || candidate->architecture->is_rccl;
}

static double
pat_latency_us (const NcclCandidate *self, G_GNUC_UNUSED double intra_us, double net_us)
{
  return self->estimate->base_us[self->protocol] + n_levels (self->group->n_nodes) * net_us / 3.5
       + 2.8 * self->n_ranks;
}

static double
pat_steps_us (const NcclCandidate *self, G_GNUC_UNUSED double intra_us, double inter_us)
{
  return self->form->n_inter_steps * inter_us / 3.5 + 2.8 * self->n_ranks;
}

/* --- direct: ncclSend and ncclRecv, which NCCL's tuner does not know --- */

static double
direct_GBps (const NcclCandidate *self)
{
  return self->form->footprint->rate_bytes_per_s / nccl_wire_factor (self, self->protocol) / 1e9;
}

/* NCCL uses it only for operations that no other algorithm can do. */
static gboolean
direct_is_considered (G_GNUC_UNUSED const NcclParams *params, const NcclCandidate *candidate)
{
  guint ops = OP (ALL_TO_ALL) | OP (SEND_RECV) | OP (GATHER) | OP (SCATTER);

  return (ops >> candidate->op & 1) != 0;
}

/* --- rows --- */

#define TUNING(...) (&(const NcclTuning){ __VA_ARGS__ })

static const NcclAlgorithm rows[] = {
  { .model = "ring",
    .nccl_name = "Ring",
    .nccl = TUNING ({ 6.6, 14.0, 8.4 }, { 0.6, 1.9, 3.4 }, { 1.0, 2.5, 5.7 }, { 2.7, 4.0, 14.0 }),
    .rccl = TUNING ({ 6.6, 14.0, 8.4 }, { 0.8, 2.2, 3.6 }, { 1.0, 2.5, 5.7 }, { 9.5, 19.8, 15.1 }),
    .cdna = TUNING ({ 6.6, 12.0, 8.4 }, { 0.8, 0.8, 2.1 }, { 1.0, 2.5, 5.7 }, { 9.5, 9.5, 15.1 }),
    .protocols = PROTOCOL (LL) | PROTOCOL (LL128) | PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE) | OP (ALL_GATHER) | OP (REDUCE_SCATTER) | OP (BROADCAST) | OP (REDUCE),
    .bandwidth_GBps = ring_GBps,
    .limit_bytes_per_s = ring_limit_bytes_per_s,
    .is_searched = TRUE,
    .waits_for_proxies = TRUE,
    .has_plateau = TRUE,
    .has_measured_base = TRUE,
    .has_measured_steps = TRUE,
    .has_whole_chunks = TRUE },
  { .model = "tree",
    .nccl_name = "Tree",
    .kernel = "TREE",
    .nccl = TUNING ({ 6.8, 14.0, 8.4 }, { 0.6, 1.25, 4.0 }, { 1.0, 1.9, 4.0 }, { 5.0, 8.5, 14.0 }),
    .rccl = TUNING ({ 6.8, 14.0, 8.4 }, { 0.8, 1.4, 2.5 }, { 1.0, 1.9, 4.0 }, { 11.8, 18.2, 20.8 }),
    .cdna = TUNING ({ 6.8, 12.0, 8.4 }, { 0.9, 0.9, 2.3 }, { 1.0, 1.9, 4.0 }, { 10.5, 10.5, 25.0 }),
    .protocols = PROTOCOL (LL) | PROTOCOL (LL128) | PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE),
    .is_considered = tree_is_considered,
    .bandwidth_GBps = tree_GBps,
    .size_correction = tree_correction,
    .latency_us = tree_latency_us,
    .fill_bytes = tree_fill_bytes,
    .limit_bytes_per_s = tree_limit_bytes_per_s,
    .posts_in_turn = TRUE,
    .has_measured_base = TRUE,
    .has_measured_steps = TRUE },
  { .model = "collnet_direct",
    .nccl_name = "CollnetDirect",
    .nccl = TUNING ({ 0, 0, 0 }, { 0, 0, 3.7 }, { 0, 0, 3.7 }, { 0, 0, 31 }),
    .protocols = PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE) | OP (ALL_GATHER) | OP (REDUCE_SCATTER),
    .is_considered = collnet_is_considered,
    .bandwidth_GBps = collnet_direct_GBps,
    .limit_bytes_per_s = limit_of_tuner_bytes_per_s },
  { .model = "collnet_chain",
    .nccl_name = "CollnetChain",
    .nccl = TUNING ({ 0, 0, 0 }, { 0, 0, 2.8 }, { 0, 0, 2.8 }, { 0, 0, 30 }),
    .protocols = PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE),
    .is_considered = collnet_is_considered,
    .bandwidth_GBps = collnet_chain_GBps,
    .limit_bytes_per_s = limit_of_tuner_bytes_per_s },
  { .model = "nvls",
    .nccl_name = "NVLS",
    .nccl = TUNING ({ 0, 0, 0 }, { 0, 0, 25 }, { 0, 0, 0 }, { 0, 0, 18 }),
    .protocols = PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE) | OP (ALL_GATHER) | OP (REDUCE_SCATTER),
    .is_considered = nvls_is_considered,
    .latency_us = nvls_latency_us,
    .bandwidth_GBps = nvls_GBps,
    .steps_us = nvls_steps_us,
    .fill_bytes = nvls_fill_bytes,
    .limit_bytes_per_s = nvls_limit_bytes_per_s,
    .switch_reduces = TRUE },
  { .model = "nvls_tree",
    .nccl_name = "NVLSTree",
    .nccl = TUNING ({ 0, 0, 0 }, { 0, 0, 25 }, { 0, 0, 0 }, { 0, 0, 20.9 }),
    .protocols = PROTOCOL (SIMPLE),
    .ops = OP (ALL_REDUCE),
    .is_considered = nvls_is_considered,
    .latency_us = nvls_tree_latency_us,
    .bandwidth_GBps = nvls_tree_GBps,
    .size_correction = nvls_tree_correction,
    .least_us = nvls_tree_least_us,
    .steps_us = nvls_steps_us,
    .fill_bytes = nvls_tree_fill_bytes,
    .limit_bytes_per_s = nvls_tree_limit_bytes_per_s,
    .switch_reduces = TRUE },
  { .model = "pat",
    .nccl_name = "PAT",
    .nccl = TUNING ({ 0, 0, 8 }, { 0, 0, 4.0 }, { 0, 0, 4.0 }, { 0, 0, 14 }),
    .protocols = PROTOCOL (SIMPLE),
    .ops = OP (ALL_GATHER) | OP (REDUCE_SCATTER),
    .is_considered = pat_is_considered,
    .latency_us = pat_latency_us,
    .bandwidth_GBps = pat_GBps,
    .steps_us = pat_steps_us },
  /* Its constants are those of rings. A scenario may ask for it by name for any operation; NCCL itself has no kernels
   * for the others. */
  { .model = "direct",
    .nccl = TUNING ({ 6.6, 0, 8.4 }, { 0.6, 0, 3.4 }, { 1.0, 0, 5.7 }, { 2.7, 0, 14.0 }),
    .rccl = TUNING ({ 6.6, 0, 8.4 }, { 0.8, 0, 3.6 }, { 1.0, 0, 5.7 }, { 9.5, 0, 15.1 }),
    .protocols = PROTOCOL (LL) | PROTOCOL (SIMPLE),
    .ops = (1u << FAB_N_OPS) - 1,
    .is_considered = direct_is_considered,
    .count_channels = nccl_p2p_count_channels,
    .protocol = nccl_p2p_protocol,
    .bandwidth_GBps = direct_GBps,
    .base_us = nccl_p2p_base_us,
    .limit_bytes_per_s = nccl_p2p_bytes_per_s,
    .has_measured_steps = TRUE,
    .is_point_to_point = TRUE },
};

/* Messages that a file gives, with the steps and the base of rings: MSCCL's interpreter uses NCCL's primitives. Nobody
 * chooses it by an estimate. */
static const NcclAlgorithm given = {
  .model = "schedule",
  .nccl = TUNING ({ 6.6, 14.0, 8.4 }, { 0.6, 1.9, 3.4 }, { 1.0, 2.5, 5.7 }, { 2.7, 4.0, 14.0 }),
  .rccl = TUNING ({ 6.6, 14.0, 8.4 }, { 0.8, 2.2, 3.6 }, { 1.0, 2.5, 5.7 }, { 9.5, 19.8, 15.1 }),
  .protocols = PROTOCOL (LL) | PROTOCOL (LL128) | PROTOCOL (SIMPLE),
  .bandwidth_GBps = ring_GBps,
  .has_measured_base = TRUE,
  .has_measured_steps = TRUE,
};

const NcclAlgorithm *
nccl_given_algorithm (void)
{
  return &given;
}

const NcclAlgorithm *
nccl_algorithm (const char *model)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].model, model) == 0)
      return &rows[i];
  return NULL;
}

const NcclAlgorithm *
nccl_algorithm_at (guint i)
{
  return i < G_N_ELEMENTS (rows) ? &rows[i] : NULL;
}

const NcclAlgorithm *
nccl_searched_algorithm (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].is_searched)
      return &rows[i];
  g_assert_not_reached ();
}

/* --- names --- */

const char *
fab_nccl_algorithm_model (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].nccl_name != NULL
        && (g_ascii_strcasecmp (rows[i].nccl_name, name) == 0
            || g_ascii_strcasecmp (rows[i].model, name) == 0))
      return rows[i].model;
  return NULL;
}

char *
fab_nccl_algorithm_names (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].nccl_name != NULL)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", rows[i].nccl_name);
  return g_string_free (names, FALSE);
}

const char *
fab_nccl_algorithm_kernel (const char *model)
{
  const NcclAlgorithm *row = model != NULL ? nccl_algorithm (model) : NULL;

  return row != NULL && row->kernel != NULL ? row->kernel : "RING";
}
