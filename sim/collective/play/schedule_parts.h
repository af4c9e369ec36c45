/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_private.h - the parts of a schedule, for schedule.c, which builds and times it, and play.c. */
#pragma once

#include "sim/collective/play/schedule.h"
#include "sim/net/rotation.h"

typedef struct {
  FabHop hop;
  double net_stretch, weight;
  guint n_messages;
  guint list;                    /* of what it waits for; FAB_NO_LIST: nothing */
  FabFootprint *footprint;       /* of the hop, per payload byte; NULL until fab_schedule_freeze () */
  FabFootprint *whole_footprint; /* the same per byte of the collective; also NULL until then */
} FabScheduleLane;

#define FAB_NO_LIST G_MAXUINT

typedef struct {
  guint list, from, offset;
  gboolean is_departure; /* it waits until the message has left, not until it has arrived; offset 0 */
} FabDependency;

/* What one lane waits for, or several of one message each. */
typedef struct {
  guint start, end;   /* its dependencies */
  guint first, after; /* its lanes, as a range of `waiters` */
  gboolean hands_on;  /* some dependency has offset 0 */
} FabWaitList;

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
  GArray *dependencies; /* FabDependency; sorted by list once frozen, and lists by their first lanes */
  guint n_lists;
  gboolean is_frozen, has_offsets, has_departures;
  guint64 n_messages;
  FabWaitList *lists;      /* [n_lists] once frozen */
  guint *waiters;          /* lanes, list by list */
  guint *dependent_starts; /* [n_lanes + 1] into `dependents` */
  guint *dependents;       /* dependencies sorted by the lane from which they come */
  GArray *step_costs;      /* FabStepCost that were asked for; NULL: none */
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

/* What a lane waits for, once frozen. */
static inline const FabWaitList *
fab_schedule_list_of (const FabSchedule *self, guint lane)
{
  static const FabWaitList nothing = { 0 };
  guint list = fab_schedule_lane_at (self, lane)->list;

  return list == FAB_NO_LIST ? &nothing : &self->lists[list];
}

static inline gboolean
fab_wait_list_is_shared (const FabWaitList *self)
{
  return self->after > self->first + 1;
}

/* The first lane that waits for the same as this one, which may be itself. */
static inline guint
fab_schedule_like (const FabSchedule *self, guint lane)
{
  const FabWaitList *list = fab_schedule_list_of (self, lane);

  return fab_wait_list_is_shared (list) ? self->waiters[list->first] : lane;
}

/* Builds the index of dependencies; nothing can be added afterwards. */
void fab_schedule_freeze (FabSchedule *self);

/* The same once more, after lanes and dependencies were replaced. */
void fab_schedule_freeze_again (FabSchedule *self);

/* Of FabScheduleLane, which it clears. (transfer full) */
GArray *fab_schedule_lanes_new (void);

/* Makes the footprints of the lanes, of one of the two kinds. */
void fab_schedule_make_footprints (FabSchedule *self, gboolean is_whole);
