/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - what a ring inside one node takes where its generation was measured (FabRingCost of the catalogue).
 *
 * A channel is one thread block. In each loop of an all-reduce over n ranks it sends 2(n - 1) times and then copies
 * once what it has received out of a buffer; all_gather and reduce_scatter send n - 1 times and copy once
 * (src/device/all_reduce.h, all_gather.h, reduce_scatter.h). It does one after the other, so that the copy counts for
 * much among two ranks and for little among eight.
 *
 * Simple moves more in a channel than its part of the links. The rates of links come from all-reduces of 8 GiB over
 * eight GPUs (`kernel` of the catalogue's links) and contain the copy and the drift of those, so that only the
 * difference counts here.
 */
#include <math.h>

#include "models/library/nccl/parts.h"

static const double known_steps = 14, known_bytes = 8.0 * (1 << 30) * 14 / 8;

const FabRingCost *
nccl_ring_cost (const NcclCandidate *self)
{
  const FabRingCosts *all = &self->group->cluster->generation->rings;
  const FabRingCost *cost = self->protocol == NCCL_LL    ? &all->ll
                          : self->protocol == NCCL_LL128 ? &all->ll128
                                                         : &all->simple;
  gboolean is_loop = self->op == FAB_OP_ALL_REDUCE || self->op == FAB_OP_ALL_GATHER
                  || self->op == FAB_OP_REDUCE_SCATTER;

  return self->algorithm->is_searched && is_loop && self->group->n_nodes == 1
              && self->form->intra_kind == FAB_HOP_DIRECT && !nccl_is_over_bus (self->form)
              && cost->base_ps > 0
           ? cost
           : NULL;
}

static double
bus_bytes (const NcclCandidate *self)
{
  return (double) self->bytes * fab_op_bus_factor (self->op, self->n_ranks);
}

static double
drift_us (const NcclCandidate *self, const FabRingCost *cost)
{
  double bytes = bus_bytes (self);
  double roots = sqrt (bytes / 1e9) - bytes / sqrt (known_bytes * 1e9);

  return (double) cost->drift_ps / 1e6 * MAX (roots, 0);
}

double
nccl_ring_steps_us (const NcclCandidate *self, const FabRingCost *cost)
{
  double n_steps = self->form->n_intra_steps, step_us = (double) cost->step_ps / 1e6;
  double link_us = 1e6 * (double) self->bytes / self->form->footprint->rate_bytes_per_s / n_steps;

  if (cost->channel_bytes_per_s > 0)
    return n_steps * step_us;
  return n_steps * (sqrt (step_us * step_us + link_us * link_us) - link_us) + drift_us (self, cost);
}

double
nccl_ring_limit_bytes_per_s (const NcclCandidate *self, const FabRingCost *cost)
{
  double factor = fab_op_bus_factor (self->op, self->n_ranks), n_steps = self->form->n_intra_steps;
  double copy = cost->copy_bytes_per_s > 0 ? 1.0 / (double) cost->copy_bytes_per_s : 0;

  if (cost->channel_bytes_per_s > 0)
    return self->n_channels / factor / (1.0 / (double) cost->channel_bytes_per_s + copy / n_steps);
  double s = 1 / self->form->footprint->rate_bytes_per_s
           + factor / self->n_channels * copy * (1 / n_steps - 1 / known_steps);
  return s > 0 ? 1 / s : 0;
}
