/* SPDX-License-Identifier: Apache-2.0 */
/* test_published.c - the page of blind errors beside what others projected, from reports by hand: with their numbers
 * and without, in a first column and in a later one, and of sources of which nothing was predicted. */
#include "tests/support/test.h"
#include "validate/training/print.h"

enum { N_SOURCES = 4 };

/* Six runs of the first source, of which three count; one of the second and third each; none of the fourth. */
static const struct {
  guint source;
  const char *cells[3];
  guint gpus;
  const char *strategy;
  double measured_s, ours_s;
  FabRunRole role;
  gboolean is_unpredicted;
  const char *doubtful;
} runs[] = {
  { 0, { "gpt", "1", "r0" }, 8, "dp", 2, 2.5, FAB_RUN_JUDGED, FALSE, NULL },
  { 0, { "bert", "2.5", "r1" }, 16, "tp", 2, 1.5, FAB_RUN_NOT_PLAYED, FALSE, NULL },
  { 0, { "gpt", "", "r2" }, 32, "dp", 4, 4.2, FAB_RUN_ANCHOR, FALSE, NULL },
  { 0, { "gpt", "1", "r3" }, 64, "dp", 4, 4, FAB_RUN_JUDGED, TRUE, NULL },
  { 0, { "gpt", "1", "r4" }, 64, "dp", 4, 4, FAB_RUN_SKIPPED, FALSE, NULL },
  { 0, { "gpt", "1", "r5" }, 64, "dp", 4, 4, FAB_RUN_DOUBTFUL, FALSE, "by hand" },
  { 1, { "3" }, 8, "pp", 2, 2.5, FAB_RUN_JUDGED, FALSE, NULL },
  { 2, { "x" }, 8, "pp", 2, 2.5, FAB_RUN_JUDGED, FALSE, NULL },
  { 3, { "x" }, 8, "pp", 2, 2.5, FAB_RUN_SKIPPED, FALSE, NULL },
};

#define HEAD                                                                           \
  "\n| model | GPUs | divided by | measured s | ours s | error | theirs s | error |\n" \
  "|---|---:|---|---:|---:|---:|---:|---:|\n"

static const char right[] =
    "\n## first\n\n- source: a paper\n- inferred: nodes\n- of a note\n" HEAD
    "| gpt | 8 | dp | 2 | 2.5 | +25.0 % | 1 | -50.0 % |\n"
    "| bert | 16 | tp | 2 | 1.5 | -25.0 % | 2.5 | +25.0 % |\n"
    "| gpt | 32 | dp | 4 | 4.2 | +5.0 % | | |\n"
    "| **median of 3** | | | | | **25.0 %** | | **37.5 %**, ours is nearer on 1 of 2 |\n"
    "\nleft out: r4: too large\n"
    "\n## second\n\n- source: \n" HEAD "| row | 8 | pp | 2 | 2.5 | +25.0 % | 3 | +50.0 % |\n"
    "| **median of 1** | | | | | **25.0 %** | | **50.0 %**, ours is nearer on 1 of 1 |\n"
    "\n## third\n\n- source: \n" HEAD "| row | 8 | pp | 2 | 2.5 | +25.0 % | | |\n"
    "| **median of 1** | | | | | **25.0 %** | | |\n"
    "\n## fourth\n\n- source: \n" HEAD "\n";

static void
the_page_has_every_run_that_counts (G_GNUC_UNUSED void **state)
{
  static char *columns[][4] = { { (char *) "model", (char *) "peer_s", (char *) "id" },
                                { (char *) "peer_s" },
                                { (char *) "id" },
                                { (char *) "id" } };
  static const FabTrainingSourceSpec specs[] = { { .title = "first", .note = "of a note" },
                                                 { .title = "second", .note = "" },
                                                 { .title = "third" },
                                                 { .title = "fourth" } };
  FabTrainingTable tables[N_SOURCES] = { 0 };
  FabTrainingSource sources[N_SOURCES] = { 0 };
  FabTrainingResult results[N_SOURCES] = { 0 };
  FabTrainingRow measured[G_N_ELEMENTS (runs)];
  FabTrainingReport report = { .results = g_ptr_array_new () };

  for (guint i = 0; i < N_SOURCES; i++) {
    tables[i] = (FabTrainingTable){ .header = g_hash_table_new (g_str_hash, g_str_equal),
                                    .columns = columns[i] };
    sources[i] = (FabTrainingSource){ .spec = &specs[i], .table = &tables[i] };
    results[i] = (FabTrainingResult){ .source = &sources[i],
                                      .rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison)),
                                      .remarks = g_ptr_array_new () };
    g_ptr_array_add (report.results, &results[i]);
  }
  g_hash_table_insert (tables[0].header, (char *) "source", (char *) "a paper");
  g_hash_table_insert (tables[0].header, (char *) "inferred", (char *) "nodes");
  g_ptr_array_add (results[0].remarks, (char *) "r4: too large");
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    measured[i] = (FabTrainingRow){ .cells = (char **) runs[i].cells,
                                    .id = "row",
                                    .strategy = runs[i].strategy,
                                    .gpus = runs[i].gpus,
                                    .step_s = runs[i].measured_s,
                                    .doubtful = runs[i].doubtful };
    FabTrainingComparison row = { .measured = &measured[i], .role = runs[i].role };

    row.blind = (FabTrainingBlind){ .is_predicted = !runs[i].is_unpredicted,
                                    .step = { .step_s = runs[i].ours_s },
                                    .error_fraction = runs[i].ours_s / runs[i].measured_s - 1 };
    g_array_append_val (results[runs[i].source].rows, row);
  }
  g_autofree char *page = fab_training_published_to_markdown (&report);
  assert_true (g_str_has_prefix (page, "# Our blind error beside published projections\n"));
  assert_string_equal (strstr (page, "\n## "), right);
  for (guint i = 0; i < N_SOURCES; i++) {
    g_hash_table_unref (tables[i].header);
    g_array_unref (results[i].rows);
    g_ptr_array_unref (results[i].remarks);
  }
  g_ptr_array_unref (report.results);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_page_has_every_run_that_counts),
  };

  return cmocka_run_group_tests_name ("published", tests, NULL, NULL);
}
