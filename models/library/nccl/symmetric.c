/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric.c - kernels on buffers that all ranks have registered at the same place (NCCL 2.27.3 and later).
 *
 * GPUs of one NVLink domain read and write each other's buffers, or the switch does it for them, without copies through
 * buffers of NCCL. Which kernel runs and how long it takes is NCCL's own model (src/sym_kernels.cc, v2.30.7,
 * queryModel_lsa):
 *
 *   base + softplus (bytes / bandwidth - 1), bandwidth = softmin (blocks x block's rate x multiplier, peak)
 *
 * No table here shows these kernels (nccl-tests registers only with -R), so that the numbers come from the source
 * alone. The links still limit the rate.
 */
#include <math.h>

#include "models/library/nccl/parts.h"

enum { MOST_BLOCKS = 64, LEAST_VERSION = 22703 }; /* ncclSymkMaxBlocks */

typedef struct {
  const char *model; /* whose links it uses */
  FabOp op;
  gboolean is_ll, by_switch;
  double ranks, bytes; /* bus bytes = (ranks x n + bytes) x bytes of one rank's part */
  double multiplier;   /* of a block's rate; of the switch's kernels for each rank */
} Kernel;

/* LL moves nine times the bytes: flags, and no unrolled loops (LL_BusFactor). Parts are S for all-reduce, S / n for the
 * others. All-reduces that read and write without the switch move 2 (n - 1) / n x S (see bus_bytes). */
static const Kernel kernels[] = {
  { "direct", FAB_OP_ALL_REDUCE, .is_ll = TRUE, .ranks = 9, .multiplier = 1 },
  { "direct", FAB_OP_ALL_REDUCE, .multiplier = 1 },
  { "nvls", FAB_OP_ALL_REDUCE, .by_switch = TRUE, .multiplier = 1 },
  { "direct", FAB_OP_ALL_GATHER, .is_ll = TRUE, .ranks = 9, .multiplier = 1 },
  { "direct", FAB_OP_ALL_GATHER, .ranks = 1, .bytes = -1, .multiplier = 1 },
  { "nvls", FAB_OP_ALL_GATHER, .by_switch = TRUE, .ranks = 1, .bytes = -1, .multiplier = 0.55 },
  { "direct", FAB_OP_REDUCE_SCATTER, .is_ll = TRUE, .ranks = 9, .multiplier = 1 },
  { "direct", FAB_OP_REDUCE_SCATTER, .ranks = 1, .bytes = -1, .multiplier = 1 },
  { "nvls", FAB_OP_REDUCE_SCATTER, .by_switch = TRUE, .ranks = 1, .bytes = -1, .multiplier = 0.55 },
};

static double
bus_bytes (const NcclCandidate *self, const Kernel *kernel)
{
  double n = self->n_ranks, bytes = (double) self->bytes;

  if (self->op != FAB_OP_ALL_REDUCE)
    return (kernel->ranks * n + kernel->bytes) * bytes / n;
  return kernel->is_ll     ? kernel->ranks * n * bytes
       : kernel->by_switch ? bytes / n + bytes
                           : 2 * bytes * (n - 1) / n;
}

static double
softmin (double x, double ceiling, double softness)
{
  return ceiling - softness * log1p (expm1 (ceiling / softness) * exp (-x / softness));
}

static double
softplus (double x)
{
  return x >= 100 ? x : log1p (exp (x));
}

/* Time beyond the base, in us, with so many blocks. Rates are GiB/s. */
static double
move_us (const NcclCandidate *self, const Kernel *kernel, guint n_blocks)
{
  const double bytes_per_us = (double) (1 << 30) / 1e6;
  gboolean is_old = self->architecture->generation < 10, reduces_all = self->op == FAB_OP_ALL_REDUCE;
  double block = (is_old ? reduces_all ? 65 : 44 : 55) * bytes_per_us;
  double peak = (reduces_all && kernel->by_switch ? is_old ? 480 : 1000 : is_old ? 320 : 600) * bytes_per_us;
  double multiplier = kernel->multiplier * (kernel->by_switch ? self->n_ranks : 1);

  return softplus (bus_bytes (self, kernel) / softmin (n_blocks * block * multiplier, peak, block) - 1);
}

static double
base_us (const NcclCandidate *self, const Kernel *kernel)
{
  if (self->architecture->generation < 10)
    return kernel->is_ll ? 4.5 : 7.8;
  if (kernel->is_ll)
    return self->op == FAB_OP_ALL_GATHER ? 8.5 : 11;
  return self->op == FAB_OP_ALL_REDUCE ? 19.5 : 13;
}

/* The fewest blocks that take at most 1.025 of the time that the most take. */
static NcclSymmetric
with_fewest_blocks (const NcclCandidate *self, const Kernel *kernel)
{
  guint by_switch = ((self->architecture->generation < 10 ? 16 : 32) + self->n_ranks - 1) / self->n_ranks;
  guint most = kernel->by_switch ? by_switch : MOST_BLOCKS, n = 1;
  double base = base_us (self, kernel), best_us = base + move_us (self, kernel, most);

  while (n < most && base + move_us (self, kernel, n) > 1.025 * best_us)
    n++;
  return (NcclSymmetric){ kernel->model, kernel->is_ll ? "ll" : "simple", n, base,
                          move_us (self, kernel, n) };
}

gboolean
nccl_symmetric (const NcclCandidate *common, NcclSymmetric *fastest)
{
  gboolean is_found = FALSE;

  if (common->version < LEAST_VERSION || common->architecture->generation < 9 || common->group->n_nodes > 1
      || common->search->nvls.n < 2)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    if (kernels[i].op != common->op)
      continue;
    NcclSymmetric one = with_fewest_blocks (common, &kernels[i]);

    if (!is_found || one.base_us + one.move_us < fastest->base_us + fastest->move_us)
      *fastest = one;
    is_found = TRUE;
  }
  return is_found;
}
