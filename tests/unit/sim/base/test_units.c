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
  { FAB_UNIT_COUNT, "5e+3", 5000 },
  { FAB_UNIT_COUNT, "1e18", 1000000000000000000 },
  { FAB_UNIT_COUNT, "9.223372036854775807E18", G_MAXINT64 },
  { FAB_UNIT_COUNT, "-9223372036854775807", -G_MAXINT64 },
  { FAB_UNIT_COUNT, "0e9999", 0 },
  { FAB_UNIT_COUNT, "10e-1", 1 },
  { FAB_UNIT_COUNT, "70.0", 70 },
  { FAB_UNIT_COUNT, "1000000000000000000000000e-6",
    1000000000000000000 }, /* zeros at the end are no digits */
  { FAB_UNIT_COUNT, "9007199254740993", 9007199254740993 },
  /* 64 characters, the most that are read */
  { FAB_UNIT_COUNT, "0000000000000000000000000000000000000000000000000000000000000042", 42 },
  { FAB_UNIT_TIME, "1e-3 ns", 1 },
  { FAB_UNIT_BYTES, "0.0009765625KiB", 1 },
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
  { FAB_UNIT_COUNT, "1234567890123456789012",
    "'1234567890123456789012' has more than 21 significant digits" },
  { FAB_UNIT_COUNT, "123456789012345678901",
    "'123456789012345678901' is too large; the limit is about 9223372036854775808" },
  { FAB_UNIT_COUNT, "100000000000000000000000.5",
    "'100000000000000000000000.5' has more than 21 significant digits" },
  { FAB_UNIT_TIME, "999999999999999999999d",
    "'999999999999999999999d' is too large; the limit is about 106.8 days" },
  { FAB_UNIT_TIME, "3938453320844195178975d", /* in picoseconds 18 h more than 2^128 */
    "'3938453320844195178975d' has more than 21 significant digits" },
  { FAB_UNIT_COUNT, "9223372036854775808",
    "'9223372036854775808' is too large; the limit is about 9223372036854775808" },
  { FAB_UNIT_COUNT, "1e19", "'1e19' is too large; the limit is about 9223372036854775808" },
  { FAB_UNIT_COUNT, "-2.5", "'-2.5' is not a whole number; nearest is -3" },
  { FAB_UNIT_COUNT, "0.25", "'0.25' is not a whole number; nearest is 1" },
  { FAB_UNIT_COUNT, "1000000k",
    "'1000000k' is not a whole number; write 1024000000 for 1000000 x 1024, or 1000000000" },
  { FAB_UNIT_COUNT, "1000001k", "'1000001k' is not a whole number; write 1000001e3" },
  { FAB_UNIT_COUNT, "0k", "'0k' is not a whole number; write 0e3" },
  { FAB_UNIT_COUNT, "1k", "'1k' is not a whole number; write 1024 for 1 x 1024, or 1000" },
  { FAB_UNIT_COUNT, "4e3k", "'4e3k' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "4e3M", "'4e3M' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "7e", "'7e' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "7.", "'7.' is not a whole number; write for example 8" },
  { FAB_UNIT_COUNT, "-", "'-' is not a whole number; write for example 8" },
  { FAB_UNIT_BYTES, "-1B", "'-1B' is negative; a size cannot be negative" },
  { FAB_UNIT_BYTES, "1e300B", "'1e300B' is too large; the limit is about 9223 PB" },
  { FAB_UNIT_BYTES, "5k",
    "'5k' is not a size: unknown unit 'k'; known are B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB" },
  { FAB_UNIT_RATE, "5X",
    "'5X' is not a rate: unknown unit 'X'; known are kb/s to Tb/s (bits), kB/s to TB/s and KiB/s to TiB/s (bytes)" },
  { FAB_UNIT_RATE, "5mps", "'5mps' is not a rate; write Gb/s for bits or GB/s for bytes" },
  { FAB_UNIT_RATE, "7b/s", "'7b/s' is not a whole number of bytes per second; nearest is 1B/s" },
  { FAB_UNIT_TIME, "1.5ps", "'1.5ps' is not a whole number of picoseconds; nearest is 2ps" },
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

/* Of a longer text, as much is said again. */
static void
test_refuse_long (G_GNUC_UNUSED void **state)
{
  g_autofree char *zeros = g_strnfill (64, '0'), *text = g_strconcat (zeros, "1", NULL);
  g_autofree char *message = g_strdup_printf ("'%s' is not a whole number; write for example 8", zeros);
  g_autoptr (GError) error = NULL;
  gint64 value = -1;

  assert_true (fab_units_parse_whole (FAB_UNIT_COUNT, zeros, &value, NULL));
  assert_int_equal (value, 0);
  assert_false (fab_units_parse_whole (FAB_UNIT_COUNT, text, &value, &error));
  assert_string_equal (error->message, message);
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
  { FAB_UNIT_FACTOR, "3x", "'3x' is not a number: unknown unit 'x'; known are none, or %" },
  { FAB_UNIT_FACTOR, "3,5", "'3,5' is not a number; write the digits together" },
  { FAB_UNIT_FRACTION, "0.5k", "'0.5k' is not a fraction: unknown unit 'k'; known are none, or %" },
  { FAB_UNIT_FRACTION, "1.0000001", "'1.0000001' is more than 1; write a fraction as 0.5 or 50%" },
  { FAB_UNIT_FLOPS, "-1FLOP", "'-1FLOP' is negative; an amount of compute cannot be negative" },
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
    { FAB_UNIT_COUNT, "0", 0 },
    { FAB_UNIT_COUNT, "100000", 100000 },
    { FAB_UNIT_COUNT, "1e6", 1000000 },
    { FAB_UNIT_COUNT, "-12e7", -120000000 },
    { FAB_UNIT_BYTES, "1KiB", 1024 },
    { FAB_UNIT_BYTES, "1001B", 1001 },
    { FAB_UNIT_BYTES, "1kB", 1000 },
    { FAB_UNIT_BYTES, "1100B", 1100 },
    { FAB_UNIT_BYTES, "9223372036854775807B", G_MAXINT64 },
    { FAB_UNIT_TIME, "1ps", 1 },
    { FAB_UNIT_TIME, "1000.1ns", 1000100 },
    { FAB_UNIT_TIME, "1000110ps", 1000110 },
    { FAB_UNIT_LENGTH, "1m", 1000 },
    { FAB_UNIT_LENGTH, "5mm", 5 },
    { FAB_UNIT_LENGTH, "1.5m", 1500 },
    { FAB_UNIT_LENGTH, "2km", 2000000 },
  };
  static const struct {
    FabUnit unit;
    double value;
    const char *text;
  } real_rows[] = {
    { FAB_UNIT_FACTOR, 0, "0" },
    { FAB_UNIT_FACTOR, -0.0, "0" },
    { FAB_UNIT_FACTOR, 1, "1" },
    { FAB_UNIT_FACTOR, -1.5, "-1.5" },
    { FAB_UNIT_FACTOR, 10, "10" },
    { FAB_UNIT_FACTOR, 12.5, "12.5" },
    { FAB_UNIT_FACTOR, -0.25, "-0.25" },
    { FAB_UNIT_FACTOR, 0.1, "0.1" },
    { FAB_UNIT_FACTOR, 1.0 / 3, "0.3333333333333333" },
    { FAB_UNIT_FACTOR, 2.0 / 3, "0.6666666666666666" },
    { FAB_UNIT_FACTOR, 0.1 + 0.2, "0.30000000000000004" },
    { FAB_UNIT_FACTOR, 0.00001, "0.00001" },
    { FAB_UNIT_FACTOR, 0.000015, "0.000015" },
    { FAB_UNIT_FACTOR, 0.000001, "1e-6" },
    { FAB_UNIT_FACTOR, -1.5e-7, "-1.5e-7" },
    { FAB_UNIT_FACTOR, 1e17, "100000000000000000" },
    { FAB_UNIT_FACTOR, 1e18, "1e18" },
    { FAB_UNIT_FACTOR, 2.5e20, "2.5e20" },
    { FAB_UNIT_FRACTION, 0.5, "0.5" },
    { FAB_UNIT_FLOPS, 65e12, "65TFLOP" },
    { FAB_UNIT_FLOPS, 0, "0FLOP" },
    { FAB_UNIT_FLOPS, 999e6, "999000000FLOP" },
    { FAB_UNIT_FLOPS, 1e9, "1GFLOP" },
    { FAB_UNIT_FLOPS, 999.5e9, "999.5GFLOP" },
    { FAB_UNIT_FLOPS_RATE, 1e15, "1PFLOP/s" },
    { FAB_UNIT_FLOPS_RATE, 2e18, "2000PFLOP/s" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = fab_units_write_whole (rows[i].unit, rows[i].value);

    assert_string_equal (text, rows[i].text);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (real_rows); i++) {
    g_autofree char *text = fab_units_write_real (real_rows[i].unit, real_rows[i].value);

    assert_string_equal (text, real_rows[i].text);
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
               { 1e6, "1 million" },
               { -2.5e6, "-2.5 million" },
               { 999e6, "999 million" },
               { 1e9, "1 billion" },
               { 1e12, "1 trillion" },
               { 0.4, "0" },
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
    { FAB_UNIT_TIME, -INFINITY, "-unlimited" },
    { FAB_UNIT_BYTES, NAN, "unknown" },
    { FAB_UNIT_TIME, 7.199e15, "7199 s" },
    { FAB_UNIT_TIME, 7.2e15, "2 hours" },
    { FAB_UNIT_TIME, -7.2e15, "-2 hours" },
    { FAB_UNIT_TIME, 1.719e17, "47.75 hours" },
    { FAB_UNIT_TIME, 1.728e17, "2 days" },
    { FAB_UNIT_TIME, -1.728e17, "-2 days" },
    { FAB_UNIT_TIME, -600000.0, "-600 ns" },
    { FAB_UNIT_TIME, 1.0, "1 ps" },
    { FAB_UNIT_TIME, 999.0, "999 ps" },
    { FAB_UNIT_TIME, 1000.0, "1 ns" },
    { FAB_UNIT_BYTES, 1024.0, "1 KiB" },
    { FAB_UNIT_BYTES, 1023.0 * 1024, "1023 KiB" },
    { FAB_UNIT_BYTES, 1048576.0, "1 MiB" },
    { FAB_UNIT_BYTES, 1536.0, "1.536 kB" },
    { FAB_UNIT_BYTES, 512.0, "512 B" },
    { FAB_UNIT_BYTES, 0.0, "0 B" },
    { FAB_UNIT_BYTES, 1125899906842624.0 * 1023, "1023 PiB" },
    { FAB_UNIT_BYTES, 1125899906842624.0 * 1024, "1153 PB" },
    { FAB_UNIT_RATE, 12345e15, "12340 PB/s" },
    { FAB_UNIT_RATE, 1e6, "1 MB/s" },
    { FAB_UNIT_RATE, 0.5, "0.5 B/s" },
    { FAB_UNIT_LENGTH, 30000.0, "30 m" },
    { FAB_UNIT_LENGTH, 5.0, "5 mm" },
    { FAB_UNIT_LENGTH, 50.0, "5 cm" },
    { FAB_UNIT_LENGTH, 999.0, "99.9 cm" },
    { FAB_UNIT_LENGTH, 1000.0, "1 m" },
    { FAB_UNIT_LENGTH, 1500000.0, "1.5 km" },
    { FAB_UNIT_FLOPS, 65e12, "65 TFLOP" },
    { FAB_UNIT_FRACTION, 1.0, "100%" },
    { FAB_UNIT_FACTOR, 123456.0, "1.235e+05" },
    { FAB_UNIT_COUNT, 2.5, "2" },
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
  assert_int_equal (fab_seconds_to_ps (0), 0);
  assert_true (fab_seconds_to_ps (9e6) == 9 * FAB_PS_PER_S * 1000000);
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
    cmocka_unit_test (test_parse_whole),   cmocka_unit_test (test_refuse_whole),
    cmocka_unit_test (test_refuse_long),   cmocka_unit_test (test_parse_real),
    cmocka_unit_test (test_refuse_real),   cmocka_unit_test (test_write),
    cmocka_unit_test (test_show),          cmocka_unit_test (test_show_many),
    cmocka_unit_test (test_seconds_to_ps), cmocka_unit_test (test_pattern),
    cmocka_unit_test (test_percent),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
