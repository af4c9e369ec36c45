/* SPDX-License-Identifier: Apache-2.0 */
/* test_mistakes.c - keys of training jobs that contradict each other or the machine, one mistake at a time: it is said,
 * and the nearest job without the mistake is accepted.
 */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/play.h"

static FabCatalog *catalog;

#define TRANSFORMER(more_) \
  "{kind: transformer, layers: 4, hidden: 64, heads: 4, vocabulary: 64, tied: false" more_ "}"

static const char dense[] = TRANSFORMER (""),
                  experts[] = TRANSFORMER (", experts: {count: 4, per_token: 2, shared: 1}"),
                  two_experts[] = TRANSFORMER (", experts: {count: 2, per_token: 1}"),
                  blocks[] = "{kind: layers, layers: [{name: block, count: 4, tensors: [{parameters: 10}]}]}";

/* NULL: the job is right; else what is wrong. (transfer full) */
static char *
problem_of (guint gpus, const char *shape, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: %s}]\n"
      "job: {model: m, micro_batch: 1, sequence: 16, compute: {kind: mfu}, %s}\n",
      gpus, shape, keys);

  return play_problem (catalog, yaml);
}

typedef struct {
  guint gpus;
  const char *shape, *wrong, *message, *right; /* `right` may be NULL */
} Row;

static void
assert_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *wrong = problem_of (rows[i].gpus, rows[i].shape, rows[i].wrong),
                    *right = rows[i].right != NULL ? problem_of (rows[i].gpus, rows[i].shape, rows[i].right)
                                                   : NULL;

    if (wrong == NULL)
      fail_msg ("accepted: %s", rows[i].wrong);
    if (strstr (wrong, rows[i].message) == NULL)
      fail_msg ("%s\nis not refused for '%s', but:\n%s", rows[i].wrong, rows[i].message, wrong);
    if (right != NULL)
      fail_msg ("%s\nis refused:\n%s", rows[i].right, right);
  }
}

#define PARALLEL(keys_) "kind: megatron, accumulation: 4, parallel: {" keys_ "}"

static void
ranks_are_divided_in_one_order (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 4, dense, PARALLEL ("order: tp-cp-dp"),
      "'tp-cp-dp' must name tp, cp, dp and pp once each, and ep at most once",
      PARALLEL ("order: pp-dp-cp-tp") },
    { 4, dense, PARALLEL ("order: tp-cp-dp-pp-tp"), "must name tp, cp, dp and pp once each",
      PARALLEL ("order: tp-cp-dp-pp-ep") },
    { 4, dense, PARALLEL ("order: ep-tp-cp-dp-pp-ep"), "must name tp, cp, dp and pp once each",
      PARALLEL ("order: ep-tp-cp-dp-pp") },
    { 4, dense, PARALLEL ("order: tp-cp-dp-xp"), "must name tp, cp, dp and pp once each", NULL },
    { 4, dense, PARALLEL ("tensor: 3"),
      "4 ranks cannot be divided by tensor x context x pipeline = 3 x 1 x 1", PARALLEL ("tensor: 4") },
    { 4, dense, PARALLEL ("context: 8"),
      "4 ranks cannot be divided by tensor x context x pipeline = 1 x 8 x 1",
      PARALLEL ("tensor: 2, context: 2") },
    { 4, dense, PARALLEL ("tensor: 2, pipeline: 4"), "divided by tensor x context x pipeline = 2 x 1 x 4",
      PARALLEL ("tensor: 2, pipeline: 2") },
    { 1, dense, PARALLEL ("sequence: true"), "sequence parallelism needs tensor: 2 or more", NULL },
    { 2, dense, PARALLEL ("tensor: 1, sequence: true"), "sequence parallelism needs tensor: 2 or more",
      PARALLEL ("tensor: 2, sequence: true") },
    { 2, dense, PARALLEL ("tensor: 2, overlap_tensor: true"), "overlap_tensor needs sequence: true",
      PARALLEL ("tensor: 2, sequence: true, overlap_tensor: true") },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

static void
stages_have_their_schedule (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 2, dense, PARALLEL ("virtual: 2, schedule: interleaved"), "virtual needs pipeline: 2 or more",
      PARALLEL ("pipeline: 2, virtual: 2, schedule: interleaved") },
    { 2, dense, PARALLEL ("virtual: 2"), "virtual needs pipeline: 2 or more", PARALLEL ("virtual: 1") },
    { 2, dense, PARALLEL ("pipeline: 2, virtual: 2"), "virtual needs schedule: interleaved",
      PARALLEL ("pipeline: 2, virtual: 1") },
    { 2, dense, PARALLEL ("pipeline: 2, schedule: interleaved"),
      "schedule interleaved needs virtual: 2 or more", PARALLEL ("pipeline: 1, schedule: interleaved") },
    { 2, dense, PARALLEL ("pipeline: 2, round: 2"), "round needs schedule: interleaved",
      PARALLEL ("pipeline: 2, virtual: 2, schedule: interleaved, round: 2") },
    { 2, dense, PARALLEL ("pipeline: 2, round: 1"), "round needs schedule: interleaved",
      PARALLEL ("pipeline: 2") },
    { 3, dense, PARALLEL ("pipeline: 3, schedule: dualpipe"),
      "schedule dualpipe needs an even number of stages, because micro-batches enter at both ends; pipeline is 3",
      NULL },
    { 2, dense, PARALLEL ("pipeline: 2, schedule: dualpipe, moe: {overlap: batches}"), "overlap must be none",
      PARALLEL ("pipeline: 2, schedule: dualpipe") },
    { 2, dense, PARALLEL ("pipeline: 2, schedule: dualpipe, moe: {overlap: shared}"),
      "schedule dualpipe computes a pass while the tokens of another one travel", NULL },
    { 2, dense, "kind: fsdp, accumulation: 4, parallel: {pipeline: 2, schedule: zero_bubble}",
      "zero_bubble delays weight gradients", "kind: fsdp, accumulation: 4, parallel: {pipeline: 2}" },
    { 2, dense, "kind: ddp, parallel: {pipeline: 2, layers: [a, 4]}", "layers must be whole numbers",
      "kind: ddp, parallel: {pipeline: 2, layers: [1, 3]}" },
  };
  g_autofree char *problem = problem_of (2, dense, "kind: fsdp, parallel: {schedule: zero_bubble}");

  assert_rows (rows, G_N_ELEMENTS (rows));
  assert_null (problem); /* one stage has no order of passes to choose from */
}

#define PARTS(keys_) PARALLEL ("pipeline: 2, virtual: 2, schedule: interleaved, " keys_)

static void
parts_have_all_blocks (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 2, dense, PARALLEL ("pipeline: 2, layers: [4]"),
      "layers has 1 numbers; pipeline x virtual = 2 x 1 needs 2", PARALLEL ("pipeline: 2, layers: [2, 2]") },
    { 2, dense, PARTS ("layers: [2, 1, 1]"), "layers has 3 numbers; pipeline x virtual = 2 x 2 needs 4",
      PARTS ("layers: [1, 1, 1, 1]") },
    { 2, dense, PARTS ("layers: [2, 0, 2, 0]"), "number 2 of layers is 0", PARTS ("layers: [0, 2, 2, 0]") },
    { 2, dense, PARTS ("layers: [1, 3, 0, 0]"), "number 3 of layers is 0", PARTS ("layers: [0, 1, 3, 0]") },
    { 2, dense, PARALLEL ("pipeline: 2, layers: [2, 2], balance: cost"),
      "balance has no effect when layers gives every part", PARALLEL ("pipeline: 2, balance: cost") },
    { 2, dense, PARALLEL ("pipeline: 2, layers: [2, 3]"),
      "parallel.layers has 5 blocks in total, but model 'm' has 4: take away 1", NULL },
    { 2, dense, PARALLEL ("pipeline: 2, layers: [0, 2]"),
      "parallel.layers has 2 blocks in total, but model 'm' has 4: add 2",
      PARALLEL ("pipeline: 2, layers: [0, 4]") },
    { 2, blocks, PARALLEL ("pipeline: 2, layers: [0, 4]"),
      "a part without blocks needs a layer before or after the blocks, and model 'm' has none",
      PARALLEL ("pipeline: 2, layers: [1, 3]") },
    { 2, blocks, PARALLEL ("pipeline: 2, layers: [4, 0]"),
      "a part without blocks needs a layer before or after", NULL },
    { 8, dense, PARALLEL ("pipeline: 8"), "4 blocks of model 'm' cannot be divided into 8 pipeline parts",
      PARALLEL ("pipeline: 4") },
    { 6, dense, "kind: ddp, accumulation: 6, parallel: {pipeline: 6}",
      "4 blocks of model 'm' cannot be divided into 6 pipeline parts",
      "kind: ddp, accumulation: 6, parallel: {pipeline: 6, layers: [0, 1, 1, 1, 1, 0]}" },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

static void
experts_are_divided_among_their_ranks (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 2, dense, PARALLEL ("expert: 2"), "model 'm' has no experts for expert: 2 ranks to share",
      PARALLEL ("expert: 1") },
    { 3, experts, PARALLEL ("expert: 3"), "4 experts of model 'm' cannot be divided among expert: 3 ranks",
      NULL },
    { 8, experts, PARALLEL ("expert: 8"), "4 experts of model 'm' cannot be divided among expert: 8 ranks",
      PARALLEL ("expert: 4") },
    { 4, two_experts, PARALLEL ("expert: 4"),
      "2 experts of model 'm' cannot be divided among expert: 4 ranks", PARALLEL ("expert: 2") },
    { 4, experts, PARALLEL ("tensor: 2, expert: 4"),
      "2 data-parallel ranks cannot be divided by expert: 4; with expert_tensor: 1 experts span tensor and context too",
      PARALLEL ("tensor: 2, expert: 2") },
    { 4, experts, PARALLEL ("tensor: 2, expert: 2, expert_tensor: 1"), "expert_tensor needs sequence: true",
      PARALLEL ("tensor: 2, sequence: true, expert: 2, expert_tensor: 1") },
    { 4, experts, PARALLEL ("tensor: 2, sequence: true, expert: 4, expert_tensor: 2"),
      "4 ranks of a stage cannot be divided by expert x expert_tensor = 4 x 2",
      PARALLEL ("tensor: 2, sequence: true, expert: 2, expert_tensor: 2") },
    { 4, experts, PARALLEL ("expert: 4, expert_tensor: 2"), "divided by expert x expert_tensor = 4 x 2",
      PARALLEL ("expert: 4, expert_tensor: 1") },
    { 8, experts, PARALLEL ("tensor: 2, sequence: true, expert: 2, expert_tensor: 1, order: ep-dp-tp-cp-pp"),
      "expert_tensor needs tp, cp and ep before dp in the order",
      PARALLEL ("tensor: 2, sequence: true, expert: 2, expert_tensor: 1, order: ep-tp-cp-dp-pp") },
    { 8, experts, PARALLEL ("context: 2, expert: 2, expert_tensor: 1, order: tp-ep-dp-cp-pp"),
      "expert_tensor needs tp, cp and ep before dp in the order",
      PARALLEL ("context: 2, expert: 2, expert_tensor: 1, order: tp-cp-ep-dp-pp") },
    { 8, experts, PARALLEL ("expert: 2, expert_tensor: 1, order: tp-cp-dp-ep-pp"),
      "expert_tensor needs tp, cp and ep before dp in the order",
      PARALLEL ("expert: 2, expert_tensor: 1, order: tp-cp-ep-pp-dp") },
    { 4, experts, PARALLEL ("expert: 2, moe: {dispatch: deepep, groups: 2, groups_per_token: 3}"),
      "a token cannot go to more groups than exist",
      PARALLEL ("expert: 2, moe: {dispatch: deepep, groups: 2, groups_per_token: 2}") },
    { 4, experts, PARALLEL ("expert: 2, moe: {dispatch: deepep, groups: 1}"), "groups need groups_per_token",
      PARALLEL ("expert: 2, moe: {dispatch: deepep, groups: 1, groups_per_token: 1}") },
    { 4, experts, PARALLEL ("expert: 2, moe: {dispatch: nccl, groups_per_token: 1}"),
      "groups affect only dispatch: deepep",
      PARALLEL ("expert: 2, moe: {dispatch: deepep, groups_per_token: 1}") },
    { 4, experts, PARALLEL ("expert: 2, moe: {dispatch: allgather, groups: 2, groups_per_token: 1}"),
      "groups affect only dispatch: deepep", PARALLEL ("expert: 2, moe: {dispatch: allgather}") },
    { 4, experts, PARALLEL ("expert: 2, moe: {capacity: 1, imbalance: 1%}"),
      "with a capacity every expert is padded to the same number of tokens",
      PARALLEL ("expert: 2, moe: {capacity: 1}") },
    { 4, experts,
      PARALLEL ("expert: 2, order: tp-cp-dp-ep-pp}, stragglers: [{rank: 1, slowness: 2}], jitter: {cv: 0%"),
      "stragglers and jitter need expert-parallel ranks next to each other: put ep before dp in the order",
      PARALLEL ("expert: 2, order: tp-cp-ep-dp-pp}, stragglers: [{rank: 1, slowness: 2}], jitter: {cv: 0%") },
    { 4, experts, PARALLEL ("expert: 2, order: tp-cp-dp-ep-pp}, jitter: {cv: 1%"),
      "stragglers and jitter need expert-parallel ranks next to each other",
      PARALLEL ("expert: 2, order: tp-cp-dp-ep-pp}, jitter: {cv: 0%") },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

static void
memory_and_batches_are_said_once (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 1, dense, "kind: ddp, recompute: modules", "recompute: modules needs recompute_modules",
      "kind: ddp, recompute: modules, recompute_modules: core_attn" },
    { 1, dense, "kind: ddp, recompute_modules: core_attn", "recompute_modules needs recompute: modules",
      NULL },
    { 1, dense, "kind: ddp, recompute: modules, recompute_modules: 'mlp,attention'",
      "'attention' is not a module", "kind: ddp, recompute: modules, recompute_modules: 'mlp,layernorm'" },
    { 1, dense, "kind: ddp, recompute_layers: 1", "recompute_layers needs recompute: full",
      "kind: ddp, recompute: full, recompute_layers: 1" },
    { 1, dense, "kind: ddp, recompute: selective, recompute_layers: 2",
      "recompute_layers needs recompute: full", "kind: ddp, recompute: selective" },
    { 1, dense, "kind: ddp, memory: {offload_layers: 1}",
      "offload_layers needs offload: cpu or offload: nvme",
      "kind: ddp, memory: {offload: cpu, offload_layers: 1}" },
    { 1, dense, "kind: ddp, memory: {offload: cpu}, recompute: full, recompute_layers: 2",
      "blocks that share one input (recompute_layers) cannot be offloaded one by one",
      "kind: ddp, memory: {offload: cpu}, recompute: full, recompute_layers: 1" },
    { 1, dense, "kind: ddp, software: {pytorch: '1.7'}", "there is no such release of PyTorch",
      "kind: ddp, software: {pytorch: '1.8'}" },
    { 1, dense, "kind: ddp, software: {pytorch: '2.12'}", "there is no such release of PyTorch",
      "kind: ddp, software: {pytorch: '2.11'}" },
    { 1, dense, "kind: ddp, global_batch: 4, accumulation: 2", "accumulation follows from global_batch",
      "kind: ddp, global_batch: 4, accumulation: 1" },
    { 1, dense, "kind: ddp, global_batch: 1, accumulation: 2", "accumulation follows from global_batch",
      "kind: ddp, global_batch: 0, accumulation: 2" },
    { 1, dense, "kind: ddp, data_loader: {time: 1ns, bytes_per_sample: 1B}",
      "give time or bytes_per_sample, not both", "kind: ddp, data_loader: {time: 1ns}" },
    { 1, dense, "kind: ddp, data_loader: {total: 1B/s}", "total applies to network storage only",
      "kind: ddp, data_loader: {from: network, total: 1B/s}" },
    { 4, dense, "kind: ddp, stragglers: [{rank: 3, slowness: 2}, {rank: 3, slowness: 3}]",
      "straggler: rank 3 is given twice",
      "kind: ddp, stragglers: [{rank: 3, slowness: 2}, {rank: 0, slowness: 3}]" },
    { 4, dense, "kind: ddp, stragglers: [{rank: 4, slowness: 2}]", "straggler: there is no rank 4 among 4",
      NULL },
    { 2, dense, "kind: fsdp, shard: 1", "shard needs sharding: hybrid or hybrid_grad_op",
      "kind: fsdp, sharding: hybrid, shard: 1" },
    { 2, dense, "kind: fsdp, sharding: grad_op, shard: 2", "shard needs sharding: hybrid or hybrid_grad_op",
      "kind: fsdp, sharding: hybrid_grad_op, shard: 2" },
  };
  g_autofree char *block = problem_of (
      1, dense,
      "kind: ddp, memory: {offload: cpu}, recompute: full, recompute_method: block, recompute_layers: 2");

  assert_rows (rows, G_N_ELEMENTS (rows));
  assert_null (block);
}

/* Groups of ranks are of as many each, and of one site. */
static void
groups_divide_the_ranks (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 4, dense, "kind: zero, stage: 3, shard: 3", "4 data-parallel ranks cannot be divided into groups of 3",
      "kind: zero, stage: 3, shard: 2" },
    { 4, dense, "kind: fsdp, sharding: hybrid, shard: 3",
      "4 data-parallel ranks cannot be divided into groups of 3", "kind: fsdp, sharding: hybrid, shard: 4" },
    { 8, dense, "kind: fsdp, sharding: hybrid, shard: 8, outer: {sites: 2}",
      "outer.sites cannot be combined with groups of ranks from several sites",
      "kind: fsdp, sharding: hybrid, shard: 4, outer: {sites: 2}" },
    { 8, dense, "kind: fsdp, sharding: hybrid, shard: 2, outer: {sites: 2}",
      "outer.sites cannot be combined with groups of ranks from several sites",
      "kind: fsdp, outer: {sites: 2}" },
    { 8, dense, "kind: zero, stage: 3, secondary: 8, outer: {sites: 2}",
      "outer.sites cannot be combined with groups of ranks from several sites",
      "kind: zero, stage: 3, secondary: 2, outer: {sites: 2}" },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

#define ZERO(stage_, keys_) "kind: zero, stage: " stage_ ", " keys_

static void
stages_of_zero_have_their_keys (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 2, dense, ZERO ("2", "accumulation: 2, parallel: {pipeline: 2}"),
      "DeepSpeed supports pipeline stages only with stage: 1",
      ZERO ("1", "accumulation: 2, parallel: {pipeline: 2}") },
    { 2, dense, ZERO ("3", "accumulation: 2, parallel: {pipeline: 2}"),
      "DeepSpeed supports pipeline stages only with stage: 1",
      ZERO ("3", "accumulation: 2, parallel: {pipeline: 1}") },
    { 2, experts, ZERO ("3", "parallel: {expert: 2}"),
      "DeepSpeed does not support expert parallelism with stage: 3", ZERO ("2", "parallel: {expert: 2}") },
    { 2, dense, ZERO ("3", "trains: lora, lora_rank: 4"), "stage: 3 trains all weights",
      ZERO ("2", "trains: lora, lora_rank: 4") },
    { 2, dense, ZERO ("2", "secondary: 2"), "secondary and shard need stage: 3", ZERO ("3", "secondary: 2") },
    { 2, dense, ZERO ("2", "shard: 1"), "secondary and shard need stage: 3", ZERO ("3", "shard: 1") },
    { 2, dense, ZERO ("1", "shard: 2"), "secondary and shard need stage: 3", ZERO ("2", "secondary: 1") },
    { 2, dense, ZERO ("2", "quantized_weights: true"), "quantized weights and gradients need stage: 3",
      ZERO ("3", "quantized_weights: true") },
    { 2, dense, ZERO ("2", "quantized_gradients: true"), "quantized weights and gradients need stage: 3",
      ZERO ("3", "quantized_gradients: true") },
    { 2, dense, ZERO ("2", "offload: {parameters: cpu}"), "only stage: 3 can offload parameters",
      ZERO ("3", "offload: {parameters: cpu}") },
    { 2, dense, ZERO ("3", "secondary: 2, shard: 1"), "secondary (hpZ) and shard (MiCS) exclude each other",
      ZERO ("3", "secondary: 1, shard: 1") },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ranks_are_divided_in_one_order),
    cmocka_unit_test (stages_have_their_schedule),
    cmocka_unit_test (parts_have_all_blocks),
    cmocka_unit_test (experts_are_divided_among_their_ranks),
    cmocka_unit_test (memory_and_batches_are_said_once),
    cmocka_unit_test (groups_divide_the_ranks),
    cmocka_unit_test (stages_of_zero_have_their_keys),
  };

  return play_run_tests ("mistakes", tests, &catalog);
}
