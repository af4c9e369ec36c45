/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_sides.c - bottlenecks and bands of the points of a study: which are looked for, with how many seeds, and
 * how two variants are compared. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/study/study_band.h"
#include "sim/study/study_bottleneck.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define ALONE(rest_)                                                                                     \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"                      \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 0.4}" rest_ \
  "}\n"

static FabStudy *
study_of (const char *yaml, guint n_seeds)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabStudy *study = fab_study_of ("a", play->scenario, catalog, &fab_models);

  study->n_threads = 1;
  study->n_seeds = n_seeds;
  return study;
}

/* Of points that were played, have none yet and are not too large to play again. */
static void
bottlenecks_are_found_where_that_is_quick (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (ALONE (""), 1);
  FabTry tries[6] = { { .edits = NULL } };
  FabTry *all[G_N_ELEMENTS (tries)];
  FabPulse pulse = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (tries); i++) {
    all[i] = &tries[i];
    if (i != 1)
      tries[i].point = fab_study_point (study, NULL);
  }
  FabBottleneck *known = fab_bottleneck_new ();
  tries[2].point->step_s = 0;
  tries[3].point->bottleneck = known;
  tries[4].point->n_events = FAB_BOTTLENECK_EVENTS + 1;
  tries[5].point->n_events = FAB_BOTTLENECK_EVENTS;
  study->pulse = &pulse;
  fab_study_find_bottlenecks (study, all, G_N_ELEMENTS (all));
  assert_int_equal (pulse.n_known, 2);
  assert_int_equal (pulse.n_done, 2);
  assert_string_equal (fab_bottleneck_name (tries[0].point->bottleneck), "compute");
  assert_int_equal (tries[0].point->bottleneck->n_draws, 1);
  assert_int_equal (fab_verdict_waits_for (tries[0].point->verdict)->code, FAB_FINDING_WAITS_FOR_COMPUTE);
  assert_null (tries[2].point->bottleneck);
  assert_ptr_equal (tries[3].point->bottleneck, known);
  assert_null (tries[4].point->bottleneck);
  assert_non_null (tries[5].point->bottleneck);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    fab_try_clear (&tries[i]);
}

/* That of one point has as many draws as the point: it is found again where it has others, and left where it has as
 * many. Where a study leaves the number open, a job that draws has the usual number. */
static void
a_bottleneck_has_the_draws_of_its_point (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *more;
    guint n_seeds, n_draws;
  } rows[] = { { ", jitter: {cv: 5%}", 3, 3 },
               { ", jitter: {cv: 5%}", 1, 1 },
               { ", jitter: {cv: 5%}", FAB_SPREAD_AUTO, FAB_DRAWS },
               { "", FAB_SPREAD_AUTO, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (ALONE ("%s"), rows[i].more);
    g_autoptr (FabStudy) study = study_of (yaml, rows[i].n_seeds);
    g_autoptr (FabPoint) point = fab_study_point (study, NULL);

    fab_study_find_bottleneck (study, NULL, point);
    const FabBottleneck *found = point->bottleneck;
    assert_int_equal (found->n_draws, rows[i].n_draws);
    fab_study_find_bottleneck (study, NULL, point);
    assert_ptr_equal (point->bottleneck, found);
    point->bottleneck->n_draws = 2;
    fab_study_find_bottleneck (study, NULL, point);
    assert_int_equal (point->bottleneck->n_draws, rows[i].n_draws);
  }
  g_autoptr (FabStudy) study = study_of (ALONE (""), 1);
  FabPoint unplayed = { .step_s = 0 };
  fab_study_find_bottleneck (study, NULL, &unplayed);
  assert_null (unplayed.bottleneck);
}

/* A point that was not played has no band. Seeds widen it to the shortest and the longest step at least. */
static void
a_band_holds_all_seeds (G_GNUC_UNUSED void **state)
{
  const FabFigure *step[] = { fab_figure_find ("step") };
  const FabBandFigures figures = { step, 1 };
  g_autoptr (FabStudy) study = study_of (ALONE (", jitter: {cv: 20%}"), 4);
  g_autoptr (FabPoint) point = fab_study_point (study, NULL);
  FabSpread spread = fab_spread_of (step[0], point);
  FabPoint unplayed = { .step_s = 0 };
  FabBand *none = NULL;
  g_autoptr (FabBand) band = NULL;

  assert_true (fab_study_band (study, NULL, &unplayed, &figures, &none, NULL));
  assert_null (none);
  assert_true (fab_study_band (study, NULL, point, &figures, &band, NULL));
  assert_true (spread.low < point->step_s && point->step_s < spread.high);
  assert_true (band->low[0] <= spread.low && spread.high <= band->high[0]);
  assert_true (band->low[0] > 0.5 * spread.low && band->high[0] < 2 * spread.high && spread.high < 0.5);
}

/* Each side has the steps of its draws, and a side does not differ from itself. Twice the batch takes longer. */
static void
variants_are_compared_draw_by_draw (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (ALONE (", jitter: {cv: 5%}"), 3);
  g_autoptr (FabEdits) twice = fab_edits_of ((const char *[]){ "job.micro_batch=2", NULL });
  g_autoptr (FabStudy) edited = fab_study_edited (study, twice);
  g_autoptr (FabPoint) one = fab_study_point (study, NULL), two = fab_study_point (edited, NULL);
  g_auto (FabStudySide) side = { 0 };
  FabPairedBand same, other;

  assert_true (fab_study_side_init (&side, study, NULL, one, NULL));
  assert_int_equal (side.side.n_draws, 3);
  for (guint i = 0; i < 3; i++)
    assert_near (side.side.steps_s[i], ((const FabPoint *) g_ptr_array_index (one->draws, i))->step_s, 0);
  const FabVariantOf base = { study, NULL, one }, larger = { study, twice, two };
  assert_true (fab_study_compare (&base, &base, &same, NULL));
  assert_true (fab_study_compare (&base, &larger, &other, NULL));
  assert_near (same.change.median, 0, 0);
  assert_true (fabs (same.low_fraction) < 1e-9 && fabs (same.high_fraction) < 1e-9);
  assert_int_equal (other.change.n, 3);
  assert_int_equal (other.change.n_more, 3);
  assert_true (other.change.median > 0.5);
}

/* A point without draws is a side of one draw, and what cannot be a scenario is none. */
static void
a_side_has_one_draw_at_least (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (ALONE (""), 1);
  g_autoptr (FabEdits) wrong = fab_edits_of ((const char *[]){ "job.micro_batch=none", NULL });
  g_autoptr (FabPoint) point = fab_study_point (study, NULL);
  g_auto (FabStudySide) side = { 0 }, none = { 0 };
  g_autoptr (GError) error = NULL, again = NULL;
  FabPairedBand band;

  assert_true (fab_study_side_init (&side, study, NULL, point, NULL));
  assert_int_equal (side.side.n_draws, 1);
  assert_ptr_equal (side.side.steps_s, side.steps_s);
  assert_ptr_equal (side.side.scenario, side.scenario);
  assert_near (side.steps_s[0], point->step_s, 0);
  assert_false (fab_study_side_init (&none, study, wrong, point, &error));
  assert_non_null (strstr (error->message, "micro_batch"));
  const FabVariantOf good = { study, NULL, point }, bad = { study, wrong, point };
  assert_false (fab_study_compare (&good, &bad, &band, &again));
  assert_string_equal (again->message, error->message);
}

/* A step that is one message over a port that is known to 20 %: the band of both figures, which are the same, reaches
 * to what the message takes at either end at least. */
static void
a_band_is_around_the_figures (G_GNUC_UNUSED void **state)
{
  const FabFigure *both[] = { fab_figure_find ("step"), fab_figure_find ("exposed_time") };
  const FabBandFigures figures = { both, 2 };
  g_autoptr (FabStudy) study = study_of (
      "name: a\niterations: 1\ncollectives: plain\n"
      "links: [{name: unsure, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us,\n"
      "  uncertainty: {rate: 20%}}]\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: unsure, fabric: switch}\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n",
      1);
  g_autoptr (FabPoint) point = fab_study_point (study, NULL);
  g_autoptr (FabBand) band = NULL;

  assert_near (point->exposed_s, point->step_s, 1e-9);
  assert_true (fab_study_band (study, NULL, point, &figures, &band, NULL));
  for (guint i = 0; i < 2; i++) {
    assert_true (band->low[i] <= 1.001 * point->step_s / 1.2 && band->low[i] > 0.1 * point->step_s);
    assert_true (band->high[i] >= 0.999 * point->step_s / 0.8 && band->high[i] < 10 * point->step_s);
  }
  /* Somebody cancels the study, or its scenario cannot be: there is no band then. */
  g_autoptr (FabEdits) wrong = fab_edits_of ((const char *[]){ "cluster.nodes=none", NULL });
  g_autoptr (GError) cancelled = NULL, refused = NULL;
  FabBand *none = band;
  const gint cancel = 1;
  assert_false (fab_study_band (study, wrong, point, &figures, &none, &refused));
  assert_non_null (strstr (refused->message, "nodes"));
  assert_null (none);
  study->cancel = &cancel;
  none = band;
  assert_false (fab_study_band (study, NULL, point, &figures, &none, &cancelled));
  assert_true (g_error_matches (cancelled, FAB_ERROR, FAB_ERROR_CANCELLED));
  assert_null (none);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bottlenecks_are_found_where_that_is_quick),
    cmocka_unit_test (a_bottleneck_has_the_draws_of_its_point),
    cmocka_unit_test (a_band_holds_all_seeds),
    cmocka_unit_test (variants_are_compared_draw_by_draw),
    cmocka_unit_test (a_side_has_one_draw_at_least),
    cmocka_unit_test (a_band_is_around_the_figures),
  };

  return play_run_tests ("study_sides", tests, &catalog);
}
