/* SPDX-License-Identifier: Apache-2.0 */
/* prices.h - what a pass through a segment takes, by the job's compute model. All micro-batches take the same, so that
 * the model is asked once for each segment and kind of pass.
 */
#pragma once

#include "models/workload/training/job.h"

typedef enum {
  PASS_FORWARD,
  PASS_BACKWARD,
  PASS_INPUTS,  /* backward, without the gradients of the weights */
  PASS_WEIGHTS, /* the rest of it */
  N_PASS_KINDS,
} PassKind;

/* From when to when a pass through a segment computes attention, as shares of its time. */
typedef struct {
  double start, end;
} AttentionSpan;

/* Whether the experts of the segment have a grid of ranks of their own. */
gboolean train_has_own_grid (const Train *train, const FabSegment *segment);

/* Returns the seconds of a segment of `train->stack`. */
double train_segment_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment,
                              PassKind kind);

/* The same of a segment that the caller has made of a part of one. */
double train_part_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment,
                           PassKind kind);

/* The same of the attention of a segment. A backward pass begins with what the forward pass computes last. */
AttentionSpan train_attention_span (const Train *train, const FabLayer *layer, const FabSegment *segment,
                                    PassKind kind);

/* Time that a rank computes in one kind of pass of one micro-batch through a layer. */
double train_pass_seconds (const Train *train, guint layer, PassKind kind);

/* Time that a rank computes in the forward and the backward pass of one micro-batch through a layer. */
double train_layer_seconds (const Train *train, guint layer);

/* Adds what a micro-batch of the first stage is made of, forward and backward, to the totals of the job. */
void train_add_parts (const Train *train, FabJobTotals *totals);
