/* SPDX-License-Identifier: Apache-2.0 */
/* test_concurrent_groups.c - which ranks form groups, and what their collectives put on shared links. */
#include "tests/support/test.h"

#include <string.h>

#include "models/workload/training/layout.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

/* GPUs and the ports of 4 nodes at 1 byte per ps, without latency. */
static Rig *
four_nodes (guint gpus, guint nics, const char *algorithm)
{
  return rig_new (&(RigSpec){ .n_nodes = 4,
                              .gpus_per_node = gpus,
                              .nics_per_node = nics,
                              .gpu_bytes_per_s = 100 * FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S,
                              .algorithm = algorithm });
}

static guint
rank_of (const Rig *rig, FabVertexId gpu)
{
  for (guint rank = 0; rank < fab_cluster_n_ranks (&rig->cluster); rank++)
    if (rig->cluster.gpus[rank] == gpu)
      return rank;
  fail ();
  return 0;
}

/* "0 2, 1 3, ..." */
static void
assert_groups (const Rig *rig, const FabConcurrentGroups *family, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < fab_concurrent_groups_n_groups (family); i++) {
    FabGroup group = fab_concurrent_groups_group (family, i);

    for (guint k = 0; k < fab_group_n_ranks (&group); k++)
      g_string_append_printf (text, "%s%u", k > 0 ? " " : (i > 0 ? ", " : ""),
                              rank_of (rig, group.cluster->gpus[k]));
  }
  assert_string_equal (text->str, expected);
}

static Layout
layout_of (const Rig *rig, ParallelParams params)
{
  Layout layout;
  GError *error = NULL;

  params.virtual_stages = 1;
  assert_true (layout_init (&layout, &rig->cluster, &params, &error));
  return layout;
}

static FabConcurrentGroups *
family_of (const Layout *layout, Selection selection)
{
  if (selection.n_stages == 0)
    selection.n_stages = layout->size[AXIS_PIPELINE];
  selection.n_data = layout->size[AXIS_DATA];
  return layout_concurrent_groups (layout, &selection);
}

/* The example of megatron/core/parallel_state.py: 16 GPUs, tensor 2, pipeline 4. */
static void
groups_are_those_of_megatron (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  Layout layout = layout_of (
      rig,
      (ParallelParams){ .tensor = 2, .context = 1, .expert = 1, .pipeline = 4, .order = "tp-cp-ep-dp-pp" });
  g_autoptr (FabConcurrentGroups) tensor = family_of (&layout,
                                                      (Selection){ .varies = { [AXIS_TENSOR] = TRUE } });
  g_autoptr (FabConcurrentGroups) data = family_of (&layout, (Selection){ .data = DATA_ALL });
  g_autoptr (FabConcurrentGroups) pipeline = family_of (&layout,
                                                        (Selection){ .varies = { [AXIS_PIPELINE] = TRUE } });

  assert_groups (rig, tensor, "0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15");
  assert_groups (rig, data, "0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15");
  assert_groups (rig, pipeline, "0 4 8 12, 1 5 9 13, 2 6 10 14, 3 7 11 15");
}

/* Two stages that are as far from the two ends have the same parts of the model: their data-parallel ranks are one
 * group. Rank 12 is in stage 3 what rank 0 is in stage 0. */
static void
twin_stages_are_in_one_group (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  ParallelParams params = {
    .tensor = 2, .context = 1, .expert = 1, .pipeline = 4, .order = "tp-cp-ep-dp-pp"
  };
  Layout layout = layout_of (rig, params);
  const Selection outer = { .data = DATA_ALL, .n_stages = 1, .has_twin = TRUE };
  const Selection inner = { .data = DATA_ALL, .first_stage = 1, .n_stages = 1, .has_twin = TRUE };
  const Selection experts = { .n_stages = 1, .has_twin = TRUE, .fold = FOLD_EXPERT_DATA };
  g_autoptr (FabConcurrentGroups) ends = family_of (&layout, outer);
  g_autoptr (FabConcurrentGroups) middle = family_of (&layout, inner);

  assert_groups (rig, ends, "0 2 12 14, 1 3 13 15");
  assert_groups (rig, middle, "4 6 8 10, 5 7 9 11");
  params.expert = 2;
  params.expert_tensor = 1;
  Layout folded = layout_of (rig, params);
  g_autoptr (FabConcurrentGroups) same = family_of (&folded, experts);

  assert_groups (rig, same, "0 2 12 14, 1 3 13 15");
}

static void
other_orders_put_other_ranks_together (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  Layout layout = layout_of (
      rig,
      (ParallelParams){ .tensor = 4, .context = 1, .expert = 2, .pipeline = 1, .order = "dp-ep-tp-cp-pp" });
  guint block;
  DataPart part = layout_expert_part (&layout, &block);
  g_autoptr (FabConcurrentGroups) tensor = family_of (&layout,
                                                      (Selection){ .varies = { [AXIS_TENSOR] = TRUE } });
  g_autoptr (FabConcurrentGroups) expert = family_of (&layout, (Selection){ .data = part, .block = block });

  assert_groups (rig, tensor, "0 4 8 12, 1 5 9 13, 2 6 10 14, 3 7 11 15");
  /* ep after dp: every second data-parallel rank */
  assert_groups (rig, expert, "0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15");
}

static void
runs_and_every_divide_the_data_axis (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (2, 1, "ring");
  Layout layout = layout_of (
      rig,
      (ParallelParams){ .tensor = 1, .context = 1, .expert = 1, .pipeline = 1, .order = "tp-cp-ep-dp-pp" });
  g_autoptr (FabConcurrentGroups) runs = family_of (&layout, (Selection){ .data = DATA_RUNS, .block = 2 });
  g_autoptr (FabConcurrentGroups) every = family_of (&layout, (Selection){ .data = DATA_EVERY, .block = 2 });

  assert_groups (rig, runs, "0 1, 2 3, 4 5, 6 7");
  assert_groups (rig, every, "0 2 4 6, 1 3 5 7");
}

static void
ranks_that_do_not_divide_are_an_error (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  GError *error = NULL;

  ParallelParams params = {
    .tensor = 3, .context = 1, .expert = 1, .pipeline = 1, .order = "tp-cp-ep-dp-pp"
  };
  Layout layout;
  assert_false (layout_init (&layout, &rig->cluster, &params, &error));
  assert_non_null (strstr (error->message, "16 ranks"));
  g_clear_error (&error);
}

/* Four groups of four ranks, one rank per node each, share one port: each has a quarter of it, and all end together.
 * 1000 bytes x 2 (4 - 1) / 4 x 4 groups over 1 byte per ps. With four ports each group has one. */
static void
groups_share_the_ports_of_their_nodes (G_GNUC_UNUSED void **state)
{
  for (guint nics = 1; nics <= 4; nics *= 4) {
    g_autoptr (Rig) rig = four_nodes (4, nics, "ring");
    Layout layout = layout_of (
        rig,
        (ParallelParams){ .tensor = 4, .context = 1, .expert = 1, .pipeline = 1, .order = "tp-cp-ep-dp-pp" });
    g_autoptr (FabConcurrentGroups) data = family_of (&layout, (Selection){ .data = DATA_ALL });
    FabCollectivePlan plan;

    assert_true (fab_concurrent_groups_plan (data, rig->plain, FAB_OP_ALL_REDUCE, 1000, &plan, NULL));
    FabStream stream = fab_collective_plan_stream (&plan);
    assert_int_equal (rig_time_stream (rig, &fab_net_fluid, stream), nics == 1 ? 6000 : 1500);
  }
}

/* Ranks that are alone have nothing to send, however many they are; one group has the plan of the library. */
static void
what_is_done_alone_is_what_the_library_plans (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  const guint ranks[] = { 0, 4, 8, 12 };
  FabGroup group;
  FabCollectivePlan plan, own;

  for (guint n = 1; n <= 4; n++) {
    g_autoptr (FabConcurrentGroups) alone = fab_concurrent_groups_new (&rig->cluster, ranks, n, 1);

    assert_true (fab_concurrent_groups_plan (alone, rig->plain, FAB_OP_ALL_REDUCE, 1000, &plan, NULL));
    assert_null (plan.footprint);
  }
  g_autoptr (FabConcurrentGroups) one = fab_concurrent_groups_new (&rig->cluster, ranks, 1, 4);
  assert_int_equal (fab_concurrent_groups_n_ranks (one), 4);
  group = fab_concurrent_groups_group (one, 0);
  assert_true (fab_library_plan (rig->plain, &group, FAB_OP_ALL_REDUCE, 1000, &own, NULL));
  assert_true (fab_concurrent_groups_plan (one, rig->plain, FAB_OP_ALL_REDUCE, 1000, &plan, NULL));
  assert_ptr_equal (plan.footprint, own.footprint);
}

/* The leading group is one of those in the most nodes, and its plan is that of all: 1000 bytes each way over four ports
 * of a node, as long as these take. Inside a node they take a hundredth of that. */
static void
the_group_in_most_nodes_leads (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 4, "ring");
  const guint orders[][4] = { { 0, 1, 4, 8 }, { 4, 8, 0, 1 } }; /* two ranks of one node, and of two nodes */

  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabConcurrentGroups) groups = fab_concurrent_groups_new (&rig->cluster, orders[i], 2, 2);
    FabCollectivePlan plan;

    assert_true (fab_concurrent_groups_plan (groups, rig->plain, FAB_OP_ALL_REDUCE, 1000, &plan, NULL));
    FabStream stream = fab_collective_plan_stream (&plan);
    assert_int_equal (rig_time_stream (rig, &fab_net_fluid, stream), 250);
  }
}

/* Its latency is that of the way between nodes, wherever the group stands among the others. */
static void
the_leading_group_sets_the_latency (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 3,
                                             .gpus_per_node = 4,
                                             .nics_per_node = 4,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S,
                                             .gpu_latency_ps = 50,
                                             .nic_latency_ps = 600,
                                             .algorithm = "direct" });
  const guint orders[][6] = { { 0, 1, 4, 8, 2, 3 }, { 4, 8, 0, 1, 2, 3 }, { 0, 1, 2, 3, 4, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autoptr (FabConcurrentGroups) groups = fab_concurrent_groups_new (&rig->cluster, orders[i], 3, 2);
    FabCollectivePlan plan;

    assert_true (fab_concurrent_groups_plan (groups, rig->plain, FAB_OP_BROADCAST, 1000, &plan, NULL));
    assert_int_equal (plan.startup_ps, 4 * 50 + 2 * 600);
  }
}

/* A message up or down loads one direction only. */
static void
sends_go_one_way (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 4, "direct");
  Layout layout = layout_of (
      rig,
      (ParallelParams){ .tensor = 1, .context = 1, .expert = 1, .pipeline = 2, .order = "tp-cp-ep-dp-pp" });
  g_autoptr (FabConcurrentGroups) pairs = layout_pairs (&layout, 0, 1, 0, layout.size[AXIS_DATA]);
  FabCollectivePlan up, down;

  assert_int_equal (fab_concurrent_groups_n_groups (pairs), 8);
  assert_true (fab_concurrent_groups_plan_send (pairs, rig->plain, 1000, TRUE, &up, NULL));
  assert_true (fab_concurrent_groups_plan_send (pairs, rig->plain, 1000, FALSE, &down, NULL));
  assert_int_equal (up.footprint->n, down.footprint->n);
  for (guint i = 0; i < up.footprint->n; i++) {
    FabLinkId reverse = fab_graph_link (rig->graph, up.footprint->links[i])->reverse;

    for (guint k = 0; k < up.footprint->n; k++)
      assert_int_not_equal (up.footprint->links[k], reverse);
  }
}

/* 16 ranks, tensor 2, pipeline 2: 8 ranks of a stage are a grid of 2 that share an expert x 2 that share the experts
 * x 2 with the same experts, as Megatron's RankGenerator of experts has it (tp-ep-dp). With 1 that shares an expert,
 * the 4 expert-parallel ranks are two tensor-parallel groups. */
static void
experts_have_a_grid_of_their_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 1, "ring");
  ParallelParams params = {
    .tensor = 2, .context = 1, .expert = 2, .expert_tensor = 2, .pipeline = 2, .order = "tp-cp-ep-dp-pp"
  };
  Layout layout = layout_of (rig, params);
  g_autoptr (FabConcurrentGroups) expert = family_of (&layout,
                                                      (Selection){ .n_stages = 1, .fold = FOLD_EXPERT });
  g_autoptr (FabConcurrentGroups) shared = family_of (&layout, (Selection){ .n_stages = 1,
                                                                            .fold = FOLD_EXPERT_TENSOR });
  g_autoptr (FabConcurrentGroups) same = family_of (
      &layout, (Selection){ .first_stage = 1, .n_stages = 1, .fold = FOLD_EXPERT_DATA });

  assert_groups (rig, expert, "0 2, 1 3, 4 6, 5 7");
  assert_groups (rig, shared, "0 1, 2 3, 4 5, 6 7");
  assert_groups (rig, same, "8 12, 9 13, 10 14, 11 15");
  assert_int_equal (layout_expert_unit (&layout), 2);
  assert_int_equal (layout_n_expert_replicas (&layout), 2);
  params.expert = 4;
  params.expert_tensor = 1;
  layout = layout_of (rig, params);
  g_autoptr (FabConcurrentGroups) four = family_of (&layout,
                                                    (Selection){ .n_stages = 1, .fold = FOLD_EXPERT });
  assert_groups (rig, four, "0 1 2 3, 4 5 6 7");
  params.expert = 3;
  g_autoptr (GError) error = NULL;
  assert_false (layout_init (&layout, &rig->cluster, &params, &error));
  assert_non_null (strstr (error->message, "expert x expert_tensor = 3 x 1"));
}

static void
assert_messages (const Rig *rig, const FabCollectivePlan *plan, const char *expected)
{
  g_autoptr (FabSchedule) schedule = plan->steps.make (plan->steps.owner, plan);

  lanes_assert (schedule, &rig->cluster, expected);
}

/* Of a byte that each of some ranks sends, or receives, all links of these ranks carry one, and those the other way
 * none. */
static void
assert_loads (const Rig *rig, const FabFootprint *footprint, const guint *ranks, guint n, gboolean is_up)
{
  for (guint i = 0; i < n; i++) {
    FabLinkId out;
    guint at;

    fab_graph_out_links (rig->graph, rig_gpu (rig, ranks[i]), &out);
    FabLinkId in = fab_graph_link (rig->graph, out)->reverse;
    assert_true (fab_footprint_has (footprint, is_up ? out : in, &at));
    assert_near (footprint->weights[at], 1, 1e-12);
    assert_false (fab_footprint_has (footprint, is_up ? in : out, &at));
  }
}

/* Two groups of two nodes, which do five things: the messages of each are those of its own plan, in whichever order
 * plans are made. */
static void
every_plan_has_its_own_messages (G_GNUC_UNUSED void **state)
{
  static const char *const expected[] = { "0>4 1\n1>5 1\n", "4>0 1\n5>1 1\n", "0>4 1\n1>5 1\n",
                                          "4>0 1\n5>1 1\n", "0>4 0.5\n4>0 0.5\n1>5 0.5\n5>1 0.5\n" };
  enum { N_PLANS = G_N_ELEMENTS (expected) };
  const guint ranks[] = { 0, 4, 1, 5 };

  for (guint first = 0; first < N_PLANS; first++) {
    g_autoptr (Rig) rig = four_nodes (4, 1, "direct");
    g_autoptr (FabConcurrentGroups) groups = fab_concurrent_groups_new (&rig->cluster, ranks, 2, 2);
    FabCollectivePlan plans[N_PLANS];

    for (guint i = 0; i < N_PLANS; i++) {
      guint which = (first + i) % N_PLANS;
      FabCollectivePlan *plan = &plans[which], again;
      static const FabOp ops[] = { [2] = FAB_OP_BROADCAST, [3] = FAB_OP_REDUCE, [4] = FAB_OP_ALL_TO_ALL };

      for (guint time = 0; time < 2; time++) {
        FabCollectivePlan *made = time == 0 ? plan : &again;

        assert_true (which < 2
                         ? fab_concurrent_groups_plan_send (groups, rig->plain, 1000, which == 0, made, NULL)
                         : fab_concurrent_groups_plan (groups, rig->plain, ops[which], 1000, made, NULL));
      }
      assert_ptr_equal (again.footprint, plan->footprint); /* is made once */
      assert_int_equal (plan->n_ranks, 2);
    }
    for (guint i = 0; i < 4; i++) {
      const guint senders[] = { i % 2 == 0 ? 0 : 4, i % 2 == 0 ? 1 : 5 },
                  receivers[] = { i % 2 == 0 ? 4 : 0, i % 2 == 0 ? 5 : 1 };

      assert_loads (rig, plans[i].footprint, senders, 2, TRUE);
      assert_loads (rig, plans[i].footprint, receivers, 2, FALSE);
    }
    for (guint i = 0; i < N_PLANS; i++) {
      assert_messages (rig, &plans[i], expected[i]);
      for (guint k = 0; k < i; k++)
        assert_ptr_not_equal (plans[i].footprint, plans[k].footprint);
    }
  }
}

/* A library keeps groups of the same ranks once. */
static void
groups_of_the_same_ranks_are_kept_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (4, 4, "ring"), other = four_nodes (4, 4, "ring");
  static const struct {
    guint ranks[4], n_groups, n_ranks;
  } rows[] = { { { 0, 4, 1, 5 }, 2, 2 },
               { { 0, 4, 1, 6 }, 2, 2 },
               { { 0, 1, 4, 5 }, 1, 4 },
               { { 0, 1, 4, 5 }, 2, 2 },
               { { 0, 1, 4, 5 }, 4, 1 } };
  FabConcurrentGroups *kept[G_N_ELEMENTS (rows)];

  for (guint time = 0; time < 2; time++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      FabConcurrentGroups *made = fab_concurrent_groups_new (&rig->cluster, rows[i].ranks, rows[i].n_groups,
                                                             rows[i].n_ranks);
      FabConcurrentGroups *found = fab_concurrent_groups_keep (rig->plain, made);

      if (time == 0)
        kept[i] = found;
      assert_ptr_equal (found, kept[i]);
      assert_int_equal (fab_concurrent_groups_n_groups (found), rows[i].n_groups);
      assert_int_equal (fab_concurrent_groups_n_ranks (found), rows[i].n_ranks);
      for (guint k = 0; k < i; k++)
        assert_ptr_not_equal (kept[i], kept[k]);
    }
  assert_int_equal (rig->plain->concurrent_groups->len, G_N_ELEMENTS (rows));
  /* Those of another machine are others, and a copy has the same ranks. */
  FabConcurrentGroups *foreign = fab_concurrent_groups_new (&other->cluster, rows[0].ranks, 2, 2);
  assert_ptr_equal (fab_concurrent_groups_keep (rig->plain, foreign), foreign);
  assert_ptr_equal (fab_concurrent_groups_keep (rig->plain, fab_concurrent_groups_copy (kept[1])), kept[1]);
}

/* Without NICs nodes cannot reach each other: neither as a collective nor by a message. */
static void
groups_without_a_path_have_no_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = four_nodes (2, 0, "direct");
  const guint ranks[] = { 0, 1, 2, 4 };
  g_autoptr (FabConcurrentGroups) groups = fab_concurrent_groups_new (&rig->cluster, ranks, 2, 2);
  g_autoptr (GError) error = NULL, other = NULL;
  FabCollectivePlan plan;

  assert_false (fab_concurrent_groups_plan (groups, rig->plain, FAB_OP_REDUCE, 1000, &plan, &error));
  assert_non_null (error);
  assert_false (fab_concurrent_groups_plan_send (groups, rig->plain, 1000, TRUE, &plan, &other));
  assert_non_null (other);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (groups_are_those_of_megatron),
    cmocka_unit_test (experts_have_a_grid_of_their_own),
    cmocka_unit_test (twin_stages_are_in_one_group),
    cmocka_unit_test (other_orders_put_other_ranks_together),
    cmocka_unit_test (runs_and_every_divide_the_data_axis),
    cmocka_unit_test (ranks_that_do_not_divide_are_an_error),
    cmocka_unit_test (groups_share_the_ports_of_their_nodes),
    cmocka_unit_test (what_is_done_alone_is_what_the_library_plans),
    cmocka_unit_test (the_group_in_most_nodes_leads),
    cmocka_unit_test (the_leading_group_sets_the_latency),
    cmocka_unit_test (sends_go_one_way),
    cmocka_unit_test (every_plan_has_its_own_messages),
    cmocka_unit_test (groups_of_the_same_ranks_are_kept_once),
    cmocka_unit_test (groups_without_a_path_have_no_plan),
  };

  return cmocka_run_group_tests_name ("family", tests, NULL, NULL);
}
