/* SPDX-License-Identifier: Apache-2.0 */
/* test_training.c - tables and templates, anchors, the fitted efficiency, directions and the gate of training
 * runs. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/training/print.h"
#include "validate/training/sources.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

typedef struct {
  FabCatalog *catalog;
  FabTrainingEnv env;
  char *directory;
} Fixture;

/* A DDP job on DGX A100, one GPU or whole nodes. */
static const char scenario[] =
    "name: t\niterations: 1\n"
    "cluster: {node: dgx-a100, nodes: ${nodes}, gpus_per_node: ${per_node}}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: ${micro_batch}, sequence: 1024,\n"
    "      compute: {kind: mfu, mfu: ${mfu}}}\n";

static const char index_yaml[] = "sources:\n"
                                 "  - {name: s, title: t, file: s.csv, scenario: s.yaml, same: micro_batch,\n"
                                 "     factors: gpus, network: catalogue}\n";

#define HEAD "# source: made\nid,gpus,nodes,per_node,strategy,batch,step_s,micro_batch,doubtful\n"

static int
setup (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  f->env = (FabTrainingEnv){ f->catalog, &fab_models, NULL, FALSE, FALSE };
  f->directory = g_dir_make_tmp ("fab-training-XXXXXX", NULL);
  return f->catalog && f->directory ? 0 : -1;
}

static void
put (const Fixture *f, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (f->directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

static int
teardown (void **state)
{
  static const char *const files[] = { "INDEX.yaml", "s.csv", "s.yaml", "accept.yaml" };
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

static FabTrainingSources *
load (const Fixture *f, const char *rows)
{
  g_autofree char *csv = g_strconcat (HEAD, rows, NULL);
  g_autoptr (GError) error = NULL;

  put (f, "INDEX.yaml", index_yaml);
  put (f, "s.yaml", scenario);
  put (f, "s.csv", csv);
  FabTrainingSources *sources = fab_training_sources_load (f->directory, &fab_models, &error);
  if (sources == NULL)
    fail_msg ("%s", error->message);
  return sources;
}

static FabTrainingReport *
report_of (const Fixture *f, const FabTrainingSources *sources)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (chosen, (gpointer) fab_training_sources_get (sources, 0));
  FabTrainingReport *report = fab_training_report_new (chosen, &f->env, &error);
  if (report == NULL)
    fail_msg ("%s", error->message);
  return report;
}

static const FabTrainingComparison *
row_at (const FabTrainingReport *report, guint index)
{
  const FabTrainingResult *result = g_ptr_array_index (report->results, 0);

  return &g_array_index (result->rows, FabTrainingComparison, index);
}

/* What the simulator says of a row at an efficiency, to be used as its measurement. */
static double
step_s (const Fixture *f, const char *row, double mfu_fraction)
{
  g_autoptr (FabTrainingSources) sources = load (f, row);
  g_autoptr (FabTrainingRun) run = fab_training_run_open (fab_training_sources_get (sources, 0), 0, &f->env,
                                                          NULL);
  FabTrainingStep step;

  assert_true (run != NULL && fab_training_run_play (run, mfu_fraction, &step, NULL));
  return step.step_s;
}

static void
test_table (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrainingTable) table = fab_training_table_parse (
      "x",
      "# a: b: c\nid,gpus,nodes,strategy,batch,step_s,more\nr,8,1,DDP,16,0.5,z\nq,8,1,DDP,16,0.5,\"5,4,3\"\n",
      NULL);

  assert_non_null (table);
  assert_string_equal (g_hash_table_lookup (table->header, "a"), "b: c");
  assert_int_equal (fab_training_table_row (table, 0)->gpus, 8);
  assert_near (fab_training_table_row (table, 0)->step_s, 0.5, 0);
  assert_string_equal (fab_training_table_row (table, 0)->cells[fab_training_table_column (table, "more")],
                       "z");
  assert_string_equal (fab_training_table_row (table, 1)->cells[fab_training_table_column (table, "more")],
                       "5,4,3");
  assert_int_equal (fab_training_table_column (table, "less"), -1);
}

static void
test_table_mistakes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "id,gpus\n", "x:1: there is no column 'nodes'" },
    { HEAD "r,8,1,8,DDP,16,0.5\n", "x:3: the row has 7 cells, and the table has 9 columns" },
    { HEAD "r,8,1,8,DDP,16,-1,1,\n", "x:3: step_s is '-1', not a number above 0" },
    { HEAD "r,0,1,8,DDP,16,1,1,\n", "x:3: gpus is '0', not a number from 1 on" },
    { HEAD, "x:3: the table has no rows" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_training_table_parse ("x", cases[i].text, &error));
    assert_string_equal (error->message, cases[i].message);
  }
}

/* One bad row does not cost the others: it is told by its file and line. */
static void
test_table_skips (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrainingTable) table = fab_training_table_parse (
      "/a/x", HEAD "r,8,1,8,DDP,16,1,1,\nr,8,1,8,DDP,16,1,1,\ns,8,1,8,DDP,16,NA,1,\nt,8,1,8,DDP,16,2,1,\n",
      NULL);

  assert_non_null (table);
  assert_int_equal (table->rows->len, 2);
  assert_int_equal (table->skipped->len, 2);
  assert_string_equal (g_ptr_array_index (table->skipped, 0),
                       "x:4: id is 'r', which is empty or is given twice");
  assert_string_equal (g_ptr_array_index (table->skipped, 1), "x:5: step_s is 'NA', not a number above 0");
}

static void
test_template (G_GNUC_UNUSED void **state)
{
  const FabTemplateValue values[] = { { "a", "1" }, { "bee", "2" } };
  g_autofree char *text = fab_template_fill ("x ${a}${bee}$ {a} ${a}", values, 2, NULL);
  g_autoptr (GError) unknown = NULL, open = NULL;

  assert_string_equal (text, "x 12$ {a} 1");
  assert_null (fab_template_fill ("${be}", values, 2, &unknown));
  assert_string_equal (unknown->message, "there is no column for ${be}; nearest is 'bee'");
  assert_null (fab_template_fill ("${a", values, 2, &open));
}

/* A measurement that the simulator made at 37 % is met at 37 %, and rows made with it have no error. */
static void
test_fit (void **state)
{
  const Fixture *f = *state;
  double one_s = step_s (f, "a,8,1,8,DDP,8,1,1,\n", 0.37),
         four_s = step_s (f, "b,32,4,8,DDP,32,1,1,\n", 0.37);
  g_autofree char *rows = g_strdup_printf ("a,8,1,8,DDP,8,%.9f,1,\nb,32,4,8,DDP,32,%.9f,1,\n", one_s,
                                           2 * four_s);
  g_autoptr (FabTrainingSources) sources = load (f, rows);
  g_autoptr (FabTrainingReport) report = report_of (f, sources);

  assert_int_equal (row_at (report, 0)->role, FAB_RUN_ANCHOR);
  assert_int_equal (row_at (report, 1)->role, FAB_RUN_JUDGED);
  assert_near (row_at (report, 0)->efficiency, 0.37, 2e-4);
  assert_near (row_at (report, 1)->efficiency, 0.37 * fab_training_slowest (8) / fab_training_slowest (32),
               2e-4);
  assert_near (row_at (report, 1)->error_fraction, -0.5, 1e-2);
  assert_int_equal (report->errors.n, 1);
  assert_near (report->errors.median_fraction, -row_at (report, 1)->error_fraction, 1e-12);
}

/* No efficiency is high or low enough: the fit says so, and there is no endless search. */
static void
test_fit_out_of_reach (void **state)
{
  const Fixture *f = *state;
  static const char *const rows[] = { "a,8,1,8,DDP,8,1e-6,1,\n", "a,8,1,8,DDP,8,1e6,1,\n" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabTrainingSources) sources = load (f, rows[i]);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrainingRun) run = fab_training_run_open (fab_training_sources_get (sources, 0), 0, &f->env,
                                                            NULL);
    FabTrainingStep step = { 0 };
    double efficiency;

    assert_false (fab_training_run_fit (
        run, fab_training_table_row (fab_training_sources_get (sources, 0)->table, 0)->step_s, &efficiency,
        &step, &error));
    assert_non_null (strstr (error->message, "s row a: no mfu from 0.001 to 1 takes the measured"));
  }
}

/* A row that no efficiency takes to its time is no anchor, one whose scenario is refused is skipped; both are told,
 * and the next run is the anchor. */
static void
test_bad_rows (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (
      f,
      "a,8,1,8,DDP,8,1e-6,1,\nb,16,2,8,DDP,16,1,1,\nc,32,4,8,DDP,32,1,1,\nd,36,4,9,DDP,36,1,1,\ne,8,1,8,DDP,8,NA,1,\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  const FabTrainingResult *result = g_ptr_array_index (report->results, 0);

  assert_int_equal (row_at (report, 0)->role, FAB_RUN_UNANCHORED);
  assert_int_equal (row_at (report, 1)->role, FAB_RUN_ANCHOR);
  assert_int_equal (row_at (report, 2)->role, FAB_RUN_JUDGED);
  assert_int_equal (row_at (report, 3)->role, FAB_RUN_SKIPPED);
  assert_int_equal (report->n_skipped, 2);
  assert_int_equal (report->n_unanchored, 1);
  assert_int_equal (result->remarks->len, 3);
  assert_non_null (strstr (g_ptr_array_index (result->remarks, 0), "s.csv:7: step_s is 'NA'"));
}

/* The group's anchor divides the model least among the smallest runs; a layout with two rows has an anchor of its
 * own, which is predicted with the group's efficiency; one with a single row does not. */
static void
test_layouts (void **state)
{
  const Fixture *f = *state;
  static const char layouts[] = "name: t\niterations: 1\n"
                                "cluster: {node: dgx-a100, nodes: ${nodes}}\n"
                                "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, sequence: 1024,\n"
                                "      parallel: {tensor: ${per_node}}, compute: {kind: mfu, mfu: ${mfu}}}\n";
  g_autoptr (FabTrainingSources) sources = load (
      f, "a,16,2,2,TP,8,1,1,\nb,16,2,1,DP,16,1,1,\nc,32,4,2,TP,16,1,1,\n"
         "d,32,4,4,TP,8,1,1,\ne,32,4,1,DP,32,1,1,\n");
  static const FabRunRole roles[] = { FAB_RUN_LAYOUT_ANCHOR, FAB_RUN_ANCHOR, FAB_RUN_JUDGED, FAB_RUN_JUDGED,
                                      FAB_RUN_JUDGED };
  static const guint anchors[] = { 1, 1, 0, 1, 1 };

  put (f, "s.yaml", layouts);
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++) {
    assert_int_equal (row_at (report, i)->role, roles[i]);
    assert_int_equal (row_at (report, i)->anchor, anchors[i]);
  }
  assert_int_equal (report->across_errors.n, 1);
  assert_int_equal (report->errors.n, 3);
  assert_int_equal (g_array_index (report->divisions, FabTrainingAccount, 1).errors.n, 2); /* TP: c and d */
  assert_string_equal (g_array_index (report->cases, FabTrainingAccount, 2).name, "TP whole seqs, 1-2 seqs");
  assert_int_equal (g_array_index (report->cases, FabTrainingAccount, 0).errors.n, 0); /* none divides by 8 */
  assert_int_equal (g_array_index (report->cases, FabTrainingAccount, 2).errors.n, 2); /* c and d */
}

static double
step_of_jobs (const Fixture *f, const FabTrainingSources *sources, gboolean plays_whole)
{
  FabTrainingEnv env = f->env;
  FabTrainingStep step = { .step_s = 0 };
  g_autoptr (FabTrainingRun) run = NULL;

  env.plays_whole = plays_whole;
  run = fab_training_run_open (fab_training_sources_get (sources, 0), 0, &env, NULL);
  assert_true (run != NULL && fab_training_run_play (run, 0.5, &step, NULL));
  assert_true (step.step_s > 0 && step.compute_s > 0);
  return step.step_s;
}

/* A step of many micro-batches, from few of them, is the step that is played whole. */
static void
test_many_micro_batches (void **state)
{
  const Fixture *f = *state;
  static const char *const layouts[] = { "{tensor: 2}", "{tensor: 2, pipeline: 4}",
                                         "{tensor: 2, pipeline: 4, schedule: interleaved, virtual: 2}",
                                         "{pipeline: 4, schedule: zero_bubble}" };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 2\ncluster: {node: dgx-a100, nodes: ${nodes}}\n"
        "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, sequence: 1024, accumulation: 64,\n"
        "      distributed_optimizer: true, overlap_grad_reduce: true, overlap_param_gather: true,\n"
        "      parallel: %s, compute: {kind: mfu, mfu: ${mfu}}}\n",
        layouts[i]);
    g_autoptr (FabTrainingSources) sources = load (f, "a,16,2,8,DP,128,1,1,\n");

    put (f, "s.yaml", yaml);
    double whole_s = step_of_jobs (f, sources, TRUE), extended_s = step_of_jobs (f, sources, FALSE);
    assert_true (fabs (extended_s / whole_s - 1) < 1e-4);
  }
}

/* Groups of one model and GPU calibrate in turn, in alphabetical order: here the models are micro-batches. */
static void
test_calibration (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (f, "a,8,1,8,DDP,8,1,1,\n");

  put (f, "s.csv",
       "id,gpus,nodes,per_node,strategy,batch,step_s,micro_batch,model\n"
       "a,8,1,8,DDP,8,1,1,zeta\nb,8,1,8,DDP,8,1,1,alpha\nc,8,1,8,DDP,8,1,1,mid\nd,16,2,8,DDP,16,1,1,alpha\n");
  g_autoptr (FabTrainingSources) named = fab_training_sources_load (f->directory, &fab_models, NULL);
  g_autoptr (FabTrainingReport) report = report_of (f, named);
  static const gboolean calibrates[] = { TRUE, TRUE, FALSE, TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (calibrates); i++)
    assert_int_equal (row_at (report, i)->is_calibration, calibrates[i]);
}

/* One GPU before one node before several; a group of its own per micro-batch; without either the smallest. */
static void
test_roles (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (
      f, "a,16,2,8,DDP,16,1,1,\nb,8,1,8,DDP,8,1,1,\nc,1,1,1,DDP,1,1,1,\n"
         "d,32,4,8,DDP,64,1,2,\ne,16,2,8,DDP,32,1,2,\n"
         "f,8,1,8,DDP,16,1,2,the machine was ill\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  static const FabRunRole roles[] = { FAB_RUN_JUDGED, FAB_RUN_ONE_NODE, FAB_RUN_ANCHOR,
                                      FAB_RUN_JUDGED, FAB_RUN_ANCHOR,   FAB_RUN_DOUBTFUL };

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    assert_int_equal (row_at (report, i)->role, roles[i]);
  assert_int_equal (row_at (report, 0)->anchor, 2);
  assert_int_equal (row_at (report, 3)->anchor, 4);
  assert_int_equal (report->errors.n, 2);
}

/* GPU-seconds per sample. Predicted, more nodes cost more. 1 to 2 nodes: measured cheaper, which is no effect of
 * scale;
 * 2 to 4: dearer, right; 4 to 8: 1 % dearer, not counted. 1 to 4 is no pair of neighbours. */
static void
test_directions (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (f, "a,8,1,8,DDP,8,1,1,\nb,16,2,8,DDP,16,0.93,1,\n"
                                                    "c,32,4,8,DDP,32,1.2,1,\nd,64,8,8,DDP,64,1.212,1,\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);

  assert_int_equal (report->directions.n_right, 1);
  assert_int_equal (report->directions.n_wrong, 0);
  assert_int_equal (report->directions.n_odd, 1);
  assert_int_equal (report->directions.n_small, 1);
}

/* Half of each node's GPUs against all of them: measured dearer, predicted cheaper or the same work, wrong. */
static void
test_wrong_direction (void **state)
{
  const Fixture *f = *state;
  g_autofree char *index = g_strdup (index_yaml);

  memcpy (strstr (index, "factors: gpus"), "factors: name", 13);
  put (f, "INDEX.yaml", index);
  put (f, "s.yaml", scenario);
  put (f, "s.csv",
       "id,gpus,nodes,per_node,strategy,batch,step_s,micro_batch,name\n"
       "a,16,2,8,DDP,16,1,1,x\nb,16,2,8,DDP,32,2.1,1,y\n");
  g_autoptr (FabTrainingSources) sources = fab_training_sources_load (f->directory, &fab_models, NULL);
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  const FabWrongDirection *wrong = &g_array_index (report->wrong, FabWrongDirection, 0);

  assert_int_equal (report->directions.n_wrong, 1);
  assert_string_equal (wrong->from, "a");
  assert_string_equal (wrong->to, "b");
  assert_near (wrong->measured_fraction, 0.05, 1e-9);
  assert_near (wrong->predicted_fraction, -0.5, 1e-9);
  g_autofree char *page = fab_training_to_markdown (&(FabTrainingView){ report, NULL, FALSE });
  assert_non_null (
      strstr (page, "\n## Wrong directions\n\n| source | factor | rows | measured | predicted |\n"
                    "|---|---|---|---:|---:|\n| s | name | a, b | +5.0 % | -50.0 % |\n\n## Sources\n"));
  assert_null (strstr (page, "\n- played: ")); /* all rows are */
}

/* The smallest run needs 20 % more GPU-seconds per sample than a larger one: memory, so the next one is the
 * anchor. */
static void
test_full_memory (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (
      f, "a,8,1,8,DDP,8,1.2,1,\nb,16,2,8,DDP,16,1,1,\nc,32,4,8,DDP,32,1.01,1,\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);

  assert_int_equal (row_at (report, 0)->role, FAB_RUN_FULL_MEMORY);
  assert_int_equal (row_at (report, 1)->role, FAB_RUN_ANCHOR);
  assert_int_equal (row_at (report, 2)->role, FAB_RUN_JUDGED);
}

/* Expected largest of n normals, Blom: 0 of 1, 0.589 of 2 (its quantile is 13/18), 1.434 of 8, 3.20 of 1000. */
static void
test_slowest (G_GNUC_UNUSED void **state)
{
  const double deviation = 0.08 / 5.4;

  assert_near (fab_training_slowest (1), 1, 1e-9);
  assert_near (fab_training_slowest (2), 1 + deviation * 0.589, 1e-5);
  assert_near (fab_training_slowest (8), 1 + deviation * 1.434, 1e-4);
  assert_near (fab_training_slowest (1000), 1 + deviation * 3.226, 1e-3);
}

/* --- anchors --- */

/* With a column of marks, and at most so many rows. (transfer full) */
static FabTrainingReport *
report_of_marked (const Fixture *f, guint n_sample, const char *rows, FabTrainingSources **sources)
{
  g_autofree char *index = g_strdup_printf ("%s     sample: %u}\n", index_yaml, n_sample);
  g_autofree char *csv = g_strconcat (
      "# source: made\nid,gpus,nodes,per_node,strategy,batch,step_s,micro_batch,anchor\n", rows, NULL);
  char *end = strstr (index, "catalogue}");

  memcpy (end, "catalogue,", strlen ("catalogue,"));
  put (f, "INDEX.yaml", index);
  put (f, "s.yaml", scenario);
  put (f, "s.csv", csv);
  *sources = fab_training_sources_load (f->directory, &fab_models, NULL);
  assert_non_null (*sources);
  return report_of (f, *sources);
}

/* Anchors of as many GPUs have one efficiency, that of their mean time per FLOP. */
static void
test_anchors_alike_share_the_mean_of_their_times (void **state)
{
  const Fixture *f = *state;
  double quick_s = step_s (f, "a,8,1,8,DDP,8,1,1,\n", 0.48),
         slow_s = step_s (f, "a,8,1,8,DDP,8,1,1,\n", 0.32);
  g_autofree char *rows = g_strdup_printf ("a,8,1,8,DDP,8,%.9f,1,\nb,8,1,8,DDP,8,%.9f,1,\n"
                                           "c,32,4,8,DDP,32,9,1,\nd,1,1,1,DDP,1,0.001,2,\n",
                                           quick_s, slow_s);
  g_autoptr (FabTrainingSources) sources = load (f, rows);
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  double both = 2 / (1 / 0.48 + 1 / 0.32);

  for (guint i = 0; i < 2; i++) {
    assert_int_equal (row_at (report, i)->role, FAB_RUN_ANCHOR);
    assert_near (row_at (report, i)->fitted, i == 0 ? 0.48 : 0.32, 5e-3);
    assert_near (row_at (report, i)->efficiency, both, 5e-3);
  }
  assert_near (row_at (report, 2)->efficiency, both * fab_training_slowest (8) / fab_training_slowest (32),
               5e-3);
  assert_int_equal (row_at (report, 3)->role, FAB_RUN_UNANCHORED); /* faster than its GPU */
}

static void
test_a_marked_row_is_the_anchor_whatever_its_size (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = NULL;
  g_autoptr (FabTrainingReport) report = report_of_marked (
      f, 40, "a,8,1,8,DDP,8,1,1,no\nb,32,4,8,DDP,32,1,1,yes\nc,64,8,8,DDP,64,1,1,\n", &sources);

  assert_int_equal (row_at (report, 1)->role, FAB_RUN_ANCHOR);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (row_at (report, i)->anchor, 1);
  assert_int_equal (row_at (report, 0)->role, FAB_RUN_ONE_NODE);
  assert_int_equal (row_at (report, 2)->role, FAB_RUN_JUDGED);
}

/* 1.1 times the GPU-seconds per sample of more GPUs are still no sign of full memory, nor is a doubtful larger run. */
static void
test_a_run_is_short_of_memory_where_more_gpus_take_a_tenth_less (void **state)
{
  static const struct {
    const char *rows;
    FabRunRole first;
  } cases[] = {
    { "a,8,1,8,DDP,8,1.09,1,\nb,16,2,8,DDP,16,1,1,\n", FAB_RUN_ANCHOR },
    { "a,8,1,8,DDP,8,1.11,1,\nb,16,2,8,DDP,16,1,1,\n", FAB_RUN_FULL_MEMORY },
    { "a,8,1,8,DDP,8,1.11,1,\nb,16,2,8,DDP,16,1,1,odd\nc,16,2,8,DDP,16,1.11,1,\n", FAB_RUN_ANCHOR },
    { "a,8,1,8,DDP,8,1.11,1,\nb,16,2,8,DDP,8,1,1,\n", FAB_RUN_ANCHOR }, /* half the batch is twice the cost */
  };
  const Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabTrainingSources) sources = load (f, cases[i].rows);
    g_autoptr (FabTrainingReport) report = report_of (f, sources);

    assert_int_equal (row_at (report, 0)->role, cases[i].first);
  }
}

/* Whole groups, every k-th of the sorted ones, with the least k whose rows are few enough. */
static void
test_a_sample_is_of_every_kth_group (void **state)
{
  static const struct {
    guint n_sample;
    const char *played; /* of micro-batches 1 to 6 */
  } cases[] = { { 6, "123456" }, { 5, "135" }, { 3, "135" }, { 2, "14" }, { 1, "1" } };
  const Fixture *f = *state;

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (FabTrainingSources) sources = NULL;
    g_autoptr (FabTrainingReport) report = report_of_marked (
        f, cases[c].n_sample,
        "f,8,1,8,DDP,48,5,6,\na,8,1,8,DDP,8,1,1,\nd,8,1,8,DDP,32,4,4,\nc,8,1,8,DDP,24,3,3,\n"
        "b,8,1,8,DDP,16,2,2,\ne,8,1,8,DDP,40,5,5,\n",
        &sources);

    for (guint i = 0; i < 6; i++) {
      gboolean is_played = strchr (cases[c].played, row_at (report, i)->measured->id[0] - 'a' + '1') != NULL;

      assert_int_equal (row_at (report, i)->role, is_played ? FAB_RUN_ANCHOR : FAB_RUN_NOT_PLAYED);
    }
  }
}

/* Limits on the median and on wrong directions; a source without one is exceeded. */
static void
test_accept (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (f, "a,8,1,8,DDP,8,1,1,\nb,16,2,8,DDP,16,0.93,1,\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  g_autofree char *path = g_build_filename (f->directory, "accept.yaml", NULL);
  static const struct {
    const char *text;
    guint n_lines;
  } cases[] = {
    { "sources: [{source: s, median: 50%, wrong: 1}]\n", 0 },
    { "sources: [{source: s, median: 1%, wrong: 1}]\n", 1 },
    { "all: {median: 1%}\nsources: [{source: s, median: 1%}]\n", 2 },
    { "sources: []\n", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    put (f, "accept.yaml", cases[i].text);
    g_autoptr (FabLimits) accept = fab_training_limits_load (path, sources, &fab_models, &error);
    assert_non_null (accept);
    g_auto (GStrv) lines = fab_training_report_exceeded (report, accept);
    assert_int_equal (g_strv_length (lines), cases[i].n_lines);
  }
  put (f, "accept.yaml", "sources: [{source: r, median: 1%}]\n");
  assert_null (fab_training_limits_load (path, sources, &fab_models, NULL));
}

/* Every format names the row; what is wrong with a scenario is said with its row. */
static void
test_print (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabTrainingSources) sources = load (f, "row-a,8,1,8,DDP,8,1,1,\nrow-b,16,2,8,DDP,16,1,1,\n");
  g_autoptr (FabTrainingReport) report = report_of (f, sources);
  FabTrainingView view = { report, NULL, FALSE };
  char *texts[] = { fab_training_to_text (&view), fab_training_to_markdown (&view),
                    fab_training_to_csv (&view), fab_training_to_json (&view) };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    assert_non_null (strstr (texts[i], "row-b"));
    g_free (texts[i]);
  }
  put (f, "s.yaml", "name: t\ncluster: {node: dgx-a101}\n");
  assert_null (fab_training_run_open (fab_training_sources_get (sources, 0), 1, &f->env, &error));
  assert_non_null (strstr (error->message, "s row row-b"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_table),
    cmocka_unit_test (test_table_mistakes),
    cmocka_unit_test (test_table_skips),
    cmocka_unit_test (test_template),
    cmocka_unit_test (test_fit),
    cmocka_unit_test (test_fit_out_of_reach),
    cmocka_unit_test (test_bad_rows),
    cmocka_unit_test (test_layouts),
    cmocka_unit_test (test_many_micro_batches),
    cmocka_unit_test (test_calibration),
    cmocka_unit_test (test_roles),
    cmocka_unit_test (test_directions),
    cmocka_unit_test (test_wrong_direction),
    cmocka_unit_test (test_full_memory),
    cmocka_unit_test (test_anchors_alike_share_the_mean_of_their_times),
    cmocka_unit_test (test_a_marked_row_is_the_anchor_whatever_its_size),
    cmocka_unit_test (test_a_run_is_short_of_memory_where_more_gpus_take_a_tenth_less),
    cmocka_unit_test (test_a_sample_is_of_every_kth_group),
    cmocka_unit_test (test_slowest),
    cmocka_unit_test (test_accept),
    cmocka_unit_test (test_print),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
