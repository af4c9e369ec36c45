/* SPDX-License-Identifier: Apache-2.0 */
/* test_include.c - files under a scenario: what wins, where mistakes are shown, what is refused. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/config/yaml_doc.h"

static char *directory;

static int
make_directory (G_GNUC_UNUSED void **state)
{
  directory = g_dir_make_tmp ("fab-include-XXXXXX", NULL);
  return directory != NULL ? 0 : -1;
}

static int
remove_directory (G_GNUC_UNUSED void **state)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (directory, name, NULL);
    g_unlink (path);
  }
  g_rmdir (directory);
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

/* What main.yaml with this text becomes, or its mistakes. */
static char *
included (const char *text)
{
  g_autofree char *path = put ("main.yaml", text);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (path, diagnostics, NULL);

  assert_non_null (doc);
  if (fab_yaml_doc_include (doc, NULL, diagnostics))
    return fab_yaml_node_text (fab_yaml_doc_root (doc));
  return fab_diagnostics_format (diagnostics);
}

static void
assert_included (const char *text, const char *expected)
{
  g_autofree char *made = included (text);

  assert_string_equal (made, expected);
}

static void
assert_refused (const char *text, const char *expected)
{
  g_autofree char *made = included (text);

  if (strstr (made, expected) == NULL)
    fail_msg ("'%s' is not in '%s'", expected, made);
}

static void
own_keys_win_and_mappings_merge (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("a.yaml", "seed: 1\njob: {model: m, bucket: 1MiB}\n");
  g_autofree char *b = put ("b.yaml", "seed: 2\niterations: 5\njob: {bucket: 2MiB}\n");

  assert_included ("include: [a.yaml, b.yaml]\njob: {micro_batch: 4}\n",
                   "job:\n  micro_batch: 4\n  bucket: 2MiB\n  model: m\nseed: 2\niterations: 5\n");
  assert_included ("include: a.yaml\nseed: 3\n", "seed: 3\njob:\n  model: m\n  bucket: 1MiB\n");
  assert_included ("include:\nseed: 3\n", "seed: 3\n");
}

static void
another_kind_replaces (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("kind.yaml", "job: {kind: ddp, bucket: 1MiB}\nfidelity: {kind: fluid}\n");

  assert_included ("include: kind.yaml\njob: {kind: zero, stage: 3}\nfidelity: analytic\n",
                   "job:\n  kind: zero\n  stage: 3\nfidelity: analytic\n");
}

/* Only those of the root: a list of layers is one value. */
static void
lists_of_the_root_are_joined_by_name (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("links.yaml",
                            "links: [{name: x, lanes: 1}, {name: y, lanes: 2}]\njob: {list: [1, 2]}\n");

  assert_included ("include: links.yaml\nlinks: [{name: x, lanes: 9}]\njob: {list: [3]}\n",
                   "links:\n  - name: x\n    lanes: 9\n  - name: y\n    lanes: 2\njob:\n  list:\n    - 3\n");
}

static void
a_file_may_include_beside_itself (G_GNUC_UNUSED void **state)
{
  g_autofree char *inner = g_build_filename (directory, "inner.yaml", NULL);
  g_autofree char *a = put ("inner.yaml", "seed: 7\nname: inner\n");
  g_autofree char *b = put ("outer.yaml", "include: [inner.yaml, ./inner.yaml]\nname: outer\n");
  g_autofree char *text = g_strdup_printf ("include: [outer.yaml, %s]\n", inner);

  assert_included ("include: outer.yaml\n", "name: outer\nseed: 7\n");
  assert_included (text, "seed: 7\nname: inner\n");
}

static void
circles_are_refused (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("one.yaml", "include: two.yaml\n");
  g_autofree char *b = put ("two.yaml", "\ninclude: one.yaml\n");

  assert_refused ("include: one.yaml\n",
                  "two.yaml:2:10: 'one.yaml' includes itself, directly or through another file");
  assert_refused ("include: main.yaml\n",
                  "main.yaml:1:10: 'main.yaml' includes itself, directly or through another file");
}

static void
mistakes_are_shown_where_they_are (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("twice.yaml", "seed: 1\nseed: 2\n");
  g_autofree char *b = put ("list.yaml", "- 1\n");

  assert_refused ("include: [twice.yaml, none.yaml]\n", "main.yaml:1:23: cannot open ");
  assert_refused ("include: list.yaml\n", "list.yaml, line 1, column 1: a file holds keys with values");
  assert_refused ("include: {a: b}\n", "main.yaml:1:10: 'include' names files");
  assert_refused ("include: [[a.yaml]]\n", "main.yaml:1:11: 'include' names files");
}

/* Of a file that need not be a scenario, only the name and the place of the mistake. */
static void
nothing_is_shown_of_other_files (G_GNUC_UNUSED void **state)
{
  static const char *const private_texts[] = { "hunter2",
                                               "hunter2: [",
                                               "- hunter2\n",
                                               "password: hunter2\n",
                                               "seed: 1\nhunter2: 2\n",
                                               "hunter2: 1\nhunter2: 2\n",
                                               "\"hunter2" };
  static const char *const keys[] = { "seed", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (private_texts); i++) {
    g_autofree char *path = put ("private", private_texts[i]);
    g_autofree char *main_path = put ("main.yaml", "include: private\n");
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (main_path, diagnostics, NULL);

    assert_false (fab_yaml_doc_include (doc, keys, diagnostics));
    g_autofree char *text = fab_diagnostics_format (diagnostics);
    assert_non_null (strstr (text, "its text is not shown"));
    assert_null (strstr (text, "hunter2"));
  }
}

static void
only_regular_files_are_read (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = g_build_filename (directory, "pipe", NULL);

  assert_int_equal (mkfifo (path, 0600), 0);
  assert_refused ("include: pipe\n", "is not a regular file");
  assert_refused ("include: /dev/zero\n", "is not a regular file");
  assert_refused ("include: .\n", "is not a regular file");
}

/* Only mappings without a kind, or of the same, merge; lists whose entries have no names are put behind each other, and
 * an entry of the same name, but not a value in place of a list, comes from above. */
static void
what_merges_and_what_does_not (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *under, *over, *expected;
  } rows[] = {
    { "a: {kind: k, x: 1}\n", "a: {kind: k, y: 2}\n", "a:\n  kind: k\n  y: 2\n  x: 1\n" },
    { "a: {kind: k, x: 1}\n", "a: {y: 2}\n", "a:\n  y: 2\n  kind: k\n  x: 1\n" },
    { "a: {x: 1}\n", "a: {kind: k}\n", "a:\n  kind: k\n  x: 1\n" },
    { "a: {kind: k, x: 1}\n", "a: {kind: j}\n", "a:\n  kind: j\n" },
    { "a: {kind: [k], x: 1}\n", "a: {kind: j}\n", "a:\n  kind: j\n  x: 1\n" },
    { "a: {x: 1}\n", "a: 2\n", "a: 2\n" },
    { "a: 1\n", "a: {x: 2}\n", "a:\n  x: 2\n" },
    { "a: [1]\n", "a: [2, {name: 3}]\n", "a:\n  - 2\n  - name: 3\n  - 1\n" },
    { "a: [{name: 3, x: 1}, {name: 4}]\n", "a: [2, {name: 3}]\n", "a:\n  - 2\n  - name: 3\n  - name: 4\n" },
    { "a: [{name: [3]}, {x: 1}]\n", "a: [{name: 3}]\n", "a:\n  - name: 3\n  - name:\n      - 3\n  - x: 1\n" },
    { "a: [1]\n", "a: 2\n", "a: 2\n" },
    { "a: 1\n", "a: [2]\n", "a:\n  - 2\n" },
    { "a: {b: [1]}\n", "a: {b: [2]}\n", "a:\n  b:\n    - 2\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = put ("under.yaml", rows[i].under),
                    *text = g_strconcat ("include: under.yaml\n", rows[i].over, NULL);

    assert_included (text, rows[i].expected);
  }
}

/* Of several files one that is wrong is enough, wherever it stands; what the others have is there all the same. */
static void
one_wrong_file_is_enough (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "none.yaml, a.yaml", "a.yaml, none.yaml", "wrong.yaml, a.yaml",
                                       "a.yaml, wrong.yaml" };
  g_autofree char *a = put ("a.yaml", "seed: 1\n"), *wrong = put ("wrong.yaml", "x: 1\ninclude: none.yaml\n");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *text = g_strdup_printf ("include: [%s]\n", names[i]), *path = put ("main.yaml", text);
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (path, diagnostics, NULL);

    assert_false (fab_yaml_doc_include (doc, NULL, diagnostics));
    assert_int_equal (fab_diagnostics_count (diagnostics), 1);
    assert_non_null (fab_yaml_get (fab_yaml_doc_root (doc), "seed"));
    assert_null (fab_yaml_get (fab_yaml_doc_root (doc), "include"));
    assert_null (fab_yaml_get (fab_yaml_doc_root (doc), "x"));
  }
}

/* Sixteen files in each other, and 256 in all. */
static void
there_are_limits (G_GNUC_UNUSED void **state)
{
  static const char limit[] = "too many included files: the limit is 256 files, nested 16 deep";
  g_autoptr (GString) text = g_string_new ("include: [a.yaml");
  g_autofree char *a = put ("a.yaml", "seed: 1\n");

  for (guint i = 1; i <= 17; i++) {
    g_autofree char *name = g_strdup_printf ("deep%u.yaml", i),
                    *next = g_strdup_printf (i < 17 ? "include: deep%u.yaml\n" : "seed: %u\n", i + 1),
                    *path = put (name, next);
  }
  assert_included ("include: deep2.yaml\n", "seed: 18\n");
  assert_refused ("include: deep1.yaml\n", limit);
  for (guint i = 1; i < 256; i++)
    g_string_append (text, ", a.yaml");
  g_autofree char *most = g_strconcat (text->str, "]\n", NULL),
                  *more = g_strconcat (text->str, ", a.yaml]\n", NULL);
  assert_included (most, "seed: 1\n");
  assert_refused (more, limit);
}

/* Who may say only some keys may include files; of a file that is too large there is no line to be told. */
static void
other_files_may_include (G_GNUC_UNUSED void **state)
{
  static const char *const keys[] = { "seed", NULL };
  g_autofree char *a = put ("a.yaml", "seed: 1\n"), *b = put ("b.yaml", "include: a.yaml\n"),
                  *path = put ("main.yaml", "include: b.yaml\n");
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (path, diagnostics, NULL);
  g_autofree char *large = g_strnfill (4 * 1024 * 1024 + 1, '#'), *c = put ("large.yaml", large);

  assert_true (fab_yaml_doc_include (doc, keys, diagnostics));
  g_autofree char *text = fab_yaml_node_text (fab_yaml_doc_root (doc));
  assert_string_equal (text, "seed: 1\n");
  assert_refused ("include: large.yaml\n", "large.yaml: this YAML cannot be part of a scenario; its text");
}

/* A copy includes files by itself, and shares its values where it includes none. */
static void
copies_include_by_themselves (G_GNUC_UNUSED void **state)
{
  g_autofree char *a = put ("a.yaml", "job: {model: m}\n");

  for (guint has_file = 0; has_file < 2; has_file++) {
    g_autofree char *path = put ("main.yaml", has_file ? "include: a.yaml\njob: {x: 1}\n" : "job: {x: 1}\n");
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (path, diagnostics, NULL), copy = fab_yaml_doc_copy (doc);
    g_autofree char *before = fab_yaml_node_text (fab_yaml_doc_root (doc)), *after = NULL, *made = NULL;

    assert_true (fab_yaml_doc_include (copy, NULL, diagnostics));
    after = fab_yaml_node_text (fab_yaml_doc_root (doc));
    made = fab_yaml_node_text (fab_yaml_doc_root (copy));
    assert_string_equal (after, before);
    assert_string_equal (made, has_file ? "job:\n  x: 1\n  model: m\n" : "job:\n  x: 1\n");
    assert_int_equal (fab_yaml_doc_root (copy) == fab_yaml_doc_root (doc), !has_file);
  }
}

/* A copy that is full says so where the document begins. */
static void
a_full_copy_includes_nothing (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = put ("main.yaml", "include: a.yaml\n");
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_load (path, diagnostics, NULL), copy = fab_yaml_doc_copy (doc);

  FabYamlNode *list = fab_yaml_tree_node (copy, FAB_YAML_SEQUENCE, &doc->root->mark);

  fab_yaml_tree_append (fab_yaml_tree_own (copy, &copy->root),
                        fab_yaml_tree_scalar (copy, "l", &doc->root->mark), list);
  while (copy->nodes->len <= FAB_YAML_MAX_NODES / 2) /* so that there is no room for each of them again */
    fab_yaml_tree_append (list, NULL, fab_yaml_tree_scalar (copy, NULL, &doc->root->mark));
  assert_false (fab_yaml_doc_include (copy, NULL, diagnostics));
  g_autofree char *printed = fab_diagnostics_format (diagnostics);
  assert_int_equal (fab_diagnostics_count (diagnostics), 1);
  assert_non_null (strstr (printed, "main.yaml:1:1: one document holds more than 200000 values\n"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (own_keys_win_and_mappings_merge),
    cmocka_unit_test (another_kind_replaces),
    cmocka_unit_test (lists_of_the_root_are_joined_by_name),
    cmocka_unit_test (a_file_may_include_beside_itself),
    cmocka_unit_test (circles_are_refused),
    cmocka_unit_test (mistakes_are_shown_where_they_are),
    cmocka_unit_test (nothing_is_shown_of_other_files),
    cmocka_unit_test (only_regular_files_are_read),
    cmocka_unit_test (what_merges_and_what_does_not),
    cmocka_unit_test (one_wrong_file_is_enough),
    cmocka_unit_test (there_are_limits),
    cmocka_unit_test (other_files_may_include),
    cmocka_unit_test (copies_include_by_themselves),
    cmocka_unit_test (a_full_copy_includes_nothing),
  };

  return cmocka_run_group_tests_name ("include", tests, make_directory, remove_directory);
}
