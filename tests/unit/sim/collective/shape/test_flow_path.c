/* SPDX-License-Identifier: Apache-2.0 */
/* test_flow_path.c - the way of a message without a library: its NICs, its time, and ranks that have no way out. */
#include "tests/support/test.h"

#include "sim/base/error.h"
#include "sim/collective/play/schedule_parts.h"
#include "sim/collective/shape/flow_path.h"
#include "tests/support/rig.h"

static Rig *
two_nodes (guint nics_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = 2,
                              .gpus_per_node = 2,
                              .nics_per_node = nics_per_node,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 4,
                              .gpu_latency_ps = 300,
                              .nic_latency_ps = 1000 });
}

static FabFlowPath *
find (const FabCluster *cluster, guint from, guint to, GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (cluster->graph);

  return fab_flow_path_new (cluster, from, to, 0, builder, error);
}

/* Two links inside a node, and six from node to node, of which the two between the NICs are slowest. Of two NICs that
 * are as near, each GPU has the one of its number. */
static void
a_message_takes_the_links_between_its_ranks (G_GNUC_UNUSED void **state)
{
  for (guint n_nics = 1; n_nics <= 2; n_nics++) {
    g_autoptr (Rig) rig = two_nodes (n_nics);

    for (guint from = 0; from < 4; from++)
      for (guint to = 0; to < 4; to++) {
        if (from == to)
          continue;
        gboolean is_inside = from / 2 == to / 2;
        g_autoptr (FabFlowPath) path = find (&rig->cluster, from, to, NULL);
        FabCollectivePlan plan = fab_flow_path_plan (path, 1000);
        FabSchedule *schedule = plan.steps.make (plan.steps.owner, &plan);

        assert_int_equal (path->hop.legs[0].src, rig_gpu (rig, from));
        assert_int_equal (path->hop.legs[path->hop.n_legs - 1].dst, rig_gpu (rig, to));
        assert_int_equal (path->footprint->n, is_inside ? 2 : 6);
        for (guint i = 0; i < path->footprint->n; i++)
          assert_true (path->footprint->weights[i] == 1);
        if (!is_inside) {
          assert_int_equal (fab_graph_link (rig->graph, path->hop.out_port)->src,
                            rig->cluster.nics[from / 2 * n_nics + from % n_nics]);
          assert_int_equal (fab_graph_link (rig->graph, path->hop.in_port)->dst,
                            rig->cluster.nics[to / 2 * n_nics + to % n_nics]);
        }
        assert_int_equal (plan.latency_ps, is_inside ? 2 * 300 : 4 * 300 + 2 * 1000);
        assert_int_equal (plan.startup_ps, plan.latency_ps + path->hop.endpoint_ps);
        assert_int_equal (plan.steps.steps_ps, plan.startup_ps);
        assert_int_equal (plan.bytes, 1000);
        assert_int_equal (rig_time_stream (rig, &fab_net_fluid, fab_collective_plan_stream (&plan)),
                          plan.startup_ps + (is_inside ? 1000 : 4000));
        assert_int_equal (fab_schedule_n_lanes (schedule), 1);
        assert_int_equal (fab_schedule_lane_at (schedule, 0)->n_messages, 1);
        assert_true (fab_schedule_lane_at (schedule, 0)->weight == 1);
        fab_schedule_free (schedule);
      }
  }
}

/* One message over one connection, all of whose startup is its only step. */
static void
a_message_has_a_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (1);
  g_autoptr (FabFlowPath) path = find (&rig->cluster, 0, 3, NULL);
  FabCollectivePlan plan = fab_flow_path_plan (path, 77);

  assert_string_equal (plan.algorithm, "message");
  assert_string_equal (plan.protocol, "none");
  assert_int_equal (plan.op, FAB_OP_SEND_RECV);
  assert_int_equal (plan.bytes, 77);
  assert_int_equal (plan.n_ranks, 2);
  assert_int_equal (plan.n_channels, 1);
  assert_int_equal (plan.n_connections, 1);
  assert_near (plan.wire_factor, 1, 0);
  assert_int_equal (plan.steps.n_chunks, 1);
  assert_near (plan.steps.intra_cost, 1, 0);
  assert_near (plan.steps.inter_cost, 1, 0);
  assert_false (plan.steps.is_pipeline);
  fab_flow_path_free (NULL);
}

/* Of either end, a rank that reaches no NIC is named first, and then the one that it would reach. */
static void
a_rank_without_a_nic_is_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint from, to;
    const char *message;
  } rows[] = {
    { 0, 2, NULL },
    { 1, 2, "rank 1 has no NIC through which to reach rank 2" },
    { 0, 3, "rank 3 has no NIC through which to reach rank 0" },
    { 1, 3, "rank 1 has no NIC through which to reach rank 3" },
    { 0, 1, NULL },
    { 3, 2, NULL },
  };
  g_autoptr (Rig) rig = two_nodes (1);
  guint hops[] = { 2, G_MAXUINT }; /* of the second GPU of each node */
  FabCluster cluster = rig->cluster;

  cluster.nic_hops = hops;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabFlowPath) path = find (&cluster, rows[i].from, rows[i].to, &error);

    assert_int_equal (path != NULL, rows[i].message == NULL);
    if (rows[i].message != NULL) {
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
      assert_string_equal (error->message, rows[i].message);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_message_takes_the_links_between_its_ranks),
    cmocka_unit_test (a_message_has_a_plan),
    cmocka_unit_test (a_rank_without_a_nic_is_named),
  };

  return cmocka_run_group_tests_name ("flow path", tests, NULL, NULL);
}
