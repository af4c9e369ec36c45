/* SPDX-License-Identifier: Apache-2.0 */
/* zero_keys.h - the keys of a job that DeepSpeed's ZeRO schedules. Their names are its options. */
#pragma once

#include "models/workload/training/keys.h"
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
  gboolean prefetch_overlaps, is_multi_rank, has_quantized_weights, has_quantized_gradients;
} ZeroParams;

extern const FabParam zero_params[];

/* Reports keys that do not fit together. `params` is a ZeroParams. */
void zero_check (gconstpointer params, FabCheck *check);
