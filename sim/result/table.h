/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the result of a query, and three ways to print it.
 *
 * Text is for reading: aligned columns, numbers to the right, reals rounded to about six digits. CSV (RFC 4180) and
 * JSON are for programs: reals keep every significant digit, NULL is an empty field and `null`. All three are UTF-8
 * whatever the cells hold, and depend neither on the locale nor on the machine. A table owns its cells; one thread at
 * a time may change it.
 */
#pragma once

#include <glib.h>

typedef enum { FAB_CELL_NULL, FAB_CELL_INTEGER, FAB_CELL_REAL, FAB_CELL_TEXT } FabCellKind;

typedef struct {
  FabCellKind kind;
  gint64 integer;
  double real; /* also set for INTEGER */
  char *text;  /* of every kind but NULL; a real has the fewest digits that read back to it */
} FabCell;

/* One value of a row while it is read. Nothing is copied. */
typedef struct {
  FabCellKind kind;
  gint64 integer;   /* value of an INTEGER */
  double real;      /* value of a REAL or INTEGER */
  const char *text; /* value of a TEXT, which belongs to the row; otherwise NULL */
} FabField;

typedef struct {
  guint n_columns, n_rows;
  char **columns; /* NULL-ended */
  FabCell *cells; /* row by row */
  gsize n_cells;  /* exceeds n_rows x n_columns while a row is being added */
} FabTable;

/* Returns a table without rows. `columns` is NULL-ended and copied. (transfer full) */
FabTable *fab_table_new (const char *const *columns);

/* Each of these adds the next cell; cells follow row by row. */
void fab_table_add_null (FabTable *self);
void fab_table_add_integer (FabTable *self, gint64 value);
void fab_table_add_real (FabTable *self, double value);
void fab_table_add_text (FabTable *self, const char *value); /* a NULL `value` adds a NULL cell */

void fab_table_free (FabTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTable, fab_table_free)

const FabCell *fab_table_cell (const FabTable *self, guint row, guint column);

/* Returns aligned columns under a line of names, for a page: a vertical tab ("\v") begins every cell but the first, so
 * that who prints them can fit the columns. A table with one cell of several lines (a stored scenario) becomes
 * those lines unchanged. (transfer full) */
char *fab_table_to_text (const FabTable *self);

/* Returns RFC 4180 with LF line ends: a line of names, and quotes where a field needs them. An empty text is `""`, so
 * that it differs from NULL. (transfer full) */
char *fab_table_to_csv (const FabTable *self);

/* Returns one array with one object per row, one row per line. Values that JSON cannot hold (infinity) become null.
 * (transfer full) */
char *fab_table_to_json (const FabTable *self);
