/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_cost.c - all that models/library/nccl/cost.c says of a candidate, from its formulas by hand. */
#include "tests/unit/models/library/nccl/candidate.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* Two nodes of eight Hopper GPUs with as many rails, whose ring has eight channels. */
static void
make (Candidate *c, const char *model, NcclProtocol protocol, FabOp op, FabBytes bytes)
{
  candidate_make (c, &(CandidateSpec){ "hopper", model, 23007, 2, 8, protocol, op, bytes });
  c->processor.proxy_ps = 1000000;
  c->form.n_channels = c->self.n_rails = c->self.n_channels = 8;
  c->form.n_intra_steps = 14;
  c->form.n_inter_steps = 2;
  c->footprint.rate_bytes_per_s = 100e9;
  c->search.tree = c->search.ring = (NcclGraph){ 16, 20, 20 };
  c->self.busbw_GBps = 320;
  c->wires.every_bytes_per_s = 1e15;
}

static FabCollectivePlan
cost (const Candidate *c)
{
  FabCollectivePlan plan = { .op = c->self.op, .bytes = c->self.bytes, .n_ranks = c->self.n_ranks };

  nccl_cost (&c->self, &plan);
  return plan;
}

static double
us (FabTimePs ps)
{
  return (double) ps / 1e6;
}

static double
startup_us (const Candidate *c)
{
  return us (cost (c).startup_ps);
}

static double
steps_us (const Candidate *c)
{
  return us (cost (c).steps.steps_ps);
}

/* A tree of LL: base 6.8, 14 steps of 0.6 us inside and 2 of 5.0 between nodes. The first 16 KiB of each of 8 channels
 * fill its links, with a flag for every word; messages are an eighth of them, and at least 4 KiB. */
static void
a_tree_has_its_steps_and_its_fill (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes;
    guint n_chunks;
  } rows[] = {
    { 1, 1 },         { 8 * KIB - 1, 1 }, { 8 * KIB, 1 },     { 128 * KIB, 8 }, { 130 * KIB, 9 },
    { 144 * KIB, 9 }, { 145 * KIB, 10 },  { 1024 * KIB, 64 }, { 4 * MIB, 256 }, { 64 * MIB, 256 }
  };
  const double s_per_byte = 1e-11;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double bytes = (double) rows[i].bytes, fill_us = MIN (bytes, 128 * KIB) * 2 * s_per_byte * 1e6;
    Candidate c;

    make (&c, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, rows[i].bytes);
    c.form.fill_s_per_byte = s_per_byte;
    FabCollectivePlan plan = cost (&c);
    assert_near (us (plan.steps.steps_ps), 14 * 0.6 + 2 * 5.0, 1e-6);
    assert_near (us (plan.startup_ps), 6.8 + 14 * 0.6 + 2 * 5.0 + fill_us, 1e-6);
    assert_near (us (plan.fill_ps), fill_us, 1e-5);
    assert_int_equal (plan.steps.n_chunks, rows[i].n_chunks);
    assert_near (us (plan.steps.fill_ps), bytes / rows[i].n_chunks * 2 * s_per_byte * 1e6, 1e-4);
    assert_near (plan.steps.intra_cost, 0.6, 1e-12);
    assert_near (plan.steps.inter_cost, 5.0, 1e-12);
    assert_near (plan.wire_factor, 2, 0);
    assert_int_equal (plan.n_channels, 8);
    assert_int_equal (plan.n_connections, 1);
    assert_true (plan.footprint == &c.footprint);
    assert_near (plan.most_bytes_per_s, plan.steps.pace_bytes_per_s, 0);
    assert_false (plan.waits_for_ends);
  }
  /* One channel: an eighth of its 16 KiB would be 2 KiB. */
  for (guint quarters = 1; quarters <= 64; quarters++) {
    Candidate one;

    make (&one, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, quarters * 1024);
    one.self.n_channels = 1;
    assert_int_equal (cost (&one).steps.n_chunks, MAX (quarters / 4, 1));
  }
  /* A ring is no pipeline. */
  Candidate ring;
  make (&ring, "ring", NCCL_LL, FAB_OP_ALL_REDUCE, MIB);
  ring.form.fill_s_per_byte = s_per_byte;
  assert_int_equal (cost (&ring).steps.n_chunks, 0);
  assert_int_equal (cost (&ring).steps.fill_ps, 0);
  assert_int_equal (cost (&ring).fill_ps, 0);
}

/* Between nodes a thread block passes on 16 KiB of LL at 4 GB/s in each of 16 steps, or less where a channel has less:
 * 512 threads of 8 bytes, which it moves at once, at most. Where the links take longer, they count. */
static void
thread_blocks_of_ll_pass_on_their_part (G_GNUC_UNUSED void **state)
{
  Candidate c;

  make (&c, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, 8 * 1000);
  const NcclBlock *block = nccl_block (&c.self);
  double plain_us = 6.8 + 14 * 0.6 + 2 * 5.0, most = block->threads * block->grain_bytes;
  c.generation.sends = (FabSends){ .ll_ps = 1, .ll_bytes_per_s = 4000000000 };
  assert_near (startup_us (&c), plain_us + 16 * 1000 / 4e3, 1e-6);
  c.self.bytes = 64 * MIB;
  assert_near (startup_us (&c), plain_us + 16 * most / 4e3, 1e-6);
  c.form.fill_s_per_byte = 16 * most / 4e9 / (128 * KIB) / 2 * 1.5;
  assert_near (startup_us (&c), plain_us + 1.5 * 16 * most / 4e3, 1e-6);
  c.form.fill_s_per_byte = 16 * most / 4e9 / (128 * KIB) / 2 * 0.5;
  assert_near (startup_us (&c), plain_us + 16 * most / 4e3, 1e-6);
  /* Nothing of the kind with other protocols, on one node, or where it was not measured. */
  c.form.fill_s_per_byte = 0;
  c.self.protocol = NCCL_LL128;
  assert_near (startup_us (&c), 14 + 14 * 1.25 + 2 * 8.5, 1e-6);
  c.self.protocol = NCCL_LL;
  c.group.n_nodes = 1;
  assert_near (startup_us (&c), plain_us, 1e-6);
  c.group.n_nodes = 2;
  c.generation.sends.ll_ps = 0;
  assert_near (startup_us (&c), plain_us, 1e-6);
}

/* The proxy thread posts a message in 1 us, which the tuner's steps contain, and each further channel of a GPU's NICs
 * takes 2 us. GPUs that share NICs share their channels. RCCL's steps contain the messages of all channels. */
static void
messages_of_trees_are_posted_in_turn (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_channels, n_rails;
    FabTimePs proxy_ps;
    double more_us;
  } rows[] = { { 8, 8, 1000000, 0 },   { 4, 8, 1000000, 0 },   { 16, 8, 1000000, 2 },
               { 24, 8, 1000000, 4 },  { 8, 4, 1000000, 2 },   { 8, 16, 1000000, 0 },
               { 16, 16, 1000000, 2 }, { 8, 8, 1500000, 0.5 }, { 16, 8, 2250000, 3.25 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint p = 0; p < NCCL_N_PROTOCOLS; p++) {
      const double base_us[] = { 6.8, 14, 8.4 }, intra_us[] = { 0.6, 1.25, 4.0 },
                   net_us[] = { 5.0, 8.5, 14.0 };
      Candidate c;

      make (&c, "tree", (NcclProtocol) p, FAB_OP_ALL_REDUCE, 64);
      c.self.n_channels = rows[i].n_channels;
      c.self.n_rails = rows[i].n_rails;
      c.processor.proxy_ps = rows[i].proxy_ps;
      double more_us = p == NCCL_SIMPLE ? 0 : rows[i].more_us;
      assert_near (steps_us (&c), 14 * intra_us[p] + 2 * (net_us[p] + more_us), 1e-6);
      assert_near (startup_us (&c), base_us[p] + 14 * intra_us[p] + 2 * (net_us[p] + more_us), 1e-6);
      assert_near (cost (&c).steps.inter_cost, net_us[p] + more_us, 1e-9);
    }
  Candidate rccl;
  make (&rccl, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, 64);
  rccl.self.architecture = nccl_architecture ("cdna2");
  rccl.self.tuning = rccl.self.algorithm->rccl;
  rccl.self.n_channels = 32;
  rccl.processor.proxy_ps = 1500000;
  assert_near (steps_us (&rccl), 14 * 0.8 + 2 * (11.8 + 0.5), 1e-6);
}

/* Adapters beyond those for which the constants stand: of LL 4.0 us of adapters and wires, of Simple twice what is over
 * 0.73 us. A wire that is longer than a step takes its place. */
static void
slower_adapters_and_longer_wires_count (G_GNUC_UNUSED void **state)
{
  Candidate c;

  make (&c, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, 64);
  c.form.inter_endpoint_ps = 3 * 1000000;
  c.form.inter_latency_ps = 1500000;
  assert_near (steps_us (&c), 14 * 0.6 + 2 * (5.0 + 0.5), 1e-6);
  c.form.inter_latency_ps = 7000000;
  assert_near (steps_us (&c), 14 * 0.6 + 2 * (7.0 + 6.0), 1e-6);
  c.form.intra_latency_ps = 2000000;
  assert_near (steps_us (&c), 14 * 2.0 + 2 * (7.0 + 6.0), 1e-6);
  make (&c, "tree", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 64);
  c.form.inter_endpoint_ps = 1730000;
  assert_near (steps_us (&c), 14 * 4.0 + 2 * (14.0 + 2.0), 1e-6);
}

/* No startup is below the latency of all wires, whatever overlaps. */
static void
plans_know_the_latency_of_their_wires (G_GNUC_UNUSED void **state)
{
  Candidate c;

  make (&c, "ring", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 256 * MIB);
  c.generation.ring_channel.bytes_per_s = 1000000000000000;
  c.form.intra_latency_ps = 500000;
  c.form.inter_latency_ps = 2000000;
  assert_int_equal (cost (&c).latency_ps, 14 * 500000 + 2 * 2000000);
  assert_true (startup_us (&c) > 11);
  c.form.inter_latency_ps = 2000000000;
  assert_int_equal (cost (&c).latency_ps, 14 * 500000 + 2 * 2000000000LL);
  assert_true (cost (&c).startup_ps >= cost (&c).latency_ps);
}

/* A processor that matches messages takes its time in each step between nodes, but for those of Simple. */
static void
processors_match_in_each_step (G_GNUC_UNUSED void **state)
{
  const FabLinkClass port = { .software_match_ps = 3000000 };

  for (guint p = 0; p < NCCL_N_PROTOCOLS; p++) {
    const double net_us[] = { 5.0, 8.5, 14.0 };
    Candidate c;

    make (&c, "tree", (NcclProtocol) p, FAB_OP_ALL_REDUCE, 64);
    c.wires.port = &port;
    assert_near (cost (&c).steps.inter_cost, net_us[p], 1e-9);
    c.params.matching = NCCL_MATCHING_SOFTWARE;
    assert_near (cost (&c).steps.inter_cost, net_us[p] + (p == NCCL_SIMPLE ? 0 : 3), 1e-9);
  }
}

/* Steps without a time cost as much as the others, and 1 where no step has any: messages share the steps by these. */
static void
steps_without_a_time_cost_as_the_others (G_GNUC_UNUSED void **state)
{
  static const double rows[][4] = { /* us inside and between nodes, and what they cost */
                                    { 2, 7, 2, 7 },     { 0, 7, 7, 7 }, { 0, 1.5, 1.5, 1.5 },
                                    { 0, 0.5, 1, 0.5 }, { 0, 0, 1, 1 }, { 3, 0, 3, 3 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const NcclTuning tuning = { .nvlink_us = { 0, 0, rows[i][0] }, .net_us = { 0, 0, rows[i][1] } };
    Candidate c;

    make (&c, "tree", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 64);
    c.self.tuning = &tuning;
    assert_near (cost (&c).steps.intra_cost, rows[i][2], 1e-12);
    assert_near (cost (&c).steps.inter_cost, rows[i][3], 1e-12);
  }
}

/* What was measured of LL inside a node counts between nodes too, its start where it is longer than the tuner's. */
static void
measured_kernels_of_ll_replace_the_tuners (G_GNUC_UNUSED void **state)
{
  for (guint p = 0; p < NCCL_N_PROTOCOLS; p++) {
    const double base_us[] = { 6.8, 14, 8.4 }, intra_us[] = { 0.6, 1.25, 4.0 }, net_us[] = { 5.0, 8.5, 14.0 };
    Candidate c;

    make (&c, "tree", (NcclProtocol) p, FAB_OP_ALL_REDUCE, 64);
    c.generation.rings.ll = (FabRingCost){ .base_ps = 9000000, .step_ps = 900000 };
    assert_near (startup_us (&c),
                 p == NCCL_LL ? 9 + 14 * 0.9 + 2 * 5.0 : base_us[p] + 14 * intra_us[p] + 2 * net_us[p], 1e-6);
    c.generation.rings.ll.base_ps = 1000000;
    assert_near (startup_us (&c),
                 p == NCCL_LL ? 6.8 + 14 * 0.9 + 2 * 5.0 : base_us[p] + 14 * intra_us[p] + 2 * net_us[p],
                 1e-6);
    /* On one node the start and the step that were measured of all protocols. */
    c.generation.rings.ll = (FabRingCost){ 0 };
    FabStartup measured = { 3000000, 700000, NULL };
    c.generation.startups = (FabStartups){ .ll = measured, .ll128 = measured, .simple = measured };
    c.group.n_nodes = 1;
    c.form.n_inter_steps = 0;
    assert_near (startup_us (&c), 3 + 14 * 0.7, 1e-6);
    /* Over a bus NCCL's own step. */
    c.form.intra_technology = &test_pcie;
    const double pci_us[] = { 1.0, 1.9, 4.0 };
    assert_near (startup_us (&c), 3 + 14 * pci_us[p], 1e-6);
    c.form.intra_technology = &test_nvlink;
    c.form.intra_kind = FAB_HOP_STAGED;
    assert_near (steps_us (&c), 14 * pci_us[p], 1e-6);
  }
  /* PAT has steps of its own, and neither of them. */
  Candidate pat;
  make (&pat, "pat", NCCL_SIMPLE, FAB_OP_ALL_GATHER, 64);
  pat.generation.startups.simple = (FabStartup){ 3000000, 700000, NULL };
  pat.self.n_ranks = 2;
  pat.group.gpus_per_node = 1;
  assert_near (startup_us (&pat), 8 + 2 * 14 / 3.5 + 2.8 * 2, 1e-6);
}

/* Where every node has one GPU, NCCL counts steps of rings as those of trees: 14 with Simple in both, 5.0 against 2.7
 * and 8.5 against 4.0 with LL and LL128. */
static void
rings_of_single_gpus_have_steps_of_trees (G_GNUC_UNUSED void **state)
{
  static const double net_us[] = { 2.7, 4.0, 14.0 }, tree_us[] = { 5.0, 8.5, 14.0 };

  for (guint p = 0; p < NCCL_N_PROTOCOLS; p++)
    for (guint gpus = 1; gpus <= 2; gpus++) {
      Candidate c;

      make (&c, "ring", (NcclProtocol) p, FAB_OP_BROADCAST, 64);
      c.group.gpus_per_node = gpus;
      assert_near (cost (&c).steps.inter_cost, gpus == 1 ? tree_us[p] : net_us[p], 1e-9);
    }
  Candidate rccl;
  make (&rccl, "ring", NCCL_LL, FAB_OP_BROADCAST, 64);
  rccl.group.gpus_per_node = 1;
  rccl.self.architecture = nccl_architecture ("cdna2");
  rccl.self.tuning = rccl.self.algorithm->rccl;
  assert_near (cost (&rccl).steps.inter_cost, 9.5, 1e-9);
}

/* Several channels for each of the form are connections of their own; where only some rails have one, wires that others
 * share carry a part. All rails: wires beyond the footprint do not count. */
static void
channels_are_connections_and_use_rails (G_GNUC_UNUSED void **state)
{
  static const guint channels[][2] = { { 1, 1 }, { 8, 1 }, { 15, 1 }, { 16, 2 }, { 32, 4 } };
  Candidate c;

  for (guint i = 0; i < G_N_ELEMENTS (channels); i++) {
    make (&c, "ring", NCCL_LL128, FAB_OP_ALL_REDUCE, MIB);
    c.self.n_channels = channels[i][0];
    assert_int_equal (cost (&c).n_connections, channels[i][1]);
  }
  make (&c, "ring", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 64 * MIB);
  c.wires.every_bytes_per_s = 1e9;
  double all = cost (&c).most_bytes_per_s;
  assert_near (all, 8 * 38.7e9 * 16 / 30, 1e-9);
  c.self.n_channels = 4;
  assert_near (cost (&c).most_bytes_per_s, 1e9, 1e-9);
  /* Four of eight channels: links of one rail carry half, those of two have a channel, those of three two of 1.5. */
  c.wires.every_bytes_per_s = 1e15;
  c.wires.n_shared = 1;
  for (guint n = 1; n <= 8; n++) {
    c.wires.shared[0] = (NcclSharedWires){ n, 1e9 };
    assert_near (cost (&c).most_bytes_per_s, 1e9 * (n / 2.0) / ceil (n / 2.0), 1e-9);
  }
}

/* LL between nodes moves 2.5 GB/s and 1 GB/s more for each channel. */
static void
ll_between_nodes_is_limited_by_flags (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 8; n *= 2) {
    Candidate c;

    make (&c, "tree", NCCL_LL, FAB_OP_ALL_REDUCE, MIB);
    c.self.n_channels = n;
    assert_near (cost (&c).most_bytes_per_s, (2.5e9 + n * 1e9) * 16 / 30, 1e-9);
    c.form.n_inter_steps = 0;
    assert_true (cost (&c).most_bytes_per_s > (2.5e9 + n * 1e9) * 16 / 30);
  }
}

/* Phases of a form that follow one another limit it, with what the protocol sends on top; the network knows them
 * otherwise. */
static void
phases_limit_the_stream_alone (G_GNUC_UNUSED void **state)
{
  Candidate c;

  make (&c, "ring", NCCL_LL, FAB_OP_ALL_REDUCE, MIB);
  double pace = cost (&c).most_bytes_per_s;
  c.form.phases_bytes_per_s = 1e9;
  assert_near (cost (&c).most_bytes_per_s, 0.5e9, 1e-9);
  assert_near (cost (&c).steps.pace_bytes_per_s, pace, 0);
  c.form.phases_bytes_per_s = 1e15;
  assert_near (cost (&c).most_bytes_per_s, pace, 0);
}

/* The limits of the ends are those with links that take no time: of a tree its 16 channels' cap of 41.4 GB/s each,
 * where the search follows the rates of links, and else what the search has found; and what its channels move. */
static void
ends_have_the_limits_of_unbound_links (G_GNUC_UNUSED void **state)
{
  Candidate c;

  make (&c, "tree", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 64 * MIB);
  c.self.n_channels = 32;
  double found = 0.92 * 320e9 / 2, cap = 16 * 41.4e9 / 2;
  assert_near (cost (&c).most_bytes_per_s, found, 1e-9);
  assert_near (cost (&c).ends_bytes_per_s, found, 1e-9);
  c.search.follows_rates = TRUE;
  assert_near (cost (&c).most_bytes_per_s, found, 1e-9);
  assert_near (cost (&c).ends_bytes_per_s, cap, 1e-9);
  c.self.n_channels = 8;
  assert_near (cost (&c).most_bytes_per_s, found, 1e-9);
  assert_near (cost (&c).ends_bytes_per_s, MIN (cap, 8 * 38.7e9 * 16 / 30), 1e-9);
  /* Sends share links with their channels: on links without end they have the channels alone. */
  make (&c, "direct", NCCL_SIMPLE, FAB_OP_ALL_TO_ALL, 64 * MIB);
  c.group.n_nodes = 1;
  c.self.n_ranks = 8;
  c.form.n_inter_steps = 0;
  c.generation.sends = test_generation.sends;
  c.wires.pair_bytes_per_s = 400e9;
  double bound = cost (&c).most_bytes_per_s;
  double ends = cost (&c).ends_bytes_per_s;
  c.footprint.rate_bytes_per_s = 1e18;
  assert_near (cost (&c).most_bytes_per_s, ends, 1e-6);
  assert_true (ends > bound && bound > 0);
}

/* Bytes and latency of a ring between nodes overlap: both together take as the diagonal of the two, and at least one
 * step of 30 remains. Thread blocks do one after the other. LL does not overlap. */
static void
bytes_and_latency_of_rings_overlap (G_GNUC_UNUSED void **state)
{
  static const FabBytes sizes[] = { 64 * KIB, MIB, 16 * MIB, 256 * MIB };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    double flow_us = (double) sizes[i] / 100e3;
    Candidate c;

    make (&c, "ring", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, sizes[i]);
    c.form.n_intra_steps = 28;
    double steps = steps_us (&c), plateau = nccl_plateau_factor (&c.self);
    c.generation.ring_channel.bytes_per_s = 1000000000000000;
    double whole_us = plateau * (28 * 5.0 + 2 * 14.0), base_us = 8.4 * plateau;
    double together_us = MAX (hypot (flow_us, whole_us), flow_us + whole_us / 30);
    FabCollectivePlan plan = cost (&c);
    assert_near (us (plan.startup_ps) + flow_us, base_us + together_us, 1e-6);
    assert_near (us (plan.steps.steps_ps) + flow_us, together_us, 1e-6);
    assert_false (plan.waits_for_ends);
    /* Blocks that are as fast as the links: nothing overlaps. */
    c.generation.ring_channel.bytes_per_s = (FabBytesPerS) (100e9 * 30 / 16 / 8);
    plan = cost (&c);
    assert_near (us (plan.startup_ps), base_us + whole_us, 1e-5);
    assert_true (plan.waits_for_ends);
    assert_true (steps <= whole_us + 1e-6);
    /* Nor in a broadcast, nor with LL. */
    c.generation.ring_channel.bytes_per_s = 1000000000000000;
    c.self.op = FAB_OP_BROADCAST;
    plan = cost (&c);
    assert_near (us (plan.startup_ps), base_us + whole_us, 1e-6);
    assert_false (plan.waits_for_ends);
    c.self.op = FAB_OP_ALL_REDUCE;
    c.self.protocol = NCCL_LL;
    plan = cost (&c);
    assert_near (us (plan.startup_ps), 6.6 + 28 * 1.0 + 2 * 2.7, 1e-6);
  }
}

/* In an all-gather over nodes with Simple a rank copies its own part, in each channel at 10 GB/s, of which one of n - 1
 * steps is not hidden. */
static void
the_own_copy_of_an_all_gather_lengthens_its_steps (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER, FAB_OP_ALL_REDUCE };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint p = 0; p < NCCL_N_PROTOCOLS; p++) {
      Candidate c;

      make (&c, "ring", (NcclProtocol) p, ops[i], 16 * MIB);
      FabCollectivePlan without = cost (&c);
      c.generation.rings.simple.copy_bytes_per_s = 10000000000;
      FabCollectivePlan with = cost (&c);
      double copy_us = i == 0 && p == NCCL_SIMPLE ? 16 * 1048576.0 / 16 / 8 / 10e3 / 15 : 0;

      assert_near (us (with.startup_ps) - us (without.startup_ps), copy_us, 1e-5);
      assert_near (us (with.steps.steps_ps) - us (without.steps.steps_ps), copy_us, 1e-5);
    }
}

/* Messages by rendezvous, one after another in a port, take their time at least: it is added to the startup, and to the
 * steps where the messages are played. */
static void
slow_messages_lengthen_the_plan (G_GNUC_UNUSED void **state)
{
  FabLinkClass port = { .rendezvous = { 1, 0, 50000000, 60000000 } };
  Candidate c;

  make (&c, "ring", NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 4 * MIB);
  FabCollectivePlan without = cost (&c);
  c.wires.port = &port;
  FabCollectivePlan with = cost (&c);
  /* 30 steps of one message, 32 KiB, in each channel; the eight ports share the channels. */
  double more_us = 30 * 50 - us (fab_collective_plan_idle_ps (&without));
  assert_true (more_us > 100);
  assert_near (us (fab_collective_plan_idle_ps (&with)), 30 * 50, 1e-6);
  assert_near (us (with.steps.steps_ps - without.steps.steps_ps), more_us, 1e-6);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_tree_has_its_steps_and_its_fill),
    cmocka_unit_test (thread_blocks_of_ll_pass_on_their_part),
    cmocka_unit_test (messages_of_trees_are_posted_in_turn),
    cmocka_unit_test (slower_adapters_and_longer_wires_count),
    cmocka_unit_test (plans_know_the_latency_of_their_wires),
    cmocka_unit_test (processors_match_in_each_step),
    cmocka_unit_test (steps_without_a_time_cost_as_the_others),
    cmocka_unit_test (measured_kernels_of_ll_replace_the_tuners),
    cmocka_unit_test (rings_of_single_gpus_have_steps_of_trees),
    cmocka_unit_test (channels_are_connections_and_use_rails),
    cmocka_unit_test (ll_between_nodes_is_limited_by_flags),
    cmocka_unit_test (phases_limit_the_stream_alone),
    cmocka_unit_test (ends_have_the_limits_of_unbound_links),
    cmocka_unit_test (bytes_and_latency_of_rings_overlap),
    cmocka_unit_test (the_own_copy_of_an_all_gather_lengthens_its_steps),
    cmocka_unit_test (slow_messages_lengthen_the_plan),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
