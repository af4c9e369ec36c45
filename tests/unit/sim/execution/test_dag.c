/* SPDX-License-Identifier: Apache-2.0 */
/* test_dag.c - who waits for whom, in this iteration and across to the next. */
#include "tests/support/test.h"

#include "sim/execution/dag.h"
#include "sim/shortcut/space/concurrent_kinds.h"
#include "tests/support/aborts.h"

static const FabCollectivePlan nothing = {
  .algorithm = "none", .protocol = "none", .n_ranks = 1, .wire_factor = 1
};

static FabTaskId
work (FabDagBuilder *builder, guint stream, const char *name)
{
  return fab_dag_builder_work (builder, stream, FAB_SPAN_COMPUTE, 1, g_strdup (name));
}

/* A and B on one stream, C on another after A. */
static FabDag *
fork_of_three (void)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 4);
  guint compute = fab_dag_builder_stream (builder, rank_class, "compute");
  guint comm = fab_dag_builder_stream (builder, rank_class, "comm");
  FabTaskId a = work (builder, compute, "A");

  work (builder, compute, "B");
  fab_dag_builder_after (builder, work (builder, comm, "C"), a);
  return fab_dag_builder_freeze (builder);
}

static void
a_stream_runs_its_tasks_in_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDag) dag = fork_of_three ();

  assert_int_equal (dag->n_tasks, 3);
  assert_int_equal (dag->n_waits[0], 0);
  assert_int_equal (dag->n_waits[1], 1);
  assert_int_equal (dag->n_waits[2], 1);
  assert_int_equal (dag->next_starts[1] - dag->next_starts[0], 2); /* A releases B and C */
  assert_int_equal (dag->next[0], 1);
  assert_int_equal (dag->next[1], 2);
  assert_int_equal (dag->next_starts[3], 2);
}

/* A waits for the last B, C for the last C. */
static void
a_streams_first_task_waits_for_its_last_of_before (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDag) dag = fork_of_three ();

  assert_int_equal (dag->n_carried[0], 1);
  assert_int_equal (dag->n_carried[1], 0);
  assert_int_equal (dag->n_carried[2], 1);
  assert_int_equal (dag->carried[dag->carried_starts[1]], 0);
  assert_int_equal (dag->carried[dag->carried_starts[2]], 2);
  assert_int_equal (dag->carried_starts[3], 2);
}

static void
a_collective_counts_who_joins_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint first = fab_dag_builder_class (builder, "all", 0, 3),
        second = fab_dag_builder_class (builder, "all", 3, 1);
  guint here = fab_dag_builder_stream (builder, first, "comm"),
        there = fab_dag_builder_stream (builder, second, "comm");
  guint collective = fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER,
                                                 g_strdup ("bucket0"));
  FabTaskId task = fab_dag_builder_join (builder, here, collective);

  fab_dag_builder_join (builder, there, collective);
  assert_int_equal (fab_dag_builder_last (builder, here), task);
  assert_int_equal (fab_dag_builder_last (builder, there), task + 1);
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
  assert_int_equal (dag->collectives[0].n_joins, 2);
  assert_string_equal (dag->tasks[task].name, "all_reduce bucket0");
  assert_int_equal (dag->tasks[task].collective, 0);
  assert_int_equal (dag->streams[dag->tasks[1].stream].rank_class, second);
  assert_int_equal (dag->classes[0].n_ranks, 3);
  assert_int_equal (dag->classes[1].first_rank, 3);
}

static void
freeze_a_cycle (void)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 1);
  FabTaskId a = work (builder, fab_dag_builder_stream (builder, rank_class, "a"), "A");
  FabTaskId b = work (builder, fab_dag_builder_stream (builder, rank_class, "b"), "B");

  fab_dag_builder_after (builder, a, b);
  fab_dag_builder_after (builder, b, a);
  fab_dag_free (fab_dag_builder_freeze (builder));
}

static void
freeze_nothing (void)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();

  fab_dag_free (fab_dag_builder_freeze (builder));
}

static void
freeze_a_collective_that_nobody_joins (void)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();

  work (builder, fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 1), "a"), "A");
  fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("lonely"));
  fab_dag_free (fab_dag_builder_freeze (builder));
}

static void
what_cannot_run_is_not_frozen (G_GNUC_UNUSED void **state)
{
  assert_true (aborts (freeze_a_cycle));
  assert_true (aborts (freeze_nothing));
  assert_true (aborts (freeze_a_collective_that_nobody_joins));
}

/* Names are the builder's until it is frozen. */
static void
a_builder_that_is_not_frozen_frees_its_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 1);

  work (builder, fab_dag_builder_stream (builder, rank_class, "a"), "A");
  assert_int_equal (fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("bucket0")),
                    0);
}

/* Kinds: A (0) and then B (1) on one stream, C (2) on another one, which waits for A. */
static FabDag *
three_collectives (void)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 1);
  guint first = fab_dag_builder_stream (builder, rank_class, "first"),
        second = fab_dag_builder_stream (builder, rank_class, "second");
  FabTaskId a = fab_dag_builder_join (
      builder, first, fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("A")));

  fab_dag_builder_join (builder, first,
                        fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("B")));
  FabTaskId c = fab_dag_builder_join (
      builder, second, fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("C")));
  fab_dag_builder_after (builder, c, a);
  return fab_dag_builder_freeze (builder);
}

/* B and C both wait for A, and neither for the other. */
static void
collectives_without_an_order_may_meet (G_GNUC_UNUSED void **state)
{
  const guint kinds[] = { 0, 1, 2 };
  g_autoptr (FabDag) dag = three_collectives ();
  g_autofree guint8 *may_meet = fab_concurrency_find (dag, FALSE, kinds, 3);
  const guint8 expected[] = { FALSE, FALSE, FALSE, FALSE, FALSE, TRUE, FALSE, TRUE, FALSE };

  assert_memory_equal (may_meet, expected, sizeof expected);
}

/* The next iteration's A waits for B on its stream, but not for C; its C waits for its A, and so for B. */
static void
collectives_of_two_iterations_may_meet (G_GNUC_UNUSED void **state)
{
  const guint kinds[] = { 0, 1, 2 };
  g_autoptr (FabDag) dag = three_collectives ();
  g_autofree guint8 *may_meet = fab_concurrency_find (dag, TRUE, kinds, 3);
  const guint8 expected[] = { FALSE, FALSE, TRUE, FALSE, FALSE, TRUE, TRUE, TRUE, FALSE };

  assert_memory_equal (may_meet, expected, sizeof expected);
}

/* Two of one kind, and one that moves nothing. */
static void
a_kind_may_meet_itself (G_GNUC_UNUSED void **state)
{
  const guint kinds[] = { FAB_NO_KIND, 0, 0 };
  g_autoptr (FabDag) dag = three_collectives ();
  g_autofree guint8 *may_meet = fab_concurrency_find (dag, FALSE, kinds, 1);

  assert_true (may_meet[0]);
}

/* To follow 5000 collectives takes 5 x 10^7 visits. Nothing is kept for each pair of them. */
static void
too_many_may_all_meet (G_GNUC_UNUSED void **state)
{
  enum { MANY = 5000 };
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 1);
  g_autofree guint *kinds = g_new (guint, MANY);

  for (guint i = 0; i < MANY; i++) {
    guint stream = fab_dag_builder_stream (builder, rank_class, "one of many");

    fab_dag_builder_join (
        builder, stream, fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("A")));
    kinds[i] = i;
  }
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
  assert_null (fab_concurrency_find (dag, FALSE, kinds, MANY));
}

/* --- what stands for several --- */

/* How what follows the second mark differs from what lies between the two: A of 10 ps and B of 20 ps. */
typedef enum {
  SAME,
  LONGER,
  RENAMED,
  OF_ANOTHER_KIND,
  ELSEWHERE,
  ONE_MORE,
  ONE_LESS,
  NOTHING,
  AFTER_ANOTHER,
  AFTER_THE_ITERATION_BEFORE,
  BESIDE_A_COLLECTIVE,
  BESIDE_A_STREAM,
  WITH_A_COLLECTIVE,
  N_DIFFERENCES
} Difference;

static void
add_second (FabDagBuilder *builder, guint stream, guint other, guint collective, Difference how)
{
  guint at = how == ELSEWHERE ? other : stream;

  if (how == BESIDE_A_STREAM)
    fab_dag_builder_stream (builder, 0, "beside");
  if (how == BESIDE_A_COLLECTIVE)
    fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("beside"));
  if (how == NOTHING)
    return;
  FabTaskId a = fab_dag_builder_work (builder, at, FAB_SPAN_COMPUTE, 10, g_strdup ("A"));

  if (how == AFTER_ANOTHER)
    fab_dag_builder_after (builder, a, 0);
  if (how == AFTER_THE_ITERATION_BEFORE)
    fab_dag_builder_after_previous (builder, a, 0);
  if (how == WITH_A_COLLECTIVE)
    fab_dag_builder_join (builder, stream, collective);
  else if (how != ONE_LESS)
    fab_dag_builder_work (builder, at, how == OF_ANOTHER_KIND ? FAB_SPAN_LOAD : FAB_SPAN_COMPUTE,
                          how == LONGER ? 21 : 20, g_strdup (how == RENAMED ? "C" : "B"));
  if (how == ONE_MORE)
    fab_dag_builder_work (builder, at, FAB_SPAN_COMPUTE, 20, g_strdup ("B"));
}

/* Only work on one stream that is the same as that before stands for seven. */
static void
what_is_the_same_can_stand_for_more (G_GNUC_UNUSED void **state)
{
  for (guint how = SAME; how < N_DIFFERENCES; how++) {
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    guint rank_class = fab_dag_builder_class (builder, "all", 0, 1);
    guint stream = fab_dag_builder_stream (builder, rank_class, "stream"),
          other = fab_dag_builder_stream (builder, rank_class, "other"),
          collective = fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("c"));

    work (builder, stream, "first");
    fab_dag_builder_work (builder, other, FAB_SPAN_COMPUTE, 5, g_strdup ("first of other"));
    fab_dag_builder_join (builder, other, collective);
    FabDagMark first = fab_dag_builder_mark (builder);
    fab_dag_builder_work (builder, stream, FAB_SPAN_COMPUTE, 10, g_strdup ("A"));
    fab_dag_builder_work (builder, stream, FAB_SPAN_COMPUTE, 20, g_strdup ("B"));
    FabDagMark second = fab_dag_builder_mark (builder);
    add_second (builder, stream, other, collective, (Difference) how);
    assert_int_equal (fab_dag_builder_repeat (builder, &first, &second, 7), how == SAME);
    if (how == BESIDE_A_COLLECTIVE)
      fab_dag_builder_join (builder, other, collective + 1);
    g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
    for (guint t = 0; t < dag->n_tasks; t++) {
      assert_int_equal (dag->tasks[t].n_times, how == SAME && t >= 5 ? 7 : 1);
      assert_int_equal (fab_task_ps (&dag->tasks[t]),
                        dag->tasks[t].duration_ps * (how == SAME && t >= 5 ? 7 : 1));
    }
  }
}

/* A copy of the name and length of a collective is work, and a collective is none: neither stands for the other. */
static void
a_collective_does_not_stand_for_work (G_GNUC_UNUSED void **state)
{
  for (guint first_is_work = 0; first_is_work < 2; first_is_work++) {
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    guint stream = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 1), "stream"),
          collective = fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("c"));
    FabDagMark marks[2];

    work (builder, stream, "first");
    for (guint i = 0; i < 2; i++) {
      marks[i] = fab_dag_builder_mark (builder);
      if (i == first_is_work)
        fab_dag_builder_join (builder, stream, collective);
      else
        fab_dag_builder_work (builder, stream, FAB_SPAN_COMM, 0, g_strdup ("all_reduce c"));
    }
    assert_false (fab_dag_builder_repeat (builder, &marks[0], &marks[1], 7));
  }
}

/* Neither nothing, nor work on two streams, though it is the same as that before. */
static void
what_is_nothing_or_more_than_a_stream_stands_for_itself (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 1), streams[2];
  FabDagMark marks[3];

  for (guint i = 0; i < 2; i++) {
    streams[i] = fab_dag_builder_stream (builder, rank_class, "s");
    work (builder, streams[i], "first");
  }
  for (guint m = 0; m < 3; m++) {
    marks[m] = fab_dag_builder_mark (builder);
    for (guint i = 0; m < 2 && i < 2; i++)
      work (builder, streams[i], "A");
  }
  assert_false (fab_dag_builder_repeat (builder, &marks[2], &marks[2], 7));
  assert_false (fab_dag_builder_repeat (builder, &marks[0], &marks[1], 7));
}

static void
count (gpointer n)
{
  (*(guint *) n)++;
}

/* By the builder, or by the DAG that was made of it; once. */
static void
what_is_handed_over_is_freed (G_GNUC_UNUSED void **state)
{
  guint n_freed[2] = { 0 };

  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    FabDag *dag = NULL;

    work (builder, fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 1), "a"), "A");
    fab_dag_builder_own (builder, &n_freed[i], count);
    if (i == 1)
      dag = fab_dag_builder_freeze (builder);
    assert_int_equal (n_freed[i], 0);
    fab_dag_free (dag);
    assert_int_equal (n_freed[i], i);
  }
  assert_int_equal (n_freed[0], 1);
  assert_int_equal (n_freed[1], 1);
}

/* Classes ascend, each once, whoever joins first and however often. */
static void
classes_of_a_collective_are_listed_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  static const guint joins[][4] = { { 2, 0, 0, 0 }, { 1, 1, 1, 1 }, { 0, 1, 2, 1 } };
  static const guint listed[] = { 0, 2, 1, 0, 1, 2 }, starts[] = { 0, 2, 3, 6 };
  guint collectives[3], streams[3];

  for (guint c = 0; c < 3; c++) {
    streams[c] = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", c, 1), "s");
    collectives[c] = fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("c"));
  }
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 4; i++)
      fab_dag_builder_join (builder, streams[joins[c][i]], collectives[c]);
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
  assert_memory_equal (dag->join_starts, starts, sizeof starts);
  assert_memory_equal (dag->join_classes, listed, sizeof listed);
  for (guint c = 0; c < 3; c++)
    assert_int_equal (dag->collectives[c].n_joins, 4);
}

/* A name that is no dimension is said as it is. */
static void
dimensions_have_words (G_GNUC_UNUSED void **state)
{
  assert_string_equal (fab_dimension_say ("data"), "data-parallel communication");
  assert_string_equal (fab_dimension_say ("offload"), "offloading");
  assert_string_equal (fab_dimension_say ("other"), "other communication");
  assert_string_equal (fab_dimension_say ("whatever"), "whatever");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_stream_runs_its_tasks_in_order),
    cmocka_unit_test (a_streams_first_task_waits_for_its_last_of_before),
    cmocka_unit_test (a_collective_counts_who_joins_it),
    cmocka_unit_test (what_cannot_run_is_not_frozen),
    cmocka_unit_test (a_builder_that_is_not_frozen_frees_its_names),
    cmocka_unit_test (collectives_without_an_order_may_meet),
    cmocka_unit_test (collectives_of_two_iterations_may_meet),
    cmocka_unit_test (a_kind_may_meet_itself),
    cmocka_unit_test (too_many_may_all_meet),
    cmocka_unit_test (what_is_the_same_can_stand_for_more),
    cmocka_unit_test (a_collective_does_not_stand_for_work),
    cmocka_unit_test (what_is_nothing_or_more_than_a_stream_stands_for_itself),
    cmocka_unit_test (what_is_handed_over_is_freed),
    cmocka_unit_test (classes_of_a_collective_are_listed_once),
    cmocka_unit_test (dimensions_have_words),
  };

  return cmocka_run_group_tests_name ("dag", tests, NULL, NULL);
}
