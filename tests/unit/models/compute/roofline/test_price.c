/* SPDX-License-Identifier: Apache-2.0 */
/* test_price.c - what a pass is the sum of, for every kind of pass, precision and software (price.c).
 *
 * 1000 tokens on 108 multiprocessors of 1 TFLOP/s in BF16, twice that in FP8 and four times in NVFP4, with a memory of
 * 1 TB/s.
 */
#include "tests/support/test.h"

#include "models/compute/roofline/price.h"
#include "models/compute/roofline/tiles.h"

enum { TOKENS = 1000, N = 4096, K = 1024 };

static const double memory_rate = 1e12, peak = 108e12;

static FabDevice
device_new (void)
{
  return (FabDevice){ .architecture = "unheard of",
                      .peak_flops_per_s = { [FAB_PRECISION_BF16] = peak,
                                            [FAB_PRECISION_FP32] = peak / 2,
                                            [FAB_PRECISION_FP8] = 2 * peak,
                                            [FAB_PRECISION_NVFP4] = 4 * peak },
                      .matmul_fraction = 1,
                      .n_sms = 108,
                      .memory_bytes_per_s = 1000000000000 };
}

static FabPricing
pricing_new (void)
{
  return (FabPricing){ .achievable_fraction = 1,
                       .memory_fraction = 1,
                       .scale_factor = 1,
                       .attention = FAB_ATTENTION_FLASH2,
                       .kernels = { .is_fused = TRUE } };
}

static double
peak_of (FabPrecision precision)
{
  return precision == FAB_PRECISION_NVFP4 ? 4 * peak
       : precision == FAB_PRECISION_FP8   ? 2 * peak
       : precision == FAB_PRECISION_FP32  ? peak / 2
                                          : peak;
}

static double
product_s (FabPrecision precision, double rows, double columns, double depth, double n_copies)
{
  const FabDevice device = device_new ();
  const FabReachedRates rates = { peak_of (precision), memory_rate };
  const FabMatmul matmul = { rows, columns, depth, n_copies };

  return fab_tiles_seconds (&device, &rates, &matmul, fab_precision_operand_bytes (precision),
                            precision == FAB_PRECISION_FP32 ? 4 : 2);
}

typedef enum { FORWARD, BACKWARD, INPUTS, WEIGHTS, N_KINDS } Kind;

/* A matrix in a block, and what the kernels before and after it take where there are such. */
typedef struct {
  Kind kind;
  FabPrecision precision;
  gboolean has_autocast, is_accumulating, is_frozen, is_block;
  guint n_experts; /* of which each token goes to two; 1: one matrix */
  const char *name;
} Case;

static FabComputeParts
parts_of (const Case *c, const FabOperator *op)
{
  const FabDevice device = device_new ();
  FabPricing pricing = pricing_new ();
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  pricing.has_autocast = c->has_autocast;
  pricing.accumulation_bytes = 10;
  pricing.launch_ps = 1000000;
  fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0)->is_block = c->is_block;
  fab_layer_stack_add_segment (stack, "segment");
  fab_layer_stack_add_operator (stack, op);
  const FabLayer *layer = fab_layer_stack_layer (stack, 0);
  const FabPass pass = { .layer = layer,
                         .segment = fab_layer_segment (layer, 0),
                         .is_backward = c->kind != FORWARD,
                         .gradients = c->kind == INPUTS  ? FAB_GRADIENTS_INPUTS
                                    : c->kind == WEIGHTS ? FAB_GRADIENTS_WEIGHTS
                                                         : FAB_GRADIENTS_ALL,
                         .tokens = TOKENS,
                         .n_split = 1,
                         .n_expert = 1,
                         .precision = c->precision,
                         .is_accumulating = c->is_accumulating };

  return fab_price_parts (&pricing, &device, &pass);
}

/* Forward is one product, and backward one for the gradient of the input and, of a matrix that is trained, one for that
 * of the weights. A low precision, which linear layers of blocks have alone, is made of 16 bits by a kernel of its own,
 * which reads them (twice for NVFP4) and writes two tensors: one for each of the two products of a backward pass. So a
 * pass for the weights alone, which comes after that for the inputs, casts nothing. Autocast reads 4 and writes 2 bytes
 * of a weight, or of its gradient the other way. Gradients of earlier micro-batches are added to those of a trained
 * weight. */
static void
check_matrix (const Case *c)
{
  const FabOperator op = { .name = c->name,
                           .kind = FAB_OPERATOR_MATMUL,
                           .flops = 2.0 * N * K * (c->n_experts > 1 ? 2 : 1),
                           .n = N,
                           .k = K,
                           .n_matrices = c->n_experts,
                           .is_frozen = c->is_frozen };
  gboolean is_low = c->precision == FAB_PRECISION_FP8 || c->precision == FAB_PRECISION_NVFP4;
  gboolean is_linear = c->is_block && g_strcmp0 (c->name, "router") != 0;
  FabPrecision precision = is_low && !is_linear ? FAB_PRECISION_BF16 : c->precision;
  gboolean has_input = c->kind == BACKWARD || c->kind == INPUTS,
           has_weight = !c->is_frozen && (c->kind == BACKWARD || c->kind == WEIGHTS),
           has_cast = is_low && is_linear && c->kind != WEIGHTS,
           casts_weight = c->has_autocast && (c->kind == FORWARD || has_weight);
  double n = c->n_experts, all_rows = c->n_experts > 1 ? 2.0 * TOKENS : TOKENS, rows = all_rows / n;
  double products_s = (c->kind == FORWARD ? product_s (precision, rows, N, K, n) : 0)
                    + (has_input ? product_s (precision, rows, K, N, n) : 0)
                    + (has_weight ? product_s (precision, N, K, rows, n) : 0);
  double cast_bytes = has_cast ? all_rows * (c->kind == FORWARD ? K : N)
                                     * ((precision == FAB_PRECISION_NVFP4 ? 4 : 2)
                                        + 2 * fab_precision_operand_bytes (precision))
                               : 0;
  double bytes = cast_bytes + (casts_weight ? 6.0 * N * K * n : 0)
               + (has_weight && c->is_accumulating ? 10.0 * N * K * n : 0);
  guint n_kernels = (c->kind == FORWARD) + has_input + has_weight + has_cast + casts_weight;
  FabComputeParts parts = parts_of (c, &op);

  if (!is_near (parts.products_s, products_s, 1e-12)
      || !is_near (parts.memory_bound_s, bytes / memory_rate, 1e-12)
      || !is_near (parts.launches_s, n_kernels * 1e-6, 1e-12) || parts.host_s > 0 || parts.attention_s > 0
      || parts.copies_s > 0 || parts.readback_s > 0)
    fail_msg ("%s, kind %d, precision %d, autocast %d, accumulating %d, frozen %d: %g, %g and %g s", c->name,
              c->kind, c->precision, c->has_autocast, c->is_accumulating, c->is_frozen, parts.products_s,
              parts.memory_bound_s, parts.launches_s);
}

static void
matrices_have_the_kernels_of_their_pass (G_GNUC_UNUSED void **state)
{
  static const FabPrecision precisions[] = { FAB_PRECISION_BF16, FAB_PRECISION_FP32, FAB_PRECISION_FP8,
                                             FAB_PRECISION_NVFP4 };

  for (Kind kind = FORWARD; kind < N_KINDS; kind++)
    for (guint p = 0; p < G_N_ELEMENTS (precisions); p++)
      for (guint flags = 0; flags < 64; flags++)
        check_matrix (&(Case){ .kind = kind,
                               .precision = precisions[p],
                               .has_autocast = flags & 1,
                               .is_accumulating = (flags & 2) != 0,
                               .is_frozen = (flags & 4) != 0,
                               .is_block = (flags & 8) != 0,
                               .n_experts = flags & 32 ? 8 : 1,
                               .name = flags & 16 ? "router" : "up" });
}

/* A matrix of no known shape takes its FLOPs at the rate of the pass, once for each product, and no tiles. */
static void
shapeless_work_takes_its_flops (G_GNUC_UNUSED void **state)
{
  const FabOperator op = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = 1e9, .n_matrices = 1 };

  for (Kind kind = FORWARD; kind < N_KINDS; kind++)
    for (guint is_frozen = 0; is_frozen < 2; is_frozen++) {
      FabOperator one = op;
      guint n = kind == FORWARD ? 1 : (kind != WEIGHTS) + (kind != INPUTS && !is_frozen);

      one.is_frozen = (gboolean) is_frozen;
      FabComputeParts parts = parts_of (&(Case){ .kind = kind, .precision = FAB_PRECISION_BF16 }, &one);

      assert_near (parts.products_s, n * 1e9 * TOKENS / peak, 1e-12);
      assert_near (parts.launches_s, n * 1e-6, 1e-12);
    }
}

/* What only moves memory has no weights, and in 4 bytes moves twice as much. Under autocast norms work in 4 bytes, and
 * hand them to a cast of 4 to 2 bytes; the residual stream has 4 bytes and what is added to it 2: 10 bytes for 6, and
 * backward 12. What is looked up is written in 4. */
static void
memory_moves_what_its_types_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double forward, backward, casts; /* of autocast, over what is moved without it; of norms, kernels more */
  } rows[] = { { "residual", 10 / 6.0, 2, 0 }, { "norm", 2, 2, 1 },       { "rms_norm", 2, 2, 1 },
               { "lookup", 2, 2, 0 },          { "activation", 1, 1, 0 }, { "rotary", 1, 1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (Kind kind = FORWARD; kind < N_KINDS; kind++) {
      const FabOperator op = { .name = rows[i].name, .kind = FAB_OPERATOR_MEMORY, .bytes = 600 };
      Case plain = { .kind = kind, .precision = FAB_PRECISION_BF16 }, wide = plain, autocast = plain;

      wide.precision = FAB_PRECISION_FP32;
      autocast.has_autocast = TRUE;
      FabComputeParts one = parts_of (&plain, &op), two = parts_of (&wide, &op),
                      mixed = parts_of (&autocast, &op);

      if (kind == WEIGHTS) {
        assert_near (fab_compute_parts_sum (&one) + fab_compute_parts_sum (&two)
                         + fab_compute_parts_sum (&mixed),
                     0, 0);
        continue;
      }
      assert_true (one.memory_bound_s > 0 && one.launches_s > 0);
      assert_near (two.memory_bound_s, 2 * one.memory_bound_s, 1e-12);
      assert_near (mixed.memory_bound_s,
                   one.memory_bound_s * (kind == FORWARD ? rows[i].forward : rows[i].backward)
                       + 600.0 * TOKENS * rows[i].casts * 6 / 4 / memory_rate,
                   1e-12);
      assert_near (mixed.launches_s - one.launches_s, rows[i].casts * 1e-6, 1e-12);
    }
}

/* Each matrix that reads what a norm wrote casts it for itself: as many as the segment says, or one. */
static void
every_reader_of_a_norm_casts_it (G_GNUC_UNUSED void **state)
{
  const FabDevice device = device_new ();
  const FabOperator op = { .name = "norm", .kind = FAB_OPERATOR_MEMORY, .bytes = 600 };

  for (guint n_readers = 0; n_readers <= 3; n_readers++)
    for (guint is_input = 0; is_input < 2; is_input++) {
      FabPricing pricing = pricing_new ();
      g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
      double factor[2];

      fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
      fab_layer_stack_add_segment (stack, "segment");
      fab_layer_stack_add_operator (stack, &op);
      fab_layer_stack_add_saved (
          stack, &(FabSaved){ .name = "other", .kind = FAB_SAVED_STREAM, .bytes = 2, .n_readers = 7 });
      fab_layer_stack_add_saved (stack, &(FabSaved){ .name = "qkv",
                                                     .bytes = 2,
                                                     .kind = FAB_SAVED_NORM,
                                                     .is_input = (gboolean) is_input,
                                                     .n_readers = n_readers });
      const FabLayer *layer = fab_layer_stack_layer (stack, 0);
      const FabPass pass = { .layer = layer,
                             .segment = fab_layer_segment (layer, 0),
                             .tokens = TOKENS,
                             .n_split = 1,
                             .n_expert = 1,
                             .precision = FAB_PRECISION_BF16 };

      for (guint casts = 0; casts < 2; casts++) {
        pricing.has_autocast = (gboolean) casts;
        factor[casts] = fab_price_parts (&pricing, &device, &pass).memory_bound_s;
      }
      assert_near (factor[1] - 2 * factor[0],
                   (is_input ? MAX (n_readers, 1) : 1) * 600.0 * TOKENS * 6 / 4 / memory_rate, 1e-9);
    }
}

/* No scale lets a kernel exceed what the device has. */
static void
a_scale_stops_at_the_device (G_GNUC_UNUSED void **state)
{
  static const struct {
    double scale_factor, reached;
  } rows[] = { { 0.5, 0.25 }, { 1, 0.5 }, { 1.5, 0.75 }, { 2, 1 }, { 3, 1 } };
  const FabDevice device = device_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabOperator work = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = 1e9, .n_matrices = 1 },
                      move = { .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = 600 };
    FabPricing pricing = pricing_new ();
    g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

    pricing.scale_factor = rows[i].scale_factor;
    pricing.achievable_fraction = pricing.memory_fraction = 0.5;
    fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
    fab_layer_stack_add_segment (stack, "segment");
    fab_layer_stack_add_operator (stack, &work);
    fab_layer_stack_add_operator (stack, &move);
    const FabLayer *layer = fab_layer_stack_layer (stack, 0);
    const FabPass pass = { .layer = layer,
                           .segment = fab_layer_segment (layer, 0),
                           .tokens = TOKENS,
                           .n_split = 1,
                           .n_expert = 1,
                           .precision = FAB_PRECISION_BF16 };
    FabComputeParts parts = fab_price_parts (&pricing, &device, &pass);

    assert_near (parts.products_s, 1e9 * TOKENS / peak / rows[i].reached, 1e-12);
    assert_near (parts.memory_bound_s, 600.0 * TOKENS / memory_rate / rows[i].reached, 1e-12);
  }
}

/* The host issues kernels of 1 us every 5 us: what they take meanwhile hides as much of it. */
static void
the_host_is_behind_by_what_kernels_do_not_take (G_GNUC_UNUSED void **state)
{
  static const double bytes[] = { 100, 2000, 3999, 4001, 8000 };
  const FabDevice device = device_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++) {
    const FabOperator op = { .name = "other", .kind = FAB_OPERATOR_MEMORY, .bytes = bytes[i] };
    g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();
    FabPricing pricing = pricing_new ();

    pricing.launch_ps = 1000000;
    pricing.issue_ps = 5000000;
    fab_layer_stack_add_layer (stack, g_strdup ("layer"), 0);
    fab_layer_stack_add_segment (stack, "segment");
    fab_layer_stack_add_operator (stack, &op);
    const FabLayer *layer = fab_layer_stack_layer (stack, 0);
    const FabPass pass = { .layer = layer,
                           .segment = fab_layer_segment (layer, 0),
                           .tokens = TOKENS,
                           .n_split = 1,
                           .n_expert = 1,
                           .precision = FAB_PRECISION_BF16 };
    FabComputeParts parts = fab_price_parts (&pricing, &device, &pass);
    double kernel_s = bytes[i] * TOKENS / memory_rate;

    assert_near (parts.memory_bound_s, kernel_s, 1e-12);
    assert_near (parts.host_s, MAX (4e-6 - kernel_s, 0), 1e-9);
    assert_near (fab_price_pass (&pricing, &device, &pass), MAX (5e-6, kernel_s + 1e-6), 1e-9);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (matrices_have_the_kernels_of_their_pass),
    cmocka_unit_test (shapeless_work_takes_its_flops),
    cmocka_unit_test (memory_moves_what_its_types_are),
    cmocka_unit_test (every_reader_of_a_norm_casts_it),
    cmocka_unit_test (a_scale_stops_at_the_device),
    cmocka_unit_test (the_host_is_behind_by_what_kernels_do_not_take),
  };

  return cmocka_run_group_tests_name ("price", tests, NULL, NULL);
}
