/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_rows.c - an answer that is handed over row by row. */
#include "tests/unit/sim/result/store_support.h"

typedef struct {
  FabStore *store;
  GString *seen;
  guint stop_after; /* rows; 0: never */
  guint n_rows;
} Reader;

static gboolean
take (const FabField *fields, gpointer data, GError **error)
{
  Reader *reader = data;

  g_string_append_printf (reader->seen, "%" G_GINT64_FORMAT " %s %g %s;", fields[0].integer, fields[1].text,
                          fields[2].real, fields[3].kind == FAB_CELL_NULL ? "null" : "there");
  if (++reader->n_rows == reader->stop_after)
    return fab_throw (error, FAB_ERROR_INPUT, "enough");
  return TRUE;
}

static const char sql[] = "SELECT collective, name, busbw_bytes_per_s / 1e9, binding_link FROM collective"
                          " WHERE run_id = :run AND iteration = 0 ORDER BY collective";

static void
rows_come_in_order_with_their_kinds (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;
  Reader reader = { .seen = g_string_new (NULL) };

  assert_true (write_run (path, 2, NULL));
  store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_true (fab_store_each (store, sql, 0, take, &reader, NULL));
  assert_string_equal (reader.seen->str, "0 bucket0 7.5 there;1 bucket1 7.5 null;");
  g_string_free (reader.seen, TRUE);
}

static void
a_reader_can_stop (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;
  g_autoptr (GError) error = NULL;
  Reader reader = { .seen = g_string_new (NULL), .stop_after = 1 };

  assert_true (write_run (path, 2, NULL));
  store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_false (fab_store_each (store, sql, 0, take, &reader, &error));
  assert_string_equal (error->message, "enough");
  assert_int_equal (reader.n_rows, 1);
  g_string_free (reader.seen, TRUE);
}

static gboolean
ask_again (G_GNUC_UNUSED const FabField *fields, gpointer data, GError **error)
{
  Reader *reader = data;

  return fab_store_each (reader->store, sql, 0, take, reader, error);
}

static void
a_reader_can_ask_again (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;
  Reader reader = { .seen = g_string_new (NULL) };

  assert_true (write_run (path, 2, NULL));
  reader.store = store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_true (
      fab_store_each (store, "SELECT link FROM link WHERE run_id = :run", 0, ask_again, &reader, NULL));
  assert_int_equal (reader.n_rows, 3 * 2);
  g_string_free (reader.seen, TRUE);
}

static void
only_reading_of_a_run_that_is_there (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) store = NULL;
  g_autoptr (GError) writing = NULL, missing = NULL;
  Reader reader = { .seen = NULL };
  gint64 found = 0;

  assert_true (write_run (path, 2, NULL));
  store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_false (fab_store_each (store, "DELETE FROM span", 0, take, &reader, &writing));
  assert_non_null (strstr (writing->message, "only reading"));
  assert_false (fab_store_each (store, sql, 5, take, &reader, &missing));
  assert_non_null (strstr (missing->message, "no run 5"));
  assert_true (fab_store_find_run (store, 0, &found, NULL));
  assert_int_equal (found, 1);
  assert_int_equal (reader.n_rows, 0);
}

/* Parameters have their values wherever they stand, and as often. A file without a run has none for :run. */
static void
parameters_are_the_run_and_the_sweep (void **state)
{
  static const struct {
    const char *sql, *answer;
    gint64 run_id;
  } rows[] = {
    { "SELECT :run AS r, :sweep AS s", "r,s\n2,1\n", 0 },
    { "SELECT :sweep AS s, :run AS r", "s,r\n1,1\n", 1 },
    { "SELECT :sweep + :sweep AS s", "s\n2\n", 1 },
    { "SELECT 7 AS x", "x\n7\n", 2 },
  };
  g_autofree char *path = file_in (state, "a.db"), *sweeps = file_in (state, "b.db");
  g_autoptr (GError) error = NULL, missing = NULL, named = NULL;

  assert_true (write_run (path, 2, NULL) && write_run (path, 2, NULL) && write_sweep (path, NULL)
               && write_sweep (sweeps, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *answer = ask_file (path, rows[i].sql, rows[i].run_id);

    assert_string_equal (answer, rows[i].answer);
  }
  g_autoptr (FabStore) store = fab_store_open (sweeps, FAB_STORE_READ, NULL);
  g_autofree char *seven = ask_store (store, "SELECT 7 AS x", 0);
  assert_string_equal (seven, "x\n7\n");
  assert_null (fab_store_query (store, "SELECT :sweep, :run", 0, &error));
  assert_says (error, "no run in ");
  assert_null (fab_store_query (store, "SELECT 7", 3, &missing));
  assert_says (missing, "no run in ");
  fab_store_choose_sweep (store, 4);
  assert_null (fab_store_query (store, "SELECT 7", 0, &named));
  assert_says (named, "b.db; the last one is 1, and `fabricast query sweeps` lists them");
}

/* What goes wrong while rows are read is told as well, in either way to ask. */
static void
rows_may_fail_on_the_way (void **state)
{
  static const char fails[] = "SELECT 1, 'a', 2, abs (-9223372036854775807 - 1)";
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) table_error = NULL, row_error = NULL;
  Reader reader = { .seen = g_string_new (NULL) };

  assert_true (write_run (path, 2, NULL));
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_null (fab_store_query (store, fails, 0, &table_error));
  assert_says (table_error, "the query is wrong: integer overflow; docs/reference/results-schema.md lists");
  assert_false (fab_store_each (store, fails, 0, take, &reader, &row_error));
  assert_string_equal (row_error->message, table_error->message);
  assert_int_equal (reader.n_rows, 0);
  g_string_free (reader.seen, TRUE);
}

/* A value has at most 64 MiB; blobs are texts, also empty ones. */
static void
values_have_a_limit (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) error = NULL;
  Reader reader = { .seen = g_string_new (NULL) };

  assert_true (write_run (path, 2, NULL));
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  g_autofree char *fits = ask_store (store, "SELECT length (zeroblob (67108000)) AS n", 0);
  assert_string_equal (fits, "n\n67108000\n");
  assert_null (fab_store_query (store, "SELECT length (zeroblob (67109000)) AS n", 0, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_says (error, "the query makes a value that is too large; the limit is 64 MiB");
  assert_true (fab_store_each (store, "SELECT 3, x'', 2, 0", 0, take, &reader, NULL));
  assert_true (fab_store_each (store, "SELECT 4, x'6162', 2.5, NULL", 0, take, &reader, NULL));
  assert_string_equal (reader.seen->str, "3  2 there;4 ab 2.5 null;");
  g_string_free (reader.seen, TRUE);
}

static void
what_a_file_has_can_be_asked (void **state)
{
  static const struct {
    const char *table, *column;
    gboolean has;
  } rows[] = { { "run", NULL, TRUE },     { "runs", NULL, FALSE },      { "v_step", NULL, TRUE },
               { "run", "seed", TRUE },   { "run", "seeds", FALSE },    { "runs", "seed", FALSE },
               { "span", "seed", FALSE }, { "v_step", "mfu_pct", TRUE } };
  g_autofree char *path = file_in (state, "a.db");

  assert_true (write_run (path, 2, NULL));
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gboolean has = !rows[i].has;

    assert_true (fab_store_has (store, rows[i].table, rows[i].column, &has, NULL));
    assert_int_equal (has, rows[i].has);
  }
}

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (rows_come_in_order_with_their_kinds),
    store_test (a_reader_can_stop),
    store_test (a_reader_can_ask_again),
    store_test (only_reading_of_a_run_that_is_there),
    store_test (parameters_are_the_run_and_the_sweep),
    store_test (rows_may_fail_on_the_way),
    store_test (values_have_a_limit),
    store_test (what_a_file_has_can_be_asked),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
