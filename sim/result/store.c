/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - opens and closes a results file, and puts SQLite's errors into words.
 *
 * A file belongs to Fabricast when its application_id says so. A new file gets tables, id and version in one
 * transaction, so that a killed process leaves either an empty file or a complete one. While it is open for
 * writing it is in WAL mode where the file system allows, so that readers need not wait. The last writer that closes it
 * turns it back into one plain file, which can be read from a read-only directory.
 */
#include "sim/result/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/foreign_db.h"
#include "sim/result/store_private.h"

#define CACHE_KIB 16384

/* Messages */

static const char *
remedy (gint code)
{
  switch (code) {
  case SQLITE_FULL: return "the disk is full; free space or write to another disk";
  case SQLITE_READONLY: return "it is read-only; make it and its directory writable, or choose another file";
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return "another process is still writing to it; try again when that has ended";
  case SQLITE_NOTADB: return "it is not a SQLite database; choose another file";
  case SQLITE_CORRUPT: return "it is damaged; restore it from a copy, or write to another file";
  case SQLITE_CANTOPEN: return "check that the directory exists and that you may read and write in it";
  case SQLITE_CONSTRAINT: return "a mistake in Fabricast, please report it";
  default: return NULL;
  }
}

gboolean
fab_store_fail (FabStore *self, const char *doing, GError **error)
{
  gint code = sqlite3_extended_errcode (self->db) & 0xff;
  gint system_error = code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? sqlite3_system_errno (self->db) : 0;
  const char *cause = system_error != 0 ? g_strerror (system_error) : NULL;
  const char *advice = remedy (code);

  if (code == SQLITE_IOERR && advice == NULL)
    advice = system_error == EFBIG ? "the file may not grow further; raise the limit (ulimit -f)"
                                   : "check the disk, or write to another one";
  return fab_throw (error, FAB_ERROR_IO, "%s: cannot %s: %s%s%s%s%s%s%s", self->path, doing,
                    advice != NULL ? advice : "", advice != NULL ? " (" : "", sqlite3_errmsg (self->db),
                    cause != NULL ? ": " : "", cause != NULL ? cause : "", advice != NULL ? ")" : "",
                    self->in_run ? "; nothing of this run was kept" : "");
}

gboolean
fab_store_exec (FabStore *self, const char *sql, const char *doing, GError **error)
{
  if (sqlite3_exec (self->db, sql, NULL, NULL, NULL) != SQLITE_OK)
    return fab_store_fail (self, doing, error);
  return TRUE;
}

gboolean
fab_store_read_integer (FabStore *self, const char *sql, gint64 *value)
{
  sqlite3_stmt *stmt = NULL;
  gboolean is_read = sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL) == SQLITE_OK
                  && sqlite3_step (stmt) == SQLITE_ROW;

  if (is_read)
    *value = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt); /* SQLite keeps the error of the step */
  return is_read;
}

void
fab_store_set_patience (FabStore *self, guint patience_ms)
{
  self->patience_ms = patience_ms;
  sqlite3_busy_timeout (self->db, (gint) patience_ms);
}

/* Checks of the file system before SQLite opens the file */

static gboolean
check_directory (FabStore *self, GError **error)
{
  g_autofree char *directory = g_path_get_dirname (self->path);

  if (!g_file_test (directory, G_FILE_TEST_EXISTS))
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: cannot write: the directory %s does not exist; create it first", self->path,
                      directory);
  if (!g_file_test (directory, G_FILE_TEST_IS_DIR))
    return fab_throw (error, FAB_ERROR_IO, "%s: cannot write: %s is not a directory", self->path, directory);
  if (access (directory, W_OK | X_OK) != 0)
    return fab_throw (
        error, FAB_ERROR_IO,
        "%s: cannot write: the directory %s is not writable (%s), and SQLite keeps its log there; "
        "choose another directory",
        self->path, directory, g_strerror (errno));
  return TRUE;
}

static gboolean
check_path (FabStore *self, GError **error)
{
  gboolean is_writing = self->mode == FAB_STORE_WRITE;

  if (*self->path == '\0')
    return fab_throw (error, FAB_ERROR_IO, "the results file has no name; give it one, such as results.db");
  if (g_file_test (self->file, G_FILE_TEST_EXISTS) && !g_file_test (self->file, G_FILE_TEST_IS_REGULAR))
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: is not a regular file; results are written to a regular file only", self->path);
  if (is_writing && !check_directory (self, error))
    return FALSE;
  if (!g_file_test (self->file, G_FILE_TEST_EXISTS)) {
    if (is_writing)
      return TRUE;
    return fab_throw (error, FAB_ERROR_IO, "%s: no such file; `fabricast run` writes a results file",
                      self->path);
  }
  if (access (self->file, R_OK) != 0)
    return fab_throw (error, FAB_ERROR_IO, "%s: cannot read: %s; check its permissions", self->path,
                      g_strerror (errno));
  if (is_writing && access (self->file, W_OK) != 0)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: cannot write: %s; make it writable (chmod u+w) or choose another file", self->path,
                      g_strerror (errno));
  return TRUE;
}

/* Refuses a file that belongs to another program or has a newer schema. */

static gboolean
check_owner (FabStore *self, gint64 application_id, gint64 version, GError **error)
{
  if (application_id != FAB_STORE_APPLICATION_ID)
    return fab_throw (error, FAB_ERROR_IO, "%s: is a database of another program; choose another file",
                      self->path);
  if (version > fab_store_schema_version ())
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: was written by a newer Fabricast (schema %" G_GINT64_FORMAT
                      ", this one knows %u); upgrade Fabricast or choose another file",
                      self->path, version, fab_store_schema_version ());
  if (version < 1)
    return fab_throw (error, FAB_ERROR_IO, "%s: has no schema version; it is damaged, choose another file",
                      self->path);
  return TRUE;
}

/* A view in place of a table, or of other text than ours, may never come to an end. An older file gets our views when
 * it is migrated. */
static gboolean
check_schema (FabStore *self, gint64 version, GError **error)
{
  const char *names[FAB_N_TABLES + 1] = { NULL }, *name = NULL;
  g_autofree char *views = fab_store_views (), *other = NULL;

  for (guint i = 0; i < FAB_N_TABLES; i++)
    names[i] = fab_record_tables[i].name;
  const char *kind = fab_foreign_db_not_a_table (self->db, names, &name);
  if (kind != NULL)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: has %s in place of its table %s; Fabricast did not write it, choose another file",
                      self->path, kind, name);
  if (version == fab_store_schema_version ())
    other = fab_foreign_db_other_view (self->db, views);
  return other == NULL
      || fab_throw (error, FAB_ERROR_IO,
                    "%s: its view %s is not that of Fabricast; remove it (DROP VIEW) or choose another file",
                    self->path, other);
}

/* Sets has_schema. A file without any content has no schema, and that is no error. */
static gboolean
identify (FabStore *self, GError **error)
{
  gint64 application_id, version, n_objects;

  if (!fab_store_read_integer (self, "SELECT count (*) FROM sqlite_schema", &n_objects)
      || !fab_store_read_integer (self, "PRAGMA application_id", &application_id)
      || !fab_store_read_integer (self, "PRAGMA user_version", &version))
    return fab_store_fail (self, "open", error);
  if (n_objects == 0 && application_id == 0 && version == 0)
    return TRUE;
  self->has_schema = check_owner (self, application_id, version, error)
                  && check_schema (self, version, error);
  self->is_old = version < fab_store_schema_version ();
  return self->has_schema;
}

/* Opening */

static gint
connect_file (FabStore *self, const char *file, gint flags)
{
  gint code;

  g_clear_pointer (&self->db, sqlite3_close);
  code = sqlite3_open_v2 (file, &self->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
  g_assert (self->db != NULL); /* NULL: out of memory */
  fab_store_set_patience (self, self->patience_ms);
  if (code != SQLITE_OK)
    return code;
  fab_foreign_db_guard (self->db, FAB_VIEWS_OWN);
  return sqlite3_exec (self->db, "SELECT count (*) FROM sqlite_schema", NULL, NULL,
                       NULL); /* opens the file in fact */
}

/* A read-only connection can neither roll back what a killed writer left nor create the shared memory of a WAL. The
 * first case needs a connection that may write. The second needs none when the directory is read-only and there is no
 * log. */
static void
connect_reader (FabStore *self)
{
  g_autofree char *log = g_strconcat (self->file, "-wal", NULL);
  gint code = connect_file (self, self->file, SQLITE_OPEN_READONLY) & 0xff;

  if (code != SQLITE_READONLY && code != SQLITE_CANTOPEN)
    return;
  code = connect_file (self, self->file, SQLITE_OPEN_READWRITE) & 0xff;
  if ((code == SQLITE_READONLY || code == SQLITE_CANTOPEN) && !g_file_test (log, G_FILE_TEST_EXISTS)) {
    g_autofree char *absolute = g_canonicalize_filename (self->file, NULL);
    g_autofree char *address = g_filename_to_uri (absolute, NULL, NULL);
    g_autofree char *immutable = g_strconcat (address, "?immutable=1", NULL);

    connect_file (self, immutable, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
  sqlite3_exec (self->db, "PRAGMA query_only = 1", NULL, NULL, NULL);
}

/* Goes on with a copy of an older file that has the present schema; the file stays as it is. SQLite keeps the copy in a
 * temporary file without a name. */
static gboolean
read_copy (FabStore *self, GError **error)
{
  sqlite3 *file = g_steal_pointer (&self->db);
  gint code = connect_file (self, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3_backup *backup = code == SQLITE_OK ? sqlite3_backup_init (self->db, "main", file, "main") : NULL;
  gboolean is_copied = backup != NULL && sqlite3_backup_step (backup, -1) == SQLITE_DONE;

  sqlite3_backup_finish (backup);
  sqlite3_close (file);
  if (!is_copied)
    return fab_store_fail (self, "read it as a file of this version", error);
  if (!fab_store_migrate (self, error))
    return FALSE;
  sqlite3_exec (self->db, "PRAGMA query_only = 1", NULL, NULL, NULL);
  return TRUE;
}

/* Tables, views and whose file it is. (transfer full) */
static char *
schema_sql (void)
{
  GString *sql = g_string_new (NULL);
  g_autofree char *views = fab_store_views ();

  g_string_printf (sql, "PRAGMA application_id = %d; PRAGMA user_version = %u;\n", FAB_STORE_APPLICATION_ID,
                   fab_store_schema_version ());
  for (guint i = 0; i < FAB_N_TABLES; i++) {
    g_autofree char *table = fab_record_table_sql (&fab_record_tables[i]);

    g_string_append (sql, table);
  }
  g_string_append (sql, views);
  g_string_append (sql, "COMMIT");
  return g_string_free (sql, FALSE);
}

static gboolean
create_schema (FabStore *self, GError **error)
{
  g_autofree char *sql = schema_sql ();

  if (!fab_store_exec (self, "BEGIN IMMEDIATE", "create the tables", error) || !identify (self, error))
    return FALSE;
  if (self->has_schema) /* another process created the schema first */
    return fab_store_exec (self, "ROLLBACK", "open", error);
  if (!fab_store_exec (self, sql, "create the tables", error))
    return FALSE;
  self->has_schema = TRUE;
  return TRUE;
}

static gboolean
open_writer (FabStore *self, GError **error)
{
  gint code = connect_file (self, self->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

  if (code != SQLITE_OK && (code & 0xff) != SQLITE_READONLY)
    return fab_store_fail (self, "open", error);
  if (sqlite3_db_readonly (self->db, "main") == 1)
    return fab_throw (error, FAB_ERROR_IO, "%s: cannot write: the file is read-only; choose another file",
                      self->path);
  if (!identify (self, error))
    return FALSE;
  code = sqlite3_exec (self->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) & 0xff;
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) /* busy: keep the present mode */
    return fab_store_fail (self, "open for writing", error);
  if (!self->has_schema) {
    if (!create_schema (self, error))
      return FALSE;
    sqlite3_wal_checkpoint_v2 (self->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                               NULL); /* fails on a full disk, which keeps the log */
  } else if (self->is_old && !fab_store_migrate (self, error)) {
    return FALSE;
  }
  return fab_store_exec (self, "PRAGMA foreign_keys = 1; PRAGMA cache_size = -" G_STRINGIFY (CACHE_KIB),
                         "open for writing", error);
}

FabStore *
fab_store_open (const char *path, FabStoreMode mode, GError **error)
{
  g_autoptr (FabStore) self = g_new0 (FabStore, 1);

  self->path = g_strdup (path);
  self->file = g_path_is_absolute (path) ? g_strdup (path) : g_build_filename (".", path, NULL);
  self->mode = mode;
  self->patience_ms = FAB_STORE_PATIENCE_MS;
  if (strcmp (path, "-") == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               "a results file is a database, not a stream: name a file instead of -");
    return NULL;
  }
  if (!check_path (self, error))
    return NULL;
  if (mode == FAB_STORE_WRITE)
    return open_writer (self, error) ? g_steal_pointer (&self) : NULL;
  connect_reader (self);
  if (!identify (self, error) || (self->is_old && !read_copy (self, error)))
    return NULL;
  return g_steal_pointer (&self);
}

FabStore *
fab_store_new (GError **error)
{
  g_autoptr (FabStore) self = g_new0 (FabStore, 1);

  self->path = g_strdup ("results in memory");
  self->file = g_strdup (":memory:");
  self->mode = FAB_STORE_WRITE;
  self->patience_ms = FAB_STORE_PATIENCE_MS;
  if (connect_file (self, self->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK) {
    fab_store_fail (self, "make them", error);
    return NULL;
  }
  return create_schema (self, error) ? g_steal_pointer (&self) : NULL;
}

/* Closing */

static gboolean
fold_log (FabStore *self, GError **error)
{
  gint code;

  sqlite3_busy_timeout (self->db, 0);
  code = sqlite3_exec (self->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) & 0xff;
  if (code == SQLITE_OK)
    return TRUE;
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) { /* another process will close the file last */
    sqlite3_wal_checkpoint_v2 (self->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return TRUE;
  }
  fab_store_fail (self, "fold the log into it", error);
  g_prefix_error (error, "the runs are stored, but need %s-wal beside the file: ", self->path);
  return FALSE;
}

gboolean
fab_store_close (FabStore **store, GError **error)
{
  FabStore *self = g_steal_pointer (store);
  gboolean is_folded = TRUE;

  if (self == NULL)
    return TRUE;
  fab_store_abandon_run (self);
  for (guint i = 0; i < FAB_N_RUN_TABLES; i++) {
    sqlite3_finalize (self->single[i]);
    sqlite3_finalize (self->batch[i]);
  }
  if (self->mode == FAB_STORE_WRITE && self->has_schema)
    is_folded = fold_log (self, error);
  sqlite3_close (self->db);
  g_free (self->path);
  g_free (self->file);
  g_free (self);
  return is_folded;
}

void
fab_store_free (FabStore *self)
{
  fab_store_close (&self, NULL);
}

/* Writes one run as one transaction.
 *
 * BEGIN IMMEDIATE takes the write lock at once, so a second process waits before it starts and not in the middle.
 * Each kind of row has two prepared statements, kept for the life of the store: one for BATCH rows, which halves the
 * time per row (starting and ending a statement costs as much as a row), and one for a single row. Texts are bound
 * without a copy. A failure drops the whole run.
 */

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
bind_column (sqlite3_stmt *stmt, gint place, const FabColumn *column, gint64 serial, gconstpointer row)
{
  FabField field = fab_column_read (column, row, serial);

  switch (field.kind) {
  case FAB_CELL_NULL: sqlite3_bind_null (stmt, place); return;
  case FAB_CELL_INTEGER: sqlite3_bind_int64 (stmt, place, field.integer); return;
  case FAB_CELL_REAL: sqlite3_bind_double (stmt, place, field.real); return;
  case FAB_CELL_TEXT: sqlite3_bind_text (stmt, place, field.text, -1, SQLITE_STATIC); return;
  }
  g_assert_not_reached ();
}

gint
fab_store_bind (sqlite3_stmt *stmt, gint place, const FabRecordTable *table, gint64 owner, gint64 serial,
                gconstpointer row)
{
  if (owner == 0)
    sqlite3_bind_null (stmt, place++);
  else
    sqlite3_bind_int64 (stmt, place++, owner);
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
fab_store_add_queue_lengths (FabStore *self, const FabQueueLengthRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_QUEUE_LENGTH, rows, n, error);
}

gboolean
fab_store_add_link_queues (FabStore *self, const FabLinkQueueRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_LINK_QUEUE, rows, n, error);
}

gboolean
fab_store_add_findings (FabStore *self, const FabFindingRecord *rows, guint n, GError **error)
{
  return add_rows (self, FAB_TABLE_FINDING, rows, n, error);
}

gboolean
fab_store_add_memo (FabStore *self, const FabMemoRecord *row, GError **error)
{
  return add_rows (self, FAB_TABLE_MEMO, row, 1, error);
}

gboolean
fab_store_add_pace (FabStore *self, const FabPaceRecord *row, GError **error)
{
  return add_rows (self, FAB_TABLE_PACE, row, 1, error);
}

gboolean
fab_store_add_goodput (FabStore *self, const FabGoodputRecord *row, GError **error)
{
  return add_rows (self, FAB_TABLE_GOODPUT, row, 1, error);
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

/* Within the transaction that adds the outlook. */
static gboolean
replace_findings (FabStore *self, const FabOutlookRecords *records, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("DELETE FROM finding WHERE run_id = %" G_GINT64_FORMAT,
                                          self->run_id);

  if (records->findings == NULL)
    return TRUE;
  if (!fab_store_exec (self, sql, "replace the findings of a run", error)) {
    fab_store_abandon_run (self);
    return FALSE;
  }
  return add_rows (self, FAB_TABLE_FINDING, records->findings, records->n_findings, error);
}

gboolean
fab_store_add_outlook (FabStore *self, gint64 run_id, const FabOutlookRecords *records, GError **error)
{
  g_assert (self->mode == FAB_STORE_WRITE && !self->in_run);
  if (!fab_store_exec (self, "BEGIN IMMEDIATE", "add to a run", error))
    return FALSE;
  self->in_run = TRUE;
  self->run_id = run_id;
  memset (self->n_rows, 0, sizeof self->n_rows);
  return add_rows (self, FAB_TABLE_BAND, records->bands, records->n_bands, error)
      && add_rows (self, FAB_TABLE_LEVER, records->levers, records->n_levers, error)
      && replace_findings (self, records, error) && fab_store_commit_run (self, error);
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
