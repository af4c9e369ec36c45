/* SPDX-License-Identifier: Apache-2.0 */
/* zero3.h - which tensors of a stage are whole under ZeRO-3, and when the others are gathered. */
#pragma once

#include "models/workload/training/buckets.h"
#include "models/workload/training/zero.h"

/* One tensor of the stage. */
typedef struct {
  guint layer;
  guint64 elements; /* of one rank when the tensor is whole */
  gboolean is_persistent, is_whole;
  gboolean is_coming; /* the task `gather`, which makes it whole, is on its way */
  FabTaskId gather;
} TraceItem;

typedef struct {
  Stage *stage;
  Buckets *buckets;
  GArray *items;       /* TraceItem, in forward order */
  GArray *layer_items; /* guint: first item of each layer of the model, and the end of the last */
  FabFamily *forward, *backward, *replicas;
  guint64 live;
  guint n_gathers;
  guint micro;      /* current micro-batch; the forward pass of the first one fills the second copy (hpZ) */
  gboolean is_last; /* it is the last micro-batch of the step */
  gint64 cursor;    /* the next use in the trace that prefetching has not considered yet */
} Zero3;

/* The uses of the trace from `from` up to `to`, but at most `most` elements. */
typedef struct {
  gint64 from, to;
  guint64 most;
} TraceRange;

void zero3_add_items (Zero3 *self);
TraceItem *zero3_item (const Zero3 *self, guint index);
guint zero3_first_item (const Zero3 *self, guint layer);
/* Elements that are used between the use of a layer in the forward pass and its use in the backward pass. */
guint64 zero3_reuse_distance (const Zero3 *self, guint layer);

/* The uses of the tensors of a layer in one pass. */
TraceRange zero3_uses (const Zero3 *self, guint layer, gboolean is_backward);
/* Gathers in one collective those tensors of the range that are neither whole nor on their way. Sets *end to the use at
 * which it stopped. */
void zero3_gather (Zero3 *self, TraceRange range, gboolean is_backward, gint64 *end);
/* Gathers tensors of later uses, once for every module of the layer. */
void zero3_prefetch (Zero3 *self, guint layer);
