/* SPDX-License-Identifier: Apache-2.0 */
/* prop_in_network.c - where switches reduce, and in aggregated trees, time is bytes by hand and latency by hand. */
#include "tests/support/test.h"

#include "tests/support/rig.h"

enum { GPU_PS = 300000, NIC_PS = 600000, BETWEEN_PS = 4 * GPU_PS + 2 * NIC_PS };

static Rig *
rig_of (const char *algorithm, guint n_nodes, guint n_gpus, guint n_nics)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .nics_per_node = n_nics,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 50,
                              .gpu_latency_ps = GPU_PS,
                              .nic_latency_ps = NIC_PS,
                              .gpus_reduce = TRUE,
                              .nics_reduce = TRUE,
                              .algorithm = algorithm });
}

/* Bytes per byte of size of the busiest link whose one end is of this kind and the other a switch. */
static double
busiest (const Rig *rig, const FabFootprint *footprint, FabVertexKind kind, gboolean is_in)
{
  double most = 0;

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (rig->graph, footprint->links[i]);
    FabVertexId end = is_in ? link->dst : link->src, other = is_in ? link->src : link->dst;

    if (fab_graph_vertex (rig->graph, end)->kind == kind
        && (kind == FAB_VERTEX_ACCELERATOR
            || fab_graph_vertex (rig->graph, other)->node == FAB_NO_NODE)) /* the NIC's port */
      most = MAX (most, footprint->weights[i]);
  }
  return most;
}

static void
check (Rig *rig, FabOp op, double gpu_out, double gpu_in, FabTimePs latency_ps)
{
  FabCollectivePlan plan = rig_plan (rig, op, 1000000007);

  assert_near (busiest (rig, plan.footprint, FAB_VERTEX_ACCELERATOR, FALSE), gpu_out, 1e-12);
  assert_near (busiest (rig, plan.footprint, FAB_VERTEX_ACCELERATOR, TRUE), gpu_in, 1e-12);
  assert_int_equal (plan.startup_ps, latency_ps);
}

/* T = latency + S max (sent, received) / B, on every network. */
static void
check_time (Rig *rig, FabOp op, double s_per_byte)
{
  static const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_analytic };
  FabCollectivePlan plan = rig_plan (rig, op, 1000000007);
  double expected_ps = (double) plan.startup_ps + s_per_byte * 1000000007 * (double) FAB_PS_PER_S;

  for (guint i = 0; i < G_N_ELEMENTS (nets); i++)
    assert_near ((double) rig_time_stream (rig, nets[i], fab_collective_plan_stream (&plan)), expected_ps,
                 1e-9);
}

static void
nvls_moves_one_and_a_part (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 256; n++) {
    g_autoptr (Rig) rig = rig_of ("nvls", 1, n, 0);
    double part = 1.0 / n;

    check (rig, FAB_OP_ALL_REDUCE, 1 + part, 1 + part, 4 * GPU_PS);
    check (rig, FAB_OP_REDUCE_SCATTER, 1, part, 2 * GPU_PS);
    check (rig, FAB_OP_ALL_GATHER, part, 1, 2 * GPU_PS);
    check_time (rig, FAB_OP_ALL_REDUCE, (1 + part) * 1e-12);
    check_time (rig, FAB_OP_REDUCE_SCATTER, 1e-12);
    check_time (rig, FAB_OP_ALL_GATHER, 1e-12);
  }
}

static guint
ceil_log2 (guint n)
{
  guint log2 = 0;

  while ((1u << log2) < n)
    log2++;
  return log2;
}

/* Each NIC its GPU's part: once with 2 nodes, 1.5 times with 3 (the inner node of one tree is a root of the other),
 * else twice. */
static void
nvls_tree_puts_parts_on_nics (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 40; n++)
    for (guint g = 2; g <= 8; g *= 2) {
      g_autoptr (Rig) rig = rig_of ("nvls_tree", n, g, g);
      FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1);
      double times = n == 2 ? 1 : n == 3 ? 1.5 : 2;

      assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, FALSE), times / g, 1e-12);
      assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, TRUE), times / g, 1e-12);
      assert_int_equal (plan.startup_ps, 4 * GPU_PS + 2 * ceil_log2 (n) * BETWEEN_PS);
      check_time (rig, FAB_OP_ALL_REDUCE,
                  MAX (times / g * 50, 1 + 1.0 / g + times / g)
                      * 1e-12); /* the NIC hangs on the GPU's link */
    }
}

/* Where k < g NICs are in a node, k GPUs own a NIC and reduce for the others: a NIC carries a k-th, however many GPUs
 * there are. A GPU that owns one sends all of the size and stores a k-th. A GPU without one sends the size alone. */
static void
nvls_tree_has_a_head_for_each_nic (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 20; n++)
    for (guint g = 2; g <= 8; g++)
      for (guint k = 1; k < g; k++) {
        g_autoptr (Rig) rig = rig_of ("nvls_tree", n, g, k);
        FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1);
        double times = n == 2 ? 1 : n == 3 ? 1.5 : 2, part = 1.0 / k;

        assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, FALSE), times * part, 1e-12);
        assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, TRUE), times * part, 1e-12);
        check (rig, FAB_OP_ALL_REDUCE, 1 + part + times * part, 1 + part + times * part,
               4 * GPU_PS + 2 * ceil_log2 (n) * BETWEEN_PS);
        check_time (rig, FAB_OP_ALL_REDUCE, times * part * 50e-12);
      }
}

static void
pat_takes_log2_steps (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 256; n++) {
    g_autoptr (Rig) rig = rig_of ("pat", n, 1, 1);
    double share = (n - 1.0) / n;

    check (rig, FAB_OP_ALL_GATHER, share, share, ceil_log2 (n) * BETWEEN_PS);
    check (rig, FAB_OP_REDUCE_SCATTER, share, share, ceil_log2 (n) * BETWEEN_PS);
    check_time (rig, FAB_OP_ALL_GATHER, share * 50e-12);
  }
}

/* One switch over all: 1/k of the size once each way, or a node's part of it, however many nodes. */
static void
collnet_puts_the_size_once_on_nics (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "collnet_direct", "collnet_chain" };

  for (guint n = 2; n <= 32; n += 3)
    for (guint g = 1; g <= 8; g *= 2)
      for (guint a = 0; a < G_N_ELEMENTS (names); a++) {
        g_autoptr (Rig) rig = rig_of (names[a], n, g, g);
        FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1);
        guint n_steps = g == 1 ? 0 : a == 0 ? 2 : 2 * (g - 1);

        assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, FALSE), 1.0 / g, 1e-12);
        assert_near (busiest (rig, plan.footprint, FAB_VERTEX_NIC, TRUE), 1.0 / g, 1e-12);
        assert_int_equal (plan.startup_ps, n_steps * 2 * GPU_PS + BETWEEN_PS);
        check_time (rig, FAB_OP_ALL_REDUCE, 50e-12 / g);
      }
}

static void
collnet_gathers_in_the_network (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 32; n += 3)
    for (guint g = 1; g <= 8; g *= 2) {
      g_autoptr (Rig) rig = rig_of ("collnet_direct", n, g, g);
      double all = 1.0 / g, own = 1.0 / (g * n), inside = (g - 1.0) / g;

      check (rig, FAB_OP_ALL_GATHER, inside + own, inside + all, (g > 1 ? 2 * GPU_PS : 0) + BETWEEN_PS);
      check (rig, FAB_OP_REDUCE_SCATTER, inside + all, inside + own, (g > 1 ? 2 * GPU_PS : 0) + BETWEEN_PS);
    }
}

/* Six nodes on leaves of two: each leaf's link to the spine carries one stream, not two. */
static void
trunks_carry_one_stream (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 6,
                                             .gpus_per_node = 2,
                                             .nics_per_node = 2,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S / 50,
                                             .nics_reduce = TRUE,
                                             .nodes_per_leaf = 2,
                                             .algorithm = "collnet_direct" });
  static const struct {
    FabOp op;
    double up, down;
  } expected[] = { { FAB_OP_ALL_REDUCE, 0.5, 0.5 },
                   { FAB_OP_ALL_GATHER, 0.5 * 2 / 6, 0.5 },
                   { FAB_OP_REDUCE_SCATTER, 0.5, 0.5 * 2 / 6 } };

  for (guint e = 0; e < G_N_ELEMENTS (expected); e++) {
    FabCollectivePlan plan = rig_plan (rig, expected[e].op, 1);
    guint n_trunks = 0;

    for (guint i = 0; i < plan.footprint->n; i++) {
      const FabLink *link = fab_graph_link (rig->graph, plan.footprint->links[i]);
      const FabVertex *src = fab_graph_vertex (rig->graph, link->src);
      const FabVertex *dst = fab_graph_vertex (rig->graph, link->dst);

      if (src->node != FAB_NO_NODE || dst->node != FAB_NO_NODE)
        continue;
      n_trunks++;
      g_autofree char *from = fab_graph_vertex_name (rig->graph, link->src);
      assert_near (plan.footprint->weights[i], strstr (from, "leaf") ? expected[e].up : expected[e].down,
                   1e-12);
    }
    assert_int_equal (n_trunks, 2 * 2 * 3); /* both ways, 2 rails, 3 leaves */
  }
}

/* Nothing but what they are made for. */
static void
they_refuse_what_they_cannot (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) one = rig_of (NULL, 1, 4, 0);
  g_autoptr (Rig) two = rig_of (NULL, 2, 4, 4);
  g_autoptr (Rig) plain = rig_new_flat (4);
  g_autoptr (Rig) deaf = rig_new (&(RigSpec){ .n_nodes = 2,
                                              .gpus_per_node = 1,
                                              .nics_per_node = 1,
                                              .gpu_bytes_per_s = FAB_PS_PER_S,
                                              .nic_bytes_per_s = FAB_PS_PER_S });
  FabGroup without = rig_group (deaf);
  FabGroup in_one = rig_group (one), in_two = rig_group (two), in_plain = rig_group (plain);

  assert_true (fab_algorithm_nvls.supports (&in_one, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_nvls.supports (&in_one, FAB_OP_BROADCAST));
  assert_false (fab_algorithm_nvls.supports (&in_two, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_nvls.supports (&in_plain, FAB_OP_ALL_REDUCE));
  assert_true (fab_algorithm_nvls_tree.supports (&in_two, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_nvls_tree.supports (&in_one, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_pat.supports (&in_two, FAB_OP_ALL_GATHER));
  assert_true (fab_algorithm_collnet_direct.supports (&in_two, FAB_OP_ALL_GATHER));
  assert_true (fab_algorithm_collnet_chain.supports (&in_two, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_collnet_chain.supports (&in_two, FAB_OP_ALL_GATHER));
  assert_false (fab_algorithm_collnet_direct.supports (&in_one, FAB_OP_ALL_REDUCE));
  assert_false (fab_algorithm_collnet_chain.supports (&without, FAB_OP_ALL_REDUCE));
}

/* plain takes the algorithm that is named, and says so when that one cannot. */
static void
plain_takes_the_one_that_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_of ("nvls", 1, 4, 0);
  g_autoptr (Rig) any = rig_of (NULL, 1, 4, 0);
  g_autoptr (GError) error = NULL;
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  assert_string_equal (rig_plan (rig, FAB_OP_ALL_REDUCE, 1).algorithm, "nvls");
  assert_string_equal (rig_plan (any, FAB_OP_ALL_REDUCE, 1).algorithm, "ring");
  assert_false (fab_library_plan (rig->plain, &group, FAB_OP_BROADCAST, 1, &plan, &error));
  assert_string_equal (
      error->message,
      "collectives.algorithm: 'nvls' cannot do broadcast over the links between these 4 ranks");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nvls_moves_one_and_a_part),
    cmocka_unit_test (nvls_tree_puts_parts_on_nics),
    cmocka_unit_test (nvls_tree_has_a_head_for_each_nic),
    cmocka_unit_test (pat_takes_log2_steps),
    cmocka_unit_test (collnet_puts_the_size_once_on_nics),
    cmocka_unit_test (collnet_gathers_in_the_network),
    cmocka_unit_test (trunks_carry_one_stream),
    cmocka_unit_test (they_refuse_what_they_cannot),
    cmocka_unit_test (plain_takes_the_one_that_is_named),
  };

  return cmocka_run_group_tests_name ("in_network", tests, NULL, NULL);
}
