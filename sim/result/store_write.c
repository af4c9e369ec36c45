/* SPDX-License-Identifier: Apache-2.0 */
/* store_write.c - writes one run as one transaction.
 *
 * BEGIN IMMEDIATE takes the write lock at once, so a second process waits before it starts and not in the middle. Each
 * kind of row has two prepared statements, kept for the life of the store: one for BATCH rows, which halves the time
 * per row (starting and ending a statement costs as much as a row), and one for a single row. Texts are bound without
 * a copy. A failure drops the whole run.
 */
#include "sim/result/store_private.h"

#include <sqlite3.h>

#define BATCH 64

/* Adding */

static gboolean
fail_run (FabStore *self, const char *doing, GError **error)
{
  fab_store_fail (self, doing, error);
  fab_store_abandon_run (self);
  return FALSE;
}

static gboolean
prepare_insert (FabStore *self, const FabInsert *insert, guint n_rows, sqlite3_stmt **stmt)
{
  g_autoptr (GString) sql = NULL;

  if (*stmt != NULL)
    return TRUE;
  sql = g_string_new (NULL);
  g_string_printf (sql, "INSERT INTO %s VALUES ", insert->table);
  for (guint row = 0; row < n_rows; row++)
    for (gint i = 0; i < insert->n_columns; i++)
      g_string_append (sql, i > 0 ? ", ?" : row > 0 ? "), (?" : "(?");
  g_string_append_c (sql, ')');
  return sqlite3_prepare_v3 (self->db, sql->str, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) == SQLITE_OK;
}

/* `n` is 1 or BATCH. */
static gboolean
insert_rows (FabStore *self, FabInsertKind kind, const char *rows, guint n)
{
  const FabInsert *insert = &fab_inserts[kind];
  sqlite3_stmt **stmt = n == 1 ? &self->single[kind] : &self->batch[kind];

  if (!prepare_insert (self, insert, n, stmt))
    return FALSE;
  for (guint i = 0; i < n; i++)
    insert->bind (self, *stmt, 1 + (gint) i * insert->n_columns, rows + i * insert->row_size);
  if (sqlite3_step (*stmt) != SQLITE_DONE)
    return FALSE;
  sqlite3_reset (*stmt);
  return TRUE;
}

static gboolean
add_rows (FabStore *self, FabInsertKind kind, gconstpointer rows, guint n, GError **error)
{
  const FabInsert *insert = &fab_inserts[kind];

  g_assert (self->in_run);
  for (guint i = 0, n_now; i < n; i += n_now) {
    n_now = n - i >= BATCH ? BATCH : 1;
    if (!insert_rows (self, kind, (const char *) rows + i * insert->row_size, n_now)) {
      g_autofree char *doing = g_strdup_printf ("store %s (from row %u of %u)", insert->what, i + 1, n);

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
  self->n_spans = 0;
  if (!add_rows (self, FAB_INSERT_RUN, run, 1, error))
    return FALSE;
  self->run_id = sqlite3_last_insert_rowid (self->db);
  if (run_id != NULL)
    *run_id = self->run_id;
  return TRUE;
}

gboolean
fab_store_add_classes (FabStore *self, const FabRankClassRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_CLASS, rows, n, error);
}

gboolean
fab_store_add_memory (FabStore *self, const FabMemoryRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_MEMORY, rows, n, error);
}

gboolean
fab_store_add_links (FabStore *self, const FabLinkRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_LINK, rows, n, error);
}

gboolean
fab_store_add_steps (FabStore *self, const FabStepRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_STEP, rows, n, error);
}

gboolean
fab_store_add_iterations (FabStore *self, const FabIterationRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_ITERATION, rows, n, error);
}

gboolean
fab_store_add_collectives (FabStore *self, const FabCollectiveRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_COLLECTIVE, rows, n, error);
}

gboolean
fab_store_add_spans (FabStore *self, const FabSpanRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_SPAN, rows, n, error);
}

gboolean
fab_store_add_link_loads (FabStore *self, const FabLinkLoadRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_LINK_LOAD, rows, n, error);
}

gboolean
fab_store_add_exposures (FabStore *self, const FabExposureRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_EXPOSURE, rows, n, error);
}

gboolean
fab_store_add_path (FabStore *self, const FabPathRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_PATH, rows, n, error);
}

gboolean
fab_store_add_link_samples (FabStore *self, const FabLinkSampleRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_LINK_SAMPLE, rows, n, error);
}

gboolean
fab_store_add_link_queues (FabStore *self, const FabLinkQueueRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_INSERT_LINK_QUEUE, rows, n, error);
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
  for (guint i = 0; i < FAB_N_INSERTS; i++) {
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
