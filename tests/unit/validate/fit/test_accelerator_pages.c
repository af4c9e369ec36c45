/* SPDX-License-Identifier: Apache-2.0 */
/* test_accelerator_pages.c - the pages of an accelerator's fit, from a fit by hand: every number stands where it
 * belongs, and what was not measured is left out. */
#include "tests/support/test.h"
#include "validate/fit/accelerator.h"

static const FabAcceleratorSpec base = { .name = "h0",
                                         .peak_fp16_flops_per_s = 1000000000000000,
                                         .peak_tf32_flops_per_s = 500000000000000,
                                         .peak_fp32_flops_per_s = 60000000000000,
                                         .peak_fp8_flops_per_s = 2000000000000000,
                                         .peak_fp4_flops_per_s = 4000000000000000,
                                         .memory_bytes_per_s = 3000000000000 };

static FabSeries heads[4] = {
  { .kind = FAB_MEASURE_PRODUCT, .precision = (char *) "bf16", .shape = (char *) "2x3x4" },
  { .kind = FAB_MEASURE_ATTENTION,
    .op = (char *) "forward",
    .precision = (char *) "fp16",
    .shape = (char *) "1x2,\"q\"" },
  { .kind = FAB_MEASURE_MEMORY_BOUND, .op = (char *) "gelu" },
  { .kind = FAB_MEASURE_LAUNCH },
};

static void
add_row (FabAcceleratorFit *self, guint i, double before_s, double predicted_s, double rate,
         gboolean is_held_out)
{
  FabKernelRow row = { &heads[i], 1024 << i, 4, before_s, predicted_s, rate, is_held_out };

  g_array_append_val (self->rows, row);
}

/* Fits whose numbers follow from n, the number of rows that were fitted. */
static FabFractionFit
fit_of (guint n)
{
  return (FabFractionFit){ .n_fitted = n,
                           .n_held_out = n + 1,
                           .fraction = n / 16.0,
                           .before = n / 32.0,
                           .fitted = n / 64.0,
                           .error = n / 128.0,
                           .largest = n / 8.0 };
}

static FabAcceleratorFit
make (void)
{
  FabAcceleratorFit self = { .base = &base,
                             .spec = { .name = "mine", .matmul_fraction = 0.75 },
                             .memory = fit_of (6),
                             .sustained_fraction = 0.875,
                             .launch_ps = 500000000000,
                             .issue_ps = 250000000000,
                             .rows = g_array_new (FALSE, FALSE, sizeof (FabKernelRow)),
                             .notes = g_ptr_array_new () };

  for (guint k = 0; k < FAB_N_PRECISIONS; k++)
    self.achievable[k] = fit_of (k + 1);
  self.best_flops_per_s[FAB_PRECISION_BF16] = 800e12;
  self.best_shape[FAB_PRECISION_BF16] = "8x8x8";
  g_ptr_array_add (self.notes, (char *) "a note");
  add_row (&self, 0, 6, 5, 700e12, FALSE);
  add_row (&self, 1, 7, 3, 600e12, TRUE);
  add_row (&self, 2, 8, 4, 2500e9, TRUE);
  add_row (&self, 3, 0, 0, 3e9, FALSE);
  return self;
}

static void
leave (FabAcceleratorFit *self)
{
  g_array_unref (self->rows);
  g_ptr_array_unref (self->notes);
}

/* --- pages --- */

static const char text_page[] =
    "accelerator 'mine': error = predicted time / measured time - 1\n"
    "bf16         6.2 % of 1000 TFLOP/s, fitted to 1 (median error 1.6 %); 2 held out: error of fit 0.8 %, "
    "largest 12.5 %; with the entry as it was 3.1 %\n"
    "           best 800.0 TFLOP/s at 8x8x8\n"
    "fp16        12.5 % of 1000 TFLOP/s, fitted to 2 (median error 3.1 %); 3 held out: error of fit 1.6 %, "
    "largest 25.0 %; with the entry as it was 6.2 %\n"
    "fp32        18.8 % of 60 TFLOP/s, fitted to 3 (median error 4.7 %); 4 held out: error of fit 2.3 %, "
    "largest 37.5 %; with the entry as it was 9.4 %\n"
    "tf32        25.0 % of 500 TFLOP/s, fitted to 4 (median error 6.2 %); 5 held out: error of fit 3.1 %, "
    "largest 50.0 %; with the entry as it was 12.5 %\n"
    "fp8         31.2 % of 2000 TFLOP/s, fitted to 5 (median error 7.8 %); 6 held out: error of fit 3.9 %, "
    "largest 62.5 %; with the entry as it was 15.6 %\n"
    "mxfp8       37.5 % of 2000 TFLOP/s, fitted to 6 (median error 9.4 %); 7 held out: error of fit 4.7 %, "
    "largest 75.0 %; with the entry as it was 18.8 %\n"
    "nvfp4       43.8 % of 4000 TFLOP/s, fitted to 7 (median error 10.9 %); 8 held out: error of fit 5.5 %, "
    "largest 87.5 %; with the entry as it was 21.9 %\n"
    "memory      37.5 % of 3000 GB/s, fitted to 6 (median error 9.4 %); 7 held out: error of fit 4.7 %, "
    "largest 75.0 %; with the entry as it was 18.8 %\n"
    "sustained   87.5 % of the rate of short runs: what the power limit leaves\n"
    "launch     500000.00 us from kernel to kernel on the GPU\n"
    "issue      250000.00 us of the host for a kernel\n"
    "note: a note\n"
    "the job's keys: compute: {kind: roofline, achievable: 6.2%, memory: 37.5%, launch: 500000000ns, issue: "
    "250000000ns}\n"
    "\n"
    "kind         op         type  shape or bytes             measured us       fit us         rate    error\n"
    "product                 bf16  2x3x4                       4000000.00   5000000.00   700.0 TF/s   +25.0 %\n"
    "attention    forward    fp16  1x2,\"q\"                     4000000.00   3000000.00   600.0 TF/s   "
    "-25.0 % held out\n"
    "memory_bound gelu             4096                        4000000.00   4000000.00  2500.0 GB/s    +0.0 "
    "% held out\n"
    "launch                        8192                        4000000.00                  3.0 GB/s\n";

static const char csv_page[] =
    "accelerator,kind,op,precision,shape,size_bytes,measured_s,before_s,predicted_s,held_out\n"
    "mine,product,,bf16,2x3x4,1024,4,6,5,0\n"
    "mine,attention,forward,fp16,\"1x2,\"\"q\"\"\",2048,4,7,3,1\n"
    "mine,memory_bound,gelu,,,4096,4,8,4,1\n"
    "mine,launch,,,,8192,4,0,0,0\n";

static const char json_page[] =
    "{\"accelerator\" : \"mine\",\"base\" : \"h0\",\"matmul\" : 0.75,\"sustained_fraction\" : "
    "0.875,\"launch_s\" : 0.5,\"issue_s\" : 0.25,\"fits\" : [{\"of\" : \"bf16\",\"fraction\" : "
    "0.0625,\"n_fitted\" : 1,\"n_held_out\" : 2,\"fitted_error\" : 0.015625,\"error_of_fit\" : "
    "0.0078125,\"largest_error\" : 0.125,\"error_before\" : 0.03125},{\"of\" : \"fp16\",\"fraction\" : "
    "0.125,\"n_fitted\" : 2,\"n_held_out\" : 3,\"fitted_error\" : 0.03125,\"error_of_fit\" : "
    "0.015625,\"largest_error\" : 0.25,\"error_before\" : 0.0625},{\"of\" : \"fp32\",\"fraction\" : "
    "0.1875,\"n_fitted\" : 3,\"n_held_out\" : 4,\"fitted_error\" : 0.046875,\"error_of_fit\" : "
    "0.0234375,\"largest_error\" : 0.375,\"error_before\" : 0.09375},{\"of\" : \"tf32\",\"fraction\" : "
    "0.25,\"n_fitted\" : 4,\"n_held_out\" : 5,\"fitted_error\" : 0.0625,\"error_of_fit\" : "
    "0.03125,\"largest_error\" : 0.5,\"error_before\" : 0.125},{\"of\" : \"fp8\",\"fraction\" : "
    "0.3125,\"n_fitted\" : 5,\"n_held_out\" : 6,\"fitted_error\" : 0.078125,\"error_of_fit\" : "
    "0.0390625,\"largest_error\" : 0.625,\"error_before\" : 0.15625},{\"of\" : \"mxfp8\",\"fraction\" : "
    "0.375,\"n_fitted\" : 6,\"n_held_out\" : 7,\"fitted_error\" : 0.09375,\"error_of_fit\" : "
    "0.046875,\"largest_error\" : 0.75,\"error_before\" : 0.1875},{\"of\" : \"nvfp4\",\"fraction\" : "
    "0.4375,\"n_fitted\" : 7,\"n_held_out\" : 8,\"fitted_error\" : 0.109375,\"error_of_fit\" : "
    "0.0546875,\"largest_error\" : 0.875,\"error_before\" : 0.21875},{\"of\" : \"memory\",\"fraction\" : "
    "0.375,\"n_fitted\" : 6,\"n_held_out\" : 7,\"fitted_error\" : 0.09375,\"error_of_fit\" : "
    "0.046875,\"largest_error\" : 0.75,\"error_before\" : 0.1875}],\"notes\" : [\"a note\"],\"kernels\" : "
    "[{\"kind\" : \"product\",\"op\" : null,\"precision\" : \"bf16\",\"shape\" : \"2x3x4\",\"size_bytes\" : "
    "1024,\"measured_s\" : 4.0,\"before_s\" : 6.0,\"predicted_s\" : 5.0,\"held_out\" : false},{\"kind\" : "
    "\"attention\",\"op\" : \"forward\",\"precision\" : \"fp16\",\"shape\" : "
    "\"1x2,\\\"q\\\"\",\"size_bytes\" : 2048,\"measured_s\" : 4.0,\"before_s\" : 7.0,\"predicted_s\" : "
    "3.0,\"held_out\" : true},{\"kind\" : \"memory_bound\",\"op\" : \"gelu\",\"precision\" : null,\"shape\" "
    ": null,\"size_bytes\" : 4096,\"measured_s\" : 4.0,\"before_s\" : 8.0,\"predicted_s\" : 4.0,\"held_out\" "
    ": true},{\"kind\" : \"launch\",\"op\" : null,\"precision\" : null,\"shape\" : null,\"size_bytes\" : "
    "8192,\"measured_s\" : 4.0,\"before_s\" : 0.0,\"predicted_s\" : 0.0,\"held_out\" : false}]}";

static const char head_of_entry[] =
    "# Written by fabricast calibrate 1 on 2026-11-20 from:\n"
    "#   b.csv\n"
    "#   c\\x0a.csv\n"
    "# A scenario takes it with `include:`. Under the name of an entry of the catalogue it takes its place "
    "in every node;\n"
    "# under another one a node has to name it. What kernels reach of it belongs into the job:\n"
    "#   compute: {kind: roofline, achievable: 6.2%, memory: 37.5%, launch: 500000000ns, issue: 250000000ns}\n"
    "\n";

static void
pages (G_GNUC_UNUSED void **state)
{
  static const char *const files[] = { "a/b.csv", "c\n.csv", NULL };
  const FabAcceleratorRequest request = {
    .base = &base, .date = "2026-11-20", .version = "1", .files = files
  };
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);
  FabAcceleratorFit fit = make ();
  g_autofree char *text = fab_accelerator_fit_to_text (&fit), *csv = fab_accelerator_fit_to_csv (&fit),
                  *json = fab_accelerator_fit_to_json (&fit),
                  *yaml = fab_accelerator_fit_yaml (&fit, &request);
  g_autofree char *line = g_regex_replace_literal (breaks, json, -1, 0, "", 0, NULL);

  assert_string_equal (text, text_page);
  assert_string_equal (csv, csv_page);
  assert_string_equal (line, json_page);
  assert_true (g_str_has_prefix (yaml, head_of_entry));
  assert_non_null (strstr (yaml, "\naccelerators:\n  - name: mine\n"));
  leave (&fit);
}

/* The job's keys have what was measured: products in BF16, else those in FP16. */
static void
keys_of_the_job (G_GNUC_UNUSED void **state)
{
  static const struct {
    double bf16, fp16, memory;
    FabTimePs launch_ps, issue_ps;
    const char *keys;
  } cases[] = {
    { 0.5, 0.25, 0, 0, 0, "compute: {kind: roofline, achievable: 50.0%}" },
    { 0, 0.25, 0.125, 0, 0, "compute: {kind: roofline, achievable: 25.0%, memory: 12.5%}" },
    { 0, 0, 0.0625, 1, 0, "compute: {kind: roofline, memory: 6.2%, launch: 0ns}" },
    { 0, 0, 0, 1000, 1, "compute: {kind: roofline, launch: 1ns, issue: 0ns}" },
    { 0, 0, 0, 0, 7000, "compute: {kind: roofline, issue: 7ns}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabAcceleratorFit fit = make ();
    g_autofree char *right = g_strdup_printf ("\nthe job's keys: %s\n", cases[i].keys);

    for (guint k = 0; k < FAB_N_PRECISIONS; k++)
      fit.achievable[k].fraction = 0;
    fit.achievable[FAB_PRECISION_BF16].fraction = cases[i].bf16;
    fit.achievable[FAB_PRECISION_FP16].fraction = cases[i].fp16;
    fit.memory.fraction = cases[i].memory;
    fit.launch_ps = cases[i].launch_ps;
    fit.issue_ps = cases[i].issue_ps;
    fit.sustained_fraction = 0;
    g_autofree char *text = fab_accelerator_fit_to_text (&fit);

    assert_non_null (strstr (text, right));
    assert_int_equal (strstr (text, "\nbf16 ") != NULL, cases[i].bf16 > 0);
    assert_int_equal (strstr (text, "\nmemory ") != NULL, cases[i].memory > 0);
    assert_int_equal (strstr (text, "\nlaunch  ") != NULL
                          && strstr (text, " us from kernel to kernel") != NULL,
                      cases[i].launch_ps > 0);
    assert_int_equal (strstr (text, "\nissue  ") != NULL, cases[i].issue_ps > 0);
    assert_null (strstr (text, "\nsustained "));
    leave (&fit);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages),
    cmocka_unit_test (keys_of_the_job),
  };

  return cmocka_run_group_tests_name ("accelerator_pages", tests, NULL, NULL);
}
