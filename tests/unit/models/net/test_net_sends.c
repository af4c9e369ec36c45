/* SPDX-License-Identifier: Apache-2.0 */
/* test_net_sends.c - what networks do with the router's choice of paths, and which parameters contradict each other.
 *
 * Two leaves of four nodes with one NIC each, and a spine for each uplink: a NIC, a cable to a spine and one down have
 * the same rate.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/play.h"

enum { N = 4, BYTES = 50 * 1000 * 1000 };

static FabCatalog *catalog;

static void
note_end (gpointer owner, guint64 index)
{
  gboolean *has_ended = owner;

  has_ended[index] = TRUE;
}

/* When the last of the messages of all nodes of the first leaf to those of the second has arrived, in us. */
static double
last_us (const char *route, const FabNetOps *ops)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, nodes: %d, gpus_per_node: 1, nics_per_node: 1, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: %d}, route: %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      2 * N, N, route);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autoptr (Params) params = params_new (&ops->info, "");
  FabEngine *engine = fab_engine_new ();
  FabNet *net = ops->create (&(FabNetEnv){ engine, plant->graph, plant->router, 1 }, params->params);
  gboolean has_ended[N] = { 0 };

  for (guint i = 0; i < N; i++) {
    FabTransfer transfer = {
      .src = cluster->nics[i], .dst = cluster->nics[N + i], .bytes = BYTES, .done = { note_end, has_ended, i }
    };

    fab_net_send (net, &transfer);
  }
  fab_engine_run (engine);
  double us = (double) fab_engine_now (engine) / 1e6;
  for (guint i = 0; i < N; i++)
    assert_true (has_ended[i]);
  fab_net_destroy (net);
  fab_engine_free (engine);
  return us;
}

/* 50 MB at 50 GB/s are 1 ms. One way for all takes as often as long; spread over all spines, each has the rate of its
 * NIC. */
static void
spread_messages_share_all_spines (G_GNUC_UNUSED void **state)
{
  static const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_step };

  for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
    double spread = last_us ("spray", nets[i]), one_way = last_us ("shortest", nets[i]);

    assert_true (spread > 1000 && spread < 1100);
    assert_near (one_way / spread, N, 0.001);
  }
}

static gboolean
is_accepted (const char *classes)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\nfidelity: {kind: packet, classes: [%s]}\ncluster: {node: dgx-h100, nodes: 2}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      classes);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  if (scenario == NULL)
    assert_non_null (strstr (error->message, "tensor has a class already"));
  return scenario != NULL;
}

static void
traffic_has_one_class (G_GNUC_UNUSED void **state)
{
  assert_true (is_accepted ("{of: tensor}"));
  assert_true (is_accepted ("{of: tensor}, {of: data}, {of: background}"));
  assert_false (is_accepted ("{of: tensor}, {of: tensor, weight: 4}"));
  assert_false (is_accepted ("{of: tensor}, {of: data}, {of: tensor}"));
  assert_false (is_accepted ("{of: data}, {of: tensor}, {of: tensor}"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (spread_messages_share_all_spines),
    cmocka_unit_test (traffic_has_one_class),
  };

  return play_run_tests ("net_sends", tests, &catalog);
}
