/* SPDX-License-Identifier: Apache-2.0 */
/* test_predict_bands.c - how sure a predicted collective is, what bounds it, and its three forms. */
#include "answer/predict.h"

#include "tests/support/failing.h"
#include "tests/support/play.h"

/* Two nodes of one GPU, over a port of 2 x 50 Gb/s = 12.5 GB/s. */
#define NET                                                                                             \
  "name: t\nlinks: [{name: m, technology: Ethernet, lanes: 2, signalling: 50Gb/s, latency: 600ns%s}]\n" \
  "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: m}\ncollectives: %s\n"  \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"

static FabCatalog *catalog;

static const FabBytes sizes[] = { 1 << 10, 1 << 20, 1 << 30 };

static GArray *
predict (const FabPredictionRequest *request)
{
  g_autoptr (GError) error = NULL;
  GArray *rows = fab_predict_collective (request, catalog, &fab_models, &error);

  if (rows == NULL)
    fail_msg ("%s", error->message);
  return rows;
}

static const FabPrediction *
row_at (const GArray *rows, guint i)
{
  return &g_array_index (rows, FabPrediction, i);
}

/* A rate that is uncertain by 20 % on either side makes a time of bytes 1 / 1.2 to 1 / 0.8 times as long. */
static void
links_that_say_how_sure_they_are (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (NET, ", uncertainty: {rate: 20%}", "plain");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabPredictionRequest request = { .base = play->scenario,
                                   .nodes = 2,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = sizes + 1,
                                   .n_sizes = G_N_ELEMENTS (sizes) - 1,
                                   .has_band = TRUE };
  g_autoptr (GArray) rows = predict (&request);
  g_autofree char *basis = fab_predictions_basis (rows);

  assert_string_equal (basis, "");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = row_at (rows, i);
    double bytes_us = row->time_us - row->startup_us;

    assert_true (row->kind.is_calibrated);
    assert_near (row->low_us, row->startup_us + bytes_us / 1.2, 1e-6);
    assert_near (row->high_us, row->startup_us + bytes_us / 0.8, 1e-6);
    assert_near (row->coverage_fraction, 0.95, 1e-12);
    assert_int_equal (row->n_tables, 0);
    assert_string_equal (row->most, "rate of m (20 %)");
    assert_near (row->busbw_low_GBps, row->busbw_GBps * row->time_us / row->high_us, 1e-12);
    assert_near (row->busbw_high_GBps, row->busbw_GBps * row->time_us / row->low_us, 1e-12);
  }
  request.has_band = FALSE;
  g_autoptr (GArray) bare = predict (&request);
  for (guint i = 0; i < bare->len; i++) {
    const FabPrediction *row = row_at (bare, i);

    assert_near (row->time_us, row_at (rows, i)->time_us, 1e-12);
    assert_true (row->low_us == 0 && row->high_us == 0 && row->coverage_fraction == 0);
    assert_true (row->busbw_low_GBps == 0 && row->busbw_high_GBps == 0 && row->most == NULL);
  }
}

/* Other machines have the band of what was measured of their kind, as the plan of a run has it. */
static void
machines_whose_kind_was_measured (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog,
                                    "name: t\ncluster: {node: dgx-a100, nodes: 2}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1KiB}, "
                                    "{op: all_reduce, size: 1MiB}, {op: all_reduce, size: 1GiB}]}\n",
                                    NULL);
  FabPredictionRequest request = { .node = "dgx-a100",
                                   .nodes = 2,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = sizes,
                                   .n_sizes = G_N_ELEMENTS (sizes),
                                   .has_band = TRUE };
  g_autoptr (GArray) rows = predict (&request);
  g_autoptr (GString) bases = g_string_new (NULL);

  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = row_at (rows, i);
    const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[i].plan;
    FabPlanKind kind = fab_plan_kind (play->scenario, fab_simulation_cluster (play->simulation), plan);
    FabPlanBand band = fab_plan_band (play->scenario, plan, &kind);
    g_autofree char *basis = fab_plan_band_basis (&band);

    assert_false (row->kind.is_calibrated);
    assert_true (band.n_tables > 0 && band.coverage_fraction > 0);
    assert_near (row->low_us, row->time_us * band.low_factor, 1e-12);
    assert_near (row->high_us, row->time_us * band.high_factor, 1e-12);
    assert_near (row->coverage_fraction, band.coverage_fraction, 1e-12);
    assert_int_equal (row->n_tables, band.n_tables);
    assert_int_equal (row->n_families, band.n_families);
    assert_int_equal (row->untuned.n_of, band.untuned.n_of);
    assert_near (row->untuned.high_factor, band.untuned.high_factor, 1e-12);
    assert_string_equal (row->most, basis);
    assert_near (row->busbw_low_GBps, row->busbw_GBps / band.high_factor, 1e-9);
    assert_near (row->busbw_high_GBps, row->busbw_GBps / band.low_factor, 1e-9);
    assert_int_equal (row->kind.place, kind.place);
    if (strstr (bases->str, basis) == NULL)
      g_string_append_printf (bases, "%s%s", *bases->str ? ", " : "", basis);
  }
  g_autofree char *told = fab_predictions_basis (rows);
  assert_string_equal (told, bases->str);
}

/* One message of half of 4 MB in each direction, whose size was measured or was not. Its link is what it waits for. */
static void
messages_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *from, *to;
    guint n_outside;
  } cases[] = { { "1B", "1GB", 0 }, { "8MB", "1GB", 1 } };
  static const FabBytes one[] = { 4000000 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *more = g_strdup_printf (
        ", messages: [{overhead: 2us, rate: 10GB/s}], measured: {from: %s, to: %s}", cases[i].from,
        cases[i].to);
    g_autofree char *yaml = g_strdup_printf (NET, more, "mpi");
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabPredictionRequest request = {
      .base = play->scenario, .nodes = 2, .op = FAB_OP_ALL_GATHER, .sizes_bytes = one, .n_sizes = 1
    };
    g_autoptr (GArray) rows = predict (&request);

    assert_int_equal (row_at (rows, 0)->n_sizes, 1);
    assert_int_equal (row_at (rows, 0)->n_outside, cases[i].n_outside);
    assert_int_equal (row_at (rows, 0)->bound, FAB_BOUND_LINK);
  }
}

/* Nothing else moves, so that the formula is the time. Messages one by one take it too, where a ring's chunks are many,
 * and are bound by a link. */
static void
forms_agree_on_an_idle_machine (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ "collectives=plain", NULL });
  FabPredictionRequest request = { .node = "dgx-a100",
                                   .nodes = 1,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = sizes,
                                   .n_sizes = G_N_ELEMENTS (sizes),
                                   .edits = edits };
  g_autoptr (GArray) rows = predict (&request);

  for (FabForm form = FAB_FORM_CLOSED; form <= FAB_FORM_STEP; form++) {
    request.form = form;
    g_autoptr (GArray) others = predict (&request);

    for (guint i = 0; i < rows->len; i++) {
      assert_near (row_at (others, i)->time_us, row_at (rows, i)->time_us,
                   form == FAB_FORM_CLOSED ? 1e-6 : 0.02);
      assert_int_equal (row_at (others, i)->bound, row_at (rows, i)->bound);
    }
  }
}

/* Messages are played in one chunk for each MiB, in 64 at most, and what the plan adds to the wires' latency counts
 * once. */
static void
messages_have_chunks_of_a_mebibyte (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes;
    guint n_chunks;
  } cases[] = { { 1 << 10, 1 }, { (1 << 20) - 8, 1 },   { 1 << 20, 1 },   { (2 << 20) - 8, 1 },
                { 2 << 20, 2 }, { (64 << 20) - 8, 63 }, { 64 << 20, 64 }, { 65 << 20, 64 } };
  FabBytes asked[G_N_ELEMENTS (cases)];
  g_autoptr (GString) yaml = g_string_new (
      "name: t\niterations: 1\ncluster: {node: dgx-a100}\njob: {kind: collective, operations: [");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    asked[i] = cases[i].bytes;
    g_string_append_printf (yaml, "%s{op: all_reduce, size: %" G_GUINT64_FORMAT "B}", i > 0 ? ", " : "",
                            (guint64) asked[i]);
  }
  g_string_append (yaml, "]}\n");
  g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
  FabPredictionRequest request = { .node = "dgx-a100",
                                   .nodes = 1,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = asked,
                                   .n_sizes = G_N_ELEMENTS (asked),
                                   .form = FAB_FORM_STEP };
  g_autoptr (GArray) rows = predict (&request);
  while (fab_simulation_step (play->simulation)) {}
  for (guint i = 0; i < rows->len; i++) {
    const FabCollectivePlan *plan = &fab_simulation_dag (play->simulation)->collectives[i].plan;
    FabTimePs wires_ps = fab_simulation_time_steps (play->simulation, i, cases[i].n_chunks);

    assert_true (plan->startup_ps > plan->latency_ps);
    assert_near (row_at (rows, i)->time_us, (double) (wires_ps + plan->startup_ps - plan->latency_ps) / 1e6,
                 1e-9);
  }
}

/* A scenario that is asked for another job keeps all else but its iterations, of which one is played. */
static void
iterations_of_the_scenario_do_not_count (G_GNUC_UNUSED void **state)
{
  g_autofree char *once = g_strdup_printf (NET, "", "plain"),
                  *often = g_strconcat ("iterations: 5\n", once, NULL);
  g_autoptr (Play) one = play_new (catalog, once, NULL), five = play_new (catalog, often, NULL);
  FabPredictionRequest request = {
    .base = one->scenario, .op = FAB_OP_ALL_GATHER, .sizes_bytes = sizes, .n_sizes = G_N_ELEMENTS (sizes)
  };
  g_autoptr (GArray) rows = predict (&request);

  request.base = five->scenario;
  g_autoptr (GArray) others = predict (&request);
  for (guint i = 0; i < rows->len; i++) {
    assert_near (row_at (others, i)->time_us, row_at (rows, i)->time_us, 0);
    assert_int_equal (row_at (rows, i)->n_ranks, 2);
  }
}

/* One rank has nothing to do, which is certain. */
static void
a_rank_alone_has_no_band (G_GNUC_UNUSED void **state)
{
  FabPredictionRequest request = { .node = "dgx-a100",
                                   .nodes = 1,
                                   .gpus_per_node = 1,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = sizes,
                                   .n_sizes = G_N_ELEMENTS (sizes),
                                   .has_band = TRUE };
  g_autoptr (GArray) rows = predict (&request);
  g_autofree char *basis = fab_predictions_basis (rows);

  assert_string_equal (basis, "");
  for (guint i = 0; i < rows->len; i++) {
    assert_int_equal (row_at (rows, i)->size_bytes, sizes[i]);
    assert_true (row_at (rows, i)->high_us == 0 && row_at (rows, i)->coverage_fraction == 0);
    assert_true (row_at (rows, i)->busbw_high_GBps == 0 && row_at (rows, i)->n_channels == 0);
    assert_int_equal (row_at (rows, i)->bound, FAB_BOUND_STARTUP);
  }
}

/* A prediction and its band are one answer: a play of an end that fails is a mistake. */
static void
an_end_that_fails_is_a_mistake (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (NET, ", uncertainty: {rate: 20%}", "plain");
  g_autoptr (FabScenario) base = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, failing_models (),
                                                     catalog, NULL);
  const FabPredictionRequest request = {
    .base = base, .op = FAB_OP_ALL_REDUCE, .sizes_bytes = sizes, .n_sizes = 1, .has_band = TRUE
  };

  for (guint at = 0; at < 4; at++) { /* one play and one of each end */
    g_autoptr (GError) error = NULL;

    failing_at (at, FAB_ERROR_BROKEN);
    g_autoptr (GArray) rows = fab_predict_collective (&request, catalog, failing_models (), &error);
    assert_int_equal (rows == NULL, at > 0);
    assert_int_equal (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN), at > 0);
  }
  assert_int_equal (failing.n_made, 3);
}

/* More than half of the time is startup, or it is not. 14 steps of 0.2 us, and 7/4 of the size at 235.26 GB/s. */
static void
startup_bounds_what_is_mostly_startup (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) edits = fab_edits_of (
      (const char *[]){ "collectives={kind: plain, algorithm: ring}", NULL });
  const double half = 2.8e-6 * 235.26e9 / 1.75; /* bytes that take as long as startup */
  const FabBytes near_half[] = { (FabBytes) (half * 0.99), (FabBytes) (half * 1.01),
                                 (FabBytes) (half * 1.5) };
  FabPredictionRequest request = { .node = "dgx-a100",
                                   .nodes = 1,
                                   .op = FAB_OP_ALL_REDUCE,
                                   .sizes_bytes = near_half,
                                   .n_sizes = G_N_ELEMENTS (near_half),
                                   .edits = edits };
  g_autoptr (GArray) rows = predict (&request);

  for (guint i = 0; i < rows->len; i++)
    assert_int_equal (row_at (rows, i)->bound, i == 0 ? FAB_BOUND_STARTUP : FAB_BOUND_LINK);
}

static void
forms_have_names (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; fab_form_names[i] != NULL; i++) {
    FabForm form = FAB_FORM_STREAM;

    assert_true (fab_form_find (fab_form_names[i], &form));
    assert_int_equal (form, i);
    assert_false (fab_form_find ("steps", &form));
    assert_int_equal (form, i);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (links_that_say_how_sure_they_are),
    cmocka_unit_test (machines_whose_kind_was_measured),
    cmocka_unit_test (messages_are_counted),
    cmocka_unit_test (forms_agree_on_an_idle_machine),
    cmocka_unit_test (messages_have_chunks_of_a_mebibyte),
    cmocka_unit_test (iterations_of_the_scenario_do_not_count),
    cmocka_unit_test (a_rank_alone_has_no_band),
    cmocka_unit_test (an_end_that_fails_is_a_mistake),
    cmocka_unit_test (startup_bounds_what_is_mostly_startup),
    cmocka_unit_test (forms_have_names),
  };

  return play_run_tests ("predict_bands", tests, &catalog);
}
