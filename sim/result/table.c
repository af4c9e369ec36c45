/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - prints a query's result as text, CSV and JSON.
 *
 * JSON has a row per line, with reals in the fewest digits that read back, where a FabJson has 17 (0.1 would be
 * 0.10000000000000001); tests/unit/sim/result/test_store.c reads it back with json-glib. Numbers are formatted with
 * the g_ascii functions, which ignore the decimal comma of a locale.
 */
#include "sim/result/table.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/json.h"

#define TEXT_DIGITS 6 /* significant digits of the largest value in a column of reals */
#define TEXT_GAP "\v  "

typedef struct {
  gboolean is_numeric;
  gboolean is_fixed; /* reals share `decimals`, so that their points are aligned */
  gint decimals;
  glong width;
} Column;

void
fab_table_free (FabTable *self)
{
  if (self == NULL)
    return;
  for (gsize i = 0; i < self->n_cells; i++)
    g_free (self->cells[i].text);
  g_free (self->cells);
  g_strfreev (self->columns);
  g_free (self);
}

const FabCell *
fab_table_cell (const FabTable *self, guint row, guint column)
{
  g_assert (row < self->n_rows && column < self->n_columns);
  return &self->cells[(gsize) row * self->n_columns + column];
}

/* Text */

static gboolean
is_plain (const char *text)
{
  while (g_ascii_isprint (*text))
    text++;
  return *text == '\0';
}

/* Returns one line without what a terminal would execute. Line ends and tabs, which texts have, are spelt shorter. */
static char *
printable (const char *text)
{
  if (is_plain (text))
    return g_strdup (text);
  g_autofree char *escaped = fab_printable_lines (text);
  g_autoptr (GString) out = g_string_new (escaped);
  g_string_replace (out, "\n", "\\n", 0);
  g_string_replace (out, "\t", "\\t", 0);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static char *
cell_text (const FabCell *cell, const Column *column)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char format[16];

  if (cell->kind == FAB_CELL_NULL)
    return g_strdup ("");
  if (cell->kind != FAB_CELL_REAL)
    return printable (cell->text);
  if (!isfinite (cell->real))
    return g_strdup (cell->text);
  if (column->is_fixed)
    g_snprintf (format, sizeof format, "%%.%df", column->decimals);
  else
    g_strlcpy (format, fabs (cell->real) >= 1e6 && fabs (cell->real) < 1e15 ? "%.0f" : "%.6g", sizeof format);
  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, format, cell->real));
}

static void
measure_reals (const FabTable *self, guint index, Column *column)
{
  double largest = 0, smallest = G_MAXDOUBLE;

  for (guint row = 0; row < self->n_rows; row++) {
    const FabCell *cell = fab_table_cell (self, row, index);
    double size = cell->kind == FAB_CELL_REAL ? fabs (cell->real) : 0;

    if (!isfinite (size) || size == 0)
      continue;
    largest = MAX (largest, size);
    smallest = MIN (smallest, size);
  }
  column->is_fixed = largest == 0 || (largest >= 1e-6 && largest < 1e15 && largest / smallest < 1e4);
  column->decimals = largest > 0 ? CLAMP (TEXT_DIGITS - 1 - (gint) floor (log10 (largest)), 0, 11) : 1;
}

static Column
measure_column (const FabTable *self, guint index)
{
  g_autofree char *name = printable (self->columns[index]);
  Column column = { .is_numeric = TRUE, .width = g_utf8_strlen (name, -1) };

  measure_reals (self, index, &column);
  for (guint row = 0; row < self->n_rows; row++) {
    const FabCell *cell = fab_table_cell (self, row, index);
    g_autofree char *text = cell_text (cell, &column);

    column.is_numeric = column.is_numeric && cell->kind != FAB_CELL_TEXT;
    column.width = MAX (column.width, g_utf8_strlen (text, -1));
  }
  return column;
}

static void
append_padded (GString *out, const char *text, const Column *column, gboolean is_last)
{
  gint pad = (gint) (column->width - g_utf8_strlen (text, -1));

  if (column->is_numeric)
    g_string_append_printf (out, "%*s%s", pad, "", text);
  else
    g_string_append_printf (out, "%s%*s", text, pad, "");
  if (is_last)
    while (out->len > 0 && strchr (" \v", out->str[out->len - 1]) != NULL)
      g_string_truncate (out, out->len - 1);
  g_string_append (out, is_last ? "\n" : TEXT_GAP);
}

static gboolean
is_document (const FabTable *self)
{
  return self->n_rows == 1 && self->n_columns == 1 && self->cells[0].kind == FAB_CELL_TEXT
      && strchr (self->cells[0].text, '\n') != NULL;
}

char *
fab_table_to_text (const FabTable *self)
{
  g_autofree Column *columns = g_new0 (Column, self->n_columns);
  GString *out = g_string_new (NULL);

  if (is_document (self)) {
    g_string_free (out, TRUE);
    return fab_printable_lines (self->cells[0].text);
  }
  for (guint i = 0; i < self->n_columns; i++) {
    g_autofree char *name = printable (self->columns[i]);

    columns[i] = measure_column (self, i);
    append_padded (out, name, &columns[i], i + 1 == self->n_columns);
  }
  for (guint row = 0; row < self->n_rows; row++)
    for (guint i = 0; i < self->n_columns; i++) {
      g_autofree char *text = cell_text (fab_table_cell (self, row, i), &columns[i]);

      append_padded (out, text, &columns[i], i + 1 == self->n_columns);
    }
  return g_string_free (out, FALSE);
}

/* CSV */

static void
append_csv (GString *out, const char *text, gboolean is_last)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  if (*valid != '\0' && strpbrk (valid, ",\"\r\n") == NULL) {
    g_string_append (out, valid);
  } else {
    g_auto (GStrv) parts = g_strsplit (valid, "\"", -1);
    g_autofree char *doubled = g_strjoinv ("\"\"", parts);

    g_string_append_printf (out, "\"%s\"", doubled);
  }
  g_string_append (out, is_last ? "\n" : ",");
}

char *
fab_table_to_csv (const FabTable *self)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < self->n_columns; i++)
    append_csv (out, self->columns[i], i + 1 == self->n_columns);
  for (guint row = 0; row < self->n_rows; row++)
    for (guint i = 0; i < self->n_columns; i++) {
      const FabCell *cell = fab_table_cell (self, row, i);
      gboolean is_last = i + 1 == self->n_columns;

      if (cell->kind == FAB_CELL_NULL)
        g_string_append (out, is_last ? "\n" : ",");
      else
        append_csv (out, cell->text, is_last);
    }
  return g_string_free (out, FALSE);
}

/* JSON */

static void
append_json_cell (GString *out, const FabCell *cell)
{
  if (cell->kind == FAB_CELL_NULL || (cell->kind == FAB_CELL_REAL && !isfinite (cell->real)))
    g_string_append (out, "null");
  else if (cell->kind == FAB_CELL_TEXT)
    fab_json_append_text (out, cell->text);
  else
    g_string_append (out, cell->text);
}

char *
fab_table_to_json (const FabTable *self)
{
  GString *out = g_string_new ("[");

  for (guint row = 0; row < self->n_rows; row++) {
    g_string_append (out, row == 0 ? "\n{" : ",\n{");
    for (guint i = 0; i < self->n_columns; i++) {
      g_string_append (out, i == 0 ? "" : ", ");
      fab_json_append_text (out, self->columns[i]);
      g_string_append (out, ": ");
      append_json_cell (out, fab_table_cell (self, row, i));
    }
    g_string_append_c (out, '}');
  }
  g_string_append (out, self->n_rows > 0 ? "\n]\n" : "]\n");
  return g_string_free (out, FALSE);
}

/* Builds a table cell by cell. */

FabTable *
fab_table_new (const char *const *columns)
{
  FabTable *self = g_new0 (FabTable, 1);

  self->columns = g_strdupv ((char **) columns);
  self->n_columns = g_strv_length (self->columns);
  return self;
}

static char *
shortest_real (double real)
{
  static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_ascii_strtod (g_ascii_formatd (buffer, sizeof buffer, formats[i], real), NULL) == real)
      break;
  return g_strdup (buffer);
}

/* The array doubles when it is full, which happens at powers of two. */
static void
add_cell (FabTable *self, FabCell cell)
{
  gsize n = self->n_cells;

  if ((n & (n - 1)) == 0)
    self->cells = g_renew (FabCell, self->cells, MAX (2 * n, 1));
  self->cells[self->n_cells++] = cell;
  if (self->n_cells % self->n_columns == 0)
    self->n_rows++;
}

void
fab_table_add_null (FabTable *self)
{
  add_cell (self, (FabCell){ FAB_CELL_NULL, 0, 0, NULL });
}

void
fab_table_add_integer (FabTable *self, gint64 value)
{
  char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  add_cell (self, (FabCell){ FAB_CELL_INTEGER, value, (double) value, text });
}

void
fab_table_add_real (FabTable *self, double value)
{
  add_cell (self, (FabCell){ FAB_CELL_REAL, 0, value, shortest_real (value) });
}

void
fab_table_add_text (FabTable *self, const char *value)
{
  if (value == NULL)
    fab_table_add_null (self);
  else
    add_cell (self, (FabCell){ FAB_CELL_TEXT, 0, 0, g_strdup (value) });
}
