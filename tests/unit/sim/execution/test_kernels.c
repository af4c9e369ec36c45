/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels.c - one kernel beside a collective, by hand. Random jobs: tests/property/prop_kernels.c.
 *
 * GPUs move 1 byte per ps and an all-reduce over two of them weighs 1: b bytes take b ps.
 */
#include "tests/support/test.h"

#include "sim/execution/executor.h"
#include "sim/execution/kernels.h"
#include "tests/support/rig.h"

/* A kernel of 100 ps beside an all-reduce of 48 bytes that begins with it; returns how long the iteration takes. */
static FabTimePs
play (guint n_sms, guint n_channels, double (*slowness) (gpointer, guint, guint))
{
  g_autoptr (Rig) rig = rig_new_flat (2);
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint rank_class = fab_dag_builder_class (builder, "all", 0, 2);
  guint compute = fab_dag_builder_stream (builder, rank_class, "compute");
  guint comm = fab_dag_builder_stream (builder, rank_class, "comm");
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 48);

  plan.n_channels = n_channels;
  fab_dag_builder_work (builder, compute, FAB_SPAN_COMPUTE, 100, g_strdup ("kernel"));
  fab_dag_builder_join (builder, comm,
                        fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_DATA, g_strdup ("r")));
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
  RigNet net = rig_net (rig, &fab_net_fluid);
  g_autoptr (FabExecutor) executor = fab_executor_new (&(FabExecutorEnv){
      .engine = net.engine,
      .net = net.net,
      .dag = dag,
      .n_iterations = 1,
      .n_sms = n_sms,
      .slowness = slowness,
  });

  assert_true (fab_executor_run_iteration (executor));
  FabTimePs end_ps = fab_engine_now (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

/* 3 of 12 multiprocessors for 48 ps: 36 ps of work are done by then, 64 are left: 48 + 64. */
static void
a_kernel_loses_the_share_of_the_channels (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play (12, 3, NULL), 112);
}

/* 3 of 13: 480 of 1300 are done, 820 / 13 = 63.08 ps are left. */
static void
its_end_is_rounded_up (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play (13, 3, NULL), 48 + 64);
}

/* As many channels as multiprocessors, or more: it stands still for 48 ps. */
static void
a_kernel_without_any_waits_for_the_collective (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play (12, 12, NULL), 148);
  assert_int_equal (play (12, 24, NULL), 148);
}

static void
an_unknown_accelerator_slows_nothing_down (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play (0, 24, NULL), 100);
}

static double
half_as_fast (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint rank_class, G_GNUC_UNUSED guint iteration)
{
  return 2;
}

/* 200 ps of work on a slow rank, 36 of them done by 48 ps. */
static void
slowness_stretches_work_before_contention_does (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play (0, 3, half_as_fast), 200);
  assert_int_equal (play (12, 3, half_as_fast), 48 + 164);
}

/* What a test is told: when a kernel ended. */
typedef struct {
  FabEngine *engine;
  FabTimePs ended_ps; /* -1: not yet */
} Ended;

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Ended *self = owner;

  self->ended_ps = fab_engine_now (self->engine);
}

/* One kernel after another on a stream of 12 multiprocessors, beside no collective; then beside one that holds all of
 * them for 30 ps, from before the kernel begins. A kernel without work ends at once all the same. */
static void
kernels_follow_one_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (2);
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint stream = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 2), "all");
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 48);

  plan.n_channels = 12;
  fab_dag_builder_join (builder, stream,
                        fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_DATA, g_strdup ("r")));
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
  g_autoptr (FabEngine) engine = fab_engine_new ();
  FabKernels *kernels = fab_kernels_new (engine, dag, 12);
  Ended ended = { engine, -1 };
  const FabDone done = { note_end, &ended, 0 };

  fab_kernels_start (kernels, stream, 100, done);
  fab_engine_run (engine);
  assert_int_equal (ended.ended_ps, 100);
  fab_kernels_start (kernels, stream, 50, done);
  fab_engine_run (engine);
  assert_int_equal (ended.ended_ps, 150);

  ended.ended_ps = -1;
  fab_copy_kernels_hold (kernels, 0);
  fab_kernels_start (kernels, stream, 50, done);
  fab_engine_run_until (engine, 180);
  assert_int_equal (ended.ended_ps, -1);
  fab_kernels_let_go (kernels, 0);
  fab_engine_run (engine);
  assert_int_equal (ended.ended_ps, 230);

  fab_kernels_start (kernels, stream, 0, done);
  fab_engine_run (engine);
  assert_int_equal (ended.ended_ps, 230);
  ended.ended_ps = -1;
  fab_copy_kernels_hold (kernels, 0);
  fab_kernels_start (kernels, stream, 0, done);
  fab_engine_run (engine);
  assert_int_equal (ended.ended_ps, 230);
  fab_kernels_free (kernels);
}

typedef struct {
  FabEngine *engine;
  FabKernels *kernels;
  GString *log; /* "what time " */
} Log;

static void
note_kernel (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Log *self = owner;

  g_string_append_printf (self->log, "kernel %d ", (int) fab_engine_now (self->engine));
}

static void
note_other (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Log *self = owner;

  g_string_append_printf (self->log, "other %d ", (int) fab_engine_now (self->engine));
}

static void
let_go (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_kernels_let_go (((Log *) owner)->kernels, 0);
}

/* A collective lets go of its multiprocessors in the very ps in which a kernel ends, whose work fills that ps (12 of
 * 24 for 50 ps of 25 alone) or not (7 of 12): the kernel keeps its place among the events of that ps. */
static void
a_kernel_that_ends_with_a_collective_keeps_its_place (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_sms, n_channels;
    FabTimePs alone_ps, end_ps;
  } rows[] = { { 24, 12, 25, 50 }, { 12, 5, 25, 43 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Rig) rig = rig_new_flat (2);
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    guint stream = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 2), "all");
    FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 48);

    plan.n_channels = rows[i].n_channels;
    fab_dag_builder_join (builder, stream,
                          fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_DATA, g_strdup ("r")));
    g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
    g_autoptr (FabEngine) engine = fab_engine_new ();
    g_autoptr (GString) text = g_string_new (NULL);
    Log log = { engine, fab_kernels_new (engine, dag, rows[i].n_sms), text };

    fab_copy_kernels_hold (log.kernels, 0);
    fab_engine_at (engine, rows[i].end_ps, let_go, &log, 0);
    fab_kernels_start (log.kernels, stream, rows[i].alone_ps, (FabDone){ note_kernel, &log, 0 });
    fab_engine_at (engine, rows[i].end_ps, note_other, &log, 0);
    fab_engine_run (engine);
    g_autofree char *expected = g_strdup_printf ("kernel %d other %d ", (int) rows[i].end_ps,
                                                 (int) rows[i].end_ps);
    assert_string_equal (text->str, expected);
    fab_kernels_free (log.kernels);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_kernel_loses_the_share_of_the_channels),
    cmocka_unit_test (its_end_is_rounded_up),
    cmocka_unit_test (a_kernel_without_any_waits_for_the_collective),
    cmocka_unit_test (an_unknown_accelerator_slows_nothing_down),
    cmocka_unit_test (slowness_stretches_work_before_contention_does),
    cmocka_unit_test (kernels_follow_one_another),
    cmocka_unit_test (a_kernel_that_ends_with_a_collective_keeps_its_place),
  };

  return cmocka_run_group_tests_name ("kernels", tests, NULL, NULL);
}
