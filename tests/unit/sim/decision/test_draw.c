/* SPDX-License-Identifier: Apache-2.0 */
/* test_draw.c - the draws of a scenario, which of them is the median, and what a play of one says. */
#include "sim/decision/draw.h"

#include <stdlib.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define COLLECTIVE                        \
  "cluster: {node: dgx-a100, nodes: 1}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n"
#define ALONE                                                          \
  "cluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"            \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024,\n" \
  "  compute: {kind: mfu, mfu: 40%}}\n"

static gint64
seed_of (const FabScenario *scenario)
{
  return fab_scenario_spec (scenario)->seed;
}

/* Draw i has the seed + i, up to the largest number that a seed can be. */
static void
draws_count_on_from_the_seed (G_GNUC_UNUSED void **state)
{
  static const gint64 seeds[] = { 1, 7, G_MAXINT64 - 2 };

  for (guint s = 0; s < G_N_ELEMENTS (seeds); s++) {
    g_autofree char *yaml = g_strdup_printf ("name: a\nseed: %" G_GINT64_FORMAT "\n" COLLECTIVE, seeds[s]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    for (guint i = 0; i < 5; i++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (FabScenario) draw = fab_draw_of (play->scenario, i, &error);

      if (seeds[s] <= G_MAXINT64 - (gint64) i)
        assert_int_equal (seed_of (draw), seeds[s] + i);
      else {
        assert_null (draw);
        assert_non_null (error);
      }
    }
    assert_int_equal (seed_of (play->scenario), seeds[s]);
  }
}

static void
long_plays_have_one_draw (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_draw_count (TRUE, 0), FAB_DRAWS);
  assert_int_equal (fab_draw_count (TRUE, FAB_DRAW_EVENTS), FAB_DRAWS);
  assert_int_equal (fab_draw_count (TRUE, FAB_DRAW_EVENTS + 1), 1);
  assert_int_equal (fab_draw_count (FALSE, 0), 1);
}

static int
by_length (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* Of n steps, number ceil (n / 2) in ascending order; of equal ones, the one of the earliest seed comes first. */
static void
the_median_is_one_of_the_draws (G_GNUC_UNUSED void **state)
{
  static const double steps_s[][7] = { { 1, 2, 3, 4, 5, 6, 7 }, { 7, 6, 5, 4, 3, 2, 1 },
                                       { 3, 1, 2, 3, 1, 2, 3 }, { 5, 5, 5, 5, 5, 5, 5 },
                                       { 2, 9, 2, 9, 2, 9, 2 }, { 4, 4, 1, 4, 7, 7, 4 } };

  for (guint row = 0; row < G_N_ELEMENTS (steps_s); row++)
    for (guint n = 1; n <= 7; n++) {
      double sorted[7];
      guint found = fab_draw_median (steps_s[row], n), n_before = 0;

      memcpy (sorted, steps_s[row], n * sizeof (double));
      qsort (sorted, n, sizeof (double), by_length);
      assert_true (found < n);
      assert_near (steps_s[row][found], sorted[(n + 1) / 2 - 1], 0);
      for (guint i = 0; i < n; i++)
        n_before += steps_s[row][i] < steps_s[row][found]
                 || (i < found && steps_s[row][i] <= steps_s[row][found]);
      assert_int_equal (n_before, (n + 1) / 2 - 1);
    }
}

/* Networks that send messages, or ask one that does, are played as flows; the others are quick as they are. */
static void
slow_networks_are_played_as_flows (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *fidelity;
    gboolean is_slow;
  } rows[] = { { "fluid", FALSE }, { "analytic", FALSE }, { "packet", TRUE }, { "sampled", TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf ("name: a\nfidelity: %s\n" COLLECTIVE, rows[i].fidelity);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (FabScenario) fast = fab_draw_fast (play->scenario, &fab_models);

    assert_int_equal (fast != NULL, rows[i].is_slow);
    if (fast != NULL)
      assert_string_equal (fab_scenario_spec (fast)->fidelity.info->name, "fluid");
    assert_string_equal (fab_scenario_spec (play->scenario)->fidelity.info->name, rows[i].fidelity);
  }
}

/* One GPU alone does nothing but its kernels: they take the step. A collective alone has none and is all exposed. */
static void
work_is_what_kernels_take (G_GNUC_UNUSED void **state)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) alone = play_new (catalog, "name: a\n" ALONE, NULL),
                   collective = play_new (catalog, "name: a\n" COLLECTIVE, NULL);
  FabDrawTimes times;

  assert_true (fab_draw_play (&env, alone->scenario, NULL, &times, NULL));
  assert_true (times.step_s > 0);
  assert_near (times.work_s, times.step_s, 1e-9);
  assert_near (times.exposed_s, 0, 0);
  assert_true (fab_draw_play (&env, collective->scenario, NULL, &times, NULL));
  assert_true (times.step_s > 0);
  assert_near (times.work_s, 0, 0);
  assert_near (times.exposed_s, times.step_s, 1e-9);
}

/* Of all networks the one that shares links, sends no messages and is sampled on no other is the fast one, whatever the
 * order of the list. */
static void
the_fast_network_is_one_of_flows (G_GNUC_UNUSED void **state)
{
  static const FabModelInfo *const nets[] = { &fab_net_analytic.info, &fab_net_packet.info,
                                              &fab_net_sampled.info, &fab_net_fluid.info, NULL },
                                   *const slow[] = { &fab_net_packet.info, &fab_net_sampled.info, NULL };
  g_autoptr (Play) play = play_new (catalog,
                                    "name: a\nfidelity: packet\ncluster: {node: dgx-a100, nodes: 2}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                    NULL);
  FabRegistry models = fab_models;

  models.lists[FAB_MODEL_NET] = nets;
  g_autoptr (FabScenario) fast = fab_draw_fast (play->scenario, &models);
  assert_string_equal (fab_scenario_spec (fast)->fidelity.info->name, "fluid");
  models.lists[FAB_MODEL_NET] = slow;
  assert_null (fab_draw_fast (play->scenario, &models));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (draws_count_on_from_the_seed),   cmocka_unit_test (long_plays_have_one_draw),
    cmocka_unit_test (the_median_is_one_of_the_draws), cmocka_unit_test (slow_networks_are_played_as_flows),
    cmocka_unit_test (work_is_what_kernels_take),      cmocka_unit_test (the_fast_network_is_one_of_flows),
  };

  return play_run_tests ("draw", tests, &catalog);
}
