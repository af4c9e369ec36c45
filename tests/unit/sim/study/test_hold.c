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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (more_nodes_hold_what_the_study_says),
    cmocka_unit_test (a_global_batch_that_is_written_down_is_held),
    cmocka_unit_test (a_variant_that_sets_a_batch_has_it),
    cmocka_unit_test (copies_of_the_model_count_and_not_ranks),
    cmocka_unit_test (figures_of_the_training_ask_for_the_batch),
  };
  catalog = play_catalog ();
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_catalog_free (catalog);
  return failed;
}
