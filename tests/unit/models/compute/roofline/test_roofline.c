/* SPDX-License-Identifier: Apache-2.0 */
/* test_roofline.c - tiles counted by hand, and what a pass is the sum of. */
#include "tests/support/test.h"

#include "models/compute/roofline/attention.h"
#include "models/compute/roofline/tiles.h"
#include "models/models.h"
#include "tests/support/params.h"

/* Of an architecture that nobody measured: 108 multiprocessors of 1 TFLOP/s, tiles with an overhead of 1 us, fed by 43
 * multiply-adds a number. */
/* A memory that never binds. */
static const FabReachedRates fast_memory = { 108e12, 1e20 };

static FabDevice
device_of_108 (void)
{
  return (FabDevice){ .architecture = "unheard of",
                      .peak_flops_per_s = { [FAB_PRECISION_BF16] = 108e12 },
                      .matmul_fraction = 1,
                      .n_sms = 108,
                      .memory_bytes_per_s = G_GUINT64_CONSTANT (1000000000000) };
}

static double
seconds_of (double rows, double columns, double depth)
{
  const FabDevice device = device_of_108 ();
  const FabMatmul matmul = { rows, columns, depth, 1 };

  return fab_tiles_seconds (&device, &fast_memory, &matmul, 2, 2);
}

/* 128 x 108 rows and 256 columns: 108 tiles of 128 x 256, one wave, each 2 x 128 x 256 x 3200 = 209.7 MFLOP at
 * 1 TFLOP/s, and 1 us. Any other tile needs two waves or more of half the size: the same work and another us. */
static void
a_full_wave_runs_at_the_rate (G_GNUC_UNUSED void **state)
{
  assert_near (seconds_of (128 * 108, 256, 3200), 209.7152e-6 + 1e-6, 1e-9);
}

/* One row more: 109 rows of tiles of 128 x 256, two waves, 421.4 us. Smaller tiles and splits leave less of the last
 * wave empty. The least: 64 x 128 in two splits, 217 x 2 x 2 = 868 tiles, 9 waves; a tile of depth 1600 at the speed of
 * 64 x 128 / 192 / 43 = 0.9922 takes 26.42 + 1 us: 246.8 us. Next come 64 x 128 in four (1736 tiles, 17 waves of depth
 * 800, counted as 832) with 250.5 us and 128 x 128 in four (872 tiles, 9 waves of 27.26 + 1) with 254.4 us. */
static void
a_row_more_costs_less_than_a_wave (G_GNUC_UNUSED void **state)
{
  double seconds = seconds_of (128 * 108 + 1, 256, 3200);

  assert_near (seconds, 9 * (2.0 * 64 * 128 * 1600 * 1e-12 * 43 * 192 / (64 * 128) + 1e-6), 1e-6);
}

/* One tile alone of 64 x 64 and a depth of 64: 2 x 64 x 64 x 64 FLOP / (64 / 2 / 43) / 1 TFLOP/s = 0.705 us + 1
 * us. */
static void
the_smallest_is_a_tile (G_GNUC_UNUSED void **state)
{
  assert_near (seconds_of (1, 1, 1), (2.0 * 64 * 64 * 64 * 43 / 32) * 1e-12 + 1e-6, 1e-9);
}

/* 128 x 128 of depth 16384 is one tile: 536.9 us. 16 splits of 1024: one wave of 33.55 + 1 us; 64 x 64 makes 4 tiles
 * and, with 16 splits, 64: one wave of 2 x 64 x 64 x 1024 x 43 / 32 = 11.27 us + 1 us. */
static void
a_deep_product_is_split (G_GNUC_UNUSED void **state)
{
  assert_near (seconds_of (128, 128, 16384), (2.0 * 64 * 64 * 1024 * 43 / 32) * 1e-12 + 1e-6, 1e-6);
}

/* One row: (1 + 4096) x 4096 x 2 B of operands and 8 kB of result over 1 TB/s: 33.6 us; its tiles take less. */
static void
few_rows_are_bound_by_the_weights (G_GNUC_UNUSED void **state)
{
  const FabDevice device = device_of_108 ();
  const FabReachedRates rates = { 108e12, 1e12 };
  const FabMatmul matmul = { 1, 4096, 4096, 1 };

  assert_near (fab_tiles_seconds (&device, &rates, &matmul, 2, 2), (4097.0 * 4096 * 2 + 8192) * 1e-12, 1e-9);
}

/* Without a count of multiprocessors there are no tiles. */
static void
unknown_devices_have_no_waves (G_GNUC_UNUSED void **state)
{
  FabDevice device = device_of_108 ();
  const FabMatmul matmul = { 100, 100, 100, 3 };

  device.n_sms = 0;
  assert_near (fab_tiles_seconds (&device, &fast_memory, &matmul, 2, 2), 6e6 / 108e12, 1e-12);
}

/* A TPU loses nothing by waves, but up to 35.3 MB move while nothing is multiplied, and a kernel starts in 1.59 us.
 * That is all 6 MB of a product of 1000 cubed, and 35.3 of 403 MB of 8192 cubed. The memory takes longer than both
 * for one row of 10000. */
static void
a_tpu_fills_before_it_multiplies (G_GNUC_UNUSED void **state)
{
  const FabDevice device = { .architecture = "tpu" };
  const FabReachedRates rates = { 100e12, 1e12 };
  const FabMatmul small = { 1000, 1000, 1000, 1 }, large = { 8192, 8192, 8192, 1 },
                  thin = { 1, 10000, 10000, 1 };

  assert_near (fab_tiles_seconds (&device, &rates, &small, 2, 2), 20e-6 + 6e-6 + 1.59e-6, 1e-12);
  assert_near (fab_tiles_seconds (&device, &rates, &large, 2, 2),
               2 * 8192.0 * 8192 * 8192 / 100e12 + 35.3e-6 + 1.59e-6, 1e-12);
  assert_near (fab_tiles_seconds (&device, &rates, &thin, 2, 2), 200.04e-6 + 1.59e-6, 1e-12);
}

/* --- passes --- */

static FabLayerStack *
one_operator (const FabOperator *op)
{
  FabLayerStack *stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "segment");
  fab_layer_stack_add_operator (stack, op);
  return stack;
}

/* 1000 tokens of a block in BF16, without gradients of earlier micro-batches. */
static FabPass
pass_of (const FabLayerStack *stack, gboolean is_backward, guint n_split)
{
  const FabLayer *layer = fab_layer_stack_layer (stack, 0);

  return (FabPass){ .layer = layer,
                    .segment = fab_layer_segment (layer, 0),
                    .is_backward = is_backward,
                    .tokens = 1000,
                    .n_split = n_split,
                    .n_expert = 1,
                    .precision = FAB_PRECISION_BF16 };
}

static double
run_seconds (const char *yaml, const FabDevice *device, const FabPass *pass)
{
  g_autoptr (Params) params = params_new (&fab_compute_roofline.info, yaml);

  return fab_compute_roofline.seconds (params->params, device, pass);
}

static double
pass_seconds (const char *yaml, const FabLayerStack *stack, gboolean is_backward, guint n_split)
{
  const FabDevice device = device_of_108 ();
  const FabPass pass = pass_of (stack, is_backward, n_split);

  return run_seconds (yaml, &device, &pass);
}

#define NO_START "achievable: 100%, launch: 0us, issue: 0us"

/* 1000 tokens x 800 B over 1 TB/s x 80 %: 1 us; backward twice; unfused twice; in two parts half, each. */
static void
memory_operators_move_bytes (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = 800, .is_split = TRUE };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  assert_near (pass_seconds ("{memory: 80%, " NO_START "}", stack, FALSE, 1), 1e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, " NO_START "}", stack, TRUE, 1), 2e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, fused: false, " NO_START "}", stack, FALSE, 1), 2e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, " NO_START "}", stack, FALSE, 2), 0.5e-6, 1e-12);
}

/* A kernel of 1 us: with a gap of 2 us 3 us; the host, which needs 5 us, decides as soon as that is more. */
static void
starting_costs_a_gap_or_the_host (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = 800 };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  assert_near (pass_seconds ("{memory: 80%, launch: 2us, issue: 0us}", stack, FALSE, 1), 3e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, launch: 2us, issue: 5us}", stack, FALSE, 1), 5e-6, 1e-12);
}

static double
attention_seconds (FabAttentionKernel kernel, double forward_flops, gboolean is_causal, gboolean is_backward)
{
  const FabDevice device = device_of_108 ();
  const FabAttention attention = { forward_flops, 256, 128, is_causal, is_backward };

  return fab_attention_seconds (&device, kernel, &attention, 108e12, 1);
}

/* 1000 tokens x 108 GFLOP, half of it where attention is causal; the kernel is that of attention.c. */
static void
attention_takes_what_its_kernel_takes (G_GNUC_UNUSED void **state)
{
  const FabOperator op = {
    .name = "scores", .kind = FAB_OPERATOR_ATTENTION, .flops = 108e9, .n = 256, .k = 128
  };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  assert_near (pass_seconds ("{" NO_START "}", stack, FALSE, 1),
               attention_seconds (FAB_ATTENTION_FLASH2, 54e12, TRUE, FALSE), 1e-9);
  assert_near (pass_seconds ("{causal: false, " NO_START "}", stack, FALSE, 1),
               attention_seconds (FAB_ATTENTION_FLASH2, 108e12, FALSE, FALSE), 1e-9);
  assert_near (pass_seconds ("{attention: cudnn, " NO_START "}", stack, TRUE, 1),
               attention_seconds (FAB_ATTENTION_CUDNN, 54e12, TRUE, TRUE), 1e-9);
}

/* A score is 4 x 128 FLOP, so 108 GFLOP are 211e6 scores a token; they cost 8 B each where kernels are fused, 16 B in
 * eager software, and the products run at the rate of matrices, with all scores. */
static void
unfused_attention_moves_its_scores (G_GNUC_UNUSED void **state)
{
  const FabOperator op = {
    .name = "scores", .kind = FAB_OPERATOR_ATTENTION, .flops = 108e9, .n = 256, .k = 128
  };
  g_autoptr (FabLayerStack) stack = one_operator (&op);
  const double scores = 108e12 / 512;

  assert_near (pass_seconds ("{attention: unfused, memory: 100%, " NO_START "}", stack, FALSE, 1),
               1 + scores * 8 / 1e12, 1e-6);
  assert_near (pass_seconds ("{attention: unfused, fused: false, memory: 100%, " NO_START "}", stack, TRUE,
                             1),
               2 * (1 + scores * 16 / 1e12), 1e-6);
}

/* However wide heads are: 108 TFLOP at the rate of matrices take 1 s, and 4 FLOP for each number of a head are a score.
 * Where the width is not known no scores are counted. */
static void
scores_are_counted_by_the_width_of_heads (G_GNUC_UNUSED void **state)
{
  for (guint width = 0; width <= 3; width++) {
    const FabOperator op = {
      .name = "scores", .kind = FAB_OPERATOR_ATTENTION, .flops = 108e9, .n = 256, .k = width
    };
    g_autoptr (FabLayerStack) stack = one_operator (&op);

    assert_near (pass_seconds ("{attention: unfused, memory: 100%, " NO_START "}", stack, FALSE, 1),
                 1 + (width > 0 ? 108e12 / 4 / width * 8 / 1e12 : 0), 1e-6);
  }
}

/* Kept scores: all 108 TFLOP at the rate of matrices, 1 s, and 1000 x 1 GB over 1 TB/s, 1 s. */
static void
kept_scores_go_through_memory (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "scores", .kind = FAB_OPERATOR_ATTENTION, .flops = 108e9, .bytes = 1e9 };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  g_array_index (g_array_index (stack->layers, FabLayer, 0).segments, FabSegment, 0).saved_score_bytes = 5;
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, FALSE, 1), 2, 1e-9);
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, TRUE, 1), 4, 1e-9);
}

static void
add_matrix (FabLayerStack *stack, gint64 n, gint64 k, gint64 n_matrices, double per_token)
{
  const FabOperator op = { .name = "matrix",
                           .kind = FAB_OPERATOR_MATMUL,
                           .flops = 2.0 * (double) (n * k) * per_token,
                           .n = n,
                           .k = k,
                           .n_matrices = n_matrices,
                           .is_split = TRUE };

  fab_layer_stack_add_operator (stack, &op);
}

static double
product_seconds (double rows, double columns, double depth, double n_copies)
{
  const FabDevice device = device_of_108 ();
  const FabReachedRates rates = { 108e12, 1e12 };
  const FabMatmul matmul = { rows, columns, depth, n_copies };

  return fab_tiles_seconds (&device, &rates, &matmul, 2, 2);
}

/* Backward multiplies by the transposed weight (columns and depth change places), and by the input. */
static void
backward_is_two_products (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "segment");
  add_matrix (stack, 4096, 1024, 1, 1);
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, FALSE, 1),
               product_seconds (1000, 4096, 1024, 1), 1e-12);
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, TRUE, 1),
               product_seconds (1000, 1024, 4096, 1) + product_seconds (4096, 1024, 1000, 1), 1e-12);
}

/* Two ranks: the first matrix loses columns, the last one rows. */
static void
tensor_parallel_ranks_divide_columns_then_rows (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "mlp");
  add_matrix (stack, 4096, 1024, 1, 1);
  add_matrix (stack, 1024, 4096, 1, 1);
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, FALSE, 2),
               product_seconds (1000, 2048, 1024, 1) + product_seconds (1000, 1024, 2048, 1), 1e-12);
}

/* 1000 tokens to 2 of 8 experts each: 250 tokens per expert, as one kernel. */
static void
experts_share_the_tokens (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
  fab_layer_stack_add_segment (stack, "experts");
  add_matrix (stack, 512, 256, 8, 2);
  assert_near (pass_seconds ("{memory: 100%, " NO_START "}", stack, FALSE, 1),
               product_seconds (250, 512, 256, 8), 1e-12);
}

/* A matrix of no known shape, 108 GFLOP for each of 1000 tokens: 1 s at peak, of which 88 % are reached by default
 * (the device's best product reaches all of it). */
static void
a_usual_product_is_not_the_best_one (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = 108e9, .n_matrices = 1 };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  assert_near (pass_seconds ("{launch: 0us, issue: 0us}", stack, FALSE, 1), 1 / 0.88, 1e-9);
  assert_near (pass_seconds ("{achievable: 50%, launch: 0us, issue: 0us}", stack, TRUE, 1), 4, 1e-9);
}

/* Everything is divided by the scale, the host too: a kernel of 1 us and a host of 5 us. */
static void
a_scale_divides_every_pass (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = 800 };
  g_autoptr (FabLayerStack) stack = one_operator (&op);

  assert_near (pass_seconds ("{memory: 80%, scale: 50%, " NO_START "}", stack, FALSE, 1), 2e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, scale: 125%, launch: 0us, issue: 5us}", stack, FALSE, 1), 4e-6,
               1e-12);
}

/* A norm that tensor parallelism does not divide, and an activation that it does: 8000 bytes per token each, 4
 * ranks. With sequence parallelism a rank has 250 of 1000 tokens in the norm, and a quarter of the activation either
 * way. */
static void
sequence_parallelism_divides_norms (G_GNUC_UNUSED void **state)
{
  const FabDevice device = device_of_108 ();
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
  g_autoptr (Params) params = params_new (&fab_compute_roofline.info, "{launch: 0s, issue: 0s}");
  FabPass pass = { .tokens = 1000, .n_split = 4, .n_expert = 1, .precision = FAB_PRECISION_BF16 };

  fab_layer_stack_add_layer (stack, g_strdup ("l"), 0);
  fab_layer_stack_add_segment (stack, "s");
  fab_layer_stack_add_operator (
      stack, &(FabOperator){ .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = 8000, .flops = 4 });
  fab_layer_stack_add_operator (
      stack, &(FabOperator){
                 .name = "act", .kind = FAB_OPERATOR_MEMORY, .bytes = 8000, .flops = 4, .is_split = TRUE });
  pass.layer = fab_layer_stack_layer (stack, 0);
  pass.segment = fab_layer_segment (pass.layer, 0);
  double whole = fab_compute_roofline.seconds (params->params, &device, &pass);
  assert_near (fab_pass_flops (&pass), 4 * 1000 + 1000, 0);
  pass.shared_tokens = 250;
  assert_near (fab_compute_roofline.seconds (params->params, &device, &pass) / whole, 500.0 / 1250, 1e-9);
  assert_near (fab_pass_flops (&pass), 1000 + 1000, 0);
}

/* An RMS norm in Python is eight kernels; a layer norm is one, at 0.66 of their rate. In FP32 activations are twice as
 * long. */
static void
eager_software_divides_operators (G_GNUC_UNUSED void **state)
{
  const FabOperator rms = { .name = "rms_norm", .kind = FAB_OPERATOR_MEMORY, .bytes = 800 };
  const FabOperator layer = { .name = "norm", .kind = FAB_OPERATOR_MEMORY, .bytes = 800 };
  g_autoptr (FabLayerStack) rms_stack = one_operator (&rms), layer_stack = one_operator (&layer);
  const FabDevice device = device_of_108 ();
  FabPass pass = pass_of (layer_stack, FALSE, 1);

  assert_near (pass_seconds ("{memory: 80%, fused: false, " NO_START "}", rms_stack, FALSE, 1), 8e-6, 1e-12);
  assert_near (pass_seconds ("{memory: 80%, fused: false, " NO_START "}", layer_stack, FALSE, 1), 1e-6 / 0.66,
               1e-12);
  pass.precision = FAB_PRECISION_FP32;
  assert_near (run_seconds ("{memory: 80%, " NO_START "}", &device, &pass), 2e-6 / 0.66, 1e-12);
}

/* FP8 at twice the peak: only the linear layers of blocks; a head (no block) takes its time in BF16. The operands are
 * cast: 4096 x 1000 numbers, 2 B read, 2 x 1 B written, at 1 TB/s. */
static void
low_precision_is_for_linear_layers (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLayerStack) block = fab_layer_stack_new (), head = fab_layer_stack_new ();
  FabDevice device = device_of_108 ();
  FabReachedRates rates = { 216e12, 1e12 };
  const FabMatmul matmul = { 1000, 8192, 4096, 1 };
  FabPass pass;

  device.peak_flops_per_s[FAB_PRECISION_FP8] = 216e12;
  fab_layer_stack_add_layer (block, g_strdup ("block0"), 0)->is_block = TRUE;
  fab_layer_stack_add_segment (block, "mlp");
  add_matrix (block, 8192, 4096, 1, 1);
  fab_layer_stack_add_layer (head, g_strdup ("head"), 0);
  fab_layer_stack_add_segment (head, "head");
  add_matrix (head, 8192, 4096, 1, 1);
  pass = pass_of (block, FALSE, 1);
  pass.precision = FAB_PRECISION_FP8;
  assert_near (run_seconds ("{memory: 100%, " NO_START "}", &device, &pass),
               fab_tiles_seconds (&device, &rates, &matmul, 1, 2) + 4096.0 * 1000 * 4 / 1e12, 1e-12);
  pass.layer = fab_layer_stack_layer (head, 0);
  pass.segment = fab_layer_segment (pass.layer, 0);
  rates.flops_per_s = 108e12;
  assert_near (run_seconds ("{memory: 100%, " NO_START "}", &device, &pass),
               fab_tiles_seconds (&device, &rates, &matmul, 2, 2), 1e-12);
}

/* Any factor but 1 comes from a measured run. */
static void
a_scale_is_an_anchor (G_GNUC_UNUSED void **state)
{
  static const char *const anchored[] = { "0.01", "0.5", "0.999", "1.001", "1.5", "2", "2.5", "10" };
  g_autoptr (Params) plain = params_new (&fab_compute_roofline.info, "{}"),
                     one = params_new (&fab_compute_roofline.info, "{scale: 1}");

  assert_int_equal (fab_compute_roofline.basis (plain->params), FAB_COMPUTE_OPERATORS);
  assert_int_equal (fab_compute_roofline.basis (one->params), FAB_COMPUTE_OPERATORS);
  for (guint i = 0; i < G_N_ELEMENTS (anchored); i++) {
    g_autofree char *yaml = g_strdup_printf ("{scale: %s}", anchored[i]);
    g_autoptr (Params) params = params_new (&fab_compute_roofline.info, yaml);

    assert_int_equal (fab_compute_roofline.basis (params->params), FAB_COMPUTE_ANCHORED);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sequence_parallelism_divides_norms),
    cmocka_unit_test (a_full_wave_runs_at_the_rate),
    cmocka_unit_test (a_row_more_costs_less_than_a_wave),
    cmocka_unit_test (the_smallest_is_a_tile),
    cmocka_unit_test (a_deep_product_is_split),
    cmocka_unit_test (few_rows_are_bound_by_the_weights),
    cmocka_unit_test (unknown_devices_have_no_waves),
    cmocka_unit_test (a_tpu_fills_before_it_multiplies),
    cmocka_unit_test (memory_operators_move_bytes),
    cmocka_unit_test (starting_costs_a_gap_or_the_host),
    cmocka_unit_test (attention_takes_what_its_kernel_takes),
    cmocka_unit_test (unfused_attention_moves_its_scores),
    cmocka_unit_test (scores_are_counted_by_the_width_of_heads),
    cmocka_unit_test (kept_scores_go_through_memory),
    cmocka_unit_test (backward_is_two_products),
    cmocka_unit_test (tensor_parallel_ranks_divide_columns_then_rows),
    cmocka_unit_test (experts_share_the_tokens),
    cmocka_unit_test (a_usual_product_is_not_the_best_one),
    cmocka_unit_test (a_scale_divides_every_pass),
    cmocka_unit_test (a_scale_is_an_anchor),
    cmocka_unit_test (eager_software_divides_operators),
    cmocka_unit_test (low_precision_is_for_linear_layers),
  };

  return cmocka_run_group_tests_name ("roofline", tests, NULL, NULL);
}
