/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_answer.c - a scenario that is played to its end: its steps, what sets its pace, what a results file takes
 * of it, who is told how far it is, and what jobs beside each other cost one another.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "answer/run.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

/* One gigabyte from node to node over a port of 100 Gb/s: 80 ms, and the latency of the wire. */
#define SENDS SENDS_OF ("3", "1GB")
#define SENDS_OF(iterations, size)                                                                       \
  "name: sends\niterations: " iterations "\n"                                                            \
  "links: [{name: wire, technology: InfiniBand, lanes: 1, signalling: 100Gb/s, latency: 1us}]\n"         \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: wire, fabric: switch}\n" \
  "collectives: plain\n"                                                                                 \
  "job: {kind: collective, operations: [{op: send_recv, size: " size "}]}\n"
#define REDUCES "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}"
/* Two jobs of two nodes each, under two leaves with one uplink: each has half of it. */
#define BESIDE                                                                                           \
  "name: first\niterations: 2\n"                                                                         \
  "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 1, route: shortest, fabric: {kind: leaf_spine, "   \
  "nodes_per_leaf: 2, oversubscription: 2}}\ncollectives: {kind: plain, algorithm: ring}\n" REDUCES "\n" \
  "neighbours: [{name: other, nodes: 2, first: 1, stride: 2, " REDUCES "}]\n"
#define TRAINS                                                                           \
  "name: trains\niterations: 2\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"
/* 7e9 parameters of 16 bytes are more than 80 GB. */
#define LARGE                                                                           \
  "name: large\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: llama2-7b, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"

static FabCatalog *catalog;

static FabScenario *
scenario_of (const char *yaml)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static FabRunResult
played (const FabScenario *scenario, const FabRunRequest *request)
{
  FabRunResult result;
  g_autoptr (GError) error = NULL;

  if (!fab_run_play (scenario, NULL, request, &result, &error))
    fail_msg ("%s", error->message);
  return result;
}

/* The step of the network that is played stands for the guess, of one iteration and not of all. 100 GB take 8 s. */
static void
a_guess_is_of_one_iteration (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) slow = scenario_of ("fidelity: packet\n" SENDS_OF ("3", "100GB")),
                          fast = scenario_of (SENDS_OF ("3", "100GB"));
  FabRunResult result = played (fast, &(FabRunRequest){ .registry = &fab_models });
  FabPulse pulse = { 0 }, none = { 0 };

  fab_run_guess_step (slow, &fab_models, NULL, &pulse);
  assert_in_range (pulse.step_us, 8000000, 8000100);
  assert_int_equal (pulse.step_us, fab_run_last_step (&result)->times.duration_ps / 1000000);
  fab_run_guess_step (fast, &fab_models, NULL, &none);
  assert_int_equal (none.step_us, 0); /* its own network is fast */
  fab_run_result_clear (&result);
}

static gboolean
stop_at_once (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint n_done, G_GNUC_UNUSED gint64 n_all,
              G_GNUC_UNUSED double wall_s)
{
  return FALSE;
}

/* A run that may take long is guessed for everybody, but for a what-if, of which nothing is told. */
static void
long_runs_are_guessed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of ("fidelity: packet\n" SENDS_OF ("1000000", "1GB"));
  const FabWhatIf none = { 0 };

  for (guint i = 0; i < 2; i++) {
    FabPulse pulse = { 0 };
    FabRunResult result;

    assert_false (
        fab_run_play (scenario, i == 1 ? &none : NULL,
                      &(FabRunRequest){ .registry = &fab_models, .pulse = &pulse, .progress = stop_at_once },
                      &result, NULL));
    assert_true (fab_run_effort (scenario, result.simulation).all_s > FAB_RUN_LONG_S);
    assert_int_equal (pulse.step_us > 0, i == 0);
    assert_int_equal (pulse.all_s > 0, i == 0);
    assert_int_equal (pulse.n_known, 1000000);
    fab_run_result_clear (&result);
  }
}

/* Who looks on from the beginning gets a guess, and others do not where the run is short. */
static void
who_waits_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of ("fidelity: packet\n" SENDS);

  for (guint wants = 0; wants < 2; wants++) {
    FabPulse pulse = { .wants_guess = wants };
    FabRunResult result = played (scenario, &(FabRunRequest){ .registry = &fab_models, .pulse = &pulse });
    FabEffort effort = fab_run_effort (scenario, result.simulation);

    assert_int_equal (pulse.step_us > 0, wants);
    assert_int_equal (pulse.n_known, 3);
    assert_int_equal (pulse.n_done, 3);
    assert_int_equal (pulse.alike_s, (gint) effort.alike_s);
    assert_int_equal (pulse.all_s, (gint) effort.all_s);
    fab_run_result_clear (&result);
  }
}

typedef struct {
  guint n_calls, last, stop_after;
  double wall_s;
} Seen;

static gboolean
look (gpointer owner, guint n_done, gint64 n_all, double wall_s)
{
  Seen *self = owner;

  assert_int_equal (n_all, 3);
  assert_int_equal (n_done, self->last + 1);
  assert_true (wall_s >= self->wall_s && wall_s < 60);
  self->wall_s = wall_s;
  self->last = n_done;
  return ++self->n_calls != self->stop_after;
}

/* Progress is told after each iteration, and may end the run. */
static void
progress_is_told_and_may_cancel (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (SENDS);

  for (guint stop_after = 0; stop_after < 3; stop_after += 2) {
    Seen seen = { .stop_after = stop_after };
    const FabRunRequest request = { .registry = &fab_models, .progress = look, .owner = &seen };
    FabRunResult result;
    g_autoptr (GError) error = NULL;

    assert_int_equal (fab_run_play (scenario, NULL, &request, &result, &error), stop_after == 0);
    assert_int_equal (seen.n_calls, stop_after == 0 ? 3 : 2);
    if (stop_after > 0)
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
    fab_run_result_clear (&result);
  }
}

/* The port is busy for all of the 80 ms but the wire's microseconds, which are the only ones before bytes flow. */
static void
the_pace_is_that_of_the_last_iteration (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (SENDS);
  FabRunResult result = played (scenario, &(FabRunRequest){ .registry = &fab_models });
  g_autofree char *name = fab_run_link_name (&result, result.pace.binding_link),
                  *none = fab_run_link_name (&result, FAB_NO_LINK);
  const FabStepRecord *last = fab_run_last_step (&result);

  assert_int_equal (result.steps->len, 3);
  assert_ptr_equal (last, &g_array_index (result.steps, FabStepRecord, 2));
  assert_true (last->times.duration_ps > 80000000000 && last->times.duration_ps < 80100000000);
  assert_string_equal (name, "node0/nic0 -> switch");
  assert_null (none);
  assert_string_equal (fab_run_link_entry (&result, result.pace.binding_link), "wire");
  assert_near (result.pace.binding_fraction, 1, 1e-3);
  assert_near (result.pace.binding_busy_fraction, 0.08 / fab_ps_to_seconds (last->times.duration_ps), 1e-6);
  assert_true (result.pace.startup_fraction > 0 && result.pace.startup_fraction < 1e-3);
  assert_true (result.wall_s > 0);
  assert_int_equal (result.run_id, 0);
  assert_non_null (result.verdict);
  assert_null (result.advice);
  assert_null (result.failures);
  fab_run_result_clear (&result);
}

/* A verdict, advice, and what failures leave are there where somebody asks for them. A what-if has no failures. */
static void
what_is_asked_for_is_there (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (
      LARGE "reliability: {failures: meta-llama3, detection: 10min, restart: 5min}\n");
  const FabWhatIf none = { 0 };

  for (guint i = 0; i < 4; i++) {
    const FabRunRequest request = { .registry = &fab_models, .advises = i == 1, .has_no_verdict = i == 2 };
    FabRunResult result;

    assert_true (fab_run_play (scenario, i == 3 ? &none : NULL, &request, &result, NULL));
    assert_int_equal (result.verdict != NULL, i != 2);
    assert_int_equal (result.advice != NULL, i == 1);
    assert_int_equal (result.failures != NULL, i < 2);
    assert_int_equal (result.goodput.step_s > 0, i < 2);
    fab_run_result_clear (&result);
  }
}

static gint64
count (FabStore *store, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM %s WHERE run_id = :run", table);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) found = fab_store_query (store, sql, 0, &error);

  if (found == NULL)
    fail_msg ("%s", error->message);
  return fab_table_cell (found, 0, 0)->integer;
}

static double
real_of (FabStore *store, const char *sql)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) found = fab_store_query (store, sql, 0, &error);

  if (found == NULL || found->n_rows != 1)
    fail_msg ("%s: %s", sql, error != NULL ? error->message : "not one row");
  return fab_table_cell (found, 0, 0)->real;
}

/* Each row of the bottleneck is that of its lever: which one limits, what it changes, and by which seeds. */
static void
check_levers (FabStore *store, const FabBottleneck *bottleneck)
{
  g_autoptr (FabTable) rows = fab_store_query (
      store,
      "SELECT place, kind, name, change, limits, step_s, exposed_s, saved_fraction, n_seeds, fidelity, "
      "base_step_s FROM lever ORDER BY place",
      0, NULL);

  assert_int_equal (rows->n_rows, bottleneck->levers->len);
  for (guint i = 0; i < rows->n_rows; i++) {
    const FabLever *lever = fab_bottleneck_lever (bottleneck, i);

    assert_int_equal (fab_table_cell (rows, i, 0)->integer, i);
    assert_string_equal (fab_table_cell (rows, i, 1)->text, fab_lever_names[lever->kind]);
    assert_string_equal (fab_table_cell (rows, i, 2)->text, lever->name);
    assert_string_equal (fab_table_cell (rows, i, 3)->text, lever->change);
    assert_int_equal (fab_table_cell (rows, i, 4)->integer, (gint) i == bottleneck->first);
    assert_near (fab_table_cell (rows, i, 5)->real, lever->step_s, 1e-12);
    assert_near (fab_table_cell (rows, i, 6)->real, lever->exposed_s, 1e-12);
    assert_near (fab_table_cell (rows, i, 7)->real, fab_lever_saved (lever), 1e-12);
    assert_int_equal (fab_table_cell (rows, i, 8)->integer, bottleneck->n_draws);
    assert_int_equal (g_strcmp0 (fab_table_cell (rows, i, 9)->text, bottleneck->fidelity), 0);
    assert_near (fab_table_cell (rows, i, 10)->real, bottleneck->base.step_s, 1e-12);
  }
}

/* Of each step, and then of what each step exposes. */
static void
check_bands (FabStore *store, const FabBand *band, guint n_steps)
{
  g_autoptr (FabTable) rows = fab_store_query (store,
                                               "SELECT figure, iteration, low_s, high_s, coverage_fraction, "
                                               "reason FROM band ORDER BY figure DESC, iteration",
                                               0, NULL);

  assert_int_equal (rows->n_rows, 2 * n_steps);
  for (guint i = 0; i < rows->n_rows; i++) {
    g_autofree char *most = fab_band_most (band, i);

    assert_string_equal (fab_table_cell (rows, i, 0)->text, i < n_steps ? "step" : "exposed");
    assert_int_equal (fab_table_cell (rows, i, 1)->integer, i % n_steps);
    assert_near (fab_table_cell (rows, i, 2)->real, band->low[i], 1e-12);
    assert_near (fab_table_cell (rows, i, 3)->real, band->high[i], 1e-12);
    assert_near (fab_table_cell (rows, i, 4)->real, band->coverage_fraction, 1e-12);
    assert_string_equal (fab_table_cell (rows, i, 5)->text, most);
  }
}

/* The file has the run, its pace, its verdict and its goodput; then the band of both steps and of what both expose,
 * each lever, and the verdict that follows. */
static void
a_results_file_takes_the_run (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (
      TRAINS "reliability: {failures: meta-llama3, detection: 10min, restart: 5min}\n");
  g_autofree char *folder = g_dir_make_tmp ("run-XXXXXX", NULL),
                  *db = g_build_filename (folder, "a.db", NULL);
  const FabRunRequest request = { .registry = &fab_models, .db = db, .n_threads = 1 };
  FabRunResult result = played (scenario, &request);
  g_autoptr (GError) error = NULL;

  assert_int_equal (result.run_id, 1);
  assert_true (fab_run_store_outlook (db, &result, &error)); /* there is none yet */
  {
    g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_READ, &error);
    assert_int_equal (count (store, "iteration"), 2);
    assert_int_equal (count (store, "pace"), 1);
    assert_int_equal (count (store, "goodput"), 1);
    assert_int_equal (count (store, "band"), 0);
    assert_int_equal (count (store, "lever"), 0);
    assert_int_equal (count (store, "finding"), fab_verdict_n (result.verdict));
    assert_near (real_of (store, "SELECT binding_busy_fraction FROM pace"), result.pace.binding_busy_fraction,
                 1e-12);
  }
  assert_true (fab_run_find_band (scenario, &request, &result, &error));
  guint n_before = fab_verdict_n (result.verdict);
  assert_true (fab_run_find_bottleneck (scenario, &request, &result, &error));
  assert_true (fab_verdict_n (result.verdict) > n_before); /* what the step waits for */
  assert_int_equal (result.band->n, 4);
  assert_true (fab_run_store_outlook (NULL, &result, &error));
  assert_true (fab_run_store_outlook (db, &result, &error));
  {
    g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_READ, &error);
    assert_int_equal (count (store, "band"), 4);
    assert_int_equal (count (store, "lever"), result.bottleneck->levers->len);
    assert_int_equal (count (store, "finding"), fab_verdict_n (result.verdict));
    check_bands (store, result.band, 2);
    check_levers (store, result.bottleneck);
  }
  fab_run_result_clear (&result);
  g_unlink (db);
  g_rmdir (folder);
}

/* What was built may be played into a store that is open; a store that is not there gets no advice. */
static void
what_was_built_is_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (SENDS);

  for (guint has_store = 0; has_store < 2; has_store++) {
    g_autoptr (FabStore) store = has_store ? fab_store_new (NULL) : NULL;
    FabSimulation *simulation = fab_simulation_new (scenario, &fab_models, NULL, NULL);
    FabRunResult result;

    assert_true (fab_run_play_built (scenario, &fab_models, simulation, store, &result, NULL));
    assert_int_equal (result.steps->len, 3);
    assert_non_null (result.verdict);
    assert_ptr_equal (result.simulation, simulation);
    assert_int_equal (result.run_id, has_store);
    assert_true (result.wall_s > 0);
    assert_int_equal (result.pace.binding_link != FAB_NO_LINK, TRUE);
    assert_null (result.advice);
    fab_run_result_clear (&result);
  }
  g_autoptr (FabScenario) large = scenario_of (LARGE);
  for (guint has_store = 0; has_store < 2; has_store++) {
    g_autoptr (FabStore) store = has_store ? fab_store_new (NULL) : NULL;
    FabRunResult result;

    assert_true (fab_run_play_built (large, &fab_models, fab_simulation_new (large, &fab_models, NULL, NULL),
                                     store, &result, NULL));
    assert_int_equal (result.advice != NULL, has_store);
    fab_run_result_clear (&result);
  }
}

/* Advice goes to the finding that a job does not fit; a verdict without it stays as it is. What cannot be built has
 * none.
 */
static void
advice_goes_to_what_does_not_fit (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) large = scenario_of (LARGE), sends = scenario_of (SENDS),
                          never = scenario_of (
                              "name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
                              "job: {kind: megatron, model: gpt2, micro_batch: 1, parallel: {tensor: 4}}\n");
  const FabMemoryTrying trying = { &fab_models, 1, NULL };
  FabRunResult result = played (large, &(FabRunRequest){ .registry = &fab_models }),
               fits = played (sends, &(FabRunRequest){ .registry = &fab_models });
  guint n = fab_verdict_n (result.verdict), n_fits = fab_verdict_n (fits.verdict);

  assert_null (fab_verdict_find (result.verdict, FAB_FINDING_DOES_NOT_FIT)->advice);
  fab_advise_memory_of (never, &trying, result.verdict);
  assert_null (fab_verdict_find (result.verdict, FAB_FINDING_DOES_NOT_FIT)->advice);
  fab_advise_memory_of (large, &trying, result.verdict);
  assert_non_null (fab_verdict_find (result.verdict, FAB_FINDING_DOES_NOT_FIT)->advice);
  assert_int_equal (fab_verdict_n (result.verdict), n);
  fab_advise_memory_of (large, &trying, fits.verdict);
  assert_int_equal (fab_verdict_n (fits.verdict), n_fits);
  assert_null (fab_verdict_find (fits.verdict, FAB_FINDING_DOES_NOT_FIT));
  fab_run_result_clear (&result);
  fab_run_result_clear (&fits);
}

/* Each job takes twice as long as it does alone, as each has half of the uplink. */
static void
jobs_slow_each_other_down (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "first", "other" };
  const FabRunRequest request = { .registry = &fab_models };

  for (guint is_alone = 0; is_alone < 2; is_alone++) {
    g_autoptr (FabScenario) scenario = scenario_of (is_alone ? SENDS : BESIDE);
    FabRunResult result = played (scenario, &request);

    assert_null (result.jobs);
    assert_true (fab_run_find_jobs (scenario, &request, &result, NULL));
    assert_int_equal (result.jobs->len, is_alone ? 0 : 2);
    for (guint i = 0; i < result.jobs->len; i++) {
      const FabRunJob *job = &g_array_index (result.jobs, FabRunJob, i);

      assert_string_equal (job->name, names[i]);
      assert_int_equal (job->n_nodes, 2);
      assert_in_range (job->n_steps, i == 0 ? 2 : 1, 2);
      assert_near ((double) job->alone_ps, 79.55e9, 1e-3);
      assert_near (fab_run_slow_down (job), 2, 2e-3);
    }
    fab_run_result_clear (&result);
  }
  assert_near (fab_run_slow_down (&(FabRunJob){ .alone_ps = 0, .together_ps = 5 }), 1, 0);
  assert_near (fab_run_slow_down (&(FabRunJob){ .alone_ps = 2, .together_ps = 5 }), 2.5, 1e-12);
}

/* What cannot be built is no run, and leaves no file. */
static void
what_cannot_be_built_leaves_no_file (G_GNUC_UNUSED void **state)
{
  g_autofree char *folder = g_dir_make_tmp ("run-XXXXXX", NULL),
                  *db = g_build_filename (folder, "a.db", NULL),
                  *missing = g_build_filename (folder, "none", "a.db", NULL);
  g_autoptr (FabScenario) large = scenario_of (
                              "name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n"
                              "job: {kind: megatron, model: gpt2, micro_batch: 1, parallel: {tensor: 4}}\n"),
                          sends = scenario_of (SENDS);
  g_autoptr (GError) error = NULL, other = NULL;
  FabRunResult result;

  assert_false (
      fab_run_play (large, NULL, &(FabRunRequest){ .registry = &fab_models, .db = db }, &result, &error));
  assert_non_null (error);
  assert_null (result.simulation);
  assert_false (g_file_test (db, G_FILE_TEST_EXISTS));
  fab_run_result_clear (&result);
  assert_false (fab_run_play (sends, NULL, &(FabRunRequest){ .registry = &fab_models, .db = missing },
                              &result, &other));
  assert_non_null (other);
  fab_run_result_clear (&result);
  g_rmdir (folder);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_guess_is_of_one_iteration),
    cmocka_unit_test (long_runs_are_guessed),
    cmocka_unit_test (who_waits_is_told),
    cmocka_unit_test (progress_is_told_and_may_cancel),
    cmocka_unit_test (the_pace_is_that_of_the_last_iteration),
    cmocka_unit_test (what_is_asked_for_is_there),
    cmocka_unit_test (a_results_file_takes_the_run),
    cmocka_unit_test (what_was_built_is_played),
    cmocka_unit_test (advice_goes_to_what_does_not_fit),
    cmocka_unit_test (jobs_slow_each_other_down),
    cmocka_unit_test (what_cannot_be_built_leaves_no_file),
  };

  return play_run_tests ("run_answer", tests, &catalog);
}
