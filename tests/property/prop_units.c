/* SPDX-License-Identifier: Apache-2.0 */
/* prop_units.c - what is written parses back to the same value, for random values of all sizes.
 *
 * Values are spread over magnitudes, not uniformly: a random number of bits, half of them made round
 * by powers of ten and two, as people's numbers are. N_SEEDS x N_VALUES = 10 000 of each unit.
 */
#include "sim/base/units.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define N_SEEDS 100
#define N_VALUES 100

static guint64
random_bits (Random *random)
{
  return random_next (random) >> random_between (random, 1, 63);
}

static gint64
random_value (Random *random)
{
  guint64 value = random_bits (random);
  guint64 step = random_chance (random, 50) ? G_GUINT64_CONSTANT (1) << random_below (random, 50) : 1;

  for (guint i = random_below (random, 16); i > 0 && step < G_GUINT64_CONSTANT (1000000000000000); i--)
    step *= random_chance (random, 50) ? 10 : 1;
  return (gint64) (random_chance (random, 50) ? value : value - value % step);
}

static void
check_whole (Random *random, FabUnit unit)
{
  gint64 value = random_value (random) * (unit == FAB_UNIT_COUNT && random_chance (random, 50) ? -1 : 1);
  gint64 back = -1;
  g_autofree char *text = fab_units_write_whole (unit, value);
  g_autoptr (GError) error = NULL;

  if (!fab_units_parse_whole (unit, text, &back, &error))
    fail_msg ("%" G_GINT64_FORMAT " was written as %s: %s", value, text, error->message);
  if (back != value)
    fail_msg ("%" G_GINT64_FORMAT " was written as %s", value, text);
}

static void
check_wholes (Random *random)
{
  for (guint i = 0; i < N_VALUES; i++) {
    check_whole (random, FAB_UNIT_TIME);
    check_whole (random, FAB_UNIT_BYTES);
    check_whole (random, FAB_UNIT_LENGTH);
    check_whole (random, FAB_UNIT_RATE);
    check_whole (random, FAB_UNIT_COUNT);
  }
}

static void
test_whole_round_trip (G_GNUC_UNUSED void **state)
{
  seeds_run (N_SEEDS, check_wholes);
}

static double
random_real (Random *random, FabUnit unit)
{
  double value = random_scale (random, 1e-30, unit == FAB_UNIT_FRACTION ? 1.0 : 1e30);

  if (random_chance (random, 50))
    value = random_below (random, 1001) / 1000.0;
  return unit == FAB_UNIT_FACTOR && random_chance (random, 50) ? -value : value;
}

static void
check_real (Random *random, FabUnit unit)
{
  double value = random_real (random, unit), back = NAN;
  g_autofree char *text = fab_units_write_real (unit, value);
  g_autoptr (GError) error = NULL;

  if (!fab_units_parse_real (unit, text, &back, &error))
    fail_msg ("%.17g was written as %s: %s", value, text, error->message);
  if (back != value)
    fail_msg ("%.17g was written as %s and read as %.17g", value, text, back);
}

static void
check_reals (Random *random)
{
  for (guint i = 0; i < N_VALUES; i++) {
    check_real (random, FAB_UNIT_FLOPS);
    check_real (random, FAB_UNIT_FLOPS_RATE);
    check_real (random, FAB_UNIT_FRACTION);
    check_real (random, FAB_UNIT_FACTOR);
  }
}

static void
test_real_round_trip (G_GNUC_UNUSED void **state)
{
  seeds_run (N_SEEDS, check_reals);
}

/* A decimal text against the same number put together from its digits. */
static void
check_decimals (Random *random)
{
  for (guint i = 0; i < N_VALUES; i++) {
    guint whole = random_below (random, 1000000), part = random_below (random, 1000000);
    g_autofree char *text = g_strdup_printf ("%u.%06uus", whole, part);
    gint64 value = -1;

    assert_true (fab_units_parse_whole (FAB_UNIT_TIME, text, &value, NULL));
    assert_int_equal (value, (gint64) whole * 1000000 + part);
  }
}

static void
test_decimals_are_exact (G_GNUC_UNUSED void **state)
{
  seeds_run (N_SEEDS, check_decimals);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (test_whole_round_trip),
    seeds_test (test_real_round_trip),
    seeds_test (test_decimals_are_exact),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
