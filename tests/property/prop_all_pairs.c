/* SPDX-License-Identifier: Apache-2.0 */
/* prop_all_pairs.c - what every rank sends to every other one, counted by nodes that are alike, is what the messages
 * say one by one. */
#include "tests/support/same_forms.h"
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/assembly/assemble.h"
#include "sim/collective/shape/all_pairs.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

typedef struct {
  FabScenario *scenario;
  FabPlant *plant;
} Built;

static Built
build (const char *yaml)
{
  Built self = { 0 };
  GError *error = NULL;

  self.scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models, catalog, &error);
  if (self.scenario != NULL)
    self.plant = fab_plant_new (self.scenario, NULL, &error);
  if (self.plant == NULL)
    fail_msg ("%s\n%s", error->message, yaml);
  return self;
}

static void
built_clear (Built *self)
{
  fab_plant_free (self->plant);
  fab_scenario_free (self->scenario);
}

static const char *
pick (Random *random, const char *const *texts, guint n)
{
  return texts[random_below (random, n)];
}

static const char *const fabrics[] = {
  "switch",
  "{kind: rail, nodes_per_leaf: 2}",
  "{kind: fat_tree, tiers: 3, radix: 128, nodes_per_leaf: 1, leaves_per_pod: 2}",
  "{kind: torus, dimensions: 2, x: 2, y: 3}",
  "{kind: rail_only}",
  "{kind: fat_tree, tiers: 3, radix: 128, planes: 2, nodes_per_leaf: 1, leaves_per_pod: 2}",
  "{kind: leaf_spine, planes: 8, nodes_per_leaf: 3, spines: 2}",
  "{kind: leaf_spine, planes: 2, nodes_per_leaf: 3}, nic_ports: 2",
  "{kind: leaf_spine, tors: 2, nodes_per_leaf: 2}, nic_ports: 2, port_use: bond",
  "{kind: rail, planes: 2, nodes_per_leaf: 2}, nic_ports: 2, port_use: separate",
};
static const char *const routes[] = { "shortest", "ecmp",     "{kind: ecmp, queue_pairs: 3}",
                                      "spray",    "adaptive", "flowlet" };

/* Now and then one node is not like the others: a port is slow or far away, in both directions or in one. */
static const char *const faults[][2] = {
  { NULL, NULL },
  { NULL, NULL },
  { NULL, NULL },
  { "faults: [{what: nic, name: node", "/nic0, rate: 50%}]\n" },
  { "faults: [{what: nic, name: node", "/nic0, latency: 3us}]\n" },
  { "background: [{load: 30%, links: 'node", "/nic0 -> leaf*'}]\n" },
  { "background: [{load: 30%, links: 'leaf* -> node", "/nic0'}]\n" },
};

typedef struct {
  guint fabric, route, fault;
  char *yaml;
} Drawn;

static Drawn
random_scenario (Random *random)
{
  static const char *const machines[] = { "dgx-h100", "dgx-a100", "dgx1-v100", "polaris", "mi300x", "p5" };
  Drawn drawn = { random_below (random, G_N_ELEMENTS (fabrics)), random_below (random, G_N_ELEMENTS (routes)),
                  random_below (random, G_N_ELEMENTS (faults)), NULL };
  guint n_nodes = drawn.fabric == 3 ? 6 : random_between (random, 2, 7);
  gboolean has_leaves = drawn.fabric == 1 || drawn.fabric == 4 || drawn.fabric == 6;
  const char *const *fault = faults[has_leaves ? drawn.fault : 0];
  g_autofree char *lines = fault[0] != NULL
                             ? g_strdup_printf ("%s%u%s", fault[0], random_below (random, n_nodes), fault[1])
                             : g_strdup ("");

  drawn.yaml = g_strdup_printf ("name: random\nseed: %u\ncollectives: nccl\n%s"
                                "cluster: {node: %s, nodes: %u, fabric: %s, route: %s, pxn: %s%s}\n"
                                "job: {kind: collective, operations: [{op: all_to_all, size: 1MiB}]}\n",
                                random_below (random, 1000), lines,
                                pick (random, machines, G_N_ELEMENTS (machines)), n_nodes,
                                fabrics[drawn.fabric], routes[drawn.route],
                                random_chance (random, 50) ? "true" : "false",
                                random_chance (random, 20) ? ", gpus_per_node: 2" : "");
  return drawn;
}

/* How many were counted by nodes, of each fabric and route. */
static guint n_by_fabric[G_N_ELEMENTS (fabrics)], n_by_route[G_N_ELEMENTS (routes)];

/* In a graph that is unfolded the messages are looked at one by one. */
static void
check_form (Random *random)
{
  Drawn drawn = random_scenario (random);
  g_autofree char *yaml = drawn.yaml, *flat_yaml = g_strconcat ("fold: false\n", yaml, NULL);
  Built folded = build (yaml), flat = build (flat_yaml);
  const FabAlgorithmEnv env = { .net_stretch = 1.04 };
  const FabCluster *cluster = &folded.plant->cluster, *flat_cluster = &flat.plant->cluster;
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node },
           flat_group = { flat_cluster, flat_cluster->n_nodes, flat_cluster->gpus_per_node };
  FabCollectiveForm form, expected;

  assert_false (fab_all_pairs_form (&flat_group, 1.0 / fab_group_n_ranks (&group), &env, &expected));
  if (fab_all_pairs_form (&group, 1.0 / fab_group_n_ranks (&group), &env, &form)) {
    assert_true (fab_algorithm_direct.form (&flat_group, FAB_OP_ALL_TO_ALL, &env, &expected, NULL));
    assert_same_forms (&form, &expected);
    fab_footprint_free ((FabFootprint *) form.footprint);
    fab_footprint_free ((FabFootprint *) expected.footprint);
    n_by_fabric[drawn.fabric]++;
    n_by_route[drawn.route]++;
  }
  built_clear (&folded);
  built_clear (&flat);
}

static void
symmetric_nodes_are_counted_together (G_GNUC_UNUSED void **state)
{
  seeds_run (300, check_form);
  for (guint i = 0; i < G_N_ELEMENTS (fabrics) && seeds_are_all (); i++)
    assert_true ((n_by_fabric[i] > 0)
                 == (strstr (fabrics[i], "nic_ports") == NULL || strstr (fabrics[i], "separate")));
  for (guint i = 0; i < G_N_ELEMENTS (routes) && seeds_are_all (); i++)
    assert_true (n_by_route[i] > 5);
}

static int
setup (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
teardown (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (catalog);
  return 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (symmetric_nodes_are_counted_together) };

  return cmocka_run_group_tests (tests, setup, teardown);
}
