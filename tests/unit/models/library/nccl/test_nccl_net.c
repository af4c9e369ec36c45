/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_net.c - collectives between nodes: chunks, messages, rounds, rendezvous, what network plug-ins choose. */
#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "sim/fabric/generation.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

typedef struct {
  FabProcessor processor;
  FabGeneration generation;
  FabCluster cluster;
  FabGroup group;
  FabCollectiveForm form;
  FabLinkClass port;
  NcclWires wires;
  NcclSearch search;
  NcclCandidate candidate;
} Case;

/* `self` is filled in place because its parts point at one another. */
static void
case_make (Case *self, const char *model, NcclProtocol protocol, guint n_nodes, guint gpus)
{
  static const NcclParams params;

  *self = (Case){ .processor = { .name = "intel" },
                  .form = { .intra_kind = FAB_HOP_DIRECT, .n_inter_steps = 2, .n_channels = 4 } };
  self->cluster = (FabCluster){ .processor = &self->processor, .generation = &self->generation };
  self->group = (FabGroup){ .cluster = &self->cluster, .n_nodes = n_nodes, .gpus_per_node = gpus };
  self->wires.port = &self->port;
  self->search.tree = (NcclGraph){ 16, 22.5, 22.5 };
  self->search.nvls = (NcclGraph){ 16, 20, 20 };
  self->candidate = (NcclCandidate){ .group = &self->group,
                                     .architecture = nccl_architecture ("hopper"),
                                     .algorithm = nccl_algorithm (model),
                                     .tuning = nccl_algorithm (model)->nccl,
                                     .caps = &nccl_architecture ("hopper")->caps,
                                     .search = &self->search,
                                     .form = &self->form,
                                     .wires = &self->wires,
                                     .params = &params,
                                     .plugin = nccl_plugin ("none"),
                                     .protocol = protocol,
                                     .version = 22902,
                                     .op = FAB_OP_ALL_REDUCE,
                                     .n_ranks = n_nodes * gpus,
                                     .most_channels = 16,
                                     .n_channels = 16,
                                     .n_rails = gpus,
                                     .busbw_GBps = 360 };
}

/* A tree over switches of two nodes takes 0.97 of what links between GPUs and switches carry. With one GPU per node a
 * tree with Simple has half of 16 channels x 41.4 GB/s, the tuner's cap on two nodes of Hopper. */
static void
trees_are_limited_by_what_is_measured (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "nvls_tree", NCCL_SIMPLE, 2, 8);
  c.wires.every_bytes_per_s = 272.5e9;
  assert_near (c.candidate.algorithm->limit_bytes_per_s (&c.candidate), 264.325e9, 1e-9);
  case_make (&c, "nvls_tree", NCCL_SIMPLE, 3, 8);
  assert_true (c.candidate.algorithm->limit_bytes_per_s (&c.candidate) <= 0);
  case_make (&c, "tree", NCCL_SIMPLE, 2, 1);
  assert_near (c.candidate.algorithm->limit_bytes_per_s (&c.candidate), 331.2e9, 1e-9);
}

/* Two nodes of 8: depth 1 + 1 + 0.8 = 2.8, so that a channel wants 22.4 chunks above 128 KiB and 5.6 above 32 KiB.
 * 2 MiB over 16 channels are 128 KiB each: 576000 is halved to 72000 (1 of it), then to 36000 (3) and 18000. 8 MiB are
 * 512 KiB each: 72000 fit 7 times, which is enough. */
static void
chunks_of_ll128_trees_are_halved (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "tree", NCCL_LL128, 2, 8);
  c.candidate.bytes = 2 * MIB;
  assert_int_equal (nccl_tree_ll128_chunk_bytes (&c.candidate), 18000);
  c.candidate.bytes = 8 * MIB;
  assert_int_equal (nccl_tree_ll128_chunk_bytes (&c.candidate), 72000);
  c.candidate.bytes = (FabBytes) 1024 * MIB;
  assert_int_equal (nccl_tree_ll128_chunk_bytes (&c.candidate), 576000);
}

/* 16 ranks and 16 channels of 64 MiB: a part has 256 KiB, which Simple sends as two slices of 128 KiB and LL as eight
 * messages of 32 KiB, 64 KiB on the wire. 4 MiB: 16 KiB, one slice; slices are not cut below 32 KiB. */
static void
messages_of_rings_are_parts_of_ranks (G_GNUC_UNUSED void **state)
{
  Case c;
  guint n;

  case_make (&c, "ring", NCCL_SIMPLE, 4, 4);
  c.candidate.bytes = 64 * MIB;
  assert_int_equal (nccl_message_bytes (&c.candidate, &n), 128 * KIB);
  assert_int_equal (n, 2);
  c.candidate.bytes = 4 * MIB;
  assert_int_equal (nccl_message_bytes (&c.candidate, &n), 16 * KIB);
  assert_int_equal (n, 1);
  c.candidate.protocol = NCCL_LL;
  c.candidate.bytes = 64 * MIB;
  assert_int_equal (nccl_message_bytes (&c.candidate, &n), 64 * KIB);
  assert_int_equal (n, 8);
}

/* A round: 16 channels x heads x chunk, and two are on the way. 10 x 4: chunks of 64 KiB from four nodes on, 4 MiB a
 * round. 2 x 8 with 512 KiB (before 2.23): 32 MiB are less than 4 rounds of 128 KiB (16 MiB), so 64 KiB, 8 MiB a round;
 * 512 MiB are less than 32 of 512 KiB (64 MiB) and not less than 16 of 256 KiB: 32 MiB a round. */
static void
rounds_of_nvls_trees_follow_the_size (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "nvls_tree", NCCL_SIMPLE, 10, 4);
  c.candidate.bytes = 64 * MIB;
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 4 * MIB);
  case_make (&c, "nvls_tree", NCCL_SIMPLE, 2, 8);
  c.candidate.version = 22003;
  c.candidate.bytes = 32 * MIB;
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 8 * MIB);
  c.candidate.bytes = 512 * MIB;
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 32 * MIB);
  c.candidate.version = 22902; /* chunks of 128 KiB at most */
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 16 * MIB);
  c.candidate.plugin = nccl_plugin ("efa-p5"); /* sets 512 KiB */
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 32 * MIB);
}

/* Messages of a tree of LL: 2 KiB are 4 KiB on the wire, below the threshold of 4098 B; 4 KiB are 8 KiB. Each of the
 * two steps between nodes waits for a handshake of 10 us. Steps of Simple contain one. */
static void
longer_messages_wait_for_a_handshake (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "tree", NCCL_LL, 2, 4);
  c.port.rendezvous = (FabRendezvous){ .from_bytes = 4098, .handshake_ps = 10 * 1000000 };
  c.candidate.n_channels = 1;
  c.candidate.bytes = 2 * KIB;
  assert_null (nccl_rendezvous (&c.candidate));
  c.candidate.bytes = 4 * KIB;
  assert_near (nccl_handshakes_us (&c.candidate, 2), 20, 1e-6);
  c.candidate.protocol = NCCL_SIMPLE;
  assert_true (nccl_handshakes_us (&c.candidate, 2) == 0);
}

/* 16 channels of an H100 move a fifth of 36.7 GB/s each in a tree of LL128, 117.44 GB/s together, but no more than the
 * tuner believes: 0.5 x 120/128 x 0.92 of 16 x 12.5 GB/s are 86.25. On one node only the tuner's belief counts, 0.5 x
 * 7/9 x 0.92 of 16 x 22.5. */
static void
trees_of_ll128_are_limited_by_their_blocks (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "tree", NCCL_LL128, 2, 8);
  assert_near (c.candidate.algorithm->limit_bytes_per_s (&c.candidate), 117.44e9, 1e-6);
  c.search.tree.intra_GBps = c.search.tree.inter_GBps = 12.5;
  assert_near (c.candidate.algorithm->limit_bytes_per_s (&c.candidate), 86.25e9, 1e-6);
  case_make (&c, "tree", NCCL_LL128, 1, 8);
  assert_near (c.candidate.algorithm->limit_bytes_per_s (&c.candidate), 128.8e9, 1e-6);
}

/* 32 GPUs of a switch ask it for sums, of however many there are: an all-reduce needs no more, an all-gather does.
 * Between nodes those ask that own a NIC: four of eight with four NICs, so that a round has 16 x 4 x 64 KiB. */
static void
switches_of_many_gpus_have_32_heads (G_GNUC_UNUSED void **state)
{
  const NcclParams params = { .has_nvls = TRUE };
  Case c;

  case_make (&c, "nvls_tree", NCCL_SIMPLE, 4, 8);
  c.candidate.bytes = 64 * MIB;
  c.candidate.n_rails = 4;
  assert_int_equal (nccl_nvls_heads (&c.candidate), 4);
  assert_int_equal (c.candidate.algorithm->fill_bytes (&c.candidate), 2 * 4 * MIB);

  case_make (&c, "nvls_tree", NCCL_SIMPLE, 2, 32);
  c.cluster.p2p = FAB_REACH_NVL;
  assert_true (c.candidate.algorithm->is_considered (&params, &c.candidate));
  assert_int_equal (nccl_nvls_heads (&c.candidate), 32);
  c.group.gpus_per_node = 64;
  assert_true (c.candidate.algorithm->is_considered (&params, &c.candidate));
  assert_int_equal (nccl_nvls_heads (&c.candidate), 32);
  c.candidate.op = FAB_OP_ALL_GATHER;
  assert_false (c.candidate.algorithm->is_considered (&params, &c.candidate));
}

/* Measured with 72 GPUs: the share falls with the logarithm of their number from 8 on, and no further. */
static void
many_gpus_get_a_share_of_their_links (G_GNUC_UNUSED void **state)
{
  const FabGeneration generation = { .node_switch = { .many_gpus = 72, .many_share = 0.8 } };
  Case c;

  case_make (&c, "nvls_tree", NCCL_SIMPLE, 2, 8);
  c.cluster.generation = &generation;
  assert_near (nccl_many_share (&c.candidate), 1, 0);
  c.group.gpus_per_node = 24;
  assert_near (nccl_many_share (&c.candidate), 0.9, 1e-9);
  c.group.gpus_per_node = 72;
  assert_near (nccl_many_share (&c.candidate), 0.8, 1e-9);
  c.group.gpus_per_node = 144;
  assert_near (nccl_many_share (&c.candidate), 0.8, 1e-9);
}

static double
us_with_messages (Case *c)
{
  FabCollectivePlan plan = { .op = c->candidate.op,
                             .bytes = c->candidate.bytes,
                             .n_ranks = c->candidate.n_ranks };

  return (double) nccl_messages_ps (&c->candidate, &plan) / 1e6;
}

/* 16 ranks, 16 channels, 4 ports: 30 steps x 2 slices x 4 channels of a port = 240 messages, 5.6 us each. LL of 1 MiB:
 * one message per step, 120 of them, 11 us each. Nothing where messages are short. */
static void
ports_pass_messages_one_after_another (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "ring", NCCL_SIMPLE, 4, 4);
  c.port.rendezvous = (FabRendezvous){ 4098, 10 * 1000000, 5600000, 11 * 1000000 };
  c.candidate.bytes = 32 * MIB;
  assert_near (us_with_messages (&c), 240 * 5.6, 1e-6);
  c.candidate.protocol = NCCL_LL;
  c.candidate.bytes = 1 * MIB;
  assert_near (us_with_messages (&c), 120 * 11, 1e-6);
  c.candidate.bytes = 256 * KIB;
  assert_true (us_with_messages (&c) == 0);
}

/* 16 ranks, 30 steps, 2 channels: a processor takes 7 us for each message of LL, however short. Those of Simple, which
 * the adapter fetches, cost it nothing. */
static void
a_processor_matches_messages_one_after_another (G_GNUC_UNUSED void **state)
{
  const NcclParams software = { .matching = NCCL_MATCHING_SOFTWARE };
  Case c;

  case_make (&c, "ring", NCCL_LL, 4, 4);
  c.port.software_match_ps = 7 * 1000000;
  c.candidate.n_channels = 2;
  c.candidate.bytes = 1 * KIB;
  assert_true (us_with_messages (&c) == 0);
  c.cluster.has_software_matching = TRUE;
  assert_near (us_with_messages (&c), 30 * 2 * 7, 1e-6);
  c.cluster.has_software_matching = FALSE;
  c.candidate.params = &software;
  assert_near (us_with_messages (&c), 30 * 2 * 7, 1e-6);
  c.candidate.protocol = NCCL_SIMPLE;
  assert_true (us_with_messages (&c) == 0);
}

typedef struct {
  const char *plugin;
  guint n_nodes;
  FabOp op;
  FabBytes bytes;
  const char *model; /* NULL: NCCL chooses */
  NcclProtocol protocol;
} Choice;

/* Between 16 and 127 ranks of p5en trees of LL128 end at 13107200 x (129499136 / 13107200)^x, x = log (n / 16) /
 * log (127 / 16): 28.2 MB at 32 ranks. */
static void
plugins_choose_by_regions (G_GNUC_UNUSED void **state)
{
  static const Choice choices[] = {
    { "efa-p5en", 4, FAB_OP_ALL_REDUCE, 128 * KIB, "tree", NCCL_LL },
    { "efa-p5en", 4, FAB_OP_ALL_REDUCE, 28 * 1000 * 1000, "tree", NCCL_LL128 },
    { "efa-p5en", 4, FAB_OP_ALL_REDUCE, 29 * 1000 * 1000, "ring", NCCL_LL128 },
    { "efa-p5en", 4, FAB_OP_ALL_REDUCE, 400 * MIB, "nvls_tree", NCCL_SIMPLE },
    { "efa-p5en", 4, FAB_OP_ALL_REDUCE, 512 * MIB, "ring", NCCL_SIMPLE },
    { "efa-p5en", 32, FAB_OP_ALL_REDUCE, 256 * MIB, "nvls_tree",
      NCCL_SIMPLE }, /* no ring of LL128 above 128 ranks */
    { "efa-p5", 4, FAB_OP_ALL_REDUCE, 8, "tree", NCCL_LL128 },
    { "efa-p6-b200", 8, FAB_OP_ALL_GATHER, 2 * MIB, "ring", NCCL_LL },
    { "efa-p5", 4, FAB_OP_ALL_GATHER, 8, NULL, 0 },
    { "efa-p5en", 2, FAB_OP_ALL_REDUCE, 8, NULL, 0 }, /* two nodes */
    { "none", 4, FAB_OP_ALL_REDUCE, 8, NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    const Choice *choice = &choices[i];
    const FabCluster cluster = { 0 };
    const FabGroup group = { .cluster = &cluster, .n_nodes = choice->n_nodes, .gpus_per_node = 8 };
    const char *model = NULL;
    NcclProtocol protocol = 0;
    gboolean is_chosen = nccl_plugin_chooses (nccl_plugin (choice->plugin), &group, choice->op, choice->bytes,
                                              &model, &protocol);

    assert_int_equal (is_chosen, choice->model != NULL);
    if (is_chosen) {
      assert_string_equal (model, choice->model);
      assert_int_equal (protocol, choice->protocol);
    }
  }
  assert_null (nccl_plugin ("efa-p99"));
}

/* What the plug-in tells counts once for each step, twice for Simple; p5 has 75 us. */
static void
plugins_tell_latency (G_GNUC_UNUSED void **state)
{
  Case c;

  case_make (&c, "tree", NCCL_LL, 2, 8);
  assert_true (nccl_told_us (&c.candidate) == 0);
  c.candidate.plugin = nccl_plugin ("efa-p5");
  assert_near (nccl_told_us (&c.candidate), 75, 1e-6);
  c.candidate.protocol = NCCL_SIMPLE;
  assert_near (nccl_told_us (&c.candidate), 150, 1e-6);
}

static void
every_plugin_of_the_catalogue_is_known (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);
  guint n_plugins = 0;

  for (guint i = 0; nodes[i]; i++) {
    const char *plugin = fab_catalog_node (catalog, nodes[i])->plugin;

    if (plugin != NULL && nccl_plugin (plugin) == NULL)
      fail_msg ("node %s: plug-in %s is not known", nodes[i], plugin);
    n_plugins += plugin != NULL;
  }
  assert_true (n_plugins > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (chunks_of_ll128_trees_are_halved),
    cmocka_unit_test (messages_of_rings_are_parts_of_ranks),
    cmocka_unit_test (rounds_of_nvls_trees_follow_the_size),
    cmocka_unit_test (trees_are_limited_by_what_is_measured),
    cmocka_unit_test (longer_messages_wait_for_a_handshake),
    cmocka_unit_test (ports_pass_messages_one_after_another),
    cmocka_unit_test (a_processor_matches_messages_one_after_another),
    cmocka_unit_test (plugins_choose_by_regions),
    cmocka_unit_test (plugins_tell_latency),
    cmocka_unit_test (trees_of_ll128_are_limited_by_their_blocks),
    cmocka_unit_test (every_plugin_of_the_catalogue_is_known),
    cmocka_unit_test (switches_of_many_gpus_have_32_heads),
    cmocka_unit_test (many_gpus_get_a_share_of_their_links),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
