/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_messages.c - the messages between nodes into which chunks are cut (models/library/nccl/messages.c), and
 * kernels on registered buffers (symmetric.c), by hand from NCCL's src/device/prims_simple.h and src/sym_kernels.cc.
 *
 * A ring of 2 x 8 ranks with two channels: the part of a rank in a channel is 1 / 32 of the size.
 */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = 23007, KIB = 1024, PARTS = 32 };

static void
make (Candidate *to, const char *architecture, const char *model, NcclProtocol protocol, FabBytes bytes)
{
  candidate_make (to,
                  &(CandidateSpec){ architecture, model, NEWEST, 2, 8, protocol, FAB_OP_ALL_REDUCE, bytes });
  to->self.n_channels = 2;
}

/* Simple has two slices of at least 32 KiB, of at most 1 MiB each; LL has steps of 32 KiB of data, which are 64 on the
 * wire; LL128 has steps of 576000 B, and 16 / 15 of it on the wire. */
static void
parts_of_rings_are_cut_into_messages (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture;
    NcclProtocol protocol;
    FabBytes part, message;
    guint n;
  } rows[] = {
    { "ampere", NCCL_SIMPLE, 0, 1, 1 },
    { "ampere", NCCL_SIMPLE, 20000, 20000, 1 },
    { "ampere", NCCL_SIMPLE, 32768, 32768, 1 },
    { "ampere", NCCL_SIMPLE, 40000, 32768, 2 },
    { "ampere", NCCL_SIMPLE, 65536, 32768, 2 },
    { "ampere", NCCL_SIMPLE, 70000, 35000, 2 },
    { "ampere", NCCL_SIMPLE, 2048 * KIB, 1024 * KIB, 2 },
    { "ampere", NCCL_SIMPLE, 4096 * KIB, 1024 * KIB, 4 },
    { "ampere", NCCL_LL, 30000, 60000, 1 },
    { "ampere", NCCL_LL, 100000, 65536, 4 },
    { "ampere", NCCL_LL128, 1200, 1280, 1 },
    { "ampere", NCCL_LL128, 1000000, 614400, 2 },
    { "cdna2", NCCL_SIMPLE, 65536, 32768, 2 },
    { "cdna2", NCCL_LL, 100000, 32768, 7 },    /* 256 threads have 16 KiB */
    { "cdna2", NCCL_LL128, 100000, 57344, 2 }, /* 50176 B, and 8 / 7 of it on the wire */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Candidate one;
    guint n;

    make (&one, rows[i].architecture, "ring", rows[i].protocol, PARTS * rows[i].part);
    assert_int_equal (nccl_message_bytes (&one.self, &n), rows[i].message);
    assert_int_equal (n, rows[i].n);
  }
}

/* A tree sends one chunk of each channel at a time: half of the size, or a step. */
static void
chunks_of_trees_are_messages (G_GNUC_UNUSED void **state)
{
  static const struct {
    NcclProtocol protocol;
    FabBytes bytes, message;
  } rows[] = { { NCCL_SIMPLE, 1000, 500 },  { NCCL_SIMPLE, 4096 * KIB, 512 * KIB },
               { NCCL_LL, 1000, 1000 },     { NCCL_LL, 4096 * KIB, 64 * KIB },
               { NCCL_LL128, 12000, 6400 }, { NCCL_LL128, (FabBytes) 1 << 30, 614400 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Candidate one;
    guint n;

    make (&one, "ampere", "tree", rows[i].protocol, rows[i].bytes);
    assert_int_equal (nccl_message_bytes (&one.self, &n), rows[i].message);
    assert_int_equal (n, 1);
  }
}

/* Messages of 64 KiB and more go by rendezvous, which costs a handshake in each step but for Simple, whose steps
 * overlap it. */
static void
long_messages_shake_hands (G_GNUC_UNUSED void **state)
{
  FabLinkClass port = { .rendezvous = { .from_bytes = 64 * KIB, .handshake_ps = 3000000 } };
  Candidate one;

  make (&one, "ampere", "ring", NCCL_LL, PARTS * 32 * KIB);
  assert_null (nccl_rendezvous (&one.self));
  one.wires.port = &port;
  assert_ptr_equal (nccl_rendezvous (&one.self), &port.rendezvous);
  assert_near (nccl_handshakes_us (&one.self, 7), 21, 1e-12);
  one.self.bytes -= PARTS;
  assert_null (nccl_rendezvous (&one.self));
  assert_true (nccl_handshakes_us (&one.self, 7) == 0);
  make (&one, "ampere", "ring", NCCL_SIMPLE, PARTS * 128 * KIB);
  one.wires.port = &port;
  assert_ptr_equal (nccl_rendezvous (&one.self), &port.rendezvous);
  assert_true (nccl_handshakes_us (&one.self, 7) == 0);
  port.rendezvous.from_bytes = 0;
  assert_null (nccl_rendezvous (&one.self));
}

/* A processor matches messages where the nodes or the parameters say so, but not those of Simple, which adapters
 * fetch. */
static void
processors_match_where_they_are_told (G_GNUC_UNUSED void **state)
{
  const FabLinkClass port = { .software_match_ps = 4000000 };
  Candidate one;

  make (&one, "ampere", "ring", NCCL_LL, KIB);
  one.wires.port = &port;
  assert_true (nccl_step_match_us (&one.self) == 0);
  one.cluster.has_software_matching = TRUE;
  assert_near (nccl_step_match_us (&one.self), 4, 1e-12);
  assert_true (nccl_match_us (&one.self, NULL) == 0);
  one.params.matching = NCCL_MATCHING_HARDWARE;
  assert_true (nccl_step_match_us (&one.self) == 0);
  one.cluster.has_software_matching = FALSE;
  one.params.matching = NCCL_MATCHING_SOFTWARE;
  assert_near (nccl_step_match_us (&one.self), 4, 1e-12);
  one.self.protocol = NCCL_SIMPLE;
  assert_true (nccl_step_match_us (&one.self) == 0);
  assert_near (nccl_match_us (&one.self, &port), 4, 1e-12);
}

/* A ring's all-reduce has 30 steps of 16 ranks, and four messages of LL in each of two channels: 240 of them take a
 * port 5 us each, which two rails share, or a processor 4 us. The plan says 100 us. Simple in GPUs' memory takes 2
 * us. */
static void
messages_pass_a_port_one_after_another (G_GNUC_UNUSED void **state)
{
  FabLinkClass port = { .rendezvous = {
                            .from_bytes = 1, .message_ps = 2000000, .host_message_ps = 5000000 } };
  FabCollectivePlan plan = { .startup_ps = 100000000 };
  Candidate one;

  make (&one, "ampere", "ring", NCCL_LL, PARTS * 100000);
  plan.footprint = &one.footprint;
  one.footprint.rate_bytes_per_s = one.footprint.line_bound_bytes_per_s = 1e9;
  plan.wire_factor = 1;
  one.form.n_channels = 2;
  assert_int_equal (nccl_messages_ps (&one.self, &plan), 0);
  one.wires.port = &port;
  assert_near ((double) nccl_messages_ps (&one.self, &plan) / 1e6, 240 * 2.5 - 100, 1e-9);
  port.software_match_ps = 4000000;
  one.params.matching = NCCL_MATCHING_SOFTWARE;
  assert_near ((double) nccl_messages_ps (&one.self, &plan) / 1e6, 240 * 4.0 - 100, 1e-9);
  one.self.protocol = NCCL_SIMPLE;
  one.self.bytes = PARTS * 65536;
  assert_near ((double) nccl_messages_ps (&one.self, &plan) / 1e6, 30 * 2 * 2 * 1.0 - 100, 1e-9);
  one.self.op = FAB_OP_BROADCAST;
  assert_int_equal (nccl_messages_ps (&one.self, &plan), 0);
}

static void
rings_over_nodes_are_rounds (G_GNUC_UNUSED void **state)
{
  Candidate one;

  make (&one, "ampere", "ring", NCCL_LL, KIB);
  for (guint op = 0; op < FAB_N_OPS; op++) {
    one.self.op = (FabOp) op;
    assert_int_equal (nccl_is_round (&one.self), op != FAB_OP_BROADCAST && op != FAB_OP_REDUCE);
  }
  one.self.op = FAB_OP_ALL_REDUCE;
  one.group.n_nodes = 1;
  assert_false (nccl_is_round (&one.self));
  make (&one, "ampere", "tree", NCCL_LL, KIB);
  assert_false (nccl_is_round (&one.self));
}

/* --- kernels on registered buffers --- */

static gboolean
symmetric (const char *architecture, FabOp op, FabBytes bytes, NcclSymmetric *fastest)
{
  Candidate one;

  candidate_make (&one, &(CandidateSpec){ architecture, "ring", NEWEST, 1, 8, NCCL_SIMPLE, op, bytes });
  one.search.nvls.n = 8;
  return nccl_symmetric (&one.self, fastest);
}

/* 8 B: LL moves 9 x 8 x 8 B of an all-reduce and 9 x 8 of other operations, which is next to nothing: softplus (-1) =
 * 0.3133 us, and one block does. Hopper begins after 4.5 us, Blackwell after 11, an all-gather of it after 8.5. */
static void
small_kernels_use_flags (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture;
    FabOp op;
    double base_us;
  } rows[] = { { "hopper", FAB_OP_ALL_REDUCE, 4.5 },     { "hopper", FAB_OP_ALL_GATHER, 4.5 },
               { "hopper", FAB_OP_REDUCE_SCATTER, 4.5 }, { "blackwell", FAB_OP_ALL_REDUCE, 11 },
               { "blackwell", FAB_OP_ALL_GATHER, 8.5 },  { "blackwell", FAB_OP_REDUCE_SCATTER, 11 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    NcclSymmetric found;

    assert_true (symmetric (rows[i].architecture, rows[i].op, 8, &found));
    assert_string_equal (found.model, "direct");
    assert_string_equal (found.protocol, "ll");
    assert_int_equal (found.n_blocks, 1);
    assert_near (found.base_us, rows[i].base_us, 1e-12);
    assert_near (found.move_us, log1p (exp (-1)), 1e-2);
  }
}

/* 1 GiB over eight GPUs; rates in GiB/s. The bytes less 1 us, with the fewest blocks that take at most 1.025 of the
 * time that the most take:
 *
 *   Hopper     all-reduce, switch: 9/8 of the size at 480 - 0.01, two blocks of 65 x 8 (one has 452)
 *              all-gather: 7/8 at 312.80 with nine blocks of 44; the switch has 311.35 with 2 x 44 x 0.55 x 8
 *   Blackwell  all-reduce, switch: 9/8 at 999.84, three blocks of 55 x 8 (two have 874)
 *              all-gather, switch: 7/8 at 600 - 55 ln (1 + (e^(600 / 55) - 1) e^(-726 / 55)) = 594.70, three blocks of
 *              55 x 0.55 x 8 = 242; thirteen blocks of 55 without it have 593.59
 */
static void
large_kernels_take_the_bytes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture, *model;
    FabOp op;
    guint n_blocks;
    double base_us, part, GiB_per_s;
  } rows[] = {
    { "hopper", "nvls", FAB_OP_ALL_REDUCE, 2, 7.8, 9 / 8.0, 479.99 },
    { "hopper", "direct", FAB_OP_ALL_GATHER, 9, 7.8, 7 / 8.0, 312.80 },
    { "hopper", "direct", FAB_OP_REDUCE_SCATTER, 9, 7.8, 7 / 8.0, 312.80 },
    { "blackwell", "nvls", FAB_OP_ALL_REDUCE, 3, 19.5, 9 / 8.0, 999.84 },
    { "blackwell", "nvls", FAB_OP_ALL_GATHER, 3, 13, 7 / 8.0, 594.70 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    NcclSymmetric found;

    assert_true (symmetric (rows[i].architecture, rows[i].op, 1 << 30, &found));
    assert_string_equal (found.model, rows[i].model);
    assert_string_equal (found.protocol, "simple");
    if (found.n_blocks != rows[i].n_blocks)
      fail_msg ("row %u has %u blocks, %g GiB/s", i, found.n_blocks,
                rows[i].part * 1e6 / (found.move_us + 1));
    assert_near (found.base_us, rows[i].base_us, 1e-12);
    assert_near (found.move_us, rows[i].part / rows[i].GiB_per_s * 1e6 - 1, 1e-4);
  }
}

/* They came with 2.27.3, for Hopper and later, inside one node whose switch reduces. */
static void
older_machines_have_no_such_kernels (G_GNUC_UNUSED void **state)
{
  NcclSymmetric found;
  Candidate one;

  candidate_make (&one, &(CandidateSpec){ "hopper", "ring", 22703, 1, 8, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 8 });
  one.search.nvls.n = 2;
  assert_true (nccl_symmetric (&one.self, &found));
  one.search.nvls.n = 1;
  assert_false (nccl_symmetric (&one.self, &found));
  one.search.nvls.n = 2;
  one.self.version = 22702;
  assert_false (nccl_symmetric (&one.self, &found));
  one.self.version = 22703;
  one.group.n_nodes = 2;
  assert_false (nccl_symmetric (&one.self, &found));
  one.group.n_nodes = 1;
  one.self.op = FAB_OP_BROADCAST;
  assert_false (nccl_symmetric (&one.self, &found));
  one.self.op = FAB_OP_ALL_REDUCE;
  one.self.architecture = nccl_architecture ("ampere");
  assert_false (nccl_symmetric (&one.self, &found));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parts_of_rings_are_cut_into_messages),
    cmocka_unit_test (chunks_of_trees_are_messages),
    cmocka_unit_test (long_messages_shake_hands),
    cmocka_unit_test (processors_match_where_they_are_told),
    cmocka_unit_test (messages_pass_a_port_one_after_another),
    cmocka_unit_test (rings_over_nodes_are_rounds),
    cmocka_unit_test (small_kernels_use_flags),
    cmocka_unit_test (large_kernels_take_the_bytes),
    cmocka_unit_test (older_machines_have_no_such_kernels),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
