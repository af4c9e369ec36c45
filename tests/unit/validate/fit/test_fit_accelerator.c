/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_accelerator.c - shares of peak and of memory from kernels whose truth is known. */
#include <math.h>

#include "models/compute/roofline/tiles.h"
#include "models/models.h"
#include "sim/assembly/assemble.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/fit/accelerator.h"

/* The GPU of these tests reaches 62 % of its BF16 peak in products, 91 % of its memory rate, and starts a kernel every
 * 1.4 us. */
static const double true_achievable = 0.62, true_memory = 0.91, true_launch_s = 1.4e-6;

static const char *const files[] = { "truth.meas", NULL };

static FabCatalog *
catalog_new (void)
{
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);

  if (catalog == NULL)
    g_error ("%s", error->message);
  return catalog;
}

static void
add (GPtrArray *all, const FabSeries *series, FabBytes size_bytes, double seconds)
{
  FabMeasuredSeries *measured = fab_measured_series_new (series);
  FabMeasuredPoint point = { .size_bytes = size_bytes, .time_ps = (FabTimePs) llround (seconds * 1e12) };

  g_array_append_val (measured->points, point);
  g_ptr_array_add (all, measured);
}

/* A product as `roofline` has it at the true shares, times `factor`. */
static void
add_product (GPtrArray *all, const FabDevice *device, const char *precision, const char *method, double m,
             double n, double k, double factor)
{
  g_autofree char *shape = g_strdup_printf ("%.0fx%.0fx%.0f", m, n, k);
  FabReachedRates rates = { device->peak_flops_per_s[FAB_PRECISION_BF16] * true_achievable,
                            (double) device->memory_bytes_per_s * true_memory };
  FabMatmul matmul = { m, n, k, 1 };
  FabSeries series = { .kind = FAB_MEASURE_PRODUCT,
                       .op = (char *) "matmul",
                       .method = (char *) method,
                       .precision = (char *) precision,
                       .shape = shape };

  add (all, &series, 1000, (fab_tiles_seconds (device, &rates, &matmul, 2, 2) + true_launch_s) * factor);
}

static void
add_memory (GPtrArray *all, const FabAcceleratorSpec *spec, const char *op, double gb)
{
  FabSeries series = { .kind = FAB_MEASURE_MEMORY_BOUND, .op = (char *) op, .method = (char *) "kernel" };

  add (all, &series, (FabBytes) (gb * 1e9), gb * 1e9 / ((double) spec->memory_bytes_per_s * true_memory));
}

static void
add_launches (GPtrArray *all)
{
  FabSeries held = { .kind = FAB_MEASURE_LAUNCH, .op = (char *) "empty", .method = (char *) "held" };
  FabSeries issued = { .kind = FAB_MEASURE_LAUNCH, .op = (char *) "empty", .method = (char *) "issued" };

  add (all, &held, 1, true_launch_s);
  add (all, &issued, 1, 4.5e-6);
}

static const double sides[][3] = { { 1024, 4096, 4096 },  { 4096, 4096, 4096 },  { 8192, 8192, 8192 },
                                   { 8192, 1280, 8192 },  { 4096, 14336, 4096 }, { 2048, 2048, 7168 },
                                   { 16384, 4096, 4096 }, { 1000, 3000, 500 } };

static FabAcceleratorFit *
fit (const GPtrArray *all, const FabAcceleratorSpec *base, char **problem)
{
  FabAcceleratorRequest request = { .base = base, .date = "2026-11-28", .version = "0", .files = files };
  g_autoptr (GError) error = NULL;
  FabAcceleratorFit *self = fab_accelerator_fit_new (all, &request, &error);

  assert_int_equal (self == NULL, error != NULL);
  *problem = error ? g_strdup (error->message) : NULL;
  return self;
}

/* Without noise the truth is found, and rows that were held out are as near as those that were fitted. */
static void
the_truth_is_found (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autofree char *problem = NULL, *text = NULL, *csv = NULL, *json = NULL;
  g_autoptr (FabAcceleratorFit) self = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    add_product (all, &device, "bf16", "cublaslt", sides[i][0], sides[i][1], sides[i][2], 1);
  add_product (all, &device, "bf16", "cublaslt-sustained", 8192, 8192, 8192, 1.25);
  for (guint i = 1; i <= 6; i++)
    add_memory (all, base, i % 2 ? "add" : "copy", i * 0.2);
  add_memory (all, base, "copy", 0.01); /* from a cache, and left out */
  add_launches (all);
  self = fit (all, base, &problem);
  assert_non_null (self);
  assert_true (fabs (self->achievable[FAB_PRECISION_BF16].fraction - true_achievable) < 0.0011);
  assert_true (fabs (self->memory.fraction - true_memory) < 1e-4);
  assert_int_equal (self->achievable[FAB_PRECISION_BF16].n_fitted, 4);
  assert_int_equal (self->achievable[FAB_PRECISION_BF16].n_held_out, 4);
  assert_int_equal (self->memory.n_fitted + self->memory.n_held_out, 6);
  assert_true (self->achievable[FAB_PRECISION_BF16].error < 0.002);
  assert_true (self->achievable[FAB_PRECISION_BF16].before > 0.05);
  assert_true (fabs (self->sustained_fraction - 0.8) < 1e-4);
  assert_int_equal (self->launch_ps, 1400000);
  assert_int_equal (self->issue_ps, 4500000);
  /* by the catalogue's definition: the best product over the peak */
  assert_true (self->spec.matmul_fraction > 0.55 && self->spec.matmul_fraction <= true_achievable + 1e-9);
  text = fab_accelerator_fit_to_text (self);
  csv = fab_accelerator_fit_to_csv (self);
  json = fab_accelerator_fit_to_json (self);
  assert_non_null (strstr (text, "error of fit"));
  assert_non_null (strstr (csv, "bf16,8192x8192x8192,1000,"));
  assert_non_null (strstr (json, "\"error_of_fit\""));
}

/* Times that are 6 % off either way, as those of a real GPU, leave the median share within 3 %. */
static void
noise_moves_the_shares_little (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (FabAcceleratorFit) self = NULL;
  g_autofree char *problem = NULL;
  GRand *random = g_rand_new_with_seed (7);

  add_launches (all);
  add_memory (all, base, "add", 1);
  for (guint i = 0; i < 60; i++)
    add_product (all, &device, "bf16", "cublaslt", sides[i % 8][0], sides[i % 8][1],
                 sides[i % 8][2] + 32 * (i / 8), g_rand_double_range (random, 0.94, 1.06));
  g_rand_free (random);
  self = fit (all, base, &problem);
  assert_non_null (self);
  assert_true (fabs (self->achievable[FAB_PRECISION_BF16].fraction / true_achievable - 1) < 0.03);
  assert_true (self->achievable[FAB_PRECISION_BF16].error > 0.01
               && self->achievable[FAB_PRECISION_BF16].error < 0.06);
}

/* What is written is read again, and holds what was fitted. */
static void
the_entry_is_one_of_the_catalogue (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "a100-sxm4-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  FabAcceleratorRequest request = {
    .base = base, .name = "mine", .date = "2026-11-28", .version = "0", .files = files
  };
  g_autoptr (FabAcceleratorFit) self = NULL;
  g_autofree char *problem = NULL, *yaml = NULL, *whole = NULL;
  g_autoptr (FabScenario) scenario = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 4; i++)
    add_product (all, &device, "bf16", "cublaslt", sides[i][0], sides[i][1], sides[i][2], 1);
  self = fab_accelerator_fit_new (all, &request, &error);
  assert_non_null (self);
  yaml = fab_accelerator_fit_yaml (self, &request);
  whole = g_strconcat ("name: x\ncluster: {node: dgx-a100}\njob: {kind: ddp, model: gpt2-xl}\n", yaml, NULL);
  scenario = fab_scenario_parse ("made", whole, strlen (whole), NULL, &fab_models, catalog, &error);
  if (scenario == NULL)
    g_error ("%s\n%s", error->message, whole);
  const FabAcceleratorSpec *read = fab_catalog_accelerator (fab_scenario_catalog (scenario), "mine");
  assert_non_null (read);
  assert_true (fabs (read->matmul_fraction - self->spec.matmul_fraction) < 1e-6);
  assert_non_null (strstr (yaml, "compute: {kind: roofline, achievable: "));
}

static void
what_cannot_be_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) fast = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (GPtrArray) launches = g_ptr_array_new_with_free_func (fab_measured_series_free);
  FabSeries copy = { .kind = FAB_MEASURE_MEMORY_BOUND, .op = (char *) "copy" };
  g_autofree char *first = NULL, *second = NULL, *third = NULL;

  add_product (fast, &device, "bf16", "cublaslt", 8192, 8192, 8192, 0.5);
  assert_null (fit (fast, base, &first));
  assert_non_null (strstr (first, "the product 8192x8192x8192 in bf16 reached"));
  add (memory, &copy, G_GUINT64_CONSTANT (1) << 30, 1e-4);
  assert_null (fit (memory, base, &second));
  assert_non_null (strstr (second, "name another --base"));
  add_launches (launches);
  assert_null (fit (launches, base, &third));
  assert_non_null (strstr (third, "neither a product nor a kernel that moves 128 MiB"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_truth_is_found),
    cmocka_unit_test (noise_moves_the_shares_little),
    cmocka_unit_test (the_entry_is_one_of_the_catalogue),
    cmocka_unit_test (what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
