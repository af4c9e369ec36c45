/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_life.c - what of a job's work is done, saved and undone, by hand. Lives in a mix: test_job_mix.c.
 *
 * A job computes for 10 s, stands still for 2 s to write, and so on; a checkpoint is complete 3 s after that. Computing
 * takes 1.25 times as long as the work, so a cycle of 12 s does 8 s of work.
 */
#include "tests/support/test.h"

#include <math.h>

#include "sim/sharing/job_life.h"

static const FabMixFailures rules = { .interval_s = 10, .blocking_s = 2, .background_s = 3, .slowing = 1.25 };

/* Nothing, or next to nothing, in seconds. */
#define assert_none(value) assert_true (fabs (value) < 1e-9)

/* 40 s of work are 50 s of computing: four checkpoints of 2 s, since there is none at the end. A job with less than an
 * interval to compute writes none; nor does one that is 1e-9 of an interval longer, which is rounding. */
static void
what_is_left_counts_checkpoints (G_GNUC_UNUSED void **state)
{
  static const struct {
    double work_s, left_s;
  } rows[] = { { 40, 58 },          { 41, 51.25 + 10 }, { 8, 10 }, { 8 + 1e-10, 10 },
               { 8.1, 10.125 + 2 }, { 4, 5 },           { 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabJobLife life = fab_job_life (&rules, rows[i].work_s);

    assert_near (fab_job_life_left (&life), rows[i].left_s, 1e-9);
    assert_false (life.has_started);
  }
}

/* A kind that never fails has its work and nothing else, also where it ran a part of it. */
static void
without_rules_there_is_work_alone (G_GNUC_UNUSED void **state)
{
  FabJobLife life = fab_job_life (NULL, 40);
  FabMixOutcome outcome = { 0 };

  assert_near (fab_job_life_left (&life), 40, 1e-12);
  fab_job_life_run (&life, 45, 1, 1.5, &outcome); /* 30 s of work; sharing takes 15 */
  assert_near (fab_job_life_left (&life), 10, 1e-12);
  assert_none (outcome.sharing_lost_s);
  fab_job_life_save (&life, &outcome);
  assert_near (life.left_s, 10, 1e-12);
  assert_near (fab_job_life_left (&life), 10, 1e-12);
  assert_near (outcome.sharing_lost_s, 15, 1e-12);
  assert_none (outcome.checkpoint_s);
  assert_none (outcome.slowed_s);
  fab_job_life_run (&life, 10, 1, 1, &outcome);
  assert_none (fab_job_life_left (&life));
  fab_job_life_undo (&life, &outcome);
  assert_near (outcome.undone_s, 10, 1e-12);
  assert_near (fab_job_life_left (&life), 10, 1e-12);
}

/* What comes after the last complete checkpoint is lost: it is complete at 15 s, the next one at 27 s. */
static void
failures_undo_what_no_checkpoint_has (G_GNUC_UNUSED void **state)
{
  static const struct {
    double run_s;
    guint n_saved;
  } rows[] = { { 1, 0 }, { 12, 0 }, { 14.9, 0 }, { 15, 1 }, { 26.9, 1 }, { 27, 2 }, { 39.5, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabJobLife life = fab_job_life (&rules, 40);
    FabMixOutcome outcome = { 0 };
    double n = rows[i].n_saved;

    fab_job_life_run (&life, rows[i].run_s, 1, 1, &outcome);
    assert_near (fab_job_life_left (&life), 58 - rows[i].run_s, 1e-9);
    assert_near (life.left_s, 40 - 8 * n, 1e-9);
    fab_job_life_undo (&life, &outcome);
    assert_near (outcome.undone_s, rows[i].run_s - 12 * n, 1e-9);
    assert_near (outcome.checkpoint_s, 2 * n, 1e-9);
    assert_near (outcome.slowed_s, 2 * n, 1e-9);
    assert_near (fab_job_life_left (&life), 58 - 12 * n, 1e-9);
    fab_job_life_undo (&life, &outcome); /* nothing is left to undo */
    assert_near (outcome.undone_s, rows[i].run_s - 12 * n, 1e-9);
  }
}

/* The whole of a job, in one run or in many: four checkpoints, and 10 s more than the work because of slow parts. No
 * checkpoint is kept that the work does not need, however long the run is. */
static void
a_job_that_ends_has_all_of_its_checkpoints (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 58; n += 3) {
    FabJobLife life = fab_job_life (&rules, 40);
    FabMixOutcome outcome = { 0 };

    for (guint i = 0; i < n; i++)
      fab_job_life_run (&life, 58.0 * 2 / n, 1.5, 2, &outcome);
    assert_true (fab_job_life_left (&life) < 1e-9);
    fab_job_life_save (&life, &outcome);
    assert_true (life.left_s >= 0 && life.left_s < 1e-9);
    assert_near (outcome.checkpoint_s, 8, 1e-9);
    assert_near (outcome.slowed_s, 10, 1e-9);
    assert_near (outcome.places_lost_s, 29, 1e-9);
    assert_near (outcome.sharing_lost_s, 29, 1e-9);
    assert_none (outcome.undone_s);
  }
}

/* Saving keeps all that was computed: of a checkpoint under way only the time is counted, and the work of the whole
 * cycle is done before it. */
static void
saving_keeps_what_was_computed (G_GNUC_UNUSED void **state)
{
  static const struct {
    double run_s, work_s, checkpoint_s;
  } rows[] = { { 5, 4, 0 },    { 10, 8, 0 },   { 11, 8, 1 },  { 12, 8, 2 },
               { 13, 8.8, 2 }, { 14, 9.6, 2 }, { 22, 16, 2 }, { 23.5, 16, 3.5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabJobLife life = fab_job_life (&rules, 40);
    FabMixOutcome outcome = { 0 };

    fab_job_life_run (&life, rows[i].run_s, 1, 1, &outcome);
    fab_job_life_save (&life, &outcome);
    assert_near (life.left_s, 40 - rows[i].work_s, 1e-9);
    assert_near (outcome.checkpoint_s, rows[i].checkpoint_s, 1e-9);
    assert_near (outcome.slowed_s, rows[i].work_s / 4, 1e-9);
    assert_none (life.position_s);
    assert_none (life.pending_s);
    fab_job_life_undo (&life, &outcome);
    assert_none (outcome.undone_s);
  }
}

/* At 15 s of job time the first 12 s are kept, and what they lost with them. The 3 s after them were slowed as the run
 * was that ended then, since that one is at least as long: 4 s of job time at 1.5 by places and 2 in all, after 11 s
 * without. */
static void
losses_go_with_the_time_that_they_slowed (G_GNUC_UNUSED void **state)
{
  FabJobLife life = fab_job_life (&rules, 40);
  FabMixOutcome outcome = { 0 };

  fab_job_life_run (&life, 11, 1, 1, &outcome);
  fab_job_life_run (&life, 8, 1.5, 2, &outcome);
  assert_near (life.position_s, 3, 1e-9);
  assert_near (outcome.places_lost_s, 0.5, 1e-9);
  assert_near (outcome.sharing_lost_s, 0.5, 1e-9);
  assert_near (life.places_s, 1.5, 1e-9);
  assert_near (life.sharing_s, 1.5, 1e-9);
  fab_job_life_undo (&life, &outcome);
  assert_near (outcome.undone_s, 6, 1e-9);
  assert_none (life.places_s);
  assert_none (life.sharing_s);
}

/* Where the run that ends is shorter than what is pending, that has its share of all losses: 15 s with losses of 7 s by
 * places and of 7 s by sharing, of which 3 s have a fifth. */
static void
losses_of_earlier_runs_are_shared_evenly (G_GNUC_UNUSED void **state)
{
  FabJobLife life = fab_job_life (&rules, 40);
  FabMixOutcome outcome = { 0 };

  fab_job_life_run (&life, 28, 1.5, 2, &outcome);
  assert_none (outcome.places_lost_s + outcome.sharing_lost_s);
  fab_job_life_run (&life, 1, 1, 1, &outcome);
  assert_near (life.position_s, 3, 1e-9);
  assert_near (outcome.places_lost_s, 7 - 7.0 / 5, 1e-9);
  assert_near (outcome.sharing_lost_s, 7 - 7.0 / 5, 1e-9);
  fab_job_life_undo (&life, &outcome);
  assert_near (outcome.undone_s, 3 + 2 * 7.0 / 5, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_left_counts_checkpoints),
    cmocka_unit_test (without_rules_there_is_work_alone),
    cmocka_unit_test (failures_undo_what_no_checkpoint_has),
    cmocka_unit_test (a_job_that_ends_has_all_of_its_checkpoints),
    cmocka_unit_test (saving_keeps_what_was_computed),
    cmocka_unit_test (losses_go_with_the_time_that_they_slowed),
    cmocka_unit_test (losses_of_earlier_runs_are_shared_evenly),
  };

  return cmocka_run_group_tests_name ("job_life", tests, NULL, NULL);
}
