/* SPDX-License-Identifier: Apache-2.0 */
/* test_contention.c - which link holds a message back where others cross its links, and what links carry meanwhile. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* N senders to one receiver over one switch: ports of 50 GB/s, of which the receiver's is the only one that all
 * cross. */
static Play *
incast (guint n_senders, const char *fidelity, const char *size)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: %s\n"
      "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, nic: roce-400}\n"
      "job: {kind: traffic, pattern: incast, target: 0, senders: %u, size: %s}\n",
      fidelity, n_senders, size);
  Play *play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return play;
}

static FabLinkId
port_into (const Play *play, guint node)
{
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  FabLinkId first;

  assert_int_equal (fab_graph_out_links (plant->graph, plant->cluster.nics[node], &first) > 0, TRUE);
  for (FabLinkId link = first;; link++)
    if (fab_graph_vertex (plant->graph, fab_graph_link (plant->graph, link)->dst)->node == FAB_NO_NODE)
      return fab_graph_link (plant->graph, link)->reverse;
}

/* Whether flows share links, as in fluid, or only start together, as in analytic: the receiver's port is what all of
 * them cross. */
static void
the_port_that_all_cross_holds_them_back (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "analytic", "fluid" };

  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++)
    for (guint n = 2; n <= 7; n += 5) {
      g_autoptr (Play) play = incast (n, fidelities[f], "16MiB");
      const GArray *records = fab_simulation_probe (play->simulation)->collectives;

      assert_int_equal (records->len, n);
      for (guint i = 0; i < records->len; i++)
        assert_int_equal (g_array_index (records, FabCollectiveRecord, i).binding_link, port_into (play, 0));
    }
}

/* What a link carries over time is the bytes that cross it: of the port that all cross, all of them. */
static void
samples_add_up_to_the_bytes_that_cross_the_link (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 7; n += 5) {
    g_autoptr (Play) play = incast (n, "fluid", "16MiB");
    const FabProbe *probe = fab_simulation_probe (play->simulation);
    FabTimePs end_ps = 0;
    double bytes = 0;

    assert_true (probe->samples->len > 0);
    for (guint i = 0; i < probe->samples->len; i++) {
      const FabLinkSampleRecord *sample = &g_array_index (probe->samples, FabLinkSampleRecord, i);

      assert_true (sample->start_ps < sample->end_ps && sample->bytes_per_s > 0);
      assert_true (
          sample->bytes_per_s
          <= 1.001
                 * (double) fab_graph_link (fab_simulation_plant (play->simulation)->graph, sample->link)
                       ->rate_bytes_per_s);
      if (sample->link != port_into (play, 0))
        continue;
      assert_true (sample->start_ps >= end_ps); /* one after another */
      end_ps = sample->end_ps;
      bytes += sample->bytes_per_s * fab_ps_to_seconds (sample->end_ps - sample->start_ps);
    }
    assert_near (bytes, n * 16.0 * 1024 * 1024, 1e-6);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_port_that_all_cross_holds_them_back),
    cmocka_unit_test (samples_add_up_to_the_bytes_that_cross_the_link),
  };

  return play_run_tests ("contention", tests, &catalog);
}
