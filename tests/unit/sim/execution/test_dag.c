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
  };

  return cmocka_run_group_tests_name ("dag", tests, NULL, NULL);
}
