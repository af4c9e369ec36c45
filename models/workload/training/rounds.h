/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - keys and values that go around a ring of the n ranks that share a sequence, while attention computes.
 *
 * As in TransformerEngine's AttnFuncWithCPAndKVP2P, each of n rounds computes attention with the keys and values of one
 * rank. Forward, those of the next rank come meanwhile: n - 1 exchanges, and each round waits for the one of the round
 * before. The kernels of rounds alternate between two streams, so that an exchange does not wait for the kernel of the
 * round just before. Backward, the gradients of keys and values go around too, one round behind them: n exchanges,
 * of which the first one has keys and values alone and the last one their gradients. Each round ends when its exchange
 * has ended.
 */
#pragma once

#include "models/workload/training/job.h"
#include "models/workload/training/prices.h"

/* Begins a segment, of whose `seconds` attention computes from `start_s` to `end_s`. */
void rounds_begin (Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_backward,
                   double start_s, double end_s);

/* Computes as stage_compute () does, in several tasks where rounds begin or end. Outside of segments with rounds it is
 * stage_compute (). Takes `name`. */
void rounds_compute (Stage *stage, double seconds, char *name);

/* Ends the segment. The next task waits for exchanges that nobody has waited for. */
void rounds_end (Stage *stage);
