/* SPDX-License-Identifier: Apache-2.0 */
/* test_spread.c - several seeds of one scenario: which play is shown, its ends, which differences count, and which
 * variants are played with several seeds at all. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/study/study.h"
#include "sim/study/target.h"
#include "tests/support/play.h"

static const char scenario_path[] = FAB_SOURCE_DIR "/scenarios/fabric-ddp-ecmp.yaml";

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

/* Of plays with these steps, exposed for half of them. */
static FabPoint *
join (const double *steps_s, guint n)
{
  GPtrArray *draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

  for (guint i = 0; i < n; i++) {
    FabPoint *draw = g_new0 (FabPoint, 1);

    draw->step_s = steps_s[i];
    draw->exposed_s = steps_s[i] / 2;
    g_ptr_array_add (draws, draw);
  }
  return fab_spread_join (draws);
}

/* Of 5, 1, 4, 2 in order 1, 2, 4, 5: number ceil (4 / 2) is 2. */
static void
the_median_is_a_play (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = join ((const double[]){ 5, 1, 4, 2 }, 4);
  FabSpread step = fab_spread_of (fab_figure_find ("step"), point);

  assert_true (point->step_s == 2 && point->exposed_s == 1);
  assert_true (step.n == 4 && step.low == 1 && step.median == 2 && step.high == 5);
}

static void
one_play_has_no_spread (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = join ((const double[]){ 3 }, 1);
  FabSpread step = fab_spread_of (fab_figure_find ("step"), point);

  assert_null (point->draws);
  assert_true (step.n == 1 && step.low == 3 && step.median == 3 && step.high == 3);
}

/* Seed by seed: 4 - 2, 5 - 4 and 7 - 6 are all above 0, although the ranges 2 to 6 and 4 to 7 overlap. */
static void
a_difference_counts_by_its_sign_with_each_seed (G_GNUC_UNUSED void **state)
{
  const FabFigure *step = fab_figure_find ("step");
  g_autoptr (FabPoint) base = join ((const double[]){ 2, 4, 6 }, 3);
  g_autoptr (FabPoint) slower = join ((const double[]){ 4, 5, 7 }, 3);
  g_autoptr (FabPoint) mixed = join ((const double[]){ 1, 5, 7 }, 3),
                       single = join ((const double[]){ 1 }, 1);
  FabDifference all = fab_spread_difference (step, base, slower),
                change = fab_spread_change (step, base, slower);

  assert_true (all.counts && all.n == 3 && all.low == 1 && all.median == 1 && all.high == 2);
  assert_true (change.counts && fabs (change.low - 1.0 / 6) < 1e-12 && change.high == 1);
  assert_false (fab_spread_difference (step, base, mixed).counts);
  assert_false (fab_spread_difference (step, base, base).counts);
  assert_true (fab_spread_difference (step, base, single).counts); /* 1 with every seed */
}

static void
a_target_is_met_with_every_seed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPoint) point = join ((const double[]){ 2, 4, 6 }, 3);
  FabTarget most, least;

  assert_true (fab_target_parse ("step<=5s", &most, NULL) && fab_target_parse ("step>=2s", &least, NULL));
  assert_false (fab_target_is_met (&most, point)); /* 4 s in the median */
  assert_true (fabs (fab_target_gap (&most, point) - 0.2) < 1e-12);
  assert_true (fab_target_is_met (&least, point));
}

/* Plays the scenario with an assignment, and returns the number of seeds. */
static guint
count_draws (const char *set, guint n_seeds)
{
  const char *const base[] = { "iterations=1", "cluster.nodes=8", NULL }, *const edit[] = { set, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStudy) study = fab_study_new (scenario_path, base, catalog, &fab_models, &error);
  g_autoptr (FabEdits) edits = fab_edits_of (edit);
  FabTry trial = { .edits = edits };
  FabTry *tries[] = { &trial };

  g_assert_no_error (error);
  study->n_seeds = n_seeds;
  assert_true (fab_study_play (study, tries, 1, &error) && trial.point != NULL);
  guint n = trial.point->draws != NULL ? trial.point->draws->len : 1;
  fab_try_clear (&trial);
  return n;
}

/* ECMP over several spines depends on the seed, one over a single switch and the shortest path do not, and who sets the
 * seed asks for one. */
static void
what_depends_on_the_seed_is_played_with_several (G_GNUC_UNUSED void **state)
{
  assert_int_equal (count_draws ("cluster.route=ecmp", FAB_SPREAD_AUTO), FAB_DRAWS);
  assert_int_equal (count_draws ("cluster.route.seed=3", FAB_SPREAD_AUTO), FAB_DRAWS);
  assert_int_equal (count_draws ("cluster.fabric=switch", FAB_SPREAD_AUTO), 1);
  assert_int_equal (count_draws ("cluster.route=shortest", FAB_SPREAD_AUTO), 1);
  assert_int_equal (count_draws ("seed=3", FAB_SPREAD_AUTO), 1);
  assert_int_equal (count_draws ("cluster.route=ecmp", 1), 1);
  assert_int_equal (count_draws ("cluster.route=shortest", 3), 3);
}

/* One draw warns that there are others; eight say how far they spread, and nothing where all are the same. */
static void
the_verdict_says_how_far_it_spreads (G_GNUC_UNUSED void **state)
{
  const char *const base[] = { "iterations=1", "cluster.nodes=8", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStudy) study = fab_study_new (scenario_path, base, catalog, &fab_models, &error);

  g_assert_no_error (error);
  for (guint n = 1; n <= 8; n += 7) {
    study->n_seeds = n;
    g_autoptr (FabPoint) point = fab_study_point (study, &error);
    const FabFinding *spread = fab_verdict_find (point->verdict, FAB_FINDING_SPREAD);

    assert_non_null (spread);
    assert_true (g_str_has_prefix (spread->text, n == 1 ? "The figures are those of one seed"
                                                        : "With 8 seeds the step is "));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_median_is_a_play),
    cmocka_unit_test (one_play_has_no_spread),
    cmocka_unit_test (a_difference_counts_by_its_sign_with_each_seed),
    cmocka_unit_test (a_target_is_met_with_every_seed),
    cmocka_unit_test (the_verdict_says_how_far_it_spreads),
    cmocka_unit_test (what_depends_on_the_seed_is_played_with_several),
  };

  return cmocka_run_group_tests_name ("spread", tests, load_catalog, drop_catalog);
}
