/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_crash.c - disks that fill up, processes that die, processes that share a file.
 *
 * Whatever happens, the file holds whole runs only, and those that were there before. A run here
 * has two iterations of `n_spans` spans each, so a whole one has 2 n_spans.
 */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/unit/sim/result/store_support.h"

#define MANY 400000 /* spans: 27 MB, more than SQLite keeps in memory, so that they reach the disk early */

/* How many runs there are, or -1: not all of them whole, or SQLite finds the file unsound. For
 * children too, which must not assert: cmocka would go on with the next test in them. */
static gint
count_whole_runs (const char *path, guint n_spans)
{
  static const char sql[] = "SELECT run_id, (SELECT count (*) FROM span WHERE run_id = r.run_id),"
                            " (SELECT count (*) FROM link_load WHERE run_id = r.run_id),"
                            " (SELECT integrity_check FROM pragma_integrity_check) FROM run AS r";
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, &error);
  g_autoptr (FabTable) runs = store != NULL ? fab_store_query (store, sql, 0, &error) : NULL;

  if (runs == NULL)
    return says (error, "no run in ") ? 0 : -1;
  for (guint i = 0; i < runs->n_rows; i++)
    if (fab_table_cell (runs, i, 0)->integer != i + 1 || fab_table_cell (runs, i, 1)->integer != 2 * n_spans
        || fab_table_cell (runs, i, 2)->integer != 4
        || !g_str_equal (fab_table_cell (runs, i, 3)->text, "ok"))
      return -1;
  return (gint) runs->n_rows;
}

/* Full */

/* One run of 10 spans is in the file; the next one does not fit, a small one does. */
static int
fill_up (const char *path, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, &error);

  if (store == NULL || !add_run (store, 10, &error))
    return says (error, "a disk with room for one run") ? 0 : 1;
  if (add_run (store, MANY, &error))
    return 2;
  if (!says (error, path) || !says (error, message) || !says (error, "nothing of this run was kept"))
    return 3;
  g_clear_error (&error);
  if (!add_run (store, 10, &error) || !fab_store_close (&store, &error))
    return says (error, "room again") ? 0 : 4;
  return count_whole_runs (path, 10) == 2 ? 0 : 5;
}

static int
fill_limited_file (const char *path, G_GNUC_UNUSED int pipe)
{
  struct rlimit limit = { 2 << 20, 2 << 20 };

  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &limit);
  return fill_up (path, "the file may not grow further; raise the limit (ulimit -f)");
}

static void
a_file_that_may_not_grow_keeps_its_runs (void **state)
{
  g_autofree char *path = file_in (state, "a.db");

  in_child (fill_limited_file, path);
  assert_int_equal (count_whole_runs (path, 10), 2);
}

/* A tmpfs of 4 MB in a mount namespace of its own, on top of the test's directory. */
static gboolean
mount_small_disk (const char *directory)
{
  return unshare (CLONE_NEWNS) == 0 && mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0
      && mount ("tmpfs", directory, "tmpfs", 0, "size=4m") == 0;
}

static int
fill_small_disk (const char *path, G_GNUC_UNUSED int pipe)
{
  g_autofree char *directory = g_path_get_dirname (path);

  if (!mount_small_disk (directory))
    return SKIPPED;
  return fill_up (path, "the disk is full; free space or write to another disk");
}

static void
a_full_disk_keeps_its_runs (void **state)
{
  char path[256]; /* not on the heap: a skipped test never comes back */

  g_snprintf (path, sizeof path, "%s/a.db", (const char *) *state);
  in_child (fill_small_disk, path);
}

/* The disk is full before anything is written: an error on opening or on the first run, and what
 * was there can still be read. */
static int
open_on_full_disk (const char *path, G_GNUC_UNUSED int pipe)
{
  g_autofree char *directory = g_path_get_dirname (path), *ballast = g_strconcat (path, ".ballast", NULL);
  g_autofree char *other = g_strconcat (path, ".other", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = NULL;
  FILE *file;

  if (!mount_small_disk (directory) || !write_run (path, 10, NULL))
    return SKIPPED;
  file = fopen (ballast, "w");
  while (fputc ('x', file) != EOF)
    ;
  fclose (file);
  store = fab_store_open (path, FAB_STORE_WRITE, &error);
  if (store != NULL && add_run (store, 10, &error))
    return 1;
  if (!says (error, "the disk is full; free space or write to another disk"))
    return 2;
  g_clear_pointer (&store, fab_store_free);
  g_clear_error (&error);
  if (write_run (other, 10, &error) || !says (error, "the disk is full"))
    return 3;
  return count_whole_runs (path, 10) == 1 ? 0 : 4;
}

static void
a_disk_that_is_full_from_the_start_is_reported (void **state)
{
  char path[256]; /* not on the heap: a skipped test never comes back */

  g_snprintf (path, sizeof path, "%s/a.db", (const char *) *state);
  in_child (open_on_full_disk, path);
}

/* Killed */

/* Tells the parent through the pipe that it is in the middle of its run, and stays there. */
static int
stop_in_the_middle (const char *path, int pipe)
{
  FabStore *store = fab_store_open (path, FAB_STORE_WRITE, NULL);

  if (!add_head (store, NULL, NULL) || !add_iteration (store, 0, MANY, NULL))
    return 1;
  if (write (pipe, "x", 1) != 1)
    return 2;
  pause ();
  return 3;
}

static void
a_killed_process_leaves_whole_runs (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *log = file_in (state, "a.db-wal"), *listing = NULL;
  GStatBuf half;
  int ends[2];
  char byte;
  pid_t child;

  assert_true (write_run (path, 10, NULL));
  assert_int_equal (pipe (ends), 0);
  child = start (stop_in_the_middle, path, ends[1]);
  assert_int_equal (read (ends[0], &byte, 1), 1);
  assert_int_equal (g_stat (log, &half), 0);
  assert_true (half.st_size > 1000000);
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (end_of (child), -SIGKILL);
  close (ends[0]);
  close (ends[1]);
  assert_int_equal (count_whole_runs (path, 10), 1);
  assert_true (write_run (path, 10, NULL));
  assert_int_equal (count_whole_runs (path, 10), 2);
  listing = list_directory (state);
  assert_string_equal (listing, "a.db");
}

static int
write_forever (const char *path, G_GNUC_UNUSED int pipe)
{
  while (write_run (path, 500, NULL))
    ;
  return 1;
}

/* Wherever it is: creating the file, writing, committing, folding the log. */
static void
a_process_killed_at_any_moment_leaves_whole_runs (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  gint n_runs = 0;

  for (guint i = 0; i < 40; i++) {
    pid_t child = start (write_forever, path, -1);
    gint n_now;

    g_usleep (500 + 997 * i); /* 0.5 to 40 ms */
    assert_int_equal (kill (child, SIGKILL), 0);
    assert_int_equal (end_of (child), -SIGKILL);
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      continue;
    n_now = count_whole_runs (path, 500);
    assert_true (n_now >= n_runs);
    n_runs = n_now;
  }
  assert_true (write_run (path, 500, NULL));
  assert_int_equal (count_whole_runs (path, 500), n_runs + 1);
}

/* Shared */

static int
write_ten_runs (const char *path, G_GNUC_UNUSED int pipe)
{
  for (guint i = 0; i < 10; i++) {
    g_autoptr (GError) error = NULL;

    if (!write_run (path, 200, &error))
      return says (error, "no error") ? 0 : 1;
  }
  return 0;
}

/* Two processes that close at the same moment may each take the other for one that goes on, and leave SQLite's log
 * behind, with nothing lost: SQLite folds it when the last connection closes and no other holds a lock. The next writer
 * that is alone leaves one file. */
static void
processes_write_in_turn (void **state)
{
  g_autofree char *path = file_in (state, "a.db"), *listing = NULL;
  pid_t children[4];

  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    children[i] = start (write_ten_runs, path, -1);
  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    assert_int_equal (end_of (children[i]), 0);
  assert_int_equal (count_whole_runs (path, 200), 40);
  assert_true (write_run (path, 200, NULL));
  assert_int_equal (count_whole_runs (path, 200), 41);
  listing = list_directory (state);
  assert_string_equal (listing, "a.db");
}

/* The run appears when it is committed, not before; a second writer gives up after its patience. */
static void
readers_go_on_while_a_run_is_written (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (FabStore) writer = NULL, second = NULL;
  g_autoptr (GError) error = NULL;

  assert_true (write_run (path, 10, NULL));
  writer = fab_store_open (path, FAB_STORE_WRITE, NULL);
  second = fab_store_open (path, FAB_STORE_WRITE, NULL);
  assert_true (add_head (writer, NULL, NULL) && add_iteration (writer, 0, 10, NULL));
  assert_int_equal (count_whole_runs (path, 10), 1);
  fab_store_set_patience (second, 50);
  assert_false (add_run (second, 10, &error));
  assert_says (error, "a.db: cannot begin a run: another process is still writing to it; try again when");
  assert_true (add_iteration (writer, 1, 10, NULL) && fab_store_commit_run (writer, NULL));
  assert_int_equal (count_whole_runs (path, 10), 2);
  assert_true (add_run (second, 10, NULL));
  assert_true (fab_store_close (&writer, NULL) && fab_store_close (&second, NULL));
  assert_int_equal (count_whole_runs (path, 10), 3);
}

int
main (void)
{
#define store_test(f) cmocka_unit_test_setup_teardown (f, set_up_directory, tear_down_directory)
  const struct CMUnitTest tests[] = {
    store_test (a_file_that_may_not_grow_keeps_its_runs),
    store_test (a_full_disk_keeps_its_runs),
    store_test (a_disk_that_is_full_from_the_start_is_reported),
    store_test (a_killed_process_leaves_whole_runs),
    store_test (a_process_killed_at_any_moment_leaves_whole_runs),
    store_test (processes_write_in_turn),
    store_test (readers_go_on_while_a_run_is_written),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
