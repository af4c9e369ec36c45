/* SPDX-License-Identifier: Apache-2.0 */
/* step_cost.h - what software spends on one step of a schedule.
 *
 * A library counts what all steps that wait for one another cost together (FabPlaySpec.steps_ps). This divides that
 * time among the single steps.
 */
#pragma once

#include "sim/work/play.h"
#include "sim/work/schedule_private.h"

typedef struct {
  double inter_ps, intra_ps; /* of a step between nodes, of one inside a node */
  FabTimePs gap_ps;          /* at least this long from one message of a lane to the next, in rings */
} FabStepCost;

/* Finds the costs with which the longest sequence of messages takes `spec->steps_ps` without bytes, and steps inside
 * and between nodes are in the ratio intra_cost : inter_cost. O(lanes + feeds); for rings O(messages) where the
 * latency of a wire is longer than a step. */
FabStepCost fab_step_cost_find (const FabSchedule *schedule, const FabPlaySpec *spec);

/* Time from the moment a message of the lane leaves to the moment its receiver can pass it on: the cost of the step, or
 * the latency of the wires where that is longer. */
static inline FabTimePs
fab_step_cost_ps (const FabStepCost *self, const FabLane *lane)
{
  double ps = fab_hop_kind_is_net (lane->hop.kind) ? self->inter_ps : self->intra_ps;

  return MAX ((FabTimePs) (ps + 0.5), lane->hop.latency_ps);
}
