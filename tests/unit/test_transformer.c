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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parameter_counts_are_the_published_ones),
    cmocka_unit_test (forward_flops_are_two_per_weight_and_the_scores),
    cmocka_unit_test (gates_and_grouped_queries_change_the_matrices),
    cmocka_unit_test (tensors_come_in_registration_order),
  };

  return cmocka_run_group_tests_name ("transformer", tests, NULL, NULL);
}
