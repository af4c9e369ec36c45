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

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (rows_come_in_order_with_their_kinds),
    store_test (a_reader_can_stop),
    store_test (a_reader_can_ask_again),
    store_test (only_reading_of_a_run_that_is_there),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
