/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the answer to a query, and the three ways to print it.
 *
 * Text is for reading: aligned columns, numbers to the right, reals rounded to about six digits.
 * CSV (RFC 4180) and JSON are for programs: reals keep every digit that matters, NULL is an
 * empty field and `null`. All three are UTF-8 whatever the cells hold, and depend on neither
 * the locale nor the machine.
 */
#pragma once

#include <glib.h>

typedef enum { FAB_CELL_NULL, FAB_CELL_INTEGER, FAB_CELL_REAL, FAB_CELL_TEXT } FabCellKind;

typedef struct {
  FabCellKind kind;
  gint64 integer;
  double real; /* of INTEGER too */
  char *text;  /* of every kind but NULL; a real in the fewest digits that read back to it */
} FabCell;

typedef struct {
  guint n_columns, n_rows;
  char **columns; /* NULL-ended */
  FabCell *cells; /* row by row */
  gsize n_cells;  /* more than n_rows x n_columns while a row is added */
} FabTable;

/* Without rows; `columns` is NULL-ended and copied. */
FabTable *fab_table_new (const char *const *columns);

/* Add the next cell, row by row. */
void fab_table_add_null (FabTable *self);
void fab_table_add_integer (FabTable *self, gint64 value);
void fab_table_add_real (FabTable *self, double value);
void fab_table_add_text (FabTable *self, const char *value); /* NULL is NULL */

void fab_table_free (FabTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTable, fab_table_free)

const FabCell *fab_table_cell (const FabTable *self, guint row, guint column);

/* The column of this name, or -1. */
gint fab_table_find_column (const FabTable *self, const char *name);

/* Aligned columns under a line of names. A table of one cell that holds several lines (a stored
 * scenario) is those lines, as they are. */
char *fab_table_to_text (const FabTable *self);

/* RFC 4180 but for LF line ends: a line of names, quotes where a field needs them. An empty text is
 * `""`, so that it differs from NULL. */
char *fab_table_to_csv (const FabTable *self);

/* One array with one object per row, one row per line. What JSON cannot hold (infinity) is null. */
char *fab_table_to_json (const FabTable *self);
