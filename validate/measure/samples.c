/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - opening and closing a measurements file, its tables, and what went wrong in words.
 *
 * While it is written it is in WAL mode with synchronous = NORMAL, where the file system allows: a sample is
 * committed by one write without waiting for the disk, so it outlives the process at once, and the system at the next
 * checkpoint. The last writer to close leaves one plain file.
 */
#include "validate/measure/samples.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/base/foreign_db.h"

#define FAB_SAMPLES_APPLICATION_ID 0x4641424d /* "FABM", at byte 68 of the file */
#define FAB_SAMPLES_SCHEMA_VERSION 2          /* user_version, at byte 60; 1: without kernels */

struct sqlite3_stmt;

struct _FabSamples {
  char *path; /* as the user wrote it */
  struct sqlite3 *db;
  FabSamplesMode mode;
  gboolean has_schema,
      has_kernels;             /* has_kernels FALSE: schema 1, whose series have no precision and no shape */
  struct sqlite3_stmt *insert; /* prepared statement that adds a sample; NULL until first used */
};

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
    "  kind TEXT NOT NULL CHECK (kind IN ('latency', 'bandwidth', 'exchange', 'bidirectional', 'collective',\n"
    "    'product', 'memory_bound', 'copy', 'launch', 'attention')),\n"
    "  backend TEXT,                  -- texts: NULL when not known or not applicable\n"
    "  system TEXT,\n"
    "  from_end TEXT,\n"
    "  to_end TEXT,\n"
    "  from_memory TEXT,\n"
    "  to_memory TEXT,\n"
    "  method TEXT,\n"
    "  op TEXT,\n"
    "  algorithm TEXT,\n"
    "  precision TEXT,                -- kernels\n"
    "  shape TEXT,\n"
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
    "CREATE VIEW v_point AS SELECT kind, backend, from_end, to_end, method, op, precision, shape, size_bytes,\n"
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

/* Sets *error to what SQLite just reported; `doing` completes "cannot ...". Returns FALSE. */
static gboolean
samples_fail (FabSamples *self, const char *doing, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: cannot %s: %s (%s)", self->path, doing,
                    remedy (sqlite3_extended_errcode (self->db) & 0xff), sqlite3_errmsg (self->db));
}

static gboolean
samples_exec (FabSamples *self, const char *sql, const char *doing, GError **error)
{
  return sqlite3_exec (self->db, sql, NULL, NULL, NULL) == SQLITE_OK || samples_fail (self, doing, error);
}

/* Prepares a statement; NULL and *error on failure. (transfer full) */
static sqlite3_stmt *
samples_prepare (FabSamples *self, const char *sql, GError **error)
{
  sqlite3_stmt *stmt = NULL;

  if (sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
    samples_fail (self, "read", error);
  return stmt;
}

/* Runs a statement without rows and frees it. `stmt` NULL is a failure that was already reported: returns FALSE. */
static gboolean
samples_finish (FabSamples *self, sqlite3_stmt *stmt, const char *doing, GError **error)
{
  gboolean is_done = stmt != NULL
                  && (sqlite3_step (stmt) == SQLITE_DONE || samples_fail (self, doing, error));

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
    return samples_fail (self, "open", error);
  if (n_objects == 0 && application_id == 0 && version == 0)
    return TRUE;
  if (application_id != FAB_SAMPLES_APPLICATION_ID)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: is a database, but not of measurements; choose another file for them", self->path);
  if (version != FAB_SAMPLES_SCHEMA_VERSION && version != 1)
    return fab_throw (error, FAB_ERROR_IO,
                      "%s: was written by another Fabricast (schema %" G_GINT64_FORMAT
                      ", this one knows %d); choose another file",
                      self->path, version, FAB_SAMPLES_SCHEMA_VERSION);
  self->has_schema = TRUE;
  self->has_kernels = version > 1;
  return TRUE;
}

static gboolean
create_schema (FabSamples *self, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT",
                                          FAB_SAMPLES_APPLICATION_ID, FAB_SAMPLES_SCHEMA_VERSION, schema);

  if (!samples_exec (self, "BEGIN IMMEDIATE", "create the tables", error) || !identify (self, error))
    return FALSE;
  if (self->has_schema) /* another process has made the schema meanwhile */
    return samples_exec (self, "ROLLBACK", "open", error);
  self->has_schema = self->has_kernels = samples_exec (self, sql, "create the tables", error);
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
  fab_foreign_db_guard (self->db, FAB_VIEWS_NONE);
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
    return samples_fail (self, "open", error);
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
    return samples_fail (self, "open", error);
  if (!identify (self, error))
    return FALSE;
  code = sqlite3_exec (self->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) & 0xff;
  /* when busy, the journal mode stays as it is */
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
    return samples_fail (self, "open for writing", error);
  return samples_exec (self, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = 1", "open for writing",
                       error)
      && (self->has_schema || create_schema (self, error));
}

FabSamples *
fab_samples_open (const char *path, FabSamplesMode mode, GError **error)
{
  g_autoptr (FabSamples) self = g_new0 (FabSamples, 1);

  self->path = g_strdup (path);
  self->mode = mode;
  if (strcmp (path, "-") == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               "measurements are kept in a database, not a stream: name a file instead of -");
    return NULL;
  }
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

/* Reads series, points and samples from the file. */

/* Returns TRUE when there is a row; FALSE at the end or when *error is set. Frees the statement at the end. */
static gboolean
next_row (FabSamples *self, sqlite3_stmt **stmt, GError **error)
{
  gint code = *stmt ? sqlite3_step (*stmt) : SQLITE_DONE;

  if (code == SQLITE_ROW)
    return TRUE;
  if (code != SQLITE_DONE)
    samples_fail (self, "read", error);
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

/* Finds the series' id; -1: there is none. */
static gboolean
samples_find_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error)
{
  g_autofree char *key = fab_series_key (series);
  g_autoptr (GError) cause = NULL;
  sqlite3_stmt *stmt = samples_prepare (self, "SELECT series_id FROM series WHERE key = ?", &cause);

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
  sqlite3_stmt *stmt = samples_prepare (
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
  sqlite3_stmt *stmt = samples_prepare (
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
has_column (const FabSamples *self, const FabSeriesField *field)
{
  return self->has_kernels
      || (field->offset != G_STRUCT_OFFSET (FabSeries, precision)
          && field->offset != G_STRUCT_OFFSET (FabSeries, shape));
}

/* Lists a series' columns from `kind` on, with `separator` between them. (transfer full) */
static char *
series_columns (const FabSamples *self, const char *separator)
{
  GString *columns = g_string_new ("kind");

  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    if (has_column (self, field))
      g_string_append_printf (columns, "%s%s", separator, field->name);
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    g_string_append_printf (columns, "%s%s", separator, field->name);
  return g_string_free (columns, FALSE);
}

static gboolean
read_series (FabSamples *self, sqlite3_stmt *stmt, FabSeries *series, GError **error)
{
  gint column = 1;

  if (!fab_measure_kind_find ((const char *) sqlite3_column_text (stmt, column++), &series->kind))
    return fab_throw (error, FAB_ERROR_IO, "%s: a series of an unknown kind", self->path);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    if (has_column (self, field))
      G_STRUCT_MEMBER (char *, series, field->offset) = column_text (stmt, column++);
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    G_STRUCT_MEMBER (guint, series, field->offset) = (guint) sqlite3_column_int64 (stmt, column++);
  return TRUE;
}

static void
load_points (FabSamples *self, gint64 series_id, GArray *points, GError **error)
{
  sqlite3_stmt *stmt = samples_prepare (
      self, "SELECT " POINT_COLUMNS " FROM point WHERE series_id = ? ORDER BY size_bytes", error);

  if (stmt)
    sqlite3_bind_int64 (stmt, 1, series_id);
  while (next_row (self, &stmt, error)) {
    FabMeasuredPoint point = read_point (stmt);
    g_array_append_val (points, point);
  }
}

GPtrArray *
fab_samples_load (FabSamples *self, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (GError) cause = NULL;
  g_autofree char *columns = series_columns (self, ", ");
  g_autofree char *sql = g_strdup_printf (
      "SELECT series_id, %s FROM series WHERE series_id IN (SELECT series_id FROM point)"
      " ORDER BY series_id",
      columns);
  sqlite3_stmt *stmt = samples_prepare (self, sql, &cause);

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
  sqlite3_stmt *stmt = samples_prepare (self, sql, &cause);

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

/* Writes series, samples and points to the file. Every call is a transaction of its own. */

static void
bind_text (sqlite3_stmt *stmt, gint column, const char *text)
{
  sqlite3_bind_text (stmt, column, text, -1, SQLITE_STATIC);
}

static gboolean
insert_series (FabSamples *self, const FabSeries *series, GError **error)
{
  g_autofree char *key = fab_series_key (series);
  g_autofree char *columns = series_columns (self, ", "), *values = series_columns (self, ", :");
  g_autofree char *sql = g_strdup_printf ("INSERT INTO series (key, %s) VALUES (:key, :%s)", columns, values);
  sqlite3_stmt *stmt;
  gint column = 1;

  if (!self->has_kernels && fab_measure_kind_is_kernel (series->kind))
    return fab_throw (
        error, FAB_ERROR_IO,
        "%s: was begun by an older Fabricast, which knew no kernels; choose another file for them",
        self->path);
  stmt = samples_prepare (self, sql, error);
  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, column++, key);
  bind_text (stmt, column++, fab_measure_kind_names[series->kind]);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    if (has_column (self, field))
      bind_text (stmt, column++, G_STRUCT_MEMBER (char *, series, field->offset));
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    sqlite3_bind_int64 (stmt, column++, G_STRUCT_MEMBER (guint, series, field->offset));
  return samples_finish (self, stmt, "store a series", error);
}

gboolean
fab_samples_begin_series (FabSamples *self, const FabSeries *series, gint64 *id, GError **error)
{
  if (!samples_find_series (self, series, id, error))
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
    self->insert = samples_prepare (self, sql, error);
  if (self->insert == NULL)
    return FALSE;
  sqlite3_bind_int64 (self->insert, 1, series_id);
  sqlite3_bind_int64 (self->insert, 2, (gint64) size_bytes);
  sqlite3_bind_int64 (self->insert, 3, time_ps);
  is_added = sqlite3_step (self->insert) == SQLITE_DONE || samples_fail (self, "store a sample", error);
  sqlite3_reset (self->insert);
  return is_added;
}

gboolean
fab_samples_end_point (FabSamples *self, gint64 series_id, const FabMeasuredPoint *point, GError **error)
{
  sqlite3_stmt *stmt = samples_prepare (
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
  return samples_finish (self, stmt, "store a point", error);
}

static gboolean
replace_series (FabSamples *self, const FabMeasuredSeries *series, GError **error)
{
  gint64 id;

  if (!samples_find_series (self, &series->series, &id, error))
    return FALSE;
  if (id >= 0) {
    sqlite3_stmt *stmt = samples_prepare (self, "DELETE FROM series WHERE series_id = ?", error);

    sqlite3_bind_int64 (stmt, 1, id);
    if (!samples_finish (self, stmt, "replace a series", error))
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
  if (!samples_exec (self, "BEGIN IMMEDIATE", "store a series", error))
    return FALSE;
  if (replace_series (self, series, error))
    return samples_exec (self, "COMMIT", "store a series", error);
  sqlite3_exec (self->db, "ROLLBACK", NULL, NULL, NULL);
  return FALSE;
}

gboolean
fab_samples_set_machine (FabSamples *self, const char *key, const char *value, GError **error)
{
  sqlite3_stmt *stmt = samples_prepare (self, "INSERT OR REPLACE INTO machine VALUES (?, ?)", error);

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, 1, key);
  bind_text (stmt, 2, value);
  return samples_finish (self, stmt, "store the machine", error);
}

gboolean
fab_samples_add_note (FabSamples *self, const char *note, GError **error)
{
  sqlite3_stmt *stmt = samples_prepare (self, "INSERT OR IGNORE INTO note (text) VALUES (?)", error);

  if (stmt == NULL)
    return FALSE;
  bind_text (stmt, 1, note);
  return samples_finish (self, stmt, "store a note", error);
}
