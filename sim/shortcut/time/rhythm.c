/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/time/rhythm.h"

void
fab_rhythm_init (FabRhythm *self, guint n_items, FabTimePs memory_ps)
{
  *self = (FabRhythm){ .memory_ps = memory_ps, .n_items = n_items, .beats = g_new0 (FabBeat, n_items) };
}

void
fab_rhythm_clear (FabRhythm *self)
{
  g_clear_pointer (&self->beats, g_free);
  self->n_items = 0;
}

static void
set_period (FabRhythm *self, FabTimePs period_ps)
{
  self->period_ps = period_ps;
  self->version++;
  self->n_steady = 0;
  self->n_wanted = period_ps > 0 ? (guint) MIN (2 + self->memory_ps / period_ps, G_MAXINT) : G_MAXUINT;
}

void
fab_rhythm_note (FabRhythm *self, guint item, FabTimePs at_ps)
{
  FabBeat *beat = &self->beats[item];
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
fab_rhythm_reset (FabRhythm *self)
{
  set_period (self, 0);
}

void
fab_rhythm_skip (FabRhythm *self, FabTimePs by_ps)
{
  for (guint i = 0; i < self->n_items; i++)
    self->beats[i].last_ps += by_ps;
}
