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

/* What 4096 tokens more take where each is on so many of a node's ranks: twelve multiprocessors copy 14336 bytes for
 * each of them, and the NVLinks of a GPU, of 450 GB/s, carry those for others. The slower of both counts, and the other
 * one a little: by the sum of their fourth powers. */
static double
more_us (double n_copies, guint n_ranks)
{
  const FabTokenCost *cost = &fab_catalog_generation (catalog, "hopper")->tokens.combine;
  double copied = n_copies * 14336, sent = copied * (n_ranks - 1) / n_ranks;
  double copying_s = 4096 * (copied / (double) cost->sm_bytes_per_s + (double) cost->token_ps / 1e12) / 12;
  double sending_s = 4096 * sent / (cost->links_fraction * 450e9);

  return 1e6 * pow (pow (copying_s, 4) + pow (sending_s, 4), 0.25);
}

/* 8 of 256 experts are on 5.295 of 8 ranks, and on 3.614 of 4, which are half of a node. */
static void
a_row_is_predicted_as_its_kernel_says (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabExpertsReport) report = report_of (
      "# a head\n" HEAD "8,7168,8,256,0,0,12,4096,1416.85\n8,7168,8,256,0,0,12,8192,2695.19\n"
      "4,7168,8,256,0,0,12,4096,1416.85\n4,7168,8,256,0,0,12,8192,2695.19\n",
      NULL);

  assert_non_null (report);
  const FabExpertsTable *table = fab_experts_report_table (report, 0);
  const FabExpertsRow *rows = (const FabExpertsRow *) (gpointer) table->rows->data;
  assert_int_equal (table->rows->len, 4);
  assert_near (rows[1].predicted_us - rows[0].predicted_us, more_us (5.294652000, 8), 1e-6);
  assert_near (rows[3].predicted_us - rows[2].predicted_us, more_us (3.614214306, 4), 1e-6);
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
    HEAD "1,7168,8,256,0,0,12,4096,1\n", /* nobody to send to */
    HEAD "8,0,8,256,0,0,12,4096,1\n",
    HEAD "8,7168,0,256,0,0,12,4096,1\n",
    HEAD "8,7168,257,256,0,0,12,4096,1\n", /* more experts than there are */
    HEAD "8,7168,8,256,0,0,0,4096,1\n",
    HEAD "8,7168,8,256,0,0,12,0,1\n",
    HEAD "8,7168,8,256,0,-1,12,4096,1\n",
    HEAD "8,7168,8,256,0,x,12,4096,1\n",
    HEAD, /* no row */
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
