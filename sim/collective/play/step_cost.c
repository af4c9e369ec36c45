/* SPDX-License-Identifier: Apache-2.0 */
/* step_cost.c - the cost of a step is scaled until the longest way takes what the library says.
 *
 * The longest way is convex in the scale and rises with it, piecewise in straight lines: Newton's steps from above
 * come to the answer, mostly in one or two.
 */
#include "sim/collective/play/step_cost.h"

#include <math.h>

/* A way through the schedule: its length, and how fast that grows with the scale. */
typedef struct {
  double ps, slope_ps;
} PathLength;

typedef struct {
  const FabSchedule *schedule;
  double intra, inter; /* at scale 1 */
  double scale;
  PathLength *before,
      *now; /* [n_lanes] to the beginning of a message of each, of the round before and of this one */
} Search;

static PathLength
go_on (PathLength way, double cost, double scale, FabTimePs latency_ps)
{
  if (cost * scale >= (double) latency_ps)
    return (PathLength){ way.ps + cost * scale, way.slope_ps + cost };
  return (PathLength){ way.ps + (double) latency_ps, way.slope_ps };
}

static PathLength
longer (PathLength a, PathLength b)
{
  return a.ps < b.ps ? b : a;
}

static PathLength
pass_on (const Search *self, guint index, PathLength way)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);
  double cost = fab_hop_kind_is_net (lane->hop.kind) ? self->inter : self->intra;

  return go_on (way, cost, self->scale, lane->hop.latency_ps);
}

/* Message `round` of every lane; returns the longest way that ends in one of them. */
static PathLength
walk_round (Search *self, guint round)
{
  const FabSchedule *schedule = self->schedule;
  PathLength longest = { 0 };

  for (guint l = 0; l < schedule->lanes->len; l++) {
    const FabWaitList *list = fab_schedule_list_of (schedule, l);
    guint like = fab_schedule_like (schedule, l);
    PathLength way = { 0 };

    if (round >= fab_schedule_lane_at (schedule, l)->n_messages)
      continue;
    if (round > 0)
      way = go_on (self->before[l], self->inter, self->scale, 0);
    if (like != l)
      way = self->now[like];
    for (guint i = list->start; i < list->end && like == l; i++) {
      const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

      if (dependency->is_departure)
        way = longer (way, self->now[dependency->from]);
      else if (round >= dependency->offset)
        way = longer (way, pass_on (self, dependency->from,
                                    (dependency->offset > 0 ? self->before : self->now)[dependency->from]));
    }
    self->now[l] = way;
    longest = longer (longest, pass_on (self, l, way));
  }
  return longest;
}

/* Chunks that follow one another add nothing; in a ring every step does. */
static PathLength
find_longest (Search *self)
{
  guint n_rounds = 1;
  PathLength longest = { 0 };

  for (guint l = 0; self->schedule->has_offsets && l < self->schedule->lanes->len; l++)
    n_rounds = MAX (n_rounds, fab_schedule_lane_at (self->schedule, l)->n_messages);
  for (guint round = 0; round < n_rounds; round++) {
    PathLength *before = self->before;

    longest = longer (longest, walk_round (self, round));
    self->before = self->now;
    self->now = before;
  }
  return longest;
}

/* At which the longest way takes `steps_ps`; 0: the wires alone take longer. One step may take all at first. */
static double
find_scale (Search *self, double steps_ps)
{
  enum { MOST_STEPS = 50 };
  const double enough = 1e-9;

  self->scale = steps_ps / MIN (self->intra, self->inter);
  for (guint i = 0; i < MOST_STEPS; i++) {
    PathLength way = find_longest (self);

    if (way.slope_ps <= 0 || fabs (way.ps - steps_ps) <= enough * steps_ps)
      break;
    self->scale = MAX (self->scale + (steps_ps - way.ps) / way.slope_ps, 0);
  }
  return self->scale;
}

/* Every rank is busy with every step, so that all cost the same; the usual case needs no search. */
static gboolean
is_even (const FabSchedule *schedule, double step_ps)
{
  guint n = fab_schedule_lane_at (schedule, 0)->n_messages;

  for (guint l = 0; l < schedule->lanes->len; l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);

    if (lane->n_messages != n || (double) lane->hop.latency_ps > step_ps)
      return FALSE;
  }
  return TRUE;
}

/* Finds the costs with which the longest sequence of messages takes `spec->steps_ps` without bytes, and steps inside
 * and between nodes are in the ratio intra_cost : inter_cost. O(lanes + dependencies); for rings O(messages) where the
 * latency of a wire is longer than a step. */
static FabStepCost
find_cost (const FabSchedule *schedule, const FabPlaySpec *spec)
{
  gboolean is_ring = schedule->has_offsets;
  guint n = schedule->lanes->len;
  double steps_ps = (double) spec->steps_ps;
  double step_ps = steps_ps / fab_schedule_lane_at (schedule, 0)->n_messages;

  g_assert (spec->steps_ps == 0 || (spec->intra_cost > 0 && spec->inter_cost > 0));
  if (spec->steps_ps <= 0)
    return (FabStepCost){ 0 };
  if (is_ring && is_even (schedule, step_ps))
    return (FabStepCost){ .inter_ps = step_ps, .intra_ps = step_ps, .gap_ps = (FabTimePs) step_ps };
  g_autofree PathLength *before = g_new0 (PathLength, n), *now = g_new0 (PathLength, n);
  Search search = { .schedule = schedule,
                    .inter = is_ring ? 1 : spec->inter_cost,
                    .intra = is_ring ? 1 : spec->intra_cost,
                    .before = before,
                    .now = now };
  double scale = find_scale (&search, steps_ps);
  return (FabStepCost){ .inter_ps = search.inter * scale,
                        .intra_ps = search.intra * scale,
                        .gap_ps = is_ring ? (FabTimePs) (search.inter * scale) : 0 };
}

static gboolean
is_same (double a, double b)
{
  return a <= b && a >= b;
}

/* NULL: they are not known. */
static const FabStepCost *
find_known (const FabSchedule *schedule, const FabPlaySpec *spec)
{
  guint n = schedule->step_costs != NULL ? schedule->step_costs->len : 0;

  for (guint i = n; i-- > 0;) {
    const FabStepCost *known = &g_array_index (schedule->step_costs, FabStepCost, i);

    if (known->steps_ps == spec->steps_ps && is_same (known->intra_cost, spec->intra_cost)
        && is_same (known->inter_cost, spec->inter_cost))
      return known;
  }
  return NULL;
}

static void
remember (FabSchedule *schedule, const FabStepCost *cost)
{
  if (schedule->step_costs == NULL)
    schedule->step_costs = g_array_new (FALSE, FALSE, sizeof (FabStepCost));
  g_array_append_val (schedule->step_costs, *cost);
}

FabStepCost
fab_step_cost_find (FabSchedule *schedule, const FabPlaySpec *spec)
{
  const FabStepCost *known = find_known (schedule, spec);
  FabStepCost found;

  if (known != NULL)
    return *known;
  found = find_cost (schedule, spec);
  found.steps_ps = spec->steps_ps;
  found.intra_cost = spec->intra_cost;
  found.inter_cost = spec->inter_cost;
  remember (schedule, &found);
  return found;
}

void
fab_step_cost_take (FabSchedule *schedule, FabSchedule *folded, const FabPlaySpec *spec)
{
  FabStepCost cost;

  if (folded == schedule || find_known (schedule, spec) != NULL)
    return;
  fab_schedule_freeze (folded);
  cost = fab_step_cost_find (folded, spec);
  remember (schedule, &cost);
}
