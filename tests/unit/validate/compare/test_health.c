/* SPDX-License-Identifier: Apache-2.0 */
/* test_health.c - which set-ups are not well, by tables made for it, and by those of the index. */
#include "validate/compare/health.h"

#include "models/models.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

typedef struct {
  FabCatalog *catalog;
} World;

static int
setup (void **state)
{
  World *world = g_new0 (World, 1);

  world->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  assert_non_null (world->catalog);
  *state = world;
  return 0;
}

static int
teardown (void **state)
{
  World *world = *state;

  fab_catalog_free (world->catalog);
  g_free (world);
  return 0;
}

/* A table of these busbw at 64 KiB, 8 MiB and 256 MiB; times are size / busbw. */
static FabMeasuredTable *
table_new (FabMeasuredSpec *spec, const double busbw_GBps[3])
{
  static const FabBytes sizes_bytes[3] = { 64 << 10, 8 << 20, 256 << 20 };
  FabMeasuredTable *table = g_new0 (FabMeasuredTable, 1);

  table->spec = spec;
  table->csv = g_new0 (FabMeasuredCsv, 1);
  table->csv->header = g_hash_table_new (g_str_hash, g_str_equal);
  table->csv->rows = g_array_new (FALSE, FALSE, sizeof (FabMeasuredRow));
  for (guint i = 0; i < 3; i++) {
    FabMeasuredRow row = { sizes_bytes[i], (double) sizes_bytes[i] / busbw_GBps[i] / 1e3, busbw_GBps[i], 0 };

    g_array_append_val (table->csv->rows, row);
  }
  return table;
}

static void
table_free (gpointer data)
{
  FabMeasuredTable *table = data;

  fab_measured_csv_free (table->csv);
  g_free (table);
}

static FabHealth
health_at (const World *world, const GPtrArray *tables, guint table, guint row)
{
  const FabMeasuredTable *one = g_ptr_array_index (tables, table);

  return fab_health (one, &g_array_index (one->csv->rows, FabMeasuredRow, row), tables, world->catalog);
}

static FabMeasuredSpec
spec_of (const char *node, gint64 nodes, gint64 gpus)
{
  return (FabMeasuredSpec){
    .node = node, .nodes = nodes, .gpus_per_node = gpus, .op = FAB_OP_ALL_REDUCE, .role = FAB_ROLE_JUDGED
  };
}

/* Eight NDR ports of 50 GB/s: 400 GB/s of eight GPUs, 100 of two. GPUs that reach no NIC, or have PCIe alone, are not
 * asked. */
static void
nics (void **state)
{
  const World *world = *state;
  FabMeasuredSpec all = spec_of ("dgx-h100", 2, 8), two = spec_of ("dgx-h100", 2, 2),
                  staged = spec_of ("t4-pcie", 2, 1), bus = spec_of ("l40s-pcie", 2, 1);

  assert_near (fab_health_nics_GBps (&all, world->catalog), 400, 1e-6);
  assert_near (fab_health_nics_GBps (&two, world->catalog), 100, 1e-6);
  assert_near (fab_health_nics_GBps (&staged, world->catalog), 0, 0);
  assert_near (fab_health_nics_GBps (&bus, world->catalog), 0, 0);
}

/* Eighteen trays of four NDR ports carry 3600 GB/s, 18 NVLinks of a GPU 900: of two racks the links are the slower. In
 * a node of eight the NICs are, which carry 400 GB/s. */
static void
slowest (void **state)
{
  const World *world = *state;
  FabMeasuredSpec racks = spec_of ("gb200-tray", 36, 4), nodes = spec_of ("dgx-h100", 2, 8);

  assert_near (fab_health_slowest_GBps (&racks, world->catalog), 900, 1e-6);
  assert_near (fab_health_slowest_GBps (&nodes, world->catalog), 400, 1e-6);
}

/* 180 of 400 GB/s is below half, 220 is not; small sizes are not judged by it, nor is a single node. */
static void
plateau (void **state)
{
  const World *world = *state;
  FabMeasuredSpec low = spec_of ("dgx-h100", 4, 8), high = spec_of ("dgx-h100", 2, 8),
                  inside = spec_of ("dgx-h100", 1, 8), pairs = spec_of ("dgx-h100", 8, 8);
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (table_free);

  pairs.op = FAB_OP_ALL_TO_ALL;
  g_ptr_array_add (tables, table_new (&low, (double[]){ 1, 90, 180 }));
  g_ptr_array_add (tables, table_new (&high, (double[]){ 1, 90, 220 }));
  g_ptr_array_add (tables, table_new (&inside, (double[]){ 1, 90, 180 }));
  g_ptr_array_add (tables, table_new (&pairs, (double[]){ 1, 20, 30 }));
  assert_int_equal (health_at (world, tables, 0, 0), FAB_HEALTH_WELL);
  assert_int_equal (health_at (world, tables, 0, 1), FAB_HEALTH_PLATEAU);
  assert_int_equal (health_at (world, tables, 0, 2), FAB_HEALTH_PLATEAU);
  for (guint table = 1; table < 4; table++)
    for (guint row = 0; row < 3; row++)
      assert_int_equal (health_at (world, tables, table, row), FAB_HEALTH_WELL);
}

/* A header that finds small messages slow counts up to half of the plateau, one that doubts all counts for all. */
static void
said (void **state)
{
  const World *world = *state;
  FabMeasuredSpec untuned = spec_of ("dgx-h100", 2, 8), doubtful = spec_of ("dgx-h100", 4, 8);
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (table_free);

  untuned.is_untuned = TRUE;
  doubtful.is_doubtful = TRUE;
  g_ptr_array_add (tables, table_new (&untuned, (double[]){ 1, 150, 320 }));
  g_ptr_array_add (tables, table_new (&doubtful, (double[]){ 1, 150, 320 }));
  assert_int_equal (health_at (world, tables, 0, 0), FAB_HEALTH_SAID);
  assert_int_equal (health_at (world, tables, 0, 1), FAB_HEALTH_SAID);
  assert_int_equal (health_at (world, tables, 0, 2), FAB_HEALTH_WELL);
  assert_int_equal (health_at (world, tables, 1, 2), FAB_HEALTH_SAID);
}

/* Twice as slow as another table of the same machine at small sizes, and not at others. */
static void
outdone (void **state)
{
  const World *world = *state;
  FabMeasuredSpec slow = spec_of ("dgx-h100", 2, 8), fast = spec_of ("dgx-h100", 2, 8),
                  other = spec_of ("dgx-h100", 4, 8);
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (table_free);

  g_ptr_array_add (tables, table_new (&slow, (double[]){ 1, 100, 300 }));
  g_ptr_array_add (tables, table_new (&fast, (double[]){ 2, 190, 400 }));
  g_ptr_array_add (tables, table_new (&other, (double[]){ 9, 390, 400 }));
  assert_int_equal (health_at (world, tables, 0, 0), FAB_HEALTH_OTHER);
  assert_int_equal (health_at (world, tables, 0, 1), FAB_HEALTH_WELL);
  assert_int_equal (health_at (world, tables, 1, 0), FAB_HEALTH_WELL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nics), cmocka_unit_test (slowest), cmocka_unit_test (plateau),
    cmocka_unit_test (said), cmocka_unit_test (outdone),
  };

  return cmocka_run_group_tests_name ("health", tests, setup, teardown);
}
