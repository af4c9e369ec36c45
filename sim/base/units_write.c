/* SPDX-License-Identifier: Apache-2.0 */
/* units_write.c - writes numbers as text: exact and short for files, rounded for people.
 *
 * The exact writers try every suffix and keep the shortest exact decimal. They prefer a whole number to one with a
 * fraction, and then the earlier row of units_table.c. Reals use the fewest digits that strtod reads back as the same
 * double.
 */
#include "sim/base/units.h"

#include <math.h>
#include <string.h>

#include "sim/base/units_table.h"

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

/* Rewrites d.ddde+xx as a plain decimal after moving the point, or with an exponent when the decimal would be long. */
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

static char *
show_scaled (FabUnit unit, double value)
{
  const FabUnitSuffix *best = fab_unit_rows[unit].suffixes;
  char digits[32];

  g_ascii_formatd (digits, sizeof digits, "%.4g", value);
  value = g_ascii_strtod (digits, NULL); /* round first, so that 999.99 MB becomes 1 GB */
  for (const FabUnitSuffix *s = best; s->name != NULL; s++)
    if (!s->is_read_only && s->den == 1 && strchr (s->name, 'i') == NULL && fabs (value) >= (double) s->num)
      best = s;
  g_ascii_formatd (digits, sizeof digits, "%.4g", value / (double) best->num);
  if (strchr (digits, 'e') != NULL)
    g_ascii_formatd (digits, sizeof digits, "%.0f", value / (double) best->num);
  return g_strdup_printf ("%s %s", digits, best->name);
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
  case FAB_UNIT_TIME: return value == 0.0 ? g_strdup ("0 s") : show_scaled (unit, value);
  case FAB_UNIT_LENGTH:
  case FAB_UNIT_RATE:
  case FAB_UNIT_FLOPS:
  case FAB_UNIT_FLOPS_RATE:
  default: return show_scaled (unit, value);
  }
}

const char *
fab_units_example (FabUnit unit)
{
  return fab_unit_rows[unit].example;
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
