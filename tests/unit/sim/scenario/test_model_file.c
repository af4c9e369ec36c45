/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_file.c - files of other projects as entries of `models` (sim/scenario/model_file.c): what they are called,
 * where mistakes are told, and the fragment that is written of one.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "sim/config/yaml_doc.h"
#include "sim/scenario/model_file.h"
#include "tests/support/small_models.h"

static char *directory;

static int
make_directory (G_GNUC_UNUSED void **state)
{
  g_autofree char *inner = NULL;

  directory = g_dir_make_tmp ("fab-models-XXXXXX", NULL);
  inner = g_build_filename (directory, "a", NULL);
  return g_mkdir (inner, 0700);
}

static int
remove_directory (G_GNUC_UNUSED void **state)
{
  static const char *const files[] = { "a/config.json", "small.json", "list.json",
                                       "other.json",    "wrong.json", "a" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (directory, files[i], NULL);

    g_remove (path);
  }
  g_rmdir (directory);
  g_free (directory);
  return 0;
}

static void
put (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* Layers of a toy; a width is given twice, and the later counts. */
static void
read_toy (const FabYamlNode *root, FabModelFile *file)
{
  const FabYamlNode *layers = fab_yaml_get (root, "n_layers");

  if (strcmp (layers->text, "many") == 0) {
    fab_model_file_fail (file, layers, "'%s' is no number", layers->text);
    return;
  }
  fab_model_file_set (file, "kind", "mlp", root);
  fab_model_file_set (file, "layers", layers->text, layers);
  fab_model_file_set_count (file, "hidden", 7, root);
  fab_model_file_set_count (file, "hidden", 64, root);
  fab_model_file_note (file, "%u notes", 1u);
}

/* The same with a table of the shape, which no reader of shapes looks at here. */
static void
read_nested (const FabYamlNode *root, FabModelFile *file)
{
  fab_model_file_set (file, "moe.experts", "8", root);
  fab_model_file_set (file, "moe.top", "2", root);
  fab_model_file_set (file, "layers", "1", root);
}

static const FabModelFileFormat toy = { .name = "toy config", .key = "n_layers", .read = read_toy };
static const FabModelFileFormat nested = { .name = "toy config", .key = "n_layers", .read = read_nested };

static FabRegistry
registry_of (const FabModelFileFormat *format)
{
  FabRegistry models = small_registry;

  models.model_file = format;
  return models;
}

/* What becomes of the document, with @ for the directory. (transfer full) */
static char *
read_text (const FabYamlDoc *doc)
{
  g_autofree char *text = fab_yaml_node_text (fab_yaml_doc_root (doc));
  g_autoptr (GString) out = g_string_new (text);

  g_string_replace (out, directory, "@", 0);
  return g_strdup (out->str);
}

static FabYamlDoc *
parse (const char *text, FabDiagnostics *diagnostics)
{
  g_autofree char *name = g_build_filename (directory, "t.yaml", NULL);

  return fab_yaml_doc_parse (name, text, strlen (text), diagnostics);
}

#define ENTRY(name_, file_, layers_)                                                                 \
  "  - shape:\n      kind: mlp\n      layers: " layers_ "\n      hidden: 64\n    source: \"@/" file_ \
  ": toy config\"\n"                                                                                 \
  "    name: " name_ "\n"

/* An entry is called as its file, or as the folder of a config.json, with a number where that is taken; names that are
 * no files, and files that are names, stay. */
static void
paths_become_entries (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *before, *after;
  } rows[] = {
    { "job: {model: small.json}\n", "job:\n  model: small\nmodels:\n" ENTRY ("small", "small.json", "3") },
    { "job: {model: a/config.json}\nmodels:\n",
      "job:\n  model: a\nmodels:\n" ENTRY ("a", "a/config.json", "2") },
    { "models: [{name: a}, {name: a-2}, 5]\nl: [{model: a/config.json}, {x: {model: a/config.json}}]\n",
      "models:\n  - name: a\n  - name: a-2\n  - 5\n" ENTRY ("a-3", "a/config.json", "2")
          ENTRY ("a-4", "a/config.json", "2") "l:\n  - model: a-3\n  - x:\n      model: a-4\n" },
    { "job: {model: tiny, mode: small.json}\n", "job:\n  model: tiny\n  mode: small.json\n" },
    { "models: [{name: small.json}]\njob: {model: small.json}\n",
      "models:\n  - name: small.json\njob:\n  model: small.json\n" },
    { "job: {model: [small.json]}\n", "job:\n  model:\n    - small.json\n" },
    { "job: {model: ~}\n", "job:\n  model: ~\n" },
  };
  const FabRegistry models = registry_of (&toy);

  put ("a/config.json", "{\"n_layers\": 2}");
  put ("small.json", "{\"n_layers\": 3}");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (rows[i].before, diagnostics);
    g_autoptr (FabYamlDoc) copy = fab_yaml_doc_copy (doc);
    g_autofree char *before = read_text (doc), *of_copy = NULL, *still = NULL, *of_doc = NULL;

    fab_model_files_read (copy, &models, diagnostics);
    of_copy = read_text (copy);
    still = read_text (doc);
    assert_string_equal (of_copy, rows[i].after);
    assert_string_equal (still, before);
    g_clear_pointer (&copy, fab_yaml_doc_free);
    fab_model_files_read (doc, &small_registry, diagnostics); /* which reads no files */
    g_free (still);
    still = read_text (doc);
    assert_string_equal (still, before);
    fab_model_files_read (doc, &models, diagnostics);
    of_doc = read_text (doc);
    assert_string_equal (of_doc, rows[i].after);
    assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  }
}

/* A copy of a document in which no file is named goes on sharing its values; one in which a file is named does not. */
static void
values_are_shared_where_no_file_is_named (G_GNUC_UNUSED void **state)
{
  const FabRegistry models = registry_of (&toy);

  put ("small.json", "{\"n_layers\": 3}");
  for (guint is_named = 0; is_named < 2; is_named++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (is_named ? "job: {model: small.json}\n" : "job: {model: tiny}\n",
                                        diagnostics);
    g_autoptr (FabYamlDoc) copy = fab_yaml_doc_copy (doc);

    fab_model_files_read (copy, &models, diagnostics);
    assert_int_equal (fab_yaml_doc_root (copy) == fab_yaml_doc_root (doc), !is_named);
    assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  }
}

/* A document that is a copy needs its values twice, and there may be no room for that. */
static void
a_copy_may_be_full (G_GNUC_UNUSED void **state)
{
  const FabRegistry models = registry_of (&toy);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("job: {model: small.json}\n", diagnostics),
                         copy = fab_yaml_doc_copy (doc);
  g_autofree char *printed = NULL;

  put ("small.json", "{\"n_layers\": 3}");
  FabYamlNode *list = fab_yaml_tree_node (copy, FAB_YAML_SEQUENCE, &doc->root->mark);

  fab_yaml_tree_append (fab_yaml_tree_own (copy, &copy->root),
                        fab_yaml_tree_scalar (copy, "l", &doc->root->mark), list);
  while (copy->nodes->len <= FAB_YAML_MAX_NODES / 2) /* so that there is no room for each of them again */
    fab_yaml_tree_append (list, NULL, fab_yaml_tree_scalar (copy, NULL, &doc->root->mark));
  fab_model_files_read (copy, &models, diagnostics);
  printed = fab_diagnostics_format (diagnostics);
  assert_int_equal (fab_diagnostics_count (diagnostics), 1);
  assert_non_null (strstr (printed, "t.yaml:1:1: one document holds more than 200000 values\n"));
}

/* A file that cannot be read, or is something else, is told where it is named; a mistake in one that is right, in it.
 */
static void
mistakes_are_told_where_they_are (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "job: {model: absent.json}\n",
      "@/t.yaml:1:14: cannot open @/absent.json: No such file or directory\n" },
    { "job: {model: list.json}\n",
      "@/t.yaml:1:14: @/list.json is not a toy config, which needs a key 'n_layers'; "
      "its text is not shown, because the file may be private\n" },
    { "job: {model: other.json}\n", "@/t.yaml:1:14: @/other.json is not a toy config, which needs a key" },
    { "job: {model: wrong.json}\n", "@/wrong.json:1:14: 'many' is no number\n" },
    { "job: {model: small.json}\nmodels: 3\n", NULL }, /* which the reader of the scenario says */
  };
  const FabRegistry models = registry_of (&toy);

  put ("small.json", "{\"n_layers\": 3}");
  put ("list.json", "[1]");
  put ("other.json", "{\"hidden\": \"secret\"}");
  put ("wrong.json", "{\"n_layers\": \"many\"}");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (rows[i][0], diagnostics);
    g_autofree char *before = read_text (doc), *after = NULL, *printed = NULL;

    fab_model_files_read (doc, &models, diagnostics);
    after = read_text (doc);
    assert_string_equal (after, before);
    printed = fab_diagnostics_format (diagnostics);
    g_autoptr (GString) told = g_string_new (printed);
    g_string_replace (told, directory, "@", 0);
    assert_int_equal (fab_diagnostics_count (diagnostics), rows[i][1] != NULL);
    if (rows[i][1] != NULL && !g_str_has_prefix (told->str, rows[i][1]))
      fail_msg ("%s: %s", rows[i][0], told->str);
  }
}

/* --- fragments --- */

/* A fragment has the notes, and the entry as a scenario or a file of the catalogue has it. */
static void
a_fragment_is_a_file_to_include (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *file, *name, *entry;
  } rows[] = {
    { "x/Llama-2/config.json", NULL, "Llama-2" },
    { "x/y.json", NULL, "y" },
    { "y", NULL, "y" },
    { "config.json", NULL, "imported" },
    { "../config.json", NULL, "imported" },
    { "/config.json", NULL, "imported" },
    { "x/config.json", "mine", "mine" },
  };
  const FabRegistry models = registry_of (&toy);
  const char *json = "{\"n_layers\": 4}";

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = fab_model_file_fragment (rows[i].file, rows[i].name, json, strlen (json), &models,
                                                     &error);
    g_autofree char *expected = g_strdup_printf (
        "# A model from %s. Include this file in a scenario, and name the model in its job.\n# 1 notes\n"
        "models:\n  - name: %s\n    shape:\n      kind: mlp\n      layers: 4\n      hidden: 64\n"
        "    source: \"%s: toy config\"\n",
        rows[i].file, rows[i].entry, rows[i].file);

    assert_null (error);
    assert_string_equal (text, expected);
  }
}

static void
wrong_fragments_are_refused (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "[1]", "f.json:1:1: this is not a toy config\n" },
    { "{}", "f.json:1:1: this is not a toy config\n" },
    { "{\"n_layers\": \"many\"}", "f.json:1:14: 'many' is no number\n" },
    { "{\"n_layers\": 0}", "f.json:1:14: 'layers' is 0: the lower limit is 1\n" },
    { "{\"n_layers\": 1", "f.json:1:1: the '{' that begins here is not closed" },
  };
  const FabRegistry models = registry_of (&toy);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_model_file_fragment ("f.json", NULL, rows[i][0], strlen (rows[i][0]), &models, &error));
    if (!g_str_has_prefix (error->message, rows[i][1]))
      fail_msg ("%s: %s", rows[i][0], error->message);
  }
}

/* "moe.experts" and "moe.top" share one table. */
static void
keys_with_a_dot_are_tables (G_GNUC_UNUSED void **state)
{
  const FabRegistry models = registry_of (&nested);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("job: {model: small.json}\n", diagnostics);
  g_autofree char *text = NULL;

  put ("small.json", "{\"n_layers\": 3}");
  fab_model_files_read (doc, &models, diagnostics);
  text = read_text (doc);
  assert_string_equal (
      text, "job:\n  model: small\nmodels:\n  - shape:\n      moe:\n        experts: 8\n        top: 2\n"
            "      layers: 1\n    source: \"@/small.json: toy config\"\n    name: small\n");
}

/* A file may fill the document: that is told once, and no entry is left without a name. What is read needs 3 nodes, the
 * entry and its shape 2, the four values that are set 8 with their keys, the key of the shape 1, the source 2, and the
 * list and the name 4: 20 in all. */
static void
a_document_may_be_full (G_GNUC_UNUSED void **state)
{
  const FabRegistry models = registry_of (&toy);

  put ("small.json", "{\"n_layers\": 3}");
  for (guint n_left = 0; n_left <= 20; n_left++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse ("job: {model: small.json}\n", diagnostics);
    g_autofree char *printed = NULL;
    const char *said = n_left < 3 ? "is not a toy config" : "one document holds more than 200000 values";

    doc->n_inherited = FAB_YAML_MAX_NODES - doc->nodes->len - n_left;
    fab_model_files_read (doc, &models, diagnostics);
    printed = fab_diagnostics_format (diagnostics);
    assert_int_equal (fab_diagnostics_count (diagnostics), n_left < 20);
    if (n_left < 20 && strstr (printed, said) == NULL)
      fail_msg ("%u: %s", n_left, printed);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (paths_become_entries),
    cmocka_unit_test (values_are_shared_where_no_file_is_named),
    cmocka_unit_test (a_copy_may_be_full),
    cmocka_unit_test (mistakes_are_told_where_they_are),
    cmocka_unit_test (a_fragment_is_a_file_to_include),
    cmocka_unit_test (wrong_fragments_are_refused),
    cmocka_unit_test (keys_with_a_dot_are_tables),
    cmocka_unit_test (a_document_may_be_full),
  };

  return cmocka_run_group_tests_name ("model_file", tests, make_directory, remove_directory);
}
