/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - the time that NCCL's tuner believes in (v2.30.7, src/graph/tuning.cc), formula by formula.
 *
 *   time = latency x plateau + bytes / algbw
 *   algbw = bus bandwidth x protocol's share x n / steps (rings), x 1/2 (trees and switches)
 *
 * What runs is what the tuner believes to be fastest, right or wrong: where its belief is off, a real job suffers too.
 * One thing is not NCCL's: the bus bandwidth is that of the links (the ring's footprint), not that of its search, which
 * steps through a list of speeds per channel.
 */
#include "models/library/nccl/parts.h"

#include <math.h>

/* Tree: share of bandwidth left by 64 B x 2^i (tuning.cc, treeCorrectionFactor). */
static const double tree_corrections[NCCL_N_PROTOCOLS][24] = {
  { 1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0 },
  { 1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1.0, 1.0, 1.0 },
  { .9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9 },
};

static double
tree_correction (const NcclCandidate *self)
{
  guint i = 0;

  for (FabBytes size = self->bytes >> 6; size > 1; size >>= 1)
    i++;
  return i < 24 && self->op == FAB_OP_ALL_REDUCE ? tree_corrections[self->protocol][i] : 1;
}

static double
ring_busbw_GBps (const NcclCandidate *self)
{
  const NcclArchitecture *arch = self->architecture;
  double bus = self->busbw_GBps;

  if (self->protocol == NCCL_LL)
    return MIN (arch->ll_GBps[nccl_column (self->group)], 0.5 * bus);
  if (self->protocol == NCCL_LL128)
    return MIN (0.92 * bus, self->most_channels * arch->ring_ll128_GBps);
  return bus;
}

static double
tree_busbw_GBps (const NcclCandidate *self)
{
  const NcclArchitecture *arch = self->architecture;
  guint column = nccl_column (self->group);
  double bus = self->busbw_GBps;

  if (self->protocol == NCCL_LL)
    return MIN (bus / 3.8, arch->ll_GBps[column]);
  if (self->protocol == NCCL_LL128)
    return MIN (bus * (column == 0 ? 7.0 / 9 : 120.0 / 128),
                self->most_channels * arch->tree_ll128_GBps[column]);
  return MIN (0.92 * bus, self->most_channels * arch->tree_simple_GBps[column]);
}

/* CollNetDirect shares a NIC between f = GPUs per NIC. */
static double
collnet_busbw_GBps (const NcclCandidate *self)
{
  double f = MAX ((double) self->group->gpus_per_node / self->form->n_channels, 1);
  double bus = self->busbw_GBps;

  if (!nccl_is (self, "collnet_direct"))
    return bus;
  bus /= f - (f - 1) / 2;
  return self->architecture->generation >= 9 ? 0.85 * bus : bus;
}

/* algbw in GB/s. */
static double
algbw_GBps (const NcclCandidate *self)
{
  double per_step = 1 / fab_op_bus_factor (self->op, self->n_ranks);
  guint column = nccl_column (self->group);

  if (nccl_is (self, "tree"))
    return tree_busbw_GBps (self) * 0.5 * tree_correction (self);
  if (nccl_is (self, "nvls"))
    return self->form->footprint->rate_bytes_per_s
         / 1e9; /* NCCL's efficiency (0.85, 0.74) stands in the links */
  if (nccl_is (self, "nvls_tree"))
    return MIN (self->busbw_GBps * (column == 1 ? 2 : 1),
                self->most_channels * self->architecture->nvls_tree_GBps[column])
         * 0.5;
  if (nccl_is (self, "collnet_direct") || nccl_is (self, "collnet_chain"))
    return collnet_busbw_GBps (self) * 0.5;
  if (nccl_is (self, "pat"))
    return 0.75 * self->busbw_GBps * per_step;
  if (nccl_is (self, "direct"))
    return self->form->footprint->rate_bytes_per_s / nccl_wire_factors[self->protocol] / 1e9;
  return ring_busbw_GBps (self) * per_step;
}

double
nccl_tree_bytes_per_s (const NcclCandidate *self)
{
  double correction = nccl_is (self, "tree") ? tree_correction (self) : 1;

  return algbw_GBps (self) / correction * 1e9;
}

double
nccl_adapters_us (const NcclCandidate *self)
{
  const double usual_us = 0.73; /* of InfiniBand adapters (ib-hdr), on which NCCL's steps were measured */
  double us = 1e6 * fab_ps_to_seconds (self->form->inter_endpoint_ps) - usual_us;

  /* Simple flushes what the NIC has written before it says so: the latency twice. */
  return MAX (us, 0) * (self->protocol == NCCL_SIMPLE ? 2 : 1);
}

double
nccl_proxy_us (const NcclCandidate *self)
{
  double us = self->group->cluster->cpu == FAB_CPU_AMD ? 2 : 1;

  return self->group->n_nodes == 1 ? 0 : self->protocol == NCCL_SIMPLE ? 3 * us : us;
}

static double
latency_us (const NcclCandidate *self)
{
  const NcclTuning *tuning = self->tuning;
  const FabCollectiveForm *form = self->form;
  NcclProtocol protocol = self->protocol;
  gboolean is_nvlink = form->intra_kind == FAB_HOP_DIRECT && g_strcmp0 (form->intra_technology, "PCIe") != 0;
  double intra_us = (is_nvlink ? tuning->nvlink_us : tuning->pci_us)[protocol];
  double nodes = log2 (self->group->n_nodes);
  double net_us = tuning->net_us[protocol] + nccl_adapters_us (self);

  if (nccl_is (self, "nvls"))
    return intra_us;
  if (nccl_is (self, "nvls_tree"))
    return intra_us + 2 * nodes * net_us;
  if (nccl_is (self, "pat"))
    return tuning->base_us[protocol] + nodes * net_us / 3.5 + 2.8 * self->n_ranks;
  if (nccl_is (self, "ring"))
    intra_us = MAX (intra_us, nccl_proxy_us (self));
  return tuning->base_us[protocol] + form->n_intra_steps * intra_us + form->n_inter_steps * net_us;
}

/* Between nodes a long Simple ring does not hide its steps: once every rank has 64 bytes per channel. */
static double
plateau_factor (const NcclCandidate *self)
{
  gboolean is_long = self->bytes / ((guint64) self->most_channels * self->n_ranks) >= 64;

  if (self->protocol != NCCL_SIMPLE || self->op != FAB_OP_ALL_REDUCE || self->group->n_nodes == 1 || !is_long
      || !nccl_is (self, "ring"))
    return 1;
  return self->architecture->generation >= 8 ? 1.4 : 1.9;
}

double
nccl_tuner_us (const NcclCandidate *self)
{
  return latency_us (self) * plateau_factor (self) + (double) self->bytes / (algbw_GBps (self) * 1e3);
}

double
nccl_least_us (const NcclCandidate *self)
{
  const NcclTuning *tuning = self->tuning;
  double intra_us = MIN (tuning->nvlink_us[NCCL_SIMPLE], tuning->pci_us[NCCL_SIMPLE]);

  if (!nccl_is (self, "nvls_tree"))
    return 0;
  return intra_us + 2 * log2 (self->group->n_nodes) * tuning->net_us[NCCL_SIMPLE]
       + (double) self->bytes / (algbw_GBps (self) * 1e3);
}
