/* SPDX-License-Identifier: Apache-2.0 */
/* test_remedies.c - which changes of a job may save memory, what each costs by rank, and which keys it sets
 * (models/workload/training/remedies.c).
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* "cost[ slow][ larger] key=value ..." of the changes of a group, a line for each. (transfer full) */
static char *
changes_of (const char *yaml, const char *group)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  GString *text = g_string_new (NULL);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  g_autoptr (GPtrArray) remedies = fab_job_remedies (scenario);
  for (guint i = 0; i < remedies->len; i++) {
    const FabRemedy *remedy = g_ptr_array_index (remedies, i);

    if (strcmp (remedy->group, group) != 0)
      continue;
    g_string_append_printf (text, "%s%u%s%s", text->len > 0 ? "\n" : "", remedy->cost,
                            remedy->is_slow ? " slow" : "", remedy->is_larger ? " larger" : "");
    for (guint k = 0; k < fab_edits_count (remedy->edits); k++)
      g_string_append_printf (text, " %s", fab_edits_texts (remedy->edits)[k]);
  }
  return g_string_free (text, FALSE);
}

static void
assert_changes (const char *yaml, const char *group, const char *expected)
{
  g_autofree char *changes = changes_of (yaml, group);

  assert_string_equal (changes, expected);
}

/* A model of 6 blocks, 16 heads and 8 experts; nodes of eight GPUs. (transfer full) */
static char *
scenario (guint n_nodes, const char *job)
{
  return g_strdup_printf (
      "name: c\ncluster: {node: dgx-a100, nodes: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 6, "
      "hidden: 512, heads: 16, vocabulary: 100, experts: {count: 8, per_token: 2}}}]\n"
      "job: {model: m, %s}\n",
      n_nodes, job);
}

/* Each is about half of the one before, and divides it. */
static void
micro_batches_get_smaller (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint size;
    const char *changes;
  } rows[] = { { 1, "" },
               { 2, "2 job.micro_batch=1" },
               { 3, "2 job.micro_batch=1" },
               { 8, "2 job.micro_batch=4\n3 job.micro_batch=2\n4 job.micro_batch=1" },
               { 12, "2 job.micro_batch=6\n3 job.micro_batch=3\n4 job.micro_batch=1" },
               { 15, "2 job.micro_batch=5\n3 job.micro_batch=1" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *job = g_strdup_printf ("kind: ddp, sequence: 512, micro_batch: %u", rows[i].size),
                    *yaml = scenario (2, job);

    assert_changes (yaml, "micro_batch", rows[i].changes);
  }
}

static void
recomputation_goes_further_than_the_job (G_GNUC_UNUSED void **state)
{
  g_autofree char *none = scenario (2, "kind: ddp, sequence: 512"),
                  *some = scenario (2, "kind: ddp, sequence: 512, recompute: selective"),
                  *all = scenario (2, "kind: ddp, sequence: 512, recompute: full"),
                  *other = scenario (2, "kind: ddp, sequence: 512, recompute: operators");

  assert_changes (none, "recompute", "2 job.recompute=selective\n6 job.recompute=full");
  assert_changes (some, "recompute", "6 job.recompute=full");
  assert_changes (all, "recompute", "");
  assert_changes (other, "recompute", "");
}

/* Powers of two inside a node that divide the heads, without and with a sequence in parts; stages up to the blocks;
 * ranks that share a long sequence, up to eight; ranks that share the experts. All of them divide the ranks: 16 here.
 */
static void
models_are_divided_further (G_GNUC_UNUSED void **state)
{
  g_autofree char *plain = scenario (2, "kind: megatron, sequence: 16384, parallel: {tensor: 2}"),
                  *short_one = scenario (2, "kind: megatron, sequence: 16383, parallel: {tensor: 2}"),
                  *parts = scenario (2,
                                     "kind: megatron, sequence: 512, parallel: {tensor: 2, sequence: true}"),
                  *whole = scenario (2, "kind: megatron, sequence: 512"),
                  *most = scenario (2, "kind: megatron, sequence: 16384, "
                                       "parallel: {tensor: 8, context: 2, sequence: true}"),
                  *odd = scenario (3, "kind: megatron, sequence: 512, parallel: {pipeline: 3}");

  assert_changes (plain, "tensor",
                  "1 job.parallel.sequence=true\n"
                  "8 job.parallel.tensor=4\n9 job.parallel.tensor=4 job.parallel.sequence=true\n"
                  "10 job.parallel.tensor=8\n11 job.parallel.tensor=8 job.parallel.sequence=true");
  assert_changes (plain, "pipeline", "10 job.parallel.pipeline=2\n12 job.parallel.pipeline=4");
  assert_changes (plain, "context",
                  "9 job.parallel.context=2\n11 job.parallel.context=4\n13 job.parallel.context=8");
  assert_changes (plain, "expert",
                  "9 job.parallel.expert=2\n11 job.parallel.expert=4\n13 job.parallel.expert=8");
  assert_changes (short_one, "context", "");
  assert_changes (parts, "tensor", "8 job.parallel.tensor=4\n10 job.parallel.tensor=8");
  assert_changes (whole, "tensor",
                  "8 job.parallel.tensor=2\n9 job.parallel.tensor=2 job.parallel.sequence=true\n"
                  "10 job.parallel.tensor=4\n11 job.parallel.tensor=4 job.parallel.sequence=true\n"
                  "12 job.parallel.tensor=8\n13 job.parallel.tensor=8 job.parallel.sequence=true");
  assert_changes (most, "tensor", "");
  assert_changes (most, "context", "");
  assert_changes (most, "pipeline", "");
  assert_changes (most, "expert", "");
  assert_changes (odd, "pipeline", "10 job.parallel.pipeline=6");
  assert_changes (odd, "expert",
                  "9 job.parallel.expert=2\n11 job.parallel.expert=4\n13 job.parallel.expert=8");
}

/* One reason at a time ends the divisions: no more GPUs in a node, no more heads, no more ranks. */
static void
matrices_are_divided_as_far_as_they_can (G_GNUC_UNUSED void **state)
{
#define DIVIDED(keys_) "kind: megatron, sequence: 512, parallel: {tensor: 2, sequence: true" keys_ "}"
  g_autofree char *all = scenario (2, DIVIDED ("")), *stages = scenario (2, DIVIDED (", pipeline: 4")),
                  *context = scenario (2, DIVIDED (", context: 4"));
  g_auto (GStrv) model = g_strsplit (all, "heads: 16", 2), cluster = g_strsplit (all, "nodes: 2", 2);
  g_autofree char *heads = g_strjoinv ("heads: 4", model),
                  *node = g_strjoinv ("nodes: 4, gpus_per_node: 4", cluster);

  assert_changes (all, "tensor", "8 job.parallel.tensor=4\n10 job.parallel.tensor=8");
  assert_changes (stages, "tensor", "8 job.parallel.tensor=4");
  assert_changes (context, "tensor", "8 job.parallel.tensor=4");
  assert_changes (heads, "tensor", "8 job.parallel.tensor=4");
  assert_changes (node, "tensor", "8 job.parallel.tensor=4");
}

/* Up to 16 times as many nodes, and 4096 GPUs, or twice as many. Beyond 4096 every second division is tried, and what
 * takes long is said. */
static void
large_jobs_try_fewer_changes (G_GNUC_UNUSED void **state)
{
  g_autofree char *small = scenario (2, "kind: ddp, sequence: 512"),
                  *half = scenario (128, "kind: ddp, sequence: 512"),
                  *edge = scenario (512, "kind: ddp, sequence: 512"),
                  *large = scenario (513, "kind: ddp, sequence: 512"),
                  *larger = scenario (1024, "kind: ddp, sequence: 512");

  assert_changes (small, "nodes",
                  "15 larger cluster.nodes=4\n16 larger cluster.nodes=8\n17 larger cluster.nodes=16\n"
                  "18 larger cluster.nodes=32");
  assert_changes (half, "nodes", "15 larger cluster.nodes=256\n16 larger cluster.nodes=512");
  assert_changes (edge, "nodes", "15 larger cluster.nodes=1024");
  assert_changes (large, "nodes", "15 slow larger cluster.nodes=1026");
  assert_changes (edge, "pipeline", "10 job.parallel.pipeline=2\n12 job.parallel.pipeline=4");
  assert_changes (larger, "pipeline", "10 slow job.parallel.pipeline=2");
  assert_changes (larger, "tensor",
                  "9 slow job.parallel.tensor=2 job.parallel.sequence=true\n"
                  "13 slow job.parallel.tensor=8 job.parallel.sequence=true");
}

/* "family cost changes key=value ..." of the strategies. (transfer full) */
static char *
strategies_of (const char *keys)
{
  g_autofree char *yaml = scenario (2, keys);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                     &error);
  GString *text = g_string_new (NULL);

  if (read == NULL)
    fail_msg ("%s", error->message);
  g_autoptr (GPtrArray) remedies = fab_job_remedies (read);
  for (guint i = 0; i < remedies->len; i++) {
    const FabRemedy *remedy = g_ptr_array_index (remedies, i);
    gboolean is_offload = strcmp (remedy->family, "offload") == 0;

    if (strcmp (remedy->group, "strategy") != 0)
      continue;
    assert_int_equal (remedy->note != NULL, is_offload);
    assert_int_equal (remedy->more != NULL, is_offload);
    assert_false (remedy->is_slow || remedy->is_larger);
    g_string_append_printf (text, "%s%s %u %u", text->len > 0 ? "\n" : "", remedy->family, remedy->cost,
                            remedy->n_changes);
    for (guint k = 0; k < fab_edits_count (remedy->edits); k++)
      g_string_append_printf (text, " %s", fab_edits_texts (remedy->edits)[k]);
  }
  return g_string_free (text, FALSE);
}

static void
assert_strategies (const char *keys, const char *expected)
{
  g_autofree char *strategies = strategies_of (keys);

  assert_string_equal (strategies, expected);
}

/* Another framework costs two ranks more, but for FSDP in place of DDP; for a job that Megatron divides it is one
 * change more. What is the default of the new kind is not written. */
static void
strategies_shard_more (G_GNUC_UNUSED void **state)
{
  assert_strategies (
      "kind: ddp, sequence: 512",
      "zero 2 1 job.kind=zero job.stage=1\n"
      "zero 3 1 job.kind=zero job.stage=2\n"
      "fsdp 4 1 job.kind=fsdp\n"
      "zero 6 1 job.kind=zero job.stage=3\n"
      "offload 11 2 job.kind=zero job.stage=2 job.offload.optimizer=cpu\n"
      "offload 12 2 job.kind=fsdp job.cpu_offload=true\n"
      "offload 14 2 job.kind=zero job.stage=3 job.offload.optimizer=cpu\n"
      "offload 15 2 job.kind=zero job.stage=3 job.offload.optimizer=cpu job.offload.parameters=cpu");
  assert_strategies (
      "kind: megatron, sequence: 512",
      "megatron 0 1 job.distributed_optimizer=true\n"
      "zero 2 2 job.kind=zero job.stage=1\n"
      "zero 3 2 job.kind=zero job.stage=2\n"
      "fsdp 6 2 job.kind=fsdp\n"
      "zero 6 2 job.kind=zero job.stage=3\n"
      "offload 11 3 job.kind=zero job.stage=2 job.offload.optimizer=cpu\n"
      "offload 14 3 job.kind=fsdp job.cpu_offload=true\n"
      "offload 14 3 job.kind=zero job.stage=3 job.offload.optimizer=cpu\n"
      "offload 15 3 job.kind=zero job.stage=3 job.offload.optimizer=cpu job.offload.parameters=cpu");
}

/* A job of the same kind changes only what it has otherwise, and never shards less. */
static void
strategies_change_what_is_otherwise (G_GNUC_UNUSED void **state)
{
  assert_strategies ("kind: zero, stage: 1, sequence: 512",
                     "zero 1 1 job.stage=2\n"
                     "fsdp 6 1 job={kind: fsdp, model: m, sequence: 512}\n"
                     "zero 4 1 job.stage=3\n"
                     "offload 9 2 job.stage=2 job.offload.optimizer=cpu\n"
                     "offload 14 2 job={kind: fsdp, model: m, sequence: 512} job.cpu_offload=true\n"
                     "offload 12 2 job.stage=3 job.offload.optimizer=cpu\n"
                     "offload 13 2 job.stage=3 job.offload.optimizer=cpu job.offload.parameters=cpu");
  g_autofree char *stage3 = strategies_of ("kind: zero, stage: 3, secondary: 8, sequence: 512"),
                  *hybrid = strategies_of ("kind: fsdp, sharding: hybrid, shard: 4, sequence: 512"),
                  *full = strategies_of ("kind: fsdp, sharding: full, sequence: 512"),
                  *sharded = strategies_of ("kind: megatron, distributed_optimizer: true, sequence: 512");
  assert_non_null (strstr (stage3, "zero 4 1 job.secondary=1\n"));
  assert_non_null (strstr (stage3, "offload 12 2 job.offload.optimizer=cpu job.secondary=1\n"));
  assert_null (strstr (stage3, "job.stage=2"));
  assert_non_null (strstr (hybrid, "fsdp 4 1 job.sharding=full job.shard=0\n"));
  assert_non_null (strstr (hybrid, "offload 12 2 job.sharding=full job.cpu_offload=true job.shard=0\n"));
  assert_null (strstr (full, "fsdp 4"));
  assert_non_null (strstr (full, "offload 12 1 job.cpu_offload=true"));
  assert_null (strstr (sharded, "megatron 0"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (micro_batches_get_smaller),
    cmocka_unit_test (recomputation_goes_further_than_the_job),
    cmocka_unit_test (models_are_divided_further),
    cmocka_unit_test (matrices_are_divided_as_far_as_they_can),
    cmocka_unit_test (large_jobs_try_fewer_changes),
    cmocka_unit_test (strategies_shard_more),
    cmocka_unit_test (strategies_change_what_is_otherwise),
  };

  return play_run_tests ("remedies", tests, &catalog);
}
