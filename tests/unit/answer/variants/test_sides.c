/* SPDX-License-Identifier: Apache-2.0 */
/* test_sides.c - runs side by side: played once each, named, held against one of them. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/study/spread.h"
#include "answer/variants/side.h"
#include "sim/run/run.h"
#include "tests/support/failing.h"
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

/* Several ranks that do not do the same, and collectives of several kinds, some of which wait for a slow rank. */
#define PARTS                                                                                              \
  "name: parts\niterations: 2\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4, nics_per_node: 2}\n"  \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 1024, heads: 8, vocabulary: 1000, tied: false, biases: false}}]\n"                              \
  "job: {kind: megatron, model: m, micro_batch: 1, sequence: 512, accumulation: 4, parallel: {tensor: 2, " \
  "pipeline: 2}, jitter: {cv: 5%}, compute: {kind: mfu, mfu: 40%}}\n"

/* The facts of a kind that this name begins. */
static double
sum_named (const FabVariant *self, FabFactKind kind, const char *begin, guint *n)
{
  double sum_s = 0;

  *n = 0;
  for (guint i = 0; i < self->facts->len; i++) {
    const FabFact *fact = &g_array_index (self->facts, FabFact, i);

    if (fact->kind != kind || !g_str_has_prefix (fact->name, begin))
      continue;
    sum_s += fact->time_s;
    *n += fact->n;
  }
  return sum_s;
}

/* What a dimension exposes is the mean over all ranks, and has as many collectives as its records. */
static void
exposures_are_means_over_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, PARTS, NULL);
  while (fab_simulation_step (play->simulation)) {}
  g_autoptr (FabVariant) made = fab_variant_of (play->scenario, play->simulation);
  const GArray *exposures = fab_simulation_probe (play->simulation)->exposures;
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n_dimensions = 0, n_classes = 0;

  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    double sum_s = 0;
    guint n = 0, n_told;

    for (guint i = 0; i < exposures->len; i++) {
      const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

      if (strcmp (record->dimension, fab_dimension_names[d]) != 0)
        continue;
      sum_s += (double) record->exposed_ps / 1e12 * dag->classes[record->rank_class].n_ranks / 8;
      n += record->n_collectives;
      n_classes = MAX (n_classes, record->rank_class + 1);
    }
    assert_near (sum_named (made, FAB_FACT_EXPOSED_BY, fab_dimension_names[d], &n_told) + 1, sum_s + 1,
                 1e-12);
    assert_int_equal (n_told, n);
    n_dimensions += n > 0;
  }
  assert_true (n_dimensions >= 3 && n_classes > 1);
}

/* A sort has the times of its collectives: from the last arrival to the end, what of that an idle network would not
 * have taken, and from the first arrival to the last. Its name says the dimension, the operation and the algorithm. */
static void
sorts_are_sums_of_collectives (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, PARTS, NULL);
  while (fab_simulation_step (play->simulation)) {}
  g_autoptr (FabVariant) made = fab_variant_of (play->scenario, play->simulation);
  const GArray *records = fab_simulation_probe (play->simulation)->collectives;
  const FabDag *dag = fab_simulation_dag (play->simulation);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n_told;

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *one = &g_array_index (records, FabCollectiveRecord, i);
    gboolean is_other = strcmp (one->dimension, "other") == 0; /* which is not said */
    g_autofree char *name = g_strdup_printf ("%s%s%s %s", is_other ? "" : one->dimension, is_other ? "" : " ",
                                             one->op, one->algorithm);
    double time_s = 0, more_s = 0, waited_s = 0;
    guint n = 0;

    if (!g_hash_table_add (names, g_strdup (name)))
      continue;
    for (guint k = 0; k < records->len; k++) {
      const FabCollectiveRecord *other = &g_array_index (records, FabCollectiveRecord, k);
      FabTimePs took_ps = other->end_ps - other->start_ps;

      if (strcmp (other->dimension, one->dimension) != 0 || strcmp (other->op, one->op) != 0
          || strcmp (other->algorithm, one->algorithm) != 0)
        continue;
      n++;
      time_s += (double) took_ps / 1e12;
      more_s += (double) (took_ps - fab_collective_plan_idle_ps (&dag->collectives[k].plan)) / 1e12;
      waited_s += (double) (other->start_ps - other->ready_ps) / 1e12;
    }
    assert_near (sum_named (made, FAB_FACT_COLLECTIVES, name, &n_told), time_s, 1e-9);
    assert_int_equal (n_told, n);
    assert_near (sum_named (made, FAB_FACT_CONTENTION, name, &n_told) + 1, more_s + 1, 1e-12);
    assert_int_equal (n_told, n);
    assert_near (sum_named (made, FAB_FACT_WAITING, name, &n_told) + 1, waited_s + 1, 1e-12);
    assert_int_equal (n_told, n);
  }
  assert_true (g_hash_table_size (names) >= 3);
  sum_named (made, FAB_FACT_COLLECTIVES, "", &n_told);
  assert_int_equal (n_told, records->len);
  assert_true (sum_named (made, FAB_FACT_WAITING, "", &n_told) > 0);
}

/* Where the seed counts, a side is its draw with the median step, of three: its point and its facts are of one play. */
static void
a_side_is_its_median_draw (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) jittery = play_study (catalog, PARTS);
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);
  double steps[3];

  jittery->n_seeds = 3;
  for (guint i = 0; i < 3; i++) {
    g_autoptr (FabScenario) scenario = fab_study_draw (jittery, NULL, i, NULL);
    g_autoptr (FabVariant) played = fab_variant_play (scenario, &fab_models, NULL);

    steps[i] = fab_variant_time_s (played, FAB_FACT_STEP);
  }
  double median = MAX (MIN (steps[0], steps[1]), MIN (MAX (steps[0], steps[1]), steps[2]));
  assert_true (steps[0] != steps[1] && steps[1] != steps[2] && steps[0] != steps[2]);
  g_ptr_array_add (sides, fab_side_new ("one", jittery, NULL));
  g_ptr_array_add (sides, fab_side_new ("other", jittery, edits_of ("iterations=1")));
  fab_sides_play (sides);
  const FabSide *side = fab_sides_at (sides, 0);
  assert_near (fab_variant_time_s (side->variant, FAB_FACT_STEP), median, 1e-12);
  assert_near (side->point->step_s, median, 1e-12);
  assert_int_equal (fab_spread_n_seeds (side->point), 3);
  assert_int_equal (fab_spread_n_seeds (fab_sides_at (sides, 1)->point), 3);
  assert_string_equal (fab_sides_at (sides, 1)->variant->name, "other");
}

/* Of the draws of a side the first that fails is its problem, and then it has no figures of the others. Each play makes
 * one network. */
static void
a_draw_that_fails_is_the_problem_of_its_side (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", PARTS, strlen (PARTS), NULL, failing_models (),
                                                         catalog, NULL);
  g_autoptr (FabStudy) failed = fab_study_of ("t", scenario, catalog, failing_models ());

  failed->n_seeds = 3;
  failed->n_threads = 1;
  for (guint at = 0; at <= 3; at++) {
    g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);
    g_autoptr (GError) error = NULL;

    failing_at (at, FAB_ERROR_BROKEN);
    g_ptr_array_add (sides, fab_side_new ("one", failed, NULL));
    fab_sides_play (sides);
    const FabSide *side = fab_sides_at (sides, 0);
    assert_int_equal (fab_sides_check (sides, &error), at == 0);
    assert_int_equal (side->point != NULL, at == 0);
    assert_int_equal (side->variant != NULL, at == 0);
    assert_int_equal (g_error_matches (side->problem, FAB_ERROR, FAB_ERROR_BROKEN), at > 0);
    assert_int_equal (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN), at > 0);
  }
}

/* A problem of one line is told with the name of its side, or else with its path; one of several lines names its file
 * itself. The first of several is told. */
static void
problems_name_their_side (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *message, *told;
  } cases[] = { { NULL, "it is not there", "none.yaml: it is not there" },
                { "second", "it is not there", "second: it is not there" },
                { "second", "none.yaml:1: a\nnone.yaml:2: b", "none.yaml:1: a\nnone.yaml:2: b" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);
    g_autoptr (GError) error = NULL;

    g_ptr_array_add (sides, fab_side_new ("good", study, NULL));
    g_ptr_array_add (sides, fab_side_failed ("none.yaml", g_error_new_literal (FAB_ERROR, FAB_ERROR_INPUT,
                                                                               cases[i].message)));
    g_ptr_array_add (sides,
                     fab_side_failed ("other.yaml", g_error_new_literal (FAB_ERROR, FAB_ERROR_INPUT, "no")));
    fab_sides_at (sides, 1)->name = g_strdup (cases[i].name);
    assert_false (fab_sides_check (sides, &error));
    assert_string_equal (error->message, cases[i].told);
    assert_string_equal (fab_sides_at (sides, 1)->problem->message, cases[i].message);
  }
  fab_side_free (NULL); /* of no side nothing is freed, and likewise below */
  fab_variant_free (NULL);
  fab_contrast_free (NULL);
}

/* A node without NICs has no rate of them. */
static void
a_node_without_nics_has_no_rate (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) bare = play_study (
      catalog,
      "name: t\nnodes: [{name: bare, accelerator: a100-sxm4-80gb, parts: [{name: gpu, kind: accelerator, count: "
      "2}, {name: cpu, kind: host}], wires: [{from: gpu, to: cpu, link: pcie4-x16}]}]\n"
      "cluster: {node: bare}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n");
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new (NULL, bare, NULL));
  fab_sides_play (sides);
  assert_true (fab_sides_check (sides, NULL));
  assert_int_equal (fab_sides_at (sides, 0)->nic_bytes_per_s, 0);
  assert_true (fab_sides_at (sides, 0)->point->step_s > 0);
}

/* The rate of NIC ports is that of the kind that the scenario names, or else of the node's. */
static void
nic_rates_are_those_of_the_kind (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) sides = sides_of ("cluster.nic=ib-ndr", "cluster.nodes=2");

  g_ptr_array_add (sides, fab_side_new ("third", study,
                                        fab_edits_of ((const char *[]){ "cluster.nic=ib-ndr",
                                                                        "cluster.nic_rate=100Gb/s", NULL })));
  fab_sides_play (sides);
  assert_near ((double) fab_sides_at (sides, 0)->nic_bytes_per_s, 50e9, 1e-9);
  assert_int_equal (fab_sides_at (sides, 2)->nic_bytes_per_s, 12500000000);
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
    cmocka_unit_test (exposures_are_means_over_ranks),
    cmocka_unit_test (sorts_are_sums_of_collectives),
    cmocka_unit_test (a_side_is_its_median_draw),
    cmocka_unit_test (a_draw_that_fails_is_the_problem_of_its_side),
    cmocka_unit_test (problems_name_their_side),
    cmocka_unit_test (a_node_without_nics_has_no_rate),
    cmocka_unit_test (nic_rates_are_those_of_the_kind),
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
