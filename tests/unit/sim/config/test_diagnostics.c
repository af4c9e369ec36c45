/* SPDX-License-Identifier: Apache-2.0 */
/* test_diagnostics.c - how mistakes look on a terminal, and which name is nearest. */
#include "sim/config/diagnostics.h"

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "tests/support/test.h"

static FabMark
mark_in (const char *text, guint line, guint column, guint length)
{
  return (FabMark){ .file = "a.yaml",
                    .line = line,
                    .column = column,
                    .length = length,
                    .text = text,
                    .text_length = strlen (text) };
}

static void
assert_format (const FabDiagnostics *diagnostics, const char *expected)
{
  g_autofree char *text = fab_diagnostics_format (diagnostics);

  assert_string_equal (text, expected);
}

static void
test_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark mark = mark_in ("  link: {bandwith: 200Gb/s}", 12, 10, 8);

  fab_diagnostics_add (diagnostics, &mark, "unknown key '%s'; nearest is '%s'", "bandwith", "bandwidth");
  assert_format (diagnostics, "a.yaml:12:10: unknown key 'bandwith'; nearest is 'bandwidth'\n"
                              "   12 |   link: {bandwith: 200Gb/s}\n"
                              "      |          ^~~~~~~~");
}

/* A tab before the column is copied, a wide character takes two columns, a combining one none. */
static void
test_caret_column (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark tab = mark_in ("\tk: v", 1, 5, 1);
  FabMark wide = mark_in ("\xE7\xB7\x9A: e\xCC\x81 x", 2, 7, 1);
  FabMark end = mark_in ("ab", 3, 5, 1);
  FabMark wide_under = mark_in ("\xE7\xB7\x9A\xE7\xB7\x9A", 4, 1, 9);

  fab_diagnostics_add (diagnostics, &tab, "a");
  fab_diagnostics_add (diagnostics, &wide, "b");
  fab_diagnostics_add (diagnostics, &end, "c");
  fab_diagnostics_add (diagnostics, &wide_under, "d");
  assert_format (diagnostics, "a.yaml:1:5: a\n    1 | \tk: v\n      | \t   ^\n"
                              "a.yaml:2:7: b\n    2 | \xE7\xB7\x9A: e\xCC\x81 x\n      |       ^\n"
                              "a.yaml:3:5: c\n    3 | ab\n      |     ^\n"
                              "a.yaml:4:1: d\n    4 | \xE7\xB7\x9A\xE7\xB7\x9A\n      | ^~~~");
}

static void
test_assignment (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark mark = mark_in ("cluster.nodez=8", 0, 9, 5);

  mark.file = "--set";
  fab_diagnostics_add (diagnostics, &mark, "unknown key 'nodez'; nearest is 'nodes'");
  assert_format (diagnostics, "--set: cluster.nodez=8: unknown key 'nodez'; nearest is 'nodes'\n"
                              "      | cluster.nodez=8\n"
                              "      |         ^~~~~");
}

static void
test_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark second = mark_in ("x", 2, 1, 1), first = mark_in ("x", 1, 1, 1), other = mark_in ("x", 9, 1, 1);

  other.file = "0.yaml";
  second.text = first.text = other.text = NULL;
  fab_diagnostics_add (diagnostics, NULL, "nowhere");
  fab_diagnostics_add (diagnostics, &second, "b");
  fab_diagnostics_add (diagnostics, &first, "a");
  fab_diagnostics_add (diagnostics, &other, "0");
  assert_format (diagnostics, "0.yaml:9:1: 0\na.yaml:1:1: a\na.yaml:2:1: b\nnowhere");
}

static void
test_same_counts_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark mark = mark_in ("x", 1, 1, 1);

  for (guint i = 0; i < 3; i++)
    fab_diagnostics_add (diagnostics, &mark, "again");
  assert_int_equal (fab_diagnostics_count (diagnostics), 1);
}

static void
test_many (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree char *text = NULL;

  for (guint i = 1; i <= 5000; i++) {
    FabMark mark = mark_in ("x", i, 1, 1);

    fab_diagnostics_add (diagnostics, &mark, "bad");
  }
  text = fab_diagnostics_format (diagnostics);
  assert_int_equal (fab_diagnostics_count (diagnostics), 5000);
  assert_non_null (strstr (text, "a.yaml:50:1: bad"));
  assert_null (strstr (text, "a.yaml:51:1: bad"));
  assert_true (g_str_has_suffix (text, "\nand 4950 more"));
}

/* Escape sequences of a hostile file do not reach the terminal; broken bytes do not stop us. */
static void
test_unprintable (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabMark mark = mark_in ("\x1B[31m\xFF", 1, 2, 1);

  fab_diagnostics_add (diagnostics, &mark, "unknown key '\x1B[2J\n\xFE'");
  assert_format (diagnostics, "a.yaml:1:2: unknown key '\\u001B[2J\\n\xEF\xBF\xBD'\n"
                              "    1 | \xEF\xBF\xBD[31m\xEF\xBF\xBD\n"
                              "      |  ^");
}

static void
test_long_line (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree char *line = g_strnfill (100000, 'y');
  FabMark mark = mark_in (line, 1, 50001, 1);
  g_autofree char *text = NULL;
  const char *excerpt, *caret;

  line[50000] = 'X';
  fab_diagnostics_add (diagnostics, &mark, "here");
  text = fab_diagnostics_format (diagnostics);
  assert_true (strlen (text) < 400);
  excerpt = strstr (text, "| ");
  caret = strstr (excerpt + 1, "| ");
  assert_int_equal (strchr (excerpt, 'X') - excerpt, strchr (caret, '^') - caret);
}

/* Characters that a terminal may act on, and their neighbours that it only shows. */
static void
test_control_characters (G_GNUC_UNUSED void **state)
{
  static const struct {
    gunichar first, last;
  } hidden[] = { { 0x01, 0x1F },     { 0x7F, 0x9F },     { 0x2028, 0x2029 },
                 { 0x202A, 0x202E }, { 0x2066, 0x2069 }, { 0xFEFF, 0xFEFF } };

  for (gunichar c = 1; c < 0x10000; c = c == 0x300 ? 0x2000 : c == 0x2100 ? 0xFE00 : c + 1) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    gboolean is_hidden = FALSE;
    char letter[7] = { 0 };
    g_autofree char *expected = NULL;

    for (guint i = 0; i < G_N_ELEMENTS (hidden); i++)
      is_hidden |= c >= hidden[i].first && c <= hidden[i].last;
    g_unichar_to_utf8 (c, letter);
    if (c == '\n')
      expected = g_strdup ("a\\nb");
    else
      expected = is_hidden ? g_strdup_printf ("a\\u%04Xb", c) : g_strconcat ("a", letter, "b", NULL);
    fab_diagnostics_add (diagnostics, NULL, "a%sb", letter);
    assert_format (diagnostics, expected);
  }
}

/* A message has at most 500 characters, of whatever length. */
static void
test_long_message (G_GNUC_UNUSED void **state)
{
  for (guint n = 499; n <= 501; n++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (GString) message = g_string_new (NULL), expected = g_string_new (NULL);

    for (guint i = 0; i < n; i++)
      g_string_append (message, "\xC3\xA4");
    g_string_append_len (expected, message->str, 2 * (gssize) MIN (n, 500));
    if (n > 500)
      g_string_append (expected, "...");
    fab_diagnostics_add (diagnostics, NULL, "%s", message->str);
    assert_format (diagnostics, expected->str);
  }
}

/* Of a line, 100 characters are shown: from its first on up to column 100, and from 60 before a column behind that. The
 * underline ends with what is shown, or where the mark does. */
static void
test_window (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, column, length, first, n_shown, n_under;
  } rows[] = {
    { 100, 100, 1, 1, 100, 1 },  { 101, 100, 1, 1, 100, 1 },  { 100, 100, 5, 1, 100, 1 },
    { 300, 101, 3, 41, 100, 3 }, { 140, 101, 3, 41, 100, 3 }, { 141, 101, 300, 41, 100, 40 },
    { 120, 118, 9, 58, 63, 3 },  { 300, 1, 0, 1, 100, 1 },    { 120, 119, 0, 59, 62, 1 },
    { 120, 121, 1, 61, 60, 1 },  { 10, 12, 1, 1, 10, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autofree char *line = g_strnfill (rows[i].n, 'y'), *shown = NULL, *under = NULL, *expected = NULL;
    FabMark mark = mark_in (line, 7, rows[i].column, rows[i].length);
    gboolean is_cut = rows[i].first > 1, is_more = rows[i].first - 1 + rows[i].n_shown < rows[i].n;

    memset (line + rows[i].first - 1, 'x', rows[i].n_shown);
    shown = g_strndup (line + rows[i].first - 1, rows[i].n_shown);
    under = g_strnfill (rows[i].n_under, '~');
    under[0] = '^';
    expected = g_strdup_printf ("a.yaml:7:%u: m\n    7 | %s%s%s\n      | %*s%s", rows[i].column,
                                is_cut ? "..." : "", shown, is_more ? "..." : "",
                                (int) (rows[i].column - rows[i].first) + (is_cut ? 3 : 0), "", under);
    fab_diagnostics_add (diagnostics, &mark, "m");
    assert_format (diagnostics, expected);
  }
}

static void
add_many (FabDiagnostics *diagnostics, const char *word, guint n)
{
  for (guint i = 0; i < n; i++) {
    FabMark mark = mark_in ("x", i + 1, 4, 1);

    fab_diagnostics_add (diagnostics, &mark, "%s", word);
  }
}

/* A copy goes on by itself and knows what was told; what is added to another is told once, and what was not kept is not
 * known any more. */
static void
test_copies (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) first = fab_diagnostics_new (), other = fab_diagnostics_new (), copy = NULL;
  guint column = 9;

  assert_int_equal (fab_diagnostics_first (first, &column), 0);
  assert_int_equal (column, 0);
  add_many (first, "a", 3);
  copy = fab_diagnostics_copy (first);
  add_many (copy, "a", 4);
  assert_int_equal (fab_diagnostics_count (copy), 4);
  assert_format (copy, "a.yaml:1:4: a\n    1 | x\n      |    ^\na.yaml:2:4: a\n    2 | x\n      |    ^\n"
                       "a.yaml:3:4: a\n    3 | x\n      |    ^\na.yaml:4:4: a\n    4 | x\n      |    ^");
  assert_int_equal (fab_diagnostics_count (first), 3);
  add_many (other, "b", 1);
  add_many (other, "a", 2);
  add_many (other, "b", 2);
  fab_diagnostics_add_all (first, other);
  assert_int_equal (fab_diagnostics_count (first), 5);
  fab_diagnostics_add_all (first, other);
  assert_int_equal (fab_diagnostics_count (first), 5);
  assert_int_equal (fab_diagnostics_first (first, &column), 1);
  assert_int_equal (column, 4);
  assert_format (first, "a.yaml:1:4: a\n    1 | x\n      |    ^\na.yaml:1:4: b\n    1 | x\n      |    ^\n"
                        "a.yaml:2:4: a\n    2 | x\n      |    ^\na.yaml:2:4: b\n    2 | x\n      |    ^\n"
                        "a.yaml:3:4: a\n    3 | x\n      |    ^");
  g_autoptr (FabDiagnostics) full = fab_diagnostics_new (), rest = fab_diagnostics_new ();
  add_many (full, "a", 999);
  add_many (rest, "c", 3);
  fab_diagnostics_add_all (full, rest);
  assert_int_equal (fab_diagnostics_count (full), 1000);
  add_many (full, "c", 3); /* of which the first is known; nothing is kept */
  assert_int_equal (fab_diagnostics_count (full), 1003);
}

/* Mistakes of one file stand in the order of its lines and columns, those without a line in the order in which they
 * were found, and those without a file behind all. */
static void
test_order_of_all (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *file; /* NULL: none */
    guint line, column;
    const char *message;
  } rows[] = { { NULL, 0, 0, "z" }, { "b", 2, 1, "1" }, { "b", 1, 9, "2" },
               { "b", 1, 8, "3" },  { "b", 1, 8, "4" }, { "a", 9, 9, "5" },
               { "b", 0, 7, "6" },  { "b", 0, 3, "7" }, { NULL, 0, 0, "y" } };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabMark mark = { .file = rows[i].file, .line = rows[i].line, .column = rows[i].column };

    fab_diagnostics_add (diagnostics, rows[i].file != NULL ? &mark : NULL, "%s", rows[i].message);
  }
  assert_format (diagnostics, "a:9:9: 5\nb: 6\nb: 7\nb:1:8: 3\nb:1:8: 4\nb:1:9: 2\nb:2:1: 1\nz\ny");
}

/* Names are suggested for the first hundred mistakes. */
static void
test_hints_end (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "nodes", NULL };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  add_many (diagnostics, "a", 99);
  assert_string_equal (fab_diagnostics_nearest (diagnostics, "nodez", names), "nodes");
  fab_diagnostics_add (diagnostics, NULL, "b");
  assert_null (fab_diagnostics_nearest (diagnostics, "nodez", names));
}

/* Fifty mistakes are shown, and that there are more only where there are. */
static void
test_fifty (G_GNUC_UNUSED void **state)
{
  for (guint n = 49; n <= 51; n++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autofree char *text = NULL;

    add_many (diagnostics, "a", n);
    text = fab_diagnostics_format (diagnostics);
    assert_int_equal (strstr (text, "\nand 1 more") != NULL, n == 51);
    assert_int_equal (strstr (text, "\nand") != NULL, n == 51);
  }
}

static void
test_check (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (GError) error = NULL;

  assert_true (fab_diagnostics_check (diagnostics, &error));
  assert_null (error);
  fab_diagnostics_add (diagnostics, NULL, "100%% wrong");
  assert_false (fab_diagnostics_check (diagnostics, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message, "100% wrong");
}

static void
test_nearest (G_GNUC_UNUSED void **state)
{
  static const char *const nodes[] = { "a100-x4-ss11", "dgx-a100", NULL };
  static const char *const entries[] = { "x-hdr-100", "x-hdr-1", "llama2-7b", "llama", NULL };
  static const char *const words[] = { "nodes", "gpus_per_node", "fabric", "nic", NULL };
  static const char *const none[] = { NULL };
  static const char *const gpus[] = { "h20", "a10g", "h100-sxm5-80gb", "h100-nvl-94gb", NULL };
  static const char *const machines[] = { "h20", "dgx-h100", "hgx-h200", NULL };
  static const char *const sizes[] = { "llama-7b", "llama3-8b", NULL };
  static const char *const links[] = { "gaudi2-roce", "roce-25", "roce-100", NULL };

  assert_string_equal (fab_nearest ("nodez", words), "nodes");
  assert_string_equal (fab_nearest ("ndoes", words), "nodes"); /* a swap is one edit */
  assert_string_equal (fab_nearest ("FABRIC", words), "fabric");
  assert_string_equal (fab_nearest ("gpus", words), "gpus_per_node"); /* its beginning */
  assert_null (fab_nearest ("bandwidth", words));
  assert_null (fab_nearest ("", words));
  assert_null (fab_nearest ("nodes", none));
  assert_null (fab_nearest ("nodes", NULL));
  assert_string_equal (fab_nearest ("hdr", entries), "x-hdr-1"); /* the shortest that contains it */
  assert_string_equal (fab_nearest ("meta-llama/Llama-2-7b-hf", entries), "llama2-7b");
  assert_string_equal (fab_nearest ("a100", nodes), "dgx-a100"); /* its end, and it is closer in length */
  assert_null (fab_nearest ("dr", entries));
  assert_string_equal (fab_nearest ("h100", gpus),
                       "h100-sxm5-80gb"); /* the first that is the word and a part */
  assert_string_equal (fab_nearest ("dgx-h200", machines), "hgx-h200"); /* another digit is another product */
  assert_string_equal (fab_nearest ("h200", machines), "hgx-h200");     /* so is one less */
  assert_string_equal (fab_nearest ("llama-8b", sizes),
                       "llama3-8b");                            /* a number that was left out is a letter */
  assert_string_equal (fab_nearest ("roce", links), "roce-25"); /* the word and a number before other parts */
}

static void
test_nearest_said (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "ib-ndr-12x", "ib-ndr", "roce-400", "tcp-10", NULL };
  static const char *const summaries[] = { "InfiniBand NDR 12x", "InfiniBand NDR 4x (ConnectX-7)",
                                           "RoCE (ConnectX-7)", NULL };
  g_autofree char *nics = fab_nearest_said ("connectx7", names, summaries),
                  *kinds = fab_nearest_said ("Infiniband", names, summaries);

  assert_string_equal (nics, "ib-ndr, roce-400");
  assert_string_equal (kinds, "ib-ndr, ib-ndr-12x"); /* the shortest first */
  assert_null (fab_nearest_said ("cable", names, summaries));
  assert_null (fab_nearest_said ("4x", names, summaries)); /* too short to say anything */
}

/* --- read again --- */

typedef struct {
  const char *text;
  guint n;
  FabDiagnostic first, last;
} Parsed;

static void
assert_text (const char *found, const char *expected)
{
  assert_int_equal (found == NULL, expected == NULL);
  if (expected != NULL)
    assert_string_equal (found, expected);
}

static void
assert_diagnostic (const FabDiagnostic *found, const FabDiagnostic *expected)
{
  assert_text (found->message, expected->message);
  assert_text (found->file, expected->file);
  assert_text (found->source, expected->source);
  assert_int_equal (found->line, expected->line);
  assert_int_equal (found->column, expected->column);
}

#define PLAIN(words)        \
  {                         \
    words, NULL, 0, 0, NULL \
  }

static void
test_parse (G_GNUC_UNUSED void **state)
{
  static char a_yaml[] = "a.yaml";
  static const Parsed texts[] = {
    { "no such file", 1, PLAIN ("no such file"), PLAIN ("no such file") },
    /* with a place, of which the first has a source line and the last has none */
    { "a.yaml:12:10: first: 1:2: x\n   12 |   link: a | b\n      |         ^~~~\na.yaml:3:4: last",
      2,
      { "first: 1:2: x", a_yaml, 12, 10, "  link: a | b" },
      { "last", a_yaml, 3, 4, NULL } },
    { "a\nb.yaml:4294967295:1: c\n    1 | \n      | ^", 2, PLAIN ("a"), { "c", "b.yaml", G_MAXUINT, 1, "" } },
    /* a name of a file with colons and numbers */
    { "x:1:a:7:8: c", 1, { "c", "x:1:a", 7, 8, NULL }, { "c", "x:1:a", 7, 8, NULL } },
    { "10:2:3:4: c", 1, { "c", "10:2", 3, 4, NULL }, { "c", "10:2", 3, 4, NULL } },
    /* an assignment has no lines */
    { "--set: a.b=8: c\n      | a.b=8\n      |   ^",
      1,
      { "a.b=8: c", "--set", 0, 0, "a.b=8" },
      { "a.b=8: c", "--set", 0, 0, "a.b=8" } },
    { "--vary: a.b=8: c\n      | a.b=8\n      |   ^\n--as-built: d",
      2,
      { "a.b=8: c", "--vary", 0, 0, "a.b=8" },
      { "d", "--as-built", 0, 0, NULL } },
    /* nearly an option: one that is not alone, one without a message, and a word */
    { "--set a.b: c", 1, PLAIN ("--set a.b: c"), PLAIN ("--set a.b: c") },
    { "--set:c", 1, PLAIN ("--set:c"), PLAIN ("--set:c") },
    { "set: c", 1, PLAIN ("set: c"), PLAIN ("set: c") },
    /* nearly a place: no column, no number, a number of another sign or too large, no space */
    { "a:1: b", 1, PLAIN ("a:1: b"), PLAIN ("a:1: b") },
    { "a:1:b: c", 1, PLAIN ("a:1:b: c"), PLAIN ("a:1:b: c") },
    { "a:b:1: c", 1, PLAIN ("a:b:1: c"), PLAIN ("a:b:1: c") },
    { "a:1:: c", 1, PLAIN ("a:1:: c"), PLAIN ("a:1:: c") },
    { "a:1:2 c", 1, PLAIN ("a:1:2 c"), PLAIN ("a:1:2 c") },
    { "a:1:-2: c", 1, PLAIN ("a:1:-2: c"), PLAIN ("a:1:-2: c") },
    { "a: 1:2: c", 1, PLAIN ("a: 1:2: c"), PLAIN ("a: 1:2: c") },
    { "a:1:4294967296: c", 1, PLAIN ("a:1:4294967296: c"), PLAIN ("a:1:4294967296: c") },
    { "a:1:2:c", 1, PLAIN ("a:1:2:c"), PLAIN ("a:1:2:c") },
    /* a line with a bar that follows nothing, and one that does not begin with a space */
    { "    1 | x", 1, PLAIN ("    1 | x"), PLAIN ("    1 | x") },
    { "a\nb | c", 2, PLAIN ("a"), PLAIN ("b | c") },
    { "a\n  b", 2, PLAIN ("a"), PLAIN ("  b") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GArray) all = fab_diagnostics_parse (texts[i].text);

    assert_int_equal (all->len, texts[i].n);
    assert_diagnostic (&g_array_index (all, FabDiagnostic, 0), &texts[i].first);
    assert_diagnostic (&g_array_index (all, FabDiagnostic, all->len - 1), &texts[i].last);
  }
}

/* What was formatted is read as what was added. */
static void
test_parse_what_was_formatted (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  for (guint i = 1; i <= 40; i++) {
    FabMark mark = mark_in ("  k: v | w", i, 3 + i % 5, 1);

    if (i % 3 == 0)
      mark.text = NULL;
    fab_diagnostics_add (diagnostics, &mark, "wrong %u: a.yaml:1:1: b", i);
  }
  g_autofree char *text = fab_diagnostics_format (diagnostics);
  g_autoptr (GArray) all = fab_diagnostics_parse (text);
  assert_int_equal (all->len, 40);
  for (guint i = 1; i <= 40; i++) {
    g_autofree char *message = g_strdup_printf ("wrong %u: a.yaml:1:1: b", i);
    FabDiagnostic expected = { message, "a.yaml", i, 3 + i % 5, i % 3 == 0 ? NULL : "  k: v | w" };

    assert_diagnostic (&g_array_index (all, FabDiagnostic, i - 1), &expected);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_one),
    cmocka_unit_test (test_caret_column),
    cmocka_unit_test (test_assignment),
    cmocka_unit_test (test_order),
    cmocka_unit_test (test_same_counts_once),
    cmocka_unit_test (test_many),
    cmocka_unit_test (test_unprintable),
    cmocka_unit_test (test_long_line),
    cmocka_unit_test (test_control_characters),
    cmocka_unit_test (test_long_message),
    cmocka_unit_test (test_window),
    cmocka_unit_test (test_copies),
    cmocka_unit_test (test_order_of_all),
    cmocka_unit_test (test_hints_end),
    cmocka_unit_test (test_fifty),
    cmocka_unit_test (test_check),
    cmocka_unit_test (test_parse),
    cmocka_unit_test (test_parse_what_was_formatted),
    cmocka_unit_test (test_nearest),
    cmocka_unit_test (test_nearest_said),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
