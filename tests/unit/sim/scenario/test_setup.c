/* SPDX-License-Identifier: Apache-2.0 */
/* test_setup.c - entries of the catalogue's setups, and what `auto` makes of a software. */
#include "sim/scenario/setup.h"

#include <math.h>

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/test.h"

static const FabSetup entries[] = {
  { .name = "any", .time_factor = 1.1, .low_factor = 0.7, .high_factor = 1.5 },
  { .name = "eager", .stack = "eager", .time_factor = 1.1, .low_factor = 0.9, .high_factor = 1.2 },
  { .name = "experts", .stack = "experts", .time_factor = 1.1, .low_factor = 0.6, .high_factor = 2 },
  { .name = "anchored", .stack = "anchored", .time_factor = 1, .low_factor = 0.95, .high_factor = 1.05 },
};

static FabSetup
find (guint n, const FabSetupKey *key)
{
  const FabCatalogSections own = { .setups = { (gpointer) entries, n } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  return fab_setup_find (catalog, key);
}

static void
the_stack_has_its_own_entry (G_GNUC_UNUSED void **state)
{
  FabSetup found = find (G_N_ELEMENTS (entries), &(FabSetupKey){ .stack = "eager" });

  assert_string_equal (found.name, "eager");
  assert_near (found.high_factor, 1.2, 0);
}

/* Experts have theirs whatever the stack, and where there is none that of the stack. */
static void
divided_experts_have_an_entry (G_GNUC_UNUSED void **state)
{
  const FabSetupKey key = { .stack = "eager", .has_experts = TRUE };

  assert_string_equal (find (G_N_ELEMENTS (entries), &key).name, "experts");
  assert_string_equal (find (2, &key).name, "eager");
}

static void
others_have_that_of_all (G_GNUC_UNUSED void **state)
{
  FabSetup found = find (G_N_ELEMENTS (entries), &(FabSetupKey){ .stack = "nobody" });

  assert_string_equal (found.name, "any");
  assert_near (found.time_factor, 1.1, 0);
}

static void
anchored_compute_has_no_factor (G_GNUC_UNUSED void **state)
{
  FabSetup found = find (G_N_ELEMENTS (entries), &(FabSetupKey){ .stack = "eager", .is_anchored = TRUE });

  assert_near (found.time_factor, 1, 0);
  assert_near (found.high_factor, 1.05, 0);
  assert_string_equal (find (G_N_ELEMENTS (entries),
                             &(FabSetupKey){ .stack = "eager", .has_experts = TRUE, .is_anchored = TRUE })
                           .name,
                       "anchored");
}

/* Without an entry of its own it takes neither that of its software nor that of all. */
static void
anchored_compute_has_no_other_entry (G_GNUC_UNUSED void **state)
{
  FabSetup found = find (3, &(FabSetupKey){ .stack = "eager", .has_experts = TRUE, .is_anchored = TRUE });

  assert_null (found.name);
  assert_near (found.time_factor, 1, 0);
  assert_near (found.low_factor, 1, 0);
  assert_near (found.high_factor, 1, 0);
}

static void
without_entries_nothing_is_known (G_GNUC_UNUSED void **state)
{
  FabSetup found = find (0, &(FabSetupKey){ .stack = "eager" });

  assert_near (found.time_factor, 1, 0);
  assert_near (found.low_factor, 1, 0);
  assert_near (found.high_factor, 1, 0);
  assert_int_equal (found.evidence, FAB_SETUP_ASSUMED);
}

/* --- auto --- */

/* Nothing is known of products of such accelerators, so a large product reaches 0.88 of the best, which is half of the
 * peak: 108 TFLOP take 1 / 0.44 s, and half of it where the scenario doubles all rates. */
static double
product_seconds (const char *yaml)
{
  const FabOperator op = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = 108e9, .n_matrices = 1 };
  const FabDevice device = { .architecture = "unheard of",
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
                   .precision = FAB_PRECISION_BF16 };
  return fab_compute_auto.seconds (params->params, &device, &pass);
}

static void
a_scale_divides_the_time (G_GNUC_UNUSED void **state)
{
  assert_near (product_seconds ("{}"), 1 / 0.44, 1e-4);
  assert_near (product_seconds ("{scale: 200%}"), 1 / 0.44 / 2, 1e-4);
}

/* A weight of 4096 x 4096, 1 token backward. Megatron adds its gradient to the sum of the earlier micro-batches: 6 B
 * more for each parameter, at 85 % of 10 TB/s. Without a graph its host
 * issues a kernel in 60 us, which is longer than either takes. */
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
                             .memory_bytes_per_s = 10000000000000 };
  const FabSoftware megatron = { .stack = "megatron", .pytorch = 211 };
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
  g_autoptr (Params) params = params_new (&fab_compute_auto.info, "{graphs: all}");
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
                   .software = &megatron };
  double alone_s = fab_compute_auto.seconds (params->params, &device, &pass);

  assert_near (fab_compute_auto.seconds (slow->params, &device, &pass), fmax (alone_s, 120e-6), 1e-12);
  pass.is_accumulating = TRUE;
  assert_near (fab_compute_auto.seconds (params->params, &device, &pass) - alone_s,
               4096.0 * 4096 * 6 / 0.85e13, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_stack_has_its_own_entry),
    cmocka_unit_test (divided_experts_have_an_entry),
    cmocka_unit_test (others_have_that_of_all),
    cmocka_unit_test (anchored_compute_has_no_factor),
    cmocka_unit_test (anchored_compute_has_no_other_entry),
    cmocka_unit_test (without_entries_nothing_is_known),
    cmocka_unit_test (a_scale_divides_the_time),
    cmocka_unit_test (auto_knows_what_software_does),
  };

  return cmocka_run_group_tests_name ("setup", tests, NULL, NULL);
}
