/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_private.h - the parts of a schedule, for schedule.c, which builds and times it, and play.c. */
#pragma once

#include "sim/collective/play/schedule.h"
#include "sim/net/rotation.h"

typedef struct {
  FabHop hop;
  double net_stretch, weight;
  guint n_messages;
  FabFootprint *footprint;       /* of the hop, per payload byte; NULL until fab_schedule_freeze () */
  FabFootprint *whole_footprint; /* the same per byte of the collective; also NULL until then */
} FabScheduleLane;

typedef struct {
  guint lane, from, offset;
  gboolean is_departure; /* it waits until the message has left, not until it has arrived; offset 0 */
} FabDependency;

/* What a step costs in a play, by what was asked (FabPlaySpec). */
typedef struct {
  FabTimePs steps_ps;
  double intra_cost, inter_cost;
  double inter_ps, intra_ps; /* of a step between nodes, of one inside a node */
  FabTimePs gap_ps;          /* at least this long from one message of a lane to the next, in rings */
} FabStepCost;

struct _FabSchedule {
  const FabCluster *cluster;
  GArray *lanes;        /* FabLane */
  GArray *dependencies; /* FabDependency; sorted by lane once frozen */
  gboolean is_frozen, has_offsets, has_departures;
  guint64 n_messages;
  guint *dependency_starts; /* [n_lanes + 1] into `dependencies`, once frozen */
  guint *dependent_starts;  /* [n_lanes + 1] into `dependents` */
  guint *dependents;        /* dependencies sorted by the lane from which they come */
  GArray *step_costs;       /* FabStepCost that were asked for; NULL: none */
  GArray *ways;     /* MessageWay of every message, or of every lane of a ring; NULL: not computed yet */
  GArray *measured; /* which messages of all lanes were measured, found with the ways */
  /* What all lanes put on the links per byte of the collective, where some lanes stand for others (fold.h); else
   * NULL. */
  FabFootprint *total;
  guint n_alike;         /* lanes that were left out, because others stand for them */
  FabRotation *rotation; /* which links the lanes cross for others (rotate.h); NULL: all lanes are there */
};

static inline FabScheduleLane *
fab_schedule_lane_at (const FabSchedule *self, guint index)
{
  return &g_array_index (self->lanes, FabScheduleLane, index);
}

static inline const FabDependency *
fab_schedule_dependency_at (const FabSchedule *self, guint index)
{
  return &g_array_index (self->dependencies, FabDependency, index);
}

/* Builds the index of dependencies; nothing can be added afterwards. */
void fab_schedule_freeze (FabSchedule *self);

/* The same once more, after lanes and dependencies were replaced. Dependencies must be sorted by lane. */
void fab_schedule_freeze_again (FabSchedule *self);

/* Of FabScheduleLane, which it clears. (transfer full) */
GArray *fab_schedule_lanes_new (void);

/* Makes the footprints of the lanes, of one of the two kinds. */
void fab_schedule_make_footprints (FabSchedule *self, gboolean is_whole);
