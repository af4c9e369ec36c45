/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_skips.c - which rounds of a ring are skipped, to the message and to the ps, on a network on which every
 * message of a lane takes the time that the lane is given.
 *
 * Rings have four lanes, hops have 100 ps of latency, and a message of 1000 bytes leaves after 1000 ps. Message k of a
 * lane waits for message k - 1 of the lane before it, so a round takes 1100 ps.
 */
#include "tests/support/test.h"

#include <math.h>

#include "sim/collective/play/play_parts.h"
#include "sim/shortcut/time/skips.h"
#include "tests/support/rig.h"

enum { N_LANES = 4, ROUND_PS = 1100, MOST_RINGS = 2 };

/* What a network can do, and what it was asked. */
typedef struct {
  FabNet base; /* first: what the operations are given */
  gboolean cannot_skip, cannot_mark, cannot_repeat;
  FabTimePs lasts_ps; /* of other lines, until the first skip beside them */
  GPtrArray *lines;   /* FabNetLine: that were opened */
  guint n_open, n_messages;
  GArray *n_times; /* double: of each `repeat`; 0: of each `skip` */
} TimedNet;

struct _FabNetLine {
  FabConnection connection;
  guint index;
};

static FabNetLine *
timed_open (FabNet *net, const FabConnection *connection)
{
  TimedNet *self = (TimedNet *) net;
  FabNetLine *line = g_new (FabNetLine, 1);

  *line = (FabNetLine){ *connection, self->lines->len };
  g_ptr_array_add (self->lines, line);
  self->n_open++;
  net->n_changes++;
  return line;
}

static void
line_leaves (gpointer owner, guint64 index)
{
  TimedNet *net = owner;
  const FabConnection *connection = &((FabNetLine *) g_ptr_array_index (net->lines, index))->connection;
  FabTimePs now_ps = fab_engine_now (net->base.env.engine);

  connection->left (connection->owner, connection->arg);
  connection->arrives (connection->owner, connection->arg, now_ps + connection->latency_ps);
}

/* A byte takes a ps. */
static void
timed_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps)
{
  ((TimedNet *) net)->n_messages++;
  fab_engine_at (net->env.engine, begin_ps + (FabTimePs) bytes, line_leaves, net, line->index);
}

static void
timed_close (FabNet *net, G_GNUC_UNUSED FabNetLine *line)
{
  ((TimedNet *) net)->n_open--;
  net->n_changes++;
}

static gboolean
timed_skip (FabNet *net, guint n_lines, FabTimePs by_ps)
{
  TimedNet *self = (TimedNet *) net;

  if (by_ps > 0) {
    const FabSkip made = { fab_engine_now (net->env.engine), by_ps };
    const double no_times = 0;

    g_array_append_val (net->skips, made);
    g_array_append_val (self->n_times, no_times);
  }
  return !self->cannot_skip && n_lines == self->n_open;
}

static gboolean
timed_mark (FabNet *net, guint n_lines)
{
  TimedNet *self = (TimedNet *) net;

  return !self->cannot_mark && n_lines <= self->n_open;
}

static gboolean
timed_repeat (FabNet *net, double n_times, FabTimePs by_ps)
{
  TimedNet *self = (TimedNet *) net;

  assert_true (by_ps > 0);
  if (net->n_plays_beside > 0)
    self->lasts_ps = 0;
  if (!self->cannot_repeat)
    g_array_append_val (self->n_times, n_times);
  return !self->cannot_repeat;
}

static FabTimePs
timed_lasts (FabNet *net)
{
  return ((TimedNet *) net)->lasts_ps;
}

/* Networks that can skip rounds that repeat to the ps, those that repeat about, or both. */
#define TIMED .open = timed_open, .message = timed_message, .close = timed_close
static const FabNetOps exact_net = { TIMED, .skip = timed_skip },
                       paced_net = { TIMED, .mark = timed_mark, .repeat = timed_repeat,
                                     .lasts = timed_lasts },
                       both_net = { TIMED, .skip = timed_skip, .mark = timed_mark, .repeat = timed_repeat };

/* A ring: its rounds, when it begins, and by how much lanes take longer, in per mille. A split one is two rings of two
 * lanes, which are one collective. */
typedef struct {
  guint n_rounds;
  FabTimePs begin_ps;
  guint slower[N_LANES];
  gboolean is_split;
} Ring;

/* What is played, and what came of it. */
typedef struct {
  const FabNetOps *ops;
  Ring rings[MOST_RINGS];
  TimedNet net;          /* the caller says what it cannot do */
  FabTimePs other_ps[4]; /* when somebody else does something; 0: never */
  const GArray *skips_due;
  gboolean is_unwatched, is_unfolded;
  /* and then: */
  FabTimePs ends_ps[MOST_RINGS];
  guint n_skipped[MOST_RINGS][N_LANES];
  GArray *skips;     /* FabSkip */
  double n_times[8]; /* of each skip */
  const Rig *rig;
  FabEngine *engine;
  FabSchedule *schedules[MOST_RINGS];
  FabPlay *plays[MOST_RINGS];
} Case;

static void
note_end (gpointer owner, guint64 ring)
{
  Case *self = owner;

  self->ends_ps[ring] = fab_engine_now (self->engine);
  for (guint l = 0; l < N_LANES; l++)
    self->n_skipped[ring][l] = self->plays[ring]->lanes[l].n_skipped;
}

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

static void
begin_ring (gpointer owner, guint64 ring)
{
  Case *self = owner;

  self->plays[ring] = fab_play_new (self->schedules[ring], &self->net.base,
                                    &(FabPlaySpec){ .bytes = 1000,
                                                    .wire_factor = 1,
                                                    .share = 1,
                                                    .watch = self->is_unwatched ? NULL : &fab_skips_watch,
                                                    .done = { note_end, self, ring } });
}

static FabSchedule *
make_ring (const Case *self, const Ring *ring)
{
  FabSchedule *schedule = fab_schedule_new (&self->rig->cluster);
  FabGroup group = rig_group (self->rig);

  for (guint l = 0; l < N_LANES; l++) {
    FabHop hop;

    assert_true (fab_hop_ranks (&group, l, (l + 1) % N_LANES, &hop, NULL));
    fab_schedule_lane (schedule, &hop, 1, 1 + ring->slower[l] / 1000.0, ring->n_rounds);
  }
  for (guint l = 0; l < N_LANES; l++)
    fab_schedule_depend (schedule, ring->is_split ? l ^ 1 : (l + 1) % N_LANES, l, 1);
  return schedule;
}

static void
play (Case *self)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = N_LANES, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
  g_autoptr (FabEngine) engine = fab_engine_new ();

  if (self->is_unfolded)
    fab_graph_unfold (rig->graph);
  self->rig = rig;
  self->engine = engine;
  fab_net_init (&self->net.base, self->ops, &(FabNetEnv){ engine, rig->graph, rig->router, 1 });
  self->net.lines = g_ptr_array_new_with_free_func (g_free);
  self->net.n_times = g_array_new (FALSE, FALSE, sizeof (double));
  self->net.base.skips_due = self->skips_due;
  for (guint r = 0; r < MOST_RINGS && self->rings[r].n_rounds > 0; r++) {
    self->schedules[r] = make_ring (self, &self->rings[r]);
    fab_engine_at (engine, self->rings[r].begin_ps, begin_ring, self, r);
  }
  for (guint i = 0; i < G_N_ELEMENTS (self->other_ps); i++)
    if (self->other_ps[i] > 0)
      fab_engine_at (engine, self->other_ps[i], do_nothing, self, 0);
  fab_engine_run (engine);
  self->skips = g_array_ref (self->net.base.skips);
  for (guint i = 0; i < MIN (self->net.n_times->len, G_N_ELEMENTS (self->n_times)); i++)
    self->n_times[i] = g_array_index (self->net.n_times, double, i);
  for (guint r = 0; r < MOST_RINGS; r++) {
    fab_play_free (self->plays[r]);
    fab_schedule_free (self->schedules[r]);
  }
  fab_net_clear (&self->net.base);
  g_ptr_array_unref (self->net.lines);
  g_array_unref (self->net.n_times);
}

enum { MOST_SKIPS = 3 };

/* A case, the skips that are made in it, and how often the network repeats its last window in each; 0: it is not
 * asked to, because the rounds repeat to the ps. */
typedef struct {
  const char *name;
  Case played;
  FabSkip skips[MOST_SKIPS];
  double n_times[MOST_SKIPS];
  guint n_skipped[MOST_RINGS][2]; /* messages of each of the first two lanes, and of the others */
  FabTimePs off_ps;               /* by how much the second ring may end at another time */
} Row;

static void
assert_row (const Row *row)
{
  Case some = row->played, all = row->played;
  guint n_skips = 0, n_skipped = 0;

  all.is_unwatched = TRUE;
  play (&all);
  play (&some);
  while (n_skips < MOST_SKIPS && row->skips[n_skips].by_ps > 0)
    n_skips++;
  for (guint i = 0; i < n_skips && i < some.skips->len; i++) {
    FabSkip skip = g_array_index (some.skips, FabSkip, i);

    if (skip.at_ps != row->skips[i].at_ps || skip.by_ps != row->skips[i].by_ps
        || fabs (some.n_times[i] - row->n_times[i]) > 1e-9)
      fail_msg ("%s: at %" G_GINT64_FORMAT " by %" G_GINT64_FORMAT ", %g times", row->name, skip.at_ps,
                skip.by_ps, some.n_times[i]);
  }
  if (some.skips->len != n_skips)
    fail_msg ("%s: %u skips", row->name, some.skips->len);
  for (guint r = 0; r < MOST_RINGS; r++) {
    if (ABS (some.ends_ps[r] - all.ends_ps[r]) != (r == 0 ? 0 : row->off_ps))
      fail_msg ("%s: ring %u ends at %" G_GINT64_FORMAT, row->name, r, some.ends_ps[r]);
    for (guint l = 0; l < N_LANES; n_skipped += some.n_skipped[r][l++])
      if (some.n_skipped[r][l] != row->n_skipped[r][l / 2])
        fail_msg ("%s: lane %u of ring %u skips %u", row->name, l, r, some.n_skipped[r][l]);
  }
  assert_int_equal (some.net.n_messages + n_skipped, all.net.n_messages);
  g_array_unref (some.skips);
  g_array_unref (all.skips);
}

#define ASSERT_ROWS(rows)                         \
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) \
  assert_row (&rows[i])

/* Nine messages of each lane show the period, the last one at 8 x 1100 - 100 ps: four of them before it is noticed
 * that lines were opened. Three messages are left at the end, two rounds before the next event of somebody else, and
 * at least four rounds are worth it. A ring is watched that has 16 rounds more than the last three. */
static void
rounds_that_repeat_to_the_ps_are_skipped (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "too short", .played = { .ops = &exact_net, .rings = { { 18 } } } },
    { .name = "just long enough",
      .played = { .ops = &exact_net, .rings = { { 19 } } },
      .skips = { { 8700, 7 * 1100 } },
      .n_skipped = { { 7, 7 } } },
    { .name = "long",
      .played = { .ops = &exact_net, .rings = { { 1000 } } },
      .skips = { { 8700, 988 * 1100 } },
      .n_skipped = { { 988, 988 } } },
    { .name = "less than six rounds are free",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100 - 1 } },
      .skips = { { 15300, 32 * 1100 } },
      .n_skipped = { { 32, 32 } } },
    { .name = "six rounds are free",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100 } },
      .skips = { { 8700, 4 * 1100 }, { 15300, 32 * 1100 } },
      .n_skipped = { { 36, 36 } } },
    { .name = "two events of others",
      .played = { .ops = &exact_net, .rings = { { 50 } }, .other_ps = { 8700 + 6 * 1100, 30000 } },
      .skips = { { 8700, 4 * 1100 }, { 15300, 11 * 1100 }, { 30700, 18 * 1100 } },
      .n_skipped = { { 33, 33 } } },
    { .name = "a lane takes 1300 ps",
      .played = { .ops = &exact_net, .rings = { { 100, 0, { 0, 300 } } } },
      .skips = { { 11300, 87 * 1300 } },
      .n_skipped = { { 87, 87 } } },
    { .name = "the network cannot",
      .played = { .ops = &exact_net, .rings = { { 100 } }, .net = { .cannot_skip = TRUE } } },
  };

  ASSERT_ROWS (rows);
}

/* A window is two rounds, from the second message on, and the paces of two windows in a row must be equal: six messages
 * show it, the last one at 5 x 1100 - 100 ps. A skip is whole windows, of four rounds at least. */
static void
rings_go_on_at_their_pace (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "too short", .played = { .ops = &paced_net, .rings = { { 12 } } } },
    { .name = "just long enough",
      .played = { .ops = &paced_net, .rings = { { 13 } } },
      .skips = { { 5400, 4400 } },
      .n_times = { 2 },
      .n_skipped = { { 4, 4 } } },
    { .name = "half a window more",
      .played = { .ops = &paced_net, .rings = { { 14 } } },
      .skips = { { 5400, 4400 } },
      .n_times = { 2 },
      .n_skipped = { { 4, 4 } } },
    { .name = "a window more",
      .played = { .ops = &paced_net, .rings = { { 15 } } },
      .skips = { { 5400, 6600 } },
      .n_times = { 3 },
      .n_skipped = { { 6, 6 } } },
    { .name = "long",
      .played = { .ops = &paced_net, .rings = { { 1000 } } },
      .skips = { { 5400, 990 * 1100 } },
      .n_times = { 495 },
      .n_skipped = { { 990, 990 } } },
    { .name = "less than six rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 6 * 1100 - 1 } },
      .skips = { { 12000, 34 * 1100 } },
      .n_times = { 17 },
      .n_skipped = { { 34, 34 } } },
    { .name = "six rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 6 * 1100 } },
      .skips = { { 5400, 4 * 1100 }, { 14200, 32 * 1100 } },
      .n_times = { 2, 16 },
      .n_skipped = { { 36, 36 } } },
    { .name = "seven rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 } }, .other_ps = { 5400 + 7 * 1100 } },
      .skips = { { 5400, 4 * 1100 }, { 14200, 32 * 1100 } },
      .n_times = { 2, 16 },
      .n_skipped = { { 36, 36 } } },
    { .name = "a lane takes 1300 ps",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 300 } } } },
      .skips = { { 8700, 88 * 1300 } },
      .n_times = { 44 },
      .n_skipped = { { 88, 88 } } },
    { .name = "the network cannot mark",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .cannot_mark = TRUE } } },
    { .name = "nor repeat",
      .played = { .ops = &paced_net, .rings = { { 100 } }, .net = { .cannot_repeat = TRUE } } },
  };

  ASSERT_ROWS (rows);
}

/* Where two rings are under way a window has two messages of every lane, and begins anew when the second ring begins;
 * so a skip comes two rounds later, is whole messages of the ring that ends last, and may be of two rounds. */
static void
rings_that_meet_go_on_together (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "alike",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100 } } },
      .skips = { { 7600, 89 * 1100 } },
      .n_times = { 44.5 },
      .n_skipped = { { 89, 89 }, { 89, 89 } } },
    { .name = "one is shorter",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 40 } } },
      .skips = { { 7600, 29 * 1100 } },
      .n_times = { 14.5 },
      .n_skipped = { { 29, 29 }, { 29, 29 } } },
    { .name = "less than four rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 50 } }, .other_ps = { 7600 + 4 * 1100 - 1 } },
      .skips = { { 12000, 35 * 1100 } },
      .n_times = { 17.5 },
      .n_skipped = { { 35, 35 }, { 35, 35 } } },
    { .name = "four rounds are free",
      .played = { .ops = &paced_net, .rings = { { 50 }, { 50 } }, .other_ps = { 7600 + 4 * 1100 } },
      .skips = { { 7600, 2 * 1100 }, { 12000, 35 * 1100 } },
      .n_times = { 1, 17.5 },
      .n_skipped = { { 37, 37 }, { 37, 37 } } },
    { .name = "a round of the second takes two of the first",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 50, 0, { 1100, 1100, 1100, 1100 } } } },
      .skips = { { 12000, 82 * 1100 } },
      .n_times = { 20.5 },
      .n_skipped = { { 82, 82 }, { 41, 41 } } },
    { .name = "two take three",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 70, 0, { 550, 550, 550, 550 } } } },
      .skips = { { 9800, 87 * 1100 } },
      .n_times = { 43.5 },
      .n_skipped = { { 87, 87 }, { 58, 58 } } },
    /* 71.5 rounds of 1110 ps are 72 of 1100: what is not whole is off by half a message at most. */
    { .name = "it is about as fast",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100, 0, { 10, 10, 10, 10 } } } },
      .skips = { { 7600, 89 * 1100 } },
      .n_times = { 44.5 },
      .n_skipped = { { 89, 89 }, { 88, 88 } },
      .off_ps = 220 },
  };

  ASSERT_ROWS (rows);
}

/* A window of two rings that differ may be half a round of one of them: what the network repeats is what it did since
 * the skip before, and not that skip. */
static void
the_time_of_a_skip_is_in_no_window (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "skips soon after one another",
      .played = { .ops = &paced_net, .rings = { { 100 }, { 100, 0, { 700, 700, 700, 700 } } } },
      .skips = { { 9800, 72 * 1100 }, { 93400, 10 * 1100 }, { 117100, 30 * 1800 } },
      .n_times = { 18, 2.5, 15 },
      .n_skipped = { { 82, 82 }, { 80, 80 } },
      .off_ps = 200 },
  };

  ASSERT_ROWS (rows);
}

/* A network that can do both plays a ring that is alone to the ps. Only rings of 67 rounds and more, which can leave
 * out 64, have a pace there, and windows of a 32nd of these rounds, from two to four. */
static void
networks_that_can_do_both_skip_to_the_ps_where_one_ring_is_alone (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "alone",
      .played = { .ops = &both_net, .rings = { { 100 } } },
      .skips = { { 9800, 87 * 1100 } },
      .n_skipped = { { 87, 87 } } },
    { .name = "two that are too short", .played = { .ops = &both_net, .rings = { { 66 }, { 66 } } } },
    { .name = "windows of two",
      .played = { .ops = &both_net, .rings = { { 67 }, { 67 } } },
      .skips = { { 7600, 56 * 1100 } },
      .n_times = { 28 },
      .n_skipped = { { 56, 56 }, { 56, 56 } } },
    { .name = "windows of two, still",
      .played = { .ops = &both_net, .rings = { { 98 }, { 98 } } },
      .skips = { { 7600, 87 * 1100 } },
      .n_times = { 43.5 },
      .n_skipped = { { 87, 87 }, { 87, 87 } } },
    { .name = "windows of three",
      .played = { .ops = &both_net, .rings = { { 99 }, { 99 } } },
      .skips = { { 10900, 85 * 1100 } },
      .n_times = { 85.0 / 3 },
      .n_skipped = { { 85, 85 }, { 85, 85 } } },
    { .name = "windows of four",
      .played = { .ops = &both_net, .rings = { { 131 }, { 131 } } },
      .skips = { { 14200, 114 * 1100 } },
      .n_times = { 28.5 },
      .n_skipped = { { 114, 114 }, { 114, 114 } } },
    { .name = "no longer ones",
      .played = { .ops = &both_net, .rings = { { 1000 }, { 1000 } } },
      .skips = { { 14200, 983 * 1100 } },
      .n_times = { 983.0 / 4 },
      .n_skipped = { { 983, 983 }, { 983, 983 } } },
  };

  ASSERT_ROWS (rows);
}

/* A ring of nine rounds is not watched, and what does not repeat goes on beside the other as long as the network
 * says. */
static void
what_does_not_repeat_goes_on_beside (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "nobody knows for how long",
      .played = { .ops = &paced_net, .rings = { { 1000 }, { 9, 100000, { 700, 700, 700, 700 } } } },
      .skips = { { 5400, 84 * 1100 }, { 119800, 886 * 1100 } },
      .n_times = { 42, 443 },
      .n_skipped = { { 970, 970 } } },
    { .name = "for five rounds",
      .played = { .ops = &paced_net,
                  .rings = { { 1000 }, { 9, 100000, { 700, 700, 700, 700 } } },
                  .net = { .lasts_ps = 5 * 1100 } },
      .skips = { { 5400, 84 * 1100 }, { 104400, 5 * 1100 }, { 124200, 882 * 1100 } },
      .n_times = { 42, 2.5, 441 },
      .n_skipped = { { 971, 971 } },
      .off_ps = 5500 },
  };

  ASSERT_ROWS (rows);
}

/* Two rings of one collective, which wait for nothing of each other, have a pace of their own each. */
static void
rings_of_one_collective_go_on_at_their_own_paces (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "equal paces",
      .played = { .ops = &paced_net, .rings = { { 100, .is_split = TRUE } } },
      .skips = { { 5400, 90 * 1100 } },
      .n_times = { 45 },
      .n_skipped = { { 90, 90 } } },
    { .name = "a round takes two",
      .played = { .ops = &paced_net, .rings = { { 100, 0, { 0, 0, 1100, 1100 }, TRUE } } },
      .skips = { { 5400, 90 * 1100 }, { 116500, 42 * 2200 } },
      .n_times = { 45, 21 },
      .n_skipped = { { 90, 87 } } },
  };

  ASSERT_ROWS (rows);
}

/* What was played before is played again with the skips of then, where paces have settled. */
static void
skips_of_before_are_made_again (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabSkip due;
    guint n_skipped;
  } cases[] = { { { 5400, 6600 }, 6 }, { { 7600, 5500 }, 5 }, { { 5401, 6600 }, 0 }, { { 3200, 6600 }, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) due = g_array_new (FALSE, FALSE, sizeof (FabSkip));
    Row row = { .name = "due",
                .played = { .ops = &paced_net, .rings = { { 100 } }, .skips_due = due },
                .n_skipped = { { cases[i].n_skipped, cases[i].n_skipped } } };

    g_array_append_val (due, cases[i].due);
    if (cases[i].n_skipped > 0) {
      row.skips[0] = cases[i].due;
      row.n_times[0] = 3; /* 2.5 is no whole number of windows */
    }
    assert_row (&row);
  }
}

static void
machines_that_are_not_folded_are_played_whole (G_GNUC_UNUSED void **state)
{
  const Row rows[] = {
    { .name = "to the ps", .played = { .ops = &exact_net, .rings = { { 100 } }, .is_unfolded = TRUE } },
    { .name = "about", .played = { .ops = &paced_net, .rings = { { 100 } }, .is_unfolded = TRUE } },
  };

  ASSERT_ROWS (rows);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rounds_that_repeat_to_the_ps_are_skipped),
    cmocka_unit_test (rings_go_on_at_their_pace),
    cmocka_unit_test (rings_that_meet_go_on_together),
    cmocka_unit_test (the_time_of_a_skip_is_in_no_window),
    cmocka_unit_test (networks_that_can_do_both_skip_to_the_ps_where_one_ring_is_alone),
    cmocka_unit_test (what_does_not_repeat_goes_on_beside),
    cmocka_unit_test (rings_of_one_collective_go_on_at_their_own_paces),
    cmocka_unit_test (skips_of_before_are_made_again),
    cmocka_unit_test (machines_that_are_not_folded_are_played_whole),
  };

  return cmocka_run_group_tests_name ("ring_skips", tests, NULL, NULL);
}
