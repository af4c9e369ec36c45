/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - how fast bytes went over the links that matter, over an iteration.
 *
 * Of the links that set the rate of some collective, the busiest FAB_SAMPLED_LINKS. Each collective counts with its
 * mean rate from its start to its end (start-up included), payload bytes x weight / time; those that overlap add up. So
 * samples are constant between the starts and ends, and their integral is what the collectives put on the link.
 */
#pragma once

#include "sim/work/dag.h"

enum { FAB_SAMPLED_LINKS = 8 };

/* Appends to `samples` (FabLinkSampleRecord), by link, then by time; where nothing moves there is none. `records` are
 * the collectives of the iteration, `loads` (FabLinkLoadRecord, ascending links) what its links carried. */
void fab_samples_add (const FabDag *dag, const GArray *records, const GArray *loads, GArray *samples);
