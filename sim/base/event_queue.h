/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue.h - events ordered by (time, sequence): ties come out in the order they went in.
 *
 * A 4-ary heap of 24-byte keys beside a table of slots that holds what to call. A cancelled
 * event stays in the heap until it is popped, or until half of the heap is cancelled and is
 * rebuilt. Push and pop O(log4 n), cancel O(1) amortised. Owns both arrays; no allocation
 * once they have grown.
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

FabTimer fab_event_queue_push (FabEventQueue *self, FabTimePs time_ps, FabEvent event);

/* FALSE when the event has already been popped or cancelled. */
gboolean fab_event_queue_cancel (FabEventQueue *self, FabTimer timer);

/* Takes the first event; FALSE when there is none. */
gboolean fab_event_queue_pop (FabEventQueue *self, FabTimePs *time_ps, FabEvent *event);

guint fab_event_queue_length (const FabEventQueue *self); /* without cancelled ones */

/* Asserts the heap order and the slot table. */
void fab_event_queue_check (const FabEventQueue *self);
