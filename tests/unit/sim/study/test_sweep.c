/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c - grids and their points, a point on its way to another process and back, what is the same sweep. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_record.h"
#include "tests/support/random.h"

static const char *const two[] = { "cluster.nodes=1,2", "job.bucket=1..3MiB", NULL };

static void
assert_sets (const FabGrid *grid, gint64 point, const char *wanted)
{
  g_autoptr (FabEdits) edits = fab_grid_edits (grid, point);
  g_autofree char *all = g_strjoinv (" ", (char **) fab_edits_texts (edits));

  assert_string_equal (all, wanted);
}

static void
the_last_axis_is_fastest (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGrid) grid = fab_grid_new (two, NULL, NULL);

  assert_int_equal (grid->n_points, 6);
  assert_sets (grid, 0, "cluster.nodes=1 job.bucket=1MiB");
  assert_sets (grid, 1, "cluster.nodes=1 job.bucket=2MiB");
  assert_sets (grid, 5, "cluster.nodes=2 job.bucket=3MiB");
}

static void
zipped_keys_share_an_axis (G_GNUC_UNUSED void **state)
{
  static const char *const vary[] = { "seed=1,2", NULL };
  static const char *const zip[] = { " a.b=1, 2, 3  c={x: 1, y: 2},[3, 4],'5 6' ", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabGrid) grid = fab_grid_new (vary, zip, &error);

  assert_null (error);
  assert_int_equal (grid->n_points, 6);
  assert_sets (grid, 4, "seed=2 a.b=2 c=[3, 4]");
  g_autofree char *key = fab_grid_axis_key (grid, 1), *value = fab_grid_axis_value (grid, 1, 2);
  assert_string_equal (key, "a.b & c");
  assert_string_equal (value, "3 & '5 6'");
}

static void
grids_that_cannot_be_say_why (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vary, *zip, *says;
  } bad[] = {
    { NULL, NULL, "--vary is missing" },
    { "x", NULL, "not of the form KEY=VALUES" },
    { "x=1,,2", NULL, "empty" },
    { "x=1..2000000", NULL, "more than 100000 values" },
    { "x=1", "x=1 y=2", "x is given twice" },
    { NULL, "x=1", "two or more keys" },
    { NULL, "", "two or more keys" },
    { NULL, "x=1,2 y=1,2,3", "the same number of values" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const char *const vary[] = { bad[i].vary, NULL }, *const zip[] = { bad[i].zip, NULL };
    g_autoptr (GError) error = NULL;

    assert_null (fab_grid_new (vary, zip, &error));
    assert_non_null (strstr (error->message, bad[i].says));
  }
}

/* Whatever a person types: a grid, or a message; never anything else. */
static void
any_text_is_a_grid_or_an_error (G_GNUC_UNUSED void **state)
{
  static const char letters[] = "a=1,2.. :x/[]{}'\"Gb-";
  Random random = { 11 };

  for (guint round = 0; round < 20000; round++) {
    char text[24] = "k=";
    guint n = random_below (&random, sizeof text - 3);
    g_autoptr (GError) error = NULL;

    for (guint i = 0; i < n; i++)
      text[2 + i] = letters[random_below (&random, sizeof letters - 1)];
    const char *const texts[] = { text, NULL };
    gboolean is_zip = round % 2 == 0;
    g_autoptr (FabGrid) grid = fab_grid_new (is_zip ? NULL : texts, is_zip ? texts : NULL, &error);
    assert_true ((grid == NULL) == (error != NULL));
    if (grid != NULL)
      assert_true (grid->n_points >= 1);
  }
}

static FabSweepPointRecord *
new_record (const FabGrid *grid, gboolean is_played)
{
  FabPoint point = { .n_ranks = 8, .n_nodes = 1, .step_s = 0.1, .compute_s = 1.0 / 3, .memory_bytes = 1 };
  FabTry trial = { .point = is_played ? &point : NULL,
                   .problem = is_played ? NULL : (char *) "it cannot be so" };

  point.binding = point.binding_spec = (char *) "";
  return fab_sweep_record_new (grid, 3, &trial);
}

static void
a_record_survives_the_way (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGrid) grid = fab_grid_new (two, NULL, NULL);
  g_autoptr (FabSweepPointRecord) first = new_record (grid, TRUE), second = new_record (grid, FALSE);
  g_autoptr (GByteArray) bytes = g_byte_array_new (), again = g_byte_array_new ();

  fab_sweep_record_write (first, bytes);
  fab_sweep_record_write (second, bytes);
  const guint8 *at = bytes->data;
  gsize n_left = bytes->len;
  g_autoptr (FabSweepPointRecord) one = fab_sweep_record_read (&at, &n_left);
  g_autoptr (FabSweepPointRecord) other = fab_sweep_record_read (&at, &n_left);
  assert_int_equal (n_left, 0);
  fab_sweep_record_write (one, again);
  fab_sweep_record_write (other, again);
  assert_int_equal (again->len, bytes->len);
  assert_memory_equal (again->data, bytes->data, bytes->len);
  assert_string_equal (one->binding_link, "");
  assert_true (isnan (one->mfu_fraction) && one->step_s == 0.1 && one->problem == NULL);
  assert_true (isnan (other->step_s) && other->n_ranks == FAB_RECORD_UNKNOWN && other->binding_link == NULL);
  assert_string_equal (other->settings, "cluster.nodes=2 job.bucket=1MiB");
  /* A part of a message is no record. */
  at = bytes->data, n_left = bytes->len;
  fab_sweep_record_free (fab_sweep_record_read (&at, &n_left));
  gsize n_first = bytes->len - n_left;
  for (gsize size = 0; size < n_first; size++) {
    g_autofree guint8 *part = g_memdup2 (bytes->data, size);
    const guint8 *from = part;
    gsize n = size;

    assert_null (fab_sweep_record_read (&from, &n));
  }
}

static void
another_version_is_another_sweep (G_GNUC_UNUSED void **state)
{
  static const char *const few[] = { "seed=1,2", NULL }, *const others[] = { "seed=1,3", NULL };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);
  g_autoptr (FabGrid) grid = fab_grid_new (few, NULL, NULL), other = fab_grid_new (others, NULL, NULL);
  g_autoptr (FabSweepPlan) a = fab_sweep_plan_new (study, grid, "1", NULL),
                           b = fab_sweep_plan_new (study, grid, "1", NULL),
                           c = fab_sweep_plan_new (study, grid, "2", NULL),
                           d = fab_sweep_plan_new (study, other, "1", NULL);

  assert_string_equal (a->fingerprint, b->fingerprint);
  assert_string_not_equal (a->fingerprint, c->fingerprint);
  assert_string_not_equal (a->fingerprint, d->fingerprint);
  assert_true (fab_sweep_plan_holds (a, study, grid));
}

/* --- files that a scenario names --- */

static const char with_file[] = "name: x\ncluster: {node: dgx-a100, gpus_per_node: 4}\n"
                                "schedules: [{file: four.xml}]\n"
                                "job: {kind: collective, operations: [{op: all_reduce, size: 64KiB}]}\n";

static void
put (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
drop (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_remove (path);
}

static void
a_file_that_changed_is_another_sweep (G_GNUC_UNUSED void **state)
{
  static const char *const few[] = { "seed=1,2", NULL };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autoptr (FabGrid) grid = fab_grid_new (few, NULL, NULL);
  g_autofree char *folder = g_dir_make_tmp ("sweep-XXXXXX", NULL), *schedule = NULL,
                  *path = g_build_filename (folder, "x.yaml", NULL);

  assert_true (
      g_file_get_contents (FAB_SOURCE_DIR "/scenarios/schedules/all-pairs-4.xml", &schedule, NULL, NULL));
  g_autofree char *other = g_strconcat (schedule, "\n", NULL);
  put (folder, "x.yaml", with_file);
  put (folder, "four.xml", schedule);
  g_autoptr (FabStudy) study = fab_study_new (path, NULL, catalog, &fab_models, NULL);
  g_autoptr (FabSweepPlan) a = fab_sweep_plan_new (study, grid, "1", NULL);
  assert_true (fab_sweep_plan_holds (a, study, grid));
  put (folder, "four.xml", other);
  assert_false (fab_sweep_plan_holds (a, study, grid));
  g_autoptr (FabSweepPlan) b = fab_sweep_plan_new (study, grid, "1", NULL);
  assert_string_not_equal (a->fingerprint, b->fingerprint);
  put (folder, "four.xml", schedule);
  g_autoptr (FabSweepPlan) c = fab_sweep_plan_new (study, grid, "1", NULL);
  assert_string_equal (a->fingerprint, c->fingerprint);
  drop (folder, "four.xml");
  drop (folder, "x.yaml");
  g_rmdir (folder);
}

static gboolean
always (G_GNUC_UNUSED gpointer data)
{
  return TRUE;
}

/* Two threads are at points that take hours; the sweep comes back, with its threads joined and nothing in the
 * file. */
static void
a_cancelled_sweep_leaves_no_thread (G_GNUC_UNUSED void **state)
{
  static const char *const long_ones[] = { "seed=1,2,3", NULL };
  static const char *const sets[] = { "fidelity=packet", "iterations=1000000", NULL };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", sets, catalog,
                                              &fab_models, NULL);
  g_autoptr (FabGrid) grid = fab_grid_new (long_ones, NULL, NULL);
  g_autoptr (FabSweepPlan) plan = fab_sweep_plan_new (study, grid, "1", NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;
  FabSweepSpec spec = {
    .study = study, .grid = grid, .plan = plan, .version = "1", .n_threads = 2, .is_cancelled = always
  };
  FabSweepOutcome outcome;

  assert_true (fab_sweep_run (&spec, store, &outcome, &error));
  assert_true (outcome.is_cancelled);
  assert_int_equal (outcome.n_played, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_last_axis_is_fastest),
    cmocka_unit_test (zipped_keys_share_an_axis),
    cmocka_unit_test (grids_that_cannot_be_say_why),
    cmocka_unit_test (any_text_is_a_grid_or_an_error),
    cmocka_unit_test (a_record_survives_the_way),
    cmocka_unit_test (another_version_is_another_sweep),
    cmocka_unit_test (a_file_that_changed_is_another_sweep),
    cmocka_unit_test (a_cancelled_sweep_leaves_no_thread),
  };

  return cmocka_run_group_tests_name ("sweep", tests, NULL, NULL);
}
