/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema_files.c - which files a filled struct names, and the sum of what a file, a folder or the traces of all
 * ranks hold: one bit or one name more is another sum.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "sim/config/schema.h"

static char *directory;

static int
make_directory (G_GNUC_UNUSED void **state)
{
  directory = g_dir_make_tmp ("fab-files-XXXXXX", NULL);
  return directory != NULL ? 0 : -1;
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

  for (const char *name = NULL; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *file = g_build_filename (path, name, NULL);

    if (g_unlink (file) != 0)
      remove_all (file);
  }
  g_rmdir (path);
}

static int
remove_directory (G_GNUC_UNUSED void **state)
{
  remove_all (directory);
  g_free (directory);
  return 0;
}

static char *
put (const char *name, const char *text)
{
  char *path = g_build_filename (directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

/* The sum of this file or folder is that of the bytes. */
static void
assert_sum (const char *path, const char *bytes, gsize size)
{
  g_autofree char *sum = fab_schema_file_sum (path);
  g_autofree char *expected = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) bytes, size);

  assert_string_equal (sum, expected);
}

/* The sum of "abc" is the example of FIPS 180-4; a file that is read in several pieces has the sum of the whole. */
static void
a_file_has_the_sum_of_its_bytes (G_GNUC_UNUSED void **state)
{
  g_autofree char *much = g_strnfill (200000, 'y');
  g_autofree char *abc = put ("abc", "abc"), *empty = put ("empty", ""), *large = put ("large", much);
  g_autofree char *sum = fab_schema_file_sum (abc), *absent = g_build_filename (directory, "absent", NULL);

  assert_string_equal (sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_sum (empty, "", 0);
  assert_sum (large, much, 200000);
  assert_null (fab_schema_file_sum (absent));
}

/* Names with a zero behind each, and contents, in the order of the names; of what is no file, the name alone. */
static void
a_folder_has_the_sum_of_its_files (G_GNUC_UNUSED void **state)
{
  g_autofree char *folder = g_build_filename (directory, "folder", NULL);
  g_autofree char *inner = g_build_filename (folder, "c", NULL);

  assert_int_equal (g_mkdir (folder, 0700), 0);
  assert_sum (folder, "", 0);
  assert_int_equal (g_mkdir (inner, 0700), 0);
  g_autofree char *last = put ("folder/d", "4"), *first = put ("folder/a", "one"),
                  *second = put ("folder/b", "");
  g_autofree char *hidden = put ("folder/c/e", "hidden");
  static const char bytes[] = "a\0one"
                              "b\0"
                              "c\0"
                              "d\0"
                              "4";
  assert_sum (folder, bytes, sizeof bytes - 1);
}

/* The trace of rank 0 stands for all ranks up to the first that is missing; another trace, and a file whose name only
 * looks like it, for itself. */
static void
a_trace_has_the_sum_of_all_ranks (G_GNUC_UNUSED void **state)
{
  g_autofree char *other = put ("t.0.etx", "x"), *zero = put ("t.0.et", "a"), *one = put ("t.1.et", "b"),
                  *two = put ("t.2.et", "c"), *four = put ("t.4.et", "e"), *alone = put ("u.0.et", "f");

  assert_sum (zero, "abc", 3);
  assert_sum (one, "b", 1);
  assert_sum (other, "x", 1);
  assert_sum (alone, "f", 1);
  assert_sum (four, "e", 1);
}

/* --- what names them --- */

typedef struct {
  const char *file, *text;
} Named;

static const FabParam named_params[] = {
  { .key = "text", .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (Named, text), .fallback = "" },
  { .key = "file",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Named, file),
    .fallback = "",
    .refers = FAB_REFERS_FILE },
  { .key = NULL },
};

static const FabModelInfo naming = { .name = "naming",
                                     .params = named_params,
                                     .params_size = sizeof (Named) };
static const FabModelInfo bare = { .name = "bare" };
static const FabModelInfo *const routes[] = { &naming, &bare, NULL };
static const FabRegistry registry = { .lists = { [FAB_MODEL_ROUTE] = routes } };

typedef struct {
  Named own, inner;
  FabParamList list;
  FabModelChoice model, other;
} Holder;

static const FabParam holder_params[] = {
  { .key = "file",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Holder, own.file),
    .fallback = "",
    .refers = FAB_REFERS_FILE },
  { .key = "inner",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (Holder, inner),
    .table = named_params },
  { .key = "list",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Holder, list),
    .table = named_params,
    .table_size = sizeof (Named) },
  { .key = "model",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (Holder, model),
    .fallback = "bare",
    .models = FAB_MODEL_ROUTE },
  { .key = "other",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (Holder, other),
    .fallback = "",
    .models = FAB_MODEL_ROUTE },
  { .key = NULL },
};

/* Paths are relative to the file that says them, and stand in the order of the keys; a text is no path. */
static void
files_are_listed_wherever_they_are_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml, *paths;
  } rows[] = {
    { "file:\n  x\n", "/f/x" },
    { "inner: {file: ../y, text: t}\nfile: /x\n", "/x /y" },
    { "list: [{file: a}, {text: b}, {file: c/d}]\nmodel: {kind: naming, file: m}\n", "/f/a /f/c/d /f/m" },
    { "model: bare\ninner: {text: t}\n", "" },
    { "model: naming\n", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&registry, diagnostics);
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("/f/t.yaml", rows[i].yaml, strlen (rows[i].yaml),
                                                     diagnostics);
    g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
    Holder holder = { 0 };

    assert_true (fab_schema_read (reader, fab_yaml_doc_root (doc), holder_params, &holder));
    fab_schema_list_files (holder_params, &holder, paths);
    g_ptr_array_add (paths, NULL);
    g_autofree char *joined = g_strjoinv (" ", (char **) paths->pdata);
    assert_string_equal (joined, rows[i].paths);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_has_the_sum_of_its_bytes),
    cmocka_unit_test (a_folder_has_the_sum_of_its_files),
    cmocka_unit_test (a_trace_has_the_sum_of_all_ranks),
    cmocka_unit_test (files_are_listed_wherever_they_are_named),
  };

  return cmocka_run_group_tests_name ("schema_files", tests, make_directory, remove_directory);
}
