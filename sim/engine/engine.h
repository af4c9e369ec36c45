/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the simulated clock: it calls functions at their times, in (time, sequence) order.
 *
 * Callbacks return void: everything that can fail fails before the clock starts. An engine owns its queue and shares
 * no state with other engines, so each may run on a thread of its own. One thread at a time may use an engine.
 */
#pragma once

#include "sim/base/event_queue.h"

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

/* Runs until no event is left or a callback calls fab_engine_stop (). */
void fab_engine_run (FabEngine *self);
void fab_engine_stop (FabEngine *self);

/* For a model that keeps a queue of its own and uses one engine event for the first entry. It moves the clock to the
 * time of the model's next entry and counts that as an event. It returns FALSE when another event may come at or
 * before that time, or when the engine was stopped; the model must then return to the engine. */
gboolean fab_engine_advance (FabEngine *self, FabTimePs time_ps);

guint64 fab_engine_events (const FabEngine *self); /* events handled so far */
