/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_rccl.c - what RCCL does in its own way on the MI300X of the catalogue: an all-reduce over eight of them in
 * two steps, and protocols that the size alone decides between nodes. */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/test.h"
#include "tests/unit/models/library/nccl/candidate.h"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

/* "direct ll 4 13.5us wire 2.0000" */
static char *
plan_text (const FabCatalog *catalog, const char *node, guint n_nodes, const char *params, FabOp op,
           FabBytes bytes)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s, nodes: %u}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      node, n_nodes);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabGroup group = { fab_simulation_cluster (play->simulation), n_nodes, 8 };
  Params *parsed = params_new (&fab_library_nccl.info, params);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], parsed->params);
  FabCollectivePlan plan = { 0 };

  assert_true (fab_library_plan (library, &group, op, bytes, &plan, NULL));
  char *text = g_strdup_printf ("%s %s %u %.2fus wire %.4f", plan.algorithm, plan.protocol, plan.n_channels,
                                (double) fab_collective_plan_idle_ps (&plan) / 1e6, plan.wire_factor);
  fab_library_destroy (library);
  params_free (parsed);
  return text;
}

static void
assert_plan_of (const FabCatalog *catalog, const char *node, guint n_nodes, const char *params, FabOp op,
                FabBytes bytes, const char *expected)
{
  g_autofree char *text = plan_text (catalog, node, n_nodes, params, op, bytes);

  if (!g_str_has_prefix (text, expected))
    fail_msg ("%s, not %s", text, expected);
}

static void
assert_plan (const FabCatalog *catalog, guint n_nodes, const char *params, FabOp op, FabBytes bytes,
             const char *expected)
{
  assert_plan_of (catalog, "mi300x", n_nodes, params, op, bytes, expected);
}

/* 13.5 us + 64 KiB / 44 GB/s = 14.99; 20.5 us + 16 MiB / 128.6 GB/s = 150.96. */
static void
eight_of_a_node_go_to_all_at_once (void **state)
{
  const FabOp op = FAB_OP_ALL_REDUCE;

  assert_plan (*state, 1, "{}", op, 8, "direct ll 4 13.50us");
  assert_plan (*state, 1, "{}", op, 64 << 10, "direct ll 4 14.99us");
  assert_plan (*state, 1, "{}", op, 512 << 10, "direct ll 8 25.42us");
  assert_plan (*state, 1, "{}", op, 1 << 20, "direct simple 8 28.65us");
  assert_plan (*state, 1, "{}", op, 16 << 20, "direct simple 8 150.96us");
  assert_plan (*state, 1, "{}", op, 32 << 20, "ring simple");
}

/* MSCCL is off where a process has several GPUs, and where a user asks for an algorithm or a protocol. */
static void
others_take_rings (void **state)
{
  assert_plan (*state, 1, "{gpus_per_process: 8}", FAB_OP_ALL_REDUCE, 1 << 20, "ring");
  assert_plan (*state, 1, "{algorithm: ring}", FAB_OP_ALL_REDUCE, 1 << 20, "ring");
  assert_plan (*state, 1, "{protocol: simple}", FAB_OP_ALL_REDUCE, 1 << 20, "ring simple");
  assert_plan (*state, 1, "{}", FAB_OP_ALL_GATHER, 1 << 20, "ring");
  assert_plan (*state, 2, "{algorithm: ring}", FAB_OP_ALL_REDUCE, 1 << 20, "ring");
}

/* All-reduce by the whole size: LL to 1 MiB, LL128 to 9 MiB; all-gather by that of a rank, 96 KiB and 4.8 MiB, of
 * 16; reduce-scatter 128 KiB and 3.1 MiB. Before 2.25 the tuner chooses, and there is no LL128. */
static void
sizes_decide_protocols_between_nodes (void **state)
{
  const FabBytes kib = 1024, mib = 1024 * kib;

  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, mib, "tree ll ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 8 * mib, "tree ll128 ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 16 * mib, "tree simple ");
  assert_plan (*state, 3, "{}", FAB_OP_ALL_REDUCE, 32 * mib, "tree ll128 ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_GATHER, 16 * 96 * kib, "ring ll ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_GATHER, 16 * 128 * kib, "ring ll128 ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_GATHER, 128 * mib, "ring simple ");
  assert_plan (*state, 2, "{}", FAB_OP_REDUCE_SCATTER, 16 * 128 * kib, "ring ll ");
  assert_plan (*state, 2, "{}", FAB_OP_REDUCE_SCATTER, 16 * 256 * kib, "ring ll128 ");
  assert_plan (*state, 2, "{nccl_version: 2.22.3}", FAB_OP_ALL_REDUCE, 8 * mib, "tree simple ");
  assert_plan (*state, 2, "{protocol: simple}", FAB_OP_ALL_REDUCE, mib, "tree simple ");
}

/* RCCL's estimates for 16 GPUs whose rings carry 384 GB/s. 512 KiB, ring with LL: 12 + 28 x 1 + 2 x 9.5 us, and the
 * bytes at 384 x 0.08 x 16/30 = 16.4 GB/s: 91 us; trees with LL: 12 + 2 (7 x 0.9 + 10.5), and 384 x 0.06 / 2 x 0.9:
 * 96 us. 64 MiB: trees with Simple 99 us and 21.1 GB/s x 1, rings a tenth of 205 GB/s. 128 MiB: rings with Simple have
 * 742 us and 205 GB/s x 1 from there on, trees 0.7 of 21.1 GB/s. A tree takes 6.8 + 14 x 0.51 + 2 x 10.5 us for 8 B. */
static void
trees_carry_middle_sizes_between_nodes (void **state)
{
  const FabBytes kib = 1024, mib = 1024 * kib;

  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 8, "tree ll 1 34.94us");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 256 * kib, "tree ll ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 512 * kib, "ring ll ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 64 * mib, "tree simple ");
  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 256 * mib, "ring simple ");
  assert_plan (*state, 16, "{}", FAB_OP_ALL_REDUCE, 256 * mib, "tree simple ");
}

/* 2 x 16 rings of MI300X, 64 channels of CDNA 4. A block has 256 threads, so that 32 KiB fill 16 channels of LL, each
 * thread with 8 bytes; the rings of LL need that much for each of 16 ranks. */
static void
channels_between_nodes_are_those_of_the_board (void **state)
{
  const FabBytes kib = 1024, mib = 1024 * kib;

  assert_plan (*state, 2, "{}", FAB_OP_ALL_REDUCE, 256 * mib, "ring simple 32 ");
  assert_plan_of (*state, "mi355x", 2, "{}", FAB_OP_ALL_REDUCE, 32 * kib, "tree ll 16 ");
  assert_plan_of (*state, "mi355x", 2, "{}", FAB_OP_ALL_REDUCE, 16 * mib, "tree ll128 64 ");
  assert_plan_of (*state, "mi355x", 2, "{protocol: ll, algorithm: ring}", FAB_OP_ALL_REDUCE, 512 * kib,
                  "ring ll 16 ");
}

/* What 2.30.4 prints of two MI350X nodes before pull request 9406 of ROCm/rocm-systems. */
static void
later_releases_keep_flags_longer (void **state)
{
  const FabBytes mib = 1 << 20;
  const char *later = "{nccl_version: 2.30.4}";

  assert_plan_of (*state, "mi350x", 2, later, FAB_OP_ALL_REDUCE, 32 * mib, "tree ll128 64 ");
  assert_plan_of (*state, "mi350x", 2, later, FAB_OP_ALL_REDUCE, 64 * mib, "ring ll128 64 ");
  assert_plan_of (*state, "mi350x", 2, later, FAB_OP_ALL_REDUCE, 128 * mib, "ring simple 64 ");
  assert_plan_of (*state, "mi350x", 2, later, FAB_OP_ALL_GATHER, 16 * 64 * 1024, "ring ll ");
  assert_plan_of (*state, "mi350x", 2, "{}", FAB_OP_ALL_REDUCE, 32 * mib, "tree simple 64 ");
}

/* A line of LL128 has 56 of 64 bytes of data, where NCCL has 120 of 128. */
static void
lines_with_flags_have_64_bytes (void **state)
{
  g_autofree char *text = plan_text (*state, "mi355x", 2, "{}", FAB_OP_ALL_REDUCE, 8 << 20);

  assert_non_null (strstr (text, "wire 1.1429"));
}

/* Eight chains, one for each NIC, take ways through the mesh of 56 links that share it evenly: 8 x 7 hops, each with an
 * eighth of the bytes, up and down. In the order of their numbers, eight links would carry all of it. */
static void
chains_share_the_mesh (void **state)
{
  g_autoptr (Play) play = play_new (*state,
                                    "name: t\ncluster: {node: mi300x, nodes: 2}\ncollectives: plain\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
                                    NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, 2, 8 };
  Params *parsed = params_new (&fab_library_nccl.info, "{algorithm: tree}");
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], parsed->params);
  FabCollectivePlan plan = { 0 };
  double most = 0;

  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, 64 << 20, &plan, NULL));
  for (guint i = 0; i < plan.footprint->n; i++) {
    const FabLinkClass *link_class = fab_graph_link_class (cluster->graph, plan.footprint->links[i]);

    if (link_class->technology->joins == FAB_JOINS_ACCELERATORS)
      most = MAX (most, plan.footprint->line_weights[i]);
  }
  assert_true (most > 0.24 && most < 0.4);
  fab_library_destroy (library);
  params_free (parsed);
}

/* On one node reduce-scatter has LL to 343 KiB of a rank. */
static void
reduce_scatter_keeps_flags_longer_on_one_node (void **state)
{
  assert_plan (*state, 1, "{}", FAB_OP_REDUCE_SCATTER, 8 * 343 * 1024, "ring ll ");
}

/* RCCL halves a tree's chunk of 512 KiB until its depth times 8 are in the part of a channel, down to 128 KiB, then
 * until 4 for each level are, down to 64 KiB, and then one, down to 32 KiB. The depth is one level for each further GPU
 * of a node, and one for each doubling of the nodes. */
static void
chunks_of_trees_are_halved_for_every_level (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes, gpus_per_node, depth;
  } shapes[] = { { 2, 8, 8 }, { 3, 8, 8 }, { 4, 8, 9 }, { 16, 8, 11 }, { 2, 1, 1 }, { 8, 4, 6 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const FabBytes kib = 1024, level = shapes[i].depth * kib;
    const struct {
      FabBytes part, chunk;
    } rows[] = { { 8 * level * 512, 512 },     { 8 * level * 512 - 1, 256 }, { 8 * level * 256, 256 },
                 { 8 * level * 256 - 1, 128 }, { 4 * level * 128, 128 },     { 4 * level * 128 - 1, 64 },
                 { level * 64, 64 },           { level * 64 - 1, 32 },       { 1, 32 } };

    for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
      Candidate one;

      candidate_make (&one,
                      &(CandidateSpec){ "cdna3", "tree", 22707, shapes[i].n_nodes, shapes[i].gpus_per_node,
                                        NCCL_SIMPLE, FAB_OP_ALL_REDUCE, 3 * rows[k].part });
      one.self.n_channels = 3;
      assert_int_equal (rccl_tree_fill_bytes (&one.self), 3 * rows[k].chunk * kib);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (eight_of_a_node_go_to_all_at_once),
    cmocka_unit_test (others_take_rings),
    cmocka_unit_test (sizes_decide_protocols_between_nodes),
    cmocka_unit_test (trees_carry_middle_sizes_between_nodes),
    cmocka_unit_test (channels_between_nodes_are_those_of_the_board),
    cmocka_unit_test (later_releases_keep_flags_longer),
    cmocka_unit_test (lines_with_flags_have_64_bytes),
    cmocka_unit_test (chains_share_the_mesh),
    cmocka_unit_test (reduce_scatter_keeps_flags_longer_on_one_node),
    cmocka_unit_test (chunks_of_trees_are_halved_for_every_level),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
