/* SPDX-License-Identifier: Apache-2.0 */
/* test_goodput_answer.c - what a planner asks of failures: each change of the rules against rules that are changed by
 * hand, the published sets of rates, intervals, spares, trials, and the band of the step.
 */
#include "tests/support/test.h"

#include "answer/goodput.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define JOB                                                                                                 \
  "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 2, fabric: switch}\n"                           \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, train_tokens: 1e11, compute: {kind: mfu, " \
  "mfu: 60%}, checkpoint: {to: network, total: 10GB/s"
#define RATES                                                                                                     \
  "failures: [{name: ours, classes: [{name: a, per: node, per_year: 100, repair: true}, {name: b, per: node, "    \
  "per_year: 50, does: planned}, {name: c, per: nic, per_year: 10, does: slows, rate: 50%}, {name: d, per: job, " \
  "per_year: 30}]}]\n"
#define TIMES "detection: 10min, restart: 5min, repair: 8h"
#define FULL \
  JOB ", asynchronous: true, every: 100}}\n" RATES "reliability: {failures: ours, spares: 1, " TIMES "}\n"
/* The best interval, and another node is always there. */
#define BEST JOB "}}\n" RATES "reliability: {failures: ours}\n"
/* Nothing stops the job, so that no checkpoint is worth its time. */
#define NEVER                                                                                        \
  JOB "}}\nfailures: [{name: ours, classes: [{name: b, per: node, per_year: 50, does: planned}]}]\n" \
      "reliability: {failures: ours}\n"

typedef struct {
  Play *play;
  FabRunResult result;
} Played;

static Played
played (const char *yaml)
{
  Played self = { .play = play_new (catalog, yaml, NULL) };
  const FabRunRequest request = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (GError) error = NULL;

  if (!fab_run_play (self.play->scenario, NULL, &request, &self.result, &error))
    fail_msg ("%s", error->message);
  assert_non_null (self.result.failures);
  return self;
}

static void
played_clear (Played *self)
{
  fab_run_result_clear (&self->result);
  play_free (self->play);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Played, played_clear)

static FabGoodputAnswer *
answer_of (const Played *self, guint n_trials)
{
  g_autoptr (GError) error = NULL;
  FabGoodputAnswer *answer = fab_goodput_answer (self->play->scenario, &self->result, &fab_models, n_trials,
                                                 &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

/* --- changes --- */

/* What one change makes of the rules, whose rates are its own. */
typedef struct {
  const char *name, *key; /* key NULL: none */
  void (*change) (FabReliability *rules, FabFailureRate *rates);
} Change;

static void
detect_sooner (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->detection_s /= 2;
}

static void
restart_sooner (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->restart_s /= 2;
}

/* Of the four rates the first and the last stop the job. */
static void
fail_less (G_GNUC_UNUSED FabReliability *rules, FabFailureRate *rates)
{
  rates[0].per_s /= 2;
  rates[3].per_s /= 2;
}

static void
plan_nothing (G_GNUC_UNUSED FabReliability *rules, FabFailureRate *rates)
{
  rates[1].per_s = 0;
}

static void
have_a_spare (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->n_spares++;
}

static void
take_the_best (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->interval_s = 0;
}

static void
save_half_as_often (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->interval_s = 2 * fab_goodput_form (rules).interval_s;
}

static void
save_twice_as_often (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->interval_s = fab_goodput_form (rules).interval_s / 2;
}

static void
store_faster (FabReliability *rules, G_GNUC_UNUSED FabFailureRate *rates)
{
  rules->blocking_s /= 2;
  rules->background_s /= 2;
}

static const Change all_changes[] = {
  { "failures found in half the time", "reliability.detection", detect_sooner },
  { "restarts in half the time", "reliability.restart", restart_sooner },
  { "half as many failures", "reliability.rates", fail_less },
  { "no planned stops", NULL, plan_nothing },
  { "one spare node more", "reliability.spares", have_a_spare },
  { "checkpoints at the best interval", "job.checkpoint.every", take_the_best },
  { "checkpoints half as often", "job.checkpoint.every", save_half_as_often },
  { "checkpoints twice as often", "job.checkpoint.every", save_twice_as_often },
  { "storage twice as fast", "job.checkpoint.rate", store_faster },
};

static void
check_change (const FabGoodputChange *told, const Change *change, const FabGoodputCase *base)
{
  FabGoodputCase changed = *base;
  FabFailureRate rates[4];

  assert_in_range (base->rules.n_rates, 1, 4);
  for (guint i = 0; i < base->rules.n_rates; i++)
    rates[i] = base->rules.rates[i];
  changed.rules.rates = rates;
  change->change (&changed.rules, rates);
  FabGoodput expected = fab_goodput_of_case (&changed);
  assert_string_equal (told->name, change->name);
  assert_int_equal (g_strcmp0 (told->key, change->key), 0);
  assert_near (told->goodput.form.goodput_fraction, expected.form.goodput_fraction, 1e-12);
  assert_near (told->goodput.form.ettr_fraction, expected.form.ettr_fraction, 1e-12);
  assert_near (told->goodput.form.stops_per_s + 1, expected.form.stops_per_s + 1, 1e-12);
  assert_near (told->goodput.calendar_s, expected.calendar_s, 1e-12);
}

/* Every change is a better one, but for a checkpoint that is written more or less often than the best. */
static void
each_change_is_one_of_the_rules (G_GNUC_UNUSED void **state)
{
  g_auto (Played) self = played (FULL);
  g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 0);

  assert_true (self.result.failures->rules.background_s > 0 && self.result.failures->rules.interval_s > 0);
  assert_int_equal (answer->changes->len, G_N_ELEMENTS (all_changes));
  for (guint i = 0; i < answer->changes->len; i++) {
    const FabGoodputChange *told = &g_array_index (answer->changes, FabGoodputChange, i);

    check_change (told, &all_changes[i], self.result.failures);
    assert_true (told->goodput.form.goodput_fraction != self.result.goodput.form.goodput_fraction);
    if (i < 6)
      assert_true (told->goodput.form.goodput_fraction > self.result.goodput.form.goodput_fraction);
  }
  assert_int_equal (answer->trials.n_trials, 0);
}

/* A spare is of use where a node is away, the best interval is a change where another one is given, and where nothing
 * stops the job no interval is. */
static void
changes_that_are_none_are_left_out (G_GNUC_UNUSED void **state)
{
  static const guint best[] = { 0, 1, 2, 3, 6, 7, 8 };
  g_auto (Played) self = played (BEST), never = played (NEVER);
  g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 0), of_never = answer_of (&never, 0);

  assert_int_equal (answer->changes->len, G_N_ELEMENTS (best));
  for (guint i = 0; i < G_N_ELEMENTS (best); i++)
    check_change (&g_array_index (answer->changes, FabGoodputChange, i), &all_changes[best[i]],
                  self.result.failures);
  assert_int_equal (of_never->changes->len, 4);
  for (guint i = 0; i < 4; i++)
    assert_string_equal (g_array_index (of_never->changes, FabGoodputChange, i).name, all_changes[i].name);
}

/* --- sets, intervals, spares --- */

/* The rates of others, with the times of this scenario. */
static void
sets_are_those_of_the_catalogue (G_GNUC_UNUSED void **state)
{
  g_auto (Played) self = played (FULL);
  g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 0);
  const FabCatalog *known = fab_scenario_catalog (self.play->scenario);
  g_autofree const char **names = fab_catalog_names (known, FAB_SECTION_FAILURES);

  assert_true (answer->sets->len > 4);
  for (guint i = 0; i < answer->sets->len; i++) {
    const FabGoodputChange *told = &g_array_index (answer->sets, FabGoodputChange, i);
    g_autoptr (FabScenario) other = fab_scenario_copy (self.play->scenario);
    FabGoodput expected = { 0 };

    assert_string_equal (told->name, names[i]);
    assert_string_equal (told->key, "reliability.failures");
    assert_true (fab_scenario_set (other, "reliability.failures", fab_value_text (names[i]), NULL)
                 && fab_scenario_check (other, NULL));
    assert_true (fab_goodput_of (other, self.result.simulation, &fab_models, &expected, NULL));
    assert_near (told->goodput.form.goodput_fraction, expected.form.goodput_fraction, 1e-12);
    assert_near (told->goodput.calendar_s, expected.calendar_s, 1e-12);
  }
  assert_null (names[answer->sets->len]);
}

/* The slow NIC of a set is played, and a play that fails is a mistake. */
static void
a_set_that_cannot_be_played_is_a_mistake (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", FULL, strlen (FULL), NULL, failing_models (),
                                                         catalog, NULL);
  const FabRunRequest request = { .registry = failing_models () };
  g_autoptr (GError) error = NULL;
  FabRunResult result;

  failing_at (0, FAB_ERROR_BROKEN);
  assert_true (fab_run_play (scenario, NULL, &request, &result, NULL));
  failing_at (1, FAB_ERROR_BROKEN);
  assert_null (fab_goodput_answer (scenario, &result, failing_models (), 0, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN));
  fab_run_result_clear (&result);
}

static void
intervals_and_spares_are_those_of_the_rules (G_GNUC_UNUSED void **state)
{
  g_auto (Played) self = played (FULL);
  g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 0);
  FabReliability rules = self.result.failures->rules;
  double per_s = self.result.goodput.form.stops_per_s;

  assert_near (answer->young_interval_s, sqrt (2 * rules.blocking_s / per_s), 1e-9);
  assert_near (answer->daly_interval_s, fab_goodput_daly_interval (per_s, rules.blocking_s), 1e-12);
  rules.interval_s = 0;
  assert_near (answer->best_interval_s, fab_goodput_form (&rules).interval_s, 1e-12);
  assert_true (answer->best_interval_s != self.result.failures->rules.interval_s);
  /* With as many it waits for a thousandth of the time at most, and with one less it waits longer. */
  assert_true (answer->fewest_spares > 0 && answer->fewest_spares < 16);
  rules.n_spares = answer->fewest_spares;
  assert_true (fab_goodput_form (&rules).shares.waiting <= 1e-3);
  rules.n_spares--;
  assert_true (fab_goodput_form (&rules).shares.waiting > 1e-3);
}

/* --- trials --- */

static void
trials_are_played_with_the_seed (G_GNUC_UNUSED void **state)
{
  g_auto (Played) self = played (FULL "seed: 7\n");
  g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 1);
  const FabGoodputCase *base = self.result.failures;
  FabFailureTrials expected = fab_failure_trials_play (&base->rules, self.result.goodput.form.interval_s,
                                                       fab_goodput_case_work_s (base), 7, 1);

  assert_int_equal (answer->trials.n_trials, 1);
  assert_near (answer->trials.mean_wall_s, expected.mean_wall_s, 1e-12);
  assert_near (answer->trials.mean_goodput_fraction, expected.mean_goodput_fraction, 1e-12);
}

/* A job of whose time a hundredth is useful may never end. */
static void
hopeless_jobs_are_not_played (G_GNUC_UNUSED void **state)
{
  static const struct {
    double goodput_fraction;
    guint n_trials;
  } cases[] = { { 0.01, 0 }, { 0.011, 1 }, { 0.005, 0 } };
  g_auto (Played) self = played (BEST);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    self.result.goodput.form.goodput_fraction = cases[i].goodput_fraction;
    g_autoptr (FabGoodputAnswer) answer = answer_of (&self, 1);
    assert_int_equal (answer->trials.n_trials, cases[i].n_trials);
  }
}

/* --- the band --- */

/* Of two steps the second counts: 4 s, whose band is 3 to 6 s. */
static void
the_band_is_that_of_the_last_step (G_GNUC_UNUSED void **state)
{
  FabStepRecord steps[] = { { .times = { .duration_ps = 2000000000000 } },
                            { .times = { .duration_ps = 4000000000000 } } };
  double low[] = { 1, 3, 0, 0 }, high[] = { 7, 6, 0, 0 };
  FabBand band = { .n = 4, .low = low, .high = high };
  FabRunResult result = { .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)), .band = &band };

  g_array_append_vals (result.steps, steps, G_N_ELEMENTS (steps));
  assert_near (fab_run_goodput_band (&result).low, 0.75, 1e-12);
  assert_near (fab_run_goodput_band (&result).high, 1.5, 1e-12);
  result.band = NULL;
  assert_near (fab_run_goodput_band (&result).low, 1, 0);
  assert_near (fab_run_goodput_band (&result).high, 1, 0);
  result.band = &band;
  g_array_index (result.steps, FabStepRecord, 1).times.duration_ps = 0; /* a share of nothing */
  assert_near (fab_run_goodput_band (&result).low, 1, 0);
  assert_near (fab_run_goodput_band (&result).high, 1, 0);
  g_array_unref (result.steps);
  fab_goodput_answer_free (NULL); /* there is none to free */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_change_is_one_of_the_rules),
    cmocka_unit_test (changes_that_are_none_are_left_out),
    cmocka_unit_test (sets_are_those_of_the_catalogue),
    cmocka_unit_test (a_set_that_cannot_be_played_is_a_mistake),
    cmocka_unit_test (intervals_and_spares_are_those_of_the_rules),
    cmocka_unit_test (trials_are_played_with_the_seed),
    cmocka_unit_test (hopeless_jobs_are_not_played),
    cmocka_unit_test (the_band_is_that_of_the_last_step),
  };

  return play_run_tests ("goodput_answer", tests, &catalog);
}
