/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_measured.c - bus bandwidths of a cluster in place of what its links allow. */
#include "answer/predict.h"
#include "models/models.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static int
setup (void **state)
{
  *state = fab_catalog_load (CATALOG, &fab_models, NULL);
  return *state ? 0 : -1;
}

static int
teardown (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

/* Time of an operation of 100 GB, without its startup, as busbw in GB/s; 8 NDR adapters a node allow about 390. */
static double
flow_GBps (const FabCatalog *catalog, guint nodes, FabOp op, guint gpus_per_node, const char *table)
{
  const FabBytes size = 100 * G_GUINT64_CONSTANT (1000000000);
  g_autoptr (GError) error = NULL;
  g_autofree char *library = g_strdup_printf ("collectives={kind: nccl, nvls: false%s%s}",
                                              *table ? ", measured: " : "", table);
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ library, NULL });
  FabPredictionRequest request = { .node = "dgx-h100",
                                   .nodes = nodes,
                                   .gpus_per_node = gpus_per_node,
                                   .op = op,
                                   .sizes_bytes = &size,
                                   .n_sizes = 1,
                                   .edits = edits };
  g_autoptr (GArray) rows = fab_predict_collective (&request, catalog, &fab_models, &error);

  if (rows == NULL)
    fail_msg ("%s", error->message);
  const FabPrediction *row = &g_array_index (rows, FabPrediction, 0);
  return (double) size / ((row->time_us - row->startup_us) * 1e3) * fab_op_bus_factor (op, row->n_ranks);
}

#define TABLE                                                                                                  \
  "[{op: all_reduce, nodes: 4, busbw: 160GB/s}, {op: all_reduce, nodes: 16, busbw: 40GB/s}, {op: all_gather, " \
  "nodes: 8, busbw: 70GB/s}]"

/* 4 and 16 nodes as written; 8 is halfway on a scale of log nodes: the geometric mean, 80; outside the nearest
 * row. */
static void
test_between_rows (void **state)
{
  assert_near (flow_GBps (*state, 4, FAB_OP_ALL_REDUCE, 8, TABLE), 160, 1e-6);
  assert_near (flow_GBps (*state, 16, FAB_OP_ALL_REDUCE, 8, TABLE), 40, 1e-6);
  assert_near (flow_GBps (*state, 8, FAB_OP_ALL_REDUCE, 8, TABLE), 80, 1e-6);
  assert_near (flow_GBps (*state, 2, FAB_OP_ALL_REDUCE, 8, TABLE), 160, 1e-6);
  assert_near (flow_GBps (*state, 32, FAB_OP_ALL_REDUCE, 8, TABLE), 40, 1e-6);
  assert_near (flow_GBps (*state, 2, FAB_OP_ALL_GATHER, 8, TABLE), 70, 1e-6);
}

/* No row for the operation, or one node: as without the table. */
static void
test_others_as_before (void **state)
{
  double reduce = flow_GBps (*state, 4, FAB_OP_REDUCE_SCATTER, 8, "");
  double inside = flow_GBps (*state, 1, FAB_OP_ALL_REDUCE, 8, "");

  assert_near (flow_GBps (*state, 4, FAB_OP_REDUCE_SCATTER, 8, TABLE), reduce, 1e-12);
  assert_near (flow_GBps (*state, 1, FAB_OP_ALL_REDUCE, 8, TABLE), inside, 1e-12);
  assert_true (inside > 200);
}

/* A measurement above what the links carry does not make them faster. */
static void
test_links_still_bound (void **state)
{
  double links = flow_GBps (*state, 4, FAB_OP_ALL_GATHER, 8, "");

  assert_true (links < 400);
  assert_true (flow_GBps (*state, 4, FAB_OP_ALL_GATHER, 8, "[{op: all_gather, nodes: 4, busbw: 900GB/s}]")
               < 401);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_between_rows),
    cmocka_unit_test (test_others_as_before),
    cmocka_unit_test (test_links_still_bound),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
