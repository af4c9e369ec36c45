/* SPDX-License-Identifier: Apache-2.0 */
/* experts.h - how tokens get to experts on other ranks and back: dispatch and combine of expert parallelism, with
 * what `parallel.moe` says (moe.h).
 *
 * The backward pass of a dispatch is a combine of gradients, and that of a combine is a dispatch.
 */
#pragma once

#include "models/workload/training/job.h"

/* Makes what a job keeps for its exchanges. The libraries are handed to the builder of the DAG, whose plans point into
 * them. */
Experts *experts_new (Train *train);
void experts_free (Experts *self); /* accepts NULL */

/* The tokens of the expert-parallel rank that has the most, over the mean of all ranks: the mean over steps of what
 * tokens that are not divided evenly come to, or the capacity to which the tokens of each expert are padded. 1 for
 * other segments. */
double experts_load (const Train *train, const FabLayer *layer, const FabSegment *segment);

/* How tokens come to the experts of a rank, by the dispatcher of the job. */
FabRoutedTokens experts_routed_tokens (const Train *train);

/* The segment whose experts wait for tokens while the shared experts of `segment` compute; NULL: none, for the job
 * does not overlap them. */
const FabSegment *experts_beside (const Stage *stage, const FabLayer *layer, const FabSegment *segment);

/* Whether ranks exchange tokens for this segment. */
gboolean experts_exchange (const Stage *stage, const FabSegment *segment);

/* Adds the exchange after the last compute task of the stage, before the segment computes (a dispatch) or after it (a
 * combine). FALSE: there is nothing to send. */
gboolean experts_send (Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_combine,
                       gboolean is_backward, FabTaskId *task);
