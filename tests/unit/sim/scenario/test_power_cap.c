/* SPDX-License-Identifier: Apache-2.0 */
/* test_power_cap.c - caps on the power of GPUs: the share of the board's that they are, and those that no board keeps
 * to. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/power_cap.h"
#include "sim/verdict/verdict.h"
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

/* The text of the finding that has these words; NULL: there is none. */
static const char *
find_text (const FabVerdict *verdict, const char *words)
{
  for (guint i = 0; i < fab_verdict_n (verdict); i++)
    if (fab_verdict_at (verdict, i)->code == FAB_FINDING_UNCALIBRATED
        && strstr (fab_verdict_at (verdict, i)->text, words) != NULL)
      return fab_verdict_at (verdict, i)->text;
  return NULL;
}

/* A prediction says where the clock of its board, or a cap so low, was not measured: under a cap, and of a job that
 * computes. */
static void
caps_that_nobody_measured_are_told (G_GNUC_UNUSED void **state)
{
  static const char *const nodes[] = { "dgx-h100", "dgx-a100", "hgx-b200", "mi300x" };
  static const double caps[] = { 1, 0.95, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4 };
  guint n_board = 0, n_low = 0, n_none = 0;

  for (guint n = 0; n < G_N_ELEMENTS (nodes); n++) {
    const FabNodeSpec *node = fab_catalog_node (catalog, nodes[n]);
    const FabAcceleratorSpec *board = fab_catalog_accelerator (catalog, node->accelerator);

    for (guint c = 0; c < G_N_ELEMENTS (caps); c++)
      for (guint is_known = 0; is_known < 2; is_known++) {
        if (caps[c] <= board->clock.static_fraction)
          continue;
        g_autofree char *yaml = g_strdup_printf (
            "name: t\niterations: 1\ncluster: {node: %s, nodes: 1, gpus_per_node: 1, power_cap: %g}\n"
            "job: {%s}\n",
            nodes[n], caps[c],
            is_known ? "kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024"
                     : "kind: collective, operations: [{op: all_reduce, size: 1MB}]");
        g_autoptr (Play) play = play_new (catalog, yaml, NULL);

        while (fab_simulation_step (play->simulation))
          ;
        g_autoptr (FabVerdict) verdict = fab_verdict_of (play->scenario, play->simulation, &fab_models, NULL);
        g_autofree char *clock = g_strdup_printf (
                            "How the clock of %s falls under a power cap was not measured", board->name),
                        *low = g_strdup_printf (
                            "A power cap of %.0f %% is lower than those at which slow-downs were "
                            "held against measurements (%.0f %%).",
                            100 * caps[c], 100 * board->clock.deep.from_fraction);
        gboolean is_told = caps[c] < 1 && is_known,
                 is_low = is_told && !fab_clock_is_tried (&board->clock, caps[c]);

        assert_int_equal (find_text (verdict, clock) != NULL, is_told && !board->clock.is_measured);
        assert_int_equal (find_text (verdict, "How the clock of ") != NULL,
                          is_told && !board->clock.is_measured);
        assert_int_equal (find_text (verdict, low) != NULL, is_low);
        assert_int_equal (find_text (verdict, "A power cap of ") != NULL, is_low);
        n_board += is_told && !board->clock.is_measured;
        n_low += is_low;
        n_none += is_told && board->clock.is_measured && !is_low;
      }
  }
  assert_true (n_board > 0 && n_low > 0 && n_none > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_cap_is_a_share_of_the_board),
    cmocka_unit_test (a_board_keeps_to_what_it_can),
    cmocka_unit_test (caps_that_nobody_measured_are_told),
  };

  return play_run_tests ("power_cap", tests, &catalog);
}
