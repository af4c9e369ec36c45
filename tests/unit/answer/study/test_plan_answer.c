/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_answer.c - the ranking of strategies, what does not fit, what cannot be done, and the rows of a plan.
 *
 * GPT-2 XL on two GPUs. With what the scenario says, a step has four sequences of 1024 tokens; the job whose pipeline
 * has two stages has three, which two data-parallel ranks cannot share.
 */
#include "tests/support/test.h"

#include "answer/study/plan.h"
#include "tests/support/play.h"

#define CLUSTER "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
#define JOB "model: gpt2-xl, sequence: 1024, compute: {kind: mfu, mfu: 40%}"

static const char even[] = CLUSTER "job: {kind: ddp, micro_batch: 2, " JOB "}\n",
                  noisy[] = CLUSTER "job: {kind: ddp, micro_batch: 2, jitter: {cv: 2%}, " JOB "}\n",
                  three[] = CLUSTER
                  "job: {kind: megatron, micro_batch: 1, global_batch: 3, parallel: {pipeline: 2}, " JOB
                  "}\n";

static FabCatalog *catalog;

static FabPlanAnswer *
answer_of (const FabStudy *study, const char *strategies, FabBytes most_bytes, guint n_limits)
{
  const FabPlanRequest request = { strategies, fab_figure_find ("tokens"), most_bytes, n_limits };
  g_autoptr (GError) error = NULL;
  FabPlanAnswer *answer = fab_plan_answer (study, &request, &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

static const FabPoint *
point_at (const FabPlanAnswer *answer, guint place)
{
  return fab_plan_rank (answer, place)->candidate->trial.point;
}

/* zero1, zero2 and zero3 fit, zero3 is the slowest; pipelines are of the strategy of the plain megatron. */
static void
strategies_are_ranked (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = {
    "megatron, micro-batch 2 x 1, recompute none",
    "zero1, micro-batch 2 x 1, recompute none",
    "zero3, micro-batch 2 x 1, recompute none",
    "megatron, pipeline 2, micro-batch 1 x 4, recompute none",
  };
  g_autoptr (FabStudy) study = play_study (catalog, even);
  g_autoptr (FabPlanAnswer) answer = answer_of (study, "zero1,zero3,megatron", 30000000000, 2);

  assert_string_equal (answer->machine, "2 x a100-sxm4-80gb on 1 x dgx-a100");
  assert_int_equal (answer->most_bytes, 30000000000);
  assert_near (answer->sequences, 4, 0);
  assert_int_equal (answer->n_seeds, 1);
  assert_int_equal (answer->ranks->len, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const FabPlanRank *rank = fab_plan_rank (answer, i);
    g_autofree char *name = fab_plan_name (rank->candidate);

    assert_string_equal (name, names[i]);
    assert_ptr_equal (rank->candidate, g_ptr_array_index (answer->plan->ranking, i));
    assert_near (rank->of_best_fraction,
                 point_at (answer, i)->tokens_per_s / point_at (answer, 0)->tokens_per_s, 1e-12);
    assert_int_equal (rank->is_first_of_strategy, i < 3);
    assert_false (rank->is_even); /* of one seed nobody knows */
    assert_int_equal (point_at (answer, i)->bottleneck != NULL, i < 2);
  }
  assert_near (fab_plan_rank (answer, 0)->of_best_fraction, 1, 0);
  assert_true (answer->has_limits);
}

/* The band is that of the step of the first, and the second's step is held against it. */
static void
the_top_is_looked_at_closer (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, even);
  g_autoptr (FabPlanAnswer) answer = answer_of (study, "zero1,megatron", 30000000000, 0),
                            one = answer_of (study, "zero1", 30000000000, 1);
  double step_s = point_at (answer, 0)->step_s;

  assert_int_equal (answer->first->n, 1);
  assert_true (answer->first->low[0] < step_s && answer->first->high[0] > step_s);
  assert_near (answer->second.change.median, point_at (answer, 1)->step_s / step_s - 1, 1e-9);
  assert_true (answer->second.change.n == 1 && answer->second.change.median > 0.01);
  assert_true (answer->second.low_fraction < answer->second.change.median);
  assert_false (answer->has_limits); /* nobody asked */
  assert_null (point_at (answer, 0)->bottleneck);
  assert_int_equal (one->ranks->len, 1);
  assert_int_equal (one->second.change.n, 0);
  assert_true (one->has_limits && one->first != NULL);
}

/* zero1 and zero2 send the same at the same time, and so no seed decides between them. */
static void
what_the_seeds_do_not_decide_is_even (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, noisy);

  study->n_seeds = 3;
  g_autoptr (FabPlanAnswer) answer = answer_of (study, "zero1,zero2,zero3", 23000000000, 2);
  assert_int_equal (answer->ranks->len, 3);
  assert_int_equal (answer->n_seeds, 3);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (fab_plan_rank (answer, i)->is_even, i == 1);
  assert_int_equal (answer->second.change.n, 3);
  /* What limits the first is known on all seeds, and what limits the others on one. */
  assert_int_equal (point_at (answer, 0)->bottleneck->n_draws, 3);
  assert_int_equal (point_at (answer, 1)->bottleneck->n_draws, 1);
}

static void
assert_misfit (const FabPlanAnswer *answer, guint index, const char *name, guint n_divisions, guint n_weighed)
{
  const FabPlanMisfit *misfit = &g_array_index (answer->misfits, FabPlanMisfit, index);
  g_autofree char *nearest = fab_plan_name (misfit->nearest);

  assert_string_equal (nearest, name);
  assert_int_equal (misfit->n_divisions, n_divisions);
  assert_int_equal (misfit->n_weighed, n_weighed);
}

/* Of each strategy that does not fit the candidate that needs least is named: what recomputes all, and of two ways to
 * divide the model the pipeline. Where one of two ways fits, the other one is told too. */
static void
what_does_not_fit_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, even);
  g_autoptr (FabPlanAnswer) none = answer_of (study, "zero1,megatron", 9000000000, 4),
                            some = answer_of (study, "zero1,megatron", 18000000000, 4),
                            all = answer_of (study, "zero1,megatron", 80000000000, 4),
                            device = answer_of (study, "zero1", 0, 4);

  assert_int_equal (none->misfits->len, 3);
  assert_misfit (none, 0, "as written, micro-batch 2 x 1, recompute none", 1, 1);
  assert_misfit (none, 1, "zero1, micro-batch 1 x 2, recompute full", 1, 1);
  assert_misfit (none, 2, "megatron, pipeline 2, micro-batch 1 x 4, recompute full", 2, 2);
  assert_int_equal (none->ranks->len, 0);
  assert_int_equal (none->n_large, none->plan->n_weighed);
  assert_null (none->first);
  assert_false (none->has_limits);
  assert_int_equal (some->misfits->len, 2);
  assert_misfit (some, 0, "as written, micro-batch 2 x 1, recompute none", 1, 1);
  assert_misfit (some, 1, "megatron, micro-batch 1 x 2, recompute full", 1, 2);
  assert_int_equal (all->misfits->len, 0);
  assert_int_equal (all->n_large, 0);
  assert_int_equal (device->most_bytes, 80000000000); /* what an A100 of 80 GB has */
  for (guint i = 0; i < 2; i++) {
    const FabPlanAnswer *answer = i == 0 ? none : some;
    guint n_large = 0;

    for (guint k = 0; k < answer->plan->candidates->len; k++)
      n_large += ((const FabCandidate *) g_ptr_array_index (answer->plan->candidates, k))->state
              == FAB_CANDIDATE_TOO_LARGE;
    assert_int_equal (answer->n_large, n_large);
  }
}

/* Each reason is told once, with each strategy once that it is the reason for; of those the first has its division. */
static void
reasons_are_told_once (G_GNUC_UNUSED void **state)
{
  static const char batch[] = "a global batch of 3 sequences cannot be divided among 2 data-parallel ranks",
                    node[] = "with one node, there is nothing outside it to save";
  static const struct {
    const char *strategies;
    struct {
      const char *strategies, *problem;
    } told[2];
  } cases[] = {
    { "ddp,zero1,zero3-hpz,megatron", { { "ddp, zero1, megatron", batch }, { "zero3-hpz", node } } },
    { "zero1,zero3-hpz", { { "zero1", batch }, { "zero3-hpz", node } } },
    { "zero3-hpz,fsdp", { { "zero3-hpz", node }, { "fsdp", batch } } },
  };
  g_autoptr (FabStudy) study = play_study (catalog, three);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabPlanAnswer) answer = answer_of (study, cases[i].strategies, 0, 0);

    for (guint k = 0; k < answer->refusals->len; k++) {
      const FabPlanRefusal *refusal = &g_array_index (answer->refusals, FabPlanRefusal, k);

      assert_string_equal (refusal->strategies, cases[i].told[k].strategies);
      assert_string_equal (refusal->problem, cases[i].told[k].problem);
      assert_string_equal (refusal->division, "-");
    }
    assert_int_equal (answer->refusals->len, 2);
  }
}

/* Every candidate that was looked at is a row, in the order of the plan. */
static void
candidates_as_rows (G_GNUC_UNUSED void **state)
{
  static const char *const columns[] = { "rank",  "strategy",    "division",    "batch", "recompute",
                                         "state", "needs_bytes", "assignments", NULL };
  static const char *const states[] = { NULL, "fits", "slower", "too large", "impossible" };
  g_autoptr (FabStudy) study = play_study (catalog, even);
  g_autoptr (FabPlanAnswer) answer = answer_of (study, "ddp,zero3,zero3-hpz,megatron", 18000000000, 0);
  g_autoptr (FabPoints) points = fab_plan_points (answer);
  guint row = 0, seen = 0;

  assert_int_equal (points->n_shown, 8);
  assert_int_equal (points->n_numbers, 0);
  assert_string_equal (points->hold, "batch");
  for (guint i = 0; i <= 8; i++)
    assert_true (g_strcmp0 (points->columns[i], columns[i]) == 0);
  for (guint i = 0; i < answer->plan->candidates->len; i++) {
    const FabCandidate *one = g_ptr_array_index (answer->plan->candidates, i);
    gboolean is_played = one->state == FAB_CANDIDATE_PLAYED;
    guint place;

    seen |= 1u << one->state;
    if (one->state == FAB_CANDIDATE_PASSED_OVER)
      continue;
    const FabPointsRow *told = fab_points_row (points, row++);
    gboolean is_ranked = g_ptr_array_find (answer->plan->ranking, one, &place);
    g_autofree char *rank = is_ranked ? g_strdup_printf ("%u", place + 1) : NULL,
                    *bytes = one->trial.point != NULL
                               ? g_strdup_printf ("%" G_GUINT64_FORMAT, one->trial.point->memory_bytes)
                               : NULL,
                    *edits = one->edits != NULL ? g_strjoinv (" ", (char **) fab_edits_texts (one->edits))
                                                : NULL;
    const char *const labels[] = { rank,        one->strategy,      one->division, one->batch,
                                   one->remedy, states[one->state], bytes,         edits };
    for (guint c = 0; c < G_N_ELEMENTS (labels); c++)
      assert_true (g_strcmp0 (told->labels[c], labels[c]) == 0);
    assert_ptr_equal (told->point, is_played ? one->trial.point : NULL);
    assert_ptr_equal (told->problem, one->state == FAB_CANDIDATE_IMPOSSIBLE ? one->trial.problem : NULL);
  }
  assert_int_equal (points->rows->len, row);
  assert_int_equal (seen, (1u << G_N_ELEMENTS (states)) - 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (strategies_are_ranked),
    cmocka_unit_test (the_top_is_looked_at_closer),
    cmocka_unit_test (what_the_seeds_do_not_decide_is_even),
    cmocka_unit_test (what_does_not_fit_is_named),
    cmocka_unit_test (reasons_are_told_once),
    cmocka_unit_test (candidates_as_rows),
  };

  return play_run_tests ("plan_answer", tests, &catalog);
}
