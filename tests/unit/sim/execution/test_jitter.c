/* SPDX-License-Identifier: Apache-2.0 */
/* test_jitter.c - the draw against the C library's error function and the moments of the lognormal; the classes. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/order.h"
#include "sim/execution/jitter.h"

enum { N = 16384 };

static double *
draw (guint64 seed, guint iteration, guint n, double sigma)
{
  double *factors = g_new (double, n);

  for (guint rank = 0; rank < n; rank++)
    factors[rank] = fab_jitter_factor (seed, iteration, rank, sigma);
  return factors;
}

/* (ln factor + sigma^2 / 2) / sigma is normal: sorted, the k-th of n uniform numbers is near k / n, with a standard
 * deviation below 0.5 / sqrt n; 0.02 are 5 of them. */
static void
factors_are_lognormal (G_GNUC_UNUSED void **state)
{
  const double sigma = 0.3;
  g_autofree double *factors = draw (7, 2, N, sigma);

  qsort (factors, N, sizeof *factors, fab_order_doubles);
  for (guint i = 0; i < N; i++) {
    double z = (log (factors[i]) + sigma * sigma / 2) / sigma;

    assert_true (fabs (0.5 * erfc (-z / sqrt (2)) - (i + 0.5) / N) < 0.02);
  }
}

/* Mean 1 and the asked for spread, within 5 standard errors: of the mean cv / sqrt n, of the deviation about
 * cv / sqrt (n / 2) for small cv. */
static void
mean_is_one_and_spread_is_as_asked (G_GNUC_UNUSED void **state)
{
  const double cv = 0.05;
  g_autofree double *factors = draw (1, 0, N, fab_jitter_sigma (cv));
  double sum = 0, squares = 0;

  for (guint i = 0; i < N; i++) {
    sum += factors[i];
    squares += factors[i] * factors[i];
  }
  double mean = sum / N;
  assert_true (fabs (mean - 1) < 5 * cv / sqrt (N));
  assert_true (fabs (sqrt (squares / N - mean * mean) - cv) < 5 * cv / sqrt (N / 2.0));
}

/* The bits that this code gave when it was written, which every machine must give. */
static void
the_same_seed_gives_the_same_bits (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 seed;
    guint iteration, rank;
    double factor;
  } known[] = {
    { 1, 0, 0, 0x1.f32e67ae179abp-1 },
    { 1, 0, 1, 0x1.a9d0a99a904c7p-1 },
    { 1, 1, 0, 0x1.f823240d576p-1 },
    { 42, 9, 16383, 0x1.03b1b9374cc6ap+0 },
  };
  double sigma = fab_jitter_sigma (0.1);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    double factor = fab_jitter_factor (known[i].seed, known[i].iteration, known[i].rank, sigma);

    if (factor != known[i].factor)
      fail_msg ("factor %u is %a, not %a", i, factor, known[i].factor);
  }
}

/* The seed whose mix with the key is `mixed`. */
static guint64
unmix (guint64 mixed, guint64 key)
{
  const guint64 golden = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  static const struct {
    guint shift;
    guint64 factor;
  } steps[] = { { 31, 1 },
                { 27, G_GUINT64_CONSTANT (0x94d049bb133111eb) },
                { 30, G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9) },
                { 64, G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) } };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    guint64 inverse = 1;

    for (guint k = 0; k < 6; k++) /* Newton's, which doubles the bits that are right */
      inverse *= 2 - steps[i].factor * inverse;
    mixed = (mixed - (i == 3 ? key + golden : 0)) * inverse;
    for (guint at = steps[i].shift; at < 64; at *= 2)
      mixed ^= mixed >> at;
  }
  return mixed;
}

/* Drawn is a number of 52 bits, k + 1/2 of 2^52. From the middle to both ends, half as far each time: the part of a
 * normal distribution below z is that number, as the C library's error function has it. */
static void
the_rarest_draws_are_as_rare_as_they_should_be (G_GNUC_UNUSED void **state)
{
  const guint64 most = (G_GUINT64_CONSTANT (1) << 52) - 1;

  for (guint bits = 0; bits <= 52; bits++)
    for (guint side = 0; side < 4; side++) {
      guint64 near = (G_GUINT64_CONSTANT (1) << bits) - 1, k = side % 2 == 0 ? near : near / 4 * 3;
      double p = ((double) k + 0.5) * 0x1p-52;
      guint64 drawn = (side < 2 ? k : most - k) << 12 | 0x123, seed = unmix (unmix (drawn, 5), 3);
      double z = log (fab_jitter_factor (seed, 3, 5, 1)) + 0.5;

      assert_near (0.5 * erfc ((side < 2 ? -z : z) / sqrt (2)), p, 1e-12);
    }
}

static void
no_spread_is_no_jitter (G_GNUC_UNUSED void **state)
{
  assert_true (fab_jitter_sigma (0) == 0);
  assert_true (fab_jitter_factor (5, 6, 7, 0) == 1);
}

static void
assert_sizes (guint n, guint n_classes, const char *expected)
{
  const guint room = MAX (n_classes, 1);
  g_autofree guint *sizes = g_new0 (guint, room + 1);
  g_autoptr (GString) text = g_string_new (NULL);
  guint n_made = fab_jitter_sizes (n, n_classes, sizes);

  for (guint i = 0; i < n_made; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? " " : "", sizes[i]);
  assert_string_equal (text->str, expected);
  for (guint i = n_made; i <= room; i++) /* and nothing else is written */
    assert_int_equal (sizes[i], 0);
}

static void
the_slowest_is_alone_and_the_rest_is_split_evenly (G_GNUC_UNUSED void **state)
{
  assert_sizes (16384, 4, "1 5461 5461 5461");
  assert_sizes (12, 4, "1 4 4 3");
  assert_sizes (3, 8, "1 1 1");
  assert_sizes (8, 1, "8");
  assert_sizes (1, 4, "1");
  assert_sizes (8, 0, "8");
}

/* Expected largest of n standard normal numbers, from tables of order statistics (Harter 1961): 0.5642 of 2, 1.4236 of
 * 8, 2.5076 of 100, 3.2414 of 1000. Blom's formula is within 0.03 of all of them. A deviation of 2 % so makes the
 * slowest of 1000 GPUs 6.5 % slower than the average. */
static void
the_slowest_of_many_is_expected_where_order_statistics_say (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n;
    double z;
  } tables[] = { { 1, 0 }, { 2, 0.5642 }, { 8, 1.4236 }, { 100, 2.5076 }, { 1000, 3.2414 } };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    assert_true (fabs (fab_jitter_slowest (tables[i].n, 0.02) - 1 - 0.02 * tables[i].z) < 0.02 * 0.03);
  assert_true (fab_jitter_slowest (1000, 0) == 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (factors_are_lognormal),
    cmocka_unit_test (mean_is_one_and_spread_is_as_asked),
    cmocka_unit_test (the_same_seed_gives_the_same_bits),
    cmocka_unit_test (the_rarest_draws_are_as_rare_as_they_should_be),
    cmocka_unit_test (no_spread_is_no_jitter),
    cmocka_unit_test (the_slowest_is_alone_and_the_rest_is_split_evenly),
    cmocka_unit_test (the_slowest_of_many_is_expected_where_order_statistics_say),
  };

  return cmocka_run_group_tests_name ("jitter", tests, NULL, NULL);
}
