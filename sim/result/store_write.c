/* SPDX-License-Identifier: Apache-2.0 */
/* store_write.c - writes one run as one transaction.
 *
 * BEGIN IMMEDIATE takes the write lock at once, so a second process waits before it starts and not in the middle. Each
 * kind of row has two prepared statements, kept for the life of the store: one for BATCH rows, which halves the time
 * per row (starting and ending a statement costs as much as a row), and one for a single row. Texts are bound without
 * a copy. A failure drops the whole run.
 */
#include "sim/result/store_private.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#define BATCH 64

/* Rows as SQL and as parameters */

char *
fab_store_insert_sql (const FabRecordTable *table, guint n_rows)
{
  GString *sql = g_string_new (NULL);

  g_string_printf (sql, "INSERT INTO %s VALUES ", table->name);
  for (guint row = 0; row < n_rows; row++) {
    g_string_append (sql, row > 0 ? "), (?" : "(?");
    for (guint i = 0; i < table->n_columns; i++)
      g_string_append (sql, ", ?");
  }
  g_string_append_c (sql, ')');
  return g_string_free (sql, FALSE);
}

static void
bind_real (sqlite3_stmt *stmt, gint place, double value)
{
  if (isnan (value))
    sqlite3_bind_null (stmt, place);
  else
    sqlite3_bind_double (stmt, place, value);
}

static void
bind_whole (sqlite3_stmt *stmt, gint place, gint64 value, gboolean is_null)
{
  if (is_null)
    sqlite3_bind_null (stmt, place);
  else
    sqlite3_bind_int64 (stmt, place, value);
}

static void
bind_unsigned (sqlite3_stmt *stmt, gint place, guint64 value)
{
  g_assert (value <= G_MAXINT64);
  sqlite3_bind_int64 (stmt, place, (gint64) value);
}

static void
bind_count (sqlite3_stmt *stmt, gint place, guint value)
{
  bind_whole (stmt, place, value, value == FAB_RECORD_NO_LINK);
}

static void
bind_text (sqlite3_stmt *stmt, gint place, const char *text)
{
  sqlite3_bind_text (stmt, place, text, -1, SQLITE_STATIC);
}

static const char *
span_kind_name (FabSpanKind kind)
{
  switch (kind) {
  case FAB_SPAN_COMPUTE: return "compute";
  case FAB_SPAN_COMM: return "comm";
  case FAB_SPAN_LOAD: return "load";
  case FAB_SPAN_WAIT: return "wait";
  }
  g_assert_not_reached ();
}

static void
bind_column (sqlite3_stmt *stmt, gint place, const FabColumn *column, gint64 serial, gconstpointer row)
{
  gconstpointer field = (const char *) row + column->offset;

  switch (column->kind) {
  case FAB_COLUMN_REAL: bind_real (stmt, place, *(const double *) field); return;
  case FAB_COLUMN_WHOLE:
    bind_whole (stmt, place, *(const gint64 *) field, *(const gint64 *) field == FAB_RECORD_UNKNOWN);
    return;
  case FAB_COLUMN_UNSIGNED: bind_unsigned (stmt, place, *(const guint64 *) field); return;
  case FAB_COLUMN_COUNT: bind_count (stmt, place, *(const guint *) field); return;
  case FAB_COLUMN_INDEX:
    bind_whole (stmt, place, *(const gint32 *) field, *(const gint32 *) field < 0);
    return;
  case FAB_COLUMN_TEXT: bind_text (stmt, place, *(const char *const *) field); return;
  case FAB_COLUMN_SPAN: bind_text (stmt, place, span_kind_name (*(const FabSpanKind *) field)); return;
  case FAB_COLUMN_SERIAL: sqlite3_bind_int64 (stmt, place, serial); return;
  }
  g_assert_not_reached ();
}

gint
fab_store_bind (sqlite3_stmt *stmt, gint place, const FabRecordTable *table, gint64 owner, gint64 serial,
                gconstpointer row)
{
  bind_whole (stmt, place++, owner, owner == 0);
  for (guint i = 0; i < table->n_columns; i++)
    bind_column (stmt, place++, &table->columns[i], serial, row);
  return place;
}

/* Adding */

static gboolean
fail_run (FabStore *self, const char *doing, GError **error)
{
  fab_store_fail (self, doing, error);
  fab_store_abandon_run (self);
  return FALSE;
}

static gboolean
prepare_insert (FabStore *self, const FabRecordTable *table, guint n_rows, sqlite3_stmt **stmt)
{
  g_autofree char *sql = NULL;

  if (*stmt != NULL)
    return TRUE;
  sql = fab_store_insert_sql (table, n_rows);
  return sqlite3_prepare_v3 (self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) == SQLITE_OK;
}

/* `n` is 1 or BATCH. */
static gboolean
insert_rows (FabStore *self, FabTableKind kind, const char *rows, guint n)
{
  const FabRecordTable *table = &fab_record_tables[kind];
  sqlite3_stmt **stmt = n == 1 ? &self->single[kind] : &self->batch[kind];
  gint64 owner = kind == FAB_TABLE_RUN ? 0 : self->run_id;
  gint place = 1;

  if (!prepare_insert (self, table, n, stmt))
    return FALSE;
  for (guint i = 0; i < n; i++)
    place = fab_store_bind (*stmt, place, table, owner, self->n_rows[kind]++, rows + i * table->row_size);
  if (sqlite3_step (*stmt) != SQLITE_DONE)
    return FALSE;
  sqlite3_reset (*stmt);
  return TRUE;
}

static gboolean
add_rows (FabStore *self, FabTableKind kind, gconstpointer rows, guint n, GError **error)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  g_assert (self->in_run);
  for (guint i = 0, n_now; i < n; i += n_now) {
    n_now = n - i >= BATCH ? BATCH : 1;
    if (!insert_rows (self, kind, (const char *) rows + i * table->row_size, n_now)) {
      g_autofree char *doing = g_strdup_printf ("store %s (from row %u of %u)", table->what, i + 1, n);

      return fail_run (self, doing, error);
    }
  }
  return TRUE;
}

gboolean
fab_store_begin_run (FabStore *self, const FabRunRecord *run, gint64 *run_id, GError **error)
{
  g_assert (self->mode == FAB_STORE_WRITE && !self->in_run);
  if (!fab_store_exec (self, "BEGIN IMMEDIATE", "begin a run", error))
    return FALSE;
  self->in_run = TRUE;
  memset (self->n_rows, 0, sizeof self->n_rows);
  if (!add_rows (self, FAB_TABLE_RUN, run, 1, error))
    return FALSE;
  self->run_id = sqlite3_last_insert_rowid (self->db);
  if (run_id != NULL)
    *run_id = self->run_id;
  return TRUE;
}

gboolean
fab_store_add_classes (FabStore *self, const FabRankClassRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_CLASS, rows, n, error);
}

gboolean
fab_store_add_memory (FabStore *self, const FabMemoryRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_MEMORY, rows, n, error);
}

gboolean
fab_store_add_links (FabStore *self, const FabLinkRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_LINK, rows, n, error);
}

gboolean
fab_store_add_steps (FabStore *self, const FabStepRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_STEP, rows, n, error);
}

gboolean
fab_store_add_iterations (FabStore *self, const FabIterationRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_ITERATION, rows, n, error);
}

gboolean
fab_store_add_collectives (FabStore *self, const FabCollectiveRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_COLLECTIVE, rows, n, error);
}

gboolean
fab_store_add_spans (FabStore *self, const FabSpanRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_SPAN, rows, n, error);
}

gboolean
fab_store_add_link_loads (FabStore *self, const FabLinkLoadRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_LINK_LOAD, rows, n, error);
}

gboolean
fab_store_add_exposures (FabStore *self, const FabExposureRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_EXPOSURE, rows, n, error);
}

gboolean
fab_store_add_path (FabStore *self, const FabPathRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_PATH, rows, n, error);
}

gboolean
fab_store_add_link_samples (FabStore *self, const FabLinkSampleRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_LINK_SAMPLE, rows, n, error);
}

gboolean
fab_store_add_link_queues (FabStore *self, const FabLinkQueueRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_LINK_QUEUE, rows, n, error);
}

gboolean
fab_store_commit_run (FabStore *self, GError **error)
{
  g_assert (self->in_run);
  if (sqlite3_exec (self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
    return fail_run (self, "keep the run", error);
  self->in_run = FALSE;
  /* Copies the log into the file as far as readers allow, so that the log is not the only copy. */
  sqlite3_wal_checkpoint_v2 (self->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  return TRUE;
}

void
fab_store_abandon_run (FabStore *self)
{
  for (guint i = 0; i < FAB_N_RUN_TABLES; i++) {
    sqlite3_reset (self->single[i]);
    sqlite3_reset (self->batch[i]);
  }
  if (!self->in_run)
    return;
  if (!sqlite3_get_autocommit (self->db)) /* some errors end the transaction by themselves */
    sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  self->in_run = FALSE;
  sqlite3_busy_timeout (self->db,
                        0); /* on a full disk the log's space must be freed, unless someone reads it */
  sqlite3_wal_checkpoint_v2 (self->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  fab_store_set_patience (self, self->patience_ms);
}
