/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet.c - packets, one by one: times that can be worked out by hand.
 *
 * A star at 1 byte per ps without header costs, links of 50 ps: a packet of 1000 bytes is 1000 ps on a wire.
 */
#include "tests/support/test.h"

#include "tests/support/rig.h"

enum { MOST = 64, BYTE = 1000, LATENCY = 50 };

typedef struct {
  RigNet rig;
  FabTimePs ends_ps[MOST];
  guint n_ended;
} Play;

static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = LATENCY });
}

static void
note_end (gpointer owner, guint64 index)
{
  Play *play = owner;

  play->ends_ps[index] = fab_engine_now (play->rig.engine);
  play->n_ended++;
}

static void
send (Play *play, const Rig *rig, guint index, guint from, guint to, FabBytes bytes)
{
  FabTransfer transfer = {
    .src = rig_gpu (rig, from), .dst = rig_gpu (rig, to), .bytes = bytes, .done = { note_end, play, index }
  };

  fab_net_send (play->rig.net, &transfer);
}

static void
play_start (Play *play, const Rig *rig, const char *yaml)
{
  *play = (Play){ .rig = rig_net_with (rig, &fab_net_packet, yaml) };
}

static void
play_end (Play *play, guint n)
{
  fab_engine_run (play->rig.engine);
  assert_int_equal (play->n_ended, n);
  rig_net_clear (&play->rig);
}

static FabTimePs
time_one (FabBytes bytes, const char *yaml)
{
  g_autoptr (Rig) rig = star (2);
  Play play;

  play_start (&play, rig, yaml);
  send (&play, rig, 0, 0, 1, bytes);
  play_end (&play, 1);
  return play.ends_ps[0];
}

/* Stored and forwarded: 1000 + 50 to the switch, 1000 + 50 from it. Cut through: the head leaves the switch 50 ps
 * after the start, the last byte follows after 1000, and 50 more to the end. */
static void
one_packet_over_two_links (G_GNUC_UNUSED void **state)
{
  assert_int_equal (time_one (1000, "{switching: store_and_forward}"), 2100);
  assert_int_equal (time_one (1000, "{switching: cut_through}"), 1100);
}

/* 10 packets of 1000: the first link takes 10 000, then the last packet crosses the second: 1000 + 2 x 50. The
 * last of 9500 bytes is a half; stored, it waits for the ninth, which leaves at 1050 + 9000. */
static void
packets_of_a_message_follow_one_another (G_GNUC_UNUSED void **state)
{
  assert_int_equal (time_one (10000, "{mtu: 1000B, switching: store_and_forward}"), 11100);
  assert_int_equal (time_one (10000, "{mtu: 1000B}"), 10100);
  assert_int_equal (time_one (9500, "{mtu: 1000B, switching: store_and_forward}"), 10600);
  assert_int_equal (time_one (9500, "{mtu: 1000B}"), 9600);
}

/* With a window of one packet the next one leaves when the acknowledgement of the last is back. A window below a packet
 * is one packet, and one above the message holds nothing up. */
static void
a_window_holds_packets_back (G_GNUC_UNUSED void **state)
{
  FabTimePs one = time_one (10000, "{mtu: 1000B, flow_control: none, window: 1000B}"),
            half = time_one (10000, "{mtu: 1000B, flow_control: none, window: 500B}"),
            two = time_one (10000, "{mtu: 1000B, flow_control: none, window: 2000B}"),
            large = time_one (10000, "{mtu: 1000B, flow_control: none, window: 10MB}");

  assert_int_equal (half, one);
  assert_int_equal (large, time_one (10000, "{mtu: 1000B, flow_control: none}"));
  /* nine times there and back: at least two links of 50 ps each way, and the packet itself */
  assert_true (one >= 9 * (1000 + 2 * 100) + 1100);
  assert_true (one > two && two >= large);
}

/* Packets of 1000, 1000 and 1 bytes with a window of one: each starts when the acknowledgement of the one before is
 * back, 1000 + 100 + 100 later. The last byte leaves at 2400 and has arrived 1 + 100 later. */
static void
a_window_lets_the_last_byte_go (G_GNUC_UNUSED void **state)
{
  assert_int_equal (time_one (2001, "{mtu: 1000B, flow_control: none, window: 1000B}"), 2501);
}

/* At half of the line rate a packet starts every 2000 ps: the tenth at 18 000. */
static void
a_paced_sender_leaves_gaps (G_GNUC_UNUSED void **state)
{
  assert_int_equal (time_one (10000, "{mtu: 1000B, pace: 50%}"), 18000 + 1000 + 2 * LATENCY);
}

/* Two links of a GPU, of 1 byte per ps and a cost of 1.25: 1250 ps per packet. */
static void
headers_cost_line_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_cost = 1.25 });
  Play play;

  play_start (&play, rig, "{mtu: 1000B}");
  send (&play, rig, 0, 0, 1, 4000);
  play_end (&play, 1);
  assert_int_equal (play.ends_ps[0], 5000);
}

/* n senders of 8 packets each into one link: it takes 8 n packets, the first of which can start at 50 or, stored,
 * 1050; in turn, so that the last packets of all come within n packets. */
static void
incast_is_n_times_the_wire (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = { "{mtu: 1000B, switching: store_and_forward}",
                                       "{mtu: 1000B, switching: store_and_forward, flow_control: none}" };

  for (guint n = 1; n <= 32; n *= 2)
    for (guint y = 0; y < G_N_ELEMENTS (yamls); y++) {
      g_autoptr (Rig) rig = star (n + 1);
      Play play;

      play_start (&play, rig, yamls[y]);
      for (guint i = 0; i < n; i++)
        send (&play, rig, i, i, n, 8000);
      play_end (&play, n);
      FabTimePs last_ps = 0, first_ps = FAB_TIME_MAX;
      for (guint i = 0; i < n; i++) {
        last_ps = MAX (last_ps, play.ends_ps[i]);
        first_ps = MIN (first_ps, play.ends_ps[i]);
      }
      assert_int_equal (last_ps, 1050 + (gint64) n * 8 * 1000 + 50);
      assert_true (first_ps >= last_ps - (gint64) n * 1000);
    }
}

/* Two messages of one sender take turns: the second's of 2 packets is every other one and ends with the fourth. */
static void
messages_of_a_sender_take_turns (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  Play play;

  play_start (&play, rig, "{mtu: 1000B}");
  send (&play, rig, 0, 0, 1, 10000);
  send (&play, rig, 1, 0, 2, 2000);
  play_end (&play, 2);
  assert_int_equal (play.ends_ps[0], 12000 + 2 * LATENCY);
  assert_int_equal (play.ends_ps[1], 4000 + 2 * LATENCY);
}

/* 40 MB cross links of 1 byte per ps. At 17 us, in the middle of what is skipped, 10 MB from another GPU begin: both
 * arrive at half the rate, until the 10 MB have ended after 20 us. The 13 MB that are left then end at 50 us. */
static void
a_skip_ends_when_another_message_begins (G_GNUC_UNUSED void **state)
{
  const FabTimePs close_ps = 20 * BYTE;
  g_autoptr (Rig) rig = star (3);
  Play play;

  play_start (&play, rig, "{mtu: 1000B}");
  send (&play, rig, 0, 0, 2, 40 * 1000 * 1000);
  fab_engine_run_until (play.rig.engine, 17 * 1000 * 1000);
  assert_true (play.rig.net->n_skipped > 0);
  send (&play, rig, 1, 1, 2, 10 * 1000 * 1000);
  fab_engine_run (play.rig.engine);
  assert_in_range (play.ends_ps[1], 37 * 1000 * 1000 - close_ps, 37 * 1000 * 1000 + close_ps);
  assert_in_range (play.ends_ps[0], 50 * 1000 * 1000 - close_ps, 50 * 1000 * 1000 + close_ps);
  g_autofree FabLinkQueue *queues = fab_net_link_queues (play.rig.net);
  FabBytes carried = 0, all = 2 * 50 * 1000 * 1000; /* two links each */
  for (guint i = 0; i < fab_graph_n_links (rig->graph); i++)
    carried += queues[i].carried_bytes;
  assert_in_range (carried, all - all / 1000, all + all / 1000); /* queues count skips by their windows */
  play_end (&play, 2);
}

/* What carries nothing, or stays where it is, takes the latency of its wires. Messages whose packets are skipped
 * meanwhile go on, and share their link with what begins afterwards: two of 20 MB have 17 MB together when another of
 * 10 MB begins at 23 us, and end after three times 8.5 MB, when 1.5 MB are left of the other. */
static void
messages_without_bytes_do_not_stop_a_skip (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint from, to;
    FabBytes bytes;
    FabTimePs ps;
  } rows[] = { { 1, 2, 0, 2 * LATENCY }, { 3, 0, 0, 2 * LATENCY }, { 1, 1, 1000, 0 } };
  const FabTimePs close_ps = 20 * BYTE, us = 1000 * 1000;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Rig) rig = star (4);
    Play play;

    play_start (&play, rig, "{mtu: 1000B}");
    send (&play, rig, 0, 0, 2, 20 * us);
    send (&play, rig, 1, 1, 2, 20 * us);
    fab_engine_run_until (play.rig.engine, 13 * us);
    assert_true (play.rig.net->n_skipped > 0);
    send (&play, rig, 2, rows[i].from, rows[i].to, rows[i].bytes);
    fab_engine_run_until (play.rig.engine, 23 * us);
    assert_int_equal (play.ends_ps[2], 13 * us + rows[i].ps);
    send (&play, rig, 3, 3, 2, 10 * us);
    play_end (&play, 4);
    for (guint k = 0; k < 2; k++)
      assert_in_range (play.ends_ps[k], 485 * us / 10 - close_ps, 485 * us / 10 + close_ps);
    assert_in_range (play.ends_ps[3], 50 * us - close_ps, 50 * us + close_ps);
  }
}

/* However much of it is skipped, a message is not faster than its wires: n GPUs of a node and one of another send to
 * the same GPU, and the NICs between the nodes have a part of the rate. Neither the link of that GPU nor the NICs can
 * have carried their bytes before the end. */
static void
skips_are_no_faster_than_the_wires (G_GNUC_UNUSED void **state)
{
  const FabBytes bytes = 60 * 1000 * 1000;

  for (guint percent = 15; percent < 95; percent += 8)
    for (guint n = 1; n <= 3; n++) {
      g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                                 .gpus_per_node = 4,
                                                 .nics_per_node = 1,
                                                 .gpu_bytes_per_s = FAB_PS_PER_S,
                                                 .nic_bytes_per_s = FAB_PS_PER_S / 100 * percent,
                                                 .gpu_latency_ps = LATENCY,
                                                 .nic_latency_ps = LATENCY });
      double through_gpu_ps = (n + 2) * (double) bytes, through_nics_ps = 2 * (double) bytes * 100 / percent;
      Play play;

      play_start (&play, rig, "{mtu: 1000B}");
      for (guint i = 0; i < n; i++)
        send (&play, rig, i, i + 1, 0, bytes);
      send (&play, rig, n, 4, 0, 2 * bytes);
      fab_engine_run (play.rig.engine);
      FabTimePs end_ps = play.ends_ps[n];
      for (guint i = 0; i < n; i++)
        end_ps = MAX (end_ps, play.ends_ps[i]);
      assert_true (play.rig.net->n_skipped > 2 * (guint64) bytes / BYTE);
      assert_true ((double) play.ends_ps[n] >= through_nics_ps);
      assert_true ((double) end_ps >= through_gpu_ps);
      play_end (&play, n + 1);
    }
}

/* What was on its way is forgotten: the same messages then take what they take on a new network. */
static void
a_network_that_was_reset_is_as_good_as_new (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  FabTimePs ends_ps[2];
  Play play;

  play_start (&play, rig, "{mtu: 1000B, skip: false}");
  for (guint turn = 0; turn < 2; turn++) {
    FabTimePs start_ps = fab_engine_now (play.rig.engine);

    send (&play, rig, 0, 0, 2, 300 * BYTE);
    send (&play, rig, 1, 1, 2, 200 * BYTE);
    if (turn == 0) {
      fab_engine_run_until (play.rig.engine, 100 * BYTE + 7);
      assert_true (play.rig.net->ops->reset (play.rig.net));
      fab_engine_clear (play.rig.engine);
      play.rig.net->ops->rest (play.rig.net, 0);
      continue;
    }
    fab_engine_run (play.rig.engine);
    for (guint i = 0; i < 2; i++)
      ends_ps[i] = play.ends_ps[i] - start_ps;
  }
  play_end (&play, 2);
  play_start (&play, rig, "{mtu: 1000B, skip: false}");
  send (&play, rig, 0, 0, 2, 300 * BYTE);
  send (&play, rig, 1, 1, 2, 200 * BYTE);
  play_end (&play, 2);
  assert_int_equal (play.ends_ps[0], ends_ps[0]);
  assert_int_equal (play.ends_ps[1], ends_ps[1]);
}

/* A stream puts on every link what its footprint says, all at once: of a ring's all-reduce over n GPUs 2 (n - 1) / n of
 * the size, times the costs of protocol and link, at the rate of the link or below the limit. The last bytes cross the
 * link's 50 ps. With a limit the first packet of each link does not wait. */
static void
a_stream_takes_what_its_busiest_link_does (G_GNUC_UNUSED void **state)
{
  static const struct {
    double cost, wire_factor, limit; /* 0: none; bytes of the collective per ps */
  } rows[] = {
    { 1, 1, 0 }, { 1, 1.5, 0 }, { 1.25, 1, 0 }, { 1.25, 1.5, 0 }, { 1, 1, 0.1 }, { 1.25, 1.5, 0.1 }
  };

  for (guint n = 2; n <= 5; n++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1,
                                                 .gpus_per_node = n,
                                                 .gpu_bytes_per_s = FAB_PS_PER_S,
                                                 .gpu_latency_ps = LATENCY,
                                                 .gpu_cost = rows[i].cost });
      FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 3 * 1000 * 1000);
      FabStream stream = fab_collective_plan_stream (&plan);
      double line_bytes = 3e6 * 2 * (n - 1) / n * rows[i].cost * rows[i].wire_factor,
             wire_ps = MAX (line_bytes, rows[i].limit > 0 ? 3e6 / rows[i].limit : 0);

      stream.wire_factor = rows[i].wire_factor;
      stream.limit_bytes_per_s = rows[i].limit * (double) FAB_PS_PER_S;
      double took_ps = (double) rig_time_stream (rig, &fab_net_packet, stream), packet_ps = 4096 * 10;
      assert_true (took_ps >= (double) stream.startup_ps + wire_ps - (rows[i].limit > 0 ? packet_ps : 0));
      assert_true (took_ps <= (double) stream.startup_ps + wire_ps + LATENCY + packet_ps);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_packet_over_two_links),
    cmocka_unit_test (packets_of_a_message_follow_one_another),
    cmocka_unit_test (a_window_holds_packets_back),
    cmocka_unit_test (a_window_lets_the_last_byte_go),
    cmocka_unit_test (a_paced_sender_leaves_gaps),
    cmocka_unit_test (headers_cost_line_time),
    cmocka_unit_test (incast_is_n_times_the_wire),
    cmocka_unit_test (messages_of_a_sender_take_turns),
    cmocka_unit_test (a_skip_ends_when_another_message_begins),
    cmocka_unit_test (messages_without_bytes_do_not_stop_a_skip),
    cmocka_unit_test (skips_are_no_faster_than_the_wires),
    cmocka_unit_test (a_stream_takes_what_its_busiest_link_does),
    cmocka_unit_test (a_network_that_was_reset_is_as_good_as_new),
  };

  return cmocka_run_group_tests_name ("packet", tests, NULL, NULL);
}
