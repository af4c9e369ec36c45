/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_page.c - the page and the JSON of `fabricast run` for a job of several rank classes and dimensions, with
 * memory and a length, which is made here: two stages on the eight GPUs of a node.
 *
 * Stage 0 computes for 60 ms, stage 1 for 30 ms, then both join an all-reduce of data, and stage 0 one of tensor
 * beside it.
 */
#include "tests/support/test.h"

#include <string.h>

#include <json-glib/json-glib.h>

#include "cli/run/run.h"
#include "models/models.h"
#include "tests/support/play.h"

#define MS G_GINT64_CONSTANT (1000000000) /* ps */
#define GB G_GINT64_CONSTANT (1000000000)

typedef struct {
  FabBytes optimizer_bytes;
} StagesParams;

static const FabParam stages_params[] = {
  { .key = "optimizer",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (StagesParams, optimizer_bytes),
    .fallback = "40GB",
    .max = 1e15,
    .help = "Memory of stage 1." },
  { .key = NULL },
};

static gboolean
add_talk (const FabWorkloadEnv *env, FabDagBuilder *builder, FabDimension dimension, const guint *streams,
          guint n_streams, GError **error)
{
  FabGroup group = { env->cluster, 1, env->cluster->gpus_per_node };
  FabCollectivePlan plan;

  if (!fab_library_plan (env->library, &group, FAB_OP_ALL_REDUCE, GB, &plan, error))
    return FALSE;
  guint collective = fab_dag_builder_collective (builder, &plan, dimension, g_strdup ("r"));
  for (guint i = 0; i < n_streams; i++)
    fab_dag_builder_join (builder, streams[i], collective);
  return TRUE;
}

static gboolean
stages_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
              GError **error)
{
  const StagesParams *p = params;
  guint streams[2], side;

  for (guint c = 0; c < 2; c++) {
    const char *name = c == 0 ? "stage 0" : "stage 1";
    guint rank_class = fab_dag_builder_class (builder, name, 4 * c, 4);

    streams[c] = fab_dag_builder_stream (builder, rank_class, "all");
    fab_dag_builder_work (builder, streams[c], FAB_SPAN_COMPUTE, (c == 0 ? 60 : 30) * MS, g_strdup ("work"));
    fab_job_totals_add_memory (totals, c, "parameters", 10 * GB);
  }
  side = fab_dag_builder_stream (builder, 0, "side");
  fab_dag_builder_work (builder, side, FAB_SPAN_LOAD, 60 * MS, g_strdup ("load"));
  totals->tokens = 1e6;
  totals->train_tokens = 1e12;
  fab_job_totals_add_memory (totals, 1, "optimizer", p->optimizer_bytes);
  return add_talk (env, builder, FAB_DIMENSION_DATA, streams, 2, error)
      && add_talk (env, builder, FAB_DIMENSION_TENSOR, &side, 1, error);
}

static const FabWorkloadOps stages_ops = {
  .info = { .name = "stages",
            .summary = "Two stages.",
            .doc = "docs/models/collective.md",
            .params = stages_params,
            .params_size = sizeof (StagesParams) },
  .build = stages_build,
};

typedef struct {
  FabCatalog *catalog;
  FabScenario *scenario;
  const FabModelInfo *workloads[2];
  FabRegistry registry;
  FabRunResult result;
} Run;

static void
run_init (Run *run, const char *job)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *yaml = g_strdup_printf (
      "name: x\niterations: 2\ncollectives: plain\ncluster: {node: dgx-a100}\njob: {kind: stages%s}\n", job);

  run->registry = fab_models;
  run->workloads[0] = &stages_ops.info;
  run->workloads[1] = NULL;
  run->registry.lists[FAB_MODEL_WORKLOAD] = run->workloads;
  run->catalog = play_catalog ();
  run->scenario = fab_scenario_parse ("x", yaml, strlen (yaml), NULL, &run->registry, run->catalog, &error);
  g_assert_no_error (error);
  run->result = (FabRunResult){ .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  run->result.simulation = fab_simulation_new (run->scenario, &run->registry, NULL, &error);
  g_assert_no_error (error);
  while (fab_simulation_step (run->result.simulation))
    g_array_append_val (run->result.steps, fab_simulation_probe (run->result.simulation)->step);
  fab_run_finish (&run->result);
}

static void
run_clear (Run *run)
{
  fab_run_result_clear (&run->result);
  fab_scenario_free (run->scenario);
  fab_catalog_free (run->catalog);
}

#define assert_has(text, part)                          \
  do {                                                  \
    if (strstr ((text), (part)) == NULL)                \
      fail_msg ("without \"%s\":\n%s", (part), (text)); \
  } while (0)

/* From 60 ms on both all-reduces run over the same rings: each has half of the rate, and they take as long
 * together as one after the other, T. Stage 0 shares its exposed T equally, T/2 each; stage 1 has T of data: the
 * means over ranks are 3/4 T and 1/4 T. */
static void
exposed_time_is_shared_between_dimensions (G_GNUC_UNUSED void **state)
{
  Run run;

  run_init (&run, "");
  const GArray *shares = run.result.reasons.shares;
  const FabRunShare *data = &g_array_index (shares, FabRunShare, 0), *tensor = data + 1;
  assert_int_equal (shares->len, 2);
  assert_string_equal (data->dimension, "data");
  assert_string_equal (tensor->dimension, "tensor");
  assert_string_equal (tensor->ops->str, "all_reduce");
  assert_int_equal (data->exposed_ps + tensor->exposed_ps, fab_run_last_step (&run.result)->times.exposed_ps);
  assert_true (tensor->exposed_ps > 0 && ABS (data->exposed_ps - 3 * tensor->exposed_ps) < 10);
  run_clear (&run);
}

/* 60 ms of work, or of loading, then the all-reduce that ends last. */
static void
the_path_adds_up_to_the_step (G_GNUC_UNUSED void **state)
{
  Run run;
  FabTimePs sum_ps = 0;

  run_init (&run, "");
  const GArray *parts = run.result.reasons.path;
  assert_int_equal (parts->len, 2);
  for (guint i = 0; i < parts->len; i++) {
    const FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    if (part->dimension == NULL)
      assert_int_equal (part->time_ps, 60 * MS);
    sum_ps += part->time_ps;
  }
  assert_int_equal (sum_ps, fab_run_last_step (&run.result)->times.duration_ps);
  run_clear (&run);
}

/* Stage 1 holds 10 + 40 GB of the A100's 80; 1e12 tokens are 1e6 steps. */
static void
memory_and_training_are_printed (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) page = g_string_new (NULL);
  Run run;

  run_init (&run, "");
  double step_s = fab_ps_to_seconds (fab_run_last_step (&run.result)->times.duration_ps);
  assert_true (ABS (run.result.reasons.train_days * 86400 / 1e6 / step_s - 1) < 1e-6);
  assert_int_equal (run.result.reasons.missing_bytes, 0);
  fab_run_append_memory (page, &run.result);
  fab_run_append_classes (page, &run.result);
  fab_run_append_training (page, &run.result);
  fab_run_append_iterations (page, &run.result);
  assert_has (page->str, "  memory          50 of ");
  assert_has (page->str, " GB (stage 1): parameters 10, optimizer 40\n");
  assert_has (page->str, "    stage 0       \v       4\v");
  assert_has (page->str, "20.8 hours for 1 trillion tokens at this pace\n");
  assert_null (strstr (page->str, "p95")); /* iterations are alike */
  run_clear (&run);
}

static void
remedy_free (gpointer data)
{
  fab_remedy_free (data);
}

/* Another size of the optimizer: 10 GB more are what the job then needs. */
static void
add_remedy (GPtrArray *remedies, const char *family, const char *size)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_set (edits, "job.optimizer", fab_value_written (size));
  g_ptr_array_add (remedies, fab_remedy_new (family, family, 1, edits));
}

/* Of the sizes that are tried, one fits: with it the job needs 65 GB. */
static void
what_does_not_fit_is_said_with_what_does (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) remedies = g_ptr_array_new_with_free_func (remedy_free);
  g_autoptr (GString) page = g_string_new (NULL);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  Run run;

  run_init (&run, ", optimizer: 108GB");
  assert_true (run.result.reasons.missing_bytes > 0);
  fab_run_append_memory (page, &run.result);
  assert_has (page->str, "  memory          does not fit: 118 GB of ");
  assert_has (page->str, " GB per GPU (stage 1): parameters 10, optimizer 108\n");
  add_remedy (remedies, "much", "72GB");
  add_remedy (remedies, "enough", "55GB");
  add_remedy (remedies, "more", "200GB");
  run.result.advice = fab_memory_advice_find (run.scenario, run.result.simulation, remedies,
                                              &(FabMemoryTrying){ &run.registry, 1, NULL });
  fab_json_begin_object (json, NULL);
  fab_run_add_reasons (json, &run.result);
  fab_json_end (json);
  g_autofree char *text = fab_json_text (json);
  g_autoptr (JsonNode) root = json_from_string (text, NULL);
  JsonObject *memory = json_object_get_object_member (json_node_get_object (root), "memory");
  assert_false (json_object_get_boolean_member (memory, "fits"));
  assert_int_equal (json_object_get_int_member (memory, "bytes"), 118 * GB);
  JsonArray *hints = json_object_get_array_member (memory, "hints");
  assert_int_equal (json_array_get_length (hints), 1);
  JsonObject *hint = json_array_get_object_element (hints, 0);
  assert_int_equal (json_object_get_int_member (hint, "bytes"), 65 * GB);
  assert_string_equal (json_array_get_string_element (json_object_get_array_member (hint, "assignments"), 0),
                       "job.optimizer=55GB");
  run_clear (&run);
}

/* The nearest rank: of 10, 20, ..., 100 ms half lie at or below 50 ms, 95 % at or below 100 ms. */
static void
quantiles_are_those_of_the_nearest_rank (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));

  for (gint i = 10; i > 0; i--) {
    FabStepRecord step = { .times.duration_ps = i * 10 * MS };
    g_array_append_val (steps, step);
  }
  assert_int_equal (fab_run_quantile_ps (steps, 0), 10 * MS);
  assert_int_equal (fab_run_quantile_ps (steps, 0.5), 50 * MS);
  assert_int_equal (fab_run_quantile_ps (steps, 0.51), 60 * MS);
  assert_int_equal (fab_run_quantile_ps (steps, 0.95), 100 * MS);
  assert_int_equal (fab_run_quantile_ps (steps, 1), 100 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (exposed_time_is_shared_between_dimensions),
    cmocka_unit_test (the_path_adds_up_to_the_step),
    cmocka_unit_test (memory_and_training_are_printed),
    cmocka_unit_test (what_does_not_fit_is_said_with_what_does),
    cmocka_unit_test (quantiles_are_those_of_the_nearest_rank),
  };

  return cmocka_run_group_tests_name ("run page", tests, NULL, NULL);
}
