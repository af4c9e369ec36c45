/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial.c - one life of a job with failures (sim/reliability/trial.h) followed by hand, with the numbers that are
 * drawn: stops, planned stops, checkpoints, restarts that are broken off, and nodes that are away. Means of many lives:
 * test_reliability.c. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/mix.h"
#include "sim/reliability/trial.h"

typedef struct {
  const FabReliability *rules;
  double interval_s, work_s, stops_per_s, planned_per_s;
  guint64 seed, n_drawn;
  double now_s;
  GArray *back_s;  /* double: when nodes that are away come back */
  FabTimeShares s; /* in seconds */
  guint n_stops, n_planned;
} Life;

static double
draw (Life *self)
{
  return ((double) (fab_mix (self->seed, self->n_drawn++) >> 11) + 0.5) * 0x1p-53;
}

/* The seconds of computing in the first `run_s` of a run: each interval is followed by a checkpoint. */
static double
computing_in (const Life *self, double run_s)
{
  double sum_s = 0;

  for (double left_s = run_s; left_s > 0; left_s -= self->interval_s + self->rules->blocking_s)
    sum_s += MIN (left_s, self->interval_s);
  return sum_s;
}

/* How long a run is that computes for so long. */
static double
run_for (const Life *self, double computing_s)
{
  double run_s = computing_s;

  for (; computing_s >= self->interval_s; computing_s -= self->interval_s)
    run_s += self->rules->blocking_s;
  return run_s;
}

/* Up to which time of a run all is saved. */
static double
saved_in (const Life *self, double run_s)
{
  double cycle_s = self->interval_s + self->rules->blocking_s, saved_s = 0;

  while (saved_s + cycle_s + self->rules->background_s <= run_s)
    saved_s += cycle_s;
  return saved_s;
}

/* Nodes that come back until now are there again. */
static guint
count_away (Life *self)
{
  for (guint i = self->back_s->len; i > 0; i--)
    if (g_array_index (self->back_s, double, i - 1) <= self->now_s)
      g_array_remove_index_fast (self->back_s, i - 1);
  return self->back_s->len;
}

/* One of the classes of an effect happens. Where no spare takes the place of its node, time passes until one does; then
 * the job begins as after a failure. TRUE: it waited. */
static gboolean
lose_node (Life *self, FabFailureEffect effect, double all_per_s)
{
  const FabFailureRate *rate = NULL;
  double at = draw (self) * all_per_s;

  for (guint i = 0; i < self->rules->n_rates; i++)
    if (self->rules->rates[i].effect == effect && (rate == NULL || at >= 0)) {
      rate = &self->rules->rates[i];
      at -= rate->per_s;
    }
  if (!rate->takes_node || self->rules->repair_s <= 0)
    return FALSE;
  count_away (self);
  double back_s = self->now_s - log (draw (self)) * self->rules->repair_s;
  g_array_append_val (self->back_s, back_s);
  gboolean has_waited = self->back_s->len > self->rules->n_spares;
  while (count_away (self) > self->rules->n_spares) {
    double first_s = INFINITY;

    for (guint i = 0; i < self->back_s->len; i++)
      first_s = MIN (first_s, g_array_index (self->back_s, double, i));
    self->s.waiting += first_s - self->now_s;
    self->now_s = first_s;
  }
  return has_waited;
}

/* Whether the next event is a failure, and when it comes: first the kind is drawn, then the time. */
static gboolean
draw_next (Life *self, double planned_per_s, double *wait_s)
{
  double all_per_s = self->stops_per_s + planned_per_s;

  *wait_s = INFINITY;
  if (all_per_s <= 0)
    return FALSE;
  gboolean is_stop = draw (self) * all_per_s < self->stops_per_s;
  *wait_s = -log (draw (self)) / all_per_s;
  return is_stop;
}

static void
stand_still (Life *self)
{
  double down_s = self->rules->detection_s + self->rules->restart_s, wait_s;

  for (;;) {
    draw_next (self, 0, &wait_s);
    self->s.down += MIN (wait_s, down_s);
    self->now_s += MIN (wait_s, down_s);
    if (wait_s >= down_s)
      return;
    self->n_stops++;
    lose_node (self, FAB_FAILURE_STOPS, self->stops_per_s);
  }
}

static void
live (Life *self)
{
  double done_s = 0;

  for (;;) {
    double wait_s, left_s = self->work_s - done_s, end_s = run_for (self, left_s);
    gboolean is_stop = draw_next (self, self->planned_per_s, &wait_s);
    double run_s = MIN (wait_s, end_s), kept_s = wait_s < end_s && is_stop ? saved_in (self, run_s) : run_s;
    double computing_s = computing_in (self, kept_s);

    self->now_s += run_s;
    done_s += computing_s;
    self->s.useful += computing_s;
    self->s.checkpoint += kept_s - computing_s;
    self->s.lost += run_s - kept_s;
    if (end_s <= wait_s)
      return;
    if (is_stop) {
      self->n_stops++;
      lose_node (self, FAB_FAILURE_STOPS, self->stops_per_s);
      stand_still (self);
    } else {
      double stopped_s = self->rules->restart_s + self->rules->blocking_s + self->rules->background_s;

      self->n_planned++;
      if (lose_node (self, FAB_FAILURE_PLANNED, self->planned_per_s)) {
        stand_still (self);
      } else {
        self->s.planned += stopped_s;
        self->now_s += stopped_s;
      }
    }
  }
}

static const FabFailureRate rates[] = { { "software", FAB_FAILURE_STOPS, 2e-4, FALSE, 0 },
                                        { "upgrade", FAB_FAILURE_PLANNED, 1e-4, FALSE, 0 },
                                        { "gpu", FAB_FAILURE_STOPS, 1e-4, TRUE, 0 },
                                        { "service", FAB_FAILURE_PLANNED, 2e-4, TRUE, 0 } };

static void
a_life_is_as_by_hand (G_GNUC_UNUSED void **state)
{
  static const FabReliability rows[] = {
    { .rates = rates, .n_rates = 1, .detection_s = 100, .restart_s = 200, .blocking_s = 30 },
    { .rates = rates,
      .n_rates = 1,
      .detection_s = 2000,
      .restart_s = 3000,
      .blocking_s = 30,
      .background_s = 250 },
    { .rates = rates,
      .n_rates = 2,
      .detection_s = 100,
      .restart_s = 200,
      .blocking_s = 30,
      .background_s = 50 },
    { .rates = rates,
      .n_rates = 4,
      .detection_s = 100,
      .restart_s = 200,
      .blocking_s = 30,
      .background_s = 50,
      .repair_s = 9000 },
    { .rates = rates,
      .n_rates = 4,
      .detection_s = 1000,
      .restart_s = 200,
      .blocking_s = 30,
      .repair_s = 20000,
      .n_spares = 2 },
    { .rates = rates, .n_rates = 4, .detection_s = 100, .restart_s = 200, .blocking_s = 30 },
    { .rates = rates + 1, .n_rates = 1, .restart_s = 200, .blocking_s = 30, .background_s = 50 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint64 seed = 1; seed <= 20; seed++) {
      g_autoptr (GArray) back_s = g_array_new (FALSE, FALSE, sizeof (double));
      Life life = { .rules = &rows[i], .interval_s = 700, .work_s = 50123, .seed = seed, .back_s = back_s };

      for (guint k = 0; k < rows[i].n_rates; k++)
        *(rows[i].rates[k].effect == FAB_FAILURE_STOPS ? &life.stops_per_s
                                                       : &life.planned_per_s) += rows[i].rates[k].per_s;
      live (&life);
      FabFailureTrial trial = fab_failure_trial_play (&rows[i], 700, 50123, seed);
      const double found[] = { trial.shares.useful, trial.shares.slowed, trial.shares.checkpoint,
                               trial.shares.lost,   trial.shares.down,   trial.shares.planned,
                               trial.shares.waiting },
                   expected_s[] = { life.s.useful, life.s.slowed,  life.s.checkpoint, life.s.lost,
                                    life.s.down,   life.s.planned, life.s.waiting };

      assert_int_equal (trial.n_stops, life.n_stops);
      assert_int_equal (trial.n_planned, life.n_planned);
      assert_int_equal (trial.n_slow, 0);
      assert_near (trial.wall_s, life.now_s, 1e-9);
      assert_near (trial.goodput_fraction, 50123 / life.now_s, 1e-9);
      for (guint k = 0; k < G_N_ELEMENTS (found); k++)
        assert_true (fabs (found[k] * trial.wall_s - expected_s[k]) < 1e-5);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_life_is_as_by_hand),
  };

  return cmocka_run_group_tests_name ("trial", tests, NULL, NULL);
}
