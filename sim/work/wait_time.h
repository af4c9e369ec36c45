/* SPDX-License-Identifier: Apache-2.0 */
/* wait_time.h - the duration of messages that wait for one another on idle links, without latency.
 *
 * Active messages share links by weighted max-min, as on the fluid network; a message starts when the last message for
 * which it waits has ended. Times are per byte of the collective, because all are proportional to it. One thread may
 * use the object.
 */
#pragma once

#include "sim/fabric/footprint.h"

typedef struct _FabWaitTime FabWaitTime;

FabWaitTime *fab_wait_time_new (const FabGraph *graph);
void fab_wait_time_free (FabWaitTime *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWaitTime, fab_wait_time_free)

/* Adds a message that waits for those in `after`. It takes ownership of the footprint and returns the message's
 * index. */
guint fab_wait_time_add (FabWaitTime *self, FabFootprint *footprint, const guint *after, guint n_after);

/* Returns the time from the first message's start to the last one's end, in s per byte. */
double fab_wait_time_s_per_byte (FabWaitTime *self);
