/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.c - reports of NVIDIA Nsight Systems as SQLite: nsys profile, then nsys export --type sqlite.
 *
 * Tables and columns: Nsight Systems user guide, "SQLite schema reference". Times are ns since the session began. A
 * process on a device is a rank. A NVTX range called "ProfilerStep#3", "step 3" or "iteration 3" is a step. The upper
 * 40 bits of globalTid are globalPid. The report does not say how large collectives are.
 */
#include <sqlite3.h>
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"
#include "sim/base/foreign_db.h"

#define PID_MASK G_GINT64_CONSTANT (-16777216) /* clears the 24 bits of the thread */

#define KERNELS                                                                                    \
  "SELECT k.start, k.end, k.streamId, k.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k " \
  "LEFT JOIN StringIds s ON s.id = k.shortName WHERE k.globalPid = ?1 AND k.deviceId = ?2"
#define RANKS \
  "SELECT DISTINCT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY deviceId, globalPid LIMIT 4096"
#define LAUNCHES \
  "SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE (globalTid & ?2) = ?1 AND correlationId > 0"
#define STEPS                                                                                             \
  "SELECT n.start, n.end, coalesce (n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = " \
  "n.textId WHERE n.end IS NOT NULL AND (n.globalTid & ?2) = ?1"

typedef struct {
  sqlite3 *db;
  const char *name;
  FabTrace *trace;
  FabTracedRank *rank;
} Report;

static gboolean
fail (const Report *self, GError **error)
{
  return fab_throw (error, FAB_ERROR_INPUT, "%s: cannot be read as a report of Nsight Systems: %s",
                    self->name, sqlite3_errmsg (self->db));
}

/* Sets *has. FALSE and *error: the file cannot be read, which says nothing of its tables. */
static gboolean
find_table (const Report *self, const char *table, gboolean *has, GError **error)
{
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2 (self->db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
                                 -1, &statement, NULL);

  if (code == SQLITE_OK) {
    sqlite3_bind_text (statement, 1, table, -1, SQLITE_STATIC);
    code = sqlite3_step (statement);
  }
  *has = code == SQLITE_ROW;
  sqlite3_finalize (statement);
  return code == SQLITE_ROW || code == SQLITE_DONE || fail (self, error);
}

typedef gboolean (*TakeRow) (Report *self, sqlite3_stmt *row, GError **error);

/* Calls `take` with each row. */
static gboolean
query (Report *self, const char *sql, gint64 first, gint64 second, TakeRow take, GError **error)
{
  sqlite3_stmt *statement = NULL;
  gboolean is_good = sqlite3_prepare_v2 (self->db, sql, -1, &statement, NULL) == SQLITE_OK;
  int code = SQLITE_DONE;

  if (!is_good)
    return fail (self, error);
  sqlite3_bind_int64 (statement, 1, first);
  sqlite3_bind_int64 (statement, 2, second);
  while (is_good && (code = sqlite3_step (statement)) == SQLITE_ROW)
    is_good = take (self, statement, error);
  if (is_good && code != SQLITE_DONE)
    is_good = fail (self, error);
  sqlite3_finalize (statement);
  return is_good;
}

/* Not every profile has every table. */
static gboolean
query_if_there (Report *self, const char *table, const char *sql, gint64 first, gint64 second, TakeRow take,
                GError **error)
{
  gboolean has;

  return find_table (self, table, &has, error) && (!has || query (self, sql, first, second, take, error));
}

static gboolean
times_of (const Report *self, sqlite3_stmt *row, FabTimePs *start_ps, FabTimePs *end_ps, GError **error)
{
  gint64 start_ns = sqlite3_column_int64 (row, 0), end_ns = sqlite3_column_int64 (row, 1);

  if (start_ns < 0 || end_ns < start_ns || end_ns > G_MAXINT64 / 4000)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: an event has impossible times: from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                      " ns",
                      self->name, start_ns, end_ns);
  *start_ps = start_ns * 1000;
  *end_ps = end_ns * 1000;
  return TRUE;
}

static gboolean
take_operation (Report *self, sqlite3_stmt *row, const char *name, FabTraceKind kind, GError **error)
{
  FabTraceOp op = {
    .external = -1, .launch = sqlite3_column_int64 (row, 3), .comm = -1, .step = -1, .kind = kind
  };

  if (!times_of (self, row, &op.start_ps, &op.end_ps, error))
    return FALSE;
  op.stream = (guint32) sqlite3_column_int64 (row, 2);
  op.name = fab_trace_kernel_name (self->trace, name);
  if (kind == FAB_TRACE_COMM) {
    const char *called = fab_trace_op_name (name);
    FabTraceComm comm = { .op = called != NULL ? called : "send_recv", .dimension = "other", .group = "" };

    op.comm = (gint32) self->rank->comms->len;
    g_array_append_val (self->rank->comms, comm);
  }
  g_array_append_val (self->rank->ops, op);
  return TRUE;
}

static gboolean
take_kernel (Report *self, sqlite3_stmt *row, GError **error)
{
  const char *name = (const char *) sqlite3_column_text (row, 4);

  name = name != NULL ? name : "kernel";
  return take_operation (self, row, name,
                         fab_trace_is_communication (name) ? FAB_TRACE_COMM : FAB_TRACE_COMPUTE, error);
}

static gboolean
take_copy (Report *self, sqlite3_stmt *row, GError **error)
{
  return take_operation (self, row, "copy of memory", FAB_TRACE_COPY, error);
}

static gboolean
take_launch (Report *self, sqlite3_stmt *row, GError **error)
{
  FabTraceLaunch launch = { .launch = sqlite3_column_int64 (row, 1) };
  gint64 start_ns = sqlite3_column_int64 (row, 0);

  if (start_ns < 0 || start_ns > G_MAXINT64 / 4000)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: a call has an impossible start", self->name);
  launch.at_ps = start_ns * 1000;
  g_array_append_val (self->rank->launches, launch);
  return TRUE;
}

static gboolean
take_range (Report *self, sqlite3_stmt *row, GError **error)
{
  static const char *const names[] = { "ProfilerStep#", "step ", "iteration ", "iter " };
  const char *text = (const char *) sqlite3_column_text (row, 2);
  FabTraceStep step = { 0 };

  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (names); i++) {
    gsize n = strlen (names[i]);

    if (g_ascii_strncasecmp (text, names[i], n) != 0 || !fab_trace_parse_whole (text + n, &step.number))
      continue;
    if (!times_of (self, row, &step.start_ps, &step.end_ps, error))
      return FALSE;
    g_array_append_val (self->rank->steps, step);
    break;
  }
  return TRUE;
}

static gboolean
take_rank (Report *self, sqlite3_stmt *row, GError **error)
{
  gint64 process = sqlite3_column_int64 (row, 0), device = sqlite3_column_int64 (row, 1);
  static const char *const copies[] = { "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET" };

  self->rank = fab_trace_add_rank (self->trace, self->name);
  if (!query (self, KERNELS, process, device, take_kernel, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (copies); i++) {
    g_autofree char *sql = g_strdup_printf (
        "SELECT start, end, streamId, correlationId FROM %s WHERE globalPid = ?1 AND deviceId = ?2",
        copies[i]);

    if (!query_if_there (self, copies[i], sql, process, device, take_copy, error))
      return FALSE;
  }
  return query_if_there (self, "CUPTI_ACTIVITY_KIND_RUNTIME", LAUNCHES, process, PID_MASK, take_launch, error)
      && query_if_there (self, "NVTX_EVENTS", STEPS, process, PID_MASK, take_range, error);
}

static gboolean
read_database (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  Report self = { .name = fab_file_bytes_name (bytes), .trace = trace };
  const char *path = fab_file_bytes_path (bytes);
  static const char *const tables[] = { "CUPTI_ACTIVITY_KIND_KERNEL",
                                        "CUPTI_ACTIVITY_KIND_MEMCPY",
                                        "CUPTI_ACTIVITY_KIND_MEMSET",
                                        "CUPTI_ACTIVITY_KIND_RUNTIME",
                                        "NVTX_EVENTS",
                                        "StringIds",
                                        NULL };
  const char *table = NULL, *kind;
  guint before = trace->ranks->len;
  gboolean is_good, has_kernels = FALSE;

  if (path == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: is a database, which is read as a plain file only; unpack it", self.name);
  is_good = sqlite3_open_v2 (path, &self.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
  if (!is_good)
    fail (&self, error);
  fab_foreign_db_guard (self.db, FAB_VIEWS_NONE);
  kind = is_good ? fab_foreign_db_not_a_table (self.db, tables, &table) : NULL;
  if (kind != NULL)
    is_good = fab_throw (error, FAB_ERROR_INPUT,
                         "%s: has %s in place of the table %s; Nsight Systems did not write it", self.name,
                         kind, table);
  is_good = is_good && find_table (&self, "CUPTI_ACTIVITY_KIND_KERNEL", &has_kernels, error);
  if (is_good && !has_kernels)
    is_good = fab_throw (
        error, FAB_ERROR_INPUT,
        "%s: is a database without kernels of a GPU; a report of Nsight Systems as SQLite has the table "
        "CUPTI_ACTIVITY_KIND_KERNEL",
        self.name);
  is_good = is_good && query (&self, RANKS, 0, 0, take_rank, error);
  sqlite3_close (self.db);
  if (is_good && trace->ranks->len == before)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: has no kernel of a GPU", self.name);
  if (is_good && trace->ranks->len > before + 1)
    fab_trace_note (trace, FAB_NOTE_INFERRED, self.name, 0,
                    "%s: its %u processes and devices count as ranks in the order of devices", self.name,
                    trace->ranks->len - before);
  return is_good;
}

static gboolean
is_sqlite (const FabFileText *text)
{
  return fab_file_text_begins (text, "SQLite format 3");
}

const FabFileFormat fab_file_nsys = {
  .name = "Nsight Systems",
  .kind = FAB_FILE_TRACE,
  .recognises = is_sqlite,
  .read.trace = read_database,
};
