/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - time of a matrix multiplication from its shape.
 *
 *   tiles     = ceil(rows / tm) x ceil(columns / tn) x splits x copies
 *   waves     = ceil(tiles / SMs)
 *   tile time = 2 tm tn x ceil(depth / splits / 32) x 32 / (rate of one SM x s) + overhead
 *   time      = max(waves x tile time, bytes / memory rate),   the least over tiles and splits
 *
 * A multiprocessor works on one tile at a time, and the last wave takes as long as a full one: tile and wave
 * quantisation (NVIDIA, Matrix Multiplication Background User's Guide). The library chooses tile and number of splits
 * of the depth. Splits add up their parts in memory, in FP32: a write and a read of the result each.
 *
 * s <= 1 is what a tile loses by its size. Per step of the depth it loads tm + tn numbers for tm x tn multiply-adds,
 * and the L2 cache gives all multiprocessors so many bytes a clock. To keep one fed, a number loaded must serve
 *   n = MACs per clock x 2 B / (L2 bytes per clock / SMs)
 *   V100 512 x 2 / (2048 / 80) = 40,  A100 1024 x 2 / (5120 / 108) = 43,  H100 2048 x 2 / (5120 / 132) = 106
 * multiply-adds: s = min(1, tm tn / (tm + tn) / n). On Hopper and Blackwell two multiprocessors of a cluster share
 * the longer side of what they load: tm tn / (shorter + longer / 2). So 64 x 64 runs at 0.74 on an A100 and 128 x 128
 * at 0.81 on an H100. n is the same for all types: FP8 has twice the MACs on half the bytes, TF32 the reverse.
 *
 * Sources: MACs per clock = peak / (2 x SMs x clock): A100 312e12 / (2 x 108 x 1.41e9) = 1024. L2: NVIDIA A100 white
 * paper (see there: 5120 B a clock, V100 2048); H100 as A100 and Blackwell's n as Hopper's are assumed;
 * MI300X: inferred, 16 channels of 128 B a clock for the 38 units of a die. Largest tiles: 256 x 128 to Blackwell
 * (the names of cuBLAS kernels), 256 x 256 on CDNA 3 and 4 (the macro tiles of hipBLASLt).
 */
#include "models/compute/roofline/tiles.h"

#include <math.h>

/* Pipeline filled, result written: two trips to memory of about half a microsecond (inferred: published
 * microbenchmarks show 0.4 to 0.8 us on V100 to H100). The depth counts in steps of 32, the amount that a software
 * pipeline loads at a time. */
static const double tile_overhead_s = 1e-6;
enum { DEPTH_STEP = 32, MAX_SPLITS = 16, N_TILES = 6 };

typedef struct {
  double rows, columns;
} Tile;

typedef struct {
  const char *architecture;
  double needed;      /* multiply-adds per number that keep a multiprocessor fed: n above */
  gboolean is_shared; /* by the two multiprocessors of a cluster */
  gboolean has_huge;  /* tiles of 256 x 256 */
} Feed;

static const Tile tiles[N_TILES] = { { 64, 64 },   { 64, 128 },  { 128, 64 },
                                     { 128, 128 }, { 128, 256 }, { 256, 128 } };
static const Tile huge = { 256, 256 };

static const Feed feeds[] = {
  { "volta", 40, FALSE, FALSE }, { "hopper", 106, TRUE, FALSE }, { "blackwell", 106, TRUE, FALSE },
  { "cdna3", 38, FALSE, TRUE },  { "cdna4", 76, FALSE, TRUE },   { NULL, 43, FALSE, FALSE },
};

static const Feed *
feed_of (const char *architecture)
{
  guint i = 0;

  while (feeds[i].architecture != NULL && g_strcmp0 (feeds[i].architecture, architecture) != 0)
    i++;
  return &feeds[i];
}

/* More multiply-adds per number than needed win nothing. */
static double
tile_speed (const Tile *tile, const Feed *feed)
{
  double shorter = fmin (tile->rows, tile->columns), longer = fmax (tile->rows, tile->columns);
  double loads = shorter + longer / (feed->is_shared ? 2 : 1);

  return fmin (1, shorter * longer / loads / feed->needed);
}

static double
compute_seconds (const FabMatmul *matmul, const Tile *tile, double splits, double n_sms,
                 double sm_flops_per_s)
{
  double n_tiles = ceil (matmul->rows / tile->rows) * ceil (matmul->columns / tile->columns) * splits
                 * matmul->n_copies;
  double depth = ceil (matmul->depth / splits / DEPTH_STEP) * DEPTH_STEP;
  double tile_s = 2 * tile->rows * tile->columns * depth / sm_flops_per_s + tile_overhead_s;

  return ceil (n_tiles / n_sms) * tile_s;
}

static double
least_over_splits (const FabMatmul *matmul, const Tile *tile, double n_sms, double sm_flops_per_s,
                   double memory_bytes_per_s)
{
  double results = matmul->rows * matmul->columns * matmul->n_copies;
  double least = INFINITY;

  for (guint splits = 1; splits <= MAX_SPLITS; splits *= 2) {
    double sums_s = splits > 1 ? 2.0 * 4 * splits * results / memory_bytes_per_s : 0;

    least = fmin (least, compute_seconds (matmul, tile, splits, n_sms, sm_flops_per_s) + sums_s);
  }
  return least;
}

double
fab_tiles_seconds (const FabDevice *device, const FabReachedRates *rates, const FabMatmul *matmul,
                   double operand_bytes, double result_bytes)
{
  const Feed *feed = feed_of (device->architecture);
  double bytes = ((matmul->rows + matmul->columns) * matmul->depth * operand_bytes
                  + matmul->rows * matmul->columns * result_bytes)
               * matmul->n_copies;
  double flops = 2 * matmul->rows * matmul->columns * matmul->depth * matmul->n_copies;
  double memory_s = bytes / rates->memory_bytes_per_s, least = INFINITY;

  if (device->n_sms == 0)
    return fmax (flops / rates->flops_per_s, memory_s);
  for (guint i = 0; i <= N_TILES; i++) {
    const Tile *tile = i < N_TILES ? &tiles[i] : &huge;
    double sm_flops_per_s = rates->flops_per_s / device->n_sms * tile_speed (tile, feed);

    if (i == N_TILES && !feed->has_huge)
      continue;
    least = fmin (least,
                  least_over_splits (matmul, tile, device->n_sms, sm_flops_per_s, rates->memory_bytes_per_s));
  }
  return fmax (least, memory_s);
}
