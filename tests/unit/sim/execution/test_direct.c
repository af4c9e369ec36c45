/* SPDX-License-Identifier: Apache-2.0 */
/* test_direct.c - collectives that their network plays: the list of those that are under way, what the network is told
 * of each, and what it is asked.
 */
#include "tests/unit/sim/execution/executor_job.h"

static void
log_end (gpointer owner, guint64 arg)
{
  g_string_append_printf (owner, "%d ", (int) arg);
}

/* In any order: the last that was added, the first, and one between others. What is left is dropped without a word. */
static void
each_end_is_told_once_and_counted (G_GNUC_UNUSED void **state)
{
  static const guint order[] = { 4, 0, 2, 1 };
  g_autoptr (GString) log = g_string_new (NULL);
  FabDirects all = { 0 };
  FabDirect *added[5];

  for (guint i = 0; i < G_N_ELEMENTS (added); i++)
    added[i] = fab_directs_add (&all, (FabDone){ log_end, log, i });
  assert_ptr_equal (all.first, added[4]);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    FabDone end = fab_direct_end (added[order[i]]);

    assert_int_equal (all.n_ended, i);
    end.fn (end.owner, end.arg);
  }
  assert_string_equal (log->str, "4 0 2 1 ");
  assert_int_equal (all.n_ended, 4);
  assert_ptr_equal (all.first, added[3]);
  fab_directs_clear (&all);
  assert_null (all.first);
  assert_string_equal (log->str, "4 0 2 1 ");
}

static const char *told; /* by the networks below, which have no owner to pass */

static void
traffic_stream (FabNet *net, const FabStream *stream)
{
  told = stream->traffic;
  fab_net_fluid.stream (net, stream);
}

static FabNetLine *
traffic_open (FabNet *net, const FabConnection *connection)
{
  told = connection->traffic;
  return fab_net_step.open (net, connection);
}

/* As a stream, and message by message. Two of one schedule follow one another. */
static void
a_network_is_told_what_the_traffic_is_part_of (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (Job) job = job_new ();
    FabNetOps ops = i == 0 ? fab_net_fluid : fab_net_step;
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                           "all");

    for (guint k = 0; k < 2; k++)
      fab_dag_builder_join (job->builder, stream, all_reduce (job, 100));
    ops.stream = traffic_stream;
    if (i == 1)
      ops.open = traffic_open;
    job->ops = i == 0 ? &fab_net_fluid : &fab_net_step;
    job_start (job, 1);
    job->net.net->ops = &ops;
    told = NULL;
    assert_true (fab_executor_run_iteration (job->executor));
    assert_string_equal (told, "other");
    assert_int_equal (fab_engine_now (job->net.engine), 200);
  }
}

/* Freed with messages on their way: nothing leaks (ASan), nothing is called. */
static void
messages_can_be_dropped (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);

  for (guint i = 0; i < 3; i++)
    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"),
                          all_reduce (job, 100));
  job->ops = &fab_net_step;
  job_start (job, 1);
  fab_executor_begin_iteration (job->executor);
  fab_engine_run_until (job->net.engine, 20);
}

static gboolean answer;

static gboolean
is_still (G_GNUC_UNUSED const FabNet *net)
{
  return answer;
}

static FabLinkId
find_jam (G_GNUC_UNUSED const FabNet *net)
{
  return 3;
}

/* A network that cannot say is never still and has no jam. */
static void
a_network_is_asked_whether_it_is_still_or_jammed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  RigNet net = rig_net (job->rig, &fab_net_fluid);
  FabNetOps ops = fab_net_fluid;
  FabPlayWatch *watch = fab_direct_watch_new (net.net);

  net.net->ops = &ops;
  ops.is_still = NULL;
  ops.find_jam = NULL;
  assert_false (watch->ops->is_still (watch));
  assert_int_equal (watch->ops->find_jam (watch), FAB_NO_LINK);
  ops.is_still = is_still;
  ops.find_jam = find_jam;
  for (guint i = 0; i < 2; i++) {
    answer = i == 1;
    assert_int_equal (watch->ops->is_still (watch), answer);
  }
  assert_int_equal (watch->ops->find_jam (watch), 3);
  assert_ptr_equal (watch->ops->meter (watch), net.net->meter);
  fab_direct_watch_free (watch);
  rig_net_clear (&net);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_end_is_told_once_and_counted),
    cmocka_unit_test (a_network_is_told_what_the_traffic_is_part_of),
    cmocka_unit_test (messages_can_be_dropped),
    cmocka_unit_test (a_network_is_asked_whether_it_is_still_or_jammed),
  };

  return cmocka_run_group_tests_name ("direct", tests, NULL, NULL);
}
