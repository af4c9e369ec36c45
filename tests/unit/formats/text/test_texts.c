/* SPDX-License-Identifier: Apache-2.0 */
/* test_texts.c - what readers of texts share: pieces of lines, XML as a tree, notes, and where a mistake is. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/text/notes.h"
#include "formats/text/scan.h"
#include "formats/text/xml.h"

static FabFileText
text_of (const char *text)
{
  return (FabFileText){ "f", text, strlen (text) };
}

/* --- lines and pieces --- */

static void
lines_end_in_every_way (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *lines; /* with '|' behind each */
  } cases[] = {
    { "", "" },           { "\n", "|" },
    { "a", "a|" },        { "a\n", "a|" },
    { "a\n\n", "a||" },   { "\n\na", "||a|" },
    { "a\r\nb", "a|b|" }, { "a\r\n\r\n", "a||" },
    { "\r\n", "|" },      { "a\rb\nc", "a\rb|c|" },
    { "a\r\n", "a|" },    { "ab\ncd\r\nef\n", "ab|cd|ef|" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFileText text = text_of (cases[i].text);
    FabScan scan = FAB_SCAN (&text);
    g_autoptr (GString) found = g_string_new (NULL);

    for (guint line = 1; fab_scan_line (&scan); line++) {
      assert_int_equal (scan.line, line);
      assert_ptr_equal (scan.at, scan.start);
      g_string_append_len (found, scan.start, scan.end - scan.start);
      g_string_append_c (found, '|');
    }
    assert_string_equal (found->str, cases[i].lines);
  }
}

static FabScan
scan_of (const FabFileText *text)
{
  FabScan scan = FAB_SCAN (text);

  assert_true (fab_scan_line (&scan));
  return scan;
}

/* Numbers of each kind: where they end, or that they are none, and then nothing is passed over. */
static void
numbers_are_read_as_far_as_they_go (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gint whole, hex, real; /* columns at which the rest begins; 0: it is none */
    guint64 whole_value, hex_value;
    double real_value;
  } cases[] = {
    { "12 x", 2, 2, 2, 12, 0x12, 12 }, { " \t7;", 3, 3, 3, 7, 7, 7 },     { "0x1F", 1, 4, 1, 0, 0x1f, 0 },
    { "ff", 0, 2, 0, 0, 255, 0 },      { "0xg", 1, 0, 1, 0, 0, 0 },       { "0x 1", 1, 0, 1, 0, 0, 0 },
    { "1.5s", 1, 1, 3, 1, 1, 1.5 },    { ".5", 0, 0, 2, 0, 0, 0.5 },      { "1.2.3", 1, 1, 0, 1, 1, 0 },
    { ".", 0, 0, 0, 0, 0, 0 },         { "100", 3, 3, 3, 100, 256, 100 }, { "101", 0, 3, 3, 0, 257, 101 },
    { "-1", 0, 0, 0, 0, 0, 0 },        { "", 0, 0, 0, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *line = g_strconcat (cases[i].text, "\nnext", NULL);
    FabFileText text = text_of (line);
    FabScan whole = scan_of (&text), hex = scan_of (&text), real = scan_of (&text);
    guint64 value = 0;
    double number = 0;

    assert_true (fab_scan_whole (&whole, 100, &value) == (cases[i].whole > 0));
    assert_int_equal (whole.at - whole.start, cases[i].whole);
    assert_true (cases[i].whole == 0 || value == cases[i].whole_value);
    assert_true (fab_scan_hex (&hex, &value) == (cases[i].hex > 0));
    assert_int_equal (hex.at - hex.start, cases[i].hex);
    assert_true (cases[i].hex == 0 || value == cases[i].hex_value);
    assert_true (fab_scan_real (&real, &number) == (cases[i].real > 0));
    assert_int_equal (real.at - real.start, cases[i].real);
    assert_true (cases[i].real == 0 || number == cases[i].real_value);
  }
}

static void
pieces_of_a_line (G_GNUC_UNUSED void **state)
{
  FabFileText text = text_of ("  key: ' quoted text ' \"open\tword,next last words \t\nkey");
  FabScan scan = scan_of (&text);
  g_autofree char *quoted = NULL, *word = NULL, *rest = NULL, *second = NULL;

  assert_int_equal (fab_scan_column (&scan), 2);
  assert_false (fab_scan_is_done (&scan));
  assert_false (fab_scan_text (&scan, "keys"));
  assert_true (fab_scan_text (&scan, "key"));
  assert_int_equal (fab_scan_column (&scan), 5);
  assert_null (fab_scan_word (&scan, ":"));
  assert_true (fab_scan_text (&scan, ":"));
  assert_null (fab_scan_quoted (&scan, '"'));
  quoted = fab_scan_quoted (&scan, '\'');
  assert_string_equal (quoted, "quoted text");
  assert_int_equal (fab_scan_column (&scan), 23);
  assert_null (fab_scan_quoted (&scan, '"')); /* it is not closed on this line */
  assert_int_equal (fab_scan_column (&scan), 23);
  word = fab_scan_word (&scan, ",");
  assert_string_equal (word, "\"open");
  second = fab_scan_word (&scan, ",");
  assert_string_equal (second, "word");
  assert_false (fab_scan_to (&scan, "key")); /* which the next line has */
  assert_int_equal (fab_scan_column (&scan), 33);
  assert_true (fab_scan_to (&scan, "next"));
  assert_int_equal (fab_scan_column (&scan), 39);
  rest = fab_scan_rest (&scan);
  assert_string_equal (rest, "last words");
  assert_true (fab_scan_is_done (&scan));
  assert_null (fab_scan_word (&scan, ""));
  assert_null (fab_scan_quoted (&scan, 'k'));
  assert_true (fab_scan_text (&scan, ""));
  assert_false (fab_scan_text (&scan, "k"));
  assert_true (fab_scan_line (&scan));
  assert_true (fab_scan_text (&scan, "key"));
  assert_true (fab_scan_is_done (&scan));
}

/* Each kind of piece is looked for behind blanks. */
static void
blanks_before_a_piece_do_not_count (G_GNUC_UNUSED void **state)
{
  static const char *const blanks[] = { "", " ", "\t", " \t  " };

  for (guint i = 0; i < G_N_ELEMENTS (blanks); i++) {
    g_autofree char *line = g_strconcat (blanks[i], "12 x\n", NULL),
                    *quotes = g_strconcat (blanks[i], "'12 x'", NULL);
    FabFileText text = text_of (line), between = text_of (quotes);
    FabScan literal = scan_of (&text), whole = scan_of (&text), hex = scan_of (&text), real = scan_of (&text),
            word = scan_of (&text), rest = scan_of (&text), quoted = scan_of (&between);
    g_autofree char *one = fab_scan_word (&word, ""), *all = fab_scan_rest (&rest),
                    *inner = fab_scan_quoted (&quoted, '\'');
    guint64 value;
    double number;

    FabFileText only = text_of (blanks[i][0] != '\0' ? blanks[i] : " ");
    FabScan blank = scan_of (&only);

    assert_true (fab_scan_is_done (&blank));
    assert_true (fab_scan_text (&literal, "12 x") && fab_scan_is_done (&literal));
    assert_true (fab_scan_whole (&whole, 100, &value) && value == 12);
    assert_true (fab_scan_hex (&hex, &value) && value == 0x12);
    assert_true (fab_scan_real (&real, &number) && number == 12);
    assert_string_equal (one, "12");
    assert_string_equal (all, "12 x");
    assert_string_equal (inner, "12 x");
  }
}

/* A number has at most 64 digits; a text of two quotes is empty. */
static void
long_and_empty_pieces (G_GNUC_UNUSED void **state)
{
  g_autofree char *zeros = g_strnfill (63, '0'), *line = g_strconcat (zeros, "12", NULL);
  FabFileText text = text_of (line), empty = text_of ("''x");
  FabScan scan = scan_of (&text), quotes = scan_of (&empty);
  g_autofree char *nothing = fab_scan_quoted (&quotes, '\'');
  guint64 value;

  assert_true (fab_scan_whole (&scan, 100, &value));
  assert_int_equal (value, 1);
  assert_true (fab_scan_whole (&scan, 100, &value));
  assert_int_equal (value, 2);
  assert_string_equal (nothing, "");
  FabFileText end = text_of ("  'ab'"), half = text_of ("'");
  FabScan last = scan_of (&end), open = scan_of (&half);
  g_autofree char *whole = fab_scan_quoted (&last, '\'');
  assert_string_equal (whole, "ab");
  assert_true (fab_scan_is_done (&last));
  assert_null (fab_scan_quoted (&open, '\''));
  assert_int_equal (fab_scan_column (&quotes), 2);
}

/* The line is shown with a mark below the next piece, whose column counts characters. */
static void
a_mistake_is_shown_at_its_piece (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint passed; /* bytes */
    const char *said;
  } cases[] = {
    { "abc  def ghi", 3, "f:2:6: no \"def\"\n    2 | abc  def ghi\n      |      ^~~" },
    { "abc  def ghi", 0, "f:2:1: no \"def\"\n    2 | abc  def ghi\n      | ^~~" },
    { "abc def", 3, "f:2:5: no \"def\"\n    2 | abc def\n      |     ^~~" },
    { "abc", 3, "f:2:4: no \"def\"\n    2 | abc\n      |    ^" },
    { "\303\244\342\202\254 x\ty", 5, "f:2:4: no \"def\"\n    2 | \303\244\342\202\254 x\ty\n      |    ^" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *two = g_strconcat ("first\n", cases[i].text, NULL);
    FabFileText text = text_of (two);
    FabScan scan = scan_of (&text);
    g_autoptr (GError) error = NULL;

    assert_true (fab_scan_line (&scan));
    scan.at += cases[i].passed;
    assert_false (fab_scan_fail (&scan, &error, "no \"%s\"", "def"));
    if (strcmp (error->message, cases[i].said) != 0)
      fail_msg ("'%s', and not '%s'", error->message, cases[i].said);
  }
}

static void
a_text_is_looked_at (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    char first;
    gboolean is_json;
  } cases[] = {
    { "", '\0', FALSE },    { " \n\t\r", '\0', FALSE }, { "x", 'x', FALSE },
    { " \n{}", '{', TRUE }, { "[", '[', TRUE },         { "<{", '<', FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFileText text = text_of (cases[i].text);

    assert_int_equal (fab_file_text_first (&text), cases[i].first);
    assert_int_equal (fab_file_text_is_json (&text), cases[i].is_json);
  }
  /* what stands behind the size is no part of the text */
  FabFileText part = { "f", "abcdef", 3 }, none = { "f", "x", 0 };
  g_autoptr (GError) error = NULL, other = NULL;

  assert_true (fab_file_text_begins (&part, "abc") && fab_file_text_begins (&part, ""));
  assert_false (fab_file_text_begins (&part, "abcd") || fab_file_text_begins (&part, "b"));
  assert_true (fab_file_text_has (&part, "bc"));
  assert_false (fab_file_text_has (&part, "cd"));
  assert_int_equal (fab_file_text_first (&none), '\0');
  assert_false (fab_file_text_fail (&part, 0, &error, "wrong %d", 1));
  assert_string_equal (error->message, "f: wrong 1");
  assert_false (fab_file_text_fail (&part, 12, &other, "wrong"));
  assert_string_equal (other->message, "f:12: wrong");
}

/* --- XML --- */

static void
xml_is_a_tree (G_GNUC_UNUSED void **state)
{
  static const char source[] = "<?xml version=\"1.0\"?>\n"
                               "<!-- of a test -->\n"
                               "<root z=\"0\" y=\"0x0\" a=\"12\" b=\"0x1f\" c=\"-1\"\n "
                               "d=\"x\" e=\"4294967295\" f=\"4294967296\" g=\"0xffffffff\" "
                               "h=\"0x1ffffffff\">\n"
                               "  <one>text &amp; more</one>\n"
                               "  <two><three/>\n</two> tail\n"
                               "</root>\n";
  FabFileText file = text_of (source);
  g_autoptr (FabXml) root = fab_xml_parse (&file, NULL);
  static const struct {
    const char *key;
    guint value;
  } numbers[] = { { "z", 0 },          { "y", 0 }, { "a", 12 },         { "b", 31 },
                  { "c", 7 },          { "d", 7 }, { "e", 4294967295 }, { "f", 7 },
                  { "g", 4294967295 }, { "h", 7 }, { "missing", 7 } };

  assert_non_null (root);
  assert_true (fab_xml_is (root, "root"));
  assert_false (fab_xml_is (root, "roo"));
  assert_int_equal (root->line, 4);
  assert_null (root->parent);
  assert_string_equal (fab_xml_get (root, "d"), "x");
  assert_null (fab_xml_get (root, "x"));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    assert_int_equal (fab_xml_number (root, numbers[i].key, 7), numbers[i].value);
  assert_int_equal (root->children->len, 2);
  const FabXml *one = g_ptr_array_index (root->children, 0), *two = g_ptr_array_index (root->children, 1);
  assert_string_equal (fab_xml_text (one), "text & more");
  assert_int_equal (one->line, 5);
  assert_ptr_equal (one->parent, root);
  assert_string_equal (fab_xml_text (two), "");
  assert_int_equal (two->line, 6);
  assert_int_equal (two->children->len, 1);
  const FabXml *three = g_ptr_array_index (two->children, 0);
  assert_true (fab_xml_is (three, "three"));
  assert_ptr_equal (three->parent, two);
  assert_int_equal (three->line, 6);                 /* where its tag ends, though a line ends behind it */
  assert_string_equal (fab_xml_text (root), "\n  "); /* before its first child */
}

static char *
nested (guint depth, guint n_beside)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < depth; i++)
    g_string_append (text, "<a>\n");
  for (guint i = 0; i < n_beside; i++)
    g_string_append (text, "<b/>");
  for (guint i = 0; i < depth; i++)
    g_string_append (text, "</a>");
  return g_string_free (text, FALSE);
}

static void
xml_has_limits (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint depth, n_beside;
    const char *said; /* NULL: nothing */
  } cases[] = {
    { 100, 0, NULL },
    { 101, 0, "f:101: the XML has more than 100000 elements, or is nested deeper than 100" },
    { 99, 1, NULL },
    { 100, 1, "f:101: the XML has more than 100000 elements, or is nested deeper than 100" },
    { 1, 99999, NULL },
    { 1, 100000, "f:2: the XML has more than 100000 elements, or is nested deeper than 100" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = nested (cases[i].depth, cases[i].n_beside);
    FabFileText file = text_of (text);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabXml) root = fab_xml_parse (&file, &error);

    assert_true ((root == NULL) == (cases[i].said != NULL));
    if (root == NULL)
      assert_string_equal (error->message, cases[i].said);
  }
}

static void
wrong_xml_is_told_at_its_line (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {
    { "<a>\n<b>\n</a>", "f:3: the XML is not well-formed: " },
    { "<a/>\n<b/>\n",
      "f:2: the XML is not well-formed: <b> stands beside <a>, and one element holds all others" },
    { "<a>\n", "f:2: the XML is not well-formed: " },
    { "", "f:1: the XML is not well-formed: " },
    { "x", "f:1: the XML is not well-formed: " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFileText file = text_of (cases[i].text);
    g_autoptr (GError) error = NULL;

    assert_null (fab_xml_parse (&file, &error));
    if (!g_str_has_prefix (error->message, cases[i].said) || strstr (error->message, "Error on line") != NULL)
      fail_msg ("'%s': %s", cases[i].text, error->message);
  }
}

static void
xml_is_known_by_its_first_element (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_it;
  } cases[] = {
    { "<system>", TRUE },
    { " \n<system version=\"1\"/>", TRUE },
    { "<?xml version=\"1.0\"?>\n<!DOCTYPE x>\n<system>", TRUE },
    { "<!-- <system> --><!-- > --><system>", TRUE },
    { "<!-- <system> --><other>", FALSE },
    { "<!-- > <system> --><other>", FALSE },
    { "<systems>", FALSE },
    { "<system1>", FALSE },
    { "<other><system>", FALSE },
    { "<!-- system", FALSE },
    { "<?xml?>", FALSE },
    { "system", FALSE },
    { "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (fab_xml_begins_with (cases[i].text, "system") != cases[i].is_it)
      fail_msg ("'%s'", cases[i].text);
}

/* --- notes --- */

/* A note is there once for each file and kind, at whatever line. */
static void
a_note_is_kept_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabFileNoteKind kind;
    const char *file, *text;
    guint line, n; /* notes behind it */
  } cases[] = {
    { FAB_NOTE_READ, "a", "x", 1, 1 },  { FAB_NOTE_READ, "a", "y", 2, 2 },
    { FAB_NOTE_READ, "a", "x", 3, 2 },  { FAB_NOTE_INFERRED, "a", "x", 4, 3 },
    { FAB_NOTE_READ, "b", "x", 5, 4 },  { FAB_NOTE_READ, "b", "x", 6, 4 },
    { FAB_NOTE_READ, NULL, "x", 0, 5 }, { FAB_NOTE_READ, NULL, "x", 0, 5 },
  };
  g_autoptr (GPtrArray) notes = fab_file_notes_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint before = notes->len;

    fab_file_notes_add (notes, cases[i].kind, cases[i].file, cases[i].line, cases[i].text);
    assert_int_equal (notes->len, cases[i].n);
    if (notes->len == before)
      continue;
    const FabFileNote *note = fab_file_note (notes, before);
    assert_int_equal (note->kind, cases[i].kind);
    assert_string_equal (note->text, cases[i].text);
    assert_int_equal (note->line, cases[i].line);
    assert_true (g_strcmp0 (note->file, cases[i].file) == 0);
  }
}

/* A line of a comment has at most 118 columns, and a word that is longer has a line of its own. */
static void
a_note_is_broken_between_words (G_GNUC_UNUSED void **state)
{
  for (guint first = 100; first <= 130; first++)
    for (guint second = 1; second <= 3; second++) {
      g_autofree char *one = g_strnfill (first, 'a'), *two = g_strnfill (second, 'b');
      g_autofree char *note = g_strdup_printf ("%s %s \303\244", one, two);
      gboolean fits_two = 4 + first + 1 + second <= 118,
               fits_three = fits_two && 4 + first + 1 + second + 2 <= 118;
      g_autofree char *wanted = g_strdup_printf ("# - %s%s%s%s\303\244\n", one, fits_two ? " " : "\n#   ",
                                                 two, fits_two && !fits_three ? "\n#   " : " ");
      g_autoptr (GString) out = g_string_new (NULL);

      fab_file_note_write (out, note);
      assert_string_equal (out->str, wanted);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lines_end_in_every_way),
    cmocka_unit_test (numbers_are_read_as_far_as_they_go),
    cmocka_unit_test (pieces_of_a_line),
    cmocka_unit_test (blanks_before_a_piece_do_not_count),
    cmocka_unit_test (long_and_empty_pieces),
    cmocka_unit_test (a_mistake_is_shown_at_its_piece),
    cmocka_unit_test (a_text_is_looked_at),
    cmocka_unit_test (xml_is_a_tree),
    cmocka_unit_test (xml_has_limits),
    cmocka_unit_test (wrong_xml_is_told_at_its_line),
    cmocka_unit_test (xml_is_known_by_its_first_element),
    cmocka_unit_test (a_note_is_kept_once),
    cmocka_unit_test (a_note_is_broken_between_words),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
