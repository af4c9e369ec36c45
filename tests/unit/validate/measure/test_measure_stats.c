/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_stats.c - order statistics against ones that are obviously right, and against printed tables. */
#include "validate/measure/stats.h"

#include "tests/support/random.h"
#include "tests/support/test.h"

enum { MOST = 61 };

/* Ranks of the 95 % interval of a median as tables of statistics print them. n = 6: the smallest and the largest,
 * because 2 x (1/2)^6 = 3.1 % <= 5 %; n = 5: 2 x (1/2)^5 = 6.25 %. */
static void
test_ranks_of_tables (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, rank;
  } rows[] = { { 1, 0 },  { 5, 0 },  { 6, 1 },   { 8, 1 },   { 9, 2 },
               { 10, 2 }, { 20, 6 }, { 30, 10 }, { 50, 18 }, { 100, 40 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_stats_median_rank (rows[i].n), rows[i].rank);
}

/* Pascal's triangle in integers: P (B < r) = sum of C(n, k), k < r, over 2^n. 40 * sum <= 2^n is 2.5 %. */
static void
test_ranks_of_counting (G_GNUC_UNUSED void **state)
{
  guint64 row[MOST + 1] = { 1 };

  for (guint n = 1; n < MOST; n++) {
    guint64 sum = 0;
    guint rank = 0;

    for (guint k = n; k > 0; k--)
      row[k] += row[k - 1];
    while (rank < n && (sum + row[rank]) <= (G_GUINT64_CONSTANT (1) << n) / 40)
      sum += row[rank++];
    assert_int_equal (fab_stats_median_rank (n), rank);
  }
}

/* Times of 100 with distances of 10 in the middle: beyond 3 x 1.4826 x 10 = 44.5 on either side is an outlier. */
static void
test_outliers_lie_beyond_three_deviations (G_GNUC_UNUSED void **state)
{
  const FabTimePs within[] = { 56, 90, 90, 90, 100, 110, 110, 110, 144 },
                  below[] = { 55, 90, 90, 90, 100, 110, 110, 110, 144 },
                  both[] = { 55, 90, 90, 90, 100, 110, 110, 110, 145 };

  assert_int_equal (fab_stats_outliers (within, G_N_ELEMENTS (within)), 0);
  assert_int_equal (fab_stats_outliers (below, G_N_ELEMENTS (below)), 1);
  assert_int_equal (fab_stats_outliers (both, G_N_ELEMENTS (both)), 2);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  FabTimePs x = *(const FabTimePs *) a, y = *(const FabTimePs *) b;

  return (x > y) - (x < y);
}

/* The smallest of them that at least `percent` of all do not exceed, by counting for each. */
static FabTimePs
counted_percentile (const FabTimePs *times, guint n, guint percent)
{
  FabTimePs best = FAB_TIME_MAX;

  for (guint i = 0; i < n; i++) {
    guint n_not_above = 0;

    for (guint j = 0; j < n; j++)
      n_not_above += times[j] <= times[i];
    if (n_not_above * 100 >= n * percent)
      best = MIN (best, times[i]);
  }
  return best;
}

static void
test_points_of_random_samples (G_GNUC_UNUSED void **state)
{
  Random random = { .state = 7 };

  for (guint round = 0; round < 300; round++) {
    guint n = random_between (&random, 1, 60), spread = random_between (&random, 1, 50);
    FabTimePs times[60], sorted[60];
    FabMeasuredPoint point = { 0 };

    for (guint i = 0; i < n; i++)
      times[i] = sorted[i] = 1000 + random_below (&random, spread);
    qsort (sorted, n, sizeof *sorted, compare);
    fab_stats_point (times, n, &point);
    assert_int_equal (point.n_samples, n);
    assert_int_equal (point.time_ps, (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
    assert_int_equal (point.min_ps, sorted[0]);
    assert_int_equal (point.max_ps, sorted[n - 1]);
    assert_int_equal (point.p05_ps, counted_percentile (times, n, 5));
    assert_int_equal (point.p95_ps, counted_percentile (times, n, 95));
    assert_true (n < 6 ? point.high_ps == 0
                       : point.low_ps <= point.time_ps && point.time_ps <= point.high_ps);
  }
}

/* Median 100, distances 0 0 1 1 1 2 900: their median is 1, the limit 3 x 1.4826. */
static void
test_outliers (G_GNUC_UNUSED void **state)
{
  static const FabTimePs sorted[] = { 99, 99, 100, 100, 101, 102, 1000 };
  static const FabTimePs equal[] = { 5, 5, 5 };

  assert_int_equal (fab_stats_outliers (sorted, G_N_ELEMENTS (sorted)), 1);
  assert_int_equal (fab_stats_outliers (equal, G_N_ELEMENTS (equal)), 0);
}

static void
test_half_width (G_GNUC_UNUSED void **state)
{
  const FabMeasuredPoint known = { .time_ps = 100, .low_ps = 96, .high_ps = 102 },
                         unknown = { .time_ps = 100 };

  assert_near (fab_stats_half_width (&known), 0.03, 1e-12);
  assert_near (fab_stats_half_width (&unknown), 1, 1e-12);
  assert_near (fab_stats_half_width (&(FabMeasuredPoint){ .time_ps = 0, .low_ps = 0, .high_ps = 7 }), 1,
               1e-12);
}

/* Of 1000 medians of 25 samples, about 95 % of the intervals hold the true one: P = 95.7 % for n = 25, r = 8. */
static void
test_intervals_hold_the_median (G_GNUC_UNUSED void **state)
{
  Random random = { .state = 11 };
  guint n_held = 0;

  for (guint round = 0; round < 1000; round++) {
    FabTimePs times[25];
    FabMeasuredPoint point = { 0 };

    for (guint i = 0; i < G_N_ELEMENTS (times); i++)
      times[i] = 1 + random_below (&random, 1999999);
    fab_stats_point (times, G_N_ELEMENTS (times), &point);
    n_held += point.low_ps <= 1000000 && 1000000 <= point.high_ps;
  }
  assert_in_range (n_held, 940, 972);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_ranks_of_tables),
    cmocka_unit_test (test_ranks_of_counting),
    cmocka_unit_test (test_outliers_lie_beyond_three_deviations),
    cmocka_unit_test (test_points_of_random_samples),
    cmocka_unit_test (test_outliers),
    cmocka_unit_test (test_half_width),
    cmocka_unit_test (test_intervals_hold_the_median),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
