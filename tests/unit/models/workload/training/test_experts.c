/* SPDX-License-Identifier: Apache-2.0 */
/* test_experts.c - what parallel.moe sends and when, on two blocks of eight experts over two nodes of eight H100.
 *
 * 1024 tokens of 1024 numbers per rank, two experts each: an exchange by copies is 1024 x 2 x 2048 bytes, and one that
 * every rank gathers 16 x 1024 x 2048.
 */
#include <string.h>

#include "sim/run/run.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

#define HEAD                                                                                               \
  "name: experts\niterations: 1\ncollectives: {kind: plain}\nseed: 7\n"                                    \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-22\", shape: {kind: transformer, layers: 2, " \
  "hidden: 1024, heads: 16, vocabulary: 8192, feed_forward: 4096, gated: true, experts: {count: 16, "      \
  "per_token: 2, shared: 1}}}]\n"                                                                          \
  "cluster: {node: dgx-h100, nodes: 2}\n"                                                                  \
  "job: {kind: ddp, model: m, micro_batch: 2, sequence: 512, clip_gradients: false, compute: {kind: mfu, " \
  "mfu: 40%%}, parallel: {expert: 16, moe: {%s}}}\n"

static FabCatalog *catalog;

static Play *
job (const char *moe)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, moe);

  return play_new (catalog, yaml, NULL);
}

/* The exchange of that number, in the order of the passes. */
static const FabCollectivePlan *
exchange (const Play *play, guint index)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);

  for (guint c = 0; c < dag->n_collectives; c++)
    if (dag->collectives[c].dimension == FAB_DIMENSION_EXPERT && index-- == 0)
      return &dag->collectives[c].plan;
  return NULL;
}

static const double copied_bytes = 1024.0 * 2 * 2048;

static void
each_dispatcher_sends_what_it_says (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) copies = job ("dispatch: nccl"), gather = job ("dispatch: allgather");
  g_autoptr (Play) kernels = job ("dispatch: deepep"),
                   eight = job ("dispatch: deepep, dispatch_precision: fp8");
  g_autoptr (Play) groups = job ("dispatch: deepep, groups_per_token: 1"),
                   hybrid = job ("dispatch: hybridep");

  assert_null (exchange (copies, 8)); /* two blocks, there and back, both passes */
  assert_int_equal (exchange (copies, 0)->op, FAB_OP_ALL_TO_ALL);
  assert_near ((double) exchange (copies, 0)->bytes, copied_bytes, 1e-9);
  assert_int_equal (exchange (gather, 0)->op, FAB_OP_ALL_GATHER);
  assert_int_equal (exchange (gather, 1)->op, FAB_OP_REDUCE_SCATTER);
  assert_near ((double) exchange (gather, 0)->bytes, 16 * 1024.0 * 2048, 1e-9);
  assert_string_equal (exchange (kernels, 0)->algorithm, "dispatch");
  assert_string_equal (exchange (kernels, 1)->algorithm, "combine");
  assert_int_equal (exchange (kernels, 0)->n_channels, 20);
  assert_string_equal (exchange (kernels, 0)->protocol, "normal");
  assert_string_equal (exchange (hybrid, 0)->protocol, "hybrid");
  assert_int_equal (exchange (hybrid, 0)->bytes, exchange (kernels, 0)->bytes);
  /* A scale of four bytes for 128 numbers; gradients keep the precision of combine. */
  assert_near ((double) exchange (eight, 0)->bytes, copied_bytes / 2 * (1 + 4.0 / 128), 1e-9);
  assert_near ((double) exchange (eight, 1)->bytes, copied_bytes, 1e-9);
  assert_near ((double) exchange (eight, 4)->bytes, copied_bytes, 1e-9);
  /* With one group, which is a node, half of the tokens stay; without, 2 (1 - 8/16 x 7/15) / 2 of them go. */
  assert_near (exchange (groups, 0)->footprint->binding_weight
                   / exchange (kernels, 0)->footprint->binding_weight,
               0.5 / (1 - 56.0 / 240), 1e-9);
}

static double
step_s (const char *moe)
{
  g_autoptr (Play) play = job (moe);
  GError *error = NULL;

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ .n_iterations = 1 }, &error));
  const FabIterationRecord *record = &g_array_index (fab_simulation_probe (play->simulation)->iterations,
                                                     FabIterationRecord, 0);
  return fab_ps_to_seconds (record->duration_ps);
}

static void
what_computes_beside_an_exchange_hides_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) none = job ("overlap: none"), shared = job ("overlap: shared"),
                   batches = job ("overlap: batches");
  double alone = step_s ("overlap: none");

  assert_true (step_s ("overlap: shared") < alone);
  assert_true (step_s ("overlap: batches") < alone);
  assert_null (exchange (shared, 8));
  assert_near ((double) exchange (shared, 0)->bytes, (double) exchange (none, 0)->bytes, 1e-12);
  /* Twice as many, each of half of the tokens. */
  assert_null (exchange (batches, 16));
  assert_near ((double) exchange (batches, 15)->bytes, copied_bytes / 2, 1e-9);
}

static void
the_fullest_rank_decides (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) padded = job ("capacity: 1.5"), uneven = job ("imbalance: 50%"),
                   again = job ("imbalance: 50%");
  double even = step_s ("dispatch: nccl");

  assert_near ((double) exchange (padded, 0)->bytes, 1.5 * copied_bytes, 1e-9);
  assert_true (step_s ("capacity: 1.5") > even);
  /* The largest of sixteen with a coefficient of variation of a half is about twice the mean. */
  assert_true ((double) exchange (uneven, 0)->bytes > 1.6 * copied_bytes);
  assert_true ((double) exchange (uneven, 0)->bytes < 2.6 * copied_bytes);
  assert_int_equal (exchange (uneven, 0)->bytes, exchange (again, 0)->bytes);
  assert_true (exchange (uneven, 0)->bytes != exchange (uneven, 2)->bytes); /* another block */
  assert_true (step_s ("imbalance: 50%") > even);
}

/* Experts of a quarter of the width get a quarter of the bytes: 1024 tokens, two experts, 256 numbers of 2 bytes. */
static void
narrow_experts_get_narrow_tokens (G_GNUC_UNUSED void **state)
{
  g_autofree char *wide = g_strdup_printf (HEAD, "dispatch: nccl");
  g_auto (GStrv) parts = g_strsplit (wide, "shared: 1", 2);
  g_autofree char *narrow = g_strjoinv ("shared: 1, latent: 256", parts);
  g_autoptr (Play) play = play_new (catalog, narrow, NULL);

  assert_near ((double) exchange (play, 0)->bytes, copied_bytes / 4, 1e-9);
}

/* Seconds of all passes through a part of the model. */
static double
passes_s (const Play *play, const char *part)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double s = 0;

  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if ((g_str_has_prefix (dag->tasks[t].name, "forward ")
         || g_str_has_prefix (dag->tasks[t].name, "backward "))
        && strstr (dag->tasks[t].name, part) != NULL)
      s += fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]));
  return s;
}

/* The rank with the most tokens of a block computes as many times longer as it sends more, and only in its experts. */
static void
the_fullest_rank_computes_longer (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) even = job ("dispatch: nccl"), uneven = job ("dispatch: nccl, imbalance: 50%");

  for (guint block = 0; block < 2; block++) {
    g_autofree char *experts = g_strdup_printf ("block%u.experts", block),
                    *attention = g_strdup_printf ("block%u.attention", block);
    double sent = (double) exchange (uneven, 2 * block)->bytes / (double) exchange (even, 2 * block)->bytes;

    assert_true (sent > 1.1);
    assert_true (passes_s (even, experts) > 0 && passes_s (even, attention) > 0);
    assert_near (passes_s (uneven, experts) / passes_s (even, experts), sent, 1e-6);
    assert_near (passes_s (uneven, attention), passes_s (even, attention), 1e-6);
  }
}

/* Halves of a micro-batch take turns where tokens travel. A rank that has all experts sends none, and computes each
 * pass in one piece. */
static void
only_ranks_that_exchange_tokens_have_halves (G_GNUC_UNUSED void **state)
{
  for (guint expert = 1; expert <= 16; expert *= 4) {
    guint n[2] = { 0, 0 };

    for (guint has_halves = 0; has_halves < 2; has_halves++) {
      g_autofree char *yaml = g_strdup_printf (HEAD, has_halves ? "overlap: batches" : "overlap: none");
      g_auto (GStrv) parts = g_strsplit (yaml, "expert: 16", 2);
      g_autofree char *size = g_strdup_printf ("expert: %u", expert), *other = g_strjoinv (size, parts);
      g_autoptr (Play) play = play_new (catalog, other, NULL);
      const FabDag *dag = fab_simulation_dag (play->simulation);

      for (FabTaskId t = 0; t < dag->n_tasks; t++)
        n[has_halves] += g_str_has_prefix (dag->tasks[t].name, "forward block");
    }
    assert_true (n[0] > 0);
    assert_int_equal (n[1], expert > 1 ? 2 * n[0] : n[0]);
  }
}

/* Ranks that share an expert gather its tokens and sum what comes out, forward and backward; where each has whole
 * experts, nobody does. */
static void
ranks_that_share_an_expert_gather_its_tokens (G_GNUC_UNUSED void **state)
{
  for (guint shared = 1; shared <= 2; shared++) {
    g_autofree char
        *yaml = g_strdup_printf (HEAD, "overlap: none"),
        *parallel = g_strdup_printf (
            "kind: megatron, model: m, micro_batch: 2, sequence: 512, clip_gradients: false, "
            "compute: {kind: mfu}, parallel: {tensor: 2, sequence: true, expert: 4, expert_tensor: %u}}\n",
            shared);
    g_auto (GStrv) parts = g_strsplit (yaml, "kind: ddp", 2);
    g_autofree char *other = g_strconcat (parts[0], parallel, NULL);
    g_autoptr (Play) play = play_new (catalog, other, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n = 0;

    for (guint c = 0; c < dag->n_collectives; c++)
      if (g_str_has_suffix (dag->collectives[c].name, ".experts")
          && dag->collectives[c].dimension == FAB_DIMENSION_TENSOR) {
        assert_int_equal (dag->collectives[c].plan.n_ranks, 2);
        n++;
      }
    assert_int_equal (n, shared == 1 ? 0 : 2 * 4); /* two blocks */
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (only_ranks_that_exchange_tokens_have_halves),
    cmocka_unit_test (ranks_that_share_an_expert_gather_its_tokens),
    cmocka_unit_test (each_dispatcher_sends_what_it_says),
    cmocka_unit_test (what_computes_beside_an_exchange_hides_it),
    cmocka_unit_test (the_fullest_rank_decides),
    cmocka_unit_test (the_fullest_rank_computes_longer),
    cmocka_unit_test (narrow_experts_get_narrow_tokens),
  };

  return play_run_tests ("experts", tests, &catalog);
}
