/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_answers.c - what the answers of `tune`, `size` and `scale` add to their searches: what the best values
 * gain, the values around them that are as good, ports, neighbours, and the rows of their tables.
 *
 * GPT-2 XL on two GPUs: the more sequences a micro-batch has, the more tokens a second. Two of them need 34.3 GB of
 * memory, and three 37 GB.
 */
#include "tests/support/test.h"

#include "answer/study/choices.h"
#include "answer/study/hold.h"
#include "answer/study/scale.h"
#include "answer/study/size.h"
#include "answer/study/tune.h"
#include "tests/support/knobs.h"
#include "tests/support/play.h"

#define CLUSTER "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
#define JOB "kind: ddp, model: gpt2-xl, sequence: 1024, compute: {kind: mfu, mfu: 40%}"

static const char two[] = CLUSTER "job: {micro_batch: 2, " JOB "}\n",
                  three[] = CLUSTER "job: {micro_batch: 3, " JOB "}\n",
                  noisy[] = CLUSTER "seed: 4\njob: {micro_batch: 2, jitter: {cv: 2%}, " JOB "}\n",
                  apart[] = "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n"
                            "job: {micro_batch: 1, jitter: {cv: 1%}, kind: ddp, model: gpt2, sequence: 1024, "
                            "compute: {kind: mfu, mfu: 40%}}\n",
                  unfit[] = CLUSTER "job: {micro_batch: 1, kind: ddp, model: llama2-7b, sequence: 1024, "
                                    "compute: {kind: mfu, mfu: 40%}}\n",
                  large[] = CLUSTER "job: {kind: zero, stage: 3, micro_batch: 1, model: llama2-7b, "
                                    "sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n";

static FabCatalog *catalog;

/* --- tune --- */

static const char *const batches[] = { "1", "2", "3", NULL };
static const char *const buckets[] = { "1MiB", "25MiB", "100MiB", NULL };
static const char *const seeds[] = { "1", "2", "3", "4", "5", NULL };

static FabTuneAnswer *
tuned (const FabStudy *study, const GPtrArray *knobs, FabBytes most_bytes)
{
  g_autoptr (GError) error = NULL;
  FabTuneAnswer *answer = fab_tune_answer (study, knobs, fab_figure_find ("tokens"), most_bytes, &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

/* Three sequences are 2 % better than two. Without them a larger bucket is 0.6 % better. As written, three may not fit;
 * nothing fits into a gigabyte. Seeds differ, and none is better than another. */
static void
what_the_best_values_gain (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml, *key;
    const char *const *values;
    guint written, n_seeds;
    FabBytes most_bytes;
    FabTuneGain gain;
  } cases[] = {
    { two, "job.micro_batch", batches, 1, 1, 0, FAB_TUNE_GAINS },
    { two, "job.micro_batch", batches, 1, 1, 35000000000, FAB_TUNE_IS_WRITTEN },
    { two, "job.bucket", buckets, 1, 1, 35000000000, FAB_TUNE_HARDLY_MATTERS },
    { three, "job.micro_batch", batches, 2, 1, 35000000000, FAB_TUNE_NOW_FITS },
    { two, "job.micro_batch", batches, 1, 1, 1000000000, FAB_TUNE_NO_BEST },
    { noisy, "seed", seeds, 3, 8, 0, FAB_TUNE_WITHIN_SPREAD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabStudy) study = play_study (catalog, cases[i].yaml);
    g_autoptr (GPtrArray) knobs = knobs_new ();

    study->n_seeds = cases[i].n_seeds;
    g_ptr_array_add (knobs, knob_of_key ("knob", cases[i].key, cases[i].values, cases[i].written));
    g_autoptr (FabTuneAnswer) answer = tuned (study, knobs, cases[i].most_bytes);
    const FabTunePoint *written = answer->tune->written, *best = answer->tune->best;
    gboolean is_compared = cases[i].gain >= FAB_TUNE_WITHIN_SPREAD;

    assert_int_equal (answer->gain, cases[i].gain);
    assert_int_equal (answer->flats->len, best != NULL ? 1 : 0);
    assert_non_null (written->trial.point->bottleneck);
    assert_true (best == NULL || best->trial.point->bottleneck != NULL);
    assert_int_equal (answer->gain_band.change.n, is_compared ? cases[i].n_seeds : 0);
    if (is_compared && cases[i].n_seeds == 1) {
      assert_near (answer->gain_band.change.median,
                   best->trial.point->step_s / written->trial.point->step_s - 1, 1e-9);
      assert_true (answer->gain_band.low_fraction < answer->gain_band.high_fraction);
    }
  }
}

/* Of each knob the values around the best one that lose no more than 1 %, one by one. A value that does not fit ends
 * them, and so does one that is worse. */
static void
values_around_the_best_are_flat (G_GNUC_UNUSED void **state)
{
  static const FabBytes most_bytes[] = { 0, 35000000000 };
  static const guint expected[2][2][2] = { { { 2, 2 }, { 0, 2 } }, { { 1, 1 }, { 0, 2 } } };
  g_autoptr (FabStudy) study = play_study (catalog, two);
  g_autoptr (GPtrArray) knobs = knobs_new ();

  g_ptr_array_add (knobs, knob_of_key ("micro_batch", "job.micro_batch", batches, 1));
  g_ptr_array_add (knobs, knob_of_key ("bucket", "job.bucket", buckets, 1));
  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabTuneAnswer) answer = tuned (study, knobs, most_bytes[i]);
    g_autoptr (FabPoints) points = fab_tune_points (answer);
    const FabTune *tune = answer->tune;
    g_autofree char *name = fab_tune_point_name (tune, tune->best);

    for (guint k = 0; k < 2; k++) {
      assert_int_equal (g_array_index (answer->flats, FabTuneFlat, k).first, expected[i][k][0]);
      assert_int_equal (g_array_index (answer->flats, FabTuneFlat, k).last, expected[i][k][1]);
    }
    assert_string_equal (name, i == 0 ? "micro_batch 3, bucket 100MiB" : "micro_batch 2, bucket 100MiB");
    assert_string_equal (points->columns[0], "micro_batch");
    assert_string_equal (points->columns[1], "bucket");
    assert_string_equal (points->columns[2], "state");
    assert_null (points->columns[3]);
    assert_int_equal (points->n_shown, 3);
    assert_int_equal (points->n_numbers, 0);
    assert_null (points->hold);
    assert_int_equal (points->rows->len, 9);
    for (guint r = 0; r < 9; r++) {
      const FabTunePoint *point = g_ptr_array_index (tune->points, r);
      const FabPointsRow *row = fab_points_row (points, r);

      assert_string_equal (row->labels[0], batches[point->values[0]]);
      assert_string_equal (row->labels[1], buckets[point->values[1]]);
      assert_string_equal (row->labels[2], point == tune->best               ? "best"
                                           : i == 1 && point->values[0] == 2 ? "too large"
                                                                             : "fits");
      assert_ptr_equal (row->point, point->trial.point);
    }
  }
}

/* A micro-batch below none cannot be played. */
static void
what_cannot_be_played_is_impossible (G_GNUC_UNUSED void **state)
{
  static const char *const values[] = { "2", "-1", NULL };
  g_autoptr (FabStudy) study = play_study (catalog, two);
  g_autoptr (GPtrArray) knobs = knobs_new ();

  g_ptr_array_add (knobs, knob_of_key ("micro_batch", "job.micro_batch", values, 0));
  g_autoptr (FabTuneAnswer) answer = tuned (study, knobs, 0);
  g_autoptr (FabPoints) points = fab_tune_points (answer);

  for (guint r = 0; r < 2; r++) {
    const FabPointsRow *row = fab_points_row (points, r);
    gboolean is_written = strcmp (row->labels[0], "2") == 0;

    assert_string_equal (row->labels[1], is_written ? "best" : "impossible");
    assert_int_equal (row->problem != NULL, !is_written);
  }
}

/* Of a step of 2 s: 2.5 s lose a quarter. Of 200 tokens a second: 150 do. Nothing loses anything against 0, and what is
 * better by a rounding loses nothing. */
static void
losses_are_shares_of_the_best (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *figure;
    double best, value, loss;
  } cases[] = {
    { "step", 2, 2.5, 0.25 },     { "step", 2, 2, 0 },         { "step", 2, 1.999, 0 }, { "step", 0, 3, 0 },
    { "tokens", 200, 150, 0.25 }, { "tokens", 200, 200.1, 0 }, { "tokens", 0, 5, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabPoint best = { .step_s = cases[i].best, .tokens_per_s = cases[i].best },
             other = { .step_s = cases[i].value, .tokens_per_s = cases[i].value };
    const FabTunePoint one = { .trial = { .point = &best } }, two_of = { .trial = { .point = &other } };
    const FabTune tune = { .by = fab_figure_find (cases[i].figure), .best = &one };

    assert_near (fab_tune_loss (&tune, &two_of), cases[i].loss, 1e-12);
    assert_near (fab_tune_loss (&tune, &one), 0, 0);
  }
}

/* --- size --- */

static FabSizeAnswer *
sized (const FabStudy *study, const FabAxis *axis, const FabTarget *targets, guint n_targets)
{
  g_autoptr (GError) error = NULL;
  FabSizeAnswer *answer = fab_size_answer (study, &(FabSizeSpec){ axis, targets, n_targets }, &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

static FabTarget
target_of (const char *text)
{
  FabTarget target;

  assert_true (fab_target_parse (text, &target, NULL));
  return target;
}

/* Values that were tried are rows, and pairs with the next one. Of forty not all are tried, and a pair tells where some
 * lie between. A value that cannot be is a row of its own, and no pair has it. */
static void
tried_values_are_rows_and_pairs (G_GNUC_UNUSED void **state)
{
  static const char *const axes[] = { "job.micro_batch=1..40", "job.micro_batch=1,-1,2,3,4" };
  static const gint64 answers[] = { 3, 4 };
  const FabTarget target = target_of ("tokens>=23520");
  g_autoptr (FabStudy) study = play_study (catalog, two);

  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabAxis) axis = fab_axis_parse (axes[i], NULL);
    g_autoptr (FabSizeAnswer) answer = sized (study, axis, &target, 1);
    g_autoptr (FabPoints) points = fab_size_points (answer, FALSE);
    const FabSize *size = answer->size;
    gint64 last = -1;
    guint row = 0, n_pairs = 0, n_apart = 0;

    assert_int_equal (size->answer, answers[i]);
    assert_null (answer->ports);
    assert_ptr_equal (answer->hold, fab_hold_of (study));
    assert_ptr_equal (points->hold, answer->hold);
    for (guint k = 0; k < size->n; k++) {
      const FabTry *trial = &size->points[k].trial;

      if (trial->point == NULL && trial->problem == NULL)
        continue;
      const FabPointsRow *told = fab_points_row (points, row++);
      assert_string_equal (told->labels[0], size->points[k].value);
      assert_string_equal (told->labels[1],
                           trial->point != NULL && trial->point->tokens_per_s >= 23520 ? "yes" : "no");
      assert_true (g_strcmp0 (told->mark, k == size->answer ? "<" : NULL) == 0);
      assert_ptr_equal (told->point, trial->point);
      assert_ptr_equal (told->problem, trial->problem);
      if (trial->point == NULL)
        continue;
      if (last >= 0) {
        const FabChoicePair *pair = &g_array_index (answer->pairs, FabChoicePair, n_pairs++);

        assert_string_equal (pair->key, "job.micro_batch");
        assert_string_equal (pair->before_value, size->points[last].value);
        assert_string_equal (pair->after_value, size->points[k].value);
        assert_ptr_equal (pair->before, size->points[last].trial.point);
        assert_ptr_equal (pair->after, trial->point);
        assert_int_equal (pair->is_apart != FALSE, k - last > 1);
        n_apart += k - last > 1;
      }
      last = k;
    }
    assert_int_equal (points->rows->len, row);
    assert_int_equal (answer->pairs->len, n_pairs);
    assert_int_equal (n_pairs + 1 + i, row);
    assert_true (n_apart >= 1);
  }
}

/* Besides the value a person sees the figures of targets that a table does not have anyway, and "-" where there is
 * none. */
static void
figures_of_targets_are_columns (G_GNUC_UNUSED void **state)
{
  const FabTarget targets[] = { target_of ("tokens>=1"), target_of ("memory<=36GB"), target_of ("step<=10s"),
                                target_of ("mfu>=1%"), target_of ("exposed<=90%") };
  g_autoptr (FabStudy) study = play_study (catalog, two);
  g_autoptr (FabAxis) axis = fab_axis_parse ("job.micro_batch=3,-1,2", NULL);
  g_autoptr (FabSizeAnswer) answer = sized (study, axis, targets, G_N_ELEMENTS (targets));
  g_autoptr (FabPoints) text = fab_size_points (answer, TRUE), rows = fab_size_points (answer, FALSE);
  static const char *const memories[] = { "37.04 GB", "-", "34.28 GB" }, *const met[] = { "no", "no", "yes" };

  assert_string_equal (text->columns[0], "value");
  assert_string_equal (text->columns[1], "memory");
  assert_null (text->columns[2]);
  assert_int_equal (text->n_shown, 2);
  assert_string_equal (rows->columns[1], "is_met");
  assert_null (rows->columns[2]);
  assert_int_equal (rows->n_numbers, 0);
  for (guint i = 0; i < 3; i++) {
    assert_string_equal (fab_points_row (text, i)->labels[1], memories[i]);
    assert_string_equal (fab_points_row (rows, i)->labels[1], met[i]);
  }
}

/* Ports are named for a rate that is enough, and for no other key. */
static void
rates_have_ports (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *axis, *target;
    gboolean has_ports;
  } cases[] = {
    { "cluster.nic_rate=50Gb/s,100Gb/s", "tokens>=60000", TRUE },
    { "cluster.nic_rate=50Gb/s,100Gb/s", "tokens>=60000000", FALSE },
    { "job.micro_batch=1,2,3", "tokens>=60000", FALSE },
  };
  g_autoptr (FabStudy) study = play_study (catalog, apart);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabTarget target = target_of (cases[i].target);
    g_autoptr (FabAxis) axis = fab_axis_parse (cases[i].axis, NULL);
    g_autoptr (FabSizeAnswer) answer = sized (study, axis, &target, 1);

    assert_int_equal (answer->size->answer >= 0, i != 1);
    assert_int_equal (answer->ports != NULL, cases[i].has_ports);
    assert_true (answer->ports == NULL || answer->ports->len > 0);
  }
}

/* A job that fits with no value is told what would make it fit. */
static void
what_makes_it_fit_is_told (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    const FabTarget target = target_of ("memory<=70GB");
    g_autoptr (FabStudy) study = play_study (catalog, i == 0 ? unfit : two);
    g_autoptr (FabAxis) axis = fab_axis_parse ("job.micro_batch=1,2", NULL);
    g_autoptr (FabSizeAnswer) answer = sized (study, axis, &target, 1);
    const FabFinding *finding = fab_verdict_find (answer->verdict, FAB_FINDING_DOES_NOT_FIT);

    assert_int_equal (finding != NULL, i == 0);
    if (finding != NULL)
      assert_true (g_str_has_prefix (finding->advice, "It fits with job.kind=zero job.stage=1"));
  }
}

/* --- scale --- */

static FabScaleAnswer *
scaled (const FabStudy *study, const FabAxis *gpus, gboolean has_band)
{
  const FabScalingSpec spec = { .gpus = gpus, .has_band = has_band, .bound = 0.9 };
  g_autoptr (GError) error = NULL;
  FabScaleAnswer *answer = fab_scale_answer (study, &spec, &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

static void
assert_number (const char *text, double value)
{
  if (value > 0)
    assert_near (g_ascii_strtod (text, NULL), value, 1e-11);
  else
    assert_null (text);
}

/* Seven billion parameters fit on two GPUs and more: the first point has no efficiency. Each GPU has one sequence. */
static void
numbers_of_gpus_are_rows_and_pairs (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "1 GPU", "2 GPUs", "4 GPUs", "8 GPUs" };
  static const guint n_gpus[] = { 1, 2, 4, 8 };
  g_autoptr (FabStudy) study = play_study (catalog, large);
  g_autoptr (FabAxis) gpus = fab_axis_parse ("gpus=1,2,4,8", NULL);

  for (guint has_band = 0; has_band < 2; has_band++) {
    g_autoptr (FabScaleAnswer) answer = scaled (study, gpus, has_band);
    g_autoptr (FabPoints) points = fab_scale_points (answer);

    assert_int_equal (answer->scaling->first, 1);
    assert_int_equal (answer->too_few, 0);
    assert_int_equal (answer->n_seeds, 1);
    assert_int_equal (answer->least_sequences, 1);
    assert_int_equal (answer->most_sequences, 8);
    assert_near (answer->coverage_fraction, has_band ? 0.9 : 0, 1e-12);
    assert_ptr_equal (answer->spec.gpus, gpus);
    assert_ptr_equal (answer->hold, fab_hold_of (study));
    assert_ptr_equal (points->hold, answer->hold);
    assert_int_equal (points->n_shown, 4);
    assert_int_equal (points->n_numbers, 4);
    assert_int_equal (points->rows->len, 4);
    assert_int_equal (answer->pairs->len, 3);
    for (guint i = 0; i < 4; i++) {
      const FabScalePoint *one = &answer->scaling->points[i];
      char *const *labels = fab_points_row (points, i)->labels;
      g_autofree char *number = g_strdup_printf ("%u", n_gpus[i]);

      assert_string_equal (labels[0], number);
      assert_number (labels[1], one->efficiency);
      assert_number (labels[2], one->low_s);
      assert_number (labels[3], one->high_s);
      assert_int_equal (labels[1] != NULL, i > 0);
      assert_int_equal (labels[2] != NULL, has_band);
      assert_ptr_equal (fab_points_row (points, i)->point, one->trial.point);
      assert_non_null (one->trial.point->bottleneck);
      if (i == 0)
        continue;
      const FabChoicePair *pair = &g_array_index (answer->pairs, FabChoicePair, i - 1);
      assert_string_equal (pair->key, "gpus");
      assert_string_equal (pair->before_value, names[i - 1]);
      assert_string_equal (pair->after_value, names[i]);
      assert_ptr_equal (pair->before, one[-1].trial.point);
      assert_ptr_equal (pair->after, one->trial.point);
    }
  }
}

/* What limits the last point and the first one that the network dominates is known on all seeds, and what limits the
 * others on one. Two nodes of one GPU send more than they compute. */
static void
marked_points_are_looked_at_on_all_seeds (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, apart);
  g_autoptr (FabAxis) gpus = fab_axis_parse ("gpus=1,2,4,8", NULL);

  study->n_seeds = 2;
  g_autoptr (FabScaleAnswer) answer = scaled (study, gpus, FALSE);
  const FabScaling *scaling = answer->scaling;
  assert_int_equal (answer->n_seeds, 2);
  assert_int_equal (answer->too_few, -1);
  assert_int_equal (scaling->last, 3);
  assert_int_equal (scaling->dominated, 1);
  for (gint i = 0; i < 4; i++)
    assert_int_equal (scaling->points[i].trial.point->bottleneck->n_draws,
                      i == scaling->last || i == scaling->dominated ? 2 : 1);
}

/* --- which batch is held --- */

/* Figures of the whole training hold the global batch, unless the job is known and has none. A study whose scenario is
 * not complete may get a job with batches. */
static void
figures_of_training_hold_the_batch (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBatch batch;
    const char *figure, *held_for, *name;
    gboolean can_hold;
  } cases[] = {
    { { 1, 1, 1, 0, 1 }, "days", "days", "batch", TRUE },
    { { 1, 1, 1, 0, 1 }, "mfu", NULL, "micro_batch", TRUE },
    { { 8, 2, 1, 64, 1 }, "mfu", NULL, "batch", TRUE },
    { { 1, 0, 0, 0, 1 }, "days", NULL, NULL, FALSE },
    { { 8, 0, 0, 0, 1 }, "train_cost", NULL, NULL, FALSE },
    { { 0, 0, 0, 0, 0 }, "train_cost", "train_cost", NULL, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabFigure *const figures[] = { fab_figure_find ("step"), fab_figure_find (cases[i].figure) };
    FabStudy study = { .batch = cases[i].batch, .hold = FAB_HOLD_MICRO_BATCH, .held_for = figures[0] };
    g_autoptr (GError) error = NULL;

    fab_hold_decide (&study, figures, 2);
    assert_ptr_equal (study.held_for, cases[i].held_for != NULL ? fab_figure_find (cases[i].held_for) : NULL);
    assert_int_equal (study.hold, cases[i].held_for != NULL ? FAB_HOLD_BATCH : FAB_HOLD_WRITTEN);
    assert_true (g_strcmp0 (fab_hold_of (&study), cases[i].name) == 0);
    fab_hold_decide (&study, figures, 1);
    assert_int_equal (study.hold, FAB_HOLD_WRITTEN);
    assert_true (fab_hold_ask (&study, FAB_HOLD_MICRO_BATCH, NULL));
    assert_int_equal (study.hold, FAB_HOLD_MICRO_BATCH);
    assert_int_equal (fab_hold_ask (&study, FAB_HOLD_BATCH, &error), cases[i].can_hold);
    if (cases[i].can_hold)
      assert_int_equal (study.hold, FAB_HOLD_BATCH);
    else
      assert_string_equal (error->message, "the job has no batch that could be held");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (figures_of_training_hold_the_batch),
    cmocka_unit_test (what_the_best_values_gain),
    cmocka_unit_test (values_around_the_best_are_flat),
    cmocka_unit_test (what_cannot_be_played_is_impossible),
    cmocka_unit_test (losses_are_shares_of_the_best),
    cmocka_unit_test (tried_values_are_rows_and_pairs),
    cmocka_unit_test (figures_of_targets_are_columns),
    cmocka_unit_test (rates_have_ports),
    cmocka_unit_test (what_makes_it_fit_is_told),
    cmocka_unit_test (numbers_of_gpus_are_rows_and_pairs),
    cmocka_unit_test (marked_points_are_looked_at_on_all_seeds),
  };

  return play_run_tests ("study_answers", tests, &catalog);
}
