/* SPDX-License-Identifier: Apache-2.0 */
/* talks.h - model-parallel communication: what the ranks of a group send each other around one segment of a layer. */
#pragma once

#include "models/workload/training/train.h"

/* Whether tensor parallelism divides a segment; whether anything at all is sent before, during or after it. */
gboolean segment_is_split (const Stage *stage, const FabSegment *segment);
gboolean segment_talks (const Stage *stage, const FabSegment *segment);
/* Whether a segment has activations as input. An embedding has tokens, so that no gradient leaves it. */
gboolean segment_has_input (const FabSegment *segment);
gboolean stage_is_sequence_parallel (const Stage *stage);

typedef struct {
  Stage *stage;
  const FabLayer *layer;
  const FabSegment *segment;
} Talk;

/* Bytes per token that go between the ranks that share the segment. */
double talk_tensor_bytes (const Talk *talk);

/* Adds a collective of the group after the last compute task. FALSE: there is nothing to send. */
gboolean talk_send (const Talk *talk, Lane lane, FabFamily *family, FabOp op, double bytes_per_token,
                    FabTaskId *task);

/* Adds what is sent before the segment computes. TRUE: the task *context runs while the segment computes. */
gboolean talk_before (const Talk *talk, gboolean is_backward, FabTaskId *context);
/* Adds what is sent after the segment has computed. */
void talk_after (const Talk *talk, gboolean is_backward);
