/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_flows.c - one flow step by step: when it begins, what it hears of, what it misses, and what of it moves
 * when time is skipped (models/net/packet/flow.c, loss.c, repeats.c); and what the network knows of its links before
 * anything crosses them (longest_trip.c, deadlock_free_lanes.c), by hand.
 *
 * One way of one link with 2 ps per byte and a cost of 1.25, so that a byte takes 2.5 ps, and 70 ps back.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"
#include "tests/support/rig.h"

enum { MTU = 1000, BACK_PS = 70, LATE_PS = 3, N_PACKETS = 8 };

typedef struct {
  PacketNet net;
  Port ports[2];
  VirtualLane lanes[2];
  Flow flows[2];
  FabTimePs message_ps[2];
} Net;

static void
net_make (Net *to)
{
  const Hop hops[] = { { .lane = 0, .cost = 1.25, .own = 1 }, { .lane = NONE } };
  const PathSet way = { .n_paths = 1, .stride = 2, .n_direct = 1, .back_ps = BACK_PS, .ps_per_byte = 2.5 };
  guint32 zero = 0;

  memset (to, 0, sizeof *to);
  to->net.params = (PacketParams){ .mtu_bytes = MTU, .pace_fraction = 1, .timeout_ps = 9000 };
  to->net.n_links = to->net.n_lanes = 2;
  to->net.ports = to->ports;
  to->net.lanes = to->lanes;
  to->net.flows = to->flows;
  to->net.n_flows = 1;
  to->net.message_ps = to->message_ps;
  to->net.free_packet = NONE;
  to->net.ack_late_ps = LATE_PS;
  for (guint i = 0; i < 2; i++) {
    to->ports[i] = (Port){ .ps_per_byte = 2, .head = NONE, .tail = NONE };
    to->lanes[i] = (VirtualLane){ .link = i, .next = i, .ring = NONE };
  }
  to->net.hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  to->net.paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  to->net.ways = g_array_new (FALSE, FALSE, sizeof (PathSet));
  to->net.used_lanes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (to->net.hops, hops, 2);
  g_array_append_val (to->net.paths, zero);
  g_array_append_val (to->net.ways, way);
  to->net.packets = g_new0 (Packet, N_PACKETS);
  to->net.packet_capacity = N_PACKETS;
  agenda_init (&to->net.agenda);
}

static void
net_clear (Net *self)
{
  agenda_clear (&self->net.agenda);
  g_free (self->net.packets);
  g_array_unref (self->net.hops);
  g_array_unref (self->net.paths);
  g_array_unref (self->net.ways);
  g_array_unref (self->net.used_lanes);
}

static PathSet *
way_of (Net *self)
{
  return &g_array_index (self->net.ways, PathSet, 0);
}

/* A flow that has sent all that it has: nothing but its begin is done. */
static Flow
flow_started (Net *self)
{
  self->flows[0] = (Flow){ .sender = NONE, .n_entries = 1 };
  packet_flow_start (&self->net, 0);
  return self->flows[0];
}

/* --- windows --- */

/* A window holds a packet at least, and is heard of a quarter at a time: of a packet at least, and of 2 GiB at most. */
static void
a_quarter_of_a_window_is_heard_of_at_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes window, used, ack;
  } rows[] = { { 1, MTU, MTU },
               { MTU, MTU, MTU },
               { MTU + 1, MTU + 1, MTU },
               { 4 * MTU, 4 * MTU, MTU },
               { 4 * MTU + 4, 4 * MTU + 4, MTU + 1 },
               { 1000000, 1000000, 250000 },
               { 8589934588, 8589934588, 2147483647 },
               { 8589934584, 8589934584, 2147483646 },
               { 8589934592, 8589934592, 2147483647 },
               { (FabBytes) 1 << 40, (FabBytes) 1 << 40, 2147483647 } };
  Net net;

  net_make (&net);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    net.net.params.window_bytes = rows[i].window;
    Flow flow = flow_started (&net);
    assert_true (flow.window_bytes == rows[i].used);
    assert_int_equal (flow.ack_bytes, rows[i].ack);
  }
  net_clear (&net);
}

/* Without a window of its own a flow has one only where queues have no limit: two round trips of 2 x 70 ps and 8
 * packets each, of which a byte takes 2.5 ps. */
static void
endless_queues_have_a_window_of_two_round_trips (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net);
  assert_true (flow_started (&net).window_bytes == 0);
  way_of (&net)->is_endless = TRUE;
  assert_true (flow_started (&net).window_bytes == 2 * 2 * BACK_PS * 10 / 25 + 2 * 8 * MTU);
  net_clear (&net);
}

/* Packets of 1000 and 500 bytes arrive at a flow that hears of 1000 bytes at a time: after the first, not after 500
 * more, and after 1000 more. The word comes after the way back. Nothing is heard without a window, when all is sent, or
 * by what has arrived as a whole. */
static void
arrivals_are_heard_of_after_the_way_back (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes window, left, missing;
    guint32 sizes[3];
    guint n_heard[3], unacked;
  } rows[] = {
    { 4000, 1, 9000, { 1000, 500, 500 }, { 1, 1, 2 }, 0 },
    { 4000, 1, 9000, { 999, 1, 1000 }, { 0, 1, 2 }, 0 },
    { 4000, 1, 9000, { 600, 600, 600 }, { 0, 1, 1 }, 800 },
    { 0, 1, 9000, { 1000, 1000, 1000 }, { 0, 0, 0 }, 3000 },
    { 4000, 0, 9000, { 1000, 1000, 1000 }, { 0, 0, 0 }, 3000 },
    { 4000, 1, 2001, { 1000, 500, 501 }, { 1, 1, 1 }, 500 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Net net;

    net_make (&net);
    net.net.now_ps = 400;
    net.flows[0] = (Flow){ .sender = NONE,
                           .n_entries = 5,
                           .left_bytes = rows[i].left,
                           .missing_bytes = rows[i].missing,
                           .window_bytes = rows[i].window,
                           .ack_bytes = MTU };
    for (guint k = 0; k < 3; k++) {
      net.net.packets[k] = (Packet){ .size = rows[i].sizes[k] };
      packet_flow_deliver (&net.net, k);
      assert_int_equal (net.net.agenda.n, rows[i].n_heard[k]);
    }
    assert_int_equal (net.flows[0].unacked_bytes, rows[i].unacked);
    assert_int_equal (net.flows[0].last_ps, 400);
    assert_int_equal (net.flows[0].n_entries, 5 + rows[i].n_heard[2]);
    assert_int_equal (net.flows[0].is_over, rows[i].missing == 2001);
    if (net.net.agenda.n > 0) {
      AgendaEntry entry = agenda_take (&net.net.agenda);

      assert_int_equal (entry.at_ps, 400 + LATE_PS + BACK_PS);
      assert_int_equal (entry.what % AGENDA_KINDS, KIND_ACK);
    }
    net_clear (&net);
  }
}

/* A word takes a quarter of the window off what is on its way; after a flow has gone back there may be less. */
static void
what_was_heard_of_is_not_on_its_way (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net);
  net.flows[0] = (Flow){
    .sender = NONE, .n_entries = 3, .flight_bytes = 1700, .window_bytes = 4000, .ack_bytes = 1000
  };
  packet_flow_acked (&net.net, 0);
  assert_true (net.flows[0].flight_bytes == 700);
  packet_flow_acked (&net.net, 0);
  assert_true (net.flows[0].flight_bytes == 0);
  assert_int_equal (net.flows[0].n_entries, 1);
  net_clear (&net);
}

/* --- the begin of a message --- */

/* Through a NIC a message begins after the doorbell, and a gap after the message before; not before its own time. Other
 * messages begin at once. */
static void
a_nic_begins_one_message_after_another (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net);
  net.net.now_ps = 100;
  net.net.params.doorbell_ps = 30;
  net.net.params.message_gap_ps = 50;
  assert_int_equal (flow_started (&net).next_ps, 0);
  way_of (&net)->has_nic = TRUE;
  assert_int_equal (flow_started (&net).next_ps, 130);
  assert_int_equal (flow_started (&net).next_ps, 180);
  assert_int_equal (flow_started (&net).next_ps, 230);
  net.net.now_ps = 1000;
  assert_int_equal (flow_started (&net).next_ps, 1030);
  net.flows[0] = (Flow){ .sender = NONE, .n_entries = 1, .next_ps = 5000 };
  packet_flow_start (&net.net, 0);
  assert_int_equal (net.flows[0].next_ps, 5030);
  net.net.params.message_gap_ps = 0;
  assert_int_equal (flow_started (&net).next_ps, 1030);
  assert_int_equal (net.net.n_flow_changes, 7);
  net_clear (&net);
}

/* At a fraction of the line rate a byte takes as much longer than the 2.5 ps of the first link; a slower pace that the
 * flow has already stays. */
static void
a_pace_is_a_fraction_of_the_first_link (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net);
  assert_near (flow_started (&net).pace_ps_per_byte, 0, 0);
  net.net.params.pace_fraction = 0.5;
  assert_near (flow_started (&net).pace_ps_per_byte, 5, 1e-12);
  net.flows[0] = (Flow){ .sender = NONE, .n_entries = 1, .pace_ps_per_byte = 7 };
  packet_flow_start (&net.net, 0);
  assert_near (net.flows[0].pace_ps_per_byte, 7, 1e-12);
  net_clear (&net);
}

/* --- losses --- */

static gboolean
accepts (Net *self, guint32 number)
{
  return packet_loss_accepts (&self->net, &(Packet){ .number = number });
}

/* Packets arrive in order on one path. One that is missing, the first one too, is told of once, after the way back;
 * what was sent twice is not. Marks are no part of a number. */
static void
a_missing_packet_is_told_of_once (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net);
  way_of (&net)->is_lossy = TRUE;
  flow_started (&net);
  assert_false (accepts (&net, 1));
  assert_int_equal (net.net.agenda.n, 1);
  assert_false (accepts (&net, 2));
  assert_int_equal (net.net.agenda.n, 1);
  assert_int_equal (net.flows[0].n_entries, 2);
  AgendaEntry entry = agenda_take (&net.net.agenda);
  assert_int_equal (entry.at_ps, BACK_PS);
  assert_int_equal (entry.what % AGENDA_KINDS, KIND_NACK);
  assert_true (accepts (&net, 0));
  assert_false (accepts (&net, 0));
  assert_true (accepts (&net, 1 | MARK_BIT));
  assert_int_equal (net.net.agenda.n, 0);
  assert_false (accepts (&net, 5 | MARK_BIT));
  assert_int_equal (net.net.agenda.n, 1);
  assert_int_equal (net.flows[0].nacked, 2);
  way_of (&net)->n_paths = 2; /* any order will do */
  assert_true (accepts (&net, 9));
  way_of (&net)->n_paths = 1;
  way_of (&net)->is_trimmed = TRUE;
  assert_true (accepts (&net, 9));
  net_clear (&net);
}

/* Five packets were sent, and the one with number 2 is missing: the sender goes back to it. Nothing is on its way then,
 * and nothing that was heard of counts. What is over does not go back. */
static void
a_sender_goes_back_to_what_is_missing (G_GNUC_UNUSED void **state)
{
  for (guint is_over = 0; is_over < 2; is_over++) {
    const Flow sent = { .sender = NONE,
                        .n_entries = 3,
                        .is_waiting = TRUE,
                        .is_over = (guint8) is_over,
                        .bytes = 4800,
                        .expected = 2,
                        .n_sent = 5,
                        .flight_bytes = 2800,
                        .unacked_bytes = 700 };
    Net net;

    net_make (&net);
    way_of (&net)->is_lossy = TRUE;
    net.flows[0] = sent;
    packet_loss_nacked (&net.net, 0);
    assert_int_equal (net.flows[0].n_sent, is_over ? 5 : 2);
    assert_int_equal (net.flows[0].left_bytes, is_over ? 0 : 2800);
    assert_int_equal (net.flows[0].flight_bytes, is_over ? 2800 : 0);
    assert_int_equal (net.flows[0].unacked_bytes, is_over ? 700 : 0);
    assert_int_equal (net.flows[0].n_entries, 2);
    net_clear (&net);
  }
}

/* On several paths every word is of one packet, of 1000 B at most, which is sent again by itself. */
static void
on_many_paths_a_packet_is_sent_again (G_GNUC_UNUSED void **state)
{
  static const guint left[] = { 1000, 1700, 1700 }, lost[] = { 700, 0, 0 };
  Net net;

  net_make (&net);
  way_of (&net)->is_lossy = TRUE;
  way_of (&net)->n_paths = 2;
  net.flows[0] = (Flow){
    .sender = NONE, .n_entries = 9, .is_waiting = TRUE, .lost_bytes = 1700, .n_sent = 5
  };
  for (guint i = 0; i < 3; i++) {
    packet_loss_nacked (&net.net, 0);
    assert_int_equal (net.flows[0].left_bytes, left[i]);
    assert_int_equal (net.flows[0].lost_bytes, lost[i]);
    assert_int_equal (net.flows[0].n_sent, 5);
    assert_int_equal (net.flows[0].n_entries, 8 - i);
  }
  net_clear (&net);
}

/* A packet that finds a queue full is told of after the way back where packets need no order: after the rest of the way
 * forth, 40 ps, where its header goes on, and after the timeout where a dead link holds it. On a single path the next
 * packet tells. */
static void
a_lost_packet_is_told_of (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_paths;
    gboolean is_trimmed, is_cut;
    FabTimePs told_ps; /* 0: not */
  } rows[] = { { 1, FALSE, FALSE, 0 },
               { 1, FALSE, TRUE, 0 },
               { 2, FALSE, FALSE, 100 + 70 },
               { 2, FALSE, TRUE, 100 + 9000 + 70 },
               { 1, TRUE, FALSE, 100 + 40 + 70 },
               { 1, TRUE, TRUE, 100 + 9000 + 70 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Net net;

    net_make (&net);
    net.net.now_ps = 100;
    net.ports[0].latency_ps = 40;
    way_of (&net)->is_lossy = TRUE;
    way_of (&net)->n_paths = rows[i].n_paths;
    way_of (&net)->is_trimmed = (guint8) rows[i].is_trimmed;
    net.flows[0] = (Flow){ .sender = NONE, .n_entries = 4, .lost_bytes = 50 };
    net.net.packets[3] = (Packet){ .size = 800 };
    packet_loss_drop (&net.net, 3, rows[i].is_cut);
    assert_int_equal (net.net.agenda.n, rows[i].told_ps > 0);
    assert_int_equal (net.flows[0].lost_bytes, rows[i].told_ps > 0 ? 850 : 50);
    assert_int_equal (net.flows[0].n_entries, rows[i].told_ps > 0 ? 4 : 3);
    assert_int_equal (net.net.free_packet, 3);
    if (rows[i].told_ps > 0) {
      AgendaEntry entry = agenda_take (&net.net.agenda);

      assert_int_equal (entry.at_ps, rows[i].told_ps);
      assert_int_equal (entry.what % AGENDA_KINDS, KIND_NACK);
    }
    net_clear (&net);
  }
}

/* A flow that has sent all waits for 9000 ps. It goes back when nothing has arrived meanwhile, and waits once more when
 * something has; not while it sends, nor when it is over, nor on several paths. */
static void
a_timeout_is_for_what_nothing_follows (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint32 expected; /* at the timeout */
    FabBytes left;
    guint8 is_over;
    gboolean goes_back, waits;
  } rows[] = { { 3, 0, FALSE, TRUE, FALSE },
               { 4, 0, FALSE, FALSE, TRUE },
               { 3, 500, FALSE, FALSE, FALSE },
               { 3, 0, TRUE, FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Net net;

    net_make (&net);
    net.net.now_ps = 100;
    net.flows[0] = (Flow){
      .sender = NONE, .n_entries = 2, .is_waiting = TRUE, .bytes = 5000, .expected = 3, .n_sent = 5
    };
    way_of (&net)->n_paths = 2;
    packet_loss_watch (&net.net, 0);
    assert_int_equal (net.net.agenda.n, 0);
    way_of (&net)->n_paths = 1;
    packet_loss_watch (&net.net, 0);
    packet_loss_watch (&net.net, 0);
    assert_int_equal (net.net.agenda.n, 1);
    assert_int_equal (net.flows[0].n_entries, 3);
    AgendaEntry entry = agenda_take (&net.net.agenda);
    assert_int_equal (entry.at_ps, 9100);
    assert_int_equal (entry.what % AGENDA_KINDS, KIND_TIMEOUT);
    net.net.now_ps = 9100;
    net.flows[0].expected = rows[i].expected;
    net.flows[0].left_bytes = rows[i].left;
    net.flows[0].is_over = rows[i].is_over;
    packet_loss_timeout (&net.net, 0);
    assert_int_equal (net.flows[0].n_sent, rows[i].goes_back ? 3 : 5);
    assert_int_equal (net.flows[0].left_bytes, rows[i].goes_back ? 2000 : rows[i].left);
    assert_int_equal (net.net.agenda.n, rows[i].waits);
    assert_int_equal (net.flows[0].is_watched, rows[i].waits);
    assert_int_equal (net.flows[0].n_entries, 2 + rows[i].waits);
    if (rows[i].waits)
      assert_int_equal (net.flows[0].watched, 4);
    net_clear (&net);
  }
}

/* A flow's number is used again when nothing refers to it and it is over, the last one first. */
static void
numbers_of_flows_are_used_again (G_GNUC_UNUSED void **state)
{
  PacketNet net = { .free_flow = NONE, .free_sender = NONE };
  Sender sender = { .n_entries = 1 };

  for (guint32 i = 0; i < 200; i++)
    assert_int_equal (packet_flow_new (&net, i, 10 + i), i);
  for (guint32 i = 0; i < 200; i++) {
    assert_int_equal (net.flows[i].way, i);
    assert_int_equal (net.flows[i].bytes, 10 + i);
    assert_int_equal (net.flows[i].left_bytes, 10 + i);
    assert_int_equal (net.flows[i].missing_bytes, 10 + i);
    assert_int_equal (net.flows[i].sender, NONE);
  }
  net.senders = &sender;
  net.flows[7].sender = 0;
  for (guint32 i = 5; i < 8; i++) {
    net.flows[i].n_entries = 2;
    net.flows[i].is_over = i != 6;
  }
  for (guint round = 0; round < 2; round++)
    for (guint32 i = 5; i < 8; i++)
      packet_flow_release (&net, i);
  assert_int_equal (sender.n_entries, 0);
  assert_int_equal (net.free_sender, 0);
  assert_int_equal (packet_flow_new (&net, 0, 1), 7);
  assert_int_equal (packet_flow_new (&net, 0, 1), 5);
  assert_int_equal (packet_flow_new (&net, 0, 1), 200);
  g_free (net.flows);
}

/* --- skips --- */

/* What is due later than the begin of a skip moves; what is over stays, and so does what never comes. */
static void
a_skip_moves_what_is_due_later (G_GNUC_UNUSED void **state)
{
  enum { NOW = 1000, BY = 700 };
  static const FabTimePs times[] = { 0, NOW, NOW + 1, 5000, FAB_TIME_MAX },
                         moved[] = { 0, NOW, NOW + 1 + BY, 5000 + BY, FAB_TIME_MAX };

  for (guint is_level = 0; is_level < 2; is_level++)
    for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
      const guint32 used = 1;
      Sender sender = { .gap_from_ps = times[i] };
      Net net;

      net_make (&net);
      net.net.n_lanes += is_level; /* with more lanes than links all ports are looked at */
      net.net.params.message_gap_ps = 1;
      net.net.senders = &sender;
      net.net.n_senders = 1;
      g_array_append_val (net.net.used_lanes, used);
      net.message_ps[0] = net.message_ps[1] = net.ports[0].free_ps = net.ports[1].free_ps = times[i];
      net.ports[1].head = 0;
      net.ports[1].tail = 2;
      for (guint32 k = 0; k < 3; k++)
        net.net.packets[k] = (Packet){ .next = k + 1, .next_ps = 2000 + k };
      net.flows[0] = (Flow){ .next_ps = times[i], .resume_ps = 1500 };
      agenda_add (&net.net.agenda, 3000, KIND_WAKE, 5);
      agenda_add (&net.net.agenda, 2500, KIND_ACK, 6);
      packet_delay (&net.net, NOW, BY);
      assert_int_equal (net.ports[1].free_ps, moved[i]);
      assert_int_equal (net.ports[0].free_ps, is_level ? moved[i] : times[i]);
      assert_int_equal (net.message_ps[0], moved[i]);
      assert_int_equal (net.message_ps[1], moved[i]);
      assert_int_equal (net.flows[0].next_ps, moved[i]);
      assert_int_equal (net.flows[0].resume_ps, 1500 + BY);
      assert_int_equal (sender.gap_from_ps, moved[i]);
      for (guint32 k = 0; k < 3; k++) /* nothing is behind the last one */
        assert_int_equal (net.net.packets[k].next_ps, 2000 + k + (k < 2 ? BY : 0));
      assert_int_equal (net.net.agenda.n, 2);
      assert_int_equal (agenda_first_ps (&net.net.agenda), 2500 + BY);
      assert_int_equal (agenda_take (&net.net.agenda).what, KIND_ACK | 6 << AGENDA_KIND_BITS);
      assert_int_equal (agenda_first_ps (&net.net.agenda), 3000 + BY);
      assert_int_equal (agenda_take (&net.net.agenda).what, KIND_WAKE | 5 << AGENDA_KIND_BITS);
      net_clear (&net);
    }
}

static void
assert_lane (const Net *net, guint64 carried, double byte_ps, FabTimePs changed_ps, guint stalls,
             guint pauses, double served, double port_served)
{
  const VirtualLane *lane = &net->lanes[1];

  assert_true (lane->carried_bytes == carried);
  assert_near (lane->byte_ps, byte_ps, 1e-12);
  assert_int_equal (lane->changed_ps, changed_ps);
  assert_int_equal (lane->n_stalls, stalls);
  assert_int_equal (lane->n_pauses, pauses);
  assert_near (lane->served, served, 1e-12);
  assert_near (net->ports[1].served, port_served, 1e-12);
}

/* From 100 to 200 ps a lane carries 6000 B, and its queue, of 10 B since 90 and of 20 B since 180, adds 800 - 150 B ps.
 * A skip of 2.5 such windows adds 2.5 times as much of all that is counted, in whole numbers; when two fifths of it are
 * taken back, so much less is left. Nothing repeats where a packet was marked or lost, or another lane was used. */
static void
a_skip_counts_its_window_again (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 5; i++) {
    g_autoptr (GArray) marks = packet_lane_marks_new (), counts = packet_lane_marks_new ();
    gboolean is_calm = i < 2, has_turn = i == 0;
    guint32 used = 1;
    Net net;

    net_make (&net);
    g_array_append_val (net.net.used_lanes, used);
    net.net.now_ps = 100;
    net.ports[1].served = 6;
    net.lanes[1] = (VirtualLane){ .link = 1,
                                  .carried_bytes = 4000,
                                  .byte_ps = 50,
                                  .queued_bytes = 10,
                                  .changed_ps = 90,
                                  .served = 8,
                                  .n_stalls = 3,
                                  .n_pauses = 2 };
    packet_lane_marks_take (&net.net, marks);
    net.net.now_ps = 200;
    net.ports[1].served = 26;
    net.ports[1].turn = has_turn ? 1 : 0;
    net.lanes[1] = (VirtualLane){ .link = 1,
                                  .carried_bytes = 10000,
                                  .byte_ps = 400,
                                  .queued_bytes = 20,
                                  .changed_ps = 180,
                                  .served = 20,
                                  .n_stalls = 7,
                                  .n_pauses = 5,
                                  .n_marks = i == 2,
                                  .n_drops = i == 3 };
    if (i == 4)
      g_array_append_val (net.net.used_lanes, used);
    packet_lane_counts_take (&net.net, counts);
    assert_int_equal (packet_lane_marks_repeat (&net.net, marks, 2.5, 700), is_calm);
    if (!is_calm) {
      assert_lane (&net, 10000, 400, 180, 7, 5, 20, 26);
      assert_int_equal (net.net.base.n_skipped, 0);
      net_clear (&net);
      continue;
    }
    assert_lane (&net, 25000, 400 + 2.5 * 650, 880, 17, 13, 50, has_turn ? 76 : 26);
    assert_int_equal (net.net.base.n_skipped, 15);
    assert_int_equal (packet_lane_carried_since (&net.net, counts, 0), 15000);
    packet_lane_counts_take_back (&net.net, counts, 0.4, 280);
    assert_lane (&net, 19000, 400 + 0.6 * 2.5 * 650, 600, 13, 10, 38, has_turn ? 56 : 26);
    assert_int_equal (net.net.base.n_skipped, 9);
    net_clear (&net);
  }
}

/* --- whole networks --- */

/* Four nodes of one GPU and one NIC, two on a leaf: 1 ps per byte and 30 ps inside, 2 ps and 50 ps outside. */
static Rig *
leaves (double gpu_cost, double nic_cost)
{
  return rig_new (&(RigSpec){ .n_nodes = 4,
                              .gpus_per_node = 1,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 2,
                              .gpu_latency_ps = 30,
                              .nic_latency_ps = 50,
                              .gpu_cost = gpu_cost,
                              .nic_cost = nic_cost,
                              .nodes_per_leaf = 2 });
}

static double
longest_trip_ps (const Rig *rig, const char *yaml, FabTimePs *whole_ps)
{
  FabLeg leg = { rig_gpu (rig, 0), rig_gpu (rig, 1), 0 };
  RigNet net = rig_net_with (rig, &fab_net_packet, yaml);
  PacketNet *self = (PacketNet *) net.net;
  guint32 way = packet_path_set (self, &leg, 1, (PacketUse){ .drive = FAB_DRIVE_COPY });

  *whole_ps = packet_longest_trip_ps (self, way);
  double trip_ps = self->longest_trip_ps;
  rig_net_clear (&net);
  return trip_ps;
}

/* Adapters that are farthest apart have two leaves and the spines between them: four links of 50 ps each way, whichever
 * GPUs talk. Stored and forwarded, each of them takes a packet of 1000 B at 2 ps, or at 1 ps over the two cables
 * between a leaf and the spine, with the cost of the first link; cut through, the slowest link takes one. A way has
 * four links of 30 ps between memory and the adapters, each way. */
static void
the_longest_trip_is_between_adapters (G_GNUC_UNUSED void **state)
{
  static const double costs[] = { 1, 1.25, 1.5 };

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++) {
    g_autoptr (Rig) rig = leaves (costs[i], 1);
    FabTimePs whole_ps;

    assert_near (longest_trip_ps (rig, "{mtu: 1000B}", &whole_ps), 4 * 2 * 50, 1e-12);
    assert_int_equal (whole_ps, 4 * 2 * 50 + 4 * 2 * 30 + 2000);
    assert_near (longest_trip_ps (rig, "{mtu: 1000B, switching: store_and_forward}", &whole_ps),
                 4 * 2 * 50 + 2 * (2000 + 1000) * costs[i], 1e-12);
  }
}

/* Without adapters it is between GPUs: two links of 50 ps each way. */
static void
without_adapters_the_longest_trip_is_between_gpus (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 3, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
  FabTimePs whole_ps;

  assert_near (longest_trip_ps (rig, "{mtu: 1000B}", &whole_ps), 2 * 2 * 50, 1e-12);
}

/* The links from one GPU to another. */
static FabPath
path_between (const Rig *rig, guint from, guint to)
{
  FabPath path = { 0 };

  assert_true (fab_router_append (rig->router, rig_gpu (rig, from), rig_gpu (rig, to), 0, &path));
  return path;
}

/* Up a tree and down again no link waits for itself, however high the tree is. Down and up again may. */
static void
paths_up_and_down_rise (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = leaves (1, 1);
  RigNet net = rig_net_with (rig, &fab_net_packet, "{flow_control: credit}");
  PacketNet *self = (PacketNet *) net.net;
  FabPath near = path_between (rig, 0, 1), far = path_between (rig, 0, 3);

  assert_int_equal (far.n, 8); /* GPU, switch, NIC, leaf, spine and back */
  assert_true (packet_path_rises (self, far.links, far.n));
  assert_true (packet_path_rises (self, near.links, near.n));
  for (guint i = 1; i < far.n; i++) {
    FabLinkId back[] = { far.links[i], fab_graph_link (rig->graph, far.links[i])->reverse };

    /* Down to a GPU nothing holds the link up. */
    assert_int_equal (packet_path_rises (self, back, 2), i < far.n / 2 || i + 1 == far.n);
  }
  rig_net_clear (&net);
}

/* A packet that goes down a link, up again and down again would wait for itself: it needs a second level of lanes, on
 * which the order of messages then depends. */
static void
a_circle_needs_a_second_level (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = leaves (1, 1);
  RigNet net = rig_net_with (rig, &fab_net_packet, "{flow_control: credit}");
  PacketNet *self = (PacketNet *) net.net;
  FabLinkId down = path_between (rig, 0, 3).links[4], up = fab_graph_link (rig->graph, down)->reverse;

  guint32 first = packet_lane_first (self, down, 0), second = packet_lane_after (self, first, up);
  assert_int_equal (first, down);
  assert_int_equal (second, up);
  assert_false (net.net->ops->has_order (net.net));
  guint32 third = packet_lane_after (self, second, down);
  assert_int_not_equal (third, down);
  assert_int_equal (self->lanes[third].link, down);
  assert_int_equal (self->lanes[third].level, 1);
  assert_true (net.net->ops->has_order (net.net));
  assert_int_equal (packet_lane_after (self, second, down), third);
  rig_net_clear (&net);
}

/* --- queues --- */

/* The queue in which packets from one GPU of a star wait for the link to another. */
static guint32
queue_between (PacketNet *self, const Rig *rig, guint from, guint to, const FabRotation *rotation)
{
  FabLeg leg = { rig_gpu (rig, from), rig_gpu (rig, to), 0 };
  guint32 way = packet_path_set (self, &leg, 1, (PacketUse){ .wire_factor = 1, .rotation = rotation });
  const PathSet *set = &g_array_index (self->ways, PathSet, way);
  guint32 first = g_array_index (self->paths, guint32, set->first_path);

  assert_int_equal (g_array_index (self->hops, Hop, first).queue, NONE);
  return g_array_index (self->hops, Hop, first + 1).queue;
}

/* Where links have credits, what comes from each link waits in a queue of its own: 12 between four GPUs. Where the GPUs
 * take each other's places, two of their links are played for all, and pairs that turn into each other, which are as
 * far apart in the circle, are one: 3 queues. */
static void
every_link_of_entry_has_its_queue (G_GNUC_UNUSED void **state)
{
  enum { N = 4 };
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = N, .gpu_bytes_per_s = FAB_PS_PER_S });
  FabRotation *rotation = fab_rotation_new (fab_graph_n_links (rig->graph), N, 1);
  FabLinkId up[N], down[N];

  for (guint i = 0; i < N; i++) {
    up[i] = path_between (rig, i, (i + 1) % N).links[0];
    down[i] = fab_graph_link (rig->graph, up[i])->reverse;
  }
  for (guint i = 0; i < N; i++) {
    rotation->stands_for[up[i]] = up[0];
    rotation->stands_for[down[i]] = down[0];
    rotation->turn[up[i]] = rotation->turn[down[i]] = i;
    rotation->next[up[i]] = up[(i + 1) % N];
    rotation->next[down[i]] = down[(i + 1) % N];
  }
  for (guint turns = 0; turns < 2; turns++) {
    RigNet net = rig_net_with (rig, &fab_net_packet, "{flow_control: credit}");
    PacketNet *self = (PacketNet *) net.net;
    guint32 queues[N][N];

    for (guint i = 0; i < N; i++)
      for (guint k = 1; k < N; k++)
        queues[i][k] = queue_between (self, rig, i, (i + k) % N, turns ? rotation : NULL);
    assert_int_equal (self->n_queues, turns ? N - 1 : N * (N - 1));
    for (guint i = 0; i < N && turns; i++)
      for (guint k = 1; k < N; k++)
        assert_int_equal (queues[i][k], queues[0][k]);
    rig_net_clear (&net);
  }
  fab_rotation_unref (rotation);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_quarter_of_a_window_is_heard_of_at_once),
    cmocka_unit_test (endless_queues_have_a_window_of_two_round_trips),
    cmocka_unit_test (arrivals_are_heard_of_after_the_way_back),
    cmocka_unit_test (what_was_heard_of_is_not_on_its_way),
    cmocka_unit_test (a_nic_begins_one_message_after_another),
    cmocka_unit_test (a_pace_is_a_fraction_of_the_first_link),
    cmocka_unit_test (a_missing_packet_is_told_of_once),
    cmocka_unit_test (a_sender_goes_back_to_what_is_missing),
    cmocka_unit_test (on_many_paths_a_packet_is_sent_again),
    cmocka_unit_test (a_lost_packet_is_told_of),
    cmocka_unit_test (a_timeout_is_for_what_nothing_follows),
    cmocka_unit_test (numbers_of_flows_are_used_again),
    cmocka_unit_test (a_skip_moves_what_is_due_later),
    cmocka_unit_test (a_skip_counts_its_window_again),
    cmocka_unit_test (the_longest_trip_is_between_adapters),
    cmocka_unit_test (without_adapters_the_longest_trip_is_between_gpus),
    cmocka_unit_test (paths_up_and_down_rise),
    cmocka_unit_test (a_circle_needs_a_second_level),
    cmocka_unit_test (every_link_of_entry_has_its_queue),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
