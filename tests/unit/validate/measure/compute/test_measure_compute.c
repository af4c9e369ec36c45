/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_compute.c - the backend `compute` on a GPU that is not there; its times: tests/fake_gpu/machine.h. */
#include "tests/support/test.h"

#include <gmodule.h>

#include "tests/fake_gpu/recorder.h"
#include "tests/support/params.h"
#include "validate/measure/compute/run.h"

const FabMeasureBackend *fab_measure_backend (void);

/* One row of the norm is 16 KiB, read and written: 32 KiB. */
static const FabBytes sizes_bytes[] = { 96 << 10, 960 << 10 };

static int
n_live (void)
{
  GModule *module = g_module_open (g_getenv ("FABRICAST_CUDA_DRIVER"), G_MODULE_BIND_LOCAL);
  int (*live) (void) = NULL;

  assert_non_null (module);
  assert_true (g_module_symbol (module, "fake_gpu_live", (gpointer *) &live));
  return live ();
}

/* The sentence; NULL when it worked. Whatever was taken must have been given back. */
static char *
try_to_measure (Recorder *recorder, const char *failure, const char *yaml)
{
  const FabMeasureBackend *backend = fab_measure_backend ();
  g_autoptr (Params) params = params_new (&backend->info, yaml);
  g_autoptr (GError) error = NULL;
  gboolean is_ok;

  g_setenv ("FAKE_GPUS", "2", TRUE);
  g_setenv ("FAKE_GPU_FAIL", failure, TRUE);
  assert_int_equal (n_live (), 0);
  is_ok = backend->measure (&recorder->base, params->params, &error);
  assert_int_equal (is_ok, error == NULL);
  if (n_live () != 0)
    g_error ("%d things were left behind", n_live ());
  return error ? g_strdup_printf ("%d: %s", error->code, error->message) : NULL;
}

static Recorder *
measure (const char *failure, const char *yaml)
{
  Recorder *recorder = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
  g_autofree char *problem = try_to_measure (recorder, failure, yaml);

  if (problem)
    g_error ("%s", problem);
  return recorder;
}

static void
assert_time (const Recorder *recorder, const char *title, FabBytes size_bytes, double expected_ns)
{
  double ns = (double) recorder_time (recorder, title, size_bytes) / 1000;

  if (!is_near (ns, expected_ns, 1e-3))
    g_error ("%s: %.3f ns, not %.3f", title, ns, expected_ns);
}

#define SMALL "{shapes: '256x512x128,512x512x24', buffer: 64MiB, sustained: 0s}"

/* Bytes of C[256, 512] = A[256, 128] B[512, 128]^T in 16 bits; 2 m n k = 33554432 at 100 TFLOP/s are 335.5 ns. The
 * second of the algorithms is the fastest, so that its time is neither twice nor three times that. */
static void
products_are_measured_by_the_fastest_algorithm (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("", SMALL);
  const FabBytes bytes = (256 + 512) * 128 * 2 + 256 * 512 * 2;

  assert_time (r, "compute product matmul bf16 256x512x128, gpu0, cublaslt", bytes, 4000 + 335.54432);
  assert_time (r, "compute product matmul fp16 256x512x128, gpu0, cublaslt", bytes, 4000 + 335.54432);
  assert_time (r, "compute product matmul tf32 256x512x128, gpu0, cublaslt", 2 * bytes, 4000 + 671.08864);
  assert_time (r, "compute product matmul fp8 256x512x128, gpu0, cublaslt", (256 + 512) * 128 + 256 * 512 * 2,
               4000 + 167.77216);
  assert_true (recorder_noted (r, "cuBLASLt has no algorithm for 1 of 2 products in fp8"));
  assert_string_equal (g_hash_table_lookup (r->machine, "cublaslt"), "130000");
}

static void
one_algorithm_is_the_first_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("",
                                    "{shapes: 256x512x128, precisions: bf16, algorithms: 1, buffer: 64MiB}");

  assert_time (r, "compute product matmul bf16 256x512x128, gpu0, cublaslt", 458752, 4000 + 671.08864);
  assert_false (recorder_has (r, "compute product matmul fp16 256x512x128, gpu0, cublaslt", 458752));
}

/* A sum reads two numbers and writes one; a size is what is read and written in all. */
static void
kernels_that_move_memory_are_timed_by_what_they_move (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("", SMALL);

  for (guint i = 0; i < G_N_ELEMENTS (sizes_bytes); i++) {
    double ns = 3000 + (double) sizes_bytes[i] / 2000;

    assert_time (r, "compute memory_bound copy, gpu0, kernel", sizes_bytes[i], ns);
    assert_time (r, "compute memory_bound add, gpu0, kernel", sizes_bytes[i], ns);
    assert_time (r, "compute memory_bound norm, gpu0, kernel", sizes_bytes[i], ns);
  }
  assert_time (r, "compute copy, gpu0, copy", 96 << 10, 500 + (96 << 10) / 1000.0);
  assert_time (r, "compute copy, host to gpu0, copy, host to gpu memory", 96 << 10, 1000 + (96 << 10) / 25.0);
  assert_time (r, "compute copy, gpu0 to host, copy, gpu to host memory", 96 << 10, 1000 + (96 << 10) / 20.0);
}

/* What the host's clock shows is that of this machine, not of the fake one. */
static void
launches_are_timed_on_the_gpu_and_by_the_host (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("", SMALL), free = measure ("wait", SMALL);

  assert_time (r, "compute launch empty, gpu0, held", 1, 1500);
  assert_true (recorder_time (r, "compute launch empty, gpu0, issued", 1) > 0);
  assert_false (recorder_has (free, "compute launch empty, gpu0, held", 1));
  assert_true (recorder_noted (free, "streams cannot be held here"));
}

static void
the_gpu_that_is_named_is_measured (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("", "{gpu: 1, shapes: 256x512x128, precisions: bf16, buffer: 64MiB}");
  g_autoptr (Recorder) none = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
  g_autofree char *problem = try_to_measure (none, "", "{gpu: 2, buffer: 1MiB}");

  assert_true (recorder_has (r, "compute product matmul bf16 256x512x128, gpu1, cublaslt", 458752));
  assert_true (strstr (problem, "gpu is 2, but this machine shows 2, counted from 0") != NULL);
}

static void
what_is_missing_is_said (G_GNUC_UNUSED void **state)
{
  g_autofree char *library = g_strdup (g_getenv ("FABRICAST_CUBLASLT"));
  g_autoptr (Recorder) r = NULL, old = NULL;

  g_setenv ("FABRICAST_CUBLASLT", "/nowhere/libcublasLt.so", TRUE);
  r = measure ("", SMALL);
  assert_true (
      recorder_noted (r, "products are left out: cuBLASLt (libcublasLt.so.13, .12 or .11) was not found"));
  assert_true (recorder_has (r, "compute memory_bound add, gpu0, kernel", 96 << 10));
  g_setenv ("FABRICAST_CUBLASLT", g_getenv ("FAKE_OLD_GPU"), TRUE);
  old = measure ("", SMALL);
  assert_true (recorder_noted (old, "cuBLASLt has no function cublasLtCreate: it is too old"));
  g_setenv ("FABRICAST_CUBLASLT", library, TRUE);
}

static void
kernels_that_the_driver_does_not_compile_are_left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure ("binary", SMALL);

  assert_true (recorder_noted (r, "the driver does not compile the kernels of this program (error 209)"));
  assert_false (recorder_has (r, "compute memory_bound add, gpu0, kernel", 96 << 10));
  assert_true (recorder_has (r, "compute copy, gpu0, copy", 96 << 10));
}

static void
a_product_that_does_not_fit_is_left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = measure (
      "", "{shapes: '256x512x128,32768x32768x64', precisions: bf16, buffer: 64MiB}");

  assert_true (recorder_noted (r, "1 of 2 products in bf16 do not fit into the buffers"));
}

static void
what_fails_is_said_and_leaves_nothing_behind (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][3] = {
    { "product", SMALL, "cuBLASLt cannot multiply: it returned status 13" },
    { "copy-in", SMALL, "a fake error (CUDA_ERROR_FAKE, 719)" },
    { "", "{shapes: 12x13}", "shapes: '12x13' is no product; write rows x columns x depth" },
    { "", "{shapes: 0x1x1}", "shapes: '0x1x1' is no product" },
    { "", "{shapes: 1x1x1x1}", "shapes: '1x1x1x1' is no product" },
    { "", "{precisions: fp64}", "precisions: 'fp64' is none of bf16, fp16, tf32 and fp8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Recorder) r = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
    g_autofree char *problem = try_to_measure (r, cases[i][0], cases[i][1]);

    if (!problem || !strstr (problem, cases[i][2]))
      g_error ("%s: %s", cases[i][2], problem);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (products_are_measured_by_the_fastest_algorithm),
    cmocka_unit_test (one_algorithm_is_the_first_one),
    cmocka_unit_test (kernels_that_move_memory_are_timed_by_what_they_move),
    cmocka_unit_test (launches_are_timed_on_the_gpu_and_by_the_host),
    cmocka_unit_test (the_gpu_that_is_named_is_measured),
    cmocka_unit_test (what_is_missing_is_said),
    cmocka_unit_test (kernels_that_the_driver_does_not_compile_are_left_out),
    cmocka_unit_test (a_product_that_does_not_fit_is_left_out),
    cmocka_unit_test (what_fails_is_said_and_leaves_nothing_behind),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
