/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_failures.c - failures of a job in a mix, one after the other: a lone job is followed by hand with the
 * numbers that are drawn, through restarts, planned stops, spares and nodes that are away. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/mix.h"
#include "sim/sharing/job_mix.h"

static const double one[] = { 1 }, none[] = { 0 };
static const FabMixKind quiet = { .n_levels = 1,
                                  .n_loads = 1,
                                  .nodes_per_group = one,
                                  .own_load = none,
                                  .duty = none,
                                  .others = none,
                                  .slowdown = one };

/* A job that saves nothing by itself, alone on a machine. */
typedef struct {
  const FabMixFailures *failures;
  guint64 seed, n_draws;
  guint n_spares, n_more;  /* nodes that the machine has more than the job */
  double now_s, down_s;    /* it stands still for so long from now on */
  double saved_s, new_s;   /* computing that a planned stop has kept, and that since then */
  double back_s[200];      /* when nodes that broke are whole, in their order */
  guint n_broken, n_whole; /* of these */
  double undone_s, stood_s, away_s;
  guint n_failures;
  guint64 n_events;
} Lone;

/* The k-th number of failures of a seed, above 0 and below 1. */
static double
draw (Lone *self)
{
  guint64 bits = fab_mix (self->seed ^ 0xfa11, self->n_draws++) >> 11;

  return ((double) bits + 0.5) * 0x1p-53;
}

/* When something stops the job next, at a constant rate from now on. */
static double
draw_stop (Lone *self)
{
  double per_s = self->failures->stops_per_s + self->failures->planned_per_s;

  return self->now_s - log (draw (self)) / per_s;
}

/* Nodes that are away and for which neither a spare nor a node that the job does not need stands in. */
static guint
count_missing (const Lone *self)
{
  guint n_away = self->n_broken - self->n_whole;

  return n_away > self->n_spares ? n_away - self->n_spares : 0;
}

/* Until then no node comes back. Only down time and computing pass where the job has nodes. */
static void
pass_quietly (Lone *self, double to_s, gboolean has_nodes)
{
  double passed_s = to_s - self->now_s, stood_s = has_nodes ? MIN (self->down_s, passed_s) : 0;

  self->away_s += count_missing (self) * passed_s;
  self->n_events += has_nodes && self->down_s > 0 && stood_s >= self->down_s; /* it computes again */
  self->stood_s += stood_s;
  self->down_s -= stood_s;
  self->new_s += has_nodes ? passed_s - stood_s : 0;
  self->now_s = to_s;
}

/* Lets time pass until then; nodes come back meanwhile. */
static void
pass (Lone *self, double to_s, gboolean has_nodes)
{
  while (self->n_whole < self->n_broken && self->back_s[self->n_whole] < to_s) {
    pass_quietly (self, self->back_s[self->n_whole], has_nodes);
    self->n_whole++;
    self->n_events++;
  }
  pass_quietly (self, to_s, has_nodes);
}

/* A node breaks. Where nothing stands in for it the job waits until one is whole, and where it does not need it, it
 * begins on others at once; with a spare it goes on as it is. FALSE: it goes on. */
static gboolean
is_moved (Lone *self)
{
  gboolean has_spare = self->n_broken - self->n_whole < self->n_spares;

  g_assert (self->n_broken < G_N_ELEMENTS (self->back_s));
  self->back_s[self->n_broken++] = self->now_s + self->failures->repair_s;
  if (has_spare)
    return FALSE;
  while (count_missing (self) > self->n_more)
    pass (self, nextafter (self->back_s[self->n_whole], INFINITY), FALSE);
  return TRUE;
}

/* Plays until the work is done. */
static void
play_lone (Lone *self, double work_s)
{
  const FabMixFailures *failures = self->failures;
  double computing_s = work_s * failures->slowing, stop_s = draw_stop (self);

  self->n_events = 2; /* it arrives and ends */
  for (;;) {
    double end_s = self->now_s + self->down_s + computing_s - self->saved_s - self->new_s;

    if (end_s < stop_s) {
      pass (self, end_s, TRUE);
      return;
    }
    pass (self, stop_s, TRUE);
    self->n_events++;
    double which = draw (self) * (failures->stops_per_s + failures->planned_per_s);
    stop_s = draw_stop (self);
    if (which >= failures->stops_per_s) {
      if (self->down_s > 0)
        continue;
      self->saved_s += self->new_s;
      self->down_s = failures->planned_s;
    } else {
      self->undone_s += self->new_s;
      self->down_s = failures->detection_s + failures->restart_s;
      self->n_failures++;
    }
    self->new_s = 0;
    if (which < failures->breaks_per_s && failures->repair_s > 0 && is_moved (self))
      stop_s = draw_stop (self);
  }
}

static const struct {
  FabMixFailures failures;
  guint n_spares, n_more;
  gboolean is_away;
} cases[] = {
  { { .stops_per_s = 1e-2, .interval_s = INFINITY, .detection_s = 3, .restart_s = 4, .slowing = 1 },
    0,
    0,
    FALSE },
  { { .stops_per_s = 4e-3,
      .planned_per_s = 3e-2,
      .interval_s = INFINITY,
      .detection_s = 3,
      .restart_s = 4,
      .planned_s = 2,
      .slowing = 1.25 },
    0,
    0,
    FALSE },
  { { .stops_per_s = 8e-3,
      .breaks_per_s = 5e-3,
      .interval_s = INFINITY,
      .detection_s = 3,
      .restart_s = 4,
      .repair_s = 50,
      .slowing = 1 },
    0,
    0,
    TRUE },
  { { .stops_per_s = 8e-3,
      .breaks_per_s = 5e-3,
      .planned_per_s = 5e-3,
      .interval_s = INFINITY,
      .detection_s = 9,
      .restart_s = 4,
      .planned_s = 7,
      .repair_s = 150,
      .slowing = 1 },
    1,
    0,
    TRUE },
  { { .stops_per_s = 8e-3,
      .breaks_per_s = 6e-3,
      .planned_per_s = 5e-3,
      .interval_s = INFINITY,
      .detection_s = 9,
      .restart_s = 4,
      .planned_s = 7,
      .repair_s = 250,
      .slowing = 1 },
    1,
    2,
    TRUE },
  { { .stops_per_s = 8e-3,
      .breaks_per_s = 6e-3,
      .interval_s = INFINITY,
      .detection_s = 9,
      .restart_s = 4,
      .slowing = 1 },
    1,
    2,
    FALSE },
};

static void
assert_same (const FabMixPlay *play, const Lone *lone, double work_s, double slowing)
{
  const FabMixOutcome *outcome = &play->outcomes[0];

  assert_int_equal (outcome->n_failures, lone->n_failures);
  assert_int_equal (play->n_failures, lone->n_failures);
  assert_near (outcome->start_s, 0, 0);
  assert_near (outcome->end_s, lone->now_s, 1e-9);
  assert_near (outcome->undone_s, lone->undone_s, 1e-9);
  assert_near (outcome->down_s, lone->stood_s, 1e-9);
  assert_near (outcome->slowed_s, work_s * (slowing - 1), 1e-9);
  assert_near (outcome->busy_s, work_s * slowing + lone->undone_s + lone->stood_s, 1e-9);
  assert_near (play->away_s, lone->away_s, 1e-9);
  assert_int_equal (play->n_events, lone->n_events);
}

static void
a_lone_job_fails_as_by_hand (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double undone_s = 0, away_s = 0;

    for (guint64 seed = 1; seed <= 40; seed++) {
      const FabMixMachine machine = { 2, (const guint[]){ 3, 3 + cases[i].n_more } };
      const FabMixRules rules = {
        .placement = FAB_MIX_FIRST, .has_failures = TRUE, .n_spares = cases[i].n_spares, .seed = seed
      };
      const FabMixJob job = { .work_s = 300, .n_nodes = 6 };
      FabMixKind kind = quiet;
      Lone lone = {
        .failures = &cases[i].failures, .seed = seed, .n_spares = cases[i].n_spares, .n_more = cases[i].n_more
      };

      kind.failures = &cases[i].failures;
      play_lone (&lone, job.work_s);
      g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &kind, &job, 1, &rules, NULL);
      assert_same (play, &lone, job.work_s, cases[i].failures.slowing);
      undone_s += lone.undone_s;
      away_s += lone.away_s;
    }
    assert_true (undone_s > 0);
    assert_int_equal (away_s > 0, cases[i].is_away);
  }
}

/* The first free nodes are those of the first group until one of them breaks: then that group has one less, and the job
 * has a part in the other one, until none is left there. */
static void
a_broken_node_is_given_to_nobody (G_GNUC_UNUSED void **state)
{
  static const FabMixFailures failures = {
    .stops_per_s = 1e-2, .breaks_per_s = 1e-2, .interval_s = INFINITY, .repair_s = 1e6, .slowing = 1
  };
  const FabMixMachine machine = { 2, (const guint[]){ 3, 3 } };
  const FabMixJob job = { .work_s = 100, .n_nodes = 3 };
  FabMixKind kind = quiet;
  guint n_seen[4] = { 0 };

  kind.failures = &failures;
  for (guint64 seed = 1; seed <= 60; seed++) {
    const FabMixRules rules = { .placement = FAB_MIX_FIRST, .has_failures = TRUE, .seed = seed };
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &kind, &job, 1, &rules, NULL);
    guint n_failures = play->outcomes[0].n_failures;

    if (n_failures < G_N_ELEMENTS (n_seen)) {
      assert_int_equal (play->outcomes[0].n_groups, n_failures == 1 || n_failures == 2 ? 2 : 1);
      n_seen[n_failures]++;
    }
  }
  for (guint n = 0; n < G_N_ELEMENTS (n_seen); n++)
    assert_true (n_seen[n] > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_lone_job_fails_as_by_hand),
    cmocka_unit_test (a_broken_node_is_given_to_nobody),
  };

  return cmocka_run_group_tests_name ("job_failures", tests, NULL, NULL);
}
