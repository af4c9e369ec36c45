/* SPDX-License-Identifier: Apache-2.0 */
/* queue_lengths.h - for how long a queue had which length, and percentiles of that.
 *
 * Lengths are put into bins: one for an empty queue, then eight for each doubling from 64 bytes on. A percentile is the
 * upper end of its bin, so that it is at most 9 % too long.
 */
#pragma once

#include "sim/base/units.h"

enum { FAB_QUEUE_LENGTH_BINS = 2 + 8 * 26 }; /* up to 4 GiB */

typedef struct {
  FabTimePs time_ps[FAB_QUEUE_LENGTH_BINS];
} FabQueueLengths;

/* Counts `time_ps` at this length. O(1). */
void fab_queue_lengths_add (FabQueueLengths *self, guint32 bytes, FabTimePs time_ps);

/* Adds what another queue counted. */
void fab_queue_lengths_merge (FabQueueLengths *self, const FabQueueLengths *other);

/* Returns the length that the queue did not exceed for this part (0 to 1) of the time; 0 where nothing was counted. */
FabBytes fab_queue_lengths_percentile (const FabQueueLengths *self, double fraction);
