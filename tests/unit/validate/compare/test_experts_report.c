/* SPDX-License-Identifier: Apache-2.0 */
/* test_experts_report.c - tables of measured exchanges are read, refused, and compared with predictions. */
#include <glib/gstdio.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"
#include "validate/compare/experts.h"

#define INDEX                                                                                               \
  "tables: [{file: a.csv, node: dgx-h100, op: combine, kernels: normal, precision: bf16, interconnect: x, " \
  "role: judged}]\n"
#define HEAD "ep,hidden,per_token,experts,groups,groups_per_token,sms,tokens,time_us\n"

static FabCatalog *catalog;

static FabExpertsReport *
report_of (const char *csv, GError **error)
{
  g_autofree char *directory = g_dir_make_tmp ("fab-experts-XXXXXX", NULL);
  g_autofree char *index = g_build_filename (directory, "INDEX.yaml", NULL);
  g_autofree char *table = g_build_filename (directory, "a.csv", NULL);
  FabExpertsReport *report;

  assert_true (g_file_set_contents (index, INDEX, -1, NULL) && g_file_set_contents (table, csv, -1, NULL));
  report = fab_experts_report_new (directory, catalog, &fab_models, error);
  g_unlink (index);
  g_unlink (table);
  g_rmdir (directory);
  return report;
}

static void
a_row_is_predicted_as_its_kernel_says (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabExpertsReport) report = report_of (
      "# a head\n" HEAD "8,7168,8,256,0,0,12,4096,1416.85\n8,7168,8,256,0,0,12,8192,2695.19\n", NULL);

  assert_non_null (report);
  const FabExpertsTable *table = fab_experts_report_table (report, 0);
  const FabExpertsRow *rows = (const FabExpertsRow *) (gpointer) table->rows->data;
  const FabTokenCost *cost = &fab_catalog_generation (catalog, "hopper")->tokens.combine;
  assert_int_equal (table->rows->len, 2);
  /* Twelve multiprocessors are slower than links, so twice the tokens take a part of twice the time longer. */
  double more_us = 4096 * (5.294652 * 14336 / (double) cost->sm_bytes_per_s + (double) cost->token_ps / 1e12)
                 / 12 * 1e6;
  assert_near (rows[1].predicted_us - rows[0].predicted_us, more_us, 0.1);
  g_autofree char *text = fab_experts_report_text (report), *csv = fab_experts_report_csv (report);
  assert_non_null (strstr (text, "judged: 1 tables"));
  assert_non_null (strstr (csv, "a.csv,judged,combine,8,7168,8,256,12,4096,1416.85,"));
}

static void
what_is_no_table_is_refused_at_its_line (G_GNUC_UNUSED void **state)
{
  static const char *const wrong[] = {
    "tokens,time_us\n1,2\n",             /* another head */
    HEAD "8,7168,8,256,0,0,12,4096\n",   /* a column less */
    HEAD "8,7168,8,255,0,0,12,4096,1\n", /* experts that ranks cannot share */
    HEAD "8,7168,8,256,0,0,12,4096,0\n", /* no time */
    HEAD,                                /* no row */
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (report_of (wrong[i], &error));
    assert_non_null (strstr (error->message, "a.csv"));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_row_is_predicted_as_its_kernel_says),
    cmocka_unit_test (what_is_no_table_is_refused_at_its_line),
  };

  return play_run_tests ("experts_report", tests, &catalog);
}
