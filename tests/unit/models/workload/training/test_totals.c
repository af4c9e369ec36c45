/* SPDX-License-Identifier: Apache-2.0 */
/* test_totals.c - what a training job says of itself: its work, its precision, its tokens, and the norm of its
 * gradients. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

/* Four blocks of h = 256 and one head of 1000 words: 2 x 12 h^2 FLOPs of matrices and 4 x sequence x h of scores for a
 * token of a block, and 2 x 1000 h of the head. */
#define HEAD                                                                                               \
  "name: totals\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                           \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 256, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n"                               \
  "cluster: {node: dgx-a100, nodes: 1, gpus_per_node: %u}\n"                                               \
  "job: {model: m, micro_batch: 2, sequence: 128, %s}\n"

static FabCatalog *catalog;

static Play *
job (guint gpus, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, keys);

  return play_new (catalog, yaml, NULL);
}

static void
the_precision_is_that_of_the_job (G_GNUC_UNUSED void **state)
{
  static const char *const kinds[] = { "ddp", "zero, stage: 2", "fsdp", "megatron" };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint i = 0; i <= FAB_PRECISION_FP8; i++) {
      g_autofree char *keys = g_strdup_printf ("kind: %s, precision: %s", kinds[k], fab_precision_names[i]);
      g_autoptr (Play) play = job (2, keys);

      assert_int_equal (fab_simulation_totals (play->simulation)->precision, i);
    }
}

/* Forward and backward are three times the forward pass; full recomputation is the blocks once more. Every rank has an
 * equal share, however the model is divided. */
static void
work_is_counted_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus, data, n_micro;
    const char *keys;
  } rows[] = { { 1, 1, 1, "kind: ddp" },
               { 4, 4, 1, "kind: ddp" },
               { 4, 2, 1, "kind: megatron, parallel: {tensor: 2}" },
               { 4, 1, 4, "kind: megatron, accumulation: 4, parallel: {pipeline: 2, tensor: 2}" },
               { 4, 4, 3, "kind: zero, stage: 3, accumulation: 3" },
               { 4, 4, 1, "kind: fsdp, recompute: full" } };
  const double h = 256, n_layers = 4, blocks = n_layers * (2 * 12 * h * h + 4 * 128 * h), head = 2 * 1000 * h;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = job (rows[i].gpus, rows[i].keys);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);
    double tokens = 2.0 * 128 * rows[i].n_micro * rows[i].data;
    gboolean is_recomputed = strstr (rows[i].keys, "recompute: full") != NULL;

    assert_near (totals->tokens, tokens, 0);
    assert_near (totals->model_flops_per_rank, 3 * (blocks + head) * tokens / rows[i].gpus, 1);
    assert_near (totals->executed_flops_per_rank - totals->model_flops_per_rank,
                 is_recomputed ? blocks * tokens / rows[i].gpus : 0, 1);
    assert_int_equal (totals->trained_parameters, totals->parameters);
  }
}

/* Adapters are a few parameters beside the matrices. Backward does not compute the gradients of frozen weights: a third
 * of the work of their matrices. */
static void
frozen_weights_have_no_gradients (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) whole = job (1, "kind: ddp"), lora = job (1, "kind: ddp, trains: lora, lora_rank: 8");
  const FabJobTotals *all = fab_simulation_totals (whole->simulation),
                     *few = fab_simulation_totals (lora->simulation);

  assert_true (few->trained_parameters > 0 && few->trained_parameters < all->parameters / 20);
  assert_int_equal (few->parameters, all->parameters + few->trained_parameters);
  assert_true (few->model_flops_per_rank > all->model_flops_per_rank * 0.6);
  assert_true (few->model_flops_per_rank < all->model_flops_per_rank * 0.75);
}

static guint
count_norms (const Play *play, guint *n_ranks)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    if (strcmp (dag->collectives[c].name, "gradient norm") == 0) {
      assert_int_equal (dag->collectives[c].plan.op, FAB_OP_ALL_REDUCE);
      assert_int_equal (dag->collectives[c].plan.bytes, 4);
      *n_ranks = dag->collectives[c].plan.n_ranks;
      n++;
    }
  return n;
}

/* Where each rank has all gradients, it knows their norm. Where gradients are divided, one number is summed over all
 * that have a part of them. */
static void
ranks_agree_on_the_norm_of_divided_gradients (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint gpus, n_norms, n_ranks;
    const char *keys;
  } rows[] = { { 1, 0, 0, "kind: ddp" },
               { 4, 0, 0, "kind: ddp" },
               { 4, 0, 0, "kind: megatron" },
               { 4, 1, 4, "kind: megatron, parallel: {tensor: 4}" },
               { 4, 1, 4, "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 2" },
               { 4, 1, 4, "kind: zero, stage: 1" },
               { 4, 1, 4, "kind: zero, stage: 3" },
               { 1, 0, 0, "kind: zero, stage: 3" },
               { 4, 1, 4, "kind: fsdp" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *off = g_strconcat (rows[i].keys, ", clip_gradients: false", NULL),
                    *on = g_strconcat (rows[i].keys, ", clip_gradients: true", NULL);
    g_autoptr (Play) without = job (rows[i].gpus, off), with = job (rows[i].gpus, on);
    guint n_ranks = 0;

    assert_int_equal (count_norms (without, &n_ranks), 0);
    if (count_norms (with, &n_ranks) != rows[i].n_norms || n_ranks != rows[i].n_ranks)
      fail_msg ("%s: %u norms over %u ranks", rows[i].keys, count_norms (with, &n_ranks), n_ranks);
  }
}

/* Clipping reads gradients in FP32 twice and writes them once: 12 B of each parameter at 85 % of the rate
 * of the memory. */
static void
clipping_moves_the_gradients (G_GNUC_UNUSED void **state)
{
  double s[2];

  for (guint clips = 0; clips < 2; clips++) {
    g_autoptr (Play) play = job (1, clips ? "kind: ddp, clip_gradients: true"
                                          : "kind: ddp, clip_gradients: false");

    assert_true (fab_simulation_step (play->simulation));
    s[clips] = fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps);
    if (clips) {
      double bytes = 12.0 * (double) fab_simulation_totals (play->simulation)->parameters;
      double rate = (double) fab_simulation_cluster (play->simulation)->device.memory_bytes_per_s;

      assert_near (s[1] - s[0], bytes / 0.85 / rate, 1e-3);
    }
  }
}

/* A job draws numbers where its steps jitter, or where its experts get different numbers of tokens. */
static void
what_varies_is_drawn (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    gboolean uses_seed;
  } rows[] = { { "kind: ddp", FALSE },
               { "kind: ddp, jitter: {cv: 0%}", FALSE },
               { "kind: ddp, jitter: {cv: 1%}", TRUE },
               { "kind: ddp, parallel: {expert: 2, moe: {dispatch: nccl}}", FALSE },
               { "kind: ddp, parallel: {expert: 2, moe: {imbalance: 20%}}", TRUE },
               { "kind: ddp, jitter: {cv: 1%}, parallel: {expert: 2, moe: {imbalance: 20%}}", TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *dense = g_strdup_printf (HEAD, 2, rows[i].keys);
    g_auto (GStrv) parts = g_strsplit (dense, "biases: false", 2);
    g_autofree char *yaml = g_strjoinv ("biases: false, experts: {count: 4, per_token: 2}", parts);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    if (fab_simulation_totals (play->simulation)->uses_seed != rows[i].uses_seed)
      fail_msg ("%s", rows[i].keys);
  }
}

/* Ranks of two stages, of which each has its own memory; where every rank is a class of its own, each needs what its
 * stage needs. */
static void
every_rank_has_the_memory_of_its_stage (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, 8,
                                           "kind: megatron, accumulation: 2, parallel: {pipeline: 2}"),
                  *flat_yaml = g_strconcat ("fold: false\n", yaml, NULL);
  g_autoptr (Play) folded = play_new (catalog, yaml, NULL), flat = play_new (catalog, flat_yaml, NULL);
  const GArray *stages = fab_simulation_totals (folded->simulation)->memory,
               *ranks = fab_simulation_totals (flat->simulation)->memory;
  guint n_found = 0;

  assert_int_equal (fab_simulation_dag (folded->simulation)->n_classes, 2);
  assert_int_equal (fab_simulation_dag (flat->simulation)->n_classes, 8);
  assert_int_equal (ranks->len, 4 * stages->len);
  for (guint i = 0; i < ranks->len; i++) {
    const FabMemoryPart *of_rank = &g_array_index (ranks, FabMemoryPart, i);
    guint rank = fab_simulation_dag (flat->simulation)->classes[of_rank->rank_class].first_rank;

    for (guint k = 0; k < stages->len; k++) {
      const FabMemoryPart *of_stage = &g_array_index (stages, FabMemoryPart, k);

      if (of_stage->rank_class == rank / 4 && strcmp (of_stage->part, of_rank->part) == 0) {
        assert_int_equal (of_rank->bytes, of_stage->bytes);
        n_found++;
      }
    }
  }
  assert_int_equal (n_found, ranks->len);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_precision_is_that_of_the_job),
    cmocka_unit_test (work_is_counted_once),
    cmocka_unit_test (frozen_weights_have_no_gradients),
    cmocka_unit_test (ranks_agree_on_the_norm_of_divided_gradients),
    cmocka_unit_test (clipping_moves_the_gradients),
    cmocka_unit_test (what_varies_is_drawn),
    cmocka_unit_test (every_rank_has_the_memory_of_its_stage),
  };

  return play_run_tests ("totals", tests, &catalog);
}
