/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor_states.c - what an executor says of a job while it is under way: how many tasks are done, whether it
 * hangs or is jammed, what is left of it at least, and what a caller sees who shares its network or wants the last
 * iteration alone. GPUs move 1 byte per ps, and a send takes as many ps as it has bytes.
 */
#include "tests/unit/sim/execution/executor_job.h"

static const char *const names[] = { "first", "second", "third" };

/* --- progress --- */

typedef struct {
  Job *job;
  FabPulse pulse;
  GString *text; /* "time:done/all " of every look */
} Look;

static void
look (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Look *self = owner;

  g_string_append_printf (self->text, "%d:%d/%d ", (int) fab_engine_now (self->job->net.engine),
                          self->pulse.n_tasks_done, self->pulse.n_tasks);
}

/* A load of 10, and A of 25 and then B of 7 after it. The next load ends at 20 and counts for the next iteration, of
 * which nobody is told before this one has ended at 42. There A ends at 67. */
static void
tasks_of_the_iteration_that_ends_next_are_counted (G_GNUC_UNUSED void **state)
{
  static const FabTimePs looks_ps[] = { 5, 12, 22, 36, 42, 50, 68, 75 };
  g_autoptr (Job) job = job_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  Look self = { job, { 0 }, text };
  guint loader = streams_of (job, 0, 2, names), compute = loader + 1;
  FabTaskId load = work (job, loader, FAB_SPAN_LOAD, 10, "L");

  fab_dag_builder_after (job->builder, work (job, compute, FAB_SPAN_COMPUTE, 25, "A"), load);
  work (job, compute, FAB_SPAN_COMPUTE, 7, "B");
  job_start (job, 2);
  fab_executor_set_pulse (job->executor, &self.pulse);
  for (guint i = 0; i < G_N_ELEMENTS (looks_ps); i++)
    fab_engine_at (job->net.engine, looks_ps[i], look, &self, 0);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 42);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 74);
  fab_engine_run (job->net.engine);
  assert_string_equal (text->str, "5:0/0 12:1/3 22:1/3 36:2/3 42:2/3 50:0/3 68:2/3 75:0/3 ");
}

/* --- hangs --- */

static FabLinkId
first_link (const Job *job, guint from, guint to)
{
  FabPath path = { 0 };

  assert_true (
      fab_router_append (job->rig->router, rig_gpu (job->rig, from), rig_gpu (job->rig, to), 0, &path));
  return path.links[0];
}

/* Four GPUs. A send of 100 from GPU 0, one of 50 from GPU 2, and work of `work_ps`, all at once. */
static Job *
two_sends (FabTimePs work_ps)
{
  Job *job = job_with (rig_new_flat (4));
  guint stream = streams_of (job, 0, 3, names);

  fab_dag_builder_join (job->builder, stream, send (job, 2, 3, 50, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  fab_dag_builder_join (job->builder, stream + 1, send (job, 0, 1, 100, FAB_DIMENSION_DATA, FAB_OP_REDUCE));
  work (job, stream + 2, FAB_SPAN_LOAD, work_ps, "L");
  return job;
}

static gboolean
hangs_at (Job *job, FabTimePs time_ps, FabHang *hang)
{
  fab_engine_run_until (job->net.engine, time_ps);
  return fab_executor_find_hang (job->executor, hang);
}

/* GPU 0 can send nothing from 5 on. Until 50 the other send goes on, and until 80 the work. */
static void
a_job_hangs_when_nothing_else_goes_on (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = two_sends (80);
  FabHang hang;

  job_start (job, 1);
  fab_executor_begin_iteration (job->executor);
  assert_false (hangs_at (job, 5, &hang));
  fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 0);
  assert_false (hangs_at (job, 6, &hang));
  assert_false (hangs_at (job, 60, &hang));
  assert_true (hangs_at (job, 90, &hang));
  assert_int_equal (hang.collective.index, 1);
  assert_string_equal (hang.collective.op, "reduce");
  assert_int_equal (hang.collective.start_ps, 0);
  assert_int_equal (hang.collective.end_ps, 0);
  assert_int_equal (hang.link.link, first_link (job, 0, 1));
  assert_int_equal (hang.link.since_ps, 5);

  fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 1);
  assert_false (hangs_at (job, 100, &hang));
  fab_engine_run (job->net.engine);
  assert_int_equal (fab_engine_now (job->net.engine), 90 + 95);
}

/* The send of 50 ended before its link died. */
static void
what_has_ended_hangs_nowhere (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = two_sends (80);
  FabHang hang;

  job_start (job, 1);
  fab_executor_begin_iteration (job->executor);
  fab_engine_run_until (job->net.engine, 60);
  fab_net_set_capacity (job->net.net, first_link (job, 2, 3), 0);
  assert_false (hangs_at (job, 90, &hang));
  fab_engine_run (job->net.engine);
  assert_int_equal (fab_engine_now (job->net.engine), 100);
}

/* The second rank comes at 30; until then nothing of the collective can hang. */
static void
what_has_not_begun_hangs_nowhere (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint collective = send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST);
  FabHang hang;

  for (guint c = 0; c < 2; c++) {
    guint stream = streams_of (job, c, 1, names);

    if (c == 1)
      work (job, stream, FAB_SPAN_LOAD, 30, "L");
    fab_dag_builder_join (job->builder, stream, collective);
  }
  job_start (job, 1);
  fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 0);
  fab_executor_begin_iteration (job->executor);
  assert_false (hangs_at (job, 20, &hang));
  assert_true (hangs_at (job, 31, &hang));
}

/* A collective that moves nothing crosses no link. The second iteration hangs, and says so in place of failing. */
static void
any_iteration_can_hang (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = streams_of (job, 0, 1, names);
  FabHang hang;

  fab_dag_builder_join (job->builder, stream, nothing (job));
  fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  job_start (job, 3);
  assert_true (fab_executor_run_iteration (job->executor));
  fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 0);
  assert_false (fab_executor_run_iteration (job->executor));
  assert_null (fab_engine_failure (job->net.engine));
  assert_true (fab_executor_find_hang (job->executor, &hang));
  assert_int_equal (hang.collective.iteration, 1);
  assert_int_equal (hang.collective.index, 1);
}

static gboolean
is_still (G_GNUC_UNUSED const FabNet *net)
{
  return TRUE;
}

/* A send that crosses a dead link can hold back another one that does not. In a network that says that nothing of it is
 * due, both hang as soon as the work has ended at 5; in another one, the send of 50 goes on. */
static void
what_waits_behind_a_dead_link_hangs_in_a_still_network (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (Job) job = two_sends (5);
    FabNetOps ops = fab_net_fluid;
    FabHang hang;

    ops.is_still = i == 1 ? is_still : NULL;
    job_start (job, 1);
    job->net.net->ops = &ops;
    fab_executor_begin_iteration (job->executor);
    assert_false (hangs_at (job, 6, &hang)); /* no link is dead */
    fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 0);
    assert_int_equal (hangs_at (job, 7, &hang), i == 1);
    fab_net_set_capacity (job->net.net, first_link (job, 0, 1), 1);
  }
}

/* --- jams --- */

static FabLinkId
find_jam (G_GNUC_UNUSED const FabNet *net)
{
  return 3;
}

static void
never_stream (G_GNUC_UNUSED FabNet *net, G_GNUC_UNUSED const FabStream *stream)
{
}

/* An iteration that has ended is not jammed, whatever the network says; the next one may be. */
static void
a_jam_is_named_until_an_iteration_has_ended (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  FabNetOps ops = fab_net_fluid;

  fab_dag_builder_join (job->builder, streams_of (job, 0, 1, names),
                        send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  job_start (job, 2);
  job->net.net->ops = &ops;
  assert_int_equal (fab_executor_find_jam (job->executor), FAB_NO_LINK);
  ops.find_jam = find_jam;
  assert_int_equal (fab_executor_find_jam (job->executor), 3);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_executor_find_jam (job->executor), FAB_NO_LINK);
  ops.stream = never_stream;
  fab_executor_begin_iteration (job->executor);
  assert_int_equal (fab_executor_find_jam (job->executor), 3);
}

/* Of a network that never delivers, it fails with the tasks that wait for each other, unless the network knows where it
 * is jammed. */
static void
a_jam_is_no_failure (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (Job) job = job_new ();
    FabNetOps ops = fab_net_fluid;

    ops.stream = never_stream;
    ops.find_jam = i == 1 ? find_jam : NULL;
    fab_dag_builder_join (job->builder, streams_of (job, 0, 1, names),
                          send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    job_start (job, 1);
    job->net.net->ops = &ops;
    assert_false (fab_executor_run_iteration (job->executor));
    assert_int_equal (fab_engine_failure (job->net.engine) != NULL, i == 0);
  }
}

/* --- what is left --- */

static double
slower_each_time (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint rank_class, guint iteration)
{
  return 1 + 0.5 * iteration;
}

/* A load of 10, A of 20 after it, and then B of 7, which is slower by half in each iteration: 7, 10.5 and 14. When an
 * iteration ends, the next load is done and the next A has begun, and may end at once. The third iteration has begun by
 * then only as far as the second had. */
static void
what_is_left_is_that_of_the_iteration_that_ends_next (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint loader = streams_of (job, 0, 2, names), compute = loader + 1;
  FabTaskId load = work (job, loader, FAB_SPAN_LOAD, 10, "L");

  fab_dag_builder_after (job->builder, work (job, compute, FAB_SPAN_COMPUTE, 20, "A"), load);
  work (job, compute, FAB_SPAN_COMPUTE, 7, "B");
  job->env.slowness = slower_each_time;
  job_start (job, 3);
  assert_int_equal (fab_executor_least_ps (job->executor), 10 + 20 + 7);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 37);
  assert_int_equal (fab_executor_least_ps (job->executor), 11);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 37 + 30 + 11);
  assert_int_equal (fab_executor_least_ps (job->executor), 14);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 78 + 40 + 14);
}

/* Work that stands for three times 5 ps: each is 7.5 ps on a slow rank, rounded up to 8. */
static void
slow_work_is_rounded_up_each_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = streams_of (job, 0, 1, names);

  work (job, stream, FAB_SPAN_COMPUTE, 5, "A");
  FabDagMark first = fab_dag_builder_mark (job->builder);
  work (job, stream, FAB_SPAN_COMPUTE, 5, "A");
  FabDagMark second = fab_dag_builder_mark (job->builder);
  work (job, stream, FAB_SPAN_COMPUTE, 5, "A");
  assert_true (fab_dag_builder_repeat (job->builder, &first, &second, 3));
  job->env.slowness = slower_each_time;
  job_start (job, 2);
  assert_int_equal (fab_executor_least_ps (job->executor), 5 + 5 + 15);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 25);
  assert_int_equal (fab_executor_least_ps (job->executor), 8 + 24); /* its first task has begun */
  assert_true (fab_executor_run_iteration (job->executor));
  assert_int_equal (fab_engine_now (job->net.engine), 25 + 8 + 8 + 24);
}

static FabBalance
queues (G_GNUC_UNUSED const FabRouter *router)
{
  return (FabBalance){ .kind = FAB_BALANCE_QUEUE };
}

/* An all-reduce of 1000 bytes over two GPUs, of two steps over two wires of 100 ps each, and of 5000 ps before the
 * first byte moves. Physics allows 999 ps for the bytes, rounded down, and 400 ps for the wires. Alone it takes 6000
 * ps, and that is what a stream takes at least, but for the rounding, unless links get faster. Messages need not wait
 * for one another's wires, and where the network chooses paths nothing is known. */
static void
a_collective_takes_at_least_what_it_takes_alone (G_GNUC_UNUSED void **state)
{
  static const struct {
    const FabNetOps *ops;
    gboolean has_apart, is_balanced;
    FabTimePs least_ps;
  } rows[] = {
    { &fab_net_fluid, FALSE, FALSE, 5999 }, { &fab_net_fluid, TRUE, FALSE, 1399 },
    { &fab_net_step, FALSE, FALSE, 999 },   { &fab_net_step, TRUE, FALSE, 999 },
    { &fab_net_fluid, FALSE, TRUE, 0 },     { &fab_net_step, FALSE, TRUE, 0 },
  };
  static const FabLinkId apart[] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Job) job = job_with (rig_new (&(RigSpec){
        .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 100 }));
    const FabRouterOps *plain = job->rig->router->ops;
    FabRouterOps balanced = *plain;
    FabCollectivePlan plan = rig_plan (job->rig, FAB_OP_ALL_REDUCE, 1000);
    guint stream = streams_of (job, 0, 1, names);

    plan.startup_ps = 5000;
    fab_dag_builder_join (job->builder, stream, nothing (job));
    fab_dag_builder_join (job->builder, stream,
                          fab_dag_builder_collective (job->builder, &plan, FAB_DIMENSION_OTHER,
                                                      g_strdup ("r")));
    job->ops = rows[i].ops;
    job->env.apart = apart;
    job->env.n_apart = rows[i].has_apart;
    job_start (job, 1);
    balanced.balance = queues;
    job->rig->router->ops = rows[i].is_balanced ? &balanced : plain;
    assert_int_equal (fab_executor_least_ps (job->executor), rows[i].least_ps);
    job->rig->router->ops = plain;
  }
}

/* --- the last iteration alone --- */

/* L of 60 beside X of 30, which runs over the ends of iterations, and a send of 20 behind it. */
static Job *
iterations_of (guint n, gboolean is_brief)
{
  Job *job = job_new ();
  guint loader = streams_of (job, 0, 2, names), compute = loader + 1;

  work (job, loader, FAB_SPAN_LOAD, 60, "L");
  work (job, compute, FAB_SPAN_COMPUTE, 30, "X");
  fab_dag_builder_join (job->builder, compute, send (job, 0, 1, 20, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  job_start (job, n);
  if (is_brief)
    fab_executor_set_brief (job->executor);
  return job;
}

static void
assert_equal_arrays (const GArray *a, const GArray *b, guint size)
{
  assert_int_equal (a->len, b->len);
  assert_true (a->len > 0);
  assert_memory_equal (a->data, b->data, a->len * size);
}

/* Until the last iteration nothing is told. Its times, its collectives and its path are those that all of them have
 * when everything is told; spans, loads and samples are left out. */
static void
check_brief (guint n)
{
  g_autoptr (Job) brief = iterations_of (n, TRUE), whole = iterations_of (n, FALSE);
  const FabProbe *told = fab_executor_probe (brief->executor), *all = fab_executor_probe (whole->executor);

  for (guint i = 0; i < n; i++) {
    assert_true (fab_executor_run_iteration (brief->executor));
    assert_true (fab_executor_run_iteration (whole->executor));
    assert_int_equal (fab_engine_now (brief->net.engine), fab_engine_now (whole->net.engine));
    assert_true (all->spans->len > 0 && all->link_loads->len > 0 && all->samples->len > 0);
    assert_int_equal (g_array_index (all->link_loads, FabLinkLoadRecord, 0).iteration, i);
    assert_int_equal (g_array_index (all->samples, FabLinkSampleRecord, 0).iteration, i);
    assert_int_equal (g_array_index (all->collectives, FabCollectiveRecord, 0).iteration, i);
    assert_int_equal (told->spans->len + told->link_loads->len + told->samples->len, 0);
    if (i + 1 < n)
      assert_int_equal (
          told->iterations->len + told->collectives->len + told->exposures->len + told->path->len, 0);
  }
  assert_int_equal (g_array_index (told->iterations, FabIterationRecord, 0).iteration, n - 1);
  assert_equal_arrays (told->iterations, all->iterations, sizeof (FabIterationRecord));
  assert_equal_arrays (told->exposures, all->exposures, sizeof (FabExposureRecord));
  assert_memory_equal (&told->step, &all->step, sizeof told->step);
  assert_int_equal (told->path->len, all->path->len);
  for (guint i = 0; i < told->path->len; i++)
    assert_int_equal (g_array_index (told->path, FabPathRecord, i).end_ps,
                      g_array_index (all->path, FabPathRecord, i).end_ps);
  assert_int_equal (told->collectives->len, 1);
  assert_int_equal (g_array_index (told->collectives, FabCollectiveRecord, 0).exposed_ps,
                    g_array_index (all->collectives, FabCollectiveRecord, 0).exposed_ps);
  assert_int_equal (g_array_index (told->collectives, FabCollectiveRecord, 0).alone_ps, 20);
}

static void
a_brief_executor_tells_the_last_iteration_alone (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 5; n++)
    check_brief (n);
}

/* --- beside another job --- */

typedef struct {
  Job *job;
  guint n_ended;
  FabTimePs ended_ps[2];
  const char *traffic;
} Beside;

static Beside *asked; /* by the network, which has no owner to pass */

static void
traffic_stream (FabNet *net, const FabStream *stream)
{
  asked->traffic = stream->traffic;
  fab_net_fluid.stream (net, stream);
}

static void
note_end (gpointer owner, guint64 arg)
{
  Beside *self = owner;

  assert_int_equal (arg, 7);
  self->ended_ps[self->n_ended++] = fab_engine_now (self->job->net.engine);
}

/* An executor that is told of its ends does not stop the engine, which has other things to do; it leaves the meter to
 * the job beside it; and its traffic is that of a neighbour, where others name their dimension. */
static void
a_neighbour_leaves_engine_and_meter_alone (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    gboolean is_neighbour = i == 1;
    g_autoptr (Job) job = job_new ();
    Beside self = { .job = job };
    FabNetOps ops = fab_net_fluid;
    FabLinkLoad loads[4];

    asked = &self;
    ops.stream = traffic_stream;
    fab_dag_builder_join (job->builder, streams_of (job, 0, 1, names),
                          send (job, 0, 1, 20, FAB_DIMENSION_TENSOR, FAB_OP_BROADCAST));
    if (is_neighbour)
      job->env.ended = (FabDone){ note_end, &self, 7 };
    job_start (job, 2);
    job->net.net->ops = &ops;
    for (guint iteration = 0; iteration < 2; iteration++) {
      fab_executor_begin_iteration (job->executor);
      fab_engine_run_until (job->net.engine, 30 * (iteration + 1)); /* the next one ends 20 ps later */
      assert_int_equal (fab_engine_now (job->net.engine), (is_neighbour ? 30 : 20) * (iteration + 1));
      assert_int_equal (fab_executor_probe (job->executor)->link_loads->len, is_neighbour ? 0 : 2);
      assert_string_equal (self.traffic, is_neighbour ? "neighbours" : "tensor");
    }
    assert_int_equal (self.n_ended, is_neighbour ? 2 : 0);
    fab_meter_take (job->net.net->meter, loads);
    double bytes = 0;
    for (guint k = 0; k < G_N_ELEMENTS (loads); k++)
      bytes += loads[k].payload_bytes;
    assert_near (bytes, is_neighbour ? 2 * 2 * 20 : 0, 1e-12); /* over two links, twice */
  }
}

/* The same for one that wants the last iteration alone: the meter keeps what both of them moved. */
static void
a_brief_neighbour_leaves_the_meter_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  Beside self = { .job = job };
  FabLinkLoad loads[4];

  fab_dag_builder_join (job->builder, streams_of (job, 0, 1, names),
                        send (job, 0, 1, 20, FAB_DIMENSION_TENSOR, FAB_OP_BROADCAST));
  job->env.ended = (FabDone){ note_end, &self, 7 };
  job_start (job, 2);
  fab_executor_set_brief (job->executor);
  fab_executor_begin_iteration (job->executor);
  fab_engine_run_until (job->net.engine, 100);
  assert_int_equal (self.n_ended, 2); /* the second was launched with the first */
  fab_meter_take (job->net.net->meter, loads);
  assert_near (loads[first_link (job, 0, 1)].payload_bytes, 20 + 20,
               1e-12); /* the second has been played too */
}

/* --- what a watch is told --- */

struct _FabWatchedJob {
  FabWatchedJobEnv env;
};

typedef struct {
  FabPlayWatch base;
  FabNet *net;
  FabWatchedJob job;
  guint n_made, n_freed;
} Watch;

static FabWatchedJob *
watch_job_new (FabPlayWatch *watch, const FabWatchedJobEnv *env)
{
  Watch *self = (Watch *) watch;

  self->job.env = *env;
  self->n_made++;
  return &self->job;
}

static Watch *watched; /* by the function below, which is given the job alone */

static void
watch_job_free (FabWatchedJob *job)
{
  assert_ptr_equal (job, &watched->job);
  watched->n_freed++;
}

static void
watch_begin (FabPlayWatch *watch, FabWatchedJob *job, const FabJobCollective *collective, FabDone done)
{
  assert_ptr_equal (job, &((Watch *) watch)->job);
  fab_direct_stream (((Watch *) watch)->net, collective, done);
}

static FabMeter *
watch_meter (const FabPlayWatch *watch)
{
  return ((const Watch *) watch)->net->meter;
}

static gboolean
watch_is_still (G_GNUC_UNUSED const FabPlayWatch *watch)
{
  return FALSE;
}

static FabLinkId
watch_find_jam (G_GNUC_UNUSED const FabPlayWatch *watch)
{
  return FAB_NO_LINK;
}

/* Of a single iteration no other one is under way. */
static void
a_watch_is_told_of_the_job (G_GNUC_UNUSED void **state)
{
  static const FabPlayWatchOps ops = { watch_job_new, watch_job_free, watch_begin,
                                       watch_meter,   watch_is_still, watch_find_jam };
  static const FabLinkId apart[] = { 1, 2 };

  for (guint n = 1; n <= 3; n++) {
    Watch watch = { .base.ops = &ops };
    Job *job = job_new ();

    watched = &watch;
    fab_dag_builder_join (job->builder, streams_of (job, 0, 1, names),
                          send (job, 0, 1, 20, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    job->env.watch = &watch.base;
    job->env.is_alone = n == 2;
    job->env.apart = apart;
    job->env.n_apart = 2;
    job_start (job, n);
    watch.net = job->net.net;
    assert_int_equal (watch.n_made, 1);
    assert_ptr_equal (fab_executor_job (job->executor), &watch.job);
    assert_ptr_equal (watch.job.env.net, job->net.net);
    assert_ptr_equal (watch.job.env.dag, job->dag);
    assert_int_equal (watch.job.env.has_next, n > 1);
    assert_int_equal (watch.job.env.is_alone, n == 2);
    assert_ptr_equal (watch.job.env.apart, apart);
    assert_int_equal (watch.job.env.n_apart, 2);
    for (guint i = 0; i < n; i++)
      assert_true (fab_executor_run_iteration (job->executor));
    assert_int_equal (fab_engine_now (job->net.engine), 20 * n);
    assert_int_equal (watch.n_freed, 0);
    job_free (job);
    assert_int_equal (watch.n_freed, 1);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (tasks_of_the_iteration_that_ends_next_are_counted),
    cmocka_unit_test (a_job_hangs_when_nothing_else_goes_on),
    cmocka_unit_test (what_has_ended_hangs_nowhere),
    cmocka_unit_test (what_has_not_begun_hangs_nowhere),
    cmocka_unit_test (any_iteration_can_hang),
    cmocka_unit_test (what_waits_behind_a_dead_link_hangs_in_a_still_network),
    cmocka_unit_test (a_jam_is_named_until_an_iteration_has_ended),
    cmocka_unit_test (a_jam_is_no_failure),
    cmocka_unit_test (what_is_left_is_that_of_the_iteration_that_ends_next),
    cmocka_unit_test (slow_work_is_rounded_up_each_time),
    cmocka_unit_test (a_collective_takes_at_least_what_it_takes_alone),
    cmocka_unit_test (a_brief_executor_tells_the_last_iteration_alone),
    cmocka_unit_test (a_neighbour_leaves_engine_and_meter_alone),
    cmocka_unit_test (a_brief_neighbour_leaves_the_meter_alone),
    cmocka_unit_test (a_watch_is_told_of_the_job),
  };

  return cmocka_run_group_tests_name ("executor_states", tests, NULL, NULL);
}
