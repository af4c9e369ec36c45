/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_nvls.c - reductions by the switch of one node (models/library/nccl/nvls.c): rounds, and what they take. */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = 23007, KIB = 1024, MIB = 1024 * 1024 };

/* A round is a chunk for every head of every channel. Chunks have 128 KiB from 64 rounds of these on, 64 KiB from 8
 * rounds of 64 on, 32 KiB from 2 rounds of 32 on, and 16 KiB below. */
static void
rounds_of_the_switch_go_by_the_size (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_gpus, most_channels, n_channels, n_heads;
  } rows[] = { { 2, 32, 16, 2 }, { 8, 32, 16, 8 }, { 8, 5, 5, 8 }, { 32, 32, 16, 32 }, { 72, 32, 16, 32 } };
  static const struct {
    FabBytes from_kib, chunk_kib; /* of each head of each channel */
  } chunks[] = { { 0, 16 }, { 2 * 32, 32 }, { 8 * 64, 64 }, { 64 * 128, 128 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    CandidateSpec spec = { "hopper", "nvls", NEWEST, 1, rows[i].n_gpus, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 1 };
    FabBytes n = (FabBytes) rows[i].n_channels * rows[i].n_heads * KIB;
    Candidate one;

    candidate_make (&one, &spec);
    one.self.most_channels = rows[i].most_channels;
    assert_int_equal (nccl_nvls_round_bytes (&one.self), n * 16);
    for (guint k = 1; k < G_N_ELEMENTS (chunks); k++) {
      one.self.bytes = n * chunks[k].from_kib - 1;
      assert_int_equal (nccl_nvls_round_bytes (&one.self), n * chunks[k - 1].chunk_kib);
      one.self.bytes++;
      assert_int_equal (nccl_nvls_round_bytes (&one.self), n * chunks[k].chunk_kib);
    }
  }
}

/* What was measured of one node's switch is known where reductions over it run and a base was measured. */
static void
one_switch_of_one_node_was_measured (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 8; i++) {
    CandidateSpec spec = { "hopper",
                           (i & 1) != 0 ? "nvls" : "tree",
                           NEWEST,
                           (i & 2) != 0 ? 1 : 2,
                           8,
                           NCCL_SIMPLE,
                           FAB_OP_ALL_REDUCE,
                           MIB };
    Candidate one;

    candidate_make (&one, &spec);
    one.generation.node_switch.base_ps = (i & 4) != 0 ? 1 : 0;
    assert_ptr_equal (nccl_switch_cost (&one.self), i == 7 ? &one.generation.node_switch : NULL);
  }
}

/* 16 channels x 8 GPUs x 128 KiB are a known round, which takes 16.777 us at 1000 GB/s with all of its latency. A
 * switch that fills and drains adds the base and some rounds. Rounds that are shorter take the root of the squares of
 * latency and of what the known round would need without it; a latency as long as the known round hides all bytes.
 */
static void
short_rounds_over_the_switch_show_their_latency (G_GNUC_UNUSED void **state)
{
  const double known_us = 16.0 * 8 * 128 * KIB / 1e6, base_us = 5, fill = 3;
  static const struct {
    guint n_gpus;
    double share;      /* of the rate of links */
    guint round_kib;   /* chunk of each head and channel */
    double latency_us; /* in known rounds */
  } rows[] = { { 8, 1, 128, 0.5 }, { 8, 1, 64, 0.5 }, { 8, 1, 32, 0.5 },   { 8, 1, 16, 0.5 },
               { 8, 1, 16, 0.9 },  { 8, 1, 16, 1 },   { 8, 1, 32, 2 },     { 8, 1, 128, 2 },
               { 4, 1, 128, 0.5 }, { 4, 1, 16, 0.5 }, { 64, 0.8, 128, 1 }, { 64, 0.8, 16, 0.5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    static const guint least_rounds[] = { [16] = 1, [32] = 2, [64] = 8, [128] = 64 };
    guint n_heads = MIN (rows[i].n_gpus, 32);
    FabBytes round = (FabBytes) 16 * n_heads * rows[i].round_kib * KIB;
    CandidateSpec spec = { "hopper",
                           "nvls",
                           NEWEST,
                           1,
                           rows[i].n_gpus,
                           NCCL_SIMPLE,
                           FAB_OP_ALL_REDUCE,
                           round * least_rounds[rows[i].round_kib] };
    double n_rounds = least_rounds[rows[i].round_kib], wire_us = (double) round / 1e6 / rows[i].share,
           latency_us = rows[i].latency_us * known_us;
    double known_share_us = known_us / rows[i].share,
           bare_us = latency_us >= known_share_us
                       ? 0
                       : wire_us / known_share_us
                             * sqrt (known_share_us * known_share_us - latency_us * latency_us);
    double round_us = MAX (wire_us, sqrt (bare_us * bare_us + latency_us * latency_us));
    Candidate one;

    candidate_make (&one, &spec);
    one.footprint.rate_bytes_per_s = 1e12;
    one.generation.node_switch = (FabSwitchCost){ .base_ps = 5000000,
                                                  .latency_ps = (FabTimePs) (latency_us * 1e6),
                                                  .n_rounds = fill,
                                                  .many_gpus = 64,
                                                  .many_share = 0.8 };
    assert_int_equal (nccl_nvls_round_bytes (&one.self), round);
    assert_near (nccl_switch_startup_us (&one.self, &one.generation.node_switch),
                 base_us + fill * round_us + n_rounds * (round_us - wire_us), 1e-5);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rounds_of_the_switch_go_by_the_size),
    cmocka_unit_test (one_switch_of_one_node_was_measured),
    cmocka_unit_test (short_rounds_over_the_switch_show_their_latency),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
