/* SPDX-License-Identifier: Apache-2.0 */
/* test_circuits.c - links through optical circuit switches: when they carry nothing, and what waits for them. */
#include "sim/assembly/circuits.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

static int
load_catalog (void **state)
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

static void
assert_spell (const GArray *spells, guint index, FabLinkId link, FabTimePs at_ps, FabTimePs until_ps)
{
  const FabSpell *spell = &g_array_index (spells, FabSpell, index);

  assert_int_equal (spell->link, link);
  assert_true (spell->fraction == 0);
  assert_int_equal (spell->at_ps, at_ps);
  assert_int_equal (spell->until_ps, until_ps);
}

/* Link 7 is set from the start until 100, and from 200 on, when the switch turns for 30; from 300 to 400 again, at once
 * after it was parted. Link 3 is set from 50 for good, and turns for 5. */
static void
a_link_is_dark_when_it_is_not_set (G_GNUC_UNUSED void **state)
{
  static const FabCircuitSpec first = { "a", 0, 100, 30 }, second = { "a", 200, 300, 30 },
                              third = { "a", 300, 400, 30 }, other = { "b", 50, 0, 5 };
  const FabCircuitTime listed[] = { { 7, &third }, { 3, &other }, { 7, &first }, { 7, &second } };
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (FabCircuitTime));
  g_autoptr (GArray) spells = g_array_new (FALSE, FALSE, sizeof (FabSpell));

  g_array_append_vals (times, listed, G_N_ELEMENTS (listed));
  fab_circuits_darken (times, spells);
  assert_int_equal (spells->len, 4);
  assert_spell (spells, 0, 3, 0, 55);
  assert_spell (spells, 1, 7, 100, 230);
  assert_spell (spells, 2, 7, 300, 330);
  assert_spell (spells, 3, 7, 400, 0);
}

/* Times of one link may overlap, and the one that ends first need not begin first; what is set for good is not dark
 * after that, whatever else is said. */
static void
times_of_one_link_may_overlap (G_GNUC_UNUSED void **state)
{
  static const FabCircuitSpec all = { "a", 0, 400, 0 }, within = { "a", 100, 200, 30 },
                              late = { "a", 350, 500, 70 }, good = { "b", 100, 0, 5 },
                              other = { "b", 300, 400, 7 }, whole = { "c", 0, 0, 9 };
  const FabCircuitTime listed[] = { { 1, &late }, { 1, &within }, { 2, &other },
                                    { 1, &all },  { 2, &good },   { 4, &whole } };
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (FabCircuitTime)),
                     spells = g_array_new (FALSE, FALSE, sizeof (FabSpell));

  g_array_append_vals (times, listed, G_N_ELEMENTS (listed));
  fab_circuits_darken (times, spells);
  assert_int_equal (spells->len, 3);
  assert_spell (spells, 0, 1, 400, 420);
  assert_spell (spells, 1, 1, 500, 0);
  assert_spell (spells, 2, 2, 0, 105);
}

/* --- messages --- */

#define RING                                                                                 \
  "name: t\niterations: 1\n"                                                                 \
  "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, fabric: {kind: "  \
  "custom, switches: [{name: tor, count: 4}], links: [{from: tor0, to: tor1}, {from: tor1, " \
  "to: tor2}, {from: tor2, to: tor3}, {from: tor3, to: tor0}], attach: [{to: tor}]}}\n"      \
  "job: {kind: traffic, pattern: shift, distance: 1, size: 2MB}\n"

static double
step_s (const FabCatalog *catalog, const char *rest)
{
  g_autofree char *yaml = g_strconcat (RING, rest, NULL);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return (double) fab_simulation_probe (play->simulation)->step.times.duration_ps / FAB_PS_PER_S;
}

/* A message that finds its circuit dark takes from the moment on when it is set what it takes at any other time: 2 MB x
 * 4122/4096 / 50 GB/s = 40.25 us. At packet it has filled some buffers before. */
static void
a_message_waits_for_its_circuit (void **state)
{
  static const char *const levels[] = { "", "fidelity: step\n", "fidelity: packet\n" };
  static const char
      *const circuits = "circuits: [{links: tor0 -> tor1, until: 100us}, {links: tor1 -> tor2, at: "
                        "100us, switching: 20us}]\n";
  double wires = 2e6 * 4122 / 4096 / 50e9;

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    g_autofree char *rest = g_strconcat (levels[i], circuits, NULL);
    double seconds = step_s (*state, rest);

    assert_true (seconds > 0.98 * (120e-6 + wires) && seconds < 120e-6 + wires + 3e-6);
  }
}

/* A circuit that is parted while bytes cross it, and set once more, carries the rest then. */
static void
a_message_goes_on_when_its_circuit_is_back (void **state)
{
  double wires = 2e6 * 4122 / 4096 / 50e9;
  double seconds = step_s (*state,
                           "circuits: [{links: tor0 -> tor1, until: 20us}, {links: tor0 -> tor1, at: 100us, "
                           "switching: 10us}]\n");

  /* 20 us have passed of it, less the latency of what comes before the link. */
  assert_true (seconds > 110e-6 + wires - 20e-6 && seconds < 110e-6 + wires - 20e-6 + 3e-6);
}

/* What is parted for good holds what it carried for ever, and that is said. */
static void
a_message_without_a_circuit_hangs (void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Play) play = play_new (*state, RING "circuits: [{links: tor0 -> tor1, until: 20us}]\n", NULL);

  assert_false (fab_simulation_step (play->simulation));
  assert_false (fab_simulation_check (play->simulation, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_HUNG));
  assert_non_null (strstr (error->message, "tor0 -> tor1, dead since 20 us"));
}

/* --- what is refused --- */

static void
assert_refused (const FabCatalog *catalog, const char *rest, const char *message)
{
  g_autofree char *yaml = g_strconcat (RING, rest, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  if (scenario != NULL)
    assert_null (fab_plant_new (scenario, NULL, &error));
  if (strstr (error->message, message) == NULL)
    fail_msg ("no '%s' in: %s", message, error->message);
}

static void
what_cannot_be_is_said (void **state)
{
  assert_refused (*state, "circuits: [{links: tor9, until: 1ms}]\n",
                  "no link of this machine is one of 'tor9'");
  assert_refused (*state, "circuits: [{links: tor0, at: 1ms, until: 5ms}]\n",
                  "disconnected before it carries anything");
  assert_refused (*state, "fidelity: analytic\ncircuits: [{links: tor0, until: 5ms}]\n", "has no time");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_link_is_dark_when_it_is_not_set),
    cmocka_unit_test (times_of_one_link_may_overlap),
    cmocka_unit_test (a_message_waits_for_its_circuit),
    cmocka_unit_test (a_message_goes_on_when_its_circuit_is_back),
    cmocka_unit_test (a_message_without_a_circuit_hangs),
    cmocka_unit_test (what_cannot_be_is_said),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
