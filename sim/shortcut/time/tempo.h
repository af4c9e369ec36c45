/* SPDX-License-Identifier: Apache-2.0 */
/* tempo.h - how fast things that happen again and again come to happen, and whether that has settled.
 *
 * Where steps of a ring wait for packets, they do not come in the same intervals to the ps (rhythm.h). The tempo is the
 * interval of the slowest item of a group, as the mean over a window: what waits in a circle ends up with the slowest.
 * It has settled when two windows in a row have the same, within 0.1 %, and no item is more than 1 % faster in the last
 * one.
 *
 * Groups that share links with another one come now before its messages and now behind them: a window of one is no
 * whole number of rounds of the other. So the tempo of each is the mean of its items over two windows in a row, and has
 * settled when the slowest take the same in both within 1 %, and no item is more than 2 % faster in the last one.
 *
 * What was late once stays late, and so does what waits for it: a delay passes through a ring from item to item, and
 * each item has one long interval when it comes. Where one item is slow for good, those behind it become as slow one
 * after another, and only at the end of the ring's rounds have all. In both cases the ring ends when its slowest item
 * does. So the steady interval of an item is the shortest of its last four windows. A group has also settled when the
 * longest steady interval of its items is the same after two windows in a row, within 0.1 %; that is its tempo then.
 *
 * A group is what the caller says belongs together. All items are also looked at as if they were one group, because
 * groups that do the same seldom differ.
 */
#pragma once

#include "sim/base/units.h"

enum { FAB_STROKE_WINDOWS = 4 };

/* Of one item. */
typedef struct {
  FabTimePs last_ps, mark_ps, old_mark_ps; /* the last time, and those of the marks of two windows */
  guint n, n_at_mark, n_at_old_mark;       /* times so far */
  double recent_ps[FAB_STROKE_WINDOWS]; /* mean intervals in the last windows, in turn; 0: there was none */
  guint group;
  gboolean is_over; /* it does not happen any more */
} FabStroke;

/* Items that happen equally often. */
typedef struct {
  double interval_ps;     /* its tempo, once it has settled; 0: all of its items are over */
  double slowest_ps;      /* interval of the slowest item in the last window; 0: there is none */
  double steady_ps;       /* longest steady interval of its items; 0: there is none */
  guint n_windows;        /* windows in a row in which all items have an interval */
  guint n_items;          /* that were not over */
  gboolean is_of_slowest; /* the tempo is that of its slowest items, and others go faster so far */
} FabTempoGroup;

typedef struct {
  guint n_items, n_groups;
  guint window;          /* times of every item in a window */
  guint n_over;          /* items that are over */
  guint n_windows;       /* that were measured */
  guint64 n_noted;       /* times of all items in the window that has begun */
  FabTempoGroup all;     /* all items as one group */
  FabStroke *strokes;    /* [n_items] */
  FabTempoGroup *groups; /* [n_groups] */
  gboolean is_one;       /* the tempo of all items as one group has settled */
  gboolean is_settled;   /* the tempo of every group has settled */
} FabTempo;

/* All items are in group 0 until the caller puts them into others. */
void fab_tempo_init (FabTempo *self, guint n_items, guint n_groups, guint window);
void fab_tempo_clear (FabTempo *self);

static inline void
fab_tempo_note (FabTempo *self, guint item, FabTimePs at_ps)
{
  self->strokes[item].last_ps = at_ps;
  self->strokes[item].n++;
  self->n_noted++;
}

/* Says that an item has happened for the last time. */
void fab_tempo_end (FabTempo *self, guint item);

/* Whether item 0, which has just happened, has come to the end of a window. The first one begins at its second time,
 * for what comes first has a start-up in it. */
static inline gboolean
fab_tempo_is_due (const FabTempo *self)
{
  guint first = 2;

  return self->strokes[0].n >= first && (self->strokes[0].n - first) % self->window == 0;
}

/* Whether the items that are not over have happened `window` times in the mean since the window began. */
static inline gboolean
fab_tempo_is_full (const FabTempo *self)
{
  return self->n_noted >= (guint64) self->window * (self->n_items - self->n_over);
}

/* Returns how often the item that happened least has happened in the window that has begun. O(items). */
guint fab_tempo_fewest (const FabTempo *self);

/* Ends the window and begins the next one; `is_alone` unless others share links with these items. O(items). */
void fab_tempo_measure (FabTempo *self, gboolean is_alone);

/* Begins a window anew: what was measured before says nothing of what comes. */
void fab_tempo_restart (FabTempo *self);

/* As if item `item` had gone on `n` times until `by_ps` later: the window that has begun begins then. */
void fab_tempo_skip (FabTempo *self, guint item, guint n, FabTimePs by_ps);
