/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal/page.h"

#include <string.h>

#include "cli/terminal/fold.h"

enum {
  GAP = 2,          /* least space between columns of a table */
  SHORT_LABEL = 2,  /* columns of a rank or a mark */
  FIGURES = 20,     /* bytes: figures with their marks are no longer */
  WORDS = 24,       /* columns that words of a last column need, as fold.h gives them */
  MOST_OF_LIST = 4, /* columns of a list, which is no table of figures */
  LEAST_LABEL = 20, /* columns of a label that is broken into lines */
  HANG = 2,         /* columns by which what continues a label stands to the right */
};

typedef struct {
  guint indent; /* spaces before every cell */
  guint width;  /* of what stands behind them */
  guint gap;    /* empty columns between it and the column before */
} Column;

typedef struct {
  GPtrArray *rows;  /* GStrv: the cells */
  GPtrArray *below; /* of a row: what continues its label, in lines; NULL: labels are whole */
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
  g_clear_pointer (&self->below, g_ptr_array_unref);
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

/* Appends columns `first` to `last` - 1 of a row, near to each other. */
static void
append_cells (GString *out, const Table *self, guint row, guint first, guint last)
{
  char **cells = row_at (self, row);

  for (guint k = first; k < MIN (last, g_strv_length (cells)); k++) {
    const char *text = cells[k] + MIN (self->columns[k].indent, indent_of (cells[k]));
    gsize length = length_of (text);
    guint width = fab_fold_width (text, length), all = self->columns[k].width;

    g_string_append_printf (out, "%*s%.*s%*s", (int) gap_of (self, k, TRUE), "", (int) length, text,
                            (int) (all - MIN (width, all)), "");
  }
}

static void
end_row (GString *out, const Table *self, guint row)
{
  while (out->len > 0 && out->str[out->len - 1] == ' ')
    g_string_truncate (out, out->len - 1);
  g_string_append_c (out, '\n');
  if (self->below != NULL)
    g_string_append (out, g_ptr_array_index (self->below, row));
}

/* How many columns tell the rows apart: two, where the first holds numbers or marks, or nothing in some rows below the
 * head, or the same in several rows and the second has room. */
static guint
n_labels (const Table *self, guint columns)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_enough = self->columns[0].width > SHORT_LABEL, differs = TRUE;
  guint two = MIN (2, self->n_columns);

  for (guint i = 0; i < self->rows->len; i++) {
    is_enough = is_enough && (i == 0 || length_of (row_at (self, i)[0]) > 0);
    differs = (g_hash_table_add (seen, row_at (self, i)[0]) || self->below != NULL) && differs;
  }
  return is_enough && (differs || width_of (self, 0, two, FALSE) * 3 > columns * 2) ? 1 : two;
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
  guint before = n_labels (self, columns), label = width_of (self, 0, before, TRUE);

  for (guint first = before, last; first < self->n_columns; first = last) {
    guint width = label + width_of (self, first, first + 1, TRUE);

    for (last = first + 1; last < self->n_columns; last++) {
      width += width_of (self, last, last + 1, TRUE);
      if (width > columns)
        break;
    }
    if (first > before)
      g_string_append_c (out, '\n');
    for (guint i = 0; i < self->rows->len; i++) {
      append_cells (out, self, i, 0, before);
      append_cells (out, self, i, first, last);
      end_row (out, self, i);
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

/* Whether the columns that are fitted have room, with some for words in a last one. */
static gboolean
has_room (const Table *self, guint columns, gboolean is_near)
{
  guint fitted = n_fitted (self), width = width_of (self, 0, fitted, is_near);

  if (fitted < self->n_columns)
    width += gap_of (self, fitted, is_near) + MIN (self->columns[fitted].width, WORDS);
  return width <= columns;
}

/* Columns of the longest word of the labels. */
static guint
longest_word (const Table *self)
{
  guint longest = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    g_auto (GStrv) words = g_strsplit (row_at (self, i)[0], " ", -1);

    for (guint k = 0; words[k] != NULL; k++)
      longest = MAX (longest, fab_fold_width (words[k], strlen (words[k])));
  }
  return longest;
}

/* The columns that labels get where they are broken into lines: so many that the whole table has room, or else a share
 * of the page; 0: they cannot be broken, or are short. */
static guint
label_room (const Table *self, guint columns, gboolean *is_whole)
{
  guint rest = width_of (self, 1, self->n_columns, TRUE), indent = self->columns[0].indent;
  guint room = columns > rest + indent ? columns - rest - indent : 0;

  *is_whole = room >= LEAST_LABEL;
  if (!*is_whole)
    room = columns / 3;
  return self->n_columns > 2 && longest_word (self) + HANG <= room && self->columns[0].width > room ? room
                                                                                                    : 0;
}

/* Breaks labels into lines of so many columns; the other cells stand beside the first of them. */
static void
break_labels (Table *self, guint room)
{
  guint indent = self->columns[0].indent, widest = 0;

  self->below = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->rows->len; i++) {
    g_autoptr (GString) folded = g_string_new (NULL);
    char **cells = row_at (self, i), *end;

    fab_fold_paragraph (folded, (const char *const[]){ g_strchomp (cells[0]) }, 1, indent + room);
    end = strchr (folded->str, '\n');
    g_ptr_array_add (self->below, g_strdup (end + 1));
    *end = '\0';
    g_free (cells[0]);
    cells[0] = g_strdup (folded->str);
    g_auto (GStrv) lines = g_strsplit (g_ptr_array_index (self->below, i), "\n", -1);
    widest = MAX (widest, fab_fold_width (cells[0], strlen (cells[0])));
    for (guint k = 0; lines[k] != NULL; k++)
      widest = MAX (widest, fab_fold_width (lines[k], strlen (lines[k])));
  }
  self->columns[0].width = widest - indent;
}

static void
append_near (GString *out, const Table *self)
{
  for (guint i = 0; i < self->rows->len; i++) {
    append_cells (out, self, i, 0, self->n_columns);
    end_row (out, self, i);
  }
}

static void
append_table (GString *out, char **lines, guint n, guint columns)
{
  g_autoptr (Table) table = table_new (lines, n);
  gboolean is_list = table->n_columns <= MOST_OF_LIST; /* names with words, which may go on below */
  gboolean is_whole = FALSE;
  guint fitted = n_fitted (table), room;

  if (has_room (table, columns, FALSE)) {
    append_whole (out, lines, n);
  } else if (has_room (table, columns, TRUE)) {
    append_near (out, table);
  } else if ((room = label_room (table, columns, &is_whole)) > 0) {
    break_labels (table, room);
    is_whole ? append_near (out, table) : append_parts (out, table, columns);
  } else if (is_list && width_of (table, 0, fitted, FALSE) <= columns) {
    append_whole (out, lines, n);
  } else if (is_list && width_of (table, 0, fitted, TRUE) <= columns) {
    append_near (out, table);
  } else if (width_of (table, 0, n_labels (table, columns), TRUE) * 3 > columns * 2) {
    append_whole (out, lines, n);
  } else {
    append_parts (out, table, columns);
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
