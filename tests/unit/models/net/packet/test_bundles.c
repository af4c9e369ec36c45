/* SPDX-License-Identifier: Apache-2.0 */
/* test_bundles.c - at packet, the bundle of links between two switches, which several nodes share: it carries as much
 * as its links together, and nodes that use it in the same way are simulated once.
 */
#include "tests/support/test.h"

#include "sim/net/rotation.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static double
duration_of (const Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return (double) g_array_index (fab_simulation_probe (play->simulation)->iterations, FabIterationRecord, 0)
      .duration_ps;
}

static Play *
play_shift (const char *fidelity)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: %s\ncollectives: plain\n"
      "cluster: {node: dgx-h100, nodes: 64, gpus_per_node: 1, nics_per_node: 1,\n"
      "          fabric: {kind: rail, nodes_per_leaf: 32}}\n"
      "job: {kind: traffic, pattern: shift, distance: 32, size: 2MB}\n",
      fidelity);

  return play_new (catalog, yaml, NULL);
}

/* 32 nodes send to 32 others over a bundle of 32 links, each at its own rate. */
static void
a_bundle_carries_what_its_links_carry (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) packets = play_shift ("packet"), messages = play_shift ("step");

  assert_near (duration_of (packets), duration_of (messages), 0.01);
}

/* Two stages of a pipeline lie under two leaves, so that all messages between them cross the bundle. */
static Play *
play_pipeline (const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: {kind: packet, skip: false%s}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-27\", shape: {kind: transformer, layers: 2,\n"
      "  hidden: 512, heads: 16, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: dgx-h100, nodes: 16, nic: ib-edr, fabric: {kind: rail, nodes_per_leaf: 8}}\n"
      "job: {kind: megatron, model: m, micro_batch: 1, sequence: 512, accumulation: 2,\n"
      "      parallel: {tensor: 8, pipeline: 2}}\n",
      keys);

  return play_new (catalog, yaml, NULL);
}

static void
assert_folds (const char *keys)
{
  g_autofree char *all = g_strconcat (keys, ", fold: false", NULL);
  g_autoptr (Play) folded = play_pipeline (keys), whole = play_pipeline (all);

  assert_near (duration_of (folded), duration_of (whole), 1e-5);
  assert_true (16 * fab_simulation_memo_record (folded->simulation).n_events
               < fab_simulation_memo_record (whole->simulation).n_events);
  g_autoptr (GArray) x = fab_simulation_link_queues (folded->simulation),
                     y = fab_simulation_link_queues (whole->simulation);
  assert_int_equal (x->len, y->len);
  for (guint i = 0; i < x->len; i++) {
    const FabLinkQueueRecord *a = &g_array_index (x, FabLinkQueueRecord, i),
                             *b = &g_array_index (y, FabLinkQueueRecord, i);

    assert_int_equal (a->link, b->link);
    assert_int_equal (a->carried_bytes, b->carried_bytes);
  }
}

/* Messages of few packets, which all come to the bundle at once, show what packets wait for those of other nodes. */
static void
nodes_that_share_a_bundle_are_simulated_once (G_GNUC_UNUSED void **state)
{
  assert_folds ("");
  assert_folds (", mtu: 64KiB");
  assert_folds (", mtu: 64KiB, switching: store_and_forward");
  assert_folds (", flow_control: none");
}

/* Links 0 and 1 turn twice in nodes, links 2 and 3 too, and link 4 stays while nodes turn three times. */
static void
a_link_that_stays_is_shared (G_GNUC_UNUSED void **state)
{
  FabRotation *rotation = fab_rotation_new (5, 2, 3);

  rotation->turn[1] = rotation->turn[3] = 1 * 3 + 2;
  assert_int_equal (fab_rotation_between (rotation, 0, 3), 1 * 3 + 2);
  assert_int_equal (fab_rotation_between (rotation, 1, 3), 0);
  assert_int_equal (fab_rotation_sharers (rotation, 3), 1);
  rotation->stays[4] = FAB_ROTATION_STAYS_IN_SECOND;
  assert_int_equal (fab_rotation_sharers (rotation, 4), 3);
  assert_int_equal (fab_rotation_between (rotation, 4, 3), 1 * 3);
  rotation->stays[4] |= FAB_ROTATION_STAYS_IN_FIRST;
  assert_int_equal (fab_rotation_sharers (rotation, 4), 6);
  assert_int_equal (fab_rotation_between (rotation, 4, 3), 0);
  fab_rotation_unref (rotation);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_bundle_carries_what_its_links_carry),
    cmocka_unit_test (nodes_that_share_a_bundle_are_simulated_once),
    cmocka_unit_test (a_link_that_stays_is_shared),
  };

  return play_run_tests ("bundles", tests, &catalog);
}
