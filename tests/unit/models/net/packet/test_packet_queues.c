/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_queues.c - what happens where links push back: credit, PFC, marks, losses, several paths.
 *
 * A star at 1 byte per ps, links of 50 ps, packets of 1000 bytes; or a tree of leaves and spines.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/net/packet/packet.h"
#include "sim/execution/dag.h"
#include "tests/support/rig.h"

enum { MOST = 64, LATENCY = 50 };

typedef struct {
  RigNet rig;
  FabTimePs ends_ps[MOST];
  guint n_ended;
} Play;

static void
note_end (gpointer owner, guint64 index)
{
  Play *play = owner;

  play->ends_ps[index] = fab_engine_now (play->rig.engine);
  play->n_ended++;
}

static void
send_as (Play *play, const char *traffic, FabVertexId from, FabVertexId to, guint index, FabBytes bytes)
{
  FabTransfer transfer = { .src = from,
                           .dst = to,
                           .bytes = bytes,
                           .flow_hash = index,
                           .traffic = traffic,
                           .done = { note_end, play, index } };

  fab_net_send (play->rig.net, &transfer);
}

static void
send (Play *play, FabVertexId from, FabVertexId to, guint index, FabBytes bytes)
{
  send_as (play, NULL, from, to, index, bytes);
}

static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){ .n_nodes = 1,
                              .has_network_star = TRUE,
                              .gpus_per_node = n_gpus,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .gpu_latency_ps = LATENCY });
}

static Play
play_new (const Rig *rig, const char *yaml)
{
  return (Play){ .rig = rig_net_with (rig, &fab_net_packet, yaml) };
}

/* The link from a vertex to its only neighbour, or back. */
static FabLinkId
link_of (const FabGraph *graph, FabVertexId vertex, gboolean is_back)
{
  FabLinkId first;

  fab_graph_out_links (graph, vertex, &first);
  return is_back ? fab_graph_link (graph, first)->reverse : first;
}

static FabLinkQueue
queue_of (const Play *play, FabLinkId link)
{
  return fab_net_packet.link_queue (play->rig.net, link);
}

/* Room for two packets and credit for one at a time. Of two senders into one link, packet 1 of A starts at 0, reaches
 * the switch at 1050 and leaves there by 2050; B's waits behind it. From then on the link out is never idle: 6
 * packets end at 1050 + 6000 + 50. A sender waits for credit meanwhile, and no more than the room is ever queued of
 * each. */
static void
a_sender_waits_for_credit (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  Play play = play_new (rig,
                        "{mtu: 1000B, buffer: 2000B, switching: store_and_forward, flow_control: credit}");

  send (&play, rig_gpu (rig, 0), rig_gpu (rig, 2), 0, 3000);
  send (&play, rig_gpu (rig, 1), rig_gpu (rig, 2), 1, 3000);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, 2);
  assert_int_equal (MAX (play.ends_ps[0], play.ends_ps[1]), 7100);
  assert_true (queue_of (&play, link_of (rig->graph, rig_gpu (rig, 2), TRUE)).most_bytes <= 4000);
  assert_true (queue_of (&play, link_of (rig->graph, rig_gpu (rig, 0), FALSE)).n_stalls
                   + queue_of (&play, link_of (rig->graph, rig_gpu (rig, 1), FALSE)).n_stalls
               > 0);
  rig_net_clear (&play.rig);
}

/* Two nodes of 3 GPUs behind a NIC each at a third of a GPU's rate. From node 0, two flows go to GPU 3, whose link is
 * slowed to a tenth, and one, the victim, to GPU 4, which nobody else sends to: it could have its third of the NIC,
 * but the buffers on the way fill with what waits for GPU 3, and it gets no more than each of those. Without
 * limits to buffers it is not held up. */
static FabTimePs
time_victim (const char *yaml, const char *traffic)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                             .gpus_per_node = 3,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S / 3,
                                             .gpu_latency_ps = LATENCY,
                                             .nic_latency_ps = LATENCY });
  Play play = play_new (rig, yaml);
  FabTimePs end_ps;

  fab_net_set_capacity (play.rig.net, link_of (rig->graph, rig_gpu (rig, 3), TRUE), 1 / 30.0);
  send (&play, rig_gpu (rig, 0), rig_gpu (rig, 3), 0, 1000000);
  send (&play, rig_gpu (rig, 1), rig_gpu (rig, 3), 1, 1000000);
  send_as (&play, traffic, rig_gpu (rig, 2), rig_gpu (rig, 4), 2, 1000000);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, 3);
  end_ps = play.ends_ps[2];
  rig_net_clear (&play.rig);
  return end_ps;
}

static void
congestion_spreads_to_a_victim (G_GNUC_UNUSED void **state)
{
  double free_ps = 1e6 * 9;   /* a third of a third of a byte per ps */
  double stuck_ps = 1e6 * 60; /* as the two that share a thirtieth of a byte per ps */

  assert_true ((double) time_victim ("{mtu: 1000B, flow_control: none, window: 10MB}", NULL)
               < free_ps * 1.05);
  assert_true ((double) time_victim ("{mtu: 1000B, flow_control: credit}", NULL) > stuck_ps * 0.9);
  assert_true ((double) time_victim (
                   "{mtu: 1000B, flow_control: pfc, pause: 16kB, resume: 8kB, congestion: none}", NULL)
               > stuck_ps * 0.7);
}

/* Lanes of its own, and it has at least its half of the NIC, a third of a byte per ps. */
static void
a_class_keeps_a_victim_free (G_GNUC_UNUSED void **state)
{
  double half_ps = 1e6 * 6;

  assert_true ((double) time_victim ("{mtu: 1000B, flow_control: credit, classes: [{of: tensor}]}", "tensor")
               < half_ps * 1.05);
  assert_true (
      (double) time_victim ("{mtu: 1000B, flow_control: pfc, pause: 16kB, resume: 8kB, congestion: none, "
                            "classes: [{of: tensor}]}",
                            "tensor")
      < half_ps * 1.05);
}

static void
every_dimension_can_have_a_class (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; fab_dimension_names[i] != NULL; i++)
    assert_true (g_strv_contains (packet_traffics, fab_dimension_names[i]));
}

/* Two senders, 4 MB each, into one link of a byte per ps: when the first one, of `data`, ends. */
static FabTimePs
time_data (const char *yaml)
{
  g_autoptr (Rig) rig = star (3);
  Play play = play_new (rig, yaml);
  FabTimePs end_ps;

  send_as (&play, "data", rig_gpu (rig, 0), rig_gpu (rig, 2), 0, 4000000);
  send_as (&play, "background", rig_gpu (rig, 1), rig_gpu (rig, 2), 1, 4000000);
  fab_engine_run (play.rig.engine);
  assert_true (ABS (play.ends_ps[1] - 8000000) < 80000); /* the link is never idle */
  end_ps = play.ends_ps[0];
  rig_net_clear (&play.rig);
  return end_ps;
}

static void
classes_share_by_weight (G_GNUC_UNUSED void **state)
{
  assert_true (ABS (time_data ("{mtu: 1000B}") - 8000000) < 80000);
  assert_true (ABS (time_data ("{mtu: 1000B, classes: [{of: data, weight: 3}]}") - 4000000 * 4 / 3) < 80000);
  assert_true (ABS (time_data ("{mtu: 1000B, classes: [{of: data, weight: 3}, {of: background, weight: 3}]}")
                    - 8000000)
               < 80000);
  assert_true (
      ABS (time_data ("{mtu: 1000B, arbitration: strict, classes: [{of: data, weight: 2}]}") - 4000000)
      < 80000);
}

/* Four into one: each of the four links out of a sender is stopped when more than 8 packets of it wait, so no more
 * than 4 x (8 + what comes during the pause's way: 1 or 2) are ever queued, and the link out is never idle. */
static void
pfc_stops_senders_and_loses_nothing (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  Play play = play_new (rig, "{mtu: 1000B, flow_control: pfc, pause: 8000B, resume: 6000B, congestion: none,"
                             " switching: store_and_forward}");

  for (guint i = 0; i < 4; i++)
    send (&play, rig_gpu (rig, i), rig_gpu (rig, 4), i, 100000);
  fab_engine_run (play.rig.engine);
  FabLinkQueue queue = queue_of (&play, link_of (rig->graph, rig_gpu (rig, 4), TRUE));
  assert_int_equal (play.n_ended, 4);
  assert_int_equal (fab_engine_now (play.rig.engine) >= 1050 + 400000 + 50, TRUE);
  assert_true (fab_engine_now (play.rig.engine) <= 1050 + 400000 + 2000);
  assert_true (queue.most_bytes > 8000 && queue.most_bytes <= 44000);
  assert_true (queue_of (&play, link_of (rig->graph, rig_gpu (rig, 0), FALSE)).n_pauses > 0);
  rig_net_clear (&play.rig);
}

/* The same into a queue of 8 packets, all of which it uses: some are lost, sent again, and all ends. Every link's line
 * carried what arrived and what was lost on the way. */
static void
what_is_lost_is_sent_again (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  Play play = play_new (rig,
                        "{mtu: 1000B, flow_control: drop, queue: 8000B, congestion: none, timeout: 5us}");
  guint n_links = fab_graph_n_links (rig->graph);
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, n_links);

  for (guint i = 0; i < 4; i++)
    send (&play, rig_gpu (rig, i), rig_gpu (rig, 4), i, 100000);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, 4);
  assert_true (queue_of (&play, link_of (rig->graph, rig_gpu (rig, 4), TRUE)).n_drops > 0);
  assert_int_equal (queue_of (&play, link_of (rig->graph, rig_gpu (rig, 4), TRUE)).most_bytes, 8000);
  fab_meter_take (play.rig.net->meter, loads);
  for (FabLinkId l = 0; l < n_links; l++)
    assert_near (loads[l].payload_bytes, (double) queue_of (&play, l).carried_bytes, 0);
  rig_net_clear (&play.rig);
}

/* The link from a NIC to the switch of all nodes, or back. */
static FabLinkId
port_of (const Rig *rig, guint node, gboolean is_back)
{
  FabLinkId first;
  guint n = fab_graph_out_links (rig->graph, rig->cluster.nics[node], &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_vertex (rig->graph, fab_graph_link (rig->graph, link)->dst)->node == FAB_NO_NODE)
      return is_back ? fab_graph_link (rig->graph, link)->reverse : link;
  return FAB_NO_LINK;
}

/* Nodes of one GPU and one NIC on one switch, whose ports share a memory. Two nodes send to each of `n_receivers`. */
static FabBytes
longest_queue (guint n_senders, guint n_receivers, const char *yaml)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = n_senders + n_receivers,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S,
                                             .nic_latency_ps = LATENCY });
  Play play = play_new (rig, yaml);
  FabBytes most = 0;
  guint64 n_pauses = 0;

  for (guint i = 0; i < n_senders; i++)
    send (&play, rig_gpu (rig, i), rig_gpu (rig, n_senders + i % n_receivers), i, 1000000);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, n_senders);
  for (guint i = 0; i < n_receivers; i++)
    most = MAX (most, queue_of (&play, port_of (rig, n_senders + i, TRUE)).most_bytes);
  for (guint i = 0; i < n_senders; i++)
    n_pauses += queue_of (&play, port_of (rig, i, FALSE)).n_pauses;
  assert_true ((n_pauses > 0) == (strstr (yaml, "pfc") != NULL));
  rig_net_clear (&play.rig);
  return most;
}

/* Choudhury and Hahne: m queues that grow take alpha of what is free each, B alpha / (1 + m alpha). Of 300 packets one
 * takes 150, two take 100 each; with an alpha of two one takes 200. PFC: the headroom of five links of 50 ps there and
 * back and two packets each is 5 x 2100; of the 100 packets that are left, each of four links has 100 / (1 + 4) = 20
 * when it is stopped, and up to three come after that. */
static void
ports_share_a_memory_by_a_dynamic_threshold (G_GNUC_UNUSED void **state)
{
#define LOSES "{mtu: 1000B, flow_control: trim, congestion: none, memory: 300kB"
  FabBytes one = longest_queue (2, 1, LOSES "}"), two = longest_queue (4, 2, LOSES "}"),
           greedy = longest_queue (2, 1, LOSES ", alpha: 2}"),
           paused = longest_queue (4, 1,
                                   "{mtu: 1000B, flow_control: pfc, congestion: none, memory: 110500B}");

  /* Of 73 964 892 bytes one queue takes 1/16 of what is free: a seventeenth of all. */
  FabBytes product = longest_queue (8, 1,
                                    "{mtu: 1000B, flow_control: trim, congestion: none, switch: ixr7220_d4}"),
           set = longest_queue (
               8, 1,
               "{mtu: 1000B, flow_control: trim, congestion: none, switch: ixr7220_d4, alpha: 0.03125}");

  assert_in_range (product, 4350000 - 1000, 4350876);
  assert_in_range (set, 73964892 / 33 - 1000, 73964892 / 33);
  assert_in_range (one, 148000, 150000);
  assert_in_range (two, 98000, 101000);
  assert_in_range (greedy, 198000, 200000);
  assert_in_range (paused, 80000, 92000);
}

/* The constants of the paper, at 40 Gb/s. */
#define SIGCOMM_2015                                                                                  \
  "mark_from: 5kB, mark_all: 200kB, mark_fraction: 0.01, congestion: {kind: dcqcn, cnp_every: 50us, " \
  "alpha_every: 55us, increase_every: 55us, recovery: 5, increase: 40Mb/s, hyper_increase: 400Mb/s, " \
  "clamp_target: true}"

/* 40 Gb/s, 5 us there and back, four flows of one bottleneck, each through a link of its own: after a while every one
 * has near a quarter, the link is busy nearly all the time, and its queue stays far below what four unchecked senders
 * would make of it. */
static void
dcqcn_shares_a_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1,
                                             .has_network_star = TRUE,
                                             .gpus_per_node = 5,
                                             .gpu_bytes_per_s = 5000000000,
                                             .gpu_latency_ps = 1250000 });
  Play play = play_new (rig, "{flow_control: pfc, pause: 4MB, resume: 3MB, " SIGCOMM_2015 "}");
  FabTimePs first_ps = FAB_TIME_MAX, last_ps = 0;

  for (guint i = 0; i < 4; i++)
    send (&play, rig_gpu (rig, i), rig_gpu (rig, 4), i, 100000000);
  fab_engine_run (play.rig.engine);
  FabLinkQueue queue = queue_of (&play, link_of (rig->graph, rig_gpu (rig, 4), TRUE));
  for (guint i = 0; i < 4; i++) {
    first_ps = MIN (first_ps, play.ends_ps[i]);
    last_ps = MAX (last_ps, play.ends_ps[i]);
  }
  assert_int_equal (play.n_ended, 4);
  assert_true (queue.n_marks > 0);
  assert_true (queue.mean_bytes > 1000 && queue.mean_bytes < 200000);
  assert_true ((double) last_ps < 80e9 * 1.2); /* 400 MB at 5 GB/s */
  assert_true ((double) first_ps > 80e9 * 0.75);
  rig_net_clear (&play.rig);
}

/* Two senders of 100 packets each to one port: its queue becomes a packet longer with each that leaves, up to 100, and
 * empties again. Where all packets above a length are marked, those that come while it is longer are, or those that
 * leave it so; 200 in all but twice the length on the way up, or once up and once down. */
static void
packets_are_marked_as_they_come_or_leave (G_GNUC_UNUSED void **state)
{
  static const char *const mark_ats[] = { "enqueue", "dequeue" };

  for (guint i = 0; i < G_N_ELEMENTS (mark_ats); i++)
    for (guint length = 10; length <= 130; length += 30) {
      g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1,
                                                 .has_network_star = TRUE,
                                                 .gpus_per_node = 3,
                                                 .gpu_bytes_per_s = 1000000000,
                                                 .gpu_latency_ps = 1000 });
      g_autofree char *yaml = g_strdup_printf (
          "{mtu: 1000B, flow_control: pfc, pause: 4MB, resume: 3MB, mark_from: %ukB, mark_all: %ukB, mark_at: %s, "
          "congestion: none}",
          length, length, mark_ats[i]);
      Play play = play_new (rig, yaml);

      for (guint k = 0; k < 2; k++)
        send (&play, rig_gpu (rig, k), rig_gpu (rig, 2), k, 100000);
      fab_engine_run (play.rig.engine);
      FabLinkQueue queue = queue_of (&play, link_of (rig->graph, rig_gpu (rig, 2), TRUE));
      guint expected = length < 100 ? 200 - 2 * length : 0;

      assert_in_range (queue.n_marks + 4, expected, expected + 8);
      rig_net_clear (&play.rig);
    }
}

/* Returns the share of its port that an incast of `n` uses. */
static double
share_of_incast (guint n, FabBytesPerS rate, FabBytes bytes, const char *yaml, guint64 seed)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1,
                                             .has_network_star = TRUE,
                                             .gpus_per_node = n + 1,
                                             .gpu_bytes_per_s = rate,
                                             .gpu_latency_ps = 600000 });
  Play play = play_new (rig, yaml);
  FabTimePs last_ps = 0;

  play.rig.net->env.seed = seed;
  for (guint i = 0; i < n; i++)
    send (&play, rig_gpu (rig, i), rig_gpu (rig, n), i, bytes);
  fab_engine_run (play.rig.engine);
  assert_true (queue_of (&play, link_of (rig->graph, rig_gpu (rig, n), TRUE)).n_marks > 0);
  for (guint i = 0; i < n; i++)
    last_ps = MAX (last_ps, play.ends_ps[i]);
  rig_net_clear (&play.rig);
  return n * (double) bytes / (double) rate / fab_ps_to_seconds (last_ps);
}

/* Four flows to one port. With the constants of 40 Gb/s its share was 67, 43, 54 and 91 % of 40 to 400 Gb/s for 16 MiB
 * each, in no order. With those of each rate it is nine tenths of it for 128 MiB, and two thirds at least for 16 MiB:
 * at 400 Gb/s the 300 us before the first rise are a quarter of that. Marks are drawn, and the share of one seed
 * differs by some hundredths from that of another: these are means of four. */
static void
incast_uses_its_port_at_every_rate (G_GNUC_UNUSED void **state)
{
  static const guint64 gbit_per_s[] = { 25, 40, 100, 200, 400 };

  for (guint r = 0; r < G_N_ELEMENTS (gbit_per_s); r++)
    for (guint is_long = 0; is_long < 2; is_long++) {
      FabBytes bytes = is_long ? 128 << 20 : 16 << 20;
      double share = 0;

      for (guint64 seed = 1; seed <= 4; seed++)
        share += share_of_incast (4, gbit_per_s[r] * 125000000, bytes, "{flow_control: pfc}", seed) / 4;
      print_message ("%" G_GUINT64_FORMAT " Gb/s, 4 x %" G_GUINT64_FORMAT " B: %.3f of the port\n",
                     gbit_per_s[r], bytes, share);
      assert_true (share >= (is_long ? 0.9 : 0.67) && share <= 1);
    }
}

/* A ConnectX cuts its rate to 1 Mb/s, at which a packet leaves a gap of 33 ms, and raises it 300 us later to half of
 * the line: nobody waits out the gap of a rate that has passed. When they did, eight took 33 ms in place of 0.9. */
static void
a_rate_that_rises_ends_the_wait (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{flow_control: pfc, congestion: {kind: dcqcn, adapter: connectx}}";

  for (guint n = 5; n <= 16; n++) {
    double share = share_of_incast (n, 12500000000, 1 << 20, yaml, 1);

    print_message ("an incast of %u uses %.3f of its port\n", n, share);
    assert_true (share > 0.5 && share <= 1);
  }
}

/* One flow from behind another leaf and two from beside the receiver, with default targets, which leave the same queue
 * to all. When they were shares of each flow's own round trip, the one from afar had nearly the whole port. */
static void
swift_ends_near_and_far_together (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 gbit_per_s;
    FabTimePs latency_ps;
  } cases[] = { { 100, 250000 }, { 100, 1000000 }, { 400, 250000 }, { 400, 1000000 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    FabBytesPerS rate = cases[c].gbit_per_s * 125000000;
    g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 6,
                                               .gpus_per_node = 1,
                                               .nics_per_node = 1,
                                               .gpu_bytes_per_s = 4 * rate,
                                               .gpu_latency_ps = 200000,
                                               .nic_bytes_per_s = rate,
                                               .nic_latency_ps = cases[c].latency_ps,
                                               .nodes_per_leaf = 3 });
    Play play = play_new (rig, "{flow_control: pfc, congestion: swift}");
    static const guint senders[] = { 0, 3, 4 };

    for (guint i = 0; i < 3; i++)
      send (&play, rig_gpu (rig, senders[i]), rig_gpu (rig, 5), i, 50000000);
    fab_engine_run (play.rig.engine);
    FabTimePs far_ps = play.ends_ps[0], near_ps = MAX (play.ends_ps[1], play.ends_ps[2]);
    print_message ("%" G_GUINT64_FORMAT " Gb/s, links of %.2f us: far %.3f ms, near %.3f ms\n",
                   cases[c].gbit_per_s, (double) cases[c].latency_ps / 1e6, (double) far_ps / 1e9,
                   (double) near_ps / 1e9);
    assert_true ((double) far_ps > 0.95 * (double) near_ps && (double) far_ps < 1.05 * (double) near_ps);
    rig_net_clear (&play.rig);
  }
}

/* A message's doorbell, and the next one a gap later; the word of it after `completion`. */
static void
nics_take_time_per_message (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S });
  Play play = play_new (rig, "{mtu: 1000B, doorbell: 200ns, message_gap: 5ns, completion: 300ns}");

  send (&play, rig_gpu (rig, 0), rig_gpu (rig, 1), 0, 1000);
  send (&play, rig_gpu (rig, 0), rig_gpu (rig, 1), 1, 1000);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.ends_ps[0], 200000 + 1000 + 300000);
  assert_int_equal (play.ends_ps[1], 200000 + 5000 + 1000 + 300000);
  rig_net_clear (&play.rig);
}

/* Whoever looks at the network in the middle of a message, of which most is not played, changes nothing. The last of
 * 100 MB leaves the sender after 1e8 ps, and crosses two links of 50 ps. */
static void
ask_how_long_it_lasts (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Play *play = owner;

  assert_true (fab_net_packet.lasts (play->rig.net) == FAB_TIME_MAX); /* no line is open */
}

static FabTimePs
end_of_long_message (gboolean has_skip, guint n_looks)
{
  const FabBytes bytes = 100000000;
  g_autoptr (Rig) rig = star (2);
  Play play = play_new (rig, has_skip ? "{mtu: 1000B}" : "{mtu: 1000B, skip: false}");
  FabTimePs end_ps;

  send (&play, rig_gpu (rig, 0), rig_gpu (rig, 1), 0, bytes);
  for (guint i = 1; i <= n_looks; i++)
    fab_engine_at (play.rig.engine, (FabTimePs) bytes * i / (n_looks + 1), ask_how_long_it_lasts, &play, 0);
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, 1);
  end_ps = play.ends_ps[0];
  rig_net_clear (&play.rig);
  return end_ps;
}

static void
a_look_changes_nothing (G_GNUC_UNUSED void **state)
{
  for (guint n = 0; n <= 3; n++) {
    FabTimePs skipped_ps = end_of_long_message (TRUE, n);

    assert_near ((double) skipped_ps, 1e8 + 2 * LATENCY, 1e-4);
    assert_near ((double) skipped_ps, (double) end_of_long_message (FALSE, n), 1e-4);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_look_changes_nothing),
    cmocka_unit_test (a_sender_waits_for_credit),
    cmocka_unit_test (congestion_spreads_to_a_victim),
    cmocka_unit_test (a_class_keeps_a_victim_free),
    cmocka_unit_test (every_dimension_can_have_a_class),
    cmocka_unit_test (classes_share_by_weight),
    cmocka_unit_test (pfc_stops_senders_and_loses_nothing),
    cmocka_unit_test (what_is_lost_is_sent_again),
    cmocka_unit_test (ports_share_a_memory_by_a_dynamic_threshold),
    cmocka_unit_test (dcqcn_shares_a_link),
    cmocka_unit_test (packets_are_marked_as_they_come_or_leave),
    cmocka_unit_test (incast_uses_its_port_at_every_rate),
    cmocka_unit_test (a_rate_that_rises_ends_the_wait),
    cmocka_unit_test (swift_ends_near_and_far_together),
    cmocka_unit_test (nics_take_time_per_message),
  };

  return cmocka_run_group_tests_name ("packet_queues", tests, NULL, NULL);
}
