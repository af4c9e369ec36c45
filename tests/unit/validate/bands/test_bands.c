/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands.c - bands of residuals by hand. */
#include "validate/bands/fit.h"

#include "tests/support/test.h"

/* Four families. One has two tables of one size, the others a table of four; so each size of the first weighs 1/8, as
 * much as half a table, and those of the others 1/16 each. */
static const double a[] = { 0.4 }, b[] = { -0.2 }, c[] = { 0.1, 0.2, 0.3, 0.8 }, d[] = { 0, 0, 0, 0 },
                    e[] = { -0.1, -0.3, 0.1, 0.5 };
static const FabResiduals all[] = {
  { "a1", "a", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 1, a },
  { "a2", "a", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 1, b },
  { "c", "c", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, c },
  { "d", "d", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, d },
  { "e", "e", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, e },
};

static const FabBandEnds *
cell_of (const FabBandsFit *fit, guint family)
{
  return &g_array_index (fit->families, FabFamilyBands, family)
              .cells[FAB_PLAN_INSIDE][FAB_PLAN_RINGS][FAB_SIZE_SMALL];
}

/* A reach of 1 or more takes all: from -0.3 to 0.8. All operations of the place are the same here, so drawing towards
 * them changes nothing. Left out, c has 0.8 above the 0.5 of the others, and e has -0.3 below their -0.2: at a reach of
 * 1 of c three of four are covered, of e three of four, of the others all: 87.5 %. For 100 % the ends are stretched,
 * until 0.5 x 1.6 holds 0.8. */
static void
ends (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBandsFit) most = fab_bands_fit (all, G_N_ELEMENTS (all), 0.875);
  g_autoptr (FabBandsFit) whole = fab_bands_fit (all, G_N_ELEMENTS (all), 1);
  const FabBandEnds *ends = cell_of (whole, 0);

  assert_true (most->reach <= 1);
  assert_near (whole->reach, 1.6, 1e-9);
  assert_near (ends->low, -0.3 * 1.6, 1e-9);
  assert_near (ends->high, 0.8 * 1.6, 1e-9);
  assert_int_equal (ends->n_tables, 5);
  assert_int_equal (ends->n_families, 4);
  assert_near (fab_bands_covered (&all[2], &(FabBandEnds){ -1, 0.25, 0, 0 }), 0.5, 1e-12);
}

/* All families are listed; only the first has two tables, and so ends of its own: its 0.4 counts as
 * two tables, the high end of all families as one. */
static void
families_are_listed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBandsFit) fit = fab_bands_fit (all, G_N_ELEMENTS (all), 0.9);

  assert_int_equal (fit->families->len, 5);
  for (guint i = 1; i < fit->families->len; i++)
    assert_int_equal (cell_of (fit, i)->n_tables, i == 1 ? 2 : 0);
  assert_true (fit->own_reach <= 1); /* left out, 0.4 is within (0 + 0.8) / 2: nothing is stretched */
  assert_near (cell_of (fit, 1)->high, (2 * 0.4 + cell_of (fit, 0)->high) / 3, 1e-9);
}

/* What is left out has no say: without c the widest is a's 0.4 and e's 0.5, so the reach found there is not c's. */
static void
left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) left = fab_bands_left_out (all, G_N_ELEMENTS (all), 0.9);

  assert_int_equal (left->len, 4);
  assert_int_equal (g_array_index (left, FabLeftOutCoverage, 0).n_tables, 2);
  assert_string_equal (g_array_index (left, FabLeftOutCoverage, 1).family, "c");
  assert_true (g_array_index (left, FabLeftOutCoverage, 1).covered_fraction[FAB_SIZE_SMALL] < 1);
  assert_near (g_array_index (left, FabLeftOutCoverage, 2).covered_fraction[FAB_SIZE_SMALL], 1, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ends),
    cmocka_unit_test (families_are_listed),
    cmocka_unit_test (left_out),
  };

  return cmocka_run_group_tests_name ("bands", tests, NULL, NULL);
}
