/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_paths.c - which of its paths a packet takes (models/net/packet/balance.c), step by step.
 *
 * One way of three paths of two links: link 0 and then 1, 2 and then 3, 4 and then 5, each with one lane of the same
 * number and 1 ps per byte. What waits is written by hand. Paths that are taken by chance show in the random numbers
 * that were drawn.
 */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"

enum { N_PATHS = 3, STRIDE = 3, N_LINKS = 6, EXPLORED = 16 };

typedef struct {
  PacketNet net;
  Port ports[N_LINKS];
  VirtualLane lanes[N_LINKS];
  Flow flows[1];
} Net;

static FabBalance wanted;

static FabBalance
balance_of (G_GNUC_UNUSED const FabRouter *router)
{
  return wanted;
}

static void
net_make (Net *to, FabBalance balance)
{
  static const FabRouterOps ops = { .balance = balance_of };
  static FabRouter router = { &ops };
  const PathSet way = { .n_paths = N_PATHS, .stride = STRIDE, .n_direct = N_PATHS };

  memset (to, 0, sizeof *to);
  wanted = balance;
  to->net.base.env.router = &router;
  to->net.ports = to->ports;
  to->net.lanes = to->lanes;
  to->net.flows = to->flows;
  to->net.hops = g_array_new (FALSE, FALSE, sizeof (Hop));
  to->net.paths = g_array_new (FALSE, FALSE, sizeof (guint32));
  to->net.ways = g_array_new (FALSE, FALSE, sizeof (PathSet));
  for (guint32 i = 0; i < N_LINKS; i++) {
    to->ports[i].ps_per_byte = 1;
    to->lanes[i].link = i;
  }
  for (guint32 path = 0; path < N_PATHS; path++) {
    const Hop hops[STRIDE] = { { .lane = 2 * path }, { .lane = 2 * path + 1 }, { .lane = NONE } };
    guint32 first = to->net.hops->len;

    g_array_append_val (to->net.paths, first);
    g_array_append_vals (to->net.hops, hops, STRIDE);
  }
  packet_balance_init (&to->net);
  g_array_append_val (to->net.ways, way);
  packet_balance_add (&to->net);
}

static void
net_clear (Net *self)
{
  packet_balance_clear (&self->net);
  g_array_unref (self->net.hops);
  g_array_unref (self->net.paths);
  g_array_unref (self->net.ways);
}

static PathSet *
way_of (Net *self)
{
  return &g_array_index (self->net.ways, PathSet, 0);
}

static guint32
first (Net *self)
{
  return packet_balance_first (&self->net, &self->flows[0]);
}

/* What waits for the links of each path. */
static void
queue (Net *self, guint32 a, guint32 b, guint32 c, guint32 d, guint32 e, guint32 f)
{
  const guint32 bytes[N_LINKS] = { a, b, c, d, e, f };

  for (guint i = 0; i < N_LINKS; i++)
    self->lanes[i].queued_bytes = bytes[i];
}

static gboolean
is_by_chance (Net *self)
{
  guint64 n_before = self->net.n_random;

  assert_true (first (self) < N_PATHS);
  return self->net.n_random > n_before;
}

/* --- by shares --- */

/* The packets of a flow go round, and flows begin one path further each. A single path is taken always. */
static void
packets_take_paths_in_turn (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_SHARES });
  for (guint turn = 0; turn < N_PATHS; turn++)
    for (guint n_sent = 0; n_sent < 7; n_sent++) {
      way_of (&net)->turn = turn;
      net.flows[0].n_sent = n_sent;
      assert_int_equal (first (&net), (turn + n_sent) % 3);
    }
  way_of (&net)->n_paths = 1;
  assert_int_equal (first (&net), 0);
  net_clear (&net);
}

/* --- flowlets --- */

/* Longest queues of 100, 40 and 50 B: the second path. It stays for a gap of 1000 ps after each packet; 1001 ps after
 * the last one the path is the emptiest again. */
static void
flowlets_take_the_emptiest_path (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_FLOWLET, .gap_ps = 1000, .takes_emptiest = TRUE });
  queue (&net, 100, 0, 40, 40, 0, 50);
  assert_int_equal (first (&net), 1);
  queue (&net, 0, 0, 40, 40, 50, 50);
  net.net.now_ps = 1000;
  assert_int_equal (first (&net), 1);
  net.net.now_ps = 2000;
  assert_int_equal (first (&net), 1);
  net.net.now_ps = 3001;
  assert_int_equal (first (&net), 0);
  /* A wire that is busy for 60 ps more is as long a queue. */
  queue (&net, 0, 0, 0, 59, 0, 61);
  net.net.now_ps = 5000;
  net.ports[1].free_ps = 5060;
  net.ports[3].free_ps = 4000;
  assert_int_equal (first (&net), 1);
  /* What is known is forgotten when the network rests. */
  packet_balance_rest (&net.net);
  queue (&net, 0, 9, 9, 9, 0, 0);
  net.ports[1].free_ps = 0;
  assert_int_equal (first (&net), 2);
  net_clear (&net);
}

/* Of equal paths all are chosen now and then; without queues any of them. */
static void
flowlets_break_ties_by_chance (G_GNUC_UNUSED void **state)
{
  for (guint is_emptiest = 0; is_emptiest < 2; is_emptiest++) {
    guint n_taken[N_PATHS] = { 0 };
    Net net;

    net_make (&net, (FabBalance){ FAB_BALANCE_FLOWLET, .gap_ps = 10, .takes_emptiest = is_emptiest > 0 });
    queue (&net, 9, 0, 0, 9, 9, 9);
    for (guint i = 0; i < 300; i++) {
      net.net.now_ps += 11;
      n_taken[first (&net)]++;
    }
    for (guint path = 0; path < N_PATHS; path++)
      assert_true (n_taken[path] > 60);
    net_clear (&net);
  }
}

/* --- recycled paths --- */

static void
heard (Net *self, guint32 path, guint8 end, gboolean is_marked)
{
  packet_balance_heard (&self->net, 0, path, end, is_marked);
}

/* A path comes back with each packet that arrived without a mark, and is taken once, the oldest first. */
static void
good_paths_are_taken_once_more (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_RECYCLE, .n_kept = 4 });
  assert_true (packet_balance_listens (&net.net, 0));
  assert_true (is_by_chance (&net));
  heard (&net, 2, PACKET_ARRIVED, FALSE);
  heard (&net, 1, PACKET_ARRIVED, TRUE);
  heard (&net, 1, PACKET_TRIMMED, FALSE);
  heard (&net, 0, PACKET_ARRIVED, FALSE);
  assert_int_equal (first (&net), 2);
  heard (&net, 1, PACKET_ARRIVED, FALSE);
  assert_int_equal (first (&net), 0);
  assert_int_equal (first (&net), 1);
  assert_true (is_by_chance (&net));
  /* Of five the first is forgotten. */
  for (guint i = 0; i < 5; i++)
    heard (&net, i % 3, PACKET_ARRIVED, FALSE);
  for (guint i = 1; i < 5; i++)
    assert_int_equal (first (&net), i % 3);
  assert_true (is_by_chance (&net));
  way_of (&net)->n_paths = 1;
  assert_false (packet_balance_listens (&net.net, 0));
  net_clear (&net);
}

/* After a loss paths that were good are taken again and again, for 500 ps; a loss meanwhile changes nothing. Then 16
 * packets take any path, and losses that are heard of meanwhile begin nothing. */
static void
a_loss_freezes_the_paths (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_RECYCLE, .n_kept = 8, .frozen_ps = 500 });
  heard (&net, 2, PACKET_ARRIVED, FALSE);
  heard (&net, 1, PACKET_ARRIVED, FALSE);
  heard (&net, 0, PACKET_LOST, FALSE);
  for (guint i = 0; i < 3; i++) {
    assert_int_equal (first (&net), 2);
    assert_int_equal (first (&net), 1);
  }
  net.net.now_ps = 400;
  heard (&net, 0, PACKET_LOST, FALSE);
  net.net.now_ps = 500;
  heard (&net, 0, PACKET_LOST, FALSE);
  assert_false (is_by_chance (&net));
  net.net.now_ps = 501;
  heard (&net, 0, PACKET_ARRIVED, FALSE);
  for (guint i = 0; i < EXPLORED; i++) {
    heard (&net, 0, PACKET_LOST, FALSE);
    assert_true (is_by_chance (&net));
  }
  /* Then the path that was good once the freeze had ended. */
  assert_int_equal (first (&net), 0);
  net_clear (&net);
}

/* Frozen without a path that is known, it takes any. Without a time for it, a loss freezes nothing. */
static void
a_loss_without_known_paths_is_by_chance (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_RECYCLE, .n_kept = 8, .frozen_ps = 500 });
  heard (&net, 0, PACKET_LOST, FALSE);
  assert_true (is_by_chance (&net));
  net_clear (&net);
  net_make (&net, (FabBalance){ FAB_BALANCE_RECYCLE, .n_kept = 8 });
  heard (&net, 0, PACKET_LOST, FALSE);
  heard (&net, 2, PACKET_ARRIVED, FALSE);
  assert_int_equal (first (&net), 2);
  assert_true (is_by_chance (&net));
  net_clear (&net);
}

/* --- switches choose --- */

/* All paths begin with the same lane 0, and part behind it: lanes 1, 3 and 5. */
static void
join_first_links (Net *self)
{
  for (guint path = 0; path < N_PATHS; path++)
    g_array_index (self->net.hops, Hop, path * STRIDE).lane = 0;
}

static guint32
next_lane (Net *self, guint32 path, guint32 number, guint32 from)
{
  Packet packet = { .hop = path * STRIDE + 1, .size = 10, .number = number, .from = from };
  guint32 lane = packet_balance_next (&self->net, &packet)->lane;

  assert_int_equal (packet_balance_path_of (&self->net, &packet), lane / 2);
  return lane;
}

static void
a_switch_takes_the_link_with_the_least_to_do (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_SHARES });
  join_first_links (&net);
  queue (&net, 0, 30, 0, 20, 0, 25);
  assert_int_equal (next_lane (&net, 0, 0, 0), 3);
  net.net.now_ps = 100;
  net.ports[3].free_ps = 110;
  assert_int_equal (next_lane (&net, 0, 0, 0), 5);
  /* The second path begins elsewhere. */
  net.ports[3].free_ps = 0;
  g_array_index (net.net.hops, Hop, STRIDE).lane = 2;
  assert_int_equal (next_lane (&net, 0, 0, 0), 5);
  /* Paths of different lengths, or one path: it stays on its own. */
  way_of (&net)->is_mixed = TRUE;
  assert_int_equal (next_lane (&net, 0, 0, 0), 1);
  way_of (&net)->is_mixed = FALSE;
  way_of (&net)->n_paths = 1;
  assert_int_equal (next_lane (&net, 0, 0, 0), 1);
  net_clear (&net);
}

/* It leaves the path of its hash where the threshold of 20 B waits; the third path is a detour, where the queue and
 * the packet's own 10 B count three times: 25 B are shorter than 3 x (2 + 10) - 10 = 26, and longer than 3 x (1 + 10)
 * - 10. */
static void
a_long_queue_sends_packets_elsewhere (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_QUEUE, .threshold_bytes = 20, .detour_factor = 3 });
  join_first_links (&net);
  way_of (&net)->n_direct = 2;
  for (guint turn = 0; turn < 5; turn++) {
    way_of (&net)->turn = turn;
    assert_int_equal (first (&net), turn % 2);
  }
  way_of (&net)->turn = 0;
  queue (&net, 0, 19, 0, 0, 0, 0);
  assert_int_equal (next_lane (&net, 0, 0, 0), 1);
  queue (&net, 0, 20, 0, 15, 0, 2);
  assert_int_equal (next_lane (&net, 0, 0, 0), 3);
  queue (&net, 0, 30, 0, 25, 0, 2);
  assert_int_equal (next_lane (&net, 0, 0, 0), 3);
  queue (&net, 0, 30, 0, 25, 0, 1);
  assert_int_equal (next_lane (&net, 0, 0, 0), 5);
  way_of (&net)->is_mixed = TRUE;
  assert_int_equal (next_lane (&net, 0, 0, 0), 5);
  net_clear (&net);
}

/* Of equal queues the packets of a flow take one after another, marked or not. */
static void
equal_queues_share_the_packets (G_GNUC_UNUSED void **state)
{
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_QUEUE, .threshold_bytes = 0, .detour_factor = 1 });
  join_first_links (&net);
  way_of (&net)->turn = 1;
  for (guint32 number = 0; number < 6; number++) {
    assert_int_equal (next_lane (&net, 0, number, 0), 2 * ((number + 1) % 3) + 1);
    assert_int_equal (next_lane (&net, 0, number | MARK_BIT, 0), 2 * ((number + 1) % 3) + 1);
  }
  net_clear (&net);
}

/* A dead link is never free again. A packet could have gone elsewhere as long as one path has none. */
static void
packets_escape_where_a_path_is_whole (G_GNUC_UNUSED void **state)
{
  const Packet packet = { .hop = 0 };
  Net net;

  net_make (&net, (FabBalance){ FAB_BALANCE_SHARES });
  net.ports[0].free_ps = net.ports[3].free_ps = FAB_TIME_MAX;
  assert_true (packet_balance_escapes (&net.net, &packet));
  net.ports[5].free_ps = FAB_TIME_MAX;
  assert_false (packet_balance_escapes (&net.net, &packet));
  net.ports[0].free_ps = FAB_TIME_MAX - 1;
  assert_true (packet_balance_escapes (&net.net, &packet));
  way_of (&net)->n_paths = 1;
  assert_false (packet_balance_escapes (&net.net, &packet));
  net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (packets_take_paths_in_turn),
    cmocka_unit_test (flowlets_take_the_emptiest_path),
    cmocka_unit_test (flowlets_break_ties_by_chance),
    cmocka_unit_test (good_paths_are_taken_once_more),
    cmocka_unit_test (a_loss_freezes_the_paths),
    cmocka_unit_test (a_loss_without_known_paths_is_by_chance),
    cmocka_unit_test (a_switch_takes_the_link_with_the_least_to_do),
    cmocka_unit_test (a_long_queue_sends_packets_elsewhere),
    cmocka_unit_test (equal_queues_share_the_packets),
    cmocka_unit_test (packets_escape_where_a_path_is_whole),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
