/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands_slow.c - bands of residuals against their definition, calculated the slow way. */
#include "sim/base/stats.h"
#include "tests/support/random.h"
#include "tests/support/test.h"
#include "validate/bands/fit.h"

/* Which residuals count. Negative or NULL: any. */
typedef struct {
  int place, operations, size_class;
  const char *family, *without_family, *without_publication;
} Wanted;

enum { MOST = 40, MOST_SIZES = 3, N_WORLDS = 40 };

typedef struct {
  FabResiduals all[MOST];
  double logs[MOST][MOST_SIZES];
  guint n;
} World;

static gboolean
is_wanted (const FabResiduals *one, Wanted wanted)
{
  if (wanted.place >= 0 && (int) one->place != wanted.place)
    return FALSE;
  if (wanted.operations >= 0 && (int) one->operations != wanted.operations)
    return FALSE;
  if (wanted.size_class >= 0 && (int) one->size_class != wanted.size_class)
    return FALSE;
  return g_strcmp0 (wanted.without_family, one->family) != 0
      && g_strcmp0 (wanted.without_publication, one->publication) != 0
      && (wanted.family == NULL || g_str_equal (wanted.family, one->family));
}

/* How many names there are among the residuals that count: of families (field 0), of publications of a family (1), of
 * tables of a publication and a family (2), whatever their names. NULL: of all. */
static guint
count_names (const World *self, Wanted wanted, guint field, const char *family, const char *publication)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < self->n; i++) {
    const FabResiduals *one = &self->all[i];

    if (is_wanted (one, wanted) && (family == NULL || g_str_equal (family, one->family))
        && (publication == NULL || g_str_equal (publication, one->publication)))
      g_hash_table_add (names, field == 0   ? g_strdup (one->family)
                               : field == 1 ? g_strdup_printf ("%s of %s", one->publication, one->family)
                                            : g_strdup_printf ("%u", i));
  }
  return g_hash_table_size (names);
}

static double
value_at (const FabWeighted *points, guint n, double fraction)
{
  double sum = 0;

  for (guint i = 0; i < n; i++)
    if ((sum += points[i].weight) >= fraction - 1e-9)
      return points[i].value;
  return n > 0 ? points[n - 1].value : 0;
}

static FabBandEnds
slow_mixture (const World *self, Wanted wanted, double reach)
{
  FabWeighted points[MOST * MOST_SIZES];
  guint n_families = count_names (self, wanted, 0, NULL, NULL), n = 0;

  for (guint i = 0; i < self->n; i++) {
    const FabResiduals *one = &self->all[i];

    for (guint k = 0; is_wanted (one, wanted) && k < one->n; k++)
      points[n++] = (FabWeighted){ one->logs[k],
                                   1.0 / n_families / count_names (self, wanted, 1, one->family, NULL)
                                       / count_names (self, wanted, 2, one->family, one->publication)
                                       / one->n };
  }
  qsort (points, n, sizeof *points, fab_order_weighted);
  double outside = reach < 1 ? (1 - reach) / 2 : 0, stretch = reach < 1 ? 1 : reach;
  return (FabBandEnds){ .low = stretch * MIN (0, value_at (points, n, outside)),
                        .high = stretch * MAX (0, value_at (points, n, 1 - outside)),
                        .n_tables = count_names (self, wanted, 2, NULL, NULL),
                        .n_publications = count_names (self, wanted, 1, NULL, NULL),
                        .n_families = n_families };
}

/* (k x own end + weight x end of others) / (k + weight). */
static FabBandEnds
slow_draw (FabBandEnds own, guint k, guint weight, FabBandEnds others)
{
  own.low = (k * own.low + weight * others.low) / (k + weight);
  own.high = (k * own.high + weight * others.high) / (k + weight);
  return own;
}

/* A cell is drawn to all operations of its place. What was not measured there takes those of the place, and a place
 * that was not measured takes every place. */
static FabBandEnds
slow_cell (const World *self, Wanted wanted, double reach)
{
  FabBandEnds own = slow_mixture (self, wanted, reach), others;

  wanted.operations = -1;
  if (count_names (self, wanted, 2, NULL, NULL) == 0)
    wanted.place = -1;
  others = slow_mixture (self, wanted, reach);
  return own.n_tables == 0 ? others : slow_draw (own, own.n_families, 2, others);
}

static Wanted
cell_of_one (const FabResiduals *one)
{
  return (Wanted){ .place = (int) one->place,
                   .operations = (int) one->operations,
                   .size_class = (int) one->size_class };
}

/* The share that is held at a reach of what is left out in turn, on the mean: families, or (`of_all` is not NULL, the
 * ends of all families) publications of families that others have measured too. */
static double
slow_coverage (const World *self, FabSizeClass size_class, double reach, const FabFamilyBands *of_all)
{
  double sum = 0, weights = 0;

  for (guint i = 0; i < self->n; i++) {
    const FabResiduals *one = &self->all[i];
    Wanted like = { .place = -1, .operations = -1, .size_class = (int) size_class },
           wanted = cell_of_one (one);
    FabBandEnds ends;
    double weight, n_held = 0;

    if (one->size_class != size_class)
      continue;
    if (of_all == NULL) {
      wanted.without_family = one->family;
      weight = 1.0 / count_names (self, like, 2, one->family, NULL);
      ends = slow_cell (self, wanted, reach);
    } else {
      wanted.family = one->family;
      wanted.without_publication = one->publication;
      weight = 1.0 / count_names (self, like, 2, one->family, one->publication);
      ends = slow_mixture (self, wanted, reach);
      if (ends.n_tables == 0)
        continue;
      ends = slow_draw (ends, ends.n_publications, 1, of_all->cells[one->place][one->operations][size_class]);
    }
    for (guint k = 0; k < one->n; k++)
      n_held += one->logs[k] > ends.low - 1e-9 && one->logs[k] < ends.high + 1e-9;
    sum += weight * n_held / one->n;
    weights += weight;
  }
  return weights > 0 ? sum / weights : 1;
}

/* The reach is the least of steps of 0.01 from `least` to 3 that holds enough. */
static void
assert_reach (const World *self, FabSizeClass size_class, double reach, double coverage, double least,
              const FabFamilyBands *of_all)
{
  assert_true (reach > least - 1e-9 && reach < 3 + 1e-9);
  assert_near (round ((reach - least) * 100), (reach - least) * 100, 1e-6);
  if (reach < 3 - 1e-6)
    assert_true (slow_coverage (self, size_class, reach, of_all) > coverage - 1e-9);
  if (reach > least + 1e-6)
    assert_true (slow_coverage (self, size_class, reach - 0.01, of_all) < coverage - 1e-9);
}

static void
assert_ends (const FabBandEnds *found, FabBandEnds expected)
{
  assert_near (found->low, expected.low, 1e-9);
  assert_near (found->high, expected.high, 1e-9);
  assert_int_equal (found->n_tables, expected.n_tables);
  assert_int_equal (found->n_publications, expected.n_publications);
  assert_int_equal (found->n_families, expected.n_families);
}

/* Few residuals and many cells: some cells have none, some have one table, and so has a place of a class. */
static void
make_world (World *self, Random *random)
{
  static const char *const families[] = { "ash", "birch", "cedar", "fir" },
                           *const publications[] = { "p", "q", "r" },
                           *const tables[] = { "t", "u", "v", "w" };

  self->n = random_between (random, 2, MOST);
  for (guint i = 0; i < self->n; i++) {
    FabResiduals one = { .table = tables[random_below (random, 4)],
                         .publication = publications[random_below (random, 3)],
                         .family = families[random_below (random, 4)],
                         .place = random_chance (random, 30) ? FAB_PLAN_BETWEEN : FAB_PLAN_INSIDE,
                         .operations = random_chance (random, 30) ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS,
                         .size_class = (FabSizeClass) random_below (random, FAB_N_SIZE_CLASSES),
                         .n = random_between (random, 1, MOST_SIZES),
                         .logs = self->logs[i] };

    self->all[i] = one;
    for (guint k = 0; k < one.n; k++)
      self->logs[i][k] = random_unit (random) * 1.5 - 0.7;
  }
}

/* Every end, count and reach is what validate/bands/fit.h defines. */
static void
fits_follow_their_definition (G_GNUC_UNUSED void **state)
{
  static const double coverages[] = { 0.7, 0.9, 1 };
  g_autofree World *world = g_new0 (World, 1);
  Random random = { 5 };

  for (guint w = 0; w < N_WORLDS; w++) {
    double coverage = coverages[w % G_N_ELEMENTS (coverages)];

    make_world (world, &random);
    g_autoptr (FabBandsFit) fit = fab_bands_fit (world->all, world->n, coverage);
    const FabFamilyBands *of_all = &g_array_index (fit->families, FabFamilyBands, 0);
    Wanted every = { .place = -1, .operations = -1, .size_class = -1 };

    assert_near (fit->coverage_fraction, coverage, 0);
    assert_null (of_all->family);
    assert_int_equal (fit->families->len, 1 + count_names (world, every, 0, NULL, NULL));
    for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      assert_reach (world, c, fit->reach[c], coverage, 0.5, NULL);
      assert_reach (world, c, fit->own_reach[c], coverage, coverage, of_all);
    }
    for (int place = 0; place < FAB_N_PLAN_PLACES; place++)
      for (int operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
        for (int c = 0; c < FAB_N_SIZE_CLASSES; c++) {
          Wanted wanted = { .place = place, .operations = operations, .size_class = c };

          assert_ends (&of_all->cells[place][operations][c], slow_cell (world, wanted, fit->reach[c]));
          for (guint f = 1; f < fit->families->len; f++) {
            const FabFamilyBands *bands = &g_array_index (fit->families, FabFamilyBands, f);
            FabBandEnds own;

            wanted.family = bands->family;
            own = slow_mixture (world, wanted, fit->own_reach[c]);
            if (own.n_tables > 0)
              own = slow_draw (own, own.n_publications, 1, of_all->cells[place][operations][c]);
            assert_ends (&bands->cells[place][operations][c], own);
          }
        }
  }
}

/* The share of a class that the bands of `others` hold of what has this name, table by table on the mean; and how many
 * tables these are. A family that others have measured in a cell has ends of its own there. */
static double
slow_left_out (const World *world, const World *others, gboolean of_family, const char *name,
               FabSizeClass size_class, double coverage, guint *n)
{
  g_autoptr (FabBandsFit) fit = fab_bands_fit (others->all, others->n, coverage);
  double sum = 0;

  *n = 0;
  for (guint i = 0; i < world->n; i++) {
    const FabResiduals *one = &world->all[i];
    guint used = 0;

    if (one->size_class != size_class || !g_str_equal (of_family ? one->family : one->publication, name))
      continue;
    for (guint f = 1; f < fit->families->len; f++) {
      const FabFamilyBands *bands = &g_array_index (fit->families, FabFamilyBands, f);

      if (g_str_equal (bands->family, one->family)
          && bands->cells[one->place][one->operations][size_class].n_tables > 0)
        used = f;
    }
    sum += fab_bands_covered (
        one,
        &g_array_index (fit->families, FabFamilyBands, used).cells[one->place][one->operations][size_class]);
    ++*n;
  }
  return *n > 0 ? sum / *n : 0;
}

/* A list has each family or publication, once, and what the rest says of it. */
static void
assert_left_out (const World *world, const GArray *list, gboolean of_family, double coverage)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree World *others = g_new0 (World, 1);

  for (guint i = 0; i < world->n; i++)
    g_hash_table_add (names, (gpointer) (of_family ? world->all[i].family : world->all[i].publication));
  assert_int_equal (list->len, g_hash_table_size (names));
  for (guint k = 0; k < list->len; k++) {
    const FabLeftOutCoverage *one = &g_array_index (list, FabLeftOutCoverage, k);
    g_autoptr (GHashTable) tables = g_hash_table_new (g_str_hash, g_str_equal);

    assert_true (g_hash_table_remove (names, one->name));
    others->n = 0;
    for (guint i = 0; i < world->n; i++)
      if (!g_str_equal (of_family ? world->all[i].family : world->all[i].publication, one->name))
        others->all[others->n++] = world->all[i];
      else
        g_hash_table_add (tables, (gpointer) world->all[i].table);
    assert_int_equal (one->n_tables, g_hash_table_size (tables));
    for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      guint n;
      double covered = slow_left_out (world, others, of_family, one->name, c, coverage, &n);

      assert_int_equal (one->n[c], n);
      assert_near (one->covered_fraction[c], covered, 1e-9);
    }
  }
}

static void
what_is_left_out_is_held_by_the_rest (G_GNUC_UNUSED void **state)
{
  g_autofree World *world = g_new0 (World, 1);
  Random random = { 6 };

  for (guint w = 0; w < N_WORLDS; w++) {
    make_world (world, &random);
    g_autoptr (GArray) families = fab_bands_left_out (world->all, world->n, 0.9),
                       publications = fab_bands_publications_left_out (world->all, world->n, 0.9);

    assert_left_out (world, families, TRUE, 0.9);
    assert_left_out (world, publications, FALSE, 0.9);
  }
}

/* What lies at an end is held, but for rounding, and what lies beyond it is not. */
static void
ends_belong_to_the_band (G_GNUC_UNUSED void **state)
{
  static const double logs[] = { -0.2, 0.3, -0.2001, 0.3001, 0 };
  const FabResiduals one = { .n = G_N_ELEMENTS (logs), .logs = logs };

  assert_near (fab_bands_covered (&one, &(FabBandEnds){ .low = -0.2, .high = 0.3 }), 3.0 / 5, 1e-12);
  assert_near (fab_bands_covered (&one, &(FabBandEnds){ .low = -0.2 + 1e-12, .high = 0.3 - 1e-12 }), 3.0 / 5,
               1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (fits_follow_their_definition),
    cmocka_unit_test (what_is_left_out_is_held_by_the_rest),
    cmocka_unit_test (ends_belong_to_the_band),
  };

  return cmocka_run_group_tests_name ("bands_slow", tests, NULL, NULL);
}
