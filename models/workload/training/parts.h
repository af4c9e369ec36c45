/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - how the layers of a model are divided into the parts that pipeline stages have.
 *
 * Megatron-LM divides blocks evenly, and refuses what does not divide unless it is told otherwise
 * (--decoder-first-pipeline-num-layers, --account-for-embedding-in-pipeline-split, --pipeline-model-parallel-layout;
 * megatron/core/transformer/transformer_block.py). nanotron counts what a block and the head cost, and ends a stage
 * where it has its share (src/nanotron/models/base.py, get_block_compute_costs); torchtitan counts embedding and head
 * as a block each; DeepSpeed counts parameters by default (runtime/pipe/module.py, partition_method).
 */
#pragma once

#include "models/workload/training/job.h"

/* The parts of the model (Chunk) in model order: pipeline_stage () says which stage has
 * which. (transfer full) NULL and *error:
 * the model cannot be divided so. */
GArray *parts_divide (const Train *train, guint n_parts, GError **error);

static inline const Chunk *
train_part (const Train *train, guint part)
{
  return &g_array_index (train->parts, Chunk, part);
}
