/* SPDX-License-Identifier: Apache-2.0 */
/* samples_write.c - writes series, samples and points to the file. Every call is a transaction of its own. */
#include <sqlite3.h>

#include "validate/measure/samples_private.h"

static void
bind_text (sqlite3_stmt *stmt, gint column, const char *text)
{
  sqlite3_bind_text (stmt, column, text, -1, SQLITE_STATIC);
}

/* Lists a series' columns from `kind` on, with `separator` between them. (transfer full) */
static char *
series_columns (const char *separator)
{
  GString *columns = g_string_new ("kind");

  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    g_string_append_printf (columns, "%s%s", separator, field->name);
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    g_string_append_printf (columns, "%s%s", separator, field->name);
  return g_string_free (columns, FALSE);
}

static gboolean
insert_series (FabSamples *self, const FabSeries *series, GError **error)
{
  g_autofree char *key = fab_series_key (series);
  g_autofree char *columns = series_columns (", "), *values = series_columns (", :");
  g_autofree char *sql = g_strdup_printf ("INSERT INTO series (key, %s) VALUES (:key, :%s)", columns, values);
  sqlite3_stmt *stmt = fab_samples_prepare (self, sql, error);
  gint column = 1;

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, column++, key);
  bind_text (stmt, column++, fab_measure_kind_names[series->kind]);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    bind_text (stmt, column++, G_STRUCT_MEMBER (char *, series, field->offset));
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    sqlite3_bind_int64 (stmt, column++, G_STRUCT_MEMBER (guint, series, field->offset));
  return fab_samples_finish (self, stmt, "store a series", error);
}

gboolean
fab_samples_begin_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error)
{
  if (!fab_samples_find_series (self, series, id, error))
    return FALSE;
  if (*id >= 0)
    return TRUE;
  if (!insert_series (self, series, error))
    return FALSE;
  *id = sqlite3_last_insert_rowid (self->db);
  return TRUE;
}

gboolean
fab_samples_keep (FabSamples *self, gint64 series_id, FabBytes size_bytes, FabTimePs time_ps, GError **error)
{
  static const char sql[] = "INSERT INTO sample (series_id, size_bytes, time_ps) VALUES (?, ?, ?)";
  gboolean is_added;

  if (self->insert == NULL)
    self->insert = fab_samples_prepare (self, sql, error);
  if (self->insert == NULL)
    return FALSE;
  sqlite3_bind_int64 (self->insert, 1, series_id);
  sqlite3_bind_int64 (self->insert, 2, (gint64) size_bytes);
  sqlite3_bind_int64 (self->insert, 3, time_ps);
  is_added = sqlite3_step (self->insert) == SQLITE_DONE || fab_samples_fail (self, "store a sample", error);
  sqlite3_reset (self->insert);
  return is_added;
}

gboolean
fab_samples_end_point (FabSamples *self, gint64 series_id, const FabMeasuredPoint *point, GError **error)
{
  sqlite3_stmt *stmt = fab_samples_prepare (
      self, "INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  const gint64 values[] = { series_id,         (gint64) point->size_bytes,
                            point->time_ps,    point->low_ps,
                            point->high_ps,    point->min_ps,
                            point->p05_ps,     point->p95_ps,
                            point->max_ps,     point->n_samples,
                            point->n_outliers, point->is_complete };

  if (stmt == NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    sqlite3_bind_int64 (stmt, (gint) i + 1, values[i]);
  return fab_samples_finish (self, stmt, "store a point", error);
}

static gboolean
replace_series (FabSamples *self, const FabMeasuredSeries *series, GError **error)
{
  gint64 id;

  if (!fab_samples_find_series (self, &series->series, &id, error))
    return FALSE;
  if (id >= 0) {
    sqlite3_stmt *stmt = fab_samples_prepare (self, "DELETE FROM series WHERE series_id = ?", error);

    sqlite3_bind_int64 (stmt, 1, id);
    if (!fab_samples_finish (self, stmt, "replace a series", error))
      return FALSE;
  }
  if (!insert_series (self, &series->series, error))
    return FALSE;
  id = sqlite3_last_insert_rowid (self->db);
  for (guint i = 0; i < series->points->len; i++)
    if (!fab_samples_end_point (self, id, &g_array_index (series->points, FabMeasuredPoint, i), error))
      return FALSE;
  return TRUE;
}

gboolean
fab_samples_put (FabSamples *self, const FabMeasuredSeries *series, GError **error)
{
  if (!fab_samples_exec (self, "BEGIN IMMEDIATE", "store a series", error))
    return FALSE;
  if (replace_series (self, series, error))
    return fab_samples_exec (self, "COMMIT", "store a series", error);
  sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  return FALSE;
}

gboolean
fab_samples_set_machine (FabSamples *self, const char *key, const char *value, GError **error)
{
  sqlite3_stmt *stmt = fab_samples_prepare (self, "INSERT OR REPLACE INTO machine VALUES (?, ?)", error);

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, 1, key);
  bind_text (stmt, 2, value);
  return fab_samples_finish (self, stmt, "store the machine", error);
}

gboolean
fab_samples_add_note (FabSamples *self, const char *note, GError **error)
{
  sqlite3_stmt *stmt = fab_samples_prepare (self, "INSERT OR IGNORE INTO note (text) VALUES (?)", error);

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, 1, note);
  return fab_samples_finish (self, stmt, "store a note", error);
}
