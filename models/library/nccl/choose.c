/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - the time that NCCL's tuner estimates (src/graph/tuning.cc, release by release), formula by formula.
 *
 *   time = latency x plateau + bytes / algbw
 *   latency = base + steps inside nodes x step + steps between nodes x network step       (or the algorithm's own)
 *   algbw = the algorithm's bandwidth x its correction for the size                       (algorithms.c)
 *
 * The candidate with the smallest estimate runs, whether the estimate is right or wrong: where it is off, a real job
 * suffers too. One thing differs from NCCL: the bus bandwidth is what the links of the rings allow, not what NCCL's
 * search finds, which tries a list of speeds per channel.
 */
#include "models/library/nccl/parts.h"

double
nccl_adapters_us (const NcclCandidate *self)
{
  /* Adapters of InfiniBand HDR (entry ib-hdr), on which NCCL's steps of Simple were measured. */
  const double usual_us = 0.73;
  /* What the tuner's step of LL holds of adapters and wires, 4.0 of 5.0 us: 8 B take 30 us over 4 nodes of
   * alps_gh200_ss11_allreduce_16 and 20 over 2 of polaris_a100_ss11_allreduce_8, whose adapters and wires take 4.2. */
  const double usual_flag_us = 4.0;
  double endpoint_us = 1e6 * fab_ps_to_seconds (self->form->inter_endpoint_ps);
  double wires_us = 1e6 * fab_ps_to_seconds (self->form->inter_latency_ps);

  if (self->protocol != NCCL_SIMPLE)
    return MAX (endpoint_us + wires_us - usual_flag_us, 0);
  /* Simple flushes what the NIC has written before the GPU may read it, which takes the adapters' latency again. */
  return 2 * MAX (endpoint_us - usual_us, 0);
}

double
nccl_told_us (const NcclCandidate *self)
{
  return self->plugin->told_us * (self->protocol == NCCL_SIMPLE ? 2 : 1);
}

double
nccl_proxy_us (const NcclCandidate *self)
{
  double us = (double) self->group->cluster->processor->proxy_ps / 1e6;

  return self->group->n_nodes == 1 ? 0 : self->protocol == NCCL_SIMPLE ? 3 * us : us;
}

/* NCCL applies it once every rank has 64 bytes for each channel: 1.4, and 1.9 before Ampere. RCCL has none (its
 * src/graph/tuning.cc, ncclTopoGetAlgoTime). */
double
nccl_plateau_factor (const NcclCandidate *self)
{
  gboolean is_long = self->bytes / ((guint64) self->most_channels * self->n_ranks) >= 64;

  if (!self->algorithm->has_plateau || self->protocol != NCCL_SIMPLE || self->group->n_nodes == 1 || !is_long)
    return 1;
  if (self->architecture->is_rccl)
    return 1;
  return self->architecture->generation >= 8 ? 1.4 : 1.9;
}

/* A step inside a node. In rings between nodes every step waits for some proxy thread; 2.16 had a factor for that. */
static double
intra_us (const NcclCandidate *self)
{
  const FabCollectiveForm *form = self->form;
  gboolean is_nvlink = form->intra_kind == FAB_HOP_DIRECT && !nccl_is_over_bus (form);
  double us = (is_nvlink ? self->estimate->nvlink_us : self->estimate->pci_us)[self->protocol];

  if (!self->algorithm->waits_for_proxies || self->group->n_nodes == 1)
    return us;
  if (self->version < 21800)
    return self->protocol == NCCL_LL ? 1.8 * us : us;
  return MAX (us, nccl_proxy_us (self));
}

static double
latency_us (const NcclCandidate *self)
{
  const FabCollectiveForm *form = self->form;
  double intra = intra_us (self), net = self->estimate->net_us[self->protocol] + nccl_told_us (self);

  if (self->algorithm->latency_us != NULL)
    return self->algorithm->latency_us (self, intra, net);
  return self->estimate->base_us[self->protocol] + form->n_intra_steps * intra + form->n_inter_steps * net;
}

static double
algbw_GBps (const NcclCandidate *self)
{
  double GBps = self->algorithm->bandwidth_GBps (self);

  return self->algorithm->size_correction != NULL ? GBps * self->algorithm->size_correction (self) : GBps;
}

double
nccl_tuner_us (const NcclCandidate *self)
{
  /* The tuner knows the plateau of all_reduce only; all_gather and the others take it all the same (cost.c). */
  double plateau = self->op == FAB_OP_ALL_REDUCE ? nccl_plateau_factor (self) : 1;

  return latency_us (self) * plateau + (double) self->bytes / (algbw_GBps (self) * 1e3);
}
