/* SPDX-License-Identifier: Apache-2.0 */
/* zero.h - what the three stages of ZeRO share. */
#pragma once

#include "models/workload/training/offload.h"

typedef enum { ZERO_OVERLAP_AUTO, ZERO_OVERLAP_NO, ZERO_OVERLAP_YES } ZeroOverlap;

typedef struct {
  TrainParams train;
  gint64 stage;
  gint gradient; /* index of gradient_types */
  gint overlap;  /* ZeroOverlap */
  gint64 reduce_bucket, allgather_bucket, prefetch_bucket, persistence_threshold, max_live,
      max_reuse_distance;
  gint64 secondary, shard; /* ranks */
  OffloadParams offload;
  gboolean is_multi_rank, has_quantized_weights, has_quantized_gradients;
} ZeroParams;

gboolean zero_overlaps (const ZeroParams *self);

/* Hooks that all stages use. With offload, the first copies the gradients of a bucket to the place of the optimizer,
 * and the second adds the optimizer step there. */
gboolean zero_offload_gradients (Stage *stage, FabBytes bytes, FabTaskId *task);
gboolean zero_optimizes (Stage *stage);
gboolean zero_is_sharded (const Stage *stage);

extern const Strategy zero3_strategy;
