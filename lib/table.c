/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - named columns, made of the records of results files or cell by cell. */
#include <math.h>
#include <string.h>

#include "lib/private.h"

static void
text_clear (gpointer cell)
{
  g_free (*(char **) cell);
}

static void
column_clear (gpointer data)
{
  LibColumn *self = data;

  g_free (self->name);
  g_array_unref (self->cells);
}

FabricastTable *
lib_table_new (void)
{
  FabricastTable *self = g_new0 (FabricastTable, 1);

  self->columns = g_array_new (FALSE, FALSE, sizeof (LibColumn));
  g_array_set_clear_func (self->columns, column_clear);
  return self;
}

void
fabricast_table_free (FabricastTable *table)
{
  if (table == NULL)
    return;
  g_array_unref (table->columns);
  g_free (table);
}

guint
lib_table_add (FabricastTable *self, const char *name, int kind)
{
  LibColumn column = { g_strdup (name), kind, g_array_new (FALSE, FALSE, LIB_CELL_BYTES) };

  if (kind == FABRICAST_TEXT)
    g_array_set_clear_func (column.cells, text_clear);
  g_array_append_val (self->columns, column);
  return self->columns->len - 1;
}

static GArray *
cells_of (FabricastTable *self, guint column, int kind)
{
  LibColumn *one = &g_array_index (self->columns, LibColumn, column);

  g_assert (one->kind == kind);
  self->n_rows = MAX (self->n_rows, one->cells->len + 1);
  return one->cells;
}

void
lib_table_whole (FabricastTable *self, guint column, gint64 value)
{
  g_array_append_val (cells_of (self, column, FABRICAST_WHOLE), value);
}

void
lib_table_real (FabricastTable *self, guint column, double value)
{
  g_array_append_val (cells_of (self, column, FABRICAST_REAL), value);
}

void
lib_table_text (FabricastTable *self, guint column, const char *text)
{
  char *copy = g_strdup (text);

  g_array_append_val (cells_of (self, column, FABRICAST_TEXT), copy);
}

static int
kind_of (const FabColumn *column)
{
  switch (column->kind) {
  case FAB_COLUMN_REAL: return FABRICAST_REAL;
  case FAB_COLUMN_TEXT:
  case FAB_COLUMN_SPAN: return FABRICAST_TEXT;
  case FAB_COLUMN_WHOLE:
  case FAB_COLUMN_UNSIGNED:
  case FAB_COLUMN_COUNT:
  case FAB_COLUMN_INDEX:
  case FAB_COLUMN_SERIAL:
  default: return FABRICAST_WHOLE;
  }
}

void
lib_table_add_records (FabricastTable *self, const FabRecordTable *table)
{
  for (guint i = 0; i < table->n_columns; i++)
    lib_table_add (self, table->columns[i].name, kind_of (&table->columns[i]));
}

static void
append_cell (FabricastTable *self, guint to, const FabColumn *column, const guint8 *record, gsize row)
{
  FabField field = fab_column_read (column, record, (gint64) row);
  int kind = kind_of (column);

  if (kind == FABRICAST_REAL)
    lib_table_real (self, to, field.kind == FAB_CELL_NULL ? NAN : field.real);
  else if (kind == FABRICAST_TEXT)
    lib_table_text (self, to, field.text);
  else
    lib_table_whole (self, to, field.kind == FAB_CELL_NULL ? G_MININT64 : field.integer);
}

void
lib_table_append_records (FabricastTable *self, guint first, const FabRecordTable *table, gconstpointer rows,
                          gsize n)
{
  const guint8 *record = rows;

  for (gsize row = 0; row < n; row++, record += table->row_size)
    for (guint i = 0; i < table->n_columns; i++)
      append_cell (self, first + i, &table->columns[i], record, row);
}

FabricastTable *
lib_table_of_records (FabTableKind kind, gconstpointer rows, gsize n)
{
  FabricastTable *self = lib_table_new ();

  lib_table_add_records (self, &fab_record_tables[kind]);
  lib_table_append_records (self, 0, &fab_record_tables[kind], rows, n);
  return self;
}

size_t
fabricast_table_rows (const FabricastTable *table)
{
  return table != NULL ? table->n_rows : 0;
}

int
fabricast_table_column (const FabricastTable *table, size_t i, FabricastColumn *column)
{
  FabricastColumn own = { .struct_size = sizeof own };
  const LibColumn *one;

  if (table == NULL || column == NULL || i >= table->columns->len)
    return 0;
  one = &g_array_index (table->columns, LibColumn, i);
  own.name = one->name;
  own.kind = one->kind;
  if (one->kind == FABRICAST_WHOLE)
    own.whole = (const int64_t *) (gpointer) one->cells->data;
  else if (one->kind == FABRICAST_REAL)
    own.real = (const double *) (gpointer) one->cells->data;
  else
    own.text = (const char *const *) (gpointer) one->cells->data;
  return lib_give (&own, sizeof own, column);
}
