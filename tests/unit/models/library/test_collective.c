/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective.c - what a library plans: factors, idle time, protocols. Rings of all sizes: prop_ring.c. */
#include "tests/support/test.h"

#include "tests/support/params.h"
#include "tests/support/rig.h"

/* n = 4, nccl-tests doc/PERFORMANCE.md: 2 x 3/4, 3/4, 3/4, 1, 1. */
static void
bus_factors_are_those_of_nccl_tests (G_GNUC_UNUSED void **state)
{
  assert_near (fab_op_bus_factor (FAB_OP_ALL_REDUCE, 4), 1.5, 0);
  assert_near (fab_op_bus_factor (FAB_OP_ALL_GATHER, 4), 0.75, 0);
  assert_near (fab_op_bus_factor (FAB_OP_REDUCE_SCATTER, 4), 0.75, 0);
  assert_near (fab_op_bus_factor (FAB_OP_BROADCAST, 4), 1, 0);
  assert_near (fab_op_bus_factor (FAB_OP_REDUCE, 4), 1, 0);
}

static void
one_rank_has_nothing_to_do (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (1);
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000);

  assert_null (plan.footprint);
  assert_int_equal (plan.n_ranks, 1);
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 0);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 0, 0);
}

/* 4 GPUs, 1 byte per ps, hops of 2 x 50 ps: 6 steps x 100 ps and 1000 x 1.5 bytes. */
static void
a_plain_plan_is_steps_and_bytes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 4, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000);

  assert_string_equal (plan.algorithm, "ring");
  assert_int_equal (plan.startup_ps, 600);
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 2100);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 1.5, 1e-15);
}

/* Flags double the bytes: 600 + 3000; endpoints at a quarter of a byte per ps: 600 + 4000. */
static void
flags_and_limits_lengthen_a_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 4, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000);

  plan.wire_factor = 2;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 3600);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 3, 1e-15);
  plan.most_bytes_per_s = 0.25e12;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 4600);
}

static void
a_form_is_made_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (4);
  const FabFootprint *first = rig_plan (rig, FAB_OP_ALL_REDUCE, 1).footprint;

  assert_ptr_equal (rig_plan (rig, FAB_OP_ALL_REDUCE, 1000000).footprint, first);
  assert_ptr_not_equal (rig_plan (rig, FAB_OP_BROADCAST, 1).footprint, first);
}

/* Two nodes without a NIC have no ring. */
static void
no_path_is_an_error_that_says_so (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2, .gpus_per_node = 2, .gpu_bytes_per_s = 100 });
  g_autoptr (GError) error = NULL;
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  assert_false (fab_library_plan (rig->plain, &group, FAB_OP_ALL_REDUCE, 1, &plan, &error));
  assert_string_equal (error->message, "2 nodes cannot reach each other, because the node has no NIC");
}

/* Two GPUs at 1 byte/s and 10 MB: 1e7 s are more than half of the 2^63 ps of the clock, 9.2e6 s. */
static void
what_outlasts_the_clock_is_an_error (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = 1 });
  g_autoptr (GError) error = NULL;
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  assert_false (fab_library_plan (rig->plain, &group, FAB_OP_ALL_REDUCE, 10000000, &plan, &error));
  assert_string_equal (error->message,
                       "all_reduce of 10MB over 2 ranks takes longer than 53 days, the limit of one "
                       "collective");
  plan.bytes = G_MAXUINT64;
  plan.startup_ps = 1000;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), FAB_TIME_MAX);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bus_factors_are_those_of_nccl_tests),
    cmocka_unit_test (one_rank_has_nothing_to_do),
    cmocka_unit_test (a_plain_plan_is_steps_and_bytes),
    cmocka_unit_test (flags_and_limits_lengthen_a_plan),
    cmocka_unit_test (a_form_is_made_once),
    cmocka_unit_test (no_path_is_an_error_that_says_so),
    cmocka_unit_test (what_outlasts_the_clock_is_an_error),
  };

  return cmocka_run_group_tests_name ("collective", tests, NULL, NULL);
}
