/* SPDX-License-Identifier: Apache-2.0 */
/* test_port_shares.c - the finding about NICs whose ports carry unequal parts, held against a slow count over all links
 * of the graph for the collective that took longest. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/verdict/verdict.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static Play *
play_of (guint seed, const char *cluster, const char *rest)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nseed: %u\ncollectives: plain\n"
      "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, nic_rate: 100Gb/s, route: shortest, "
      "nic_ports: 2, %s}\n%s",
      seed, cluster, rest);
  Play *play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    ;
  return play;
}

static const FabFootprint *
longest_of (const FabSimulation *simulation)
{
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  const FabCollectiveRecord *longest = NULL;

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);

    if (longest == NULL || record->end_ps - record->start_ps > longest->end_ps - longest->start_ps)
      longest = record;
  }
  return fab_simulation_dag (simulation)->collectives[longest->index].plan.footprint;
}

static double
weight_of (const FabFootprint *footprint, FabLinkId link)
{
  for (guint i = 0; i < footprint->n; i++)
    if (footprint->links[i] == link)
      return footprint->weights[i];
  return 0;
}

/* Ports are links between the NIC and what belongs to no node. In each direction in which it carries something, the
 * fullest is compared with an even share, and one may carry nothing, or be dead. (transfer full) */
static char *
expected_text (const FabSimulation *simulation)
{
  const FabCluster *cluster = fab_simulation_cluster (simulation);
  const FabGraph *graph = cluster->graph;
  const FabFootprint *footprint = longest_of (simulation);
  guint n_nics = 0, n_uneven = 0, n_idle = 0;
  double worst = 0;
  g_autofree char *name = NULL;

  for (guint i = 0; i < cluster->n_nodes; i++) {
    double most_of_nic = 0;
    gboolean is_idle = FALSE;

    for (guint is_in = 0; is_in < 2; is_in++) {
      double sum = 0, most = 0;
      guint n = 0, n_used = 0;
      FabLinkId fullest = 0;

      for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++) {
        const FabLink *of = fab_graph_link (graph, link);
        FabVertexId here = is_in ? of->dst : of->src, there = is_in ? of->src : of->dst;
        double weight = weight_of (footprint, link);

        if (here != cluster->nics[i] || fab_graph_vertex (graph, there)->node != FAB_NO_NODE)
          continue;
        n++;
        n_used += weight > 0;
        sum += weight;
        if (weight > most) {
          most = weight;
          fullest = link;
        }
      }
      is_idle |= n < 2 || (sum > 0 && n_used < n);
      double factor = sum > 0 ? 2 * most / sum : 0;
      most_of_nic = MAX (most_of_nic, factor);
      if (factor > worst * (1 + 1e-12)) {
        g_autofree char *from = fab_graph_vertex_name (graph, fab_graph_link (graph, fullest)->src),
                        *to = fab_graph_vertex_name (graph, fab_graph_link (graph, fullest)->dst);

        worst = factor;
        g_free (name);
        name = g_strdup_printf ("%s -> %s", from, to);
      }
    }
    n_nics += most_of_nic > 0;
    n_uneven += most_of_nic >= 1.25;
    n_idle += most_of_nic > 0 && is_idle;
  }
  if (n_uneven == 0)
    return g_strdup ("");
  g_autofree char *idle = n_idle == 0 ? g_strdup ("")
                                      : g_strdup_printf (" %u of them %s a port empty.", n_idle,
                                                         n_idle == 1 ? "leaves" : "leave");
  return g_strdup_printf (
      "%u of %u NICs use their ports unevenly: %s carries %.0f %% of what goes that way through its NIC, and an even "
      "share is 50 %%.%s",
      n_uneven, n_nics, name, 50 * worst, idle);
}

/* The text that is told, which is the expected one. (transfer full); "": nothing is told */
static char *
check_text (guint seed, const char *cluster, const char *rest)
{
  g_autoptr (Play) play = play_of (seed, cluster, rest);
  g_autoptr (FabVerdict) verdict = fab_verdict_new ();
  char *expected = expected_text (play->simulation);

  fab_verdict_note_port_shares (verdict, play->simulation);
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_UNEVEN_PORTS);
  assert_string_equal (finding != NULL ? finding->text : "", expected);
  if (finding != NULL) {
    assert_non_null (strstr (expected, finding->link));
    assert_non_null (strstr (finding->advice, "cluster.port_use=merged"));
    assert_int_equal (finding->rank, -1);
  }
  return expected;
}

#define LEAVES "fabric: {kind: leaf_spine, nodes_per_leaf: 2, planes: 2}"
#define OPERATION(op, size) "job: {kind: collective, operations: [{op: " op ", size: " size "}]}\n"

/* Hashes of many seeds, of operations that use both directions or one, and of ports that are dead. */
static void
shares_are_those_of_the_longest_collective (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    OPERATION ("all_reduce", "1MB"),
    OPERATION ("all_to_all", "1MB"),
    OPERATION ("scatter", "1MB"),
    "job: {kind: collective, operations: [{op: all_to_all, size: 1MB}, {op: scatter, size: 9MB}, "
    "{op: all_reduce, size: 2MB}]}\n",
    OPERATION ("all_reduce", "1MB") "faults: [{what: port, port: 0, name: node1/nic0, dead: true}]\n",
  };
  guint n_told = 0, n_empty = 0, n_full = 0;

  for (guint k = 0; k < G_N_ELEMENTS (jobs); k++)
    for (guint seed = 0; seed < 12; seed++) {
      g_autofree char *bonded = check_text (seed, LEAVES ", port_use: bond", jobs[k]),
                      *merged = check_text (seed, LEAVES, jobs[k]);

      n_told += *bonded != '\0';
      n_empty += strstr (bonded, "a port empty") != NULL;
      n_full += *bonded != '\0' && strstr (bonded, "a port empty") == NULL;
      assert_true (k == 4 || *merged == '\0');
    }
  assert_true (n_told > 0 && n_empty > 0 && n_full > 0);
}

/* Of flows that begin together, that of node 2 is largest and takes longest, wherever it stands: both of its NICs use
 * one port alone, and no other NIC is told of. */
static void
the_longest_flow_is_told (G_GNUC_UNUSED void **state)
{
#define FIRST "{from: 0, to: 1, size: 1MB}"
#define LARGEST "{from: 2, to: 3, size: 9MB}"
#define LAST "{from: 1, to: 0, size: 2MB}"
  static const char *const orders[] = { FIRST ", " LARGEST ", " LAST, LARGEST ", " FIRST ", " LAST,
                                        FIRST ", " LAST ", " LARGEST };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autofree char *job = g_strdup_printf ("job: {kind: traffic, size: 1MB, pattern: pairs, pairs: [%s]}\n",
                                            orders[i]),
                    *text = check_text (1, LEAVES ", port_use: bond", job);

    assert_true (g_str_has_prefix (text, "2 of 2 NICs use their ports unevenly: node2/nic0 -> "));
    assert_true (g_str_has_suffix (
        text, "carries 100 % of what goes that way through its NIC, and an even share is 50 %. "
              "2 of them leave a port empty."));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (shares_are_those_of_the_longest_collective),
    cmocka_unit_test (the_longest_flow_is_told),
  };

  return play_run_tests ("port_shares", tests, &catalog);
}
