/* SPDX-License-Identifier: Apache-2.0 */
/* test_sides.c - runs side by side: played once each, named, held against one of them. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/study/spread.h"
#include "answer/variants/side.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/run/run.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabStudy *study;

static FabEdits *
edits_of (const char *first)
{
  return fab_edits_of ((const char *[]){ first, NULL });
}

static GPtrArray *
sides_of (const char *first, const char *second)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new (NULL, study, edits_of (first)));
  g_ptr_array_add (sides, fab_side_new ("second", study, edits_of (second)));
  fab_sides_play (sides);
  return sides;
}

/* HDR of a DGX A100: 200 Gb/s, 25 GB/s; a rate that is set wins. */
static void
a_side_knows_its_point_and_its_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) sides = sides_of ("cluster.nodes=2", "cluster.nic_rate=100Gb/s");
  const FabSide *first = fab_sides_at (sides, 0), *second = fab_sides_at (sides, 1);
  g_autoptr (GError) error = NULL;

  assert_true (fab_sides_check (sides, &error));
  assert_string_equal (first->name, "hello");
  assert_string_equal (second->name, "second");
  assert_string_equal (second->variant->name, "second");
  assert_int_equal (first->point->n_nodes, 2);
  assert_near ((double) first->nic_bytes_per_s, 25e9, 1e-9);
  assert_int_equal (second->nic_bytes_per_s, 12500000000);
  assert_near (first->point->step_s, fab_variant_time_s (first->variant, FAB_FACT_STEP), 1e-12);
  assert_int_equal (g_array_index (first->variant->classes, FabVariantClass, 0).n_ranks, 16);
}

/* The base is counted among those that were played. */
static void
what_cannot_be_played_has_a_problem (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) sides = sides_of ("cluster.nodes=0", "cluster.nodes=1");
  g_autoptr (GError) error = NULL;

  assert_false (fab_sides_check (sides, &error));
  assert_non_null (strstr (error->message, "cluster.nodes=0"));
  assert_null (fab_sides_at (sides, 0)->point);
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, 1);
  assert_int_equal (contrast->variants->len, 1);
  assert_int_equal (contrast->base, 0);
  assert_string_equal (fab_contrast_variant (contrast, 0)->name, "second");
}

/* Who waits sees as many plays to come as there are, and each when it has ended: one of each side that can be played,
 * and more where the seed counts. A side that has its point already is not played again. */
static void
plays_are_counted (G_GNUC_UNUSED void **state)
{
  FabPulse pulse = { 0 };
  g_autoptr (FabStudy) counted = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                                &fab_models, NULL);
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  counted->pulse = &pulse;
  g_ptr_array_add (sides, fab_side_new (NULL, counted, edits_of ("cluster.nodes=2")));
  g_ptr_array_add (sides, fab_side_failed ("none.yaml",
                                           g_error_new (FAB_ERROR, FAB_ERROR_INPUT, "it is not there")));
  fab_sides_play (sides);
  assert_int_equal (pulse.n_known, 1);
  assert_int_equal (pulse.n_done, 1);
  g_ptr_array_add (sides, fab_side_new (NULL, counted, edits_of ("cluster.nodes=1")));
  fab_sides_play (sides);
  assert_int_equal (pulse.n_known, 2);
  assert_int_equal (pulse.n_done, 2);
  counted->n_seeds = 3;
  g_ptr_array_add (sides, fab_side_new (NULL, counted, edits_of ("cluster.route=ecmp")));
  fab_sides_play (sides);
  guint n = fab_spread_n_seeds (fab_sides_at (sides, 3)->point);
  assert_int_equal (pulse.n_known, 2 + n);
  assert_int_equal (pulse.n_done, 2 + n);
}

/* --- one side --- */

/* A column has what the probe of its last iteration has: ranks by class with what they waited, collectives one by one,
 * tokens, events, and what collectives held kernels back by. */
static void
a_variant_is_what_was_recorded (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, &fab_models, NULL, NULL, NULL);
  g_autoptr (FabVariant) made = fab_variant_of (scenario, simulation);
  const FabProbe *probe = fab_simulation_probe (simulation);
  const FabDag *dag = fab_simulation_dag (simulation);
  guint n_ranks = 0;

  assert_string_equal (made->name, "fluid");
  assert_string_equal (made->fidelity, "fluid");
  assert_string_equal (made->scenario, "hello");
  assert_int_equal (made->classes->len, probe->iterations->len);
  for (guint i = 0; i < made->classes->len; i++) {
    const FabVariantClass *one = &g_array_index (made->classes, FabVariantClass, i);
    const FabIterationRecord *record = &g_array_index (probe->iterations, FabIterationRecord, i);

    assert_int_equal (one->n_ranks, dag->classes[record->rank_class].n_ranks);
    assert_near (one->waited_s, fab_ps_to_seconds (record->exposed_ps) + fab_ps_to_seconds (record->idle_ps),
                 1e-12);
    n_ranks += one->n_ranks;
  }
  assert_int_equal (n_ranks, fab_cluster_n_ranks (fab_simulation_cluster (simulation)));
  assert_int_equal (made->collectives->len, probe->collectives->len);
  assert_true (made->collectives->len > 1);
  for (guint i = 0; i < made->collectives->len; i++) {
    const FabVariantCollective *one = &g_array_index (made->collectives, FabVariantCollective, i);
    const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);

    assert_string_equal (one->op, record->op);
    assert_string_equal (one->algorithm, record->algorithm);
    assert_int_equal (one->bytes, record->bytes);
    assert_near (one->time_s, fab_ps_to_seconds (record->end_ps) - fab_ps_to_seconds (record->start_ps),
                 1e-12);
  }
  assert_near (made->tokens, fab_simulation_totals (simulation)->tokens, 1e-9);
  assert_true (made->tokens > 0);
  assert_int_equal (made->n_events, fab_simulation_events (simulation));
  assert_true (made->n_events > 0);
  assert_near (made->slowed_s, fab_ps_to_seconds (fab_simulation_slowed_ps (simulation)), 1e-12);
  assert_near (fab_variant_time_s (made, FAB_FACT_STEP), fab_ps_to_seconds (probe->step.times.duration_ps),
               1e-12);
  assert_near (fab_variant_time_s (made, FAB_FACT_COMPUTE), fab_ps_to_seconds (probe->step.times.compute_ps),
               1e-12);
  assert_near (fab_variant_time_s (made, FAB_FACT_COMM), fab_ps_to_seconds (probe->step.times.comm_ps),
               1e-12);
  assert_near (fab_variant_time_s (made, FAB_FACT_OVERLAPPED),
               fab_ps_to_seconds (probe->step.times.overlapped_ps), 1e-12);
  assert_near (fab_variant_time_s (made, FAB_FACT_IDLE), fab_ps_to_seconds (probe->step.times.idle_ps),
               1e-12);
}

/* The facts of links are those of the records, each with its ends. What a variant does not have is 0. */
static void
links_are_busy_for_a_share_of_the_step (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, &fab_models, NULL, NULL, NULL);
  g_autoptr (FabVariant) made = fab_variant_of (scenario, simulation);
  const GArray *loads = fab_simulation_probe (simulation)->link_loads;
  guint n = 0;

  for (guint i = 0; i < made->facts->len; i++) {
    const FabFact *fact = &g_array_index (made->facts, FabFact, i);

    assert_true (i == 0 || g_array_index (made->facts, FabFact, i - 1).kind <= fact->kind);
    if (fact->kind != FAB_FACT_LINK)
      continue;
    const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, n++);
    assert_non_null (strstr (fact->name, " -> "));
    assert_near (fact->time_s, load->busy_fraction * fab_variant_time_s (made, FAB_FACT_STEP), 1e-12);
  }
  assert_int_equal (n, loads->len);
  assert_true (n > 0);
  FabVariant empty = { .facts = g_array_new (FALSE, FALSE, sizeof (FabFact)) };
  assert_true (fab_variant_time_s (&empty, FAB_FACT_STEP) == 0
               && fab_variant_sum_s (&empty, FAB_FACT_LINK) == 0);
  g_array_unref (empty.facts);
}

/* A play by itself says how long it took on the clock. */
static void
a_play_is_timed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);
  gint64 begin_us = g_get_monotonic_time ();
  g_autoptr (FabVariant) made = fab_variant_play (scenario, &fab_models, NULL);
  double all_s = (double) (g_get_monotonic_time () - begin_us) / 1e6;

  assert_true (made->wall_s > 0 && made->wall_s <= all_s);
  assert_non_null (made->verdict);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_side_knows_its_point_and_its_parts),
    cmocka_unit_test (what_cannot_be_played_has_a_problem),
    cmocka_unit_test (plays_are_counted),
    cmocka_unit_test (a_variant_is_what_was_recorded),
    cmocka_unit_test (links_are_busy_for_a_share_of_the_step),
    cmocka_unit_test (a_play_is_timed),
  };
  catalog = play_catalog ();
  study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog, &fab_models, NULL);
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_study_free (study);
  fab_catalog_free (catalog);
  return failed;
}
