/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - what a job keeps when it gets other GPUs: the batch of each of them, or the batch of all. */
#pragma once

#include "sim/scenario/scenario.h"

/* Sequences per step; a job without batches has micro_batch 0. */
typedef struct {
  guint n_gpus;                                    /* of the scenario */
  guint64 micro_batch, accumulation, global_batch; /* as written; no global batch: 0 */
  guint64 n_model_ranks;                           /* GPUs that one copy of the model is divided over */
} FabBatch;

FabBatch fab_batch_of (const FabScenario *scenario);

/* Adds the assignments (char *, owned by `sets`) that keep the batch of every GPU, or of the job, on `n` GPUs. FALSE
 * and *error where it cannot be divided so. */
gboolean fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, GPtrArray *sets, GError **error);
