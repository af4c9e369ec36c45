/* SPDX-License-Identifier: Apache-2.0 */
/* test_pair.c - which measured pairs two predictions are like, over entries that are made by hand. */
#include "sim/run/pair.h"

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static FabPairCellSpec alike[] = {
  { FAB_PLAN_INSIDE, 256 * KIB, 0.7, 1.4, 9, 5, 2 },
  { FAB_PLAN_INSIDE, 0, 0.9, 1.1, 8, 4, 2 },
  { FAB_PLAN_BETWEEN, 0, 0.5, 2, 7, 3, 3 },
};
static FabPairCellSpec other[] = { { FAB_PLAN_BETWEEN, 64 * MIB, 0.25, 4, 6, 4, 3 } };
static FabPairCellSpec computed[] = { { FAB_N_PLAN_PLACES, 0, 0.8, 1.25, 20, 10, 5 } };

static FabPairSpec entries[] = {
  { .name = "collectives-alike", .coverage_fraction = 0.9, .cells = { alike, G_N_ELEMENTS (alike) } },
  { .name = "collectives-other", .coverage_fraction = 0.9, .cells = { other, G_N_ELEMENTS (other) } },
  { .name = "compute-other", .coverage_fraction = 0.8, .cells = { computed, G_N_ELEMENTS (computed) } },
};

static FabPairEnds
find (FabPlanPlace place, FabBytes bytes, FabPairRelation relation)
{
  const FabCatalogSections own = { .pairs = { entries, G_N_ELEMENTS (entries) } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  return fab_pair_of_collectives (catalog, place, bytes, relation);
}

/* The first cell is for sizes below its limit; the limit itself is of the next. */
static void
size_and_place_choose_the_cell (G_GNUC_UNUSED void **state)
{
  FabPairEnds below = find (FAB_PLAN_INSIDE, 256 * KIB - 1, FAB_PAIR_ALIKE);
  FabPairEnds at = find (FAB_PLAN_INSIDE, 256 * KIB, FAB_PAIR_ALIKE);
  FabPairEnds between = find (FAB_PLAN_BETWEEN, 1, FAB_PAIR_ALIKE);

  assert_near (below.low_factor, 0.7, 0);
  assert_near (below.high_factor, 1.4, 0);
  assert_near (below.coverage_fraction, 0.9, 0);
  assert_int_equal (below.n_pairs, 9);
  assert_int_equal (below.n_tables, 5);
  assert_int_equal (below.n_families, 2);
  assert_string_equal (below.entry, "collectives-alike");
  assert_near (at.high_factor, 1.1, 0);
  assert_near (between.high_factor, 2, 0);
}

/* What is the same needs no entry. */
static void
the_same_cancels (G_GNUC_UNUSED void **state)
{
  FabPairEnds ends = find (FAB_PLAN_BETWEEN, MIB, FAB_PAIR_SAME);

  assert_near (ends.low_factor, 1, 0);
  assert_near (ends.high_factor, 1, 0);
  assert_near (ends.coverage_fraction, 1, 0);
  assert_int_equal (ends.n_pairs, 0);
  assert_null (ends.entry);
}

/* No cell of the size, none of the place, and no entry of the relation. */
static void
what_nobody_measured_has_no_coverage (G_GNUC_UNUSED void **state)
{
  assert_near (find (FAB_PLAN_BETWEEN, 64 * MIB, FAB_PAIR_OTHER).coverage_fraction, 0, 0);
  assert_near (find (FAB_PLAN_INSIDE, 1, FAB_PAIR_OTHER).coverage_fraction, 0, 0);
  assert_near (find (FAB_PLAN_BETWEEN, 1, FAB_PAIR_UNMEASURED).coverage_fraction, 0, 0);
  assert_near (find (FAB_PLAN_BETWEEN, 1, FAB_PAIR_UNMEASURED).high_factor, 1, 0);
}

/* A cell of compute is for any place, and an accelerator that was not measured is another accelerator. */
static void
compute_has_one_cell (G_GNUC_UNUSED void **state)
{
  const FabCatalogSections own = { .pairs = { entries, G_N_ELEMENTS (entries) } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  assert_near (fab_pair_of_compute (catalog, FAB_PAIR_OTHER).high_factor, 1.25, 0);
  assert_near (fab_pair_of_compute (catalog, FAB_PAIR_UNMEASURED).high_factor, 1.25, 0);
  assert_near (fab_pair_of_compute (catalog, FAB_PAIR_ALIKE).coverage_fraction, 0, 0);
  assert_near (fab_pair_of_compute (catalog, FAB_PAIR_SAME).coverage_fraction, 1, 0);
}

/* The shipped entries have a cell for every place, size and relation, and what has less in common is no nearer. */
static void
shipped_entries_are_whole (G_GNUC_UNUSED void **state)
{
  static const FabBytes sizes[] = { 8, MIB, 1024 * MIB };
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
      for (guint r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++) {
        FabPairEnds ends = fab_pair_of_collectives (catalog, place, sizes[i], r);
        FabPairEnds nearer = fab_pair_of_collectives (catalog, place, sizes[i], r - 1);

        assert_true (ends.coverage_fraction > 0);
        assert_true (ends.n_pairs > 0 && ends.n_tables > 1 && ends.n_families > 0);
        assert_true (ends.low_factor <= nearer.low_factor && ends.high_factor >= nearer.high_factor);
      }
  assert_true (fab_pair_of_compute (catalog, FAB_PAIR_OTHER).high_factor
               >= fab_pair_of_compute (catalog, FAB_PAIR_ALIKE).high_factor);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (size_and_place_choose_the_cell),
    cmocka_unit_test (the_same_cancels),
    cmocka_unit_test (what_nobody_measured_has_no_coverage),
    cmocka_unit_test (compute_has_one_cell),
    cmocka_unit_test (shipped_entries_are_whole),
  };

  return cmocka_run_group_tests_name ("pair", tests, NULL, NULL);
}
