/* SPDX-License-Identifier: Apache-2.0 */
/* queue_lengths.h - how long queues were, of all links of a kind together. */
#pragma once

#include "sim/shortcut/memo/episodes.h"

/* Returns the FabQueueLengthRecord of every kind of link among `queues` (FabLinkQueueRecord); empty where the
 * network does not note how long queues are. A kind is what links join, by the names of parts. O(links x kinds).
 * (transfer full) */
GArray *fab_queue_length_records (const FabGraph *graph, const FabEpisodes *episodes, const GArray *queues);
