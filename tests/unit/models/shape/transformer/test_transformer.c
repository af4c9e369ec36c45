/* SPDX-License-Identifier: Apache-2.0 */
/* test_transformer.c - published parameter counts, and FLOPs and tensors of a model small enough to count. */
#include "tests/support/test.h"

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

static void
assert_parameters (const char *yaml, guint64 parameters)
{
  g_autoptr (FabLayerStack) stack = expand (yaml, 1024);
  guint64 sum = 0;

  assert_int_equal (stack->parameters, parameters);
  for (guint l = 0; l < stack->layers->len; l++)
    sum += g_array_index (stack->layers, FabLayer, l).parameters;
  assert_int_equal (sum, parameters);
}

/* What PyTorch's sum (p.numel () for p in model.parameters ()) gives for the published configurations.
 * GPT-2: V h + P h + L (12 h^2 + 13 h) + 2 h.  Llama: 2 V h + L (2 h^2 + 2 h h kv/heads + 3 h f + 2 h) + h. */
static void
parameter_counts_are_the_published_ones (G_GNUC_UNUSED void **state)
{
  assert_parameters ("{layers: 12, hidden: 768, heads: 12, vocabulary: 50257, positions: 1024}", 124439808);
  assert_parameters ("{layers: 48, hidden: 1600, heads: 25, vocabulary: 50257, positions: 1024}", 1557611200);
  assert_parameters (
      "{layers: 32, hidden: 4096, heads: 32, feed_forward: 11008, gated: true, vocabulary: 32000,"
      " tied: false, biases: false}",
      6738415616);
  assert_parameters ("{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, feed_forward: 14336, gated: true,"
                     " vocabulary: 128256, tied: false, biases: false}",
                     8030261248);
}

/* h 4, f 16, V 10, s 5: a block's matrices are 4 x 12 + 4 x 4 + 2 x 4 x 16 = 192, so 2 x 192 + 4 x 5 x 4 = 464 FLOP;
 * two of them and the output 2 x 10 x 4 = 80. */
static void
forward_flops_are_two_per_weight_and_the_scores (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand ("{layers: 2, hidden: 4, heads: 2, vocabulary: 10}", 5);

  assert_int_equal (stack->layers->len, 4);
  assert_near (g_array_index (stack->layers, FabLayer, 0).forward_flops_per_token, 0, 0);
  assert_near (g_array_index (stack->layers, FabLayer, 1).forward_flops_per_token, 464, 0);
  assert_near (g_array_index (stack->layers, FabLayer, 3).forward_flops_per_token, 80, 0);
  assert_near (stack->forward_flops_per_token, 2 * 464 + 80, 0);
}

/* Grouped queries, h 8, heads 4, kv 2: K and V are 4 wide each. Gate, f 6: three matrices of 48.
 * 8 x (8 + 2 x 4) + 8 x 8 + 3 x 48 = 336; 2 x 336 + 4 x 5 x 8 = 832. */
static void
gates_and_grouped_queries_change_the_matrices (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 1, hidden: 8, heads: 4, kv_heads: 2, feed_forward: 6, gated: true, vocabulary: 10}", 5);

  assert_near (g_array_index (stack->layers, FabLayer, 1).forward_flops_per_token, 832, 0);
}

static void
assert_tensors (const FabLayer *layer, const guint64 *parameters, guint n)
{
  assert_int_equal (layer->tensors->len, n);
  for (guint i = 0; i < n; i++)
    assert_int_equal (g_array_index (layer->tensors, FabTensor, i).parameters, parameters[i]);
}

/* h 4, f 16, V 10, P 3, untied. Norm (weight, bias), QKV 12 x 4 and bias 12, output 4 x 4 and 4, norm, up 16 x 4 and
 * 16, down 4 x 16 and 4. Head: final norm, and the output that is not the embedding. */
static void
tensors_come_in_registration_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 1, hidden: 4, heads: 2, vocabulary: 10, positions: 3, tied: false}", 1);
  const guint64 embedding[] = { 40, 12 };
  const guint64 block[] = { 4, 4, 48, 12, 16, 4, 4, 4, 64, 16, 64, 4 };
  const guint64 head[] = { 4, 4, 40 };

  assert_tensors (&g_array_index (stack->layers, FabLayer, 0), embedding, G_N_ELEMENTS (embedding));
  assert_tensors (&g_array_index (stack->layers, FabLayer, 1), block, G_N_ELEMENTS (block));
  assert_tensors (&g_array_index (stack->layers, FabLayer, 2), head, G_N_ELEMENTS (head));
  assert_string_equal (g_array_index (stack->layers, FabLayer, 1).name, "block0");
}

static const FabSegment *
segment_of (const FabLayerStack *stack, guint layer, guint segment)
{
  return fab_layer_segment (fab_layer_stack_layer (stack, layer), segment);
}

/* Korthikanti et al. 2022, arXiv 2205.05198, equation 1: s b h (34 + 5 a s / h) bytes a layer with dropout;
 * equation 2:
 * of it 10 h are not divided by tensor parallelism, 24 h and 5 a s are. */
static void
saved_activations_are_korthikantis (G_GNUC_UNUSED void **state)
{
  const double h = 64, a = 8, s = 32;
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, attention: full, dropout: true}", 32);
  double whole = 0, split = 0, scores = 0;

  for (guint i = 0; i < 2; i++) {
    whole += segment_of (stack, 1, i)->saved_whole_bytes;
    split += segment_of (stack, 1, i)->saved_split_bytes;
    scores += segment_of (stack, 1, i)->saved_score_bytes;
  }
  assert_near (whole, 10 * h, 0);
  assert_near (split, 24 * h, 0);
  assert_near (scores, 5 * a * s, 0);
  assert_near (fab_layer_stack_layer (stack, 1)->hidden_bytes, 2 * h, 0);
  assert_near (segment_of (stack, 1, 0)->context_bytes, 4 * h, 0);
  assert_near (segment_of (stack, 1, 1)->context_bytes, 0, 0);
}

/* No dropout: no masks (2 h), no dropout output and mask of the scores. Flash: fp32 log-sums of the heads instead. */
static void
flash_attention_keeps_no_scores (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) full = expand (
      "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, attention: full}", 32);
  g_autoptr (FabLayerStack) flash = expand ("{layers: 1, hidden: 64, heads: 8, vocabulary: 10}", 32);

  assert_near (segment_of (full, 1, 0)->saved_score_bytes, 2 * 8 * 32, 0);
  assert_near (segment_of (full, 1, 0)->saved_whole_bytes, 4 * 64, 0);
  assert_near (segment_of (flash, 1, 0)->saved_score_bytes, 0, 0);
  assert_near (segment_of (flash, 1, 0)->saved_split_bytes,
               segment_of (full, 1, 0)->saved_split_bytes + 4 * 8, 0);
}

/* h 8, heads 2 of 16: Q, K and V 32 wide each, 8 x 96 + 32 x 8; scores 4 x 5 x 32. Biases of Q, K and V alone: 96. */
static void
heads_may_be_wider_than_hidden (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand ("{layers: 1, hidden: 8, heads: 2, head_dim: 16, feed_forward: 4,"
                                            " vocabulary: 10, biases: false, qkv_biases: yes}",
                                            5);

  assert_near (segment_of (stack, 1, 0)->forward_flops, 2 * (8 * 96 + 32 * 8) + 4 * 5 * 32, 0);
  assert_int_equal (fab_layer_stack_layer (stack, 1)->parameters, 8 + 768 + 96 + 256 + 8 + 64);
}

/* h 4, 3 experts of width 5 and 2 of them for a token, 1 shared, gated; block 0 has an MLP of f 16. Router 4 x 3,
 * expert 3 x 4 x 5 = 60. A token: router 24, shared 120, experts 2 x 120 FLOP; 2 x 4 x 2 bytes to its experts. */
static void
experts_have_their_own_segments (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 2, hidden: 4, heads: 2, gated: true, biases: false, vocabulary: 10,"
      " experts: {count: 3, per_token: 2, width: 5, shared: 1, dense_layers: 1}}",
      5);
  const FabLayer *block = fab_layer_stack_layer (stack, 2);

  assert_string_equal (segment_of (stack, 1, 1)->name, "mlp");
  assert_int_equal (block->segments->len, 4);
  assert_string_equal (segment_of (stack, 2, 1)->name, "router");
  assert_near (segment_of (stack, 2, 1)->forward_flops, 24, 0);
  assert_string_equal (segment_of (stack, 2, 2)->name, "shared");
  assert_near (segment_of (stack, 2, 2)->forward_flops, 120, 0);
  assert_string_equal (segment_of (stack, 2, 3)->name, "experts");
  assert_near (segment_of (stack, 2, 3)->forward_flops, 240, 0);
  assert_near (segment_of (stack, 2, 3)->expert_bytes, 16, 0);
  assert_int_equal (block->parameters, 4 + 48 + 16 + 4 + 12 + 60 + 3 * 60);
  assert_int_equal (stack->parameters - stack->active_parameters, 60);
  for (guint i = 0; i < block->tensors->len; i++)
    if (fab_layer_tensor (block, i)->segment == 3)
      assert_int_equal (fab_layer_tensor (block, i)->kind, FAB_TENSOR_EXPERT);
}

/* h 8, 2 heads: queries 8 -> 6 -> 2 x (3 + 2), keys and values 8 -> 4 + 2, 4 -> 2 x (3 + 5), out 2 x 5 -> 8; norms of
 * 6 and 4. Scores 2 x 7 x (10 + 10). */
static void
latent_attention_goes_through_its_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 1, hidden: 8, heads: 2, biases: false, vocabulary: 10, latent: {q_lora_rank: 6,"
      " kv_lora_rank: 4, qk_nope_head_dim: 3, qk_rope_head_dim: 2, v_head_dim: 5}}",
      7);
  const double weights = 8 * 6 + 6 * 10 + 8 * 6 + 4 * 16 + 10 * 8;

  assert_near (segment_of (stack, 1, 0)->forward_flops, 2 * weights + 2 * 7 * 20, 0);
  assert_near (segment_of (stack, 1, 0)->context_bytes, 2 * 20, 0);
  assert_int_equal (fab_layer_stack_layer (stack, 1)->parameters, 8 + (int) weights + 6 + 4 + 8 + 2 * 8 * 32);
}

/* Mamba-2, h 8: 2 heads of 4 make d = 8; 1 group, state 3, convolution 4, chunk 2. In: 8 x (2 x 8 + 2 x 3 + 2) =
 * 192, convolution 14 x 4 + 14, decay, way around and biases 2 each, norm 8, out 64, norm before 8: 348. FLOPs: 2 x
 * (192 + 64) + 7 x 8 x 3 = 680. Kept: 2 x 8 twice (norm, first matrix) whole; 2 x 24 + 2 x 8 + 2 x 8 divided. */
static void
mamba_blocks_are_as_published (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 2, hidden: 8, heads: 2, vocabulary: 10, biases: false, feed_forward: 6, pattern: M-,"
      " mamba: {heads: 2, head_dim: 4, groups: 1, state: 3, chunk: 2}}",
      5);
  const FabLayer *mamba = fab_layer_stack_layer (stack, 1), *mlp = fab_layer_stack_layer (stack, 2);

  assert_int_equal (mamba->parameters, 348);
  assert_near (mamba->forward_flops_per_token, 680, 0);
  assert_near (segment_of (stack, 1, 0)->saved_whole_bytes, 32, 0);
  assert_near (segment_of (stack, 1, 0)->saved_split_bytes, 80, 0);
  assert_int_equal (mlp->parameters, 2 * 8 * 6 + 8);
  assert_int_equal (mlp->segments->len, 1);
}

/* q = o = 8. Full: 2 x 16 x (8 + 8) = 512 at 16 tokens. A window of 4: 4 x (2 - 4/16) = 7 in the place of 16. */
static void
windows_see_fewer_tokens (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 4, hidden: 8, heads: 2, vocabulary: 10, window: {width: 4, full_every: 2}}", 16);
  g_autoptr (FabLayerStack) plain = expand ("{layers: 4, hidden: 8, heads: 2, vocabulary: 10}", 16);

  for (guint l = 1; l <= 4; l++)
    assert_near (fab_layer_stack_layer (plain, l)->forward_flops_per_token
                     - fab_layer_stack_layer (stack, l)->forward_flops_per_token,
                 l % 2 == 0 ? 0 : 2.0 * (16 - 7) * 16, 1e-9);
}

/* DeepSeek-V3's module: 2 h x h, two norms before, a block, a norm: 2 x 64 + 3 x 8 more than a block's parameters,
 * and no embedding and no head of its own; FLOPs 2 x 128 + a block + the output's 2 x 10 x 8. */
static void
a_further_token_is_one_block_more (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 2, hidden: 8, heads: 2, vocabulary: 10, biases: false, tied: false, mtp: 1}", 5);
  const FabLayer *block = fab_layer_stack_layer (stack, 1), *further = fab_layer_stack_layer (stack, 4);

  assert_int_equal (stack->layers->len, 6);
  assert_string_equal (further->name, "mtp0");
  assert_int_equal (further->parameters, block->parameters + 2 * 64 + 2 * 8);
  assert_near (further->forward_flops_per_token, block->forward_flops_per_token + 2 * 128, 0);
  assert_int_equal (fab_layer_stack_layer (stack, 5)->parameters, 8);
  assert_near (fab_layer_stack_layer (stack, 5)->forward_flops_per_token, 160, 0);
}

/* 4 experts of width 6 behind a latent width of 4: 2 x 8 x 4 ways down and up, experts 4 x 2 x 4 x 6, router 32. A
 * token sends 2 x 4 numbers of 2 bytes. */
static void
latent_experts_get_narrow_tokens (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = expand (
      "{layers: 1, hidden: 8, heads: 2, vocabulary: 10, biases: false, pattern: E,"
      " experts: {count: 4, per_token: 2, width: 6, latent: 4}}",
      5);

  assert_int_equal (fab_layer_stack_layer (stack, 1)->parameters, 64 + 192 + 32 + 8);
  assert_near (segment_of (stack, 1, 1)->expert_bytes, 2 * 4 * 2, 0);
  assert_string_equal (segment_of (stack, 1, 2)->name, "latent");
}

/* Numbers of 2 bytes that the operators of this name move for a token, and how many operators there are. */
static double
moved (const FabLayerStack *stack, guint layer, guint segment, const char *name, guint *n)
{
  const GArray *operators = segment_of (stack, layer, segment)->operators;
  double bytes = 0;

  *n = 0;
  for (guint i = 0; i < operators->len; i++) {
    const FabOperator *op = &g_array_index (operators, FabOperator, i);

    if (strcmp (op->name, name) != 0)
      continue;
    assert_int_equal (op->kind, FAB_OPERATOR_MEMORY);
    bytes += op->bytes;
    (*n)++;
  }
  return bytes / 2;
}

static void
assert_moved (const FabLayerStack *stack, guint layer, guint segment, const char *name, guint n, double each)
{
  guint n_found;
  double found = moved (stack, layer, segment, name, &n_found);

  if (n_found != n || !is_near (found, n * each, 1e-12))
    fail_msg ("%u operators %s of segment %u move %g numbers", n_found, name, segment, found);
}

/* One norm of a block is before attention, two are before both halves, four also behind both. A norm reads and writes h
 * numbers; a sum with the input reads two vectors and writes one, and with dropout a byte for each number more. The
 * activation reads f numbers, or with a gate 2 f, and writes f. */
static void
operators_move_their_numbers (G_GNUC_UNUSED void **state)
{
  static const guint norms[] = { 1, 2, 4 };
  const double h = 64, f = 96;

  for (guint i = 0; i < G_N_ELEMENTS (norms); i++)
    for (guint is_gated = 0; is_gated < 2; is_gated++)
      for (guint has_dropout = 0; has_dropout < 2; has_dropout++) {
        g_autofree char *yaml = g_strdup_printf (
            "{layers: 1, hidden: 64, heads: 8, feed_forward: 96, vocabulary: 10, biases: false, norms: %u, "
            "gated: %s, dropout: %s}",
            norms[i], is_gated ? "true" : "false", has_dropout ? "true" : "false");
        g_autoptr (FabLayerStack) stack = expand (yaml, 32);
        guint n_halves = norms[i] == 1 ? 0 : norms[i] / 2;

        assert_moved (stack, 1, 0, "rms_norm", norms[i] == 4 ? 2 : 1, 2 * h);
        assert_moved (stack, 1, 1, "rms_norm", n_halves, 2 * h);
        assert_moved (stack, 1, 1, "activation", !is_gated, 2 * f);
        assert_moved (stack, 1, 1, "gated_activation", is_gated, 3 * f);
        assert_moved (stack, 1, 1, "residual", !has_dropout, 3 * h);
        assert_moved (stack, 1, 1, "dropout_residual", has_dropout, 3.5 * h);
      }
}

/* Three of eight experts of width f for a token: what goes to them is read once and written three times, and comes
 * back the other way; their activations are three times as wide. A router has eight logits, each of 14 bytes. */
static void
experts_move_as_many_numbers_as_they_get (G_GNUC_UNUSED void **state)
{
  static const guint norms[] = { 1, 2, 4 };
  const double h = 64, f = 96;

  for (guint i = 0; i < G_N_ELEMENTS (norms); i++)
    for (guint latent = 0; latent <= 16; latent += 16) {
      double outer = latent > 0 ? latent : h;
      g_autofree char *yaml = g_strdup_printf (
          "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, biases: false, gated: true, norms: %u, "
          "experts: {count: 8, per_token: 3, width: 96, latent: %u}}",
          norms[i], latent);
      g_autoptr (FabLayerStack) stack = expand (yaml, 32);

      assert_moved (stack, 1, 1, "rms_norm", norms[i] > 1, 2 * h);
      assert_moved (stack, 1, 1, "routing", 1, 8 * 14 / 2.0);
      assert_moved (stack, 1, 2, "dispatch", 1, (3 + 1) * outer);
      assert_moved (stack, 1, 2, "combine", 1, (3 + 1) * outer);
      assert_moved (stack, 1, 2, "gated_activation", 1, 3 * 3 * f);
      guint last = latent > 0 ? 3 : 2;
      assert_moved (stack, 1, last, "rms_norm", norms[i] == 4, 2 * h);
      assert_moved (stack, 1, last, "residual", 1, 3 * h);
      assert_int_equal (fab_layer_stack_layer (stack, 1)->segments->len, last + 1);
    }
}

/* A block with everything that experts can have: h = 64, 8 experts of width 96 of which a token has 3, behind 16
 * numbers; two shared ones, which are one MLP of width 192 with a gate of one column. */
#define EVERYTHING                                                                                         \
  "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, gated: true, biases: false, dropout: true, experts: " \
  "{count: 8, per_token: 3, width: 96, latent: 16, shared: 2, shared_gate: true}}"

enum { ALWAYS = FAB_KEPT_ALWAYS, CHEAP = FAB_KEPT_FUSED | FAB_KEPT_EAGER, NEVER = FAB_KEPT_NEVER };

/* What each segment keeps, in the order in which it is made: 2 bytes of each number, 4 of a probability and of a
 * statistic, 1 of a mask. Inputs of matrices are kept once, however many matrices read them; what norms and
 * activations make is computed again in a compiled graph. Matrices whose output nothing else needs are kept by
 * recomputation alone. */
static void
experts_keep_what_backward_needs (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint segment;
    const char *name;
    FabSavedKind kind;
    double bytes;
    guint kernels;
    gboolean is_split, is_exact, is_input;
    gint64 n_readers, n, k, n_matrices;
    double flops;
  } rows[] = {
    { 1, "norm input", FAB_SAVED_STREAM, 128, ALWAYS, FALSE, FALSE, FALSE, 0, 0, 0, 0, 0 },
    { 1, "norm statistics", FAB_SAVED_STATISTIC, 4, ALWAYS & ~FAB_KEPT_FUSED, FALSE, TRUE, FALSE, 0, 0, 0, 0,
      0 },
    { 1, "router", FAB_SAVED_NORM, 128, CHEAP, FALSE, FALSE, TRUE, 0, 0, 0, 0, 0 },
    { 1, "router", FAB_SAVED_MATRIX, 16, NEVER, FALSE, FALSE, FALSE, 0, 8, 64, 1, 2 * 8 * 64 },
    { 1, "latent_down", FAB_SAVED_MATRIX, 32, NEVER, FALSE, FALSE, FALSE, 0, 16, 64, 1, 2 * 16 * 64 },
    { 1, "probabilities in fp32", FAB_SAVED_STATISTIC, 32, ALWAYS, FALSE, TRUE, FALSE, 0, 0, 0, 0, 0 },
    { 2, "gate", FAB_SAVED_MATRIX, 384, ALWAYS, TRUE, FALSE, FALSE, 0, 192, 64, 1, 2 * 192 * 64 },
    { 2, "up", FAB_SAVED_MATRIX, 384, ALWAYS, TRUE, FALSE, FALSE, 0, 192, 64, 1, 2 * 192 * 64 },
    { 2, "activated gate", FAB_SAVED_ACTIVATED, 384, FAB_KEPT_EAGER, TRUE, FALSE, FALSE, 0, 0, 0, 0, 0 },
    { 2, "down", FAB_SAVED_ACTIVATED, 384, CHEAP, TRUE, FALSE, TRUE, 1, 0, 0, 0, 0 },
    { 2, "down", FAB_SAVED_MATRIX, 128, NEVER, FALSE, FALSE, FALSE, 0, 64, 192, 1, 2 * 64 * 192 },
    { 2, "shared_gate", FAB_SAVED_MATRIX, 2, NEVER, FALSE, FALSE, FALSE, 0, 1, 64, 1, 2 * 64 },
    { 3, "tokens of experts", FAB_SAVED_EXCHANGE, 96, ALWAYS, FALSE, FALSE, TRUE, 0, 0, 0, 0, 0 },
    { 3, "outputs of experts", FAB_SAVED_EXCHANGE, 96, ALWAYS, FALSE, FALSE, FALSE, 0, 0, 0, 0, 0 },
    { 3, "gate", FAB_SAVED_MATRIX, 576, ALWAYS, TRUE, FALSE, FALSE, 0, 96, 16, 8, 2 * 3 * 96 * 16 },
    { 3, "up", FAB_SAVED_MATRIX, 576, ALWAYS, TRUE, FALSE, FALSE, 0, 96, 16, 8, 2 * 3 * 96 * 16 },
    { 3, "activated gate", FAB_SAVED_ACTIVATED, 576, FAB_KEPT_EAGER, TRUE, FALSE, FALSE, 0, 0, 0, 0, 0 },
    { 3, "down", FAB_SAVED_ACTIVATED, 576, CHEAP, TRUE, FALSE, TRUE, 1, 0, 0, 0, 0 },
    { 3, "down", FAB_SAVED_MATRIX, 96, NEVER, FALSE, FALSE, FALSE, 0, 16, 96, 8, 2 * 3 * 16 * 96 },
    { 4, "latent_up", FAB_SAVED_EXCHANGE, 32, ALWAYS, FALSE, FALSE, TRUE, 0, 0, 0, 0, 0 },
    { 4, "latent_up", FAB_SAVED_MATRIX, 128, NEVER, FALSE, FALSE, FALSE, 0, 64, 16, 1, 2 * 64 * 16 },
    { 4, "dropout mask", FAB_SAVED_STATISTIC, 64, ALWAYS, FALSE, TRUE, FALSE, 0, 0, 0, 0, 0 },
  };
  g_autoptr (FabLayerStack) stack = expand (EVERYTHING, 32);
  guint at = 0;

  for (guint s = 1; s < 5; s++) {
    const FabSegment *segment = segment_of (stack, 1, s);

    assert_int_equal (segment->is_split, s == 2 || s == 3);
    for (guint i = 0; i < segment->saved->len; i++, at++) {
      const FabSaved *saved = fab_segment_saved (segment, i);

      if (at == G_N_ELEMENTS (rows) || rows[at].segment != s || strcmp (rows[at].name, saved->name) != 0)
        fail_msg ("%s of segment %u is not expected there", saved->name, s);
      if (saved->kind != rows[at].kind || saved->kernels != rows[at].kernels
          || saved->is_split != rows[at].is_split || saved->is_exact != rows[at].is_exact
          || saved->is_input != rows[at].is_input || saved->n_readers != rows[at].n_readers
          || saved->n != rows[at].n || saved->k != rows[at].k || saved->n_matrices != rows[at].n_matrices
          || !is_near (saved->bytes, rows[at].bytes, 1e-12) || !is_near (saved->flops, rows[at].flops, 1e-12))
        fail_msg ("row %u, %s: %g bytes, kind %d, kernels %u", at, saved->name, saved->bytes, saved->kind,
                  saved->kernels);
    }
  }
  assert_int_equal (at, G_N_ELEMENTS (rows));
}

/* Ranks of a tensor-parallel group divide the matrices of experts and what comes between them; each routes all tokens,
 * and adds all of the sums. */
static void
what_ranks_divide_of_experts (G_GNUC_UNUSED void **state)
{
  static const char *const divided[] = { "gate", "up", "gated_activation", "down" };
  g_autoptr (FabLayerStack) stack = expand (EVERYTHING, 32);
  guint n_divided = 0;

  for (guint s = 1; s < 5; s++) {
    const GArray *operators = segment_of (stack, 1, s)->operators;

    for (guint i = 0; i < operators->len; i++) {
      const FabOperator *op = &g_array_index (operators, FabOperator, i);
      gboolean is_divided = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (divided); k++)
        is_divided |= strcmp (op->name, divided[k]) == 0;
      if (op->is_split != is_divided)
        fail_msg ("%s of segment %u", op->name, s);
      n_divided += is_divided;
    }
  }
  assert_int_equal (n_divided, 2 * G_N_ELEMENTS (divided));
}

/* One number between a token and its experts is as few as there can be, and none is not one. */
static void
the_way_to_experts_may_be_one_number_wide (G_GNUC_UNUSED void **state)
{
  for (guint latent = 0; latent <= 1; latent++) {
    g_autofree char *yaml = g_strdup_printf (
        "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, biases: false, "
        "experts: {count: 8, per_token: 3, width: 96, latent: %u}}",
        latent);
    g_autoptr (FabLayerStack) stack = expand (yaml, 32);
    const FabLayer *block = fab_layer_stack_layer (stack, 1);

    assert_int_equal (block->segments->len, 3 + latent);
    assert_near (segment_of (stack, 1, 2)->expert_bytes, 2.0 * 3 * (latent ? 1 : 64), 1e-12);
    assert_int_equal (segment_of (stack, 1, 2)->expert_copies, 3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (operators_move_their_numbers),
    cmocka_unit_test (experts_move_as_many_numbers_as_they_get),
    cmocka_unit_test (experts_keep_what_backward_needs),
    cmocka_unit_test (what_ranks_divide_of_experts),
    cmocka_unit_test (the_way_to_experts_may_be_one_number_wide),
    cmocka_unit_test (parameter_counts_are_the_published_ones),
    cmocka_unit_test (mamba_blocks_are_as_published),
    cmocka_unit_test (windows_see_fewer_tokens),
    cmocka_unit_test (a_further_token_is_one_block_more),
    cmocka_unit_test (latent_experts_get_narrow_tokens),
    cmocka_unit_test (forward_flops_are_two_per_weight_and_the_scores),
    cmocka_unit_test (gates_and_grouped_queries_change_the_matrices),
    cmocka_unit_test (tensors_come_in_registration_order),
    cmocka_unit_test (saved_activations_are_korthikantis),
    cmocka_unit_test (flash_attention_keeps_no_scores),
    cmocka_unit_test (heads_may_be_wider_than_hidden),
    cmocka_unit_test (experts_have_their_own_segments),
    cmocka_unit_test (latent_attention_goes_through_its_ranks),
  };

  return cmocka_run_group_tests_name ("transformer", tests, NULL, NULL);
}
