/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.h - gradients gathered into buckets, each reduced by one collective of the data-parallel ranks.
 *
 * Experts are not on every data-parallel rank: their gradients go to buckets of their own, which the ranks reduce that
 * hold the same experts.
 */
#pragma once

#include "models/workload/training/train.h"

typedef struct {
  FabOp op;                     /* ALL_REDUCE or REDUCE_SCATTER */
  FabBytes first_bytes, bytes;  /* a bucket closes when it holds so much; 0: never */
  FabBytes bytes_per_parameter; /* of a gradient on the wire */
  gboolean overlaps;            /* launched when full; else at the flush */
  gboolean is_closed_before;    /* before the tensor that would exceed the cap, not after it */
  DataPart part;                /* ranks of a group; DATA_ONE: all data-parallel ranks */
  guint block;
  /* How a bucket is sent when `op` is not all; takes `name`. NULL: by `op`. Experts always go by `op`. */
  gboolean (*send) (Stage *stage, FabBytes bytes, char *name, FabTaskId *task);
  /* What follows a bucket that was sent by `task`. NULL: nothing. */
  gboolean (*sent) (Stage *stage, FabBytes bytes, FabTaskId *task);
} BucketsParams;

typedef struct _Buckets Buckets;

Buckets *buckets_new (Stage *stage, const BucketsParams *params);
void buckets_free (gpointer self);

/* The gradient of a tensor is ready, after the last compute task. */
void buckets_add (Buckets *self, guint layer, guint tensor);
/* Launches what is left. */
void buckets_flush (Buckets *self);
/* The next compute task waits for all that was launched. */
void buckets_wait (Buckets *self);
