/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h - how fast a matrix multiplication runs: tiles of the output in waves over the multiprocessors. */
#pragma once

#include "sim/machine/cluster.h"

/* `n_copies` independent products of (rows x depth) and (depth x columns); all at least 1. They run as one kernel. */
typedef struct {
  double rows, columns, depth, n_copies;
} FabMatmul;

/* Rates that a kernel can reach on a device, after all losses that shape does not explain. */
typedef struct {
  double flops_per_s;        /* of the whole device, at the best shape */
  double memory_bytes_per_s; /* of its memory */
} FabReachedRates;

/* Seconds that it takes, the launch not counted. `operand_bytes` and `result_bytes`: of one number. Never below
 * 2 rows x columns x depth x n_copies / flops_per_s. More rows, columns, depth or copies never take less. */
double fab_tiles_seconds (const FabDevice *device, const FabReachedRates *rates, const FabMatmul *matmul,
                          double operand_bytes, double result_bytes);
