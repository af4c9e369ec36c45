/* SPDX-License-Identifier: Apache-2.0 */
/* test_output.c - files that are written: each is replaced whole or not at all, and a database never. */
#include "sim/base/output.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folder.h"

static guint
count_files (void)
{
  g_autoptr (GDir) all = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (all) != NULL)
    n++;
  return n;
}

/* Until a file is closed, what was there stays; a file that is given up leaves nothing. */
static void
a_file_is_replaced_whole_or_not_at_all (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("whole");

  for (guint was_there = 0; was_there < 2; was_there++)
    for (guint is_closed = 0; is_closed < 2; is_closed++) {
      FabOutput file;

      g_remove (path);
      if (was_there)
        assert_true (g_file_set_contents (path, "old", -1, NULL));
      assert_true (fab_output_open (&file, path, NULL));
      fab_output_write (&file, "new ");
      fab_output_write (&file, "text");
      if (was_there)
        assert_content (path, "old");
      else
        assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      assert_int_equal (count_files (), 1 + was_there);
      if (is_closed)
        assert_true (fab_output_close (&file, NULL));
      fab_output_abandon (&file);
      if (is_closed || was_there)
        assert_content (path, is_closed ? "new text" : "old");
      assert_int_equal (count_files (), is_closed || was_there);
    }
  g_remove (path);
}

/* A link stays one, and the file that it leads to is replaced. */
static void
links_are_followed (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("target"), *link = folder_path ("link");
  FabOutput file;

  assert_true (g_file_set_contents (path, "old", -1, NULL));
  assert_int_equal (symlink (path, link), 0);
  assert_true (fab_output_open (&file, link, NULL));
  fab_output_write (&file, "new");
  assert_true (fab_output_close (&file, NULL));
  assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  assert_content (path, "new");
  g_remove (link);
  g_remove (path);
}

static void
what_cannot_be_written_is_told (G_GNUC_UNUSED void **state)
{
  g_autofree char *nowhere = folder_path ("no/file"),
                  *said = g_strdup_printf ("%s: No such file or directory", nowhere),
                  *is_folder = g_strdup_printf ("%s: Is a directory", folder);
  g_autoptr (GError) error = NULL, other = NULL;
  FabOutput file;

  assert_false (fab_output_open (&file, nowhere, &error));
  assert_string_equal (error->message, said);
  fab_output_abandon (&file);
  assert_false (fab_output_open (&file, folder, &other));
  assert_string_equal (other->message, is_folder);
  fab_output_abandon (&file);
}

/* So do the log and the journal beside a database, which have what it lacks, from their first bytes on. */
static void
logs_of_databases_stay (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *bytes;
    guint n;
    gboolean stays;
  } cases[] = {
    { "\x37\x7f\x06\x82\0", 5, TRUE },
    { "\x37\x7f\x06\x83", 4, TRUE },
    { "\x37\x7f\x06\x84\0", 5, FALSE },
    { "\x37\x7f\x06", 3, FALSE },
    { "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8, TRUE },
    { "\xd9\xd5\x05\xf9\x20\xa1\x63", 7, FALSE },
    { "SQLite format 3", 16, TRUE },
    { "SQLite format 3 ", 16, FALSE },
    { "SQLite format 3", 15, FALSE },
    { "", 0, FALSE },
  };
  g_autofree char *path = folder_path ("a.db-wal");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    assert_true (g_file_set_contents (path, cases[i].bytes, cases[i].n, NULL));
    assert_int_equal (fab_is_database (path), cases[i].stays);
    assert_int_equal (fab_output_check (path, NULL), !cases[i].stays);
  }
  g_remove (path);
}

/* Runs and measurements took long to make: nothing is written over them, also through a link. */
static void
databases_stay (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("a.db"), *link = folder_path ("link");
  const char *const named[] = { path, link };

  assert_true (g_file_set_contents (path, "SQLite format 3\0and more", 24, NULL));
  assert_int_equal (symlink (path, link), 0);
  for (guint i = 0; i < G_N_ELEMENTS (named); i++) {
    g_autofree char *said = g_strdup_printf (
        "%s holds measurements or runs, which would be lost: name another file", named[i]);
    g_autoptr (GError) error = NULL, again = NULL;
    FabOutput file;

    assert_true (fab_is_database (named[i]));
    assert_false (fab_output_check (named[i], &error));
    assert_string_equal (error->message, said);
    assert_false (fab_output_open (&file, named[i], &again));
    assert_string_equal (again->message, said);
    fab_output_abandon (&file);
  }
  assert_content (path, "SQLite format 3");
  assert_int_equal (count_files (), 2);
  g_remove (link);
  g_remove (path);
}

/* What can be known before there is something to write. */
static void
a_place_is_looked_at (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("later"), *nowhere = folder_path ("no/file"),
                  *said = g_strdup_printf ("%s: there is no directory '%s/no'", nowhere, folder),
                  *is_folder = g_strdup_printf ("%s: Is a directory", folder);
  const struct {
    const char *path, *said; /* NULL: it can be written */
  } cases[] = {
    { path, NULL }, { "-", NULL }, { "/dev/null", NULL }, { nowhere, said }, { folder, is_folder }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_int_equal (fab_output_check (cases[i].path, &error), cases[i].said == NULL);
    if (cases[i].said != NULL)
      assert_string_equal (error->message, cases[i].said);
  }
  assert_true (g_file_set_contents (path, "old", -1, NULL));
  assert_true (fab_output_check (path, NULL));
  assert_content (path, "old");
  g_remove (path);
  assert_int_equal (count_files (), 0);
}

/* Where a file may not grow as long as it has to be, what was there stays. */
static void
a_file_that_is_not_whole_is_none (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("small"), *said = g_strdup_printf ("%s: File too large", path);
  g_autoptr (GError) error = NULL;
  struct rlimit before, small;
  FabOutput file;

  assert_true (g_file_set_contents (path, "old", -1, NULL));
  assert_int_equal (getrlimit (RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){ 2, before.rlim_max };
  void (*handler) (int) = signal (SIGXFSZ, SIG_IGN);
  assert_true (fab_output_open (&file, path, NULL));
  fab_output_write (&file, "longer");
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &small), 0);
  gboolean is_whole = fab_output_close (&file, &error);
  assert_int_equal (setrlimit (RLIMIT_FSIZE, &before), 0);
  signal (SIGXFSZ, handler);
  assert_false (is_whole);
  assert_string_equal (error->message, said);
  assert_content (path, "old");
  assert_int_equal (count_files (), 1);
  g_remove (path);
}

/* The first reason counts, whether it comes when the file ends or while it is written. */
static void
why_a_disk_takes_no_more_is_told (G_GNUC_UNUSED void **state)
{
  static const gsize sizes[] = { 1, 1 << 12, 1 << 20 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *text = g_strnfill (sizes[i], 'x');
    g_autoptr (GError) error = NULL;
    FabOutput file;

    assert_true (fab_output_open (&file, "/dev/full", NULL));
    fab_output_write (&file, text);
    fab_output_write_bytes (&file, text, 1);
    assert_false (fab_output_close (&file, &error));
    assert_string_equal (error->message, "/dev/full: No space left on device");
  }
}

/* A folder that takes the place of the file before its end is no file that can be replaced. */
static void
what_took_the_place_of_a_file_stays (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("place"), *said = g_strdup_printf ("%s: Is a directory", path);
  g_autoptr (GError) error = NULL;
  FabOutput file;

  assert_true (fab_output_open (&file, path, NULL));
  fab_output_write (&file, "text");
  assert_int_equal (g_mkdir (path, 0700), 0);
  assert_false (fab_output_close (&file, &error));
  assert_string_equal (error->message, said);
  assert_int_equal (count_files (), 1);
  g_rmdir (path);
}

/* What is no plain file, such as a pipe, is written to and stays what it is. */
static void
a_pipe_is_written_to (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = folder_path ("pipe");
  char found[8] = { 0 };
  FabOutput file;

  assert_int_equal (mkfifo (path, 0600), 0);
  int end = g_open (path, O_RDWR | O_NONBLOCK, 0);
  assert_true (end >= 0);
  assert_true (fab_output_open (&file, path, NULL));
  fab_output_write (&file, "text");
  assert_true (fab_output_close (&file, NULL));
  assert_int_equal (read (end, found, sizeof found - 1), 4);
  assert_string_equal (found, "text");
  g_close (end, NULL);
  assert_false (g_file_test (path, G_FILE_TEST_IS_REGULAR));
  assert_int_equal (count_files (), 1);
  g_remove (path);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_is_replaced_whole_or_not_at_all),
    cmocka_unit_test (links_are_followed),
    cmocka_unit_test (what_cannot_be_written_is_told),
    cmocka_unit_test (databases_stay),
    cmocka_unit_test (logs_of_databases_stay),
    cmocka_unit_test (a_place_is_looked_at),
    cmocka_unit_test (a_file_that_is_not_whole_is_none),
    cmocka_unit_test (why_a_disk_takes_no_more_is_told),
    cmocka_unit_test (what_took_the_place_of_a_file_stays),
    cmocka_unit_test (a_pipe_is_written_to),
  };

  return cmocka_run_group_tests (tests, folder_make, folder_remove);
}
