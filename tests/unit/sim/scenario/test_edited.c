/* SPDX-License-Identifier: Apache-2.0 */
/* test_edited.c - what a scenario says of itself after edits and in copies: whole numbers by key, texts with the sums
 * of files, and that what is refused changes nothing. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define JOB "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}"
#define LEAST "name: t\nsummary: as written\ncluster: {node: dgx-h100, nodes: 4}\n" JOB "\n"

static FabScenario *
parse (const char *text, const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t", text, strlen (text), sets, &fab_models, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

/* The fallback stands for keys that are not there, that hold something else, and for absent texts. */
static void
whole_numbers_are_got_by_key (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = parse (LEAST, NULL);

  assert_int_equal (fab_scenario_get_whole (scenario, "cluster.nodes", 9), 4);
  assert_int_equal (fab_scenario_get_whole (scenario, "seed", 9), 1);
  assert_int_equal (fab_scenario_get_whole (scenario, "cluster.nodez", 9), 9);
  assert_int_equal (fab_scenario_get_whole (scenario, "name", 9), 9);
  assert_int_equal (fab_scenario_get_whole (scenario, "cluster.p2p", 9), 9);
  assert_int_equal (fab_scenario_get_whole (scenario, "cluster.power_cap", 9), 9);
}

/* A copy shares what was read of the scenario until one of them is edited; what is refused changes neither. */
static void
copies_share_until_they_are_edited (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = parse (LEAST, NULL), copy = fab_scenario_copy (scenario);
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  g_autofree char *before = fab_scenario_text (scenario);
  g_autoptr (GError) error = NULL;

  assert_ptr_equal (fab_scenario_spec (copy), spec);
  assert_false (fab_scenario_set (copy, "cluster.nodez", fab_value_count (2), &error));
  assert_non_null (strstr (error->message, "unknown key 'nodez'; nearest is 'nodes'"));
  assert_false (fab_scenario_set (copy, "cluster.nodes", fab_value_text ("two"), NULL));
  assert_false (fab_scenario_assign (copy, "cluster.nodes", NULL));
  assert_ptr_equal (fab_scenario_spec (copy), spec);
  assert_true (fab_scenario_set (copy, "cluster.nodes", fab_value_count (2), NULL));
  assert_true (fab_scenario_check (copy, NULL));
  assert_int_equal (fab_scenario_spec (copy)->cluster.nodes, 2);
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 4);
  assert_ptr_equal (fab_scenario_spec (scenario), spec);
  g_autofree char *after = fab_scenario_text (scenario);
  assert_string_equal (after, before);
  fab_scenario_free (NULL);
}

/* Edits of a scenario do not reach its copies, nor theirs it, whichever is freed first. */
static void
many_edits_stay_where_they_are_made (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "cluster.nodes=8", NULL };
  g_autoptr (FabScenario) scenario = parse (LEAST, NULL);
  FabScenario *copy = fab_scenario_copy (scenario);
  g_autoptr (FabEdits) edits = fab_edits_of (sets), none = fab_edits_new ();

  fab_scenario_edit (scenario, none);
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 4); /* which is still checked */
  fab_scenario_edit (scenario, edits);
  assert_true (fab_scenario_check (scenario, NULL));
  assert_int_equal (fab_scenario_spec (copy)->cluster.nodes, 4);
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 8);
  assert_null (fab_scenario_assigned (copy, "cluster.nodes"));
  assert_string_equal (fab_scenario_assigned (scenario, "cluster.nodes"), "cluster.nodes=8");
  fab_scenario_free (copy);
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 8);
}

/* A summary that an edit gives stays, and one that the file gives becomes the title where an edit changes that. A
 * scenario without one is given none. */
static void
a_summary_is_told_anew (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_typed, has_summary;
    const char *key, *value, *summary; /* NULL: none */
  } rows[] = {
    { TRUE, TRUE, "summary", "mine", "mine" },
    { FALSE, TRUE, "summary", "mine", "mine" },
    { TRUE, TRUE, "name", "u", "as written" },
    { FALSE, TRUE, "name", "u", "as written" },
    { TRUE, TRUE, "cluster.node", "dgx-a100",
      "collective, all_reduce, 1MB on 4 x dgx-a100, leaf_spine fabric (edited)" },
    { FALSE, TRUE, "cluster.node", "dgx-a100",
      "collective, all_reduce, 1MB on 4 x dgx-a100, leaf_spine fabric (edited)" },
    { TRUE, FALSE, "cluster.node", "dgx-a100", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabScenario) scenario = parse (
        rows[i].has_summary
            ? "name: t\nsummary: as written\ncluster: {node: dgx-h100, nodes: 4, fabric: leaf_spine}\n" JOB
              "\n"
            : "name: t\ncluster: {node: dgx-h100, nodes: 4, fabric: leaf_spine}\n" JOB "\n",
        NULL);
    g_autofree char *assignment = g_strconcat (rows[i].key, "=", rows[i].value, NULL);

    assert_true (rows[i].is_typed
                     ? fab_scenario_set (scenario, rows[i].key, fab_value_text (rows[i].value), NULL)
                     : fab_scenario_assign (scenario, assignment, NULL));
    assert_true (fab_scenario_check (scenario, NULL));
    g_autofree char *text = fab_scenario_text (scenario);
    g_autofree char *line = g_strdup_printf ("summary: %s\n", rows[i].summary);
    assert_true (g_strcmp0 (fab_scenario_spec (scenario)->summary, rows[i].summary) == 0);
    assert_int_equal (strstr (text, line) != NULL, rows[i].summary != NULL);
    assert_int_equal (strstr (text, "summary:") != NULL, rows[i].summary != NULL);
  }
}

/* Whoever has a file without keys is told what to do, and an edit of it mends that. */
static void
a_file_without_keys_is_told (G_GNUC_UNUSED void **state)
{
  const char *text = "# nothing\n";
  g_autoptr (GError) error = NULL;

  assert_null (fab_scenario_parse ("t", text, strlen (text), NULL, &fab_models, catalog, &error));
  assert_true (g_str_has_prefix (error->message, "t has no keys: it is empty, or has comments only."));
}

/* The sum of each file that a key names stands behind the text, also of one that is gone since. */
static void
sums_of_files_are_told (G_GNUC_UNUSED void **state)
{
  static const char jobs[] = "submit,duration,nodes\n0,60,1\n";
  g_autofree char *directory = g_dir_make_tmp ("fab-edited-XXXXXX", NULL),
                  *path = g_build_filename (directory, "jobs.csv", NULL),
                  *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, jobs, -1),
                  *yaml = g_strdup_printf (LEAST "mix: {log: %s, jobs: [{name: a, nodes: 1, " JOB "}]}\n",
                                           path),
                  *expected = g_strdup_printf ("\n# jobs.csv has the SHA-256 %s.\n", sum);

  assert_true (g_file_set_contents (path, jobs, -1, NULL));
  g_autoptr (FabScenario) scenario = parse (yaml, NULL);
  g_autofree char *resolved = fab_scenario_resolved (scenario),
                  *explained = fab_scenario_explained (scenario);
  assert_true (g_str_has_suffix (resolved, expected));
  assert_true (g_str_has_suffix (explained, expected));
  g_remove (path);
  g_rmdir (directory);
  g_autofree char *gone = fab_scenario_resolved (scenario);
  assert_true (g_str_has_suffix (gone, "\n# jobs.csv has the SHA-256 of a file that cannot be read.\n"));
}

/* A file that an edit includes lies under what is written. */
static void
an_edit_may_include_a_file (G_GNUC_UNUSED void **state)
{
  g_autofree char *directory = g_dir_make_tmp ("fab-edited-XXXXXX", NULL),
                  *path = g_build_filename (directory, "more.yaml", NULL),
                  *set = g_strconcat ("include=", path, NULL);
  const char *const sets[] = { set, NULL };

  assert_true (g_file_set_contents (path, "seed: 7\nname: u\n", -1, NULL));
  g_autoptr (FabScenario) scenario = parse (LEAST, sets);
  assert_int_equal (fab_scenario_spec (scenario)->seed, 7);
  assert_string_equal (fab_scenario_spec (scenario)->name, "t");
  g_remove (path);
  g_rmdir (directory);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (whole_numbers_are_got_by_key),
    cmocka_unit_test (copies_share_until_they_are_edited),
    cmocka_unit_test (many_edits_stay_where_they_are_made),
    cmocka_unit_test (a_summary_is_told_anew),
    cmocka_unit_test (a_file_without_keys_is_told),
    cmocka_unit_test (sums_of_files_are_told),
    cmocka_unit_test (an_edit_may_include_a_file),
  };

  return play_run_tests ("edited", tests, &catalog);
}
