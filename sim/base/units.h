/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - the one place where text with a unit becomes a number, and a number becomes text.
 *
 * Inside the simulator every quantity has one canonical unit: time in integer picoseconds, sizes in bytes, rates in
 * bytes per second, compute in FLOP and FLOP per second, ratios as a fraction. Bits exist in this file only.
 *
 * k, M, G, T, P are decimal; Ki, Mi, Gi, Ti are binary. `b` is a bit, `B` a byte. Parsing is exact: decimal digits
 * are scaled as integers, never as doubles. All functions are pure: any thread may call them.
 */
#pragma once

#include <glib.h>

typedef gint64 FabTimePs;     /* picoseconds; 2^63 ps are 106 days */
typedef guint64 FabBytes;     /* bytes */
typedef guint64 FabBytesPerS; /* bytes per second, one direction */

#define FAB_PS_PER_S G_GINT64_CONSTANT (1000000000000)
#define FAB_TIME_MAX G_MAXINT64

typedef enum {
  FAB_UNIT_TIME,       /* ps                "1.5us"      */
  FAB_UNIT_BYTES,      /* bytes             "25MiB"      */
  FAB_UNIT_LENGTH,     /* mm                "30m"        */
  FAB_UNIT_RATE,       /* bytes per second  "200Gb/s", "25GB/s" */
  FAB_UNIT_FLOPS,      /* FLOP              "65TFLOP"    */
  FAB_UNIT_FLOPS_RATE, /* FLOP per second   "312TFLOP/s" */
  FAB_UNIT_FRACTION,   /* 0..1              "0.5", "50%" */
  FAB_UNIT_COUNT,      /* whole number      "8", "2e9"   */
  FAB_UNIT_FACTOR,     /* plain number      "1.5"        */
} FabUnit;

/* Parses TIME, BYTES, LENGTH, RATE and COUNT into an exact whole number of canonical units. Text that is not a whole
 * number of them, or does not fit, is an error; its message says what would be right. Only COUNT may be negative.
 * FAB_ERROR_INPUT. */
gboolean fab_units_parse_whole (FabUnit unit, const char *text, gint64 *value, GError **error);

/* Parses FLOPS, FLOPS_RATE, FRACTION (0 to 1) and FACTOR, correctly rounded. Only FACTOR may be negative.
 * FAB_ERROR_INPUT. */
gboolean fab_units_parse_real (FabUnit unit, const char *text, double *value, GError **error);

/* Returns text that parses back to exactly this value, as a person would write it ("25MiB", "200Gb/s"). Rates are
 * written in bits when that is shorter. (transfer full) */
char *fab_units_write_whole (FabUnit unit, gint64 value);
char *fab_units_write_real (FabUnit unit, double value);

/* Returns text for reading, rounded to four significant digits: "620.4 ms", "24.84 GB/s", "52.3%". `value` is in
 * canonical units. Sizes that are whole in binary units are written so: "64 MiB". Times are shown in hours from two
 * hours on, and in days from two days on: "30 days". (transfer full) */
char *fab_units_show (FabUnit unit, double value);

/* Returns a large number as people say it, with four significant digits: "6.738 billion", "15.6 trillion"; below a
 * million as it is. (transfer full) */
char *fab_units_show_many (double count);

/* Returns `one` when `n` is 1, otherwise `many`: the noun or the verb that goes with a count. */
static inline const char *
fab_plural (guint64 n, const char *one, const char *many)
{
  return n == 1 ? one : many;
}

/* A fraction in percent, to be printed with one digit: 0 where it would be printed as -0.0. */
static inline double
fab_percent (double fraction)
{
  return fraction <= 0 && fraction >= -0.0005 ? 0 : 100 * fraction;
}

/* Returns an anchored ECMA regular expression that matches the texts with this unit, for the JSON Schema. (transfer
 * full) */
char *fab_units_pattern (FabUnit unit);

/* Converts a non-negative duration in seconds to ps, rounded up; FAB_TIME_MAX when it does not fit. */
FabTimePs fab_seconds_to_ps (double seconds);

/* Both functions take durations that are not negative; the result is at most FAB_TIME_MAX. */
static inline FabTimePs
fab_ps_add (FabTimePs a_ps, FabTimePs b_ps)
{
  return a_ps > FAB_TIME_MAX - b_ps ? FAB_TIME_MAX : a_ps + b_ps;
}

static inline FabTimePs
fab_ps_times (FabTimePs time_ps, guint64 n)
{
  return n > 0 && (guint64) time_ps > (guint64) FAB_TIME_MAX / n ? FAB_TIME_MAX : time_ps * (FabTimePs) n;
}

static inline double
fab_ps_to_seconds (FabTimePs time_ps)
{
  return (double) time_ps / (double) FAB_PS_PER_S;
}
