/* SPDX-License-Identifier: Apache-2.0 */
/* test_seeds.c - a scenario with several seeds: each of its iterations as a run with that seed has it, percentiles as
 * ranks of what was played, the runs of a results file, and which of several mistakes is told.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "answer/seeds.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"

/* Kernels that take another time in each iteration, and all-reduces beside them. */
#define JITTERY                                                                                    \
  "name: jittery\nseed: 5\niterations: 2\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, jitter: {cv: 10%}, compute: {kind: mfu, mfu: 40%}}\n"
/* 7e9 parameters of 16 bytes are more than 80 GB. */
#define LARGE                                                                 \
  "name: large\niterations: 1\ncluster: {node: dgx-a100, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: llama2-7b, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"

static FabCatalog *catalog;

/* The scenario with networks that are counted and that may fail. */
static FabScenario *
failing_scenario (const char *yaml)
{
  FabScenario *scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, failing_models (), catalog,
                                              NULL);

  assert_non_null (scenario);
  return scenario;
}

static FabSeeds *
seeds_of (const Play *play, gint64 n, guint n_threads, const char *db)
{
  const FabSeedsRequest request = { .scenario = play->scenario,
                                    .n_seeds = n,
                                    .n_threads = n_threads,
                                    .run = { .registry = &fab_models, .db = db } };
  g_autoptr (GError) error = NULL;
  FabSeeds *self = fab_seeds_play (&request, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static const FabSeedSample *
sample_at (const FabSeeds *self, guint i)
{
  return &g_array_index (self->samples, FabSeedSample, i);
}

/* The steps of a run of the scenario with this seed. (transfer full) */
static GArray *
steps_of (const FabScenario *scenario, gint64 seed)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (scenario);
  FabRunResult result;

  assert_true (fab_scenario_set (copy, "seed", fab_value_count (seed), NULL)
               && fab_scenario_check (copy, NULL));
  assert_true (fab_run_play (copy, NULL, &(FabRunRequest){ .registry = &fab_models }, &result, NULL));
  GArray *steps = g_array_ref (result.steps);
  fab_run_result_clear (&result);
  return steps;
}

/* In the order of seeds and iterations, however many threads there are. */
static void
each_seed_is_a_run_of_its_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, JITTERY, NULL);

  for (guint n_threads = 1; n_threads <= 2; n_threads++) {
    g_autoptr (FabSeeds) self = seeds_of (play, 3, n_threads, NULL);

    assert_string_equal (self->name, "jittery");
    assert_int_equal (self->first_seed, 5);
    assert_int_equal (self->n_seeds, 3);
    assert_int_equal (self->n_iterations, 2);
    assert_int_equal (self->samples->len, 6);
    for (guint k = 0; k < 3; k++) {
      g_autoptr (GArray) steps = steps_of (play->scenario, 5 + k);

      assert_int_equal (steps->len, 2);
      for (guint i = 0; i < 2; i++) {
        const FabSeedSample *sample = sample_at (self, 2 * k + i);
        const FabIterationRecord *times = &g_array_index (steps, FabStepRecord, i).times;

        assert_int_equal (sample->seed, 5 + k);
        assert_int_equal (sample->run_id, 0);
        assert_memory_equal (&sample->step.times, times, sizeof *times);
        assert_int_equal (fab_seed_time_ps (sample, FAB_SEED_STEP), times->duration_ps);
        assert_int_equal (fab_seed_time_ps (sample, FAB_SEED_COMMUNICATION), times->comm_ps);
        assert_int_equal (fab_seed_time_ps (sample, FAB_SEED_EXPOSED), times->exposed_ps);
        assert_true (times->exposed_ps < times->comm_ps && times->comm_ps < times->duration_ps);
        assert_true (k == 0 || times->duration_ps != sample_at (self, i)->step.times.duration_ps);
      }
    }
  }
}

static int
earlier (const void *a, const void *b)
{
  FabTimePs x = *(const FabTimePs *) a, y = *(const FabTimePs *) b;

  return (x > y) - (x < y);
}

/* Of 22 values the 11th is the median, the 21st more than 95 % of them, and the last more than 99 %. */
static void
percentiles_are_nearest_ranks (G_GNUC_UNUSED void **state)
{
  static const char *const names[][2] = { { "step", "step_s" },
                                          { "communication", "comm_s" },
                                          { "exposed", "exposed_s" } };
  static const struct {
    const char *name;
    guint rank; /* from 1 */
  } percentiles[] = { { "p50", 11 }, { "p95", 21 }, { "p99", 22 }, { "max", 22 } };
  g_autoptr (Play) play = play_new (catalog, JITTERY, NULL);
  g_autoptr (FabSeeds) self = seeds_of (play, 11, 1, NULL);

  assert_int_equal (self->samples->len, 22);
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    FabTimePs sorted[22];

    assert_string_equal (self->times[t].name, names[t][0]);
    assert_string_equal (self->times[t].key, names[t][1]);
    for (guint i = 0; i < 22; i++)
      sorted[i] = fab_seed_time_ps (sample_at (self, i), t);
    qsort (sorted, 22, sizeof *sorted, earlier);
    for (guint p = 0; p < FAB_N_PERCENTILES; p++) {
      assert_string_equal (fab_percentile_names[p], percentiles[p].name);
      assert_int_equal (self->times[t].percentiles_ps[p], sorted[percentiles[p].rank - 1]);
    }
  }
}

/* The verdict is that of the first seed, and says from which step to which the seeds are apart, of all iterations. */
static void
the_verdict_says_how_far_seeds_are_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, JITTERY, NULL);
  g_autoptr (FabSeeds) self = seeds_of (play, 4, 1, NULL);
  FabTimePs least_ps = G_MAXINT64, most_ps = 0;

  for (guint i = 0; i < self->samples->len; i++) {
    least_ps = MIN (least_ps, sample_at (self, i)->step.times.duration_ps);
    most_ps = MAX (most_ps, sample_at (self, i)->step.times.duration_ps);
  }
  g_autofree char *least = fab_units_show (FAB_UNIT_TIME, (double) least_ps),
                  *most = fab_units_show (FAB_UNIT_TIME, (double) most_ps);
  g_autofree char *expected = g_strdup_printf (
      "The step depends on the seed: over 4 seeds it takes from %s to %s.", least, most);
  assert_string_equal (fab_verdict_find (self->verdict, FAB_FINDING_SPREAD)->text, expected);
  const FabSeedsRequest quiet = { .scenario = play->scenario,
                                  .n_seeds = 2,
                                  .n_threads = 1,
                                  .run = { .registry = &fab_models, .has_no_verdict = TRUE } };
  g_autoptr (FabSeeds) without = fab_seeds_play (&quiet, NULL);
  assert_int_equal (without->samples->len, 4);
  assert_null (without->verdict);
}

/* A results file takes the runs one after another, and all else is as without it. */
static void
a_results_file_has_a_run_of_each_seed (G_GNUC_UNUSED void **state)
{
  g_autofree char *folder = g_dir_make_tmp ("seeds-XXXXXX", NULL),
                  *db = g_build_filename (folder, "a.db", NULL);
  g_autoptr (Play) play = play_new (catalog, JITTERY, NULL);
  g_autoptr (FabSeeds) stored = seeds_of (play, 3, 2, db), alone = seeds_of (play, 3, 2, NULL);

  assert_int_equal (stored->samples->len, alone->samples->len);
  for (guint i = 0; i < stored->samples->len; i++) {
    assert_int_equal (sample_at (stored, i)->run_id, 1 + i / 2);
    assert_int_equal (sample_at (stored, i)->seed, 5 + i / 2);
    assert_int_equal (sample_at (stored, i)->step.times.duration_ps,
                      sample_at (alone, i)->step.times.duration_ps);
  }
  assert_int_equal (fab_verdict_n (stored->verdict), fab_verdict_n (alone->verdict));
  for (guint i = 0; i < fab_verdict_n (stored->verdict); i++)
    assert_string_equal (fab_verdict_at (stored->verdict, i)->text, fab_verdict_at (alone->verdict, i)->text);
  g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_READ, NULL);
  g_autoptr (FabTable) found = fab_store_query (store, "SELECT count (*) FROM run", 0, NULL);
  assert_int_equal (fab_table_cell (found, 0, 0)->integer, 3);
  g_unlink (db);
  g_rmdir (folder);
}

/* What would make a job fit is tried for the verdict of the first seed, and for no other one. */
static void
advice_is_that_of_the_first_seed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = failing_scenario (LARGE);
  guint n_made[2][2];

  for (guint advises = 0; advises < 2; advises++)
    for (guint n = 1; n <= 2; n++) {
      const FabSeedsRequest request = { .scenario = scenario,
                                        .n_seeds = n,
                                        .n_threads = 1,
                                        .run = { .registry = failing_models (), .advises = advises } };

      failing_at (0, FAB_ERROR_BROKEN);
      g_autoptr (FabSeeds) self = fab_seeds_play (&request, NULL);
      assert_int_equal (fab_verdict_find (self->verdict, FAB_FINDING_DOES_NOT_FIT)->advice != NULL, advises);
      n_made[advises][n - 1] = failing.n_made;
    }
  assert_int_equal (n_made[0][1], 2 * n_made[0][0]);
  assert_true (n_made[1][0] > n_made[0][0]);
  assert_int_equal (n_made[1][1], n_made[1][0] + n_made[0][0]);
}

/* --- mistakes --- */

/* Each run of this scenario makes one network, so that the seed that fails is known. */
static void
the_seed_that_fails_is_named (G_GNUC_UNUSED void **state)
{
  g_autofree char *folder = g_dir_make_tmp ("seeds-XXXXXX", NULL),
                  *db = g_build_filename (folder, "a.db", NULL);
  g_autoptr (FabScenario) scenario = failing_scenario (JITTERY);

  for (guint at = 1; at <= 3; at++)
    for (guint has_db = 0; has_db < 2; has_db++) {
      const FabSeedsRequest request = {
        .scenario = scenario,
        .n_seeds = 3,
        .n_threads = 1,
        .run = { .registry = failing_models (), .has_no_verdict = TRUE, .db = has_db ? db : NULL }
      };
      g_autoptr (GError) error = NULL;
      g_autofree char *begin = g_strdup_printf ("seed %u: ", 4 + at);

      failing_at (at, FAB_ERROR_BROKEN);
      assert_null (fab_seeds_play (&request, &error));
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN));
      assert_true (g_str_has_prefix (error->message, begin));
      assert_int_equal (failing.n_made, has_db ? at : 3);
      g_unlink (db);
    }
  g_rmdir (folder);
}

/* Where all fail, the first is told, and only it. */
static void
the_first_of_several_mistakes_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, JITTERY, NULL);
  const gint cancel = 1;

  for (guint n_threads = 1; n_threads <= 2; n_threads++) {
    const FabSeedsRequest request = { .scenario = play->scenario,
                                      .n_seeds = 3,
                                      .n_threads = n_threads,
                                      .run = { .registry = &fab_models, .cancel = &cancel } };
    g_autoptr (GError) error = NULL;

    assert_null (fab_seeds_play (&request, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
    assert_true (g_str_has_prefix (error->message, "seed 5: "));
    assert_null (strstr (error->message + 1, "seed "));
  }
  fab_seeds_free (NULL); /* there are none to free */
}

/* The largest number is a seed, and there is none behind it. */
static void
seeds_end_at_the_largest_number (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: last\nseed: %" G_GINT64_FORMAT
        "\niterations: 1\ncluster: {node: dgx-a100, gpus_per_node: 2}\ncollectives: plain\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
        G_MAXINT64 - 2 + i);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabSeedsRequest request = {
      .scenario = play->scenario, .n_seeds = 3, .n_threads = 1, .run = { .registry = &fab_models }
    };
    g_autoptr (GError) error = NULL;
    g_autoptr (FabSeeds) self = fab_seeds_play (&request, &error);

    assert_int_equal (self != NULL, i == 0);
    if (i == 0)
      assert_true (sample_at (self, 2)->seed == G_MAXINT64);
    else
      assert_string_equal (error->message, "there are no 3 seeds from 9223372036854775806 on");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_seed_is_a_run_of_its_own),
    cmocka_unit_test (percentiles_are_nearest_ranks),
    cmocka_unit_test (the_verdict_says_how_far_seeds_are_apart),
    cmocka_unit_test (a_results_file_has_a_run_of_each_seed),
    cmocka_unit_test (advice_is_that_of_the_first_seed),
    cmocka_unit_test (the_seed_that_fails_is_named),
    cmocka_unit_test (seeds_end_at_the_largest_number),
    cmocka_unit_test (the_first_of_several_mistakes_is_told),
  };

  return play_run_tests ("seeds", tests, &catalog);
}
