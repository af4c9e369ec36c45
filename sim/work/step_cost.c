/* SPDX-License-Identifier: Apache-2.0 */
/* step_cost.c - the cost of a step is scaled until the longest way takes what the library says.
 *
 * The longest way is convex in the scale and rises with it, piecewise in straight lines: Newton's steps from above come
 * to the answer, mostly in one or two.
 */
#include "sim/work/step_cost.h"

#include <math.h>

/* A way through the schedule: its length, and how fast that grows with the scale. */
typedef struct {
  double ps, slope_ps;
} Way;

typedef struct {
  const FabSchedule *schedule;
  double intra, inter; /* at scale 1 */
  double scale;
  Way *before,
      *now; /* [n_lanes] to the beginning of a message of each, of the round before and of this one */
} Search;

static Way
go_on (Way way, double cost, double scale, FabTimePs latency_ps)
{
  if (cost * scale >= (double) latency_ps)
    return (Way){ way.ps + cost * scale, way.slope_ps + cost };
  return (Way){ way.ps + (double) latency_ps, way.slope_ps };
}

static Way
longer (Way a, Way b)
{
  return a.ps < b.ps ? b : a;
}

static Way
pass_on (const Search *self, guint index, Way way)
{
  const FabLane *lane = fab_schedule_lane_at (self->schedule, index);
  double cost = fab_hop_kind_is_net (lane->hop.kind) ? self->inter : self->intra;

  return go_on (way, cost, self->scale, lane->hop.latency_ps);
}

/* Message `round` of every lane; returns the longest way that ends in one of them. */
static Way
walk_round (Search *self, guint round)
{
  const FabSchedule *schedule = self->schedule;
  Way longest = { 0 };

  for (guint l = 0; l < schedule->lanes->len; l++) {
    Way way = { 0 };

    if (round >= fab_schedule_lane_at (schedule, l)->n_messages)
      continue;
    if (round > 0)
      way = go_on (self->before[l], self->inter, self->scale, 0);
    for (guint i = schedule->feed_starts[l]; i < schedule->feed_starts[l + 1]; i++) {
      const FabFeed *feed = fab_schedule_feed_at (schedule, i);

      if (round >= feed->offset)
        way = longer (way,
                      pass_on (self, feed->from, (feed->offset > 0 ? self->before : self->now)[feed->from]));
    }
    self->now[l] = way;
    longest = longer (longest, pass_on (self, l, way));
  }
  return longest;
}

/* Chunks that follow one another add nothing; in a ring every step does. */
static Way
find_longest (Search *self)
{
  guint n_rounds = 1;
  Way longest = { 0 };

  for (guint l = 0; self->schedule->has_offsets && l < self->schedule->lanes->len; l++)
    n_rounds = MAX (n_rounds, fab_schedule_lane_at (self->schedule, l)->n_messages);
  for (guint round = 0; round < n_rounds; round++) {
    Way *before = self->before;

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
    Way way = find_longest (self);

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
    const FabLane *lane = fab_schedule_lane_at (schedule, l);

    if (lane->n_messages != n || (double) lane->hop.latency_ps > step_ps)
      return FALSE;
  }
  return TRUE;
}

FabStepCost
fab_step_cost_find (const FabSchedule *schedule, const FabPlaySpec *spec)
{
  gboolean is_ring = schedule->has_offsets;
  guint n = schedule->lanes->len;
  double steps_ps = (double) spec->steps_ps;
  double step_ps = steps_ps / fab_schedule_lane_at (schedule, 0)->n_messages;

  g_assert (spec->steps_ps == 0 || (spec->intra_cost > 0 && spec->inter_cost > 0));
  if (spec->steps_ps <= 0)
    return (FabStepCost){ 0 };
  if (is_ring && is_even (schedule, step_ps))
    return (FabStepCost){ step_ps, step_ps, (FabTimePs) step_ps };
  g_autofree Way *before = g_new0 (Way, n), *now = g_new0 (Way, n);
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
