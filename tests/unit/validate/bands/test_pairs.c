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
    g_free (self->tables[i].publication);
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
  self->tables[i].publication = fab_measured_publication (source);
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

/* How many of these pairs differ in this, and the difference of the first of them. */
static guint
count_in (const GArray *list, const char *kind, double *difference)
{
  guint n = 0;

  for (guint i = 0; i < list->len; i++) {
    const FabPair *pair = &g_array_index (list, FabPair, i);

    if (strcmp (pair->kind, kind) == 0 && n++ == 0)
      *difference = pair->logs[0];
  }
  return n;
}

static guint
count (const FabPairs *pairs, FabPairRelation relation, const char *kind, double *difference)
{
  return count_in (pairs->collectives[relation].pairs, kind, difference);
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

/* --- compute --- */

/* A run of a source whose table has the columns below; its residual, and the generation that it is on. */
typedef struct {
  const char *model, *gpus, *nics;
  double residual;
  const char *generation;
} Run;

static const char *const columns[] = { "model", "gpus", "nics", NULL };

static void
add_run (GArray *rows, FabTrainingRow *measured, char **cells, const Run *run)
{
  FabTrainingComparison row = { .measured = measured, .traits = { .expert = 1 } };

  cells[0] = (char *) run->model;
  cells[1] = (char *) run->gpus;
  cells[2] = (char *) run->nics;
  *measured = (FabTrainingRow){ .cells = cells, .id = "row" };
  row.blind = (FabTrainingBlind){ .is_predicted = TRUE, .residual = run->residual };
  row.blind.step.step_s = 1;
  row.blind.step.cell = (FabTrainingCell){ .generation = run->generation,
                                           .precision = "bf16",
                                           .stack = "eager",
                                           .time_factor = 1,
                                           .low_factor = 0.5,
                                           .high_factor = 2 };
  g_array_append_val (rows, row);
}

/* The first two runs differ in GPUs, the first and the third in the model, the first and the fourth in NICs, of which
 * compute knows nothing; the fifth is the first measured again. All others differ in two things. The last is on another
 * accelerator, whatever else differs; the two have one factor. */
static void
runs_make_pairs (G_GNUC_UNUSED void **state)
{
  static const Run runs[] = {
    { "7B", "8", "4", 0.1, "ampere" },   { "7B", "16", "4", 0.3, "ampere" },
    { "13B", "8", "4", -0.1, "ampere" }, { "7B", "8", "1", 0.9, "ampere" },
    { "7B", "8", "4", 0.15, "ampere" },  { "13B", "32", "8", 0.2, "hopper" },
  };
  FabTrainingRow measured[G_N_ELEMENTS (runs)];
  char *cells[G_N_ELEMENTS (runs)][4] = { { NULL } };
  const FabTrainingSourceSpec spec = { .name = "somebody", .same = "model", .factors = "gpus nics" };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource source = { &spec, &table, NULL };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
  FabTrainingResult result = { .source = &source, .rows = rows };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();
  double difference = -1;

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    add_run (rows, &measured[i], cells[i], &runs[i]);
  g_ptr_array_add (results, &result);
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, NULL);
  const GArray *alike = pairs->compute[FAB_PAIR_ALIKE].pairs, *other = pairs->compute[FAB_PAIR_OTHER].pairs;

  assert_int_equal (count_in (alike, "number of GPUs", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (count_in (alike, "model", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (alike->len, 4);
  assert_int_equal (count_in (pairs->compute[FAB_PAIR_SAME].pairs, "measured again", &difference), 1);
  assert_near (difference, 0.05, 1e-12);
  assert_int_equal (count_in (other, "accelerator", &difference), 1);
  assert_near (difference, 0.3, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_thing_is_alike),
    cmocka_unit_test (more_than_one_thing_is_no_pair),
    cmocka_unit_test (families_and_publications),
    cmocka_unit_test (runs_make_pairs),
  };

  return cmocka_run_group_tests_name ("pairs", tests, NULL, NULL);
}
