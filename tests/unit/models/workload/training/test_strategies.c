/* SPDX-License-Identifier: Apache-2.0 */
/* test_strategies.c - bytes that a rank moves per step under every strategy, against the closed forms.
 *
 * P parameters in 16 bits on n ranks; a collective of S bytes moves S (n - 1) / n per rank, an all-reduce twice that.
 * In units of 2 P (n - 1) / n bytes: DDP 2, ZeRO-1 and 2 with reduce-scatter 2, ZeRO-3 and FSDP 3 (parameters forward
 * and backward, gradients), which is 1.5 x DDP (Rajbhandari et al. 2020, arXiv 1910.02054, section 7). ZeRO++: 0.5
 * forward, nothing between nodes backward, 0.25 for gradients.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: bytes\niterations: 1\ncollectives: {kind: plain, algorithm: %s}\n"                                \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 4, " \
  "hidden: 1024, heads: 16, vocabulary: 8192, tied: false, biases: false}}]\n"                             \
  "cluster: {node: dgx-a100, nodes: %u}\n"                                                                 \
  "job: {model: m, micro_batch: 2, sequence: 512, gradient: bf16, clip_gradients: false, %s}\n"

static FabCatalog *catalog;

/* Rings; messages and all-to-alls are none. */
static Play *
job (guint nodes, const char *keys)
{
  const char *algorithm = strstr (keys, "quantized_gradients: true") || strstr (keys, "pipeline:") ? "direct"
                                                                                                   : "ring";
  g_autofree char *yaml = g_strdup_printf (HEAD, algorithm, nodes, keys);

  return play_new (catalog, yaml, NULL);
}

/* Bytes that one rank sends for a dimension, ring-wise. */
static double
sent_bytes (const Play *play, FabDimension dimension)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double bytes = 0;

  for (guint c = 0; c < dag->n_collectives; c++) {
    const FabCollectivePlan *plan = &dag->collectives[c].plan;

    if (dag->collectives[c].dimension == dimension)
      bytes += (double) plan->bytes * fab_op_bus_factor (plan->op, plan->n_ranks);
  }
  return bytes;
}

static double
parameters_of (const Play *play)
{
  return (double) fab_simulation_totals (play->simulation)->parameters;
}

/* In units of 2 P (n - 1) / n. */
static double
data_units (guint nodes, const char *keys)
{
  g_autoptr (Play) play = job (nodes, keys);
  double n = 8.0 * nodes;

  return sent_bytes (play, FAB_DIMENSION_DATA) / (2 * parameters_of (play) * (n - 1) / n);
}

#define assert_units(nodes, keys, expected) assert_near (data_units (nodes, keys), expected, 1e-6)

static void
every_strategy_moves_what_its_paper_says (G_GNUC_UNUSED void **state)
{
  assert_units (2, "kind: ddp", 2);
  assert_units (2, "kind: ddp, overlap: false", 2);
  assert_units (2, "kind: zero, stage: 1, multi_rank_all_reduce: false", 2);
  assert_units (2, "kind: zero, stage: 2, multi_rank_all_reduce: false", 2);
  assert_units (2, "kind: zero, stage: 1", 3);
  assert_units (2, "kind: zero, stage: 3, persistence_threshold: 0, max_reuse_distance: 0", 3);
  assert_units (2,
                "kind: zero, stage: 3, persistence_threshold: 0, max_reuse_distance: 0, prefetch_bucket: 0",
                3);
  assert_units (2, "kind: zero, stage: 3, persistence_threshold: 0",
                2); /* 1e9 elements: nothing is released */
}

/* DeepSpeed keeps a tensor of at most so many elements whole (parameter_offload.py, mark_persistent_parameters:
 * ds_numel <= param_threshold). Each of the 4 blocks has one of exactly 1024^2, the output of its attention: with a
 * threshold of one less it is gathered forward and backward, and else once, after its update. */
static void
a_tensor_of_the_threshold_is_not_sharded (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (2, "kind: zero, stage: 3");
  double kept = 4.0 * 1024 * 1024 / parameters_of (play);
  const char *keys = "kind: zero, stage: 3, max_reuse_distance: 0, persistence_threshold: ";
  g_autofree char *below = g_strconcat (keys, "1048575", NULL), *at = g_strconcat (keys, "1048576", NULL);

  assert_near (data_units (2, below) - data_units (2, at), kept, 1e-6);
}

/* Blocks that are recomputed and released after each use are gathered three times, all other layers (embedding and
 * head, 8192 x 1024 each, and a norm) twice. A block has 4 matrices: 3, 1, 4 and 4 x 1024^2. If a tensor is kept that
 * is used again within 9 x 1024^2 elements, those of the MLP stay whole between recomputation and backward pass: 8 lie
 * between the uses of the first. Those of the attention do not: 16 and more lie between. The head, which is used
 * twice in a row, is gathered once. */
static void
recomputed_blocks_are_gathered_again (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (2, "kind: zero, stage: 3");
  double p = parameters_of (play), m = 1024.0 * 1024, rest = (2 * 8192 + 1) * 1024;

  assert_units (2, "kind: zero, stage: 3, recompute: full, persistence_threshold: 0, max_reuse_distance: 0",
                4 - rest / p);
  /* The same where all forward passes come first, or all gradients of weights last. */
  assert_units (2,
                "kind: zero, stage: 3, recompute: full, persistence_threshold: 0, max_reuse_distance: 0, "
                "accumulation: 2, parallel: {schedule: gpipe}",
                2 * (4 - rest / p));
  assert_units (2,
                "kind: zero, stage: 3, persistence_threshold: 0, max_reuse_distance: 0, accumulation: 2, "
                "parallel: {schedule: zero_bubble}",
                2 * 3);
  assert_near (data_units (2, "kind: zero, stage: 3, recompute: full, max_reuse_distance: 9437184"),
               4 - rest / p - (4 * 8 * m + 8 * m) / p, 1e-3);
  /* DeepSpeed looks no further once it has passed the distance (params_traversed >= max_reuse_dist): 8 x 1024^2 lie
   * between, so that one element more keeps the first matrix. The second is used again at once. */
  assert_near (
      data_units (
          2, "kind: zero, stage: 3, recompute: full, persistence_threshold: 0, max_reuse_distance: 8388608"),
      4 - rest / p - (4 * 4 * m + 8 * m) / p, 1e-6);
  assert_near (
      data_units (
          2, "kind: zero, stage: 3, recompute: full, persistence_threshold: 0, max_reuse_distance: 8388609"),
      4 - rest / p - (4 * 8 * m + 8 * m) / p, 1e-6);
}

/* Two sites of 8 ranks. Inside each, DDP moves 2 x 2 P x 7/8. In one step of 10 every rank sums an eighth of the
 * model, 4 P / 8, with its counterpart in the other site, which moves as much again as it is long, x 2 (2 - 1) / 2;
 * then the sum, 4 P, is gathered inside the site, x 7/8. FSDP gathers it with the next units. 8 bits are a quarter of
 * it. */
static void
sites_sum_their_parameters_now_and_then (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    double outer; /* in units of P */
  } cases[] = {
    { "kind: ddp, outer: {sites: 2, every: 10}", (4.0 / 8 + 4 * 7.0 / 8) / 10 },
    { "kind: ddp, outer: {sites: 2, every: 10, bits: 8}", (1.0 / 8 + 7.0 / 8) / 10 },
    { "kind: megatron, distributed_optimizer: true, outer: {sites: 2, every: 1}", 4.0 / 8 },
    { "kind: zero, stage: 2, multi_rank_all_reduce: false, outer: {sites: 2, overlap: true, every: 4}",
      4.0 / 8 / 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Play) play = job (2, cases[i].keys);
    double parameters = parameters_of (play), inner = 2 * 2 * parameters * 7 / 8;

    assert_near (sent_bytes (play, FAB_DIMENSION_DATA) / (inner + cases[i].outer * parameters), 1, 1e-6);
  }
}

static FabTimePs
outer_ps (guint every)
{
  g_autofree char *keys = g_strdup_printf ("kind: fsdp, outer: {sites: 2, every: %u}", every);
  g_autoptr (Play) play = job (2, keys);
  const FabDag *dag = fab_simulation_dag (play->simulation);

  for (guint c = 0; c < dag->n_collectives; c++)
    if (strcmp (dag->collectives[c].name, "outer") == 0)
      return fab_collective_plan_idle_ps (&dag->collectives[c].plan);
  fail ();
  return 0;
}

/* The average step has a tenth of an outer step every ten: of its bytes and of its latency. */
static void
an_outer_step_is_spread_over_the_steps_between (G_GNUC_UNUSED void **state)
{
  assert_near ((double) outer_ps (10) * 10 / (double) outer_ps (1), 1, 1e-6);
}

/* Bytes of a part of the memory of the first stage. */
static double
part_bytes (const Play *play, const char *name)
{
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == 0 && strcmp (part->part, name) == 0)
      return (double) part->bytes;
  }
  return 0;
}

/* Ranks of the largest group that sums gradients. */
static guint
n_summing (const Play *play)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    if (dag->collectives[c].dimension == FAB_DIMENSION_DATA)
      n = MAX (n, dag->collectives[c].plan.n_ranks);
  return n;
}

/* With two stages, each of the 16 ranks has the whole model in 16 bits, and all of them sum its gradients: 2 P x 2 x
 * 15/16. An optimizer that is divided is divided among as many. In the V, as with 1f1b, eight ranks have the same. */
static void
dualpipe_sums_both_copies (G_GNUC_UNUSED void **state)
{
  static const char head[] = "kind: megatron, distributed_optimizer: true, accumulation: 4";
  g_autofree char *both = g_strdup_printf ("%s, parallel: {pipeline: 2, schedule: dualpipe}", head);
  g_autofree char *v = g_strdup_printf ("%s, parallel: {pipeline: 2, schedule: dualpipe_v}", head);
  g_autoptr (Play) dual = job (2, both), cut = job (2, v);
  double p = parameters_of (dual);

  assert_int_equal (n_summing (dual), 16);
  assert_int_equal (n_summing (cut), 8);
  assert_near (sent_bytes (dual, FAB_DIMENSION_DATA) / (2 * 2 * p * 15 / 16), 1, 1e-6);
  assert_near (sent_bytes (cut, FAB_DIMENSION_DATA) / (2 * 2 * p * 7 / 8), 1, 1e-6);
  assert_near (part_bytes (dual, "parameters") / (2 * p), 1, 1e-6);
  assert_near (part_bytes (dual, "gradients") / (2 * p), 1, 1e-6);
  assert_near (part_bytes (dual, "optimizer") / (12 * p / 16), 1, 1e-6);
  assert_true (part_bytes (cut, "parameters") < 0.7 * 2 * p);
}

/* A micro-batch crosses from stage to stage as often as there are boundaries between parts on two stages: 4 stages
 * have 3 of them with one part each, in both directions with two copies for half of the micro-batches each, and 6 in
 * the V, whose middle is on one stage. */
static void
schedules_send_over_their_boundaries (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *schedule;
    guint n; /* of every micro-batch, forward and backward */
  } cases[] = { { "1f1b", 6 },    { "zero_bubble", 6 }, { "dualpipe", 6 },   { "zero_bubble_v", 12 },
                { "v_half", 12 }, { "v_min", 12 },      { "dualpipe_v", 12 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *keys = g_strdup_printf (
        "kind: megatron, accumulation: 8, parallel: {pipeline: 4, schedule: %s}, compute: {kind: mfu}",
        cases[i].schedule);
    g_autofree char *yaml = g_strdup_printf (HEAD, "direct", 2, keys);
    g_auto (GStrv) pieces = g_strsplit (yaml, "layers: 4", 2);
    g_autofree char *deep = g_strjoinv ("layers: 8", pieces);
    g_autoptr (Play) play = play_new (catalog, deep, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n = 0;

    for (guint c = 0; c < dag->n_collectives; c++)
      n += dag->collectives[c].dimension == FAB_DIMENSION_PIPELINE ? 1 : 0;
    assert_int_equal (n, 8 * cases[i].n);
    assert_true (fab_simulation_step (play->simulation));
  }
}

/* Groups that are spread over sites, and sizes that do not divide, are refused. */
static void
sites_refuse_what_they_cannot_be (G_GNUC_UNUSED void **state)
{
  static const char *const keys[][2] = {
    { "kind: fsdp, outer: {sites: 3}", "16 data-parallel ranks cannot be divided by outer.sites: 3" },
    { "kind: fsdp, sharding: hybrid, shard: 4, outer: {sites: 2}",
      "outer.sites cannot be combined with groups of ranks" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autofree char *yaml = g_strdup_printf (HEAD, "ring", 2, keys[i][0]);
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, NULL);
    g_autoptr (GError) error = NULL;

    assert_non_null (scenario);
    assert_null (fab_simulation_new (scenario, &fab_models, NULL, &error));
    assert_non_null (strstr (error->message, keys[i][1]));
  }
}

/* The root unit (embedding and head, 8192 x 1024 each, and a norm) stays whole: it is gathered once. */
static void
fsdp_gathers_blocks_twice_and_the_root_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (2, "kind: fsdp");
  double root = (2 * 8192 + 1) * 1024.0 / parameters_of (play);

  assert_units (2, "kind: fsdp", 3 - root);
  assert_units (2, "kind: fsdp, sharding: grad_op", 2);
  assert_units (2, "kind: fsdp, in_flight: 5, backward_prefetch: post", 3 - root);
}

static void
accumulation_costs_what_the_strategy_reduces (G_GNUC_UNUSED void **state)
{
  assert_units (2, "kind: ddp, accumulation: 4", 2);
  assert_units (2, "kind: ddp, accumulation: 4, no_sync: false", 8);
  assert_units (2, "kind: zero, stage: 1, accumulation: 4, multi_rank_all_reduce: false", 2);
  assert_units (2, "kind: zero, stage: 2, accumulation: 4, multi_rank_all_reduce: false", 5);
  assert_units (2, "kind: zero, stage: 3, accumulation: 4, persistence_threshold: 0, max_reuse_distance: 0",
                12);
  assert_units (2, "kind: fsdp, sharding: grad_op, accumulation: 4", 8);
  assert_units (2, "kind: fsdp, sharding: grad_op, accumulation: 4, no_sync: true", 2);
}

/* 4 nodes of 8: gathers and reduce-scatters of n = 8, then P / 8 gradients over n = 4. */
static void
hybrid_sharding_stays_in_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (4, "kind: fsdp, sharding: hybrid_grad_op");
  double p = parameters_of (play);

  assert_near (sent_bytes (play, FAB_DIMENSION_DATA) / (2 * 2 * p * 7 / 8 + 2 * 2 * p / 8 * 3 / 4), 1, 1e-6);
  g_autoptr (Play) mics = job (
      4, "kind: zero, stage: 3, shard: 8, persistence_threshold: 0, max_reuse_distance: 0");
  assert_near (sent_bytes (mics, FAB_DIMENSION_DATA) / (3 * 2 * p * 7 / 8 + 2 * 2 * p / 8 * 3 / 4), 1, 1e-6);
}

/* Parameters in 8 bits, over all ranks in the first forward pass and inside nodes in backward and from the second
 * micro-batch on; gradients in 4 bits: inside nodes, then an eighth of them between nodes. */
static void
zero_plus_plus_sends_less (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (4, "kind: zero, stage: 3, persistence_threshold: 0, max_reuse_distance: 0, "
                                  "secondary: 8, quantized_weights: true, quantized_gradients: true");
  double p = parameters_of (play);
  double gradients = 0.5 * p * 7 / 8 + 0.5 * p / 8 * 3 / 4, expected = p * 31 / 32 + p * 7 / 8 + gradients;

  assert_near (sent_bytes (play, FAB_DIMENSION_DATA) / expected, 1, 1e-12);
  g_autoptr (Play) twice = job (
      4, "kind: zero, stage: 3, persistence_threshold: 0, max_reuse_distance: 0, "
         "secondary: 8, quantized_weights: true, quantized_gradients: true, accumulation: 2");
  assert_near (sent_bytes (twice, FAB_DIMENSION_DATA) / (expected + gradients + 2 * p * 7 / 8), 1, 1e-12);
}

/* 4 blocks of 2 segments, embedding and head: per micro-batch of 2 x 512 tokens x 2048 bytes an all-reduce forward
 * and one backward, the embedding forward only, the head backward only: 18 of them. With sequence parallelism each
 * is a reduce-scatter and an all-gather, and backward gathers once more at the end of 8 segments and the head. */
static void
tensor_parallelism_moves_activations (G_GNUC_UNUSED void **state)
{
  const double one = 2.0 * 512 * 2048 * 7 / 8;
  g_autoptr (Play) plain = job (2, "kind: ddp, parallel: {tensor: 8}");
  g_autoptr (Play) sequence = job (2, "kind: ddp, parallel: {tensor: 8, sequence: true}");

  assert_near (sent_bytes (plain, FAB_DIMENSION_TENSOR), 18 * 2 * one, 1e-12);
  assert_true (sent_bytes (sequence, FAB_DIMENSION_TENSOR) > sent_bytes (plain, FAB_DIMENSION_TENSOR));
}

/* Three boundaries, each crossed both ways by 3 micro-batches of 2 x 512 tokens x 2048 bytes. */
static void
pipelines_send_activations_and_gradients (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (4, "kind: megatron, accumulation: 3, parallel: {pipeline: 4}");

  assert_near (sent_bytes (play, FAB_DIMENSION_PIPELINE), 3 * 2 * 3 * 2.0 * 512 * 2048, 1e-12);
}

static guint
count_collectives (guint nodes, const char *keys, FabDimension dimension)
{
  g_autoptr (Play) play = job (nodes, keys);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    n += dag->collectives[c].dimension == dimension;
  return n;
}

/* A straggler's replica, those before it and those behind it send apart; gradients are summed by all together. */
static void
bins_send_apart_and_reduce_together (G_GNUC_UNUSED void **state)
{
  const char *usual = "kind: ddp, accumulation: 3, parallel: {pipeline: 4}";
  const char
      *slow = "kind: ddp, accumulation: 3, parallel: {pipeline: 4}, stragglers: [{rank: 3, slowness: 2}]";

  assert_int_equal (count_collectives (4, slow, FAB_DIMENSION_PIPELINE),
                    3 * count_collectives (4, usual, FAB_DIMENSION_PIPELINE));
  assert_int_equal (count_collectives (4, slow, FAB_DIMENSION_DATA),
                    count_collectives (4, usual, FAB_DIMENSION_DATA));
}

/* Two experts per rank of 8 data-parallel ranks: each is on one rank only, so its parameters are gathered by
 * nobody. */
static void
experts_are_gathered_where_they_are (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup (
      "name: experts\niterations: 1\ncluster: {node: dgx-h100, nodes: 1}\n"
      "job: {kind: megatron, model: mixtral-8x7b, distributed_optimizer: true, gradient: bf16, clip_gradients: false, "
      "parallel: {expert: 8}}\n");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const double experts = 8 * 32 * 3.0 * 4096 * 14336, dense = parameters_of (play) - experts;

  assert_near (sent_bytes (play, FAB_DIMENSION_DATA) / (2 * 2 * dense * 7 / 8), 1, 1e-6);
}

/* Mixtral on 16 GPUs, tensor 2 with sequence parallelism, 8 experts over 8 ranks along tensor and data. Expert
 * gradients: 2 ranks have the same experts, each 1/8 of them, 2 bytes. To the experts: 2048 tokens / 2 x 2 experts x
 * 4096 numbers of 2 bytes, twice forward and twice backward in 32 blocks, of which 7/8 leave the rank. */
static void
experts_lie_along_tensor_ranks (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup (
      "name: experts\niterations: 1\ncluster: {node: dgx-h100, nodes: 2}\n"
      "job: {kind: megatron, model: mixtral-8x7b, gradient: bf16, clip_gradients: false, "
      "parallel: {tensor: 2, sequence: true, expert: 8, expert_tensor: 1}}\n");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const double experts = 8 * 32 * 3.0 * 4096 * 14336, dense = parameters_of (play) - experts;
  const double norms = 65 * 4096.0
                     + 32 * 8 * 4096.0; /* what every tensor-parallel rank has: norms and routers */
  double data = 2 * 2 * ((dense - norms) / 2 + norms) * 7 / 8 + 2 * 2 * experts / 8 / 2;

  assert_near (sent_bytes (play, FAB_DIMENSION_DATA) / data, 1, 1e-6);
  assert_near (sent_bytes (play, FAB_DIMENSION_EXPERT) / (4 * 32 * 1024.0 * 2 * 4096 * 2 * 7 / 8), 1, 1e-6);
}

static double
step_s (const char *keys)
{
  g_autofree char *head = g_strdup_printf (HEAD, "ring", 1u, keys);
  g_autofree char *yaml = g_strconcat (head, "contention: false\n", NULL);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  fab_simulation_step (play->simulation);
  const FabProbe *probe = fab_simulation_probe (play->simulation);
  return fab_ps_to_seconds (g_array_index (probe->iterations, FabIterationRecord, 0).duration_ps);
}

/* An optimizer that runs on processors of the host takes its time, under each stage. */
static void
an_offloaded_optimizer_takes_time (G_GNUC_UNUSED void **state)
{
  for (guint stage = 1; stage <= 3; stage++) {
    g_autofree char *here = g_strdup_printf ("kind: zero, stage: %u, compute: {kind: mfu}", stage);
    g_autofree char *away = g_strconcat (here, ", offload: {optimizer: cpu}", NULL);

    assert_true (step_s (away) > 1.05 * step_s (here));
  }
}

/* 8 ranks, each of 1024 tokens, h 1024, at 50 % of 312 TFLOP/s; gathers and sums are longer than what runs beside
 * them. In each of 4 blocks 7/8 of the matrices at both ends of attention (3 h^2, h^2) and of the MLP (4 h^2, 4
 * h^2) run beside them forward, and of the matrices behind (h^2, 4 h^2) backward, by the input alone: 17 h^2
 * multiply-adds a token. */
static void
gathers_run_beside_matrices (G_GNUC_UNUSED void **state)
{
  const double saved = 4 * 17 * 2.0 * 1024 * 1024 * 1024 / 8 * 7 / 8 / (0.5 * 312e12);

  assert_near (
      (step_s ("kind: megatron, compute: {kind: mfu}, parallel: {tensor: 8, sequence: true}")
       - step_s (
           "kind: megatron, compute: {kind: mfu}, parallel: {tensor: 8, sequence: true, overlap_tensor: true}"))
          / saved,
      1, 1e-3);
}

static double
activations (guint nodes, const char *keys, guint rank_class)
{
  g_autoptr (Play) play = job (nodes, keys);
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == rank_class && strcmp (part->part, "activations") == 0)
      return (double) part->bytes;
  }
  fail ();
  return 0;
}

/* One micro-batch at a time without a pipeline; p - stage of them with 1f1b, all with gpipe. Stages 1 and 2 of 4
 * have a block each and nothing else. */
static void
activations_are_of_the_micro_batches_that_are_alive (G_GNUC_UNUSED void **state)
{
  double one = activations (4, "kind: ddp", 0);
  double block = activations (4, "kind: ddp, parallel: {pipeline: 4}", 1);

  assert_near (activations (4, "kind: ddp, accumulation: 8", 0), one, 1e-12);
  assert_near (activations (4, "kind: ddp, accumulation: 8, parallel: {pipeline: 4}", 1), 3 * block, 1e-12);
  assert_near (activations (4, "kind: ddp, accumulation: 8, parallel: {pipeline: 4}", 2), 2 * block, 1e-12);
  assert_near (activations (4, "kind: ddp, accumulation: 8, parallel: {pipeline: 4, schedule: gpipe}", 1),
               8 * block, 1e-12);
  assert_true (activations (4, "kind: ddp, recompute: full", 0) < 0.7 * one);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_strategy_moves_what_its_paper_says),
    cmocka_unit_test (a_tensor_of_the_threshold_is_not_sharded),
    cmocka_unit_test (recomputed_blocks_are_gathered_again),
    cmocka_unit_test (sites_sum_their_parameters_now_and_then),
    cmocka_unit_test (an_outer_step_is_spread_over_the_steps_between),
    cmocka_unit_test (sites_refuse_what_they_cannot_be),
    cmocka_unit_test (fsdp_gathers_blocks_twice_and_the_root_once),
    cmocka_unit_test (accumulation_costs_what_the_strategy_reduces),
    cmocka_unit_test (hybrid_sharding_stays_in_nodes),
    cmocka_unit_test (zero_plus_plus_sends_less),
    cmocka_unit_test (tensor_parallelism_moves_activations),
    cmocka_unit_test (an_offloaded_optimizer_takes_time),
    cmocka_unit_test (gathers_run_beside_matrices),
    cmocka_unit_test (pipelines_send_activations_and_gradients),
    cmocka_unit_test (dualpipe_sums_both_copies),
    cmocka_unit_test (schedules_send_over_their_boundaries),
    cmocka_unit_test (bins_send_apart_and_reduce_together),
    cmocka_unit_test (experts_are_gathered_where_they_are),
    cmocka_unit_test (experts_lie_along_tensor_ranks),
    cmocka_unit_test (activations_are_of_the_micro_batches_that_are_alive),
  };

  return play_run_tests ("strategies", tests, &catalog);
}
