/* SPDX-License-Identifier: Apache-2.0 */
/* prop_lanes.c - on tori, dragonflies and other graphs of routers no buffers wait for each other for ever, however
 * small: every message of random pairs arrives. On one lane they do, and it is said. */
#include "tests/support/test.h"

#include "sim/base/error.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* Routers of other graphs than rings, and ways over a third one as well as the shortest. */
static char *
random_router_graph (Random *random)
{
  static const char *const fabrics[] = {
    "nodes: 24, fabric: {kind: hyperx, axes: [{width: 4}, {width: 3}, {width: 2}]}",
    "nodes: 32, fabric: {kind: slim_fly, field: 4, nics_per_router: 1}",
    "nodes: 36, fabric: {kind: slim_fly, field: 3, nics_per_router: 2}",
    "nodes: 24, fabric: {kind: dragonfly_plus, leaves_per_group: 2, spines_per_group: 2, nics_per_leaf: 2, "
    "global_ports: 3}",
    "nodes: 32, fabric: {kind: torus, x: 4, y: 4, z: 2, twisted: true}",
  };
  static const char *const routes[] = { "shortest", "ecmp", "spray", "{kind: adaptive, nonminimal: 50%}" };

  return g_strdup_printf ("%s, route: %s", fabrics[random_between (random, 0, G_N_ELEMENTS (fabrics) - 1)],
                          routes[random_between (random, 0, G_N_ELEMENTS (routes) - 1)]);
}

static char *
random_fabric (Random *random)
{
  guint x = random_between (random, 3, 9), y = random_between (random, 1, 4),
        z = random_between (random, 1, 3);

  if (random_between (random, 0, 3) == 0)
    return g_strdup_printf ("nodes: %u, fabric: dragonfly", 12 * random_between (random, 1, 4));
  if (random_between (random, 0, 2) == 0)
    return random_router_graph (random);
  return g_strdup_printf ("nodes: %u, fabric: {kind: torus, x: %u, y: %u, z: %u}", x * y * z, x, y, z);
}

/* The first iteration; `error` where it never ends. */
static gboolean
plays (const char *fabric, const char *job, const char *fidelity, GError **error)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, gpus_per_node: 1, nics_per_node: 1, %s}\n"
      "job: {kind: traffic, size: 200kB, %s}\nfidelity: {kind: packet, buffer: 8KiB, %s}\n",
      fabric, job, fidelity);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_simulation_step (play->simulation) || fab_simulation_check (play->simulation, error);
}

static void
check_random (Random *random)
{
  g_autofree char *fabric = random_fabric (random);
  g_autoptr (GError) error = NULL;

  if (!plays (fabric, "pattern: random, flows: 100", "lanes: 16", &error))
    fail_msg ("%s: %s", fabric, error->message);
}

static void
whatever_is_sent_arrives (G_GNUC_UNUSED void **state)
{
  seeds_run (30, check_random);
}

/* Every node of a ring sends half way round: each link waits for the next one. */
static void
one_lane_is_too_few_for_a_ring (G_GNUC_UNUSED void **state)
{
  const char *ring = "nodes: 24, fabric: {kind: torus, dimensions: 2, x: 12, y: 2}",
             *shift = "pattern: shift, distance: 5";
  g_autoptr (GError) error = NULL;

  assert_true (plays (ring, shift, "lanes: 2", NULL));
  assert_false (plays (ring, shift, "lanes: 1", &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_HUNG));
  assert_non_null (strstr (error->message, "in a circle"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (whatever_is_sent_arrives),
    cmocka_unit_test (one_lane_is_too_few_for_a_ring),
  };

  return play_run_tests ("lanes", tests, &catalog);
}
