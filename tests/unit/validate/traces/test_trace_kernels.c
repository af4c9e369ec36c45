/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_kernels.c - what the kernels of a profile say of a device: classes by name, gaps, shapes and launches.
 *
 * Every trace is made here, so that each figure follows by hand.
 */
#include "validate/traces/kernels.h"

#include "sim/base/error.h"
#include "tests/support/test.h"

enum { US = 1000000 };

typedef struct {
  FabTrace *trace;
  FabTracedRank *rank;
} Fixture;

static int
set_up (void **state)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->trace = fab_trace_new ();
  self->rank = fab_trace_add_rank (self->trace, "made");
  *state = self;
  return 0;
}

static int
tear_down (void **state)
{
  Fixture *self = *state;

  fab_trace_free (self->trace);
  g_free (self);
  return 0;
}

/* A kernel from one us to another, of a step and an operator; -1: of none. */
static void
add (Fixture *self, const char *name, FabTraceKind kind, gint64 start_us, gint64 end_us, gint32 step,
     gint64 external)
{
  FabTraceOp op = { .name = name,
                    .start_ps = start_us * US,
                    .end_ps = end_us * US,
                    .launch = -1,
                    .kind = kind,
                    .comm = kind == FAB_TRACE_COMM ? 0 : -1,
                    .step = step,
                    .external = external };

  g_array_append_val (self->rank->ops, op);
}

static void
add_step (Fixture *self, gint64 start_us, gint64 end_us)
{
  FabTraceStep step = { self->rank->steps->len, start_us * US, end_us * US };

  g_array_append_val (self->rank->steps, step);
}

static FabTraceKernels *
made (const Fixture *self, guint n_steps)
{
  g_autoptr (GError) error = NULL;
  FabTraceKernels *kernels = fab_trace_kernels_new (self->trace, n_steps, &error);

  assert_null (error);
  return kernels;
}

/* The first part of a name that fits counts: attention before products, the optimizer before both. */
static void
kernels_have_classes_by_their_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    FabTraceClass its_class;
  } cases[] = {
    { "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn", FAB_TRACE_PRODUCT },
    { "nvjet_hsh_128x256_64x4", FAB_TRACE_PRODUCT },
    { "void cutlass::Kernel2<cutlass_80_tensorop>", FAB_TRACE_PRODUCT },
    { "WGMMA_kernel", FAB_TRACE_PRODUCT },
    { "pytorch_flash::flash_fwd_kernel<cutlass>", FAB_TRACE_ATTENTION },
    { "fmha_cutlassF_bf16_aligned", FAB_TRACE_ATTENTION },
    { "cudnn_generated_fort_native_sdpa_sm90_flash_fprop", FAB_TRACE_ATTENTION },
    { "paged_attention_v2", FAB_TRACE_ATTENTION },
    { "flash_bwd_dot_do_o_kernel", FAB_TRACE_ATTENTION },
    { "bwd_convert_dq", FAB_TRACE_ATTENTION },
    { "multi_tensor_apply_kernel<FusedAdam>", FAB_TRACE_OPTIMIZER },
    { "fused_ADAM", FAB_TRACE_OPTIMIZER },
    { "softmax_warp_forward", FAB_TRACE_LOSS },
    { "nll_loss_forward_reduce", FAB_TRACE_LOSS },
    { "cross_entropy_kernel", FAB_TRACE_LOSS },
    { "vectorized_layer_norm_kernel", FAB_TRACE_NORM },
    { "GammaBetaBackwardCUDAKernel", FAB_TRACE_NORM },
    { "elementwise_kernel", FAB_TRACE_ELEMENTWISE },
    { "", FAB_TRACE_ELEMENTWISE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_string_equal (fab_trace_class_names[fab_trace_class_of (cases[i].name)],
                         fab_trace_class_names[cases[i].its_class]);
  assert_null (fab_trace_class_names[FAB_N_TRACE_CLASSES]);
}

/* Copies and collectives are told by what they are, whatever they are called; kernels of no step are left out. */
static void
kernels_are_counted_by_class (void **state)
{
  Fixture *self = *state;

  add_step (self, 10, 50);
  add_step (self, 50, 90);
  add (self, "gemm", FAB_TRACE_COMPUTE, 0, 9, -1, -1);
  add (self, "gemm", FAB_TRACE_COMPUTE, 10, 20, 0, -1);
  add (self, "gemm", FAB_TRACE_COMM, 20, 27, 0, -1);
  add (self, "gemm", FAB_TRACE_COPY, 27, 30, 0, -1);
  add (self, "gemm", FAB_TRACE_COMPUTE, 50, 65, 1, -1);
  g_autoptr (FabTraceKernels) kernels = made (self, 0);
  assert_int_equal (kernels->n_steps, 2);
  assert_int_equal (kernels->n_kernels, 4);
  assert_int_equal (kernels->n_of[FAB_TRACE_PRODUCT], 2);
  assert_near (kernels->seconds_of[FAB_TRACE_PRODUCT], 25e-6, 1e-9);
  assert_int_equal (kernels->n_of[FAB_TRACE_COLLECTIVE], 1);
  assert_near (kernels->seconds_of[FAB_TRACE_COLLECTIVE], 7e-6, 1e-9);
  assert_int_equal (kernels->n_of[FAB_TRACE_COPIES], 1);
  assert_near (kernels->seconds_of[FAB_TRACE_COPIES], 3e-6, 1e-9);
  /* From 10 to 65 us; from 30 to 50 us nothing ran. The kernel before the first step adds no gap. */
  assert_near (kernels->span_s, 55e-6, 1e-9);
  assert_near (kernels->gaps_s, 20e-6, 1e-9);
  g_autoptr (FabTraceKernels) asked = made (self, 5);
  assert_int_equal (asked->n_steps, 5);
}

/* Gaps up to 20 us are those of launches, and their median is; longer ones are the host's. A kernel that runs beside a
 * longer one ends no gap. */
static void
gaps_are_short_or_long (void **state)
{
  Fixture *self = *state;

  self->rank->issue_ps = 4 * US;
  add (self, "a", FAB_TRACE_COMPUTE, 100, 110, -1, -1);
  add (self, "b", FAB_TRACE_COMPUTE, 102, 104, -1, -1);
  add (self, "c", FAB_TRACE_COMPUTE, 113, 120, -1, -1); /* 3 */
  add (self, "d", FAB_TRACE_COMPUTE, 120, 130, -1, -1); /* 0 */
  add (self, "e", FAB_TRACE_COMPUTE, 150, 160, -1, -1); /* 20 */
  add (self, "f", FAB_TRACE_COMPUTE, 181, 190, -1, -1); /* 21 */
  add (self, "g", FAB_TRACE_COMPUTE, 195, 200, -1, -1); /* 5 */
  g_autoptr (FabTraceKernels) kernels = made (self, 0);
  assert_int_equal (kernels->n_steps, 1);
  assert_near (kernels->span_s, 100e-6, 1e-9);
  assert_near (kernels->gaps_s, 49e-6, 1e-9);
  assert_near (kernels->long_gaps_s, 21e-6, 1e-9);
  assert_int_equal (kernels->launch_ps, 5 * US); /* of 3, 5 and 20 */
  assert_int_equal (kernels->issue_ps, 4 * US);
  assert_int_equal (kernels->series->len, 2);
  for (guint i = 0; i < 2; i++) {
    const FabMeasuredSeries *one = g_ptr_array_index (kernels->series, i);
    const FabMeasuredPoint *point = &g_array_index (one->points, FabMeasuredPoint, 0);

    assert_int_equal (one->series.kind, FAB_MEASURE_LAUNCH);
    assert_string_equal (one->series.method, i == 0 ? "held" : "issued");
    assert_int_equal (one->points->len, 1);
    assert_int_equal (point->size_bytes, 1);
    assert_int_equal (point->time_ps, (i == 0 ? 5 : 4) * US);
  }
}

static void
add_work (Fixture *self, FabTraceWork work)
{
  g_array_append_val (self->rank->works, work);
}

/* A shape takes the median of its operators, and an operator all that its kernels of its class take. */
static void
shapes_take_what_their_kernels_take (void **state)
{
  static const struct {
    FabMeasureKind kind;
    const char *precision, *op, *shape;
    guint64 bytes;
    gint64 us;
    guint n;
  } expected[] = {
    /* (16 x 4 + 8 x 4 + 16 x 8) elements of 2 bytes; 3 + 2 us, 9 us and 7 us */
    { FAB_MEASURE_PRODUCT, "bf16", "matmul", "16x8x4", 448, 7, 3 },
    { FAB_MEASURE_PRODUCT, "fp8", "matmul", "16x8x4", 224, 6, 1 },
    { FAB_MEASURE_PRODUCT, "tf32", "matmul", "2x3x5", 124, 8, 1 },
    /* batch 2, 4 heads, 1 of keys, 10 tokens of 8: 2 x 10 x 8 x (8 + 2) elements of 2 bytes, and twice as many */
    { FAB_MEASURE_ATTENTION, "fp16", "forward", "2x4x1x10x8", 3200, 11, 1 },
    { FAB_MEASURE_ATTENTION, "fp16", "backward", "2x4x1x10x8", 6400, 12, 1 },
  };
  Fixture *self = *state;

  add_work (self, (FabTraceWork){ 7, FALSE, FALSE, 1, { 16, 8, 4 }, "c10::BFloat16" });
  add_work (self, (FabTraceWork){ 3, FALSE, FALSE, 1, { 16, 8, 4 }, "c10::BFloat16" });
  add_work (self, (FabTraceWork){ 5, FALSE, FALSE, 1, { 16, 8, 4 }, "c10::BFloat16" });
  add_work (self, (FabTraceWork){ 8, FALSE, FALSE, 1, { 16, 8, 4 }, "Float8_e4m3fn" });
  add_work (self, (FabTraceWork){ 9, FALSE, FALSE, 1, { 2, 3, 5 }, "float" });
  add_work (self, (FabTraceWork){ 10, TRUE, FALSE, 1, { 2, 4, 1, 10, 8 }, "c10::Half" });
  add_work (self, (FabTraceWork){ 11, TRUE, TRUE, 1, { 2, 4, 1, 10, 8 }, "c10::Half" });
  add_work (self, (FabTraceWork){ 12, FALSE, FALSE, 2, { 2, 3, 5 }, "float" });  /* two copies */
  add_work (self, (FabTraceWork){ 13, FALSE, FALSE, 1, { 2, 3, 5 }, "double" }); /* another precision */
  add_work (self, (FabTraceWork){ 14, FALSE, FALSE, 1, { 9, 9, 9 }, "float" });  /* without a kernel */
  add (self, "gemm", FAB_TRACE_COMPUTE, 0, 3, -1, 3);
  add (self, "elementwise", FAB_TRACE_COMPUTE, 3, 4, -1, 3); /* of another class */
  add (self, "gemm", FAB_TRACE_COMPUTE, 4, 6, -1, 3);
  add (self, "gemm", FAB_TRACE_COMPUTE, 6, 15, -1, 5);
  add (self, "gemm", FAB_TRACE_COMPUTE, 15, 22, -1, 7);
  add (self, "gemm", FAB_TRACE_COMPUTE, 22, 28, -1, 8);
  add (self, "gemm", FAB_TRACE_COMPUTE, 28, 36, -1, 9);
  add (self, "flash", FAB_TRACE_COMPUTE, 36, 47, -1, 10);
  add (self, "gemm", FAB_TRACE_COMPUTE, 47, 50, -1, 10); /* a product of attention is none of its kernels */
  add (self, "flash", FAB_TRACE_COMPUTE, 50, 62, -1, 11);
  add (self, "gemm", FAB_TRACE_COMPUTE, 62, 63, -1, 12);
  add (self, "gemm", FAB_TRACE_COMPUTE, 63, 64, -1, 13);
  add (self, "gemm", FAB_TRACE_COMPUTE, 64, 65, -1, 99); /* an operator that was not recorded */
  add (self, "gemm", FAB_TRACE_COMPUTE, 65, 66, -1, -1);
  g_autoptr (FabTraceKernels) kernels = made (self, 0);
  assert_int_equal (kernels->n_shaped, 10);
  assert_int_equal (kernels->series->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const FabMeasuredSeries *one = g_ptr_array_index (kernels->series, i);
    const FabMeasuredPoint *point = &g_array_index (one->points, FabMeasuredPoint, 0);

    assert_int_equal (one->series.kind, expected[i].kind);
    assert_string_equal (one->series.backend, "trace");
    assert_string_equal (one->series.precision, expected[i].precision);
    assert_string_equal (one->series.op, expected[i].op);
    assert_string_equal (one->series.shape, expected[i].shape);
    assert_int_equal (one->points->len, 1);
    assert_int_equal (point->size_bytes, expected[i].bytes);
    assert_int_equal (point->time_ps, expected[i].us * US);
    assert_int_equal (point->n_samples, expected[i].n);
  }
}

/* Without kernels, or with lengths alone, a trace calibrates nothing. */
static void
traces_without_times_are_refused (void **state)
{
  static const char message[] =
      "made: has no kernels with times, so it calibrates nothing; a profile of PyTorch or Nsight Systems has";
  Fixture *self = *state;

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_trace_kernels_new (self->trace, 0, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
    assert_string_equal (error->message, message);
    add (self, "gemm", FAB_TRACE_COMPUTE, 0, 1, -1, -1);
    self->trace->has_only_lengths = TRUE;
  }
  fab_trace_kernels_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (kernels_have_classes_by_their_names),
    cmocka_unit_test_setup_teardown (kernels_are_counted_by_class, set_up, tear_down),
    cmocka_unit_test_setup_teardown (gaps_are_short_or_long, set_up, tear_down),
    cmocka_unit_test_setup_teardown (shapes_take_what_their_kernels_take, set_up, tear_down),
    cmocka_unit_test_setup_teardown (traces_without_times_are_refused, set_up, tear_down),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
