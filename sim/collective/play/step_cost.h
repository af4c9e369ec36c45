/* SPDX-License-Identifier: Apache-2.0 */
/* step_cost.h - what a step of a schedule costs, so that all consecutive steps take what the library says. */
#pragma once

#include "sim/collective/play/play_spec.h"
#include "sim/collective/play/schedule_parts.h"

/* Finds the costs for `steps_ps`, `intra_cost` and `inter_cost` of the spec. The schedule must be frozen; it remembers
 * the answers. */
FabStepCost fab_step_cost_find (FabSchedule *schedule, const FabPlaySpec *spec);

/* Takes the costs of a schedule from the same one that was folded, where they are the same and found sooner. */
void fab_step_cost_take (FabSchedule *schedule, FabSchedule *folded, const FabPlaySpec *spec);

/* Time from the moment a message of the lane leaves to the moment its receiver can pass it on: the cost of the
 * step, or the latency of the wires where that is longer. */
static inline FabTimePs
fab_step_cost_ps (const FabStepCost *self, const FabScheduleLane *lane)
{
  double ps = fab_hop_kind_is_net (lane->hop.kind) ? self->inter_ps : self->intra_ps;

  return MAX ((FabTimePs) (ps + 0.5), lane->hop.latency_ps);
}
