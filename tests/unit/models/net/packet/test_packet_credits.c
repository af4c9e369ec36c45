/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_credits.c - when receivers give credit and to whom (models/net/packet/credits.c), by hand.
 *
 * Every sender has a way of one link, 0, which pauses and has 1 ps per byte, and a latency of 100 ps forth and 50
 * back. A packet is 1000 B: its wire time is 1000 ps, so that a word of a sender arrives after 1100 ps (cut through:
 * latency and the time of one packet).
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"

enum { MTU = 1000, FORTH_PS = 1100, BACK_PS = 50, MOST_GRANTS = 64, N_SENDERS = 3 };

typedef struct {
  PacketNet net;
  Port ports[1];
  VirtualLane lanes[1];
  Sender senders[N_SENDERS];
  FabCongestion states[N_SENDERS];
  Giver givers[1];
  struct {
    guint32 sender;
    FabTimePs at_ps;
  } grants[MOST_GRANTS];
  guint n_grants;
} Net;

static const FabCongestionOps ops = { .state_size = sizeof (FabCongestion), .takes_credit = TRUE };

/* Each sender begins with `first` bytes of credit, of which its receiver lets `most` be on their way. */
static void
net_make (Net *to, double first, double most)
{
  const Hop hops[] = { { .lane = 0, .cost = 1 }, { .lane = NONE } };
  const PathSet way = { .n_paths = 1, .stride = 2, .back_ps = BACK_PS, .ps_per_byte = 1 };
  guint32 zero = 0;

  memset (to, 0, sizeof *to);
  to->net.params.mtu_bytes = MTU;
  to->net.congestion = &ops;
  to->net.n_links = 1;
  to->net.ports = to->ports;
  to->net.lanes = to->lanes;
  to->net.senders = to->senders;
  to->net.states = (char *) to->states;
  to->net.givers = to->givers;
  to->ports[0] = (Port){ .latency_ps = 100, .ps_per_byte = 1 };
  to->lanes[0].control = CONTROL_PFC;
  to->net.hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  to->net.paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  to->net.ways = g_array_new (FALSE, FALSE, sizeof (PathSet));
  g_array_append_vals (to->net.hops, hops, 2);
  g_array_append_val (to->net.paths, zero);
  g_array_append_val (to->net.ways, way);
  agenda_init (&to->net.agenda);
  packet_credits_rest (&to->net);
  for (guint32 i = 0; i < N_SENDERS; i++) {
    to->senders[i] = (Sender){ .blocked = NONE, .n_entries = 1 };
    to->states[i] = (FabCongestion){ .credit_bytes = first, .outstanding_bytes = most };
    packet_credit_begin (&to->net, i);
  }
}

static void
net_clear (Net *self)
{
  for (guint i = 0; i < N_SENDERS; i++)
    assert_int_equal (self->senders[i].n_entries, 1); /* nobody keeps a reference */
  agenda_clear (&self->net.agenda);
  g_array_unref (self->net.hops);
  g_array_unref (self->net.paths);
  g_array_unref (self->net.ways);
}

/* Plays the agenda up to a time, and notes who got credit. */
static void
play_to (Net *self, FabTimePs end_ps)
{
  while (self->net.agenda.n > 0 && agenda_first_ps (&self->net.agenda) <= end_ps) {
    AgendaEntry entry = agenda_take (&self->net.agenda);
    guint32 number = entry.what >> AGENDA_KIND_BITS;

    self->net.now_ps = entry.at_ps;
    if (entry.what % AGENDA_KINDS == KIND_GIVE) {
      packet_credit_give (&self->net, number);
      continue;
    }
    assert_int_equal (entry.what % AGENDA_KINDS, KIND_CREDITS);
    if (number % 2 == 1) {
      self->grants[self->n_grants].sender = number / 2;
      self->grants[self->n_grants++].at_ps = entry.at_ps;
    }
    packet_credits (&self->net, number);
  }
  self->net.now_ps = end_ps;
}

static void
assert_grant (const Net *net, guint i, guint32 sender, FabTimePs at_ps)
{
  assert_true (i < net->n_grants);
  assert_int_equal (net->grants[i].sender, sender);
  assert_int_equal (net->grants[i].at_ps, at_ps);
}

/* It asks for 6 packets and has credit for one. The receiver hears of it at 1100 and counts that one as on its way,
 * gives one more at once, and one each 1000 ps; a word takes 50 ps. */
static void
credit_comes_at_the_pace_of_the_port (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, MTU, 100 * MTU);
  packet_credit_ask (&net.net, 0, 6 * MTU, TRUE);
  play_to (&net, 20000);
  assert_int_equal (net.n_grants, 5);
  for (guint i = 0; i < 5; i++)
    assert_grant (&net, i, 0, FORTH_PS + BACK_PS + i * 1000);
  assert_near (net.states[0].credit_bytes, 6 * MTU, 1e-12);
  assert_near (net.givers[0].outstanding_bytes, 6 * MTU, 1e-12);
  net_clear (&net);
}

/* Those who lack credit are served one after another. The first one is served before the others are heard of, who stand
 * behind it. */
static void
senders_take_turns (G_GNUC_UNUSED void **state)
{
  static const guint32 order[] = { 0, 0, 1, 2, 0, 1, 2, 0, 1 };
  Net net;

  net_make (&net, 0, 100 * MTU);
  packet_credit_ask (&net.net, 0, 4 * MTU, TRUE);
  packet_credit_ask (&net.net, 1, 3 * MTU, TRUE);
  packet_credit_ask (&net.net, 2, 2 * MTU, TRUE);
  play_to (&net, 20000);
  assert_int_equal (net.n_grants, 9);
  for (guint i = 0; i < 9; i++)
    assert_grant (&net, i, order[i], FORTH_PS + BACK_PS + i * 1000);
  net_clear (&net);
}

/* Two packets may be on their way. When one has arrived, the next gets credit at once. */
static void
no_more_is_on_its_way_than_allowed (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, 0, 2 * MTU);
  packet_credit_ask (&net.net, 0, 4 * MTU, TRUE);
  play_to (&net, 10000);
  assert_int_equal (net.n_grants, 2);
  packet_credit_ended (&net.net, 0, MTU);
  play_to (&net, 20000);
  assert_int_equal (net.n_grants, 3);
  assert_grant (&net, 2, 0, 10000 + BACK_PS);
  packet_credit_ended (&net.net, 0, MTU);
  packet_credit_ended (&net.net, 0, MTU);
  play_to (&net, 30000);
  assert_int_equal (net.n_grants, 4);
  assert_near (net.givers[0].outstanding_bytes, MTU, 1e-12);
  packet_credit_ended (&net.net, 0, MTU);
  assert_near (net.givers[0].outstanding_bytes, 0, 0);
  net_clear (&net);
}

/* A part of a packet gets credit for a whole one, and counts for what it is. A second request while the sender waits
 * does not give it a second turn. */
static void
credit_is_for_whole_packets (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, 0, 100 * MTU);
  packet_credit_ask (&net.net, 0, 300, TRUE);
  packet_credit_ask (&net.net, 1, 2 * MTU, TRUE);
  packet_credit_ask (&net.net, 1, 1, FALSE);
  play_to (&net, 20000);
  assert_int_equal (net.n_grants, 4);
  assert_near (net.givers[0].outstanding_bytes, 300 + 2 * MTU + 1, 1e-12);
  assert_near (net.states[0].credit_bytes, MTU, 1e-12);
  assert_near (net.states[1].credit_bytes, 3 * MTU, 1e-12);
  net_clear (&net);
}

/* When all of a message has ended, the next one begins with the first credit again; while something is on its way, or
 * for what is sent again, it does not. */
static void
a_message_after_all_others_begins_anew (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, 2 * MTU, 100 * MTU);
  packet_credit_ask (&net.net, 0, 2 * MTU, TRUE);
  net.states[0].credit_bytes -= 2 * MTU; /* they were sent */
  play_to (&net, 5000);
  assert_int_equal (net.n_grants, 0);
  packet_credit_ask (&net.net, 0, MTU, TRUE); /* nothing has arrived yet */
  assert_near (net.states[0].credit_bytes, 0, 0);
  play_to (&net, 10000);
  assert_int_equal (net.n_grants, 1);
  net.states[0].credit_bytes -= MTU;
  packet_credit_ended (&net.net, 0, 3 * MTU);
  packet_credit_ask (&net.net, 0, MTU, FALSE);
  assert_near (net.states[0].credit_bytes, 0, 0);
  play_to (&net, 20000);
  net.states[0].credit_bytes -= MTU;
  packet_credit_ended (&net.net, 0, MTU);
  packet_credit_ask (&net.net, 0, 3 * MTU, TRUE);
  assert_near (net.states[0].credit_bytes, 2 * MTU, 1e-12);
  play_to (&net, 30000);
  assert_int_equal (net.n_grants, 3);
  net_clear (&net);
}

/* What will not be sent is asked for no more, and what had credit is not on its way: the others get it. */
static void
what_is_cancelled_makes_room (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, 0, 2 * MTU);
  packet_credit_ask (&net.net, 0, 5 * MTU, TRUE);
  packet_credit_ask (&net.net, 1, MTU, TRUE);
  play_to (&net, 1100);
  packet_credit_cancel (&net.net, 0, 4 * MTU);
  play_to (&net, 20000);
  assert_int_equal (net.n_grants, 2);
  assert_int_equal (net.grants[1].sender, 1);
  packet_credit_cancel (&net.net, 0, MTU);
  assert_near (net.givers[0].outstanding_bytes, MTU, 1e-12);
  packet_credits_rest (&net.net);
  assert_near (net.givers[0].outstanding_bytes, 0, 0);
  net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (credit_comes_at_the_pace_of_the_port),
    cmocka_unit_test (senders_take_turns),
    cmocka_unit_test (no_more_is_on_its_way_than_allowed),
    cmocka_unit_test (credit_is_for_whole_packets),
    cmocka_unit_test (a_message_after_all_others_begins_anew),
    cmocka_unit_test (what_is_cancelled_makes_room),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
