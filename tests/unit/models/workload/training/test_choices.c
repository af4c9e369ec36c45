/* SPDX-License-Identifier: Apache-2.0 */
/* test_choices.c - what plan and tune may choose: assignments that load, keep the batch and what the scenario
 * says. */
#include "tests/support/test.h"

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "models/workload/training/keys.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"
#define HEAD "name: c\ncluster: {node: dgx-a100, nodes: 4}\njob: {model: gpt2-xl, sequence: 512, "

static FabCatalog *catalog;

static FabScenario *
load (const char *yaml, const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("c", yaml, strlen (yaml), sets, &fab_models, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static const TrainParams *
train_of (const FabScenario *scenario)
{
  return fab_scenario_spec (scenario)->job.params;
}

/* What a scenario writes, set over an empty job, is the same job. */
static void
test_written_reads_back (void **state)
{
  const char *yaml = HEAD "kind: fsdp, sharding: hybrid, micro_batch: 2, compute: {kind: mfu, mfu: 37%}, "
                          "stragglers: [{rank: 3, slowness: 1.5}], jitter: {cv: 2%}, "
                          "parallel: {pipeline: 2, order: tp-cp-ep-pp-dp}}\n";
  g_autoptr (FabScenario) first = load (yaml, NULL);
  const FabModelChoice *job = &fab_scenario_spec (first)->job;
  g_autoptr (FabValue) written = fab_scenario_written (first, job->info->params, job->params, NULL);
  g_autofree char *keys = fab_value_write (written);
  g_autoptr (FabScenario) second = load (HEAD "kind: ddp}\n", NULL);
  g_autoptr (GError) error = NULL;

  fab_value_put (written, "kind", fab_value_text ("fsdp"));
  assert_true (fab_scenario_set (second, "job", g_steal_pointer (&written), &error));
  assert_true (fab_scenario_check (second, &error));
  g_autofree char *was = fab_scenario_resolved (first), *is = fab_scenario_resolved (second);

  (void) state;
  assert_string_equal (was, is);
  assert_null (strstr (keys, "in_flight")); /* a default */
  assert_non_null (strstr (keys, "compute: {kind: mfu, mfu: 0.37"));
}

static void
test_written_text (void **state)
{
  static const char *const texts[] = { "25MiB", "a b",   "it's", "",    "x: y", "{",
                                       "-1",    "tp-cp", "#",    "50%", "null" };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (FabValue) value = fab_value_text (texts[i]);
    g_autofree char *text = fab_value_write (value);
    g_autofree char *yaml = g_strdup_printf ("{a: %s}", text);
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", yaml, strlen (yaml), diagnostics);

    assert_int_equal (fab_diagnostics_count (diagnostics), 0);
    assert_string_equal (fab_yaml_get (fab_yaml_doc_root (doc), "a")->text, texts[i]);
  }
}

/* --- strategies --- */

static GPtrArray *
candidates_of (const char *yaml, const char *names, double sequences)
{
  g_autoptr (FabScenario) scenario = load (yaml, NULL);
  g_autoptr (GError) error = NULL;
  double found;
  GPtrArray *candidates = fab_strategy_candidates (scenario, names, &found, &error);

  assert_non_null (candidates);
  assert_near (found, sequences, 0);
  return candidates;
}

/* Every one loads, trains as many sequences, and has what the scenario says. */
static void
check_candidates (const char *yaml, double sequences)
{
  g_autoptr (GPtrArray) candidates = candidates_of (yaml, NULL, sequences);
  guint n_loaded = 0;

  for (guint i = 0; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (candidate->trial.problem != NULL || candidate->edits == NULL)
      continue;
    g_autoptr (FabScenario) scenario = load (yaml, fab_edits_texts (candidate->edits));
    const TrainParams *p = train_of (scenario);
    gint64 ranks = 32 / (p->parallel.tensor * p->parallel.context * p->parallel.pipeline);

    n_loaded++;
    assert_int_equal (p->global_batch, (gint64) sequences);
    assert_int_equal (p->global_batch % (p->micro_batch * ranks), 0);
    assert_int_equal (p->sequence, 512);
    assert_string_equal (p->model, "gpt2-xl");
    assert_near (p->train_tokens, 5e9, 0);
  }
  assert_true (n_loaded > 60);
}

static void
test_candidates_keep_the_job (void **state)
{
  (void) state;
  check_candidates (HEAD "kind: ddp, micro_batch: 4, train_tokens: 5e9}\n", 4 * 32);
  check_candidates (HEAD
                    "kind: zero, stage: 3, secondary: 8, offload: {parameters: cpu}, train_tokens: 5e9}\n",
                    32);
  check_candidates (HEAD "kind: fsdp, sharding: hybrid, shard: 4, accumulation: 2, train_tokens: 5e9}\n", 64);
  check_candidates (HEAD "kind: megatron, global_batch: 64, train_tokens: 5e9, gradient: bf16, parallel: "
                         "{tensor: 2, pipeline: 4, schedule: interleaved, virtual: 2}}\n",
                    64);
}

/* 48 blocks and 25 heads on four nodes of eight: no power of two but 1 divides the heads; 1, 2, 4, 8, 16 stages
 * divide ranks and blocks, 32 the ranks alone. */
static void
test_divisions (void **state)
{
  static const char *const expected[] = { "-",          "pipeline 2",  "pipeline 4",
                                          "pipeline 8", "pipeline 16", "pipeline 32" };
  g_autoptr (GPtrArray) candidates = candidates_of (HEAD "kind: ddp}\n", "megatron", 32);
  guint n = 0;

  (void) state;
  for (guint i = 1; i < candidates->len; i++) {
    const FabCandidate *candidate = g_ptr_array_index (candidates, i);

    if (candidate->family == ((const FabCandidate *) g_ptr_array_index (candidates, i - 1))->family)
      continue;
    assert_true (n < G_N_ELEMENTS (expected));
    assert_string_equal (candidate->division, expected[n++]);
  }
  assert_int_equal (n, G_N_ELEMENTS (expected));
}

static void
test_what_cannot_be (void **state)
{
  g_autoptr (GPtrArray) candidates = candidates_of (HEAD
                                                    "kind: ddp, global_batch: 16, parallel: {pipeline: 2}}\n",
                                                    "zero1", 16);
  const FabCandidate *candidate = g_ptr_array_index (candidates, 1);

  (void) state;
  assert_int_equal (candidates->len, 2);
  assert_string_equal (candidate->trial.problem,
                       "a global batch of 16 sequences cannot be divided among 32 data-parallel ranks");
}

/* --- what may save memory --- */

/* Every change that may save memory is one that the scenario takes, whatever keys of its own it writes: the model and
 * its sequence stay. */
static void
test_remedies_load (void **state)
{
  static const struct {
    const char *job;
    guint n_least; /* changes of the strategy that there must be at least */
  } rows[] = {
    { "kind: ddp}", 6 },
    { "kind: ddp, bucket: 30MiB, micro_batch: 4}", 6 },
    { "kind: fsdp, sharding: grad_op, in_flight: 3}", 3 },
    { "kind: zero, stage: 1, reduce_bucket: 1000000, offload: {optimizer: none}}", 5 },
    { "kind: megatron, overlap_grad_reduce: true, bucket: 1000000, micro_batch: 2}", 5 },
  };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strconcat (HEAD, rows[i].job, "\n", NULL);
    g_autoptr (FabScenario) written = load (yaml, NULL);
    g_autoptr (GPtrArray) remedies = fab_job_remedies (written);
    const TrainParams *before = train_of (written);
    guint n_strategies = 0;

    for (guint r = 0; r < remedies->len; r++) {
      const FabRemedy *remedy = g_ptr_array_index (remedies, r);
      g_autoptr (FabScenario) changed = load (yaml, fab_edits_texts (remedy->edits));
      const TrainParams *after = train_of (changed);

      assert_string_equal (after->model, before->model);
      assert_int_equal (after->sequence, before->sequence);
      n_strategies += strcmp (remedy->group, "strategy") == 0;
    }
    assert_true (n_strategies >= rows[i].n_least);
  }
}

/* --- knobs --- */

/* The value that the scenario has is among them, once, in its place. */
static void
test_knobs_have_what_is_written (void **state)
{
  g_autoptr (FabScenario) scenario = load (HEAD
                                           "kind: ddp, bucket: 30MiB, micro_batch: 3, accumulation: 4}\n",
                                           NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) knobs = fab_job_knobs (scenario, NULL, &error);
  const FabKnob *bucket, *micro;

  (void) state;
  assert_int_equal (knobs->len, 2);
  bucket = g_ptr_array_index (knobs, 0);
  micro = g_ptr_array_index (knobs, 1);
  assert_int_equal (bucket->values->len, 10);
  assert_string_equal (fab_knob_value (bucket, bucket->written)->label, "30MiB");
  assert_string_equal (fab_knob_value (bucket, bucket->written - 1)->label, "25MiB");
  assert_int_equal (micro->values->len, 4); /* 1, 2, 3 and 4 divide 12 */
  assert_string_equal (fab_knob_value (micro, micro->written)->label, "3 x 4");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_written_reads_back),      cmocka_unit_test (test_written_text),
    cmocka_unit_test (test_candidates_keep_the_job), cmocka_unit_test (test_divisions),
    cmocka_unit_test (test_what_cannot_be),          cmocka_unit_test (test_knobs_have_what_is_written),
    cmocka_unit_test (test_remedies_load),
  };
  g_autoptr (GError) error = NULL;
  int failed;

  catalog = fab_catalog_load (CATALOG, &fab_models, &error);
  if (catalog == NULL)
    g_error ("%s", error->message);
  failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return failed;
}
