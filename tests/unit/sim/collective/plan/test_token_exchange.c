/* SPDX-License-Identifier: Apache-2.0 */
/* test_token_exchange.c - numbers of ranks and nodes that a token goes to, and what an exchange costs, by hand. */
#include "sim/collective/plan/token_exchange.h"

#include "sim/base/error.h"
#include "tests/support/lanes.h"
#include "tests/support/mesh.h"
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
  /* One group for a token is one part; groups that do not count are none. */
  assert_near (parts (8, 2, 4, 1, 4), 1, 1e-12);
  assert_near (parts (8, 2, 4, 0, 4), 4 * (1 - 30.0 / 56), 1e-12);
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

/* Of three nodes each sends to both others what a third of the tokens' copies is; none of two of nine experts is
 * one of a node's three in 6/9 x 5/8 = 30/72 of all cases. */
static void
a_node_sends_to_each_other_node (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 3,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = 1000000000000,
                                             .nic_bytes_per_s = 1000000000 });
  FabGeneration generation = { .tokens = { slow_cost, slow_cost } };
  FabTokenExchange exchange = { .routing = { 9, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  rig->cluster.generation = &generation;
  for (guint i = 0; i < 2; i++) {
    exchange.is_combine = i == 1;
    FabLibrary *library = fab_token_exchange_new (&exchange);

    assert_true (fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, 2000000000, &plan, NULL));
    assert_near (most_on_links (rig, &plan, FAB_VERTEX_NIC), 1e6 * 1000 * 3 * (1 - 30.0 / 72) * 2 / 3, 1e-9);
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

/* --- every message --- */

/* The messages of an exchange in a group, each in one piece. */
static void
assert_messages (const FabGroup *group, FabTokenExchange exchange, const char *expected)
{
  FabLibrary *library = fab_token_exchange_new (&exchange);
  FabCollectivePlan plan;

  assert_true (fab_library_plan (library, group, FAB_OP_ALL_TO_ALL, 8000, &plan, NULL));
  plan.steps.n_chunks = 1;
  FabSchedule *schedule = plan.steps.make (plan.steps.owner, &plan);
  lanes_assert (schedule, group->cluster, expected);
  fab_schedule_free (schedule);
  fab_library_destroy (library);
}

static Rig *
two_nodes (guint gpus_per_node, guint nics_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = 2,
                              .gpus_per_node = gpus_per_node,
                              .nics_per_node = nics_per_node,
                              .gpu_bytes_per_s = 1000000000000,
                              .nic_bytes_per_s = 1000000000 });
}

static FabGeneration
same_costs (void)
{
  return (FabGeneration){ .tokens = { slow_cost, slow_cost },
                          .low_latency = { slow_cost, slow_cost },
                          .hybrid = { slow_cost, slow_cost } };
}

/* Per copy of a token: 11/7 nodes over two of them, and 13/7 ranks over two of each node. A dispatch goes to the rank
 * of the same number in the other node and from there to others; a combine the other way round. */
static void
tokens_go_by_ranks_of_the_same_number (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (2, 2);
  FabGeneration generation = same_costs ();
  FabGroup group = rig_group (rig);
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };

  rig->cluster.generation = &generation;
  assert_messages (&group, exchange,
                   "0>2 0.3928571429\n1>3 0.3928571429\n2>0 0.3928571429\n3>1 0.3928571429\n"
                   "0>1 0.4642857143 after 2\n1>0 0.4642857143 after 3\n"
                   "2>3 0.4642857143 after 0\n3>2 0.4642857143 after 1\n");
  exchange.is_combine = TRUE;
  assert_messages (&group, exchange,
                   "0>1 0.4642857143\n1>0 0.4642857143\n2>3 0.4642857143\n3>2 0.4642857143\n"
                   "2>0 0.3928571429 after 3\n3>1 0.3928571429 after 2\n"
                   "0>2 0.3928571429 after 1\n1>3 0.3928571429 after 0\n");
  exchange.is_low_latency = TRUE;
  assert_messages (&group, exchange,
                   "0>1 0.25\n1>2 0.25\n2>3 0.25\n3>0 0.25\n0>2 0.25\n1>3 0.25\n2>0 0.25\n3>1 0.25\n"
                   "0>3 0.25\n1>0 0.25\n2>1 0.25\n3>2 0.25\n");
}

/* Three ranks of a node send to the others in turn: of 6 experts, 2 on each, a token is on 3 x (1 - 4/6 x 3/5) = 1.8.
 */
static void
tokens_go_to_all_ranks_of_a_node (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (3);
  FabGeneration generation = same_costs ();
  FabGroup group = rig_group (rig);

  rig->cluster.generation = &generation;
  assert_messages (&group, (FabTokenExchange){ .routing = { 6, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 },
                   "0>1 0.3\n1>2 0.3\n2>0 0.3\n0>2 0.3\n1>0 0.3\n2>1 0.3\n");
}

/* Two ranks in one node and one in the other, which both of them send to: of 6 experts, 3 in each node, a token is in
 * 2 x (1 - 3/6 x 2/5) = 1.6 nodes, and on 1.8 ranks. */
static void
a_node_with_fewer_ranks_takes_turns (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (2, 1);
  FabGeneration generation = same_costs ();
  const guint ranks[] = { 0, 1, 3 };
  FabTokenExchange exchange = { .routing = { 6, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  FabCluster view;

  rig->cluster.generation = &generation;
  fab_cluster_view_ranks (&view, &rig->cluster, ranks, 3);
  FabGroup group = { &view, view.n_nodes, view.gpus_per_node };
  FabLibrary *library = fab_token_exchange_new (&exchange);
  FabCollectivePlan plan;
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, 8000, &plan, NULL));
  plan.steps.n_chunks = 1;
  FabSchedule *schedule = plan.steps.make (plan.steps.owner, &plan);
  lanes_assert (schedule, &rig->cluster, /* ranks of the whole machine */
                "0>3 0.4\n1>3 0.4\n3>0 0.4\n0>1 0.45 after 2\n1>0 0.45\n");
  fab_schedule_free (schedule);
  fab_library_destroy (library);
  fab_cluster_clear (&view);
}

/* --- what a plan says --- */

static FabCollectivePlan
plan_of (const FabGroup *group, const FabTokenExchange *exchange, FabLibrary **library)
{
  FabCollectivePlan plan;

  *library = fab_token_exchange_new (exchange);
  assert_true (fab_library_plan (*library, group, FAB_OP_ALL_TO_ALL, 8000, &plan, NULL));
  return plan;
}

/* Each kind of kernels has costs of its own for each of the two ways. */
static void
every_kind_has_its_own_costs (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_low_latency, is_hybrid, is_combine;
    const char *algorithm, *protocol;
    guint n_channels;
    FabTimePs start_ps;
  } rows[] = { { FALSE, FALSE, FALSE, "dispatch", "normal", 4, 1000 },
               { FALSE, FALSE, TRUE, "combine", "normal", 4, 2000 },
               { TRUE, FALSE, FALSE, "dispatch", "low_latency", 8, 3000 },
               { TRUE, FALSE, TRUE, "combine", "low_latency", 8, 4000 },
               { FALSE, TRUE, FALSE, "dispatch", "hybrid", 4, 5000 },
               { FALSE, TRUE, TRUE, "combine", "hybrid", 4, 6000 } };
  FabGeneration generation = { .tokens = { { .start_ps = 1000 }, { .start_ps = 2000 } },
                               .low_latency = { { .start_ps = 3000 }, { .start_ps = 4000 } },
                               .hybrid = { { .start_ps = 5000 }, { .start_ps = 6000 } } };
  g_autoptr (Rig) rig = rig_new_flat (4);
  FabGroup group = rig_group (rig);

  rig->cluster.generation = &generation;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 },
                                  .is_low_latency = rows[i].is_low_latency,
                                  .is_hybrid = rows[i].is_hybrid,
                                  .is_combine = rows[i].is_combine,
                                  .token_bytes = 1000,
                                  .n_sms = 4 };
    FabLibrary *library;
    FabCollectivePlan plan = plan_of (&group, &exchange, &library);

    assert_string_equal (plan.algorithm, rows[i].algorithm);
    assert_string_equal (plan.protocol, rows[i].protocol);
    assert_int_equal (plan.n_channels, rows[i].n_channels);
    assert_in_range (plan.startup_ps, rows[i].start_ps, rows[i].start_ps + 1); /* is rounded up */
    assert_int_equal (plan.latency_ps, 0);
    assert_near (plan.wire_factor, 1, 0);
    assert_near (plan.ends_bytes_per_s, 0, 0); /* kernels that take no time limit nothing */
    fab_library_destroy (library);
  }
}

/* A rank has 3 TB/s to others of its node in a mesh of four, of which kernels use half. Of 13/7 copies of 1000 bytes
 * 3/4 are for others, and 4 tokens take 4 x 13/7 x 750 / 1.5e12 s. The PCIe links do not count. */
static void
links_of_accelerators_limit_kernels (G_GNUC_UNUSED void **state)
{
  const FabTokenCost cost = { .start_ps = 1000, .links_fraction = 0.5, .network_fraction = 1 };
  FabGeneration generation = { .tokens = { cost, cost }, .low_latency = { cost, cost } };
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };

  for (guint n_nodes = 1; n_nodes <= 2; n_nodes++) {
    const Wiring wiring = wiring_full (4, 1);
    g_autoptr (Rig) rig = mesh_new (&wiring, n_nodes, n_nodes > 1);
    FabGroup group = rig_group (rig);
    FabLibrary *library, *fast;
    /* On 8 ranks with one expert each a token is on two. */
    double copies = n_nodes == 1 ? 13.0 / 7 : 2, kernel_s = 4 * copies * 750 / 1.5e12;

    rig->cluster.generation = &generation;
    exchange.is_low_latency = FALSE;
    FabCollectivePlan plan = plan_of (&group, &exchange, &library);
    assert_near (plan.ends_bytes_per_s, 8000 / kernel_s, 1e-9);
    assert_near (plan.most_bytes_per_s, 8000 / kernel_s, 1e-9);
    assert_near (plan.steps.pace_bytes_per_s, 8000 / kernel_s, 1e-9);
    /* One message for each of two experts; of a node's ranks those of other nodes have no part. */
    exchange.is_low_latency = TRUE;
    FabCollectivePlan low = plan_of (&group, &exchange, &fast);
    assert_near (low.ends_bytes_per_s, 8000 / (4 * 2 * 1000 * 3.0 / (4 * n_nodes) / 1.5e12), 1e-9);
    fab_library_destroy (library);
    fab_library_destroy (fast);
  }
}

/* Between nodes adapters reach a part of their rate, and the wires' latency and the adapters' come before the bytes.
 * The first part of the tokens takes as long as kernels do, at most `fill`. */
static void
a_plan_over_nodes_waits_for_its_adapters (G_GNUC_UNUSED void **state)
{
  FabTokenCost cost = { .start_ps = 1000000,
                        .expert_ps = 1000,
                        .start_bytes_per_s = 1000000000,
                        .token_ps = 4000,
                        .network_fraction = 0.8 };
  FabTokenExchange exchange = { .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4 };
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                             .gpus_per_node = 2,
                                             .nics_per_node = 2,
                                             .gpu_bytes_per_s = 1000000000000,
                                             .nic_bytes_per_s = 1000000000,
                                             .gpu_latency_ps = 50,
                                             .nic_latency_ps = 600 });
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < 2; i++) {
    FabLibrary *library;

    cost.fill_ps = i == 0 ? 5000 : 9000; /* 4 tokens x 4 ns on two of four multiprocessors: 8 ns */
    FabGeneration generation = { .tokens = { cost, cost } };
    rig->cluster.generation = &generation;
    FabCollectivePlan plan = plan_of (&group, &exchange, &library);
    assert_near (plan.wire_factor, 1.25, 1e-12);
    assert_int_equal (plan.latency_ps, 4 * 50 + 2 * 600);
    const FabTimePs startup_ps = 1000000 + 8 * 1000 + 1000000 + (i == 0 ? 5000 : 8000) + plan.latency_ps;
    assert_in_range (plan.startup_ps, startup_ps, startup_ps + 1); /* is rounded up */
    assert_near (plan.ends_bytes_per_s, 1e12, 1e-9);
    fab_library_destroy (library);
  }
}

/* What takes as long on multiprocessors as on links takes 2^(1/4) times as long together; multiprocessors that nobody
 * has counted are one for each expert. */
static void
two_limits_are_taken_together (G_GNUC_UNUSED void **state)
{
  const FabTokenCost cost = { .start_ps = 1, .token_ps = 1000000, .links_fraction = 1 };
  FabTokenExchange exchange = {
    .routing = { 8, 2, 0, 0 }, .token_bytes = 1000, .n_sms = 4, .is_low_latency = TRUE
  };

  assert_near (fab_token_exchange_kernel_s (&exchange, &cost, &(FabTokenRank){ 1, 2, 0, 0 }, 80), 10e-6,
               1e-12);
  /* 80 tokens x 2 messages of 1000 bytes, half of them to the other rank. */
  assert_near (fab_token_exchange_kernel_s (&exchange, &cost, &(FabTokenRank){ 1, 2, 0, 8e9 }, 80),
               10e-6 * pow (2, 0.25), 1e-12);
  assert_near (fab_token_exchange_kernel_s (&exchange, &cost, &(FabTokenRank){ 2, 1, 0, 8e9 }, 80), 10e-6,
               1e-12);
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
    cmocka_unit_test (a_node_sends_to_each_other_node),
    cmocka_unit_test (low_latency_sends_a_message_for_each_expert),
    cmocka_unit_test (tokens_go_by_ranks_of_the_same_number),
    cmocka_unit_test (tokens_go_to_all_ranks_of_a_node),
    cmocka_unit_test (a_node_with_fewer_ranks_takes_turns),
    cmocka_unit_test (every_kind_has_its_own_costs),
    cmocka_unit_test (links_of_accelerators_limit_kernels),
    cmocka_unit_test (a_plan_over_nodes_waits_for_its_adapters),
    cmocka_unit_test (two_limits_are_taken_together),
    cmocka_unit_test (a_generation_without_measurements_is_told),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
