/* SPDX-License-Identifier: Apache-2.0 */
/* wait_time.h - the time of messages that wait for one another, by their bytes alone: links have rates and no latency,
 * and messages that cross a link at the same time share it max-min fairly.
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

/* Returns the time from the first message's start to the last one's end, in s per byte. To be called once. */
double fab_wait_time_s_per_byte (FabWaitTime *self);
