/* SPDX-License-Identifier: Apache-2.0 */
/* test_curve.c - curves and bars as text. */
#define _GNU_SOURCE /* posix_openpt */
#include <fcntl.h>
#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/terminal/curve.h"
#include "cli/terminal/fold.h"

static char *
show (double value, G_GNUC_UNUSED gconstpointer of)
{
  return g_strdup_printf ("%g s", value);
}

static char *
drawn (const double *values, guint n, guint columns, gboolean has_braille)
{
  GString *out = g_string_new (NULL);

  fab_curve_append (out,
                    &(FabCurve){ .title = "step",
                                 .first = "1",
                                 .last = "3",
                                 .prefix = "  ",
                                 .values = values,
                                 .n = n,
                                 .show = show },
                    columns, has_braille);
  return g_string_free (out, FALSE);
}

/* 26 columns leave 12 for the curve, beside two blanks, a label of ten columns, a blank and a bar. Six
 * rows are 1.2 s apart, from 6 s down to 0 s, and the line falls by 6/11 s a column: two columns to a row. */
static void
test_a_falling_line (G_GNUC_UNUSED void **state)
{
  const double values[] = { 6, 3, 0 };
  g_autofree char *text = drawn (values, 3, 26, FALSE);

  assert_string_equal (text, "         6 s |**\n"
                             "             |  **\n"
                             "             |    **\n"
                             "             |      **\n"
                             "             |        **\n"
                             "         0 s |          **\n"
                             "        step  1          3\n");
}

/* A character of Braille has 2 x 4 dots: the first one of a line that stays on top is dots 1 and 4, U+2809. */
static void
test_braille (G_GNUC_UNUSED void **state)
{
  const double values[] = { 2, 2, 2 };
  g_autofree char *text = drawn (values, 3, 26, TRUE);

  assert_true (g_str_has_prefix (text,
                                 "         2 s |\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809"
                                 "\u2809\u2809\n"));
}

/* 12 characters are 24 dots across and 24 down: a line from corner to corner has one dot in each column and row. */
static void
test_a_line_from_corner_to_corner (G_GNUC_UNUSED void **state)
{
  const double down[] = { 23, 11.5, 0 }, up[] = { 0, 11.5, 23 };
  g_autofree char *falling = drawn (down, 3, 26, TRUE), *rising = drawn (up, 3, 26, TRUE);
  g_autoptr (GString) left = g_string_new (NULL), right = g_string_new (NULL);

  for (guint row = 0; row < 6; row++) {
    const char *label = row == 0 ? "        23 s |" : row == 5 ? "         0 s |" : "             |";

    /* Dots 1 and 5, then 3 and 8; upwards dots 7 and 6, then 2 and 4. */
    g_string_append_printf (left, "%s%*s\u2811\u2884\n", label, (int) (2 * row), "");
    g_string_append_printf (right, "%s%*s\u2860\u280a\n", label, (int) (2 * (5 - row)), "");
  }
  g_string_append (left, "        step  1          3\n");
  g_string_append (right, "        step  1          3\n");
  assert_string_equal (falling, left->str);
  assert_string_equal (rising, right->str);
}

/* Six rows from 10 s down to 0 s are 2 s apart, so the bound of 4 s has a row of its own with its label. The second of
 * four values is not known: the line goes on to the third. Place 1 of 0 to 3 is column 11/3 of 0 to 11, so 4. */
static void
test_a_bound_and_a_mark (G_GNUC_UNUSED void **state)
{
  const double values[] = { 10, NAN, 0, 0 }, bound = 4;
  g_autoptr (GString) out = g_string_new (NULL);
  FabCurve curve = { .title = "step",
                     .first = "1",
                     .last = "4",
                     .prefix = "  ",
                     .values = values,
                     .n = 4,
                     .show = show,
                     .level = &bound,
                     .mark = "ok",
                     .marked = 1 };

  fab_curve_append (out, &curve, 26, FALSE);
  assert_string_equal (out->str, "        10 s |*\n"
                                 "             | **\n"
                                 "             |   *\n"
                                 "         4 s |- - **- - -\n"
                                 "             |      *\n"
                                 "         0 s |       *****\n"
                                 "        step  1          4\n"
                                 "                  ^ ok\n");
}

/* The labels of the first and of the last row. */
static void
assert_ends (const double *values, const double *bound, const char *top, const char *bottom)
{
  g_autoptr (GString) out = g_string_new (NULL);
  FabCurve curve = { .title = "step",
                     .first = "1",
                     .last = "3",
                     .prefix = "  ",
                     .values = values,
                     .n = 3,
                     .show = show,
                     .level = bound };

  fab_curve_append (out, &curve, 26, FALSE);
  g_auto (GStrv) rows = g_strsplit (out->str, "\n", -1);
  g_autofree char *first = g_strdup_printf ("%12s |", top), *last = g_strdup_printf ("%12s |", bottom);
  assert_true (g_str_has_prefix (rows[0], first) && g_str_has_prefix (rows[5], last));
}

/* The least value is at the bottom where it is at least half of the most, else 0: half as high is half as much. A bound
 * beyond the values is in the picture. */
static void
test_what_the_picture_reaches (G_GNUC_UNUSED void **state)
{
  const double half[] = { 10, 7, 5 }, less[] = { 10, 7, 4.5 }, below[] = { -1, -2, -8 },
               near[] = { 10, 9, 8 };
  const double above = 12, under = 6;

  assert_ends (half, NULL, "10 s", "5 s");
  assert_ends (less, NULL, "10 s", "0 s");
  assert_ends (below, NULL, "-1 s", "-8 s");
  assert_ends (near, &above, "12 s", "8 s");
  assert_ends (near, &under, "10 s", "6 s");
}

/* A steep curve leaves no hole: below a dot of one column stands one in the next row or the next column. */
static void
test_it_fits_and_has_no_holes (G_GNUC_UNUSED void **state)
{
  const double values[] = { 1, 100, 1, 50, 50 };

  for (guint columns = 26; columns < 120; columns += 13) {
    g_autofree char *text = drawn (values, 5, columns, FALSE);
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++)
      assert_true (fab_fold_width (lines[i], strlen (lines[i])) <= columns);
    for (guint i = 0; i < 6; i++)
      assert_non_null (strchr (lines[i], '*'));
  }
}

enum { MOST_VALUES = 6, CELLS = 12, LEFT = 14, N_ROWS = 6 };

static char **
rows_of (const double *values, guint n, const char *first, const char *last, const char *mark, guint marked)
{
  g_autoptr (GString) out = g_string_new (NULL);

  fab_curve_append (out,
                    &(FabCurve){ .title = "step",
                                 .first = first,
                                 .last = last,
                                 .prefix = "  ",
                                 .values = values,
                                 .n = n,
                                 .show = show,
                                 .mark = mark,
                                 .marked = marked },
                    LEFT + CELLS, FALSE);
  return g_strsplit (out->str, "\n", -1);
}

/* Whichever values are not known: from the first to the last that is, each column has a star at the height of the line
 * between those beside it, and other columns have none. */
static void
test_values_that_are_not_known (G_GNUC_UNUSED void **state)
{
  static const double all[MOST_VALUES] = { 3, 10, 0, 7, 1, 9 };

  for (guint mask = 0; mask < 1 << MOST_VALUES; mask++) {
    double values[MOST_VALUES], least = INFINITY, most = -INFINITY;
    guint known[MOST_VALUES], n_known = 0;

    for (guint i = 0; i < MOST_VALUES; i++) {
      values[i] = mask >> i & 1 ? all[i] : NAN;
      if (mask >> i & 1) {
        known[n_known++] = i;
        least = MIN (least, all[i]);
        most = MAX (most, all[i]);
      }
    }
    g_auto (GStrv) rows = rows_of (values, MOST_VALUES, "a", "b", NULL, 0);
    if (n_known < 3) {
      assert_int_equal (g_strv_length (rows), 0);
      continue;
    }
    least = least < most / 2 ? 0 : least;
    for (guint x = 0; x < CELLS; x++) {
      double at = (double) x * (MOST_VALUES - 1) / (CELLS - 1);
      gboolean is_within = known[0] <= at && at <= known[n_known - 1], is_drawn = FALSE;
      guint right = 0;

      while (is_within && known[right] < at)
        right++;
      guint left = is_within && known[right] > at ? right - 1 : right;
      double share = left < right ? (at - known[left]) / (known[right] - known[left]) : 0,
             value = all[known[left]] + share * (all[known[right]] - all[known[left]]);
      for (guint y = 0; y < N_ROWS; y++)
        if (strlen (rows[y]) > LEFT + x && rows[y][LEFT + x] == '*') {
          assert_true (is_within);
          is_drawn = is_drawn || fabs (y - (most - value) / (most - least) * (N_ROWS - 1)) <= 0.5 + 1e-9;
        }
      assert_int_equal (is_drawn, is_within);
    }
  }
}

/* A mark stands below its place with its words behind it, or before it where these have no room. */
static void
test_marks_stand_below_their_places (G_GNUC_UNUSED void **state)
{
  const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

  for (guint marked = 0; marked < CELLS; marked++)
    for (guint length = 1; length < CELLS; length++) {
      g_autofree char *words = g_strnfill (length, 'w'), *behind = g_strconcat ("^ ", words, NULL),
                      *before = g_strconcat (words, " ^", NULL);
      g_auto (GStrv) rows = rows_of (values, CELLS, "1", "12", words, marked);
      const char *line = rows[N_ROWS + 1] + LEFT, *arrow = strchr (line, '^');
      gboolean has_room = marked + 1 + length + 1 <= CELLS;

      assert_int_equal (strspn (rows[N_ROWS + 1], " ") >= LEFT, TRUE);
      assert_non_null (strstr (line, has_room ? behind : before));
      /* where there is room on neither side, the words begin at the edge */
      assert_int_equal (arrow - line, has_room ? marked : MAX (marked, length + 1));
    }
}

/* The names of the first and of the last value stand at the ends; where both are too long, a blank keeps them apart. */
static void
test_names_at_the_ends (G_GNUC_UNUSED void **state)
{
  const double values[] = { 1, 2, 3 };

  for (guint first = 1; first < 16; first++)
    for (guint last = 1; last < 16; last++) {
      g_autofree char *one = g_strnfill (first, 'a'), *other = g_strnfill (last, 'b');
      guint gap = first + last < CELLS ? CELLS - first - last : 1;
      g_autofree char *expected = g_strdup_printf ("        step  %s%*s%s", one, (int) gap, "", other);
      g_auto (GStrv) rows = rows_of (values, 3, one, other, NULL, 0);

      assert_string_equal (rows[N_ROWS], expected);
    }
}

static void
test_what_is_no_curve (G_GNUC_UNUSED void **state)
{
  const double values[] = { 1, 2, NAN };
  g_autofree char *two = drawn (values, 2, 80, FALSE), *broken = drawn (values, 3, 80, FALSE);
  g_autofree char *narrow = drawn ((const double[]){ 1, 2, 3 }, 3, 20, FALSE);

  assert_string_equal (two, "");
  assert_string_equal (broken, "");
  assert_string_equal (narrow, "");
}

/* --- on a screen --- */

/* A terminal in the place of stdout. */
typedef struct {
  int ours, theirs, kept;
} Terminal;

static Terminal
open_terminal (const char *locale)
{
  Terminal self = { .ours = posix_openpt (O_RDWR | O_NOCTTY), .kept = dup (STDOUT_FILENO) };

  assert_true (self.ours >= 0 && grantpt (self.ours) == 0 && unlockpt (self.ours) == 0);
  self.theirs = open (ptsname (self.ours), O_RDWR | O_NOCTTY);
  fflush (stdout);
  assert_true (self.theirs >= 0 && dup2 (self.theirs, STDOUT_FILENO) == STDOUT_FILENO);
  g_setenv ("LC_ALL", locale, TRUE);
  g_setenv ("TERM", "xterm", TRUE);
  g_setenv ("FABRICAST_COLUMNS", "50", TRUE);
  return self;
}

static void
close_terminal (Terminal *self)
{
  dup2 (self->kept, STDOUT_FILENO);
  close (self->kept);
  close (self->theirs);
  close (self->ours);
  g_unsetenv ("FABRICAST_COLUMNS");
}

/* A bar has whole blocks and one of as many eighths as are left, U+258F for one to U+2589 for seven; where blocks
 * cannot be shown, it has signs of ASCII. */
static void
test_bars (G_GNUC_UNUSED void **state)
{
  static const char *const parts[] = { "",       "\u258f", "\u258e", "\u258d",
                                       "\u258c", "\u258b", "\u258a", "\u2589" };
  Terminal terminal = open_terminal ("C.UTF-8");
  GPtrArray *bars = g_ptr_array_new_with_free_func (g_free);

  for (guint eighths = 0; eighths < 40; eighths++)
    g_ptr_array_add (bars, fab_bar_for_screen (eighths / 8.0));
  close_terminal (&terminal);
  terminal = open_terminal ("C");
  g_autofree char *signs = fab_bar_for_screen (3.4), *more = fab_bar_for_screen (3.6);
  close_terminal (&terminal);
  g_setenv ("LC_ALL", "C.UTF-8", TRUE);
  g_autofree char *piped = NULL;
  if (isatty (STDOUT_FILENO) != 1)
    piped = fab_bar_for_screen (2);

  for (guint eighths = 0; eighths < bars->len; eighths++) {
    g_autoptr (GString) expected = g_string_new (NULL);

    for (guint i = 0; i < eighths / 8; i++)
      g_string_append (expected, "\u2588");
    g_string_append (expected, parts[eighths % 8]);
    assert_string_equal (g_ptr_array_index (bars, eighths), expected->str);
  }
  assert_string_equal (signs, "###");
  assert_string_equal (more, "####");
  if (piped != NULL)
    assert_string_equal (piped, "##");
  g_ptr_array_unref (bars);
}

/* On a screen a curve is as wide as that is, and in Braille where it can be shown; elsewhere there is none. */
static void
test_curves_of_a_screen (G_GNUC_UNUSED void **state)
{
  static const char *const locales[] = { "C", "C.UTF-8" };
  const double values[] = { 6, 3, 0 };
  const FabCurve curve = {
    .title = "step", .first = "1", .last = "3", .prefix = "  ", .values = values, .n = 3, .show = show
  };

  for (guint i = 0; i < G_N_ELEMENTS (locales); i++) {
    g_autofree char *expected = drawn (values, 3, 50, i == 1);
    Terminal terminal = open_terminal (locales[i]);
    g_autofree char *text = fab_curve_for_screen (&curve);

    close_terminal (&terminal);
    assert_non_null (text);
    assert_string_equal (text, expected);
  }
  if (isatty (STDOUT_FILENO) != 1)
    assert_null (fab_curve_for_screen (&curve));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_falling_line),
    cmocka_unit_test (test_braille),
    cmocka_unit_test (test_a_line_from_corner_to_corner),
    cmocka_unit_test (test_a_bound_and_a_mark),
    cmocka_unit_test (test_it_fits_and_has_no_holes),
    cmocka_unit_test (test_what_is_no_curve),
    cmocka_unit_test (test_what_the_picture_reaches),
    cmocka_unit_test (test_values_that_are_not_known),
    cmocka_unit_test (test_marks_stand_below_their_places),
    cmocka_unit_test (test_names_at_the_ends),
    cmocka_unit_test (test_bars),
    cmocka_unit_test (test_curves_of_a_screen),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
