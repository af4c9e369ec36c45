/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - opening and closing a measurements file, its tables, and what went wrong in words.
 *
 * While it is written it is in WAL mode with synchronous = NORMAL, where the file system allows: a sample is
 * committed by one write without waiting for the disk, so it outlives the process at once, and the system at the next
 * checkpoint. The last writer to close leaves one plain file.
 */
#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "validate/measure/samples_private.h"

enum { PATIENCE_MS = 10000 };

static const char schema[] =
    "CREATE TABLE machine (\n"
    "  key TEXT PRIMARY KEY,\n"
    "  value TEXT NOT NULL\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE note (\n"
    "  note_id INTEGER PRIMARY KEY,\n"
    "  text TEXT NOT NULL UNIQUE\n"
    ") STRICT;\n"
    "CREATE TABLE series (\n"
    "  series_id INTEGER PRIMARY KEY,\n"
    "  key TEXT NOT NULL UNIQUE,      -- all that tells it from another, but the note\n"
    "  kind TEXT NOT NULL CHECK (kind IN ('latency', 'bandwidth', 'exchange', 'bidirectional', 'collective')),\n"
    "  backend TEXT,                  -- texts: NULL when not known or not applicable\n"
    "  system TEXT,\n"
    "  from_end TEXT,\n"
    "  to_end TEXT,\n"
    "  from_memory TEXT,\n"
    "  to_memory TEXT,\n"
    "  method TEXT,\n"
    "  op TEXT,\n"
    "  algorithm TEXT,\n"
    "  source TEXT,                   -- imports: where it was published\n"
    "  note TEXT,\n"
    "  n_ranks INTEGER NOT NULL,      -- counts: 0 when not known or not applicable\n"
    "  n_pairs INTEGER NOT NULL,\n"
    "  window INTEGER NOT NULL,\n"
    "  n_queue_pairs INTEGER NOT NULL,\n"
    "  mtu_bytes INTEGER NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE point (\n"
    "  series_id INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,\n"
    "  size_bytes INTEGER NOT NULL,\n"
    "  time_ps INTEGER NOT NULL,      -- median of one message\n"
    "  low_ps INTEGER NOT NULL,       -- 95 % confidence interval of the median; 0, 0: not known\n"
    "  high_ps INTEGER NOT NULL,\n"
    "  min_ps INTEGER NOT NULL,       -- 0: not known, as all below\n"
    "  p05_ps INTEGER NOT NULL,\n"
    "  p95_ps INTEGER NOT NULL,\n"
    "  max_ps INTEGER NOT NULL,\n"
    "  n_samples INTEGER NOT NULL,\n"
    "  n_outliers INTEGER NOT NULL,\n"
    "  is_complete INTEGER NOT NULL,  -- 0: a limit ended it before it was precise enough\n"
    "  PRIMARY KEY (series_id, size_bytes)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE sample (\n"
    "  sample_id INTEGER PRIMARY KEY, -- in the order they were taken\n"
    "  series_id INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,\n"
    "  size_bytes INTEGER NOT NULL,\n"
    "  time_ps INTEGER NOT NULL       -- of one message\n"
    ") STRICT;\n"
    "CREATE INDEX sample_of_point ON sample (series_id, size_bytes);\n"
    "CREATE VIEW v_point AS SELECT kind, backend, from_end, to_end, method, op, size_bytes,\n"
    "  time_ps / 1e6 AS time_us, low_ps / 1e6 AS low_us, high_ps / 1e6 AS high_us,\n"
    "  p05_ps / 1e6 AS p05_us, p95_ps / 1e6 AS p95_us, size_bytes * 1e3 / nullif (time_ps, 0) AS gb_per_s,\n"
    "  n_samples, n_outliers, is_complete\n"
    "  FROM point JOIN series USING (series_id) ORDER BY series_id, size_bytes;\n";

/* --- messages --- */

static const char *
remedy (gint code)
{
  switch (code) {
  case SQLITE_FULL: return "the disk is full; free space or write to another disk";
  case SQLITE_READONLY: return "it is read-only; make it and its directory writable, or choose another file";
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return "another process is writing to it; try again when that has ended";
  case SQLITE_NOTADB: return "it is no measurements file; choose another file";
  case SQLITE_CORRUPT: return "it is damaged; restore it from a copy, or write to another file";
  case SQLITE_CANTOPEN: return "check that the directory exists and that you may read and write in it";
  default: return "SQLite says";
  }
}

gboolean
fab_samples_fail (FabSamples *self, const char *doing, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: cannot %s: %s (%s)", self->path, doing,
                    remedy (sqlite3_extended_errcode (self->db) & 0xff), sqlite3_errmsg (self->db));
}

gboolean
fab_samples_exec (FabSamples *self, const char *sql, const char *doing, GError **error)
{
  return sqlite3_exec (self->db, sql, NULL, NULL, NULL) == SQLITE_OK || fab_samples_fail (self, doing, error);
}

sqlite3_stmt *
fab_samples_prepare (FabSamples *self, const char *sql, GError **error)
{
  sqlite3_stmt *stmt = NULL;

  if (sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
    fab_samples_fail (self, "read", error);
  return stmt;
}

gboolean
fab_samples_finish (FabSamples *self, sqlite3_stmt *stmt, const char *doing, GError **error)
{
  gboolean is_done = stmt != NULL
                  && (sqlite3_step (stmt) == SQLITE_DONE || fab_samples_fail (self, doing, error));

  sqlite3_finalize (stmt);
  return is_done;
}

/* --- opening --- */

static gboolean
read_integer (FabSamples *self, const char *sql, gint64 *value)
{
  sqlite3_stmt *stmt = NULL;
  gboolean is_read = sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL) == SQLITE_OK
                  && sqlite3_step (stmt) == SQLITE_ROW;

  if (is_read)
    *value = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  return is_read;
}

/* Sets has_schema; an empty file has none, which is no error. */
static gboolean
identify (FabSamples *self, GError **error)
{
  gint64 n_objects, application_id, version;

  if (!read_integer (self, "SELECT count (*) FROM sqlite_schema", &n_objects)
      || !read_integer (self, "PRAGMA application_id", &application_id)
      || !read_integer (self, "PRAGMA user_version", &version))
    return fab_samples_fail (self, "open", error);
  if (n_objects == 0 && application_id == 0 && version == 0)
    return TRUE;
  if (application_id != FAB_SAMPLES_APPLICATION_ID)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: is a database, but not of measurements; choose another file for them", self->path);
  if (version != FAB_SAMPLES_SCHEMA_VERSION)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: was written by another Fabricast (schema %" G_GINT64_FORMAT
                      ", this one knows %d); choose another file",
                      self->path, version, FAB_SAMPLES_SCHEMA_VERSION);
  self->has_schema = TRUE;
  return TRUE;
}

static gboolean
create_schema (FabSamples *self, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT",
                                          FAB_SAMPLES_APPLICATION_ID, FAB_SAMPLES_SCHEMA_VERSION, schema);

  if (!fab_samples_exec (self, "BEGIN IMMEDIATE", "create the tables", error) || !identify (self, error))
    return FALSE;
  if (self->has_schema) /* another process has made the schema meanwhile */
    return fab_samples_exec (self, "ROLLBACK", "open", error);
  self->has_schema = fab_samples_exec (self, sql, "create the tables", error);
  return self->has_schema;
}

static gboolean
check_path (FabSamples *self, GError **error)
{
  gboolean exists = g_file_test (self->path, G_FILE_TEST_EXISTS);

  if (*self->path == '\0')
    return fab_throw (error, FAB_ERROR_IO,
                      "the measurements file has no name; give it one, such as lab.meas");
  if (exists && !g_file_test (self->path, G_FILE_TEST_IS_REGULAR))
    return fab_throw (error, FAB_ERROR_IO, "%s: is not a regular file; measurements need one", self->path);
  if (self->mode == FAB_SAMPLES_READ && !exists)
    return fab_throw (error, FAB_ERROR_IO, "%s: no such file; `fabricast measure` writes one", self->path);
  if (exists && access (self->path, self->mode == FAB_SAMPLES_READ ? R_OK : R_OK | W_OK) != 0)
    return fab_throw (error, FAB_ERROR_IO, "%s: %s; check its permissions", self->path, g_strerror (errno));
  return TRUE;
}

/* Opens `path`, which is never taken for a URI or ":memory:". */
static gint
connect_file (FabSamples *self, gint flags)
{
  g_autofree char *file = g_path_is_absolute (self->path) ? g_strdup (self->path)
                                                          : g_build_filename (".", self->path, NULL);

  g_clear_pointer (&self->db, sqlite3_close);
  if (sqlite3_open_v2 (file, &self->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL)
      != SQLITE_OK)
    return sqlite3_errcode (self->db) & 0xff;
  sqlite3_busy_timeout (self->db, PATIENCE_MS);
  return sqlite3_exec (self->db, "SELECT count (*) FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
}

static gboolean
open_reader (FabSamples *self, GError **error)
{
  gint code = connect_file (self, SQLITE_OPEN_READONLY);

  /* the log that a killed writer left needs a connection that may write */
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)
    code = connect_file (self, SQLITE_OPEN_READWRITE);
  if (code != SQLITE_OK)
    return fab_samples_fail (self, "open", error);
  if (!identify (self, error))
    return FALSE;
  return self->has_schema
      || fab_throw (error, FAB_ERROR_IO, "%s: is empty; `fabricast measure` writes measurements", self->path);
}

static gboolean
open_writer (FabSamples *self, GError **error)
{
  gint code = connect_file (self, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

  if (code != SQLITE_OK)
    return fab_samples_fail (self, "open", error);
  if (!identify (self, error))
    return FALSE;
  code = sqlite3_exec (self->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) & 0xff;
  /* when busy, the journal mode stays as it is */
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
    return fab_samples_fail (self, "open for writing", error);
  return fab_samples_exec (self, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = 1", "open for writing",
                           error)
      && (self->has_schema || create_schema (self, error));
}

FabSamples *
fab_samples_open (const char *path, FabSamplesMode mode, GError **error)
{
  g_autoptr (FabSamples) self = g_new0 (FabSamples, 1);

  self->path = g_strdup (path);
  self->mode = mode;
  if (!check_path (self, error))
    return NULL;
  if (!(mode == FAB_SAMPLES_WRITE ? open_writer (self, error) : open_reader (self, error)))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_samples_free (FabSamples *self)
{
  if (self == NULL)
    return;
  sqlite3_finalize (self->insert);
  if (self->mode == FAB_SAMPLES_WRITE && self->has_schema) {
    sqlite3_busy_timeout (self->db, 0);
    sqlite3_exec (self->db, "PRAGMA journal_mode = DELETE", NULL, NULL,
                  NULL); /* unless another process has it open */
  }
  sqlite3_close (self->db);
  g_free (self->path);
  g_free (self);
}
