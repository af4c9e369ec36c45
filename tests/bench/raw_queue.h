/* SPDX-License-Identifier: Apache-2.0 */
/* raw_queue.h - bare priority queues of 16-byte events, for the hold model: what a machine can do.
 *
 * No order among ties, no cancelling, no checks, and memory for as many events as they are made for.
 */
#pragma once

#include <glib.h>

typedef struct {
  gint64 time;
  guint64 payload;
} RawEvent;

/* Each plays `n_holds` times: take the first event, put it in later by the next of `steps` [n_steps, a power of two].
 * Seconds for the holds alone, after `n` events were put in at the times of raw_first_time (). */
typedef double (*RawHold) (const gint64 *steps, guint n_steps, guint n, guint n_holds);

double raw_hold_heap (const gint64 *steps, guint n_steps, guint n, guint n_holds);
double raw_hold_radix (const gint64 *steps, guint n_steps, guint n, guint n_holds);
double raw_hold_ladder (const gint64 *steps, guint n_steps, guint n, guint n_holds);

/* When event i of the start is due. */
gint64 raw_first_time (const gint64 *steps, guint n_steps, guint i);
