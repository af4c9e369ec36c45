/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_accelerator.c - shares of peak and of memory from kernels whose truth is known. */
#include <math.h>

#include <json-glib/json-glib.h>

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

/* --- forms --- */

static double
magnitude (double predicted_s, double measured_s)
{
  return fabs (predicted_s / measured_s - 1);
}

static gint
by_value (gconstpointer a, gconstpointer b)
{
  return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

/* The middle, or that of the two in the middle; sorts. */
static double
middle_of (GArray *values)
{
  g_array_sort (values, by_value);
  return values->len == 0 ? 0
                          : (g_array_index (values, double, (values->len - 1) / 2)
                             + g_array_index (values, double, values->len / 2))
                                / 2;
}

/* The errors of a fit are those of its rows: products in BF16, or kernels that move memory. */
static void
assert_errors (const FabAcceleratorFit *self, const FabFractionFit *of, FabMeasureKind kind)
{
  g_autoptr (GArray) fitted = g_array_new (FALSE, FALSE, sizeof (double)),
                     held_out = g_array_new (FALSE, FALSE, sizeof (double)),
                     before = g_array_new (FALSE, FALSE, sizeof (double));
  double largest = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = &g_array_index (self->rows, FabKernelRow, i);
    double error = magnitude (row->predicted_s, row->measured_s),
           was = magnitude (row->before_s, row->measured_s);

    if (row->series->kind != kind || row->predicted_s <= 0)
      continue;
    g_array_append_val (row->is_held_out ? held_out : fitted, error);
    if (row->is_held_out) {
      g_array_append_val (before, was);
      largest = MAX (largest, error);
    }
  }
  assert_int_equal (of->n_fitted, fitted->len);
  assert_int_equal (of->n_held_out, held_out->len);
  assert_near (of->fitted, middle_of (fitted), 1e-9);
  assert_near (of->error, middle_of (held_out), 1e-9);
  assert_near (of->before, middle_of (before), 1e-9);
  assert_near (of->largest, largest, 1e-9);
}

/* The words of a line of the page, one blank between them. */
static char *
squeezed (const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  GString *text = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", words[i]);
  return g_string_free (text, FALSE);
}

/* A kernel as a line of the page has it. */
static char *
line_of (const FabKernelRow *row)
{
  gboolean has_flops = row->series->kind == FAB_MEASURE_PRODUCT;
  g_autofree char *size = row->series->shape
                            ? g_strdup (row->series->shape)
                            : g_strdup_printf ("%" G_GUINT64_FORMAT, (guint64) row->size_bytes);
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "%s %s%s%s %s %.2f", fab_measure_kind_names[row->series->kind],
                          row->series->op, row->series->precision ? " " : "",
                          row->series->precision ? row->series->precision : "", size, row->measured_s * 1e6);
  if (row->predicted_s > 0)
    g_string_append_printf (line, " %.2f", row->predicted_s * 1e6);
  if (row->rate > 0)
    g_string_append_printf (line, " %.1f %s", row->rate / (has_flops ? 1e12 : 1e9),
                            has_flops ? "TF/s" : "GB/s");
  if (row->predicted_s > 0)
    g_string_append_printf (line, " %+.1f %%%s", 100 * (row->predicted_s / row->measured_s - 1),
                            row->is_held_out ? " held out" : "");
  return g_string_free (line, FALSE);
}

static void
assert_kernel (JsonObject *kernel, const FabKernelRow *row, const char *csv)
{
  g_auto (GStrv) cells = g_strsplit (csv, ",", -1);

  assert_int_equal (g_strv_length (cells), 10);
  assert_string_equal (cells[1], fab_measure_kind_names[row->series->kind]);
  assert_string_equal (json_object_get_string_member (kernel, "kind"), cells[1]);
  assert_string_equal (json_object_get_string_member (kernel, "op"), cells[2]);
  assert_string_equal (cells[3], row->series->precision ? row->series->precision : "");
  assert_string_equal (cells[4], row->series->shape ? row->series->shape : "");
  assert_int_equal (json_object_get_int_member (kernel, "size_bytes"), row->size_bytes);
  assert_near (g_ascii_strtod (cells[5], NULL), (double) row->size_bytes, 0);
  assert_near (json_object_get_double_member (kernel, "measured_s"), row->measured_s, 1e-12);
  assert_near (g_ascii_strtod (cells[6], NULL), row->measured_s, 1e-5);
  assert_near (json_object_get_double_member (kernel, "before_s"), row->before_s, 1e-12);
  assert_near (g_ascii_strtod (cells[7], NULL), row->before_s, 1e-5);
  assert_near (json_object_get_double_member (kernel, "predicted_s"), row->predicted_s, 1e-12);
  assert_near (g_ascii_strtod (cells[8], NULL), row->predicted_s, 1e-5);
  assert_int_equal (json_object_get_boolean_member (kernel, "held_out"), row->is_held_out);
  assert_string_equal (cells[9], row->is_held_out ? "1" : "0");
}

static void
assert_fit (JsonArray *fits, const char *name, const FabFractionFit *fit, const char *text)
{
  g_autofree char *errors = g_strdup_printf (
      "fitted to %u (median error %.1f %%); %u held out: error of fit %.1f %%, largest %.1f %%; with the entry as it "
      "was %.1f %%\n",
      fit->n_fitted, 100 * fit->fitted, fit->n_held_out, 100 * fit->error, 100 * fit->largest,
      100 * fit->before);
  g_autofree char *share = g_strdup_printf ("%-10s %5.1f %% of ", name, 100 * fit->fraction);

  assert_non_null (strstr (text, errors));
  assert_non_null (strstr (text, share));
  for (guint i = 0; i < json_array_get_length (fits); i++) {
    JsonObject *one = json_array_get_object_element (fits, i);

    if (strcmp (json_object_get_string_member (one, "of"), name) != 0)
      continue;
    assert_near (json_object_get_double_member (one, "fraction"), fit->fraction, 1e-12);
    assert_int_equal (json_object_get_int_member (one, "n_fitted"), fit->n_fitted);
    assert_int_equal (json_object_get_int_member (one, "n_held_out"), fit->n_held_out);
    assert_near (json_object_get_double_member (one, "fitted_error"), fit->fitted, 1e-12);
    assert_near (json_object_get_double_member (one, "error_of_fit"), fit->error, 1e-12);
    assert_near (json_object_get_double_member (one, "largest_error"), fit->largest, 1e-12);
    assert_near (json_object_get_double_member (one, "error_before"), fit->before, 1e-12);
    return;
  }
  fail_msg ("the document has no fit of %s", name);
}

/* A line of the page, a row of the CSV file and an object of the document for every kernel, which say the same. */
static void
assert_forms_agree (const FabAcceleratorFit *self)
{
  g_autofree char *text = fab_accelerator_fit_to_text (self), *csv = fab_accelerator_fit_to_csv (self),
                  *json = fab_accelerator_fit_to_json (self);
  g_auto (GStrv) rows = g_strsplit (csv, "\n", -1), parts = g_strsplit (text, "\n\n", 2);
  g_auto (GStrv) lines = g_strsplit (parts[1], "\n", -1);
  g_autoptr (JsonParser) parser = json_parser_new ();

  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonArray *kernels = json_object_get_array_member (root, "kernels"),
            *fits = json_object_get_array_member (root, "fits");
  assert_int_equal (json_array_get_length (kernels), self->rows->len);
  assert_int_equal (g_strv_length (rows),
                    self->rows->len + 2); /* with a head, and the end of the last line */
  assert_int_equal (g_strv_length (lines), self->rows->len + 2);
  for (guint i = 0; i < self->rows->len; i++) {
    const FabKernelRow *row = &g_array_index (self->rows, FabKernelRow, i);
    g_autofree char *shown = squeezed (lines[1 + i]), *expected = line_of (row);

    assert_string_equal (shown, expected);
    assert_kernel (json_array_get_object_element (kernels, i), row, rows[1 + i]);
  }
  assert_fit (fits, "bf16", &self->achievable[FAB_PRECISION_BF16], text);
  assert_fit (fits, "memory", &self->memory, text);
  assert_errors (self, &self->achievable[FAB_PRECISION_BF16], FAB_MEASURE_PRODUCT);
  assert_near (json_object_get_double_member (root, "launch_s"), (double) self->launch_ps / 1e12, 1e-12);
  assert_near (json_object_get_double_member (root, "issue_s"), (double) self->issue_ps / 1e12, 1e-12);
  assert_near (json_object_get_double_member (root, "sustained_fraction"), self->sustained_fraction, 1e-12);
  assert_near (json_object_get_double_member (root, "matmul"), self->spec.matmul_fraction, 1e-12);
  assert_int_equal (json_array_get_length (json_object_get_array_member (root, "notes")), self->notes->len);
  for (guint i = 0; i < self->notes->len; i++)
    assert_non_null (strstr (text, g_ptr_array_index (self->notes, i)));
}

/* Without noise the truth is found, and rows that were held out are as near as those that were fitted. */
static void
the_truth_is_found (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autofree char *problem = NULL, *text = NULL;
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
  assert_non_null (strstr (text, "sustained   80.0 %"));
  assert_non_null (strstr (text, "launch     1.40 us"));
  assert_non_null (strstr (text, "issue      4.50 us"));
  assert_forms_agree (self);
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
  assert_forms_agree (self);
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
  g_autofree char *summary = g_strconcat (base->summary, ", measured", NULL);
  assert_string_equal (read->summary, summary);
  assert_non_null (strstr (yaml, "compute: {kind: roofline, achievable: "));
}

/* The share of memory is that of the first, third, ... kernel that moves 128 MiB or more, as far as such kernels go by
 * themselves: what is smaller may have stayed in a cache, whichever comes first. A share is never above one. */
static void
every_second_large_kernel_is_fitted (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes size_bytes;
    double share;
    gboolean is_large, is_held_out;
  } kernels[] = {
    { (FabBytes) 128 << 20, 0.90, TRUE, FALSE },
    { ((FabBytes) 128 << 20) - 1, 0.10, FALSE, FALSE },
    { (FabBytes) 1 << 30, 0.70, TRUE, TRUE },
    { ((FabBytes) 128 << 20) + 1, 0.80, TRUE, FALSE },
    { 1 << 20, 0.20, FALSE, FALSE },
    { (FabBytes) 1 << 29, 0.60, TRUE, TRUE },
    { (FabBytes) 3 << 29, 0.50, TRUE, FALSE },
  };
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabSeries copy = { .kind = FAB_MEASURE_MEMORY_BOUND, .op = (char *) "copy", .method = (char *) "kernel" };
  double rate = (double) base->memory_bytes_per_s;

  for (guint is_above = 0; is_above < 2; is_above++) { /* clocks above that of the datasheet */
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    g_autofree char *problem = NULL;

    for (guint i = 0; i < G_N_ELEMENTS (kernels); i++)
      add (all, &copy, kernels[i].size_bytes,
           (double) kernels[i].size_bytes / (rate * (is_above ? 1.04 : kernels[i].share)));
    g_autoptr (FabAcceleratorFit) self = fit (all, base, &problem);
    if (self == NULL)
      fail_msg ("%s", problem);
    assert_near (self->memory.fraction, is_above ? 1 : 0.80, 1e-5); /* of 0.90, 0.80 and 0.50 */
    assert_int_equal (self->memory.n_fitted, 3);
    assert_int_equal (self->memory.n_held_out, 2);
    for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
      const FabKernelRow *row = &g_array_index (self->rows, FabKernelRow, i);

      assert_int_equal (row->is_held_out, kernels[i].is_held_out);
      assert_int_equal (row->predicted_s > 0, kernels[i].is_large);
      if (kernels[i].is_large)
        assert_near (row->predicted_s, (double) kernels[i].size_bytes / (rate * self->memory.fraction), 1e-9);
    }
    assert_errors (self, &self->memory, FAB_MEASURE_MEMORY_BOUND);
  }
}

/* Where only one kind of kernels was measured, that one is fitted, and nothing is said of the others. */
static void
one_kind_is_enough (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autoptr (GPtrArray) products = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autofree char *first = NULL, *second = NULL;

  for (guint i = 1; i <= 6; i++)
    add_memory (memory, base, i % 2 ? "add" : "copy", i * 0.2);
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    add_product (products, &device, "bf16", "cublaslt", sides[i][0], sides[i][1], sides[i][2], 1);
  g_autoptr (FabAcceleratorFit) of_memory = fit (memory, base, &first),
                                of_products = fit (products, base, &second);
  if (of_memory == NULL || of_products == NULL)
    fail_msg ("%s; %s", first, second);
  g_autofree char *memory_text = fab_accelerator_fit_to_text (of_memory),
                  *products_text = fab_accelerator_fit_to_text (of_products);

  assert_true (fabs (of_memory->memory.fraction - true_memory) < 1e-4);
  assert_true (fabs (of_products->achievable[FAB_PRECISION_BF16].fraction - true_achievable) < 0.0011);
  assert_non_null (strstr (memory_text, "\nmemory "));
  assert_null (strstr (products_text, "\nmemory "));
  g_autofree char *memory_json = fab_accelerator_fit_to_json (of_memory),
                  *products_json = fab_accelerator_fit_to_json (of_products);
  assert_null (strstr (memory_json, "\"bf16\""));
  assert_non_null (strstr (memory_json, "\"memory\""));
  assert_null (strstr (products_json, "\"memory\""));
  of_memory->memory = (FabFractionFit){ .fraction = 0.9,
                                        .fitted = 0.5,
                                        .error = 0.6,
                                        .largest = 0.7,
                                        .before = 0.8,
                                        .n_fitted = 12,
                                        .n_held_out = 13 };
  g_autofree char *by_hand = fab_accelerator_fit_to_text (of_memory);
  assert_non_null (strstr (
      by_hand, "\nmemory      90.0 % of 3350 GB/s, fitted to 12 (median error 50.0 %); 13 held out: error "
               "of fit 60.0 %, largest 70.0 %; with the entry as it was 80.0 %\n"));
  for (guint k = 0; k < FAB_N_PRECISIONS; k++) {
    g_autofree char *head = g_strdup_printf ("\n%-10s ", fab_precision_names[k]);

    assert_null (strstr (memory_text, head));
    assert_int_equal (strstr (products_text, head) != NULL, k == FAB_PRECISION_BF16);
  }
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

/* --- what each row and each share rests on --- */

/* The time of a product at these shares of the device's rates. */
static double
seconds_of (const FabDevice *device, FabPrecision precision, const double s[3], double share,
            double memory_share, double launch_s)
{
  FabReachedRates rates = { fab_device_peak (device, precision) * share,
                            (double) device->memory_bytes_per_s * memory_share };
  FabMatmul matmul = { s[0], s[1], s[2], 1 };

  /* What is summed up in fewer bits is written in 16. */
  return fab_tiles_seconds (device, &rates, &matmul, fab_precision_operand_bytes (precision),
                            precision == FAB_PRECISION_FP32 || precision == FAB_PRECISION_TF32 ? 4 : 2)
       + launch_s;
}

static void
add_timed (GPtrArray *all, const char *precision, const char *method, const double s[3], double seconds)
{
  g_autofree char *shape = g_strdup_printf ("%.0fx%.0fx%.0f", s[0], s[1], s[2]);
  FabSeries series = { .kind = FAB_MEASURE_PRODUCT,
                       .op = (char *) "matmul",
                       .method = (char *) method,
                       .precision = (char *) precision,
                       .shape = shape };

  add (all, &series, 1000, seconds);
}

/* Of every precision that the GPU has, the share is found to a thousandth, the lowest and the highest too; where memory
 * and launches were not measured, the defaults of `roofline` stand for them. What the entry was as before has them
 * always, with the share that tiles run at. */
static void
every_precision_has_its_share (G_GNUC_UNUSED void **state)
{
  static const double shares[] = { 0.02, 0.021, 0.5, 0.999, 1 };
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (shares); i++) {
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    g_autofree char *problem = NULL;
    gboolean is_measured = i % 2;
    double memory = is_measured ? true_memory : 0.85, launch_s = is_measured ? true_launch_s : 1e-6;
    guint n = 0;

    for (guint p = 0; p < FAB_N_PRECISIONS; p++)
      for (guint k = 0; k < G_N_ELEMENTS (sides) && fab_device_peak (&device, p) > 0; k++)
        add_timed (all, fab_precision_names[p], "cublaslt", sides[k],
                   seconds_of (&device, p, sides[k], shares[i / 2], memory, launch_s));
    if (is_measured) {
      add_launches (all);
      add_memory (all, base, "copy", 1);
    }
    g_autoptr (FabAcceleratorFit) self = fit (all, base, &problem);
    if (self == NULL)
      fail_msg ("%s", problem);
    for (guint k = 0; k < self->rows->len; k++) {
      const FabKernelRow *row = &g_array_index (self->rows, FabKernelRow, k);
      const double *s = sides[k % G_N_ELEMENTS (sides)];
      FabPrecision p = 0;

      if (row->series->kind != FAB_MEASURE_PRODUCT)
        continue;
      while (strcmp (fab_precision_names[p], row->series->precision) != 0)
        p++;
      n++;
      assert_near (self->achievable[p].fraction, shares[i / 2], 1e-9);
      assert_near (row->predicted_s, row->measured_s, 1e-5);
      assert_near (row->before_s, seconds_of (&device, p, s, fab_tiles_share (&device, p), 0.85, 1e-6),
                   1e-12);
    }
    assert_true (n >= 4 * G_N_ELEMENTS (sides));
  }
}

/* Products, kernels that move memory, attention and launches, in this order; none without a time or a shape. Causal
 * attention has two products of half the scores forward, and five for two backward. */
static void
rows_have_their_rates (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabMeasureKind kind;
    const char *op, *shape;
    double size_bytes, seconds, rate;
  } kernels[] = {
    { FAB_MEASURE_PRODUCT, "matmul", "1000x2000x3000", 7, 1, 12e9 },
    { FAB_MEASURE_PRODUCT, "matmul", "1x1x1", 7, 1, 2 },
    { FAB_MEASURE_MEMORY_BOUND, "add", NULL, 4e9, 2, 2e9 },
    { FAB_MEASURE_ATTENTION, "forward", "2x3x5x7x11", 1, 1, 2.0 * 2 * 3 * 7 * 7 * 11 },
    { FAB_MEASURE_ATTENTION, "backward", "2x3x5x7x11", 1, 2, 5.0 * 2 * 3 * 7 * 7 * 11 / 2 },
    { FAB_MEASURE_LAUNCH, "empty", NULL, 1, 1e-6, 0 },
  };
  const guint n = G_N_ELEMENTS (kernels);
  g_autoptr (FabCatalog) catalog = catalog_new ();
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
  g_autofree char *problem = NULL;

  for (guint i = 2 * n; i-- > 0;) {
    FabSeries series = { .kind = kernels[i % n].kind,
                         .op = (char *) kernels[i % n].op,
                         .method = (char *) "held",
                         .precision = (char *) "bf16",
                         .shape = (char *) kernels[i % n].shape };

    if (i >= n && series.shape != NULL)
      series.shape = (char *) "10x20"; /* a side is missing */
    add (all, &series, (FabBytes) kernels[i % n].size_bytes,
         i < n || series.shape != NULL ? kernels[i % n].seconds : 0);
  }
  g_autoptr (FabAcceleratorFit) self = fit (all, fab_catalog_accelerator (catalog, "h100-sxm5-80gb"),
                                            &problem);
  if (self == NULL)
    fail_msg ("%s", problem);
  assert_int_equal (self->rows->len, n);
  for (guint i = 0; i < n; i++) {
    static const guint order[] = { 1, 0, 2, 4, 3, 5 };
    const FabKernelRow *row = &g_array_index (self->rows, FabKernelRow, i);

    assert_string_equal (row->series->op, kernels[order[i]].op);
    assert_near (row->measured_s, kernels[order[i]].seconds, 1e-9);
    assert_near (row->rate, kernels[order[i]].rate, 1e-9);
  }
}

/* In BF16 or FP16, over the peak of 16 bits, at most all of it; neither in another precision nor at the power limit. */
static void
the_best_product_is_the_entry_s (G_GNUC_UNUSED void **state)
{
  static const struct {
    double bf16, fp16, sustained; /* TFLOP/s; 0: not measured */
    double matmul;                /* 0: that of the base */
    const char *words;            /* of the source */
  } cases[] = {
    { 494.5, 0, 0, 0.5, ": best matmul 494.5 TFLOP/s in bf16 at 4096x4096x4096;" },
    { 0, 494.5, 0, 0.5, ": best matmul 494.5 TFLOP/s in fp16 at 4096x4096x4096;" },
    { 300, 494.5, 0, 0.5, " in fp16 at " },
    { 494.5, 300, 0, 0.5, " in bf16 at " },
    { 494.5, 494.5, 0, 0.5, " in bf16 at " },
    { 494.5, 0, 600, 0.5, " in bf16 at " },
    { 1000, 0, 0, 1, ": best matmul 1000.0 TFLOP/s in bf16 at " },
    { 0, 0, 0, 0, "measured; peaks and memory as h100-sxm5-80gb" },
  };
  static const double cube[3] = { 4096, 4096, 4096 };
  const double flops = 2 * 4096.0 * 4096 * 4096;
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    FabAcceleratorRequest request = {
      .base = base, .name = i % 2 ? "mine" : NULL, .date = "2026-11-28", .version = "0", .files = files
    };

    add_timed (all, "fp8", "cublaslt", cube, flops / 1500e12);
    if (cases[i].bf16 > 0) {
      add_timed (all, "bf16", "cublaslt", cube, flops / cases[i].bf16 / 1e12);
      add_timed (all, "bf16", "cublaslt", sides[0], 1);
    }
    if (cases[i].fp16 > 0)
      add_timed (all, "fp16", "cublaslt", cube, flops / cases[i].fp16 / 1e12);
    if (cases[i].sustained > 0)
      add_timed (all, "bf16", "cublaslt-sustained", cube, flops / cases[i].sustained / 1e12);
    g_autoptr (FabAcceleratorFit) self = fab_accelerator_fit_new (all, &request, NULL);
    assert_near (self->spec.matmul_fraction, cases[i].matmul > 0 ? cases[i].matmul : base->matmul_fraction,
                 1e-6);
    if (strstr (self->spec.source, cases[i].words) == NULL)
      fail_msg ("'%s' has no '%s'", self->spec.source, cases[i].words);
    assert_true (g_str_has_suffix (self->spec.source, "; peaks and memory as h100-sxm5-80gb"));
    assert_string_equal (self->spec.name, i % 2 ? "mine" : "h100-sxm5-80gb");
    assert_string_equal (self->spec.date, "2026-11-28");
  }
}

/* The rate of long runs over that of short ones: the median over the products that were measured both ways, in the same
 * shape and precision. */
static void
what_long_runs_reach (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");

  for (guint n = 0; n < 4; n++) {
    static const double shares[] = { 0.8, 0.9, 0.6 }, medians[] = { 0, 0.8, 0.85, 0.8 };
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    g_autofree char *problem = NULL;

    add_timed (all, "bf16", "cublaslt", sides[3], 3);           /* not measured long */
    add_timed (all, "fp16", "cublaslt-sustained", sides[3], 1); /* only long, in this precision */
    add_timed (all, "bf16", "cublaslt-sustained", sides[4], 1); /* only long */
    for (guint i = 0; i < n; i++) {
      add_timed (all, "bf16", i % 2 ? "cublaslt" : "cublaslt-sustained", sides[i], i % 2 ? 1 : 1 / shares[i]);
      add_timed (all, "bf16", i % 2 ? "cublaslt-sustained" : "cublaslt", sides[i], i % 2 ? 1 / shares[i] : 1);
    }
    g_autoptr (FabAcceleratorFit) self = fit (all, base, &problem);
    if (self == NULL)
      fail_msg ("%s", problem);
    assert_near (self->sustained_fraction, medians[n], 1e-9);
    assert_int_equal (self->achievable[FAB_PRECISION_BF16].n_fitted
                          + self->achievable[FAB_PRECISION_BF16].n_held_out,
                      1 + n);
    assert_int_equal (self->achievable[FAB_PRECISION_FP16].n_fitted, 0);
  }
}

/* What was not measured is said, and what stands for it. */
static void
what_is_missing_is_said (G_GNUC_UNUSED void **state)
{
  static const char *const notes[] = {
    "3 products are left out, because their precision is not known",
    "no product was measured, so `matmul` is that of h100-sxm5-80gb",
    "no kernel that moves 128 MiB or more was measured, so the share of the memory rate is the default, 85%",
    "the gap between two kernels on the GPU was not measured; it is taken as the default, 1 us",
  };
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabSeries issued = { .kind = FAB_MEASURE_LAUNCH, .op = (char *) "empty", .method = (char *) "issued" };

  for (guint i = 0; i < 16; i++) {
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    const gboolean is_said[] = { i & 1, (i & 3) == 2, (i & 4) != 0, (i & 8) != 0 };
    g_autofree char *problem = NULL;
    guint n = 0;

    for (guint k = 0; is_said[0] && k < 3; k++)
      add_timed (all, k ? "int8" : NULL, "cublaslt", sides[k], 1);
    if ((i & 2) == 0)
      add_timed (all, "bf16", "cublaslt", sides[0], 1);
    add_memory (all, base, "copy", is_said[2] ? 0.1 : 0.2);
    add (all, &issued, 1, 4e-6);
    if (!is_said[3])
      add_launches (all);
    g_autoptr (FabAcceleratorFit) self = fit (all, base, &problem);
    assert_int_equal (self != NULL, (i & 2) == 0 || !is_said[2]);
    for (guint k = 0; self != NULL && k < G_N_ELEMENTS (notes); k++)
      if (is_said[k])
        assert_string_equal (g_ptr_array_index (self->notes, n++), notes[k]);
    if (self != NULL)
      assert_int_equal (self->notes->len, n);
  }
}

/* Up to 1.05 times what the entry can do is taken; kernels that caches may have held are not asked. */
static void
what_is_too_fast (G_GNUC_UNUSED void **state)
{
  static const double factors[] = { 1.049, 1.051 }, cube[3] = { 4096, 4096, 4096 };
  g_autoptr (FabCatalog) catalog = catalog_new ();
  const FabAcceleratorSpec *base = fab_catalog_accelerator (catalog, "h100-sxm5-80gb");
  FabDevice device = fab_accelerator_device (base);
  double rate = (double) base->memory_bytes_per_s;

  for (guint i = 0; i < 4 * G_N_ELEMENTS (factors); i++) {
    g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_measured_series_free);
    FabBytes size_bytes = ((FabBytes) 128 << 20) - (i / 2 == 1 ? 1 : 0);
    FabSeries copy = { .kind = FAB_MEASURE_MEMORY_BOUND, .op = (char *) (i / 2 == 3 ? "copy" : NULL) };
    g_autofree char *problem = NULL, *right = NULL;
    double factor = factors[i % 2];

    if (i / 2 == 2) {
      double flops_per_s = fab_device_peak (&device, FAB_PRECISION_FP8) * factor;

      add_timed (all, "fp8", "cublaslt", cube, 2 * 4096.0 * 4096 * 4096 / flops_per_s);
      right = g_strdup_printf (
          "the product 4096x4096x4096 in fp8 reached %.4g TFLOP/s, and the peak of h100-sxm5-80gb "
          "is 1979 TFLOP/s: name another --base",
          flops_per_s / 1e12);
    } else {
      add (all, &copy, size_bytes, (double) size_bytes / (rate * factor));
      right = g_strdup_printf (
          "%s of 0.1342 GB moved %.4g GB/s, and the memory of h100-sxm5-80gb carries 3350 GB/s: "
          "name another --base",
          i / 2 == 3 ? "copy" : "a kernel", rate * factor / 1e9);
    }
    add_timed (all, "bf16", "cublaslt", cube, 1);
    g_autoptr (FabAcceleratorFit) self = fit (all, base, &problem);
    if (i % 2 && i / 2 != 1)
      assert_string_equal (problem, right);
    else
      assert_null (problem);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_truth_is_found),
    cmocka_unit_test (noise_moves_the_shares_little),
    cmocka_unit_test (the_entry_is_one_of_the_catalogue),
    cmocka_unit_test (every_second_large_kernel_is_fitted),
    cmocka_unit_test (one_kind_is_enough),
    cmocka_unit_test (what_cannot_be_is_refused),
    cmocka_unit_test (every_precision_has_its_share),
    cmocka_unit_test (rows_have_their_rates),
    cmocka_unit_test (the_best_product_is_the_entry_s),
    cmocka_unit_test (what_long_runs_reach),
    cmocka_unit_test (what_is_missing_is_said),
    cmocka_unit_test (what_is_too_fast),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
