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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_writer_quotes),
    cmocka_unit_test (test_writer_layout),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
