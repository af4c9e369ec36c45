/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/engine.h"

struct _FabEngine {
  FabEventQueue *queue;
  FabTimePs now_ps;
  guint64 n_events;
  gboolean is_stopped;
};

FabEngine *
fab_engine_new (void)
{
  FabEngine *self = g_new0 (FabEngine, 1);

  self->queue = fab_event_queue_new ();
  return self;
}

void
fab_engine_free (FabEngine *self)
{
  if (self == NULL)
    return;
  fab_event_queue_free (self->queue);
  g_free (self);
}

FabTimePs
fab_engine_now (const FabEngine *self)
{
  return self->now_ps;
}

FabTimer
fab_engine_at (FabEngine *self, FabTimePs time_ps, FabEventFn fn, gpointer owner, guint64 arg)
{
  g_assert (time_ps >= self->now_ps);
  return fab_event_queue_push (self->queue, time_ps, (FabEvent){ fn, owner, arg });
}

FabTimer
fab_engine_after (FabEngine *self, FabTimePs delay_ps, FabEventFn fn, gpointer owner, guint64 arg)
{
  g_assert (delay_ps >= 0 && delay_ps <= FAB_TIME_MAX - self->now_ps);
  return fab_engine_at (self, self->now_ps + delay_ps, fn, owner, arg);
}

gboolean
fab_engine_cancel (FabEngine *self, FabTimer timer)
{
  return fab_event_queue_cancel (self->queue, timer);
}

void
fab_engine_run (FabEngine *self)
{
  FabEvent event;

  self->is_stopped = FALSE;
  while (!self->is_stopped && fab_event_queue_pop (self->queue, &self->now_ps, &event)) {
    self->n_events++;
    event.fn (event.owner, event.arg);
  }
}

void
fab_engine_stop (FabEngine *self)
{
  self->is_stopped = TRUE;
}

gboolean
fab_engine_advance (FabEngine *self, FabTimePs time_ps)
{
  if (self->is_stopped || fab_event_queue_earliest_ps (self->queue) <= time_ps)
    return FALSE;
  self->now_ps = time_ps;
  self->n_events++;
  return TRUE;
}

guint64
fab_engine_events (const FabEngine *self)
{
  return self->n_events;
}
