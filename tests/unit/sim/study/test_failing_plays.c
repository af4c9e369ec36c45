/* SPDX-License-Identifier: Apache-2.0 */
/* test_failing_plays.c - a study of which any play is cancelled, or breaks an invariant, has no result and says why. */
#include "tests/support/test.h"

#include "sim/study/growth.h"
#include "sim/study/plan.h"
#include "sim/study/scaling.h"
#include "sim/study/size.h"
#include "sim/study/upgrade.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define SENDS                                                                                                        \
  "name: t\niterations: 1\n"                                                                                         \
  "links:\n"                                                                                                         \
  "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us, uncertainty: {rate: 1%}}\n"  \
  "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: 12Gb/s, latency: 1us, uncertainty: {rate: 1%}}\n" \
  "products: [{name: card, kind: nic, link: quick, power_watts: 1}]\n"                                               \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n"             \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
/* --- what is asked --- */

static gboolean
ask_point (const FabStudy *study, GError **error)
{
  g_autoptr (FabPoint) point = fab_study_point (study, error);

  return point != NULL;
}

static gboolean
ask_growth (const FabStudy *study, GError **error)
{
  g_autoptr (GPtrArray) paths = fab_growth_find (study, 3, error);

  return paths != NULL;
}

static gboolean
ask_scaling (const FabStudy *study, GError **error)
{
  g_autoptr (FabAxis) gpus = fab_axis_parse ("gpus=2,4", NULL);
  g_autoptr (FabScaling) scaling = fab_scaling_play (
      study, &(FabScalingSpec){ .gpus = gpus, .bound = 0.5, .has_band = TRUE }, error);

  return scaling != NULL;
}

static gboolean
ask_upgrades (const FabStudy *study, GError **error)
{
  g_autoptr (FabUpgrades) all = fab_upgrades_find (
      study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC | 1U << FAB_UPGRADE_NODES }, error);

  return all != NULL;
}

static void
free_knob (gpointer data)
{
  fab_knob_free (data);
}

/* Over so many rates of two ports. */
static gboolean
tune (const FabStudy *study, guint n, GError **error)
{
  g_autoptr (GPtrArray) knobs = g_ptr_array_new_with_free_func (free_knob);
  FabKnob *ports = fab_knob_new ("port", "cluster.nic", ""),
          *rates = fab_knob_new ("rate", "cluster.nic_rate", "");

  fab_knob_add (ports, g_strdup ("slow"), fab_edits_of ((const char *[]){ "cluster.nic=slow", NULL }));
  fab_knob_add (ports, g_strdup ("quick"), fab_edits_of ((const char *[]){ "cluster.nic=quick", NULL }));
  for (guint i = 1; i <= n; i++) {
    g_autofree char *text = g_strdup_printf ("cluster.nic_rate=%uMb/s", 1000 + i);

    fab_knob_add (rates, g_strdup (text), fab_edits_of ((const char *[]){ text, NULL }));
  }
  g_ptr_array_add (knobs, ports);
  g_ptr_array_add (knobs, rates);
  g_autoptr (FabTune) found = fab_tune_find (study, knobs, fab_figure_find ("step"), 0, error);
  return found != NULL;
}

static gboolean
ask_grid (const FabStudy *study, GError **error)
{
  return tune (study, 3, error);
}

static gboolean
ask_search (const FabStudy *study, GError **error)
{
  return tune (study, FAB_TUNE_GRID, error);
}

static gboolean
ask_plan (const FabStudy *study, GError **error)
{
  GPtrArray *candidates = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_candidate_free);

  for (guint i = 0; i < 2; i++) {
    FabCandidate *one = fab_candidate_new ("ddp", i, 0);

    one->edits = fab_edits_of ((const char *[]){ i == 0 ? "cluster.nic=slow" : "cluster.nic=quick", NULL });
    g_ptr_array_add (candidates, one);
  }
  g_autoptr (FabPlan) plan = fab_plan_find (study, candidates, fab_figure_find ("step"), 0, error);
  return plan != NULL;
}

static gboolean
ask_size (const FabStudy *study, GError **error)
{
  g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nic_rate=8..10Gb/s:1", NULL);
  FabTarget target;

  assert_true (fab_target_parse ("step>=0s", &target, NULL));
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ axis, &target, 1 }, error);
  return size != NULL;
}

static gboolean
ask_ports (const FabStudy *study, GError **error)
{
  FabTarget target;

  assert_true (fab_target_parse ("step<=1ps", &target, NULL));
  g_autoptr (GPtrArray) ports = fab_ports_near (study, "100Gb/s", &target, 1, error);
  return ports != NULL;
}

static gboolean
ask_pair (const FabStudy *study, GError **error)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "cluster.nic=quick", NULL });
  FabPoint point = { .step_s = 1 };
  const FabVariantOf base = { study, NULL, &point }, other = { study, edits, &point };
  FabPairedBand band;

  return fab_study_compare (&base, &other, &band, error);
}

/* --- failing --- */

static FabStudy *
study_of (const char *yaml)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, failing_models (),
                                                         catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  FabStudy *study = fab_study_of ("t", scenario, catalog, failing_models ());
  study->n_threads = 1;
  study->n_seeds = 1;
  study->cancel = &failing.cancel;
  return study;
}

/* Plays that only say what limits the step of a result are the last ones, and left out where they fail: of the first
 * `n_told` each is told. So is an invariant that breaks in any play; of a network that is made and not played it does
 * not. */
static void
every_play_that_fails_is_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    gboolean (*ask) (const FabStudy *study, GError **error);
    guint n_told;          /* 0: all */
    guint step;            /* from one play that fails to the next that is tried */
    gboolean has_unplayed; /* it makes networks that it does not play */
  } rows[] = {
    { "point", ask_point, 0, 1, FALSE },    { "growth", ask_growth, 0, 1, FALSE },
    { "scaling", ask_scaling, 0, 1, TRUE }, { "upgrades", ask_upgrades, 41, 8, TRUE },
    { "grid", ask_grid, 0, 1, FALSE },      { "search", ask_search, 0, 80, FALSE },
    { "plan", ask_plan, 0, 1, FALSE },      { "size", ask_size, 3, 1, FALSE },
    { "ports", ask_ports, 0, 1, FALSE },    { "pair", ask_pair, 0, 1, FALSE },
  };
  static const FabErrorCode codes[] = { FAB_ERROR_CANCELLED, FAB_ERROR_BROKEN };
  g_autoptr (FabStudy) study = study_of (SENDS);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) problem = NULL;

    failing_at (0, 0);
    if (!rows[i].ask (study, &problem))
      fail_msg ("%s: %s", rows[i].name, problem->message);
    guint n = failing.n_made, n_found = 0;
    for (guint at = 1; at <= n; at += rows[i].step)
      for (guint c = 0; c < G_N_ELEMENTS (codes); c++) {
        g_autoptr (GError) error = NULL;

        failing_at (at, codes[c]);
        gboolean is_found = rows[i].ask (study, &error);
        if (is_found ? error != NULL : !g_error_matches (error, FAB_ERROR, codes[c]))
          fail_msg ("%s, play %u: %s", rows[i].name, at, error != NULL ? error->message : "no error");
        n_found += is_found;
        if (is_found && (codes[c] == FAB_ERROR_CANCELLED || !rows[i].has_unplayed)
            && (rows[i].n_told == 0 || at <= rows[i].n_told))
          fail_msg ("%s: nothing is told of play %u of %u", rows[i].name, at, n);
      }
    assert_true (n_found == 0 || rows[i].n_told > 0 || rows[i].has_unplayed);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_play_that_fails_is_told),
  };

  return play_run_tests ("failing_plays", tests, &catalog);
}
