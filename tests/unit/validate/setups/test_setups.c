/* SPDX-License-Identifier: Apache-2.0 */
/* test_setups.c - the factor of published runs and its bands, by hand. */
#include "validate/setups/fit.h"

#include "tests/support/test.h"

#define POINT(source_, group_, stack_, log_)   \
  {                                            \
    source_, group_, stack_, log_, TRUE, FALSE \
  }

static const FabSetupEntry *
entry_at (const FabSetupsFit *fit, guint index)
{
  return &g_array_index (fit->entries, FabSetupEntry, index);
}

/* Three sources, of which one has three rows: each weighs a third, and the middle is the one of the second. */
static void
sources_weigh_the_same (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "x", 0.1), POINT ("b", "m", "x", 0.2),
                                   POINT ("c", "m", "x", 0.9), POINT ("c", "m", "x", 0.9),
                                   POINT ("c", "m", "x", 0.9) };
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_near (fit->log_factor, 0.2, 1e-9);
}

/* In a source every group weighs the same: one row of -0.5 beside two of 0.5 of another model is in the middle at 0. */
static void
groups_weigh_the_same (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "x", -0.5), POINT ("a", "k", "x", 0.5),
                                   POINT ("a", "k", "x", 0.5) };
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_true (fit->log_factor > -0.5 && fit->log_factor < 0.5);
}

static void
stacks_have_bands_of_their_own (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "x", 0), POINT ("b", "m", "x", 0.1),
                                   POINT ("c", "m", "y", -0.6), POINT ("d", "m", "y", 0.8),
                                   POINT ("e", "m", "x", 0.05) };
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_int_equal (fit->entries->len, 3);
  assert_null (entry_at (fit, 0)->stack);
  assert_string_equal (entry_at (fit, 1)->stack, "x");
  assert_string_equal (entry_at (fit, 2)->stack, "y");
  assert_int_equal (entry_at (fit, 0)->n_sources, 5);
  assert_int_equal (entry_at (fit, 1)->n_rows, 3);
  assert_true (entry_at (fit, 1)->ends.high < entry_at (fit, 2)->ends.high);
  assert_true (entry_at (fit, 1)->ends.low > entry_at (fit, 2)->ends.low);
}

/* Those of b and c say 0.5 and 0.7 beside a factor of 0: their band reaches up and is drawn towards that of the others,
 * which they leave as it is. */
static void
points_apart_move_no_others (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "x", -0.1),
                                   POINT ("b", "m", "x", 0),
                                   POINT ("c", "m", "x", 0.1),
                                   { "b", "e", "y", 0.5, TRUE, TRUE },
                                   { "c", "e", "y", 0.7, TRUE, TRUE } };
  g_autoptr (FabSetupsFit) with = fab_setups_fit (points, 5, 0.9), without = fab_setups_fit (points, 3, 0.9);
  g_autoptr (GArray) left_out = fab_setups_left_out (points, 5, 0.9, TRUE);

  assert_near (with->log_factor, without->log_factor, 0);
  assert_near (with->reach, without->reach, 0);
  assert_near (entry_at (with, 0)->ends.high, entry_at (without, 0)->ends.high, 0);
  assert_near (entry_at (with, 1)->ends.high, entry_at (without, 1)->ends.high, 0);
  assert_string_equal (entry_at (with, 2)->stack, "y");
  assert_int_equal (entry_at (with, 2)->n_sources, 2);
  assert_true (entry_at (with, 2)->ends.high > entry_at (with, 0)->ends.high);
  assert_int_equal (left_out->len, 2);
  assert_int_equal (g_array_index (left_out, FabSetupLeftOut, 0).n_rows, 1);
}

/* What does not calibrate sets nothing, and is held against what the others say: ln of its own factor is 0.4, theirs
 * 0.1, so its step is predicted exp (0.3) times too short, by 26 %. */
static void
judged_rows_are_only_compared (G_GNUC_UNUSED void **state)
{
  FabSetupPoint points[] = { POINT ("a", "m", "x", 0), POINT ("b", "m", "x", 0.2),
                             POINT ("c", "m", "x", 0.4) };

  points[2].is_calibration = FALSE;
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);
  g_autoptr (GArray) left_out = fab_setups_left_out (points, G_N_ELEMENTS (points), 0.9, FALSE);
  const FabSetupLeftOut *third = &g_array_index (left_out, FabSetupLeftOut, 2);

  assert_near (fit->log_factor, 0.1, 1e-9);
  assert_int_equal (left_out->len, 3);
  assert_near (g_array_index (left_out, FabSetupLeftOut, 0).median_log, 0.2, 1e-9); /* against b alone */
  assert_near (g_array_index (left_out, FabSetupLeftOut, 1).median_log, -0.2, 1e-9);
  assert_string_equal (third->source, "c");
  assert_near (third->median_log, -0.3, 1e-9);
  assert_near (third->error_fraction, 0.259182, 1e-6);
}

/* Residuals of five sources. Ends of the others hold a source that is no worse than they are; the widest one is held
 * only when they are stretched: 0.3 over 0.2 is more than 1.5, less than 1.51. */
static void
ends_are_stretched (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "", -0.1), POINT ("b", "m", "", 0.1),
                                   POINT ("c", "m", "", -0.1), POINT ("d", "m", "", 0.2),
                                   POINT ("e", "m", "", 0.3) };
  FabSetupEnds ends = fab_residual_ends (points, G_N_ELEMENTS (points), 0.9);

  assert_near (ends.high, 0.3 * 1.5, 0.3 * 0.011);
  assert_near (ends.low, -0.1 * 1.5, 0.1 * 0.011);
}

/* Residuals of five sources, and bands that are to hold half of them: quantiles of 25 % and 75 %, between points that
 * stand in the middle of their weights. Without the second source they are at -0.2 and 0.2, which holds its -0.2 from a
 * reach of 1 on; those of the outer ones are never held within a reach of 3, and the middle one always is. */
static void
half_of_them_are_held (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "", -0.4), POINT ("b", "m", "", -0.2),
                                   POINT ("c", "m", "", 0), POINT ("d", "m", "", 0.2),
                                   POINT ("e", "m", "", 0.4) };
  const double covered[] = { 0, 1, 1, 1, 0 };
  FabSetupEnds ends = fab_residual_ends (points, G_N_ELEMENTS (points), 0.5);
  g_autoptr (GArray) left_out = fab_residuals_left_out (points, G_N_ELEMENTS (points), 0.5);

  assert_near (ends.low, -0.25, 0.011);
  assert_near (ends.high, 0.25, 0.011);
  assert_int_equal (left_out->len, G_N_ELEMENTS (points));
  for (guint i = 0; i < left_out->len; i++) {
    const FabSetupLeftOut *one = &g_array_index (left_out, FabSetupLeftOut, i);

    assert_string_equal (one->source, points[i].source);
    assert_int_equal (one->n_rows, 1);
    assert_near (one->covered_fraction, covered[i], 0);
    assert_near (one->median_log, -points[i].log_factor, 1e-12);
    assert_near (one->error_fraction, fabs (exp (-points[i].log_factor) - 1), 1e-9);
  }
}

/* The factor is 0 whichever source is left out, so residuals are what the points say, and 90 % reach from the least
 * to the largest. A stack of k sources has k parts of its own ends, and two of those of all. */
static void
ends_of_a_stack_are_drawn_to_those_of_all (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *stack;
    double low, high;
    guint n_sources;
  } expected[] = { { NULL, -0.5, 0.6, 9 },
                   { "x", (2 * -0.1 + 2 * -0.5) / 4, (2 * 0.2 + 2 * 0.6) / 4, 2 },
                   { "y", -0.5, 0.6, 2 },
                   { "z", (5 * 0 + 2 * -0.5) / 7, (5 * 0 + 2 * 0.6) / 7, 5 } };
  const FabSetupPoint points[] = { POINT ("1", "m", "z", 0),    POINT ("2", "m", "z", 0),
                                   POINT ("3", "m", "z", 0),    POINT ("4", "m", "z", 0),
                                   POINT ("5", "m", "z", 0),    POINT ("6", "m", "x", 0.2),
                                   POINT ("7", "m", "x", -0.1), POINT ("8", "m", "y", 0.6),
                                   POINT ("9", "m", "y", -0.5) };
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_near (fit->log_factor, 0, 0);
  assert_near (fit->coverage_fraction, 0.9, 0);
  assert_int_equal (fit->entries->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const FabSetupEntry *entry = entry_at (fit, i);

    assert_int_equal (g_strcmp0 (entry->stack, expected[i].stack), 0);
    assert_near (entry->ends.low, fit->reach * expected[i].low, 1e-12);
    assert_near (entry->ends.high, fit->reach * expected[i].high, 1e-12);
    assert_int_equal (entry->n_sources, expected[i].n_sources);
    assert_int_equal (entry->n_groups, expected[i].n_sources);
  }
}

/* Rows of a group share its weight, and groups that of their source: three rows at 1 weigh as much as the one at -1. */
static void
weights_of_rows (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "k", "x", 1), POINT ("a", "k", "x", 1),
                                   POINT ("a", "k", "x", 1), POINT ("a", "m", "x", -1),
                                   POINT ("b", "m", "x", 0) };
  g_autoptr (FabSetupsFit) fit = fab_setups_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_near (fit->log_factor, 0, 1e-12);
  assert_int_equal (entry_at (fit, 0)->n_rows, 5);
  assert_int_equal (entry_at (fit, 0)->n_groups, 3);
  assert_int_equal (entry_at (fit, 0)->n_sources, 2);
}

/* Bands of two sources that are 0.4 and -0.4 off: what is left without one of them is the other, whose band reaches the
 * other way, so that no reach holds it, and the search ends at 3. Of a single source nothing is left to hold
 * it with. */
static void
sources_that_nothing_holds (G_GNUC_UNUSED void **state)
{
  const FabSetupPoint points[] = { POINT ("a", "m", "", -0.4), POINT ("b", "m", "", 0.4) };
  FabSetupEnds two = fab_residual_ends (points, 2, 0.9), one = fab_residual_ends (points, 1, 0.9);
  FabSetupEnds none = fab_residual_ends (points, 0, 0.9);

  assert_near (two.low, -0.4 * 3, 0.01);
  assert_near (two.high, 0.4 * 3, 0.01);
  assert_near (one.low, -0.4 * 3, 0.01);
  assert_near (one.high, 0, 0);
  assert_near (none.low, 0, 0);
  assert_near (none.high, 0, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sources_weigh_the_same),
    cmocka_unit_test (groups_weigh_the_same),
    cmocka_unit_test (stacks_have_bands_of_their_own),
    cmocka_unit_test (points_apart_move_no_others),
    cmocka_unit_test (judged_rows_are_only_compared),
    cmocka_unit_test (ends_are_stretched),
    cmocka_unit_test (half_of_them_are_held),
    cmocka_unit_test (ends_of_a_stack_are_drawn_to_those_of_all),
    cmocka_unit_test (weights_of_rows),
    cmocka_unit_test (sources_that_nothing_holds),
  };

  return cmocka_run_group_tests_name ("setups", tests, NULL, NULL);
}
