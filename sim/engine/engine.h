/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the simulated clock: it calls functions at their times, in (time, sequence) order.
 *
 * Callbacks return void: everything that a user can cause fails before the clock starts. A callback that finds a
 * broken invariant fails the engine, which stops the clock for good and keeps the reason. An engine owns its queue and
 * shares no state with other engines, so each may run on a thread of its own. One thread at a time may use an engine;
 * the cancel flag may be set by any thread.
 */
#pragma once

#include "sim/base/event_queue.h"
#include "sim/base/pulse.h"

/* No event is due. */
#define FAB_TIME_NEVER FAB_TIME_MAX

/* The cancel flag is looked at once in so many events. */
enum { FAB_ENGINE_EVENTS_PER_LOOK = 4096 };

typedef struct _FabEngine FabEngine;

FabEngine *fab_engine_new (void);
void fab_engine_free (FabEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEngine, fab_engine_free)

FabTimePs fab_engine_now (const FabEngine *self);

/* Calls `fn` at `time_ps`, which must not be in the past. The caller keeps owning `owner`. */
FabTimer fab_engine_at (FabEngine *self, FabTimePs time_ps, FabEventFn fn, gpointer owner, guint64 arg);

/* Calls `fn` after `delay_ps` >= 0. Asserts that the clock does not overflow. */
FabTimer fab_engine_after (FabEngine *self, FabTimePs delay_ps, FabEventFn fn, gpointer owner, guint64 arg);

/* Returns FALSE when the event has already happened or was cancelled. */
gboolean fab_engine_cancel (FabEngine *self, FabTimer timer);

/* Runs until no event is left or a callback calls fab_engine_stop (). Does nothing once the engine has failed or was
 * cancelled. */
void fab_engine_run (FabEngine *self);
/* Runs the events up to and including `until_ps`, which is not in the past, and leaves the clock there. When a
 * callback stops the engine earlier, the clock stays at that callback's time. FAB_TIME_NEVER: the same as
 * fab_engine_run (). */
void fab_engine_run_until (FabEngine *self, FabTimePs until_ps);
void fab_engine_stop (FabEngine *self);
/* Whether the run under way ends after the present event, or the last run was ended by something else than its time. */
gboolean fab_engine_is_stopped (const FabEngine *self);

/* Returns the time of the next event; FAB_TIME_NEVER when there is none. */
FabTimePs fab_engine_next_ps (const FabEngine *self);

/* Another clock, which goes on in step with this one. Before every event of this engine, and when none is left,
 * `advance` plays on up to `until_ps` at most, and not beyond the first time at which it has something to tell. It
 * returns that time, or FAB_TIME_NEVER when it has nothing to tell up to `until_ps`. The engine then moves there and
 * calls `tell`, before its own events of the same time. */
typedef struct {
  FabTimePs (*advance) (gpointer owner, FabTimePs until_ps);
  void (*tell) (gpointer owner);
  gpointer owner;
} FabCompanion;

/* The owner must outlive the engine's runs; at most one companion, set once. */
void fab_engine_set_companion (FabEngine *self, const FabCompanion *companion);

/* Once `*cancel` is not 0 the engine stops within FAB_ENGINE_EVENTS_PER_LOOK events, for good. The flag is read
 * atomically and must outlive the engine; NULL: there is none. */
void fab_engine_set_cancel (FabEngine *self, const gint *cancel);
gboolean fab_engine_is_cancelled (const FabEngine *self);
/* Listens to the flag of another engine. */
void fab_engine_share_cancel (FabEngine *self, const FabEngine *other);
/* The engine stops in the same way once it has handled so many events; 0: there is no limit. The event at which it
 * stops does not depend on the machine or its load. */
void fab_engine_set_most_events (FabEngine *self, guint64 most_events);
/* Says where the clock is, in `now_us` of the pulse, at the same times. It must outlive the engine; NULL: nobody
 * looks. */
void fab_engine_set_pulse (FabEngine *self, FabPulse *pulse);

/* Stops the clock for good, for an invariant is broken. The first text is kept; later ones are dropped. */
void fab_engine_fail (FabEngine *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Returns that text; NULL: the engine has not failed. */
const char *fab_engine_failure (const FabEngine *self);

/* For a model that keeps a queue of its own and uses one engine event for the first entry. It moves the clock to the
 * time of the model's next entry and counts that as an event. It returns FALSE when another event may come at or
 * before that time, when that time is after the end of fab_engine_run_until (), or when the engine was stopped; the
 * model must then return to the engine. */
gboolean fab_engine_advance (FabEngine *self, FabTimePs time_ps);

/* For a model that knows that its state repeats. The first returns the time of the next event whose owner is none of
 * the `n` given ones, or the end of fab_engine_run_until () if that is earlier; the second moves all events of these
 * owners `by_ps` later. O(events). */
FabTimePs fab_engine_next_of_others_ps (const FabEngine *self, const gconstpointer *owners, guint n);
/* The same, whenever the run ends. */
FabTimePs fab_engine_first_of_others_ps (const FabEngine *self, const gconstpointer *owners, guint n);
void fab_engine_delay (FabEngine *self, const gconstpointer *owners, guint n, FabTimePs by_ps);

/* Drops all events. Timers that were given before are not valid any more. */
void fab_engine_clear (FabEngine *self);

guint64 fab_engine_events (const FabEngine *self); /* events handled so far */
