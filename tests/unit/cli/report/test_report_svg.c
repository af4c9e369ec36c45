/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_svg.c - the bars of steps and the figures of a sweep, drawn from data that are made here. */
#include "tests/support/test.h"

#include <json-glib/json-glib.h>

#include "cli/report/report_svg.h"
#include "tests/support/drawing.h"
#include "tests/unit/cli/report/svg_text.h"

enum { LETTER = 6 };

/* (transfer full) */
static GPtrArray *
drawn (const char *data, const char *figure)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *svg = fab_report_svg (data, figure, &error);

  assert_null (error);
  GPtrArray *drawing = drawing_read (svg);
  drawing_assert_tidy (drawing, LETTER);
  return drawing;
}

static void
assert_refused (const char *data, const char *figure, const char *words)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_report_svg (data, figure, &error));
  assert_non_null (strstr (error->message, words));
}

/* --- bars of steps --- */

/* A step of ms, of which these are compute alone, compute with communication, exposed and idle. */
static char *
iteration (double alone, double hidden, double exposed, double idle)
{
  return g_strdup_printf (
      "{\"step_s\":%g,\"compute_s\":%g,\"overlapped_s\":%g,\"exposed_s\":%g,\"idle_s\":%g}",
      (alone + hidden + exposed + idle) / 1e3, (alone + hidden) / 1e3, hidden / 1e3, exposed / 1e3,
      idle / 1e3);
}

/* The bar on the line of a name, from the left: rectangles that are no squares of the key. (transfer container) */
static GPtrArray *
bar_of (const GPtrArray *drawing, const char *name)
{
  const DrawnElement *label = drawing_text (drawing, name);
  g_autoptr (GPtrArray) rects = drawing_find (drawing, "rect", NULL);
  GPtrArray *bar = g_ptr_array_new ();

  for (guint i = 0; i < rects->len; i++) {
    const DrawnElement *rect = drawing_at (rects, i);
    double y = drawn_number (rect, "y");

    if (y < drawn_number (label, "y") && drawn_number (label, "y") < y + drawn_number (rect, "height")
        && drawn_number (rect, "x") > drawn_number (label, "x"))
      g_ptr_array_add (bar, (gpointer) rect);
  }
  return bar;
}

/* Parts of a bar stand one after another, each as long as its time, in pixels per ms. */
static void
assert_bar (const GPtrArray *drawing, const char *name, const double *parts, double per_ms)
{
  static const char *const styles[] = { "backward", "hidden", "exposed", "idle" };
  g_autoptr (GPtrArray) bar = bar_of (drawing, name);
  double before = 0, left = drawn_number (drawing_at (bar, 0), "x");
  guint n = 0;

  for (guint i = 0; i < 4; i++) {
    if (parts[i] > 0) {
      const DrawnElement *rect = drawing_at (bar, n++);

      assert_string_equal (drawn_word (rect, "fill"), fab_report_svg_fill (styles[i]));
      assert_true (fabs (drawn_number (rect, "x") - left - before * per_ms) < 0.7);
      assert_true (fabs (drawn_number (rect, "width") - parts[i] * per_ms) < 1); /* a gap tells parts apart */
    }
    before += parts[i];
  }
  assert_int_equal (bar->len, n);
}

static double
pixels_per_ms (const GPtrArray *drawing, const char *name, double ms)
{
  g_autoptr (GPtrArray) bar = bar_of (drawing, name);
  const DrawnElement *first = drawing_at (bar, 0), *last = drawing_at (bar, bar->len - 1);

  return (drawn_number (last, "x") + drawn_number (last, "width") - drawn_number (first, "x")) / ms;
}

static void
test_bars_are_as_long_as_their_times (G_GNUC_UNUSED void **state)
{
  const double one[] = { 300, 200, 400, 100 }, other[] = { 100, 0, 150, 0 };
  g_autofree char *first = iteration (300, 200, 400, 100), *unseen = iteration (9000, 0, 0, 0),
                  *second = iteration (100, 0, 150, 0);
  g_autofree char *data = g_strdup_printf (
      "{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s,%s]},"
      "{\"name\":\"a-name-of-more-than-26-letters\",\"ranks\":16,\"iterations\":[%s]}]}",
      unseen, first, second);
  g_autoptr (GPtrArray) drawing = drawn (data, "exposed");
  double per_ms = pixels_per_ms (drawing, "one, 8 GPUs", 1000);
  const DrawnElement *note = drawing_text (drawing, "1 s, exposed 40.0 %"),
                     *other_note = drawing_text (drawing, "250 ms, exposed 60.0 %");

  assert_bar (drawing, "one, 8 GPUs", one, per_ms);
  assert_bar (drawing, "a-name-of-more-than-26-let, 16 GPUs", other, per_ms);
  /* What is said of a step stands behind its bar. */
  assert_near (drawn_number (note, "x") - drawn_number (other_note, "x"), 750 * per_ms, 0.01);
  assert_near (drawn_number (note, "y"), drawn_number (drawing_text (drawing, "one, 8 GPUs"), "y"), 0);
  assert_true (per_ms * 1000 > 200);
}

static void
test_the_key_has_the_colours_of_the_bars (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *style, *words;
  } key[] = { { "backward", "compute alone" },
              { "hidden", "compute with communication" },
              { "exposed", "exposed communication" },
              { "idle", "idle" } };
  g_autofree char *only = iteration (1, 1, 1, 1);
  g_autofree char *data = g_strdup_printf ("{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s]}]}",
                                           only);
  g_autoptr (GPtrArray) drawing = drawn (data, "exposed");

  for (guint i = 0; i < G_N_ELEMENTS (key); i++) {
    const DrawnElement *words = drawing_text (drawing, key[i].words);
    g_autoptr (GPtrArray) rects = drawing_find (drawing, "rect", fab_report_svg_fill (key[i].style));
    const DrawnElement *square = drawing_at (rects, rects->len - 1);
    double gap = drawn_number (words, "x") - drawn_number (square, "x") - drawn_number (square, "width");

    assert_true (0 < gap && gap < 8);
    assert_true (drawn_number (square, "y") < drawn_number (words, "y")
                 && drawn_number (words, "y")
                        <= drawn_number (square, "y") + drawn_number (square, "height"));
  }
}

/* Of one run every iteration has a bar, unless there are more than forty: then the last alone. */
static void
test_iterations_of_one_run (G_GNUC_UNUSED void **state)
{
  for (guint n = 40; n <= 41; n++) {
    g_autoptr (GString) all = g_string_new (NULL);

    for (guint i = 0; i < n; i++) {
      g_autofree char *one = iteration (i + 1, 0, 1, 0);

      g_string_append_printf (all, "%s%s", i > 0 ? "," : "", one);
    }
    g_autofree char *data = g_strdup_printf (
        "{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s]}]}", all->str);
    g_autoptr (GPtrArray) drawing = drawn (data, "exposed");
    assert_int_equal (drawing_says (drawing, "iteration 1"), n == 40);
    assert_int_equal (drawing_says (drawing, "iteration 40"), n == 40);
    assert_int_equal (drawing_says (drawing, "iteration 41"), n == 41);
  }
  assert_refused ("{\"runs\":[]}", "exposed", "--svg exposed: there is no run to draw");
}

/* However short a part is, it is seen; nothing is drawn of what there is not; a step of no time has no shares. */
static void
test_short_parts_are_seen (G_GNUC_UNUSED void **state)
{
  g_autofree char *only = iteration (1000, 0, 0.01, 0), *none = iteration (0, 0, 0, 0);
  g_autofree char *data = g_strdup_printf (
      "{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s,%s]}]}", only, none);
  g_autoptr (GPtrArray) drawing = drawn (data, "exposed");
  g_autoptr (GPtrArray) bar = bar_of (drawing, "iteration 1"), empty = bar_of (drawing, "iteration 2");

  assert_int_equal (bar->len, 2);
  assert_true (drawn_number (drawing_at (bar, 1), "width") > 0);
  assert_int_equal (empty->len, 0);
  g_autofree char *nothing = g_strdup_printf (
      "{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s]}]}", none);
  g_autoptr (GPtrArray) alone = drawn (nothing, "exposed");
  assert_near (drawn_number (drawing_text (drawing, "0 s, exposed 0.0 %"), "x"), 258, 0);
  assert_near (drawn_number (drawing_text (alone, "0 s, exposed 0.0 %"), "x"), 258, 0);
}

/* --- sweep --- */

/* A sweep over axes "a", "b", ...: of each point the exposed share in per cent, below 0: it was not played. */
static char *
sweep (const char *axes, const double *percents, guint n)
{
  g_autoptr (GString) points = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_string_append_printf (points, "%s[%u,", i > 0 ? "," : "", i);
    if (percents[i] < 0)
      g_string_append (points, "null,null,null,null,null]");
    else /* of steps of different lengths */
      g_string_append_printf (points, "%u,0,0,0,%g]", i + 1, percents[i] / 100 * (i + 1));
  }
  return g_strdup_printf ("{\"sweeps\":[{\"name\":\"s\",\"axes\":[%s],\"points\":[%s]}]}", axes, points->str);
}

/* The height of a share on the axis, by the two lines that are named. */
static double
height_of (const GPtrArray *drawing, const char *upper, double upper_percent, double percent)
{
  double zero = drawn_number (drawing_text (drawing, "0.0 %"), "y"),
         top = drawn_number (drawing_text (drawing, upper), "y");

  return zero + (top - zero) * percent / upper_percent;
}

static void
test_a_curve_has_its_points_at_their_places (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "1", "2", "4", "8" };
  const double percents[] = { 10, 42, -1, 25 };
  g_autofree char *data = sweep ("{\"key\":\"nodes\",\"values\":[\"1\",\"2\",\"4\",\"8\"]}", percents, 4);
  g_autoptr (GPtrArray) drawing = drawn (data, "sweep");
  g_autoptr (GPtrArray) squares = drawing_find (drawing, "rect", "#174e80"),
                        lines = drawing_find (drawing, "line", "#2f78b7"),
                        grid = drawing_find (drawing, "line", "#d8dde4");
  double last_x = 0, each = 0;

  assert_int_equal (squares->len, 3);
  assert_int_equal (lines->len, 1); /* none over a value that was not played */
  assert_int_equal (grid->len, 6);  /* from 0 % to 50 % */
  for (guint i = 0, at = 0; i < 4; i++) {
    double x = drawn_number (drawing_text (drawing, names[i]), "x");

    if (i > 0) {
      each = i > 1 ? each : x - last_x;
      assert_near (x - last_x, each, 2e-3);
    }
    last_x = x;
    if (percents[i] < 0)
      continue;
    const DrawnElement *square = drawing_at (squares, at++);
    double half = drawn_number (square, "width") / 2, middle = drawn_number (square, "y") + half;

    assert_near (drawn_number (square, "x") + half, x, 1e-3);
    /* A text stands four pixels below the line that it names. */
    assert_true (fabs (middle + 4 - height_of (drawing, "50.0 %", 50, percents[i])) < 0.2);
  }
  assert_near (drawn_number (drawing_at (lines, 0), "x1"), drawn_number (drawing_text (drawing, "1"), "x"),
               1e-3);
  assert_near (drawn_number (drawing_at (lines, 0), "x2"), drawn_number (drawing_text (drawing, "2"), "x"),
               1e-3);
  for (guint i = 0; i < 2; i++) {
    const DrawnElement *square = drawing_at (squares, i);

    assert_near (drawn_number (drawing_at (lines, 0), i == 0 ? "y1" : "y2"),
                 drawn_number (square, "y") + drawn_number (square, "height") / 2, 1e-3);
  }
  for (guint i = 0; i < grid->len; i++) {
    g_autofree char *words = g_strdup_printf ("%u.0 %%", 10 * i);

    assert_near (drawn_number (drawing_at (grid, i), "y1") + 4,
                 drawn_number (drawing_text (drawing, words), "y"), 1e-3);
    assert_true (drawn_number (drawing_at (grid, i), "x1") < drawn_number (drawing_text (drawing, "1"), "x"));
    assert_true (drawn_number (drawing_at (grid, i), "x2") > drawn_number (drawing_text (drawing, "8"), "x"));
  }
  assert_non_null (drawing_text (drawing, "nodes"));
  assert_non_null (drawing_text (drawing, "Exposed communication, share of the step: s"));
}

/* The axis goes up to the first line that is at or above every point, however large the share is. */
static void
test_an_axis_covers_its_data (G_GNUC_UNUSED void **state)
{
  static const struct {
    double percent;
    const char *top, *beyond;
  } cases[] = { { 100, "100.0 %", "120.0 %" }, { 50, "50.0 %", "60.0 %" }, { 51, "60.0 %", "80.0 %" },
                { 7.5, "8.0 %", "10.0 %" },    { 3, "3.0 %", "4.0 %" },    { 20, "20.0 %", "25.0 %" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const double percents[] = { 0, cases[i].percent };
    g_autofree char *data = sweep ("{\"key\":\"nodes\",\"values\":[\"1\",\"2\"]}", percents, 2);
    g_autoptr (GPtrArray) drawing = drawn (data, "sweep");

    assert_true (drawing_says (drawing, cases[i].top));
    assert_false (drawing_says (drawing, cases[i].beyond));
  }
}

/* 1, 2 or 5 times a power of ten, the first of them that reaches in five steps or fewer. */
static void
test_round_steps (G_GNUC_UNUSED void **state)
{
  for (double most = 1.7e-5; most < 1e7; most *= 1.37) {
    double step = fab_report_svg_round_step (most), first = pow (10, round (log10 (step)) + 1);

    while (5 * first / 10 >= most)
      first /= 10;
    /* `first` is the largest power of ten that is too short or as long: one of its steps is the answer */
    double wanted = 5 * first / 10 >= most  ? first / 10
                  : 5 * first * 0.2 >= most ? first * 0.2
                  : 5 * first * 0.5 >= most ? first * 0.5
                                            : first;
    assert_near (step, wanted, 1e-9);
    assert_true (5 * step >= most * (1 - 1e-12));
  }
  assert_near (fab_report_svg_round_step (5), 1, 1e-12);
  assert_near (fab_report_svg_round_step (10), 2, 1e-12);
  assert_near (fab_report_svg_round_step (25), 5, 1e-12);
  assert_near (fab_report_svg_round_step (26), 10, 1e-12);
}

/* Where columns are narrow, every other or third has its name; a long name is cut to ten letters. */
static void
test_names_of_columns (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n < 60; n += 7) {
    g_autoptr (GString) values = g_string_new (NULL);
    g_autofree double *percents = g_new0 (double, n);
    guint n_named = 0;

    for (guint i = 0; i < n; i++)
      g_string_append_printf (values, "%s\"v%u-of-many-more\"", i > 0 ? "," : "", i + 10);
    g_autofree char *axis = g_strdup_printf ("{\"key\":\"k\",\"values\":[%s]}", values->str);
    g_autofree char *data = sweep (axis, percents, n);
    g_autoptr (GPtrArray) drawing = drawn (data, "sweep");
    for (guint i = 0; i < n; i++) {
      g_autofree char *name = g_strdup_printf ("v%u-of-man", i + 10);

      n_named += drawing_says (drawing, name);
      assert_true (i > 0 || drawing_says (drawing, name));
    }
    assert_true (n > 8 || n_named == n);
    assert_true (n_named * 3 > MIN (n, 8));
  }
}

/* Of three axes the two longest are drawn, at the first value of the third: the longest across, the other one down. */
static void
test_a_map_has_its_points_in_their_cells (G_GNUC_UNUSED void **state)
{
  static const char *const across[] = { "c1", "c2", "c3", "c4" }, *const down[] = { "b1", "b2", "b3" };
  double percents[24];

  for (guint i = 0; i < 24; i++)
    percents[i] = i < 12 ? 3.5 + 4 * i : 99; /* the latter are at the second value of the first axis */
  percents[7] = -1;
  g_autofree char *data = sweep ("{\"key\":\"a\",\"values\":[\"a1\",\"a2\"]},"
                                 "{\"key\":\"b\",\"values\":[\"b1\",\"b2\",\"b3\"]},"
                                 "{\"key\":\"c\",\"values\":[\"c1\",\"c2\",\"c3\",\"c4\"]}",
                                 percents, 24);
  g_autoptr (GPtrArray) drawing = drawn (data, "sweep");
  assert_non_null (drawing_text (drawing, "b"));
  assert_non_null (drawing_text (drawing, "c"));
  assert_false (drawing_says (drawing, "a"));
  assert_false (drawing_says (drawing, "99.0 %"));
  for (guint y = 0; y < 3; y++)
    for (guint x = 0; x < 4; x++) {
      double percent = percents[4 * y + x];
      g_autofree char *words = percent < 0 ? g_strdup ("\u00d7") : g_strdup_printf ("%.1f %%", percent);
      const DrawnElement *text = drawing_text (drawing, words);

      assert_near (drawn_number (text, "x"), drawn_number (drawing_text (drawing, across[x]), "x"), 2e-3);
      assert_near (drawn_number (text, "y"), drawn_number (drawing_text (drawing, down[y]), "y"), 1e-3);
    }
}

/* A cell is lighter the larger its share is, and its words are readable on it. */
static void
test_colours_of_a_map (G_GNUC_UNUSED void **state)
{
  double percents[12], before = -1;

  for (guint i = 0; i < 12; i++)
    percents[i] = 4 * i;
  g_autofree char *data = sweep ("{\"key\":\"b\",\"values\":[\"b1\",\"b2\"]},{\"key\":\"c\",\"values\":"
                                 "[\"c1\",\"c2\",\"c3\",\"c4\",\"c5\",\"c6\"]}",
                                 percents, 12);
  g_autoptr (GPtrArray) drawing = drawn (data, "sweep");
  guint n = 0;
  for (guint i = 0; i + 2 < drawing->len; i++) {
    const DrawnElement *rect = drawing_at (drawing, i), *words = drawing_at (drawing, i + 1);

    if (strcmp (rect->name, "rect") != 0 || strcmp (words->name, "g") != 0)
      continue;
    double light = drawn_light (drawn_word (rect, "fill"));
    g_autofree char *share = g_strdup_printf ("%.1f %%", percents[n++]);
    assert_true (light > before);
    assert_true (fabs (light - drawn_light (drawn_word (words, "fill"))) > 70);
    assert_string_equal (drawing_at (drawing, i + 2)->words->str, share);
    before = light;
  }
  assert_int_equal (n, 12);
}

/* Cells that are too narrow for their share have a colour alone. */
static void
test_a_map_of_narrow_cells (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) values = g_string_new (NULL);
  double percents[60];

  for (guint i = 0; i < 30; i++)
    g_string_append_printf (values, "%s\"%u\"", i > 0 ? "," : "", i + 1);
  for (guint i = 0; i < 60; i++)
    percents[i] = i == 31 ? -1.0 : i;
  g_autofree char *axes = g_strdup_printf (
      "{\"key\":\"b\",\"values\":[\"b1\",\"b2\"]},{\"key\":\"c\",\"values\":[%s]}", values->str);
  g_autofree char *data = sweep (axes, percents, 60);
  g_autoptr (GPtrArray) drawing = drawn (data, "sweep");
  assert_false (drawing_says (drawing, "59.0 %"));
  assert_true (drawing_says (drawing, "\u00d7"));
}

static void
test_what_is_not_drawn (G_GNUC_UNUSED void **state)
{
  assert_refused ("{\"sweeps\":[]}", "sweep", "--svg sweep: there is no sweep to draw");
  assert_refused ("{\"runs\":[]}", "sweeep", "there is no such figure; nearest is sweep; there are timeline");
  assert_refused ("{\"runs\":[]}", "pieces-of-cake", "there is no such figure; there are timeline");
}

/* What anybody wrote is cut to seventy letters, and shows no characters that a terminal would obey. */
static void
test_long_names_are_cut (G_GNUC_UNUSED void **state)
{
  g_autofree char *fits = g_strnfill (70, 'x'), *long_name = g_strnfill (71, 'x'),
                  *head = g_strnfill (69, 'x');
  g_autofree char *cut = g_strconcat (head, "\u2026", NULL);
  GString *svg = fab_report_svg_begin (100, long_name);

  fab_report_svg_text (svg, 10, 50, "start", fits);
  fab_report_svg_text (svg, 10, 70, "start", "a\033b");
  g_autofree char *text = fab_report_svg_end (svg);
  g_autoptr (GPtrArray) drawing = drawing_read (text);
  assert_true (drawing_says (drawing, fits));
  assert_true (drawing_says (drawing, cut));
  assert_null (strchr (text, '\033'));
}

static const char curve_text[] =
    "720 x 320\n"
    "<text x='12' y='22' font-size='14' font-weight='600'>Exposed communication, share of the step: s</text>\n"
    "<line x1='130.0' y1='274.0' x2='700.0' y2='274.0' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='278.0' text-anchor='end'>0.0 %</text>\n"
    "<line x1='130.0' y1='227.2' x2='700.0' y2='227.2' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='231.2' text-anchor='end'>10.0 %</text>\n"
    "<line x1='130.0' y1='180.4' x2='700.0' y2='180.4' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='184.4' text-anchor='end'>20.0 %</text>\n"
    "<line x1='130.0' y1='133.6' x2='700.0' y2='133.6' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='137.6' text-anchor='end'>30.0 %</text>\n"
    "<line x1='130.0' y1='86.8' x2='700.0' y2='86.8' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='90.8' text-anchor='end'>40.0 %</text>\n"
    "<line x1='130.0' y1='40.0' x2='700.0' y2='40.0' stroke='#d8dde4'/>\n"
    "<text x='122.0' y='44.0' text-anchor='end'>50.0 %</text>\n"
    "<rect x='222.0' y='224.2' width='6.0' height='6.0' fill='#174e80'/>\n"
    "<line x1='225.0' y1='227.2' x2='415.0' y2='86.8' stroke='#2f78b7'/>\n"
    "<rect x='412.0' y='83.8' width='6.0' height='6.0' fill='#174e80'/>\n"
    "<line x1='415.0' y1='86.8' x2='605.0' y2='40.0' stroke='#2f78b7'/>\n"
    "<rect x='602.0' y='37.0' width='6.0' height='6.0' fill='#174e80'/>\n"
    "<text x='225.0' y='290.0' text-anchor='middle'>1</text>\n"
    "<text x='415.0' y='290.0' text-anchor='middle'>ten-letter</text>\n"
    "<text x='605.0' y='290.0' text-anchor='middle'>eleven-let</text>\n"
    "<text x='360.0' y='310.0' text-anchor='middle'>nodes</text>\n"
    "</svg>\n";

static const char map_text[] =
    "720 x 154\n"
    "<text x='12' y='22' font-size='14' font-weight='600'>Exposed communication, share of the step: s</text>\n"
    "<text x='12.0' y='44.0' text-anchor='start'>down</text>\n"
    "<text x='122.0' y='72.0' text-anchor='end'>a</text>\n"
    "<rect x='130.0' y='56.0' width='94.0' height='25.0' fill='#00224e'/>\n"
    "<g fill='#ffffff'><text x='177.5' y='72.0' text-anchor='middle'>0.0 %</text>\n"
    "</g>\n"
    "<rect x='225.0' y='56.0' width='94.0' height='25.0' fill='#35456c'/>\n"
    "<g fill='#ffffff'><text x='272.5' y='72.0' text-anchor='middle'>10.0 %</text>\n"
    "</g>\n"
    "<rect x='320.0' y='56.0' width='94.0' height='25.0' fill='#666970'/>\n"
    "<g fill='#ffffff'><text x='367.5' y='72.0' text-anchor='middle'>20.0 %</text>\n"
    "</g>\n"
    "<rect x='415.0' y='56.0' width='94.0' height='25.0' fill='#948e77'/>\n"
    "<g fill='#1b2330'><text x='462.5' y='72.0' text-anchor='middle'>30.0 %</text>\n"
    "</g>\n"
    "<rect x='510.0' y='56.0' width='94.0' height='25.0' fill='#c8b866'/>\n"
    "<g fill='#1b2330'><text x='557.5' y='72.0' text-anchor='middle'>40.0 %</text>\n"
    "</g>\n"
    "<rect x='605.0' y='56.0' width='94.0' height='25.0' fill='#fee838'/>\n"
    "<g fill='#1b2330'><text x='652.5' y='72.0' text-anchor='middle'>50.0 %</text>\n"
    "</g>\n"
    "<text x='122.0' y='98.0' text-anchor='end'>b</text>\n"
    "<rect x='130.0' y='82.0' width='94.0' height='25.0' fill='#15305a'/>\n"
    "<g fill='#ffffff'><text x='177.5' y='98.0' text-anchor='middle'>4.0 %</text>\n"
    "</g>\n"
    "<rect x='225.0' y='82.0' width='94.0' height='25.0' fill='#49536e'/>\n"
    "<g fill='#ffffff'><text x='272.5' y='98.0' text-anchor='middle'>14.0 %</text>\n"
    "</g>\n"
    "<rect x='320.0' y='82.0' width='94.0' height='25.0' fill='#787873'/>\n"
    "<g fill='#ffffff'><text x='367.5' y='98.0' text-anchor='middle'>24.0 %</text>\n"
    "</g>\n"
    "<rect x='415.0' y='82.0' width='94.0' height='25.0' fill='#a99f70'/>\n"
    "<g fill='#1b2330'><text x='462.5' y='98.0' text-anchor='middle'>34.0 %</text>\n"
    "</g>\n"
    "<rect x='510.0' y='82.0' width='94.0' height='25.0' fill='#decb54'/>\n"
    "<g fill='#1b2330'><text x='557.5' y='98.0' text-anchor='middle'>44.0 %</text>\n"
    "</g>\n"
    "<rect x='605.0' y='82.0' width='94.0' height='25.0' fill='#f0f2f4'/>\n"
    "<g fill='#1b2330'><text x='652.5' y='98.0' text-anchor='middle'>×</text>\n"
    "</g>\n"
    "<text x='177.5' y='122.0' text-anchor='middle'>1</text>\n"
    "<text x='272.5' y='122.0' text-anchor='middle'>2</text>\n"
    "<text x='367.5' y='122.0' text-anchor='middle'>3</text>\n"
    "<text x='462.5' y='122.0' text-anchor='middle'>4</text>\n"
    "<text x='557.5' y='122.0' text-anchor='middle'>5</text>\n"
    "<text x='652.5' y='122.0' text-anchor='middle'>6</text>\n"
    "<text x='360.0' y='142.0' text-anchor='middle'>across</text>\n"
    "</svg>\n";

static const char bars_text[] =
    "720 x 124\n"
    "<text x='12' y='22' font-size='14' font-weight='600'>Where the time of a step goes</text>\n"
    "<text x='242.0' y='53.0' text-anchor='end'>one, 8 GPUs</text>\n"
    "<rect x='250.0' y='40.0' width='119.4' height='17.0' fill='#2f78b7'/>\n"
    "<rect x='370.0' y='40.0' width='89.4' height='17.0' fill='#2a9d7c'/>\n"
    "<rect x='460.0' y='40.0' width='59.4' height='17.0' fill='url(#hatch)'/>\n"
    "<rect x='520.0' y='40.0' width='29.4' height='17.0' fill='url(#dots)'/>\n"
    "<text x='558.0' y='53.0' text-anchor='start'>100 ms, exposed 20.0 %</text>\n"
    "<text x='242.0' y='77.0' text-anchor='end'>two, 1 GPU</text>\n"
    "<rect x='250.0' y='64.0' width='29.4' height='17.0' fill='#2f78b7'/>\n"
    "<rect x='280.0' y='64.0' width='119.4' height='17.0' fill='url(#hatch)'/>\n"
    "<text x='408.0' y='77.0' text-anchor='start'>50 ms, exposed 80.0 %</text>\n"
    "<rect x='12.0' y='98.0' width='16.0' height='11.0' fill='#2f78b7'/>\n"
    "<text x='33.0' y='108.0' text-anchor='start'>compute alone</text>\n"
    "<rect x='126.0' y='98.0' width='16.0' height='11.0' fill='#2a9d7c'/>\n"
    "<text x='147.0' y='108.0' text-anchor='start'>compute with communication</text>\n"
    "<rect x='318.0' y='98.0' width='16.0' height='11.0' fill='url(#hatch)'/>\n"
    "<text x='339.0' y='108.0' text-anchor='start'>exposed communication</text>\n"
    "<rect x='480.0' y='98.0' width='16.0' height='11.0' fill='url(#dots)'/>\n"
    "<text x='501.0' y='108.0' text-anchor='start'>idle</text>\n"
    "</svg>\n";

/* Three columns of 190 pixels begin at 130, and five lines of 10 % are 46.8 apart, from 274 up to 40. */
static void
test_each_place_of_a_curve (G_GNUC_UNUSED void **state)
{
  const double percents[] = { 10, 40, 50 };
  g_autofree char *data = sweep ("{\"key\":\"nodes\",\"values\":[\"1\",\"ten-letter\",\"eleven-lett\"]}",
                                 percents, 3),
                  *text = svg_text (data, "sweep");

  assert_string_equal (text, curve_text);
}

/* Six columns of 95 pixels begin at 130; the colours of the shares are those between which others are mixed. */
static void
test_each_place_of_a_map (G_GNUC_UNUSED void **state)
{
  const double percents[] = { 0, 10, 20, 30, 40, 50, 4, 14, 24, 34, 44, -1 };
  g_autofree char *data = sweep ("{\"key\":\"down\",\"values\":[\"a\",\"b\"]},"
                                 "{\"key\":\"across\",\"values\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\"]}",
                                 percents, 12),
                  *text = svg_text (data, "sweep");

  assert_string_equal (text, map_text);
}

/* The longest bar is as long as the room beside its names, and each part is as long as its share. */
static void
test_each_place_of_bars (G_GNUC_UNUSED void **state)
{
  g_autofree char *one = iteration (40, 30, 20, 10), *two = iteration (10, 0, 40, 0),
                  *data = g_strdup_printf ("{\"runs\":[{\"name\":\"one\",\"ranks\":8,\"iterations\":[%s]},"
                                           "{\"name\":\"two\",\"ranks\":1,\"iterations\":[%s]}]}",
                                           one, two),
                  *text = svg_text (data, "exposed");

  assert_string_equal (text, bars_text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_bars_are_as_long_as_their_times),
    cmocka_unit_test (test_the_key_has_the_colours_of_the_bars),
    cmocka_unit_test (test_iterations_of_one_run),
    cmocka_unit_test (test_short_parts_are_seen),
    cmocka_unit_test (test_a_curve_has_its_points_at_their_places),
    cmocka_unit_test (test_an_axis_covers_its_data),
    cmocka_unit_test (test_round_steps),
    cmocka_unit_test (test_names_of_columns),
    cmocka_unit_test (test_a_map_has_its_points_in_their_cells),
    cmocka_unit_test (test_colours_of_a_map),
    cmocka_unit_test (test_a_map_of_narrow_cells),
    cmocka_unit_test (test_what_is_not_drawn),
    cmocka_unit_test (test_long_names_are_cut),
    cmocka_unit_test (test_each_place_of_a_curve),
    cmocka_unit_test (test_each_place_of_a_map),
    cmocka_unit_test (test_each_place_of_bars),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
