/* SPDX-License-Identifier: Apache-2.0 */
/* units.c - converts text with a unit to an exact number, and computes transfer times.
 *
 * A whole quantity is mantissa x 10^e x num / den, computed with 128 bits: the mantissa has at most 22 digits (< 2^74)
 * and num is below 2^52, so the product cannot overflow before it is scaled. A real quantity is the written digits
 * with the unit's power of ten added to the exponent, rounded once by strtod. The suffixes are in units_table.c;
 * units_write.c converts numbers to text.
 */
#include "sim/base/units.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/units_table.h"

#define MAX_DIGITS 22
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

  for (gsize i = 0; is_plain && i < G_N_ELEMENTS (shorts); i++)
    if (g_str_equal (scanned->suffix, shorts[i].suffix) && scanned->exponent == 0)
      return g_strdup_printf ("write %.*s%s", scanned->n_digits_text, scanned->digits, shorts[i].power);
  if (is_plain && (scanned->suffix[0] == '_' || scanned->suffix[0] == ','))
    return g_strdup ("write the digits together");
  if (unit == FAB_UNIT_RATE && g_str_has_suffix (scanned->suffix, "ps"))
    return g_strdup ("write Gb/s for bits or GB/s for bytes");
  if (unit == FAB_UNIT_RATE && g_str_has_suffix (scanned->suffix, "T/s"))
    return g_strdup ("write Gb/s per lane: transfers x bits of one");
  if (unit == FAB_UNIT_RATE && strchr (scanned->suffix, '/') == NULL)
    return g_strdup_printf ("write %.*s%s/s", scanned->n_digits_text, scanned->digits, scanned->suffix);
  return NULL;
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
      fab_throw (error, FAB_ERROR_INPUT, "'%s' is negative; %s cannot be", text, fab_unit_rows[unit].a_name);
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
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is too large; the most is about %s", text, most);
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
fab_wire_ps (FabBytes bytes, FabBytesPerS rate_bytes_per_s)
{
  FabU128 time_ps;

  g_assert (rate_bytes_per_s > 0);
  time_ps = ((FabU128) bytes * (FabU128) FAB_PS_PER_S + rate_bytes_per_s - 1) / rate_bytes_per_s;
  return time_ps > FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) time_ps;
}

FabTimePs
fab_seconds_to_ps (double seconds)
{
  double time_ps = ceil (seconds * (double) FAB_PS_PER_S);

  g_assert (seconds >= 0.0);
  return time_ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) time_ps;
}
