/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_ends.c - a store when it is opened and when it is closed: what stands in the file itself, what is refused
 * of a file, and what a store that is read may not do. The numbers behind the expectations: store_support.h. */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "tests/unit/sim/result/store_support.h"

static void
execute (sqlite3 *db, const char *sql)
{
  char *message = NULL;

  if (sqlite3_exec (db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg ("%s: %s", sql, message);
}

static sqlite3 *
open_plainly (const char *path)
{
  sqlite3 *db = NULL;

  assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
  execute (db, "PRAGMA synchronous = 0");
  return db;
}

/* The bytes of one file. (transfer full) */
static char *
read_all (const char *path, gsize *size)
{
  char *bytes = NULL;

  assert_true (g_file_get_contents (path, &bytes, size, NULL));
  return bytes;
}

/* Quickly: nobody pulls the plug. */
static void
write_all (const char *path, const char *bytes, gsize size)
{
  assert_true (g_file_set_contents_full (path, bytes, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0666, NULL));
}

/* What the file alone answers, without SQLite's log beside it. */
static void
assert_alone (void **state, const char *path, const char *sql, const char *expected)
{
  g_autofree char *copy = file_in (state, "alone.db"), *bytes = NULL;
  gsize size;

  bytes = read_all (path, &size);
  write_all (copy, bytes, size);
  g_autoptr (FabStore) alone = fab_store_open (copy, FAB_STORE_READ, NULL);
  assert_non_null (alone);
  g_autoptr (FabTable) table = fab_store_query (alone, sql, 0, NULL);
  assert_non_null (table);
  g_autofree char *csv = fab_table_to_csv (table);
  assert_string_equal (csv, expected);
  fab_store_free (g_steal_pointer (&alone));
  g_remove (copy);
}

static goffset
size_of (void **state, const char *name)
{
  g_autofree char *path = file_in (state, name);
  GStatBuf about;

  return g_stat (path, &about) == 0 ? about.st_size : -1;
}

static gint64
number_of (FabStore *store, const char *sql)
{
  gint64 number = -1;

  assert_true (fab_store_read_integer (store, sql, &number));
  return number;
}

/* A new file has all of its tables in itself as soon as it is open, and nothing in its log. */
static void
a_new_file_has_its_tables_at_once (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *bytes = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  gsize size;

  assert_int_equal (size_of (state, "a.db-wal"), 0);
  assert_int_equal (number_of (store, "SELECT count (*) FROM sqlite_schema WHERE type = 'table'"),
                    FAB_N_TABLES);
  bytes = read_all (path, &size);
  assert_memory_equal (bytes + 68, "FABC", 4);
  assert_int_equal (bytes[60 + 3], fab_store_schema_version ());
  assert_true (size > 100000);
  assert_int_equal (number_of (store, "PRAGMA foreign_keys"), 1);
  assert_int_equal (number_of (store, "PRAGMA cache_size"), -16384);
  assert_int_equal (number_of (store, "PRAGMA busy_timeout"), 300000);
}

/* A run that is committed while somebody reads stays in the log as far as the reader needs the file as it was; closing
 * copies it, although the reader goes on with the file. A sweep's points are copied then as well. */
static void
closing_copies_what_a_reader_held_back (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;
  g_autoptr (GError) error = NULL;
  sqlite3 *reader;

  assert_true (write_run (path, 2, NULL));
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  reader = open_plainly (path);
  execute (reader, "BEGIN; SELECT count (*) FROM run");
  assert_true (add_run (store, 2, NULL));
  assert_alone (state, path, "SELECT count (*) AS n FROM run", "n\n1\n");
  execute (reader, "COMMIT");
  assert_true (fab_store_close (&store, &error));
  assert_null (error);
  assert_alone (state, path, "SELECT count (*) AS n FROM run", "n\n2\n");
  store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  fab_store_exec (store, "UPDATE run SET name = 'other' WHERE run_id = 2", "try", NULL);
  assert_true (fab_store_close (&store, NULL));
  assert_alone (state, path, "SELECT name FROM run WHERE run_id = 2", "name\nother\n");
  assert_true (size_of (state, "a.db-wal") >= 0); /* the reader has it still */
  sqlite3_close (reader);
}

/* What is not committed is not there, and closing is no error then. The log is emptied when a run is given up, and a
 * store waits for others as it did before. */
static void
a_run_that_is_given_up_leaves_nothing (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *listing = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, NULL);
  g_autoptr (GError) error = NULL;

  assert_true (add_run (store, 100, NULL));
  assert_true (size_of (state, "a.db-wal") > 10000);
  fab_store_set_patience (store, 1234);
  assert_true (add_head (store, NULL, NULL));
  fab_store_abandon_run (store);
  assert_int_equal (size_of (state, "a.db-wal"), 0);
  assert_int_equal (number_of (store, "PRAGMA busy_timeout"), 1234);
  fab_store_abandon_run (store); /* there is none */
  assert_int_equal (number_of (store, "PRAGMA busy_timeout"), 1234);
  assert_true (add_head (store, NULL, NULL) && add_iteration (store, 0, 100, NULL));
  assert_true (fab_store_close (&store, &error));
  assert_null (error);
  listing = list_directory (state);
  assert_string_equal (listing, "a.db");
  assert_answer (path, "SELECT run_id, (SELECT count (*) FROM span) AS n FROM run", "run_id,n\n1,200\n");
}

/* SQLite takes no changes of a file whose header has a write version above 2, byte 18. */
static void
a_file_of_a_later_sqlite_is_refused_for_writing (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) error = NULL;
  int file;

  assert_true (write_run (path, 2, NULL));
  file = open (path, O_WRONLY);
  assert_int_equal (pwrite (file, "\3", 1, 18), 1);
  close (file);
  assert_null (fab_store_open (path, FAB_STORE_WRITE, &error));
  assert_says (error, "a.db: cannot write: the file is read-only; choose another file");
  assert_answer (path, "SELECT count (*) AS n FROM run", "n\n1\n");
}

/* What a store is read for cannot be written: neither a file of this version, nor the copy of an older one, nor one
 * that was left in the mode of its log. */
static void
what_is_read_cannot_be_written (void **state)
{
  static const struct {
    gsize at;
    const char *bytes; /* NULL: as it was written */
  } rows[] = { { 0, NULL }, { 60 + 3, "\1" }, { 18, "\2\2" } };
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 2, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *before = NULL, *after = NULL;
    gsize size, size_after;

    before = read_all (path, &size);
    if (rows[i].bytes != NULL) {
      memcpy (before + rows[i].at, rows[i].bytes, strlen (rows[i].bytes));
      write_all (path, before, size);
    }
    g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
    g_autoptr (GError) error = NULL;
    assert_false (fab_store_exec (store, "DELETE FROM span", "drop spans", &error));
    assert_says (error, "a.db: cannot drop spans: it is read-only; make it and its directory writable");
    assert_int_equal (number_of (store, "PRAGMA user_version"), fab_store_schema_version ());
    assert_int_equal (number_of (store, "SELECT count (*) FROM span"), 4);
    fab_store_free (g_steal_pointer (&store));
    after = read_all (path, &size_after);
    assert_int_equal (size_after, size);
    assert_memory_equal (after, before, size);
  }
}

/* A name that the schema gives to a table is not another thing in a file that is ours, and our views have our text. A
 * file without a version is not whole. Files of an older version get our views when they are migrated, so that theirs
 * may differ. */
static void
a_schema_that_is_not_ours_is_refused (void **state)
{
  static const struct {
    const char *sql, *says; /* NULL: it is opened */
  } rows[] = {
    { "ALTER TABLE span RENAME TO other; CREATE VIEW span AS SELECT 1",
      "a.db: has a view in place of its table span; Fabricast did not write it, choose another file" },
    { "DROP VIEW v_step; CREATE VIEW v_step AS SELECT 1",
      "a.db: its view v_step is not that of Fabricast; remove it (DROP VIEW) or choose another file" },
    { "DROP VIEW v_step; CREATE VIEW v_step AS SELECT 1; PRAGMA user_version = 10", NULL },
    { "CREATE VIEW v_mine AS SELECT 1", NULL },
    { "PRAGMA user_version = 0", "a.db: has no schema version; it is damaged, choose another file" },
    { "PRAGMA user_version = -1", "a.db: has no schema version; it is damaged, choose another file" },
    { "PRAGMA application_id = 7", "a.db: is a database of another program; choose another file" },
  };

  g_autofree char *path = file_in (state, "a.db"), *ours = NULL;
  gsize size;

  assert_true (write_run (path, 2, NULL));
  ours = read_all (path, &size);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    sqlite3 *db;

    write_all (path, ours, size);
    db = open_plainly (path);
    execute (db, "PRAGMA legacy_alter_table = 1");
    execute (db, rows[i / 2].sql);
    sqlite3_close (db);
    g_autoptr (FabStore) store = fab_store_open (path, i % 2 == 0 ? FAB_STORE_READ : FAB_STORE_WRITE, &error);
    assert_int_equal (store == NULL, rows[i / 2].says != NULL);
    if (store == NULL)
      assert_says (error, rows[i / 2].says);
  }
}

/* An empty database of another program is taken for a new file only where nothing says whose it is. */
static void
an_empty_database_is_ours_if_nobody_says_whose (void **state)
{
  static const struct {
    const char *sql;
    gboolean is_taken;
  } rows[] = { { "VACUUM", TRUE },
               { "PRAGMA application_id = 7", FALSE },
               { "PRAGMA user_version = 1", FALSE },
               { "CREATE TABLE t (x)", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = file_in (state, "a.db");
    g_autoptr (GError) error = NULL;
    sqlite3 *db = open_plainly (path);

    execute (db, rows[i].sql);
    sqlite3_close (db);
    assert_int_equal (write_run (path, 2, &error), rows[i].is_taken);
    if (!rows[i].is_taken)
      assert_says (error, "a.db: is a database of another program; choose another file");
    g_remove (path);
  }
}

/* A stream is no database, and results in memory need no file. */
static void
memory_is_a_place_and_a_stream_is_none (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;

  assert_null (fab_store_open ("-", FAB_STORE_WRITE, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_says (error, "name a file instead of -");
  assert_int_equal (number_of (store, "PRAGMA busy_timeout"), 300000);
  assert_true (add_run (store, 2, NULL) && add_run (store, 2, NULL));
  assert_int_equal (number_of (store, "SELECT count (*) FROM run"), 2);
  g_clear_error (&error);
  assert_null (fab_store_query (store, "SELECT :run", 9, &error));
  assert_says (error, "no run 9 in results in memory; the last one is 2");
}

/* --- rows --- */

/* Statements take 64 rows or one: whatever the number of rows, each is stored once, with the number that it has in its
 * run. The place of the one that cannot be stored is told. */
static void
any_number_of_rows_is_stored (void **state)
{
  static const guint numbers[] = { 0, 1, 63, 64, 65, 127, 128, 129 };
  g_autoptr (FabStore) store = fab_store_new (NULL);

  assert_non_null (*state);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    guint n = numbers[i];
    g_autofree FabSpanRecord *spans = g_new0 (FabSpanRecord, n + 1);
    g_autofree char *sql = g_strdup_printf (
        "SELECT count (*) FROM span WHERE run_id = %u AND span BETWEEN 0 AND %d AND start_ps = 3 * span",
        i + 1, (gint) n - 1);

    for (guint k = 0; k < n; k++)
      spans[k] = (FabSpanRecord){
        .stream = "compute", .name = "x", .start_ps = 3 * k, .end_ps = 3 * k, .collective = -1
      };
    assert_true (add_head (store, NULL, NULL) && fab_store_add_spans (store, spans, n, NULL)
                 && fab_store_commit_run (store, NULL));
    assert_int_equal (number_of (store, sql), n);
  }
  for (guint bad = 0; bad < 130; bad += 43) {
    FabSpanRecord spans[130];
    g_autoptr (GError) error = NULL;
    g_autofree char *says = g_strdup_printf ("cannot store spans (from row %u of 130): ",
                                             bad < 128 ? bad / 64 * 64 + 1 : bad + 1);

    for (guint k = 0; k < G_N_ELEMENTS (spans); k++)
      spans[k] = (FabSpanRecord){
        .stream = "compute", .name = "x", .end_ps = k == bad ? -1 : 0, .collective = -1
      };
    assert_true (add_head (store, NULL, NULL));
    assert_false (fab_store_add_spans (store, spans, G_N_ELEMENTS (spans), &error));
    assert_says (error, says);
  }
  assert_int_equal (number_of (store, "SELECT count (*) FROM run"), G_N_ELEMENTS (numbers));
}

/* Descriptors that the process has open; 0: nobody can say. */
static guint
count_open_files (void)
{
  g_autoptr (GDir) directory = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (directory != NULL && g_dir_read_name (directory) != NULL)
    n++;
  return n;
}

/* A store that is closed has no file open, although it has stored many rows at once. */
static void
closing_leaves_no_file_open (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  guint n_before = count_open_files ();

  assert_true (write_run (path, 200, NULL));
  assert_int_equal (count_open_files (), n_before);
}

/* A run whose own row is refused does not begin, and the next one does. What failures leave of it is one row. */
static void
a_run_begins_with_its_row (G_GNUC_UNUSED void **state)
{
  const FabRunRecord unnamed = { NULL, "", "0", "fluid", 0, 1, 1, 0, 0, 0 };
  const FabGoodputRecord rows[] = { { .failures = "each", .ettr_fraction = 0.9, .calendar_s = 5 },
                                    { .failures = NULL } };
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;
  gint64 run_id = 7;

  assert_false (fab_store_begin_run (store, &unnamed, &run_id, &error));
  assert_says (error, "results in memory: cannot store the run (from row 1 of 1): ");
  assert_int_equal (run_id, 7);
  assert_true (add_head (store, &run_id, NULL) && fab_store_add_goodput (store, rows, NULL)
               && fab_store_commit_run (store, NULL));
  assert_int_equal (run_id, 1);
  assert_int_equal (number_of (store, "SELECT count (*) FROM goodput WHERE run_id = 1 AND failures = 'each'"),
                    1);
}

/* What comes later to a run: findings replace those that it has where there are any, and stay otherwise. Another run is
 * not touched, and when something is refused nothing of it is kept and the store goes on. */
static void
findings_are_replaced_in_one_run (G_GNUC_UNUSED void **state)
{
  const FabFindingRecord findings[] = { { "a", "notes", "A.", NULL },
                                        { "b", "notes", "B.", "Do." },
                                        { "c", "notes", "C.", NULL } };
  const FabBandRecord band = { 0, "step", 0.5, 2, 0.9, NULL }, other = { 1, "step", 0.5, 2, 0.9, NULL };
  FabFindingRecord bad[] = { findings[0], { NULL, "notes", "No code.", NULL } };
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;

  assert_true (add_run (store, 2, NULL) && add_run (store, 2, NULL));
  assert_true (fab_store_add_outlook (store, 1, &(FabOutlookRecords){ .bands = &band, .n_bands = 1 }, NULL));
  assert_int_equal (number_of (store, "SELECT count (*) FROM finding WHERE run_id = 1"), 2);
  assert_true (
      fab_store_add_outlook (store, 1, &(FabOutlookRecords){ .findings = findings, .n_findings = 3 }, NULL));
  assert_int_equal (number_of (store, "SELECT count (*) FROM finding WHERE run_id = 1"), 3);
  assert_int_equal (number_of (store, "SELECT count (*) FROM finding WHERE run_id = 2"), 2);
  assert_int_equal (number_of (store, "SELECT sum (place) FROM finding WHERE run_id = 1"), 0 + 1 + 2);
  assert_false (fab_store_add_outlook (
      store, 2, &(FabOutlookRecords){ .bands = &other, .findings = bad, .n_bands = 1, .n_findings = 2 },
      &error));
  assert_says (error, "nothing of this run was kept");
  assert_int_equal (number_of (store, "SELECT count (*) FROM finding WHERE run_id = 2"), 2);
  assert_int_equal (number_of (store, "SELECT count (*) FROM band"), 1);
  assert_true (
      fab_store_add_outlook (store, 2, &(FabOutlookRecords){ .findings = findings, .n_findings = 1 }, NULL));
  assert_int_equal (number_of (store, "SELECT count (*) FROM finding WHERE run_id = 2"), 1);
}

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (a_new_file_has_its_tables_at_once),
    store_test (closing_copies_what_a_reader_held_back),
    store_test (a_run_that_is_given_up_leaves_nothing),
    store_test (a_file_of_a_later_sqlite_is_refused_for_writing),
    store_test (what_is_read_cannot_be_written),
    store_test (a_schema_that_is_not_ours_is_refused),
    store_test (an_empty_database_is_ours_if_nobody_says_whose),
    store_test (memory_is_a_place_and_a_stream_is_none),
    store_test (any_number_of_rows_is_stored),
    store_test (findings_are_replaced_in_one_run),
    store_test (closing_leaves_no_file_open),
    store_test (a_run_begins_with_its_row),
  };

  return cmocka_run_group_tests_name ("store_ends", tests, NULL, NULL);
}
