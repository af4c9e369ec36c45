/* SPDX-License-Identifier: Apache-2.0 */
/* csv_series.c - our own plain CSV of measurements.
 *
 *   # kind: bandwidth                 what all rows have in common, in lines before the header
 *   # system: HGX H100 8-GPU
 *   from,to,size_bytes,rate_GBps      or what differs from row to row, in columns
 *   gpu0,gpu1,160000000,371.02
 *
 * A key or column is a member of a series (formats/measurement/series.h), `kind`, `size_bytes`, or one of the values
 * below.
 */
#include <string.h>

#include "formats/measurement/readings.h"

enum { MAX_COLUMNS = 64 };

typedef enum {
  COLUMN_KIND,
  COLUMN_TEXT,
  COLUMN_COUNT,
  COLUMN_SIZE,
  COLUMN_VALUE,
  COLUMN_POINT_PS,
  COLUMN_POINT_COUNT
} Role;

typedef struct {
  Role role;
  gsize offset; /* of the member, in FabSeries or FabMeasuredPoint */
  double us, bytes_per_s;
} Column;

typedef struct {
  FabReadings *readings;
  FabSeries common;
  gboolean has_kind;
  FabLine line;
  Column columns[MAX_COLUMNS];
  FabWord fields[MAX_COLUMNS];
  guint n_columns, n_fields; /* n_columns 0: no header yet */
} Reader;

static const struct {
  const char *name, *member;
} aliases[] = {
  { "from", "from_end" },
  { "to", "to_end" },
  { "ranks", "n_ranks" },
  { "pairs", "n_pairs" },
  { "queue_pairs", "n_queue_pairs" },
  { "mtu", "mtu_bytes" },
};

static const struct {
  const char *name;
  Column column;
} values[] = {
  { "kind", { .role = COLUMN_KIND } },
  { "size_bytes", { .role = COLUMN_SIZE } },
  { "time_ps", { .role = COLUMN_VALUE, .us = 1e-6 } },
  { "time_us", { .role = COLUMN_VALUE, .us = 1 } },
  { "rate_GBps", { .role = COLUMN_VALUE, .bytes_per_s = 1e9 } },
  { "low_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, low_ps) } },
  { "high_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, high_ps) } },
  { "min_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, min_ps) } },
  { "p05_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, p05_ps) } },
  { "p95_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, p95_ps) } },
  { "max_ps", { .role = COLUMN_POINT_PS, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, max_ps) } },
  { "n_samples", { .role = COLUMN_POINT_COUNT, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, n_samples) } },
  { "n_outliers", { .role = COLUMN_POINT_COUNT, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, n_outliers) } },
  { "is_complete",
    { .role = COLUMN_POINT_COUNT, .offset = G_STRUCT_OFFSET (FabMeasuredPoint, is_complete) } },
};

static gboolean
find_column (const char *name, Column *column)
{
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (strcmp (aliases[i].name, name) == 0)
      name = aliases[i].member;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (strcmp (values[i].name, name) == 0) {
      *column = values[i].column;
      return TRUE;
    }
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    if (strcmp (field->name, name) == 0) {
      *column = (Column){ .role = COLUMN_TEXT, .offset = field->offset };
      return TRUE;
    }
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    if (strcmp (field->name, name) == 0) {
      *column = (Column){ .role = COLUMN_COUNT, .offset = field->offset };
      return TRUE;
    }
  return FALSE;
}

/* Splits a line at its commas, and strips blanks and quotes from the fields. */
static void
split (Reader *self)
{
  const char *at = self->line.whole.at, *end = at + self->line.whole.length;

  for (self->n_fields = 0; self->n_fields < MAX_COLUMNS; at++) {
    gboolean is_quoted = at < end && *at == '"';
    const char *start = at += is_quoted;

    while (at < end && (is_quoted ? *at != '"' || at[1] == '"' : *at != ','))
      at += is_quoted && *at == '"' ? 2 : 1;
    self->fields[self->n_fields++] = (FabWord){ .at = start, .length = (gsize) (MIN (at, end) - start) };
    at += is_quoted && at < end;
    if (at >= end)
      return;
  }
}

static char *
field_text (const FabWord *field)
{
  g_autofree char *text = fab_word_dup (field);
  g_auto (GStrv) parts = g_strsplit (text, "\"\"", -1);

  return g_strstrip (g_strjoinv ("\"", parts));
}

static gboolean
read_count (Reader *self, const FabWord *word, guint *count)
{
  double value;

  if (!fab_readings_number (self->readings, word, &value))
    return FALSE;
  *count = (guint) MIN (value, G_MAXINT);
  if (*count == value)
    return TRUE;
  fab_readings_mistake (self->readings, word, "a whole number belongs here");
  return FALSE;
}

/* Sets a member of the series; an empty field leaves it unknown. */
static void
set_member (Reader *self, FabSeries *series, const Column *column, const FabWord *word, gboolean *has_kind)
{
  g_autofree char *text = field_text (word);

  if (*text == '\0')
    return;
  if (column->role == COLUMN_TEXT)
    fab_reading_set (&G_STRUCT_MEMBER (char *, series, column->offset), text);
  else if (column->role == COLUMN_COUNT)
    (void) read_count (self, word, &G_STRUCT_MEMBER (guint, series, column->offset));
  else if (column->role == COLUMN_KIND) {
    *has_kind = TRUE;
    if (!fab_measure_kind_find (text, &series->kind)) {
      g_autofree char *kinds = g_strjoinv (", ", (char **) fab_measure_kind_names);
      fab_readings_mistake (self->readings, word, "'%s' is no kind of measurement; there are %s", text,
                            kinds);
    }
  }
}

/* Reads "# kind: latency"; skips other comments. */
static void
read_common (Reader *self)
{
  const FabWord *whole = &self->line.whole;
  g_autofree char *text = fab_word_dup (whole);
  const char *key = text + 1 + strspn (text + 1, " ");
  gsize length = strspn (key, G_CSET_a_2_z G_CSET_DIGITS "_"), start;
  g_autofree char *name = g_strndup (key, length);
  Column column;
  FabWord value;

  if (length == 0 || key[length] != ':')
    return;
  start = (gsize) (key - text) + length + 1;
  start += strspn (text + start, " ");
  value = (FabWord){ .at = whole->at + start, .length = whole->length - start };
  if (!find_column (name, &column) || column.role > COLUMN_COUNT) {
    value = (FabWord){ .at = whole->at + (key - text), .length = length };
    fab_readings_mistake (self->readings, &value,
                          "'%s' is no part of a series; there are kind, backend, system, ...", name);
  } else
    set_member (self, &self->common, &column, &value, &self->has_kind);
}

static void
read_header (Reader *self)
{
  guint n_sizes = 0, n_values = 0;

  split (self);
  self->n_columns = self->n_fields;
  for (guint i = 0; i < self->n_columns; i++) {
    g_autofree char *name = field_text (&self->fields[i]);

    if (!find_column (name, &self->columns[i])) {
      fab_readings_mistake (self->readings, &self->fields[i],
                            "unknown column '%s'; a value is time_us, time_ps or "
                            "rate_GBps",
                            name);
      self->columns[i] = (Column){ .role = COLUMN_TEXT, .offset = G_STRUCT_OFFSET (FabSeries, note) };
    }
    n_sizes += self->columns[i].role == COLUMN_SIZE;
    n_values += self->columns[i].role == COLUMN_VALUE;
  }
  if (n_sizes != 1 || n_values != 1)
    fab_readings_mistake (self->readings, &self->line.whole,
                          "a table has one column size_bytes and one of time_us, time_ps, rate_GBps");
}

static void
read_point (Reader *self, const Column *column, const FabWord *word, FabMeasuredPoint *point)
{
  double value;

  if (word->length == 0)
    return;
  if (column->role == COLUMN_POINT_COUNT)
    (void) read_count (self, word, &G_STRUCT_MEMBER (guint, point, column->offset));
  else if (fab_readings_number (self->readings, word, &value))
    G_STRUCT_MEMBER (FabTimePs, point, column->offset) = fab_reading_ps (value / 1e6);
}

static void
add_point (Reader *self, FabSeries *series, FabBytes size_bytes, guint value_column,
           const FabMeasuredPoint *spread)
{
  const FabWord *word = &self->fields[value_column];
  const Column *column = &self->columns[value_column];
  double value, time_us = 0;

  if (!fab_readings_number (self->readings, word, &value))
    return;
  if (series->backend == NULL)
    fab_reading_set (&series->backend, "csv");
  if (column->us > 0)
    time_us = value * column->us;
  else if (value > 0)
    time_us = (double) size_bytes / (value * column->bytes_per_s) * 1e6;
  fab_readings_time (self->readings, word, fab_readings_series (self->readings, series), size_bytes, time_us,
                     spread);
}

/* What a series of this kind must say and this one does not; NULL: nothing. */
static const char *
missing_of (const FabSeries *series)
{
  double sides[5];

  if (series->kind == FAB_MEASURE_COLLECTIVE && (series->op == NULL || series->n_ranks < 2))
    return "a collective needs `op` and `n_ranks`, at least 2";
  if (series->kind == FAB_MEASURE_PRODUCT && !fab_series_read_shape (series->shape, 3, sides))
    return "a product needs a `shape` of rows x columns x depth, such as 4096x14336x4096";
  if (series->kind == FAB_MEASURE_ATTENTION && !fab_series_read_shape (series->shape, 5, sides))
    return "attention needs a `shape` of batch x heads x heads of keys x sequence x head size, such as 2x32x8x4096x128";
  return NULL;
}

static void
read_row (Reader *self)
{
  FabSeries series;
  FabMeasuredPoint spread = { .is_complete = TRUE };
  FabBytes size_bytes = 0;
  guint value = 0;
  gboolean has_kind = self->has_kind;

  split (self);
  if (self->n_fields != self->n_columns) {
    fab_readings_mistake (self->readings, &self->line.whole,
                          "the row has %u fields, and the table has %u columns", self->n_fields,
                          self->n_columns);
    return;
  }
  fab_series_copy (&series, &self->common);
  for (guint i = 0; i < self->n_columns; i++) {
    const Column *column = &self->columns[i];

    if (column->role <= COLUMN_COUNT)
      set_member (self, &series, column, &self->fields[i], &has_kind);
    else if (column->role == COLUMN_SIZE)
      (void) fab_readings_size (self->readings, &self->fields[i], &size_bytes);
    else if (column->role == COLUMN_VALUE)
      value = i;
    else
      read_point (self, column, &self->fields[i], &spread);
  }
  const char *missing = has_kind
                          ? missing_of (&series)
                          : "latency, bandwidth, ...? A line `# kind: latency` above the header or a column "
                            "`kind` says it";
  if (missing)
    fab_readings_mistake (self->readings, &self->line.whole, "%s", missing);
  else if (!fab_readings_has_mistakes (self->readings))
    add_point (self, &series, size_bytes, value, &spread);
  fab_series_clear (&series);
}

static void
read_text (FabReadings *readings)
{
  Reader *self = g_new0 (Reader, 1);

  self->readings = readings;
  while (fab_readings_next (readings, &self->line))
    if (self->line.whole.length > 0 && *self->line.whole.at == '#')
      read_common (self);
    else if (self->line.whole.length > 0 && self->n_columns == 0)
      read_header (self);
    else if (self->line.whole.length > 0)
      read_row (self);
  fab_series_clear (&self->common);
  g_free (self);
}

/* The first line that is not a comment must be a header with size_bytes. */
static gboolean
recognises (const FabFileText *text)
{
  const char *at = text->text;
  FabLine line;

  while (fab_line_next (&at, &line))
    if (line.whole.length > 0 && *line.whole.at != '#')
      return fab_word_has (&line.whole, "size_bytes") && fab_word_has (&line.whole, ",");
  return FALSE;
}

const FabFileFormat fab_file_csv = {
  .name = "csv",
  .help = "size_bytes with time_us or rate_GBps",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_text,
};
