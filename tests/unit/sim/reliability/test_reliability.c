/* SPDX-License-Identifier: Apache-2.0 */
/* test_reliability.c - the useful share of a job's time: published intervals, published curves, values by hand, and the
 * closed form against lives that are played event by event. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/reliability/trial.h"

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0

/* J. T. Daly, Future Generation Computer Systems 22 (2006), figures 3 to 5: a dump of 5 min, a restart of 10 min. His
 * model predicts 117 min at a mean time between failures of 24 h, 57 min at 6 h, 9.1 min at 15 min. */
static void
intervals_are_those_that_daly_publishes (G_GNUC_UNUSED void **state)
{
  const struct {
    double mean_s, interval_min, digit;
  } published[] = { { 24 * HOUR, 117, 0.5 }, { 6 * HOUR, 57, 0.5 }, { 15 * MINUTE, 9.1, 0.05 } };

  for (guint i = 0; i < G_N_ELEMENTS (published); i++) {
    double rate = 1 / published[i].mean_s;
    double daly = fab_goodput_daly_interval (rate, 5 * MINUTE) / MINUTE;
    double exact = fab_goodput_best_interval (rate, 5 * MINUTE, 0) / MINUTE;

    assert_true (fabs (daly - published[i].interval_min) <= published[i].digit);
    assert_near (daly, exact, 0.01);
  }
}

/* Kokolis et al., Revisiting Reliability in Large-Scale Machine Learning Research Clusters (HPCA 2025): 6.50 failures
 * in 1000 node-days make a mean time to failure of 1.8 h at 16 384 GPUs and of 0.23 h at 131 072; and
 *
 *   ETTR = (1 - N r (u + dt / 2)) / (1 + w / dt)
 *
 * with restart u, interval dt and write w, a first order that holds where failures are rare within an interval. */
static void
ettr_is_that_of_kokolis (G_GNUC_UNUSED void **state)
{
  const double per_node_s = 6.5e-3 / DAY;
  const guint nodes[] = { 128, 256, 512, 1024, 2048 };
  const double intervals_s[] = { 5 * MINUTE, 10 * MINUTE, 20 * MINUTE };

  assert_true (fabs (1 / (2048 * per_node_s) / HOUR - 1.8) < 0.05);
  assert_true (fabs (1 / (16384 * per_node_s) / HOUR - 0.23) < 0.005);
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    for (guint k = 0; k < G_N_ELEMENTS (intervals_s); k++) {
      double rate = nodes[i] * per_node_s, restart_s = 5 * MINUTE, write_s = 10;
      double first_order = (1 - rate * (restart_s + intervals_s[k] / 2)) / (1 + write_s / intervals_s[k]);
      double useful = fab_goodput_useful (rate, intervals_s[k], write_s, 0, restart_s);

      assert_near (useful, first_order, 0.02);
    }
}

/* Daly's cost function by hand: M = 100 s, interval 10 s, dump 1 s, restart 5 s.
 * e^0.05 (e^0.11 - 1) x 100 / 10 = 1.0512711 x 0.1162781 x 10 = 1.222398 s per useful second. A dump that is complete
 * 2 s later multiplies it by e^0.02 = 1.0202013. */
static void
useful_share_is_the_one_by_hand (G_GNUC_UNUSED void **state)
{
  assert_near (1 / fab_goodput_useful (0.01, 10, 1, 0, 5), 1.2223978, 1e-6);
  assert_near (1 / fab_goodput_useful (0.01, 10, 1, 2, 5), 1.2223978 * 1.0202013, 1e-6);
  assert_near (fab_goodput_useful (0, 10, 1, 0, 5), 10.0 / 11, 1e-12);
}

/* Erlang's table: 1 server and 1 erlang block 1/2, 2 servers 1/5, 5 servers and 3 erlangs 0.1101. */
static void
waiting_is_erlangs_loss (G_GNUC_UNUSED void **state)
{
  assert_near (fab_erlang_loss (1, 1), 0.5, 1e-12);
  assert_near (fab_erlang_loss (2, 1), 0.2, 1e-12);
  assert_true (fabs (fab_erlang_loss (5, 3) - 0.1101) < 5e-5);
}

/* Another interval than the best is worse on both sides. */
static void
best_interval_is_the_best (G_GNUC_UNUSED void **state)
{
  const double rates[] = { 1e-6, 1e-4, 1e-2 }, costs[] = { 0.5, 30, 600 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    for (guint k = 0; k < G_N_ELEMENTS (costs); k++) {
      double best = fab_goodput_best_interval (rates[i], costs[k], 0);
      double at = fab_goodput_useful (rates[i], best, costs[k], 0, 100);

      assert_true (at >= fab_goodput_useful (rates[i], best * 1.01, costs[k], 0, 100));
      assert_true (at >= fab_goodput_useful (rates[i], best / 1.01, costs[k], 0, 100));
    }
  assert_true (isinf (fab_goodput_best_interval (0, 30, 0)));
  assert_near (fab_goodput_best_interval (1e-4, 0.5, 500), 500, 1e-12);
}

/* The same where a checkpoint is written beside the job and makes it slower meanwhile. */
static void
best_interval_counts_what_is_written_beside (G_GNUC_UNUSED void **state)
{
  const FabFailureRate rates[] = { { "all", FAB_FAILURE_STOPS, 1e-5, FALSE, 0 } };
  FabReliability rules = { .rates = rates,
                           .n_rates = 1,
                           .detection_s = 60,
                           .restart_s = 60,
                           .blocking_s = 1,
                           .background_s = 300,
                           .background_slowdown = 0.2 };
  FabGoodputForm best = fab_goodput_form (&rules);

  rules.interval_s = best.interval_s * 1.1;
  assert_true (fab_goodput_form (&rules).goodput_fraction <= best.goodput_fraction);
  rules.interval_s = best.interval_s / 1.1;
  assert_true (fab_goodput_form (&rules).goodput_fraction <= best.goodput_fraction);
}

/* However slow the steps are meanwhile: then as much time is lost as a checkpoint is written. */
static void
writing_beside_costs_at_most_its_time (G_GNUC_UNUSED void **state)
{
  FabReliability rules = { .interval_s = 990, .blocking_s = 10, .background_s = 20 };
  const double slowdowns[] = { 0.25, 1, 75, 1e9 }, costs_s[] = { 4, 10, 20 * 75 / 76.0, 20 };

  for (guint i = 0; i < G_N_ELEMENTS (slowdowns); i++) {
    rules.background_slowdown = slowdowns[i];
    FabGoodputForm form = fab_goodput_form (&rules);
    FabFailureTrial trial = fab_failure_trial_play (&rules, form.interval_s, DAY, 1);

    assert_near (form.goodput_fraction, 0.99 * (1 - costs_s[i] / 1000), 1e-6);
    assert_near (trial.goodput_fraction, form.goodput_fraction, 1e-3);
  }
  rules.background_s = 5000; /* always: no checkpoint begins before the last is complete */
  rules.background_slowdown = 3;
  assert_near (fab_goodput_form (&rules).goodput_fraction, 5000 / 5010.0 * (1 - 0.75 * 5000 / 5010), 1e-6);
}

static double
sum_of (const FabTimeShares *shares)
{
  return shares->useful + shares->slowed + shares->checkpoint + shares->lost + shares->down + shares->planned
       + shares->waiting;
}

typedef struct {
  const char *name;
  FabReliability rules;
} Case;

static const FabFailureRate stops[] = { { "gpu", FAB_FAILURE_STOPS, 6e-5, TRUE, 0 },
                                        { "software", FAB_FAILURE_STOPS, 3e-5, FALSE, 0 } };
static const FabFailureRate all[] = { { "gpu", FAB_FAILURE_STOPS, 6e-5, TRUE, 0 },
                                      { "software", FAB_FAILURE_STOPS, 3e-5, FALSE, 0 },
                                      { "upgrade", FAB_FAILURE_PLANNED, 1e-5, FALSE, 0 },
                                      { "slow nic", FAB_FAILURE_SLOWS, 2e-5, TRUE, 0.5 },
                                      { "slow gpu", FAB_FAILURE_SLOWS, 1e-5, FALSE, 0.2 } };

static const Case cases[] = {
  { "synchronous", { .rates = stops, .n_rates = 2, .detection_s = 300, .restart_s = 300, .blocking_s = 30 } },
  { "given interval",
    { .rates = stops,
      .n_rates = 2,
      .detection_s = 60,
      .restart_s = 300,
      .blocking_s = 30,
      .interval_s = 3600 } },
  { "asynchronous",
    { .rates = stops,
      .n_rates = 2,
      .detection_s = 300,
      .restart_s = 300,
      .blocking_s = 2,
      .background_s = 200 } },
  { "three spares",
    { .rates = stops,
      .n_rates = 2,
      .detection_s = 300,
      .restart_s = 300,
      .blocking_s = 30,
      .repair_s = 12 * HOUR,
      .n_spares = 3 } },
  { "everything",
    { .rates = all,
      .n_rates = 5,
      .detection_s = 300,
      .slow_detection_s = 2 * HOUR,
      .restart_s = 300,
      .blocking_s = 20,
      .background_s = 60,
      .background_slowdown = 0.05,
      .repair_s = 6 * HOUR,
      .n_spares = 4 } },
};

/* 60 trials of 200 days: some 1500 failures each, so that the mean is known to 0.1 %. */
static void
closed_form_is_that_of_lives_that_are_played (G_GNUC_UNUSED void **state)
{
  const guint n_trials = 60;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabGoodputForm form = fab_goodput_form (&cases[i].rules);
    FabFailureTrials played = fab_failure_trials_play (&cases[i].rules, form.interval_s, 200 * DAY, 1,
                                                       n_trials);

    print_message ("%s: %.4f by form, %.4f played, +- %.4f\n", cases[i].name, form.goodput_fraction,
                   played.mean_goodput_fraction, played.error_fraction);
    assert_near (sum_of (&form.shares), 1, 1e-9);
    assert_near (sum_of (&played.shares), 1, 1e-9);
    assert_near (form.goodput_fraction, played.mean_goodput_fraction, 0.01);
    assert_near (form.shares.down + 0.1, played.shares.down + 0.1, 0.02);
    assert_near (form.shares.lost + 0.1, played.shares.lost + 0.1, 0.02);
    assert_near (form.shares.waiting + 0.1, played.shares.waiting + 0.1, 0.05);
    assert_near (form.shares.slowed + 0.1, played.shares.slowed + 0.1, 0.02);
    assert_near (form.shares.checkpoint + 0.1, played.shares.checkpoint + 0.1, 0.01);
    assert_near (form.shares.planned + 0.1, played.shares.planned + 0.1, 0.01);
    assert_true (played.low_wall_s < played.median_wall_s && played.median_wall_s < played.high_wall_s);
  }
}

/* Parts fail while the job computes or restarts, and nobody plans a stop but while it computes: so many times these are
 * the rates. A slow part is found, and is a stop that was planned; what is still slow at the end of a life was not. */
static void
as_much_happens_as_the_rates_say (G_GNUC_UNUSED void **state)
{
  const guint n_trials = 60;
  FabFailureTrial one = fab_failure_trial_play (&cases[4].rules, 1200, 2000 * DAY, 3);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabGoodputForm form = fab_goodput_form (&cases[i].rules);
    FabFailureTrials played = fab_failure_trials_play (&cases[i].rules, form.interval_s, 200 * DAY, 1,
                                                       n_trials);
    const FabTimeShares *shares = &played.shares;
    double running_s = (shares->useful + shares->slowed + shares->checkpoint + shares->lost)
                     * played.mean_wall_s;

    assert_int_equal (played.n_trials, n_trials);
    assert_near (played.mean_stops, form.stops_per_s * (running_s + shares->down * played.mean_wall_s), 0.02);
    assert_near (1 + played.mean_planned, 1 + form.planned_per_s * running_s, 0.03);
    assert_near (played.mean_goodput_fraction * played.mean_wall_s, 200 * DAY, 1e-6);
    assert_near (shares->useful, played.mean_goodput_fraction, 1e-9);
  }
  double run_s = one.wall_s
               * (one.shares.useful + one.shares.slowed + one.shares.checkpoint + one.shares.lost);
  assert_near ((double) one.n_slow, 3e-5 * run_s, 0.05);
  assert_near ((double) one.n_planned, 4e-5 * run_s, 0.05);
}

/* A stop that somebody planned costs a checkpoint, in full, and a restart; nothing else takes time but computing and
 * the checkpoints of each interval. */
static void
planned_stops_take_their_time (G_GNUC_UNUSED void **state)
{
  const FabFailureRate upgrade[] = { { "upgrade", FAB_FAILURE_PLANNED, 1e-4, FALSE, 0 } };
  const FabReliability rules = {
    .rates = upgrade, .n_rates = 1, .restart_s = 300, .detection_s = 77, .blocking_s = 20, .background_s = 60
  };
  FabFailureTrial trial = fab_failure_trial_play (&rules, 1000, 20 * DAY, 5);
  double stopped_s = trial.shares.planned * trial.wall_s, copied_s = trial.shares.checkpoint * trial.wall_s;

  assert_true (trial.n_planned > 100);
  assert_int_equal (trial.n_stops, 0);
  assert_near (stopped_s, (double) trial.n_planned * (300 + 20 + 60), 1e-9);
  assert_near (trial.shares.useful * trial.wall_s, 20 * DAY, 1e-9);
  assert_near (trial.wall_s, 20 * DAY + stopped_s + copied_s, 1e-9);
  assert_true (trial.shares.lost <= 0 && trial.shares.down <= 0 && trial.shares.waiting <= 0);
  /* A run begins its interval anew: there is at most one checkpoint for each 1000 s, and one less for each stop. */
  assert_true (copied_s <= 20 * (20 * DAY / 1000)
               && copied_s >= 20 * (20 * DAY / 1000 - (double) trial.n_planned - 1));
}

/* The first trials of a seed are the same however many there are, so that the sum of n lives less that of n - 1 is the
 * nth. Of these, 5 % take at most as long as the low one, which is one of them. */
static void
trials_are_summed_up_by_the_book (G_GNUC_UNUSED void **state)
{
  enum { N = 40 };
  double walls[N], sum_s = 0, squares = 0;

  for (guint n = 1; n <= N; n++) {
    FabFailureTrials some = fab_failure_trials_play (&cases[4].rules, 1200, 3 * DAY, 9, n);

    walls[n - 1] = n * some.mean_wall_s - sum_s;
    sum_s += walls[n - 1];
    squares = 0;
    for (guint i = 0; i < n; i++)
      squares += pow (walls[i] - sum_s / n, 2);
    double error = n > 1 ? sqrt (squares / (n - 1) / n) / (sum_s / n) : 0;
    assert_true (fabs (some.error_fraction - error) <= 1e-6 * error);
    const double ends_s[] = { some.low_wall_s, some.median_wall_s, some.high_wall_s },
                 parts[] = { 0.05, 0.5, 0.95 };
    for (guint k = 0; k < G_N_ELEMENTS (ends_s); k++) {
      guint n_below = 0, n_to = 0;

      for (guint i = 0; i < n; i++) {
        n_below += walls[i] < ends_s[k] * (1 - 1e-9);
        n_to += walls[i] <= ends_s[k] * (1 + 1e-9);
      }
      assert_true (n_to > n_below && n_to >= parts[k] * n - 1e-9 && n_below <= parts[k] * n + 1e-9);
    }
  }
}

/* Slow parts by hand: at 2e-5 per second and two hours until it is found, a part of the worse class is slow for 1 -
 * e^-0.144 of the time, and the job then takes 1.5 times as long; of the rest, 1 - e^-0.072 has the other class alone.
 * Two classes that are as slow as each other are one. */
static void
the_slowest_part_sets_the_speed (G_GNUC_UNUSED void **state)
{
  FabFailureRate rates[] = { { "a", FAB_FAILURE_SLOWS, 1e-5, FALSE, 0.2 },
                             { "b", FAB_FAILURE_SLOWS, 2e-5, FALSE, 0.5 },
                             { "none", FAB_FAILURE_SLOWS, 9e-5, FALSE, 0 } };
  FabReliability rules = { .rates = rates, .n_rates = 3, .slow_detection_s = 2 * HOUR };
  FabGoodputForm form = fab_goodput_form (&rules);
  double worse = -expm1 (-0.144), other = exp (-0.144) * -expm1 (-0.072);

  assert_near (form.shares.useful / (form.shares.useful + form.shares.slowed),
               worse / 1.5 + other / 1.2 + (1 - worse - other), 1e-12);
  assert_near (form.planned_per_s, 12e-5, 1e-12);
  rates[0].slowdown = 0.5;
  form = fab_goodput_form (&rules);
  assert_near (form.shares.useful / (form.shares.useful + form.shares.slowed),
               1 + expm1 (-0.216) * (1 - 1 / 1.5), 1e-12);
}

/* An interval that the user gives is taken, unless it is shorter than writing in the background takes, or than the
 * least one. */
static void
given_intervals_are_taken (G_GNUC_UNUSED void **state)
{
  FabReliability rules = { .rates = stops, .n_rates = 2, .blocking_s = 0.01, .interval_s = 0.5 };

  assert_near (fab_goodput_form (&rules).interval_s, 0.5, 1e-12);
  rules.least_interval_s = 0.75;
  assert_near (fab_goodput_form (&rules).interval_s, 0.75, 1e-12);
  rules.background_s = 2;
  assert_near (fab_goodput_form (&rules).interval_s, 2, 1e-12);
  rules.interval_s = 3;
  assert_near (fab_goodput_form (&rules).interval_s, 3, 1e-12);
}

/* Nodes that wait for repair are as Erlang's calls: with n spares, n + 1 servers. As few as make the job wait for no
 * more than the share are enough. */
static void
spares_are_as_few_as_suffice (G_GNUC_UNUSED void **state)
{
  const FabReliability rules = { .rates = all, .n_rates = 5, .repair_s = 12 * HOUR };
  const double load = (6e-5 + 2e-5) * 12 * HOUR;

  for (double share = 0.9; share > 1e-6; share /= 1.7) {
    guint n = fab_goodput_spares (&rules, share, 100);

    assert_true (fab_erlang_loss (n + 1, load) <= share);
    assert_true (n == 0 || fab_erlang_loss (n, load) > share);
    assert_int_equal (fab_goodput_spares (&rules, share, MIN (n, 2)), MIN (n, 2));
  }
  assert_int_equal (fab_goodput_spares (&(FabReliability){ .rates = all, .n_rates = 5 }, 0, 9), 0);
}

/* Young: sqrt (2 x 50 s x 10 000 s) = 1000 s. Daly's form ends where a dump takes twice the mean time between failures,
 * which is then the interval. */
static void
published_forms_at_round_numbers (G_GNUC_UNUSED void **state)
{
  assert_near (fab_goodput_young_interval (1e-4, 50), 1000, 1e-12);
  assert_near (fab_goodput_daly_interval (1e-2, 200), 100, 1e-12);
  assert_near (fab_goodput_daly_interval (1e-2, 1000), 100, 1e-12);
  /* sqrt (2 x 18 x 100) = 60, ratio 0.09: 60 x (1 + 0.3 / 3 + 0.09 / 9) - 18. */
  assert_near (fab_goodput_daly_interval (1e-2, 18), 60 * 1.11 - 18, 1e-12);
}

static void
nothing_that_fails_costs_nothing (G_GNUC_UNUSED void **state)
{
  const FabReliability rules = { .restart_s = 300, .blocking_s = 30 };
  FabGoodputForm form = fab_goodput_form (&rules);
  FabFailureTrial trial = fab_failure_trial_play (&rules, form.interval_s, DAY, 1);

  assert_near (form.goodput_fraction, 1, 1e-12);
  assert_near (trial.wall_s, DAY, 1e-9);
  assert_int_equal (trial.n_stops, 0);
}

/* A trial depends on its seed alone, and a job that fails faster than it restarts is given up after a thousand times
 * its work. */
static void
trials_are_repeatable_and_end (G_GNUC_UNUSED void **state)
{
  const FabFailureRate hopeless[] = { { "all", FAB_FAILURE_STOPS, 0.05, FALSE, 0 } };
  const FabReliability never = { .rates = hopeless, .n_rates = 1, .restart_s = 300, .blocking_s = 30 };
  FabFailureTrial a = fab_failure_trial_play (&cases[4].rules, 1200, 20 * DAY, 7),
                  b = fab_failure_trial_play (&cases[4].rules, 1200, 20 * DAY, 7),
                  c = fab_failure_trial_play (&cases[4].rules, 1200, 20 * DAY, 8);

  assert_true (!(a.wall_s < b.wall_s) && !(b.wall_s < a.wall_s));
  assert_int_equal (a.n_events, b.n_events);
  assert_true (a.wall_s < c.wall_s || c.wall_s < a.wall_s);
  FabFailureTrial given_up = fab_failure_trial_play (&never, 60, 600, 1);
  assert_true (given_up.goodput_fraction < 0.01);
  assert_near (given_up.wall_s, 600e3, 3e-4); /* something happens every 20 s */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (intervals_are_those_that_daly_publishes),
    cmocka_unit_test (ettr_is_that_of_kokolis),
    cmocka_unit_test (useful_share_is_the_one_by_hand),
    cmocka_unit_test (waiting_is_erlangs_loss),
    cmocka_unit_test (best_interval_is_the_best),
    cmocka_unit_test (best_interval_counts_what_is_written_beside),
    cmocka_unit_test (writing_beside_costs_at_most_its_time),
    cmocka_unit_test (closed_form_is_that_of_lives_that_are_played),
    cmocka_unit_test (as_much_happens_as_the_rates_say),
    cmocka_unit_test (planned_stops_take_their_time),
    cmocka_unit_test (trials_are_summed_up_by_the_book),
    cmocka_unit_test (the_slowest_part_sets_the_speed),
    cmocka_unit_test (given_intervals_are_taken),
    cmocka_unit_test (spares_are_as_few_as_suffice),
    cmocka_unit_test (published_forms_at_round_numbers),
    cmocka_unit_test (nothing_that_fails_costs_nothing),
    cmocka_unit_test (trials_are_repeatable_and_end),
  };

  return cmocka_run_group_tests_name ("reliability", tests, NULL, NULL);
}
