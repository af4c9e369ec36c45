/* SPDX-License-Identifier: Apache-2.0 */
/* units.c - converts text with a unit to an exact number, and computes transfer times.
 *
 * A whole quantity is mantissa x 10^e x num / den, computed with 128 bits: the mantissa has at most 21 digits (<
 * 2^70) and num is below 2^57, so the product cannot overflow before it is scaled. A real quantity is the written
 * digits with the unit's power of ten added to the exponent, rounded once by strtod. The suffixes are in a table;
 * the last section converts numbers to text.
 */
#include "sim/base/units.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"

__extension__ typedef unsigned __int128 FabU128;

/* One suffix stands for num / den canonical units. `exponent` is the same as a power of ten, for real quantities
 * only. */
typedef struct {
  const char *name;
  guint64 num;
  int den, exponent;
  gboolean is_read_only; /* accepted by the parser, never written */
} FabUnitSuffix;

typedef struct {
  const char *a_name; /* "a time" */
  /* What a value with a fraction fails to be: "a whole number of bytes". */
  const char *whole;
  const char *example, *known;
  const FabUnitSuffix *suffixes; /* ended by a NULL name */
} FabUnitRow;

static const FabUnitRow fab_unit_rows[];

#define MAX_DIGITS 21
#define MAX_TEXT 64

/* The parts of a text: sign, digits, power of ten, and suffix. */
typedef struct {
  gboolean is_negative;
  const char *digits; /* digits and at most one point */
  int n_digits_text;
  int exponent;       /* the number after `e` */
  const char *suffix; /* without the spaces before it */
} Scanned;

static gboolean
scan_exponent (const char **at, int *exponent)
{
  const char *p = *at + 1;
  gboolean is_negative = *p == '-';
  int value = 0;

  if (*p == '-' || *p == '+')
    p++;
  if (!g_ascii_isdigit (*p))
    return FALSE;
  for (; g_ascii_isdigit (*p); p++)
    value = MIN (value * 10 + (*p - '0'), 9999);
  *exponent = is_negative ? -value : value;
  *at = p;
  return TRUE;
}

static gboolean
scan (const char *text, Scanned *out)
{
  const char *p = text;
  gboolean has_digit = FALSE, has_point = FALSE;

  out->is_negative = *p == '-';
  out->digits = p += out->is_negative;
  for (; g_ascii_isdigit (*p) || (*p == '.' && !has_point && g_ascii_isdigit (p[1])); p++) {
    has_digit |= *p != '.';
    has_point |= *p == '.';
  }
  out->n_digits_text = (int) (p - out->digits);
  out->exponent = 0;
  if (!has_digit)
    return FALSE;
  if (*p == 'e' || *p == 'E')
    (void) scan_exponent (&p, &out->exponent);
  while (*p == ' ')
    p++;
  out->suffix = p;
  return TRUE;
}

/* A rate without "/s", such as 200Gb, or without the letter that tells bits from bytes, such as 200G. */
static char *
rate_hint (const Scanned *scanned)
{
  g_autofree char *whole = g_strconcat (scanned->suffix, "/s", NULL);
  char prefix = g_ascii_toupper (scanned->suffix[0]);

  for (const FabUnitSuffix *s = fab_unit_rows[FAB_UNIT_RATE].suffixes; s->name != NULL; s++)
    if (g_str_equal (s->name, whole))
      return g_strdup_printf ("write %.*s%s", scanned->n_digits_text, scanned->digits, whole);
  if (prefix != 'K' && prefix != 'M' && prefix != 'G' && prefix != 'T')
    return NULL;
  prefix = prefix == 'K' ? 'k' : prefix;
  return g_strdup_printf ("write %.*s%cb/s for bits or %.*s%cB/s for bytes", scanned->n_digits_text,
                          scanned->digits, prefix, scanned->n_digits_text, scanned->digits, prefix);
}

/* 4k tokens are 4096 to most who write it, and 4000 to others. NULL: it is no such number. */
static char *
thousands_hint (const Scanned *scanned)
{
  g_autofree char *digits = g_strndup (scanned->digits, (gsize) scanned->n_digits_text);
  guint64 value;

  if (g_ascii_strcasecmp (scanned->suffix, "k") != 0 || scanned->exponent != 0
      || !g_ascii_string_to_unsigned (digits, 10, 1, 1000000, &value, NULL))
    return NULL;
  return g_strdup_printf ("write %" G_GUINT64_FORMAT " for %s x 1024, or %" G_GUINT64_FORMAT, value * 1024,
                          digits, value * 1000);
}

/* Returns a hint for the most frequent mistakes; NULL: none applies and the list of units has to do. */
static char *
suffix_hint (FabUnit unit, const Scanned *scanned)
{
  static const struct {
    const char *suffix;
    const char *power;
  } shorts[] = {
    { "k", "e3" }, { "K", "e3" }, { "M", "e6" }, { "B", "e9" }, { "G", "e9" }, { "T", "e12" },
  };
  gboolean is_plain = unit == FAB_UNIT_COUNT || unit == FAB_UNIT_FACTOR;
  char *thousands = unit == FAB_UNIT_COUNT ? thousands_hint (scanned) : NULL;

  if (thousands != NULL)
    return thousands;
  for (gsize i = 0; is_plain && i < G_N_ELEMENTS (shorts); i++)
    if (g_str_equal (scanned->suffix, shorts[i].suffix) && scanned->exponent == 0)
      return g_strdup_printf ("write %.*s%s", scanned->n_digits_text, scanned->digits, shorts[i].power);
  if (is_plain && (scanned->suffix[0] == '_' || scanned->suffix[0] == ','))
    return g_strdup ("write the digits together");
  if (unit == FAB_UNIT_RATE && g_str_has_suffix (scanned->suffix, "ps"))
    return g_strdup ("write Gb/s for bits or GB/s for bytes");
  if (unit == FAB_UNIT_RATE && g_str_has_suffix (scanned->suffix, "T/s"))
    return g_strdup ("write Gb/s per lane: transfers x bits of one");
  return unit == FAB_UNIT_RATE ? rate_hint (scanned) : NULL;
}

static gboolean
throw_suffix (FabUnit unit, const char *text, const Scanned *scanned, GError **error)
{
  g_autofree char *hint = suffix_hint (unit, scanned);
  const char *known = fab_unit_rows[unit].known;

  if (scanned->suffix[0] == '\0')
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' has no unit; write for example %s", text,
                      fab_unit_rows[unit].example);
  if (hint != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not %s; %s", text, fab_unit_rows[unit].a_name, hint);
  if (g_str_equal (known, "none"))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not %s; write for example %s", text,
                      fab_unit_rows[unit].a_name, fab_unit_rows[unit].example);
  return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not %s: unknown unit '%s'; known are %s", text,
                    fab_unit_rows[unit].a_name, scanned->suffix, known);
}

/* Splits `text` into number and suffix. Returns NULL and sets *error when it cannot. */
static const FabUnitSuffix *
dissect (FabUnit unit, const char *text, Scanned *scanned, GError **error)
{
  if (strlen (text) > MAX_TEXT || !scan (text, scanned)) {
    fab_throw (error, FAB_ERROR_INPUT, "'%.*s' is not %s; write for example %s", MAX_TEXT, text,
               fab_unit_rows[unit].a_name, fab_unit_rows[unit].example);
    return NULL;
  }
  for (const FabUnitSuffix *s = fab_unit_rows[unit].suffixes; s->name != NULL; s++) {
    if (!g_str_equal (s->name, scanned->suffix))
      continue;
    if (scanned->is_negative && unit != FAB_UNIT_COUNT && unit != FAB_UNIT_FACTOR) {
      fab_throw (error, FAB_ERROR_INPUT, "'%s' is negative; %s cannot be negative", text,
                 fab_unit_rows[unit].a_name);
      return NULL;
    }
    return s;
  }
  throw_suffix (unit, text, scanned, error);
  return NULL;
}

/* Returns the digits as one integer with the remaining power of ten; FALSE when there are too many digits. */
static gboolean
mantissa (const Scanned *scanned, FabU128 *value, int *exponent)
{
  int n_significant = 0, n_zeros = 0;
  gboolean is_after_point = FALSE;

  *value = 0;
  *exponent = scanned->exponent;
  for (int i = 0; i < scanned->n_digits_text; i++) {
    char c = scanned->digits[i];

    if (c == '.') {
      is_after_point = TRUE;
      continue;
    }
    *exponent -= is_after_point;
    if (c == '0' && (n_significant == 0 || ++n_zeros > 0)) /* zeros count only when another digit follows */
      continue;
    for (n_significant += n_zeros + 1; n_significant <= MAX_DIGITS && n_zeros > 0; n_zeros--)
      *value *= 10;
    if (n_significant > MAX_DIGITS)
      return FALSE;
    *value = *value * 10 + (FabU128) (c - '0');
  }
  *exponent += n_zeros;
  return TRUE;
}

typedef enum { SCALED, SCALED_TOO_LARGE, SCALED_NOT_WHOLE } Scaled;

static Scaled
scale (FabU128 value, int exponent, const FabUnitSuffix *suffix, gint64 *out)
{
  value *= suffix->num;
  for (; value != 0 && exponent > 0; exponent--) {
    if (value > (FabU128) G_MAXUINT64 * 8)
      return SCALED_TOO_LARGE;
    value *= 10;
  }
  for (; value != 0 && exponent < 0; exponent++) {
    if (value % 10 != 0)
      return SCALED_NOT_WHOLE;
    value /= 10;
  }
  if (value % (FabU128) suffix->den != 0)
    return SCALED_NOT_WHOLE;
  value /= (FabU128) suffix->den;
  if (value > G_MAXINT64)
    return SCALED_TOO_LARGE;
  *out = (gint64) value;
  return SCALED;
}

static double
scanned_real (const Scanned *scanned, int exponent)
{
  g_autofree char *number = g_strdup_printf ("%s%.*se%d", scanned->is_negative ? "-" : "",
                                             scanned->n_digits_text, scanned->digits,
                                             scanned->exponent + exponent);

  return g_ascii_strtod (number, NULL);
}

static gboolean
throw_not_whole (FabUnit unit, const char *text, const Scanned *scanned, const FabUnitSuffix *suffix,
                 GError **error)
{
  double nearest = round (fabs (scanned_real (scanned, 0)) * (double) suffix->num / suffix->den);
  g_autofree char *written = fab_units_write_whole (unit, (gint64) MIN (MAX (nearest, 1.0), 9e18));

  return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not %s; nearest is %s%s", text,
                    fab_unit_rows[unit].whole, scanned->is_negative ? "-" : "", written);
}

gboolean
fab_units_parse_whole (FabUnit unit, const char *text, gint64 *value, GError **error)
{
  Scanned scanned;
  const FabUnitSuffix *suffix;
  FabU128 digits;
  int exponent;
  g_autofree char *most = NULL;

  g_assert (unit <= FAB_UNIT_RATE || unit == FAB_UNIT_COUNT);
  suffix = dissect (unit, text, &scanned, error);
  if (suffix == NULL)
    return FALSE;
  if (!mantissa (&scanned, &digits, &exponent))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' has more than %d significant digits", text, MAX_DIGITS);
  switch (scale (digits, exponent, suffix, value)) {
  case SCALED: break;
  case SCALED_NOT_WHOLE: return throw_not_whole (unit, text, &scanned, suffix, error);
  case SCALED_TOO_LARGE:
  default:
    most = fab_units_show (unit, (double) G_MAXINT64);
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is too large; the limit is about %s", text, most);
  }
  if (scanned.is_negative)
    *value = -*value;
  return TRUE;
}

gboolean
fab_units_parse_real (FabUnit unit, const char *text, double *value, GError **error)
{
  Scanned scanned;
  const FabUnitSuffix *suffix;

  g_assert (unit >= FAB_UNIT_FLOPS && unit != FAB_UNIT_COUNT);
  suffix = dissect (unit, text, &scanned, error);
  if (suffix == NULL)
    return FALSE;
  *value = scanned_real (&scanned, suffix->exponent);
  if (!isfinite (*value))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is too large", text);
  if (unit == FAB_UNIT_FRACTION && *value > 1.0)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is more than 1; write a fraction as 0.5 or 50%%", text);
  return TRUE;
}

FabTimePs
fab_seconds_to_ps (double seconds)
{
  double time_ps = ceil (seconds * (double) FAB_PS_PER_S);

  g_assert (seconds >= 0.0);
  return time_ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) time_ps;
}

/* The one list of unit suffixes.
 *
 * A suffix is num / den canonical units. The order within a unit is the order in which
 * the writer prefers them when two texts are equally short. Constant data only.
 */

#define KILO G_GUINT64_CONSTANT (1000)
#define MEGA (KILO * KILO)
#define GIGA (KILO * MEGA)
#define TERA (KILO * GIGA)
#define PETA (KILO * TERA)
#define KIBI G_GUINT64_CONSTANT (1024)
#define MEBI (KIBI * KIBI)
#define GIBI (KIBI * MEBI)
#define TEBI (KIBI * GIBI)
#define PEBI (KIBI * TEBI)

static const FabUnitSuffix time_suffixes[] = {
  { "ps", 1, 1, 0, FALSE },         { "ns", KILO, 1, 0, FALSE },       { "us", MEGA, 1, 0, FALSE },
  { "ms", GIGA, 1, 0, FALSE },      { "s", TERA, 1, 0, FALSE },        { "min", 60 * TERA, 1, 0, TRUE },
  { "h", 3600 * TERA, 1, 0, TRUE }, { "d", 86400 * TERA, 1, 0, TRUE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix bytes_suffixes[] = {
  { "B", 1, 1, 0, FALSE },      { "kB", KILO, 1, 3, FALSE },  { "KB", KILO, 1, 3, TRUE },
  { "MB", MEGA, 1, 6, FALSE },  { "GB", GIGA, 1, 9, FALSE },  { "TB", TERA, 1, 12, FALSE },
  { "PB", PETA, 1, 15, FALSE }, { "KiB", KIBI, 1, 0, FALSE }, { "MiB", MEBI, 1, 0, FALSE },
  { "GiB", GIBI, 1, 0, FALSE }, { "TiB", TEBI, 1, 0, FALSE }, { "PiB", PEBI, 1, 0, FALSE },
  { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix length_suffixes[] = {
  { "m", KILO, 1, 0, FALSE },  { "mm", 1, 1, 0, FALSE }, { "cm", 10, 1, 0, FALSE },
  { "km", MEGA, 1, 0, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix rate_suffixes[] = {
  { "B/s", 1, 1, 0, FALSE },      { "kB/s", KILO, 1, 3, FALSE }, { "KB/s", KILO, 1, 3, TRUE },
  { "MB/s", MEGA, 1, 6, FALSE },  { "GB/s", GIGA, 1, 9, FALSE }, { "TB/s", TERA, 1, 12, FALSE },
  { "PB/s", PETA, 1, 15, FALSE }, { "b/s", 1, 8, 0, FALSE },     { "kb/s", KILO, 8, 0, FALSE },
  { "Mb/s", MEGA, 8, 0, FALSE },  { "Gb/s", GIGA, 8, 0, FALSE }, { "Tb/s", TERA, 8, 0, FALSE },
  { "KiB/s", KIBI, 1, 0, TRUE },  { "MiB/s", MEBI, 1, 0, TRUE }, { "GiB/s", GIBI, 1, 0, TRUE },
  { "TiB/s", TEBI, 1, 0, TRUE },  { "PiB/s", PEBI, 1, 0, TRUE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix flops_suffixes[] = {
  { "FLOP", 1, 1, 0, FALSE },      { "GFLOP", GIGA, 1, 9, FALSE }, { "TFLOP", TERA, 1, 12, FALSE },
  { "PFLOP", PETA, 1, 15, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix flops_rate_suffixes[] = {
  { "FLOP/s", 1, 1, 0, FALSE },      { "GFLOP/s", GIGA, 1, 9, FALSE }, { "TFLOP/s", TERA, 1, 12, FALSE },
  { "PFLOP/s", PETA, 1, 15, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix fraction_suffixes[] = {
  { "", 1, 1, 0, FALSE },
  { "%", 1, 1, -2, TRUE },
  { NULL, 0, 0, 0, FALSE },
};

/* A factor may be more than 1, and may be written in percent as a fraction is: 120%. */
static const FabUnitSuffix factor_suffixes[] = {
  { "", 1, 1, 0, FALSE },
  { "%", 1, 1, -2, TRUE },
  { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix plain_suffixes[] = { { "", 1, 1, 0, FALSE }, { NULL, 0, 0, 0, FALSE } };

static const FabUnitRow fab_unit_rows[] = {
  [FAB_UNIT_TIME] = { "a time", "a whole number of picoseconds", "600ns", "ps, ns, us, ms, s, min, h, d",
                      time_suffixes },
  [FAB_UNIT_BYTES] = { "a size", "a whole number of bytes", "25MiB",
                       "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB", bytes_suffixes },
  [FAB_UNIT_LENGTH] = { "a length", "a whole number of millimetres", "30m", "mm, cm, m, km",
                        length_suffixes },
  [FAB_UNIT_RATE] = { "a rate", "a whole number of bytes per second", "200Gb/s",
                      "kb/s to Tb/s (bits), kB/s to TB/s and KiB/s to TiB/s (bytes)", rate_suffixes },
  [FAB_UNIT_FLOPS] = { "an amount of compute", "", "65TFLOP", "FLOP, GFLOP, TFLOP, PFLOP", flops_suffixes },
  [FAB_UNIT_FLOPS_RATE] = { "a compute rate", "", "312TFLOP/s", "FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s",
                            flops_rate_suffixes },
  [FAB_UNIT_FRACTION] = { "a fraction", "", "0.5 or 50%", "none, or %", fraction_suffixes },
  [FAB_UNIT_COUNT] = { "a whole number", "a whole number", "8", "none", plain_suffixes },
  [FAB_UNIT_FACTOR] = { "a number", "", "1.5", "none, or %", factor_suffixes },
};

/* Writes numbers as text: exact and short for files, rounded for people.
 *
 * The exact writers try every suffix and keep the shortest exact decimal. They prefer a whole number to one with a
 * fraction, and then the earlier row of the table. Reals use the fewest digits that strtod reads back as the same
 * double.
 */

#define MAX_DECIMALS 12

/* Writes `value` with this suffix as an exact decimal; NULL when that needs too many digits. */
static char *
write_in_suffix (guint64 value, const FabUnitSuffix *suffix)
{
  FabU128 scaled = (FabU128) value * (FabU128) suffix->den;
  FabU128 whole = scaled / suffix->num, rest = scaled % suffix->num;
  char decimals[MAX_DECIMALS + 1] = "";

  if (whole > G_MAXINT64)
    return NULL;
  for (int i = 0; rest != 0; i++) {
    if (i == MAX_DECIMALS)
      return NULL;
    rest *= 10;
    decimals[i] = (char) ('0' + (int) (rest / suffix->num));
    decimals[i + 1] = '\0';
    rest %= suffix->num;
  }
  return g_strdup_printf ("%" G_GUINT64_FORMAT "%s%s%s", (guint64) whole, decimals[0] != '\0' ? "." : "",
                          decimals, suffix->name);
}

static gboolean
is_better (const char *text, const char *best)
{
  gsize length = strlen (text), best_length = best != NULL ? strlen (best) : 0;

  if (best == NULL || length != best_length)
    return best == NULL || length < best_length;
  return strchr (best, '.') != NULL && strchr (text, '.') == NULL;
}

static char *
write_count (gint64 value)
{
  gint64 digits = value;
  int n_zeros = 0;

  for (; digits != 0 && digits % 10 == 0; digits /= 10)
    n_zeros++;
  if (n_zeros < 6)
    return g_strdup_printf ("%" G_GINT64_FORMAT, value);
  return g_strdup_printf ("%" G_GINT64_FORMAT "e%d", digits, n_zeros);
}

char *
fab_units_write_whole (FabUnit unit, gint64 value)
{
  char *best = NULL;

  g_assert (unit <= FAB_UNIT_RATE || unit == FAB_UNIT_COUNT);
  if (unit == FAB_UNIT_COUNT)
    return write_count (value);
  g_assert (value >= 0);
  for (const FabUnitSuffix *s = fab_unit_rows[unit].suffixes; s->name != NULL; s++) {
    g_autofree char *text = s->is_read_only ? NULL : write_in_suffix ((guint64) value, s);

    if (text != NULL && is_better (text, best)) {
      g_free (best);
      best = g_steal_pointer (&text);
    }
  }
  return best;
}

/* Writes `value` with the fewest significant digits that read back to it, as d.ddde+xx. */
static void
shortest_digits (double value, char *out, gsize size)
{
  for (int precision = 0; precision < 17; precision++) {
    char format[8];

    (void) g_snprintf (format, sizeof format, "%%.%de", precision);
    g_ascii_formatd (out, (gint) size, format, value);
    if (g_ascii_strtod (out, NULL) == value)
      return;
  }
}

/* Rewrites d.ddde+xx as a plain decimal after moving the point, or with an exponent when the decimal would be
 * long. */
static char *
place_point (const char *scientific, int exponent_shift)
{
  const char *e = strchr (scientific, 'e');
  gboolean is_negative = scientific[0] == '-';
  int exponent = (int) g_ascii_strtoll (e + 1, NULL, 10) - exponent_shift;
  g_autoptr (GString) digits = g_string_new (NULL);

  for (const char *p = scientific + is_negative; p < e; p++)
    if (*p != '.')
      g_string_append_c (digits, *p);
  if (exponent < -5 || exponent > 17)
    return g_strdup_printf ("%.*se%d", (int) (e - scientific), scientific, exponent);
  for (; exponent < 0; exponent++)
    g_string_prepend_c (digits, '0');
  while (digits->len < (gsize) exponent + 1)
    g_string_append_c (digits, '0');
  if (digits->len > (gsize) exponent + 1)
    g_string_insert_c (digits, exponent + 1, '.');
  if (is_negative)
    g_string_prepend_c (digits, '-');
  return g_string_free (g_steal_pointer (&digits), FALSE);
}

char *
fab_units_write_real (FabUnit unit, double value)
{
  const FabUnitSuffix *best = fab_unit_rows[unit].suffixes;
  char scientific[32];
  g_autofree char *number = NULL;

  g_assert (unit >= FAB_UNIT_FLOPS && unit != FAB_UNIT_COUNT && isfinite (value));
  shortest_digits (value == 0.0 ? 0.0 : value, scientific, sizeof scientific); /* avoids "-0" */
  for (const FabUnitSuffix *s = best; s->name != NULL; s++)
    if (!s->is_read_only && fabs (value) >= (double) s->num)
      best = s;
  number = place_point (scientific, best->exponent);
  return g_strconcat (number, best->name, NULL);
}

/* Writes a size that is whole and short in a binary unit: "64 MiB". Returns NULL for other sizes. */
static char *
show_binary (double value)
{
  for (const FabUnitSuffix *s = fab_unit_rows[FAB_UNIT_BYTES].suffixes; s->name != NULL; s++) {
    double scaled = value / (double) s->num;

    if (strchr (s->name, 'i') != NULL && scaled >= 1.0 && scaled < 1024.0 && scaled == floor (scaled))
      return g_strdup_printf ("%.0f %s", scaled, s->name);
  }
  return NULL;
}

/* In the largest suffix of which it has one, whatever their order in the table. */
static char *
show_scaled (FabUnit unit, double value)
{
  const FabUnitSuffix *best = fab_unit_rows[unit].suffixes;
  char digits[32];

  g_ascii_formatd (digits, sizeof digits, "%.4g", value);
  value = g_ascii_strtod (digits, NULL); /* round first, so that 999.99 MB becomes 1 GB */
  for (const FabUnitSuffix *s = best; s->name != NULL; s++)
    if (!s->is_read_only && s->den == 1 && strchr (s->name, 'i') == NULL && fabs (value) >= (double) s->num
        && (s->num > best->num || fabs (value) < (double) best->num))
      best = s;
  g_ascii_formatd (digits, sizeof digits, "%.4g", value / (double) best->num);
  if (strchr (digits, 'e') != NULL)
    g_ascii_formatd (digits, sizeof digits, "%.0f", value / (double) best->num);
  return g_strdup_printf ("%s %s", digits, best->name);
}

/* Shows times as people count trainings: in days from two days on, and in hours likewise. */
static char *
show_time (double ps)
{
  double hours = ps / (3600 * (double) FAB_PS_PER_S);
  char digits[32];

  if (ps == 0.0)
    return g_strdup ("0 s");
  if (fabs (hours) < 2)
    return show_scaled (FAB_UNIT_TIME, ps);
  g_ascii_formatd (digits, sizeof digits, "%.4g", fabs (hours) < 48 ? hours : hours / 24);
  return g_strdup_printf ("%s %s", digits, fabs (hours) < 48 ? "hours" : "days");
}

char *
fab_units_show (FabUnit unit, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  char *binary;

  if (!isfinite (value))
    return g_strdup (isnan (value) ? "unknown" : value > 0.0 ? "unlimited" : "-unlimited");
  switch (unit) {
  case FAB_UNIT_COUNT: return g_strdup_printf ("%.0f", value);
  case FAB_UNIT_FACTOR: return g_strdup (g_ascii_formatd (digits, sizeof digits, "%.4g", value));
  case FAB_UNIT_FRACTION:
    g_ascii_formatd (digits, sizeof digits, "%.3g", value * 100.0);
    return g_strconcat (digits, "%", NULL);
  case FAB_UNIT_BYTES:
    binary = show_binary (value);
    return binary != NULL ? binary : show_scaled (unit, value);
  case FAB_UNIT_TIME: return show_time (value);
  case FAB_UNIT_LENGTH:
  case FAB_UNIT_RATE:
  case FAB_UNIT_FLOPS:
  case FAB_UNIT_FLOPS_RATE:
  default: return show_scaled (unit, value);
  }
}

char *
fab_units_show_many (double count)
{
  static const struct {
    double least;
    const char *name;
  } scales[] = { { 1e12, " trillion" }, { 1e9, " billion" }, { 1e6, " million" } };
  char digits[32];

  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    if (fabs (count) >= scales[i].least)
      return g_strconcat (g_ascii_formatd (digits, sizeof digits, "%.4g", count / scales[i].least),
                          scales[i].name, NULL);
  return g_strdup_printf ("%.0f", count);
}

char *
fab_units_pattern (FabUnit unit)
{
  gboolean is_signed = unit == FAB_UNIT_COUNT || unit == FAB_UNIT_FACTOR;
  const FabUnitSuffix *first = fab_unit_rows[unit].suffixes;
  GString *out = g_string_new (is_signed ? "^-?" : "^");

  g_string_append (out, "([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)? *");
  for (const FabUnitSuffix *s = first; s->name != NULL; s++)
    g_string_append_printf (out, "%s%s", s == first ? "(" : "|", s->name);
  g_string_append (out, ")$");
  return g_string_free (out, FALSE);
}
