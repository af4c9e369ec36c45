/* SPDX-License-Identifier: Apache-2.0 */
/* store_sweep.c - stores and reads sweeps.
 *
 * A sweep is found by its fingerprint. Its points are added in batches, one transaction each. A point that already
 * exists stays unchanged, so two processes that run the same sweep cannot store it twice.
 */
#include "sim/result/store_private.h"

#include <math.h>
#include <sqlite3.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

static sqlite3_stmt *
prepare (FabStore *self, const char *sql)
{
  sqlite3_stmt *stmt = NULL;

  /* stmt is NULL after an error; the step then fails with the reason */
  sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL);
  return stmt;
}

static gboolean
finish (FabStore *self, gboolean is_good, const char *doing, GError **error)
{
  if (is_good && sqlite3_exec (self->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
    return TRUE;
  fab_store_fail (self, doing, error);
  if (!sqlite3_get_autocommit (self->db))
    sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  return FALSE;
}

/* --- a sweep --- */

/* Sets *sweep_id to 0 when there is none. FALSE: SQLite has the reason. */
static gboolean
find_fingerprint (FabStore *self, const char *fingerprint, gint64 *sweep_id)
{
  g_autoptr (sqlite3_stmt) stmt = prepare (self, "SELECT sweep_id FROM sweep WHERE fingerprint = ?");
  gint code;

  *sweep_id = 0;
  sqlite3_bind_text (stmt, 1, fingerprint, -1, SQLITE_STATIC);
  code = sqlite3_step (stmt);
  if (code == SQLITE_ROW)
    *sweep_id = sqlite3_column_int64 (stmt, 0);
  return code == SQLITE_ROW || code == SQLITE_DONE;
}

static sqlite3_stmt *
prepare_insert (FabStore *self, FabTableKind kind, const char *conflict)
{
  g_autofree char *sql = fab_store_insert_sql (&fab_record_tables[kind], 1);
  g_autofree char *whole = g_strconcat (sql, conflict, NULL);

  return prepare (self, whole);
}

static gboolean
insert (sqlite3_stmt *stmt, FabTableKind kind, gint64 owner, gconstpointer row)
{
  sqlite3_reset (stmt);
  fab_store_bind (stmt, 1, &fab_record_tables[kind], owner, 0, row);
  return sqlite3_step (stmt) == SQLITE_DONE;
}

static gboolean
insert_head (FabStore *self, const FabSweepRecord *sweep, gint64 *sweep_id)
{
  g_autoptr (sqlite3_stmt) stmt = prepare_insert (self, FAB_TABLE_SWEEP, "");

  if (!insert (stmt, FAB_TABLE_SWEEP, 0, sweep))
    return FALSE;
  *sweep_id = sqlite3_last_insert_rowid (self->db);
  return TRUE;
}

static gboolean
insert_axis (FabStore *self, const FabSweepAxisRecord *record, gint64 sweep_id, guint axis)
{
  g_autoptr (sqlite3_stmt) head = prepare_insert (self, FAB_TABLE_SWEEP_AXIS, "");
  g_autoptr (sqlite3_stmt) one = prepare_insert (self, FAB_TABLE_SWEEP_VALUE, "");

  if (!insert (head, FAB_TABLE_SWEEP_AXIS, sweep_id, &(FabSweepAxisRow){ axis, record->key }))
    return FALSE;
  for (guint item = 0; record->values[item] != NULL; item++)
    if (!insert (one, FAB_TABLE_SWEEP_VALUE, sweep_id,
                 &(FabSweepValueRow){ axis, item, record->values[item] }))
      return FALSE;
  return TRUE;
}

gboolean
fab_store_open_sweep (FabStore *self, const FabSweepRecord *sweep, gint64 *sweep_id, GError **error)
{
  gboolean is_good;

  g_assert (self->mode == FAB_STORE_WRITE && !self->in_run);
  if (!fab_store_exec (self, "BEGIN IMMEDIATE", "begin a sweep", error))
    return FALSE;
  is_good = find_fingerprint (self, sweep->fingerprint, sweep_id);
  if (is_good && *sweep_id == 0) {
    is_good = insert_head (self, sweep, sweep_id);
    for (guint axis = 0; is_good && axis < sweep->n_axes; axis++)
      is_good = insert_axis (self, &sweep->axes[axis], *sweep_id, axis);
  }
  return finish (self, is_good, "begin a sweep", error);
}

/* --- its points --- */

/* A point that is there already stays as it is. */
static gboolean
insert_points (FabStore *self, gint64 sweep_id, const FabSweepPointRecord *rows, guint n, guint *n_added)
{
  g_autoptr (sqlite3_stmt) stmt = prepare_insert (self, FAB_TABLE_SWEEP_POINT, " ON CONFLICT DO NOTHING");

  for (guint i = 0; i < n; i++) {
    if (!insert (stmt, FAB_TABLE_SWEEP_POINT, sweep_id, &rows[i]))
      return FALSE;
    *n_added += (guint) sqlite3_changes (self->db);
  }
  return TRUE;
}

gboolean
fab_store_add_points (FabStore *self, gint64 sweep_id, const FabSweepPointRecord *rows, guint n,
                      guint *n_added, GError **error)
{
  guint added = 0;

  g_assert (self->mode == FAB_STORE_WRITE && !self->in_run);
  if (!fab_store_exec (self, "BEGIN IMMEDIATE", "keep points of the sweep", error)
      || !finish (self, insert_points (self, sweep_id, rows, n, &added), "keep points of the sweep", error))
    return FALSE;
  if (n_added != NULL)
    *n_added = added;
  return TRUE;
}

gboolean
fab_store_has_changed (FabStore *self)
{
  gint64 version = self->data_version;

  if (!fab_store_read_integer (self, "PRAGMA data_version", &self->data_version))
    return TRUE; /* reading it later reports the problem */
  return self->data_version != version;
}

gboolean
fab_store_mark_points (FabStore *self, gint64 sweep_id, guint8 *marks, gint64 n, GError **error)
{
  g_autoptr (sqlite3_stmt) stmt = prepare (self, "SELECT point FROM sweep_point WHERE sweep_id = ?");
  gint code;

  sqlite3_bind_int64 (stmt, 1, sweep_id);
  while ((code = sqlite3_step (stmt)) == SQLITE_ROW) {
    gint64 point = sqlite3_column_int64 (stmt, 0);

    if (point < n)
      marks[point] = 1;
  }
  return code == SQLITE_DONE || fab_store_fail (self, "read the points of the sweep", error);
}

static void
read_column (sqlite3_stmt *stmt, gint place, const FabColumn *column, FabSweepPointRecord *row)
{
  gpointer field = (char *) row + column->offset;
  gboolean is_known = sqlite3_column_type (stmt, place) != SQLITE_NULL;

  if (column->kind == FAB_COLUMN_REAL)
    *(double *) field = is_known ? sqlite3_column_double (stmt, place) : NAN;
  else if (column->kind == FAB_COLUMN_WHOLE)
    *(gint64 *) field = is_known ? sqlite3_column_int64 (stmt, place) : FAB_RECORD_UNKNOWN;
  else
    *(const char **) field = (const char *) sqlite3_column_text (stmt, place);
}

gboolean
fab_store_each_point (FabStore *self, gint64 sweep_id, FabSweepPointFunc on_point, gpointer data,
                      GError **error)
{
  const FabRecordTable *table = &fab_record_tables[FAB_TABLE_SWEEP_POINT];
  g_autoptr (GString) sql = g_string_new ("SELECT ");
  g_autoptr (sqlite3_stmt) stmt = NULL;
  gint code;

  for (guint i = 0; i < table->n_columns; i++)
    g_string_append_printf (sql, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
  g_string_append (sql, " FROM sweep_point WHERE sweep_id = ? ORDER BY point");
  stmt = prepare (self, sql->str);
  sqlite3_bind_int64 (stmt, 1, sweep_id);
  while ((code = sqlite3_step (stmt)) == SQLITE_ROW) {
    FabSweepPointRecord row;

    for (guint i = 0; i < table->n_columns; i++)
      read_column (stmt, (gint) i, &table->columns[i], &row);
    on_point (&row, data);
  }
  return code == SQLITE_DONE || fab_store_fail (self, "read the points of the sweep", error);
}

/* --- queries --- */

void
fab_store_choose_sweep (FabStore *self, gint64 sweep_id)
{
  self->chosen_sweep = sweep_id;
}

gboolean
fab_store_find_sweep (FabStore *self, gint64 *found, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM sweep WHERE sweep_id = %" G_GINT64_FORMAT,
                                          self->chosen_sweep);
  gint64 last = 0, n_found = 0;

  if (self->has_schema
      && (!fab_store_read_integer (self, "SELECT coalesce (max (sweep_id), 0) FROM sweep", &last)
          || !fab_store_read_integer (self, sql, &n_found))
      && sqlite3_errcode (self->db) != SQLITE_ERROR) /* older files lack that table */
    return fab_store_fail (self, "answer the query", error);
  if (last == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "no sweep in %s yet; `fabricast sweep` writes one", self->path);
  if (self->chosen_sweep != 0 && n_found == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "no sweep %" G_GINT64_FORMAT " in %s; the last one is %" G_GINT64_FORMAT
                      ", and `fabricast query sweeps` lists them",
                      self->chosen_sweep, self->path, last);
  *found = self->chosen_sweep != 0 ? self->chosen_sweep : last;
  return TRUE;
}
