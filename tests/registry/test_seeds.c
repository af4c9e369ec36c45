/* SPDX-License-Identifier: Apache-2.0 */
/* test_seeds.c - everything random follows the scenario's seed: the same seed plays the same, another one plays
 * otherwise, and a run says whether its figures depend on it. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/probe_text.h"

enum { N_SEEDS = 6 };

#define LEAF_SPINE "fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

/* Everything that a run with this seed says. (transfer full) */
static char *
play_seed (const char *yaml, guint seed, gboolean *uses_seed)
{
  g_autofree char *text = g_strdup_printf ("name: s\nseed: %u\niterations: 1\n%s", seed, yaml);
  g_autoptr (Play) play = play_new (catalog, text, NULL);
  GString *page = g_string_new (NULL);

  while (fab_simulation_step (play->simulation))
    probe_text (fab_simulation_probe (play->simulation), page);
  *uses_seed = fab_simulation_uses_seed (play->simulation);
  return g_string_free (page, FALSE);
}

/* Whether any of the seeds plays otherwise than the first. */
static gboolean
differs (const char *yaml, gboolean *uses_seed)
{
  g_autofree char *first = play_seed (yaml, 1, uses_seed), *again = play_seed (yaml, 1, uses_seed);
  gboolean is_other = FALSE;

  assert_string_equal (first, again);
  for (guint seed = 2; seed <= N_SEEDS; seed++) {
    gboolean uses_this;
    g_autofree char *other = play_seed (yaml, seed, &uses_this);

    is_other |= !g_str_equal (first, other);
    *uses_seed |= uses_this;
  }
  return is_other;
}

static void
what_is_random_follows_the_seed (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = {
    "cluster: {node: dgx-h100, nodes: 8, route: ecmp, " LEAF_SPINE "}\n"
    "job: {kind: collective, operations: [{op: all_reduce, size: 64MB}]}\n",
    "cluster: {node: dgx-h100, nodes: 8, route: {kind: ecmp, seed: 5}, " LEAF_SPINE "}\n"
    "job: {kind: collective, operations: [{op: all_reduce, size: 64MB}]}\n",
    "cluster: {node: dgx-h100, nodes: 8, placement: random, " LEAF_SPINE "}\n"
    "job: {kind: collective, operations: [{op: all_reduce, size: 64MB}]}\n",
    "cluster: {node: host, nodes: 72, nic: ib-ndr, route: {kind: adaptive, nonminimal: 50%, vias: 2}, "
    "fabric: {kind: dragonfly, routers_per_group: 4, nics_per_router: 2, global_ports: 2}}\n"
    "job: {kind: traffic, pattern: shift, distance: 8, size: 1MiB}\n",
    "cluster: {node: dgx-h100, nodes: 4, route: shortest, " LEAF_SPINE "}\n"
    "background: [{kind: bursts, load: 30%, burst: 20us}]\n"
    "job: {kind: collective, operations: [{op: all_reduce, size: 64MB}]}\n",
    "cluster: {node: dgx-h100, nodes: 4, route: shortest, " LEAF_SPINE
    "}\njob: {kind: traffic, pattern: permutation, size: 1MiB}\n",
    "cluster: {node: dgx-h100, nodes: 4, route: shortest, " LEAF_SPINE
    "}\njob: {kind: traffic, pattern: random, size: 1MiB}\n",
    "cluster: {node: dgx-h100, nodes: 1}\njob: {kind: ddp, model: gpt2, micro_batch: 1, jitter: {cv: 5%}}\n",
    "cluster: {node: host, nodes: 5, nic: roce-400, fabric: switch}\nfidelity: {kind: packet, flow_control: pfc}\n"
    "job: {kind: traffic, pattern: incast, size: 16MiB, senders: 4}\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    gboolean uses_seed, is_other = differs (yamls[i], &uses_seed);

    if (!is_other || !uses_seed)
      fail_msg ("seeds 1 to %d are %s, said to %s: %s", N_SEEDS, is_other ? "different" : "equal",
                uses_seed ? "matter" : "make no difference", yamls[i]);
  }
}

/* Of every route, fabric and fidelity: where a run says that its seed makes no difference, none does. */
static void
what_says_that_it_draws_nothing_draws_nothing (G_GNUC_UNUSED void **state)
{
  static const char *const fabrics[] = { "fabric: switch", "fabric: rail", LEAF_SPINE };
  g_autofree const char **routes = fab_registry_names (&fab_models, FAB_MODEL_ROUTE);
  g_autofree const char **nets = fab_registry_names (&fab_models, FAB_MODEL_NET);

  for (guint r = 0; routes[r]; r++)
    for (guint n = 0; nets[n]; n++)
      for (guint f = 0; f < G_N_ELEMENTS (fabrics); f++) {
        g_autofree char *yaml = g_strdup_printf (
            "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 2, nics_per_node: 2, %s, route: %s}\nfidelity: %s\n"
            "job: {kind: traffic, pattern: shift, size: 64KiB}\n",
            fabrics[f], routes[r], nets[n]);
        gboolean uses_seed, is_other = differs (yaml, &uses_seed);

        if (is_other && !uses_seed)
          fail_msg ("a seed makes a difference that is not told: %s", yaml);
        if (g_str_equal (routes[r], "shortest") || g_str_equal (routes[r], "spray"))
          assert_false (uses_seed);
      }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_random_follows_the_seed),
    cmocka_unit_test (what_says_that_it_draws_nothing_draws_nothing),
  };

  return cmocka_run_group_tests_name ("seeds", tests, load_catalog, drop_catalog);
}
