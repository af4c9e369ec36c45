/* SPDX-License-Identifier: Apache-2.0 */
/* ring_skips_scene.h - rings on a network on which every message of a lane takes the time that the lane is given, and
 * which of their rounds are skipped, to the message and to the ps.
 *
 * Rings have four lanes, hops have 100 ps of latency, and a message of 1000 bytes leaves after 1000 ps. Message k of a
 * lane waits for message k - 1 of the lane before it, so a round takes 1100 ps.
 */
#pragma once

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
  guint n_refused_marks; /* the first ones */
  FabTimePs lasts_ps;    /* of other lines, until the first skip beside them */
  GPtrArray *lines;      /* FabNetLine: that were opened */
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

  if (self->n_refused_marks > 0) {
    self->n_refused_marks--;
    return FALSE;
  }
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

/* In what lanes wait for the lane before them: in one ring, in rings of two lanes, in two rings of half the lanes each,
 * in a row whose first lane waits for none, or in nothing. */
typedef enum { A_RING, PAIRS, HALVES, A_ROW, NOTHING } Waits;

/* A ring: its rounds, when it begins, and by how much lanes take longer, in per mille. */
typedef struct {
  guint n_rounds;
  FabTimePs begin_ps;
  guint slower[N_LANES];
  Waits waits;
  guint fewer[N_LANES]; /* rounds that a lane does not have */
  guint n_more;         /* lanes that are like the last one */
  FabTimePs steps_ps;   /* what the steps of the library take in all */
} Ring;

/* What is played, and what came of it. */
typedef struct {
  const FabNetOps *ops;
  Ring rings[MOST_RINGS];
  TimedNet net;          /* the caller says what it cannot do */
  FabTimePs other_ps[4]; /* when somebody else does something; 0: never */
  const GArray *skips_due;
  gboolean is_unwatched, is_unfolded;
  gboolean others_change; /* the network, and its rates */
  FabTimePs latency_ps;   /* of each hop; 0: 100 ps */
  /* and then: */
  FabTimePs ends_ps[MOST_RINGS];
  guint n_skipped[MOST_RINGS][N_LANES]; /* the last one for all that are like it */
  gboolean repeats[MOST_RINGS];
  guint64 n_events;
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
  for (guint l = N_LANES; self->rings[ring].waits != HALVES && l < self->plays[ring]->schedule->lanes->len;
       l++)
    assert_int_equal (self->plays[ring]->lanes[l].n_skipped, self->n_skipped[ring][N_LANES - 1]);
}

static void
others_do_something (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Case *self = owner;

  if (self->others_change) {
    self->net.base.n_changes++;
    self->net.base.n_rate_changes++;
  }
}

static void
begin_ring (gpointer owner, guint64 ring)
{
  Case *self = owner;

  self->plays[ring] = fab_play_new (self->schedules[ring], &self->net.base,
                                    &(FabPlaySpec){ .bytes = 1000,
                                                    .wire_factor = 1,
                                                    .share = 1,
                                                    .steps_ps = self->rings[ring].steps_ps,
                                                    .intra_cost = 1,
                                                    .inter_cost = 1,
                                                    .watch = self->is_unwatched ? NULL : &fab_skips_watch,
                                                    .done = { note_end, self, ring } });
  self->repeats[ring] = !self->is_unwatched && fab_skips_watch.repeats (self->plays[ring]->watched);
}

static FabSchedule *
make_ring (const Case *self, const Ring *ring)
{
  FabSchedule *schedule = fab_schedule_new (&self->rig->cluster);
  FabGroup group = rig_group (self->rig);
  guint n = N_LANES + ring->n_more, n_in_ring = ring->waits == PAIRS ? 2 : ring->waits == HALVES ? n / 2 : n;

  for (guint l = 0; l < n; l++) {
    guint like = MIN (l, N_LANES - 1);
    FabHop hop;

    assert_true (fab_hop_ranks (&group, like, (like + 1) % N_LANES, &hop, NULL));
    fab_schedule_lane (schedule, &hop, 1, 1 + ring->slower[like] / 1000.0,
                       ring->n_rounds - ring->fewer[like]);
  }
  for (guint l = ring->waits == A_ROW; l < n && ring->waits != NOTHING; l++) {
    guint first = l / n_in_ring * n_in_ring;

    fab_schedule_depend (schedule, l, first + (l - first + n_in_ring - 1) % n_in_ring, 1);
  }
  return schedule;
}

static void
play (Case *self)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1,
                  .gpus_per_node = N_LANES,
                  .gpu_bytes_per_s = FAB_PS_PER_S,
                  .gpu_latency_ps = (self->latency_ps > 0 ? self->latency_ps : 100) / 2 });
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
      fab_engine_at (engine, self->other_ps[i], others_do_something, self, 0);
  fab_engine_run (engine);
  self->n_events = fab_engine_events (engine);
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
  if (row->played.rings[0].n_more + row->played.rings[1].n_more == 0)
    assert_int_equal (some.net.n_messages + n_skipped, all.net.n_messages);
  g_array_unref (some.skips);
  g_array_unref (all.skips);
}

#define ASSERT_ROWS(rows)                         \
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) \
  assert_row (&rows[i])
