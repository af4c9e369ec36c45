/* SPDX-License-Identifier: Apache-2.0 */
/* test_adapters.c - frozen weights with low-rank adapters: parameters, FLOPs, traffic and memory by hand. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "models/workload/training/adapters.h"
#include "tests/support/params.h"
#include "tests/support/play.h"

/* h 64, f 256, 2 blocks without biases: qkv 192 x 64, projection 64 x 64, up 256 x 64, down 64 x 256; with rank 4 the
 * adapters have 4 x (256 + 128 + 320 + 320) = 4096 parameters a block, and as many multiply-adds. */
#define SHAPE "{layers: 2, hidden: 64, heads: 4, vocabulary: 1000, tied: false, biases: false}"
enum { ADAPTERS = 4096, MATRICES = 12 * 64 * 64, NORMS = 128 };

static FabCatalog *catalog;

static FabLayerStack *
plain (void)
{
  g_autoptr (Params) params = params_new (&fab_shape_transformer.info, SHAPE);
  FabLayerStack *stack = fab_layer_stack_new ();

  fab_shape_transformer.expand (params->params, 16, stack);
  return stack;
}

static void
blocks_get_adapters (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = plain ();
  g_autoptr (FabLayerStack) adapted = adapters_add (stack, 4, ADAPTERS_ALL);
  const FabLayer *block = fab_layer_stack_layer (adapted, 1);
  guint64 frozen = 0;

  assert_int_equal (adapted->parameters, stack->parameters + 2 * ADAPTERS);
  assert_int_equal (fab_layer_stack_layer (adapted, 3)->parameters,
                    fab_layer_stack_layer (stack, 3)->parameters);
  for (guint t = 0; t < block->tensors->len; t++)
    frozen += fab_layer_tensor (block, t)->is_frozen ? fab_layer_tensor (block, t)->parameters : 0;
  assert_int_equal (frozen, MATRICES + NORMS);
  assert_near (block->forward_flops_per_token,
               fab_layer_stack_layer (stack, 1)->forward_flops_per_token + 2 * ADAPTERS, 1e-6);
  assert_true (block->is_block);
  g_autoptr (FabLayerStack) attention = adapters_add (stack, 4, ADAPTERS_ATTENTION);
  assert_int_equal (attention->parameters, stack->parameters + 2 * 4 * (256 + 128));
}

/* Beside every matrix of n x k numbers come one of 4 x k, one of n x 4 and the sum of both results. A number that is
 * multiplied is 2 FLOP, and every number that goes in or out is 2 bytes; the sum reads two and writes one of n. */
static void
adapters_are_two_thin_products (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = plain ();
  g_autoptr (FabLayerStack) adapted = adapters_add (stack, 4, ADAPTERS_ALL);
  guint n_found = 0;

  for (guint s = 0; s < 2; s++) {
    const GArray *operators = fab_layer_segment (fab_layer_stack_layer (adapted, 1), s)->operators;

    for (guint i = 0; i < operators->len; i++) {
      const FabOperator *op = &g_array_index (operators, FabOperator, i), *matrix = op - 1;

      if (strcmp (op->name, "adapter_down") != 0)
        continue;
      n_found++;
      assert_true (matrix->is_frozen && !op->is_frozen && !op[1].is_frozen);
      assert_string_equal (op[1].name, "adapter_up");
      assert_string_equal (op[2].name, "adapter_sum");
      assert_int_equal (op->n, 4);
      assert_int_equal (op->k, matrix->k);
      assert_int_equal (op[1].n, matrix->n);
      assert_int_equal (op[1].k, 4);
      for (guint k = 0; k < 2; k++) {
        assert_int_equal (op[k].kind, FAB_OPERATOR_MATMUL);
        assert_false (op[k].is_split);
        assert_near (op[k].flops, 2.0 * (double) op[k].n * (double) op[k].k, 1e-12);
        assert_near (op[k].bytes, 2.0 * (double) (op[k].n + op[k].k), 1e-12);
      }
      assert_int_equal (op[2].kind, FAB_OPERATOR_MEMORY);
      assert_int_equal (op[2].is_split, matrix->is_split);
      assert_near (op[2].bytes, 6.0 * (double) matrix->n, 1e-12);
    }
  }
  assert_int_equal (n_found, 4);
}

/* Of a block: forward 2 (matrices + adapters) + scores, 4 x 16 x 64; backward once the matrices, twice all else.
 * Without the gradients of the weights once the adapters too; what is left for these is once the adapters. */
static void
frozen_matrices_have_no_product_of_their_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = plain ();
  g_autoptr (FabLayerStack) adapted = adapters_add (stack, 4, ADAPTERS_ALL);
  const double scores = 4.0 * 16 * 64;
  double all = 0, inputs = 0, weights = 0;

  for (guint s = 0; s < 2; s++) {
    FabPass pass = { .layer = fab_layer_stack_layer (adapted, 1),
                     .is_backward = TRUE,
                     .tokens = 1,
                     .n_split = 1,
                     .n_expert = 1 };

    pass.segment = fab_layer_segment (pass.layer, s);
    all += fab_pass_flops (&pass);
    pass.gradients = FAB_GRADIENTS_INPUTS;
    inputs += fab_pass_flops (&pass);
    pass.gradients = FAB_GRADIENTS_WEIGHTS;
    weights += fab_pass_flops (&pass);
  }
  assert_near (all, 2 * MATRICES + 4 * ADAPTERS + 2 * scores, 1e-6);
  assert_near (inputs, 2 * MATRICES + 2 * ADAPTERS + 2 * scores, 1e-6);
  assert_near (weights, 2 * ADAPTERS, 1e-6);
}

#define JOB                                                                                     \
  "name: lora\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"                    \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-22\", shape: {kind: transformer, " \
  "layers: 2, hidden: 64, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n"          \
  "cluster: {node: dgx-a100, nodes: 1}\n"                                                       \
  "job: {model: m, sequence: 16, gradient: bf16, clip_gradients: false, compute: {kind: mfu}, " \
  "trains: lora, lora_rank: 4, %s}\n"

static double
sent_bytes (const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (JOB, keys);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double bytes = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    bytes += (double) dag->collectives[c].plan.bytes * fab_op_bus_factor (dag->collectives[c].plan.op, 8);
  return bytes;
}

/* Only the adapters' gradients are summed: 2 bytes each, 2 x 7/8 times. FSDP still gathers everything, blocks
 * twice: their weights forward and backward and the rest once, and reduce-scatters the adapters. */
static void
only_adapters_have_gradients (G_GNUC_UNUSED void **state)
{
  const double blocks = 2.0 * (MATRICES + NORMS + ADAPTERS), rest = 2 * 64000 + 64;

  assert_near (sent_bytes ("kind: ddp"), 2 * 2.0 * ADAPTERS * 2 * 7 / 8, 16);
  assert_near (sent_bytes ("kind: megatron"), 2 * 2.0 * ADAPTERS * 2 * 7 / 8, 16);
  assert_near (sent_bytes ("kind: fsdp"), (2 * (2 * blocks + rest) + 2 * 2.0 * ADAPTERS) * 7 / 8, 64);
}

/* Weights of everything in 2 bytes, gradients and 12 bytes of optimizer state of the adapters. */
static void
frozen_weights_take_two_bytes (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (JOB, "kind: megatron");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (strcmp (part->part, "parameters") == 0)
      assert_int_equal (part->bytes, 2 * (2 * (MATRICES + NORMS + ADAPTERS) + 2 * 64000 + 64));
    if (strcmp (part->part, "gradients") == 0)
      assert_int_equal (part->bytes, 2 * 2 * ADAPTERS);
    if (strcmp (part->part, "optimizer") == 0)
      assert_int_equal (part->bytes, 12 * 2 * ADAPTERS);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (blocks_get_adapters),
    cmocka_unit_test (adapters_are_two_thin_products),
    cmocka_unit_test (frozen_matrices_have_no_product_of_their_own),
    cmocka_unit_test (only_adapters_have_gradients),
    cmocka_unit_test (frozen_weights_take_two_bytes),
  };

  return play_run_tests ("adapters", tests, &catalog);
}
