/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - which candidates of a plan are simulated, and which of them comes first. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/study/plan.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define ALONE                                                                       \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"

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
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
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
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
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
  for (guint i = 0; i < all->len; i++) {
    const FabCandidate *one = g_ptr_array_index (none->candidates, i),
                       *smallest = fab_plan_smallest (none, one->family);

    assert_int_equal (smallest->family, one->family);
    if (one->state == FAB_CANDIDATE_TOO_LARGE)
      assert_true (smallest->trial.point->memory_bytes <= one->trial.point->memory_bytes);
  }
  assert_null (fab_plan_smallest (none, 7));
  assert_null (fab_plan_smallest (some, 0));
  assert_int_equal (some->ranking->len, 1);
}

/* What is wrong with a candidate is said of it, and the others are compared. */
static void
an_impossible_candidate_does_not_end_the_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
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

/* A candidate of each of these micro-batches: of size number i, all of the first family but those from `second` on. */
static GPtrArray *
of_batches (const guint *micro_batches, guint n, guint second)
{
  GPtrArray *candidates = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_candidate_free);

  for (guint i = 0; i < n; i++) {
    FabCandidate *candidate = fab_candidate_new ("ddp", i >= second, i);
    g_autofree char *batch = g_strdup_printf ("job.micro_batch=%u", micro_batches[i]);

    candidate->edits = fab_edits_of ((const char *[]){ batch, NULL });
    g_ptr_array_add (candidates, candidate);
  }
  return candidates;
}

static FabPlan *
find (const FabStudy *study, GPtrArray *candidates, const char *by)
{
  g_autoptr (GError) error = NULL;
  FabPlan *plan = fab_plan_find (study, candidates, fab_figure_find (by), 0, &error);

  if (plan == NULL)
    fail_msg ("%s", error->message);
  return plan;
}

/* The last of a family is simulated first: a candidate whose step must take longer is left, where the figure is better
 * exactly where the step is shorter and one seed says how long that is. The pulse counts what is simulated. */
static void
what_is_slower_is_left (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *by;
    guint n_seeds;
    guint micro_batches[3];
    guint n_slower;
  } rows[] = {
    { "step", 1, { 8, 4, 1 }, 2 },    { "step", 1, { 1, 4, 8 }, 0 }, { "step", 1, { 8, 1, 4 }, 1 },
    { "exposed", 1, { 8, 4, 1 }, 0 }, { "step", 2, { 8, 4, 1 }, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabStudy) study = play_study (catalog, ALONE);
    FabPulse pulse = { 0 };

    study->n_seeds = rows[i].n_seeds;
    study->pulse = &pulse;
    g_autoptr (FabPlan) plan = find (study, of_batches (rows[i].micro_batches, 3, 3), rows[i].by);
    assert_int_equal (plan->n_slower, rows[i].n_slower);
    assert_int_equal (plan->n_played, 3 - rows[i].n_slower);
    assert_int_equal (plan->n_weighed, 3);
    assert_int_equal (plan->ranking->len, 1);
    assert_int_equal (pulse.n_known, pulse.n_done);
    assert_int_equal (pulse.n_done, 3 * rows[i].n_seeds);
    for (guint k = 0; k < 3; k++) {
      const FabCandidate *one = g_ptr_array_index (plan->candidates, k);

      assert_true ((one->state == FAB_CANDIDATE_PLAYED) == (one->trial.point->step_s > 0));
    }
  }
}

/* Of candidates that are equally good the first of a family is its best, and the first family comes first; a better one
 * comes before it. */
static void
the_first_of_equal_candidates_is_the_best (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
  g_autoptr (FabPlan) plan = find (study, of_batches ((const guint[]){ 2, 2, 2, 2 }, 4, 2), "step");

  assert_int_equal (plan->n_played, 4);
  assert_int_equal (plan->ranking->len, 2);
  assert_ptr_equal (g_ptr_array_index (plan->ranking, 0), g_ptr_array_index (plan->candidates, 0));
  assert_ptr_equal (g_ptr_array_index (plan->ranking, 1), g_ptr_array_index (plan->candidates, 2));
  g_autoptr (FabPlan) reverse = find (study, of_batches ((const guint[]){ 4, 2, 1 }, 3, 1), "step");
  assert_ptr_equal (g_ptr_array_index (reverse->ranking, 0), g_ptr_array_index (reverse->candidates, 2));
  assert_ptr_equal (g_ptr_array_index (reverse->ranking, 1), g_ptr_array_index (reverse->candidates, 0));
}

/* Without a limit of its own a plan has that of the device, which a study may lift. */
static void
the_device_is_the_limit_unless_it_is_lifted (G_GNUC_UNUSED void **state)
{
  static const guint micro_batches[] = { 1, 100 };
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
  g_autoptr (FabPlan) bound = find (study, of_batches (micro_batches, 2, 2), "tokens");
  study->allows_oversized = TRUE;
  GPtrArray *candidates = of_batches (micro_batches, 2, 2);
  FabCandidate *settled = g_ptr_array_index (candidates, 0);
  settled->trial.problem = g_strdup ("It was tried before.");
  g_autoptr (FabPlan) lifted = find (study, candidates, "tokens");

  assert_int_equal (((FabCandidate *) g_ptr_array_index (bound->candidates, 0))->state, FAB_CANDIDATE_PLAYED);
  assert_int_equal (((FabCandidate *) g_ptr_array_index (bound->candidates, 1))->state,
                    FAB_CANDIDATE_TOO_LARGE);
  assert_int_equal (bound->n_weighed, 2);
  assert_int_equal (settled->state, FAB_CANDIDATE_IMPOSSIBLE);
  assert_int_equal (((FabCandidate *) g_ptr_array_index (lifted->candidates, 1))->state,
                    FAB_CANDIDATE_PLAYED);
  assert_int_equal (lifted->n_weighed, 1);
}

/* What cannot be read, and what was cancelled, has no plan. */
static void
a_plan_that_cannot_be_made_says_why (G_GNUC_UNUSED void **state)
{
  static const guint micro_batches[] = { 1, 2 };
  static const gint cancelled = 1;
  g_autoptr (FabStudy) study = play_study (catalog, ALONE);
  g_autoptr (FabEdits) wrong = fab_edits_of ((const char *[]){ "job.micro_batch=none", NULL });
  g_autoptr (FabStudy) broken = fab_study_edited (study, wrong);
  g_autoptr (GError) problem = NULL, stopped = NULL;

  assert_null (
      fab_plan_find (broken, of_batches (micro_batches, 2, 2), fab_figure_find ("step"), 0, &problem));
  assert_non_null (strstr (problem->message, "micro_batch"));
  study->cancel = &cancelled;
  assert_null (
      fab_plan_find (study, of_batches (micro_batches, 2, 2), fab_figure_find ("step"), 0, &stopped));
  assert_true (g_error_matches (stopped, FAB_ERROR, FAB_ERROR_CANCELLED));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_first_that_fits_of_each_batch_is_simulated),
    cmocka_unit_test (the_smallest_of_what_does_not_fit_is_named),
    cmocka_unit_test (an_impossible_candidate_does_not_end_the_plan),
    cmocka_unit_test (what_is_slower_is_left),
    cmocka_unit_test (the_first_of_equal_candidates_is_the_best),
    cmocka_unit_test (the_device_is_the_limit_unless_it_is_lifted),
    cmocka_unit_test (a_plan_that_cannot_be_made_says_why),
  };

  return play_run_tests ("plan", tests, &catalog);
}
