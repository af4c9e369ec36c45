/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_bound.c - bytes of kernels counted by hand, in what the shape counts for a fused forward pass. */
#include "tests/support/test.h"

#include "models/compute/roofline/memory_bound.h"

static const FabKernelChoice eager = { 0 };
static const FabKernelChoice eager_with_norm = { .has_fused_norm = TRUE };
static const FabKernelChoice eager_with_fp32_loss = { .loss = FAB_LOSS_FP32 };
static const FabKernelChoice fused = { .is_fused = TRUE, .loss = FAB_LOSS_FUSED };

static void
assert_kernels (FabKernels kernels, guint n_kernels, double bytes_factor)
{
  assert_int_equal (kernels.n_kernels, n_kernels);
  assert_near (kernels.bytes_factor, bytes_factor, 1e-9);
}

/* The shape counts 2 w. Forward reads and writes: 2 w. Backward reads dy and x and writes dx, then reads both again
 * for the weight and the bias: 5 w, 2.5 times. */
static void
a_layer_norm_is_one_kernel_and_two (G_GNUC_UNUSED void **state)
{
  assert_kernels (fab_memory_kernels ("norm", &eager, FALSE), 1, 1);
  assert_kernels (fab_memory_kernels ("norm", &eager, TRUE), 2, 2.5);
}

/* In Python an RMS norm is 8 kernels; where the library has one, it is a layer norm's. */
static void
an_rms_norm_depends_on_the_library (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_memory_kernels ("rms_norm", &eager, FALSE).n_kernels, 8);
  assert_kernels (fab_memory_kernels ("rms_norm", &eager_with_norm, FALSE), 1, 1);
  assert_kernels (fab_memory_kernels ("qk_norm", &eager_with_norm, TRUE), 2, 2.5);
}

/* The shape counts 3 w. Eager: SiLU 2 w and product 3 w forward; two products of 3 w and SiLU's 3 w backward. Fused:
 * gate, up and result forward; dy, gate and up read and two gradients written backward. */
static void
swiglu_counts_each_tensor (G_GNUC_UNUSED void **state)
{
  assert_kernels (fab_memory_kernels ("gated_activation", &eager, FALSE), 2, 5.0 / 3);
  assert_kernels (fab_memory_kernels ("gated_activation", &eager, TRUE), 3, 9.0 / 3);
  assert_kernels (fab_memory_kernels ("gated_activation", &fused, FALSE), 1, 1);
  assert_kernels (fab_memory_kernels ("gated_activation", &fused, TRUE), 1, 5.0 / 3);
}

/* The shape counts 4 V numbers. In the type of the logits, a log-softmax reads and writes V each, and backward reads
 * two and writes one. In FP32, a cast is 1 + 2 and a log-softmax 2 + 2 numbers of two bytes: 7 V; backward 9 V. */
static void
the_loss_counts_logits (G_GNUC_UNUSED void **state)
{
  assert_near (fab_memory_kernels ("loss", &eager, FALSE).bytes_factor, 2.0 / 4, 1e-9);
  assert_near (fab_memory_kernels ("loss", &eager, TRUE).bytes_factor, 3.0 / 4, 1e-9);
  assert_near (fab_memory_kernels ("loss", &eager_with_fp32_loss, FALSE).bytes_factor, 7.0 / 4, 1e-9);
  assert_near (fab_memory_kernels ("loss", &eager_with_fp32_loss, TRUE).bytes_factor, 9.0 / 4, 1e-9);
  assert_kernels (fab_memory_kernels ("loss", &fused, FALSE), 1, 2.0 / 4);
}

/* An equal number of bytes by a dropout and a plain addition: the mean of the two times. */
static void
a_dropout_and_a_sum_have_the_mean_time (G_GNUC_UNUSED void **state)
{
  double factor = fab_memory_kernels ("dropout_residual", &eager, FALSE).rate_factor;

  assert_near (1 / factor, (1 / FAB_DROPOUT_RATE_FACTOR + 1) / 2, 1e-9);
}

/* Rates beside a plain kernel's. */
static void
kernels_have_rates_of_their_own (G_GNUC_UNUSED void **state)
{
  assert_near (fab_memory_kernels ("activation", &eager, FALSE).rate_factor, 1, 1e-9);
  assert_near (fab_memory_kernels ("norm", &eager, FALSE).rate_factor, FAB_NORM_RATE_FACTOR, 1e-9);
  assert_near (fab_memory_kernels ("loss", &eager, FALSE).rate_factor, FAB_SOFTMAX_RATE_FACTOR, 1e-9);
}

/* What has no row: the result is written and read once more between two kernels; one kernel where it is fused. */
static void
an_unknown_operator_is_two_kernels (G_GNUC_UNUSED void **state)
{
  assert_kernels (fab_memory_kernels ("anything", &eager, FALSE), 2, 2);
  assert_kernels (fab_memory_kernels ("anything", &eager, TRUE), 2, 4);
  assert_kernels (fab_memory_kernels ("anything", &fused, FALSE), 1, 1);
  assert_kernels (fab_memory_kernels ("anything", &fused, TRUE), 1, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_layer_norm_is_one_kernel_and_two),
    cmocka_unit_test (an_rms_norm_depends_on_the_library),
    cmocka_unit_test (swiglu_counts_each_tensor),
    cmocka_unit_test (the_loss_counts_logits),
    cmocka_unit_test (a_dropout_and_a_sum_have_the_mean_time),
    cmocka_unit_test (kernels_have_rates_of_their_own),
    cmocka_unit_test (an_unknown_operator_is_two_kernels),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
