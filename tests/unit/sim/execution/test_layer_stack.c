/* SPDX-License-Identifier: Apache-2.0 */
/* test_layer_stack.c - what a stack of layers adds up, and what a pass through one of its segments executes. */
#include "tests/support/test.h"

#include "sim/execution/layers.h"

/* Two layers: the first has one segment, the second two. */
static FabLayerStack *
two_layers (void)
{
  static const struct {
    guint layer;
    const char *segment;
    FabOperatorKind kind;
    double flops;
  } rows[] = { { 0, "embedding", FAB_OPERATOR_MEMORY, 0 },
               { 0, NULL, FAB_OPERATOR_ATTENTION, 9 },
               { 1, "attention", FAB_OPERATOR_ATTENTION, 30 },
               { 1, NULL, FAB_OPERATOR_MATMUL, 100 },
               { 1, "mlp", FAB_OPERATOR_MATMUL, 400 },
               { 1, NULL, FAB_OPERATOR_ATTENTION, 5 },
               { 1, NULL, FAB_OPERATOR_MEMORY, 7 } };
  FabLayerStack *stack = fab_layer_stack_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabOperator op = { .kind = rows[i].kind, .flops = rows[i].flops };

    if (rows[i].layer == stack->layers->len)
      assert_near (fab_layer_stack_add_layer (stack, g_strdup_printf ("layer%u", rows[i].layer),
                                              2 + rows[i].layer)
                       ->hidden_bytes,
                   2 + rows[i].layer, 0);
    if (rows[i].segment != NULL)
      assert_string_equal (fab_layer_stack_add_segment (stack, rows[i].segment)->name, rows[i].segment);
    fab_layer_stack_add_operator (stack, &op);
  }
  return stack;
}

static void
flops_are_summed_at_every_level (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = two_layers ();
  const FabLayer *first = fab_layer_stack_layer (stack, 0), *second = fab_layer_stack_layer (stack, 1);

  assert_int_equal (stack->layers->len, 2);
  assert_string_equal (second->name, "layer1");
  assert_near (first->hidden_bytes, 2, 0);
  assert_near (second->hidden_bytes, 3, 0);
  assert_int_equal (second->segments->len, 2);
  assert_string_equal (fab_layer_segment (second, 1)->name, "mlp");
  assert_int_equal (fab_layer_segment (second, 1)->operators->len, 3);
  assert_near (fab_layer_segment (second, 0)->forward_flops, 130, 0);
  assert_near (fab_layer_segment (second, 1)->forward_flops, 412, 0);
  assert_near (first->forward_flops_per_token, 9, 0);
  assert_near (second->forward_flops_per_token, 542, 0);
  assert_near (stack->forward_flops_per_token, 551, 0);
  assert_near (fab_layer_stack_score_flops (stack), 44, 0);
}

/* Of a tensor with experts a token is multiplied with fewer parameters than there are. */
static void
parameters_are_summed_at_every_level (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = two_layers ();
  const FabLayer *layer = fab_layer_stack_layer (stack, 1);

  fab_layer_stack_add_tensor (stack, FAB_TENSOR_EXPERT, 800, 100);
  fab_layer_stack_add_segment (stack, "head");
  fab_layer_stack_add_tensor (stack, FAB_TENSOR_SPLIT, 50, 50);
  assert_int_equal (layer->parameters, 850);
  assert_int_equal (stack->parameters, 850);
  assert_int_equal (stack->active_parameters, 150);
  assert_int_equal (layer->tensors->len, 2);
  assert_int_equal (fab_layer_tensor (layer, 0)->parameters, 800);
  assert_int_equal (fab_layer_tensor (layer, 0)->kind, FAB_TENSOR_EXPERT);
  assert_int_equal (fab_layer_tensor (layer, 0)->segment, 1);
  assert_int_equal (fab_layer_tensor (layer, 1)->segment, 2);
  assert_int_equal (fab_layer_stack_layer (stack, 0)->parameters, 0);
}

/* Sums are those of fused kernels: what only other kernels keep is listed and not added. Nothing is listed that has no
 * bytes. */
static void
activations_are_summed_by_kind (G_GNUC_UNUSED void **state)
{
  static const FabSaved rows[] = {
    { .bytes = 1, .kernels = FAB_KEPT_FUSED },
    { .bytes = 20, .kernels = FAB_KEPT_FUSED | FAB_KEPT_EAGER, .is_split = TRUE },
    { .bytes = 300, .kernels = FAB_KEPT_FUSED, .kind = FAB_SAVED_SCORES, .is_split = TRUE },
    { .bytes = 4000, .kernels = FAB_KEPT_EAGER },
    { .bytes = 0, .kernels = FAB_KEPT_FUSED },
    { .bytes = 2, .kernels = FAB_KEPT_FUSED },
    { .bytes = 40, .kernels = FAB_KEPT_FUSED, .is_split = TRUE },
    { .bytes = 600, .kernels = FAB_KEPT_FUSED, .kind = FAB_SAVED_SCORES },
  };
  g_autoptr (FabLayerStack) stack = two_layers ();
  const FabSegment *segment = fab_layer_segment (fab_layer_stack_layer (stack, 1), 1);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    fab_layer_stack_add_saved (stack, &rows[i]);
  assert_int_equal (segment->saved->len, 7);
  assert_near (fab_segment_saved (segment, 3)->bytes, 4000, 0);
  assert_near (fab_segment_saved (segment, 4)->bytes, 2, 0);
  assert_near (segment->saved_whole_bytes, 3, 0);
  assert_near (segment->saved_split_bytes, 60, 0);
  assert_near (segment->saved_score_bytes, 900, 0);
}

/* Per token, a product of 100 FLOP and one of 40 that is frozen, scores of 30, and a norm of 2; the frozen product and
 * the norm are done by each rank of two, on its half of 10 tokens where these are shared out. Backward, a product has
 * one for its input and one for its matrix unless that is frozen, and everything else is twice as much, with the
 * inputs. */
static void
a_pass_executes_what_its_gradients_ask_for (G_GNUC_UNUSED void **state)
{
  static const FabOperator operators[] = {
    { .kind = FAB_OPERATOR_MATMUL, .flops = 100, .is_split = TRUE },
    { .kind = FAB_OPERATOR_MATMUL, .flops = 40, .is_frozen = TRUE },
    { .kind = FAB_OPERATOR_ATTENTION, .flops = 30, .is_split = TRUE },
    { .kind = FAB_OPERATOR_MEMORY, .flops = 2 },
  };
  static const struct {
    gboolean is_backward;
    FabGradients gradients;
    double shared_tokens, flops;
  } rows[] = {
    { FALSE, FAB_GRADIENTS_ALL, 0, 10 * (50 + 40 + 15 + 2) },
    { FALSE, FAB_GRADIENTS_ALL, 5, 10 * (50 + 15) + 5 * (40 + 2) },
    { FALSE, FAB_GRADIENTS_WEIGHTS, 0, 10 * (50 + 40 + 15 + 2) },
    { TRUE, FAB_GRADIENTS_ALL, 0, 10 * (100 + 40 + 30 + 4) },
    { TRUE, FAB_GRADIENTS_ALL, 5, 10 * (100 + 30) + 5 * (40 + 4) },
    { TRUE, FAB_GRADIENTS_INPUTS, 0, 10 * (50 + 40 + 30 + 4) },
    { TRUE, FAB_GRADIENTS_WEIGHTS, 0, 10 * 50 },
  };
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("l"), 0);
  fab_layer_stack_add_segment (stack, "s");
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    fab_layer_stack_add_operator (stack, &operators[i]);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabPass pass = { .layer = fab_layer_stack_layer (stack, 0),
                           .segment = fab_layer_segment (fab_layer_stack_layer (stack, 0), 0),
                           .is_backward = rows[i].is_backward,
                           .tokens = 10,
                           .n_split = 2,
                           .shared_tokens = rows[i].shared_tokens,
                           .gradients = rows[i].gradients };

    assert_near (fab_pass_flops (&pass), rows[i].flops, 1e-12);
    assert_int_equal (fab_pass_has_input_product (&pass), rows[i].gradients != FAB_GRADIENTS_WEIGHTS);
    assert_int_equal (fab_pass_has_weight_product (&pass, &operators[0]),
                      rows[i].gradients != FAB_GRADIENTS_INPUTS);
    assert_false (fab_pass_has_weight_product (&pass, &operators[1]));
  }
}

static void
parts_of_a_time_are_summed (G_GNUC_UNUSED void **state)
{
  assert_near (fab_compute_parts_sum (&(FabComputeParts){ 1, 20, 300, 4000, 5e4, 6e5, 7e6 }), 7654321, 1e-15);
}

static gboolean
no_layer (G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED const FabLayerStack *stack, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR, 0, "no time for layer0");
  return FALSE;
}

/* A compute model that does not say takes any layer. */
static void
a_compute_model_may_refuse_layers (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = two_layers ();
  FabComputeOps ops = { .info = { .name = "c" } };
  const FabModelChoice choice = { &ops.info, NULL };
  g_autoptr (GError) error = NULL;

  assert_true (fab_compute_check_layers (&choice, stack, &error));
  assert_null (error);
  ops.check_layers = no_layer;
  assert_false (fab_compute_check_layers (&choice, stack, &error));
  assert_string_equal (error->message, "no time for layer0");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (flops_are_summed_at_every_level),
    cmocka_unit_test (parameters_are_summed_at_every_level),
    cmocka_unit_test (activations_are_summed_by_kind),
    cmocka_unit_test (a_pass_executes_what_its_gradients_ask_for),
    cmocka_unit_test (parts_of_a_time_are_summed),
    cmocka_unit_test (a_compute_model_may_refuse_layers),
  };

  return cmocka_run_group_tests_name ("layer_stack", tests, NULL, NULL);
}
