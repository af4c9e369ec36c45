/* SPDX-License-Identifier: Apache-2.0 */
/* test_stats.c - quantiles and medians of a few values, by hand. */
#include "tests/support/test.h"

#include "sim/base/order.h"
#include "sim/base/stats.h"

/* Of 5 values: ceil (0.5 x 5) = 3rd, ceil (0.95 x 5) = 5th, ceil (0.2 x 5) = 1st, ceil (0.21 x 5) = 2nd. */
static void
a_nearest_rank_is_a_value_that_occurred (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_nearest_rank (5, 0.5), 2);
  assert_int_equal (fab_nearest_rank (4, 0.5), 1); /* the lower of the two in the middle */
  assert_int_equal (fab_nearest_rank (5, 0.95), 4);
  assert_int_equal (fab_nearest_rank (5, 0.2), 0);
  assert_int_equal (fab_nearest_rank (5, 0.21), 1);
  assert_int_equal (fab_nearest_rank (5, 0), 0);
  assert_int_equal (fab_nearest_rank (5, 1), 4);
  assert_int_equal (fab_nearest_rank (1, 0.01), 0);
  assert_int_equal (fab_nearest_rank (0, 0.5), 0);
}

/* 5 % and 95 % of 20 k values are k and 19 k of them, though 0.05 and 0.95 are not the numbers that are written. */
static void
whole_ranks_are_not_missed_by_rounding (G_GNUC_UNUSED void **state)
{
  for (guint k = 1; k < 100000; k++) {
    assert_int_equal (fab_nearest_rank (20 * k, 0.05), k - 1);
    assert_int_equal (fab_nearest_rank (20 * k, 0.95), 19 * k - 1);
  }
}

static void
of_an_even_number_a_median_is_the_mean_of_two (G_GNUC_UNUSED void **state)
{
  const double values[] = { -3, 1, 2, 8 };
  const FabTimePs times_ps[] = { -3, 1, 2, 8 };

  assert_near (fab_median (values, 1), -3, 0);
  assert_near (fab_median (values, 3), 1, 0);
  assert_near (fab_median (values, 4), 1.5, 0);
  assert_int_equal (fab_median_time (times_ps, 3), 1);
  assert_int_equal (fab_median_time (times_ps, 4), 1); /* 1.5 rounded down */
  assert_int_equal (fab_median_time ((const FabTimePs[]){ 4, 10 }, 2), 7);
  assert_true (fab_median_time ((const FabTimePs[]){ FAB_TIME_MAX - 3, FAB_TIME_MAX - 1 }, 2)
               == FAB_TIME_MAX - 2);
  assert_int_equal (fab_upper_median (3), 1);
  assert_int_equal (fab_upper_median (4), 2);
}

/* Sums of weights are 1/4, 3/4 and 1. */
static void
a_weighted_nearest_rank_counts_weights (G_GNUC_UNUSED void **state)
{
  const FabWeighted sorted[] = { { 1, 0.25 }, { 5, 0.5 }, { 7, 0.25 } };

  assert_near (fab_weighted_nearest_rank (sorted, 3, 0), 1, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 3, 0.25), 1, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 3, 0.25 + 5e-10), 1, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 3, 0.26), 5, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 3, 0.75), 5, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 3, 1), 7, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 1, 0.25 + 1e-8), 1,
               0); /* the last, where weights are too few */
  assert_near (fab_weighted_nearest_rank (sorted, 3, 0.25 + 1e-8), 5, 0);
  assert_near (fab_weighted_nearest_rank (sorted, 0, 0.5), 0, 0);
  assert_int_equal (fab_order_weighted (&sorted[0], &sorted[1]), -1);
  assert_int_equal (fab_order_weighted (&sorted[1], &sorted[0]), 1);
  assert_int_equal (fab_order_weighted (&sorted[1], &sorted[1]), 0);
}

/* Each value stands in the middle of its weight: of 1, 1 and 2 at 1/8, 3/8 and 3/4. Half way between the last two is
 * 9/16. */
static void
a_weighted_quantile_lies_on_a_line_between_values (G_GNUC_UNUSED void **state)
{
  const double values[] = { 4, 1, 2 }, weights[] = { 2, 1, 1 }, none[] = { 0, 0, 0 };

  assert_near (fab_weighted_quantile (values, weights, 3, 9.0 / 16), 3, 1e-12);
  assert_near (fab_weighted_quantile (values, weights, 3, 0.01), 1, 1e-12);
  assert_near (fab_weighted_quantile (values, weights, 3, 0.99), 4, 1e-12);
  assert_near (fab_weighted_quantile (values, NULL, 3, 0.5), 2, 1e-12);
  assert_near (fab_weighted_quantile (values, none, 3, 0.5), 0, 0);
  assert_near (fab_weighted_quantile (values, NULL, 0, 0.5), 0, 0);
  for (guint i = 0; i <= 4; i++)
    assert_near (fab_weighted_quantile (values, weights, 1, 0.25 * i), 4, 0);
  /* Of equal weights 1, 2 and 4 stand at 1/6, 1/2 and 5/6: a fourth of the way from the first to the second. */
  assert_near (fab_weighted_quantile (values, NULL, 3, 1.0 / 4), 1.25, 1e-12);
  assert_near (fab_weighted_quantile (values, NULL, 3, 3.0 / 4), 3.5, 1e-12);
  assert_near (fab_weighted_quantile (values, weights, 3, 1.0 / 4), 1.5, 1e-12);
  assert_near (fab_weighted_quantile (values, (const double[]){ 0.25, 0.25, 0.25 }, 3, 1.0 / 4), 1.25, 1e-12);
  /* A value of no weight stands between its neighbours. */
  const double more[] = { 1, 2, 3 }, some[] = { 1, 0, 1 };
  assert_near (fab_weighted_quantile (more, some, 3, 3.0 / 8), 1.5, 1e-12);
  assert_near (fab_weighted_quantile (more, some, 3, 5.0 / 8), 2.5, 1e-12);
  assert_near (fab_weighted_quantile (more, (const double[]){ 0, 1, 1 }, 3, 0), 1, 0);
  assert_near (fab_weighted_quantile (more, (const double[]){ 1, 0, 0 }, 3, 1), 2, 0);
  assert_near (fab_weighted_quantile (more, (const double[]){ 0, 1, 1 }, 3, 1.0 / 8), 1.5, 1e-12);
}

static void
orders_are_ascending (G_GNUC_UNUSED void **state)
{
  double reals[] = { 0.5, -1, 2 };
  gint64 signs[] = { G_MAXINT64, 0, G_MININT64 };
  guint64 sizes[] = { G_MAXUINT64, 1, 2 };
  guint ranks[] = { 7, G_MAXUINT, 0 };
  const char *names[] = { "b", "a", NULL };

  qsort (reals, 3, sizeof *reals, fab_order_doubles);
  qsort (signs, 3, sizeof *signs, fab_order_int64s);
  qsort (sizes, 3, sizeof *sizes, fab_order_uint64s);
  qsort (ranks, 3, sizeof *ranks, fab_order_guints);
  qsort (names, 3, sizeof *names, fab_order_texts);
  assert_true (reals[0] < reals[1] && reals[1] < reals[2]);
  assert_true (signs[0] < signs[1] && signs[1] < signs[2]);
  assert_true (sizes[0] < sizes[1] && sizes[1] < sizes[2]);
  assert_true (ranks[0] < ranks[1] && ranks[1] < ranks[2]);
  assert_null (names[0]);
  assert_string_equal (names[1], "a");
  assert_string_equal (names[2], "b");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_nearest_rank_is_a_value_that_occurred),
    cmocka_unit_test (whole_ranks_are_not_missed_by_rounding),
    cmocka_unit_test (of_an_even_number_a_median_is_the_mean_of_two),
    cmocka_unit_test (a_weighted_nearest_rank_counts_weights),
    cmocka_unit_test (a_weighted_quantile_lies_on_a_line_between_values),
    cmocka_unit_test (orders_are_ascending),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
