/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_band.c - the band of a run whose network plays messages. A fast network plays its ends; here they are held
 * against ends that the network of the scenario plays itself.
 */
#include "tests/support/test.h"

#include "answer/run.h"
#include "models/models.h"
#include "tests/support/band.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static char *
scenario_text (guint iterations, const char *fidelity, const char *rest)
{
  return g_strdup_printf (
      "name: t\niterations: %u\nfidelity: %s\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-24\", shape: {kind: transformer, layers: 4, "
      "hidden: 1024, heads: 8, vocabulary: 5000, tied: false}}]\n%s",
      iterations, fidelity, rest);
}

/* Both bands of the seconds of the one step. `ends`: the fidelity that plays the ends; NULL: its own. */
static void
assert_same_bands (const char *fidelity, const char *ends, double close, const char *rest)
{
  const double us = 1e-6;
  g_autofree char *yaml = scenario_text (1, fidelity, rest);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  PlayedBand exact = played_band (catalog, yaml);
  const FabRunRequest request = { .registry = &fab_models };
  FabRunResult run = { 0 };

  assert_true (fab_run_play (play->scenario, NULL, &request, &run, NULL));
  assert_true (fab_run_find_band (play->scenario, &request, &run, NULL));
  assert_non_null (exact.band);
  assert_non_null (run.band);
  assert_int_equal (g_strcmp0 (run.band->fidelity, ends), 0);
  double step_s = fab_ps_to_seconds (fab_run_last_step (&run)->times.duration_ps);
  assert_near (step_s, exact.value_us * us, 1e-9);
  assert_true (run.band->low[0] <= step_s && run.band->high[0] >= step_s);
  assert_true (run.band->high[0] > run.band->low[0]);
  assert_near (run.band->low[0], exact.band->low[0] * us, close);
  assert_near (run.band->high[0], exact.band->high[0] * us, close);
  assert_string_equal (
      fab_unsure_names[g_array_index (run.band->unsure, FabUnsure, run.band->most[0]).kind],
      fab_unsure_names[g_array_index (exact.band->unsure, FabUnsure, exact.band->most[0]).kind]);
  fab_run_result_clear (&run);
  fab_band_free (exact.band);
}

/* Overlapped and exposed, between nodes and inside one, and of a fabric that makes flows wait at step alone. */
static void
a_fast_network_finds_the_band_of_a_slow_one (G_GNUC_UNUSED void **state)
{
  static const char *const rests[] = {
    "cluster: {node: dgx-h100, nodes: 2}\njob: {model: m, kind: ddp, micro_batch: 8, sequence: 512}\n",
    "cluster: {node: dgx-a100, nodes: 2, nic: roce-100, nics_per_node: 1}\n"
    "job: {model: m, kind: zero, stage: 3, micro_batch: 1, sequence: 64}\n",
    "cluster: {node: dgx-a100}\njob: {kind: collective, operations: [{op: all_to_all, size: 10MB}]}\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rests); i++)
    assert_same_bands ("step", "fluid", 0.02, rests[i]);
}

/* Where packets take as long as flows, flows play the ends. */
static void
a_fast_network_finds_the_band_of_packets (G_GNUC_UNUSED void **state)
{
  assert_same_bands ("{kind: packet, mtu: 64KiB}", "fluid", 0.02,
                     "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 2, nics_per_node: 1}\n"
                     "job: {kind: collective, operations: [{op: all_reduce, size: 40MB}]}\n");
}

/* Each of several equal steps has the band of the only one, and what each exposes has the band of what that one
 * does. */
static void
every_step_has_its_band (G_GNUC_UNUSED void **state)
{
  static const char rest[] = "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4, nics_per_node: 2}\n"
                             "job: {kind: collective, operations: [{op: all_to_all, size: 10MB}]}\n";
  FabRunResult runs[2] = { 0 };
  const FabRunRequest request = { .registry = &fab_models };

  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = scenario_text (i == 0 ? 1 : 3, "step", rest);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_true (fab_run_play (play->scenario, NULL, &request, &runs[i], NULL));
    assert_true (fab_run_find_band (play->scenario, &request, &runs[i], NULL));
    assert_string_equal (runs[i].band->fidelity, "fluid");
  }
  const FabBand *one = runs[0].band, *three = runs[1].band;
  assert_int_equal (one->n, 2);
  assert_int_equal (three->n, 6);
  assert_true (one->low[0] < one->high[0]);
  for (guint i = 0; i < 6; i++) {
    assert_near (three->low[i], one->low[i / 3], 1e-9);
    assert_near (three->high[i], one->high[i / 3], 1e-9);
  }
  for (guint i = 0; i < 2; i++)
    fab_run_result_clear (&runs[i]);
}

/* One GPU communicates with nobody, on either network, so that these are as near as can be. Its kernels are as random
 * on both. */
static void
without_communication_flows_play_the_ends (G_GNUC_UNUSED void **state)
{
  assert_same_bands ("{kind: packet, mtu: 64KiB}", "fluid", 1e-9,
                     "cluster: {node: dgx-a100, gpus_per_node: 1}\n"
                     "job: {model: m, kind: ddp, micro_batch: 8, sequence: 512, jitter: {cv: 5%}}\n");
}

/* Where they queue, and where other traffic uses the links, the ends are played by packets. */
static void
packets_play_their_own_ends (G_GNUC_UNUSED void **state)
{
  assert_same_bands (
      "{kind: packet, mtu: 64KiB}", NULL, 1e-9,
      "cluster: {node: dgx-a100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, nic: roce-100, route: ecmp, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: 4, oversubscription: 1}}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 1MB}]}\n");
  assert_same_bands ("{kind: packet, mtu: 64KiB}", NULL, 1e-9,
                     "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 2, nics_per_node: 1}\n"
                     "background: [{kind: transfer, from: node0, to: node1, rate: 20Gb/s}]\n"
                     "job: {kind: collective, operations: [{op: all_reduce, size: 40MB}]}\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_fast_network_finds_the_band_of_a_slow_one),
    cmocka_unit_test (a_fast_network_finds_the_band_of_packets),
    cmocka_unit_test (every_step_has_its_band),
    cmocka_unit_test (without_communication_flows_play_the_ends),
    cmocka_unit_test (packets_play_their_own_ends),
  };

  return play_run_tests ("run_band", tests, &catalog);
}
