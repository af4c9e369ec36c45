/* SPDX-License-Identifier: Apache-2.0 */
/* zero3.h - which of a stage's tensors are whole, and what is gathered when. */
#pragma once

#include "models/workload/training/buckets.h"
#include "models/workload/training/zero.h"

/* One tensor of the stage. */
typedef struct {
  guint layer;
  guint64 elements; /* of one rank when whole */
  gboolean is_persistent, is_whole;
  gboolean is_coming; /* `gather` is the task that makes it whole */
  FabTaskId gather;
} TraceItem;

typedef struct {
  Stage *stage;
  Buckets *buckets;
  GArray *items;       /* TraceItem, in forward order */
  GArray *layer_items; /* guint: first item of each layer of the model, and one more */
  FabFamily *forward, *backward, *replicas;
  guint64 live;
  guint n_gathers;
  guint micro;      /* micro-batch: its first forward pass fills the secondary copy */
  gboolean is_last; /* micro-batch of the step */
  gint64 cursor;    /* next use in the trace that has not been looked at */
} Zero3;

/* Uses of the trace from `from` to `to`, until there are `most` elements. */
typedef struct {
  gint64 from, to;
  guint64 most;
} TraceRange;

void zero3_add_items (Zero3 *self);
TraceItem *zero3_item (const Zero3 *self, guint index);
guint zero3_first_item (const Zero3 *self, guint layer);
/* Elements that are used between the use of a layer in a pass and its next one in the same micro-batch. */
guint64 zero3_reuse_distance (const Zero3 *self, guint layer);

/* The uses of a layer in one pass. */
TraceRange zero3_uses (const Zero3 *self, guint layer, gboolean is_backward);
/* Gathers what of the range is neither whole nor on its way, in one collective; *end is where it stopped. */
void zero3_gather (Zero3 *self, TraceRange range, gboolean is_backward, gint64 *end);
/* Gathers ahead, once for every module of the layer. */
void zero3_prefetch (Zero3 *self, guint layer);
