/* SPDX-License-Identifier: Apache-2.0 */
/* test_token_exchange.c - numbers of ranks and nodes that a token goes to, and what an exchange costs, by hand. */
#include "sim/collective/plan/token_exchange.h"

#include "sim/base/error.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

static double
parts (guint n_experts, guint per_token, guint n_groups, guint groups_per_token, guint n_parts)
{
  FabRouting routing = { n_experts, per_token, n_groups, groups_per_token };

  return fab_routing_parts (&routing, n_parts);
}

static void
a_token_goes_to_as_many_parts_as_combinations_say (G_GNUC_UNUSED void **state)
{
  /* None of two of eight experts is one of two: 6/8 x 5/7 = 30/56. */
  assert_near (parts (8, 2, 0, 0, 4), 4 * (1 - 30.0 / 56), 1e-12);
  assert_near (parts (8, 1, 0, 0, 4), 1, 1e-12);
  assert_near (parts (8, 8, 0, 0, 4), 4, 1e-12);
  assert_near (parts (8, 2, 0, 0, 8), 2, 1e-12);
  assert_near (parts (8, 2, 0, 0, 1), 1, 1e-12);
  /* More ranks than experts: the token has two experts, on two ranks. */
  assert_near (parts (8, 2, 0, 0, 16), 2, 1e-12);
}

static void
groups_keep_the_experts_of_a_token_together (G_GNUC_UNUSED void **state)
{
  /* Four groups of two experts, two groups for a token: a group is picked in 1 of 2 cases, and then neither of its
   * experts is one of the two of four in 2/4 x 1/3 = 1 of 6. */
  assert_near (parts (8, 2, 4, 2, 4), 4 * 0.5 * 5 / 6, 1e-12);
  /* Two groups in a part: none is picked in 1 of 6 cases, one in 4 of 6, both in 1 of 6. */
  assert_near (parts (8, 2, 4, 2, 2), 2 * (1 - (1.0 / 6 + 4.0 / 6 / 6)), 1e-12);
  assert_near (parts (8, 2, 4, 2, 8), 2, 1e-12);
  /* DeepSeek-V3 on eight nodes: a group is picked in 1 of 2 cases, and has none of the eight experts of 128 with
   * 96/128 x ... x 89/121 = 0.092747. */
  assert_near (parts (256, 8, 8, 4, 8), 8 * 0.5 * (1 - 0.092747), 1e-5);
  assert_near (parts (256, 8, 8, 8, 8), parts (256, 8, 0, 0, 8), 1e-12);
}

static void
scales_go_with_fp8 (G_GNUC_UNUSED void **state)
{
  assert_near (fab_token_bytes (7168, FAB_PRECISION_BF16), 14336, 1e-9);
  assert_near (fab_token_bytes (7168, FAB_PRECISION_FP8), 7168 + 56 * 4, 1e-9);
}

/* One GB/s and one ns for a token and multiprocessor. */
static const FabTokenCost slow_cost = { .start_ps = 10000000,
                                        .expert_ps = 1000000,
                                        .start_bytes_per_s = 1000000000,
                                        .fill_ps = 5000000,
                                        .token_ps = 1000,
                                        .sm_bytes_per_s = 1000000000,
                                        .network_fraction = 0.5,
                                        .source = "none" };

static void
multiprocessors_copy_a_token_for_each_rank (G_GNUC_UNUSED void **state)
{
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  FabTokenCost limited = { .start_ps = 1, .links_fraction = 0.5 };
  double copies = 4 * (1 - 30.0 / 56);

  assert_near (fab_token_exchange_kernel_s (&exchange, &slow_cost, &(FabTokenRank){ 1, 4, 100, 0 }, 100),
               100 * (1e-9 + copies * 1000 / 1e9) / 4, 1e-12);
  /* Between nodes every second one passes tokens on. */
  assert_near (fab_token_exchange_kernel_s (&exchange, &slow_cost, &(FabTokenRank){ 2, 2, 100, 0 }, 100),
               100 * (1e-9 + copies * 1000 / 1e9) / 2, 1e-12);
  /* Three of four ranks are others. */
  assert_near (fab_token_exchange_kernel_s (&exchange, &limited, &(FabTokenRank){ 1, 4, 100, 2e9 }, 100),
               100 * copies * 1000 * 0.75 / 1e9, 1e-12);
  exchange.is_low_latency = TRUE;
  assert_near (fab_token_exchange_kernel_s (&exchange, &slow_cost, &(FabTokenRank){ 1, 4, 100, 0 }, 100),
               100 * (1e-9 + 2 * 1000 / 1e9) / 8, 1e-12);
  assert_near (fab_token_exchange_kernel_s (&exchange, &slow_cost, &(FabTokenRank){ 1, 4, 5, 0 }, 100),
               100 * (1e-9 + 2 * 1000 / 1e9) / 5, 1e-12);
}

static double
most_on_links (const Rig *rig, const FabCollectivePlan *plan, FabVertexKind kind)
{
  double most = 0;

  for (guint i = 0; i < plan->footprint->n; i++) {
    const FabLink *link = fab_graph_link (rig->graph, plan->footprint->links[i]);

    if (fab_graph_vertex (rig->graph, link->src)->kind == kind)
      most = MAX (most, plan->footprint->weights[i] * (double) plan->bytes);
  }
  return most;
}

static void
a_token_crosses_to_a_node_once (G_GNUC_UNUSED void **state)
{
  RigSpec spec = { .n_nodes = 2,
                   .gpus_per_node = 2,
                   .nics_per_node = 2,
                   .gpu_bytes_per_s = 1000000000000,
                   .nic_bytes_per_s = 1000000000 };
  g_autoptr (Rig) rig = rig_new (&spec);
  FabGeneration generation = { .tokens = { slow_cost, slow_cost }, .low_latency = { slow_cost, slow_cost } };
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;
  /* None of two of eight experts is one of a node's four: 4/8 x 3/7 = 12/56. */
  double nodes = 2 * (1 - 12.0 / 56), tokens = 1e6;

  rig->cluster.generation = &generation;
  for (guint i = 0; i < 2; i++) {
    exchange.is_combine = i == 1;
    FabLibrary *library = fab_token_exchange_new (&exchange);

    assert_true (fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, 2000000000, &plan, NULL));
    assert_near (most_on_links (rig, &plan, FAB_VERTEX_NIC), tokens * 1000 * nodes / 2, 1e-9);
    /* 0.39 of a second at half of a NIC's rate; kernels are faster: 1e6 x 1857 ns / 2 = 0.93 ms. */
    assert_near (fab_ps_to_seconds (fab_collective_plan_idle_ps (&plan)),
                 tokens * 1000 * nodes / 2 / 0.5e9 + 10e-6 + 8e-6 + 1e-6 + 5e-6, 1e-9);
    fab_library_destroy (library);
  }
}

static void
low_latency_sends_a_message_for_each_expert (G_GNUC_UNUSED void **state)
{
  RigSpec spec = { .n_nodes = 2,
                   .gpus_per_node = 2,
                   .nics_per_node = 2,
                   .gpu_bytes_per_s = 1000000000000,
                   .nic_bytes_per_s = 1000000000 };
  g_autoptr (Rig) rig = rig_new (&spec);
  FabGeneration generation = { .low_latency = { slow_cost, slow_cost } };
  FabTokenExchange exchange = {
    .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4, .is_low_latency = TRUE
  };
  FabLibrary *library = fab_token_exchange_new (&exchange);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  rig->cluster.generation = &generation;
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, 2000000, &plan, NULL));
  assert_near (most_on_links (rig, &plan, FAB_VERTEX_NIC), 1000 * 2 * 1000 / 2.0, 1e-9);
  assert_int_equal (plan.n_channels, 8);
  fab_library_destroy (library);
}

static void
a_generation_without_measurements_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (4);
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  FabLibrary *library = fab_token_exchange_new (&exchange);
  FabGroup group = rig_group (rig);
  g_autoptr (GError) error = NULL;
  FabCollectivePlan plan;

  assert_false (fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, 8000, &plan, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  fab_library_destroy (library);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_token_goes_to_as_many_parts_as_combinations_say),
    cmocka_unit_test (groups_keep_the_experts_of_a_token_together),
    cmocka_unit_test (scales_go_with_fp8),
    cmocka_unit_test (multiprocessors_copy_a_token_for_each_rank),
    cmocka_unit_test (a_token_crosses_to_a_node_once),
    cmocka_unit_test (low_latency_sends_a_message_for_each_expert),
    cmocka_unit_test (a_generation_without_measurements_is_told),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
