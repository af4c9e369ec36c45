/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_estimate.c - the latency that NCCL's tuner adds to an algorithm's bandwidth
 * (models/library/nccl/choose.c), by hand: steps inside nodes and between them, proxy threads, adapters, and the
 * plateau of long rings.
 */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = 23007 };

/* A ring and a tree of 12 channels with 30 GB/s inside nodes. */
static void
make (Candidate *to, const CandidateSpec *spec)
{
  candidate_make (to, spec);
  to->search.ring = to->search.tree = (NcclGraph){ 12, 30, 24 };
}

/* Ampere's ring over 2 x 8 GPUs, 28 steps of 3.4 and 2 of 14 us after 8.4: 131.6 us, x 1.4 once every rank has 64 B in
 * each of 32 channels, x 1.9 before Ampere, and no factor on one node, for LL, or for another operation than
 * all-reduce. */
static void
long_simple_rings_are_believed_slow (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture;
    NcclProtocol protocol;
    guint n_nodes;
    FabBytes bytes;
    double factor;
  } rows[] = {
    { "ampere", NCCL_SIMPLE, 2, 64 * 32 * 16, 1.4 },   { "volta", NCCL_SIMPLE, 2, 64 * 32 * 16, 1.9 },
    { "ampere", NCCL_SIMPLE, 2, 64 * 32 * 16 - 1, 1 }, { "ampere", NCCL_LL, 2, 64 * 32 * 16, 1 },
    { "ampere", NCCL_SIMPLE, 1, 64 * 32 * 16, 1 },     { "cdna2", NCCL_SIMPLE, 2, 64 * 32 * 16, 1 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    CandidateSpec spec = {
      rows[i].architecture, "ring",       22203, rows[i].n_nodes, 16 / rows[i].n_nodes, rows[i].protocol,
      FAB_OP_ALL_REDUCE,    rows[i].bytes
    };
    Candidate one;

    make (&one, &spec);
    assert_near (nccl_plateau_factor (&one.self), rows[i].factor, 1e-12);
    if (i == 0) {
      one.form.n_intra_steps = 28;
      one.form.n_inter_steps = 2;
      double bytes_us = 32.768e3 / (360e3 * 16 / 30);
      assert_near (nccl_tuner_us (&one.self), 1.4 * 131.6 + bytes_us, 1e-9);
      one.self.op = FAB_OP_ALL_GATHER;
      assert_near (nccl_tuner_us (&one.self), 131.6 + bytes_us / 2, 1e-9);
    }
  }
}

static double
ring_estimate_us (guint version, NcclProtocol protocol, double proxy_us, gboolean is_nvlink)
{
  CandidateSpec spec = { "ampere", "ring", version, 2, 8, protocol, FAB_OP_ALL_GATHER, 0 };
  Candidate one;

  make (&one, &spec);
  one.form.n_intra_steps = 14;
  one.form.intra_technology = is_nvlink ? &test_nvlink : &test_pcie;
  one.processor.proxy_ps = (FabTimePs) (proxy_us * 1e6);
  return nccl_tuner_us (&one.self) - one.estimate.base_us[protocol];
}

/* 14 steps inside nodes of a ring over two: those of NVLink or PCIe, and at least what a proxy thread takes, three
 * times that for Simple. In 2.16 steps of LL took 1.8 times as long in place of that. */
static void
steps_of_rings_wait_for_proxies (G_GNUC_UNUSED void **state)
{
  assert_near (ring_estimate_us (NEWEST, NCCL_LL, 0, TRUE), 14 * 0.6, 1e-9);
  assert_near (ring_estimate_us (NEWEST, NCCL_LL, 2, TRUE), 14 * 2.0, 1e-9);
  assert_near (ring_estimate_us (NEWEST, NCCL_SIMPLE, 2, TRUE), 14 * 6.0, 1e-9);
  assert_near (ring_estimate_us (NEWEST, NCCL_SIMPLE, 1, FALSE), 14 * 5.7, 1e-9);
  assert_near (ring_estimate_us (21799, NCCL_LL, 2, TRUE), 14 * 1.8 * 0.47, 1e-9);
  assert_near (ring_estimate_us (21799, NCCL_LL128, 2, TRUE), 14 * 1.9, 1e-9);
  assert_near (ring_estimate_us (21800, NCCL_LL128, 2, TRUE), 14 * 2.0, 1e-9);
}

/* A step between nodes adds the adapters' time: twice what is beyond 0.73 us for Simple; for flags what adapters and
 * wires take beyond 4 us. The plug-in's latency counts twice for Simple. */
static void
adapters_add_to_a_step (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "ampere", "ring", NEWEST, 2, 8, NCCL_SIMPLE, FAB_OP_ALL_GATHER, 0 };
  NcclPlugin plugin = { .told_us = 5 };
  Candidate one;

  make (&one, &spec);
  one.self.plugin = &plugin;
  one.form.inter_endpoint_ps = 2730000;
  one.form.inter_latency_ps = 2000000;
  assert_near (nccl_adapters_us (&one.self), 4, 1e-9);
  assert_near (nccl_told_us (&one.self), 10, 1e-9);
  one.self.protocol = NCCL_LL;
  assert_near (nccl_adapters_us (&one.self), 0.73, 1e-9);
  assert_near (nccl_told_us (&one.self), 5, 1e-9);
  one.form.inter_endpoint_ps = 700000;
  assert_true (nccl_adapters_us (&one.self) == 0);
  one.self.protocol = NCCL_SIMPLE;
  assert_true (nccl_adapters_us (&one.self) == 0);
  one.processor.proxy_ps = 1500000;
  assert_near (nccl_proxy_us (&one.self), 4.5, 1e-9);
  one.group.n_nodes = 1;
  assert_true (nccl_proxy_us (&one.self) == 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (long_simple_rings_are_believed_slow),
    cmocka_unit_test (steps_of_rings_wait_for_proxies),
    cmocka_unit_test (adapters_add_to_a_step),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
