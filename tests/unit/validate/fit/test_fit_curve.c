/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_curve.c - the line of a regime is that of least squares, its intervals are those of Student's t, and which
 * points a curve takes. */
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/fit/curve.h"

enum { N_POINTS = 12 };

/* Deviations in parts of a thousand: below the half percent from which a point is an outlier. */
static const double deviations[N_POINTS] = { 2, -3, 1, 3, -2, -1, 3, -3, 0, 2, -1, -1 };

static FabFitCurve *
fit (const FabFitPoint *points, guint n)
{
  g_autoptr (GError) error = NULL;
  FabFitCurve *curve = fab_fit_curve_new (points, n, 0, &error);

  if (curve == NULL)
    fail_msg ("%s", error->message);
  return curve;
}

static void
assert_refused (const FabFitPoint *points, guint n, const char *words)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_fit_curve_new (points, n, 0, &error));
  if (strstr (error->message, words) == NULL)
    fail_msg ("'%s' has no '%s'", error->message, words);
}

/* --- the line --- */

/* Powers of two from `first_bytes`. */
static void
disturbed (FabFitPoint *points, double first_bytes, double overhead_us, double ns_per_byte)
{
  for (guint i = 0; i < N_POINTS; i++) {
    double bytes = first_bytes * (double) (1u << i);

    points[i] = (FabFitPoint){ bytes,
                               (overhead_us * 1e6 + bytes * ns_per_byte * 1e3) * (1 + deviations[i] / 1000) };
  }
}

static double
squares (const FabFitPoint *points, double overhead_ps, double ps_per_byte)
{
  double sum = 0;

  for (guint i = 0; i < N_POINTS; i++)
    sum += pow ((overhead_ps + points[i].size_bytes * ps_per_byte) / points[i].time_ps - 1, 2);
  return sum;
}

/* The least squares at this overhead, or at this rate; the other one is searched. */
static double
least_squares (const FabFitPoint *points, double fixed, gboolean is_overhead, double low, double high)
{
  for (guint i = 0; i < 200; i++) {
    double left = low + (high - low) / 3, right = high - (high - low) / 3;
    double at_left = is_overhead ? squares (points, fixed, left) : squares (points, left, fixed);
    double at_right = is_overhead ? squares (points, fixed, right) : squares (points, right, fixed);

    if (at_left < at_right)
      high = right;
    else
      low = left;
  }
  return is_overhead ? squares (points, fixed, low) : squares (points, low, fixed);
}

static void
test_no_line_near_the_fitted_one_has_less_squares (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[N_POINTS];

  disturbed (points, 1024, 5, 0.1);
  g_autoptr (FabFitCurve) curve = fit (points, N_POINTS);
  const FabFitRegime *regime = &curve->regimes[0];
  double a = regime->line.overhead_ps, s = regime->line.ps_per_byte, least = squares (points, a, s);

  assert_int_equal (curve->n_regimes, 1);
  assert_true (a > 0 && s > 0 && !regime->is_without_overhead && !regime->is_without_rate);
  for (double angle = 0; angle < 6.28; angle += 0.1)
    for (double step = 1e-5; step < 0.1; step *= 3)
      assert_true (squares (points, a * (1 + step * cos (angle)), s * (1 + step * sin (angle))) > least);
}

static void
test_the_ends_of_intervals_are_where_squares_grow_by_students_t (G_GNUC_UNUSED void **state)
{
  static const double t10 = 2.2281; /* 95 %, 10 degrees of freedom */
  FabFitPoint points[N_POINTS];

  disturbed (points, 1024, 5, 0.1);
  g_autoptr (FabFitCurve) curve = fit (points, N_POINTS);
  const FabFitRegime *regime = &curve->regimes[0];
  double a = regime->line.overhead_ps, s = regime->line.ps_per_byte, least = squares (points, a, s);
  double reached = least * (1 + t10 * t10 / 10);

  assert_near (curve->scatter_fraction, sqrt (least / 10), 1e-6);
  for (int sign = -1; sign <= 1; sign += 2) {
    assert_near (least_squares (points, a + sign * regime->overhead_half_ps, TRUE, 0.9 * s, 1.1 * s), reached,
                 1e-3);
    assert_near (least_squares (points, s + sign * regime->ps_per_byte_half, FALSE, 0.9 * a, 1.1 * a),
                 reached, 1e-3);
  }
}

/* Small messages are a little faster than the rate of large ones, so that a free line would begin below 0. */
static void
test_a_line_without_overhead_has_the_best_rate_and_its_own_intervals (G_GNUC_UNUSED void **state)
{
  static const double t11 = 2.2010;
  FabFitPoint points[N_POINTS];

  disturbed (points, 1024, 0, 0.1);
  points[0].time_ps *= 0.996;
  points[1].time_ps *= 0.999;
  g_autoptr (FabFitCurve) curve = fit (points, N_POINTS);
  const FabFitRegime *regime = &curve->regimes[0];
  double s = regime->line.ps_per_byte, least = squares (points, 0, s);

  assert_int_equal (curve->n_regimes, 1);
  assert_true (regime->is_without_overhead && !regime->is_without_rate);
  assert_near (regime->line.overhead_ps, 0, 0);
  assert_near (least, least_squares (points, 0, TRUE, 0.9 * s, 1.1 * s), 1e-9);
  for (double overhead = 1; overhead < 1e6; overhead *= 3)
    assert_true (least_squares (points, overhead, TRUE, 0.9 * s, 1.1 * s) > least);
  for (int sign = -1; sign <= 1; sign += 2)
    assert_near (squares (points, 0, s + sign * regime->ps_per_byte_half), least * (1 + t11 * t11 / 11),
                 1e-3);
  assert_near (squares (points, regime->overhead_half_ps, s) + squares (points, -regime->overhead_half_ps, s),
               2 * least * (1 + t11 * t11 / 11), 1e-3);
}

static void
test_one_far_point_moves_the_line_by_less_than_its_share (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[N_POINTS], further[N_POINTS];

  disturbed (points, 1024, 5, 0.1);
  points[5].time_ps *= 1.5;
  memcpy (further, points, sizeof points);
  further[5].time_ps *= 4;
  g_autoptr (FabFitCurve) near = fit (points, N_POINTS), far = fit (further, N_POINTS);
  assert_near (near->regimes[0].line.overhead_ps, 5e6, 0.005);
  assert_near (near->regimes[0].line.ps_per_byte, 100, 0.005);
  assert_near (far->regimes[0].line.overhead_ps, near->regimes[0].line.overhead_ps, 0.005);
}

static void
test_a_rate_and_its_interval_are_those_of_the_time_per_byte (G_GNUC_UNUSED void **state)
{
  FabFitRegime regime = { .line = { 1e6, 50 }, .ps_per_byte_half = 24.9 };

  assert_near (fab_fit_regime_rate (&regime), 20e9, 1e-12);
  assert_near (fab_fit_regime_rate_half (&regime), 20e9 * 24.9 / 50, 1e-12);
  assert_true (fab_fit_regime_has_rate (&regime));
  regime.ps_per_byte_half = 25.1;
  assert_false (fab_fit_regime_has_rate (&regime));
  regime.ps_per_byte_half = 1;
  regime.is_without_rate = TRUE;
  assert_false (fab_fit_regime_has_rate (&regime));
}

/* --- ends of regimes --- */

/* 2 us and 1 GB/s up to 8 KiB; then this overhead and 10 GB/s. */
static FabFitCurve *
fit_two (double overhead_us)
{
  FabFitPoint points[20];

  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    double bytes = (double) (16u << i);

    points[i] = (FabFitPoint){ bytes, bytes <= 8192 ? 2e6 + bytes * 1e3 : overhead_us * 1e6 + bytes * 100 };
  }
  return fit (points, G_N_ELEMENTS (points));
}

static void
test_a_regime_ends_where_its_line_crosses_the_next_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabFitCurve) curve = fit_two (12); /* 2000 + m = 12000 + m / 10 */

  assert_int_equal (curve->n_regimes, 2);
  assert_true (curve->up_to_bytes[0] >= 11110 && curve->up_to_bytes[0] <= 11112);
  assert_int_equal (curve->up_to_bytes[1], 16u << 19);
  assert_near (fab_fit_curve_time_ps (curve, 11000), 13e6, 1e-6);
  assert_near (fab_fit_curve_time_ps (curve, 12000), 13.2e6, 1e-6);
  assert_near (fab_fit_curve_time_ps (curve, 1e9), 12e6 + 1e11, 1e-6);
}

static void
test_a_regime_whose_line_crosses_elsewhere_ends_at_its_last_point (G_GNUC_UNUSED void **state)
{
  static const double overheads_us[] = { 30, 1, 16.5,
                                         7 }; /* crossing at 31111, before 0, 16111 and 5556 bytes */
  static const FabBytes ends[] = { 8192, 8192, 16111, 8192 };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autoptr (FabFitCurve) curve = fit_two (overheads_us[i]);

    assert_int_equal (curve->n_regimes, 2);
    assert_near ((double) curve->up_to_bytes[0], (double) ends[i], 1e-4);
    assert_near (fab_fit_curve_time_ps (curve, 8192), 2e6 + 8192e3, 1e-6);
    assert_near (fab_fit_curve_time_ps (curve, 16384), overheads_us[i] * 1e6 + 1638400, 1e-6);
  }
}

/* --- points --- */

static void
test_points_of_one_size_become_their_median (G_GNUC_UNUSED void **state)
{
  static const FabFitPoint points[] = { { 8, 7e6 }, { 4, 3e6 }, { 8, 9e6 }, { 4, 9e6 },
                                        { 4, 1e6 }, { 8, 1e6 }, { 2, 5e6 }, { 8, 8e6 } };
  static const FabFitPoint right[] = { { 2, 5e6 }, { 4, 3e6 }, { 8, 7.5e6 } };
  g_autoptr (GArray) merged = fab_fit_merge_sizes (points, G_N_ELEMENTS (points));

  assert_int_equal (merged->len, G_N_ELEMENTS (right));
  for (guint i = 0; i < merged->len; i++) {
    assert_near (g_array_index (merged, FabFitPoint, i).size_bytes, right[i].size_bytes, 0);
    assert_near (g_array_index (merged, FabFitPoint, i).time_ps, right[i].time_ps, 1e-12);
  }
}

static void
test_times_are_of_1_ns_to_1000_s_and_up_to_100_TB_per_s (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabFitPoint point;
    const char *words; /* NULL: it is one */
  } cases[] = {
    { { 1, 1e3 }, NULL },
    { { 1, 999 }, "1 B in 0.000999 us: no message takes less than 1 ns" },
    { { 1, 1e15 }, NULL },
    { { 1, 1.001e15 }, "or more than 1000 s" },
    { { 0.5, 1e6 }, "no message takes" },
    { { 1e5, 1e3 }, NULL },
    { { 1.01e5, 1e3 }, " in 0.001 us are 101 TB/s: no link is as fast" },
    { { NAN, 1e6 }, "no message takes" },
    { { 1, NAN }, "no message takes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    gboolean is_right = fab_fit_check_point (&cases[i].point, &error);

    assert_int_equal (is_right, cases[i].words == NULL);
    if (!is_right && strstr (error->message, cases[i].words) == NULL)
      fail_msg ("'%s' has no '%s'", error->message, cases[i].words);
  }
}

static void
test_sizes_are_held_out_in_turn_and_never_the_first_or_the_last (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n;
    double hold_out;
    const char *parts; /* h: held out */
  } cases[] = {
    { 9, 1.0 / 3, "ffhffhfff" }, { 10, 1.0 / 3, "ffhffhffhf" },
    { 9, 0.25, "fffhfffhf" },    { 8, 0.25, "fffhffff" },
    { 6, 0, "ffffff" },          { 11, 0.4, "ffhfhffhfhf" },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    FabFitPoint points[12];

    for (guint i = 0; i < cases[c].n; i++)
      points[i] = (FabFitPoint){ (double) (16u << i), 1e6 + (double) (16u << i) * 100 };
    g_autoptr (FabFitCurve) curve = fab_fit_curve_new (points, cases[c].n, cases[c].hold_out, NULL);
    assert_int_equal (curve->rows->len, cases[c].n);
    for (guint i = 0; i < cases[c].n; i++) {
      const FabFitRow *row = &g_array_index (curve->rows, FabFitRow, i);

      assert_int_equal (row->part, cases[c].parts[i] == 'h' ? FAB_FIT_HELD_OUT : FAB_FIT_FITTED);
      assert_int_equal (row->size_bytes, 16u << i);
      assert_near (row->predicted_ps, row->measured_ps, 1e-6);
    }
  }
}

static void
test_a_curve_needs_four_sizes (G_GNUC_UNUSED void **state)
{
  static const FabFitPoint points[] = { { 1, 1e6 }, { 2, 2e6 }, { 4, 4e6 }, { 8, 8e6 }, { 8, 8e6 } };

  assert_refused (points, 3, "3 sizes, 0 of them held out: 4 are needed");
  assert_refused (points + 1, 4, "3 sizes, 0 of them held out: 4 are needed");
  g_autoptr (FabFitCurve) curve = fit (points, 4);
  assert_int_equal (curve->rows->len, 4);
}

/* 10 us, and this time at the last sizes. */
static void
falling (FabFitPoint *points, guint n, guint n_falling, double time_us, double ratio)
{
  for (guint i = 0; i < n; i++)
    points[i] = (FabFitPoint){ pow (ratio, i), (i + n_falling < n ? 10 : time_us) * 1e6 };
}

static void
test_times_that_fall_to_less_than_half_at_a_fifth_of_the_sizes_are_refused (G_GNUC_UNUSED void **state)
{
  FabFitPoint points[25];

  falling (points, 25, 5, 4.9, 2);
  assert_refused (points, 25, "at 5 of 25 sizes (16 MiB: 4.9 us)");
  falling (points, 25, 4, 4.9, 2);
  g_autoptr (FabFitCurve) few = fit (points, 25);
  falling (points, 25, 5, 5.1, 2);
  g_autoptr (FabFitCurve) half = fit (points, 25);
  falling (points, 5, 1, 4.9, 10); /* a tenth is ten times smaller */
  assert_refused (points, 5, "at 1 of 5 sizes");
  falling (points, 5, 0, 10, 10);
  points[1].time_ps = 4.9e6; /* only the first is as small */
  for (guint i = 2; i < 5; i++)
    points[i].size_bytes = 10 + i;
  assert_refused (points, 5, "at 1 of 5 sizes (10 B: 4.9 us)");
  points[1].size_bytes = 9;
  g_autoptr (FabFitCurve) ninth = fit (points, 5);
  falling (points, 5, 1, 4.9, 1.7); /* 8.4 times is not */
  g_autoptr (FabFitCurve) near = fit (points, 5);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_line_near_the_fitted_one_has_less_squares),
    cmocka_unit_test (test_the_ends_of_intervals_are_where_squares_grow_by_students_t),
    cmocka_unit_test (test_a_line_without_overhead_has_the_best_rate_and_its_own_intervals),
    cmocka_unit_test (test_one_far_point_moves_the_line_by_less_than_its_share),
    cmocka_unit_test (test_a_rate_and_its_interval_are_those_of_the_time_per_byte),
    cmocka_unit_test (test_a_regime_ends_where_its_line_crosses_the_next_one),
    cmocka_unit_test (test_a_regime_whose_line_crosses_elsewhere_ends_at_its_last_point),
    cmocka_unit_test (test_points_of_one_size_become_their_median),
    cmocka_unit_test (test_times_are_of_1_ns_to_1000_s_and_up_to_100_TB_per_s),
    cmocka_unit_test (test_sizes_are_held_out_in_turn_and_never_the_first_or_the_last),
    cmocka_unit_test (test_a_curve_needs_four_sizes),
    cmocka_unit_test (test_times_that_fall_to_less_than_half_at_a_fifth_of_the_sizes_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
