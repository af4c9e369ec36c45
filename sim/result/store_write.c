/* SPDX-License-Identifier: Apache-2.0 */
/* store_write.c - one run in, as one transaction.
 *
 * BEGIN IMMEDIATE takes the write lock at once, so a second process waits at the door and not in
 * the middle. Each kind of row has two prepared statements, kept for the life of the store: one
 * for BATCH rows, which halves the time per row (a statement's start and end cost as much as a
 * row), and one for a single row. Texts are bound without a copy. A failure drops the whole run.
 */
#include "sim/result/store_private.h"

#include <sqlite3.h>

#define BATCH 64

/* Binds one row to the parameters `column`, `column` + 1, ... */
typedef void (*BindFn) (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row);

typedef struct {
  const char *what; /* completes "cannot store ..." */
  const char *table;
  gint n_columns;
  gsize row_size;
  BindFn bind;
} Insert;

/* Binding. `self` supplies the run, which is the first column of every table. */

static void
bind_text (sqlite3_stmt *stmt, gint column, const char *text)
{
  sqlite3_bind_text (stmt, column, text, -1, SQLITE_STATIC);
}

static void
bind_bytes (sqlite3_stmt *stmt, gint column, guint64 bytes)
{
  g_assert (bytes <= G_MAXINT64);
  sqlite3_bind_int64 (stmt, column, (gint64) bytes);
}

static void
bind_run (G_GNUC_UNUSED FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabRunRecord *run = row;

  sqlite3_bind_null (stmt, column); /* SQLite counts */
  bind_text (stmt, column + 1, run->name);
  bind_text (stmt, column + 2, run->scenario_yaml);
  bind_text (stmt, column + 3, run->version);
  bind_text (stmt, column + 4, run->fidelity);
  sqlite3_bind_int64 (stmt, column + 5, run->seed);
  sqlite3_bind_int64 (stmt, column + 6, run->n_ranks);
  sqlite3_bind_int64 (stmt, column + 7, run->n_nodes);
  sqlite3_bind_double (stmt, column + 8, run->peak_flops_per_s);
}

static void
bind_class (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabRankClassRecord *class = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, class->rank_class);
  sqlite3_bind_int64 (stmt, column + 2, class->first_rank);
  sqlite3_bind_int64 (stmt, column + 3, class->n_ranks);
}

static void
bind_link (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkRecord *link = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, link->link);
  bind_text (stmt, column + 2, link->from);
  bind_text (stmt, column + 3, link->to);
  bind_text (stmt, column + 4, link->spec);
  sqlite3_bind_int64 (stmt, column + 5, link->count);
  bind_bytes (stmt, column + 6, link->line_rate_bytes_per_s);
  sqlite3_bind_int64 (stmt, column + 7, link->latency_ps);
}

static void
bind_times (sqlite3_stmt *stmt, gint column, const FabIterationRecord *times)
{
  sqlite3_bind_int64 (stmt, column, times->start_ps);
  sqlite3_bind_int64 (stmt, column + 1, times->duration_ps);
  sqlite3_bind_int64 (stmt, column + 2, times->compute_ps);
  sqlite3_bind_int64 (stmt, column + 3, times->comm_ps);
  sqlite3_bind_int64 (stmt, column + 4, times->overlapped_ps);
  sqlite3_bind_int64 (stmt, column + 5, times->exposed_ps);
  sqlite3_bind_int64 (stmt, column + 6, times->idle_ps);
}

static void
bind_step (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabStepRecord *step = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, step->times.iteration);
  bind_times (stmt, column + 2, &step->times);
  sqlite3_bind_double (stmt, column + 9, step->mfu_fraction);
  sqlite3_bind_double (stmt, column + 10, step->hfu_fraction);
  sqlite3_bind_double (stmt, column + 11, step->tokens_per_s);
}

static void
bind_iteration (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabIterationRecord *times = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, times->iteration);
  sqlite3_bind_int64 (stmt, column + 2, times->rank_class);
  bind_times (stmt, column + 3, times);
}

static void
bind_collective (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabCollectiveRecord *collective = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, collective->iteration);
  sqlite3_bind_int64 (stmt, column + 2, collective->index);
  bind_text (stmt, column + 3, collective->name);
  bind_text (stmt, column + 4, collective->op);
  bind_text (stmt, column + 5, collective->algorithm);
  bind_text (stmt, column + 6, collective->protocol);
  sqlite3_bind_int64 (stmt, column + 7, collective->n_channels);
  sqlite3_bind_int64 (stmt, column + 8, collective->n_ranks);
  bind_bytes (stmt, column + 9, collective->bytes);
  sqlite3_bind_int64 (stmt, column + 10, collective->ready_ps);
  sqlite3_bind_int64 (stmt, column + 11, collective->start_ps);
  sqlite3_bind_int64 (stmt, column + 12, collective->end_ps);
  sqlite3_bind_int64 (stmt, column + 13, collective->exposed_ps);
  sqlite3_bind_double (stmt, column + 14, collective->algbw_bytes_per_s);
  sqlite3_bind_double (stmt, column + 15, collective->busbw_bytes_per_s);
  if (collective->binding_link == FAB_RECORD_NO_LINK)
    sqlite3_bind_null (stmt, column + 16);
  else
    sqlite3_bind_int64 (stmt, column + 16, collective->binding_link);
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
bind_span (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabSpanRecord *span = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, self->n_spans++);
  sqlite3_bind_int64 (stmt, column + 2, span->iteration);
  sqlite3_bind_int64 (stmt, column + 3, span->rank_class);
  bind_text (stmt, column + 4, span_kind_name (span->kind));
  bind_text (stmt, column + 5, span->stream);
  bind_text (stmt, column + 6, span->name);
  sqlite3_bind_int64 (stmt, column + 7, span->start_ps);
  sqlite3_bind_int64 (stmt, column + 8, span->end_ps);
  if (span->collective < 0)
    sqlite3_bind_null (stmt, column + 9);
  else
    sqlite3_bind_int64 (stmt, column + 9, span->collective);
}

static void
bind_link_load (FabStore *self, sqlite3_stmt *stmt, gint column, gconstpointer row)
{
  const FabLinkLoadRecord *load = row;

  sqlite3_bind_int64 (stmt, column, self->run_id);
  sqlite3_bind_int64 (stmt, column + 1, load->iteration);
  sqlite3_bind_int64 (stmt, column + 2, load->link);
  bind_bytes (stmt, column + 3, load->bytes);
  sqlite3_bind_double (stmt, column + 4, load->busy_fraction);
}

static const Insert inserts[FAB_N_INSERTS] = {
  [FAB_INSERT_RUN] = { "the run", "run", 9, sizeof (FabRunRecord), bind_run },
  [FAB_INSERT_CLASS] = { "rank classes", "rank_class", 4, sizeof (FabRankClassRecord), bind_class },
  [FAB_INSERT_LINK] = { "links", "link", 8, sizeof (FabLinkRecord), bind_link },
  [FAB_INSERT_STEP] = { "iterations", "iteration", 12, sizeof (FabStepRecord), bind_step },
  [FAB_INSERT_ITERATION] = { "iterations of classes", "iteration_class", 10, sizeof (FabIterationRecord),
                             bind_iteration },
  [FAB_INSERT_COLLECTIVE] = { "collectives", "collective", 17, sizeof (FabCollectiveRecord),
                              bind_collective },
  [FAB_INSERT_SPAN] = { "spans", "span", 10, sizeof (FabSpanRecord), bind_span },
  [FAB_INSERT_LINK_LOAD] = { "link loads", "link_load", 5, sizeof (FabLinkLoadRecord), bind_link_load },
};

/* Adding */

static gboolean
fail_run (FabStore *self, const char *doing, GError **error)
{
  fab_store_fail (self, doing, error);
  fab_store_abandon_run (self);
  return FALSE;
}

static gboolean
prepare_insert (FabStore *self, const Insert *insert, guint n_rows, sqlite3_stmt **stmt)
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
  const Insert *insert = &inserts[kind];
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
  const Insert *insert = &inserts[kind];

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
fab_store_commit_run (FabStore *self, GError **error)
{
  g_assert (self->in_run);
  if (sqlite3_exec (self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
    return fail_run (self, "keep the run", error);
  self->in_run = FALSE;
  /* Into the file proper, as far as readers let us, so that the log is not the only copy of it. */
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
  if (!sqlite3_get_autocommit (self->db)) /* some errors end the transaction themselves */
    sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  self->in_run = FALSE;
  sqlite3_busy_timeout (self->db, 0); /* a full disk needs the log's space back, if nobody reads in it */
  sqlite3_wal_checkpoint_v2 (self->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  fab_store_set_patience (self, self->patience_ms);
}
