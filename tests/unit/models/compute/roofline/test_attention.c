/* SPDX-License-Identifier: Apache-2.0 */
/* test_attention.c - times of fused attention by hand, with constants read from the model's own table. */
#include "tests/support/test.h"

#include "models/compute/roofline/attention.h"

static const double peak_flops_per_s = 100e12, kernel_s = 3e-6;
static const double tokens = 4096, width = 128, heads = 32;

static FabDevice
device_of (const char *architecture)
{
  return (FabDevice){ .architecture = architecture,
                      .peak_flops_per_s = { [FAB_PRECISION_BF16] = 100e12 },
                      .n_sms = 100 };
}

/* One sequence of 32 heads; half of the square where it is causal. */
static FabAttention
attention (gboolean is_causal, gboolean is_backward)
{
  return (FabAttention){ .forward_flops = 4 * heads * tokens * tokens * width * (is_causal ? 0.5 : 1),
                         .tokens = tokens,
                         .head_width = width,
                         .is_causal = is_causal,
                         .is_backward = is_backward };
}

static const FabAttentionConstants *
constants_of (FabAttentionKernel kernel, const char *architecture)
{
  guint n;
  const FabAttentionConstants *all = fab_attention_constants (&n);

  for (guint i = 0; i < n; i++)
    if (all[i].kernel == kernel && g_strcmp0 (all[i].architecture, architecture) == 0)
      return &all[i];
  fail_msg ("no row");
  return NULL;
}

static double
seconds_of (FabAttentionKernel kernel, const char *architecture, const FabAttention *a)
{
  const FabDevice device = device_of (architecture);

  return fab_attention_seconds (&device, kernel, a, peak_flops_per_s, 1);
}

/* 4 x 32 x 4096^2 x 128 = 274.9 GFLOP, without a diagonal; the longest block has 4 x 128 x 4096 x 128 = 268.4 MFLOP,
 * and runs on one of 100 multiprocessors. */
static void
a_full_square_has_no_diagonal (G_GNUC_UNUSED void **state)
{
  const FabAttentionRates *c = &constants_of (FAB_ATTENTION_CUDNN, "hopper")->forward;
  FabAttention a = attention (FALSE, FALSE);
  double rate = 100e12 * c->share;

  assert_near (seconds_of (FAB_ATTENTION_CUDNN, "hopper", &a),
               274877906944.0 / rate + c->tail * 268435456.0 / (rate / 100) + kernel_s, 1e-9);
}

/* Heads of one number are narrow, and those whose width is not known are not: these have no longest block either. */
static void
heads_of_no_known_width_are_not_narrow (G_GNUC_UNUSED void **state)
{
  const FabAttentionRates *c = &constants_of (FAB_ATTENTION_CUDNN, "hopper")->forward;
  FabAttention a = attention (FALSE, FALSE);
  double rate = 100e12 * c->share;

  a.head_width = 0;
  assert_near (seconds_of (FAB_ATTENTION_CUDNN, "hopper", &a), a.forward_flops / rate + kernel_s, 1e-9);
  a.head_width = 1;
  rate *= c->narrow;
  assert_near (seconds_of (FAB_ATTENTION_CUDNN, "hopper", &a),
               a.forward_flops / rate + c->tail * 4 * 128 * 4096 / (rate / 100) + kernel_s, 1e-9);
}

/* Half of the FLOPs, and as many tokens more per query as the diagonal says: its share of 4096. */
static void
a_causal_kernel_pays_for_its_diagonal (G_GNUC_UNUSED void **state)
{
  const FabAttentionRates *c = &constants_of (FAB_ATTENTION_CUDNN, "hopper")->forward;
  FabAttention a = attention (TRUE, FALSE);
  double rate = 100e12 * c->share;

  assert_true (c->diagonal_tokens > 0);
  assert_near (seconds_of (FAB_ATTENTION_CUDNN, "hopper", &a),
               137438953472.0 * (1 + c->diagonal_tokens / 4096) / rate + c->tail * 268435456.0 / (rate / 100)
                   + kernel_s,
               1e-9);
}

/* Five products for two: 2.5 times the FLOPs of the whole and of the longest block, with constants of their own. */
static void
a_backward_pass_has_five_products (G_GNUC_UNUSED void **state)
{
  const FabAttentionRates *c = &constants_of (FAB_ATTENTION_FLASH2, "hopper")->backward;
  FabAttention a = attention (FALSE, TRUE);
  double rate = 100e12 * c->share;

  assert_near (seconds_of (FAB_ATTENTION_FLASH2, "hopper", &a),
               2.5 * 274877906944.0 / rate + c->tail * 2.5 * 268435456.0 / (rate / 100) + kernel_s, 1e-9);
}

/* Heads of 64 halve the FLOPs of the whole and of a block, and the rate falls by the factor for narrow heads. */
static void
narrow_heads_are_slower (G_GNUC_UNUSED void **state)
{
  const FabAttentionRates *c = &constants_of (FAB_ATTENTION_FLASH3, "hopper")->forward;
  FabAttention a = attention (FALSE, FALSE);
  double rate = 100e12 * c->share * c->narrow;

  a.head_width = 64;
  a.forward_flops /= 2;
  assert_true (c->narrow < 1);
  assert_near (seconds_of (FAB_ATTENTION_FLASH3, "hopper", &a),
               137438953472.0 / rate + c->tail * 134217728.0 / (rate / 100) + kernel_s, 1e-9);
}

/* A factor of 10 would be 6 times the peak: all of the peak is what remains. Without a known sequence there is
 * neither a tail nor a diagonal: 1e12 FLOP at 100 TFLOP/s are 10 ms. */
static void
no_kernel_exceeds_the_peak (G_GNUC_UNUSED void **state)
{
  const FabDevice device = device_of ("ampere");
  const FabAttention a = { .forward_flops = 1e12, .is_causal = TRUE };

  assert_near (fab_attention_seconds (&device, FAB_ATTENTION_FLASH2, &a, peak_flops_per_s, 10),
               10e-3 + kernel_s, 1e-9);
}

/* FlashAttention-3 and cuDNN's kernels are of Hopper and later. Ampere runs FlashAttention-2 instead; flash1 runs
 * everywhere, and is slower. */
static void
a_kernel_that_is_not_there_is_flash2 (G_GNUC_UNUSED void **state)
{
  FabAttention a = attention (TRUE, FALSE);
  double flash2 = seconds_of (FAB_ATTENTION_FLASH2, "ampere", &a);

  assert_near (seconds_of (FAB_ATTENTION_FLASH3, "ampere", &a), flash2, 1e-12);
  assert_near (seconds_of (FAB_ATTENTION_CUDNN, "ampere", &a), flash2, 1e-12);
  assert_true (seconds_of (FAB_ATTENTION_FLASH1, "ampere", &a) > flash2);
  assert_true (seconds_of (FAB_ATTENTION_FLASH1, "hopper", &a)
               > seconds_of (FAB_ATTENTION_FLASH2, "hopper", &a));
}

/* An accelerator that no row knows has the last row. */
static void
unknown_accelerators_have_flash2_of_hopper (G_GNUC_UNUSED void **state)
{
  FabAttention a = attention (TRUE, TRUE);

  assert_near (seconds_of (FAB_ATTENTION_FLASH2, NULL, &a), seconds_of (FAB_ATTENTION_FLASH2, "hopper", &a),
               1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (heads_of_no_known_width_are_not_narrow),
    cmocka_unit_test (a_full_square_has_no_diagonal),
    cmocka_unit_test (a_causal_kernel_pays_for_its_diagonal),
    cmocka_unit_test (a_backward_pass_has_five_products),
    cmocka_unit_test (narrow_heads_are_slower),
    cmocka_unit_test (no_kernel_exceeds_the_peak),
    cmocka_unit_test (a_kernel_that_is_not_there_is_flash2),
    cmocka_unit_test (unknown_accelerators_have_flash2_of_hopper),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
