/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_plot.c - the plot of a study's page: a mark stands at its value on an axis that covers all of them. */
#include "tests/unit/cli/report/study_pages.h"

#include <math.h>

#include "cli/report/study/page.h"

typedef struct {
  const char *name;
  double value, low, high;
  gboolean is_chosen;
} Mark;

static double
percent_of (const DrawnElement *element, const char *attribute)
{
  const char *word = drawn_word (element, attribute);

  assert_true (word != NULL && g_str_has_suffix (word, "%"));
  return g_ascii_strtod (word, NULL);
}

/* (transfer full) */
static GPtrArray *
plotted (FabFigureKind kind, const Mark *marks, guint n, double bound)
{
  g_autoptr (FabStudyPage) page = fab_study_page_new ();

  page->title = g_strdup ("Which?");
  page->plot = g_strdup ("A plot");
  page->kind = kind;
  page->bound = bound;
  for (guint i = 0; i < n; i++)
    fab_study_page_mark (page, marks[i].name, marks[i].value, marks[i].low, marks[i].high,
                         marks[i].is_chosen);
  g_autofree char *html = fab_study_page_html (page, "", "study.json");
  const char *from = strstr (html, "<main"), *to = strstr (html, "</main>");
  g_autofree char *main_part = g_strndup (from, (gsize) (to - from) + strlen ("</main>"));
  return drawing_read (main_part);
}

/* Elements of a class. (transfer container) */
static GPtrArray *
of_class (const GPtrArray *page, const char *name)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < page->len; i++)
    if (g_strcmp0 (drawn_word (drawing_at (page, i), "class"), name) == 0)
      g_ptr_array_add (found, g_ptr_array_index (page, i));
  return found;
}

/* The axis as its words say it: a value and the place of it, for the first and the last that are named. */
typedef struct {
  double from, to, from_place, to_place;
} Axis;

/* Money below $1000 and shares are plain numbers. */
static double
value_of (const char *words)
{
  return g_ascii_strtod (*words == '$' ? words + 1 : words, NULL);
}

/* A word at the very left or right is moved so that it fits: its place is that of the line nearest to it. */
static double
line_at (const GPtrArray *lines, double place)
{
  double best = NAN;

  for (guint i = 0; i < lines->len; i++) {
    double at = percent_of (drawing_at (lines, i), "x1");

    if (isnan (best) || fabs (at - place) < fabs (best - place))
      best = at;
  }
  return best;
}

static Axis
axis_of (const GPtrArray *page)
{
  g_autoptr (GPtrArray) words = drawing_find (page, "text", NULL), lines = of_class (page, "grid");
  const DrawnElement *first = drawing_at (words, 0), *last = drawing_at (words, words->len - 1);

  assert_true (words->len >= 2 && words->len <= 5);
  return (Axis){ value_of (first->words->str), value_of (last->words->str),
                 line_at (lines, percent_of (first, "x")), line_at (lines, percent_of (last, "x")) };
}

static double
place_on (const Axis *axis, double value)
{
  return axis->from_place
       + (axis->to_place - axis->from_place) * (value - axis->from) / (axis->to - axis->from);
}

static void
assert_place (double place, double expected)
{
  if (fabs (place - expected) > 0.02)
    fail_msg ("a shape stands at %g %%, not at %g %%", place, expected);
  assert_true (0 <= place && place <= 100);
}

static void
assert_marks (const GPtrArray *page, const Mark *marks, guint n, double bound)
{
  g_autoptr (GPtrArray) circles = drawing_find (page, "circle", NULL), whiskers = of_class (page, "whisker"),
                        bounds = of_class (page, "bound"), names = of_class (page, "name"),
                        ends = of_class (page, "end"), chosen = of_class (page, "mark chosen");
  Axis axis = axis_of (page);
  guint n_bands = 0, n_chosen = 0;

  assert_int_equal (circles->len, n);
  for (guint i = 0; i < n; i++) {
    assert_words (drawing_at (names, i), marks[i].name);
    assert_place (percent_of (drawing_at (circles, i), "cx"), place_on (&axis, marks[i].value));
    n_chosen += marks[i].is_chosen;
    if (isnan (marks[i].low) || isnan (marks[i].high))
      continue;
    const DrawnElement *whisker = drawing_at (whiskers, n_bands);
    assert_place (percent_of (whisker, "x1"), place_on (&axis, marks[i].low));
    assert_place (percent_of (whisker, "x2"), place_on (&axis, marks[i].high));
    for (guint k = 0; k < 2; k++)
      assert_place (percent_of (drawing_at (ends, 2 * n_bands + k), "x"),
                    percent_of (whisker, k == 0 ? "x1" : "x2"));
    n_bands++;
  }
  assert_int_equal (whiskers->len, n_bands);
  assert_int_equal (chosen->len, n_chosen);
  assert_int_equal (bounds->len, isnan (bound) ? 0 : n);
  for (guint i = 0; i < bounds->len; i++)
    for (guint k = 0; k < 2; k++)
      assert_place (percent_of (drawing_at (bounds, i), k == 0 ? "x1" : "x2"), place_on (&axis, bound));
}

/* Each mark has the same lines, evenly spaced, of which every named one has its words below it. */
static void
assert_grid (const GPtrArray *page, guint n_marks, guint n_lines, guint n_named)
{
  g_autoptr (GPtrArray) lines = of_class (page, "grid"), words = drawing_find (page, "text", NULL);
  double each = percent_of (drawing_at (lines, 1), "x1") - percent_of (drawing_at (lines, 0), "x1");

  assert_int_equal (lines->len, n_marks * n_lines);
  assert_int_equal (words->len, n_named);
  for (guint i = 0; i < lines->len; i++) {
    assert_place (percent_of (drawing_at (lines, i), "x1"),
                  percent_of (drawing_at (lines, 0), "x1") + each * (i % n_lines));
    assert_place (percent_of (drawing_at (lines, i), "x2"), percent_of (drawing_at (lines, i), "x1"));
  }
  for (guint i = 0; i < words->len; i++) {
    const DrawnElement *text = drawing_at (words, i);
    double x = percent_of (text, "x"), line = line_at (lines, x);

    assert_string_equal (drawn_word (text, "text-anchor"), x <= 0 ? "start" : x >= 100 ? "end" : "middle");
    if (x > 0 && x < 100)
      assert_place (x, line);
  }
}

static void
test_marks_stand_at_their_values (G_GNUC_UNUSED void **state)
{
  const Mark marks[] = { { "a", 30, 10, 45, FALSE },
                         { "b", 12.5, NAN, NAN, TRUE },
                         { "c", 41, 41, 41, FALSE } };
  g_autoptr (GPtrArray) page = plotted (FAB_FIGURE_MONEY, marks, 3, 20);

  assert_marks (page, marks, 3, 20);
  assert_grid (page, 3, 6, 3); /* $0, $10, ... $50: $0, $20 and $40 are named */
  g_autofree char *words = all_words (page, "text", NULL), *values = all_words (page, "p", "value");
  assert_string_equal (words, "$0\n$20\n$40");
  assert_string_equal (values, "$30 ($10 to $45)\n$12.5\n$41 ($41 to $41)");
}

/* An axis begins at 0, or below the least value, and ends at or above the largest, be it a bound. */
static void
test_an_axis_covers_marks_bands_and_bound (G_GNUC_UNUSED void **state)
{
  static const struct {
    double value, low, high, bound;
    guint n_lines, n_named;
    const char *words;
  } cases[] = {
    { 3, NAN, NAN, NAN, 4, 4, "$0\n$1\n$2\n$3" },
    { 3, NAN, NAN, 4.5, 6, 3, "$0\n$2\n$4" },
    { 3, 2, 5, NAN, 6, 3, "$0\n$2\n$4" },
    { 3, -1, 3, NAN, 5, 3, "$-1\n$1\n$3" },
    { -2, NAN, NAN, NAN, 5, 3, "$-2\n$-1\n$0" },
    { 10, NAN, NAN, NAN, 6, 3, "$0\n$4\n$8" },
    { 11, NAN, NAN, NAN, 4, 4, "$0\n$5\n$10\n$15" },
    { 26, NAN, NAN, NAN, 4, 4, "$0\n$10\n$20\n$30" },
    { 0, NAN, NAN, NAN, 6, 3, "$0\n$0.4\n$0.8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Mark mark = { "a", cases[i].value, cases[i].low, cases[i].high, FALSE };
    g_autoptr (GPtrArray) page = plotted (FAB_FIGURE_MONEY, &mark, 1, cases[i].bound);
    g_autofree char *words = all_words (page, "text", NULL);

    assert_string_equal (words, cases[i].words);
    assert_marks (page, &mark, 1, cases[i].bound);
    assert_grid (page, 1, cases[i].n_lines, cases[i].n_named);
  }
}

static void
test_a_page_without_marks_has_no_plot (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = plotted (FAB_FIGURE_MONEY, NULL, 0, NAN);
  g_autoptr (GPtrArray) figures = drawing_find (page, "figure", NULL),
                        tables = drawing_find (page, "table", NULL), lists = drawing_find (page, "ul", NULL);

  assert_int_equal (figures->len, 0);
  assert_int_equal (tables->len, 0);
  assert_int_equal (lists->len, 0);
}

/* Whatever somebody wrote is text on the page, and each caution stands there once. */
static void
test_a_page_has_its_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudyPage) page = fab_study_page_new ();

  page->title = g_strdup ("a <b>");
  page->subject = g_strdup ("c & d");
  page->n_left_out = 3;
  fab_study_page_say (page, "%d %% of it", 5);
  fab_study_page_say (page, "more");
  fab_study_page_caution (page, "twice 5 %");
  fab_study_page_caution (page, "once");
  fab_study_page_caution (page, "twice 5 %");
  fab_study_page_columns (page, "A", "B", (char *) NULL);
  fab_study_page_row (page, FALSE, g_strdup ("one"), g_strdup ("<1>"), (char *) NULL);
  fab_study_page_row (page, TRUE, g_strdup ("two"), g_strdup ("2"), g_strdup ("beyond"), (char *) NULL);
  g_autofree char *html = fab_study_page_html (page, "p{}", "a \"file\"");
  const char *from = strstr (html, "<main"), *to = strstr (html, "</main>");
  g_autofree char *main_part = g_strndup (from, (gsize) (to - from) + strlen ("</main>"));
  g_autoptr (GPtrArray) drawing = drawing_read (main_part);
  g_autofree char *title = all_words (drawing, "h1", NULL), *machine = all_words (drawing, "p", "machine"),
                  *note = all_words (drawing, "p", "note"), *cautions = all_words (drawing, "li", NULL);
  assert_string_equal (title, "a <b>");
  assert_string_equal (machine, "c & d");
  assert_string_equal (note, "3 more are in the study's file.");
  assert_string_equal (cautions, "twice 5\u00a0%\nonce");
  assert_decision (drawing, "5\u00a0% of it", "more");
  assert_table (drawing, "A | B\none | <1>\n*two | 2");
  assert_labels (drawing);
  assert_non_null (strstr (html, "<title>a &lt;b&gt;</title>\n<style>p{}</style>"));
  assert_non_null (strstr (html, "Made from a &quot;file&quot; by fabricast "));
}

/* Cells that are figures stand to the right in a column that has nothing else; the names never do. */
static void
test_columns_of_figures (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cells[3]; /* NULL: the row ends before it */
    gboolean are_figures;
  } cases[] = {
    { { "1", "2.5 s", "30 %" }, TRUE },    { { "$1", "-", "no price" }, TRUE },
    { { "1", "1 (0 to 2)", "3" }, FALSE }, { { "1", "words", "3" }, FALSE },
    { { "1", "2", "(3" }, FALSE },         { { "no prices", "1", "2" }, FALSE },
    { { "-1", "no price", "2" }, TRUE },   { { "1", "2", NULL }, TRUE },
    { { "words", "1", NULL }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabStudyPage) page = fab_study_page_new ();
    guint n_figures = 0, n_cells = 0;

    page->title = g_strdup ("Which?");
    fab_study_page_columns (page, "1", "2", (char *) NULL);
    for (guint k = 0; k < 3; k++) {
      g_autofree char *name = g_strdup_printf ("%u", k);

      if (cases[i].cells[k] != NULL)
        fab_study_page_row (page, FALSE, g_strdup (name), g_strdup (cases[i].cells[k]), (char *) NULL);
      else
        fab_study_page_row (page, FALSE, g_strdup (name), (char *) NULL);
      n_cells += cases[i].cells[k] != NULL;
    }
    g_autofree char *html = fab_study_page_html (page, "", "a file");
    const char *from = strstr (html, "<main"), *to = strstr (html, "</main>");
    g_autofree char *main_part = g_strndup (from, (gsize) (to - from) + strlen ("</main>"));
    g_autoptr (GPtrArray) drawing = drawing_read (main_part);
    g_autoptr (GPtrArray) heads = drawing_find (drawing, "th", NULL);
    for (guint k = 0; k < drawing->len; k++)
      n_figures += g_strcmp0 (drawn_word (drawing_at (drawing, k), "class"), "number") == 0;
    assert_int_equal (n_figures, cases[i].are_figures ? 1 + n_cells : 0);
    assert_null (drawn_word (drawing_at (heads, 0), "class"));
    assert_int_equal (drawn_word (drawing_at (heads, 1), "class") != NULL, cases[i].are_figures);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_marks_stand_at_their_values),
    cmocka_unit_test (test_an_axis_covers_marks_bands_and_bound),
    cmocka_unit_test (test_a_page_without_marks_has_no_plot),
    cmocka_unit_test (test_a_page_has_its_parts),
    cmocka_unit_test (test_columns_of_figures),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
