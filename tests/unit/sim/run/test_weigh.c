/* SPDX-License-Identifier: Apache-2.0 */
/* test_weigh.c - a job that is weighed without its tasks needs what it needs with them. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabBytes
built_bytes (const Play *play)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  FabBytes bytes = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    bytes = MAX (bytes, fab_job_totals_memory (fab_simulation_totals (play->simulation), c));
  return bytes;
}

static void
assert_weight (const char *job)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: {node: dgx-h100, nodes: 4}\njob: %s\n", job);
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (GError) error = NULL;
  FabWeight weight;

  if (!fab_simulation_weigh (plants, play->scenario, &fab_models, NULL, &weight, &error))
    fail_msg ("%s: %s", job, error->message);
  assert_int_equal (weight.memory_bytes, built_bytes (play));
  assert_int_equal (weight.memory_max_bytes, fab_simulation_cluster (play->simulation)->device.memory_bytes);
  assert_int_equal (weight.n_ranks, 32);
  assert_int_equal (weight.n_nodes, 4);
}

/* Every kind of training, and what adds memory or rank classes of its own. */
static void
a_weighed_job_needs_as_much_as_a_built_one (G_GNUC_UNUSED void **state)
{
#define MODEL "model: gpt2-xl, sequence: 1024, "
  static const char *const jobs[] = {
    "{kind: ddp, " MODEL "micro_batch: 4}",
    "{kind: ddp, " MODEL "micro_batch: 4, recompute: selective, trains: lora}",
    "{kind: zero, " MODEL "stage: 1}",
    "{kind: zero, " MODEL "stage: 2, recompute: full}",
    "{kind: zero, " MODEL "stage: 3, secondary: 8}",
    "{kind: fsdp, " MODEL "sharding: hybrid, shard: 8}",
    "{kind: fsdp, " MODEL "sharding: grad_op, stragglers: [{rank: 3, slowness: 1.5}]}",
    "{kind: megatron, " MODEL "micro_batch: 2, accumulation: 8, distributed_optimizer: true, "
    "parallel: {tensor: 2, sequence: true, pipeline: 4}}",
    "{kind: megatron, " MODEL
    "accumulation: 8, jitter: {cv: 5%}, parallel: {pipeline: 4, schedule: interleaved, "
    "virtual: 2}}",
  };
#undef MODEL

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    assert_weight (jobs[i]);
}

/* What cannot be built cannot be weighed, for the same reason. */
static void
an_impossible_job_has_no_weight (G_GNUC_UNUSED void **state)
{
  const char *yaml = "name: t\ncluster: {node: dgx-h100, nodes: 4}\n"
                     "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, global_batch: 100}\n";
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);
  FabWeight weight;

  assert_non_null (scenario);
  assert_false (fab_simulation_weigh (plants, scenario, &fab_models, NULL, &weight, &error));
  assert_non_null (strstr (error->message, "global_batch 100 is not a multiple"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_weighed_job_needs_as_much_as_a_built_one),
    cmocka_unit_test (an_impossible_job_has_no_weight),
  };
  return play_run_tests ("weigh", tests, &catalog);
}
