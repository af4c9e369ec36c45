/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - the time that the candidate takes which the tuner has chosen.
 *
 *   startup = base + steps inside nodes x step + steps between nodes x (network step + adapters) + pipeline fill
 *             all of it x 1.4 or 1.9 for long Simple rings between nodes (nccl_plateau_factor)
 *   rate    = the footprint's rate / the protocol's wire factor, and at most what the end points can do and what wires
 *             allow that the footprint does not show (pace_bytes_per_s)
 *
 * The footprint stands for physics: links, packets, switches that reduce. The constants for a step contain the
 * latency of usual wires, so that link latencies are not added; where the wires' latency is longer than a step, it
 * counts instead.
 *
 * End points of the LL protocol between nodes. Its data are in host memory, and a CPU thread reads the flag of every
 * line of 16 bytes before it posts the data to the NIC (src/transport/net.cc). All channels together reach 2.5 GB/s
 * plus 1 GB/s for each channel. Measured with 1, 2, 4 and 8 channels, 64 to 512 KiB, 16 GPUs: 3.4, 4.1, 6.0 and 10.5
 * GB/s (validate/measured/dgxa100_hdr_allreduce_16_ring.csv: what each doubling of the size adds to the time).
 */
#include <math.h>

#include "models/library/nccl/parts.h"

static const double ll_net_bytes_per_s = 2.5e9, ll_net_channel_bytes_per_s = 1e9;

/* Sizes of messages where a network plays the collective message by message. A message is an eighth of a chunk:
 * where a GPU's link carries chunks up and down a tree, the last chunk gets only half of the link, which the fill
 * does not contain (docs/models/step.md). Smaller messages would make schedules long. */
enum { MESSAGES_PER_CHUNK = 8, LEAST_MESSAGE_BYTES = 4096, MOST_MESSAGES = 256 };

static gboolean
is_over_nodes (const NcclCandidate *self)
{
  return self->group->n_nodes > 1;
}

/* Time of a message from one node to the next with nothing that hides a part of it: the tuner's step of a tree. */
static double
crossing_us (const NcclCandidate *self)
{
  const NcclAlgorithm *tree = nccl_algorithm ("tree");

  return (self->architecture->is_rccl ? tree->rccl : tree->nccl)->net_us[self->protocol]
       + nccl_adapters_us (self);
}

/* Time of a step in a ring between nodes, where every step waits for the slowest pair of proxy threads: in us. The
 * longest of N delays of mean t that vary as those of a queue do is t x (1 + 1/2 + ... + 1/N). A step contains one
 * crossing of the network at most, so that it is never longer than that. LL: the tuner's own 1.0. LL128: t = 2.4, from
 * 3.5 with 2 nodes (dgxa100_hdr_allreduce_16_ring) and 7.4 with 10 (h100_10nodes_4gpu_reducescatter_40,
 * h100_10nodes_allgather_80). Simple, which waits for a receiver's buffer too: 5.0 (the same tables: 5 and 6). */
static double
ring_step_us (const NcclCandidate *self)
{
  static const double us[NCCL_N_PROTOCOLS] = { 1.0, 2.4, 5.0 };
  double sum = 0;

  if (self->protocol != NCCL_LL128)
    return us[self->protocol];
  for (guint i = 1; i <= self->group->n_nodes; i++)
    sum += 1.0 / i;
  return MIN (us[NCCL_LL128] * sum, crossing_us (self));
}

/* What was measured of LL inside a node: the kernel's start, which between nodes takes at least as long, and a step.
 * All zero: nothing, or it is another protocol. */
static const FabRingCost *
ll_kernel (const NcclCandidate *self)
{
  static const FabRingCost none;

  return self->protocol == NCCL_LL && self->algorithm->has_measured_steps
           ? &self->group->cluster->generation->rings.ll
           : &none;
}

/* Time of a step between GPUs of a node. */
static double
intra_us (const NcclCandidate *self)
{
  const FabCollectiveForm *form = self->form;
  const FabStartup *measured = nccl_measured_startup (self);
  NcclProtocol protocol = self->protocol;
  double wire_us = 1e6 * fab_ps_to_seconds (form->intra_latency_ps);
  double us = self->tuning->pci_us[protocol];

  if (form->intra_kind == FAB_HOP_DIRECT && !nccl_is_over_bus (form)) {
    us = self->tuning->nvlink_us[protocol];
    if (self->algorithm->has_measured_steps && measured != NULL)
      us = (double) measured->step_ps / 1e6;
    if (is_over_nodes (self) && ll_kernel (self)->step_ps > 0)
      us = (double) ll_kernel (self)->step_ps / 1e6;
  }
  if (self->algorithm->waits_for_proxies && is_over_nodes (self))
    us = MAX (us, MAX (ring_step_us (self), protocol == NCCL_LL ? 0 : nccl_proxy_us (self)));
  return MAX (us, wire_us);
}

/* What the proxy thread of a GPU adds to a step between nodes where messages are short (LL, LL128). The steps of a tree
 * contain one message that a processor posts in 1 us; some take longer (FabProcessor.proxy_ps). A GPU whose NICs carry
 * several channels posts one message for each of them in turn: 2 us for each further one, between 16 KiB and 8 MiB of
 * p5_h100x16_efa_allreduce_16_nccl2203 (4 channels for a GPU) and of alps_gh200_ss11_allreduce_16. Rings wait in every
 * step for the slowest pair of proxy threads (ring_step_us). RCCL's network step was measured by AMD with all of its
 * channels (tuning models 5 and 6 of src/graph/tuning.cc), eight for a GPU, and contains their messages. */
static double
posting_us (const NcclCandidate *self)
{
  const double usual_us = 1, further_us = 2;
  double n_messages = (double) self->n_channels / MIN (self->group->gpus_per_node, self->n_rails);

  if (!self->algorithm->posts_in_turn || self->protocol == NCCL_SIMPLE)
    return 0;
  return (double) self->group->cluster->processor->proxy_ps / 1e6 - usual_us
       + (self->architecture->is_rccl ? 0 : MAX (n_messages - 1, 0) * further_us);
}

/* Where every node has one GPU, NCCL counts steps of rings as those of trees (v2.30.7, src/graph/tuning.cc:387): a ring
 * has no step inside a node that would hide a part of them. */
static const NcclTuning *
net_tuning (const NcclCandidate *self)
{
  gboolean is_like_tree = self->algorithm->is_searched && self->group->gpus_per_node == 1
                       && !self->architecture->is_rccl;

  return is_like_tree ? nccl_algorithm ("tree")->nccl : self->tuning;
}

static double
inter_us (const NcclCandidate *self)
{
  double wire_us = 1e6 * fab_ps_to_seconds (self->form->inter_latency_ps);

  return MAX (net_tuning (self)->net_us[self->protocol], wire_us) + nccl_adapters_us (self)
       + posting_us (self) + nccl_step_match_us (self);
}

static double
base_us (const NcclCandidate *self, double steps)
{
  const FabStartup *measured = nccl_measured_startup (self);
  const FabRingCost *ring = nccl_ring_cost (self);

  if (ring != NULL)
    return (double) ring->base_ps / 1e6;
  if (self->algorithm->base_us != NULL)
    return self->algorithm->base_us (self, steps);
  if (is_over_nodes (self))
    return MAX (self->tuning->base_us[self->protocol], (double) ll_kernel (self)->base_ps / 1e6);
  return measured != NULL && self->algorithm->has_measured_base ? (double) measured->base_ps / 1e6
                                                                : self->tuning->base_us[self->protocol];
}

/* Bytes of size that are on the way before the last hop of a pipeline moves any. 0: it is no pipeline. */
static FabBytes
fill_bytes (const NcclCandidate *self)
{
  return self->algorithm->fill_bytes != NULL ? self->algorithm->fill_bytes (self) : 0;
}

/* Between nodes a chain with LL passes on the part of a channel at the rate at which one thread block moves LL
 * (FabSends), in each of its steps; of longer parts, what all its threads move at once, for the rest follows in
 * turn. */
static double
blocks_fill_us (const NcclCandidate *self)
{
  const NcclBlock *block = nccl_block (self);
  double bytes_per_s = (double) self->group->cluster->generation->sends.ll_bytes_per_s;
  FabBytes part = MIN (self->bytes / self->n_channels, (FabBytes) block->threads * block->grain_bytes);

  if (!self->algorithm->posts_in_turn || self->protocol != NCCL_LL || !is_over_nodes (self)
      || self->group->cluster->generation->sends.ll_ps <= 0)
    return 0; /* nothing was measured */
  return (self->form->n_intra_steps + self->form->n_inter_steps) * (double) part / bytes_per_s * 1e6;
}

/* Time in which the first bytes pass the links of a pipeline. */
static double
links_fill_us (const NcclCandidate *self)
{
  double seconds = (double) MIN (self->bytes, fill_bytes (self)) * self->form->fill_s_per_byte;

  return seconds * nccl_wire_factor (self, self->protocol) * 1e6;
}

static double
fill_us (const NcclCandidate *self)
{
  return MAX (links_fill_us (self), blocks_fill_us (self));
}

/* Time of all steps that follow one another. */
static double
steps_us (const NcclCandidate *self)
{
  const FabCollectiveForm *form = self->form;
  const FabRingCost *ring = nccl_ring_cost (self);
  double intra = intra_us (self), inter = inter_us (self);

  if (ring != NULL)
    return nccl_ring_steps_us (self, ring);
  double us = self->algorithm->steps_us != NULL ? self->algorithm->steps_us (self, intra, inter)
                                                : form->n_inter_steps * inter + form->n_intra_steps * intra;

  return us * nccl_plateau_factor (self) + nccl_handshakes_us (self, form->n_inter_steps);
}

static double
startup_us (const NcclCandidate *self)
{
  const FabSwitchCost *node_switch = nccl_switch_cost (self);
  double steps = steps_us (self);

  if (node_switch != NULL)
    return nccl_switch_startup_us (self, node_switch);
  return steps + (base_us (self, steps) + fill_us (self)) * nccl_plateau_factor (self);
}

/* What all channels together can move, in bytes of size per second. A channel is one thread block. Between nodes it
 * moves what was measured with blocks of that generation (FabGeneration.ring_channel); inside a node the links are the
 * limit, and a block counts as what the tuner assumes for a tree's channel there. */
static double
channels_bytes_per_s (const NcclCandidate *self)
{
  double bytes_per_s = self->architecture->caps.tree_simple_GBps[0] * 1e9;
  FabBytesPerS measured = self->group->cluster->generation->ring_channel.bytes_per_s;

  if (is_over_nodes (self) && measured > 0)
    bytes_per_s = (double) measured;
  return self->n_channels * bytes_per_s / fab_op_bus_factor (self->op, self->n_ranks);
}

/* What a ring between nodes saves because latency and bytes of its steps overlap. The wires carry one slice while the
 * next one waits: both together take as the diagonal of the two, and at least one step's latency remains. A thread
 * block does one after the other: where blocks are the limit, nothing overlaps. From 39 steps of
 * h100_10nodes_4gpu_reducescatter_40, which the wires limit, and 79 of h100_10nodes_allgather_80, which the blocks
 * do. Sets *blocks_limit where thread blocks are the limit. */
static double
overlap_s (const NcclCandidate *self, double flow_s, gboolean *blocks_limit)
{
  double steps_s = steps_us (self) * 1e-6,
         blocks_s = (double) self->bytes / channels_bytes_per_s (self) + steps_s;
  guint n_steps = self->form->n_intra_steps + self->form->n_inter_steps;

  *blocks_limit = FALSE;
  if (!nccl_is_round (self) || self->protocol == NCCL_LL)
    return 0;
  double together_s = MAX (hypot (flow_s, steps_s), flow_s + steps_s / MAX (n_steps, 1));
  *blocks_limit = blocks_s > together_s;
  return MAX (flow_s + steps_s - MAX (together_s, blocks_s), 0);
}

/* Rails that a channel uses. Several NICs of one GPU are one device (system.c), over which a channel spreads. */
static double
rails_of_channel (const NcclCandidate *self)
{
  return is_over_nodes (self) ? MAX ((double) self->form->n_channels / self->group->gpus_per_node, 1) : 1;
}

/* The share of the rails that the channels use; more than 1 where several channels share a rail. */
static double
used_rails (const NcclCandidate *self)
{
  return self->n_channels * rails_of_channel (self) / self->form->n_channels;
}

/* The rate where the channels do not use all rails, so that some NICs and wires carry nothing and the others more. A
 * link of several rails has its part of the channels, rounded up. The links between GPUs and the switch of their node
 * are used as before. */
static double
few_channels_bytes_per_s (const NcclCandidate *self)
{
  const NcclWires *wires = self->wires;
  double used = used_rails (self), least = wires->every_bytes_per_s;

  for (guint i = 0; i < wires->n_shared; i++) {
    double n_rails = wires->shared[i].n_rails;

    least = MIN (least, wires->shared[i].bytes_per_s * used * n_rails / ceil (used * n_rails));
  }
  return least / nccl_wire_factor (self, self->protocol);
}

static void
lower (double *limit, double bytes_per_s)
{
  if (*limit <= 0 || bytes_per_s < *limit)
    *limit = bytes_per_s;
}

/* Share of what kernels carry through host memory that Simple keeps where their loads and stores are the limit. It uses
 * 4 MiB of buffers for each connection in turn, more than the processor keeps in its caches. LL and short collectives
 * use less of them and keep all. Fitted with the processors' `staged_kernel_most` to aic_l40s_allreduce_4,
 * aic_l40s_reducescatter_4 and aic_l40s_allgather_8, one machine: 5.1, 4.9 and 1.17 GB/s from 2 MiB on, against
 * 7.4, 6.9 and 1.6 below, and 7.5, 6.4 and 1.42 GB/s of LL's bytes. */
static const double staged_simple_fraction = 0.72;
static const FabBytes staged_long_bytes = 2 * 1024 * 1024;

/* The limit of Simple through host memory; 0: there is none. */
static double
staged_bytes_per_s (const NcclCandidate *self)
{
  double limited = self->wires->device_stretch;

  if (self->protocol != NCCL_SIMPLE || self->form->intra_kind != FAB_HOP_STAGED || limited <= 1
      || self->bytes < staged_long_bytes)
    return 0;
  return MAX (staged_simple_fraction, 1 / limited) * self->form->footprint->rate_bytes_per_s;
}

/* The last step of each loop of a ring copies out of a buffer, and nothing overlaps it (src/device/all_reduce.h): one
 * part of three in an all-reduce of two GPUs, of two in their all-gather. The rate of one channel's copy is fitted to
 * aic_l40s_allgather_2, one table. Over NVLink the generation says it (ring.c). */
static const double bus_copy_bytes_per_s = 51.5e9;

/* The limit of a ring whose GPUs reach each other over PCIe; 0: it is none. */
static double
bus_ring_bytes_per_s (const NcclCandidate *self)
{
  gboolean is_loop = self->op == FAB_OP_ALL_REDUCE || self->op == FAB_OP_ALL_GATHER
                  || self->op == FAB_OP_REDUCE_SCATTER;

  if (!self->algorithm->is_searched || !is_loop || self->protocol != NCCL_SIMPLE || is_over_nodes (self)
      || self->form->intra_kind != FAB_HOP_DIRECT || !nccl_is_over_bus (self->form))
    return 0;
  return 1
       / (1 / self->form->footprint->rate_bytes_per_s
          + 1 / (bus_copy_bytes_per_s * self->n_channels * self->n_ranks));
}

/* The highest rate of the candidate beside that of its footprint, in bytes of size per second: of its thread blocks and
 * its protocol, of rails without a channel, and of what follows the links one after another. 0: there is none. */
static double
pace_bytes_per_s (const NcclCandidate *self)
{
  const NcclAlgorithm *algorithm = self->algorithm;
  const FabCollectiveForm *form = self->form;
  double factor = fab_op_bus_factor (self->op, self->n_ranks), limit = 0;
  const FabRingCost *ring = nccl_ring_cost (self);
  double own = algorithm->limit_bytes_per_s != NULL ? algorithm->limit_bytes_per_s (self) : 0;

  if (ring != NULL)
    return nccl_ring_limit_bytes_per_s (self, ring);
  if (!algorithm->is_point_to_point && !algorithm->switch_reduces)
    lower (&limit, channels_bytes_per_s (self));
  if (used_rails (self) < 1)
    lower (&limit, few_channels_bytes_per_s (self));
  if (own > 0)
    lower (&limit, own);
  if (staged_bytes_per_s (self) > 0)
    lower (&limit, staged_bytes_per_s (self));
  if (bus_ring_bytes_per_s (self) > 0)
    lower (&limit, bus_ring_bytes_per_s (self));
  if (self->protocol == NCCL_LL && form->n_inter_steps > 0)
    lower (&limit, (ll_net_bytes_per_s + self->n_channels * ll_net_channel_bytes_per_s) / factor);
  return limit;
}

/* A candidate whose links take no time. */
typedef struct {
  NcclCandidate candidate;
  FabCollectiveForm form;
  FabFootprint footprint;
  NcclWires wires;
  NcclSearch search;
} Unbound;

/* Its channels remain, and with them all that NCCL counts by the bandwidth of sends and receives. */
static void
unbind (const NcclCandidate *self, Unbound *unbound)
{
  NcclSearch *search = &unbound->search;
  NcclGraph *const graphs[] = { &search->ring, &search->tree, &search->nvls };

  double kernels = fab_form_kernels_bytes_per_s (self->form, self->group->cluster);

  *unbound = (Unbound){ *self, *self->form, *self->form->footprint, *self->wires, *self->search };
  unbound->footprint.rate_bytes_per_s = kernels > 0 ? kernels : HUGE_VAL;
  unbound->form.footprint = &unbound->footprint;
  unbound->wires.every_bytes_per_s = HUGE_VAL;
  for (guint i = 0; i < unbound->wires.n_shared; i++)
    unbound->wires.shared[i].bytes_per_s = HUGE_VAL;
  for (guint i = 0; search->follows_rates && i < G_N_ELEMENTS (graphs); i++)
    graphs[i]->intra_GBps = graphs[i]->inter_GBps = HUGE_VAL;
  unbound->candidate.form = &unbound->form;
  unbound->candidate.wires = &unbound->wires;
  unbound->candidate.search = search;
  if (!self->algorithm->is_point_to_point)
    unbound->candidate.busbw_GBps = HUGE_VAL;
}

/* What the end points of the candidate could do if its links took no time; 0: they set no limit. */
static double
ends_bytes_per_s (const NcclCandidate *self)
{
  Unbound unbound;

  unbind (self, &unbound);
  double bytes_per_s = pace_bytes_per_s (&unbound.candidate);
  return isfinite (bytes_per_s) ? bytes_per_s : 0;
}

static guint
count_messages (const NcclCandidate *self, FabBytes chunk_bytes)
{
  FabBytes n = (MESSAGES_PER_CHUNK * self->bytes + chunk_bytes - 1) / chunk_bytes;

  return (guint) CLAMP (MIN (n, self->bytes / LEAST_MESSAGE_BYTES), 1, MOST_MESSAGES);
}

static void
plan_steps (const NcclCandidate *self, FabCollectivePlanSteps *steps)
{
  FabBytes chunk_bytes = fill_bytes (self);
  double intra = intra_us (self), inter = inter_us (self);

  if (chunk_bytes > 0) {
    steps->n_chunks = count_messages (self, chunk_bytes);
    steps->fill_ps = fab_seconds_to_ps ((double) self->bytes / steps->n_chunks * self->form->fill_s_per_byte
                                        * nccl_wire_factor (self, self->protocol));
  }
  steps->steps_ps = fab_seconds_to_ps (steps_us (self) * 1e-6);
  steps->intra_cost = intra > 0 ? intra : MAX (inter, 1);
  steps->inter_cost = inter > 0 ? inter : steps->intra_cost;
  steps->pace_bytes_per_s = pace_bytes_per_s (self);
}

static double
flow_s (const FabCollectivePlan *plan)
{
  return fab_ps_to_seconds (fab_collective_plan_idle_ps (plan) - plan->startup_ps);
}

/* In each loop of an all-gather a rank first copies its own part to its place. With two ranks nothing overlaps that:
 * out of place 36.7 GB/s, in place 45.1 (gke_b200_roce_allgather_2). With more, the other parts are on the wires
 * meanwhile, in all but one of n - 1 steps. */
static FabTimePs
own_copy_ps (const NcclCandidate *self)
{
  double bytes_per_s = (double) self->group->cluster->generation->rings.simple.copy_bytes_per_s;

  if (!nccl_is_round (self) || self->protocol != NCCL_SIMPLE || self->op != FAB_OP_ALL_GATHER
      || bytes_per_s <= 0)
    return 0;
  double seconds = (double) self->bytes / self->n_ranks / self->n_channels / bytes_per_s;
  return fab_seconds_to_ps (seconds / (self->n_ranks - 1));
}

/* Makes all steps together longer or shorter: as a stream, and played message by message. */
static void
change_steps (FabCollectivePlan *plan, FabTimePs by_ps)
{
  plan->startup_ps = MAX (plan->startup_ps + by_ps, plan->latency_ps);
  plan->steps.steps_ps = MAX (plan->steps.steps_ps + by_ps, 0);
}

/* The startup without what overlaps the flow of bytes. It is rounded once: where blocks of the channels set the total,
 * the steps are in both terms and must cancel. */
static void
start (const NcclCandidate *self, FabCollectivePlan *plan)
{
  double overlapped_s = overlap_s (self, flow_s (plan), &plan->waits_for_ends);

  plan->startup_ps = MAX (fab_seconds_to_ps (MAX (startup_us (self) * 1e-6 - overlapped_s, 0)),
                          plan->latency_ps);
  plan->steps.steps_ps = MAX (plan->steps.steps_ps - fab_seconds_to_ps (overlapped_s), 0);
}

void
nccl_cost (const NcclCandidate *self, FabCollectivePlan *plan)
{
  plan->footprint = self->form->footprint;
  plan->wire_factor = nccl_wire_factor (self, self->protocol);
  plan_steps (self, &plan->steps);
  plan->most_bytes_per_s = plan->steps.pace_bytes_per_s;
  plan->ends_bytes_per_s = ends_bytes_per_s (self);
  if (self->form->phases_bytes_per_s > 0)
    lower (&plan->most_bytes_per_s, self->form->phases_bytes_per_s / plan->wire_factor);
  plan->n_channels = self->n_channels;
  plan->n_connections = MAX (self->n_channels / self->form->n_channels, 1);
  plan->latency_ps = fab_form_latency_ps (self->form);
  if (nccl_switch_cost (self) == NULL && fab_form_kernels_bytes_per_s (self->form, self->group->cluster) <= 0)
    plan->fill_ps = fab_seconds_to_ps (links_fill_us (self) * nccl_plateau_factor (self) * 1e-6);
  start (self, plan);
  change_steps (plan, nccl_messages_ps (self, plan));
  change_steps (plan, own_copy_ps (self));
}

/* Seconds per byte of size if the steps of the ring follow one another: the mean over its hops. */
static double
steps_seconds_per_byte (const FabGroup *group, const FabCollectiveForm *form)
{
  const FabGraph *graph = group->cluster->graph;
  double intra = 0, inter = 0;

  for (guint i = 0; i < form->footprint->n; i++) {
    FabLinkId link = form->footprint->links[i];
    double seconds = form->footprint->line_weights[i]
                   / (double) fab_graph_link (graph, link)->rate_bytes_per_s;

    if (fab_graph_link_class (graph, link)->technology == form->intra_technology)
      intra = MAX (intra, seconds);
    else
      inter = MAX (inter, seconds);
  }
  return (form->n_intra_steps * intra + form->n_inter_steps * inter)
       / (form->n_intra_steps + form->n_inter_steps);
}

/* Every step moves a whole chunk, and channels or steps that have no chunk wait. The additional time is startup. */
void
nccl_round_chunks (const NcclCandidate *candidate, FabCollectivePlan *plan)
{
  const NcclBlock *block = nccl_block (candidate);
  FabBytes unit = (FabBytes) plan->n_ranks * plan->n_channels * block->threads * block->grain_bytes;
  FabBytes rounded = (plan->bytes + unit - 1) / unit * unit;
  double steps_s = (double) rounded * plan->wire_factor
                 * steps_seconds_per_byte (candidate->group, candidate->form);

  if (steps_s > flow_s (plan))
    plan->startup_ps = fab_ps_add (plan->startup_ps, fab_seconds_to_ps (steps_s - flow_s (plan)));
}
