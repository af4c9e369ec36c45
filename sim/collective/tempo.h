/* SPDX-License-Identifier: Apache-2.0 */
/* tempo.h - how fast things that happen again and again come to happen, and whether that has settled.
 *
 * Where steps of a ring wait for packets, they do not come in the same intervals to the ps (rhythm.h). The tempo is the
 * interval of the slowest item, as the mean over a window: what waits in a circle ends up with the slowest. It has
 * settled when two windows in a row have the same, within 0.1 %, and no item is more than 1 % faster in the last one.
 *
 * Rings that share links with another one come now before its messages and now behind them: a window of one is no whole
 * number of rounds of the other. So their tempo is the mean of all items over two windows in a row, and has settled
 * when the slowest take the same in both within 1 %, and no item is more than 2 % faster in the last one.
 */
#pragma once

#include "sim/base/units.h"

/* Of one item. */
typedef struct {
  FabTimePs last_ps, mark_ps, old_mark_ps; /* the last time, and those of the marks of two windows */
  guint n, n_at_mark, n_at_old_mark;       /* times so far */
} FabStroke;

typedef struct {
  guint n_items, window; /* times of item 0 in a window */
  double slowest_ps;     /* interval of the slowest item in the last window; 0: there is none */
  double interval_ps;    /* the tempo, once it has settled */
  gboolean is_settled;
  FabStroke *strokes; /* [n_items] */
} FabTempo;

void fab_tempo_init (FabTempo *self, guint n_items, guint window);
void fab_tempo_clear (FabTempo *self);

static inline void
fab_tempo_note (FabTempo *self, guint item, FabTimePs at_ps)
{
  self->strokes[item].last_ps = at_ps;
  self->strokes[item].n++;
}

/* Whether item 0 has just come to the end of a window. The first one begins at its second time, for what comes first
 * has a start-up in it. */
static inline gboolean
fab_tempo_is_due (const FabTempo *self)
{
  guint first = 2;

  return self->strokes[0].n >= first && (self->strokes[0].n - first) % self->window == 0;
}

/* Ends the window and begins the next one; `is_alone` unless the ring shares links with another one. O(items). */
void fab_tempo_measure (FabTempo *self, gboolean is_alone);

/* Begins a window anew: what was measured before says nothing of what comes. */
void fab_tempo_restart (FabTempo *self);

/* As if all items had gone on `n` times until `by_ps` later: the window that has begun begins then. */
void fab_tempo_skip (FabTempo *self, guint n, FabTimePs by_ps);

/* Returns the times of item 0 in the window that has begun. */
static inline guint
fab_tempo_so_far (const FabTempo *self)
{
  return self->strokes[0].n - self->strokes[0].n_at_mark;
}
