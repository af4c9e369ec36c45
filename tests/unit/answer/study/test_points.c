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

/* What a person tells apart comes first, then what is held, the figures, the spread of the seeds, the band, and what is
 * said of the point. JSON has what is held and the spread elsewhere; the band is there where a row has one. */
static void
columns_follow_the_content (G_GNUC_UNUSED void **state)
{
  static const char *const spread[] = { "seeds", "step_low_s", "step_high_s", "exposed_low_fraction",
                                        "exposed_high_fraction" },
                           *const band_of[] = { "step_band_low_s", "step_band_high_s",
                                                "band_coverage_fraction" },
                           *const last[] = { "binding_link", "binding_link_spec", "limited_by", "problem",
                                             "verdict" };
  const FabPoint point = { .step_s = 0.5 };
  double low[] = { 0.4 }, high[] = { 0.6 };
  const FabBand band = { .low = low, .high = high, .coverage_fraction = 0.9 };

  for (guint which = 0; which < 4; which++) {
    gboolean has_spread = (which & 1) != 0, has_band = (which & 2) != 0;
    g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, "batch");
    g_autoptr (GPtrArray) wanted = g_ptr_array_new ();

    add (points, "25MiB", "8", &point, NULL);
    add (points, "50MiB", "8", &point, NULL);
    fab_points_row (points, 1)->band = has_band ? &band : NULL;
    g_autoptr (FabTable) table = fab_points_table (points, has_spread);
    for (guint i = 0; columns[i] != NULL; i++)
      g_ptr_array_add (wanted, (gpointer) columns[i]);
    if (has_spread)
      g_ptr_array_add (wanted, (gpointer) "hold");
    g_ptr_array_add (wanted, (gpointer) "global_batch");
    for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
      g_ptr_array_add (wanted, (gpointer) figure->column);
    for (guint i = 0; has_spread && i < G_N_ELEMENTS (spread); i++)
      g_ptr_array_add (wanted, (gpointer) spread[i]);
    for (guint i = 0; has_band && i < G_N_ELEMENTS (band_of); i++)
      g_ptr_array_add (wanted, (gpointer) band_of[i]);
    for (guint i = 0; i < G_N_ELEMENTS (last); i++)
      g_ptr_array_add (wanted, (gpointer) last[i]);
    assert_int_equal (table->n_columns, wanted->len);
    for (guint i = 0; i < wanted->len; i++)
      assert_string_equal (table->columns[i], g_ptr_array_index (wanted, i));
    assert_int_equal (table->n_rows, 2);
    assert_int_equal (table->n_cells, 2 * wanted->len);
    if (has_band) {
      assert_int_equal (cell_of (table, 0, "step_band_low_s")->kind, FAB_CELL_NULL);
      assert_int_equal (cell_of (table, 0, "step_band_high_s")->kind, FAB_CELL_NULL);
      assert_int_equal (cell_of (table, 0, "band_coverage_fraction")->kind, FAB_CELL_NULL);
      assert_near (cell_of (table, 1, "step_band_low_s")->real, 0.4, 0);
      assert_near (cell_of (table, 1, "step_band_high_s")->real, 0.6, 0);
      assert_near (cell_of (table, 1, "band_coverage_fraction")->real, 0.9, 0);
    }
    assert_int_equal (cell_of (table, 1, "binding_link")->kind, FAB_CELL_NULL);
    assert_string_equal (cell_of (table, 1, "verdict")->text, ""); /* nothing was found */
  }
}

/* Three seeds: the step takes 0.4 to 0.6 s, of which 10 to 30 % are exposed. What is not known has no cell, bytes are
 * whole numbers. */
static void
points_have_their_spread_and_their_findings (G_GNUC_UNUSED void **state)
{
  FabPoint draws[] = { { .step_s = 0.5, .exposed_s = 0.1 },
                       { .step_s = 0.4, .exposed_s = 0.04 },
                       { .step_s = 0.6, .exposed_s = 0.18 } };
  FabPoint point = draws[0], other = draws[1];
  g_autoptr (FabPoints) points = fab_points_new (columns, 2, 1, NULL);

  point.draws = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (draws); i++)
    g_ptr_array_add (point.draws, &draws[i]);
  point.memory_bytes = 5000000001;
  point.binding = (char *) "node0/nic0 -> leaf0";
  point.binding_spec = (char *) "ib-ndr";
  point.verdict = fab_verdict_new ();
  fab_verdict_add (point.verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("It does not fit."), NULL);
  add (points, "25MiB", "8", &other, NULL);
  assert_int_equal (fab_points_n_seeds (points), 1);
  add (points, "50MiB", "8", &point, NULL);
  add (points, "75MiB", "8", NULL, "it cannot be divided");
  assert_int_equal (fab_points_n_seeds (points), 3);
  g_autoptr (FabPoints) first = fab_points_new (columns, 2, 1, NULL);
  add (first, "50MiB", "8", &point, NULL);
  assert_int_equal (fab_points_n_seeds (first), 3);
  assert_false (fab_points_has_limits (points));
  point.bottleneck = fab_bottleneck_new ();
  assert_true (fab_points_has_limits (points));
  g_autoptr (FabTable) table = fab_points_table (points, TRUE);
  assert_int_equal (cell_of (table, 0, "seeds")->integer, 1);
  assert_int_equal (cell_of (table, 1, "seeds")->integer, 3);
  assert_near (cell_of (table, 0, "step_low_s")->real, 0.4, 0);
  assert_near (cell_of (table, 0, "exposed_high_fraction")->real, 0.1, 1e-12);
  assert_near (cell_of (table, 1, "step_low_s")->real, 0.4, 0);
  assert_near (cell_of (table, 1, "step_high_s")->real, 0.6, 0);
  assert_near (cell_of (table, 1, "exposed_low_fraction")->real, 0.1, 1e-12);
  assert_near (cell_of (table, 1, "exposed_high_fraction")->real, 0.3, 1e-12);
  assert_near (cell_of (table, 1, "exposed_fraction")->real, 0.2, 1e-12);
  assert_int_equal (cell_of (table, 0, "memory_bytes")->kind, FAB_CELL_NULL);
  assert_int_equal (cell_of (table, 1, "memory_bytes")->kind, FAB_CELL_INTEGER);
  assert_int_equal (cell_of (table, 1, "memory_bytes")->integer, 5000000001);
  assert_int_equal (cell_of (table, 1, "step_s")->kind, FAB_CELL_REAL);
  assert_int_equal (cell_of (table, 1, "global_batch")->kind, FAB_CELL_NULL);
  assert_int_equal (cell_of (table, 1, "hold")->kind, FAB_CELL_NULL);
  assert_string_equal (cell_of (table, 1, "binding_link")->text, "node0/nic0 -> leaf0");
  assert_string_equal (cell_of (table, 1, "binding_link_spec")->text, "ib-ndr");
  assert_int_equal (cell_of (table, 0, "limited_by")->kind, FAB_CELL_NULL);
  assert_string_equal (cell_of (table, 1, "limited_by")->text, "nothing alone");
  assert_string_equal (cell_of (table, 1, "verdict")->text, "does_not_fit");
  assert_int_equal (cell_of (table, 1, "problem")->kind, FAB_CELL_NULL);
  assert_string_equal (cell_of (table, 2, "problem")->text, "it cannot be divided");
  for (guint c = 3; c < table->n_columns; c++)
    if (strcmp (table->columns[c], "problem") != 0)
      assert_int_equal (fab_table_cell (table, 2, c)->kind, FAB_CELL_NULL);
  fab_points_free (NULL);
  fab_bottleneck_free (point.bottleneck);
  fab_verdict_free (point.verdict);
  g_ptr_array_unref (point.draws);
}

/* The last columns hold numbers, whole ones and others. */
static void
numbers_are_whole_or_real (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    FabCellKind kind;
    double value;
  } cases[] = {
    { "8", FAB_CELL_INTEGER, 8 },   { "-12", FAB_CELL_INTEGER, -12 }, { "0.5", FAB_CELL_REAL, 0.5 },
    { "1e3", FAB_CELL_REAL, 1000 }, { "2.5e1", FAB_CELL_REAL, 25 },   { NULL, FAB_CELL_NULL, 0 },
  };

  for (guint n_numbers = 0; n_numbers < 4; n_numbers++)
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autoptr (FabPoints) points = fab_points_new (columns, 2, n_numbers, NULL);
      char *const labels[] = { g_strdup (cases[i].text), g_strdup (cases[i].text), g_strdup (cases[i].text) };

      fab_points_add (points, labels, NULL, NULL);
      g_autoptr (FabTable) table = fab_points_table (points, FALSE);
      for (guint c = 0; c < 3; c++) {
        const FabCell *cell = fab_table_cell (table, 0, c);

        if (c + n_numbers >= 3) {
          assert_int_equal (cell->kind, cases[i].kind);
          if (cell->kind != FAB_CELL_NULL)
            assert_near (cell->real, cases[i].value, 0);
        } else if (cases[i].text != NULL) {
          assert_int_equal (cell->kind, FAB_CELL_TEXT);
          assert_string_equal (cell->text, cases[i].text);
        }
      }
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (columns_follow_the_content),
    cmocka_unit_test (points_have_their_spread_and_their_findings),
    cmocka_unit_test (numbers_are_whole_or_real),
    cmocka_unit_test (labels_come_first_and_numbers_are_numbers),
    cmocka_unit_test (a_point_that_was_not_simulated_has_its_problem_alone),
    cmocka_unit_test (the_rows_say_what_the_table_has),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
