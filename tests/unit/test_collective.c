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
  assert_int_equal (fab_plan_idle_ps (&plan), 0);
  assert_near (fab_plan_wire_per_byte (&plan), 0, 0);
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
  assert_int_equal (fab_plan_idle_ps (&plan), 2100);
  assert_near (fab_plan_wire_per_byte (&plan), 1.5, 1e-15);
}

/* Flags double the bytes: 600 + 3000; endpoints at a quarter of a byte per ps: 600 + 4000. */
static void
flags_and_limits_lengthen_a_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 4, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000);

  plan.wire_factor = 2;
  assert_int_equal (fab_plan_idle_ps (&plan), 3600);
  assert_near (fab_plan_wire_per_byte (&plan), 3, 1e-15);
  plan.limit_bytes_per_s = 0.25e12;
  assert_int_equal (fab_plan_idle_ps (&plan), 4600);
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
  assert_string_equal (error->message, "2 nodes cannot talk: the node has no NIC");
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
                       "all_reduce of 10MB over 2 ranks takes longer than 53 days, which is too long here");
  plan.bytes = G_MAXUINT64;
  plan.startup_ps = 1000;
  assert_int_equal (fab_plan_idle_ps (&plan), FAB_TIME_MAX);
}

/* --- nccl --- */

static FabCollectivePlan
nccl_plan (const Rig *rig, const char *yaml, FabBytes bytes)
{
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, yaml);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, bytes, &plan, NULL));
  plan.footprint = NULL; /* dies with the library */
  fab_library_destroy (library);
  return plan;
}

static void
assert_protocol (const Rig *rig, FabBytes bytes, const char *protocol, double startup_us)
{
  FabCollectivePlan plan = nccl_plan (rig, "", bytes);

  assert_string_equal (plan.protocol, protocol);
  assert_near ((double) plan.startup_ps / 1e6, startup_us, 1e-6);
}

/* Eight GPUs at 200 GB/s over NVLink, 14 steps, launch 10 us. Start-ups:
 *   LL     10 +  6.6 + 14 x 0.6 = 25.0 us   2 x 1.75 bytes at 200 GB/s, capped at 87.7 GB/s busbw: 1.75 S / 87.7
 *   LL128  10 + 14.0 + 14 x 1.9 = 50.6 us   1.75 S x 128/120 / 200
 *   Simple 10 +  8.4 + 14 x 3.4 = 66.0 us   1.75 S / 200
 * LL is overtaken where 25.6 us = S (1.75 / 87.7 - 1.8667 / 200) ns: 2.4 MB; LL128 where 15.4 us = S 0.1167 / 200 ns:
 * 26.4 MB. */
static void
the_fastest_protocol_runs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 200 * G_GUINT64_CONSTANT (1000000000) });

  assert_protocol (rig, 8, "ll", 25);
  assert_protocol (rig, 2300000, "ll", 25);
  assert_protocol (rig, 2500000, "ll128", 50.6);
  assert_protocol (rig, 26000000, "ll128", 50.6);
  assert_protocol (rig, 27000000, "simple", 66);
}

static void
a_protocol_can_be_prescribed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (8);

  assert_string_equal (nccl_plan (rig, "{protocol: simple}", 8).protocol, "simple");
  assert_string_equal (nccl_plan (rig, "{protocol: ll}", 1000000000).protocol, "ll");
  assert_int_equal (nccl_plan (rig, "{protocol: simple, launch: 0us}", 8).startup_ps
                        - nccl_plan (rig, "{protocol: simple, launch: 1us}", 8).startup_ps,
                    -1000000);
}

/* Two nodes of four: 12 steps inside and 2 between, Simple x 1.4 as every rank has 64 bytes per channel:
 * 10 + 1.4 x (8.4 + 12 x 3.4 + 2 x 14) = 118.08 us; below 64 bytes 10 + 77.2. */
static void
a_long_simple_ring_between_nodes_pays_for_its_steps (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                             .gpus_per_node = 4,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = 1000000000000,
                                             .nic_bytes_per_s = 25000000000 });
  FabCollectivePlan large = nccl_plan (rig, "{protocol: simple}", 1000000);
  FabCollectivePlan small = nccl_plan (rig, "{protocol: simple}", 64 * 2 * 8 - 1);

  assert_near ((double) large.startup_ps / 1e6, 118.08, 1e-6);
  assert_near ((double) small.startup_ps / 1e6, 87.2, 1e-6);
  assert_int_equal (large.n_channels, 2);
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
    cmocka_unit_test (the_fastest_protocol_runs),
    cmocka_unit_test (a_protocol_can_be_prescribed),
    cmocka_unit_test (a_long_simple_ring_between_nodes_pays_for_its_steps),
  };

  return cmocka_run_group_tests_name ("collective", tests, NULL, NULL);
}
