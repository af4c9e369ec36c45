/* SPDX-License-Identifier: Apache-2.0 */
/* store_query.c - runs one read-only statement and returns its result as a FabTable.
 *
 * A user's statement passes SQLite's authorizer. Reading tables and calling functions is allowed; writing, opening
 * another file or changing a setting is not.
 */
#include "sim/result/store_private.h"

#include <sqlite3.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

#define READ_ONLY_HELP "only reading (SELECT) is possible here"
/* A text or blob that a query makes, and the steps of SQLite's machine between two looks at the clock. */
#define MAX_VALUE_BYTES (64 << 20)
#define STEPS_PER_LOOK 10000

#define SCHEMA_HELP "docs/reference/results-schema.md lists tables, views and columns"

/* Compiling */

static const char *const allowed_pragmas[] = {
  "table_info", "table_xinfo", "table_list", "foreign_key_list", "integrity_check", NULL,
};

static gint
authorize (G_GNUC_UNUSED gpointer data, gint action, const char *first, const char *second,
           G_GNUC_UNUSED const char *schema, G_GNUC_UNUSED const char *trigger)
{
  gboolean is_allowed = FALSE;

  if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
    is_allowed = TRUE;
  else if (action == SQLITE_FUNCTION)
    is_allowed = g_strcmp0 (second, "load_extension") != 0 && g_strcmp0 (second, "fts3_tokenizer") != 0;
  else if (
      action
      == SQLITE_UPDATE) /* SQLite declares json_each and similar tables this way; it refuses a user's UPDATE itself */
    is_allowed = g_strcmp0 (first, "sqlite_master") == 0;
  else if (action == SQLITE_PRAGMA)
    is_allowed = g_strv_contains (allowed_pragmas, first);
  return is_allowed ? SQLITE_OK : SQLITE_DENY;
}

void
fab_store_limit_queries (FabStore *self, guint64 max_rows, guint max_s)
{
  self->max_rows = max_rows;
  self->max_s = max_s;
}

/* SQLite's progress handler: ends the query when its time is over. */
static gint
is_late (gpointer data)
{
  const FabStore *self = data;

  return g_get_monotonic_time () > self->end_us;
}

static void
begin_limits (FabStore *self)
{
  sqlite3_limit (self->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
  if (self->max_s == 0)
    return;
  self->end_us = g_get_monotonic_time () + self->max_s * G_USEC_PER_SEC;
  sqlite3_progress_handler (self->db, STEPS_PER_LOOK, is_late, self);
}

static void
end_limits (FabStore *self)
{
  sqlite3_progress_handler (self->db, 0, NULL, NULL);
}

static gboolean
fail_query (FabStore *self, gint code, GError **error)
{
  if ((code & 0xff) == SQLITE_INTERRUPT)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the query has not ended within %u s; check that it ends at all, or give it more "
                      "time with --time-limit",
                      self->max_s);
  if ((code & 0xff) == SQLITE_TOOBIG || (code & 0xff) == SQLITE_NOMEM)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the query makes a value that is too large; the limit is 64 MiB");
  if ((code & 0xff) == SQLITE_AUTH)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the query would change %s or open another file; " READ_ONLY_HELP, self->path);
  if ((code & 0xff) == SQLITE_ERROR)
    return fab_throw (error, FAB_ERROR_INPUT, "the query is wrong: %s; " SCHEMA_HELP,
                      sqlite3_errmsg (self->db));
  return fab_store_fail (self, "answer the query", error);
}

/* Whether only blanks and comments follow. */
static gboolean
is_end (FabStore *self, const char *tail)
{
  while (*tail != '\0') {
    g_autoptr (sqlite3_stmt) next = NULL;

    if (sqlite3_prepare_v2 (self->db, tail, -1, &next, &tail) != SQLITE_OK || next != NULL)
      return FALSE;
  }
  return TRUE;
}

static sqlite3_stmt *
compile (FabStore *self, const char *sql, GError **error)
{
  g_autoptr (sqlite3_stmt) stmt = NULL;
  const char *tail = sql;
  gint code = SQLITE_OK;

  while (stmt == NULL && code == SQLITE_OK && *tail != '\0')
    code = sqlite3_prepare_v2 (self->db, tail, -1, &stmt, &tail);
  if (code != SQLITE_OK) {
    fail_query (self, code, error);
    return NULL;
  }
  if (stmt == NULL)
    fab_throw (error, FAB_ERROR_INPUT, "the query is empty; write a SELECT, or name a question");
  else if (!is_end (self, tail))
    fab_throw (error, FAB_ERROR_INPUT, "the query holds more than one statement; give one at a time");
  else if (!sqlite3_stmt_readonly (stmt))
    fail_query (self, SQLITE_AUTH, error);
  else
    return g_steal_pointer (&stmt);
  return NULL;
}

/* Choosing the run */

gboolean
fab_store_find_run (FabStore *self, gint64 run_id, gint64 *found, GError **error)
{
  static const char last_sql[] = "SELECT coalesce (max (run_id), 0) FROM run";
  g_autofree char *found_sql = g_strdup_printf ("SELECT count (*) FROM run WHERE run_id = %" G_GINT64_FORMAT,
                                                run_id);
  gint64 last = 0, n_found = 0;

  if (self->has_schema
      && (!fab_store_read_integer (self, last_sql, &last)
          || !fab_store_read_integer (self, found_sql, &n_found)))
    return fab_store_fail (self, "answer the query", error);
  if (last == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "no run in %s yet; `fabricast run` writes one", self->path);
  if (run_id != 0 && n_found == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "no run %" G_GINT64_FORMAT " in %s; the last one is %" G_GINT64_FORMAT
                      ", and `fabricast query runs` lists them",
                      run_id, self->path, last);
  *found = run_id != 0 ? run_id : last;
  return TRUE;
}

/* A query about sweeps needs no run, and a query about runs needs no sweep. But a run or sweep that was named must
 * exist, and the file must hold at least one of either. */
static gboolean
check_content (FabStore *self, gint64 run_id, GError **error)
{
  gint64 found;

  if (self->chosen_sweep != 0 && !fab_store_find_sweep (self, &found, error))
    return FALSE;
  return (run_id == 0 && fab_store_find_sweep (self, &found, NULL))
      || fab_store_find_run (self, run_id, &found, error);
}

static gboolean
bind_parameters (FabStore *self, sqlite3_stmt *stmt, gint64 run_id, GError **error)
{
  for (gint i = 1; i <= sqlite3_bind_parameter_count (stmt); i++) {
    const char *name = sqlite3_bind_parameter_name (stmt, i);
    gint64 id = 0;

    if (g_strcmp0 (name, ":run") != 0 && g_strcmp0 (name, ":sweep") != 0)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "the query uses the parameter %s, which has no value; only :run and :sweep have one",
                        name != NULL ? name : "?");
    if (!(name[1] == 'r' ? fab_store_find_run (self, run_id, &id, error)
                         : fab_store_find_sweep (self, &id, error)))
      return FALSE;
    sqlite3_bind_int64 (stmt, i, id);
  }
  return TRUE;
}

/* Reading */

static void
read_cell (sqlite3_stmt *stmt, gint column, FabTable *table)
{
  const char *text;

  switch (sqlite3_column_type (stmt, column)) {
  case SQLITE_NULL: fab_table_add_null (table); break;
  case SQLITE_FLOAT: fab_table_add_real (table, sqlite3_column_double (stmt, column)); break;
  case SQLITE_INTEGER: fab_table_add_integer (table, sqlite3_column_int64 (stmt, column)); break;
  default:
    text = (const char *) sqlite3_column_text (stmt, column);
    fab_table_add_text (table, text != NULL ? text : ""); /* NULL is a blob without bytes */
  }
}

static FabTable *
new_table (sqlite3_stmt *stmt)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (gint i = 0; i < sqlite3_column_count (stmt); i++)
    g_ptr_array_add (names, (gpointer) sqlite3_column_name (stmt, i));
  g_ptr_array_add (names, NULL);
  return fab_table_new ((const char *const *) names->pdata);
}

static FabTable *
read_table (FabStore *self, sqlite3_stmt *stmt, GError **error)
{
  g_autoptr (FabTable) table = new_table (stmt);
  gint code;

  while ((code = sqlite3_step (stmt)) == SQLITE_ROW) {
    if (self->max_rows > 0 && table->n_rows >= self->max_rows) {
      fab_throw (error, FAB_ERROR_INPUT,
                 "the query has more than %" G_GUINT64_FORMAT
                 " rows; write a LIMIT, or allow more rows with --max-rows",
                 self->max_rows);
      return NULL;
    }
    for (guint i = 0; i < table->n_columns; i++)
      read_cell (stmt, (gint) i, table);
  }
  if (code == SQLITE_DONE)
    return g_steal_pointer (&table);
  fail_query (self, code, error);
  return NULL;
}

static FabTable *
ask (FabStore *self, const char *sql, gint64 run_id, GError **error)
{
  g_autoptr (sqlite3_stmt) stmt = compile (self, sql, error);

  if (stmt == NULL || !bind_parameters (self, stmt, run_id, error))
    return NULL;
  return read_table (self, stmt, error);
}

FabTable *
fab_store_query (FabStore *self, const char *sql, gint64 run_id, GError **error)
{
  FabTable *table;

  if (!check_content (self, run_id, error))
    return NULL;
  sqlite3_set_authorizer (self->db, authorize, NULL);
  begin_limits (self);
  table = ask (self, sql, run_id, error);
  end_limits (self);
  sqlite3_set_authorizer (self->db, NULL, NULL);
  return table;
}

/* Row by row */

static FabField
read_field (sqlite3_stmt *stmt, gint column)
{
  FabField field = { FAB_CELL_NULL, 0, 0, NULL };

  switch (sqlite3_column_type (stmt, column)) {
  case SQLITE_NULL: break;
  case SQLITE_FLOAT:
    field.kind = FAB_CELL_REAL;
    field.real = sqlite3_column_double (stmt, column);
    break;
  case SQLITE_INTEGER:
    field.kind = FAB_CELL_INTEGER;
    field.integer = sqlite3_column_int64 (stmt, column);
    field.real = (double) field.integer;
    break;
  default:
    field.kind = FAB_CELL_TEXT;
    field.text = (const char *) sqlite3_column_text (stmt, column);
    field.text = field.text != NULL ? field.text : ""; /* a blob without bytes */
  }
  return field;
}

static gboolean
hand_over (FabStore *self, sqlite3_stmt *stmt, FabStoreRowFunc on_row, gpointer data, GError **error)
{
  guint n_columns = (guint) sqlite3_column_count (stmt);
  g_autofree FabField *fields = g_new0 (FabField, n_columns);
  gint code;

  while ((code = sqlite3_step (stmt)) == SQLITE_ROW) {
    for (guint i = 0; i < n_columns; i++)
      fields[i] = read_field (stmt, (gint) i);
    if (!on_row (fields, data, error))
      return FALSE;
  }
  return code == SQLITE_DONE || fail_query (self, code, error);
}

gboolean
fab_store_each (FabStore *self, const char *sql, gint64 run_id, FabStoreRowFunc on_row, gpointer data,
                GError **error)
{
  g_autoptr (sqlite3_stmt) stmt = NULL;

  if (!check_content (self, run_id, error))
    return FALSE;
  sqlite3_set_authorizer (self->db, authorize, NULL);
  stmt = compile (self, sql, error);
  sqlite3_set_authorizer (self->db, NULL, NULL);
  return stmt != NULL && bind_parameters (self, stmt, run_id, error)
      && hand_over (self, stmt, on_row, data, error);
}

/* --- what a file has --- */

gboolean
fab_store_has (FabStore *self, const char *table, const char *column, gboolean *has, GError **error)
{
  g_autoptr (sqlite3_stmt) stmt = NULL;
  const char *sql = column != NULL ? "SELECT count (*) FROM pragma_table_info (?1) WHERE name = ?2"
                                   : "SELECT count (*) FROM sqlite_master WHERE name = ?1";

  if (sqlite3_prepare_v2 (self->db, sql, -1, &stmt, NULL) != SQLITE_OK
      || sqlite3_bind_text (stmt, 1, table, -1, SQLITE_STATIC) != SQLITE_OK
      || (column != NULL && sqlite3_bind_text (stmt, 2, column, -1, SQLITE_STATIC) != SQLITE_OK)
      || sqlite3_step (stmt) != SQLITE_ROW)
    return fab_store_fail (self, "read what it has", error);
  *has = sqlite3_column_int64 (stmt, 0) > 0;
  return TRUE;
}
