/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the clock: call a function at a time, in (time, sequence) order.
 *
 * Callbacks return void: everything that can fail fails before the clock starts. All
 * state hangs off the engine; two engines in one process know nothing of each other.
 */
#pragma once

#include "sim/base/event_queue.h"

typedef struct _FabEngine FabEngine;

FabEngine *fab_engine_new (void);
void fab_engine_free (FabEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEngine, fab_engine_free)

FabTimePs fab_engine_now (const FabEngine *self);

/* At `time_ps`, which is not in the past. */
FabTimer fab_engine_at (FabEngine *self, FabTimePs time_ps, FabEventFn fn, gpointer owner, guint64 arg);

/* After `delay_ps` >= 0; asserts that the clock does not overflow. */
FabTimer fab_engine_after (FabEngine *self, FabTimePs delay_ps, FabEventFn fn, gpointer owner, guint64 arg);

/* FALSE when it has already happened or was cancelled. */
gboolean fab_engine_cancel (FabEngine *self, FabTimer timer);

/* Until no event is left, or until a callback calls fab_engine_stop (). */
void fab_engine_run (FabEngine *self);
void fab_engine_stop (FabEngine *self);

/* For who keeps a queue of its own and is called for the first of it: moves the clock on to the next of it and counts
 * it. FALSE: something else may come first or at that time, or the engine was stopped, and the caller returns to it. */
gboolean fab_engine_advance (FabEngine *self, FabTimePs time_ps);

guint64 fab_engine_events (const FabEngine *self); /* handled so far */
