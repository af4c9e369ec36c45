/* SPDX-License-Identifier: Apache-2.0 */
/* prop_executor.c - random jobs of several rank classes: who ran when, and what the times say.
 *
 * GPUs move 1 byte per ps and everything lasts tens of ps, so that a bitmap of the whole run can count
 * what was computed and communicated.
 */
#include "tests/support/test.h"

#include "sim/work/executor.h"
#include "tests/support/random_job.h"
#include "tests/support/seeds.h"

enum { N_ITERATIONS = 4 };

typedef struct {
  FabTimePs arrive_ps, start_ps, end_ps;
  guint n_seen;
} Run;

/* A job, and what happened when it was played. */
typedef struct {
  RandomJob *made;
  Run runs[N_ITERATIONS][MOST_TASKS];
  FabIterationRecord times[N_ITERATIONS][MOST_CLASSES];
} Job;

static Job *
job_new (Random *random, gboolean has_barrier)
{
  Job *job = g_new0 (Job, 1);

  job->made = random_job_new (random, has_barrier);
  return job;
}

static void
job_free (Job *job)
{
  random_job_free (job->made);
  g_free (job);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Job, job_free)

/* --- playing --- */

static FabTaskId
task_of_span (const Job *job, const FabSpanRecord *span)
{
  for (FabTaskId t = 0; t < job->made->n_tasks; t++)
    if (job->made->dag->tasks[t].name == span->name)
      return t;
  g_assert_not_reached ();
}

static void
note_span (Job *job, const FabSpanRecord *span)
{
  FabTaskId task = task_of_span (job, span);
  Run *run = &job->runs[span->iteration][task];

  assert_int_equal (span->rank_class, job->made->dag->streams[job->made->dag->tasks[task].stream].rank_class);
  assert_true (span->iteration < N_ITERATIONS && span->start_ps <= span->end_ps);
  if (span->kind == FAB_SPAN_WAIT) {
    run->arrive_ps = span->start_ps;
    run->start_ps = span->end_ps;
    return;
  }
  if (run->arrive_ps < 0)
    run->arrive_ps = span->start_ps;
  run->start_ps = span->start_ps;
  run->end_ps = span->end_ps;
  run->n_seen++;
}

/* Returns the end of the run. */
static FabTimePs
play (Job *job, const FabNetOps *ops)
{
  RigNet net = rig_net (job->made->rig, ops);
  g_autoptr (FabExecutor) executor = fab_executor_new (&(FabExecutorEnv){
      .engine = net.engine, .net = net.net, .dag = job->made->dag, .n_iterations = N_ITERATIONS });
  FabTimePs end_ps = 0;

  memset (job->runs, 0, sizeof job->runs);
  for (guint i = 0; i < N_ITERATIONS; i++)
    for (FabTaskId t = 0; t < job->made->n_tasks; t++)
      job->runs[i][t].arrive_ps = -1;
  for (guint i = 0; fab_executor_run_iteration (executor); i++) {
    const FabProbe *probe = fab_executor_probe (executor);

    assert_int_equal (probe->iterations->len, job->made->n_classes);
    for (guint c = 0; c < job->made->n_classes; c++)
      job->times[i][c] = g_array_index (probe->iterations, FabIterationRecord, c);
    for (guint s = 0; s < probe->spans->len; s++)
      note_span (job, &g_array_index (probe->spans, FabSpanRecord, s));
    end_ps = fab_engine_now (net.engine);
  }
  rig_net_clear (&net);
  return end_ps;
}

/* --- order --- */

/* When all that the task waits for is done. */
static FabTimePs
ready_ps (const Job *job, guint iteration, FabTaskId task)
{
  FabTimePs ready = 0;

  for (guint i = 0; i < job->made->edges->len; i++) {
    const Edge *edge = &g_array_index (job->made->edges, Edge, i);

    if (edge->task == task)
      ready = MAX (ready, job->runs[iteration][edge->before].end_ps);
  }
  for (guint i = 0; iteration > 0 && i < job->made->carried->len; i++) {
    const Edge *edge = &g_array_index (job->made->carried, Edge, i);

    if (edge->task == task)
      ready = MAX (ready, job->runs[iteration - 1][edge->before].end_ps);
  }
  return ready;
}

static FabTimePs
last_arrival_ps (const Job *job, guint iteration, gint32 collective)
{
  FabTimePs last = 0;

  for (FabTaskId t = 0; t < job->made->n_tasks; t++)
    if (job->made->dag->tasks[t].collective == collective)
      last = MAX (last, job->runs[iteration][t].arrive_ps);
  return last;
}

/* A task begins the moment it may: only two live iterations hold it back beyond what it waits for. */
static void
assert_task (const Job *job, guint iteration, FabTaskId task)
{
  const FabTask *t = &job->made->dag->tasks[task];
  const Run *run = &job->runs[iteration][task];
  FabTimePs may_ps = MAX (ready_ps (job, iteration, task),
                          iteration > 1 ? job->times[iteration - 1][0].start_ps : 0);

  assert_int_equal (run->n_seen, 1);
  assert_int_equal (run->arrive_ps, may_ps);
  if (t->collective < 0) {
    assert_int_equal (run->start_ps, run->arrive_ps);
    assert_int_equal (run->end_ps - run->start_ps, t->duration_ps);
    return;
  }
  assert_int_equal (run->start_ps, last_arrival_ps (job, iteration, t->collective));
  assert_true (run->end_ps - run->start_ps
               >= fab_plan_idle_ps (&job->made->dag->collectives[t->collective].plan));
}

static void
check_order (Random *random)
{
  g_autoptr (Job) job = job_new (random, random_chance (random, 20));
  FabTimePs start_ps = 0, end_ps = play (job, &fab_net_fluid);

  for (guint i = 0; i < N_ITERATIONS; i++) {
    FabTimePs last_ps = 0;

    for (FabTaskId t = 0; t < job->made->n_tasks; t++) {
      assert_task (job, i, t);
      last_ps = MAX (last_ps, job->runs[i][t].end_ps);
    }
    assert_int_equal (job->times[i][0].start_ps, start_ps);
    assert_int_equal (job->times[i][0].start_ps + job->times[i][0].duration_ps, last_ps);
    start_ps = last_ps;
  }
  assert_int_equal (start_ps, end_ps);
}

static void
tasks_begin_when_what_they_wait_for_is_done (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_order);
}

/* --- times --- */

static void
paint (const Job *job, guint rank_class, FabTimePs end_ps, guint8 *compute, guint8 *comm)
{
  memset (compute, 0, (gsize) end_ps);
  memset (comm, 0, (gsize) end_ps);
  for (guint i = 0; i < N_ITERATIONS; i++)
    for (FabTaskId t = 0; t < job->made->n_tasks; t++) {
      const FabTask *task = &job->made->dag->tasks[t];
      const Run *run = &job->runs[i][t];
      guint8 *bits = task->kind == FAB_SPAN_COMPUTE ? compute : task->kind == FAB_SPAN_COMM ? comm : NULL;

      if (bits && job->made->dag->streams[task->stream].rank_class == rank_class)
        memset (bits + run->start_ps, 1, (gsize) (run->end_ps - run->start_ps));
    }
}

static void
assert_times (const FabIterationRecord *record, const guint8 *compute, const guint8 *comm)
{
  FabTimePs n_compute = 0, n_comm = 0, n_both = 0;

  for (FabTimePs t = record->start_ps; t < record->start_ps + record->duration_ps; t++) {
    n_compute += compute[t];
    n_comm += comm[t];
    n_both += compute[t] & comm[t];
  }
  assert_int_equal (record->compute_ps, n_compute);
  assert_int_equal (record->comm_ps, n_comm);
  assert_int_equal (record->overlapped_ps, n_both);
  assert_int_equal (record->exposed_ps, n_comm - n_both);
  assert_int_equal (record->idle_ps, record->duration_ps - n_compute - n_comm + n_both);
}

static void
check_times (Random *random)
{
  g_autoptr (Job) job = job_new (random, random_chance (random, 20));
  FabTimePs end_ps = play (job, random_chance (random, 50) ? &fab_net_fluid : &fab_net_analytic);
  g_autofree guint8 *compute = g_malloc ((gsize) end_ps + 1), *comm = g_malloc ((gsize) end_ps + 1);

  for (guint c = 0; c < job->made->n_classes; c++) {
    paint (job, c, end_ps, compute, comm);
    for (guint i = 0; i < N_ITERATIONS; i++)
      assert_times (&job->times[i][c], compute, comm);
  }
}

static void
times_are_those_of_a_bitmap (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_times);
}

/* --- steady state --- */

static void
check_steady_state (Random *random)
{
  g_autoptr (Job) job = job_new (random, TRUE);

  play (job, &fab_net_fluid);
  for (guint i = 1; i < N_ITERATIONS; i++) {
    FabTimePs shift_ps = job->times[i][0].start_ps;

    for (FabTaskId t = 0; t < job->made->n_tasks; t++) {
      assert_int_equal (job->runs[i][t].arrive_ps - shift_ps, job->runs[0][t].arrive_ps);
      assert_int_equal (job->runs[i][t].end_ps - shift_ps, job->runs[0][t].end_ps);
    }
    for (guint c = 0; c < job->made->n_classes; c++) {
      assert_int_equal (job->times[i][c].duration_ps, job->times[0][c].duration_ps);
      assert_int_equal (job->times[i][c].exposed_ps, job->times[0][c].exposed_ps);
    }
  }
}

static void
iterations_that_carry_nothing_over_are_identical (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_steady_state);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (tasks_begin_when_what_they_wait_for_is_done),
    seeds_test (times_are_those_of_a_bitmap),
    seeds_test (iterations_that_carry_nothing_over_are_identical),
  };

  return cmocka_run_group_tests_name ("executor", tests, NULL, NULL);
}
