/* SPDX-License-Identifier: Apache-2.0 */
/* test_measured_layers.c - which measured time a layer takes, and what it is scaled by. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/params.h"

static void
add_layer (FabLayerStack *stack, const char *name, double attention_flops, double mlp_flops)
{
  const FabOperator attention = { .name = "a", .kind = FAB_OPERATOR_MATMUL, .flops = attention_flops };
  const FabOperator mlp = { .name = "m", .kind = FAB_OPERATOR_MATMUL, .flops = mlp_flops };

  fab_layer_stack_add_layer (stack, g_strdup (name), 0);
  fab_layer_stack_add_segment (stack, "attention");
  fab_layer_stack_add_operator (stack, &attention);
  fab_layer_stack_add_segment (stack, "mlp");
  fab_layer_stack_add_operator (stack, &mlp);
}

/* block1 and block10, a third of their FLOPs in attention; a layer that multiplies nothing. */
static FabLayerStack *
small_stack (void)
{
  FabLayerStack *stack = fab_layer_stack_new ();

  add_layer (stack, "block1", 10, 20);
  add_layer (stack, "block10", 10, 20);
  add_layer (stack, "embedding", 0, 0);
  return stack;
}

static double
milliseconds (const char *yaml, guint layer_index, guint segment_index, gboolean is_backward)
{
  g_autoptr (FabLayerStack) stack = small_stack ();
  g_autoptr (Params) params = params_new (&fab_compute_measured.info, yaml);
  const FabLayer *layer = fab_layer_stack_layer (stack, layer_index);
  const FabPass pass = { .layer = layer,
                         .segment = fab_layer_segment (layer, segment_index),
                         .is_backward = is_backward,
                         .tokens = 1000,
                         .n_split = 4,
                         .n_expert = 1,
                         .precision = FAB_PRECISION_BF16 };

  return fab_compute_measured.seconds (params->params, &(FabDevice){ 0 }, &pass) * 1e3;
}

/* 3 ms of a layer: 1 ms for attention's third, 2 ms for the rest; without FLOPs in halves. */
static void
a_layers_time_is_shared_by_flops (G_GNUC_UNUSED void **state)
{
  const char
      *yaml = "{times: [{layer: block, forward: 3ms, backward: 9ms}, {layer: embedding, forward: 1ms}]}";

  assert_near (milliseconds (yaml, 0, 0, FALSE), 1, 1e-9);
  assert_near (milliseconds (yaml, 1, 1, FALSE), 2, 1e-9);
  assert_near (milliseconds (yaml, 1, 1, TRUE), 6, 1e-9);
  assert_near (milliseconds (yaml, 2, 0, FALSE), 0.5, 1e-9);
}

/* block1 is closer than block, and is not block10; a row of the segment is closer than one of the layer. */
static void
the_closest_row_counts (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{times: [{layer: block, forward: 3ms}, {layer: block1, forward: 30ms},"
                     " {layer: block, segment: mlp, forward: 7ms}]}";

  assert_near (milliseconds (yaml, 0, 1, FALSE), 20, 1e-9);
  assert_near (milliseconds (yaml, 1, 0, FALSE), 1, 1e-9);
  assert_near (milliseconds (yaml, 1, 1, FALSE), 7, 1e-9);
}

/* 1000 tokens here, 4000 there: a quarter. Backward left out is twice forward. Nothing is divided by the four
 * ranks. */
static void
times_grow_with_tokens (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{times: [{layer: block, segment: mlp, forward: 8ms, tokens: 4000}]}";

  assert_near (milliseconds (yaml, 0, 1, FALSE), 2, 1e-9);
  assert_near (milliseconds (yaml, 0, 1, TRUE), 4, 1e-9);
}

static void
all_layers_without_a_time_are_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = small_stack ();
  g_autoptr (Params) params = params_new (
      &fab_compute_measured.info,
      "{times: [{layer: block1, forward: 1ms}, {layer: block, segment: mlp, forward: 1ms}]}");
  FabModelChoice choice = { &fab_compute_measured.info, params->params };
  g_autoptr (GError) error = NULL;

  assert_false (fab_compute_check_layers (&choice, stack, &error));
  assert_string_equal (
      error->message,
      "compute: there is no measured time for these layers (layer/segment): block10/attention, "
      "embedding/attention, embedding/mlp");
}

static void
other_models_have_a_time_for_all (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = small_stack ();
  FabModelChoice choice = { &fab_compute_mfu.info, NULL };

  assert_true (fab_compute_check_layers (&choice, stack, NULL));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_layers_time_is_shared_by_flops),
    cmocka_unit_test (the_closest_row_counts),
    cmocka_unit_test (times_grow_with_tokens),
    cmocka_unit_test (all_layers_without_a_time_are_named),
    cmocka_unit_test (other_models_have_a_time_for_all),
  };

  return cmocka_run_group_tests_name ("measured_layers", tests, NULL, NULL);
}
