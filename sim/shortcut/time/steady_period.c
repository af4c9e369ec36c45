/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/time/steady_period.h"

void
fab_steady_period_init (FabSteadyPeriod *self, guint n_items, FabTimePs memory_ps)
{
  *self = (FabSteadyPeriod){ .memory_ps = memory_ps,
                             .n_items = n_items,
                             .items = g_new0 (FabPeriodItem, n_items) };
}

void
fab_steady_period_clear (FabSteadyPeriod *self)
{
  g_clear_pointer (&self->items, g_free);
  self->n_items = 0;
}

static void
set_period (FabSteadyPeriod *self, FabTimePs period_ps)
{
  self->period_ps = period_ps;
  self->version++;
  self->n_steady = 0;
  self->n_wanted = period_ps > 0 ? (guint) MIN (2 + self->memory_ps / period_ps, G_MAXINT) : G_MAXUINT;
}

void
fab_steady_period_note (FabSteadyPeriod *self, guint item, FabTimePs at_ps)
{
  FabPeriodItem *beat = &self->items[item];
  FabTimePs interval_ps = at_ps - beat->last_ps;

  beat->last_ps = at_ps;
  if (item == 0 && interval_ps != self->period_ps)
    set_period (self, interval_ps);
  if (beat->version != self->version) {
    beat->version = self->version;
    beat->n_same = 0;
  }
  if (interval_ps == self->period_ps) {
    self->n_steady += ++beat->n_same == self->n_wanted;
    return;
  }
  self->n_steady -= beat->n_same >= self->n_wanted;
  beat->n_same = 0;
}

void
fab_steady_period_reset (FabSteadyPeriod *self)
{
  set_period (self, 0);
}

void
fab_steady_period_skip (FabSteadyPeriod *self, FabTimePs by_ps)
{
  for (guint i = 0; i < self->n_items; i++)
    self->items[i].last_ps += by_ps;
}
