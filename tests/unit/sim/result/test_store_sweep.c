/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_sweep.c - sweeps in a results file: found again, no point twice, nothing lost on the way. */
#include "tests/unit/sim/result/store_support.h"

static const char *const nodes[] = { "1", "2", NULL };
static const char *const buckets[] = { "1MiB", "2MiB", "4MiB", NULL };
static const FabSweepAxisRecord axes[] = { { "cluster.nodes", nodes }, { "job.bucket", buckets } };

static gint64
open_sweep (FabStore *store, const char *fingerprint)
{
  FabSweepRecord sweep = { "small", NULL, "name: small\n", "0.1", fingerprint, axes, 2, 6 };
  gint64 sweep_id = 0;

  assert_true (fab_store_open_sweep (store, &sweep, &sweep_id, NULL));
  return sweep_id;
}

static FabSweepPointRecord
played (gint64 point)
{
  return (FabSweepPointRecord){ .point = point,
                                .settings = "cluster.nodes=1",
                                .step_s = 0.1 + (double) point,
                                .compute_s = 1.0 / 3,
                                .comm_s = 0.25,
                                .overlapped_s = 0.125,
                                .exposed_s = 0.125,
                                .idle_s = 0,
                                .mfu_fraction = 0.4,
                                .tokens_per_s = 1e6,
                                .train_s = NAN,
                                .memory_bytes = 80000000000,
                                .memory_max_bytes = FAB_RECORD_UNKNOWN,
                                .n_ranks = 8,
                                .n_nodes = 1,
                                .binding_link = "a -> b",
                                .binding_link_spec = "ib-ndr",
                                .binding_fraction = 0.5,
                                .capex_usd = 1e6,
                                .usd_per_hour = NAN };
}

static FabSweepPointRecord
failed (gint64 point)
{
  return (FabSweepPointRecord){ .point = point,
                                .settings = "cluster.nodes=2",
                                .step_s = NAN,
                                .compute_s = NAN,
                                .comm_s = NAN,
                                .overlapped_s = NAN,
                                .exposed_s = NAN,
                                .idle_s = NAN,
                                .mfu_fraction = NAN,
                                .tokens_per_s = NAN,
                                .train_s = NAN,
                                .memory_bytes = FAB_RECORD_UNKNOWN,
                                .memory_max_bytes = FAB_RECORD_UNKNOWN,
                                .n_ranks = FAB_RECORD_UNKNOWN,
                                .n_nodes = FAB_RECORD_UNKNOWN,
                                .binding_fraction = NAN,
                                .problem = "it cannot be divided so" };
}

static FabStore *
open_file (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  FabStore *store = fab_store_open (path, FAB_STORE_WRITE, NULL);

  assert_non_null (store);
  return store;
}

static void
a_sweep_is_found_by_its_fingerprint (void **state)
{
  g_autoptr (FabStore) store = open_file (state);
  g_autofree char *path = file_in (state, "a.db");

  assert_int_equal (open_sweep (store, "one"), 1);
  assert_int_equal (open_sweep (store, "other"), 2);
  assert_int_equal (open_sweep (store, "one"), 1);
  assert_answer (path, "SELECT sweep_id, name, summary, keys, n_points, n_done FROM v_sweep",
                 "sweep_id,name,summary,keys,n_points,n_done\n"
                 "1,small,,cluster.nodes x job.bucket,6,0\n2,small,,cluster.nodes x job.bucket,6,0\n");
  assert_answer (path, "SELECT axis, item, value FROM sweep_value WHERE sweep_id = 2",
                 "axis,item,value\n0,0,1\n0,1,2\n1,0,1MiB\n1,1,2MiB\n1,2,4MiB\n");
}

static void
assert_same_real (double a, double b)
{
  assert_true (isnan (a) ? isnan (b) : a == b);
}

/* Every field of the one is in the other. */
static void
assert_same_point (const FabSweepPointRecord *a, const FabSweepPointRecord *b)
{
  const FabRecordTable *points = &fab_record_tables[FAB_TABLE_SWEEP_POINT];

  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++) {
    gconstpointer of_a = (const char *) a + column->offset, of_b = (const char *) b + column->offset;

    if (column->kind == FAB_COLUMN_REAL)
      assert_same_real (*(const double *) of_a, *(const double *) of_b);
    else if (column->kind == FAB_COLUMN_WHOLE)
      assert_true (*(const gint64 *) of_a == *(const gint64 *) of_b);
    else
      assert_int_equal (g_strcmp0 (*(const char *const *) of_a, *(const char *const *) of_b), 0);
  }
}

typedef struct {
  const FabSweepPointRecord *wanted;
  guint n;
} Wanted;

static void
compare_point (const FabSweepPointRecord *point, gpointer data)
{
  Wanted *self = data;

  assert_same_point (point, &self->wanted[self->n++]);
}

static void
points_come_back_as_they_were (void **state)
{
  g_autoptr (FabStore) store = open_file (state);
  gint64 sweep_id = open_sweep (store, "one");
  FabSweepPointRecord points[] = { played (4), failed (1), played (5) };
  FabSweepPointRecord sorted[] = { failed (1), played (4), played (5) };
  Wanted wanted = { sorted, 0 };
  guint8 marks[6] = { 0 };
  guint n_added = 0;

  assert_true (fab_store_add_points (store, sweep_id, points, 3, &n_added, NULL));
  assert_int_equal (n_added, 3);
  assert_true (fab_store_each_point (store, sweep_id, compare_point, &wanted, NULL));
  assert_int_equal (wanted.n, 3);
  assert_true (fab_store_mark_points (store, sweep_id, marks, 6, NULL));
  assert_memory_equal (marks, "\0\1\0\0\1\1", 6);
  memset (marks, 0, sizeof marks);
  assert_true (
      fab_store_mark_points (store, sweep_id, marks, 4, NULL)); /* of those that the caller has room for */
  assert_memory_equal (marks, "\0\1\0\0\0\0", 6);
  assert_true (fab_store_mark_points (store, sweep_id, marks, 5, NULL));
  assert_memory_equal (marks, "\0\1\0\0\1\0", 6);
}

static void
a_point_that_is_there_stays (void **state)
{
  g_autoptr (FabStore) store = open_file (state), other = open_file (state);
  g_autofree char *path = file_in (state, "a.db");
  gint64 sweep_id = open_sweep (store, "one");
  FabSweepPointRecord first[] = { played (0), played (1) }, second[] = { failed (1), played (2) };
  guint n_added = 0;

  assert_true (fab_store_add_points (store, sweep_id, first, 2, NULL, NULL));
  fab_store_has_changed (store);
  assert_false (fab_store_has_changed (store));
  assert_true (fab_store_add_points (other, sweep_id, second, 2, &n_added, NULL));
  assert_int_equal (n_added, 1);
  assert_true (fab_store_has_changed (store));
  assert_answer (path, "SELECT point, step_s, problem FROM sweep_point",
                 "point,step_s,problem\n0,0.1,\n1,1.1,\n2,2.1,\n");
}

/* A batch is kept whole or not at all. */
static void
a_batch_that_fails_leaves_nothing (void **state)
{
  g_autoptr (FabStore) store = open_file (state);
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) error = NULL;
  gint64 sweep_id = open_sweep (store, "one");
  FabSweepPointRecord points[] = { played (0), played (1) };

  points[1].settings = NULL;
  assert_false (fab_store_add_points (store, sweep_id, points, 2, NULL, &error));
  assert_says (error, "cannot keep points of the sweep");
  assert_answer (path, "SELECT count (*) FROM sweep_point", "count (*)\n0\n");
  points[1].settings = "x";
  assert_true (fab_store_add_points (store, sweep_id, points, 2, NULL, NULL));
  assert_answer (path, "SELECT count (*) FROM sweep_point", "count (*)\n2\n");
}

static void
questions_are_about_the_chosen_sweep (void **state)
{
  g_autoptr (FabStore) store = open_file (state);
  g_autoptr (GError) error = NULL;
  gint64 first = open_sweep (store, "one"), second = open_sweep (store, "other");
  FabSweepPointRecord point = played (3);

  assert_true (fab_store_add_points (store, second, &point, 1, NULL, NULL));
  for (gint64 chosen = 0; chosen <= second; chosen++) {
    fab_store_choose_sweep (store, chosen);
    g_autofree char *sql = fab_query_sql (fab_query_find ("sweep"));
    g_autoptr (FabTable) table = fab_store_query (store, sql, 0, NULL);
    assert_int_equal (table->n_rows, chosen == first ? 0 : 1);
  }
  fab_store_choose_sweep (store, 7);
  assert_null (fab_store_query (store, "SELECT 1", 0, &error));
  assert_says (error, "no sweep 7 in ");
  fab_store_choose_sweep (store, 0);
  g_clear_error (&error);
  assert_null (fab_store_query (store, "SELECT :run", 0, &error));
  assert_says (error, "no run in ");
}

static void
a_file_without_sweeps_says_so (void **state)
{
  g_autofree char *path = file_in (state, "a.db");
  g_autoptr (GError) error = NULL;

  assert_true (write_run (path, 2, NULL));
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, NULL);
  assert_null (fab_store_query (store, "SELECT :sweep", 0, &error));
  assert_says (error, "no sweep in ");
}

static void
count_point (G_GNUC_UNUSED const FabSweepPointRecord *point, gpointer n)
{
  *(guint *) n += 1;
}

/* Where a table cannot be read or written nothing is kept of what was begun, and the store goes on. */
static void
a_table_that_fails_is_told (G_GNUC_UNUSED void **state)
{
  static const char *const tables[] = { "sweep", "sweep_axis", "sweep_value", "sweep_point" };
  const FabSweepRecord sweep = { "small", NULL, "name: small\n", "0.1", "one", axes, 2, 6 };
  const FabSweepPointRecord point = played (2);

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autoptr (GError) open_error = NULL, add_error = NULL, mark_error = NULL, read_error = NULL;
    g_autofree char *drop = g_strdup_printf ("DROP TABLE %s", tables[i]);
    gint64 sweep_id = 0, n_sweeps = -1;
    guint8 marks[6] = { 0 };
    guint n_read = 0, n_added = 77;
    gboolean has_points = i < 3;

    assert_true (fab_store_exec (store, drop, "drop", NULL));
    assert_int_equal (fab_store_open_sweep (store, &sweep, &sweep_id, &open_error), !has_points);
    if (has_points)
      assert_says (open_error, "results in memory: cannot begin a sweep: ");
    if (i > 0) {
      assert_true (fab_store_read_integer (store, "SELECT count (*) FROM sweep", &n_sweeps));
      assert_int_equal (n_sweeps, !has_points);
    }
    assert_int_equal (fab_store_add_points (store, 1, &point, 1, &n_added, &add_error), has_points);
    assert_int_equal (fab_store_mark_points (store, 1, marks, 6, &mark_error), has_points);
    assert_int_equal (fab_store_each_point (store, 1, count_point, &n_read, &read_error), has_points);
    assert_int_equal (n_added, has_points ? 1 : 77);
    assert_int_equal (marks[2], has_points);
    assert_int_equal (n_read, has_points);
    if (has_points)
      continue;
    assert_says (add_error, "cannot keep points of the sweep: ");
    assert_says (mark_error, "cannot read the points of the sweep: ");
    assert_says (read_error, "cannot read the points of the sweep: ");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (a_sweep_is_found_by_its_fingerprint, set_up_directory,
                                     tear_down_directory),
    cmocka_unit_test_setup_teardown (points_come_back_as_they_were, set_up_directory, tear_down_directory),
    cmocka_unit_test_setup_teardown (a_point_that_is_there_stays, set_up_directory, tear_down_directory),
    cmocka_unit_test_setup_teardown (a_batch_that_fails_leaves_nothing, set_up_directory,
                                     tear_down_directory),
    cmocka_unit_test_setup_teardown (questions_are_about_the_chosen_sweep, set_up_directory,
                                     tear_down_directory),
    cmocka_unit_test (a_table_that_fails_is_told),
    cmocka_unit_test_setup_teardown (a_file_without_sweeps_says_so, set_up_directory, tear_down_directory),
  };

  return cmocka_run_group_tests_name ("store_sweep", tests, NULL, NULL);
}
