/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl.c - what models/library/nccl makes of rings: choice, startup, channels, chunks, the host.
 *
 * Eight A100 with 300 GB/s of NVLink have 12 links, on which NCCL's search finds 24 channels and 240 GB/s. LL starts
 * after 6.6 + 14 x 1.0 = 20.6 us, LL128 after 14 + 14 x 2.5 = 49 us, Simple after 15 + 14 x 5 = 85 us (the generation
 * `ampere` of the rig).
 */
#include <math.h>

#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/technologies.h"
#include "tests/support/test.h"

#define G G_GUINT64_CONSTANT (1000000000)

typedef struct {
  Rig *rig;
  Params *params;
  FabLibrary *library;
  FabCollectivePlan plan;
} Plan;

static void
plan_make (Plan *self, const RigSpec *spec, const char *yaml, FabOp op, FabBytes bytes)
{
  self->rig = rig_new (spec);
  self->params = params_new (&fab_library_nccl.info, yaml);
  self->library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], self->params->params);
  FabGroup group = rig_group (self->rig);
  assert_true (fab_library_plan (self->library, &group, op, bytes, &self->plan, NULL));
}

static void
plan_clear (Plan *self)
{
  fab_library_destroy (self->library);
  params_free (self->params);
  rig_free (self->rig);
}

static const RigSpec one_node = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 300 * G };

static double
idle_us (const RigSpec *spec, const char *yaml, FabOp op, FabBytes bytes)
{
  Plan p;

  plan_make (&p, spec, yaml, op, bytes);
  double us = (double) fab_collective_plan_idle_ps (&p.plan) / 1e6;
  plan_clear (&p);
  return us;
}

/* Time of 8 B over n nodes of two GPUs, for each of 4 n - 2 steps. */
static double
ll128_step_us (guint n_nodes)
{
  const RigSpec spec = { .n_nodes = n_nodes,
                         .gpus_per_node = 2,
                         .nics_per_node = 2,
                         .gpu_bytes_per_s = 300 * G,
                         .nic_bytes_per_s = 25 * G };

  return idle_us (&spec, "{algorithm: ring, protocol: ll128}", FAB_OP_ALL_REDUCE, 8) / (4 * n_nodes - 2);
}

/* Half of the steps stay in a node and wait for the slowest pair: 2.4 us x (1 + 1/2 + 1/3 + 1/4) = 5 us, and from 19
 * nodes on the 8.5 us that the tuner gives a crossing of the network. The others take 4 us. All of it follows a base
 * of 14 us. */
static void
steps_of_ll128_end_at_a_crossing_of_the_network (G_GNUC_UNUSED void **state)
{
  assert_near (ll128_step_us (4), (5 + 4) / 2.0 + 14 / 14.0, 0.05);
  assert_near (ll128_step_us (64), (8.5 + 4) / 2 + 14 / 254.0, 0.005);
  assert_near (ll128_step_us (128), (8.5 + 4) / 2 + 14 / 510.0, 0.005);
}

static guint
channels (const char *yaml, FabBytes bytes)
{
  Plan p;

  plan_make (&p, &one_node, yaml, FAB_OP_ALL_REDUCE, bytes);
  guint n = p.plan.n_channels;
  plan_clear (&p);
  return n;
}

/* A channel needs 512 threads x 8 bytes x 8 ranks = 32 KiB for LL, 640 x 8 for LL128, 512 x 64 for Simple. */
static void
small_sizes_use_few_channels (G_GNUC_UNUSED void **state)
{
  assert_int_equal (channels ("{protocol: ll}", 8), 1);
  assert_int_equal (channels ("{protocol: ll}", 65535), 1);
  assert_int_equal (channels ("{protocol: ll}", 65536), 2);
  assert_int_equal (channels ("{protocol: ll}", 1 << 30), 24);
  assert_int_equal (channels ("{protocol: ll128}", 5 * 5120), 5);
  assert_int_equal (channels ("{protocol: simple}", 5 * 32768), 5);
}

/* Eight NICs of 25 GB/s: 64 KiB are one channel of LL (512 x 8 x 16 ranks), whose flags a CPU reads at
 * 2.5 + 1 GB/s, and two of Simple, which are two NICs and two thread blocks of 24 GB/s. */
static void
few_channels_use_few_nics (G_GNUC_UNUSED void **state)
{
  RigSpec two = { .n_nodes = 2,
                  .gpus_per_node = 8,
                  .nics_per_node = 8,
                  .gpu_bytes_per_s = 4000 * G,
                  .nic_bytes_per_s = 25 * G };
  double ll_startup_us = 6.6 + 28 * 1.0 + 2 * 2.7, simple_startup_us = 1.4 * (8.4 + 28 * 5.0 + 2 * 14);

  assert_near (idle_us (&two, "{algorithm: ring, protocol: ll, net_fraction: 1}", FAB_OP_ALL_REDUCE, 65536)
                   - ll_startup_us,
               65536 * 1.875 / 3.5e3, 1e-5);
  assert_near (idle_us (&two, "{algorithm: ring, protocol: simple, net_fraction: 1}", FAB_OP_ALL_REDUCE,
                        65536)
                   - simple_startup_us,
               65536 * 1.875 / 48e3, 1e-5);
}

/* Two of eight channels leave six NICs, but every GPU's port to its switch has both: 20 GB/s of it, not a quarter. The
 * bytes hide all steps but one of 30. */
static void
few_channels_use_whole_ports (G_GNUC_UNUSED void **state)
{
  RigSpec two = { .n_nodes = 2,
                  .gpus_per_node = 8,
                  .nics_per_node = 8,
                  .gpu_bytes_per_s = 20 * G,
                  .nic_bytes_per_s = 800 * G };
  double startup_us = 1.4 * (8.4 + (28 * 5.0 + 2 * 14) / 30);

  assert_near (idle_us (&two, "{algorithm: ring, protocol: simple, max_channels: 2, net_fraction: 1}",
                        FAB_OP_ALL_REDUCE, 64000000)
                   - startup_us,
               64000000 * 1.875 / 20e3, 1e-5);
}

static void
releases_are_numbers (G_GNUC_UNUSED void **state)
{
  g_autofree char *exact = nccl_version_text (22902), *line = nccl_version_text (22999);

  assert_int_equal (nccl_version_parse ("2.29.2"), 22902);
  assert_int_equal (nccl_version_parse ("2.29"), 22999);
  assert_int_equal (nccl_version_parse ("2.31"), 0);
  assert_int_equal (nccl_version_parse ("2"), 0);
  assert_int_equal (nccl_version_parse ("2.29.2-1"), 0);
  assert_int_equal (nccl_version_parse ("2.x.2"), 0);
  assert_string_equal (exact, "2.29.2");
  assert_string_equal (line, "2.29");
}

/* The unit's GPUs are A100, which NCCL drives from 2.7.3 on. */
static void
a_release_must_drive_the_gpus (G_GNUC_UNUSED void **state)
{
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, "{nccl_version: 2.6.4}");
  Rig *rig = rig_new (&one_node);
  FabGroup group = rig_group (rig);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabCollectivePlan plan = { 0 };
  g_autoptr (GError) error = NULL;

  assert_false (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, 8, &plan, &error));
  assert_non_null (strstr (error->message, "2.6.4 does not support"));
  assert_non_null (strstr (error->message, "2.7.3"));
  fab_library_destroy (library);
  rig_free (rig);
}

/* 220 ns for each of 24 channels but the first before 2.12; whole chunks before 2.22. */
static void
a_release_implies_what_its_host_did (G_GNUC_UNUSED void **state)
{
  NcclParams old = { 0 }, older = { 0 }, new = { 0 };

  nccl_version_apply (21108, &older);
  nccl_version_apply (22105, &old);
  nccl_version_apply (22203, &new);
  assert_int_equal (older.issue_channel_ps, 220000);
  assert_int_equal (old.issue_channel_ps, 0);
  assert_true (older.has_whole_chunks && old.has_whole_chunks);
  assert_false (new.has_whole_chunks);
}

static void
assert_choice (FabBytes bytes, const char *protocol, double startup_us)
{
  Plan p;

  plan_make (&p, &one_node, "{algorithm: ring}", FAB_OP_ALL_REDUCE, bytes);
  assert_string_equal (p.plan.protocol, protocol);
  assert_near ((double) p.plan.startup_ps / 1e6, startup_us, 1e-6);
  plan_clear (&p);
}

/* What the tuner believes, in us, S in MB:
 *   LL      6.6 + 14 x 0.6 = 15.0 + S x 1750 / 87.7 (its cap; half of 240 would be more)
 *   LL128  14.0 + 14 x 1.9 = 40.6 + S x 1750 / 220.8 (0.92 x 240)
 *   Simple  8.4 + 14 x 3.4 = 56.0 + S x 1750 / 240
 * LL is overtaken at 25.6 / (19.954 - 7.926) = 2.128 MB, LL128 at 15.4 / (7.926 - 7.292) = 24.29 MB. */
static void
the_tuner_chooses_the_protocol (G_GNUC_UNUSED void **state)
{
  assert_choice (8, "ll", 20.6);
  assert_choice (2120000, "ll", 20.6);
  assert_choice (2140000, "ll128", 49);
  assert_choice (24200000, "ll128", 49);
  assert_choice (24400000, "simple", 85);
}

/* Two nodes of four: 12 steps inside and 2 between, x 1.4 as every rank has 64 bytes per channel:
 * 1.4 x (8.4 + 12 x 5 + 2 x 14) = 134.96 us; below 64 bytes 96.4. Two thread blocks of 24 GB/s, then one, do their
 * bytes and the steps one after the other, which takes longer than the wires' bytes and the steps together. */
static void
a_long_simple_ring_between_nodes_pays_for_its_steps (G_GNUC_UNUSED void **state)
{
  RigSpec two = { .n_nodes = 2,
                  .gpus_per_node = 4,
                  .nics_per_node = 1,
                  .gpu_bytes_per_s = 1000 * G,
                  .nic_bytes_per_s = 25 * G };
  Plan p;

  plan_make (&p, &two, "{algorithm: ring, protocol: simple}", FAB_OP_ALL_REDUCE, 1000000);
  assert_near ((double) fab_collective_plan_idle_ps (&p.plan) / 1e6, 134.96 + 1e6 * 1.75 / 48e3, 1e-6);
  assert_int_equal (p.plan.n_channels, 2);
  plan_clear (&p);
  plan_make (&p, &two, "{algorithm: ring, protocol: simple}", FAB_OP_ALL_REDUCE, 64 * 2 * 8 - 1);
  assert_near ((double) fab_collective_plan_idle_ps (&p.plan) / 1e6, 96.4 + 1023 * 1.75 / 24e3, 1e-6);
  plan_clear (&p);
}

/* LL128: a chunk is a multiple of 640 x 30 bytes, times 8 ranks and 24 channels: 3.6864 MB. 4 MB take what 7.3728 MB
 * do; 7.3728 MB what they are. All-gather likewise, of half the bytes per link. */
static void
whole_chunks_round_up (G_GNUC_UNUSED void **state)
{
  const char *even = "{algorithm: ring, protocol: ll128}",
             *whole = "{algorithm: ring, protocol: ll128, whole_chunks: true}";
  double us = 49 + 7.3728e6 * 1.75 * 128 / 120 / 300e3;

  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 4000000), us, 1e-6);
  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 7372800), us, 1e-6);
  assert_near (idle_us (&one_node, even, FAB_OP_ALL_REDUCE, 7372800), us, 1e-6);
  assert_true (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 7372801) > us + 20);
  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_GATHER, 4000000),
               14 + 7 * 2.5 + 7.3728e6 * 0.875 * 128 / 120 / 300e3, 1e-6);
}

/* A generation whose rings were measured. */
static double
ring_us (guint n_gpus, const char *yaml, FabOp op, FabBytes bytes)
{
  const FabGeneration generation = {
    .rings = { .ll = { .base_ps = 5000000,
                       .step_ps = 1000000,
                       .channel_bytes_per_s = 5 * G,
                       .copy_bytes_per_s = 5 * G },
               .simple = { .base_ps = 10000000, .step_ps = 6000000, .copy_bytes_per_s = 20 * G } }
  };
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = 300 * G };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, yaml);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  rig->cluster.generation = &generation;
  assert_true (fab_library_plan (library, &group, op, bytes, &plan, NULL));
  double us = (double) fab_collective_plan_idle_ps (&plan) / 1e6;
  fab_library_destroy (library);
  return us;
}

/* LL, two ranks, 24 channels of 3 MB, all-gather: 1.5 MB on a link, one step: 5 + 1 + 1.5e6 / 24 x (1/5e3 + 1/5e3) us.
 * Four ranks, all-reduce: 4.5 MB, six steps: 5 + 6 + 4.5e6 / 24 x (1/5e3 + 1/30e3). */
static void
blocks_copy_once_in_a_loop (G_GNUC_UNUSED void **state)
{
  const char *ll = "{algorithm: ring, protocol: ll}";

  assert_near (ring_us (2, ll, FAB_OP_ALL_GATHER, 3000000), 6 + 1.5e6 / 24 * 0.4e-3, 1e-6);
  assert_near (ring_us (4, ll, FAB_OP_ALL_REDUCE, 3000000), 11 + 4.5e6 / 24 * (0.2e-3 + 1 / 30e3), 1e-6);
}

/* Simple, four ranks, all-gather of 32 MB: 24 MB on a link take 80 us, 26.667 in each of three steps of 6 us; 24
 * channels copy at 20 GB/s, a third of a loop beyond the fourteenth part that the link's rate contains.
 *   10 + 3 x sqrt (6^2 + 26.667^2) + 24e6 / (24 x 20e3) x (1/3 - 1/14) = 10 + 82.0 + 13.1 us
 * A small one, 480 kB: 1.2 us of bytes are behind 18 us of steps. */
static void
bytes_hide_the_latency_of_steps (G_GNUC_UNUSED void **state)
{
  const char *simple = "{algorithm: ring, protocol: simple}";
  double large = 10 + 3 * sqrt (36 + 26.6667 * 26.6667) + 50 * (1 / 3.0 - 1 / 14.0);

  assert_near (ring_us (4, simple, FAB_OP_ALL_GATHER, 32000000), large, 1e-4);
  assert_true (ring_us (4, simple, FAB_OP_ALL_GATHER, 480000) < 10 + 18 + 1);
}

/* Eight H100, 450 GB/s: 1 + 1/8 of the size on a link, 400 GB/s of size. Rounds of 16 channels x 8 GPUs x 128 KiB take
 * 41.943 us, of which 10 are latency: the bytes alone take sqrt (41.943^2 - 10^2) = 40.734 us. 1 GiB has 64 of them and
 * 2 under way: 5 + 66 x 41.943 us. 4 MiB go in chunks of 16 KiB, 2 rounds of sqrt (5.0917^2 + 10^2) = 11.222 us:
 * 5 + 4 x 11.222 us. */
static void
small_rounds_of_the_switch_show_their_latency (G_GNUC_UNUSED void **state)
{
  const FabGeneration generation = { .node_switch = {
                                         .base_ps = 5000000, .latency_ps = 10000000, .n_rounds = 2 } };
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 450 * G, .gpus_reduce = TRUE };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, "{algorithm: nvls}");
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan large, small;

  rig->cluster.generation = &generation;
  rig->cluster.architecture = "hopper";
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, 1 << 30, &large, NULL));
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, 4 << 20, &small, NULL));
  assert_near ((double) fab_collective_plan_idle_ps (&large) / 1e6, 5 + 66 * 41.943, 1e-4);
  assert_near ((double) fab_collective_plan_idle_ps (&small) / 1e6, 5 + 4 * 11.222, 1e-4);
  fab_library_destroy (library);
}

/* A chain is a pipeline of chunks: nothing waits for a full round. */
static void
chains_do_not_round (G_GNUC_UNUSED void **state)
{
  assert_true (idle_us (&one_node, "{whole_chunks: true}", FAB_OP_BROADCAST, 4000000)
               == idle_us (&one_node, "", FAB_OP_BROADCAST, 4000000));
}

/* 8 A100 x (4.3 us + channels beyond the first x 0.22 us) when that is longer: 34.4 us at 1 channel, 41.44 at 5. */
static void
a_slow_host_is_waited_for (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{gpus_per_process: 8, issue_per_channel: 220ns}";

  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 8), 34.4, 1e-6);
  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 5 * 32768), 41.44, 1e-6);
  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 1 << 30),
               idle_us (&one_node, "", FAB_OP_ALL_REDUCE, 1 << 30), 1e-9);
}

/* Forms that are left out for what is known without them could not have been chosen. */
static void
least_time_holds_for_every_form (G_GNUC_UNUSED void **state)
{
  static const guint nodes[] = { 2, 3, 64, 2048 };
  static const FabBytes sizes[] = { 4, 1 << 20, 1 << 30 };
  static const FabTimePs endpoints_ps[] = { 0, 730000, 5000000 };
  static const FabTechnology *const technologies[] = { &test_nvlink, &test_pcie };
  const NcclArchitecture *hopper = nccl_architecture ("hopper");
  const FabProcessor processor = { .name = "intel" };
  const FabCluster cluster = { .generation = &fab_generation_unknown, .processor = &processor };
  const NcclSearch search = { .nvls = { 8, 40, 48 } };

  for (guint i = 0; i < 4 * 3 * 3 * 2; i++) {
    FabGroup group = { .cluster = &cluster, .n_nodes = nodes[i % 4], .gpus_per_node = 8 };
    FabCollectiveForm form = { .intra_kind = FAB_HOP_DIRECT,
                               .intra_technology = technologies[i / 36],
                               .inter_endpoint_ps = endpoints_ps[i / 12 % 3] };
    NcclCandidate candidate = { .group = &group,
                                .architecture = hopper,
                                .algorithm = nccl_algorithm ("nvls_tree"),
                                .tuning = nccl_algorithm ("nvls_tree")->nccl,
                                .estimate = nccl_algorithm ("nvls_tree")->nccl,
                                .caps = &hopper->caps,
                                .search = &search,
                                .version = 23007,
                                .protocol = NCCL_SIMPLE,
                                .op = FAB_OP_ALL_REDUCE,
                                .bytes = sizes[i / 4 % 3],
                                .n_ranks = 8 * group.n_nodes,
                                .most_channels = 16,
                                .plugin = nccl_plugin ("none"),
                                .busbw_GBps = 360 };
    double least_us = candidate.algorithm->least_us (&candidate);

    candidate.form = &form;
    assert_true (least_us <= nccl_tuner_us (&candidate));
    if (form.inter_endpoint_ps == 0 && i / 36 == 1)
      assert_true (least_us == nccl_tuner_us (&candidate));
  }
}

/* Every row names a model that exists, and has what no row can do without. */
static void
rows_are_complete (G_GNUC_UNUSED void **state)
{
  const FabModelInfo *const *models = fab_models.lists[FAB_MODEL_ALGORITHM];
  guint n_rows = 0, n_searched = 0;

  for (guint i = 0; models[i] != NULL; i++) {
    const NcclAlgorithm *row = nccl_algorithm (models[i]->name);

    if (row == NULL)
      continue;
    n_rows++;
    n_searched += row->is_searched;
    assert_true (row->nccl != NULL && row->bandwidth_GBps != NULL && row->ops != 0);
    assert_true ((row->protocols >> NCCL_SIMPLE & 1) != 0);
    assert_true (!row->is_searched || row == nccl_searched_algorithm ());
    if (row->nccl_name != NULL)
      assert_string_equal (fab_nccl_algorithm_model (row->nccl_name), row->model);
  }
  assert_int_equal (n_rows, 8);
  assert_int_equal (n_searched, 1);
}

static void
names_are_those_of_nccl (G_GNUC_UNUSED void **state)
{
  g_autofree char *names = fab_nccl_algorithm_names ();

  assert_string_equal (names, "Ring, Tree, CollnetDirect, CollnetChain, NVLS, NVLSTree, PAT");
  assert_string_equal (fab_nccl_algorithm_model ("COLLNETDIRECT"), "collnet_direct");
  assert_string_equal (fab_nccl_algorithm_model ("nvls_tree"), "nvls_tree");
  assert_null (fab_nccl_algorithm_model ("direct")); /* NCCL_ALGO cannot ask for send and receive */
  assert_string_equal (fab_nccl_algorithm_kernel ("tree"), "TREE");
  assert_string_equal (fab_nccl_algorithm_kernel ("nvls"), "RING");
  assert_string_equal (fab_nccl_algorithm_kernel (NULL), "RING");
}

/* 20 MB take LL128 by the tuner's estimate. What is fastest is never slower than that, it can be asked for, and then it
 * takes the time that was said. Where the tuner takes it by itself nothing is said. */
static void
the_fastest_way_is_known (G_GNUC_UNUSED void **state)
{
  guint n_known = 0;

  for (FabBytes bytes = 1000; bytes < 1000 * 1000 * 1000; bytes *= 3) {
    Plan p;

    plan_make (&p, &one_node, "{}", FAB_OP_ALL_REDUCE, bytes);
    const FabCollectivePlanBest *best = &p.plan.best;
    if (best->algorithm != NULL) {
      g_autofree char *yaml = g_strdup_printf ("{algorithm: %s, protocol: %s, min_channels: %u}",
                                               best->algorithm, best->protocol, best->n_channels);

      assert_true (best->idle_ps < fab_collective_plan_idle_ps (&p.plan));
      assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, bytes), (double) best->idle_ps / 1e6, 1e-9);
      n_known++;
    }
    plan_clear (&p);
  }
  assert_true (n_known > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (steps_of_ll128_end_at_a_crossing_of_the_network),
    cmocka_unit_test (releases_are_numbers),
    cmocka_unit_test (a_release_must_drive_the_gpus),
    cmocka_unit_test (a_release_implies_what_its_host_did),
    cmocka_unit_test (small_sizes_use_few_channels),
    cmocka_unit_test (few_channels_use_few_nics),
    cmocka_unit_test (few_channels_use_whole_ports),
    cmocka_unit_test (the_tuner_chooses_the_protocol),
    cmocka_unit_test (the_fastest_way_is_known),
    cmocka_unit_test (a_long_simple_ring_between_nodes_pays_for_its_steps),
    cmocka_unit_test (whole_chunks_round_up),
    cmocka_unit_test (blocks_copy_once_in_a_loop),
    cmocka_unit_test (bytes_hide_the_latency_of_steps),
    cmocka_unit_test (small_rounds_of_the_switch_show_their_latency),
    cmocka_unit_test (chains_do_not_round),
    cmocka_unit_test (a_slow_host_is_waited_for),
    cmocka_unit_test (least_time_holds_for_every_form),
    cmocka_unit_test (rows_are_complete),
    cmocka_unit_test (names_are_those_of_nccl),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
