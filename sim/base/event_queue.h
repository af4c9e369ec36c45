/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue.h - events ordered by (time, sequence): ties come out in the order they went in.
 *
 * A queue of a clock: nothing may be pushed before what was popped last. A radix heap of digits of 8 bits (decision
 * 11): 16-byte keys lie in buckets by the first digit in which their time differs from that of the front, and the
 * bucket that comes next is divided by its next digit, or, once it is short, sorted into the front. Every move is in
 * order of pushing, so that a key needs no sequence. What to call lies in a table of slots beside it.
 *
 * Push and pop: each event is moved at most once per digit, 8 times in all, 2 to 4 usually. Cancelling is O(1)
 * amortised: the key stays until it is met, or until half of all are cancelled and are taken out. Owns all its
 * memory; no allocation once it has grown.
 */
#pragma once

#include "sim/base/units.h"

typedef void (*FabEventFn) (gpointer owner, guint64 arg);

typedef struct {
  FabEventFn fn;
  gpointer owner;
  guint64 arg;
} FabEvent;

/* Names one pushed event; 0 names none. Never reused within a queue. */
typedef guint64 FabTimer;

typedef struct _FabEventQueue FabEventQueue;

FabEventQueue *fab_event_queue_new (void);
void fab_event_queue_free (FabEventQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEventQueue, fab_event_queue_free)

/* At a time that is not before that of the last pop. */
FabTimer fab_event_queue_push (FabEventQueue *self, FabTimePs time_ps, FabEvent event);

/* FALSE when the event has already been popped or cancelled. */
gboolean fab_event_queue_cancel (FabEventQueue *self, FabTimer timer);

/* Takes the first event; FALSE when there is none. */
gboolean fab_event_queue_pop (FabEventQueue *self, FabTimePs *time_ps, FabEvent *event);

/* Nothing is due before; close to the time of the first, which is not looked for. FAB_TIME_MAX when there is none. */
FabTimePs fab_event_queue_earliest_ps (const FabEventQueue *self);

guint fab_event_queue_length (const FabEventQueue *self); /* without cancelled ones */

/* Asserts the order, that every key is in its bucket, and the slot table. */
void fab_event_queue_check (const FabEventQueue *self);
