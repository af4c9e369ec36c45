/* SPDX-License-Identifier: Apache-2.0 */
/* test_workload.c - the totals of a job: memory by part and class, formulas of parts, and what is freed with them. */
#include "tests/support/test.h"

#include "sim/execution/workload.h"

static void
memory_is_summed_by_class (G_GNUC_UNUSED void **state)
{
  FabJobTotals totals = { 0 };

  assert_int_equal (fab_job_totals_memory (&totals, 0), 0);
  fab_job_totals_add_memory (&totals, 0, "parameters", 100);
  fab_job_totals_add_memory (&totals, 1, "parameters", 7);
  fab_job_totals_add_memory (&totals, 0, "gradients", 30);
  assert_int_equal (totals.memory->len, 3);
  assert_string_equal (g_array_index (totals.memory, FabMemoryPart, 2).part, "gradients");
  assert_int_equal (fab_job_totals_memory (&totals, 0), 130);
  assert_int_equal (fab_job_totals_memory (&totals, 1), 7);
  assert_int_equal (fab_job_totals_memory (&totals, 2), 0);
  fab_job_totals_clear (&totals);
  assert_null (totals.memory);
}

/* A formula is that of one part of one class. */
static void
formulas_are_found_by_class_and_part (G_GNUC_UNUSED void **state)
{
  static const FabMemoryFormula formulas[] = { { .rank_class = 0, .part = "parameters", .formula = "a" },
                                               { .rank_class = 1, .part = "parameters", .formula = "b" },
                                               { .rank_class = 1, .part = "gradients", .formula = "c" } };
  static const struct {
    FabMemoryPart part;
    const char *formula;
  } rows[] = { { { 0, "parameters", 1 }, "a" },
               { { 1, "parameters", 1 }, "b" },
               { { 1, "gradients", 1 }, "c" },
               { { 0, "gradients", 1 }, NULL },
               { { 2, "parameters", 1 }, NULL } };
  FabJobTotals totals = { 0 };

  assert_null (fab_job_totals_formula (&totals, &rows[0].part));
  for (guint i = 0; i < G_N_ELEMENTS (formulas); i++)
    fab_job_totals_add_formula (&totals, &formulas[i]);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabMemoryFormula *found = fab_job_totals_formula (&totals, &rows[i].part);

    assert_int_equal (found != NULL, rows[i].formula != NULL);
    if (found != NULL)
      assert_string_equal (found->formula, rows[i].formula);
  }
  fab_job_totals_clear (&totals);
  assert_null (totals.memory_formulas);
}

static void
count (gpointer owner)
{
  (*(guint *) owner)++;
}

/* Once, however often the totals are cleared. */
static void
the_owner_of_slowness_is_freed (G_GNUC_UNUSED void **state)
{
  guint n_freed = 0;
  FabJobTotals totals = { .slowness_owner = &n_freed, .slowness_free = count };

  fab_job_totals_clear (&totals);
  assert_int_equal (n_freed, 1);
  assert_null (totals.slowness_owner);
  fab_job_totals_clear (&totals);
  assert_int_equal (n_freed, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (memory_is_summed_by_class),
    cmocka_unit_test (formulas_are_found_by_class_and_part),
    cmocka_unit_test (the_owner_of_slowness_is_freed),
  };

  return cmocka_run_group_tests_name ("workload", tests, NULL, NULL);
}
