/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml_doc.c - YAML to nodes with positions, and what hostile files cost. */
#include "sim/config/yaml_doc.h"

#include "sim/base/error.h"
#include "tests/support/test.h"

static FabYamlDoc *
parse (const char *text, FabDiagnostics *diagnostics)
{
  return fab_yaml_doc_parse ("t.yaml", text, strlen (text), diagnostics);
}

/* Everything that is wrong with `text`, as printed. */
static void
assert_wrong_bytes (const char *text, gsize size, const char *expected)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabYamlDoc *doc = fab_yaml_doc_parse ("t.yaml", text, size, diagnostics);
  g_autofree char *printed = fab_diagnostics_format (diagnostics);

  fab_yaml_doc_free (doc);
  assert_string_equal (printed, expected);
}

static void
assert_wrong (const char *text, const char *expected)
{
  assert_wrong_bytes (text, strlen (text), expected);
}

static void
test_tree (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("name: \"a b\"\nlist: [1, {k: ~}]\nlast:\n", diagnostics);
  const FabYamlNode *root = fab_yaml_doc_root (doc), *list = fab_yaml_get (root, "list");

  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  assert_int_equal (root->n, 3);
  assert_string_equal (root->keys[0]->text, "name");
  assert_true (fab_yaml_get (root, "name")->is_quoted);
  assert_string_equal (fab_yaml_get (root, "name")->text, "a b");
  assert_int_equal (list->kind, FAB_YAML_SEQUENCE);
  assert_string_equal (list->values[0]->text, "1");
  assert_null (fab_yaml_get (list->values[1], "k")->text);
  assert_null (fab_yaml_get (root, "last")->text);
  assert_null (fab_yaml_get (root, "absent"));
  assert_null (fab_yaml_get (list, "k"));
}

static void
assert_mark (const FabYamlNode *node, guint line, guint column, guint length)
{
  assert_int_equal (node->mark.line, line);
  assert_int_equal (node->mark.column, column);
  assert_int_equal (node->mark.length, length);
}

/* Columns are characters: the mark of `v` stands behind a two-byte letter. */
static void
test_marks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("\xEF\xBB\xBF\xC3\xA4: v1\r\nb:\r\n  - {c: 25MiB}\r\n", diagnostics);
  const FabYamlNode *root = fab_yaml_doc_root (doc);
  const FabYamlNode *item = fab_yaml_get (root, "b")->values[0];

  assert_mark (root->keys[0], 1, 1, 1);
  assert_mark (root->values[0], 1, 4, 2);
  assert_int_equal (root->values[0]->mark.text_length, strlen ("\xC3\xA4: v1"));
  assert_mark (item->keys[0], 3, 6, 1);
  assert_mark (item->values[0], 3, 9, 5);
  assert_string_equal (item->mark.file, "t.yaml");
}

static void
test_empty (G_GNUC_UNUSED void **state)
{
  static const char *const empties[] = { "", "\n\n", "# only a comment\n", "---\n", "\xEF\xBB\xBF", "~" };

  for (gsize i = 0; i < G_N_ELEMENTS (empties); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (empties[i], diagnostics);

    assert_non_null (doc);
    assert_int_equal (fab_yaml_doc_root (doc)->kind, FAB_YAML_MAPPING);
    assert_int_equal (fab_yaml_doc_root (doc)->n, 0);
  }
}

static void
test_syntax (G_GNUC_UNUSED void **state)
{
  assert_wrong ("a: [1, 2\n", "t.yaml:1:4: the '[' that begins here is not closed: a ',' or ']' is missing\n"
                              "    1 | a: [1, 2\n"
                              "      |    ^");
  assert_wrong ("a: {b: 1 c: 2}\n",
                "t.yaml:1:11: a ',' or '}' is missing before this, behind the '{' of line 1\n"
                "    1 | a: {b: 1 c: 2}\n"
                "      |           ^");
  assert_wrong ("a: {b: 1}}\n", "t.yaml:1:10: this bracket closes nothing\n"
                                "    1 | a: {b: 1}}\n"
                                "      |          ^");
  assert_wrong (
      "a: \"x\\q\"\n",
      "t.yaml:1:6: found unknown escape character, while parsing a quoted scalar that begins on line 1\n"
      "    1 | a: \"x\\q\"\n"
      "      |      ^");
  assert_wrong ("a: \"x\n\n", "t.yaml:1:4: the quote that begins here does not end\n"
                              "    1 | a: \"x\n"
                              "      |    ^");
  assert_wrong ("a: 1\n\tb: 2\n", "t.yaml:2:1: a tab stands where YAML needs spaces\n"
                                  "    2 | \tb: 2\n"
                                  "      | ^");
  assert_wrong ("a: b: c\n",
                "t.yaml:1:5: a second ':' stands on this line; put quotes around a value that has one\n"
                "    1 | a: b: c\n"
                "      |     ^");
  assert_wrong ("a: 1\nforgot\nb: 2\n", "t.yaml:2:1: there is no ':' behind this key\n"
                                        "    2 | forgot\n"
                                        "      | ^");
  assert_wrong ("a: 1\nb:2\nc: 3\n", "t.yaml:2:1: a space is missing behind the ':'\n"
                                     "    2 | b:2\n"
                                     "      | ^");
  assert_wrong ("a:\n  b 1\n\n  c: 2\n", "t.yaml:4:4: the line above has no ':' behind its key\n"
                                         "    4 |   c: 2\n"
                                         "      |    ^");
  assert_wrong ("- a\n- b\n",
                "t.yaml:1:1: a list begins here; a file holds keys with values, for example 'name: test'\n"
                "    1 | - a\n"
                "      | ^");
  assert_wrong ("a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document begins here; a file may hold only one\n"
                                     "    2 | ---\n"
                                     "      | ^~~");
}

#define UNLIKE \
  "this key is indented unlike the keys above it; keys that belong together begin in the same column\n"

/* Deeper than the key above, which has a value; less deep than it, but deeper than what both belong to. */
static void
test_indentation (G_GNUC_UNUSED void **state)
{
  assert_wrong ("a:\n  b: 1\n   c: 2\n", "t.yaml:3:5: " UNLIKE "    3 |    c: 2\n"
                                         "      |     ^");
  assert_wrong ("a:\n  b: 1\n  # of b\n   c: 2\n", "t.yaml:4:4: " UNLIKE "    4 |    c: 2\n"
                                                   "      |    ^");
  assert_wrong ("a:\n  b: 1\n c: 2\n", "t.yaml:3:2: " UNLIKE "    3 |  c: 2\n"
                                       "      |  ^");
}

static void
test_keys (G_GNUC_UNUSED void **state)
{
  assert_wrong (
      "a: 1\nb: {x: 1, x: 2}\na: 3\n",
      "t.yaml:2:11: key 'x' is written twice; first on line 2\n    2 | b: {x: 1, x: 2}\n      |           ^\n"
      "t.yaml:3:1: key 'a' is written twice; first on line 1\n    3 | a: 3\n      | ^");
  assert_wrong ("{[1]: 2, ~: 3}\n",
                "t.yaml:1:2: a key must be text\n    1 | {[1]: 2, ~: 3}\n      |  ^\n"
                "t.yaml:1:10: a key must be text\n    1 | {[1]: 2, ~: 3}\n      |          ^");
  assert_wrong (
      "a: &x {k: 1}\nb: {<<: *x}\n",
      "t.yaml:2:5: merge keys (<<) are not supported; write the keys out, or use an alias as a whole value\n"
      "    2 | b: {<<: *x}\n      |     ^~");
  assert_wrong ("a: !!int 3\n",
                "t.yaml:1:4: tags ('tag:yaml.org,2002:int') are not supported; write the value alone\n"
                "    1 | a: !!int 3\n      |    ^~~~~~~");
}

static void
test_encoding (G_GNUC_UNUSED void **state)
{
  assert_wrong_bytes ("a: 1\nb\0: 2\n", 11,
                      "t.yaml:2:2: the file holds a NUL character; it is not a text file\n"
                      "    2 | b\xEF\xBF\xBD: 2\n"
                      "      |  ^");
  assert_wrong ("a: 1\nb: \xC3\xA4\xFF\n", "t.yaml:2:5: the file is not UTF-8; save it as UTF-8\n"
                                           "    2 | b: \xC3\xA4\xEF\xBF\xBD\n"
                                           "      |     ^");
  assert_wrong ("a: \x07\n",
                "t.yaml:1:4: control characters are not allowed\n    1 | a: \xEF\xBF\xBD\n      |    ^");
  assert_wrong ("\xFF\xFE"
                "a",
                "t.yaml:1:1: the file is UTF-16; save it as UTF-8\n    1 | \xEF\xBF\xBD\xEF\xBF\xBD"
                "a\n      | ^");
  assert_wrong ("a: \"\\0\"\n",
                "t.yaml:1:4: a text cannot hold a NUL character\n    1 | a: \"\\0\"\n      |    ^~~~");
  assert_wrong ("a: \xE2\x80\xA8\n",
                "t.yaml:1:4: the file holds an invisible line separator (U+0085, U+2028 or U+2029); end "
                "lines with LF\n"
                "    1 | a: \xEF\xBF\xBD\n"
                "      |    ^");
  assert_wrong ("a: \xE2\x80\xA9\n",
                "t.yaml:1:4: the file holds an invisible line separator (U+0085, U+2028 or U+2029); end "
                "lines with LF\n"
                "    1 | a: \xEF\xBF\xBD\n"
                "      |    ^");
  assert_wrong ("a: \xC2\x85\n",
                "t.yaml:1:4: the file holds an invisible line separator (U+0085, U+2028 or U+2029); end "
                "lines with LF\n"
                "    1 | a: \xEF\xBF\xBD\n"
                "      |    ^");
}

static void
test_alias (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("a: &x {k: 1}\nb: *x\n", diagnostics);

  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  assert_true (fab_yaml_doc_set (doc, "b.k=2", diagnostics));
  assert_string_equal (fab_yaml_get (fab_yaml_get (fab_yaml_doc_root (doc), "b"), "k")->text, "2");
  assert_string_equal (fab_yaml_get (fab_yaml_get (fab_yaml_doc_root (doc), "a"), "k")->text, "1");
  assert_wrong ("a: *none\n", "t.yaml:1:4: unknown alias '*none'; no '&none' is defined above it\n"
                              "    1 | a: *none\n"
                              "      |    ^~~~~");
  assert_wrong ("a: &x [*x]\n", "t.yaml:1:8: this alias refers to a value that contains it\n"
                                "    1 | a: &x [*x]\n"
                                "      |        ^~");
}

/* Ten levels of nine aliases each would be 3.5e9 nodes: one error, at the alias that is too much. */
static void
test_alias_bomb (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("l0: &l0 [x, x, x, x, x, x, x, x, x]\n");
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = NULL;
  g_autofree char *printed = NULL;

  for (guint i = 1; i <= 10; i++) {
    g_string_append_printf (text, "l%u: &l%u [", i, i);
    for (guint k = 0; k < 9; k++)
      g_string_append_printf (text, "%s*l%u", k > 0 ? ", " : "", i - 1);
    g_string_append (text, "]\n");
  }
  doc = parse (text->str, diagnostics);
  assert_null (doc);
  assert_int_equal (fab_diagnostics_count (diagnostics), 1);
  printed = fab_diagnostics_format (diagnostics);
  assert_non_null (
      strstr (printed, "makes the document too large: the limit is 200000 values, 64 levels deep"));
  assert_non_null (strstr (printed, "^~~"));
}

/* A large text behind an alias is shared, not copied. */
static void
test_alias_of_large_text (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("a: &x \"");
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = NULL;

  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (text, 'y');
  g_string_append (text, "\"\nb:\n");
  for (guint i = 0; i < 100000; i++)
    g_string_append (text, "- *x\n");
  doc = parse (text->str, diagnostics);
  assert_non_null (doc);
  assert_int_equal (fab_yaml_get (fab_yaml_doc_root (doc), "b")->n, 100000);
}

static void
test_limits (G_GNUC_UNUSED void **state)
{
  g_autofree char *deep = g_strnfill (100, '[');
  g_autofree char *deep_text = g_strconcat ("a: ", deep, NULL);
  g_autofree char *huge = g_strnfill (5 * 1024 * 1024, '#');
  g_autoptr (GString) many = g_string_new ("a: [");
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree char *printed = NULL;

  for (guint i = 0; i < 250000; i++)
    g_string_append (many, "x, ");
  g_string_append (many, "x]\n");
  assert_null (parse (deep_text, diagnostics));
  assert_null (parse (huge, diagnostics));
  assert_null (parse (many->str, diagnostics));
  assert_int_equal (fab_diagnostics_count (diagnostics), 3);
  printed = fab_diagnostics_format (diagnostics);
  assert_non_null (strstr (printed, "values are nested more than 64 levels deep"));
  assert_non_null (strstr (printed, "t.yaml: the file is larger than 4 MiB"));
  assert_non_null (strstr (printed, "one document holds more than 200000 values"));
}

static void
test_load (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (GError) absent = NULL, directory = NULL;

  assert_null (fab_yaml_doc_load ("/nowhere/x.yaml", diagnostics, &absent));
  assert_true (g_error_matches (absent, FAB_ERROR, FAB_ERROR_IO));
  assert_string_equal (absent->message, "cannot open /nowhere/x.yaml: No such file or directory");
  assert_null (fab_yaml_doc_load ("/", diagnostics, &directory));
  assert_true (g_error_matches (directory, FAB_ERROR, FAB_ERROR_IO));
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_tree),        cmocka_unit_test (test_marks),
    cmocka_unit_test (test_empty),       cmocka_unit_test (test_syntax),
    cmocka_unit_test (test_indentation), cmocka_unit_test (test_keys),
    cmocka_unit_test (test_encoding),    cmocka_unit_test (test_alias),
    cmocka_unit_test (test_alias_bomb),  cmocka_unit_test (test_alias_of_large_text),
    cmocka_unit_test (test_limits),      cmocka_unit_test (test_load),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
