/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_domain.c - the time of sends inside one domain, by the formula of models/library/nccl/p2p.c. */
#include "models/library/nccl/p2p.h"
#include "tests/unit/models/library/nccl/candidate.h"

#define KIB G_GUINT64_CONSTANT (1024)
#define MIB (KIB * 1024)

/* GPUs of one domain that send `send` to each peer over 32 channels: a rate of 0 is a bus, on which a GPU sends
 * `links_GBps` to all others. */
typedef struct {
  guint n;
  FabOp op;
  FabBytes send;
  double pair_GBps, links_GBps;
} Domain;

static void
domain_make (Candidate *c, const Domain *domain)
{
  gboolean is_pair = domain->op == FAB_OP_SEND_RECV;

  candidate_make (c, &(CandidateSpec){ .architecture = "ampere",
                                       .model = "direct",
                                       .version = 22902,
                                       .n_nodes = 1,
                                       .gpus_per_node = domain->n,
                                       .protocol = NCCL_SIMPLE,
                                       .op = domain->op,
                                       .bytes = domain->send * (is_pair ? 1 : domain->n) });
  c->generation.sends = test_generation.sends;
  c->wires.pair_bytes_per_s = domain->pair_GBps * 1e9;
  c->form.intra_technology = domain->pair_GBps > 0 ? &test_nvlink : &test_pcie;
  c->footprint.rate_bytes_per_s = domain->links_GBps * 1e9 * (is_pair ? 1 : domain->n / (domain->n - 1.0));
  c->self.protocol = nccl_p2p_protocol (&c->self);
}

static double
stream_us (const Candidate *c)
{
  return (double) c->self.bytes / nccl_p2p_bytes_per_s (&c->self) * 1e6;
}

/* Long sends use all 32 channels each. A channel then works on the sends to all n - 1 others at once, and on that to
 * itself: they share its rate, and of its 20 warps floor (20 / n) are for one send and one receive. Of more than four
 * warps the half of them, rounded up after one is taken off, sends; seven of them carry the rate of a channel. */
static void
long_sends_share_channels_and_warps (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n;
    double share;
  } rows[] = { { 2, 5.0 / 7 }, { 3, 3.0 / 7 }, { 4, 1.0 / 3 }, { 5, 1.0 / 4 },
               { 6, 1.0 / 7 }, { 7, 1.0 / 7 }, { 8, 1.0 / 7 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Domain domain = { rows[i].n, FAB_OP_ALL_TO_ALL, 2048 * MIB, 320, 1e12 };
    double chunk_KB = 524.288, n_others = rows[i].n - 1, rate = 13.9 * rows[i].share;
    Candidate c;

    domain_make (&c, &domain);
    assert_int_equal (nccl_p2p_count_channels (&c.self), 32);
    assert_near (stream_us (&c), 64 * 1048.576 / rate, 1e-6);
    assert_near (nccl_p2p_base_us (&c.self, 0),
                 7.8 + 0.77 * 32 * n_others + chunk_KB / (21.2 * rows[i].share) + chunk_KB * n_others / 21.2
                     - chunk_KB / rate,
                 1e-6);
  }
}

/* 64 GPUs with a channel for each send: 32 channels make two rounds, in each of which one send is on a channel. Half of
 * the 63 channels for others are busy in each. */
static void
many_sends_make_rounds (G_GNUC_UNUSED void **state)
{
  const double chunk_KB = 524.288;

  for (guint chunks = 1; chunks <= 32; chunks *= 2) {
    const Domain domain = { 64, FAB_OP_ALL_TO_ALL, chunks * 512 * KIB, 320, 1e12 };
    Candidate c;

    domain_make (&c, &domain);
    assert_int_equal (nccl_p2p_count_channels (&c.self), 1);
    assert_near (stream_us (&c), 2 * chunks * chunk_KB / 13.9, 1e-6);
    assert_near (nccl_p2p_base_us (&c.self, 0),
                 7.8 + 0.77 * 31.5 + 2 * (2 * chunk_KB / 21.2 - chunk_KB / 13.9), 1e-6);
    /* What the steps take already is no startup, and a startup is never below zero. */
    assert_near (nccl_p2p_base_us (&c.self, 0) - nccl_p2p_base_us (&c.self, 20), 20, 1e-9);
    assert_true (nccl_p2p_base_us (&c.self, 1e6) == 0);
  }
}

/* LL: 9.7 us x (1 + 0.1 log2 n), a single send as between two, and each of its channels moves 4.9 GB/s: up to 16 KiB
 * for one, and over a bus, where parts have 16 KiB at least, as many for each of two. */
static void
short_sends_take_the_time_of_ll (G_GNUC_UNUSED void **state)
{
  static const struct {
    Domain domain;
    guint n_channels;
    double growth;
  } rows[] = {
    { { 2, FAB_OP_SEND_RECV, 16 * KIB, 320, 100 }, 1, 1.1 },
    { { 8, FAB_OP_SEND_RECV, 16 * KIB, 320, 100 }, 1, 1.1 },
    { { 2, FAB_OP_ALL_TO_ALL, 16 * KIB, 320, 100 }, 1, 1.1 },
    { { 4, FAB_OP_ALL_TO_ALL, 8 * KIB, 320, 100 }, 1, 1.2 },
    { { 8, FAB_OP_ALL_TO_ALL, 512, 320, 100 }, 1, 1.3 },
    { { 4, FAB_OP_ALL_TO_ALL, 32 * KIB, 0, 10 }, 2, 1.2 },
    { { 16, FAB_OP_GATHER, 16 * KIB, 320, 100 }, 1, 1.4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Domain longer = rows[i].domain;
    Candidate c;

    domain_make (&c, &rows[i].domain);
    assert_int_equal (c.self.protocol, NCCL_LL);
    assert_int_equal (nccl_p2p_count_channels (&c.self), rows[i].n_channels);
    assert_near (nccl_p2p_base_us (&c.self, 0), 9.7 * rows[i].growth, 1e-9);
    assert_near (stream_us (&c), (double) rows[i].domain.send / rows[i].n_channels / 4.9e3, 1e-9);
    longer.send += 16 * KIB * rows[i].n_channels;
    domain_make (&c, &longer);
    assert_int_equal (c.self.protocol, NCCL_SIMPLE);
  }
  /* A size that cannot be divided is rounded up: 16 KiB and a byte need Simple. */
  Candidate c;
  domain_make (&c, &(Domain){ 4, FAB_OP_ALL_TO_ALL, 16 * KIB, 320, 100 });
  c.self.bytes += 1;
  assert_int_equal (nccl_p2p_protocol (&c.self), NCCL_SIMPLE);
  c.self.bytes -= 1;
  assert_int_equal (nccl_p2p_protocol (&c.self), NCCL_LL);
}

/* Links wait for channels as much as the sharpness says, 2.1: where both carry as much, 2 to the power of 1 / 2.1 less
 * than each. A bus carries the least of both. */
static void
equal_limits_slow_each_other_down (G_GNUC_UNUSED void **state)
{
  const double alone_us = 8 * 1048.576 / 13.9; /* of 16 channels for each of two GPUs */
  Candidate c;

  domain_make (&c, &(Domain){ 2, FAB_OP_ALL_TO_ALL, 128 * MIB, 160, 1e12 });
  assert_int_equal (nccl_p2p_count_channels (&c.self), 16);
  assert_near (stream_us (&c), alone_us, 1e-6);
  domain_make (&c, &(Domain){ 2, FAB_OP_ALL_TO_ALL, 128 * MIB, 160, 16 * 13.9 });
  assert_near (stream_us (&c), alone_us * pow (2, 1 / 2.1), 1e-9);
  domain_make (&c, &(Domain){ 2, FAB_OP_ALL_TO_ALL, 128 * MIB, 160, 8 * 13.9 });
  assert_near (stream_us (&c), 2 * alone_us * pow (1 + pow (0.5, 2.1), 1 / 2.1), 1e-9);
  /* A single send, of however many GPUs: 32 MiB have two channels over one link. */
  for (guint n = 2; n <= 8; n *= 2) {
    domain_make (&c, &(Domain){ n, FAB_OP_SEND_RECV, 32 * MIB, 20, 2 * 13.9 });
    assert_int_equal (nccl_p2p_count_channels (&c.self), 2);
    assert_near (stream_us (&c), 16 * 1048.576 / 13.9 * pow (2, 1 / 2.1), 1e-9);
  }
  /* The bus: two channels for each of three others. */
  domain_make (&c, &(Domain){ 4, FAB_OP_ALL_TO_ALL, 4 * MIB, 0, 6 * 13.9 });
  assert_int_equal (nccl_p2p_count_channels (&c.self), 2);
  assert_near (stream_us (&c), 2 * 1048.576 / 13.9, 1e-9);
  domain_make (&c, &(Domain){ 4, FAB_OP_ALL_TO_ALL, 4 * MIB, 0, 3 * 13.9 });
  assert_near (stream_us (&c), 4 * 1048.576 / 13.9, 1e-9);
}

/* A generation without rates of sends has the tuner's base, and no limit but its links. */
static void
generations_without_rates_have_the_base_of_the_tuner (G_GNUC_UNUSED void **state)
{
  Candidate c;

  domain_make (&c, &(Domain){ 4, FAB_OP_ALL_TO_ALL, 4 * MIB, 320, 100 });
  c.generation.sends = (FabSends){ 0 };
  assert_true (nccl_p2p_bytes_per_s (&c.self) == 0);
  assert_near (nccl_p2p_base_us (&c.self, 0), c.self.tuning->base_us[NCCL_SIMPLE], 0);
  assert_true (nccl_p2p_base_us (&c.self, 0) > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (long_sends_share_channels_and_warps),
    cmocka_unit_test (many_sends_make_rounds),
    cmocka_unit_test (short_sends_take_the_time_of_ll),
    cmocka_unit_test (equal_limits_slow_each_other_down),
    cmocka_unit_test (generations_without_rates_have_the_base_of_the_tuner),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
