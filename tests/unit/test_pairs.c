/* SPDX-License-Identifier: Apache-2.0 */
/* test_pairs.c - which tables make pairs, and how far these are off, of tables that are made by hand. */
#include "validate/bands/pairs.h"

#include <math.h>
#include <string.h>

#include "tests/support/test.h"

enum { MIB = 1024 * 1024, MOST_TABLES = 8 };

/* A report of a few tables, each with a size of 64 MiB and one of 256 MiB. */
typedef struct {
  FabReport report;
  FabMeasuredSpec specs[MOST_TABLES];
  FabMeasuredTable tables[MOST_TABLES];
  FabMeasuredRow rows[2];
  FabPrediction predictions[MOST_TABLES];
  FabComparison comparisons[MOST_TABLES];
  guint n;
} World;

static World *
world_new (void)
{
  World *self = g_new0 (World, 1);

  self->rows[0] = (FabMeasuredRow){ .size_bytes = 64 * MIB };
  self->rows[1] = (FabMeasuredRow){ .size_bytes = 256 * MIB };
  self->report.comparisons = g_ptr_array_new ();
  return self;
}

static void
world_free (World *self)
{
  for (guint i = 0; i < self->n; i++) {
    g_hash_table_unref (self->tables[i].csv->header);
    g_free (self->tables[i].csv);
    g_array_unref (self->comparisons[i].rows);
  }
  g_ptr_array_unref (self->report.comparisons);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* A table whose times are measured / predicted = `ratio`. */
static FabMeasuredSpec *
add_table (World *self, const char *source, const char *family, double ratio)
{
  guint i = self->n++;
  FabComparison *comparison = &self->comparisons[i];

  self->specs[i] = (FabMeasuredSpec){ .node = "box", .nodes = 2, .gpus_per_node = 8, .interconnect = family };
  self->tables[i].spec = &self->specs[i];
  self->tables[i].name = (char *) family;
  self->tables[i].csv = g_new0 (FabMeasuredCsv, 1);
  self->tables[i].csv->header = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (self->tables[i].csv->header, (gpointer) "source", (gpointer) source);
  self->predictions[i] = (FabPrediction){ .algorithm = "ring", .protocol = "simple" };
  self->predictions[i].kind.place = FAB_PLAN_BETWEEN;
  g_strlcpy (self->predictions[i].kind.family, family, FAB_FAMILY_BYTES);
  comparison->table = &self->tables[i];
  comparison->rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow));
  for (guint k = 0; k < 2; k++) {
    FabComparisonRow row = { &self->rows[k], &self->predictions[i], 1 / ratio - 1 };

    g_array_append_val (comparison->rows, row);
  }
  g_ptr_array_add (self->report.comparisons, comparison);
  return &self->specs[i];
}

/* Predicted as they are, and without their families, all the same. */
static FabPairs *
pairs_of (const World *world)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  const FabCatalogSections own = { 0 };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  return fab_pairs_new (&world->report, &world->report, &training, catalog);
}

/* How many pairs of a relation differ in this, and the difference of the first of them. */
static guint
count (const FabPairs *pairs, FabPairRelation relation, const char *kind, double *difference)
{
  const GArray *list = pairs->collectives[relation].pairs;
  guint n = 0;

  for (guint i = 0; i < list->len; i++) {
    const FabPair *pair = &g_array_index (list, FabPair, i);

    if (strcmp (pair->kind, kind) == 0 && n++ == 0)
      *difference = pair->logs[0];
  }
  return n;
}

/* Another number of nodes on one machine is alike: ln 1.5 - ln 1.2 is what the two are off from each other. Each table
 * has two sizes, of which one is four times the other. */
static void
one_thing_is_alike (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  add_table (world, "github:a/b file y", "efa-100", 1.2)->nodes = 4;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "number of nodes", &difference), 1);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "size", &difference), 2);
  assert_near (difference, 0, 1e-12);
  assert_int_equal (pairs->collectives[FAB_PAIR_OTHER].pairs->len, 0);
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* Two things at once, another machine with another number of nodes, and a doubtful table make no pair. */
static void
more_than_one_thing_is_no_pair (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  FabMeasuredSpec *both;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  both = add_table (world, "github:a/b file y", "efa-100", 1.2);
  both->nodes = 4;
  both->gpus_per_node = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.2)->nodes = 8;
  add_table (world, "github:a/b file z", "efa-100", 1.2)->is_doubtful = TRUE;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (pairs->collectives[FAB_PAIR_ALIKE].pairs->len, 3); /* sizes of the three */
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* The same collective of two publications is the same; over other links it is another, and of a family that was not
 * measured as well. 40 and 32 ranks are about as many, 80 and 32 are not. */
static void
families_and_publications (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5)->nodes = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.0)->nodes = 4;
  add_table (world, "github:c/d file y", "infiniband-400", 1.2)->nodes = 5;
  add_table (world, "github:c/d file z", "slingshot-200", 1.2)->nodes = 10;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_SAME, "measured again", &difference), 1);
  assert_near (difference, log (1.5), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_OTHER, "NIC", &difference), 2);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_UNMEASURED, "NIC", &difference), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_thing_is_alike),
    cmocka_unit_test (more_than_one_thing_is_no_pair),
    cmocka_unit_test (families_and_publications),
  };

  return cmocka_run_group_tests_name ("pairs", tests, NULL, NULL);
}
