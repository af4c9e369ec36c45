/* SPDX-License-Identifier: Apache-2.0 */
/* test_compute.c - what every compute model must do, for every row there is. */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/params.h"

static const double peak = 312e12;

/* Measured times are what they are, and no device has a say in them. */
static gboolean
is_measured (const FabComputeOps *ops)
{
  return ops == &fab_compute_measured;
}

static Params *
params_of (const FabComputeOps *ops)
{
  return params_new (&ops->info,
                     is_measured (ops) ? "{times: [{layer: layer, forward: 1ms, tokens: 100}]}" : "");
}

static void
add_matrix (FabLayerStack *stack, gint64 n, gint64 k, gint64 n_matrices)
{
  const FabOperator op = { .name = "matrix",
                           .kind = FAB_OPERATOR_MATMUL,
                           .flops = 2.0 * (double) (n * k),
                           .bytes = 2.0 * (double) (n + k),
                           .n = n,
                           .k = k,
                           .n_matrices = n_matrices,
                           .is_split = TRUE };

  fab_layer_stack_add_operator (stack, &op);
}

/* A square; a block of a transformer; experts; a matrix whose size fits no tile. */
static FabLayerStack *
some_layers (void)
{
  const FabOperator norm = { .name = "norm", .kind = FAB_OPERATOR_MEMORY, .bytes = 8192 };
  FabLayerStack *stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("layer0"), 8192);
  fab_layer_stack_add_segment (stack, "square");
  add_matrix (stack, 4096, 4096, 1);
  fab_layer_stack_add_layer (stack, g_strdup ("layer1"), 8192);
  fab_layer_stack_add_segment (stack, "mlp");
  fab_layer_stack_add_operator (stack, &norm);
  add_matrix (stack, 16384, 4096, 1);
  add_matrix (stack, 4096, 16384, 1);
  fab_layer_stack_add_layer (stack, g_strdup ("layer2"), 8192);
  fab_layer_stack_add_segment (stack, "experts");
  add_matrix (stack, 1024, 2048, 64);
  add_matrix (stack, 2048, 1024, 64);
  fab_layer_stack_add_layer (stack, g_strdup ("layer3"), 8192);
  fab_layer_stack_add_segment (stack, "odd");
  add_matrix (stack, 1031, 3001, 1);
  return stack;
}

typedef struct {
  const FabComputeOps *ops;
  const Params *params;
  const FabDevice *device;
} Model;

static double
seconds_of (const Model *model, const FabLayer *layer, gboolean is_backward, double tokens, guint n_split)
{
  FabPass pass = { .layer = layer,
                   .segment = fab_layer_segment (layer, 0),
                   .is_backward = is_backward,
                   .tokens = tokens,
                   .shared_tokens = tokens,
                   .n_split = n_split,
                   .n_expert = 1,
                   .precision = FAB_PRECISION_BF16 };
  double seconds = model->ops->seconds (model->params->params, model->device, &pass);

  assert_true (isfinite (seconds) && seconds > 0);
  if (!is_measured (model->ops))
    assert_true (seconds >= fab_pass_flops (&pass) / peak * (1 - 1e-12));
  return seconds;
}

/* Not faster than the peak; more work never takes less time; backward no less than forward from 64 tokens on (fewer
 * fill no tile, and a deep narrow matrix is then slower forward); n ranks take no less than
 * an nth of one and no more than one. */
static void
check_layer (const Model *model, const FabLayer *layer)
{
  double before_s = 0;

  for (double tokens = 1; tokens < 1e9; tokens *= 1.7) {
    double forward_s = seconds_of (model, layer, FALSE, tokens, 1);
    double backward_s = seconds_of (model, layer, TRUE, tokens, 1);

    assert_true (forward_s + backward_s >= before_s);
    if (tokens >= 64 && backward_s < forward_s)
      fail_msg ("%s, %s, %s: %g tokens take %g s forward, %g s backward", model->ops->info.name,
                model->device->architecture, layer->name, tokens, forward_s, backward_s);
    before_s = forward_s + backward_s;
    for (guint n = 2; n <= 16; n *= 2) {
      assert_true (seconds_of (model, layer, FALSE, tokens, n) >= forward_s / n * (1 - 1e-12));
      assert_true (seconds_of (model, layer, FALSE, tokens, n) <= forward_s * (1 + 1e-12));
      assert_true (seconds_of (model, layer, TRUE, tokens, n) >= backward_s / n * (1 - 1e-12));
      assert_true (seconds_of (model, layer, TRUE, tokens, n) <= backward_s * (1 + 1e-12));
    }
  }
}

static void
every_compute_model_keeps_its_contract (G_GNUC_UNUSED void **state)
{
  static const char *const architectures[] = { "volta", "ampere", "hopper", "blackwell", "cdna3", NULL };
  g_autoptr (FabLayerStack) stack = some_layers ();

  for (guint i = 0; fab_models.lists[FAB_MODEL_COMPUTE][i]; i++)
    for (guint a = 0; a < G_N_ELEMENTS (architectures); a++) {
      const FabComputeOps *ops = (const FabComputeOps *) fab_models.lists[FAB_MODEL_COMPUTE][i];
      const FabDevice device = { .architecture = architectures[a],
                                 .peak_flops_per_s = { [FAB_PRECISION_BF16] = peak },
                                 .matmul_fraction = 0.87,
                                 .n_sms = 108,
                                 .memory_bytes = 80000000000,
                                 .memory_bytes_per_s = 2000000000000 };
      g_autoptr (Params) params = params_of (ops);
      const Model model = { ops, params, &device };
      FabModelChoice choice = { &ops->info, params->params };

      assert_true (fab_compute_check_layers (&choice, stack, NULL));
      for (guint l = 0; l < stack->layers->len; l++)
        check_layer (&model, fab_layer_stack_layer (stack, l));
    }
}

/* A type without a peak of its own is multiplied as the one that it is widened to. */
static void
missing_peaks_are_those_of_wider_types (G_GNUC_UNUSED void **state)
{
  const FabDevice device = { .peak_flops_per_s = { [FAB_PRECISION_BF16] = 100, [FAB_PRECISION_FP32] = 10 } };

  assert_near (fab_device_peak (&device, FAB_PRECISION_FP8), 100, 0);
  assert_near (fab_device_peak (&device, FAB_PRECISION_TF32), 10, 0);
  assert_near (fab_device_peak (&device, FAB_PRECISION_MXFP8), 100, 0);
  assert_near (fab_device_peak (&device, FAB_PRECISION_NVFP4), 100, 0);
  assert_near (fab_device_peak (&device, FAB_PRECISION_BF16), 100, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_compute_model_keeps_its_contract),
    cmocka_unit_test (missing_peaks_are_those_of_wider_types),
  };

  return cmocka_run_group_tests_name ("compute", tests, NULL, NULL);
}
