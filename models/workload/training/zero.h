/* SPDX-License-Identifier: Apache-2.0 */
/* zero.h - what the three stages of ZeRO share. */
#pragma once

#include "models/workload/training/offload.h"

typedef struct {
  TrainParams train;
  gint64 stage;
  gint gradient; /* index of gradient_types */
  gint overlap;  /* ZeroOverlap */
  gint64 reduce_bucket, allgather_bucket, prefetch_bucket, persistence_threshold, max_live,
      max_reuse_distance;
  gint64 secondary, shard; /* ranks */
  OffloadParams offload;
  gboolean prefetch_overlaps, is_multi_rank, has_quantized_weights, has_quantized_gradients;
} ZeroParams;
