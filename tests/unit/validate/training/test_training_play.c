/* SPDX-License-Identifier: Apache-2.0 */
/* test_training_play.c - what a run is told to be, what the user lays over it, and how far its compute is off. */
#include <glib/gstdio.h>
#include <math.h>

#include "models/models.h"
#include "tests/support/test.h"
#include "validate/training/play.h"

static char *directory;
static FabCatalog *catalog;

static void
put (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

static int
set_up (G_GNUC_UNUSED void **state)
{
  directory = g_dir_make_tmp ("fab-play-XXXXXX", NULL);
  catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  put ("INDEX.yaml",
       "sources:\n  - {name: s, title: t, file: s.csv, scenario: \"${strategy}.yaml\", same: gpus,"
       " network: told}\n");
  put ("s.csv",
       "id,gpus,nodes,strategy,batch,step_s\n"
       "plain,8,1,plain,8,1\ndivided,32,4,divided,8,1\nexperts,16,2,experts,8,1\nwrong,8,1,wrong,8,1\n"
       "none,8,1,none,8,1\n");
  put ("plain.yaml", "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1}\n"
                     "job: {kind: ddp, model: gpt2-xl, sequence: 1024, compute: {kind: mfu, mfu: ${mfu}}}\n");
  put (
      "divided.yaml",
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 4}\n"
      "job: {kind: megatron, model: gpt2-xl, micro_batch: 3, sequence: 1024, accumulation: 8, precision: fp8,\n"
      "      compute: {kind: mfu, mfu: 0.5}, parallel: {tensor: 4, sequence: yes, context: 1, pipeline: 2}}\n");
  put ("experts.yaml",
       "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2}\n"
       "job: {kind: megatron, model: mixtral-8x7b, micro_batch: 1, sequence: 4096,\n"
       "      compute: {kind: mfu, mfu: 0.5}, parallel: {context: 2, expert: 8, sequence: no}}\n");
  put ("wrong.yaml", "name: t\ncluster: {node: no-such}\njob: {kind: ddp, model: gpt2-xl}\n");
  return directory != NULL && catalog != NULL ? 0 : -1;
}

static int
tear_down (G_GNUC_UNUSED void **state)
{
  static const char *const files[] = { "INDEX.yaml",   "s.csv",        "plain.yaml",
                                       "divided.yaml", "experts.yaml", "wrong.yaml" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (directory, files[i], NULL);

    g_unlink (path);
  }
  g_rmdir (directory);
  g_free (directory);
  fab_catalog_free (catalog);
  return 0;
}

static FabTrainingSources *
load (void)
{
  g_autoptr (GError) error = NULL;
  FabTrainingSources *sources = fab_training_sources_load (directory, &fab_models, &error);

  if (sources == NULL)
    fail_msg ("%s", error->message);
  return sources;
}

/* What a scenario does not say is 1 or nothing. */
static void
what_runs_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTrainingKnob knob;
    guint tensor, context, expert, pipeline;
    gboolean is_sequence;
    guint micro_batch, n_micro;
    const char *precision, *generation;
  } right[] = {
    { FAB_TRAINING_MFU, 1, 1, 1, 1, FALSE, 1, 1, "", "ampere" },
    { FAB_TRAINING_SCALE, 4, 1, 1, 2, TRUE, 3, 8, "fp8", "hopper" },
    { FAB_TRAINING_SCALE, 1, 2, 8, 1, FALSE, 1, 1, "", "ampere" },
  };
  g_autoptr (FabTrainingSources) sources = load ();
  const FabTrainingEnv env = { catalog, &fab_models, NULL, FALSE, FALSE };

  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrainingRun) run = fab_training_run_open (fab_training_sources_get (sources, 0), i, &env,
                                                            &error);

    if (run == NULL)
      fail_msg ("%s", error->message);
    const FabTrainingTraits *traits = fab_training_run_traits (run);
    assert_int_equal (traits->knob, right[i].knob);
    assert_int_equal (traits->tensor, right[i].tensor);
    assert_int_equal (traits->context, right[i].context);
    assert_int_equal (traits->expert, right[i].expert);
    assert_int_equal (traits->pipeline, right[i].pipeline);
    assert_int_equal (traits->is_sequence, right[i].is_sequence);
    assert_int_equal (traits->micro_batch, right[i].micro_batch);
    assert_int_equal (traits->n_micro, right[i].n_micro);
    assert_string_equal (traits->generation, right[i].generation);
    if (*right[i].precision != '\0')
      assert_string_equal (traits->precision, right[i].precision);
  }
}

/* A scenario that is refused, and one that is not there, are named by their row. */
static void
runs_that_are_none (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrainingSources) sources = load ();
  const FabTrainingEnv env = { catalog, &fab_models, NULL, FALSE, FALSE };

  for (guint i = 3; i < 5; i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_training_run_open (fab_training_sources_get (sources, 0), i, &env, &error));
    assert_non_null (strstr (error->message, i == 3 ? "s row wrong" : "s row none: "));
  }
}

/* What the user sets counts over what the source says. With twice the samples, and at half the efficiency, compute
 * takes twice as long, but for what is done once in a step. */
static void
what_the_user_sets (G_GNUC_UNUSED void **state)
{
  static const char *const larger[] = { "job.micro_batch=2", NULL };
  g_autoptr (FabTrainingSources) sources = load ();
  const FabTrainingEnv env = { catalog, &fab_models, NULL, FALSE, FALSE },
                       set = { catalog, &fab_models, larger, FALSE, FALSE };
  g_autoptr (FabTrainingRun) run = fab_training_run_open (fab_training_sources_get (sources, 0), 0, &env,
                                                          NULL),
                             other = fab_training_run_open (fab_training_sources_get (sources, 0), 0, &set,
                                                            NULL);
  FabTrainingStep step, twice, half;

  assert_int_equal (fab_training_run_traits (other)->micro_batch, 2);
  assert_true (fab_training_run_play (run, 0.4, &step, NULL)
               && fab_training_run_play (other, 0.4, &twice, NULL)
               && fab_training_run_play (run, 0.2, &half, NULL));
  assert_true (twice.compute_s > 1.7 * step.compute_s && twice.compute_s < 2 * step.compute_s);
  assert_true (half.compute_s > 1.7 * step.compute_s && half.compute_s < 2.0001 * step.compute_s);
  assert_true (step.comm_s > 0 && step.exposed_s > 0 && step.exposed_s < step.comm_s);
  assert_near (step.step_s, step.compute_s + step.exposed_s, 0.05);
  /* Nobody knows what a set-up of this compute adds. */
  assert_null (step.cell.generation);
  assert_near (step.cell.time_factor, 1, 0);
  assert_near (step.cell.low_factor, 1, 0);
  assert_near (step.cell.high_factor, 1, 0);
}

/* Compute of 6 s in a step of 10: all of the difference is its own; at the least it is a hundredth. */
static void
how_far_compute_is_off (G_GNUC_UNUSED void **state)
{
  static const FabTrainingStep step = { .step_s = 10, .compute_s = 6 };
  static const struct {
    double wanted_s, ratio;
  } cases[] = {
    { 10, 1 }, { 13, 1.5 }, { 7, 0.5 }, { 4.12, 0.02 }, { 4.03, 0.01 }, { 4, 0.01 }, { 1, 0.01 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_true (fabs (fab_training_residual (&step, cases[i].wanted_s) - log (cases[i].ratio)) < 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_runs_are),
    cmocka_unit_test (runs_that_are_none),
    cmocka_unit_test (what_the_user_sets),
    cmocka_unit_test (how_far_compute_is_off),
  };

  return cmocka_run_group_tests_name ("training_play", tests, set_up, tear_down);
}
