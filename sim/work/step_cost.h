/* SPDX-License-Identifier: Apache-2.0 */
/* step_cost.h - what one step of a schedule costs, so that those that follow one another cost what a library says. */
#pragma once

#include "sim/work/play.h"
#include "sim/work/schedule_private.h"

typedef struct {
  double inter_ps, intra_ps;
  FabTimePs gap_ps; /* between messages of a lane */
} FabStepCost;

/* By the spec's `steps_ps` and costs. O(lanes + feeds), in rings O(messages) where wires are longer than a step. */
FabStepCost fab_step_cost_find (const FabSchedule *schedule, const FabPlaySpec *spec);

/* From a message's leaving until it is passed on: no less than its wires take. */
static inline FabTimePs
fab_step_cost_ps (const FabStepCost *self, const FabLane *lane)
{
  double ps = fab_hop_kind_is_net (lane->hop.kind) ? self->inter_ps : self->intra_ps;

  return MAX ((FabTimePs) (ps + 0.5), lane->hop.latency_ps);
}
