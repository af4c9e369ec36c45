/* SPDX-License-Identifier: Apache-2.0 */
/* test_context.c - ranks that share a sequence gather its keys and values before attention (context_kind: gather).
 *
 * Two blocks of 256 numbers for a token: a key and a value of 2 bytes for each are 1024 B, of which a tensor-parallel
 * rank has its part. A sequence has 16 tokens.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

enum { N_BLOCKS = 2, TOKENS = 16, TOKEN_BYTES = 1024 };

static FabCatalog *catalog;

typedef struct {
  guint tensor, context;
  gboolean is_sequence,
      is_overlapped; /* a sequence in parts between segments; gathers and sums beside products */
} Case;

static const Case cases[] = { { 1, 2, FALSE, FALSE }, { 1, 4, FALSE, FALSE }, { 2, 2, FALSE, FALSE },
                              { 2, 4, FALSE, FALSE }, { 2, 2, TRUE, FALSE },  { 4, 2, TRUE, FALSE },
                              { 2, 2, TRUE, TRUE },   { 2, 4, TRUE, TRUE } };

static Play *
job (const Case *one)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: context\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
      "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: %d, "
      "hidden: 256, heads: 4, vocabulary: 1024, tied: false, biases: false}}]\n"
      "job: {kind: megatron, model: m, micro_batch: 1, sequence: %d, parallel: {tensor: %u, context: %u, "
      "context_kind: gather, sequence: %s, overlap_tensor: %s}}\n",
      one->tensor * one->context, N_BLOCKS, TOKENS, one->tensor, one->context,
      one->is_sequence ? "true" : "false", one->is_overlapped ? "true" : "false");

  return play_new (catalog, yaml, NULL);
}

static const char *
stream_of (const FabDag *dag, FabTaskId task)
{
  return dag->streams[dag->tasks[task].stream].name;
}

static const FabDagCollective *
collective_of (const FabDag *dag, FabTaskId task)
{
  g_assert (dag->tasks[task].collective >= 0);
  return &dag->collectives[dag->tasks[task].collective];
}

static gboolean
waits_for (const FabDag *dag, FabTaskId task, FabTaskId before)
{
  for (guint i = dag->next_starts[before]; i < dag->next_starts[before + 1]; i++)
    if (dag->next[i] == task)
      return TRUE;
  return FALSE;
}

/* The attention of each block gathers once forward and, with gradients for both, twice as much backward: the part of
 * each of the ranks, of all tokens. */
static void
keys_and_values_of_all_tokens_are_gathered (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Play) play = job (&cases[i]);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n = 0;

    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      if (strcmp (stream_of (dag, t), "context") != 0)
        continue;
      const FabDagCollective *gather = collective_of (dag, t);
      gboolean is_backward = n >= N_BLOCKS;
      guint block = is_backward ? 2 * N_BLOCKS - 1 - n : n;
      g_autofree char *name = g_strdup_printf ("block%u.attention", block);

      assert_string_equal (gather->name, name);
      assert_int_equal (gather->plan.op, FAB_OP_ALL_GATHER);
      assert_int_equal (gather->plan.n_ranks, cases[i].context);
      assert_int_equal (gather->plan.bytes, (is_backward ? 2 : 1) * TOKENS * TOKEN_BYTES / cases[i].tensor);
      n++;
    }
    assert_int_equal (n, 2 * N_BLOCKS);
  }
}

/* What the attention of this block and direction computes first of all that waits for the gather. */
static FabTaskId
first_waiting (const FabDag *dag, FabTaskId gather, gboolean is_backward, guint block)
{
  g_autofree char *prefix = g_strdup_printf ("%s block%u", is_backward ? "backward" : "forward", block);

  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if (strcmp (stream_of (dag, t), "compute") == 0 && waits_for (dag, t, gather)) {
      assert_true (g_str_has_prefix (dag->tasks[t].name, prefix));
      return t;
    }
  fail_msg ("nothing waits for what %s gathers", prefix);
  return 0;
}

/* With the sequence in parts the tokens are gathered first, and then their keys and values. What can run beside the
 * first gather runs there, and does not wait for the second. */
static void
attention_waits_for_what_it_gathers (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Play) play = job (&cases[i]);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n = 0;

    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      if (strcmp (stream_of (dag, t), "context") != 0)
        continue;
      gboolean is_backward = n >= N_BLOCKS;
      FabTaskId first = first_waiting (dag, t, is_backward, is_backward ? 2 * N_BLOCKS - 1 - n : n);
      guint n_tokens = 0;

      assert_int_equal (strstr (dag->tasks[first].name, ".first") != NULL, FALSE);
      assert_int_equal (strstr (dag->tasks[first - 1].name, ".first") != NULL, cases[i].is_overlapped);
      for (FabTaskId before = 0; before < t; before++)
        if (strcmp (stream_of (dag, before), "tensor") == 0 && waits_for (dag, t, before)
            && strcmp (collective_of (dag, before)->name, collective_of (dag, t)->name) == 0) {
          assert_int_equal (collective_of (dag, before)->plan.op, FAB_OP_ALL_GATHER);
          assert_true (waits_for (dag, first, before));
          assert_false (cases[i].is_overlapped && waits_for (dag, first - 1, before));
          n_tokens++;
        }
      assert_int_equal (n_tokens, cases[i].is_sequence ? 1 : 0);
      n++;
    }
  }
}

/* Gradients are summed over all ranks that have the same parameters: those that share a sequence too, and of several
 * sites those of one site alone. Eight ranks. */
static void
gradients_are_summed_with_those_of_the_sequence (G_GNUC_UNUSED void **state)
{
  for (guint context = 1; context <= 4; context *= 2)
    for (guint n_sites = 1; n_sites <= 2; n_sites++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: context\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
          "cluster: {node: dgx-h100, nodes: 1}\n"
          "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: %d, "
          "hidden: 256, heads: 4, vocabulary: 1024, tied: false, biases: false}}]\n"
          "job: {kind: ddp, model: m, micro_batch: 1, sequence: %d, parallel: {context: %u}, "
          "outer: {sites: %u, every: 4}}\n",
          N_BLOCKS, TOKENS, context, n_sites);
      g_autoptr (Play) play = play_new (catalog, yaml, NULL);
      const FabDag *dag = fab_simulation_dag (play->simulation);
      guint n = 0;

      for (guint c = 0; c < dag->n_collectives; c++)
        if (g_str_has_prefix (dag->collectives[c].name, "bucket")) {
          assert_int_equal (dag->collectives[c].plan.n_ranks, 8 / n_sites);
          n++;
        }
      assert_true (n > 0);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (keys_and_values_of_all_tokens_are_gathered),
    cmocka_unit_test (attention_waits_for_what_it_gathers),
    cmocka_unit_test (gradients_are_summed_with_those_of_the_sequence),
  };

  return play_run_tests ("context", tests, &catalog);
}
