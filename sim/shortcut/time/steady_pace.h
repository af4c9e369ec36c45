/* SPDX-License-Identifier: Apache-2.0 */
/* steady_pace.h - the pace at which each of many items happens again and again, and whether it has become steady.
 *
 * Where steps of a ring wait for packets, they do not come in the same intervals to the ps (steady_period.h). The pace
 * is the interval of the slowest item of a group, as the mean over a window: what waits in a circle ends up with the
 * slowest. It has settled when two windows in a row have the same, within 0.1 %, and no item is more than 1 % faster in
 * the last one.
 *
 * Groups that share links with another one come now before its messages and now behind them: a window of one is no
 * whole number of rounds of the other. So the pace of each is the mean of its items over two windows in a row, and has
 * settled when the slowest take the same in both within 1 %, and no item is more than 2 % faster in the last one.
 *
 * A delay passes through a ring from item to item, and each item has one long interval when the delay reaches it. An
 * item that is slow for good makes those behind it slow one after another, and only at the end of the ring's rounds
 * all of them are. In both cases the ring ends when its slowest item does. So the steady interval of an item is the
 * shortest of its last four windows. A group has also settled when the longest steady interval of its items is the
 * same after two windows in a row, within 0.1 %; that is its pace then. But where items wait for each other all the
 * time, as in a ring of short messages, delays go round for good: it has not settled when the mean interval of the
 * items is more than 0.5 % longer than that pace, or 2 % beside other groups.
 *
 * A group is what the caller says belongs together. All items are also looked at as if they were one group, because
 * groups that do the same seldom differ.
 */
#pragma once

#include "sim/base/units.h"

enum { FAB_PACE_WINDOWS = 4 };

/* Of one item. */
typedef struct {
  FabTimePs last_ps, mark_ps, old_mark_ps; /* the last time, and those of the marks of two windows */
  guint n, n_at_mark, n_at_old_mark;       /* times so far */
  double recent_ps[FAB_PACE_WINDOWS]; /* mean intervals in the last windows, in turn; 0: there was none */
  guint group;
  gboolean is_over; /* it does not happen any more */
} FabPaceItem;

/* Items that happen equally often. */
typedef struct {
  double interval_ps;     /* its pace, once it has settled; 0: all of its items are over */
  double slowest_ps;      /* interval of the slowest item in the last window; 0: there is none */
  double steady_ps;       /* longest steady interval of its items; 0: there is none */
  guint n_windows;        /* windows in a row in which all items have an interval */
  guint n_items;          /* that were not over */
  gboolean is_of_slowest; /* the pace is that of its slowest items, and others go faster so far */
} FabPaceGroup;

typedef struct {
  guint n_items, n_groups;
  guint window;         /* times of every item in a window */
  guint n_over;         /* items that are over */
  guint n_windows;      /* that were measured */
  guint64 n_noted;      /* times of all items in the window that has begun */
  FabPaceGroup all;     /* all items as one group */
  FabPaceItem *items;   /* [n_items] */
  FabPaceGroup *groups; /* [n_groups] */
  gboolean is_one;      /* the pace of all items as one group has settled */
  gboolean is_settled;  /* the pace of every group has settled */
} FabSteadyPace;

/* All items are in group 0 until the caller puts them into others. */
void fab_steady_pace_init (FabSteadyPace *self, guint n_items, guint n_groups, guint window);
void fab_steady_pace_clear (FabSteadyPace *self);

static inline void
fab_steady_pace_note (FabSteadyPace *self, guint item, FabTimePs at_ps)
{
  self->items[item].last_ps = at_ps;
  self->items[item].n++;
  self->n_noted++;
}

/* Says that an item has happened for the last time. */
void fab_steady_pace_end (FabSteadyPace *self, guint item);

/* Whether item 0, which has just happened, has come to the end of a window. The first one begins at its second time,
 * for what comes first has a start-up in it. */
static inline gboolean
fab_steady_pace_is_due (const FabSteadyPace *self)
{
  guint first = 2;

  return self->items[0].n >= first && (self->items[0].n - first) % self->window == 0;
}

/* Whether the items that are not over have happened `window` times in the mean since the window began. */
static inline gboolean
fab_steady_pace_is_full (const FabSteadyPace *self)
{
  return self->n_noted >= (guint64) self->window * (self->n_items - self->n_over);
}

/* Returns how often the item that happened least has happened in the window that has begun. O(items). */
guint fab_steady_pace_fewest (const FabSteadyPace *self);

/* Ends the window and begins the next one; `is_alone` unless others share links with these items. O(items). */
void fab_steady_pace_measure (FabSteadyPace *self, gboolean is_alone);

/* Begins a window anew: what was measured before says nothing of what comes. */
void fab_steady_pace_restart (FabSteadyPace *self);

/* As if item `item` had gone on `n` times until `by_ps` later: the window that has begun begins then. */
void fab_steady_pace_skip (FabSteadyPace *self, guint item, guint n, FabTimePs by_ps);
