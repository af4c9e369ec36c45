/* SPDX-License-Identifier: Apache-2.0 */
/* table_build.c - builds a table cell by cell. */
#include "sim/result/table.h"

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
