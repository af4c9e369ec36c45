/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_senders.c - what the packet network tells a model of congestion control, and what it makes of the
 * answer (models/net/packet/congestion.c), by hand.
 *
 * A way of two links: 1 ps per byte and 100 ps, then 2 ps per byte, 1.25 line bytes for each byte, and 200 ps. So a
 * byte takes 2.5 ps on the slowest link, and a packet of 1000 B 2500 ps.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"

enum { MTU = 1000, BACK_PS = 70 };

typedef struct {
  PacketNet net;
  Port ports[2];
  VirtualLane lanes[2];
  Flow flows[2];
} Net;

static guint n_started;
static gboolean tells;

static void
start (FabCongestion *self)
{
  n_started++;
  self->window_bytes = 2500;
}

static gboolean
marked (G_GNUC_UNUSED FabCongestion *self, G_GNUC_UNUSED FabTimePs now_ps)
{
  return tells;
}

static void
reported (FabCongestion *self, const FabPacketReport *report)
{
  self->rate_bytes_per_s = report->bytes;
}

static const FabCongestionOps ops = {
  .state_size = sizeof (FabCongestion), .start = start, .marked = marked, .reported = reported
};

static void
net_make (Net *to, gboolean is_marked)
{
  const Hop hops[] = { { .lane = 0, .cost = 1, .own = 1 },
                       { .lane = 1, .cost = 1.25, .own = 1 },
                       { .lane = NONE } };
  const PathSet way = { .n_paths = 1,
                        .stride = 3,
                        .n_direct = 1,
                        .back_ps = BACK_PS,
                        .ps_per_byte = 2.5,
                        .is_marked = (guint8) is_marked };
  guint32 zero = 0;

  memset (to, 0, sizeof *to);
  n_started = 0;
  to->net.params.mtu_bytes = MTU;
  to->net.congestion = &ops;
  to->net.n_links = 2;
  to->net.ports = to->ports;
  to->net.lanes = to->lanes;
  to->net.flows = to->flows;
  to->net.free_sender = NONE;
  to->net.longest_trip_ps = 9000; /* as if it were known */
  to->ports[0] = (Port){ .latency_ps = 100, .ps_per_byte = 1 };
  to->ports[1] = (Port){ .latency_ps = 200, .ps_per_byte = 2 };
  to->lanes[1].link = 1;
  to->net.hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  to->net.paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  to->net.ways = g_array_new (FALSE, FALSE, sizeof (PathSet));
  g_array_append_vals (to->net.hops, hops, 3);
  g_array_append_val (to->net.paths, zero);
  g_array_append_val (to->net.ways, way);
  agenda_init (&to->net.agenda);
}

static void
net_clear (Net *self)
{
  agenda_clear (&self->net.agenda);
  g_free (self->net.senders);
  g_free (self->net.states);
  g_free (self->net.notes);
  g_array_unref (self->net.hops);
  g_array_unref (self->net.paths);
  g_array_unref (self->net.ways);
}

/* Cut through: both latencies and the packet once. Stored and forwarded: 1000 ps on the first link, 2500 on the
 * second. */
static void
a_packet_takes_its_way_forth (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  assert_int_equal (packet_sender_forth_ps (&net.net, 0), 300 + 2500);
  net.net.params.switching = SWITCHING_STORE_AND_FORWARD;
  assert_int_equal (packet_sender_forth_ps (&net.net, 0), 300 + 1000 + 2500);
  net_clear (&net);
}

/* The slowest link has 400 GB/s of payload, and 500 of anything; with headers of 100 B in each packet 2 x 1.35 ps. */
static void
a_sender_is_told_of_its_path (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  guint32 number = packet_sender_new (&net.net, 0);
  const FabCongestion *first = packet_sender_state (&net.net, number);
  assert_near (first->line_bytes_per_s, 1e12 / 2.5, 1e-12);
  assert_near (first->wire_bytes_per_s, 1e12 / 2, 1e-12);
  assert_int_equal (first->round_trip_ps, 2800 + BACK_PS);
  assert_int_equal (first->longest_trip_ps, 9000 + 2500);
  assert_int_equal (first->n_hops, 2);
  assert_int_equal (first->mtu_bytes, MTU);
  assert_int_equal (n_started, 1);
  net.net.header_bytes = 100;
  net.net.longest_trip_ps = 100; /* shorter than the own one, with 2500 ps */
  number = packet_sender_new (&net.net, 0);
  assert_near (packet_sender_state (&net.net, number)->line_bytes_per_s, 1e12 / 2.7, 1e-12);
  assert_int_equal (packet_sender_state (&net.net, number)->longest_trip_ps, 2800 + BACK_PS);
  net_clear (&net);
}

/* Nothing governs a way whose links neither lose nor pause, nor any way without a model. */
static void
some_ways_have_no_sender (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, FALSE);
  assert_int_equal (packet_sender_new (&net.net, 0), NONE);
  net_clear (&net);
  net_make (&net, TRUE);
  net.net.congestion = NULL;
  assert_int_equal (packet_sender_new (&net.net, 0), NONE);
  packet_sender_release (&net.net, NONE);
  net_clear (&net);
}

/* Many senders have numbers of their own; one that nobody refers to is used again, the last one first. */
static void
numbers_of_senders_are_used_again (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  for (guint32 i = 0; i < 200; i++)
    assert_int_equal (packet_sender_new (&net.net, 0), i);
  net.net.senders[5].n_entries++;
  packet_sender_release (&net.net, 5);
  assert_int_equal (packet_sender_new (&net.net, 0), 200);
  packet_sender_release (&net.net, 5);
  packet_sender_release (&net.net, 7);
  assert_int_equal (packet_sender_new (&net.net, 0), 7);
  assert_int_equal (packet_sender_new (&net.net, 0), 5);
  assert_int_equal (packet_sender_new (&net.net, 0), 201);
  net_clear (&net);
}

/* A window of 2500 B holds two packets; the first may always go, and without a window all may. */
static void
a_window_holds_whole_packets (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  guint32 number = packet_sender_new (&net.net, 0);
  net.net.packet_capacity = 8;
  packet_notes_grow (&net.net);
  assert_true (packet_sender_may_send (&net.net, number));
  packet_sender_sent (&net.net, number, 0, MTU);
  assert_true (packet_sender_may_send (&net.net, number));
  packet_sender_sent (&net.net, number, 1, 500);
  assert_true (packet_sender_may_send (&net.net, number));
  packet_sender_sent (&net.net, number, 2, 1);
  assert_false (packet_sender_may_send (&net.net, number));
  assert_int_equal (net.net.senders[number].flight_bytes, 1501);
  packet_sender_state (&net.net, number)->window_bytes = 1;
  assert_false (packet_sender_may_send (&net.net, number));
  net.net.senders[number].flight_bytes = 0;
  assert_true (packet_sender_may_send (&net.net, number));
  packet_sender_state (&net.net, number)->window_bytes = 0;
  net.net.senders[number].flight_bytes = 1 << 30;
  assert_true (packet_sender_may_send (&net.net, number));
  net_clear (&net);
}

/* 1000 B at 100 GB/s are 10 ns. A rate that rises shortens the gap that has begun; one that falls lengthens it where
 * the model says so. */
static void
a_rate_leaves_a_gap_behind_a_packet (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  guint32 number = packet_sender_new (&net.net, 0);
  net.net.packet_capacity = 1;
  packet_notes_grow (&net.net);
  net.net.now_ps = 100;
  packet_sender_sent (&net.net, number, 0, 1000);
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100);
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 1e11;
  packet_sender_sent (&net.net, number, 0, 1000);
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100 + 10000);
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 2e11; /* rises */
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100 + 5000);
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 0;
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100);
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 5e10; /* falls */
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100 + 10000);
  FabCongestionOps lengthens = ops;
  lengthens.lengthens_gap = TRUE;
  net.net.congestion = &lengthens;
  assert_int_equal (packet_sender_gap_ps (&net.net, number), 100 + 20000);
  net_clear (&net);
}

static void
rise_at_3_ns (FabCongestion *self, FabTimePs now_ps)
{
  if (now_ps >= 3000)
    *self = (FabCongestion){ .rate_bytes_per_s = 2e11, .changes_ps = FAB_TIME_MAX };
}

/* Behind a packet of 1000 B at 100 GB/s a flow waits for 10 ns. Its model's clock raises the rate to twice that after 3
 * ns: it asks then, and waits until 5 ns. A word that raises the rate wakes it once more, and what is out of date of
 * its entries does nothing. */
static void
a_rate_that_rises_wakes_a_flow (G_GNUC_UNUSED void **state)
{
  FabCongestionOps clocked = ops;
  Net net;

  net_make (&net, TRUE);
  clocked.reported = NULL;
  clocked.elapsed = rise_at_3_ns;
  net.net.congestion = &clocked;
  guint32 number = packet_sender_new (&net.net, 0);
  FabCongestion *model = packet_sender_state (&net.net, number);
  *model = (FabCongestion){ .rate_bytes_per_s = 1e11, .changes_ps = 3000 };
  net.flows[0] = (Flow){ .sender = number, .n_entries = 1, .left_bytes = 9000 };
  packet_sender_sent (&net.net, number, 0, 1000);
  packet_flow_join (&net.net, 0);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 3000);
  net.net.now_ps = agenda_take (&net.net.agenda).at_ps;
  packet_flow_resume (&net.net, 0);
  assert_int_equal (net.net.agenda.n, 1);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 5000);
  model->rate_bytes_per_s = 2.5e11;
  packet_flow_pace_again (&net.net, 0);
  packet_flow_pace_again (&net.net, 0);
  assert_int_equal (net.net.agenda.n, 2);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 4000);
  model->rate_bytes_per_s = 1e11; /* it falls again */
  net.net.now_ps = agenda_take (&net.net.agenda).at_ps;
  packet_flow_resume (&net.net, 0);
  assert_int_equal (net.net.agenda.n, 2);
  net.net.now_ps = agenda_take (&net.net.agenda).at_ps;
  assert_int_equal (net.net.now_ps, 5000);
  packet_flow_resume (&net.net, 0);
  assert_int_equal (net.net.agenda.n, 1);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 10000);
  assert_int_equal (net.flows[0].n_entries, 2);
  net_clear (&net);
}

static void
raise_by_report (FabCongestion *self, const FabPacketReport *report)
{
  self->rate_bytes_per_s = 200e9;
  assert_int_equal (report->now_ps, 1000);
  assert_int_equal (report->sent_ps, 0);
  assert_int_equal (report->left_ps, 0);
  assert_int_equal (report->bytes, 1000);
  assert_false (report->is_marked);
  assert_false (report->is_lost);
}

static void
raise_by_word (FabCongestion *self, FabTimePs now_ps)
{
  assert_int_equal (now_ps, 2000);
  self->rate_bytes_per_s = 250e9;
}

/* Behind a packet of 1000 B at 100 GB/s a flow waits until 10 ns: until 5 ns when the report on that packet has doubled
 * the rate, and until 4 ns when a word of the receiver has raised it further. A word that comes when nobody sends any
 * more tells the model nothing. */
static void
what_a_sender_hears_wakes_its_flow (G_GNUC_UNUSED void **state)
{
  FabCongestionOps hears = ops;
  Packet packet = { .size = 1000, .next = NONE, .next_ps = PACKET_ARRIVED };
  Net net;

  net_make (&net, TRUE);
  hears.reported = raise_by_report;
  hears.notified = raise_by_word;
  net.net.congestion = &hears;
  net.net.packets = &packet;
  net.net.free_packet = NONE;
  net.net.packet_capacity = 1;
  packet_notes_grow (&net.net);
  guint32 number = packet_sender_new (&net.net, 0);
  packet.hop = number;
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 100e9;
  net.flows[0] = (Flow){ .sender = number, .n_entries = 1, .left_bytes = 9000 };
  packet_sender_sent (&net.net, number, 0, 1000);
  packet_flow_join (&net.net, 0);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 10000);
  net.net.now_ps = 1000;
  net.net.senders[number].n_entries++;
  packet_reported (&net.net, 0);
  assert_int_equal (net.net.senders[number].flight_bytes, 0);
  assert_int_equal (net.net.senders[number].n_entries, 1);
  assert_int_equal (net.net.free_packet, 0);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 5000);
  net.net.now_ps = 2000;
  net.net.senders[number].n_entries++;
  packet_sender_notified (&net.net, number);
  assert_int_equal (net.net.senders[number].n_entries, 1);
  assert_int_equal (agenda_first_ps (&net.net.agenda), 4000);
  assert_int_equal (net.net.agenda.n, 3);
  packet_sender_state (&net.net, number)->rate_bytes_per_s = 100e9;
  packet_sender_notified (&net.net, number);
  assert_near (packet_sender_state (&net.net, number)->rate_bytes_per_s, 100e9, 0);
  assert_int_equal (net.net.free_sender, number);
  net_clear (&net);
}

/* The receiver's word goes back with the acknowledgement, where the model wants it. */
static void
a_mark_is_told_after_the_way_back (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  guint32 number = packet_sender_new (&net.net, 0);
  net.net.now_ps = 1000;
  net.net.ack_late_ps = 3;
  tells = FALSE;
  packet_sender_marked (&net.net, number);
  packet_sender_marked (&net.net, NONE);
  assert_int_equal (net.net.agenda.n, 0);
  tells = TRUE;
  packet_sender_marked (&net.net, number);
  assert_int_equal (net.net.agenda.n, 1);
  AgendaEntry entry = agenda_take (&net.net.agenda);
  assert_int_equal (entry.at_ps, 1000 + BACK_PS + 3);
  assert_int_equal (entry.what % AGENDA_KINDS, KIND_TOLD);
  assert_int_equal (entry.what >> AGENDA_KIND_BITS, number);
  assert_int_equal (net.net.senders[number].n_entries, 2);
  net_clear (&net);
}

/* A flow waits once, however often it is asked to. */
static void
flows_wait_for_a_window_once (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, TRUE);
  guint32 number = packet_sender_new (&net.net, 0);
  for (guint32 i = 0; i < 2; i++) {
    net.flows[i] = (Flow){ .sender = number, .n_entries = 1, .is_over = TRUE };
    packet_sender_block (&net.net, i);
    packet_sender_block (&net.net, i);
    assert_int_equal (net.flows[i].n_entries, 2);
  }
  assert_int_equal (net.net.senders[number].blocked, 1);
  assert_int_equal (net.flows[1].blocked_next, 0);
  packet_sender_unblock (&net.net, number);
  for (guint32 i = 0; i < 2; i++) {
    assert_false (net.flows[i].is_blocked);
    assert_int_equal (net.flows[i].n_entries, 1);
  }
  assert_int_equal (net.net.senders[number].blocked, NONE);
  net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_packet_takes_its_way_forth),
    cmocka_unit_test (a_sender_is_told_of_its_path),
    cmocka_unit_test (some_ways_have_no_sender),
    cmocka_unit_test (numbers_of_senders_are_used_again),
    cmocka_unit_test (a_window_holds_whole_packets),
    cmocka_unit_test (a_rate_leaves_a_gap_behind_a_packet),
    cmocka_unit_test (a_rate_that_rises_wakes_a_flow),
    cmocka_unit_test (a_mark_is_told_after_the_way_back),
    cmocka_unit_test (what_a_sender_hears_wakes_its_flow),
    cmocka_unit_test (flows_wait_for_a_window_once),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
