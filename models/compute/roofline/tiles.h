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

/* Whether products were measured shape by shape on accelerators of this generation. */
gboolean fab_tiles_are_measured (const FabDevice *device);

/* The share of the peak that a tile of a product runs at in this precision, where nothing is lost by shape: a share of
 * the accelerator's best product (`matmul`), or of 0.8 where that is unknown, the middle of the known ones (0.73 to
 * 0.87 on NVIDIA). */
double fab_tiles_share (const FabDevice *device, FabPrecision precision);

/* Of an architecture; how they enter the time is said in tiles.c. */
typedef struct {
  const char *architecture;    /* NULL: of all others */
  double best_share;           /* of the best product of the accelerator, that a tile runs at */
  double tile_s, kernel_s;     /* overhead of a tile; of a kernel */
  double needed;               /* multiply-adds per number loaded that keep a multiprocessor fed */
  double fill_bytes;           /* without multiprocessors: bytes that move while nothing is multiplied */
  double fp8_share, fp4_share; /* of the share of peak that 16 bits reach */
  gboolean is_shared;          /* a cluster of two multiprocessors loads the longer side once */
  gboolean has_huge;           /* tiles of 256 x 256 */
  const char *fitted_to;       /* a table of validate/measured/kernels; NULL: not measured shape by shape */
} FabTilesConstants;

/* All of them; `n` is their number. The last one is that of all other architectures. */
const FabTilesConstants *fab_tiles_constants (guint *n);
