/* SPDX-License-Identifier: Apache-2.0 */
/* test_efficiency.c - cells and effects of the catalogue, by hand, and what `auto` makes of one. */
#include "sim/scenario/efficiency.h"

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/test.h"

static const FabEfficiency entries[] = {
  { .name = "any", .scale_factor = 0.8, .issue_ps = 5000000, .low_factor = 0.7, .high_factor = 1.5 },
  { .name = "x", .generation = "x", .scale_factor = 1.1, .low_factor = 1, .high_factor = 1 },
  { .name = "fp8", .precision = "fp8", .scale_factor = 0.9, .low_factor = 1, .high_factor = 1.6 },
  { .name = "eager",
    .stack = "eager",
    .scale_factor = 0.5,
    .issue_ps = 9000000,
    .low_factor = 1,
    .high_factor = 1 },
  { .name = "x-bf16-eager",
    .generation = "x",
    .precision = "bf16",
    .stack = "eager",
    .scale_factor = 0.45,
    .low_factor = 0.9,
    .high_factor = 1.1 },
};

static FabEfficiencyFound
find (const char *generation, const char *precision, const char *stack)
{
  const FabCatalogSections own = { .efficiencies = { (gpointer) entries, G_N_ELEMENTS (entries) } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);
  const FabEfficiencyKey key = { .generation = generation, .precision = precision, .stack = stack };

  return fab_efficiency_find (catalog, &key);
}

/* The cell itself; it has no issue, so that of its stack. */
static void
a_cell_is_taken (G_GNUC_UNUSED void **state)
{
  FabEfficiencyFound found = find ("x", "bf16", "eager");

  assert_true (found.is_cell && found.knows_generation && found.knows_precision && found.knows_stack);
  assert_near (found.values.scale_factor, 0.45, 0);
  assert_near (found.values.high_factor, 1.1, 0);
  assert_int_equal (found.values.issue_ps, 9000000);
}

/* 0.8 x 1.1 x 0.9 x 0.5, with the widest band of the four. */
static void
effects_are_multiplied (G_GNUC_UNUSED void **state)
{
  FabEfficiencyFound found = find ("x", "fp8", "eager");

  assert_false (found.is_cell);
  assert_near (found.values.scale_factor, 0.8 * 1.1 * 0.9 * 0.5, 1e-12);
  assert_near (found.values.low_factor, 0.7, 0);
  assert_near (found.values.high_factor, 1.6, 0);
  assert_int_equal (found.values.issue_ps, 9000000);
  assert_int_equal (found.values.evidence, FAB_EFFICIENCY_ASSUMED);
}

static void
what_nobody_measured_is_the_mean (G_GNUC_UNUSED void **state)
{
  FabEfficiencyFound found = find ("y", "fp16", "other");

  assert_true (!found.is_cell && !found.knows_generation && !found.knows_precision && !found.knows_stack);
  assert_near (found.values.scale_factor, 0.8, 0);
  assert_string_equal (found.values.generation, "y");
}

/* --- auto --- */

static double
auto_seconds (const char *yaml, const FabEfficiency *efficiency)
{
  const FabOperator op = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = 108e9, .n_matrices = 1 };
  const FabDevice device = { .architecture = "ampere",
                             .peak_flops_per_s = { [FAB_PRECISION_BF16] = 108e12 },
                             .matmul_fraction = 0.5,
                             .n_sms = 108,
                             .memory_bytes_per_s = 1000000000000 };
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
  g_autoptr (Params) params = params_new (&fab_compute_auto.info, yaml);

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "segment");
  fab_layer_stack_add_operator (stack, &op);
  const FabLayer *layer = fab_layer_stack_layer (stack, 0);
  FabPass pass = { .layer = layer,
                   .segment = fab_layer_segment (layer, 0),
                   .tokens = 1000,
                   .n_split = 1,
                   .n_expert = 1,
                   .precision = FAB_PRECISION_BF16,
                   .efficiency = efficiency };
  return fab_compute_auto.seconds (params->params, &device, &pass);
}

/* 108 TFLOP, 1 s at peak, of which 0.88 x 0.5 are reached: / 0.45 for the cell, / 2 for the scenario. A scale of
 * 4 would be faster than the peak. The launch is 1 us. */
static void
auto_multiplies_the_rates (G_GNUC_UNUSED void **state)
{
  FabEfficiency fast = entries[0];

  fast.scale_factor = 4;
  assert_near (auto_seconds ("{}", NULL), 1 / 0.44, 1e-5);
  assert_near (auto_seconds ("{}", &entries[4]), 1 / 0.44 / 0.45, 1e-5);
  assert_near (auto_seconds ("{scale: 200%}", &entries[4]), 1 / 0.44 / 0.45 / 2, 1e-5);
  assert_near (auto_seconds ("{}", &fast), 1, 1e-5);
}

/* A weight of 4096 x 4096, 1 token backward. Megatron adds its gradient to the sum of the earlier micro-batches: 6 B
 * more for each parameter, at 85 % of 1 TB/s. Two kernels from a graph take 1 us of the host each. */
static void
auto_knows_what_software_does (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "up",
                           .kind = FAB_OPERATOR_MATMUL,
                           .flops = 2.0 * 4096 * 4096,
                           .n = 4096,
                           .k = 4096,
                           .n_matrices = 1 };
  const FabDevice device = { .architecture = "ampere",
                             .peak_flops_per_s = { [FAB_PRECISION_BF16] = 108e12 },
                             .matmul_fraction = 0.5,
                             .n_sms = 108,
                             .memory_bytes_per_s = 1000000000000 };
  const FabEfficiency megatron = { .stack = "megatron", .scale_factor = 1, .issue_ps = 1000000000 };
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
  g_autoptr (Params) params = params_new (&fab_compute_auto.info, "{graphs: true}");
  g_autoptr (Params) slow = params_new (&fab_compute_auto.info, "{}");

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "segment");
  fab_layer_stack_add_operator (stack, &op);
  const FabLayer *layer = fab_layer_stack_layer (stack, 0);
  FabPass pass = { .layer = layer,
                   .segment = fab_layer_segment (layer, 0),
                   .is_backward = TRUE,
                   .tokens = 1,
                   .n_split = 1,
                   .n_expert = 1,
                   .precision = FAB_PRECISION_BF16,
                   .efficiency = &megatron };
  double alone_s = fab_compute_auto.seconds (params->params, &device, &pass);

  assert_near (fab_compute_auto.seconds (slow->params, &device, &pass), 2e-3, 1e-9);
  pass.is_accumulating = TRUE;
  assert_near (fab_compute_auto.seconds (params->params, &device, &pass) - alone_s,
               4096.0 * 4096 * 6 / 0.85e12, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_cell_is_taken),
    cmocka_unit_test (effects_are_multiplied),
    cmocka_unit_test (what_nobody_measured_is_the_mean),
    cmocka_unit_test (auto_multiplies_the_rates),
    cmocka_unit_test (auto_knows_what_software_does),
  };

  return cmocka_run_group_tests_name ("efficiency", tests, NULL, NULL);
}
