/* SPDX-License-Identifier: Apache-2.0 */
/* test_grouped.c - what software adds to the experts of a layer: copies of tokens, the host's loop over experts, and
 * reading how many tokens each has. Eight experts on two ranks: four of each. */
#include <string.h>

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/test.h"

static const FabDevice device = {
  .architecture = "hopper",
  .peak_flops_per_s = { [FAB_PRECISION_BF16] = 1000e12, [FAB_PRECISION_FP8] = 2000e12 },
  .matmul_fraction = 0.8,
  .n_sms = 132,
  .memory_bytes_per_s = 2000000000000
};

/* A token of 64 numbers goes to two experts: 256 bytes of copies. */
static FabLayerStack *
new_stack (guint experts)
{
  const FabOperator matrix = {
    .kind = FAB_OPERATOR_MATMUL, .flops = 2 * 2 * 64 * 64, .n = 64, .k = 64, .n_matrices = (gint) experts
  };
  FabOperator gate = matrix, up = matrix, down = matrix;
  const FabOperator dispatch = { .name = "dispatch", .kind = FAB_OPERATOR_MEMORY, .bytes = 256 };
  FabLayerStack *stack = fab_layer_stack_new ();
  FabSegment *segment;

  gate.name = "gate", up.name = "up", down.name = "down";
  fab_layer_stack_add_layer (stack, g_strdup ("block0"), 0);
  segment = fab_layer_stack_add_segment (stack, "experts");
  segment->expert_bytes = 256;
  segment->expert_copies = 2;
  fab_layer_stack_add_operator (stack, &dispatch);
  fab_layer_stack_add_operator (stack, &gate);
  fab_layer_stack_add_operator (stack, &up);
  fab_layer_stack_add_operator (stack, &down);
  return stack;
}

typedef struct {
  const char *yaml, *software;
  gboolean is_backward;
  FabPrecision precision;
  FabRoutedTokens routing;
  double tokens;
  guint experts; /* on two ranks; 0: eight */
} Case;

static FabComputeParts
parts_of (const Case *one)
{
  g_autoptr (FabLayerStack) stack = new_stack (one->experts > 0 ? one->experts : 8);
  g_autoptr (Params) params = params_new (&fab_compute_auto.info, one->yaml);
  const FabSoftware software = { .stack = one->software, .pytorch = 211 };
  const FabLayer *layer = fab_layer_stack_layer (stack, 0);
  const FabPass pass = { .layer = layer,
                         .segment = fab_layer_segment (layer, 0),
                         .is_backward = one->is_backward,
                         .tokens = one->tokens,
                         .n_split = 1,
                         .n_expert = 2,
                         .precision = one->precision,
                         .software = &software,
                         .routing = one->routing };
  FabComputeParts parts = { .products_s = 0 };

  fab_compute_auto.parts (params->params, &device, &pass, &parts);
  return parts;
}

/* All that the host has to issue: what the device does meanwhile and what it waits for. */
static double
issue_s (const Case *one)
{
  FabComputeParts parts = parts_of (one);

  return fab_compute_parts_sum (&parts) - parts.readback_s;
}

/* Forward: 4 kernels of 60 us; gate with up and down are 2 products of 33 us for each of 4 experts. Backward: dispatch
 * is 1 kernel and each matrix 2, 7 in all; 4 products for each expert. */
static void
a_product_of_each_expert_is_issued (G_GNUC_UNUSED void **state)
{
  Case one = { "{}", "megatron", FALSE, FAB_PRECISION_BF16, { FALSE, FALSE, FALSE }, 1, 0 };

  assert_near (issue_s (&one), 4 * 60e-6 + 4 * 2 * 33e-6, 1e-9);
  one.is_backward = TRUE;
  assert_near (issue_s (&one), 7 * 60e-6 + 4 * 4 * 33e-6, 1e-9);
}

/* PyTorch's grouped product is one kernel. */
static void
other_software_issues_one (G_GNUC_UNUSED void **state)
{
  const Case one = { "{}", "compiled", FALSE, FAB_PRECISION_BF16, { FALSE, FALSE, TRUE }, 1, 0 };

  assert_near (issue_s (&one), 4 * 5e-6, 1e-6);
  assert_near (parts_of (&one).readback_s, 0, 0);
}

static void
graphs_need_no_host (G_GNUC_UNUSED void **state)
{
  Case one = { "{graphs: moe}", "megatron", FALSE, FAB_PRECISION_BF16, { FALSE, FALSE, TRUE }, 1, 0 };

  assert_true (issue_s (&one) < 30e-6);
  assert_near (parts_of (&one).readback_s, 0, 0);
  one.yaml = "{graphs: [attn, moe_router]}";
  assert_near (issue_s (&one), 4 * 60e-6 + 4 * 2 * 33e-6, 1e-9);
  assert_near (parts_of (&one).readback_s, 18e-6, 0);
}

static void
counts_are_read_in_forward_passes (G_GNUC_UNUSED void **state)
{
  Case one = { "{}", "megatron", TRUE, FAB_PRECISION_BF16, { FALSE, FALSE, TRUE }, 1, 0 };

  assert_near (parts_of (&one).readback_s, 0, 0);
  one.is_backward = FALSE;
  assert_near (parts_of (&one).readback_s, 18e-6, 0);
}

/* A copy reads and writes 256 bytes of each of 1000 tokens at 0.85 of 2 TB/s; products of 16 bits need no padding. */
static void
tokens_are_sorted_and_padded (G_GNUC_UNUSED void **state)
{
  const double copy_s = 1000 * 2 * 256 / (0.85 * 2e12);
  Case one = { "{}", "nemo", FALSE, FAB_PRECISION_BF16, { TRUE, TRUE, TRUE }, 1000, 0 };

  assert_near (parts_of (&one).copies_s, copy_s, 1e-15);
  one.precision = FAB_PRECISION_FP8;
  assert_near (parts_of (&one).copies_s, 2 * copy_s, 1e-15);
  one.routing.is_sorted = FALSE;
  assert_near (parts_of (&one).copies_s, copy_s, 1e-15);
  one.yaml = "{graphs: all}"; /* padded where they are routed */
  assert_near (parts_of (&one).copies_s, 0, 0);
}

/* Tokens that came to a rank are put in the order of its experts, where it has more than one. */
static void
tokens_of_a_lone_expert_are_sorted_already (G_GNUC_UNUSED void **state)
{
  const double copy_s = 1000 * 2 * 256 / (0.85 * 2e12);

  for (guint experts = 2; experts <= 4; experts += 2) {
    const Case one = { "{}", "megatron", FALSE, FAB_PRECISION_BF16, { .is_sorted = TRUE }, 1000, experts };

    assert_near (parts_of (&one).copies_s, experts == 2 ? 0 : copy_s, 1e-12);
  }
}

typedef struct {
  FabCheck check;
  char *message;
} Messages;

static void
keep (FabCheck *check, G_GNUC_UNUSED gconstpointer field, const char *message)
{
  Messages *self = (Messages *) check;

  g_free (self->message);
  self->message = g_strdup (message);
}

/* What the model says of a list of graphs; NULL: nothing. (transfer full) */
static char *
message_of (const char *graphs)
{
  const FabModelInfo *info = &fab_compute_auto.info;
  g_autofree char *params = g_malloc0 (info->params_size);
  Messages messages = { { keep }, NULL };
  const FabParam *row = info->params;

  while (strcmp (row->key, "graphs") != 0)
    row++;
  *(const char **) (gpointer) (params + row->offset) = graphs;
  info->check (params, &messages.check);
  return messages.message;
}

static void
graphs_name_parts_of_layers (G_GNUC_UNUSED void **state)
{
  g_autofree char *wrong = message_of ("attn, embedding");

  assert_null (message_of ("attn,moe_router, moe_preprocess"));
  assert_non_null (strstr (wrong, "'embedding' is no part of a layer that a graph captures"));
}

/* A scale of two halves every part of the time, also that of copies, which sorted tokens of experts need. */
static void
a_scale_divides_every_part (G_GNUC_UNUSED void **state)
{
  for (guint is_backward = 0; is_backward < 2; is_backward++)
    for (guint tokens = 1; tokens <= 100000; tokens *= 100000) {
      const Case
          one = { "{}", "megatron", is_backward, FAB_PRECISION_BF16, { .is_sorted = TRUE }, tokens, 0 },
          two = {
            "{scale: 2}", "megatron", is_backward, FAB_PRECISION_BF16, { .is_sorted = TRUE }, tokens, 0
          };
      FabComputeParts slow = parts_of (&one), fast = parts_of (&two);

      assert_true (slow.products_s > 0 && slow.memory_bound_s > 0 && slow.copies_s > 0
                   && slow.launches_s > 0);
      assert_true (tokens > 1 || slow.host_s > 0);
      assert_near (fast.products_s, slow.products_s / 2, 1e-12);
      assert_near (fast.attention_s, slow.attention_s / 2, 1e-12);
      assert_near (fast.memory_bound_s, slow.memory_bound_s / 2, 1e-12);
      assert_near (fast.copies_s, slow.copies_s / 2, 1e-12);
      assert_near (fast.launches_s, slow.launches_s / 2, 1e-12);
      assert_near (fast.readback_s, slow.readback_s / 2, 1e-12);
      assert_near (fast.host_s, slow.host_s / 2, 1e-12);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_scale_divides_every_part),
    cmocka_unit_test (a_product_of_each_expert_is_issued),
    cmocka_unit_test (other_software_issues_one),
    cmocka_unit_test (graphs_need_no_host),
    cmocka_unit_test (counts_are_read_in_forward_passes),
    cmocka_unit_test (tokens_are_sorted_and_padded),
    cmocka_unit_test (tokens_of_a_lone_expert_are_sorted_already),
    cmocka_unit_test (graphs_name_parts_of_layers),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
