/* SPDX-License-Identifier: Apache-2.0 */
/* test_fsdp.c - what units of FSDP gather, reduce and copy, for every release, type and sharding.
 *
 * Two blocks of 256 numbers for a token: 12 x 256^2 numbers of matrices and 512 of norms. Embedding and head have 1024
 * x 256 each, and the last norm 256. With adapters of rank 4 only these are trained: 4 x (n + k) for the four matrices
 * of n x k of a block, 4 x 16 x 256 numbers. An expert has 8 x 256^2 numbers, as many as the shared one, which stands
 * in the place of the block's own matrices, and a row of 256 in the router.
 *
 * FSDP2 (PyTorch 2.6) copies gathered parameters out of one buffer. It copies gradients into another one, in the type
 * of the reduction. FSDP1 has views, puts gradients together in their own type, and reads these and writes them in the
 * type of the reduction where that is wider. An H100 copies at 0.85 of 3.35 TB/s. Shards that are kept in host memory
 * come before each gather, and those of gradients go back after each reduction.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

enum {
  H = 256,
  BLOCK = 12 * H * H + 2 * H,
  ADAPTERS = 4 * 16 * H,
  ROOT = 2 * 1024 * H + H,
  EXPERT = 8 * H * H,
};

static FabCatalog *catalog;

typedef struct {
  guint gpus, n_shards;
  gboolean is_second, is_lora, is_offloaded;
  guint weight_bytes, gradient_bytes;
  guint n_experts, expert; /* experts of a block, and how many ranks share them */
} Case;

/* Two shards of more GPUs are hybrid sharding. */
static Play *
job (const Case *one)
{
  g_autofree char *experts = one->n_experts > 0
                               ? g_strdup_printf (", experts: {count: %u, per_token: 1, shared: 1}",
                                                  one->n_experts)
                               : g_strdup ("");
  g_autofree char *yaml = g_strdup_printf (
      "name: fsdp\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
      "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, "
      "hidden: %d, heads: 4, vocabulary: 1024, tied: false, biases: false%s}}]\n"
      "job: {kind: fsdp, model: m, micro_batch: 1, sequence: 16, clip_gradients: false, software: {pytorch: \"%s\"}, "
      "precision: %s, gradient: %s%s%s, parallel: {expert: %u}%s}\n",
      one->gpus, H, experts, one->is_second ? "2.6" : "2.5", one->weight_bytes == 4 ? "fp32" : "bf16",
      one->gradient_bytes == 4 ? "fp32" : "bf16", one->is_lora ? ", trains: lora, lora_rank: 4" : "",
      one->n_shards < one->gpus ? ", sharding: hybrid, shard: 2" : "", MAX (one->expert, 1),
      one->is_offloaded ? ", cpu_offload: true" : "");

  return play_new (catalog, yaml, NULL);
}

/* Parameters of a rank when they are whole, and those of them that have gradients. */
typedef struct {
  guint64 whole, trained;
} Count;

typedef struct {
  guint n_gathers, n_reductions, n_sums;
} Collectives;

static void
check_collective (const Case *one, const FabCollectivePlan *plan, guint n_shards, const Count *count,
                  Collectives *seen)
{
  if (plan->op == FAB_OP_ALL_GATHER) {
    assert_int_equal (plan->bytes, count->whole * one->weight_bytes);
    assert_int_equal (plan->n_ranks, n_shards);
    seen->n_gathers++;
  } else if (plan->op == FAB_OP_REDUCE_SCATTER) {
    assert_int_equal (plan->bytes, count->trained * one->gradient_bytes);
    assert_int_equal (plan->n_ranks, n_shards);
    seen->n_reductions++;
  } else if (plan->op == FAB_OP_ALL_REDUCE) {
    assert_int_equal (plan->bytes, count->trained * one->gradient_bytes / n_shards);
    assert_int_equal (plan->n_ranks, one->gpus / n_shards);
    seen->n_sums++;
  }
}

/* Whether something on the stream of the computation waits for the task. */
static gboolean
is_awaited (const FabDag *dag, FabTaskId task)
{
  for (guint e = dag->next_starts[task]; e < dag->next_starts[task + 1]; e++)
    if (strcmp (dag->streams[dag->tasks[dag->next[e]].stream].name, "compute") == 0)
      return TRUE;
  return FALSE;
}

/* The collectives of the name among n_shards ranks, for n_gathers uses of the unit. Groups sum their shards. */
static void
check_collectives (const Case *one, const FabDag *dag, const char *name, guint n_shards, guint n_groups,
                   const Count *count, guint n_gathers)
{
  Collectives seen = { 0 };

  for (guint t = 0; t < dag->n_tasks; t++) {
    const FabDagCollective *collective = &dag->collectives[MAX (dag->tasks[t].collective, 0)];

    if (dag->tasks[t].collective >= 0 && strcmp (collective->name, name) == 0) {
      check_collective (one, &collective->plan, n_shards, count, &seen);
      if (collective->plan.op != FAB_OP_SEND_RECV)
        assert_true (is_awaited (dag, t));
    }
  }
  assert_int_equal (seen.n_gathers, n_shards > 1 && count->whole > 0 ? n_gathers : 0);
  assert_int_equal (seen.n_reductions, n_shards > 1 && count->trained > 0 ? 1 : 0);
  assert_int_equal (seen.n_sums, n_groups > 1 && count->trained > 0 ? 1 : 0);
}

static double
copy_ps (double bytes)
{
  return bytes / (0.85 * 3.35e12) * 1e12;
}

/* Copies on the GPU, before and after collectives. */
static void
check_copies (const Case *one, const FabDag *dag, const char *unit, const Count *count, guint n_gathers)
{
  g_autofree char *in = g_strdup_printf ("%s.copy_in", unit), *out = g_strdup_printf ("%s.copy_out", unit);
  const double weight = one->weight_bytes, gradient = one->gradient_bytes;
  const double moved = one->is_second    ? weight + gradient
                     : gradient > weight ? weight + weight + weight + gradient
                                         : weight + weight;
  guint n_in = 0, n_out = 0;

  for (guint t = 0; t < dag->n_tasks; t++) {
    const FabTask *task = &dag->tasks[t];

    if (task->collective < 0 && strcmp (task->name, out) == 0) {
      assert_near ((double) task->duration_ps, copy_ps ((double) count->whole * 2 * weight), 1e-5);
      n_out++;
    } else if (task->collective < 0 && strcmp (task->name, in) == 0) {
      assert_near ((double) task->duration_ps, copy_ps ((double) count->trained * moved), 1e-4);
      n_in++;
    }
  }
  assert_int_equal (n_out, one->n_shards > 1 && one->is_second ? n_gathers : 0);
  assert_int_equal (n_in, one->n_shards > 1 && count->trained > 0 ? 1 : 0);
}

/* Without a gather the pass itself waits for its parameters. */
static void
a_lone_rank_waits_for_its_parameters (G_GNUC_UNUSED void **state)
{
  const Case one = { .gpus = 1, .n_shards = 1, .weight_bytes = 2, .gradient_bytes = 2, .is_offloaded = TRUE };
  g_autoptr (Play) play = job (&one);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (guint t = 0; t < dag->n_tasks; t++)
    if (strcmp (dag->streams[dag->tasks[t].stream].name, "copy in") == 0) {
      assert_true (is_awaited (dag, t));
      n++;
    }
  assert_int_equal (n, 5); /* of the root once, of both blocks for each pass */
}

/* Bytes of the unit that go between host and GPU in a step, on the stream of one way. */
static guint64
offloaded_bytes (const FabDag *dag, const char *unit, const char *stream)
{
  g_autofree char *experts = g_strdup_printf ("%s.experts", unit);
  guint64 bytes = 0;

  for (guint t = 0; t < dag->n_tasks; t++) {
    const FabTask *task = &dag->tasks[t];
    const FabDagCollective *collective = &dag->collectives[MAX (task->collective, 0)];

    if (task->collective >= 0 && strcmp (dag->streams[task->stream].name, stream) == 0
        && (strcmp (collective->name, unit) == 0 || strcmp (collective->name, experts) == 0)) {
      bytes += collective->plan.bytes;
      assert_true (is_awaited (dag, t) || strcmp (stream, "copy in") == 0);
    }
  }
  return bytes;
}

/* Experts that ranks share are sharded over those that have the same ones. */
static void
check_unit (const Case *one, const char *unit, const Count *dense, const Count *experts, guint n_gathers)
{
  g_autoptr (Play) play = job (one);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  g_autofree char *expert_name = g_strdup_printf ("%s.experts", unit);
  const Count both = { dense->whole + experts->whole, dense->trained + experts->trained };
  guint n_expert_shards = one->gpus / MAX (one->expert, 1);

  check_collectives (one, dag, unit, one->n_shards, one->gpus / one->n_shards, dense, n_gathers);
  check_collectives (one, dag, expert_name, n_expert_shards, 1, experts, n_gathers);
  check_copies (one, dag, unit, &both, n_gathers);
  if (one->is_offloaded) {
    assert_int_equal (offloaded_bytes (dag, unit, "copy in"),
                      n_gathers * one->weight_bytes
                          * (dense->whole / one->n_shards + experts->whole / n_expert_shards));
    assert_int_equal (offloaded_bytes (dag, unit, "copy out"),
                      one->gradient_bytes
                          * (dense->trained / one->n_shards + experts->trained / n_expert_shards));
  }
}

/* A block is gathered for each pass; the root once, as it stays whole. */
static void
check_job (const Case *one)
{
  guint64 n_own = one->n_experts / MAX (one->expert, 1), own = n_own * EXPERT,
          block = BLOCK + one->n_experts * H + (one->expert > 1 ? 0 : own);
  const Count none = { 0 }, experts = { own, own };

  for (guint b = 0; b < 2; b++) {
    const Count dense = { block + (one->is_lora ? ADAPTERS : 0), one->is_lora ? ADAPTERS : block };

    check_unit (one, b == 0 ? "block0" : "block1", &dense, one->expert > 1 ? &experts : &none, 2);
  }
  check_unit (one, "root", &(Count){ ROOT, one->is_lora ? 0 : ROOT }, &none, 1);
}

static void
units_move_what_they_have (G_GNUC_UNUSED void **state)
{
  static const guint shardings[][2] = { { 1, 1 }, { 2, 2 }, { 4, 4 }, { 4, 2 } };

  for (guint i = 0; i < 32 * G_N_ELEMENTS (shardings); i++) {
    const Case one = { .gpus = shardings[i / 32][0],
                       .n_shards = shardings[i / 32][1],
                       .is_second = (i & 1) != 0,
                       .is_lora = (i & 2) != 0,
                       .weight_bytes = (i & 4) != 0 ? 4 : 2,
                       .gradient_bytes = (i & 8) != 0 ? 4 : 2,
                       .is_offloaded = (i & 16) != 0 };

    check_job (&one);
  }
}

static void
experts_are_sharded_among_their_own_ranks (G_GNUC_UNUSED void **state)
{
  static const guint layouts[][4] = { { 2, 2, 4, 1 }, { 4, 4, 4, 1 }, { 4, 4, 4, 2 },
                                      { 4, 4, 8, 2 }, { 8, 8, 8, 2 }, { 8, 8, 8, 4 },
                                      { 4, 2, 4, 2 }, { 8, 2, 8, 2 }, { 8, 2, 8, 4 } };

  for (guint i = 0; i < 8 * G_N_ELEMENTS (layouts); i++) {
    const Case one = { .gpus = layouts[i / 8][0],
                       .n_shards = layouts[i / 8][1],
                       .n_experts = layouts[i / 8][2],
                       .expert = layouts[i / 8][3],
                       .is_second = (i & 1) != 0,
                       .weight_bytes = 2,
                       .gradient_bytes = (i & 2) != 0 ? 4 : 2,
                       .is_offloaded = (i & 4) != 0 };

    check_job (&one);
  }
}

static double
optimizer_ps (const Case *one)
{
  g_autoptr (Play) play = job (one);
  const FabDag *dag = fab_simulation_dag (play->simulation);

  for (guint t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].collective < 0 && strcmp (dag->tasks[t].name, "optimizer") == 0)
      return (double) dag->tasks[t].duration_ps;
  fail_msg ("no optimizer");
  return 0;
}

/* Each rank updates its shards: over all ranks or those of a group, and of experts over all that have the same ones. */
static void
ranks_update_their_shards (G_GNUC_UNUSED void **state)
{
  const Case whole = { .gpus = 1, .n_shards = 1, .weight_bytes = 2, .gradient_bytes = 2 };
  const double each_ps = optimizer_ps (&whole) / (ROOT + 2.0 * BLOCK);
  static const guint layouts[][4] = { { 4, 4, 0, 1 }, { 4, 2, 0, 1 }, { 4, 4, 4, 1 }, { 4, 4, 4, 2 },
                                      { 4, 2, 4, 1 }, { 4, 2, 4, 2 }, { 8, 2, 8, 4 }, { 8, 2, 8, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    const guint *row = layouts[i];
    const Case one = { .gpus = row[0],
                       .n_shards = row[1],
                       .n_experts = row[2],
                       .expert = row[3],
                       .weight_bytes = 2,
                       .gradient_bytes = 2 };
    double dense = ROOT + 2.0 * (BLOCK + one.n_experts * H), experts = 2.0 * one.n_experts * EXPERT;
    double shard = one.expert > 1 ? dense / one.n_shards + experts / one.gpus
                                  : (dense + experts) / one.n_shards;

    assert_near (optimizer_ps (&one), shard * each_ps, 1e-6);
  }
}

/* Each stage gathers its root unit before all others, also where the embedding is on another stage; what is left of the
 * model is gathered once, for both passes. */
static void
the_root_unit_comes_first (G_GNUC_UNUSED void **state)
{
  static const char *const prefetches[] = { "pre", "post", "none" };

  for (guint i = 0; i < G_N_ELEMENTS (prefetches); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: fsdp\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
        "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: 4}\n"
        "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, "
        "hidden: 64, heads: 4, vocabulary: 1024, tied: false, biases: false}}]\n"
        "job: {kind: fsdp, model: m, micro_batch: 1, sequence: 16, accumulation: 2, parallel: {pipeline: 2}, "
        "backward_prefetch: %s}\n",
        prefetches[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n_stages = 0;

    for (guint s = 0; s < dag->n_streams; s++) {
      guint n_gathers = 0, n_roots = 0;

      for (guint t = 0; t < dag->n_tasks; t++) {
        const FabDagCollective *collective = &dag->collectives[MAX (dag->tasks[t].collective, 0)];

        if (dag->tasks[t].stream != s || dag->tasks[t].collective < 0
            || collective->plan.op != FAB_OP_ALL_GATHER)
          continue;
        if (n_gathers++ == 0)
          assert_string_equal (collective->name, "root");
        n_roots += strcmp (collective->name, "root") == 0;
      }
      n_stages += n_gathers > 0;
      assert_int_equal (n_roots, n_gathers > 0 ? 2 : 0); /* for each micro-batch */
    }
    assert_int_equal (n_stages, 2);
  }
}

/* The sums over the groups are on a communicator of their own, and the second micro-batch gathers behind them too. */
static void
a_micro_batch_begins_when_the_one_before_is_reduced (G_GNUC_UNUSED void **state)
{
  static const char yaml[] =
      "name: fsdp\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
      "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: 4}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 2, "
      "hidden: 256, heads: 4, vocabulary: 1024, tied: false, biases: false}}]\n"
      "job: {kind: fsdp, model: m, sequence: 16, sharding: hybrid, shard: 2, accumulation: 2}\n";
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabTimePs summed_ps = 0;
  guint n_sums = 0, n_gathers = 0;

  assert_true (fab_simulation_step (play->simulation));
  const GArray *spans = fab_simulation_probe (play->simulation)->spans;
  for (guint i = 0; i < spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);

    if (span->kind == FAB_SPAN_COMM && strcmp (span->stream, "replica") == 0 && n_sums++ < 3)
      summed_ps = MAX (summed_ps, span->end_ps);
  }
  assert_int_equal (n_sums, 6); /* of three units in each micro-batch */
  for (guint i = 0; i < spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);

    if (span->kind == FAB_SPAN_COMM && strcmp (span->name, "all_gather root") == 0 && n_gathers++ == 1)
      assert_true (span->start_ps >= summed_ps);
  }
  assert_int_equal (n_gathers, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (units_move_what_they_have),
    cmocka_unit_test (experts_are_sharded_among_their_own_ranks),
    cmocka_unit_test (a_lone_rank_waits_for_its_parameters),
    cmocka_unit_test (ranks_update_their_shards),
    cmocka_unit_test (the_root_unit_comes_first),
    cmocka_unit_test (a_micro_batch_begins_when_the_one_before_is_reduced),
  };

  return play_run_tests ("fsdp", tests, &catalog);
}
