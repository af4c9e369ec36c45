/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - the rate over the most important links during an iteration.
 *
 * The samples cover the FAB_SAMPLED_LINKS busiest of the links that set the rate of some collective. Each collective
 * counts with its mean rate from its start to its end (start-up included), payload bytes x weight / time; overlapping
 * collectives add up. So samples are constant between starts and ends, and their integral is what the collectives put
 * on the link.
 */
#pragma once

#include "sim/work/dag.h"

enum { FAB_SAMPLED_LINKS = 8 };

/* Appends to `samples` (FabLinkSampleRecord) by link, then by time; intervals without traffic have no sample.
 * `records` are the collectives of the iteration, `loads` (FabLinkLoadRecord, ascending links) what its links
 * carried. */
void fab_samples_add (const FabDag *dag, const GArray *records, const GArray *loads, GArray *samples);
