/* SPDX-License-Identifier: Apache-2.0 */
/* test_directions.c - which rows of a source are compared in one factor, and whether both changes go the same way. */
#include "validate/training/report_parts.h"

#include <string.h>

#include "tests/support/test.h"

enum { MOST = 4 };

/* A row: its cells, and a third of the GPU-seconds of a sample, measured and predicted. */
typedef struct {
  const char *model, *gpus, *nic;
  double measured, predicted;
  guint nodes;
  FabRunRole role;
} Row;

static const char *const columns[] = { "gpus", "model", "nic", NULL };

/* What is counted; `wrong` may be NULL. */
static FabDirections
directions_of (const Row *given, guint n, GArray **wrong)
{
  const FabTrainingSourceSpec spec = { .name = "somebody", .same = "nothing model", .factors = "gpus  nic" };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource source = { &spec, &table, NULL };
  static const char *const ids[MOST] = { "r0", "r1", "r2", "r3" };
  FabTrainingRow measured[MOST];
  const char *cells[MOST][4];
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (FabTrainingComparison));
  FabTrainingResult result = { .source = &source, .rows = rows };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FabWrongDirection));

  for (guint i = 0; i < n; i++) {
    FabTrainingComparison row = { .measured = &measured[i], .role = given[i].role };
    guint gpus = (guint) g_ascii_strtoull (given[i].gpus, NULL, 10);

    cells[i][0] = given[i].gpus;
    cells[i][1] = given[i].model;
    cells[i][2] = given[i].nic;
    cells[i][3] = NULL;
    /* a batch that is another for each row, so that steps are no measure of it */
    measured[i] = (FabTrainingRow){ .cells = (char **) cells[i],
                                    .id = ids[i],
                                    .gpus = gpus,
                                    .nodes = given[i].nodes,
                                    .batch = 10.0 + i,
                                    .step_s = 3 * given[i].measured * (10.0 + i) / gpus };
    row.predicted.step_s = 3 * given[i].predicted * (10.0 + i) / gpus;
    g_array_append_val (rows, row);
  }
  fab_training_directions (&result, all);
  if (wrong != NULL)
    *wrong = g_steal_pointer (&all);
  return result.directions;
}

static void
assert_counts (FabDirections found, guint n_right, guint n_wrong, guint n_small, guint n_odd)
{
  assert_int_equal (found.n_right, n_right);
  assert_int_equal (found.n_wrong, n_wrong);
  assert_int_equal (found.n_small, n_small);
  assert_int_equal (found.n_odd, n_odd);
}

/* Under 2 % there is no direction. Where both change alike the prediction is right. More GPUs measured cheaper,
 * or fewer that are dearer, are odd; any other difference is wrong. */
static void
changes_of_two_rows (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row a, b;
    enum { RIGHT, WRONG, SMALL, ODD } is;
  } cases[] = {
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 1.1, 1.3, 4, 0 }, RIGHT },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 0.9, 0.99, 4, 0 }, RIGHT },
    { { "m", "32", "x", 1, 1, 4, 0 }, { "m", "16", "x", 0.9, 0.99, 2, 0 }, RIGHT },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 1.1, 0.9, 4, 0 }, WRONG },
    { { "m", "32", "x", 1, 1, 4, 0 }, { "m", "16", "x", 0.9, 1.1, 2, 0 }, WRONG },
    { { "m", "16", "x", 1, 1, 2, 0 },
      { "m", "32", "x", 1.1, 1, 4, 0 },
      WRONG }, /* predicted to change nothing */
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 0.9, 1.1, 4, 0 }, ODD },
    { { "m", "32", "x", 1, 1, 4, 0 }, { "m", "16", "x", 1.1, 0.9, 2, 0 }, ODD },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "16", "y", 0.9, 1.1, 2, 0 }, WRONG },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "16", "y", 1.1, 0.9, 2, 0 }, WRONG },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 1.019, 0.5, 4, 0 }, SMALL },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 0.981, 2, 4, 0 }, SMALL },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 1.021, 1.5, 4, 0 }, RIGHT },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 0.979, 0.5, 4, 0 }, RIGHT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Row rows[] = { cases[i].a, cases[i].b };
    g_autoptr (GArray) wrong = NULL;

    assert_counts (directions_of (rows, 2, &wrong), cases[i].is == RIGHT, cases[i].is == WRONG,
                   cases[i].is == SMALL, cases[i].is == ODD);
    assert_int_equal (wrong->len, cases[i].is == WRONG);
    if (cases[i].is != WRONG)
      continue;
    const FabWrongDirection *one = &g_array_index (wrong, FabWrongDirection, 0);
    assert_string_equal (one->source, "somebody");
    assert_string_equal (one->factor, strcmp (rows[0].nic, rows[1].nic) == 0 ? "gpus" : "nic");
    assert_string_equal (one->from, "r0");
    assert_string_equal (one->to, "r1");
    assert_near (one->measured_fraction, rows[1].measured - 1, 1e-9);
    assert_near (one->predicted_fraction, rows[1].predicted - 1, 1e-9);
  }
}

static guint
count (FabDirections found)
{
  return found.n_right + found.n_wrong + found.n_small + found.n_odd;
}

/* Compared are rows that differ in one factor and in nothing else, both predicted, and not both inside a node. */
static void
rows_that_are_compared (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row a, b;
    gboolean is_compared;
  } cases[] = {
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 2, 2, 4, 0 }, TRUE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "16", "x", 2, 2, 2, 0 }, FALSE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "n", "32", "x", 2, 2, 4, 0 }, FALSE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "y", 2, 2, 4, 0 }, FALSE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "n", "32", "y", 2, 2, 4, 0 }, FALSE },
    { { "m", "4", "x", 1, 1, 1, 0 }, { "m", "8", "x", 2, 2, 1, 0 }, FALSE },
    { { "m", "8", "x", 1, 1, 1, 0 }, { "m", "16", "x", 2, 2, 2, 0 }, TRUE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "8", "x", 2, 2, 1, 0 }, TRUE },
    { { "m", "16", "x", 1, 1, 2, FAB_RUN_LAST_PREDICTED },
      { "m", "32", "x", 2, 2, 4, FAB_RUN_LAST_PREDICTED },
      TRUE },
    { { "m", "16", "x", 1, 1, 2, FAB_RUN_FULL_MEMORY }, { "m", "32", "x", 2, 2, 4, 0 }, FALSE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 2, 2, 4, FAB_RUN_FULL_MEMORY }, FALSE },
    { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 2, 2, 4, FAB_RUN_SKIPPED }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Row rows[] = { cases[i].a, cases[i].b };

    if (count (directions_of (rows, 2, NULL)) != (guint) cases[i].is_compared)
      fail_msg ("case %u", i);
  }
}

/* Of numbers, only neighbours are compared: no row that is alike in all else stands between them. */
static void
neighbours_are_compared (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row rows[3];
    guint n;
  } cases[] = {
    { { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "x", 2, 2, 4, 0 }, { "m", "64", "x", 3, 3, 8, 0 } }, 2 },
    { { { "m", "64", "x", 1, 1, 8, 0 }, { "m", "16", "x", 2, 2, 2, 0 }, { "m", "32", "x", 3, 3, 4, 0 } }, 2 },
    { { { "m", "32", "x", 1, 1, 4, FAB_RUN_LAST_PREDICTED },
        { "m", "64", "x", 2, 2, 8, 0 },
        { "m", "16", "x", 3, 3, 2, 0 } },
      2 },
    /* the one between is of another model, or over another NIC, or not predicted */
    { { { "m", "16", "x", 1, 1, 2, 0 }, { "n", "32", "x", 2, 2, 4, 0 }, { "m", "64", "x", 3, 3, 8, 0 } }, 1 },
    { { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "32", "y", 2, 2, 4, 0 }, { "m", "64", "x", 3, 3, 8, 0 } }, 1 },
    { { { "m", "16", "x", 1, 1, 2, 0 },
        { "m", "32", "x", 2, 2, 4, FAB_RUN_SKIPPED },
        { "m", "64", "x", 3, 3, 8, 0 } },
      1 },
    /* one like an end is not between */
    { { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "16", "x", 2, 2, 2, 0 }, { "m", "64", "x", 3, 3, 8, 0 } }, 2 },
    /* names have no order */
    { { { "m", "16", "x", 1, 1, 2, 0 }, { "m", "16", "y", 2, 2, 2, 0 }, { "m", "16", "z", 3, 3, 2, 0 } }, 3 },
    { { { "m", "16", "1", 1, 1, 2, 0 }, { "m", "16", "2b", 2, 2, 2, 0 }, { "m", "16", "3", 3, 3, 2, 0 } },
      3 },
    { { { "m", "16", "1", 1, 1, 2, 0 }, { "m", "16", "", 2, 2, 2, 0 }, { "m", "16", "-3", 3, 3, 2, 0 } }, 3 },
    { { { "m", "16", "1", 1, 1, 2, 0 }, { "m", "16", "2.5", 2, 2, 2, 0 }, { "m", "16", "3", 3, 3, 2, 0 } },
      2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (count (directions_of (cases[i].rows, 3, NULL)) != cases[i].n)
      fail_msg ("case %u", i);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (changes_of_two_rows),
    cmocka_unit_test (rows_that_are_compared),
    cmocka_unit_test (neighbours_are_compared),
  };

  return cmocka_run_group_tests_name ("directions", tests, NULL, NULL);
}
