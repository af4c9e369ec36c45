/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit.c - regimes, lines and their intervals from times whose truth is known. */
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/fit/curve.h"

typedef struct {
  double up_to, overhead_us, GBps;
} Truth;

static const Truth straight[] = { { 1e18, 5, 12 } };

/* A copy of 8 KiB a rendezvous of 12 us replaces: what an eager limit looks like. */
static const Truth eager[] = { { 8192, 2, 1 }, { 1e18, 12, 10 } };

static double
truth_ps (const Truth *truth, double bytes)
{
  while (bytes > truth->up_to)
    truth++;
  return truth->overhead_us * 1e6 + bytes / truth->GBps * 1e3;
}

/* 1 B to 16 MiB in powers of two: 25 sizes. */
enum { N_SIZES = 25 };

static double
normal (GRand *rng)
{
  double sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rng);
  return sum - 6;
}

static void
make_points (FabFitPoint *points, const Truth *truth, double noise, GRand *rng)
{
  for (guint i = 0; i < N_SIZES; i++) {
    double bytes = (double) (1u << i);

    points[i] = (FabFitPoint){ bytes, truth_ps (truth, bytes) * (1 + (rng ? noise * normal (rng) : 0)) };
  }
}

static FabFitCurve *
fit (const FabFitPoint *points, guint n, double hold_out)
{
  g_autoptr (GError) error = NULL;
  FabFitCurve *curve = fab_fit_curve_new (points, n, hold_out, &error);

  assert_null (error);
  return curve;
}

static void
test_one_regime_without_noise (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[N_SIZES];

  make_points (points, straight, 0, NULL);
  g_autoptr (FabFitCurve) curve = fit (points, N_SIZES, 1.0 / 3);
  assert_int_equal (curve->n_regimes, 1);
  assert_near (curve->regimes[0].line.overhead_ps, 5e6, 1e-6);
  assert_near (fab_fit_regime_rate (&curve->regimes[0]), 12e9, 1e-6);
  assert_int_equal (curve->errors[FAB_FIT_FITTED].n, 17);
  assert_int_equal (curve->errors[FAB_FIT_HELD_OUT].n, 8);
  assert_true (curve->errors[FAB_FIT_HELD_OUT].max_fraction < 1e-6);
  assert_int_equal (curve->errors[FAB_FIT_OUTSIDE].n, 0);
}

/* 8 KiB is held out or not; the end lies between the last fitted size below and the first above. */
static void
test_the_eager_limit_is_found (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) rng = g_rand_new_with_seed (7);
  FabFitPoint points[N_SIZES];

  make_points (points, eager, 0.01, rng);
  g_autoptr (FabFitCurve) curve = fit (points, N_SIZES, 1.0 / 3);
  assert_int_equal (curve->n_regimes, 2);
  assert_true (curve->up_to_bytes[0] >= 4096 && curve->up_to_bytes[0] <= 16384);
  assert_near (curve->regimes[0].line.overhead_ps, 2e6, 0.03);
  assert_near (fab_fit_regime_rate (&curve->regimes[1]), 10e9, 0.03);
}

static void
test_three_regimes_and_an_outlier (G_GNUC_UNUSED void **state)
{
  const Truth truth[] = { { 1000, 2, 0.5 }, { 70000, 6, 4 }, { 1e18, 30, 20 } };
  g_autoptr (GRand) rng = g_rand_new_with_seed (3);
  FabFitPoint points[N_SIZES];

  make_points (points, truth, 0.005, rng);
  points[3].time_ps *= 1.5;
  points[22].time_ps *= 3;
  g_autoptr (FabFitCurve) curve = fit (points, N_SIZES, 0);
  assert_int_equal (curve->n_regimes, 3);
  assert_near (curve->regimes[0].line.overhead_ps, 2e6, 0.02);
  assert_near (curve->regimes[1].line.overhead_ps, 6e6, 0.05);
  assert_near (fab_fit_regime_rate (&curve->regimes[2]), 20e9, 0.02);
}

/* One curve in a hundred has a second regime that is not there; an interval may be a little too narrow by that. */
static void
count_covered (double noise, guint *n_rate, guint *n_overhead, guint *n_regimes)
{
  for (guint seed = 1; seed <= 300; seed++) {
    g_autoptr (GRand) rng = g_rand_new_with_seed (seed);
    FabFitPoint points[N_SIZES];

    make_points (points, straight, noise, rng);
    g_autoptr (FabFitCurve) curve = fit (points, N_SIZES, 1.0 / 3);
    const FabFitRegime *first = &curve->regimes[0], *last = &curve->regimes[curve->n_regimes - 1];

    *n_overhead += fabs (first->line.overhead_ps - 5e6) <= first->overhead_half_ps;
    *n_rate += fabs (fab_fit_regime_rate (last) - 12e9) <= fab_fit_regime_rate_half (last);
    *n_regimes += curve->n_regimes;
  }
}

static void
test_intervals_hold_the_truth (G_GNUC_UNUSED void **state)
{
  static const double noises[] = { 0.005, 0.02, 0.05 };

  for (guint i = 0; i < G_N_ELEMENTS (noises); i++) {
    guint n_rate = 0, n_overhead = 0, n_regimes = 0;

    count_covered (noises[i], &n_rate, &n_overhead, &n_regimes);
    print_message ("noise %g: rate %.1f %%, overhead %.1f %%, %.2f regimes\n", noises[i], n_rate / 3.0,
                   n_overhead / 3.0, n_regimes / 300.0);
    assert_in_range (n_rate, 270, 297);
    assert_in_range (n_overhead, 270, 297);
  }
}

static void
test_the_order_of_points_does_not_matter (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) rng = g_rand_new_with_seed (11);
  FabFitPoint points[N_SIZES], mixed[N_SIZES];

  make_points (points, eager, 0.03, rng);
  memcpy (mixed, points, sizeof mixed);
  for (guint i = N_SIZES - 1; i > 0; i--) {
    guint k = (guint) g_rand_int_range (rng, 0, (gint) i + 1);
    FabFitPoint kept = mixed[i];

    mixed[i] = mixed[k];
    mixed[k] = kept;
  }
  g_autoptr (FabFitCurve) a = fit (points, N_SIZES, 0.2), b = fit (mixed, N_SIZES, 0.2);
  assert_int_equal (a->n_regimes, b->n_regimes);
  assert_memory_equal (a->regimes, b->regimes, sizeof a->regimes);
  assert_memory_equal (a->errors, b->errors, sizeof a->errors);
}

/* Ten times as slow everywhere: the same regimes with ten times the overhead at a tenth of the rate. */
static void
test_scale_does_not_matter (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) rng = g_rand_new_with_seed (5);
  FabFitPoint points[N_SIZES];

  make_points (points, eager, 0.02, rng);
  g_autoptr (FabFitCurve) fast = fit (points, N_SIZES, 1.0 / 3);
  for (guint i = 0; i < N_SIZES; i++)
    points[i].time_ps *= 10;
  g_autoptr (FabFitCurve) slow = fit (points, N_SIZES, 1.0 / 3);
  assert_int_equal (fast->n_regimes, slow->n_regimes);
  for (guint k = 0; k < fast->n_regimes; k++) {
    assert_near (slow->regimes[k].line.overhead_ps, 10 * fast->regimes[k].line.overhead_ps, 1e-6);
    assert_near (fab_fit_regime_rate (&slow->regimes[k]) * 10, fab_fit_regime_rate (&fast->regimes[k]), 1e-6);
    assert_near (slow->regimes[k].overhead_half_ps, 10 * fast->regimes[k].overhead_half_ps, 1e-4);
  }
  assert_near (slow->errors[FAB_FIT_HELD_OUT].median_fraction, fast->errors[FAB_FIT_HELD_OUT].median_fraction,
               1e-6);
}

static void
test_one_size_more_than_once_is_its_median (G_GNUC_UNUSED void **state)
{
  const FabFitPoint points[] = { { 8, 3e6 }, { 4, 1e6 }, { 8, 9e6 }, { 8, 4e6 }, { 4, 2e6 } };
  g_autoptr (GArray) merged = fab_fit_merge_sizes (points, G_N_ELEMENTS (points));

  assert_int_equal (merged->len, 2);
  assert_true (g_array_index (merged, FabFitPoint, 0).time_ps == 1.5e6);
  assert_true (g_array_index (merged, FabFitPoint, 1).time_ps == 4e6);
}

/* Small messages only: an overhead, and a rate that nobody would believe is not told. */
static void
test_constant_times_tell_no_rate (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[8];

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    points[i] = (FabFitPoint){ (double) (1u << i), 5e6 };
  g_autoptr (FabFitCurve) curve = fit (points, G_N_ELEMENTS (points), 0);
  assert_int_equal (curve->n_regimes, 1);
  assert_near (curve->regimes[0].line.overhead_ps, 5e6, 1e-2);
  assert_false (fab_fit_regime_has_rate (&curve->regimes[0]));
}

/* Rates only, no overhead: none is made up. */
static void
test_pure_rate_has_no_overhead (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[8];

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    points[i] = (FabFitPoint){ (double) (1u << (i + 16)), (double) (1u << (i + 16)) * 100 };
  g_autoptr (FabFitCurve) curve = fit (points, G_N_ELEMENTS (points), 0);
  assert_near (fab_fit_regime_rate (&curve->regimes[0]), 10e9, 1e-6);
  assert_true (curve->regimes[0].line.overhead_ps < 1e3);
}

static void
assert_refused (const FabFitPoint *points, guint n, const char *why)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFitCurve) curve = fab_fit_curve_new (points, n, 0, &error);

  assert_null (curve);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  if (strstr (error->message, why) == NULL)
    fail_msg ("'%s' is not in '%s'", why, error->message);
}

static void
test_what_is_no_curve_is_refused (G_GNUC_UNUSED void **state)
{
  const FabFitPoint few[] = { { 1, 1e6 }, { 2, 1e6 }, { 2, 2e6 }, { 4, 1e6 } };
  const FabFitPoint falling[] = { { 1, 9e6 }, { 16, 2e6 }, { 64, 2e6 }, { 128, 2e6 } };

  assert_refused (few, G_N_ELEMENTS (few), "3 sizes");
  assert_refused (falling, G_N_ELEMENTS (falling), "times that fall with size");
}

static void
test_impossible_points_are_refused (G_GNUC_UNUSED void **state)
{
  static const FabFitPoint bad[] = { { 8, 0 }, { 8, 10 }, { 8, 1e16 }, { 0, 1e6 }, { 8e9, 1e4 } };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    assert_false (fab_fit_check_point (&bad[i], &error));
    assert_non_null (strstr (error->message, "is the unit right?"));
  }
}

static void
test_student (G_GNUC_UNUSED void **state)
{
  assert_near (fab_fit_student_95 (1), 12.7062, 1e-6);
  assert_near (fab_fit_student_95 (6), 2.4469, 1e-3);
  assert_near (fab_fit_student_95 (30), 2.0423, 1e-4);
  assert_near (fab_fit_student_95 (1000), 1.9623, 1e-4);
  /* From six degrees on the first terms of Abramowitz and Stegun, "Handbook of mathematical functions", 26.7.5. */
  for (guint degrees = 6; degrees < 60; degrees++) {
    const double x = 1.959964, n = degrees;
    double right = x + (pow (x, 3) + x) / (4 * n) + (5 * pow (x, 5) + 16 * pow (x, 3) + 3 * x) / (96 * n * n)
                 + (3 * pow (x, 7) + 19 * pow (x, 5) + 17 * pow (x, 3) - 15 * x) / (384 * pow (n, 3));

    assert_near (fab_fit_student_95 (degrees), right, 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_one_regime_without_noise),
    cmocka_unit_test (test_the_eager_limit_is_found),
    cmocka_unit_test (test_three_regimes_and_an_outlier),
    cmocka_unit_test (test_intervals_hold_the_truth),
    cmocka_unit_test (test_the_order_of_points_does_not_matter),
    cmocka_unit_test (test_scale_does_not_matter),
    cmocka_unit_test (test_one_size_more_than_once_is_its_median),
    cmocka_unit_test (test_constant_times_tell_no_rate),
    cmocka_unit_test (test_pure_rate_has_no_overhead),
    cmocka_unit_test (test_what_is_no_curve_is_refused),
    cmocka_unit_test (test_impossible_points_are_refused),
    cmocka_unit_test (test_student),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
