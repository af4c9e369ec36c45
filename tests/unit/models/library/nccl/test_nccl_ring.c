/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_ring.c - what rings inside one node take where they were measured (models/library/nccl/ring.c), and what
 * kernels on registered buffers take (symmetric.c). Eight GPUs with 100 GB/s: a ring of an all-reduce has 14 steps, and
 * 7/4 of the size cross each link.
 */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = 23007, KNOWN_STEPS = 14 };

static const double GIB = 1 << 30, US = 1e6;

static void
make (Candidate *to, FabOp op, FabBytes bytes)
{
  candidate_make (to, &(CandidateSpec){ "hopper", "ring", NEWEST, 1, 8, NCCL_SIMPLE, op, bytes });
  to->form.n_intra_steps = op == FAB_OP_ALL_REDUCE ? 14 : 7;
  to->footprint.rate_bytes_per_s = 100e9;
  to->generation.rings.simple.base_ps = 1;
}

/* Of the protocol that runs, for rings of operations that go round, inside one node and over links of their own. */
static void
measured_rings_are_those_of_one_node (G_GNUC_UNUSED void **state)
{
  Candidate one;

  for (FabOp op = 0; op < FAB_N_OPS; op++) {
    make (&one, op, 1);
    gboolean is_loop = op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER;
    assert_ptr_equal (nccl_ring_cost (&one.self), is_loop ? &one.generation.rings.simple : NULL);
  }
  make (&one, FAB_OP_ALL_REDUCE, 1);
  for (NcclProtocol protocol = 0; protocol < NCCL_N_PROTOCOLS; protocol++) {
    FabRingCosts *rings = &one.generation.rings;
    FabRingCost *costs[] = {
      [NCCL_LL] = &rings->ll, [NCCL_LL128] = &rings->ll128, [NCCL_SIMPLE] = &rings->simple
    };

    one.self.protocol = protocol;
    costs[protocol]->base_ps = 0;
    assert_null (nccl_ring_cost (&one.self));
    costs[protocol]->base_ps = 1;
    assert_ptr_equal (nccl_ring_cost (&one.self), costs[protocol]);
  }
  one.group.n_nodes = 2;
  assert_null (nccl_ring_cost (&one.self));
  one.group.n_nodes = 1;
  one.form.intra_kind = FAB_HOP_STAGED;
  assert_null (nccl_ring_cost (&one.self));
  one.form.intra_kind = FAB_HOP_DIRECT;
  one.self.algorithm = nccl_algorithm ("tree");
  assert_null (nccl_ring_cost (&one.self));
}

/* A step alone takes 3 us. Where the link takes 4 us for a step's bytes, both together take 5, of which 1 is more than
 * the bytes. A channel that has a rate of its own waits for every step. */
static void
steps_hide_behind_bytes (G_GNUC_UNUSED void **state)
{
  FabRingCost cost = { .base_ps = 1, .step_ps = 3 * 1000000 };
  Candidate one;

  make (&one, FAB_OP_ALL_REDUCE, 0);
  assert_near (nccl_ring_steps_us (&one.self, &cost), 14 * 3, 1e-12);
  one.self.bytes = 14 * 4 * 100000;
  assert_near (nccl_ring_steps_us (&one.self, &cost), 14 * (5 - 4), 1e-9);
  cost.channel_bytes_per_s = 1;
  assert_near (nccl_ring_steps_us (&one.self, &cost), 14 * 3, 1e-12);
  make (&one, FAB_OP_ALL_GATHER, 7 * 4 * 100000);
  cost.channel_bytes_per_s = 0;
  assert_near (nccl_ring_steps_us (&one.self, &cost), 7 * (5 - 4), 1e-9);
}

/* The drift grows with the root of the bytes in GB that cross a link. The rates of links contain that of 14 GiB, 8 GiB
 * in 14 steps: there nothing is left, and at a quarter half of the root, less a quarter of it that the rate has. */
static void
drift_grows_with_the_root_of_the_bytes (G_GNUC_UNUSED void **state)
{
  const FabRingCost cost = { .base_ps = 1, .drift_ps = 60 * 1000000 };
  const double known_us = 60 * sqrt (14 * GIB / 1e9);
  Candidate one;

  make (&one, FAB_OP_ALL_REDUCE, (FabBytes) (8 * GIB));
  assert_true (fabs (nccl_ring_steps_us (&one.self, &cost)) < 1e-6);
  one.self.bytes /= 4;
  assert_near (nccl_ring_steps_us (&one.self, &cost), known_us / 4, 1e-9);
  one.self.bytes /= 4;
  assert_near (nccl_ring_steps_us (&one.self, &cost), known_us * (1 / 4.0 - 1 / 16.0), 1e-9);
  one.self.bytes *= 64;
  assert_true (fabs (nccl_ring_steps_us (&one.self, &cost)) < 1e-6);
  make (&one, FAB_OP_ALL_GATHER, (FabBytes) (4 * GIB)); /* 7/8 of the size cross a link: 3.5 GiB */
  assert_near (nccl_ring_steps_us (&one.self, &cost), known_us / 4, 1e-9);
}

/* Four channels of 20 GB/s that copy at 40 GB/s once in 14 or 7 steps, for 7/4 or 7/8 of the size. */
static void
channels_send_and_copy_in_turn (G_GNUC_UNUSED void **state)
{
  FabRingCost cost = { .base_ps = 1, .channel_bytes_per_s = 20000000000 };
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_REDUCE_SCATTER };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    double factor = i == 0 ? 7 / 4.0 : 7 / 8.0, steps = i == 0 ? 14 : 7;
    Candidate one;

    make (&one, ops[i], 1);
    one.self.n_channels = 4;
    cost.copy_bytes_per_s = 0;
    assert_near (nccl_ring_limit_bytes_per_s (&one.self, &cost), 4 * 20e9 / factor, 1e-12);
    cost.copy_bytes_per_s = 40000000000;
    assert_near (nccl_ring_limit_bytes_per_s (&one.self, &cost), 4 / factor / (1 / 20e9 + 1 / 40e9 / steps),
                 1e-12);
  }
}

/* The rate of links contains the copy once in 14 steps. Where there are fewer steps, and few channels, copies count for
 * more. Where there are more steps than that, and copies are slow, nothing limits. */
static void
links_contain_the_copy_of_what_was_measured (G_GNUC_UNUSED void **state)
{
  FabRingCost cost = { .base_ps = 1, .copy_bytes_per_s = 40000000000 };
  Candidate one;

  make (&one, FAB_OP_ALL_REDUCE, 1);
  one.self.n_channels = 4;
  assert_near (nccl_ring_limit_bytes_per_s (&one.self, &cost), 100e9, 1e-12);
  one.form.n_intra_steps = 2;
  assert_near (nccl_ring_limit_bytes_per_s (&one.self, &cost),
               1 / (1 / 100e9 + 7 / 4.0 / 4 / 40e9 * (1 / 2.0 - 1.0 / KNOWN_STEPS)), 1e-12);
  cost.copy_bytes_per_s = 0;
  assert_near (nccl_ring_limit_bytes_per_s (&one.self, &cost), 100e9, 1e-12);
  one.form.n_intra_steps = 30;
  cost.copy_bytes_per_s = 1000000;
  assert_true (nccl_ring_limit_bytes_per_s (&one.self, &cost) == 0);
}

/* --- kernels on registered buffers (symmetric.c), by the model that the file's head quotes --- */

/* What a kernel moves of `bytes`, and how fast a block of it and the whole can, in GiB/s. */
typedef struct {
  const char *model;
  gboolean is_ll;
  double moved, block, peak;
  guint most_blocks;
} Kernel;

static double
kernel_us (const Kernel *kernel, guint n_blocks, double softness)
{
  double rate = kernel->peak
              - softness
                    * log (
                        1 + (exp (kernel->peak / softness) - 1) * exp (-kernel->block * n_blocks / softness));
  double x = kernel->moved / GIB / rate * US - 1;

  return x > 500 ? x : log (1 + exp (x));
}

/* Bases, blocks and peaks of Hopper and of Blackwell; a switch has as many blocks for all ranks as 16 or 32. */
static void
list_kernels (FabOp op, gboolean is_old, double n, double bytes, Kernel kernels[3])
{
  gboolean reduces_all = op == FAB_OP_ALL_REDUCE;
  double block = !is_old     ? 55
               : reduces_all ? 65
                             : 44,
         peak = is_old ? 320 : 600, part = reduces_all ? bytes : bytes / n;

  kernels[0] = (Kernel){ "direct", TRUE, 9 * n * part, block, peak, 64 };
  kernels[1] = (Kernel){ "direct", FALSE, reduces_all ? 2 * bytes * (n - 1) / n : (n - 1) * part,
                         block,    peak,  64 };
  kernels[2] = (Kernel){ "nvls",
                         FALSE,
                         reduces_all ? bytes + bytes / n : (n - 1) * part,
                         block * n * (reduces_all ? 1 : 0.55),
                         !reduces_all ? peak
                         : is_old     ? 480
                                      : 1000,
                         (guint) ceil ((is_old ? 16 : 32) / n) };
}

static double
base_of (FabOp op, gboolean is_old, gboolean is_ll)
{
  if (is_old)
    return is_ll ? 4.5 : 7.8;
  if (is_ll)
    return op == FAB_OP_ALL_GATHER ? 8.5 : 11;
  return op == FAB_OP_ALL_REDUCE ? 19.5 : 13;
}

/* The fastest kernel runs, each with the fewest blocks that take at most 1.025 of the time that the most take. */
static void
the_fastest_kernel_runs (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };

  for (guint n = 2; n <= 72; n += n < 9 ? 1 : 9)
    for (guint i = 0; i < 2 * G_N_ELEMENTS (ops); i++)
      for (FabBytes bytes = 1 << 10; bytes <= (FabBytes) 1 << 32; bytes *= 2) {
        gboolean is_old = i % 2 == 0;
        FabOp op = ops[i / 2];
        double least_us = HUGE_VAL;
        NcclSymmetric found;
        Kernel kernels[3];
        Candidate one;

        candidate_make (&one, &(CandidateSpec){ is_old ? "hopper" : "blackwell", "ring", NEWEST, 1, n,
                                                NCCL_SIMPLE, op, bytes });
        one.search.nvls.n = 2;
        assert_true (nccl_symmetric (&one.self, &found));
        list_kernels (op, is_old, n, (double) bytes, kernels);
        for (guint k = 0; k < 3; k++) {
          double softness = kernels[1].block, base = base_of (op, is_old, kernels[k].is_ll),
                 best = base + kernel_us (&kernels[k], kernels[k].most_blocks, softness);
          guint blocks = 1;

          while (base + kernel_us (&kernels[k], blocks, softness) > 1.025 * best)
            blocks++;
          least_us = MIN (least_us, base + kernel_us (&kernels[k], blocks, softness));
          if (strcmp (found.model, kernels[k].model) == 0
              && strcmp (found.protocol, kernels[k].is_ll ? "ll" : "simple") == 0) {
            assert_int_equal (found.n_blocks, blocks);
            assert_near (found.base_us, base, 1e-12);
          }
        }
        assert_near (found.base_us + found.move_us, least_us, 1e-9);
      }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (measured_rings_are_those_of_one_node),
    cmocka_unit_test (steps_hide_behind_bytes),
    cmocka_unit_test (drift_grows_with_the_root_of_the_bytes),
    cmocka_unit_test (channels_send_and_copy_in_turn),
    cmocka_unit_test (links_contain_the_copy_of_what_was_measured),
    cmocka_unit_test (the_fastest_kernel_runs),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
