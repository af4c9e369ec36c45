/* SPDX-License-Identifier: Apache-2.0 */
/* test_samples_files.c - files of measurements beside other processes, of an older schema, and that are damaged; every
 * member of series and points. Nobody waits for a lock for longer than it takes to see that it is held. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/measure/samples.h"

static int patience_ms; /* the one asked for last */

typedef int (*BusyTimeout) (sqlite3 *, int);

int
sqlite3_busy_timeout (sqlite3 *db, int ms)
{
  patience_ms = ms;
  return ((BusyTimeout) dlsym (RTLD_NEXT, "sqlite3_busy_timeout")) (db, MIN (ms, 1));
}

static int asked; /* of `access` */
static gboolean may_not;

int
access (const char *path, int how)
{
  asked = how;
  if (!may_not || how == F_OK)
    return faccessat (AT_FDCWD, path, how, 0);
  errno = EACCES;
  return -1;
}

/* --- files --- */

static int
make_directory (void **state)
{
  *state = g_dir_make_tmp ("fab-samples-XXXXXX", NULL);
  return *state != NULL && chdir (*state) == 0 ? 0 : -1;
}

static int
remove_directory (void **state)
{
  GDir *directory = g_dir_open (*state, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL)
    g_unlink (name);
  g_dir_close (directory);
  assert_int_equal (chdir ("/"), 0);
  g_rmdir (*state);
  g_free (*state);
  return 0;
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

static sqlite3 *
open_beside (const char *path)
{
  sqlite3 *db = NULL;

  assert_int_equal (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
  return db;
}

static void
execute (sqlite3 *db, const char *sql)
{
  char *message = NULL;

  if (sqlite3_exec (db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg ("%s: %s", sql, message);
}

/* Does this to a file that nobody has open. */
static void
change (const char *path, const char *sql)
{
  sqlite3 *db = open_beside (path);

  execute (db, sql);
  sqlite3_close (db);
}

static void
assert_says (GError **error, const char *words)
{
  assert_non_null (*error);
  assert_true (g_error_matches (*error, FAB_ERROR, FAB_ERROR_IO));
  if (strstr ((*error)->message, words) == NULL)
    fail_msg ("'%s' does not say '%s'", (*error)->message, words);
  g_clear_error (error);
}

static void
assert_refused (const char *path, FabSamplesMode mode, const char *words)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_samples_open (path, mode, &error));
  assert_says (&error, words);
}

/* Every text and every number is another; a NULL text now and then. */
static FabSeries
series_of (FabMeasureKind kind, guint seed, GStringChunk *texts)
{
  FabSeries series = { .kind = kind };

  for (guint i = 0; fab_series_texts[i].name != NULL; i++) {
    g_autofree char *text = g_strdup_printf ("%s of %u", fab_series_texts[i].name, seed);

    if (seed == 0 || (i + seed) % 3 != 0)
      G_STRUCT_MEMBER (char *, &series, fab_series_texts[i].offset) = g_string_chunk_insert (texts, text);
  }
  for (guint i = 0; fab_series_counts[i].name != NULL; i++)
    G_STRUCT_MEMBER (guint, &series, fab_series_counts[i].offset) = 10 * seed + i;
  return series;
}

static FabMeasuredPoint
point_of (guint seed)
{
  FabTimePs t = 1000 * (FabTimePs) seed;

  return (FabMeasuredPoint){ 64 * (seed + 1), t + 1, t + 2, t + 3,    t + 4,   t + 5,
                             t + 6,           t + 7, seed,  seed + 9, seed % 2 };
}

static void
assert_point (const FabMeasuredPoint *point, guint seed)
{
  const FabMeasuredPoint right = point_of (seed);

  assert_memory_equal (point, &right, G_STRUCT_OFFSET (FabMeasuredPoint, is_complete));
  assert_int_equal (point->is_complete, right.is_complete);
}

/* --- what is kept --- */

static void
every_member_is_kept (G_GNUC_UNUSED void **state)
{
  GStringChunk *texts = g_string_chunk_new (4096);
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  gint64 ids[FAB_N_MEASURE_KINDS];

  assert_int_equal (patience_ms, 10000);
  for (guint k = 0; k < FAB_N_MEASURE_KINDS; k++) {
    const FabSeries series = series_of (k, k, texts);
    FabMeasuredPoint point = { 0 };

    assert_true (fab_samples_begin_series (self, &series, &ids[k], NULL));
    for (guint i = 3; i-- > 0;) { /* the largest first */
      const FabMeasuredPoint one = point_of (10 * k + i);

      assert_true (fab_samples_end_point (self, ids[k], &one, NULL));
    }
    assert_true (fab_samples_find_point (self, ids[k], 64 * (10 * k + 2), &point, NULL));
    assert_point (&point, 10 * k + 1);
    for (guint i = 0; i < 5; i++)
      assert_true (fab_samples_keep (self, ids[k], 8 + i % 2, 100 * k + 9 - i, NULL));
  }
  for (guint i = 0; i < 3; i++) {
    assert_true (fab_samples_set_machine (self, (const char *[]){ "b", "a", "b" }[i],
                                          (const char *[]){ "1", "2", "3" }[i], NULL));
    assert_true (fab_samples_add_note (self, (const char *[]){ "z", "a", "z" }[i], NULL));
  }
  fab_samples_free (self);
  self = open_good ("a.meas", FAB_SAMPLES_READ);
  g_autoptr (GPtrArray) all = fab_samples_load (self, NULL);
  g_auto (GStrv) machine = fab_samples_machine (self, NULL), notes = fab_samples_notes (self, NULL);
  g_autofree char *facts = g_strjoinv (" ", machine), *said = g_strjoinv (" ", notes);
  assert_string_equal (facts, "a 2 b 3");
  assert_string_equal (said, "z a");
  assert_int_equal (all->len, FAB_N_MEASURE_KINDS);
  for (guint k = 0; k < all->len; k++) {
    const FabMeasuredSeries *found = g_ptr_array_index (all, k);
    const FabSeries right = series_of (k, k, texts);
    g_autoptr (GArray) times_ps = fab_samples_of_point (self, ids[k], 8, NULL);

    assert_int_equal (found->series.kind, k);
    for (const FabSeriesField *field = fab_series_texts; field->name; field++)
      if (g_strcmp0 (G_STRUCT_MEMBER (char *, &found->series, field->offset),
                     G_STRUCT_MEMBER (char *, &right, field->offset))
          != 0)
        fail_msg ("%s of %u: %s", field->name, k, G_STRUCT_MEMBER (char *, &found->series, field->offset));
    for (const FabSeriesField *field = fab_series_counts; field->name; field++)
      assert_int_equal (G_STRUCT_MEMBER (guint, &found->series, field->offset),
                        G_STRUCT_MEMBER (guint, &right, field->offset));
    assert_int_equal (found->points->len, 3);
    for (guint i = 0; i < 3; i++)
      assert_point (&g_array_index (found->points, FabMeasuredPoint, i), 10 * k + i);
    assert_int_equal (times_ps->len, 3); /* in the order they were taken */
    for (guint i = 0; i < 3; i++)
      assert_int_equal (g_array_index (times_ps, FabTimePs, i), 100 * k + 9 - 2 * i);
  }
  fab_samples_free (self);
  g_string_chunk_free (texts);
}

/* One that is put stands for all that was there of it: points, and the samples that they were made of. */
static void
what_is_put_replaces_samples_too (G_GNUC_UNUSED void **state)
{
  const FabSeries head = { .kind = FAB_MEASURE_LATENCY, .backend = (char *) "tcp" },
                  other = { .kind = FAB_MEASURE_BANDWIDTH, .backend = (char *) "tcp" };
  FabMeasuredSeries *series = fab_measured_series_new (&head);
  const FabMeasuredPoint point = { .size_bytes = 8, .time_ps = 5 },
                         later = { .size_bytes = 16, .time_ps = 6 };
  g_autoptr (FabSamples) self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  gint64 id, other_id, next;
  FabMeasuredPoint found;

  assert_true (fab_samples_begin_series (self, &head, &id, NULL));
  assert_true (fab_samples_begin_series (self, &other, &other_id, NULL));
  assert_true (fab_samples_keep (self, id, 8, 5, NULL) && fab_samples_end_point (self, id, &point, NULL));
  assert_true (fab_samples_keep (self, other_id, 8, 5, NULL)
               && fab_samples_end_point (self, other_id, &point, NULL));
  g_array_append_val (series->points, later);
  assert_true (fab_samples_put (self, series, NULL));
  fab_measured_series_free (series);
  assert_false (fab_samples_find_point (self, id, 8, &found, NULL));
  assert_true (fab_samples_find_point (self, other_id, 8, &found, NULL));
  g_autoptr (GArray) gone = fab_samples_of_point (self, id, 8, NULL),
                     kept = fab_samples_of_point (self, other_id, 8, NULL);
  assert_int_equal (gone->len, 0);
  assert_int_equal (kept->len, 1);
  assert_true (fab_samples_begin_series (self, &head, &next, NULL));
  assert_true (next != id && fab_samples_find_point (self, next, 16, &found, NULL));
}

/* While it is written, a log stands beside the file; afterwards the file is all there is, with its marks. */
static void
one_plain_file_is_left (G_GNUC_UNUSED void **state)
{
  static const char *const beside[] = { "a.meas-wal", "a.meas-shm", "a.meas-journal" };
  g_autofree char *bytes = NULL, *log = NULL, *unfinished = NULL;
  gsize size, log_size, unfinished_size;
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  gint64 id;

  assert_true (fab_samples_begin_series (self, &(FabSeries){ .kind = FAB_MEASURE_COPY }, &id, NULL)
               && fab_samples_keep (self, id, 8, 5, NULL));
  assert_true (fab_samples_add_note (self, "early", NULL));
  assert_true (g_file_test (beside[0], G_FILE_TEST_EXISTS));
  /* What a writer that was killed leaves is read. */
  assert_true (g_file_get_contents ("a.meas", &unfinished, &unfinished_size, NULL));
  assert_true (g_file_get_contents (beside[0], &log, &log_size, NULL));
  assert_true (g_file_set_contents ("b.meas", unfinished, (gssize) unfinished_size, NULL));
  assert_true (g_file_set_contents ("b.meas-wal", log, (gssize) log_size, NULL));
  FabSamples *reader = open_good ("b.meas", FAB_SAMPLES_READ);
  g_auto (GStrv) notes = fab_samples_notes (reader, NULL);
  assert_string_equal (notes[0], "early");
  fab_samples_free (reader);
  patience_ms = 1;
  fab_samples_free (self);
  assert_int_equal (patience_ms, 0); /* who ends waits for nobody */
  for (guint i = 0; i < G_N_ELEMENTS (beside); i++)
    assert_false (g_file_test (beside[i], G_FILE_TEST_EXISTS));
  assert_true (g_file_get_contents ("a.meas", &bytes, &size, NULL));
  assert_memory_equal (bytes + 68, "FABM", 4);
  assert_memory_equal (bytes + 60, "\0\0\0\2", 4);
  assert_memory_equal (bytes + 18, "\1\1", 2); /* no log is needed to read it */
}

/* A name is that of a file, whatever SQLite would make of it. */
static void
names_of_files (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { ":memory:", "file:x.meas?mode=memory", "plain" };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fab_samples_free (open_good (names[i], FAB_SAMPLES_WRITE));
    assert_true (g_file_test (names[i], G_FILE_TEST_IS_REGULAR));
    fab_samples_free (open_good (names[i], FAB_SAMPLES_READ));
    assert_int_equal (asked, R_OK);
    fab_samples_free (open_good (names[i], FAB_SAMPLES_WRITE));
    assert_int_equal (asked, R_OK | W_OK);
    may_not = TRUE;
    assert_refused (names[i], FAB_SAMPLES_READ, ": Permission denied; check its permissions");
    may_not = FALSE;
  }
  assert_null (fab_samples_open ("-", FAB_SAMPLES_WRITE, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message,
                       "measurements are kept in a database, not a stream: name a file instead of -");
}

/* --- others --- */

/* What writes, in words. */
static gboolean
write_one (FabSamples *self, guint which, GError **error)
{
  const FabSeries known = { .kind = FAB_MEASURE_LATENCY }, unknown = { .kind = FAB_MEASURE_EXCHANGE };
  const FabMeasuredPoint point = { .size_bytes = 8, .time_ps = 5 };
  FabMeasuredSeries *series;
  gboolean is_put;
  gint64 id;

  switch (which) {
  case 0: return fab_samples_keep (self, 1, 8, 5, error);
  case 1: return fab_samples_end_point (self, 1, &point, error);
  case 2: return fab_samples_begin_series (self, &unknown, &id, error);
  case 3: return fab_samples_set_machine (self, "cpu", "one", error);
  case 4: return fab_samples_add_note (self, "note", error);
  default:
    series = fab_measured_series_new (&known);
    is_put = fab_samples_put (self, series, error);
    fab_measured_series_free (series);
    return is_put;
  }
}

static const char *const writes[] = { "store a sample",    "store a point", "store a series",
                                      "store the machine", "store a note",  "store a series" };

/* Who may not write now or at all is told so, and may write as soon as the other one has ended. */
static void
nothing_is_written (G_GNUC_UNUSED void **state)
{
  const FabSeries known = { .kind = FAB_MEASURE_LATENCY };
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE), *reader;
  sqlite3 *other = open_beside ("a.meas");
  g_autoptr (GError) error = NULL;
  gint64 id;

  assert_true (fab_samples_begin_series (self, &known, &id, NULL));
  assert_int_equal (id, 1);
  reader = open_good ("a.meas", FAB_SAMPLES_READ);
  for (guint i = 0; i < G_N_ELEMENTS (writes); i++) {
    g_autofree char *
        busy = g_strdup_printf (
           "a.meas: cannot %s: another process is writing to it; try again when that has ended (", writes[i]),
       *read_only = g_strdup_printf ("a.meas: cannot %s: it is read-only; make it and its directory "
                                     "writable, or choose another file (",
                                     i == 5 ? "replace a series" : writes[i]);

    assert_false (write_one (reader, i, &error));
    assert_says (&error, read_only);
    execute (other, "BEGIN IMMEDIATE");
    assert_false (write_one (self, i, &error));
    assert_says (&error, busy);
    execute (other, "ROLLBACK");
    if (!write_one (self, i, &error))
      fail_msg ("%s", error->message);
  }
  fab_samples_free (reader);
  fab_samples_free (self);
  sqlite3_close (other);
}

/* A new file that another process is making as well is no error when that one is through. */
static void
a_file_that_is_locked (G_GNUC_UNUSED void **state)
{
  sqlite3 *other = open_beside ("a.meas");

  execute (other, "BEGIN EXCLUSIVE");
  assert_refused ("a.meas", FAB_SAMPLES_WRITE, "a.meas: cannot open: another process is writing to it; ");
  execute (other, "ROLLBACK; BEGIN IMMEDIATE");
  assert_refused ("a.meas", FAB_SAMPLES_WRITE,
                  "a.meas: cannot create the tables: another process is writing to it; ");
  execute (other, "ROLLBACK");
  sqlite3_close (other);
  fab_samples_free (open_good ("a.meas", FAB_SAMPLES_WRITE));
}

/* Whatever stops a series in its middle, what was there of it stays. */
static void
a_series_is_put_whole_or_not (G_GNUC_UNUSED void **state)
{
  const FabSeries head = { .kind = FAB_MEASURE_LATENCY };
  FabMeasuredSeries *series = fab_measured_series_new (&head);
  g_autoptr (GError) error = NULL;
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE);

  fab_samples_free (self);
  change (
      "a.meas",
      "DROP VIEW v_point; DROP TABLE point; CREATE TABLE point (series_id, size_bytes CHECK (size_bytes <> 4),"
      "time_ps, low_ps, high_ps, min_ps, p05_ps, p95_ps, max_ps, n_samples, n_outliers, is_complete)");
  self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  for (guint i = 0; i < 3; i++) {
    FabMeasuredPoint point = { .size_bytes = 1 + i, .time_ps = 1 };

    g_array_append_val (series->points, point);
  }
  assert_true (fab_samples_put (self, series, NULL));
  g_array_index (series->points, FabMeasuredPoint, 2).size_bytes = 4;
  for (guint i = 0; i < 3; i++)
    g_array_index (series->points, FabMeasuredPoint, i).time_ps = 2;
  assert_false (fab_samples_put (self, series, &error));
  assert_says (&error, "a.meas: cannot store a point: ");
  for (guint round = 0; round < 2; round++) {
    g_autoptr (GPtrArray) all = fab_samples_load (self, NULL);
    const FabMeasuredSeries *found = g_ptr_array_index (all, 0);

    assert_int_equal (all->len, 1);
    assert_int_equal (found->points->len, round == 0 ? 3 : 2);
    assert_int_equal (g_array_index (found->points, FabMeasuredPoint, 1).time_ps, 1 + round);
    change ("a.meas", "DELETE FROM point"); /* this one forgets nothing by itself */
    g_array_set_size (series->points, 2);
    assert_true (fab_samples_put (self, series, NULL));
  }
  fab_samples_free (self);
  fab_measured_series_free (series);
}

/* --- older and foreign ones --- */

static void
a_file_without_kernels (G_GNUC_UNUSED void **state)
{
  GStringChunk *texts = g_string_chunk_new (4096);
  const FabSeries network = series_of (FAB_MEASURE_BANDWIDTH, 0, texts),
                  kernel = series_of (FAB_MEASURE_PRODUCT, 0, texts),
                  other = series_of (FAB_MEASURE_ATTENTION, 3, texts);
  FabMeasuredSeries *series = fab_measured_series_new (&kernel);
  const FabMeasuredPoint point = point_of (1);
  g_autoptr (GError) error = NULL;
  gint64 id;

  fab_samples_free (open_good ("a.meas", FAB_SAMPLES_WRITE));
  change ("a.meas", "DROP VIEW v_point; ALTER TABLE series DROP COLUMN precision;"
                    "ALTER TABLE series DROP COLUMN shape; PRAGMA user_version = 1");
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  assert_true (fab_samples_begin_series (self, &network, &id, NULL));
  assert_true (fab_samples_end_point (self, id, &point, NULL));
  assert_false (fab_samples_begin_series (self, &other, &id, &error));
  assert_says (
      &error, "a.meas: was begun by an older Fabricast, which knew no kernels; choose another file for them");
  assert_false (fab_samples_put (self, series, &error));
  assert_says (&error, "knew no kernels");
  fab_samples_free (self);
  self = open_good ("a.meas", FAB_SAMPLES_READ);
  g_autoptr (GPtrArray) all = fab_samples_load (self, &error);
  if (all == NULL)
    fail_msg ("%s", error->message);
  const FabMeasuredSeries *found = g_ptr_array_index (all, 0);
  assert_int_equal (all->len, 1);
  for (const FabSeriesField *field = fab_series_texts; field->name; field++) {
    gboolean is_kernel = strcmp (field->name, "precision") == 0 || strcmp (field->name, "shape") == 0;
    const char *text = G_STRUCT_MEMBER (char *, &found->series, field->offset);

    if (g_strcmp0 (text, is_kernel ? NULL : G_STRUCT_MEMBER (char *, &network, field->offset)) != 0)
      fail_msg ("%s: %s", field->name, text);
  }
  for (const FabSeriesField *field = fab_series_counts; field->name; field++)
    assert_int_equal (G_STRUCT_MEMBER (guint, &found->series, field->offset),
                      G_STRUCT_MEMBER (guint, &network, field->offset));
  assert_point (&g_array_index (found->points, FabMeasuredPoint, 0), 1);
  fab_samples_free (self);
  fab_measured_series_free (series);
  g_string_chunk_free (texts);
}

/* A database is of measurements by its mark alone, and without tables only where it has no mark at all. */
static void
which_databases_are_ours (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *sql, *words;
  } cases[] = {
    { "CREATE TABLE t (x)", "is a database, but not of measurements" },
    { "PRAGMA application_id = 7", "is a database, but not of measurements" },
    { "PRAGMA user_version = 2", "is a database, but not of measurements" },
    { "PRAGMA application_id = 0x4641424d", "(schema 0, this one knows 2)" },
    { "PRAGMA application_id = 0x4641424d; PRAGMA user_version = 3", "(schema 3, this one knows 2)" },
    { "VACUUM", "is empty; `fabricast measure` writes measurements" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_unlink ("a.meas");
    change ("a.meas", cases[i].sql);
    assert_refused ("a.meas", FAB_SAMPLES_READ, cases[i].words);
    if (i + 1 < G_N_ELEMENTS (cases))
      assert_refused ("a.meas", FAB_SAMPLES_WRITE, cases[i].words);
    else
      fab_samples_free (open_good ("a.meas", FAB_SAMPLES_WRITE));
  }
}

static void
what_is_wrong_inside (G_GNUC_UNUSED void **state)
{
  const FabSeries head = { .kind = FAB_MEASURE_LATENCY, .backend = (char *) "tcp" };
  const FabMeasuredPoint point = { .size_bytes = 8, .time_ps = 5 };
  FabSamples *self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  g_autoptr (GError) error = NULL;
  FabMeasuredPoint found;
  gint64 id;

  assert_true (fab_samples_begin_series (self, &head, &id, NULL)
               && fab_samples_end_point (self, id, &point, NULL));
  fab_samples_free (self);
  change ("a.meas", "UPDATE series SET backend = CAST (x'74ff63' AS TEXT)");
  self = open_good ("a.meas", FAB_SAMPLES_READ);
  g_autoptr (GPtrArray) all = fab_samples_load (self, NULL);
  assert_string_equal (((FabMeasuredSeries *) g_ptr_array_index (all, 0))->series.backend, "t\ufffd"
                                                                                           "c");
  fab_samples_free (self);
  change ("a.meas", "PRAGMA ignore_check_constraints = 1; UPDATE series SET kind = 'other'");
  self = open_good ("a.meas", FAB_SAMPLES_READ);
  assert_null (fab_samples_load (self, &error));
  assert_says (&error, "a.meas: a series of an unknown kind");
  fab_samples_free (self);
  change ("a.meas",
          "DROP VIEW v_point; DROP TABLE point; DROP TABLE sample; DROP TABLE note; DROP TABLE machine");
  self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  assert_null (fab_samples_load (self, &error));
  assert_says (&error, "a.meas: cannot read: SQLite says (no such table: point)");
  assert_null (fab_samples_of_point (self, 1, 8, &error));
  assert_says (&error, "no such table: sample");
  assert_null (fab_samples_notes (self, &error));
  assert_says (&error, "no such table: note");
  assert_null (fab_samples_machine (self, &error));
  assert_says (&error, "no such table: machine");
  assert_false (fab_samples_find_point (self, 1, 8, &found, &error));
  assert_says (&error, "no such table: point");
  for (guint i = 0; i < G_N_ELEMENTS (writes); i++)
    if (i != 2 && i != 5) {
      assert_false (write_one (self, i, &error));
      assert_says (&error, "no such table: ");
    }
  fab_samples_free (self);
  change ("a.meas", "DROP TABLE series");
  self = open_good ("a.meas", FAB_SAMPLES_WRITE);
  for (guint i = 2; i <= 5; i += 3) {
    assert_false (write_one (self, i, &error));
    assert_says (&error, "no such table: series");
  }
  fab_samples_free (self);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, make_directory, remove_directory)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (every_member_is_kept),         TEST (what_is_put_replaces_samples_too),
    TEST (one_plain_file_is_left),       TEST (names_of_files),
    TEST (nothing_is_written),           TEST (a_file_that_is_locked),
    TEST (a_series_is_put_whole_or_not), TEST (a_file_without_kernels),
    TEST (which_databases_are_ours),     TEST (what_is_wrong_inside),
  };

  return cmocka_run_group_tests_name ("samples_files", tests, NULL, NULL);
}
