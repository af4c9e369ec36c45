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

/* Blocks of experts beside a dense one, with keys and values of half the heads. */
#define RICH                                                                                                   \
  "{layers: 2, hidden: 64, heads: 4, kv_heads: 2, gated: true, vocabulary: 1000, tied: false, dropout: true, " \
  "experts: {count: %u, per_token: 2, width: 32, shared: 1, dense_layers: 1}}"
enum { RANK = 4 };

static gboolean
gets_adapter (const FabLayer *layer, const FabSegment *segment, const FabOperator *op, AdapterTargets targets)
{
  return op->kind == FAB_OPERATOR_MATMUL && layer->is_block && strcmp (segment->name, "router") != 0
      && (targets == ADAPTERS_ALL || strcmp (segment->name, "attention") == 0);
}

static void
assert_same_segment (const FabSegment *old, const FabSegment *new)
{
  assert_string_equal (new->name, old->name);
  assert_int_equal (new->is_split, old->is_split);
  assert_near (new->context_bytes, old->context_bytes, 0);
  assert_near (new->cache_bytes, old->cache_bytes, 0);
  assert_int_equal (new->cache_heads, old->cache_heads);
  assert_int_equal (new->cache_pieces, old->cache_pieces);
  assert_near (new->expert_bytes, old->expert_bytes, 0);
  assert_int_equal (new->expert_copies, old->expert_copies);
  assert_int_equal (new->saved->len, old->saved->len);
  assert_memory_equal (new->saved->data, old->saved->data, old->saved->len * sizeof (FabSaved));
}

static void
assert_adapter_of (const FabOperator *op, const FabOperator *adapter, const FabLayer *layer,
                   guint *next_tensor)
{
  gboolean is_of_experts = op->n_matrices > 1;
  guint64 numbers[] = { RANK * (guint64) op->k, RANK * (guint64) op->n };

  for (guint half = 0; half < 2; half++) {
    const FabTensor *tensor = fab_layer_tensor (layer, (*next_tensor)++);

    assert_string_equal (adapter[half].name, half == 0 ? "adapter_down" : "adapter_up");
    assert_near (adapter[half].flops, 2.0 * (is_of_experts ? 2 : 1) * (double) numbers[half], 1e-12);
    assert_near (adapter[half].bytes,
                 2.0 * (is_of_experts ? 2 : 1) * (double) (RANK + (half == 0 ? op->k : op->n)), 1e-12);
    assert_int_equal (tensor->kind, is_of_experts               ? FAB_TENSOR_EXPERT
                                    : half == 1 && op->is_split ? FAB_TENSOR_SPLIT
                                                                : FAB_TENSOR_WHOLE);
    assert_false (tensor->is_frozen);
    assert_int_equal (tensor->parameters, numbers[half] * (guint64) op->n_matrices);
  }
  assert_string_equal (adapter[2].name, "adapter_sum");
}

/* Returns the parameters of adapters that a token meets. */
static guint64
assert_adapted (const FabLayer *old, const FabLayer *new, guint s, AdapterTargets targets, guint *next_tensor)
{
  const GArray *before = fab_layer_segment (old, s)->operators,
               *after = fab_layer_segment (new, s)->operators;
  guint64 active = 0;
  guint at = 0;

  for (guint t = 0; t < old->tensors->len; t++) {
    const FabTensor *tensor = fab_layer_tensor (old, t);

    if (tensor->segment != s)
      continue;
    const FabTensor *kept = fab_layer_tensor (new, (*next_tensor)++);
    assert_true (kept->parameters == tensor->parameters && kept->kind == tensor->kind && kept->is_frozen);
  }
  for (guint i = 0; i < before->len; i++) {
    const FabOperator *op = &g_array_index (before, FabOperator, i),
                      *kept = &g_array_index (after, FabOperator, at++);

    assert_string_equal (kept->name, op->name);
    assert_true (kept->is_frozen && kept->kind == op->kind && kept->n == op->n && kept->k == op->k
                 && kept->n_matrices == op->n_matrices && kept->is_split == op->is_split);
    assert_near (kept->flops, op->flops, 0);
    assert_near (kept->bytes, op->bytes, 0);
    if (!gets_adapter (old, fab_layer_segment (old, s), op, targets))
      continue;
    assert_adapter_of (op, kept + 1, new, next_tensor);
    active += RANK * (guint64) (op->n + op->k) * (op->n_matrices > 1 ? 2 : 1);
    at += 3;
  }
  assert_int_equal (after->len, at);
  return active;
}

static void
check_adapted (const FabLayerStack *stack, AdapterTargets targets)
{
  g_autoptr (FabLayerStack) adapted = adapters_add (stack, RANK, targets);
  guint64 active = stack->active_parameters;

  assert_int_equal (adapted->layers->len, stack->layers->len);
  for (guint l = 0; l < stack->layers->len; l++) {
    const FabLayer *old = fab_layer_stack_layer (stack, l), *new = fab_layer_stack_layer (adapted, l);
    guint next_tensor = 0;

    assert_string_equal (new->name, old->name);
    assert_int_equal (new->is_block, old->is_block);
    assert_near (new->hidden_bytes, old->hidden_bytes, 0);
    assert_int_equal (new->segments->len, old->segments->len);
    for (guint s = 0; s < old->segments->len; s++) {
      guint first = next_tensor;

      assert_same_segment (fab_layer_segment (old, s), fab_layer_segment (new, s));
      active += assert_adapted (old, new, s, targets, &next_tensor);
      for (guint t = first; t < next_tensor; t++)
        assert_int_equal (fab_layer_tensor (new, t)->segment, s);
    }
    assert_int_equal (new->tensors->len, next_tensor);
  }
  assert_int_equal (adapted->active_parameters, active);
}

/* The model itself stays as it is, but frozen: every operator and every tensor of each segment comes in its order.
 * Behind a matrix come its adapter's two products and the sum, and behind the tensors of the segment two for each
 * adapter: the way down is whole on every rank, the way up is divided as its matrix is, and each expert has an adapter.
 * A token meets as many of them as it has experts. */
static void
a_model_keeps_what_it_is_made_of (G_GNUC_UNUSED void **state)
{
  for (guint n_experts = 2; n_experts <= 4; n_experts++) {
    g_autofree char *yaml = g_strdup_printf (RICH, n_experts);
    g_autoptr (Params) params = params_new (&fab_shape_transformer.info, yaml);
    g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

    fab_shape_transformer.expand (params->params, 16, stack);
    check_adapted (stack, ADAPTERS_ALL);
    check_adapted (stack, ADAPTERS_ATTENTION);
  }
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

  assert_near (sent_bytes ("kind: ddp"), 2 * 2.0 * ADAPTERS * 2 * 7 / 8, 1e-12);
  assert_near (sent_bytes ("kind: megatron"), 2 * 2.0 * ADAPTERS * 2 * 7 / 8, 1e-12);
  assert_near (sent_bytes ("kind: fsdp"), (2 * (2 * blocks + rest) + 2 * 2.0 * ADAPTERS) * 7 / 8, 1e-12);
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
    cmocka_unit_test (a_model_keeps_what_it_is_made_of),
    cmocka_unit_test (frozen_matrices_have_no_product_of_their_own),
    cmocka_unit_test (only_adapters_have_gradients),
    cmocka_unit_test (frozen_weights_take_two_bytes),
  };

  return play_run_tests ("adapters", tests, &catalog);
}
