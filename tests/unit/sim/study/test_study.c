/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c - edits of a study and of its variants, seeds, and what is told of variants that cannot be. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/study/study.h"
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
  g_autoptr (GError) error = NULL;

  assert_true (g_file_set_contents (path, first, -1, NULL));
  g_autoptr (FabStudy) study = fab_study_new (path, sets, catalog, &fab_models, &error);
  assert_non_null (study);
  study->n_threads = 1;
  study->n_seeds = 3;
  study->allows_oversized = TRUE;
  study->hold = FAB_HOLD_BATCH;
  assert_true (g_file_set_contents (path, second, -1, NULL));
  g_autoptr (FabStudy) again = fab_study_again (study, &error);
  assert_int_equal (again->n_seeds, 3);
  assert_int_equal (again->n_threads, 1);
  assert_true (again->allows_oversized);
  assert_int_equal (again->hold, FAB_HOLD_BATCH);
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
  };

  return play_run_tests ("study", tests, &catalog);
}
