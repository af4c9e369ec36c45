/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - lines into a table, each mistake at its line.
 *
 *   time = size x bus factor / busbw
 *
 * A printed number stands for all that round to it: half a unit of its last digit either way.
 */
#include "validate/compare/csv.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"

enum { MAX_BYTES = 1 << 20, MAX_COLUMNS = 64 };

typedef struct {
  const char *name;
  guint line; /* from 1 */
  double bus_factor;
  guint n_columns;
  gint size_column, time_column, busbw_column; /* -1: there is none */
  FabMeasuredCsv *csv;
} Parser;

/* A printed number and how far the true one may be from it. */
typedef struct {
  double value, slack;
} Printed;

static gboolean G_GNUC_PRINTF (3, 4) fail (const Parser *parser, GError **error, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s", parser->name, parser->line, message);
}

static gboolean
read_header_line (Parser *parser, const char *text, GError **error)
{
  const char *colon = strchr (text, ':');
  g_autofree char *key = colon ? g_strstrip (g_strndup (text, (gsize) (colon - text))) : NULL;

  if (key == NULL || *key == '\0')
    return fail (parser, error, "a header line is `# key: value`");
  if (g_hash_table_contains (parser->csv->header, key))
    return fail (parser, error, "'%s' stands twice in the header", key);
  g_hash_table_insert (parser->csv->header, g_steal_pointer (&key), g_strstrip (g_strdup (colon + 1)));
  return TRUE;
}

static gint
find_column (char **names, const char *name)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (names[i], name) == 0)
      return (gint) i;
  return -1;
}

static gboolean
read_columns (Parser *parser, char **names, GError **error)
{
  parser->n_columns = g_strv_length (names);
  if (parser->n_columns > MAX_COLUMNS)
    return fail (parser, error, "more than %d columns", MAX_COLUMNS);
  for (guint i = 0; i < parser->n_columns; i++) {
    if (*names[i] == '\0')
      return fail (parser, error, "column %u has no name", i + 1);
    if (find_column (names, names[i]) != (gint) i)
      return fail (parser, error, "column '%s' stands twice", names[i]);
  }
  parser->size_column = find_column (names, "size_bytes");
  parser->time_column = find_column (names, "time_us");
  parser->busbw_column = find_column (names, "busbw_GBps");
  if (parser->size_column < 0)
    return fail (parser, error, "no column 'size_bytes'");
  if (parser->time_column < 0 && parser->busbw_column < 0)
    return fail (parser, error, "no column 'time_us' or 'busbw_GBps'");
  return TRUE;
}

/* Plain decimals, so that the last digit says how exact the number is. */
static gboolean
read_number (const Parser *parser, const char *text, const char *column, Printed *printed, GError **error)
{
  const char *point = strchr (text, '.');
  gsize n_digits = strspn (text, "0123456789");
  gsize n_decimals = point ? strspn (point + 1, "0123456789") : 0;

  if (n_digits == 0 || n_digits > 15 || n_decimals > 15
      || strlen (text) != n_digits + (point ? 1 + n_decimals : 0))
    return fail (parser, error, "%s: '%s' is not a number like 34.73", column, text);
  *printed = (Printed){ g_ascii_strtod (text, NULL), 0.5 * pow (10, -(double) n_decimals) };
  return TRUE;
}

static gboolean
read_size (const Parser *parser, const char *text, FabBytes *size, GError **error)
{
  const GArray *rows = parser->csv->rows;
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, G_GUINT64_CONSTANT (1000000000000000), &value, NULL))
    return fail (parser, error, "size_bytes: '%s' is not a whole number of bytes from 1", text);
  if (rows->len > 0 && value <= g_array_index (rows, FabMeasuredRow, rows->len - 1).size_bytes)
    return fail (parser, error, "size_bytes: %" G_GUINT64_FORMAT " does not ascend", value);
  *size = value;
  return TRUE;
}

/* Both columns describe one measurement: size x factor / time is busbw, but for a source that rounded twice. */
static gboolean
check_agreement (const Parser *parser, FabBytes size, Printed time, Printed busbw, GError **error)
{
  double amount = (double) size * parser->bus_factor / 1e3; /* bytes per us into GB/s */
  double least = amount / (time.value + time.slack) - busbw.slack;
  double most = amount / (time.value - time.slack) + busbw.slack;

  const double rounded = 1e-4;

  if (busbw.value < least * (1 - rounded) || busbw.value > most * (1 + rounded))
    return fail (parser, error,
                 "busbw_GBps %g does not follow from time_us %g: %.2f expected (right operation and ranks?)",
                 busbw.value, time.value, amount / time.value);
  return TRUE;
}

static gboolean
read_row (Parser *parser, char **fields, GError **error)
{
  FabMeasuredRow row = { .rounding_fraction = 1 };
  Printed time = { 0, 0 }, busbw = { 0, 0 };

  if (g_strv_length (fields) != parser->n_columns)
    return fail (parser, error, "%u fields under %u columns", g_strv_length (fields), parser->n_columns);
  if (!read_size (parser, fields[parser->size_column], &row.size_bytes, error))
    return FALSE;
  if (parser->time_column >= 0 && !read_number (parser, fields[parser->time_column], "time_us", &time, error))
    return FALSE;
  if (parser->busbw_column >= 0
      && !read_number (parser, fields[parser->busbw_column], "busbw_GBps", &busbw, error))
    return FALSE;
  if (parser->time_column >= 0 && time.value <= time.slack)
    return fail (parser, error, "time_us: %g is no duration", time.value);
  if (parser->time_column >= 0 && parser->busbw_column >= 0
      && !check_agreement (parser, row.size_bytes, time, busbw, error))
    return FALSE;
  double amount = (double) row.size_bytes * parser->bus_factor / 1e3;
  if (parser->time_column >= 0) {
    row.time_us = time.value;
    row.busbw_GBps = parser->busbw_column >= 0 ? busbw.value : amount / time.value;
    row.rounding_fraction = time.slack / time.value;
  } else if (busbw.value > 0) {
    row.time_us = amount / busbw.value;
    row.busbw_GBps = busbw.value;
    row.rounding_fraction = MIN (1, busbw.slack / busbw.value);
  }
  g_array_append_val (parser->csv->rows, row);
  return TRUE;
}

static gboolean
read_line (Parser *parser, const char *line, GError **error)
{
  g_auto (GStrv) fields = NULL;

  if (strlen (line) == strspn (line, " \t"))
    return TRUE;
  if (*line == '#')
    return parser->n_columns == 0 ? read_header_line (parser, line + 1, error)
                                  : fail (parser, error, "header lines stand before the columns");
  if (strchr (line, '"'))
    return fail (parser, error, "quotes are not understood here");
  fields = g_strsplit (line, ",", MAX_COLUMNS + 1);
  for (guint i = 0; fields[i]; i++)
    g_strstrip (fields[i]);
  if (parser->n_columns == 0)
    return read_columns (parser, fields, error);
  if (parser->csv->rows->len == 0)
    parser->csv->first_line = parser->line;
  return read_row (parser, fields, error);
}

FabMeasuredCsv *
fab_measured_csv_parse (const char *name, const char *data, gsize size, double bus_factor, GError **error)
{
  g_autoptr (FabMeasuredCsv) self = g_new0 (FabMeasuredCsv, 1);
  g_auto (GStrv) lines = NULL;
  g_autofree char *text = NULL;
  Parser parser = { .name = name, .line = 1, .bus_factor = bus_factor, .csv = self };

  self->header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabMeasuredRow));
  if (size > MAX_BYTES || !g_utf8_validate (data, (gssize) size, NULL)) {
    fail (&parser, error, "%s", size > MAX_BYTES ? "larger than 1 MiB: not a table" : "not UTF-8 text");
    return NULL;
  }
  text = g_strndup (data, size);
  lines = g_strsplit (text, "\n", -1);
  for (; lines[parser.line - 1]; parser.line++)
    if (!read_line (&parser, g_strchomp (lines[parser.line - 1]), error))
      return NULL;
  if (self->rows->len == 0) {
    fail (&parser, error, "the table has no rows");
    return NULL;
  }
  return g_steal_pointer (&self);
}

void
fab_measured_csv_free (FabMeasuredCsv *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->header);
  g_array_unref (self->rows);
  g_free (self);
}
