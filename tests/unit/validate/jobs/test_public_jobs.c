/* SPDX-License-Identifier: Apache-2.0 */
/* test_public_jobs.c - what pages say of public configurations that were played. */
#include "validate/jobs/jobs.h"

#include <string.h>

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"

static const FabPublicJobSpec specs[] = {
  { .name = "one",
    .file = "f1",
    .settings = "s1",
    .licence = "MIT",
    .node = "box",
    .nodes = 2,
    .gpus = 16,
    .step_s = 2,
    .role = FAB_PUBLIC_NEW,
    .source = "p1" },
  { .name = "two",
    .file = "f2",
    .settings = "s2",
    .licence = "BSD",
    .node = "tin",
    .nodes = 1,
    .gpus = 8,
    .tokens_s_gpu = 1000,
    .role = FAB_PUBLIC_CALIBRATES,
    .source = "p2",
    .changes = "a=1",
    .note = "Mind" },
  { .name = "three",
    .file = "f3",
    .settings = "s3",
    .licence = "MIT",
    .node = "box",
    .nodes = 1,
    .gpus = 4,
    .role = FAB_PUBLIC_JUDGED },
  { .name = "four",
    .file = "f4",
    .settings = "s4",
    .licence = "MIT",
    .node = "box",
    .nodes = 1,
    .gpus = 4,
    .step_s = 0.5,
    .role = FAB_PUBLIC_JUDGED,
    .source = "p4" },
};

/* Published and held; published and too long for its band; not published; published, below a second, without a
 * band. */
static const FabPublicJob played[] = {
  { &specs[0], (char *) "fsdp", 2, 2.5, 1.5, 3, 0 },
  { &specs[1], (char *) "ddp", 4, 3, 2, 3.5, 0 },
  { &specs[2], (char *) "fsdp", 0, 0.25, 0.125, 0.5, 0 },
  { &specs[3], (char *) "fsdp", 0.5, 0.25, 0, 0, 0 },
};

static GArray *
jobs_from (guint first, guint n)
{
  GArray *jobs = g_array_new (FALSE, FALSE, sizeof (FabPublicJob));

  g_array_append_vals (jobs, &played[first], n);
  return jobs;
}

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

/* Differences of +25 %, -25 % and -50 %: of the two that calibrate nothing, the median is 37.5 %, and one is held. */
static const char sums[] =
    "4 configurations are read and played.\n"
    "Of runs that calibrate nothing 1 of 2 published steps lie in the band; the median difference "
    "is 37.5 %.\n"
    "Of runs that calibrate 0 of 1 published steps lie in the band; the median difference is 25.0 "
    "%.\n";

static void
text_has_every_job (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) jobs = jobs_from (0, 4);
  g_autofree char *text = fab_public_jobs_to_text (jobs);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  static const char *const rows[] = {
    "configuration|kind|node|GPUs|published s|ours s|difference|band s|inside",
    "one|fsdp|box|16|2|2.5|+25.0 %|1.5 to 3|yes",
    "two|ddp|tin|8|4|3|-25.0 %|2 to 3.5|no",
    "three|fsdp|box|4|-|0.25|-|0.125 to 0.5|-",
    "four|fsdp|box|4|0.5|0.25|-50.0 %|-|no",
    "",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (GStrv) cells = g_strsplit (lines[i], "\v", -1);

    for (guint k = 0; cells[k] != NULL; k++)
      g_strstrip (cells[k]);
    g_autofree char *joined = g_strjoinv ("|", cells);
    assert_string_equal (joined, rows[i]);
  }
  assert_true (g_str_has_suffix (text, sums));
}

static void
markdown_has_every_job (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) jobs = jobs_from (0, 4);
  g_autofree char *page = fab_public_jobs_to_markdown (jobs);
  g_autofree char *end = g_strconcat (
      "\n\n", sums,
      "\n| configuration | kind | machine | published s | ours s | difference | band s | inside | row |\n"
      "|---|---|---|---:|---:|---:|---:|---|---|\n"
      "| one | fsdp | 16 box | 2 | 2.5 | +25.0 % | 1.5 to 3 | yes | new |\n"
      "| two | ddp | 8 tin | 4 | 3 | -25.0 % | 2 to 3.5 | no | calibrates |\n"
      "| three | fsdp | 4 box | - | 0.25 | - | 0.125 to 0.5 | - | - |\n"
      "| four | fsdp | 4 box | 0.5 | 0.25 | -50.0 % | - | no | judged |\n"
      "\n## Sources\n\n"
      "- **one**: settings of s1 (MIT). Published: 2 s, p1.\n"
      "- **two**: settings of s2 (BSD). Changes: `a=1`. Published: 1000 tokens/s per GPU, p2. Mind.\n"
      "- **three**: settings of s3 (MIT). No step of it is published, as far as is known here.\n"
      "- **four**: settings of s4 (MIT). Published: 0.5 s, p4.\n",
      NULL);

  assert_true (g_str_has_suffix (page, end));
}

/* What is not known is empty, and never 0. */
static void
data_have_every_job (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) jobs = jobs_from (0, 4);
  g_autofree char *csv = fab_public_jobs_to_csv (jobs), *json = fab_public_jobs_to_json (jobs);

  assert_string_equal (
      csv, "name,file,kind,node,nodes,gpus,published_s,ours_s,low_s,high_s,difference_fraction,is_inside,"
           "role,changes,source,settings,licence,note\n"
           "one,f1,fsdp,box,2,16,2,2.5,1.5,3,0.25,yes,new,,p1,s1,MIT,\n"
           "two,f2,ddp,tin,1,8,4,3,2,3.5,-0.25,no,calibrates,a=1,p2,s2,BSD,Mind\n"
           "three,f3,fsdp,box,1,4,,0.25,0.125,0.5,,,,,,s3,MIT,\n"
           "four,f4,fsdp,box,1,4,0.5,0.25,,,-0.5,no,judged,,p4,s4,MIT,\n");
  assert_has (json, "\"three\"");
}

/* A step at an end of its band is inside. */
static void
ends_are_inside (G_GNUC_UNUSED void **state)
{
  static const double published[] = { 1.5, 3, 1.49, 3.01 };
  static const char *const shown[] = { " | yes | ", " | yes | ", " | no | ", " | no | " };

  for (guint i = 0; i < G_N_ELEMENTS (published); i++) {
    g_autoptr (GArray) jobs = jobs_from (0, 1);

    g_array_index (jobs, FabPublicJob, 0).published_s = published[i];
    g_autofree char *page = fab_public_jobs_to_markdown (jobs);
    assert_has (page, shown[i]);
    assert_has (page, "\n1 configuration is read and played.\n");
  }
}

/* Of runs of which nothing is published, no share is told. */
static void
nothing_is_published (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) jobs = jobs_from (2, 1);
  g_autofree char *text = fab_public_jobs_to_text (jobs);

  assert_true (g_str_has_suffix (text, "\n\n1 configuration is read and played.\n"));
}

/* --- the list of configurations --- */

#define ROW(name, gpus, nodes, more)                                                                 \
  "{name: " name ", file: f.json, settings: s, licence: l, node: box, gpus: " gpus ", nodes: " nodes \
  ", " more "}"

/* Reads a list of these rows. (transfer full) */
static FabPublicJobs *
load (const char *rows, GError **error)
{
  g_autofree char *directory = g_dir_make_tmp ("fab-jobs-XXXXXX", NULL),
                  *text = g_strdup_printf ("jobs: [%s]\n", rows);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
  FabPublicJobs *jobs = fab_public_jobs_load (directory, &fab_models, error);
  g_unlink (path);
  g_rmdir (directory);
  return jobs;
}

/* Every row is found by its name; another name is told the nearest one, if any is near. */
static void
rows_are_found_by_name (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "first", "second", "third", "fourth", "fifth" };
  static const struct {
    const char *name, *words;
  } wrong[] = { { "firs", "no public configuration 'firs'; nearest is 'first'" },
                { "fifht", "no public configuration 'fifht'; nearest is 'fifth'" },
                { "nothing-like-it", "no public configuration 'nothing-like-it'" } };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabPublicJobs) jobs = load (
      ROW ("first", "8", "1", "") "," ROW ("second", "16", "2", "step_s: 1, source: s") "," ROW (
          "third", "3", "3",
          "tokens_s_gpu: 5, source: s, role: judged") "," ROW ("fourth", "4", "4",
                                                               "role: calibrates") "," ROW ("fifth", "6", "3",
                                                                                            "changes: a=1, note: n"),
      &error);

  if (jobs == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (fab_public_jobs_n (jobs), G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const FabPublicJobSpec *spec = fab_public_jobs_find (jobs, names[i], &error);

    assert_ptr_equal (spec, fab_public_jobs_get (jobs, i));
    assert_string_equal (spec->name, names[i]);
    assert_int_equal (spec->role, i == 2   ? FAB_PUBLIC_JUDGED
                                  : i == 3 ? FAB_PUBLIC_CALIBRATES
                                           : FAB_PUBLIC_NEW);
  }
  assert_null (error);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) told = NULL;

    assert_null (fab_public_jobs_find (jobs, wrong[i].name, &told));
    assert_true (g_error_matches (told, FAB_ERROR, FAB_ERROR_INPUT));
    assert_string_equal (told->message, wrong[i].words);
  }
}

/* Each mistake is told, and what stands beside it is taken. */
static void
mistakes_of_rows_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rows, *words; /* NULL: none */
  } cases[] = {
    { ROW ("a", "8", "2", ""), NULL },
    { ROW ("a", "8", "3", ""), "8 GPUs do not divide among the nodes" },
    { ROW ("a", "3", "8", ""), "3 GPUs do not divide among the nodes" },
    { ROW ("a", "8", "8", ""), NULL },
    { ROW ("a", "8", "1", "") "," ROW ("b", "8", "1", ""), NULL },
    { ROW ("a", "8", "1", "") "," ROW ("b", "8", "1", "") "," ROW ("a", "8", "1", ""), "'a' is given twice" },
    { ROW ("a", "8", "1", "step_s: 1, source: s"), NULL },
    { ROW ("a", "8", "1", "tokens_s_gpu: 1, source: s"), NULL },
    { ROW ("a", "8", "1", "step_s: 0.1"), "what is published has a source" },
    { ROW ("a", "8", "1", "tokens_s_gpu: 0.1"), "what is published has a source" },
    { ROW ("a", "8", "1", "step_s: 0.1, tokens_s_gpu: 0.1, source: s"),
      "step_s and tokens_s_gpu say the same; give one" },
    { ROW ("a", "8", "1", "step_s: 0, tokens_s_gpu: 0"), NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabPublicJobs) jobs = load (cases[i].rows, &error);

    assert_int_equal (jobs == NULL, cases[i].words != NULL);
    assert_int_equal (error == NULL, cases[i].words == NULL);
    if (error != NULL) {
      assert_has (error->message, cases[i].words);
      assert_null (strstr (strstr (error->message, cases[i].words) + 1, cases[i].words)); /* once */
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (text_has_every_job),        cmocka_unit_test (markdown_has_every_job),
    cmocka_unit_test (data_have_every_job),       cmocka_unit_test (ends_are_inside),
    cmocka_unit_test (nothing_is_published),      cmocka_unit_test (rows_are_found_by_name),
    cmocka_unit_test (mistakes_of_rows_are_told),
  };

  return cmocka_run_group_tests_name ("public_jobs", tests, NULL, NULL);
}
