/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_tuner.c - what the tuner believes of each algorithm (models/library/nccl/algorithms.c), by hand from the
 * formulas of NCCL's src/graph/tuning.cc, 2.18.6 to 2.30.7: the graph has 12 channels of 30 GB/s inside nodes and 24
 * between them, 360 and 288 in all, unless a test says otherwise.
 */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = 23007, KIB = 1024, MIB = 1024 * 1024 };

static const NcclGraph twelve = { 12, 30, 24 };

static void
make (Candidate *to, const CandidateSpec *spec)
{
  candidate_make (to, spec);
  to->search = (NcclSearch){ .ring = twelve, .tree = twelve, .nvls = { 8, 40, 48 } };
}

static double
believed_GBps (const CandidateSpec *spec)
{
  Candidate one;

  make (&one, spec);
  return one.self.algorithm->bandwidth_GBps (&one.self);
}

/* --- rings --- */

static CandidateSpec
ring_of (guint n_nodes, NcclProtocol protocol, FabOp op, guint version)
{
  return (CandidateSpec){ "hopper", "ring", version, n_nodes, 8, protocol, op, 1 };
}

/* Bus bandwidth over 2 (n - 1) / n of an all-reduce, (n - 1) / n of an all-gather. Up to two nodes the speed is that
 * inside them. */
static void
simple_rings_have_the_speed_of_their_graph (G_GNUC_UNUSED void **state)
{
  CandidateSpec one = ring_of (1, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, NEWEST),
                two = ring_of (2, NCCL_SIMPLE, FAB_OP_ALL_GATHER, NEWEST),
                three = ring_of (3, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, NEWEST),
                chain = ring_of (1, NCCL_SIMPLE, FAB_OP_BROADCAST, NEWEST);

  assert_near (believed_GBps (&one), 360 * 8 / 14.0, 1e-12);
  assert_near (believed_GBps (&two), 360 * 16 / 15.0, 1e-12);
  assert_near (believed_GBps (&three), 288 * 24 / 46.0, 1e-12);
  assert_near (believed_GBps (&chain), 360, 1e-12);
}

/* Up to 2.20 a quarter, 90 GB/s of 360, or a third, 120, where one node neither reduces to all nor to one; since 2.21
 * half. The cap of a node is 87.7 and 141 GB/s, that of Intel's processors over two nodes 39, over more 20.4. */
static void
ll_has_a_share_of_the_ring (G_GNUC_UNUSED void **state)
{
  static const NcclGraph small = { 2, 30, 24 };
  static const struct {
    guint n_nodes, version;
    FabOp op;
    double bus_GBps; /* of the small graph: 60 and 48 GB/s */
  } rows[] = {
    { 1, 22104, FAB_OP_ALL_REDUCE, 15 }, { 1, 22104, FAB_OP_REDUCE, 15 },
    { 1, 22104, FAB_OP_ALL_GATHER, 20 }, { 1, 22104, FAB_OP_REDUCE_SCATTER, 20 },
    { 1, 22104, FAB_OP_BROADCAST, 20 },  { 2, 22104, FAB_OP_ALL_GATHER, 15 },
    { 3, 22104, FAB_OP_BROADCAST, 12 },  { 1, 22105, FAB_OP_ALL_REDUCE, 30 },
    { 2, 22105, FAB_OP_ALL_GATHER, 30 }, { 3, 22105, FAB_OP_ALL_REDUCE, 20.4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    CandidateSpec spec = ring_of (rows[i].n_nodes, NCCL_LL, rows[i].op, rows[i].version);
    Candidate one;

    make (&one, &spec);
    one.search.ring = small;
    assert_near (one.self.algorithm->bandwidth_GBps (&one.self),
                 rows[i].bus_GBps / fab_op_bus_factor (rows[i].op, one.self.n_ranks), 1e-12);
  }
  CandidateSpec old = ring_of (1, NCCL_LL, FAB_OP_BROADCAST, 22104),
                new = ring_of (1, NCCL_LL, FAB_OP_BROADCAST, 22105),
                intel = ring_of (2, NCCL_LL, FAB_OP_BROADCAST, NEWEST);
  assert_near (believed_GBps (&old), 87.7, 1e-12);
  assert_near (believed_GBps (&new), 141, 1e-12);
  assert_near (believed_GBps (&intel), 39, 1e-12);
}

/* AMD's processors read flags at 22.5 GB/s for two nodes and at 19 for more. RCCL always takes half. */
static void
ll_between_nodes_goes_by_the_processor (G_GNUC_UNUSED void **state)
{
  for (guint n_nodes = 2; n_nodes <= 4; n_nodes++) {
    CandidateSpec spec = ring_of (n_nodes, NCCL_LL, FAB_OP_BROADCAST, NEWEST);
    Candidate one;

    make (&one, &spec);
    one.processor.name = "amd";
    assert_near (nccl_ll_GBps (&one.self), n_nodes == 2 ? 22.5 : 19, 1e-12);
  }
  CandidateSpec rccl = { "cdna2", "ring", 21000, 2, 8, NCCL_LL, FAB_OP_BROADCAST, 1 };
  Candidate one;

  make (&one, &rccl);
  one.search.ring = (NcclGraph){ 2, 10, 10 };
  assert_near (one.self.algorithm->bandwidth_GBps (&one.self), 10, 1e-12);
}

/* What the tuner believes at most of LL limits it in truth: 141 GB/s of bus over 14/8. */
static void
the_cap_of_ll_is_a_limit_too (G_GNUC_UNUSED void **state)
{
  CandidateSpec ll = ring_of (1, NCCL_LL, FAB_OP_ALL_REDUCE, NEWEST),
                simple = ring_of (1, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, NEWEST);
  Candidate one;

  make (&one, &ll);
  assert_near (one.self.algorithm->limit_bytes_per_s (&one.self), 141e9 * 8 / 14, 1e-12);
  make (&one, &simple);
  assert_true (one.self.algorithm->limit_bytes_per_s (&one.self) == 0);
}

/* 0.92 x 360 = 331.2 GB/s; with four channels of 60, 220.8 are more than 4 x 36.7 = 146.8. With one GPU for each node
 * 0.7 up to 2.22. */
static void
ll128_has_a_share_of_the_ring_and_a_cap (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = ring_of (1, NCCL_LL128, FAB_OP_BROADCAST, NEWEST);
  Candidate one;

  assert_near (believed_GBps (&spec), 331.2, 1e-12);
  make (&one, &spec);
  one.search.ring = (NcclGraph){ 4, 60, 60 };
  assert_near (one.self.algorithm->bandwidth_GBps (&one.self), 146.8, 1e-12);
  spec = ring_of (2, NCCL_LL128, FAB_OP_BROADCAST, 22299);
  assert_near (believed_GBps (&spec), 331.2, 1e-12);
  spec.gpus_per_node = 1;
  assert_near (believed_GBps (&spec), 0.7 * 360, 1e-12);
  spec.version = 22300;
  assert_near (believed_GBps (&spec), 331.2, 1e-12);
}

/* --- trees --- */

static double
tree_GBps (guint n_nodes, guint gpus_per_node, NcclProtocol protocol, guint version, NcclGraph graph)
{
  CandidateSpec spec = { "hopper", "tree", version, n_nodes, gpus_per_node, protocol, FAB_OP_ALL_REDUCE, 1 };
  Candidate one;

  make (&one, &spec);
  one.search.tree = graph;
  return one.self.algorithm->bandwidth_GBps (&one.self);
}

/* Half of: Simple 0.92 x 360 = 331.2, at most 38.7, 41.4 or 36 for each channel; LL 1 / 3.8 of it, at most what LL
 * has; LL128 7/9 of it inside a node and 120/128 between, at most 36.7, 36.7 or 29 for each channel. */
static void
trees_have_half_of_their_graph (G_GNUC_UNUSED void **state)
{
  static const NcclGraph few = { 4, 60, 60 };

  assert_near (tree_GBps (1, 8, NCCL_SIMPLE, NEWEST, twelve), 331.2 / 2, 1e-12);
  assert_near (tree_GBps (3, 8, NCCL_SIMPLE, NEWEST, twelve), 0.92 * 288 / 2, 1e-12);
  assert_near (tree_GBps (1, 8, NCCL_SIMPLE, NEWEST, few), 4 * 38.7 / 2, 1e-12);
  assert_near (tree_GBps (2, 8, NCCL_SIMPLE, NEWEST, few), 4 * 41.4 / 2, 1e-12);
  assert_near (tree_GBps (3, 8, NCCL_SIMPLE, NEWEST, few), 4 * 36.0 / 2, 1e-12);
  assert_near (tree_GBps (1, 8, NCCL_LL, NEWEST, twelve), 331.2 / 3.8 / 2, 1e-12);
  assert_near (tree_GBps (3, 8, NCCL_LL, NEWEST, twelve), 20.4 / 2, 1e-12);
  assert_near (tree_GBps (1, 8, NCCL_LL128, NEWEST, twelve), 331.2 * 7 / 9 / 2, 1e-12);
  assert_near (tree_GBps (2, 8, NCCL_LL128, NEWEST, twelve), 331.2 * 120 / 128 / 2, 1e-12);
  assert_near (tree_GBps (1, 8, NCCL_LL128, 22900, few), 4 * 38.7 * 7 / 9 / 2, 1e-12);
  assert_near (tree_GBps (2, 8, NCCL_LL128, NEWEST, few), 4 * 36.7 / 2, 1e-12);
  assert_near (tree_GBps (3, 8, NCCL_LL128, NEWEST, few), 4 * 29.0 / 2, 1e-12);
}

/* One GPU for each node costs 15 % since 2.18. */
static void
trees_of_single_gpus_lose_a_part (G_GNUC_UNUSED void **state)
{
  static const NcclGraph small = { 2, 10, 10 };

  assert_near (tree_GBps (2, 1, NCCL_SIMPLE, 21799, small), 0.92 * 20 / 2, 1e-12);
  assert_near (tree_GBps (2, 1, NCCL_SIMPLE, 21800, small), 0.92 * 20 * 0.85 / 2, 1e-12);
  assert_near (tree_GBps (2, 2, NCCL_SIMPLE, 21800, small), 0.92 * 20 / 2, 1e-12);
}

static double
latency_us (const char *model, guint version, guint n_nodes, guint gpus_per_node, NcclProtocol protocol)
{
  CandidateSpec spec = { "hopper", model, version, n_nodes, gpus_per_node, protocol, FAB_OP_ALL_REDUCE, 1 };
  Candidate one;

  make (&one, &spec);
  return one.self.algorithm->latency_us (&one.self, 3, 7);
}

/* A tree: base and twice (7 steps of 3 us inside and floor (log2 (nodes)) of 7 us between). */
static void
trees_go_up_and_down (G_GNUC_UNUSED void **state)
{
  static const guint levels[][2] = { { 1, 0 }, { 2, 1 }, { 3, 1 }, { 4, 2 },
                                     { 5, 2 }, { 7, 2 }, { 8, 3 }, { 1024, 10 } };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    guint n = levels[i][0], depth = levels[i][1];

    assert_near (latency_us ("tree", NEWEST, n, 8, NCCL_SIMPLE), 8.4 + 2 * (7 * 3 + depth * 7), 1e-12);
    assert_near (latency_us ("tree", NEWEST, n, 1, NCCL_LL), 6.8 + 2 * depth * 7, 1e-12);
    assert_near (latency_us ("nvls_tree", NEWEST, n, 8, NCCL_SIMPLE), 3 + 2 * depth * 7, 1e-12);
    assert_near (latency_us ("nvls_tree", 21900, n, 8, NCCL_SIMPLE), 3 + 2 * depth * 7, 1e-12);
    /* In 2.18 a chain of nodes. */
    assert_near (latency_us ("nvls_tree", 21899, n, 8, NCCL_SIMPLE), 3 + 2 * (n - 1) * 7, 1e-12);
    /* PAT: the tuner's base of 8 us, a level in 1 / 3.5 of a step, 2.8 us for each rank. */
    assert_near (latency_us ("pat", NEWEST, n, 1, NCCL_SIMPLE), 8 + depth * 7 / 3.5 + 2.8 * n, 1e-12);
  }
  assert_near (latency_us ("nvls", NEWEST, 1, 8, NCCL_SIMPLE), 3, 1e-12);
}

static double
share_of (const CandidateSpec *spec, const char *processor)
{
  Candidate one;

  make (&one, spec);
  one.processor.name = processor;
  return one.self.algorithm->size_correction (&one.self);
}

/* treeCorrectionFactor of tuning.cc, a value for each power of two from 64 B on: LL at 64 B, 1, 4, 16 and 256 KiB;
 * LL128 and Simple at 512 KiB and 32 MiB; all at 512 MiB, where trees are corrected no more. */
static void
trees_are_corrected_by_size (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes;
    double shares[NCCL_N_PROTOCOLS];
  } rows[] = {
    { 0, { 1, 1, .9 } },
    { 64, { 1, 1, .9 } },
    { 64 << 4, { .9, 1, .9 } },
    { (64 << 4) - 1, { 1, 1, .9 } },
    { 64 << 8, { .7, .8, .7 } },
    { (64 << 9) - 1, { .7, .8, .7 } },
    { 64 << 12, { .4, .6, .5 } },
    { 64 << 13, { .4, .6, .5 } },
    { 64 << 19, { 1, .9, .7 } },
    { 64 << 22, { 1, 1, .9 } },
    { (FabBytes) 64 << 23, { 1, 1, 1 } },
    { (FabBytes) 64 << 30, { 1, 1, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint p = 0; p < NCCL_N_PROTOCOLS; p++) {
      CandidateSpec spec = { "hopper",          "tree",       NEWEST, 2, 8, (NcclProtocol) p,
                             FAB_OP_ALL_REDUCE, rows[i].bytes };

      assert_near (share_of (&spec, "intel"), rows[i].shares[p], 1e-12);
    }
}

/* Since 2.29.2 trees of switches too, up to 512 MiB, on Blackwell beside an x86 processor. */
static void
trees_of_switches_are_corrected_beside_x86 (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "blackwell",       "nvls_tree",        22902, 2, 8, NCCL_SIMPLE,
                         FAB_OP_ALL_REDUCE, (FabBytes) 64 << 12 };

  assert_near (share_of (&spec, "intel"), .5, 1e-12);
  assert_near (share_of (&spec, "amd"), .5, 1e-12);
  assert_near (share_of (&spec, "arm"), 1, 1e-12);
  spec.version = 22901;
  assert_near (share_of (&spec, "intel"), 1, 1e-12);
  spec.version = 22902;
  spec.architecture = "hopper";
  assert_near (share_of (&spec, "intel"), 1, 1e-12);
  spec.architecture = "blackwell";
  spec.bytes = (FabBytes) 64 << 23;
  assert_near (share_of (&spec, "intel"), .9, 1e-12);
  spec.bytes = (FabBytes) 64 << 24;
  assert_near (share_of (&spec, "intel"), 1, 1e-12);
}

static double
fill_bytes (const char *model, NcclProtocol protocol, FabBytes bytes, guint n_nodes, guint n_channels)
{
  CandidateSpec spec = { "hopper", model, NEWEST, n_nodes, 8, protocol, FAB_OP_ALL_REDUCE, bytes };
  Candidate one;

  make (&one, &spec);
  one.self.n_channels = n_channels;
  return (double) one.self.algorithm->fill_bytes (&one.self);
}

/* LL128's chunk is halved from 576000 B until depth x 64 / 8 chunks are in a channel, as long as it is over 128 KiB,
 * and then until depth x 16 / 8 are, as long as it is over 32 KiB. Depth over two nodes of eight: 1 + 1 + 0.8, so that
 * 22.4 and 5.6 chunks are asked for; over four nodes 30.4 and 7.6, over five as many. */
static void
trees_have_a_chunk_of_each_channel_on_the_way (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes part;
    guint n_nodes;
    double chunk;
  } rows[] = {
    { 23 * 576000, 2, 576000 },    { 23 * 576000 - 1, 2, 288000 }, { 23 * 288000, 2, 288000 },
    { 23 * 144000 - 1, 2, 72000 }, { 6 * 72000, 2, 72000 },        { 6 * 72000 - 1, 2, 36000 },
    { 6 * 36000, 2, 36000 },       { 6 * 36000 - 1, 2, 18000 },    { 4, 2, 18000 },
    { 30 * 576000, 4, 288000 },    { 31 * 576000, 4, 576000 },     { 31 * 576000, 5, 576000 },
  };

  assert_near (fill_bytes ("tree", NCCL_SIMPLE, MIB, 2, 3), 3 * 512 * KIB, 1e-12);
  assert_near (fill_bytes ("tree", NCCL_LL, MIB, 2, 3), 3 * 16 * KIB, 1e-12);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_near (fill_bytes ("tree", NCCL_LL128, 3 * rows[i].part, rows[i].n_nodes, 3), 3 * rows[i].chunk,
                 1e-12);
}

static double
limit_GBps (const CandidateSpec *spec, guint n_channels)
{
  Candidate one;

  make (&one, spec);
  one.self.n_channels = n_channels;
  return one.self.algorithm->limit_bytes_per_s (&one.self) / 1e9;
}

/* A tree cannot be faster than the tuner believes. Between nodes a channel of LL128 has a fifth of 36.7 GB/s, and
 * Simple of single GPUs half of 12 x 41.4 or 12 x 36. RCCL has no such limits. */
static void
trees_have_limits_of_their_blocks (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "tree", NEWEST, 2, 8, NCCL_LL128, FAB_OP_ALL_REDUCE, MIB };

  assert_near (limit_GBps (&spec, 3), 0.2 * 3 * 36.7, 1e-12);
  assert_near (limit_GBps (&spec, 24), 331.2 * 120 / 128 / 2, 1e-12);
  spec.n_nodes = 1;
  assert_near (limit_GBps (&spec, 3), 331.2 * 7 / 9 / 2, 1e-12);
  spec.protocol = NCCL_SIMPLE;
  assert_near (limit_GBps (&spec, 3), 331.2 / 2, 1e-12);
  spec.n_nodes = 3;
  assert_near (limit_GBps (&spec, 3), 0.92 * 288 / 2, 1e-12);
  spec.gpus_per_node = 1;
  assert_near (limit_GBps (&spec, 3), 12 * 36.0 / 2, 1e-12);
  spec.n_nodes = 2;
  assert_near (limit_GBps (&spec, 3), 12 * 41.4 / 2, 1e-12);
  spec = (CandidateSpec){ "cdna3", "tree", 22707, 2, 8, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, MIB };
  assert_true (limit_GBps (&spec, 3) == 0);
}

/* --- switches of a node --- */

static double
nvls_GBps (const char *architecture, const char *model, guint n_nodes, FabOp op, guint version,
           NcclGraph graph)
{
  CandidateSpec spec = { architecture, model, version, n_nodes, 8, NCCL_SIMPLE, op, 1 };
  Candidate one;

  make (&one, &spec);
  one.search.nvls = graph;
  one.footprint.rate_bytes_per_s = 123e9;
  one.self.busbw_GBps = 77;
  return one.self.algorithm->bandwidth_GBps (&one.self);
}

/* Eight heads of 40 GB/s, or of less between nodes. Up to 2.27 5/6 of them; other operations all of them from 2.23 on,
 * and from 2.27.3 on 7/8 of 40 = 35, or 0.9 of the network's. Since 2.28 a head has 40 x 0.85 x 7/8 = 29.75 GB/s
 * (Blackwell 0.74: 25.9), twice for all-reduce, 7/8 for others. */
static void
switches_are_believed_by_release (G_GNUC_UNUSED void **state)
{
  static const NcclGraph fast = { 8, 40, 100 }, narrow = { 8, 40, 30 }, none = { 1, 40, 40 };
  const FabOp reduce = FAB_OP_ALL_REDUCE, gather = FAB_OP_ALL_GATHER;

  assert_near (nvls_GBps ("hopper", "nvls", 1, reduce, 22802, fast), 320 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, reduce, 22802, narrow), 240 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22299, fast), 320 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22300, fast), 320, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22702, fast), 320, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22703, fast), 8 * 35.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22703, narrow), 8 * 27.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, gather, 22803, fast), 8 * 29.75 * 7 / 8, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, reduce, 22803, fast), 8 * 59.5 * 8 / 14, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, reduce, 22803, narrow), 8 * 30.0 * 8 / 14, 1e-12);
  assert_near (nvls_GBps ("blackwell", "nvls", 1, reduce, 22803, fast), 8 * 51.8 * 8 / 14, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls", 1, reduce, NEWEST, none), 123, 1e-12);
}

/* 2.18: 0.7 n / 2 (n - 1) of the graph. Up to 2.27 5/6 of the slower of heads and network, of which three and more
 * nodes have half. Since 2.28 the head's 59.5, the network's (twice on two nodes) and the cap (57.7 and 45.5),
 * whichever is least, over 2 (n - 1) / n. */
static void
trees_of_switches_are_believed_by_release (G_GNUC_UNUSED void **state)
{
  static const NcclGraph fast = { 8, 40, 100 }, narrow = { 8, 40, 20 }, none = { 1, 40, 40 };
  const FabOp op = FAB_OP_ALL_REDUCE;

  assert_near (nvls_GBps ("hopper", "nvls_tree", 2, op, 21899, narrow), 320 * 0.7 * 2 / 2, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 4, op, 21899, narrow), 160 * 0.7 * 4 / 6, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 2, op, 21900, narrow), 160 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 3, op, 22802, narrow), 80 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 3, op, 22802, fast), 320 * 5 / 6.0, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 2, op, 22803, narrow), 8 * 40.0 * 16 / 30, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 3, op, 22803, narrow), 8 * 20.0 * 24 / 46, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 2, op, 22803, fast), 8 * 57.7 * 16 / 30, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 3, op, 22803, fast), 8 * 45.5 * 24 / 46, 1e-12);
  assert_near (nvls_GBps ("hopper", "nvls_tree", 3, op, NEWEST, none), 77 / 2.0, 1e-12);
}

static double
round_bytes (const char *architecture, guint version, guint n_nodes, guint gpus, double nic_GBps,
             FabBytes bytes)
{
  CandidateSpec spec = { architecture, "nvls_tree", version,           n_nodes,
                         gpus,         NCCL_SIMPLE, FAB_OP_ALL_REDUCE, bytes };
  Candidate one;

  make (&one, &spec);
  one.self.n_rails = gpus;
  one.self.busbw_GBps = nic_GBps * gpus;
  return (double) one.self.algorithm->fill_bytes (&one.self) / nccl_nvls_channels (&one.self) / gpus / 2;
}

/* The largest chunk for each channel and head (NCCL_NVLS_CHUNKSIZE, NCCL_NVLSTREE_MAX_CHUNKSIZE). Up to 2.22 512 KiB,
 * then 128; 64 from four nodes on. Since 2.30.3 Blackwell on two nodes by its GPUs: 256 up to 4, 64 from 16 on, else
 * 128; on more 256 where each of up to eight has 96 GB/s of network, else 64. */
static void
chunks_of_trees_of_switches_go_by_release (G_GNUC_UNUSED void **state)
{
  const FabBytes large = (FabBytes) 1 << 40;

  assert_near (round_bytes ("hopper", 22299, 3, 8, 50, large), 512 * KIB, 1e-12);
  assert_near (round_bytes ("hopper", 22299, 4, 8, 50, large), 64 * KIB, 1e-12);
  assert_near (round_bytes ("hopper", 22300, 3, 8, 50, large), 128 * KIB, 1e-12);
  assert_near (round_bytes ("hopper", NEWEST, 2, 8, 100, large), 128 * KIB, 1e-12);
  assert_near (round_bytes ("hopper", NEWEST, 4, 8, 100, large), 64 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23002, 2, 4, 100, large), 128 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 2, 4, 100, large), 256 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 2, 5, 100, large), 128 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 2, 15, 100, large), 128 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 2, 16, 100, large), 64 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 3, 8, 96, large), 256 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 3, 8, 95, large), 64 * KIB, 1e-12);
  assert_near (round_bytes ("blackwell", 23003, 3, 9, 96, large), 64 * KIB, 1e-12);
}

/* Blackwell, three nodes of eight, 24 channels: 192 chunks are a round. Below 32 rounds of 256 KiB nothing changes at
 * first (256), below 16 of 256 they are 128, below 4 of 128 they are 64, and below one of 64 they are 32. */
static void
chunks_of_trees_of_switches_shrink_with_the_size (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes rounds, of, chunk;
  } rows[] = { { 16, 256, 256 }, { 4, 128, 128 }, { 1, 64, 64 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabBytes edge = 192 * rows[i].rounds * rows[i].of * KIB;

    assert_near (round_bytes ("blackwell", NEWEST, 3, 8, 100, edge), (double) (rows[i].chunk * KIB), 1e-12);
    assert_near (round_bytes ("blackwell", NEWEST, 3, 8, 100, edge - 1), (double) (rows[i].chunk * KIB / 2),
                 1e-12);
  }
}

/* A plug-in's chunk counts before NCCL's. */
static void
a_plugin_sets_the_chunk (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper",          "nvls_tree",       NEWEST, 4, 8, NCCL_SIMPLE,
                         FAB_OP_ALL_REDUCE, (FabBytes) 1 << 40 };
  NcclPlugin plugin = { .nvls_chunk_bytes = 512 * KIB };
  Candidate one;

  make (&one, &spec);
  one.self.plugin = &plugin;
  one.self.n_rails = 8;
  assert_near ((double) one.self.algorithm->fill_bytes (&one.self), 2.0 * 16 * 8 * 512 * KIB, 1e-12);
}

/* One node of Blackwell has 24 channels since 2.27.3, 32 before; two nodes 32, more 24 since 2.30.3; Hopper 16. */
static void
switches_have_channels_by_release (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture;
    guint version, n_nodes, n;
  } rows[] = { { "hopper", NEWEST, 1, 16 },   { "hopper", NEWEST, 3, 16 },    { "blackwell", 22702, 1, 32 },
               { "blackwell", 22703, 1, 24 }, { "blackwell", NEWEST, 2, 32 }, { "blackwell", 23002, 3, 32 },
               { "blackwell", 23003, 3, 24 }, { "blackwell", 23003, 9, 24 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    CandidateSpec spec = { rows[i].architecture, "nvls", rows[i].version, rows[i].n_nodes, 8, NCCL_SIMPLE,
                           FAB_OP_ALL_REDUCE,    MIB };
    Candidate one;

    make (&one, &spec);
    assert_int_equal (nccl_nvls_channels (&one.self), rows[i].n);
    one.self.n_rails = 5;
    assert_int_equal (nccl_nvls_heads (&one.self), rows[i].n_nodes == 1 ? 8 : 5);
    one.group.gpus_per_node = 72;
    one.self.n_rails = 72;
    assert_int_equal (nccl_nvls_heads (&one.self), 32);
  }
}

/* Reductions of many GPUs have 0.8 of the rate that eight have: at 64 of them, and 0.9 half-way in powers of two (8,
 * 22.6, 64); no less for more. */
static void
many_gpus_have_a_share_of_the_switch (G_GNUC_UNUSED void **state)
{
  static const double shares[][2] = { { 4, 1 },    { 8, 1 },   { 16, 1 - 0.2 / 3 }, { 32, 1 - 0.4 / 3 },
                                      { 64, 0.8 }, { 72, 0.8 } };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    for (guint n_nodes = 1; n_nodes <= 3; n_nodes++) {
      CandidateSpec spec = { "blackwell", "nvls_tree",       NEWEST, n_nodes, (guint) shares[i][0],
                             NCCL_SIMPLE, FAB_OP_ALL_REDUCE, MIB };
      Candidate one;
      double share = shares[i][1];

      make (&one, &spec);
      one.generation.node_switch = (FabSwitchCost){ .many_gpus = 64, .many_share = 0.8 };
      one.wires.every_bytes_per_s = 100;
      assert_near (nccl_many_share (&one.self), share, 1e-12);
      assert_near (one.self.algorithm->limit_bytes_per_s (&one.self),
                   share < 1      ? 100 * share
                   : n_nodes == 2 ? 97
                                  : 0,
                   1e-12);
      assert_near (nccl_algorithm ("nvls")->limit_bytes_per_s (&one.self), share < 1 ? 100 * share : 0,
                   1e-12);
    }
}

/* --- the network's reductions, PAT, sends --- */

/* Half of the bandwidth. Where f GPUs share a NIC, over f - (f - 1) / 2; 15 % less from Hopper on. */
static void
collnet_has_half_of_the_bandwidth (G_GNUC_UNUSED void **state)
{
  static const double factors[][2] = { { 16, 1 }, { 8, 1 }, { 4, 1.5 }, { 2, 2.5 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (factors); i++) {
    CandidateSpec spec = {
      i % 2 == 0 ? "hopper" : "ampere", "collnet_direct", NEWEST, 2, 8, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, MIB
    };
    Candidate one;

    make (&one, &spec);
    one.self.busbw_GBps = 100;
    one.form.n_channels = (guint) factors[i / 2][0];
    double GBps = 100 / factors[i / 2][1] / 2;
    assert_near (one.self.algorithm->bandwidth_GBps (&one.self), i % 2 == 0 ? 0.85 * GBps : GBps, 1e-12);
    assert_near (one.self.algorithm->limit_bytes_per_s (&one.self), (i % 2 == 0 ? 0.85 * GBps : GBps) * 1e9,
                 1e-12);
    assert_near (nccl_algorithm ("collnet_chain")->bandwidth_GBps (&one.self), 50, 1e-12);
  }
}

/* PAT: 0.85 of the ring's graph in 2.23, 0.75 since 2.24. Its bus bandwidth counts as it is, for the tuner turns that
 * of rings alone into bytes of size (n / (n - 1)). */
static void
pat_has_a_share_of_the_graph (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "pat", 22399, 2, 1, NCCL_SIMPLE, FAB_OP_ALL_GATHER, MIB };

  assert_near (believed_GBps (&spec), 0.85 * 360, 1e-12);
  spec.version = 22400;
  assert_near (believed_GBps (&spec), 0.75 * 360, 1e-12);
  spec.n_nodes = 3;
  spec.op = FAB_OP_REDUCE_SCATTER;
  assert_near (believed_GBps (&spec), 0.75 * 288, 1e-12);
}

/* Steps of PAT between nodes take 1 / 3.5 of a step, and each rank 2.8 us. */
static void
pat_counts_every_rank (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "pat", NEWEST, 8, 1, NCCL_SIMPLE, FAB_OP_ALL_GATHER, MIB };
  Candidate one;

  make (&one, &spec);
  one.form.n_inter_steps = 3;
  assert_near (one.self.algorithm->steps_us (&one.self, 1, 7), 3 * 7 / 3.5 + 8 * 2.8, 1e-12);
}

/* A rate of 100 GB/s is on the wires: half of it are LL's data. */
static void
sends_have_the_rate_of_their_links (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "direct", NEWEST, 2, 8, NCCL_LL, FAB_OP_SEND_RECV, MIB };
  Candidate one;

  make (&one, &spec);
  one.footprint.rate_bytes_per_s = 100e9;
  assert_near (one.self.algorithm->bandwidth_GBps (&one.self), 50, 1e-12);
  one.self.protocol = NCCL_SIMPLE;
  assert_near (one.self.algorithm->bandwidth_GBps (&one.self), 100, 1e-12);
}

/* --- what is considered --- */

static gboolean
is_considered (const Candidate *one, const char *model)
{
  return nccl_algorithm (model)->is_considered (&one->params, &one->self);
}

/* NVLS: a user has not switched it off, links between the GPUs, two heads; other operations than all-reduce since
 * 2.19, and with a head for every GPU, of which there are 32. */
static void
nvls_is_considered_where_a_switch_reduces (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "nvls", NEWEST, 1, 8, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, MIB };
  Candidate one;

  make (&one, &spec);
  assert_false (is_considered (&one, "nvls"));
  one.params.has_nvls = TRUE;
  assert_true (is_considered (&one, "nvls"));
  one.search.nvls.n = 1;
  assert_false (is_considered (&one, "nvls"));
  one.search.nvls.n = 2;
  assert_true (is_considered (&one, "nvls"));
  one.cluster.p2p = FAB_REACH_NONE;
  assert_false (is_considered (&one, "nvls"));
  one.cluster.p2p = FAB_REACH_NVL;
  one.self.op = FAB_OP_ALL_GATHER;
  one.self.version = 21899;
  assert_false (is_considered (&one, "nvls"));
  one.self.version = 21900;
  assert_true (is_considered (&one, "nvls"));
  one.group.gpus_per_node = 32;
  assert_true (is_considered (&one, "nvls"));
  one.group.gpus_per_node = 33;
  assert_false (is_considered (&one, "nvls"));
  one.self.op = FAB_OP_ALL_REDUCE;
  assert_true (is_considered (&one, "nvls"));
}

/* CollNet where a user asks for it; PAT since 2.23 and in RCCL; sends for what has no other kernel; trees everywhere
 * but between nodes of accelerators whose tuner is not known. */
static void
others_are_considered_where_they_exist (G_GNUC_UNUSED void **state)
{
  CandidateSpec spec = { "hopper", "pat", 22299, 2, 1, NCCL_SIMPLE, FAB_OP_ALL_GATHER, MIB };
  Candidate one;

  make (&one, &spec);
  assert_false (is_considered (&one, "collnet_direct") || is_considered (&one, "collnet_chain"));
  one.params.has_collnet = TRUE;
  assert_true (is_considered (&one, "collnet_direct") && is_considered (&one, "collnet_chain"));
  assert_false (is_considered (&one, "pat"));
  one.self.version = 22300;
  assert_true (is_considered (&one, "pat"));
  assert_true (is_considered (&one, "tree"));
  for (guint op = 0; op < FAB_N_OPS; op++) {
    one.self.op = (FabOp) op;
    assert_int_equal (is_considered (&one, "direct"), op == FAB_OP_ALL_TO_ALL || op == FAB_OP_SEND_RECV
                                                          || op == FAB_OP_GATHER || op == FAB_OP_SCATTER);
  }
  spec = (CandidateSpec){ "cdna2", "tree", 22203, 2, 8, NCCL_SIMPLE, FAB_OP_ALL_REDUCE, MIB };
  make (&one, &spec);
  assert_true (is_considered (&one, "pat"));
  assert_false (is_considered (&one, "tree"));
  one.group.n_nodes = 1;
  assert_true (is_considered (&one, "tree"));
  spec.architecture = "cdna3";
  make (&one, &spec);
  assert_true (is_considered (&one, "tree"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (simple_rings_have_the_speed_of_their_graph),
    cmocka_unit_test (ll_has_a_share_of_the_ring),
    cmocka_unit_test (ll_between_nodes_goes_by_the_processor),
    cmocka_unit_test (the_cap_of_ll_is_a_limit_too),
    cmocka_unit_test (ll128_has_a_share_of_the_ring_and_a_cap),
    cmocka_unit_test (trees_have_half_of_their_graph),
    cmocka_unit_test (trees_of_single_gpus_lose_a_part),
    cmocka_unit_test (trees_go_up_and_down),
    cmocka_unit_test (trees_are_corrected_by_size),
    cmocka_unit_test (trees_of_switches_are_corrected_beside_x86),
    cmocka_unit_test (trees_have_a_chunk_of_each_channel_on_the_way),
    cmocka_unit_test (trees_have_limits_of_their_blocks),
    cmocka_unit_test (switches_are_believed_by_release),
    cmocka_unit_test (trees_of_switches_are_believed_by_release),
    cmocka_unit_test (chunks_of_trees_of_switches_go_by_release),
    cmocka_unit_test (chunks_of_trees_of_switches_shrink_with_the_size),
    cmocka_unit_test (a_plugin_sets_the_chunk),
    cmocka_unit_test (switches_have_channels_by_release),
    cmocka_unit_test (many_gpus_have_a_share_of_the_switch),
    cmocka_unit_test (collnet_has_half_of_the_bandwidth),
    cmocka_unit_test (pat_has_a_share_of_the_graph),
    cmocka_unit_test (pat_counts_every_rank),
    cmocka_unit_test (sends_have_the_rate_of_their_links),
    cmocka_unit_test (nvls_is_considered_where_a_switch_reduces),
    cmocka_unit_test (others_are_considered_where_they_exist),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
