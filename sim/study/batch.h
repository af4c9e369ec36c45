/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - changes the number of GPUs of a job and keeps either the batch per GPU or the batch of the job. */
#pragma once

#include "sim/scenario/scenario.h"

/* Sequences per step; micro_batch is 0 for a job without batches. */
typedef struct {
  guint n_gpus;                                    /* of the scenario */
  guint64 micro_batch, accumulation, global_batch; /* as the scenario writes them; 0: no global batch */
  guint64 n_model_ranks;                           /* GPUs over which one copy of the model is divided */
} FabBatch;

FabBatch fab_batch_of (const FabScenario *scenario);

/* Adds the edits that keep the batch per GPU, or with `is_strong` that of the job, on
 * `n` GPUs. FALSE and *error when the batch cannot be divided this way. */
gboolean fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, FabEdits *edits, GError **error);
