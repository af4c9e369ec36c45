/* SPDX-License-Identifier: Apache-2.0 */
/* test_mix_failures.c - which failures of a job take a node of the mix away, and which jobs may be in a mix. */
#include "tests/support/test.h"

#include "answer/mix_failures.h"

static const FabFailureRate rates[] = {
  { "gpu", FAB_FAILURE_STOPS, 6e-6, TRUE, 0 },
  { "software", FAB_FAILURE_STOPS, 3e-6, FALSE, 0 },
  { "straggler", FAB_FAILURE_SLOWS, 1e-6, TRUE, 0.25 },
  { "update", FAB_FAILURE_PLANNED, 5e-7, TRUE, 0 },
};

static FabReliability
rules_of (double scale, FabFailureRate scaled[G_N_ELEMENTS (rates)])
{
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    scaled[i] = rates[i];
    scaled[i].per_s *= scale;
  }
  return (FabReliability){ .rates = scaled,
                           .n_rates = G_N_ELEMENTS (rates),
                           .detection_s = 60,
                           .slow_detection_s = 3600,
                           .restart_s = 300,
                           .repair_s = 7200,
                           .n_spares = 4,
                           .interval_s = 1800,
                           .blocking_s = 20,
                           .background_s = 100 };
}

/* Only what stops the job and breaks a node is a node that is away: software stops it and breaks nothing, a slow part
 * or an update is planned. */
static void
only_broken_nodes_break (G_GNUC_UNUSED void **state)
{
  FabFailureRate scaled[G_N_ELEMENTS (rates)];
  FabReliability rules = rules_of (1, scaled);
  FabMixFailures found = fab_mix_failures_of (&rules);

  assert_near (found.stops_per_s, 9e-6, 1e-12);
  assert_near (found.breaks_per_s, 6e-6, 1e-12);
  assert_true (found.planned_per_s > 5e-7);
}

/* A planned stop writes a checkpoint to its end and starts again: 20 + 100 + 300 s. A failure is found first. */
static void
times_are_those_of_the_rules (G_GNUC_UNUSED void **state)
{
  FabFailureRate scaled[G_N_ELEMENTS (rates)];
  FabReliability rules = rules_of (1, scaled);
  FabMixFailures found = fab_mix_failures_of (&rules);

  assert_near (found.planned_s, 420, 1e-12);
  assert_near (found.interval_s, 1800, 1e-12);
  assert_near (found.detection_s, 60, 1e-12);
  assert_near (found.restart_s, 300, 1e-12);
  assert_near (found.repair_s, 7200, 1e-12);
  assert_near (found.blocking_s, 20, 1e-12);
  assert_near (found.background_s, 100, 1e-12);
}

/* Slow parts are there for a share of the time. Meanwhile steps take a quarter longer, so that a fifth of the work is
 * not done. */
static void
slow_parts_slow (G_GNUC_UNUSED void **state)
{
  FabFailureRate scaled[G_N_ELEMENTS (rates)];
  FabReliability rules = rules_of (1, scaled);
  double found = fab_mix_failures_of (&rules).slowing, present = -expm1 (-1e-6 * 3600);

  assert_near (found, 1 / (1 - present / 5), 1e-9);
}

static void
jobs_that_never_end_are_refused (G_GNUC_UNUSED void **state)
{
  const struct {
    double scale;
    gboolean is_good;
  } cases[] = { { 1, TRUE }, { 100, TRUE }, { 2000, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFailureRate scaled[G_N_ELEMENTS (rates)];
    FabGoodputCase found = { .rules = rules_of (cases[i].scale, scaled) };
    g_autoptr (GError) error = NULL;

    assert_int_equal (fab_mix_failures_check ("ft", &found, &error), cases[i].is_good);
    assert_int_equal (error == NULL, cases[i].is_good);
  }
  g_autoptr (GError) error = NULL;
  assert_false (fab_mix_failures_check ("ft", NULL, &error));
  assert_non_null (strstr (error->message, "give their job a `checkpoint`"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (only_broken_nodes_break),
    cmocka_unit_test (times_are_those_of_the_rules),
    cmocka_unit_test (slow_parts_slow),
    cmocka_unit_test (jobs_that_never_end_are_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
