/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c - grids and their points, a point on its way to another process and back, what is the same sweep. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_record.h"
#include "tests/support/failing.h"
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

/* --- whole sweeps --- */

enum { N_POINTS = 6 };

/* A scenario in a file, a grid of six rates, and what the sweep tells. */
typedef struct {
  FabCatalog *catalog;
  FabStudy *study;
  FabGrid *grid;
  FabSweepPlan *plan;
  FabSweepOutcome outcome;
  char *folder, *results;
  GString *said;
  guint n_told;
  FabSweepProgress last;
  gboolean (*first) (gpointer self); /* is called before the first point is played; NULL: nothing */
  guint n_threads;
  FabRanks *ranks;  /* NULL: there are no others */
  guint cancels_at; /* it is cancelled when so many points are done; 0: not at all */
} Whole;

static const char sends[] = "name: x\niterations: 1\ncluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1}\n"
                            "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";

static Whole *
whole_of (const FabRegistry *registry)
{
  static const char *const rates[] = { "cluster.nic_rate=100..600Gb/s:100", NULL };
  Whole *self = g_new0 (Whole, 1);

  self->n_threads = 1;
  self->catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  self->folder = g_dir_make_tmp ("sweep-XXXXXX", NULL);
  self->results = g_build_filename (self->folder, "results.db", NULL);
  put (self->folder, "x.yaml", sends);
  g_autofree char *path = g_build_filename (self->folder, "x.yaml", NULL);
  self->study = fab_study_new (path, NULL, self->catalog, registry, NULL);
  self->grid = fab_grid_new (rates, NULL, NULL);
  self->plan = fab_sweep_plan_new (self->study, self->grid, "1", NULL);
  self->said = g_string_new (NULL);
  assert_int_equal (self->grid->n_points, N_POINTS);
  return self;
}

static Whole *
whole_new (void)
{
  return whole_of (&fab_models);
}

static void
whole_free (Whole *self)
{
  static const char *const files[] = { "x.yaml", "results.db", "results.db-wal", "results.db-shm" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    drop (self->folder, files[i]);
  g_rmdir (self->folder);
  fab_sweep_plan_free (self->plan);
  fab_grid_free (self->grid);
  fab_study_free (self->study);
  fab_catalog_free (self->catalog);
  g_string_free (self->said, TRUE);
  g_free (self->results);
  g_free (self->folder);
  g_free (self);
}

/* What is told of the progress never goes back. */
static void
tell_progress (gpointer data, const FabSweepProgress *progress)
{
  Whole *self = data;

  assert_int_equal (progress->n_points, N_POINTS);
  assert_in_range (progress->n_done, self->last.n_done, N_POINTS);
  assert_true (progress->n_there == self->last.n_there || self->n_told == 0);
  self->last = *progress;
  if (self->n_told++ == 0 && self->first != NULL)
    assert_true (self->first (self));
}

static void
tell_note (gpointer data, const char *sentence)
{
  g_string_append (((Whole *) data)->said, sentence);
}

static gboolean
is_enough (gpointer data)
{
  const Whole *self = data;

  return self->cancels_at > 0 && self->last.n_done >= self->cancels_at;
}

static gboolean
run (Whole *self, FabStore *store, GError **error)
{
  const FabSweepSpec spec = { .study = self->study,
                              .grid = self->grid,
                              .plan = self->plan,
                              .version = "1",
                              .n_threads = self->n_threads,
                              .ranks = self->ranks,
                              .data = self,
                              .progress = tell_progress,
                              .note = tell_note,
                              .is_cancelled = is_enough };

  self->n_told = 0;
  self->last = (FabSweepProgress){ 0 };
  g_string_truncate (self->said, 0);
  if (!fab_sweep_run (&spec, store, &self->outcome, error))
    return FALSE;
  assert_int_equal (self->last.n_there, self->outcome.n_there);
  assert_int_equal (self->last.n_done,
                    self->outcome.n_there + self->outcome.n_played + self->outcome.n_foreign);
  return TRUE;
}

static guint
n_stored (Whole *self, FabStore *store)
{
  guint8 marks[N_POINTS] = { 0 };
  guint n = 0;

  assert_true (fab_store_mark_points (store, self->outcome.sweep_id, marks, N_POINTS, NULL));
  for (guint i = 0; i < N_POINTS; i++)
    n += marks[i];
  return n;
}

/* Every point is stored, and is there already when the same command runs again. Nothing is noted. */
static void
a_sweep_stores_every_point_once (G_GNUC_UNUSED void **state)
{
  Whole *self = whole_new ();
  g_autoptr (FabStore) store = fab_store_new (NULL);

  for (guint round = 0; round < 2; round++) {
    assert_true (run (self, store, NULL));
    assert_int_equal (self->outcome.n_points, N_POINTS);
    assert_int_equal (self->outcome.n_played, round == 0 ? N_POINTS : 0);
    assert_int_equal (self->outcome.n_there, round == 0 ? 0 : N_POINTS);
    assert_int_equal (self->outcome.n_foreign, 0);
    assert_false (self->outcome.is_cancelled);
    assert_int_equal (n_stored (self, store), N_POINTS);
    assert_int_equal (self->last.n_done, N_POINTS);
    assert_int_equal (self->last.n_there, self->outcome.n_there);
    assert_true (self->n_told >= 1);
    assert_string_equal (self->said->str, "");
  }
  whole_free (self);
}

/* Another process stores the first and the fourth point before this one stores any. */
static gboolean
store_two (gpointer data)
{
  static const gint64 points[] = { 0, 3 };
  const Whole *self = data;
  g_autoptr (FabStore) other = fab_store_open (self->results, FAB_STORE_WRITE, NULL);
  gboolean is_stored = other != NULL;

  for (guint i = 0; i < G_N_ELEMENTS (points) && is_stored; i++) {
    g_autoptr (FabEdits) edits = fab_grid_edits (self->grid, points[i]);
    FabTry trial = { .edits = edits };

    fab_try_play (self->study, &trial);
    g_autoptr (FabSweepPointRecord) record = fab_sweep_record_new (self->grid, points[i], &trial);
    is_stored = fab_store_add_points (other, self->outcome.sweep_id, record, 1, NULL, NULL);
    fab_try_clear (&trial);
  }
  return is_stored;
}

/* Points that another process has stored are its own, and that both share the work is said once. */
static void
points_of_another_process_are_its_own (G_GNUC_UNUSED void **state)
{
  Whole *self = whole_new ();
  g_autoptr (FabStore) store = fab_store_open (self->results, FAB_STORE_WRITE, NULL);

  self->first = store_two;
  assert_true (run (self, store, NULL));
  assert_int_equal (self->outcome.n_there, 0);
  assert_int_equal (self->outcome.n_foreign, 2);
  assert_int_equal (self->outcome.n_played, N_POINTS - 2);
  assert_int_equal (n_stored (self, store), N_POINTS);
  assert_string_equal (self->said->str,
                       "another process runs the same sweep into this file; both share the work");
  g_clear_pointer (&store, fab_store_free);
  whole_free (self);
}

static gboolean
change_file (gpointer data)
{
  put (((const Whole *) data)->folder, "x.yaml",
       "name: x\niterations: 1\ncluster: {node: dgx-h100, nodes: 3, gpus_per_node: 1}\n"
       "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n");
  return TRUE;
}

/* Nothing is stored of a scenario that is another one by now. */
static void
a_file_that_changes_meanwhile_ends_the_sweep (G_GNUC_UNUSED void **state)
{
  Whole *self = whole_new ();
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;

  self->first = change_file;
  assert_false (run (self, store, &error));
  assert_non_null (strstr (error->message, "x.yaml, or a file that it includes, changed during the sweep."));
  assert_int_equal (self->outcome.n_played, 0);
  assert_int_equal (n_stored (self, store), 0);
  whole_free (self);
}

/* What varies may complete a scenario: its plan is that of the first point that can be. A problem of the file itself is
 * told in place of that of a point. The number of seeds and what is held are part of what a sweep is. */
static void
a_plan_needs_one_point_that_can_be (G_GNUC_UNUSED void **state)
{
  static const char *const good[] = { "job.micro_batch=none,2", NULL }, *const bad[] = {
    "job.micro_batch=none,no", NULL
  };
  static const char *const sets[] = { "job.micro_batch=none", NULL }, *const wrong[] = { "cluster.nodes=none",
                                                                                         NULL };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  const char *path = FAB_SOURCE_DIR "/scenarios/hello.yaml";
  g_autoptr (FabStudy) study = fab_study_new (path, sets, catalog, &fab_models, NULL),
                       broken = fab_study_new (path, wrong, catalog, &fab_models, NULL),
                       whole = fab_study_new (path, NULL, catalog, &fab_models, NULL);
  g_autoptr (FabGrid) some = fab_grid_new (good, NULL, NULL), none = fab_grid_new (bad, NULL, NULL);
  g_autoptr (GError) error = NULL, point = NULL, file = NULL;
  g_autoptr (FabSweepPlan) plan = fab_sweep_plan_new (study, some, "1", &error),
                           first = fab_sweep_plan_new (whole, some, "1", NULL);

  assert_null (error);
  assert_non_null (strstr (plan->scenario_yaml, "micro_batch: 2"));
  assert_true (fab_sweep_plan_holds (plan, study, some));
  assert_null (fab_sweep_plan_new (whole, none, "1", &point));
  assert_non_null (strstr (point->message, "micro_batch"));
  assert_null (fab_sweep_plan_new (broken, none, "1", &file));
  assert_non_null (strstr (file->message, "nodes"));
  assert_null (strstr (file->message, "micro_batch"));
  whole->n_seeds = 3;
  g_autoptr (FabSweepPlan) seeds = fab_sweep_plan_new (whole, some, "1", NULL);
  whole->hold = FAB_HOLD_BATCH;
  g_autoptr (FabSweepPlan) held = fab_sweep_plan_new (whole, some, "1", NULL);
  assert_string_not_equal (first->fingerprint, seeds->fingerprint);
  assert_string_not_equal (seeds->fingerprint, held->fingerprint);
}

/* A point that breaks an invariant ends the sweep; what was played before may be stored, and it is not. */
static void
a_point_that_breaks_an_invariant_ends_the_sweep (G_GNUC_UNUSED void **state)
{
  for (guint at = 1; at <= N_POINTS; at += N_POINTS - 1) {
    Whole *self = whole_of (failing_models ());
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autoptr (GError) error = NULL;

    self->study->n_seeds = 1;
    failing_at (at, FAB_ERROR_BROKEN);
    assert_false (run (self, store, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_BROKEN));
    assert_true (n_stored (self, store) < at);
    whole_free (self);
  }
}

/* A sweep that is cancelled keeps what was played, and goes on with the rest when it runs again. Time goes on. */
static void
a_cancelled_sweep_keeps_what_was_played (G_GNUC_UNUSED void **state)
{
  Whole *self = whole_new ();
  g_autoptr (FabStore) store = fab_store_new (NULL);
  gint64 began_us = g_get_monotonic_time ();

  self->cancels_at = 1;
  assert_true (run (self, store, NULL));
  gint64 n_played = self->outcome.n_played;
  assert_true (self->outcome.is_cancelled);
  assert_in_range (n_played, 1, N_POINTS);
  assert_int_equal (n_stored (self, store), n_played);
  assert_in_range (self->last.elapsed_us, 0, g_get_monotonic_time () - began_us);
  self->cancels_at = 0;
  assert_true (run (self, store, NULL));
  assert_false (self->outcome.is_cancelled);
  assert_int_equal (self->outcome.n_there, n_played);
  assert_int_equal (self->outcome.n_played, N_POINTS - n_played);
  whole_free (self);
}

static void
a_grid_may_have_one_point (G_GNUC_UNUSED void **state)
{
  static const char *const one[] = { "cluster.nic_rate=100Gb/s", NULL };
  Whole *self = whole_new ();
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (FabGrid) grid = fab_grid_new (one, NULL, NULL);
  g_autoptr (FabSweepPlan) plan = fab_sweep_plan_new (self->study, grid, "1", NULL);
  const FabSweepSpec spec = {
    .study = self->study, .grid = grid, .plan = plan, .version = "1", .n_threads = 1
  };

  assert_true (fab_sweep_run (&spec, store, &self->outcome, NULL));
  assert_int_equal (self->outcome.n_played, 1);
  whole_free (self);
}

/* --- other ranks --- */

/* Ranks that a queue stands for. The first leaves as soon as it is given points; the second plays what it is given. */
typedef struct {
  FabRanks ranks;
  Whole *whole;
  GQueue come; /* GByteArray: messages to rank 0; the first byte is the sender */
  guint n_given[3], n_ends, n_left;
  gint64 first[3]; /* point that it was given */
} Peers;

static void
say (Peers *self, guint8 from, guint8 kind, gconstpointer more, gsize size)
{
  GByteArray *message = g_byte_array_new ();
  const guint8 begin[] = { from, kind };

  g_byte_array_append (message, begin, sizeof begin);
  g_byte_array_append (message, more, (guint) size);
  g_queue_push_tail (&self->come, message);
}

static void
say_report (Peers *self, guint8 from, guint32 n_wanted, const gint64 *points, guint n)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();

  g_byte_array_append (message, (const guint8 *) &n_wanted, sizeof n_wanted);
  for (guint i = 0; i < n; i++) {
    g_autoptr (FabEdits) edits = fab_grid_edits (self->whole->grid, points[i]);
    FabTry trial = { .edits = edits };

    fab_try_play (self->whole->study, &trial);
    g_autoptr (FabSweepPointRecord) record = fab_sweep_record_new (self->whole->grid, points[i], &trial);
    fab_sweep_record_write (record, message);
    fab_try_clear (&trial);
  }
  say (self, from, FAB_RANKS_REPORT, message->data, message->len);
}

static void
peers_send (FabRanks *ranks, guint to, gconstpointer bytes, gsize size)
{
  Peers *self = (Peers *) ranks;
  guint n = (guint) ((size - 1) / sizeof (gint64));
  gint64 points[N_POINTS];

  if (*(const guint8 *) bytes == FAB_RANKS_END) {
    self->n_ends++;
    say (self, (guint8) to, FAB_RANKS_BYE, "", 0);
  } else if (n > 0) {
    assert_in_range (n, 1, N_POINTS);
    memcpy (points, (const guint8 *) bytes + 1, n * sizeof *points);
    self->first[to] = self->n_given[to] == 0 ? points[0] : self->first[to];
    self->n_given[to] += n;
    if (to == 1)
      say (self, 1, FAB_RANKS_BYE, "", 0);
    else
      say_report (self, 2, N_POINTS, points, n);
  }
}

static gboolean
peers_receive (FabRanks *ranks, guint *from, GByteArray *bytes)
{
  Peers *self = (Peers *) ranks;
  g_autoptr (GByteArray) message = g_queue_pop_head (&self->come);

  if (message == NULL)
    return FALSE;
  *from = message->data[0];
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, message->data + 1, message->len - 1);
  return TRUE;
}

static void
peers_leave (FabRanks *ranks, G_GNUC_UNUSED gboolean is_whole)
{
  ((Peers *) ranks)->n_left++;
}

/* Rank 0 simulates nothing here. What it gave to a rank that leaves, the first point of the grid among it, it gives to
 * the other one, so that each point is stored once, as played. */
static void
points_of_a_rank_that_leaves_go_to_another (G_GNUC_UNUSED void **state)
{
  Whole *self = whole_new ();
  Peers peers = { .ranks = { FAB_RANKS_ABI, 0, 3, 1, "here", peers_send, peers_receive, peers_leave },
                  .whole = self };
  g_autoptr (FabStore) store = fab_store_new (NULL);

  for (guint8 rank = 1; rank < 3; rank++) {
    g_autofree char *hello = g_strdup_printf ("%s|there|%u||", self->plan->fingerprint, rank);
    gsize n = strlen (hello);

    g_strdelimit (hello, "|", '\0');
    say (&peers, rank, FAB_RANKS_HELLO, hello, n);
    say_report (&peers, rank, rank == 1 ? 2 : N_POINTS, NULL, 0);
  }
  self->n_threads = 0;
  self->ranks = &peers.ranks;
  assert_true (run (self, store, NULL));
  assert_int_equal (self->outcome.n_played, N_POINTS);
  assert_int_equal (self->outcome.n_foreign, 0);
  assert_int_equal (n_stored (self, store), N_POINTS);
  assert_int_equal (peers.n_given[1], 2);
  assert_int_equal (peers.first[1], 0);
  assert_int_equal (peers.n_given[2], N_POINTS);
  assert_int_equal (peers.first[2], 2);
  assert_true (peers.n_ends >= 1 && peers.n_left == 1);
  g_queue_clear_full (&peers.come, (GDestroyNotify) g_byte_array_unref);
  whole_free (self);
}

/* --- plans --- */

/* Of a large grid 32 points are looked at, the first and the last among them: here the last alone can be. */
static void
a_plan_looks_all_over_the_grid (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) values = g_string_new ("job.micro_batch=");

  for (guint i = 0; i < 99; i++)
    g_string_append (values, "none,");
  g_string_append (values, "2");
  const char *const vary[] = { values->str, NULL };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSweepPlan) plan = fab_sweep_plan_new (study, grid, "1", &error);
  assert_non_null (plan);
  assert_null (error);
}

/* A value that names a file stands for what is in it. */
static void
a_file_that_a_value_names_is_part_of_the_sweep (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autofree char *folder = g_dir_make_tmp ("sweep-XXXXXX", NULL), *schedule = NULL,
                  *path = g_build_filename (folder, "x.yaml", NULL);

  g_autofree char *values = g_strdup_printf ("schedules=[],[{file: '%s/four.xml'}]", folder);
  const char *const vary[] = { values, NULL };
  g_autoptr (FabGrid) grid = fab_grid_new (vary, NULL, NULL);

  assert_true (
      g_file_get_contents (FAB_SOURCE_DIR "/scenarios/schedules/all-pairs-4.xml", &schedule, NULL, NULL));
  g_autofree char *other = g_strconcat (schedule, "\n", NULL);
  put (folder, "x.yaml", with_file);
  put (folder, "four.xml", schedule);
  g_autoptr (FabStudy) study = fab_study_new (path, NULL, catalog, &fab_models, NULL);
  g_autoptr (FabEdits) none = fab_edits_of ((const char *[]){ "schedules=[]", NULL });
  g_autoptr (FabStudy) without = fab_study_edited (study, none);
  g_autoptr (FabSweepPlan) a = fab_sweep_plan_new (without, grid, "1", NULL),
                           b = fab_sweep_plan_new (without, grid, "1", NULL);
  put (folder, "four.xml", other);
  g_autoptr (FabSweepPlan) c = fab_sweep_plan_new (without, grid, "1", NULL);
  assert_string_equal (a->fingerprint, b->fingerprint);
  assert_string_equal (a->scenario_yaml, c->scenario_yaml);
  assert_string_not_equal (a->fingerprint, c->fingerprint);
  drop (folder, "four.xml");
  drop (folder, "x.yaml");
  g_rmdir (folder);
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
    cmocka_unit_test (a_sweep_stores_every_point_once),
    cmocka_unit_test (points_of_another_process_are_its_own),
    cmocka_unit_test (a_file_that_changes_meanwhile_ends_the_sweep),
    cmocka_unit_test (a_plan_needs_one_point_that_can_be),
    cmocka_unit_test (a_point_that_breaks_an_invariant_ends_the_sweep),
    cmocka_unit_test (a_cancelled_sweep_keeps_what_was_played),
    cmocka_unit_test (a_grid_may_have_one_point),
    cmocka_unit_test (points_of_a_rank_that_leaves_go_to_another),
    cmocka_unit_test (a_plan_looks_all_over_the_grid),
    cmocka_unit_test (a_file_that_a_value_names_is_part_of_the_sweep),
  };

  return cmocka_run_group_tests_name ("sweep", tests, NULL, NULL);
}
