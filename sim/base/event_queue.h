/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue.h - events ordered by (time, sequence): of events at the same time, the one pushed first comes out
 * first.
 *
 * The queue serves a clock: no event may be pushed before the time of the last pop. It is a radix heap with digits of
 * 8 bits (decision 11). The earliest keys lie sorted in the front. Every other key of 16 bytes lies in a bucket,
 * chosen by the highest digit in which its time differs from the front's. When the front is empty, the next bucket is
 * either sorted into the front or, when it is long, divided by its next digit. Keys move in the order in which they
 * were pushed, so a key needs no sequence number. The functions to call are kept in a separate table of slots.
 *
 * Each event is moved at most once per digit: at most 8 times, usually 2 to 4 times. Cancelling is O(1) amortised:
 * the key stays until it is met, or until more than half of the keys are cancelled and all of those are removed.
 *
 * The queue owns all its memory and allocates none once it has grown. One thread at a time may use it.
 */
#pragma once

#include "sim/base/units.h"

typedef void (*FabEventFn) (gpointer owner, guint64 arg);

typedef struct {
  FabEventFn fn;
  gpointer owner;
  guint64 arg;
} FabEvent;

/* Identifies one pushed event; 0 identifies none. A queue never reuses a value. */
typedef guint64 FabTimer;

typedef struct _FabEventQueue FabEventQueue;

FabEventQueue *fab_event_queue_new (void);
void fab_event_queue_free (FabEventQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEventQueue, fab_event_queue_free)

/* Adds an event at `time_ps`, which must not be before the time of the last pop. */
FabTimer fab_event_queue_push (FabEventQueue *self, FabTimePs time_ps, FabEvent event);

/* Returns FALSE when the event was already popped or cancelled. */
gboolean fab_event_queue_cancel (FabEventQueue *self, FabTimer timer);

/* Takes the first event; returns FALSE when the queue is empty. */
gboolean fab_event_queue_pop (FabEventQueue *self, FabTimePs *time_ps, FabEvent *event);

/* Returns a lower bound of the time of the first event, without searching for it; FAB_TIME_MAX when the queue is
 * empty. */
FabTimePs fab_event_queue_earliest_ps (const FabEventQueue *self);

/* Returns the time of the first event; FAB_TIME_MAX when the queue is empty. It changes nothing, and searches the
 * first bucket when the front is empty. */
FabTimePs fab_event_queue_first_ps (const FabEventQueue *self);

/* Returns the time of the first event whose owner is none of the `n` given ones; FAB_TIME_MAX when there is none.
 * O(events). */
FabTimePs fab_event_queue_first_of_others_ps (const FabEventQueue *self, const gconstpointer *owners,
                                              guint n);

/* Moves all events of these owners `by_ps` >= 0 later. Timers stay valid, and events that come to lie at the same time
 * keep the order in which they were pushed. O(events log events). */
void fab_event_queue_delay (FabEventQueue *self, const gconstpointer *owners, guint n, FabTimePs by_ps);

guint fab_event_queue_length (const FabEventQueue *self); /* without the cancelled events */

/* Asserts the order of the events, that every key is in its bucket, and that the slot table is consistent. */
void fab_event_queue_check (const FabEventQueue *self);
