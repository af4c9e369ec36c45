/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - lines into cells, and the cells that every table has into numbers. O(characters). */
#include "validate/training/table.h"

#include <string.h>

#include "sim/base/error.h"

typedef struct {
  const char *name;
  guint line;
  FabTrainingTable *table;
} Reader;

G_GNUC_PRINTF (3, 4)
static gboolean
fail (const Reader *reader, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s", reader->name, reader->line, message);
}

gint
fab_training_table_column (const FabTrainingTable *self, const char *name)
{
  for (guint i = 0; self->columns && self->columns[i]; i++)
    if (strcmp (self->columns[i], name) == 0)
      return (gint) i;
  return -1;
}

static void
clear_row (gpointer data)
{
  g_strfreev (((FabTrainingRow *) data)->cells);
}

void
fab_training_table_free (FabTrainingTable *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->header);
  g_strfreev (self->columns);
  g_array_unref (self->rows);
  g_free (self);
}

/* The cell of a column, NULL when it is empty or there is no such column. */
static const char *
cell (const FabTrainingTable *table, char **cells, const char *column)
{
  gint index = fab_training_table_column (table, column);

  return index >= 0 && *cells[index] != '\0' ? cells[index] : NULL;
}

static gboolean
read_count (const Reader *reader, char **cells, const char *column, guint *value, GError **error)
{
  const char *text = cell (reader->table, cells, column);
  guint64 number = 0;

  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT32, &number, NULL))
    return fail (reader, error, "%s is '%s', not a number from 1 on", column, text ? text : "");
  *value = (guint) number;
  return TRUE;
}

static gboolean
read_real (const Reader *reader, char **cells, const char *column, double *value, GError **error)
{
  const char *text = cell (reader->table, cells, column);
  char *end = NULL;

  *value = text ? g_ascii_strtod (text, &end) : 0;
  if (text == NULL || *end != '\0' || !(*value > 0 && *value < 1e15))
    return fail (reader, error, "%s is '%s', not a number above 0", column, text ? text : "");
  return TRUE;
}

static gboolean
is_known_id (const FabTrainingTable *table, const char *id)
{
  for (guint i = 0; i < table->rows->len; i++)
    if (strcmp (fab_training_table_row (table, i)->id, id) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_row (const Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  const FabTrainingTable *table = reader->table;
  FabTrainingRow row = { 0 };

  if (g_strv_length (cells) != g_strv_length (table->columns))
    return fail (reader, error, "%u cells below %u column names", g_strv_length (cells),
                 g_strv_length (table->columns));
  row.id = cell (table, cells, "id");
  row.strategy = cell (table, cells, "strategy");
  row.doubtful = cell (table, cells, "doubtful");
  row.is_anchor = g_strcmp0 (cell (table, cells, "anchor"), "yes") == 0;
  if (row.id == NULL || is_known_id (table, row.id))
    return fail (reader, error, "id is '%s', which is empty or stands twice", row.id ? row.id : "");
  if (row.strategy == NULL)
    return fail (reader, error, "strategy is empty");
  if (!read_count (reader, cells, "gpus", &row.gpus, error)
      || !read_count (reader, cells, "nodes", &row.nodes, error)
      || !read_real (reader, cells, "batch", &row.batch, error)
      || !read_real (reader, cells, "step_s", &row.step_s, error))
    return FALSE;
  row.cells = g_steal_pointer (&cells);
  g_array_append_val (table->rows, row);
  return TRUE;
}

static gboolean
read_columns (const Reader *reader, const char *line, GError **error)
{
  static const char *const needed[] = { "id", "gpus", "nodes", "strategy", "batch", "step_s" };

  reader->table->columns = g_strsplit (line, ",", -1);
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (fab_training_table_column (reader->table, needed[i]) < 0)
      return fail (reader, error, "there is no column '%s'", needed[i]);
  return TRUE;
}

static gboolean
read_header (const Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (line + 1, ":", 2);

  if (parts[0] == NULL || parts[1] == NULL)
    return fail (reader, error, "a header line is '# key: value'");
  g_hash_table_insert (reader->table->header, g_strdup (g_strstrip (parts[0])),
                       g_strdup (g_strstrip (parts[1])));
  return TRUE;
}

static gboolean
read_line (const Reader *reader, const char *line, GError **error)
{
  if (*line == '\0')
    return TRUE;
  if (*line == '#')
    return read_header (reader, line, error);
  return reader->table->columns ? read_row (reader, line, error) : read_columns (reader, line, error);
}

FabTrainingTable *
fab_training_table_parse (const char *name, const char *data, GError **error)
{
  g_autoptr (FabTrainingTable) self = g_new0 (FabTrainingTable, 1);
  g_auto (GStrv) lines = g_strsplit (data, "\n", -1);
  Reader reader = { .name = name, .table = self };

  self->header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingRow));
  g_array_set_clear_func (self->rows, clear_row);
  for (guint i = 0; lines[i]; i++) {
    reader.line = i + 1;
    if (!read_line (&reader, g_strchomp (lines[i]), error))
      return NULL;
  }
  if (self->rows->len == 0) {
    fail (&reader, error, "the table has no rows");
    return NULL;
  }
  return g_steal_pointer (&self);
}
