/* SPDX-License-Identifier: Apache-2.0 */
/* experts.h - how tokens get to experts on other ranks and back: dispatch and combine of expert parallelism.
 *
 *   nccl                   an all-to-all of the collective library, in which a token has a copy for each of its
 *                          experts (Megatron-LM: --moe-token-dispatcher-type alltoall)
 *   allgather              every rank gathers the tokens of all ranks and reduces and scatters the results (allgather)
 *   deepep                 kernels that send a token once to each node and rank (flex, DeepEP)
 *   hybridep               the same with copy engines (flex, HybridEP)
 *   deepep_low_latency     kernels that send a message for each token and expert
 *
 * The backward pass of a dispatch is a combine of gradients, and that of a combine is a dispatch.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/execution/dag.h"
#include "sim/execution/layers.h"

typedef enum {
  EXPERTS_NCCL,
  EXPERTS_ALLGATHER,
  EXPERTS_DEEPEP,
  EXPERTS_DEEPEP_LOW_LATENCY,
  EXPERTS_HYBRIDEP,
} ExpertsDispatch;

/* What computes while tokens are on their way. */
typedef enum { OVERLAP_NONE, OVERLAP_SHARED, OVERLAP_BATCHES } ExpertsOverlap;

/* The keys of `parallel.moe`. */
typedef struct {
  gint dispatch;                              /* ExpertsDispatch */
  gint dispatch_precision, combine_precision; /* index of exchange_precisions, experts.c */
  gint64 groups, groups_per_token, sms;
  gint overlap;                  /* ExpertsOverlap */
  double capacity, imbalance_cv; /* capacity 0: no token is dropped */
} MoeParams;

extern const FabParam moe_params[];

void moe_check (const MoeParams *params, FabCheck *check);

typedef struct Stage Stage;
typedef struct _Train Train;

/* What a job keeps for its exchanges. The libraries are handed to the builder of the DAG, whose plans point into
 * them. */
typedef struct _Experts Experts;

Experts *experts_new (Train *train);
void experts_free (Experts *self); /* accepts NULL */

/* The tokens of the expert-parallel rank that has the most, over the mean of all ranks: the mean over steps of what
 * tokens that are not divided evenly come to, or the capacity to which the tokens of each expert are padded. 1 for
 * other segments. */
double experts_load (const Train *train, const FabLayer *layer, const FabSegment *segment);

/* The segment whose experts wait for tokens while the shared experts of `segment` compute; NULL: none, for the job
 * does not overlap them. */
const FabSegment *experts_beside (const Stage *stage, const FabLayer *layer, const FabSegment *segment);

/* Whether ranks exchange tokens for this segment. */
gboolean experts_exchange (const Stage *stage, const FabSegment *segment);

/* Adds the exchange after the last compute task of the stage, before the segment computes (a dispatch) or after it (a
 * combine). FALSE: there is nothing to send. */
gboolean experts_send (Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_combine,
                       gboolean is_backward, FabTaskId *task);
