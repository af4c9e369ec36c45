/* SPDX-License-Identifier: Apache-2.0 */
/* steady_period.h - whether things that happen again and again have all come to happen in the same intervals.
 *
 * Item 0 sets the period: its last interval. The period is steady when every item has happened in this interval for
 * `n_wanted` times on end. Noting is O(1).
 */
#pragma once

#include "sim/base/units.h"

/* Of one item. */
typedef struct {
  FabTimePs last_ps;
  guint n_same;  /* intervals on end that were the period */
  guint version; /* of the period */
} FabPeriodItem;

typedef struct {
  FabTimePs period_ps;
  FabTimePs memory_ps; /* what happened longer ago than this has no more effect */
  guint version, n_wanted, n_items, n_steady;
  FabPeriodItem *items; /* [n_items] */
} FabSteadyPeriod;

void fab_steady_period_init (FabSteadyPeriod *self, guint n_items, FabTimePs memory_ps);
void fab_steady_period_clear (FabSteadyPeriod *self);

void fab_steady_period_note (FabSteadyPeriod *self, guint item, FabTimePs at_ps);

static inline gboolean
fab_steady_period_is_steady (const FabSteadyPeriod *self)
{
  return self->n_steady == self->n_items && self->n_items > 0;
}

/* Forgets the period: what happens from now on decides. */
void fab_steady_period_reset (FabSteadyPeriod *self);

/* As if all items had gone on in the period until `by_ps` later. */
void fab_steady_period_skip (FabSteadyPeriod *self, FabTimePs by_ps);
