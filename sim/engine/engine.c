/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/engine.h"

struct _FabEngine {
  FabEventQueue *queue;
  FabTimePs now_ps;
  FabTimePs until_ps;            /* where the run under way ends */
  guint64 n_events, most_events; /* 0: no limit */
  const gint *cancel;            /* NULL: nobody can cancel */
  FabPulse *pulse;               /* NULL: nobody looks */
  FabCompanion companion;        /* `advance` NULL: there is none */
  char *failure;                 /* NULL: no invariant was broken */
  gboolean is_stopped, is_cancelled;
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
  g_free (self->failure);
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

/* Listens to others, and tells them of itself. */
static void
look_around (FabEngine *self)
{
  if ((self->cancel != NULL && g_atomic_int_get (self->cancel) != 0)
      || (self->most_events > 0 && self->n_events >= self->most_events))
    self->is_cancelled = self->is_stopped = TRUE;
  if (self->pulse != NULL)
    g_atomic_int_set (&self->pulse->now_us,
                      (gint) MIN (self->now_ps / (FAB_PS_PER_S / G_USEC_PER_SEC), G_MAXINT));
}

/* Whether somebody wants the run to end; asked before every event, answered once in many. */
static inline gboolean
look_for_cancel (FabEngine *self)
{
  if (self->n_events % FAB_ENGINE_EVENTS_PER_LOOK == 0)
    look_around (self);
  return self->is_cancelled;
}

/* Without an end the next event need not be looked for. */
static inline gboolean
is_due (const FabEngine *self)
{
  return self->until_ps == FAB_TIME_NEVER || fab_event_queue_first_ps (self->queue) <= self->until_ps;
}

/* Lets the companion play up to the next event. Returns whether it told something, or stopped the engine. */
static gboolean
companion_goes_first (FabEngine *self)
{
  FabTimePs first_ps = fab_event_queue_first_ps (self->queue);
  FabTimePs at_ps = self->companion.advance (self->companion.owner, MIN (first_ps, self->until_ps));

  look_around (self);
  if (self->is_stopped || at_ps == FAB_TIME_NEVER)
    return self->is_stopped;
  g_assert (at_ps >= self->now_ps && at_ps <= first_ps);
  self->now_ps = at_ps;
  self->n_events++;
  self->companion.tell (self->companion.owner);
  return TRUE;
}

void
fab_engine_run_until (FabEngine *self, FabTimePs until_ps)
{
  FabEvent event;

  g_assert (until_ps >= self->now_ps);
  self->until_ps = until_ps;
  self->is_stopped = self->is_cancelled || self->failure != NULL;
  while (!self->is_stopped && !look_for_cancel (self)) {
    if (self->companion.advance != NULL && companion_goes_first (self))
      continue;
    if (!is_due (self) || !fab_event_queue_pop (self->queue, &self->now_ps, &event))
      break;
    self->n_events++;
    event.fn (event.owner, event.arg);
  }
  if (!self->is_stopped && until_ps != FAB_TIME_NEVER)
    self->now_ps = until_ps;
}

void
fab_engine_run (FabEngine *self)
{
  fab_engine_run_until (self, FAB_TIME_NEVER);
}

void
fab_engine_stop (FabEngine *self)
{
  self->is_stopped = TRUE;
}

gboolean
fab_engine_is_stopped (const FabEngine *self)
{
  return self->is_stopped;
}

FabTimePs
fab_engine_next_ps (const FabEngine *self)
{
  return fab_event_queue_first_ps (self->queue);
}

void
fab_engine_set_companion (FabEngine *self, const FabCompanion *companion)
{
  g_assert (self->companion.advance == NULL);
  self->companion = *companion;
}

void
fab_engine_set_cancel (FabEngine *self, const gint *cancel)
{
  self->cancel = cancel;
}

void
fab_engine_share_cancel (FabEngine *self, const FabEngine *other)
{
  self->cancel = other->cancel;
}

void
fab_engine_set_most_events (FabEngine *self, guint64 most_events)
{
  self->most_events = most_events;
}

void
fab_engine_set_pulse (FabEngine *self, FabPulse *pulse)
{
  self->pulse = pulse;
}

gboolean
fab_engine_is_cancelled (const FabEngine *self)
{
  return self->is_cancelled;
}

void
fab_engine_fail (FabEngine *self, const char *format, ...)
{
  va_list args;

  self->is_stopped = TRUE;
  if (self->failure != NULL)
    return;
  va_start (args, format);
  self->failure = g_strdup_vprintf (format, args);
  va_end (args);
}

const char *
fab_engine_failure (const FabEngine *self)
{
  return self->failure;
}

gboolean
fab_engine_advance (FabEngine *self, FabTimePs time_ps)
{
  if (self->is_stopped || look_for_cancel (self) || time_ps > self->until_ps
      || fab_event_queue_earliest_ps (self->queue) <= time_ps)
    return FALSE;
  self->now_ps = time_ps;
  self->n_events++;
  return TRUE;
}

FabTimePs
fab_engine_first_of_others_ps (const FabEngine *self, const gconstpointer *owners, guint n)
{
  return fab_event_queue_first_of_others_ps (self->queue, owners, n);
}

FabTimePs
fab_engine_next_of_others_ps (const FabEngine *self, const gconstpointer *owners, guint n)
{
  return MIN (fab_engine_first_of_others_ps (self, owners, n), self->until_ps);
}

void
fab_engine_delay (FabEngine *self, const gconstpointer *owners, guint n, FabTimePs by_ps)
{
  fab_event_queue_delay (self->queue, owners, n, by_ps);
}

void
fab_engine_clear (FabEngine *self)
{
  fab_event_queue_free (self->queue);
  self->queue = fab_event_queue_new ();
}

guint64
fab_engine_events (const FabEngine *self)
{
  return self->n_events;
}
