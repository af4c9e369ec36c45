/* SPDX-License-Identifier: Apache-2.0 */
/* moe.h - the keys of `parallel.moe`: how tokens get to experts on other ranks and back (experts.h).
 *
 *   nccl                   an all-to-all of the collective library, in which a token has a copy for each of its
 *                          experts (Megatron-LM: --moe-token-dispatcher-type alltoall)
 *   allgather              every rank gathers the tokens of all ranks and reduces and scatters the results (allgather)
 *   deepep                 kernels that send a token once to each node and rank (flex, DeepEP)
 *   hybridep               the same with copy engines (flex, HybridEP)
 *   deepep_low_latency     kernels that send a message for each token and expert
 */
#pragma once

#include "sim/base/param.h"

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
