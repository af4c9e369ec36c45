/* SPDX-License-Identifier: Apache-2.0 */
/* test_cluster.c - what the cluster of a scenario is refused for (sim/scenario/scenario.c), what a design lays under it
 * (design.c), where its nodes are placed (placement.c), and what edits make of its summary.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/title.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define GPUS "{name: gpu, kind: accelerator, count: 4}"
#define JOB "kind: collective, operations: [{op: all_reduce, size: 1MB}]"
#define OWN                                                                                        \
  "name: t\n"                                                                                      \
  "nodes:\n"                                                                                       \
  "- {name: plain, accelerator: h100-sxm5-80gb, parts: [" GPUS "]}\n"                              \
  "- {name: domain, accelerator: h100-sxm5-80gb, nic: ib-ndr, fabric: leaf_spine,\n"               \
  "   parts: [" GPUS ", {name: nic, kind: nic, count: 2}, {name: sw, kind: switch, shared: 4}]}\n" \
  "- {name: cloud, accelerator: a100-sxm4-80gb, scatter: 8, nic: ib-ndr, parts: [" GPUS            \
  ", {name: nic, kind: nic}]}\n"                                                                   \
  "- {name: routed, accelerator: h100-sxm5-80gb, nic: ib-ndr, route: spray, parts: [" GPUS         \
  ", {name: nic, kind: nic}]}\n"                                                                   \
  "- {name: dark, accelerator: dark-chip, parts: [" GPUS "]}\n"                                    \
  "accelerators:\n"                                                                                \
  "- {name: dark-chip, architecture: test, peak_fp16: 1TFLOP/s, peak_fp32: 1TFLOP/s, memory: 1GB," \
  " memory_rate: 1GB/s}\n"                                                                         \
  "products:\n"                                                                                    \
  "- {name: of-node, kind: rent, node: domain, price_usd: 9}\n"                                    \
  "- {name: of-gpu, kind: rent, accelerator: h100-sxm5-80gb, price_usd: 2}\n"                      \
  "- {name: of-other, kind: rent, accelerator: a100-sxm4-80gb, price_usd: 2}\n"                    \
  "- {name: cable, kind: cable, link: ib-ndr, price_usd: 2}\n"                                     \
  "designs:\n"                                                                                     \
  "- {name: one, node: plain, unit_nodes: 1, sizes: [{units: 8}]}\n"                               \
  "- {name: least, node: cloud, unit_nodes: 1, sizes: [{units: 1}]}\n"                             \
  "- {name: d, node: cloud, nic: ib-hdr, nic_ports: 2, unit_nodes: 3, route: spray, sizes: [\n"    \
  "   {units: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 3}},\n"                                \
  "   {units: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 6}}]}\n"                               \
  "job: {" JOB "}\n"

static FabScenario *
parse (const char *rest, GError **error)
{
  g_autofree char *yaml = g_strconcat (OWN, rest, NULL);

  return fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog, error);
}

/* A scenario, and what it is refused for; NULL: it is taken. */
static void
assert_refused_for (const char *const (*rows)[2], gsize n)
{
  for (gsize i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = parse (rows[i][0], &error);
    const char *said = error != NULL ? error->message : "";

    if ((scenario != NULL) != (rows[i][1] == NULL)
        || (rows[i][1] != NULL && strstr (said, rows[i][1]) == NULL))
      fail_msg ("%s: %s", rows[i][0], said);
    assert_null (strstr (said, "\nt:")); /* a second mistake */
  }
}

static const char *const clusters[][2] = {
  { "cluster: {node: domain, nodes: 3}\n", NULL },
  { "cluster: {node: domain, nodes: 4}\n", NULL },
  { "cluster: {node: domain, nodes: 8}\n", NULL },
  { "cluster: {node: domain, nodes: 6}\n",
    "4 of 'domain' share a switch, so nodes must be at most that or a multiple of it" },
  { "cluster: {node: domain, nodes: 6, domain_nodes: 2}\n", NULL },
  { "cluster: {node: domain, nodes: 5, domain_nodes: 2}\n",
    "2 of 'domain' share a switch, so nodes must be" },
  { "cluster: {node: domain, nodes: 8, domain_nodes: 5}\n", "4 of 'domain' share a switch, not 5" },
  { "cluster: {node: plain, domain_nodes: 1}\n", NULL },
  { "cluster: {node: plain, domain_nodes: 2}\n", "nodes of 'plain' share no switch" },
  { "cluster: {node: domain, gpus_per_node: 4, nics_per_node: 2}\n", NULL },
  { "cluster: {node: domain, gpus_per_node: 5}\n", "node 'domain' has 4 GPUs, not 5" },
  { "cluster: {node: domain, nics_per_node: 3}\n", "node 'domain' has 2 NICs, not 3" },
  { "cluster: {node: cloud, nics_per_node: 2}\n", "node 'cloud' has 1 NIC, not 2" },
  { "cluster: {node: plain, nics_per_node: 1}\n", "node 'plain' has 0 NICs, not 1" },
  { "cluster: {node: plain, nic: ib-ndr}\n", "node 'plain' has no NICs" },
  { "cluster: {node: domain, nodes: 4, places: 4}\n", NULL },
  { "cluster: {node: domain, nodes: 4, places: 3}\n", "3 places are too few for 4 nodes" },
  { "cluster: {node: plain, nodes: 2, places: 1}\n", "1 place is too few for 2 nodes" },
  { "cluster: {node: plain, p2p: sys}\n", NULL },
  { "cluster: {node: plain, p2p: far}\n", "'far' is not a distance; the distances are " },
  { "cluster: {node: plain, gdr: far}\n", "'far' is not a distance; the distances are " },
  { "cluster: {node: domain}\ncost: {rent: of-node}\n", NULL },
  { "cluster: {node: domain}\ncost: {rent: of-gpu}\n", NULL },
  { "cluster: {node: plain}\ncost: {rent: of-node}\n",
    "'of-node' is the rent of domain, and the cluster has plain of h100-sxm5-80gb" },
  { "cluster: {node: plain}\ncost: {rent: of-other}\n",
    "'of-other' is the rent of a100-sxm4-80gb, and the cluster has plain of h100-sxm5-80gb" },
  { "cluster: {node: plain}\ncost: {rent: cable}\n", "'cable' is no product of kind rent" },
  { "cluster: {node: plain}\ncost: {rent: nobody}\n", "'nobody' is no product of kind rent" },
  { "cluster: {node: plain}\ncost: {rent: of-gpu, usd_per_gpu_hour: 1}\n",
    "`rent` and `usd_per_gpu_hour` are two rents: leave one out" },
  { "cluster: {node: plain}\ncost: {rent: of-gpu, usd_per_gpu_hour: 0.5}\n",
    "`rent` and `usd_per_gpu_hour` are two rents: leave one out" },
  { "cluster: {node: plain, scalable_units: 1}\n",
    "`scalable_units` are those of a design; write `design` beside it, or `nodes`" },
  { "cluster: {node: plain, scalable_units: 2}\n",
    "`scalable_units` are those of a design; write `design` beside it, or `nodes`" },
  { "cluster: {node: dark, power_cap: 100%}\n", NULL },
  { "cluster: {node: dark, power_cap: 70%}\n", NULL },
  { "cluster: {node: dark, power_cap: 300W}\n",
    "the power of 'dark-chip' is not known; write the cap as a share such as 70%" },
  { "cluster: {nodes: 2}\n", "'cluster' lacks the key 'node' (text)" },
  { "seed: 2\n", "'cluster' lacks the key 'node' (text)" },
  { "cluster: 3\n", "'cluster' must be a mapping with keys of its own, not a value" },
  { "cluster: {design: d, nodes: 12}\n", NULL },
  { "cluster: {design: d, nodes: 13}\n", ":29: design 'd' goes up to 4 scalable units of 3 nodes, not 5" },
  { "cluster: {design: d, nodes: 13, scalable_units: 5}\n", ":49: design 'd' goes up to 4 scalable units" },
  { "cluster: {design: d, scalable_units: 5}\n",
    ":38: design 'd' goes up to 4 scalable units of 3 nodes, not 5" },
  { "cluster: {design: d, scalable_units: 5, fabric: rail}\n", NULL },
  { "cluster: {design: least, nodes: 2}\n",
    "design 'least' goes up to 1 scalable unit of 1 node, not 2; for more" },
  { "cluster: {design: d, nodes: 0}\n", "'nodes' is 0: the lower limit is 1" },
  { "cluster: {design: d, nodes: -3}\n", "'nodes' is -3: the lower limit is 1" },
  { "cluster: {design: d, scalable_units: -1}\n", "'scalable_units' is -1: the lower limit is 0" },
  { "cluster: {design: d, nodes: 2000000}\n", "'nodes' is 2000000: the upper limit is 200000" },
  { "cluster: {design: d, scalable_units: 2, nodes: 6}\n", NULL },
  { "cluster: {design: d, scalable_units: 2, nodes: 7}\n",
    "7 nodes are more than the scalable units of design 'd' hold, which is 6" },
};

/* One mistake at a time, beside what is nearly the same and right. */
static void
clusters_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  assert_refused_for (clusters, G_N_ELEMENTS (clusters));
}

#define DOMAIN "cluster: {node: domain, nodes: 4}\n"
#define PLAIN "cluster: {node: plain, nodes: 5}\n"
#define ANALYTIC DOMAIN "fidelity: analytic\n"

static const char *const faults[][2] = {
  { DOMAIN "faults: [{what: link, from: a, to: b, dead: true}]\n", NULL },
  { DOMAIN "faults: [{what: link, from: a, dead: true}]\n", "a link needs `from` and `to`" },
  { DOMAIN "faults: [{what: link, to: a, dead: true}]\n", "a link needs `from` and `to`" },
  { DOMAIN "faults: [{what: nic, dead: true}]\n", "a nic needs a `name`, as `fabricast topo` prints it" },
  { DOMAIN "faults: [{what: nic, name: n, dead: true}]\n", NULL },
  { DOMAIN "faults: [{what: switch, dead: true}]\n", "a switch needs a `name`" },
  { DOMAIN "faults: [{what: rail, dead: true}]\n", "a rail needs its number: rail: 2" },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true}]\n", NULL },
  { DOMAIN "faults: [{what: port, dead: true}]\n", "a port needs its number: port: 1" },
  { DOMAIN "faults: [{what: port, port: 0, dead: true}]\n", NULL },
  { DOMAIN "faults: [{what: rail, rail: 0}]\n", "the fault has no effect; give rate, dead or latency" },
  { DOMAIN "faults: [{what: rail, rail: 0, rate: 99%}]\n", NULL },
  { DOMAIN "faults: [{what: rail, rail: 0, latency: 1ps}]\n", NULL },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true, rate: 99%}]\n", "a dead part has neither a rate nor" },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true, latency: 1ps}]\n",
    "a dead part has neither a rate nor" },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true, at: 1s, until: 1s}]\n",
    "`until` must be later than `at`" },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true, at: 1s, until: 1001ms}]\n", NULL },
  { DOMAIN "faults: [{what: rail, rail: 0, latency: 1ps, at: 1s}]\n",
    "latencies cannot change while the job runs" },
  { DOMAIN "faults: [{what: rail, rail: 0, latency: 1ps, until: 1s}]\n",
    "latencies cannot change while the job runs" },
  { ANALYTIC "faults: [{what: rail, rail: 0, dead: true}]\n", NULL },
  { ANALYTIC "faults: [{what: rail, rail: 0, dead: true, at: 1ps}]\n",
    ":48: fidelity 'analytic' has no time, so a fault" },
  { ANALYTIC "faults: [{what: rail, rail: 0, dead: true, until: 1s}]\n",
    ":51: fidelity 'analytic' has no time, so a fault" },
  { DOMAIN "faults: [{what: rail, rail: 0, dead: true, at: 1ps, until: 1ps}]\n",
    "`until` must be later than `at`" },
  { DOMAIN "circuits: [{links: 'leaf*', at: 1ps, until: 1ns}]\n", "disconnected before it carries anything" },
  { DOMAIN "background: [{kind: transfer, from: node0, to: node1, rate: 1GB/s}]\n", NULL },
  { DOMAIN "background: [{kind: transfer, from: node0, to: node1, bytes: 1MB}]\n", NULL },
  { DOMAIN "background: [{kind: transfer, from: node0, to: node1}]\n", "a transfer needs `bytes` or `rate`" },
  { DOMAIN "background: [{kind: transfer, from: node0, rate: 1GB/s}]\n", "a transfer needs `from` and `to`" },
  { DOMAIN "background: [{kind: transfer, to: node0, rate: 1GB/s}]\n", "a transfer needs `from` and `to`" },
  { DOMAIN "background: [{kind: bursts, load: 50%, peak: 50%}]\n",
    "load of bursts must be below their peak" },
  { DOMAIN "background: [{kind: bursts, load: 49%, peak: 50%}]\n", NULL },
  { ANALYTIC "background: [{kind: constant, load: 50%}]\n", NULL },
  { ANALYTIC "background: [{kind: bursts, load: 50%}]\n", "'analytic' does not simulate other traffic" },
  { DOMAIN "circuits: [{links: 'leaf*', until: 1ps}]\n", NULL },
  { DOMAIN "circuits: [{links: 'leaf*', at: 1ms, until: 11ms}]\n",
    "disconnected before it carries anything" },
  { DOMAIN "circuits: [{links: 'leaf*', at: 1ms, until: 11000000001ps}]\n", NULL },
  { DOMAIN "circuits: [{at: 1ms}]\n", "'circuits' lacks the key 'links' (text)" },
  { ANALYTIC "circuits: [{links: 'leaf*'}]\n", "fidelity 'analytic' has no time, so a circuit" },
  { DOMAIN "reliability: {failures: meta-llama3, spares: 1, repair: 1h}\n", NULL },
  { DOMAIN "reliability: {failures: meta-llama3, spares: 1}\n",
    "spares count when nodes are away: give `repair`" },
  { DOMAIN "reliability: {rates: 1, detection: 10min, restart: 5min, slow_detection: 1h}\n", NULL },
  { DOMAIN "reliability: {rates: 2}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {rates: 0.5}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {detection: 11min}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {restart: 4min}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {slow_detection: 2h}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {repair: 1h}\n", "nothing fails without rates" },
  { DOMAIN "reliability: {spares: 1}\n", "nothing fails without rates" },
  { PLAIN "neighbours: [{name: n, nodes: 2, first: 3, job: {" JOB "}}]\n", NULL },
  { PLAIN "neighbours: [{name: n, nodes: 2, first: 4, job: {" JOB "}}]\n",
    "its last node would be 5, and the machine has 0 to 4" },
  { PLAIN "neighbours: [{name: n, nodes: 2, first: 1, stride: 3, job: {" JOB "}}]\n", NULL },
  { PLAIN "neighbours: [{name: n, nodes: 2, first: 0, stride: 2, job: {" JOB "}},\n"
          " {name: m, nodes: 2, first: 1, stride: 2, job: {" JOB "}}]\n",
    NULL },
  { PLAIN "neighbours: [{name: n, nodes: 2, first: 0, stride: 2, job: {" JOB "}},\n"
          " {name: m, nodes: 2, first: 1, job: {" JOB "}}]\n",
    "node 2 already belongs to 'n'" },
  { PLAIN "neighbours: [{nodes: 2, first: 0, job: {" JOB "}},\n"
          " {name: m, nodes: 2, first: 1, job: {" JOB "}}]\n",
    "'neighbours' lacks the key 'name'" },
  { PLAIN "neighbours: [{name: n, nodes: 5, first: 0, job: {" JOB "}}]\n",
    "no node is left for the job itself" },
  { PLAIN "neighbours: [{name: n, nodes: 4, first: 0, job: {" JOB "}}]\n", NULL },
  { DOMAIN "neighbours: [{name: n, nodes: 2, first: 0, job: {" JOB "}}]\n",
    "nodes of 'domain' share parts, so two jobs cannot divide them" },
  { DOMAIN "mix: {jobs: [{name: j, nodes: 5, count: 1, job: {" JOB "}}]}\n",
    "a job of 5 nodes never fits on a machine of 4" },
  { DOMAIN "collectives: {kind: nccl, algorithm: [ring, tree]}\n", NULL },
  { DOMAIN "links: [{name: l, signalling: 8Gb/s, technology: connectx-7}]\n",
    "unknown technology 'connectx-7'" },
};

/* What goes wrong on the machine, and who else uses it. */
static void
faults_and_neighbours_are_refused_for_one_thing_at_a_time (G_GNUC_UNUSED void **state)
{
  assert_refused_for (faults, G_N_ELEMENTS (faults));
}

/* Each key of the cluster of a row, as it is resolved. */
static void
assert_keys (const char *rest, const char *const *keys)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = parse (rest, &error);

  if (scenario == NULL)
    fail_msg ("%s: %s", rest, error->message);
  for (; *keys != NULL; keys += 2) {
    g_autofree char *key = g_strconcat ("cluster.", keys[0], NULL), *text = NULL;
    g_autoptr (FabValue) value = NULL;

    assert_true (fab_scenario_get (scenario, key, &value, &error));
    text = fab_value_write (value);
    if (strcmp (text, keys[1]) != 0)
      fail_msg ("%s: %s is %s, and not %s", rest, key, text, keys[1]);
  }
}

/* A design says as many units of three nodes as are needed or asked for, the fabric of that size, and what else the
 * scenario does not say itself. */
static void
a_design_is_laid_under_the_cluster (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    const char *keys[13];
  } rows[] = {
    { "cluster: {design: d}\n",
      { "node", "cloud", "nodes", "3", "scalable_units", "1", "nic_ports", "2", "fabric.nodes_per_leaf",
        "3" } },
    { "cluster: {design: d}\n", { "nic", "ib-hdr", "places", "24", "route.kind", "spray" } },
    { "cluster: {design: d, route: ecmp}\n", { "route.kind", "ecmp" } },
    { "cluster: {design: one}\n", { "places", "0", "placement", "packed" } },
    { "cluster: {design: d, nic: roce-400}\n", { "nic", "roce-400" } },
    { "cluster: {design: d, nodes: 1}\n", { "nodes", "1", "scalable_units", "1", "places", "3" } },
    { "cluster: {design: d, nodes: 3}\n", { "nodes", "3", "scalable_units", "1", "places", "24" } },
    { "cluster: {design: d, nodes: 4}\n",
      { "nodes", "4", "scalable_units", "2", "places", "6", "fabric.nodes_per_leaf", "3" } },
    { "cluster: {design: d, nodes: 7}\n",
      { "nodes", "7", "scalable_units", "3", "places", "9", "fabric.nodes_per_leaf", "6" } },
    { "cluster: {design: d, nodes: 7, places: 8}\n", { "nodes", "7", "places", "8" } },
    { "cluster: {design: d, scalable_units: 2}\n", { "nodes", "6", "fabric.nodes_per_leaf", "3" } },
    { "cluster: {design: d, scalable_units: 4, nodes: 2}\n",
      { "nodes", "2", "places", "12", "fabric.nodes_per_leaf", "6" } },
    { "cluster: {design: d, nic_ports: 1, node: domain}\n", { "nic_ports", "1", "node", "domain" } },
    { "cluster: {design: d, fabric: {oversubscription: 2}}\n",
      { "fabric.kind", "leaf_spine", "fabric.nodes_per_leaf", "3", "fabric.oversubscription", "2" } },
    { "cluster: {design: d, fabric: {kind: leaf_spine, oversubscription: 2}}\n",
      { "fabric.nodes_per_leaf", "3", "fabric.oversubscription", "2" } },
    { "cluster: {design: d, fabric: {kind: leaf_spine, nodes_per_leaf: 1}}\n",
      { "fabric.nodes_per_leaf", "1" } },
    { "cluster: {design: d, nodes: 1e1}\n", { "nodes", "10", "scalable_units", "4", "places", "12" } },
    { "cluster: {design: one}\n", { "nodes", "1", "scalable_units", "1", "nic_ports", "1" } },
    { "cluster: {design: one, nodes: 3}\n", { "nodes", "3", "scalable_units", "3", "places", "0" } },
    { "cluster: {design: d, fabric: rail}\n", { "fabric.kind", "rail" } },
    { "cluster: {design: d, fabric: {kind: rail}}\n", { "fabric.kind", "rail" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_keys (rows[i].cluster, rows[i].keys);
}

/* Of a fabric only the keys that the design writes are laid; the others stay at their defaults. */
static void
a_design_lays_what_it_writes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = parse ("cluster: {design: d}\n", NULL);
  const FabModelChoice *fabric = &fab_scenario_spec (scenario)->cluster.fabric;
  g_autoptr (FabValue) written = fab_scenario_written (scenario, fabric->info->params, fabric->params, NULL);
  g_autofree char *text = fab_value_write (written);

  assert_string_equal (text, "{nodes_per_leaf: 3}");
}

/* What a design of the scenario itself lacks is told, and nothing of it is laid. */
static void
a_design_that_is_not_whole_is_told (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "{name: e, node: dgx-h100, sizes: [{units: 2}]}", "'designs' lacks the key 'unit_nodes' (count)" },
    { "{name: e, unit_nodes: 2, sizes: [{units: 2}]}", "'designs' lacks the key 'node' (text)" },
    { "{name: e, node: dgx-h100, unit_nodes: 2, sizes: []}", "design 'e' has no `sizes`" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ndesigns: [%s]\ncluster: {node: dgx-h100, design: e, nodes: 3}\njob: {" JOB "}\n",
        rows[i][0]);

    assert_null (fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog, &error));
    if (strstr (error->message, rows[i][1]) == NULL)
      fail_msg ("%s: %s", rows[i][0], error->message);
  }
}

/* Nodes of a cloud are rented one by one among eight times as many, where there are several and nothing else is
 * said. */
static void
nodes_of_a_cloud_are_scattered (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    const char *keys[7];
  } rows[] = {
    { "cluster: {node: cloud}\n", { "placement", "packed", "places", "0" } },
    { "cluster: {node: cloud, nodes: 2}\n", { "placement", "random", "places", "16" } },
    { "cluster: {node: cloud, nodes: 2, places: 5}\n", { "placement", "random", "places", "5" } },
    { "cluster: {node: cloud, nodes: 2, placement: packed}\n", { "placement", "packed", "places", "0" } },
    { "cluster: {node: domain, nodes: 2}\n",
      { "placement", "packed", "places", "0", "fabric.kind", "leaf_spine" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_keys (rows[i].cluster, rows[i].keys);
}

/* The route of a node, then that of its links' technology, where the fabric leaves a choice. */
static void
the_usual_route_is_that_of_the_technology (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    const char *keys[3];
  } rows[] = {
    { "cluster: {node: domain, nodes: 2}\n", { "route.kind", "static" } },
    { "cluster: {node: domain, nodes: 2, nic: roce-400}\n", { "route.kind", "ecmp" } },
    { "cluster: {node: domain, nodes: 2, nic: roce-400, route: spray}\n", { "route.kind", "spray" } },
    { "cluster: {node: domain, nodes: 2, fabric: switch}\n", { "route", "shortest" } },
    { "cluster: {node: domain, nodes: 2, nic: nvlink4}\n", { "route", "shortest" } },
    { "cluster: {node: plain, nodes: 2, fabric: leaf_spine}\n", { "route", "shortest" } },
    { "cluster: {node: routed, nodes: 2, fabric: switch}\n", { "route.kind", "spray" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_keys (rows[i].cluster, rows[i].keys);
}

/* --- placement --- */

/* Strides go round until all nodes have a place; an even spread rounds down. By hand. */
static void
places_are_filled_in_their_order (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabPlacement placement;
    guint n_nodes, n_places, stride, places[7];
  } rows[] = {
    { FAB_PLACEMENT_USUAL, 3, 5, 2, { 0, 1, 2 } },
    { FAB_PLACEMENT_PACKED, 5, 5, 2, { 0, 1, 2, 3, 4 } },
    { FAB_PLACEMENT_STRIDED, 4, 8, 2, { 0, 2, 4, 6 } },
    { FAB_PLACEMENT_STRIDED, 6, 8, 2, { 0, 2, 4, 6, 1, 3 } },
    { FAB_PLACEMENT_STRIDED, 6, 6, 4, { 0, 4, 1, 5, 2, 3 } },
    { FAB_PLACEMENT_STRIDED, 7, 7, 3, { 0, 3, 6, 1, 4, 2, 5 } },
    { FAB_PLACEMENT_STRIDED, 4, 7, 3, { 0, 3, 6, 1 } },
    { FAB_PLACEMENT_STRIDED, 3, 4, 9, { 0, 1, 2 } },
    { FAB_PLACEMENT_STRIDED, 3, 4, 1, { 0, 1, 2 } },
    { FAB_PLACEMENT_SPREAD, 3, 7, 1, { 0, 2, 4 } },
    { FAB_PLACEMENT_SPREAD, 4, 4, 1, { 0, 1, 2, 3 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree guint *places = fab_placement_map (rows[i].placement, rows[i].n_nodes, rows[i].n_places,
                                                  rows[i].stride, 0);

    for (guint k = 0; k < rows[i].n_nodes; k++)
      assert_int_equal (places[k], rows[i].places[k]);
  }
}

/* Every place is drawn equally often, within four standard deviations, and never twice for one job. */
static void
random_places_are_fair (G_GNUC_UNUSED void **state)
{
  enum { N_NODES = 3, N_PLACES = 8, N_SEEDS = 4000 };
  guint n_drawn[N_NODES][N_PLACES] = { { 0 } };

  for (guint seed = 0; seed < N_SEEDS; seed++) {
    g_autofree guint *places = fab_placement_map (FAB_PLACEMENT_RANDOM, N_NODES, N_PLACES, 1, seed),
                     *again = fab_placement_map (FAB_PLACEMENT_RANDOM, N_NODES, N_PLACES, 1, seed);

    assert_memory_equal (places, again, N_NODES * sizeof *places);
    for (guint i = 0; i < N_NODES; i++) {
      assert_in_range (places[i], 0, N_PLACES - 1);
      n_drawn[i][places[i]]++;
      for (guint k = 0; k < i; k++)
        assert_int_not_equal (places[k], places[i]);
    }
  }
  double mean = (double) N_SEEDS / N_PLACES, deviation = sqrt (mean * (1 - 1.0 / N_PLACES));
  for (guint i = 0; i < N_NODES; i++)
    for (guint k = 0; k < N_PLACES; k++)
      assert_true (fabs (n_drawn[i][k] - mean) < 4 * deviation);
}

/* As many nodes as places have each place once, in another order for another seed. */
static void
a_full_machine_is_shuffled (G_GNUC_UNUSED void **state)
{
  enum { N = 6 };
  guint n_same = 0;

  for (guint64 seed = 0; seed < 100; seed++) {
    g_autofree guint *places = fab_placement_map (FAB_PLACEMENT_RANDOM, N, N, 1, seed),
                     *next = fab_placement_map (FAB_PLACEMENT_RANDOM, N, N, 1, seed + 1);
    guint seen = 0;

    for (guint i = 0; i < N; i++)
      seen |= 1U << places[i];
    assert_int_equal (seen, (1U << N) - 1);
    n_same += memcmp (places, next, N * sizeof *places) == 0;
  }
  assert_true (n_same < 5); /* of 720 orders */
}

/* --- summaries --- */

/* An edit that the title tells of replaces the summary of the file, unless the edit is of the summary. */
static void
edits_are_told_by_the_summary (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *sets[3];
    const char *summary; /* NULL: the title of the scenario, and that it was edited */
  } rows[] = {
    { { NULL }, "as written" },
    { { "seed=3" }, "as written" },
    { { "cluster.nodes=2" }, NULL },
    { { "cluster.nodes=2", "summary=mine" }, "mine" },
    { { "summary=mine", "cluster.nodes=2" }, "mine" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const char *yaml = OWN "summary: as written\ncluster: {node: domain}\n";
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), rows[i].sets,
                                                           &fab_models, catalog, &error);
    if (scenario == NULL)
      fail_msg ("%s", error->message);
    g_autofree char *title = fab_scenario_title (fab_scenario_spec (scenario));
    g_autofree char *edited = g_strconcat (title, " (edited)", NULL), *text = fab_scenario_text (scenario);
    const char *summary = rows[i].summary != NULL ? rows[i].summary : edited;
    g_autofree char *line = g_strdup_printf ("\nsummary: %s\n", summary);

    assert_string_equal (fab_scenario_spec (scenario)->summary, summary);
    if (strstr (text, line) == NULL)
      fail_msg ("no '%s' in %s", line, text);
  }
}

/* Edits that are asked for together do not undo each other; those of another group may. */
static void
groups_of_edits_may_undo_each_other (G_GNUC_UNUSED void **state)
{
  for (guint is_appended = 0; is_appended <= 1; is_appended++) {
    const char *yaml = OWN "cluster: {node: domain}\n", *const first[] = { "seed=4", NULL },
               *const second[] = { "seed=5", NULL };
    g_autoptr (FabScenario) scenario = fab_scenario_open_text ("t", yaml, strlen (yaml), &fab_models, catalog,
                                                               NULL);
    g_autoptr (FabEdits) edits = fab_edits_of (first), more = fab_edits_of (second);

    if (is_appended)
      fab_edits_append (edits, more);
    else
      fab_edits_assign (edits, second[0]);
    fab_scenario_edit (scenario, edits);
    assert_int_equal (fab_scenario_check (scenario, NULL), is_appended);
    assert_string_equal (fab_scenario_assigned (scenario, "seed"), is_appended ? "seed=5" : "seed=4");
    assert_null (fab_scenario_assigned (scenario, "name"));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (clusters_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (faults_and_neighbours_are_refused_for_one_thing_at_a_time),
    cmocka_unit_test (a_design_is_laid_under_the_cluster),
    cmocka_unit_test (a_design_lays_what_it_writes),
    cmocka_unit_test (a_design_that_is_not_whole_is_told),
    cmocka_unit_test (nodes_of_a_cloud_are_scattered),
    cmocka_unit_test (the_usual_route_is_that_of_the_technology),
    cmocka_unit_test (places_are_filled_in_their_order),
    cmocka_unit_test (random_places_are_fair),
    cmocka_unit_test (a_full_machine_is_shuffled),
    cmocka_unit_test (edits_are_told_by_the_summary),
    cmocka_unit_test (groups_of_edits_may_undo_each_other),
  };

  return play_run_tests ("cluster", tests, &catalog);
}
