/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows.c - rows of a page that are chosen by their names. */
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cli/terminal/rows.h"

static const char page[] = "four: a title, and no row\n"
                           "\n"
                           "  step            611.7 ms   100 %\n"
                           "    band          500 ms to 700 ms\n"
                           "  compute         268.5 ms\n"
                           "  slowest link    node0 -> leaf0\n"
                           "                  busy 83 %\n"
                           "\n"
                           "                  a       b\n"
                           "  token_cost per million tokens  $1   $2\n"
                           "  step_cost       $3      $4\n"
                           "\n"
                           "  verdict         It is limited by\n"
                           "                  the step.\n";

static void
assert_rows (const char *chosen, const char *expected)
{
  const FabRowsPart part = { "timeline", "  [ forward ]" };
  g_autoptr (GError) error = NULL;
  g_autofree char *rows = fab_rows_choose (page, &part, 1, chosen, &error);

  assert_null (error);
  assert_string_equal (rows, expected);
}

static void
test_a_row_has_what_stands_below_it (G_GNUC_UNUSED void **state)
{
  assert_rows ("step", "  step            611.7 ms   100 %\n    band          500 ms to 700 ms\n");
  assert_rows ("band", "    band          500 ms to 700 ms\n");
  assert_rows ("slowest-link", "  slowest link    node0 -> leaf0\n                  busy 83 %\n");
  assert_rows ("verdict", "  verdict         It is limited by\n                  the step.\n");
}

/* In the order of the page, whatever the order of the names. */
static void
test_several (G_GNUC_UNUSED void **state)
{
  assert_rows ("timeline,compute,band",
               "    band          500 ms to 700 ms\n  compute         268.5 ms\n  [ forward ]\n");
  assert_rows ("Compute", "  compute         268.5 ms\n");
}

/* Its first words name a row, and the head of a table comes once. */
static void
test_tables (G_GNUC_UNUSED void **state)
{
  assert_rows ("token_cost", "                  a       b\n  token_cost per million tokens  $1   $2\n");
  assert_rows ("token_cost,step_cost",
               "                  a       b\n  token_cost per million tokens  $1   $2\n"
               "  step_cost       $3      $4\n");
}

/* A vertical tab ends a cell as two blanks do, whichever comes first; the head of a table may be the first line. */
static void
test_cells_of_tables (G_GNUC_UNUSED void **state)
{
  static const char table[] = "            \v  a\v  b\n"
                              "  step time\v  1 s\v  2 s\n"
                              "  idle  time\v  3 s\v  4 s\n";
  g_autoptr (GError) error = NULL;
  g_autofree char *step = fab_rows_choose (table, NULL, 0, "step-time", &error),
                  *idle = fab_rows_choose (table, NULL, 0, "idle", &error);

  assert_null (error);
  assert_string_equal (step, "            \v  a\v  b\n  step time\v  1 s\v  2 s\n");
  assert_string_equal (idle, "            \v  a\v  b\n  idle  time\v  3 s\v  4 s\n");
  assert_null (fab_rows_choose ("  a  1\n  b  2\n  alone\n", NULL, 0, "c", &error));
  assert_string_equal (error->message, "--rows c: this page has no row 'c'; its rows are a, b");
  g_clear_error (&error);
  assert_null (fab_rows_choose ("  a  1\n", &(FabRowsPart){ "p", "" }, 1, "c", &error));
  assert_string_equal (error->message, "--rows c: this page has no row 'c'; its rows are a, p");
  g_clear_error (&error);
  assert_null (fab_rows_choose ("title\n", &(FabRowsPart){ "p", "" }, 1, "c", &error));
  assert_string_equal (error->message, "--rows c: this page has no row 'c'; its rows are p");
}

static void
test_an_unknown_row (G_GNUC_UNUSED void **state)
{
  const FabRowsPart part = { "timeline", "" };
  g_autoptr (GError) error = NULL;

  assert_null (fab_rows_choose (page, &part, 1, "step,token", &error));
  assert_string_equal (
      error->message,
      "--rows step,token: this page has no row 'token'; its rows are step, band, compute, slowest-link, "
      "token_cost-per-million-tokens, step_cost, verdict, timeline");
  g_clear_error (&error);
  assert_null (fab_rows_choose (page, NULL, 0, "", &error)); /* a list without names */
  assert_non_null (error);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_row_has_what_stands_below_it),
    cmocka_unit_test (test_several),
    cmocka_unit_test (test_tables),
    cmocka_unit_test (test_cells_of_tables),
    cmocka_unit_test (test_an_unknown_row),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
