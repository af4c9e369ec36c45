/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold.c - text that is fitted to the columns of a terminal, and its colours. */
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cli/terminal/fold.h"
#include "cli/terminal/page.h"
#include "cli/terminal/paint.h"

/* 99 columns */
#define BROAD \
  "Values are a list or a range of them, from the least wanted one on; few of them are played at last in"
#define BROAD_FOLDED                                                                  \
  "Values are a list or a range of them, from the least wanted one on; few of them\n" \
  "  are played at last in"

static void
assert_folded (const char *text, guint columns, const char *expected)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) out = g_string_new (NULL);

  fab_fold_paragraph (out, (const char *const *) lines, g_strv_length (lines), columns);
  assert_string_equal (out->str, expected);
}

static void
assert_painted (const char *text, const char *expected)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) out = g_string_new (NULL);

  fab_paint_paragraph (out, (const char *const *) lines, g_strv_length (lines), FALSE);
  assert_string_equal (out->str, expected);
}

/* However narrow the terminal is, a shell reads the lines of a command as the line that they were, and words in
 * quotation marks stay whole, with other marks within them. */
static void
test_a_command_stays_what_it_is (G_GNUC_UNUSED void **state)
{
  static const char *const quoted[] = { "'mfu >= 30 %, or more'", "\"step <= 'two' seconds\"",
                                        "'a \"b c\" d'" };

  for (guint i = 0; i < G_N_ELEMENTS (quoted); i++)
    for (guint columns = 20; columns < 90; columns++) {
      g_autofree char *command = g_strdup_printf (
          "  fabricast size a.yaml --vary job.bucket --target %s --brief", quoted[i]);
      g_autoptr (GString) out = g_string_new (NULL), joined = g_string_new (NULL);

      fab_fold_paragraph (out, (const char *const[]){ command }, 1, columns);
      assert_non_null (strstr (out->str, quoted[i]));
      g_auto (GStrv) lines = g_strsplit (out->str, " \\\n", -1);
      for (guint k = 0; lines[k] != NULL; k++)
        g_string_append_printf (joined, "%s%s", k > 0 ? " " : "", k > 0 ? g_strchug (lines[k]) : lines[k]);
      g_strchomp (joined->str);
      assert_string_equal (joined->str, command);
    }
}

static void
test_short_lines_stay (G_GNUC_UNUSED void **state)
{
  assert_folded ("  step   1 s   twice  as  much", 40, "  step   1 s   twice  as  much\n");
  assert_folded ("\tGPU0\tGPU1\tGPU2\tGPU3", 10, "\tGPU0\tGPU1\tGPU2\tGPU3\n");
}

static void
test_a_sentence (G_GNUC_UNUSED void **state)
{
  assert_folded ("  one two three four", 12, "  one two\n    three\n    four\n");
  assert_folded ("  takes 12.5 GB/s (-1.4 %) more", 14, "  takes\n    12.5 GB/s\n    (-1.4 %)\n    more\n");
  /* what was broken for a wider page */
  assert_folded (BROAD "\nfour", 80, BROAD_FOLDED " four\n");
  assert_folded (BROAD "\nfour: 5", 80, BROAD_FOLDED "\nfour: 5\n");
  assert_folded (BROAD ".\nfour", 80, BROAD_FOLDED ".\nfour\n");
  /* a word that is too long is not broken */
  assert_folded ("a bcdefghijklmnop q", 8, "a\n  bcdefghijklmnop\n  q\n");
  /* columns, not bytes; a wide character takes two */
  assert_folded ("\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9", 7,
                 "\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9\n");
  assert_int_equal (fab_fold_width ("\xe4\xb8\xad", 3), 2);
}

/* Appends words, with at most two blanks between them, as many to a line as there is room for. */
static void
append_greedily (GString *out, const char *words, guint column, guint hang, guint columns)
{
  for (const char *word = words, *end = words; *word != '\0'; word = end + strspn (end, " ")) {
    guint gap = word > words ? MIN ((guint) (word - end), 2) : 0;

    end = word + strcspn (word, " ");
    if (gap > 0 && column + gap + (guint) (end - word) > columns) {
      g_string_append_printf (out, "\n%*s", (int) hang, "");
      column = hang;
      gap = 0;
    }
    g_string_append_printf (out, "%*s%.*s", (int) gap, "", (int) (end - word), word);
    column += gap + (guint) (end - word);
  }
  g_string_append_c (out, '\n');
}

/* A row that fits stays. Otherwise the words of its last cell stand below each other, where they have 24 columns; below
 * the row, four columns to the right, where the rest of the row fits; or the whole row is folded. */
static void
test_rows_at_every_width (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *before; /* the row up to its last cell, */
    guint indent, end;  /* where its first cell begins, and where the cell before the last one ends */
    const char *last;
    gboolean is_words;
  } rows[] = {
    { "  name   some   ", 2, 13, "one two three four five six seven eight", TRUE },
    { "name   some   of   ", 0, 16, "eleven bytes or more, and then some", TRUE },
    { "    name   ", 4, 8, "one two three four five six seven eight", TRUE },
    { "  name   some   ", 2, 13, "aaaaaaaaaa bbbbbbbbbb", TRUE },   /* 21 bytes */
    { "  name   some   ", 2, 13, "aaaaaaaaaa bbbbbbbbb", FALSE },   /* 20 bytes: a figure */
    { "  name   some   ", 2, 13, "aaaaaaaaaaaaaaaaaaaaaa", FALSE }, /* one word */
    { "  name   some   ", 2, 13, "a b c", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *row = g_strconcat (rows[i].before, rows[i].last, NULL);
    guint column = (guint) strlen (rows[i].before), width = (guint) strlen (row);

    for (guint columns = 8; columns < width + 3; columns++) {
      g_autoptr (GString) expected = g_string_new (NULL);

      if (columns >= width) {
        g_string_append_printf (expected, "%s\n", row);
      } else if (rows[i].is_words && column + 24 <= columns) {
        g_string_append (expected, rows[i].before);
        append_greedily (expected, rows[i].last, column, column, columns);
      } else if (rows[i].is_words && rows[i].end <= columns) {
        guint below = rows[i].indent + 4;

        g_string_append_printf (expected, "%.*s\n%*s", (int) rows[i].end, row, (int) below, "");
        append_greedily (expected, rows[i].last, below, below, columns);
      } else {
        g_string_append_printf (expected, "%*s", (int) rows[i].indent, "");
        append_greedily (expected, row + rows[i].indent, rows[i].indent, rows[i].indent + 4, columns);
      }
      assert_folded (row, columns, expected->str);
    }
  }
}

/* A letter with an accent of its own is as wide as one without, and letters of Chinese are two columns. */
static void
test_widths (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint columns;
  } cases[] = { { "", 0 }, { "abc", 3 }, { "e\u0301", 1 }, { "\u4e2d\u6587", 4 }, { "\u00e9t\u00e9", 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (fab_fold_width (cases[i].text, strlen (cases[i].text)), cases[i].columns);
}

/* A number and a unit of up to six bytes stay together; other words and longer units do not. */
static void
test_numbers_keep_their_units (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *number, *unit;
    gboolean is_one;
  } cases[] = {
    { "12.5", "GB/s)", TRUE }, { "12.5", "GB/s),", TRUE }, { "12.5", "GB/s),.", FALSE },
    { "(-1.4", "%)", TRUE },   { "$5", "each", TRUE },     { "+8", "ms", TRUE },
    { "16x", "A100", TRUE },   { "12,5", "GB/s", FALSE },  { "a12", "GB/s", FALSE },
    { "-", "GB/s", FALSE },    { "12.5:", "GB/s", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("words %s %s", cases[i].number, cases[i].unit);
    g_autofree char *one = g_strdup_printf ("words\n  %s %s\n", cases[i].number, cases[i].unit),
                    *two = g_strdup_printf ("words %s\n  %s\n", cases[i].number, cases[i].unit);

    assert_folded (text, (guint) strlen (text) - 1, cases[i].is_one ? one : two);
  }
  assert_folded ("words 12 ", 8, "words 12\n");
}

/* Prose that was broken for a page of 88 to 112 columns is filled again for a narrower terminal, where it has one
 * indent, and the first line does not end a sentence. Elsewhere each line is folded by itself. */
static void
test_what_goes_on (G_GNUC_UNUSED void **state)
{
  for (guint indent = 0; indent < 4; indent += 2)
    for (guint width = 86; width < 116; width++) {
      g_autofree char *word = g_strnfill (width - 43 - indent, 'w');
      g_autofree char *line = g_strdup_printf ("%*sfour of the words are here to make a line, %s",
                                               (int) indent, "", word);
      gboolean goes_on = width > 88 && width <= 112;
      g_autofree char *next = g_strdup_printf ("%*sof prose", (int) indent, "");
      g_autofree char *both = g_strdup_printf ("%s\n%s", line, next);
      g_autofree char *start = g_strdup_printf ("%*sfour of the words are here to make a line,", (int) indent,
                                                "");
      g_autofree char *joined = g_strdup_printf ("%s\n%*s%s of prose\n", start, (int) indent + 2, "", word),
                      *apart = g_strdup_printf ("%s\n%*s%s\n%s\n", start, (int) indent + 2, "", word, next);

      assert_int_equal (strlen (line), width);
      assert_folded (both, 84, goes_on ? joined : apart);
    }
}

/* What continues stands below the words of the last cell, or below the row where these have no room. */
static void
test_a_row_that_ends_with_words (G_GNUC_UNUSED void **state)
{
  assert_folded ("  run   Play a scenario and say where its time goes", 36,
                 "  run   Play a scenario and say\n        where its time goes\n");
  assert_folded ("  a long name   12.5   13.5   what the link is for", 36,
                 "  a long name   12.5   13.5\n      what the link is for\n");
}

static void
test_a_command_can_be_copied (G_GNUC_UNUSED void **state)
{
  assert_folded ("  fabricast size a.yaml --vary job.bucket --target 'mfu >= 30%'", 40,
                 "  fabricast size a.yaml --vary \\\n      job.bucket --target 'mfu >= 30%'\n");
  assert_folded ("fabricast size: there is no such key in the file", 30,
                 "fabricast size: there is no\n  such key in the file\n");
}

static void
assert_fitted (const char *page, guint columns, const char *expected)
{
  g_autofree char *fitted = fab_page_fit (page, columns);

  assert_string_equal (fitted, expected);
}

static void
test_a_wide_table_is_several (G_GNUC_UNUSED void **state)
{
  static const char page[] = "of two\n"
                             "         \v   alpha\v     beta\v    gamma\n"
                             "  step   \v  352 ms\v      5 s\v      9 s\n"
                             "  exposed\v     0 s\v      1 s\v    2.5 s\n"
                             "that is all  of it";

  assert_fitted (page, 24,
                 "of two\n"
                 "            alpha  beta\n"
                 "  step     352 ms   5 s\n"
                 "  exposed     0 s   1 s\n"
                 "\n"
                 "           gamma\n"
                 "  step       9 s\n"
                 "  exposed  2.5 s\n"
                 "that is all  of it");
  assert_fitted (page, 0,
                 "of two\n"
                 "            alpha     beta    gamma\n"
                 "  step     352 ms      5 s      9 s\n"
                 "  exposed     0 s      1 s    2.5 s\n"
                 "that is all  of it");
  /* a rank alone does not tell rows apart */
  assert_fitted ("     \vname \v    step\v     batch\v     bound\n"
                 "  1  \valpha\v     1 s\v         4\v     nvlink3\n"
                 "  2  \vbeta \v     2 s\v         8\v     pcie4\n",
                 26,
                 "     name   step  batch\n"
                 "  1  alpha   1 s      4\n"
                 "  2  beta    2 s      8\n"
                 "\n"
                 "     name   bound\n"
                 "  1  alpha  nvlink3\n"
                 "  2  beta   pcie4\n");
}

static void
test_a_table_with_much_space (G_GNUC_UNUSED void **state)
{
  assert_fitted ("      \v  alpha\v        beta\v        gamma\n"
                 "  step\v   10 s\v        20 s\v         30 s\n",
                 26,
                 "        alpha  beta  gamma\n"
                 "  step   10 s  20 s   30 s\n");
}

/* The last cell of a short row, and words of a last column, are not fitted. */
static void
test_words_in_a_table (G_GNUC_UNUSED void **state)
{
  assert_fitted ("  gpus\v     step\v     idle\n"
                 "  8   \v      1 s\v        0\n"
                 "  9   \v  cannot be simulated at all\n",
                 22,
                 "  gpus  step  idle\n"
                 "  8      1 s     0\n"
                 "  9     cannot be simulated at all\n");
  assert_fitted ("  link    \v  line\v  what it joins\n"
                 "  nvlink3 \v    25\v  two A100, or a switch\n",
                 24,
                 "  link      line  what it joins\n"
                 "  nvlink3     25  two A100, or a switch\n");
}

/* A last cell is words, which are left to be folded, where it has more than 20 bytes and two single blanks; a table of
 * up to four columns with such a cell stays one. Other cells are fitted: the table becomes two. */
static void
test_what_words_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cell;
    gboolean is_words;
  } cases[] = {
    { "aaaaaa bbbbbb ccccccc", TRUE },      { "aaaaaa bbbbbb cccccc", FALSE },
    { "aaaaaaaaaaaa bbbbbbbbbbbb", FALSE }, { "a bbbbbbbbbbbbbbbbbb cc", TRUE },
    { "aaaaaaaaaaaaaaaaa b c", TRUE },      { "aaaaaaaa  bbbbbbbb  ccccc", FALSE },
    { "aaaaaaaaaaaaaaaaaaaaaaa", FALSE },   { "aaaaaaaa   bbbb ccccccc", FALSE },
    { "aaaaa bbbbb ccccc dddd", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *page = g_strdup_printf ("  name \v   rate\v  about\n  alpha\v   12.5\v  %s\n",
                                             cases[i].cell),
                    *whole = g_strdup_printf ("  name    rate  about\n  alpha   12.5  %s\n", cases[i].cell),
                    *two = g_strdup_printf ("  name   rate\n  alpha  12.5\n\n"
                                            "  name   about\n  alpha  %s\n",
                                            cases[i].cell);

    assert_fitted (page, 22, cases[i].is_words ? whole : two);
  }
}

/* A list with words in its last column moves together where its names have room then; a table of three columns has its
 * labels broken, and one of two has not. */
static void
test_lists_and_small_tables (G_GNUC_UNUSED void **state)
{
  assert_fitted ("  name \v        rate\v  what it is used for in a node\n"
                 "  alpha\v        12.5\v  what it is used for in a node\n",
                 16,
                 "  name   rate  what it is used for in a node\n"
                 "  alpha  12.5  what it is used for in a node\n");
  assert_fitted ("  alpha beta gamma delta\v  10.25 GB/s\v  20.25 GB/s\n", 46,
                 "  alpha beta gamma  10.25 GB/s  20.25 GB/s\n    delta\n");
  assert_fitted ("  alpha beta gamma delta\v  10.25 GB/s\n", 34, "  alpha beta gamma delta  10.25 GB/s\n");
  assert_fitted ("  alpha beta gamma delta\v      10.25 GB/s\n", 30,
                 "  alpha beta gamma delta      10.25 GB/s\n");
  /* cells of one letter count for the space before a column */
  assert_fitted ("  name\v        a\v     beta\n  one \v   b     \v     beta\n", 18,
                 "  name       a\n  one   b\n\n  name  beta\n  one   beta\n");
}

/* Ranks and marks of one or two columns do not tell rows apart; a label of three does. */
static void
test_short_labels (G_GNUC_UNUSED void **state)
{
  static const char *const labels[] = { "7", "10", "100" };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    guint width = (guint) strlen (labels[i]);
    g_autofree char *page = g_strdup_printf ("  %*s\v  name\v       rate\v       idle\n"
                                             "  %s\v  mine\v  12.5 GB/s\v  12.5 GB/s\n",
                                             (int) width, "", labels[i]);
    g_autofree char *expected = g_strdup_printf ("  %*s  name       rate\n  %s  mine  12.5 GB/s\n\n"
                                                 "  %*s%s       idle\n  %s%s  12.5 GB/s\n",
                                                 (int) width, "", labels[i], (int) width, "",
                                                 i < 2 ? "  name" : "", labels[i], i < 2 ? "  mine" : "");

    assert_fitted (page, 24, expected);
  }
}

/* Rows with one first cell are told apart by the second too, where both take two thirds of the page at most. */
static void
test_room_for_two_labels (G_GNUC_UNUSED void **state)
{
  static const char page[] = "  kind    \v  what     \v     alpha\v      beta\n"
                             "  the rail\v  the first\v    100 ms\v      32 %\n"
                             "  the rail\v  the other\v    200 ms\v      12 %\n";

  /* the two take 21 columns: 63 are not more than twice 32, but than twice 31 */
  assert_fitted (page, 32,
                 "  kind      what        alpha\n"
                 "  the rail  the first  100 ms\n"
                 "  the rail  the other  200 ms\n"
                 "\n"
                 "  kind      what       beta\n"
                 "  the rail  the first  32 %\n"
                 "  the rail  the other  12 %\n");
  assert_fitted (page, 31,
                 "  kind      what        alpha\n"
                 "  the rail  the first  100 ms\n"
                 "  the rail  the other  200 ms\n"
                 "\n"
                 "  kind      beta\n"
                 "  the rail  32 %\n"
                 "  the rail  12 %\n");
}

/* A label is broken into lines of 20 columns or more where the table then stays one, and of a third of the page where
 * it does not; not where the label is no longer than that, or a word of it and its indent of two have no room. */
static void
test_where_labels_are_broken (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *label; /* beside four columns that take 48 */
    guint columns;
    const char *first, *second; /* NULL: not broken */
    gboolean is_one;            /* the table stays one */
  } cases[] = {
    { "alpha beta gamma delta", 70, "alpha beta gamma", "delta", TRUE }, /* 70 = 2 + 20 + 48 */
    { "alpha beta gamma delta", 69, NULL, NULL, FALSE },                 /* a third is 23 */
    { "alpha beta gamma delta eta", 70, "alpha beta gamma", "delta eta", TRUE },
    { "alpha beta gamma delta eta", 69, "alpha beta gamma delta", "eta", FALSE },
    { "alpha beta gamma delta", 60, "alpha beta gamma", "delta", FALSE },
    { "alpha beta gamma delta", 50, "alpha beta gamma", "delta", FALSE }, /* no room beside the rest */
    { "alpha beta gamma delta", 45, "alpha beta", "gamma delta", FALSE },
    { "alpha beta gamma del", 61, NULL, NULL, FALSE }, /* 20 columns */
    { "alpha beta gamma delt", 60, "alpha beta gamma", "delt", FALSE },
    { "aaaaaaaaaaaaaaaaaa beta", 60, "aaaaaaaaaaaaaaaaaa", "beta", FALSE },
    { "aaaaaaaaaaaaaaaaaaa beta", 60, NULL, NULL, FALSE }, /* 19 letters and 2 blanks */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *page = g_strdup_printf ("  %s\v  10.25 GB/s\v  20.25 GB/s\v  30.25 GB/s\v  40.25 GB/s\n",
                                             cases[i].label);
    g_autofree char *fitted = fab_page_fit (page, cases[i].columns);
    g_auto (GStrv) lines = g_strsplit (fitted, "\n", -1);
    const char *first = cases[i].first != NULL ? cases[i].first : cases[i].label;
    gsize below = cases[i].second != NULL ? strlen (cases[i].second) + 2 : 0;
    g_autofree char *row = g_strdup_printf ("  %-*s  10.25 GB/s", (int) MAX (strlen (first), below), first);

    if (!g_str_has_prefix (lines[0], row))
      fail_msg ("%s of %u columns: %s", cases[i].label, cases[i].columns, fitted);
    assert_int_equal (strstr (lines[0], "40.25 GB/s") != NULL, cases[i].is_one);
    if (cases[i].second != NULL) {
      assert_true (g_str_has_prefix (lines[1], "    "));
      assert_string_equal (lines[1] + 4, cases[i].second);
    } else {
      assert_string_equal (lines[1], "");
    }
    for (guint k = 0; lines[k] != NULL; k++)
      assert_true (strlen (lines[k]) <= cases[i].columns);
  }
}

/* Labels of several words are broken, and the table stays one. */
static void
test_long_labels_of_a_table (G_GNUC_UNUSED void **state)
{
  assert_fitted (
      "  change                                     \v     step\v    saves\v  limited by\n"
      "  24 nodes at the same batch + fabric rail   \v   430 ms\v   40.5 %\v  compute (over budget)\n"
      "  nothing                                    \v      1 s\v        0\v  NICs\n",
      72,
      "  change                          step   saves  limited by\n"
      "  24 nodes at the same batch +  430 ms  40.5 %  compute (over budget)\n"
      "    fabric rail\n"
      "  nothing                          1 s       0  NICs\n");
}

/* Rows that have their first cell in common are told apart by the second. */
static void
test_labels_that_repeat (G_GNUC_UNUSED void **state)
{
  assert_fitted ("  kind\v  ratio\v    alpha\v     beta\n"
                 "  rail\v      1\v   100 ms\v     32 %\n"
                 "  rail\v      2\v   200 ms\v     12 %\n",
                 22,
                 "  kind  ratio   alpha\n"
                 "  rail      1  100 ms\n"
                 "  rail      2  200 ms\n"
                 "\n"
                 "  kind  ratio  beta\n"
                 "  rail      1  32 %\n"
                 "  rail      2  12 %\n");
}

/* --- tables of any shape --- */

enum { MOST_COLUMNS = 7, MOST_TABLE_ROWS = 5 };

/* A table of figures that stand to the right of their columns, beside labels of one word. */
typedef struct {
  guint n_columns, n_rows;
  guint widths[MOST_COLUMNS], gaps[MOST_COLUMNS]; /* of the longest cell, and the least space before it */
  char *cells[MOST_TABLE_ROWS][MOST_COLUMNS];
} Figures;

static Figures
drawn_figures (GRand *random)
{
  Figures self = { .n_columns = (guint) g_rand_int_range (random, 3, MOST_COLUMNS + 1),
                   .n_rows = (guint) g_rand_int_range (random, 2, MOST_TABLE_ROWS + 1) };

  for (guint k = 0; k < self.n_columns; k++) {
    self.gaps[k] = k > 0 ? (guint) g_rand_int_range (random, 1, 7) : 2;
    for (guint i = 0; i < self.n_rows; i++) {
      guint length = (guint) g_rand_int_range (random, k > 0 ? 1 : 4, 9);

      self.cells[i][k] = g_strnfill (length, (char) ('a' + i));
      self.widths[k] = MAX (self.widths[k], length);
    }
  }
  return self;
}

static void
clear_figures (Figures *self)
{
  for (guint i = 0; i < self->n_rows; i++)
    for (guint k = 0; k < self->n_columns; k++)
      g_free (self->cells[i][k]);
}

/* Appends columns 0 and `first` to `last` - 1, with at most so much space before each. */
static void
append_figures (GString *out, const Figures *self, guint first, guint last, guint most_gap, const char *mark)
{
  for (guint i = 0; i < self->n_rows; i++) {
    g_string_append_printf (out, "  %-*s", (int) self->widths[0], self->cells[i][0]);
    for (guint k = first; k < last; k++)
      g_string_append_printf (out, "%s%*s", mark, (int) (MIN (self->gaps[k], most_gap) + self->widths[k]),
                              self->cells[i][k]);
    g_string_append_c (out, '\n');
  }
}

static guint
width_of_figures (const Figures *self, guint first, guint last, guint most_gap)
{
  guint width = 2 + self->widths[0];

  for (guint k = first; k < last; k++)
    width += MIN (self->gaps[k], most_gap) + self->widths[k];
  return width;
}

/* A table that fits stays as it is. Otherwise its columns move together, to two blanks at most; and if that is not
 * enough, it is printed as several, each with its labels and as many columns as there is room for. */
static void
test_tables_of_any_shape (G_GNUC_UNUSED void **state)
{
  guint n_wide = 0, n_near = 0, n_several = 0;

  for (guint seed = 0; seed < 200; seed++) {
    g_autoptr (GRand) random = g_rand_new_with_seed (seed);
    Figures table = drawn_figures (random);
    g_autoptr (GString) page = g_string_new (NULL);

    append_figures (page, &table, 1, table.n_columns, 100, "\v");
    for (guint columns = 22; columns < 80; columns++) {
      g_autoptr (GString) expected = g_string_new (NULL);
      guint last;

      if (width_of_figures (&table, 1, table.n_columns, 100) <= columns) {
        n_wide++;
        append_figures (expected, &table, 1, table.n_columns, 100, "");
      } else {
        for (guint first = 1; first < table.n_columns; first = last) {
          for (last = first + 1; last < table.n_columns; last++)
            if (width_of_figures (&table, first, last + 1, 2) > columns)
              break;
          if (first > 1)
            g_string_append_c (expected, '\n');
          append_figures (expected, &table, first, last, 2, "");
          n_near += first == 1 && last == table.n_columns;
          n_several += first > 1;
        }
      }
      assert_fitted (page->str, columns, expected->str);
    }
    clear_figures (&table);
  }
  assert_true (n_wide > 1000 && n_near > 500 && n_several > 500);
}

/* Lines of a list, comments of a file and rows of Markdown are no sentence that goes on. */
static void
test_lines_that_stay_apart (G_GNUC_UNUSED void **state)
{
  assert_folded (BROAD "\nas five: 5", 80, BROAD_FOLDED "\nas five: 5\n");
  assert_folded (BROAD "\n# four", 80, BROAD_FOLDED "\n# four\n");
  assert_folded ("| all of it | 12.5 |\n| the rest | 3 |", 12, "| all of it | 12.5 |\n| the rest | 3 |\n");
}

static void
test_prose (G_GNUC_UNUSED void **state)
{
  g_autofree char *folded = fab_fold_prose ("One two\nthree four.\n\n  kept as  it is\nFive six.\n  kept",
                                            12);

  assert_string_equal (folded, "One two\nthree four.\n\n  kept as  it is\nFive six.\n  kept\n");

  /* An end of the last line is no line of its own, and an empty line is. */
  static const char *const ends[] = { "One two.", "One two.\n", "One two.\n\n", "\nOne two.", "  kept\n" };
  static const char *const kept[] = { "One two.\n", "One two.\n", "One two.\n\n", "\nOne two.\n",
                                      "  kept\n" };
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autofree char *prose = fab_fold_prose (ends[i], 12);

    assert_string_equal (prose, kept[i]);
  }
}

static void
test_colours (G_GNUC_UNUSED void **state)
{
  assert_painted ("  binding links\n  a: node0", "\033[1m  binding links\033[0m\n  a: node0\n");
  assert_painted ("  exposed  2 ms  1.0 %  of it", "  \033[31mexposed  2 ms  1.0 %\033[0m  of it\n");
  assert_painted ("  exposed  0 s  0.0 %", "  exposed  0 s  0.0 %\n");
  assert_painted ("  stop    No.\n          It fits", "  \033[31mstop    No.\033[0m\n          It fits\n");
  assert_painted ("  exposed  change  MFU", "  exposed  change  MFU\n");
  assert_painted ("  rank 8  F=.", "  rank 8  F\033[31m=\033[0m\033[2m.\033[0m\n");
  assert_painted ("fabricast run: warning: no", "\033[1mfabricast run:\033[0m \033[33mwarning:\033[0m no\n");
}

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* The first line of several is the head of a table, where it has three cells or more and no figure, or a heading, where
 * it is a few words. */
static void
test_heads_and_headings (G_GNUC_UNUSED void **state)
{
  static const char few[] = "  a heading above a list has fifty-two letters at most"; /* and two blanks */
  g_autofree char *heading = g_strdup_printf ("%s\n  a  1", few),
                  *longer = g_strdup_printf ("%ss\n  a  1", few),
                  *bold = g_strdup_printf (BOLD "%s" PLAIN "\n  a  1\n", few),
                  *plain = g_strdup_printf ("%ss\n  a  1\n", few);

  assert_int_equal (strlen (few) - 2, 52);
  assert_painted (heading, bold);
  assert_painted (longer, plain);
  assert_painted ("  change  step  saves\n  a  1 s  2 %",
                  BOLD "  change  step  saves" PLAIN "\n  a  1 s  2 %\n");
  assert_painted ("  change  step\n  a  1 s", "  change  step\n  a  1 s\n");
  assert_painted ("  change  step  p95\n  a  1 s  2 s", "  change  step  p95\n  a  1 s  2 s\n");
  assert_painted ("  change  step  saves", "  change  step  saves\n");
  assert_painted ("  a  1 s  2 %\n  change  step  saves", "  a  1 s  2 %\n  change  step  saves\n");
  for (const char *end = ".,;"; *end != '\0'; end++) {
    g_autofree char *text = g_strdup_printf ("  some words%c\n  a  1", *end),
                    *same = g_strconcat (text, "\n", NULL);

    assert_painted (text, same);
  }
  assert_painted ("  some words:\n  a  1", BOLD "  some words:" PLAIN "\n  a  1\n");
  assert_painted ("  fabricast run hello\n  a  1", "  fabricast run hello\n  a  1\n");
}

static void
assert_first_painted (const char *text, const char *expected)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) out = g_string_new (NULL);

  fab_paint_paragraph (out, (const char *const *) lines, g_strv_length (lines), TRUE);
  assert_string_equal (out->str, expected);
}

/* The first paragraph of a page is its title, which may take several lines, unless it is a table or ends with a
 * colon. */
static void
test_titles (G_GNUC_UNUSED void **state)
{
  assert_first_painted ("hello: one machine", BOLD "hello: one machine" PLAIN "\n");
  assert_first_painted ("hello: one\n  machine", BOLD "hello: one" PLAIN "\n" BOLD "  machine" PLAIN "\n");
  assert_first_painted ("hello: one\n  a  1", BOLD "hello: one" PLAIN "\n  a  1\n");
  assert_first_painted ("Usage:", "Usage:\n");
  assert_first_painted ("name  words", "name  words\n");
  assert_first_painted ("  hello", "  hello\n");
  assert_painted ("hello: one machine", "hello: one machine\n");
}

/* Good and bad news, wherever they stand, and each where it stands several times. */
static void
test_words_of_a_line (G_GNUC_UNUSED void **state)
{
  assert_painted ("  8  1 s  < best  (2)", "  8  1 s  " GREEN "< best" PLAIN "  (2)\n");
  assert_painted ("  8  does not fit: 2 of 1 GB", "  8  " RED "does not fit" PLAIN ": 2 of 1 GB\n");
  assert_painted ("  does not fit  does not fit",
                  "  " RED "does not fit" PLAIN "  " RED "does not fit" PLAIN "\n");
  assert_painted ("  caution   a few words", "  " YELLOW "caution" PLAIN "   a few words\n");
  assert_painted ("  cautions   a few words", "  cautions   a few words\n");
  assert_painted ("  stops   No.", "  stops   No.\n");
  assert_painted ("  exposed  2 ms", "  " RED "exposed  2 ms" PLAIN "\n");
  assert_painted ("  exposed", "  exposed\n");
  assert_painted ("  exposed  0 s  2 ms", "  exposed  0 s  2 ms\n");
  assert_painted ("  exposed  0.5 s  2 %", "  " RED "exposed  0.5 s  2 %" PLAIN "\n");
  assert_painted ("  rank  F=.", "  rank  F=.\n");
  assert_painted ("  rank 12  =", "  rank 12  " RED "=" PLAIN "\n");
  assert_painted ("fabricast run hello: no", "fabricast run hello: no\n");
  assert_painted ("say fabricast run: no", "say fabricast run: no\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_command_stays_what_it_is),
    cmocka_unit_test (test_short_lines_stay),
    cmocka_unit_test (test_a_sentence),
    cmocka_unit_test (test_rows_at_every_width),
    cmocka_unit_test (test_widths),
    cmocka_unit_test (test_numbers_keep_their_units),
    cmocka_unit_test (test_what_goes_on),
    cmocka_unit_test (test_a_row_that_ends_with_words),
    cmocka_unit_test (test_a_command_can_be_copied),
    cmocka_unit_test (test_a_wide_table_is_several),
    cmocka_unit_test (test_a_table_with_much_space),
    cmocka_unit_test (test_words_in_a_table),
    cmocka_unit_test (test_what_words_are),
    cmocka_unit_test (test_lists_and_small_tables),
    cmocka_unit_test (test_short_labels),
    cmocka_unit_test (test_room_for_two_labels),
    cmocka_unit_test (test_where_labels_are_broken),
    cmocka_unit_test (test_long_labels_of_a_table),
    cmocka_unit_test (test_labels_that_repeat),
    cmocka_unit_test (test_tables_of_any_shape),
    cmocka_unit_test (test_lines_that_stay_apart),
    cmocka_unit_test (test_prose),
    cmocka_unit_test (test_colours),
    cmocka_unit_test (test_heads_and_headings),
    cmocka_unit_test (test_titles),
    cmocka_unit_test (test_words_of_a_line),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
