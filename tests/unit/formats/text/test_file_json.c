/* SPDX-License-Identifier: Apache-2.0 */
/* test_file_json.c - JSON token by token: every token of texts of any size and depth, and each mistake at its byte. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/text/json.h"

/* --- tokens as texts: "{", "}", "[", "]", "k:KEY", "t:TEXT", "n:NUMBER", "w:WORD", "." at the end --- */

static char *
token_text (FabFileJson *json, FabFileJsonToken token)
{
  switch (token) {
  case FAB_FILE_JSON_OBJECT: return g_strdup ("{");
  case FAB_FILE_JSON_OBJECT_END: return g_strdup ("}");
  case FAB_FILE_JSON_ARRAY: return g_strdup ("[");
  case FAB_FILE_JSON_ARRAY_END: return g_strdup ("]");
  case FAB_FILE_JSON_KEY: return g_strconcat ("k:", json->text, NULL);
  case FAB_FILE_JSON_TEXT: return g_strconcat ("t:", json->text, NULL);
  case FAB_FILE_JSON_NUMBER: return g_strconcat ("n:", json->text, NULL);
  case FAB_FILE_JSON_WORD: return g_strconcat ("w:", json->text, NULL);
  case FAB_FILE_JSON_END: return g_strdup (".");
  case FAB_FILE_JSON_ERROR:
  default: return g_strdup (json->error->message);
  }
}

typedef struct {
  FabFileBytes *bytes;
  FabFileJson json;
} Reader;

static void
reader_init (Reader *self, const char *text, gsize size)
{
  self->bytes = fab_file_bytes_new ("j", text, size);
  assert_true (fab_file_bytes_next (self->bytes, NULL));
  fab_file_json_init (&self->json, self->bytes);
}

static void
reader_clear (Reader *self)
{
  fab_file_json_clear (&self->json);
  fab_file_bytes_free (self->bytes);
}

/* All tokens with blanks between them, up to the end or a mistake. (transfer full) */
static char *
tokens_of (const char *text)
{
  GString *all = g_string_new (NULL);
  FabFileJsonToken token;
  Reader reader;

  reader_init (&reader, text, strlen (text));
  do {
    token = fab_file_json_next (&reader.json);
    g_autofree char *one = token_text (&reader.json, token);

    g_string_append_printf (all, "%s%s", all->len > 0 ? " " : "", one);
  } while (token != FAB_FILE_JSON_END && token != FAB_FILE_JSON_ERROR);
  assert_int_equal (fab_file_json_next (&reader.json), token);
  reader_clear (&reader);
  return g_string_free (all, FALSE);
}

static void
small_texts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *tokens;
  } cases[] = {
    { "{}", "{ } ." },
    { "[]", "[ ] ." },
    { " \t\r\n{ \n} ", "{ } ." },
    { "[1]", "[ n:1 ] ." },
    { "[1,-2.5e+3 , 0]", "[ n:1 n:-2.5e+3 n:0 ] ." },
    { "[[],{},[[]]]", "[ [ ] { } [ [ ] ] ] ." },
    { "{\"a\":1,\"b\" : [true,false , null]}", "{ k:a n:1 k:b [ w:true w:false w:null ] } ." },
    { "{\"a\":{\"b\":{}},\"c\":\"d\"}", "{ k:a { k:b { } } k:c t:d } ." },
    { "[NaN,Infinity,-Infinity]", "[ w:NaN w:Infinity w:-Infinity ] ." },
    { "5", "n:5 ." },
    { "\"x\"", "t:x ." },
    { "[\"\"]", "[ t: ] ." },
    { "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[ t:\"\\/\b\f\n\r\t ] ." },
    { "[\"\\u0041\\u00e4\\u20aC\"]", "[ t:A\303\244\342\202\254 ] ." },
    /* zero and halves of pairs are no characters of their own; those beside them are */
    { "[\"\\u0000|\\u0001|\\uD7FF|\\ud800|\\uDFFF|\\ue000\"]",
      "[ t:\357\277\275|\001|\355\237\277|\357\277\275|\357\277\275|\356\200\200 ] ." },
    { "[\"\\u12g4\"]", "[ j: byte 7: \\u needs four hexadecimal digits" },
    { "[\"\\x\"]", "[ j: byte 4: a text has an escape that JSON does not know" },
    { "[\"\\", "[ j: byte 3: the file ends within a value; it is cut" },
    { "[\"\\u00", "[ j: byte 6: the file ends within a value; it is cut" },
    { "[\"abc", "[ j: byte 5: the file ends within a text; it is cut" },
    { "", "j: byte 0: the file ends within a value; it is cut" },
    { "[", "[ j: byte 1: the file ends within a value; it is cut" },
    { "[1", "[ n:1 j: byte 2: the file ends within a value; it is cut" },
    { "[1,", "[ n:1 j: byte 3: the file ends within a value; it is cut" },
    { "[1, ", "[ n:1 j: byte 4: the file ends within a value; it is cut" },
    { "{\"a\"", "{ j: byte 4: a colon is missing after a key" },
    { "{\"a\" 1}", "{ j: byte 5: a colon is missing after a key" },
    { "{\"a\":", "{ k:a j: byte 5: the file ends within a value; it is cut" },
    { "{\"a\":}", "{ k:a j: byte 5: no JSON value begins here" },
    { "{1:2}", "{ j: byte 1: a key in quotes is missing" },
    { "{,}", "{ j: byte 1: a key in quotes is missing" },
    { "{\"a\":1,}", "{ k:a n:1 j: byte 7: a key in quotes is missing" },
    { "[,1]", "[ j: byte 1: no JSON value begins here" },
    { "[1,]", "[ n:1 j: byte 3: no JSON value begins here" },
    { "[1 2]", "[ n:1 j: byte 3: a comma or a closing bracket is missing" },
    { "{\"a\":1 \"b\":2}", "{ k:a n:1 j: byte 7: a comma or a closing bracket is missing" },
    { "[1}", "[ n:1 j: byte 2: a closing bracket has no opening one" },
    { "{\"a\":1]", "{ k:a n:1 j: byte 6: a closing bracket has no opening one" },
    { "[tru]", "[ j: byte 4: no JSON value begins here" },
    { "[True]", "[ j: byte 5: no JSON value begins here" },
    { "[-]", "[ j: byte 2: no JSON value begins here" },
    { "[-x]", "[ j: byte 3: no JSON value begins here" },
    { "[.5]", "[ j: byte 3: no JSON value begins here" },
    { "[+5]", "[ j: byte 3: no JSON value begins here" },
    { "[*]", "[ j: byte 1: no JSON value begins here" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *found = tokens_of (cases[i].text);

    if (strcmp (found, cases[i].tokens) != 0)
      fail_msg ("'%s': '%s', and not '%s'", cases[i].text, found, cases[i].tokens);
  }
}

/* --- texts of any size --- */

typedef struct {
  GString *text;
  GPtrArray *tokens; /* char */
  GRand *rand;
} Writer;

static void
blanks (Writer *self)
{
  while (g_rand_int_range (self->rand, 0, 3) == 0)
    g_string_append_c (self->text, " \n\t\r"[g_rand_int_range (self->rand, 0, 4)]);
}

static void
note (Writer *self, const char *kind, const char *text)
{
  g_ptr_array_add (self->tokens, g_strconcat (kind, text, NULL));
}

static char *
some_word (Writer *self)
{
  guint n = (guint) g_rand_int_range (self->rand, 0, g_rand_int_range (self->rand, 0, 20) == 0 ? 2048 : 12);
  char *word = g_malloc0 (n + 1);

  for (guint i = 0; i < n; i++)
    word[i] = (char) ('a' + g_rand_int_range (self->rand, 0, 26));
  return word;
}

static void
write_value (Writer *self, guint depth)
{
  gint kind = g_rand_int_range (self->rand, 0, depth < 6 ? 6 : 3);
  g_autofree char *word = some_word (self);

  blanks (self);
  if (kind == 0) {
    g_string_append_printf (self->text, "\"%s\"", word);
    note (self, "t:", word);
  } else if (kind == 1) {
    g_autofree char *number = g_strdup_printf ("%d.5e3", g_rand_int_range (self->rand, -99999, 99999));

    g_string_append (self->text, number);
    note (self, "n:", number);
  } else if (kind == 2) {
    g_string_append (self->text, "null");
    note (self, "w:", "null");
  } else {
    gboolean is_object = kind == 3;

    g_string_append_c (self->text, is_object ? '{' : '[');
    note (self, is_object ? "{" : "[", "");
    for (gint i = 0, n = g_rand_int_range (self->rand, 0, 5); i < n; i++) {
      if (i > 0)
        g_string_append_c (self->text, ',');
      if (is_object) {
        g_autofree char *key = some_word (self);

        blanks (self);
        g_string_append_printf (self->text, "\"%s\"", key);
        blanks (self);
        g_string_append_c (self->text, ':');
        note (self, "k:", key);
      }
      write_value (self, depth + 1);
      blanks (self);
    }
    blanks (self);
    g_string_append_c (self->text, is_object ? '}' : ']');
    note (self, is_object ? "}" : "]", "");
  }
}

/* More than two chunks of the file, with every kind of token over their ends. */
static void
large_texts (G_GNUC_UNUSED void **state)
{
  Writer writer = { g_string_new ("["), g_ptr_array_new_with_free_func (g_free), g_rand_new_with_seed (7) };
  Reader reader;

  note (&writer, "[", "");
  while (writer.text->len < 800000) {
    if (writer.text->len > 1)
      g_string_append_c (writer.text, ',');
    write_value (&writer, 0);
  }
  g_string_append (writer.text, "]");
  note (&writer, "]", "");
  note (&writer, ".", "");
  reader_init (&reader, writer.text->str, writer.text->len);
  for (guint i = 0; i < writer.tokens->len; i++) {
    g_autofree char *found = token_text (&reader.json, fab_file_json_next (&reader.json));

    if (strcmp (found, g_ptr_array_index (writer.tokens, i)) != 0)
      fail_msg ("token %u is '%s', and not '%s'", i, found, (char *) g_ptr_array_index (writer.tokens, i));
  }
  reader_clear (&reader);
  /* all of it is one value, which is passed over */
  reader_init (&reader, writer.text->str, writer.text->len);
  assert_true (fab_file_json_skip (&reader.json));
  assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_END);
  reader_clear (&reader);
  /* a mistake is told at its byte, wherever it is */
  for (gsize cut = 260000; cut < writer.text->len; cut += 7919) {
    g_autofree char *said = g_strdup_printf ("j: byte %" G_GSIZE_FORMAT ": the file ends within a ", cut);

    reader_init (&reader, writer.text->str, cut);
    assert_false (fab_file_json_skip (&reader.json));
    if (strstr (reader.json.error->message, "no JSON value") == NULL
        && strstr (reader.json.error->message, "a colon") == NULL
        && !g_str_has_prefix (reader.json.error->message, said))
      fail_msg ("%s", reader.json.error->message);
    reader_clear (&reader);
  }
  g_string_free (writer.text, TRUE);
  g_ptr_array_unref (writer.tokens);
  g_rand_free (writer.rand);
}

/* Texts are kept up to FAB_FILE_TEXT_BYTES; what follows them is read as before. */
static void
long_texts_are_cut (G_GNUC_UNUSED void **state)
{
  for (gint more = -1; more <= 2; more++) {
    g_autofree char *word = g_strnfill ((gsize) (FAB_FILE_TEXT_BYTES + more), 'x');
    g_autofree char *digits = g_strnfill ((gsize) (FAB_FILE_TEXT_BYTES + more), '7');
    g_autofree char *text = g_strdup_printf ("[\"%s\\n\", %s, 1]", word, digits);
    Reader reader;

    reader_init (&reader, text, strlen (text));
    assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_ARRAY);
    assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_TEXT);
    assert_int_equal (reader.json.text_size, FAB_FILE_TEXT_BYTES);
    assert_int_equal (strlen (reader.json.text), FAB_FILE_TEXT_BYTES);
    assert_int_equal (reader.json.text[FAB_FILE_TEXT_BYTES - 1], more < 0 ? '\n' : 'x');
    assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_NUMBER);
    assert_int_equal (strlen (reader.json.text), FAB_FILE_TEXT_BYTES + MIN (more, 0));
    assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_NUMBER);
    assert_string_equal (reader.json.text, "1");
    reader_clear (&reader);
  }
}

static void
values_are_nested_256_deep (G_GNUC_UNUSED void **state)
{
  for (guint is_object = 0; is_object < 2; is_object++)
    for (guint depth = 255; depth <= 257; depth++) {
      GString *text = g_string_new (NULL);
      g_autofree char *said = g_strdup_printf ("j: byte %u: values are nested deeper than 256",
                                               is_object ? 256 * 5 + 1 : 257);
      Reader reader;

      for (guint i = 0; i < depth; i++)
        g_string_append (text, !is_object ? "[" : i + 1 < depth ? "{\"a\":" : "{");
      for (guint i = 0; i < depth; i++)
        g_string_append_c (text, is_object ? '}' : ']');
      reader_init (&reader, text->str, text->len);
      assert_true (fab_file_json_skip (&reader.json) == (depth <= 256));
      if (depth > 256)
        assert_string_equal (reader.json.error->message, said);
      else
        assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_END);
      reader_clear (&reader);
      g_string_free (text, TRUE);
    }
}

/* --- values that are passed over, copied, or follow one another --- */

static void
a_value_is_passed_over (G_GNUC_UNUSED void **state)
{
  static const char *const values[] = {
    "1", "\"x\"", "null", "{}", "[]", "[1,[2,{\"a\":[]}],3]", "{\"a\":{\"b\":[{}]},\"c\":1}"
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint form = 0; form < 3; form++) {
      g_autofree char *text = g_strdup_printf ("{\"key\": %s, \"next\": \"t\"}", values[i]);
      char copy[8] = "before";
      Reader reader;

      reader_init (&reader, text, strlen (text));
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_OBJECT);
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_KEY);
      if (form == 0)
        assert_true (fab_file_json_skip (&reader.json));
      else if (form == 1)
        assert_true (fab_file_json_skip_from (&reader.json, fab_file_json_next (&reader.json)));
      else
        assert_true (fab_file_json_copy (&reader.json, copy, sizeof copy));
      if (form == 2)
        assert_string_equal (copy, i == 0 ? "1" : i == 1 ? "x" : "before");
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_KEY);
      assert_string_equal (reader.json.text, "next");
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_TEXT);
      assert_string_equal (reader.json.text, "t");
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_OBJECT_END);
      assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_END);
      reader_clear (&reader);
    }
}

static void
what_is_copied_fits (G_GNUC_UNUSED void **state)
{
  char copy[4];
  Reader reader;

  reader_init (&reader, "\"abcdef\"", 8);
  assert_true (fab_file_json_copy (&reader.json, copy, sizeof copy));
  assert_string_equal (copy, "abc");
  reader_clear (&reader);
  reader_init (&reader, "tru", 3);
  assert_false (fab_file_json_copy (&reader.json, copy, sizeof copy));
  assert_false (fab_file_json_skip (&reader.json));
  assert_false (fab_file_json_more (&reader.json));
  reader_clear (&reader);
}

/* Logs have a document on each line. Without being asked, the reader refuses the second one. */
static void
documents_follow_one_another (G_GNUC_UNUSED void **state)
{
  static const char text[] = "{\"a\": 1}\n[2]\n 3 \n{}\n";
  static const char *const tokens[] = { "{", "k:a", "n:1", "}", "[", "n:2", "]", "n:3", "{", "}" };
  static const guint ends[] = { 3, 6, 7, 9 };
  Reader reader;
  guint end = 0;

  reader_init (&reader, text, strlen (text));
  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++) {
    g_autofree char *found = token_text (&reader.json, fab_file_json_next (&reader.json));

    assert_string_equal (found, tokens[i]);
    if (i != ends[end])
      continue;
    end++;
    assert_true (fab_file_json_more (&reader.json) == (end < G_N_ELEMENTS (ends)));
  }
  assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_END);
  reader_clear (&reader);
  g_autofree char *second = tokens_of ("{} {}"), *closing = tokens_of ("[]]");
  assert_string_equal (second, "{ } j: byte 3: the file goes on after the end of the document");
  assert_string_equal (closing, "[ ] j: byte 2: the file goes on after the end of the document");
}

/* The first mistake is the one that is told. */
static void
the_first_mistake_stays (G_GNUC_UNUSED void **state)
{
  Reader reader;

  reader_init (&reader, "[1]", 3);
  assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_ARRAY);
  assert_false (fab_file_json_fail (&reader.json, "%s %d", "mistake", 1));
  assert_false (fab_file_json_fail (&reader.json, "another"));
  assert_string_equal (reader.json.error->message, "j: byte 1: mistake 1");
  assert_int_equal (fab_file_json_next (&reader.json), FAB_FILE_JSON_ERROR);
  assert_false (fab_file_json_skip_from (&reader.json, FAB_FILE_JSON_ERROR));
  reader_clear (&reader);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (small_texts),
    cmocka_unit_test (large_texts),
    cmocka_unit_test (long_texts_are_cut),
    cmocka_unit_test (values_are_nested_256_deep),
    cmocka_unit_test (a_value_is_passed_over),
    cmocka_unit_test (what_is_copied_fits),
    cmocka_unit_test (documents_follow_one_another),
    cmocka_unit_test (the_first_mistake_stays),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
