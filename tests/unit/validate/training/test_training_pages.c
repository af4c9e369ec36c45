/* SPDX-License-Identifier: Apache-2.0 */
/* test_training_pages.c - the pages of a report of training runs, from a report by hand: every number stands where it
 * belongs, and what there is none of is left out. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "models/models.h"
#include "tests/support/test.h"
#include "validate/training/print.h"

/* Errors of n rows: a median of n / 32, a bias of -n / 64, the largest of n / 8 on 8 n GPUs. */
#define ERRORS(n_)                                                                                        \
  {                                                                                                       \
    .n = (n_), .median_fraction = (n_) / 32.0, .bias_fraction = (n_) / -64.0, .max_fraction = (n_) / 8.0, \
    .max_size_bytes = 8 * (n_)                                                                            \
  }
#define BLIND(n_, inside_) \
  {                        \
    ERRORS (n_), (inside_) \
  }

static char *columns[] = { (char *) "id", (char *) "model", (char *) "gpus", (char *) "nics", NULL };

static FabTrainingSourceSpec small_spec = { .name = "small",
                                            .title = "A few runs",
                                            .scenario = "small.yaml",
                                            .same = "model",
                                            .factors = "gpus  nics none",
                                            .network = "catalogue",
                                            .note = "of a note" },
                             large_spec = { .name = "large",
                                            .title = "Many runs",
                                            .scenario = "large.yaml",
                                            .network = "as told" };

typedef struct {
  FabTrainingTable tables[2];
  FabTrainingSource sources[2];
  FabTrainingResult results[2];
  FabTrainingReport report;
  FabTrainingRow measured[30];
  char ids[30][8];
} World;

static char *cells[] = { (char *) "r0", (char *) "gpt", (char *) "16", (char *) "4", NULL };

/* Row i of a source: 8 (i + 1) GPUs took 1 s and were predicted to take 1 + error, a quarter of which is exposed. */
static FabTrainingComparison
comparison (World *self, guint i, FabRunRole role, double error)
{
  FabTrainingRow *row = &self->measured[i];

  g_snprintf (self->ids[i], sizeof self->ids[i], "r%u", i);
  *row = (FabTrainingRow){ .cells = cells,
                           .id = self->ids[i],
                           .strategy = i % 2 ? "tp" : "dp",
                           .gpus = 8 * (i + 1),
                           .nodes = i + 1,
                           .step_s = 1 };
  return (FabTrainingComparison){
    .measured = row,
    .role = role,
    .traits = { .knob = i % 2 ? FAB_TRAINING_SCALE : FAB_TRAINING_MFU,
                .tensor = 2,
                .context = 3,
                .expert = 4,
                .pipeline = 5,
                .generation = i % 2 ? "hopper" : NULL },
    .efficiency = 0.5,
    .predicted = { .step_s = 1 + error, .exposed_s = (1 + error) / 4, .comm_s = 0.375 },
    .error_fraction = error,
  };
}

static void
add_row (FabTrainingResult *result, FabTrainingComparison row)
{
  g_array_append_val (result->rows, row);
}

static GArray *
accounts (const char *const *names, guint n)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));

  for (guint i = 0; i < n; i++) {
    FabTrainingAccount account = { names[i], ERRORS (3 + i), BLIND (2, 1), BLIND (4, 3) };

    g_array_append_val (all, account);
  }
  return all;
}

static void
make (World *self, guint n_large)
{
  static const char *const strategies[] = { "dp", "tp" }, *const divisions[] = { "PP" },
                           *const cases[] = { "odd" };
  const FabWrongDirection wrong = { "small", "nics", "r0", "r1", 0.03125, -0.0625 };
  FabTrainingResult *small = &self->results[0], *large = &self->results[1];

  *self = (World){ 0 };
  for (guint i = 0; i < 2; i++) {
    self->tables[i] = (FabTrainingTable){ .header = g_hash_table_new (g_str_hash, g_str_equal),
                                          .columns = columns };
    self->sources[i] = (FabTrainingSource){ .spec = i == 0 ? &small_spec : &large_spec,
                                            .table = &self->tables[i] };
    self->results[i] = (FabTrainingResult){ .source = &self->sources[i],
                                            .rows = g_array_new (FALSE, TRUE, sizeof (FabTrainingComparison)),
                                            .remarks = g_ptr_array_new () };
  }
  g_hash_table_insert (self->tables[0].header, (char *) "source", (char *) "a paper");
  g_hash_table_insert (self->tables[0].header, (char *) "step_s", (char *) "");
  g_hash_table_insert (self->tables[0].header, (char *) "inferred", (char *) "nodes");
  g_hash_table_insert (self->tables[1].header, (char *) "step_s", (char *) "a mean");

  FabTrainingComparison anchor = comparison (self, 0, FAB_RUN_ANCHOR, 0),
                        judged = comparison (self, 1, FAB_RUN_JUDGED, -0.125),
                        skipped = comparison (self, 2, FAB_RUN_SKIPPED, 0),
                        unplayed = comparison (self, 3, FAB_RUN_NOT_PLAYED, 0);
  judged.is_calibration = TRUE;
  judged.blind = (FabTrainingBlind){ .is_predicted = TRUE,
                                     .step = { .step_s = 1.25,
                                               .cell = { .precision = "bf16", .stack = "megatron" } },
                                     .error_fraction = 0.25,
                                     .residual = -0.2,
                                     .is_inside = TRUE };
  skipped.efficiency = 0;
  skipped.predicted = (FabTrainingStep){ 0 };
  skipped.problem = (char *) "too large";
  add_row (small, anchor);
  add_row (small, judged);
  add_row (small, skipped);
  add_row (small, unplayed);
  small->n_played = 3;
  small->n_skipped = 1;
  g_ptr_array_add (small->remarks, (char *) "r2: too large");
  small->errors = (FabErrors) ERRORS (1);
  small->one_node_errors = (FabErrors) ERRORS (2);
  small->across_errors = (FabErrors) ERRORS (5);
  small->blind_calibration = (FabBlindErrors) BLIND (4, 1);
  small->blind_judged = (FabBlindErrors) BLIND (3, 2);
  small->directions = (FabDirections){ 6, 1, 2, 3 };

  for (guint i = 0; i < n_large; i++)
    add_row (large, comparison (self, i, i == 2 ? FAB_RUN_ONE_NODE : FAB_RUN_JUDGED,
                                (i % 2 ? 1 : -1) * ((int) i + 1) / 1000.0));
  large->n_played = n_large;
  for (guint i = 0; i < 7; i++) {
    g_snprintf (self->ids[i], sizeof self->ids[i], "r%u", i);
    g_ptr_array_add (large->remarks, self->ids[i]);
  }

  FabTrainingReport *report = &self->report;
  report->results = g_ptr_array_new ();
  g_ptr_array_add (report->results, small);
  g_ptr_array_add (report->results, large);
  report->strategies = accounts (strategies, 2);
  report->divisions = accounts (divisions, 1);
  report->cases = accounts (cases, 1);
  report->generations = accounts (cases, 0);
  report->wrong = g_array_new (FALSE, FALSE, sizeof (FabWrongDirection));
  g_array_append_val (report->wrong, wrong);
  report->errors = (FabErrors) ERRORS (7);
  report->large_errors = (FabErrors) ERRORS (8);
  report->across_errors = (FabErrors) ERRORS (9);
  report->blind_calibration = (FabBlindErrors) BLIND (10, 9);
  report->blind_judged = (FabBlindErrors) BLIND (12, 6);
  report->n_skipped = 13;
  report->n_unanchored = 14;
  report->directions = (FabDirections){ 15, 16, 17, 18 };
}

static void
assert_page (char *page, const char *begins_with, const char *right)
{
  const char *from = begins_with != NULL ? strstr (page, begins_with) : page;

  assert_string_equal (from, right);
  g_free (page);
}

static void
leave (World *self)
{
  for (guint i = 0; i < 2; i++) {
    g_hash_table_unref (self->tables[i].header);
    g_array_unref (self->results[i].rows);
    g_ptr_array_unref (self->results[i].remarks);
  }
  g_ptr_array_unref (self->report.results);
  g_array_unref (self->report.strategies);
  g_array_unref (self->report.divisions);
  g_array_unref (self->report.cases);
  g_array_unref (self->report.generations);
  g_array_unref (self->report.wrong);
}

/* The same without rows and networks, where only a summary is asked for. */
static char *
without_lines (const char *text, const char *const *beginnings)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *out = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++) {
    gboolean is_dropped = FALSE;

    for (guint k = 0; beginnings[k] != NULL; k++)
      is_dropped |= g_str_has_prefix (lines[i], beginnings[k]);
    if (!is_dropped)
      g_string_append_printf (out, "%s%s", lines[i], lines[i + 1] != NULL ? "\n" : "");
  }
  return g_string_free (out, FALSE);
}

static const char text_page_right[] =
    "error = predicted step / measured step - 1; efficiencies are fixed by the anchor rows, blind: by the "
    "catalogue\n"
    "\n"
    "small: A few runs\n"
    "  network: catalogue\n"
    "  row     \v"
    "   GPUs\v"
    "    measured s\v"
    "  predicted s\v"
    "     error\v"
    "   exposed\v"
    "  effic.\v"
    "     blind\v"
    "  role         \v"
    " what\n"
    "  r0      \v"
    "      8\v"
    "        1.0000\v"
    "       1.0000\v"
    "     +0.0%\v"
    "     25.0%\v"
    "   50.0%\v"
    "          \v"
    "  anchor       \v"
    " gpt, 16, 4\n"
    "  r1      \v"
    "     16\v"
    "        1.0000\v"
    "       0.8750\v"
    "    -12.5%\v"
    "     25.0%\v"
    "   50.0%\v"
    "    +25.0%\v"
    "  judged       \v"
    " gpt, 16, 4\n"
    "  r2      \v"
    "     24\v"
    "        1.0000\v"
    "       0.0000\v"
    "     +0.0%\v"
    "      0.0%\v"
    "    0.0%\v"
    "          \v"
    "  skipped      \v"
    " gpt, 16, 4\n"
    "  sample                     3 of 4 rows (--all plays all of them)\n"
    "  judged                     1 rows  median |error|   3.1 %  bias   -1.6 %  largest  12.5 % at 8 GPUs\n"
    "  one node                   2 rows  median |error|   6.2 %  bias   -3.1 %  largest  25.0 % at 16 GPUs\n"
    "  across layouts             5 rows  median |error|  15.6 %  bias   -7.8 %  largest  62.5 % at 40 GPUs\n"
    "  blind, calibrating         4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 %, 25 % in "
    "the band\n"
    "  blind, judged              3 rows  median |error|   9.4 %  bias   -4.7 %  largest  37.5 %, 67 % in "
    "the band\n"
    "  directions                 6 right, 1 wrong, 2 under 2 %, 3 cheaper with more GPUs\n"
    "  skipped or no anchor       1 rows\n"
    "    r2: too large\n"
    "\n"
    "large: Many runs\n"
    "  network: as told\n"
    "  row     \v"
    "   GPUs\v"
    "    measured s\v"
    "  predicted s\v"
    "     error\v"
    "   exposed\v"
    "  effic.\v"
    "     blind\v"
    "  role         \v"
    " what\n"
    "  skipped or no anchor       7 rows\n"
    "    r0\n"
    "    r1\n"
    "    r2\n"
    "    r3\n"
    "    r4\n"
    "    and 2 more\n"
    "\n"
    "strategies as sources call them (judged rows)\n"
    "  dp                         3 rows  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 24 GPUs\n"
    "  dp, blind, calibr.         2 rows  median |error|   6.2 %  bias   -3.1 %  largest  25.0 %, 50 % in "
    "the band\n"
    "  dp, blind, judged          4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 %, 75 % in "
    "the band\n"
    "  tp                         4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 % at 32 GPUs\n"
    "  tp, blind, calibr.         2 rows  median |error|   6.2 %  bias   -3.1 %  largest  25.0 %, 50 % in "
    "the band\n"
    "  tp, blind, judged          4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 %, 75 % in "
    "the band\n"
    "how the model is divided\n"
    "  PP                         3 rows  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 24 GPUs\n"
    "  PP, blind, calibr.         2 rows  median |error|   6.2 %  bias   -3.1 %  largest  25.0 %, 50 % in "
    "the band\n"
    "  PP, blind, judged          4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 %, 75 % in "
    "the band\n"
    "what is hard to predict\n"
    "  odd                        3 rows  median |error|   9.4 %  bias   -4.7 %  largest  37.5 % at 24 GPUs\n"
    "  odd, blind, calibr.        2 rows  median |error|   6.2 %  bias   -3.1 %  largest  25.0 %, 50 % in "
    "the band\n"
    "  odd, blind, judged         4 rows  median |error|  12.5 %  bias   -6.2 %  largest  50.0 %, 75 % in "
    "the band\n"
    "generations\n"
    "all sources\n"
    "  judged                     7 rows  median |error|  21.9 %  bias  -10.9 %  largest  87.5 % at 56 GPUs\n"
    "  over 256 GPUs              8 rows  median |error|  25.0 %  bias  -12.5 %  largest 100.0 % at 64 GPUs\n"
    "  across layouts             9 rows  median |error|  28.1 %  bias  -14.1 %  largest 112.5 % at 72 GPUs\n"
    "  blind, calibrating        10 rows  median |error|  31.2 %  bias  -15.6 %  largest 125.0 %, 90 % in "
    "the band\n"
    "  blind, judged             12 rows  median |error|  37.5 %  bias  -18.8 %  largest 150.0 %, 50 % in "
    "the band\n"
    "  directions                15 right, 16 wrong, 17 under 2 %, 18 cheaper with more GPUs\n"
    "  wrong direction: small, nics, rows r0 and r1: measured +3.1 %, predicted -6.2 %\n";

static void
text_page (G_GNUC_UNUSED void **state)
{
  static const char *const rows[] = { "  network: ", "  row ", "  r0 ", "  r1 ", "  r2 ", NULL };
  World world;

  make (&world, 0);
  FabTrainingView view = { &world.report, NULL, FALSE };
  assert_page (fab_training_to_text (&view), NULL, text_page_right);
  view.is_summary = TRUE;
  g_autofree char *summary = without_lines (text_page_right, rows);
  assert_page (fab_training_to_text (&view), NULL, summary);

  /* The five first remarks stand there, and how many more there are. */
  g_ptr_array_set_size (world.results[1].remarks, 6);
  g_autofree char *six = fab_training_to_text (&view);
  assert_non_null (strstr (six, "    r4\n    and 1 more\n"));
  g_ptr_array_set_size (world.results[1].remarks, 5);
  g_autofree char *five = fab_training_to_text (&view);
  assert_non_null (strstr (five, "    r4\n\n"));

  g_ptr_array_set_size (world.results[1].remarks, 0);
  g_autofree char *none = fab_training_to_text (&view);
  const char *large = strstr (none, "large: Many runs\n");
  assert_true (g_str_has_prefix (large, "large: Many runs\n\n"));

  /* Directions stand there where any of three kinds was counted. */
  static const FabDirections counted[] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 0, 1 },
                                           { 1, 1, 0, 0 }, { 0, 1, 0, 1 }, { 0, 0, 1, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (counted); i++) {
    const FabDirections one = counted[i];

    world.results[1].directions = one;
    g_autofree char *text = fab_training_to_text (&view);
    g_autofree char *line = g_strdup_printf ("%3u right, %u wrong, %u under 2 %%, %u cheaper", one.n_right,
                                             one.n_wrong, one.n_small, one.n_odd);
    assert_int_equal (strstr (text, line) != NULL, one.n_small == 0);
  }
  leave (&world);
}

static const char csv_page_right[] =
    "source,row,role,strategy,gpus,nodes,measured_s,predicted_s,error_fraction,exposed_s,comm_s,compute,effic"
    "iency,calibration,blind_s,blind_error_fraction,blind_residual,generation,precision,stack,tensor,context,"
    "expert,pipeline\n"
    "small,r0,anchor,dp,8,1,1,1,0.000000,0.25,0.375,mfu,0.500000,no,0,0.000000,0.000000,,,,2,3,4,5\n"
    "small,r1,judged,tp,16,2,1,0.875,-0.125000,0.21875,0.375,scale,0.500000,yes,1.25,0.250000,-0.200000,hoppe"
    "r,bf16,megatron,2,3,4,5\n"
    "small,r2,skipped,dp,24,3,1,0,0.000000,0,0,mfu,0.000000,no,0,0.000000,0.000000,,,,2,3,4,5\n";

/* Limits are shown beside the errors that they hold. */
static const char *
any_name (G_GNUC_UNUSED gconstpointer known, const char *name, G_GNUC_UNUSED GError **error)
{
  return name;
}

static void
limits_of_sources (G_GNUC_UNUSED void **state)
{
  const FabLimitsRequest request = { FAB_LIMITS_OF_TRAINING, any_name, NULL, &fab_models };
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "fab-training-pages-XXXXXX", NULL);
  int file = g_mkstemp (path);
  g_autoptr (GError) error = NULL;
  World world;

  assert_true (file >= 0);
  close (file);
  assert_true (g_file_set_contents (path, "sources:\n  - {source: small, median: 12.5%}\n", -1, NULL));
  g_autoptr (FabLimits) limits = fab_limits_load (path, &request, &error);
  g_unlink (path);
  if (limits == NULL)
    fail_msg ("%s", error->message);
  make (&world, 0);
  FabTrainingView view = { &world.report, limits, FALSE };
  g_autofree char *text = fab_training_to_text (&view), *json = fab_training_to_json (&view),
                  *markdown = fab_training_to_markdown (&view);
  assert_non_null (strstr (text, "median |error|   3.1 % (accepted 12.5 %)  bias"));
  assert_non_null (strstr (json, "\"accepted_fraction\" : 0.125"));
  assert_non_null (
      strstr (markdown, "| small | 1 | 3.1 % | -1.6 % | 12.5 % | 12.5 % | 6 right, 1 wrong | 1 |\n"));
  leave (&world);
}

static void
csv_page (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 0);
  assert_page (fab_training_to_csv (&(FabTrainingView){ &world.report, NULL, FALSE }), NULL, csv_page_right);
  leave (&world);
}

static const char json_page_right[] =
    "{\"sources\" : [{\"source\" : \"small\",\"judged\" : {\"rows\" : 1,\"median_fraction\" : "
    "0.03125,\"bias_fraction\" : -0.015625,\"max_fraction\" : 0.125},\"one_node\" : {\"rows\" : "
    "2,\"median_fraction\" : 0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25},\"across_layouts\" "
    ": {\"rows\" : 5,\"median_fraction\" : 0.15625,\"bias_fraction\" : -0.078125,\"max_fraction\" : "
    "0.625},\"blind_calibration\" : {\"rows\" : 4,\"median_fraction\" : 0.125,\"bias_fraction\" : "
    "-0.0625,\"max_fraction\" : 0.5,\"inside\" : 1},\"blind_judged\" : {\"rows\" : 3,\"median_fraction\" : "
    "0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : 0.375,\"inside\" : 2},\"skipped\" : "
    "1,\"directions\" : {\"right\" : 6,\"wrong\" : 1,\"small\" : 2,\"odd\" : 3},\"rows\" : [{\"row\" : "
    "\"r0\",\"role\" : \"anchor\",\"strategy\" : \"dp\",\"gpus\" : 8,\"nodes\" : 1,\"measured_s\" : "
    "1.0,\"predicted_s\" : 1.0,\"error_fraction\" : 0.0,\"exposed_s\" : 0.25,\"compute\" : "
    "\"mfu\",\"efficiency\" : 0.5,\"calibration\" : false},{\"row\" : \"r1\",\"role\" : "
    "\"judged\",\"strategy\" : \"tp\",\"gpus\" : 16,\"nodes\" : 2,\"measured_s\" : 1.0,\"predicted_s\" : "
    "0.875,\"error_fraction\" : -0.125,\"exposed_s\" : 0.21875,\"compute\" : \"scale\",\"efficiency\" : "
    "0.5,\"calibration\" : true,\"blind_s\" : 1.25,\"blind_error_fraction\" : 0.25,\"inside\" : "
    "true},{\"row\" : \"r2\",\"role\" : \"skipped\",\"strategy\" : \"dp\",\"gpus\" : 24,\"nodes\" : "
    "3,\"measured_s\" : 1.0,\"predicted_s\" : 0.0,\"error_fraction\" : 0.0,\"exposed_s\" : 0.0,\"compute\" : "
    "\"mfu\",\"efficiency\" : 0.0,\"calibration\" : false,\"problem\" : \"too large\"}]},{\"source\" : "
    "\"large\",\"judged\" : {\"rows\" : 0},\"one_node\" : {\"rows\" : 0},\"across_layouts\" : {\"rows\" : "
    "0},\"blind_calibration\" : {\"rows\" : 0,\"inside\" : 0},\"blind_judged\" : {\"rows\" : 0,\"inside\" : "
    "0},\"skipped\" : 0,\"directions\" : {\"right\" : 0,\"wrong\" : 0,\"small\" : 0,\"odd\" : 0},\"rows\" : "
    "[]}],\"strategies\" : {\"dp\" : {\"rows\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : "
    "-0.046875,\"max_fraction\" : 0.375,\"blind_calibration\" : {\"rows\" : 2,\"median_fraction\" : "
    "0.0625,\"bias_fraction\" : -0.03125,\"max_fraction\" : 0.25,\"inside\" : 1},\"blind_judged\" : "
    "{\"rows\" : 4,\"median_fraction\" : 0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"inside\" "
    ": 3}},\"tp\" : {\"rows\" : 4,\"median_fraction\" : 0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : "
    "0.5,\"blind_calibration\" : {\"rows\" : 2,\"median_fraction\" : 0.0625,\"bias_fraction\" : "
    "-0.03125,\"max_fraction\" : 0.25,\"inside\" : 1},\"blind_judged\" : {\"rows\" : 4,\"median_fraction\" : "
    "0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"inside\" : 3}}},\"divisions\" : {\"PP\" : "
    "{\"rows\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : "
    "0.375,\"blind_calibration\" : {\"rows\" : 2,\"median_fraction\" : 0.0625,\"bias_fraction\" : "
    "-0.03125,\"max_fraction\" : 0.25,\"inside\" : 1},\"blind_judged\" : {\"rows\" : 4,\"median_fraction\" : "
    "0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"inside\" : 3}}},\"cases\" : {\"odd\" : "
    "{\"rows\" : 3,\"median_fraction\" : 0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : "
    "0.375,\"blind_calibration\" : {\"rows\" : 2,\"median_fraction\" : 0.0625,\"bias_fraction\" : "
    "-0.03125,\"max_fraction\" : 0.25,\"inside\" : 1},\"blind_judged\" : {\"rows\" : 4,\"median_fraction\" : "
    "0.125,\"bias_fraction\" : -0.0625,\"max_fraction\" : 0.5,\"inside\" : 3}}},\"generations\" : {  "
    "},\"all\" : {\"rows\" : 7,\"median_fraction\" : 0.21875,\"bias_fraction\" : -0.109375,\"max_fraction\" "
    ": 0.875},\"over_256_gpus\" : {\"rows\" : 8,\"median_fraction\" : 0.25,\"bias_fraction\" : "
    "-0.125,\"max_fraction\" : 1.0},\"across_layouts\" : {\"rows\" : 9,\"median_fraction\" : "
    "0.28125,\"bias_fraction\" : -0.140625,\"max_fraction\" : 1.125},\"blind_calibration\" : {\"rows\" : "
    "10,\"median_fraction\" : 0.3125,\"bias_fraction\" : -0.15625,\"max_fraction\" : 1.25,\"inside\" : "
    "9},\"blind_judged\" : {\"rows\" : 12,\"median_fraction\" : 0.375,\"bias_fraction\" : "
    "-0.1875,\"max_fraction\" : 1.5,\"inside\" : 6},\"skipped\" : 13,\"unanchored\" : 14,\"directions\" : "
    "{\"right\" : 15,\"wrong\" : 16,\"small\" : 17,\"odd\" : 18},\"wrong_directions\" : [{\"source\" : "
    "\"small\",\"factor\" : \"nics\",\"from\" : \"r0\",\"to\" : \"r1\",\"measured_fraction\" : "
    "0.03125,\"predicted_fraction\" : -0.0625}]}";

static void
json_page (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);
  World world;

  make (&world, 0);
  FabTrainingView view = { &world.report, NULL, FALSE };
  g_autofree char *page = fab_training_to_json (&view);
  assert_page (g_regex_replace_literal (breaks, page, -1, 0, "", 0, NULL), NULL, json_page_right);
  view.is_summary = TRUE;
  g_autofree char *summary = fab_training_to_json (&view);
  assert_null (strstr (summary, "\"row\""));
  assert_non_null (strstr (summary, "\"wrong_directions\""));
  leave (&world);
}

static const char markdown_page_right[] =
    "## Anchored\n"
    "\n"
    "| source | rows | median | bias | largest | accepted | directions | skipped |\n"
    "|---|---:|---:|---:|---:|---:|---|---:|\n"
    "| small | 1 | 3.1 % | -1.6 % | 12.5 % | | 6 right, 1 wrong | 1 |\n"
    "| large | 0 | | | | | 0 right, 0 wrong | 0 |\n"
    "| all | 7 | 21.9 % | -10.9 % | 87.5 % | | 15 right, 16 wrong | 13 |\n"
    "| all, over 256 GPUs | 8 | 25.0 % | -12.5 % | 100.0 % | | | |\n"
    "| all, across layouts | 9 | 28.1 % | -14.1 % | 112.5 % | | | |\n"
    "\n"
    "### Strategies, as sources call them\n"
    "\n"
    "| | rows | median | bias | largest |\n"
    "|---|---:|---:|---:|---:|\n"
    "| dp | 3 | 9.4 % | -4.7 % | 37.5 % |\n"
    "| tp | 4 | 12.5 % | -6.2 % | 50.0 % |\n"
    "\n"
    "### How the model is divided\n"
    "\n"
    "| | rows | median | bias | largest |\n"
    "|---|---:|---:|---:|---:|\n"
    "| PP | 3 | 9.4 % | -4.7 % | 37.5 % |\n"
    "\n"
    "### What is hard to predict\n"
    "\n"
    "| | rows | median | bias | largest |\n"
    "|---|---:|---:|---:|---:|\n"
    "| odd | 3 | 9.4 % | -4.7 % | 37.5 % |\n"
    "\n"
    "### Generations\n"
    "\n"
    "| | rows | median | bias | largest |\n"
    "|---|---:|---:|---:|---:|\n"
    "\n"
    "## Blind\n"
    "\n"
    "| | judged | median | bias | in band | calibrating | median | bias | in band |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
    "| **all** | 12 | 37.5 % | -18.8 % | 50 % | 10 | 31.2 % | -15.6 % | 90 % |\n"
    "| divided by PP | 4 | 12.5 % | -6.2 % | 75 % | 2 | 6.2 % | -3.1 % | 50 % |\n"
    "| odd | 4 | 12.5 % | -6.2 % | 75 % | 2 | 6.2 % | -3.1 % | 50 % |\n"
    "| small | 3 | 9.4 % | -4.7 % | 67 % | 4 | 12.5 % | -6.2 % | 25 % |\n"
    "\n"
    "## Wrong directions\n"
    "\n"
    "| source | factor | rows | measured | predicted |\n"
    "|---|---|---|---:|---:|\n"
    "| small | nics | r0, r1 | +3.1 % | -6.2 % |\n"
    "\n"
    "## Sources\n"
    "\n"
    "### small\n"
    "\n"
    "A few runs.\n"
    "\n"
    "- network: catalogue\n"
    "- source: a paper\n"
    "- inferred: nodes\n"
    "- note: of a note\n"
    "- scenario: `validate/measured/training/small.yaml`\n"
    "- played: 3 of 4 rows, an even sample of the groups\n"
    "\n"
    "| row | GPUs | what | measured s | predicted s | error | exposed | efficiency | blind | |\n"
    "|---|---:|---|---:|---:|---:|---:|---:|---:|---|\n"
    "| r0 | 8 | gpt, 16, 4 | 1 | 1 | +0.0 % | 25 % | 50.0 % |  | anchor |\n"
    "| r1 | 16 | gpt, 16, 4 | 1 | 0.875 | -12.5 % | 25 % | 50.0 % | +25.0 % |  |\n"
    "| r2 | 24 | gpt, 16, 4 | 1 | | | | |  | skipped |\n"
    "| r3 | 32 | gpt, 16, 4 | 1 | 1 | +0.0 % | 25 % | 50.0 % |  | not played |\n"
    "\n"
    "- left out: r2: too large\n"
    "\n"
    "### large\n"
    "\n"
    "Many runs.\n"
    "\n"
    "- network: as told\n"
    "- step_s: a mean\n"
    "- scenario: `validate/measured/training/large.yaml`\n"
    "\n"
    "- left out: r0\n"
    "- left out: r1\n"
    "- left out: r2\n"
    "- and 4 more\n";

static void
markdown_page (G_GNUC_UNUSED void **state)
{
  static const char *const not_in_summary[] = { "- played", "- left out",     "- and ", "| r",
                                                "| row |",  "|---|---:|---|", NULL };
  World world;

  make (&world, 0);
  FabTrainingView view = { &world.report, NULL, FALSE };
  assert_page (fab_training_to_markdown (&view), "## Anchored", markdown_page_right);
  view.is_summary = TRUE;
  g_autofree char *summary = fab_training_to_markdown (&view);
  g_auto (GStrv) lines = g_strsplit (strstr (summary, "### small"), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    for (guint k = 0; not_in_summary[k] != NULL; k++)
      assert_false (g_str_has_prefix (lines[i], not_in_summary[k]));

  /* Without wrong directions there is no such chapter; three remarks have no "more". */
  g_array_set_size (world.report.wrong, 0);
  g_ptr_array_set_size (world.results[1].remarks, 3);
  view.is_summary = FALSE;
  g_autofree char *page = fab_training_to_markdown (&view);
  assert_null (strstr (page, "Wrong directions"));
  assert_true (g_str_has_suffix (page, "- left out: r2\n"));
  leave (&world);
}

static const char rows_of_a_large_source_right[] =
    "### large\n"
    "\n"
    "Many runs.\n"
    "\n"
    "- network: as told\n"
    "- step_s: a mean\n"
    "- scenario: `validate/measured/training/large.yaml`\n"
    "\n"
    "The judged rows that are furthest off, of 25 rows (`--all --format csv` has all):\n"
    "\n"
    "| row | GPUs | what | measured s | predicted s | error | exposed | efficiency | blind | |\n"
    "|---|---:|---|---:|---:|---:|---:|---:|---:|---|\n"
    "| r24 | 200 |  | 1 | 0.975 | -2.5 % | 25 % | 50.0 % |  |  |\n"
    "| r23 | 192 |  | 1 | 1.024 | +2.4 % | 25 % | 50.0 % |  |  |\n"
    "| r22 | 184 |  | 1 | 0.977 | -2.3 % | 25 % | 50.0 % |  |  |\n"
    "| r21 | 176 |  | 1 | 1.022 | +2.2 % | 25 % | 50.0 % |  |  |\n"
    "| r20 | 168 |  | 1 | 0.979 | -2.1 % | 25 % | 50.0 % |  |  |\n"
    "| r19 | 160 |  | 1 | 1.02 | +2.0 % | 25 % | 50.0 % |  |  |\n"
    "| r18 | 152 |  | 1 | 0.981 | -1.9 % | 25 % | 50.0 % |  |  |\n"
    "| r17 | 144 |  | 1 | 1.018 | +1.8 % | 25 % | 50.0 % |  |  |\n"
    "| r16 | 136 |  | 1 | 0.983 | -1.7 % | 25 % | 50.0 % |  |  |\n"
    "| r15 | 128 |  | 1 | 1.016 | +1.6 % | 25 % | 50.0 % |  |  |\n"
    "\n"
    "- left out: r0\n"
    "- left out: r1\n"
    "- left out: r2\n"
    "- and 4 more\n";

/* Of more than 24 rows ten stand on the page: those that are judged and furthest off. */
static void
rows_of_a_large_source (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 25);
  FabTrainingView view = { &world.report, NULL, FALSE };
  assert_page (fab_training_to_markdown (&view), "### large", rows_of_a_large_source_right);
  leave (&world);
  make (&world, 24);
  g_autofree char *page = fab_training_to_markdown (&view);
  const char *part = strstr (page, "### large");
  assert_null (strstr (part, "furthest off"));
  assert_non_null (strstr (part, "|---|\n| r0 | 8 |"));
  assert_non_null (strstr (part, "| r2 | 24 |  | 1 | 0.997 | -0.3 % | 25 % | 50.0 % |  | one node |\n"));
  assert_non_null (strstr (part, "| r23 | 192 |"));
  leave (&world);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (text_page),     cmocka_unit_test (limits_of_sources),
    cmocka_unit_test (csv_page),      cmocka_unit_test (json_page),
    cmocka_unit_test (markdown_page), cmocka_unit_test (rows_of_a_large_source),
  };

  return cmocka_run_group_tests_name ("training_pages", tests, NULL, NULL);
}
