/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_trouble.c - files that are not ours, and places where nobody may write.
 *
 * Each time: one message that names the file, what is wrong and what to do; what was in the file
 * before stays as it was; nothing half-written. Children run in forks and end with _exit.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "tests/unit/sim/result/store_support.h"

#define NOBODY 65534

static void
assert_refused (const char *path, FabStoreMode mode, const char *says)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_store_open (path, mode, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_IO));
  assert_says (error, says);
  assert_true (*path == '\0' || g_str_has_prefix (error->message, path));
}

/* In both modes, and the file keeps its bytes. */
static void
assert_refused_untouched (void **state, const char *name, const char *bytes, gsize size, const char *says)
{
  g_autofree char *path = file_in (state, name), *after = NULL, *listing = NULL;
  gsize size_after;

  assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  assert_refused (path, FAB_STORE_WRITE, says);
  assert_refused (path, FAB_STORE_READ, says);
  assert_true (g_file_get_contents (path, &after, &size_after, NULL));
  assert_int_equal (size_after, size);
  assert_memory_equal (after, bytes, size);
  listing = list_directory (state);
  assert_string_equal (listing, name);
}

/* A store's bytes with one of the big-endian numbers of SQLite's header changed. */
static void
assert_header_refused (void **state, gsize offset, guint8 last_byte, const char *says)
{
  g_autofree char *path = file_in (state, "a.db"), *bytes = NULL;
  gsize size;

  assert_true (write_run (path, 2, NULL));
  assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[offset + 3] = (char) last_byte;
  assert_refused_untouched (state, "a.db", bytes, size, says);
}

static void
a_path_that_cannot_be_is_refused (void **state)
{
  g_autofree char *missing = file_in (state, "no.db"), *deep = file_in (state, "no/such/a.db");
  g_autofree char *file = file_in (state, "file"), *below = file_in (state, "file/a.db");

  assert_refused (missing, FAB_STORE_READ, ": no such file; `fabricast run` writes a results file");
  assert_refused (deep, FAB_STORE_WRITE, "/no/such does not exist; create it first");
  assert_true (g_file_set_contents (file, "x", 1, NULL));
  assert_refused (below, FAB_STORE_WRITE, "/file is not a directory");
  assert_refused (*state, FAB_STORE_WRITE, ": is not a regular file");
  assert_refused (*state, FAB_STORE_READ, ": is not a regular file");
  assert_refused ("/dev/null", FAB_STORE_WRITE, ": is not a regular file");
  assert_refused ("", FAB_STORE_WRITE, "has no name");
}

/* Names that SQLite would take for something else. */
static void
odd_names_are_files (void **state)
{
  static const char *const names[] = { ":memory:", "file:x?mode=ro", "a b%41'.db" };
  g_autofree char *before = g_get_current_dir ();

  assert_int_equal (g_chdir (*state), 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    assert_true (write_run (names[i], 2, NULL));
    assert_true (g_file_test (names[i], G_FILE_TEST_IS_REGULAR));
    assert_answer (names[i], "SELECT count (*) FROM run", "count (*)\n1\n");
  }
  assert_int_equal (g_chdir (before), 0);
}

static void
a_file_that_is_no_database_is_refused (void **state)
{
  g_autofree char *page = g_strnfill (8192, 'x');

  assert_refused_untouched (state, "a.db", page, 8192, "it is not a SQLite database; choose another file");
  assert_refused_untouched (state, "a.db", "hello", 5, "it is not a SQLite database; choose another file");
}

static void
a_database_of_another_program_is_refused (void **state)
{
  assert_header_refused (state, 68, 0, ": is a database of another program; choose another file");
}

static void
a_newer_schema_is_refused (void **state)
{
  guint known = fab_store_schema_version ();
  g_autofree char *message = g_strdup_printf (
      ": was written by a newer Fabricast (schema %u, this one knows %u); upgrade", known + 1, known);

  assert_header_refused (state, 60, (guint8) (known + 1), message);
}

/* Every table is made anew as it is today, even where an older version had it so already. */
static void
an_older_schema_is_migrated_by_a_writer (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *bytes = NULL;
  gsize size;
  g_autoptr (GError) error = NULL;

  assert_true (write_run (path, 2, NULL));
  assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[60 + 3] = 1; /* user_version */
  assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  assert_answer (path, "SELECT run_id FROM run", "run_id\n1\n");
  assert_true (write_run (path, 2, NULL));
  assert_answer (path, "SELECT run_id FROM run", "run_id\n1\n2\n");
  g_clear_pointer (&bytes, g_free);
  assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  assert_int_equal (bytes[60 + 3], fab_store_schema_version ());
}

/* --- files of older versions --- */

static void
execute (sqlite3 *db, const char *sql)
{
  char *message = NULL;

  if (sqlite3_exec (db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg ("%s: %s", sql, message);
}

/* The number that a query answers. */
static gint64
number_of (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *stmt = NULL;

  if (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL) != SQLITE_OK)
    fail_msg ("%s: %s", sql, sqlite3_errmsg (db));
  assert_int_equal (sqlite3_step (stmt), SQLITE_ROW);
  gint64 number = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  return number;
}

/* Whether the column was in files before this version of the schema. */
static gboolean
is_older (const FabColumn *column, guint version)
{
  return column->since < version;
}

/* The file as it was before a version: without the views, and with neither the columns nor the tables that came with it
 * or later. What is left is kept beside. */
static void
make_older (sqlite3 *db, guint version)
{
  static const char views[] =
      "SELECT group_concat ('DROP VIEW ' || name, ';') FROM sqlite_schema WHERE type = 'view'";
  sqlite3_stmt *stmt = NULL;

  assert_int_equal (sqlite3_prepare_v2 (db, views, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal (sqlite3_step (stmt), SQLITE_ROW);
  g_autofree char *drop = g_strdup ((const char *) sqlite3_column_text (stmt, 0));
  sqlite3_finalize (stmt);
  execute (db, drop);
  for (guint t = 0; t < FAB_N_TABLES; t++) {
    const FabRecordTable *table = &fab_record_tables[t];
    g_autoptr (GString) sql = g_string_new (NULL);

    g_string_printf (sql, "CREATE TABLE kept_%s AS SELECT %.*s", table->name,
                     (gint) strcspn (table->owner, " "), table->owner);
    for (guint i = 0; i < table->n_columns; i++)
      if (is_older (&table->columns[i], version))
        g_string_append_printf (sql, ", %s", table->columns[i].name);
    g_string_append_printf (sql, " FROM %s; DROP TABLE %s;", table->name, table->name);
    if (table->since < version)
      g_string_append_printf (sql, "CREATE TABLE %s AS SELECT * FROM kept_%s;", table->name, table->name);
    execute (db, sql->str);
  }
  execute (db, "PRAGMA user_version = 1");
}

/* Rows are all there, with what they had; in columns that are new to them stands what the column says of older rows. */
static void
assert_renewed (sqlite3 *db, guint version, guint *n_new)
{
  for (guint t = 0; t < FAB_N_TABLES; t++) {
    const FabRecordTable *table = &fab_record_tables[t];
    g_autoptr (GString) had = g_string_new (NULL);
    gboolean is_there = table->since < version;
    g_autofree char *count = g_strdup_printf ("SELECT count (*) FROM %s", table->name),
                    *kept = g_strdup_printf ("SELECT count (*) FROM kept_%s", table->name);
    gint64 n = number_of (db, count);

    g_string_printf (had, "%.*s", (gint) strcspn (table->owner, " "), table->owner);
    assert_int_equal (n, is_there ? number_of (db, kept) : 0);
    for (guint i = 0; i < table->n_columns; i++) {
      const FabColumn *column = &table->columns[i];
      const char *before = column->before != NULL                         ? column->before
                         : column->may_be_null                            ? "NULL"
                         : g_str_equal (fab_column_type (column), "TEXT") ? "''"
                                                                          : "0";
      g_autofree char *as_before = g_strdup_printf ("SELECT count (*) FROM %s WHERE %s IS (%s)", table->name,
                                                    column->name, before);

      if (is_older (column, version)) {
        g_string_append_printf (had, ", %s", column->name);
      } else {
        assert_int_equal (number_of (db, as_before), n);
        *n_new += n > 0;
      }
    }
    g_autofree char *lost = g_strdup_printf (
        "SELECT count (*) FROM (SELECT * FROM kept_%s EXCEPT SELECT %s FROM %s)", table->name, had->str,
        table->name);
    assert_int_equal (is_there ? number_of (db, lost) : 0, 0);
  }
}

static void
rows_of_older_files_keep_what_they_have (void **state)
{
  guint n_new = 0;

  for (guint version = 2; version <= fab_store_schema_version (); version += 8) {
    g_autofree char *name = g_strdup_printf ("%u.db", version), *path = file_in (state, name);
    g_autoptr (GError) error = NULL;
    sqlite3 *db = NULL;

    assert_true (write_run (path, 2, NULL));
    assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
    make_older (db, version);
    sqlite3_close (db);
    FabStore *store = fab_store_open (path, FAB_STORE_WRITE, &error);
    if (store == NULL)
      fail_msg ("%s", error->message);
    assert_true (fab_store_close (&store, NULL));
    assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
    assert_int_equal (number_of (db, "PRAGMA user_version"), fab_store_schema_version ());
    assert_renewed (db, version, &n_new);
    sqlite3_close (db);
  }
  assert_true (n_new > 5);
}

/* A column that had another name keeps its values, and what somebody added to the file stays: tables and views that are
 * none of ours. Older files that are read are not touched. */
static void
renamed_columns_and_own_views_stay (void **state)
{
  static const char question[] =
      "SELECT (SELECT sum (step_ps) FROM iteration) AS steps, (SELECT count (*) FROM "
      "iteration_class WHERE step_ps = 1000000000000) AS n, x FROM v_mine";
  g_autofree char *path = file_in (state, "a.db"), *before = NULL, *after = NULL;
  gsize size, size_after;
  sqlite3 *db = NULL;

  assert_true (write_run (path, 2, NULL));
  assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
  make_older (db, fab_store_schema_version ());
  for (guint i = 0; i < 2; i++) {
    const char *name = i == 0 ? "iteration" : "iteration_class";
    g_autofree char *sql = g_strdup_printf (
        "ALTER TABLE %s ADD COLUMN duration_ps INTEGER NOT NULL DEFAULT 0; "
        "UPDATE %s SET duration_ps = 1000000000000",
        name, name);

    execute (db, sql);
  }
  execute (db,
           "CREATE TABLE mine (x); INSERT INTO mine VALUES (5); CREATE VIEW v_mine AS SELECT x FROM mine");
  sqlite3_close (db);
  assert_true (g_file_get_contents (path, &before, &size, NULL));
  assert_answer (path, question, "steps,n,x\n2000000000000,4,5\n");
  assert_true (g_file_get_contents (path, &after, &size_after, NULL));
  assert_int_equal (size_after, size);
  assert_memory_equal (after, before, size);
  assert_true (write_run (path, 2, NULL));
  assert_answer (path, question, "steps,n,x\n4000000000000,8,5\n");
  assert_answer (path, "SELECT count (*) AS n FROM v_step", "n\n4\n");
}

static void
a_torn_file_is_reported (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = NULL;
  int file;

  assert_true (write_run (path, 2, NULL));
  file = open (path, O_WRONLY);
  assert_int_equal (pwrite (file, "garbage", 7, 4096 + 10), 7);
  assert_int_equal (ftruncate (file, 5000), 0);
  close (file);
  store = fab_store_open (path, FAB_STORE_READ, &error);
  if (store != NULL)
    assert_null (fab_store_query (store, "SELECT * FROM run", 0, &error));
  assert_says (error, "it is damaged; restore it from a copy, or write to another file");
}

static void
a_file_without_a_run_says_so (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *empty = file_in (state, "empty.db");
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  const char *const paths[] = { path, empty };

  assert_true (fab_store_close (&store, NULL));
  assert_true (g_file_set_contents (empty, "", 0, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autoptr (FabStore) reader = fab_store_open (paths[i], FAB_STORE_READ, NULL);
    g_autoptr (GError) error = NULL;

    assert_null (fab_store_query (reader, fab_query_find ("exposed")->sql, 0, &error));
    assert_says (error, "no run in ");
    assert_says (error, ".db yet; `fabricast run` writes one");
  }
}

static void
one_file_remains (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *listing = NULL, *while_open = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);

  assert_true (add_run (store, 1000, NULL));
  while_open = list_directory (state);
  assert_string_equal (while_open, "a.db, a.db-shm, a.db-wal");
  assert_true (fab_store_close (&store, NULL));
  assert_null (store);
  assert_answer (path, "SELECT count (*) FROM span", "count (*)\n2000\n");
  listing = list_directory (state);
  assert_string_equal (listing, "a.db");
}

/* Rights */

/* Root may write everywhere, so become nobody. */
static gboolean
drop_rights (void)
{
  return geteuid () != 0 || setuid (NOBODY) == 0;
}

static int
write_is_refused (const char *path, G_GNUC_UNUSED int pipe)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = NULL;
  g_autoptr (FabTable) table = NULL;

  if (!drop_rights ())
    return SKIPPED;
  if (fab_store_open (path, FAB_STORE_WRITE, &error) != NULL || !says (error, "Permission denied"))
    return 1;
  store = fab_store_open (path, FAB_STORE_READ, NULL); /* reading goes on */
  table = store != NULL ? fab_store_query (store, "SELECT count (*) FROM span", 0, NULL) : NULL;
  return table != NULL && fab_table_cell (table, 0, 0)->integer == 20 ? 0 : 2;
}

static void
a_read_only_file_is_refused_for_writing (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 10, NULL));
  assert_int_equal (g_chmod (*state, 0777), 0);
  assert_int_equal (g_chmod (path, 0444), 0);
  in_child (write_is_refused, path);
}

static void
a_read_only_directory_is_refused_for_writing (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 10, NULL));
  assert_int_equal (g_chmod (path, 0666), 0);
  assert_int_equal (g_chmod (*state, 0555), 0);
  in_child (write_is_refused, path);
}

/* Bytes 18 and 19 of the header say 2: WAL, as when two closed at once. */
static void
a_wal_file_in_a_read_only_directory_can_be_read (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  int file;

  assert_true (write_run (path, 10, NULL));
  file = open (path, O_WRONLY);
  assert_int_equal (pwrite (file, "\2\2", 2, 18), 2);
  close (file);
  assert_int_equal (g_chmod (path, 0444), 0);
  assert_int_equal (g_chmod (*state, 0555), 0);
  in_child (write_is_refused, path);
}

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (a_path_that_cannot_be_is_refused),
    store_test (odd_names_are_files),
    store_test (a_file_that_is_no_database_is_refused),
    store_test (a_database_of_another_program_is_refused),
    store_test (a_newer_schema_is_refused),
    store_test (rows_of_older_files_keep_what_they_have),
    store_test (renamed_columns_and_own_views_stay),
    store_test (an_older_schema_is_migrated_by_a_writer),
    store_test (a_torn_file_is_reported),
    store_test (a_file_without_a_run_says_so),
    store_test (one_file_remains),
    store_test (a_read_only_file_is_refused_for_writing),
    store_test (a_read_only_directory_is_refused_for_writing),
    store_test (a_wal_file_in_a_read_only_directory_can_be_read),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
