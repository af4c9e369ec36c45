/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedule.c - messages wait for what they should, and a hop is a pipe. */
#include "tests/support/test.h"

#include "sim/work/schedule.h"
#include "tests/support/rig.h"

/* 1 byte per ps; a hop is two links of 50 ps. */
static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
}

static guint
add_hop (FabSchedule *schedule, const Rig *rig, guint from, guint to)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return fab_schedule_hop (schedule, &hop, 1);
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

static FabTimePs
play (FabSchedule *schedule, const Rig *rig, const FabNetOps *ops, FabBytes bytes, double wire_factor)
{
  RigNet net = rig_net (rig, ops);
  FabTimePs end_ps;

  fab_schedule_play (schedule, net.net, bytes, wire_factor, (FabDone){ note_end, net.engine, 0 });
  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

/* 1000 bytes and 100 ps; half of them: 500 + 100; flags double the bytes. */
static void
a_message_is_bytes_and_latency (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  fab_schedule_message (schedule, add_hop (schedule, rig, 0, 1), 0.5, NULL, 0);
  assert_int_equal (fab_schedule_n_messages (schedule), 1);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 600);
  assert_int_equal (play (schedule, rig, &fab_net_analytic, 1000, 1), 600);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 2), 1100);
}

/* Three on one hop leave one after another, and only the last one's latency is seen: 3 x 1000 + 100. */
static void
messages_of_a_hop_follow_at_its_rate (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint hop = add_hop (schedule, rig, 0, 1);

  for (guint i = 0; i < 3; i++)
    fab_schedule_message (schedule, hop, 1, NULL, 0);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 3100);
}

/* 0 -> 1 -> 2: the second starts when the first has arrived, 2 x (1000 + 100). */
static void
a_message_waits_for_arrival (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = fab_schedule_message (schedule, add_hop (schedule, rig, 0, 1), 1, NULL, 0);

  fab_schedule_message (schedule, add_hop (schedule, rig, 1, 2), 1, &first, 1);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 2200);
}

/* The second of a hop may start, but the first still waits for 0 -> 1: order is kept, 1100 + 1000 + 1000 + 100. */
static void
a_hop_keeps_its_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = fab_schedule_message (schedule, add_hop (schedule, rig, 0, 1), 1, NULL, 0);
  guint hop = add_hop (schedule, rig, 1, 2);

  fab_schedule_message (schedule, hop, 1, &first, 1);
  fab_schedule_message (schedule, hop, 1, NULL, 0);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 3200);
}

/* 0 -> 2 and 1 -> 2 share the link of 2: 2 x 1000 together; then one that waits for both. */
static void
messages_share_links (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint both[] = {
    fab_schedule_message (schedule, add_hop (schedule, rig, 0, 2), 1, NULL, 0),
    fab_schedule_message (schedule, add_hop (schedule, rig, 1, 2), 1, NULL, 0),
  };

  fab_schedule_message (schedule, add_hop (schedule, rig, 2, 0), 1, both, 2);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 2100 + 1100);
}

/* A hop whose links take half as long again when both directions are used. */
static void
both_directions_slow_each_other (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  FabGroup group = rig_group (rig);

  for (guint n_ways = 1; n_ways <= 2; n_ways++) {
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

    for (guint from = 0; from < n_ways; from++) {
      FabHop hop;

      assert_true (fab_hop_ranks (&group, from, 1 - from, &hop, NULL));
      hop.duplex_stretch = 1.5;
      fab_schedule_message (schedule, fab_schedule_hop (schedule, &hop, 1), 1, NULL, 0);
    }
    assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), n_ways == 1 ? 1100 : 1600);
  }
}

/* What crosses the links is what the messages weigh: 256 ranks, 510 steps of a ring, an all-reduce. */
static void
a_long_ring_plays (G_GNUC_UNUSED void **state)
{
  enum { N = 256 };
  g_autoptr (Rig) rig = star (N);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph));
  RigNet net = rig_net (rig, &fab_net_fluid);

  for (guint i = 0; i < N; i++)
    assert_int_equal (add_hop (schedule, rig, i, (i + 1) % N), i);
  for (guint step = 0; step < 2 * (N - 1); step++)
    for (guint i = 0; i < N; i++) {
      guint before = (step - 1) * N + (i + N - 1) % N;

      fab_schedule_message (schedule, i, 1.0 / N, &before, step > 0 ? 1 : 0);
    }
  fab_schedule_play (schedule, net.net, 256000, 1, (FabDone){ note_end, net.engine, 0 });
  fab_engine_run (net.engine);
  assert_int_equal (fab_engine_now (net.engine), 510 * (1000 + 100));
  fab_meter_take (net.net->meter, loads);
  for (guint link = 0; link < fab_graph_n_links (rig->graph); link++)
    assert_near (loads[link].payload_bytes, 510000, 1e-9);
  rig_net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_message_is_bytes_and_latency),
    cmocka_unit_test (messages_of_a_hop_follow_at_its_rate),
    cmocka_unit_test (a_message_waits_for_arrival),
    cmocka_unit_test (a_hop_keeps_its_order),
    cmocka_unit_test (messages_share_links),
    cmocka_unit_test (both_directions_slow_each_other),
    cmocka_unit_test (a_long_ring_plays),
  };

  return cmocka_run_group_tests_name ("schedule", tests, NULL, NULL);
}
