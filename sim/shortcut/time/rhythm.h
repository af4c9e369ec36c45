/* SPDX-License-Identifier: Apache-2.0 */
/* rhythm.h - whether things that happen again and again have all come to happen in the same intervals.
 *
 * Item 0 sets the period: its last interval. The rhythm is steady when every item has happened in this interval for
 * `n_wanted` times on end. Noting is O(1).
 */
#pragma once

#include "sim/base/units.h"

/* Of one item. */
typedef struct {
  FabTimePs last_ps;
  guint n_same;  /* intervals on end that were the period */
  guint version; /* of the period */
} FabBeat;

typedef struct {
  FabTimePs period_ps;
  FabTimePs memory_ps; /* what happened longer ago than this has no more effect */
  guint version, n_wanted, n_items, n_steady;
  FabBeat *beats; /* [n_items] */
} FabRhythm;

void fab_rhythm_init (FabRhythm *self, guint n_items, FabTimePs memory_ps);
void fab_rhythm_clear (FabRhythm *self);

void fab_rhythm_note (FabRhythm *self, guint item, FabTimePs at_ps);

static inline gboolean
fab_rhythm_is_steady (const FabRhythm *self)
{
  return self->n_steady == self->n_items && self->n_items > 0;
}

/* Forgets the period: what happens from now on decides. */
void fab_rhythm_reset (FabRhythm *self);

/* As if all items had gone on in the rhythm until `by_ps` later. */
void fab_rhythm_skip (FabRhythm *self, FabTimePs by_ps);
