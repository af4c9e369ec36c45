/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel_pages.c - errors of times of kernels and their pages, from tables by hand: each row counts with its kind
 * and role, and what the model has no time for counts nowhere. */
#include "models/models.h"
#include "tests/support/test.h"
#include "validate/kernels/report.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static const FabKernelSpec specs[2] = {
  { .accelerator = "h100-sxm5-80gb",
    .machine = "a machine",
    .software = "some software",
    .date = "2026-01-02",
    .source = "a paper",
    .note = "of a note",
    .kernel = FAB_KERNEL_PRODUCT,
    .includes = FAB_KERNEL_QUANTISING,
    .best_fraction = 0.75 },
  { .accelerator = "a100-sxm4-80gb",
    .machine = "another",
    .software = "other software",
    .date = "2026-03-04",
    .source = "a log",
    .kernel = FAB_KERNEL_MEMORY_BOUND,
    .includes = FAB_KERNEL_CACHE_FILL },
};

typedef struct {
  FabKernelTable tables[2];
  GPtrArray *all;
} World;

/* A row of 8 us whose prediction is off by `error`; -1: the model has no such kernel. */
static void
add_row (FabKernelTable *table, const char *kind, FabKernelRole role, double error)
{
  FabKernelRow row = { .kind = (char *) kind,
                       .measured_us = 8,
                       .predicted_us = 8 * (1 + error),
                       .role = role,
                       .line = 10 + table->rows->len };

  for (guint i = 0; i < FAB_KERNEL_MAX_NUMBERS; i++)
    row.numbers[i] = 16 * (i + 1);
  g_array_append_val (table->rows, row);
}

static void
make (World *self)
{
  *self = (World){ .tables = { { .spec = &specs[0], .name = (char *) "first" },
                               { .spec = &specs[1], .name = (char *) "second" } },
                   .all = g_ptr_array_new () };
  for (guint i = 0; i < 2; i++) {
    self->tables[i].rows = g_array_new (FALSE, FALSE, sizeof (FabKernelRow));
    g_ptr_array_add (self->all, &self->tables[i]);
  }
  /* Two kinds in turn; those of one kind and role are off by a quarter less, an eighth more and a half more. */
  add_row (&self->tables[0], "bf16", FAB_KERNEL_CALIBRATES, 0.125);
  add_row (&self->tables[0], "fp8", FAB_KERNEL_WITH_CASTS, 1);
  add_row (&self->tables[0], "bf16", FAB_KERNEL_JUDGED, 0.125);
  add_row (&self->tables[0], "bf16", FAB_KERNEL_JUDGED, -0.25);
  add_row (&self->tables[0], "bf16", FAB_KERNEL_JUDGED, 0.5);
  add_row (&self->tables[0], "bf16", FAB_KERNEL_JUDGED, -1);
  add_row (&self->tables[1], "copy", FAB_KERNEL_LEFT_OUT, -0.5);
}

static void
leave (World *self)
{
  for (guint i = 0; i < 2; i++)
    g_array_unref (self->tables[i].rows);
  g_ptr_array_unref (self->all);
}

/* --- pages --- */

static const char text_page[] =
    "Times of single kernels: predicted / measured - 1\n"
    "\n"
    "first: a machine, some software\n"
    "  bf16, calibrating                           1 rows  median |error|  12.5 %  bias  +12.5 %  90 % "
    "within  12.5 %\n"
    "  bf16, judged                                3 rows  median |error|  25.0 %  bias  +12.5 %  90 % "
    "within  50.0 %\n"
    "  fp8, with casts                             1 rows  median |error| 100.0 %  bias +100.0 %  90 % "
    "within 100.0 %\n"
    "\n"
    "second: another, other software\n"
    "  copy, left out                              1 rows  median |error|  50.0 %  bias  -50.0 %  90 % "
    "within  50.0 %\n"
    "\n"
    "all tables\n"
    "  product, calibrating                        1 rows  median |error|  12.5 %  bias  +12.5 %  90 % "
    "within  12.5 %\n"
    "  product, judged                             3 rows  median |error|  25.0 %  bias  +12.5 %  90 % "
    "within  50.0 %\n"
    "  product, with casts                         1 rows  median |error| 100.0 %  bias +100.0 %  90 % "
    "within 100.0 %\n"
    "  memory_bound, left out                      1 rows  median |error|  50.0 %  bias  -50.0 %  90 % "
    "within  50.0 %\n";

static const char tables_page[] =
    "## All tables\n"
    "\n"
    "| kernel | role | rows | median | bias | 90 % within |\n"
    "|---|---|---:|---:|---:|---:|\n"
    "| product | calibrating | 1 | 12.5 % | +12.5 % | 12.5 % |\n"
    "| product | judged | 3 | 25.0 % | +12.5 % | 50.0 % |\n"
    "| product | with casts | 1 | 100.0 % | +100.0 % | 100.0 % |\n"
    "| memory_bound | left out | 1 | 50.0 % | -50.0 % | 50.0 % |\n"
    "\n"
    "## Tables\n"
    "\n"
    "\"Accepted\" is the limit on the median over the judged and left out rows of a table\n"
    "(`validate/accept-kernels.yaml`), above which the tests fail.\n"
    "\n"
    "| table | kind | role | rows | median | bias | 90 % within | accepted |\n"
    "|---|---|---|---:|---:|---:|---:|---:|\n"
    "| first | bf16 | calibrating | 1 | 12.5 % | +12.5 % | 12.5 % | |\n"
    "| first | bf16 | judged | 3 | 25.0 % | +12.5 % | 50.0 % | |\n"
    "| first | fp8 | with casts | 1 | 100.0 % | +100.0 % | 100.0 % | |\n"
    "| second | copy | left out | 1 | 50.0 % | -50.0 % | 50.0 % | |\n";

static const char sources_page[] =
    "\n"
    "## Sources\n"
    "\n"
    "| table | accelerator | software | source | note |\n"
    "|---|---|---|---|---|\n"
    "| first | h100-sxm5-80gb | some software | a paper, 2026-01-02 | of a note |\n"
    "| second | a100-sxm4-80gb | other software | a log, 2026-03-04 |  |\n";

static const char csv_page[] =
    "table,kernel,accelerator,kind,role,line,measured_us,predicted_us,error_fraction\n"
    "first,product,h100-sxm5-80gb,bf16,calibrating,10,8,9,0.125\n"
    "first,product,h100-sxm5-80gb,fp8,with casts,11,8,16,1\n"
    "first,product,h100-sxm5-80gb,bf16,judged,12,8,9,0.125\n"
    "first,product,h100-sxm5-80gb,bf16,judged,13,8,6,-0.25\n"
    "first,product,h100-sxm5-80gb,bf16,judged,14,8,12,0.5\n"
    "second,memory_bound,a100-sxm4-80gb,copy,left out,10,8,4,-0.5\n";

static const char json_page[] =
    "{\"tables\" : [{\"table\" : \"first\",\"kernel\" : \"product\",\"software\" : \"some "
    "software\",\"best_fraction\" : 0.75,\"quantising\" : true,\"cache_fill\" : false,\"rows\" : [{\"kind\" "
    ": \"bf16\",\"role\" : \"calibrating\",\"line\" : 10,\"m\" : 16.0,\"n\" : 32.0,\"k\" : "
    "48.0,\"measured_us\" : 8.0,\"predicted_us\" : 9.0},{\"kind\" : \"fp8\",\"role\" : \"with "
    "casts\",\"line\" : 11,\"m\" : 16.0,\"n\" : 32.0,\"k\" : 48.0,\"measured_us\" : 8.0,\"predicted_us\" : "
    "16.0},{\"kind\" : \"bf16\",\"role\" : \"judged\",\"line\" : 12,\"m\" : 16.0,\"n\" : 32.0,\"k\" : "
    "48.0,\"measured_us\" : 8.0,\"predicted_us\" : 9.0},{\"kind\" : \"bf16\",\"role\" : \"judged\",\"line\" "
    ": 13,\"m\" : 16.0,\"n\" : 32.0,\"k\" : 48.0,\"measured_us\" : 8.0,\"predicted_us\" : 6.0},{\"kind\" : "
    "\"bf16\",\"role\" : \"judged\",\"line\" : 14,\"m\" : 16.0,\"n\" : 32.0,\"k\" : 48.0,\"measured_us\" : "
    "8.0,\"predicted_us\" : 12.0},{\"kind\" : \"bf16\",\"role\" : \"judged\",\"line\" : 15,\"m\" : "
    "16.0,\"n\" : 32.0,\"k\" : 48.0,\"measured_us\" : 8.0,\"predicted_us\" : null}],\"errors\" : [{\"kind\" "
    ": \"bf16\",\"role\" : \"calibrating\",\"rows\" : 1,\"median_fraction\" : 0.125,\"bias_fraction\" : "
    "0.125,\"p90_fraction\" : 0.125},{\"kind\" : \"bf16\",\"role\" : \"judged\",\"rows\" : "
    "3,\"median_fraction\" : 0.25,\"bias_fraction\" : 0.125,\"p90_fraction\" : 0.5},{\"kind\" : "
    "\"fp8\",\"role\" : \"with casts\",\"rows\" : 1,\"median_fraction\" : 1.0,\"bias_fraction\" : "
    "1.0,\"p90_fraction\" : 1.0}]},{\"table\" : \"second\",\"kernel\" : \"memory_bound\",\"software\" : "
    "\"other software\",\"best_fraction\" : 0.0,\"quantising\" : false,\"cache_fill\" : true,\"rows\" : "
    "[{\"kind\" : \"copy\",\"role\" : \"left out\",\"line\" : 10,\"bytes\" : 16.0,\"measured_us\" : "
    "8.0,\"predicted_us\" : 4.0}],\"errors\" : [{\"kind\" : \"copy\",\"role\" : \"left out\",\"rows\" : "
    "1,\"median_fraction\" : 0.5,\"bias_fraction\" : -0.5,\"p90_fraction\" : 0.5}]}],";

static void
pages (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world);
  const FabKernelView view = { world.all, NULL, NULL };
  g_autofree char *text = fab_kernels_to_text (&view), *markdown = fab_kernels_to_markdown (&view),
                  *csv = fab_kernels_to_csv (&view);

  assert_string_equal (text, text_page);
  assert_string_equal (csv, csv_page);
  assert_true (g_str_has_prefix (strstr (markdown, "## All tables"), tables_page));
  assert_true (g_str_has_suffix (markdown, sources_page));
  leave (&world);
}

/* The document on one line, without the accelerators and the constants of the models. */
static void
document (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL),
                     accelerators = g_regex_new ("\"accelerator\" : \\{.*?\\}\\},", 0, 0, NULL);
  World world;

  make (&world);
  g_autofree char *json = fab_kernels_to_json (&(FabKernelView){ world.all, catalog, NULL });
  g_autofree char *line = g_regex_replace_literal (breaks, json, -1, 0, "", 0, NULL);
  g_autofree char *rest = g_regex_replace_literal (accelerators, line, -1, 0, "", 0, NULL);

  assert_true (g_str_has_prefix (rest, json_page));
  assert_true (g_str_has_prefix (rest + strlen (json_page), "\"constants\" : {"));
  for (guint i = 0; i < 2; i++) {
    const FabAcceleratorSpec *entry = fab_catalog_accelerator (catalog, specs[i].accelerator);
    g_autofree char *head = g_strdup_printf (
        "\"accelerator\" : {\"name\" : \"%s\",\"architecture\" : \"%s\",\"sms\" : %" G_GINT64_FORMAT ",",
        entry->name, entry->architecture, (gint64) entry->n_sms);
    g_autofree char *rate = g_strdup_printf ("\"memory_bytes_per_s\" : %" G_GUINT64_FORMAT
                                             ",\"peak_flops_per_s\" : {\"bf16\" : %.1f,",
                                             (guint64) entry->memory_bytes_per_s,
                                             entry->peak_fp16_flops_per_s);

    assert_non_null (strstr (line, head));
    assert_non_null (strstr (strstr (line, head), rate));
  }
  leave (&world);
}

/* Of a table those that are judged or left out, without those that calibrate and those with casts. */
static void
errors_of_a_table (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world);
  FabKernelErrors first = fab_kernel_errors_of_table (&world.tables[0]),
                  second = fab_kernel_errors_of_table (&world.tables[1]);

  assert_int_equal (first.n, 3);
  assert_near (first.median, 0.25, 0);
  assert_near (first.bias, 0.125, 0);
  assert_near (first.p90, 0.5, 0);
  assert_int_equal (second.n, 1);
  assert_near (second.bias, -0.5, 0);
  /* Of ten rows the ninth is the least that nine of them do not exceed. */
  for (guint i = 0; i < 9; i++)
    add_row (&world.tables[1], "copy", FAB_KERNEL_JUDGED, i / 32.0);
  assert_near (fab_kernel_errors_of_table (&world.tables[1]).p90, 0.25, 0);
  assert_near (fab_kernel_errors_of_table (&world.tables[1]).median, 4.5 / 32, 0);
  leave (&world);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages),
    cmocka_unit_test (document),
    cmocka_unit_test (errors_of_a_table),
  };

  return cmocka_run_group_tests_name ("kernel_pages", tests, NULL, NULL);
}
