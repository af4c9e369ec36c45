/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - time of a matrix multiplication from its shape.
 *
 *   tiles     = ceil(rows / tm) x ceil(columns / tn) x splits x copies
 *   waves     = ceil(tiles / SMs)
 *   tile time = 2 tm tn x ceil(depth / splits / 64) x 64 / (rate of one SM x s) + overhead
 *   time      = max(waves x tile time, bytes / memory rate) + start,   the least over tiles and splits
 *
 * A multiprocessor works on one tile at a time, and the last wave takes as long as a full one: tile and wave
 * quantisation (NVIDIA, Matrix Multiplication Background User's Guide). The library chooses tile and number of splits
 * of the depth. Splits add up their parts in memory, in FP32: a write and a read of the result each.
 *
 * s <= 1 is what a tile loses by its size. Per step of the depth it loads tm + tn numbers for tm x tn multiply-adds,
 * and the L2 cache gives all multiprocessors so many bytes a clock. To keep one fed, a number loaded must serve n
 * multiply-adds: s = min(1, tm tn / (tm + tn) / n). On Hopper and Blackwell two multiprocessors of a cluster share
 * the longer side of what they load: tm tn / (shorter + longer / 2). The fit finds n there at what the smallest tile
 * has or next to it: no tile of theirs loses anything.
 *
 * What has no multiprocessors, as a TPU with its few large matrix units, loses nothing by waves:
 *
 *   time      = max(FLOPs / rate + min(bytes, fill) / memory rate, bytes / memory rate) + start
 *
 * It loads its first operands before it multiplies, and stores its last results after that: up to `fill` bytes move
 * while nothing is multiplied.
 *
 * Four constants of an architecture are fitted to measured products (validate/measured/kernels, `fabricast validate
 * kernels`), on every second shape, and judged on the others: the share of the accelerator's best product (`matmul`)
 * that a tile runs at, its overhead (the pipeline is filled, the result is written), n, and what starts a kernel. No
 * run of a model had a part in them. Largest tiles: 256 x 128 to Blackwell (the names of cuBLAS kernels), 256 x 256 on
 * CDNA 3 and 4 (the macro tiles of hipBLASLt).
 */
#include "models/compute/roofline/tiles.h"

#include <math.h>

/* The depth counts in steps of 64, the amount that a software pipeline loads at a time. */
enum { DEPTH_STEP = 64, MAX_SPLITS = 16, N_TILES = 6 };

typedef struct {
  double rows, columns;
} Tile;

static const Tile tiles[N_TILES] = { { 64, 64 },   { 64, 128 },  { 128, 64 },
                                     { 128, 128 }, { 128, 256 }, { 256, 128 } };
static const Tile huge = { 256, 256 };

/* Fitted by validate/kernels/fit.py, which prints these rows: a share of peak over that of the best product of the same
 * table, or of the accelerator.
 *
 * FP8 on Ada and Blackwell is taken as on Hopper. Their tables have the time of quantising in them, which the
 * difference of two products of the same A has not. In AIConfigurator's tables of TensorRT-LLM 1.3.0rc20 such
 * differences (m, k >= 4096, n from 8192 to 65536, medians of 285) are 1.96 times as fast in FP8 as in BF16 on H100,
 * 1.96 on B200, 2.10 on GB200, 2.01 on B300 and GB300, 1.79 on L40S. FP4 is assumed as FP8: TensorRT-LLM's kernels of
 * NVFP4 are 2.65 times as fast as BF16 on B200, and of cuBLASLt's, which training calls, no table was found.
 *
 * What was never measured shape by shape has 0.88 of its best product (products of 8192 cubed,
 * docs/models/roofline.md), an assumed overhead of 1 us, and the n of its L2 cache, MACs per clock x 2 B / (L2 bytes
 * per clock / SMs): V100 512 x 2 / (2048 / 80) = 40; MI300X: inferred, 16 channels of 128 B a clock for the 38 units
 * of a die. */
static const FabTilesConstants constants[] = {
  { "hopper", 0.750 / 0.803, 1.41e-6, 0.10e-6, 42.7, 0, 0.94, 0.94, TRUE, FALSE, "h100_gemm" },
  { "blackwell", 0.698 / 0.763, 0.10e-6, 2.20e-6, 43.5, 0, 0.94, 0.94, TRUE, FALSE, "aic_b200_gemm" },
  { "ada", 0.595 / 0.768, 0.52e-6, 1.36e-6, 32.0, 0, 0.94, 0.94, FALSE, FALSE, "aic_l40s_gemm" },
  { "ampere", 0.913 / 0.930, 4.69e-6, 0.10e-6, 54.8, 0, 1, 1, FALSE, FALSE, "aic_a100_gemm" },
  { "volta", 0.88, 1e-6, 0, 40, 0, 1, 1, FALSE, FALSE, NULL },
  { "tpu", 0.824 / 0.829, 0, 1.59e-6, 0, 35.3e6, 1, 1, FALSE, FALSE, "tpu7x_gemm" },
  { "cdna3", 0.88, 1e-6, 0, 38, 0, 1, 1, FALSE, TRUE, NULL },
  { "cdna4", 0.88, 1e-6, 0, 76, 0, 1, 1, FALSE, TRUE, NULL },
  { NULL, 0.88, 1e-6, 0, 43, 0, 1, 1, FALSE, FALSE, NULL },
};

/* What no table has: the middle of the measured ones. */
static const double unknown_matmul_fraction = 0.8;

const FabTilesConstants *
fab_tiles_constants (guint *n)
{
  *n = G_N_ELEMENTS (constants);
  return constants;
}

static const FabTilesConstants *
constants_of (const char *architecture)
{
  guint i = 0;

  while (constants[i].architecture != NULL && g_strcmp0 (constants[i].architecture, architecture) != 0)
    i++;
  return &constants[i];
}

gboolean
fab_tiles_are_measured (const FabDevice *device)
{
  return constants_of (device->architecture)->fitted_to != NULL;
}

double
fab_tiles_share (const FabDevice *device, FabPrecision precision)
{
  const FabTilesConstants *c = constants_of (device->architecture);
  double best = device->matmul_fraction > 0 ? device->matmul_fraction : unknown_matmul_fraction;
  double bytes = fab_precision_operand_bytes (precision);

  return best * c->best_share * (bytes < 1 ? c->fp4_share : bytes < 2 ? c->fp8_share : 1);
}

/* More multiply-adds per number than needed win nothing. */
static double
tile_speed (const Tile *tile, const FabTilesConstants *c)
{
  double shorter = fmin (tile->rows, tile->columns), longer = fmax (tile->rows, tile->columns);
  double loads = shorter + longer / (c->is_shared ? 2 : 1);

  return fmin (1, shorter * longer / loads / c->needed);
}

static double
compute_seconds (const FabMatmul *matmul, const Tile *tile, double splits, double n_sms,
                 double sm_flops_per_s, double tile_overhead_s)
{
  double n_tiles = ceil (matmul->rows / tile->rows) * ceil (matmul->columns / tile->columns) * splits
                 * matmul->n_copies;
  double depth = ceil (matmul->depth / splits / DEPTH_STEP) * DEPTH_STEP;
  double tile_s = 2 * tile->rows * tile->columns * depth / sm_flops_per_s + tile_overhead_s;

  return ceil (n_tiles / n_sms) * tile_s;
}

static double
least_over_splits (const FabMatmul *matmul, const Tile *tile, double n_sms, double sm_flops_per_s,
                   double tile_overhead_s, double memory_bytes_per_s)
{
  double results = matmul->rows * matmul->columns * matmul->n_copies;
  double least = INFINITY;

  for (guint splits = 1; splits <= MAX_SPLITS; splits *= 2) {
    double sums_s = splits > 1 ? 2.0 * 4 * splits * results / memory_bytes_per_s : 0;

    least = fmin (least,
                  compute_seconds (matmul, tile, splits, n_sms, sm_flops_per_s, tile_overhead_s) + sums_s);
  }
  return least;
}

double
fab_tiles_seconds (const FabDevice *device, const FabReachedRates *rates, const FabMatmul *matmul,
                   double operand_bytes, double result_bytes)
{
  const FabTilesConstants *c = constants_of (device->architecture);
  double bytes = ((matmul->rows + matmul->columns) * matmul->depth * operand_bytes
                  + matmul->rows * matmul->columns * result_bytes)
               * matmul->n_copies;
  double flops = 2 * matmul->rows * matmul->columns * matmul->depth * matmul->n_copies;
  double memory_s = bytes / rates->memory_bytes_per_s, least = INFINITY;

  if (device->n_sms == 0)
    return fmax (flops / rates->flops_per_s + fmin (bytes, c->fill_bytes) / rates->memory_bytes_per_s,
                 memory_s)
         + c->kernel_s;
  for (guint i = 0; i <= N_TILES; i++) {
    const Tile *tile = i < N_TILES ? &tiles[i] : &huge;
    double sm_flops_per_s = rates->flops_per_s / device->n_sms * tile_speed (tile, c);

    if (i == N_TILES && !c->has_huge)
      continue;
    least = fmin (least, least_over_splits (matmul, tile, device->n_sms, sm_flops_per_s, c->tile_s,
                                            rates->memory_bytes_per_s));
  }
  return fmax (least, memory_s) + c->kernel_s;
}
