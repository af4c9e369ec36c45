/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h - the pieces of a layer between which ranks communicate, and lanes that compute them in turn.
 *
 * A lane is a half of a micro-batch, or one of a forward and a backward pass that run together. While one lane
 * computes a piece, what the other lane has sent is on its way (passes.h says what is sent).
 */
#pragma once

#include "models/workload/training/job.h"

/* Consecutive segments of a layer between which nothing is sent. They are one compute task. */
typedef struct {
  guint first, n;
} Piece;

typedef struct {
  Stage *stage;
  const FabLayer *layer;
  const FabSegment *segment;
} Exchange;

/* What runs while a segment computes. */
typedef struct {
  gboolean has_context, has_gather;
  FabTaskId context, gather;
  double share; /* of the pass: what is computed before the gather is awaited */
} Beside;

/* One piece of a layer in one direction. */
typedef struct {
  Exchange exchange;
  Piece piece;
  PassAt at;
  gboolean is_backward, has_weights;
  const char *what, *suffix;
  Beside beside[2]; /* of each lane */
} Turn;

/* Lets n lanes take turns from now on, each with `share` of a micro-batch; ends it. */
void lanes_begin (Stage *stage, guint n, double share);
void lanes_end (Stage *stage);

/* What was waited for last belongs to this lane: its next compute task waits for it. */
void lane_keep (Stage *stage, guint lane);
/* Makes the next compute task wait for what belongs to this lane. */
void lane_take (Stage *stage, guint lane);

/* The pieces (Piece) of a layer, in the order of the forward pass. (transfer full) */
GArray *turns_list_pieces (const Stage *stage, const FabLayer *layer);

/* The same turn for a piece of a layer. */
Turn turn_of (const Turn *turn, Stage *stage, const FabLayer *layer, const Piece *piece);

/* Sends what a lane needs before it computes the piece; computes the piece, and sends what comes out. */
void turn_before (Turn *self, guint lane);
void turn_compute (const Turn *self, guint lane);

/* Computes a layer piece by piece, in the direction of `turn`, by all lanes. */
void turns_compute (Stage *stage, const FabLayer *layer, const Turn *turn);

/* Computes the gradients of the weights of a layer. */
void turns_weights (Stage *stage, const PassAt *at);
