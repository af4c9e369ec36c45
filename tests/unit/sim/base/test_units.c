/* SPDX-License-Identifier: Apache-2.0 */
/* test_units.c - texts with units to numbers and back; every refusal says what would be right.
 *
 * Expected values are worked out in the rows: 1 min = 60e12 ps, 1 Gb/s = 1e9 / 8 B/s.
 */
#include "sim/base/units.h"

#include "sim/base/error.h"
#include "tests/support/test.h"

typedef struct {
  FabUnit unit;
  const char *text;
  gint64 value;
} Whole;

static const Whole wholes[] = {
  { FAB_UNIT_TIME, "0ps", 0 },
  { FAB_UNIT_TIME, "1.5us", 1500000 },
  { FAB_UNIT_TIME, "600 ns", 600000 },
  { FAB_UNIT_TIME, ".5ns", 500 },
  { FAB_UNIT_TIME, "1e3ms", 1000000000000 },
  { FAB_UNIT_TIME, "2min", 120000000000000 },
  { FAB_UNIT_TIME, "1.5h", 5400000000000000 },
  { FAB_UNIT_TIME, "2d", 172800000000000000 },
  { FAB_UNIT_TIME, "1h", 3600000000000000 },
  { FAB_UNIT_TIME, "0.000000000001s", 1 },
  { FAB_UNIT_TIME, "0000000000000000000000000000001.0000000000000000000000000000ns", 1000 },
  { FAB_UNIT_BYTES, "25MiB", 25 * 1048576 },
  { FAB_UNIT_BYTES, "25MB", 25000000 },
  { FAB_UNIT_BYTES, "0.5KiB", 512 },
  { FAB_UNIT_BYTES, "1KB", 1000 },
  { FAB_UNIT_BYTES, "8191PiB", 8191 * (G_GINT64_CONSTANT (1) << 50) },
  { FAB_UNIT_BYTES, "9223372036854775807B", G_MAXINT64 },
  { FAB_UNIT_LENGTH, "30m", 30000 },
  { FAB_UNIT_LENGTH, "2.5km", 2500000 },
  { FAB_UNIT_LENGTH, "50 cm", 500 },
  { FAB_UNIT_LENGTH, "0mm", 0 },
  { FAB_UNIT_RATE, "200Gb/s", 25000000000 },
  { FAB_UNIT_RATE, "25.78125Gb/s", 3222656250 },
  { FAB_UNIT_RATE, "8b/s", 1 },
  { FAB_UNIT_RATE, "1GiB/s", 1073741824 },
  { FAB_UNIT_RATE, "2.039TB/s", 2039000000000 },
  { FAB_UNIT_COUNT, "2e9", 2000000000 },
  { FAB_UNIT_COUNT, "1.5E3", 1500 },
  { FAB_UNIT_COUNT, "-3", -3 },
  { FAB_UNIT_COUNT, "100e-2", 1 },
};

static void
test_parse_whole (G_GNUC_UNUSED void **state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (wholes); i++) {
    g_autoptr (GError) error = NULL;
    gint64 value = -1;

    if (!fab_units_parse_whole (wholes[i].unit, wholes[i].text, &value, &error))
      fail_msg ("%s: %s", wholes[i].text, error->message);
    assert_int_equal (value, wholes[i].value);
  }
}

typedef struct {
  FabUnit unit;
  const char *text, *message;
} Refused;

static const Refused refused_wholes[] = {
  { FAB_UNIT_BYTES, "25", "'25' has no unit; write for example 25MiB" },
  { FAB_UNIT_LENGTH, "30", "'30' has no unit; write for example 30m" },
  { FAB_UNIT_LENGTH, "0.5mm", "'0.5mm' is not a whole number of millimetres; nearest is 1mm" },
  { FAB_UNIT_TIME, "0", "'0' has no unit; write for example 600ns" },
  { FAB_UNIT_TIME, "-5ns", "'-5ns' is negative; a time cannot be negative" },
  { FAB_UNIT_TIME, "soon", "'soon' is not a time; write for example 600ns" },
  { FAB_UNIT_TIME, "", "'' is not a time; write for example 600ns" },
  { FAB_UNIT_TIME, "5 minutes",
    "'5 minutes' is not a time: unknown unit 'minutes'; known are ps, ns, us, ms, s, min, h, d" },
  { FAB_UNIT_TIME, "0.7ps", "'0.7ps' is not a whole number of picoseconds; nearest is 1ps" },
  { FAB_UNIT_TIME, "300000h", "'300000h' is too large; the limit is about 106.8 days" },
  { FAB_UNIT_TIME, "1e9999s", "'1e9999s' is too large; the limit is about 106.8 days" },
  { FAB_UNIT_TIME, "1e-9999s", "'1e-9999s' is not a whole number of picoseconds; nearest is 1ps" },
  { FAB_UNIT_BYTES, "1.5B", "'1.5B' is not a whole number of bytes; nearest is 2B" },
  { FAB_UNIT_RATE, "25MiB", "'25MiB' is not a rate; write 25MiB/s" },
  { FAB_UNIT_RATE, "200G", "'200G' is not a rate; write 200Gb/s for bits or 200GB/s for bytes" },
  { FAB_UNIT_RATE, "100k", "'100k' is not a rate; write 100kb/s for bits or 100kB/s for bytes" },
  { FAB_UNIT_RATE, "100K", "'100K' is not a rate; write 100kb/s for bits or 100kB/s for bytes" },
  { FAB_UNIT_RATE, "30m", "'30m' is not a rate; write 30Mb/s for bits or 30MB/s for bytes" },
  { FAB_UNIT_RATE, "5T", "'5T' is not a rate; write 5Tb/s for bits or 5TB/s for bytes" },
  { FAB_UNIT_RATE, "200Gb", "'200Gb' is not a rate; write 200Gb/s" },
  { FAB_UNIT_RATE, "200gb/s", "'200gb/s' is not a rate; write 200Gb/s for bits or 200GB/s for bytes" },
  { FAB_UNIT_RATE, "200Gbps", "'200Gbps' is not a rate; write Gb/s for bits or GB/s for bytes" },
  { FAB_UNIT_RATE, "16GT/s", "'16GT/s' is not a rate; write Gb/s per lane: transfers x bits of one" },
  { FAB_UNIT_RATE, "1b/s", "'1b/s' is not a whole number of bytes per second; nearest is 1B/s" },
  { FAB_UNIT_COUNT, "2B", "'2B' is not a whole number; write 2e9" },
  { FAB_UNIT_COUNT, "7M", "'7M' is not a whole number; write 7e6" },
  { FAB_UNIT_COUNT, "3G", "'3G' is not a whole number; write 3e9" },
  { FAB_UNIT_COUNT, "1T", "'1T' is not a whole number; write 1e12" },
  { FAB_UNIT_COUNT, "1.5K", "'1.5K' is not a whole number; write 1.5e3" },
  { FAB_UNIT_COUNT, "1000K", "'1000K' is not a whole number; write 1024000 for 1000 x 1024, or 1000000" },
  { FAB_UNIT_COUNT, "4k", "'4k' is not a whole number; write 4096 for 4 x 1024, or 4000" },
  { FAB_UNIT_COUNT, "50_000", "'50_000' is not a whole number; write the digits together" },
  { FAB_UNIT_COUNT, "50,000", "'50,000' is not a whole number; write the digits together" },
  { FAB_UNIT_COUNT, "2.5", "'2.5' is not a whole number; nearest is 3" },
  { FAB_UNIT_COUNT, "8 gpus", "'8 gpus' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "+8", "'+8' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "1.2.3", "'1.2.3' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "12345678901234567890123",
    "'12345678901234567890123' has more than 22 significant digits" },
};

static void
test_refuse_whole (G_GNUC_UNUSED void **state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused_wholes); i++) {
    g_autoptr (GError) error = NULL;
    gint64 value = 0;

    assert_false (fab_units_parse_whole (refused_wholes[i].unit, refused_wholes[i].text, &value, &error));
    assert_string_equal (error->message, refused_wholes[i].message);
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  }
}

static const struct {
  FabUnit unit;
  const char *text;
  double value;
} reals[] = {
  { FAB_UNIT_FLOPS, "65TFLOP", 65e12 },
  { FAB_UNIT_FLOPS, "1 FLOP", 1.0 },
  { FAB_UNIT_FLOPS_RATE, "312TFLOP/s", 312e12 },
  { FAB_UNIT_FLOPS_RATE, "19.5TFLOP/s", 19.5e12 },
  { FAB_UNIT_FRACTION, "0.5", 0.5 },
  { FAB_UNIT_FRACTION, "50%", 0.5 },
  { FAB_UNIT_FRACTION, "0.1 %", 0.001 },
  { FAB_UNIT_FRACTION, "1", 1.0 },
  { FAB_UNIT_FACTOR, "-1.25", -1.25 },
  { FAB_UNIT_FACTOR, "1e-3", 0.001 },
  { FAB_UNIT_FACTOR, "120%", 1.2 },
};

static void
test_parse_real (G_GNUC_UNUSED void **state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (reals); i++) {
    g_autoptr (GError) error = NULL;
    double value = -1.0;

    if (!fab_units_parse_real (reals[i].unit, reals[i].text, &value, &error))
      fail_msg ("%s: %s", reals[i].text, error->message);
    assert_true (value == reals[i].value); /* exactly: rounded once */
  }
}

static const Refused refused_reals[] = {
  { FAB_UNIT_FLOPS_RATE, "312", "'312' has no unit; write for example 312TFLOP/s" },
  { FAB_UNIT_FLOPS_RATE, "312TFLOPS",
    "'312TFLOPS' is not a compute rate: unknown unit 'TFLOPS'; known are FLOP/s, "
    "GFLOP/s, TFLOP/s, PFLOP/s" },
  { FAB_UNIT_FRACTION, "1.5", "'1.5' is more than 1; write a fraction as 0.5 or 50%" },
  { FAB_UNIT_FRACTION, "150%", "'150%' is more than 1; write a fraction as 0.5 or 50%" },
  { FAB_UNIT_FRACTION, "-1%", "'-1%' is negative; a fraction cannot be negative" },
  { FAB_UNIT_FACTOR, "1e400", "'1e400' is too large" },
  { FAB_UNIT_FACTOR, "nan", "'nan' is not a number; write for example 1.5" },
  { FAB_UNIT_FACTOR, "3k", "'3k' is not a number; write 3e3" },
};

static void
test_refuse_real (G_GNUC_UNUSED void **state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused_reals); i++) {
    g_autoptr (GError) error = NULL;
    double value = 0.0;

    assert_false (fab_units_parse_real (refused_reals[i].unit, refused_reals[i].text, &value, &error));
    assert_string_equal (error->message, refused_reals[i].message);
  }
}

static void
test_write (G_GNUC_UNUSED void **state)
{
  static const Whole rows[] = {
    { FAB_UNIT_BYTES, "25MiB", 25 * 1048576 },
    { FAB_UNIT_BYTES, "25MB", 25000000 },
    { FAB_UNIT_BYTES, "0B", 0 },
    { FAB_UNIT_BYTES, "1.5MiB", 1572864 },
    { FAB_UNIT_RATE, "25GB/s", 25000000000 },
    { FAB_UNIT_RATE, "100Gb/s", 12500000000 },
    { FAB_UNIT_TIME, "600ns", 600000 },
    { FAB_UNIT_TIME, "1.5us", 1500000 },
    { FAB_UNIT_TIME, "60s", 60000000000000 },
    { FAB_UNIT_COUNT, "2e9", 2000000000 },
    { FAB_UNIT_COUNT, "50000", 50000 },
    { FAB_UNIT_COUNT, "-9223372036854775808", G_MININT64 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = fab_units_write_whole (rows[i].unit, rows[i].value);

    assert_string_equal (text, rows[i].text);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (reals); i++) {
    g_autofree char *text = fab_units_write_real (reals[i].unit, reals[i].value);
    double back = 0.0;

    assert_true (fab_units_parse_real (reals[i].unit, text, &back, NULL));
    assert_true (back == reals[i].value);
  }
}

static void
test_show_many (G_GNUC_UNUSED void **state)
{
  static const struct {
    double count;
    const char *text;
  } rows[] = { { 999999, "999999" },
               { 3416000, "3.416 million" },
               { 6.738e9, "6.738 billion" },
               { 15.6e12, "15.6 trillion" } };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = fab_units_show_many (rows[i].count);

    assert_string_equal (text, rows[i].text);
  }
}

static void
test_show (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabUnit unit;
    double value;
    const char *text;
  } rows[] = {
    { FAB_UNIT_TIME, 620423456789.0, "620.4 ms" },
    { FAB_UNIT_TIME, 0.0, "0 s" },
    { FAB_UNIT_TIME, 3.6e15, "3600 s" },
    { FAB_UNIT_TIME, 1.234e17, "34.28 hours" },
    { FAB_UNIT_TIME, 5.524e19, "639.4 days" },
    { FAB_UNIT_RATE, 24.8412e9, "24.84 GB/s" },
    { FAB_UNIT_RATE, 999.99e6, "1 GB/s" },
    { FAB_UNIT_BYTES, 67108864.0, "64 MiB" },
    { FAB_UNIT_BYTES, 67000000.0, "67 MB" },
    { FAB_UNIT_FRACTION, 0.523, "52.3%" },
    { FAB_UNIT_COUNT, 123456.0, "123456" },
    { FAB_UNIT_FLOPS_RATE, 312e12, "312 TFLOP/s" },
    { FAB_UNIT_FACTOR, 1.75, "1.75" },
    { FAB_UNIT_TIME, INFINITY, "unlimited" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = fab_units_show (rows[i].unit, rows[i].value);

    assert_string_equal (text, rows[i].text);
  }
}

static void
test_seconds_to_ps (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_seconds_to_ps (1.5e-6), 1500000);
  assert_int_equal (fab_seconds_to_ps (0.1e-12), 1);
  assert_true (fab_seconds_to_ps (1e30) == FAB_TIME_MAX);
}

/* The JSON Schema pattern takes what the parser takes, and not what has no or the wrong unit. */
static void
test_pattern (G_GNUC_UNUSED void **state)
{
  for (gsize i = 0; i < G_N_ELEMENTS (wholes); i++) {
    g_autofree char *pattern = fab_units_pattern (wholes[i].unit);

    assert_true (g_regex_match_simple (pattern, wholes[i].text, 0, 0));
  }
  for (gsize i = 0; i < G_N_ELEMENTS (reals); i++) {
    g_autofree char *pattern = fab_units_pattern (reals[i].unit);

    assert_true (g_regex_match_simple (pattern, reals[i].text, 0, 0));
  }
  for (gsize i = 0; i < G_N_ELEMENTS (refused_wholes); i++) {
    g_autofree char *pattern = fab_units_pattern (refused_wholes[i].unit);
    gboolean is_value = strstr (refused_wholes[i].message, "large")
                     || strstr (refused_wholes[i].message, "nearest")
                     || strstr (refused_wholes[i].message, "digits");

    assert_true (is_value || !g_regex_match_simple (pattern, refused_wholes[i].text, 0, 0));
  }
}

static void
test_percent (G_GNUC_UNUSED void **state)
{
  static const struct {
    double fraction;
    const char *shown;
  } rows[] = { { 0, "+0.0" },        { -0.0, "+0.0" },   { -0.0004, "+0.0" }, { -0.0005, "+0.0" },
               { -0.00051, "-0.1" }, { 0.0004, "+0.0" }, { -0.25, "-25.0" },  { 1.5, "+150.0" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *shown = g_strdup_printf ("%+.1f", fab_percent (rows[i].fraction));

    assert_string_equal (shown, rows[i].shown);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_parse_whole), cmocka_unit_test (test_refuse_whole),
    cmocka_unit_test (test_parse_real),  cmocka_unit_test (test_refuse_real),
    cmocka_unit_test (test_write),       cmocka_unit_test (test_show),
    cmocka_unit_test (test_show_many),   cmocka_unit_test (test_seconds_to_ps),
    cmocka_unit_test (test_pattern),     cmocka_unit_test (test_percent),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
