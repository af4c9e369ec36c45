/* SPDX-License-Identifier: Apache-2.0 */
/* samples_read.c - reads series, points and samples from the file. */
#include <sqlite3.h>

#include "sim/base/error.h"
#include "validate/measure/samples_private.h"

/* Returns TRUE when there is a row; FALSE at the end or when *error is set. Frees the statement at the end. */
static gboolean
next_row (FabSamples *self, sqlite3_stmt **stmt, GError **error)
{
  gint code = *stmt ? sqlite3_step (*stmt) : SQLITE_DONE;

  if (code == SQLITE_ROW)
    return TRUE;
  if (code != SQLITE_DONE)
    fab_samples_fail (self, "read", error);
  sqlite3_finalize (g_steal_pointer (stmt));
  return FALSE;
}

/* Returns valid UTF-8 whatever wrote the file, or NULL. (transfer full) */
static char *
column_text (sqlite3_stmt *stmt, gint column)
{
  const char *text = (const char *) sqlite3_column_text (stmt, column);

  return text ? g_utf8_make_valid (text, -1) : NULL;
}

gboolean
fab_samples_find_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error)
{
  g_autofree char *key = fab_series_key (series);
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = fab_samples_prepare (self, "SELECT series_id FROM series WHERE key = ?", &cause);

  *id = -1;
  if (stmt)
    sqlite3_bind_text (stmt, 1, key, -1, SQLITE_STATIC);
  if (next_row (self, &stmt, &cause))
    *id = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

GArray *
fab_samples_of_point (FabSamples *self, gint64 series_id, FabBytes size_bytes, GError **error)
{
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = fab_samples_prepare (
      self, "SELECT time_ps FROM sample WHERE series_id = ? AND size_bytes = ? ORDER BY sample_id", &cause);

  if (stmt) {
    sqlite3_bind_int64 (stmt, 1, series_id);
    sqlite3_bind_int64 (stmt, 2, (gint64) size_bytes);
  }
  while (next_row (self, &stmt, &cause)) {
    FabTimePs time_ps = sqlite3_column_int64 (stmt, 0);
    g_array_append_val (samples, time_ps);
  }
  if (cause == NULL)
    return g_steal_pointer (&samples);
  g_propagate_error (error, g_steal_pointer (&cause));
  return NULL;
}

#define POINT_COLUMNS \
  "size_bytes, time_ps, low_ps, high_ps, min_ps, p05_ps, p95_ps, max_ps, n_samples, n_outliers, is_complete"

static FabMeasuredPoint
read_point (sqlite3_stmt *stmt)
{
  return (FabMeasuredPoint){ .size_bytes = (FabBytes) sqlite3_column_int64 (stmt, 0),
                             .time_ps = sqlite3_column_int64 (stmt, 1),
                             .low_ps = sqlite3_column_int64 (stmt, 2),
                             .high_ps = sqlite3_column_int64 (stmt, 3),
                             .min_ps = sqlite3_column_int64 (stmt, 4),
                             .p05_ps = sqlite3_column_int64 (stmt, 5),
                             .p95_ps = sqlite3_column_int64 (stmt, 6),
                             .max_ps = sqlite3_column_int64 (stmt, 7),
                             .n_samples = (guint) sqlite3_column_int64 (stmt, 8),
                             .n_outliers = (guint) sqlite3_column_int64 (stmt, 9),
                             .is_complete = sqlite3_column_int64 (stmt, 10) != 0 };
}

gboolean
fab_samples_find_point (FabSamples *self, gint64 series_id, FabBytes size_bytes, FabMeasuredPoint *point,
                        GError **error)
{
  sqlite3_stmt *stmt = fab_samples_prepare (
      self, "SELECT " POINT_COLUMNS " FROM point WHERE series_id = ? AND size_bytes = ?", error);
  gboolean is_there;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, series_id);
  sqlite3_bind_int64 (stmt, 2, (gint64) size_bytes);
  is_there = next_row (self, &stmt, error);
  if (is_there)
    *point = read_point (stmt);
  sqlite3_finalize (stmt);
  return is_there;
}

/* --- everything --- */

static gboolean
read_series (FabSamples *self, sqlite3_stmt *stmt, FabSeries *series, GError **error)
{
  gint column = 1;

  if (!fab_measure_kind_find ((const char *) sqlite3_column_text (stmt, column++), &series->kind))
    return fab_throw (error, FAB_ERROR_IO, "%s: a series of an unknown kind", self->path);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    G_STRUCT_MEMBER (char *, series, field->offset) = column_text (stmt, column++);
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    G_STRUCT_MEMBER (guint, series, field->offset) = (guint) sqlite3_column_int64 (stmt, column++);
  return TRUE;
}

static gboolean
load_points (FabSamples *self, gint64 series_id, GArray *points, GError **error)
{
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = fab_samples_prepare (
      self, "SELECT " POINT_COLUMNS " FROM point WHERE series_id = ? ORDER BY size_bytes", &cause);

  if (stmt)
    sqlite3_bind_int64 (stmt, 1, series_id);
  while (next_row (self, &stmt, &cause)) {
    FabMeasuredPoint point = read_point (stmt);
    g_array_append_val (points, point);
  }
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

GPtrArray *
fab_samples_load (FabSamples *self, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = fab_samples_prepare (
      self,
      "SELECT series_id, kind, backend, system, from_end, to_end, from_memory, to_memory, method, op, algorithm,"
      " source, note, n_ranks, n_pairs, window, n_queue_pairs, mtu_bytes FROM series"
      " WHERE series_id IN (SELECT series_id FROM point) ORDER BY series_id",
      &cause);

  while (cause == NULL && next_row (self, &stmt, &cause)) {
    FabMeasuredSeries *series = fab_measured_series_new (&(FabSeries){ 0 });

    g_ptr_array_add (all, series);
    if (read_series (self, stmt, &series->series, &cause))
      load_points (self, sqlite3_column_int64 (stmt, 0), series->points, &cause);
  }
  sqlite3_finalize (stmt);
  if (cause == NULL)
    return g_steal_pointer (&all);
  g_propagate_error (error, g_steal_pointer (&cause));
  return NULL;
}

static char **
read_texts (FabSamples *self, const char *sql, GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = fab_samples_prepare (self, sql, &cause);

  while (next_row (self, &stmt, &cause))
    for (gint column = 0; column < sqlite3_column_count (stmt); column++)
      g_ptr_array_add (texts, column_text (stmt, column));
  if (cause) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return NULL;
  }
  g_ptr_array_add (texts, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&texts), FALSE);
}

char **
fab_samples_machine (FabSamples *self, GError **error)
{
  return read_texts (self, "SELECT key, value FROM machine ORDER BY key", error);
}

char **
fab_samples_notes (FabSamples *self, GError **error)
{
  return read_texts (self, "SELECT text FROM note ORDER BY note_id", error);
}
