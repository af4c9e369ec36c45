/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - errors and their medians, roles kept apart, the gate, and what is printed. */
#include "validate/compare/report.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/compare/print.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"
#define MEASURED FAB_SOURCE_DIR "/validate/measured"

typedef struct {
  FabCatalog *catalog;
  FabMeasured *measured;
  GPtrArray *tables; /* all of them */
  FabReport *report;
} Fixture;

static int
setup (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  f->measured = f->catalog ? fab_measured_load (MEASURED, f->catalog, &fab_models, NULL) : NULL;
  f->tables = g_ptr_array_new ();
  for (guint i = 0; f->measured && i < fab_measured_n_tables (f->measured); i++)
    g_ptr_array_add (f->tables, (gpointer) fab_measured_table (f->measured, i));
  f->report = f->measured ? fab_report_new (f->tables, NULL, f->catalog, &fab_models, NULL) : NULL;
  return f->report ? 0 : -1;
}

static int
teardown (void **state)
{
  Fixture *f = *state;

  fab_report_free (f->report);
  g_ptr_array_unref (f->tables);
  fab_measured_free (f->measured);
  fab_catalog_free (f->catalog);
  g_free (f);
  return 0;
}

static void
test_size_classes (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_size_class (1), FAB_SIZE_SMALL);
  assert_int_equal (fab_size_class (256 * 1024 - 1), FAB_SIZE_SMALL);
  assert_int_equal (fab_size_class (256 * 1024), FAB_SIZE_MIDDLE);
  assert_int_equal (fab_size_class (64 * 1024 * 1024 - 1), FAB_SIZE_MIDDLE);
  assert_int_equal (fab_size_class (64 * 1024 * 1024), FAB_SIZE_LARGE);
}

/* |e| sorted: 0.1 0.2 0.3 0.5; median 0.25. Signed: -0.5 -0.2 0.1 0.3; median -0.05. */
static void
test_errors (G_GNUC_UNUSED void **state)
{
  static const double even[] = { 0.1, -0.5, 0.3, -0.2 }, odd[] = { 0.1, -0.5, 0.5 };
  static const FabBytes sizes[] = { 1, 2, 4, 8 };
  FabErrors errors = fab_errors_of (even, sizes, 4);

  assert_int_equal (errors.n, 4);
  assert_near (errors.median_fraction, 0.25, 1e-12);
  assert_near (errors.bias_fraction, -0.05, 1e-12);
  assert_near (errors.max_fraction, 0.5, 1e-12);
  assert_int_equal (errors.max_size_bytes, 2);
  errors = fab_errors_of (odd, sizes, 3);
  assert_near (errors.median_fraction, 0.5, 1e-12);
  assert_near (errors.bias_fraction, 0.1, 1e-12);
  assert_int_equal (errors.max_size_bytes, 2);
  assert_int_equal (fab_errors_of (NULL, NULL, 0).n, 0);
}

static void
test_rows (void **state)
{
  const Fixture *f = *state;

  assert_int_equal (f->report->comparisons->len, f->tables->len);
  for (guint i = 0; i < f->report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (f->report->comparisons, i);
    guint n = 0;

    assert_ptr_equal (comparison->table, g_ptr_array_index (f->tables, i));
    assert_int_equal (comparison->rows->len + comparison->n_left_out, comparison->table->csv->rows->len);
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      n += comparison->errors[c].n;
    assert_int_equal (n, comparison->rows->len);
    for (guint k = 0; k < comparison->rows->len; k++) {
      const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, k);

      assert_int_equal (row->measured->size_bytes, row->predicted->size_bytes);
      assert_near ((1 + row->error_fraction) * row->measured->time_us, row->predicted->time_us, 1e-9);
    }
  }
}

/* A role counts the rows of its own tables and no others, and of no doubtful one. */
static void
test_roles_are_apart (void **state)
{
  const Fixture *f = *state;

  for (guint role = 0; role < FAB_N_ROLES; role++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      guint n = 0;

      for (guint i = 0; i < f->report->comparisons->len; i++) {
        const FabComparison *comparison = g_ptr_array_index (f->report->comparisons, i);

        if ((guint) comparison->table->spec->role == role && !comparison->table->spec->is_doubtful)
          n += comparison->errors[c].n;
      }
      assert_int_equal (fab_report_role (f->report, (FabMeasuredRole) role)[c].sizes.n, n);
    }
}

/* Three small tables of two families. Their medians are 10, 20 and 60 %: by table 20 %. By family (10 + 20) / 2 = 15
 * and 60: 37.5 %. By size, of 5, 15, 20, 60, 60, 60, 60: 60 %. The doubtful one of 90 % is beside. */
static void
test_accounts (G_GNUC_UNUSED void **state)
{
  static const double first[] = { -0.05, 0.15 }, second[] = { 0.2 }, third[] = { -0.6, 0.6, 0.6, 0.6 },
                      ill[] = { 0.9 };
  static const FabBytes sizes[] = { 1, 2, 4, 8 };
  const FabMeasuredSpec a = { .op = FAB_OP_ALL_REDUCE, .interconnect = "A", .role = FAB_ROLE_JUDGED },
                        b = { .op = FAB_OP_SEND_RECV, .interconnect = "B", .role = FAB_ROLE_JUDGED },
                        c = { .interconnect = "A", .role = FAB_ROLE_JUDGED, .is_doubtful = TRUE };
  const FabAccountTable tables[] = { { &a, FAB_ROLE_JUDGED, FAB_PLACE_NODE, FALSE, 2, first, sizes },
                                     { &a, FAB_ROLE_JUDGED, FAB_PLACE_NODES, TRUE, 1, second, sizes },
                                     { &b, FAB_ROLE_JUDGED, FAB_PLACE_NODES, FALSE, 4, third, sizes },
                                     { &c, FAB_ROLE_JUDGED, FAB_PLACE_NODE, TRUE, 1, ill, sizes } };
  g_autoptr (GArray) accounts = fab_accounts_of (tables, G_N_ELEMENTS (tables));
  const FabAccount *all = &g_array_index (accounts, FabAccount, 0);
  const FabTally *tally = &all->tallies[FAB_ROLE_JUDGED][FAB_SIZE_SMALL];
  guint n_of_kind[FAB_N_ACCOUNT_KINDS] = { 0 };

  assert_int_equal (tally->sizes.n, 7);
  assert_near (tally->sizes.median_fraction, 0.6, 1e-12);
  assert_int_equal (tally->n_tables, 3);
  assert_near (tally->tables_fraction, 0.2, 1e-12);
  assert_int_equal (tally->n_families, 2);
  assert_near (tally->families_fraction, 0.375, 1e-12);
  assert_false (fab_account_has_role (all, FAB_ROLE_CALIBRATION));
  for (guint i = 0; i < accounts->len; i++) {
    const FabAccount *account = &g_array_index (accounts, FabAccount, i);

    n_of_kind[account->kind]++;
    tally = &account->tallies[FAB_ROLE_JUDGED][FAB_SIZE_SMALL];
    if (account->kind == FAB_ACCOUNT_DOUBTFUL)
      assert_near (tally->tables_fraction, 0.9, 1e-12);
    if (strcmp (account->name, "several nodes, all-to-all and send-receive") == 0)
      assert_near (tally->tables_fraction, 0.6, 1e-12);
    if (account->kind == FAB_ACCOUNT_AMD)
      assert_near (tally->tables_fraction, 0.2, 1e-12); /* the doubtful one is not among them */
    if (strcmp (account->name, "A") == 0)
      assert_near (tally->tables_fraction, 0.15, 1e-12);
  }
  assert_int_equal (n_of_kind[FAB_ACCOUNT_PLACE], 2);
  assert_int_equal (n_of_kind[FAB_ACCOUNT_OPERATIONS], 2);
  assert_int_equal (n_of_kind[FAB_ACCOUNT_PLACE_AND_OPERATIONS], 3);
  assert_int_equal (n_of_kind[FAB_ACCOUNT_AMD], 2);
  assert_int_equal (n_of_kind[FAB_ACCOUNT_INTERCONNECT], 2);
  assert_int_equal (n_of_kind[FAB_ACCOUNT_DOUBTFUL], 1);
}

/* Printed with two decimals, 0.33 GB/s may be 1.5 % off: left out; 0.67 may be 0.7 %. */
static void
test_coarse_rows_are_left_out (void **state)
{
  const Fixture *f = *state;

  for (guint i = 0; i < f->report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (f->report->comparisons, i);

    if (strcmp (comparison->table->name, "azure_ndv4_a100_allreduce_8") != 0)
      continue;
    assert_int_equal (comparison->n_left_out, 4);
    assert_int_equal (g_array_index (comparison->rows, FabComparisonRow, 0).measured->size_bytes, 16384);
    return;
  }
  fail ();
}

/* A host that needs 1 ms to issue is far off at every small size. */
static void
test_sets (void **state)
{
  const char *const sets[] = { "collectives.issue=1ms", NULL };
  const Fixture *f = *state;
  g_autoptr (FabReport) report = fab_report_new (f->tables, sets, f->catalog, &fab_models, NULL);

  assert_true (fab_report_role (report, FAB_ROLE_CALIBRATION)[FAB_SIZE_SMALL].sizes.median_fraction > 5);
}

static FabLimits *
parse_accept (const Fixture *f, const char *text, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("fab-accept-XXXXXX.yaml", &path, NULL);
  FabLimits *accept;

  assert_true (file >= 0 && g_close (file, NULL));
  assert_true (g_file_set_contents (path, text, -1, NULL));
  accept = fab_report_limits_load (path, f->measured, &fab_models, error);
  g_unlink (path);
  return accept;
}

static char **
exceeded_by_h100_gather (const Fixture *f, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabLimits) accept = parse_accept (f, text, &error);
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();
  g_autoptr (FabReport) report = NULL;

  assert_null (error);
  g_ptr_array_add (tables, (gpointer) fab_measured_find (f->measured, "h100x8_nvswitch_allgather_8", NULL));
  report = fab_report_new (tables, NULL, f->catalog, &fab_models, NULL);
  return fab_report_exceeded (report, accept);
}

static void
test_gate (void **state)
{
  g_auto (GStrv) good = exceeded_by_h100_gather (
      *state, "tables:\n  - {table: h100x8_nvswitch_allgather_8.csv, middle: 99%, large: 9.9%}\n");
  g_auto (GStrv) tight = exceeded_by_h100_gather (
      *state, "tables:\n  - {table: h100x8_nvswitch_allgather_8, middle: 99%, large: 0.001%}\n");
  g_auto (GStrv) silent = exceeded_by_h100_gather (*state, "tables: []\n");

  assert_int_equal (g_strv_length (good), 0);
  assert_int_equal (g_strv_length (tight), 1);
  assert_true (g_str_has_prefix (tight[0], "h100x8_nvswitch_allgather_8: large: median |error| "));
  assert_int_equal (g_strv_length (silent), 2);
  assert_true (g_str_has_suffix (silent[0], "no limit is accepted"));
}

static void
test_accept_refused (void **state)
{
  static const struct {
    const char *text, *part;
  } cases[] = {
    { "tables:\n  - {table: h100x8_nvswitch_allgather_8, large: 1001%}\n", "'large'" },
    { "tables:\n  - {table: h100x8_nvswitch_allgather_8, large: -1%}\n", "'large'" },
    { "tables:\n  - {table: h100x8_nvswitch_allgather_9, large: 1%}\n",
      "nearest is 'h100x8_nvswitch_allgather_8'" },
    { "tables:\n  - {table: dgxa100_allreduce_32}\n  - {table: dgxa100_allreduce_32.csv}\n",
      "is given twice" },
    { "tables:\n  - {table: dgxa100_allreduce_32, lage: 1%}\n", "nearest is 'large'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabLimits) accept = parse_accept (*state, cases[i].text, &error);

    assert_null (accept);
    if (strstr (error->message, cases[i].part) == NULL)
      fail_msg ("'%s' is not in:\n%s", cases[i].part, error->message);
  }
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text; text++)
    n += *text == '\n';
  return n;
}

static void
test_printed (void **state)
{
  const Fixture *f = *state;
  FabReportView view = { .report = f->report };
  g_autofree char *text = fab_report_to_text (&view);
  g_autofree char *csv = fab_report_to_csv (&view);
  g_autofree char *json = fab_report_to_json (&view);
  g_autofree char *markdown = fab_report_to_markdown (&view);
  g_autoptr (JsonParser) parser = json_parser_new ();
  guint n_rows = 0;

  for (guint i = 0; i < f->report->comparisons->len; i++)
    n_rows += ((const FabComparison *) g_ptr_array_index (f->report->comparisons, i))->rows->len;
  assert_int_equal (count_lines (csv), n_rows + 1);
  assert_non_null (strstr (text, "all judged tables"));
  assert_non_null (strstr (markdown, "## Tables: judged"));
  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  assert_int_equal (json_array_get_length (json_object_get_array_member (root, "tables")), f->tables->len);
  assert_true (json_object_has_member (json_object_get_object_member (root, "roles"), "judged"));
  assert_int_equal (json_array_get_length (json_object_get_array_member (root, "interconnects"))
                        + json_array_get_length (json_object_get_array_member (root, "accounts")),
                    f->report->accounts->len - 1);
}

/* Every account of every role that it has is on every page, and none of a role that it has not. */
static void
test_every_role_is_printed (void **state)
{
  const Fixture *f = *state;
  FabReportView view = { .report = f->report, .is_summary = TRUE };
  g_autofree char *text = fab_report_to_text (&view), *csv = fab_report_to_csv (&view),
                  *json = fab_report_to_json (&view), *markdown = fab_report_to_markdown (&view);
  g_autoptr (JsonParser) parser = json_parser_new ();
  guint n_accounts = 0, n_interconnects = 0;

  for (guint role = 0; role < FAB_N_ROLES; role++) {
    g_autofree char *section = g_strdup_printf ("\n## Tables: %s\n\n| table |",
                                                fab_measured_role_names[role]);

    assert_non_null (strstr (markdown, section));
  }

  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  for (guint i = 0; i < f->report->accounts->len; i++) {
    const FabAccount *account = &g_array_index (f->report->accounts, FabAccount, i);
    gboolean is_of_links = account->kind == FAB_ACCOUNT_INTERCONNECT;
    JsonObject *object = i == 0 ? json_object_get_object_member (root, "roles")
                                : json_array_get_object_element (
                                    json_object_get_array_member (root,
                                                                  is_of_links ? "interconnects" : "accounts"),
                                    is_of_links ? n_interconnects++ : n_accounts++);

    for (guint role = 0; role < FAB_N_ROLES; role++) {
      const char *name = fab_measured_role_names[role];
      g_autofree char *head = i == 0 ? g_strdup_printf ("\nall %s tables (", name)
                                     : g_strdup_printf ("\n%s (%s)\n", account->name, name);
      JsonObject *of_role = json_object_get_object_member (object, name);
      g_autofree char *row_head = i == 0 ? g_strdup_printf ("\n| all %s (", name)
                                         : g_strdup_printf ("\n| %s, %s |", account->name, name);

      assert_int_equal (strstr (markdown, row_head) != NULL,
                        fab_account_has_role (account, (FabMeasuredRole) role));

      assert_int_equal (strstr (text, head) != NULL, fab_account_has_role (account, (FabMeasuredRole) role));
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        const FabTally *tally = &account->tallies[role][c];
        gboolean has_comma = strchr (account->name ? account->name : "", ',') != NULL;
        g_autofree char *row = g_strdup_printf (
            "\n%s%s%s,%s,%s,%u,%.6f,%.6f,%.6f,%" G_GUINT64_FORMAT ",,%s,%u,%.6f,%u,%.6f,\n",
            has_comma ? "\"" : "", i == 0 ? "" : account->name, has_comma ? "\"" : "", name,
            fab_size_class_names[c], tally->sizes.n, tally->sizes.median_fraction, tally->sizes.bias_fraction,
            tally->sizes.max_fraction, tally->sizes.max_size_bytes, fab_account_kind_names[account->kind],
            tally->n_tables, tally->tables_fraction, tally->n_families, tally->families_fraction);

        assert_int_equal (json_object_has_member (of_role, fab_size_class_names[c]), tally->sizes.n > 0);
        if (tally->sizes.n == 0)
          continue;
        assert_non_null (strstr (csv, row));
        JsonObject *of_class = json_object_get_object_member (of_role, fab_size_class_names[c]);
        assert_int_equal (json_object_get_int_member (of_class, "sizes"), tally->sizes.n);
        assert_int_equal (json_object_get_int_member (of_class, "tables"), tally->n_tables);
        assert_near (json_object_get_double_member (of_class, "tables_median_fraction"),
                     tally->tables_fraction, 1e-9);
        assert_int_equal (json_object_get_int_member (of_class, "families"), tally->n_families);
        assert_near (json_object_get_double_member (of_class, "families_median_fraction"),
                     tally->families_fraction, 1e-9);
      }
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_size_classes),
    cmocka_unit_test (test_errors),
    cmocka_unit_test (test_rows),
    cmocka_unit_test (test_roles_are_apart),
    cmocka_unit_test (test_accounts),
    cmocka_unit_test (test_coarse_rows_are_left_out),
    cmocka_unit_test (test_sets),
    cmocka_unit_test (test_gate),
    cmocka_unit_test (test_accept_refused),
    cmocka_unit_test (test_printed),
    cmocka_unit_test (test_every_role_is_printed),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
