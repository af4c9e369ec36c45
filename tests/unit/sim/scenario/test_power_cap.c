/* SPDX-License-Identifier: Apache-2.0 */
/* test_power_cap.c - caps on the power of GPUs: the share of the board's that they are, and those that no board keeps
 * to. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/power_cap.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static double
share (gint64 watts, double fraction, gint64 board_watts)
{
  const FabPower cap = { .watts = watts, .fraction = fraction };
  const FabAcceleratorSpec accelerator = { .power_watts = board_watts };

  return fab_power_cap_share (&cap, &accelerator);
}

/* Watts count before a share. Of a board whose power is not known no watts are a share. */
static void
a_cap_is_a_share_of_the_board (G_GNUC_UNUSED void **state)
{
  assert_near (share (0, 0.7, 700), 0.7, 1e-15);
  assert_near (share (0, 0.7, 0), 0.7, 1e-15);
  assert_near (share (350, 1, 700), 0.5, 1e-15);
  assert_near (share (1, 1, 700), 1 / 700.0, 1e-15);
  assert_near (share (350, 0.1, 700), 0.5, 1e-15);
  assert_near (share (350, 1, 0), 1, 1e-15);
}

/* NULL: the cap is accepted. (transfer full) */
static char *
problem_of (const char *cap)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, nodes: 1%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cap);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  return scenario == NULL ? g_strdup (error->message) : NULL;
}

static void
assert_cap (double watts, const char *message)
{
  g_autofree char *cap = g_strdup_printf (", power_cap: %.0fW", watts), *problem = problem_of (cap);

  if (message == NULL && problem != NULL)
    fail_msg ("%.0f W: %s", watts, problem);
  if (message != NULL && (problem == NULL || strstr (problem, message) == NULL))
    fail_msg ("%.0f W: no '%s' in '%s'", watts, message, problem);
}

/* From just above what no clock lowers up to what the board draws. */
static void
a_board_keeps_to_what_it_can (G_GNUC_UNUSED void **state)
{
  const FabAcceleratorSpec *h100 = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  double board = (double) h100->power_watts, least = h100->clock.static_fraction * board;
  g_autofree char *at_least = g_strdup_printf (", power_cap: %.17g", h100->clock.static_fraction),
                  *refused = problem_of (at_least);
  g_autofree char *none = problem_of (""), *whole = problem_of (", power_cap: 100%");

  assert_true (board == 700 && least > 0);
  assert_null (none);
  assert_null (whole);
  assert_non_null (refused);
  assert_non_null (strstr (refused, "at any clock; write a higher cap"));
  assert_cap (board, NULL);
  assert_cap (board + 1, "draws at most 700 W; write a lower cap, or leave it out");
  assert_cap (floor (least) + 1, NULL);
  assert_cap (floor (least), "at any clock; write a higher cap");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_cap_is_a_share_of_the_board),
    cmocka_unit_test (a_board_keeps_to_what_it_can),
  };

  return play_run_tests ("power_cap", tests, &catalog);
}
