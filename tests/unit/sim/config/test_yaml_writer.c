/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml_writer.c - what is written reads back as the same text, in the layout that people write. */
#include "sim/config/yaml_doc.h"

#include "tests/support/test.h"

static FabYamlDoc *
parse (const char *text, FabDiagnostics *diagnostics)
{
  return fab_yaml_doc_parse ("t.yaml", text, strlen (text), diagnostics);
}

static const char *const words[] = {
  "plain",
  "with space",
  "",
  "~",
  "null",
  "- a",
  "a: b",
  "a #b",
  "x:",
  " lead",
  "trail ",
  "\"",
  "it's",
  "{a}",
  "[a]",
  "a, b",
  "&a",
  "*a",
  "!t",
  "%d",
  "@x",
  "`",
  "|",
  ">",
  "?",
  "...",
  "---",
  "-5",
  "-",
  "2e9",
  "yes",
  "2026-01-01",
  "line\nbreak",
  "tab\t",
  "\x1B",
  "\xC3\xA4\xE2\x80\xA8",
  "\xF0\x9F\x98\x80",
  "\\",
  "<<",
  "25MiB",
  "50%",
  "a\xC2\x85",
};

/* Writes each word as a value; reading must give it back, as text when `text` wrote it. */
static void
test_writer_quotes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = NULL;
  g_autofree char *text = NULL;
  FabYamlWriter *writer = fab_yaml_writer_new ();

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++) {
    fab_yaml_writer_key (writer, words[i][0] != '\0' ? words[i] : "empty");
    fab_yaml_writer_text (writer, words[i]);
  }
  fab_yaml_writer_end (writer);
  text = fab_yaml_writer_finish (writer);
  doc = parse (text, diagnostics);
  if (fab_diagnostics_count (diagnostics) > 0)
    fail_msg ("%s%s", text, fab_diagnostics_format (diagnostics));
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++) {
    assert_string_equal (fab_yaml_doc_root (doc)->keys[i]->text, words[i][0] != '\0' ? words[i] : "empty");
    assert_string_equal (fab_yaml_doc_root (doc)->values[i]->text, words[i]);
  }
  assert_non_null (strstr (text, "plain: plain\n"));
  assert_non_null (strstr (text, "25MiB: 25MiB\n"));
  assert_non_null (strstr (text, "yes: \"yes\"\n"));
}

static void
test_writer_layout (G_GNUC_UNUSED void **state)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();
  g_autofree char *text = NULL;

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "a");
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "b");
  fab_yaml_writer_scalar (writer, "8");
  fab_yaml_writer_key (writer, "c");
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  fab_yaml_writer_scalar (writer, "~");
  fab_yaml_writer_end (writer);
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
  text = fab_yaml_writer_finish (writer);
  assert_string_equal (text, "a:\n  - b: 8\n    c: {}\n  - - \"~\"\n  - []\n");
}

/* Texts as `scalar` and as `text` write them. */
static const struct {
  const char *text, *scalar, *quoted;
} quotes[] = {
  { "plain", "plain", "plain" },
  { "25MiB", "25MiB", "25MiB" },
  { "a ,._/%+:@()[]{}#;='-*^<>~$?!\"", "a ,._/%+:@()[]{}#;='-*^<>~$?!\"", "a ,._/%+:@()[]{}#;='-*^<>~$?!\"" },
  { "8", "8", "\"8\"" },
  { "-8", "-8", "\"-8\"" },
  { "-x", "-x", "\"-x\"" },
  { "-w", "-w", "-w" },
  { "-", "\"-\"", "\"-\"" },
  { "--", "\"--\"", "\"--\"" },
  { "./a", "./a", "./a" },
  { "+w", "+w", "+w" },
  { "/a", "/a", "/a" },
  { "_a", "_a", "_a" },
  { "+1", "+1", "\"+1\"" },
  { ".5", ".5", "\".5\"" },
  { "..", "..", "\"..\"" },
  { "...", "\"...\"", "\"...\"" },
  { "..a", "..a", "\"..a\"" },
  { "..g", "..g", "..g" },
  { "0x1F", "0x1F", "\"0x1F\"" },
  { "0o17", "0o17", "\"0o17\"" },
  { "1_000", "1_000", "\"1_000\"" },
  { "1:30", "1:30", "\"1:30\"" },
  { "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", "\"2026-01-01T10:00:00Z\"" },
  { "2026-01-01 10", "2026-01-01 10", "\"2026-01-01 10\"" },
  { "1e9", "1e9", "\"1e9\"" },
  { "9g", "9g", "9g" },
  { "e9", "e9", "e9" },
  { "Yes", "Yes", "\"Yes\"" },
  { "OFF", "OFF", "\"OFF\"" },
  { "y", "y", "\"y\"" },
  { "n", "n", "\"n\"" },
  { "True", "True", "\"True\"" },
  { ".NaN", ".NaN", "\".NaN\"" },
  { "yess", "yess", "yess" },
  { "null", "\"null\"", "\"null\"" },
  { "Null", "\"Null\"", "\"Null\"" },
  { "NULL", "\"NULL\"", "\"NULL\"" },
  { "nULL", "nULL", "nULL" },
  { "~", "\"~\"", "\"~\"" },
  { "", "\"\"", "\"\"" },
  { " a", "\" a\"", "\" a\"" },
  { "a ", "\"a \"", "\"a \"" },
  { "a:", "\"a:\"", "\"a:\"" },
  { "a:b", "a:b", "a:b" },
  { "a: b", "\"a: b\"", "\"a: b\"" },
  { "a#b", "a#b", "a#b" },
  { "a #b", "\"a #b\"", "\"a #b\"" },
  { "#a", "\"#a\"", "\"#a\"" },
  { "a|b", "\"a|b\"", "\"a|b\"" },
  { "a&b", "\"a&b\"", "\"a&b\"" },
  { "a`b", "\"a`b\"", "\"a`b\"" },
  { "say \"a\\b\"", "\"say \\\"a\\\\b\\\"\"", "\"say \\\"a\\\\b\\\"\"" },
  { "a\tb\nc", "\"a\\tb\\nc\"", "\"a\\tb\\nc\"" },
  { "\x1F\x7F", "\"\\u001F\\u007F\"", "\"\\u001F\\u007F\"" },
  { "\xC2\x9F\xC2\xA0", "\"\\u009F\xC2\xA0\"", "\"\\u009F\xC2\xA0\"" },
  { "\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA", "\"\xE2\x80\xA7\\u2028\\u2029\xE2\x80\xAA\"",
    "\"\xE2\x80\xA7\\u2028\\u2029\xE2\x80\xAA\"" },
  { "\xEF\xBB\xBF\xEF\xBB\xBE", "\"\\uFEFF\xEF\xBB\xBE\"", "\"\\uFEFF\xEF\xBB\xBE\"" },
  { "\xEF\xBF\xAF\xEF\xBF\xB0\xEF\xBF\xBF", "\"\xEF\xBF\xAF\\uFFF0\\uFFFF\"",
    "\"\xEF\xBF\xAF\\uFFF0\\uFFFF\"" },
  { "\xF0\x90\x80\x80", "\"\\U00010000\"", "\"\\U00010000\"" },
};

/* Texts are quoted where YAML would read something else, and as text where other
 * readers would take it for a truth value, a number or a date. */
static void
test_quotes_where_needed (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (quotes); i++)
    for (guint is_text = 0; is_text <= 1; is_text++) {
      FabYamlWriter *writer = fab_yaml_writer_new ();
      g_autofree char *written = NULL, *expected = NULL;

      fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
      fab_yaml_writer_key (writer, quotes[i].text);
      (is_text ? fab_yaml_writer_text : fab_yaml_writer_scalar) (writer, quotes[i].text);
      fab_yaml_writer_end (writer);
      written = fab_yaml_writer_finish (writer);
      expected = g_strdup_printf ("%s: %s\n", quotes[i].scalar,
                                  is_text ? quotes[i].quoted : quotes[i].scalar);
      assert_string_equal (written, expected);
    }
}

/* Values that are absent are absent in both. */
static void
assert_same_tree (const FabYamlNode *a, const FabYamlNode *b)
{
  assert_int_equal (a->kind, b->kind);
  assert_int_equal (a->n, b->n);
  assert_true (g_strcmp0 (a->text, b->text) == 0);
  for (guint i = 0; i < a->n; i++) {
    if (a->keys != NULL)
      assert_string_equal (a->keys[i]->text, b->keys[i]->text);
    assert_same_tree (a->values[i], b->values[i]);
  }
}

/* What a tree is written as, which reads back to the same tree. */
static void
test_trees (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "a: [1, [2, []], {}]\n", "a:\n  - 1\n  - - 2\n    - []\n  - {}\n" },
    { "a: {b: {c: {}}, d: []}\ne: ~\n", "a:\n  b:\n    c: {}\n  d: []\ne: ~\n" },
    { "a: [~, \"~\", null, 'null']\n", "a:\n  - ~\n  - \"~\"\n  - ~\n  - \"null\"\n" },
    { "a: [{b: [{c: 1}, {d: 2}]}, {e: 3, f: {g: 4}}]\n",
      "a:\n  - b:\n      - c: 1\n      - d: 2\n  - e: 3\n    f:\n      g: 4\n" },
    { "a: 'yes'\nb: yes\nc: \"8\"\nd: 8\n", "a: \"yes\"\nb: yes\nc: \"8\"\nd: 8\n" },
    { "", "{}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (rows[i][0], diagnostics);
    g_autofree char *text = fab_yaml_node_text (fab_yaml_doc_root (doc)), *again = NULL;
    g_autoptr (FabYamlDoc) back = parse (text, diagnostics);

    assert_string_equal (text, rows[i][1]);
    assert_same_tree (fab_yaml_doc_root (doc), fab_yaml_doc_root (back));
    again = fab_yaml_node_text (fab_yaml_doc_root (back));
    assert_string_equal (again, text);
    if (fab_yaml_doc_root (doc)->n > 0 && fab_yaml_doc_root (doc)->values[0]->kind == FAB_YAML_SEQUENCE) {
      g_autofree char *list = fab_yaml_node_text (fab_yaml_doc_root (doc)->values[0]);

      assert_true (g_str_has_prefix (list, "- ")); /* at the root */
    }
  }
}

/* A comment stands behind the value before it. */
static void
test_comment (G_GNUC_UNUSED void **state)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();
  g_autofree char *text = NULL;

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "a");
  fab_yaml_writer_scalar (writer, "0");
  fab_yaml_writer_comment (writer, "none");
  fab_yaml_writer_key (writer, "b");
  fab_yaml_writer_text (writer, "x");
  fab_yaml_writer_end (writer);
  text = fab_yaml_writer_finish (writer);
  assert_string_equal (text, "a: 0 # none\nb: x\n");
}

/* A scalar alone is a document too. */
static void
test_scalar_alone (G_GNUC_UNUSED void **state)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();
  g_autofree char *text = NULL;

  fab_yaml_writer_text (writer, "no");
  text = fab_yaml_writer_finish (writer);
  assert_string_equal (text, "\"no\"\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_writer_quotes),
    cmocka_unit_test (test_writer_layout),
    cmocka_unit_test (test_quotes_where_needed),
    cmocka_unit_test (test_trees),
    cmocka_unit_test (test_comment),
    cmocka_unit_test (test_scalar_alone),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
