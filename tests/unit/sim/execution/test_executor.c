/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor.c - small jobs played by hand, in picoseconds. Random ones: tests/property/prop_executor.c.
 *
 * GPUs move 1 byte per ps and an all-reduce over two of them weighs 2 x 1/2 = 1: b bytes take b ps.
 */
#include "tests/unit/sim/execution/executor_job.h"

/* A 0-10, B 10-30, the all-reduce of 15 after A: 10-25, all of it under B. */
static void
communication_under_compute_is_hidden (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");
  guint comm = fab_dag_builder_stream (job->builder, rank_class, "comm");
  FabTaskId a = work (job, compute, FAB_SPAN_COMPUTE, 10, "A");

  work (job, compute, FAB_SPAN_COMPUTE, 20, "B");
  fab_dag_builder_after (job->builder, fab_dag_builder_join (job->builder, comm, all_reduce (job, 15)), a);
  job_start (job, 2);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+30 30 15 15 0 0", "compute A 0-10, comm all_reduce r 10-25, compute B 10-30");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "30+30 30 15 15 0 0",
                    "compute A 30-40, comm all_reduce r 40-55, compute B 40-60");
  assert_false (fab_executor_run_iteration (job->executor));
}

/* The same with 40 bytes: 10-50, of which 20 under B; the iteration lasts as long as its last task. */
static void
what_compute_does_not_cover_is_exposed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");
  guint comm = fab_dag_builder_stream (job->builder, rank_class, "comm");
  FabTaskId a = work (job, compute, FAB_SPAN_COMPUTE, 10, "A");

  work (job, compute, FAB_SPAN_COMPUTE, 20, "B");
  fab_dag_builder_after (job->builder, fab_dag_builder_join (job->builder, comm, all_reduce (job, 40)), a);
  job->env.totals = (FabJobTotals){ .model_flops_per_rank = 15, .executed_flops_per_rank = 20, .tokens = 3 };
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+50 30 40 20 20 0", "compute A 0-10, compute B 10-30, comm all_reduce r 10-50");

  /* 1e12 FLOP/s for 50 ps are 50 FLOP. */
  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, 0);
  assert_near (probe->step.mfu_fraction, 15.0 / 50, 1e-12);
  assert_near (probe->step.hfu_fraction, 20.0 / 50, 1e-12);
  assert_near (probe->step.tokens_per_s, 3 / 50e-12, 1e-12);
  assert_int_equal (record->exposed_ps, 20);
  assert_near (record->algbw_bytes_per_s, 1e12, 1e-12);
}

/* Class 0 computes 10 and waits for class 1, which computes 30; 5 bytes from then on. Mean of the two. */
static void
waiting_for_a_straggler_is_not_communication (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint collective = all_reduce (job, 5);

  for (guint c = 0; c < 2; c++) {
    guint rank_class = fab_dag_builder_class (job->builder, "all", c, 1);
    guint stream = fab_dag_builder_stream (job->builder, rank_class, "all");

    work (job, stream, FAB_SPAN_COMPUTE, c == 0 ? 10 : 30, "A");
    fab_dag_builder_join (job->builder, stream, collective);
  }
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+35 10 5 0 5 20",
                    "compute A 0-10, wait all_reduce r 10-30, comm all_reduce r 30-35");
  assert_iteration (job, 1, "0+35 30 5 0 5 0", "compute A 0-30, comm all_reduce r 30-35");

  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, 0);
  assert_int_equal (record->ready_ps, 10);
  assert_int_equal (record->start_ps, 30);
  assert_int_equal (record->end_ps, 35);
  assert_int_equal (probe->step.times.compute_ps, 20);
  assert_int_equal (probe->step.times.idle_ps, 10);
  assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 0).waiting_ps, 20);
  assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 1).waiting_ps, 0);
  assert_int_equal (probe->step.times.waiting_ps, 10);
  assert_int_equal (g_array_index (probe->exposures, FabExposureRecord, 0).waiting_ps, 20);
}

/* Class 0 arrives at 10 and computes on until 25, class 1 arrives at 30: of the 20 in which the collective waits, class
 * 0 is idle for 5. */
static void
waiting_beside_compute_is_hidden (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint collective = all_reduce (job, 5);

  for (guint c = 0; c < 2; c++) {
    guint rank_class = fab_dag_builder_class (job->builder, "all", c, 1);
    guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");
    guint comm = fab_dag_builder_stream (job->builder, rank_class, "comm");
    FabTaskId a = work (job, compute, FAB_SPAN_COMPUTE, c == 0 ? 10 : 30, "A");

    if (c == 0)
      work (job, compute, FAB_SPAN_COMPUTE, 15, "B");
    fab_dag_builder_after (job->builder, fab_dag_builder_join (job->builder, comm, collective), a);
  }
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabIterationRecord *record = &g_array_index (probe->iterations, FabIterationRecord, 0);
  assert_int_equal (record->idle_ps, 5);
  assert_int_equal (record->waiting_ps, 5);
  assert_int_equal (record->exposed_ps, 5);
}

/* Loading 10, computing 25 with what was loaded. Prefetched: the second load is 10-20, so from the second iteration
 * on a step is 25. */
static void
what_only_its_stream_holds_back_runs_ahead (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint loader = fab_dag_builder_stream (job->builder, rank_class, "loader");
  guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");
  FabTaskId load = work (job, loader, FAB_SPAN_LOAD, 10, "L");

  fab_dag_builder_after (job->builder, work (job, compute, FAB_SPAN_COMPUTE, 25, "A"), load);
  job_start (job, 3);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+35 25 0 0 0 10", "load L 0-10, load L 10-20, compute A 10-35");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "35+25 25 0 0 0 0", "load L 35-45, compute A 35-60");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "60+25 25 0 0 0 0", "compute A 60-85");
}

/* The same, but loading waits for the computing before it: 10 + 25 every time. */
static void
a_task_can_wait_for_the_iteration_before (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint loader = fab_dag_builder_stream (job->builder, rank_class, "loader");
  guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");
  FabTaskId load = work (job, loader, FAB_SPAN_LOAD, 10, "L");
  FabTaskId a = work (job, compute, FAB_SPAN_COMPUTE, 25, "A");

  fab_dag_builder_after (job->builder, a, load);
  fab_dag_builder_after_previous (job->builder, load, a);
  job_start (job, 2);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+35 25 0 0 0 10", "load L 0-10, compute A 10-35");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "35+35 25 0 0 0 10", "load L 35-45, compute A 45-70");
}

/* X of the second iteration runs 30-60, over the first one's end at 40: 10 of it count there and 20 after it. The
 * third X follows at once, because two iterations may be alive: 60-90, 20 of it before 80. */
static void
a_task_over_an_end_is_split_there (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint loader = fab_dag_builder_stream (job->builder, rank_class, "loader");
  guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute");

  work (job, loader, FAB_SPAN_LOAD, 40, "L");
  work (job, compute, FAB_SPAN_COMPUTE, 30, "X");
  job_start (job, 3);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+40 40 0 0 0 0", "compute X 0-30, load L 0-40");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "40+40 40 0 0 0 0", "compute X 30-60, load L 40-80");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "80+40 10 0 0 0 30", "compute X 60-90, load L 80-120");
}

/* Over two GPUs an all-reduce of 8 puts 8 bytes on each of the four links: busy 8 of 20 ps. */
static void
links_say_what_they_carried (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");

  work (job, stream, FAB_SPAN_COMPUTE, 12, "A");
  fab_dag_builder_join (job->builder, stream, all_reduce (job, 8));
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const GArray *loads = fab_executor_probe (job->executor)->link_loads;
  assert_int_equal (loads->len, 4);
  for (guint i = 0; i < loads->len; i++) {
    assert_int_equal (g_array_index (loads, FabLinkLoadRecord, i).bytes, 8);
    assert_near (g_array_index (loads, FabLinkLoadRecord, i).busy_fraction, 0.4, 1e-12);
  }
}

/* An all-reduce of 300 bytes over four GPUs takes 450 ps: an algorithm bandwidth of 2/3 of the wires' rate, and all of
 * it on the bus. Of no bytes it takes no time and has no bandwidth. The third collective has one rank and moves
 * nothing. */
static void
a_record_says_what_was_planned_and_how_it_went (G_GNUC_UNUSED void **state)
{
  for (guint ends = 0; ends < 2; ends++) {
    g_autoptr (Job) job = job_with (rig_new_flat (4));
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 4),
                                           "all");
    FabCollectivePlan plan = rig_plan (job->rig, FAB_OP_ALL_REDUCE, 300);

    plan.waits_for_ends = ends == 1;
    plan.n_channels = 5;
    work (job, stream, FAB_SPAN_LOAD, 10, "L");
    fab_dag_builder_join (job->builder, stream,
                          fab_dag_builder_collective (job->builder, &plan, FAB_DIMENSION_TENSOR,
                                                      g_strdup ("r")));
    fab_dag_builder_join (job->builder, stream, all_reduce (job, 0));
    fab_dag_builder_join (job->builder, stream, nothing (job));
    job_start (job, 2);
    assert_true (fab_executor_run_iteration (job->executor));
    assert_true (fab_executor_run_iteration (job->executor));
    const GArray *collectives = fab_executor_probe (job->executor)->collectives;
    const FabCollectiveRecord *record = &g_array_index (collectives, FabCollectiveRecord, 0);

    assert_int_equal (collectives->len, 3);
    assert_int_equal (record->iteration, 1);
    assert_int_equal (record->index, 0);
    assert_string_equal (record->name, "r");
    assert_string_equal (record->op, "all_reduce");
    assert_string_equal (record->dimension, "tensor");
    assert_string_equal (record->algorithm, plan.algorithm);
    assert_string_equal (record->protocol, plan.protocol);
    assert_int_equal (record->n_channels, 5);
    assert_int_equal (record->n_ranks, 4);
    assert_int_equal (record->bytes, 300);
    assert_int_equal (record->ready_ps, 470);
    assert_int_equal (record->start_ps, 470);
    assert_int_equal (record->end_ps, 920);
    assert_int_equal (record->alone_ps, 450);
    assert_int_equal (record->waits_for_ends, ends == 1);
    assert_int_equal (record->binding_link, plan.footprint->binding_link);
    assert_near (record->algbw_bytes_per_s, 1e12 * 2 / 3, 1e-12);
    assert_near (record->busbw_bytes_per_s, 1e12, 1e-12);
    for (guint c = 1; c < 3; c++) {
      assert_int_equal (record[c].index, c);
      assert_int_equal (record[c].end_ps, 920);
      assert_true (record[c].algbw_bytes_per_s == 0 && record[c].busbw_bytes_per_s == 0);
    }
    assert_int_equal (record[2].binding_link, FAB_RECORD_NO_LINK);
    assert_int_equal (record[2].alone_ps, 0);
    assert_int_equal (record[2].waits_for_ends, FALSE);
  }
}

/* Those that move bytes, each under its dimension. */
static void
collectives_that_move_bytes_are_listed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");

  fab_dag_builder_join (job->builder, stream, nothing (job));
  fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 8, FAB_DIMENSION_TENSOR, FAB_OP_REDUCE));
  fab_dag_builder_join (job->builder, stream, all_reduce (job, 9));
  job_start (job, 1);
  g_autoptr (GArray) listed = fab_executor_list_collectives (job->executor);
  const FabJobCollective *first = &g_array_index (listed, FabJobCollective, 0);
  assert_int_equal (listed->len, 2);
  assert_ptr_equal (first->plan, &job->dag->collectives[1].plan);
  assert_string_equal (first->traffic, "tensor");
  assert_ptr_equal (first[1].plan, &job->dag->collectives[2].plan);
  assert_string_equal (first[1].traffic, "other");
}

/* Requests that arrive at 10 and again at 20 are no work of anybody. Of each other task there is one span. */
static void
arrivals_have_no_span (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint clock = fab_dag_builder_stream (job->builder, rank_class, "clock"),
        stream = fab_dag_builder_stream (job->builder, rank_class, "stream");
  FabTaskId arrival = work (job, clock, FAB_SPAN_ARRIVAL, 10, "R");

  work (job, clock, FAB_SPAN_ARRIVAL, 10, "R");
  fab_dag_builder_after (job->builder, work (job, stream, FAB_SPAN_COMPUTE, 3, "A"), arrival);
  fab_dag_builder_join (job->builder, stream, nothing (job));
  fab_dag_builder_join (job->builder, stream, all_reduce (job, 20));
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "0+33 3 20 0 20 10",
                    "compute A 10-13, comm all_reduce n 13-13, comm all_reduce r 13-33");
  const GArray *spans = fab_executor_probe (job->executor)->spans;
  for (guint i = 0; i < 3; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);

    assert_string_equal (span->stream, "stream");
    assert_int_equal (span->iteration, 0);
    assert_int_equal (span->collective, (gint) i - 1);
  }
}

/* Runs the job's only iteration, which must not end, and returns what the engine says about it. */
static const char *
failure_of (Job *job)
{
  assert_false (fab_executor_run_iteration (job->executor));
  return fab_engine_failure (job->net.engine);
}

/* A job of one all-reduce of 100 bytes, on a network whose streams are those of `stream`. */
static Job *
job_on (FabNetOps *ops, void (*stream) (FabNet *net, const FabStream *stream))
{
  Job *job = job_new ();

  fab_dag_builder_join (job->builder,
                        fab_dag_builder_stream (job->builder,
                                                fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                        all_reduce (job, 100));
  job_start (job, 1);
  *ops = fab_net_fluid;
  ops->stream = stream;
  job->net.net->ops = ops;
  return job;
}

/* A network that is faster than its links: 1 ps for everything. */
static void
liar_stream (FabNet *net, const FabStream *stream)
{
  fab_engine_after (net->env.engine, 1, stream->done.fn, stream->done.owner, stream->done.arg);
}

/* 100 bytes at 1 byte per ps; the bound is rounded down. */
static void
a_collective_beats_no_bound (G_GNUC_UNUSED void **state)
{
  FabNetOps liar;
  g_autoptr (Job) job = job_on (&liar, liar_stream);

  assert_string_equal (failure_of (job), "fluid: collective 0 (all_reduce r) of iteration 0 took 1 ps, its "
                                         "bound is 99 ps (link 0)");
}

static FabTimePs taken_ps; /* of a stream of the network below */

static void
timed_stream (FabNet *net, const FabStream *stream)
{
  fab_engine_after (net->env.engine, taken_ps, stream->done.fn, stream->done.owner, stream->done.arg);
}

/* From 500 ps on: what counts is how long it takes, and not when it ends. As long as its bound it may take. */
static void
a_later_collective_beats_no_bound_either (G_GNUC_UNUSED void **state)
{
  for (taken_ps = 98; taken_ps <= 99; taken_ps++) {
    FabNetOps timed = fab_net_fluid;
    g_autoptr (Job) job = job_new ();
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                           "all");

    work (job, stream, FAB_SPAN_LOAD, 500, "L");
    fab_dag_builder_join (job->builder, stream, all_reduce (job, 100));
    job_start (job, 1);
    timed.stream = timed_stream;
    job->net.net->ops = &timed;
    if (taken_ps == 99)
      assert_true (fab_executor_run_iteration (job->executor));
    else
      assert_string_equal (failure_of (job),
                           "fluid: collective 0 (all_reduce r) of iteration 0 took 98 ps, its "
                           "bound is 99 ps (link 0)");
  }
}

/* It takes its time, but moves the bytes twice: 200 on each link in 150 ps, of 1 byte per ps. */
static void
twofold_stream (FabNet *net, const FabStream *stream)
{
  fab_meter_add_once (net->meter, stream->footprint, 200);
  fab_engine_after (net->env.engine, 150, stream->done.fn, stream->done.owner, stream->done.arg);
}

/* Counts 200 bytes when it begins. The first one takes 500 ps, and those after it 60. */
static void
hasty_stream (FabNet *net, const FabStream *stream)
{
  fab_meter_add_once (net->meter, stream->footprint, 200);
  fab_engine_after (net->env.engine, fab_engine_now (net->env.engine) == 0 ? 500 : 60, stream->done.fn,
                    stream->done.owner, stream->done.arg);
}

/* The next iteration has begun when one ends: 400 bytes by 500 ps are possible, and 600 by 560 are not, although the
 * second iteration has 200 of them. */
static void
no_link_carries_more_than_its_rate_since_the_start (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  FabNetOps hasty = fab_net_fluid;

  fab_dag_builder_join (job->builder,
                        fab_dag_builder_stream (job->builder,
                                                fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                        all_reduce (job, 50));
  hasty.stream = hasty_stream;
  job_start (job, 4);
  job->net.net->ops = &hasty;
  assert_true (fab_executor_run_iteration (job->executor));
  assert_string_equal (failure_of (job), "fluid: link 0 carried 600 bytes by 560 ps, its rate allows 560");
}

/* A stream that counts its bytes when it ends: 450 at 500 ps, and 200 at 560. There is one at a time. */
static FabStream under_way;

static void
count_and_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabNet *net = owner;
  const FabDone done = under_way.done;

  fab_meter_add_once (net->meter, under_way.footprint, fab_engine_now (net->env.engine) == 500 ? 450 : 200);
  done.fn (done.owner, done.arg);
}

static void
late_stream (FabNet *net, const FabStream *stream)
{
  under_way = *stream;
  fab_engine_after (net->env.engine, fab_engine_now (net->env.engine) == 0 ? 500 : 60, count_and_end, net, 0);
}

/* Of two iterations the second one carries 200 bytes, and both together more than 560. */
static void
two_iterations_carry_no_more_than_their_time_allows (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  FabNetOps late = fab_net_fluid;

  fab_dag_builder_join (job->builder,
                        fab_dag_builder_stream (job->builder,
                                                fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                        all_reduce (job, 50));
  late.stream = late_stream;
  job_start (job, 2);
  job->net.net->ops = &late;
  assert_true (fab_executor_run_iteration (job->executor));
  assert_string_equal (failure_of (job), "fluid: link 0 carried 650 bytes by 560 ps, its rate allows 560");
}

static void
a_link_carries_no_more_than_its_rate (G_GNUC_UNUSED void **state)
{
  FabNetOps liar;
  g_autoptr (Job) job = job_on (&liar, twofold_stream);

  assert_string_equal (failure_of (job), "fluid: link 0 carried 200 bytes by 150 ps, its rate allows 150");
}

/* Two classes that want the same two collectives in opposite order. */
static void
an_iteration_ends (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint first = all_reduce (job, 1), second = all_reduce (job, 1);

  for (guint c = 0; c < 2; c++) {
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", c, 1),
                                           "all");

    fab_dag_builder_join (job->builder, stream, c == 0 ? first : second);
    fab_dag_builder_join (job->builder, stream, c == 0 ? second : first);
  }
  job_start (job, 1);
  assert_string_equal (failure_of (job), "iteration 0 never ends: its tasks wait for each other");
}

/* A task of 25 ps that is said to have ended at 40 ps, while the clock is still at 0. */
static void
nobody_works_longer_than_an_iteration (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");
  FabProbe probe;

  work (job, stream, FAB_SPAN_COMPUTE, 25, "A");
  job_start (job, 1);
  FabPlayWatch *watch = fab_direct_watch_new (job->net.net);
  FabAccount *account = fab_account_new (
      &(FabExecutorEnv){ .engine = job->net.engine, .net = job->net.net, .watch = watch, .dag = job->dag });
  fab_probe_init (&probe);
  fab_account_begin (account, 0, 0);
  fab_account_end (account, stream, 40);
  fab_account_close (account, 0, &probe);
  assert_string_equal (fab_engine_failure (job->net.engine),
                       "iteration 0, class 0: exposed 0 ps and idle -40 ps, which cannot be negative");
  fab_probe_clear (&probe);
  fab_account_free (account);
  fab_direct_watch_free (watch);
}

/* A rank is said to have waited until 40 ps, while the clock is still at 0. */
static void
nobody_waits_longer_than_it_is_idle (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");
  FabTaskId join = fab_dag_builder_join (job->builder, stream, all_reduce (job, 5));
  FabProbe probe;

  job_start (job, 1);
  FabPlayWatch *watch = fab_direct_watch_new (job->net.net);
  FabAccount *account = fab_account_new (
      &(FabExecutorEnv){ .engine = job->net.engine, .net = job->net.net, .watch = watch, .dag = job->dag });
  fab_probe_init (&probe);
  fab_account_arrive (account, join, 0);
  fab_account_begin (account, join, 40);
  fab_account_end (account, stream, 40);
  fab_account_close (account, 0, &probe);
  assert_string_equal (fab_engine_failure (job->net.engine),
                       "iteration 0, class 0: waiting 40 ps of 0 ps idle");
  fab_probe_clear (&probe);
  fab_account_free (account);
  fab_direct_watch_free (watch);
}

/* The iteration that a flag ends is neither over nor broken. */
static void
it_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  const gint cancel = 1;

  fab_dag_builder_join (job->builder,
                        fab_dag_builder_stream (job->builder,
                                                fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                        all_reduce (job, 100));
  job_start (job, 1);
  fab_engine_set_cancel (job->net.engine, &cancel);
  assert_false (fab_executor_run_iteration (job->executor));
  assert_true (fab_engine_is_cancelled (job->net.engine));
  assert_null (fab_engine_failure (job->net.engine));
}

/* Freed with the second iteration's collective on its way: nothing leaks (ASan), nothing is called. */
static void
it_can_be_freed_between_iterations (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);

  for (guint i = 0; i < 2; i++)
    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"),
                          all_reduce (job, 10 + 100 * i));
  job_start (job, 2);
  assert_true (fab_executor_run_iteration (job->executor));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (communication_under_compute_is_hidden),
    cmocka_unit_test (what_compute_does_not_cover_is_exposed),
    cmocka_unit_test (waiting_for_a_straggler_is_not_communication),
    cmocka_unit_test (waiting_beside_compute_is_hidden),
    cmocka_unit_test (what_only_its_stream_holds_back_runs_ahead),
    cmocka_unit_test (a_task_can_wait_for_the_iteration_before),
    cmocka_unit_test (a_task_over_an_end_is_split_there),
    cmocka_unit_test (links_say_what_they_carried),
    cmocka_unit_test (a_record_says_what_was_planned_and_how_it_went),
    cmocka_unit_test (collectives_that_move_bytes_are_listed),
    cmocka_unit_test (arrivals_have_no_span),
    cmocka_unit_test (a_collective_beats_no_bound),
    cmocka_unit_test (a_later_collective_beats_no_bound_either),
    cmocka_unit_test (no_link_carries_more_than_its_rate_since_the_start),
    cmocka_unit_test (two_iterations_carry_no_more_than_their_time_allows),
    cmocka_unit_test (nobody_waits_longer_than_it_is_idle),
    cmocka_unit_test (a_link_carries_no_more_than_its_rate),
    cmocka_unit_test (an_iteration_ends),
    cmocka_unit_test (nobody_works_longer_than_an_iteration),
    cmocka_unit_test (it_can_be_cancelled),
    cmocka_unit_test (it_can_be_freed_between_iterations),
  };

  return cmocka_run_group_tests_name ("executor", tests, NULL, NULL);
}
