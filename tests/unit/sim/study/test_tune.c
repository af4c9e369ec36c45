/* SPDX-License-Identifier: Apache-2.0 */
/* test_tune.c - the best settings of several knobs (sim/study/tune.c): of a small grid the best of all, of a large
 * one a point that no knob alone makes better.
 *
 * A job of few GPUs: a larger micro-batch takes longer and trains more tokens in a second.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/better.h"
#include "sim/study/tune.h"
#include "tests/support/knobs.h"
#include "tests/support/play.h"

static const char yaml[] =
    "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 2, sequence: 256, compute: {kind: mfu, mfu: 40%}}\n";

static FabCatalog *catalog;

static double
figure (const FabTunePoint *point)
{
  return point->trial.point != NULL ? point->trial.point->step_s : HUGE_VAL;
}

/* Values around the best point are all there, and none of them is better. */
static void
assert_no_knob_helps (const FabTune *tune)
{
  for (guint k = 0; k < tune->knobs->len; k++) {
    const FabKnob *one = g_ptr_array_index (tune->knobs, k);

    for (guint v = 0; v < one->values->len; v++) {
      const FabTunePoint *point = fab_tune_curve (tune, k, v);

      assert_non_null (point);
      assert_int_equal (point->values[k], v);
      assert_true (!fab_tune_is_good (tune, point) || figure (point) >= figure (tune->best));
    }
    assert_ptr_equal (fab_tune_curve (tune, k, tune->best->values[k]), tune->best);
  }
}

/* Every point is there once; what a knob has as it is written sets nothing. */
static void
assert_points (const FabTune *tune)
{
  for (guint i = 0; i < tune->points->len; i++) {
    const FabTunePoint *point = g_ptr_array_index (tune->points, i);
    guint n_set = 0;

    for (guint j = 0; j < i; j++)
      assert_true (memcmp (point->values, ((FabTunePoint *) g_ptr_array_index (tune->points, j))->values,
                           tune->knobs->len * sizeof (guint))
                   != 0);
    for (guint k = 0; k < tune->knobs->len; k++)
      n_set += point->values[k] != ((const FabKnob *) g_ptr_array_index (tune->knobs, k))->written;
    assert_int_equal (fab_edits_count (point->edits), n_set);
  }
  assert_int_equal (fab_edits_count (tune->written->edits), 0);
}

static const char *const batches[] = { "1", "2", "3", NULL };
static const char *const buckets[] = { "1MiB", "10MiB", "25MiB", "100MiB", NULL };

/* Twelve points: all are simulated, and the best of them is the best. The larger a micro-batch, the more samples in a
 * second, and the longer it takes. */
static void
a_small_grid_is_simulated_completely (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (knobs, knob_of_key ("batch", "job.micro_batch", batches, 1));
  g_ptr_array_add (knobs, knob_of_key ("bucket", "job.bucket", buckets, 2));
  g_autoptr (FabTune) tune = fab_tune_find (study, knobs, fab_figure_find ("step"), 0, &error);
  assert_non_null (tune);
  assert_true (tune->is_whole);
  assert_near (tune->n_all, 12, 0);
  assert_int_equal (tune->points->len, 12);
  assert_points (tune);
  assert_int_equal (tune->best->values[0], 0);
  for (guint i = 0; i < 12; i++)
    assert_true (figure (g_ptr_array_index (tune->points, i)) >= figure (tune->best));
  assert_no_knob_helps (tune);
  assert_int_equal (tune->written->values[0], 1);
  assert_int_equal (tune->written->values[1], 2);
}

/* As many points as a grid may have are all simulated; with one value more the search goes along the knobs, and ends
 * where none of them helps. */
static void
a_large_grid_is_searched_along_its_knobs (G_GNUC_UNUSED void **state)
{
  static const char *const many[] = { "1MiB",  "2MiB",  "3MiB",  "4MiB",  "5MiB",  "6MiB",  "7MiB",  "8MiB",
                                      "9MiB",  "10MiB", "11MiB", "12MiB", "13MiB", "14MiB", "15MiB", "16MiB",
                                      "17MiB", "18MiB", "19MiB", "20MiB", "25MiB", NULL };
  static const char *const sequences[] = { "256", "128", NULL };
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (knobs, knob_of_key ("batch", "job.micro_batch", batches, 1));
  g_ptr_array_add (knobs, knob_of_key ("bucket", "job.bucket", many, 20));
  g_ptr_array_add (knobs, knob_of_key ("sequence", "job.sequence", sequences, 0));
  g_autoptr (FabTune) tune = fab_tune_find (study, knobs, fab_figure_find ("step"), 0, &error);
  assert_non_null (tune);
  assert_false (tune->is_whole);
  assert_near (tune->n_all, 3 * 21 * 2, 0);
  assert_true (tune->points->len < 126 && tune->points->len >= 24);
  assert_points (tune);
  assert_int_equal (tune->best->values[0], 0);
  assert_int_equal (tune->best->values[2], 1);
  assert_no_knob_helps (tune);
}

/* The largest micro-batch trains most tokens in a second. With the memory of the next one as the limit that one is the
 * best, with a byte less the smallest, and with one byte there is none. */
static void
what_does_not_fit_is_not_the_best (G_GNUC_UNUSED void **state)
{
  static const char *const large[] = { "2", "6", "12", NULL };
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (FabEdits) longer = fab_edits_of ((const char *[]){ "job.sequence=1024", NULL });
  g_autoptr (FabStudy) edited = fab_study_edited (study, longer);
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (knobs, knob_of_key ("batch", "job.micro_batch", large, 0));
  g_autoptr (FabTune) free_ = fab_tune_find (edited, knobs, fab_figure_find ("tokens"), 0, &error);
  assert_non_null (free_);
  assert_int_equal (free_->best->values[0], 2);
  FabBytes limit = fab_tune_curve (free_, 0, 1)->trial.point->memory_bytes;
  g_autoptr (FabTune) tight = fab_tune_find (edited, knobs, fab_figure_find ("tokens"), limit, &error);
  assert_int_equal (tight->best->values[0], 1);
  assert_false (fab_tune_is_good (tight, fab_tune_curve (tight, 0, 2)));
  g_autoptr (FabTune) tighter = fab_tune_find (edited, knobs, fab_figure_find ("tokens"), limit - 1, &error);
  assert_int_equal (tighter->best->values[0], 0);
  g_autoptr (FabTune) none = fab_tune_find (edited, knobs, fab_figure_find ("tokens"), 1, &error);
  assert_null (none->best);
  assert_null (fab_tune_curve (none, 0, 0));
}

/* A scenario that cannot be simulated as it is written is said, and so is a figure that it does not have. */
static void
what_cannot_be_tuned_is_said (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (FabEdits) wrong = fab_edits_of ((const char *[]){ "job.micro_batch=0", NULL });
  g_autoptr (FabStudy) broken = fab_study_edited (study, wrong);
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (knobs, knob_of_key ("bucket", "job.bucket", buckets, 2));
  assert_null (fab_tune_find (broken, knobs, fab_figure_find ("step"), 0, &error));
  assert_non_null (error);
  g_clear_error (&error);
  assert_null (fab_tune_find (study, knobs, fab_figure_find ("goodput"), 0, &error));
  assert_non_null (strstr (error->message, "there is no 'goodput' here: "));
}

/* Whether batches are loaded ahead is the same to a job that loads none: beside a better batch it stays as written. */
static void
a_knob_without_effect_stays_as_written (G_GNUC_UNUSED void **state)
{
  static const char *const ahead[] = { "false", "true", NULL };
  g_autoptr (FabStudy) study = play_study (catalog, yaml);
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (knobs, knob_of_key ("batch", "job.micro_batch", batches, 1));
  g_ptr_array_add (knobs, knob_of_key ("ahead", "job.data_loader.prefetch", ahead, 1));
  g_autoptr (FabTune) tune = fab_tune_find (study, knobs, fab_figure_find ("step"), 0, &error);
  assert_non_null (tune);
  assert_int_equal (tune->best->values[0], 0);
  assert_int_equal (tune->best->values[1], 1);
}

/* A picosecond in a second is rounding; a thousandth is a gain. */
static void
what_is_rounded_is_equal (G_GNUC_UNUSED void **state)
{
  const FabFigure *step = fab_figure_find ("step");
  FabPoint one = { .step_s = 1 }, rounded = { .step_s = 1 - 1e-12 }, better = { .step_s = 0.999 };

  assert_int_equal (fab_figure_compare_rounded (step, &rounded, &one), 0);
  assert_true (fab_figure_compare_rounded (step, &better, &one) < 0);
  assert_true (fab_figure_compare_rounded (step, &one, &better) > 0);
  assert_true (fab_figure_compare_rounded (step, &one, NULL) < 0);
}

enum { N_NODES = 17, N_GPUS = 8 }; /* from two nodes on; more than a grid may have */

/* The value of one point in the grid of nodes and their GPUs is 1, of another one 2, and of all others 3. */
static guint best_at[2], good_at[2];

static double
trapped (const FabPoint *point)
{
  guint nodes = point->n_nodes - 2, gpus = point->n_ranks / point->n_nodes - 1;

  return nodes == best_at[0] && gpus == best_at[1] ? 1 : nodes == good_at[0] && gpus == good_at[1] ? 2 : 3;
}

/* A grid of nodes and their GPUs, of which so many are written down: a study of 17 x 8 points, and its two knobs. */
static FabStudy *
grid_of (guint nodes_at, guint gpus_at, GPtrArray *knobs)
{
  g_autoptr (Play) play = play_new (
      catalog,
      "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 10, gpus_per_node: 4}\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1KB}]}\n",
      NULL);
  FabStudy *study = fab_study_of ("a", play->scenario, catalog, &fab_models);
  FabKnob *nodes = fab_knob_new ("nodes", "cluster.nodes", ""),
          *gpus = fab_knob_new ("gpus", "cluster.gpus_per_node", "");

  for (guint i = 0; i < N_NODES + N_GPUS; i++) {
    gboolean is_gpu = i >= N_NODES;
    g_autofree char *text = g_strdup_printf (is_gpu ? "cluster.gpus_per_node=%u" : "cluster.nodes=%u",
                                             is_gpu ? i - N_NODES + 1 : i + 2);

    fab_knob_add (is_gpu ? gpus : nodes, g_strdup (text), fab_edits_of ((const char *[]){ text, NULL }));
  }
  nodes->written = nodes_at;
  gpus->written = gpus_at;
  g_ptr_array_add (knobs, nodes);
  g_ptr_array_add (knobs, gpus);
  study->n_threads = 1;
  study->n_seeds = 1;
  return study;
}

/* No single knob leads from one good point to another, so that each is found from its own start alone: what is written,
 * all smallest and all largest values. The best of these counts. */
static void
three_starts_are_searched_from (G_GNUC_UNUSED void **state)
{
  static const guint starts[][2] = { { 8, 3 }, { 0, 0 }, { N_NODES - 1, N_GPUS - 1 } };
  static const FabFigure by = { .name = "trapped", .kind = FAB_FIGURE_RATE, .value = trapped };
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (FabStudy) study = grid_of (starts[0][0], starts[0][1], knobs);

  for (guint best = 0; best < G_N_ELEMENTS (starts); best++) {
    memcpy (best_at, starts[best], sizeof best_at);
    memcpy (good_at, starts[(best + 1) % G_N_ELEMENTS (starts)], sizeof good_at);
    g_autoptr (FabTune) tune = fab_tune_find (study, knobs, &by, 0, NULL);
    assert_false (tune->is_whole);
    assert_int_equal (tune->best->values[0], starts[best][0]);
    assert_int_equal (tune->best->values[1], starts[best][1]);
  }
}

/* From the written point on each step of a stair is a little better, and all other points are bad: the search turns one
 * knob after the other as long as one of them leads on. */
static const guint stair[][2] = { { 8, 3 }, { 5, 3 }, { 5, 6 }, { 2, 6 }, { 2, 1 }, { 12, 1 } };

static double
on_stair (const FabPoint *point)
{
  for (guint i = 0; i < G_N_ELEMENTS (stair); i++)
    if (point->n_nodes - 2 == stair[i][0] && point->n_ranks / point->n_nodes - 1 == stair[i][1])
      return 100 - i;
  return 1000;
}

static void
a_search_goes_on_while_a_knob_helps (G_GNUC_UNUSED void **state)
{
  static const FabFigure by = { .name = "stair", .kind = FAB_FIGURE_RATE, .value = on_stair };
  const guint *last = stair[G_N_ELEMENTS (stair) - 1];
  g_autoptr (GPtrArray) knobs = knobs_new ();
  g_autoptr (FabStudy) study = grid_of (stair[0][0], stair[0][1], knobs);
  g_autoptr (FabTune) tune = fab_tune_find (study, knobs, &by, 0, NULL);

  assert_int_equal (tune->best->values[0], last[0]);
  assert_int_equal (tune->best->values[1], last[1]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_small_grid_is_simulated_completely),
    cmocka_unit_test (a_large_grid_is_searched_along_its_knobs),
    cmocka_unit_test (what_does_not_fit_is_not_the_best),
    cmocka_unit_test (what_cannot_be_tuned_is_said),
    cmocka_unit_test (a_knob_without_effect_stays_as_written),
    cmocka_unit_test (what_is_rounded_is_equal),
    cmocka_unit_test (three_starts_are_searched_from),
    cmocka_unit_test (a_search_goes_on_while_a_knob_helps),
  };

  return play_run_tests ("tune", tests, &catalog);
}
