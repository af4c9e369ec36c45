/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel_tables.c - tables of measured kernels, their predicted times against closed forms, and errors. */
#include <glib/gstdio.h>

#include "models/compute/roofline/memory_bound.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/kernels/predict.h"
#include "validate/kernels/report.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

typedef struct {
  FabCatalog *catalog;
  char *directory;
  double memory_rate, bf16_rate; /* that plain kernels reach; peak */
} Fixture;

static int
setup (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  f->directory = g_dir_make_tmp ("fab-kernels-XXXXXX", NULL);
  if (f->catalog == NULL || f->directory == NULL)
    return -1;
  f->memory_rate = 0.85 * 3350e9;
  f->bf16_rate = 989e12;
  return 0;
}

static int
teardown (void **state)
{
  static const char *const files[] = { "INDEX.yaml", "t.csv", "accept.yaml" };
  Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (f->directory, files[i], NULL);

    g_unlink (path);
  }
  g_rmdir (f->directory);
  fab_catalog_free (f->catalog);
  g_free (f->directory);
  g_free (f);
  return 0;
}

static char *
put (const Fixture *f, const char *name, const char *text)
{
  char *path = g_build_filename (f->directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

/* One table t.csv, with these further fields; NULL and *error as fab_kernel_tables_load. */
static FabKernelTables *
try_load (const Fixture *f, const char *fields, const char *csv, GError **error)
{
  g_autofree char *index = g_strdup_printf (
      "tables:\n  - {file: t.csv, accelerator: h100-sxm5-80gb, machine: m, software: s,\n"
      "     date: 2024-01, source: made, %s}\n",
      fields);
  g_autofree char *index_path = put (f, "INDEX.yaml", index), *path = put (f, "t.csv", csv);

  return fab_kernel_tables_load (f->directory, f->catalog, &fab_models, error);
}

static FabKernelTables *
load (const Fixture *f, const char *fields, const char *csv)
{
  g_autoptr (GError) error = NULL;
  FabKernelTables *tables = try_load (f, fields, csv, &error);

  if (tables == NULL)
    fail_msg ("%s", error->message);
  return tables;
}

static FabKernelRow *
row_at (const FabKernelTables *tables, guint index)
{
  return &g_array_index (fab_kernel_tables_get (tables, 0)->rows, FabKernelRow, index);
}

static FabKernelTables *
predict (const Fixture *f, const char *fields, const char *csv)
{
  g_autoptr (GError) error = NULL;
  FabKernelTables *tables = load (f, fields, csv);

  if (!fab_kernel_table_predict (fab_kernel_tables_get (tables, 0), f->catalog, &error))
    fail_msg ("%s", error->message);
  return tables;
}

static double
time_us (const FabKernelTables *tables, guint index)
{
  return row_at (tables, index)->predicted_us;
}

/* --- times --- */

static void
test_kernels_of_memory_move_their_bytes_at_their_rate_after_a_gap (void **state)
{
  static const double rates[] = { 1, 1, 1, 1, 0.66, 0.66, 0.61, 0.74, 0.86 };
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = predict (
      f, "kernel: memory_bound, role: judged",
      "kernel,bytes,us\ncopy,1e9,1\nadd,1e9,1\ngelu,1e9,1\nsilu_mul,1e9,1\nrms_norm,1e9,1\nlayer_norm,1e9,1\n"
      "dropout,1e9,1\ncross_entropy_fwd,1e9,1\nadamw_fused,1e9,1\ncopy,0,1\nsort,1e9,1\n");

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    assert_near (time_us (tables, i), 1e9 / (f->memory_rate * rates[i]) * 1e6 + 1, 1e-9);
  assert_near (time_us (tables, 9), 1, 1e-9);
  assert_near (time_us (tables, 10), 0, 0); /* the model has none */
}

#define ATTENTION_HEAD "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\n"

static void
test_attention_over_one_token_takes_the_time_of_its_bytes (void **state)
{
  static const char rows[] = ATTENTION_HEAD "forward_cudnn,1000000,8,2,1,128,0,1\n"
                                            "backward_cudnn,1000000,8,2,1,128,0,1\n";
  const Fixture *f = *state;
  double vectors = 1e6 * 128 * 2; /* bytes of one head of all tokens */
  g_autoptr (FabKernelTables) alone = predict (f, "kernel: attention, role: judged", rows);
  g_autoptr (FabKernelTables) filled = predict (f, "kernel: attention, role: judged, includes: cache_fill",
                                                rows);

  /* Queries and the output of 8 heads, keys and values of 2. */
  assert_near (time_us (alone, 0), vectors * (8 + 8 + 2 + 2) / f->memory_rate * 1e6, 1e-9);
  assert_near (time_us (alone, 1), 2 * time_us (alone, 0), 1e-9);
  /* Keys and values of 2 heads are read and written. */
  for (guint i = 0; i < 2; i++)
    assert_near (time_us (filled, i) - time_us (alone, i), vectors * (2 + 2) * 2 / f->memory_rate * 1e6,
                 1e-9);
}

static void
test_long_attention_takes_the_time_of_its_arithmetic (void **state)
{
  const Fixture *f = *state;
  double flops = 2 * 2. * 4 * 32 * 8192. * 8192. * 128; /* scores and outputs of a batch of 4 */
  g_autoptr (FabKernelTables) tables = predict (f, "kernel: attention, role: judged",
                                                ATTENTION_HEAD "forward_cudnn,4,32,8,8192,128,0,1\n"
                                                               "forward_cudnn,4,32,8,8192,128,1,1\n"
                                                               "backward_cudnn,4,32,8,8192,128,0,1\n"
                                                               "forward_flash3,4,32,8,8192,128,0,1\n"
                                                               "forward_flash2,4,32,8,8192,128,0,1\n"
                                                               "forward_cudnn,8,32,8,8192,128,0,1\n"
                                                               "forward_cudnn,4,32,1,8192,128,0,1\n");
  double full = time_us (tables, 0), share = flops / f->bf16_rate * 1e6 / full;

  assert_true (share > 0.4 && share < 1);
  assert_true (time_us (tables, 1) > 0.5 * full && time_us (tables, 1) < 0.65 * full);
  assert_true (time_us (tables, 2) > 2.5 * full
               && time_us (tables, 2) < 4 * full);         /* five products, not two */
  assert_true (time_us (tables, 3) < time_us (tables, 4)); /* made for this generation */
  assert_near (time_us (tables, 5), 2 * full, 0.02);
  assert_near (time_us (tables, 6), full, 1e-9);
}

static void
test_a_kernel_of_attention_has_the_names_of_its_libraries (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = predict (f, "kernel: attention, role: judged",
                                                ATTENTION_HEAD "forward_flash2,1,8,8,4096,128,1,1\n"
                                                               "forward_FLASH_ATTENTION,1,8,8,4096,128,1,1\n"
                                                               "backward_cudnn,1,8,8,4096,128,1,1\n"
                                                               "backward_CUDNN_ATTENTION,1,8,8,4096,128,1,1\n"
                                                               "backward_trtllm,1,8,8,4096,128,1,1\n");

  assert_near (time_us (tables, 0), time_us (tables, 1), 0);
  assert_near (time_us (tables, 2), time_us (tables, 3), 0);
  assert_near (time_us (tables, 2), time_us (tables, 4), 0);
}

static void
test_large_products_take_the_time_of_their_arithmetic_in_their_precision (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = predict (
      f, "kernel: product, role: judged",
      "type,m,n,k,us\nbf16,16384,16384,16384,1\nfp16,16384,16384,16384,1\ntf32,16384,16384,16384,1\n"
      "fp8,16384,16384,16384,1\nbf16,32768,16384,16384,1\nbf16,16384,32768,16384,1\nbf16,16384,16384,32768,1\n");
  double bf16 = time_us (tables, 0), share = 2 * pow (16384, 3) / f->bf16_rate * 1e6 / bf16;

  assert_true (share > 0.6 && share < 0.9);
  assert_near (time_us (tables, 1), bf16, 0);
  assert_near (time_us (tables, 2), 2 * bf16, 0.1);
  assert_near (time_us (tables, 3), 0.5 * bf16, 0.15);
  for (guint i = 4; i < 7; i++)
    assert_near (time_us (tables, i), 2 * bf16, 0.03);
}

static void
test_a_table_with_its_own_best_product_is_as_much_faster (void **state)
{
  static const char rows[] = "type,m,n,k,us\nbf16,16384,16384,16384,1\n";
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) slow = predict (f, "kernel: product, role: judged, best: 40%", rows);
  g_autoptr (FabKernelTables) fast = predict (f, "kernel: product, role: judged, best: 80%", rows);

  assert_near (time_us (slow, 0), 2 * time_us (fast, 0), 0.05);
}

static void
test_quantising_reads_the_left_side_twice_and_writes_it_in_a_byte (void **state)
{
  static const char rows[] = "type,m,n,k,us\nfp8,1024,512,4096,1\nbf16,1024,512,4096,1\n";
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) alone = predict (f, "kernel: product, role: judged", rows);
  g_autoptr (FabKernelTables) with = predict (f, "kernel: product, role: judged, includes: quantising", rows);

  assert_near (time_us (with, 0) - time_us (alone, 0), 1024. * 4096 * (2 + 2 + 1) / f->memory_rate * 1e6,
               1e-6);
  assert_near (time_us (with, 1), time_us (alone, 1), 0);
}

static void
test_a_layer_of_one_expert_is_its_two_products_and_its_passes_over_memory (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) layer = predict (
      f, "kernel: experts, role: judged",
      "tokens,hidden,inner,per_token,experts,us\n2048,1024,3072,1,1,1\n"
      "1024,1024,3072,2,1,1\n2048,1024,3072,1,8,1\n");
  g_autoptr (FabKernelTables) products = predict (
      f, "kernel: product, role: judged", "type,m,n,k,us\nbf16,2048,6144,1024,1\nbf16,2048,1024,3072,1\n");
  double both = time_us (products, 0) + time_us (products, 1);
  /* Copied to the expert: read and written. Activation: two halves read, one written. Summed up: read, and written. */
  double numbers = 2048. * (2 * 1024 + 3 * 3072 + 1024), output = 2048. * 1024;

  assert_near (time_us (layer, 0), both + (numbers + output) * 2 / f->memory_rate * 1e6, 1e-9);
  assert_near (time_us (layer, 1), both + (numbers + output / 2) * 2 / f->memory_rate * 1e6, 1e-9);
  assert_true (time_us (layer, 2) >= time_us (layer, 0)); /* weights of eight are read */
  assert_string_equal (row_at (layer, 0)->kind, "gated layer");
}

/* Many tokens take as long as the experts that they go to are few or many. */
static void
test_tokens_are_divided_among_experts (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) layer = predict (f, "kernel: experts, role: judged",
                                               "tokens,hidden,inner,per_token,experts,us\n"
                                               "65536,1024,3072,2,1,1\n65536,1024,3072,2,8,1\n");

  assert_near (time_us (layer, 1), time_us (layer, 0), 0.1);
}

static void
test_kinds_that_no_model_has_are_refused_at_their_rows (void **state)
{
  static const struct {
    const char *type, *csv, *kind;
  } cases[] = {
    { "product", "type,m,n,k,us\nbf16,1,1,1,1\nint4,1,1,1,1\n", "int4" },
    { "attention", ATTENTION_HEAD "forward_cudnn,1,1,1,1,64,0,1\nforward_flash9,1,1,1,1,64,0,1\n",
      "forward_flash9" },
    { "attention", ATTENTION_HEAD "forward_cudnn,1,1,1,1,64,0,1\nsideways_flash2,1,1,1,1,64,0,1\n",
      "sideways_flash2" },
    { "attention", ATTENTION_HEAD "forward_cudnn,1,1,1,1,64,0,1\nforward,1,1,1,1,64,0,1\n", "forward" },
  };
  const Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *fields = g_strdup_printf ("kernel: %s, role: judged", cases[i].type);
    g_autofree char *message = g_strdup_printf ("t.csv:3: no kernel model is called '%s'", cases[i].kind);
    g_autoptr (FabKernelTables) tables = load (f, fields, cases[i].csv);
    g_autoptr (GError) error = NULL;

    assert_false (fab_kernel_table_predict (fab_kernel_tables_get (tables, 0), f->catalog, &error));
    assert_string_equal (error->message, message);
  }
}

/* --- tables --- */

static void
assert_roles (const FabKernelTables *tables, const FabKernelRole *roles, guint n)
{
  for (guint i = 0; i < n; i++)
    assert_int_equal (row_at (tables, i)->role, roles[i]);
}

static void
test_rows_of_a_kind_calibrate_and_are_judged_in_turn (void **state)
{
  static const char rows[] =
      "type,m,n,k,us\nbf16,1,1,1,1\nfp8,1,1,1,1\nbf16,1,1,1,1\n\nbf16,1,1,1,1\nfp8,1,1,1,1\n";
  static const FabKernelRole in_turn[] = { FAB_KERNEL_CALIBRATES, FAB_KERNEL_CALIBRATES, FAB_KERNEL_JUDGED,
                                           FAB_KERNEL_CALIBRATES, FAB_KERNEL_JUDGED };
  static const FabKernelRole all[] = { 0, 0, 0, 0, 0 };
  static const FabKernelRole none[] = { FAB_KERNEL_LEFT_OUT, FAB_KERNEL_WITH_CASTS, FAB_KERNEL_LEFT_OUT,
                                        FAB_KERNEL_LEFT_OUT, FAB_KERNEL_WITH_CASTS };
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) half = load (f, "kernel: product, role: calibration", rows);
  g_autoptr (FabKernelTables) whole = load (f, "kernel: product, role: calibration, rows: all", rows);
  g_autoptr (FabKernelTables) judged = load (f, "kernel: product, role: judged, includes: quantising", rows);

  assert_int_equal (fab_kernel_tables_get (half, 0)->rows->len, 5);
  assert_roles (half, in_turn, 5);
  assert_roles (whole, all, 5);
  assert_roles (judged, none, 5);
  assert_int_equal (row_at (half, 2)->line, 4);
  assert_int_equal (row_at (half, 3)->line, 6); /* an empty line counts as one */
}

static void
test_columns_are_found_by_their_names_in_any_order (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = load (f, "kernel: product, role: judged",
                                             "k,us,more,type,n,m\n3,4.5,x,bf16,2,1\n");
  const FabKernelRow *row = row_at (tables, 0);

  assert_string_equal (row->kind, "bf16");
  assert_near (row->measured_us, 4.5, 0);
  for (guint i = 0; i < 3; i++)
    assert_near (row->numbers[i], i + 1, 0);
}

static void
test_wrong_tables_are_refused_with_what_is_wrong (void **state)
{
  static const struct {
    const char *csv, *message;
  } cases[] = {
    { "type,m,n,us\nbf16,1,1,1\n",
      "t.csv:1: the head has no column 'k', which a table of kernel 'product' needs" },
    { "m,n,k,us\n1,1,1,1\n", "t.csv:1: the head has no column 'type'" },
    { "type,m,n,k\nbf16,1,1,1\n", "t.csv:1: the head has no column 'us'" },
    { "type,m,n,k,us\nbf16,1,1,1,1\nbf16,1,1,1,0\n", "t.csv:3: 'bf16,1,1,1,0' is no row" },
    { "type,m,n,k,us\nbf16,1,1,1,\n", "t.csv:2: " },
    { "type,m,n,k,us\nbf16,1,1,1\n", "t.csv:2: " },
    { "type,m,n,k,us\nbf16,-1,1,1,1\n", "t.csv:2: " },
    { "type,m,n,k,us\nbf16,1x,1,1,1\n", "t.csv:2: " },
    { "type,m,n,k,us\nbf16,1,1,1e18,1\n", "t.csv:2: " },
    { "us,m,n,k,type\n1,1,1,1\n", "t.csv:2: " },
    { "type,m,n,k,us\n", "t.csv: the table has no rows" },
    { "type,m,n,k,us", "t.csv: the table has no rows" },
  };
  const Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (try_load (f, "kernel: product, role: judged", cases[i].csv, &error));
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("'%s' has no '%s'", error->message, cases[i].message);
  }
}

static void
test_a_table_is_found_by_its_name_and_by_its_file (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = load (f, "kernel: product, role: judged",
                                             "type,m,n,k,us\nbf16,1,1,1,1\n");
  g_autoptr (GError) error = NULL;

  assert_int_equal (fab_kernel_tables_n (tables), 1);
  assert_ptr_equal (fab_kernel_tables_find (tables, "t", NULL), fab_kernel_tables_get (tables, 0));
  assert_ptr_equal (fab_kernel_tables_find (tables, "t.csv", NULL), fab_kernel_tables_get (tables, 0));
  assert_null (fab_kernel_tables_find (tables, "u", &error));
  assert_true (g_str_has_prefix (error->message, "there is no table 'u'"));
}

/* --- errors --- */

/* Predicted times of four judged rows, beside 100 us: -20 %, +10 %, -5 %, none. */
static FabKernelTables *
with_errors (const Fixture *f)
{
  static const double predicted[] = { 500, 80, 110, 95, 0, 103 };
  FabKernelTables *tables = load (
      f, "kernel: memory_bound, role: judged",
      "kernel,bytes,us\ncopy,1,1\ncopy,1,100\ncopy,1,100\nadd,1,100\nadd,1,100\nadd,1,100\n");

  row_at (tables, 0)->role = FAB_KERNEL_CALIBRATES;
  row_at (tables, 5)->role = FAB_KERNEL_JUDGED;
  for (guint i = 0; i < G_N_ELEMENTS (predicted); i++)
    row_at (tables, i)->predicted_us = predicted[i];
  return tables;
}

static void
test_errors_are_of_the_rows_that_are_judged_and_priced (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = with_errors (f);
  FabKernelErrors errors = fab_kernel_errors_of_table (fab_kernel_tables_get (tables, 0));

  assert_int_equal (errors.n, 4); /* -20 %, -5 %, 3 %, 10 % */
  assert_near (errors.bias, -0.01, 1e-9);
  assert_near (errors.median, 0.075, 1e-9);
  assert_near (errors.p90, 0.2, 1e-9);
}

static void
test_accounts_are_of_each_kind_and_role_in_the_order_of_the_table (void **state)
{
  static const struct {
    const char *kind;
    FabKernelRole role;
    guint n;
    double bias;
  } right[] = { { "copy", FAB_KERNEL_CALIBRATES, 1, 499 },
                { "copy", FAB_KERNEL_LEFT_OUT, 2, -0.05 },
                { "add", FAB_KERNEL_JUDGED, 1, 0.03 },
                { "add", FAB_KERNEL_LEFT_OUT, 1, -0.05 } };
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = with_errors (f);
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  g_ptr_array_add (chosen, fab_kernel_tables_get (tables, 0));
  g_autoptr (GArray) accounts = fab_kernel_accounts (chosen);
  assert_int_equal (accounts->len, G_N_ELEMENTS (right));
  for (guint i = 0; i < accounts->len; i++) {
    const FabKernelAccount *account = &g_array_index (accounts, FabKernelAccount, i);

    assert_string_equal (account->kind, right[i].kind);
    assert_int_equal (account->role, right[i].role);
    assert_int_equal (account->errors.n, right[i].n);
    assert_near (account->errors.bias, right[i].bias, 1e-9);
  }
  assert_int_equal (fab_kernel_errors_of_type (chosen, FAB_KERNEL_MEMORY_BOUND, FAB_KERNEL_LEFT_OUT).n, 3);
  assert_near (fab_kernel_errors_of_type (chosen, FAB_KERNEL_MEMORY_BOUND, FAB_KERNEL_LEFT_OUT).bias, -0.05,
               1e-9);
  assert_int_equal (fab_kernel_errors_of_type (chosen, FAB_KERNEL_PRODUCT, FAB_KERNEL_LEFT_OUT).n, 0);
}

static const char *
same_name (G_GNUC_UNUSED gconstpointer known, const char *name, G_GNUC_UNUSED GError **error)
{
  return name;
}

static void
test_a_table_must_have_a_limit_and_be_within_it (void **state)
{
  static const struct {
    const char *limit;
    guint n_lines;
  } cases[] = { { "{table: t, median: 7.6%}", 0 },
                { "{table: t, median: 7.4%}", 1 },
                { "{table: u, median: 90%}", 1 } };
  const FabLimitsRequest request = { FAB_LIMITS_OF_KERNELS, same_name, NULL, &fab_models };
  const Fixture *f = *state;
  g_autoptr (FabKernelTables) tables = with_errors (f);
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  g_ptr_array_add (chosen, fab_kernel_tables_get (tables, 0));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("tables:\n  - %s\n", cases[i].limit);
    g_autofree char *path = put (f, "accept.yaml", text);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabLimits) limits = fab_limits_load (path, &request, &error);

    if (limits == NULL)
      fail_msg ("%s", error->message);
    g_auto (GStrv) lines = fab_kernel_exceeded (chosen, limits);
    assert_int_equal (g_strv_length (lines), cases[i].n_lines);
    assert_true (lines[0] == NULL || strstr (lines[0], "t") != NULL);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_kernels_of_memory_move_their_bytes_at_their_rate_after_a_gap),
    TEST (test_attention_over_one_token_takes_the_time_of_its_bytes),
    TEST (test_long_attention_takes_the_time_of_its_arithmetic),
    TEST (test_a_kernel_of_attention_has_the_names_of_its_libraries),
    TEST (test_large_products_take_the_time_of_their_arithmetic_in_their_precision),
    TEST (test_a_table_with_its_own_best_product_is_as_much_faster),
    TEST (test_quantising_reads_the_left_side_twice_and_writes_it_in_a_byte),
    TEST (test_a_layer_of_one_expert_is_its_two_products_and_its_passes_over_memory),
    TEST (test_tokens_are_divided_among_experts),
    TEST (test_kinds_that_no_model_has_are_refused_at_their_rows),
    TEST (test_rows_of_a_kind_calibrate_and_are_judged_in_turn),
    TEST (test_columns_are_found_by_their_names_in_any_order),
    TEST (test_wrong_tables_are_refused_with_what_is_wrong),
    TEST (test_a_table_is_found_by_its_name_and_by_its_file),
    TEST (test_errors_are_of_the_rows_that_are_judged_and_priced),
    TEST (test_accounts_are_of_each_kind_and_role_in_the_order_of_the_table),
    TEST (test_a_table_must_have_a_limit_and_be_within_it),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
