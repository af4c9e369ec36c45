/* SPDX-License-Identifier: Apache-2.0 */
/* test_scaling.c - more GPUs: what batches become, and what follows from the points. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/machine.h"
#include "sim/study/scaling.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* --- batches --- */

static FabBatch
batch_of (const char *job)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: {node: dgx-h100, nodes: 4}\njob: %s\n", job);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return fab_batch_of (scenario);
}

/* The assignments with blanks between, or the message. */
static void
assert_kept (const char *job, guint n, gboolean is_strong, const char *expected)
{
  FabBatch batch = batch_of (job);
  g_autoptr (FabEdits) edits = fab_edits_new ();
  g_autoptr (GError) error = NULL;
  gboolean is_set = fab_batch_set (&batch, n, is_strong, edits, &error);

  g_autofree char *made = is_set ? g_strjoinv (" ", (char **) fab_edits_texts (edits))
                                 : g_strdup (error->message);
  assert_string_equal (made, expected);
}

#define DDP "{kind: ddp, model: llama2-7b, micro_batch: 4, accumulation: 2}"
#define GLOBAL "{kind: ddp, model: llama2-7b, micro_batch: 2, global_batch: 96}"
#define DIVIDED "{kind: megatron, model: llama2-7b, accumulation: 12, parallel: {tensor: 4, pipeline: 2}}"

/* 32 GPUs; what is written per GPU stays, 96 for all are 3 each. */
static void
weak_scaling_keeps_the_batch_of_a_gpu (G_GNUC_UNUSED void **state)
{
  assert_kept (DDP, 256, FALSE, "");
  assert_kept (GLOBAL, 64, FALSE, "job.global_batch=192");
  assert_kept (GLOBAL, 8, FALSE, "job.global_batch=24");
  assert_kept ("{kind: ddp, model: llama2-7b, global_batch: 33}", 8, FALSE,
               "a global batch of 33 on 32 GPUs is none on 8");
}

/* 32 x 4 x 2 = 256 sequences: on 64 GPUs 4 each, on 128 two, on 16 four times 4; on 48 none. 96 on 16 are 6 = 3 x
 * 2, on 32 three, which two does not divide. 4 copies of the divided model have 48: on 2 copies 24 each. */
static void
strong_scaling_keeps_the_batch_of_the_job (G_GNUC_UNUSED void **state)
{
  assert_kept (DDP, 64, TRUE, "job.micro_batch=4 job.accumulation=1 job.global_batch=0");
  assert_kept (DDP, 128, TRUE, "job.micro_batch=2 job.accumulation=1 job.global_batch=0");
  assert_kept (DDP, 16, TRUE, "job.micro_batch=4 job.accumulation=4 job.global_batch=0");
  assert_kept (
      DDP, 48, TRUE,
      "a batch of 256 sequences cannot be divided over 48 copies of the model; it can over 32 or 64, and "
      "with --hold micro_batch it grows with them");
  assert_kept (GLOBAL, 16, TRUE, "job.micro_batch=2 job.accumulation=3 job.global_batch=0");
  assert_kept (GLOBAL, 32, TRUE, "job.micro_batch=1 job.accumulation=3 job.global_batch=0");
  assert_kept (DIVIDED, 16, TRUE, "job.micro_batch=1 job.accumulation=24 job.global_batch=0");
  assert_kept (DIVIDED, 4, TRUE, "the model is divided over 8 GPUs");
  assert_kept (
      DDP, 512, TRUE,
      "a batch of 256 sequences cannot be divided over 512 copies of the model; it can over 256, and with "
      "--hold micro_batch it grows with them");
  assert_kept ("{kind: collective, operations: [{op: all_reduce, size: 1MB}]}", 8, TRUE,
               "the job has no batch that could be held; leave out --hold batch and --strong");
}

/* A number that is written with an exponent is a number: 16 million sequences on 8 copies are 2000 x 1000 each, and
 * 16008000 are 2001 x 1000. */
static void
large_batches_are_kept (G_GNUC_UNUSED void **state)
{
#define LARGE(global) "{kind: ddp, model: llama2-7b, micro_batch: 1000, global_batch: " global "}"
  assert_kept (LARGE ("16000000"), 8, TRUE, "job.micro_batch=1000 job.accumulation=2000 job.global_batch=0");
  assert_kept (LARGE ("16e6"), 8, TRUE, "job.micro_batch=1000 job.accumulation=2000 job.global_batch=0");
  assert_kept (LARGE ("16008000"), 8, TRUE, "job.micro_batch=1000 job.accumulation=2001 job.global_batch=0");
  assert_kept (LARGE ("16e6"), 64, FALSE, "job.global_batch=32e6");
#undef LARGE
}

/* --- what follows --- */

/* Tokens per second of 1, 2, 4, ... GPUs; 0: not played. Exposed takes `exposed_s` of steps whose rest is 1 s. */
static FabScaling *
scaling_of (const double *tokens, const double *exposed_s, guint n, gboolean is_strong)
{
  FabScaling *self = g_new0 (FabScaling, 1);
  const FabScalingSpec spec = { .bound = 0.9, .is_strong = is_strong };

  self->n = n;
  self->points = g_new0 (FabScalePoint, n);
  for (guint i = 0; i < n; i++) {
    self->points[i].n_gpus = 1U << i;
    if (tokens[i] > 0) {
      self->points[i].trial.point = g_new0 (FabPoint, 1);
      self->points[i].trial.point->tokens_per_s = tokens[i];
      self->points[i].trial.point->compute_s = 1;
      self->points[i].trial.point->exposed_s = exposed_s[i];
      self->points[i].trial.point->step_s = 1 + exposed_s[i];
    }
  }
  fab_scaling_judge (self, &spec);
  return self;
}

/* Efficiencies 1, 1, 0.95, 0.5, 0.4: worth it up to 4; behind it the slope is the steepest. */
static void
efficiency_bend_and_dominance_are_found (G_GNUC_UNUSED void **state)
{
  const double tokens[] = { 10, 20, 38, 40, 64 }, exposed_s[] = { 0, 0.1, 0.2, 1.0, 1.5 };
  g_autoptr (FabScaling) scaling = scaling_of (tokens, exposed_s, 5, FALSE);

  assert_int_equal (scaling->first, 0);
  assert_int_equal (scaling->last, 4);
  assert_near (scaling->points[3].efficiency, 0.5, 1e-12);
  assert_int_equal (scaling->efficient, 2);
  assert_int_equal (scaling->bend, 2);
  assert_near (scaling->slope_before, -0.05, 1e-12);
  assert_near (scaling->slope_after, -0.45, 1e-12);
  assert_int_equal (scaling->dominated, 4);
}

/* The first two cannot be played: the third is what others are held against. A straight line has no bend. */
static void
what_cannot_be_played_counts_for_nothing (G_GNUC_UNUSED void **state)
{
  const double tokens[] = { 0, 0, 40, 0, 160 }, exposed_s[] = { 0, 0, 2, 0, 0 };
  g_autoptr (FabScaling) scaling = scaling_of (tokens, exposed_s, 5, FALSE);

  assert_int_equal (scaling->first, 2);
  assert_near (scaling->points[4].efficiency, 1, 1e-12);
  assert_int_equal (scaling->efficient, 4);
  assert_int_equal (scaling->bend, -1);
  assert_int_equal (scaling->dominated, -1);
}

/* Without tokens steps count: weak, twice as long is half as good; strong, equal is half as good on twice as many. */
static void
jobs_without_tokens_are_judged_by_steps (G_GNUC_UNUSED void **state)
{
  const FabScalingSpec weak = { .bound = 0.9 }, strong = { .bound = 0.9, .is_strong = TRUE };
  FabPoint points[] = { { .step_s = 0 }, { .step_s = 1 }, { .step_s = 2 } };
  FabScalePoint scaled[3] = { { .n_gpus = 1 }, { .n_gpus = 2 }, { .n_gpus = 4 } };
  FabScaling scaling = { .points = scaled, .n = 3 };

  for (guint i = 0; i < 3; i++)
    scaled[i].trial.point = &points[i];
  fab_scaling_judge (&scaling, &weak);
  assert_int_equal (scaling.first, 1);
  assert_near (scaled[2].efficiency, 0.5, 1e-12);
  fab_scaling_judge (&scaling, &strong);
  assert_near (scaled[2].efficiency, 0.25, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (weak_scaling_keeps_the_batch_of_a_gpu),
    cmocka_unit_test (strong_scaling_keeps_the_batch_of_the_job),
    cmocka_unit_test (large_batches_are_kept),
    cmocka_unit_test (efficiency_bend_and_dominance_are_found),
    cmocka_unit_test (what_cannot_be_played_counts_for_nothing),
    cmocka_unit_test (jobs_without_tokens_are_judged_by_steps),
  };
  catalog = play_catalog ();
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_catalog_free (catalog);
  return failed;
}
