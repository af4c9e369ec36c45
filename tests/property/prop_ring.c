/* SPDX-License-Identifier: Apache-2.0 */
/* prop_ring.c - a ring on an idle fabric takes its closed form on every network, for every size.
 *
 *   T = steps x hop latency + S x bus factor / B,  to 1e-9 and a ps
 *
 * bus factor 2(n-1)/n, (n-1)/n or 1 by operation; B the GPU's rate, or that of a node's NICs together if lower.
 */
#include "tests/support/test.h"

#include "tests/support/rig.h"

static const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_analytic };

static void
assert_closed_form (Rig *rig, FabOp op, FabBytes bytes)
{
  FabCollectivePlan plan = rig_plan (rig, op, bytes);
  double expected_ps = (double) rig_ring_latency_ps (rig, op)
                     + (double) bytes / rig_ring_rate_bytes_per_s (rig, op) * (double) FAB_PS_PER_S;

  for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
    FabTimePs end_ps = rig_time_stream (rig, nets[i], fab_collective_plan_stream (&plan));

    if (fabs ((double) end_ps - expected_ps) > 1e-9 * expected_ps + 1) /* ends are rounded up */
      fail_msg ("%s over %u x %u: %s takes %" G_GINT64_FORMAT " ps, the closed form %.17g", fab_op_names[op],
                rig->spec.n_nodes, rig->spec.gpus_per_node, nets[i]->info.name, end_ps, expected_ps);
    assert_int_equal (end_ps, fab_collective_plan_idle_ps (&plan));
  }
}

static void
assert_all_operations (const RigSpec *spec)
{
  g_autoptr (Rig) rig = rig_new (spec);

  for (guint op = 0; op <= FAB_OP_REDUCE; op++)
    assert_closed_form (rig, (FabOp) op, G_GUINT64_CONSTANT (1000000007));
}

/* 235 GB/s, 300 ns: one switch, 2 to 1024 GPUs. */
static void
rings_on_one_switch (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 1024; n++)
    assert_all_operations (&(RigSpec){ .n_nodes = 1,
                                       .gpus_per_node = n,
                                       .gpu_bytes_per_s = G_GUINT64_CONSTANT (235000000000),
                                       .gpu_latency_ps = 300000 });
}

/* Nodes of 1 to 8 GPUs with 1 to 8 NICs of 25 GB/s: the NICs bind up to the GPUs' 100 GB/s, then these. */
static void
rings_over_nodes (G_GNUC_UNUSED void **state)
{
  static const guint node_counts[] = { 2, 3, 4, 7, 16 };

  for (guint k = 0; k < G_N_ELEMENTS (node_counts); k++)
    for (guint n_gpus = 1; n_gpus <= 8; n_gpus++)
      for (guint n_nics = 1; n_nics <= 8; n_nics++)
        assert_all_operations (&(RigSpec){ .n_nodes = node_counts[k],
                                           .gpus_per_node = n_gpus,
                                           .nics_per_node = n_nics,
                                           .gpu_bytes_per_s = G_GUINT64_CONSTANT (100000000000),
                                           .nic_bytes_per_s = G_GUINT64_CONSTANT (25000000000),
                                           .gpu_latency_ps = 700000,
                                           .nic_latency_ps = 1300000 });
}

/* Headers: a quarter more line bytes inside the node, an eighth more outside. */
static void
rings_pay_for_headers (G_GNUC_UNUSED void **state)
{
  for (guint n_nics = 1; n_nics <= 8; n_nics++)
    assert_all_operations (&(RigSpec){ .n_nodes = 4,
                                       .gpus_per_node = 8,
                                       .nics_per_node = n_nics,
                                       .gpu_bytes_per_s = G_GUINT64_CONSTANT (100000000000),
                                       .nic_bytes_per_s = G_GUINT64_CONSTANT (25000000000),
                                       .gpu_cost = 1.25,
                                       .nic_cost = 1.125 });
}

/* 128 nodes of 8: as many ranks as the largest switch. */
static void
a_ring_over_a_thousand_gpus (G_GNUC_UNUSED void **state)
{
  assert_all_operations (&(RigSpec){ .n_nodes = 128,
                                     .gpus_per_node = 8,
                                     .nics_per_node = 8,
                                     .gpu_bytes_per_s = G_GUINT64_CONSTANT (450000000000),
                                     .nic_bytes_per_s = G_GUINT64_CONSTANT (50000000000),
                                     .gpu_latency_ps = 500000,
                                     .nic_latency_ps = 600000 });
}

/* From one byte, where latency is all, to 100 TB. */
static void
rings_of_all_sizes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 4,
                                             .gpus_per_node = 8,
                                             .nics_per_node = 8,
                                             .gpu_bytes_per_s = G_GUINT64_CONSTANT (235000000000),
                                             .nic_bytes_per_s = G_GUINT64_CONSTANT (25000000000),
                                             .gpu_latency_ps = 500000,
                                             .nic_latency_ps = 600000 });

  for (FabBytes bytes = 1; bytes <= G_GUINT64_CONSTANT (100000000000000); bytes *= 10)
    for (guint op = 0; op <= FAB_OP_REDUCE; op++)
      assert_closed_form (rig, (FabOp) op, bytes);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rings_on_one_switch),   cmocka_unit_test (rings_over_nodes),
    cmocka_unit_test (rings_pay_for_headers), cmocka_unit_test (a_ring_over_a_thousand_gpus),
    cmocka_unit_test (rings_of_all_sizes),
  };

  return cmocka_run_group_tests_name ("ring", tests, NULL, NULL);
}
