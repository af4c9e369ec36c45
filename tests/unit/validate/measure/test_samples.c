/* SPDX-License-Identifier: Apache-2.0 */
/* test_samples.c - the measurements file: what goes in comes out, what is not ours is refused untouched. */
#include "validate/measure/samples.h"

#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/result/store.h"
#include "tests/support/test.h"

static int
make_directory (void **state)
{
  *state = g_dir_make_tmp ("fab-samples-XXXXXX", NULL);
  return *state ? 0 : -1;
}

static int
remove_directory (void **state)
{
  GDir *directory = g_dir_open (*state, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL) {
    g_autofree char *path = g_build_filename (*state, name, NULL);

    g_unlink (path);
  }
  g_dir_close (directory);
  g_rmdir (*state);
  g_free (*state);
  return 0;
}

static char *
file_in (void **state, const char *name)
{
  return g_build_filename (*state, name, NULL);
}

static FabSamples *
open_good (const char *path, FabSamplesMode mode)
{
  g_autoptr (GError) error = NULL;
  FabSamples *self = fab_samples_open (path, mode, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static FabSeries
some_series (FabMeasureKind kind)
{
  return (FabSeries){ .kind = kind,
                      .backend = (char *) "tcp",
                      .from = (char *) "a;b=c",
                      .to = (char *) "h\"b\n\\",
                      .method = (char *) "sockets",
                      .note = (char *) "",
                      .n_ranks = 2,
                      .window = 64 };
}

static void
test_series_round_trip (void **state)
{
  g_autofree char *path = file_in (state, "a.meas");
  const FabSeries latency = some_series (FAB_MEASURE_LATENCY),
                  bandwidth = some_series (FAB_MEASURE_BANDWIDTH);
  const FabMeasuredPoint point = { 8, 1500, 1400, 1600, 1000, 1100, 1900, 2000, 3, 1, TRUE };
  gint64 id, other, again;
  FabSamples *self = open_good (path, FAB_SAMPLES_WRITE);

  assert_true (fab_samples_begin_series (self, &latency, &id, NULL));
  assert_true (fab_samples_begin_series (self, &bandwidth, &other, NULL));
  assert_true (fab_samples_begin_series (self, &latency, &again, NULL));
  assert_true (id == again && id != other);
  for (FabTimePs time_ps = 1000; time_ps <= 2000; time_ps += 500)
    assert_true (fab_samples_keep (self, id, 8, time_ps, NULL));
  assert_true (fab_samples_keep (self, id, 9, 1, NULL));
  assert_true (fab_samples_end_point (self, id, &point, NULL));
  assert_true (fab_samples_set_machine (self, "cpu", "old", NULL));
  assert_true (fab_samples_set_machine (self, "cpu", "new", NULL));
  assert_true (fab_samples_add_note (self, "once", NULL) && fab_samples_add_note (self, "once", NULL));
  fab_samples_free (self);

  self = open_good (path, FAB_SAMPLES_READ);
  g_autoptr (GPtrArray) all = fab_samples_load (self, NULL);
  g_auto (GStrv) machine = fab_samples_machine (self, NULL), notes = fab_samples_notes (self, NULL);
  g_autoptr (GArray) times = fab_samples_of_point (self, id, 8, NULL);
  const FabMeasuredSeries *series = g_ptr_array_index (all, 0);

  assert_int_equal (all->len, 1); /* bandwidth has no points */
  g_autofree char *key = fab_series_key (&series->series), *wanted = fab_series_key (&latency);
  assert_string_equal (key, wanted);
  assert_string_equal (series->series.to, latency.to);
  assert_string_equal (series->series.note, "");
  assert_null (series->series.system);
  assert_int_equal (series->points->len, 1);
  assert_memory_equal (series->points->data, &point, G_STRUCT_OFFSET (FabMeasuredPoint, is_complete));
  assert_true (g_array_index (series->points, FabMeasuredPoint, 0).is_complete);
  assert_int_equal (times->len, 3);
  assert_int_equal (g_array_index (times, FabTimePs, 2), 2000);
  assert_string_equal (machine[1], "new");
  assert_int_equal (g_strv_length (notes), 1);
  fab_samples_free (self);
}

static void
test_found_or_not (void **state)
{
  g_autofree char *path = file_in (state, "a.meas");
  const FabSeries latency = some_series (FAB_MEASURE_LATENCY);
  const FabMeasuredPoint before = { .size_bytes = 8, .time_ps = 5 },
                         after = { .size_bytes = 8, .time_ps = 6 };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSamples) self = open_good (path, FAB_SAMPLES_WRITE);
  FabMeasuredPoint point;
  gint64 id;

  assert_true (fab_samples_begin_series (self, &latency, &id, NULL));
  assert_false (fab_samples_find_point (self, id, 8, &point, &error));
  assert_null (error);
  assert_true (fab_samples_end_point (self, id, &before, NULL)
               && fab_samples_end_point (self, id, &after, NULL));
  assert_true (fab_samples_find_point (self, id, 8, &point, NULL));
  assert_int_equal (point.time_ps, 6);
}

static void
test_put_replaces (void **state)
{
  g_autofree char *path = file_in (state, "a.meas");
  const FabSeries latency = some_series (FAB_MEASURE_LATENCY);
  FabMeasuredSeries *series = fab_measured_series_new (&latency);
  g_autoptr (FabSamples) self = open_good (path, FAB_SAMPLES_WRITE);

  for (guint n = 3; n > 0; n--) {
    g_array_set_size (series->points, n);
    for (guint i = 0; i < n; i++)
      g_array_index (series->points, FabMeasuredPoint, i) = (FabMeasuredPoint){ .size_bytes = 8 << i,
                                                                                .time_ps = n };
    assert_true (fab_samples_put (self, series, NULL));
  }
  fab_measured_series_free (series);
  g_autoptr (GPtrArray) all = fab_samples_load (self, NULL);
  series = g_ptr_array_index (all, 0);
  assert_int_equal (all->len, 1);
  assert_int_equal (series->points->len, 1);
  assert_int_equal (g_array_index (series->points, FabMeasuredPoint, 0).time_ps, 1);
}

/* --- what is not ours --- */

static void
assert_refused (const char *path, FabSamplesMode mode, const char *says)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_samples_open (path, mode, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_IO));
  if (strstr (error->message, says) == NULL)
    fail_msg ("'%s' does not say '%s'", error->message, says);
}

static void
assert_refused_untouched (const char *path, const char *says)
{
  g_autofree char *before = NULL, *after = NULL;
  gsize n_before, n_after;

  assert_true (g_file_get_contents (path, &before, &n_before, NULL));
  assert_refused (path, FAB_SAMPLES_READ, says);
  assert_refused (path, FAB_SAMPLES_WRITE, says);
  assert_true (g_file_get_contents (path, &after, &n_after, NULL));
  assert_int_equal (n_before, n_after);
  assert_memory_equal (before, after, n_before);
}

static void
test_other_files_are_refused (void **state)
{
  g_autofree char *text = file_in (state, "text"), *results = file_in (state, "a.db");
  g_autofree char *missing = file_in (state, "none"), *deep = file_in (state, "no/such/file");
  g_autofree char *empty = file_in (state, "empty");
  FabStore *store = fab_store_open (results, FAB_STORE_WRITE, NULL);

  fab_store_free (store);
  assert_true (
      g_file_set_contents (text, "size,time\n8,1.2\nand so on, longer than a header of SQLite\n", -1, NULL));
  assert_true (g_file_set_contents (empty, "", 0, NULL));
  assert_refused_untouched (text, "no measurements file");
  assert_refused_untouched (results, "not of measurements");
  assert_refused (missing, FAB_SAMPLES_READ, "no such file");
  assert_false (g_file_test (missing, G_FILE_TEST_EXISTS));
  assert_refused (deep, FAB_SAMPLES_WRITE, "directory exists");
  assert_refused (empty, FAB_SAMPLES_READ, "empty");
  assert_refused (*state, FAB_SAMPLES_WRITE, "not a regular file");
  assert_refused ("", FAB_SAMPLES_WRITE, "no name");
}

static void
test_newer_schema_is_refused (void **state)
{
  g_autofree char *path = file_in (state, "a.meas"), *bytes = NULL;
  gsize size;

  fab_samples_free (open_good (path, FAB_SAMPLES_WRITE));
  assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  int known = bytes[63]++; /* user_version, big endian, at byte 60 */
  g_autofree char *message = g_strdup_printf ("another Fabricast (schema %d, this one knows %d)", known + 1,
                                              known);
  assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  assert_refused_untouched (path, message);
}

static void
test_damage_is_an_error (void **state)
{
  g_autofree char *path = file_in (state, "a.meas"), *bytes = NULL;
  const FabSeries latency = some_series (FAB_MEASURE_LATENCY);
  g_autoptr (GError) error = NULL;
  gsize size;
  gint64 id;
  FabSamples *self = open_good (path, FAB_SAMPLES_WRITE);

  assert_true (fab_samples_begin_series (self, &latency, &id, NULL));
  for (guint i = 0; i < 50; i++)
    assert_true (
        fab_samples_end_point (self, id, &(FabMeasuredPoint){ .size_bytes = 8 + i, .time_ps = 1 }, NULL));
  fab_samples_free (self);
  assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  memset (bytes + 4096, 0xff, size - 4096); /* all pages but that of the tables' names */
  assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  self = open_good (path, FAB_SAMPLES_READ);
  assert_null (fab_samples_load (self, &error));
  assert_non_null (strstr (error->message, "damaged"));
  fab_samples_free (self);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_series_round_trip, make_directory, remove_directory),
    cmocka_unit_test_setup_teardown (test_found_or_not, make_directory, remove_directory),
    cmocka_unit_test_setup_teardown (test_put_replaces, make_directory, remove_directory),
    cmocka_unit_test_setup_teardown (test_other_files_are_refused, make_directory, remove_directory),
    cmocka_unit_test_setup_teardown (test_newer_schema_is_refused, make_directory, remove_directory),
    cmocka_unit_test_setup_teardown (test_damage_is_an_error, make_directory, remove_directory),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
