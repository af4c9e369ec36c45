/* SPDX-License-Identifier: Apache-2.0 */
/* test_critical_path.c - the critical path of an iteration, from trails that are written by hand. Random jobs:
 * tests/property/prop_records.c.
 */
#include "tests/unit/sim/execution/executor_job.h"

static GArray *
path_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (FabPathRecord));
}

/* "place name start-end" of all records from `first` on. (transfer full) */
static char *
text_of (const GArray *path, guint first)
{
  GString *text = g_string_new (NULL);

  for (guint i = first; i < path->len; i++) {
    const FabPathRecord *record = &g_array_index (path, FabPathRecord, i);

    g_string_append_printf (text, "%s%u %s %d-%d", i > first ? ", " : "", record->place, record->name,
                            (int) record->start_ps, (int) record->end_ps);
  }
  return g_string_free (text, FALSE);
}

/* Tasks of 10 ps, one after another, of which the second takes no time and is not listed: paths of one to four records
 * behind one that is there already. */
static void
the_path_stands_in_the_order_of_time (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "A", "none", "B", "C", "D" };
  const FabTimePs begin_ps[] = { 0, 10, 10, 20, 30 };
  const FabTaskId released_by[] = { FAB_NO_TASK, 0, 1, 2, 3 };
  static const struct {
    FabTaskId last;
    FabTimePs start_ps, end_ps;
    const char *path;
  } rows[] = {
    { 0, 0, 10, "0 A 0-10" },
    { 1, 0, 10, "0 A 0-10" },
    { 2, 0, 20, "0 A 0-10, 1 B 10-20" },
    { 3, 0, 30, "0 A 0-10, 1 B 10-20, 2 C 20-30" },
    { 4, 0, 40, "0 A 0-10, 1 B 10-20, 2 C 20-30, 3 D 30-40" },
    { 4, 10, 40, "0 B 10-20, 1 C 20-30, 2 D 30-40" },
    { 4, 5, 40, "0 A 5-10, 1 B 10-20, 2 C 20-30, 3 D 30-40" }, /* A began in the iteration before */
    { 4, 35, 40, "0 D 35-40" },
    { 4, 40, 40, "" },
  };
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    work (job, stream, i == 2 ? FAB_SPAN_LOAD : FAB_SPAN_COMPUTE, i == 1 ? 0 : 10, names[i]);
  job_start (job, 1);
  FabTrail trail = { job->dag, 3, begin_ps, released_by, NULL, NULL };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GArray) path = path_new ();
    const FabPathRecord before = { .place = 77, .name = "before" };

    g_array_append_val (path, before);
    assert_true (fab_critical_path (&trail, rows[i].last, rows[i].start_ps, rows[i].end_ps, path));
    g_autofree char *text = text_of (path, 1);
    assert_string_equal (text, rows[i].path);
    assert_int_equal (g_array_index (path, FabPathRecord, 0).place, 77);
    for (guint k = 1; k < path->len; k++) {
      const FabPathRecord *record = &g_array_index (path, FabPathRecord, k);

      assert_int_equal (record->iteration, 3);
      assert_int_equal (record->rank_class, 0);
      assert_string_equal (record->stream, "all");
      assert_int_equal (record->kind, *record->name == 'B' ? FAB_SPAN_LOAD : FAB_SPAN_COMPUTE);
      assert_true (record->collective < 0);
      assert_int_equal (record->binding_link, FAB_RECORD_NO_LINK);
    }
  }
}

/* Class 0 computes for 10 ps and class 1 for 30, and the collective moves bytes from 30 to 35: whichever task of it
 * ends the iteration, the one that came last had it begin. */
static void
a_collective_begins_with_its_last_rank (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint collective = all_reduce (job, 5);
  FabTaskId joins[2];

  for (guint c = 0; c < 2; c++) {
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", c, 1),
                                           "all");

    work (job, stream, FAB_SPAN_COMPUTE, c == 0 ? 10 : 30, c == 0 ? "early" : "late");
    joins[c] = fab_dag_builder_join (job->builder, stream, collective);
  }
  job_start (job, 1);
  const FabTimePs begin_ps[] = { 0, 10, 0, 30 };
  const FabTaskId released_by[] = { FAB_NO_TASK, 0, FAB_NO_TASK, 2 }, arrived[] = { joins[1] };
  const FabCollectiveRecord records[] = {
    { .ready_ps = 10, .start_ps = 30, .end_ps = 35, .binding_link = 6 }
  };
  FabTrail trail = { job->dag, 0, begin_ps, released_by, arrived, records };
  for (guint c = 0; c < 2; c++) {
    g_autoptr (GArray) path = path_new ();

    assert_true (fab_critical_path (&trail, joins[c], 0, 35, path));
    assert_int_equal (path->len, 2);
    const FabPathRecord *first = &g_array_index (path, FabPathRecord, 0), *second = first + 1;
    assert_string_equal (first->name, "late");
    assert_int_equal (first->rank_class, 1);
    assert_int_equal (first->end_ps, 30);
    assert_int_equal (second->rank_class, c);
    assert_int_equal (second->start_ps, 30);
    assert_int_equal (second->end_ps, 35);
    assert_int_equal (second->collective, 0);
    assert_int_equal (second->binding_link, 6);
    assert_int_equal (second->kind, FAB_SPAN_COMM);
  }
}

/* B ran from 10 to 30 and was released by nobody, so that nothing is known of the time before 10. */
static void
a_critical_path_has_no_hole (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");
  g_autoptr (GArray) path = path_new ();
  const FabTimePs begin_ps[] = { 0, 10 };
  const FabTaskId released_by[] = { FAB_NO_TASK, FAB_NO_TASK };

  work (job, stream, FAB_SPAN_COMPUTE, 10, "A");
  work (job, stream, FAB_SPAN_COMPUTE, 20, "B");
  job_start (job, 1);
  FabTrail trail = { job->dag, 0, begin_ps, released_by, NULL, NULL };
  assert_true (fab_critical_path (&trail, 1, 10, 30, path));
  assert_false (fab_critical_path (&trail, 1, 9, 30, path));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_path_stands_in_the_order_of_time),
    cmocka_unit_test (a_collective_begins_with_its_last_rank),
    cmocka_unit_test (a_critical_path_has_no_hole),
  };

  return cmocka_run_group_tests_name ("critical_path", tests, NULL, NULL);
}
