/* SPDX-License-Identifier: Apache-2.0 */
/* test_studies.c - values of keys, predictions, sweeps and searches against what they are defined to be. */
#include "tests/lib/host.h"

static const char machine_text[] = "name: m\ncluster: {node: dgx-a100, nodes: 1}\n"
                                   "job: {kind: collective, operations: [{op: all_reduce, size: 1B}]}\n";

/* --- values of keys --- */

static FabricastValue
get (const FabricastScenario *scenario, const char *path)
{
  FabricastValue value = { .struct_size = sizeof value };
  FabricastError *error = NULL;

  if (fabricast_scenario_get (scenario, path, &value, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  return value;
}

static void
assert_set (FabricastScenario *scenario, const char *path, FabricastValue value)
{
  FabricastError *error = NULL;

  value.struct_size = sizeof value;
  if (fabricast_scenario_set (scenario, path, &value, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
}

static void
assert_not_set (FabricastScenario *scenario, FabricastValue value, const char *words)
{
  FabricastError *error = NULL;

  value.struct_size = sizeof value;
  assert_int_equal (fabricast_scenario_set (scenario, "cluster.nodes", &value, &error), FABRICAST_MISUSE);
  assert_string_equal (fabricast_error_message (error), words);
  fabricast_error_free (error);
  assert_int_equal (get (scenario, "cluster.nodes").whole, 2);
}

static void
test_values (void **state)
{
  FabricastScenario *scenario = parse (hello);
  FabricastValue value;

  (void) state;
  value = get (scenario, "job.micro_batch");
  assert_true (value.kind == FABRICAST_WHOLE && value.whole == 4 && value.real == 4 && value.unit == NULL
               && value.text == NULL);
  value = get (scenario, "job.bucket");
  assert_true (value.kind == FABRICAST_WHOLE && value.whole == 25 << 20);
  assert_string_equal (value.unit, "B");
  value = get (scenario, "job.compute.mfu");
  assert_true (value.kind == FABRICAST_REAL && value.real == 0.4 && value.unit == NULL);
  value = get (scenario, "cluster.node");
  assert_int_equal (value.kind, FABRICAST_TEXT);
  assert_string_equal (value.text, "dgx-a100");
  value = get (scenario, "job.compute");
  assert_int_equal (value.kind, FABRICAST_TEXT);
  assert_non_null (strstr (value.text, "mfu: "));
  assert_int_equal (get (scenario, "cluster.fabric").kind, FABRICAST_TEXT);

  assert_set (scenario, "job.compute.mfu",
              (FabricastValue){ .kind = FABRICAST_REAL, .real = 37.5, .unit = "%" });
  assert_true (get (scenario, "job.compute.mfu").real == 0.375);
  assert_set (scenario, "job.compute.mfu", (FabricastValue){ .kind = FABRICAST_REAL, .real = 0.25 });
  assert_true (get (scenario, "job.compute.mfu").real == 0.25);
  assert_set (scenario, "cluster.nic_rate",
              (FabricastValue){ .kind = FABRICAST_REAL, .real = 12.5, .unit = "GB/s" });
  assert_true (get (scenario, "cluster.nic_rate").whole == INT64_C (12500000000));
  assert_string_equal (get (scenario, "cluster.nic_rate").unit, "B/s");
  assert_set (scenario, "job.bucket", (FabricastValue){ .kind = FABRICAST_WHOLE, .whole = 7, .unit = "MiB" });
  assert_true (get (scenario, "job.bucket").whole == 7 << 20);
  assert_set (scenario, "job.bucket", (FabricastValue){ .kind = FABRICAST_NONE });
  assert_true (get (scenario, "job.bucket").whole == 25 << 20); /* the default again */

  const char *text = fabricast_scenario_text (scenario);
  assert_non_null (strstr (text, "nodes: 2"));
  assert_ptr_equal (fabricast_scenario_text (scenario), text);
  assert_not_set (scenario, (FabricastValue){ .kind = FABRICAST_REAL, .real = (double) INFINITY },
                  "the number is not finite");
  assert_not_set (scenario, (FabricastValue){ .kind = FABRICAST_REAL, .real = (double) NAN },
                  "the number is not finite");
  assert_not_set (scenario, (FabricastValue){ .kind = FABRICAST_TEXT }, "the text is NULL");
  assert_not_set (scenario, (FabricastValue){ .kind = FABRICAST_TEXT, .text = "\xff" },
                  "the text is no UTF-8");
  assert_not_set (scenario, (FabricastValue){ .kind = 5 }, "there is no kind of value 5");
  assert_not_set (scenario, (FabricastValue){ .kind = -1 }, "there is no kind of value -1");
  assert_set (scenario, "cluster.nodes", (FabricastValue){ .kind = FABRICAST_WHOLE, .whole = 3 });
  assert_non_null (strstr (fabricast_scenario_text (scenario), "nodes: 3"));
  assert_int_equal (fabricast_scenario_check (scenario, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (scenario, "cluster.nodes=4", NULL), FABRICAST_OK);
  assert_non_null (strstr (fabricast_scenario_text (scenario), "nodes: 4"));
  assert_int_equal (fabricast_scenario_assign (scenario, "cluster.nodez=4", NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_check (scenario, NULL), FABRICAST_INPUT);
  assert_null (fabricast_scenario_text (scenario));
  assert_int_equal (fabricast_scenario_assign (scenario, "nothing", NULL), FABRICAST_INPUT);
  assert_null (fabricast_scenario_text (NULL));
  fabricast_scenario_free (scenario);
}

/* A flag, a time, and texts that many readers are given. */
static void
test_flags_and_times (void **state)
{
  FabricastScenario *scenario = parse ("name: t\ncluster: {node: dgx-a100, nodes: 2}\ncollectives: plain\n"
                                       "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
                                       "reliability: {detection: 10min}\n");

  (void) state;
  FabricastValue time = get (scenario, "reliability.detection");
  assert_true (time.kind == FABRICAST_WHOLE && time.whole == INT64_C (600000000000000));
  assert_string_equal (time.unit, "ps");
  FabricastValue length = get (scenario, "cost.nic_cable");
  assert_true (length.kind == FABRICAST_WHOLE && length.whole == 30000 && length.real == 30000);
  assert_string_equal (length.unit, "mm");
  assert_set (scenario, "mix.backfill", (FabricastValue){ .kind = FABRICAST_BOOL, .whole = 0 });
  FabricastValue flag = get (scenario, "mix.backfill");
  assert_true (flag.kind == FABRICAST_BOOL && flag.whole == 0);
  assert_set (scenario, "mix.backfill", (FabricastValue){ .kind = FABRICAST_BOOL, .whole = 1 });
  assert_int_equal (get (scenario, "mix.backfill").whole, 1);
  assert_set (scenario, "mix.backfill", (FabricastValue){ .kind = FABRICAST_BOOL, .whole = 2 });
  assert_int_equal (get (scenario, "mix.backfill").whole, 1);
  fabricast_scenario_free (scenario);
}

/* --- predictions --- */

static FabricastTable *
predict (const FabricastScenario *machine, const char *op, const char *form, int has_band)
{
  static const uint64_t sizes[] = { 1, 1 << 10, 1 << 20, 1 << 30 };
  const FabricastPredictOptions options = { .struct_size = sizeof options,
                                            .op = op,
                                            .sizes_bytes = sizes,
                                            .n_sizes = 4,
                                            .form = form,
                                            .has_band = has_band };
  FabricastTable *table = NULL;
  FabricastError *error = NULL;

  if (fabricast_predict (machine, &options, &table, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  return table;
}

/* algbw is size / time, busbw 2 (n - 1) / n times that for an all-reduce and (n - 1) / n for an all-gather. A band has
 * the time between its ends. */
static void
test_predictions (void **state)
{
  static const char *const ops[] = { "all_reduce", "all_gather" }, *const forms[] = { NULL, "stream",
                                                                                      "closed", "step" };
  FabricastScenario *machine = parse (machine_text);

  (void) state;
  for (size_t k = 0; k < 16; k++) {
    int has_band = (int) (k % 2);
    FabricastTable *table = predict (machine, ops[k / 2 % 2], forms[k / 4], has_band);

    assert_int_equal (fabricast_table_rows (table), 4);
    for (size_t i = 0; i < 4; i++) {
      double time = column_of (table, "time_us").real[i], algbw = column_of (table, "algbw_GBps").real[i],
             size = (double) column_of (table, "size_bytes").whole[i],
             low = column_of (table, "time_low_us").real[i], high = column_of (table, "time_high_us").real[i];

      assert_true (size == (i == 0 ? 1 : i == 1 ? 1 << 10 : i == 2 ? 1 << 20 : 1 << 30));
      assert_true (is_near (algbw, size / time / 1e3));
      assert_true (
          is_near (column_of (table, "busbw_GBps").real[i], algbw * (k / 2 % 2 == 0 ? 2 : 1) * 7 / 8));
      assert_true (column_of (table, "startup_us").real[i] > 0);
      double wire = column_of (table, "wire_GBps")
                        .real[i]; /* line bytes of the busiest link, with what they lose */
      assert_true (wire > 0.5 * algbw && wire < 8 * algbw);
      assert_int_equal (column_of (table, "ranks").whole[i], 8);
      assert_true (column_of (table, "channels").whole[i] >= 1
                   && column_of (table, "channels").whole[i] <= 64);
      assert_non_null (column_of (table, "algorithm").text[i]);
      assert_non_null (column_of (table, "protocol").text[i]);
      const char *bound = column_of (table, "bound").text[i];
      assert_true (strcmp (bound, "startup") == 0 || strcmp (bound, "link") == 0
                   || strcmp (bound, "protocol") == 0);
      assert_non_null (strstr (column_of (table, "binding").text[i], "nvlink3 node0/"));
      if (has_band) {
        assert_true (low < time && time < high);
        assert_true (is_near (column_of (table, "busbw_low_GBps").real[i] * high,
                              column_of (table, "busbw_GBps").real[i] * time));
        assert_true (is_near (column_of (table, "busbw_high_GBps").real[i] * low,
                              column_of (table, "busbw_GBps").real[i] * time));
        assert_true (column_of (table, "band_coverage_fraction").real[i] == 0.9);
        assert_non_null (column_of (table, "band_most").text[i]);
      } else {
        assert_null (column_of (table, "band_most").text[i]);
      }
    }
    fabricast_table_free (table);
  }
  fabricast_scenario_free (machine);
}

/* How many iterations the scenario has is of no matter. */
static void
test_predictions_of_one_iteration (void **state)
{
  static const char *const forms[] = { "stream", "closed", "step" };
  FabricastScenario *machines[2];

  (void) state;
  for (int i = 0; i < 2; i++) {
    machines[i] = parse (machine_text);
    assert_int_equal (fabricast_scenario_assign (machines[i], i == 0 ? "iterations=1" : "iterations=5", NULL),
                      FABRICAST_OK);
  }
  for (size_t k = 0; k < 3; k++) {
    FabricastTable *one = predict (machines[0], "all_reduce", forms[k], 0),
                   *five = predict (machines[1], "all_reduce", forms[k], 0);

    for (size_t i = 0; i < 4; i++)
      assert_true (column_of (one, "time_us").real[i] == column_of (five, "time_us").real[i]);
    fabricast_table_free (one);
    fabricast_table_free (five);
  }
  for (int i = 0; i < 2; i++)
    fabricast_scenario_free (machines[i]);
}

static void
test_predictions_that_are_refused (void **state)
{
  FabricastScenario *machine = parse (machine_text);
  const uint64_t good[] = { 1 }, none[] = { 1, 0 }, large[] = { UINT64_C (1) << 63 };
  const struct {
    const char *op, *form;
    const uint64_t *sizes;
    size_t n;
    int status;
    const char *words;
  } cases[] = {
    { "sum", NULL, good, 1, FABRICAST_INPUT, "there is no operation 'sum'; there are all_reduce, " },
    { "all_reduce", "fast", good, 1, FABRICAST_INPUT,
      "there is no form 'fast'; there are stream, closed, step" },
    { "all_reduce", NULL, none, 2, FABRICAST_MISUSE, "size 1 is not from 1 to 2^63 - 1 bytes" },
    { "all_reduce", NULL, large, 1, FABRICAST_MISUSE, "size 0 is not from 1 to 2^63 - 1 bytes" },
    { "all_reduce", NULL, good, 0, FABRICAST_MISUSE, "n_sizes is 0: at least one is needed" },
    { NULL, NULL, good, 1, FABRICAST_MISUSE, "fabricast_predict: the argument `op` is NULL" },
    { "all_reduce", NULL, NULL, 1, FABRICAST_MISUSE,
      "fabricast_predict: the argument `sizes_bytes` is NULL" },
  };

  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const FabricastPredictOptions options = { .struct_size = sizeof options,
                                              .op = cases[i].op,
                                              .form = cases[i].form,
                                              .sizes_bytes = cases[i].sizes,
                                              .n_sizes = cases[i].n };
    FabricastTable *table = NULL;
    FabricastError *error = NULL;

    assert_int_equal (fabricast_predict (machine, &options, &table, &error), cases[i].status);
    if (strncmp (fabricast_error_message (error), cases[i].words, strlen (cases[i].words)) != 0)
      fail_msg ("%s", fabricast_error_message (error));
    assert_int_equal (fabricast_error_status (error), cases[i].status);
    assert_null (table);
    fabricast_error_free (error);
  }
  fabricast_scenario_free (machine);
}

/* --- studies --- */

typedef struct {
  int calls;
  int64_t done, all, stop_at;
} Watch;

static int
look (void *user, int64_t done, int64_t all)
{
  Watch *self = user;

  self->calls++;
  assert_true (done > self->done && done <= all);
  self->done = done;
  self->all = all;
  return self->stop_at > 0 && done >= self->stop_at;
}

/* Points in the order of the grid, the last key the quickest; keys of `zip` change together. */
static void
test_sweep (void **state)
{
  FabricastScenario *scenario = parse (hello);
  const char *const vary[] = { "cluster.nodes=1,2", "job.micro_batch=1,2,4", NULL }, *const zip[] = {
    "job.bucket=10MiB,50MiB job.sequence=512,256", NULL
  };
  Watch watch = { 0 };
  FabricastStudyOptions study = {
    .struct_size = sizeof study, .vary = vary, .zip = zip, .progress = look, .user = &watch
  };
  FabricastTable *table = NULL;

  (void) state;
  assert_int_equal (fabricast_sweep (scenario, &study, &table, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_table_rows (table), 12);
  assert_int_equal (watch.done, 12);
  assert_int_equal (watch.all, 12);
  for (size_t i = 0; i < 12; i++) {
    assert_int_equal (column_of (table, "point").whole[i], i);
    assert_string_equal (column_of (table, "cluster.nodes").text[i], i < 6 ? "1" : "2");
    assert_string_equal (column_of (table, "job.micro_batch").text[i], i / 2 % 3 == 0   ? "1"
                                                                       : i / 2 % 3 == 1 ? "2"
                                                                                        : "4");
    assert_string_equal (column_of (table, "job.bucket").text[i], i % 2 == 0 ? "10MiB" : "50MiB");
    assert_string_equal (column_of (table, "job.sequence").text[i], i % 2 == 0 ? "512" : "256");
    assert_int_equal (column_of (table, "n_ranks").whole[i], i < 6 ? 8 : 16);
    assert_null (column_of (table, "problem").text[i]);
  }
  fabricast_table_free (table);
  table = NULL;
  watch = (Watch){ .stop_at = 1 };
  assert_int_equal (fabricast_sweep (scenario, &study, &table, NULL), FABRICAST_CANCELLED);
  assert_int_equal (watch.calls, 1);
  assert_null (table);
  fabricast_scenario_free (scenario);
}

/* The least micro-batch whose exposed share is low enough: it is larger with less to compute. */
static void
test_size (void **state)
{
  FabricastScenario *scenario = parse (hello);
  const char *const vary[] = { "job.micro_batch=1,2,4,8", NULL }, *const two[] = { "job.micro_batch=1,2",
                                                                                   "cluster.nodes=1,2",
                                                                                   NULL };
  char target[64];
  const char *const targets[] = { target, NULL };
  FabricastStudyOptions study = { .struct_size = sizeof study, .vary = vary };
  FabricastTable *all = NULL, *tried = NULL;
  FabricastError *error = NULL;

  (void) state;
  assert_int_equal (fabricast_sweep (scenario, &study, &all, NULL), FABRICAST_OK);
  FabricastColumn step = column_of (all, "step_s"), exposed = column_of (all, "exposed_s");
  double share[4];
  for (size_t i = 0; i < 4; i++)
    share[i] = exposed.real[i] / step.real[i];
  assert_true (share[0] > share[1] && share[1] > share[2] && share[2] > share[3]);
  study.targets = targets;
  for (size_t wanted = 0; wanted < 4; wanted++) {
    size_t n_answers = 0;

    snprintf (target, sizeof target, "exposed<=%.9f",
              wanted == 0 ? 2 * share[0] : (share[wanted - 1] + share[wanted]) / 2);
    assert_int_equal (fabricast_size (scenario, &study, &tried, NULL), FABRICAST_OK);
    for (size_t i = 0; i < fabricast_table_rows (tried); i++) {
      size_t at = (size_t) column_of (tried, "point").whole[i];
      static const char *const values[] = { "1", "2", "4", "8" };

      assert_string_equal (column_of (tried, "job.micro_batch").text[i], values[at]);
      assert_int_equal (column_of (tried, "is_met").whole[i], at >= wanted);
      assert_int_equal (column_of (tried, "is_answer").whole[i], at == wanted);
      n_answers += column_of (tried, "is_answer").whole[i] != 0;
    }
    assert_int_equal (n_answers, 1);
    fabricast_table_free (tried);
  }
  tried = NULL;
  study.vary = two;
  assert_int_equal (fabricast_size (scenario, &study, &tried, &error), FABRICAST_INPUT);
  assert_string_equal (fabricast_error_message (error), "one key can be searched, as KEY=VALUES in `vary`");
  fabricast_error_free (error);
  study = (FabricastStudyOptions){ .struct_size = sizeof study, .vary = vary };
  assert_int_equal (fabricast_size (scenario, &study, &tried, &error), FABRICAST_INPUT);
  assert_string_equal (fabricast_error_message (error), "a target is missing, as exposed<=5%");
  fabricast_error_free (error);
  assert_null (tried);
  fabricast_table_free (all);
  fabricast_scenario_free (scenario);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_values),
    cmocka_unit_test (test_flags_and_times),
    cmocka_unit_test (test_predictions),
    cmocka_unit_test (test_predictions_of_one_iteration),
    cmocka_unit_test (test_predictions_that_are_refused),
    cmocka_unit_test (test_sweep),
    cmocka_unit_test (test_size),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
