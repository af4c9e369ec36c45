/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - what a rank of a stage keeps in the memory of its accelerator.
 *
 *   parameters  2 bytes each, or as many as the precision has (FP32: 4)
 *   gradients   as many bytes as the strategy keeps per parameter
 *   optimizer   `optimizer_state` per parameter (Adam in mixed precision: 12)
 *   activations what the layers keep for backward (Korthikanti et al. 2022, arXiv 2205.05198), times the micro-batches
 *               that are alive at once; recomputed blocks keep their input only, and one of them is whole
 */
#pragma once

#include "models/workload/training/train.h"

typedef struct {
  double parameters;           /* of the stage's parameters that are kept, 0 ... 1 */
  double gradient_bytes;       /* per parameter */
  double gradients, optimizer; /* of the stage's gradients and states, 0 ... 1 */
} MemoryShares;

/* Parameters, gradients, optimizer, activations. */
void memory_add_state (const Stage *stage, FabJobTotals *totals, const MemoryShares *shares);
/* What would make the job fit, where it does not. After all parts of all stages. */
void memory_add_hints (const Train *train, FabJobTotals *totals);

/* One more part, when it is not 0. `name` is static. */
void memory_add (const Stage *stage, FabJobTotals *totals, const char *name, double bytes);
