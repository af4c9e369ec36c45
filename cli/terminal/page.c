/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/page.h"

#include <string.h>

#include "cli/terminal/fold.h"

enum {
  GAP = 2,         /* least space between columns of a table */
  SHORT_LABEL = 2, /* columns of a rank or a mark */
  FIGURES = 20,    /* bytes: figures with their marks are no longer */
};

typedef struct {
  guint indent; /* spaces before every cell */
  guint width;  /* of what stands behind them */
  guint gap;    /* empty columns between it and the column before */
} Column;

typedef struct {
  GPtrArray *rows; /* GStrv: the cells */
  Column *columns;
  guint n_columns;
} Table;

static guint
indent_of (const char *cell)
{
  return (guint) strspn (cell, " ");
}

/* Bytes up to the end of the last word. */
static gsize
length_of (const char *cell)
{
  gsize length = strlen (cell);

  while (length > 0 && cell[length - 1] == ' ')
    length--;
  return length;
}

static char **
row_at (const Table *self, guint row)
{
  return g_ptr_array_index (self->rows, row);
}

/* Measures the cells of a column; the last cell of a short row, which has more room than its column, does not count. */
static void
measure_column (Table *self, guint k)
{
  Column *column = &self->columns[k];
  guint whole = 0, end = 0, indent = G_MAXUINT;

  for (guint i = 0; i < self->rows->len; i++) {
    char **cells = row_at (self, i);
    guint n = g_strv_length (cells);

    if (k >= n || (k + 1 == n && n < self->n_columns))
      continue;
    gsize length = length_of (cells[k]);
    whole = MAX (whole, fab_fold_width (cells[k], strlen (cells[k])));
    end = MAX (end, fab_fold_width (cells[k], length));
    if (length > 0)
      indent = MIN (indent, indent_of (cells[k]));
  }
  column->indent = MIN (indent, end);
  column->width = end - column->indent;
  column->gap += column->indent;
  if (k + 1 < self->n_columns)
    self->columns[k + 1].gap = whole - end;
}

static Table *
table_new (char **lines, guint n)
{
  Table *self = g_new0 (Table, 1);

  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < n; i++) {
    char **cells = g_strsplit (lines[i], "\v", -1);

    self->n_columns = MAX (self->n_columns, g_strv_length (cells));
    g_ptr_array_add (self->rows, cells);
  }
  self->columns = g_new0 (Column, self->n_columns);
  for (guint k = 0; k < self->n_columns; k++)
    measure_column (self, k);
  return self;
}

static void
table_free (Table *self)
{
  g_ptr_array_unref (self->rows);
  g_free (self->columns);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Table, table_free)

/* Empty columns before column `k`. */
static guint
gap_of (const Table *self, guint k, gboolean is_near)
{
  return is_near && k > 0 ? MIN (GAP, self->columns[k].gap) : self->columns[k].gap;
}

/* What columns `first` to `last` - 1 take. */
static guint
width_of (const Table *self, guint first, guint last, gboolean is_near)
{
  guint width = 0;

  for (guint k = first; k < last; k++)
    width += gap_of (self, k, is_near) + self->columns[k].width;
  return width;
}

/* Appends columns `first` to `last` - 1 of a row. Only the first of them is near the column before it, or all are. */
static void
append_cells (GString *out, const Table *self, guint row, guint first, guint last, gboolean are_near)
{
  char **cells = row_at (self, row);

  for (guint k = first; k < MIN (last, g_strv_length (cells)); k++) {
    const char *text = cells[k] + MIN (self->columns[k].indent, indent_of (cells[k]));
    gsize length = length_of (text);
    guint width = fab_fold_width (text, length), all = self->columns[k].width;

    g_string_append_printf (out, "%*s%.*s%*s", (int) gap_of (self, k, are_near || k == first), "",
                            (int) length, text, (int) (all - MIN (width, all)), "");
  }
}

static void
end_row (GString *out)
{
  while (out->len > 0 && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
}

/* How many columns tell the rows apart: two, where the first holds numbers or marks, or nothing in some rows below the
 * head. */
static guint
n_labels (const Table *self)
{
  gboolean is_enough = self->columns[0].width > SHORT_LABEL;

  for (guint i = 1; i < self->rows->len; i++)
    is_enough = is_enough && length_of (row_at (self, i)[0]) > 0;
  return is_enough ? 1 : MIN (2, self->n_columns);
}

/* Whether a cell is a sentence or the like, and not figures, a name or a mark. */
static gboolean
has_words (const char *cell)
{
  const char *text = cell + indent_of (cell);
  gsize length = length_of (text);
  guint n_spaces = 0;

  for (gsize i = 1; i + 1 < length; i++)
    n_spaces += text[i] == ' ' && text[i - 1] != ' ' && text[i + 1] != ' ';
  return n_spaces >= 2 && length > FIGURES;
}

/* The columns that are fitted: not a last one with words, which are folded line by line. */
static guint
n_fitted (const Table *self)
{
  guint last = self->n_columns - 1;

  for (guint i = 0; i < self->rows->len; i++) {
    char **cells = row_at (self, i);

    if (g_strv_length (cells) == self->n_columns && has_words (cells[last]))
      return last;
  }
  return self->n_columns;
}

/* Appends the table as several below one another. */
static void
append_parts (GString *out, const Table *self, guint columns)
{
  guint before = n_labels (self), label = width_of (self, 0, before, FALSE);

  for (guint first = before, last; first < self->n_columns; first = last) {
    guint width = label + gap_of (self, first, TRUE) + self->columns[first].width;

    for (last = first + 1; last < self->n_columns; last++) {
      width += width_of (self, last, last + 1, FALSE);
      if (width > columns)
        break;
    }
    if (first > before)
      g_string_append_c (out, '\n');
    for (guint i = 0; i < self->rows->len; i++) {
      append_cells (out, self, i, 0, before, FALSE);
      append_cells (out, self, i, first, last, FALSE);
      end_row (out);
    }
  }
}

static void
append_whole (GString *out, char **lines, guint n)
{
  for (guint i = 0; i < n; i++) {
    for (const char *p = lines[i]; *p != '\0'; p++)
      if (*p != '\v')
        g_string_append_c (out, *p);
    g_string_append_c (out, '\n');
  }
}

static void
append_table (GString *out, char **lines, guint n, guint columns)
{
  g_autoptr (Table) table = table_new (lines, n);
  guint fitted = n_fitted (table);
  gboolean is_fit = width_of (table, 0, fitted, FALSE) <= columns;
  gboolean can_fit = width_of (table, 0, fitted, TRUE) <= columns;

  if (is_fit || (!can_fit && width_of (table, 0, n_labels (table), FALSE) * 2 > columns))
    append_whole (out, lines, n);
  else if (!can_fit)
    append_parts (out, table, columns);
  for (guint i = 0; !is_fit && can_fit && i < n; i++) {
    append_cells (out, table, i, 0, table->n_columns, TRUE);
    end_row (out);
  }
}

char *
fab_page_fit (const char *page, guint columns)
{
  g_auto (GStrv) lines = g_strsplit (page, "\n", -1);
  GString *out = g_string_sized_new (strlen (page));
  guint n_lines = g_strv_length (lines);

  for (guint first = 0, last; first < n_lines; first = last) {
    gboolean is_table = strchr (lines[first], '\v') != NULL;

    for (last = first + 1; last < n_lines && (strchr (lines[last], '\v') != NULL) == is_table;)
      last++;
    if (is_table && columns > 0)
      append_table (out, lines + first, last - first, columns);
    else
      append_whole (out, lines + first, last - first);
  }
  if (out->len > 0)
    g_string_truncate (out, out->len - 1); /* what stands behind the last line end is a line too */
  return g_string_free (out, FALSE);
}
