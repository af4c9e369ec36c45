/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - which candidates of a plan are simulated, and which of them comes first. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/study/plan.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define ALONE                                                                       \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"

static FabStudy *
study_of (void)
{
  g_autoptr (Play) play = play_new (catalog, ALONE, NULL);
  FabStudy *study = fab_study_of ("a", play->scenario, catalog, &fab_models);

  study->n_threads = 1;
  study->n_seeds = 1;
  return study;
}

static const char *const precisions[] = { "bf16", "fp32" };
static const guint batches[] = { 1, 2, 4, 8 };

/* Batches of 1 to 8 sequences, each with attention that keeps its scores and with what recomputes all, per family: the
 * precision of the second is wider. */
static GPtrArray *
candidates_of (void)
{
  GPtrArray *candidates = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_candidate_free);

  for (guint family = 0; family < G_N_ELEMENTS (precisions); family++)
    for (guint size = 0; size < G_N_ELEMENTS (batches); size++)
      for (guint saves = 0; saves < 2; saves++) {
        FabCandidate *candidate = fab_candidate_new ("ddp", family, size);
        g_autofree char *batch = g_strdup_printf ("job.micro_batch=%u", batches[size]);
        g_autofree char *precision = g_strdup_printf ("job.precision=%s", precisions[family]);

        candidate->edits = fab_edits_of (
            (const char *[]){ batch, precision, saves ? "job.recompute=full" : "job.recompute=none", NULL });
        g_ptr_array_add (candidates, candidate);
      }
  return candidates;
}

static FabBytes
memory_of (const FabStudy *study, const FabCandidate *candidate)
{
  FabTry trial = { .edits = candidate->edits };
  FabBytes bytes;

  fab_try_weigh (study, &trial);
  if (trial.point == NULL)
    fail_msg ("%s", trial.problem);
  bytes = trial.point->memory_bytes;
  fab_try_clear (&trial);
  return bytes;
}

/* What plan.h says, candidate by candidate: TRUE for those that are to be simulated. */
static void
expect (const FabBytes *bytes, guint n, FabBytes most_bytes, const GPtrArray *candidates, gboolean *expected)
{
  for (guint i = 0; i < n; i++) {
    const FabCandidate *one = g_ptr_array_index (candidates, i);
    gboolean is_first = bytes[i] <= most_bytes;

    for (guint k = 0; k < n; k++) {
      const FabCandidate *other = g_ptr_array_index (candidates, k);
      gboolean has_any = FALSE;

      if (other->family != one->family)
        continue;
      if (other->size == one->size && k < i && bytes[k] <= most_bytes)
        is_first = FALSE;
      for (guint m = 0; m < n; m++) {
        const FabCandidate *third = g_ptr_array_index (candidates, m);

        has_any |= third->family == one->family && third->size == other->size && bytes[m] <= most_bytes;
      }
      if (other->size < one->size && !has_any)
        is_first = FALSE;
    }
    expected[i] = is_first;
  }
}

static void
check_ranking (const FabPlan *plan, const FabFigure *by)
{
  for (guint i = 0; i < plan->ranking->len; i++) {
    const FabCandidate *best = g_ptr_array_index (plan->ranking, i);

    assert_int_equal (best->state, FAB_CANDIDATE_PLAYED);
    for (guint k = 0; k < plan->candidates->len; k++) {
      const FabCandidate *other = g_ptr_array_index (plan->candidates, k);

      if (other->family == best->family && other->state == FAB_CANDIDATE_PLAYED)
        assert_true (fab_figure_compare (by, best->trial.point, other->trial.point) <= 0);
    }
    if (i > 0) {
      const FabCandidate *before = g_ptr_array_index (plan->ranking, i - 1);

      assert_true (fab_figure_compare (by, before->trial.point, best->trial.point) <= 0);
      assert_int_not_equal (before->family, best->family);
    }
  }
}

/* With the memory of each candidate as the limit in turn, with a byte less, and with all: of each batch the first that
 * fits is simulated, and none after a batch of which nothing fits. */
static void
the_first_that_fits_of_each_batch_is_simulated (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of ();
  g_autoptr (GPtrArray) all = candidates_of ();
  const FabFigure *by = fab_figure_find ("tokens");
  g_autofree FabBytes *bytes = g_new (FabBytes, all->len);
  g_autofree gboolean *expected = g_new (gboolean, all->len);

  for (guint i = 0; i < all->len; i++)
    bytes[i] = memory_of (study, g_ptr_array_index (all, i));
  for (guint limit = 0; limit < all->len; limit += 3) {
    FabBytes most_bytes = bytes[limit] - (limit % 2);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabPlan) plan = fab_plan_find (study, candidates_of (), by, most_bytes, &error);
    guint n_played = 0, n_slower = 0, n_weighed = 0, n_families = 0;
    gboolean has_played[G_N_ELEMENTS (precisions)] = { FALSE };

    expect (bytes, all->len, most_bytes, all, expected);
    for (guint i = 0; i < all->len; i++) {
      const FabCandidate *one = g_ptr_array_index (plan->candidates, i);
      gboolean is_simulated = one->state == FAB_CANDIDATE_PLAYED || one->state == FAB_CANDIDATE_SLOWER;

      assert_int_equal (is_simulated, expected[i]);
      if (one->state == FAB_CANDIDATE_TOO_LARGE)
        assert_true (bytes[i] > most_bytes && one->trial.point->memory_bytes == bytes[i]);
      n_played += one->state == FAB_CANDIDATE_PLAYED;
      n_slower += one->state == FAB_CANDIDATE_SLOWER;
      n_weighed += is_simulated || one->state == FAB_CANDIDATE_TOO_LARGE;
      has_played[one->family] |= is_simulated;
    }
    assert_int_equal (plan->n_played, n_played);
    assert_int_equal (plan->n_slower, n_slower);
    assert_int_equal (plan->n_weighed, n_weighed);
    for (guint f = 0; f < G_N_ELEMENTS (has_played); f++)
      n_families += has_played[f];
    assert_int_equal (plan->ranking->len, n_families);
    check_ranking (plan, by);
  }
}

/* Where nothing of a family fits, the plan names what comes nearest. */
static void
the_smallest_of_what_does_not_fit_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of ();
  g_autoptr (GPtrArray) all = candidates_of ();
  guint half = all->len / 2;
  FabBytes least = memory_of (study, g_ptr_array_index (all, 0));
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < half; i++)
    least = MIN (least, memory_of (study, g_ptr_array_index (all, i)));
  g_autoptr (FabPlan) none = fab_plan_find (study, candidates_of (), fab_figure_find ("step"), least - 1,
                                            &error);
  g_autoptr (FabPlan) some = fab_plan_find (study, candidates_of (), fab_figure_find ("step"), least, &error);
  assert_int_equal (none->ranking->len, 0);
  assert_int_equal (fab_plan_smallest (none, 0)->trial.point->memory_bytes, least);
  assert_null (fab_plan_smallest (some, 0));
  assert_int_equal (some->ranking->len, 1);
}

/* What is wrong with a candidate is said of it, and the others are compared. */
static void
an_impossible_candidate_does_not_end_the_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of ();
  GPtrArray *candidates = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_candidate_free);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++) {
    FabCandidate *candidate = fab_candidate_new ("ddp", i, 0);

    candidate->edits = fab_edits_of (
        (const char *[]){ i == 0 ? "job.micro_batch=-1" : "job.micro_batch=1", NULL });
    g_ptr_array_add (candidates, candidate);
  }
  g_autoptr (FabPlan) plan = fab_plan_find (study, candidates, fab_figure_find ("step"), 0, &error);
  const FabCandidate *wrong = g_ptr_array_index (plan->candidates, 0);
  assert_int_equal (wrong->state, FAB_CANDIDATE_IMPOSSIBLE);
  assert_non_null (wrong->trial.problem);
  assert_int_equal (plan->ranking->len, 1);
  assert_int_equal (plan->n_played, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_first_that_fits_of_each_batch_is_simulated),
    cmocka_unit_test (the_smallest_of_what_does_not_fit_is_named),
    cmocka_unit_test (an_impossible_candidate_does_not_end_the_plan),
  };

  return play_run_tests ("plan", tests, &catalog);
}
