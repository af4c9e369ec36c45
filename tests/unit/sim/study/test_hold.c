/* SPDX-License-Identifier: Apache-2.0 */
/* test_hold.c - which batch the variants of a study have where they have more or fewer ranks. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/study.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabStudy *
study_of (const char *job, FabHold hold)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: {node: dgx-h100, nodes: 4}\njob: %s\n", job);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  FabStudy *study = fab_study_of ("t", scenario, catalog, &fab_models);
  study->hold = hold;
  return study;
}

/* "micro-batch x accumulation, global batch" of the variant, or why it cannot be. */
static void
assert_variant (const char *job, FabHold hold, const char *set, const char *expected)
{
  g_autoptr (FabStudy) study = study_of (job, hold);
  const char *const sets[] = { set, NULL };
  g_autoptr (FabEdits) edits = fab_edits_of (sets);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, &error);
  const FabBatch batch = scenario != NULL ? fab_batch_of (scenario) : (FabBatch){ 0 };
  g_autofree char *made = scenario != NULL ? g_strdup_printf ("%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                                                              ", %" G_GUINT64_FORMAT,
                                                              batch.micro_batch, batch.accumulation,
                                                              fab_batch_sequences (&batch))
                                           : g_strdup (error->message);

  assert_string_equal (made, expected);
}

#define DDP "{kind: ddp, model: llama2-7b, micro_batch: 4, accumulation: 2}"
#define GLOBAL "{kind: ddp, model: llama2-7b, micro_batch: 2, global_batch: 192}"
#define DIVIDED "{kind: megatron, model: llama2-7b, accumulation: 12, parallel: {tensor: 4, pipeline: 2}}"

/* 32 GPUs with 4 x 2 sequences each are 256; 64 GPUs have 4 x 1 of them, or 512. */
static void
more_nodes_hold_what_the_study_says (G_GNUC_UNUSED void **state)
{
  assert_variant (DDP, FAB_HOLD_WRITTEN, "cluster.nodes=8", "4 x 2, 512");
  assert_variant (DDP, FAB_HOLD_MICRO_BATCH, "cluster.nodes=8", "4 x 2, 512");
  assert_variant (DDP, FAB_HOLD_BATCH, "cluster.nodes=8", "4 x 1, 256");
  assert_variant (DDP, FAB_HOLD_BATCH, "cluster.gpus_per_node=4", "4 x 4, 256");
  assert_variant (
      DDP, FAB_HOLD_BATCH, "cluster.nodes=6",
      "a batch of 256 sequences cannot be divided over 48 copies of the model; it can over 32 or 64, and "
      "with --hold micro_batch it grows with them");
}

/* A job that writes down its global batch keeps it unless somebody asks for the batch of a GPU. */
static void
a_global_batch_that_is_written_down_is_held (G_GNUC_UNUSED void **state)
{
  assert_variant (GLOBAL, FAB_HOLD_WRITTEN, "cluster.nodes=8", "2 x 1, 192");
  assert_variant (GLOBAL, FAB_HOLD_MICRO_BATCH, "cluster.nodes=8", "2 x 1, 384");
  assert_variant (GLOBAL, FAB_HOLD_BATCH, "cluster.nodes=8", "1 x 3, 192");
}

/* What a variant sets itself is its own, and without more ranks there is nothing to hold. */
static void
a_variant_that_sets_a_batch_has_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (DDP, FAB_HOLD_BATCH);
  const char *const sets[] = { "cluster.nodes=8", "job.micro_batch=1", NULL };
  g_autoptr (FabEdits) edits = fab_edits_of (sets);
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, NULL);
  const FabBatch batch = fab_batch_of (scenario);

  assert_int_equal (fab_batch_sequences (&batch), 128);
  assert_variant (DDP, FAB_HOLD_BATCH, "job.bucket=50MiB", "4 x 2, 256");
}

/* 32 GPUs are 4 copies with 12 sequences each; with half as many stages 8 copies have 6 of the 48. */
static void
copies_of_the_model_count_and_not_ranks (G_GNUC_UNUSED void **state)
{
  assert_variant (DIVIDED, FAB_HOLD_BATCH, "job.parallel.pipeline=1", "1 x 6, 48");
  assert_variant (DIVIDED, FAB_HOLD_MICRO_BATCH, "job.parallel.pipeline=1", "1 x 12, 96");
}

/* Days are of the whole training; a step and what it costs are not. */
static void
figures_of_the_training_ask_for_the_batch (G_GNUC_UNUSED void **state)
{
  const FabFigure *figures[] = { fab_figure_find ("step"), fab_figure_find ("step_cost"),
                                 fab_figure_find ("days") };
  FabHold hold = FAB_HOLD_WRITTEN;
  g_autoptr (GError) error = NULL;

  assert_null (fab_hold_asked_by (figures, 2));
  assert_string_equal (fab_hold_asked_by (figures, 3)->name, "days");
  assert_true (fab_hold_parse ("batch", &hold, NULL));
  assert_int_equal (hold, FAB_HOLD_BATCH);
  assert_false (fab_hold_parse ("global", &hold, &error));
  assert_non_null (strstr (error->message, "strong scaling"));
}

/* What is held has a name where the job has batches: what is written down is a global batch, or that of a copy. */
static void
what_is_held_has_a_name (G_GNUC_UNUSED void **state)
{
  const FabBatch none = { .n_gpus = 8 }, copy = { .n_gpus = 8, .micro_batch = 1 },
                 global = { .n_gpus = 8, .micro_batch = 1, .global_batch = 1 };
  FabHold hold;

  assert_null (fab_hold_name (FAB_HOLD_BATCH, &none));
  assert_string_equal (fab_hold_name (FAB_HOLD_WRITTEN, &copy), "micro_batch");
  assert_string_equal (fab_hold_name (FAB_HOLD_WRITTEN, &global), "batch");
  assert_string_equal (fab_hold_name (FAB_HOLD_BATCH, &copy), "batch");
  assert_string_equal (fab_hold_name (FAB_HOLD_MICRO_BATCH, &global), "micro_batch");
  assert_true (fab_hold_parse ("micro_batch", &hold, NULL));
  assert_int_equal (hold, FAB_HOLD_MICRO_BATCH);
  assert_false (fab_hold_parse ("", &hold, NULL));
}

/* The whole job, or one of its batches, as a text or as a typed value. */
static void
edits_that_set_a_batch_are_known (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *key, *value;
    gboolean is_batch;
  } rows[] = {
    { "job", "ddp", TRUE },
    { "job.micro_batch", "2", TRUE },
    { "job.accumulation", "2", TRUE },
    { "job.global_batch", "2", TRUE },
    { "job.micro_batches", "2", FALSE },
    { "job.micro", "2", FALSE },
    { "jo", "2", FALSE },
    { "job.bucket", "2", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("%s=%s", rows[i].key, rows[i].value);
    g_autoptr (FabEdits) written = fab_edits_of ((const char *[]){ "cluster.nodes=2", text, NULL }),
                         typed = fab_edits_new ();

    fab_edits_set (typed, rows[i].key, fab_value_text (rows[i].value));
    assert_int_equal (fab_hold_is_set_by (written), rows[i].is_batch);
    assert_int_equal (fab_hold_is_set_by (typed), rows[i].is_batch);
  }
}

/* The range of what points have; a variant without a point is missing and widens nothing, wherever it comes. */
static void
the_range_of_points_is_known (G_GNUC_UNUSED void **state)
{
  static const FabPoint points[] = { { .n_ranks = 8, .global_batch = 64 },
                                     { .n_ranks = 4, .global_batch = 128 },
                                     { .n_ranks = 16, .global_batch = 32 } };
  FabHoldRange range = { 0 };

  fab_hold_range_add (&range, NULL);
  assert_int_equal (range.most_ranks, 0);
  fab_hold_range_add (&range, &points[0]);
  assert_int_equal (range.least_ranks, 8);
  assert_int_equal (range.most_ranks, 8);
  assert_int_equal (range.least_sequences, 64);
  assert_int_equal (range.most_sequences, 64);
  fab_hold_range_add (&range, &points[1]);
  fab_hold_range_add (&range, NULL);
  fab_hold_range_add (&range, &points[2]);
  assert_int_equal (range.least_ranks, 4);
  assert_int_equal (range.most_ranks, 16);
  assert_int_equal (range.least_sequences, 32);
  assert_int_equal (range.most_sequences, 128);
  assert_int_equal (range.n_missing, 2);
}

/* Nothing is held of a base that cannot be read, or where the copies are as many: 8 copies of 2 x 4 sequences are 4
 * copies of 2 x 8. */
static void
a_batch_is_held_where_the_copies_differ (G_GNUC_UNUSED void **state)
{
  const FabBatch base = { .n_gpus = 8, .micro_batch = 2, .accumulation = 4, .n_model_ranks = 1 },
                 half = { .n_gpus = 4, .micro_batch = 2, .accumulation = 4, .n_model_ranks = 1 },
                 split = { .n_gpus = 16, .micro_batch = 2, .accumulation = 4, .n_model_ranks = 2 },
                 unread = { .n_gpus = 0, .n_model_ranks = 1 };
  const struct {
    FabHold hold;
    const FabBatch *of, *at;
    const char *edits;
  } rows[] = {
    { FAB_HOLD_BATCH, &base, &half, "job.micro_batch=2 job.accumulation=8 job.global_batch=0" },
    { FAB_HOLD_WRITTEN, &base, &half, "" },
    { FAB_HOLD_BATCH, &base, &split, "" },
    { FAB_HOLD_BATCH, &unread, &half, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabEdits) edits = fab_edits_new ();

    assert_true (fab_hold_set (rows[i].hold, rows[i].of, rows[i].at, edits, NULL));
    g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (edits));
    assert_string_equal (texts, rows[i].edits);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (more_nodes_hold_what_the_study_says),
    cmocka_unit_test (a_global_batch_that_is_written_down_is_held),
    cmocka_unit_test (a_variant_that_sets_a_batch_has_it),
    cmocka_unit_test (copies_of_the_model_count_and_not_ranks),
    cmocka_unit_test (figures_of_the_training_ask_for_the_batch),
    cmocka_unit_test (what_is_held_has_a_name),
    cmocka_unit_test (edits_that_set_a_batch_are_known),
    cmocka_unit_test (the_range_of_points_is_known),
    cmocka_unit_test (a_batch_is_held_where_the_copies_differ),
  };
  catalog = play_catalog ();
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_catalog_free (catalog);
  return failed;
}
