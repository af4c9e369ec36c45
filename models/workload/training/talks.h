/* SPDX-License-Identifier: Apache-2.0 */
/* talks.h - what ranks of a model-parallel group send each other around one segment of a layer. */
#pragma once

#include "models/workload/training/train.h"

/* Whether tensor parallelism divides it, and whether anything is sent around it at all. */
gboolean segment_is_split (const Stage *stage, const FabSegment *segment);
gboolean segment_talks (const Stage *stage, const FabSegment *segment);
/* The beginning of an embedding is tokens: no gradient leaves it. */
gboolean segment_has_input (const FabSegment *segment);
gboolean stage_is_sequence_parallel (const Stage *stage);

typedef struct {
  Stage *stage;
  const FabLayer *layer;
  const FabSegment *segment;
} Talk;

/* Per token, between the ranks that share the segment. */
double talk_tensor_bytes (const Talk *talk);

/* FALSE: nothing to send. */
gboolean talk_send (const Talk *talk, Lane lane, FabFamily *family, FabOp op, double bytes_per_token,
                    FabTaskId *task);

/* Before the segment computes; TRUE: *context runs beside it. */
gboolean talk_before (const Talk *talk, gboolean is_backward, FabTaskId *context);
/* When it has computed. */
void talk_after (const Talk *talk, gboolean is_backward);
