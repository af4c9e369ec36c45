/* SPDX-License-Identifier: Apache-2.0 */
/* test_plant_cache.c - which scenarios have a plant in common, and which plants are kept. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/run/plant_cache.h"
#include "tests/support/play.h"

static const char yaml[] = "name: a\ncluster: {node: dgx-a100, nodes: 2}\njob: {kind: ddp, model: gpt2-xl}\n";

static FabScenario *
load (const FabCatalog *catalog, const char *set)
{
  const char *const sets[] = { set, NULL };
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("test", yaml, strlen (yaml), sets, &fab_models, catalog,
                                              &error);

  g_assert_no_error (error);
  return scenario;
}

/* Takes the plant of the scenario with an assignment, and gives it back; the scenario may go at once. */
static const FabPlant *
use (FabPlantCache *plants, const FabCatalog *catalog, const char *set)
{
  g_autoptr (FabScenario) scenario = load (catalog, set);
  FabPlant *plant = fab_plant_cache_take (plants, scenario, NULL);

  assert_non_null (plant);
  fab_plant_cache_give (plants, plant);
  return plant;
}

static void
what_is_beside_the_plant_keeps_it (void **state)
{
  static const char *const beside[] = { "name=b",         "summary=text",  "iterations=1",
                                        "job.bucket=1MB", "job.kind=fsdp", "fidelity=analytic",
                                        "contention=no",  "cost.pue=1.5",  "seed=2" };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  const FabPlant *first = use (plants, *state, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (beside); i++)
    assert_ptr_equal (use (plants, *state, beside[i]), first);
  assert_int_equal (fab_plant_cache_n_built (plants), 1);
}

static void
what_the_plant_is_built_of_makes_another (void **state)
{
  static const char *const of[] = {
    "cluster.nodes=4",
    "cluster.nic_rate=100Gb/s",
    "cluster.fabric.kind=switch",
    "cluster.route=ecmp",
    "cluster.pxn=no",
    "fold=no",
    "collectives=plain",
    "collectives.nvls=no",
    "faults.+={what: nic, name: node1/nic0, rate: 50%}",
    "background.+={kind: transfer, from: node0, to: node1, rate: 1Gb/s}",
    "neighbours.+={name: b, nodes: 1, first: 0, job: {kind: ddp, model: gpt2-xl}}"
  };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (G_N_ELEMENTS (of) + 1);

  use (plants, *state, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (of); i++) {
    use (plants, *state, of[i]);
    assert_int_equal (fab_plant_cache_n_built (plants), i + 2);
  }
  use (plants, *state, NULL);
  assert_int_equal (fab_plant_cache_n_built (plants), G_N_ELEMENTS (of) + 1);
}

/* Of those that are not in use the oldest goes; what is in use is nobody else's. */
static void
the_latest_are_kept (void **state)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (2);

  use (plants, *state, "cluster.nodes=1");
  use (plants, *state, "cluster.nodes=2");
  use (plants, *state, "cluster.nodes=1");
  assert_int_equal (fab_plant_cache_n_built (plants), 2);
  use (plants, *state, "cluster.nodes=4");
  use (plants, *state, "cluster.nodes=1");
  assert_int_equal (fab_plant_cache_n_built (plants), 3);
  use (plants, *state, "cluster.nodes=2");
  assert_int_equal (fab_plant_cache_n_built (plants), 4);
}

/* A hash over several spines follows the seed, one over a single switch has nothing to choose. */
static void
the_seed_makes_another_plant_where_it_is_used (void **state)
{
  static const struct {
    const char *set;
    guint n_built;
  } rows[] = {
    { "cluster={node: dgx-a100, nodes: 4, route: ecmp, fabric: {kind: leaf_spine, nodes_per_leaf: 2}}", 2 },
    { "cluster={node: dgx-a100, nodes: 4, route: ecmp, fabric: switch}", 1 },
    { "cluster={node: dgx-a100, nodes: 4, placement: random}", 2 },
    { "background=[{kind: bursts, load: 20%, burst: 1ms}]", 2 },
    { "job.jitter.cv=5%", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabPlantCache) plants = fab_plant_cache_new (2);
    g_autoptr (FabScenario) scenario = load (*state, rows[i].set);

    use (plants, *state, rows[i].set);
    assert_true (fab_scenario_set (scenario, "seed", fab_value_count (2), NULL)
                 && fab_scenario_check (scenario, NULL));
    fab_plant_cache_give (plants, fab_plant_cache_take (plants, scenario, NULL));
    assert_int_equal (fab_plant_cache_n_built (plants), rows[i].n_built);
  }
}

/* All plants that are kept have at most a million links together: taking one and giving it back any number of times
 * keeps their number right. */
static void
links_are_counted_once (void **state)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (2);
  g_autoptr (FabScenario) scenario = load (*state, "cluster.nodes=64");
  const guint most_links = 1 << 20;
  guint n_links = 0, n_times = 0;

  while (n_links <= most_links) {
    FabPlant *plant = fab_plant_cache_take (plants, scenario, NULL);

    n_links += fab_graph_n_links (plant->graph);
    fab_plant_cache_give (plants, plant);
    n_times++;
  }
  assert_true (n_times > 2);
  use (plants, *state, "cluster.nodes=64");
  assert_int_equal (fab_plant_cache_n_built (plants), 1);
}

/* Without folding there is no book of forms: every machine works out its own. */
static void
machines_that_are_not_folded_share_no_forms (void **state)
{
  static const char *const rates[] = { "cluster={node: dgx-a100, nodes: 2, nic_rate: 100Gb/s}",
                                       "cluster={node: dgx-a100, nodes: 2, nic_rate: 150Gb/s}",
                                       "cluster={node: dgx-a100, nodes: 2, nic_rate: 160Gb/s}" };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (G_N_ELEMENTS (rates));

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    const char *const sets[] = { rates[i], "fold=no", NULL };
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("test", yaml, strlen (yaml), sets, &fab_models,
                                                           *state, NULL);
    g_autoptr (FabSimulation) simulation = fab_simulation_build_on (plants, scenario, &fab_models, NULL, NULL,
                                                                    NULL);

    assert_int_equal (fab_simulation_forms (simulation).n_known, 0);
    assert_null (fab_simulation_plant (simulation)->book);
  }
}

static void
a_plant_in_use_is_taken_by_nobody_else (void **state)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (2);
  g_autoptr (FabScenario) scenario = load (*state, NULL);
  FabPlant *first = fab_plant_cache_take (plants, scenario, NULL),
           *second = fab_plant_cache_take (plants, scenario, NULL);

  assert_ptr_not_equal (first, second);
  fab_plant_cache_free (NULL);
  fab_plant_cache_give (plants, first);
  fab_plant_cache_give (plants, second);
}

/* The first machine shows what it is like, the second one's forms are kept, and the third has them all. */
static void
forms_of_other_rates_are_known_from_the_third_rate_on (void **state)
{
  static const char *const rates[] = { "cluster.nic_rate=100Gb/s", "cluster.nic_rate=150Gb/s",
                                       "cluster.nic_rate=160Gb/s" };
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (G_N_ELEMENTS (rates));

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    g_autoptr (FabScenario) scenario = load (*state, rates[i]);
    g_autoptr (FabSimulation) simulation = fab_simulation_build_on (plants, scenario, &fab_models, NULL, NULL,
                                                                    NULL);
    FabFormsCount forms = fab_simulation_forms (simulation);

    assert_true (forms.n_all > forms.n_derived);
    assert_int_equal (forms.n_known, i < 2 ? 0 : forms.n_all - forms.n_derived);
  }
}

/* Twice as long as predicted. */
static double
twice (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED const FabCluster *cluster,
       G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  return 2;
}

static FabTimePs
duration_ps (FabSimulation *simulation)
{
  assert_true (fab_simulation_step (simulation));
  return fab_simulation_probe (simulation)->step.times.duration_ps;
}

/* A simulation beside another one has its machine where nothing of the machine changes, and the times of a machine of
 * its own either way. */
static void
a_simulation_beside_another_shares_its_plant (void **state)
{
  const FabPlanScale longer = { twice, NULL };
  const FabWhatIf changes[] = { { .rate_factor = 1, .plans = &longer },
                                { .rate_factor = 0.5, .link_class = "ib-hdr" },
                                { .rate_factor = 1, .is_intact = TRUE } };
  g_autoptr (FabScenario) scenario = load (*state, "cluster.nodes=8");
  g_autoptr (FabSimulation) first = fab_simulation_new (scenario, &fab_models, NULL, NULL);
  FabTimePs first_ps = duration_ps (first);

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    g_autoptr (FabSimulation) alone = fab_simulation_new (scenario, &fab_models, &changes[i], NULL);
    g_autoptr (FabSimulation) beside = fab_simulation_build_beside (first, scenario, &fab_models, &changes[i],
                                                                    NULL, NULL);
    FabTimePs alone_ps = duration_ps (alone);

    assert_true ((fab_simulation_plant (beside) == fab_simulation_plant (first)) == (i == 0));
    assert_true (alone_ps == duration_ps (beside));
    assert_true ((alone_ps > first_ps) == (i < 2));
  }
}

static int
make_catalog (void **state)
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_beside_the_plant_keeps_it),
    cmocka_unit_test (what_the_plant_is_built_of_makes_another),
    cmocka_unit_test (the_latest_are_kept),
    cmocka_unit_test (the_seed_makes_another_plant_where_it_is_used),
    cmocka_unit_test (links_are_counted_once),
    cmocka_unit_test (machines_that_are_not_folded_share_no_forms),
    cmocka_unit_test (a_plant_in_use_is_taken_by_nobody_else),
    cmocka_unit_test (forms_of_other_rates_are_known_from_the_third_rate_on),
    cmocka_unit_test (a_simulation_beside_another_shares_its_plant),
  };

  return cmocka_run_group_tests_name ("plant_cache", tests, make_catalog, free_catalog);
}
