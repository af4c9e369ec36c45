/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedule.c - messages wait for what they should, and a hop is a pipe. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "sim/collective/play/play.h"
#include "sim/collective/play/schedule_parts.h"
#include "sim/shortcut/space/fold.h"
#include "sim/shortcut/time/skips.h"
#include "tests/support/rig.h"

/* 1 byte per ps; a hop is two links of 50 ps. */
static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
}

static guint
add_lane (FabSchedule *schedule, const Rig *rig, guint from, guint to, double weight, guint n)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return fab_schedule_lane (schedule, &hop, 1, weight, n);
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

static FabTimePs
play_spec (FabSchedule *schedule, const Rig *rig, const FabNetOps *ops, FabPlaySpec spec)
{
  RigNet net = rig_net (rig, ops);
  FabTimePs end_ps;

  spec.share = 1;
  spec.done = (FabDone){ note_end, net.engine, 0 };
  g_autoptr (FabPlay) play = fab_play_new (schedule, net.net, &spec);
  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

static FabTimePs
play (FabSchedule *schedule, const Rig *rig, const FabNetOps *ops, FabBytes bytes, double wire_factor)
{
  return play_spec (schedule, rig, ops, (FabPlaySpec){ .bytes = bytes, .wire_factor = wire_factor });
}

/* 1000 bytes and 100 ps; half of them: 500 + 100; flags double the bytes. */
static void
a_message_is_bytes_and_latency (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  add_lane (schedule, rig, 0, 1, 0.5, 1);
  assert_int_equal (fab_schedule_n_messages (schedule), 1);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 600);
  assert_int_equal (play (schedule, rig, &fab_net_analytic, 1000, 1), 600);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 2), 1100);
}

/* Three on one lane leave one after another, and only the last one's latency is seen: 3 x 1000 + 100. */
static void
messages_of_a_lane_follow_at_its_rate (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  add_lane (schedule, rig, 0, 1, 1, 3);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 3100);
}

/* 0 -> 1 -> 2: the second starts when the first has arrived, 2 x (1000 + 100). */
static void
a_message_waits_for_arrival (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = add_lane (schedule, rig, 0, 1, 1, 1);

  fab_schedule_depend (schedule, add_lane (schedule, rig, 1, 2, 1, 1), first, 0);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 2200);
}

/* Two chunks: the second leaves 0 at 2000, 1 at 3100 and arrives at 3200. */
static void
chunks_follow_one_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = add_lane (schedule, rig, 0, 1, 1, 2);

  fab_schedule_depend (schedule, add_lane (schedule, rig, 1, 2, 1, 2), first, 0);
  assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), 3200);
}

/* 0 -> 2 and 1 -> 2 share the link of 2: 2 x 1000 together; then one that waits for both. */
static void
messages_share_links (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint both[] = { add_lane (schedule, rig, 0, 2, 1, 1), add_lane (schedule, rig, 1, 2, 1, 1) };
  guint last = add_lane (schedule, rig, 2, 0, 1, 1);

  fab_schedule_depend (schedule, last, both[0], 0);
  fab_schedule_depend (schedule, last, both[1], 0);
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
      fab_schedule_lane (schedule, &hop, 1, 1, 1);
    }
    assert_int_equal (play (schedule, rig, &fab_net_fluid, 1000, 1), n_ways == 1 ? 1100 : 1600);
  }
}

/* Everyone sends to everyone, each rank by `more` more than the one before, and then passes on to everyone what has
 * come. Lanes of one rank share a list, or each has its own. */
static FabSchedule *
passed_on (const Rig *rig, guint n, guint more, gboolean is_shared)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  g_autofree guint *firsts = g_new0 (guint, n); /* the first lane of each rank in the second step */

  for (guint distance = 1; distance < n; distance++)
    for (guint from = 0; from < n; from++)
      add_lane (schedule, rig, from, (from + distance) % n, 1 + more * from, 1);
  for (guint distance = 1; distance < n; distance++)
    for (guint from = 0; from < n; from++) {
      guint lane = add_lane (schedule, rig, from, (from + distance) % n, 1, 1);

      if (is_shared && distance > 1) {
        fab_schedule_depend_like (schedule, lane, firsts[from]);
        continue;
      }
      firsts[from] = lane;
      for (guint l = 0; l < (n - 1) * n; l++)
        if ((l % n + l / n + 1) % n == from)
          fab_schedule_depend (schedule, lane, l, 0);
    }
  return schedule;
}

static double
longer_for_more (G_GNUC_UNUSED gconstpointer data, const FabMessageStep *step)
{
  return step->bytes + step->port_bytes;
}

/* Lanes that share a list need n dependencies for each rank and not for each pair, and play to the same times. */
static void
lanes_that_wait_for_the_same_share_a_list (G_GNUC_UNUSED void **state)
{
  enum { N = 5 };
  g_autoptr (Rig) rig = star (N);
  g_autoptr (FabSchedule) shared = passed_on (rig, N, 1, TRUE), apart = passed_on (rig, N, 1, FALSE);
  FabPlaySpec costly = {
    .bytes = 1000, .wire_factor = 1, .steps_ps = 5000, .intra_cost = 1, .inter_cost = 3
  };
  static const FabNetOps *const nets[] = { &fab_net_analytic, &fab_net_fluid, &fab_net_step,
                                           &fab_net_packet };

  assert_near (fab_schedule_longest (shared, 1000, longer_for_more, NULL),
               fab_schedule_longest (apart, 1000, longer_for_more, NULL), 0);
  assert_int_equal (apart->dependencies->len, N * (N - 1) * (N - 1));
  assert_int_equal (shared->dependencies->len, N * (N - 1));
  for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
    assert_int_equal (play (shared, rig, nets[i], 1000, 1), play (apart, rig, nets[i], 1000, 1));
    assert_int_equal (play_spec (shared, rig, nets[i], costly), play_spec (apart, rig, nets[i], costly));
  }
}

/* Ranks that send the same are played once, whether their lanes share lists or not. */
static void
shared_lists_are_folded_as_others (G_GNUC_UNUSED void **state)
{
  enum { N = 6 };
  g_autoptr (Rig) rig = star (N);

  for (guint is_shared = 0; is_shared < 2; is_shared++) {
    g_autoptr (FabSchedule) whole = passed_on (rig, N, 0, is_shared > 0),
                            folded = passed_on (rig, N, 0, is_shared > 0);
    FabFoldUse use = { .schedule = folded };
    guint n = fab_schedule_n_lanes (whole);

    fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = &use, .n_uses = 1 });
    assert_true (fab_schedule_n_lanes (folded) < n);
    assert_int_equal (play (folded, rig, &fab_net_step, 1000, 1), play (whole, rig, &fab_net_step, 1000, 1));
  }
}

static FabSchedule *
ring_of (const Rig *rig, guint n)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);

  for (guint i = 0; i < n; i++)
    assert_int_equal (add_lane (schedule, rig, i, (i + 1) % n, 1.0 / n, 2 * (n - 1)), i);
  for (guint i = 0; i < n; i++)
    fab_schedule_depend (schedule, i, (i + n - 1) % n, 1);
  return schedule;
}

/* What crosses the links is what the messages weigh: 256 ranks, 510 steps of a ring, an all-reduce. */
static void
a_long_ring_plays (G_GNUC_UNUSED void **state)
{
  enum { N = 256 };
  g_autoptr (Rig) rig = star (N);
  g_autoptr (FabSchedule) schedule = ring_of (rig, N);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph));
  RigNet net = rig_net (rig, &fab_net_fluid);

  assert_int_equal (fab_schedule_n_messages (schedule), 510 * N);
  g_autoptr (FabPlay) play = fab_play_new (
      schedule, net.net,
      &(FabPlaySpec){ .bytes = 256000, .wire_factor = 1, .share = 1, .done = { note_end, net.engine, 0 } });
  fab_engine_run (net.engine);
  assert_int_equal (fab_engine_now (net.engine), 510 * (1000 + 100));
  fab_meter_take (net.net->meter, loads);
  for (guint link = 0; link < fab_graph_n_links (rig->graph); link++)
    assert_near (loads[link].payload_bytes, 510000, 1e-9);
  rig_net_clear (&net);
}

/* On the network of messages as on that of streams: two chunks over two hops, and shared links. */
static void
messages_are_no_streams_in_disguise (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = add_lane (schedule, rig, 0, 1, 1, 2), second = add_lane (schedule, rig, 1, 2, 1, 2);

  fab_schedule_depend (schedule, second, first, 0);
  assert_int_equal (play (schedule, rig, &fab_net_step, 1000, 1), 3200);
  assert_int_equal (play (schedule, rig, &fab_net_step, 1000, 2), 6200);
}

/* 7 ps before the first, and two steps that cost 500 each, wires included: 7 + 2 x (1000 + 500). One that costs three
 * times as much as the other would be 250 and 750; both are inside a node, so they are alike. */
static void
steps_cost_what_the_library_says (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint first = add_lane (schedule, rig, 0, 1, 1, 1), second = add_lane (schedule, rig, 1, 2, 1, 1);
  FabPlaySpec spec = {
    .bytes = 1000, .wire_factor = 1, .once_ps = 7, .steps_ps = 1000, .intra_cost = 1, .inter_cost = 3
  };

  fab_schedule_depend (schedule, second, first, 0);
  assert_int_equal (play_spec (schedule, rig, &fab_net_step, spec), 7 + 3000);
  spec.steps_ps = 150; /* less than the wires */
  assert_int_equal (play_spec (schedule, rig, &fab_net_step, spec), 7 + 2200);
}

/* Six steps of 1000 bytes that cost 700 each. */
static void
every_step_of_a_ring_costs_the_same (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) schedule = ring_of (rig, 4);
  FabPlaySpec spec = {
    .bytes = 4000, .wire_factor = 1, .steps_ps = 6 * 700, .intra_cost = 1, .inter_cost = 5
  };

  assert_int_equal (play_spec (schedule, rig, &fab_net_step, spec), 6 * 1700);
}

/* Half of what the links could do: of a ring every lane, of a chain the first, so that the last chunk of three
 * arrives after 3 x 2000 + 100 and 1000 + 100 more. */
static void
ends_limit_where_bytes_come_from (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) ring = ring_of (rig, 4), chain = fab_schedule_new (&rig->cluster);
  guint first = add_lane (chain, rig, 0, 1, 1, 3), second = add_lane (chain, rig, 1, 2, 1, 3);
  FabPlaySpec spec = { .bytes = 4000, .wire_factor = 1, .free_bytes_per_s = FAB_PS_PER_S / 1.5 };

  spec.limit_bytes_per_s = spec.free_bytes_per_s / 2;
  assert_int_equal (play_spec (ring, rig, &fab_net_step, spec), 6 * 2100);
  fab_schedule_depend (chain, second, first, 0);
  spec = (FabPlaySpec){
    .bytes = 1000, .wire_factor = 1, .is_pipeline = TRUE, .free_bytes_per_s = FAB_PS_PER_S / 3.0
  };
  spec.limit_bytes_per_s = spec.free_bytes_per_s / 2;
  assert_int_equal (play_spec (chain, rig, &fab_net_step, spec), 6100 + 1100);
}

typedef struct {
  RigNet net;
  FabLinkId link;
} Outage;

static void
change_link (gpointer owner, guint64 percent)
{
  Outage *self = owner;

  fab_net_set_capacity (self->net.net, self->link, (double) percent / 100);
}

/* A message of 1000 bytes whose link is dead from 400 to 10400 and at half its rate from then on: 400 bytes before,
 * 600 in 1200 ps after, and 100 of latency. The links are not tight before and after. */
static void
a_message_waits_for_a_dead_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  Outage outage = { rig_net (rig, &fab_net_step), 0 };
  guint n_out;

  add_lane (schedule, rig, 0, 1, 1, 1);
  n_out = fab_graph_out_links (rig->graph, rig_gpu (rig, 0), &outage.link);
  assert_int_equal (n_out, 1);
  g_autoptr (FabPlay) play = fab_play_new (schedule, outage.net.net,
                                           &(FabPlaySpec){ .bytes = 1000,
                                                           .wire_factor = 1,
                                                           .share = 1,
                                                           .done = { note_end, outage.net.engine, 0 } });
  fab_engine_at (outage.net.engine, 400, change_link, &outage, 0);
  fab_engine_at (outage.net.engine, 10400, change_link, &outage, 50);
  fab_engine_run (outage.net.engine);
  assert_in_range (fab_engine_now (outage.net.engine), 10400 + 1200 + 100, 10400 + 1200 + 101);
  rig_net_clear (&outage.net);
}

/* --- rounds that repeat --- */

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

/* An all-reduce of 64 000 bytes over 64 ranks, with another event at `other_ps` or at none (0). */
static FabTimePs
play_long_ring (const Rig *rig, FabTimePs other_ps, guint64 *n_events)
{
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  RigNet net = rig_net (rig, &fab_net_step);
  FabGroup group = rig_group (rig);
  FabTimePs end_ps;

  assert_true (fab_algorithm_ring.schedule (&group, FAB_OP_ALL_REDUCE, &(FabAlgorithmEnv){ .net_stretch = 1 },
                                            1, schedule, NULL));
  if (other_ps > 0)
    fab_engine_at (net.engine, other_ps, do_nothing, NULL, 0);
  g_autoptr (FabPlay) play = fab_play_new (schedule, net.net,
                                           &(FabPlaySpec){ .bytes = 64000,
                                                           .wire_factor = 1,
                                                           .share = 1,
                                                           .watch = &fab_skips_watch,
                                                           .done = { note_end, net.engine, 0 } });
  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  *n_events = fab_engine_events (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

/* 126 steps of 1000 bytes and 100 ps. 64 lanes with 126 messages each are more than 8064 events; a few rounds at the
 * beginning, at the end and around the other event are played. */
static void
rounds_that_repeat_are_skipped (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (64), unfolded = star (64);
  guint64 n_events;

  fab_graph_unfold (unfolded->graph);
  assert_int_equal (play_long_ring (unfolded, 0, &n_events), 126 * 1100);
  assert_true (n_events > 64 * 126);
  assert_int_equal (play_long_ring (rig, 0, &n_events), 126 * 1100);
  assert_true (n_events < 64 * 30);
  assert_int_equal (play_long_ring (rig, 70000, &n_events), 126 * 1100);
  assert_in_range (n_events, 64 * 10, 64 * 60);
}

/* A ring over n ranks that goes round for 400 rounds, of messages of 1000 bytes, or of up to that many. A round costs
 * `cost_ps` beside. */
static FabTimePs
play_rounds (const Rig *rig, guint n, gboolean is_even, FabTimePs cost_ps, const FabMessageWatch *watch,
             guint64 *n_events)
{
  static const double weights[] = { 1, 0.5, 0.75 };
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  RigNet net = rig_net (rig, &fab_net_packet);
  FabTimePs end_ps;

  for (guint i = 0; i < n; i++)
    add_lane (schedule, rig, i, (i + 1) % n, is_even ? 1 : weights[i % 3], 400);
  for (guint i = 0; i < n; i++)
    fab_schedule_depend (schedule, (i + 1) % n, i, 1);
  g_autoptr (FabPlay) play = fab_play_new (schedule, net.net,
                                           &(FabPlaySpec){ .bytes = 1000,
                                                           .wire_factor = 1,
                                                           .steps_ps = 400 * cost_ps,
                                                           .intra_cost = 1,
                                                           .inter_cost = 1,
                                                           .share = 1,
                                                           .watch = watch,
                                                           .done = { note_end, net.engine, 0 } });
  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  *n_events = fab_engine_events (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

/* On a network of packets rounds have no period to the picosecond, and are skipped where their pace is steady: what is
 * under way then comes as much later as was skipped. */
static void
rounds_at_a_steady_pace_are_skipped (G_GNUC_UNUSED void **state)
{
  for (guint n = 4; n <= 16; n *= 2)
    for (FabTimePs cost_ps = 0; cost_ps <= 3000; cost_ps += 500) {
      g_autoptr (Rig) rig = star (n);
      guint64 n_all, n_played;
      FabTimePs all_ps = play_rounds (rig, n, TRUE, cost_ps, NULL, &n_all);
      FabTimePs skipped_ps = play_rounds (rig, n, TRUE, cost_ps, &fab_skips_watch, &n_played);

      assert_int_equal (all_ps, 400 * (1000 + MAX (cost_ps, 100)));
      assert_int_equal (skipped_ps, all_ps);
      assert_true (n_played < n_all / 20);
      all_ps = play_rounds (rig, n, FALSE, cost_ps, NULL, &n_all);
      skipped_ps = play_rounds (rig, n, FALSE, cost_ps, &fab_skips_watch, &n_played);
      assert_true (ABS (skipped_ps - all_ps) <= all_ps / 1000);
      assert_true (n_played < n_all / 20);
    }
}

/* --- what a network is told --- */

enum {
  AS_IT_IS,
  TWICE_OVER,
  STRETCHED,
  LONGER,
  HALF,
  TWO_MESSAGES,
  WAITS,
  LEAVES_AFTER,
  WAITS_FOR_FIRST,
  ONE_MORE,
  N_CHANGES
};

/* Two messages, from 0 to 1 and from 2 to 3, and another one from 4 to 5, with one change. */
static GArray *
words_of (const Rig *rig, guint change, FabPlaySpec spec)
{
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  RigNet net = rig_net (rig, &fab_net_step);
  FabGroup group = rig_group (rig);
  FabMeter *meter = fab_meter_new (rig->graph);
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  GArray *words = g_array_new (FALSE, FALSE, sizeof (guint64));
  FabHop hop;

  assert_true (fab_hop_ranks (&group, 0, 1, &hop, NULL));
  /* The line carries as many bytes as with a stretch of two. */
  for (guint i = 0; change == TWICE_OVER && i < 2; i++) {
    FabShare share = g_array_index (hop.shares, FabShare, i);

    g_array_append_val (hop.shares, share);
  }
  if (change == STRETCHED)
    hop.read_stretch = 2;
  hop.latency_ps += change == LONGER ? 1 : 0;
  fab_schedule_lane (schedule, &hop, 1, change == HALF ? 0.5 : 1, change == TWO_MESSAGES ? 2 : 1);
  add_lane (schedule, rig, 2, 3, 1, 1);
  if (change == WAITS)
    fab_schedule_depend (schedule, 1, 0, 0);
  if (change == LEAVES_AFTER)
    fab_schedule_depend_on_departure (schedule, 1, 0);
  add_lane (schedule, rig, 4, 5, 1, 1);
  if (change == WAITS_FOR_FIRST)
    fab_schedule_depend (schedule, 2, 0, 0);
  if (change == ONE_MORE)
    add_lane (schedule, rig, 0, 1, 1, 1);
  fab_play_describe (schedule, net.net, &spec, &(FabPlayTraits){ words, links, meter, TRUE });
  fab_meter_free (meter);
  rig_net_clear (&net);
  return words;
}

/* Plays that may fare differently are told in other words, whatever it is in which they differ. */
static void
each_change_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (6);
  const FabPlaySpec plain = { .bytes = 1000, .wire_factor = 1, .share = 1 };
  FabPlaySpec specs[] = { plain, plain, plain, plain, plain, plain };
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  specs[1].bytes = 1001;
  specs[2].wire_factor = 2;
  specs[3].share = 2;
  specs[4].once_ps = 1;
  specs[5].steps_ps = 5000;
  specs[5].intra_cost = specs[5].inter_cost = 1;
  for (guint i = 0; i < N_CHANGES; i++)
    g_ptr_array_add (all, words_of (rig, i, plain));
  for (guint i = 1; i < G_N_ELEMENTS (specs); i++)
    g_ptr_array_add (all, words_of (rig, AS_IT_IS, specs[i]));
  g_autoptr (GArray) again = words_of (rig, AS_IT_IS, plain);
  for (guint i = 0; i < all->len; i++)
    for (guint k = 0; k < all->len; k++) {
      const GArray *a = g_ptr_array_index (all, i),
                   *b = k == i && i == 0 ? again : g_ptr_array_index (all, k);
      gboolean are_same = a->len == b->len && memcmp (a->data, b->data, a->len * sizeof (guint64)) == 0;

      if (are_same != (i == k))
        fail_msg ("%u and %u", i, k);
    }
}

/* Two rings over the same links, one of which begins later. */
typedef struct {
  const Rig *rig;
  RigNet net;
  FabSchedule *schedules[2];
  FabPlay *plays[2];
  FabTimePs ends_ps[2];
  const FabMessageWatch *watch;
} TwoRings;

static void
note_end_of_ring (gpointer owner, guint64 ring)
{
  TwoRings *self = owner;

  self->ends_ps[ring] = fab_engine_now (self->net.engine);
}

static void
begin_ring (gpointer owner, guint64 ring)
{
  TwoRings *self = owner;

  self->plays[ring] = fab_play_new (self->schedules[ring], self->net.net,
                                    &(FabPlaySpec){ .bytes = 1000,
                                                    .wire_factor = 1,
                                                    .share = 1,
                                                    .watch = self->watch,
                                                    .done = { note_end_of_ring, self, ring } });
}

static guint64
play_two_rings (TwoRings *self, const FabMessageWatch *watch, FabTimePs later_ps)
{
  guint64 n_events;

  self->watch = watch;
  self->net = rig_net (self->rig, &fab_net_packet);
  for (guint k = 0; k < 2; k++) {
    self->schedules[k] = fab_schedule_new (&self->rig->cluster);
    for (guint i = 0; i < 8; i++)
      add_lane (self->schedules[k], self->rig, i, (i + 1 + 2 * k) % 8, k == 0 ? 1 : 0.7, k == 0 ? 600 : 300);
    for (guint i = 0; i < 8; i++)
      fab_schedule_depend (self->schedules[k], (i + 1) % 8, i, 1);
    fab_engine_at (self->net.engine, k * later_ps, begin_ring, self, k);
  }
  fab_engine_run (self->net.engine);
  n_events = fab_engine_events (self->net.engine);
  for (guint k = 0; k < 2; k++)
    fab_play_free (self->plays[k]);
  rig_net_clear (&self->net);
  for (guint k = 0; k < 2; k++)
    fab_schedule_free (self->schedules[k]);
  return n_events;
}

static void
rings_that_meet_are_skipped_together (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (8);

  for (FabTimePs later_ps = 0; later_ps <= 100000; later_ps += 12345) {
    TwoRings all = { .rig = rig }, skipped = { .rig = rig };
    guint64 n_all = play_two_rings (&all, NULL, later_ps),
            n_played = play_two_rings (&skipped, &fab_skips_watch, later_ps);

    for (guint k = 0; k < 2; k++)
      assert_true (ABS (skipped.ends_ps[k] - all.ends_ps[k]) <= all.ends_ps[k] / 1000);
    assert_true (n_played < n_all / 20);
  }
}

/* Nodes of one GPU and one NIC: a hop is six links of 50 ps. */
static Rig *
pairs (guint n_nodes)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = 1,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 50 });
}

/* What all messages of a step put on a port, what comes the other way, and a part that is the hop's own. */
static double
some_time (G_GNUC_UNUSED gconstpointer data, const FabMessageStep *step)
{
  return step->bytes + 3 * step->port_bytes + (step->is_both ? 700 : 0) + (double) step->hop->latency_ps;
}

/* Two rings over the same ranks, whose lanes send messages of `weights`. */
static FabSchedule *
two_rings (const Rig *rig, guint n, guint n_rounds, const double *weights)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);

  for (guint i = 0; i < 2 * n; i++)
    add_lane (schedule, rig, i % n, (i % n + (i < n ? 1 : n - 1)) % n, weights[i], n_rounds);
  for (guint i = 0; i < n; i++) {
    fab_schedule_depend (schedule, (i + 1) % n, i, 1);
    fab_schedule_depend (schedule, n + i, n + (i + 1) % n, 1);
  }
  return schedule;
}

/* A lane apart, of one message more, makes it no ring, so that every message is looked at. */
static void
the_longest_way_of_rings_is_that_of_their_messages (G_GNUC_UNUSED void **state)
{
  enum { N = 6, N_ROUNDS = 20, N_CASES = 40 };
  g_autoptr (Rig) rig = pairs (N + 2);
  double weights[2 * N];
  guint32 number = 1;

  for (guint i = 0; i < N_CASES; i++) {
    for (guint lane = 0; lane < 2 * N; lane++)
      weights[lane] = ((number = number * 1103515245 + 12345) >> 16) % 8 * 0.125 + 0.125;
    g_autoptr (FabSchedule) rings = two_rings (rig, N, N_ROUNDS, weights);
    g_autoptr (FabSchedule) others = two_rings (rig, N, N_ROUNDS, weights);
    add_lane (others, rig, N, N + 1, 0.001, N_ROUNDS + 1);
    double longest = fab_schedule_longest (rings, 1000, some_time, NULL);
    assert_true (longest > N_ROUNDS * 100);
    assert_true (fabs (longest - fab_schedule_longest (others, 1000, some_time, NULL)) < longest * 1e-12);
  }
}

/* 137 thousand million messages, which nobody has the memory to look at. */
static void
the_longest_way_of_a_long_ring_takes_no_time (G_GNUC_UNUSED void **state)
{
  enum { N = 64, N_ROUNDS = 1 << 30 };
  g_autoptr (Rig) rig = pairs (N);
  double weights[2 * N];

  for (guint lane = 0; lane < 2 * N; lane++)
    weights[lane] = 1e-9;
  g_autoptr (FabSchedule) rings = two_rings (rig, N, N_ROUNDS, weights);

  assert_true (fabs (fab_schedule_longest (rings, 1000, some_time, NULL) / N_ROUNDS - 1000) < 1e-3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_message_is_bytes_and_latency),
    cmocka_unit_test (messages_of_a_lane_follow_at_its_rate),
    cmocka_unit_test (a_message_waits_for_arrival),
    cmocka_unit_test (chunks_follow_one_another),
    cmocka_unit_test (messages_share_links),
    cmocka_unit_test (both_directions_slow_each_other),
    cmocka_unit_test (lanes_that_wait_for_the_same_share_a_list),
    cmocka_unit_test (shared_lists_are_folded_as_others),
    cmocka_unit_test (a_long_ring_plays),
    cmocka_unit_test (messages_are_no_streams_in_disguise),
    cmocka_unit_test (steps_cost_what_the_library_says),
    cmocka_unit_test (every_step_of_a_ring_costs_the_same),
    cmocka_unit_test (ends_limit_where_bytes_come_from),
    cmocka_unit_test (a_message_waits_for_a_dead_link),
    cmocka_unit_test (rounds_that_repeat_are_skipped),
    cmocka_unit_test (rounds_at_a_steady_pace_are_skipped),
    cmocka_unit_test (each_change_is_told),
    cmocka_unit_test (rings_that_meet_are_skipped_together),
    cmocka_unit_test (the_longest_way_of_rings_is_that_of_their_messages),
    cmocka_unit_test (the_longest_way_of_a_long_ring_takes_no_time),
  };

  return cmocka_run_group_tests_name ("schedule", tests, NULL, NULL);
}
