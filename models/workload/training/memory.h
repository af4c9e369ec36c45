/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - what a rank of a pipeline stage keeps in the memory of its accelerator.
 *
 *   parameters   2 bytes each, or what the precision takes if that is more (FP32: 4)
 *   gradients    as many bytes for each parameter as the strategy keeps
 *   optimizer    `optimizer_state` bytes for each parameter (Adam in mixed precision: 12)
 *   activations  what the layers keep for the backward pass (Korthikanti et al. 2022, arXiv 2205.05198), times the
 *                number of micro-batches that are alive at once. A block that is recomputed keeps its input only; one
 *                block at a time is whole.
 */
#pragma once

#include "models/workload/training/job.h"

typedef struct {
  double parameters;           /* share of the stage's parameters that the rank keeps, 0 to 1 */
  double gradient_bytes;       /* bytes of the gradient of one parameter */
  double gradients, optimizer; /* shares of the stage's gradients and optimizer states, 0 to 1 */
} MemoryShares;

/* Adds parameters, gradients, optimizer states and activations to the totals of the job. */
void memory_add_state (const Stage *stage, FabJobTotals *totals, const MemoryShares *shares);

/* Adds another part, if it is not 0. `name` is static. */
void memory_add (const Stage *stage, FabJobTotals *totals, const char *name, double bytes);
