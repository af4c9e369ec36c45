/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c - edits of a study and of its variants, seeds, and what is told of variants that cannot be. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/study/change.h"
#include "sim/study/goodput.h"
#include "sim/study/memory_advice.h"
#include "sim/study/plan.h"
#include "sim/study/scaling.h"
#include "sim/study/size.h"
#include "sim/study/study.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_record.h"
#include "sim/study/upgrade.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define ALONE(micro_batch_)                                                          \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"  \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: " micro_batch_ ", sequence: 1024, " \
  "compute: {kind: mfu, mfu: 40%%}}\n"

static const char jittery[] =
    "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, jitter: {cv: 5%},\n"
    "  compute: {kind: mfu, mfu: 40%}}\n";

static FabStudy *
study_of (const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabStudy *study = fab_study_of ("a", play->scenario, catalog, &fab_models);

  study->n_threads = 1;
  return study;
}

static FabStudy *
usual (void)
{
  g_autofree char *yaml = g_strdup_printf (ALONE ("1"));

  return study_of (yaml);
}

static double
step_of (const FabStudy *study, const char *assignment)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ assignment, NULL });
  FabTry trial = { .edits = assignment != NULL ? edits : NULL };
  double step_s;

  fab_try_play (study, &trial);
  if (trial.point == NULL)
    fail_msg ("%s", trial.problem);
  step_s = trial.point->step_s;
  fab_try_clear (&trial);
  return step_s;
}

static FabEdits *
edit (const char *assignment)
{
  return fab_edits_of ((const char *[]){ assignment, NULL });
}

/* A study with an edit is that of the variant with it, and the study it was made of stays. */
static void
edits_of_a_study_are_under_those_of_variants (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabEdits) four = edit ("job.micro_batch=4"), eight = edit ("job.micro_batch=8");
  g_autoptr (FabStudy) edited = fab_study_edited (study, four), twice = fab_study_edited (edited, eight);
  double one_s = step_of (study, NULL), four_s = step_of (study, "job.micro_batch=4"),
         eight_s = step_of (study, "job.micro_batch=8");

  assert_true (one_s < four_s && four_s < eight_s);
  assert_near (step_of (edited, NULL), four_s, 0);
  assert_near (step_of (edited, "job.sequence=1024"), four_s, 0);
  assert_near (step_of (edited, "job.micro_batch=8"), eight_s, 0);
  assert_near (step_of (twice, NULL), eight_s, 0);
  assert_near (step_of (study, NULL), one_s, 0);
  assert_int_equal (fab_edits_count (twice->edits), 2);
  assert_int_equal (edited->batch.n_gpus, 1);
  assert_int_equal (edited->batch.micro_batch, 4);
  g_autoptr (FabPoint) point = fab_study_point (edited, NULL);
  assert_near (point->step_s, four_s, 0);
}

/* What the study itself sets is not to be varied: each variant would undo it. */
static void
what_is_set_cannot_be_varied (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabEdits) four = edit ("job.micro_batch=4");
  g_autoptr (FabStudy) edited = fab_study_edited (study, four);
  g_autoptr (GError) error = NULL;

  g_autoptr (FabAxis) batches = fab_axis_parse ("job.micro_batch=1,2", NULL),
                      sequences = fab_axis_parse ("job.sequence=256", NULL);
  assert_true (fab_study_check_vary (study, batches, NULL));
  assert_true (fab_study_check_vary (edited, sequences, NULL));
  assert_false (fab_study_check_vary (edited, batches, &error));
  assert_non_null (strstr (error->message, "--vary job.micro_batch undoes --set job.micro_batch=4"));
}

/* A rate without a unit is a mistake and not a variant: the first rate that is enough may be among them. Steps and
 * times are both intervals of checkpoints. */
static void
what_has_no_unit_is_not_varied (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *axis, *problem;
  } cases[] = {
    { "cluster.nic_rate=200,400Gb/s", "--vary cluster.nic_rate: '200' has no unit; write for example" },
    { "job.bucket=25MiB,1x", "--vary job.bucket: " },
    { "cluster.nic_rate=200..400Gb/s:100", NULL },
    { "cluster.nodes=1,two", NULL },
    { "job.checkpoint.every=500,30min", NULL },
  };
  g_autoptr (FabStudy) study = usual ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabAxis) axis = fab_axis_parse (cases[i].axis, NULL);
    g_autoptr (GError) error = NULL;

    assert_true (fab_study_check_vary (study, axis, &error) == (cases[i].problem == NULL));
    assert_true (cases[i].problem == NULL || g_str_has_prefix (error->message, cases[i].problem));
  }
}

/* The file as it is now, with the same edits and the same wishes. */
static void
a_study_again_reads_the_file_again (G_GNUC_UNUSED void **state)
{
  g_autofree char *folder = g_dir_make_tmp ("study-XXXXXX", NULL),
                  *path = g_build_filename (folder, "a.yaml", NULL), *first = g_strdup_printf (ALONE ("1")),
                  *second = g_strdup_printf (ALONE ("2"));
  const char *const sets[] = { "job.accumulation=2", NULL };
  const gint cancel = 0;
  FabPulse pulse = { 0 };
  g_autoptr (GError) error = NULL;

  assert_true (g_file_set_contents (path, first, -1, NULL));
  g_autoptr (FabStudy) study = fab_study_new (path, sets, catalog, &fab_models, &error);
  assert_non_null (study);
  study->n_threads = 1;
  study->n_seeds = 3;
  study->allows_oversized = TRUE;
  study->hold = FAB_HOLD_BATCH;
  study->held_for = fab_figure_find ("days");
  study->cancel = &cancel;
  study->pulse = &pulse;
  assert_true (g_file_set_contents (path, second, -1, NULL));
  g_autoptr (FabStudy) again = fab_study_again (study, &error);
  assert_int_equal (again->n_seeds, 3);
  assert_int_equal (again->n_threads, 1);
  assert_true (again->allows_oversized);
  assert_int_equal (again->hold, FAB_HOLD_BATCH);
  assert_ptr_equal (again->held_for, study->held_for);
  assert_ptr_equal (again->cancel, &cancel);
  assert_ptr_equal (again->pulse, &pulse);
  assert_int_equal (fab_edits_count (again->edits), 1);
  assert_int_equal (again->batch.accumulation, 2);
  assert_int_equal (study->batch.micro_batch, 1);
  assert_int_equal (again->batch.micro_batch, 2);
  g_remove (path);
  assert_null (fab_study_again (study, &error));
  assert_non_null (error);
  g_rmdir (folder);
}

/* One seed where nothing is drawn, where a variant sets it, and of what was not played; else as many as are usual, or
 * as somebody says. */
static void
seeds_are_played_where_they_matter (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (jittery), even = usual ();
  g_autoptr (FabEdits) seed = edit ("seed=7"), other = edit ("job.micro_batch=2");
  g_autoptr (FabPoint) drawn = fab_study_point (study, NULL), alike = fab_study_point (even, NULL);
  FabPoint unplayed = { .step_s = 0 };

  assert_int_equal (fab_study_n_draws (even, NULL, alike), 1);
  assert_int_equal (fab_study_n_draws (study, NULL, drawn), FAB_DRAWS);
  assert_int_equal (fab_study_n_draws (study, other, drawn), FAB_DRAWS);
  assert_int_equal (fab_study_n_draws (study, seed, drawn), 1);
  g_autoptr (FabEdits) typed = fab_edits_new (), batch = fab_edits_new ();
  fab_edits_set (batch, "job.micro_batch", fab_value_count (2));
  fab_edits_set (typed, "seed", fab_value_count (7));
  assert_int_equal (fab_study_n_draws (study, batch, drawn), FAB_DRAWS);
  assert_int_equal (fab_study_n_draws (study, typed, drawn), 1);
  assert_int_equal (fab_study_n_draws (study, NULL, &unplayed), 1);
  assert_int_equal (fab_study_n_draws (study, NULL, NULL), 1);
  study->n_seeds = 2;
  assert_int_equal (fab_study_n_draws (study, seed, drawn), 2);
}

/* The second draw is the scenario's own seed and one more; the first is the scenario. */
static void
draws_have_seeds_from_the_scenarios_on (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (jittery);
  g_autoptr (FabEdits) seed = edit ("seed=2");

  study->n_seeds = 1;
  for (guint index = 0; index < 2; index++) {
    g_autoptr (FabScenario) draw = fab_study_draw (study, NULL, index, NULL),
                            set = fab_study_draw (study, seed, index, NULL);

    assert_int_equal (fab_scenario_spec (draw)->seed, 1 + index);
    assert_int_equal (fab_scenario_spec (set)->seed, 2 + index);
  }
}

/* All tries of a study end, whatever is wrong with some of them; what was played is not played again. */
static void
every_try_has_an_answer (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabEdits) good = edit ("job.micro_batch=2"), bad = edit ("job.micro_batch=none");
  FabTry tries[] = { { .edits = good }, { .edits = bad }, { .edits = NULL } };
  FabTry *all[] = { &tries[0], &tries[1], &tries[2] };
  g_autoptr (GError) error = NULL;

  for (guint round = 0; round < 2; round++) {
    const FabPoint *before = tries[0].point;

    assert_true (fab_study_play (study, all, G_N_ELEMENTS (all), &error));
    assert_true (tries[0].point != NULL && tries[0].problem == NULL);
    assert_true (round == 0 || tries[0].point == before);
    assert_true (tries[1].point == NULL && strstr (tries[1].problem, "micro_batch") != NULL);
    assert_true (tries[2].point != NULL && tries[2].point->step_s < tries[0].point->step_s);
  }
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    fab_try_clear (&tries[i]);
}

/* A step that must take longer than the limit is not played to its end: it has memory and no times. */
static void
a_step_beyond_the_limit_has_no_times (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  double step_s = step_of (study, NULL);
  FabTry slow = { .edits = NULL }, quick = { .edits = NULL }, weighed = { .edits = NULL };

  study->n_seeds = 1;
  fab_try_play_within (study, &slow, 0.5 * step_s);
  fab_try_play_within (study, &quick, 2 * step_s);
  fab_try_weigh (study, &weighed);
  assert_near (slow.point->step_s, 0, 0);
  assert_near (quick.point->step_s, step_s, 0);
  assert_near (weighed.point->step_s, 0, 0);
  assert_int_equal (slow.point->memory_bytes, quick.point->memory_bytes);
  assert_int_equal (weighed.point->memory_bytes, quick.point->memory_bytes);
  fab_try_clear (&slow);
  fab_try_clear (&quick);
  fab_try_clear (&weighed);
}

/* A variant that does not fit is recommended only where a person allows it. */
static void
what_does_not_fit_is_not_accepted (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabPoint) small = fab_study_point (study, NULL);
  g_autoptr (FabEdits) much = edit ("job.micro_batch=100");
  FabTry large = { .edits = much };

  fab_try_weigh (study, &large);
  assert_true (fab_study_accepts (study, small));
  assert_false (fab_study_accepts (study, large.point));
  assert_false (fab_study_accepts (study, NULL));
  study->allows_oversized = TRUE;
  assert_true (fab_study_accepts (study, large.point));
  fab_try_clear (&large);
}

/* A variant with eight seeds is eight plays, and one that cannot be is a single one, for which all that were announced
 * count as done. A try by itself announces what the first play shows to be needed. */
static void
every_play_is_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_seeds;
    gint n_done;
    guint n_draws;
  } rows[] = { { FAB_SPREAD_AUTO, FAB_DRAWS + 1, FAB_DRAWS }, { 3, 3 + 3, 3 }, { 1, 1 + 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabStudy) study = study_of (jittery);
    g_autoptr (FabEdits) bad = edit ("job.micro_batch=none");
    FabTry good = { .edits = NULL }, wrong = { .edits = bad }, alone = { .edits = NULL };
    FabPulse pulse = { 0 };

    study->n_seeds = rows[i].n_seeds;
    study->pulse = &pulse;
    assert_true (fab_study_play (study, (FabTry *[]){ &good, &wrong }, 2, NULL));
    assert_int_equal (pulse.n_known, rows[i].n_done);
    assert_int_equal (pulse.n_done, rows[i].n_done);
    pulse = (FabPulse){ 0 };
    fab_try_play (study, &alone);
    assert_int_equal (pulse.n_done, rows[i].n_draws);
    assert_int_equal (pulse.n_known, rows[i].n_draws - 1);
    assert_int_equal (good.point->draws != NULL ? good.point->draws->len : 1, rows[i].n_draws);
    assert_near (alone.point->step_s, good.point->step_s, 0);
    fab_try_play (study, &alone);
    fab_try_weigh (study, &alone);
    assert_int_equal (pulse.n_done, rows[i].n_draws); /* it has its point */
    fab_try_clear (&good);
    fab_try_clear (&wrong);
    fab_try_clear (&alone);
  }
}

/* The largest seed has no next one: of several draws the second cannot be, and says which it is. */
static void
the_draw_that_cannot_be_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (jittery);
  g_autoptr (FabEdits) last = edit ("seed=9223372036854775807");
  FabTry several = { .edits = last }, single = { .edits = last };

  study->n_seeds = 3;
  fab_try_play (study, &several);
  assert_null (several.point);
  assert_true (g_str_has_prefix (several.problem, "with seed 2 of 3: 2 seeds are too many from seed "));
  assert_int_equal (several.problem_code, FAB_ERROR_INPUT);
  study->n_seeds = 1;
  fab_try_play (study, &single);
  assert_non_null (single.point);
  fab_try_clear (&several);
  fab_try_clear (&single);
}

/* What is wrong with a variant is said in the same words, played or weighed; of a study, it is its error. */
static void
a_problem_is_said_in_the_same_words (G_GNUC_UNUSED void **state)
{
  static const gint cancelled = 1;
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabEdits) bad = edit ("job.micro_batch=none"), good = edit ("job.micro_batch=2");
  g_autoptr (FabStudy) wrong = fab_study_edited (study, bad), mended = fab_study_edited (wrong, good);
  FabTry played = { .edits = bad }, weighed = { .edits = bad }, stopped = { .edits = NULL };
  g_autoptr (GError) error = NULL, stop = NULL;

  fab_try_play (study, &played);
  fab_try_weigh (study, &weighed);
  assert_null (fab_study_point (wrong, &error));
  assert_string_equal (played.problem, error->message);
  assert_string_equal (weighed.problem, error->message);
  assert_int_equal (played.problem_code, FAB_ERROR_INPUT);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_int_equal (wrong->batch.n_gpus, 0);
  assert_int_equal (mended->batch.micro_batch, 2);
  study->cancel = &cancelled;
  assert_null (fab_study_point (study, &stop));
  assert_true (g_error_matches (stop, FAB_ERROR, FAB_ERROR_CANCELLED));
  fab_try_play (study, &stopped);
  assert_true (stopped.point == NULL && stopped.problem == NULL);
  assert_true (g_error_matches (stopped.trouble, FAB_ERROR, FAB_ERROR_CANCELLED));
  fab_try_clear (&played);
  fab_try_clear (&weighed);
  fab_try_clear (&stopped);
  assert_true (stopped.trouble == NULL && played.problem == NULL);
}

/* The limit is for the last step; a job that draws is played to its end, because another seed may be within it. */
static void
a_job_that_draws_has_no_limit (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (jittery);
  FabTry within = { .edits = NULL }, whole = { .edits = NULL };

  study->n_seeds = 1;
  fab_try_play (study, &whole);
  fab_try_play_within (study, &within, 0.5 * whole.point->step_s);
  assert_true (whole.point->step_s > 0);
  assert_near (within.point->step_s, whole.point->step_s, 0);
  fab_try_clear (&within);
  fab_try_clear (&whole);
}

/* One rank of two sequences: what is left and what is weighed has the size of the job, as what was played has. */
static void
what_is_not_played_has_its_size (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = usual ();
  g_autoptr (FabEdits) two = edit ("job.micro_batch=2");
  FabTry tries[] = { { .edits = two }, { .edits = two }, { .edits = two } };

  fab_try_play (study, &tries[0]);
  fab_try_play_within (study, &tries[1], 1e-9);
  fab_try_weigh (study, &tries[2]);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++) {
    const FabPoint *point = tries[i].point, *whole = tries[0].point;

    assert_int_equal (point->step_s > 0, i == 0);
    assert_int_equal (point->global_batch, 2);
    assert_int_equal (point->n_ranks, 1);
    assert_int_equal (point->n_nodes, 1);
    assert_true (point->memory_bytes > 0 && point->memory_bytes == whole->memory_bytes);
    assert_int_equal (point->memory_max_bytes, whole->memory_max_bytes);
  }
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    fab_try_clear (&tries[i]);
}

/* As where what was asked for is not there. */
static void
nothing_need_not_be_there_to_be_freed (G_GNUC_UNUSED void **state)
{
  fab_axis_free (NULL);
  fab_grid_free (NULL);
  fab_change_free (NULL);
  fab_goodput_case_free (NULL);
  fab_remedy_free (NULL);
  fab_memory_advice_free (NULL);
  fab_candidate_free (NULL);
  fab_plan_free (NULL);
  fab_point_free (NULL);
  fab_scaling_free (NULL);
  fab_size_free (NULL);
  fab_study_free (NULL);
  fab_sweep_plan_free (NULL);
  fab_sweep_record_free (NULL);
  fab_knob_free (NULL);
  fab_tune_free (NULL);
  fab_upgrades_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (edits_of_a_study_are_under_those_of_variants),
    cmocka_unit_test (what_is_set_cannot_be_varied),
    cmocka_unit_test (what_has_no_unit_is_not_varied),
    cmocka_unit_test (a_study_again_reads_the_file_again),
    cmocka_unit_test (seeds_are_played_where_they_matter),
    cmocka_unit_test (draws_have_seeds_from_the_scenarios_on),
    cmocka_unit_test (every_try_has_an_answer),
    cmocka_unit_test (a_step_beyond_the_limit_has_no_times),
    cmocka_unit_test (what_does_not_fit_is_not_accepted),
    cmocka_unit_test (every_play_is_counted),
    cmocka_unit_test (the_draw_that_cannot_be_is_named),
    cmocka_unit_test (a_problem_is_said_in_the_same_words),
    cmocka_unit_test (a_job_that_draws_has_no_limit),
    cmocka_unit_test (what_is_not_played_has_its_size),
    cmocka_unit_test (nothing_need_not_be_there_to_be_freed),
  };

  return play_run_tests ("study", tests, &catalog);
}
