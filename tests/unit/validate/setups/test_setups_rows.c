/* SPDX-License-Identifier: Apache-2.0 */
/* test_setups_rows.c - which measured runs say something of setups. The template of their source is missing, so that
 * nothing can be played again: rows that calibrate fit no factor then, and others are only compared with. */
#include <stdio.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/test.h"
#include "validate/setups/setups.h"

/* A run; its exposed share of the step, as predicted blind. */
typedef struct {
  const char *model;
  FabRunRole role;
  gboolean is_calibration;
  const char *stack, *doubtful;
  double time_factor, exposed;
} Run;

static const char *const columns[] = { "model", NULL };

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

/* How many rows of the source are compared blind (-1: its table is not there), and how many no factor takes to what was
 * measured. */
static void
assert_rows (const Run *runs, guint n, int n_compared, guint n_unfitted)
{
  const FabTrainingSourceSpec spec = { .name = "somebody", .scenario = "none.yaml" };
  g_autoptr (GArray) measured = g_array_new (FALSE, TRUE, sizeof (FabTrainingRow));
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (FabTrainingComparison));
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  g_autofree const char **cells = g_new0 (const char *, 2 * n);
  FabTrainingTable table = { .columns = (char **) columns, .rows = measured };
  const FabTrainingSource source = { &spec, &table, "/no/such/folder" };
  FabTrainingResult result = { .source = &source, .rows = rows };
  const FabTrainingReport report = { .results = results };
  const FabTrainingEnv env = { NULL, &fab_models, NULL, FALSE, FALSE };

  g_array_set_size (measured, n);
  for (guint i = 0; i < n; i++) {
    FabTrainingRow *row = &g_array_index (measured, FabTrainingRow, i);
    FabTrainingComparison comparison = { .measured = row,
                                         .row = i,
                                         .role = runs[i].role,
                                         .is_calibration = runs[i].is_calibration,
                                         .traits = { .expert = 1 } };

    cells[2 * i] = runs[i].model;
    *row = (FabTrainingRow){
      .cells = (char **) &cells[2 * i], .id = "r", .doubtful = runs[i].doubtful, .step_s = 1
    };
    comparison.predicted.step_s = comparison.predicted.compute_s = 1;
    comparison.blind.is_predicted = TRUE;
    comparison.blind.step = comparison.predicted;
    comparison.blind.step.exposed_s = runs[i].exposed;
    comparison.blind.step.cell.stack = runs[i].stack;
    comparison.blind.step.cell.time_factor = runs[i].time_factor;
    g_array_append_val (rows, comparison);
  }
  g_ptr_array_add (results, &result);
  g_autoptr (FabSetups) setups = fab_setups_new (&report, &env);
  g_autofree char *yaml = fab_setups_to_yaml (setups), *markdown = fab_setups_to_markdown (setups);
  g_autofree char *left_out = g_strdup_printf (
      "# Left out: 0 rows that expose over a quarter of the step, %u that no scale takes to what was measured.\n",
      n_unfitted);
  const char *blind = strstr (markdown, "### Compute of sources left out, blind\n");

  assert_has (yaml, left_out);
  assert_int_equal (blind != NULL, n_compared >= 0);
  if (n_compared < 0)
    return;
  g_autofree char *row = g_strdup_printf ("| somebody | %d |", n_compared);
  assert_has (blind, row);
}

#define RUN(role_, calibrates_)                  \
  {                                              \
    "a", role_, calibrates_, "eager", NULL, 1, 0 \
  }

/* Only the smallest runs are taken: anchors, those of layouts, and those inside a node. */
static void
the_smallest_runs (G_GNUC_UNUSED void **state)
{
  for (FabRunRole role = 0; role < FAB_N_RUN_ROLES; role++) {
    const Run run = RUN (role, FALSE);
    gboolean is_smallest = role == FAB_RUN_ANCHOR || role == FAB_RUN_LAYOUT_ANCHOR
                        || role == FAB_RUN_ONE_NODE;

    assert_rows (&run, 1, is_smallest ? 1 : -1, 0);
  }
}

/* Left out are doubtful runs, those of no stack, and of those that are only compared with: what exposes over a quarter
 * of the step, and what computes at less than a fifth of the roofline. */
static void
runs_that_say_nothing (G_GNUC_UNUSED void **state)
{
  static const struct {
    Run run;
    gboolean is_taken;
  } cases[] = {
    { { "a", FAB_RUN_ANCHOR, FALSE, "eager", NULL, 1, 0.25 }, TRUE },
    { { "a", FAB_RUN_ANCHOR, FALSE, "eager", NULL, 1, 0.26 }, FALSE },
    { { "a", FAB_RUN_ANCHOR, FALSE, "eager", "hot", 1, 0 }, FALSE },
    { { "a", FAB_RUN_ANCHOR, FALSE, NULL, NULL, 1, 0 }, FALSE },
    { { "a", FAB_RUN_ANCHOR, FALSE, "eager", NULL, 4.99, 0 }, TRUE },
    { { "a", FAB_RUN_ANCHOR, FALSE, "eager", NULL, 5.01, 0 }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_rows (&cases[i].run, 1, cases[i].is_taken ? 1 : -1, 0);
}

/* Only runs that calibrate are played again, whatever stands beside them in their group. */
static void
runs_that_calibrate_are_played (G_GNUC_UNUSED void **state)
{
  static const Run runs[] = { RUN (FAB_RUN_ANCHOR, TRUE),
                              RUN (FAB_RUN_ONE_NODE, FALSE),
                              RUN (FAB_RUN_ONE_NODE, TRUE),
                              { "b", FAB_RUN_ONE_NODE, FALSE, "eager", NULL, 1, 0 },
                              { "b", FAB_RUN_ANCHOR, TRUE, "eager", NULL, 1, 0 } };

  assert_rows (runs, G_N_ELEMENTS (runs), 2, 3);
}

/* Of a group of many, a dozen are played, evenly from its table; the others are passed over and counted nowhere. */
static void
a_dozen_of_a_group_is_played (G_GNUC_UNUSED void **state)
{
  Run runs[40];

  for (guint n = 10; n <= G_N_ELEMENTS (runs); n++) {
    for (guint i = 0; i < n; i++)
      runs[i] = (Run) RUN (FAB_RUN_ANCHOR, TRUE);
    assert_rows (runs, n, -1, MIN (n, 12));
  }
}

/* Each source with one run that computes `factors` times as long as its roofline; the page of what is left out. */
static char *
page_of_sources (const double *factors, guint n)
{
  static const char *const names[] = { "one", "two", "three" };
  FabTrainingSourceSpec specs[3];
  FabTrainingRow measured[3];
  FabTrainingTable tables[3];
  FabTrainingSource sources[3];
  FabTrainingResult made[3];
  g_autoptr (GPtrArray) results = g_ptr_array_new (),
                        arrays = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  const FabTrainingReport report = { .results = results };
  const FabTrainingEnv env = { NULL, &fab_models, NULL, FALSE, FALSE };
  const char *cells[] = { "a", NULL };

  for (guint i = 0; i < n; i++) {
    GArray *table = g_array_new (FALSE, TRUE, sizeof (FabTrainingRow)),
           *rows = g_array_new (FALSE, TRUE, sizeof (FabTrainingComparison));
    FabTrainingComparison comparison = { .role = FAB_RUN_ANCHOR, .traits = { .expert = 1 } };

    measured[i] = (FabTrainingRow){ .cells = (char **) cells, .id = "r", .step_s = 1 };
    g_array_append_val (table, measured[i]);
    specs[i] = (FabTrainingSourceSpec){ .name = names[i], .scenario = "none.yaml" };
    tables[i] = (FabTrainingTable){ .columns = (char **) columns, .rows = table };
    sources[i] = (FabTrainingSource){ &specs[i], &tables[i], "/no/such/folder" };
    comparison.measured = &g_array_index (table, FabTrainingRow, 0);
    comparison.predicted.step_s = comparison.predicted.compute_s = 1;
    comparison.blind.is_predicted = TRUE;
    comparison.blind.step = comparison.predicted;
    comparison.blind.step.cell.stack = "eager";
    comparison.blind.step.cell.time_factor = factors[i];
    g_array_append_val (rows, comparison);
    made[i] = (FabTrainingResult){ .source = &sources[i], .rows = rows };
    g_ptr_array_add (results, &made[i]);
    g_ptr_array_add (arrays, table);
    g_ptr_array_add (arrays, rows);
  }
  g_autoptr (FabSetups) setups = fab_setups_new (&report, &env);
  return fab_setups_to_markdown (setups);
}

/* The first row has the means over sources: of what is in the band, of logarithms, and of errors. */
static void
the_mean_over_sources (G_GNUC_UNUSED void **state)
{
  static const double factors[] = { 1, 2, 4 };

  for (guint n = 1; n <= 3; n++) {
    g_autofree char *page = page_of_sources (factors, n);
    g_autofree char *head = g_strdup_printf (
        "### Compute of sources left out, blind\n\n"
        "| source left out | rows | in the band | bias | median error |\n"
        "|---|---:|---:|---:|---:|\n| **mean of %u source%s** | |",
        n, n == 1 ? "" : "s");
    const char *at = strstr (page, head);
    double all[3], sums[3] = { 0 };

    assert_non_null (at);
    assert_int_equal (sscanf (at + strlen (head), " %lf %% | %lf %% | %lf %% |", &all[0], &all[1], &all[2]),
                      3);
    at = strchr (at + strlen (head), '\n') + 1;
    for (guint i = 0; i < n; i++, at = strchr (at, '\n') + 1) {
      char name[16];
      double one[3];
      guint n_rows;

      assert_int_equal (sscanf (at, "| %15s | %u | %lf %% | %lf %% | %lf %% |", name, &n_rows, &one[0],
                                &one[1], &one[2]),
                        5);
      assert_int_equal (n_rows, 1);
      assert_true (one[0] == 0 || one[0] == 100);
      /* A single row: its error is the size of its bias. */
      assert_near (fabs (one[1]), one[2], 1e-9);
      sums[0] += one[0];
      sums[1] += log1p (one[1] / 100);
      sums[2] += one[2];
    }
    assert_true (at[0] == '\n' && at[1] != '|');
    assert_true (fabs (all[0] - sums[0] / n) <= 0.51);
    assert_true (fabs (all[1] - 100 * expm1 (sums[1] / n)) <= 0.2);
    assert_true (fabs (all[2] - sums[2] / n) <= 0.11);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_smallest_runs),
    cmocka_unit_test (runs_that_say_nothing),
    cmocka_unit_test (runs_that_calibrate_are_played),
    cmocka_unit_test (a_dozen_of_a_group_is_played),
    cmocka_unit_test (the_mean_over_sources),
  };

  return cmocka_run_group_tests_name ("setups_rows", tests, NULL, NULL);
}
