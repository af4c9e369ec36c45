/* SPDX-License-Identifier: Apache-2.0 */
/* test_scaling.c - more GPUs: what batches become, and what follows from the points. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
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

/* 32 GPUs: the number of GPUs that share one copy of a model is the product of what divides it, and the others copy it.
 */
static void
a_batch_is_that_of_all_copies (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *job;
    guint64 micro_batch, accumulation, global_batch, n_model_ranks, copies, sequences;
  } rows[] = {
    { DDP, 4, 2, 0, 1, 32, 256 },
    { GLOBAL, 2, 1, 96, 1, 32, 96 },
    { DIVIDED, 1, 12, 0, 8, 4, 48 },
    { "{kind: megatron, model: llama2-7b, micro_batch: 3, parallel: {tensor: 2, context: 4}}", 3, 1, 0, 8, 4,
      12 },
    { "{kind: collective, operations: [{op: all_reduce, size: 1MB}]}", 0, 1, 0, 1, 32, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabBatch batch = batch_of (rows[i].job);

    assert_int_equal (batch.n_gpus, 32);
    assert_int_equal (batch.micro_batch, rows[i].micro_batch);
    assert_int_equal (batch.accumulation, rows[i].accumulation);
    assert_int_equal (batch.global_batch, rows[i].global_batch);
    assert_int_equal (batch.n_model_ranks, rows[i].n_model_ranks);
    assert_int_equal (fab_batch_copies (&batch), rows[i].copies);
    assert_int_equal (fab_batch_sequences (&batch), rows[i].sequences);
  }
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

static gint
expect_bend (const FabScaling *self, gint *before, gint *after)
{
  gint bend = -1;
  double most = 0.02;

  for (guint a = 0; a < self->n; a++)
    for (guint b = a + 1; b < self->n; b++)
      for (guint c = b + 1; c < self->n; c++) {
        gboolean are_next = TRUE;

        for (guint i = a; i <= c; i++) /* of those that were played, three in a row */
          are_next &= (self->points[i].trial.point != NULL) == (i == a || i == b || i == c);
        double then = (self->points[b].efficiency - self->points[a].efficiency) / (b - a),
               now = (self->points[c].efficiency - self->points[b].efficiency) / (c - b);
        if (!are_next || then - now <= most)
          continue;
        most = then - now;
        bend = (gint) b;
        *before = (gint) a;
        *after = (gint) c;
      }
  return bend;
}

/* Of any points: up to where all are good, from where on all are dominated by what is exposed, and where the change per
 * doubling falls most. */
static void
any_points_are_judged_as_defined (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint n_bends = 0, n_dominated = 0;

  for (guint round = 0; round < 3000; round++) {
    double tokens[8], exposed_s[8];
    guint n = (guint) g_rand_int_range (random, 1, 9);
    gint first = -1, last = -1, efficient = -1, dominated = -1, before = 0, after = 0;

    for (guint i = 0; i < n; i++) {
      tokens[i] = g_rand_int_range (random, 0, 4) == 0 ? 0 : (1 << i) * g_rand_int_range (random, 85, 103);
      exposed_s[i] = g_rand_int_range (random, 0, 5) / 2.0; /* also as long as computing */
    }
    g_autoptr (FabScaling) scaling = scaling_of (tokens, exposed_s, n, FALSE);
    gboolean is_good = TRUE;

    for (guint i = 0; i < n; i++) {
      if (!(tokens[i] > 0))
        continue;
      first = first < 0 ? (gint) i : first;
      last = (gint) i;
      double efficiency = tokens[i] / (1 << i) / (tokens[first] / (1 << first));
      is_good = is_good && efficiency >= 0.9;
      efficient = is_good ? (gint) i : efficient;
      assert_near (scaling->points[i].efficiency, efficiency, 1e-12);
    }
    for (guint i = n; i-- > 0;) {
      if (tokens[i] > 0 && exposed_s[i] <= 1)
        break;
      dominated = tokens[i] > 0 ? (gint) i : dominated;
    }
    assert_int_equal (scaling->first, first);
    assert_int_equal (scaling->last, last);
    assert_int_equal (scaling->efficient, efficient);
    assert_int_equal (scaling->dominated, dominated);
    gint bend = expect_bend (scaling, &before, &after);
    assert_int_equal (scaling->bend, bend);
    n_dominated += dominated >= 0;
    if (bend < 0)
      continue;
    n_bends++;
    assert_near (scaling->slope_before,
                 (scaling->points[bend].efficiency - scaling->points[before].efficiency) / (bend - before),
                 1e-12);
    assert_near (scaling->slope_after,
                 (scaling->points[after].efficiency - scaling->points[bend].efficiency) / (after - bend),
                 1e-12);
  }
  assert_true (n_bends > 300 && n_dominated > 300);
}

/* --- playing --- */

/* (transfer full) */
static FabStudy *
study_of (const char *yaml)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("scaling-XXXXXX.yaml", &path, NULL);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, NULL));
  FabStudy *study = fab_study_new (path, NULL, catalog, &fab_models, NULL);
  g_remove (path);
  assert_non_null (study);
  study->n_threads = 1;
  return study;
}

#define TRAINING(cluster_)                                      \
  "name: t\niterations: 1\ncluster: {node: dgx-h100, " cluster_ \
  "}\njob: {kind: ddp, model: gpt2-xl, sequence: 1024}\n"
#define SENDS                                      \
  "name: t\ncluster: {node: dgx-h100, nodes: 1}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
#define OVERSIZED "name: t\ncluster: {node: dgx-h100, nodes: 1}\njob: {kind: ddp, model: llama3-70b}\n"

/* Each point is the scenario with so many GPUs, as a person would write it. */
static void
points_are_the_scenario_on_other_machines (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = { TRAINING ("nodes: 1, gpus_per_node: 1"),
                                       TRAINING ("nodes: 1, gpus_per_node: 4"), TRAINING ("nodes: 1"), NULL,
                                       TRAINING ("nodes: 3") };
  g_autoptr (FabStudy) study = study_of (TRAINING ("nodes: 2"));
  g_autoptr (FabAxis) gpus = fab_axis_parse ("gpus=1,4,8,20,24", NULL);
  g_autoptr (FabScaling) plain = fab_scaling_play (study, &(FabScalingSpec){ .gpus = gpus, .bound = 0.5 },
                                                   NULL);
  g_autoptr (FabScaling) banded = fab_scaling_play (
      study, &(FabScalingSpec){ .gpus = gpus, .bound = 0.5, .has_band = TRUE }, NULL);

  assert_int_equal (plain->n, 5);
  assert_true (plain->first == 0 && plain->last == 4);
  for (guint i = 0; i < 5; i++) {
    const FabScalePoint *point = &plain->points[i];

    if (yamls[i] == NULL) {
      assert_null (point->trial.point);
      assert_string_equal (point->trial.problem, "20 GPUs are not a whole number of nodes of 8");
      continue;
    }
    g_autoptr (Play) play = play_new (catalog, yamls[i], NULL);
    assert_true (fab_simulation_step (play->simulation));
    assert_near (point->trial.point->step_s,
                 fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps), 1e-12);
    assert_near (point->low_s + point->high_s + point->coverage_fraction, 0, 0);
    const FabScalePoint *other = &banded->points[i];
    assert_true (other->low_s < other->trial.point->step_s && other->trial.point->step_s < other->high_s);
    assert_true (other->coverage_fraction > 0.5 && other->coverage_fraction < 1);
  }
}

/* From one node on, each number twice the one before, up to sixteen times the machine. */
static void
usual_numbers_of_gpus_double (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, TRAINING ("nodes: 3"), NULL);
  g_autoptr (FabAxis) axis = fab_scaling_default (play->scenario);
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < axis->values->len; i++)
    g_string_append_printf (all, "%s ", (const char *) g_ptr_array_index (axis->values, i));
  assert_string_equal (all->str, "8 16 32 64 128 256 ");
}

static void
nothing_to_scale_is_an_error (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml, *gpus, *message;
    gint code;
  } rows[] = {
    { TRAINING ("nodes: 1"), "gpus=8,4", "numbers of GPUs must go from the smallest to the largest",
      FAB_ERROR_INPUT },
    { TRAINING ("nodes: 1"), "gpus=4,8,8", "numbers of GPUs must go from the smallest to the largest",
      FAB_ERROR_INPUT },
    { TRAINING ("nodes: 1"), "gpus=8,many", "'many' is not a number of GPUs", FAB_ERROR_INPUT },
    { TRAINING ("nodes: 1"), "gpus=0,8", "'0' is not a number of GPUs", FAB_ERROR_INPUT },
    { TRAINING ("nodes: 1"), "gpus=20,21", "20 GPUs are not a whole number of nodes of 8", FAB_ERROR_INPUT },
    { SENDS, "gpus=1", "the job takes no time on any of these numbers of GPUs", FAB_ERROR_INPUT },
    { OVERSIZED, "gpus=8,16", "the job fits on none of these numbers of GPUs. On 16: ", FAB_ERROR_OVERSIZED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabStudy) study = study_of (rows[i].yaml);
    g_autoptr (FabAxis) gpus = fab_axis_parse (rows[i].gpus, NULL);
    g_autoptr (GError) error = NULL;

    assert_null (fab_scaling_play (study, &(FabScalingSpec){ .gpus = gpus, .bound = 0.5 }, &error));
    if (!g_str_has_prefix (error->message, rows[i].message))
      fail_msg ("%s: %s", rows[i].gpus, error->message);
    assert_int_equal (error->code, rows[i].code);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (weak_scaling_keeps_the_batch_of_a_gpu),
    cmocka_unit_test (strong_scaling_keeps_the_batch_of_the_job),
    cmocka_unit_test (large_batches_are_kept),
    cmocka_unit_test (a_batch_is_that_of_all_copies),
    cmocka_unit_test (efficiency_bend_and_dominance_are_found),
    cmocka_unit_test (what_cannot_be_played_counts_for_nothing),
    cmocka_unit_test (any_points_are_judged_as_defined),
    cmocka_unit_test (points_are_the_scenario_on_other_machines),
    cmocka_unit_test (usual_numbers_of_gpus_double),
    cmocka_unit_test (nothing_to_scale_is_an_error),
    cmocka_unit_test (jobs_without_tokens_are_judged_by_steps),
  };
  catalog = play_catalog ();
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_catalog_free (catalog);
  return failed;
}
