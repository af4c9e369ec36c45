/* SPDX-License-Identifier: Apache-2.0 */
/* prop_bands.c - bands of residuals: a prediction is in its own band, more coverage is no narrower a band, and what the
 * band was not made of is in it as often as asked for.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/seeds.h"
#include "validate/bands/fit.h"

enum { MOST_FAMILIES = 24, MOST_TABLES = 6, MOST_SIZES = 12 };

typedef struct {
  char names[MOST_FAMILIES * MOST_TABLES + MOST_FAMILIES][16];
  double logs[MOST_FAMILIES * MOST_TABLES][MOST_SIZES];
  FabResiduals all[MOST_FAMILIES * MOST_TABLES];
  guint n;
} World;

/* About normal, with a spread of 1. */
static double
noise (Random *random)
{
  double sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += random_unit (random);
  return sum - 6;
}

/* Families differ by `between`, tables of one by `among`, sizes of one by `within`. */
static void
make_world (World *world, Random *random, guint n_families, guint n_tables, double bias)
{
  const double between = 0.2, among = 0.1, within = 0.1;

  world->n = 0;
  for (guint f = 0; f < n_families; f++) {
    char *family = world->names[MOST_FAMILIES * MOST_TABLES + f];
    double of_family = bias + between * noise (random);

    g_snprintf (family, 16, "f%u", f);
    for (guint t = 0; t < n_tables; t++) {
      guint at = world->n++;
      double of_table = of_family + among * noise (random);

      g_snprintf (world->names[at], 16, "f%u t%u", f, t);
      world->all[at] = (FabResiduals){ .table = world->names[at],
                                       .publication = world->names[at],
                                       .family = family,
                                       .operations = random_below (random, 4) == 0 ? FAB_PLAN_PAIRS
                                                                                   : FAB_PLAN_RINGS,
                                       .size_class = FAB_SIZE_LARGE,
                                       .n = 2 + random_below (random, MOST_SIZES - 2),
                                       .logs = world->logs[at] };
      for (guint i = 0; i < world->all[at].n; i++)
        world->logs[at][i] = of_table + within * noise (random);
    }
  }
}

static const FabBandEnds *
ends_of (const FabBandsFit *fit, FabPlanOperations operations)
{
  return &g_array_index (fit->families, FabFamilyBands, 0).cells[FAB_PLAN_INSIDE][operations][FAB_SIZE_LARGE];
}

static void
check_order (Random *random)
{
  g_autofree World *world = g_new (World, 1);

  make_world (world, random, 3 + random_below (random, 8), 1 + random_below (random, 4),
              random_unit (random) - 0.5);
  g_autoptr (FabBandsFit) some = fab_bands_fit (world->all, world->n, 0.5 + 0.4 * random_unit (random));
  g_autoptr (FabBandsFit) more = fab_bands_fit (world->all, world->n,
                                                some->coverage_fraction + 0.09 * random_unit (random));

  assert_true (more->reach[FAB_SIZE_LARGE] >= some->reach[FAB_SIZE_LARGE]);
  for (FabPlanOperations operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++) {
    const FabBandEnds *narrow = ends_of (some, operations), *wide = ends_of (more, operations);

    assert_true (narrow->low <= 0 && narrow->high >= 0);
    assert_true (wide->low <= narrow->low && wide->high >= narrow->high);
  }
}

static void
wider_with_coverage (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_order);
}

/* What comes out for families like those that the band was made of, over many worlds. */
static void
covers_as_often_as_asked_for (G_GNUC_UNUSED void **state)
{
  enum { WORLDS = 30, FAMILIES = 20 };
  const double asked = 0.9, tolerance = 0.05;
  g_autofree World *world = g_new (World, 1);
  Random random = { 7 };
  double sum = 0;
  guint n = 0;

  for (guint k = 0; k < WORLDS; k++) {
    make_world (world, &random, FAMILIES, 3, 0.1);
    g_autoptr (GArray) left_out = fab_bands_left_out (world->all, world->n, asked);

    for (guint i = 0; i < left_out->len; i++)
      sum += g_array_index (left_out, FabLeftOutCoverage, i).covered_fraction[FAB_SIZE_LARGE];
    n += left_out->len;
  }
  assert_int_equal (n, WORLDS * FAMILIES);
  assert_near (sum / n, asked, tolerance);
}

/* A family with publications enough gets ends of its own, nearer to what it is than those of all. */
static void
a_family_has_its_own (G_GNUC_UNUSED void **state)
{
  g_autofree World *world = g_new (World, 1);
  Random random = { 3 };

  make_world (world, &random, 12, 6, 0);
  for (guint i = 0; i < world->n; i++) {
    world->all[i].operations = FAB_PLAN_RINGS;
    for (guint k = 0; i >= 6 && k < world->all[i].n; k++)
      world->logs[i][k] *= 3;
  }
  g_autoptr (FabBandsFit) fit = fab_bands_fit (world->all, world->n, 0.9);
  const FabFamilyBands *first = &g_array_index (fit->families, FabFamilyBands, 1);
  const FabBandEnds *own = &first->cells[FAB_PLAN_INSIDE][FAB_PLAN_RINGS][FAB_SIZE_LARGE],
                    *all = ends_of (fit, FAB_PLAN_RINGS);

  assert_string_equal (first->family, "f0");
  assert_int_equal (own->n_tables, 6);
  assert_int_equal (all->n_families, 12);
  assert_true (own->high - own->low < all->high - all->low);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (wider_with_coverage),
    cmocka_unit_test (covers_as_often_as_asked_for),
    cmocka_unit_test (a_family_has_its_own),
  };

  return cmocka_run_group_tests_name ("bands", tests, NULL, NULL);
}
