/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.h - gradients that are collected in buckets, each of which is reduced by one collective.
 *
 * The data-parallel ranks reduce a bucket together. Experts are not on every data-parallel rank, so that their
 * gradients go to buckets of their own; those ranks reduce them that hold the same experts.
 */
#pragma once

#include "models/workload/training/job.h"

typedef struct {
  FabOp op;                     /* ALL_REDUCE or REDUCE_SCATTER */
  FabBytes first_bytes;         /* the first bucket closes when it holds so much; 0: never */
  FabBytes bytes;               /* the others close when they hold so much; 0: never */
  FabBytes bytes_per_parameter; /* of one gradient on the wire */
  gboolean overlaps;         /* a bucket is reduced as soon as it is closed; else all of them at the flush */
  gboolean is_closed_before; /* it closes before the tensor that would exceed the cap; else after it */
  DataPart part;             /* which data-parallel ranks reduce a bucket; DATA_ONE: all */
  guint block;
  /* Sends a bucket in another way than by one collective `op`. Takes `name`. NULL: by `op`. Buckets of experts always
   * go by `op`. */
  gboolean (*send) (Stage *stage, FabBytes bytes, char *name, FabTaskId *task);
  /* Adds what comes after a bucket that `task` has sent, or computed where there is nobody to send it to. NULL:
   * nothing. */
  gboolean (*sent) (Stage *stage, FabBytes bytes, FabTaskId *task);
} BucketsParams;

typedef struct _Buckets Buckets;

Buckets *buckets_new (Stage *stage, const BucketsParams *params);
void buckets_free (gpointer self);

/* Adds the gradient of a tensor, which is ready when the last compute task ends. */
void buckets_add (Buckets *self, guint layer, guint tensor);
/* Closes the buckets that hold something, as at the end of a part of the model. */
void buckets_close (Buckets *self);
/* Reduces all buckets that have not been reduced yet, the last one whatever it holds. */
void buckets_flush (Buckets *self);
/* Ends the backward pass of a micro-batch: reduces all buckets, and makes the next micro-batch wait for that, as
 * PyTorch and DeepSpeed do where each micro-batch reduces (reducer.cpp finalize_backward, FSDP's
 * _post_backward_final_callback, DeepSpeed's independent_gradient_partition_epilogue). Megatron-LM reduces in the last
 * one alone. Behind the last one the optimizer waits. */
void buckets_end_pass (Buckets *self, gboolean is_last);
/* Makes the next compute task wait for all reductions so far. */
void buckets_wait (Buckets *self);
/* Whether a reduction was launched that nothing waits for yet. */
gboolean buckets_are_under_way (const Buckets *self);
