/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_bus.c - what models/library/nccl makes of GPUs without NVLink: L40S of an AMD host, of which two reach each
 * other over PCIe and four go through host memory. */
#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

/* The limit of a ring of `n` GPUs as a part of what its links allow; 0: there is none. */
static double
limit_over_links (const FabCatalog *catalog, guint n, const char *params, FabOp op, FabBytes bytes,
                  double *links)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: l40s-pcie-amd, gpus_per_node: %u}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      n);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabGroup group = { fab_simulation_cluster (play->simulation), 1, n };
  Params *parsed = params_new (&fab_library_nccl.info, params);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], parsed->params);
  FabCollectivePlan plan = { 0 };

  assert_true (fab_library_plan (library, &group, op, bytes, &plan, NULL));
  assert_string_equal (plan.algorithm, "ring");
  assert_int_equal (plan.n_channels, 2);
  *links = plan.footprint->rate_bytes_per_s;
  double limit = plan.most_bytes_per_s;
  fab_library_destroy (library);
  params_free (parsed);
  return limit / *links;
}

/* Two channels of two GPUs copy 51.5 GB/s each: 206 GB/s of the size. */
static void
the_last_copy_of_a_ring_counts (void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    double links, limit = limit_over_links (*state, 2, "{protocol: simple}", ops[i], 64 << 20, &links);

    assert_near (limit * links, 1 / (1 / links + 1 / (4 * 51.5e9)), 1e-9);
  }
}

/* Through host memory Simple keeps 72 % of what LL reaches, from 2 MiB on, where its buffers leave the caches. */
static void
long_collectives_through_host_memory_are_slower (void **state)
{
  double links;

  assert_near (limit_over_links (*state, 4, "{protocol: simple}", FAB_OP_ALL_REDUCE, 2 << 20, &links), 0.72,
               1e-9);
  assert_near (links * 1.5, 7e9, 1e-6); /* bus bandwidth: that of the processor's entry on one socket */
  assert_true (limit_over_links (*state, 4, "{protocol: simple}", FAB_OP_ALL_REDUCE, 1 << 20, &links) > 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_last_copy_of_a_ring_counts),
    cmocka_unit_test (long_collectives_through_host_memory_are_slower),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
