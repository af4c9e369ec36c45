/* SPDX-License-Identifier: Apache-2.0 */
/* test_p2p.c - matrices of p2pBandwidthLatencyTest against what machines printed. */
#include "tests/support/test.h"

#include "answer/p2p.h"
#include "models/models.h"
#include "tests/support/play.h"
#include "validate/compare/testbed.h"

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

static FabP2pTable *
table_of (const FabCatalog *catalog, const char *node, gint64 nodes, gint64 gpus, const char *set)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ set, NULL });
  FabTestbedRequest request = { .node = node, .nodes = nodes, .gpus_per_node = gpus, .edits = edits };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTestbed) machine = fab_testbed_new (&request, catalog, &fab_models, &error);
  FabP2pTable *table = machine != NULL ? fab_p2p_new (&machine->plant->cluster, &error) : NULL;

  if (error != NULL)
    fail_msg ("%s", error->message);
  return table;
}

static void
assert_all (const double *values, guint n, double diagonal, double others, double tolerance)
{
  for (guint i = 0; i < n * n; i++)
    assert_near (values[i], i % (n + 1) == 0 ? diagonal : others, tolerance);
}

/* 270.8 to 276.9 GB/s in all pairs, 1545 to 1594 within a GPU: stas00/ml-engineering network/README.md. */
static void
a100_with_nvswitch (void **state)
{
  g_autoptr (FabP2pTable) t = table_of (*state, "dgx-a100", 1, 0, NULL);

  assert_int_equal (t->n, 8);
  assert_all (t->one_way_GBps[FAB_P2P_ENABLED], 8, 1581, 274, 0.1);
  for (guint i = 0; i < 64; i++)
    assert_true (t->is_peer[i]);
}

/* 371 to 377 GB/s and 2495 within a GPU; 36.3 to 38.1 with P2P off: NVIDIA/nccl issue 1264. Four GPUs of one socket:
 * what crosses sockets is another matter. */
static void
h100_with_nvswitch (void **state)
{
  g_autoptr (FabP2pTable) t = table_of (*state, "dgx-h100", 1, 4, NULL);

  assert_all (t->one_way_GBps[FAB_P2P_ENABLED], 4, 2495, 376, 0.1);
  assert_all (t->one_way_GBps[FAB_P2P_DISABLED], 4, 2495, 37.2, 0.1);
  assert_all (t->both_ways_GBps[FAB_P2P_ENABLED], 4, 2495, 783, 0.1);
}

/* GPUs 0 and 1 share an uplink, 0 and 2 do not: 20.1 and 22.2 GB/s one way, 21.1 and 30 in sum on six GPUs on PCIe 4
 * (NVIDIA/nccl issue 814). */
static void
a_shared_uplink_carries_both_copies (void **state)
{
  g_autoptr (FabP2pTable) t = table_of (*state, "dgx-a100", 1, 3, "cluster.p2p=none");
  const double *one_way = t->one_way_GBps[FAB_P2P_ENABLED], *both = t->both_ways_GBps[FAB_P2P_ENABLED];

  assert_false (t->is_peer[1]);
  assert_true (t->is_peer[0]);
  assert_near (one_way[1], 20.1, 0.12);
  assert_near (both[1], 21.1, 0.12);
  assert_near (one_way[2], 22.2, 0.12);
  assert_near (both[2], 30, 0.12);
}

/* Small writes: 2.8 to 3.4 us over NVSwitch, 24.3 to 24.7 staged. */
static void
latency_is_that_of_the_ends_and_the_wires (void **state)
{
  g_autoptr (FabP2pTable) t = table_of (*state, "dgx-a100", 1, 2, NULL);

  assert_near (t->latency_us[FAB_P2P_ENABLED][1], 3.1, 0.1);
  assert_near (t->latency_us[FAB_P2P_DISABLED][1], 24.5, 0.1);
  assert_true (t->latency_us[FAB_P2P_ENABLED][0] < t->latency_us[FAB_P2P_ENABLED][1]);
}

/* Between nodes the NIC binds: what `ib-hdr` gives copies, and the two directions do not share a port. */
static void
nodes_are_as_far_apart_as_a_nic (void **state)
{
  g_autoptr (FabP2pTable) t = table_of (*state, "dgx-a100", 2, 1, NULL);
  const FabLinkSpec *hdr = fab_catalog_link (*state, "ib-hdr");
  double GBps = (double) fab_link_spec_line_rate (hdr) / fab_link_spec_cost (hdr, FAB_DRIVE_COPY) / 1e9;

  assert_int_equal (t->n, 2);
  assert_false (t->is_peer[1]);
  assert_near (t->one_way_GBps[FAB_P2P_ENABLED][1], GBps, 1e-6);
  assert_near (t->both_ways_GBps[FAB_P2P_ENABLED][1], 2 * GBps, 1e-6);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a100_with_nvswitch),
    cmocka_unit_test (h100_with_nvswitch),
    cmocka_unit_test (a_shared_uplink_carries_both_copies),
    cmocka_unit_test (latency_is_that_of_the_ends_and_the_wires),
    cmocka_unit_test (nodes_are_as_far_apart_as_a_nic),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
