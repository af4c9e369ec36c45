/* SPDX-License-Identifier: Apache-2.0 */
/* test_files.c - what commands read and write: nothing is lost, and who cannot write says so. */
#include "tests/support/test.h"

#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "cli/files.h"
#include "models/models.h"
#include "sim/base/output.h"
#include "tests/support/play.h"

typedef struct {
  char *folder, *path; /* of a file that is not there yet */
} Place;

static int
set_up (void **state)
{
  Place *place = g_new0 (Place, 1);

  place->folder = g_dir_make_tmp ("fab-files-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "a.txt", NULL);
  *state = place;
  return place->folder != NULL ? 0 : -1;
}

static int
tear_down (void **state)
{
  Place *place = *state;

  g_remove (place->path);
  g_rmdir (place->folder);
  g_free (place->folder);
  g_free (place->path);
  g_free (place);
  return 0;
}

/* What a C stream takes may still be in memory: a full disk shows when it is closed. */
static void
a_full_device_is_an_error (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;

  if (!g_file_test ("/dev/full", G_FILE_TEST_EXISTS))
    skip ();
  assert_false (fab_cli_write_file ("/dev/full", "a few words", &error));
  assert_string_equal (error->message, "/dev/full: No space left on device");
  assert_true (fab_cli_write_file ("/dev/null", "a few words", NULL));
}

static void
what_is_written_is_read (void **state)
{
  const Place *place = *state;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size = 0;

  assert_true (fab_cli_write_file (place->path, "12345678", NULL));
  assert_true (fab_cli_read_file (place->path, 8, &text, &size, NULL));
  assert_int_equal (size, 8);
  assert_string_equal (text, "12345678");
  g_clear_pointer (&text, g_free);
  assert_false (fab_cli_read_file (place->path, 7, &text, &size, &error));
  assert_non_null (strstr (error->message, "larger than"));
  g_clear_error (&error);
  assert_false (fab_cli_read_file (place->folder, 8, &text, &size, &error));
  assert_non_null (strstr (error->message, "directory"));
  g_clear_error (&error);
  g_remove (place->path);
  assert_false (fab_cli_read_file (place->path, 8, &text, &size, &error));
  assert_non_null (strstr (error->message, "No such file"));
}

/* Some editors mark a text as UTF-8: it reads like the same one without the mark. */
static void
the_mark_of_utf8_is_no_text (void **state)
{
  static const struct {
    const char *written, *read;
  } cases[] = { { "\xEF\xBB\xBFgraph", "graph" },
                { "\xEF\xBB\xBF", "" },
                { "\xEF\xBB", "\xEF\xBB" },
                { "a\xEF\xBB\xBF", "a\xEF\xBB\xBF" } };
  const Place *place = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = NULL;
    gsize size;

    assert_true (g_file_set_contents (place->path, cases[i].written, -1, NULL));
    assert_true (fab_cli_read_file (place->path, 8, &text, &size, NULL));
    assert_string_equal (text, cases[i].read);
    assert_int_equal (size, strlen (cases[i].read));
  }
}

/* A shell gives <(COMMAND) as /dev/fd/63. What the pipe held can be read again from its beginning. */
static void
a_pipe_of_a_shell_is_read_twice (void **state)
{
  const Place *place = *state;
  int ends[2];

  assert_int_equal (pipe (ends), 0);
  g_autofree char *path = g_strdup_printf ("/dev/fd/%d", ends[0]);
  assert_int_equal (write (ends[1], "name: a", 7), 7);
  close (ends[1]);
  fab_cli_keep_pipe (path);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *text = NULL;
    gsize size;

    assert_true (fab_cli_read_file (path, 8, &text, &size, NULL));
    assert_string_equal (text, "name: a");
    fab_cli_keep_pipe (path); /* it is no pipe any more */
  }
  close (ends[0]);
  assert_true (g_file_set_contents (place->path, "x", 1, NULL));
  fab_cli_keep_pipe (place->path);
  fab_cli_keep_pipe ("/dev/fd/");
  fab_cli_keep_pipe ("/dev/fd/1x");
}

/* Runs and measurements took long to make: a page is not written over them, and neither over what is read. */
static void
nothing_is_written_over_what_is_dear (void **state)
{
  const Place *place = *state;
  char *files[] = { (char *) "-", place->path, NULL }, *others[] = { (char *) "/dev/null", NULL };
  g_autoptr (GError) error = NULL;

  assert_false (fab_cli_check_out ("--out", place->path, files, &error)); /* neither is there yet */
  assert_non_null (strstr (error->message, "is a file that this command needs"));
  g_clear_error (&error);
  assert_true (fab_cli_check_out ("--out", place->path, others, NULL));
  assert_true (g_file_set_contents (place->path, "SQLite format 3\0and more", 24, NULL));
  assert_true (fab_is_database (place->path));
  assert_false (fab_cli_write_file (place->path, "x", &error));
  assert_non_null (strstr (error->message, "would be lost"));
  g_clear_error (&error);
  assert_false (fab_cli_check_out ("--out", place->path, others, &error));
  assert_true (g_str_has_prefix (error->message, "--out "));
  assert_non_null (strstr (error->message, "holds measurements or runs, which would be lost"));
  g_clear_error (&error);
  assert_true (g_file_set_contents (place->path, "x", 1, NULL));
  assert_false (fab_cli_check_out ("--out", place->path, files, &error));
  assert_non_null (strstr (error->message, "is a file that this command needs"));
  assert_true (fab_cli_check_out ("--out", place->path, others, NULL));
  g_autofree char *beside = g_build_filename (place->folder, "b.txt", NULL);
  char *neighbours[] = { beside, NULL };
  assert_true (g_file_set_contents (beside, "x", 1, NULL));
  assert_true (fab_cli_check_out ("--out", place->path, neighbours, NULL)); /* on the same device */
  g_remove (beside);
  assert_true (fab_cli_check_out ("--out", NULL, files, NULL));
  assert_true (
      g_file_set_contents (place->path, "SQLite format 3", 15, NULL)); /* without the zero at its end */
  assert_false (fab_is_database (place->path));
  assert_false (fab_is_database (place->folder));
  assert_false (fab_is_database ("-"));
}

/* A folder that is read stands for its files: a new one beside them takes nothing away. */
static void
nothing_is_written_over_a_file_of_a_folder (void **state)
{
  const Place *place = *state;
  g_autofree char *again = g_build_filename (place->folder, "..", NULL),
                  *name = g_path_get_basename (place->folder), *detour = g_build_filename (again, name, NULL);
  char *folder[] = { place->folder, NULL }, *same[] = { detour, NULL }, *other[] = { again, NULL };

  assert_true (fab_cli_check_apart ("--out", place->path, folder, NULL));
  assert_true (g_file_set_contents (place->path, "x", 1, NULL));
  assert_false (fab_cli_check_apart ("--out", place->path, folder, NULL));
  assert_false (fab_cli_check_apart ("--out", place->path, same, NULL));
  assert_true (fab_cli_check_apart ("--out", place->path, other, NULL));
}

/* A scenario stands for all that was read for it: itself, what it includes, and a model in JSON. */
static void
nothing_is_written_over_the_files_of_a_scenario (void **state)
{
  static const char *const names[] = { "a.txt", "site.yaml", "tiny.json" };
  static const char *const texts[] = {
    "include: site.yaml\nname: a\njob: {kind: ddp, model: tiny.json}\n",
    "cluster: {node: dgx-a100}\n",
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 1, \"num_attention_heads\": 2,\n"
    " \"vocab_size\": 100, \"intermediate_size\": 128}\n",
  };
  const Place *place = *state;
  g_autoptr (GError) error = NULL;
  g_autofree char *free_path = g_build_filename (place->folder, "b.txt", NULL);
  char *paths[G_N_ELEMENTS (names)];

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    paths[i] = g_build_filename (place->folder, names[i], NULL);
    assert_true (g_file_set_contents (paths[i], texts[i], -1, NULL));
  }
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (FabScenario) scenario = fab_scenario_open (place->path, &fab_models, catalog, &error);
  assert_non_null (scenario);
  assert_false (fab_cli_check_scenario_out ("-o", paths[1], scenario, NULL, NULL)); /* not checked yet */
  if (!fab_scenario_check (scenario, &error))
    fail_msg ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    assert_false (fab_cli_check_scenario_out ("-o", paths[i], scenario, NULL, &error));
    assert_non_null (strstr (error->message, "is a file that this command needs"));
    g_clear_error (&error);
  }
  assert_true (fab_cli_check_scenario_out ("-o", free_path, scenario, NULL, NULL));
  assert_false (fab_cli_check_scenario_out ("-o", free_path, scenario, free_path, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_remove (paths[i]);
    g_free (paths[i]);
  }
}

static void
with_takes_files_that_can_be_read (void **state)
{
  const Place *place = *state;
  char *good[] = { place->path, (char *) "/dev/null", NULL }, *empty[] = { (char *) "", NULL },
       *folder[] = { place->folder, NULL };
  g_autoptr (GError) error = NULL;

  assert_null (fab_cli_with (good, &error)); /* it is not there */
  assert_non_null (strstr (error->message, "No such file"));
  g_clear_error (&error);
  assert_true (g_file_set_contents (place->path, "x", 1, NULL));
  g_autoptr (FabValue) list = fab_cli_with (good, NULL);
  assert_non_null (list);
  assert_null (fab_cli_with (empty, &error));
  assert_non_null (strstr (error->message, "the name of a file is missing"));
  g_clear_error (&error);
  assert_null (fab_cli_with (folder, &error));
  assert_non_null (strstr (error->message, "directory"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_full_device_is_an_error),
    cmocka_unit_test_setup_teardown (what_is_written_is_read, set_up, tear_down),
    cmocka_unit_test_setup_teardown (the_mark_of_utf8_is_no_text, set_up, tear_down),
    cmocka_unit_test_setup_teardown (a_pipe_of_a_shell_is_read_twice, set_up, tear_down),
    cmocka_unit_test_setup_teardown (nothing_is_written_over_what_is_dear, set_up, tear_down),
    cmocka_unit_test_setup_teardown (nothing_is_written_over_a_file_of_a_folder, set_up, tear_down),
    cmocka_unit_test_setup_teardown (nothing_is_written_over_the_files_of_a_scenario, set_up, tear_down),
    cmocka_unit_test_setup_teardown (with_takes_files_that_can_be_read, set_up, tear_down),
  };

  return cmocka_run_group_tests_name ("files", tests, NULL, NULL);
}
