/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_pages.c - the pages of a report of collectives, from a report by hand: every number stands where it
 * belongs, and what there is none of is left out. */
#include "sim/base/version.h"
#include "tests/support/test.h"
#include "validate/compare/print.h"

/* Errors of n sizes: a median of n / 32, a bias of -n / 64, the largest of n / 8 at n KiB. */
#define ERRORS(n_)                                                                                        \
  {                                                                                                       \
    .n = (n_), .median_fraction = (n_) / 32.0, .bias_fraction = (n_) / -64.0, .max_fraction = (n_) / 8.0, \
    .max_size_bytes = 1024 * (n_)                                                                         \
  }
/* Of as many tables and families: medians of n / 16 and n / 4. */
#define TALLY(n_, tables_, families_)                            \
  {                                                              \
    ERRORS (n_), (tables_), (n_) / 16.0, (families_), (n_) / 4.0 \
  }

static const FabMeasuredSpec specs[2] = {
  { .node = "dgx",
    .nodes = 2,
    .gpus_per_node = 8,
    .op = FAB_OP_ALL_REDUCE,
    .interconnect = "IB, HDR",
    .sets = "a=1 b=2",
    .role = FAB_ROLE_CALIBRATION,
    .note = "of a note" },
  { .node = "hgx",
    .nodes = 1,
    .gpus_per_node = 4,
    .op = FAB_OP_ALL_GATHER,
    .interconnect = "NVLink",
    .role = FAB_ROLE_JUDGED,
    .is_doubtful = TRUE },
};

typedef struct {
  FabMeasuredCsv csv[2];
  FabMeasuredTable tables[2];
  FabMeasuredRow measured[2];
  FabPrediction predicted[2];
  FabComparison comparisons[2], other;
  FabReport report, left_out;
} World;

static GArray *
new_accounts (void)
{
  return g_array_new (FALSE, TRUE, sizeof (FabAccount));
}

static void
make (World *self, guint n_tables)
{
  static const char *const names[] = { "first", "second" };
  FabAccount all = { .kind = FAB_ACCOUNT_ALL,
                     .name = (char *) "all",
                     .tallies = { { TALLY (1, 2, 1), TALLY (2, 3, 2), { .n_tables = 0 } },
                                  { { .n_tables = 0 }, { .n_tables = 0 }, TALLY (3, 4, 3) } } },
             place = { .kind = FAB_ACCOUNT_PLACE,
                       .name = (char *) "one node",
                       .tallies = { { TALLY (4, 5, 4) } } },
             family = { .kind = FAB_ACCOUNT_INTERCONNECT,
                        .name = (char *) "IB, HDR",
                        .tallies = { [FAB_ROLE_JUDGED] = { TALLY (5, 6, 5) } } };
  FabAccount all_left_out = { .kind = FAB_ACCOUNT_ALL,
                              .name = (char *) "all",
                              .tallies = { [FAB_ROLE_JUDGED] = { TALLY (6, 7, 6) } } },
             family_left_out = { .kind = FAB_ACCOUNT_INTERCONNECT,
                                 .name = (char *) "IB, HDR",
                                 .tallies = { [FAB_ROLE_JUDGED] = { TALLY (7, 8, 7) } } },
             other_left_out = { .kind = FAB_ACCOUNT_INTERCONNECT,
                                .name = (char *) "other",
                                .tallies = { [FAB_ROLE_JUDGED] = { TALLY (8, 9, 8) } } };

  *self = (World){ .report = { g_ptr_array_new (), new_accounts () },
                   .left_out = { g_ptr_array_new (), new_accounts () } };
  for (guint i = 0; i < 2; i++) {
    self->csv[i].header = g_hash_table_new (g_str_hash, g_str_equal);
    self->tables[i] = (FabMeasuredTable){ .spec = &specs[i],
                                          .name = (char *) names[i],
                                          .csv = &self->csv[i] };
    self->comparisons[i] = (FabComparison){ .table = &self->tables[i],
                                            .rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow)) };
    if (i < n_tables)
      g_ptr_array_add (self->report.comparisons, &self->comparisons[i]);
  }
  g_hash_table_insert (self->csv[0].header, (char *) "source", (char *) "a paper");
  g_hash_table_insert (self->csv[0].header, (char *) "system", (char *) "a machine");
  g_hash_table_insert (self->csv[0].header, (char *) "software", (char *) "");
  g_hash_table_insert (self->csv[0].header, (char *) "options", (char *) "-b 8");
  self->comparisons[0].n_left_out = 3;
  self->comparisons[0].errors[FAB_SIZE_SMALL] = (FabErrors) ERRORS (1);
  self->comparisons[0].errors[FAB_SIZE_LARGE] = (FabErrors) ERRORS (2);
  self->comparisons[1].errors[FAB_SIZE_MIDDLE] = (FabErrors) ERRORS (3);
  for (guint i = 0; i < 2; i++) {
    self->measured[i] = (FabMeasuredRow){ .size_bytes = 1024 << (10 * i),
                                          .time_us = 4 + i,
                                          .busbw_GBps = 2.5 + i };
    self->predicted[i] = (FabPrediction){ .time_us = 5,
                                          .busbw_GBps = 1.25,
                                          .algorithm = i ? "tree" : "ring",
                                          .protocol = i ? "ll128" : "simple",
                                          .n_channels = 16 + i,
                                          .bound = (int) i };
    FabComparisonRow row = { &self->measured[i], &self->predicted[i], 5 / (4.0 + i) - 1 };
    g_array_append_val (self->comparisons[0].rows, row);
  }
  g_array_append_val (self->report.accounts, all);
  g_array_append_val (self->report.accounts, place);
  g_array_append_val (self->report.accounts, family);
  self->other = self->comparisons[0];
  self->other.errors[FAB_SIZE_SMALL] = (FabErrors) ERRORS (4);
  self->other.errors[FAB_SIZE_SMALL].n = 1;
  self->other.errors[FAB_SIZE_LARGE] = (FabErrors){ 0 };
  g_ptr_array_add (self->left_out.comparisons, &self->comparisons[1]);
  g_ptr_array_add (self->left_out.comparisons, &self->other);
  g_array_append_val (self->left_out.accounts, all_left_out);
  g_array_append_val (self->left_out.accounts, family_left_out);
  g_array_append_val (self->left_out.accounts, other_left_out);
}

static void
leave (World *self)
{
  for (guint i = 0; i < 2; i++) {
    g_hash_table_unref (self->csv[i].header);
    g_array_unref (self->comparisons[i].rows);
  }
  g_ptr_array_unref (self->report.comparisons);
  g_ptr_array_unref (self->left_out.comparisons);
  g_array_unref (self->report.accounts);
  g_array_unref (self->left_out.accounts);
}

/* --- pages --- */

static const char text_page[] =
    "error = predicted time / measured time - 1; busbw in GB/s\n"
    "small: below 256 KiB; middle: below 64 MiB; large: from 64 MiB\n"
    "\n"
    "first (calibration): all_reduce over 16 GPUs, 2 x dgx\n"
    "  source: a paper\n"
    "  predicted with: a=1 b=2\n"
    "        size\v"
    "   measured us\v"
    " predicted us\v"
    "     error\v"
    "   measured\v"
    " predicted\v"
    "  algor.  \v"
    " protocol\v"
    " bound by\n"
    "       1 KiB\v"
    "          4.00\v"
    "         5.00\v"
    "    +25.0%\v"
    "       2.50\v"
    "      1.25\v"
    "  ring    \v"
    " simple  \v"
    " startup\n"
    "       1 MiB\v"
    "          5.00\v"
    "         5.00\v"
    "     +0.0%\v"
    "       3.50\v"
    "      1.25\v"
    "  tree    \v"
    " ll128   \v"
    " protocol\n"
    "  left out: 3 sizes printed with too few digits\n"
    "  small     1 sizes  median |error|   3.1 %  bias   -1.6 %  largest  12.5 % at 1 KiB; family left out "
    "12.5 %\n"
    "  large     2 sizes  median |error|   6.2 %  bias   -3.1 %  largest  25.0 % at 2 KiB\n"
    "\n"
    "second (judged, doubtful): all_gather over 4 GPUs, 1 x hgx\n"
    "        size\v"
    "   measured us\v"
    " predicted us\v"
    "     error\v"
    "   measured\v"
    " predicted\v"
    "  algor.  \v"
    " protocol\v"
    " bound by\n"
    "  middle    3 sizes  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 3 KiB; family left out "
    "9.4 %\n"
    "\n"
    "Each size counts once; by table: the median of tables' own medians; by family: the median over\n"
    "interconnects of the median over the tables of each; in brackets how many.\n"
    "\n"
    "one node (calibration)\n"
    "  small     4 sizes  median |error|  12.5 %  bias   -6.2 %  largest  50.0 % at 4 KiB; by table 25.0 % "
    "(5), by family 100.0 % (4)\n"
    "IB, HDR (judged)\n"
    "  small     5 sizes  median |error|  15.6 %  bias   -7.8 %  largest  62.5 % at 5 KiB; by table 31.2 % "
    "(6), by family 125.0 % (5)\n"
    "all calibration tables (may have set numbers of the models)\n"
    "  small     1 sizes  median |error|   3.1 %  bias   -1.6 %  largest  12.5 % at 1 KiB; by table 6.2 % (2)\n"
    "  middle    2 sizes  median |error|   6.2 %  bias   -3.1 %  largest  25.0 % at 2 KiB; by table 12.5 % "
    "(3), by family 50.0 % (2)\n"
    "all judged tables (nothing was fitted to them)\n"
    "  large     3 sizes  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 3 KiB; by table 18.8 % "
    "(4), by family 75.0 % (3)\n"
    "all tables, each as if its family had not been measured\n"
    "  small     6 sizes  median |error|  18.8 %  bias   -9.4 %  largest  75.0 % at 6 KiB; by table 37.5 % "
    "(7), by family 150.0 % (6)\n";

static const char markdown_page[] =
    "| tables | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| all calibration (may have set numbers of the models) | 6.2 % (2), 25.0 % (1), 3.1 % (1), max 12.5 % | "
    "12.5 % (3), 50.0 % (2), 6.2 % (2), max 25.0 % | |\n"
    "| all judged (nothing was fitted to them) | | | 18.8 % (4), 75.0 % (3), 9.4 % (3), max 37.5 % |\n"
    "| all, family left out | 37.5 % (7), 150.0 % (6), 18.8 % (6), max 75.0 % | | |\n"
    "| one node, calibration | 25.0 % (5), 100.0 % (4), 12.5 % (4), max 50.0 % | | |\n"
    "\n"
    "## Interconnects\n"
    "\n"
    "| interconnect | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| IB, HDR, judged | 31.2 % (6), 125.0 % (5), 15.6 % (5), max 62.5 % | | |\n"
    "| IB, HDR, family left out | 43.8 % (8), 175.0 % (7), 21.9 % (7), max 87.5 % | | |\n"
    "\n"
    "## Tables: calibration\n"
    "\n"
    "| table | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| first: all_reduce over 16 GPUs, 2 x dgx | 3.1 % (max 12.5 %, n 1), left out 12.5 % | | 6.2 % (max "
    "25.0 %, n 2) |\n"
    "\n"
    "## Tables: judged\n"
    "\n"
    "| table | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| second (doubtful): all_gather over 4 GPUs, 1 x hgx | | 9.4 % (max 37.5 %, n 3), left out 9.4 % | |\n"
    "\n"
    "## Size by size\n"
    "\n"
    "Times are microseconds, busbw GB/s (1e9), sizes as nccl-tests counts them.\n"
    "\n"
    "### first (calibration)\n"
    "\n"
    "- system: a machine\n"
    "- options: -b 8\n"
    "- source: a paper\n"
    "- predicted with: `a=1 b=2`\n"
    "- note: of a note\n"
    "- left out: 3 sizes printed with too few digits\n"
    "\n"
    "| size | measured us | predicted us | error | measured busbw | predicted busbw | runs as |\n"
    "|---:|---:|---:|---:|---:|---:|---|\n"
    "| 1 KiB | 4.0 | 5.0 | +25.0 % | 2.50 | 1.25 | ring simple, 16 channels |\n"
    "| 1 MiB | 5.0 | 5.0 | +0.0 % | 3.50 | 1.25 | tree ll128, 17 channels |\n"
    "\n"
    "### second (judged)\n"
    "\n"
    "\n"
    "| size | measured us | predicted us | error | measured busbw | predicted busbw | runs as |\n"
    "|---:|---:|---:|---:|---:|---:|---|\n";

static const char csv_page[] =
    "table,role,op,ranks,size_bytes,measured_us,predicted_us,error_fraction,measured_busbw_GBps,predicted_bus"
    "bw_GBps,algorithm,protocol,channels,bound\n"
    "first,calibration,all_reduce,16,1024,4,5.000,0.250000,2.5,1.2500,ring,simple,16,startup\n"
    "first,calibration,all_reduce,16,1048576,5,5.000,0.000000,3.5,1.2500,tree,ll128,17,protocol\n";

static const char json_page[] =
    "{\"version\" : \"" FAB_VERSION "\",\"tables\" : [{\"table\" : \"first\",\"role\" : "
    "\"calibration\",\"interconnect\" : \"IB, HDR\",\"doubtful\" : false,\"node\" : \"dgx\",\"nodes\" : "
    "2,\"ranks\" : 16,\"op\" : \"all_reduce\",\"left_out\" : 3,\"errors\" : {\"small\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"bias_fraction\" : -0.015625,\"max_fraction\" : "
    "0.125,\"max_size_bytes\" : 1024,\"left_out_median_fraction\" : 0.125},\"large\" : {\"sizes\" : "
    "2,\"median_fraction\" : 0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25,\"max_size_bytes\" "
    ": 2048}},\"rows\" : [{\"size_bytes\" : 1024,\"measured_us\" : 4.0,\"predicted_us\" : "
    "5.0,\"error_fraction\" : 0.25,\"measured_busbw_GBps\" : 2.5,\"predicted_busbw_GBps\" : "
    "1.25,\"algorithm\" : \"ring\",\"protocol\" : \"simple\",\"channels\" : 16,\"bound\" : "
    "\"startup\"},{\"size_bytes\" : 1048576,\"measured_us\" : 5.0,\"predicted_us\" : 5.0,\"error_fraction\" "
    ": 0.0,\"measured_busbw_GBps\" : 3.5,\"predicted_busbw_GBps\" : 1.25,\"algorithm\" : "
    "\"tree\",\"protocol\" : \"ll128\",\"channels\" : 17,\"bound\" : \"protocol\"}]},{\"table\" : "
    "\"second\",\"role\" : \"judged\",\"interconnect\" : \"NVLink\",\"doubtful\" : true,\"node\" : "
    "\"hgx\",\"nodes\" : 1,\"ranks\" : 4,\"op\" : \"all_gather\",\"left_out\" : 0,\"errors\" : {\"middle\" : "
    "{\"sizes\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : "
    "0.375,\"max_size_bytes\" : 3072,\"left_out_median_fraction\" : 0.09375}},\"rows\" : []}],\"roles\" : "
    "{\"calibration\" : {\"small\" : {\"sizes\" : 1,\"median_fraction\" : 0.03125,\"bias_fraction\" : "
    "-0.015625,\"max_fraction\" : 0.125,\"max_size_bytes\" : 1024,\"tables\" : 2,\"tables_median_fraction\" "
    ": 0.0625,\"families\" : 1,\"families_median_fraction\" : 0.25},\"middle\" : {\"sizes\" : "
    "2,\"median_fraction\" : 0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25,\"max_size_bytes\" "
    ": 2048,\"tables\" : 3,\"tables_median_fraction\" : 0.125,\"families\" : 2,\"families_median_fraction\" "
    ": 0.5}},\"judged\" : {\"large\" : {\"sizes\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : "
    "-0.046875,\"max_fraction\" : 0.375,\"max_size_bytes\" : 3072,\"tables\" : 4,\"tables_median_fraction\" "
    ": 0.1875,\"families\" : 3,\"families_median_fraction\" : 0.75}}},\"accounts\" : [{\"by\" : "
    "\"place\",\"name\" : \"one node\",\"calibration\" : {\"small\" : {\"sizes\" : 4,\"median_fraction\" : "
    "0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"max_size_bytes\" : 4096,\"tables\" : "
    "5,\"tables_median_fraction\" : 0.25,\"families\" : 4,\"families_median_fraction\" : 1.0}},\"judged\" : "
    "{      }}],\"interconnects\" : [{\"interconnect\" : \"IB, HDR\",\"calibration\" : {      },\"judged\" : "
    "{\"small\" : {\"sizes\" : 5,\"median_fraction\" : 0.15625,\"bias_fraction\" : "
    "-0.078125,\"max_fraction\" : 0.625,\"max_size_bytes\" : 5120,\"tables\" : 6,\"tables_median_fraction\" "
    ": 0.3125,\"families\" : 5,\"families_median_fraction\" : 1.25}}}],\"left_out\" : [{\"by\" : "
    "\"all\",\"name\" : \"all\",\"errors\" : {\"small\" : {\"sizes\" : 6,\"median_fraction\" : "
    "0.1875,\"bias_fraction\" : -0.09375,\"max_fraction\" : 0.75,\"max_size_bytes\" : 6144,\"tables\" : "
    "7,\"tables_median_fraction\" : 0.375,\"families\" : 6,\"families_median_fraction\" : 1.5}}},{\"by\" : "
    "\"interconnect\",\"name\" : \"IB, HDR\",\"errors\" : {\"small\" : {\"sizes\" : 7,\"median_fraction\" : "
    "0.21875,\"bias_fraction\" : -0.109375,\"max_fraction\" : 0.875,\"max_size_bytes\" : 7168,\"tables\" : "
    "8,\"tables_median_fraction\" : 0.4375,\"families\" : 7,\"families_median_fraction\" : 1.75}}},{\"by\" : "
    "\"interconnect\",\"name\" : \"other\",\"errors\" : {\"small\" : {\"sizes\" : 8,\"median_fraction\" : "
    "0.25,\"bias_fraction\" : -0.125,\"max_fraction\" : 1.0,\"max_size_bytes\" : 8192,\"tables\" : "
    "9,\"tables_median_fraction\" : 0.5,\"families\" : 8,\"families_median_fraction\" : 2.0}}}],\"exceeded\" "
    ": []}";

static const char summary_text[] =
    "error = predicted time / measured time - 1; busbw in GB/s\n"
    "small: below 256 KiB; middle: below 64 MiB; large: from 64 MiB\n"
    "\n"
    "first (calibration): all_reduce over 16 GPUs, 2 x dgx\n"
    "  small     1 sizes  median |error|   3.1 %  bias   -1.6 %  largest  12.5 % at 1 KiB\n"
    "  large     2 sizes  median |error|   6.2 %  bias   -3.1 %  largest  25.0 % at 2 KiB\n"
    "\n"
    "second (judged, doubtful): all_gather over 4 GPUs, 1 x hgx\n"
    "  middle    3 sizes  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 3 KiB\n"
    "\n"
    "Each size counts once; by table: the median of tables' own medians; by family: the median over\n"
    "interconnects of the median over the tables of each; in brackets how many.\n"
    "\n"
    "one node (calibration)\n"
    "  small     4 sizes  median |error|  12.5 %  bias   -6.2 %  largest  50.0 % at 4 KiB; by table 25.0 % "
    "(5), by family 100.0 % (4)\n"
    "IB, HDR (judged)\n"
    "  small     5 sizes  median |error|  15.6 %  bias   -7.8 %  largest  62.5 % at 5 KiB; by table 31.2 % "
    "(6), by family 125.0 % (5)\n"
    "all calibration tables (may have set numbers of the models)\n"
    "  small     1 sizes  median |error|   3.1 %  bias   -1.6 %  largest  12.5 % at 1 KiB; by table 6.2 % (2)\n"
    "  middle    2 sizes  median |error|   6.2 %  bias   -3.1 %  largest  25.0 % at 2 KiB; by table 12.5 % "
    "(3), by family 50.0 % (2)\n"
    "all judged tables (nothing was fitted to them)\n"
    "  large     3 sizes  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 3 KiB; by table 18.8 % "
    "(4), by family 75.0 % (3)\n";

static const char summary_markdown[] =
    "| tables | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| all calibration (may have set numbers of the models) | 6.2 % (2), 25.0 % (1), 3.1 % (1), max 12.5 % | "
    "12.5 % (3), 50.0 % (2), 6.2 % (2), max 25.0 % | |\n"
    "| all judged (nothing was fitted to them) | | | 18.8 % (4), 75.0 % (3), 9.4 % (3), max 37.5 % |\n"
    "| one node, calibration | 25.0 % (5), 100.0 % (4), 12.5 % (4), max 50.0 % | | |\n"
    "\n"
    "## Interconnects\n"
    "\n"
    "| interconnect | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| IB, HDR, judged | 31.2 % (6), 125.0 % (5), 15.6 % (5), max 62.5 % | | |\n"
    "\n"
    "## Tables: calibration\n"
    "\n"
    "| table | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| first: all_reduce over 16 GPUs, 2 x dgx | 3.1 % (max 12.5 %, n 1) | | 6.2 % (max 25.0 %, n 2) |\n"
    "\n"
    "## Tables: judged\n"
    "\n"
    "| table | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
    "|---|---|---|---|\n"
    "| second (doubtful): all_gather over 4 GPUs, 1 x hgx | | 9.4 % (max 37.5 %, n 3) | |\n"
    "\n"
    "## What is known of each table\n"
    "\n"
    "- `first`: of a note; predicted with `a=1 b=2`; source: a paper\n"
    "- `second`: source: not told\n";

static const char summary_csv[] =
    "table,role,class,sizes,median_fraction,bias_fraction,max_fraction,max_size_bytes,accepted_fraction,accou"
    "nt,tables,tables_median_fraction,families,families_median_fraction,left_out_median_fraction\n"
    "first,calibration,small,1,0.031250,-0.015625,0.125000,1024,,table,,,,,\n"
    "first,calibration,large,2,0.062500,-0.031250,0.250000,2048,,table,,,,,\n"
    "second,judged,middle,3,0.093750,-0.046875,0.375000,3072,,table,,,,,\n"
    ",calibration,small,1,0.031250,-0.015625,0.125000,1024,,all,2,0.062500,1,0.250000,\n"
    ",calibration,middle,2,0.062500,-0.031250,0.250000,2048,,all,3,0.125000,2,0.500000,\n"
    ",judged,large,3,0.093750,-0.046875,0.375000,3072,,all,4,0.187500,3,0.750000,\n"
    "one node,calibration,small,4,0.125000,-0.062500,0.500000,4096,,place,5,0.250000,4,1.000000,\n"
    "\"IB, HDR\",judged,small,5,0.156250,-0.078125,0.625000,5120,,interconnect,6,0.312500,5,1.250000,\n";

static const char summary_json[] =
    "{\"version\" : \"" FAB_VERSION "\",\"tables\" : [{\"table\" : \"first\",\"role\" : "
    "\"calibration\",\"interconnect\" : \"IB, HDR\",\"doubtful\" : false,\"node\" : \"dgx\",\"nodes\" : "
    "2,\"ranks\" : 16,\"op\" : \"all_reduce\",\"left_out\" : 3,\"errors\" : {\"small\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"bias_fraction\" : -0.015625,\"max_fraction\" : "
    "0.125,\"max_size_bytes\" : 1024},\"large\" : {\"sizes\" : 2,\"median_fraction\" : "
    "0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25,\"max_size_bytes\" : 2048}}},{\"table\" : "
    "\"second\",\"role\" : \"judged\",\"interconnect\" : \"NVLink\",\"doubtful\" : true,\"node\" : "
    "\"hgx\",\"nodes\" : 1,\"ranks\" : 4,\"op\" : \"all_gather\",\"left_out\" : 0,\"errors\" : {\"middle\" : "
    "{\"sizes\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : "
    "0.375,\"max_size_bytes\" : 3072}}}],\"roles\" : {\"calibration\" : {\"small\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"bias_fraction\" : -0.015625,\"max_fraction\" : "
    "0.125,\"max_size_bytes\" : 1024,\"tables\" : 2,\"tables_median_fraction\" : 0.0625,\"families\" : "
    "1,\"families_median_fraction\" : 0.25},\"middle\" : {\"sizes\" : 2,\"median_fraction\" : "
    "0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25,\"max_size_bytes\" : 2048,\"tables\" : "
    "3,\"tables_median_fraction\" : 0.125,\"families\" : 2,\"families_median_fraction\" : 0.5}},\"judged\" : "
    "{\"large\" : {\"sizes\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : "
    "-0.046875,\"max_fraction\" : 0.375,\"max_size_bytes\" : 3072,\"tables\" : 4,\"tables_median_fraction\" "
    ": 0.1875,\"families\" : 3,\"families_median_fraction\" : 0.75}}},\"accounts\" : [{\"by\" : "
    "\"place\",\"name\" : \"one node\",\"calibration\" : {\"small\" : {\"sizes\" : 4,\"median_fraction\" : "
    "0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"max_size_bytes\" : 4096,\"tables\" : "
    "5,\"tables_median_fraction\" : 0.25,\"families\" : 4,\"families_median_fraction\" : 1.0}},\"judged\" : "
    "{      }}],\"interconnects\" : [{\"interconnect\" : \"IB, HDR\",\"calibration\" : {      },\"judged\" : "
    "{\"small\" : {\"sizes\" : 5,\"median_fraction\" : 0.15625,\"bias_fraction\" : "
    "-0.078125,\"max_fraction\" : 0.625,\"max_size_bytes\" : 5120,\"tables\" : 6,\"tables_median_fraction\" "
    ": 0.3125,\"families\" : 5,\"families_median_fraction\" : 1.25}}}],\"exceeded\" : []}";

static void
assert_page (char *page, const char *from, const char *right)
{
  assert_string_equal (from != NULL ? strstr (page, from) : page, right);
  g_free (page);
}

/* A document on one line. */
static char *
on_a_line (char *page)
{
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);
  char *line = g_regex_replace_literal (breaks, page, -1, 0, "", 0, NULL);

  g_free (page);
  return line;
}

static void
pages_with_what_is_left_out (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 2);
  FabReportView view = { .report = &world.report, .left_out = &world.left_out };
  assert_page (fab_report_to_text (&view), NULL, text_page);
  assert_page (fab_report_to_markdown (&view), "| tables |", markdown_page);
  assert_page (fab_report_to_csv (&view), NULL, csv_page);
  assert_page (on_a_line (fab_report_to_json (&view)), NULL, json_page);
  view.is_summary = TRUE;
  g_autofree char *csv = fab_report_to_csv (&view);
  assert_non_null (
      strstr (csv, "\nfirst,calibration,small,1,0.031250,-0.015625,0.125000,1024,,table,,,,,0.125000\n"));
  assert_non_null (
      strstr (csv, "\nfirst,calibration,large,2,0.062500,-0.031250,0.250000,2048,,table,,,,,\n"));
  leave (&world);
}

static void
summaries (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 2);
  FabReportView view = { .report = &world.report, .is_summary = TRUE };
  assert_page (fab_report_to_text (&view), NULL, summary_text);
  assert_page (fab_report_to_markdown (&view), "| tables |", summary_markdown);
  assert_page (fab_report_to_csv (&view), NULL, summary_csv);
  assert_page (on_a_line (fab_report_to_json (&view)), NULL, summary_json);
  leave (&world);
}

/* Of a single table, accounts of places and families would say the same again. */
static void
a_single_table (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 1);
  g_ptr_array_set_size (world.left_out.comparisons, 1);
  FabReportView view = { .report = &world.report, .left_out = &world.left_out, .is_summary = TRUE };
  g_autofree char *text = fab_report_to_text (&view), *markdown = fab_report_to_markdown (&view);
  const char *begin = strstr (summary_text, "first ("), *end = strstr (summary_text, "second (");
  g_autofree char *right = g_strdup_printf ("%.*s%.*s%s", (int) (begin - summary_text), summary_text,
                                            (int) (end - begin), begin,
                                            strstr (summary_text, "all calibration tables"));

  assert_string_equal (text, right);
  assert_non_null (strstr (markdown, "## Tables: calibration"));
  assert_null (strstr (markdown, "## Tables: judged"));
  leave (&world);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages_with_what_is_left_out),
    cmocka_unit_test (summaries),
    cmocka_unit_test (a_single_table),
  };

  return cmocka_run_group_tests_name ("report_pages", tests, NULL, NULL);
}
