/* SPDX-License-Identifier: Apache-2.0 */
/* test_foreign_db.c - what a database that anybody may have written cannot do to who opens it. */
#include "tests/support/test.h"

#include <string.h>

#include "sim/base/foreign_db.h"

static void
count_call (sqlite3_context *context, G_GNUC_UNUSED int n, G_GNUC_UNUSED sqlite3_value **values)
{
  guint *n_calls = sqlite3_user_data (context);

  (*n_calls)++;
  sqlite3_result_int (context, 1);
}

/* A database whose schema calls a function of the program: in a view, a trigger and a generated column. */
static sqlite3 *
open_guarded (FabForeignViews views, guint *n_calls)
{
  sqlite3 *db = NULL;

  assert_int_equal (sqlite3_open (":memory:", &db), SQLITE_OK);
  sqlite3_create_function (db, "act", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC, n_calls, count_call, NULL, NULL);
  assert_int_equal (sqlite3_exec (db,
                                  "CREATE TABLE t (x, y AS (act ())); CREATE VIEW own AS SELECT 7 AS x;"
                                  "CREATE VIEW calling AS SELECT act () AS x; CREATE TABLE plain (x);"
                                  "CREATE TRIGGER after_plain AFTER INSERT ON plain BEGIN "
                                  "INSERT INTO t (x) VALUES (NEW.x); END;",
                                  NULL, NULL, NULL),
                    SQLITE_OK);
  fab_foreign_db_guard (db, views);
  return db;
}

/* With nothing of it in use. */
static void
close_guarded (sqlite3 *db)
{
  assert_int_equal (sqlite3_close (db), SQLITE_OK);
}

static gboolean
works (sqlite3 *db, const char *sql)
{
  return sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Reading a file must not do what the file says. Who asks may still call the function. */
static void
its_schema_calls_nothing (G_GNUC_UNUSED void **state)
{
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_OWN, &n_calls);

  assert_true (works (db, "SELECT * FROM own"));
  assert_false (works (db, "SELECT * FROM calling"));
  assert_false (works (db, "INSERT INTO t (x) VALUES (1); SELECT y FROM t"));
  assert_int_equal (n_calls, 0);
  assert_true (works (db, "SELECT act ()"));
  assert_int_equal (n_calls, 1);
  close_guarded (db);
}

static guint
count_rows (sqlite3 *db, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT x FROM %s", table);
  sqlite3_stmt *rows = NULL;
  guint n = 0;

  assert_int_equal (sqlite3_prepare_v2 (db, sql, -1, &rows, NULL), SQLITE_OK);
  while (sqlite3_step (rows) == SQLITE_ROW)
    n++;
  sqlite3_finalize (rows);
  return n;
}

static void
its_triggers_do_not_run (G_GNUC_UNUSED void **state)
{
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_OWN, &n_calls);

  assert_true (works (db, "INSERT INTO plain VALUES (1)"));
  assert_int_equal (count_rows (db, "plain"), 1);
  assert_int_equal (count_rows (db, "t"), 0);
  close_guarded (db);
}

/* A view in place of a table may never come to an end, so who knows no views reads none. */
static void
views_are_read_where_they_are_known_alone (G_GNUC_UNUSED void **state)
{
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_NONE, &n_calls);

  assert_false (works (db, "SELECT * FROM own"));
  assert_true (works (db, "SELECT * FROM plain"));
  close_guarded (db);
}

/* Neither the schema nor the memory of the program belongs to the file. */
static void
it_is_defended (G_GNUC_UNUSED void **state)
{
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_OWN, &n_calls);

  assert_false (works (db, "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = ''"));
  assert_true (works (db, "SELECT length (zeroblob (256 * 1024 * 1024))"));
  assert_false (works (db, "SELECT length (zeroblob (256 * 1024 * 1024 + 1))"));
  close_guarded (db);
}

static void
it_says_what_is_no_table (G_GNUC_UNUSED void **state)
{
  const char *const tables[] = { "plain", "t", "missing", NULL }, *const one[] = { "plain", "OWN", NULL },
                    *const trigger[] = { "after_plain", NULL }, *const search[] = { "words", NULL };
  const char *name = NULL;
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_OWN, &n_calls);

  assert_null (fab_foreign_db_not_a_table (db, tables, &name));
  assert_string_equal (fab_foreign_db_not_a_table (db, one, &name), "a view");
  assert_string_equal (name, "OWN");
  assert_string_equal (fab_foreign_db_not_a_table (db, trigger, &name), "no table");
  if (works (db, "CREATE VIRTUAL TABLE words USING fts5 (x)"))
    assert_string_equal (fab_foreign_db_not_a_table (db, search, &name), "a virtual table");
  close_guarded (db);
}

/* A view of ours with another text is named; a view that we do not have is none of our business. */
static void
it_names_a_view_with_another_text (G_GNUC_UNUSED void **state)
{
  guint n_calls = 0;
  sqlite3 *db = open_guarded (FAB_VIEWS_OWN, &n_calls);
  g_autofree char *other = fab_foreign_db_other_view (db, "CREATE VIEW own AS SELECT 8 AS x;");

  assert_string_equal (other, "own");
  assert_null (fab_foreign_db_other_view (db, "CREATE VIEW own AS SELECT 7 AS x;"));
  assert_null (fab_foreign_db_other_view (db, "CREATE VIEW another AS SELECT 8 AS x;"));
  close_guarded (db);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (its_schema_calls_nothing),
    cmocka_unit_test (its_triggers_do_not_run),
    cmocka_unit_test (views_are_read_where_they_are_known_alone),
    cmocka_unit_test (it_is_defended),
    cmocka_unit_test (it_says_what_is_no_table),
    cmocka_unit_test (it_names_a_view_with_another_text),
  };

  return cmocka_run_group_tests_name ("foreign_db", tests, NULL, NULL);
}
