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

/* Steps of 2, 4 and 6 s. `most` is met with every seed where the longest is short enough, and with some where the
 * shortest is; the gap is that of the worst seed or of the middle one, over the bound. A target that nobody knows is
 * met by none, and of several the worst counts. */
static void
some_seeds_may_meet_a_target (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *texts[2];
    guint n;
    gboolean by_all, by_some;
    double gap, middle;
  } rows[] = {
    { { "step<=6s" }, 1, TRUE, TRUE, 0, (4.0 - 6) / 6 },
    { { "step<=5s" }, 1, FALSE, TRUE, 0.2, -0.2 },
    { { "step<=2s" }, 1, FALSE, TRUE, 2, 1 },
    { { "step<=1s" }, 1, FALSE, FALSE, 5, 3 },
    { { "step>=2s" }, 1, TRUE, TRUE, 0, -1 },
    { { "step>=5s" }, 1, FALSE, TRUE, 0.6, 0.2 },
    { { "step>=6s" }, 1, FALSE, TRUE, (6.0 - 2) / 6, (6.0 - 4) / 6 },
    { { "step>=7s" }, 1, FALSE, FALSE, 5.0 / 7, 3.0 / 7 },
    { { "step<=0s" }, 1, FALSE, FALSE, 6, 4 }, /* no fraction of nothing */
    { { "step<=7s", "step<=5s" }, 2, FALSE, TRUE, 0.2, -0.2 },
    { { "step<=5s", "step<=7s" }, 2, FALSE, TRUE, 0.2, -0.2 },
    { { "step<=7s", "step<=1s" }, 2, FALSE, FALSE, 5, 3 },
    { { "step<=7s", "mfu>=1%" }, 2, FALSE, FALSE, G_MAXDOUBLE, G_MAXDOUBLE },
    { { "step<=1s" }, 0, TRUE, TRUE, -G_MAXDOUBLE, -G_MAXDOUBLE },
  };
  g_autoptr (FabPoint) point = join ((const double[]){ 2, 6, 4 }, 3);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabTarget targets[2];

    for (guint k = 0; k < rows[i].n; k++)
      assert_true (fab_target_parse (rows[i].texts[k], &targets[k], NULL));
    assert_int_equal (fab_targets_are_met (targets, rows[i].n, point), rows[i].by_all);
    assert_int_equal (fab_targets_are_met_by_some (targets, rows[i].n, point), rows[i].by_some);
    assert_near (fab_targets_gap (targets, rows[i].n, point), rows[i].gap, 1e-12);
    assert_near (fab_targets_middle_gap (targets, rows[i].n, point), rows[i].middle, 1e-12);
    if (rows[i].n == 1)
      assert_near (fab_target_worst (&targets[0], point), targets[0].is_most ? 6 : 2, 0);
  }
}

/* A verdict that warns of one seed is told how far all spread, and of a spread that is none nothing is said; one that
 * does not warn stays. */
static void
the_warning_of_one_seed_gives_way_to_the_spread (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean warns;
    double steps_s[2];
    const char *text;
  } rows[] = {
    { TRUE,
      { 2, 1 },
      "With 2 seeds the step is 1 s to 2 s; the figures are those of the seed with the median step." },
    { TRUE, { 2, 2 }, NULL },
    { FALSE, { 2, 1 }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GPtrArray *draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

    for (guint k = 0; k < 2; k++) {
      FabPoint *draw = g_new0 (FabPoint, 1);

      draw->step_s = rows[i].steps_s[k];
      draw->verdict = fab_verdict_new ();
      fab_verdict_add (draw->verdict, FAB_FINDING_CHOICE, g_strdup ("A choice."), NULL);
      if (rows[i].warns)
        fab_verdict_add (draw->verdict, FAB_FINDING_SPREAD, g_strdup ("There are others."), NULL);
      g_ptr_array_add (draws, draw);
    }
    g_autoptr (FabPoint) point = fab_spread_join (draws);
    const FabFinding *spread = fab_verdict_find (point->verdict, FAB_FINDING_SPREAD);
    assert_non_null (fab_verdict_find (point->verdict, FAB_FINDING_CHOICE));
    assert_int_equal (fab_verdict_n (point->verdict), rows[i].text != NULL ? 2 : 1);
    assert_true ((spread != NULL) == (rows[i].text != NULL));
    if (spread != NULL)
      assert_string_equal (spread->text, rows[i].text);
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
    cmocka_unit_test (some_seeds_may_meet_a_target),
    cmocka_unit_test (the_warning_of_one_seed_gives_way_to_the_spread),
  };

  return cmocka_run_group_tests_name ("spread", tests, load_catalog, drop_catalog);
}
