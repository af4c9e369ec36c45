/* SPDX-License-Identifier: Apache-2.0 */
/* test_points.c - points of a study as a table: labels, numbers, what is missing. */
#include "tests/support/test.h"

#include "answer/study/points.h"

static const char *const columns[] = { "value", "state", "gpus", NULL };

static void
add (FabPoints *points, const char *value, const char *gpus, const FabPoint *point, const char *problem)
{
  char *const labels[] = { g_strdup (value), g_strdup ("fits"), g_strdup (gpus) };

  fab_points_add (points, labels, point, problem);
}

static guint
column_of (const FabTable *table, const char *name)
{
  for (guint c = 0; c < table->n_columns; c++)
    if (strcmp (table->columns[c], name) == 0)
      return c;
  fail_msg ("there is no column %s", name);
  return 0;
}

static const FabCell *
cell_of (const FabTable *table, guint row, const char *name)
{
  return fab_table_cell (table, row, column_of (table, name));
}

static void
labels_come_first_and_numbers_are_numbers (G_GNUC_UNUSED void **state)
{
  const FabPoint point = { .n_ranks = 8, .step_s = 0.5, .exposed_s = 0.1, .global_batch = 64 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, "batch");

  add (points, "25MiB", "8", &point, NULL);
  add (points, "50MiB", NULL, NULL, "it cannot be divided");
  g_autoptr (FabTable) table = fab_points_table (points, TRUE);

  assert_string_equal (table->columns[0], "value");
  assert_string_equal (cell_of (table, 0, "value")->text, "25MiB");
  assert_int_equal (cell_of (table, 0, "gpus")->kind, FAB_CELL_INTEGER);
  assert_int_equal (cell_of (table, 0, "gpus")->integer, 8);
  assert_int_equal (cell_of (table, 1, "gpus")->kind, FAB_CELL_NULL);
  assert_string_equal (cell_of (table, 0, "hold")->text, "batch");
  assert_int_equal (cell_of (table, 0, "global_batch")->integer, 64);
  assert_near (cell_of (table, 0, "step_s")->real, 0.5, 0);
}

static void
a_point_that_was_not_simulated_has_its_problem_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, NULL);

  add (points, "50MiB", "8", NULL, "it cannot be divided");
  g_autoptr (FabTable) table = fab_points_table (points, TRUE);

  assert_int_equal (cell_of (table, 0, "step_s")->kind, FAB_CELL_NULL);
  assert_int_equal (cell_of (table, 0, "seeds")->kind, FAB_CELL_NULL);
  assert_string_equal (cell_of (table, 0, "problem")->text, "it cannot be divided");
}

/* Bands and seeds are of the rows: of the band that covers least, and of the point with most seeds. */
static void
the_rows_say_what_the_table_has (G_GNUC_UNUSED void **state)
{
  const FabPoint point = { .step_s = 0.5 };
  double low[] = { 0.4 }, high[] = { 0.6 };
  const FabBand wide = { .low = low, .high = high, .coverage_fraction = 0.9 },
                narrow = { .low = low, .high = high, .coverage_fraction = 0.5 };
  g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, NULL);

  add (points, "25MiB", "8", &point, NULL);
  add (points, "50MiB", "8", &point, NULL);
  assert_near (fab_points_coverage (points), 0, 0);
  fab_points_row (points, 0)->band = &wide;
  fab_points_row (points, 1)->band = &narrow;
  assert_near (fab_points_coverage (points), 0.5, 0);
  assert_int_equal (fab_points_n_seeds (points), 1);
  assert_false (fab_points_has_limits (points));
  g_autoptr (FabTable) table = fab_points_table (points, TRUE);
  assert_near (cell_of (table, 0, "step_band_high_s")->real, 0.6, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (labels_come_first_and_numbers_are_numbers),
    cmocka_unit_test (a_point_that_was_not_simulated_has_its_problem_alone),
    cmocka_unit_test (the_rows_say_what_the_table_has),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
