/* SPDX-License-Identifier: Apache-2.0 */
/* prop_disturbances.c - links that lose their rate and get it back, and faults in whole scenarios.
 *
 * The fluid network with spells against its definition (ref_fluid.h); a fault never makes a run faster, whatever
 * it is and whenever it comes; the same seed gives the same bursts.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"
#include "tests/support/probe_text.h"
#include "tests/support/ref_fluid.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog; /* shared by all seeds */

/* --- spells --- */

enum { N_ITEMS = 12, N_SPELLS = 8 };

/* Within the first milliseconds, as the items are; one in four is an outage. */
static FabDisturbancesPlan *
random_spells (Random *random, const Rig *rig)
{
  FabDisturbancesPlan *plan = fab_disturbances_plan_new ();

  for (guint i = random_between (random, 1, N_SPELLS); i-- > 0;) {
    FabTimePs at_ps = random_below (random, 2000000000);
    FabSpell spell = { random_below (random, fab_graph_n_links (rig->graph)),
                       random_chance (random, 25) ? 0 : random_between (random, 1, 15) / 16.0, at_ps,
                       at_ps + random_between (random, 1, 1000000000) };

    g_array_append_val (plan->spells, spell);
  }
  return plan;
}

/* What an end costs in rounding is inherited; an outage shifts what comes after it as a whole. */
static void
check_spells (Random *random)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = random_between (random, 1, 3),
                                             .gpus_per_node = random_between (random, 2, 4),
                                             .nics_per_node = random_between (random, 1, 2),
                                             .gpu_bytes_per_s = G_GUINT64_CONSTANT (100000000000),
                                             .nic_bytes_per_s = G_GUINT64_CONSTANT (25000000000),
                                             .nic_latency_ps = 1000000 });
  g_autoptr (FabFootprint) footprint = load_random_footprint (random, rig);
  g_autoptr (FabDisturbancesPlan) plan = random_spells (random, rig);
  LoadItem items[N_ITEMS];
  double expected_ps[N_ITEMS];

  load_random (random, rig, &footprint, 1, items, N_ITEMS);
  load_play_beside (rig, &fab_net_fluid, plan, items, N_ITEMS, NULL);
  ref_fluid_play (rig, items, N_ITEMS, plan->spells, expected_ps);
  for (guint i = 0; i < N_ITEMS; i++) {
    assert_int_equal (items[i].n_ends, 1);
    if (fabs ((double) items[i].end_ps - expected_ps[i]) > 1e-9 * expected_ps[i] + 8 * N_ITEMS)
      fail_msg ("item %u ends at %" G_GINT64_FORMAT ", by the definition at %.17g", i, items[i].end_ps,
                expected_ps[i]);
  }
}

static void
spells_change_rates_as_the_definition_says (G_GNUC_UNUSED void **state)
{
  seeds_run (600, check_spells);
}

/* --- scenarios --- */

typedef struct {
  guint nodes, nics, bytes_mb;
  const char *op, *fabric, *route;
} Spec;

static Spec
random_spec (Random *random)
{
  static const char *const ops[] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast" };
  static const char *const fabrics[] = { "switch", "{kind: rail, nodes_per_leaf: 2}",
                                         "{kind: leaf_spine, nodes_per_leaf: 2}" };
  static const char *const routes[] = { "shortest", "ecmp", "spray" };

  return (Spec){ .nodes = random_between (random, 2, 5),
                 .nics = random_between (random, 2, 8),
                 .bytes_mb = random_between (random, 1, 400),
                 .op = ops[random_below (random, G_N_ELEMENTS (ops))],
                 .fabric = fabrics[random_below (random, G_N_ELEMENTS (fabrics))],
                 .route = routes[random_below (random, G_N_ELEMENTS (routes))] };
}

/* Always of a part that all of these machines have, and never of all that a node has. */
static char *
random_fault (Random *random, const Spec *s)
{
  guint node = random_below (random, s->nodes), nic = random_below (random, s->nics);
  guint percent = random_between (random, 1, 99), at_us = random_between (random, 1, 20000);

  switch (random_below (random, 6)) {
  case 0: return g_strdup_printf ("{what: nic, name: node%u/nic%u, rate: %u%%}", node, nic, percent);
  case 1: return g_strdup_printf ("{what: nic, name: node%u/nic%u, dead: true}", node, nic);
  case 2: return g_strdup_printf ("{what: rail, rail: %u, rate: %u%%, at: %uus}", nic, percent, at_us);
  case 3:
    return g_strdup_printf ("{what: nic, name: node%u/nic%u, dead: true, at: %uus, until: %uus}", node, nic,
                            at_us, at_us + 1000);
  case 4:
    return g_strdup_printf ("{what: link, from: node%u/gpu0, to: node%u/nvswitch, rate: %u%%}", node, node,
                            percent);
  default: return g_strdup_printf ("{what: nic, name: node%u/nic%u, latency: %uns}", node, nic, percent);
  }
}

/* The plain library takes rings, whatever the machine; NCCL's tuner may take a worse way over a better one. */
static char *
write_yaml (const Spec *s, const char *faults, const char *background)
{
  return g_strdup_printf (
      "name: random\niterations: 3\ncollectives: {kind: plain, algorithm: ring}\n"
      "cluster: {node: dgx-h100, nodes: %u, nics_per_node: %u, fabric: %s, route: %s}\n"
      "job: {kind: collective, operations: [{op: %s, size: %uMB}]}\nfaults: [%s]\nbackground: [%s]\n",
      s->nodes, s->nics, s->fabric, s->route, s->op, s->bytes_mb, faults, background);
}

static FabTimePs
total_ps (const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabTimePs sum_ps = 0;

  while (fab_simulation_step (play->simulation))
    sum_ps += fab_simulation_probe (play->simulation)->step.times.duration_ps;
  return sum_ps;
}

static void
assert_not_faster (const Spec *spec, const char *faults, const char *background)
{
  g_autofree char *usual = write_yaml (spec, "", ""), *worse = write_yaml (spec, faults, background);
  FabTimePs usual_ps = total_ps (usual), worse_ps = total_ps (worse);

  /* Sums of weights are made in another order. */
  if ((double) worse_ps < (double) usual_ps * (1 - 1e-9))
    fail_msg ("%" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT "\n%s", worse_ps, usual_ps, worse);
}

static void
check_fault (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *fault = random_fault (random, &spec);

  assert_not_faster (&spec, fault, "");
}

static void
a_fault_never_makes_a_run_faster (G_GNUC_UNUSED void **state)
{
  seeds_run (80, check_fault);
}

static char *
random_background (Random *random, const Spec *spec)
{
  guint percent = random_between (random, 1, 80);

  switch (random_below (random, 3)) {
  case 0: return g_strdup_printf ("{load: %u%%, links: all}", percent);
  case 1:
    return g_strdup_printf ("{kind: bursts, load: %u%%, links: \"node*/nic*\", burst: %uus}", percent,
                            random_between (random, 10, 2000));
  default:
    return g_strdup_printf ("{kind: transfer, from: node0, to: node%u, rate: %uGb/s}", spec->nodes - 1,
                            random_between (random, 1, 400));
  }
}

static void
check_background (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *background = random_background (random, &spec);

  assert_not_faster (&spec, "", background);
}

static void
background_traffic_never_makes_a_run_faster (G_GNUC_UNUSED void **state)
{
  seeds_run (50, check_background);
}

static void
check_same (Random *random)
{
  Spec spec = random_spec (random);
  g_autofree char *yaml = write_yaml (&spec, "", "{kind: bursts, load: 30%, links: all, burst: 200us}");
  g_autofree char *first = play_text (catalog, yaml), *second = play_text (catalog, yaml);

  assert_string_equal (first, second);
}

static void
the_same_seed_gives_the_same_bursts (G_GNUC_UNUSED void **state)
{
  seeds_run (20, check_same);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (spells_change_rates_as_the_definition_says),
    seeds_test (a_fault_never_makes_a_run_faster),
    seeds_test (background_traffic_never_makes_a_run_faster),
    seeds_test (the_same_seed_gives_the_same_bursts),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("unrest", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
