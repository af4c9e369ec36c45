/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml_doc.c - YAML to nodes with positions, and what hostile files cost. */
#include "sim/config/yaml_doc.h"

#include <stdio.h>
#include <unistd.h>

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

/* The marks of a text at every byte, beside a count of what stands before it. Lines end at LF, CRLF and CR, and a byte
 * order mark is no part of the text. */
static void
test_mark_of_every_byte (G_GNUC_UNUSED void **state)
{
  static const char text[] = "\xEF\xBB\xBF"
                             "a\rb\n\r\n\xC3\xA4"
                             "c\n\n\rd\xF0\x9F\x98\x80"
                             "e";
  FabYamlSource *source = fab_yaml_source_new ("t.yaml", text, strlen (text));
  g_autoptr (FabYamlDoc) owner = fab_yaml_doc_new ("owner");
  guint line = 1, column = 1;
  gsize start = 0;

  g_ptr_array_add (owner->sources, source);
  assert_string_equal (source->data, text + 3);
  for (gsize i = 0; i <= source->size + 2; i++) {
    FabMark mark = fab_yaml_source_mark_at (source, i);
    gsize length = strcspn (source->data + start, "\r\n");

    assert_int_equal (mark.line, line);
    assert_int_equal (mark.column, column);
    assert_int_equal (mark.length, 1);
    assert_ptr_equal (mark.text, source->data + start);
    assert_int_equal (mark.text_length, length);
    if (i >= source->size)
      continue;
    column += ((guchar) source->data[i] & 0xC0) != 0x80; /* it begins a character */
    if (source->data[i] == '\n' || (source->data[i] == '\r' && source->data[i + 1] != '\n')) {
      line++;
      column = 1;
      start = i + 1;
    }
  }
  assert_int_equal (line, 7);
}

/* A mark underlines a value as far as its line goes, and a mapping at its bracket or its first key. */
static void
test_mark_lengths (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("two: \"x\n  y\"\nflow: {abc: 1}\nblock:\n  abc: 1\nnone:",
                                      diagnostics);
  const FabYamlNode *root = fab_yaml_doc_root (doc);

  assert_mark (root, 1, 1, 3);
  assert_mark (fab_yaml_get (root, "two"), 1, 6, G_MAXINT32);
  assert_mark (fab_yaml_get (root, "flow"), 3, 7, 1);
  assert_mark (fab_yaml_get (root, "block"), 5, 3, 3);
  assert_mark (fab_yaml_get (root, "none"), 6, 6, 1);
}

static void
test_nulls (G_GNUC_UNUSED void **state)
{
  static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
  static const char *const texts[] = { "nULL", "\"\"", "\"~\"", "'null'" };

  for (gsize i = 0; i < G_N_ELEMENTS (nulls) + G_N_ELEMENTS (texts); i++) {
    gboolean is_null = i < G_N_ELEMENTS (nulls);
    g_autofree char *text = g_strconcat ("a: ", is_null ? nulls[i] : texts[i - G_N_ELEMENTS (nulls)], NULL);
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (text, diagnostics);

    assert_int_equal (fab_yaml_get (fab_yaml_doc_root (doc), "a")->text == NULL, is_null);
  }
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

/* Mistakes of other kinds: the place, in characters, and what is said about it. */
static void
test_more_syntax (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *begin;
  } mistakes[] = {
    /* a bracket behind letters of two bytes, and behind something that ends before it */
    { "a: \"\xC3\xA4\"]\n", "1:7: this bracket closes nothing\n" },
    { "a: \"\xC3\xA4\" }\n", "1:8: this bracket closes nothing\n" },
    { "a: \"x\" y: ]\n",
      "1:8: did not find expected key, while parsing a block mapping that begins on line 1\n" },
    { "a:\n  b: 1\n \"x\"\n",
      "3:2: did not find expected key, while parsing a block mapping that begins on line 1\n" },
    { "\xC3\xA4: y: z\n", "1:5: a second ':' stands on this line" },
    /* the line above, where there is one */
    { "--- a: b\n", "1:6: mapping values are not allowed in this context\n" },
    { "a: \"b\nc\": 1\n", "2:3: mapping values are not allowed in this context\n" },
    { "a:\n    b\n  c: 2\n", "3:4: the line above has no ':' behind its key\n" },
    { "a:\n  b\n  c: 2\n", "3:4: the line above has no ':' behind its key\n" },
    { "a:\r\n  b 1\r\n \r\n  c: 2\r\n", "4:4: the line above has no ':' behind its key\n" },
    { "a:\r  b 1\r\r  c: 2\r", "4:4: the line above has no ':' behind its key\n" },
    /* what begins elsewhere, and what begins here and is not ended at the end of the text */
    { "a: [{b: 1} {c: 2}]\n", "1:12: a ',' or ']' is missing before this, behind the '[' of line 1\n" },
    { "a: [1\nb: 2\n", "2:2: a ',' or ']' is missing before this, behind the '[' of line 1\n" },
    { "a: [1, 2", "1:4: the '[' that begins here is not closed: a ',' or ']' is missing\n" },
    { "a: {b: \xC3\xA4", "1:4: the '{' that begins here is not closed: a ',' or '}' is missing\n" },
    { "a: 'x", "1:4: the quote that begins here does not end\n" },
    { "a: \"x\n---\n",
      "2:1: found unexpected document indicator, while scanning a quoted scalar that begins on line 1\n" },
    { "a: *",
      "1:4: did not find expected alphabetic or numeric character, while scanning an alias that begins here\n" },
    { "a: *\nb: 1\n",
      "1:5: did not find expected alphabetic or numeric character, while scanning an alias that begins on line 1\n" },
    /* a tab is named where it stands, but not before that */
    { "a: [\n\t@", "2:2: found character that cannot start any token" },
    { "a: ]\n", "1:4: a value is missing here\n" },
    { "%YAML 3.0\n---\na: 1\n", "1:1: found incompatible YAML document\n" },
    { "text\n", "1:1: a file holds keys with values, for example 'name: test'\n" },
    { "\"a\"\n---\n", "2:1: a second document begins here" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autofree char *begin = g_strconcat ("t.yaml:", mistakes[i].begin, NULL), *printed = NULL;

    assert_null (parse (mistakes[i].text, diagnostics));
    printed = fab_diagnostics_format (diagnostics);
    if (!g_str_has_prefix (printed, begin))
      fail_msg ("%s\n%s\n%s", mistakes[i].text, begin, printed);
  }
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

/* Anchors, aliases and tags of scalars, lists and mappings; quoted, what merges keys elsewhere is a key. */
static void
test_every_kind (G_GNUC_UNUSED void **state)
{
  static const char *const values[] = { "1", "[1]", "{k: 1}" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autofree char *text = g_strdup_printf ("a: &x %s\n\"<<\": *x\n", values[i]);
    g_autofree char *tagged = g_strdup_printf ("a: !t %s\n", values[i]);
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new (), wrong = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (text, diagnostics), other = parse (tagged, wrong);
    const FabYamlNode *root = fab_yaml_doc_root (doc);
    g_autofree char *first = fab_yaml_node_text (root->values[0]),
                    *second = fab_yaml_node_text (root->values[1]);

    assert_int_equal (fab_diagnostics_count (diagnostics), 0);
    assert_string_equal (first, second);
    assert_ptr_not_equal (root->values[0], root->values[1]);
    assert_int_equal (fab_diagnostics_count (wrong), 1);
  }
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
  assert_wrong (
      "\xFE\xFF",
      "t.yaml:1:1: the file is UTF-16; save it as UTF-8\n    1 | \xEF\xBF\xBD\xEF\xBF\xBD\n      | ^");
  assert_wrong ("\xFF",
                "t.yaml:1:1: the file is not UTF-8; save it as UTF-8\n    1 | \xEF\xBF\xBD\n      | ^");
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
  assert_true (fab_yaml_doc_set (doc, "--set", "b.k=2", diagnostics));
  assert_string_equal (fab_yaml_get (fab_yaml_get (fab_yaml_doc_root (doc), "b"), "k")->text, "2");
  assert_string_equal (fab_yaml_get (fab_yaml_get (fab_yaml_doc_root (doc), "a"), "k")->text, "1");
  assert_wrong ("a: *none\n", "t.yaml:1:4: unknown alias '*none'; no '&none' is defined above it\n"
                              "    1 | a: *none\n"
                              "      |    ^~~~~");
  assert_wrong ("a: &x [*x]\n", "t.yaml:1:8: this alias refers to a value that contains it\n"
                                "    1 | a: &x [*x]\n"
                                "      |        ^~");
}

/* A document may hold 200000 values, 64 levels deep: one more of either is too much. With a mapping, its key and the
 * list behind it, 199997 items are left; the mapping and 63 lists are 64 levels, be they written or copied. */
static void
test_exact_limits (G_GNUC_UNUSED void **state)
{
  for (guint is_over = 0; is_over <= 1; is_over++) {
    g_autofree char *deep = g_strnfill (63 + is_over, '['), *ends = g_strnfill (63 + is_over, ']');
    g_autofree char *text = g_strconcat ("a: ", deep, ends, NULL);
    g_autofree char *half = g_strnfill (31, '['), *half_ends = g_strnfill (31, ']');
    g_autofree char *rest = g_strnfill (32 + is_over, '['), *rest_ends = g_strnfill (32 + is_over, ']');
    g_autofree char *copied = g_strconcat ("a: &x ", half, half_ends, "\nb: ", rest, "*x", rest_ends, NULL);
    g_autoptr (GString) many = g_string_new ("a: [x");

    for (guint i = 0; i < 199996 + is_over; i++)
      g_string_append (many, ",x");
    g_string_append (many, "]\n");
    const char *const texts[] = { text, copied, many->str };
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
      g_autoptr (FabYamlDoc) doc = parse (texts[i], diagnostics);

      assert_int_equal (doc == NULL, is_over);
      assert_int_equal (fab_diagnostics_count (diagnostics), is_over);
    }
  }
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

/* A file of 4 MiB is read, with a byte order mark too, and no file stays open; one byte more is too much. */
static void
test_load_size (G_GNUC_UNUSED void **state)
{
  const gsize most = 4 * 1024 * 1024;
  g_autofree char *path = NULL, *text = g_strnfill (3 + most + 1, '#');
  int file = g_file_open_tmp ("fab-yaml-XXXXXX", &path, NULL), next = dup (file);

  close (next);
  for (guint is_marked = 0; is_marked <= 1; is_marked++)
    for (guint is_over = 0; is_over <= 1; is_over++) {
      g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
      g_autoptr (FabYamlDoc) doc = NULL;

      memcpy (text, is_marked ? "\xEF\xBB\xBF" : "###", 3);
      assert_true (g_file_set_contents (path, text, (gssize) (3 * is_marked + most + is_over), NULL));
      doc = fab_yaml_doc_load (path, diagnostics, NULL);
      assert_int_equal (doc == NULL, is_over);
      assert_int_equal (fab_diagnostics_count (diagnostics), is_over);
    }
  int after = dup (file);
  assert_int_equal (after, next);
  close (after);
  close (file);
  unlink (path);
}

static gpointer
write_much (gpointer data)
{
  FILE *pipe_end = fdopen (GPOINTER_TO_INT (data), "w");

  for (guint i = 0; i < 20000; i++)
    fprintf (pipe_end, "key_%u: %u\n", i, i);
  fclose (pipe_end);
  return NULL;
}

/* A pipe, which a person may name, gives a text in pieces: more than it holds at a time. */
static void
test_load_pieces (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = NULL;
  g_autofree char *path = NULL;
  int ends[2];

  assert_int_equal (pipe (ends), 0);
  path = g_strdup_printf ("/dev/fd/%d", ends[0]);
  GThread *writer = g_thread_new ("writer", write_much, GINT_TO_POINTER (ends[1]));
  doc = fab_yaml_doc_load (path, diagnostics, NULL);
  close (ends[0]);
  g_thread_join (writer);
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  assert_int_equal (fab_yaml_doc_root (doc)->n, 20000);
  assert_string_equal (fab_yaml_get (fab_yaml_doc_root (doc), "key_19999")->text, "19999");
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
  assert_string_equal (directory->message, "cannot read /: Is a directory");
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_tree),
    cmocka_unit_test (test_marks),
    cmocka_unit_test (test_empty),
    cmocka_unit_test (test_syntax),
    cmocka_unit_test (test_indentation),
    cmocka_unit_test (test_keys),
    cmocka_unit_test (test_encoding),
    cmocka_unit_test (test_alias),
    cmocka_unit_test (test_alias_bomb),
    cmocka_unit_test (test_alias_of_large_text),
    cmocka_unit_test (test_mark_of_every_byte),
    cmocka_unit_test (test_mark_lengths),
    cmocka_unit_test (test_nulls),
    cmocka_unit_test (test_more_syntax),
    cmocka_unit_test (test_every_kind),
    cmocka_unit_test (test_exact_limits),
    cmocka_unit_test (test_load_size),
    cmocka_unit_test (test_load_pieces),
    cmocka_unit_test (test_limits),
    cmocka_unit_test (test_load),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
