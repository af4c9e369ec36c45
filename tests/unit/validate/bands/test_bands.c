/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands.c - bands of residuals by hand. */
#include "validate/bands/fit.h"

#include <string.h>

#include "tests/support/test.h"

/* Four families. One has two tables of one size by two publications, the others a table of four; so each size of the
 * first weighs 1/8, as much as half a table, and those of the others 1/16 each. */
static const double a[] = { 0.4 }, b[] = { -0.2 }, c[] = { 0.1, 0.2, 0.3, 0.8 }, d[] = { 0, 0, 0, 0 },
                    e[] = { -0.1, -0.3, 0.1, 0.5 };
static const FabResiduals all[] = {
  { "a1", "p", "a", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 1, a, NULL },
  { "a2", "q", "a", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 1, b, NULL },
  { "c", "p", "c", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, c, NULL },
  { "d", "r", "d", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, d, NULL },
  { "e", "s", "e", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_SIZE_SMALL, 4, e, NULL },
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

  assert_true (most->reach[FAB_SIZE_SMALL] <= 1);
  assert_near (whole->reach[FAB_SIZE_SMALL], 1.6, 1e-9);
  assert_near (ends->low, -0.3 * 1.6, 1e-9);
  assert_near (ends->high, 0.8 * 1.6, 1e-9);
  assert_int_equal (ends->n_tables, 5);
  assert_int_equal (ends->n_publications, 5); /* p has tables of two families */
  assert_int_equal (ends->n_families, 4);
  assert_near (fab_bands_covered (&all[2], &(FabBandEnds){ .low = -1, .high = 0.25 }), 0.5, 1e-12);
}

/* All families have ends of their own, drawn towards those of all by as many publications as they have. Only the first
 * was measured by two, so the reach of publications is found with it: without q its low end is 0, drawn half-way to
 * that of all, and without p its high end likewise. */
static void
families_have_their_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBandsFit) fit = fab_bands_fit (all, G_N_ELEMENTS (all), 0.9);
  double stretch = MAX (fit->own_reach[FAB_SIZE_SMALL], 1);
  const FabBandEnds *of_all = cell_of (fit, 0), *of_a = cell_of (fit, 1), *of_d = cell_of (fit, 3);

  assert_int_equal (fit->families->len, 5);
  assert_int_equal (of_a->n_tables, 2);
  assert_int_equal (of_a->n_publications, 2);
  assert_true (of_all->high / 2 >= 0.4 && of_all->low / 2 <= -0.2 && fit->own_reach[FAB_SIZE_SMALL] <= 1);
  assert_near (of_a->high, (2 * 0.4 * stretch + of_all->high) / 3, 1e-9);
  assert_near (of_a->low, (2 * -0.2 * stretch + of_all->low) / 3, 1e-9);
  assert_near (of_d->high, (0 + of_all->high) / 2, 1e-9); /* one publication, which is never off */
}

/* p and q measured the same kind of machine and differ by 0.4 + 0.2; r measured another alone. */
static void
publications_of_a_machine_spread (G_GNUC_UNUSED void **state)
{
  FabResiduals known[G_N_ELEMENTS (all)];

  memcpy (known, all, sizeof all);
  known[0].machine = known[1].machine = "one";
  known[3].machine = "other";
  g_autoptr (FabBandsFit) fit = fab_bands_fit (known, G_N_ELEMENTS (known), 0.9);
  const FabBandEnds *of_all = cell_of (fit, 0), *of_d = cell_of (fit, 3);

  assert_int_equal (of_all->n_machines, 1);
  assert_near (of_all->spread, 0.6, 1e-12);
  assert_int_equal (of_d->n_machines, 0);
  assert_near (of_d->spread, 0, 1e-12);
}

/* Two tables of one publication say as much as one: they are of one machine. */
static void
tables_of_a_publication_are_one (G_GNUC_UNUSED void **state)
{
  FabResiduals twice[G_N_ELEMENTS (all)];

  memcpy (twice, all, sizeof all);
  twice[1].publication = "p";
  g_autoptr (FabBandsFit) fit = fab_bands_fit (twice, G_N_ELEMENTS (twice), 0.9);
  const FabBandEnds *of_all = cell_of (fit, 0), *of_a = cell_of (fit, 1);

  assert_int_equal (of_a->n_tables, 2);
  assert_int_equal (of_a->n_publications, 1);
  assert_near (fit->own_reach[FAB_SIZE_SMALL], 0.9, 1e-9); /* none can be left out */
  assert_near (of_a->high, (0.4 + of_all->high) / 2, 1e-9);
}

/* A reach of one class says nothing of another: small sizes that are far off stretch no band of large ones. */
static void
classes_have_their_own_reach (G_GNUC_UNUSED void **state)
{
  static const double far[] = { 2 }, near[] = { 0.01 };
  FabResiduals both[G_N_ELEMENTS (all) * 2];

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    both[2 * i] = both[2 * i + 1] = all[i];
    both[2 * i].n = both[2 * i + 1].n = 1;
    both[2 * i].logs = i == 2 ? far : near;
    both[2 * i + 1].logs = near;
    both[2 * i + 1].size_class = FAB_SIZE_LARGE;
  }
  g_autoptr (FabBandsFit) fit = fab_bands_fit (both, G_N_ELEMENTS (both), 1);

  assert_true (fit->reach[FAB_SIZE_SMALL] > 2);
  assert_true (fit->reach[FAB_SIZE_LARGE] <= 1);
}

/* Left out, a publication is held by its family's other publications, or else by all families. */
static void
publications_left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) left = fab_bands_publications_left_out (all, G_N_ELEMENTS (all), 0.9);
  const FabLeftOutCoverage *p = &g_array_index (left, FabLeftOutCoverage, 0),
                           *r = &g_array_index (left, FabLeftOutCoverage, 2);

  assert_int_equal (left->len, 4);
  assert_string_equal (p->name, "p");
  assert_int_equal (p->n_tables, 2);
  assert_int_equal (p->n[FAB_SIZE_SMALL], 2);
  assert_string_equal (r->name, "r");
  assert_near (r->covered_fraction[FAB_SIZE_SMALL], 1, 1e-12);
}

/* What is left out has no say: without c the widest is a's 0.4 and e's 0.5, so the reach found there is not c's. */
static void
left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) left = fab_bands_left_out (all, G_N_ELEMENTS (all), 0.9);

  assert_int_equal (left->len, 4);
  assert_int_equal (g_array_index (left, FabLeftOutCoverage, 0).n_tables, 2);
  assert_string_equal (g_array_index (left, FabLeftOutCoverage, 1).name, "c");
  assert_true (g_array_index (left, FabLeftOutCoverage, 1).covered_fraction[FAB_SIZE_SMALL] < 1);
  assert_near (g_array_index (left, FabLeftOutCoverage, 2).covered_fraction[FAB_SIZE_SMALL], 1, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ends),
    cmocka_unit_test (families_have_their_own),
    cmocka_unit_test (publications_of_a_machine_spread),
    cmocka_unit_test (tables_of_a_publication_are_one),
    cmocka_unit_test (classes_have_their_own_reach),
    cmocka_unit_test (publications_left_out),
    cmocka_unit_test (left_out),
  };

  return cmocka_run_group_tests_name ("bands", tests, NULL, NULL);
}
