/* SPDX-License-Identifier: Apache-2.0 */
/* test_library.c - what a host sees of libfabricast, through its public header alone. */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fabricast.h>

static const char hello[] = "name: hello\n"
                            "cluster: {node: dgx-a100, nodes: 2}\n"
                            "job:\n"
                            "  kind: ddp\n"
                            "  model: gpt2-xl\n"
                            "  micro_batch: 4\n"
                            "  sequence: 1024\n"
                            "  compute: {kind: mfu, mfu: 40%}\n";

static FabricastContext *
context_of (void **state)
{
  return *state;
}

static int
setup (void **state)
{
  return fabricast_context_new (NULL, (FabricastContext **) state, NULL);
}

static int
teardown (void **state)
{
  fabricast_context_free (*state);
  return 0;
}

static FabricastScenario *
parse (FabricastContext *context, const char *text)
{
  FabricastScenario *scenario = NULL;
  FabricastError *error = NULL;

  if (fabricast_scenario_parse (context, "test.yaml", text, strlen (text), &scenario, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  return scenario;
}

static FabricastValue
figure (const FabricastResult *result, const char *name)
{
  FabricastValue value = { .struct_size = sizeof value };

  assert_int_equal (fabricast_result_figure (result, name, &value, NULL), FABRICAST_OK);
  return value;
}

static FabricastColumn
column_of (const FabricastTable *table, const char *name)
{
  FabricastColumn column = { .struct_size = sizeof column };

  for (size_t i = 0; fabricast_table_column (table, i, &column); i++)
    if (strcmp (column.name, name) == 0)
      return column;
  fail_msg ("no column %s", name);
  return column;
}

static FabricastResult *
run (const FabricastScenario *scenario)
{
  FabricastResult *result = NULL;
  FabricastError *error = NULL;

  if (fabricast_run (scenario, NULL, &result, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  return result;
}

/* Compute, exposed and idle make up the step; the figure in seconds is that in picoseconds. */
static void
test_run (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello);
  FabricastResult *result = run (scenario);
  FabricastTable *steps = NULL, *exposure = NULL;
  int64_t duration = figure (result, "step_ps").whole;

  fabricast_scenario_free (scenario); /* the result needs it no more */
  assert_true (duration > 0);
  assert_true (duration
               == figure (result, "compute_ps").whole + figure (result, "exposed_ps").whole
                      + figure (result, "idle_ps").whole);
  assert_true (fabs (figure (result, "step_s").real - (double) duration / 1e12) < 1e-15);
  assert_string_equal (figure (result, "step_ps").unit, "ps");
  assert_int_equal (figure (result, "n_ranks").whole, 16);
  assert_string_equal (figure (result, "name").text, "hello");
  assert_int_equal (figure (result, "step_low_s").kind, FABRICAST_NONE);
  assert_int_equal (fabricast_result_table (result, "iteration", &steps, NULL), FABRICAST_OK);
  size_t n = fabricast_table_rows (steps);
  assert_int_equal (n, figure (result, "n_iterations").whole);
  assert_true (column_of (steps, "step_ps").whole[n - 1] == duration);
  assert_int_equal (fabricast_result_table (result, "exposure", &exposure, NULL), FABRICAST_OK);
  assert_string_equal (column_of (exposure, "op").text[0], "all_reduce");
  fabricast_result_free (result);
  assert_true (column_of (steps, "step_ps").whole[n - 1] == duration); /* a table outlives its result */
  fabricast_table_free (steps);
  fabricast_table_free (exposure);
}

static void
test_every_table (void **state)
{
  static const char *const names[] = {
    "iteration", "iteration_class", "collective",  "span",     "link",
    "link_load", "link_queue",      "link_sample", "exposure", "critical_path",
    "memory",    "rank_class",      "finding",     "band",     "job"
  };
  FabricastScenario *scenario = parse (context_of (state), hello);
  const FabricastRunOptions options = { .struct_size = sizeof options, .has_band = 1, .has_jobs = 1 };
  FabricastResult *result = NULL;
  FabricastTable *table = NULL;

  assert_int_equal (fabricast_run (scenario, &options, &result, NULL), FABRICAST_OK);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal (fabricast_result_table (result, names[i], &table, NULL), FABRICAST_OK);
    fabricast_table_free (table);
  }
  assert_int_equal (fabricast_result_table (result, "no", &table, NULL), FABRICAST_INPUT);
  assert_true (figure (result, "step_low_s").real < figure (result, "step_s").real);
  assert_true (figure (result, "step_high_s").real > figure (result, "step_s").real);
  assert_int_equal (fabricast_result_explain (result, "exposed", &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) > 2);
  fabricast_table_free (table);
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
}

static void
test_issues (void **state)
{
  static const char wrong[] =
      "name: wrong\ncluster: {node: dgx-a100, nodez: 2}\njob: {kind: ddp, micro_batch: -1}\n";
  FabricastScenario *scenario = NULL;
  FabricastError *error = NULL;
  FabricastIssue issue = { .struct_size = sizeof issue };

  assert_int_equal (fabricast_scenario_parse (context_of (state), "w:1:x.yaml", wrong, strlen (wrong),
                                              &scenario, &error),
                    FABRICAST_INPUT);
  assert_null (scenario);
  assert_int_equal (fabricast_error_status (error), FABRICAST_INPUT);
  assert_true (fabricast_error_issue (error, 0, &issue));
  assert_string_equal (issue.file, "w:1:x.yaml");
  assert_int_equal (issue.line, 2);
  assert_int_equal (issue.column, 27);
  assert_non_null (strstr (issue.message, "nearest is 'nodes'"));
  assert_non_null (strstr (issue.source, "nodez"));
  assert_true (fabricast_error_issue (error, 1, &issue));
  assert_int_equal (issue.line, 3);
  assert_false (fabricast_error_issue (error, 100, &issue));
  fabricast_error_free (error);
  assert_int_equal (fabricast_scenario_load (context_of (state), "/nowhere/x.yaml", &scenario, &error),
                    FABRICAST_IO);
  assert_true (fabricast_error_issue (error, 0, &issue));
  fabricast_error_free (error);
}

static void
test_keys (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello), *copy = NULL;
  FabricastValue value = { .struct_size = sizeof value };
  FabricastError *error = NULL;

  assert_int_equal (fabricast_scenario_copy (scenario, &copy, NULL), FABRICAST_OK);
  value.kind = FABRICAST_WHOLE;
  value.whole = 100;
  value.unit = "Gb/s";
  assert_int_equal (fabricast_scenario_set (copy, "cluster.nic_rate", &value, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_get (copy, "cluster.nic_rate", &value, NULL), FABRICAST_OK);
  assert_true (value.whole == INT64_C (12500000000));
  assert_string_equal (value.unit, "B/s");
  value = (FabricastValue){ .struct_size = sizeof value, .kind = FABRICAST_TEXT, .text = "25MiB" };
  assert_int_equal (fabricast_scenario_set (copy, "job.bucket", &value, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_get (copy, "job.bucket", &value, NULL), FABRICAST_OK);
  assert_int_equal (value.whole, 25 << 20);
  value = (FabricastValue){ .struct_size = sizeof value, .kind = FABRICAST_TEXT, .text = "fast" };
  assert_int_equal (fabricast_scenario_set (copy, "cluster.nic_rate", &value, &error), FABRICAST_INPUT);
  assert_non_null (fabricast_error_message (error));
  fabricast_error_free (error);
  assert_int_equal (fabricast_scenario_get (copy, "cluster.nodez", &value, NULL), FABRICAST_INPUT);
  assert_int_equal (fabricast_scenario_assign (copy, "cluster.nodes=4", NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_get (copy, "cluster.nodes", &value, NULL), FABRICAST_OK);
  assert_int_equal (value.whole, 4);
  assert_int_equal (fabricast_scenario_get (scenario, "cluster.nodes", &value, NULL), FABRICAST_OK);
  assert_int_equal (value.whole, 2); /* a copy is a copy */
  assert_non_null (strstr (fabricast_scenario_text (copy), "nodes: 4"));
  fabricast_scenario_free (copy);
  fabricast_scenario_free (scenario);
}

/* Nothing that a host passes may end the process. */
static void
test_misuse (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello);
  FabricastResult *result = NULL;
  FabricastTable *table = NULL;
  FabricastError *error = NULL;
  struct {
    FabricastRunOptions options;
    int more;
  } newer = { { .struct_size = sizeof newer }, 1 };
  FabricastValue none = { 0 };
  FabricastPredictOptions predict = { .struct_size = sizeof predict, .op = "all_reduce" };

  assert_int_equal (fabricast_run (NULL, NULL, &result, &error), FABRICAST_MISUSE);
  assert_non_null (strstr (fabricast_error_message (error), "`scenario` is NULL"));
  fabricast_error_free (error);
  assert_int_equal (fabricast_run (scenario, NULL, NULL, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_run (scenario, &newer.options, &result, NULL), FABRICAST_MISUSE);
  newer.options.struct_size = 0;
  assert_int_equal (fabricast_run (scenario, &newer.options, &result, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_scenario_get (scenario, "cluster.nodes", &none, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_predict (scenario, &predict, &table, NULL), FABRICAST_MISUSE);
  assert_int_equal (
      fabricast_sweep (scenario, &(FabricastStudyOptions){ .struct_size = sizeof (FabricastStudyOptions) },
                       &table, NULL),
      FABRICAST_INPUT);
  assert_null (result);
  assert_null (table);
  assert_int_equal (fabricast_table_rows (NULL), 0);
  assert_int_equal (fabricast_error_status (NULL), FABRICAST_OK);
  fabricast_table_free (NULL);
  fabricast_result_free (NULL);
  fabricast_error_free (NULL);
  fabricast_scenario_free (scenario);
}

static int
stop (void *user, int64_t done, int64_t all)
{
  int *calls = user;

  (*calls)++;
  return done == 1 && all > 1;
}

static void
test_cancel (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello);
  FabricastResult *result = NULL;
  FabricastTable *points = NULL;
  int calls = 0, flag = 1;
  const char *const vary[] = { "cluster.nodes=1..2", NULL };
  FabricastRunOptions options = { .struct_size = sizeof options, .progress = stop, .user = &calls };
  FabricastStudyOptions study = { .struct_size = sizeof study, .vary = vary, .cancel = &flag };

  assert_int_equal (fabricast_run (scenario, &options, &result, NULL), FABRICAST_CANCELLED);
  assert_int_equal (calls, 1);
  options = (FabricastRunOptions){ .struct_size = sizeof options, .cancel = &flag };
  assert_int_equal (fabricast_run (scenario, &options, &result, NULL), FABRICAST_CANCELLED);
  assert_int_equal (fabricast_sweep (scenario, &study, &points, NULL), FABRICAST_CANCELLED);
  fabricast_scenario_free (scenario);
}

static void
test_studies (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello), *machine = NULL;
  const char *const vary[] = { "cluster.nodes=1..4:x2", NULL }, *const targets[] = { "exposed<=90%", NULL };
  const uint64_t sizes[] = { 1 << 20, UINT64_C (1) << 30 };
  FabricastStudyOptions study = { .struct_size = sizeof study, .vary = vary, .targets = targets };
  FabricastPredictOptions predict = {
    .struct_size = sizeof predict, .op = "all_reduce", .sizes_bytes = sizes, .n_sizes = 2
  };
  FabricastTable *table = NULL;
  FabricastError *error = NULL;
  FabricastResult *result = run (scenario);

  assert_int_equal (fabricast_sweep (scenario, &study, &table, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_table_rows (table), 3);
  assert_string_equal (column_of (table, "cluster.nodes").text[1], "2");
  assert_true (column_of (table, "step_s").real[1] == figure (result, "step").real);
  fabricast_table_free (table);
  assert_int_equal (fabricast_size (scenario, &study, &table, NULL), FABRICAST_OK);
  assert_int_equal (column_of (table, "is_answer").whole[0], 1);
  fabricast_table_free (table);
  assert_int_equal (fabricast_scenario_new (context_of (state), &machine, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (machine, "cluster.node=dgx-a100", NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (machine, "cluster.nodes=1", NULL), FABRICAST_OK);
  if (fabricast_predict (machine, &predict, &table, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  assert_true (column_of (table, "size_bytes").whole[1] == INT64_C (1) << 30);
  assert_true (column_of (table, "busbw_GBps").real[1]
               > 150); /* NVLink of A100: 300 GB/s a direction at most */
  assert_true (column_of (table, "busbw_GBps").real[1] < 300);
  fabricast_table_free (table);
  fabricast_result_free (result);
  fabricast_scenario_free (machine);
  fabricast_scenario_free (scenario);
}

/* Two nodes, as the scenario has, take twice the global batch of one, unless it is held. */
static void
test_hold (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello);
  const char *const vary[] = { "cluster.nodes=1,2", NULL };
  FabricastStudyOptions study = { .struct_size = sizeof study, .vary = vary };
  FabricastTable *table = NULL;
  FabricastError *error = NULL;

  assert_int_equal (fabricast_sweep (scenario, &study, &table, NULL), FABRICAST_OK);
  int64_t one = column_of (table, "global_batch").whole[0];
  assert_int_equal (column_of (table, "global_batch").whole[1], 2 * one);
  fabricast_table_free (table);
  study.hold = "batch";
  assert_int_equal (fabricast_sweep (scenario, &study, &table, NULL), FABRICAST_OK);
  assert_int_equal (column_of (table, "global_batch").whole[0], 2 * one);
  assert_int_equal (column_of (table, "global_batch").whole[1], 2 * one);
  fabricast_table_free (table);
  study.hold = "global";
  assert_int_equal (fabricast_sweep (scenario, &study, &table, &error), FABRICAST_INPUT);
  assert_non_null (strstr (fabricast_error_message (error), "micro_batch"));
  fabricast_error_free (error);
  fabricast_scenario_free (scenario);
}

static void
test_describe (void **state)
{
  FabricastTable *table = NULL;

  assert_int_equal (fabricast_describe (context_of (state), NULL, NULL, &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) > 10);
  fabricast_table_free (table);
  assert_int_equal (fabricast_describe (context_of (state), "nodes", "dgx-a100", &table, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_table_rows (table), 1);
  assert_non_null (strstr (column_of (table, "yaml").text[0], "accelerator"));
  fabricast_table_free (table);
  assert_int_equal (fabricast_describe (context_of (state), "keys", NULL, &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) > 100);
  fabricast_table_free (table);
  assert_int_equal (fabricast_describe (context_of (state), "keys", "cluster.nodes", &table, NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_table_rows (table), 1);
  assert_string_equal (column_of (table, "key").text[0], "cluster.nodes");
  assert_string_equal (column_of (table, "default").text[0], "1");
  fabricast_table_free (table);
  assert_int_equal (fabricast_describe (context_of (state), "keys", "cluster.node_s", &table, NULL),
                    FABRICAST_INPUT);
  assert_int_equal (fabricast_describe (context_of (state), "nodes", "no", &table, NULL), FABRICAST_INPUT);
  assert_non_null (strstr (fabricast_schema (context_of (state)), "$schema"));
}

/* A catalogue, a number of threads and a section that there cannot be are told, and nothing is made. */
static void
test_mistaken_contexts (void **state)
{
  const FabricastContextOptions nowhere = { .struct_size = sizeof nowhere, .catalogue = "/no/such/folder" },
                                threads = { .struct_size = sizeof threads, .n_threads = -1 }, empty = { 0 };
  const struct {
    const FabricastContextOptions *options;
    int status;
    const char *words;
  } cases[] = { { &nowhere, FABRICAST_IO, "/no/such/folder" },
                { &threads, FABRICAST_MISUSE, "n_threads is -1: 0 or more are possible" },
                { &empty, FABRICAST_MISUSE, "struct_size is 0: set it to sizeof the struct" } };
  FabricastTable *table = NULL;
  FabricastError *error = NULL;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FabricastContext *made = NULL;

    assert_int_equal (fabricast_context_new (cases[i].options, &made, &error), cases[i].status);
    assert_null (made);
    assert_int_equal (fabricast_error_status (error), cases[i].status);
    assert_non_null (strstr (fabricast_error_message (error), cases[i].words));
    fabricast_error_free (error);
    error = NULL;
  }
  assert_int_equal (fabricast_describe (context_of (state), "node", NULL, &table, &error), FABRICAST_INPUT);
  assert_null (table);
  assert_string_equal (fabricast_error_message (error),
                       "unknown section 'node'; without a section, all are listed");
  fabricast_error_free (error);
}

/* Sections of the catalogue come first, then kinds of models, then keys, each with what it is; each can be described
 * itself, and its entries have names and summaries. */
static void
test_sections (void **state)
{
  static const char *const kinds[] = { "fabric",      "route",   "fidelity", "congestion", "algorithm",
                                       "collectives", "compute", "shape",    "job",        "keys" };
  const size_t n_kinds = sizeof kinds / sizeof *kinds;
  FabricastTable *sections = NULL;

  assert_int_equal (fabricast_describe (context_of (state), NULL, NULL, &sections, NULL), FABRICAST_OK);
  size_t n = fabricast_table_rows (sections);
  FabricastColumn name = column_of (sections, "name"), summary = column_of (sections, "summary");
  assert_true (n > n_kinds);
  assert_string_equal (name.text[0], "links");
  for (size_t i = 0; i < n; i++) {
    FabricastTable *table = NULL;
    const char *is_kind = i + n_kinds >= n ? kinds[i + n_kinds - n] : NULL;

    if (is_kind != NULL)
      assert_string_equal (name.text[i], is_kind);
    assert_non_null (summary.text[i]);
    assert_int_equal (strcmp (summary.text[i], "Models that a scenario chooses from by name.") == 0,
                      is_kind != NULL && strcmp (is_kind, "keys") != 0);
    assert_int_equal (fabricast_describe (context_of (state), name.text[i], NULL, &table, NULL),
                      FABRICAST_OK);
    assert_true (fabricast_table_rows (table) > 0);
    if (is_kind == NULL || strcmp (is_kind, "keys") != 0)
      assert_non_null (column_of (table, "name").text[0]);
    fabricast_table_free (table);
  }
  fabricast_table_free (sections);
}

/* A key that names a model is of the kind of the model, one that names an entry of the section of the entry, one of
 * few words says which, and another one is of its plain type. Jobs alone have the kind of theirs in the key. */
static void
test_described_keys (void **state)
{
  static const char *const rows[][3] = {
    { "cluster.node", "node", "" },
    { "cluster.fabric", "fabric", "" },
    { "cluster.placement", "usual | packed | strided | spread | random", "usual" },
    { "cost.gpu_busy", "fraction", "100%" },
    { "faults.0.latency", "time", "0s" },
    { "links.0.copy.payload", "size", "0B" },
    { "job(ddp).accumulation", "count", "1" },
    { "job(zero).parallel.moe.groups", "count", "0" },
    { "job(traffic).count", "count", "1" },
  };
  FabricastTable *table = NULL;

  assert_int_equal (fabricast_describe (context_of (state), "keys", NULL, &table, NULL), FABRICAST_OK);
  FabricastColumn key = column_of (table, "key"), type = column_of (table, "type"),
                  fallback = column_of (table, "default"), help = column_of (table, "help");
  size_t n = fabricast_table_rows (table), n_found = 0, n_jobs = 0;

  assert_string_equal (key.text[0], "name");
  for (size_t i = 0; i < n; i++) {
    assert_non_null (help.text[i]);
    n_jobs += strncmp (key.text[i], "job(", 4) == 0;
    assert_true (strchr (key.text[i], '(') == NULL || strncmp (key.text[i], "job(", 4) == 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
      if (strcmp (key.text[i], rows[k][0]) == 0) {
        assert_string_equal (type.text[i], rows[k][1]);
        assert_string_equal (fallback.text[i], rows[k][2]);
        n_found++;
      }
  }
  assert_int_equal (n_found, sizeof rows / sizeof *rows);
  assert_true (n_jobs > n / 4);
  fabricast_table_free (table);
}

typedef struct {
  FabricastContext *context;
  int64_t duration_ps;
} Job;

static void *
play (void *data)
{
  Job *job = data;
  FabricastScenario *scenario = NULL;
  FabricastResult *result = NULL;
  FabricastValue value = { .struct_size = sizeof value };

  if (fabricast_scenario_parse (job->context, "thread", hello, strlen (hello), &scenario, NULL)
          == FABRICAST_OK
      && fabricast_run (scenario, NULL, &result, NULL) == FABRICAST_OK
      && fabricast_result_figure (result, "step_ps", &value, NULL) == FABRICAST_OK)
    job->duration_ps = value.whole;
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
  return NULL;
}

static void
test_threads (void **state)
{
  Job jobs[2] = { { context_of (state), 0 }, { context_of (state), 0 } };
  pthread_t threads[2];

  for (int i = 0; i < 2; i++)
    assert_int_equal (pthread_create (&threads[i], NULL, play, &jobs[i]), 0);
  for (int i = 0; i < 2; i++)
    pthread_join (threads[i], NULL);
  assert_true (jobs[0].duration_ps > 0);
  assert_true (jobs[0].duration_ps == jobs[1].duration_ps);
}

static int
look (void *user, int64_t done, int64_t all)
{
  (void) done;
  (void) all;
  *(int *) user += fegetround () == FE_UPWARD;
  return 0;
}

/* A host that rounds upward and writes commas gets the same figures, and its own environment back. */
static void
test_host (void **state)
{
  FabricastScenario *scenario = parse (context_of (state), hello);
  FabricastResult *plain = run (scenario), *odd = NULL;
  int calls = 0;
  const FabricastRunOptions options = { .struct_size = sizeof options, .progress = look, .user = &calls };
  const char *found = setlocale (LC_NUMERIC, "de_DE.UTF-8");
  FabricastTable *first = NULL, *second = NULL;

  fesetround (FE_UPWARD);
  assert_int_equal (fabricast_run (scenario, &options, &odd, NULL), FABRICAST_OK);
  assert_int_equal (fegetround (), FE_UPWARD);
  fesetround (FE_TONEAREST);
  assert_int_equal (calls, figure (odd, "iterations").whole);
  assert_true (figure (odd, "step_ps").whole == figure (plain, "step_ps").whole);
  assert_true (figure (odd, "mfu_fraction").real == figure (plain, "mfu_fraction").real);
  assert_int_equal (fabricast_result_explain (odd, "step", &first, NULL), FABRICAST_OK);
  setlocale (LC_NUMERIC, "C");
  assert_int_equal (fabricast_result_explain (plain, "step", &second, NULL), FABRICAST_OK);
  for (size_t i = 0; i < fabricast_table_rows (first); i++)
    assert_string_equal (column_of (first, "shown").text[i], column_of (second, "shown").text[i]);
  if (found == NULL)
    print_message ("there is no locale with a comma here: half of this was not tested\n");
  fabricast_table_free (first);
  fabricast_table_free (second);
  fabricast_result_free (odd);
  fabricast_result_free (plain);
  fabricast_scenario_free (scenario);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_run),      cmocka_unit_test (test_every_table),
    cmocka_unit_test (test_issues),   cmocka_unit_test (test_keys),
    cmocka_unit_test (test_misuse),   cmocka_unit_test (test_cancel),
    cmocka_unit_test (test_studies),  cmocka_unit_test (test_hold),
    cmocka_unit_test (test_describe), cmocka_unit_test (test_mistaken_contexts),
    cmocka_unit_test (test_sections), cmocka_unit_test (test_described_keys),
    cmocka_unit_test (test_threads),  cmocka_unit_test (test_host),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
