/* SPDX-License-Identifier: Apache-2.0 */
/* test_segments.c - everything that segments of a transformer have: what they compute and move, what they keep for the
 * backward pass, their parameters; and how large a transformer may be. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/params.h"

static FabLayerStack *
expand (const char *yaml, guint sequence)
{
  g_autoptr (Params) params = params_new (&fab_shape_transformer.info, yaml);
  FabLayerStack *stack = fab_layer_stack_new ();

  fab_shape_transformer.expand (params->params, sequence, stack);
  return stack;
}

static const FabSegment *
segment_of (const FabLayerStack *stack, guint layer, guint segment)
{
  return fab_layer_segment (fab_layer_stack_layer (stack, layer), segment);
}

/* What a segment has, a line for each: operators with their FLOPs and bytes of a token, columns and depth; what is
 * kept, with its kind and bytes, the kernels that keep it (fused, eager, compiled) and how many matrices read it;
 * parameters of tensors; keys and values, and what serving keeps of them: bytes, heads and arrays. "/": ranks divide
 * it. (transfer full) */
static char *
text_of (const FabLayerStack *stack, guint layer, guint index)
{
  static const char *const kinds[] = {
    [FAB_SAVED_STREAM] = "stream",       [FAB_SAVED_NORM] = "norm",
    [FAB_SAVED_MATRIX] = "matrix",       [FAB_SAVED_ROTATED] = "rotated",
    [FAB_SAVED_SCORES] = "scores",       [FAB_SAVED_ATTENTION] = "attention",
    [FAB_SAVED_ACTIVATED] = "activated", [FAB_SAVED_STATISTIC] = "statistic",
    [FAB_SAVED_LOGITS] = "logits",       [FAB_SAVED_EXCHANGE] = "exchange"
  };
  const FabSegment *segment = segment_of (stack, layer, index);
  const FabLayer *of = fab_layer_stack_layer (stack, layer);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    g_string_append_printf (text, "%s: %g FLOP, %g B, %dx%d%s\n", op->name, op->flops, op->bytes, (int) op->n,
                            (int) op->k, op->is_split ? " /" : "");
  }
  for (guint i = 0; i < segment->saved->len; i++) {
    const FabSaved *saved = fab_segment_saved (segment, i);

    g_string_append_printf (text, "keep %s: %s %g B, %s%s%s%s%s%s", saved->name, kinds[saved->kind],
                            saved->bytes, saved->kernels & FAB_KEPT_FUSED ? "f" : "",
                            saved->kernels & FAB_KEPT_EAGER ? "e" : "",
                            saved->kernels & FAB_KEPT_COMPILED ? "c" : "", saved->is_input ? " in" : "",
                            saved->is_exact ? " exact" : "", saved->is_split ? " /" : "");
    if (saved->n_readers > 0)
      g_string_append_printf (text, " x%d", (int) saved->n_readers);
    g_string_append_c (text, '\n');
  }
  for (guint i = 0; i < of->tensors->len; i++) {
    const FabTensor *tensor = fab_layer_tensor (of, i);

    if (tensor->segment == index)
      g_string_append_printf (text, "%d%s\n", (int) tensor->parameters,
                              tensor->kind == FAB_TENSOR_SPLIT    ? " /"
                              : tensor->kind == FAB_TENSOR_EXPERT ? " experts"
                                                                  : "");
  }
  if (segment->context_bytes > 0)
    g_string_append_printf (text, "context %g B, cache %g B, %u x %u\n", segment->context_bytes,
                            segment->cache_bytes, segment->cache_heads, segment->cache_pieces);
  return g_string_free (text, FALSE);
}

/* By hand, from the formulas of the files' heads. A matrix of n x k has 2 n k FLOPs and moves n + k numbers of 2 bytes;
 * a norm moves its width twice. */
static const struct {
  const char *yaml;
  guint sequence, layer, segment;
  const char *text;
} segments[] = {
  /* q 64, k 16: 13 bytes for each of 8 x 32 scores through memory where there is dropout, and 5 kept. */
  { "{layers: 1, hidden: 64, heads: 8, kv_heads: 2, vocabulary: 10, qk_norm: true, sinks: true, dropout: true, "
    "attention: full}",
    32, 1, 0,
    "norm: 0 FLOP, 256 B, 0x0\n"
    "qkv: 12288 FLOP, 320 B, 96x64 /\n"
    "qk_norm: 0 FLOP, 320 B, 0x0 /\n"
    "rotary: 0 FLOP, 320 B, 0x0 /\n"
    "scores: 8192 FLOP, 3648 B, 32x8 /\n"
    "projection: 8192 FLOP, 256 B, 64x64 /\n"
    "dropout_residual: 0 FLOP, 448 B, 0x0\n"
    "keep norm input: stream 128 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep qkv: norm 128 B, fe in x3\n"
    "keep qkv: matrix 128 B,  /\n"
    "keep qkv: matrix 32 B,  /\n"
    "keep qkv: matrix 32 B,  /\n"
    "keep qk norm input: rotated 160 B, fec /\n"
    "keep queries, keys and values: rotated 192 B, fec /\n"
    "keep scores: scores 1280 B, fec /\n"
    "keep projection: attention 128 B, fec in /\n"
    "keep projection: matrix 128 B, \n"
    "keep dropout mask: statistic 64 B, fec exact\n"
    "64\n64\n6144 /\n96 /\n8\n8\n8 /\n4096 /\n64\n"
    "context 64 B, cache 64 B, 2 x 2\n" },
  /* With learned positions nothing is rotated, and queries, keys and values are one matrix. */
  { "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, positions: 32, attention: full, biases: false}", 32, 1,
    0,
    "rms_norm: 0 FLOP, 256 B, 0x0\n"
    "qkv: 24576 FLOP, 512 B, 192x64 /\n"
    "scores: 8192 FLOP, 2560 B, 32x8 /\n"
    "projection: 8192 FLOP, 256 B, 64x64 /\n"
    "residual: 0 FLOP, 384 B, 0x0\n"
    "keep norm input: stream 128 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep qkv: norm 128 B, fe in\n"
    "keep qkv: matrix 384 B,  /\n"
    "keep queries, keys and values: rotated 384 B, fec /\n"
    "keep scores: scores 512 B, fec /\n"
    "keep projection: attention 128 B, fec in /\n"
    "keep projection: matrix 128 B, \n"
    "64\n12288 /\n4096 /\n"
    "context 256 B, cache 256 B, 8 x 2\n" },
  /* Latent attention: 8 -> 6 -> 2 heads of 3 + 2, 8 -> 4 + 2, 4 -> 2 heads of 3 + 5, and 2 x 5 -> 8. */
  { "{layers: 1, hidden: 8, heads: 2, biases: false, norms: 4, vocabulary: 10, latent: {q_lora_rank: 6, "
    "kv_lora_rank: 4, qk_nope_head_dim: 3, qk_rope_head_dim: 2, v_head_dim: 5}}",
    7, 1, 0,
    "rms_norm: 0 FLOP, 32 B, 0x0\n"
    "q_down: 96 FLOP, 28 B, 6x8\n"
    "rms_norm: 0 FLOP, 24 B, 0x0\n"
    "q_up: 120 FLOP, 32 B, 10x6 /\n"
    "kv_down: 96 FLOP, 28 B, 6x8\n"
    "rms_norm: 0 FLOP, 16 B, 0x0\n"
    "kv_up: 128 FLOP, 40 B, 16x4 /\n"
    "rotary: 0 FLOP, 80 B, 0x0 /\n"
    "scores: 280 FLOP, 80 B, 7x5 /\n"
    "projection: 160 FLOP, 36 B, 8x10 /\n"
    "rms_norm: 0 FLOP, 32 B, 0x0\n"
    "residual: 0 FLOP, 48 B, 0x0\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep q_down: norm 16 B, fe in x2\n"
    "keep q_down: matrix 12 B, \n"
    "keep norm input: stream 12 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep q_up: norm 12 B, fe in\n"
    "keep q_up: matrix 20 B,  /\n"
    "keep kv_down: matrix 12 B, \n"
    "keep norm input: stream 8 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep kv_up: norm 8 B, fe in\n"
    "keep kv_up: matrix 32 B,  /\n"
    "keep queries, keys and values: rotated 60 B, fec /\n"
    "keep log-sums: attention 8 B, fec exact /\n"
    "keep attended, by heads: attention 20 B, e /\n"
    "keep projection: attention 20 B, fec in /\n"
    "keep projection: matrix 16 B, \n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "8\n48\n6\n60 /\n48\n4\n64 /\n80 /\n8\n"
    "context 40 B, cache 12 B, 1 x 1\n" },
  /* Queries straight from the width of the model, with biases. */
  { "{layers: 1, hidden: 8, heads: 2, norm: none, qkv_biases: yes, projection_biases: no, positions: 9, "
    "vocabulary: 10, latent: {kv_lora_rank: 4, qk_nope_head_dim: 3, v_head_dim: 5}}",
    7, 1, 0,
    "rms_norm: 0 FLOP, 32 B, 0x0\n"
    "q: 96 FLOP, 28 B, 6x8 /\n"
    "kv_down: 64 FLOP, 24 B, 4x8\n"
    "rms_norm: 0 FLOP, 16 B, 0x0\n"
    "kv_up: 128 FLOP, 40 B, 16x4 /\n"
    "scores: 224 FLOP, 64 B, 7x3 /\n"
    "projection: 160 FLOP, 36 B, 8x10 /\n"
    "residual: 0 FLOP, 48 B, 0x0\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep q: norm 16 B, fe in x2\n"
    "keep q: matrix 12 B,  /\n"
    "keep kv_down: matrix 8 B, \n"
    "keep norm input: stream 8 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep kv_up: norm 8 B, fe in\n"
    "keep kv_up: matrix 32 B,  /\n"
    "keep queries, keys and values: rotated 44 B, fec /\n"
    "keep log-sums: attention 8 B, fec exact /\n"
    "keep projection: attention 20 B, fec in /\n"
    "keep projection: matrix 16 B, \n"
    "48 /\n6 /\n32\n4\n64 /\n80 /\n"
    "context 32 B, cache 8 B, 1 x 1\n" },
  { "{layers: 1, hidden: 8, heads: 2, feed_forward: 12, vocabulary: 10, dropout: true}", 7, 1, 1,
    "norm: 0 FLOP, 32 B, 0x0\n"
    "up: 192 FLOP, 40 B, 12x8 /\n"
    "activation: 0 FLOP, 48 B, 0x0 /\n"
    "down: 192 FLOP, 40 B, 8x12 /\n"
    "dropout_residual: 0 FLOP, 56 B, 0x0\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep up: norm 16 B, fe in x1\n"
    "keep up: matrix 24 B, fec /\n"
    "keep down: activated 24 B, fe in / x1\n"
    "keep down: matrix 16 B, \n"
    "keep dropout mask: statistic 8 B, fec exact\n"
    "8\n8\n96 /\n12 /\n96 /\n8\n" },
  /* Mamba-2: d = 2 x 4, 8 + 2 x 3 channels; in 8 -> 8 + 14 + 2. The scan has 7 x 8 x 3 FLOPs, and moves twice 14
   * channels, 8 results, and 8 x 3 x 8 / 2 numbers of states. */
  { "{layers: 1, hidden: 8, heads: 2, vocabulary: 10, pattern: M, mamba: {heads: 2, head_dim: 4, groups: 1, state: 3, "
    "chunk: 2}}",
    5, 1, 0,
    "norm: 0 FLOP, 32 B, 0x0\n"
    "in: 384 FLOP, 64 B, 24x8 /\n"
    "convolution: 0 FLOP, 56 B, 0x0 /\n"
    "scan: 168 FLOP, 0 B, 0x0 /\n"
    "states: 0 FLOP, 264 B, 0x0 /\n"
    "gated_norm: 0 FLOP, 48 B, 0x0 /\n"
    "out: 128 FLOP, 32 B, 8x8 /\n"
    "residual: 0 FLOP, 48 B, 0x0\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep in: norm 16 B, fe in\n"
    "keep in: matrix 48 B, fec /\n"
    "keep output of the scan: attention 16 B, fec /\n"
    "keep out: activated 16 B, fe in /\n"
    "keep out: matrix 16 B, \n"
    "8\n8\n192 /\n24 /\n56 /\n14 /\n2 /\n2 /\n2 /\n8 /\n64 /\n8\n" },
  /* One expert of width 6 is a model of experts too. A bias of each takes 6 numbers of what comes back. */
  { "{layers: 1, hidden: 8, heads: 2, vocabulary: 10, experts: {count: 1, width: 6}}", 5, 1, 2,
    "dispatch: 0 FLOP, 32 B, 0x0\n"
    "up: 96 FLOP, 28 B, 6x8 /\n"
    "activation: 0 FLOP, 24 B, 0x0 /\n"
    "down: 96 FLOP, 28 B, 8x6 /\n"
    "expert_bias: 0 FLOP, 96 B, 0x0\n"
    "combine: 0 FLOP, 32 B, 0x0\n"
    "residual: 0 FLOP, 48 B, 0x0\n"
    "keep tokens of experts: exchange 16 B, fec in\n"
    "keep outputs of experts: exchange 16 B, fec\n"
    "keep up: matrix 12 B, fec /\n"
    "keep down: activated 12 B, fe in / x1\n"
    "keep down: matrix 16 B, \n"
    "48 experts\n6 experts\n48 experts\n8 experts\n" },
#define BERT                                                                                               \
  "{layers: 1, hidden: 8, heads: 2, vocabulary: 10, positions: 16, dropout: true, ends: {token_types: 2, " \
  "embedding_norm: true, pooler: true, classes: 3, head_transform: true, output_biases: true}}"
  { BERT, 4, 0, 0,
    "lookup: 0 FLOP, 32 B, 0x0\n"
    "norm: 0 FLOP, 32 B, 0x0\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep dropout mask: statistic 8 B, fec exact\n"
    "80 /\n128\n16\n8\n8\n" },
  /* One token of 4 passes the pooler, 8 x 8, and its 3 classes. The loss moves 4 numbers for each logit of 4 bytes. */
  { BERT, 4, 2, 0,
    "norm: 0 FLOP, 32 B, 0x0\n"
    "pooler: 44 FLOP, 8 B, 8x8\n"
    "transform: 128 FLOP, 32 B, 8x8\n"
    "activation: 0 FLOP, 32 B, 0x0\n"
    "norm: 0 FLOP, 32 B, 0x0\n"
    "output: 160 FLOP, 36 B, 10x8 /\n"
    "loss: 0 FLOP, 80 B, 0x0 /\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep transform: norm 16 B, fe in\n"
    "keep transform: matrix 16 B, fec\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 8 B, ec exact\n"
    "keep output: norm 16 B, fec in\n"
    "keep logits: logits 40 B, fec /\n"
    "8\n8\n64\n8\n24\n3\n64\n8\n8\n8\n10 /\n" },
  /* The embedding and the last hidden state, each after a norm, side by side: 16 -> 8. */
  { "{layers: 2, hidden: 8, heads: 2, vocabulary: 10, biases: false, tied: false, mtp: 1}", 5, 4, 0,
    "lookup: 0 FLOP, 32 B, 0x0\n"
    "rms_norm: 0 FLOP, 32 B, 0x0\n"
    "rms_norm: 0 FLOP, 32 B, 0x0\n"
    "projection: 256 FLOP, 48 B, 8x16 /\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep norm input: stream 16 B, fec\n"
    "keep norm statistics: statistic 4 B, ec exact\n"
    "keep projection: norm 32 B, fe in\n"
    "keep projection: matrix 16 B,  /\n"
    "8\n8\n128 /\n" },
};

static void
segments_have_what_their_formulas_say (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (segments); i++) {
    g_autoptr (FabLayerStack) stack = expand (segments[i].yaml, segments[i].sequence);
    g_autofree char *text = text_of (stack, segments[i].layer, segments[i].segment);

    assert_string_equal (text, segments[i].text);
    assert_true (segment_of (stack, segments[i].layer, segments[i].segment)->is_split);
  }
}

/* --- limits --- */

static GString *said;

static void
report (G_GNUC_UNUSED FabCheck *check, G_GNUC_UNUSED gconstpointer field, const char *message)
{
  g_string_append_printf (said, "%s;", message);
}

/* All that is wrong with a shape, "": nothing. (transfer full) */
static char *
problems_of (const char *yaml)
{
  g_autoptr (Params) params = params_new (&fab_shape_transformer.info, yaml);
  FabCheck check = { report };

  said = g_string_new (NULL);
  fab_shape_transformer.info.check (params->params, &check);
  return g_string_free (said, FALSE);
}

/* Each row has one part that makes nearly all of its parameters, and the number is theirs. Where the width of the model
 * is large it has some of its own: 6 h^2 of a block and 2 h^2 beside the blocks. Without that part no row is refused.
 */
static void
too_large_models_are_refused_before_anything_overflows (G_GNUC_UNUSED void **state)
{
#define SMALL "heads: 1, vocabulary: 1, feed_forward: 1"
  static const struct {
    const char *yaml, *number;
  } rows[] = {
    { "{layers: 1, hidden: 1, heads: 100000000, head_dim: 100000000, vocabulary: 1}", "4e+16" },
    { "{layers: 1, hidden: 1, heads: 100000000, head_dim: 100000000, kv_heads: 1, vocabulary: 1}", "2e+16" },
    { "{layers: 1000, hidden: 10000, heads: 1, vocabulary: 1, feed_forward: 100000000, gated: true}",
      "3e+15" },
    { "{layers: 1, hidden: 1000000, heads: 1, vocabulary: 1, feed_forward: 100000000, mtp: 9, gated: true}",
      "3.1e+15" },
    { "{layers: 1000, hidden: 1000, " SMALL ", experts: {count: 10000, width: 100000}}", "3e+15" },
    { "{layers: 1000, hidden: 1000, " SMALL ", experts: {count: 1, shared: 10000, width: 100000}}", "3e+15" },
    { "{layers: 100, hidden: 100000, " SMALL ", experts: {count: 1, width: 1, latent: 100000000}}", "2e+15" },
    { "{layers: 1000, hidden: 10000, " SMALL ", experts: {count: 100000000, width: 1}}", "4e+15" },
    { "{layers: 1000, hidden: 1000, " SMALL ", mamba: {heads: 1000000, head_dim: 1000}}", "3e+15" },
    { "{layers: 1000, hidden: 1, " SMALL ", mamba: {heads: 1000000, head_dim: 1000, convolution: 3000}}",
      "3e+15" },
    { "{layers: 100, hidden: 1000, " SMALL ", mamba: {groups: 100000, state: 100000}}", "2e+15" },
    { "{layers: 1000, hidden: 1, heads: 1000, vocabulary: 1, feed_forward: 1, latent: {kv_lora_rank: 10000, "
      "qk_nope_head_dim: 100000, v_head_dim: 100000}}",
      "3e+15" },
    { "{layers: 1000, hidden: 1, heads: 1000, vocabulary: 1, feed_forward: 1, latent: {q_lora_rank: 10000, "
      "kv_lora_rank: 1, qk_nope_head_dim: 100000, v_head_dim: 1}}",
      "2e+15" },
    { "{layers: 1, hidden: 7000000, heads: 1, vocabulary: 100000000, feed_forward: 1}", "1.8e+15" },
    { "{layers: 1, hidden: 10000000, " SMALL ", positions: 100000000}", "1.8e+15" },
    { "{layers: 1, hidden: 10000000, " SMALL ", ends: {token_types: 100000000}}", "1.8e+15" },
    { "{layers: 1, hidden: 10000000, " SMALL ", ends: {classes: 100000000}}", "1.8e+15" },
    { "{layers: 1, hidden: 10000000, " SMALL "}", NULL },
    { "{layers: 1, hidden: 7000000, heads: 1, vocabulary: 1, feed_forward: 1}", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *problems = problems_of (rows[i].yaml),
                    *expected = rows[i].number == NULL
                                  ? g_strdup ("")
                                  : g_strdup_printf ("that makes %s parameters; the limit is 1e+15;",
                                                     rows[i].number);

    if (strcmp (problems, expected) != 0)
      fail_msg ("%s: %s", rows[i].yaml, problems);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (segments_have_what_their_formulas_say),
    cmocka_unit_test (too_large_models_are_refused_before_anything_overflows),
  };

  return cmocka_run_group_tests_name ("segments", tests, NULL, NULL);
}
