/* SPDX-License-Identifier: Apache-2.0 */
/* test_efficiencies.c - efficiencies of measured rows by hand. */
#include "validate/efficiencies/fit.h"

#include "tests/support/test.h"

#define POINT(source_, group_, generation_, log_)             \
  {                                                           \
    source_, group_, generation_, "bf16", "eager", log_, TRUE \
  }

static const FabEfficiencyEntry *
entry_at (const FabEfficienciesFit *fit, guint index)
{
  return &g_array_index (fit->entries, FabEfficiencyEntry, index);
}

/* One cell of two groups, 0 and the median of 0.1, 0.2 and 0.9: the mean is 0.1, and there are no effects. */
static void
groups_weigh_the_same (G_GNUC_UNUSED void **state)
{
  const FabEfficiencyPoint points[] = { POINT ("a", "m", "g", 0), POINT ("b", "m", "g", 0.1),
                                        POINT ("b", "m", "g", 0.9), POINT ("b", "m", "g", 0.2) };
  g_autoptr (FabEfficienciesFit) fit = fab_efficiencies_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_int_equal (fit->entries->len, 5);
  assert_null (entry_at (fit, 0)->generation);
  assert_near (entry_at (fit, 0)->log_scale, 0.1, 1e-9);
  assert_near (entry_at (fit, 1)->log_scale, 0, 1e-9);
  assert_near (entry_at (fit, 4)->log_scale, 0.1, 1e-9);
  assert_int_equal (entry_at (fit, 4)->n_rows, 4);
  assert_int_equal (entry_at (fit, 4)->n_groups, 2);
  assert_int_equal (entry_at (fit, 4)->n_sources, 2);
}

/* Three groups of one source weigh a half each, so 0.3 weighs 1.5 beside the 1 of a source with one: 0.18. */
static void
sources_do_not_rule (G_GNUC_UNUSED void **state)
{
  const FabEfficiencyPoint points[] = { POINT ("a", "m", "g", 0), POINT ("b", "k", "g", 0.3),
                                        POINT ("b", "l", "g", 0.3), POINT ("b", "m", "g", 0.3) };
  g_autoptr (FabEfficienciesFit) fit = fab_efficiencies_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_near (entry_at (fit, 0)->log_scale, 0.18, 1e-9);
}

/* Two generations, 0 and 0.3: a mean of 0.15, and effects drawn towards 0 by one group of -0.075 and 0.075. The cell of
 * the first is half its own 0 and half 0.075. A generation that nobody measured has the mean. */
static void
effects_and_cells (G_GNUC_UNUSED void **state)
{
  const FabEfficiencyPoint points[] = { POINT ("a", "m", "g", 0), POINT ("b", "m", "h", 0.3) };
  const FabEfficiencyPoint other = POINT ("c", "m", "i", 0);
  g_autoptr (FabEfficienciesFit) fit = fab_efficiencies_fit (points, G_N_ELEMENTS (points), 0.9);

  assert_near (entry_at (fit, 0)->log_scale, 0.15, 1e-6);
  assert_near (entry_at (fit, 1)->log_scale, -0.075, 1e-6);
  assert_near (entry_at (fit, 2)->log_scale, 0.075, 1e-6);
  assert_near (fab_efficiencies_of (fit, &points[0]).log_scale, 0.0375, 1e-6);
  assert_near (fab_efficiencies_of (fit, &other).log_scale, 0.15, 1e-6);
}

/* What does not calibrate sets nothing, and is held against what the others say: kernels at 0.1 in place of 0.4 take
 * exp (0.3) times as long, 35 % more. */
static void
judged_rows_are_only_compared (G_GNUC_UNUSED void **state)
{
  FabEfficiencyPoint points[] = { POINT ("a", "m", "g", 0), POINT ("b", "m", "g", 0.2),
                                  POINT ("c", "m", "g", 0.4) };

  points[2].is_calibration = FALSE;
  g_autoptr (FabEfficienciesFit) fit = fab_efficiencies_fit (points, G_N_ELEMENTS (points), 0.9);
  g_autoptr (GArray) left_out = fab_efficiencies_left_out (points, G_N_ELEMENTS (points), 0.9);
  const FabEfficiencyLeftOut *third = &g_array_index (left_out, FabEfficiencyLeftOut, 2);

  assert_near (entry_at (fit, 0)->log_scale, 0.1, 1e-9);
  assert_int_equal (left_out->len, 3);
  assert_string_equal (third->source, "c");
  assert_near (third->median_log, 0.3, 1e-9);
  assert_near (third->error_fraction, 0.349859, 1e-6);
}

/* Residuals of five sources. Ends of the others hold a source that is no worse than they are; the widest one is held
 * only when they are stretched: 0.3 over 0.2 is more than 1.5, less than 1.51. */
static void
ends_are_stretched (G_GNUC_UNUSED void **state)
{
  const FabEfficiencyPoint points[] = { POINT ("a", "m", "", -0.1), POINT ("b", "m", "", 0.1),
                                        POINT ("c", "m", "", -0.1), POINT ("d", "m", "", 0.2),
                                        POINT ("e", "m", "", 0.3) };
  FabEfficiencyEnds ends = fab_residual_ends (points, G_N_ELEMENTS (points), 0.9);

  assert_near (ends.high, 0.3 * 1.5, 0.3 * 0.011);
  assert_near (ends.low, -0.1 * 1.5, 0.1 * 0.011);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (groups_weigh_the_same), cmocka_unit_test (sources_do_not_rule),
    cmocka_unit_test (effects_and_cells),     cmocka_unit_test (judged_rows_are_only_compared),
    cmocka_unit_test (ends_are_stretched),
  };

  return cmocka_run_group_tests_name ("efficiencies", tests, NULL, NULL);
}
